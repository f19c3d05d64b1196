//! Says what may stand where in a file: which keynames a map has, and which names are defined or
//! named by what is in it. Completing and following names read this one table.

use crate::tosca::Family;
use crate::tosca::shape::{self, STATUS, Shape, Vocabulary};
use crate::variability::inputs::FeatureKeyword;
use crate::variability::template::shape as variable;

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
    /// A value, in which functions may name inputs.
    Value,
    /// A value that is assigned; or a map that says more, as variability lets lists of them say.
    Assigned,
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
    /// What is below them, where something is known of it.
    below: &'static [(&'static str, HeldContent)],
}

/// The keynames of a map.
pub(crate) enum MapKeys {
    /// Those of a shape.
    Of(&'static Shape),
    /// Those of a vocabulary, of which plain templates have only the keynames of TOSCA.
    Words(&'static Vocabulary),
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
        known.map_or(HeldContent::Any, |&(_, content)| content)
    }

    /// What is below the words of conditional elements.
    fn common(&self) -> &'static [(&'static str, HeldContent)] {
        match self.keys {
            MapKeys::Words(_) => COMMON,
            MapKeys::Of(_) | MapKeys::Inputs | MapKeys::Presets => &[],
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

    /// The keynames that a map has.
    pub(crate) fn names(&self, is_plain: bool) -> Vec<&'static str> {
        match &self.keys {
            MapKeys::Of(shape) => shape.names().collect(),
            MapKeys::Words(vocabulary) if is_plain => vocabulary.of_tosca().names().collect(),
            MapKeys::Words(vocabulary) => vocabulary.names().collect(),
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

const fn of(shape: &'static Shape, below: &'static [(&'static str, HeldContent)]) -> MapGrammar {
    MapGrammar { keys: MapKeys::Of(shape), typed: None, defines: None, below }
}

const fn with(
    words: &'static Vocabulary,
    below: &'static [(&'static str, HeldContent)],
) -> MapGrammar {
    MapGrammar { keys: MapKeys::Words(words), typed: None, defines: None, below }
}

use HeldContent::{
    Alternatives, Any, Defined, List, Map, Name, NameOr, Named, Truth, Value, Words,
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
const NODE_TEMPLATES: &[NameFamily] = &[NameFamily::Node];

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

const OWN_PROPERTIES: HeldContent = Defined(Member(MemberKind::Property), &Map(&PROPERTY));
const OWN_ATTRIBUTES: HeldContent = Defined(Member(MemberKind::Attribute), &Map(&ATTRIBUTE));
const OWN_INTERFACES: HeldContent = Defined(Member(MemberKind::Interface), &Map(&INTERFACE));
const PROPERTIES: HeldContent = Named(&[], &Map(&PROPERTY));
const ATTRIBUTES: HeldContent = Named(&[], &Map(&ATTRIBUTE));
const INTERFACE_DEFINITIONS: HeldContent = Named(&[], &Map(&INTERFACE));

static PROPERTY: MapGrammar = of(&shape::PROPERTY, &OF_PROPERTY);
static ATTRIBUTE: MapGrammar = of(&shape::ATTRIBUTE, &OF_PROPERTY);
static SCHEMA: MapGrammar = of(&shape::SCHEMA, &OF_PROPERTY);
static OF_PROPERTY: [(&str, HeldContent); 7] = [
    ("type", Name(DATA)),
    ("required", Truth),
    ("status", Words(&STATUS)),
    ("default", Value),
    ("value", Value),
    ("key_schema", NameOr(DATA, &Map(&SCHEMA))),
    ("entry_schema", NameOr(DATA, &Map(&SCHEMA))),
];

static INTERFACE: MapGrammar = of(
    &shape::INTERFACE,
    &[
        ("type", Name(INTERFACES)),
        ("inputs", PROPERTIES),
        ("operations", Named(&[], &Map(&OPERATION))),
        ("notifications", Named(&[], &Map(&NOTIFICATION))),
    ],
);
static OPERATION: MapGrammar = of(
    &shape::OPERATION,
    &[("inputs", Value), ("implementation", NameOr(&[], &Map(&IMPLEMENTATION)))],
);
static NOTIFICATION: MapGrammar =
    of(&shape::NOTIFICATION, &[("implementation", NameOr(&[], &Map(&IMPLEMENTATION)))]);
static IMPLEMENTATION: MapGrammar = of(&shape::IMPLEMENTATION, &[]);

static DATA_TYPE: MapGrammar = of(
    shape::of_type(Family::Data),
    &[
        ("derived_from", Name(DATA)),
        ("properties", OWN_PROPERTIES),
        ("key_schema", NameOr(DATA, &Map(&SCHEMA))),
        ("entry_schema", NameOr(DATA, &Map(&SCHEMA))),
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
    ],
)
.defining(Family::Relationship);
static INTERFACE_TYPE: MapGrammar = of(
    shape::of_type(Family::Interface),
    &[
        ("derived_from", Name(INTERFACES)),
        ("inputs", PROPERTIES),
        ("operations", Named(&[], &Map(&OPERATION))),
        ("notifications", Named(&[], &Map(&NOTIFICATION))),
    ],
)
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
        ("artifacts", Named(&[], &HeldContent::FileOr(FilePurpose::Artifact, &ARTIFACT))),
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
        ("properties", PROPERTIES),
        ("attributes", ATTRIBUTES),
        ("valid_source_types", List(&Name(NODES))),
    ],
);
const REQUIREMENT_DEFINITIONS: HeldContent =
    Defined(Member(MemberKind::Requirement), &NameOr(CAPABILITIES, &Map(&REQUIREMENT_DEFINITION)));
static REQUIREMENT_DEFINITION: MapGrammar = of(
    &shape::REQUIREMENT,
    &[
        ("capability", Name(CAPABILITIES)),
        ("node", Name(NODES)),
        ("relationship", NameOr(RELATIONSHIPS, &Map(&REQUIREMENT_RELATIONSHIP))),
    ],
);
static REQUIREMENT_RELATIONSHIP: MapGrammar = of(
    &shape::REQUIREMENT_RELATIONSHIP,
    &[("type", Name(RELATIONSHIPS)), ("interfaces", INTERFACE_DEFINITIONS)],
);

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
        ("variability", Map(&VARIABILITY)),
    ],
);
static PARAMETER: MapGrammar = with(&variable::PARAMETER, &OF_PROPERTY);
static SUBSTITUTION: MapGrammar = of(
    &shape::SUBSTITUTION,
    &[
        ("node_type", Name(NODES)),
        ("substitution_filter", Map(&FILTER)),
        ("properties", Named(&[], &Map(&PROPERTY_MAPPING))),
        ("attributes", Named(&[], &Map(&ATTRIBUTE_MAPPING))),
        ("capabilities", Named(&[], &Map(&CAPABILITY_MAPPING))),
        ("requirements", Named(&[], &Map(&REQUIREMENT_MAPPING))),
    ],
);
static PROPERTY_MAPPING: MapGrammar = of(&shape::PROPERTY_MAPPING, &[("mapping", MAPPED)]);
static ATTRIBUTE_MAPPING: MapGrammar = of(&shape::ATTRIBUTE_MAPPING, &[("mapping", MAPPED)]);
static CAPABILITY_MAPPING: MapGrammar = of(&shape::CAPABILITY_MAPPING, &[("mapping", MAPPED)]);
static REQUIREMENT_MAPPING: MapGrammar = of(&shape::REQUIREMENT_MAPPING, &[("mapping", MAPPED)]);
/// What is mapped: an input, or a node with the name of a part of it.
const MAPPED: HeldContent = Name(&[NameFamily::Node, NameFamily::Input]);

