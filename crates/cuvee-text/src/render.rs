//! Renders diagnostics. For people, it shows them in the style of rustc, with the source line, the
//! mistake and what to do. For programs, it writes one JSON object per line.
//!
//! ```
//! use cuvee_text::diagnostic::{CodeName, Diagnostic, did_you_mean};
//! use cuvee_text::render;
//! use cuvee_text::source::{SourceMap, Span};
//!
//! let sources = SourceMap::default();
//! let file = sources.add("shop.yaml", "nodes:\n  shop: { prot: 80 }\n");
//! let error = Diagnostic::error(CodeName::new(&"unknown-property"), "there is no `prot`")
//!     .at(Span { file, start: 17, end: 21 })
//!     .help_opt(did_you_mean("prot", ["port", "name"]));
//! assert_eq!(render::plain([(&error, &sources)]), "\
//! error[unknown-property]: there is no `prot`
//!  --> shop.yaml:2:11
//!   |
//! 2 |   shop: { prot: 80 }
//!   |           ^^^^
//!   |
//!   = help: did you mean `port`?
//!
//! error: 1 error
//! ");
//! ```

use crate::diagnostic::{Diagnostic, Fix, Severity};
use crate::source::{SourceFile, SourceMap, Span};
use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level, Renderer, Snippet, normalize_untrusted_str,
};
use indexmap::IndexMap;
use serde::Serialize;
use std::borrow::Cow;
use std::ops::Range;

/// The most lines between two places in the same excerpt. Places further apart get excerpts of
/// their own, so that few lines are looked at.
const APART: usize = 100;

/// The most bytes of a line that is shown as a whole. Of a longer line, only the text around its
/// marks is shown.
const WIDE: usize = 8 << 10;

/// A placeholder for the path of an excerpt that is cut. No text contains it, because control
/// characters are replaced.
const CUT: &str = "\u{1}";

/// How many bytes around the marks of a cut line are given to the renderer, which shows fewer.
const AROUND: usize = 1 << 10;

/// A diagnostic with the files that it points into.
type Sourced<'d> = (&'d Diagnostic, &'d SourceMap);

/// Renders diagnostics for people as plain text, and then how many there are. Each comes with the
/// files that it points into.
pub fn plain<'d>(found: impl IntoIterator<Item = (&'d Diagnostic, &'d SourceMap)>) -> String {
    human(found, &Renderer::plain(), None)
}

/// Renders diagnostics as [`plain`] does, with the colours of a terminal.
pub fn styled<'d>(found: impl IntoIterator<Item = (&'d Diagnostic, &'d SourceMap)>) -> String {
    human(found, &Renderer::styled(), None)
}

/// Renders diagnostics as [`plain`] does, or with colours as [`styled`] does, but at most `most` of
/// each code. Of the others it says how many there are, and `rest`: how to see them.
///
/// ```
/// use cuvee_text::diagnostic::{CodeName, Diagnostic};
/// use cuvee_text::{render, source::SourceMap};
/// let (sources, error) = (SourceMap::default(), Diagnostic::error(CodeName::new(&"syntax"), "no"));
/// let text = render::brief([(&error, &sources); 3], false, 1, "turn the page");
/// assert_eq!(text, "error[syntax]: no\n\nnote: 2 more of `syntax`: turn the page\n\nerror: 3 errors\n");
/// ```
pub fn brief<'d>(
    found: impl IntoIterator<Item = (&'d Diagnostic, &'d SourceMap)>,
    is_colored: bool,
    most: usize,
    rest: &str,
) -> String {
    let renderer = if is_colored { Renderer::styled() } else { Renderer::plain() };
    human(found, &renderer, Some((most, rest)))
}

