//! Turns elements into formulas: `present(e) ⇔ manual(e) ∧ generated(e)` for every element e, and
//! constraints between elements.
//!
//! Specification: "Check Element Presence", "Default Conditions", "Pruning Elements", "Constraints
//! Options".

mod added;
mod constraints;
mod demand;
mod generated;
mod inputs;
mod manual;
mod origin;
mod validate;

pub(crate) use added::{AddedConditions, added};
pub(crate) use constraints::Implying;
pub(crate) use generated::asked_of;
pub(crate) use origin::{By, Origin};
pub(crate) use validate::named_expressions;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::variability::element::ElementKind;
use crate::variability::expression::Evaluator;
use crate::variability::graph::{ElementId, NodeElement};
use crate::variability::inputs::Inputs;
use crate::variability::options::{Aspect, Check, Flag, ModePart, Options};
use crate::variability::syntax::ExpressionId;
use crate::variability::template::{Implied, TypeSpecificConditions};
use cuvee_sat::formula::{Formula, OriginId};
use cuvee_text::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// Everything that must hold: clauses of formulas, each with its origin.
#[derive(Debug, Default)]
pub(crate) struct Assertions {
    formulas: Vec<Formula>,
    /// The end of each clause among the formulas, and its origin.
    ends: Vec<(u32, OriginId)>,
    origins: Vec<Origin>,
}

impl Assertions {
    /// An empty list with room for the assertions of this number of elements, most of which have
    /// one condition.
    fn with_room(elements: usize) -> Self {
        Self {
            formulas: Vec::with_capacity(4 * elements),
            ends: Vec::with_capacity(2 * elements),
            origins: Vec::with_capacity(2 * elements),
        }
    }

    /// Asserts that at least one of these formulas holds. Clauses of the same origin that follow
    /// each other are one reason: a conflict needs both or neither.
    fn push(&mut self, clause: impl IntoIterator<Item = Formula>, origin: Origin) {
        let start = self.formulas.len();
        self.formulas.extend(clause);
        if self.formulas[start..].contains(&Formula::TRUE) {
            self.formulas.truncate(start);
            return;
        }
        if self.origins.last() != Some(&origin) {
            self.origins.push(origin);
        }
        let origin = OriginId(self.origins.len() as u32 - 1);
        self.ends.push((self.formulas.len() as u32, origin));
    }

    /// The clauses with their origins, which ascend.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[Formula], OriginId)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|&(end, _)| end));
        starts
            .zip(&self.ends)
            .map(|(start, &(end, origin))| (&self.formulas[start as usize..end as usize], origin))
    }

    /// The origin of a clause.
    pub(crate) fn origin(&self, id: OriginId) -> &Origin {
        &self.origins[id.0 as usize]
    }
}

/// The data that the phases of this module share.
struct EnrichContext<'c, 'e, 'a> {
    evaluator: &'c mut Evaluator<'e, 'a>,
    options: &'c Options,
    diagnostics: Diagnostics,
    /// The fallbacks with their other alternatives. A fallback is the only one of several
    /// alternatives without manual conditions, if the part `default` is in force for it.
    fallbacks: FxHashMap<ElementId, Vec<ElementId>>,
    /// The other alternatives of all fallbacks.
    selected: FxHashSet<ElementId>,
}

impl<'c, 'e, 'a> EnrichContext<'c, 'e, 'a> {
    fn new(evaluator: &'c mut Evaluator<'e, 'a>, options: &'c Options) -> Self {
        let (fallbacks, selected) = (FxHashMap::default(), FxHashSet::default());
        Self { evaluator, options, diagnostics: Diagnostics::default(), fallbacks, selected }
    }
}

/// Conditions of all elements, grouped by element.
#[derive(Default)]
struct Conditions {
    list: Vec<(Formula, Origin)>,
    ends: Vec<u32>,
}

impl Conditions {
    /// An empty list with room for one condition of each of this number of elements.
    fn with_room(elements: usize) -> Self {
        Self { list: Vec::with_capacity(elements), ends: Vec::with_capacity(elements) }
    }

    fn close(&mut self) {
        self.ends.push(self.list.len() as u32);
    }

    fn of(&self, id: ElementId) -> &[(Formula, Origin)] {
        let index = id.0 as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.list[start as usize..self.ends[index] as usize]
    }
}

