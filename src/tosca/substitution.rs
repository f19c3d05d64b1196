//! The grammar of substitution mappings (sections 3.8.8 to 3.8.13).

use super::filter::NodeFilter;
use super::grammar::Grammar;
use super::mapping::MappingShare;
use super::shape::{
    ATTRIBUTE_MAPPING, CAPABILITY_MAPPING, PROPERTY_MAPPING, REQUIREMENT_MAPPING, SUBSTITUTION,
    Shape,
};
use super::types::Named;
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics};
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
    /// Names that lead to what it is mapped to: of a requirement several times, of all else once.
    pub targets: Vec<MappingTarget<'a>>,
    /// Of a requirement: for how many mappings it stands.
    pub share: MappingShare,
    /// The value of a property.
    pub value: Option<Node<'a>>,
    /// Of a capability or a requirement: what is assigned to its properties.
    pub properties: Option<Node<'a>>,
    /// Of a capability or a requirement: what is assigned to its attributes.
    pub attributes: Option<Node<'a>>,
}

/// Names that lead to what is mapped to: of an input or output one, of what a node has two. A
/// requirement may also be mapped to a node that is selected.
#[derive(Clone, Debug)]
pub(crate) struct MappingTarget<'a> {
    /// The names.
    pub path: Vec<Node<'a>>,
}

impl<'a> MappingTarget<'a> {
    /// The node and the name of what it has.
    pub(crate) fn pair(&self) -> Option<[Node<'a>; 2]> {
        self.path.as_slice().try_into().ok()
    }
}

impl<'a> SubstitutionMapping<'a> {
    /// The names that lead to what it is mapped to, where it is mapped once.
    pub(crate) fn path(&self) -> &[Node<'a>] {
        self.targets.first().map_or(&[], |target| &target.path)
    }

    /// Whether other tools for this version do not understand it.
    fn is_extended(&self) -> bool {
        self.share != MappingShare::One
            || self.targets.len() > 1
            || self.named.value.items().any(|item| item.as_str().is_none())
            || self.targets.iter().any(|target| target.path.len() == 1)
    }
}

impl<'a> Substitution<'a> {
    /// The first mapping of a requirement that this version of TOSCA has no grammar for.
    pub(crate) fn extension(&self) -> Option<&SubstitutionMapping<'a>> {
        self.requirements.iter().find(|mapping| mapping.is_extended())
    }

    /// The names of the nodes to which something is mapped.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = Node<'a>> {
        let parts = [&self.properties, &self.attributes, &self.capabilities, &self.requirements];
        let mapped = parts.into_iter().flatten().flat_map(|mapping| &mapping.targets);
        let selected = self.requirements.iter().flat_map(|mapping| &mapping.targets);
        let selected = selected.filter(|target| target.path.len() == 1);
        let interfaces = self.interfaces.iter().map(|interface| interface.value);
        let operations = self.interfaces.iter().flat_map(|interface| interface.value.entries());
        mapped
            .filter(|target| target.path.len() == 2)
            .chain(selected)
            .filter_map(|target| target.path.first().copied())
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
        requirements: grammar.requirement_mappings(node),
        interfaces: grammar.entries(node, "interfaces", &SUBSTITUTION),
    }
}

