//! Answers requests about a place in a file.

use super::place::uri_of;
use super::protocol::{Encoding, Position, Range};
use cuvee::editor::{self, CompletedWord, SuggestionKind, TemplateAnalysis, complete};
use cuvee::source::{SourceMap, Span};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The requests that are answered.
pub(super) const METHODS: &[&str] = &[
    "textDocument/completion",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/documentSymbol",
    "textDocument/hover",
    "textDocument/foldingRange",
    "textDocument/selectionRange",
    "textDocument/documentLink",
];

/// What the server says that it can answer.
pub(super) fn capabilities() -> Value {
    json!({
        "completionProvider": { "triggerCharacters": [" ", "[", "{"] },
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "renameProvider": { "prepareProvider": true },
        "documentSymbolProvider": true,
        "hoverProvider": true,
        "foldingRangeProvider": true,
        "selectionRangeProvider": true,
        "documentLinkProvider": {},
    })
}

/// The offset that a request is about.
pub(super) fn offset(params: &Value, text: Option<&str>, encoding: Encoding) -> Option<usize> {
    let position: Position = serde_json::from_value(params.get("position")?.clone()).ok()?;
    Some(editor::offset(text?, position, encoding))
}

/// A request about a file, with what is known of its template.
pub(super) struct PlaceQuestion<'q, 'a> {
    pub analysis: &'q TemplateAnalysis<'a>,
    pub file: &'q Path,
    pub text: &'q str,
    pub params: &'q Value,
    pub encoding: Encoding,
}

impl PlaceQuestion<'_, '_> {
    /// Answers the question.
    ///
    /// # Errors
    /// Why what was asked for cannot be done, for people.
    pub(super) fn answer(&self, method: &str) -> Result<Value, String> {
        match method {
            "textDocument/documentSymbol" => return Ok(self.symbols()),
            "textDocument/foldingRange" => return Ok(self.folds()),
            "textDocument/selectionRange" => return Ok(self.selections()),
            "textDocument/documentLink" => return Ok(self.links()),
            _ => {}
        }
        let offset = offset(self.params, Some(self.text), self.encoding);
        let offset = offset.ok_or("the request has no position")?;
        match method {
            "textDocument/completion" => Ok(self.completion(offset)),
            "textDocument/definition" => Ok(self.locations(offset, |defines| defines)),
            "textDocument/references" => {
                let wanted = self.params.pointer("/context/includeDeclaration");
                let all = wanted.and_then(Value::as_bool).unwrap_or(true);
                Ok(self.locations(offset, |defines| all || !defines))
            }
            "textDocument/documentHighlight" => Ok(self.highlights(offset)),
            "textDocument/prepareRename" => {
                let (span, name) = self.analysis.renamable(self.file, offset)?;
                Ok(json!({ "range": self.range(span), "placeholder": name }))
            }
            "textDocument/rename" => self.rename(offset),
            "textDocument/hover" => Ok(self.hover(offset)),
            _ => Ok(Value::Null),
        }
    }

    fn completion(&self, offset: usize) -> Value {
        let CompletedWord { range, suggestions, .. } =
            complete(self.analysis, self.file, self.text, offset);
        let sources = SourceMap::default();
        let file = sources.add(self.file, self.text);
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let span = Span { file, start: number(range.start), end: number(range.end) };
        let range = editor::range(&sources, span, self.encoding);
        let item = |it: &cuvee::editor::Suggestion| {
            let kind = match it.kind {
                SuggestionKind::Type => 7,
                SuggestionKind::Name => 6,
                SuggestionKind::Member => 5,
                SuggestionKind::Operator => 3,
                SuggestionKind::Value => 12,
                _ => 10,
            };
            let mut item = json!({
                "label": it.label,
                "kind": kind,
                "textEdit": { "range": range, "newText": it.insert },
            });
            if let (Some(detail), Value::Object(item)) = (&it.detail, &mut item) {
                item.insert("detail".to_owned(), detail.as_str().into());
            }
            item
        };
        let items: Vec<_> = suggestions.iter().map(item).collect();
        json!({ "isIncomplete": false, "items": items })
    }

