//! Reads substitution mappings (sections 3.8.8 to 3.8.13).

use super::filter::NodeFilter;
use super::grammar::Grammar;
use super::mapping::MappingShare;
use super::shape::{
    ATTRIBUTE_MAPPING, CAPABILITY_MAPPING, PROPERTY_MAPPING, REQUIREMENT_MAPPING, SUBSTITUTION,
    Shape,
};
use super::types::Named;
use super::v2_0;
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics};
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, NodeKind, Scalar};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// A substitution mapping: the topology template implements a node type.
pub(crate) struct Substitution<'a> {
    /// The map below `substitution_mappings`.
    pub node: Node<'a>,
    /// The name of the node type.
    pub node_type: Option<Node<'a>>,
    /// Maps properties of the node type to inputs.
    pub properties: Vec<SubstitutionMapping<'a>>,
    /// Maps attributes of the node type to outputs.
    pub attributes: Vec<SubstitutionMapping<'a>>,
    /// In TOSCA 2.0, maps properties of capabilities and relationships to inputs.
    pub part_properties: Vec<PartMapping<'a>>,
    /// In TOSCA 2.0, maps attributes of capabilities and relationships to outputs.
    pub part_attributes: Vec<PartMapping<'a>>,
    /// Maps capabilities of the node type to capabilities of nodes.
    pub capabilities: Vec<SubstitutionMapping<'a>>,
    /// Maps requirements of the node type to requirements of nodes.
    pub requirements: Vec<SubstitutionMapping<'a>>,
    /// Maps operations of the node type's interfaces to workflows, or to operations of nodes.
    pub interfaces: Vec<Named<'a>>,
}

/// One mapping: its name in the node type, and its targets.
pub(crate) struct SubstitutionMapping<'a> {
    /// The name in the node type, with the mapping below it.
    pub named: Named<'a>,
    /// The targets of the mapping. Only a requirement may have several.
    pub targets: Vec<MappingTarget<'a>>,
    /// How many entries the mapping of a requirement stands for.
    pub share: MappingShare,
    /// The constant value of a property.
    pub value: Option<Node<'a>>,
    /// The property assignments of a capability or a requirement.
    pub properties: Option<Node<'a>>,
    /// The attribute assignments of a capability or a requirement.
    pub attributes: Option<Node<'a>>,
}

/// The mapping of a property or an attribute of a part of the node to an input or an output of the
/// template (sections 15.2 and 15.3 of TOSCA 2.0).
#[derive(Clone, Copy)]
pub(crate) struct PartMapping<'a> {
    /// The path of the property or attribute.
    pub key: Node<'a>,
    pub part: MappedPart,
    /// The name of the capability or of the requirement.
    pub part_name: Node<'a>,
    /// The name of the property or attribute.
    pub name: Node<'a>,
    /// The name of the input or output.
    pub to: Node<'a>,
}

/// The kind of a part of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MappedPart {
    Capability,
    /// The relationship with this index among those of a requirement.
    Relationship(u64),
    /// All relationships of a requirement.
    Relationships,
}

impl PartMapping<'_> {
    /// The names of the part and of its property or attribute.
    pub(crate) fn names(&self) -> [&str; 2] {
        [self.part_name, self.name].map(|name| name.text().unwrap_or_default())
    }
}

/// The target of a mapping. For an input or output it has one name, for a part of a node two. A
/// requirement may also be mapped to a selected node, which is one name.
#[derive(Clone, Debug)]
pub(crate) struct MappingTarget<'a> {
    /// The names that lead to the target.
    pub path: Vec<Node<'a>>,
}

impl<'a> MappingTarget<'a> {
    /// The names of a node and of one of its parts.
    pub(crate) fn pair(&self) -> Option<[Node<'a>; 2]> {
        self.path.as_slice().try_into().ok()
    }
}

impl<'a> SubstitutionMapping<'a> {
    /// The names that lead to the target, where the mapping has just one target.
    pub(crate) fn path(&self) -> &[Node<'a>] {
        self.targets.first().map_or(&[], |target| &target.path)
    }

    /// Whether other tools for this version of TOSCA do not support the mapping.
    fn is_extended(&self) -> bool {
        self.share != MappingShare::One
            || self.targets.len() > 1
            || self.named.value.items().any(|item| item.as_str().is_none())
            || self.targets.iter().any(|target| target.path.len() == 1)
    }
}

impl<'a> Substitution<'a> {
    /// The first mapping of a requirement that uses grammar beyond this version of TOSCA.
    pub(crate) fn extension(&self) -> Option<&SubstitutionMapping<'a>> {
        self.requirements.iter().find(|mapping| mapping.is_extended())
    }

    /// The names of all nodes that mappings lead to.
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

