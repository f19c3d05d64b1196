//! Converts the keynames of version 1.3 that version 2.0 has by other names, in other places, or
//! not at all.

use super::conditions::commented;
use super::notation::schema_of;
use super::{
    AssignedTo, Converter, Made, MadeEntries, NeededImport, SelfScope, SourceEntry, families,
    family_of, inline_list, inline_map, list, map, named_key, text,
};
use crate::convert::loss::{Loss, LossKind};
use crate::diagnostic::Diagnostics;
use crate::tosca::import::{ImportDefinition, is_profile};
use crate::tosca::substitution::substitution;
use crate::tosca::types::{HOSTED_BY_NAME, Occurrences, TypeId, is_hosting_by_name, profile};
use crate::tosca::v2_0;
use crate::tosca::v2_0::grammar::{self, ElementGrammar, EntityKind};
use crate::tosca::value::{Primitive, Schema};
use crate::tosca::{Family, PLAIN_VERSION};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, NodeKind, Out, OutKey};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// The type of interfaces for which no type is named. To those that derive from it, others may add
/// operations.
pub(super) const INTERFACE: &str = "tosca.interfaces.Root";

/// The type of relationships for which no type is named.
pub(super) const RELATIONSHIP: &str = "tosca.relationships.Root";

/// The directives of version 1.3 and of version 2.0.
const DIRECTIVES: [(&str, &str); 2] = [("selectable", "select"), ("substitutable", "substitute")];

impl<'t, 'a> Converter<'t, 'a> {
    /// Converts an entry of an element of version 1.3.
    pub(super) fn entry_to_2_0(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) {
        let SourceEntry { entity, key, name, value } = entry;
        if self.keeps_refused(made, entry) || self.rewritten_to_2_0(made, entry) {
            return;
        }
        if let Some(keyname) = entity.keyname_of_1_3(name) {
            let content = self.content_of(made.node, entry, keyname);
            made.put_operations();
            // Callers may replace the value of an input in version 1.3.
            let is_replaced = name == "value"
                && self.in_place == Some("default")
                && made.node.get("default").is_none();
            let known = made.get_mut(keyname.name);
            match (known, content) {
                // Operations that stand beside the keyname come before it.
                (Some(operations), Some(Out::Map { entries, .. })) => {
                    super::extend(operations, entries.to_vec())
                }
                (Some(operations), Some(Out::Source(node))) => {
                    super::extend(operations, super::sources(node))
                }
                (_, Some(content)) if is_replaced => made.put(key, "default", content),
                (_, Some(content)) => made.put(key, keyname.name, content),
                // What has no counterpart is told where it stands.
                (_, None) => {}
            }
        } else if self.is_extended && (self.context.is_word)(name) {
            let value = self.extension(name, value);
            made.put(key, name, value);
        } else if holds_operations(entity, name) {
            self.operation(made, entry);
        } else {
            self.keep(made, entry);
        }
    }

    /// Keeps in the metadata what only version 1.3 has.
    fn keep(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) {
        let why = format!("{} of TOSCA 2.0 has no such keyname", entry.entity.what);
        self.keep_because(made, entry, &why);
    }

    /// Whether the keys of this schema are strings.
    fn has_string_keys(&self, schema: Node<'a>) -> bool {
        let kind =
            if schema.kind() == NodeKind::Mapping { schema.get("type") } else { Some(schema) };
        kind.and_then(|it| self.primitive(it)).is_none_or(|it| it == "string")
    }

    /// Keeps what both versions have, and version 2.0 cannot say.
    fn keep_content(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) {
        self.keep_because(made, entry, "no expression of TOSCA 2.0 says the same");
    }

    pub(super) fn keep_because(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>, why: &str) {
        let SourceEntry { key, value, .. } = entry;
        let name = key.text().unwrap_or_default();
        self.report(LossKind::KeptAsExtension, key, &format!("`{name}`"), why);
        made.kept.push((OutKey::Source(key), Out::Source(value)));
    }

    /// Converts an entry whose content changes. Returns false for all others.
    fn rewritten_to_2_0(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) -> bool {
        self.definition_to_2_0(made, entry)
            || self.assignment_to_2_0(made, entry)
            || self.condition_to_2_0(made, entry)
            || self.mapping_to_2_0(made, entry)
    }

    /// Entries of files and of definitions.
    fn definition_to_2_0(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) -> bool {
        let SourceEntry { entity, key, name, value } = entry;
        match (entity.kind, name) {
            (EntityKind::File, "tosca_definitions_version") => {
                let version = value.text().unwrap_or_default();
                if ![PLAIN_VERSION, profile::NAMESPACE, self.context.extended].contains(&version) {
                    let why = "TOSCA 2.0 has one version, which is read as the newest one";
                    self.report(LossKind::KeptAsExtension, value, &format!("`{version}`"), why);
                    made.kept.push((OutKey::Source(key), Out::Source(value)));
                }
                made.put(key, name, text(v2_0::VERSION));
            }
            (EntityKind::File, "namespace") if self.root.get("topology_template").is_none() => {
                made.put(key, "profile", Out::Source(value));
            }
            (EntityKind::File, "template_name" | "template_author" | "template_version") => {
                made.metadata.push((OutKey::Source(key), Out::Source(value)));
            }
            (EntityKind::File, "imports") => {
                let imports = self.imports_to_2_0(value);
                let is_empty = matches!(&imports, Out::Seq { items, .. } if items.is_empty());
                if !is_empty {
                    made.put(key, name, imports);
                }
            }
            (EntityKind::ServiceTemplate, "relationship_templates") => {
                // What uses one whose ends are refused is kept, too.
                let named = super::paths::named_parts(value).map(|(name, _)| name);
                let refused = named.filter_map(|it| Some((it.text()?, self.refusal_of_ends(it)?)));
                let refused: FxHashMap<_, _> = refused.collect();
                return self.keep_some(made, entry, &|key, _| refused.get(key.text()?).copied());
            }
            (_, "constraints") => self.constraints_to_2_0(made, entry),
            (_, "key_schema") if !self.has_string_keys(value) => {
                let why = "the keys of maps of TOSCA 2.0 are strings";
                self.report(LossKind::Lost, key, "`key_schema`", why);
            }
            (_, "required")
                if value.as_bool() == Some(false) && made.node.get("default").is_some() =>
            {
                // There is always a value then. What is supplied does not come back.
                if self.file().is_some() {
                    made.kept.push((OutKey::Source(key), Out::Source(value)));
                }
            }
            (
                EntityKind::Capability | EntityKind::CapabilityAssignment,
                "properties" | "attributes",
            ) => {
                return self.members_to_2_0(made, entry);
            }
            (_, "status" | "external-schema") if has_metadata_for(entity) => {
                made.metadata.push((OutKey::Source(key), Out::Source(value)));
            }
            _ => return false,
        }
        true
    }

