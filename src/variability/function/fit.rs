//! Checks whether the values that functions of TOSCA 2.0 give fit the properties and outputs that
//! they are computed for.

use super::scope::{Functions, VariantScope};
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::topology::sensitive::{masked, told};
use crate::tosca::evaluate::{EvaluatorState, FilterSite, FunctionScope};
use crate::tosca::function::function_in;
use crate::tosca::types::schemas::Schemas;
use crate::tosca::v2_0::function::FormedValue;
use crate::tosca::value::{PropertyDefinition, Schema, TextType, check_taken, check_value_asking};
use crate::tosca::{EffectiveType, Types, v2_0};
use crate::variability::graph::{ElementId, Graph};
use crate::variability::presence::Presence;
use crate::variability::template::PropertyValue;
use cuvee_text::yaml::Node;
use std::cell::RefCell;

/// What is computed in a variant, and does not fit.
pub(crate) fn misfits<'e>(
    graph: &'e Graph<'_>,
    presence: &Presence,
    types: &'e Types<'e>,
    scope: &VariantScope<'e, '_>,
) -> Vec<Diagnostic> {
    if !v2_0::is_of(graph.template.root.document()) {
        return Vec::new();
    }
    let functions = RefCell::new(Functions::new(scope, EvaluatorState::default()));
    let computed = ComputedValues { types, schemas: Schemas::new(types), functions };
    let mut found = Vec::new();
    for property in graph.properties.iter().filter(|property| presence.is(property.id)) {
        let (element, owner) = (graph.element(property.id), graph.element(property.id).container);
        let kind = owner.and_then(|owner| scope.type_of(owner)).map(|kind| types.effective(kind));
        let part = kind.and_then(|kind| kind.properties.get(element.name));
        if let (PropertyValue::Value(value), Some(part)) = (property.property.value, part) {
            found.extend(computed.misfits(value, owner, &part.definition));
        }
    }
    for node in graph.nodes.iter().filter(|node| presence.is(node.id)) {
        let Some(kind) = scope.type_of(node.id).map(|kind| types.effective(kind)) else { continue };
        let (element, site) = (graph.element(node.id), Some(node.id));
        let assigned = graph.holder(node, "capabilities").template.declared.value();
        each_of_capabilities(assigned, kind, &mut |value, part| {
            found.extend(computed.misfits(value, site, part));
        });
        let own = &graph.holder(node, "properties").properties;
        let is_own =
            |name: &str| own.iter().any(|id| graph.element(*id).name == name && presence.is(*id));
        let asking = kind.properties.values().filter(|part| part.definition.schema.asks());
        for part in asking.filter(|part| !is_own(part.definition.named.name)) {
            let ask = |function: &str, path: Option<Node<'_>>| computed.asked(site, function, path);
            let wrong = check_taken(&part.definition, element.span, &computed.schemas, &ask);
            found.extend(wrong.diagnostics);
        }
    }
    for output in graph.outputs.iter().filter(|output| presence.is(output.id)) {
        let declared = &output.parameter.declared;
        let definition = declared.parameter_definition(&mut Diagnostics::default());
        if let Some(value) = definition.value {
            found.extend(computed.misfits(value, None, &definition));
        }
    }
    found
}

/// The values of functions in a variant.
struct ComputedValues<'s, 'e, 'a> {
    types: &'e Types<'e>,
    schemas: Schemas<'e, 'e>,
    functions: RefCell<Functions<'s, 'e, 'a>>,
}

impl ComputedValues<'_, '_, '_> {
    /// Why a value does not fit its definition, if that depends on functions.
    fn misfits(
        &self,
        value: Node<'_>,
        site: Option<ElementId>,
        definition: &PropertyDefinition<'_>,
    ) -> Vec<Diagnostic> {
        let is_open = |schema: &&Schema<'_>| v2_0::calls(value) || schema.asks();
        let Some(schema) = definition.expected().filter(is_open) else { return Vec::new() };
        let result = self.functions.borrow_mut().replaced(value, site);
        // What stands for a secret was judged when that was given.
        if function_in(&result).is_some() || masked(&result).is_some() {
            return Vec::new();
        }
        let ask = |function: &str, path: Option<Node<'_>>| self.asked(site, function, path);
        let wrong = check_value_asking(&result, schema, &self.schemas, &ask).diagnostics;
        let wrong = wrong.into_iter().filter(|found| found.severity == Severity::Error);
        let wrong = wrong.map(|found| {
            let message = format!("what is computed does not fit: {}", found.message);
            found.with_message(message).at(value.span())
        });
        told(wrong.collect(), definition, self.types, "what is computed")
    }

    /// The value that a validation asks the element for whose value it judges.
    fn asked(
        &self,
        site: Option<ElementId>,
        function: &str,
        path: Option<Node<'_>>,
    ) -> Option<FormedValue<TextType>> {
        let site = FilterSite { node: site, relation: None };
        let found = self.functions.borrow_mut().in_filter(function, path?, site).ok()?;
        found.filter(|(value, _)| masked(value).is_none())
    }
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
