//! The types of a template, as they are shown.

use crate::text::diagnostic::Diagnostics;
use crate::text::source::Span;
use crate::tosca::Types;
use crate::tosca::load::Loaded;
use crate::variability::choice::Choice;
use crate::variability::graph::VARIABILITY_GROUPS;
use crate::variability::inputs::InputMode;
use crate::variability::prepared::documents;

/// Asks something about all types of a template, and says what is wrong with them.
///
/// # Errors
/// Where a file cannot be read, and what the question ends with.
pub(crate) fn ask<T>(
    loaded: &Loaded,
    choice: &Choice,
    ask: impl FnOnce(&Types<'_>) -> Result<T, Diagnostics>,
) -> Result<(T, Diagnostics), Diagnostics> {
    let mode = if choice.is_of_one_variant() { InputMode::Closed } else { InputMode::Open };
    known(loaded, choice, mode, |types| Ok((ask(types)?, types.validate())))
}

/// Asks something about all types of a template, however they are.
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

/// All types of a template, however they are.
///
/// # Errors
/// Where a file cannot be read.
pub(crate) fn linked<'l>(
    loaded: &'l Loaded,
    choice: &Choice,
    mode: InputMode,
) -> Result<Types<'l>, Diagnostics> {
    linked_of(loaded, choice, mode, &|_| true)
}

/// Those of the imports that are asked for, by their places.
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
