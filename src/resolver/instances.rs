//! Connects variants and instances: makes the target of an instance from a variant, and plans the
//! changes that turn an instance into a variant.

use super::Resolver;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::explore::types;
use crate::orchestrate::instance::{
    self, ComputedOutput, Derived, InstanceModel, InstanceState, KeptSecrets, NamedTemplates,
    Overlay, SecretMasker, SecretScanner, SecretValues, SecretsMode, TargetSources, TargetTypes,
    VariantOfInstance, as_in_model, types_only,
};
use crate::orchestrate::plan::{
    self, Adaptation, ChangeClass, ElementChange, KeepsValues, Observed, OrderOptions, Plan,
    PlanBase, PlanCall, PlanQuery, PlanTarget, PlannedInstance, UnknownValue, VariantOfPlan,
    VariantOrigin,
};
use crate::orchestrate::redact::{Redaction, learn_written, unmarked};
use crate::orchestrate::tree::{
    MapEntries, entries, key_name, plain, rebuilt, set, within_topology,
};
use crate::parallel::beside;
use crate::topology::Topology;
use crate::topology::diff::step;
use crate::topology::sensitive::{SecretPlaces, Sensitivity, kept_secret, masked};
use crate::tosca::csar;
use crate::tosca::function::function_in;
use crate::tosca::load::{Extent, Loaded, TemplateLocation, below_one};
use crate::tosca::secrecy::{Secrecy, SecretData, SecretNames};
use crate::tosca::sensitive::said_sensitive;
use crate::tosca::types::Parts;
use crate::tosca::{Family, NodeState, PropertyDefinition, Types, v2_0};
use crate::variability::choice::Choice;
use crate::variability::inputs::InputMode;
use crate::variability::prepared::Interpreted;
use crate::variability::resolution::EXTENSION;
use crate::variability::resolve::{self, EvaluatedVariant};
use cuvee_text::answer::{Answer, Failure};
use cuvee_text::source::{FileId, MemoryFiles, SourceMap, is_yaml, normalize};
use cuvee_text::value::{ReplacedPart, Value};
use cuvee_text::yaml::{Document, Node, Out, OutNode, write_yaml};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The size of the largest file that is kept with an instance. Larger files that its template names
/// are not kept.
const KEPT: usize = 1 << 20;

/// Gives the target that was kept under a digest, on any thread: it is read while the other side of
/// a plan is made.
pub type KeptTargets<'t> = &'t (dyn Fn(&str) -> Result<TargetSources, Diagnostic> + Sync);

impl Resolver {
    /// The variant as the target of an instance: its texts, its sources, and the model of an
    /// instance that is not deployed yet. Functions are evaluated with the deployment inputs that
    /// are given.
    ///
    /// ```
    /// use cuvee::deploy::instance::{KeptSecrets, SecretsMode};
    /// let mut secrets = KeptSecrets::new(SecretsMode::Digest, [7; 32], [""; 0]);
    /// let target = cuvee::Resolver::new("examples/guestbook").instance_target(&mut secrets)?.result;
    /// assert!(target.model.nodes.contains_key("book"));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// As [`Resolver::resolve`], and `unresolved-instance` where a value cannot be decided.
    pub fn instance_target(
        &self,
        secrets: &mut KeptSecrets,
    ) -> Result<Answer<TargetSources>, Failure> {
        let Answer { result, warnings, sources } = self.target_as_chosen(secrets)?;
        Ok(Answer { result: result.0, warnings, sources })
    }

    /// As [`Resolver::instance_target`], with the variability inputs that were given beside
    /// presets.
    pub(super) fn target_as_chosen(
        &self,
        secrets: &mut KeptSecrets,
    ) -> Result<Answer<(TargetSources, GivenInputs)>, Failure> {
        self.with_target(secrets, |target, kept, _, _| Ok((kept()?, target.inputs.clone())))
    }

    /// The secrets of the variant, for a program that runs its operations. `kept` is how an
    /// instance keeps them.
    ///
    /// # Errors
    /// As [`Resolver::instance_target`].
    pub fn instance_secrets(&self, kept: &KeptSecrets) -> Result<SecretValues, Failure> {
        let answer = self.with_target(&mut kept.keeping(), |target, sources, loaded, types| {
            let mut values = SecretValues::of(&sources()?, kept)?;
            target.with_side((loaded, types), |side| {
                for (element, call) in all_calls(side) {
                    let operation = format!("{element}/{}.{}", call.interface, call.operation);
                    for input in &call.inputs {
                        values.add_marked(&input.value, kept);
                        values.add_input(&operation, &input.name, &input.value);
                    }
                }
            });
            Ok(values)
        });
        Ok(answer?.result)
    }

    /// Plans what turns an instance into the variant. The answer also has what the instance keeps
    /// of the variant. `targets` gives the target that was kept under a digest.
    ///
    /// # Errors
    /// As [`Resolver::adapt`], and `unresolved-instance`; `invalid-plan` where the plan would undo
    /// a change that somebody made past the orchestrator.
    pub fn adapt_instance(
        &self,
        model: &InstanceModel,
        targets: KeptTargets<'_>,
        secrets: &mut KeptSecrets,
        query: &InstancePlanQuery,
    ) -> Result<Answer<(Plan, TargetSources)>, Failure> {
        let adapted = self.adapted(model, targets, secrets, query)?;
        let Answer { result: (plan, kept, _), warnings, sources } = adapted;
        Ok(Answer { result: (plan, kept), warnings, sources })
    }

