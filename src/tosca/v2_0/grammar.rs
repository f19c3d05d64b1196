//! Lists the keynames of all elements of TOSCA 2.0, with the content below each, and the keynames
//! of the Simple Profile 1.3 that are gone.
//!
//! The tables of the standard govern: a keyname that only its text or its examples mention is none.

use crate::diagnostic::{
    Advice, Code, Diagnostic, Rule, Severity, TOSCA_2_0, closest, did_you_mean,
};
use cuvee_text::yaml::Node;
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// The kinds of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EntityKind {
    File,
    Repository,
    Import,
    ServiceTemplate,
    NodeTemplate,
    RelationshipTemplate,
    Capability,
    CapabilityAssignment,
    Requirement,
    RequirementRelationship,
    RequirementAssignment,
    AssignedRelationship,
    Schema,
    Property,
    Attribute,
    Parameter,
    Function,
    Signature,
    Interface,
    InterfaceAssignment,
    Operation,
    OperationAssignment,
    Notification,
    NotificationAssignment,
    Implementation,
    Artifact,
    Workflow,
    Step,
    Activity,
    WorkflowCall,
    OperationCall,
    SubstitutionMapping,
    Group,
    Policy,
    Trigger,
    NodeType,
    RelationshipType,
    CapabilityType,
    DataType,
    InterfaceType,
    ArtifactType,
    GroupType,
    PolicyType,
}

/// The grammar of one kind of element.
pub(crate) struct ElementGrammar {
    /// The kind.
    pub kind: EntityKind,
    /// The name of the kind in messages.
    pub what: &'static str,
    /// The section that defines it.
    pub section: &'static str,
    /// Its keynames, without those that all elements have.
    pub keynames: &'static [ElementKeyname],
    /// The contents that may stand in place of its map.
    pub short: &'static [Short],
    /// The keynames that version 1.3 has here and version 2.0 has not.
    pub gone: &'static [Gone],
}

/// A keyname of an element.
pub(crate) struct ElementKeyname {
    /// The name as it is written.
    pub name: &'static str,
    /// Its name in the tree, which is that of version 1.3 where both versions have it.
    pub field: &'static str,
    /// Whether the element has to have it.
    pub mandatory: bool,
    /// The content below it.
    pub holds: KeynameContent,
}

