//! Stores the words of plans, each only once.

use rustc_hash::FxHashMap;
use serde::Serialize;

/// Words, with their positions.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub(super) struct PlanWords {
    words: Vec<String>,
    #[serde(skip)]
    known: FxHashMap<String, usize>,
}

impl PlanWords {
    /// Changes each word.
    pub(super) fn each(&mut self, change: &mut dyn FnMut(&mut String)) {
        self.words.iter_mut().for_each(change);
    }

    pub(super) fn position(&mut self, word: &str) -> usize {
        if let Some(&at) = self.known.get(word) {
            return at;
        }
        let at = self.words.len();
        self.known.insert(word.to_owned(), at);
        self.words.push(word.to_owned());
        at
    }
}
