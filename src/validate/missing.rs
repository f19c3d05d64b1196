//! Names that are defined only behind conditional imports: where such an import is absent, whatever
//! says such a name is wrong.

use super::alternative::{Alternative, is_unknown};
use super::checker::Checker;
use super::conditional::ConditionalFiles;
use super::finding::{ChosenImports, Finding};
use crate::variability::choice::Choice;
use crate::variability::graph::ElementId;
use crate::variability::prepared::Prepared;
use crate::variability::presence::Presence;
use cuvee_text::source::Span;
use cuvee_text::yaml::{Document, Node};
use rustc_hash::FxHashSet;
use std::iter;

/// So many conditional imports are looked at, since each takes as long as all checks without a
/// proof. Of more, only the types of elements are.
const IMPORTS: usize = 8;

/// Whatever is not defined without one of the conditional imports, or without all of them, and is
/// not `known` to be undefined anyway.
pub(super) fn missing(
    choice: &Choice,
    prepared: &Prepared<'_>,
    documents: &[&Document],
    presence: Option<&Presence>,
    conditional: &ConditionalFiles,
    mut known: FxHashSet<Option<Span>>,
) -> Vec<Finding> {
    let imports = prepared.graph.imports.iter();
    let imports = imports.filter(|import| import.import.declared.conditions().is_some());
    let imports: Vec<_> = imports.map(|import| import.id).collect();
    // The package for npm may have only so many bytes.
    if cfg!(cuvee_npm) || imports.len() > IMPORTS {
        return Vec::new();
    }
    let alone = imports.iter().map(|&import| vec![import]);
    let all = (imports.len() > 1).then(|| imports.clone());
    let mut found = Vec::new();
    for without in alone.chain(all) {
        let imports = ChosenImports { with: Vec::new(), without };
        let alternative = Alternative::chosen(choice, prepared, documents, imports);
        let mut undefined = undefined(prepared, &alternative, presence, conditional);
        undefined.retain(|finding| !known.contains(&finding.diagnostic.span));
        known.extend(undefined.iter().map(|finding| finding.diagnostic.span));
        found.append(&mut undefined);
    }
    found
}

/// What is not defined without some imports.
fn undefined<'c>(
    prepared: &'c Prepared<'_>,
    alternative: &'c Alternative<'c>,
    presence: Option<&'c Presence>,
    conditional: &ConditionalFiles,
) -> Vec<Finding> {
    let Alternative { types, documents, imports, .. } = alternative;
    let checker = Checker::new(prepared, types, presence, documents);
    let checker = Checker { imports: Some(imports), ..checker };
    checker.all(conditional);
    for found in alternative.diagnostics() {
        // A file that is there under conditions itself.
        let file = found.span.map(|span| span.file);
        let behind = file.and_then(|file| conditional.behind(iter::once(file)));
        let when: Option<ElementId> = behind.and_then(|imports| imports.first().copied());
        checker.report_when(when.as_slice(), &[], found.clone());
    }
    // Types of variability inputs are those of all files, since inputs decide which are there.
    let inputs = prepared.graph.template.variability.inputs.map(Node::span);
    let is_of_input = |at: Span| {
        inputs.is_some_and(|it| it.file == at.file && it.start <= at.start && at.end <= it.end)
    };
    let found = checker.findings.take().into_iter().filter(|Finding { diagnostic, .. }| {
        is_unknown(diagnostic) && !diagnostic.span.is_some_and(is_of_input)
    });
    let told = found.map(|Finding { diagnostic, when, unless }| {
        let diagnostic = checker.behind_conditions(diagnostic, &imports.without);
        Finding { diagnostic, when, unless }
    });
    told.collect()
}
