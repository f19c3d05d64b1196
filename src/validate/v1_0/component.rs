//! Checks types, implementations, and the templates of artifacts and policies.

use super::checker::DefinitionsChecker;
use crate::diagnostic::{Code, Diagnostic, Severity, listed};
use crate::tosca::v1_0::ComponentId;
use crate::tosca::v1_0::definitions::{
    ArtifactUse, ComponentContent, ComponentKind, ComponentName, DefinedComponent, EntityTemplate,
    EntityType, FeatureKind, PolicyUse, SaidText, TypeImplementation, TypeInterface,
};
use cuvee_text::source::Span;

impl<'l, 'd> DefinitionsChecker<'l, 'd> {
    pub(super) fn components(&mut self) {
        let library = self.library;
        for id in library.ids() {
            let component = library.component(id);
            match &component.content {
                ComponentContent::Type(said) => self.entity_type(id, component, said),
                ComponentContent::Implementation(said) => self.implementation(id, component, said),
                ComponentContent::Template(said) => {
                    let kind = match component.kind {
                        ComponentKind::PolicyTemplate => ComponentKind::PolicyType,
                        _ => ComponentKind::ArtifactType,
                    };
                    let document = library.document(id);
                    self.template(kind, document, said, component.kind.section());
                    self.references(said);
                }
                ComponentContent::Service(said) => {
                    self.service(library.document(id), said);
                }
            }
        }
    }

    /// Checks an entity type.
    fn entity_type(
        &mut self,
        id: ComponentId,
        component: &DefinedComponent<'d>,
        said: &EntityType<'d>,
    ) {
        let (kind, section) = (component.kind, component.kind.section());
        self.derivation(id, said.derived_from.as_ref(), (said.is_abstract, said.is_final));
        if let Some(properties) = &said.properties {
            let both = (&properties.element, &properties.type_name);
            let message = match both {
                (Some(_), Some(_)) => "`PropertiesDefinition` has `element` or `type`, not both",
                (None, None) => "`PropertiesDefinition` needs `element` or `type`",
                _ => "",
            };
            if !message.is_empty() {
                self.error(Code::InvalidDefinition, properties.span, section, message);
            }
        }
        self.defined_properties(id, component, said);
        for kind in FeatureKind::ALL {
            self.features(id, said, kind);
        }
        self.interfaces(&said.interfaces, section);
        self.interfaces(&said.target_interfaces, section);
        match kind {
            ComponentKind::NodeType => self.has_to_be_abstract(id, said),
            ComponentKind::RelationshipType => self.ends(id, said),
            ComponentKind::RequirementType => {
                let capability = said.required_capability.as_ref();
                let document = self.library.document(id);
                self.named(ComponentKind::CapabilityType, document, capability, section);
            }
            ComponentKind::PolicyType => self.policy_type(id, said),
            _ => {}
        }
    }

    /// Checks the parent of a type: it is of the same kind and not final, and derivation is acyclic
    /// (statement C4).
    fn derivation(
        &mut self,
        id: ComponentId,
        parent: Option<&ComponentName<'d>>,
        (is_abstract, is_final): (Option<Span>, Option<Span>),
    ) {
        let library = self.library;
        let component = library.component(id);
        if let (Some(at), Some(other)) = (is_final, is_abstract) {
            let message =
                format!("`{}` is final and abstract, so it can never be used", component.name.text);
            let error = Diagnostic::error(Code::InvalidDefinition, message).at(at);
            self.say(error.label(other, "abstract"), component.kind.section());
        }
        let section = component.kind.derivation_section();
        let Some(name) = parent else { return };
        let Some(parent) = self.named(component.kind, library.document(id), Some(name), section)
        else {
            return;
        };
        if library.ancestry(parent).any(|it| it == id) {
            // Only one member of a cycle reports it.
            if library.ancestry(id).min() != Some(id) {
                return;
            }
            let all: Vec<_> = library.ancestry(id).map(|id| self.name(id)).collect();
            let message = format!("`{}` derives from itself", component.name.text);
            let error = Diagnostic::error(Code::CyclicType, message).at(name.span);
            self.say(error.help(format!("the cycle is {}", listed(all))), section);
            return;
        }
        let is_final = match &library.component(parent).content {
            ComponentContent::Type(said) => said.is_final,
            ComponentContent::Implementation(said) => said.is_final,
            _ => None,
        };
        if let Some(at) = is_final {
            let message = format!("nothing may derive from `{}`, which is final", name.local);
            let error = Diagnostic::error(Code::FinalType, message).at(name.span);
            self.say(
                error.label(at, "it is declared here"),
                library.component(parent).kind.section(),
            );
        }
    }