/// Renders diagnostics with a blank line after each, and the summary at the end. `brevity` is the
/// most of each code that are shown, and how to see the others.
fn human<'d>(
    found: impl IntoIterator<Item = Sourced<'d>>,
    renderer: &Renderer,
    brevity: Option<(usize, &str)>,
) -> String {
    let (mut text, mut severities) = (String::new(), Vec::new());
    let mut of_codes: IndexMap<_, usize> = IndexMap::new();
    let most = brevity.map_or(usize::MAX, |(most, _)| most);
    for (diagnostic, sources) in found {
        severities.push(diagnostic.severity);
        let count = of_codes.entry(diagnostic.code).or_default();
        *count += 1;
        if *count > most {
            continue;
        }
        let excerpts = excerpts(diagnostic, sources);
        let places: Vec<_> = excerpts.iter().filter_map(|excerpt| excerpt.place.clone()).collect();
        let snippets = excerpts.into_iter().map(|excerpt| excerpt.snippet);
        let rendered = renderer.render(&[group(diagnostic, snippets)]);
        text.push_str(&placed(rendered, &places));
        text.push_str("\n\n");
    }
    for (code, count) in of_codes.into_iter().filter(|&(_, count)| count > most) {
        let how = brevity.map_or("", |(_, how)| how);
        let title = Level::NOTE.primary_title(format!("{} more of `{code}`: {how}", count - most));
        text.push_str(&renderer.render(&[Group::with_title(title)]));
        text.push_str("\n\n");
    }
    if let Some(&worst) = severities.iter().max() {
        let counts = level(worst).primary_title(counts(&severities));
        text.push_str(&renderer.render(&[Group::with_title(counts)]));
        text.push('\n');
    }
    without_c1(text)
}

/// Replaces the control characters beyond ASCII, which some terminals obey. The renderer replaces
/// only those of ASCII.
fn without_c1(text: String) -> String {
    let is_c1 = |c: char| matches!(c, '\u{80}'..='\u{9f}');
    if text.contains(is_c1) { text.replace(is_c1, "\u{fffd}") } else { text }
}

/// The number of diagnostics of each severity, the worst first.
fn counts(severities: &[Severity]) -> String {
    let counted = |severity| {
        let count = severities.iter().filter(|&&found| found == severity).count();
        (count > 0).then(|| format!("{count} {severity}{}", if count == 1 { "" } else { "s" }))
    };
    let counts: Vec<_> = [Severity::Error, Severity::Warning, Severity::Note]
        .into_iter()
        .filter_map(counted)
        .collect();
    counts.join(", ")
}

fn level<'a>(severity: Severity) -> Level<'a> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    }
}

/// Replaces the placeholders of cut excerpts by their true places. The renderer saw only the cut
/// text, so it computed wrong ones.
fn placed(rendered: String, places: &[String]) -> String {
    if places.is_empty() {
        return rendered;
    }
    let mut pieces = rendered.split(CUT);
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for (piece, place) in pieces.zip(places) {
        text.push_str(place);
        text.push_str(piece.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit()));
    }
    text
}

fn group<'a>(
    diagnostic: &'a Diagnostic,
    excerpts: impl Iterator<Item = Snippet<'a, Annotation<'a>>>,
) -> Group<'a> {
    let title =
        level(diagnostic.severity).primary_title(&diagnostic.message).id(diagnostic.code.as_str());
    let group = Group::with_title(title).elements(excerpts);
    let group = match &diagnostic.rule {
        Some(rule) => group.element(Level::NOTE.message(rule.to_string())),
        None => group,
    };
    match &diagnostic.help {
        Some(help) => group.element(Level::HELP.message(normalize_untrusted_str(help))),
        None => group,
    }
}

/// A place to mark, with the line it is in and the range of bytes to mark.
struct Mark<'a> {
    span: Span,
    line: usize,
    line_range: Range<usize>,
    range: Range<usize>,
    /// Whether it is the place of the diagnostic itself.
    own: bool,
    label: Option<&'a str>,
}

impl<'a> Mark<'a> {
    fn new(span: Span, own: bool, label: Option<&'a str>, sources: &SourceMap) -> Self {
        let text = sources.file(span.file).text();
        let line_range = sources.line_range(span);
        let start = floor(text, span.start as usize);
        let mut end = floor(text, span.end as usize).clamp(start, line_range.end.max(start));
        if line_range.len() > WIDE {
            end = end.min(floor(text, start + AROUND));
        }
        let line = sources.location(span).line;
        Self { span, line, line_range, range: start..end, own, label }
    }

