//! Says what may stand where in a file: which keynames a map has, and which names are defined or
//! named by what is in it. Completing and following names read this one table.

use crate::tosca::shape::{self, STATUS, Shape, Vocabulary};
use crate::tosca::v2_0::grammar::ElementGrammar;
use crate::tosca::{Family, v2_0};
use crate::variability::inputs::FeatureKeyword;
use crate::variability::template::shape as variable;
use cuvee_text::yaml::Node;

/// What a name is a name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum NameFamily {
    Type(Family),
    Node,
    Relationship,
    Group,
    Policy,
    Input,
    Output,
    Workflow,
    Repository,
    VariabilityInput,
    Preset,
    Expression,
    /// A part that the type of the element around it has.
    Member(MemberKind),
}

/// A part of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum MemberKind {
    Property,
    Attribute,
    Capability,
    Requirement,
    Interface,
    /// An operation or a notification.
    Operation,
    Artifact,
}

impl NameFamily {
    /// The word for what has such a name.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Type(family) => family.noun(),
            Self::Node => "node template",
            Self::Relationship => "relationship template",
            Self::Group => "group",
            Self::Policy => "policy",
            Self::Input => "input",
            Self::Output => "output",
            Self::Workflow => "workflow",
            Self::Repository => "repository",
            Self::VariabilityInput => "variability input",
            Self::Preset => "preset",
            Self::Expression => "expression",
            Self::Member(kind) => kind.noun(),
        }
    }
}

impl MemberKind {
    /// The word for such a part.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Property => "property",
            Self::Attribute => "attribute",
            Self::Capability => "capability",
            Self::Requirement => "requirement",
            Self::Interface => "interface",
            Self::Operation => "operation",
            Self::Artifact => "artifact",
        }
    }
}

/// What a file is for that is named by its path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilePurpose {
    /// A service template.
    Import,
    /// Any file.
    Artifact,
}

/// What the parts belong to that a node names, where that is not the element around it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamedSubject {
    /// The target of the requirement around it.
    Target,
    /// The capability of the target that the requirement around it leads to.
    TargetCapability,
    /// The `target` of the map around it.
    StepNode,
    /// The same, or its relationship for `target_relationship`.
    Step,
    /// The node or node type that the map around it calls `node`.
    SaidNode,
    /// The same, or the target of its `requirement`.
    FilteredTarget,
    /// What the trigger around it looks at.
    Trigger,
}

