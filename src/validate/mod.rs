//! Validates a template: reports all errors at once, both under TOSCA Simple Profile 1.3 and as a
//! variable template.
//!
//! A variable template is validated for all its variants. Each alternative is checked on its own.
//! Errors that depend on a combination of elements are only reported if a variant has this
//! combination (`finding`). With a preset or inputs, only the elements of their variant are
//! checked.

mod activity;
mod alternative;
mod artifact;
mod assignment;
mod capability;
mod checker;
mod comparison;
mod condition;
mod conditional;
mod expression;
mod filter;
mod finding;
mod function;
mod group;
mod import;
mod interface;
mod judged;
mod mapping;
mod missing;
mod node;
mod parameter;
mod policy;
mod portability;
mod property;
mod relation;
mod service;
mod substitution;
mod syntax;
mod technology;
#[cfg(test)]
mod tests;
mod v1_0;
mod v2_0;
mod variability;
mod waiting;
mod workflow;

use crate::diagnostic::{Code, Diagnostic, Diagnostics, Severity};
use crate::tosca::load::Loaded;
use crate::variability::check;
use crate::variability::choice::Choice;
use crate::variability::inputs::InputMode;
use crate::variability::prepared::{Interpreted, Prepared};
use crate::variability::presence::Presence;
use crate::variability::resolve::{self, How};
use alternative::{alternatives, is_unknown, types_of};
use checker::Checker;
use conditional::ConditionalFiles;
use cuvee_sat::progress::Progress;
use cuvee_text::answer::Failure;
use cuvee_text::source::SourceMap;
use finding::Finding;
use missing::missing;
use rustc_hash::FxHashSet;
use std::path::Path;
use waiting::Waiting;

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

/// How far a template is validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Only what the text says: syntax, keynames, names, types and values.
    Text,
    /// Also what only some variants have, which a solver has to find.
    Variants,
}

/// The result of a validation in stages, which ends early where it is stopped.
///
/// ```
/// use cuvee::validate::Stage;
/// let shop = cuvee::Resolver::new("examples/shop");
/// let staged = shop.validate_until(Stage::Text);
/// assert!(staged.text().is_some() && staged.variants().is_none());
/// let all = shop.validate_until(Stage::Variants).into_validation();
/// assert_eq!(all.unwrap().diagnostics, shop.validate().diagnostics);
/// ```
#[derive(Clone, Debug)]
pub struct StagedValidation {
    pub(crate) text: Option<Vec<Diagnostic>>,
    pub(crate) variants: Option<Vec<Diagnostic>>,
    pub(crate) all: Vec<Diagnostic>,
    pub(crate) sources: SourceMap,
}

impl StagedValidation {
    /// What the text says, in the order of the files; `None` where the run was stopped before.
    pub fn text(&self) -> Option<&[Diagnostic]> {
        self.text.as_deref()
    }

    /// What variants add to that; `None` where they were not looked at, or the run was stopped.
    pub fn variants(&self) -> Option<&[Diagnostic]> {
        self.variants.as_deref()
    }

    /// The files that were read.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// What [`Resolver::validate`](crate::Resolver::validate) says; `None` where the variants were
    /// not looked at, or the run was stopped.
    pub fn into_validation(self) -> Option<Validation> {
        self.variants
            .is_some()
            .then_some(Validation { diagnostics: self.all, sources: self.sources })
    }
}

/// The diagnostics of stages, in no certain order and with duplicates. A stage that was not reached
/// has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct StageDiagnostics {
    pub text: Option<Vec<Diagnostic>>,
    pub variants: Option<Vec<Diagnostic>>,
}

impl StageDiagnostics {
    /// What is known of both; a stage that one of them lacks is missing.
    fn and(self, other: Self) -> Self {
        let both = |one: Option<Vec<_>>, other: Option<Vec<_>>| Some([one?, other?].concat());
        Self { text: both(self.text, other.text), variants: both(self.variants, other.variants) }
    }

    /// The diagnostics of all stages, in order.
    pub(crate) fn all(&self) -> Vec<Diagnostic> {
        in_order(self.text.iter().chain(&self.variants).flatten().cloned().collect())
    }

    /// The diagnostics of each stage, in order.
    pub(crate) fn in_order(self) -> Self {
        Self { text: self.text.map(in_order), variants: self.variants.map(in_order) }
    }
}

