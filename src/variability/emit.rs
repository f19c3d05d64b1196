//! Builds the resolved document ("Resolve Variability"): what is present, in the order written,
//! without anything of variability.

use crate::text::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::text::value::Value;
use crate::text::yaml::{self, Node, NodeKind, Out, OutKey, Scalar};
use crate::tosca::function::Function;
use crate::variability::expression::Evaluator;
use crate::variability::function::evaluate::Functions;
use crate::variability::graph::{
    ArtifactElement, ElementId, Graph, PropertyElement, RelationElement, RelationId, Target,
};
use crate::variability::presence::Presence;
use crate::variability::template::{
    DEFAULT_ARTIFACT_TYPE, Declared, Import, Member, OLDER_VERSIONS, PLAIN_VERSION, PropertyValue,
    is_keyword,
};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The technologies of nodes, where those are to be named instead of making types of them.
pub(crate) type TechnologyNames<'t> = FxHashMap<ElementId, &'t str>;

/// So many bytes the values of all expressions have together.
const BYTES: usize = 256 << 20;

type OutputEntry<'a> = (OutKey<'a>, Out<'a>);

/// Builds the resolved document; of a plain template of which all is present that is the template.
///
/// # Errors
/// Whatever is wrong with the value expressions of present properties, and with the functions where
/// they are evaluated.
pub(crate) fn emit<'a>(
    evaluator: &mut Evaluator<'_, 'a>,
    presence: &Presence,
    functions: Option<Functions<'_, 'a>>,
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
        presence,
        evaluator,
        functions,
        technologies,
        site: OutputSite::Elsewhere,
        verbatim,
        by_position,
        bytes: Some(BYTES),
        diagnostics,
    };
    let document = emitter.document();
    let functions = emitter.functions.take().map(Functions::into_diagnostics).unwrap_or_default();
    emitter.diagnostics.0.extend(functions.0);
    if emitter.diagnostics.has_errors() { Err(emitter.diagnostics) } else { Ok(document) }
}

/// The text of a resolved document.
pub(crate) fn text(document: &Out<'_>) -> String {
    match document {
        Out::Source(whole) => whole.document().text().to_owned(),
        made => yaml::write_yaml(made),
    }
}

/// Whether all elements are present, as their author wrote them.
fn is_whole(graph: &Graph<'_>, presence: &Presence) -> bool {
    graph.technologies.is_empty() && graph.ids().all(|id| presence.is(id))
}

struct Emitter<'m, 'e, 'f, 'a> {
    /// Where nodes keep their types and say their technologies.
    technologies: Option<TechnologyNames<'m>>,
    graph: &'e Graph<'a>,
    presence: &'m Presence,
    evaluator: &'m mut Evaluator<'e, 'a>,
    /// Where functions are replaced by their values.
    functions: Option<Functions<'f, 'a>>,
    site: OutputSite,
    /// Whether what is present stays as it is, for nothing in the template is of variability.
    verbatim: bool,
    /// Whether anything says `get_input: <position>`, which has to become a name.
    by_position: bool,
    /// How many bytes values of expressions may still have; nothing where it was said that they
    /// have too many.
    bytes: Option<usize>,
    diagnostics: Diagnostics,
}

/// Where something is written, for the functions in it.
#[derive(Clone, Copy)]
enum OutputSite {
    /// Where functions stay what they are: in types, and where inputs are declared.
    Elsewhere,
    /// In the topology, outside of all elements.
    Topology,
    /// In this element, which is what `SELF` stands for.
    Element(ElementId),
}

fn key(key: Node<'_>) -> OutKey<'_> {
    OutKey::Source(key)
}

fn string<'a>(text: impl Into<Cow<'a, str>>) -> Out<'a> {
    Out::String(text.into())
}

fn map<'a>(entries: Vec<OutputEntry<'a>>, like: Node<'a>) -> Out<'a> {
    Out::Map { entries, like: Some(like) }
}