    fn locations(&self, offset: usize, is_wanted: impl Fn(bool) -> bool) -> Value {
        let places = self.analysis.places(self.file, offset);
        let places = places.iter().filter(|place| is_wanted(place.defines));
        let location = |span: Span| json!({ "uri": self.uri(span), "range": self.range(span) });
        places.map(|place| location(place.span)).collect()
    }

    fn highlights(&self, offset: usize) -> Value {
        let places = self.analysis.places(self.file, offset);
        let here = places.iter().filter(|place| self.path(place.span) == self.file);
        let highlight = |defines: bool, span: Span| json!({ "range": self.range(span), "kind": if defines { 3 } else { 2 } });
        here.map(|place| highlight(place.defines, place.span)).collect()
    }

    fn rename(&self, offset: usize) -> Result<Value, String> {
        let new = self.params.get("newName").and_then(Value::as_str).unwrap_or_default();
        let mut changes: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (span, text) in self.analysis.rename(self.file, offset, new)? {
            let edit = json!({ "range": self.range(span), "newText": text });
            changes.entry(self.uri(span)).or_default().push(edit);
        }
        Ok(json!({ "changes": changes }))
    }

    fn hover(&self, offset: usize) -> Value {
        match self.analysis.description(self.file, offset) {
            Some((span, text)) => json!({
                "contents": { "kind": "markdown", "value": text },
                "range": self.range(span),
            }),
            None => Value::Null,
        }
    }

    fn symbols(&self) -> Value {
        let symbols = self.analysis.outline(self.file);
        self.tree(&symbols)
    }

    fn tree(&self, symbols: &[cuvee::editor::OutlineEntry]) -> Value {
        let entry = |it: &cuvee::editor::OutlineEntry| {
            json!({
                "name": it.name,
                "kind": if it.parts.is_empty() { 13 } else { 19 },
                "range": self.range(it.span),
                "selectionRange": self.range(it.name_span),
                "children": self.tree(&it.parts),
            })
        };
        symbols.iter().map(entry).collect()
    }

    /// The parts of a file that take several lines.
    fn folds(&self) -> Value {
        let mut folds = Vec::new();
        let mut open = self.analysis.outline(self.file);
        while let Some(mut part) = open.pop() {
            let range = self.range(part.span);
            if range.start.line < range.end.line {
                folds.push((range.start.line, range.end.line));
            }
            open.append(&mut part.parts);
        }
        folds.sort_unstable();
        folds.dedup();
        let fold = |(start, end)| json!({ "startLine": start, "endLine": end });
        folds.into_iter().map(fold).collect()
    }

    /// For each position, the parts of the file around it, the innermost first.
    fn selections(&self) -> Value {
        let positions = self.params.get("positions").and_then(Value::as_array);
        let selection = |position: &Value| {
            let position: Position = serde_json::from_value(position.clone()).ok()?;
            let offset = editor::offset(self.text, position, self.encoding);
            let nothing = Range { start: position, end: position };
            let around = self.analysis.around(self.file, offset);
            let ranges = around.iter().map(|&span| self.range(span));
            let parent = ranges.fold(Value::Null, |parent, range| match parent {
                Value::Null => json!({ "range": range }),
                parent => json!({ "range": range, "parent": parent }),
            });
            Some(if parent.is_null() { json!({ "range": nothing }) } else { parent })
        };
        positions.into_iter().flatten().filter_map(selection).collect()
    }

    /// The files that imports and artifacts name, where they are.
    fn links(&self) -> Value {
        let links = self.analysis.links(self.file);
        let link = |(span, path): &(Span, std::path::PathBuf)| json!({ "range": self.range(*span), "target": uri_of(path) });
        links.iter().filter(|(_, path)| path.is_file()).map(link).collect()
    }

    fn path(&self, span: Span) -> &Path {
        self.analysis.sources().file(span.file).path()
    }

    fn uri(&self, span: Span) -> String {
        uri_of(self.path(span))
    }

    fn range(&self, span: Span) -> Range {
        editor::range(self.analysis.sources(), span, self.encoding)
    }
}
