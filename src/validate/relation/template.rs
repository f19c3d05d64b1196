//! Checks relationship templates (section 3.8.4), and the values of relationships wherever they are
//! written.

use super::super::assignment::Typed;
use super::super::checker::Checker;
use super::super::property::undefined;
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics, did_you_mean};
use crate::tosca::requirement::AssignedCount;
use crate::tosca::shape::RELATIONSHIP;
use crate::tosca::value::{PropertyDefinition, Schema, check_assignment};
use crate::tosca::{Family, RequirementDefinition, TypeId, v2_0};
use crate::variability::graph::{ElementId, Graph, RelationElement};
use crate::variability::template::{Property, PropertyValue, RelationshipTemplate, shape};
use cuvee_text::yaml::Node;
use rustc_hash::FxHashMap;

/// Relationship templates by name.
pub(super) struct Templates<'g, 'a> {
    by_name: FxHashMap<&'a str, &'g RelationshipTemplate<'a>>,
    /// The relation that uses each template; several users of one template are reported elsewhere.
    users: FxHashMap<&'a str, &'g RelationElement<'a>>,
}

impl<'g, 'a> Templates<'g, 'a> {
    pub(super) fn of(graph: &'g Graph<'a>) -> Self {
        let named =
            graph.relations.iter().filter(|relation| relation.requirement.relationship().is_some());
        Self {
            by_name: graph
                .template
                .relationships
                .iter()
                .map(|template| (template.declared.name(), template))
                .collect(),
            users: named
                .filter_map(|relation| Some((relation.relationship?.declared.name(), relation)))
                .collect(),
        }
    }

    /// The properties that a relation copies from a relationship template that no relation uses.
    fn copied_unused(&self, relation: &RelationElement<'a>) -> &'g [Property<'a>] {
        let source = || relation.relationship?.declared.value().get("copy")?.as_str();
        let unused = source()
            .filter(|name| !self.users.contains_key(name))
            .and_then(|name| self.by_name.get(name));
        unused.map(|template| &*template.properties).unwrap_or_default()
    }

    /// The relation whose relationship template is copied by that of this relation.
    pub(super) fn copied(&self, relation: &RelationElement<'a>) -> Option<&'g RelationElement<'a>> {
        self.users.get(relation.relationship?.declared.value().get("copy")?.as_str()?).copied()
    }
}

impl<'c, 'a> Checker<'c, 'a> {
    /// Checks the shape of all relationship templates: while their relation is present, or always
    /// if no relation uses them.
    pub(super) fn relationship_templates(&self, templates: &Templates<'_, 'a>) {
        for template in &self.graph.template.relationships {
            let when: Vec<_> = templates
                .users
                .get(template.declared.name())
                .map(|relation| relation.id)
                .into_iter()
                .collect();
            let known = (shape::RELATIONSHIP, RELATIONSHIP.section);
            self.grammar(&when, template.declared.value(), known, &["copy"]);
            self.relationship_copy(&when, template, templates);
            if when.is_empty() {
                self.unused_template(template);
            }
        }
    }

    /// Checks a template that no relation uses and that may be copied: its values have to fit, but
    /// required values may be missing.
    fn unused_template(&self, template: &'a RelationshipTemplate<'a>) {
        for assignment in self.graph.relationship_holder(template, "type").types.iter() {
            let found = self.types.named(
                Family::Relationship,
                assignment.declared.name(),
                assignment.declared.span(),
            );
            let kind = match found {
                Ok(kind) => kind,
                Err(error) => return self.report_when(&[], &[], error),
            };
            self.held_by(template, "properties", |holder| self.unused_properties(holder, kind));
            self.held_by(template, "attributes", |holder| {
                self.attributes(kind, &[], holder.declared.value());
            });
        }
    }

    fn unused_properties(&self, template: &RelationshipTemplate<'a>, kind: TypeId) {
        let definitions = &self.schemas.of(kind).properties;
        for property in &template.properties {
            let name = property.declared.name();
            match (
                definitions.iter().copied().find(|definition| definition.named.name == name),
                property.value,
            ) {
                (Some(definition), PropertyValue::Value(value)) => {
                    self.report_values(&[], check_assignment(value, definition, &self.schemas));
                }
                (Some(_), PropertyValue::Expression(_)) => {}
                (None, _) if self.is_open(kind) => {}
                (None, _) => {
                    let error = undefined(&self.called(kind), name, definitions);
                    self.report_when(&[], &[], error.at(property.declared.span()));
                }
            }
        }
    }

