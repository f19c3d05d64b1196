//! Validates all expressions of a template before any is evaluated.

use super::EnrichContext;
use crate::diagnostic::Diagnostics;
use crate::variability::expression::Evaluator;
use crate::variability::graph::{ElementId, Graph};
use crate::variability::syntax::ExpressionId;
use crate::variability::template::{PropertyValue, TypeSpecificConditions};

/// The diagnostics about named expressions. In expressions that nothing uses, undefined names are
/// only warnings.
pub(crate) fn named_expressions<'a>(
    evaluator: &mut Evaluator<'_, 'a>,
    type_specific: &TypeSpecificConditions<'a>,
) -> Diagnostics {
    evaluator.validate_named(used(evaluator.graph, type_specific))
}

/// All expressions of a template that have no name.
fn used<'t, 'a: 't>(
    graph: &'t Graph<'a>,
    type_specific: &'t TypeSpecificConditions<'a>,
) -> impl Iterator<Item = ExpressionId> + 't {
    let of_elements = graph.ids().flat_map(|id| {
        let element = graph.element(id);
        let implications = element.settings.into_iter().flat_map(|settings| &settings.implies);
        let parts = implications.flat_map(|one| std::iter::once(one.target).chain(one.condition));
        element.conditions.into_iter().chain(parts.map(|node| graph.syntax.read(node)))
    });
    let values = graph.properties.iter().filter_map(|property| match property.property.value {
        PropertyValue::Expression(expression) => Some(graph.syntax.read(expression)),
        PropertyValue::Value(_) => None,
    });
    constraints(graph).chain(shared(graph, type_specific)).chain(of_elements).chain(values)
}

/// The conditions that apply to many elements at once.
fn shared<'t, 'a: 't>(
    graph: &'t Graph<'a>,
    type_specific: &'t TypeSpecificConditions<'a>,
) -> impl Iterator<Item = ExpressionId> + 't {
    let of_types = type_specific.iter().map(|condition| condition.conditions);
    let variability_groups = graph.groups.iter().filter(|group| group.variability);
    let of_groups = variability_groups.filter_map(|group| group.group.declared.conditions());
    let of_rules = graph.technologies.iter().filter_map(|technology| technology.conditions);
    of_types.chain(of_groups).map(|node| graph.syntax.read(node)).chain(of_rules)
}

/// The author's constraints.
fn constraints<'t, 'a: 't>(graph: &'t Graph<'a>) -> impl Iterator<Item = ExpressionId> + 't {
    graph.template.variability.constraints.iter().map(|&node| graph.syntax.read(node))
}

impl<'a> EnrichContext<'_, '_, 'a> {
    /// Reports errors in expressions that do not depend on inputs.
    pub(super) fn validate(
        &mut self,
        type_specific: &TypeSpecificConditions<'a>,
        named: &Diagnostics,
    ) {
        self.evaluator.validate_cycles(&mut self.diagnostics);
        self.diagnostics.0.extend(named.0.iter().cloned());
        let graph = self.evaluator.graph;
        // Conditions for many elements are validated once, for any meaning of SELF.
        constraints(graph).chain(shared(graph, type_specific)).for_each(|id| {
            self.evaluator.validate(id, None, &mut self.diagnostics);
        });
        for id in graph.ids() {
            self.validate_element(id);
        }
        for property in &graph.properties {
            if let PropertyValue::Expression(expression) = property.property.value {
                let id = graph.syntax.read(expression);
                self.evaluator.validate(id, Some(property.id), &mut self.diagnostics);
            }
        }
        // Nothing is evaluated then, which would find these.
        if self.diagnostics.has_errors() {
            let of_elements = graph.ids().filter(|&id| graph.variability_group(id).is_none());
            let of_elements = of_elements.filter_map(|id| graph.element(id).conditions);
            let all = constraints(graph).chain(shared(graph, type_specific)).chain(of_elements);
            all.for_each(|id| self.evaluator.validate_strings(id, &mut self.diagnostics));
        }
    }

    fn validate_element(&mut self, id: ElementId) {
        let graph = self.evaluator.graph;
        let element = graph.element(id);
        let is_variability_group = graph.variability_group(id).is_some();
        if let Some(conditions) = element.conditions.filter(|_| !is_variability_group) {
            self.evaluator.validate(conditions, Some(id), &mut self.diagnostics);
        }
        for implication in element.settings.into_iter().flat_map(|settings| &settings.implies) {
            let parts = std::iter::once(implication.target).chain(implication.condition);
            parts.map(|part| graph.syntax.read(part)).for_each(|part| {
                self.evaluator.validate(part, Some(id), &mut self.diagnostics);
            });
        }
    }
}
