//! Answers requests about a place in a file.

use super::place::{self, uri_of};
use super::protocol::{Encoding, Position, Range};
use super::worker::AskedQuestion;
use cuvee::editor::{self, CompletedWord, DefinedName, EditorToken, SuggestionKind};
use cuvee::editor::{TemplateAnalysis, TokenKind, complete};
use cuvee::source::{SourceMap, Span, normalize};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// The requests that are answered.
pub(super) const METHODS: &[&str] = &[
    "textDocument/completion",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/prepareRename",
    "textDocument/documentSymbol",
    HOVER,
    "textDocument/foldingRange",
    "textDocument/selectionRange",
    "textDocument/documentLink",
    TOKENS,
    TOKENS_IN_RANGE,
    HINTS,
];

const TOKENS: &str = "textDocument/semanticTokens/full";
const TOKENS_IN_RANGE: &str = "textDocument/semanticTokens/range";

/// The request for what is said of a word.
const HOVER: &str = "textDocument/hover";

/// How long variants are counted for an answer. Whoever types meanwhile waits for it.
pub(super) const COUNTING: Duration = Duration::from_millis(250);

/// Whether variants may be counted for an answer, which needs that time.
pub(super) fn counts(asked: &AskedQuestion) -> bool {
    asked.method == HOVER
}

/// The request for hints within the lines.
pub(super) const HINTS: &str = "textDocument/inlayHint";

/// What the editor is told of a word beside its kind; the last says that the variant of the preset
/// that is shown does not have it.
const MODIFIERS: [&str; 3] = ["definition", "defaultLibrary", "absent"];

/// How many names an answer has at most.
const NAMES: usize = 1_000;

/// How many words are offered at most.
const ENTRIES: usize = 1_000;

