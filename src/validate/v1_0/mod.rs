//! Validates documents of TOSCA 1.0: names, derivation, templates against their types, and what
//! service templates expose of their contents.

mod checker;
mod component;
mod document;
mod properties;
mod service;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::tosca::v1_0::{Library, PropertySchemas};
use checker::DefinitionsChecker;

/// Validates documents that belong together.
pub(crate) fn validate_definitions(
    library: &Library<'_>,
    schemas: &PropertySchemas<'_>,
    found: Diagnostics,
) -> Vec<Diagnostic> {
    let mut checker = DefinitionsChecker::new(library, schemas, found);
    checker.documents();
    checker.components();
    let Diagnostics(mut found) = checker.found;
    found.sort_by(|a, b| (a.span, a.code, &a.message).cmp(&(b.span, b.code, &b.message)));
    found.dedup_by(|next, kept| {
        (next.span, next.code, &next.message) == (kept.span, kept.code, &kept.message)
    });
    found
}
