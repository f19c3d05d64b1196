//! Analyses all variants at once: what they have in common, and which parts of the template have no
//! effect.

use super::inputs::InputReport;
use super::inputs::InputsReport;
use super::matrix::columns;
use super::one_line;
use super::space::Assigned;
use super::space::{Projection, Space, VariantRequirement, literal};
use super::variants::preset_variants;
use super::variants::{Query, RejectedPreset};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::variability::choice::Choice;
use crate::variability::enrich::Origin;
use crate::variability::graph::ElementId;
use crate::variability::inputs::InputMode;
use crate::variability::prepared::{Interpreted, Prepared};
use cuvee_sat::count::compile;
use cuvee_sat::formula::{Cnf, Lit, OriginId};
use cuvee_sat::progress::Progress;
use cuvee_sat::solve::Models;
use cuvee_sat::solve::backbone::{Backbone, backbone_beside, equivalences_beside};
use cuvee_sat::solve::redundancy::ConstraintQuestion;
use cuvee_sat::solve::walk::Samples;
use cuvee_text::source::SourceMap;
use rustc_hash::FxHashSet;
use serde::Serialize;
use std::sync::Arc;

/// The facts that hold for all variants.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Analysis {
    /// Whether the template has no variant at all.
    pub void: bool,
    /// The elements that every variant has, without those inside another element of the list.
    pub core: Vec<String>,
    /// The elements that no variant has, without those inside another element of the list.
    pub dead: Vec<Placed>,
    /// The elements whose conditions make no difference: they are present whenever their container
    /// is.
    pub false_optional: Vec<Placed>,
    /// Sets of nodes that are present in exactly the same variants, in some but not in all.
    pub atomic_sets: Vec<Vec<String>>,
    /// The inputs that do not affect the presence of any element.
    pub idle_inputs: Vec<IdleInput>,
    /// The constraints that are redundant, or that leave no variant.
    pub constraints: Vec<Verdict>,
    /// The checks that reject variants.
    pub checks: Vec<Rejecting>,
    /// The presets that lead to no variant.
    pub presets: Vec<RejectedPreset>,
}

/// An element and its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Placed {
    /// The identifier of the element.
    pub element: String,
    /// The place: `file:line:column`
    pub place: String,
}

/// An input that does not affect the presence of any element.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct IdleInput {
    /// Its name.
    pub name: String,
    /// The place: `file:line:column`
    pub place: String,
    /// The properties whose values are computed from the input; if there are none, it has no
    /// effect.
    pub values: Vec<String>,
}

/// A constraint that is redundant or leaves no variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Verdict {
    /// The place: `file:line:column`
    pub place: String,
    /// The constraint as it is written, on one line.
    pub constraint: String,
    /// Whether the rest of the template implies the constraint; otherwise it is a reason why there
    /// is no variant.
    pub redundant: bool,
}

/// A check that rejects variants.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Rejecting {
    /// The code of the check.
    pub check: String,
    /// The element that the check rejects variants for.
    pub element: Option<String>,
    /// The number of topologies that it rejects, in decimal digits, if it could be counted.
    pub count: Option<String>,
    /// Inputs for which the check rejects the variant.
    pub inputs: Vec<Arc<Assigned>>,
}

/// Analyses all variants: which elements every variant has, which none has, and which parts of the
/// template have no effect. Dead elements are also reported as warnings.
///
/// # Errors
/// The errors of the template that do not depend on inputs; `open-input` if an input cannot stay
/// open.
pub(crate) fn analyze(
    interpreted: &Interpreted<'_>,
    choice: &Choice,
    progress: &mut dyn Progress,
) -> Result<(Analysis, Diagnostics), Diagnostics> {
    let prepared = Prepared::of(interpreted, choice, InputMode::Open, progress)?;
    let mut warnings = Diagnostics::default();
    let analysis = Space::of(&prepared, true, progress).and_then(|mut space| {
        warnings.0.append(&mut space.unknown_values().0);
        let idle = idle_inputs(space.inputs_apart(progress)?);
        let mut analysis = space.analysis(prepared.sources(), &mut warnings, progress);
        progress.phase("resolving presets");
        analysis.idle_inputs = idle;
        analysis.presets = rejected_presets(interpreted, choice, &prepared);
        Ok(analysis)
    });
    let (analysis, mut all) = prepared.answer(analysis)?;
    all.0.append(&mut warnings.0);
    Ok((analysis, all))
}

