//! Determines which components of a library are converted.

use super::settings::{ToYamlSettings, is_called};
use super::usage;
use crate::diagnostic::Diagnostics;
use crate::tosca::v1_0::definitions::{ComponentContent, ComponentKind};
use crate::tosca::v1_0::{ComponentId, DefinitionsExtent, Library};
use cuvee_text::source::Span;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// The service template and the components that are converted.
pub(super) struct ConversionScope {
    pub service: Option<ComponentId>,
    /// The converted components, in the order of the documents; each name once.
    pub converted: Vec<ComponentId>,
    /// The service templates that are not converted, although everything else is.
    pub other_services: Vec<ComponentId>,
    /// Whether only the components that the service template needs are converted.
    pub is_part: bool,
}

impl ConversionScope {
    pub(super) fn of(
        library: &Library<'_>,
        settings: &ToYamlSettings,
    ) -> Result<Self, Diagnostics> {
        let services: Vec<_> = library
            .ids()
            .filter(|id| library.component(*id).kind == ComponentKind::ServiceTemplate)
            .collect();
        let service = service(library, &services, settings)?;
        let is_part = library.loaded.extent == DefinitionsExtent::Repository
            && !library.loaded.is_archive()
            && services.len() > 1;
        let repeated: FxHashSet<_> = library.repeated.iter().map(|(_, id)| *id).collect();
        let mut converted: Vec<_> = match service.filter(|_| is_part) {
            Some(service) => reached(library, service),
            None => library.ids().collect(),
        };
        converted.retain(|id| !repeated.contains(id));
        let is_other = |id: &ComponentId| services.contains(id) && Some(*id) != service;
        let other_services = converted.iter().copied().filter(is_other).collect();
        converted.retain(|id| !is_other(id));
        Ok(Self { service, converted, other_services, is_part })
    }

    /// The places of the converted components.
    pub(super) fn spans(&self, library: &Library<'_>) -> Vec<Span> {
        self.converted.iter().map(|id| library.component(*id).element.whole_span()).collect()
    }

    /// The documents with converted components.
    pub(super) fn documents(&self, library: &Library<'_>) -> impl Iterator<Item = usize> {
        let all: BTreeSet<_> = self.converted.iter().map(|id| library.document(*id)).collect();
        all.into_iter()
    }
}

/// The service template to convert: the named one, the only one, or else the only one in the entry
/// documents of an archive.
fn service(
    library: &Library<'_>,
    all: &[ComponentId],
    settings: &ToYamlSettings,
) -> Result<Option<ComponentId>, Diagnostics> {
    let name = |id: &ComponentId| {
        let component = library.component(*id);
        format!("{{{}}}{}", component.namespace, component.name.text)
    };
    let listed = || {
        let names: Vec<_> = all.iter().map(|id| format!("`{}`", name(id))).collect();
        format!("there are {}", names.join(", "))
    };
    let Some(wanted) = &settings.service_template else {
        return match (all, &entered(library, all)[..]) {
            ([], _) => Ok(None),
            ([one], _) | (_, [one]) => Ok(Some(*one)),
            _ => {
                let message = "several service templates could be meant".to_owned();
                let help = format!("name one with `--service-template`: {}", listed());
                Err(usage(message, help))
            }
        };
    };
    let called = all.iter().filter(|id| {
        let component = library.component(**id);
        is_called(wanted, &component.namespace, &component.name.text)
    });
    match called.collect::<Vec<_>>()[..] {
        [one] => Ok(Some(*one)),
        [] if all.is_empty() => {
            Err(usage(format!("there is no service template `{wanted}`"), "leave it out".into()))
        }
        [] => Err(usage(format!("there is no service template `{wanted}`"), listed())),
        _ => {
            let message = format!("several service templates are called `{wanted}`");
            Err(usage(message, format!("name its namespace as well: {}", listed())))
        }
    }
}

