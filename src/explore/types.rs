//! Gives access to the types of a template.

use crate::diagnostic::Diagnostics;
use crate::tosca::Types;
use crate::tosca::load::Loaded;
use crate::variability::choice::Choice;
use crate::variability::graph::VARIABILITY_GROUPS;
use crate::variability::inputs::InputMode;
use crate::variability::prepared::documents;
use cuvee_text::source::Span;

/// Calls `ask` with all types of a template, and also returns the errors in the types.
///
/// # Errors
/// Errors of reading a file, and those of the question.
pub(crate) fn ask<T>(
    loaded: &Loaded,
    choice: &Choice,
    ask: impl FnOnce(&Types<'_>) -> Result<T, Diagnostics>,
) -> Result<(T, Diagnostics), Diagnostics> {
    let mode = if choice.is_of_one_variant() { InputMode::Closed } else { InputMode::Open };
    known(loaded, choice, mode, |types| Ok((ask(types)?, types.validate())))
}

/// Calls `ask` with all types of a template, without validating them.
///
/// # Errors
/// As [`ask`].
pub(crate) fn known<T>(
    loaded: &Loaded,
    choice: &Choice,
    mode: InputMode,
    ask: impl FnOnce(&Types<'_>) -> Result<T, Diagnostics>,
) -> Result<T, Diagnostics> {
    ask(&linked(loaded, choice, mode)?)
}

/// All types of a template, without validating them.
///
/// # Errors
/// Errors of reading a file.
pub(crate) fn linked<'l>(
    loaded: &'l Loaded,
    choice: &Choice,
    mode: InputMode,
) -> Result<Types<'l>, Diagnostics> {
    linked_of(loaded, choice, mode, &|_| true)
}

/// All types of a template, but only from those imports that `is_asked_for` accepts by their place.
///
/// # Errors
/// As [`linked`].
pub(crate) fn linked_of<'l>(
    loaded: &'l Loaded,
    choice: &Choice,
    mode: InputMode,
    is_asked_for: &dyn Fn(Span) -> bool,
) -> Result<Types<'l>, Diagnostics> {
    let (documents, links) = documents(loaded, choice, mode, is_asked_for)?;
    let all = choice.beside_profiles(&documents, loaded.sources());
    Ok(Types::linked(all, &links, &VARIABILITY_GROUPS))
}
