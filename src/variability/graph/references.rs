//! Finds the references in values: `get_input`, `get_property`, `get_attribute` and related
//! functions, and Unfurl's `eval`.
//!
//! A property or output consumes the elements that its value refers to; an input is consumed by
//! everything that refers to it.

use super::element::{ElementId, Graph, RelationElement};
use super::lookup::LookupStep;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::tosca::function::{Function, called_by};
use crate::tosca::substitution::{MappingTarget, substitution};
use crate::tosca::v2_0;
use crate::variability::element::ElementKind;
use crate::variability::template::{
    NODE_PARTS, PropertyValue, RELATIONSHIP_PARTS, REQUIREMENT_PARTS,
};
use cuvee_text::source::Span;
use cuvee_text::yaml::{Node, NodeKind, Scalar};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;

/// A place that refers to something else. The place exists while `from` is present.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    /// The element that contains the place; `None` where the place is in every variant.
    pub from: Option<ElementId>,
    /// The elements that the reference may mean: alternatives of one name.
    pub targets: Vec<ElementId>,
    /// The place of the reference.
    pub span: Span,
    /// Whether the reference names an input by its position.
    pub by_position: bool,
}

/// The target of a reference before names are resolved.
enum NamedReference<'a> {
    Input(Node<'a>),
    Element { entity: &'a str, name: Option<&'a str>, at: Node<'a> },
}

/// Finds every reference of every element, and links consumers and producers.
///
/// If the position of a topology input does not exist, that is an error. An unknown name is not,
/// because an orchestrator may know it.
pub(super) fn link(graph: &mut Graph<'_>, diagnostics: &mut Diagnostics) {
    let mut found = Vec::new();
    let inputs = InputReferences::of(graph);
    Finder {
        graph,
        inputs,
        users: OnceCell::new(),
        from: None,
        own_inputs: None,
        found: &mut found,
        diagnostics,
    }
    .all();
    for reference in &found {
        let from = reference.from.map(|from| place(graph, from));
        for &target in &reference.targets {
            let (kind, slot) = place(graph, target);
            match from {
                Some((ElementKind::Property, from)) => {
                    push_new(&mut graph.properties[from].consumed, target);
                }
                Some((ElementKind::Output, from)) => {
                    push_new(&mut graph.outputs[from].producers, target);
                }
                _ => {}
            }
            if kind == ElementKind::Input {
                let input = &mut graph.inputs[slot];
                match reference.from {
                    Some(from) => push_new(&mut input.consumers, from),
                    None => input.is_always_consumed = true,
                }
            }
        }
    }
    graph.references = found;
    graph.mapped_outputs = mapped_outputs(graph);
}

/// The outputs that the attributes of a substitution mapping come from.
fn mapped_outputs(graph: &Graph<'_>) -> Vec<Reference> {
    let topology = graph.template.root.get("topology_template");
    let Some(node) = topology.and_then(|topology| topology.get("substitution_mappings")) else {
        return Vec::new();
    };
    // Validating reports mistakes in the shape of the mappings.
    let mappings = substitution(node, &mut Diagnostics::default());
    let of_whole = mappings.attributes.iter().flat_map(|it| &it.targets);
    let of_whole = of_whole.filter_map(|target| target.path.first().copied());
    let names = of_whole.chain(mappings.part_attributes.iter().map(|it| it.to));
    let reference = |name: Node<'_>| {
        let named = |id: &ElementId| Some(graph.element(*id).name) == name.text();
        let targets = graph.outputs.iter().map(|output| output.id).filter(named).collect();
        Reference { from: None, targets, span: name.span(), by_position: false }
    };
    names.map(reference).collect()
}

/// The kind of an element, and its position among those of its kind.
fn place(graph: &Graph<'_>, id: ElementId) -> (ElementKind, usize) {
    let element = graph.element(id);
    (element.kind, element.slot as usize)
}

/// Adds an id unless it is the last one. References are found element by element, so this avoids
/// all repetitions.
fn push_new(list: &mut Vec<ElementId>, id: ElementId) {
    if list.last() != Some(&id) {
        list.push(id);
    }
}

/// Inputs by name and by position.
struct InputReferences<'a> {
    by_name: FxHashMap<&'a str, Vec<ElementId>>,
}