/// The content below a keyname.
pub(crate) enum KeynameContent {
    /// Any YAML, in which nothing has a meaning.
    Any,
    /// A string.
    Text,
    /// A boolean.
    Bool,
    /// A list of anything.
    List,
    /// A list of some of these words.
    Words(&'static [&'static str]),
    /// A value, in which functions may be called.
    Value,
    /// A map of names to values.
    Values,
    /// The name of a type.
    Type,
    /// A list of names of types.
    Types,
    /// A map with the keynames of this element.
    One(&'static ElementGrammar),
    /// A map of names to such elements.
    Named(&'static ElementGrammar),
    /// A list of maps, each of one name to such an element.
    Listed(&'static ElementGrammar),
    /// A list of such elements.
    Items(&'static ElementGrammar),
}

/// What may stand in place of an element's map.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Short {
    /// A string.
    Text,
    /// The name of a type.
    Type,
    /// A list.
    List,
    /// A value that is no map, or a call of a function.
    Value,
}

/// A keyname of version 1.3 that version 2.0 does not have.
pub(crate) struct Gone {
    /// Its name in version 1.3.
    pub name: &'static str,
    /// The keyname to write instead, where its content stays as it is.
    pub renamed: Option<&'static str>,
    /// What to do where its content changes, too.
    pub advice: &'static str,
    /// Whether the text of the standard has it all the same, though no table of it has.
    pub is_mentioned: bool,
}

/// The keynames that all elements have (section 5.3).
pub(crate) const COMMON: [ElementKeyname; 2] = [may("metadata", Any), may("description", Text)];

use KeynameContent::{
    Any, Bool, Items, List, Listed, Named, One, Text, Type, Types, Value, Values, Words,
};

const fn may(name: &'static str, holds: KeynameContent) -> ElementKeyname {
    ElementKeyname { name, field: name, mandatory: false, holds }
}

const fn must(name: &'static str, holds: KeynameContent) -> ElementKeyname {
    ElementKeyname { mandatory: true, ..may(name, holds) }
}

/// A keyname that version 1.3 has by another name.
const fn was(field: &'static str, name: &'static str, holds: KeynameContent) -> ElementKeyname {
    ElementKeyname { field, ..may(name, holds) }
}

const fn renamed(name: &'static str, new: &'static str) -> Gone {
    Gone { name, renamed: Some(new), advice: "", is_mentioned: false }
}

const fn gone(name: &'static str, advice: &'static str) -> Gone {
    Gone { name, renamed: None, advice, is_mentioned: false }
}

/// The same keyname where the text of the standard has it.
const fn mentioned(gone: Gone) -> Gone {
    Gone { is_mentioned: true, ..gone }
}

/// Defines the grammars of elements: name, kind, words, section, keynames, short forms, and what is gone.
macro_rules! entities {
    ($($name:ident $kind:ident $what:literal $section:literal [$($keyname:expr),* $(,)?] $([$($short:expr),*])? $(gone [$($gone:expr),* $(,)?])?;)*) => {
        $(pub(crate) static $name: ElementGrammar = ElementGrammar {
            kind: EntityKind::$kind,
            what: $what,
            section: $section,
            keynames: &[$($keyname),*],
            short: &[$($($short),*)?],
            gone: &[$($($gone),*)?],
        };)*
    };
}

const CONSTRAINTS: Gone =
    gone("constraints", "write one condition about `$value` under `validation`");
const STATUS: Gone = gone("status", "write it under `metadata`");
const COUNTS: &str = "say with `count` for how many relations it stands";
const BELOW_OPERATIONS: &str = "write operations under `operations`";

macro_rules! types {
    ($($name:ident $kind:ident $what:literal $section:literal [$($keyname:expr),* $(,)?] $(gone [$($gone:expr),* $(,)?])?;)*) => {
        entities! {
            $($name $kind $what $section [
                may("derived_from", Type),
                may("version", Any),
                $($keyname),*
            ] $(gone [$($gone),*])?;)*
        }
    };
}

entities! {
    FILE File "a TOSCA file" "6.1" [
        must("tosca_definitions_version", Text),
        may("dsl_definitions", Any),
        may("artifact_types", Named(&ARTIFACT_TYPE)),
        may("data_types", Named(&DATA_TYPE)),
        may("capability_types", Named(&CAPABILITY_TYPE)),
        may("interface_types", Named(&INTERFACE_TYPE)),
        may("relationship_types", Named(&RELATIONSHIP_TYPE)),
        may("node_types", Named(&NODE_TYPE)),
        may("group_types", Named(&GROUP_TYPE)),
        may("policy_types", Named(&POLICY_TYPE)),
        may("repositories", Named(&REPOSITORY)),
        may("functions", Named(&FUNCTION)),
        may("profile", Text),
        may("imports", Items(&IMPORT)),
        was("topology_template", "service_template", One(&SERVICE_TEMPLATE)),
    ] gone [
        renamed("topology_template", "service_template"),
        gone("namespace", "`profile` names the types of a file, and `namespace` of an import prefixes them"),
    ];

    REPOSITORY Repository "a repository" "6.5" [must("url", Text)] [Short::Text]
        gone [gone("credential", "credentials are given to the program that fetches")];

    IMPORT Import "an import" "6.8.1" [
        was("file", "url", Text), was("file", "profile", Text), may("repository", Text),
        was("namespace_prefix", "namespace", Text),
    ] [Short::Text] gone [
        renamed("file", "url"),
        renamed("namespace_prefix", "namespace"),
        gone("namespace_uri", "the imported file names itself with `profile`"),
    ];

    SERVICE_TEMPLATE ServiceTemplate "a service template" "6.9.1" [
        may("inputs", Named(&PARAMETER)),
        must("node_templates", Named(&NODE_TEMPLATE)),
        may("relationship_templates", Named(&RELATIONSHIP_TEMPLATE)),
        may("groups", Named(&GROUP)),
        may("workflows", Named(&WORKFLOW)),
        may("policies", Listed(&POLICY)),
        may("outputs", Named(&PARAMETER)),
        may("substitution_mappings", One(&SUBSTITUTION_MAPPING)),
        may("functions", Named(&FUNCTION)),
    ];

    NODE_TEMPLATE NodeTemplate "a node template" "7.2" [
        must("type", Type),
        may("directives", Words(&["create", "select", "substitute"])),
        may("properties", Values),
        may("attributes", Values),
        may("requirements", Listed(&REQUIREMENT_ASSIGNMENT)),
        may("capabilities", Named(&CAPABILITY_ASSIGNMENT)),
        may("interfaces", Named(&INTERFACE_ASSIGNMENT)),
        may("artifacts", Named(&ARTIFACT)),
        was("instance_count", "count", Value),
        may("node_filter", Value),
        may("copy", Text),
    ] gone [
        renamed("instance_count", "count"),
        gone("occurrences", "say with `count` how many nodes there are"),
    ];

    RELATIONSHIP_TEMPLATE RelationshipTemplate "a relationship template" "7.4" [
        must("type", Type),
        may("properties", Values),
        may("attributes", Values),
        may("interfaces", Named(&INTERFACE_ASSIGNMENT)),
        may("copy", Text),
    ];

    CAPABILITY Capability "a capability definition" "8.2" [
        must("type", Type),
        may("properties", Named(&PROPERTY)),
        may("attributes", Named(&ATTRIBUTE)),
        was("valid_source_types", "valid_source_node_types", Types),
        may("valid_relationship_types", Types),
    ] [Short::Type] gone [
        renamed("valid_source_types", "valid_source_node_types"),
        gone("occurrences", "capabilities of TOSCA 2.0 have no bounds"),
    ];

    CAPABILITY_ASSIGNMENT CapabilityAssignment "a capability assignment" "8.4" [
        may("properties", Values),
        may("attributes", Values),
        may("directives", Words(&["internal", "external"])),
    ] gone [gone("occurrences", "capabilities of TOSCA 2.0 have no bounds")];

    REQUIREMENT Requirement "a requirement definition" "8.5" [
        must("relationship", One(&REQUIREMENT_RELATIONSHIP)),
        may("node", Type),
        must("capability", Text),
        may("node_filter", Value),
        was("occurrences", "count_range", Value),
    ] gone [renamed("occurrences", "count_range")];

    REQUIREMENT_RELATIONSHIP RequirementRelationship "the relationship of a requirement definition" "8.5" [
        must("type", Type),
        may("properties", Named(&PROPERTY)),
        may("attributes", Named(&ATTRIBUTE)),
        may("interfaces", Named(&INTERFACE)),
    ] [Short::Type];

    REQUIREMENT_ASSIGNMENT RequirementAssignment "a requirement assignment" "8.7.1" [
        may("node", Value),
        may("capability", Text),
        may("relationship", One(&ASSIGNED_RELATIONSHIP)),
        may("allocation", Values),
        may("count", Value),
        may("node_filter", Value),
        may("directives", Words(&["internal", "external"])),
        may("optional", Value),
    ] [Short::Text, Short::List] gone [gone("occurrences", COUNTS)];

    ASSIGNED_RELATIONSHIP AssignedRelationship "the relationship of a requirement assignment" "8.7.1" [
        may("type", Type),
        may("properties", Values),
        may("attributes", Values),
        may("interfaces", Named(&INTERFACE_ASSIGNMENT)),
    ] [Short::Text];

    SCHEMA Schema "a schema" "9.3" [
        must("type", Type),
        may("validation", Value),
        may("key_schema", One(&SCHEMA)),
        may("entry_schema", One(&SCHEMA)),
    ] [Short::Type] gone [CONSTRAINTS];

    PROPERTY Property "a property definition" "9.3" [
        must("type", Type),
        may("required", Bool),
        may("default", Value),
        may("value", Value),
        may("validation", Value),
        may("key_schema", One(&SCHEMA)),
        may("entry_schema", One(&SCHEMA)),
    ] [Short::Value] gone [
        CONSTRAINTS, mentioned(STATUS), gone("external-schema", "write it under `metadata`"),
    ];

    ATTRIBUTE Attribute "an attribute definition" "9.5" [
        must("type", Type),
        may("default", Value),
        may("validation", Value),
        may("key_schema", One(&SCHEMA)),
        may("entry_schema", One(&SCHEMA)),
    ] gone [CONSTRAINTS, STATUS];

    PARAMETER Parameter "a parameter definition" "9.7" [
        may("type", Type),
        may("required", Bool),
        may("default", Value),
        may("value", Value),
        may("mapping", List),
        may("validation", Value),
        may("key_schema", One(&SCHEMA)),
        may("entry_schema", One(&SCHEMA)),
    ] [Short::Value] gone [CONSTRAINTS, STATUS];

    FUNCTION Function "a function definition" "10.4" [must("signatures", Items(&SIGNATURE))];

    SIGNATURE Signature "a signature" "10.4" [
        may("arguments", Items(&SCHEMA)),
        may("optional_arguments", Items(&SCHEMA)),
        may("variadic", Bool),
        may("result", One(&SCHEMA)),
        may("implementation", One(&IMPLEMENTATION)),
    ];

    INTERFACE Interface "an interface definition" "11.2" [
        must("type", Type),
        may("inputs", Named(&PARAMETER)),
        may("operations", Named(&OPERATION)),
        may("notifications", Named(&NOTIFICATION)),
    ];

    INTERFACE_ASSIGNMENT InterfaceAssignment "an interface assignment" "11.3" [
        may("inputs", Values),
        may("operations", Named(&OPERATION_ASSIGNMENT)),
        may("notifications", Named(&NOTIFICATION_ASSIGNMENT)),
    ];

    OPERATION Operation "an operation definition" "11.4" [
        may("implementation", One(&IMPLEMENTATION)),
        may("inputs", Named(&PARAMETER)),
        may("outputs", Any),
    ] [Short::Text];

    OPERATION_ASSIGNMENT OperationAssignment "an operation assignment" "11.5" [
        may("implementation", One(&IMPLEMENTATION)),
        may("inputs", Values),
        may("outputs", Any),
    ] [Short::Text];

    NOTIFICATION Notification "a notification definition" "11.6" [
        may("implementation", One(&IMPLEMENTATION)),
        may("inputs", Named(&PARAMETER)),
        may("outputs", Any),
    ] [Short::Text];

    NOTIFICATION_ASSIGNMENT NotificationAssignment "a notification assignment" "11.7" [
        may("implementation", One(&IMPLEMENTATION)),
        may("inputs", Values),
        may("outputs", Any),
    ] [Short::Text];

    IMPLEMENTATION Implementation "an implementation" "11.8" [
        may("primary", One(&ARTIFACT)), may("dependencies", Items(&ARTIFACT)),
    ] [Short::Text] gone [
        gone("timeout", "write it under `metadata`"),
        gone("operation_host", "an operation of TOSCA 2.0 does not say where it runs"),
    ];

    ARTIFACT Artifact "an artifact definition" "12.2" [
        must("type", Type),
        must("file", Text),
        may("repository", Text),
        may("artifact_version", Any),
        may("checksum", Text),
        may("checksum_algorithm", Text),
        may("properties", Values),
    ] [Short::Text] gone [
        mentioned(renamed("version", "artifact_version")),
        gone("deploy_path", "write it as a property of its type"),
    ];

    WORKFLOW Workflow "a workflow" "13.2" [
        may("inputs", Named(&PARAMETER)),
        may("precondition", Value),
        may("steps", Named(&STEP)),
        may("implementation", One(&IMPLEMENTATION)),
        may("outputs", Any),
    ] gone [gone("preconditions", "write one expression under `precondition`")];

    STEP Step "a step" "13.2.2" [
        must("target", Value),
        may("target_relationship", Text),
        may("filter", List),
        must("activities", Items(&ACTIVITY)),
        may("on_success", List),
        may("on_failure", List),
    ] gone [gone("operation_host", "a step of TOSCA 2.0 does not say where it runs")];

    ACTIVITY Activity "an activity" "13.2.3" [
        may("delegate", One(&WORKFLOW_CALL)),
        may("set_state", Text),
        may("call_operation", One(&OPERATION_CALL)),
        may("inline", One(&WORKFLOW_CALL)),
        may("workflow", Text),
        may("operation", Text),
        may("inputs", Values),
    ];

    WORKFLOW_CALL WorkflowCall "the call of a workflow" "13.2.3" [
        may("workflow", Text), may("inputs", Values),
    ] [Short::Text];

    OPERATION_CALL OperationCall "the call of an operation" "13.2.3.3" [
        may("operation", Text), may("inputs", Values),
    ] [Short::Text];

    SUBSTITUTION_MAPPING SubstitutionMapping "a substitution mapping" "15.1" [
        must("node_type", Type),
        may("substitution_filter", Value),
        may("properties", Any),
        may("attributes", Any),
        may("capabilities", Any),
        may("requirements", List),
        may("interfaces", Any),
    ];

    GROUP Group "a group" "16.2" [
        must("type", Type),
        may("properties", Values),
        may("attributes", Values),
        may("members", List),
    ] gone [gone("interfaces", "groups of TOSCA 2.0 have none")];

    POLICY Policy "a policy" "16.4" [
        must("type", Type),
        may("properties", Values),
        may("targets", List),
        may("triggers", Named(&TRIGGER)),
    ];

    TRIGGER Trigger "a trigger" "16.5" [
        must("event", Text),
        may("condition", Value),
        must("action", Items(&ACTIVITY)),
    ] gone [
        gone("schedule", "say when it applies in the `condition`"),
        gone("target_filter", "name what it is about in the `condition`"),
    ];
}

types! {
    NODE_TYPE NodeType "a node type" "7.1" [
        may("properties", Named(&PROPERTY)),
        may("attributes", Named(&ATTRIBUTE)),
        may("capabilities", Named(&CAPABILITY)),
        may("requirements", Listed(&REQUIREMENT)),
        may("interfaces", Named(&INTERFACE)),
        may("artifacts", Named(&ARTIFACT)),
    ];

    RELATIONSHIP_TYPE RelationshipType "a relationship type" "7.3" [
        may("properties", Named(&PROPERTY)),
        may("attributes", Named(&ATTRIBUTE)),
        may("interfaces", Named(&INTERFACE)),
        was("valid_target_types", "valid_capability_types", Types),
        may("valid_target_node_types", Types),
        may("valid_source_node_types", Types),
    ] gone [renamed("valid_target_types", "valid_capability_types")];

    CAPABILITY_TYPE CapabilityType "a capability type" "8.1" [
        may("properties", Named(&PROPERTY)),
        may("attributes", Named(&ATTRIBUTE)),
        was("valid_source_types", "valid_source_node_types", Types),
        may("valid_relationship_types", Types),
    ] gone [renamed("valid_source_types", "valid_source_node_types")];

    DATA_TYPE DataType "a data type" "9.2" [
        may("validation", Value),
        may("properties", Named(&PROPERTY)),
        may("key_schema", One(&SCHEMA)),
        may("entry_schema", One(&SCHEMA)),
        may("data_value_type", Type),
        may("unit_suffix", Text),
        may("unit_symbol_map", Any),
        may("data_type", Type),
        may("units", Any),
        may("canonical_unit", Text),
        may("prefixes", Any),
    ] gone [CONSTRAINTS];

    INTERFACE_TYPE InterfaceType "an interface type" "11.1" [
        may("inputs", Named(&PARAMETER)),
        may("operations", Named(&OPERATION)),
        may("notifications", Named(&NOTIFICATION)),
    ];

    ARTIFACT_TYPE ArtifactType "an artifact type" "12.1" [
        may("mime_type", Text),
        may("file_ext", List),
        may("properties", Named(&PROPERTY)),
    ];

    GROUP_TYPE GroupType "a group type" "16.1" [
        may("properties", Named(&PROPERTY)),
        may("attributes", Named(&ATTRIBUTE)),
        may("members", Types),
    ] gone [
        gone("requirements", "group types of TOSCA 2.0 have none"),
        gone("capabilities", "group types of TOSCA 2.0 have none"),
        gone("interfaces", "group types of TOSCA 2.0 have none"),
    ];

    POLICY_TYPE PolicyType "a policy type" "16.3" [
        may("properties", Named(&PROPERTY)),
        may("targets", List),
        may("triggers", Named(&TRIGGER)),
    ];
}

impl ElementGrammar {
    /// All keynames, those that all elements have last.
    pub(crate) fn all(&self) -> impl Iterator<Item = &ElementKeyname> {
        self.keynames.iter().chain(&COMMON)
    }

    /// The keyname of this name.
    pub(crate) fn keyname(&self, name: &str) -> Option<&ElementKeyname> {
        self.keynames.iter().chain(&COMMON).find(|keyname| keyname.name == name)
    }

    /// The keyname that version 1.3 calls so.
    pub(crate) fn keyname_of_1_3(&self, field: &str) -> Option<&ElementKeyname> {
        self.keynames.iter().chain(&COMMON).find(|keyname| keyname.field == field)
    }

    /// The names of all keynames.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        self.keynames.iter().chain(&COMMON).map(|keyname| keyname.name)
    }

    /// The keyname of version 1.3 that version 2.0 lacks here. Where interfaces hold operations,
    /// version 1.3 has them beside the keynames, by names of their own.
    pub(crate) fn gone(&self, name: &str) -> Option<&Gone> {
        self.gone.iter().find(|gone| gone.name == name)
    }

    /// Whether a node is a value instead of a definition, which some elements take in short.
    /// `is_word` knows the words that an extension adds.
    pub(crate) fn takes_value(&self, node: Node<'_>, is_word: &dyn Fn(&str) -> bool) -> bool {
        let is_keyname = |(key, _): (Node<'_>, Node<'_>)| {
            key.text().is_some_and(|name| {
                self.keyname(name).is_some() || self.is_meant(name) || is_word(name)
            })
        };
        self.short.contains(&Short::Value) && !node.entries().any(is_keyname)
    }

    /// Whether a key that is no keyname was probably meant to be one: version 1.3 has it, or it is
    /// similar to one.
    pub(super) fn is_meant(&self, name: &str) -> bool {
        self.gone(name).is_some() || closest(name, self.names()).is_some()
    }

    /// The error for a key that is no keyname.
    pub(crate) fn unknown(&self, key: Node<'_>, name: &str) -> Diagnostic {
        let error = |message| {
            let error = Diagnostic::error(Code::UnknownKeyword, message).at(key.span());
            error.rule(Rule::new(&TOSCA_2_0, self.section))
        };
        let Some(gone) = self.gone(name) else {
            let known = || format!("known are {}", self.names().collect::<Vec<_>>().join(", "));
            let meant = did_you_mean(name, self.names()).or_else(|| self.advice().map(Into::into));
            return error(format!("`{name}` is not a keyname of {}", self.what))
                .help(meant.unwrap_or_else(|| known().into()));
        };
        let advice = match gone.renamed {
            Some(new) => Advice::from(format!("TOSCA 2.0 calls it `{new}`")).instead(name, new),
            None => gone.advice.into(),
        };
        let message =
            format!("`{name}` is a keyname of {} in TOSCA 1.3, not in TOSCA 2.0", self.what);
        let found = error(message).help(advice);
        if gone.is_mentioned { found.with_severity(Severity::Warning) } else { found }
    }

    /// What to do with a key that is no keyname and whose name says nothing.
    pub(crate) fn advice(&self) -> Option<&'static str> {
        self.names().any(|name| name == "operations").then_some(BELOW_OPERATIONS)
    }
}

