//! Validation: everything that is wrong with a template by TOSCA Simple Profile 1.3 and as a
//! variable template, at once.
//!
//! A variable template is validated for all its variants: what one alternative says is judged
//! alone, and what is wrong only where elements come together is asked of the variants (`finding`).
//! With a preset or inputs, only what is present in their variant counts.

mod activity;
mod artifact;
mod assignment;
mod capability;
mod checker;
mod condition;
mod expression;
mod filter;
mod finding;
mod function;
mod group;
mod import;
mod interface;
mod mapping;
mod node;
mod parameter;
mod policy;
mod portability;
mod property;
mod relation;
mod service;
mod substitution;
mod syntax;
#[cfg(test)]
mod tests;
mod v1_0;
mod variability;
mod waiting;
mod workflow;

use crate::sat::progress::Progress;
use crate::text::answer::Failure;
use crate::text::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::text::source::SourceMap;
use crate::tosca::Types;
use crate::tosca::load::Loaded;
use crate::variability::check;
use crate::variability::choice::Choice;
use crate::variability::graph::VARIABILITY_GROUPS;
use crate::variability::inputs::InputMode;
use crate::variability::prepared::{Interpreted, Prepared};
use crate::variability::resolve::{self, How};
use checker::Checker;

pub(crate) use v1_0::validate_definitions;

/// What validation found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Validation {
    /// Everything, in the order of the files.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that were read.
    pub sources: SourceMap,
}

impl Validation {
    /// Whether nothing is wrong; with `strict` not even a warning is given.
    pub fn is_valid(&self, strict: bool) -> bool {
        let worst = if strict { Severity::Note } else { Severity::Warning };
        self.diagnostics.iter().all(|diagnostic| diagnostic.severity <= worst)
    }

    /// As the command shows it, with the line of each place; in text without colours.
    #[cfg(feature = "render")]
    pub fn render(&self) -> String {
        let found = self.diagnostics.iter().map(|diagnostic| (diagnostic, &self.sources));
        crate::text::render::plain(found)
    }

    /// Takes warnings for errors; notes stay notes.
    pub fn strict(mut self) -> Self {
        let warnings = self
            .diagnostics
            .iter_mut()
            .filter(|diagnostic| diagnostic.severity == Severity::Warning);
        warnings.for_each(|warning| warning.severity = Severity::Error);
        self
    }
}

/// What cannot even be read is wrong, too.
impl From<Failure> for Validation {
    fn from(failure: Failure) -> Self {
        Self { diagnostics: failure.diagnostics, sources: failure.sources }
    }
}

/// Validates the template in all its variants; where one is chosen, that alone.
pub(crate) fn validate(
    loaded: &Loaded,
    choice: &Choice,
    progress: &mut dyn Progress,
) -> Vec<Diagnostic> {
    let one = choice.is_of_one_variant();
    let mode = if one { InputMode::Closed } else { InputMode::Open };
    let choice = choice.tolerant();
    progress.phase("interpreting");
    let validated = Interpreted::of(loaded, &choice).and_then(|interpreted| {
        let prepared = Prepared::of(&interpreted, &choice, mode, progress)?;
        let mut diagnostics = prepared.warnings.clone();
        check_all(&choice, &prepared, one, &mut diagnostics, progress);
        Ok(diagnostics)
    });
    let Diagnostics(diagnostics) = validated.unwrap_or_else(|errors| errors);
    in_order(diagnostics)
}

/// Validates a library without a template: its types, and each topology in it beside all others.
pub(crate) fn validate_library(
    loaded: &Loaded,
    choice: &Choice,
    progress: &mut dyn Progress,
) -> Vec<Diagnostic> {
    let mut diagnostics = validate(loaded, choice, progress);
    for template in loaded.templates() {
        diagnostics.extend(validate(&template, choice, progress));
    }
    in_order(diagnostics)
}

/// In the order of the files, and each mistake once.
fn in_order(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let place = |diagnostic: &Diagnostic| (diagnostic.span, diagnostic.code);
    diagnostics.sort_by(|a, b| {
        (place(a), a.rule.is_none(), &a.message).cmp(&(place(b), b.rule.is_none(), &b.message))
    });
    // What resolving and the type system both notice is one mistake, of which the latter knows
    // the section, or the former better what to do.
    diagnostics.dedup_by(|next, kept| {
        place(next) == place(kept)
            && (next.message == kept.message || next.rule.is_none() && kept.rule.is_some())
    });
    diagnostics
}

fn check_all(
    choice: &Choice,
    prepared: &Prepared<'_>,
    one: bool,
    diagnostics: &mut Diagnostics,
    progress: &mut dyn Progress,
) {
    progress.phase("checking types");
    let whole = prepared.documents.iter().map(|&file| prepared.loaded.whole(file));
    let documents: Vec<_> = whole.filter_map(|document| diagnostics.ok(document)).collect();
    let types = Types::linked(
        choice.beside_profiles(&documents, prepared.sources()),
        &prepared.links,
        &VARIABILITY_GROUPS,
    );
    diagnostics.0.append(&mut types.validate().0);
    import::check(&documents, &types, diagnostics);
    let presence = if one { variant(prepared, choice, diagnostics, progress) } else { None };
    if one && presence.is_none() {
        return;
    }
    progress.phase("checking");
    let checker = Checker::new(prepared, &types, presence.as_ref(), &documents);
    checker.all();
    if choice.is_portable {
        checker.portability();
    }
    let waiting = checker.waiting();
    let findings = checker.findings.into_inner();
    match &presence {
        Some(_) => {
            diagnostics.0.extend(findings.into_iter().map(|finding| finding.diagnostic));
            let cycles = waiting.shortest();
            diagnostics.0.extend(cycles.iter().map(|cycle| waiting.warning(cycle, &[])));
        }
        None => finding::in_all_variants(prepared, findings, &waiting, diagnostics, progress),
    }
}

/// What is present in the variant of the inputs, with what its checks say; nothing where there is
/// no variant.
fn variant(
    prepared: &Prepared<'_>,
    choice: &Choice,
    diagnostics: &mut Diagnostics,
    progress: &mut dyn Progress,
) -> Option<crate::variability::presence::Presence> {
    diagnostics.0.extend(prepared.violations.0.iter().cloned());
    let mut evaluator = prepared.evaluator();
    let found = resolve::find(prepared, &mut evaluator, &How::default(), progress);
    let presence = diagnostics.all_ok(found)?.presence;
    let found = check::check(&prepared.graph, prepared.options, &presence);
    let version = prepared.graph.template.version;
    let mut found = resolve::advised(found, prepared.loaded, version, choice, &How::default());
    diagnostics.0.append(&mut found.0);
    Some(presence)
}
