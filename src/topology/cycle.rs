//! Cycles of whatever follows whatever.
//!
//! Components are found as in Tarjan, "Depth-first search and linear graph algorithms" (1972),
//! without recursion; in each the shortest cycle is that of the best search in breadth.

use std::collections::VecDeque;

/// What leads to what: for each, where its edges lead, and what is to be said of them.
pub(crate) type Edges<T> = [Vec<(usize, T)>];

/// A cycle: what is on it, each with its edge to the next, the last with that to the first.
pub(crate) type Cycle<T> = Vec<(usize, T)>;

/// A shortest cycle of each part of a graph in which everything leads to everything, in the order
/// of their first members; each begins with what has the least position.
///
/// An edge that leads nowhere is none.
pub(crate) fn shortest_cycles<T: Copy>(edges: &Edges<T>) -> Vec<Cycle<T>> {
    let components = StrongComponents::of(edges);
    let mut members = vec![Vec::new(); components.count];
    for (index, &component) in components.of_each.iter().enumerate() {
        members[component].push(index);
    }
    members.retain(|members| !members.is_empty());
    members.sort_unstable_by_key(|members| members[0]);
    let mut search = Search { edges, components: &components.of_each, came: Vec::new() };
    search.came.resize(edges.len(), None);
    members.iter().filter_map(|members| search.shortest(members)).collect()
}

/// Of each the part in which it is, where everything leads to everything, by a number.
pub(crate) fn components<T>(edges: &Edges<T>) -> Vec<usize> {
    StrongComponents::of(edges).of_each
}

/// Which nodes lead to each other: the strongly connected components.
struct StrongComponents {
    of_each: Vec<usize>,
    count: usize,
}

impl StrongComponents {
    fn of<T>(edges: &Edges<T>) -> Self {
        const NONE: usize = usize::MAX;
        let mut found = Self { of_each: vec![NONE; edges.len()], count: 0 };
        // When each was reached first, and the earliest that it leads back to.
        let (mut reached, mut lowest) = (vec![NONE; edges.len()], vec![NONE; edges.len()]);
        let mut open = Vec::new();
        let mut time = 0;
        for start in 0..edges.len() {
            let mut way = Vec::new();
            let mut next = (reached[start] == NONE).then_some(start);
            loop {
                if let Some(index) = next.take() {
                    (reached[index], lowest[index]) = (time, time);
                    time += 1;
                    open.push(index);
                    way.push((index, edges[index].iter()));
                }
                let Some((index, rest)) = way.last_mut() else { break };
                let index = *index;
                match rest.next() {
                    Some(&(to, _)) if to >= edges.len() => {}
                    Some(&(to, _)) if reached[to] == NONE => next = Some(to),
                    Some(&(to, _)) if found.of_each[to] == NONE => {
                        lowest[index] = lowest[index].min(reached[to]);
                    }
                    Some(_) => {}
                    None => {
                        way.pop();
                        if let Some(&(before, _)) = way.last() {
                            lowest[before] = lowest[before].min(lowest[index]);
                        }
                        if lowest[index] == reached[index] {
                            found.close(index, &mut open);
                        }
                    }
                }
            }
        }
        found
    }

    /// All that was reached since this one is one component with it.
    fn close(&mut self, first: usize, open: &mut Vec<usize>) {
        while let Some(index) = open.pop() {
            self.of_each[index] = self.count;
            if index == first {
                break;
            }
        }
        self.count += 1;
    }
}

struct Search<'e, T> {
    edges: &'e Edges<T>,
    components: &'e [usize],
    /// From where each was reached, and by which edge; cleared behind every search.
    came: Vec<Option<(usize, T)>>,
}