    /// Keeps properties and attributes that the type of a capability does not have: definitions of
    /// them, or their values. Returns false where the type has all.
    fn members_to_2_0(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) -> bool {
        let name = entry.name;
        let Some(id) = self.capability_type(made.node) else { return false };
        let effective = self.context.types.effective(id);
        if effective.is_open {
            return false;
        }
        // Attributes reflect properties.
        let is_added = |key: &str| {
            let is_attribute = name == "attributes" && effective.attributes.contains_key(key);
            !is_attribute && !effective.properties.contains_key(key)
        };
        let why = "a capability of TOSCA 2.0 has what its type defines, and nothing else";
        self.keep_some(made, entry, &|key, _| is_added(key.text()?).then_some(why))
    }

    /// Keeps interfaces that the type of a template does not have. Returns false where the type has
    /// all.
    fn interfaces_to_2_0(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) -> bool {
        let Some(AssignedTo::Type(of)) = self.assigned else { return false };
        let is_added = |name: &&str| !of.is_open && self.called_interface(name).is_none();
        let names = entry.value.entries().filter_map(|(key, _)| key.text());
        let added: FxHashSet<_> = names.filter(is_added).collect();
        let why = "a template of TOSCA 2.0 has the interfaces of its type, and no others";
        self.keep_some(made, entry, &|key, _| added.contains(key.text()?).then_some(why))
    }

    /// Keeps the parts of an entry that have no counterpart, for which `why` says why. Returns false
    /// where there are none.
    pub(super) fn keep_some(
        &mut self,
        made: &mut Made<'a>,
        entry: SourceEntry<'a>,
        why: &dyn Fn(Node<'a>, Node<'a>) -> Option<&'t str>,
    ) -> bool {
        let SourceEntry { entity, key, name, value } = entry;
        let added = value.entries().filter_map(|(key, part)| Some((key, part, why(key, part)?)));
        let added: Vec<_> = added.collect();
        if added.is_empty() {
            return false;
        }
        let names: FxHashSet<_> = added.iter().filter_map(|(key, ..)| key.text()).collect();
        let before = self.losses.entries().len();
        let keyname = entity.keyname_of_1_3(name);
        let mut own = match keyname.and_then(|it| self.content(entity, name, &it.holds, value)) {
            Some(Out::Map { entries, .. }) => entries.to_vec(),
            _ => super::sources(value),
        };
        // What is added is kept as a whole.
        let is_inside = |inner: Span| {
            let behind = added.partition_point(|(_, value, _)| value.span().start <= inner.start);
            let outer = behind.checked_sub(1).and_then(|at| added.get(at));
            outer.map(|(_, value, _)| value.span()).is_some_and(|outer| {
                inner.file == outer.file && (outer.start..outer.end).contains(&inner.start)
            })
        };
        self.losses.retain_behind(before, |loss| !loss.span.is_some_and(is_inside));
        for (key, _, why) in &added {
            let construct = format!("`{}`", key.text().unwrap_or_default());
            self.report(LossKind::KeptAsExtension, *key, &construct, why);
        }
        own.retain(|(key, _)| !names.contains(super::key_text(key)));
        let kept = added.into_iter();
        let kept = kept.map(|(key, value, _)| (OutKey::Source(key), Out::Source(value)));
        put_split(made, key, value, own, kept.collect());
        true
    }

    /// The type of the capability that is converted, a definition or an assignment.
    pub(super) fn capability_type(&self, node: Node<'a>) -> Option<TypeId> {
        let inherited = || match self.own_type {
            Some(_) => self.of_parent(),
            None => match self.scope {
                SelfScope::Node((Some(id), _)) => Some(self.context.types.effective(id)),
                _ => None,
            },
        };
        let name =
            node.get("type").or_else(|| inherited()?.capabilities.get(self.name)?.definition.kind);
        self.named_type(Family::Capability, name?)
    }

    /// Entries of templates.
    fn assignment_to_2_0(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) -> bool {
        let SourceEntry { entity, key, name, value } = entry;
        match (entity.kind, name) {
            (
                EntityKind::NodeTemplate
                | EntityKind::RelationshipTemplate
                | EntityKind::AssignedRelationship,
                "interfaces",
            ) => {
                return self.interfaces_to_2_0(made, entry);
            }
            (EntityKind::NodeType | EntityKind::NodeTemplate, "artifacts") => {
                return self.artifacts_to_2_0(made, entry);
            }
            (EntityKind::NodeTemplate, "directives") => {
                let directives = self.directives_to_2_0(value);
                made.put(key, name, directives);
            }
            (EntityKind::NodeTemplate, "occurrences") => {
                let exact = Occurrences::read(value).filter(|said| {
                    said.max == Some(said.min) && made.node.get("instance_count").is_none()
                });
                match exact {
                    Some(said) => made.put(key, "count", number(said.min)),
                    None => self.keep(made, entry),
                }
            }
            (EntityKind::RequirementAssignment, "occurrences") => {
                self.occurrences_to_2_0(made, entry);
            }
            (EntityKind::RequirementAssignment, "node") => {
                if made.node.get("occurrences").is_none() {
                    self.tell_counted_target(value);
                }
                let node = self.template_or_type(value, "node_templates", Family::Node);
                made.put(key, name, node);
            }
            (EntityKind::RequirementAssignment, "capability") => {
                let capability = self.type_name(&[Family::Capability], value);
                made.put(key, name, capability);
            }
            (_, "node_filter" | "substitution_filter") => {
                match self.filter_to_2_0(entity, made.node, value) {
                    Some(filter) => made.put(key, name, commented(value, filter)),
                    None => self.keep_content(made, entry),
                }
            }
            (EntityKind::Artifact, "version") if made.node.get("artifact_version").is_none() => {
                made.put(key, "artifact_version", Out::Source(value));
            }
            (
                EntityKind::InterfaceAssignment
                | EntityKind::OperationAssignment
                | EntityKind::NotificationAssignment,
                "inputs",
            ) => {
                let inputs = self.inputs_to_2_0(value);
                made.put(key, name, inputs);
            }
            (EntityKind::RequirementAssignment, "relationship") => {
                let Some(why) = self.refusal_of_ends(value) else { return false };
                self.keep_because(made, entry, why);
            }
            (EntityKind::Operation | EntityKind::Notification, "outputs")
                if self.own_type.is_some_and(|id| {
                    self.context.types.definition(id).family == Family::Interface
                }) =>
            {
                let why = "an interface type of TOSCA 2.0 does not say where outputs go";
                self.keep_because(made, entry, why);
            }
            (_, "outputs") if entity.kind != EntityKind::ServiceTemplate => {
                let outputs = self.mappings_to_2_0(value);
                made.put(key, name, outputs);
            }
            _ => return false,
        }
        true
    }

