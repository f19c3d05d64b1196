//! Converts relationships of a service template, and adds the requirements and capabilities that
//! types need for them.

use super::super::loss::LossKind;
use super::super::well_known::{self, FEATURE};
use super::YamlConverter;
use super::added;
use super::names::{TypeName, snake_case, unique};
use crate::tosca::v1_0::ComponentId;
use crate::tosca::v1_0::definitions::{
    ComponentKind, DefinedRelationship, DefinedService, FeatureKind,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// A requirement of a node together with its target.
#[derive(Clone, Debug)]
pub(super) struct LinkedRequirement {
    pub name: String,
    /// The position of the target node in the service template.
    pub node: usize,
    pub capability: Option<String>,
    /// The position of the relationship template.
    pub relationship: usize,
}

/// A requirement that is added to a node type so that its nodes can have relationships.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GeneratedRequirement {
    pub name: String,
    pub relationship: Option<ComponentId>,
    /// The capability: a type of the profile, or a converted type.
    pub capability: Result<&'static str, ComponentId>,
}

/// A capability that is added to a node type for such relationships.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GeneratedCapability {
    pub name: String,
    pub type_name: &'static str,
}

/// The relationships of a service template as requirements.
#[derive(Default)]
pub(super) struct ServiceLinks {
    /// The requirements of each node.
    pub of_node: Vec<Vec<LinkedRequirement>>,
    pub requirements: FxHashMap<ComponentId, Vec<GeneratedRequirement>>,
    pub capabilities: FxHashMap<ComponentId, Vec<GeneratedCapability>>,
}

/// An end of a relationship: a node, and the position of its requirement or capability, if that is
/// the end.
#[derive(Clone, Copy)]
struct LinkEnd {
    node: usize,
    feature: Option<usize>,
}

/// The ends of relationships, by id.
struct LinkEnds<'s> {
    sources: FxHashMap<&'s str, LinkEnd>,
    targets: FxHashMap<&'s str, LinkEnd>,
}

impl<'s> LinkEnds<'s> {
    fn of(service: &'s DefinedService<'_>) -> Self {
        let mut ends = Self { sources: FxHashMap::default(), targets: FxHashMap::default() };
        for (node, said) in service.nodes.iter().enumerate() {
            let end = LinkEnd { node, feature: None };
            ends.sources.insert(&said.id.text, end);
            ends.targets.insert(&said.id.text, end);
            for (at, feature) in said.requirements.iter().enumerate() {
                let end = LinkEnd { node, feature: Some(at) };
                ends.sources.insert(&feature.id.text, end);
            }
            for (at, feature) in said.capabilities.iter().enumerate() {
                let end = LinkEnd { node, feature: Some(at) };
                ends.targets.insert(&feature.id.text, end);
            }
        }
        ends
    }
}

