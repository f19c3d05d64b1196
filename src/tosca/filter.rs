//! Node filters (section 3.6.5).

use super::shape::{CAPABILITY_FILTER, FILTER};
use super::value::{Clause, PropertyDefinition, function};
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::text::yaml::{Node, NodeKind};

/// A node filter as it is written.
#[derive(Default)]
pub(crate) struct NodeFilter<'n> {
    /// What properties have to fulfil.
    pub properties: Vec<PropertyFilter<'n>>,
    /// Capabilities that have to be there.
    pub capabilities: Vec<CapabilityFilter<'n>>,
}

/// What a property has to fulfil (section 3.6.4).
pub(crate) struct PropertyFilter<'n> {
    /// The name of the property.
    pub key: Node<'n>,
    /// What it is compared with.
    pub clauses: Vec<Clause<'n>>,
    /// What is compared with the result of a function.
    pub unknown: Vec<Node<'n>>,
}

/// A capability that has to be there (section 3.6.5.2).
pub(crate) struct CapabilityFilter<'n> {
    /// The name of the capability, or of its type.
    pub key: Node<'n>,
    /// What its properties have to fulfil.
    pub properties: Vec<PropertyFilter<'n>>,
}

impl<'n> NodeFilter<'n> {
    /// Reads a node filter; what is wrong with its shape is reported and left out.
    pub(crate) fn read(node: Node<'n>, diagnostics: &mut Diagnostics) -> Self {
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
struct FilterEntry<'n> {
    key: Node<'n>,
    value: Option<Node<'n>>,
}

impl<'n> FilterEntry<'n> {
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
        let message =
            format!("`{keyname}` of a node filter has to be a list, not {}", node.describe());
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
        let message = format!("{what} has to be a map, not {}", node.describe());
        diagnostics.push(
            Diagnostic::error(Code::InvalidTemplate, message).at(node.span()).section(section),
        );
    }
    node.entries()
}

/// A map with one entry; where nothing needs to be said of it, a name.
fn single(item: Node<'_>, bare: bool) -> Result<FilterEntry<'_>, Diagnostic> {
    let mut entries = item.entries();
    match (item.kind(), entries.next(), entries.next()) {
        (NodeKind::Mapping, Some((key, value)), None) => {
            Ok(FilterEntry { key, value: Some(value) })
        }
        (NodeKind::Scalar, ..) if bare && item.as_str().is_some() => {
            Ok(FilterEntry { key: item, value: None })
        }
        _ => {
            let message = format!(
                "an entry of a list in a node filter has to be a map with one key, not {}",
                item.describe()
            );
            Err(Diagnostic::error(Code::InvalidTemplate, message)
                .at(item.span())
                .section("3.6.5.3"))
        }
    }
}

impl<'n> PropertyFilter<'n> {
    /// The name of the property.
    pub(crate) fn name(&self) -> &'n str {
        self.key.text().unwrap_or_default()
    }

    /// How the property is defined, where it is among these.
    pub(crate) fn definition<'d, 'c>(
        &self,
        definitions: &[&'d PropertyDefinition<'c>],
    ) -> Option<&'d PropertyDefinition<'c>> {
        definitions.iter().copied().find(|definition| definition.named.name == self.name())
    }
}
