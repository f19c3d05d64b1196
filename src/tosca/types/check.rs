//! Checks type definitions even where they are not used: constraints have to suit the type that
//! they constrain (section 3.6.3.3), and defaults and fixed values have to fit their type (sections
//! 3.6.10.5 and 3.6.14.2).
//!
//! Each definition is checked where it is written, together with everything that it inherits. What
//! a refinement inherits unchanged is reported at the ancestor only.

use super::defined::Types;
use super::definition::{ArtifactDefinition, OperationDefinition, RequirementDefinition};
use super::effective::{EffectiveInterface, EffectiveType, Part, Parts, Refining};
use super::hierarchy::{TypeId, TypeRef};
use super::schemas::Schemas;
use crate::diagnostic::{Cite, Code, Diagnostic, Rule, TOSCA_2_0, did_you_mean};
use crate::tosca::family::Family;
use crate::tosca::function::Call;
use crate::tosca::value::{
    Findings, PropertyDefinition, Schema, Undecided, UndecidedReason, check_assignment,
    check_constraint_definition, check_definition, check_schema, function_not_map,
};
use cuvee_text::source::Span;
use cuvee_text::yaml::Node;

/// Reports all errors in the constraints, schemas, defaults and fixed values of these types.
pub(super) fn definitions(types: &Types<'_>, ids: &[TypeId]) -> Vec<Diagnostic> {
    let mut check = DefinitionCheck { types, schemas: Schemas::new(types), found: Vec::new() };
    ids.iter().for_each(|&id| check.of_type(id, types.effective(id)));
    check.found
}

/// Reports calls of functions with wrong operands in a definition. They are checked by their shape
/// only, because no entities exist there.
pub(super) fn calls(value: Node<'_>, found: &mut Vec<Diagnostic>) {
    if function_not_map(value).is_some()
        && let Some(Err(error)) = Call::read(value)
    {
        return found.push(error);
    }
    value.parts().for_each(|part| calls(part, found));
}

struct DefinitionCheck<'t, 'a> {
    types: &'t Types<'a>,
    schemas: Schemas<'t, 'a>,
    found: Vec<Diagnostic>,
}

