//! Names to positions, for names that are asked for mostly in the order in which they are declared.

use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell};

/// Positions by name; of a name that comes twice the last one.
#[derive(Debug, Default)]
pub(crate) struct NameIndex<'a> {
    names: Vec<&'a str>,
    /// Whether no name comes twice, so that whatever has the name is what is meant.
    is_distinct: bool,
    /// What was found last. Mostly it is asked for again, one of the next, or the first; those are
    /// known without a look into the table, most of which would be in no cache.
    last: Cell<usize>,
    /// Made when it is needed for the first time.
    table: OnceCell<FxHashMap<&'a str, usize>>,
}

impl<'a> NameIndex<'a> {
    /// The positions of these; `is_distinct` where it is known that no name comes twice.
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
