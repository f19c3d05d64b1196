//! Keeps parsed documents from one run to the next, so that a file that has not changed is not
//! parsed again.

use super::source::{FileId, SourceText};
use super::yaml::Document;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// After how many runs a document that nobody has used is given up.
const RUNS: u64 = 32;

/// Documents by their files and texts, shared by any number of runs.
///
/// Places in a document name its file by a number, and files are numbered in the order in which
/// they are read. So a document is used again where the same file comes at the same position, and
/// is copied where it comes at another one.
#[derive(Debug, Default)]
pub struct KeptDocuments {
    kept: Mutex<KeptInner>,
}

#[derive(Debug, Default)]
struct KeptInner {
    documents: HashMap<KeptKey, KeptDocument>,
    run: u64,
    parsed: usize,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct KeptKey {
    path: PathBuf,
    reading: KeptReading,
}

/// How a document was read: documents that were read otherwise are others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct KeptReading {
    /// Whether it went through a function.
    pub is_changed: bool,
    /// Whether some entries were left out.
    pub is_part: bool,
}

#[derive(Debug)]
struct KeptDocument {
    document: Arc<Document>,
    /// The run that used it last.
    used: u64,
}

impl KeptDocuments {
    /// Begins a run, and gives up what was not used for many runs.
    pub(crate) fn begin(&self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.run += 1;
        let run = kept.run;
        kept.documents.retain(|_, document| document.used + RUNS >= run);
    }

    /// The document of a file with this text, if there is one.
    pub(crate) fn get(
        &self,
        file: FileId,
        path: &Path,
        text: &SourceText,
        reading: KeptReading,
    ) -> Option<Arc<Document>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (run, key) = (kept.run, KeptKey { path: path.to_owned(), reading });
        let known = kept.documents.get_mut(&key)?;
        let its = known.document.shared_text();
        if its != text {
            return None;
        }
        if known.document.file() != file {
            known.document = Arc::new(known.document.in_file(file));
        }
        known.used = run;
        Some(Arc::clone(&known.document))
    }

    /// The text of a document of a file, if it is this one. Whoever has read the file again takes
    /// it, so that a text of megabytes is there once.
    pub(crate) fn text(
        &self,
        path: &Path,
        text: &str,
        readings: [KeptReading; 2],
    ) -> Option<SourceText> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = |reading| kept.documents.get(&KeptKey { path: path.to_owned(), reading });
        let mut texts =
            readings.into_iter().filter_map(known).map(|known| known.document.shared_text());
        texts.find(|known| ***known == *text).cloned()
    }

    /// The last text of a file that had a tree.
    pub fn last_text(&self, path: &Path) -> Option<SourceText> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let of_file = kept.documents.iter().filter(|(key, _)| key.path == path);
        let last = of_file.map(|(_, known)| known).max_by_key(|known| known.used)?;
        Some(last.document.shared_text().clone())
    }

    /// Keeps a document that was parsed, in the place of one with another text.
    pub(crate) fn keep(&self, path: &Path, reading: KeptReading, document: &Arc<Document>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.parsed += 1;
        let document = KeptDocument { document: Arc::clone(document), used: kept.run };
        kept.documents.insert(KeptKey { path: path.to_owned(), reading }, document);
    }

    /// How many documents were parsed so far.
    pub fn parsed(&self) -> usize {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).parsed
    }
}
