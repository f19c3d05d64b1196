//! Writes entries by name. Of several present entries with the same name, the last one wins, and it
//! is written at the place of the first.

use super::{Emitter, OutputEntry, key};
use crate::variability::template::Declared;
use cuvee_sat::formula::Formula;
use cuvee_text::yaml::{Node, Out};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

/// How many entries may have the same name if other entries are between them. With more, there are
/// too many places where the winner may be written.
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
    /// The condition under which the entry is present.
    when: Formula,
    value: Out<'a>,
}

impl<'a> EntriesByName<'a> {
    pub(super) fn put(&mut self, declared: &Declared<'a>, when: Formula, value: Out<'a>) {
        let (name, key) = (declared.name(), declared.key());
        self.repeats |= !self.names.insert(name);
        self.entries.push(NamedEntry { name, key, when, value });
    }
}

/// An entry, the place where it may be written, and the condition for that.
struct PlacedEntry {
    at: usize,
    which: usize,
    when: Formula,
}

impl<'a> Emitter<'_, '_, '_, 'a> {
    /// The entries in the form in which they are written.
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

    /// Finds the places of the entries of one name, with the condition for each.
    fn place(
        &mut self,
        entries: &[NamedEntry<'a>],
        places: &[usize],
        placed: &mut Vec<PlacedEntry>,
    ) {
        let whens: Vec<_> = places.iter().map(|&at| entries[at].when).collect();
        // For each entry, the condition that no later entry of this name is present.
        let mut last = vec![Formula::TRUE; whens.len()];
        for at in (1..whens.len()).rev() {
            last[at - 1] = self.both(last[at], !whens[at]);
        }
        // If these entries are adjacent, each may stay at its own place.
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