const ASSIGNED: &HeldContent = &HeldContent::Assigned;
/// A property with conditions.
pub(crate) static WRAPPED: MapGrammar = with(&variable::PROPERTY, &[("value", Value)]);

static NODE: MapGrammar = with(
    &variable::NODE,
    &[
        ("type", Alternatives(NODES, &TYPE)),
        ("copy", Name(NODE_TEMPLATES)),
        ("properties", Named(&[Member(MemberKind::Property)], ASSIGNED)),
        ("attributes", Named(&[Member(MemberKind::Attribute)], &Value)),
        (
            "requirements",
            Named(&[Member(MemberKind::Requirement)], &NameOr(TARGETS, &Map(&REQUIREMENT))),
        ),
        ("capabilities", Named(&[Member(MemberKind::Capability)], &Map(&CAPABILITY_ASSIGNMENT))),
        ("interfaces", Named(&[Member(MemberKind::Interface)], &Map(&INTERFACE))),
        ("artifacts", Named(&[], &HeldContent::FileOr(FilePurpose::Artifact, &ARTIFACT))),
        ("directives", List(&Words(&["substitute", "select"]))),
        ("node_filter", Map(&FILTER)),
        ("technology", Alternatives(&[], &TECHNOLOGY)),
    ],
)
.typed_as(Family::Node);
const TARGETS: &[NameFamily] = &[NameFamily::Node, NameFamily::Type(Family::Node)];
static TECHNOLOGY: MapGrammar = with(&variable::TECHNOLOGY, &[]);
static FILTER: MapGrammar =
    of(&shape::FILTER, &[("capabilities", Named(&[], &Map(&CAPABILITY_FILTER)))]);
