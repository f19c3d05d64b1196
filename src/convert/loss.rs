//! Reports what a conversion cannot express in the other format, for people and for programs.
//!
//! Every part of a document is either mapped, kept as an extension, or listed in this report. The
//! entries are in the order of the document.

use crate::diagnostic::{Code, Diagnostic, Severity};
use cuvee_text::source::{SourceMap, Span};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// How many losses are shown as messages; the report contains all.
const TOLD: usize = 20;

/// The treatment of a part that has no counterpart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LossKind {
    /// The part is dropped, or nothing enforces it any more.
    Lost,
    /// The part is kept in an extension. It can be converted back from there, and others may ignore
    /// it.
    KeptAsExtension,
    /// Something had to be added that the document does not contain.
    Supplied,
    /// The part is kept as text that is not interpreted.
    Opaque,
}

impl LossKind {
    /// The kind as the predicate of a message.
    fn verb(self) -> &'static str {
        match self {
            Self::Lost => "is lost",
            Self::KeptAsExtension => "is kept as an extension",
            Self::Supplied => "is supplied",
            Self::Opaque => "is kept as text",
        }
    }

    fn severity(self) -> Severity {
        match self {
            Self::Lost => Severity::Warning,
            Self::KeptAsExtension | Self::Supplied | Self::Opaque => Severity::Note,
        }
    }
}

/// A part that a conversion could not simply map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The path in the source: XML elements below the root, each with its id or name, or keys of
    /// YAML.
    pub path: String,
    /// The place in the source.
    pub span: Option<Span>,
    /// The name of the part for messages.
    pub construct: String,
    /// The reason why it has no counterpart.
    pub why: String,
    /// The treatment of the part.
    pub kind: LossKind,
}

impl Loss {
    /// The loss as a message that also stands for `count - 1` similar ones.
    fn diagnostic(&self, count: usize) -> Diagnostic {
        let mut message = format!("{} {}: {}", self.construct, self.kind.verb(), self.why);
        if count > 1 {
            message.push_str(&format!(" ({count} times)"));
        }
        let found = Diagnostic::note(Code::ConversionLoss, message).at(self.span);
        found.with_severity(self.kind.severity())
    }
}

/// All parts that a conversion could not simply map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    entries: Vec<Loss>,
}

impl Losses {
    /// Adds a loss.
    pub fn push(&mut self, loss: Loss) {
        self.entries.push(loss);
    }

    /// Adds several losses.
    pub fn extend(&mut self, others: impl IntoIterator<Item = Loss>) {
        self.entries.extend(others);
    }

    /// Says what else follows from the last loss behind the first `count` ones.
    pub(super) fn add_why(&mut self, count: usize, more: &str) {
        if let Some(loss) = self.entries.get_mut(count..).and_then(<[Loss]>::last_mut) {
            loss.why.push_str(&format!(", {more}"));
        }
    }

    /// Keeps only the losses for which `stays` is true.
    pub(super) fn retain(&mut self, stays: impl Fn(&Loss) -> bool) {
        self.retain_behind(0, stays);
    }

    /// The same of those behind the first `count` losses only.
    pub(super) fn retain_behind(&mut self, count: usize, stays: impl Fn(&Loss) -> bool) {
        let mut at = 0..;
        self.entries.retain(|loss| at.next() < Some(count) || stays(loss));
    }

    /// Sorts the losses by their place in the document, and removes duplicates; losses without a
    /// place come last.
    pub fn ordered(mut self) -> Self {
        let place =
            |loss: &Loss| (loss.span.is_none(), loss.span.map(|span| (span.file, span.start)));
        self.entries.sort_by(|one, other| {
            let key = |loss: &Loss| (place(loss), loss.kind);
            (key(one), &one.path, &one.construct).cmp(&(key(other), &other.path, &other.construct))
        });
        self.entries.dedup();
        self
    }

    /// The entries, in the order in which they are reported.
    pub fn entries(&self) -> &[Loss] {
        &self.entries
    }

    /// Whether anything is lost.
    pub fn has_lost(&self) -> bool {
        self.entries.iter().any(|loss| loss.kind == LossKind::Lost)
    }