/// What a node holds.
#[derive(Clone, Copy)]
pub(crate) enum HeldContent {
    /// A map with keynames.
    Map(&'static MapGrammar),
    /// A map with names for keys, or a list of maps with one entry each. The keys define names.
    Defined(NameFamily, &'static HeldContent),
    /// The same, but the keys are names that are defined elsewhere.
    Named(&'static [NameFamily], &'static HeldContent),
    /// A list, or its only item.
    List(&'static HeldContent),
    /// A name that is defined elsewhere; also in a list before the name of a part.
    Name(&'static [NameFamily]),
    /// The same, or a map that says more.
    NameOr(&'static [NameFamily], &'static HeldContent),
    /// A name, or alternatives of it.
    Alternatives(&'static [NameFamily], &'static MapGrammar),
    /// A variability condition or expression.
    Condition,
    /// The same, or a value that names nothing.
    Default,
    /// A value, in which functions may name inputs.
    Value,
    /// A value that is assigned; or a map that says more, as variability lets lists of them say.
    Assigned,
    /// A value, or the definition of a parameter, which names a type.
    Parameter(&'static MapGrammar),
    /// The names of the outputs of an operation or a workflow, each with a path to an attribute.
    Outputs,
    /// A path to an attribute.
    Path,
    /// Clauses that values fulfil.
    Constraints,
    /// A node filter.
    Filter,
    /// A condition of a workflow or a policy, over attributes.
    Assertions,
    /// The condition of a trigger: the same, or a map that says more.
    TriggerCondition,
    /// An operation as activities call it, or a map that says more.
    CalledOperation,
    /// An event: a notification behind its interface, or any text.
    Event,
    /// What implements an operation: an artifact, a file, or a map that says more.
    Implementation,
    /// The same, or the definition of an operation.
    Operation(&'static MapGrammar),
    /// What a part of a type is mapped to: such a part of a node, or one of these.
    Mapped(MemberKind, &'static [NameFamily]),
    /// What an interface is mapped to.
    MappedInterface,
    /// The same content, in which parts of something else are named.
    About(NamedSubject, &'static HeldContent),
    /// The path of a file, or a map that says more.
    FileOr(FilePurpose, &'static MapGrammar),
    /// The path of a file.
    File(FilePurpose),
    /// One of these words.
    Words(&'static [&'static str]),
    /// True or false.
    Truth,
    /// Technology rules: a list, or lists by technologies.
    Rules,
    /// Options of variability.
    Options,
    /// The version of the definitions.
    Version,
    /// Texts and values that name nothing.
    Plain,
    /// Nothing is known of it.
    Any,
}

/// A map with keynames.
pub(crate) struct MapGrammar {
    /// The keynames.
    pub keys: MapKeys,
    /// The family of the type that the map has, if it is an element with a type.
    pub typed: Option<Family>,
    /// The family of the type that the map defines, if it defines one.
    pub defines: Option<Family>,
    /// Whether the map says which values something takes.
    pub is_schema: bool,
    /// What other keys than keynames are, where they are something.
    others: Option<HeldContent>,
    /// What is below them, where something is known of it.
    below: &'static [(&'static str, HeldContent)],
}

/// The keynames of a map.
pub(crate) enum MapKeys {
    /// Those of a shape.
    Of(&'static Shape),
    /// Those of a vocabulary, of which plain templates have only the keynames of TOSCA.
    Words(&'static Vocabulary),
    /// Those of an element that only TOSCA 2.0 has.
    Element(&'static ElementGrammar),
    /// Those of variability inputs.
    Inputs,
    /// Those of variability presets.
    Presets,
}

impl MapGrammar {
    /// What is below a keyname.
    pub(crate) fn below(&self, key: &str) -> HeldContent {
        if matches!(self.keys, MapKeys::Inputs) && FeatureKeyword::from_keyword(key).is_some() {
            return List(&Name(&[NameFamily::VariabilityInput]));
        }
        let known = self.below.iter().chain(self.common()).find(|(name, _)| *name == key);
        let plain = || if self.has(key) { HeldContent::Plain } else { HeldContent::Any };
        known.map_or_else(plain, |&(_, content)| content)
    }

    /// Whether a map has this keyname.
    pub(crate) fn has(&self, key: &str) -> bool {
        match &self.keys {
            MapKeys::Of(shape) => shape.has(key),
            MapKeys::Words(vocabulary) => vocabulary.has(key),
            MapKeys::Element(element) => element.keyname_of_1_3(key).is_some(),
            MapKeys::Inputs => crate::variability::inputs::input_keywords().any(|it| it == key),
            MapKeys::Presets => crate::variability::inputs::preset_keywords().any(|it| it == key),
        }
    }

    /// What the keys of a map are that are no keynames. Operations are among keynames only where
    /// the map has no place of their own for them (section 3.6.20.3).
    pub(crate) fn others(&self, node: Node<'_>) -> Option<HeldContent> {
        let is_grouped = || ["operations", "notifications"].iter().any(|it| node.get(it).is_some());
        self.others.filter(|_| !is_grouped())
    }

    /// What is below the words of conditional elements.
    fn common(&self) -> &'static [(&'static str, HeldContent)] {
        match self.keys {
            MapKeys::Words(_) => COMMON,
            MapKeys::Of(_) | MapKeys::Element(_) | MapKeys::Inputs | MapKeys::Presets => &[],
        }
    }

    /// The same, for an element that has a type of this family.
    const fn typed_as(self, family: Family) -> Self {
        Self { typed: Some(family), ..self }
    }

    /// The same, for the definition of a type of this family.
    const fn defining(self, family: Family) -> Self {
        Self { defines: Some(family), ..self }
    }

    /// The same, for a map that says which values something takes.
    const fn of_values(self) -> Self {
        Self { is_schema: true, ..self }
    }

    /// The same, with other keys beside keynames.
    const fn with_others(self, others: HeldContent) -> Self {
        Self { others: Some(others), ..self }
    }

    /// The keynames that a map has.
    pub(crate) fn names(&self, is_plain: bool) -> Vec<&'static str> {
        match &self.keys {
            MapKeys::Of(shape) => shape.names().collect(),
            MapKeys::Words(vocabulary) if is_plain => vocabulary.of_tosca().names().collect(),
            MapKeys::Words(vocabulary) => vocabulary.names().collect(),
            MapKeys::Element(element) => element.names().collect(),
            MapKeys::Inputs => crate::variability::inputs::input_keywords().collect(),
            MapKeys::Presets => crate::variability::inputs::preset_keywords().collect(),
        }
    }
}

const COMMON: &[(&str, HeldContent)] = &[
    ("conditions", HeldContent::Condition),
    ("implies", HeldContent::List(&HeldContent::Condition)),
    ("default_alternative", HeldContent::Truth),
    ("default_condition", HeldContent::Truth),
    ("default_consistency_condition", HeldContent::Truth),
    ("default_semantic_condition", HeldContent::Truth),
    ("pruning", HeldContent::Truth),
    ("consistency_pruning", HeldContent::Truth),
    ("semantic_pruning", HeldContent::Truth),
    ("persistent", HeldContent::Truth),
    ("managed", HeldContent::Truth),
    ("expression", HeldContent::Condition),
];

const fn grammar(keys: MapKeys, below: &'static [(&'static str, HeldContent)]) -> MapGrammar {
    MapGrammar { keys, typed: None, defines: None, is_schema: false, others: None, below }
}

const fn of(shape: &'static Shape, below: &'static [(&'static str, HeldContent)]) -> MapGrammar {
    grammar(MapKeys::Of(shape), below)
}

const fn with(
    words: &'static Vocabulary,
    below: &'static [(&'static str, HeldContent)],
) -> MapGrammar {
    grammar(MapKeys::Words(words), below)
}

use HeldContent::{
    About, Alternatives, Any, Defined, List, Map, Name, NameOr, Named, Truth, Value, Words,
};
use NameFamily::Member;

const DATA: &[NameFamily] = &[NameFamily::Type(Family::Data)];
const ARTIFACTS: &[NameFamily] = &[NameFamily::Type(Family::Artifact)];
const CAPABILITIES: &[NameFamily] = &[NameFamily::Type(Family::Capability)];
const RELATIONSHIPS: &[NameFamily] = &[NameFamily::Type(Family::Relationship)];
const INTERFACES: &[NameFamily] = &[NameFamily::Type(Family::Interface)];
const NODES: &[NameFamily] = &[NameFamily::Type(Family::Node)];
const GROUPS: &[NameFamily] = &[NameFamily::Type(Family::Group)];
const POLICIES: &[NameFamily] = &[NameFamily::Type(Family::Policy)];
pub(crate) const NODE_TEMPLATES: &[NameFamily] = &[NameFamily::Node];

/// The file as a whole.
pub(crate) static SERVICE: MapGrammar = with(
    &variable::SERVICE,
    &[
        ("tosca_definitions_version", HeldContent::Version),
        ("imports", List(&HeldContent::FileOr(FilePurpose::Import, &IMPORT))),
        ("repositories", Defined(NameFamily::Repository, &Map(&REPOSITORY))),
        ("data_types", Defined(NameFamily::Type(Family::Data), &Map(&DATA_TYPE))),
        ("artifact_types", Defined(NameFamily::Type(Family::Artifact), &Map(&ARTIFACT_TYPE))),
        ("capability_types", Defined(NameFamily::Type(Family::Capability), &Map(&CAPABILITY_TYPE))),
        (
            "relationship_types",
            Defined(NameFamily::Type(Family::Relationship), &Map(&RELATIONSHIP_TYPE)),
        ),
        ("interface_types", Defined(NameFamily::Type(Family::Interface), &Map(&INTERFACE_TYPE))),
        ("node_types", Defined(NameFamily::Type(Family::Node), &Map(&NODE_TYPE))),
        ("group_types", Defined(NameFamily::Type(Family::Group), &Map(&GROUP_TYPE))),
        ("policy_types", Defined(NameFamily::Type(Family::Policy), &Map(&POLICY_TYPE))),
        ("functions", FUNCTIONS),
        ("topology_template", Map(&TOPOLOGY)),
    ],
);

static IMPORT: MapGrammar = with(
    &variable::IMPORT,
    &[
        ("file", HeldContent::File(FilePurpose::Import)),
        ("repository", Name(&[NameFamily::Repository])),
    ],
);
static REPOSITORY: MapGrammar = of(&shape::REPOSITORY, &[]);

const PROPERTY_NAMES: &[NameFamily] = &[Member(MemberKind::Property)];
const ATTRIBUTE_NAMES: &[NameFamily] = &[Member(MemberKind::Attribute)];
const REQUIREMENT_NAMES: &[NameFamily] = &[Member(MemberKind::Requirement)];
const CAPABILITY_NAMES: &[NameFamily] = &[Member(MemberKind::Capability)];
const OPERATION_NAMES: &[NameFamily] = &[Member(MemberKind::Operation)];
const ARTIFACT_NAMES: &[NameFamily] = &[Member(MemberKind::Artifact)];
/// A capability, or all of a type.
const SOME_CAPABILITIES: &[NameFamily] =
    &[Member(MemberKind::Capability), NameFamily::Type(Family::Capability)];
/// An interface, or the one of a type.
const SOME_INTERFACES: &[NameFamily] =
    &[Member(MemberKind::Interface), NameFamily::Type(Family::Interface)];

const OWN_PROPERTIES: HeldContent = Defined(Member(MemberKind::Property), &Map(&PROPERTY));
const OWN_ATTRIBUTES: HeldContent = Defined(Member(MemberKind::Attribute), &Map(&ATTRIBUTE));
const OWN_INTERFACES: HeldContent = Defined(Member(MemberKind::Interface), &Map(&OWN_INTERFACE));
const OWN_OPERATIONS: HeldContent =
    Defined(Member(MemberKind::Operation), &HeldContent::Operation(&OPERATION));
const OWN_NOTIFICATIONS: HeldContent =
    Defined(Member(MemberKind::Operation), &HeldContent::Operation(&NOTIFICATION));
/// Inputs, which types define and templates define or give values.
const OWN_INPUTS: HeldContent = Named(&[], &Map(&PROPERTY));
const INPUTS: HeldContent = Named(&[], &HeldContent::Parameter(&PROPERTY));
const INTERFACE_ASSIGNMENTS: HeldContent = Named(SOME_INTERFACES, &Map(&INTERFACE));
const OPERATIONS: HeldContent = Named(OPERATION_NAMES, &HeldContent::Operation(&OPERATION));
const NOTIFICATIONS: HeldContent = Named(OPERATION_NAMES, &HeldContent::Operation(&NOTIFICATION));
const ARTIFACT_BODY: HeldContent = HeldContent::FileOr(FilePurpose::Artifact, &ARTIFACT);

static PROPERTY: MapGrammar = of(&shape::PROPERTY, &OF_PROPERTY).of_values();
static ATTRIBUTE: MapGrammar = of(&shape::ATTRIBUTE, &OF_PROPERTY).of_values();
static SCHEMA: MapGrammar = of(&shape::SCHEMA, &OF_PROPERTY).of_values();
static OF_PROPERTY: [(&str, HeldContent); 10] = [
    ("type", Name(DATA)),
    ("required", Truth),
    ("status", Words(&STATUS)),
    ("default", Value),
    ("value", Value),
    ("constraints", HeldContent::Constraints),
    ("validation", Value),
    ("key_schema", NameOr(DATA, &Map(&SCHEMA))),
    ("entry_schema", NameOr(DATA, &Map(&SCHEMA))),
    ("mapping", HeldContent::Path),
];

/// An interface that a type has.
static OWN_INTERFACE: MapGrammar = of(
    &shape::INTERFACE,
    &[
        ("type", Name(INTERFACES)),
        ("inputs", OWN_INPUTS),
        ("operations", OWN_OPERATIONS),
        ("notifications", OWN_NOTIFICATIONS),
    ],
)
.with_others(OWN_OPERATIONS);
static INTERFACE: MapGrammar = of(
    &shape::INTERFACE,
    &[
        ("type", Name(INTERFACES)),
        ("inputs", INPUTS),
        ("operations", OPERATIONS),
        ("notifications", NOTIFICATIONS),
    ],
)
.with_others(OPERATIONS);
static OPERATION: MapGrammar = of(
    &shape::OPERATION,
    &[
        ("inputs", INPUTS),
        ("implementation", HeldContent::Implementation),
        ("outputs", HeldContent::Outputs),
    ],
);
static NOTIFICATION: MapGrammar = of(
    &shape::NOTIFICATION,
    &[
        ("inputs", INPUTS),
        ("implementation", HeldContent::Implementation),
        ("outputs", HeldContent::Outputs),
    ],
);
pub(crate) static IMPLEMENTATION: MapGrammar = of(
    &shape::IMPLEMENTATION,
    &[
        ("primary", HeldContent::Implementation),
        ("dependencies", List(&HeldContent::Implementation)),
    ],
);

static DATA_TYPE: MapGrammar = of(
    shape::of_type(Family::Data),
    &[
        ("derived_from", Name(DATA)),
        ("properties", OWN_PROPERTIES),
        ("constraints", HeldContent::Constraints),
        ("validation", Value),
        ("key_schema", NameOr(DATA, &Map(&SCHEMA))),
        ("entry_schema", NameOr(DATA, &Map(&SCHEMA))),
        ("data_type", Name(DATA)),
        ("data_value_type", Name(DATA)),
    ],
)
.defining(Family::Data);
static ARTIFACT_TYPE: MapGrammar = of(
    shape::of_type(Family::Artifact),
    &[("derived_from", Name(ARTIFACTS)), ("properties", OWN_PROPERTIES)],
)
.defining(Family::Artifact);
static CAPABILITY_TYPE: MapGrammar = of(
    shape::of_type(Family::Capability),
    &[
        ("derived_from", Name(CAPABILITIES)),
        ("properties", OWN_PROPERTIES),
        ("attributes", OWN_ATTRIBUTES),
        ("valid_source_types", List(&Name(NODES))),
        ("valid_relationship_types", List(&Name(RELATIONSHIPS))),
    ],
)
.defining(Family::Capability);
static RELATIONSHIP_TYPE: MapGrammar = of(
    shape::of_type(Family::Relationship),
    &[
        ("derived_from", Name(RELATIONSHIPS)),
        ("properties", OWN_PROPERTIES),
        ("attributes", OWN_ATTRIBUTES),
        ("interfaces", OWN_INTERFACES),
        (
            "valid_target_types",
            List(&Name(&[NameFamily::Type(Family::Capability), NameFamily::Type(Family::Node)])),
        ),
        ("valid_target_node_types", List(&Name(NODES))),
        ("valid_source_node_types", List(&Name(NODES))),
    ],
)
.defining(Family::Relationship);
static INTERFACE_TYPE: MapGrammar = of(
    shape::of_type(Family::Interface),
    &[
        ("derived_from", Name(INTERFACES)),
        ("inputs", OWN_INPUTS),
        ("operations", OWN_OPERATIONS),
        ("notifications", OWN_NOTIFICATIONS),
    ],
)
.with_others(OWN_OPERATIONS)
.defining(Family::Interface);
static NODE_TYPE: MapGrammar = of(
    shape::of_type(Family::Node),
    &[
        ("derived_from", Name(NODES)),
        ("properties", OWN_PROPERTIES),
        ("attributes", OWN_ATTRIBUTES),
        ("capabilities", CAPABILITY_DEFINITIONS),
        ("requirements", REQUIREMENT_DEFINITIONS),
        ("interfaces", OWN_INTERFACES),
        ("artifacts", Defined(Member(MemberKind::Artifact), &ARTIFACT_BODY)),
    ],
)
.defining(Family::Node);
static GROUP_TYPE: MapGrammar = of(
    shape::of_type(Family::Group),
    &[
        ("derived_from", Name(GROUPS)),
        ("properties", OWN_PROPERTIES),
        ("attributes", OWN_ATTRIBUTES),
        ("members", List(&Name(NODES))),
        ("capabilities", CAPABILITY_DEFINITIONS),
        ("requirements", REQUIREMENT_DEFINITIONS),
        ("interfaces", OWN_INTERFACES),
    ],
)
.defining(Family::Group);
static POLICY_TYPE: MapGrammar = of(
    shape::of_type(Family::Policy),
    &[
        ("derived_from", Name(POLICIES)),
        ("properties", OWN_PROPERTIES),
        (
            "targets",
            List(&Name(&[NameFamily::Type(Family::Node), NameFamily::Type(Family::Group)])),
        ),
        ("triggers", TRIGGERS),
    ],
)
.defining(Family::Policy);

const CAPABILITY_DEFINITIONS: HeldContent =
    Defined(Member(MemberKind::Capability), &NameOr(CAPABILITIES, &Map(&CAPABILITY)));
static CAPABILITY: MapGrammar = of(
    &shape::CAPABILITY,
    &[
        ("type", Name(CAPABILITIES)),
        ("properties", OWN_PROPERTIES),
        ("attributes", OWN_ATTRIBUTES),
        ("valid_source_types", List(&Name(NODES))),
        ("valid_relationship_types", List(&Name(RELATIONSHIPS))),
    ],
);
const REQUIREMENT_DEFINITIONS: HeldContent =
    Defined(Member(MemberKind::Requirement), &NameOr(CAPABILITIES, &Map(&REQUIREMENT_DEFINITION)));
static REQUIREMENT_DEFINITION: MapGrammar = of(
    &shape::REQUIREMENT,
    &[
        ("capability", About(NamedSubject::SaidNode, &Name(SOME_CAPABILITIES))),
        ("node", Name(NODES)),
        ("relationship", NameOr(RELATIONSHIPS, &Map(&REQUIREMENT_RELATIONSHIP))),
        ("node_filter", TARGET_FILTER),
        ("occurrences", Value),
    ],
);
static REQUIREMENT_RELATIONSHIP: MapGrammar = of(
    &shape::REQUIREMENT_RELATIONSHIP,
    &[
        ("type", Name(RELATIONSHIPS)),
        ("properties", OWN_PROPERTIES),
        ("attributes", OWN_ATTRIBUTES),
        ("interfaces", INTERFACE_ASSIGNMENTS),
    ],
)
.typed_as(Family::Relationship);
const TARGET_FILTER: HeldContent = About(NamedSubject::Target, &HeldContent::Filter);

static TOPOLOGY: MapGrammar = with(
    &variable::TOPOLOGY,
    &[
        ("inputs", Defined(NameFamily::Input, &Map(&PARAMETER))),
        ("node_templates", Defined(NameFamily::Node, &Map(&NODE))),
        ("relationship_templates", Defined(NameFamily::Relationship, &Map(&RELATIONSHIP))),
        ("groups", Defined(NameFamily::Group, &Map(&GROUP))),
        ("policies", Defined(NameFamily::Policy, &Map(&POLICY))),
        ("outputs", Defined(NameFamily::Output, &Map(&PARAMETER))),
        ("substitution_mappings", Map(&SUBSTITUTION)),
        ("workflows", Defined(NameFamily::Workflow, &Map(&WORKFLOW))),
        ("functions", FUNCTIONS),
        ("variability", Map(&VARIABILITY)),
    ],
);
/// Functions, which only TOSCA 2.0 lets files declare.
const FUNCTIONS: HeldContent = Named(&[], &Map(&FUNCTION));
static FUNCTION: MapGrammar =
    grammar(MapKeys::Element(&v2_0::grammar::FUNCTION), &[("signatures", List(&Map(&SIGNATURE)))]);
static SIGNATURE: MapGrammar = grammar(
    MapKeys::Element(&v2_0::grammar::SIGNATURE),
    &[
        ("arguments", List(&NameOr(DATA, &Map(&SCHEMA)))),
        ("optional_arguments", List(&NameOr(DATA, &Map(&SCHEMA)))),
        ("variadic", Truth),
        ("result", NameOr(DATA, &Map(&SCHEMA))),
        ("implementation", HeldContent::Implementation),
    ],
);
static PARAMETER: MapGrammar = with(&variable::PARAMETER, &OF_PROPERTY).of_values();
static SUBSTITUTION: MapGrammar = of(
    &shape::SUBSTITUTION,
    &[
        ("node_type", Name(NODES)),
        ("substitution_filter", HeldContent::Filter),
        ("properties", Named(PROPERTY_NAMES, &MAPPED_PROPERTY)),
        ("attributes", Named(ATTRIBUTE_NAMES, &MAPPED_ATTRIBUTE)),
        ("capabilities", Named(CAPABILITY_NAMES, &MAPPED_CAPABILITY)),
        ("requirements", Named(REQUIREMENT_NAMES, &MAPPED_REQUIREMENT)),
        ("interfaces", Named(SOME_INTERFACES, &HeldContent::MappedInterface)),
    ],
)
.typed_as(Family::Node);
// The first of two names is that of a node.
const MAPPED_PROPERTY: HeldContent = HeldContent::Mapped(
    MemberKind::Property,
    &[NameFamily::Input, NameFamily::VariabilityInput, NameFamily::Node],
);
const MAPPED_ATTRIBUTE: HeldContent =
    HeldContent::Mapped(MemberKind::Attribute, &[NameFamily::Output, NameFamily::Node]);
const MAPPED_CAPABILITY: HeldContent = HeldContent::Mapped(MemberKind::Capability, NODE_TEMPLATES);
/// A node or, in TOSCA 2.0, a group.
const MEMBER: HeldContent =
    HeldContent::Mapped(MemberKind::Requirement, &[NameFamily::Node, NameFamily::Group]);
const MAPPED_REQUIREMENT: HeldContent =
    HeldContent::Mapped(MemberKind::Requirement, NODE_TEMPLATES);
static PROPERTY_MAPPING: MapGrammar =
    of(&shape::PROPERTY_MAPPING, &[("mapping", MAPPED_PROPERTY), ("value", Value)]);
static ATTRIBUTE_MAPPING: MapGrammar =
    of(&shape::ATTRIBUTE_MAPPING, &[("mapping", MAPPED_ATTRIBUTE)]);
static CAPABILITY_MAPPING: MapGrammar =
    of(&shape::CAPABILITY_MAPPING, &[("mapping", MAPPED_CAPABILITY), VALUES[0], VALUES[1]]);
static REQUIREMENT_MAPPING: MapGrammar =
    of(&shape::REQUIREMENT_MAPPING, &[("mapping", MAPPED_REQUIREMENT), VALUES[0], VALUES[1]]);

impl MemberKind {
    /// A name of such a part.
    pub(crate) fn names(self) -> &'static [NameFamily] {
        match self {
            Self::Property => PROPERTY_NAMES,
            Self::Attribute => ATTRIBUTE_NAMES,
            Self::Capability => CAPABILITY_NAMES,
            Self::Requirement => REQUIREMENT_NAMES,
            Self::Interface => SOME_INTERFACES,
            Self::Operation => OPERATION_NAMES,
            Self::Artifact => ARTIFACT_NAMES,
        }
    }

    /// The map that says more of the mapping of such a part.
    pub(crate) fn mapping(self) -> &'static MapGrammar {
        match self {
            Self::Property => &PROPERTY_MAPPING,
            Self::Attribute => &ATTRIBUTE_MAPPING,
            Self::Requirement => &REQUIREMENT_MAPPING,
            _ => &CAPABILITY_MAPPING,
        }
    }
}

const ASSIGNED: &HeldContent = &HeldContent::Assigned;
/// A property with conditions.
pub(crate) static WRAPPED: MapGrammar = with(&variable::PROPERTY, &[("value", Value)]);

/// The values of properties and attributes.
const VALUES: [(&str, HeldContent); 2] = [
    ("properties", Named(PROPERTY_NAMES, ASSIGNED)),
    ("attributes", Named(ATTRIBUTE_NAMES, &Value)),
];

static NODE: MapGrammar = with(
    &variable::NODE,
    &[
        ("type", Alternatives(NODES, &TYPE)),
        ("copy", Name(NODE_TEMPLATES)),
        VALUES[0],
        VALUES[1],
        ("requirements", Named(REQUIREMENT_NAMES, &NameOr(TARGETS, &Map(&REQUIREMENT)))),
        ("capabilities", Named(CAPABILITY_NAMES, &Map(&CAPABILITY_ASSIGNMENT))),
        ("interfaces", INTERFACE_ASSIGNMENTS),
        ("artifacts", Named(ARTIFACT_NAMES, &ARTIFACT_BODY)),
        ("directives", List(&Words(DIRECTIVES))),
        ("instance_count", Value),
        ("node_filter", HeldContent::Filter),
        ("technology", Alternatives(&[], &TECHNOLOGY)),
    ],
)
.typed_as(Family::Node);
/// The directives of version 1.3; TOSCA 2.0 says of each element which ones it has.
const DIRECTIVES: &[&str] = &["substitute", "select"];
const TARGETS: &[NameFamily] = &[NameFamily::Node, NameFamily::Type(Family::Node)];
static TECHNOLOGY: MapGrammar = with(&variable::TECHNOLOGY, &[]);
pub(crate) static FILTER: MapGrammar = of(
    &shape::FILTER,
    &[
        ("properties", FILTERED),
        ("capabilities", Named(SOME_CAPABILITIES, &Map(&CAPABILITY_FILTER))),
    ],
);
const FILTERED: HeldContent = Named(PROPERTY_NAMES, &HeldContent::Constraints);
static CAPABILITY_FILTER: MapGrammar = of(&shape::CAPABILITY_FILTER, &[("properties", FILTERED)]);
static TYPE: MapGrammar = with(&variable::TYPE, &[]);
static CAPABILITY_ASSIGNMENT: MapGrammar =
    of(&shape::CAPABILITY_ASSIGNMENT, &[VALUES[0], VALUES[1], ("directives", List(&Words(&[])))]);
pub(crate) static ARTIFACT: MapGrammar = with(
    &variable::ARTIFACT,
    &[
        ("type", Alternatives(ARTIFACTS, &TYPE)),
        ("file", HeldContent::File(FilePurpose::Artifact)),
        ("repository", Name(&[NameFamily::Repository])),
        VALUES[0],
    ],
)
.typed_as(Family::Artifact);
static REQUIREMENT: MapGrammar = with(
    &variable::REQUIREMENT,
    &[
        ("node", Name(TARGETS)),
        ("capability", About(NamedSubject::Target, &Name(SOME_CAPABILITIES))),
        ("allocation", About(NamedSubject::TargetCapability, &VALUES[0].1)),
        ("count", Value),
        ("node_filter", TARGET_FILTER),
        ("directives", List(&Words(&[]))),
        ("optional", Value),
        (
            "relationship",
            NameOr(
                &[NameFamily::Relationship, NameFamily::Type(Family::Relationship)],
                &Map(&RELATIONSHIP_IN_PLACE),
            ),
        ),
    ],
);
static RELATIONSHIP_IN_PLACE: MapGrammar = with(
    &variable::RELATIONSHIP_IN_PLACE,
    &[
        ("type", Alternatives(RELATIONSHIPS, &TYPE)),
        VALUES[0],
        VALUES[1],
        ("interfaces", INTERFACE_ASSIGNMENTS),
    ],
)
.typed_as(Family::Relationship);
static RELATIONSHIP: MapGrammar = with(
    &variable::RELATIONSHIP,
    &[
        ("type", Alternatives(RELATIONSHIPS, &TYPE)),
        ("copy", Name(&[NameFamily::Relationship])),
        VALUES[0],
        VALUES[1],
        ("interfaces", INTERFACE_ASSIGNMENTS),
    ],
)
.typed_as(Family::Relationship);
static GROUP: MapGrammar = with(
    &variable::GROUP,
    &[
        ("type", Alternatives(GROUPS, &TYPE)),
        // A relation may be a member, too: it is named behind its node.
        ("members", List(&MEMBER)),
        VALUES[0],
        VALUES[1],
        ("interfaces", INTERFACE_ASSIGNMENTS),
    ],
)
.typed_as(Family::Group);
static POLICY: MapGrammar = with(
    &variable::POLICY,
    &[
        ("type", Alternatives(POLICIES, &TYPE)),
        ("targets", List(&Name(&[NameFamily::Node, NameFamily::Group]))),
        ("triggers", TRIGGERS),
        VALUES[0],
    ],
)
.typed_as(Family::Policy);
static WORKFLOW: MapGrammar = of(
    &shape::WORKFLOW,
    &[
        ("inputs", OWN_INPUTS),
        ("outputs", HeldContent::Outputs),
        ("preconditions", List(&Map(&PRECONDITION))),
        ("precondition", Value),
        ("implementation", HeldContent::Implementation),
        ("steps", Named(&[], &Map(&STEP))),
    ],
);
const STEP_TARGET: HeldContent = Name(&[NameFamily::Node, NameFamily::Group]);
const STEP_RELATIONSHIP: HeldContent = About(NamedSubject::StepNode, &Name(REQUIREMENT_NAMES));
const STEP_CONDITION: HeldContent = About(NamedSubject::Step, &HeldContent::Assertions);
static PRECONDITION: MapGrammar = of(
    &shape::PRECONDITION,
    &[
        ("target", STEP_TARGET),
        ("target_relationship", STEP_RELATIONSHIP),
        ("condition", STEP_CONDITION),
        ("attributes", Any),
    ],
);
static STEP: MapGrammar = of(
    &shape::STEP,
    &[
        ("target", STEP_TARGET),
        ("target_relationship", STEP_RELATIONSHIP),
        ("filter", STEP_CONDITION),
        ("activities", About(NamedSubject::Step, &List(&Map(&ACTIVITY)))),
    ],
);
/// What more is said of an activity may also stand beside its keyname.
static ACTIVITY: MapGrammar = of(
    &shape::ACTIVITY,
    &[
        ("delegate", NameOr(WORKFLOWS, &Map(&DELEGATE))),
        ("inline", NameOr(WORKFLOWS, &Map(&INLINE))),
        ("call_operation", HeldContent::CalledOperation),
        ("operation", HeldContent::CalledOperation),
        ("workflow", Name(WORKFLOWS)),
        ("inputs", Value),
    ],
);
const WORKFLOWS: &[NameFamily] = &[NameFamily::Workflow];
static DELEGATE: MapGrammar =
    of(&shape::DELEGATE, &[("workflow", Name(WORKFLOWS)), ("inputs", Value)]);
static INLINE: MapGrammar = of(&shape::INLINE, &[("workflow", Name(WORKFLOWS)), ("inputs", Value)]);
pub(crate) static CALL_OPERATION: MapGrammar =
    of(&shape::CALL_OPERATION, &[("operation", HeldContent::CalledOperation), ("inputs", Value)]);
const TRIGGERS: HeldContent = Named(&[], &Map(&TRIGGER));
static TRIGGER: MapGrammar = of(
    &shape::TRIGGER,
    &[
        ("event", About(NamedSubject::Trigger, &HeldContent::Event)),
        ("target_filter", Map(&EVENT_FILTER)),
        ("condition", About(NamedSubject::Trigger, &HeldContent::TriggerCondition)),
        ("action", About(NamedSubject::Trigger, &List(&Map(&ACTIVITY)))),
    ],
);
static EVENT_FILTER: MapGrammar = of(
    &shape::EVENT_FILTER,
    &[
        ("node", Name(TARGETS)),
        ("requirement", About(NamedSubject::SaidNode, &Name(REQUIREMENT_NAMES))),
        ("capability", About(NamedSubject::FilteredTarget, &Name(CAPABILITY_NAMES))),
    ],
);
pub(crate) static TRIGGER_CONDITION: MapGrammar =
    of(&shape::TRIGGER_CONDITION, &[("constraint", HeldContent::Assertions)]);

static VARIABILITY: MapGrammar = with(
    &variable::VARIABILITY,
    &[
        ("inputs", Defined(NameFamily::VariabilityInput, &Map(&VARIABILITY_INPUT))),
        ("presets", Defined(NameFamily::Preset, &Map(&PRESET))),
        ("expressions", Defined(NameFamily::Expression, &HeldContent::Condition)),
        ("constraints", List(&HeldContent::Condition)),
        ("options", HeldContent::Options),
        ("qualities", HeldContent::Rules),
        ("type_specific_conditions", Map(&TYPE_SPECIFIC)),
    ],
);
/// A technology rule.
pub(crate) static RULE: MapGrammar = with(
    &variable::TECHNOLOGY_RULE,
    &[
        ("component", Name(NODES)),
        ("hosting", List(&Name(NODES))),
        ("artifact", Name(ARTIFACTS)),
        ("assign", Name(NODES)),
        ("operations", Any),
    ],
);
/// Conditions of all elements of a type.
pub(crate) static TYPE_SPECIFIC: MapGrammar = with(
    &variable::TYPE_SPECIFIC_CONDITIONS,
    &[
        ("node_types", Named(NODES, OF_TYPE)),
        ("relationship_types", Named(RELATIONSHIPS, OF_TYPE)),
        ("artifact_types", Named(ARTIFACTS, OF_TYPE)),
        ("group_types", Named(GROUPS, OF_TYPE)),
        ("policy_types", Named(POLICIES, OF_TYPE)),
    ],
);
const OF_TYPE: &HeldContent = &List(&Map(&TYPE_SPECIFIC_CONDITION));
static TYPE_SPECIFIC_CONDITION: MapGrammar = with(
    &variable::TYPE_SPECIFIC_CONDITION,
    &[
        ("consistency", Truth),
        ("semantic", Truth),
        ("properties", Named(PROPERTY_NAMES, &Map(&TYPE_SPECIFIC_CONDITION))),
    ],
);
static VARIABILITY_INPUT: MapGrammar = grammar(
    MapKeys::Inputs,
    &[
        ("type", Words(&["boolean", "integer", "float", "string"])),
        ("default", HeldContent::Default),
        ("default_expression", HeldContent::Condition),
    ],
);
static PRESET: MapGrammar = grammar(
    MapKeys::Presets,
    &[("inputs", Named(&[NameFamily::VariabilityInput], &HeldContent::Plain))],
);
