//! The grammar of requirement assignments (section 3.8.2.2), as far as it is not resolved yet.

use super::super::checker::Checker;
use crate::text::yaml::{Node, NodeKind};
use crate::tosca::shape::Shape;
use crate::variability::graph::{ElementId, RelationElement};

/// With what Variability4TOSCA lets every template say of itself.
const REQUIREMENT: Shape = Shape {
    what: "a requirement assignment",
    section: "3.8.2.1",
    keynames: &[
        "capability",
        "node",
        "relationship",
        "node_filter",
        "occurrences",
        "description",
        "metadata",
    ],
};

const INLINE: Shape = Shape {
    what: "the relationship of a requirement assignment",
    section: "3.8.2.1",
    keynames: &["type", "properties", "interfaces", "description", "metadata"],
};

impl<'a> Checker<'_, 'a> {
    pub(super) fn requirement_grammar(&self, relation: &RelationElement<'a>) {
        let value = relation.requirement.declared.value;
        let when = [relation.id];
        self.grammar(&when, value, &REQUIREMENT, &["capability", "node"]);
        match value.get("relationship") {
            Some(relationship) if relationship.kind() == NodeKind::Mapping => {
                self.grammar(&when, relationship, &INLINE, &[])
            }
            Some(other) if other.as_str().is_none() && !other.is_null() => {
                self.wrong(&when, other, "relationship", "a name or a map", "3.8.2.2.2");
            }
            _ => {}
        }
        if let Some(occurrences) = value.get("occurrences") {
            self.occurrences(&when, occurrences, "3.8.2.1");
        }
    }

    /// Reports what is no keyname, and which of these are no text.
    pub(super) fn grammar(
        &self,
        when: &[ElementId],
        body: Node<'_>,
        shape: &Shape,
        texts: &[&str],
    ) {
        self.keynames(when, body, shape);
        self.about(when, body, shape.section);
        for (keyname, value) in
            texts.iter().filter_map(|keyname| Some((keyname, body.get(keyname)?)))
        {
            if value.as_str().is_none() && !value.is_null() {
                self.wrong(when, value, keyname, "a string", shape.section);
            }
        }
    }
}