    /// Conditions of workflows and triggers.
    fn condition_to_2_0(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) -> bool {
        let SourceEntry { entity, key, name, value } = entry;
        match (entity.kind, name) {
            (EntityKind::Workflow, "preconditions") => match self.preconditions_to_2_0(value) {
                Some(precondition) => {
                    made.put(key, "precondition", commented(value, precondition));
                }
                None => self.keep_content(made, entry),
            },
            (EntityKind::Step, "filter") => match self.step_filter_to_2_0(made.node, value) {
                Some(filter) => made.put(key, name, filter),
                None => self.keep_content(made, entry),
            },
            (EntityKind::Step, "on_success" | "on_failure") if value.as_str().is_some() => {
                made.put(key, name, inline_list(vec![Out::Source(value)]));
            }
            (EntityKind::Step, "activities") if value.items().any(|it| self.calls_kept(it)) => {
                let activities = self.without_kept(value);
                made.put(key, name, activities);
            }
            (EntityKind::Trigger, "event_type") => made.put(key, "event", Out::Source(value)),
            (EntityKind::Trigger, "condition") => {
                match self.trigger_condition_to_2_0(made.node, value) {
                    Some(condition) => made.put(key, name, commented(value, condition)),
                    None => self.keep_content(made, entry),
                }
            }
            _ => return false,
        }
        true
    }

    /// Whether an activity calls an operation of an interface that the type does not have: that is
    /// kept.
    fn calls_kept(&self, activity: Node<'a>) -> bool {
        let (Some(called), Some(AssignedTo::Type(of))) = (called_by(activity), self.assigned)
        else {
            return false;
        };
        let interface = called.as_str().and_then(|name| name.rsplit_once('.'));
        let named = interface.filter(|_| !of.is_open);
        named.is_some_and(|(interface, _)| self.called_interface(interface).is_none())
    }

    /// Activities without those that call what is kept.
    fn without_kept(&mut self, node: Node<'a>) -> Out<'a> {
        let mut items = Vec::new();
        for (index, item) in node.items().enumerate() {
            match called_by(item).filter(|_| self.calls_kept(item)) {
                Some(called) => {
                    let construct = format!("the call of `{}`", called.text().unwrap_or_default());
                    let why = "its interface is not one of the type, and kept as an extension";
                    self.at(index, |this| this.report(LossKind::Lost, called, &construct, why));
                }
                None => {
                    let made = self.at(index, |this| this.element(item, &grammar::ACTIVITY));
                    items.push((Some(item), made));
                }
            }
        }
        list(node, items)
    }

    /// Mappings, and lists of valid types.
    fn mapping_to_2_0(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) -> bool {
        let SourceEntry { entity, key, name, value } = entry;
        match (entity.kind, name) {
            (EntityKind::SubstitutionMapping, "properties" | "attributes") => {
                let why = match name {
                    "properties" => "TOSCA 2.0 maps properties to inputs only",
                    _ => "TOSCA 2.0 maps attributes to outputs only",
                };
                let (mapped, kept) = self.value_mappings_to_2_0(value, why);
                put_split(made, key, value, mapped, kept);
            }
            (EntityKind::SubstitutionMapping, "capabilities" | "requirements") => {
                self.part_mappings_to_2_0(made, entry);
            }
            (EntityKind::SubstitutionMapping, "interfaces") => {
                let (mapped, kept) = self.interface_mappings_to_2_0(value);
                put_split(made, key, value, mapped, kept);
            }
            (EntityKind::RelationshipType, "valid_target_types") => {
                let parts = [
                    (Family::Capability, "valid_capability_types"),
                    (Family::Node, "valid_target_node_types"),
                ];
                self.split_types(made, entry, parts);
            }
            (EntityKind::CapabilityType | EntityKind::Capability, "valid_source_types") => {
                let parts = [
                    (Family::Node, "valid_source_node_types"),
                    (Family::Relationship, "valid_relationship_types"),
                ];
                self.split_types(made, entry, parts);
            }
            (EntityKind::Requirement, "relationship") if value.kind() == NodeKind::Scalar => {
                let relationship = self.type_name(&[Family::Relationship], value);
                made.put(key, name, relationship);
            }
            _ => return false,
        }
        true
    }

    /// Supplies what version 2.0 demands and version 1.3 does not.
    pub(super) fn finish_2_0(&mut self, made: &mut Made<'a>, entity: &'static ElementGrammar) {
        match entity.kind {
            EntityKind::File => self.finish_file(made),
            EntityKind::ServiceTemplate => self.finish_service(made),
            EntityKind::Requirement => self.finish_requirement(made),
            EntityKind::Interface if !made.has("type") => self.supply_interface_type(made),
            EntityKind::RelationshipTemplate if !made.has("type") => self.supply_copied_type(made),
            EntityKind::InterfaceType => self.supply_root(made),
            EntityKind::Step if !made.has("target") => self.supply_target(made),
            EntityKind::SubstitutionMapping => self.supply_mappings(made),
            EntityKind::Artifact => self.finish_artifact(made),
            EntityKind::Property
            | EntityKind::Parameter
            | EntityKind::Schema
            | EntityKind::Attribute => {
                let kind = made.node.get("type").and_then(Node::text);
                // A refinement with a value has the entries of what it refines.
                let is_fixed = entity.kind == EntityKind::Property && made.has("value");
                if !is_fixed {
                    self.supply_entry_schema(made, kind);
                }
                if matches!(entity.kind, EntityKind::Property | EntityKind::Parameter) {
                    made.excuse_lost_value();
                    self.supply_required(made);
                }
            }
            EntityKind::DataType => {
                let parent = made.node.get("derived_from").and_then(Node::text);
                self.supply_entry_schema(made, parent);
            }
            _ => {}
        }
    }

    /// Requires what has a default where it refines what is not required: it has always a value.
    fn supply_required(&mut self, made: &mut Made<'a>) {
        let mut keys = made.node.entries().map(|(key, _)| key);
        let default = keys.find(|key| key.text() == Some("default"));
        let is_refined =
            default.is_some_and(|key| self.context.refusals.optional.contains(&key.span()));
        if is_refined && made.has("default") && !made.has("required") {
            let why = "in TOSCA 2.0 only what is required has a default";
            self.report(LossKind::Supplied, made.node, "`required`", why);
            made.supply("required", Out::Value(true.into()));
        }
    }

    /// Supplies what the entries of a list or map are by default in version 1.3.
    fn supply_entry_schema(&mut self, made: &mut Made<'a>, kind: Option<&str>) {
        let is_collection = matches!(kind, Some("list" | "map" | "tosca:list" | "tosca:map"));
        if is_collection && !made.has("entry_schema") {
            let why = "a list or map of TOSCA 2.0 has to say what its entries are";
            self.report(LossKind::Supplied, made.node, "`entry_schema`", why);
            made.supply("entry_schema", text("string"));
        }
    }

    fn finish_service(&mut self, made: &mut Made<'a>) {
        let is_marked = made.has(self.context.mark);
        if !made.has("node_templates") {
            made.supply("node_templates", Out::Value(Value::Map(Default::default())));
        }
        if self.is_extended && !is_marked {
            made.supply(self.context.mark, Out::Value(Value::Map(Default::default())));
        }
        if self.is_extended {
            self.carry_options(made);
        }
    }

    /// Writes the options that come with the version of the source and not with the newest one.
    fn carry_options(&mut self, made: &mut Made<'a>) {
        const OPTIONS: &str = "options";
        let version = self.root.get("tosca_definitions_version").and_then(Node::text);
        let written = made.node.get(self.context.mark).and_then(|it| it.get(OPTIONS));
        let versions = [version.unwrap_or_default(), self.context.extended];
        let carried = (self.context.options)(versions, written);
        if carried.is_empty() {
            return;
        }
        let why = format!("`{}` has others than the newest version", versions[0]);
        self.report(LossKind::Supplied, made.node, "`options`", &why);
        let value = |text: Cow<'static, str>| match &*text {
            "true" | "false" => Out::Value((text == "true").into()),
            _ => Out::String(text),
        };
        let carried =
            carried.into_iter().map(|(name, text)| (OutKey::New(name.into()), value(text)));
        if let Some(variability) = made.get_mut(self.context.mark) {
            super::extend_entry(variability, OPTIONS, carried.collect());
        }
    }