    /// Whether the line is so long that only a part of it is shown.
    fn is_wide(&self) -> bool {
        self.line_range.len() > WIDE
    }

    /// Whether both marks belong in one excerpt. This mark must come first.
    fn is_near(&self, other: &Self) -> bool {
        let most = if self.is_wide() || other.is_wide() { WIDE } else { usize::MAX };
        self.span.file == other.span.file
            && other.line - self.line <= APART
            && other.range.start - self.range.start <= most
    }
}

fn floor(text: &str, index: usize) -> usize {
    (0..=index.min(text.len()))
        .rev()
        .find(|&index| text.is_char_boundary(index))
        .unwrap_or_default()
}

/// Creates an excerpt for each group of places that are close together. The excerpt with the place
/// of the diagnostic itself comes first.
fn excerpts<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Vec<Excerpt<'a>> {
    // A label at the diagnostic's own place is shown at its mark.
    let said = diagnostic.labels.iter().position(|label| Some(label.span) == diagnostic.span);
    let own_label = said.map(|said| diagnostic.labels[said].message.as_str());
    let own = diagnostic.span.iter().map(|&span| Mark::new(span, true, own_label, sources));
    let others = diagnostic.labels.iter().enumerate().filter(|&(index, _)| Some(index) != said);
    let related =
        others.map(|(_, label)| Mark::new(label.span, false, Some(&label.message), sources));
    let mut marks: Vec<_> = own.chain(related).collect();
    marks.sort_by_key(|mark| (mark.span.file, mark.range.start));
    let mut near: Vec<_> = marks.chunk_by(Mark::is_near).collect();
    near.sort_by_key(|marks| !marks.iter().any(|mark| mark.own));
    near.into_iter().filter_map(|marks| excerpt(marks, sources)).collect()
}

/// A part of a file with its marks.
struct Excerpt<'a> {
    snippet: Snippet<'a, Annotation<'a>>,
    /// The true place, if a line of the excerpt is cut. The renderer would take the cut text for
    /// the whole.
    place: Option<String>,
}

/// The text of an excerpt, without what is hidden.
struct ShownText<'a> {
    text: Cow<'a, str>,
    /// The range of the file that the text shows.
    shown: Range<usize>,
    /// The hidden ranges of the file, each with the end of what is in its place in the text.
    hidden: Vec<(Range<usize>, usize)>,
}

/// The text in place of what is hidden.
const HIDDEN: &str = "(sensitive)";

impl<'a> ShownText<'a> {
    fn of(file: &'a SourceFile, shown: Range<usize>) -> Self {
        let text = file.text();
        let inside = |range: Range<usize>| {
            let start = ceiling(text, range.start.max(shown.start));
            start..floor(text, range.end.min(shown.end)).max(start)
        };
        let ranges = file.hidden().into_iter().map(inside).filter(|range| !range.is_empty());
        let mut made = Self { text: Cow::Borrowed(""), shown: shown.clone(), hidden: Vec::new() };
        let mut done = shown.start;
        for range in ranges {
            done = range.end;
            // Lines keep their numbers.
            let lines = text[range.clone()].matches('\n').count();
            let before = made.hidden.last().map_or(shown.start, |(range, _)| range.end);
            let part = [&text[before..range.start], HIDDEN, &"\n".repeat(lines)].concat();
            made.text.to_mut().push_str(&part);
            made.hidden.push((range, made.text.len()));
        }
        if made.hidden.is_empty() {
            return Self { text: Cow::Borrowed(&text[shown.clone()]), ..made };
        }
        made.text.to_mut().push_str(&text[done..shown.end]);
        made
    }