    /// Checks a keyname of a relationship template, or what it copies there. That is checked again
    /// only if the copy has a type of its own (TOSCA 2.0, section 7.4).
    fn held_by(
        &self,
        template: &'a RelationshipTemplate<'a>,
        keyname: &str,
        check: impl FnOnce(&'a RelationshipTemplate<'a>),
    ) {
        let holder = self.graph.relationship_holder(template, keyname);
        match template.declared.value().get("copy").filter(|_| !std::ptr::eq(holder, template)) {
            Some(_) if template.types.is_empty() => {}
            Some(copy) => self.copied_at(copy, || check(holder)),
            None => check(template),
        }
    }

    /// Checks that the copied template exists and is not itself a copy, so that there is no cycle
    /// (section 3.8.4.3).
    fn relationship_copy(
        &self,
        when: &[ElementId],
        template: &RelationshipTemplate<'_>,
        templates: &Templates<'_, 'a>,
    ) {
        let Some((copy, name)) =
            template.declared.value().get("copy").and_then(|copy| Some((copy, copy.as_str()?)))
        else {
            return;
        };
        let error = match templates.by_name.get(name) {
            None => {
                let message = format!("there is no relationship template `{name}` to copy");
                let help = did_you_mean(
                    name,
                    self.graph
                        .template
                        .relationships
                        .iter()
                        .map(|template| template.declared.name()),
                );
                let error = Diagnostic::error(Code::UnknownRelationshipTemplate, message)
                    .section("3.8.4.1");
                error.help_opt(help)
            }
            Some(source) => {
                let Some(again) = source.declared.value().get("copy") else { return };
                let message = format!("`{name}` is a copy itself, and cannot be copied");
                let error = Diagnostic::error(Code::InvalidTemplate, message).section("3.8.4.3");
                error.label(again.span(), "here it copies")
            }
        };
        self.report_when(when, &[], error.at(copy.span()));
    }

    /// Checks the properties and attributes of a relationship against one of its types, while all
    /// of `of_type` are present.
    pub(super) fn relationship_values(
        &self,
        relation: &RelationElement<'a>,
        kind: TypeId,
        of_type: &[ElementId],
        templates: &Templates<'_, 'a>,
    ) {
        let Some(template) = relation.relationship else { return };
        let is_own = |id: &&ElementId| {
            let name = self.graph.element(**id).name;
            relation.properties.iter().any(|own| self.graph.element(*own).name == name)
        };
        // In TOSCA 2.0, own properties of a copy replace all that it would take.
        let merges = !v2_0::is_of(template.declared.value().document());
        let source = templates.copied(relation).filter(|_| merges);
        let copied = source.map(|source| &*source.properties).unwrap_or_default();
        let copied = copied.iter().filter(|id| !is_own(id));
        let properties: Vec<_> = relation.properties.iter().chain(copied).copied().collect();
        let when = [of_type, &[relation.id]].concat();
        let typed = Typed { id: relation.id, kind, when: &when };
        let refined = self.refined_properties(relation);
        let with_value = refined.iter().filter(|it| it.value.or(it.default).is_some());
        let unused = if merges { templates.copied_unused(relation) } else { &[] };
        let given: Vec<_> = unused
            .iter()
            .map(|property| property.declared.name())
            .chain(with_value.map(|definition| definition.named.name))
            .collect();
        self.held_by(template, "properties", |_| {
            self.assigned_properties(&properties, kind, of_type);
        });
        for definition in refined {
            self.refined_property(&properties, kind, definition, &when);
        }
        self.missing_properties(typed, &properties, &given);
        self.held_by(template, "attributes", |holder| {
            self.attributes(kind, &when, holder.declared.value())
        });
        self.held_by(template, "interfaces", |holder| {
            self.interfaces(typed, holder.declared.value(), &[])
        });
        let interfaces = self.graph.relationship_holder(template, "interfaces").declared.value();
        self.operations_of_type(typed, interfaces, &[]);
        self.fixed_inputs(relation, interfaces, &when);
    }