    /// As [`Resolver::adapt_instance`], with the texts to keep of the variant, each under its
    /// digest.
    pub(super) fn adapted(
        &self,
        model: &InstanceModel,
        targets: KeptTargets<'_>,
        secrets: &mut KeptSecrets,
        query: &InstancePlanQuery,
    ) -> Result<Answer<(Plan, TargetSources, KeptTexts)>, Failure> {
        // An instance that came from elsewhere has no kept template: the new target stands in for
        // it.
        let kept = match model.target.is_kept() {
            true => None,
            false => Some(self.instance_target(&mut secrets.clone())?.result),
        };
        let targets = |digest: &str| match &kept {
            Some(kept) if digest.is_empty() => Ok(kept.clone()),
            _ => targets(digest),
        };
        let (mut side, extent) = (OnceLock::new(), PlannedExtent::Present);
        let read_from = || {
            let side = side.get_or_init(|| KeptSide::of(model, &targets)).as_ref();
            // What is wrong with it has places in its own files.
            let side = side.map_err(|_| Diagnostics::default())?;
            Ok::<_, Diagnostics>((side, side.documents(model, extent)?))
        };
        let planned = beside(read_from, |from| {
            self.with_target(secrets, |target, kept, loaded, types| {
                let (side, documents) = from()?;
                let plan = || {
                    side.as_side((model, extent), &documents, |from| {
                        target.with_side((loaded, types), |to| query.planned(from, to))
                    })
                };
                let (planned, kept) = beside(plan, |planned| {
                    let kept = kept().and_then(|kept| Ok((kept.blobs()?, kept)));
                    (planned(), kept)
                });
                let (((digest, blobs), kept), (plan, mut found)) = (kept?, planned?);
                loaded.settle(&mut found.0);
                let target = Some((self.planned_target(target, digest), &*kept.model));
                Ok((query.finished(plan, model, target)?, kept, blobs, found))
            })
        });
        if let Some(Err(failure)) = side.take() {
            return Err(failure);
        }
        let Answer { result: (plan, kept, blobs, Diagnostics(found)), mut warnings, sources } =
            planned?;
        warnings.extend(found);
        Ok(Answer { result: (plan, kept, blobs), warnings, sources })
    }

    /// The target of a plan to the variant.
    fn planned_target(&self, target: &VariantTarget<'_>, digest: String) -> PlanTarget {
        let inputs = target.inputs.iter();
        PlanTarget {
            digest: digest.into(),
            template: self.named_template().into(),
            presets: self.choice.chosen_presets().iter().map(|name| (&**name).into()).collect(),
            inputs: inputs.map(|(name, it)| ((&**name).into(), it.clone())).collect(),
        }
    }

    /// The path of the template, as the caller gave it.
    pub(super) fn named_template(&self) -> String {
        let (TemplateLocation::Path(path) | TemplateLocation::Text { name: path, .. }) =
            &self.location;
        path.to_string_lossy().into_owned()
    }

    /// Calls `make` with the variant as a target of instances, and with what is kept of it.
    fn with_target<T>(
        &self,
        secrets: &mut KeptSecrets,
        make: impl FnOnce(
            &VariantTarget<'_>,
            &dyn Fn() -> Result<TargetSources, Diagnostics>,
            &Loaded,
            &Types<'_>,
        ) -> Result<T, Diagnostics>,
    ) -> Result<Answer<T>, Failure> {
        let mut evaluating = self.clone().evaluate_functions();
        evaluating.choice.needs_profiles = true;
        let (choice, how) = (&evaluating.choice, evaluating.how());
        evaluating.answer(Extent::Whole, |loaded| {
            let interpreted = Interpreted::of(loaded, choice)?;
            let mut more = Diagnostics::default();
            let (made, warnings) = resolve::evaluated(&interpreted, choice, &how, |variant| {
                types::known(loaded, choice, InputMode::Closed, |types| {
                    // What comes from secret variability inputs cannot be told by its place.
                    variant.secret_inputs.iter().for_each(|value| secrets.learn(value));
                    let mut target = VariantTarget::of(&variant, types, secrets, &mut more)?;
                    // The model has its values now.
                    drop(variant.topology);
                    target.inputs = shown_inputs(&interpreted, choice, secrets);
                    let names = secrets.names().clone();
                    let secret = Sensitivity::of(&variant.written_topology, types, names);
                    learn_written(secrets, &secret, types, &target.written);
                    let redacting = TargetRedaction::new(&secret, types, secrets);
                    let target = target.redacted(&redacting);
                    let kept = || target.sources(loaded, choice.non_normative, &redacting);
                    make(&target, &kept, loaded, types)
                })
            })?;
            Ok((made, warnings.before(more)))
        })
    }
}

/// The variability inputs that a choice gives beside presets, with their secrets hidden.
fn shown_inputs(
    interpreted: &Interpreted<'_>,
    choice: &Choice,
    secrets: &KeptSecrets,
) -> GivenInputs {
    let declared = interpreted.template.variability.inputs;
    let given = choice.assigned(interpreted.loaded, declared);
    let shown = given.into_iter().map(|(name, value)| {
        let definition = declared.and_then(|all| all.get(&name));
        let is_secret = definition.is_some_and(|it| said_sensitive(it) == Some(true));
        let value = if is_secret { secrets.kept(&value) } else { secrets.sealed(&name, &value) };
        (name, masked(&value).unwrap_or(value))
    });
    shown.collect()
}