/// The name of the node in a list of names that an interface or operation is mapped to.
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
        // The filter is only read here. Whoever substitutes nodes applies it to them.
        NodeFilter::read(filter, grammar.diagnostics);
    }
    Substitution {
        node,
        node_type: grammar.string(node, "node_type", &SUBSTITUTION),
        properties: grammar.mappings(node, "properties", &PROPERTY_MAPPING),
        attributes: grammar.mappings(node, "attributes", &ATTRIBUTE_MAPPING),
        part_properties: grammar.part_mappings(node, "properties", &PROPERTY_MAPPING),
        part_attributes: grammar.part_mappings(node, "attributes", &ATTRIBUTE_MAPPING),
        capabilities: grammar.mappings(node, "capabilities", &CAPABILITY_MAPPING),
        requirements: grammar.requirement_mappings(node),
        interfaces: grammar.entries(node, "interfaces", &SUBSTITUTION),
    }
}

impl Grammar<'_> {
    /// Reads a map of mappings. A list of maps, as requirements use it elsewhere, is accepted before
    /// TOSCA 2.0.
    fn mappings<'a>(
        &mut self,
        node: Node<'a>,
        keyname: &str,
        shape: &Shape,
    ) -> Vec<SubstitutionMapping<'a>> {
        let Some(collection) = node.get(keyname) else { return Vec::new() };
        let is_list = collection.kind() == NodeKind::Sequence;
        if is_list && v2_0::is_of(collection.document()) {
            let message =
                format!("`{keyname}` of a substitution mapping has to be a map, not a list");
            self.invalid(collection, message, shape.section);
        }
        let named = match collection.kind() {
            NodeKind::Sequence => {
                collection.items().flat_map(|item| self.map(item, keyname, shape.section)).collect()
            }
            _ => self.map(collection, keyname, shape.section),
        };
        // In TOSCA 2.0, a path leads to a capability or a relationship.
        let is_own = |named: &Named<'a>| {
            named.key.kind() == NodeKind::Scalar || !v2_0::is_of(named.key.document())
        };
        let own = named.into_iter().filter(is_own);
        own.map(|named| self.mapping(named, shape)).collect()
    }

    /// Reads the mappings below a keyname whose keys are paths.
    fn part_mappings<'a>(
        &mut self,
        node: Node<'a>,
        keyname: &str,
        shape: &Shape,
    ) -> Vec<PartMapping<'a>> {
        let all = node.get(keyname).filter(|all| v2_0::is_of(all.document()));
        let all = all.into_iter().flat_map(Node::entries);
        let paths = all.filter(|(key, _)| key.kind() == NodeKind::Sequence);
        let mut mappings: Vec<PartMapping<'a>> = Vec::new();
        for (key, to) in paths {
            let Some((part, part_name, name)) = mapped_part(key) else {
                let message = format!(
                    "the key of {} has to be a name, `[CAPABILITY, NAME, PROPERTY]` or `[RELATIONSHIP, REQUIREMENT, INDEX, PROPERTY]`",
                    shape.what
                );
                self.invalid(key, message, shape.section);
                continue;
            };
            if to.as_str().is_none() {
                let message = format!("{} has to be one name, not {}", shape.what, to.describe());
                self.invalid(to, message, shape.section);
                continue;
            }
            let mapping = PartMapping { key, part, part_name, name, to };
            let same = |it: &&PartMapping<'a>| it.part == part && it.names() == mapping.names();
            if let Some(earlier) = mappings.iter().find(same) {
                let error = Diagnostic::error(Code::Duplicate, "this is mapped already");
                let error = error.at(key.span()).section(shape.section);
                self.diagnostics.push(error.label(earlier.key.span(), "it is here"));
                continue;
            }
            mappings.push(mapping);
        }
        mappings
    }

    /// Reads mappings of requirements. They are a list of maps with one entry each, because several
    /// may have the same name, or a map, as in earlier versions.
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

    /// Reads a mapping of a requirement, or of a group such as `[service, 2]`.
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

    /// Reads the targets of a requirement mapping: a requirement of a node, a selected node, or
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
                let error = Diagnostic::error(
                    Code::Duplicate,
                    "another mapping leads to this target already",
                );
                let error = error.at(item.span()).section(REQUIREMENT_MAPPING.section);
                self.diagnostics.push(error.label(earlier.span(), "it is here"));
                continue;
            }
            targets.push(MappingTarget { path });
        }
        targets
    }

    /// Reads the names of one target.
    fn target<'a>(&mut self, node: Node<'a>) -> Option<Vec<Node<'a>>> {
        let path = match node.kind() {
            NodeKind::Mapping => {
                match v2_0::is_of(node.document()) {
                    true => self.no_map(node, &REQUIREMENT_MAPPING),
                    false => self.keynames(node, &REQUIREMENT_MAPPING),
                }
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
            "{} has to be a list with names of a node and of one of its parts, or a list of such lists",
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
        let is_map = node.kind() == NodeKind::Mapping && v2_0::is_of(node.document());
        if is_map {
            self.no_map(node, shape);
        }
        match node.kind() {
            // In TOSCA 2.0, the name of an input or output stands alone (section 15.2).
            NodeKind::Scalar | NodeKind::Sequence
                if v2_0::is_of(node.document()) && !shape.has("properties") =>
            {
                match node.as_str() {
                    Some(_) => mapping.targets = vec![MappingTarget { path: vec![node] }],
                    None => self.invalid(
                        node,
                        format!("{} has to be one name, not {}", shape.what, node.describe()),
                        shape.section,
                    ),
                }
            }
            NodeKind::Sequence => mapping.targets = self.path(node, shape),
            NodeKind::Mapping if !has_value || shape.is_in(node) => {
                if !is_map {
                    self.keynames(node, shape);
                }
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
        if let Some(value) = mapping.value.filter(|_| !is_map) {
            let message = "a value in a property mapping is deprecated: map the property, or use a `substitution_filter`";
            self.deprecated(value, message, "3.8.8.3");
        }
        mapping
    }

    /// Reports a map in place of a mapping of TOSCA 2.0 (sections 15.2 to 15.5), which is then read as
    /// one of version 1.3.
    fn no_map(&mut self, node: Node<'_>, shape: &Shape) {
        let expected = match shape.has("properties") {
            true => "a list of names",
            false => "one name",
        };
        let message = format!("{} of TOSCA 2.0 has to be {expected}, not a map", shape.what);
        self.invalid(node, message, shape.section);
    }

    /// Reports a mapping that has `mapping` together with a keyname that it excludes.
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

    /// Reads the names of a target: one name of an input or output, or the names of a node and of
    /// one of its parts.
    fn path<'a>(&mut self, node: Node<'a>, shape: &Shape) -> Vec<MappingTarget<'a>> {
        let of_node = shape.has("properties");
        let fits = node.kind() == NodeKind::Sequence
            && match node.items().len() {
                1 => !of_node,
                2 => true,
                _ => false,
            };
        if !fits || node.items().any(|item| item.as_str().is_none()) {
            let expected =
                if of_node { "names of a node and of one of its parts" } else { "one name" };
            self.invalid(
                node,
                format!("{} has to be a list with {expected}", shape.what),
                shape.section,
            );
            return Vec::new();
        }
        if !of_node && node.items().len() == 2 {
            let message = format!(
                "{} to a part of a node is deprecated: name an input or output",
                shape.what
            );
            self.deprecated(node, message, shape.section);
        }
        vec![MappingTarget { path: node.items().collect() }]
    }
}

