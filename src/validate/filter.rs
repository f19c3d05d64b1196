//! Checks node filters (section 3.6.5): whether the parts they name exist, and whether a node
//! template satisfies them.

use super::checker::Checker;
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics, did_you_mean};
use crate::tosca::filter::{CapabilityFilter, NodeFilter, PropertyFilter};
use crate::tosca::types::schemas::definitions;
use crate::tosca::value::{
    Clause, Datum, Primitive, PropertyDefinition, check_constraint_definition,
};
use crate::tosca::{EffectiveCapability, Family, Part, TypeId, v2_0};
use crate::variability::graph::{ElementId, NodeElement};
use crate::variability::template::PropertyValue;
use cuvee_text::source::Span;
use cuvee_text::yaml::Node;

/// A node template that a filter is applied to.
#[derive(Clone, Copy)]
pub(super) struct FilteredNode<'k, 'a> {
    /// The node template.
    pub node: &'k NodeElement<'a>,
    /// One of its types.
    pub kind: TypeId,
    /// The place that chooses the node template.
    pub at: Span,
}

/// A value that a filter is applied to: its name, its place, and the elements that must be present
/// or absent for it to count.
struct FilteredValue<'k> {
    name: &'k str,
    at: Span,
    when: &'k [ElementId],
    unless: &'k [ElementId],
}

