//! Defines the content of TOSCA 1.0 documents, with one Rust type for each kind of element, so that
//! other modules need not match element names. Elements of other namespaces are kept as XML.

use cuvee_text::source::{FileId, Span};
use cuvee_text::xml::XmlElement;
use std::borrow::Cow;

/// A document of definitions.
pub(crate) struct Definitions<'d> {
    pub file: FileId,
    pub target_namespace: Cow<'d, str>,
    pub extensions: Vec<DeclaredExtension<'d>>,
    pub imports: Vec<DocumentImport<'d>>,
    /// The XML schemas in its `Types`.
    pub schemas: Vec<XmlElement<'d>>,
    pub components: Vec<DefinedComponent<'d>>,
    /// What elements that others put among the components name in theirs.
    pub named_elsewhere: Vec<(ComponentKind, ComponentName<'d>)>,
}

/// A text and its place.
#[derive(Clone, Debug)]
pub(crate) struct SaidText<'d> {
    pub text: Cow<'d, str>,
    pub span: Span,
}

/// A reference to a component by its name.
#[derive(Clone, Debug)]
pub(crate) struct ComponentName<'d> {
    /// The namespace that its prefix stands for. `None` where the prefix is not declared.
    pub namespace: Option<Cow<'d, str>>,
    pub local: Cow<'d, str>,
    pub has_prefix: bool,
    pub span: Span,
}

/// An extension that the document declares (section 4.2).
pub(crate) struct DeclaredExtension<'d> {
    pub namespace: SaidText<'d>,
    pub must_understand: bool,
}

/// An import of another document (section 4.2).
pub(crate) struct DocumentImport<'d> {
    pub span: Span,
    pub namespace: Option<SaidText<'d>>,
    pub location: Option<SaidText<'d>>,
    pub import_type: Option<SaidText<'d>>,
}

/// A component, which other components and documents can refer to by name.
pub(crate) struct DefinedComponent<'d> {
    pub kind: ComponentKind,
    pub namespace: Cow<'d, str>,
    /// Its name, or its id if it has no name.
    pub name: SaidText<'d>,
    pub element: XmlElement<'d>,
    pub content: ComponentContent<'d>,
}

/// The kinds of components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum ComponentKind {
    ServiceTemplate,
    NodeType,
    NodeTypeImplementation,
    RelationshipType,
    RelationshipTypeImplementation,
    RequirementType,
    CapabilityType,
    ArtifactType,
    ArtifactTemplate,
    PolicyType,
    PolicyTemplate,
}

impl ComponentKind {
    pub(crate) const ALL: [Self; 11] = [
        Self::ServiceTemplate,
        Self::NodeType,
        Self::NodeTypeImplementation,
        Self::RelationshipType,
        Self::RelationshipTypeImplementation,
        Self::RequirementType,
        Self::CapabilityType,
        Self::ArtifactType,
        Self::ArtifactTemplate,
        Self::PolicyType,
        Self::PolicyTemplate,
    ];

    /// The name of the element that defines it.
    pub(crate) fn element(self) -> &'static str {
        match self {
            Self::ServiceTemplate => "ServiceTemplate",
            Self::NodeType => "NodeType",
            Self::NodeTypeImplementation => "NodeTypeImplementation",
            Self::RelationshipType => "RelationshipType",
            Self::RelationshipTypeImplementation => "RelationshipTypeImplementation",
            Self::RequirementType => "RequirementType",
            Self::CapabilityType => "CapabilityType",
            Self::ArtifactType => "ArtifactType",
            Self::ArtifactTemplate => "ArtifactTemplate",
            Self::PolicyType => "PolicyType",
            Self::PolicyTemplate => "PolicyTemplate",
        }
    }

    /// The term for it in messages.
    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::ServiceTemplate => "service template",
            Self::NodeType => "node type",
            Self::NodeTypeImplementation => "node type implementation",
            Self::RelationshipType => "relationship type",
            Self::RelationshipTypeImplementation => "relationship type implementation",
            Self::RequirementType => "requirement type",
            Self::CapabilityType => "capability type",
            Self::ArtifactType => "artifact type",
            Self::ArtifactTemplate => "artifact template",
            Self::PolicyType => "policy type",
            Self::PolicyTemplate => "policy template",
        }
    }

    /// The section that defines its attributes and content.
    pub(crate) fn section(self) -> &'static str {
        match self {
            Self::ServiceTemplate => "5.2",
            Self::NodeType => "6.2",
            Self::NodeTypeImplementation => "7.2",
            Self::RelationshipType => "8.2",
            Self::RelationshipTypeImplementation => "9.2",
            Self::RequirementType => "10.2",
            Self::CapabilityType => "11.2",
            Self::ArtifactType => "12.2",
            Self::ArtifactTemplate => "13.2",
            Self::PolicyType => "14.2",
            Self::PolicyTemplate => "15.2",
        }
    }

    /// The section that defines its inheritance.
    pub(crate) fn derivation_section(self) -> &'static str {
        match self {
            Self::NodeType => "6.3",
            Self::NodeTypeImplementation => "7.3",
            Self::RelationshipType => "8.3",
            Self::RelationshipTypeImplementation => "9.3",
            Self::RequirementType => "10.3",
            Self::CapabilityType => "11.3",
            Self::ArtifactType => "12.3",
            Self::PolicyType => "14.3",
            other => other.section(),
        }
    }

    /// Whether it is a type that templates refer to.
    pub(crate) fn is_type(self) -> bool {
        matches!(
            self,
            Self::NodeType
                | Self::RelationshipType
                | Self::RequirementType
                | Self::CapabilityType
                | Self::ArtifactType
                | Self::PolicyType
        )
    }
}

