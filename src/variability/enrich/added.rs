//! Tells what conditions elements have, and why, for those who write them into the template.

use super::constraints::Implying;
use super::{Assertions, Conditions, EnrichContext, Origin};
use crate::diagnostic::{Code, Diagnostics};
use crate::variability::expression::Evaluator;
use crate::variability::graph::{ElementId, Graph};
use crate::variability::inputs::Inputs;
use crate::variability::options::Options;
use crate::variability::syntax::ExpressionId;
use crate::variability::template::TypeSpecificConditions;
use cuvee_sat::formula::Formula;
use cuvee_text::source::Span;
use rustc_hash::FxHashMap;

/// The conditions of all elements with their reasons.
pub(crate) struct AddedConditions {
    manual: Conditions,
    generated: Conditions,
    /// The other alternatives of default alternatives.
    defaults: FxHashMap<ElementId, Vec<ElementId>>,
    /// The other alternatives of fallbacks.
    fallbacks: FxHashMap<ElementId, Vec<ElementId>>,
    /// The type-specific conditions by the places of their parts.
    type_specific: FxHashMap<Span, ExpressionId>,
    /// The elements that are implied although they have generated conditions, which then have to
    /// hold, each with what implies it.
    pub(crate) implied: Vec<(ElementId, Implying)>,
}

/// Finds the conditions of all elements and their reasons.
///
/// # Errors
/// What is wrong whatever the inputs are.
pub(crate) fn added<'a>(
    evaluator: &mut Evaluator<'_, 'a>,
    inputs: &Inputs<'a>,
    type_specific: &TypeSpecificConditions<'a>,
    options: &Options,
) -> Result<AddedConditions, Diagnostics> {
    let mut context = EnrichContext::new(evaluator, options);
    context.check_anchor();
    let manual = context.manual(inputs, &mut Assertions::default());
    let generated = context.generated(&manual, type_specific);
    let implied = context.implied_in_spite(&generated);
    // Other errors depend on inputs. Conditions with errors count as conditions nevertheless.
    context.diagnostics.0.retain(|error| {
        [Code::MissingPersistentNode, Code::MultipleDefaultAlternatives]
            .iter()
            .any(|code| error.code == *code)
    });
    if context.diagnostics.has_errors() {
        return Err(context.diagnostics);
    }
    context.diagnostics = Diagnostics::default();
    let defaults = context.default_alternatives();
    let (fallbacks, syntax) = (context.fallbacks, &evaluator.graph.syntax);
    let places = type_specific.iter().flat_map(|condition| {
        let list = syntax.read(condition.conditions);
        let parts = syntax.each(list).iter().chain([list]);
        parts.map(move |part| (syntax.get(part).span(), list))
    });
    let type_specific = places.collect();
    Ok(AddedConditions { manual, generated, defaults, fallbacks, type_specific, implied })
}

impl EnrichContext<'_, '_, '_> {
    /// The elements that are implied and whose generated conditions do not follow from that.
    fn implied_in_spite(&mut self, generated: &Conditions) -> Vec<(ElementId, Implying)> {
        let graph = self.evaluator.graph;
        let mut found = Vec::new();
        for id in graph.ids().filter(|&id| !graph.is_of_variability_group(id)) {
            let Some(implying) = self.implying(id) else { continue };
            let holder = implying.of.map(|of| self.evaluator.presence(of, id));
            if generated.of(id).iter().any(|&(formula, _)| Some(formula) != holder) {
                found.push((id, implying));
            }
        }
        found
    }
}

impl AddedConditions {
    /// The distinct reasons of the conditions that count as those of the element's author.
    pub(crate) fn reasons(&self, id: ElementId) -> Vec<Origin> {
        distinct(self.manual.of(id))
    }

    /// The distinct reasons of the generated conditions of an element.
    pub(crate) fn generated(&self, id: ElementId) -> Vec<Origin> {
        distinct(self.generated.of(id))
    }

    /// The list of type-specific conditions that one at this place is a part of.
    pub(crate) fn type_specific(&self, at: Span) -> Option<ExpressionId> {
        self.type_specific.get(&at).copied()
    }

    /// The conditions that were written for an element, or for its technology rule.
    pub(crate) fn written(&self, graph: &Graph<'_>, id: ElementId) -> Option<ExpressionId> {
        let element = graph.element(id);
        let of_rule = || {
            let technology = element.by_rule.then(|| &graph.technologies[element.slot as usize])?;
            technology.conditions
        };
        element.conditions.or_else(of_rule)
    }

    /// The other alternatives of a default alternative.
    pub(crate) fn others(&self, id: ElementId) -> &[ElementId] {
        self.defaults.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The other alternatives of a fallback.
    pub(crate) fn preferred(&self, id: ElementId) -> &[ElementId] {
        self.fallbacks.get(&id).map_or(&[], Vec::as_slice)
    }
}

/// The reasons, each once. A list of conditions is one reason.
fn distinct(conditions: &[(Formula, Origin)]) -> Vec<Origin> {
    let mut reasons: Vec<Origin> = Vec::new();
    for &(_, origin) in conditions {
        let is_same = |known: &Origin| match (*known, origin) {
            (Origin::Manual(..), Origin::Manual(..))
            | (Origin::Technology(_), Origin::Technology(_))
            | (Origin::TypeSpecific(..), Origin::TypeSpecific(..)) => true,
            (Origin::Group(_, known, _), Origin::Group(_, group, _)) => known == group,
            (known, origin) => known == origin,
        };
        if !reasons.iter().any(is_same) {
            reasons.push(origin);
        }
    }
    reasons
}
