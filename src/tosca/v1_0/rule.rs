//! Lists the allowed attributes and children of each TOSCA 1.0 element, in the order of the schema
//! (appendix D of the specification).

/// The namespace of TOSCA 1.0.
pub(crate) const TOSCA: &str = "http://docs.oasis-open.org/tosca/ns/2011/12";

/// The namespace of Winery's extensions.
pub(crate) const WINERY: &str = "http://www.opentosca.org/winery/extensions/tosca/2013/02/12";

/// The grammar of an element.
pub(crate) struct ElementRule {
    pub name: &'static str,
    /// The section that defines the element. Empty where the section of the parent element defines
    /// it.
    pub section: &'static str,
    /// The attributes of TOSCA. Attributes of other namespaces are always allowed.
    pub attributes: &'static [AttributeRule],
    /// The children, in the order of the schema.
    pub children: &'static [ChildRule],
    pub content: ElementContent,
}

impl ElementRule {
    /// The place of an attribute without a namespace in the order of the schema.
    pub(crate) fn position(&self, attribute: &str) -> Option<usize> {
        self.attributes.iter().position(|known| known.name == attribute)
    }

    /// The place of a child in the canonical order, and its rule: documentation comes first, and then
    /// what other namespaces have.
    pub(crate) fn child(&self, namespace: &str, local: &str) -> (u8, Option<&'static ElementRule>) {
        if namespace != TOSCA {
            return (1, None);
        }
        if local == DOCUMENTATION.name {
            return (0, Some(&DOCUMENTATION));
        }
        let known = self.children.iter().find(|known| known.rule.name == local);
        known.map_or((u8::MAX - 1, None), |known| (2 + known.place, Some(known.rule)))
    }
}

/// The content that an element may have beside the children in its rule.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ElementContent {
    /// Elements of other namespaces, as extensions.
    Extensible,
    /// Exactly one element of another namespace, which is the purpose of the element.
    One,
    /// Any elements.
    Anything,
    /// Any elements, and text between them.
    Mixed,
}

/// The grammar of an attribute.
pub(crate) struct AttributeRule {
    pub name: &'static str,
    pub kind: AttributeKind,
    pub is_required: bool,
}

/// The kind of value that an attribute has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttributeKind {
    Text,
    /// A name without a colon.
    Name,
    /// A name that is unique in the document.
    Id,
    /// The id of an element in the document.
    Reference,
    /// The name of a component, with a prefix for its namespace.
    Component,
    Uri,
    /// `yes` or `no`.
    Truth,
    /// An integer of at least zero.
    Least,
    /// An integer of at least one, or `unbounded`.
    Most,
}

/// An allowed child of an element.
pub(crate) struct ChildRule {
    pub rule: &'static ElementRule,
    /// The place of the child in the order. Children with the same place may be in any order.
    pub place: u8,
    pub occurs: ChildOccurs,
}

/// How often a child occurs in an element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChildOccurs {
    AtMostOnce,
    Once,
    AtLeastOnce,
    Any,
    /// Exactly one of the children that share its place occurs.
    OneOfPlace,
    /// At least one of the children that share its place occurs.
    SomeOfPlace,
}

use AttributeKind::{Component, Id, Least, Most, Name, Reference, Text, Truth, Uri};
use ChildOccurs::{Any, AtLeastOnce, AtMostOnce, Once, OneOfPlace, SomeOfPlace};
use ElementContent::{Anything, Extensible, Mixed, One};

const fn may(name: &'static str, kind: AttributeKind) -> AttributeRule {
    AttributeRule { name, kind, is_required: false }
}

const fn must(name: &'static str, kind: AttributeKind) -> AttributeRule {
    AttributeRule { name, kind, is_required: true }
}

const fn child(place: u8, occurs: ChildOccurs, rule: &'static ElementRule) -> ChildRule {
    ChildRule { rule, place, occurs }
}

/// The rule of an element that the section of its parent defines.
const fn part(
    name: &'static str,
    attributes: &'static [AttributeRule],
    children: &'static [ChildRule],
) -> ElementRule {
    ElementRule { name, section: "", attributes, children, content: Extensible }
}

/// The rule of an element that has its own section.
const fn component(
    name: &'static str,
    section: &'static str,
    attributes: &'static [AttributeRule],
    children: &'static [ChildRule],
) -> ElementRule {
    ElementRule { name, section, attributes, children, content: Extensible }
}

