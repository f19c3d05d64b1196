//! Entries by name: of several with one name that are there the last one wins, at the place of the
//! first.

use super::{Emitter, OutputEntry, key};
use crate::sat::formula::Formula;
use crate::text::yaml::{Node, Out};
use crate::variability::template::Declared;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

/// More entries of one name than this, with others between them, may stand in too many places.
const APART: usize = 16;

/// Entries that may have the same names.
#[derive(Default)]
pub(super) struct EntriesByName<'a> {
    entries: Vec<NamedEntry<'a>>,
    names: FxHashSet<&'a str>,
    repeats: bool,
}

#[derive(Clone)]
struct NamedEntry<'a> {
    name: &'a str,
    key: Node<'a>,
    /// When it is there.
    when: Formula,
    value: Out<'a>,
}

impl<'a> EntriesByName<'a> {
    pub(super) fn put(&mut self, declared: &Declared<'a>, when: Formula, value: Out<'a>) {
        let (name, key) = (declared.name, declared.key);
        self.repeats |= !self.names.insert(name);
        self.entries.push(NamedEntry { name, key, when, value });
    }
}

/// Which entry is written where, and when.
struct PlacedEntry {
    at: usize,
    which: usize,
    when: Formula,
}

impl<'a> Emitter<'_, '_, '_, 'a> {
    /// The entries as they are written.
    pub(super) fn named_entries(&mut self, named: EntriesByName<'a>) -> Vec<OutputEntry<'a>> {
        let EntriesByName { entries, repeats, .. } = named;
        let entries = if repeats { self.united(&entries) } else { entries };
        let entry = |entry: NamedEntry<'a>| (key(entry.key), self.under(entry.when, entry.value));
        entries.into_iter().map(entry).collect()
    }

    fn united(&mut self, entries: &[NamedEntry<'a>]) -> Vec<NamedEntry<'a>> {
        let mut by_name: IndexMap<&str, Vec<usize>, FxBuildHasher> = IndexMap::default();
        for (at, entry) in entries.iter().enumerate() {
            by_name.entry(entry.name).or_default().push(at);
        }
        let mut placed = Vec::with_capacity(entries.len());
        by_name.values().for_each(|places| self.place(entries, places, &mut placed));
        placed.retain(|placed| placed.when != Formula::FALSE);
        placed.sort_by_key(|placed| (placed.at, placed.which));
        let entry = |placed: PlacedEntry| {
            let entry = entries.get(placed.which)?.clone();
            Some(NamedEntry { when: placed.when, ..entry })
        };
        placed.into_iter().filter_map(entry).collect()
    }

    /// Places the entries of one name.
    fn place(
        &mut self,
        entries: &[NamedEntry<'a>],
        places: &[usize],
        placed: &mut Vec<PlacedEntry>,
    ) {
        let whens: Vec<_> = places.iter().map(|&at| entries[at].when).collect();
        // When none behind each is there.
        let mut last = vec![Formula::TRUE; whens.len()];
        for at in (1..whens.len()).rev() {
            last[at - 1] = self.both(last[at], !whens[at]);
        }
        // With nothing between them, they may as well stand where they are.
        if places.windows(2).all(|pair| pair[0] + 1 == pair[1]) {
            for (at, &which) in places.iter().enumerate() {
                let when = self.both(whens[at], last[at]);
                placed.push(PlacedEntry { at: which, which, when });
            }
            return;
        }
        let mut none_before = Formula::TRUE;
        for (first, &at) in places.iter().enumerate() {
            let is_first = self.both(none_before, whens[first]);
            none_before = self.both(none_before, !whens[first]);
            if is_first == Formula::FALSE {
                continue;
            }
            if self.presence.is_none() && places.len() > APART {
                return self.opening.give_up();
            }
            for (other, &which) in places.iter().enumerate().skip(first) {
                let when = self.evaluator.arena.and([is_first, whens[other], last[other]]);
                placed.push(PlacedEntry { at, which, when });
            }
        }
    }
}
