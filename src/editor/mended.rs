//! Reads a template of which some files may be broken at the place where somebody types.

use crate::diagnostic::{Code, Diagnostic};
use crate::tosca::load::{DocumentCache, Extent, Loaded, Mapping, TemplateLocation};
use cuvee_text::answer::Failure;
use cuvee_text::overlay::OverlayFiles;
use cuvee_text::source::{FileSystem, SourceMap, SourceText, Span};
use cuvee_text::yaml::{self, Limits, Repaired, repair};
use memchr::{memchr, memrchr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many broken files are repaired at most.
const FILES: usize = 8;

/// A file that was repaired.
pub(crate) struct MendedFile {
    path: PathBuf,
    /// The text as somebody typed it.
    typed: SourceText,
    /// What it was read as.
    pub repaired: Repaired,
}

/// A template that was read, with files in place of those that do not parse.
pub(crate) struct Mended {
    /// The files; `None` where not even repaired ones can be read.
    pub loaded: Option<Arc<Loaded>>,
    /// The repaired files.
    pub files: Vec<MendedFile>,
    /// What is wrong with files that cannot be read.
    pub failure: Option<Failure>,
}

impl Mended {
    /// Reads a template. Files that do not parse are repaired; `near` is the file and the offset at
    /// which somebody types.
    pub(crate) fn open(
        location: &TemplateLocation,
        files: &Arc<dyn FileSystem + Send>,
        mapping: &Mapping,
        cache: Option<&Arc<DocumentCache>>,
        near: Option<(&Path, usize)>,
    ) -> Self {
        let mut mended = Self { loaded: None, files: Vec::new(), failure: None };
        for _ in 0..=FILES {
            let (location, files) = (mended.location(location), mended.over(files));
            let opened = Loaded::open(&location, files, mapping.clone(), Extent::Whole, cache);
            let is_mended = match &opened {
                Ok(loaded) => mended.mend(&loaded.wrong_imports(), loaded.sources(), near, cache),
                Err(failure) => mended.mend(&failure.diagnostics, &failure.sources, near, cache),
            };
            match opened {
                Ok(loaded) => (mended.loaded, mended.failure) = (Some(Arc::new(loaded)), None),
                Err(failure) => mended.failure = Some(failure),
            }
            if !is_mended {
                break;
            }
        }
        mended
    }

    /// The location with the repaired text, if it is that of a text in memory.
    fn location(&self, location: &TemplateLocation) -> TemplateLocation {
        match location {
            TemplateLocation::Text { name, text } => {
                let mended = self.files.iter().find(|file| file.path == *name);
                let text = mended.map_or(text.clone(), |file| file.repaired.text.as_str().into());
                TemplateLocation::Text { name: name.clone(), text }
            }
            path @ TemplateLocation::Path(_) => path.clone(),
        }
    }

    /// The files with the repaired texts over them.
    fn over(&self, files: &Arc<dyn FileSystem + Send>) -> Arc<dyn FileSystem + Send> {
        if self.files.is_empty() {
            return Arc::clone(files);
        }
        let text = |file: &MendedFile| (file.path.clone(), file.repaired.text.as_str().into());
        Arc::new(OverlayFiles::new(Arc::clone(files), self.files.iter().map(text)))
    }

    /// Repairs the files of which was found that their syntax is wrong, or reads them as they were
    /// when they had a tree for the last time. Returns whether there are any more.
    fn mend(
        &mut self,
        found: &[Diagnostic],
        sources: &SourceMap,
        near: Option<(&Path, usize)>,
        cache: Option<&Arc<DocumentCache>>,
    ) -> bool {
        let is_syntax = |found: &&Diagnostic| found.code == Code::Syntax;
        let before = self.files.len();
        for found in found.iter().filter(is_syntax) {
            let Some(span) = found.span else { continue };
            let file = sources.file(span.file);
            if self.files.iter().any(|mended| mended.path == file.path()) {
                continue;
            }
            let near = near.filter(|(path, _)| *path == file.path());
            let offset = near.map_or(span.start as usize, |(_, offset)| offset);
            let earlier = || {
                let text = cache?.last_text(file.path())?;
                Some(Repaired::as_earlier(file.text(), &text))
            };
            if let Some(repaired) = repair(file.text(), offset, &Limits::default()).or_else(earlier)
            {
                let (path, typed) = (file.path().to_owned(), file.text().clone());
                self.files.push(MendedFile { path, typed, repaired });
            }
        }
        self.files.len() > before
    }

    /// The repaired file of a path.
    pub(crate) fn file(&self, path: &Path) -> Option<&MendedFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The files that were read, with the texts that somebody typed; ids stay the same.
    pub(crate) fn sources(&self) -> SourceMap {
        let sources = match (&self.loaded, &self.failure) {
            (Some(loaded), _) => loaded.sources().clone(),
            (None, Some(failure)) => return failure.sources.clone(),
            (None, None) => SourceMap::default(),
        };
        if self.files.is_empty() {
            return sources;
        }
        let typed = SourceMap::default();
        for file in sources.files() {
            let mended = self.file(file.path());
            typed.add(file.path(), mended.map_or(file.text(), |mended| &mended.typed).clone());
        }
        typed
    }

    /// What was found in the repaired files, at the places that somebody typed; without what is in
    /// repaired lines. `of` says which file has an id.
    pub(crate) fn in_typed(&self, found: Vec<Diagnostic>, sources: &SourceMap) -> Vec<Diagnostic> {
        if self.files.is_empty() {
            return found;
        }
        let mended = |span: Span| self.file(sources.file(span.file).path());
        let place = |mut found: Diagnostic| {
            if let Some(span) = &mut found.span
                && let Some(file) = mended(*span)
            {
                *span = file.typed_span(*span)?;
            }
            found.labels.retain_mut(|label| match mended(label.span) {
                Some(file) => match file.typed_span(label.span) {
                    Some(span) => {
                        label.span = span;
                        true
                    }
                    None => false,
                },
                None => true,
            });
            Some(found)
        };
        found.into_iter().filter_map(place).collect()
    }

    /// What parsing the typed texts says.
    pub(crate) fn syntax(&self, sources: &SourceMap) -> Vec<Diagnostic> {
        let wrong = |file: &MendedFile| {
            let id = sources.find(&file.path)?;
            yaml::parse(id, file.typed.clone(), &Limits::default()).err()
        };
        self.files.iter().filter_map(wrong).collect()
    }
}

impl MendedFile {
    /// The place in the typed text of a span in the repaired one; `None` in a repaired line.
    pub(crate) fn typed_span(&self, span: Span) -> Option<Span> {
        let [start, end] = [span.start, span.end].map(|at| self.repaired.original(at as usize));
        let is_repaired = self.repaired.edits.iter().any(|edit| {
            let range = &edit.range;
            // The end of a line belongs to it.
            let last = range.end.saturating_sub(1).max(range.start);
            start <= self.line_around(last).end && self.line_around(range.start).start <= end
        });
        let [start, end] = [u32::try_from(start).ok()?, u32::try_from(end).ok()?];
        (!is_repaired).then_some(Span { start, end, ..span })
    }

    /// The place in the typed text of a word in the repaired one, also in a repaired line; `None`
    /// where the word does not stand in the typed text as it was read.
    pub(crate) fn typed_word(&self, span: Span) -> Option<Span> {
        let [start, end] = [span.start, span.end].map(|at| self.repaired.original(at as usize));
        let read = self.repaired.text.get(span.start as usize..span.end as usize)?;
        let is_same = self.typed.get(start..end) == Some(read);
        let [start, end] = [u32::try_from(start).ok()?, u32::try_from(end).ok()?];
        is_same.then_some(Span { start, end, ..span })
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The places in the typed text at which a name stands as a word.
    pub(crate) fn words<'t>(&'t self, name: &'t str) -> impl Iterator<Item = usize> + 't {
        let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let is_word = move |at: usize| {
            let (before, behind) = (self.typed.get(..at), self.typed.get(at + name.len()..));
            !before.is_some_and(|it| it.ends_with(is_inner))
                && !behind.is_some_and(|it| it.starts_with(is_inner))
        };
        self.typed.match_indices(name).map(|(at, _)| at).filter(move |at| is_word(*at))
    }

    /// The offset in the repaired text of one in the typed text.
    pub(crate) fn read_offset(&self, offset: usize) -> usize {
        let before = self.repaired.edits.iter().take_while(|edit| edit.range.start < offset);
        before
            .fold(offset, |at, edit| (at + edit.replacement.len()).saturating_sub(edit.range.len()))
    }

    /// The line with a byte of the typed text, which may be one of several of a character.
    fn line_around(&self, at: usize) -> std::ops::Range<usize> {
        let (before, behind) = self.typed.as_bytes().split_at(at.min(self.typed.len()));
        let start = memrchr(b'\n', before).map_or(0, |end| end + 1);
        start..before.len() + memchr(b'\n', behind).unwrap_or(behind.len())
    }
}