/// The rule of an element that contains something besides children.
const fn holding(
    content: ElementContent,
    name: &'static str,
    attributes: &'static [AttributeRule],
) -> ElementRule {
    ElementRule { name, section: "", attributes, children: &[], content }
}

pub(crate) static DEFINITIONS: ElementRule = component(
    "Definitions",
    "4.2",
    &[must("id", Id), may("name", Text), must("targetNamespace", Uri)],
    &[
        child(0, AtMostOnce, &EXTENSIONS),
        child(1, Any, &IMPORT),
        child(2, AtMostOnce, &TYPES),
        child(3, SomeOfPlace, &SERVICE_TEMPLATE),
        child(3, SomeOfPlace, &NODE_TYPE),
        child(3, SomeOfPlace, &NODE_TYPE_IMPLEMENTATION),
        child(3, SomeOfPlace, &RELATIONSHIP_TYPE),
        child(3, SomeOfPlace, &RELATIONSHIP_TYPE_IMPLEMENTATION),
        child(3, SomeOfPlace, &REQUIREMENT_TYPE),
        child(3, SomeOfPlace, &CAPABILITY_TYPE),
        child(3, SomeOfPlace, &ARTIFACT_TYPE),
        child(3, SomeOfPlace, &ARTIFACT_TEMPLATE),
        child(3, SomeOfPlace, &POLICY_TYPE),
        child(3, SomeOfPlace, &POLICY_TEMPLATE),
    ],
);

pub(crate) static DOCUMENTATION: ElementRule =
    holding(Mixed, "documentation", &[may("source", Uri)]);

static EXTENSIONS: ElementRule = part("Extensions", &[], &[child(0, AtLeastOnce, &EXTENSION)]);
static EXTENSION: ElementRule =
    part("Extension", &[must("namespace", Uri), may("mustUnderstand", Truth)], &[]);
static IMPORT: ElementRule =
    part("Import", &[may("namespace", Uri), may("location", Uri), must("importType", Uri)], &[]);
static TYPES: ElementRule = part("Types", &[], &[]);

static SERVICE_TEMPLATE: ElementRule = component(
    "ServiceTemplate",
    "5.2",
    &[
        must("id", Id),
        may("name", Text),
        may("targetNamespace", Uri),
        may("substitutableNodeType", Component),
    ],
    &[
        child(0, AtMostOnce, &TAGS),
        child(1, AtMostOnce, &BOUNDARY_DEFINITIONS),
        child(2, Once, &TOPOLOGY_TEMPLATE),
        child(3, AtMostOnce, &PLANS),
    ],
);

static TAGS: ElementRule = part("Tags", &[], &[child(0, AtLeastOnce, &TAG)]);
static TAG: ElementRule = part("Tag", &[must("name", Text), must("value", Text)], &[]);

static BOUNDARY_DEFINITIONS: ElementRule = part(
    "BoundaryDefinitions",
    &[],
    &[
        child(0, AtMostOnce, &BOUNDARY_PROPERTIES),
        child(1, AtMostOnce, &PROPERTY_CONSTRAINTS),
        child(2, AtMostOnce, &EXPOSED_REQUIREMENTS),
        child(3, AtMostOnce, &EXPOSED_CAPABILITIES),
        child(4, AtMostOnce, &POLICIES),
        child(5, AtMostOnce, &EXPORTED_INTERFACES),
    ],
);

/// The schema requires properties beside mappings, but the text of the specification does not.
static BOUNDARY_PROPERTIES: ElementRule =
    part("Properties", &[], &[child(1, AtMostOnce, &PROPERTY_MAPPINGS)]);
static PROPERTY_MAPPINGS: ElementRule =
    part("PropertyMappings", &[], &[child(0, AtLeastOnce, &PROPERTY_MAPPING)]);
static PROPERTY_MAPPING: ElementRule = part(
    "PropertyMapping",
    &[
        must("serviceTemplatePropertyRef", Text),
        must("targetObjectRef", Reference),
        must("targetPropertyRef", Text),
    ],
    &[],
);
static PROPERTY_CONSTRAINTS: ElementRule =
    part("PropertyConstraints", &[], &[child(0, AtLeastOnce, &PROPERTY_CONSTRAINT)]);