fn idle_inputs(report: InputsReport) -> Vec<IdleInput> {
    let is_idle = |input: &InputReport| {
        input.assigned.is_none() && input.influences.is_empty() && !input.constrained
    };
    let idle = report.inputs.into_iter().filter(is_idle);
    idle.map(|input| IdleInput { name: input.name, place: input.place, values: input.values })
        .collect()
}

/// The presets that lead to no variant; first those that do so whatever the other inputs are.
fn rejected_presets(
    interpreted: &Interpreted<'_>,
    choice: &Choice,
    open: &Prepared<'_>,
) -> Vec<RejectedPreset> {
    let (matrix, _) = columns(interpreted, choice, open, &mut |_| {}, &mut |_| {});
    let is_void = |preset: &RejectedPreset| {
        let choice = choice.with_preset(&preset.preset);
        let variants =
            Prepared::of(interpreted, &choice, InputMode::Open, &mut ()).and_then(|prepared| {
                Space::of(&prepared, true, &mut ())?
                    .variants(&Query { limit: 1, ..Query::default() }, &mut ())
            });
        variants.is_err()
    };
    let rejected = preset_variants(&matrix, Projection::Nodes).rejected.into_iter();
    let mut rejected: Vec<_> =
        rejected.map(|preset| RejectedPreset { void: is_void(&preset), ..preset }).collect();
    rejected.sort_by_key(|preset| !preset.void);
    rejected
}

fn ids(literals: &[Lit]) -> Vec<ElementId> {
    literals.iter().map(|literal| ElementId(literal.var().0)).collect()
}

/// How many steps are taken at most to count the variants that a check rejects.
const EFFORT: u64 = 100_000;

impl Space<'_, '_> {
    /// Warns of the elements that no variant has, without those inside another one of them.
    pub(crate) fn dead_elements(&self, progress: &mut dyn Progress) -> Vec<Diagnostic> {
        let elements = Projection::All.elements(self.graph());
        let (_, _, found) = self.fixed(&elements, progress);
        let dead = ids(&found.unwrap_or_default().never);
        self.outermost(&dead).into_iter().map(|id| self.dead(id)).collect()
    }

    /// Which elements every variant has, and which none has; `None` if there is no variant. Beside it
    /// is what further questions go on with.
    fn fixed(
        &self,
        elements: &[ElementId],
        progress: &mut dyn Progress,
    ) -> (Samples, Models, Option<Backbone>) {
        let mut models = self.valid_models();
        progress.phase("walking through variants");
        let mut samples = self.samples(&mut models);
        let literals: Vec<Lit> = elements.iter().map(|&id| literal(id)).collect();
        progress.phase("core and dead elements");
        let mut models = models.projected(&literals, &samples).unwrap_or(models);
        let found = backbone_beside(&mut samples, &literals, &mut models);
        (samples, models, found)
    }

    fn dead(&self, id: ElementId) -> Diagnostic {
        let graph = self.graph();
        let message = format!("{} is in no variant", graph.display(id));
        let help = format!("`cuvee explain` with `{}` says why", graph.identifier(id));
        Diagnostic::warning(Code::DeadElement, message).at(graph.element(id).span).help(help)
    }

