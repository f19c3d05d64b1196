//! Pairs an element with one of its types, and checks attribute assignments (section 3.6.13).

use super::checker::Checker;
use crate::tosca::TypeId;
use crate::tosca::value::{PropertyDefinition, check_assignment};
use crate::variability::graph::ElementId;
use cuvee_text::yaml::Node;

/// An element together with one of its types.
#[derive(Clone, Copy)]
pub(super) struct Typed<'o> {
    pub id: ElementId,
    pub kind: TypeId,
    /// The elements that must be present for it to have this type: the element itself, and the type
    /// assignment if it is one of several.
    pub when: &'o [ElementId],
}

/// The owner of attributes: a type or a capability.
#[derive(Clone, Copy)]
pub(super) struct AttributeOwner<'o> {
    /// The name of the owner, for messages.
    pub what: &'o str,
    /// The definitions of attributes, and those of properties.
    pub known: [&'o [&'o PropertyDefinition<'o>]; 2],
    /// Whether the owner may have further attributes.
    pub is_open: bool,
}

impl Checker<'_, '_> {
    /// Checks attributes against a type, while all of `when` are present.
    pub(super) fn attributes(&self, kind: TypeId, when: &[ElementId], body: Node<'_>) {
        let schema = self.schemas.of(kind);
        let owner = AttributeOwner {
            what: &format!("`{}`", self.called(kind)),
            known: [&schema.attributes, &schema.properties],
            is_open: self.is_open(kind),
        };
        self.attribute_assignments(when, body, owner);
    }

    /// Checks attributes against their definitions and those of properties, because each property
    /// is also an attribute (section 3.6.12.4).
    pub(super) fn attribute_assignments(
        &self,
        when: &[ElementId],
        body: Node<'_>,
        owner: AttributeOwner<'_>,
    ) {
        let known = || owner.known.into_iter().flatten();
        for (key, value) in self.map(when, body, "attributes", "3.6.13") {
            let name = key.text().unwrap_or_default();
            match known().find(|definition| definition.named.name == name) {
                // The fixed value of a property is the desired state; an attribute is the actual
                // state.
                Some(definition) => {
                    let attribute =
                        PropertyDefinition { value: None, ..PropertyDefinition::clone(definition) };
                    self.report_values(
                        when,
                        check_assignment(assigned(value), &attribute, &self.schemas),
                    );
                }
                None if owner.is_open => {}
                None => {
                    let names = known().map(|definition| definition.named.name);
                    self.undefined(
                        when,
                        key,
                        format!("{} has no attribute `{name}`", owner.what),
                        names,
                        "3.6.13.2",
                    );
                }
            }
        }
    }
}

/// The value of an attribute assignment; in the extended notation, the value below `value` (section
/// 3.6.13.2.2).
fn assigned(value: Node<'_>) -> Node<'_> {
    let extended =
        value.entries().all(|(key, _)| matches!(key.text(), Some("description" | "value")));
    value.get("value").filter(|_| extended).unwrap_or(value)
}
