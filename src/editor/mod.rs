//! Answers what an editor asks about a template that is being typed.
//!
//! A text that is being typed is mostly broken, so nothing here fails: a [`TemplateAnalysis`] has whatever
//! can be known. What is public may change with any version.

mod bound;
mod completion;
mod described;
mod grammar;
mod members;
mod mended;
mod outline;
mod owners;
mod parts;
mod path;
mod place;
mod rename;
mod symbols;
mod targets;
#[cfg(test)]
mod tests;
mod tokens;
mod walk;

pub use crate::tosca::load::DocumentCache;
pub use completion::{CompletedWord, Suggestion, SuggestionKind, complete};
pub use cuvee_text::overlay::OverlayFiles;
pub use outline::{OutlineEntry, PresenceHint};
pub use place::{Encoding, Position, Range, offset, range};
pub use rename::{ChangedWord, Renaming};
pub use symbols::{DefinedName, SymbolPlace};
pub use tokens::{EditorToken, TokenKind};

pub(crate) use mended::Mended;

use crate::tosca::csar::archive_around;
use crate::tosca::{Types, profile};
use crate::variability::choice::Choice;
use crate::variability::graph::VARIABILITY_GROUPS;
use crate::variability::inputs::InputMode;
use crate::variability::prepared::{Interpreted, Prepared};
use cuvee_text::source::{FileId, SourceMap, Span, normalize};
use cuvee_text::yaml::{Document, Node};
use grammar::HeldContent;
use owners::NamedElements;
use std::cell::OnceCell;
use std::path::Path;
use symbols::Symbols;

/// What is known of a template. Each part is missing where nothing can be said.
///
/// It borrows from what was read, so it is handed to a function: see
/// [`Resolver::analysis`](crate::Resolver::analysis).
pub struct TemplateAnalysis<'a> {
    mended: &'a Mended,
    documents: Vec<&'a Document>,
    /// What was read of files, and what it holds.
    roots: Vec<(Node<'a>, HeldContent)>,
    types: Option<&'a Types<'a>>,
    prepared: Option<&'a Prepared<'a>>,
    /// The names that are defined, once they were asked for.
    defined: OnceCell<Symbols>,
    /// The same with their uses, once these were asked for.
    symbols: OnceCell<Symbols>,
    /// The elements of all topologies, once one of them was asked for.
    elements: OnceCell<NamedElements<'a>>,
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

    /// Whether names of the template are known, beside those of TOSCA.
    pub fn has_symbols(&self) -> bool {
        let mut symbols = self.symbols().by_key.values();
        symbols.any(|symbol| symbol.all().any(|span| !span.file.is_built_in()))
    }

    /// Whether some file did not parse, and was repaired.
    pub fn is_repaired(&self) -> bool {
        !self.mended.files.is_empty()
    }

    /// The path of the template, which may be that of a file in an archive.
    pub fn template(&self) -> Option<&Path> {
        let loaded = self.mended.loaded.as_ref()?;
        Some(self.sources.get(loaded.template())?.path())
    }

    /// The files that were read, as they were typed.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }
}

impl TemplateAnalysis<'_> {
    /// The names that are defined, without their uses.
    fn defined(&self) -> &Symbols {
        self.defined.get_or_init(|| Symbols::defined(self))
    }

    fn symbols(&self) -> &Symbols {
        self.symbols.get_or_init(|| self.defined().clone().with_uses(self))
    }

    /// The file of a path; built-in files have their names for paths.
    fn file(&self, path: &Path) -> Option<FileId> {
        // A file may be known by the path that an import leads to, such as `a/../types.yaml`.
        let is_it = |file: &FileId| {
            let known = self.sources.file(*file).path();
            known == path || !file.is_built_in() && normalize(known) == path
        };
        let known = || self.documents.iter().map(|it| it.file()).find(is_it);
        self.sources.find(path).or_else(known)
    }

    /// The document of a file.
    fn document(&self, path: &Path) -> Option<&Document> {
        let file = self.file(path)?;
        self.documents.iter().copied().find(|it| it.file() == file)
    }

    /// Why nobody can change a file, if nobody can.
    fn why_fixed(&self, file: FileId) -> Option<String> {
        let path = self.sources.file(file).path();
        match archive_around(path) {
            _ if file.is_built_in() => {
                Some(format!("`{}` is a part of cuvee, so it stays as it is", path.display()))
            }
            Some(archive) => {
                Some(format!("`{}` is an archive, which is only read", archive.display()))
            }
            None => None,
        }
    }

    /// The texts as they were read: broken ones are repaired.
    fn read(&self) -> Option<&SourceMap> {
        self.mended.loaded.as_ref().map(|loaded| loaded.sources())
    }

    /// The place in the text that was read of an offset in the one that was typed.
    fn read_span(&self, path: &Path, offset: usize) -> Option<Span> {
        let file = self.file(path)?;
        let offset = match self.mended.file(self.sources.file(file).path()) {
            Some(mended) => mended.read_offset(offset),
            None => offset,
        };
        let start = u32::try_from(offset).ok()?;
        Some(Span { file, start, end: start })
    }

    /// The place in the typed text of a span in the text that was read; `None` in repaired lines.
    fn typed_span(&self, span: Span) -> Option<Span> {
        match self.mended.file(self.sources.get(span.file)?.path()) {
            Some(mended) => mended.typed_span(span),
            None => Some(span),
        }
    }

    /// The place in the typed text of a word in the text that was read. In a repaired line it is
    /// that of the same word.
    fn typed_word(&self, span: Span) -> Option<Span> {
        match self.mended.file(self.sources.get(span.file)?.path()) {
            Some(mended) => mended.typed_word(span),
            None => Some(span),
        }
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
        roots: Vec::new(),
        types: None,
        prepared: None,
        defined: OnceCell::new(),
        symbols: OnceCell::new(),
        elements: OnceCell::new(),
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
    let mut documents: Vec<_> = prepared.documents.iter().filter_map(whole).collect();
    let all = choice.beside_profiles(&documents, prepared.sources());
    let types = Types::linked(all, &prepared.links, &VARIABILITY_GROUPS);
    documents.extend(choice.profiles());
    let [rules, conditions] = interpreted.beside();
    let service = documents.iter().map(|it| (it.root(), HeldContent::Map(&grammar::SERVICE)));
    let rules = rules.into_iter().map(|root| (root, HeldContent::Rules));
    // A file of conditions may repeat the keyword, and may be a list.
    let conditions = conditions.into_iter().flat_map(|root| {
        let root = root.get("type_specific_conditions").unwrap_or(root);
        root.items().chain([root]).map(|it| (it, HeldContent::Map(&grammar::TYPE_SPECIFIC)))
    });
    // Rules that stand in the template are a part of it.
    let is_elsewhere = |(root, _): &(Node<'_>, HeldContent)| {
        !documents.iter().any(|document| document.file() == root.span().file)
    };
    let roots = service.chain(rules.chain(conditions).filter(is_elsewhere)).collect();
    ask(&TemplateAnalysis {
        roots,
        documents: documents.clone(),
        types: Some(&types),
        prepared: Some(&prepared),
        ..nothing(mended.sources())
    })
}

/// The texts that are part of the program, each with the name by which an analysis knows it.
pub fn built_in_texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    profile::texts()
}
