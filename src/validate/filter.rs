//! Node filters (section 3.6.5): their grammar, whether what they name is there, and whether a node
//! template fulfils them.

use super::checker::Checker;
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::text::source::Span;
use crate::text::yaml::{Node, NodeKind};
use crate::tosca::shape::{CAPABILITY_FILTER, FILTER};
use crate::tosca::types::schemas::definitions;
use crate::tosca::value::{
    Clause, Definition, Reason, Schema, Undecided, check_constraint_definition, check_value,
    function,
};
use crate::tosca::{EffectiveCapability, Family, Part, TypeId};
use crate::variability::graph::{ElementId, NodeElement};
use crate::variability::template::PropertyValue;

/// A node filter as it is written.
#[derive(Default)]
pub(super) struct NodeFilter<'n> {
    properties: Vec<PropertyFilter<'n>>,
    capabilities: Vec<CapabilityFilter<'n>>,
}

/// What a property has to fulfil (section 3.6.4).
struct PropertyFilter<'n> {
    key: Node<'n>,
    clauses: Vec<Clause<'n>>,
    /// What is compared with the result of a function.
    unknown: Vec<Node<'n>>,
}

/// A capability that has to be there (section 3.6.5.2).
struct CapabilityFilter<'n> {
    key: Node<'n>,
    properties: Vec<PropertyFilter<'n>>,
}

/// A node template that a filter is held against.
#[derive(Clone, Copy)]
pub(super) struct Candidate<'k, 'a> {
    /// The node template.
    pub node: &'k NodeElement<'a>,
    /// One of its types.
    pub kind: TypeId,
    /// Where it is chosen.
    pub at: Span,
}

/// What a filter is held against, and the value that is there.
struct Choice<'k> {
    name: &'k str,
    at: Span,
    when: &'k [ElementId],
    unless: &'k [ElementId],
}

/// What the name of a capability in a filter means: first that of a definition, then that of a type
/// (section 3.6.5.4).
enum Means<'k, 'c> {
    Defined(&'k Part<'c, EffectiveCapability<'c>>),
    OfType(TypeId, Vec<&'k Part<'c, EffectiveCapability<'c>>>),
    Nothing,
}

impl<'n> NodeFilter<'n> {
    /// Reads a node filter; what is wrong with its shape is reported and left out.
    pub fn read(node: Node<'n>, diagnostics: &mut Diagnostics) -> Self {
        let mut filter = Self::default();
        for (key, value) in map(node, "a node filter", "3.6.5.3", diagnostics) {
            match key.text().unwrap_or_default() {
                "properties" => filter.properties = property_filters(value, diagnostics),
                "capabilities" => {
                    let items = list(value, "capabilities", diagnostics);
                    filter.capabilities = items
                        .filter_map(|item| {
                            Some(diagnostics.ok(single(item, true))?.read(diagnostics))
                        })
                        .collect();
                }
                _ => diagnostics.0.extend(FILTER.unknown(key)),
            }
        }
        filter
    }
}

/// An entry of a list in a filter.
struct Entry<'n> {
    key: Node<'n>,
    value: Option<Node<'n>>,
}

impl<'n> Entry<'n> {
    fn read(self, diagnostics: &mut Diagnostics) -> CapabilityFilter<'n> {
        let mut properties = Vec::new();
        let body = self.value.filter(|body| !body.is_null());
        let body = body.map(|body| map(body, "a filter of a capability", "3.6.5.3", diagnostics));
        for (key, value) in body.into_iter().flatten() {
            match key.text() {
                Some("properties") => properties = property_filters(value, diagnostics),
                _ => diagnostics.0.extend(CAPABILITY_FILTER.unknown(key)),
            }
        }
        CapabilityFilter { key: self.key, properties }
    }
}

fn property_filters<'n>(node: Node<'n>, diagnostics: &mut Diagnostics) -> Vec<PropertyFilter<'n>> {
    let items = list(node, "properties", diagnostics);
    let entries: Vec<_> = items.filter_map(|item| diagnostics.ok(single(item, false))).collect();
    entries
        .into_iter()
        .filter_map(|entry| Some(property_filter(entry.key, entry.value?, diagnostics)))
        .collect()
}

