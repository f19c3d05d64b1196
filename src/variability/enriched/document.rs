//! Writes the enriched template: everything as its author wrote it, with the added conditions.

use super::{AddedCondition, ElementEdit, value};
use crate::variability::element::ElementKind;
use crate::variability::graph::{ElementId, Graph, NodeElement, RelationElement, RelationId};
use crate::variability::options::{ExplicitOption, Options};
use crate::variability::template::{Declared, is_read_as_wrapped};
use cuvee_text::decimal::Decimal;
use cuvee_text::value::{Number, Value};
use cuvee_text::yaml::{Node, NodeKind, Out, OutKey};
use rustc_hash::FxHashMap;

type DocumentEntries<'a> = Vec<(OutKey<'a>, Out<'a>)>;

/// The settings of elements that make them get generated conditions.
const GENERATING: [&str; 6] = [
    "default_condition",
    "default_consistency_condition",
    "default_semantic_condition",
    "pruning",
    "consistency_pruning",
    "semantic_pruning",
];

/// Writes a template with the changes of its elements. Its functions return `None` for parts in
/// which nothing changes.
pub(super) struct DocumentWriter<'e, 'a> {
    pub(super) graph: &'e Graph<'a>,
    pub(super) edits: FxHashMap<ElementId, ElementEdit>,
    pub(super) constraints: Vec<AddedCondition>,
    pub(super) rewritten_constraints: Vec<(usize, Value)>,
    pub(super) options: Vec<ExplicitOption>,
    pub(super) by_rules: bool,
}

