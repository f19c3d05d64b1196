//! Converts the keynames of version 2.0 that version 1.3 has by other names, in other places, or
//! not at all.

use super::conditions::commented;
use super::{Converter, Made, NeededImport, SourceEntry, inline_list, list, map, text};
use crate::convert::loss::LossKind;
use crate::tosca::import::ImportDefinition;
use crate::tosca::shape::{self, STATUS, Shape};
use crate::tosca::types::{HOSTED_BY_NAME, Occurrences, TypeId, profile};
use crate::tosca::v2_0::grammar::{self, ElementGrammar, EntityKind};
use crate::tosca::{Family, PLAIN_VERSION, v2_0};
use cuvee_text::yaml::{Node, NodeKind, Out, OutKey, Scalar, write_line};
use std::borrow::Cow;

/// The normative parent of relationship types, and what it has.
const ROOT: &str = "tosca.relationships.Root";
const OF_ROOT: [&str; 4] = ["tosca_id", "tosca_name", "state", "Configure"];

/// The types of TOSCA 2.0 that version 1.3 has by other names, or that are others there.
const PRIMITIVES: [(&str, &str); 4] =
    [("nil", "null"), ("bytes", "string"), ("scalar", "string"), ("scalar-unit", "string")];

/// The keynames of an element in version 1.3.
fn shape_of(entity: &ElementGrammar) -> Option<&'static Shape> {
    Some(match entity.kind {
        EntityKind::File => &shape::SERVICE,
        EntityKind::ServiceTemplate => &shape::TOPOLOGY,
        EntityKind::Repository => &shape::REPOSITORY,
        EntityKind::Import => &shape::IMPORT,
        EntityKind::NodeTemplate => &shape::NODE,
        EntityKind::RelationshipTemplate => &shape::RELATIONSHIP,
        EntityKind::Capability => &shape::CAPABILITY,
        EntityKind::CapabilityAssignment => &shape::CAPABILITY_ASSIGNMENT,
        EntityKind::Requirement => &shape::REQUIREMENT,
        EntityKind::RequirementRelationship => &shape::REQUIREMENT_RELATIONSHIP,
        EntityKind::RequirementAssignment => &shape::REQUIREMENT_ASSIGNMENT,
        EntityKind::AssignedRelationship => &shape::RELATIONSHIP_IN_PLACE,
        EntityKind::Schema => &shape::SCHEMA,
        EntityKind::Property => &shape::PROPERTY,
        EntityKind::Attribute => &shape::ATTRIBUTE,
        EntityKind::Parameter => &shape::PARAMETER,
        EntityKind::Interface | EntityKind::InterfaceAssignment => &shape::INTERFACE,
        EntityKind::Operation | EntityKind::OperationAssignment => &shape::OPERATION,
        EntityKind::Notification | EntityKind::NotificationAssignment => &shape::NOTIFICATION,
        EntityKind::Implementation => &shape::IMPLEMENTATION,
        EntityKind::Artifact => &shape::ARTIFACT,
        EntityKind::Workflow => &shape::WORKFLOW,
        EntityKind::Step => &shape::STEP,
        EntityKind::Activity => &shape::ACTIVITY,
        EntityKind::WorkflowCall => &shape::INLINE,
        EntityKind::OperationCall => &shape::CALL_OPERATION,
        EntityKind::SubstitutionMapping => &shape::SUBSTITUTION,
        EntityKind::Group => &shape::GROUP,
        EntityKind::Policy => &shape::POLICY,
        EntityKind::Trigger => &shape::TRIGGER,
        _ => {
            let [family] = super::family_of(entity) else { return None };
            shape::of_type(*family)
        }
    })
}