    /// Checks requirement or capability definitions: names, types, bounds, and what they override.
    fn features(&mut self, id: ComponentId, said: &EntityType<'d>, kind: FeatureKind) {
        let (features, what) = (said.features(kind), kind.what());
        let names = features.iter().map(|feature| &feature.name);
        self.unique(names, what, "6.2", Severity::Error);
        let document = self.library.document(id);
        for feature in features {
            let type_id = self.named(kind.types(), document, feature.type_name.as_ref(), "6.2");
            if let (Some(lower), Some(upper)) = (feature.lower.value, feature.upper.value)
                && lower > upper
            {
                let at = feature.lower.span.or(feature.upper.span).unwrap_or(feature.name.span);
                let message = format!("the lower bound {lower} is above the upper one, {upper}");
                self.error(Code::InvalidValue, at, "6.2", message);
            }
            if kind == FeatureKind::Capability && feature.lower.value == Some(0) {
                let at = feature.lower.span.unwrap_or(feature.name.span);
                let message = "the lower bound of a capability is 1 at least";
                self.error(Code::InvalidValue, at, "6.2", message);
            }
            let inherited = self
                .library
                .parent(id)
                .and_then(|parent| self.feature(parent, kind, &feature.name.text));
            let Some((type_id, (base, other))) = type_id.zip(inherited) else { continue };
            if !self.library.derives(type_id, base) && self.library.is_whole(type_id) {
                let message = format!(
                    "the {what} `{}` is inherited with the type `{}`, from which `{}` does not derive",
                    feature.name.text,
                    self.name(base),
                    self.name(type_id)
                );
                let at = feature.type_name.as_ref().map_or(feature.name.span, |name| name.span);
                let error = Diagnostic::error(Code::InvalidRefinement, message).at(at);
                self.say(error.label(other, "inherited from here"), "6.3");
            }
        }
    }

    /// The type of a requirement or capability that a node type has or inherits, and its place.
    pub(super) fn feature(
        &self,
        id: ComponentId,
        kind: FeatureKind,
        name: &str,
    ) -> Option<(ComponentId, Span)> {
        let mut all = self.library.features(id, kind);
        all.find_map(|(owner, feature)| {
            let type_name = feature.type_name.as_ref().filter(|_| feature.name.text == name)?;
            let found = self.library.find(kind.types(), self.library.document(owner), type_name);
            Some((found.id()?, feature.name.span))
        })
    }

