//! Masks known secrets in what steps write, also where a secret is cut by the end of a chunk.

use aho_corasick::{AhoCorasick, MatchKind};
use std::collections::BTreeSet;

/// The text that replaces a secret.
pub(super) const HIDDEN: &str = "(sensitive)";

/// How long a secret is at least that is masked. Shorter texts occur everywhere by chance.
const TELLING: usize = 4;

/// Finds secrets in bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Masker {
    search: Option<AhoCorasick>,
    longest: usize,
}

impl Masker {
    /// Masks these secrets. Of those with several lines each line is masked, too, because programs
    /// indent and prefix lines.
    pub(super) fn of<'s>(secrets: impl IntoIterator<Item = &'s str>) -> Self {
        let lines = secrets.into_iter().flat_map(|secret| secret.lines().chain([secret]));
        let telling: BTreeSet<_> = lines.filter(|secret| secret.len() >= TELLING).collect();
        if telling.is_empty() {
            return Self::default();
        }
        let longest = telling.iter().map(|secret| secret.len()).max().unwrap_or_default();
        let mut builder = AhoCorasick::builder();
        // Building fails only for patterns of gigabytes.
        let search = builder.match_kind(MatchKind::LeftmostLongest).build(telling).ok();
        Self { search, longest }
    }

    /// A text without its secrets.
    #[cfg(test)]
    fn text(&self, text: &str) -> String {
        match &self.search {
            Some(search) if search.is_match(text) => {
                let hidden = vec![HIDDEN; search.patterns_len()];
                search.replace_all(text, &hidden)
            }
            _ => text.to_owned(),
        }
    }
}

/// Masks a stream of bytes that arrives in chunks.
#[derive(Debug, Default)]
pub(super) struct MaskedStream {
    masker: Masker,
    /// The end of what has arrived, which may be the start of a secret.
    held: Vec<u8>,
}

impl MaskedStream {
    pub(super) fn new(masker: Masker) -> Self {
        Self { masker, held: Vec::new() }
    }

    /// Takes a chunk, and gives what can be shown by now.
    pub(super) fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        let Some(search) = &self.masker.search else { return out.extend_from_slice(chunk) };
        self.held.extend_from_slice(chunk);
        // A match that ends where the chunk does could be the start of a longer one.
        let keep = self.masker.longest.saturating_sub(1);
        let settled = self.held.len().saturating_sub(keep);
        let mut shown = 0;
        for found in search.find_iter(&self.held) {
            if found.start() >= settled {
                break;
            }
            out.extend_from_slice(&self.held[shown..found.start()]);
            out.extend_from_slice(HIDDEN.as_bytes());
            shown = found.end();
        }
        if shown < settled {
            out.extend_from_slice(&self.held[shown..settled]);
            shown = settled;
        }
        self.held.drain(..shown);
    }

    /// Gives the rest.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        let rest = std::mem::take(&mut self.held);
        match &self.masker.search {
            Some(search) => {
                let hidden = vec![HIDDEN.as_bytes(); search.patterns_len()];
                out.extend_from_slice(&search.replace_all_bytes(&rest, &hidden));
            }
            None => out.extend_from_slice(&rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn chunks_are_masked_as_the_whole_is(
            text in "[ab]{0,40}", secrets in prop::collection::vec("[ab]{4,6}", 0..3), cut in 1usize..7,
        ) {
            let masker = Masker::of(secrets.iter().map(String::as_str));
            let mut stream = MaskedStream::new(masker.clone());
            let mut out = Vec::new();
            text.as_bytes().chunks(cut).for_each(|chunk| stream.push(chunk, &mut out));
            stream.finish(&mut out);
            prop_assert_eq!(String::from_utf8(out).unwrap(), masker.text(&text));
        }
    }
}