/// The version of what is resolved: that of plain templates, or an older one of theirs, of which
/// other tools may read what this one does not.
fn version(written: Node<'_>) -> Out<'_> {
    match written.text() {
        Some(text) if OLDER_VERSIONS.contains(&text) => Out::Source(written),
        _ => string(PLAIN_VERSION),
    }
}

/// Whether an element of the topology is in the result: what is imported stays where it is.
fn is_written(graph: &Graph<'_>, presence: &Presence, id: ElementId) -> bool {
    presence.is(id) && !graph.is_imported(id)
}

/// What stood under a key that is not written any more.
fn lifted<'a>(key: Node<'a>, value: Out<'a>) -> Out<'a> {
    Out::Lifted(key, Box::new(value))
}

impl<'a> Emitter<'_, '_, '_, 'a> {
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

    /// The entries of a map, each as `emit` makes it; nothing leaves it out.
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

    /// A collection of which nothing is left vanishes.
    fn some(&self, entries: Vec<OutputEntry<'a>>, like: Node<'a>) -> Option<Out<'a>> {
        if entries.is_empty() { self.empty(like) } else { Some(map(entries, like)) }
    }

    /// As [`some`](Self::some), for lists.
    fn some_items(
        &self,
        items: Vec<(Option<Node<'a>>, Out<'a>)>,
        like: Node<'a>,
    ) -> Option<Out<'a>> {
        if items.is_empty() { self.empty(like) } else { Some(Out::Seq { items, like: Some(like) }) }
    }

    /// What is empty as it is written has lost nothing.
    fn empty(&self, like: Node<'a>) -> Option<Out<'a>> {
        let was_empty = like.entries().len() == 0 && like.items().next().is_none();
        (self.verbatim && was_empty).then_some(Out::Source(like))
    }

    /// Writes what stands at a site.
    fn within<T>(&mut self, site: OutputSite, write: impl FnOnce(&mut Self) -> T) -> T {
        let around = std::mem::replace(&mut self.site, site);
        let written = write(self);
        self.site = around;
        written
    }

    /// What stays as it is, but for functions that are evaluated.
    fn source(&mut self, node: Node<'a>) -> Out<'a> {
        self.evaluated(node).unwrap_or_else(|| self.kept(node))
    }

    /// What stays as it is, but for inputs named by position.
    fn kept(&self, node: Node<'a>) -> Out<'a> {
        if self.by_position { self.named(node) } else { Out::Source(node) }
    }

    /// With the values of the functions in it; nothing where none has a value.
    fn evaluated(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        let functions = self.functions.as_mut()?;
        let site = match self.site {
            OutputSite::Elsewhere => return None,
            OutputSite::Topology => None,
            OutputSite::Element(id) => Some(id),
        };
        // What is wrong is reported by now.
        let value = functions.evaluate(node, site).ok()?;
        if let Some((value, (function, _))) = value.zip(node.entries().next()) {
            return Some(lifted(function, Out::Value(value)));
        }
        let mut is_changed = false;
        let mut part = |part: Node<'a>| {
            let evaluated = self.evaluated(part);
            is_changed |= evaluated.is_some();
            evaluated.unwrap_or_else(|| self.kept(part))
        };
        let whole = match node.kind() {
            NodeKind::Scalar => return None,
            NodeKind::Sequence => Out::Seq {
                items: node.items().map(|item| (Some(item), part(item))).collect(),
                like: Some(node),
            },
            NodeKind::Mapping => {
                map(node.entries().map(|(name, value)| (key(name), part(value))).collect(), node)
            }
        };
        is_changed.then_some(whole)
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
                    let operand = (name.text() == Some(Function::GetInput.name()))
                        .then(|| self.named_input(value))
                        .flatten();
                    (key(name), operand.unwrap_or_else(|| self.named(value)))
                };
                map(node.entries().map(entry).collect(), node)
            }
        }
    }

    /// The operand of `get_input` with the name of the input instead of its position: alone, or
    /// before a path into its value.
    fn named_input(&self, operand: Node<'a>) -> Option<Out<'a>> {
        let first = operand.items().next();
        let Some(Scalar::Int(index)) = first.unwrap_or(operand).scalar() else { return None };
        let input = self.graph.inputs.get(usize::try_from(index).ok()?)?;
        let name = string(input.parameter.declared.name);
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
            _ => Some(this.within(OutputSite::Topology, |this| this.source(value))),
        });
        self.some(entries, node)
    }

    fn imports(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        let present = self.graph.imports.iter().filter(|import| self.presence.is(import.id));
        let items: Vec<_> = present
            .map(|import| (Some(import.import.declared.key), self.import(import.import)))
            .collect();
        self.some_items(items, node)
    }

    /// What is left with only `file` is written short.
    fn import(&self, import: &Import<'a>) -> Out<'a> {
        let (item, body) = (import.declared.key, import.declared.value);
        if self.verbatim || body.kind() != NodeKind::Mapping {
            return Out::Source(item);
        }
        let left: Vec<_> =
            body.entries().filter(|(name, _)| !name.text().is_some_and(is_keyword)).collect();
        let short = match left[..] {
            [(name, file)] if name.text() == Some("file") => lifted(name, Out::Source(file)),
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
            if is_written(self.graph, self.presence, id) {
                let body = self.body(declared.value, |this, _, value| Some(this.source(value)));
                named.put(declared, body);
            }
        }
        self.some(named.entries, like)
    }

    /// The body of an element without keywords of variability.
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
            // What is for people has no functions.
            "metadata" => Some(this.kept(value)),
            _ => emit(this, keyword, value),
        })
    }

    fn nodes(&mut self, like: Node<'a>) -> Option<Out<'a>> {
        let (graph, presence) = (self.graph, self.presence);
        let mut entries = Vec::with_capacity(graph.nodes.len());
        for node in graph.nodes.iter().filter(|node| is_written(graph, presence, node.id)) {
            let named = self.technologies.is_some();
            let assigned = if named { None } else { self.assigned_type(node.id) };
            let body = |this: &mut Self, keyword: &str, value| match keyword {
                "type" => this.type_of(node.id, value, assigned.clone()),
                "properties" => this.properties(&node.properties, value),
                "requirements" => this.requirements(&node.relations, value),
                "artifacts" => this.artifacts(&node.artifacts, value),
                _ => Some(this.source(value)),
            };
            let mut body = self.within(OutputSite::Element(node.id), |this| {
                this.body(node.template.declared.value, body)
            });
            self.name_technology(node.id, &mut body);
            entries.push((key(node.template.declared.key), body));
        }
        self.some(entries, like)
    }

    /// Says the technology of a node behind its type, where that is wished for.
    fn name_technology(&self, id: ElementId, body: &mut Out<'a>) {
        let name = self.technologies.as_ref().and_then(|names| names.get(&id));
        if let (Some(&name), Out::Map { entries, .. }) = (name, body) {
            let is_type = |(key, _): &OutputEntry<'_>| matches!(key, OutKey::Source(key) if key.text() == Some("type"));
            let behind = entries.iter().position(is_type).map_or(0, |at| at + 1);
            let entry = (OutKey::New("technology".into()), string(name.to_owned()));
            entries.insert(behind, entry);
        }
    }

    /// The type that the present technology of a node assigns, if it does.
    fn assigned_type(&self, id: ElementId) -> Option<String> {
        let node = &self.graph.nodes[self.graph.element(id).slot as usize];
        let technology = self.presence.among(&node.technologies).next()?;
        let technology = &self.graph.technologies[self.graph.element(technology).slot as usize];
        let holds =
            |alternatives: &Vec<ElementId>| self.presence.among(alternatives).next().is_some();
        let chosen = technology
            .implementations
            .iter()
            .find(|implementation| implementation.requires.iter().all(holds));
        chosen.and_then(|implementation| implementation.assign.clone())
    }

    fn type_of(&self, id: ElementId, value: Node<'a>, assigned: Option<String>) -> Option<Out<'a>> {
        match assigned {
            Some(assigned) => Some(string(assigned)),
            None if value.kind() == NodeKind::Scalar => Some(Out::Source(value)),
            None => {
                let chosen =
                    self.graph.element(self.presence.among(self.graph.types_of(id)).next()?);
                let name = string(chosen.name);
                let written = value.items().nth(chosen.index as usize).unwrap_or(value);
                let key = written.entries().find(|(key, _)| key.text() == Some(chosen.name));
                Some(match key {
                    Some((key, _)) => lifted(key, name),
                    None => name,
                })
            }
        }
    }

    fn properties(&mut self, ids: &[ElementId], like: Node<'a>) -> Option<Out<'a>> {
        let graph = self.graph;
        let mut named = EntriesByName::default();
        for id in self.presence.among(ids) {
            let property = &graph.properties[graph.element(id).slot as usize];
            if let Some(value) = self.property(property) {
                named.put(&property.property.declared, value);
            }
        }
        self.some(named.entries, like)
    }

    fn property(&mut self, property: &PropertyElement<'a>) -> Option<Out<'a>> {
        match property.property.value {
            PropertyValue::Value(value) => {
                let wrapped = property
                    .property
                    .declared
                    .value
                    .entries()
                    .find(|(_, inner)| inner.ptr_eq(value));
                let value = self.source(value);
                Some(match wrapped {
                    Some((name, _)) => lifted(name, value),
                    None => value,
                })
            }
            PropertyValue::Expression(expression) => {
                let read = self.evaluator.graph.syntax.read(expression);
                let value = self.evaluator.value(read, Some(property.id));
                let value = self.diagnostics.ok(value)?;
                self.pay(&value, expression)?;
                Some(Out::Value(value))
            }
        }
    }

    /// One value may be that of many properties, each of which writes it.
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
        let mut items = Vec::with_capacity(
            relations.iter().filter(|&&id| self.presence.is(graph.relation(id).id)).count(),
        );
        for (relation, item) in relations.iter().map(|&id| graph.relation(id)).zip(like.items()) {
            if self.presence.is(relation.id) {
                let declared = &relation.requirement.declared;
                let body = self.requirement(relation);
                items.push((Some(item), map(vec![(key(declared.key), body)], item)));
            }
        }
        self.some_items(items, like)
    }

    /// What is left with only `node` is written short.
    fn requirement(&mut self, relation: &RelationElement<'a>) -> Out<'a> {
        let value = relation.requirement.declared.value;
        let left = || value.entries().filter(|(name, _)| !name.text().is_some_and(is_keyword));
        if let (Some((name, node)), None) = (left().next(), left().nth(1))
            && name.text() == Some("node")
            && !self.verbatim
        {
            return lifted(name, Out::Source(node));
        }
        self.body(value, |this, keyword, value| match keyword {
            "relationship" if value.kind() == NodeKind::Mapping => {
                Some(this.relationship(relation, value))
            }
            _ => Some(this.source(value)),
        })
    }

    fn relationship(&mut self, relation: &RelationElement<'a>, value: Node<'a>) -> Out<'a> {
        let body = |this: &mut Self, keyword: &str, value| match keyword {
            "type" => this.type_of(relation.id, value, None),
            "properties" => this.properties(&relation.properties, value),
            _ => Some(this.source(value)),
        };
        self.within(OutputSite::Element(relation.id), |this| this.body(value, body))
    }

    fn relationships(&mut self, like: Node<'a>) -> Option<Out<'a>> {
        let graph = self.graph;
        // A relation is written at its source.
        let is_written = |relation: &&RelationElement<'_>| {
            self.presence.is(relation.id) && self.presence.is(graph.node(relation.source).id)
        };
        let used = graph.relations.iter().filter(is_written);
        let named = used.filter(|relation| relation.requirement.relationship.is_some());
        let mut users = vec![None; graph.template.relationships.len()];
        for relation in named {
            let position =
                relation.relationship.and_then(|template| graph.relationship_named(template.name));
            position.into_iter().for_each(|position| users[position] = Some(relation));
        }
        let is_plain = graph.template.is_plain();
        let mut entries = Vec::new();
        let own = graph.template.relationships.iter();
        for template in own.filter(|own| !graph.template.is_imported(own.key.span())) {
            match graph.relationship_named(template.name).and_then(|position| users[position]) {
                Some(relation) => {
                    entries.push((key(template.key), self.relationship(relation, template.value)))
                }
                // What no relation uses may be there to be copied.
                None if is_plain => entries.push((key(template.key), self.source(template.value))),
                None => {}
            }
        }
        self.some(entries, like)
    }

    fn artifacts(&mut self, ids: &[ElementId], like: Node<'a>) -> Option<Out<'a>> {
        let graph = self.graph;
        let mut named = EntriesByName::default();
        for id in self.presence.among(ids) {
            let artifact = &graph.artifacts[graph.element(id).slot as usize];
            let value = artifact.artifact.declared.value;
            if self.verbatim && value.kind() != NodeKind::Mapping {
                let value = self.source(value);
                named.put(&artifact.artifact.declared, value);
                continue;
            }
            let mut entries = Vec::new();
            if artifact.types.is_empty() && !self.verbatim && !self.has_type(artifact) {
                entries.push((OutKey::New("type".into()), string(DEFAULT_ARTIFACT_TYPE)));
            }
            if value.kind() == NodeKind::Mapping {
                entries.extend(self.body_entries(value, |this, keyword, value| match keyword {
                    "type" => this.type_of(id, value, None),
                    "properties" => this.properties(&artifact.properties, value),
                    _ => Some(this.source(value)),
                }));
            } else {
                entries.push((OutKey::New("file".into()), self.source(value)));
            }
            named.put(
                &artifact.artifact.declared,
                map(entries, if value.kind() == NodeKind::Mapping { value } else { like }),
            );
        }
        self.some(named.entries, like)
    }

    /// Whether the type of its node says of which type an artifact is.
    fn has_type(&self, artifact: &ArtifactElement<'a>) -> bool {
        let (graph, types) = (self.graph, self.evaluator.types());
        let mut of_node = self.presence.among(graph.types_of(graph.node(artifact.node).id));
        let name = graph.element(artifact.id).name;
        of_node.any(|kind| types.types_artifact(graph.element(kind).name, name))
    }

    fn groups(&mut self, like: Node<'a>) -> Option<Out<'a>> {
        let (graph, presence) = (self.graph, self.presence);
        let mut entries = Vec::new();
        for group in graph.groups.iter().filter(|group| is_written(graph, presence, group.id)) {
            let body = |this: &mut Self, keyword: &str, value| match keyword {
                "type" => this.type_of(group.id, value, None),
                "properties" => this.properties(&group.properties, value),
                "members" => {
                    let present = group.members.iter().filter(|&&(_, id)| this.presence.is(id));
                    let items = present
                        .map(|&(member, id)| (Some(member.item), this.member(member, id)))
                        .collect();
                    Some(this.empty(value).unwrap_or(Out::Seq { items, like: Some(value) }))
                }
                _ => Some(this.source(value)),
            };
            let body = self.within(OutputSite::Element(group.id), |this| {
                this.body(group.group.declared.value, body)
            });
            entries.push((key(group.group.declared.key), body));
        }
        self.some(entries, like)
    }

    /// A relation that is named by its position has another one when relations before it are gone.
    fn member(&self, member: &Member<'a>, id: ElementId) -> Out<'a> {
        let by_position =
            member.relation.filter(|relation| matches!(relation.scalar(), Some(Scalar::Int(_))));
        let Some(relation) = by_position else { return Out::Source(member.item) };
        let source =
            self.graph.node(self.graph.relations[self.graph.element(id).slot as usize].source);
        let siblings = source.relations.iter().map(|&sibling| self.graph.relation(sibling).id);
        let position = siblings
            .take_while(|&sibling| sibling != id)
            .filter(|&sibling| self.presence.is(sibling))
            .count();
        let position = Out::Value(Value::from(position as i64));
        Out::Seq {
            items: vec![(Some(member.node), Out::Source(member.node)), (Some(relation), position)],
            like: Some(member.item),
        }
    }

    fn policies(&mut self, like: Node<'a>) -> Option<Out<'a>> {
        let (graph, presence) = (self.graph, self.presence);
        let mut items = Vec::new();
        for policy in graph.policies.iter().filter(|policy| is_written(graph, presence, policy.id))
        {
            let body = |this: &mut Self, keyword: &str, value| match keyword {
                "type" => this.type_of(policy.id, value, None),
                "properties" => this.properties(&policy.properties, value),
                "targets" => {
                    let present =
                        policy.targets.iter().filter(|&&(_, target)| this.is_target(target));
                    let items = present.map(|&(name, _)| (Some(name), Out::Source(name))).collect();
                    Some(this.empty(value).unwrap_or(Out::Seq { items, like: Some(value) }))
                }
                _ => Some(this.source(value)),
            };
            let body = self.within(OutputSite::Element(policy.id), |this| {
                this.body(policy.policy.declared.value, body)
            });
            let item = like.items().nth(graph.element(policy.id).index as usize);
            items.push((
                item,
                map(vec![(key(policy.policy.declared.key), body)], item.unwrap_or(like)),
            ));
        }
        self.some_items(items, like)
    }

    fn is_target(&self, target: Target) -> bool {
        match target {
            Target::Node(node) => self.presence.is(self.graph.node(node).id),
            Target::Group(group) => {
                let group = &self.graph.groups[group.0 as usize];
                self.presence.is(group.id)
            }
        }
    }
}

/// Entries by name: of two with one name the later one wins, at the place of the first.
#[derive(Default)]
struct EntriesByName<'a> {
    entries: Vec<OutputEntry<'a>>,
    positions: FxHashMap<&'a str, usize>,
}

impl<'a> EntriesByName<'a> {
    fn put(&mut self, declared: &Declared<'a>, value: Out<'a>) {
        let entry = (key(declared.key), value);
        match self.positions.get(declared.name) {
            Some(&position) => self.entries[position] = entry,
            None => {
                self.positions.insert(declared.name, self.entries.len());
                self.entries.push(entry);
            }
        }
    }
}