/// The features of a node type that relationships connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FeatureKind {
    Requirement,
    Capability,
}

impl FeatureKind {
    pub(crate) const ALL: [Self; 2] = [Self::Requirement, Self::Capability];

    /// The term for it in messages.
    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::Requirement => "requirement",
            Self::Capability => "capability",
        }
    }

    /// The kind of its types.
    pub(crate) fn types(self) -> ComponentKind {
        match self {
            Self::Requirement => ComponentKind::RequirementType,
            Self::Capability => ComponentKind::CapabilityType,
        }
    }
}

/// The content of a component.
pub(crate) enum ComponentContent<'d> {
    Type(Box<EntityType<'d>>),
    Implementation(Box<TypeImplementation<'d>>),
    /// An artifact template or a policy template.
    Template(Box<EntityTemplate<'d>>),
    Service(Box<DefinedService<'d>>),
}

/// A type of any kind. Members that its kind does not have are empty.
#[derive(Default)]
pub(crate) struct EntityType<'d> {
    pub derived_from: Option<ComponentName<'d>>,
    pub is_abstract: Option<Span>,
    pub is_final: Option<Span>,
    pub properties: Option<PropertiesDefinition<'d>>,
    /// The properties in the notation of an extension that many tools write.
    pub keys: Option<PropertyKeys<'d>>,
    pub requirements: Vec<FeatureDefinition<'d>>,
    pub capabilities: Vec<FeatureDefinition<'d>>,
    /// The interfaces of a node type, or those at the source of a relationship type.
    pub interfaces: Vec<TypeInterface<'d>>,
    pub target_interfaces: Vec<TypeInterface<'d>>,
    pub valid_source: Option<ComponentName<'d>>,
    pub valid_target: Option<ComponentName<'d>>,
    pub required_capability: Option<ComponentName<'d>>,
    pub policy_language: Option<SaidText<'d>>,
    pub applies_to: Vec<ComponentName<'d>>,
}

impl<'d> EntityType<'d> {
    /// The requirements or the capabilities that the type defines.
    pub(crate) fn features(&self, kind: FeatureKind) -> &[FeatureDefinition<'d>] {
        match kind {
            FeatureKind::Requirement => &self.requirements,
            FeatureKind::Capability => &self.capabilities,
        }
    }
}

/// The schema of properties: an element or a type of XML Schema.
pub(crate) struct PropertiesDefinition<'d> {
    pub span: Span,
    pub element: Option<ComponentName<'d>>,
    pub type_name: Option<ComponentName<'d>>,
}

/// Properties as named texts, in the notation of Winery.
pub(crate) struct PropertyKeys<'d> {
    pub span: Span,
    /// The name and the namespace of the element that contains the properties.
    pub element: Option<SaidText<'d>>,
    pub namespace: Option<SaidText<'d>>,
    pub keys: Vec<PropertyKey<'d>>,
}

/// One property in the notation of Winery, with its type of XML Schema.
pub(crate) struct PropertyKey<'d> {
    pub name: SaidText<'d>,
    pub type_name: Option<Cow<'d, str>>,
    pub is_required: bool,
    pub default: Option<SaidText<'d>>,
}

/// A requirement or capability definition.
pub(crate) struct FeatureDefinition<'d> {
    pub name: SaidText<'d>,
    pub type_name: Option<ComponentName<'d>>,
    pub lower: Bound,
    pub upper: Bound,
}

/// A bound, and its place if it is given.
#[derive(Clone, Copy)]
pub(crate) struct Bound {
    /// The bound. `None` means unbounded.
    pub value: Option<u64>,
    pub span: Option<Span>,
}

/// An interface of a type.
pub(crate) struct TypeInterface<'d> {
    pub name: SaidText<'d>,
    pub operations: Vec<DefinedOperation<'d>>,
}

/// An operation of a type.
pub(crate) struct DefinedOperation<'d> {
    pub element: XmlElement<'d>,
    pub name: SaidText<'d>,
    pub inputs: Vec<SaidText<'d>>,
    pub outputs: Vec<SaidText<'d>>,
}

/// An implementation of a node type or relationship type.
pub(crate) struct TypeImplementation<'d> {
    pub derived_from: Option<ComponentName<'d>>,
    pub is_abstract: Option<Span>,
    pub is_final: Option<Span>,
    pub of: Option<ComponentName<'d>>,
    pub implementation_artifacts: Vec<ArtifactUse<'d>>,
    pub deployment_artifacts: Vec<ArtifactUse<'d>>,
}

