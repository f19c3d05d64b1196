//! Checks requirement assignments (section 3.8.2) and their relationships.
//!
//! An assignment is compared with the definition of its requirement, once for each type that its
//! node may have. If it names a node template, each type of that template is also compared with the
//! definition. If it names a node type or nothing, an orchestrator finds the target, and it must be
//! possible to satisfy the assignment.

mod allocation;
mod cycle;
mod definition;
mod grammar;
mod indexed;
mod occurrence;
mod target;
mod template;
#[cfg(test)]
mod tests;

use super::assignment::Typed;
use super::checker::Checker;
use crate::diagnostic::{Cite, Code, Diagnostic, Rule, TOSCA_2_0, did_you_mean, listed};
use crate::tosca::requirement::{self, AssignedCount};
use crate::tosca::{Family, Occurrences, RequirementDefinition, TypeId, v2_0};
use crate::variability::graph::{ElementId, NodeCopies, RelationElement, no_target};
use cuvee_text::yaml::{Node, NodeKind};
use template::Templates;

/// A requirement assignment together with one type of its node.
struct AssignmentCase<'k, 'c, 'a> {
    relation: &'k RelationElement<'a>,
    definition: &'c RequirementDefinition<'c>,
    /// The node, or a copy of it.
    node: ElementId,
    /// The type of the node.
    source: TypeId,
    /// The elements that must be present: the relation, and the type assignment if it is one of
    /// several.
    when: Vec<ElementId>,
    /// The types of the relationship, each with the elements that it depends on.
    relationships: Vec<(TypeId, Vec<ElementId>)>,
    /// Whether the assignment names these types; otherwise they come from the definition.
    names_relationship: bool,
    /// The node type that the assignment names instead of a node template.
    node_type: Option<TypeId>,
}

impl AssignmentCase<'_, '_, '_> {
    /// The elements that must be present, together with `more`.
    fn with(&self, more: &[ElementId]) -> Vec<ElementId> {
        [&*self.when, more].concat()
    }

    /// The place of a keyname's value, or of the requirement's name if the keyname is missing.
    fn at(&self, keyname: &str) -> cuvee_text::source::Span {
        let declared = &self.relation.requirement.declared;
        declared.value().get(keyname).unwrap_or(declared.key()).span()
    }
}

impl<'c, 'a> Checker<'c, 'a> {
    /// Checks all requirement assignments and relationship templates, and what requirement
    /// definitions say about relationships and target nodes.
    pub(super) fn relations(&self) {
        self.requirement_definitions();
        let templates = Templates::of(self.graph);
        let copies = self.graph.copies();
        self.relationship_templates(&templates);
        for relation in self.graph.relations.iter().filter(|relation| self.counts(relation.id)) {
            self.relation(relation, &templates, &copies);
        }
        self.relation_counts();
        self.allocations();
    }

    fn relation(
        &self,
        relation: &RelationElement<'a>,
        templates: &Templates<'_, 'a>,
        copies: &NodeCopies<'_, 'a>,
    ) {
        self.requirement_grammar(relation);
        self.indexed_target(relation);
        let named = self.relationship_types(relation, templates);
        for (kind, when) in &named {
            self.relationship_values(relation, *kind, when, templates);
        }
        let named = (&*named, self.named_node_type(relation));
        let node = self.graph.node(relation.source);
        for (source, of_type) in self.types_of(node.id, Family::Node) {
            let when = [&[relation.id], &*of_type].concat();
            let Some(case) = self.case(relation, (node.id, source), when, named) else { continue };
            // A relationship template in place may leave its type to the definition.
            if let ([(kind, _)], true) =
                (&*case.relationships, relation.types.is_empty() && !case.names_relationship)
            {
                self.relationship_values(relation, *kind, &of_type, templates);
            }
            if v2_0::is_of(relation.requirement.declared.value().document()) {
                for (kind, of_kind) in &case.relationships {
                    let when = case.with(of_kind);
                    let of = Typed { id: relation.id, kind: *kind, when: &when };
                    self.without_values(relation, of);
                }
            }
            self.assignment(case);
        }
        for copy in copies.get(&node.id).into_iter().flatten().filter(|it| self.counts(it.id)) {
            let Some((at, _)) = self.taken_over(copy, "requirements") else { continue };
            for (source, of_type) in self.types_of(copy.id, Family::Node) {
                let when = [&[relation.id, copy.id], &*of_type].concat();
                self.copied_at(at, || {
                    let case = self.case(relation, (copy.id, source), when, named);
                    case.into_iter().for_each(|case| self.assignment(case));
                });
            }
        }
    }