    fn analysis(
        &self,
        sources: &SourceMap,
        warnings: &mut Diagnostics,
        progress: &mut dyn Progress,
    ) -> Analysis {
        let graph = self.graph();
        let elements = Projection::All.elements(graph);
        let (mut samples, mut models, found) = self.fixed(&elements, progress);
        let void = found.is_none();
        let found = found.unwrap_or_default();
        let (core, dead) = (ids(&found.always), ids(&found.never));
        let placed =
            |ids: Vec<ElementId>| ids.into_iter().map(|id| self.placed(id, sources)).collect();
        let fixed: FxHashSet<_> = core.iter().chain(&dead).copied().collect();
        let outer_dead = self.outermost(&dead);
        outer_dead.iter().for_each(|&id| warnings.push(self.dead(id)));
        let nodes = graph.nodes.iter().map(|node| node.id).filter(|id| !fixed.contains(id));
        let nodes: Vec<_> = nodes.map(literal).collect();
        progress.phase("nodes that go together");
        let sets = if void {
            Vec::new()
        } else {
            equivalences_beside(&mut samples, &nodes, &mut models).unwrap_or_default()
        };
        progress.phase("conditions in vain");
        let false_optional = if void {
            Vec::new()
        } else {
            self.false_optional(&elements, &dead.iter().copied().collect(), &samples, &mut models)
        };
        progress.counted("searches", models.searches());
        progress.phase("constraints in vain");
        let constraints = self.verdicts(sources, progress);
        progress.phase("what checks reject");
        let checks = self.rejecting();
        let name = |id: &ElementId| graph.identifier(*id).to_string();
        Analysis {
            void,
            core: self.outermost(&core).iter().map(name).collect(),
            dead: placed(outer_dead),
            false_optional: placed(false_optional),
            atomic_sets: sets.iter().map(|set| ids(set).iter().map(name).collect()).collect(),
            idle_inputs: Vec::new(),
            constraints,
            checks,
            presets: Vec::new(),
        }
    }

    fn placed(&self, id: ElementId, sources: &SourceMap) -> Placed {
        Placed {
            element: self.graph().identifier(id).to_string(),
            place: sources.place(self.graph().element(id).span),
        }
    }

    /// The elements that are not inside another of these elements.
    fn outermost(&self, ids: &[ElementId]) -> Vec<ElementId> {
        let all: FxHashSet<_> = ids.iter().copied().collect();
        ids.iter().copied().filter(|id| !self.is_inside(*id, &all)).collect()
    }

    /// Whether an element is inside one of these elements.
    fn is_inside(&self, id: ElementId, all: &FxHashSet<ElementId>) -> bool {
        let container = |id: &ElementId| self.graph().element(*id).container;
        std::iter::successors(container(&id), container).any(|outer| all.contains(&outer))
    }

    /// Elements that have conditions of their author, but are present whenever their container is.
    fn false_optional(
        &self,
        elements: &[ElementId],
        dead: &FxHashSet<ElementId>,
        samples: &Samples,
        models: &mut Models,
    ) -> Vec<ElementId> {
        let graph = self.graph();
        let has_conditions = |id: &ElementId| {
            let element = graph.element(*id);
            element.conditions.is_some() || element.default_alternative().is_some()
        };
        let mut open: Vec<(ElementId, Lit)> = Vec::new();
        let is_seen = |id: ElementId| match graph.element(id).container {
            Some(container) => {
                let present = samples.of_literal(literal(container));
                present
                    .zip(samples.of_literal(!literal(id)))
                    .any(|(outer, absent)| outer & absent != 0)
            }
            None => samples.show(!literal(id)),
        };
        let is_dead = |id: &ElementId| dead.contains(id) || self.is_inside(*id, dead);
        let open_ids = elements.iter().filter(|id| has_conditions(id) && !is_dead(id));
        for &id in open_ids.filter(|&&id| !is_seen(id)) {
            let lacks = models.new_var().positive();
            models.add_clause(&[!lacks, !literal(id)]);
            if let Some(container) = graph.element(id).container {
                models.add_clause(&[!lacks, literal(container)]);
            }
            open.push((id, lacks));
        }
        while !open.is_empty()
            && models.solve_any(&open.iter().map(|&(_, lacks)| lacks).collect::<Vec<_>>(), &[])
        {
            let lacks = |id: ElementId, models: &Models| {
                let container = graph.element(id).container;
                !models.is_true(literal(id))
                    && container.is_none_or(|container| models.is_true(literal(container)))
            };
            open.retain(|&(id, _)| !lacks(id, models));
        }
        open.into_iter().map(|(id, _)| id).collect()
    }

