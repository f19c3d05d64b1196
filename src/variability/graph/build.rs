//! Builds the graph from the syntax: allocates ids, then resolves every name once.

use super::element::*;
use super::references;
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics, did_you_mean};
use crate::tosca::types::{Family, TypeHierarchy, is_hosting_by_name};
use crate::tosca::v2_0;
use crate::variability::element::ElementKind;
use crate::variability::graph::index::NameIndex;
use crate::variability::template::{
    Artifact, Declared, Member, NodeTemplate, Property, RelationshipTemplate, Requirement,
    ServiceTemplate, Technology, TypeAssignment,
};
use cuvee_text::decimal::Decimal;
use cuvee_text::source::Span;
use cuvee_text::yaml::{Node, NodeKind};
use rustc_hash::FxHashMap;

/// The group types whose conditions apply to their members ("Normative Group Types"). They are
/// predefined.
pub(crate) const VARIABILITY_GROUPS: [&str; 2] =
    ["variability.groups.Root", "variability.groups.ConditionalMembers"];

/// Builds the graph of a template.
///
/// Reports names that do not exist, and relationship templates that are not used exactly once. A
/// name that does not exist is not linked.
pub(crate) fn build<'a>(
    template: &'a ServiceTemplate<'a>,
    types: &TypeHierarchy<'_>,
    diagnostics: &mut Diagnostics,
) -> Graph<'a> {
    let mut builder = GraphBuilder {
        graph: Graph::empty(template),
        types,
        users: vec![None; template.relationships.len()],
        hosting: FxHashMap::default(),
        diagnostics: Diagnostics::default(),
    };
    builder.index(template);
    builder.allocate(template);
    builder.link_relations();
    builder.link_groups_and_policies();
    builder.check_relationships();
    references::link(&mut builder.graph, &mut builder.diagnostics);
    diagnostics.0.append(&mut builder.diagnostics.0);
    builder.graph
}

struct GraphBuilder<'a, 't> {
    graph: Graph<'a>,
    types: &'t TypeHierarchy<'t>,
    /// For each relationship template, the place of the relation that uses it.
    users: Vec<Option<Span>>,
    /// By the types of nodes, which of their requirements are hosting, where that is known.
    hosting: FxHashMap<&'a str, FxHashMap<&'t str, Option<bool>>>,
    diagnostics: Diagnostics,
}