/// The content is optional, as in the text of the specification.
static PROPERTY_CONSTRAINT: ElementRule =
    part("PropertyConstraint", &[must("property", Text), must("constraintType", Uri)], &[]);

static EXPOSED_REQUIREMENTS: ElementRule =
    part("Requirements", &[], &[child(0, AtLeastOnce, &EXPOSED_REQUIREMENT)]);
static EXPOSED_REQUIREMENT: ElementRule =
    part("Requirement", &[may("name", Text), must("ref", Reference)], &[]);
static EXPOSED_CAPABILITIES: ElementRule =
    part("Capabilities", &[], &[child(0, AtLeastOnce, &EXPOSED_CAPABILITY)]);
static EXPOSED_CAPABILITY: ElementRule =
    part("Capability", &[may("name", Text), must("ref", Reference)], &[]);

static POLICIES: ElementRule = part("Policies", &[], &[child(0, AtLeastOnce, &POLICY)]);
static POLICY: ElementRule = part(
    "Policy",
    &[may("name", Text), must("policyType", Component), may("policyRef", Component)],
    &[],
);

static EXPORTED_INTERFACES: ElementRule =
    part("Interfaces", &[], &[child(0, AtLeastOnce, &EXPORTED_INTERFACE)]);
static EXPORTED_INTERFACE: ElementRule =
    part("Interface", &[must("name", Uri)], &[child(0, AtLeastOnce, &EXPORTED_OPERATION)]);
static EXPORTED_OPERATION: ElementRule = part(
    "Operation",
    &[must("name", Name)],
    &[
        child(0, OneOfPlace, &NODE_OPERATION),
        child(0, OneOfPlace, &RELATIONSHIP_OPERATION),
        child(0, OneOfPlace, &EXPORTED_PLAN),
    ],
);
static NODE_OPERATION: ElementRule = part(
    "NodeOperation",
    &[must("nodeRef", Reference), must("interfaceName", Uri), must("operationName", Name)],
    &[],
);
static RELATIONSHIP_OPERATION: ElementRule = part(
    "RelationshipOperation",
    &[must("relationshipRef", Reference), must("interfaceName", Uri), must("operationName", Name)],
    &[],
);
static EXPORTED_PLAN: ElementRule = part("Plan", &[must("planRef", Reference)], &[]);

pub(crate) static TOPOLOGY_TEMPLATE: ElementRule = part(
    "TopologyTemplate",
    &[],
    &[child(0, SomeOfPlace, &NODE_TEMPLATE), child(0, SomeOfPlace, &RELATIONSHIP_TEMPLATE)],
);

static PROPERTIES: ElementRule = holding(One, "Properties", &[]);

static NODE_TEMPLATE: ElementRule = part(
    "NodeTemplate",
    &[
        must("id", Id),
        may("name", Text),
        must("type", Component),
        may("minInstances", Least),
        may("maxInstances", Most),
    ],
    &[
        child(0, AtMostOnce, &PROPERTIES),
        child(1, AtMostOnce, &PROPERTY_CONSTRAINTS),
        child(2, AtMostOnce, &REQUIREMENTS),
        child(3, AtMostOnce, &CAPABILITIES),
        child(4, AtMostOnce, &POLICIES),
        child(5, AtMostOnce, &DEPLOYMENT_ARTIFACTS),
    ],
);
static REQUIREMENTS: ElementRule =
    part("Requirements", &[], &[child(0, AtLeastOnce, &REQUIREMENT)]);
static REQUIREMENT: ElementRule = part(
    "Requirement",
    &[must("id", Id), must("name", Text), must("type", Component)],
    &[child(0, AtMostOnce, &PROPERTIES), child(1, AtMostOnce, &PROPERTY_CONSTRAINTS)],
);
static CAPABILITIES: ElementRule = part("Capabilities", &[], &[child(0, AtLeastOnce, &CAPABILITY)]);
static CAPABILITY: ElementRule = part(
    "Capability",
    &[must("id", Id), must("name", Text), must("type", Component)],
    &[child(0, AtMostOnce, &PROPERTIES), child(1, AtMostOnce, &PROPERTY_CONSTRAINTS)],
);
static DEPLOYMENT_ARTIFACTS: ElementRule =
    part("DeploymentArtifacts", &[], &[child(0, AtLeastOnce, &DEPLOYMENT_ARTIFACT)]);
