//! The types of a template, as they are shown.

use crate::text::diagnostic::Diagnostics;
use crate::tosca::Types;
use crate::tosca::load::Loaded;
use crate::variability::choice::Choice;
use crate::variability::graph::VARIABILITY_GROUPS;
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
    let (documents, links) = documents(loaded, choice)?;
    let all = choice.beside_profiles(&documents, loaded.sources());
    let types = Types::linked(all, &links, &VARIABILITY_GROUPS);
    Ok((ask(&types)?, types.validate()))
}
