//! Runs the phases from the graph to the resolved document.

use super::advice;
use super::check;
use super::choice::Choice;
use super::emit::{self, TechnologyNames};
use super::enrich;
use super::expression::Evaluator;
use super::find::{self, BestVariant, Optimum};
use super::function::deployment::{self, DeploymentInputs};
use super::function::fit::misfits;
use super::function::scope::{Functions, Given, VariantScope};
use super::graph::{Graph, NodeElement};
use super::inputs::{InputMode, VariabilityPresets};
use super::objectives;
use super::options::{self, Options};
use super::prepared::{Interpreted, Prepared, checked};
use super::presence::Presence;
use super::pruned;
use super::resolution::{ElementNames, Resolution};
use super::template::{self, PropertyValue, ServiceTemplate};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Severity};
use crate::parallel::beside;
use crate::topology::{RelationHead, Spanned, Topology};
use crate::tosca::Types;
use crate::tosca::evaluate::EvaluatorState;
use crate::tosca::load::Loaded;
use crate::tosca::secrecy::telling_texts;
use cuvee_sat::progress::{Progress, SharedProgress};
use cuvee_sat::solve::{Limit, SolverSettings};
use cuvee_text::answer::Failure;
use cuvee_text::decimal::Decimal;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Out, OutNode};
use rustc_hash::FxHashMap;
use std::mem;
use std::sync::Arc;

/// The settings of a run. Its result does not depend on them, unless the run is cut short.
#[derive(Default)]
pub(crate) struct How {
    /// The limit at which the run has to stop.
    pub limit: Limit,
    /// The receiver of progress reports.
    pub progress: SharedProgress,
    /// Whether the memory of the run is left for the end of the process to free.
    pub keeps_memory: bool,
}

impl How {
    /// Drops a value, or leaks it if the run keeps its memory.
    pub(crate) fn leave<T>(&self, done: T) {
        if self.keeps_memory {
            mem::forget(done);
        }
    }
}

/// Resolves the variant of a choice.
///
/// # Errors
/// Everything that is wrong, or why there is no variant.
pub(crate) fn resolve(
    loaded: &Loaded,
    choice: &Choice,
    how: &How,
    progress: &mut dyn Progress,
) -> Result<Resolution, Failure> {
    let failure =
        |errors: Diagnostics| Failure { diagnostics: errors.0, sources: loaded.sources().clone() };
    progress.phase("interpreting");
    let interpreted = Interpreted::of(loaded, choice).map_err(failure)?;
    let prepared =
        Prepared::of(&interpreted, choice, InputMode::Closed, progress).map_err(failure)?;
    let judged = judged(&prepared, choice, how, progress, Forms::Chosen, |variant| {
        let surprises = pruned::warnings(&prepared, variant.presence);
        (ElementNames::of(&prepared.graph, variant.presence), surprises)
    });
    // The prepared template is not needed for the text, which takes about as much memory.
    drop(prepared);
    let version = interpreted.template.version;
    let advised = |errors| failure(advised(errors, loaded, version, choice, how));
    let Judged { made: (elements, surprises), document, optima, mut warnings, .. } =
        judged.map_err(advised)?;
    warnings.0.extend(surprises);
    let yaml = emit::text(&document);
    progress.phase("cleaning up");
    // The next steps may need as much memory: they change names of files in a tree of the text.
    drop(document);
    how.leave(interpreted);
    let (package, sources) = (loaded.package().clone(), loaded.sources().clone());
    Ok(Resolution { yaml, elements, package, optima, sources, warnings: warnings.0 })
}

/// The effective options of a template. Resolving reports other mistakes in the template.
///
/// # Errors
/// Options that are unknown or have an invalid value.
pub(crate) fn options(loaded: &Loaded, choice: &Choice) -> Result<Options, Diagnostics> {
    let template = parsed(loaded)?;
    options::resolve(template.version, template.variability.options, &choice.options)
}

/// The names of the variability presets of a template. Resolving reports other mistakes in it.
///
/// # Errors
/// Only `syntax`.
pub(crate) fn preset_names(loaded: &Loaded) -> Result<Vec<String>, Diagnostics> {
    let presets = parsed(loaded)?.variability.presets;
    let presets = VariabilityPresets::parse(presets, &mut Diagnostics::default());
    Ok(presets.names().map(str::to_owned).collect())
}