/// What the server says that it can answer.
pub(super) fn capabilities() -> Value {
    let kinds = TokenKind::ALL.map(TokenKind::name);
    json!({
        "completionProvider": { "triggerCharacters": [" ", "[", "{", "/"] },
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "renameProvider": { "prepareProvider": true },
        "documentSymbolProvider": true,
        "hoverProvider": true,
        "foldingRangeProvider": true,
        "selectionRangeProvider": true,
        "documentLinkProvider": {},
        "semanticTokensProvider": {
            "legend": { "tokenTypes": kinds, "tokenModifiers": MODIFIERS },
            "full": true,
            "range": true,
        },
        "inlayHintProvider": true,
        "workspaceSymbolProvider": true,
        "workspace": {
            "textDocumentContent": { "schemes": [place::SCHEME] },
            "workspaceFolders": { "supported": true, "changeNotifications": true },
        },
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
    pub text: &'q str,
    pub asked: &'q AskedQuestion,
    pub encoding: Encoding,
}

impl PlaceQuestion<'_, '_> {
    /// Answers the question.
    ///
    /// # Errors
    /// Why what was asked for cannot be done, for people.
    pub(super) fn answer(&self) -> Result<Value, String> {
        let method = &*self.asked.method;
        match method {
            TOKENS | TOKENS_IN_RANGE => return Ok(self.tokens()),
            HINTS => return Ok(self.hints()),
            "textDocument/documentSymbol" => return Ok(self.symbols()),
            "textDocument/foldingRange" => return Ok(self.folds()),
            "textDocument/selectionRange" => return Ok(self.selections()),
            "textDocument/documentLink" => return Ok(self.links()),
            _ => {}
        }
        let offset = offset(&self.asked.params, Some(self.text), self.encoding);
        let offset = offset.ok_or("the request has no position")?;
        match method {
            "textDocument/completion" => Ok(self.completion(offset)),
            "textDocument/definition" => Ok(self.definitions(offset)),
            "textDocument/references" => {
                let wanted = self.asked.params.pointer("/context/includeDeclaration");
                let all = wanted.and_then(Value::as_bool).unwrap_or(true);
                Ok(self.locations(offset, |defines| all || !defines))
            }
            "textDocument/documentHighlight" => Ok(self.highlights(offset)),
            "textDocument/prepareRename" => {
                let (span, name) = self.analysis.renamable(&self.asked.file, offset)?;
                Ok(json!({ "range": self.range(span), "placeholder": name }))
            }
            HOVER => Ok(self.hover(offset)),
            _ => Ok(Value::Null),
        }
    }

    fn completion(&self, offset: usize) -> Value {
        let CompletedWord { range, suggestions, .. } =
            complete(self.analysis, &self.asked.file, self.text, offset);
        let start = range.start;
        let sources = SourceMap::default();
        let file = sources.add(&self.asked.file, self.text);
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
                SuggestionKind::File => 17,
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
        // Of very many, those come that what was typed may stand for, until more is typed.
        let typed = self.text.get(start..offset).unwrap_or_default();
        let is_long = suggestions.len() > ENTRIES;
        let fitting = suggestions.iter().filter(|it| !is_long || may_mean(typed, &it.label));
        let items: Vec<_> = fitting.take(ENTRIES).map(item).collect();
        json!({ "isIncomplete": is_long, "items": items })
    }

    /// Where a name is defined; for the name of a file, the file.
    fn definitions(&self, offset: usize) -> Value {
        let links = self.analysis.links(&self.asked.file);
        let is_here = |span: &Span| (span.start as usize..=span.end as usize).contains(&offset);
        let file = links.iter().find(|(span, path)| is_here(span) && path.is_file());
        match file {
            Some((_, path)) => json!([{ "uri": uri_of(path), "range": Range::default() }]),
            None => self.locations(offset, |defines| defines),
        }
    }

    fn locations(&self, offset: usize, is_wanted: impl Fn(bool) -> bool) -> Value {
        let places = self.analysis.places(&self.asked.file, offset);
        let places = places.iter().filter(|place| is_wanted(place.defines));
        let location = |span: Span| json!({ "uri": self.uri(span), "range": self.range(span) });
        places.map(|place| location(place.span)).collect()
    }

    fn highlights(&self, offset: usize) -> Value {
        let places = self.analysis.places(&self.asked.file, offset);
        let is_here = |span| normalize(self.path(span)) == self.asked.file;
        let here = places.iter().filter(|place| is_here(place.span));
        let highlight = |defines: bool, span: Span| json!({ "range": self.range(span), "kind": if defines { 3 } else { 2 } });
        here.map(|place| highlight(place.defines, place.span)).collect()
    }

    fn hover(&self, offset: usize) -> Value {
        match self.analysis.description(&self.asked.file, offset) {
            Some((span, text)) => json!({
                "contents": { "kind": "markdown", "value": text },
                "range": self.range(span),
            }),
            None => Value::Null,
        }
    }

    fn symbols(&self) -> Value {
        let symbols = self.analysis.outline(&self.asked.file);
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
        let mut open = self.analysis.outline(&self.asked.file);
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
        let positions = self.asked.params.get("positions").and_then(Value::as_array);
        let selection = |position: &Value| {
            let position: Position = serde_json::from_value(position.clone()).ok()?;
            let offset = editor::offset(self.text, position, self.encoding);
            let nothing = Range { start: position, end: position };
            let around = self.analysis.around(&self.asked.file, offset);
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
        let links = self.analysis.links(&self.asked.file);
        let link = |(span, path): &(Span, std::path::PathBuf)| json!({ "range": self.range(*span), "target": uri_of(path) });
        links.iter().filter(|(_, path)| path.is_file()).map(link).collect()
    }

    /// The words of the file, as numbers: each is told by its distance from the one before.
    fn tokens(&self) -> Value {
        let (mut numbers, mut last) = (Vec::new(), Position::default());
        for token in self.analysis.tokens(&self.asked.file) {
            let Range { start, end } = self.range(token.span);
            // Editors show tokens of one line only.
            if start.line != end.line || start < last || !self.is_asked_for(start, end) {
                continue;
            }
            let line = start.line - last.line;
            let column = if line == 0 { start.character - last.character } else { start.character };
            let kind = TokenKind::ALL.iter().position(|kind| *kind == token.kind);
            let modifiers = self.modifiers(&token, start, end);
            let kind = kind.and_then(|kind| u32::try_from(kind).ok()).unwrap_or_default();
            numbers.extend([line, column, end.character - start.character, kind, modifiers]);
            last = start;
        }
        json!({ "data": numbers })
    }

    fn modifiers(&self, token: &EditorToken, start: Position, end: Position) -> u32 {
        let absent = self.asked.shown.as_ref().map_or(&[][..], |(_, absent)| absent);
        // Ranges are in order.
        let near = absent.get(absent.partition_point(|range| range.end < end));
        let is_absent = near.is_some_and(|range| range.start <= start);
        let modifiers = [token.defines, token.is_built_in, is_absent];
        modifiers.iter().rev().fold(0, |sum, is_set| sum * 2 + u32::from(*is_set))
    }

    /// Whether a place is in the range that a request is about, if it is about one.
    fn is_asked_for(&self, start: Position, end: Position) -> bool {
        let range = self.asked.params.get("range").cloned();
        let range: Option<Range> = range.and_then(|range| serde_json::from_value(range).ok());
        range.is_none_or(|range| range.start <= end && start <= range.end)
    }

    /// At the ends of lines, when an element is present, and what the shown variant does not have.
    fn hints(&self) -> Value {
        let present = self.analysis.hints(&self.asked.file);
        let present = present.iter().map(|hint| {
            (self.range(hint.span).start.line, format!("present if {}", hint.condition))
        });
        let absent = self.asked.shown.iter().flat_map(|(name, absent)| {
            absent.iter().map(move |range| (range.start.line, format!("absent in {name}")))
        });
        let mut all: Vec<_> = present.chain(absent).collect();
        all.sort();
        all.dedup();
        let hint = |(line, label): (u32, String)| {
            let position = self.end_of(line);
            self.is_asked_for(position, position)
                .then(|| json!({ "position": position, "label": label, "paddingLeft": true }))
        };
        all.into_iter().filter_map(hint).collect()
    }

    /// The position at the end of a line.
    fn end_of(&self, line: u32) -> Position {
        let far = Position { line, character: u32::MAX };
        let end = editor::offset(self.text, far, self.encoding);
        let before = self.text.get(..end).unwrap_or_default();
        let last = before.rsplit(['\n', '\r']).next().unwrap_or_default();
        let character = match self.encoding {
            Encoding::Utf8 => last.len(),
            Encoding::Utf16 => last.encode_utf16().count(),
        };
        Position { line, character: u32::try_from(character).unwrap_or(u32::MAX) }
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

/// Whether the letters of a typed text are in a word, in their order, whatever their case.
fn may_mean(typed: &str, word: &str) -> bool {
    let mut letters = word.chars().flat_map(char::to_lowercase);
    typed.chars().flat_map(char::to_lowercase).all(|typed| letters.any(|letter| letter == typed))
}

/// The names that a template defines and that have a text in them, whatever its case.
pub(super) fn names(
    analysis: &TemplateAnalysis<'_>,
    wanted: &str,
    encoding: Encoding,
) -> Vec<Value> {
    let (sources, wanted) = (analysis.sources(), wanted.to_lowercase());
    let names = analysis.names().into_iter();
    let symbol = |DefinedName { name, what, span, .. }: DefinedName| {
        let location = json!({
            "uri": uri_of(sources.file(span.file).path()),
            "range": editor::range(sources, span, encoding),
        });
        // A class or a variable.
        let kind = if what.ends_with(" type") { 5 } else { 13 };
        json!({ "name": name, "kind": kind, "containerName": what, "location": location })
    };
    names.filter(|it| it.name.to_lowercase().contains(&wanted)).take(NAMES).map(symbol).collect()
}
