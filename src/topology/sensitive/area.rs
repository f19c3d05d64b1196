//! Tells the parts of a service template apart: where values are, and where names that must stay.

use super::is_definition;
use crate::tosca::Family;
use crate::tosca::shape::defines_parameter;
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{NodeKind, OutNode};

/// What a part of a service template is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    /// A part of this kind, or a list of such parts.
    One(AreaKind),
    /// Parts of this kind by name, or a list of maps with one of them each.
    Named(AreaKind),
    /// Values or definitions of values by name.
    Slots,
    /// A value that is always secret.
    Secret,
    /// Values and texts that no type describes.
    Free,
    /// Names of elements, types and files.
    Structure,
}

/// A kind of part that contains others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AreaKind {
    Service,
    Topology,
    /// A template, a type, a capability, an artifact or the relationship of a requirement.
    Entity,
    Requirement,
    Interface,
    Operation,
    Implementation,
    Workflow,
    Step,
    Activity,
    Trigger,
    Repository,
}

/// How a slot is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotForm {
    /// As its value.
    Value,
    /// As a definition, which may contain a value and a default.
    Definition,
}

impl Area {
    /// A whole service template.
    pub(crate) const DOCUMENT: Self = Self::One(AreaKind::Service);

    /// The part below a key.
    pub(crate) fn below(self, key: &str) -> Self {
        match self {
            Self::Named(kind) => Self::One(kind),
            Self::One(kind) => kind.below(key),
            other => other,
        }
    }

    /// Whether paths leave a key out, because they are the same without it.
    pub(crate) fn leaves_out(self, key: &str) -> bool {
        match self {
            Self::One(AreaKind::Service) => key == "topology_template",
            Self::One(AreaKind::Interface | AreaKind::Entity) => {
                matches!(key, "operations" | "notifications")
            }
            _ => false,
        }
    }
}

/// The keynames of templates and types below which are names, or schemas.
const NAMING: [&str; 23] = [
    "type",
    "derived_from",
    "version",
    "directives",
    "copy",
    "occurrences",
    "instance_count",
    "members",
    "targets",
    "valid_source_types",
    "valid_target_types",
    "mime_type",
    "file_ext",
    "file",
    "repository",
    "deploy_path",
    "artifact_version",
    "constraints",
    "key_schema",
    "entry_schema",
    "technology",
    "required_technologies",
    "weight",
];

impl AreaKind {
    fn below(self, key: &str) -> Area {
        use Area::{Free, Named, One, Secret, Slots, Structure};
        match (self, key) {
            (Self::Service, "topology_template") => One(Self::Topology),
            (Self::Service, "repositories") => Named(Self::Repository),
            (Self::Service, "imports" | "tosca_definitions_version") => Structure,
            (Self::Service, key) if Family::of_keyword(key).is_some() => Named(Self::Entity),
            (Self::Service, _) => Free,
            (Self::Topology, "node_templates" | "relationship_templates") => Named(Self::Entity),
            (Self::Topology, "groups" | "policies") => Named(Self::Entity),
            (Self::Topology, "workflows") => Named(Self::Workflow),
            (Self::Topology, "description" | "variability") => Free,
            (Self::Repository, "credential") => Secret,
            (Self::Entity, "properties" | "attributes") => Slots,
            (Self::Entity, "capabilities" | "artifacts") => Named(Self::Entity),
            (Self::Entity, "requirements") => Named(Self::Requirement),
            (Self::Entity, "interfaces") => Named(Self::Interface),
            (Self::Entity, "triggers") => Named(Self::Trigger),
            (Self::Entity | Self::Interface, "operations" | "notifications") => {
                Named(Self::Operation)
            }
            (Self::Requirement, "relationship") => One(Self::Entity),
            (Self::Operation, "implementation") => One(Self::Implementation),
            (Self::Implementation, "primary" | "dependencies") => One(Self::Entity),
            (Self::Workflow, "steps") => Named(Self::Step),
            (Self::Workflow, "preconditions" | "precondition") | (Self::Step, "filter") => Free,
            (Self::Step, "activities") | (Self::Trigger, "action") => One(Self::Activity),
            (Self::Trigger, "condition" | "schedule" | "event") => Free,
            (Self::Activity, "call_operation" | "inline" | "delegate") => One(Self::Activity),
            (Self::Implementation | Self::Step | Self::Trigger, "inputs" | "outputs") => Structure,
            (Self::Operation | Self::Workflow, "outputs") => Structure,
            (_, "inputs" | "outputs") => Slots,
            (_, "metadata" | "description") => Free,
            (Self::Interface, key) if key != "type" => One(Self::Operation),
            (Self::Entity, key) if !NAMING.contains(&key) => Free,
            _ => Structure,
        }
    }
}

/// Visits each part below a node that may contain secrets: values and definitions with their paths
/// as [`Area::Slots`], and what is [`Area::Secret`] or [`Area::Free`]. Only parts count whose places
/// `is_asked` accepts.
pub(crate) fn each_part<'o, 'a>(
    (node, area): (OutNode<'o, 'a>, Area),
    path: &mut Vec<String>,
    is_asked: &dyn Fn(Span) -> bool,
    visit: &mut dyn FnMut(Area, &[String], OutNode<'o, 'a>),
) {
    match area {
        _ if !is_asked(node.span()) => return,
        Area::Structure => return,
        Area::Secret | Area::Free => return visit(area, path, node),
        Area::One(_) | Area::Named(_) | Area::Slots => {}
    }
    if node.kind() == NodeKind::Sequence {
        let items = node.items().into_iter();
        return items.for_each(|(_, item)| each_part((item, area), path, is_asked, visit));
    }
    for entry in node.entries() {
        let is_step = !area.leaves_out(&entry.name);
        if is_step {
            path.push(entry.name.to_string());
        }
        match area {
            Area::Slots => visit(area, path, entry.value),
            area => each_part((entry.value, area.below(&entry.name)), path, is_asked, visit),
        }
        if is_step {
            path.pop();
        }
    }
}

/// How the slot at a path is written.
pub(crate) fn form(path: &[String], value: &Value) -> SlotForm {
    let section = path.first().map_or("", |section| &**section);
    let kind = path.len().checked_sub(2).map_or("", |at| &*path[at]);
    let has_only_keynames = || match value {
        Value::Map(entries) => {
            !entries.is_empty() && entries.iter().all(|(key, _)| defines_parameter(key))
        }
        _ => false,
    };
    let is_of_type = Family::of_keyword(section).is_some();
    let has_activities = matches!(section, "workflows" | "policies");
    let is_activity = |key: &String| matches!(&**key, "activities" | "action");
    let is_in_activity = has_activities && path.iter().skip(2).any(is_activity);
    let defines = match (section, kind) {
        _ if is_in_activity => false,
        (_, "properties" | "attributes") => is_of_type,
        ("inputs" | "outputs" | "workflows", _) => has_only_keynames(),
        _ => is_definition(value) || is_of_type && has_only_keynames(),
    };
    if defines { SlotForm::Definition } else { SlotForm::Value }
}