/// The service templates in the entry documents of an archive.
fn entered(library: &Library<'_>, all: &[ComponentId]) -> Vec<ComponentId> {
    let of = |documents: Vec<usize>| -> Vec<_> {
        all.iter().copied().filter(|id| documents.contains(&library.document(*id))).collect()
    };
    library.loaded.entries().into_iter().map(of).find(|found| !found.is_empty()).unwrap_or_default()
}

/// A component, and everything that it needs.
fn reached(library: &Library<'_>, service: ComponentId) -> Vec<ComponentId> {
    let mut all = BTreeSet::new();
    let mut open = vec![service];
    let implementations: Vec<_> =
        library.ids().filter(|id| library.implementation(*id).is_some()).collect();
    while let Some(id) = open.pop() {
        if !all.insert(id) {
            continue;
        }
        open.extend(needed(library, id));
        // The implementations of a type are converted with it.
        open.extend(implementations.iter().copied().filter(|by| {
            let said = library.implementation(*by).and_then(|said| said.of.as_ref());
            let kind = match library.component(*by).kind {
                ComponentKind::NodeTypeImplementation => ComponentKind::NodeType,
                _ => ComponentKind::RelationshipType,
            };
            let of = said.and_then(|of| library.find(kind, library.document(*by), of).id());
            of == Some(id)
        }));
    }
    all.into_iter().collect()
}

/// The components that a component refers to.
fn needed(library: &Library<'_>, id: ComponentId) -> Vec<ComponentId> {
    use ComponentKind::{
        ArtifactTemplate, ArtifactType, CapabilityType, NodeType, PolicyTemplate, PolicyType,
        RelationshipType, RequirementType,
    };
    let mut names = Vec::new();
    match &library.component(id).content {
        ComponentContent::Type(said) => {
            names.extend(said.requirements.iter().map(|it| (RequirementType, &it.type_name)));
            names.extend(said.capabilities.iter().map(|it| (CapabilityType, &it.type_name)));
            names.push((CapabilityType, &said.required_capability));
            for end in [&said.valid_source, &said.valid_target] {
                names.extend([NodeType, RequirementType, CapabilityType].map(|kind| (kind, end)));
            }
        }
        ComponentContent::Implementation(said) => {
            let all = said.implementation_artifacts.iter().chain(&said.deployment_artifacts);
            for artifact in all {
                names.push((ArtifactType, &artifact.type_name));
                names.push((ArtifactTemplate, &artifact.template));
            }
        }
        ComponentContent::Template(said) => {
            names.push((ArtifactType, &said.type_name));
            names.push((PolicyType, &said.type_name));
        }
        ComponentContent::Service(said) => {
            names.push((NodeType, &said.substitutable));
            for node in &said.nodes {
                names.push((NodeType, &node.template.type_name));
                let of = |it| (RequirementType, it);
                names.extend(node.requirements.iter().map(|it| of(&it.template.type_name)));
                let of = |it| (CapabilityType, it);
                names.extend(node.capabilities.iter().map(|it| of(&it.template.type_name)));
                for artifact in &node.artifacts {
                    names.push((ArtifactType, &artifact.type_name));
                    names.push((ArtifactTemplate, &artifact.template));
                }
            }
            let relationships = said.relationships.iter();
            names.extend(relationships.map(|it| (RelationshipType, &it.template.type_name)));
            let of_nodes = said.nodes.iter().flat_map(|node| &node.policies);
            let shown = said.boundary.iter().flat_map(|boundary| &boundary.policies);
            for policy in of_nodes.chain(shown) {
                names.push((PolicyType, &policy.type_name));
                names.push((PolicyTemplate, &policy.template));
            }
        }
    }
    let document = library.document(id);
    let found = names
        .into_iter()
        .filter_map(|(kind, name)| library.find(kind, document, name.as_ref()?).id());
    let targets = library.entity_type(id).into_iter().flat_map(|said| &said.applies_to);
    let targets = targets.filter_map(|name| library.find(NodeType, document, name).id());
    found.chain(targets).chain(library.parent(id)).collect()
}
