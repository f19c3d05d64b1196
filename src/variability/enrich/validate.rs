//! Judges all expressions of a template before any is evaluated.

use super::EnrichContext;
use crate::text::diagnostic::{Diagnostics, Severity};
use crate::text::yaml::Node;
use crate::variability::expression::Evaluator;
use crate::variability::graph::{ElementId, Graph};
use crate::variability::template::{PropertyValue, TypeSpecificConditions};

/// Warnings of named expressions that nothing uses.
pub(crate) fn unused_expressions<'a>(
    evaluator: &mut Evaluator<'_, 'a>,
    type_specific: &TypeSpecificConditions<'a>,
) -> Diagnostics {
    let mut found = Diagnostics::default();
    evaluator.validate_named(used(evaluator.graph, type_specific), &mut found);
    found.0.retain(|one| one.severity != Severity::Error);
    found
}

/// Every expression of a template that has no name.
fn used<'t, 'a: 't>(
    graph: &'t Graph<'a>,
    type_specific: &'t TypeSpecificConditions<'a>,
) -> impl Iterator<Item = Node<'a>> + 't {
    let of_elements = graph.ids().flat_map(|id| {
        let element = graph.element(id);
        let implications = element.settings.into_iter().flat_map(|settings| &settings.implies);
        let parts = implications.flat_map(|one| std::iter::once(one.target).chain(one.condition));
        element.conditions.into_iter().chain(parts)
    });
    let values = graph.properties.iter().filter_map(|property| match property.property.value {
        PropertyValue::Expression(expression) => Some(expression),
        PropertyValue::Value(_) => None,
    });
    let constraints = graph.template.variability.constraints.iter().copied();
    constraints.chain(shared(graph, type_specific)).chain(of_elements).chain(values)
}

/// Conditions that are said for many elements at once.
fn shared<'t, 'a: 't>(
    graph: &'t Graph<'a>,
    type_specific: &'t TypeSpecificConditions<'a>,
) -> impl Iterator<Item = Node<'a>> + 't {
    let of_types = type_specific.iter().map(|condition| condition.conditions);
    let variability_groups = graph.groups.iter().filter(|group| group.variability);
    let of_groups =
        variability_groups.filter_map(|group| group.group.declared.conditional.conditions);
    let of_rules = graph.technologies.iter().filter_map(|technology| technology.conditions);
    of_types.chain(of_groups).chain(of_rules)
}

impl<'a> EnrichContext<'_, '_, 'a> {
    /// Reports what is wrong with expressions whatever the inputs.
    pub(super) fn validate(&mut self, type_specific: &TypeSpecificConditions<'a>) {
        self.evaluator.validate_cycles(&mut self.diagnostics);
        let graph = self.evaluator.graph;
        let mut named = Diagnostics::default();
        self.evaluator.validate_named(used(graph, type_specific), &mut named);
        // What is a warning only is told before inputs are looked at.
        named.0.retain(|one| one.severity == Severity::Error);
        self.diagnostics.0.append(&mut named.0);
        // What is said for many elements at once is judged once, whatever SELF may mean in it.
        let constraints = graph.template.variability.constraints.iter().copied();
        constraints.chain(shared(graph, type_specific)).for_each(|expression| {
            self.evaluator.validate(expression, None, &mut self.diagnostics)
        });
        for id in graph.ids() {
            self.validate_element(id);
        }
        for property in &graph.properties {
            if let PropertyValue::Expression(expression) = property.property.value {
                self.evaluator.validate(expression, Some(property.id), &mut self.diagnostics);
            }
        }
    }

    fn validate_element(&mut self, id: ElementId) {
        let element = self.evaluator.graph.element(id);
        let is_variability_group = self.evaluator.graph.variability_group(id).is_some();
        if let Some(conditions) = element.conditions.filter(|_| !is_variability_group) {
            self.evaluator.validate(conditions, Some(id), &mut self.diagnostics);
        }
        for implication in element.settings.into_iter().flat_map(|settings| &settings.implies) {
            let parts = std::iter::once(implication.target).chain(implication.condition);
            parts.for_each(|part| self.evaluator.validate(part, Some(id), &mut self.diagnostics));
        }
    }
}