    /// An assignment at a node of a type, with the relationship types and the node type that it
    /// names.
    fn case<'k>(
        &self,
        relation: &'k RelationElement<'a>,
        (node, source): (ElementId, TypeId),
        when: Vec<ElementId>,
        (named, node_type): (&[(TypeId, Vec<ElementId>)], Option<TypeId>),
    ) -> Option<AssignmentCase<'k, 'c, 'a>> {
        let name = self.graph.element(relation.id).name;
        let Some(definition) = self.requirement_definition(source, name) else {
            if !self.is_open(source) {
                self.unknown_requirement(relation, source, &when);
            }
            return None;
        };
        let names_relationship = !named.is_empty();
        let relationships = match names_relationship {
            true => named.to_vec(),
            false => self.defined_relationship(definition),
        };
        Some(AssignmentCase {
            relation,
            definition,
            node,
            source,
            when,
            relationships,
            names_relationship,
            node_type,
        })
    }

    fn unknown_requirement(
        &self,
        relation: &RelationElement<'_>,
        source: TypeId,
        when: &[ElementId],
    ) {
        let (element, owner) = (self.graph.element(relation.id), self.called(source));
        let error = Diagnostic::error(
            Code::UnknownDefinition,
            format!("`{owner}` has no requirement `{}`", element.name),
        );
        let known = || self.types.effective(source).requirements.keys().copied();
        let list =
            || format!("it has {}; a type that derives from it can have more", listed(known()));
        let help =
            did_you_mean(element.name, known()).or_else(|| known().next().map(|_| list().into()));
        self.report_when(when, &[], error.at(element.span).section("3.8.2").help_opt(help));
    }

    fn defined_relationship(
        &self,
        definition: &RequirementDefinition<'_>,
    ) -> Vec<(TypeId, Vec<ElementId>)> {
        self.defined(Family::Relationship, definition.relationship)
            .map(|kind| (kind, Vec::new()))
            .into_iter()
            .collect()
    }

    fn assignment(&self, mut case: AssignmentCase<'_, 'c, 'a>) {
        self.refined_occurrences(&case);
        if case.names_relationship {
            case.relationships = self.refined_relationships(&case);
        }
        self.refined_capability(&case);
        self.targets(&case);
    }

    /// Checks that an assignment of TOSCA 2.0 names no wider capability type than its definition
    /// (section 8.7.2). One that is neither wider nor narrower fits no target.
    fn refined_capability(&self, case: &AssignmentCase<'_, 'c, 'a>) {
        let named = case.relation.requirement.declared.value().get("capability");
        let named = named.filter(|it| v2_0::is_of(it.document()) && it.as_str().is_some());
        let own = self.defined(Family::Capability, named);
        let wanted = self.defined(Family::Capability, case.definition.capability);
        let Some((named, own, wanted)) = named.zip(own.zip(wanted)).map(|(it, (a, b))| (it, a, b))
        else {
            return;
        };
        // A capability of the target comes before a type of the same name.
        let text = named.text().unwrap_or_default();
        let target = case.relation.target.map(|target| self.graph.node(target).id);
        let kinds = target.map(|target| self.types_of(target, Family::Node)).unwrap_or_default();
        let mut kinds = kinds.into_iter().map(|(kind, _)| kind).chain(case.node_type);
        let is_name = kinds.any(|kind| self.types.effective(kind).capabilities.contains_key(text));
        let is_wider =
            own != wanted && self.may_derive(wanted, own) && !self.may_derive(own, wanted);
        if is_wider && !is_name {
            let (own, wanted) = (self.called(own), self.types.called(None, wanted));
            let name = case.definition.named.name;
            let message = format!(
                "`{own}` does not derive from `{wanted}`, the capability type of the requirement `{name}`"
            );
            let error = Diagnostic::error(Code::IncompatibleRequirement, message).at(named.span());
            let label = case.definition.capability.unwrap_or(case.definition.named.key).span();
            let error = error.label(label, "the capability type is required here");
            self.report_when(&case.when, &[], error.rule(Rule::new(&TOSCA_2_0, "8.7.2")));
        }
    }

    /// Checks that an assignment does not count for more relations than the definition allows and,
    /// if it is the only one of its name, not for fewer either.
    fn refined_occurrences(&self, case: &AssignmentCase<'_, '_, 'a>) {
        let value = case.relation.requirement.declared.value();
        let Some(at) = own_count(value) else { return };
        let own = AssignedCount::read(value);
        if !own.is_known {
            return;
        }
        let (min, max, defined) = bounds(case.definition);
        let is_alone = self.is_alone(case.relation);
        let too_few = is_alone && own.min < min && own.max != Some(0);
        if too_few || max.is_some_and(|max| own.max.is_none_or(|own| own > max)) {
            let name = case.definition.named.name;
            let [own, allowed] = [(own.min, own.max), (min, max)].map(|(min, max)| Occurrences {
                node: at,
                min,
                max,
            });
            let (message, said) = match v2_0::is_of(at.document()) {
                true => {
                    let count = own.min;
                    let message = format!(
                        "the count {count} of the requirement `{name}` is not within {allowed}"
                    );
                    (message, "the range of the definition")
                }
                false => {
                    let message = format!(
                        "the occurrences {own} of the requirement `{name}` are not within {allowed}"
                    );
                    (message, "the occurrences of the definition")
                }
            };
            let error = Diagnostic::error(Code::IncompatibleRequirement, message)
                .at(at.span())
                .section("3.8.2.2");
            let error = error.label(defined.span(), said);
            self.report_when(&case.when, &[], error);
        }
    }

    /// Whether a relation is the only one of its name at its node.
    fn is_alone(&self, relation: &RelationElement<'a>) -> bool {
        let name = self.graph.element(relation.id).name;
        let relations = &self.graph.node(relation.source).relations;
        let same = relations.iter().map(|&id| self.graph.relation(id).id);
        same.filter(|&id| self.counts(id) && self.graph.element(id).name == name).count() == 1
    }

    fn refined_relationships(
        &self,
        case: &AssignmentCase<'_, '_, 'a>,
    ) -> Vec<(TypeId, Vec<ElementId>)> {
        let Some(wanted) = self.defined(Family::Relationship, case.definition.relationship) else {
            return case.relationships.clone();
        };
        let is_refined = |(kind, _): &&(TypeId, Vec<ElementId>)| self.may_derive(*kind, wanted);
        let (refined, others): (Vec<_>, Vec<_>) = case.relationships.iter().partition(is_refined);
        for (kind, when) in others {
            let (own, wanted) = (self.called(*kind), self.types.called(None, wanted));
            let name = case.definition.named.name;
            let message = format!(
                "`{own}` does not derive from `{wanted}`, the relationship type of the requirement `{name}`"
            );
            let error = Diagnostic::error(Code::IncompatibleRequirement, message)
                .at(case.at("relationship"));
            let label = case.definition.relationship.unwrap_or(case.definition.named.key).span();
            let error =
                error.section("3.7.3.1").label(label, "the relationship type is required here");
            self.report_when(&case.with(when), &[], error);
        }
        refined.into_iter().cloned().collect()
    }

    /// The node type that is named in place of a node template. The graph reports names that are
    /// neither, except for those that look like types; these are reported here.
    fn named_node_type(&self, relation: &RelationElement<'_>) -> Option<TypeId> {
        let name = relation.requirement.target().filter(|_| relation.target.is_none())?;
        let Some(text) = name.text() else {
            self.report(relation.id, no_target(name));
            return None;
        };
        match self.defined(Family::Node, Some(name)) {
            None if relation.requirement.filtered || text.starts_with("tosca.nodes.") => {
                self.type_at(relation.id, Family::Node, name)
            }
            found => found,
        }
    }

    /// The relationship types: the type that is named in place of a template, or the types of the
    /// template.
    fn relationship_types(
        &self,
        relation: &RelationElement<'a>,
        templates: &Templates<'_, 'a>,
    ) -> Vec<(TypeId, Vec<ElementId>)> {
        if relation.relationship.is_some() {
            let source = templates.copied(relation).filter(|_| relation.types.is_empty());
            return self.types_of(source.unwrap_or(relation).id, Family::Relationship);
        }
        let name =
            relation.requirement.relationship().filter(|name| name.kind() == NodeKind::Scalar);
        let found = name.and_then(|name| match self.defined(Family::Relationship, Some(name)) {
            None if name.text()?.starts_with("tosca.relationships.") => {
                self.type_at(relation.id, Family::Relationship, name)
            }
            None if v2_0::is_of(name.document()) => {
                self.unknown_relationship(relation, name);
                None
            }
            found => found,
        });
        found.map(|kind| (kind, Vec::new())).into_iter().collect()
    }

    /// Reports a name that is neither a relationship type nor a relationship template: it may be a
    /// type in another namespace (TOSCA 2.0, section 8.7.1).
    fn unknown_relationship(&self, relation: &RelationElement<'_>, name: Node<'_>) {
        let (text, own) = (name.text().unwrap_or_default(), relation.requirement.declared.name());
        let message =
            format!("relation `{own}` uses a relationship template `{text}` that does not exist");
        let error = Diagnostic::error(Code::UnknownRelationshipTemplate, message).at(name.span());
        let help = "neither is there a relationship type of this name";
        self.report(relation.id, error.rule(Rule::new(&TOSCA_2_0, "8.7.1")).help(help));
    }
}

impl<'c> Checker<'c, '_> {
    /// The effective definition of a requirement in a node type.
    fn requirement_definition(
        &self,
        kind: TypeId,
        name: &str,
    ) -> Option<&'c RequirementDefinition<'c>> {
        self.types.effective(kind).requirements.get(name).map(|part| &part.definition)
    }
}

/// The keyname by which an assignment gives its number of relations.
fn own_count<'n>(assignment: Node<'n>) -> Option<Node<'n>> {
    ["occurrences", "count", "optional"].into_iter().find_map(|keyname| assignment.get(keyname))
}

/// The bounds of a requirement's occurrences, and where they are defined.
fn bounds<'c>(definition: &RequirementDefinition<'c>) -> (u64, Option<u64>, Node<'c>) {
    let bounds = requirement::bounds(definition);
    let place = definition.occurrences.map_or(definition.named.key, |it| it.node);
    (bounds.min, bounds.max, place)
}