    /// The place in the text of a byte of the file. A byte of what is hidden is at its end.
    fn place(&self, at: usize) -> usize {
        match self.hidden.iter().rfind(|(range, _)| range.start < at) {
            None => at - self.shown.start,
            Some((range, end)) => end + at.saturating_sub(range.end),
        }
    }
}

fn ceiling(text: &str, index: usize) -> usize {
    (index..text.len()).find(|&index| text.is_char_boundary(index)).unwrap_or(text.len())
}

/// Creates an excerpt with the lines of some marks. Of long lines it contains only the text around
/// the marks.
fn excerpt<'a>(marks: &[Mark<'a>], sources: &'a SourceMap) -> Option<Excerpt<'a>> {
    let (first, last) = (marks.first()?, marks.last()?);
    let file = sources.file(first.span.file);
    let path = normalize_untrusted_str(&file.path().to_string_lossy());
    let marked = marks.iter().map(|mark| mark.range.end).max().unwrap_or_default();
    let mut shown = first.line_range.start..last.line_range.end.max(marked);
    let is_cut = first.is_wide() || last.is_wide();
    if first.is_wide() {
        shown.start = shown.start.max(floor(file.text(), first.range.start.saturating_sub(AROUND)));
    }
    if last.is_wide() {
        shown.end = shown.end.min(floor(file.text(), marked + AROUND));
    }
    let text = ShownText::of(file, shown);
    // The renderer takes what it is given for the whole text.
    let is_other = is_cut || !text.hidden.is_empty();
    let annotations = marks.iter().map(|mark| {
        let kind = if mark.own { AnnotationKind::Primary } else { AnnotationKind::Context };
        kind.span(text.place(mark.range.start)..text.place(mark.range.end))
            .label(mark.label.map(normalize_untrusted_str))
    });
    let annotations: Vec<_> = annotations.collect();
    let snippet = Snippet::source(text.text).line_start(first.line).annotations(annotations);
    if !is_other {
        return Some(Excerpt { snippet: snippet.path(path), place: None });
    }
    let at = sources.location(marks.iter().find(|mark| mark.own).unwrap_or(first).span);
    let place = format!("{path}:{}:{}", at.line, at.column);
    Some(Excerpt { snippet: snippet.path(CUT), place: Some(place) })
}

/// A place, as it is written to JSON.
#[derive(Default, Serialize)]
struct JsonPlace {
    file: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
}

#[derive(Serialize)]
struct JsonLabel<'a> {
    #[serde(flatten)]
    place: JsonPlace,
    message: &'a str,
}

#[derive(Serialize)]
struct JsonDiagnostic<'a> {
    severity: Severity,
    code: &'static str,
    message: &'a str,
    #[serde(flatten)]
    place: JsonPlace,
    labels: Vec<JsonLabel<'a>>,
    help: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    section: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<JsonFix>,
}

/// A replacement, as it is written to JSON: a range of bytes of the file, and the new text.
#[derive(Serialize)]
struct JsonFix {
    #[serde(flatten)]
    place: JsonPlace,
    start: u32,
    end: u32,
    replacement: String,
}

impl JsonFix {
    fn new(Fix { span, replacement, .. }: Fix, sources: &SourceMap) -> Self {
        let place = JsonPlace::new(span, sources);
        Self { place, start: span.start, end: span.end, replacement }
    }
}

impl JsonPlace {
    fn new(span: Span, sources: &SourceMap) -> Self {
        let at = sources.location(span);
        Self {
            file: Some(at.path.to_string_lossy().into_owned()),
            line: Some(at.line),
            column: Some(at.column),
        }
    }
}

