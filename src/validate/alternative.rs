//! Imports of files that define one name differently. No variant may have all of them, so whatever
//! depends on types is checked once for each choice among these imports.

use super::conditional::ConditionalFiles;
use super::finding::{ChosenImports, Finding};
use super::import;
use super::v2_0::{self, KeynameFinding};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Severity};
use crate::tosca::Types;
use crate::tosca::types::scope::Links;
use crate::variability::choice::Choice;
use crate::variability::graph::{ElementId, VARIABILITY_GROUPS};
use crate::variability::prepared::Prepared;
use cuvee_text::source::Span;
use cuvee_text::yaml::Document;
use rustc_hash::FxHashSet;
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
        links: &Links,
        imports: ChosenImports,
    ) -> Self {
        let types = types_of(choice, prepared, &documents, links);
        let mut judged = judge(prepared, &types, &documents, links);
        import::check(&documents, &types, &mut judged);
        let of_2_0 = v2_0::check(&documents, links, &types);
        Self { documents, types, judged, of_2_0, imports }
    }

    /// The alternative with some of the imports that may clash, and without the others.
    pub(super) fn chosen(
        choice: &Choice,
        prepared: &'p Prepared<'_>,
        documents: &[&'p Document],
        imports: ChosenImports,
    ) -> Self {
        let links = linked_without(prepared, &imports.without);
        let left = links.behind(links.library.iter().copied().chain(links.top));
        let is_left = |document: &&&Document| left.contains(&document.file());
        let documents = documents.iter().filter(is_left).copied().collect();
        Self::of(choice, prepared, documents, &links, imports)
    }

    /// What is wrong whatever is present.
    pub(super) fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.judged.0.iter().chain(self.of_2_0.iter().map(|found| &found.diagnostic))
    }

    /// The names that are defined twice.
    fn clashes(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics().filter(|found| found.code == Code::TypeClash)
    }

    /// The places of names that are not defined.
    fn unknown(&self) -> impl Iterator<Item = Option<Span>> {
        self.diagnostics().filter(|found| is_unknown(found)).map(|found| found.span)
    }
}

/// The choices among imports of these documents; where no imports clash, that is one with all. With
/// them come the clashes, for variants that have both imports.
pub(super) fn alternatives<'p>(
    choice: &Choice,
    prepared: &'p Prepared<'_>,
    documents: &[&'p Document],
    conditional: &ConditionalFiles,
) -> (Vec<Alternative<'p>>, Vec<Finding>) {
    let links = &prepared.links;
    let all = || Alternative::of(choice, prepared, documents.to_vec(), links, Default::default());
    let mut found = vec![all()];
    // The package for npm may have only so many bytes, and hardly any template there has such files.
    if cfg!(cuvee_npm) || found.iter().flat_map(Alternative::clashes).next().is_none() {
        return (found, Vec::new());
    }
    // What a file names may be defined in one that is left out, under whatever conditions.
    let unknown: FxHashSet<_> = found.iter().flat_map(Alternative::unknown).collect();
    let chosen = |imports| {
        let mut chosen = Alternative::chosen(choice, prepared, documents, imports);
        let is_so = |found: &Diagnostic| !is_unknown(found) || unknown.contains(&found.span);
        chosen.judged.0.retain(is_so);
        chosen.of_2_0.retain(|found| is_so(&found.diagnostic));
        chosen
    };
    let (mut known, mut clashes) = (BTreeSet::new(), Vec::new());
    // Of several definitions of a name, the first clash hides others.
    loop {
        let suspects: BTreeSet<_> = found.iter().flat_map(|it| pairs(it, conditional)).collect();
        let news: Vec<_> = suspects.difference(&known).copied().collect();
        if news.is_empty() {
            return (found, clashes);
        }
        known.extend(&news);
        let all_known: BTreeSet<_> = known.iter().flatten().copied().collect();
        for pair in news {
            let without = all_known.iter().copied().filter(|it| !pair.contains(it)).collect();
            let both = chosen(ChosenImports { with: pair.into(), without });
            let is_it = |found: &&Diagnostic| pairs_of(found, &both, conditional).contains(&pair);
            let clash = |found: &Diagnostic| Finding {
                diagnostic: found.clone(),
                when: pair.into(),
                unless: Vec::new(),
            };
            clashes.extend(both.clashes().filter(is_it).map(clash));
        }
        let conflicts = conflicts(&clashes);
        let Some(choices) = choices(&conflicts) else { return (vec![all()], Vec::new()) };
        let alternative = |with: BTreeSet<ElementId>| {
            let without = conflicts.keys().copied().filter(|it| !with.contains(it)).collect();
            chosen(ChosenImports { with: with.into_iter().collect(), without })
        };
        found = choices.into_iter().map(alternative).collect();
    }
}

/// Whether a diagnostic says that something is not defined.
pub(super) fn is_unknown(found: &Diagnostic) -> bool {
    let is_warning = found.severity == Severity::Warning;
    found.code == Code::UnknownType
        || found.code == Code::UnknownElement
        || is_warning && found.code == Code::InvalidFunction
}

/// How files import each other without some of the template's imports.
fn linked_without(prepared: &Prepared<'_>, without: &[ElementId]) -> Links {
    let mut links = prepared.links.clone();
    let out = prepared.graph.imports.iter().filter(|import| without.contains(&import.id));
    let out: Vec<_> = out.map(|import| import.import.declared.span()).collect();
    let top = links.top;
    links.links.retain(|link| Some(link.from) != top || !out.contains(&link.span));
    links
}

/// The pairs of imports that may be why names are defined twice.
fn pairs(
    alternative: &Alternative<'_>,
    conditional: &ConditionalFiles,
) -> BTreeSet<[ElementId; 2]> {
    let clashes = alternative.clashes();
    clashes.flat_map(|found| pairs_of(found, alternative, conditional)).collect()
}

/// The pairs of imports that lead to two definitions of one name, unless one leads to both. Imports
/// that are left out lead nowhere.
fn pairs_of(
    clash: &Diagnostic,
    alternative: &Alternative<'_>,
    conditional: &ConditionalFiles,
) -> Vec<[ElementId; 2]> {
    let files = [clash.span, clash.labels.first().map(|label| label.span)];
    let [ones, others] = files.map(|span| {
        let imports = span.map_or(&[][..], |span| conditional.leading(span.file)).iter();
        let is_in = |id: &&ElementId| !alternative.imports.without.contains(id);
        imports.filter(is_in).copied().collect::<Vec<_>>()
    });
    if ones.iter().any(|one| others.contains(one)) {
        return Vec::new();
    }
    let pair = |one: ElementId, other: ElementId| [one.min(other), one.max(other)];
    let pairs = ones.iter().flat_map(|&one| others.iter().map(move |&other| pair(one, other)));
    pairs.collect()
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
    links: &Links,
) -> Types<'p> {
    let documents = choice.beside_profiles(documents, prepared.sources());
    let is_kept = prepared.loaded.cache().is_some();
    Types::noted(documents, links, &VARIABILITY_GROUPS, is_kept)
}

/// What is wrong with types themselves.
fn judge(
    prepared: &Prepared<'_>,
    types: &Types<'_>,
    documents: &[&Document],
    links: &Links,
) -> Diagnostics {
    let mut judged = match prepared.loaded.cache() {
        Some(cache) => types.validate_keeping(links, &cache.judgements),
        None => types.validate(),
    };
    // Types of another version are not known here, which is reported where the file is imported.
    judged.0.retain(|found| found.code != Code::UnknownType || !v2_0::is_foreign(found, documents));
    judged
}