impl<'a> InputReferences<'a> {
    fn of(graph: &Graph<'a>) -> Self {
        let mut by_name: FxHashMap<&str, Vec<ElementId>> = FxHashMap::default();
        for input in &graph.inputs {
            by_name.entry(input.parameter.declared.name()).or_default().push(input.id);
        }
        Self { by_name }
    }
}

struct Finder<'g, 'a> {
    graph: &'g Graph<'a>,
    inputs: InputReferences<'a>,
    from: Option<ElementId>,
    /// The relations that use relationship templates, by the names of these.
    users: OnceCell<FxHashMap<&'a str, ElementId>>,
    /// The inputs of the workflow that is scanned, which hide those of the topology.
    own_inputs: Option<Node<'a>>,
    found: &'g mut Vec<Reference>,
    diagnostics: &'g mut Diagnostics,
}

impl<'a> Finder<'_, 'a> {
    fn all(&mut self) {
        for property in &self.graph.properties {
            if let PropertyValue::Value(value) = property.property.value {
                self.value(property.id, value);
            }
        }
        for output in &self.graph.outputs {
            self.value(output.id, output.parameter.declared.value());
        }
        for input in &self.graph.inputs {
            self.rest(
                input.id,
                input.parameter.declared.value(),
                &["type", "conditions", "implies"],
            );
        }
        // There are many nodes and relations, so parsing has noted which may contain references.
        for node in self.graph.nodes.iter().filter(|node| node.template.has_rest) {
            self.rest(node.id, node.template.declared.value(), NODE_PARTS);
        }
        for relation in &self.graph.relations {
            if relation.requirement.has_rest {
                self.rest(relation.id, relation.requirement.declared.value(), REQUIREMENT_PARTS);
            }
            if let Some(template) = relation.relationship.filter(|template| template.has_rest) {
                self.rest(relation.id, template.declared.value(), RELATIONSHIP_PARTS);
            }
        }
        for artifact in &self.graph.artifacts {
            self.rest(
                artifact.id,
                artifact.artifact.declared.value(),
                &["type", "properties", "conditions", "implies"],
            );
        }
        for group in &self.graph.groups {
            self.rest(
                group.id,
                group.group.declared.value(),
                &["type", "properties", "members", "conditions", "implies"],
            );
        }
        for policy in &self.graph.policies {
            self.rest(
                policy.id,
                policy.policy.declared.value(),
                &["type", "properties", "targets", "conditions", "implies"],
            );
        }
        for node in &self.graph.nodes {
            if let Some(copied) = self.graph.copied(node) {
                let copy = node.template.declared.value().get("copy");
                self.from = Some(node.id);
                copy.into_iter().for_each(|copy| self.refer(vec![copied.id], copy));
            }
        }
        self.topology();
    }

    /// What is in every variant: substitution mappings and workflows.
    fn topology(&mut self) {
        self.from = None;
        let Some(topology) = self.graph.template.root.get("topology_template") else { return };
        if let Some(node) = topology.get("substitution_mappings") {
            // Validating reports mistakes in the shape of the mappings.
            let mappings = substitution(node, &mut Diagnostics::default());
            mappings.nodes().for_each(|node| self.named(node));
            let one = |target: &MappingTarget<'a>| <[Node<'a>; 1]>::try_from(&*target.path).ok();
            let whole = mappings.properties.iter().flat_map(|it| it.targets.iter().filter_map(one));
            let of_parts = mappings.part_properties.iter().map(|it| it.to);
            for input in whole.flatten().chain(of_parts) {
                self.resolve(NamedReference::Input(input));
            }
            node.get("substitution_filter").into_iter().for_each(|filter| self.scan(filter));
        }
        for (_, workflow) in topology.get("workflows").into_iter().flat_map(Node::entries) {
            self.own_inputs = workflow.get("inputs");
            self.scan(workflow);
            self.targets(workflow);
            let outputs = workflow.get("outputs").into_iter().flat_map(Node::entries);
            for (_, output) in outputs {
                let path = v2_0::output_path(v2_0::output_mapping(output), false);
                path.first().into_iter().for_each(|&node| self.named(node));
            }
        }
        self.own_inputs = None;
    }

    /// Finds references of the form `target: node`, at any depth, and to the relationships of such
    /// nodes.
    fn targets(&mut self, node: Node<'a>) {
        node.items().for_each(|item| self.targets(item));
        for (key, value) in node.entries() {
            if key.text() != Some("target") || value.kind() != NodeKind::Scalar {
                self.targets(value);
                continue;
            }
            self.named(value);
            let of = self.graph.node_named(value.text().unwrap_or_default());
            if let Some((of, requirement)) = of.zip(node.get("target_relationship")) {
                let relations = of.relations.iter().map(|&id| self.graph.relation(id).id);
                let is_meant =
                    |id: &ElementId| Some(self.graph.element(*id).name) == requirement.text();
                self.refer(relations.filter(is_meant).collect(), requirement);
            }
        }
    }

    /// Finds a reference by name. A name that is neither a node's nor a group's means something
    /// else.
    fn named(&mut self, name: Node<'a>) {
        let kinds = [ElementKind::Node, ElementKind::Group];
        let find = |kind| self.graph.find(LookupStep::Root(kind), name).ok();
        self.refer(kinds.into_iter().find_map(find).into_iter().collect(), name);
    }

    fn value(&mut self, from: ElementId, value: Node<'a>) {
        self.from = Some(from);
        self.scan(value);
    }

    /// Scans the parts of an element other than its own elements and its conditions.
    fn rest(&mut self, from: ElementId, body: Node<'a>, without: &[&str]) {
        self.from = Some(from);
        // The short form of a requirement is a list of a node and an index.
        body.items().for_each(|item| self.scan(item));
        for (key, value) in body.entries() {
            if value.kind() != NodeKind::Scalar
                && key.text().is_some_and(|keyword| !without.contains(&keyword))
            {
                self.scan(value);
            }
        }
    }

    fn scan(&mut self, value: Node<'a>) {
        match value.kind() {
            NodeKind::Scalar => self.template_string(value),
            NodeKind::Sequence => value.items().for_each(|item| self.scan(item)),
            NodeKind::Mapping => {
                for (key, operand) in value.entries() {
                    if let Some(named) = taken(key, operand) {
                        self.resolve(named);
                    }
                    self.scan(operand);
                }
            }
        }
    }

    /// Finds references in Unfurl's Jinja form: `{{ '::node::property' | eval }}`.
    fn template_string(&mut self, value: Node<'a>) {
        let text = value.text().unwrap_or_default();
        if !calls_eval(text) {
            return;
        }
        for quoted in text.split('|').filter_map(|part| part.rsplit(['\'', '"']).nth(1)) {
            if let Some(named) = path(quoted, value) {
                self.resolve(named);
            }
        }
    }

    fn resolve(&mut self, named: NamedReference<'a>) {
        let (targets, at) = match named {
            NamedReference::Input(operand) => (self.input(operand), operand),
            NamedReference::Element { entity, name, at } => (self.element(entity, name, at), at),
        };
        self.refer(targets, at);
    }

    fn refer(&mut self, targets: Vec<ElementId>, at: Node<'a>) {
        if !targets.is_empty() {
            let by_position = matches!(at.scalar(), Some(Scalar::Int(_)));
            self.found.push(Reference { from: self.from, targets, span: at.span(), by_position });
        }
    }

    fn input(&mut self, operand: Node<'_>) -> Vec<ElementId> {
        let own = self.own_inputs.zip(operand.text());
        if own.is_some_and(|(own, name)| own.get(name).is_some()) {
            return Vec::new();
        }
        match operand.scalar() {
            Some(Scalar::Int(index)) => {
                let input =
                    usize::try_from(index).ok().and_then(|index| self.graph.inputs.get(index));
                if input.is_none() {
                    let message = format!("there is no topology input at position {index}");
                    let count = self.graph.inputs.len();
                    let help = format!("positions count from 0, and there are {count} inputs");
                    self.diagnostics.push(
                        Diagnostic::error(Code::UnknownElement, message)
                            .at(operand.span())
                            .help(help),
                    );
                }
                input.map(|input| input.id).into_iter().collect()
            }
            _ => self
                .inputs
                .by_name
                .get(operand.text().unwrap_or_default())
                .cloned()
                .unwrap_or_default(),
        }
    }

    /// The properties of that name. If there are none, as for attributes, the entity itself.
    fn element(&self, entity: &str, name: Option<&str>, at: Node<'_>) -> Vec<ElementId> {
        let Some(entity) = self.entity(entity, at) else { return Vec::new() };
        let is_meant = |id: &&ElementId| {
            name == Some(self.graph.element(**id).name) && Some(**id) != self.from
        };
        let properties = self.graph.properties_of(entity).iter();
        let properties: Vec<_> = properties.filter(is_meant).copied().collect();
        if properties.is_empty() { vec![entity] } else { properties }
    }

    /// The node, or the relation: `SELF` is the relationship inside of one, and in TOSCA 2.0
    /// wherever there is one (section 10.3).
    fn entity(&self, entity: &str, at: Node<'_>) -> Option<ElementId> {
        let around = std::iter::successors(self.from, |&id| self.graph.element(id).container);
        let mut around = around.map(|id| (id, self.graph.element(id).kind));
        let mut find = |is: &dyn Fn(ElementKind) -> bool| around.find(|(_, kind)| is(*kind));
        let node = match entity {
            "SELF" => {
                let is_2_0 = v2_0::is_of(at.document());
                let is_meant = |(id, kind): &(ElementId, ElementKind)| match kind {
                    ElementKind::Relation => is_2_0 || Some(*id) != self.from,
                    kind => *kind == ElementKind::Node,
                };
                return around.find(is_meant).map(|(id, _)| id);
            }
            "SOURCE" | "TARGET" => {
                let (relation, _) = find(&|kind| kind == ElementKind::Relation)?;
                let relation = &self.graph.relations[self.graph.element(relation).slot as usize];
                if entity == "SOURCE" { Some(relation.source) } else { relation.target }
            }
            name => {
                let group = || self.graph.group_named(name).map(|group| group.id);
                let node = self.graph.node_named(name).map(|node| node.id);
                return node.or_else(|| self.relation_using(name)).or_else(group);
            }
        };
        Some(self.graph.node(node?).id)
    }

    /// The relation that uses the relationship template of this name.
    fn relation_using(&self, name: &str) -> Option<ElementId> {
        self.graph.relationship_named(name)?;
        let users = self.users.get_or_init(|| {
            let of_template = |relation: &RelationElement<'a>| {
                let template =
                    relation.relationship.filter(|_| relation.requirement.relationship().is_some());
                Some((template?.declared.name(), relation.id))
            };
            self.graph.relations.iter().filter_map(of_template).collect()
        });
        users.get(name).copied()
    }
}

