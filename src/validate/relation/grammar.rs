//! Checks the grammar of those parts of requirement assignments (section 3.8.2.2) that the resolver
//! does not interpret.

use super::super::checker::Checker;
use super::super::node::is_no_count;
use crate::tosca::shape::{RELATIONSHIP_IN_PLACE, REQUIREMENT_ASSIGNMENT, Vocabulary};
use crate::tosca::v2_0;
use crate::tosca::value::{Primitive, function};
use crate::variability::graph::{ElementId, RelationElement};
use crate::variability::template::shape;
use cuvee_text::yaml::{Node, NodeKind};

impl<'a> Checker<'_, 'a> {
    pub(super) fn requirement_grammar(&self, relation: &RelationElement<'a>) {
        let value = relation.requirement.declared.value();
        let when = [relation.id];
        let section = REQUIREMENT_ASSIGNMENT.section;
        self.grammar(&when, value, (shape::REQUIREMENT, section), &["capability", "node"]);
        match value.get("relationship") {
            Some(relationship) if relationship.kind() == NodeKind::Mapping => {
                let section = RELATIONSHIP_IN_PLACE.section;
                self.grammar(&when, relationship, (shape::RELATIONSHIP_IN_PLACE, section), &[])
            }
            Some(other) if other.as_str().is_none() && !other.is_null() => {
                self.wrong(&when, other, "relationship", "a name or a map", "3.8.2.2.2");
            }
            _ => {}
        }
        if let Some(occurrences) = value.get("occurrences") {
            self.occurrences(&when, occurrences, section);
        }
        let expected = [("optional", Primitive::Boolean), ("count", Primitive::Integer)];
        for (keyname, primitive) in expected {
            if let Some(call) = value.get(keyname) {
                self.expects_one(&when, call, primitive);
            }
        }
        let target = value.get("node").unwrap_or(value);
        if let Some(index) = target.items().nth(1) {
            self.expects_one(&when, index, Primitive::Integer);
        }
        let is_no_truth = |it: &Node<'_>| it.as_bool().is_none() && function(*it).is_none();
        if let Some(optional) = value.get("optional").filter(is_no_truth) {
            self.wrong(&when, optional, "optional", "a boolean", section);
        }
        let is_wrong = |it: &Node<'_>| is_no_count(*it);
        if let Some(count) = value.get("count").filter(is_wrong) {
            self.wrong_count(relation.id, "count", count, section);
        }
    }

    /// Reports unknown keynames, and values of `texts` that are not text.
    pub(super) fn grammar(
        &self,
        when: &[ElementId],
        body: Node<'_>,
        (known, section): (Vocabulary, &'static str),
        texts: &[&str],
    ) {
        self.keynames(when, body, known);
        self.about(when, body, section);
        for (keyname, value) in
            texts.iter().filter_map(|keyname| Some((keyname, body.get(keyname)?)))
        {
            // In TOSCA 2.0 it may also be a list of a name and an index, or a call.
            let is_longer = v2_0::is_of(value.document()) && value.kind() != NodeKind::Scalar;
            if value.as_str().is_none() && !value.is_null() && !is_longer {
                self.wrong(when, value, keyname, "a string", section);
            }
        }
    }
}