fn parsed(loaded: &Loaded) -> Result<ServiceTemplate<'_>, Diagnostics> {
    let root = loaded.whole(loaded.template())?.root();
    Ok(template::parse(root, &mut Diagnostics::default())?)
}

/// The presence of elements in the variant of a choice. The variant is also written, so that errors
/// of writing are found; `read` gets its document.
///
/// # Errors
/// As [`resolve`].
pub(crate) fn presence(
    prepared: &Prepared<'_>,
    choice: &Choice,
    read: &mut dyn FnMut(&Out<'_>),
) -> Result<Presence, Diagnostics> {
    let how = How { limit: choice.limit.clone(), ..How::default() };
    let judged = judged(prepared, choice, &how, &mut (), Forms::Chosen, |variant| {
        read(variant.document);
        variant.presence.clone()
    })?;
    Ok(judged.made)
}

/// The documents of a variant, as trees. For a plain template without absent elements, the tree is
/// the template itself.
pub(crate) struct VariantDocuments<'i> {
    /// The document with its functions as they are written.
    pub written: Out<'i>,
    /// The document with the values of its functions, if the choice asks for that and has the
    /// inputs that they need.
    pub evaluated: Option<Out<'i>>,
    /// The given values of topology inputs, if functions have values.
    pub inputs: DeploymentValues<'i>,
    /// The weight of each node.
    pub weights: Vec<(&'i str, Decimal)>,
    /// The proven lower bound of the weight of all variants of the choice.
    pub least_weight: Decimal,
}

fn is_missing_input(found: &Diagnostic) -> bool {
    found.code == Code::MissingInput || found.severity < Severity::Error
}

/// The proven lower bound of the weight of nodes, if this weight is the first objective.
fn least_weight(optima: &[Optimum]) -> Decimal {
    let weight = optima.first().filter(|first| first.is_of_weight() && !first.is_maximized);
    weight.and_then(|weight| Decimal::parse(&weight.bound)).unwrap_or(Decimal::ZERO)
}

/// The documents of the variant of a choice, with warnings.
///
/// # Errors
/// As [`resolve`].
pub(crate) fn documents<'i>(
    interpreted: &'i Interpreted<'_>,
    choice: &Choice,
    how: &How,
    look: &mut dyn FnMut(&Prepared<'_>, &Presence),
) -> Result<(VariantDocuments<'i>, Diagnostics), Diagnostics> {
    let progress = &mut how.progress.clone();
    let prepared = Prepared::of(interpreted, choice, InputMode::Closed, progress)?;
    let mut warnings = prepared.warnings.clone();
    let mut found = || {
        let deployment = choice.deployment_inputs(prepared.loaded)?;
        let mut evaluator = prepared.evaluator();
        let variant = decide(&prepared, &mut evaluator, how, progress, &mut warnings)?;
        look(&prepared, &variant.presence);
        let mut emit = |deployment| {
            emitted(
                &prepared,
                choice,
                (deployment, Forms::Chosen),
                &mut evaluator,
                &variant.presence,
            )
        };
        let evaluated = match deployment.as_deref().map(|deployment| emit(Some(deployment))) {
            // The caller can do without values that depend on missing inputs.
            Some(Err(errors)) if errors.0.iter().all(is_missing_input) => None,
            evaluated => evaluated.transpose()?,
        };
        let nodes = prepared.graph.nodes.iter().filter(|node| variant.presence.is(node.id));
        let weights = nodes.map(|node| (node.template.declared.name(), node.template.weight));
        let weights = weights.collect();
        let least_weight = least_weight(&variant.optima);
        let (evaluated, inputs) = evaluated.unzip();
        let (written, inputs) = (emit(None)?.0, inputs.unwrap_or_default());
        Ok(VariantDocuments { written, evaluated, inputs, weights, least_weight })
    };
    match found() {
        Ok(documents) => Ok((documents, warnings)),
        Err(errors) => {
            let version = interpreted.template.version;
            Err(advised(warnings.before(errors), interpreted.loaded, version, choice, how))
        }
    }
}

/// The topology of the variant of a choice, with warnings.
///
/// # Errors
/// As [`resolve`].
pub(crate) fn topology(
    interpreted: &Interpreted<'_>,
    choice: &Choice,
    how: &How,
) -> Result<(Topology, Diagnostics), Diagnostics> {
    read_off(interpreted, choice, how, Forms::Chosen, |variant, read| read(variant.document))
}

/// The topology of a variant. If the choice gives functions their values, also the topology with
/// functions as they are written.
pub(crate) struct PlannedTopology {
    pub(crate) topology: Topology,
    pub(crate) written: Option<Topology>,
}

/// The topology of the variant of a choice, with warnings.
///
/// # Errors
/// As [`resolve`].
pub(crate) fn topologies(
    interpreted: &Interpreted<'_>,
    choice: &Choice,
    how: &How,
) -> Result<(PlannedTopology, Diagnostics), Diagnostics> {
    read_off(interpreted, choice, how, Forms::Both, planned)
}

/// The topology of the variant of a choice and what `part` gives of its document, with warnings.
///
/// # Errors
/// As [`resolve`].
pub(crate) fn topologies_and<T>(
    interpreted: &Interpreted<'_>,
    choice: &Choice,
    how: &How,
    part: impl FnOnce(OutNode<'_, '_>) -> T,
) -> Result<((PlannedTopology, T), Diagnostics), Diagnostics> {
    read_off(interpreted, choice, how, Forms::Both, |variant, read| {
        (planned(variant, read), part(OutNode::root(variant.document)))
    })
}

/// A variant as data.
pub(crate) struct PlainVariant {
    /// The whole document.
    pub(crate) document: Value,
    pub(crate) topology: Topology,
    /// The variability inputs that led to the variant.
    pub(crate) inputs: Vec<(String, Value)>,
}

/// The variant of a choice as data, with warnings.
///
/// # Errors
/// As [`resolve`].
pub(crate) fn variant(
    interpreted: &Interpreted<'_>,
    choice: &Choice,
    how: &How,
) -> Result<(PlainVariant, Diagnostics), Diagnostics> {
    read_off(interpreted, choice, how, Forms::Chosen, |variant, read| PlainVariant {
        document: OutNode::root(variant.document).to_value(),
        topology: read(variant.document),
        inputs: input_values(variant.prepared),
    })
}

/// The values of variability inputs. Inputs without a value are left out: nothing needs them.
fn input_values(prepared: &Prepared<'_>) -> Vec<(String, Value)> {
    let mut evaluator = prepared.evaluator();
    let declarations = prepared.inputs.declarations.iter();
    let valued = declarations.filter_map(|(id, declaration)| {
        let value = evaluator.input_at(id, declaration.span).ok()?;
        Some((declaration.name.to_owned(), value))
    });
    valued.collect()
}

/// The values of variability inputs whose declarations or names say that they are secret.
fn secret_inputs(prepared: &Prepared<'_>) -> Vec<Value> {
    let mut evaluator = prepared.evaluator();
    let declarations = prepared.inputs.declarations.iter();
    let secret = declarations.filter(|(_, declaration)| declaration.is_sensitive);
    secret.filter_map(|(id, it)| evaluator.input_at(id, it.span).ok()).collect()
}

/// The texts in the values of secret variability inputs.
fn secret_texts(prepared: &Prepared<'_>) -> Vec<String> {
    let mut texts = Vec::new();
    let secrets = secret_inputs(prepared);
    secrets.iter().for_each(|value| telling_texts(value, &mut |text| texts.push(text)));
    texts
}

fn planned(
    variant: &EmittedVariant<'_, '_>,
    read: &dyn Fn(&Out<'_>) -> Topology,
) -> PlannedTopology {
    let document = variant.document;
    let (mut topology, written) = match variant.as_written {
        None => (read(document), None),
        Some(written) => {
            let as_written = || Topology::read(written, &|_| false);
            let (topology, mut written) =
                beside(as_written, |as_written| (read(document), as_written()));
            // Only one thread can ask the graph, and both forms have the same relations.
            for (relation, known) in written.relations.iter_mut().zip(&topology.relations) {
                relation.hosting = known.hosting;
            }
            written.secrets = Arc::clone(&topology.secrets);
            (topology, Some(written))
        }
    };
    for input in &mut topology.inputs {
        if let Some(value) = variant.inputs.get(&*input.name) {
            input.value = Some(Spanned { value: value.clone(), span: input.span });
        }
    }
    PlannedTopology { topology, written }
}

/// A variant in two forms: with the values of its functions, and with functions as they are
/// written.
pub(crate) struct EvaluatedVariant<'d, 'a> {
    pub(crate) document: &'d Out<'a>,
    /// The topology, with the values of its inputs that the choice gives.
    pub(crate) topology: Topology,
    pub(crate) written: &'d Out<'a>,
    pub(crate) written_topology: Topology,
    /// The values of variability inputs that are secret.
    pub(crate) secret_inputs: Vec<Value>,
}

/// Calls `make` with the variant of a choice that asks for the values of functions; with warnings.
///
/// # Errors
/// As [`resolve`], and those of `make`.
pub(crate) fn evaluated<T>(
    interpreted: &Interpreted<'_>,
    choice: &Choice,
    how: &How,
    make: impl FnOnce(EvaluatedVariant<'_, '_>) -> Result<T, Diagnostics>,
) -> Result<(T, Diagnostics), Diagnostics> {
    // The graph is not needed any more, which takes as much memory as what `make` makes.
    let Judged { made, document, as_written, warnings, .. } =
        read_variant(interpreted, choice, how, Forms::Both, |variant, read| {
            (planned(variant, read), secret_inputs(variant.prepared))
        })?;
    let (PlannedTopology { topology, written }, secret_inputs) = made;
    let made = make(EvaluatedVariant {
        document: &document,
        written: as_written.as_ref().unwrap_or(&document),
        written_topology: written.unwrap_or_else(|| topology.clone()),
        topology,
        secret_inputs,
    });
    how.leave((document, as_written));
    match made {
        Ok(made) => Ok((made, warnings)),
        Err(errors) => Err(warnings.before(errors)),
    }
}

fn read_off<T>(
    interpreted: &Interpreted<'_>,
    choice: &Choice,
    how: &How,
    forms: Forms,
    make: impl FnOnce(&EmittedVariant<'_, '_>, &dyn Fn(&Out<'_>) -> Topology) -> T,
) -> Result<(T, Diagnostics), Diagnostics> {
    let Judged { made, document, as_written, warnings, .. } =
        read_variant(interpreted, choice, how, forms, make)?;
    how.progress.clone().phase("cleaning up");
    how.leave((document, as_written));
    Ok((made, warnings))
}

/// The documents of the variant of a choice, and what `make` makes of it.
///
/// # Errors
/// As [`resolve`].
fn read_variant<'i, T>(
    interpreted: &'i Interpreted<'_>,
    choice: &Choice,
    how: &How,
    forms: Forms,
    make: impl FnOnce(&EmittedVariant<'_, 'i>, &dyn Fn(&Out<'_>) -> Topology) -> T,
) -> Result<Judged<'i, T>, Diagnostics> {
    let progress = &mut how.progress.clone();
    let prepared = Prepared::of(interpreted, choice, InputMode::Closed, progress)?;
    let graph = &prepared.graph;
    let secrets: Arc<[String]> = secret_texts(&prepared).into();
    let read = |document: &Out<'_>| Topology {
        secrets: Arc::clone(&secrets),
        ..Topology::read(document, &|relation| is_hosting(graph, relation))
    };
    let made = judged(&prepared, choice, how, progress, forms, |variant| make(variant, &read));
    let version = interpreted.template.version;
    made.map_err(|errors| advised(errors, interpreted.loaded, version, choice, how))
}

/// Whether a relation of the result is a hosting relation.
pub(crate) fn is_hosting(graph: &Graph<'_>, relation: &RelationHead<'_>) -> bool {
    let source = graph.node_named(relation.source);
    let source = source.map(|source| graph.holder(source, "requirements"));
    let id = source.and_then(|node| node.relations.get(relation.position as usize));
    id.is_some_and(|&id| graph.relation(id).hosting)
}

/// Adds to errors a pruning mode in which there is a variant.
pub(crate) fn advised(
    errors: Diagnostics,
    loaded: &Loaded,
    version: &str,
    choice: &Choice,
    how: &How,
) -> Diagnostics {
    advice::with_advice(errors, version, choice, &how.limit, |choice| {
        resolves(loaded, choice, &how.limit)
    })
}

/// Whether there is a variant of a choice, and it is proven to be the best within the limit.
pub(crate) fn resolves(loaded: &Loaded, choice: &Choice, limit: &Limit) -> bool {
    let how = How { limit: limit.clone(), ..How::default() };
    let choice = &Choice { tolerant: false, ..choice.clone() };
    let is_proven = || {
        let interpreted = Interpreted::of(loaded, choice)?;
        let prepared = Prepared::of(&interpreted, choice, InputMode::Closed, &mut ())?;
        let judged = judged(&prepared, choice, &how, &mut (), Forms::Chosen, |_| ())?;
        Ok::<_, Diagnostics>(judged.is_proven())
    };
    is_proven().is_ok_and(|is_proven| is_proven)
}

/// A variant that was written.
struct EmittedVariant<'e, 'a> {
    document: &'e Out<'a>,
    prepared: &'e Prepared<'a>,
    /// The values that the choice gives to inputs of the topology.
    inputs: &'e DeploymentValues<'a>,
    /// The document with functions as they are written, if `document` has their values instead.
    as_written: Option<&'e Out<'a>>,
    presence: &'e Presence,
}

/// Values of topology inputs, by their names.
type DeploymentValues<'a> = FxHashMap<&'a str, Value>;

/// The forms in which a variant is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Forms {
    /// Functions have their values, if the choice asks for that.
    Chosen,
    /// As [`Forms::Chosen`]; if functions have their values, also a form with functions as they are
    /// written.
    Both,
}

/// The result for a variant that can be written.
struct Judged<'a, T> {
    made: T,
    document: Out<'a>,
    /// The document with functions as they are written, if `document` has their values instead.
    as_written: Option<Out<'a>>,
    optima: Vec<Optimum>,
    warnings: Diagnostics,
}

impl<T> Judged<'_, T> {
    /// Whether the variant was proven in time to be the best.
    fn is_proven(&self) -> bool {
        self.warnings.0.iter().all(|warning| warning.code != Code::Unproven)
    }
}

