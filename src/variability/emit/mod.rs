//! Builds the resolved document ("Resolve Variability"): the present elements in the order of the
//! template, without any keywords of variability.
//!
//! The same code writes the document of all variants, with conditions: see [`open`].

mod named;
mod open;

pub(crate) use open::{InputEquals, KnownValues, OpenDocument, emit_open};

use self::named::EntriesByName;
use self::open::Opening;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::tosca::function::{Function, asks_for, called_by, function_not_map};
use crate::tosca::meant;
use crate::tosca::v2_0;
use crate::variability::expression::Evaluator;
use crate::variability::function::scope::Functions;
use crate::variability::graph::{
    ArtifactElement, ElementId, Graph, NodeCopies, NodeElement, PropertyElement, RelationElement,
    RelationId, Target,
};
use crate::variability::presence::Presence;
use crate::variability::template::{
    DEFAULT_ARTIFACT_TYPE, Declared, Import, Member, OLDER_VERSIONS, PLAIN_VERSION, PropertyValue,
    is_keyword,
};
use cuvee_sat::formula::Formula;
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{self, Node, NodeKind, Out, OutKey, Scalar};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The technologies of nodes, for a result that names them instead of assigning types.
pub(crate) type TechnologyNames<'t> = FxHashMap<ElementId, &'t str>;

/// The largest number of bytes that the values of all expressions may have together.
const BYTES: usize = 256 << 20;

type OutputEntry<'a> = (OutKey<'a>, Out<'a>);
type OutputItem<'a> = (Option<Node<'a>>, Out<'a>);

/// Builds the resolved document. For a plain template without absent elements, this is the template
/// itself.
///
/// # Errors
/// Everything that is wrong with the value expressions of present properties, and with functions if
/// they are evaluated.
pub(crate) fn emit<'a>(
    evaluator: &mut Evaluator<'_, 'a>,
    presence: &Presence,
    functions: Option<Functions<'_, '_, 'a>>,
    technologies: Option<TechnologyNames<'_>>,
) -> Result<Out<'a>, Diagnostics> {
    let graph = evaluator.graph;
    let verbatim = graph.template.is_only_plain();
    let names_none = technologies.as_ref().is_none_or(FxHashMap::is_empty);
    if verbatim && functions.is_none() && names_none && is_whole(graph, presence) {
        return Ok(Out::Source(graph.template.root));
    }
    let by_position = !verbatim && graph.references.iter().any(|reference| reference.by_position);
    let diagnostics = Diagnostics::default();
    let mut emitter = Emitter {
        graph,
        presence: Some(presence),
        opening: Opening::default(),
        evaluator,
        copies: functions.as_ref().map_or_else(NodeCopies::default, |_| graph.copies()),
        functions,
        technologies,
        site: OutputSite::Elsewhere,
        sharing: Vec::new(),
        workflow_inputs: Vec::new(),
        verbatim,
        by_position,
        bytes: Some(BYTES),
        diagnostics,
    };
    let document = emitter.document();
    let functions = emitter.functions.take().map(|it| it.into_state().diagnostics);
    emitter.diagnostics.0.extend(functions.unwrap_or_default().0);
    if emitter.diagnostics.has_errors() { Err(emitter.diagnostics) } else { Ok(document) }
}

/// The text of a resolved document.
pub(crate) fn text(document: &Out<'_>) -> String {
    match document {
        Out::Source(whole) => whole.document().text().to_owned(),
        made => yaml::write_yaml(made),
    }
}

/// Whether all elements are present as their author wrote them.
fn is_whole(graph: &Graph<'_>, presence: &Presence) -> bool {
    graph.technologies.is_empty() && graph.ids().all(|id| presence.is(id))
}

struct Emitter<'m, 'e, 'f, 'a> {
    /// The technologies to name, if nodes keep their types and name their technologies.
    technologies: Option<TechnologyNames<'m>>,
    graph: &'e Graph<'a>,
    /// The present elements; `None` while the document of all variants is written.
    presence: Option<&'m Presence>,
    /// The conditions of the document of all variants.
    opening: Opening,
    evaluator: &'m mut Evaluator<'e, 'a>,
    /// The evaluator of functions, if functions are replaced by their values.
    functions: Option<Functions<'m, 'f, 'a>>,
    site: OutputSite,
    /// Other elements that take what is written there: nodes that copy it, or relations of one
    /// relationship template.
    sharing: Vec<ElementId>,
    /// The nodes that copy others, if functions are replaced by their values.
    copies: NodeCopies<'e, 'a>,
    /// The inputs of the workflow that is being written, which count before those of the topology.
    workflow_inputs: Vec<&'a str>,
    /// Whether present elements are written without changes, because the template has no
    /// variability.
    verbatim: bool,
    /// Whether the template has a `get_input: <position>`, whose position has to become a name.
    by_position: bool,
    /// How many bytes the values of further expressions may have; `None` once the error about too
    /// many bytes was reported.
    bytes: Option<usize>,
    diagnostics: Diagnostics,
}