impl<'a> GraphBuilder<'a, '_> {
    /// Adds the declared element at this position of its collection and of the table of its kind.
    fn add(
        &mut self,
        kind: ElementKind,
        declared: &'a Declared<'a>,
        index: usize,
        container: Option<ElementId>,
        slot: usize,
    ) -> ElementId {
        let conditions = declared.conditions().map(|node| self.graph.syntax.add(node));
        self.graph.push(Element {
            kind,
            name: declared.name(),
            index: index as u32,
            container,
            slot: slot as u32,
            span: declared.span(),
            conditions,
            settings: declared.settings(),
            by_rule: false,
            follows: false,
        })
    }

    fn index(&mut self, template: &'a ServiceTemplate<'a>) {
        let topology = template.root.get("topology_template");
        // The keys of a map are distinct.
        let is_map = |keyword: &str| {
            topology.and_then(|it| it.get(keyword)).is_some_and(|it| it.kind() == NodeKind::Mapping)
        };
        let nodes = template.nodes.iter().map(|node| node.declared.name());
        self.graph.node_names = NameIndex::of(nodes, is_map("node_templates"));
        let relationships =
            template.relationships.iter().map(|relationship| relationship.declared.name());
        self.graph.relationship_names =
            NameIndex::of(relationships, is_map("relationship_templates"));
        let groups = template.groups.iter().map(|group| group.declared.name());
        self.graph.group_names = NameIndex::of(groups, is_map("groups"));
    }

    fn allocate(&mut self, template: &'a ServiceTemplate<'a>) {
        for (index, import) in template.imports.iter().enumerate() {
            let id = self.add(ElementKind::Import, &import.declared, index, None, index);
            self.graph.elements[id.0 as usize].name = import.definition.file;
            self.graph.imports.push(ImportElement { id, import });
        }
        for (index, parameter) in template.inputs.iter().enumerate() {
            let id = self.add(ElementKind::Input, &parameter.declared, index, None, index);
            self.graph.inputs.push(InputElement {
                id,
                parameter,
                consumers: Vec::new(),
                is_always_consumed: false,
            });
        }
        let relations = template.nodes.iter().map(|node| node.requirements.len()).sum();
        // Most elements are nodes and relations, each with one type.
        self.graph.elements.reserve(2 * (template.nodes.len() + relations));
        self.graph.nodes.reserve(template.nodes.len());
        self.graph.relations.reserve(relations);
        for index in 0..template.nodes.len() {
            self.allocate_node(template, index);
        }
        for (index, group) in template.groups.iter().enumerate() {
            let id = self.add(ElementKind::Group, &group.declared, index, None, index);
            let types = self.allocate_types(&group.types, id);
            let properties = self.allocate_properties(&group.properties, id);
            let is_variability = |name: &str| {
                VARIABILITY_GROUPS.iter().any(|group| self.types.is_a(Family::Group, name, group))
            };
            let variability =
                group.types.iter().any(|assignment| is_variability(assignment.declared.name()));
            self.graph.groups.push(GroupElement {
                id,
                group,
                variability,
                members: Vec::new(),
                types,
                properties,
            });
        }
        for (index, policy) in template.policies.iter().enumerate() {
            let id = self.add(ElementKind::Policy, &policy.declared, index, None, index);
            let types = self.allocate_types(&policy.types, id);
            let properties = self.allocate_properties(&policy.properties, id);
            self.graph.policies.push(PolicyElement {
                id,
                policy,
                targets: Vec::new(),
                types,
                properties,
            });
        }
        for (index, parameter) in template.outputs.iter().enumerate() {
            let id = self.add(ElementKind::Output, &parameter.declared, index, None, index);
            self.graph.outputs.push(OutputElement { id, parameter, producers: Vec::new() });
        }
    }

    fn allocate_node(&mut self, service: &'a ServiceTemplate<'a>, index: usize) {
        let template = &service.nodes[index];
        let node = NodeId(index as u32);
        let id = self.add(ElementKind::Node, &template.declared, index, None, index);
        let types = self.allocate_types(&template.types, id);
        let properties = self.allocate_properties(&template.properties, id);
        let relations = template.requirements.iter().enumerate();
        let relations = relations
            .map(|(at, requirement)| self.allocate_relation(requirement, at, id, node))
            .collect();
        let artifacts = self.allocate_artifacts(template, id, node);
        let technologies = self.allocate_technologies(template, id, node);
        let managed = template
            .managed
            .unwrap_or_else(|| !technologies.is_empty() || !self.is_abstract(&template.types));
        self.graph.nodes.push(NodeElement {
            id,
            template,
            types,
            properties,
            relations,
            incoming: Ids::new(),
            artifacts,
            technologies,
            managed,
        });
    }

    fn allocate_artifacts(
        &mut self,
        template: &'a NodeTemplate<'a>,
        container: ElementId,
        node: NodeId,
    ) -> Ids<ElementId> {
        let add = |(index, artifact): (usize, &'a Artifact<'a>)| {
            let slot = self.graph.artifacts.len();
            let id =
                self.add(ElementKind::Artifact, &artifact.declared, index, Some(container), slot);
            self.graph.artifacts.push(ArtifactElement {
                id,
                artifact,
                node,
                types: Ids::new(),
                properties: Ids::new(),
            });
            let (types, properties) = (
                self.allocate_types(&artifact.types, id),
                self.allocate_properties(&artifact.properties, id),
            );
            let element = &mut self.graph.artifacts[slot];
            (element.types, element.properties) = (types, properties);
            id
        };
        template.artifacts.iter().enumerate().map(add).collect()
    }

    fn allocate_technologies(
        &mut self,
        template: &'a NodeTemplate<'a>,
        container: ElementId,
        node: NodeId,
    ) -> Ids<ElementId> {
        let add = |(index, technology): (usize, &'a Technology<'a>)| {
            let slot = self.graph.technologies.len();
            let id = self.add(
                ElementKind::Technology,
                &technology.declared,
                index,
                Some(container),
                slot,
            );
            // A technology is known by its name in lower case.
            self.graph.elements[id.0 as usize].name = &technology.name;
            self.graph.technologies.push(TechnologyElement {
                id,
                node,
                none: false,
                weight: technology.weight.unwrap_or(Decimal::ONE),
                artifacts: technology.artifact.into_iter().collect(),
                priority: 0,
                ways: Vec::new(),
                conditions: None,
                implementations: Vec::new(),
            });
            id
        };
        template.technologies.iter().enumerate().map(add).collect()
    }

    fn is_abstract(&self, types: &[TypeAssignment<'_>]) -> bool {
        matches!(types, [only] if self.types.is_abstract(only.declared.name()))
    }

    fn allocate_types(
        &mut self,
        types: &'a [TypeAssignment<'a>],
        container: ElementId,
    ) -> Ids<ElementId> {
        let add = |(index, assignment): (usize, &'a TypeAssignment<'a>)| {
            let id = self.add(ElementKind::Type, &assignment.declared, index, Some(container), 0);
            self.graph.elements[id.0 as usize].follows = assignment.is_plain;
            id
        };
        types.iter().enumerate().map(add).collect()
    }

    fn allocate_properties(
        &mut self,
        properties: &'a [Property<'a>],
        container: ElementId,
    ) -> Ids<ElementId> {
        let add = |(index, property): (usize, &'a Property<'a>)| {
            let slot = self.graph.properties.len();
            let id =
                self.add(ElementKind::Property, &property.declared, index, Some(container), slot);
            self.graph.properties.push(PropertyElement { id, property, consumed: Vec::new() });
            id
        };
        properties.iter().enumerate().map(add).collect()
    }

    fn allocate_relation(
        &mut self,
        requirement: &'a Requirement<'a>,
        index: usize,
        container: ElementId,
        source: NodeId,
    ) -> RelationId {
        let slot = self.graph.relations.len();
        let id =
            self.add(ElementKind::Relation, &requirement.declared, index, Some(container), slot);
        let named =
            requirement.relationship().and_then(|name| self.use_relationship(name, requirement));
        let relationship = named.or(requirement.inline.as_deref());
        // If there is no relationship template of that name, it is the name of a type.
        let name =
            requirement.relationship().filter(|_| relationship.is_none()).and_then(Node::text);
        let typed = relationship
            .and_then(|template| self.graph.relationship_holder(template, "type").types.first())
            .map(|assignment| assignment.declared.name());
        let template = self.graph.template;
        let hosting = self.is_hosting(
            requirement.declared.name(),
            typed.or(name),
            &template.nodes[source.0 as usize].types,
        );
        self.graph.relations.push(RelationElement {
            id,
            requirement,
            source,
            target: None,
            hosting,
            relationship,
            types: Ids::new(),
            properties: Ids::new(),
        });
        if let Some(template) = relationship {
            // A copy has what it copies as its own.
            let held = |keyname| self.graph.relationship_holder(template, keyname);
            let (typed, assigning) = (held("type"), held("properties"));
            let (types, properties) = (
                self.allocate_types(&typed.types, id),
                self.allocate_properties(&assigning.properties, id),
            );
            let relation = &mut self.graph.relations[slot];
            (relation.types, relation.properties) = (types, properties);
        }
        RelationId(slot as u32)
    }

    /// Links a relationship template to its relation; it must belong to exactly one relation. In
    /// TOSCA 2.0 a type of this name comes first (section 8.7.1).
    fn use_relationship(
        &mut self,
        name: Node<'a>,
        requirement: &Requirement<'_>,
    ) -> Option<&'a RelationshipTemplate<'a>> {
        let text = name.text().unwrap_or_default();
        if v2_0::is_of(name.document())
            && self.types.find_in(Some(name.span().file), Family::Relationship, text).is_some()
        {
            return None;
        }
        let relation = requirement.declared.name();
        let error =
            |code, message| Diagnostic::error(code, message).at(name.span()).section("3.8.2");
        if let Some(position) = self.graph.relationship_named(text) {
            // In plain TOSCA a relationship template has no presence, so relations may share it.
            if let Some(first) = self.users[position]
                .replace(name.span())
                .filter(|_| !self.is_shared(&self.graph.template.relationships[position]))
            {
                let message =
                    format!("relationship template `{text}` is used by more than one relation");
                let help = "give each relation a relationship template of its own";
                self.diagnostics.push(
                    error(Code::ReusedRelationshipTemplate, message)
                        .label(first, "it is used here already")
                        .help(help),
                );
            }
            return Some(&self.graph.template.relationships[position]);
        }
        // In TOSCA the keyname `relationship` may also name a relationship type.
        if self.types.is_hosting(text).is_none() {
            let message = format!(
                "relation `{relation}` uses a relationship template `{text}` that does not exist"
            );
            let help = did_you_mean(text, self.graph.relationship_names.names());
            self.diagnostics.push(
                error(Code::UnknownRelationshipTemplate, message)
                    .help("define it under `relationship_templates`")
                    .help_opt(help),
            );
        }
        None
    }

    /// Whether a relation is hosting. The type of the relationship decides if it is known: its own,
    /// or the one that a type of its source declares for the requirement. Otherwise the name
    /// decides (`host`, `db_host`, `host_a`). If the source has alternative types, one hosting type
    /// is enough.
    fn is_hosting(
        &mut self,
        requirement: &str,
        relationship: Option<&str>,
        source: &'a [TypeAssignment<'a>],
    ) -> bool {
        let by_name = is_hosting_by_name(requirement);
        let types = self.types;
        let of_type = |assignment: &TypeAssignment<'a>| {
            let name = assignment.declared.name();
            let known =
                self.hosting.entry(name).or_insert_with(|| types.hosting_requirements(name));
            known.get(requirement).copied().flatten().unwrap_or(by_name)
        };
        match relationship.and_then(|name| types.is_hosting(name)) {
            Some(hosting) => hosting,
            None if source.is_empty() => by_name,
            None => source.iter().any(of_type),
        }
    }

    fn link_relations(&mut self) {
        for slot in 0..self.graph.relations.len() {
            let requirement = self.graph.relations[slot].requirement;
            let Some(name) = requirement.target() else { continue };
            let Some(text) = name.text() else {
                // What is left to an orchestrator is no error for variants.
                if !requirement.filtered {
                    self.diagnostics.push(no_target(name));
                }
                continue;
            };
            if let Some(target) = self.graph.node_id(text) {
                self.graph.relations[slot].target = Some(target);
                self.graph.nodes[target.0 as usize].incoming.push(RelationId(slot as u32));
            } else if !self.is_left_to_an_orchestrator(requirement, text) {
                let message = format!(
                    "relation `{}` targets a node `{text}` that does not exist",
                    requirement.declared.name()
                );
                let error =
                    unknown_element(name, message, self.graph.node_names.names()).section("3.8.2");
                self.diagnostics.push(error);
            }
        }
    }

    /// Whether the target is left to an orchestrator: `node` may name a type, whose node an
    /// orchestrator finds.
    fn is_left_to_an_orchestrator(&self, requirement: &Requirement<'_>, target: &str) -> bool {
        requirement.filtered
            || target.starts_with("tosca.nodes.")
            || self.types.is_defined(Family::Node, target)
    }

    fn link_groups_and_policies(&mut self) {
        for slot in 0..self.graph.groups.len() {
            let GroupElement { group, variability, .. } = self.graph.groups[slot];
            let members = group
                .members
                .iter()
                .filter_map(|member| Some((member, self.member(member, variability)?)))
                .collect();
            self.graph.groups[slot].members = members;
        }
        self.check_circles();
        for slot in 0..self.graph.policies.len() {
            let policy = self.graph.policies[slot].policy;
            let targets = policy
                .targets
                .iter()
                .filter_map(|&name| Some((name, self.policy_target(name)?)))
                .collect();
            self.graph.policies[slot].targets = targets;
        }
    }

    /// Reports members by which groups would contain themselves.
    fn check_circles(&mut self) {
        let graph = &self.graph;
        let slot = |id: ElementId| {
            let element = graph.element(id);
            (element.kind == ElementKind::Group).then_some(element.slot as usize)
        };
        let mut open: Vec<usize> = Vec::new();
        let mut containers: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (outer, group) in graph.groups.iter().enumerate() {
            let inner = group.members.iter().filter_map(|&(_, id)| slot(id));
            open.push(inner.map(|inner| containers.entry(inner).or_default().push(outer)).count());
        }
        // From the groups without groups outwards; those in circles are never reached.
        let mut ready: Vec<usize> = (0..open.len()).filter(|&group| open[group] == 0).collect();
        while let Some(inner) = ready.pop() {
            for &outer in containers.get(&inner).into_iter().flatten() {
                open[outer] -= 1;
                if open[outer] == 0 {
                    ready.push(outer);
                }
            }
        }
        let is_circle = |id: ElementId| slot(id).is_some_and(|inner| open[inner] > 0);
        let mut errors = Vec::new();
        for (group, _) in graph.groups.iter().zip(&open).filter(|(_, open)| **open > 0) {
            for (member, _) in group.members.iter().filter(|(_, id)| is_circle(*id)) {
                let name = member.node.text().unwrap_or_default();
                let message = format!("the group `{name}` is, or leads to, a member of itself");
                let error = Diagnostic::error(Code::InvalidTemplate, message);
                errors.push(error.at(member.node.span()).section("3.8.5"));
            }
        }
        self.diagnostics.0.extend(errors);
    }

    /// The group that is a member of another one, which TOSCA 2.0 allows.
    fn group_in_group(&self, member: &Member<'a>) -> Option<ElementId> {
        let name = member.node.text().filter(|_| v2_0::is_of(member.node.document()))?;
        let position = self.graph.group_names.get(name)?;
        let group = &self.graph.groups[position];
        (!group.variability && member.relation.is_none()).then_some(group.id)
    }

    fn member(&mut self, member: &Member<'a>, of_variability: bool) -> Option<ElementId> {
        let name = member.node.text().unwrap_or_default();
        let is_node = self.graph.node_id(name).is_some();
        if let Some(group) = self.group_in_group(member).filter(|_| !is_node && !of_variability) {
            return Some(group);
        }
        let Some(node) = self.graph.node_id(member.node.text().unwrap_or_default()) else {
            let message = format!(
                "a group names a node `{}` that does not exist",
                member.node.text().unwrap_or_default()
            );
            let error = unknown_element(member.node, message, self.graph.node_names.names())
                .section("3.8.5");
            self.diagnostics.push(error);
            return None;
        };
        let node = self.graph.node(node);
        if of_variability && self.graph.is_imported(node.id) {
            let message = format!(
                "the node `{}` is imported, so that a group cannot decide about it",
                node.template.declared.name()
            );
            let error = Diagnostic::error(Code::InvalidTemplate, message).at(member.node.span());
            self.diagnostics.push(error.help("give conditions to the import"));
            return None;
        }
        let Some(relation) = member.relation else { return Some(node.id) };
        let found = self.graph.relation_of(node, relation);
        self.diagnostics.ok(found).map(|relation| self.graph.relation(relation).id)
    }

    fn policy_target(&mut self, name: Node<'a>) -> Option<Target> {
        let text = name.text().unwrap_or_default();
        let node = self.graph.node_id(text).map(Target::Node);
        let target = node.or_else(|| {
            self.graph.group_names.get(text).map(|group| Target::Group(GroupId(group as u32)))
        });
        if target.is_none() {
            let known = self.graph.node_names.names().chain(self.graph.group_names.names());
            let error = unknown_element(
                name,
                format!("a policy targets `{text}`, which is neither a node nor a group"),
                known,
            );
            let error = error.section("3.8.6");
            self.diagnostics.push(error);
        }
        target
    }

    /// Whether several relations may share a relationship template. In plain TOSCA and in imported
    /// files they may, because its presence does not matter there.
    fn is_shared(&self, relationship: &RelationshipTemplate<'_>) -> bool {
        let template = self.graph.template;
        template.is_plain() || template.is_imported(relationship.declared.span())
    }

    fn check_relationships(&mut self) {
        for template in &self.graph.template.relationships {
            let is_unused = self
                .graph
                .relationship_named(template.declared.name())
                .is_some_and(|position| self.users[position].is_none());
            if is_unused && !self.is_shared(template) {
                let message =
                    format!("relationship template `{}` is never used", template.declared.name());
                let help =
                    "name it as the `relationship` of a requirement assignment, or remove it";
                self.diagnostics.push(
                    Diagnostic::error(Code::UnusedRelationshipTemplate, message)
                        .at(template.declared.span())
                        .help(help),
                );
            }
        }
    }
}

/// The error about a target that is no name.
pub(crate) fn no_target(at: Node<'_>) -> Diagnostic {
    let expected = match v2_0::is_of(at.document()) {
        true => "a name, or a list of a name and an index",
        false => "a name",
    };
    let message = format!("a target is {expected}, not {}", at.describe());
    Diagnostic::error(Code::InvalidTemplate, message).at(at.span()).section("3.8.2")
}

/// The error about a name that does not exist.
pub(super) fn unknown_element<'n>(
    at: Node<'_>,
    message: String,
    known: impl Iterator<Item = &'n str>,
) -> Diagnostic {
    let help = did_you_mean(at.text().unwrap_or_default(), known);
    Diagnostic::error(Code::UnknownElement, message).at(at.span()).help_opt(help)
}
