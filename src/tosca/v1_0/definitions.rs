//! What documents of TOSCA 1.0 say: one type for each kind of element. Nobody matches names of
//! elements any more; what belongs to others is kept as it is.

use crate::text::source::{FileId, Span};
use crate::text::xml::XmlElement;
use std::borrow::Cow;

/// A document.
pub(crate) struct Definitions<'d> {
    pub file: FileId,
    pub target_namespace: Cow<'d, str>,
    pub extensions: Vec<DeclaredExtension<'d>>,
    pub imports: Vec<DocumentImport<'d>>,
    /// Those of XML Schema in its `Types`.
    pub schemas: Vec<XmlElement<'d>>,
    pub components: Vec<DefinedComponent<'d>>,
}

/// A text and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct SaidText<'d> {
    pub text: Cow<'d, str>,
    pub span: Span,
}

/// The name of a component, as somebody uses it.
#[derive(Clone, Debug)]
pub(crate) struct ComponentName<'d> {
    /// What its prefix means; nothing where that is not declared.
    pub namespace: Option<Cow<'d, str>>,
    pub local: Cow<'d, str>,
    pub has_prefix: bool,
    pub span: Span,
}

/// Section 4.2.
pub(crate) struct DeclaredExtension<'d> {
    pub namespace: SaidText<'d>,
    pub must_understand: bool,
}

/// Section 4.2.
pub(crate) struct DocumentImport<'d> {
    pub span: Span,
    pub namespace: Option<SaidText<'d>>,
    pub location: Option<SaidText<'d>>,
    pub import_type: Option<SaidText<'d>>,
}

/// What can be named from elsewhere.
pub(crate) struct DefinedComponent<'d> {
    pub kind: ComponentKind,
    pub namespace: Cow<'d, str>,
    /// Its name, or its id.
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

    /// The name of its element.
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

    /// As messages call it.
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

    /// The section that says what it has.
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

    /// The section that says what it inherits.
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

    /// Whether it is a type, of which templates are made.
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

/// What a node type lets its nodes have, so that relationships can join them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FeatureKind {
    Requirement,
    Capability,
}

impl FeatureKind {
    pub(crate) const ALL: [Self; 2] = [Self::Requirement, Self::Capability];

    /// As messages call it.
    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::Requirement => "requirement",
            Self::Capability => "capability",
        }
    }

    /// Of which kind its types are.
    pub(crate) fn types(self) -> ComponentKind {
        match self {
            Self::Requirement => ComponentKind::RequirementType,
            Self::Capability => ComponentKind::CapabilityType,
        }
    }
}

/// What a component says.
pub(crate) enum ComponentContent<'d> {
    Type(Box<EntityType<'d>>),
    Implementation(Box<TypeImplementation<'d>>),
    /// An artifact template or a policy template.
    Template(Box<EntityTemplate<'d>>),
    Service(Box<DefinedService<'d>>),
}

/// A type of any kind; what a kind does not have is empty.
#[derive(Default)]
pub(crate) struct EntityType<'d> {
    pub derived_from: Option<ComponentName<'d>>,
    pub is_abstract: Option<Span>,
    pub is_final: Option<Span>,
    pub properties: Option<PropertiesDefinition<'d>>,
    /// The same as an extension that many tools write.
    pub keys: Option<PropertyKeys<'d>>,
    pub requirements: Vec<FeatureDefinition<'d>>,
    pub capabilities: Vec<FeatureDefinition<'d>>,
    /// Those of a node type, or those at the source of a relationship type.
    pub interfaces: Vec<TypeInterface<'d>>,
    pub target_interfaces: Vec<TypeInterface<'d>>,
    pub valid_source: Option<ComponentName<'d>>,
    pub valid_target: Option<ComponentName<'d>>,
    pub required_capability: Option<ComponentName<'d>>,
    pub policy_language: Option<SaidText<'d>>,
    pub applies_to: Vec<ComponentName<'d>>,
}

impl<'d> EntityType<'d> {
    /// What it defines of a kind.
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

/// Properties as texts with names, after Winery.
pub(crate) struct PropertyKeys<'d> {
    pub span: Span,
    /// The name and the namespace of the element that they stand in.
    pub element: Option<SaidText<'d>>,
    pub namespace: Option<SaidText<'d>>,
    pub keys: Vec<PropertyKey<'d>>,
}

/// One of them, and its type of XML Schema.
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

/// A bound, and where it stands if it does.
#[derive(Clone, Copy)]
pub(crate) struct Bound {
    /// Nothing where it does not bind.
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

/// What all templates have.
pub(crate) struct EntityTemplate<'d> {
    pub type_name: Option<ComponentName<'d>>,
    /// What stands in its `Properties`.
    pub properties: Option<XmlElement<'d>>,
    pub constraints: Vec<SaidText<'d>>,
    /// Of an artifact template.
    pub references: Vec<ArtifactReference<'d>>,
}

/// Section 13.2.
pub(crate) struct ArtifactReference<'d> {
    pub reference: SaidText<'d>,
    /// Where what is included or excluded begins.
    pub pattern: Option<Span>,
}

/// Section 5.2.
#[derive(Default)]
pub(crate) struct DefinedService<'d> {
    pub substitutable: Option<ComponentName<'d>>,
    pub boundary: Option<BoundaryDefinitions<'d>>,
    pub nodes: Vec<DefinedNode<'d>>,
    pub relationships: Vec<DefinedRelationship<'d>>,
    pub plans: Vec<DefinedPlan<'d>>,
}

/// What a service template shows.
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

/// A property that is one of something inside.
pub(crate) struct PropertyMapping<'d> {
    pub element: XmlElement<'d>,
    pub own: Option<SaidText<'d>>,
    pub target: Option<SaidText<'d>>,
    pub target_property: Option<SaidText<'d>>,
}

/// A requirement or capability that is one of a node inside.
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

/// An operation of a service template, and what carries it out.
pub(crate) struct ExportedOperation<'d> {
    pub element: XmlElement<'d>,
    pub name: SaidText<'d>,
    pub by: Option<OperationTarget<'d>>,
}

/// What carries an operation out.
pub(crate) enum OperationTarget<'d> {
    Node(OperationReference<'d>),
    Relationship(OperationReference<'d>),
    Plan(Option<SaidText<'d>>),
}

/// An operation of something inside.
pub(crate) struct OperationReference<'d> {
    pub of: Option<SaidText<'d>>,
    pub interface: Option<SaidText<'d>>,
    pub operation: Option<SaidText<'d>>,
}

/// Section 5.2.
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

/// Section 5.2.
pub(crate) struct DefinedRelationship<'d> {
    pub element: XmlElement<'d>,
    pub id: SaidText<'d>,
    pub template: EntityTemplate<'d>,
    pub source: Option<SaidText<'d>>,
    pub target: Option<SaidText<'d>>,
}

/// Section 5.2.
pub(crate) struct DefinedPlan<'d> {
    pub id: SaidText<'d>,
    pub plan_type: Option<SaidText<'d>>,
    pub reference: Option<SaidText<'d>>,
    pub inputs: Vec<SaidText<'d>>,
    pub outputs: Vec<SaidText<'d>>,
}