impl<T: Copy> Search<'_, T> {
    /// The edges that stay in the component.
    fn inner(&self, from: usize) -> impl Iterator<Item = (usize, T)> + use<'_, T> {
        let component = self.components[from];
        let edges = self.edges[from].iter().copied();
        edges.filter(move |(to, _)| self.components.get(*to) == Some(&component))
    }

    /// The shortest cycle of a component; nothing where a node is alone.
    fn shortest(&mut self, members: &[usize]) -> Option<Cycle<T>> {
        // Every cycle goes through a node that leads on in two ways, unless the component is one
        // ring.
        let mut starts: Vec<_> =
            members.iter().copied().filter(|&index| self.inner(index).nth(1).is_some()).collect();
        if starts.is_empty() {
            starts.extend(members.first());
        }
        let mut best: Option<Cycle<T>> = None;
        for start in starts {
            let bound = best.as_ref().map_or(usize::MAX, Vec::len);
            best = self.through(start, bound).or(best);
        }
        let mut best = best?;
        let first = best.iter().enumerate().min_by_key(|(_, (index, _))| *index);
        let first = first.map_or(0, |(position, _)| position);
        best.rotate_left(first);
        Some(best)
    }

    /// The shortest cycle through a node, where it is shorter than this.
    fn through(&mut self, start: usize, bound: usize) -> Option<Cycle<T>> {
        let mut queue = VecDeque::from([(start, 1)]);
        let mut reached = Vec::new();
        let mut last = None;
        'search: while let Some((index, length)) = queue.pop_front() {
            if length >= bound {
                break;
            }
            let inner: Vec<_> = self.inner(index).collect();
            for (to, edge) in inner {
                if to == start {
                    last = Some((index, edge));
                    break 'search;
                }
                if self.came[to].is_none() {
                    self.came[to] = Some((index, edge));
                    reached.push(to);
                    queue.push_back((to, length + 1));
                }
            }
        }
        let back = std::iter::successors(last, |&(index, _)| self.came[index]);
        let mut cycle: Vec<_> = back.collect();
        cycle.reverse();
        reached.into_iter().for_each(|index| self.came[index] = None);
        (!cycle.is_empty()).then_some(cycle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The length of the shortest way of at least one edge from each to each: by trying every node
    /// between.
    fn distances(edges: &Edges<()>) -> Vec<Vec<usize>> {
        let count = edges.len();
        let mut way = vec![vec![usize::MAX / 4; count]; count];
        for (from, edges) in edges.iter().enumerate() {
            edges.iter().for_each(|&(to, ())| way[from][to] = 1);
        }
        for through in 0..count {
            for from in 0..count {
                for to in 0..count {
                    way[from][to] = way[from][to].min(way[from][through] + way[through][to]);
                }
            }
        }
        way
    }

    proptest! {
        #[test]
        fn each_component_has_its_shortest_cycle(
            edges in prop::collection::vec(prop::collection::vec(0usize..9, 0..3), 9),
        ) {
            let edges: Vec<Vec<_>> =
                edges.into_iter().map(|to| to.into_iter().map(|to| (to, ())).collect()).collect();
            let (found, way) = (shortest_cycles(&edges), distances(&edges));
            let on_cycle = |index: &usize| way[*index][*index] < 99;
            let together = |a: usize, b: usize| way[a][b] < 99 && way[b][a] < 99;
            let components: BTreeSet<Vec<usize>> = (0..9)
                .filter(on_cycle)
                .map(|index| (0..9).filter(|&other| together(index, other)).collect())
                .collect();
            prop_assert_eq!(found.len(), components.len());
            for (cycle, component) in found.iter().zip(components) {
                let shortest = component.iter().map(|&index| way[index][index]).min();
                prop_assert_eq!(Some(cycle.len()), shortest, "{:?}", cycle);
                let least = cycle.iter().map(|(index, ())| index).min();
                prop_assert_eq!(Some(&cycle[0].0), least);
                for ((from, ()), (to, ())) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
                    prop_assert!(component.contains(from));
                    prop_assert!(edges[*from].contains(&(*to, ())), "{:?}", cycle);
                }
            }
        }
    }

    #[test]
    fn long_rings_take_no_time() {
        let count = 100_000;
        let ring: Vec<_> = (0..count).map(|index| vec![((index + 1) % count, index)]).collect();
        let found = shortest_cycles(&ring);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].len(), count);
        assert_eq!((found[0][0], found[0][count - 1]), ((0, 0), (count - 1, count - 1)));
    }

    #[test]
    fn edges_that_lead_nowhere_are_none() {
        assert!(shortest_cycles(&[vec![(7, ())], vec![]]).is_empty());
        assert_eq!(shortest_cycles(&[vec![(7, 'a'), (0, 'b')]]), [vec![(0, 'b')]]);
    }
}