/// The settings of a plan for an instance.
#[derive(Clone, Debug, Default)]
pub struct InstancePlanQuery {
    /// The name of the instance.
    pub name: String,
    /// How one variant becomes another.
    pub adaptation: Adaptation,
    /// Options that change the order of steps.
    pub order: OrderOptions,
    /// Whether the plan may undo changes that somebody made past the orchestrator.
    pub overwrite: bool,
    /// Whether to ignore workflows of the template.
    pub generated: bool,
}

impl InstancePlanQuery {
    /// The plan between two sides, with its warnings. If one side is empty, the template's own
    /// workflow `deploy` or `undeploy` is the plan, if there is one (statement O-9).
    fn planned(
        &self,
        from: VariantOfPlan<'_, '_>,
        to: VariantOfPlan<'_, '_>,
    ) -> Result<(Plan, Diagnostics), Diagnostics> {
        let whole = match (from.topology.nodes.is_empty(), to.topology.nodes.is_empty()) {
            _ if self.generated => None,
            (true, false) => self.written(to, "deploy"),
            (false, true) => self.written(from, "undeploy"),
            _ => None,
        };
        if let Some(plan) = whole {
            return plan;
        }
        plan::adapt(from, to, &self.adaptation, &self.order)
    }

    /// The plan of the template's workflow of this name; `None` if there is none.
    fn written(
        &self,
        side: VariantOfPlan<'_, '_>,
        workflow: &str,
    ) -> Option<Result<(Plan, Diagnostics), Diagnostics>> {
        side.topology.workflows.iter().find(|known| known.name == workflow)?;
        let workflow = workflow.to_owned();
        let query = PlanQuery { workflow, order: self.order.clone(), ..PlanQuery::default() };
        Some(plan::plan_instance(side, &query))
    }

    /// Adds to a plan the instance and the target that it was made for.
    fn finished(
        &self,
        mut plan: Plan,
        model: &InstanceModel,
        target: Option<(PlanTarget, &InstanceModel)>,
    ) -> Result<Plan, Diagnostics> {
        if !self.overwrite {
            self.refuse_edited(&plan, model)?;
        }
        plan::may_begin(&plan, || model.node_states())?;
        if target.is_some() {
            // Nodes that somebody adopted stay until the whole instance is removed.
            let is_adopted = |element: &str| {
                let node = element.strip_prefix("node.").and_then(|id| model.nodes.get(id));
                node.is_some_and(|node| node.template.is_none())
            };
            let goes = |change: &ElementChange| change.class == ChangeClass::Remove;
            plan.changes.retain(|change| !goes(change) || !is_adopted(&change.element));
        }
        plan.hide_kept_secrets();
        let unknown = target.as_ref().map_or_else(Vec::new, |(_, to)| unknown(&plan, to));
        plan.instance = Some(Box::new(PlannedInstance::new(
            PlanBase {
                instance: self.name.as_str().into(),
                lineage: model.lineage.clone(),
                revision: model.revision,
                structure: model.structure,
            },
            target.map(|(target, _)| target),
            self.adaptation.moved.clone(),
            unknown,
        )));
        Ok(plan)
    }

    /// Refuses a plan that would undo changes that somebody made past the orchestrator.
    fn refuse_edited(&self, plan: &Plan, model: &InstanceModel) -> Result<(), Diagnostics> {
        let mut found = Diagnostics::default();
        for change in plan.changes.iter().filter(|change| change.class != ChangeClass::Keep) {
            let Some(node) = change.element.strip_prefix("node.") else { continue };
            let node = self.adaptation.former(node);
            let edited = model.nodes.get(&*node).map_or(&[][..], |node| &node.edited);
            let is_edited = |path: &str| {
                edited.iter().flat_map(|name| edited_paths(name)).any(|edited| {
                    let within = path.strip_prefix(&edited);
                    within.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
                })
            };
            for reason in change.reasons.iter().filter(|reason| is_edited(&reason.path)) {
                let message = format!(
                    "somebody changed `{}` of `{node}`, and the plan would change it back",
                    reason.path
                );
                found.push(
                    Diagnostic::error(Code::InvalidPlan, message)
                        .help("plan it all the same with `--overwrite`"),
                );
            }
        }
        if found.has_errors() { Err(found) } else { Ok(()) }
    }
}

/// The paths in changes of a property that somebody edited. A name with a dot may be that of one of
/// a capability.
fn edited_paths(name: &str) -> impl Iterator<Item = String> {
    let of_capability = name
        .split_once('.')
        .map(|(capability, name)| format!("capability{}.property{}", step(capability), step(name)));
    [format!("property{}", step(name))].into_iter().chain(of_capability)
}

/// The values of changed nodes that are known only once the plan is carried out.
fn unknown(plan: &Plan, to: &InstanceModel) -> Vec<UnknownValue> {
    let changed = plan.changes.iter().filter(|change| change.class != ChangeClass::Keep);
    let nodes = changed.filter_map(|change| {
        let id = change.element.strip_prefix("node.")?;
        Some((&change.element, to.nodes.get(id)?))
    });
    let values = nodes.flat_map(|(element, node)| {
        let waiting = node.properties.iter().filter(|(_, value)| function_in(value).is_some());
        waiting.map(move |(name, _)| UnknownValue::new(element, &format!("property.{name}")))
    });
    values.collect()
}

