//! Checks whether the values that functions of TOSCA 2.0 give fit the properties and outputs that
//! they are computed for.

use super::scope::{Functions, VariantScope};
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::topology::sensitive::told;
use crate::tosca::evaluate::{EvaluatorState, FunctionScope};
use crate::tosca::function::function_in;
use crate::tosca::types::schemas::Schemas;
use crate::tosca::value::{PropertyDefinition, check_value};
use crate::tosca::{EffectiveType, Types, v2_0};
use crate::variability::graph::{ElementId, Graph};
use crate::variability::presence::Presence;
use crate::variability::template::PropertyValue;
use cuvee_text::yaml::Node;

/// What is computed in a variant, and does not fit.
pub(crate) fn misfits<'e>(
    graph: &'e Graph<'_>,
    presence: &Presence,
    types: &'e Types<'e>,
    scope: &VariantScope<'e, '_>,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if !v2_0::is_of(graph.template.root.document()) {
        return found;
    }
    let mut functions = Functions::new(scope, EvaluatorState::default());
    let schemas = Schemas::new(types);
    let mut check =
        |value: Node<'_>, site: Option<ElementId>, definition: &PropertyDefinition<'_>| {
            let Some(schema) = definition.expected().filter(|_| v2_0::calls(value)) else { return };
            let result = functions.replaced(value, site);
            if function_in(&result).is_none() {
                let wrong = check_value(&result, schema, &schemas).diagnostics.into_iter();
                let wrong = wrong.filter(|found| found.severity == Severity::Error);
                let wrong = wrong.map(|found| {
                    let message = format!("what is computed does not fit: {}", found.message);
                    found.with_message(message).at(value.span())
                });
                found.extend(told(wrong.collect(), definition, types, "what is computed"));
            }
        };
    for property in graph.properties.iter().filter(|property| presence.is(property.id)) {
        let (element, owner) = (graph.element(property.id), graph.element(property.id).container);
        let kind = owner.and_then(|owner| scope.type_of(owner)).map(|kind| types.effective(kind));
        let part = kind.and_then(|kind| kind.properties.get(element.name));
        if let (PropertyValue::Value(value), Some(part)) = (property.property.value, part) {
            check(value, owner, &part.definition);
        }
    }
    for node in graph.nodes.iter().filter(|node| presence.is(node.id)) {
        let Some(kind) = scope.type_of(node.id).map(|kind| types.effective(kind)) else { continue };
        let assigned = graph.holder(node, "capabilities").template.declared.value;
        each_of_capabilities(assigned, kind, &mut |value, part| check(value, Some(node.id), part));
    }
    for output in graph.outputs.iter().filter(|output| presence.is(output.id)) {
        let declared = &output.parameter.declared;
        let definition = declared.parameter_definition(&mut Diagnostics::default());
        if let Some(value) = definition.value {
            check(value, None, &definition);
        }
    }
    found
}

/// Visits the values that a node template gives properties of its capabilities.
fn each_of_capabilities(
    template: Node<'_>,
    kind: &EffectiveType<'_>,
    visit: &mut dyn FnMut(Node<'_>, &PropertyDefinition<'_>),
) {
    for (name, capability) in template.get("capabilities").iter().flat_map(|it| it.entries()) {
        let known = name.text().and_then(|name| kind.capabilities.get(name));
        let Some((known, assigned)) = known.zip(capability.get("properties")) else { continue };
        for (name, value) in assigned.entries() {
            if let Some(part) = known.definition.properties.get(&*name.key_text()) {
                visit(value, &part.definition);
            }
        }
    }
}