    fn interfaces(&mut self, interfaces: &[TypeInterface<'d>], section: &'static str) {
        let names = interfaces.iter().map(|interface| &interface.name);
        self.unique(names, "interface", section, Severity::Error);
        for interface in interfaces {
            let names = interface.operations.iter().map(|operation| &operation.name);
            self.unique(names, "operation", section, Severity::Error);
            for operation in &interface.operations {
                self.unique(&operation.inputs, "input parameter", section, Severity::Error);
                self.unique(&operation.outputs, "output parameter", section, Severity::Error);
            }
        }
    }

    /// Checks that a node type with an abstract feature is itself abstract, even if the feature is
    /// inherited (statement C5).
    fn has_to_be_abstract(&mut self, id: ComponentId, said: &EntityType<'d>) {
        if said.is_abstract.is_some() {
            return;
        }
        let library = self.library;
        for kind in FeatureKind::ALL {
            for (owner, feature) in library.effective_features(id, kind) {
                let found = self.feature(owner, kind, &feature.name.text);
                let Some((type_id, at)) = found else { continue };
                let is_abstract = library.entity_type(type_id).and_then(|it| it.is_abstract);
                if is_abstract.is_none() {
                    continue;
                }
                let message = format!(
                    "`{}` has to be abstract, since its {} `{}` is of the abstract type `{}`",
                    self.name(id),
                    kind.what(),
                    feature.name.text,
                    self.name(type_id)
                );
                let error = Diagnostic::error(Code::InvalidDefinition, message);
                let error = error.at(library.component(id).name.span).label(at, "this one");
                self.say(error, kind.types().section());
            }
        }
    }

    /// Checks the valid source and target of a relationship type (statement C11).
    fn ends(&mut self, id: ComponentId, said: &EntityType<'d>) {
        let document = self.library.document(id);
        let source = said.valid_source.as_ref();
        let target = said.valid_target.as_ref();
        let (requirement, capability) =
            (ComponentKind::RequirementType, ComponentKind::CapabilityType);
        let is = |name: Option<&ComponentName<'d>>, kind| {
            name.is_some_and(|name| self.library.find(kind, document, name).id().is_some())
        };
        let is_node = |name| is(name, ComponentKind::NodeType);
        let (is_source, is_target) = (is(source, requirement), is(target, capability));
        // A name of unknown kind is taken to be of the kind that matches the other end.
        let of = |is_meant, is_other, name, kind| match is_meant || is_other && !is_node(name) {
            true => kind,
            false => ComponentKind::NodeType,
        };
        let source_kind = of(is_source, is_target, source, requirement);
        let target_kind = of(is_target, is_source, target, capability);
        let source_id = self.named(source_kind, document, source, "8.2");
        let target_id = self.named(target_kind, document, target, "8.2");
        let (Some(source_id), Some(target_id), Some(target)) = (source_id, target_id, target)
        else {
            return;
        };
        if (source_kind == ComponentKind::NodeType) != (target_kind == ComponentKind::NodeType) {
            let message = format!(
                "the source is a {} and the target a {}: both are node types, or a requirement type leads to a capability type",
                source_kind.what(),
                target_kind.what()
            );
            self.error(Code::InvalidDefinition, target.span, "8.2", message);
        } else if source_kind == ComponentKind::RequirementType {
            self.joined(source_id, target_id, target.span, "8.2");
        }
    }

    /// Checks that a capability fits a requirement: its type is the required one or derives from it
    /// (statement C12).
    pub(super) fn joined(
        &mut self,
        requirement: ComponentId,
        capability: ComponentId,
        at: Span,
        section: &'static str,
    ) {
        let required = self.library.ancestry(requirement).find_map(|owner| {
            let said = self.library.entity_type(owner)?;
            let document = self.library.document(owner);
            let name = said.required_capability.as_ref()?;
            self.library.find(ComponentKind::CapabilityType, document, name).id()
        });
        let Some(required) = required else { return };
        if self.library.derives(capability, required) || !self.library.is_whole(capability) {
            return;
        }
        let message = format!(
            "`{}` requires a capability `{}`, from which `{}` does not derive",
            self.name(requirement),
            self.name(required),
            self.name(capability)
        );
        self.error(Code::IncompatibleRequirement, at, section, message);
    }

    fn policy_type(&mut self, id: ComponentId, said: &EntityType<'d>) {
        let document = self.library.document(id);
        for name in &said.applies_to {
            self.named(ComponentKind::NodeType, document, Some(name), "14.2");
        }
        let inherited = self
            .library
            .ancestry(id)
            .skip(1)
            .find_map(|owner| self.library.entity_type(owner)?.policy_language.as_ref());
        if let (Some(own), Some(inherited)) = (&said.policy_language, inherited)
            && own.text != inherited.text
        {
            let message =
                format!("the policy type that it derives from is written in {}", inherited.text);
            let error = Diagnostic::error(Code::InvalidRefinement, message).at(own.span);
            self.say(error.label(inherited.span, "inherited from here"), "14.3");
        }
    }