/// Finds and checks the variant of a choice, writes its document, and calls `make` with both.
///
/// # Errors
/// As [`resolve`], after the warnings.
fn judged<'a, T>(
    prepared: &Prepared<'a>,
    choice: &Choice,
    how: &How,
    progress: &mut dyn Progress,
    forms: Forms,
    make: impl FnOnce(&EmittedVariant<'_, 'a>) -> T,
) -> Result<Judged<'a, T>, Diagnostics> {
    let mut warnings = prepared.warnings.clone();
    let judged = (|| {
        let deployment = choice.deployment_inputs(prepared.loaded)?;
        let mut evaluator = prepared.evaluator();
        let BestVariant { presence, optima, .. } =
            decide(prepared, &mut evaluator, how, progress, &mut warnings)?;
        progress.phase("writing");
        let mut emit =
            |deployment| emitted(prepared, choice, (deployment, forms), &mut evaluator, &presence);
        let (document, inputs) = emit(deployment.as_deref())?;
        let as_written = (forms == Forms::Both && deployment.is_some()).then(|| emit(None));
        let as_written = as_written.transpose()?.map(|(document, _)| document);
        let made = make(&EmittedVariant {
            document: &document,
            prepared,
            inputs: &inputs,
            as_written: as_written.as_ref(),
            presence: &presence,
        });
        Ok((made, document, as_written, optima))
    })();
    match judged {
        Ok((made, document, as_written, optima)) => {
            Ok(Judged { made, document, as_written, optima, warnings })
        }
        Err(errors) => Err(warnings.before(errors)),
    }
}

