//! Checks service templates: their nodes and relationships against their types, and what they
//! expose.

use super::checker::DefinitionsChecker;
use crate::diagnostic::{Code, Diagnostic, Severity, did_you_mean};
use crate::tosca::v1_0::definitions::{
    Bound, BoundaryDefinitions, ComponentKind, DefinedNode, DefinedRelationship, DefinedService,
    ExposedFeature, FeatureDefinition, FeatureKind, NodeFeature, OperationReference,
    OperationTarget, PropertyMapping, SaidText,
};
use crate::tosca::v1_0::{ComponentId, ExpectedProperties};
use cuvee_text::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// An element that an id of a service template refers to.
#[derive(Clone, Copy)]
struct ServiceElement {
    kind: NamedKind,
    /// The type of the element.
    type_id: Option<ComponentId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NamedKind {
    Node,
    Relationship,
    Feature(FeatureKind),
    Plan,
}

const REQUIREMENT: NamedKind = NamedKind::Feature(FeatureKind::Requirement);
const CAPABILITY: NamedKind = NamedKind::Feature(FeatureKind::Capability);

impl NamedKind {
    fn what(self) -> &'static str {
        match self {
            Self::Node => "node template",
            Self::Relationship => "relationship template",
            Self::Feature(kind) => kind.what(),
            Self::Plan => "plan",
        }
    }
}

type ServiceElements<'s> = FxHashMap<&'s str, ServiceElement>;

impl<'l, 'd> DefinitionsChecker<'l, 'd> {
    /// Checks a service template (section 5.2).
    pub(super) fn service(&mut self, document: usize, service: &DefinedService<'d>) {
        let mut named = ServiceElements::default();
        // Most nodes have one or two requirements or capabilities.
        named.reserve(2 * service.nodes.len() + service.relationships.len());
        let sources = service.relationships.iter().filter_map(|it| it.source.as_ref());
        let leaving: FxHashSet<&str> = sources.map(|source| &*source.text).collect();
        for node in &service.nodes {
            let type_id = self.node(document, node, &mut named);
            // If a relationship starts at the node itself, it is open which requirement it belongs
            // to.
            if !leaving.contains(&*node.id.text) {
                self.least_requirements(type_id, node);
            }
        }
        let mut types = Vec::with_capacity(service.relationships.len());
        for relationship in &service.relationships {
            let kind = ComponentKind::RelationshipType;
            let type_id = self.template(kind, document, &relationship.template, "5.2");
            let element = ServiceElement { kind: NamedKind::Relationship, type_id };
            named.insert(&relationship.id.text, element);
            types.push(type_id);
        }
        for plan in &service.plans {
            let element = ServiceElement { kind: NamedKind::Plan, type_id: None };
            named.insert(&plan.id.text, element);
        }
        for (relationship, type_id) in service.relationships.iter().zip(types) {
            self.relationship(relationship, type_id, &named);
        }
        self.plans(service);
        let substitutable = service.substitutable.as_ref();
        let type_id = self.named(ComponentKind::NodeType, document, substitutable, "5.2");
        if let Some(boundary) = &service.boundary {
            let expected = type_id.map(|id| self.schemas.expected(self.library, id));
            let own = expected.unwrap_or(ExpectedProperties::Unknown);
            if let (Some(root), Some(type_id)) = (boundary.properties, type_id) {
                self.properties_root(root, type_id, own, "5.2");
            }
            self.boundary(document, boundary, &named, own);
        }
        if let (Some(type_id), Some(name)) = (type_id, substitutable) {
            let none = BoundaryDefinitions::default();
            let boundary = service.boundary.as_ref().unwrap_or(&none);
            self.exposes_all(type_id, boundary, &named, name.span);
        }
    }