impl<'d> YamlConverter<'_, 'd> {
    /// Expresses all relationships of a service template as requirements.
    pub(super) fn service_links(
        &mut self,
        id: ComponentId,
        service: &DefinedService<'d>,
    ) -> ServiceLinks {
        let ends = LinkEnds::of(service);
        let mut links = ServiceLinks {
            of_node: vec![Vec::new(); service.nodes.len()],
            ..ServiceLinks::default()
        };
        let mut shared: FxHashSet<(usize, usize)> = FxHashSet::default();
        for (relationship, said) in service.relationships.iter().enumerate() {
            let source = said.source.as_ref().and_then(|it| ends.sources.get(&*it.text).copied());
            let target = said.target.as_ref().and_then(|it| ends.targets.get(&*it.text).copied());
            let (Some(source), Some(target)) = (source, target) else { continue };
            if let Some(feature) = source.feature
                && !shared.insert((source.node, feature))
            {
                let requirement = &service.nodes[source.node].requirements[feature];
                self.lose(
                    requirement.element,
                    "",
                    format!("that requirement `{}` is a single one", requirement.id.text),
                    "each of its relationships is an assignment of its own in YAML",
                    LossKind::Lost,
                );
            }
            let linked = self.link(id, service, said, (source, target), &mut links);
            let Some((name, capability)) = linked else { continue };
            let of_node = &mut links.of_node[source.node];
            if of_node.is_empty() {
                // Most nodes have one.
                of_node.reserve_exact(1);
            }
            of_node.push(LinkedRequirement { name, node: target.node, capability, relationship });
        }
        links
    }

    /// The name of the requirement that expresses a relationship, and the capability that it leads
    /// to.
    fn link(
        &mut self,
        id: ComponentId,
        service: &DefinedService<'d>,
        said: &DefinedRelationship<'d>,
        (source, target): (LinkEnd, LinkEnd),
        links: &mut ServiceLinks,
    ) -> Option<(String, Option<String>)> {
        let (from, to) = (&service.nodes[source.node], &service.nodes[target.node]);
        let capability = target.feature.map(|at| &to.capabilities[at]);
        let named = capability.map(|it| it.name.text.to_string());
        if let Some(at) = source.feature {
            return Some((from.requirements[at].name.text.to_string(), named));
        }
        let node = |name| self.find(ComponentKind::NodeType, id, name);
        let (source_type, target_type) =
            (node(from.template.type_name.as_ref()), node(to.template.type_name.as_ref()));
        let kind = self.find(ComponentKind::RelationshipType, id, said.template.type_name.as_ref());
        let own = |it: &Option<ComponentId>| {
            it.filter(|id| matches!(self.names.get(*id), Some(TypeName::Own(..))))
        };
        let Some(source_type) = own(&source_type) else {
            self.lose(
                said.element,
                "",
                format!("relationship `{}`", said.id.text),
                format!(
                    "the type of `{}` is not defined here, so it gets no requirement for it",
                    from.id.text
                ),
                LossKind::Lost,
            );
            return None;
        };
        let (wanted, name) = match capability {
            Some(capability) => {
                let of = capability.template.type_name.as_ref();
                let wanted = match self.find(ComponentKind::CapabilityType, id, of) {
                    Some(id) => Err(id),
                    None => Ok("tosca.capabilities.Root"),
                };
                (wanted, named)
            }
            None => {
                let wanted = self.wanted(kind);
                let (name, wanted) = match own(&target_type) {
                    Some(target_type) => self.offered(target_type, wanted, links),
                    None => (wanted.name.to_owned(), wanted),
                };
                (Ok(wanted.type_name), (name != wanted.name).then_some(name))
            }
        };
        let local = said.template.type_name.as_ref().map(|name| snake_case(&name.local));
        let local = local.unwrap_or_default();
        Some((self.generated(source_type, &local, kind, wanted, links), name))
    }

    /// The capability that a relationship type leads to, according to the type of the profile that
    /// it is or derives from.
    fn wanted(&self, kind: Option<ComponentId>) -> well_known::WantedCapability {
        let Some(kind) = kind else { return FEATURE };
        let normative = self.library.ancestry(kind).find_map(|id| match self.names.get(id)? {
            TypeName::Counterpart(name) => Some(well_known::target_of(name)),
            TypeName::Own(..) => None,
        });
        normative.unwrap_or(FEATURE)
    }

    /// The capability of a node type that stands for the nodes themselves; it is added if
    /// necessary.
    fn offered(
        &self,
        target: ComponentId,
        wanted: well_known::WantedCapability,
        links: &mut ServiceLinks,
    ) -> (String, well_known::WantedCapability) {
        if wanted == FEATURE {
            return (wanted.name.to_owned(), wanted);
        }
        let library = self.library;
        let known = library.ancestry(target).find_map(|id| {
            let all = links.capabilities.get(&id)?;
            all.iter().find(|it| it.type_name == wanted.type_name)
        });
        if let Some(known) = known {
            return (known.name.clone(), wanted);
        }
        let mut taken = self.names_around(target, FeatureKind::Capability);
        for of in self.derived_from(target) {
            let generated = links.capabilities.get(&of).into_iter().flatten();
            let others = generated.filter(|it| it.type_name != wanted.type_name);
            taken.extend(others.map(|it| it.name.clone()));
        }
        let name = unique(wanted.name, |name| {
            taken.contains(name) || self.added.has(target, added::CAPABILITIES, name)
        });
        let generated = GeneratedCapability { name: name.clone(), type_name: wanted.type_name };
        links.capabilities.entry(target).or_default().push(generated);
        (name, wanted)
    }

    /// The types that derive from a type.
    fn derived_from(&self, id: ComponentId) -> impl Iterator<Item = ComponentId> {
        self.derived.get(&id).into_iter().flatten().copied()
    }

    /// The names of requirements or capabilities that a type has in definitions, or one that derives
    /// from it.
    fn names_around(&self, id: ComponentId, kind: FeatureKind) -> FxHashSet<String> {
        let own = self.library.features(id, kind).map(|(_, it)| it);
        let derived = self.derived_from(id).filter_map(|of| self.library.entity_type(of));
        let all = own.chain(derived.flat_map(|said| said.features(kind)));
        all.map(|it| it.name.text.to_string()).collect()
    }

    /// The requirement of a node type for relationships of a type; it is added if necessary.
    fn generated(
        &self,
        source: ComponentId,
        wanted: &str,
        relationship: Option<ComponentId>,
        capability: Result<&'static str, ComponentId>,
        links: &mut ServiceLinks,
    ) -> String {
        let library = self.library;
        let is_it = |it: &&GeneratedRequirement| {
            (it.relationship, it.capability) == (relationship, capability)
        };
        let known =
            library.ancestry(source).find_map(|id| links.requirements.get(&id)?.iter().find(is_it));
        if let Some(known) = known {
            return known.name.clone();
        }
        let mut taken = self.names_around(source, FeatureKind::Requirement);
        for id in library.ancestry(source).chain(self.derived_from(source)) {
            let generated = links.requirements.get(&id).into_iter().flatten();
            taken.extend(generated.filter(|it| !is_it(it)).map(|it| it.name.clone()));
        }
        // Every node has the requirement `dependency`.
        taken.insert("dependency".to_owned());
        let name = unique(wanted, |name| {
            taken.contains(name) || self.added.has(source, added::REQUIREMENTS, name)
        });
        let generated = GeneratedRequirement { name: name.clone(), relationship, capability };
        links.requirements.entry(source).or_default().push(generated);
        name
    }
}