    /// The constraints that the rest of the template implies. If there is no variant, the
    /// constraints without which there would be one.
    fn verdicts(&self, sources: &SourceMap, progress: &mut dyn Progress) -> Vec<Verdict> {
        let constraints: FxHashSet<OriginId> =
            self.constraints.iter().map(|&(origin, _)| origin).collect();
        let rest = self
            .cnf
            .clauses()
            .filter(|clause| clause.origin.is_none_or(|origin| !constraints.contains(&origin)));
        let rest = Cnf::of(self.cnf.vars(), rest.map(|clause| clause.literals.to_vec()));
        let all: Vec<_> =
            self.constraints.iter().map(|&(origin, literal)| (origin.0, literal)).collect();
        let inputs = self.input_vars();
        let question = ConstraintQuestion {
            rest: &rest,
            inputs: &inputs,
            factors: &self.cases,
            constraints: &all,
        };
        // If variants exist but fail the checks, no constraint is to blame.
        let found = question.answer(self.prepared.solver, progress);
        let told = self.constraints.iter().zip(found.may_fail);
        told.filter(|&(_, may_fail)| may_fail == found.void)
            .map(|(&(origin, _), _)| self.verdict(origin, found.void, sources))
            .collect()
    }

    fn verdict(&self, origin: OriginId, void: bool, sources: &SourceMap) -> Verdict {
        let (span, _) = self.assertions.origin(origin).explain(self.graph(), self.prepared.options);
        let constraint = one_line(sources.snippet(span));
        let constraint = match self.assertions.origin(origin) {
            Origin::Feature(keyword, _) => format!("{} {}", constraint, keyword.demand()),
            _ => constraint,
        };
        Verdict { place: sources.place(span), constraint, redundant: !void }
    }

    /// The checks that reject variants, in the order of their codes.
    fn rejecting(&self) -> Vec<Rejecting> {
        let code = |requirement: &VariantRequirement| match *requirement {
            VariantRequirement::Check(code, _) | VariantRequirement::Unique(code) => Some(code),
            VariantRequirement::Where => None,
        };
        let mut codes: Vec<Code> =
            self.requirements.iter().filter_map(|(_, requirement)| code(requirement)).collect();
        codes.sort_unstable();
        codes.dedup();
        let mut models = self.best_models();
        let rejecting = |checked: Code| {
            let own = || {
                self.requirements
                    .iter()
                    .filter(|(_, requirement)| code(requirement) == Some(checked))
            };
            let violations: Vec<Lit> = own().map(|&(literal, _)| !literal).collect();
            let passed = self.passed_before(checked);
            // Most of possibly thousands of checks are quickly seen never to be violated.
            let open = models.not_excluded(&violations, &passed);
            if open.is_empty() || !models.solve_any(&open, &passed) {
                return None;
            }
            let culprit = own().find(|(literal, _)| !models.is_true(*literal)).and_then(
                |(_, requirement)| match *requirement {
                    VariantRequirement::Check(_, element) => element,
                    _ => None,
                },
            );
            Some(Rejecting {
                check: checked.as_str().to_owned(),
                element: culprit.map(|id| self.graph().identifier(id).to_string()),
                count: self.count_violating(violations, passed),
                inputs: self.assigned(&|literal| models.is_true(literal)),
            })
        };
        codes.into_iter().filter_map(rejecting).collect()
    }

    /// The requirements that are checked before this one: first that nodes are unique, then that
    /// technologies are, then all other checks.
    fn passed_before(&self, check: Code) -> Vec<Lit> {
        let earlier: &[Code] = match check {
            Code::AmbiguousTopology => &[],
            Code::AmbiguousTechnologies => &[Code::AmbiguousTopology],
            _ => &[Code::AmbiguousTopology, Code::AmbiguousTechnologies],
        };
        let passed = self.requirements.iter().filter(|(_, requirement)| match requirement {
            VariantRequirement::Unique(code) => earlier.contains(code),
            _ => false,
        });
        passed.map(|&(literal, _)| literal).collect()
    }

    /// Counts the topologies in which at least one of `violations` and all of `passed` hold.
    fn count_violating(&self, violations: Vec<Lit>, passed: Vec<Lit>) -> Option<String> {
        let projection: Vec<_> = Projection::All
            .elements(self.graph())
            .into_iter()
            .map(|id| literal(id).var())
            .collect();
        let passed: Vec<Vec<Lit>> = passed.into_iter().map(|literal| vec![literal]).collect();
        let clauses = self
            .best_clauses()
            .chain([violations.as_slice()])
            .chain(passed.iter().map(Vec::as_slice));
        compile(self.determinised.vars, clauses, &projection, EFFORT)
            .map(|compiled| compiled.count().to_string())
    }
}
