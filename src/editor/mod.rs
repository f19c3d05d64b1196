//! Answers what an editor asks about a template that is being typed.
//!
//! A text that is being typed is mostly broken, so nothing here fails: an [`TemplateAnalysis`] has whatever
//! can be known. What is public may change with any version.

mod mended;

pub use cuvee_text::overlay::OverlayFiles;

pub(crate) use mended::Mended;

use crate::tosca::Types;
use crate::variability::choice::Choice;
use crate::variability::graph::VARIABILITY_GROUPS;
use crate::variability::inputs::InputMode;
use crate::variability::prepared::{Interpreted, Prepared};
use cuvee_text::source::{FileId, SourceMap};
use cuvee_text::yaml::Document;

/// What is known of a template. Each part is missing where nothing can be said.
///
/// It borrows from what was read, so it is handed to a function: see
/// [`Resolver::analysis`](crate::Resolver::analysis).
pub struct TemplateAnalysis<'a> {
    mended: &'a Mended,
    documents: Vec<&'a Document>,
    types: Option<&'a Types<'a>>,
    prepared: Option<&'a Prepared<'a>>,
    /// The texts as they were typed.
    sources: SourceMap,
}

impl TemplateAnalysis<'_> {
    /// Whether there are trees of the files that were read.
    pub fn has_documents(&self) -> bool {
        !self.documents.is_empty()
    }

    /// Whether the types are known.
    pub fn has_types(&self) -> bool {
        self.types.is_some()
    }

    /// Whether there is a graph of the elements of the template.
    pub fn has_graph(&self) -> bool {
        self.prepared.is_some()
    }

    /// Whether some file did not parse, and was repaired.
    pub fn is_repaired(&self) -> bool {
        !self.mended.files.is_empty()
    }

    /// The files that were read, as they were typed.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }
}

/// Analyses what was read, as far as possible, and calls `ask` with that.
pub(crate) fn analyse<R>(
    mended: &Mended,
    choice: &Choice,
    ask: impl FnOnce(&TemplateAnalysis<'_>) -> R,
) -> R {
    let sources = mended.sources();
    let nothing = |sources| TemplateAnalysis {
        mended,
        documents: Vec::new(),
        types: None,
        prepared: None,
        sources,
    };
    let Some(loaded) = &mended.loaded else { return ask(&nothing(sources)) };
    let choice = choice.tolerant();
    let whole = |file: &FileId| loaded.whole(*file).ok();
    let Ok(interpreted) = Interpreted::of(loaded, &choice) else {
        let documents: Vec<_> = std::iter::once(loaded.template())
            .chain(loaded.library().iter().copied())
            .filter_map(|file| whole(&file))
            .collect();
        return ask(&TemplateAnalysis { documents, ..nothing(sources) });
    };
    let prepared = Prepared::of(&interpreted, &choice, InputMode::Open, &mut ());
    let Ok(prepared) = prepared else {
        let documents = whole(&loaded.template()).into_iter().collect();
        return ask(&TemplateAnalysis { documents, ..nothing(sources) });
    };
    let documents: Vec<_> = prepared.documents.iter().filter_map(whole).collect();
    let all = choice.beside_profiles(&documents, prepared.sources());
    let types = Types::linked(all, &prepared.links, &VARIABILITY_GROUPS);
    ask(&TemplateAnalysis {
        documents,
        types: Some(&types),
        prepared: Some(&prepared),
        ..nothing(mended.sources())
    })
}
