//! Validates a template: reports all errors at once, both under TOSCA Simple Profile 1.3 and as a
//! variable template.
//!
//! A variable template is validated for all its variants. Each alternative is checked on its own.
//! Errors that depend on a combination of elements are only reported if a variant has this
//! combination (`finding`). With a preset or inputs, only the elements of their variant are
//! checked.

mod activity;
mod artifact;
mod assignment;
mod capability;
mod checker;
mod comparison;
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

use crate::diagnostic::{Code, Diagnostic, Diagnostics, Severity};
use crate::tosca::Types;
use crate::tosca::load::Loaded;
use crate::variability::check;
use crate::variability::choice::Choice;
use crate::variability::graph::VARIABILITY_GROUPS;
use crate::variability::inputs::InputMode;
use crate::variability::prepared::{Interpreted, Prepared};
use crate::variability::presence::Presence;
use crate::variability::resolve::{self, How};
use checker::Checker;
use cuvee_sat::progress::Progress;
use cuvee_text::answer::Failure;
use cuvee_text::source::SourceMap;
use cuvee_text::yaml::Document;

pub(crate) use v1_0::validate_definitions;

/// The result of a validation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Validation {
    /// All diagnostics, in the order of the files.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that were read.
    pub sources: SourceMap,
}

impl Validation {
    /// Whether there are no errors; with `strict`, also no warnings.
    pub fn is_valid(&self, strict: bool) -> bool {
        let worst = if strict { Severity::Note } else { Severity::Warning };
        self.diagnostics.iter().all(|diagnostic| diagnostic.severity <= worst)
    }

    /// The diagnostics as the command line shows them, with the source line of each place, but
    /// without colours.
    #[cfg(feature = "render")]
    pub fn render(&self) -> String {
        let found = self.diagnostics.iter().map(|diagnostic| (diagnostic, &self.sources));
        cuvee_text::render::plain(found)
    }

    /// Turns warnings into errors; notes stay notes.
    pub fn strict(mut self) -> Self {
        let warnings = self
            .diagnostics
            .iter_mut()
            .filter(|diagnostic| diagnostic.severity == Severity::Warning);
        warnings.for_each(|warning| warning.severity = Severity::Error);
        self
    }
}

/// The errors of a file that cannot be read are the result of its validation.
impl From<Failure> for Validation {
    fn from(failure: Failure) -> Self {
        Self { diagnostics: failure.diagnostics, sources: failure.sources }
    }
}

/// Validates a template in all its variants, or only in the chosen one.
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

/// Validates a library without a template: its types, and each of its topologies together with the
/// rest.
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

/// Sorts diagnostics by file and place, and removes duplicates.
fn in_order(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let place = |diagnostic: &Diagnostic| (diagnostic.span, diagnostic.code);
    diagnostics.sort_by(|a, b| {
        (place(a), a.rule.is_none(), &a.message).cmp(&(place(b), b.rule.is_none(), &b.message))
    });
    // The resolver and the type system may notice the same error. The latter knows the section of
    // the specification; the former may have better help. A key is wrong only once.
    diagnostics.dedup_by(|next, kept| {
        place(next) == place(kept)
            && (next.message == kept.message
                || next.rule.is_none() && kept.rule.is_some()
                || next.code == Code::UnknownKeyword)
    });
    diagnostics
}

/// The errors in the substitution mapping of a variant.
pub(crate) fn wrong_mappings(
    choice: &Choice,
    prepared: &Prepared<'_>,
    presence: &Presence,
) -> Vec<Diagnostic> {
    let whole = prepared.documents.iter().map(|&file| prepared.loaded.whole(file));
    let documents: Vec<_> = whole.filter_map(Result::ok).collect();
    let types = types_of(choice, prepared, &documents);
    Checker::new(prepared, &types, Some(presence), &documents).wrong_mappings()
}

fn types_of<'p>(
    choice: &Choice,
    prepared: &'p Prepared<'_>,
    documents: &[&'p Document],
) -> Types<'p> {
    let documents = choice.beside_profiles(documents, prepared.sources());
    Types::linked(documents, &prepared.links, &VARIABILITY_GROUPS)
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
    let types = types_of(choice, prepared, &documents);
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
        None => {
            finding::in_all_variants(choice, prepared, findings, &waiting, diagnostics, progress)
        }
    }
}

/// The presence of elements in the variant of the inputs, with the diagnostics of its checks;
/// `None` if there is no variant.
fn variant(
    prepared: &Prepared<'_>,
    choice: &Choice,
    diagnostics: &mut Diagnostics,
    progress: &mut dyn Progress,
) -> Option<Presence> {
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
