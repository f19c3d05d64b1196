//! Reads the nodes of a resolved template and their requirement assignments, as far as substitution
//! needs them.

use crate::orchestrate::tree::{MapEntries, entries, items, key_name, like};
use crate::topology::{Spanned, type_named};
use crate::tosca::function::Function;
use crate::tosca::requirement::AssignedCount;
use crate::tosca::{Directive, Family, TypeId, Types, v2_0};
use cuvee_text::source::{FileId, Span};
use cuvee_text::yaml::{Node, NodeKind, Out, OutEntry, OutKey, OutNode};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// A resolved template.
#[derive(Clone, Debug)]
pub(crate) struct TemplateView<'a> {
    /// The document of the template.
    pub document: Out<'a>,
    /// The nodes, in the order in which they are written.
    pub nodes: Vec<ViewedNode<'a>>,
    by_name: FxHashMap<String, usize>,
    /// Whether it is one of TOSCA 2.0, where functions have a `$` before their names.
    pub is_2_0: bool,
}

/// A node template.
#[derive(Clone, Debug)]
pub(crate) struct ViewedNode<'a> {
    pub name: String,
    /// The place of the name.
    pub span: Span,
    pub key: OutKey<'a>,
    /// The definition of the node.
    pub body: Out<'a>,
    /// The name of its type.
    pub type_name: String,
    pub kind: Option<TypeId>,
    /// Whether the node is to be substituted.
    pub is_substituted: bool,
    /// Whether the node is to be selected.
    pub is_selected: bool,
    /// The directive after the first one, for the case that this does not work.
    pub next: Option<Directive>,
    pub assignments: Vec<ViewedRequirement<'a>>,
}

/// A requirement assignment.
#[derive(Clone, Debug)]
pub(crate) struct ViewedRequirement<'a> {
    pub name: String,
    pub span: Span,
    /// The source node whose comments it keeps.
    pub owner: Option<Node<'a>>,
    /// The item in the list of assignments.
    pub item: Out<'a>,
    /// The value after the name.
    pub body: Out<'a>,
    /// The name of the target node, if the template contains it.
    pub target: Option<String>,
    /// The name of a capability, or of a capability type.
    pub capability: Option<Spanned<String>>,
    pub count: AssignedCount,
}

impl<'a> TemplateView<'a> {
    /// Reads a resolved template.
    pub(crate) fn of(document: Out<'a>, types: &Types<'_>) -> Self {
        let topology = part(&document, "topology_template");
        let templates = topology.as_deref().and_then(|topology| part(topology, "node_templates"));
        let templates = templates.as_deref().map(uncopied).unwrap_or_default().into_iter();
        let mut nodes: Vec<_> =
            templates.map(|(key, body)| ViewedNode::of(key, body, types)).collect();
        drop(topology);
        let by_name: FxHashMap<_, _> =
            nodes.iter().enumerate().map(|(at, node)| (node.name.clone(), at)).collect();
        for assignment in nodes.iter_mut().flat_map(|node| &mut node.assignments) {
            assignment.target = assignment.target.take().filter(|name| by_name.contains_key(name));
        }
        let is_2_0 = is_of_2_0(&document);
        Self { document, nodes, by_name, is_2_0 }
    }

    /// The function that a map with this key calls.
    pub(crate) fn function(&self, key: &str) -> Option<Function> {
        Function::named(if self.is_2_0 { v2_0::function_name(key)? } else { key })
    }

    /// The steps of a path behind its node: the word of TOSCA 2.0 before the name of a part
    /// (section 10.3), if there is one, and the position of that name. A node that is one of a kind
    /// may have an index.
    pub(crate) fn context(
        &self,
        step: &dyn Fn(usize) -> Option<String>,
    ) -> (Option<&'static str>, usize) {
        if !self.is_2_0 {
            return (None, 0);
        }
        let start = usize::from(step(0).is_some_and(|step| step.parse::<u64>().is_ok()));
        let word = step(start).and_then(|step| {
            ["CAPABILITY", "RELATIONSHIP"].into_iter().find(|word| **word == *step)
        });
        (word, start + usize::from(word.is_some()))
    }

