//! Decides about errors that depend on the variant: a finding names the elements it depends on, and
//! the space of variants tells whether such a variant exists.

use super::waiting::Waiting;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::explore::{Assigned, Opened, Space, flags, literal};
use crate::variability::advice::{self, with_mode};
use crate::variability::check;
use crate::variability::choice::Choice;
use crate::variability::graph::ElementId;
use crate::variability::inputs::InputMode;
use crate::variability::prepared::{Interpreted, Prepared};
use crate::variability::resolve;
use cuvee_sat::progress::Progress;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// An error in all variants in which all of `when` and none of `unless` are present.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub diagnostic: Diagnostic,
    pub when: Vec<ElementId>,
    pub unless: Vec<ElementId>,
}

impl Finding {
    /// Whether the finding depends on more than the presence of one element, so that possibly no
    /// variant has it.
    pub(super) fn is_doubtful(&self) -> bool {
        self.when.len() > 1 || !self.unless.is_empty()
    }
}

/// A choice among imports that clash: what is checked with it is said of the variants that have just
/// these.
#[derive(Debug, Default)]
pub(super) struct ChosenImports {
    pub with: Vec<ElementId>,
    pub without: Vec<ElementId>,
}

/// Reports the doubtful findings that some variant has. If a finding depends on a combination of
/// elements, the message names inputs that lead to such a variant.
pub(super) fn in_all_variants(
    choice: &Choice,
    prepared: &Prepared<'_>,
    mut doubtful: Vec<Finding>,
    waiting: &Waiting<'_, '_>,
    diagnostics: &mut Diagnostics,
    progress: &mut dyn Progress,
) {
    let references = check::may_dangle(&prepared.graph, prepared.options);
    doubtful.extend(references.filter_map(|reference| {
        Some(Finding {
            diagnostic: check::dangles(&reference, &prepared.graph)?,
            when: reference.from.into_iter().collect(),
            unless: reference.targets.clone(),
        })
    }));
    let space = Opened::new(prepared, true, progress)
        .and_then(|opened| Space::new(prepared, opened, progress));
    if choice.limit.is_over() {
        return;
    }
    progress.phase("looking for wrong variants");
    match space {
        Ok(space) => ask(choice, prepared, &space, doubtful, waiting, diagnostics),
        Err(errors) => {
            doubtful.extend(waiting.shortest().iter().map(|cycle| Finding {
                diagnostic: waiting.warning(cycle, &[]),
                when: waiting.on(cycle),
                unless: Vec::new(),
            }));
            undecided(errors, doubtful, diagnostics);
        }
    }
}

fn ask(
    choice: &Choice,
    prepared: &Prepared<'_>,
    space: &Space<'_, '_>,
    doubtful: Vec<Finding>,
    waiting: &Waiting<'_, '_>,
    diagnostics: &mut Diagnostics,
) {
    let happens = |finding: &Finding| {
        // What is inside of an absent element is in no variant.
        let container = |id: &ElementId| prepared.graph.element(*id).container;
        let with_outer = |&id: &ElementId| std::iter::successors(Some(id), container);
        let present = finding.when.iter().flat_map(with_outer).map(literal);
        present.chain(finding.unless.iter().map(|&id| !literal(id))).collect()
    };
    let found = space.valid_with(&doubtful.iter().map(happens).collect::<Vec<_>>());
    if choice.limit.is_over() {
        return;
    }
    let Some(found) = found else {
        let void = space.void_with(|| {
            let mode = helpful_mode(choice, prepared)?;
            Some(format!("with `options: {{mode: {mode}}}` there are variants"))
        });
        let place = void.span.or(Some(prepared.graph.template.root.span()));
        return diagnostics.push(void.at(place));
    };
    // Several reasons for one diagnostic need one example.
    let mut said = FxHashSet::default();
    for (Finding { diagnostic, .. }, inputs) in doubtful.into_iter().zip(found) {
        let Some(inputs) = inputs else { continue };
        if said.insert((diagnostic.span, diagnostic.message.clone())) {
            diagnostics.push(in_variant(diagnostic, &inputs));
        }
    }
    for (diagnostic, inputs) in space.rejected_references() {
        diagnostics.push(in_variant(diagnostic, &inputs));
    }
    for (cycle, inputs) in space.cycles(waiting.edges(), &|edge| waiting.literals(edge)) {
        diagnostics.push(waiting.warning(&cycle, &inputs));
    }
}

/// A pruning mode in which there are variants, if one is quickly found: one in which the default
/// inputs have a variant, or one that leaves no choice, so that no best variants have to be
/// compared.
fn helpful_mode(choice: &Choice, prepared: &Prepared<'_>) -> Option<&'static str> {
    let modes = || advice::modes(prepared.graph.template.version);
    let resolves =
        |mode: &&str| resolve::resolves(prepared.loaded, &with_mode(choice, mode), &choice.limit);
    let has_variants = |mode: &&str| {
        let choice = with_mode(choice, mode);
        let interpreted = Interpreted::of(prepared.loaded, &choice)?;
        let prepared = Prepared::of(&interpreted, &choice, InputMode::Open, &mut ())?;
        let opened = Opened::new(&prepared, true, &mut ())?;
        let space = Space::within(0, &prepared, opened, &mut ())?;
        Ok::<_, Diagnostics>(space.valid_with(&[]).is_some())
    };
    let by_defaults = modes().find(resolves);
    by_defaults.or_else(|| modes().find(|mode| has_variants(mode).is_ok_and(|has| has)))
}

/// Adds the inputs that lead to the variant; nothing is added if all inputs have their defaults.
fn in_variant(mut diagnostic: Diagnostic, inputs: &[Arc<Assigned>]) -> Diagnostic {
    if inputs.iter().any(|input| !input.default) {
        diagnostic.message =
            format!("{}, for example with `{}`", diagnostic.message, flags(inputs));
    }
    diagnostic
}

/// Reports that findings are undecided because inputs have to be assigned first. Other errors are
/// reported as they are.
fn undecided(errors: Diagnostics, doubtful: Vec<Finding>, diagnostics: &mut Diagnostics) {
    let is_open = |error: &Diagnostic| error.code == Code::OpenInput;
    if !errors.0.iter().any(is_open) {
        return diagnostics.0.extend(errors.0);
    }
    for finding in doubtful.into_iter().filter(|finding| !finding.when.is_empty()) {
        let message = format!(
            "whether there is a variant with this cannot be decided: {}",
            finding.diagnostic.message
        );
        let note = Diagnostic::note(Code::Undecidable, message).at(finding.diagnostic.span);
        diagnostics.push(note.help("validate a variant with `--preset` or `--input`"));
    }
}