/// Validates all expressions of a template for all inputs; `named` has the errors in named
/// expressions.
///
/// # Errors
/// Everything that is wrong with expressions.
pub(crate) fn validate<'a>(
    evaluator: &mut Evaluator<'_, 'a>,
    type_specific: &TypeSpecificConditions<'a>,
    options: &Options,
    named: &Diagnostics,
) -> Result<(), Diagnostics> {
    let mut context = EnrichContext::new(evaluator, options);
    context.validate(type_specific, named);
    if context.diagnostics.has_errors() { Err(context.diagnostics) } else { Ok(()) }
}

/// Builds the formulas of all elements and constraints, given that their expressions are valid.
///
/// # Errors
/// Everything that is wrong with conditions, alternatives and constraints.
pub(crate) fn enrich<'a>(
    evaluator: &mut Evaluator<'_, 'a>,
    inputs: &Inputs<'a>,
    type_specific: &TypeSpecificConditions<'a>,
    options: &Options,
) -> Result<Assertions, Diagnostics> {
    let mut context = EnrichContext::new(evaluator, options);
    let elements = context.evaluator.graph.elements.len();
    let mut assertions = Assertions::with_room(elements);
    context.check_anchor();
    let manual = context.manual(inputs, &mut assertions);
    let generated = context.generated(&manual, type_specific);
    let graph = context.evaluator.graph;
    for id in graph.ids() {
        let atom = context.evaluator.atom(id);
        let conditions = manual.of(id).iter().chain(generated.of(id));
        conditions.clone().for_each(|&(formula, origin)| assertions.push([!atom, formula], origin));
        let holds = conditions.map(|&(formula, _)| !formula).chain([atom]);
        assertions.push(holds, Origin::Definition(id));
    }
    context.constraints(&generated, &mut assertions);
    tell_missing_inputs_once(&mut context.diagnostics);
    if context.diagnostics.has_errors() { Err(context.diagnostics) } else { Ok(assertions) }
}

/// Keeps one error for each input without a value, even if several places need the input.
fn tell_missing_inputs_once(diagnostics: &mut Diagnostics) {
    let mut told = FxHashSet::default();
    diagnostics
        .0
        .retain(|error| error.code != Code::MissingInput || told.insert(error.message.clone()));
}

impl<'a> EnrichContext<'_, '_, 'a> {
    /// Adds the conditions that an expression lists for an element, each with its origin.
    fn add(
        &mut self,
        conditions: ExpressionId,
        id: ElementId,
        origin: impl Fn(Span) -> Origin,
        list: &mut Vec<(Formula, Origin)>,
    ) {
        match self.evaluator.conditions(conditions, Some(id)) {
            Ok(found) => {
                list.extend(found.into_iter().map(|(formula, span)| (formula, origin(span))))
            }
            Err(error) => {
                // The element has a condition, although its value is not known.
                let span = self.evaluator.graph.syntax.get(conditions).span();
                list.push((Formula::TRUE, origin(span)));
                self.diagnostics.push(error);
            }
        }
    }

    /// Reports that nothing anchors the nodes: if nodes are kept by incoming relations and by
    /// hosts, they keep only each other, so at least one node has to be kept in another way.
    fn check_anchor(&mut self) {
        let (options, graph) = (self.options, self.evaluator.graph);
        let by_default = options.default_condition_enabled(ElementKind::Node)
            && options.default_condition_aspect(ElementKind::Node, Aspect::Semantic);
        let by_pruning = options.pruning_enabled(ElementKind::Node)
            && options.pruning_aspect(ElementKind::Node, Aspect::Semantic);
        let mode = options.mode(ElementKind::Node);
        let circular = mode.contains(&ModePart::Host)
            && mode.iter().any(|part| matches!(part, ModePart::Incoming | ModePart::IncomingNaive));
        let starts = |node: &NodeElement<'_>| {
            node.template.persistent || self.implied_by(node.id) != Implied::No
        };
        let Some(first) = graph
            .nodes
            .first()
            .filter(|_| circular && (by_default || by_pruning) && !graph.nodes.iter().any(starts))
        else {
            return;
        };
        if options.check(Check::Persistent) {
            let (needed, help) = if options.flag(Flag::NodeImplication) {
                (
                    "node that is an anchor or implied",
                    "declare `anchor: true` or `implied: true` at a node that is used from outside, such as by its users",
                )
            } else {
                (
                    "persistent node",
                    "declare `persistent: true` at a node that is used from outside, such as by its users",
                )
            };
            let message = format!(
                "a node default condition mode with `incoming` and `host` requires at least one {needed}"
            );
            self.diagnostics.push(
                Diagnostic::error(Code::MissingPersistentNode, message)
                    .at(graph.element(first.id).span)
                    .help(help),
            );
        }
    }
}
