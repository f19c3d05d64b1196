//! Maps names to positions, for names that are mostly looked up in the order of their declaration.

use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell};

/// Positions by name; if a name occurs several times, the last position counts.
#[derive(Debug, Default)]
pub(crate) struct NameIndex<'a> {
    names: Vec<&'a str>,
    /// Whether all names are distinct, so that the first match is the right one.
    is_distinct: bool,
    /// The position found last. The next look-up is mostly for the same position, one of the next,
    /// or the first; these are checked without the table, which is mostly not in the cache.
    last: Cell<usize>,
    /// The table of names, which is built when it is first needed.
    table: OnceCell<FxHashMap<&'a str, usize>>,
}

impl<'a> NameIndex<'a> {
    /// An index of these names; `is_distinct` tells that no name occurs twice.
    pub(crate) fn of(names: impl Iterator<Item = &'a str>, is_distinct: bool) -> Self {
        Self { names: names.collect(), is_distinct, ..Self::default() }
    }

    /// The position of a name.
    pub(crate) fn get(&self, name: &str) -> Option<usize> {
        let last = self.last.get();
        let is_meant = |at: &usize| {
            self.is_distinct && self.names.get(*at).is_some_and(|known| *known == name)
        };
        let found = [last, last + 1, last + 2, 0]
            .into_iter()
            .find(is_meant)
            .or_else(|| self.table().get(name).copied())?;
        self.last.set(found);
        Some(found)
    }

    /// All names in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.names.iter().copied()
    }

    fn table(&self) -> &FxHashMap<&'a str, usize> {
        self.table.get_or_init(|| self.names().zip(0..).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_names_in_any_order() {
        let names = ["a", "b", "c", "d"];
        let index = NameIndex::of(names.into_iter(), true);
        for first in names {
            for second in names.into_iter().chain(["e"]) {
                index.get(first);
                assert_eq!(
                    index.get(second),
                    names.iter().position(|name| *name == second),
                    "{second} after {first}"
                );
            }
        }
    }

    #[test]
    fn asks_the_table_only_where_the_order_is_another() {
        let index = NameIndex::of(["a", "b", "c", "d"].into_iter(), true);
        assert_eq!(
            ["a", "a", "c", "d", "a"].map(|name| index.get(name)),
            [0, 0, 2, 3, 0].map(Some)
        );
        assert!(index.table.get().is_none());
        assert_eq!(index.get("d"), Some(3));
        assert!(index.table.get().is_some());
    }

    #[test]
    fn the_last_of_a_name_counts() {
        let index = NameIndex::of(["a", "b", "a"].into_iter(), false);
        assert_eq!(["a", "b", "a"].map(|name| index.get(name)), [Some(2), Some(1), Some(2)]);
        assert_eq!(NameIndex::default().get("a"), None);
    }
}
