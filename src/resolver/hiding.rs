//! Hides the secrets of templates in the excerpts that messages show.

use super::Resolver;
use crate::explore::types;
use crate::topology::sensitive::secret_spans;
use crate::tosca::load::Loaded;
use crate::tosca::sensitive::is_sensitive_name;
use crate::variability::inputs::InputMode;
use cuvee_text::diagnostic::Diagnostic;
use cuvee_text::source::{FileId, SourceMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// For each file the ranges of lines that excerpts may show, in order; none overlaps another.
type ShownLines = FxHashMap<FileId, Vec<Range<u32>>>;

impl Resolver {
    /// Makes diagnostics ready for a caller: answers are told where they were asked for, nothing is
    /// told twice, and excerpts show no secrets.
    pub(super) fn make_ready(&self, loaded: &Loaded, diagnostics: &mut Vec<Diagnostic>) {
        loaded.settle(diagnostics);
        let mut told = FxHashSet::default();
        let news: Vec<bool> = diagnostics.iter().map(|found| told.insert(found)).collect();
        let mut news = news.into_iter();
        diagnostics.retain(|_| news.next() != Some(false));
        self.hide_secrets(loaded, diagnostics);
    }

    /// Hides secrets from the excerpts of diagnostics.
    fn hide_secrets(&self, loaded: &Loaded, diagnostics: &[Diagnostic]) {
        let sources = loaded.sources();
        let shown = shown_lines(diagnostics, sources);
        if shown.is_empty() || self.reveals_secrets {
            return;
        }
        let Ok(types) = types::linked(loaded, &self.choice, InputMode::Open) else {
            return hide_named(sources, diagnostics);
        };
        for document in types.documents() {
            let Some(lines) = shown.get(&document.file()) else { continue };
            let is_asked = |span: Span| {
                let next = lines.partition_point(|it| it.end <= span.start);
                lines.get(next).is_some_and(|it| it.start < span.end)
            };
            secret_spans(document, &types, &is_asked, &mut |span| sources.hide(span));
        }
        let known: Vec<_> = types.documents().iter().map(|document| document.file()).collect();
        let is_elsewhere = |it: &&Diagnostic| places(it).any(|at| !known.contains(&at.file));
        hide_named(sources, diagnostics.iter().filter(is_elsewhere));
    }
}

/// The places whose lines the excerpt of a diagnostic shows.
fn places(diagnostic: &Diagnostic) -> impl Iterator<Item = Span> + '_ {
    diagnostic.span.into_iter().chain(diagnostic.labels.iter().map(|label| label.span))
}

/// The lines that the excerpts of diagnostics may show. What is between two places is shown, too.
fn shown_lines(diagnostics: &[Diagnostic], sources: &SourceMap) -> ShownLines {
    let mut shown = ShownLines::default();
    for diagnostic in diagnostics {
        let mut own: FxHashMap<FileId, Range<u32>> = FxHashMap::default();
        for span in places(diagnostic) {
            let line = sources.line_range(span);
            let (start, end) = (line.start as u32, (line.end as u32).max(span.end));
            let range = own.entry(span.file).or_insert(start..end);
            *range = range.start.min(start)..range.end.max(end);
        }
        for (file, range) in own {
            shown.entry(file).or_default().push(range);
        }
    }
    shown.values_mut().for_each(join);
    shown
}

/// Sorts ranges, and joins those that overlap.
fn join(ranges: &mut Vec<Range<u32>>) {
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, before| {
        let overlap = next.start < before.end;
        if overlap {
            before.end = before.end.max(next.end);
        }
        overlap
    });
}

/// Hides what comes behind names of secrets in the lines of diagnostics. This is for files of which
/// nothing else is known, for example because they are no YAML.
pub(super) fn hide_named<'d>(
    sources: &SourceMap,
    diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
) {
    for diagnostic in diagnostics {
        for span in places(diagnostic) {
            let line = sources.line_range(span);
            let text = sources.line(span);
            let is_of_name = |c: char| c.is_alphanumeric() || "_-".contains(c);
            let secret = text.match_indices([':', '=']).find(|(at, _)| {
                let before = text[..*at].trim_end_matches(['"', '\'', ' ']);
                let name = before.rsplit(|c| !is_of_name(c)).next().unwrap_or_default();
                is_sensitive_name(name)
            });
            if let Some((at, _)) = secret {
                let rest = &text[at + 1..];
                let start = line.start + at + 1 + (rest.len() - rest.trim_start().len());
                let (start, end) = (start as u32, line.end as u32);
                sources.hide(Span { file: span.file, start, end });
            }
        }
    }
}