/// The part of the document that is being written; it decides what functions in it mean.
#[derive(Clone, Copy)]
enum OutputSite {
    /// A part in which functions are not evaluated: types, and the declarations of inputs.
    Elsewhere,
    /// The topology, outside of all elements.
    Topology,
    /// This element, which `SELF` refers to.
    Element(ElementId),
}

impl OutputSite {
    /// What `SELF` means, if anything; the outer `None` where functions are not evaluated.
    fn element(self) -> Option<Option<ElementId>> {
        match self {
            Self::Elsewhere => None,
            Self::Topology => Some(None),
            Self::Element(id) => Some(Some(id)),
        }
    }
}

/// A relation that may use a relationship template.
struct RelationshipUser<'e, 'a> {
    /// The position of the template.
    position: usize,
    /// The condition under which the relation is written.
    when: Formula,
    relation: &'e RelationElement<'a>,
}

fn key(key: Node<'_>) -> OutKey<'_> {
    OutKey::Source(key)
}

fn string<'a>(text: impl Into<Cow<'a, str>>) -> Out<'a> {
    Out::String(text.into())
}

fn map<'a>(entries: Vec<OutputEntry<'a>>, like: Node<'a>) -> Out<'a> {
    let of_items = below_items(like);
    let commented = |(key, value): OutputEntry<'a>| {
        let OutKey::Source(own) = &key else { return (key, value) };
        match of_items.get(&own.span()) {
            Some(&item) => (key, below(item, value)),
            None => (key, value),
        }
    };
    let entries = match of_items.is_empty() {
        true => entries,
        false => entries.into_iter().map(commented).collect(),
    };
    Out::Map { entries: entries.into(), like: Some(like) }
}

