//! Turns XML trees into definitions. Invalid parts are left out; the check of the structure has
//! reported them.

use super::definitions::{
    ArtifactReference, ArtifactUse, Bound, BoundaryDefinitions, ComponentContent, ComponentKind,
    ComponentName, DeclaredExtension, DefinedComponent, DefinedNode, DefinedOperation, DefinedPlan,
    DefinedRelationship, DefinedService, Definitions, DocumentImport, EntityTemplate, EntityType,
    ExportedInterface, ExportedOperation, ExposedFeature, FeatureDefinition, NodeFeature,
    OperationReference, OperationTarget, PolicyUse, PropertiesDefinition, PropertyKey,
    PropertyKeys, PropertyMapping, SaidText, TypeImplementation, TypeInterface,
};
use super::rule::{DEFINITIONS, TOSCA, WINERY};
use super::structure::{by, least, most};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::tosca::xml_schema::XML_SCHEMA;
use cuvee_text::source::Span;
use cuvee_text::xml::{XmlDocument, XmlElement, is_unprefixed_name};
use std::borrow::Cow;

/// Reads the definitions of a document, if there are any.
///
/// Adds names with an undeclared prefix to `found`.
pub(crate) fn read<'d>(
    document: &'d XmlDocument,
    found: &mut Diagnostics,
) -> Option<Definitions<'d>> {
    let root = document.root();
    if !is_definitions(root) {
        return None;
    }
    let target_namespace = text(root, "targetNamespace").map(|said| said.text).unwrap_or_default();
    let mut reader = DefinitionsReader { found, target_namespace };
    let (mut components, mut named_elsewhere) = (Vec::new(), Vec::new());
    for element in root.elements().filter(|element| element.name().namespace == TOSCA) {
        let kind =
            ComponentKind::ALL.into_iter().find(|kind| kind.element() == element.name().local);
        match kind {
            Some(kind) => components.extend(reader.component(kind, element)),
            None => named_elsewhere.extend(reader.named_within(element)),
        }
    }
    Some(Definitions {
        file: document.file(),
        extensions: children(root, "Extensions", "Extension").filter_map(extension).collect(),
        imports: imports(root).collect(),
        schemas: schemas(root).collect(),
        components,
        named_elsewhere,
        target_namespace: reader.target_namespace,
    })
}

/// Whether an element is the root of definitions.
pub(crate) fn is_definitions(root: XmlElement<'_>) -> bool {
    root.name().namespace == TOSCA && root.name().local == DEFINITIONS.name
}

/// The imports of a definitions element.
pub(crate) fn imports(root: XmlElement<'_>) -> impl Iterator<Item = DocumentImport<'_>> {
    named(root, "Import").map(import)
}

/// The schemas inside a definitions element.
pub(crate) fn schemas(root: XmlElement<'_>) -> impl Iterator<Item = XmlElement<'_>> {
    let all = named(root, "Types").flat_map(XmlElement::elements);
    all.filter(|element| is_schema(*element))
}

/// Whether an element is the root of a schema.
pub(crate) fn is_schema(root: XmlElement<'_>) -> bool {
    root.name().namespace == XML_SCHEMA && root.name().local == "schema"
}

/// The child elements with this TOSCA name.
fn named<'d>(element: XmlElement<'d>, name: &'static str) -> impl Iterator<Item = XmlElement<'d>> {
    element.elements().filter(move |child| {
        let found = child.name();
        found.local == name && found.namespace == TOSCA
    })
}

fn one<'d>(element: XmlElement<'d>, name: &'static str) -> Option<XmlElement<'d>> {
    named(element, name).next()
}

/// The child elements of one name inside the child element of another name.
fn children<'d>(
    element: XmlElement<'d>,
    container: &'static str,
    name: &'static str,
) -> impl Iterator<Item = XmlElement<'d>> {
    one(element, container).into_iter().flat_map(move |container| named(container, name))
}

fn text<'d>(element: XmlElement<'d>, name: &str) -> Option<SaidText<'d>> {
    let attribute = element.attribute(name)?;
    Some(SaidText { text: attribute.collapsed(), span: attribute.value_span() })
}