impl<'e, 'a> DocumentWriter<'e, 'a> {
    /// The document; `None` if nothing changes, as in a plain template.
    pub(super) fn document(&self) -> Option<Out<'a>> {
        let template = self.graph.template;
        if template.is_plain() {
            return None;
        }
        rebuilt(template.root, |keyword, node| match keyword {
            "imports" => self.imports(node),
            "topology_template" => self.topology(node),
            _ => None,
        })
    }

    fn imports(&self, node: Node<'a>) -> Option<Out<'a>> {
        let mut is_changed = false;
        let imports = self.graph.imports.iter();
        let items = imports.map(|import| {
            let (item, body) = (import.import.declared.key(), import.import.declared.value());
            let changed = match body.kind() {
                NodeKind::Mapping => self.body(import.id, Some(body), |_, _| None),
                _ => self.wrapped(import.id, "file", Some(body)),
            };
            is_changed |= changed.is_some();
            let named = item.entries().next().filter(|_| !item.ptr_eq(body));
            let whole = changed.map(|changed| match named {
                Some((name, _)) => Out::Map {
                    entries: vec![(OutKey::Source(name), changed)].into(),
                    like: Some(item),
                },
                None => changed,
            });
            (Some(item), whole.unwrap_or(Out::Source(item)))
        });
        let items = items.collect();
        is_changed.then_some(Out::Seq { items, like: Some(node) })
    }

    fn topology(&self, node: Node<'a>) -> Option<Out<'a>> {
        let graph = self.graph;
        let mut changed = entries(node, |keyword, value| match keyword {
            "variability" => self.variability(value),
            "inputs" => {
                let inputs = graph.inputs.iter().map(|input| input.id);
                self.collection(value, inputs, |id, value| self.body(id, value, |_, _| None))
            }
            "outputs" => {
                let outputs = graph.outputs.iter().map(|output| output.id);
                self.collection(value, outputs, |id, value| self.body(id, value, |_, _| None))
            }
            "node_templates" => {
                let nodes = graph.nodes.iter().map(|node| node.id);
                self.collection(value, nodes, |id, value| self.node(id, value))
            }
            "relationship_templates" => self.relationships(value),
            "groups" => {
                let groups = graph.groups.iter().map(|group| group.id);
                self.collection(value, groups, |id, value| self.described(id, value))
            }
            "policies" => {
                let policies = graph.policies.iter().map(|policy| policy.id);
                self.collection(value, policies, |id, value| self.described(id, value))
            }
            _ => None,
        });
        if node.get("variability").is_none() {
            let definition = self.definition(None);
            let like = Some(node);
            changed.0.insert(
                0,
                (new("variability"), Out::Map { entries: definition.into(), like: None }),
            );
            return Some(Out::Map { entries: changed.0.into(), like });
        }
        map(changed, node)
    }

    fn variability(&self, node: Node<'a>) -> Option<Out<'a>> {
        let entries = self.definition(Some(node));
        let like = Some(node).filter(|node| node.kind() == NodeKind::Mapping);
        Some(Out::Map { entries: entries.into(), like })
    }

    /// The entries of the variability definition, with all options and the added constraints.
    fn definition(&self, node: Option<Node<'a>>) -> DocumentEntries<'a> {
        let written = |keyword: &str| node.and_then(|node| node.get(keyword));
        let mut definition: DocumentEntries<'a> = Vec::new();
        for (key, value) in node.into_iter().flat_map(Node::entries) {
            let changed = match key.text() {
                Some("options") => Some(self.options(value)),
                Some("constraints") => self.constraints(value),
                _ => None,
            };
            definition.push((OutKey::Source(key), changed.unwrap_or(Out::Source(value))));
        }
        if written("options").is_none() {
            let options = Out::Map { entries: self.new_options(&[]).into(), like: None };
            definition.insert(0, (new("options"), options));
        }
        if written("constraints").is_none() && !self.constraints.is_empty() {
            let items = self.constraints.iter().map(|added| (None, condition(added))).collect();
            definition.push((new("constraints"), Out::Seq { items, like: None }));
        }
        definition
    }

    fn constraints(&self, node: Node<'a>) -> Option<Out<'a>> {
        if self.constraints.is_empty() && self.rewritten_constraints.is_empty() {
            return None;
        }
        Some(list(node, &self.rewritten_constraints, &self.constraints))
    }

    /// The options of the author with the values that they have now, and all others.
    fn options(&self, node: Node<'a>) -> Out<'a> {
        let mut listed = Vec::new();
        let mut entries = Vec::new();
        for (key, written) in node.entries() {
            let known = Options::written_name(key.text().unwrap_or_default());
            let explicit =
                known.and_then(|(name, _)| self.options.iter().find(|option| option.name == name));
            listed.extend(explicit.map(|option| option.name));
            let off = known.filter(|(_, off)| *off).map(|_| Value::from(false));
            let now = explicit.map(value).or(off);
            let is_same = now.as_ref().is_none_or(|now| *now == written.to_value());
            let now = now.filter(|_| !is_same).map_or(Out::Source(written), Out::Value);
            entries.push((OutKey::Source(key), now));
        }
        entries.extend(self.new_options(&listed));
        let like = Some(node).filter(|node| node.kind() == NodeKind::Mapping);
        Out::Map { entries: entries.into(), like }
    }

    /// The options that are not listed yet. The first of each kind says what they are about.
    fn new_options(&self, listed: &[&str]) -> DocumentEntries<'a> {
        let mut about = "";
        let missing = self.options.iter().filter(|option| !listed.contains(&option.name));
        let entry = |option: &ExplicitOption| {
            let written = Out::Value(value(option));
            let is_next = std::mem::replace(&mut about, option.about) != option.about;
            let noted = if is_next { noted(option.about, written) } else { written };
            (new(option.name), noted)
        };
        missing.map(entry).collect()
    }

    /// The elements of a map, or of a list of maps with one entry each.
    fn collection(
        &self,
        node: Node<'a>,
        ids: impl Iterator<Item = ElementId>,
        mut write: impl FnMut(ElementId, Option<Node<'a>>) -> Option<Out<'a>>,
    ) -> Option<Out<'a>> {
        let mut own = ids.filter(|&id| !self.graph.is_imported(id));
        if node.kind() == NodeKind::Mapping {
            return rebuilt(node, |_, value| write(own.next()?, Some(value)));
        }
        let mut is_changed = false;
        let items = node.items().map(|item| {
            let written = own.next().and_then(|id| match item.entries().next() {
                Some((key, value)) => {
                    let changed = write(id, Some(value))?;
                    Some((OutKey::Source(key), changed, Some(item)))
                }
                None => {
                    let name = item.text().unwrap_or_default();
                    Some((new(name), write(id, None)?, None))
                }
            });
            is_changed |= written.is_some();
            let whole = written.map(|(key, changed, like)| Out::Map {
                entries: vec![(key, changed)].into(),
                like,
            });
            (Some(item), whole.unwrap_or(Out::Source(item)))
        });
        let items = items.collect();
        is_changed.then_some(Out::Seq { items, like: Some(node) })
    }

    /// The body of an element; `part` writes what other elements it contains.
    fn body(
        &self,
        id: ElementId,
        node: Option<Node<'a>>,
        part: impl FnMut(&str, Node<'a>) -> Option<Out<'a>>,
    ) -> Option<Out<'a>> {
        match node.filter(|node| node.kind() == NodeKind::Mapping) {
            Some(node) => map(self.parts(id, node, part), node),
            None => {
                let entries = vec![self.conditions(self.edits.get(&id)?, None)?];
                Some(Out::Map { entries: entries.into(), like: None })
            }
        }
    }

    /// The entries of an element's body, and whether any of them is changed.
    fn parts(
        &self,
        id: ElementId,
        node: Node<'a>,
        mut part: impl FnMut(&str, Node<'a>) -> Option<Out<'a>>,
    ) -> (DocumentEntries<'a>, bool) {
        let edit = self.edits.get(&id);
        let is_of_rules = self.by_rules && self.graph.element(id).kind == ElementKind::Technology;
        let mut changed = entries(node, |keyword, value| match keyword {
            "conditions" => self.conditions(edit?, Some(value)).map(|(_, written)| written),
            _ if GENERATING.contains(&keyword) && !is_of_rules => {
                (value.as_bool() == Some(true)).then(|| Out::Value(false.into()))
            }
            _ => part(keyword, value),
        });
        let Some(edit) = edit else { return changed };
        if edit.replaces_default {
            changed.0.retain(|(key, _)| !is_key(key, &["default_alternative", "conditions"]));
            changed.1 = true;
        }
        if edit.replaces_default || node.get("conditions").is_none() {
            let behind = changed.0.iter().position(|(key, _)| is_key(key, &["type"]));
            let at = behind.map_or(changed.0.len(), |at| at + 1);
            if let Some(conditions) = self.conditions(edit, None) {
                changed.0.insert(at, conditions);
                changed.1 = true;
            }
        }
        changed
    }

    /// The conditions of an element, given those of its author.
    fn conditions(
        &self,
        edit: &ElementEdit,
        written: Option<Node<'a>>,
    ) -> Option<(OutKey<'a>, Out<'a>)> {
        let conditions = match written {
            _ if edit.added.is_empty() && edit.rewritten.is_empty() => return None,
            Some(written) => list(written, &edit.rewritten, &edit.added),
            None => {
                let items = edit.added.iter().map(|added| (None, condition(added))).collect();
                Out::Seq { items, like: None }
            }
        };
        Some((new("conditions"), conditions))
    }

    fn node(&self, id: ElementId, value: Option<Node<'a>>) -> Option<Out<'a>> {
        let graph = self.graph;
        let node = &graph.nodes[graph.element(id).slot as usize];
        let value = value.filter(|value| value.kind() == NodeKind::Mapping)?;
        let mut changed = self.parts(id, value, |keyword, value| match keyword {
            "type" => self.types(id, value),
            "properties" => self.properties(&node.properties, value),
            "requirements" => self.requirements(&node.relations, value),
            "artifacts" => self.artifacts(&node.artifacts, value),
            "technology" => self.technologies(node, value),
            _ => None,
        });
        if let Some(technologies) = self.technologies_of_rules(node) {
            let name = changed.0.iter().position(|(key, _)| is_key(key, &["technology"]));
            match name {
                Some(at) => changed.0[at].1 = technologies,
                None => changed.0.push((new("technology"), technologies)),
            }
            changed.1 = true;
        }
        map(changed, value)
    }

    fn types(&self, id: ElementId, value: Node<'a>) -> Option<Out<'a>> {
        let types = self.graph.types_of(id).iter().copied();
        if value.kind() == NodeKind::Scalar {
            return self.listed(value, types);
        }
        self.collection(value, types, |id, value| self.body(id, value, |_, _| None))
    }

    fn properties(&self, ids: &[ElementId], value: Node<'a>) -> Option<Out<'a>> {
        self.collection(value, ids.iter().copied(), |id, value| self.property(id, value))
    }

    fn property(&self, id: ElementId, value: Option<Node<'a>>) -> Option<Out<'a>> {
        let wrapped =
            value.filter(|value| value.kind() == NodeKind::Mapping && is_read_as_wrapped(*value));
        if wrapped.is_some() {
            return self.body(id, wrapped, |_, _| None);
        }
        self.wrapped(id, "value", value)
    }

    /// A value of its own with the conditions of its element beside it.
    fn wrapped(
        &self,
        id: ElementId,
        keyword: &'static str,
        value: Option<Node<'a>>,
    ) -> Option<Out<'a>> {
        let conditions = self.conditions(self.edits.get(&id)?, None)?;
        let value = value.map(|value| (new(keyword), Out::Source(value)));
        let entries = value.into_iter().chain([conditions]).collect();
        Some(Out::Map { entries, like: None })
    }

    fn requirements(&self, relations: &[RelationId], value: Node<'a>) -> Option<Out<'a>> {
        let ids = relations.iter().map(|&relation| self.graph.relation(relation).id);
        self.collection(value, ids, |id, value| {
            let relation = &self.graph.relations[self.graph.element(id).slot as usize];
            match value.filter(|value| value.kind() == NodeKind::Mapping) {
                Some(body) => self.body(id, Some(body), |keyword, value| match keyword {
                    "relationship" if value.kind() == NodeKind::Mapping => {
                        self.relationship(relation, value)
                    }
                    _ => None,
                }),
                None => self.wrapped(id, "node", value),
            }
        })
    }

    fn relationship(&self, relation: &RelationElement<'a>, value: Node<'a>) -> Option<Out<'a>> {
        rebuilt(value, |keyword, value| match keyword {
            "type" => self.types(relation.id, value),
            "properties" => self.properties(&relation.properties, value),
            _ => None,
        })
    }

    fn relationships(&self, value: Node<'a>) -> Option<Out<'a>> {
        let named =
            self.graph.relations.iter().filter(|it| it.requirement.relationship().is_some());
        let users: FxHashMap<&str, _> =
            named.filter_map(|it| Some((it.relationship?.declared.name(), it))).collect();
        rebuilt(value, |name, template| self.relationship(users.get(name)?, template))
    }

    fn artifacts(&self, ids: &[ElementId], value: Node<'a>) -> Option<Out<'a>> {
        self.collection(value, ids.iter().copied(), |id, value| {
            let artifact = &self.graph.artifacts[self.graph.element(id).slot as usize];
            match value.filter(|value| value.kind() == NodeKind::Mapping) {
                Some(body) => self.body(id, Some(body), |keyword, value| match keyword {
                    "type" => self.types(id, value),
                    "properties" => self.properties(&artifact.properties, value),
                    _ => None,
                }),
                None => self.wrapped(id, "file", value),
            }
        })
    }

    fn described(&self, id: ElementId, value: Option<Node<'a>>) -> Option<Out<'a>> {
        self.body(id, value, |keyword, value| match keyword {
            "type" => self.types(id, value),
            "properties" => self.properties(self.graph.properties_of(id), value),
            _ => None,
        })
    }

    fn technologies(&self, node: &NodeElement<'a>, value: Node<'a>) -> Option<Out<'a>> {
        let ids = node.technologies.iter().copied();
        let ids = ids.filter(|&id| !self.graph.element(id).by_rule);
        if value.kind() == NodeKind::Scalar {
            return self.listed(value, ids);
        }
        self.collection(value, ids, |id, value| self.body(id, value, |_, _| None))
    }

    /// The only element of a list, given its name, which has room for conditions then.
    fn listed(&self, name: Node<'a>, mut ids: impl Iterator<Item = ElementId>) -> Option<Out<'a>> {
        let only = self.body(ids.next()?, None, |_, _| None)?;
        let entries = vec![(new(name.text().unwrap_or_default()), only)];
        let items = vec![(None, Out::Map { entries: entries.into(), like: None })];
        Some(Out::Seq { items: items.into(), like: None })
    }

    /// The technologies that rules found for a node.
    fn technologies_of_rules(&self, node: &NodeElement<'a>) -> Option<Out<'a>> {
        let graph = self.graph;
        let found = node.technologies.iter().filter(|&&id| graph.element(id).by_rule);
        let item = |&id: &ElementId| {
            let technology = &graph.technologies[graph.element(id).slot as usize];
            let assign = technology.implementations.first().and_then(|it| it.assign.clone());
            let assign = assign.map(|assign| (new("assign"), Out::String(assign.into())));
            let weight = number(technology.weight);
            let mut body: DocumentEntries<'a> = assign.into_iter().collect();
            body.push((new("weight"), Out::Value(weight)));
            body.extend(self.edits.get(&id).and_then(|edit| self.conditions(edit, None)));
            let entries =
                vec![(new(graph.element(id).name), Out::Map { entries: body.into(), like: None })];
            (None, Out::Map { entries: entries.into(), like: None })
        };
        let items: Vec<_> = if self.by_rules { Vec::new() } else { found.map(item).collect() };
        (!items.is_empty()).then_some(Out::Seq { items: items.into(), like: None })
    }
}

/// The declaration of an element that its author wrote, if it is of a kind that can be a default
/// alternative.
pub(super) fn declared<'e, 'a>(graph: &'e Graph<'a>, id: ElementId) -> Option<&'e Declared<'a>> {
    let element = graph.element(id);
    let slot = element.slot as usize;
    Some(match element.kind {
        ElementKind::Input => &graph.inputs[slot].parameter.declared,
        ElementKind::Output => &graph.outputs[slot].parameter.declared,
        ElementKind::Relation => &graph.relations[slot].requirement.declared,
        ElementKind::Property => &graph.properties[slot].property.declared,
        ElementKind::Artifact => &graph.artifacts[slot].artifact.declared,
        ElementKind::Technology if !element.by_rule => {
            let node = graph.node(graph.technologies[slot].node);
            &node.template.technologies.get(element.index as usize)?.declared
        }
        _ => return None,
    })
}

/// An exact decimal as a value.
fn number(decimal: Decimal) -> Value {
    let text = decimal.to_string();
    let is_integer = !text.contains('.');
    let number = Number::float(decimal.into()).with_text(text);
    Value::Number(number.written_as_integer(is_integer))
}

fn new<'a>(keyword: &str) -> OutKey<'a> {
    OutKey::New(keyword.to_owned().into())
}

fn noted<'a>(note: &str, written: Out<'a>) -> Out<'a> {
    Out::Noted(note.to_owned().into(), Box::new(written))
}

fn is_key(key: &OutKey<'_>, keywords: &[&str]) -> bool {
    matches!(key, OutKey::Source(key) if key.text().is_some_and(|text| keywords.contains(&text)))
}

/// An added condition with its comment.
fn condition<'a>(added: &AddedCondition) -> Out<'a> {
    noted(&added.origin, written(&added.condition))
}

/// A condition; its operator begins the line.
fn written<'a>(condition: &Value) -> Out<'a> {
    match condition {
        Value::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| (new(key), Out::Value(value.clone())));
            Out::Map { entries: entries.collect(), like: None }
        }
        other => Out::Value(other.clone()),
    }
}

/// A list of an author with some items in other words, in ascending order, and further items; any
/// other node is the only item.
fn list<'a>(node: Node<'a>, rewritten: &[(usize, Value)], added: &[AddedCondition]) -> Out<'a> {
    let is_list = node.kind() == NodeKind::Sequence;
    let items = node.items().map(|item| (Some(item), item));
    let items = items.chain((!is_list && !node.is_null()).then_some((None, node)));
    let mut rewritten = rewritten.iter().peekable();
    let items = items.enumerate().map(|(position, (owner, item))| {
        let words = rewritten.next_if(|(at, _)| *at == position);
        (owner, words.map_or(Out::Source(item), |(_, value)| written(value)))
    });
    let items = items.chain(added.iter().map(|added| (None, condition(added)))).collect();
    Out::Seq { items, like: Some(node).filter(|node| is_list && !node.is_flow()) }
}

/// The entries of a map with the changes that `write` makes, and whether there are any.
fn entries<'a>(
    node: Node<'a>,
    mut write: impl FnMut(&str, Node<'a>) -> Option<Out<'a>>,
) -> (DocumentEntries<'a>, bool) {
    let mut is_changed = false;
    let entry = |(key, value): (Node<'a>, Node<'a>)| {
        let changed = write(key.text().unwrap_or_default(), value);
        is_changed |= changed.is_some();
        (OutKey::Source(key), changed.unwrap_or(Out::Source(value)))
    };
    let entries = node.entries().map(entry).collect();
    (entries, is_changed)
}

fn map<'a>((entries, is_changed): (DocumentEntries<'a>, bool), like: Node<'a>) -> Option<Out<'a>> {
    is_changed.then_some(Out::Map { entries: entries.into(), like: Some(like) })
}

fn rebuilt<'a>(
    node: Node<'a>,
    write: impl FnMut(&str, Node<'a>) -> Option<Out<'a>>,
) -> Option<Out<'a>> {
    map(entries(node, write), node)
}