    /// Checks that a relationship assigns no input of its interfaces to which the definition of its
    /// requirement gives a fixed value (TOSCA 2.0, section 11.5).
    fn fixed_inputs(&self, relation: &RelationElement<'a>, body: Node<'a>, when: &[ElementId]) {
        let Some(assigned) = body.get("interfaces").filter(|it| v2_0::is_of(it.document())) else {
            return;
        };
        let definitions = self.definitions_of(relation);
        for interface in definitions.iter().flat_map(|definition| &definition.interfaces) {
            let Some(body) = assigned.get(interface.named.name) else { continue };
            let of_operations = interface.operations.iter().filter_map(|operation| {
                let operations = body.get("operations").unwrap_or(body);
                Some((operations.get(operation.named.name)?, &operation.inputs))
            });
            for (given, inputs) in of_operations.chain([(body, &interface.inputs)]) {
                let Some(given) = given.get("inputs") else { continue };
                for input in inputs.iter().filter(|input| input.value.is_some()) {
                    let Some(value) = given.get(input.named.name) else { continue };
                    // The type of the interface says which values there are.
                    let fixed = PropertyDefinition { schema: Schema::untyped(), ..input.clone() };
                    let found = check_assignment(value, &fixed, &self.schemas).diagnostics;
                    self.report_all(when, Diagnostics(found));
                }
            }
        }
    }

    /// Checks that a relationship of TOSCA 2.0 to which nothing gives values needs none.
    pub(super) fn without_values(&self, relation: &RelationElement<'a>, of: Typed<'_>) {
        let body = relation.requirement.declared.value();
        let is_there = AssignedCount::read(body).max != Some(0);
        if relation.relationship.is_none() && is_there {
            let refined = self.refined_properties(relation).into_iter();
            let given = refined.filter(|it| it.value.or(it.default).is_some());
            let given: Vec<_> = given.map(|definition| definition.named.name).collect();
            self.missing_properties(of, &[], &given);
        }
    }

    /// The properties of a relationship that the definition of its requirement refines (TOSCA 2.0,
    /// section 8.5).
    pub(in crate::validate) fn refined_properties(
        &self,
        relation: &RelationElement<'a>,
    ) -> Vec<&'c PropertyDefinition<'c>> {
        let definitions = self.definitions_of(relation).into_iter();
        definitions.flat_map(|definition| &definition.properties).collect()
    }

    /// The definitions of the requirement of a relation.
    fn definitions_of(&self, relation: &RelationElement<'a>) -> Vec<&'c RequirementDefinition<'c>> {
        let source = self.graph.node(relation.source).id;
        let name = self.graph.element(relation.id).name;
        let kinds = self.types_of(source, Family::Node).into_iter();
        kinds.filter_map(|(kind, _)| self.requirement_definition(kind, name)).collect()
    }

    /// Checks values of a property against its refinement, as far as the type says nothing of them.
    fn refined_property(
        &self,
        properties: &[ElementId],
        kind: TypeId,
        refined: &'c PropertyDefinition<'c>,
        when: &[ElementId],
    ) {
        let name = refined.named.name;
        let of_type = self.schemas.of(kind).properties.iter().find(|it| it.named.name == name);
        for id in self.counting(properties).filter(|id| self.graph.element(*id).name == name) {
            let property = &self.graph.properties[self.graph.element(id).slot as usize].property;
            let PropertyValue::Value(value) = property.value else { continue };
            let known = of_type.map(|it| check_assignment(value, it, &self.schemas).diagnostics);
            let known = known.unwrap_or_default();
            let is_news = |found: &Diagnostic| {
                !known.iter().any(|it| (it.span, it.code) == (found.span, found.code))
            };
            let found = check_assignment(value, refined, &self.schemas).diagnostics;
            for found in found.into_iter().filter(is_news) {
                self.report_when(&[when, &[id]].concat(), &[], found);
            }
        }
    }
}
