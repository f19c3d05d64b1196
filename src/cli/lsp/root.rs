//! Holds what is known of each template that is judged.

use super::diagnostics::{FoundByFile, PublishedFinding, WorkerReport};
use super::documents::moved;
use super::protocol::{Encoding, TextChange};
use super::settings::ShownPreset;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A template, or a library that no open template imports.
#[derive(Default)]
pub(super) struct JudgedRoot {
    /// The files that it was read from; none as long as it was not read.
    pub files: BTreeSet<PathBuf>,
    /// What its text says; `None` where that is not known of the text as it is now.
    pub text: Option<FoundByFile>,
    /// What only variants have, as far as it is known, at places of the text as it is now.
    pub variants: FoundByFile,
    /// Everything, if the variants were looked at since the last change.
    pub proven: Option<FoundByFile>,
    /// The run that finds out what the text says.
    pub text_run: Option<u64>,
    /// The run that looks at variants.
    pub variants_run: Option<u64>,
    /// The run that finds out what the shown variant does not have.
    pub absent_run: Option<u64>,
    /// The preset that is shown.
    pub shown: Option<ShownPreset>,
    /// When the text last changed, if variants are to be looked at.
    pub is_due: Option<Instant>,
    /// Whether some file could not be parsed.
    pub is_broken: bool,
}

impl JudgedRoot {
    /// Whether a file belongs to the template. Of one that was never read, any file may.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.files.is_empty() || self.files.contains(path)
    }

    /// What is to be shown of a file.
    pub(super) fn shown(&self, path: &Path) -> Vec<PublishedFinding> {
        if let Some(proven) = &self.proven {
            return proven.get(path).cloned().unwrap_or_default();
        }
        let text = self.text.as_ref().and_then(|found| found.get(path));
        let mut shown: Vec<_> = text.into_iter().flatten().collect();
        let mut known: BTreeSet<_> = shown.iter().map(|it| (it.range, &it.code)).collect();
        let variants = self.variants.get(path).into_iter().flatten();
        shown.extend(variants.filter(|it| known.insert((it.range, &it.code))));
        shown.into_iter().cloned().collect()
    }

    /// The files in which something was found.
    pub(super) fn found_in(&self) -> impl Iterator<Item = &PathBuf> {
        let all = [self.proven.as_ref(), self.text.as_ref(), Some(&self.variants)];
        all.into_iter().flatten().flat_map(|found| found.keys())
    }

    /// Takes over what the text says.
    pub(super) fn set_text(&mut self, report: WorkerReport) {
        (self.text_run, self.is_broken) = (None, report.is_broken);
        self.files = report.files.into_iter().collect();
        self.text = Some(report.found);
    }

    /// Takes over what variants have.
    pub(super) fn set_variants(&mut self, report: WorkerReport) {
        self.variants_run = None;
        self.variants = report.variants.unwrap_or_default();
        self.proven = Some(report.found);
    }

    /// Moves what is known of variants, as the text of a file changes.
    pub(super) fn change(&mut self, path: &Path, change: &TextChange, encoding: Encoding) {
        if let Some(shown) = &mut self.shown {
            shown.change(path, change, encoding);
        }
        if let Some(found) = self.variants.get_mut(path) {
            found.retain_mut(|finding| match moved(finding.range, change, encoding) {
                Some(range) => {
                    finding.range = range;
                    true
                }
                None => false,
            });
        }
    }
}
