//! Lists what a file defines, and when elements are present.

use super::TemplateAnalysis;
use super::walk::{WordRole, walk};
use crate::explore::outline::{conditions, group_conditions};
use crate::explore::words;
use crate::tosca::v2_0;
use crate::variability::graph::ElementId;
use cuvee_text::source::{Span, normalize};
use cuvee_text::yaml::{Node, NodeKind};
use std::path::{Path, PathBuf};

/// How deep an outline goes.
const DEPTH: usize = 6;

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutlineEntry {
    /// Its key.
    pub name: String,
    /// The key with what is below it.
    pub span: Span,
    /// The key.
    pub name_span: Span,
    /// The parts of it.
    pub parts: Vec<OutlineEntry>,
}

/// When an element is present, by the conditions of its author.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PresenceHint {
    /// The place of its declaration: its key, where it has one.
    pub span: Span,
    /// The condition in words.
    pub condition: String,
}

impl TemplateAnalysis<'_> {
    /// The maps of a file by their keys, as far as their lines are not broken.
    pub fn outline(&self, path: &Path) -> Vec<OutlineEntry> {
        let document = self.document(path);
        document.map_or_else(Vec::new, |document| self.entries(document.root(), 0))
    }

    fn entries(&self, node: Node<'_>, depth: usize) -> Vec<OutlineEntry> {
        if depth > DEPTH {
            return Vec::new();
        }
        let entry = |(key, value): (Node<'_>, Node<'_>)| {
            let name_span = self.typed_span(key.span())?;
            // What is below may have broken lines; it still belongs to the key.
            let end = self.typed_span(value.span()).map_or(name_span.end, |it| it.end);
            let span = Span { end: end.max(name_span.end), ..name_span };
            let parts = match value.kind() {
                NodeKind::Scalar => Vec::new(),
                NodeKind::Mapping => self.entries(value, depth + 1),
                NodeKind::Sequence => {
                    value.items().flat_map(|item| self.entries(item, depth + 2)).collect()
                }
            };
            // In files of TOSCA 2.0, the tree has keynames by other names.
            let name = match v2_0::is_of(key.document()) {
                true if key.text().is_some() => v2_0::written(key),
                _ => key.text()?,
            };
            Some(OutlineEntry { name: name.to_owned(), span, name_span, parts })
        };
        // Merged keys stand elsewhere.
        let is_own = |(key, _): &(Node<'_>, Node<'_>)| {
            let (key, map) = (key.span(), node.span());
            map.start <= key.start && key.end <= map.end
        };
        node.entries().filter(is_own).filter_map(entry).collect()
    }

    /// The parts of a file around an offset, the outermost first.
    pub fn around(&self, path: &Path, offset: usize) -> Vec<Span> {
        let Some(at) = self.read_span(path, offset) else { return Vec::new() };
        let document = self.documents.iter().find(|it| it.file() == at.file);
        let mut found = Vec::new();
        let mut next = document.map(|document| document.root());
        while let Some(node) = next {
            found.push(node.span());
            let is_around = |part: &Node<'_>| {
                let span = part.span();
                let is_inner = node.span().start <= span.start && span.end <= node.span().end;
                is_inner && (span.start..=span.end).contains(&at.start)
            };
            let parts = node.entries().flat_map(|(key, value)| {
                let entry = Span { end: value.span().end.max(key.span().end), ..key.span() };
                [(key, None), (value, Some(entry))]
            });
            let inner = parts.chain(node.items().map(|item| (item, None)));
            let inner = inner.filter(|(part, _)| is_around(part)).last();
            if let Some((_, Some(entry))) = inner {
                found.push(entry);
            }
            next = inner.map(|(part, _)| part);
        }
        found.dedup();
        found.into_iter().filter_map(|span| self.typed_span(span)).collect()
    }

    /// The files that a file names by their paths: those of imports, artifacts and implementations of
    /// operations, each with the place of the name and the path that is meant.
    pub fn links(&self, path: &Path) -> Vec<(Span, PathBuf)> {
        let mut found = Vec::new();
        let Some(document) = self.document(path) else { return found };
        let directory = path.parent().unwrap_or(path);
        let scope = self.scope(self.file(path));
        walk(document.root(), &mut |word| {
            let Some(name) = word.node.text().filter(|name| !name.contains("://")) else { return };
            let is_file = match word.role {
                WordRole::FileName(_) => true,
                // It may also be the name of an artifact.
                WordRole::Implementation => {
                    scope.as_ref().is_none_or(|scope| scope.meaning(&word, name).parts.is_empty())
                }
                _ => false,
            };
            if is_file && let Some(span) = self.typed_span(word.node.span()) {
                found.push((span, normalize(&directory.join(name))));
            }
        });
        found
    }
}

impl TemplateAnalysis<'_> {
    /// When the elements of a file are present, where their authors say anything about it.
    pub fn hints(&self, path: &Path) -> Vec<PresenceHint> {
        let Some(file) = self.file(path) else { return Vec::new() };
        let mut found = self.conditional(&|span| span.file == file);
        found.sort_unstable_by_key(|hint| hint.span);
        found
    }

    /// The conditions of the elements whose declarations stand where somebody asks.
    pub(crate) fn conditional(&self, is_asked_for: &dyn Fn(Span) -> bool) -> Vec<PresenceHint> {
        let Some(prepared) = self.prepared else { return Vec::new() };
        let graph = &prepared.graph;
        let groups = group_conditions(graph);
        let hint = |id: ElementId| {
            let element = graph.element(id);
            let is_wanted = !element.by_rule && is_asked_for(element.span);
            let conditions = if is_wanted { conditions(graph, id, &groups) } else { Vec::new() };
            let span = self.typed_span(element.span).filter(|_| !conditions.is_empty())?;
            Some(PresenceHint { span, condition: words::all(&conditions) })
        };
        graph.ids().filter_map(hint).collect()
    }
}