/// Writes diagnostics as JSON, one object per line.
pub fn json<'d>(found: impl IntoIterator<Item = (&'d Diagnostic, &'d SourceMap)>) -> String {
    let line = |(diagnostic, sources): Sourced<'d>| {
        let labels = diagnostic.labels.iter();
        let labels = labels.map(|label| JsonLabel {
            place: JsonPlace::new(label.span, sources),
            message: &label.message,
        });
        let object = JsonDiagnostic {
            severity: diagnostic.severity,
            code: diagnostic.code.as_str(),
            message: &diagnostic.message,
            place: diagnostic.span.map(|span| JsonPlace::new(span, sources)).unwrap_or_default(),
            labels: labels.collect(),
            help: diagnostic.help.as_deref(),
            section: diagnostic.rule.as_ref().map(|rule| rule.section),
            fix: diagnostic.fix(sources).map(|fix| JsonFix::new(fix, sources)),
        };
        // Serialising texts and numbers does not fail.
        serde_json::to_string(&object).unwrap_or_default() + "\n"
    };
    found.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::CodeName;
    use crate::source::FileId;
    use proptest::prelude::*;
    use snapbox::{assert_data_eq, str};

    const SHOP: &str = "é: 1\r\nnodes:\n  mode: manual\n  shop:\n    condtions: [a,\n      b]\n";

    fn span(sources: &SourceMap, file: FileId, part: &str) -> Span {
        let start = sources.file(file).text().find(part).unwrap() as u32;
        Span { file, start, end: start + part.len() as u32 }
    }

    fn plain(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
        super::plain(diagnostics.iter().map(|diagnostic| (diagnostic, sources)))
    }

    #[test]
    fn shows_the_place_what_is_related_and_what_to_do() {
        let sources = SourceMap::default();
        let (shop, types) =
            (sources.add("shop.yaml", SHOP), sources.add("lib/types.yaml", "node_types: {}\n"));
        let diagnostic =
            Diagnostic::error(CodeName::new(&"unknown-keyword"), "unknown keyword `condtions`")
                .at(span(&sources, shop, "condtions"))
                .label(span(&sources, shop, "shop"), "of this node")
                .label(span(&sources, types, "node_types"), "and this type")
                .help("did you mean `conditions`?");
        assert_data_eq!(
            plain(&[diagnostic], &sources),
            str![[r#"
error[unknown-keyword]: unknown keyword `condtions`
 --> shop.yaml:5:5
  |
4 |   shop:
  |   ---- of this node
5 |     condtions: [a,
  |     ^^^^^^^^^
  |
 ::: lib/types.yaml:1:1
  |
1 | node_types: {}
  | ---------- and this type
  |
  = help: did you mean `conditions`?

error: 1 error

"#]]
        );
    }

    #[test]
    fn marks_the_first_line_only_and_counts_columns_in_characters() {
        let sources = SourceMap::default();
        let file = sources.add("shop.yaml", SHOP);
        let list = Diagnostic::warning(CodeName::new(&"duplicate"), "a list").at(span(
            &sources,
            file,
            "[a,\n      b]",
        ));
        let value = Diagnostic::warning(CodeName::new(&"duplicate"), "a value").at(span(
            &sources,
            file,
            "1\r\nnodes",
        ));
        assert_data_eq!(
            plain(&[list, value], &sources),
            str![[r#"
warning[duplicate]: a list
 --> shop.yaml:5:16
  |
5 |     condtions: [a,
  |                ^^^

warning[duplicate]: a value
 --> shop.yaml:1:4
  |
1 | é: 1
  |    ^

warning: 2 warnings

"#]]
        );
    }

    #[test]
    fn a_place_is_not_needed() {
        let sources = SourceMap::default();
        let diagnostics = [
            Diagnostic::error(CodeName::new(&"missing-input"), "input `a` has no value"),
            Diagnostic::error(CodeName::new(&"unknown-preset"), "unknown preset `x`")
                .help("known is `y`"),
            Diagnostic::warning(CodeName::new(&"nondeterminism"), "two"),
        ];
        assert_data_eq!(
            plain(&diagnostics, &sources),
            str![[r#"
error[missing-input]: input `a` has no value

error[unknown-preset]: unknown preset `x`
 |
 = help: known is `y`

warning[nondeterminism]: two

error: 2 errors, 1 warning

"#]]
        );
        assert_eq!(plain(&[], &sources), "");
    }

    #[test]
    fn distant_places_get_excerpts_of_their_own_and_the_diagnostics_comes_first() {
        let sources = SourceMap::default();
        let file =
            sources.add("long.yaml", format!("first: 1\n{}last: 2\n", "x: y\n".repeat(APART)));
        let diagnostic = Diagnostic::error(CodeName::new(&"duplicate"), "twice")
            .at(span(&sources, file, "last"))
            .label(span(&sources, file, "first"), "here before");
        assert_data_eq!(
            plain(&[diagnostic], &sources),
            str![[r#"
error[duplicate]: twice
   --> long.yaml:102:1
    |
102 | last: 2
    | ^^^^
    |
   ::: long.yaml:1:1
    |
  1 | first: 1
    | ----- here before

error: 1 error

"#]]
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let sources = SourceMap::default();
        let file =
            sources.add("long.json", format!("{}needle{}", "é".repeat(5000), "z".repeat(50_000)));
        let text = plain(
            &[Diagnostic::error(CodeName::SYNTAX, "here").at(span(&sources, file, "needle"))],
            &sources,
        );
        assert!(text.contains(" --> long.json:1:5001\n"), "{text}");
        assert!(text.contains("needle") && text.contains("..."), "{text}");
        assert!(text.lines().all(|line| line.chars().count() < 200), "{text}");
    }

    #[test]
    fn colours_only_where_they_are_wanted() {
        let sources = SourceMap::default();
        let file = sources.add("\u{1b}[4m.yaml", "a\u{1b}[31mb: 1\n");
        let at = Span { file, start: 0, end: 1 };
        let diagnostic = Diagnostic::error(CodeName::FILE, "\u{1b}[31m")
            .at(at)
            .label(at, "\u{1b}[1m")
            .help("\u{1b}[2m");
        let plain = super::plain([(&diagnostic, &sources)]);
        assert!(!plain.contains('\u{1b}'));
        let styled = styled([(&diagnostic, &sources)]);
        // Each colour starts with the escape character and ends with an `m`.
        let mut pieces = styled.split('\u{1b}');
        let first = pieces.next().unwrap();
        let rest: Vec<_> = pieces.map(|piece| piece.split_once('m').unwrap().1).collect();
        assert!(!rest.is_empty());
        assert_eq!(format!("{first}{}", rest.concat()), plain);
    }

    #[test]
    fn json_is_one_object_a_line_with_every_key() {
        let sources = SourceMap::default();
        let file = sources.add("shop.yaml", SHOP);
        let placed = Diagnostic::error(CodeName::new(&"duplicate"), "a \"b\"\nc")
            .at(span(&sources, file, "1\r"))
            .label(span(&sources, file, "shop"), "here")
            .help("rename");
        let bare = Diagnostic::warning(CodeName::new(&"nondeterminism"), "two");
        let lines = [
            r#"{"severity":"error","code":"duplicate","message":"a \"b\"\nc","file":"shop.yaml","line":1,"column":4,"#,
            r#""labels":[{"file":"shop.yaml","line":4,"column":3,"message":"here"}],"help":"rename"}"#,
            "\n",
            r#"{"severity":"warning","code":"nondeterminism","message":"two","file":null,"line":null,"column":null,"#,
            r#""labels":[],"help":null}"#,
            "\n",
        ];
        assert_eq!(json([(&placed, &sources), (&bare, &sources)]), lines.concat());
    }

    proptest! {
        #[test]
        fn any_span_in_any_text_is_shown(
            text in "[a é\u{200b}\t\r\n\u{1b}]{0,60}",
            spans in proptest::collection::vec((0u32..140, 0u32..140), 1..5),
        ) {
            let sources = SourceMap::default();
            let file = sources.add("any.yaml", text);
            let mut spans = spans.into_iter().map(|(start, end)| Span { file, start, end });
            let mut diagnostic = Diagnostic::error(CodeName::FILE, "any").at(spans.next());
            for span in spans {
                diagnostic = diagnostic.label(span, "related");
            }
            let text = plain(&[diagnostic], &sources);
            prop_assert!(text.starts_with("error[file]: any\n"));
        }
    }
}