/// The errors of a file that cannot be read are the result of its validation.
impl From<Failure> for Validation {
    fn from(failure: Failure) -> Self {
        Self { diagnostics: failure.diagnostics, sources: failure.sources }
    }
}

/// A template, and a diagnostic with the files that it points into.
type FindingOfTemplate<'v> = (&'v Path, (&'v Diagnostic, &'v SourceMap));

/// All findings in the order of the templates, each with its template. A finding in a file that
/// several templates import is listed once.
pub fn found_once<'v>(
    validated: impl IntoIterator<Item = (&'v Path, &'v Validation)>,
) -> Vec<FindingOfTemplate<'v>> {
    let of_one = |(template, validation): (&'v Path, &'v Validation)| {
        let located = move |found| (template, (found, &validation.sources));
        validation.diagnostics.iter().map(located)
    };
    let mut said = FxHashSet::default();
    let is_new = |(template, (diagnostic, sources)): &FindingOfTemplate<'v>| {
        let place =
            diagnostic.span.map(|span| (sources.file(span.file).path(), span.start, span.end));
        let template = if place.is_none() { Some(*template) } else { None };
        said.insert((template, place, diagnostic.severity, diagnostic.code, &diagnostic.message))
    };
    validated.into_iter().flat_map(of_one).filter(is_new).collect()
}

/// Validates a template in all its variants, or only in the chosen one, as far as this stage. Where
/// the limit of the choice is reached, stages are missing.
pub(crate) fn validate(
    loaded: &Loaded,
    choice: &Choice,
    until: Stage,
    progress: &mut dyn Progress,
) -> StageDiagnostics {
    let one = choice.is_of_one_variant();
    let mode = if one { InputMode::Closed } else { InputMode::Open };
    let choice = choice.tolerant();
    progress.phase("interpreting");
    let validated = Interpreted::of(loaded, &choice).and_then(|interpreted| {
        let prepared = Prepared::of(&interpreted, &choice, mode, progress)?;
        let mut text = prepared.warnings.clone();
        let variants = check_all(&choice, &prepared, one, until, &mut text, progress);
        Ok((text, variants))
    });
    let (text, variants) = validated.unwrap_or_else(|errors| (errors, Diagnostics::default()));
    let is_over = choice.limit.is_over();
    let is_proven = until == Stage::Variants && !is_over;
    StageDiagnostics {
        text: (!is_over).then_some(text.0),
        variants: is_proven.then_some(variants.0),
    }
}

/// Validates a library without a template: its types, and each of its topologies together with the
/// rest.
pub(crate) fn validate_library(
    loaded: &Loaded,
    choice: &Choice,
    until: Stage,
    progress: &mut dyn Progress,
) -> StageDiagnostics {
    let mut diagnostics = validate(loaded, choice, until, progress);
    for template in loaded.templates() {
        diagnostics = diagnostics.and(validate(&template, choice, until, progress));
    }
    diagnostics
}

/// Validates a template and those that its archive lists as substituting nodes. In one variant, these
/// are not looked at, and that is told: its inputs are not theirs.
pub(crate) fn validate_package(
    loaded: &Loaded,
    choice: &Choice,
    until: Stage,
    progress: &mut dyn Progress,
) -> StageDiagnostics {
    let mut diagnostics = validate(loaded, choice, until, progress);
    if choice.is_of_one_variant() {
        let is_some = loaded.package().others().next().is_some();
        if let Some(found) = diagnostics.variants.as_mut().filter(|_| is_some) {
            found.push(others_unjudged(loaded));
        }
        return diagnostics;
    }
    for other in loaded.others() {
        diagnostics = diagnostics.and(match other {
            Ok(other) => validate(&other, choice, until, progress),
            Err(errors) => StageDiagnostics { text: Some(errors.0), variants: Some(Vec::new()) },
        });
    }
    diagnostics
}

/// The note that one variant of a template is judged alone.
fn others_unjudged(loaded: &Loaded) -> Diagnostic {
    let template = loaded.package().template.file_name().unwrap_or_default();
    let message = format!(
        "the templates under `Other-Definitions` are not judged: presets and inputs are those of `{}`",
        template.to_string_lossy()
    );
    let help = "leave presets and inputs out, or validate each of these templates by itself";
    Diagnostic::note(Code::Undecidable, message).help(help)
}

