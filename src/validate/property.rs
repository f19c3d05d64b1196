//! Property assignments (section 3.6.11) of elements that have a type.

use super::checker::Checker;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::graph::ElementId;
use crate::template::PropertyValue;
use crate::tosca::TypeId;
use crate::tosca::value::{Definition, check_value};

impl<'c> Checker<'c, '_> {
    /// Checks the properties of an element against one of its types, while `of_type` are present: each alternative is one that the type has and
    /// fits, and where one is required there is one.
    pub(super) fn properties(&self, owner: ElementId, properties: &[ElementId], kind: TypeId, of_type: &[ElementId]) {
        let definitions = &self.schemas.of(kind).properties;
        for id in self.counting(properties) {
            let when: Vec<_> = of_type.iter().copied().chain([id]).collect();
            self.property(id, kind, definitions, &when);
        }
        let when: Vec<_> = of_type.iter().copied().chain([owner]).collect();
        for definition in definitions.iter().filter(|definition| definition.needs_value()) {
            let assigned: Vec<_> =
                properties.iter().copied().filter(|&id| self.graph.element(id).name == definition.name).collect();
            let message = format!("{} needs a value of the property `{}`", self.graph.display(owner), definition.name);
            let error = Diagnostic::error(Code::MissingProperty, message).at(self.graph.element(owner).span).section("3.6.10.5");
            self.report_when(&when, &assigned, error.label(definition.span, "the property is defined here"));
        }
    }

    fn property(&self, id: ElementId, kind: TypeId, definitions: &[Definition<'c>], when: &[ElementId]) {
        let element = self.graph.element(id);
        let Some(definition) = definitions.iter().find(|definition| definition.name == element.name) else {
            let error = undefined(self.types.definition(kind).name, element.name, definitions);
            return self.report_when(when, &[], error.at(element.span));
        };
        // What an expression comes to is known in a variant only.
        let PropertyValue::Value(value) = self.graph.properties[element.slot as usize].property.value else { return };
        if let Some(schema) = &definition.schema {
            self.report_values(when, check_value(value, schema, &self.schemas));
        }
    }
}

/// A property that a type does not have.
fn undefined(owner: &str, name: &str, known: &[Definition<'_>]) -> Diagnostic {
    let names = known.iter().map(|definition| definition.name);
    let error = Diagnostic::error(Code::UnknownProperty, format!("`{owner}` has no property `{name}`")).section("3.6.11");
    error.help_opt(did_you_mean(name, names))
}