/// The part that a path leads to, with its name and that of its property or attribute. Without an
/// index, the first relationship is meant.
fn mapped_part(path: Node<'_>) -> Option<(MappedPart, Node<'_>, Node<'_>)> {
    let steps: Vec<_> = path.items().collect();
    let (word, steps) = steps.split_first()?;
    let (part, name, property) = match (word.as_str()?, steps) {
        ("CAPABILITY", [name, property]) => (MappedPart::Capability, name, property),
        ("RELATIONSHIP", [name, property]) => (MappedPart::Relationship(0), name, property),
        ("RELATIONSHIP", [name, all, property]) if all.as_str() == Some("ALL") => {
            (MappedPart::Relationships, name, property)
        }
        ("RELATIONSHIP", [name, index, property]) => {
            let Some(Scalar::Int(index)) = index.scalar() else { return None };
            (MappedPart::Relationship(u64::try_from(index).ok()?), name, property)
        }
        _ => return None,
    };
    let are_names = name.as_str().is_some() && property.as_str().is_some();
    are_names.then_some((part, *name, *property))
}

/// The name and the number in a group of requirement mappings.
pub(crate) fn group(key: Node<'_>) -> Option<(&str, MappingShare)> {
    let mut items = key.items();
    let (name, count, None) = (items.next()?, items.next()?, items.next()) else { return None };
    let count = match count.as_str() {
        Some("UNBOUNDED") => MappingShare::Rest,
        Some(_) => return None,
        None => MappingShare::Times(count.text()?.parse().ok()?),
    };
    Some((name.as_str()?, count))
}

/// Adds all names in the value of a mapping, among them those of the nodes that it leads to.
pub(crate) fn names_in(value: &Value, found: &mut FxHashSet<Arc<str>>) {
    match value {
        Value::String(name) => drop(found.insert(Arc::clone(name))),
        Value::List(items) => items.iter().for_each(|item| names_in(item, found)),
        Value::Map(entries) => entries.iter().for_each(|(_, value)| names_in(value, found)),
        _ => {}
    }
}
