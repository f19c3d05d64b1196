//! Knows which files are there under conditions only: those behind conditional imports.

use crate::variability::graph::ElementId;
use crate::variability::prepared::Prepared;
use cuvee_text::source::FileId;
use rustc_hash::{FxHashMap, FxHashSet};

/// The files that conditional imports lead to.
pub(super) struct ConditionalFiles {
    /// The conditional imports that lead to each file.
    leading: FxHashMap<FileId, Vec<ElementId>>,
    /// The files that are there without any of these.
    always: FxHashSet<FileId>,
}

impl ConditionalFiles {
    pub(super) fn of(prepared: &Prepared<'_>) -> Self {
        let links = &prepared.links;
        let mut leading: FxHashMap<_, Vec<_>> = FxHashMap::default();
        let mut unconditional = links.library.clone();
        for import in &prepared.graph.imports {
            let files = links.behind_import(import.import.declared.span());
            if import.import.declared.conditions().is_none() {
                unconditional.extend(files);
            } else {
                files.into_iter().for_each(|file| leading.entry(file).or_default().push(import.id));
            }
        }
        let mut always = links.behind(unconditional);
        always.extend(links.top);
        Self { leading, always }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.leading.is_empty()
    }

    /// The conditional imports that lead to a file, whatever else does.
    pub(super) fn leading(&self, file: FileId) -> &[ElementId] {
        self.leading.get(&file).map_or(&[], Vec::as_slice)
    }

    /// The imports without which none of these files is there; `None` if one always is.
    pub(super) fn behind(&self, files: impl Iterator<Item = FileId>) -> Option<Vec<ElementId>> {
        let imports = |file| match self.leading(file) {
            [] => None,
            imports => Some(imports).filter(|_| !self.always.contains(&file)),
        };
        Some(files.map(imports).collect::<Option<Vec<_>>>()?.concat())
    }
}