fn property_filter<'n>(
    key: Node<'n>,
    value: Node<'n>,
    diagnostics: &mut Diagnostics,
) -> PropertyFilter<'n> {
    let one = (value.kind() != NodeKind::Sequence).then_some(value);
    let clauses = one.into_iter().chain(value.items());
    let (unknown, clauses): (Vec<_>, Vec<_>) =
        clauses.partition(|clause| function(*clause).is_some());
    let clauses =
        clauses.into_iter().filter_map(|clause| diagnostics.ok(Clause::read(clause))).collect();
    PropertyFilter { key, clauses, unknown }
}

fn list<'n>(
    node: Node<'n>,
    keyname: &str,
    diagnostics: &mut Diagnostics,
) -> impl Iterator<Item = Node<'n>> + use<'n> {
    if node.kind() != NodeKind::Sequence && !node.is_null() {
        let message = format!("`{keyname}` of a node filter is a list, not {}", node.describe());
        let error =
            Diagnostic::error(Code::InvalidTemplate, message).at(node.span()).section("3.6.5.3");
        diagnostics.push(error.help("start each of them with `-`"));
    }
    node.items()
}

fn map<'n>(
    node: Node<'n>,
    what: &str,
    section: &'static str,
    diagnostics: &mut Diagnostics,
) -> impl Iterator<Item = (Node<'n>, Node<'n>)> + use<'n> {
    if node.kind() != NodeKind::Mapping && !node.is_null() {
        let message = format!("{what} is a map, not {}", node.describe());
        diagnostics.push(
            Diagnostic::error(Code::InvalidTemplate, message).at(node.span()).section(section),
        );
    }
    node.entries()
}

/// A map with one entry; where nothing needs to be said of it, a name.
fn single(item: Node<'_>, bare: bool) -> Result<Entry<'_>, Diagnostic> {
    let mut entries = item.entries();
    match (item.kind(), entries.next(), entries.next()) {
        (NodeKind::Mapping, Some((key, value)), None) => Ok(Entry { key, value: Some(value) }),
        (NodeKind::Scalar, ..) if bare && item.as_str().is_some() => {
            Ok(Entry { key: item, value: None })
        }
        _ => {
            let message = format!(
                "an entry of a list in a node filter is a map with one key, not {}",
                item.describe()
            );
            Err(Diagnostic::error(Code::InvalidTemplate, message)
                .at(item.span())
                .section("3.6.5.3"))
        }
    }
}

impl<'n> PropertyFilter<'n> {
    fn name(&self) -> &'n str {
        self.key.text().unwrap_or_default()
    }

    fn definition<'d, 'c>(&self, definitions: &'d [Definition<'c>]) -> Option<&'d Definition<'c>> {
        definitions.iter().find(|definition| definition.name == self.name())
    }
}

