//! Imports of files that define one name differently. No variant may have all of them, so whatever
//! depends on types is checked once for each choice among these imports.

use super::finding::{ChosenImports, Finding};
use super::import::{self, conditional_files};
use super::v2_0::{self, KeynameFinding};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::tosca::Types;
use crate::variability::choice::Choice;
use crate::variability::graph::{ElementId, VARIABILITY_GROUPS};
use crate::variability::prepared::Prepared;
use cuvee_text::source::FileId;
use cuvee_text::yaml::Document;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// So many choices are checked; where there are more, a clash is an error in all variants. Two files
/// that exclude each other give three, and two such pairs nine.
const CHOICES: usize = 100;

/// The documents of one choice among imports, and their types.
pub(super) struct Alternative<'p> {
    /// The documents of the library, the imports and the template.
    pub documents: Vec<&'p Document>,
    pub types: Types<'p>,
    /// What is wrong with types, imports and repositories.
    pub judged: Diagnostics,
    /// What only the grammar of TOSCA 2.0 finds.
    pub of_2_0: Vec<KeynameFinding>,
    pub imports: ChosenImports,
}

impl<'p> Alternative<'p> {
    fn of(
        choice: &Choice,
        prepared: &'p Prepared<'_>,
        documents: Vec<&'p Document>,
        imports: ChosenImports,
    ) -> Self {
        let types = types_of(choice, prepared, &documents);
        let mut judged = judge(prepared, &types, &documents);
        import::check(&documents, &types, &mut judged);
        let of_2_0 = v2_0::check(&documents, &prepared.links, &types);
        Self { documents, types, judged, of_2_0, imports }
    }

    /// The alternative that has only these of the imports that clash.
    fn chosen(
        &self,
        choice: &Choice,
        prepared: &'p Prepared<'_>,
        leading: &FxHashMap<FileId, Vec<ElementId>>,
        conflicts: &BTreeMap<ElementId, BTreeSet<ElementId>>,
        with: BTreeSet<ElementId>,
    ) -> Self {
        let is_out = |import: &ElementId| conflicts.contains_key(import) && !with.contains(import);
        let is_in = |document: &&&Document| {
            let imports = leading.get(&document.file());
            !imports.is_some_and(|imports| imports.iter().all(is_out))
        };
        let documents = self.documents.iter().filter(is_in).copied().collect();
        let without = conflicts.keys().copied().filter(is_out).collect();
        let imports = ChosenImports { with: with.iter().copied().collect(), without };
        let mut found = Self::of(choice, prepared, documents, imports);
        // Types may derive from those of imports that could be there, too.
        if conflicts.iter().any(|(it, others)| is_out(it) && with.is_disjoint(others)) {
            found.judged = Diagnostics::default();
            found.of_2_0.clear();
        }
        found
    }

    /// What is wrong with these documents whatever is present.
    fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.judged.0.iter().chain(self.of_2_0.iter().map(|found| &found.diagnostic))
    }
}

/// The choices among imports of these documents; where no imports clash, that is one with all. With
/// them come the clashes, for variants that have both imports.
pub(super) fn alternatives<'p>(
    choice: &Choice,
    prepared: &'p Prepared<'_>,
    documents: Vec<&'p Document>,
) -> (Vec<Alternative<'p>>, Vec<Finding>) {
    let all = Alternative::of(choice, prepared, documents, ChosenImports::default());
    if !all.diagnostics().any(|found| found.code == Code::TypeClash) {
        return (vec![all], Vec::new());
    }
    let leading = conditional_files(prepared);
    let clashes_of = |it: &Alternative<'_>| -> Vec<_> {
        it.diagnostics().flat_map(|found| clashes(found, &leading)).collect()
    };
    let mut clashes = clashes_of(&all);
    while !clashes.is_empty() {
        let conflicts = conflicts(&clashes);
        let Some(choices) = choices(&conflicts) else { break };
        let alternative = |with| all.chosen(choice, prepared, &leading, &conflicts, with);
        let found: Vec<_> = choices.into_iter().map(alternative).collect();
        // Of several definitions of a name, the first clash hides others.
        let more: Vec<_> = found.iter().flat_map(clashes_of).collect();
        if more.is_empty() {
            return (found, clashes);
        }
        clashes.extend(more);
    }
    (vec![all], Vec::new())
}

/// The pairs of imports that lead to two definitions of one name, if no variant needs both.
fn clashes(found: &Diagnostic, leading: &FxHashMap<FileId, Vec<ElementId>>) -> Vec<Finding> {
    let files = [found.span, found.labels.first().map(|label| label.span)];
    let imports = files.map(|span| leading.get(&span?.file));
    let [Some(ones), Some(others)] = imports else { return Vec::new() };
    if found.code != Code::TypeClash || ones.iter().any(|one| others.contains(one)) {
        return Vec::new();
    }
    let pairs = ones.iter().flat_map(|&one| others.iter().map(move |&other| vec![one, other]));
    let clash = |when| Finding { diagnostic: found.clone(), when, unless: Vec::new() };
    pairs.map(clash).collect()
}

/// The imports that clash, each with those that it clashes with.
fn conflicts(clashes: &[Finding]) -> BTreeMap<ElementId, BTreeSet<ElementId>> {
    let mut conflicts: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for clash in clashes {
        for &one in &clash.when {
            let others = clash.when.iter().copied().filter(|&other| other != one);
            conflicts.entry(one).or_default().extend(others);
        }
    }
    conflicts
}

/// All choices among imports that have no two that clash; `None` if there are too many.
fn choices(
    conflicts: &BTreeMap<ElementId, BTreeSet<ElementId>>,
) -> Option<Vec<BTreeSet<ElementId>>> {
    let mut choices = vec![BTreeSet::new()];
    for (&import, others) in conflicts {
        let fitting = choices.iter().filter(|with| with.is_disjoint(others));
        let with = |with: &BTreeSet<_>| with.iter().copied().chain([import]).collect();
        let more: Vec<_> = fitting.map(with).collect();
        choices.extend(more);
        if choices.len() > CHOICES {
            return None;
        }
    }
    Some(choices)
}

/// The types of documents, and of profiles beside them.
pub(super) fn types_of<'p>(
    choice: &Choice,
    prepared: &'p Prepared<'_>,
    documents: &[&'p Document],
) -> Types<'p> {
    let documents = choice.beside_profiles(documents, prepared.sources());
    let is_kept = prepared.loaded.cache().is_some();
    Types::noted(documents, &prepared.links, &VARIABILITY_GROUPS, is_kept)
}

/// What is wrong with types themselves.
fn judge(prepared: &Prepared<'_>, types: &Types<'_>, documents: &[&Document]) -> Diagnostics {
    let mut judged = match prepared.loaded.cache() {
        Some(cache) => types.validate_keeping(&prepared.links, &cache.judgements),
        None => types.validate(),
    };
    // Types of another version are not known here, which is reported where the file is imported.
    judged.0.retain(|found| found.code != Code::UnknownType || !v2_0::is_foreign(found, documents));
    judged
}