/// Plans what turns an instance into its own target, for example after failures.
///
/// # Errors
/// As [`Resolver::adapt_instance`].
pub fn repair_instance(
    model: &InstanceModel,
    targets: KeptTargets<'_>,
    query: &InstancePlanQuery,
) -> Result<Answer<Plan>, Failure> {
    let side = KeptSide::of(model, targets)?;
    let meant = InstanceModel { target: model.target.clone(), ..(*side.sources.model).clone() };
    let planned = side.with(model, PlannedExtent::Present, |from| {
        side.with(&meant, PlannedExtent::All, |to| query.planned(from, to))
    });
    let presets = match model.target.choice.get("presets") {
        Some(Value::List(names)) => {
            names.iter().filter_map(Value::as_str).map(Into::into).collect()
        }
        _ => Vec::new(),
    };
    let inputs = match model.target.choice.get("inputs") {
        Some(Value::Map(entries)) => entries.iter().cloned().collect(),
        _ => BTreeMap::new(),
    };
    let target = PlanTarget {
        digest: model.target.digest.clone(),
        template: model.target.template.clone(),
        presets,
        inputs,
    };
    let planned = planned.and_then(|(plan, found)| {
        Ok((query.finished(plan, model, Some((target, &meant)))?, found))
    });
    answered(planned, &side)
}

/// Plans the removal of a whole instance.
///
/// # Errors
/// As [`Resolver::adapt_instance`].
pub fn remove_instance(
    model: &InstanceModel,
    targets: KeptTargets<'_>,
    query: &InstancePlanQuery,
) -> Result<Answer<Plan>, Failure> {
    let side = KeptSide::of(model, targets)?;
    let planned = side.with(model, PlannedExtent::Present, |from| {
        side.with(model, PlannedExtent::Nothing, |to| query.planned(from, to))
    });
    let planned = planned.and_then(|(plan, found)| Ok((query.finished(plan, model, None)?, found)));
    answered(planned, &side)
}

/// Plans a call of an operation, of any interface, for each of these nodes that implements it.
///
/// # Errors
/// As [`Resolver::adapt_instance`].
#[cfg(feature = "cli")]
pub(super) fn operation_of_instance(
    model: &InstanceModel,
    targets: KeptTargets<'_>,
    query: &InstancePlanQuery,
    operation: &str,
    is_meant: &dyn Fn(&str) -> bool,
) -> Result<Answer<Plan>, Failure> {
    let side = KeptSide::of(model, targets)?;
    let planned = side.with(model, PlannedExtent::Present, |of| {
        let (plan, found) = plan::plan_operation(of, operation, is_meant)?;
        Ok((query.finished(plan, model, None)?, found))
    });
    answered(planned, &side)
}

/// A plain template of a model: the target of the model, with the nodes, relations and values that
/// the model has.
///
/// # Errors
/// Those of `targets`, and where the kept target cannot be read.
pub(super) fn template_of(
    model: &InstanceModel,
    targets: KeptTargets<'_>,
    reveal: bool,
) -> Result<String, Failure> {
    let side = KeptSide::of(model, targets)?;
    let target = side.loaded.whole(side.loaded.template())?.root();
    let document = side.overlaid(model, PlannedExtent::All, target, true);
    let (loaded, choice) = (&side.loaded, &side.resolver.choice);
    let document = types::known(loaded, choice, InputMode::Closed, |types| {
        Ok::<_, Diagnostics>(without_fixed(&document, types))
    });
    let sources = || side.loaded.sources().clone();
    let document =
        document.map_err(|Diagnostics(diagnostics)| Failure { diagnostics, sources: sources() })?;
    // Marks with digests stay, since a plan to the template takes them for what they stand for.
    Ok(match model.secrets {
        SecretsMode::Keep if reveal => write_yaml(&unmarked(&document, true)),
        SecretsMode::Keep => without_secrets(&document),
        SecretsMode::Digest | SecretsMode::Drop => write_yaml(&document),
    })
}

/// The document without values that types fix, which no template of TOSCA 2.0 may assign.
fn without_fixed<'a>(document: &Out<'a>, types: &Types<'_>) -> Out<'a> {
    if !types.is_of_2_0() {
        return document.clone();
    }
    let properties = |all: &mut MapEntries<'a>, defined: &Parts<'_, PropertyDefinition<'_>>| {
        let is_fixed =
            |name: &str| defined.get(name).is_some_and(|part| part.definition.takes_no_value());
        set(all, "properties", |old| {
            let mut values = entries(old?);
            values.retain(|(key, _)| !is_fixed(&key_name(key)));
            (!values.is_empty()).then(|| rebuilt(old, values))
        });
    };
    let node = |template: &Out<'a>| {
        let kind = OutNode::root(template).get("type");
        let kind = kind.and_then(|kind| types.find(Family::Node, &kind.text()?));
        let Some(kind) = kind.map(|kind| types.effective(kind)) else { return template.clone() };
        let mut body = entries(template);
        properties(&mut body, &kind.properties);
        set(&mut body, "capabilities", |old| {
            let mut capabilities = entries(old?);
            for (key, capability) in &mut capabilities {
                let Some(defined) = kind.capabilities.get(&*key_name(key)) else { continue };
                let mut said = entries(capability);
                properties(&mut said, &defined.definition.properties);
                *capability = rebuilt(Some(&*capability), said);
            }
            Some(rebuilt(old, capabilities))
        });
        rebuilt(Some(template), body)
    };
    within_topology(document, &mut |section, value| match section {
        "node_templates" => {
            let nodes = entries(value).into_iter().map(|(key, template)| {
                let without = node(&template);
                (key, without)
            });
            rebuilt(Some(value), nodes.collect())
        }
        _ => value.clone(),
    })
}