static DEPLOYMENT_ARTIFACT: ElementRule = part(
    "DeploymentArtifact",
    &[must("name", Text), must("artifactType", Component), may("artifactRef", Component)],
    &[],
);

static RELATIONSHIP_TEMPLATE: ElementRule = part(
    "RelationshipTemplate",
    &[must("id", Id), may("name", Text), must("type", Component)],
    &[
        child(0, AtMostOnce, &PROPERTIES),
        child(1, AtMostOnce, &PROPERTY_CONSTRAINTS),
        child(2, Once, &SOURCE_ELEMENT),
        child(3, Once, &TARGET_ELEMENT),
        child(4, AtMostOnce, &RELATIONSHIP_CONSTRAINTS),
    ],
);
static SOURCE_ELEMENT: ElementRule = part("SourceElement", &[must("ref", Reference)], &[]);
static TARGET_ELEMENT: ElementRule = part("TargetElement", &[must("ref", Reference)], &[]);
static RELATIONSHIP_CONSTRAINTS: ElementRule =
    part("RelationshipConstraints", &[], &[child(0, AtLeastOnce, &RELATIONSHIP_CONSTRAINT)]);
static RELATIONSHIP_CONSTRAINT: ElementRule =
    part("RelationshipConstraint", &[must("constraintType", Uri)], &[]);

static PLANS: ElementRule =
    part("Plans", &[may("targetNamespace", Uri)], &[child(0, AtLeastOnce, &PLAN)]);
static PLAN: ElementRule = part(
    "Plan",
    &[must("id", Id), may("name", Text), must("planType", Uri), must("planLanguage", Uri)],
    &[
        child(0, AtMostOnce, &PRECONDITION),
        child(1, AtMostOnce, &INPUT_PARAMETERS),
        child(2, AtMostOnce, &OUTPUT_PARAMETERS),
        child(3, OneOfPlace, &PLAN_MODEL),
        child(3, OneOfPlace, &PLAN_MODEL_REFERENCE),
    ],
);
static PRECONDITION: ElementRule =
    holding(Anything, "Precondition", &[must("expressionLanguage", Uri)]);
static PLAN_MODEL: ElementRule = holding(One, "PlanModel", &[]);
static PLAN_MODEL_REFERENCE: ElementRule =
    part("PlanModelReference", &[must("reference", Uri)], &[]);
static INPUT_PARAMETERS: ElementRule =
    part("InputParameters", &[], &[child(0, AtLeastOnce, &INPUT_PARAMETER)]);
static INPUT_PARAMETER: ElementRule =
    part("InputParameter", &[must("name", Text), must("type", Text), may("required", Truth)], &[]);
static OUTPUT_PARAMETERS: ElementRule =
    part("OutputParameters", &[], &[child(0, AtLeastOnce, &OUTPUT_PARAMETER)]);
static OUTPUT_PARAMETER: ElementRule =
    part("OutputParameter", &[must("name", Text), must("type", Text), may("required", Truth)], &[]);

/// The attributes of all types (`tEntityType`).
macro_rules! of_type {
    ($($more:expr),*) => {
        &[
            must("name", Name),
            may("abstract", Truth),
            may("final", Truth),
            may("targetNamespace", Uri),
            $($more),*
        ]
    };
}

static DERIVED_FROM: ElementRule = part("DerivedFrom", &[must("typeRef", Component)], &[]);
static PROPERTIES_DEFINITION: ElementRule =
    part("PropertiesDefinition", &[may("element", Component), may("type", Component)], &[]);

const TAGS_OF_TYPE: ChildRule = child(0, AtMostOnce, &TAGS);
const PARENT: ChildRule = child(1, AtMostOnce, &DERIVED_FROM);
const PROPERTIES_OF_TYPE: ChildRule = child(2, AtMostOnce, &PROPERTIES_DEFINITION);

static NODE_TYPE: ElementRule = component(
    "NodeType",
    "6.2",
    of_type!(),
    &[
        TAGS_OF_TYPE,
        PARENT,
        PROPERTIES_OF_TYPE,
        child(3, AtMostOnce, &REQUIREMENT_DEFINITIONS),
        child(4, AtMostOnce, &CAPABILITY_DEFINITIONS),
        child(5, AtMostOnce, &INSTANCE_STATES),
        child(6, AtMostOnce, &INTERFACES),
    ],
);
static REQUIREMENT_DEFINITIONS: ElementRule =
    part("RequirementDefinitions", &[], &[child(0, AtLeastOnce, &REQUIREMENT_DEFINITION)]);