/// The reference of a map entry, if the entry calls a function.
fn taken<'a>(key: Node<'a>, operand: Node<'a>) -> Option<NamedReference<'a>> {
    let name = called_by(key)?;
    if name == "eval" {
        return path(operand.as_str()?, operand);
    }
    // What is left of a property of a capability is taken as the property is.
    let function = match name {
        "available_allocation" if v2_0::is_of(key.document()) => Function::GetProperty,
        name => Function::named(name)?,
    };
    let parts: Vec<_> = operand.items().collect();
    let simple = v2_0::is_of(key.document()).then(|| v2_0::simple_path(&parts)).flatten();
    let parts = simple.unwrap_or(parts);
    let entity = || parts.first()?.as_str();
    match function {
        Function::GetInput if operand.kind() == NodeKind::Scalar => {
            Some(NamedReference::Input(operand))
        }
        Function::GetInput => operand.items().next().map(NamedReference::Input),
        Function::GetProperty | Function::GetAttribute => {
            // If there are three parts, the middle one is a requirement or a capability, and the
            // reference means the node itself.
            let name = if parts.len() > 2 { None } else { parts.get(1)?.text() };
            Some(NamedReference::Element { entity: entity()?, name, at: operand })
        }
        Function::GetOperationOutput | Function::GetArtifact => {
            Some(NamedReference::Element { entity: entity()?, name: None, at: operand })
        }
        Function::Concat | Function::Join | Function::Token | Function::GetNodesOfType => None,
    }
}

/// Whether a text calls Unfurl's `eval` in Jinja.
pub(crate) fn calls_eval(text: &str) -> bool {
    text.contains("{{") && text.contains("eval")
}

/// Parses Unfurl's path `::node::property`; a relative path, which starts with a dot, is ignored.
fn path<'a>(text: &'a str, at: Node<'a>) -> Option<NamedReference<'a>> {
    let mut parts = text.strip_prefix("::").unwrap_or(text).split("::");
    let (entity, name) = (parts.next()?, parts.next()?);
    Some(NamedReference::Element { entity, name: parts.next().is_none().then_some(name), at })
}