    /// The node of this name.
    pub(crate) fn node(&self, name: &str) -> Option<&ViewedNode<'a>> {
        self.position(name).map(|at| &self.nodes[at])
    }

    /// The position of the node of this name.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The parts of nodes that functions name: the node, the part, and the place of the call.
    pub(crate) fn called_parts(&self) -> Vec<(usize, String, Span)> {
        let mut all = Vec::new();
        if let Some(topology) = part(&self.document, "topology_template") {
            self.add_called(OutNode::root(&topology), &mut all);
        }
        all
    }

    fn add_called(&self, node: OutNode<'_, '_>, all: &mut Vec<(usize, String, Span)>) {
        for OutEntry { name, value, .. } in node.entries() {
            let of_nodes = matches!(
                self.function(&name),
                Some(Function::GetProperty | Function::GetAttribute)
            );
            let operand = if of_nodes { value.items() } else { Vec::new() };
            if let Some(((_, name), path)) = operand.split_first()
                && let Some(position) = name.text().and_then(|name| self.position(&name))
                && let (_, at) = self.context(&|at| Some(path.get(at)?.1.text()?.into_owned()))
                && let Some((_, part)) = path.get(at)
                && let Some(text) = part.text()
            {
                all.push((position, text.into_owned(), part.span()));
            }
            self.add_called(value, all);
        }
        node.items().into_iter().for_each(|(_, item)| self.add_called(item, all));
    }

    /// The entries of a section of the topology.
    pub(crate) fn section(&self, name: &str) -> Option<Out<'a>> {
        let topology = part(&self.document, "topology_template")?;
        entry(&topology, name)
    }

    /// Whether the topology has a section.
    pub(crate) fn has_section(&self, name: &str) -> bool {
        let topology = part(&self.document, "topology_template");
        topology.is_some_and(|topology| part(&topology, name).is_some())
    }
}

impl<'a> ViewedNode<'a> {
    fn of(key: OutKey<'a>, body: Out<'a>, types: &Types<'_>) -> Self {
        let whole = OutNode::root(&body);
        // A new node has the place of what it was made of.
        let span = match key_span(&key) {
            span if span.is_detached() => whole.span(),
            span => span,
        };
        let type_name = whole
            .get("type")
            .and_then(|it| Some(Spanned { value: it.text()?.into_owned(), span: it.span() }));
        let directives = whole.get("directives").map(OutNode::items).unwrap_or_default();
        let mut directives = directives.iter().filter_map(|(_, it)| Directive::named(&it.text()?));
        let (first, next) = (directives.next(), directives.next());
        let kind = type_name.as_ref().and_then(|name| type_named(types, Family::Node, name));
        let assignments = entry(&body, "requirements").map(|list| assignments(&list));
        Self {
            name: key_name(&key).into_owned(),
            span,
            type_name: type_name.map(|name| name.value).unwrap_or_default(),
            kind,
            is_substituted: first == Some(Directive::Substitute),
            is_selected: first == Some(Directive::Select),
            next,
            assignments: assignments.unwrap_or_default(),
            key,
            body,
        }
    }

    /// The assigned properties, by name.
    pub(crate) fn properties(&self) -> Vec<(String, Out<'a>)> {
        let all = entry(&self.body, "properties").map(|all| entries(&all)).unwrap_or_default();
        all.into_iter().map(|(key, value)| (key_name(&key).into_owned(), value)).collect()
    }

    /// The value that is assigned to a property.
    pub(crate) fn property(&self, name: &str) -> Option<Out<'a>> {
        entry(&entry(&self.body, "properties")?, name)
    }

    /// The names of what the node substitutes, outermost first, as its metadata say.
    pub(crate) fn substitutes(&self) -> Vec<String> {
        let said = |name: &&str| {
            let said = entry(&entry(&self.body, "metadata")?, name)?;
            OutNode::root(&said).text().map(|text| text.into_owned())
        };
        ["within", "substitutes"].iter().filter_map(said).collect()
    }

    /// The assignments of a requirement.
    pub(crate) fn of_name<'s>(
        &'s self,
        name: &'s str,
    ) -> impl Iterator<Item = &'s ViewedRequirement<'a>> {
        self.assignments.iter().filter(move |assignment| assignment.name == name)
    }
}

/// The assignments in a list, or in a map as earlier versions write it.
fn assignments<'a>(list: &Out<'a>) -> Vec<ViewedRequirement<'a>> {
    listed(list)
        .into_iter()
        .filter_map(|(owner, item)| ViewedRequirement::of(owner, item))
        .collect()
}

impl<'a> ViewedRequirement<'a> {
    fn of(owner: Option<Node<'a>>, item: Out<'a>) -> Option<Self> {
        let (key, body) = entries(&item).into_iter().next()?;
        let whole = OutNode::root(&body);
        let text = |node: OutNode<'_, 'a>| {
            Some(Spanned { value: node.text()?.into_owned(), span: node.span() })
        };
        let target =
            if whole.kind() == NodeKind::Mapping { whole.get("node") } else { Some(whole) };
        // In TOSCA 2.0 a list names a template, and the index of one of its nodes.
        let target = target.and_then(|target| match &*target.items() {
            [(_, template), _] => text(*template),
            _ => text(target),
        });
        let capability = whole.get("capability").and_then(text);
        let count = AssignedCount::said(
            whole.get("occurrences").map(OutNode::to_value).as_ref(),
            whole.get("count").map(OutNode::to_value).as_ref(),
            whole.get("optional").map(OutNode::to_value).as_ref(),
        );
        Some(Self {
            name: key_name(&key).into_owned(),
            span: key_span(&key),
            owner,
            target: target.map(|target| target.value),
            capability,
            count,
            body,
            item,
        })
    }
}