static REQUIREMENT_DEFINITION: ElementRule = part(
    "RequirementDefinition",
    &[
        must("name", Text),
        must("requirementType", Component),
        may("lowerBound", Least),
        may("upperBound", Most),
    ],
    &[child(0, AtMostOnce, &CONSTRAINTS)],
);
static CAPABILITY_DEFINITIONS: ElementRule =
    part("CapabilityDefinitions", &[], &[child(0, AtLeastOnce, &CAPABILITY_DEFINITION)]);
static CAPABILITY_DEFINITION: ElementRule = part(
    "CapabilityDefinition",
    &[
        must("name", Text),
        must("capabilityType", Component),
        may("lowerBound", Least),
        may("upperBound", Most),
    ],
    &[child(0, AtMostOnce, &CONSTRAINTS)],
);
static CONSTRAINTS: ElementRule = part("Constraints", &[], &[child(0, AtLeastOnce, &CONSTRAINT)]);
static CONSTRAINT: ElementRule = part("Constraint", &[must("constraintType", Uri)], &[]);
static INSTANCE_STATES: ElementRule =
    part("InstanceStates", &[], &[child(0, AtLeastOnce, &INSTANCE_STATE)]);
static INSTANCE_STATE: ElementRule = part("InstanceState", &[must("state", Uri)], &[]);
static INTERFACES: ElementRule = part("Interfaces", &[], &[child(0, AtLeastOnce, &INTERFACE)]);
static INTERFACE: ElementRule =
    part("Interface", &[must("name", Uri)], &[child(0, AtLeastOnce, &OPERATION)]);
static OPERATION: ElementRule = part(
    "Operation",
    &[must("name", Name)],
    &[child(0, AtMostOnce, &INPUT_PARAMETERS), child(1, AtMostOnce, &OUTPUT_PARAMETERS)],
);

/// The attributes of all implementations.
macro_rules! of_implementation {
    ($of:literal) => {
        &[
            must("name", Name),
            may("targetNamespace", Uri),
            must($of, Component),
            may("abstract", Truth),
            may("final", Truth),
        ]
    };
}

static NODE_TYPE_IMPLEMENTATION: ElementRule = component(
    "NodeTypeImplementation",
    "7.2",
    of_implementation!("nodeType"),
    &[
        TAGS_OF_TYPE,
        child(1, AtMostOnce, &DERIVED_NODE_TYPE_IMPLEMENTATION),
        child(2, AtMostOnce, &REQUIRED_CONTAINER_FEATURES),
        child(3, AtMostOnce, &IMPLEMENTATION_ARTIFACTS),
        child(4, AtMostOnce, &DEPLOYMENT_ARTIFACTS),
    ],
);
static DERIVED_NODE_TYPE_IMPLEMENTATION: ElementRule =
    part("DerivedFrom", &[must("nodeTypeImplementationRef", Component)], &[]);
static REQUIRED_CONTAINER_FEATURES: ElementRule =
    part("RequiredContainerFeatures", &[], &[child(0, AtLeastOnce, &REQUIRED_CONTAINER_FEATURE)]);
static REQUIRED_CONTAINER_FEATURE: ElementRule =
    part("RequiredContainerFeature", &[must("feature", Uri)], &[]);
static IMPLEMENTATION_ARTIFACTS: ElementRule =
    part("ImplementationArtifacts", &[], &[child(0, AtLeastOnce, &IMPLEMENTATION_ARTIFACT)]);
/// Includes `name`, which the text of the specification mentions but the schema lacks.
static IMPLEMENTATION_ARTIFACT: ElementRule = part(
    "ImplementationArtifact",
    &[
        may("name", Text),
        may("interfaceName", Uri),
        may("operationName", Name),
        must("artifactType", Component),
        may("artifactRef", Component),
    ],
    &[],
);

