//! Writes diagnostics as the protocol has them.

use super::place::{self, uri_of};
use super::protocol::{Encoding, Range};
use cuvee::diagnostic::{Code, Diagnostic, Severity};
use cuvee::editor::range;
use cuvee::explore::Answer;
use cuvee::source::{SourceMap, Span, normalize};
use cuvee::validate::StagedValidation;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What was found in each file, by its path.
pub(super) type FoundByFile = BTreeMap<PathBuf, Vec<PublishedFinding>>;

/// A diagnostic as it is published.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PublishedFinding {
    pub range: Range,
    pub severity: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_description: Option<CodeDescription>,
    pub source: String,
    pub message: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related_information: Vec<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<FindingData>,
}

impl PublishedFinding {
    /// A warning of the server itself, about a text as a whole.
    pub(super) fn note(message: &str) -> Self {
        Self {
            range: Range::default(),
            severity: 2,
            code: None,
            code_description: None,
            source: "cuvee".to_owned(),
            message: message.to_owned(),
            related_information: Vec::new(),
            tags: Vec::new(),
            data: None,
        }
    }
}

/// Where a code is explained.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct CodeDescription {
    pub href: String,
}

/// What removes a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FindingData {
    pub range: Range,
    pub new_text: String,
    pub title: String,
}

/// What a worker found in a template.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct WorkerReport {
    /// The files that were read.
    pub files: Vec<PathBuf>,
    /// All that was found.
    pub found: FoundByFile,
    /// What of it only variants have, if they were looked at.
    pub variants: Option<FoundByFile>,
    /// Whether some file could not be parsed.
    pub is_broken: bool,
}

/// The report of what a text says; `None` if the run was stopped.
pub(super) fn of_text(staged: &StagedValidation, encoding: Encoding) -> Option<Value> {
    let writer = Writer { sources: staged.sources(), encoding };
    let text = staged.text()?;
    let is_broken = text.iter().any(|found| found.code == Code::Syntax);
    let report = WorkerReport {
        files: writer.files(),
        found: writer.by_file(text),
        variants: None,
        is_broken,
    };
    serde_json::to_value(report).ok()
}

/// The report of what all variants have, and of what none has; `None` if the run was stopped.
pub(super) fn of_variants(
    staged: StagedValidation,
    dead: Option<Answer<Vec<Diagnostic>>>,
    encoding: Encoding,
) -> Option<Value> {
    let sources = staged.sources().clone();
    let writer = Writer { sources: &sources, encoding };
    let mut variants = writer.by_file(staged.variants()?);
    let all = staged.into_validation()?;
    let mut found = writer.by_file(&all.diagnostics);
    if let Some(Answer { result, sources, .. }) = &dead {
        for (path, dead) in (Writer { sources, encoding }).by_file(result) {
            found.entry(path.clone()).or_default().extend(dead.iter().cloned());
            variants.entry(path).or_default().extend(dead);
        }
    }
    let report =
        WorkerReport { files: writer.files(), found, variants: Some(variants), is_broken: false };
    serde_json::to_value(report).ok()
}

struct Writer<'s> {
    sources: &'s SourceMap,
    encoding: Encoding,
}

impl Writer<'_> {
    fn files(&self) -> Vec<PathBuf> {
        self.sources.files().map(|file| normalize(file.path())).collect()
    }

    fn by_file(&self, found: &[Diagnostic]) -> FoundByFile {
        let mut by_file = FoundByFile::new();
        let first = self.sources.files().next().map(|file| normalize(file.path()));
        for found in found {
            let path = match found.span {
                // A built-in file is not open in an editor, and nobody can change it.
                Some(span) if span.file.is_built_in() => continue,
                Some(span) => Some(normalize(self.sources.file(span.file).path())),
                // What has no place is about the template.
                None => first.clone(),
            };
            if let Some(path) = path {
                by_file.entry(path).or_default().push(self.finding(found));
            }
        }
        by_file
    }

    fn finding(&self, found: &Diagnostic) -> PublishedFinding {
        let start = Range::default();
        let range = found.span.map_or(start, |span| self.range(span));
        let fix = found.fix(self.sources).map(|fix| FindingData {
            range: self.range(fix.span),
            title: format!("Replace by `{}`", fix.replacement),
            new_text: fix.replacement,
        });
        let help = found.help.as_deref().filter(|_| fix.is_none());
        let rule = found.rule.as_ref().map(|rule| format!("({rule})"));
        let message = [Some(found.message.as_str()), help, rule.as_deref()];
        let message: Vec<_> = message.into_iter().flatten().collect();
        // The editor shows as unnecessary what no variant has, which is no mistake.
        let is_dead = found.code == Code::DeadElement;
        PublishedFinding {
            range,
            severity: match found.severity {
                _ if is_dead => 4,
                Severity::Error => 1,
                Severity::Warning => 2,
                _ => 3,
            },
            code: Some(found.code.as_str().to_owned()),
            code_description: Some(CodeDescription { href: place::uri_of_code(found.code) }),
            source: "cuvee".to_owned(),
            message: message.join("\n"),
            related_information: found.labels.iter().filter_map(|it| self.related(it)).collect(),
            tags: if is_dead { vec![1] } else { Vec::new() },
            data: fix,
        }
    }

    fn related(&self, label: &cuvee::diagnostic::Label) -> Option<Value> {
        let file = self.sources.file(label.span.file);
        let is_there = !label.span.file.is_built_in();
        is_there.then(|| {
            json!({
                "location": { "uri": uri_of(file.path()), "range": self.range(label.span) },
                "message": label.message,
            })
        })
    }

    fn range(&self, span: Span) -> Range {
        range(self.sources, span, self.encoding)
    }
}
