//! Finds what differs at elements that are no nodes: inputs and outputs, groups and policies, and
//! which relationship templates there are.

use super::assigned::EffectiveValues;
use super::difference::{edited, other_type};
use super::model::{ChangeClass, ChangeReason, ElementChange};
use super::update::PlannedVariant;
use super::{
    Adaptation,
    behavior::{Behaviors, WrittenType},
};
use crate::topology::diff::{Change, Edit, diff, step};
use crate::topology::sensitive::{SecretOwner, Sensitivity};
use crate::topology::{Described, GroupIndex, Spanned, Topology, TopologyParameter, type_named};
use crate::tosca::Family;
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{OutEntry, OutNode};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// The sections of a topology with the elements that are compared here.
const SECTIONS: [&str; 5] = ["inputs", "outputs", "groups", "policies", "relationship_templates"];

/// The changes of all elements that are no nodes. What differs in relationship templates is found
/// at the relations that use them.
pub(super) fn others(
    from: &PlannedVariant<'_, '_, '_>,
    to: &PlannedVariant<'_, '_, '_>,
    adaptation: &Adaptation,
) -> Vec<ElementChange> {
    let changes = IndexMap::default();
    let mut found = OtherChanges { from: from.behaviors, to: to.behaviors, changes };
    let written = diff(&adaptation.renamed_document(from.document), to.document).changes;
    let counts = |it: &Change| is_compared(it) && !to.behaviors.is_same_secret(it);
    written.into_iter().filter(counts).for_each(|change| found.written(change));
    found.effective();
    found.changes.into_values().collect()
}

/// What is compared here of a document: nothing but these sections of its topology.
pub(crate) fn compared_sections(document: OutNode<'_, '_>) -> Value {
    let topology = document.get("topology_template");
    let mut sections = topology.map(OutNode::entries).unwrap_or_default();
    sections.retain(|section| SECTIONS.contains(&&*section.name));
    let compared = |section: OutEntry<'_, '_>| (section.name.into(), section.value.to_value());
    let sections = sections.into_iter().map(compared).collect();
    Value::Map([("topology_template".into(), Value::Map(sections))].into())
}

/// Whether a written difference counts. Properties and types are compared as they are effective,
/// and what only people read does not count.
fn is_compared(change: &Change) -> bool {
    let kind = change.element.split('.').next().unwrap_or_default();
    let part = change.path.split(['.', '[']).next().unwrap_or_default();
    match kind {
        _ if part.is_empty() => true,
        "output" => part == "value",
        "group" | "policy" => !["type", "property", "description", "metadata"].contains(&part),
        _ => false,
    }
}

struct OtherChanges<'o, 't, 'a, 'b> {
    from: &'o Behaviors<'t, 'a>,
    to: &'o Behaviors<'t, 'b>,
    /// The changes found so far, by element.
    changes: IndexMap<String, ElementChange, FxBuildHasher>,
}

impl OtherChanges<'_, '_, '_, '_> {
    /// Notes a difference of the documents.
    fn written(&mut self, change: Change) {
        let class = match (&change.edit, change.path.is_empty()) {
            (Edit::Added { .. }, true) => ChangeClass::Add,
            (Edit::Removed { .. }, true) => ChangeClass::Remove,
            _ => ChangeClass::Reconfigure,
        };
        let is_whole = change.path.is_empty();
        let (element, is_sensitive) = (change.element.clone(), self.hides(&change));
        let reason = ChangeReason { is_sensitive, span: None, ..edited(change, Span::DETACHED) };
        self.add(&element, class, (!is_whole).then_some(reason));
    }

    fn add(
        &mut self,
        element: &str,
        class: ChangeClass,
        reasons: impl IntoIterator<Item = ChangeReason>,
    ) {
        let change = self.changes.entry(element.to_owned()).or_insert_with(|| ElementChange {
            element: element.to_owned(),
            class,
            reasons: Vec::new(),
        });
        change.reasons.extend(reasons);
    }

    /// Whether a change touches a secret.
    fn hides(&self, change: &Change) -> bool {
        let touches = |secrets: &Sensitivity<'_, '_>, value| {
            secrets.touches(&change.element, &change.path, value)
        };
        let mut sides = change.edit.sides().into_iter().flatten();
        sides.any(|it| touches(self.from.secrets(), it) || touches(self.to.secrets(), it))
    }