static RELATIONSHIP_TYPE: ElementRule = component(
    "RelationshipType",
    "8.2",
    of_type!(),
    &[
        TAGS_OF_TYPE,
        PARENT,
        PROPERTIES_OF_TYPE,
        child(3, AtMostOnce, &INSTANCE_STATES),
        child(4, AtMostOnce, &SOURCE_INTERFACES),
        child(5, AtMostOnce, &TARGET_INTERFACES),
        child(6, AtMostOnce, &VALID_SOURCE),
        child(7, AtMostOnce, &VALID_TARGET),
    ],
);
static SOURCE_INTERFACES: ElementRule =
    part("SourceInterfaces", &[], &[child(0, AtLeastOnce, &INTERFACE)]);
static TARGET_INTERFACES: ElementRule =
    part("TargetInterfaces", &[], &[child(0, AtLeastOnce, &INTERFACE)]);
static VALID_SOURCE: ElementRule = part("ValidSource", &[must("typeRef", Component)], &[]);
static VALID_TARGET: ElementRule = part("ValidTarget", &[must("typeRef", Component)], &[]);

static RELATIONSHIP_TYPE_IMPLEMENTATION: ElementRule = component(
    "RelationshipTypeImplementation",
    "9.2",
    of_implementation!("relationshipType"),
    &[
        TAGS_OF_TYPE,
        child(1, AtMostOnce, &DERIVED_RELATIONSHIP_TYPE_IMPLEMENTATION),
        child(2, AtMostOnce, &REQUIRED_CONTAINER_FEATURES),
        child(3, AtMostOnce, &IMPLEMENTATION_ARTIFACTS),
    ],
);
static DERIVED_RELATIONSHIP_TYPE_IMPLEMENTATION: ElementRule =
    part("DerivedFrom", &[must("relationshipTypeImplementationRef", Component)], &[]);

static REQUIREMENT_TYPE: ElementRule = component(
    "RequirementType",
    "10.2",
    of_type!(may("requiredCapabilityType", Component)),
    &[TAGS_OF_TYPE, PARENT, PROPERTIES_OF_TYPE],
);
static CAPABILITY_TYPE: ElementRule =
    component("CapabilityType", "11.2", of_type!(), &[TAGS_OF_TYPE, PARENT, PROPERTIES_OF_TYPE]);
static ARTIFACT_TYPE: ElementRule =
    component("ArtifactType", "12.2", of_type!(), &[TAGS_OF_TYPE, PARENT, PROPERTIES_OF_TYPE]);

static ARTIFACT_TEMPLATE: ElementRule = component(
    "ArtifactTemplate",
    "13.2",
    &[must("id", Id), may("name", Text), must("type", Component)],
    &[
        child(0, AtMostOnce, &PROPERTIES),
        child(1, AtMostOnce, &PROPERTY_CONSTRAINTS),
        child(2, AtMostOnce, &ARTIFACT_REFERENCES),
    ],
);
static ARTIFACT_REFERENCES: ElementRule =
    part("ArtifactReferences", &[], &[child(0, AtLeastOnce, &ARTIFACT_REFERENCE)]);
static ARTIFACT_REFERENCE: ElementRule = part(
    "ArtifactReference",
    &[must("reference", Uri)],
    &[child(0, Any, &INCLUDE), child(0, Any, &EXCLUDE)],
);
static INCLUDE: ElementRule = part("Include", &[must("pattern", Text)], &[]);
static EXCLUDE: ElementRule = part("Exclude", &[must("pattern", Text)], &[]);

static POLICY_TYPE: ElementRule = component(
    "PolicyType",
    "14.2",
    of_type!(may("policyLanguage", Uri)),
    &[TAGS_OF_TYPE, PARENT, PROPERTIES_OF_TYPE, child(3, AtMostOnce, &APPLIES_TO)],
);
static APPLIES_TO: ElementRule =
    part("AppliesTo", &[], &[child(0, AtLeastOnce, &NODE_TYPE_REFERENCE)]);
static NODE_TYPE_REFERENCE: ElementRule =
    part("NodeTypeReference", &[must("typeRef", Component)], &[]);
static POLICY_TEMPLATE: ElementRule = component(
    "PolicyTemplate",
    "15.2",
    &[must("id", Id), may("name", Text), must("type", Component)],
    &[child(0, AtMostOnce, &PROPERTIES), child(1, AtMostOnce, &PROPERTY_CONSTRAINTS)],
);