/// The text of a document without the secrets that are marked in it. Where its comments tell some,
/// it has none.
fn without_secrets(document: &Out<'_>) -> String {
    let mut kept = Vec::new();
    OutNode::root(document).to_value().replaced(&mut |part| match kept_secret(part) {
        Some(secret) => {
            kept.push(secret.clone());
            ReplacedPart::Stays
        }
        None => ReplacedPart::Within,
    });
    let hidden = unmarked(document, false);
    let text = write_yaml(&hidden);
    match SecretMasker::new(&kept).text(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(_) => write_yaml(&plain(&hidden)),
    }
}

/// The places of secrets in a kept target.
///
/// # Errors
/// Where the kept target cannot be read.
pub(super) fn secret_places(
    target: &TargetSources,
    patterns: &[Arc<str>],
) -> Result<SecretPlaces, Failure> {
    let resolver = target.resolver();
    let loaded = resolver.loaded(Extent::Whole)?;
    let found =
        v2_0::parsed(target.written.as_str()).map_err(Diagnostics::from).and_then(|written| {
            let written = Topology::read(&Out::Source(written.root()), &|_| false);
            types::known(&loaded, &resolver.choice, InputMode::Closed, |types| {
                let names = SecretNames::with(patterns);
                Ok(Sensitivity::of(&written, types, names).places())
            })
        });
    let sources = loaded.sources().clone();
    found.map_err(|Diagnostics(diagnostics)| Failure { diagnostics, sources })
}

/// The calls of all workflows of a variant, generated and written, as far as they can be planned,
/// each with the element that it acts on.
fn all_calls(side: VariantOfPlan<'_, '_>) -> Vec<(String, PlanCall)> {
    let generated = ["deploy", "undeploy"].map(|workflow| (workflow, true));
    let written = side.topology.workflows.iter().map(|workflow| (&*workflow.name, false));
    let plan = |(workflow, generated): (&str, bool)| {
        let workflow = workflow.to_owned();
        plan::plan_instance(side, &PlanQuery { workflow, generated, ..PlanQuery::default() }).ok()
    };
    let plans = generated.into_iter().chain(written).filter_map(plan);
    let mut calls = Vec::new();
    for (plan, _) in plans {
        let elements = plan.step_ids().filter_map(|id| {
            let step = plan.step(id);
            Some((step.element?, plan.call_of(id)?))
        });
        calls
            .extend(elements.map(|(id, call)| (plan.element(id).identifier.clone(), call.clone())));
    }
    calls
}

fn answered(
    mut planned: Result<(Plan, Diagnostics), Diagnostics>,
    side: &KeptSide,
) -> Result<Answer<Plan>, Failure> {
    let sources = side.loaded.sources().clone();
    let (Ok((_, Diagnostics(found))) | Err(Diagnostics(found))) = &mut planned;
    side.loaded.settle(found);
    match planned {
        Ok((result, Diagnostics(warnings))) => Ok(Answer { result, warnings, sources }),
        Err(Diagnostics(diagnostics)) => Err(Failure { diagnostics, sources }),
    }
}

/// A variant as a target: each node occurs as often as its count says.
struct VariantTarget<'a> {
    document: Out<'a>,
    written: Out<'a>,
    model: Arc<InstanceModel>,
    /// Which values are secret.
    places: SecretPlaces,
    /// The outputs whose values are known only from the deployed instance.
    outputs: BTreeMap<String, ComputedOutput>,
    /// How an instance keeps secrets, and those that are known.
    secrets: KeptSecrets,
    /// The variability inputs that the variant was chosen by, beside presets.
    inputs: GivenInputs,
}

/// Variability inputs by name.
type GivenInputs = Vec<(String, Value)>;

/// A variant as that of an instance.
pub(super) fn of_instance<'v, 'a, 't>(
    variant: &'v EvaluatedVariant<'_, 'a>,
    types: &'v Types<'t>,
) -> VariantOfInstance<'v, 'a, 't> {
    let EvaluatedVariant { document, topology, written, written_topology, .. } = variant;
    let (unevaluated, written) = (written, written_topology);
    VariantOfInstance { document, unevaluated, topology, written, types }
}

/// Texts to keep under their digests.
type KeptTexts = Vec<Vec<u8>>;

impl<'a> VariantTarget<'a> {
    fn of(
        variant: &EvaluatedVariant<'_, 'a>,
        types: &Types<'_>,
        secrets: &mut KeptSecrets,
        more: &mut Diagnostics,
    ) -> Result<Self, Diagnostics> {
        let of = of_instance(variant, types);
        let (Derived { document, unevaluated: written, model, places, outputs }, found) =
            instance::derive(&of, secrets)?;
        *more = found;
        let overlay = Overlay {
            model: &model,
            with_initial: true,
            with_values: true,
            others: &FxHashMap::default(),
        };
        let document = overlay.document(&document);
        let (model, secrets) = (Arc::new(model), secrets.clone());
        Ok(Self { document, written, model, places, outputs, secrets, inputs: Vec::new() })
    }

