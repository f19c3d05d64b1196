//! Resolves the targets of workflows and policies, and checks the conditions on them (section
//! 3.6.25).

use super::checker::Checker;
use super::function::{PathStop, ReachedNode, ReachedRelationship};
use crate::diagnostic::{Cite, Code, Diagnostic, did_you_mean};
use crate::tosca::types::schemas;
use crate::tosca::value::{PropertyDefinition, check_constraint_definition};
use crate::tosca::workflow::Assertion;
use crate::tosca::{Family, InterfaceDefinition, TypeId};
use crate::variability::element::ElementKind;
use crate::variability::graph::{
    ElementId, GroupElement, LookupStep, NodeElement, NodeId, RelationElement, Target,
};
use cuvee_text::yaml::Node;

/// An entity whose attributes are asserted, or whose operations are called.
pub(super) struct AssertedEntity<'c, 'a> {
    /// The type of the entity.
    pub kind: TypeId,
    /// The elements that must be present for the entity to exist with this type.
    pub when: Vec<ElementId>,
    /// The node or relation, if it is one of the template.
    pub element: Option<ElementId>,
    /// The template of the entity, which may add interfaces.
    pub body: Option<Node<'a>>,
    /// The interfaces that a requirement definition adds to its relationship.
    pub given: &'c [InterfaceDefinition<'c>],
}

/// The entities that a target refers to.
#[derive(Default)]
pub(super) struct Subject<'c, 'a> {
    /// All entities that the target refers to in some variant.
    pub entities: Vec<AssertedEntity<'c, 'a>>,
    /// The types of a group; its members need not have an attribute that one of these types has.
    pub groups: Vec<TypeId>,
    /// The elements that must be present for the target to be mentioned at all.
    pub when: Vec<ElementId>,
}

impl<'c, 'a> Subject<'c, 'a> {
    /// The union of two subjects.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.entities.extend(other.entities);
        self.groups.extend(other.groups);
        self.when.extend(other.when);
        self
    }

    /// A subject of these entities, without group types or conditions.
    pub(super) fn of(entities: impl Iterator<Item = AssertedEntity<'c, 'a>>) -> Self {
        Self { entities: entities.collect(), ..Self::default() }
    }

    /// The elements that must be present for a statement about one of the entities to apply.
    pub(super) fn when(&self, entity: &AssertedEntity<'c, 'a>) -> Vec<ElementId> {
        self.when.iter().chain(&entity.when).copied().collect()
    }
}

