//! Sorts positions topologically.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A topological order: each position comes after those that it has to come after. Where there is a
/// choice, the rank decides. Positions on a cycle or after one are left out (Kahn, "Topological
/// sorting of large networks", 1962).
pub(super) fn sorted<R: Ord, I: Iterator<Item = usize>>(
    count: usize,
    before: impl Fn(usize) -> I,
    rank: impl Fn(usize) -> R,
) -> Vec<usize> {
    let mut open = vec![0; count];
    let mut behind = vec![Vec::new(); count];
    for (index, open) in open.iter_mut().enumerate() {
        for one in before(index) {
            *open += 1;
            behind[one].push(index);
        }
    }
    let key = |index| Reverse((rank(index), index));
    let mut ready: BinaryHeap<_> = (0..count).filter(|&index| open[index] == 0).map(key).collect();
    let mut order = Vec::with_capacity(count);
    while let Some(Reverse((_, index))) = ready.pop() {
        order.push(index);
        for &next in &behind[index] {
            open[next] -= 1;
            if open[next] == 0 {
                ready.push(key(next));
            }
        }
    }
    order
}
