//! Judges a node template by the expressions in a node filter of TOSCA 2.0 (section 8.8). What
//! filters compare with a value is judged as in version 1.3.

use super::checker::Checker;
use super::filter::FilteredNode;
use crate::diagnostic::{Cite, Code, Diagnostic};
use crate::tosca::filter::{FilterSubject, FilterVerdict, FilteredProperty, NodeFilter};
use crate::tosca::v2_0::function::FormedValue;
use crate::tosca::value::{DataTypes, Datum, PropertyDefinition, TextType};
use crate::tosca::{EffectiveCapability, TypeId};
use crate::variability::graph::{ElementId, NodeElement};
use cuvee_text::yaml::Node;
use std::cell::RefCell;

/// A node template that the expressions of a filter ask for its values.
struct JudgedNode<'k, 'c, 'a> {
    checker: &'k Checker<'c, 'a>,
    candidate: FilteredNode<'k, 'a>,
    /// The node that has the requirement, and its type.
    source: (ElementId, TypeId),
    /// The relation, and its type if it can be only one.
    relation: Option<(ElementId, TypeId)>,
    /// The capability that the relation leads to, if only one fits.
    capability: Option<&'k str>,
    /// The assignments that were asked for: without them there are other values.
    read: RefCell<Vec<ElementId>>,
}

impl<'c, 'a> Checker<'c, 'a> {
    /// Checks whether a node template satisfies the expressions of a filter, as the target of this
    /// relation from a node of a type, which could lead to these capabilities of it.
    pub(super) fn satisfies(
        &self,
        when: &[ElementId],
        filter: &NodeFilter<'_>,
        candidate: FilteredNode<'_, 'a>,
        (source, relation): ((ElementId, TypeId), Option<(ElementId, TypeId)>),
        capabilities: &[&str],
    ) {
        let capability = if let [only] = capabilities { Some(*only) } else { None };
        let read = RefCell::default();
        let judged = JudgedNode { checker: self, candidate, source, relation, capability, read };
        let verdict = filter.expressed(&judged);
        let name = self.graph.element(candidate.node.id).name;
        let (found, reason) = match verdict {
            FilterVerdict::Holds => return,
            FilterVerdict::Fails(reason) => {
                let message =
                    format!("`{name}` does not fulfil the node filter: {}", reason.message);
                (Diagnostic::error(Code::ViolatedConstraint, message), reason)
            }
            // Of a template that stands for several nodes, some may fulfil it.
            FilterVerdict::Undecided(_) if stands_for_several(candidate.node) => return,
            FilterVerdict::Undecided(reason) => {
                let because = &reason.message;
                let message = format!(
                    "whether `{name}` fulfils the node filter cannot be decided: {because}"
                );
                (Diagnostic::note(Code::Undecidable, message), reason)
            }
        };
        let found = found.at(candidate.at).section("3.6.5");
        let when = [when, &judged.read.take()].concat();
        self.report_when(&when, &[], found.label(reason.at, "the node filter is here"));
    }
}

/// Whether a node template may stand for several nodes.
pub(super) fn stands_for_several(node: &NodeElement<'_>) -> bool {
    node.template.declared.value().get("instance_count").is_some()
}

impl<'c> JudgedNode<'_, 'c, '_> {
    /// The node template that has this keyname.
    fn holder(&self, keyname: &str) -> &NodeElement<'_> {
        self.checker.graph.holder(self.candidate.node, keyname)
    }

    fn defined(&self, capability: &str) -> Option<&'c EffectiveCapability<'c>> {
        let all = &self.checker.types.effective(self.candidate.kind).capabilities;
        all.get(capability).map(|part| &part.definition)
    }

    /// The value that is assigned to a property of the node; `Err` if that depends on the variant.
    fn assigned(&self, name: &str) -> Result<Option<Node<'_>>, ()> {
        let assigned = self.checker.assigned_once(&self.holder("properties").properties, name)?;
        self.read.borrow_mut().extend(assigned.map(|(id, _)| id));
        Ok(assigned.map(|(_, value)| value))
    }
}

/// A property for a filter, of an owner that may have properties that are not known.
fn found<'f>(
    definition: Option<&'f PropertyDefinition<'f>>,
    assigned: Result<Option<Node<'f>>, ()>,
    is_open: bool,
) -> FilteredProperty<'f> {
    match (definition, assigned) {
        (Some(definition), Ok(value)) => {
            let value = value.or(definition.value).or(definition.default);
            FilteredProperty::Defined(definition, value.map(Datum::Node))
        }
        (None, Ok(None)) if !is_open => FilteredProperty::Missing,
        _ => FilteredProperty::Unknown,
    }
}

impl<'c> FilterSubject<'c> for JudgedNode<'_, 'c, '_> {
    fn property(&self, capability: Option<&str>, name: &str) -> FilteredProperty<'_> {
        let kind = self.candidate.kind;
        match capability {
            None => {
                let part = self.checker.types.effective(kind).properties.get(name);
                let is_open = self.checker.is_open(kind);
                found(part.map(|part| &part.definition), self.assigned(name), is_open)
            }
            Some(capability) => {
                let own = self.defined(capability);
                let part = own.and_then(|own| own.properties.get(name));
                let is_open = own.is_none_or(|own| own.is_open);
                let node = self.candidate.node;
                let assigned = self.checker.assigned_to_capability(node, capability, name);
                found(part.map(|part| &part.definition), assigned, is_open)
            }
        }
    }

    fn capabilities(&self, key: Node<'_>) -> Vec<&str> {
        self.checker.capabilities_meant(self.candidate.kind, key)
    }

    fn data_types(&self) -> &dyn DataTypes<'c> {
        &self.checker.schemas
    }

    fn asked(&self, function: &str, path: Node<'_>) -> Option<FormedValue<TextType>> {
        let steps: Option<Vec<_>> = path.items().map(Node::text).collect();
        // What the relation connects; other paths lead to what an orchestrator knows.
        let name = match (function, &*steps?) {
            ("get_property", ["SELF", "SOURCE", way @ ..]) => {
                return self.checker.known_at(self.source, way, &self.read);
            }
            ("get_property", ["SELF", "CAPABILITY", name]) => *name,
            _ => return None,
        };
        match self.property(Some(self.capability?), name) {
            FilteredProperty::Defined(definition, value) => {
                let form = TextType::of_part(&definition.schema, &[], self.data_types());
                Some((value?.to_value(), form))
            }
            _ => None,
        }
    }

    fn of_relationship(&self, path: Node<'_>) -> Option<FormedValue<TextType>> {
        let steps: Option<Vec<_>> = path.items().map(Node::text).collect();
        match &*steps? {
            ["SELF", name] => self.checker.known_at(self.relation?, &[*name], &self.read),
            _ => None,
        }
    }
}