/// The fields of the tree that TOSCA 2.0 has, each with the keynames that it stands for.
static FIELDS: LazyLock<BTreeMap<&str, BTreeSet<&str>>> = LazyLock::new(|| {
    let mut fields: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    let (mut open, mut seen) = (vec![&FILE], FxHashSet::default());
    while let Some(entity) = open.pop() {
        if !seen.insert(entity.kind) {
            continue;
        }
        for keyname in entity.keynames.iter().chain(&COMMON) {
            fields.entry(keyname.field).or_default().insert(keyname.name);
            open.extend(keyname.holds.element());
        }
    }
    fields
});

/// Whether any element of TOSCA 2.0 has a keyname that the tree calls so.
pub(crate) fn has_field(name: &str) -> bool {
    FIELDS.contains_key(name)
}

/// The fields that always stand for one keyname of another name, with that.
pub(crate) fn renamed_fields() -> impl Iterator<Item = (&'static str, &'static str)> {
    let only = FIELDS.iter().filter(|(_, names)| names.len() == 1);
    let pairs = only.filter_map(|(field, names)| Some((*field, *names.first()?)));
    pairs.filter(|(field, name)| field != name)
}

impl KeynameContent {
    /// The element that stands below, once or several times.
    pub(crate) fn element(&self) -> Option<&'static ElementGrammar> {
        match self {
            One(below) | Named(below) | Listed(below) | Items(below) => Some(below),
            _ => None,
        }
    }
}