static CAPABILITY_FILTER: MapGrammar = of(&shape::CAPABILITY_FILTER, &[]);
static TYPE: MapGrammar = with(&variable::TYPE, &[]);
static CAPABILITY_ASSIGNMENT: MapGrammar = of(
    &shape::CAPABILITY_ASSIGNMENT,
    &[("properties", Named(&[], &Value)), ("attributes", Named(&[], &Value))],
);
static ARTIFACT: MapGrammar = with(
    &variable::ARTIFACT,
    &[
        ("type", Name(ARTIFACTS)),
        ("file", HeldContent::File(FilePurpose::Artifact)),
        ("repository", Name(&[NameFamily::Repository])),
        ("properties", Named(&[], &Value)),
    ],
);
static REQUIREMENT: MapGrammar = with(
    &variable::REQUIREMENT,
    &[
        ("node", Name(TARGETS)),
        ("capability", Any),
        ("node_filter", Map(&FILTER)),
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
        ("type", Name(RELATIONSHIPS)),
        ("properties", Named(&[Member(MemberKind::Property)], ASSIGNED)),
    ],
)
.typed_as(Family::Relationship);
static RELATIONSHIP: MapGrammar = with(
    &variable::RELATIONSHIP,
    &[
        ("type", Name(RELATIONSHIPS)),
        ("copy", Name(&[NameFamily::Relationship])),
        ("properties", Named(&[Member(MemberKind::Property)], ASSIGNED)),
        ("attributes", Named(&[Member(MemberKind::Attribute)], &Value)),
    ],
)
.typed_as(Family::Relationship);
static GROUP: MapGrammar = with(
    &variable::GROUP,
    &[
        ("type", Alternatives(GROUPS, &TYPE)),
        ("members", List(&Name(NODE_TEMPLATES))),
        ("properties", Named(&[Member(MemberKind::Property)], ASSIGNED)),
        ("attributes", Named(&[Member(MemberKind::Attribute)], &Value)),
    ],
)
.typed_as(Family::Group);
static POLICY: MapGrammar = with(
    &variable::POLICY,
    &[
        ("type", Alternatives(POLICIES, &TYPE)),
        ("targets", List(&Name(&[NameFamily::Node, NameFamily::Group]))),
        ("triggers", TRIGGERS),
        ("properties", Named(&[Member(MemberKind::Property)], ASSIGNED)),
    ],
)
.typed_as(Family::Policy);
static WORKFLOW: MapGrammar = of(
    &shape::WORKFLOW,
    &[
        ("inputs", PROPERTIES),
        ("preconditions", List(&Map(&PRECONDITION))),
        ("steps", Named(&[], &Map(&STEP))),
    ],
);
const STEP_TARGET: HeldContent = Name(&[NameFamily::Node, NameFamily::Group]);
static PRECONDITION: MapGrammar = of(&shape::PRECONDITION, &[("target", STEP_TARGET)]);
static STEP: MapGrammar =
    of(&shape::STEP, &[("target", STEP_TARGET), ("activities", List(&Map(&ACTIVITY)))]);
static ACTIVITY: MapGrammar = of(
    &shape::ACTIVITY,
    &[
        ("delegate", NameOr(&[NameFamily::Workflow], &Map(&DELEGATE))),
        ("inline", NameOr(&[NameFamily::Workflow], &Map(&INLINE))),
        ("call_operation", NameOr(&[], &Map(&CALL_OPERATION))),
    ],
);
static DELEGATE: MapGrammar =
    of(&shape::DELEGATE, &[("workflow", Name(&[NameFamily::Workflow])), ("inputs", Value)]);
static INLINE: MapGrammar =
    of(&shape::INLINE, &[("workflow", Name(&[NameFamily::Workflow])), ("inputs", Value)]);
static CALL_OPERATION: MapGrammar = of(&shape::CALL_OPERATION, &[("inputs", Value)]);
const TRIGGERS: HeldContent = Named(&[], &Map(&TRIGGER));
static TRIGGER: MapGrammar = of(
    &shape::TRIGGER,
    &[
        ("target_filter", Map(&EVENT_FILTER)),
        ("condition", Map(&TRIGGER_CONDITION)),
        ("action", List(&Map(&ACTIVITY))),
    ],
);
static EVENT_FILTER: MapGrammar = of(&shape::EVENT_FILTER, &[("node", Name(TARGETS))]);
static TRIGGER_CONDITION: MapGrammar = of(&shape::TRIGGER_CONDITION, &[]);

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
static TYPE_SPECIFIC_CONDITION: MapGrammar =
    with(&variable::TYPE_SPECIFIC_CONDITION, &[("consistency", Truth), ("semantic", Truth)]);
static VARIABILITY_INPUT: MapGrammar = MapGrammar {
    keys: MapKeys::Inputs,
    typed: None,
    defines: None,
    below: &[
        ("type", Words(&["boolean", "integer", "float", "string"])),
        ("default_expression", HeldContent::Condition),
    ],
};
static PRESET: MapGrammar = MapGrammar {
    keys: MapKeys::Presets,
    typed: None,
    defines: None,
    below: &[("inputs", Named(&[NameFamily::VariabilityInput], &Any))],
};
