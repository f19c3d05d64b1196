//! Rows of numbers in which neighbours are mostly equal.
//!
//! One input may have thousands of cases, and thousands of conditions that each change at one or
//! two of them. A number for each condition and case would be millions of numbers.

use rustc_hash::FxHashMap;
use std::ops::Range;

/// A number for each index from 0 on. Neighbours with the same number are one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct NumberRuns {
    /// The first index and the number of each run.
    starts: Vec<(usize, u32)>,
    /// How many indices there are.
    len: usize,
}

impl NumberRuns {
    /// Gives this number to the next indices.
    pub(super) fn extend(&mut self, count: usize, number: u32) {
        if count > 0 && self.starts.last().is_none_or(|&(_, last)| last != number) {
            self.starts.push((self.len, number));
        }
        self.len += count;
    }

    /// How many indices there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The number of an index; `None` after the last one.
    pub(super) fn at(&self, index: usize) -> Option<u32> {
        let run = self.starts.partition_point(|&(start, _)| start <= index).checked_sub(1)?;
        (index < self.len).then(|| self.starts[run].1)
    }

    /// The runs: the indices and the number of each.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Range<usize>, u32)> {
        let ends = self.starts.iter().skip(1).map(|&(start, _)| start).chain([self.len]);
        self.starts.iter().zip(ends).map(|(&(start, number), end)| (start..end, number))
    }

    /// The numbers of these indices, which ascend.
    pub(super) fn select(&self, indices: &[usize]) -> Self {
        let mut selected = Self::default();
        for (run, number) in self.iter() {
            let count = indices[selected.len..].partition_point(|&index| index < run.end);
            selected.extend(count, number);
        }
        selected
    }

    /// Moves the number of an index behind all others.
    pub(super) fn move_last(&mut self, index: usize) {
        let Some(moved) = self.at(index) else { return };
        let mut others = Self::default();
        for (run, number) in self.iter() {
            others.extend(run.len() - usize::from(run.contains(&index)), number);
        }
        others.extend(1, moved);
        *self = others;
    }
}

/// For each index, how many of these ranges have it.
pub(super) fn covering(len: usize, ranges: &[Range<usize>]) -> Vec<usize> {
    let (mut begun, mut ended) = (vec![0; len + 1], vec![0; len + 1]);
    for range in ranges {
        begun[range.start] += 1;
        ended[range.end] += 1;
    }
    let mut open = 0;
    let count = |index: usize| {
        open += begun[index];
        open -= ended[index];
        open
    };
    (0..len).map(count).collect()
}

/// Groups of the indices at which each row has the same number, in the order of the first index of
/// each group.
pub(super) fn alike(len: usize, rows: &[&NumberRuns]) -> Vec<Vec<usize>> {
    // For each index, the rows that change there.
    let mut changes: Vec<Vec<(usize, u32)>> = vec![Vec::new(); len];
    for (row, runs) in rows.iter().enumerate() {
        runs.starts.iter().for_each(|&(start, number)| changes[start].push((row, number)));
    }
    let mut column = OutcomeColumn::of(rows.len());
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut group_of: FxHashMap<u64, u64> = FxHashMap::default();
    for (index, changes) in changes.into_iter().enumerate() {
        changes.into_iter().for_each(|(row, number)| column.set(row, number));
        let group = *group_of.entry(column.id()).or_insert(groups.len() as u64) as usize;
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(index);
    }
    groups
}

/// Numbers that change one by one and are compared as a whole with all that they were before: equal
/// numbers have the same id. They are the leaves of a binary tree, in which equal pairs of children
/// have the same parent.
struct OutcomeColumn {
    /// The root is at 1; the children of `n` are at `2n` and `2n + 1`.
    tree: Vec<u32>,
    /// The parent of each pair of children, which are the two halves of a number.
    parents: FxHashMap<u64, u64>,
}

impl OutcomeColumn {
    /// So many numbers, of which none is set.
    fn of(len: usize) -> Self {
        Self { tree: vec![u32::MAX; 2 * len.next_power_of_two()], parents: FxHashMap::default() }
    }

    fn set(&mut self, index: usize, number: u32) {
        let mut at = self.tree.len() / 2 + index;
        self.tree[at] = number;
        while at > 1 {
            at /= 2;
            let next = self.parents.len() as u64;
            let [one, other] = [2 * at, 2 * at + 1].map(|child| u64::from(self.tree[child]));
            self.tree[at] = *self.parents.entry(one << 32 | other).or_insert(next) as u32;
        }
    }

    fn id(&self) -> u64 {
        self.tree[1].into()
    }
}