    fn node<'s>(
        &mut self,
        document: usize,
        node: &'s DefinedNode<'d>,
        named: &mut ServiceElements<'s>,
    ) -> Option<ComponentId> {
        let type_id = self.template(ComponentKind::NodeType, document, &node.template, "5.2");
        let element = ServiceElement { kind: NamedKind::Node, type_id };
        named.insert(&node.id.text, element);
        self.bounds(node.least, node.most, node.id.span);
        for (kind, features) in [
            (FeatureKind::Requirement, &node.requirements),
            (FeatureKind::Capability, &node.capabilities),
        ] {
            self.unique_features(kind, type_id, features);
            for feature in features {
                let type_id = self.node_feature(document, kind, type_id, feature);
                let element = ServiceElement { kind: NamedKind::Feature(kind), type_id };
                named.insert(&feature.id.text, element);
            }
        }
        let names = node.policies.iter().filter_map(|policy| policy.name.as_ref());
        self.unique(names, "policy", "5.2", Severity::Error);
        for policy in &node.policies {
            let policy_type = self.policy(document, policy);
            self.applies(policy_type, type_id, policy.type_name.as_ref().map(|name| name.span));
        }
        let names = node.artifacts.iter().filter_map(|artifact| artifact.name.as_ref());
        self.unique(names, "deployment artifact", "5.2", Severity::Warning);
        for artifact in &node.artifacts {
            self.artifact(document, artifact, "5.2");
        }
        type_id
    }

    fn bounds(&mut self, least: Bound, most: Bound, at: Span) {
        if let (Some(low), Some(high)) = (least.value, most.value)
            && low > high
        {
            let message = format!("at least {low} instances are more than at most {high}");
            let at = least.span.or(most.span).unwrap_or(at);
            self.error(Code::InvalidValue, at, "5.2", message);
        }
    }

    /// Checks that a requirement or capability has a definition of its name and type (statement
    /// C9).
    fn node_feature(
        &mut self,
        document: usize,
        kind: FeatureKind,
        node_type: Option<ComponentId>,
        feature: &NodeFeature<'d>,
    ) -> Option<ComponentId> {
        let type_id = self.template(kind.types(), document, &feature.template, "5.2");
        let node_type = node_type.filter(|id| self.library.is_whole(*id))?;
        let Some((defined, at)) = self.feature(node_type, kind, &feature.name.text) else {
            if self.definition(node_type, kind, &feature.name.text).is_none() {
                self.undefined_feature(kind, node_type, feature);
            }
            return type_id;
        };
        if let (Some(type_id), Some(name)) = (type_id, &feature.template.type_name)
            && type_id != defined
        {
            let message = format!(
                "the {} `{}` is defined with the type `{}`, not `{}`",
                kind.what(),
                feature.name.text,
                self.name(defined),
                name.local
            );
            let error = Diagnostic::error(Code::IncompatibleType, message).at(name.span);
            self.say(error.label(at, "defined here"), "5.2");
        }
        type_id
    }

    /// The nearest definition of this name, whatever its type.
    fn definition(
        &self,
        node_type: ComponentId,
        kind: FeatureKind,
        name: &str,
    ) -> Option<&'l FeatureDefinition<'d>> {
        let mut all = self.library.features(node_type, kind).map(|(_, feature)| feature);
        all.find(|feature| feature.name.text == name)
    }

    fn undefined_feature(
        &mut self,
        kind: FeatureKind,
        node_type: ComponentId,
        feature: &NodeFeature<'d>,
    ) {
        let (name, what) = (&feature.name, kind.what());
        let message = format!("`{}` defines no {what} `{}`", self.name(node_type), name.text);
        let known = self.library.features(node_type, kind).map(|(_, known)| &*known.name.text);
        let meant = did_you_mean(&name.text, known);
        let error = Diagnostic::error(Code::UnknownDefinition, message).at(name.span);
        self.say(error.help_opt(meant), "5.2");
    }

    /// Checks that there are not more requirements or capabilities of a name than the definition
    /// allows.
    fn unique_features(
        &mut self,
        kind: FeatureKind,
        node_type: Option<ComponentId>,
        features: &[NodeFeature<'d>],
    ) {
        let Some(node_type) = node_type else { return };
        let mut counts: FxHashMap<&str, u64> = FxHashMap::default();
        for feature in features {
            let count = counts.entry(&feature.name.text).or_insert(0);
            *count += 1;
            let definition = self.definition(node_type, kind, &feature.name.text);
            let upper = definition.and_then(|definition| definition.upper.value);
            let Some(upper) = upper.filter(|upper| *count > *upper) else { continue };
            let message = format!(
                "`{}` may occur {upper} times, and this is occurrence {count}",
                feature.name.text
            );
            self.error(Code::TooManyRelations, feature.name.span, "5.2", message);
        }
    }

    /// Notes a mandatory requirement that is missing, so that it is left to the container.
    fn least_requirements(&mut self, type_id: Option<ComponentId>, node: &DefinedNode<'d>) {
        let Some(type_id) = type_id else { return };
        for (_, feature) in self.library.effective_features(type_id, FeatureKind::Requirement) {
            let name = &*feature.name.text;
            let is_there = node.requirements.iter().any(|own| own.name.text == name);
            if is_there || feature.lower.value == Some(0) {
                continue;
            }
            let message =
                format!("`{}` does not have the requirement `{name}` of its type", node.id.text);
            let note = Diagnostic::note(Code::MissingRequirement, message).at(node.id.span);
            self.say(note.label(feature.name.span, "the type requires it here"), "5.2");
        }
    }

    /// Checks that a policy applies to the type of a node: to a type that it names, or one derived
    /// from it.
    fn applies(
        &mut self,
        policy: Option<ComponentId>,
        node_type: Option<ComponentId>,
        at: Option<Span>,
    ) {
        let (Some(policy), Some(node_type), Some(at)) = (policy, node_type, at) else { return };
        let library = self.library;
        if !library.is_whole(node_type) || !library.is_whole(policy) {
            return;
        }
        let mut named = false;
        for owner in library.ancestry(policy) {
            let Some(said) = library.entity_type(owner) else { continue };
            for name in &said.applies_to {
                named = true;
                match library.find(ComponentKind::NodeType, library.document(owner), name).id() {
                    Some(id) if !library.derives(node_type, id) => {}
                    _ => return,
                }
            }
        }
        if named {
            let message = format!(
                "the policy type `{}` does not apply to `{}`",
                self.name(policy),
                self.name(node_type)
            );
            self.error(Code::IncompatibleType, at, "14.2", message);
        }
    }

    /// Checks the source and the target of a relationship (statements C10 and C12).
    fn relationship(
        &mut self,
        relationship: &DefinedRelationship<'d>,
        type_id: Option<ComponentId>,
        named: &ServiceElements<'_>,
    ) {
        let source = self.end(relationship.source.as_ref(), named, REQUIREMENT);
        let target = self.end(relationship.target.as_ref(), named, CAPABILITY);
        if let Some(type_id) = type_id {
            let valid_source = self.valid(type_id, FeatureKind::Requirement);
            let valid_target = self.valid(type_id, FeatureKind::Capability);
            self.fits(type_id, valid_source, source, relationship.source.as_ref());
            self.fits(type_id, valid_target, target, relationship.target.as_ref());
        }
        let (Some(source), Some(target), Some(at)) = (source, target, &relationship.target) else {
            return;
        };
        if let (REQUIREMENT, CAPABILITY) = (source.kind, target.kind)
            && let (Some(requirement), Some(capability)) = (source.type_id, target.type_id)
        {
            self.joined(requirement, capability, at.span, "10.2");
        }
    }

    fn end(
        &mut self,
        reference: Option<&SaidText<'d>>,
        named: &ServiceElements<'_>,
        other: NamedKind,
    ) -> Option<ServiceElement> {
        self.named_here(reference?, named, &[NamedKind::Node, other])
    }

    /// The element that an id refers to; reports an error if it is not of one of these kinds.
    fn named_here(
        &mut self,
        reference: &SaidText<'d>,
        named: &ServiceElements<'_>,
        kinds: &[NamedKind],
    ) -> Option<ServiceElement> {
        let is_meant = |element: &ServiceElement| kinds.contains(&element.kind);
        let all = |or: &str| kinds.iter().map(|kind| kind.what()).collect::<Vec<_>>().join(or);
        match named.get(&*reference.text) {
            Some(element) if is_meant(element) => Some(*element),
            Some(element) => {
                let message = format!(
                    "`{}` is a {}, not a {}",
                    reference.text,
                    element.kind.what(),
                    all(" or a ")
                );
                self.error(Code::UnknownElement, reference.span, "5.2", message);
                None
            }
            None => {
                let what = all(" or ");
                let message =
                    format!("there is no {what} `{}` in this service template", reference.text);
                let known = named.iter().filter(|(_, it)| is_meant(it)).map(|(name, _)| &**name);
                let error = Diagnostic::error(Code::UnknownElement, message).at(reference.span);
                self.say(error.help_opt(did_you_mean(&reference.text, known)), "5.2");
                None
            }
        }
    }

    /// The valid source or target of a relationship type, declared or inherited: a node type, or a
    /// requirement or capability type.
    fn valid(
        &self,
        type_id: ComponentId,
        feature: FeatureKind,
    ) -> Option<(ComponentKind, ComponentId)> {
        self.library.ancestry(type_id).find_map(|owner| {
            let said = self.library.entity_type(owner)?;
            let name = match feature {
                FeatureKind::Requirement => said.valid_source.as_ref()?,
                FeatureKind::Capability => said.valid_target.as_ref()?,
            };
            let find = |kind| self.library.find(kind, self.library.document(owner), name).id();
            let kinds = [feature.types(), ComponentKind::NodeType];
            kinds.into_iter().find_map(|kind| Some((kind, find(kind)?)))
        })
    }

    fn fits(
        &mut self,
        type_id: ComponentId,
        valid: Option<(ComponentKind, ComponentId)>,
        end: Option<ServiceElement>,
        reference: Option<&SaidText<'d>>,
    ) {
        let (Some((kind, valid)), Some(end), Some(reference)) = (valid, end, reference) else {
            return;
        };
        let is_node = end.kind == NamedKind::Node;
        // If a relationship type joins requirements and capabilities, but an end is a node, the
        // container chooses which feature of the node is meant.
        let Some(own) = end.type_id.filter(|_| is_node == (kind == ComponentKind::NodeType)) else {
            return;
        };
        if self.library.derives(own, valid) || !self.library.is_whole(own) {
            return;
        }
        let message = format!(
            "`{}` leads between `{}` and what derives from it, and `{}` is a `{}`",
            self.name(type_id),
            self.name(valid),
            reference.text,
            self.name(own)
        );
        self.error(Code::IncompatibleType, reference.span, "5.2", message);
    }

    /// Checks that there is at most one build plan and one termination plan, and that the models of
    /// plans are files.
    fn plans(&mut self, service: &DefinedService<'d>) {
        const KINDS: [&str; 2] = ["/BuildPlan", "/TerminationPlan"];
        let mut first: FxHashMap<&str, Span> = FxHashMap::default();
        for plan in &service.plans {
            if let Some(reference) = &plan.reference {
                self.file(reference, "5.2");
            }
            self.unique(&plan.inputs, "input parameter", "5.2", Severity::Error);
            self.unique(&plan.outputs, "output parameter", "5.2", Severity::Error);
            let Some(kind) = &plan.plan_type else { continue };
            if !KINDS.iter().any(|known| kind.text.ends_with(known)) {
                continue;
            }
            if let Some(other) = first.insert(&kind.text, kind.span) {
                let message = "another plan of this type is for the whole service template as well";
                let note = Diagnostic::note(Code::Duplicate, message).at(kind.span);
                self.say(note.label(other, "this one"), "5.2");
            }
        }
    }

    fn boundary(
        &mut self,
        document: usize,
        boundary: &BoundaryDefinitions<'d>,
        named: &ServiceElements<'_>,
        own: ExpectedProperties,
    ) {
        self.unique(&boundary.constraints, "constraint of", "5.2", Severity::Error);
        for mapping in &boundary.mappings {
            self.property_mapping(mapping, named, own);
        }
        for (exposed, kind) in
            [(&boundary.requirements, REQUIREMENT), (&boundary.capabilities, CAPABILITY)]
        {
            let references = exposed.iter().filter_map(|feature| feature.reference.as_ref());
            references.for_each(|reference| {
                self.named_here(reference, named, &[kind]);
            });
        }
        let names = boundary.policies.iter().filter_map(|policy| policy.name.as_ref());
        self.unique(names, "policy", "5.2", Severity::Error);
        for policy in &boundary.policies {
            self.policy(document, policy);
        }
        let names = boundary.interfaces.iter().map(|interface| &interface.name);
        self.unique(names, "interface", "5.2", Severity::Error);
        for interface in &boundary.interfaces {
            let names = interface.operations.iter().map(|operation| &operation.name);
            self.unique(names, "operation", "5.2", Severity::Error);
            for operation in &interface.operations {
                match &operation.by {
                    Some(OperationTarget::Node(by)) => self.carried(by, named, NamedKind::Node),
                    Some(OperationTarget::Relationship(by)) => {
                        self.carried(by, named, NamedKind::Relationship);
                    }
                    Some(OperationTarget::Plan(Some(plan))) => {
                        self.named_here(plan, named, &[NamedKind::Plan]);
                    }
                    Some(OperationTarget::Plan(None)) | None => {}
                }
            }
        }
    }

    /// Checks a reference to an operation of an inner element (statement C16).
    fn carried(
        &mut self,
        by: &OperationReference<'d>,
        named: &ServiceElements<'_>,
        kind: NamedKind,
    ) {
        let Some(of) = &by.of else { return };
        let Some(element) = self.named_here(of, named, &[kind]) else { return };
        let type_id = element.type_id.filter(|id| self.library.is_whole(*id));
        if let (Some(type_id), Some(interface)) = (type_id, &by.interface) {
            self.operation(type_id, interface, by.operation.as_ref(), "5.2");
        }
    }

    /// Checks a property mapping: the inner property exists and has a compatible type (statement
    /// C17).
    fn property_mapping(
        &mut self,
        mapping: &PropertyMapping<'d>,
        named: &ServiceElements<'_>,
        own: ExpectedProperties,
    ) {
        let kinds = [NamedKind::Node, NamedKind::Relationship, REQUIREMENT, CAPABILITY];
        let target = mapping.target.as_ref();
        let target = target.and_then(|target| self.named_here(target, named, &kinds));
        let of_target = target.and_then(|target| target.type_id);
        let of_target = of_target.map(|id| self.schemas.expected(self.library, id));
        let mut leads = |path: &Option<SaidText<'d>>, expected| {
            path.as_ref().and_then(|path| self.leads(path, expected, "5.2"))
        };
        let own = leads(&mapping.own, own);
        let target =
            leads(&mapping.target_property, of_target.unwrap_or(ExpectedProperties::Unknown));
        if let (Some(own), Some(target), Some(at)) = (own, target, &mapping.target_property)
            && !self.schemas.set.may_share(own, target)
        {
            let set = &self.schemas.set;
            let (own, target) = (set.type_name(own), set.type_name(target));
            let message = format!("a `{own}` cannot be a `{target}`");
            self.error(Code::IncompatibleType, at.span, "5.2", message);
        }
    }

    /// Checks that a service template exposes all that the node type requires for which it may be
    /// substituted (statement C19).
    fn exposes_all(
        &mut self,
        type_id: ComponentId,
        boundary: &BoundaryDefinitions<'d>,
        named: &ServiceElements<'_>,
        at: Span,
    ) {
        if !self.library.is_whole(type_id) {
            return;
        }
        for (kind, exposed) in [
            (FeatureKind::Requirement, &boundary.requirements),
            (FeatureKind::Capability, &boundary.capabilities),
        ] {
            for feature in exposed {
                self.exposed(type_id, kind, feature, named);
            }
            for (_, feature) in self.library.effective_features(type_id, kind) {
                let name = &feature.name.text;
                let is_shown =
                    exposed.iter().any(|it| it.name.as_ref().is_some_and(|it| it.text == *name));
                if !is_shown && feature.lower.value != Some(0) {
                    let message = format!(
                        "the service template may substitute a `{}`, but does not show the {} `{name}`",
                        self.name(type_id),
                        kind.what()
                    );
                    let warning = Diagnostic::warning(Code::MissingRequirement, message);
                    self.say(warning.at(at), "5.2");
                }
            }
        }
    }

    fn exposed(
        &mut self,
        type_id: ComponentId,
        kind: FeatureKind,
        feature: &ExposedFeature<'d>,
        named: &ServiceElements<'_>,
    ) {
        let Some(name) = &feature.name else { return };
        let what = kind.what();
        let Some((defined, _)) = self.feature(type_id, kind, &name.text) else {
            // A definition with an unknown type has already been reported.
            if self.definition(type_id, kind, &name.text).is_some() {
                return;
            }
            let message = format!("`{}` defines no {what} `{}`", self.name(type_id), name.text);
            let warning = Diagnostic::warning(Code::UnknownDefinition, message);
            self.say(warning.at(name.span), "5.2");
            return;
        };
        let reference = feature.reference.as_ref();
        let own = reference.and_then(|it| named.get(&*it.text)).and_then(|it| it.type_id);
        if let (Some(own), Some(reference)) = (own, reference)
            && !self.library.derives(own, defined)
            && self.library.is_whole(own)
        {
            let message = format!(
                "the {what} `{}` is a `{}`, and this is a `{}`",
                name.text,
                self.name(defined),
                self.name(own)
            );
            let warning = Diagnostic::warning(Code::IncompatibleType, message);
            self.say(warning.at(reference.span), "5.2");
        }
    }
}
