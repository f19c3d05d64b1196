//! The grammar of substitution mappings (sections 3.8.8 to 3.8.13).

use super::filter::NodeFilter;
use super::grammar::Grammar;
use super::shape::{
    ATTRIBUTE_MAPPING, CAPABILITY_MAPPING, PROPERTY_MAPPING, REQUIREMENT_MAPPING, SUBSTITUTION,
    Shape,
};
use super::types::Named;
use crate::text::diagnostic::Diagnostics;
use crate::text::yaml::{Node, NodeKind};

/// A substitution mapping: the topology template implements a node type.
pub(crate) struct Substitution<'a> {
    /// What stands behind the keyname.
    pub node: Node<'a>,
    /// The name of the node type.
    pub node_type: Option<Node<'a>>,
    /// From its properties to inputs.
    pub properties: Vec<SubstitutionMapping<'a>>,
    /// From its attributes to outputs.
    pub attributes: Vec<SubstitutionMapping<'a>>,
    /// From its capabilities to those of nodes.
    pub capabilities: Vec<SubstitutionMapping<'a>>,
    /// From its requirements to those of nodes.
    pub requirements: Vec<SubstitutionMapping<'a>>,
    /// From operations of its interfaces to workflows, or to those of nodes.
    pub interfaces: Vec<Named<'a>>,
}

/// What is mapped, and to what.
pub(crate) struct SubstitutionMapping<'a> {
    /// What the node type calls it.
    pub named: Named<'a>,
    /// Names that lead to what it is mapped to.
    pub path: Vec<Node<'a>>,
    /// The value of a property.
    pub value: Option<Node<'a>>,
    /// Of a capability or a requirement: what is assigned to its properties.
    pub properties: Option<Node<'a>>,
    /// Of a capability or a requirement: what is assigned to its attributes.
    pub attributes: Option<Node<'a>>,
}

impl<'a> Substitution<'a> {
    /// The names of the nodes to which something is mapped.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = Node<'a>> {
        let parts = [&self.properties, &self.attributes, &self.capabilities, &self.requirements];
        let mapped = parts.into_iter().flatten().filter(|mapping| mapping.path.len() == 2);
        let interfaces = self.interfaces.iter().map(|interface| interface.value);
        let operations = self.interfaces.iter().flat_map(|interface| interface.value.entries());
        mapped
            .filter_map(|mapping| mapping.path.first().copied())
            .chain(interfaces.filter_map(mapped_node))
            .chain(operations.filter_map(|(_, operation)| mapped_node(operation)))
    }
}

/// The name of the node to whose interface or operation one is mapped by a list of names.
pub(crate) fn mapped_node(names: Node<'_>) -> Option<Node<'_>> {
    names.items().next().filter(|_| names.items().len() > 1)
}

/// Reads the substitution mapping of a topology template.
pub(crate) fn substitution<'a>(node: Node<'a>, diagnostics: &mut Diagnostics) -> Substitution<'a> {
    let mut grammar = Grammar::of_template(diagnostics);
    grammar.keynames(node, &SUBSTITUTION);
    if node.kind() == NodeKind::Mapping && node.get("node_type").is_none() {
        grammar.invalid(node, "a substitution mapping needs `node_type`", SUBSTITUTION.section);
    }
    if let Some(filter) = node.get("substitution_filter") {
        // It is held against nodes by who substitutes them.
        NodeFilter::read(filter, grammar.diagnostics);
    }
    Substitution {
        node,
        node_type: grammar.string(node, "node_type", &SUBSTITUTION),
        properties: grammar.mappings(node, "properties", &PROPERTY_MAPPING),
        attributes: grammar.mappings(node, "attributes", &ATTRIBUTE_MAPPING),
        capabilities: grammar.mappings(node, "capabilities", &CAPABILITY_MAPPING),
        requirements: grammar.mappings(node, "requirements", &REQUIREMENT_MAPPING),
        interfaces: grammar.entries(node, "interfaces", &SUBSTITUTION),
    }
}

impl Grammar<'_> {
    /// A map of mappings; requirements may be a list as they are elsewhere.
    fn mappings<'a>(
        &mut self,
        node: Node<'a>,
        keyname: &str,
        shape: &Shape,
    ) -> Vec<SubstitutionMapping<'a>> {
        let Some(collection) = node.get(keyname) else { return Vec::new() };
        let named = match collection.kind() {
            NodeKind::Sequence => {
                collection.items().flat_map(|item| self.map(item, keyname, shape.section)).collect()
            }
            _ => self.map(collection, keyname, shape.section),
        };
        named.into_iter().map(|named| self.mapping(named, shape)).collect()
    }

    fn mapping<'a>(&mut self, named: Named<'a>, shape: &Shape) -> SubstitutionMapping<'a> {
        let node = named.value;
        let mut mapping = SubstitutionMapping {
            named,
            path: Vec::new(),
            value: None,
            properties: None,
            attributes: None,
        };
        let has_value = shape.has("value");
        match node.kind() {
            NodeKind::Sequence => mapping.path = self.path(node, shape),
            NodeKind::Mapping if !has_value || shape.is_in(node) => {
                self.keynames(node, shape);
                mapping.path =
                    node.get("mapping").map(|path| self.path(path, shape)).unwrap_or_default();
                mapping.value = node.get("value");
                mapping.properties = node.get("properties");
                mapping.attributes = node.get("attributes");
                self.exclusive(node, shape);
            }
            _ if has_value => mapping.value = Some(node),
            _ => self.invalid(
                node,
                format!("{} has to be a list of names, not {}", shape.what, node.describe()),
                shape.section,
            ),
        }
        if let Some(value) = mapping.value {
            let message = "a value in a property mapping is deprecated: map the property, or use a `substitution_filter`";
            self.deprecated(value, message, "3.8.8.3");
        }
        mapping
    }

    /// `mapping` excludes the others.
    fn exclusive(&mut self, node: Node<'_>, shape: &Shape) {
        let other = node
            .entries()
            .find(|(key, _)| matches!(key.text(), Some("value" | "properties" | "attributes")));
        if let Some((key, _)) = other.filter(|_| node.get("mapping").is_some()) {
            let message = format!(
                "{} needs either `mapping` or `{}`",
                shape.what,
                key.text().unwrap_or_default()
            );
            self.invalid(key, message, shape.section);
        }
    }

    /// Names: one of an input or output, or those of a node and of something that it has.
    fn path<'a>(&mut self, node: Node<'a>, shape: &Shape) -> Vec<Node<'a>> {
        let of_node = shape.has("properties");
        let fits = node.kind() == NodeKind::Sequence
            && match node.items().len() {
                1 => !of_node,
                2 => true,
                _ => false,
            };
        if !fits || node.items().any(|item| item.as_str().is_none()) {
            let expected = if of_node { "names of a node and of what it has" } else { "one name" };
            self.invalid(
                node,
                format!("{} has to be a list with {expected}", shape.what),
                shape.section,
            );
            return Vec::new();
        }
        if !of_node && node.items().len() == 2 {
            let message =
                format!("{} to what a node has is deprecated: name an input or output", shape.what);
            self.deprecated(node, message, shape.section);
        }
        node.items().collect()
    }
}