/// The type of a literal.
fn type_of(literal: Scalar<'_>) -> Option<&'static str> {
    match literal {
        Scalar::Int(_) => Some("integer"),
        Scalar::Float(_) => Some("float"),
        Scalar::Bool(_) => Some("boolean"),
        Scalar::String(_) => Some("string"),
        _ => None,
    }
}

impl<'a> Converter<'_, 'a> {
    /// Converts an entry of an element of version 2.0.
    pub(super) fn entry_to_1_3(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) {
        let SourceEntry { entity, key, name, value } = entry;
        if name == "metadata" {
            return self.metadata_to_1_3(made, entry);
        }
        if self.rewritten_to_1_3(made, entry) {
            return;
        }
        match entity.keyname_of_1_3(name) {
            Some(keyname) if shape_of(entity).is_some_and(|shape| shape.has(name)) => {
                match self.content_of(made.node, entry, keyname) {
                    Some(content) => made.put(key, keyname.field, content),
                    None => self.lose(entry),
                }
            }
            None if self.is_extended && (self.context.is_word)(name) => {
                let value = self.extension(name, value);
                made.put(key, name, value);
            }
            _ => self.lose(entry),
        }
    }

    /// Whether an element has a name that version 1.3 reserves, which is reported.
    pub(super) fn loses_reserved(&mut self, key: Node<'a>, entity: &ElementGrammar) -> bool {
        let is_operation =
            matches!(entity.kind, EntityKind::Operation | EntityKind::OperationAssignment);
        let is_reserved = is_operation && key.text() == Some("inputs");
        if is_reserved {
            let why = "no operation of TOSCA 1.3 has the name of this keyname";
            self.report(LossKind::Lost, key, "the operation `inputs`", why);
        }
        is_reserved
    }

    /// Keeps what relationships of a type without a parent mean, as far as version 1.3 has it: there,
    /// only types that derive from normative ones say which node is deployed first, or lead to hosts.
    fn keep_meaning(&mut self, made: &mut Made<'a>) {
        let (types, name) = (self.context.types, self.name);
        let is_root = |id: &TypeId| types.parent(*id).is_none() && !name.starts_with("tosca.");
        let Some(id) = self.own_type.filter(is_root) else { return };
        let mut lose = |meaning: &str, kind: &str| {
            let why = format!(
                "relationships of TOSCA 1.3 have it where their type derives from `{kind}`"
            );
            self.report(LossKind::Lost, made.node, &format!("the {meaning} by `{name}`"), &why);
        };
        if types.is_hosting(id) {
            lose("hosting", "tosca.relationships.HostedOn");
        }
        if !types.is_ordering(id) {
            return;
        }
        let own = types.effective(id);
        let refines = OF_ROOT
            .iter()
            .any(|it| own.attributes.contains_key(*it) || own.interfaces.contains_key(*it));
        if refines {
            lose("order of deployment", ROOT);
            return;
        }
        let why =
            "only relationships of types that derive from it say which node is deployed first";
        self.report(LossKind::Supplied, made.node, &format!("the parent `{ROOT}`"), why);
        made.entries.insert(0, (OutKey::New("derived_from".into()), text(ROOT)));
    }

    fn lose(&mut self, SourceEntry { entity, key, .. }: SourceEntry<'a>) {
        let name = v2_0::written(key);
        let is_known =
            shape_of(entity).is_some_and(|shape| shape.has(key.text().unwrap_or_default()));
        let why = match is_known {
            true => "its content has no counterpart in TOSCA 1.3".to_owned(),
            false => format!("{} of TOSCA 1.3 has no such keyname", entity.what),
        };
        self.report(LossKind::Lost, key, &format!("`{name}`"), &why);
    }

    /// Converts metadata: they are texts in version 1.3. What was kept there returns to its place.
    fn metadata_to_1_3(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) {
        let SourceEntry { entity, key, value, .. } = entry;
        let shape = shape_of(entity);
        let mut entries = Vec::new();
        for (entry, content) in value.entries() {
            let name = entry.text().unwrap_or_default();
            let is_own = |name: &str| shape.is_some_and(|shape| shape.has(name));
            let is_status =
                name == "status" && content.text().is_some_and(|it| STATUS.contains(&it));
            if name == super::KEPT && content.kind() == NodeKind::Mapping {
                made.kept.extend(super::sources(content));
            } else if is_own(name) && (is_status || name == "external-schema") {
                made.kept.push((OutKey::Source(entry), Out::Source(content)));
            } else if content.as_str().is_some() {
                entries.push((OutKey::Source(entry), Out::Source(content)));
            } else {
                let written =
                    content.text().map_or_else(|| write_line(&content.to_value()), str::to_owned);
                let construct = format!("the type of the metadata `{name}`");
                self.report(LossKind::Lost, entry, &construct, "metadata of TOSCA 1.3 are texts");
                entries.push((OutKey::Source(entry), text(written)));
            }
        }
        if entries.is_empty() && value.entries().len() > 0 {
            return;
        }
        match shape.is_some_and(|shape| shape.has("metadata")) {
            true => made.put(key, "metadata", map(value, entries)),
            false => self.lose(entry),
        }
    }

    /// Converts an entry whose content changes. Returns false for all others.
    fn rewritten_to_1_3(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) -> bool {
        self.definition_to_1_3(made, entry)
            || self.assignment_to_1_3(made, entry)
            || self.workflow_to_1_3(made, entry)
            || self.mapping_to_1_3(made, entry)
    }

    /// Entries of files and of definitions.
    fn definition_to_1_3(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) -> bool {
        let SourceEntry { entity, key, name, value } = entry;
        match (entity.kind, name) {
            (EntityKind::File, "tosca_definitions_version") => {
                let version = if self.is_extended { self.context.extended } else { PLAIN_VERSION };
                made.put(key, name, text(version));
            }
            (EntityKind::File, "profile") if value.text().is_some_and(profile::is_reserved) => {
                let why = "namespaces that begin like this are those of TOSCA 1.3 itself";
                self.report(LossKind::Lost, value, "the name of a profile", why);
            }
            (EntityKind::File, "profile") => made.put(key, "namespace", Out::Source(value)),
            (EntityKind::File, section) if Family::of_keyword(section).is_some() => {
                let keyname = entity.keynames.iter().find(|it| it.name == section);
                let Some(below) = keyname.and_then(|it| it.holds.element()) else { return false };
                let types = self.named(value, below);
                let is_empty = matches!(&types, Out::Map { entries, .. } if entries.is_empty());
                if !is_empty || value.entries().len() == 0 {
                    made.put(key, section, types);
                }
            }
            (EntityKind::Requirement, "occurrences") if self.is_default_count(value) => {}
            (EntityKind::Requirement, "relationship") if value.text() == Some(HOSTED_BY_NAME) => {}
            (EntityKind::Requirement, "capability") => {
                let Some(kind) = self.named_capability(made.node, value) else { return false };
                let why = "a requirement of TOSCA 1.3 says which type its capability has";
                self.report(LossKind::Lost, value, "the name of a capability", why);
                made.put(key, name, text(kind));
            }
            (EntityKind::ServiceTemplate, "node_templates")
                if value.entries().len() == 0 && value.items().len() == 0 => {}
            (EntityKind::File, "imports") => {
                if let Some(imports) = self.imports_to_1_3(value) {
                    made.put(key, name, imports);
                }
            }
            (EntityKind::GroupType, "members") => {
                let members: Vec<_> = value.items().collect();
                if self.context.types.unrelated(&members).is_none() {
                    return false;
                }
                let why = "members of TOSCA 1.3 derive from one type";
                self.report(LossKind::Lost, key, "`members`", why);
            }
            (EntityKind::Attribute, "validation") => self.lose(entry),
            (_, "validation") => {
                self.tell_replaced_validation(entry);
                let kind = made.node.get("type").or_else(|| made.node.get("derived_from"));
                let is_range = kind.is_some_and(|kind| self.is_range_type(kind));
                if kind.is_some_and(|kind| self.is_gone_scalar(kind)) {
                    self.lose_condition(value);
                } else if let Some(constraints) = self.constraints_to_1_3(value, is_range) {
                    made.put(key, "constraints", commented(value, constraints));
                }
            }
            _ => return false,
        }
        true
    }

    /// Entries of templates.
    fn assignment_to_1_3(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) -> bool {
        let SourceEntry { entity, key, name, value } = entry;
        match (entity.kind, name) {
            (EntityKind::NodeTemplate, "directives") => {
                let is_create = |item: &Node<'_>| item.text() == Some("create");
                let (created, items): (Vec<_>, Vec<_>) = value.items().partition(is_create);
                let items: Vec<_> =
                    items.into_iter().map(|item| (Some(item), Out::Source(item))).collect();
                if !items.is_empty() {
                    let why = "TOSCA 1.3 does not have this directive beside others";
                    for item in created {
                        self.report(LossKind::Lost, item, "`create`", why);
                    }
                    made.put(key, name, list(value, items));
                }
            }
            (EntityKind::RequirementAssignment, "node") => {
                let node = self.target_to_1_3(value);
                made.put(key, name, node);
            }
            (EntityKind::RequirementAssignment, "capability") => {
                let capability = self.type_name(&[Family::Capability], value);
                made.put(key, name, capability);
            }
            (EntityKind::RequirementAssignment, "count" | "optional") => {
                self.count_to_1_3(made, entry);
            }
            (EntityKind::RequirementAssignment, "node_filter")
                if self.names_template(made.node) =>
            {
                let why = "TOSCA 1.3 has no filter where a template is named";
                self.report(LossKind::Lost, key, "`node_filter`", why);
            }
            (EntityKind::Group, "members") if !self.is_variability(made.node) => {
                self.members_to_1_3(made, entry);
            }
            (
                EntityKind::InterfaceAssignment
                | EntityKind::OperationAssignment
                | EntityKind::NotificationAssignment,
                "inputs",
            ) => {
                self.inputs_to_1_3(made, entry);
            }
            (_, "node_filter" | "substitution_filter") => {
                self.tell_replaced_filter(entry);
                if let Some(filter) = self.filter_to_1_3(entity, made.node, value) {
                    made.put(key, name, commented(value, filter));
                }
            }
            (_, "outputs") if entity.kind != EntityKind::ServiceTemplate => {
                self.tell_replaced_outputs(entry);
                let outputs = self.outputs_to_1_3(value);
                let is_empty = matches!(&outputs, Out::Map { entries, .. } if entries.is_empty());
                if !is_empty {
                    made.put(key, name, outputs);
                }
            }
            _ => return false,
        }
        true
    }

    /// Conditions of workflows and triggers.
    fn workflow_to_1_3(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) -> bool {
        let SourceEntry { entity, key, name, value } = entry;
        match (entity.kind, name) {
            (EntityKind::Workflow, "precondition") => {
                if let Some(preconditions) = self.preconditions_to_1_3(value) {
                    made.put(key, "preconditions", commented(value, preconditions));
                }
            }
            (EntityKind::Step, "filter") => {
                if let Some(filter) = self.step_filter_to_1_3(made.node, value) {
                    made.put(key, name, filter);
                }
            }
            (EntityKind::Trigger, "condition") => {
                if let Some([condition, filter]) = self.trigger_condition_to_1_3(value) {
                    made.put(key, name, commented(value, condition));
                    made.metadata.push((OutKey::New("target_filter".into()), filter));
                }
            }
            _ => return false,
        }
        true
    }

    /// Mappings.
    fn mapping_to_1_3(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) -> bool {
        let SourceEntry { entity, key, name, value } = entry;
        match (entity.kind, name) {
            (EntityKind::SubstitutionMapping, "properties" | "attributes") => {
                let mut entries = Vec::new();
                for (key, mapped) in value.entries() {
                    if key.as_str().is_some() && mapped.kind() == NodeKind::Scalar {
                        let mapping = inline_list(vec![Out::Source(mapped)]);
                        entries.push((OutKey::Source(key), mapping));
                    } else {
                        self.lose_mapping(key);
                    }
                }
                if !entries.is_empty() || value.entries().len() == 0 {
                    made.put(key, name, map(value, entries));
                }
            }
            (EntityKind::SubstitutionMapping, "requirements") => {
                if let Some(requirements) = self.mapped_requirements(value) {
                    made.put(key, name, requirements);
                }
            }
            _ => return false,
        }
        true
    }

    /// The type of the capability that a requirement definition names, as this file calls it. A
    /// refinement may leave the node type that has it to the parent.
    fn named_capability(&self, requirement: Node<'a>, named: Node<'a>) -> Option<Cow<'a, str>> {
        let types = self.context.types;
        let inherited = || self.of_parent()?.requirements.get(self.name)?.definition.node;
        let node = requirement.get("node").or_else(inherited)?;
        let name = types.capability_named(Some(named), Some(node))?;
        let id = types.find_in(Some(node.document().file()), Family::Node, node.text()?)?;
        let kind = types.effective(id).capabilities.get(name)?.definition.kind?;
        let file = Some(kind.document().file());
        let capability = types.find_in(file, Family::Capability, kind.text()?);
        let called = capability.and_then(|it| types.name_in(self.file(), it));
        called.or(kind.text().map(Cow::Borrowed))
    }

    /// Supplies the bounds that are the default of version 2.0, unless a requirement refines another
    /// one, whose bounds hold.
    fn supply_bounds(&self, made: &mut Made<'a>) {
        let is_said = made.has("occurrences") || made.node.get("occurrences").is_some();
        if !is_said && !self.refines_requirement() {
            made.supply("occurrences", inline_list(vec![Out::Value(0.into()), text("UNBOUNDED")]));
        }
    }

    /// Puts back what was kept, and supplies what version 1.3 takes for something else where it is
    /// not said.
    pub(super) fn finish_1_3(&mut self, made: &mut Made<'a>, entity: &'static ElementGrammar) {
        if entity.kind == EntityKind::Requirement {
            self.supply_bounds(made);
        }
        if entity.kind == EntityKind::Step {
            self.supply_operation_host(made);
        }
        if entity.kind == EntityKind::Artifact {
            self.tell_inherited_of_artifact(made);
        }
        if entity.kind == EntityKind::File {
            self.add_imports(made);
        }
        if entity.kind == EntityKind::RelationshipType {
            self.keep_meaning(made);
        }
        let kept = std::mem::take(&mut made.kept);
        let supplied = std::mem::take(&mut made.metadata);
        for (key, value) in kept {
            let name = super::key_text(&key).to_owned();
            let known = made.get_mut(&name);
            match (known, value) {
                (Some(own), value)
                    if matches!(
                        &*name,
                        "tosca_definitions_version" | "required" | "occurrences" | "relationship"
                    ) =>
                {
                    *own = value;
                }
                (Some(Out::Seq { items, .. }), Out::Source(more)) => {
                    let more = more.items().map(|item| (Some(item), Out::Source(item)));
                    *items = items.iter().cloned().chain(more).collect();
                }
                (Some(own), Out::Source(more)) if more.kind() == NodeKind::Mapping => {
                    super::extend(own, super::sources(more));
                }
                (Some(_), _) => {}
                (None, value) => made.entries.push((key, value)),
            }
        }
        for (key, value) in supplied {
            let name = super::key_text(&key).to_owned();
            if !made.has(&name) {
                made.entries.push((key, value));
            }
        }
        if matches!(entity.kind, EntityKind::Property | EntityKind::Parameter) {
            made.excuse_lost_value();
        }
    }

    /// What stands in place of the map of an element.
    pub(super) fn short_to_1_3(
        &mut self,
        node: Node<'a>,
        entity: &'static ElementGrammar,
    ) -> Out<'a> {
        match entity.kind {
            EntityKind::Capability | EntityKind::Schema => {
                self.type_name(super::families(entity, "type"), node)
            }
            EntityKind::RequirementRelationship | EntityKind::AssignedRelationship => {
                self.type_name(&[Family::Relationship], node)
            }
            EntityKind::RequirementAssignment => self.target_to_1_3(node),
            _ => Out::Source(node),
        }
    }

    /// An artifact that is only the name of its file.
    pub(super) fn short_artifact(&mut self, key: Node<'a>, value: Node<'a>) -> Out<'a> {
        match self.to {
            super::TargetVersion::Two => self.short_artifact_to_2_0(key, value),
            super::TargetVersion::Simple => Out::Source(value),
        }
    }

    /// The target of a requirement: of a template and an index, the template.
    fn target_to_1_3(&mut self, node: Node<'a>) -> Out<'a> {
        match node.items().next() {
            None => match node.text().map(|it| self.template("node_templates", it)) {
                Some(None) => self.type_name(&[Family::Node], node),
                Some(Some(target)) => {
                    // What says more becomes `occurrences`, or was that.
                    let says = |it: Node<'a>| {
                        ["count", "optional", "metadata"].iter().any(|key| it.get(key).is_some())
                    };
                    let is_one = !self.assignment.is_some_and(says);
                    let count = target.get("instance_count").filter(|_| is_one);
                    if count.is_some_and(|count| count.text() != Some("1")) {
                        let why = "a relation of TOSCA 1.3 leads to each node of its target";
                        self.report(
                            LossKind::Lost,
                            node,
                            "a relation to one of several nodes",
                            why,
                        );
                    }
                    Out::Source(node)
                }
                None => Out::Source(node),
            },
            Some(template) => {
                let why = "targets of TOSCA 1.3 are templates, not one of their nodes";
                self.report(LossKind::Lost, node, "the index of a target", why);
                Out::Source(template)
            }
        }
    }

    /// How often a requirement is fulfilled.
    fn count_to_1_3(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) {
        if made.has("occurrences") {
            return;
        }
        let count = made.node.get("count");
        let optional = made.node.get("optional");
        let is_known = count.is_none_or(|count| crate::tosca::requirement::count(count).is_some())
            && optional.is_none_or(|optional| optional.as_bool().is_some());
        if !is_known {
            return self.lose(entry);
        }
        let most = || count.map_or_else(|| Out::Value(1.into()), Out::Source);
        let least = match optional.and_then(Node::as_bool) {
            Some(true) => Out::Value(0.into()),
            _ => most(),
        };
        made.entries.push((
            OutKey::Renamed(entry.key, "occurrences".into()),
            inline_list(vec![least, most()]),
        ));
    }

    /// Whether a requirement definition has the bounds that are the default of version 1.3, and
    /// refines no other, whose bounds would hold.
    fn is_default_count(&self, value: Node<'a>) -> bool {
        let is_once = Occurrences::read(value).is_some_and(|it| (it.min, it.max) == (1, Some(1)));
        is_once && !self.refines_requirement()
    }

    fn outputs_to_1_3(&mut self, node: Node<'a>) -> Out<'a> {
        let mut entries = Vec::new();
        for (key, value) in node.entries() {
            // A definition of TOSCA 2.0 has the path beside the type.
            let mapping =
                if value.kind() == NodeKind::Mapping { value.get("mapping") } else { Some(value) };
            // Where values are taken from, paths of version 1.3 lead through requirements; where they
            // are put (section 3.6.15), none does.
            let is_through = |mapping: &Node<'a>| {
                let mut steps = mapping.items().skip(1).take(2);
                steps.any(|step| step.as_str() == Some("RELATIONSHIP"))
            };
            let mapping = mapping.filter(|mapping| !is_through(mapping));
            let path = mapping.and_then(|mapping| match mapping.kind() {
                NodeKind::Sequence => self.path_to_1_3(mapping),
                _ => Some(Out::Source(mapping)),
            });
            match path {
                Some(path) => entries.push((OutKey::Source(key), path)),
                None => {
                    let name = key.text().unwrap_or_default();
                    self.report(
                        LossKind::Lost,
                        key,
                        &format!("the output `{name}`"),
                        "TOSCA 1.3 has no such path",
                    );
                }
            }
        }
        if node.kind() == NodeKind::Mapping { map(node, entries) } else { Out::Source(node) }
    }

    fn imports_to_1_3(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        let mut items = Vec::new();
        for (index, item) in node.items().enumerate() {
            let Some(import) = ImportDefinition::read(item) else {
                items.push((Some(item), Out::Source(item)));
                continue;
            };
            if self.context.leaving.contains(&item.span()) && import.prefix.is_none() {
                continue;
            }
            if self.context.bringing.contains(&item.span()) {
                let why = "imports of TOSCA 1.3 bring the templates of a file, too";
                self.at(index, |this| {
                    this.report(LossKind::Supplied, item, "the topology of an imported file", why);
                });
            }
            if import.is_profile {
                let name = import.file;
                let why = "TOSCA 1.3 imports files, not profiles by their names";
                self.at(index, |this| {
                    this.report(
                        LossKind::Lost,
                        item,
                        &format!("the import of the profile `{name}`"),
                        why,
                    )
                });
                continue;
            }
            let made = match item.kind() {
                NodeKind::Mapping => self.at(index, |this| this.element(item, &grammar::IMPORT)),
                _ => self.import_path(item),
            };
            items.push((Some(item), made));
        }
        (!items.is_empty()).then(|| list(node, items))
    }

    /// Requirement mappings: a map where each name is mapped once, as version 1.3 has it.
    fn mapped_requirements(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        let mut mapped = Vec::new();
        for (key, value) in node.items().flat_map(Node::entries) {
            let is_text = |item: Node<'_>| item.as_str().is_some();
            let is_path = value.items().len() == 2 && value.items().all(is_text);
            match key.as_str().filter(|_| is_path) {
                Some(name) => mapped.push((name, (OutKey::Source(key), Out::Source(value)))),
                None => self.lose_mapping(key),
            }
        }
        let mut names: Vec<_> = mapped.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        let is_map = names.len() == mapped.len();
        let entries = mapped.into_iter().map(|(_, entry)| entry);
        if is_map {
            let entries: Vec<_> = entries.collect();
            let is_there = !entries.is_empty() || node.items().len() == 0;
            return is_there.then(|| Out::Map { entries: entries.into(), like: None });
        }
        let items = entries.map(|entry| (None, Out::Map { entries: [entry].into(), like: None }));
        Some(Out::Seq { items: items.collect(), like: None })
    }

    fn lose_mapping(&mut self, key: Node<'a>) {
        let construct = format!("the mapping of `{}`", write_line(&key.to_value()));
        let why = "TOSCA 1.3 maps parts of nodes by one name each";
        self.report(LossKind::Lost, key, &construct, why);
    }

    /// Whether an assignment of a requirement names a node template.
    fn names_template(&self, assignment: Node<'a>) -> bool {
        let named = assignment.get("node").map(|it| it.items().next().unwrap_or(it));
        let template = named.and_then(|it| self.template("node_templates", it.text()?));
        template.is_some()
    }

    /// Whether a group is one of the extension.
    fn is_variability(&self, group: Node<'a>) -> bool {
        let kind = group.get("type").and_then(Node::text).unwrap_or_default();
        self.is_extended && kind.starts_with(self.context.mark)
    }

    /// The members of a group that are nodes.
    fn members_to_1_3(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) {
        let SourceEntry { key, name, value, .. } = entry;
        let is_group = |item: &Node<'a>| {
            let name = item.text().unwrap_or_default();
            let is_node = self.template("node_templates", name).is_some();
            !is_node && self.template("groups", name).is_some()
        };
        let (groups, nodes): (Vec<_>, Vec<_>) = value.items().partition(is_group);
        for group in &groups {
            let construct = format!("the member `{}`", group.text().unwrap_or_default());
            self.report(LossKind::Lost, *group, &construct, "groups of TOSCA 1.3 consist of nodes");
        }
        let nodes = nodes.into_iter().map(|item| (Some(item), self.expressions(item)));
        let nodes: Vec<_> = nodes.collect();
        if groups.is_empty() || !nodes.is_empty() {
            let members = if value.kind() == NodeKind::Sequence {
                list(value, nodes)
            } else {
                Out::Source(value)
            };
            made.put(key, name, members);
        }
    }

    /// The inputs of an operation or an interface that its type has.
    fn inputs_to_1_3(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) {
        let SourceEntry { key, name, value, .. } = entry;
        let inputs = self.values(value, false);
        let closed = self.assigned.filter(|it| it.has_all_inputs());
        let is_unknown = |name: &str| closed.is_some_and(|it| it.input(name).is_none());
        let unknown = value.entries().map(|(key, _)| key);
        let unknown: Vec<_> =
            unknown.filter(|key| is_unknown(key.text().unwrap_or_default())).collect();
        if unknown.is_empty() {
            return made.put(key, name, inputs);
        }
        let mut entries = match inputs {
            Out::Map { entries, .. } => entries.to_vec(),
            _ => super::sources(value),
        };
        entries.retain_mut(|(key, made)| {
            let name = super::key_text(key);
            let Some(at) = unknown.iter().find(|it| it.text() == Some(name)) else { return true };
            let kind = value.get(name).and_then(Node::scalar).and_then(type_of);
            if let Some(kind) = kind {
                // A definition may stand here.
                let default = (OutKey::New("default".into()), made.clone());
                let entries = [(OutKey::New("type".into()), text(kind)), default];
                *made = Out::Map { entries: entries.into(), like: super::inline()[1] };
            } else {
                let construct = format!("the input `{name}`");
                let why = "operations of TOSCA 1.3 have the inputs that their types define";
                self.report(LossKind::Lost, *at, &construct, why);
            }
            kind.is_some()
        });
        if !entries.is_empty() {
            made.put(key, name, map(value, entries));
        }
    }

    /// A step about a relationship says where its operations run.
    fn supply_operation_host(&mut self, made: &mut Made<'a>) {
        let calls = |activity: Node<'a>| activity.get("call_operation").is_some();
        let activities = made.node.get("activities");
        let is_needed = made.node.get("target_relationship").is_some()
            && activities.is_some_and(|all| all.items().any(calls));
        let is_kept = made.kept.iter().any(|(key, _)| super::key_text(key) == "operation_host");
        if is_needed && !is_kept && !made.has("operation_host") {
            let why = "a step of TOSCA 1.3 about a relationship has to say it";
            self.report(LossKind::Supplied, made.node, "`operation_host`", why);
            made.supply("operation_host", text("SOURCE"));
        }
    }

    /// The name of a type behind a prefix that another file has, which only TOSCA 2.0 knows here:
    /// the document imports the type's file with a prefix of its own.
    fn imported_in_1_3(&mut self, id: TypeId, name: &str, at: Node<'a>) -> Option<String> {
        let types = self.context.types;
        let (ways, _) = name.rsplit_once(':')?;
        if types.is_so_in_1_3(Some(at.document().file()), name, id) {
            return None;
        }
        let (family, key, _) = types.place(id);
        let own = key.text()?;
        let path = (self.context.path_to)(key.document().file())?;
        let mut prefix = ways.replace(':', "_");
        let is_other = |prefix: &str| {
            let mut own = ImportDefinition::all(self.root);
            let needed = &self.needed_files;
            own.any(|it| it.prefix == Some(prefix) && it.file != path)
                || needed.iter().any(|it| it.prefix.as_deref() == Some(prefix) && it.path != path)
        };
        while is_other(&prefix) {
            prefix.push('_');
        }
        let new = self.context.renamed.get(&id).map_or(own, String::as_str);
        let called = format!("{prefix}:{new}");
        let needed = NeededImport { path, prefix: Some(prefix) };
        if !self.needed_files.contains(&needed) {
            let construct = format!("the import of the {} `{name}`", family.noun());
            let why = "a file of TOSCA 1.3 knows no namespaces of other files";
            self.report(LossKind::Supplied, at, &construct, why);
            self.needed_files.push(needed);
        }
        Some(called).filter(|called| called != name)
    }

    /// The name of a type in version 1.3, where it is another one there.
    pub(super) fn called_in_1_3(
        &mut self,
        families: &[Family],
        name: &str,
        at: Node<'a>,
    ) -> Option<String> {
        let file = Some(at.document().file());
        let mut known =
            families.iter().filter_map(|family| self.context.types.find_in(file, *family, name));
        if let Some(id) = known.next() {
            let renamed = self.renamed(id, name);
            let imported = self.imported_in_1_3(id, name, at);
            return imported.or(renamed);
        }
        if !families.contains(&Family::Data) || profile::primitive(name).is_some() {
            return None;
        }
        let (_, new) = PRIMITIVES.iter().find(|(own, _)| *own == name)?;
        if name != "nil" {
            self.report(
                LossKind::Lost,
                at,
                &format!("the type `{name}`"),
                "TOSCA 1.3 does not have it",
            );
        }
        Some((*new).to_owned())
    }
}