/// The meaning of a capability name in a filter: first the name of a definition, then that of a
/// type (section 3.6.5.4).
enum Means<'k, 'c> {
    Defined(&'k Part<'c, EffectiveCapability<'c>>),
    OfType(TypeId, Vec<&'k Part<'c, EffectiveCapability<'c>>>),
    Nothing,
}

impl<'c, 'a> Checker<'c, 'a> {
    /// Checks a node filter while all of `when` are present: its shape, and that nodes of the
    /// target type have the parts that it names.
    pub(super) fn node_filter(&self, when: &[ElementId], filter: Node<'_>, target: Option<TypeId>) {
        let mut diagnostics = Diagnostics::default();
        self.expects_one(when, filter, Primitive::Boolean);
        let filter = NodeFilter::read(filter, &mut diagnostics);
        self.report_all(when, diagnostics);
        let Some(target) = target else { return };
        let owner = self.called(target);
        let known = &self.schemas.of(target).properties;
        self.property_filters(when, (&owner, self.is_open(target)), &filter.properties, known);
        for capability in &filter.capabilities {
            let name = capability.key.text().unwrap_or_default();
            match self.meant(target, capability.key) {
                Means::Defined(part) => {
                    let known = definitions(&part.definition.properties);
                    let owner = (name, part.definition.is_open);
                    self.property_filters(when, owner, &capability.properties, &known);
                }
                // The node that is found may have more properties than its type defines.
                Means::OfType(kind, _) => {
                    let known = &self.schemas.of(kind).properties;
                    let owner = (name, self.is_open(kind));
                    self.property_filters(when, owner, &capability.properties, known);
                }
                Means::Nothing if self.is_open(target) => {}
                Means::Nothing => {
                    let message = format!(
                        "`{name}` is neither a capability of `{owner}` nor a capability type"
                    );
                    let error = Diagnostic::error(Code::UnknownDefinition, message)
                        .at(capability.key.span())
                        .section("3.6.5.4");
                    let known = self.types.effective(target).capabilities.keys().copied();
                    self.report_when(when, &[], error.help_opt(did_you_mean(name, known)));
                }
            }
        }
    }

    /// Checks filters on the properties of an owner, which may be open.
    fn property_filters(
        &self,
        when: &[ElementId],
        (owner, is_open): (&str, bool),
        filters: &[PropertyFilter<'_>],
        known: &[&PropertyDefinition<'c>],
    ) {
        for filter in filters {
            let Some(definition) = filter.definition(known) else {
                if is_open {
                    continue;
                }
                let name = filter.name();
                let error = Diagnostic::error(
                    Code::UnknownProperty,
                    format!("`{owner}` has no property `{name}`"),
                );
                let help = did_you_mean(name, known.iter().map(|definition| definition.named.name));
                self.report_when(
                    when,
                    &[],
                    error.at(filter.key.span()).section("3.6.4.2").help_opt(help),
                );
                continue;
            };
            let Some(schema) = definition.expected() else { continue };
            // In TOSCA 2.0, what a filter compares is checked with its other expressions.
            let is_of_1_3 = |clause: &&Clause<'_>| !v2_0::is_of(clause.operand.document());
            for clause in filter.clauses.iter().filter(is_of_1_3) {
                self.report_values(
                    when,
                    check_constraint_definition(clause, schema, &self.schemas),
                );
            }
        }
    }

    fn meant(&self, target: TypeId, key: Node<'_>) -> Means<'c, 'c> {
        let capabilities = &self.types.effective(target).capabilities;
        if let Some(part) = capabilities.get(key.text().unwrap_or_default()) {
            return Means::Defined(part);
        }
        let Some(kind) = self.defined(Family::Capability, Some(key)) else { return Means::Nothing };
        let is_one = |part: &&Part<'c, EffectiveCapability<'c>>| {
            let own = self.defined(Family::Capability, part.definition.kind);
            own.is_some_and(|own| self.may_derive(own, kind))
        };
        Means::OfType(kind, capabilities.values().map(|part| &**part).filter(is_one).collect())
    }

    /// The capabilities of a type that a key of a filter means.
    pub(super) fn capabilities_meant(&self, target: TypeId, key: Node<'_>) -> Vec<&'c str> {
        match self.meant(target, key) {
            Means::Defined(part) => vec![part.named.name],
            Means::OfType(_, parts) => parts.into_iter().map(|part| part.named.name).collect(),
            Means::Nothing => Vec::new(),
        }
    }

    /// Checks whether a chosen node template satisfies a node filter, while all of `when` are
    /// present. Errors in the filter itself are reported where the filter is checked.
    pub(super) fn fulfils(
        &self,
        when: &[ElementId],
        filter: &NodeFilter<'_>,
        candidate: FilteredNode<'_, 'a>,
    ) {
        self.properties_fulfil(when, &filter.properties, candidate);
        let name = self.graph.element(candidate.node.id).name;
        for capability in &filter.capabilities {
            let wanted = capability.key.text().unwrap_or_default();
            match self.meant(candidate.kind, capability.key) {
                Means::Defined(part) => self.capability_fulfils(when, capability, part, candidate),
                Means::OfType(_, parts) if parts.len() == 1 => {
                    parts.into_iter().for_each(|part| {
                        self.capability_fulfils(when, capability, part, candidate)
                    });
                }
                // One of these capabilities has to satisfy the filter, but it is not said which.
                Means::OfType(_, parts) if !parts.is_empty() => {}
                Means::OfType(..) | Means::Nothing if self.is_open(candidate.kind) => {}
                Means::OfType(..) | Means::Nothing => {
                    let message = format!(
                        "`{name}` has no capability `{wanted}`, which the node filter asks for"
                    );
                    let error = Diagnostic::error(Code::IncompatibleRequirement, message)
                        .at(candidate.at)
                        .section("3.6.5");
                    self.report_when(
                        when,
                        &[],
                        error.label(capability.key.span(), "the node filter asks for it here"),
                    );
                }
            }
        }
    }

    fn properties_fulfil(
        &self,
        when: &[ElementId],
        filters: &[PropertyFilter<'_>],
        candidate: FilteredNode<'_, 'a>,
    ) {
        let FilteredNode { node, kind, at } = candidate;
        let name = self.graph.element(node.id).name;
        for filter in filters {
            let Some(definition) = filter.definition(&self.schemas.of(kind).properties) else {
                continue;
            };
            let assigned = || {
                node.properties
                    .iter()
                    .copied()
                    .filter(|&id| self.graph.element(id).name == filter.name())
            };
            for id in assigned().filter(|&id| self.counts(id)) {
                let PropertyValue::Value(value) =
                    self.graph.properties[self.graph.element(id).slot as usize].property.value
                else {
                    continue;
                };
                let when: Vec<_> = when.iter().copied().chain([id]).collect();
                self.value_fulfils(
                    &FilteredValue { name, at, when: &when, unless: &[] },
                    filter,
                    definition,
                    Some(value),
                );
            }
            let unless: Vec<_> = assigned().collect();
            let otherwise = definition.value.or(definition.default);
            self.value_fulfils(
                &FilteredValue { name, at, when, unless: &unless },
                filter,
                definition,
                otherwise,
            );
        }
    }

    fn capability_fulfils(
        &self,
        when: &[ElementId],
        filter: &CapabilityFilter<'_>,
        part: &Part<'c, EffectiveCapability<'c>>,
        candidate: FilteredNode<'_, 'a>,
    ) {
        let known = definitions(&part.definition.properties);
        let body = candidate.node.template.declared.value();
        let assigned =
            body.get("capabilities").and_then(|all| all.get(part.named.name)?.get("properties"));
        let name = self.graph.element(candidate.node.id).name;
        for filter in &filter.properties {
            let Some(definition) = filter.definition(&known) else { continue };
            let value = assigned.and_then(|assigned| assigned.get(filter.name()));
            let value = value.or(definition.value).or(definition.default);
            self.value_fulfils(
                &FilteredValue { name, at: candidate.at, when, unless: &[] },
                filter,
                definition,
                value,
            );
        }
    }

    fn value_fulfils(
        &self,
        choice: &FilteredValue<'_>,
        filter: &PropertyFilter<'_>,
        definition: &PropertyDefinition<'_>,
        value: Option<Node<'_>>,
    ) {
        let Some(defined) = definition.expected() else { return };
        let undecided = |because: &str| {
            let message = format!(
                "whether `{}` fulfils the node filter cannot be decided: {because}",
                choice.name
            );
            let note = Diagnostic::note(Code::Undecidable, message).at(choice.at).section("3.6.5");
            self.report_when(
                choice.when,
                choice.unless,
                note.label(filter.key.span(), "the node filter is here"),
            );
        };
        let found = filter.hold(value.map(Datum::Node), defined, &self.schemas);
        for violation in found.violations {
            let message =
                format!("`{}` does not fulfil the node filter: {}", choice.name, violation.message);
            let error =
                Diagnostic::error(Code::ViolatedConstraint, message).at(choice.at).section("3.6.5");
            let error = match value {
                Some(value) => error.label(value.span(), "the value"),
                None => error,
            };
            let error = error.label(filter.key.span(), "the node filter is here");
            self.report_when(choice.when, choice.unless, error);
        }
        if let Some(because) = found.undecided {
            undecided(&because);
        }
    }
}