impl<'c, 'a> Checker<'c, 'a> {
    /// Checks a node filter while `when` is present: its shape, and that what it names is there in
    /// nodes of this type.
    pub(super) fn node_filter(&self, when: &[ElementId], filter: Node<'_>, target: Option<TypeId>) {
        let mut diagnostics = Diagnostics::default();
        let filter = NodeFilter::read(filter, &mut diagnostics);
        self.report_all(when, diagnostics);
        let Some(target) = target else { return };
        let owner = self.types.definition(target).name;
        self.property_filters(when, owner, &filter.properties, &self.schemas.of(target).properties);
        for capability in &filter.capabilities {
            let name = capability.key.text().unwrap_or_default();
            match self.meant(target, capability.key) {
                Means::Defined(part) => {
                    self.property_filters(
                        when,
                        name,
                        &capability.properties,
                        &definitions(&part.definition.properties),
                    );
                }
                // The node that is found may have more than its type says.
                Means::OfType(kind, _) => {
                    self.property_filters(
                        when,
                        name,
                        &capability.properties,
                        &self.schemas.of(kind).properties,
                    );
                }
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

    fn property_filters(
        &self,
        when: &[ElementId],
        owner: &str,
        filters: &[PropertyFilter<'_>],
        known: &[Definition<'c>],
    ) {
        for filter in filters {
            let Some(definition) = filter.definition(known) else {
                let name = filter.name();
                let error = Diagnostic::error(
                    Code::UnknownProperty,
                    format!("`{owner}` has no property `{name}`"),
                );
                let help = did_you_mean(name, known.iter().map(|definition| definition.name));
                self.report_when(
                    when,
                    &[],
                    error.at(filter.key.span()).section("3.6.4.2").help_opt(help),
                );
                continue;
            };
            let Some(schema) = &definition.schema else { continue };
            for clause in &filter.clauses {
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
            own.is_some_and(|own| self.derives(own, kind))
        };
        Means::OfType(kind, capabilities.values().map(|part| &**part).filter(is_one).collect())
    }

    /// Checks whether a node template that is chosen fulfils a node filter, while `when` is
    /// present; what is wrong with the filter itself is reported with it.
    pub(super) fn fulfils(
        &self,
        when: &[ElementId],
        filter: &NodeFilter<'_>,
        candidate: Candidate<'_, 'a>,
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
                // One of them has to, and which is not said.
                Means::OfType(_, parts) if !parts.is_empty() => {}
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
        candidate: Candidate<'_, 'a>,
    ) {
        let Candidate { node, kind, at } = candidate;
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
                    &Choice { name, at, when: &when, unless: &[] },
                    filter,
                    definition,
                    Some(value),
                );
            }
            let unless: Vec<_> = assigned().collect();
            let otherwise = definition.value.or(definition.default);
            self.value_fulfils(
                &Choice { name, at, when, unless: &unless },
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
        candidate: Candidate<'_, 'a>,
    ) {
        let known = definitions(&part.definition.properties);
        let body = candidate.node.template.declared.value;
        let assigned =
            body.get("capabilities").and_then(|all| all.get(part.named.name)?.get("properties"));
        let name = self.graph.element(candidate.node.id).name;
        for filter in &filter.properties {
            let Some(definition) = filter.definition(&known) else { continue };
            let value = assigned.and_then(|assigned| assigned.get(filter.name()));
            let value = value.or(definition.value).or(definition.default);
            self.value_fulfils(
                &Choice { name, at: candidate.at, when, unless: &[] },
                filter,
                definition,
                value,
            );
        }
    }

    fn value_fulfils(
        &self,
        choice: &Choice<'_>,
        filter: &PropertyFilter<'_>,
        definition: &Definition<'_>,
        value: Option<Node<'_>>,
    ) {
        let Some(defined) = &definition.schema else { return };
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
        let Some(value) = value else {
            return undecided(&format!("the property `{}` has no value yet", filter.name()));
        };
        let constraints = filter.clauses.clone();
        let schema =
            Schema { constraints, key_schema: None, entry_schema: None, ..Schema::clone(defined) };
        let found = check_value(value, &schema, &self.schemas);
        // What violates the type's own definition is reported with the value.
        let is_own = |label: &crate::text::diagnostic::Label| {
            filter.clauses.iter().any(|clause| clause.span == label.span)
        };
        for violation in found.diagnostics.iter().filter(|found| found.labels.iter().any(is_own)) {
            let message =
                format!("`{}` does not fulfil the node filter: {}", choice.name, violation.message);
            let error =
                Diagnostic::error(Code::ViolatedConstraint, message).at(choice.at).section("3.6.5");
            let error = error
                .label(value.span(), "the value")
                .label(filter.key.span(), "the node filter is here");
            self.report_when(choice.when, choice.unless, error);
        }
        let named = |undecided: &Undecided<'_>| match undecided.reason {
            Reason::Function(name) => Some(name.to_owned()),
            _ => None,
        };
        let of_filter =
            filter.unknown.iter().find_map(|clause| function(*clause)).map(str::to_owned);
        if let Some(name) = found.undecided.iter().find_map(named).or(of_filter) {
            undecided(&format!("the result of `{name}` is not known here"));
        }
    }
}