    fn supply_interface_type(&mut self, made: &mut Made<'a>) {
        let name = self.name;
        let refined = self.refined().and_then(|of| {
            let own = of.interfaces.get(name).map(|part| &part.definition);
            own.or_else(|| self.interface_by_type(of, name).map(|(_, it)| it))
        });
        let is_of_requirement =
            matches!(self.scope, SelfScope::Relationship(it) if it.kind != self.own_type);
        if refined.is_some() && !is_of_requirement {
            return;
        }
        let refined = refined.and_then(|it| it.kind);
        let named = || self.context.types.find_in(self.file(), Family::Interface, name);
        let kind = refined.and_then(|it| self.named_type(Family::Interface, it)).or_else(named);
        let construct = format!("the type of the interface `{name}`");
        let why = "an interface of TOSCA 2.0 has to have one";
        self.report(LossKind::Supplied, made.node, &construct, why);
        let kind = match kind.and_then(|id| self.context.types.name_in(self.file(), id)) {
            Some(name) => {
                let full = self.called(&[Family::Interface], &name, made.node);
                text(full.unwrap_or_else(|| name.into_owned()))
            }
            None => {
                self.need(Family::Interface, INTERFACE);
                text(INTERFACE)
            }
        };
        made.entries.insert(0, (OutKey::New("type".into()), kind));
    }

    fn supply_copied_type(&mut self, made: &mut Made<'a>) {
        let Some(kind) = self.said("relationship_templates", made.node, "type") else { return };
        let why = "TOSCA 2.0 does not take it from what is copied";
        self.report(LossKind::Supplied, made.node, "the type of a relationship template", why);
        let kind = self.type_name(&[Family::Relationship], kind);
        made.supply("type", kind);
    }

    /// Maps properties to the inputs of their names, as version 1.3 does without a word (section
    /// 2.10).
    fn supply_mappings(&mut self, made: &mut Made<'a>) {
        let kind = made.node.get("node_type").and_then(|it| self.named_type(Family::Node, it));
        let topology = self.root.get("topology_template");
        let Some((kind, inputs)) = kind.zip(topology.and_then(|it| it.get("inputs"))) else {
            return;
        };
        let known = &self.context.types.effective(kind).properties;
        let said = substitution(made.node, &mut Diagnostics::default()).properties;
        let mut added = Vec::new();
        for (key, _) in inputs.entries().chain(inputs.items().flat_map(Node::entries)) {
            let name = key.text().unwrap_or_default();
            let is_mapped = said.iter().any(|mapping| {
                mapping.named.name == name
                    || mapping.path().iter().any(|it| it.text() == Some(name))
            });
            if known.contains_key(name) && !is_mapped {
                let construct = format!("the mapping of `{name}`");
                let why = "TOSCA 2.0 maps no property without it";
                self.report(LossKind::Supplied, made.node, &construct, why);
                added.push((OutKey::New(name.into()), text(name)));
            }
        }
        match made.get_mut("properties") {
            _ if added.is_empty() => {}
            Some(properties) => super::extend(properties, added),
            None => made.supply("properties", Out::Map { entries: added.into(), like: None }),
        }
    }