impl Grammar<'_> {
    /// A map of mappings; where they are a list, as requirements are elsewhere, that is read, too.
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

    /// Mappings of requirements: a list of maps with one entry each, for there may be several of
    /// one name, or a map, as earlier versions have it.
    fn requirement_mappings<'a>(&mut self, node: Node<'a>) -> Vec<SubstitutionMapping<'a>> {
        const WHAT: &str = "requirements";
        let Some(collection) = node.get(WHAT) else { return Vec::new() };
        if collection.kind() != NodeKind::Sequence {
            let entries = self.map(collection, WHAT, REQUIREMENT_MAPPING.section);
            return entries.into_iter().filter_map(|named| self.grouped(named)).collect();
        }
        let mut mappings = Vec::new();
        for item in collection.items() {
            let named = self.map(item, WHAT, REQUIREMENT_MAPPING.section);
            if named.len() > 1 {
                let message = "each requirement mapping of a list has to be a map with one entry";
                let error = Diagnostic::error(self.code, message).at(item.span());
                let error = error.section(REQUIREMENT_MAPPING.section);
                self.diagnostics.push(error.help("start each of them with `-`"));
            }
            mappings.extend(named.into_iter().filter_map(|named| self.grouped(named)));
        }
        mappings
    }

    /// A mapping of a requirement, or a group of them: `[service, 2]`.
    fn grouped<'a>(&mut self, mut named: Named<'a>) -> Option<SubstitutionMapping<'a>> {
        let mut share = MappingShare::One;
        if named.key.kind() != NodeKind::Scalar {
            let Some((name, count)) = group(named.key) else {
                let message = "a group of requirement mappings has to be a name and a number, such as `[service, 2]` or `[service, UNBOUNDED]`";
                self.invalid(named.key, message, REQUIREMENT_MAPPING.section);
                return None;
            };
            named.name = name;
            share = count;
        }
        let node = named.value;
        let shape = &REQUIREMENT_MAPPING;
        if node.kind() == NodeKind::Mapping {
            return Some(SubstitutionMapping { share, ..self.mapping(named, shape) });
        }
        let targets = self.targets(node);
        Some(SubstitutionMapping {
            named,
            targets,
            share,
            value: None,
            properties: None,
            attributes: None,
        })
    }

    /// Onto what a requirement is mapped: a requirement of a node, a node that is selected, or
    /// several of these.
    fn targets<'a>(&mut self, node: Node<'a>) -> Vec<MappingTarget<'a>> {
        let is_path = node.items().all(|item| item.as_str().is_some());
        let items: Vec<_> = match node.kind() {
            NodeKind::Sequence if !(is_path && node.items().len() == 2) => node.items().collect(),
            _ => vec![node],
        };
        if items.is_empty() {
            self.no_target(node);
        }
        let mut targets: Vec<MappingTarget<'a>> = Vec::new();
        for item in items {
            let Some(path) = self.target(item) else { continue };
            let same = |target: &&MappingTarget<'a>| {
                target.path.iter().map(|name| name.text()).eq(path.iter().map(|name| name.text()))
            };
            if let Some(earlier) = targets.iter().find(same).and_then(|it| it.path.first()) {
                let error = Diagnostic::error(Code::Duplicate, "this is mapped onto already");
                let error = error.at(item.span()).section(REQUIREMENT_MAPPING.section);
                self.diagnostics.push(error.label(earlier.span(), "it is here"));
                continue;
            }
            targets.push(MappingTarget { path });
        }
        targets
    }

    /// The names of one target.
    fn target<'a>(&mut self, node: Node<'a>) -> Option<Vec<Node<'a>>> {
        let path = match node.kind() {
            NodeKind::Mapping => {
                self.keynames(node, &REQUIREMENT_MAPPING);
                self.exclusive(node, &REQUIREMENT_MAPPING);
                node.get("mapping").unwrap_or(node)
            }
            NodeKind::Scalar if node.as_str().is_some() => return Some(vec![node]),
            _ => node,
        };
        let names: Vec<_> = path.items().filter(|item| item.as_str().is_some()).collect();
        if names.len() != 2 || path.items().len() != 2 {
            self.no_target(path);
            return None;
        }
        Some(names)
    }

    fn no_target(&mut self, node: Node<'_>) {
        let message = format!(
            "{} has to be a list with names of a node and of what it has, or a list of such",
            REQUIREMENT_MAPPING.what
        );
        self.invalid(node, message, REQUIREMENT_MAPPING.section);
    }

    fn mapping<'a>(&mut self, named: Named<'a>, shape: &Shape) -> SubstitutionMapping<'a> {
        let node = named.value;
        let mut mapping = SubstitutionMapping {
            named,
            targets: Vec::new(),
            share: MappingShare::One,
            value: None,
            properties: None,
            attributes: None,
        };
        let has_value = shape.has("value");
        match node.kind() {
            NodeKind::Sequence => mapping.targets = self.path(node, shape),
            NodeKind::Mapping if !has_value || shape.is_in(node) => {
                self.keynames(node, shape);
                mapping.targets =
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
    fn path<'a>(&mut self, node: Node<'a>, shape: &Shape) -> Vec<MappingTarget<'a>> {
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
        vec![MappingTarget { path: node.items().collect() }]
    }
}

/// The name and the number of a group of requirement mappings.
fn group(key: Node<'_>) -> Option<(&str, MappingShare)> {
    let mut items = key.items();
    let (name, count, None) = (items.next()?, items.next()?, items.next()) else { return None };
    let count = match count.as_str() {
        Some("UNBOUNDED") => MappingShare::Rest,
        Some(_) => return None,
        None => MappingShare::Times(count.text()?.parse().ok()?),
    };
    Some((name.as_str()?, count))
}