    /// Finds other values of inputs, and other types and properties of groups and policies.
    fn effective(&mut self) {
        let (from, to) = (self.from.topology, self.to.topology);
        let known: FxHashMap<&str, _> = from.inputs.iter().map(|it| (&*it.name, it)).collect();
        for input in &to.inputs {
            if let Some(was) = known.get(&*input.name) {
                self.input(was, input);
            }
        }
        let known = described(from).map(|(it, owner, was)| (it, (owner, was)));
        let known: FxHashMap<_, _> = known.collect();
        for (element, owner, is) in described(to) {
            if let Some(was) = known.get(&element) {
                self.described(element, *was, (owner, is));
            }
        }
    }

    fn input(&mut self, was: &TopologyParameter, is: &TopologyParameter) {
        let value = |of: &TopologyParameter| {
            of.value.as_ref().or(of.default.as_ref()).map(|value| value.value.clone())
        };
        let path = if is.value.is_some() { "value" } else { "default" };
        for change in self.to.differences(path.to_owned(), value(was).as_ref(), value(is).as_ref())
        {
            self.written(Change { element: format!("input.{}", is.name), ..change });
        }
    }

    fn described(
        &mut self,
        element: String,
        (old_owner, was): (SecretOwner, &Described),
        (owner, is): (SecretOwner, &Described),
    ) {
        let family = match owner {
            SecretOwner::Group(_) => Family::Group,
            _ => Family::Policy,
        };
        let (old, new) = (self.from.types(), self.to.types());
        let old_id = was.type_name.as_ref().and_then(|name| type_named(old, family, name));
        let new_id = is.type_name.as_ref().and_then(|name| type_named(new, family, name));
        let written = |of: &Option<Spanned<String>>| of.as_ref().map(|name| name.value.clone());
        let (was_type, is_type) = (written(&was.type_name), written(&is.type_name));
        let old_type = was_type.as_ref().map(|said| WrittenType { said, types: old, id: old_id });
        let new_type = is_type.as_ref().map(|said| WrittenType { said, types: new, id: new_id });
        let mut reasons: Vec<_> = other_type(old_type, new_type)
            .map(|[from, to]| ChangeReason {
                path: "type".to_owned(),
                from,
                to,
                ..Default::default()
            })
            .into_iter()
            .collect();
        let was = EffectiveValues {
            values: &was.properties,
            defined: old_id.map(|id| &old.effective(id).properties),
            owner: old_owner,
            capability: None,
        };
        let is = EffectiveValues {
            values: &is.properties,
            defined: new_id.map(|id| &new.effective(id).properties),
            owner,
            capability: None,
        };
        let mut names: Vec<&str> = is.names(false).chain(was.names(false)).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let (old, new) = (self.from.value_of(&was, name), self.to.value_of(&is, name));
            let (old, new) = (old.map(|(value, _)| value), new.map(|(value, _)| value));
            let path = format!("property{}", step(name));
            for change in self.to.differences(path.clone(), old.as_deref(), new.as_deref()) {
                let within = (&change.path[path.len()..], &change);
                let is_sensitive = self.from.is_sensitive(&was, name, within)
                    || self.to.is_sensitive(&is, name, within);
                let reason = edited(change, Span::DETACHED);
                reasons.push(ChangeReason { is_sensitive, span: None, ..reason });
            }
        }
        if !reasons.is_empty() {
            self.add(&element, ChangeClass::Reconfigure, reasons);
        }
    }
}

/// The groups and policies of a topology, with their identifiers.
fn described(topology: &Topology) -> impl Iterator<Item = (String, SecretOwner, &Described)> {
    let groups = topology.groups.iter().enumerate().map(|(at, group)| {
        let owner = SecretOwner::Group(GroupIndex::new(at));
        (format!("group.{}", group.name), owner, &group.described)
    });
    let policies = topology.policies.iter().enumerate();
    groups.chain(policies.map(|(at, policy)| {
        (format!("policy.{}", policy.name), SecretOwner::Policy(at), &policy.described)
    }))
}