    /// The target without its secrets. Those that types and the template have are learned.
    fn redacted(self, redacting: &TargetRedaction<'_, '_, '_>) -> Self {
        let document = redacting.of(&self.document, None);
        let written = redacting.of(&self.written, None);
        Self { document, written, secrets: redacting.secrets.clone(), ..self }
    }

    /// Calls `make` with the target as one side of a plan.
    fn with_side<T>(
        &self,
        (loaded, types): (&Loaded, &Types<'_>),
        make: impl FnOnce(VariantOfPlan<'_, '_>) -> T,
    ) -> T {
        let both = [&self.document, &self.written].map(|it| Topology::read(it, &|_| false));
        let [topology, written] = as_in_model(both, &self.model);
        let document = plan::compared_sections(OutNode::root(&self.document));
        make(VariantOfPlan {
            written: Some(&written),
            keeping: Some(&KeptValues::of(&self.secrets)),
            template_of: Some(&|name| counted_template(&self.model, name)),
            names: self.secrets.names(),
            ..VariantOfPlan::of(&topology, &document, types, loaded)
        })
    }

    /// The texts and sources of the target that an instance keeps.
    fn sources(
        &self,
        loaded: &Loaded,
        non_normative: bool,
        redacting: &TargetRedaction<'_, '_, '_>,
    ) -> Result<TargetSources, Diagnostics> {
        let package = loaded.package();
        let by_path =
            |text: String| csar::imports_by_path(package, loaded.sources(), &text).unwrap_or(text);
        let scanner = &redacting.scanner;
        let written = || by_path(text_without_secrets(&self.written, scanner));
        let (gathered, written) = beside(written, |written| {
            let concrete = text_without_secrets(&self.document, scanner);
            let gathered = csar::gather(package, loaded.sources(), &concrete, &[], &EXTENSION);
            (gathered, written())
        });
        let mut files = gathered?;
        let (template, concrete) = files.remove(0);
        let concrete = String::from_utf8_lossy(&concrete).into_owned();
        let beside = template.parent().unwrap_or(Path::new(""));
        for &file in loaded.library() {
            let source = loaded.sources().file(file);
            if let Ok(below) = source.path().strip_prefix(package.directory()) {
                files.push((beside.join(below), source.text().as_bytes().to_vec()));
            }
        }
        let types = by_path(text_without_secrets(&types_only(&self.document), scanner));
        let (copies, maps) = copies(loaded, &types);
        files.extend(copies);
        files.sort();
        files.dedup_by(|one, other| one.0 == other.0);
        let (mut kept, mut digests) = (Vec::new(), Vec::new());
        for (path, bytes) in files {
            let name = path.to_string_lossy().into_owned();
            match redacting.file(&path, bytes) {
                Ok(bytes) => kept.push((name, bytes)),
                Err(bytes) => digests.push((name, redacting.secrets.digest(&bytes))),
            }
        }
        Ok(TargetSources {
            template: template.to_string_lossy().into_owned(),
            concrete,
            written,
            types,
            files: kept,
            digests,
            maps,
            non_normative,
            model: Arc::clone(&self.model),
            secrets: self.places.clone(),
            outputs: self.outputs.clone(),
        })
    }
}

/// Removes secrets from the texts that are kept of a target.
struct TargetRedaction<'r, 't, 'a> {
    sensitivity: &'r Sensitivity<'t, 'a>,
    secrets: &'r KeptSecrets,
    scanner: SecretScanner<'r>,
    /// The files with types, by their texts: names of types have their meaning in a file.
    files: FxHashMap<&'a str, FileId>,
}

impl<'r, 't, 'a> TargetRedaction<'r, 't, 'a> {
    fn new(
        sensitivity: &'r Sensitivity<'t, 'a>,
        types: &Types<'a>,
        secrets: &'r KeptSecrets,
    ) -> Self {
        let documents = types.documents().iter();
        let files = documents.map(|document| (document.text(), document.file())).collect();
        Self { sensitivity, secrets, scanner: secrets.scanner(), files }
    }

    fn of<'d>(&self, document: &Out<'d>, file: Option<FileId>) -> Out<'d> {
        let data = self.sensitivity.data();
        let hidden = |value: &Value, secrecy: &Secrecy| self.scanner.sealed(value, secrecy, data);
        Redaction { secrets: self.sensitivity, hidden: &hidden }.of(document, file)
    }

    /// The content under which a file is kept.
    ///
    /// # Errors
    /// The content itself if the file is not kept.
    fn file(&self, path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, Vec<u8>> {
        if bytes.len() > KEPT {
            return Err(bytes);
        }
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(binary) => return Ok(binary.into_bytes()),
        };
        if !is_yaml(path) {
            return self.untold(text);
        }
        let Ok(document) = v2_0::parsed(text.as_str()) else { return self.untold(text) };
        let file = self.files.get(text.as_str()).copied();
        match self.of(&Out::Source(document.root()), file) {
            Out::Source(_) if !self.scanner.is_told(&text) => Ok(text.into_bytes()),
            shown => Ok(text_without_secrets(&shown, &self.scanner).into_bytes()),
        }
    }

    /// The text of a file that has no structure, unless it tells a secret.
    ///
    /// # Errors
    /// The text itself if it does.
    fn untold(&self, text: String) -> Result<Vec<u8>, Vec<u8>> {
        if self.scanner.is_told(&text) { Err(text.into_bytes()) } else { Ok(text.into_bytes()) }
    }
}