/// A required text. Where it is missing, the result is empty and has the place of the element.
fn needed<'d>(element: XmlElement<'d>, name: &str) -> SaidText<'d> {
    text(element, name).unwrap_or(SaidText { text: Cow::Borrowed(""), span: element.span() })
}

/// The place of an attribute, if its value is `yes`.
fn truth(element: XmlElement<'_>, name: &str) -> Option<Span> {
    let attribute = element.attribute(name)?;
    (attribute.collapsed() == "yes").then(|| attribute.span())
}

fn lower(element: XmlElement<'_>, name: &str) -> Bound {
    let said = text(element, name);
    let value = said.as_ref().map_or(Some(1), |said| Some(least(&said.text).unwrap_or(0)));
    Bound { value, span: said.map(|said| said.span) }
}

fn upper(element: XmlElement<'_>, name: &str) -> Bound {
    let said = text(element, name);
    let value = said.as_ref().map_or(Some(1), |said| most(&said.text).flatten());
    Bound { value, span: said.map(|said| said.span) }
}

fn extension(element: XmlElement<'_>) -> Option<DeclaredExtension<'_>> {
    // Another value is reported elsewhere.
    let must_understand = text(element, "mustUnderstand").is_none_or(|said| said.text == "yes");
    Some(DeclaredExtension { namespace: text(element, "namespace")?, must_understand })
}

fn import(element: XmlElement<'_>) -> DocumentImport<'_> {
    DocumentImport {
        span: element.span(),
        namespace: text(element, "namespace"),
        location: text(element, "location"),
        import_type: text(element, "importType"),
    }
}

fn interface(element: XmlElement<'_>) -> TypeInterface<'_> {
    let operation = |element| DefinedOperation {
        element,
        name: needed(element, "name"),
        inputs: parameters(element, "InputParameters", "InputParameter"),
        outputs: parameters(element, "OutputParameters", "OutputParameter"),
    };
    TypeInterface {
        name: needed(element, "name"),
        operations: named(element, "Operation").map(operation).collect(),
    }
}

fn parameters<'d>(
    element: XmlElement<'d>,
    container: &'static str,
    name: &'static str,
) -> Vec<SaidText<'d>> {
    children(element, container, name).map(|parameter| needed(parameter, "name")).collect()
}

fn constraints(element: XmlElement<'_>) -> Vec<SaidText<'_>> {
    let all = children(element, "PropertyConstraints", "PropertyConstraint");
    all.filter_map(|constraint| text(constraint, "property")).collect()
}

fn artifact_reference(element: XmlElement<'_>) -> Option<ArtifactReference<'_>> {
    let pattern =
        element.elements().find(|child| matches!(child.name().local, "Include" | "Exclude"));
    Some(ArtifactReference {
        reference: text(element, "reference")?,
        pattern: pattern.map(XmlElement::span),
    })
}

fn plan(element: XmlElement<'_>) -> DefinedPlan<'_> {
    DefinedPlan {
        id: needed(element, "id"),
        plan_type: text(element, "planType"),
        reference: one(element, "PlanModelReference").and_then(|model| text(model, "reference")),
        inputs: parameters(element, "InputParameters", "InputParameter"),
        outputs: parameters(element, "OutputParameters", "OutputParameter"),
    }
}

fn operation_reference<'d>(element: XmlElement<'d>, of: &str) -> OperationReference<'d> {
    OperationReference {
        of: text(element, of),
        interface: text(element, "interfaceName"),
        operation: text(element, "operationName"),
    }
}

fn exported_interface(element: XmlElement<'_>) -> ExportedInterface<'_> {
    let operation = |element| {
        let node = one(element, "NodeOperation")
            .map(|by| OperationTarget::Node(operation_reference(by, "nodeRef")));
        let relationship = one(element, "RelationshipOperation")
            .map(|by| OperationTarget::Relationship(operation_reference(by, "relationshipRef")));
        let plan = one(element, "Plan").map(|by| OperationTarget::Plan(text(by, "planRef")));
        ExportedOperation {
            element,
            name: needed(element, "name"),
            by: node.or(relationship).or(plan),
        }
    };
    ExportedInterface {
        name: needed(element, "name"),
        operations: named(element, "Operation").map(operation).collect(),
    }
}

fn property_mapping(element: XmlElement<'_>) -> PropertyMapping<'_> {
    PropertyMapping {
        element,
        own: text(element, "serviceTemplatePropertyRef"),
        target: text(element, "targetObjectRef"),
        target_property: text(element, "targetPropertyRef"),
    }
}

/// The content of `Properties` that is not a property mapping.
fn properties(element: XmlElement<'_>) -> Option<XmlElement<'_>> {
    one(element, "Properties")?.elements().find(|content| content.name().namespace != TOSCA)
}

/// The properties in the notation of Winery.
fn property_keys<'d>(element: XmlElement<'d>) -> Option<PropertyKeys<'d>> {
    let is = |element: &XmlElement<'_>, name: &str| {
        element.name().namespace == WINERY && element.name().local == name
    };
    let definition = element.elements().find(|child| is(child, "PropertiesDefinition"))?;
    let part = |property: XmlElement<'d>, name: &str| {
        let found = property.elements().find(|part| is(part, name))?;
        let trimmed = match found.text() {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
            Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
        };
        Some(SaidText { text: trimmed, span: found.span() })
    };
    let properties = definition.elements().filter(|child| is(child, "properties"));
    let key = |property| {
        let type_name = part(property, "type").map(|said| said.text);
        let is_required = part(property, "required").is_some_and(|said| said.text == "true");
        let (name, default) = (part(property, "key")?, part(property, "defaultValue"));
        Some(PropertyKey { name, type_name, is_required, default })
    };
    Some(PropertyKeys {
        span: definition.span(),
        element: text(definition, "elementname"),
        namespace: text(definition, "namespace"),
        keys: properties.filter_map(key).collect(),
    })
}

fn exposed(element: XmlElement<'_>) -> ExposedFeature<'_> {
    ExposedFeature { name: text(element, "name"), reference: text(element, "ref") }
}

struct DefinitionsReader<'f, 'd> {
    found: &'f mut Diagnostics,
    target_namespace: Cow<'d, str>,
}

/// The elements of templates with the attributes that name components.
const NAMING: [(&str, &str, ComponentKind); 8] = [
    ("NodeTemplate", "type", ComponentKind::NodeType),
    ("RelationshipTemplate", "type", ComponentKind::RelationshipType),
    ("Requirement", "type", ComponentKind::RequirementType),
    ("Capability", "type", ComponentKind::CapabilityType),
    ("Policy", "policyType", ComponentKind::PolicyType),
    ("Policy", "policyRef", ComponentKind::PolicyTemplate),
    ("DeploymentArtifact", "artifactType", ComponentKind::ArtifactType),
    ("DeploymentArtifact", "artifactRef", ComponentKind::ArtifactTemplate),
];

impl<'d> DefinitionsReader<'_, 'd> {
    /// The components that templates within an element name.
    fn named_within(&mut self, element: XmlElement<'d>) -> Vec<(ComponentKind, ComponentName<'d>)> {
        let mut named = Vec::new();
        for part in element.subtree().filter(|part| part.name().namespace == TOSCA) {
            let local = part.name().local;
            for (_, attribute, kind) in NAMING.into_iter().filter(|(name, ..)| *name == local) {
                named.extend(self.reference(part, attribute).map(|name| (kind, name)));
            }
        }
        named
    }

    /// The component name in an attribute (statement Q1).
    fn reference(&mut self, element: XmlElement<'d>, attribute: &str) -> Option<ComponentName<'d>> {
        let attribute = element.attribute(attribute)?;
        let (value, span) = (attribute.collapsed(), attribute.value_span());
        let (prefix, local) = match &value {
            Cow::Borrowed(value) => {
                let (prefix, local) = value.split_once(':').unwrap_or(("", value));
                (Cow::Borrowed(prefix), Cow::Borrowed(local))
            }
            Cow::Owned(value) => {
                let (prefix, local) = value.split_once(':').unwrap_or(("", value));
                (Cow::Owned(prefix.to_owned()), Cow::Owned(local.to_owned()))
            }
        };
        if !is_unprefixed_name(&local) || !prefix.is_empty() && !is_unprefixed_name(&prefix) {
            return None;
        }
        let namespace = element.namespace(&prefix);
        if namespace.is_none() {
            let message = format!("no namespace is declared for the prefix `{prefix}`");
            let error = Diagnostic::error(Code::Syntax, message).at(span).rule(by("2.6"));
            self.found.push(error.help(format!("declare it: `xmlns:{prefix}=\"...\"`")));
        }
        Some(ComponentName { namespace, local, has_prefix: !prefix.is_empty(), span })
    }

    fn component(
        &mut self,
        kind: ComponentKind,
        element: XmlElement<'d>,
    ) -> Option<DefinedComponent<'d>> {
        let name = text(element, "name").filter(|_| text(element, "id").is_none());
        let content = match kind {
            ComponentKind::ServiceTemplate => {
                ComponentContent::Service(Box::new(self.service(element)))
            }
            ComponentKind::ArtifactTemplate | ComponentKind::PolicyTemplate => {
                ComponentContent::Template(Box::new(self.template(element)))
            }
            ComponentKind::NodeTypeImplementation
            | ComponentKind::RelationshipTypeImplementation => {
                ComponentContent::Implementation(Box::new(self.implementation(kind, element)))
            }
            _ => ComponentContent::Type(Box::new(self.entity_type(kind, element))),
        };
        let namespace = text(element, "targetNamespace").map(|said| said.text);
        Some(DefinedComponent {
            kind,
            namespace: namespace.unwrap_or_else(|| self.target_namespace.clone()),
            name: name.or_else(|| text(element, "id"))?,
            element,
            content,
        })
    }

    fn entity_type(&mut self, kind: ComponentKind, element: XmlElement<'d>) -> EntityType<'d> {
        let type_ref = |name| one(element, name);
        let (source_interfaces, target_interfaces) = match kind {
            ComponentKind::RelationshipType => ("SourceInterfaces", "TargetInterfaces"),
            _ => ("Interfaces", ""),
        };
        let interfaces = |container| children(element, container, "Interface").map(interface);
        let mut referred = |name| self.reference(type_ref(name)?, "typeRef");
        let (derived_from, valid_source, valid_target) =
            (referred("DerivedFrom"), referred("ValidSource"), referred("ValidTarget"));
        let applies_to = children(element, "AppliesTo", "NodeTypeReference");
        EntityType {
            derived_from,
            is_abstract: truth(element, "abstract"),
            is_final: truth(element, "final"),
            properties: type_ref("PropertiesDefinition").map(|of| PropertiesDefinition {
                span: of.span(),
                element: self.reference(of, "element"),
                type_name: self.reference(of, "type"),
            }),
            keys: property_keys(element),
            requirements: children(element, "RequirementDefinitions", "RequirementDefinition")
                .map(|definition| self.feature_definition(definition, "requirementType"))
                .collect(),
            capabilities: children(element, "CapabilityDefinitions", "CapabilityDefinition")
                .map(|definition| self.feature_definition(definition, "capabilityType"))
                .collect(),
            interfaces: interfaces(source_interfaces).collect(),
            target_interfaces: interfaces(target_interfaces).collect(),
            valid_source,
            valid_target,
            required_capability: self.reference(element, "requiredCapabilityType"),
            policy_language: text(element, "policyLanguage"),
            applies_to: applies_to.filter_map(|to| self.reference(to, "typeRef")).collect(),
        }
    }

    fn feature_definition(
        &mut self,
        element: XmlElement<'d>,
        type_name: &str,
    ) -> FeatureDefinition<'d> {
        FeatureDefinition {
            name: needed(element, "name"),
            type_name: self.reference(element, type_name),
            lower: lower(element, "lowerBound"),
            upper: upper(element, "upperBound"),
        }
    }

    fn implementation(
        &mut self,
        kind: ComponentKind,
        element: XmlElement<'d>,
    ) -> TypeImplementation<'d> {
        let (parent, of) = match kind {
            ComponentKind::NodeTypeImplementation => ("nodeTypeImplementationRef", "nodeType"),
            _ => ("relationshipTypeImplementationRef", "relationshipType"),
        };
        let derived = one(element, "DerivedFrom");
        TypeImplementation {
            derived_from: derived.and_then(|derived| self.reference(derived, parent)),
            is_abstract: truth(element, "abstract"),
            is_final: truth(element, "final"),
            of: self.reference(element, of),
            implementation_artifacts: self.artifacts(
                element,
                "ImplementationArtifacts",
                "ImplementationArtifact",
            ),
            deployment_artifacts: self.artifacts(
                element,
                "DeploymentArtifacts",
                "DeploymentArtifact",
            ),
        }
    }

    fn artifacts(
        &mut self,
        element: XmlElement<'d>,
        container: &'static str,
        name: &'static str,
    ) -> Vec<ArtifactUse<'d>> {
        let all = children(element, container, name);
        all.map(|artifact| ArtifactUse {
            element: artifact,
            name: text(artifact, "name"),
            interface: text(artifact, "interfaceName"),
            operation: text(artifact, "operationName"),
            type_name: self.reference(artifact, "artifactType"),
            template: self.reference(artifact, "artifactRef"),
        })
        .collect()
    }

    fn template(&mut self, element: XmlElement<'d>) -> EntityTemplate<'d> {
        let references = children(element, "ArtifactReferences", "ArtifactReference");
        EntityTemplate {
            type_name: self.reference(element, "type"),
            properties: properties(element),
            constraints: constraints(element),
            references: references.filter_map(artifact_reference).collect(),
        }
    }

    fn policies(&mut self, element: XmlElement<'d>) -> Vec<PolicyUse<'d>> {
        let all = children(element, "Policies", "Policy");
        all.map(|policy| PolicyUse {
            element: policy,
            name: text(policy, "name"),
            type_name: self.reference(policy, "policyType"),
            template: self.reference(policy, "policyRef"),
        })
        .collect()
    }

    fn service(&mut self, element: XmlElement<'d>) -> DefinedService<'d> {
        let boundary = one(element, "BoundaryDefinitions");
        let mut service = DefinedService {
            substitutable: self.reference(element, "substitutableNodeType"),
            boundary: boundary.map(|boundary| self.boundary(boundary)),
            plans: children(element, "Plans", "Plan").map(plan).collect(),
            ..DefinedService::default()
        };
        let Some(topology) = one(element, "TopologyTemplate") else { return service };
        service.nodes = named(topology, "NodeTemplate").map(|node| self.node(node)).collect();
        let relationships = named(topology, "RelationshipTemplate");
        service.relationships = relationships.map(|it| self.relationship(it)).collect();
        service
    }

    fn boundary(&mut self, element: XmlElement<'d>) -> BoundaryDefinitions<'d> {
        let mappings = named(element, "Properties")
            .flat_map(|it| children(it, "PropertyMappings", "PropertyMapping"));
        BoundaryDefinitions {
            properties: properties(element),
            mappings: mappings.map(property_mapping).collect(),
            constraints: constraints(element),
            requirements: children(element, "Requirements", "Requirement").map(exposed).collect(),
            capabilities: children(element, "Capabilities", "Capability").map(exposed).collect(),
            policies: self.policies(element),
            interfaces: children(element, "Interfaces", "Interface")
                .map(exported_interface)
                .collect(),
        }
    }

    fn node(&mut self, element: XmlElement<'d>) -> DefinedNode<'d> {
        DefinedNode {
            element,
            id: needed(element, "id"),
            template: self.template(element),
            least: lower(element, "minInstances"),
            most: upper(element, "maxInstances"),
            requirements: self.features(element, "Requirements", "Requirement"),
            capabilities: self.features(element, "Capabilities", "Capability"),
            policies: self.policies(element),
            artifacts: self.artifacts(element, "DeploymentArtifacts", "DeploymentArtifact"),
        }
    }

    fn features(
        &mut self,
        element: XmlElement<'d>,
        container: &'static str,
        name: &'static str,
    ) -> Vec<NodeFeature<'d>> {
        let all = children(element, container, name);
        let all = all.map(|feature| NodeFeature {
            element: feature,
            id: needed(feature, "id"),
            name: needed(feature, "name"),
            template: self.template(feature),
        });
        let mut features: Vec<_> = all.collect();
        // Most nodes have few, of which there is one list for each node.
        features.shrink_to_fit();
        features
    }

    fn relationship(&mut self, element: XmlElement<'d>) -> DefinedRelationship<'d> {
        let end = |name| one(element, name).and_then(|end| text(end, "ref"));
        DefinedRelationship {
            element,
            id: needed(element, "id"),
            template: self.template(element),
            source: end("SourceElement"),
            target: end("TargetElement"),
        }
    }
}