    /// A step that only calls workflows gets a target that has no meaning for it.
    fn supply_target(&mut self, made: &mut Made<'a>) {
        let all = self.root.get("topology_template").and_then(|it| it.get("node_templates"));
        let first =
            all.and_then(|all| all.entries().chain(all.items().flat_map(Node::entries)).next());
        if let Some((target, _)) = first {
            let why = "a step of TOSCA 2.0 has to have one";
            self.report(LossKind::Supplied, made.node, "the target of a step", why);
            made.supply("target", text(target.text().unwrap_or_default()));
        }
    }

    /// Puts the version first, and adds what is supplied.
    fn finish_file(&mut self, made: &mut Made<'a>) {
        let at = made.position("tosca_definitions_version");
        if let Some(at) = at.filter(|at| *at > 0) {
            let version = made.entries.remove(at);
            made.entries.insert(0, version);
        }
        for (family, name) in &self.needed {
            self.losses.push(Loss {
                path: format!("{}[\"{name}\"]", family.keyword()),
                span: self.root.entries().next().map(|(key, _)| key.span()),
                construct: "the definition of a type".to_owned(),
                why: "TOSCA 1.3 has the type built in, and TOSCA 2.0 has not".to_owned(),
                kind: LossKind::Supplied,
            });
        }
        self.add_imports(made);
        if self.needed.is_empty() {
            return;
        }
        match &self.context.beside {
            Some(url) => add_import(made, text(url.clone())),
            None => self.add_types(made),
        }
    }

    /// Whether another file defines the same type, which is one with this in version 1.3, and which
    /// version 2.0 defines once. Then this file has to import that.
    pub(super) fn is_defined_elsewhere(&mut self, key: Node<'a>, entity: &ElementGrammar) -> bool {
        let [family] = family_of(entity) else { return false };
        let types = self.context.types;
        let Some(id) = types.find_in(self.file(), *family, self.name) else { return false };
        let (_, first, _) = types.place(id);
        let file = first.document().file();
        if file == key.document().file() {
            return false;
        }
        let Some(path) = (self.context.path_to)(file) else { return false };
        let mut imports = ImportDefinition::all(self.root);
        let is_imported = imports.any(|it| it.file == path && it.prefix.is_none())
            || self.needed_files.iter().any(|it| it.path == path);
        let construct = format!("the import of the {} `{}`", family.noun(), self.name);
        let why = "a type of TOSCA 2.0 is defined once, and another file defines it";
        self.report(LossKind::Supplied, key, &construct, why);
        if !is_imported {
            self.needed_files.push(NeededImport { path, prefix: None });
        }
        true
    }

    /// Adds the imports that the document needs in the other version.
    pub(super) fn add_imports(&mut self, made: &mut Made<'a>) {
        for NeededImport { path, prefix } in std::mem::take(&mut self.needed_files) {
            let Some(prefix) = prefix else {
                add_import(made, text(path));
                continue;
            };
            let entries = [("file", path), ("namespace_prefix", prefix)];
            let entries = entries.map(|(key, value)| (OutKey::New(key.into()), text(value)));
            add_import(made, Out::Map { entries: entries.into(), like: super::inline()[1] });
        }
    }

    /// Adds the definitions of types that are supplied, before the topology.
    fn add_types(&mut self, made: &mut Made<'a>) {
        for (section, types) in super::supplied::sections(self.context.types, &self.needed) {
            let own = self.root.get(section);
            let is_new =
                |(name, _): &(String, Value)| own.is_none_or(|own| own.get(name).is_none());
            let types: Vec<_> = types
                .into_iter()
                .filter(is_new)
                .map(|(name, value)| (OutKey::New(name.into()), Out::Value(value)))
                .collect();
            match made.get_mut(section) {
                Some(own) => super::extend(own, types),
                None => {
                    let end = made.position("service_template");
                    let at = end.unwrap_or(made.entries.len());
                    let section = OutKey::New(section.into());
                    made.entries
                        .insert(at, (section, Out::Map { entries: types.into(), like: None }));
                }
            }
        }
    }

    /// Supplies what a requirement definition has by default in version 1.3, unless it refines
    /// another one, whose values hold.
    fn finish_requirement(&mut self, made: &mut Made<'a>) {
        if self.refines_requirement() {
            return;
        }
        if !made.has("relationship") {
            let name = self.name;
            self.report(
                LossKind::Supplied,
                made.node,
                &format!("the relationship of `{name}`"),
                "a requirement of TOSCA 2.0 has to name one",
            );
            let kind = if self.is_hosting(made.node) { HOSTED_BY_NAME } else { RELATIONSHIP };
            self.need(Family::Relationship, kind);
            made.supply("relationship", text(kind));
        }
        if !made.has("count_range") {
            let once = inline_list(vec![number(1), number(1)]);
            made.supply("count_range", once);
        }
    }

    /// Whether the requirement that is defined leads to a host in version 1.3: where no type tells,
    /// its name does.
    fn is_hosting(&self, requirement: Node<'a>) -> bool {
        let kind = requirement.get("relationship").map(|it| it.get("type").unwrap_or(it));
        let kind = kind.and_then(|it| self.named_type(Family::Relationship, it));
        match kind {
            Some(kind) => self.context.types.is_hosting(kind),
            None => is_hosting_by_name(self.name),
        }
    }