/// The text of a document that shows no secrets. Where its comments do, it has none.
fn text_without_secrets(document: &Out<'_>, scanner: &SecretScanner<'_>) -> String {
    let text = write_yaml(document);
    match scanner.is_told(&text) {
        true => write_yaml(&plain(document)),
        false => text,
    }
}

/// The values and files of a template as an instance keeps them.
struct KeptValues<'s> {
    secrets: &'s KeptSecrets,
    scanner: SecretScanner<'s>,
}

impl<'s> KeptValues<'s> {
    fn of(secrets: &'s KeptSecrets) -> Self {
        Self { secrets, scanner: secrets.scanner() }
    }
}

impl KeepsValues for KeptValues<'_> {
    fn kept(&self, value: Value, secrecy: &Secrecy, data: &SecretData) -> Value {
        self.scanner.sealed(&value, secrecy, data).unwrap_or(value)
    }

    fn secret(&self, value: &Value) -> Value {
        self.secrets.kept(value)
    }

    fn digest(&self, content: &[u8]) -> String {
        self.secrets.digest(content)
    }
}

/// The name of a file, and its content.
type KeptFile = (PathBuf, Vec<u8>);

/// The directory for copies of files from elsewhere. No template has a path with this name.
const COPIES: &str = ".copies";

/// The files that a template imports from mapped addresses: copies under names of their own, and
/// the copy that each address is mapped to. Its topology imports nothing and may be missing.
fn copies(loaded: &Loaded, template: &str) -> (Vec<KeptFile>, Vec<(String, String)>) {
    let (copies, mapped) = loaded.copies(template.to_owned());
    let sources = loaded.sources();
    let paths: Vec<_> = copies.iter().map(|&file| normalize(sources.file(file).asked())).collect();
    let names = below_one(paths.iter().map(PathBuf::as_path));
    let named: FxHashMap<FileId, PathBuf> = copies
        .iter()
        .zip(names)
        .map(|(&file, name)| (file, Path::new(COPIES).join(name)))
        .collect();
    let text = |file: &FileId| sources.file(*file).text().as_bytes().to_vec();
    let files = named.iter().map(|(file, name)| (name.clone(), text(file))).collect();
    let name = |file: &FileId| Some(named.get(file)?.to_string_lossy().into_owned());
    let mut maps: Vec<_> =
        mapped.iter().filter_map(|(address, file)| Some((address.clone(), name(file)?))).collect();
    maps.sort();
    maps.dedup();
    (files, maps)
}

/// The part of a model that one side of a plan covers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PlannedExtent {
    /// The deployed part, as far as its deployment has come.
    Present,
    /// Everything, deployed or not.
    All,
    /// Nothing: the side is empty.
    Nothing,
}

/// The targets that were kept of an instance, for one side of a plan.
pub(super) struct KeptSide {
    sources: TargetSources,
    pub(super) loaded: Arc<Loaded>,
    /// The targets of nodes that do not have the present target.
    others: Vec<OtherTarget>,
    written: Document,
    resolver: Resolver,
}

/// A target that some nodes of the instance still have, or have already.
struct OtherTarget {
    digest: Arc<str>,
    sources: TargetSources,
    concrete: Document,
    written: Document,
    loaded: Arc<Loaded>,
    resolver: Resolver,
}

/// What a side of a plan consists of.
struct SideDocuments {
    /// What is compared of the document.
    document: Value,
    topology: Topology,
    /// The topology with functions unevaluated.
    written: Topology,
}

impl KeptSide {
    pub(super) fn of(model: &InstanceModel, targets: KeptTargets<'_>) -> Result<Self, Failure> {
        let sources = targets(&model.target.digest)?;
        let resolver = sources.resolver();
        let loaded = resolver.loaded(Extent::Whole)?;
        let mut others: Vec<OtherTarget> = Vec::new();
        for node in model.nodes.values() {
            let Some(digest) = &node.target else { continue };
            if others.iter().all(|known| known.digest != *digest) {
                let sources = targets(digest)?;
                let resolver = sources.resolver();
                others.push(OtherTarget {
                    digest: Arc::clone(digest),
                    concrete: v2_0::parsed(sources.concrete.as_str())?,
                    written: v2_0::parsed(sources.written.as_str())?,
                    loaded: resolver.loaded(Extent::Whole)?,
                    resolver,
                    sources,
                });
            }
        }
        let written = v2_0::parsed(sources.written.as_str())?;
        Ok(Self { sources, loaded, others, written, resolver })
    }

