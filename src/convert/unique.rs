//! Finds free names.

use rustc_hash::{FxHashMap, FxHashSet};

/// A free name: the wanted one, or one with a number.
pub(super) fn unique(wanted: &str, is_taken: impl Fn(&str) -> bool) -> String {
    match is_taken(wanted) {
        true => numbered(wanted, 2, is_taken).0,
        false => wanted.to_owned(),
    }
}

/// The first free name with a number, from `first` on, and that number.
fn numbered(wanted: &str, first: usize, is_taken: impl Fn(&str) -> bool) -> (String, usize) {
    let mut number = first;
    loop {
        let name = format!("{wanted}_{number}");
        if !is_taken(&name) {
            return (name, number);
        }
        number += 1;
    }
}

/// Names of which none is given twice.
#[derive(Debug, Default)]
pub(super) struct UniqueNames {
    taken: FxHashSet<String>,
    /// The last number with which a wanted name was given: all below are taken.
    numbers: FxHashMap<String, usize>,
}

impl UniqueNames {
    /// Takes a free name: the wanted one, or one with a number.
    pub(super) fn take(&mut self, wanted: &str) -> String {
        if self.taken.insert(wanted.to_owned()) {
            return wanted.to_owned();
        }
        let last = self.numbers.get(wanted).map_or(1, |last| *last);
        let (name, number) = numbered(wanted, last + 1, |name| self.taken.contains(name));
        self.numbers.insert(wanted.to_owned(), number);
        self.taken.insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_is_given_twice() {
        let mut names = UniqueNames::default();
        let wanted = ["a", "a", "a_2", "a", "a_4", "a", "b"];
        let given = wanted.map(|wanted| names.take(wanted));
        assert_eq!(given, ["a", "a_2", "a_2_2", "a_3", "a_4", "a_5", "b"]);
        let mut taken = FxHashSet::default();
        for (wanted, given) in wanted.into_iter().zip(given) {
            assert_eq!(unique(wanted, |name| taken.contains(name)), given);
            taken.insert(given);
        }
    }
}