    /// What stands in place of the map of an element.
    pub(super) fn short_to_2_0(
        &mut self,
        node: Node<'a>,
        entity: &'static ElementGrammar,
    ) -> Out<'a> {
        match entity.kind {
            EntityKind::Capability | EntityKind::Schema => {
                self.type_name(families(entity, "type"), node)
            }
            EntityKind::RequirementRelationship => self.type_name(&[Family::Relationship], node),
            EntityKind::AssignedRelationship => {
                self.template_or_type(node, "relationship_templates", Family::Relationship)
            }
            EntityKind::RequirementAssignment => {
                self.tell_counted_target(node);
                self.template_or_type(node, "node_templates", Family::Node)
            }
            EntityKind::Requirement if node.as_str().is_some() => {
                let mut made = Made::new(node);
                if !self.keeps_refused_capability(&mut made, node) {
                    let capability = self.type_name(&[Family::Capability], node);
                    made.supply("capability", capability);
                }
                self.finish_requirement(&mut made);
                made.out()
            }
            EntityKind::ServiceTemplate => {
                let none = Out::Value(Value::Map(Default::default()));
                inline_map("node_templates", none)
            }
            _ => Out::Source(node),
        }
    }

    /// Tells that a relation to a template that stands for several nodes leads to each of them in
    /// version 1.3, and to one in version 2.0.
    fn tell_counted_target(&mut self, node: Node<'a>) {
        let target = node.text().and_then(|name| self.template("node_templates", name));
        if target.is_some_and(|target| number_in_2_0(target) != Some(1)) {
            let why = "a relation of TOSCA 2.0 leads to one of them: give it a `count`";
            self.report(LossKind::Lost, node, "a relation to each node of a template", why);
        }
    }

    /// The name of a template, or else of a type.
    fn template_or_type(&mut self, node: Node<'a>, section: &str, family: Family) -> Out<'a> {
        let is_template = node.text().is_some_and(|name| self.template(section, name).is_some());
        match is_template {
            true => Out::Source(node),
            false => self.type_name(&[family], node),
        }
    }

    /// An operation beside the keynames of an interface goes below `operations`.
    fn operation(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) {
        let SourceEntry { entity, key, value, .. } = entry;
        let of_operations = entity.keynames.iter().find(|keyname| keyname.name == "operations");
        let Some(below) = of_operations.and_then(|keyname| keyname.holds.element()) else { return };
        let around = std::mem::replace(&mut self.name, entry.name);
        let operation = (OutKey::Source(key), self.element(value, below));
        self.name = around;
        if !made.has("operations") {
            let [_, like] = super::inline();
            let like = like.filter(|_| made.node.is_flow());
            made.supply("operations", Out::Map { entries: [].into(), like });
        }
        made.operations.push(operation);
    }

    fn imports_to_2_0(&mut self, node: Node<'a>) -> Out<'a> {
        let mut items = Vec::new();
        for (index, item) in node.items().enumerate() {
            let made = self.at(index, |this| this.import_to_2_0(item));
            items.extend(made.map(|made| (Some(item), made)));
        }
        list(node, items)
    }

    /// Converts an import. That of the profile of version 1.3 is left out, as its types are
    /// supplied.
    fn import_to_2_0(&mut self, item: Node<'a>) -> Option<Out<'a>> {
        let Some(import) = ImportDefinition::read(item) else {
            return Some(Out::Source(item));
        };
        if is_profile(import.file) && import.repository.is_none() {
            return None;
        }
        if self.context.bringing.contains(&item.span()) {
            let why = "imports of TOSCA 2.0 bring types and repositories, and no templates";
            self.report(LossKind::Lost, item, "the topology of an imported file", why);
        }
        if let Some(name) = import.name {
            let text = name.text().unwrap_or_default();
            self.report(
                LossKind::Lost,
                name,
                &format!("the name `{text}` of an import"),
                "imports of TOSCA 2.0 have none",
            );
        }
        let body = import.body;
        if body.kind() != NodeKind::Mapping {
            let url = self.import_path(body);
            return Some(if import.name.is_some() { inline_map("url", url) } else { url });
        }
        Some(self.element(body, &grammar::IMPORT))
    }

    /// The clauses of constraints become one expression.
    fn constraints_to_2_0(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) {
        let SourceEntry { entity, key, value, .. } = entry;
        let kind = made.node.get("type").or_else(|| made.node.get("derived_from"));
        let schema = Some(Cow::Owned(Schema::untyped().with_kind(kind)));
        let is_range = self.is_range(schema.as_deref());
        let (all, kept) = self.expecting(schema, |this| this.validation(value, is_range));
        if let Some(all) = all {
            made.put(key, "validation", commented(value, all));
        }
        if !kept.is_empty() {
            let why = format!("{} of TOSCA 2.0 has no such condition", entity.what);
            for (_, clause) in &kept {
                self.report(LossKind::KeptAsExtension, *clause, "a constraint", &why);
            }
            let items = kept.into_iter().map(|(item, _)| (Some(item), Out::Source(item)));
            let items = items.collect();
            made.kept.push((OutKey::New("constraints".into()), Out::Seq { items, like: None }));
        }
    }

    fn directives_to_2_0(&mut self, node: Node<'a>) -> Out<'a> {
        let mut items = Vec::new();
        for item in node.items() {
            let name = item.text().unwrap_or_default();
            let known = DIRECTIVES.iter().find(|(old, _)| *old == name);
            match known {
                Some((_, new)) => items.push((Some(item), text(*new))),
                None => items.push((Some(item), Out::Source(item))),
            }
        }
        list(node, items)
    }

    /// How often a requirement is fulfilled.
    fn occurrences_to_2_0(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) {
        let SourceEntry { key, value, .. } = entry;
        let said = Occurrences::read(value);
        let has_own = made.node.get("count").is_some() || made.node.get("optional").is_some();
        let target = made.node.get("node").and_then(Node::text);
        let target = target.and_then(|name| self.template("node_templates", name));
        let number_of_nodes = target.and_then(number_in_2_0);
        match said.filter(|_| !has_own).map(|said| (said.min, said.max)) {
            // In TOSCA 2.0, each counts for another target.
            Some((min, Some(max))) if max > 1 && number_of_nodes.is_some_and(|it| it < max) => {
                if min == 0 {
                    made.supply("optional", Out::Value(true.into()));
                }
                self.keep_because(
                    made,
                    entry,
                    "the relations of TOSCA 2.0 lead to different nodes",
                );
            }
            Some((1, Some(1))) => made.put(key, "count", number(1)),
            Some((min, Some(max))) if min == max => made.put(key, "count", number(max)),
            Some((0, Some(max))) => {
                if max != 1 {
                    made.put(key, "count", number(max));
                    made.supply("optional", Out::Value(true.into()));
                } else {
                    made.put(key, "optional", Out::Value(true.into()));
                }
            }
            _ => self.keep(made, entry),
        }
    }

    /// The inputs of an operation or an interface. A definition in place of a value becomes the
    /// value that it says.
    fn inputs_to_2_0(&mut self, node: Node<'a>) -> Out<'a> {
        let made = self.values(node, false);
        let is_definition = |(key, value): (Node<'a>, Node<'a>)| {
            self.is_input_definition(key, value).then_some((key.text()?, (key, value)))
        };
        let defined: FxHashMap<_, _> = node.entries().filter_map(is_definition).collect();
        if defined.is_empty() {
            return made;
        }
        let mut entries = match made {
            Out::Map { entries, .. } => entries.to_vec(),
            _ => super::sources(node),
        };
        entries.retain_mut(|(key, made)| {
            let Some((key, definition)) = defined.get(super::key_text(key)) else { return true };
            let value = ["value", "default"].into_iter().find_map(|name| definition.get(name));
            let schema = Some(schema_of(*definition));
            let value = value.map(|it| self.expecting(schema, |this| this.value(it)));
            match value {
                Some(Some(value)) => *made = value,
                Some(None) => return false,
                None => {
                    let construct = format!("the input `{}`", key.text().unwrap_or_default());
                    let why = "templates of TOSCA 2.0 give inputs values, and define none";
                    self.report(LossKind::Lost, *key, &construct, why);
                    return false;
                }
            }
            true
        });
        map(node, entries)
    }

    /// Whether an input is defined where it would get a value: the type that it names exists, and
    /// no value of the input that the type defines says as much.
    fn is_input_definition(&self, key: Node<'a>, value: Node<'a>) -> bool {
        let named = value.get("type").and_then(Node::text);
        let is_type = named.is_some_and(|name| {
            self.context.types.resolve(self.file(), Family::Data, name).is_some()
        });
        let own = self.assigned_schema(key.text().unwrap_or_default());
        is_type && own.is_none_or(|own| self.schema_of_part(&own, Some("type")).is_none())
    }

    /// Where outputs go: `[SELF, attribute]`, through paths of version 2.0.
    fn mappings_to_2_0(&mut self, node: Node<'a>) -> Out<'a> {
        let mut entries = Vec::new();
        for (key, value) in node.entries() {
            let path = match value.kind() {
                NodeKind::Sequence => self.path_to_2_0(value),
                _ => Some(Out::Source(value)),
            };
            entries.extend(path.map(|path| (OutKey::Source(key), path)));
        }
        if node.kind() == NodeKind::Mapping { map(node, entries) } else { Out::Source(node) }
    }

    /// Mapped properties or attributes: `[input]` becomes `input`; what names something else is kept,
    /// and reported with `why`.
    fn value_mappings_to_2_0(
        &mut self,
        node: Node<'a>,
        why: &str,
    ) -> (MadeEntries<'a>, MadeEntries<'a>) {
        let (mut mapped, mut kept) = (Vec::new(), Vec::new());
        for (key, value) in node.entries() {
            let mapping =
                if value.kind() == NodeKind::Mapping { value.get("mapping") } else { Some(value) };
            let alone = value.kind() != NodeKind::Mapping || value.entries().len() == 1;
            let mut items = mapping.into_iter().flat_map(Node::items);
            match (items.next(), items.next()) {
                (Some(input), None) if alone => {
                    mapped.push((OutKey::Source(key), Out::Source(input)))
                }
                _ if value.get("mapping").is_some_and(|it| it.as_str().is_some()) && alone => {
                    mapped.extend(mapping.map(|input| (OutKey::Source(key), Out::Source(input))));
                }
                _ => {
                    let name = key.text().unwrap_or_default();
                    self.report(
                        LossKind::KeptAsExtension,
                        key,
                        &format!("the mapping of `{name}`"),
                        why,
                    );
                    kept.push((OutKey::Source(key), Out::Source(value)));
                }
            }
        }
        (mapped, kept)
    }

    /// Mapped interfaces: those whose operations become workflows stay, and what is mapped to operations
    /// of nodes is kept.
    fn interface_mappings_to_2_0(&mut self, node: Node<'a>) -> (MadeEntries<'a>, MadeEntries<'a>) {
        let service = node.document().root().get("topology_template");
        let workflows = service.and_then(|service| service.get("workflows"));
        let is_workflow = |name: &str| workflows.is_some_and(|all| all.get(name).is_some());
        let is_of_node = |(_, to): (Node<'a>, Node<'a>)| match to.as_str() {
            Some(name) => name.contains('.') && !is_workflow(name),
            None => to.kind() == NodeKind::Sequence,
        };
        let (mut mapped, mut kept) = (Vec::new(), Vec::new());
        for (key, value) in node.entries() {
            let entry = (OutKey::Source(key), Out::Source(value));
            if value.kind() == NodeKind::Sequence || value.entries().any(is_of_node) {
                let construct = format!("the mapping of `{}`", key.text().unwrap_or_default());
                let why = "TOSCA 2.0 maps operations to workflows only";
                self.report(LossKind::KeptAsExtension, key, &construct, why);
                kept.push(entry);
            } else {
                mapped.push(entry);
            }
        }
        (mapped, kept)
    }

    /// Mapped capabilities or requirements: `{mapping: [node, name]}` becomes `[node, name]`, and what
    /// maps none is kept. Requirements become a list.
    fn part_mappings_to_2_0(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) {
        let SourceEntry { key, name, value, .. } = entry;
        let (mut mapped, mut kept) = (Vec::new(), Vec::new());
        for (part, said) in super::paths::named_parts(value) {
            let mapping =
                if said.kind() == NodeKind::Mapping { said.get("mapping") } else { Some(said) };
            match mapping {
                Some(mapping) => {
                    let mapped_part = match said.kind() {
                        NodeKind::Mapping => commented(said, Out::Source(mapping)),
                        _ => Out::Source(mapping),
                    };
                    let beside = said.entries().filter(|(key, _)| key.text() != Some("mapping"));
                    for (key, _) in beside {
                        let construct = format!("`{}`", key.text().unwrap_or_default());
                        let why = "a mapping of TOSCA 2.0 says nothing else";
                        self.report(LossKind::Lost, key, &construct, why);
                    }
                    mapped.push((OutKey::Source(part), mapped_part));
                }
                None => {
                    let construct = format!("`{}`", part.text().unwrap_or_default());
                    let why = "TOSCA 2.0 maps parts of nodes to parts of nodes only";
                    self.report(LossKind::KeptAsExtension, part, &construct, why);
                    kept.push((OutKey::Source(part), Out::Source(said)));
                }
            }
        }
        let items = |mapped: MadeEntries<'a>| {
            let item = |entry| (None, Out::Map { entries: [entry].into(), like: None });
            mapped.into_iter().map(item).collect()
        };
        let is_same = |(_, said): (Node<'a>, Node<'a>)| said.kind() != NodeKind::Mapping;
        match value.kind() {
            NodeKind::Scalar => made.put(key, name, Out::Source(value)),
            NodeKind::Sequence if super::paths::named_parts(value).all(is_same) => {
                made.put(key, name, Out::Source(value));
            }
            _ if mapped.is_empty() && !kept.is_empty() => {}
            _ if name == "requirements" => {
                made.put(key, name, Out::Seq { items: items(mapped), like: None });
            }
            _ => made.put(key, name, map(value, mapped)),
        }
        if !kept.is_empty() {
            made.kept.push((OutKey::Source(key), Out::Map { entries: kept.into(), like: None }));
        }
    }

    /// Valid types of two families, each under the keyname for it.
    fn split_types(
        &mut self,
        made: &mut Made<'a>,
        entry: SourceEntry<'a>,
        parts: [(Family, &'static str); 2],
    ) {
        let SourceEntry { entity, key, value, .. } = entry;
        let file = self.file();
        let of = |this: &Self, item: &Node<'a>, family| {
            let name = item.text().unwrap_or_default();
            this.context.types.find_in(file, family, name).is_some()
        };
        let [(first, called), (second, other)] = parts;
        let is_second =
            |this: &Self, item: &Node<'a>| !of(this, item, first) && of(this, item, second);
        let (seconds, firsts): (Vec<_>, Vec<_>) =
            value.items().partition(|item| is_second(self, item));
        if seconds.is_empty() {
            let types = self.type_names(families(entity, called), value);
            return made.put(key, called, types);
        }
        for (items, family, called) in [(firsts, first, called), (seconds, second, other)] {
            let items: Vec<_> =
                items.into_iter().map(|item| self.type_name(&[family], item)).collect();
            if !items.is_empty() {
                made.supply(called, inline_list(items));
            }
        }
    }

    /// The name of a type in version 2.0, where it is another one there.
    pub(super) fn called_in_2_0(
        &mut self,
        families: &[Family],
        name: &str,
        at: Node<'a>,
    ) -> Option<String> {
        let file = at.document().file();
        let file = if file.is_built_in() { None } else { Some(file) };
        for family in families {
            let Some(id) = self.context.types.find_in(file, *family, name) else { continue };
            let definition = self.context.types.definition(id);
            if !profile::is_built_in(definition.value.document().file()) {
                return self.renamed(id, name);
            }
            let full = definition.name.to_owned();
            self.need(*family, &full);
            return (full != name).then_some(full);
        }
        if !families.contains(&Family::Data) {
            return None;
        }
        let primitive = Primitive::from_name(name)?;
        let new = match primitive {
            Primitive::Null => "nil",
            Primitive::Range | Primitive::ScalarUnit(_) => {
                self.need(Family::Data, primitive.name());
                primitive.name()
            }
            _ => primitive.name(),
        };
        (new != name).then(|| new.to_owned())
    }

    /// Notes that a type has to be supplied.
    pub(super) fn need(&mut self, family: Family, name: &str) {
        if !self.needed.iter().any(|(of, known)| *of == family && known == name) {
            self.needed.push((family, name.to_owned()));
        }
    }
}

/// Adds an import behind the others.
fn add_import<'a>(made: &mut Made<'a>, import: Out<'a>) {
    match made.get_mut("imports") {
        Some(Out::Seq { items, .. }) => {
            *items = items.iter().cloned().chain([(None, import)]).collect();
        }
        Some(imports) => {
            let source = if let Out::Source(node) = imports { Some(*node) } else { None };
            let items = source.into_iter().flat_map(Node::items);
            let items = items.map(|item| (Some(item), Out::Source(item)));
            let items = items.chain([(None, import)]).collect();
            *imports = Out::Seq { items, like: source };
        }
        None => {
            let imports = Out::Seq { items: vec![(None, import)].into(), like: None };
            let at = 1.min(made.entries.len());
            made.entries.insert(at, (OutKey::New("imports".into()), imports));
        }
    }
}

/// The operation that an activity calls.
fn called_by(activity: Node<'_>) -> Option<Node<'_>> {
    activity.get("call_operation").map(|call| call.get("operation").unwrap_or(call))
}

/// Whether operations may stand beside the keynames of an element in version 1.3, and this is one.
fn holds_operations(entity: &ElementGrammar, name: &str) -> bool {
    use EntityKind::{Interface, InterfaceAssignment, InterfaceType};
    name != "type" && matches!(entity.kind, Interface | InterfaceAssignment | InterfaceType)
}

/// Whether what is gone from an element has a place in its metadata by its own name.
fn has_metadata_for(entity: &ElementGrammar) -> bool {
    matches!(entity.kind, EntityKind::Property | EntityKind::Parameter | EntityKind::Attribute)
        && family_of(entity).is_empty()
}

/// How many nodes a template of version 1.3 stands for in version 2.0, if that is known.
fn number_in_2_0(template: Node<'_>) -> Option<u64> {
    let exact = template.get("occurrences").and_then(Occurrences::read);
    let exact = exact.filter(|said| said.max == Some(said.min)).map_or(1, |said| said.min);
    template.get("instance_count").is_none().then_some(exact)
}

/// A new number.
fn number<'a>(number: u64) -> Out<'a> {
    Out::Value(i64::try_from(number).unwrap_or(i64::MAX).into())
}

/// Puts what is mapped under its key, and keeps the rest.
fn put_split<'a>(
    made: &mut Made<'a>,
    key: Node<'a>,
    value: Node<'a>,
    mapped: Vec<(OutKey<'a>, Out<'a>)>,
    kept: Vec<(OutKey<'a>, Out<'a>)>,
) {
    if !mapped.is_empty() || kept.is_empty() {
        let name = key.text().unwrap_or_default();
        made.entries.push((named_key(key, name), map(value, mapped)));
    }
    if !kept.is_empty() {
        made.kept.push((OutKey::Source(key), Out::Map { entries: kept.into(), like: None }));
    }
}