/// Whether a template copies another one.
pub(super) fn is_copy(body: &Out<'_>) -> bool {
    entry(body, "copy").is_some()
}

/// The templates of a section. A copy has what it copies, except for the keynames that it has itself.
pub(super) fn uncopied<'a>(section: &Out<'a>) -> MapEntries<'a> {
    let all = entries(section);
    if !all.iter().any(|(_, body)| is_copy(body)) {
        return all;
    }
    let by_name: FxHashMap<String, Out<'a>> =
        all.iter().map(|(key, body)| (key_name(key).into_owned(), body.clone())).collect();
    let of = |(key, body): (OutKey<'a>, Out<'a>)| {
        let copied =
            entry(&body, "copy").and_then(|it| Some(OutNode::root(&it).text()?.into_owned()));
        let Some(copied) = copied.and_then(|name| by_name.get(&name)) else { return (key, body) };
        let mut own = entries(&body);
        own.retain(|(key, _)| key_name(key) != "copy");
        let is_own = |key: &OutKey<'a>, own: &MapEntries<'a>| {
            own.iter().any(|(own, _)| key_name(own) == key_name(key))
        };
        let of_copied = entries(copied).into_iter();
        let mut new: MapEntries<'a> =
            of_copied.filter(|(key, _)| key_name(key) != "copy" && !is_own(key, &own)).collect();
        // The type comes first, as it does in most templates.
        let type_name = new.iter().position(|(key, _)| key_name(key) == "type");
        let type_name = type_name.map(|at| new.remove(at));
        (key, like(&body, type_name.into_iter().chain(own).chain(new).collect()))
    };
    all.into_iter().map(of).collect()
}

/// Whether a document is one of TOSCA 2.0.
pub(super) fn is_of_2_0(document: &Out<'_>) -> bool {
    v2_0::is_said_in(OutNode::root(document))
}

/// The place of a key.
pub(crate) fn key_span(key: &OutKey<'_>) -> Span {
    match key {
        OutKey::Source(key) | OutKey::Renamed(key, _) => key.span(),
        OutKey::New(_) => Span::DETACHED,
    }
}

/// The file of a place, if it has one.
pub(crate) fn file_of(span: Span) -> Option<FileId> {
    (!span.is_detached()).then_some(span.file)
}

/// The value of a key in a map.
pub(crate) fn entry<'a>(map: &Out<'a>, name: &str) -> Option<Out<'a>> {
    part(map, name).map(Cow::into_owned)
}

/// The value of a key in a map, which is not copied where it is there as a part.
fn part<'o, 'a>(map: &'o Out<'a>, name: &str) -> Option<Cow<'o, Out<'a>>> {
    match map {
        Out::Source(node) => node.get(name).map(Out::Source).map(Cow::Owned),
        Out::Lifted(_, inner) | Out::Below(_, inner) => part(inner, name),
        Out::Map { entries, .. } => {
            let found = entries.iter().find(|(key, _)| match key {
                OutKey::Source(key) => key.text() == Some(name),
                OutKey::Renamed(_, new) | OutKey::New(new) => new == name,
            });
            found.map(|(_, value)| Cow::Borrowed(value))
        }
        _ => {
            let found = entries(map).into_iter().find(|(key, _)| key_name(key) == name);
            found.map(|(_, value)| Cow::Owned(value))
        }
    }
}

/// The items of a list, each with the source node whose comments it keeps.
pub(crate) fn listed<'a>(list: &Out<'a>) -> Vec<(Option<Node<'a>>, Out<'a>)> {
    match list {
        Out::Source(node) if node.entries().len() > 0 => node
            .entries()
            .map(|(key, value)| {
                let entries = vec![(OutKey::Source(key), Out::Source(value))];
                (None, Out::Map { entries: entries.into(), like: None })
            })
            .collect(),
        Out::Source(node) => node.items().map(|item| (Some(item), Out::Source(item))).collect(),
        Out::Lifted(_, inner) | Out::Below(_, inner) => listed(inner),
        Out::Seq { items, .. } => items.to_vec(),
        _ => items(list).into_iter().map(|item| (None, item)).collect(),
    }
}