/// An implementation artifact or deployment artifact.
pub(crate) struct ArtifactUse<'d> {
    pub element: XmlElement<'d>,
    pub name: Option<SaidText<'d>>,
    pub interface: Option<SaidText<'d>>,
    pub operation: Option<SaidText<'d>>,
    pub type_name: Option<ComponentName<'d>>,
    pub template: Option<ComponentName<'d>>,
}

/// The members that all templates have.
pub(crate) struct EntityTemplate<'d> {
    pub type_name: Option<ComponentName<'d>>,
    /// The element inside of `Properties`.
    pub properties: Option<XmlElement<'d>>,
    pub constraints: Vec<SaidText<'d>>,
    /// The files of an artifact template.
    pub references: Vec<ArtifactReference<'d>>,
}

/// A reference to the files of an artifact template (section 13.2).
pub(crate) struct ArtifactReference<'d> {
    pub reference: SaidText<'d>,
    /// The place of the first pattern that includes or excludes files.
    pub pattern: Option<Span>,
}

/// A service template (section 5.2).
#[derive(Default)]
pub(crate) struct DefinedService<'d> {
    pub substitutable: Option<ComponentName<'d>>,
    pub boundary: Option<BoundaryDefinitions<'d>>,
    pub nodes: Vec<DefinedNode<'d>>,
    pub relationships: Vec<DefinedRelationship<'d>>,
    pub plans: Vec<DefinedPlan<'d>>,
}

/// The boundary definitions, through which a service template is visible from outside.
#[derive(Default)]
pub(crate) struct BoundaryDefinitions<'d> {
    pub properties: Option<XmlElement<'d>>,
    pub mappings: Vec<PropertyMapping<'d>>,
    pub constraints: Vec<SaidText<'d>>,
    pub requirements: Vec<ExposedFeature<'d>>,
    pub capabilities: Vec<ExposedFeature<'d>>,
    pub policies: Vec<PolicyUse<'d>>,
    pub interfaces: Vec<ExportedInterface<'d>>,
}

/// A property of the service template that is mapped to a property of an inner template.
pub(crate) struct PropertyMapping<'d> {
    pub element: XmlElement<'d>,
    pub own: Option<SaidText<'d>>,
    pub target: Option<SaidText<'d>>,
    pub target_property: Option<SaidText<'d>>,
}

/// A requirement or capability of the service template that is provided by an inner node.
pub(crate) struct ExposedFeature<'d> {
    pub name: Option<SaidText<'d>>,
    pub reference: Option<SaidText<'d>>,
}

/// A policy of a node template or a service template.
pub(crate) struct PolicyUse<'d> {
    pub element: XmlElement<'d>,
    pub name: Option<SaidText<'d>>,
    pub type_name: Option<ComponentName<'d>>,
    pub template: Option<ComponentName<'d>>,
}

/// An interface of a service template.
pub(crate) struct ExportedInterface<'d> {
    pub name: SaidText<'d>,
    pub operations: Vec<ExportedOperation<'d>>,
}

/// An operation of a service template, and its implementation.
pub(crate) struct ExportedOperation<'d> {
    pub element: XmlElement<'d>,
    pub name: SaidText<'d>,
    pub by: Option<OperationTarget<'d>>,
}

/// The implementation of an operation of a service template.
pub(crate) enum OperationTarget<'d> {
    Node(OperationReference<'d>),
    Relationship(OperationReference<'d>),
    Plan(Option<SaidText<'d>>),
}

/// A reference to an operation of an inner node or relationship.
pub(crate) struct OperationReference<'d> {
    pub of: Option<SaidText<'d>>,
    pub interface: Option<SaidText<'d>>,
    pub operation: Option<SaidText<'d>>,
}

/// A node template (section 5.2).
pub(crate) struct DefinedNode<'d> {
    pub element: XmlElement<'d>,
    pub id: SaidText<'d>,
    pub template: EntityTemplate<'d>,
    pub least: Bound,
    pub most: Bound,
    pub requirements: Vec<NodeFeature<'d>>,
    pub capabilities: Vec<NodeFeature<'d>>,
    pub policies: Vec<PolicyUse<'d>>,
    pub artifacts: Vec<ArtifactUse<'d>>,
}

/// A requirement or capability of a node template.
pub(crate) struct NodeFeature<'d> {
    pub element: XmlElement<'d>,
    pub id: SaidText<'d>,
    pub name: SaidText<'d>,
    pub template: EntityTemplate<'d>,
}

/// A relationship template (section 5.2).
pub(crate) struct DefinedRelationship<'d> {
    pub element: XmlElement<'d>,
    pub id: SaidText<'d>,
    pub template: EntityTemplate<'d>,
    pub source: Option<SaidText<'d>>,
    pub target: Option<SaidText<'d>>,
}

/// A plan (section 5.2).
pub(crate) struct DefinedPlan<'d> {
    pub id: SaidText<'d>,
    pub plan_type: Option<SaidText<'d>>,
    pub reference: Option<SaidText<'d>>,
    pub inputs: Vec<SaidText<'d>>,
    pub outputs: Vec<SaidText<'d>>,
}