/// Sorts diagnostics by file and place, and removes duplicates.
fn in_order(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let place = |diagnostic: &Diagnostic| (diagnostic.span, diagnostic.code);
    diagnostics.sort_by(|a, b| {
        let [one, other] = [a, b].map(|it| (place(it), it.rule.is_none(), &it.message));
        // What is an error in some variants is no warning only.
        one.cmp(&other).then(b.severity.cmp(&a.severity))
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
    let types = types_of(choice, prepared, &documents, &prepared.links);
    Checker::new(prepared, &types, Some(presence), &documents).wrong_mappings()
}

/// Checks types and elements. What needs no proof goes to `text`; what does, as far as this stage,
/// is returned.
fn check_all(
    choice: &Choice,
    prepared: &Prepared<'_>,
    one: bool,
    until: Stage,
    text: &mut Diagnostics,
    progress: &mut dyn Progress,
) -> Diagnostics {
    let mut proven = Diagnostics::default();
    progress.phase("checking types");
    let whole = prepared.documents.iter().map(|&file| prepared.loaded.whole(file));
    let documents: Vec<_> = whole.filter_map(|document| text.ok(document)).collect();
    let conditional = ConditionalFiles::of(prepared);
    let (mut alternatives, mut findings) = alternatives(choice, prepared, &documents, &conditional);
    let mut of_2_0 = Vec::new();
    for alternative in &mut alternatives {
        text.0.append(&mut alternative.judged.0);
        of_2_0.append(&mut alternative.of_2_0);
    }
    let wants_one = one && until == Stage::Variants;
    let presence = wants_one.then(|| variant(prepared, choice, &mut proven, progress)).flatten();
    if one && presence.is_none() || choice.limit.is_over() {
        v2_0::add(of_2_0, text);
        return proven;
    }
    progress.phase("checking");
    let checkers = alternatives.iter().map(|it| {
        let checker = Checker::new(prepared, &it.types, presence.as_ref(), &it.documents);
        Checker { imports: Some(&it.imports), ..checker }
    });
    let checkers: Vec<_> = checkers.collect();
    for checker in &checkers {
        checker.all(&conditional);
        if choice.is_portable {
            checker.portability();
        }
        findings.append(&mut checker.findings.take());
    }
    // What is missing in some variants only is not asked about before.
    if until == Stage::Variants {
        let found = text.0.iter().chain(findings.iter().map(|finding| &finding.diagnostic));
        let unknown = found.filter(|found| is_unknown(found)).map(|found| found.span).collect();
        let presence = presence.as_ref();
        findings.extend(missing(choice, prepared, &documents, presence, &conditional, unknown));
    }
    // The order of deployment is that of the first one's types.
    let waiting = checkers.first().map_or_else(|| Waiting::new(&prepared.graph), Checker::waiting);
    if let Some(presence) = &presence {
        v2_0::add(of_2_0, text);
        proven.0.extend(in_variant(presence, findings, &waiting));
        return proven;
    }
    let (doubtful, certain): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(Finding::is_doubtful);
    text.0.extend(certain.into_iter().map(|finding| finding.diagnostic));
    v2_0::add(of_2_0, text);
    if until == Stage::Variants && !choice.limit.is_over() {
        finding::in_all_variants(choice, prepared, doubtful, &waiting, &mut proven, progress);
    }
    proven
}

/// What is wrong with a variant.
fn in_variant(
    presence: &Presence,
    findings: Vec<Finding>,
    waiting: &Waiting<'_, '_>,
) -> Vec<Diagnostic> {
    let is_there = |finding: &Finding| finding.when.iter().all(|&id| presence.is(id));
    let found = findings.into_iter().filter(is_there).map(|finding| finding.diagnostic);
    found.chain(waiting.shortest().iter().map(|cycle| waiting.warning(cycle, &[]))).collect()
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
    let how = How { limit: choice.limit.clone(), ..How::default() };
    let found = resolve::find(prepared, &mut evaluator, &how, progress);
    let presence = diagnostics.all_ok(found)?.presence;
    let found = check::check(&prepared.graph, prepared.options, &presence);
    let version = prepared.graph.template.version;
    let mut found = resolve::advised(found, prepared.loaded, version, choice, &how);
    diagnostics.0.append(&mut found.0);
    Some(presence)
}