impl<'c, 'a> Checker<'c, 'a> {
    /// What `SELF` means in an expression about a target, as far as that is the same for all of it.
    pub(super) fn reached(&self, subject: &Subject<'c, 'a>) -> PathStop<'c> {
        let stops = subject.entities.iter().map(|entity| self.stop(entity));
        let common = stops.reduce(PathStop::common).filter(|_| subject.groups.is_empty());
        common.unwrap_or(PathStop::Unknown)
    }

    fn stop(&self, &AssertedEntity { kind, element, .. }: &AssertedEntity<'c, 'a>) -> PathStop<'c> {
        let slot = element.map(|id| self.graph.element(id).slot);
        match self.types.definition(kind).family {
            Family::Node => PathStop::Node(ReachedNode { kind, template: slot.map(NodeId) }),
            Family::Relationship => {
                let relation = slot.map(|slot| &self.graph.relations[slot as usize]);
                let ends = relation.map(|relation| self.ends_of(relation, Some(kind)));
                let unknown = ReachedRelationship { kind: Some(kind), ..Default::default() };
                PathStop::Relationship(ends.unwrap_or(unknown))
            }
            _ => PathStop::Unknown,
        }
    }

    /// The subject of a node: the node with each of its types.
    pub(super) fn node_subject(&self, node: &NodeElement<'a>) -> Subject<'c, 'a> {
        let body = Some(node.template.declared.value());
        let entities = self.types_of(node.id, Family::Node).into_iter().map(|(kind, mut when)| {
            when.push(node.id);
            AssertedEntity { kind, when, element: Some(node.id), body, given: &[] }
        });
        Subject::of(entities)
    }

    /// The subject of a group: its members.
    fn group_subject(&self, group: &GroupElement<'a>) -> Subject<'c, 'a> {
        let members = self.graph.members_within(group).into_iter();
        let members = members.filter(|&member| self.counts(member));
        let mut subject = members
            .map(|member| self.member_subject(member))
            .fold(Subject::default(), Subject::and);
        subject.entities.iter_mut().for_each(|entity| entity.when.push(group.id));
        subject.groups =
            self.types_of(group.id, Family::Group).into_iter().map(|(kind, _)| kind).collect();
        subject
    }

    fn member_subject(&self, member: ElementId) -> Subject<'c, 'a> {
        let element = self.graph.element(member);
        match element.kind {
            ElementKind::Node => self.node_subject(&self.graph.nodes[element.slot as usize]),
            ElementKind::Relation => {
                self.relation_subject(&self.graph.relations[element.slot as usize])
            }
            _ => Subject::default(),
        }
    }

    /// The subject of a relation: its relationship, with the type of its template, or else the type
    /// that the requirement definition names.
    fn relation_subject(&self, relation: &RelationElement<'a>) -> Subject<'c, 'a> {
        let source = self.graph.node(relation.source);
        let mut subject = self.requirement_subject(source, relation.requirement.declared.name());
        for entity in &mut subject.entities {
            entity.when.push(relation.id);
            entity.element = Some(relation.id);
        }
        let named = self.defined(Family::Relationship, relation.requirement.relationship());
        let own: Vec<_> = match named.filter(|_| relation.relationship.is_none()) {
            Some(kind) => vec![(kind, Vec::new())],
            None => self.types_of(relation.id, Family::Relationship),
        };
        if own.is_empty() {
            return subject;
        }
        let given = subject
            .entities
            .iter()
            .map(|entity| entity.given)
            .find(|given| !given.is_empty())
            .unwrap_or_default();
        let body = relation.relationship.map(|template| template.declared.value());
        let entities = own.into_iter().map(|(kind, mut when)| {
            when.push(relation.id);
            AssertedEntity { kind, when, element: Some(relation.id), body, given }
        });
        Subject::of(entities)
    }

    /// The relationships of a requirement, as its definition describes them.
    fn requirement_subject(&self, node: &NodeElement<'a>, name: &str) -> Subject<'c, 'a> {
        let types = self.types;
        let defined =
            self.types_of(node.id, Family::Node).into_iter().filter_map(|(kind, mut when)| {
                let definition = &types.effective(kind).requirements.get(name)?.definition;
                let kind = self.defined(Family::Relationship, definition.relationship)?;
                when.push(node.id);
                let given = &definition.interfaces[..];
                Some(AssertedEntity { kind, when, element: None, body: None, given })
            });
        Subject::of(defined)
    }

    /// The subject of a policy target.
    pub(super) fn target_subject(&self, target: Target) -> Subject<'c, 'a> {
        match target {
            Target::Node(node) => self.node_subject(self.graph.node(node)),
            Target::Group(group) => self.group_subject(&self.graph.groups[group.0 as usize]),
        }
    }

    /// The node or the group of a name.
    pub(super) fn target(&self, name: Node<'_>) -> Option<Target> {
        let node = self.graph.find(LookupStep::Root(ElementKind::Node), name);
        let found =
            node.or_else(|_| self.graph.find(LookupStep::Root(ElementKind::Group), name)).ok()?;
        let element = self.graph.element(found);
        Some(match element.kind {
            ElementKind::Node => Target::Node(NodeId(element.slot)),
            _ => Target::Group(crate::variability::graph::GroupId(element.slot)),
        })
    }

    /// The subject of a step or a precondition; errors in the target are reported.
    pub(super) fn subject(
        &self,
        name: Node<'a>,
        relationship: Option<Node<'a>>,
        section: &'static str,
    ) -> Subject<'c, 'a> {
        let Some(target) = self.target(name) else {
            let text = name.text().unwrap_or_default();
            let error = Diagnostic::error(
                Code::UnknownElement,
                format!("there is neither a node nor a group `{text}`"),
            );
            let nodes = self.graph.nodes.iter().map(|node| node.template.declared.name());
            let known =
                nodes.chain(self.graph.groups.iter().map(|group| group.group.declared.name()));
            self.report_when(
                &[],
                &[],
                error.at(name.span()).section(section).help_opt(did_you_mean(text, known)),
            );
            return Subject::default();
        };
        match (target, relationship) {
            (target, None) => self.target_subject(target),
            (Target::Node(node), Some(relationship)) => {
                self.related(self.graph.node(node), relationship, section)
            }
            (Target::Group(_), Some(relationship)) => {
                let error = Diagnostic::error(
                    Code::InvalidTemplate,
                    "only a node can have a `target_relationship`, not a group",
                );
                self.report_when(&[], &[], error.at(relationship.span()).section(section));
                Subject::default()
            }
        }
    }

    /// The subject of a requirement of a node: its relationships.
    fn related(
        &self,
        node: &NodeElement<'a>,
        name: Node<'a>,
        section: &'static str,
    ) -> Subject<'c, 'a> {
        let text = name.text().unwrap_or_default();
        let relations = node.relations.iter().map(|&id| self.graph.relation(id));
        let relations: Vec<_> = relations
            .filter(|relation| {
                relation.requirement.declared.name() == text && self.counts(relation.id)
            })
            .collect();
        if relations.is_empty() {
            self.requirement_exists(node, name, section);
            return self.requirement_subject(node, text);
        }
        relations
            .into_iter()
            .map(|relation| self.relation_subject(relation))
            .fold(Subject::default(), Subject::and)
    }

    /// Reports a requirement that a type of a node does not have.
    pub(super) fn requirement_exists(
        &self,
        node: &NodeElement<'a>,
        name: Node<'a>,
        section: &'static str,
    ) {
        for entity in self.node_subject(node).entities {
            let requirements = &self.types.effective(entity.kind).requirements;
            if !requirements.contains_key(name.text().unwrap_or_default()) {
                let known = requirements.keys().copied();
                self.lacks(&entity.when, (entity.kind, "requirement"), name, known, section);
            }
        }
    }

    /// Reports that a type has no part of that name, unless the type may have unknown parts.
    pub(super) fn lacks<'n>(
        &self,
        when: &[ElementId],
        (kind, what): (TypeId, &str),
        name: Node<'_>,
        known: impl IntoIterator<Item = &'n str>,
        section: &'static str,
    ) {
        if self.is_open(kind) {
            return;
        }
        let (owner, text) = (self.called(kind), name.text().unwrap_or_default());
        let error =
            Diagnostic::error(Code::UnknownElement, format!("`{owner}` has no {what} `{text}`"));
        let error = error.at(name.span()).section(section);
        self.report_when(when, &[], error.help_opt(did_you_mean(text, known)));
    }

    /// The attribute of a type; each property is also an attribute (section 3.6.10.1).
    pub(super) fn attribute(&self, kind: TypeId, name: &str) -> Option<&PropertyDefinition<'c>> {
        let schema = self.schemas.of(kind);
        schema
            .attributes
            .iter()
            .chain(&schema.properties)
            .copied()
            .find(|definition| definition.named.name == name)
    }

    /// Checks the assertions of a condition: the attributes exist, and the clauses fit their types.
    pub(super) fn assertions(&self, assertions: &[Assertion<'a>], subject: &Subject<'c, 'a>) {
        for assertion in assertions {
            let name = assertion.attribute.text().unwrap_or_default();
            if let Some(definition) =
                subject.groups.iter().find_map(|&kind| self.attribute(kind, name))
            {
                self.asserted(assertion, definition, &subject.when);
                continue;
            }
            for entity in &subject.entities {
                let when = subject.when(entity);
                match self.attribute(entity.kind, name) {
                    Some(definition) => self.asserted(assertion, definition, &when),
                    None => self.no_attribute(entity.kind, assertion.attribute, &when),
                }
            }
        }
    }

    fn no_attribute(&self, kind: TypeId, name: Node<'_>, when: &[ElementId]) {
        let schema = self.schemas.of(kind);
        let known = schema
            .attributes
            .iter()
            .chain(&schema.properties)
            .map(|definition| definition.named.name);
        self.lacks(when, (kind, "attribute"), name, known, "3.6.24.2");
    }

    fn asserted(
        &self,
        assertion: &Assertion<'a>,
        definition: &PropertyDefinition<'c>,
        when: &[ElementId],
    ) {
        let Some(schema) = definition.expected() else { return };
        for clause in &assertion.clauses {
            self.report_values(when, check_constraint_definition(clause, schema, &self.schemas));
        }
    }

    /// Checks the assertions about a capability of a type, while all of `when` are present.
    pub(super) fn capability_assertions(
        &self,
        assertions: &[Assertion<'a>],
        name: Node<'a>,
        kind: TypeId,
        when: &[ElementId],
    ) {
        let capabilities = &self.types.effective(kind).capabilities;
        let Some(capability) = capabilities.get(name.text().unwrap_or_default()) else {
            let known = capabilities.keys().copied();
            return self.lacks(when, (kind, "capability"), name, known, "3.6.21.1");
        };
        let mut definitions = schemas::definitions(&capability.definition.attributes);
        definitions.extend(schemas::definitions(&capability.definition.properties));
        for assertion in assertions {
            let text = assertion.attribute.text().unwrap_or_default();
            match definitions.iter().copied().find(|definition| definition.named.name == text) {
                Some(definition) => self.asserted(assertion, definition, when),
                None if capability.definition.is_open => {}
                None => {
                    let message = format!(
                        "the capability `{}` has no attribute `{text}`",
                        capability.named.name
                    );
                    let error = Diagnostic::error(Code::UnknownElement, message)
                        .at(assertion.attribute.span());
                    let known = definitions.iter().map(|definition| definition.named.name);
                    self.report_when(
                        when,
                        &[],
                        error.section("3.6.24.2").help_opt(did_you_mean(text, known)),
                    );
                }
            }
        }
    }
}