/// Finds the variant and checks it.
///
/// # Errors
/// Errors of expressions or inputs, the reasons why there is no variant, and the violations that
/// checks find.
pub(crate) fn decide<'p, 'a>(
    prepared: &'p Prepared<'a>,
    evaluator: &mut Evaluator<'p, 'a>,
    how: &How,
    progress: &mut dyn Progress,
    warnings: &mut Diagnostics,
) -> Result<BestVariant, Diagnostics> {
    checked(warnings, |diagnostics| *diagnostics = prepared.violations.clone())?;
    let mut variant = find(prepared, evaluator, how, progress)?;
    warnings.0.extend(variant.unproven.take());
    progress.phase("checking");
    checked(warnings, |diagnostics| {
        *diagnostics = check::check(&prepared.graph, prepared.options, &variant.presence);
    })?;
    Ok(variant)
}

/// Runs the phases from the graph to the presence of elements.
///
/// # Errors
/// Errors of expressions or inputs, and the reasons why there is no variant.
pub(crate) fn find<'p, 'a>(
    prepared: &'p Prepared<'a>,
    evaluator: &mut Evaluator<'p, 'a>,
    how: &How,
    progress: &mut dyn Progress,
) -> Result<BestVariant, Diagnostics> {
    let Prepared { inputs, type_specific, options, wrong_expressions, .. } = prepared;
    progress.phase("enriching");
    enrich::validate(evaluator, type_specific, options, wrong_expressions)?;
    let mut assertions = enrich::enrich(evaluator, inputs, type_specific, options)?;
    assertions.add_demands(evaluator, &prepared.demands);
    let objectives = objectives::objectives(evaluator, options)?;
    let settings = SolverSettings { limit: how.limit.clone(), ..prepared.solver.into() };
    Ok(find::find(evaluator, &assertions, &objectives, options, &settings, progress)?)
}