    /// A document of the target with the state of a model; with the model's values, or with
    /// functions as they are written.
    fn overlaid<'d>(
        &'d self,
        model: &InstanceModel,
        extent: PlannedExtent,
        target: Node<'d>,
        with_values: bool,
    ) -> Out<'d> {
        let others = self.others.iter().map(|of| {
            let document = if with_values { &of.concrete } else { &of.written };
            (Arc::clone(&of.digest), NamedTemplates::of(&Out::Source(document.root())))
        });
        let (others, with_initial) = (&others.collect(), extent == PlannedExtent::All);
        Overlay { model, with_initial, with_values, others }.document(&Out::Source(target))
    }

    /// Calls `make` with a model as a side of a plan.
    pub(super) fn with<T>(
        &self,
        model: &InstanceModel,
        extent: PlannedExtent,
        make: impl FnOnce(VariantOfPlan<'_, '_>) -> Result<T, Diagnostics>,
    ) -> Result<T, Diagnostics> {
        self.as_side((model, extent), &self.documents(model, extent)?, make)
    }

    /// The documents of a model as a side of a plan.
    fn documents(
        &self,
        model: &InstanceModel,
        extent: PlannedExtent,
    ) -> Result<SideDocuments, Diagnostics> {
        let loaded = &*self.loaded;
        let nothing = Out::Value(Value::Null);
        let (document, written) = match extent {
            PlannedExtent::Nothing => (nothing.clone(), nothing),
            _ => (
                self.overlaid(model, extent, loaded.whole(loaded.template())?.root(), true),
                self.overlaid(model, extent, self.written.root(), false),
            ),
        };
        let both = [&document, &written].map(|it| Topology::read(it, &|_| false));
        let [topology, written] = as_in_model(both, model);
        let document = plan::compared_sections(OutNode::root(&document));
        Ok(SideDocuments { document, topology, written })
    }

    /// Calls `make` with a side of a plan of which these are the documents.
    fn as_side<T>(
        &self,
        (model, extent): (&InstanceModel, PlannedExtent),
        SideDocuments { document, topology, written }: &SideDocuments,
        make: impl FnOnce(VariantOfPlan<'_, '_>) -> Result<T, Diagnostics>,
    ) -> Result<T, Diagnostics> {
        let loaded = &*self.loaded;
        let linked = |loaded, resolver: &Resolver| {
            types::linked(loaded, &resolver.choice, InputMode::Closed)
        };
        let types = linked(loaded, &self.resolver)?;
        let others = self.others.iter().map(|other| linked(&other.loaded, &other.resolver));
        let others = others.collect::<Result<Vec<_>, _>>()?;
        let origin_of = |name: &str| {
            let digest = model.nodes.get(name)?.target.as_ref()?;
            let at = self.others.iter().position(|other| other.digest == *digest)?;
            let OtherTarget { loaded, sources, .. } = self.others.get(at)?;
            Some(VariantOrigin { types: others.get(at)?, loaded, digests: &sources.digests })
        };
        let of_kept = VariantOfPlan::of(topology, document, &types, loaded);
        make(VariantOfPlan {
            written: Some(written),
            origin: VariantOrigin { digests: &self.sources.digests, ..of_kept.origin },
            origin_of: Some(&origin_of),
            observation: (extent == PlannedExtent::Present)
                .then_some(&|name| observed(model, name)),
            pending: Some(&|source, name, target| is_pending(model, source, (name, target))),
            template_of: Some(&|name| counted_template(model, name)),
            names: &SecretNames::with(&model.sensitive),
            ..of_kept
        })
    }
}

/// The template of a node that is one of several with this template.
fn counted_template<'m>(model: &'m InstanceModel, name: &str) -> Option<&'m str> {
    let node = model.nodes.get(name).filter(|node| node.index.is_some())?;
    node.template.as_deref()
}

/// Whether the ends of a relation have yet to learn of each other.
fn is_pending(model: &InstanceModel, source: &str, (name, target): (&str, Option<&str>)) -> bool {
    let all = model.nodes.get(source).and_then(|node| node.requirements.get(name));
    let mut meant = all.into_iter().flatten().filter(|it| it.target.as_deref() == target);
    meant.any(|relation| relation.pending)
}

/// How far the deployment of a node has come.
fn observed(model: &InstanceModel, name: &str) -> Option<Observed> {
    let node = model.nodes.get(name)?;
    let known = |state: &InstanceState| match state {
        InstanceState::Known(state) => *state,
        // A workflow may set states of its own; they count as stable, with nothing left to do.
        InstanceState::Other(_) => NodeState::Started,
    };
    let state = known(&node.state);
    let has_failed = state == NodeState::Error;
    let failed_in = node.failed_in.as_ref().map_or(NodeState::Started, known);
    Some(Observed { reached: if has_failed { failed_in } else { state }, has_failed })
}

impl TargetSources {
    /// A resolver of the kept template, which is plain and is exactly the variant.
    pub fn resolver(&self) -> Resolver {
        let resolver = Resolver::new(&self.template).files(self.system(&self.concrete));
        let mapped =
            |resolver: Resolver, (address, file): &(String, String)| resolver.map(address, file);
        let resolver = self.maps.iter().fold(resolver, mapped);
        if self.non_normative { resolver.non_normative_types() } else { resolver }
    }
}

impl TargetTypes {
    /// Calls `ask` with the types that were kept.
    pub(super) fn with_types<T, E: Into<Diagnostics>>(
        &self,
        ask: impl FnOnce(&Types<'_>, &SourceMap) -> Result<T, E>,
    ) -> Result<T, Failure> {
        let template = (self.template.clone(), self.text.as_bytes().to_vec());
        let files: MemoryFiles = self.files.iter().cloned().chain([template]).collect();
        let resolver = Resolver::new(&self.template).files(files);
        let mapped =
            |resolver: Resolver, (address, file): &(String, String)| resolver.map(address, file);
        let resolver = self.maps.iter().fold(resolver, mapped);
        let resolver = if self.non_normative { resolver.non_normative_types() } else { resolver };
        let loaded = resolver.loaded(Extent::Whole)?;
        let asked = types::known(&loaded, &resolver.choice, InputMode::Closed, |types| {
            ask(types, loaded.sources()).map_err(Into::into)
        });
        asked.map_err(|Diagnostics(diagnostics)| Failure {
            diagnostics,
            sources: loaded.sources().clone(),
        })
    }
}
