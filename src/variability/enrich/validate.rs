//! Judges all expressions of a template before any is evaluated.

use super::EnrichContext;
use crate::text::yaml::Node;
use crate::variability::graph::ElementId;
use crate::variability::template::{PropertyValue, TypeSpecificConditions};

impl<'a> EnrichContext<'_, '_, 'a> {
    /// Reports what is wrong with expressions whatever the inputs.
    pub(super) fn validate(&mut self, type_specific: &TypeSpecificConditions<'a>) {
        self.evaluator.validate_cycles(&mut self.diagnostics);
        let graph = self.evaluator.graph;
        let variability = &graph.template.variability;
        let named = variability.expressions.iter().map(|&(_, expression)| expression);
        let shared: Vec<Node<'a>> = named.chain(variability.constraints.iter().copied()).collect();
        shared.into_iter().for_each(|expression| {
            self.evaluator.validate(expression, None, &mut self.diagnostics)
        });
        // What is said for many elements at once is judged once, whatever SELF may mean in it.
        let of_types = type_specific.iter().map(|condition| condition.conditions);
        let of_groups = graph
            .groups
            .iter()
            .filter(|group| group.variability)
            .filter_map(|group| group.group.declared.conditional.conditions);
        let of_rules = graph.technologies.iter().filter_map(|technology| technology.conditions);
        let many: Vec<Node<'a>> = of_types.chain(of_groups).chain(of_rules).collect();
        many.into_iter().for_each(|conditions| {
            self.evaluator.validate(conditions, None, &mut self.diagnostics)
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