    fn implementation(
        &mut self,
        id: ComponentId,
        component: &DefinedComponent<'d>,
        said: &TypeImplementation<'d>,
    ) {
        let section = component.kind.section();
        self.derivation(id, said.derived_from.as_ref(), (said.is_abstract, said.is_final));
        let kind = match component.kind {
            ComponentKind::NodeTypeImplementation => ComponentKind::NodeType,
            _ => ComponentKind::RelationshipType,
        };
        let document = self.library.document(id);
        let of = self.named(kind, document, said.of.as_ref(), section);
        for artifact in &said.implementation_artifacts {
            self.artifact(document, artifact, section);
            self.operation_of(of, artifact, section);
        }
        let names = said.implementation_artifacts.iter().filter_map(|it| it.name.as_ref());
        self.unique(names, "implementation artifact", section, Severity::Warning);
        for artifact in &said.deployment_artifacts {
            self.artifact(document, artifact, section);
        }
        let names = said.deployment_artifacts.iter().filter_map(|it| it.name.as_ref());
        self.unique(names, "deployment artifact", section, Severity::Warning);
        self.same_type(id, of, said, kind);
    }

    /// Checks that an implementation and the one it derives from implement the same type, or that
    /// the type of the latter is an ancestor (statement C15).
    fn same_type(
        &mut self,
        id: ComponentId,
        of: Option<ComponentId>,
        said: &TypeImplementation<'d>,
        kind: ComponentKind,
    ) {
        let library = self.library;
        let parent = library.parent(id).and_then(|parent| {
            let other = library.implementation(parent)?.of.as_ref()?;
            library.find(kind, library.document(parent), other).id()
        });
        let (Some(of), Some(parent), Some(name)) = (of, parent, &said.derived_from) else { return };
        if !library.derives(of, parent) && library.is_whole(of) {
            let message = format!(
                "this implementation is of `{}`, and the one that it derives from is of `{}`",
                self.name(of),
                self.name(parent)
            );
            let section = library.component(id).kind.derivation_section();
            let warning = Diagnostic::warning(Code::InvalidRefinement, message);
            self.say(warning.at(name.span), section);
        }
    }

    /// Checks that the operation of an implementation artifact exists (statement C15).
    fn operation_of(
        &mut self,
        of: Option<ComponentId>,
        artifact: &ArtifactUse<'d>,
        section: &'static str,
    ) {
        let (interface, operation) = (artifact.interface.as_ref(), artifact.operation.as_ref());
        let Some(interface) = interface else {
            if let Some(operation) = operation {
                let message = "`operationName` needs `interfaceName`";
                self.error(Code::InvalidTemplate, operation.span, section, message);
            }
            return;
        };
        if let Some(of) = of.filter(|of| self.library.is_whole(*of)) {
            self.operation(of, interface, operation, section);
        }
    }

    /// Checks that a type or one of its ancestors has an interface, and an operation in it.
    pub(super) fn operation(
        &mut self,
        of: ComponentId,
        interface: &SaidText<'d>,
        operation: Option<&SaidText<'d>>,
        section: &'static str,
    ) {
        let library = self.library;
        let all = library.ancestry(of).filter_map(|id| library.entity_type(id));
        let all = all.flat_map(|it| it.interfaces.iter().chain(&it.target_interfaces));
        let named: Vec<_> = all.filter(|it| it.name.text == interface.text).collect();
        if named.is_empty() {
            let message = format!("`{}` has no interface `{}`", self.name(of), interface.text);
            self.error(Code::UnknownDefinition, interface.span, section, message);
            return;
        }
        let Some(operation) = operation else { return };
        let mut operations = named.iter().flat_map(|interface| &interface.operations);
        if !operations.any(|known| known.name.text == operation.text) {
            let message = format!("`{}` has no operation `{}`", interface.text, operation.text);
            self.error(Code::UnknownDefinition, operation.span, section, message);
        }
    }

    /// Checks the use of an artifact: its type exists, and the template is of that type (statement
    /// C13).
    pub(super) fn artifact(
        &mut self,
        document: usize,
        artifact: &ArtifactUse<'d>,
        section: &'static str,
    ) {
        let kinds = (ComponentKind::ArtifactType, ComponentKind::ArtifactTemplate);
        let (type_name, template) = (artifact.type_name.as_ref(), artifact.template.as_ref());
        self.used(kinds, document, type_name, template, section);
    }

