//! Tells what refinements mean in the other version: keeps what version 1.3 allows in types and TOSCA
//! 2.0 does not, and reports where one version adds to what is inherited and the other replaces it.

use super::to_2_0::INTERFACE;
use super::{AssignedTo, Converter, Made, SourceEntry, text};
use crate::convert::loss::LossKind;
use crate::tosca::Family;
use crate::tosca::v2_0::grammar::EntityKind;
use cuvee_text::yaml::{Node, NodeKind, Out, OutKey};
use rustc_hash::FxHashSet;

impl<'t, 'a> Converter<'t, 'a> {
    /// Why TOSCA 2.0 does not allow this.
    fn refusal(&self, node: Node<'a>) -> Option<&'t str> {
        self.context.refusals.why.get(&node.span()).map(String::as_str)
    }

    /// Keeps what TOSCA 2.0 does not allow: an entry, or parts of it. Returns false where it allows
    /// all.
    pub(super) fn keeps_refused(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) -> bool {
        if self.context.refusals.why.is_empty() {
            return false;
        }
        if let Some(why) = self.refusal_of(entry) {
            self.keep_because(made, entry, why);
            return true;
        }
        if entry.entity.kind == EntityKind::File || entry.value.kind() != NodeKind::Mapping {
            return false;
        }
        let is_input = entry.name == "inputs";
        let refusals = &self.context.refusals.why;
        self.keep_some(made, entry, &|key, part| {
            let kind = part.get("type").filter(|_| is_input);
            let mut parts = [Some(key), Some(part), kind].into_iter().flatten();
            parts.find_map(|it| refusals.get(&it.span()).map(String::as_str))
        })
    }

    /// Why TOSCA 2.0 does not allow an entry as a whole.
    fn refusal_of(&self, entry: SourceEntry<'a>) -> Option<&'t str> {
        let SourceEntry { entity, key, name, value } = entry;
        let parts: Vec<_> = match name {
            "relationship" | "entry_schema" | "key_schema" => {
                value.get("type").into_iter().collect()
            }
            "outputs" => value.entries().flat_map(|(key, output)| [key, output]).collect(),
            "properties" if entity.kind == EntityKind::DataType => {
                value.entries().map(|(key, _)| key).collect()
            }
            _ => value.items().collect(),
        };
        [key, value].into_iter().chain(parts).find_map(|it| self.refusal(it))
    }

    /// Why the ends of a relationship are not those that its type lists in version 1.3: that list
    /// is kept. The relationship is a template, a type or a map with one.
    pub(super) fn refusal_of_ends(&self, relationship: Node<'a>) -> Option<&'t str> {
        const LIST: &str = "valid_target_types";
        let section = "relationship_templates";
        let template = relationship.as_str().and_then(|name| self.template(section, name));
        let kind = match template {
            Some(template) => self.said(section, template, "type")?,
            None => relationship.get("type").unwrap_or(relationship),
        };
        let types = self.context.types;
        let mut bodies = types
            .chain(self.declared_type(Family::Relationship, kind)?)
            .map(|id| types.definition(id).value);
        let listed = bodies.find_map(|it| it.entries().find(|(key, _)| key.text() == Some(LIST)));
        let (key, value) = listed?;
        [key, value].into_iter().chain(value.items()).find_map(|it| self.refusal(it))
    }

    /// Leaves out entries that TOSCA 2.0 does not allow, and that are kept elsewhere.
    pub(super) fn drop_refused(&self, out: &mut Out<'a>) {
        if let Out::Source(node) = *out {
            *out = Out::Map { entries: super::sources(node).into(), like: Some(node) };
        }
        let Out::Map { entries, .. } = out else { return };
        let is_allowed = |(key, _): &&(OutKey<'a>, Out<'a>)| match key {
            OutKey::Source(key) => self.refusal(*key).is_none(),
            _ => true,
        };
        *entries = entries.iter().filter(is_allowed).cloned().collect();
    }

    /// Keeps a requirement that is only the name of a capability type, if TOSCA 2.0 does not allow
    /// it.
    pub(super) fn keeps_refused_capability(&mut self, made: &mut Made<'a>, node: Node<'a>) -> bool {
        let Some(why) = self.refusal(node) else { return false };
        self.report(LossKind::KeptAsExtension, node, "the capability type", why);
        made.kept.push((OutKey::New("capability".into()), Out::Source(node)));
        true
    }

    /// Lets an interface type without a parent take the operations that other types add to it.
    pub(super) fn supply_root(&mut self, made: &mut Made<'a>) {
        let is_extended = |id| self.context.refusals.extended.contains(&id);
        if made.has("derived_from") || !self.own_type.is_some_and(is_extended) {
            return;
        }
        let why = "only types that derive from that of version 1.3 take the operations of others";
        self.report(LossKind::Supplied, made.node, "the parent of an interface type", why);
        self.need(Family::Interface, INTERFACE);
        made.entries.insert(0, (OutKey::New("derived_from".into()), text(INTERFACE)));
    }

    /// Tells that a filter, which adds to the inherited ones, replaces them in version 1.3.
    pub(super) fn tell_replaced_filter(&mut self, entry: SourceEntry<'a>) {
        let inherited = match entry.entity.kind {
            EntityKind::Requirement => self.of_parent(),
            _ => None,
        };
        let inherited = inherited.and_then(|parent| parent.requirements.get(self.name));
        if inherited.is_some_and(|part| !part.definition.node_filters.is_empty()) {
            self.tell_replaced(entry.key, "the inherited `node_filter`");
        }
    }

    /// The same of the validation of an input.
    pub(super) fn tell_replaced_validation(&mut self, entry: SourceEntry<'a>) {
        let is_input = entry.entity.kind == EntityKind::Parameter;
        let input = self.assigned.filter(|_| is_input).and_then(|it| it.input(self.name));
        if input.is_some_and(|input| input.schema.validations.len() > 1) {
            self.tell_replaced(entry.key, "the inherited `validation`");
        }
    }

    /// The same of outputs.
    pub(super) fn tell_replaced_outputs(&mut self, entry: SourceEntry<'a>) {
        let Some(AssignedTo::Operation(definition, _)) = self.assigned else { return };
        let is_definition =
            matches!(entry.entity.kind, EntityKind::Operation | EntityKind::Notification);
        let own: FxHashSet<_> = entry.value.entries().filter_map(|(key, _)| key.text()).collect();
        let gone = definition.outputs.iter().find(|output| !own.contains(output.name));
        if let Some(gone) = gone.filter(|_| is_definition) {
            self.tell_replaced(entry.key, &format!("the inherited output `{}`", gone.name));
        }
    }

    fn tell_replaced(&mut self, at: Node<'a>, construct: &str) {
        let why = "what a type of TOSCA 1.3 says replaces it";
        self.report(LossKind::Lost, at, construct, why);
    }
}