/// The items with comments around them of a list that becomes a map, by the places of their keys.
fn below_items(list: Node<'_>) -> FxHashMap<Span, Node<'_>> {
    let commented = list.items().filter(|item| item.is_commented_around());
    let by_key = commented.filter_map(|item| Some((item.entries().next()?.0.span(), item)));
    by_key.collect()
}

/// A value below the comments of an item.
fn below<'a>(item: Node<'a>, value: Out<'a>) -> Out<'a> {
    match value {
        Out::Cases(cases) => {
            Out::Cases(cases.into_iter().map(|(when, it)| (when, below(item, it))).collect())
        }
        value => Out::Below(vec![item], Box::new(value)),
    }
}

/// The version of the result: that of plain templates. An older version stays, because other tools
/// may read the types of that version, which this one does not.
fn version(written: Node<'_>) -> Out<'_> {
    match written.text() {
        Some(text) if OLDER_VERSIONS.contains(&text) || text == v2_0::VERSION => {
            Out::Source(written)
        }
        _ => string(PLAIN_VERSION),
    }
}

/// A value as it is written in the place of what computes it.
fn written(value: Value, like: Node<'_>) -> Value {
    if v2_0::is_of(like.document()) { meant::literal(value) } else { value }
}

/// A value whose key is no longer written.
fn lifted<'a>(key: Node<'a>, value: Out<'a>) -> Out<'a> {
    Out::Lifted(key, Box::new(value))
}

impl<'e, 'a> Emitter<'_, 'e, '_, 'a> {
    fn document(&mut self) -> Out<'a> {
        let root = self.graph.template.root;
        let entries = self.entries(root, |this, keyword, value| match keyword {
            "tosca_definitions_version" if !this.verbatim => Some(version(value)),
            "imports" => this.imports(value),
            "topology_template" => this.topology(value),
            _ => Some(this.source(value)),
        });
        map(entries, root)
    }

    /// Writes the entries of a map by calling `emit` for each; an entry is left out if `emit`
    /// returns `None`.
    fn entries(
        &mut self,
        node: Node<'a>,
        mut emit: impl FnMut(&mut Self, &'a str, Node<'a>) -> Option<Out<'a>>,
    ) -> Vec<OutputEntry<'a>> {
        let mut emitted = Vec::with_capacity(node.entries().len());
        for (name, value) in node.entries() {
            if let Some(value) = emit(self, name.text().unwrap_or_default(), value) {
                emitted.push((key(name), value));
            }
        }
        emitted
    }

    /// The condition that an element is present.
    fn when(&mut self, id: ElementId) -> Formula {
        match self.presence {
            Some(presence) => Formula::constant(presence.is(id)),
            None => self.evaluator.atom(id),
        }
    }

    /// The condition that an element of the topology is written. Imported elements never are: they
    /// stay in their files.
    fn when_written(&mut self, id: ElementId) -> Formula {
        if self.graph.is_imported(id) { Formula::FALSE } else { self.when(id) }
    }

    /// The condition that one of these elements is present.
    fn when_any(&mut self, ids: &[ElementId]) -> Formula {
        let whens: Vec<_> = ids.iter().map(|&id| self.when(id)).collect();
        self.evaluator.arena.or(whens)
    }

    fn both(&mut self, one: Formula, other: Formula) -> Formula {
        self.evaluator.arena.and([one, other])
    }

    /// Writes a map, under the condition that it has an entry: a map without entries is left out.
    fn some(&mut self, entries: Vec<OutputEntry<'a>>, like: Node<'a>) -> Option<Out<'a>> {
        if entries.is_empty() {
            return self.empty(like);
        }
        let when = self.when_some(entries.iter().map(|(_, value)| value));
        Some(self.under(when, map(entries, like)))
    }

    /// As [`some`](Self::some), for lists.
    fn some_items(&mut self, items: Vec<OutputItem<'a>>, like: Node<'a>) -> Option<Out<'a>> {
        if items.is_empty() {
            return self.empty(like);
        }
        let when = self.when_some(items.iter().map(|(_, item)| item));
        Some(self.under(when, Out::Seq { items: items.into(), like: Some(like) }))
    }

    /// As [`some_items`](Self::some_items), but a list without items is written as an empty list.
    fn items(&mut self, items: Vec<OutputItem<'a>>, like: Node<'a>) -> Option<Out<'a>> {
        if let Some(empty) = self.empty(like) {
            return Some(empty);
        }
        let when = self.when_some(items.iter().map(|(_, item)| item));
        let list = |items: Vec<_>| Out::Seq { items: items.into(), like: Some(like) };
        self.cases(vec![(when, list(items)), (!when, list(Vec::new()))])
    }

    /// A collection that is empty in the source; in a plain template it is written as it is.
    fn empty(&self, like: Node<'a>) -> Option<Out<'a>> {
        let was_empty = like.entries().len() == 0 && like.items().next().is_none();
        (self.verbatim && was_empty).then_some(Out::Source(like))
    }

    /// Writes a part of the document with this site.
    fn within<T>(&mut self, site: OutputSite, write: impl FnOnce(&mut Self) -> T) -> T {
        let around = std::mem::replace(&mut self.site, site);
        let written = write(self);
        self.site = around;
        written
    }

    /// Writes a node without changes, except for functions that are evaluated.
    fn source(&mut self, node: Node<'a>) -> Out<'a> {
        self.evaluated(node).unwrap_or_else(|| self.kept(node))
    }

    /// Writes a node without changes, except for inputs that are named by position.
    fn kept(&self, node: Node<'a>) -> Out<'a> {
        if self.by_position { self.named(node) } else { Out::Source(node) }
    }

    /// A node with the values of the functions in it; `None` if no function in it has a value.
    fn evaluated(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        let functions = self.functions.as_mut()?;
        let site = self.site.element()?;
        // `functions` has already recorded its errors.
        let mut value = match asks_for(node, &self.workflow_inputs) {
            true => None,
            false => functions.evaluate(node, site).ok()?,
        };
        let others = if value.is_some() { &*self.sharing } else { &[] };
        for other in others {
            let same = functions.evaluate(node, Some(*other)).ok()?;
            value = value.filter(|value| same.as_ref() == Some(value));
        }
        if let Some(value) = value {
            let value = Out::Value(written(value, node));
            return Some(match node.entries().next() {
                Some((function, _)) => lifted(function, value),
                None => value,
            });
        }
        let mut is_changed = false;
        let whole = match node.kind() {
            NodeKind::Scalar => return None,
            NodeKind::Sequence => {
                let item = |item| (Some(item), self.evaluated_part(item, &mut is_changed));
                Out::Seq { items: node.items().map(item).collect(), like: Some(node) }
            }
            NodeKind::Mapping => {
                let mut keys = self.functions.as_mut()?.keys(node, site).ok()?.into_iter();
                let entry = |(name, value)| {
                    let called =
                        keys.next().flatten().filter(|_| v2_0::called_as_key(name).is_some());
                    is_changed |= called.is_some();
                    let name = called.map_or_else(
                        || key(name),
                        |text| {
                            let text = v2_0::escaped(&text).unwrap_or_else(|| text.to_string());
                            OutKey::Renamed(name, text.into())
                        },
                    );
                    (name, self.evaluated_part(value, &mut is_changed))
                };
                map(node.entries().map(entry).collect(), node)
            }
        };
        is_changed.then_some(whole)
    }

    fn evaluated_part(&mut self, part: Node<'a>, is_changed: &mut bool) -> Out<'a> {
        let evaluated = self.evaluated(part);
        *is_changed |= evaluated.is_some();
        evaluated.unwrap_or_else(|| self.kept(part))
    }

    fn named(&self, node: Node<'a>) -> Out<'a> {
        match node.kind() {
            NodeKind::Scalar => Out::Source(node),
            NodeKind::Sequence => Out::Seq {
                items: node.items().map(|item| (Some(item), self.named(item))).collect(),
                like: Some(node),
            },
            NodeKind::Mapping => {
                let entry = |(name, value): (Node<'a>, Node<'a>)| {
                    let operand = (called_by(name) == Some(Function::GetInput.name()))
                        .then(|| self.named_input(value))
                        .flatten();
                    (key(name), operand.unwrap_or_else(|| self.named(value)))
                };
                map(node.entries().map(entry).collect(), node)
            }
        }
    }

    /// The operand of `get_input` with the name of the input instead of its position. The position
    /// may be followed by a path into the value.
    fn named_input(&self, operand: Node<'a>) -> Option<Out<'a>> {
        let first = operand.items().next();
        let Some(Scalar::Int(index)) = first.unwrap_or(operand).scalar() else { return None };
        let input = self.graph.inputs.get(usize::try_from(index).ok()?)?;
        let name = string(input.parameter.declared.name());
        if first.is_none() {
            return Some(name);
        }
        let path = operand.items().skip(1).map(|part| (Some(part), Out::Source(part)));
        Some(Out::Seq {
            items: std::iter::once((first, name)).chain(path).collect(),
            like: Some(operand),
        })
    }

    fn topology(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        let graph = self.graph;
        let entries = self.entries(node, |this, keyword, value| match keyword {
            "variability" => None,
            "inputs" => this.parameters(
                graph.inputs.iter().map(|input| (input.id, &input.parameter.declared)),
                value,
            ),
            "outputs" => this.within(OutputSite::Topology, |this| {
                this.parameters(
                    graph.outputs.iter().map(|output| (output.id, &output.parameter.declared)),
                    value,
                )
            }),
            "node_templates" => this.nodes(value),
            "relationship_templates" => this.relationships(value),
            "groups" => this.groups(value),
            "policies" => this.policies(value),
            "workflows" => Some(this.within(OutputSite::Topology, |this| this.workflows(value))),
            _ => Some(this.within(OutputSite::Topology, |this| this.source(value))),
        });
        self.some(entries, node)
    }

    fn workflows(&mut self, like: Node<'a>) -> Out<'a> {
        // Validation reports what is no map.
        if like.kind() != NodeKind::Mapping {
            return self.source(like);
        }
        let entries = self.entries(like, |this, _, workflow| {
            let inputs = workflow.get("inputs").into_iter().flat_map(Node::entries);
            this.workflow_inputs = inputs.filter_map(|(name, _)| name.text()).collect();
            let written = this.source(workflow);
            this.workflow_inputs = Vec::new();
            Some(written)
        });
        map(entries, like)
    }

    fn imports(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        let graph = self.graph;
        let mut items = Vec::with_capacity(graph.imports.len());
        for import in &graph.imports {
            let when = self.when(import.id);
            if when != Formula::FALSE {
                let written = self.import(import.import);
                items.push((Some(import.import.declared.key()), self.under(when, written)));
            }
        }
        self.some_items(items, node)
    }

    /// Writes an import; one that has only `file` left is written in the short form.
    fn import(&self, import: &Import<'a>) -> Out<'a> {
        let (item, body) = (import.declared.key(), import.declared.value());
        if self.verbatim || body.kind() != NodeKind::Mapping {
            return Out::Source(item);
        }
        let left: Vec<_> =
            body.entries().filter(|(name, _)| !name.text().is_some_and(is_keyword)).collect();
        let short = match left[..] {
            [(name, file)] if name.text() == Some("file") && !import.definition.is_profile => {
                lifted(name, Out::Source(file))
            }
            _ => map(
                left.into_iter().map(|(name, value)| (key(name), Out::Source(value))).collect(),
                body,
            ),
        };
        match item.entries().next().filter(|_| !item.ptr_eq(body)) {
            Some((name, _)) => map(vec![(key(name), short)], item),
            None => short,
        }
    }

    fn parameters<'d>(
        &mut self,
        all: impl Iterator<Item = (ElementId, &'d Declared<'a>)>,
        like: Node<'a>,
    ) -> Option<Out<'a>>
    where
        'a: 'd,
    {
        let mut named = EntriesByName::default();
        for (id, declared) in all {
            let when = self.when_written(id);
            if when != Formula::FALSE {
                // A call is a value in the single-line grammar.
                let body = match function_not_map(declared.value()) {
                    Some(_) => self.source(declared.value()),
                    None => self.body(declared.value(), |this, _, value| Some(this.source(value))),
                };
                named.put(declared, when, body);
            }
        }
        let entries = self.named_entries(named);
        self.some(entries, like)
    }

    /// Writes the body of an element without the keywords of variability.
    fn body(
        &mut self,
        value: Node<'a>,
        emit: impl FnMut(&mut Self, &'a str, Node<'a>) -> Option<Out<'a>>,
    ) -> Out<'a> {
        if value.kind() == NodeKind::Mapping {
            map(self.body_entries(value, emit), value)
        } else {
            self.source(value)
        }
    }

    fn body_entries(
        &mut self,
        value: Node<'a>,
        mut emit: impl FnMut(&mut Self, &'a str, Node<'a>) -> Option<Out<'a>>,
    ) -> Vec<OutputEntry<'a>> {
        self.entries(value, |this, keyword, value| match keyword {
            _ if is_keyword(keyword) => None,
            // Metadata is text for people: functions in it are not evaluated.
            "metadata" => Some(this.kept(value)),
            // In filters of TOSCA 2.0, `SELF` is what is judged, and not the element around them.
            "node_filter" if v2_0::is_of(value.document()) => {
                this.within(OutputSite::Topology, |this| emit(this, keyword, value))
            }
            _ => emit(this, keyword, value),
        })
    }

    fn nodes(&mut self, like: Node<'a>) -> Option<Out<'a>> {
        let graph = self.graph;
        let mut entries = Vec::with_capacity(graph.nodes.len());
        for node in &graph.nodes {
            let when = self.when_written(node.id);
            if when == Formula::FALSE {
                continue;
            }
            let named = self.technologies.is_some();
            let assigned = if named { Vec::new() } else { self.assigned_types(node.id) };
            let declared = node.template.declared.value();
            let body = |this: &mut Self, keyword: &str, value| {
                this.sharing = this.takers(node, keyword);
                let written = match keyword {
                    "type" => this.type_of(node.id, value, &assigned),
                    "properties" => this.properties(&node.properties, value),
                    "requirements" => this.requirements(&node.relations, value),
                    "artifacts" => this.artifacts(&node.artifacts, value),
                    _ => Some(this.source(value)),
                };
                this.sharing = Vec::new();
                this.beside_copy(declared, keyword, value, written)
            };
            let mut body =
                self.within(OutputSite::Element(node.id), |this| this.body(declared, body));
            self.name_technology(node.id, &mut body);
            entries.push((key(node.template.declared.key()), self.under(when, body)));
        }
        // A service template of TOSCA 2.0 has to have them (section 6.9.1), also where there are none.
        if v2_0::is_of(like.document()) {
            let when = self.when_some(entries.iter().map(|(_, value)| value));
            let cases = vec![(when, map(entries, like)), (!when, map(Vec::new(), like))];
            return self.cases(cases);
        }
        self.some(entries, like)
    }

    /// What an element has under a keyname. Where the element copies another one, nothing is written
    /// as such: without the keyname, it would have what the other one has.
    fn beside_copy(
        &mut self,
        element: Node<'a>,
        keyname: &str,
        like: Node<'a>,
        written: Option<Out<'a>>,
    ) -> Option<Out<'a>> {
        let nothing = match keyname {
            "properties" | "artifacts" => map(Vec::new(), like),
            "requirements" => Out::Seq { items: [].into(), like: Some(like) },
            _ => return written,
        };
        if element.get("copy").is_none() {
            return written;
        }
        let when = self.when_some(written.iter());
        let written = written.map(|written| (when, written));
        self.cases(written.into_iter().chain([(!when, nothing)]).collect())
    }

    /// The present nodes that copy a keyname of a node.
    fn takers(&self, node: &NodeElement<'a>, keyname: &str) -> Vec<ElementId> {
        let copies = self.copies.get(&node.id).into_iter().flatten();
        let takes = |other: &&&NodeElement<'a>| {
            let is_there = self.presence.is_none_or(|presence| presence.is(other.id));
            is_there && self.graph.holder(other, keyname).id == node.id
        };
        copies.filter(takes).map(|other| other.id).collect()
    }

    /// Writes the technology of a node after its type, if technologies are to be named.
    fn name_technology(&self, id: ElementId, body: &mut Out<'a>) {
        let name = self.technologies.as_ref().and_then(|names| names.get(&id));
        if let (Some(&name), Out::Map { entries, .. }) = (name, body) {
            let is_type = |(key, _): &OutputEntry<'_>| matches!(key, OutKey::Source(key) if key.text() == Some("type"));
            let behind = entries.iter().position(is_type).map_or(0, |at| at + 1);
            let entry = (OutKey::New("technology".into()), string(name.to_owned()));
            let (before, after) = entries.split_at(behind);
            *entries = before.iter().cloned().chain([entry]).chain(after.iter().cloned()).collect();
        }
    }

    /// The types that the technologies of a node assign, each with its condition.
    fn assigned_types(&mut self, id: ElementId) -> Vec<(Formula, &'e str)> {
        let graph = self.graph;
        let node = &graph.nodes[graph.element(id).slot as usize];
        let mut assigned = Vec::new();
        // The condition that none of the technologies so far is present.
        let mut open = Formula::TRUE;
        for &technology in &node.technologies {
            let present = self.when(technology);
            let mut rest = self.both(open, present);
            open = self.both(open, !present);
            let technology = &graph.technologies[graph.element(technology).slot as usize];
            for implementation in &technology.implementations {
                if rest == Formula::FALSE {
                    break;
                }
                let holds: Vec<_> =
                    implementation.requires.iter().map(|any| self.when_any(any)).collect();
                let holds = self.evaluator.arena.and(holds);
                let when = self.both(rest, holds);
                rest = self.both(rest, !holds);
                assigned.extend(implementation.assign.as_deref().map(|assign| (when, assign)));
            }
            if open == Formula::FALSE {
                break;
            }
        }
        assigned.retain(|&(when, _)| when != Formula::FALSE);
        assigned
    }

    fn type_of(
        &mut self,
        id: ElementId,
        value: Node<'a>,
        assigned: &[(Formula, &str)],
    ) -> Option<Out<'a>> {
        if assigned.is_empty() && value.kind() == NodeKind::Scalar {
            return Some(Out::Source(value));
        }
        let new = assigned.iter().map(|&(when, assigned)| (when, string(assigned.to_owned())));
        let mut cases: Vec<_> = new.collect();
        let mut open = self.evaluator.arena.and(assigned.iter().map(|&(when, _)| !when));
        if value.kind() == NodeKind::Scalar {
            cases.push((open, Out::Source(value)));
            return self.cases(cases);
        }
        for &chosen in self.graph.types_of(id) {
            if open == Formula::FALSE {
                break;
            }
            let present = self.when(chosen);
            let when = self.both(open, present);
            open = self.both(open, !present);
            let chosen = self.graph.element(chosen);
            let name = string(chosen.name);
            let written = value.items().nth(chosen.index as usize).unwrap_or(value);
            let key = written.entries().find(|(key, _)| key.text() == Some(chosen.name));
            let name = match key {
                Some((key, _)) => lifted(key, name),
                None => name,
            };
            cases.push((when, name));
        }
        self.cases(cases)
    }

    fn properties(&mut self, ids: &[ElementId], like: Node<'a>) -> Option<Out<'a>> {
        let graph = self.graph;
        let mut named = EntriesByName::default();
        for &id in ids {
            let when = self.when(id);
            if when == Formula::FALSE {
                continue;
            }
            let property = &graph.properties[graph.element(id).slot as usize];
            if let Some(value) = self.property(property) {
                named.put(&property.property.declared, when, value);
            }
        }
        let entries = self.named_entries(named);
        self.some(entries, like)
    }

    fn property(&mut self, property: &PropertyElement<'a>) -> Option<Out<'a>> {
        match property.property.value {
            PropertyValue::Value(value) => {
                let wrapped = property
                    .property
                    .declared
                    .value()
                    .entries()
                    .find(|(_, inner)| inner.ptr_eq(value));
                let value = self.source(value);
                Some(match wrapped {
                    Some((name, _)) => lifted(name, value),
                    None => value,
                })
            }
            PropertyValue::Expression(expression) if self.presence.is_none() => {
                self.open_value(property, expression)
            }
            PropertyValue::Expression(expression) => {
                let read = self.evaluator.graph.syntax.read(expression);
                let value = self.evaluator.value(read, Some(property.id));
                let value = self.diagnostics.ok(value)?;
                self.pay(&value, expression)?;
                Some(Out::Value(written(value, expression)))
            }
        }
    }

    /// Subtracts a value from the allowed bytes. Many properties may share one value, and each of
    /// them writes it.
    fn pay(&mut self, value: &Value, expression: Node<'_>) -> Option<()> {
        let bytes = self.bytes?;
        self.bytes = bytes.checked_sub(value.bytes_up_to(bytes));
        if self.bytes.is_none() {
            let message = format!("the values of all expressions together pass {BYTES} bytes");
            let error = Diagnostic::error(Code::InvalidExpression, message).at(expression.span());
            self.diagnostics.push(error);
        }
        self.bytes.map(drop)
    }

    fn requirements(&mut self, relations: &[RelationId], like: Node<'a>) -> Option<Out<'a>> {
        let graph = self.graph;
        let mut items = Vec::with_capacity(relations.len());
        for (relation, item) in relations.iter().map(|&id| graph.relation(id)).zip(like.items()) {
            let when = self.when(relation.id);
            if when != Formula::FALSE {
                let declared = &relation.requirement.declared;
                let body = map(vec![(key(declared.key()), self.requirement(relation))], item);
                items.push((Some(item), self.under(when, body)));
            }
        }
        self.some_items(items, like)
    }

    /// Writes a requirement; one that has only `node` left is written in the short form.
    fn requirement(&mut self, relation: &RelationElement<'a>) -> Out<'a> {
        let value = relation.requirement.declared.value();
        let left = || value.entries().filter(|(name, _)| !name.text().is_some_and(is_keyword));
        let is_2_0 = v2_0::is_of(value.document());
        // There, `SELF` is the relationship (section 10.3).
        let site = if is_2_0 { OutputSite::Element(relation.id) } else { self.site };
        self.within(site, |this| {
            if let (Some((name, node)), None) = (left().next(), left().nth(1))
                && name.text() == Some("node")
                && !this.verbatim
            {
                return lifted(name, this.source(node));
            }
            this.body(value, |this, keyword, value| match keyword {
                "relationship" if value.kind() == NodeKind::Mapping => {
                    Some(this.relationship(relation, value))
                }
                _ => Some(this.source(value)),
            })
        })
    }

    fn relationship(&mut self, relation: &RelationElement<'a>, value: Node<'a>) -> Out<'a> {
        let body = |this: &mut Self, keyword: &str, like| {
            let written = match keyword {
                "type" => this.type_of(relation.id, like, &[]),
                "properties" => this.properties(&relation.properties, like),
                _ => Some(this.source(like)),
            };
            this.beside_copy(value, keyword, like, written)
        };
        self.within(OutputSite::Element(relation.id), |this| this.body(value, body))
    }

    fn relationships(&mut self, like: Node<'a>) -> Option<Out<'a>> {
        let graph = self.graph;
        let users = self.users_of_relationships();
        let mut entries = Vec::new();
        let own = graph.template.relationships.iter();
        for template in own.filter(|own| !graph.template.is_imported(own.declared.span())) {
            let users =
                graph.relationship_named(template.declared.name()).map_or(&[][..], |position| {
                    let start = users.partition_point(|user| user.position < position);
                    let count = users[start..].partition_point(|user| user.position == position);
                    &users[start..start + count]
                });
            if let Some(value) = self.used_relationship(template.declared.value(), users) {
                entries.push((key(template.declared.key()), value));
            }
        }
        self.some(entries, like)
    }

    /// The relations that may use relationship templates, sorted by the positions of the templates.
    fn users_of_relationships(&mut self) -> Vec<RelationshipUser<'e, 'a>> {
        let graph = self.graph;
        let mut users = Vec::with_capacity(graph.template.relationships.len());
        for relation in &graph.relations {
            let named =
                relation.relationship.filter(|_| relation.requirement.relationship().is_some());
            let Some(template) = named else { continue };
            // A relation is part of its source, so it is written only with it.
            let ends = [relation.id, graph.node(relation.source).id].map(|id| self.when(id));
            let when = self.both(ends[0], ends[1]);
            if when != Formula::FALSE
                && let Some(position) = graph.relationship_named(template.declared.name())
            {
                users.push(RelationshipUser { position, when, relation });
            }
        }
        users.sort_by_key(|user| user.position);
        users
    }

    /// Writes a relationship template as it is for the last present relation that uses it.
    fn used_relationship(
        &mut self,
        value: Node<'a>,
        users: &[RelationshipUser<'_, 'a>],
    ) -> Option<Out<'a>> {
        let mut cases = Vec::new();
        let mut open = Formula::TRUE;
        for user in users.iter().rev() {
            let when = self.both(open, user.when);
            open = self.both(open, !user.when);
            if when != Formula::FALSE {
                let others = users.iter().map(|other| other.relation.id);
                self.sharing = others.filter(|other| *other != user.relation.id).collect();
                cases.push((when, self.relationship(user.relation, value)));
                self.sharing = Vec::new();
            }
            if open == Formula::FALSE {
                break;
            }
        }
        // A plain template may have a relationship template that no relation uses, for others to
        // copy.
        if self.graph.template.is_plain() && open != Formula::FALSE {
            cases.push((open, self.source(value)));
        }
        self.cases(cases)
    }

    fn artifacts(&mut self, ids: &[ElementId], like: Node<'a>) -> Option<Out<'a>> {
        let graph = self.graph;
        let mut named = EntriesByName::default();
        for &id in ids {
            let when = self.when(id);
            if when == Formula::FALSE {
                continue;
            }
            let artifact = &graph.artifacts[graph.element(id).slot as usize];
            let value = artifact.artifact.declared.value();
            // TOSCA 2.0 has no type for those without one.
            let is_kept = self.verbatim || v2_0::is_of(value.document());
            if is_kept && value.kind() != NodeKind::Mapping {
                let value = self.source(value);
                named.put(&artifact.artifact.declared, when, value);
                continue;
            }
            let mut entries = Vec::new();
            if artifact.types.is_empty() && !is_kept {
                let kind =
                    self.default_type(artifact).map(|kind| (OutKey::New("type".into()), kind));
                entries.extend(kind);
            }
            if value.kind() == NodeKind::Mapping {
                entries.extend(self.body_entries(value, |this, keyword, value| match keyword {
                    "type" => this.type_of(id, value, &[]),
                    "properties" => this.properties(&artifact.properties, value),
                    _ => Some(this.source(value)),
                }));
            } else {
                entries.push((OutKey::New("file".into()), self.source(value)));
            }
            let like = if value.kind() == NodeKind::Mapping { value } else { like };
            named.put(&artifact.artifact.declared, when, map(entries, like));
        }
        let entries = self.named_entries(named);
        self.some(entries, like)
    }

    /// The type that is written for an artifact without one, unless the type of its node declares
    /// the artifact's type.
    fn default_type(&mut self, artifact: &ArtifactElement<'a>) -> Option<Out<'a>> {
        if self.presence.is_none() && self.opening.imports_vary {
            return Some(self.later(None, artifact.id, "is of a type that imports decide".into()));
        }
        let (graph, types) = (self.graph, self.evaluator.types());
        let name = graph.element(artifact.id).name;
        let of_node = graph.types_of(graph.node(artifact.node).id).iter().copied();
        let telling = of_node.filter(|&kind| types.types_artifact(graph.element(kind).name, name));
        let told = self.when_any(&telling.collect::<Vec<_>>());
        self.cases(vec![(!told, string(DEFAULT_ARTIFACT_TYPE))])
    }

    /// Writes the body of a group or policy: its type and properties; `emit` writes the rest.
    fn described(
        &mut self,
        id: ElementId,
        value: Node<'a>,
        properties: &[ElementId],
        mut emit: impl FnMut(&mut Self, &'a str, Node<'a>) -> Option<Out<'a>>,
    ) -> Out<'a> {
        self.within(OutputSite::Element(id), |this| {
            this.body(value, |this, keyword, value| match keyword {
                "type" => this.type_of(id, value, &[]),
                "properties" => this.properties(properties, value),
                _ => emit(this, keyword, value),
            })
        })
    }

    fn groups(&mut self, like: Node<'a>) -> Option<Out<'a>> {
        let graph = self.graph;
        let mut entries = Vec::new();
        for group in &graph.groups {
            let when = self.when_written(group.id);
            if when == Formula::FALSE {
                continue;
            }
            let body = self.described(
                group.id,
                group.group.declared.value(),
                &group.properties,
                |this, keyword, value| match keyword {
                    "members" => this.members(&group.members, value),
                    _ => Some(this.source(value)),
                },
            );
            entries.push((key(group.group.declared.key()), self.under(when, body)));
        }
        self.some(entries, like)
    }

    fn members(&mut self, members: &[(&Member<'a>, ElementId)], like: Node<'a>) -> Option<Out<'a>> {
        let mut items = Vec::with_capacity(members.len());
        for &(member, id) in members {
            let when = self.when(id);
            let written = if when == Formula::FALSE { None } else { self.member(member, id) };
            if let Some(written) = written {
                items.push((Some(member.item), self.under(when, written)));
            }
        }
        self.items(items, like)
    }

    /// Writes a member of a group. The position of a relation changes if relations before it are
    /// absent.
    fn member(&mut self, member: &Member<'a>, id: ElementId) -> Option<Out<'a>> {
        let by_position =
            member.relation.filter(|relation| matches!(relation.scalar(), Some(Scalar::Int(_))));
        let Some(relation) = by_position else { return Some(Out::Source(member.item)) };
        let source =
            self.graph.node(self.graph.relations[self.graph.element(id).slot as usize].source);
        let siblings = source.relations.iter().map(|&sibling| self.graph.relation(sibling).id);
        let before: Vec<_> = siblings.take_while(|&sibling| sibling != id).collect();
        if self.presence.is_none() && before.len() > open::COUNTED {
            return Some(self.later(None, id, "has many relations before it".into()));
        }
        let named = |position: usize| Out::Seq {
            items: vec![
                (Some(member.node), Out::Source(member.node)),
                (Some(relation), Out::Value(Value::from(position as i64))),
            ]
            .into(),
            like: Some(member.item),
        };
        let counts = self.counted(&before);
        self.cases(counts.into_iter().map(|(when, count)| (when, named(count))).collect())
    }

    /// The possible numbers of present elements among these, each with its condition.
    fn counted(&mut self, ids: &[ElementId]) -> Vec<(Formula, usize)> {
        let mut counts = vec![(Formula::TRUE, 0)];
        for &id in ids {
            let present = self.when(id);
            let mut next: Vec<(Formula, usize)> = Vec::with_capacity(counts.len() + 1);
            for (when, count) in counts {
                let without = self.both(when, !present);
                match next.last_mut() {
                    Some((other, same)) if *same == count => {
                        *other = self.evaluator.arena.or([*other, without]);
                    }
                    _ => next.push((without, count)),
                }
                next.push((self.both(when, present), count + 1));
            }
            next.retain(|&(when, _)| when != Formula::FALSE);
            counts = next;
        }
        counts
    }

    fn policies(&mut self, like: Node<'a>) -> Option<Out<'a>> {
        let graph = self.graph;
        let mut items = Vec::new();
        for policy in &graph.policies {
            let when = self.when_written(policy.id);
            if when == Formula::FALSE {
                continue;
            }
            let body = self.described(
                policy.id,
                policy.policy.declared.value(),
                &policy.properties,
                |this, keyword, value| match keyword {
                    "targets" => this.targets(&policy.targets, value),
                    _ => Some(this.source(value)),
                },
            );
            let item = like.items().nth(graph.element(policy.id).index as usize);
            let body = map(vec![(key(policy.policy.declared.key()), body)], item.unwrap_or(like));
            items.push((item, self.under(when, body)));
        }
        self.some_items(items, like)
    }

    fn targets(&mut self, targets: &[(Node<'a>, Target)], like: Node<'a>) -> Option<Out<'a>> {
        let graph = self.graph;
        let mut items = Vec::with_capacity(targets.len());
        for &(name, target) in targets {
            let when = self.when(match target {
                Target::Node(node) => graph.node(node).id,
                Target::Group(group) => graph.groups[group.0 as usize].id,
            });
            if when != Formula::FALSE {
                items.push((Some(name), self.under(when, Out::Source(name))));
            }
        }
        self.items(items, like)
    }
}