/// The resolved document of the present elements, with the values of its functions if `deployment`
/// has inputs for them.
///
/// # Errors
/// Errors of values and functions.
fn emitted<'p, 'a>(
    prepared: &'p Prepared<'a>,
    choice: &Choice,
    (deployment, forms): (Option<&[DeploymentInputs<'_>]>, Forms),
    evaluator: &mut Evaluator<'p, 'a>,
    presence: &'p Presence,
) -> Result<(Out<'a>, DeploymentValues<'a>), Diagnostics> {
    evaluator.decide(presence);
    let graph = &prepared.graph;
    let technologies = choice.names_technologies.then(|| technology_names(graph, presence));
    let Some(deployment) = deployment else {
        let document = emit::emit(evaluator, presence, None, technologies)?;
        return Ok((document, FxHashMap::default()));
    };
    let documents = prepared.whole_documents()?;
    let all = choice.beside_profiles(&documents, prepared.sources());
    let types = Types::linked(all, &prepared.links, &[]);
    let inputs = deployment::assign(graph, presence, deployment, &types)?;
    let named = inputs.iter().map(|(&id, value)| (graph.element(id).name, value.clone()));
    let named = named.collect();
    let mut expressions = FxHashMap::default();
    for property in graph.properties.iter().filter(|property| presence.is(property.id)) {
        if let PropertyValue::Expression(expression) = property.property.value {
            expressions.insert(
                property.id,
                evaluator.value(graph.syntax.read(expression), Some(property.id))?,
            );
        }
    }
    // Where the document is not all that is read, it is for a plan.
    let given = Given { inputs, expressions, has_texts: forms == Forms::Both };
    let scope = VariantScope::new(graph, presence, &types, given);
    let functions = Functions::new(&scope, EvaluatorState::default());
    let document = emit::emit(evaluator, presence, Some(functions), technologies)?;
    let wrong = misfits(graph, presence, &types, &scope);
    if wrong.is_empty() { Ok((document, named)) } else { Err(Diagnostics(wrong)) }
}

/// The technologies of present nodes.
fn technology_names<'g>(graph: &'g Graph<'_>, presence: &Presence) -> TechnologyNames<'g> {
    let nodes = graph.nodes.iter().filter(|node| presence.is(node.id));
    let technology = |node: &NodeElement<'_>| {
        let id = presence.among(&node.technologies).next()?;
        let element = graph.element(id);
        let needs_none = graph.technologies[element.slot as usize].none;
        (!needs_none).then_some((node.id, element.name))
    };
    nodes.filter_map(technology).collect()
}