impl<'a> DefinitionCheck<'_, 'a> {
    fn of_type(&mut self, id: TypeId, effective: &EffectiveType<'a>) {
        if self.types.definition(id).family == Family::Data {
            self.data_type(id);
        }
        self.properties(id, &effective.properties);
        self.properties(id, &effective.attributes);
        for capability in own(id, &effective.capabilities) {
            self.properties(id, &capability.definition.properties);
            self.properties(id, &capability.definition.attributes);
        }
        for interface in own(id, &effective.interfaces) {
            self.interface(id, &interface.definition);
        }
        self.interface(id, &effective.interface);
        for requirement in own(id, &effective.requirements) {
            let RequirementDefinition { properties, attributes, .. } = &requirement.definition;
            properties.iter().chain(attributes).for_each(|refined| self.property(refined, None));
            self.has_capability(&requirement.definition);
        }
        own(id, &effective.artifacts).for_each(|artifact| self.artifact(&artifact.definition));
        for requirement in &self.types.definition(id).requirements {
            let part = effective.requirements.get(requirement.named.name);
            let refined = part.and_then(|part| part.refines.as_deref());
            let mut refining = Refining::silent(self.types, id);
            let interfaces = refining.relationship_interfaces(requirement, refined);
            own(id, &interfaces).for_each(|interface| self.interface(id, &interface.definition));
        }
    }

    /// Checks the constraints of a data type against values of that type. Constraints of ancestors
    /// are checked with the ancestors.
    fn data_type(&mut self, id: TypeId) {
        let written = self.types.definition(id);
        let own = &written.schema;
        let itself = Schema::untyped().with_kind(Some(written.key));
        for clause in &own.constraints {
            let findings = check_constraint_definition(clause, &itself, &self.schemas);
            self.found.extend(all(findings));
        }
        for part in [&own.key_schema, &own.entry_schema].into_iter().flatten() {
            let findings = check_schema(part, &self.schemas);
            self.found.extend(all(findings));
        }
    }

    fn interface(&mut self, id: TypeId, interface: &EffectiveInterface<'a>) {
        self.properties(id, &interface.inputs);
        let operations = own(id, &interface.operations).chain(own(id, &interface.notifications));
        operations.for_each(|operation| self.operation(operation));
    }

    fn artifact(&mut self, artifact: &ArtifactDefinition<'a>) {
        let kind = artifact.kind.and_then(|kind| {
            let file = Some(kind.document().file());
            self.types.find_in(file, Family::Artifact, kind.text()?)
        });
        let misnamed = kind.zip(artifact.file);
        self.found.extend(misnamed.and_then(|(kind, file)| self.types.misnamed(kind, file)));
        // Before TOSCA 2.0, nothing says that the type defines them.
        let is_closed = |kind: &TypeId| !self.types.effective(*kind).is_open;
        let Some(kind) = kind
            .filter(is_closed)
            .filter(|_| self.types.is_strict_in(artifact.named.key.document()))
        else {
            return;
        };
        let known = &self.schemas.of(kind).properties;
        for named in &artifact.properties {
            match known.iter().find(|definition| definition.named.name == named.name) {
                Some(definition) => {
                    let found = check_assignment(named.value, definition, &self.schemas);
                    self.found.extend(all(found));
                }
                None => {
                    let owner = self.types.called(Some(named.key.document().file()), kind);
                    let message = format!("`{owner}` has no property `{}`", named.name);
                    let known = known.iter().map(|definition| definition.named.name);
                    let error = Diagnostic::error(Code::UnknownProperty, message);
                    let error = error.at(named.key.span()).section("3.6.7.1");
                    self.found.push(error.help_opt(did_you_mean(named.name, known)));
                }
            }
        }
    }

    /// Checks that the node type of a requirement, or one that derives from it, has a capability that
    /// fulfils the requirement (TOSCA 2.0, sections 8.5 and 8.6).
    fn has_capability(&mut self, requirement: &RequirementDefinition<'a>) {
        let types = self.types;
        let of = |family, name: Option<Node<'_>>| {
            let name = name.filter(|it| types.is_strict_in(it.document()))?;
            types.find_in(Some(name.document().file()), family, name.text()?)
        };
        let ends = of(Family::Node, requirement.node).zip(requirement.node);
        let wanted = of(Family::Capability, requirement.capability);
        let Some(((node, at), wanted)) = ends.zip(wanted) else { return };
        let may_derive =
            |one, other| types.may_derive(TypeRef::Defined(one), TypeRef::Defined(other));
        let may_have = |node: TypeId| {
            let effective = types.effective(node);
            let mut kinds = effective.capabilities.values().map(|part| part.definition.kind);
            effective.is_open
                || kinds.any(|kind| {
                    of(Family::Capability, kind).is_none_or(|it| may_derive(it, wanted))
                })
        };
        let is_node = |id: &TypeId| types.place(*id).0 == Family::Node && may_derive(*id, node);
        if may_have(node) || types.ids().filter(is_node).any(may_have) {
            return;
        }
        let file = Some(at.document().file());
        let [node, wanted] = [node, wanted].map(|id| types.called(file, id));
        let message = format!(
            "`{node}` has no capability of type `{wanted}`, which the requirement `{}` needs",
            requirement.named.name
        );
        let error = Diagnostic::error(Code::InvalidDefinition, message).at(at.span());
        self.found.push(error.rule(Rule::new(&TOSCA_2_0, "8.5")));
    }

    /// Checks the inputs of an operation that are not inherited unchanged. The definition has all
    /// inputs, including inherited ones.
    fn operation(&mut self, operation: &Part<'a, OperationDefinition<'a>>) {
        let refined = operation.refines.as_ref().map(|part| part.definition.inputs.as_slice());
        for input in &operation.definition.inputs {
            let before = refined
                .and_then(|inputs| inputs.iter().find(|it| it.named.name == input.named.name));
            if before.is_none_or(|before| !before.named.key.ptr_eq(input.named.key)) {
                self.property(input, before);
            }
        }
    }

    fn properties(&mut self, id: TypeId, parts: &Parts<'a, PropertyDefinition<'a>>) {
        for part in own(id, parts) {
            let before = part.refines.as_ref().map(|refined| &refined.definition);
            self.property(&part.definition, before);
        }
    }

    fn property(
        &mut self,
        property: &PropertyDefinition<'a>,
        before: Option<&PropertyDefinition<'a>>,
    ) {
        let mut found = all(check_definition(property, &self.schemas));
        if let Some(before) = before.filter(|_| !found.is_empty()) {
            let known = all(check_definition(before, &self.schemas));
            found.retain(|one| {
                !known.iter().any(|other| (one.span, one.code) == (other.span, other.code))
            });
            for one in &mut found {
                move_to_refinement(one, property);
            }
        }
        self.found.append(&mut found);
    }
}

/// Moves a diagnostic about an inherited default to the refinement. The default fits where it is
/// written; the refinement makes it wrong.
fn move_to_refinement(diagnostic: &mut Diagnostic, property: &PropertyDefinition<'_>) {
    let inherited = [property.default, property.value].into_iter().flatten().find(|value| {
        let own = [property.named.value.get("default"), property.named.value.get("value")];
        !own.into_iter().flatten().any(|own| own.ptr_eq(*value))
            && diagnostic.span.is_some_and(|span| is_in(span, value.span()))
    });
    if let Some(value) = inherited {
        let moved = diagnostic.clone().at(property.named.key.span());
        *diagnostic = moved.label(value.span(), "the value that is inherited");
    }
}

fn is_in(inner: Span, outer: Span) -> bool {
    inner.file == outer.file && outer.start <= inner.start && inner.end <= outer.end
}

/// The parts that this type itself defines.
fn own<'p, 'a, T>(id: TypeId, parts: &'p Parts<'a, T>) -> impl Iterator<Item = &'p Part<'a, T>> {
    parts.values().map(|part| &**part).filter(move |part| part.owner == id)
}

/// All errors, and the undecided findings whose reason is not reported elsewhere.
fn all(findings: Findings<'_>) -> Vec<Diagnostic> {
    let is_news = |undecided: &&Undecided<'_>| {
        !matches!(
            undecided.reason,
            UndecidedReason::Function(_)
                | UndecidedReason::UnknownType(_)
                | UndecidedReason::Definition
        )
    };
    let notes = findings.undecided.iter().filter(is_news).map(Undecided::diagnostic);
    findings.diagnostics.into_iter().chain(notes).collect()
}