    /// Checks the use of a policy: its type exists, and the template is of that type.
    pub(super) fn policy(
        &mut self,
        document: usize,
        policy: &PolicyUse<'d>,
    ) -> Option<ComponentId> {
        let kinds = (ComponentKind::PolicyType, ComponentKind::PolicyTemplate);
        self.used(kinds, document, policy.type_name.as_ref(), policy.template.as_ref(), "5.2")
    }

    /// Checks that a template is of the type named with it; an unknown type is only a warning.
    fn used(
        &mut self,
        (kind, templates): (ComponentKind, ComponentKind),
        document: usize,
        type_name: Option<&ComponentName<'d>>,
        template: Option<&ComponentName<'d>>,
        section: &'static str,
    ) -> Option<ComponentId> {
        let found = |name| self.looked_up(kind, document, name, section, Severity::Warning);
        let type_id = type_name.and_then(found);
        let template_id = self.named(templates, document, template, section);
        if let (Some(type_id), Some(template_id), Some(name)) = (type_id, template_id, template) {
            self.template_of(type_id, template_id, kind, name.span, section);
        }
        type_id
    }

    fn template_of(
        &mut self,
        type_id: ComponentId,
        template: ComponentId,
        kind: ComponentKind,
        at: Span,
        section: &'static str,
    ) {
        let library = self.library;
        let ComponentContent::Template(said) = &library.component(template).content else { return };
        let Some(name) = &said.type_name else { return };
        let Some(own) = library.find(kind, library.document(template), name).id() else { return };
        if !library.derives(own, type_id) && library.is_whole(own) {
            let message = format!(
                "`{}` is of the type `{}`, which does not derive from `{}`",
                self.name(template),
                self.name(own),
                self.name(type_id)
            );
            self.error(Code::IncompatibleType, at, section, message);
        }
    }

    /// Checks what all templates share: a type that should not be abstract, and at most one
    /// constraint per property.
    pub(super) fn template(
        &mut self,
        kind: ComponentKind,
        document: usize,
        said: &EntityTemplate<'d>,
        section: &'static str,
    ) -> Option<ComponentId> {
        self.unique(&said.constraints, "constraint of", section, Severity::Error);
        let name = said.type_name.as_ref()?;
        let type_id = self.named(kind, document, Some(name), section)?;
        let is_abstract = self.library.entity_type(type_id).and_then(|it| it.is_abstract);
        if let Some(at) = is_abstract {
            let message =
                format!("`{}` is abstract, so this template has to be substituted", name.local);
            let warning = Diagnostic::warning(Code::AbstractType, message).at(name.span);
            self.say(warning.label(at, "it is declared here"), section);
        }
        self.properties(type_id, said, section);
        Some(type_id)
    }

    /// Checks that relative references name files of the archive (statement C21).
    fn references(&mut self, said: &EntityTemplate<'d>) {
        for reference in &said.references {
            self.file(&reference.reference, "13.2");
            let Some(pattern) = reference.pattern else { continue };
            let name = reference.reference.text.trim_end_matches('/');
            let is_file = !reference.reference.text.ends_with('/') && name.contains('.');
            if is_file && self.library.loaded.is_file(name) {
                let message =
                    format!("`{name}` is a file, so a pattern has nothing to choose from");
                self.say(Diagnostic::warning(Code::File, message).at(pattern), "13.2");
            }
        }
    }

    /// Checks that a file exists, by its path from the root of the archive; does nothing without an
    /// archive.
    pub(super) fn file(&mut self, name: &SaidText<'d>, section: &'static str) {
        if name.text.contains("://") || name.text.is_empty() {
            return;
        }
        if self.library.loaded.has_file(&name.text) == Some(false) {
            let message = format!("there is no file `{}`", name.text);
            let warning = Diagnostic::warning(Code::File, message).at(name.span);
            self.say(warning.help("paths start at the root of the archive"), section);
        }
    }
}