    /// The first losses as messages; similar ones are merged, and the remaining ones counted.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut alike: Vec<(&Loss, usize)> = Vec::new();
        let mut places: FxHashMap<(LossKind, &str, &str), usize> = FxHashMap::default();
        for loss in &self.entries {
            let at = *places.entry((loss.kind, &loss.construct, &loss.why)).or_insert(alike.len());
            match alike.get_mut(at) {
                Some((_, count)) => *count += 1,
                None => alike.push((loss, 1)),
            }
        }
        let told = alike.iter().take(TOLD).map(|(loss, count)| loss.diagnostic(*count));
        let mut told: Vec<_> = told.collect();
        let rest = alike.get(TOLD..).unwrap_or_default();
        if !rest.is_empty() {
            let count: usize = rest.iter().map(|(_, count)| count).sum();
            let lost = rest.iter().filter(|(loss, _)| loss.kind == LossKind::Lost);
            let lost: usize = lost.map(|(_, count)| count).sum();
            let message =
                format!("{count} more parts have no exact counterpart, of which {lost} are lost");
            let more = match lost {
                0 => Diagnostic::note(Code::ConversionLoss, message),
                _ => Diagnostic::warning(Code::ConversionLoss, message),
            };
            told.push(more.help("write all of them to a file with `--loss FILE`"));
        }
        told
    }

    /// The report in its serialisable form.
    pub fn report(&self, sources: &SourceMap) -> LossReport {
        let entries = self.entries.iter().map(|loss| LossEntry {
            path: loss.path.clone(),
            place: loss.span.map(|span| sources.place(span)),
            construct: loss.construct.clone(),
            why: loss.why.clone(),
            kind: loss.kind,
        });
        LossReport { entries: entries.collect() }
    }
}

/// The report that `--loss` writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LossReport {
    /// The entries, in the order of the document.
    pub entries: Vec<LossEntry>,
}

/// An entry of the report: a part that a conversion could not simply map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LossEntry {
    /// The path in the source.
    pub path: String,
    /// The file, line and column, if the part has a place.
    pub place: Option<String>,
    /// The name of the part.
    pub construct: String,
    /// The reason why it has no counterpart.
    pub why: String,
    /// The treatment of the part.
    pub kind: LossKind,
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuvee_text::source::FileId;

    fn loss(start: Option<u32>, kind: LossKind) -> Loss {
        Loss {
            path: format!("NodeType[A]/@x{}", start.unwrap_or_default()),
            span: start.map(|start| Span { file: FileId::new(0), start, end: start + 1 }),
            construct: "`abstract`".into(),
            why: "nothing enforces it".into(),
            kind,
        }
    }

    #[test]
    fn is_in_the_order_of_the_document_and_says_everything_once() {
        let mut losses = Losses::default();
        losses.push(loss(None, LossKind::Lost));
        losses.extend([8, 4, 8].map(|start| loss(Some(start), LossKind::Supplied)));
        let losses = losses.ordered();
        let places: Vec<_> = losses.entries().iter().map(|it| it.span.map(|it| it.start)).collect();
        assert_eq!(places, [Some(4), Some(8), None]);
        assert!(losses.has_lost());
        assert_eq!(losses.diagnostics()[1].code, Code::ConversionLoss);
        let severities: Vec<_> = losses.diagnostics().iter().map(|it| it.severity).collect();
        assert_eq!(severities, [Severity::Note, Severity::Warning]);
    }

    #[test]
    fn tells_what_is_alike_once() {
        let mut losses = Losses::default();
        losses.extend((0..3).map(|start| loss(Some(start), LossKind::Lost)));
        losses.push(loss(Some(9), LossKind::Supplied));
        let told = losses.ordered().diagnostics();
        let told: Vec<_> = told.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(
            told,
            [
                "`abstract` is lost: nothing enforces it (3 times)",
                "`abstract` is supplied: nothing enforces it"
            ]
        );
    }

    #[test]
    fn tells_twenty_and_counts_the_rest() {
        let mut losses = Losses::default();
        losses.extend((0..30).map(|start| Loss {
            construct: format!("`{start}`"),
            ..loss(Some(start), if start > 27 { LossKind::Lost } else { LossKind::Opaque })
        }));
        let told = losses.ordered().diagnostics();
        assert_eq!(told.len(), 21);
        assert_eq!(
            told[20].message,
            "10 more parts have no exact counterpart, of which 2 are lost"
        );
        assert_eq!(told[20].severity, Severity::Warning);
    }
}
