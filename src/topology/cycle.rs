//! Cycles of whatever follows whatever.
//!
//! Components are found as in Tarjan, "Depth-first search and linear graph algorithms" (1972),
//! without recursion. The shortest cycle of one is the best of searches in breadth. To search from
//! every node is quadratic; but what has been searched from can be left out, and where a few nodes
//! separate a component, as one level of a search in breadth does, no cycle goes through what is
//! left on both sides: each side is a problem of its own.

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
    let whole = Knot { members: (0..edges.len()).collect(), edges: edges.to_vec() };
    whole.split().into_iter().filter_map(shortest).collect()
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

/// A part of a graph, with positions of its own.
struct Knot<T> {
    /// What it consists of, in ascending order.
    members: Vec<usize>,
    edges: Vec<Vec<(usize, T)>>,
}

/// With so few members it does not pay to look for some that separate the others.
const FEW: usize = 64;

/// Separators have at most one member for so many on either side.
const BALANCE: usize = 4;

impl<T: Copy> Knot<T> {
    /// The parts in which everything leads to everything and there is a cycle, in the order of
    /// their first members.
    fn split(&self) -> Vec<Self> {
        let components = StrongComponents::of(&self.edges);
        let mut members = vec![Vec::new(); components.count];
        // Where each stands among the members of its component.
        let mut position = Vec::with_capacity(self.edges.len());
        for (index, &component) in components.of_each.iter().enumerate() {
            position.push(members[component].len());
            members[component].push(index);
        }
        members.sort_unstable_by_key(|members| members[0]);
        let inner = |&index: &usize| {
            let component = components.of_each[index];
            let edges = self.edges[index].iter();
            let stays = edges.filter(|(to, _)| components.of_each.get(*to) == Some(&component));
            stays.map(|&(to, edge)| (position[to], edge)).collect::<Vec<_>>()
        };
        let knots = members.into_iter().map(|members| Self {
            edges: members.iter().map(inner).collect(),
            members: members.into_iter().map(|index| self.members[index]).collect(),
        });
        knots.filter(|knot| !knot.edges[0].is_empty()).collect()
    }

    /// Some members of which each cycle has one, or else is on one side of them.
    fn separator(&self) -> Vec<usize> {
        let few = if self.members.len() > FEW { self.level() } else { None };
        few.unwrap_or_else(|| {
            // Every cycle goes through a member that leads on in two ways, unless there is only
            // one.
            let branches = (0..self.edges.len()).filter(|&index| self.edges[index].len() > 1);
            let branches: Vec<_> = branches.collect();
            if branches.is_empty() { vec![0] } else { branches }
        })
    }

    /// All that is equally far from the first member, where that is little compared to what is
    /// nearer and to what is farther.
    ///
    /// An edge leads one level farther at most: nothing goes from the nearer to the farther but
    /// through it.
    fn level(&self) -> Option<Vec<usize>> {
        let mut reached = vec![false; self.edges.len()];
        let mut next = vec![0];
        let mut levels = Vec::new();
        reached[0] = true;
        while !next.is_empty() {
            let level = std::mem::take(&mut next);
            for &(to, _) in level.iter().flat_map(|&index| &self.edges[index]) {
                if !std::mem::replace(&mut reached[to], true) {
                    next.push(to);
                }
            }
            levels.push(level);
        }
        let mut nearer = 0;
        let mut best: Option<(usize, usize, usize)> = None;
        for (index, level) in levels.iter().enumerate() {
            let size = level.len();
            let side = nearer.min(self.edges.len() - nearer - size);
            nearer += size;
            let is_better = best.is_none_or(|(_, least, of)| size * of < least * side);
            if size * BALANCE <= side && is_better {
                best = Some((index, size, side));
            }
        }
        best.map(|(index, ..)| levels.swap_remove(index))
    }

    /// The shortest cycle through a member, where it is shorter than this.
    fn through(&self, start: usize, bound: usize, search: &mut Search<T>) -> Option<Cycle<T>> {
        let Search { came, queue } = search;
        let mut reached = Vec::new();
        let mut last = None;
        queue.clear();
        queue.push_back((start, 1));
        'search: while let Some((index, length)) = queue.pop_front() {
            if length >= bound {
                break;
            }
            for &(to, edge) in &self.edges[index] {
                if to == start {
                    last = Some((index, edge));
                    break 'search;
                }
                if came[to].is_none() {
                    came[to] = Some((index, edge));
                    reached.push(to);
                    queue.push_back((to, length + 1));
                }
            }
        }
        let back = std::iter::successors(last, |&(index, _)| came[index]);
        let mut cycle: Vec<_> = back.map(|(index, edge)| (self.members[index], edge)).collect();
        cycle.reverse();
        reached.into_iter().for_each(|index| came[index] = None);
        (!cycle.is_empty()).then_some(cycle)
    }
}

/// What searches in breadth use again.
struct Search<T> {
    /// From where each was reached, and by which edge; cleared behind every search.
    came: Vec<Option<(usize, T)>>,
    /// What is reached and not looked at yet, each with how long a cycle is that ends there.
    queue: VecDeque<(usize, usize)>,
}

/// The shortest cycle of a knot.
fn shortest<T: Copy>(knot: Knot<T>) -> Option<Cycle<T>> {
    let mut search = Search { came: vec![None; knot.edges.len()], queue: VecDeque::new() };
    let mut best: Option<Cycle<T>> = None;
    let mut open = vec![knot];
    while let Some(mut knot) = open.pop() {
        for start in knot.separator() {
            let bound = best.as_ref().map_or(usize::MAX, Vec::len);
            best = knot.through(start, bound, &mut search).or(best);
            // Of the cycles through it none is shorter than the best.
            knot.edges[start].clear();
        }
        open.extend(knot.split());
    }
    let mut best = best?;
    let first = best.iter().enumerate().min_by_key(|(_, (index, _))| *index);
    let first = first.map_or(0, |(position, _)| position);
    best.rotate_left(first);
    Some(best)
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

    /// The length of the shortest cycle: by searching from everywhere.
    fn girth(edges: &Edges<()>) -> Option<usize> {
        let through = |start: usize| {
            let mut distance = vec![None; edges.len()];
            let mut queue = VecDeque::from([(start, 0)]);
            while let Some((index, length)) = queue.pop_front() {
                for &(to, ()) in &edges[index] {
                    if distance[to].is_none() {
                        distance[to] = Some(length + 1);
                        queue.push_back((to, length + 1));
                    }
                }
            }
            distance[start]
        };
        (0..edges.len()).filter_map(through).min()
    }

    proptest! {
        /// Broad rings, with a few edges that lead anywhere.
        #[test]
        fn separated_knots_have_their_shortest_cycle(
            count in 100usize..300,
            steps in prop::collection::vec((0usize..300, 1usize..9), 0..400),
            shortcuts in prop::collection::vec((0usize..300, 0usize..300), 0..3),
            shuffle in Just((0usize..300).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let mut names = shuffle;
            names.retain(|&name| name < count);
            let mut edges = vec![Vec::new(); count];
            let ring = (0..count).map(|index| (index, index + 1));
            let steps = steps.iter().map(|&(from, by)| (from, from + by));
            for (from, to) in ring.chain(steps).chain(shortcuts) {
                edges[names[from % count]].push((names[to % count], ()));
            }
            let found = shortest_cycles(&edges);
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(Some(found[0].len()), girth(&edges));
            for ((from, ()), (to, ())) in found[0].iter().zip(found[0].iter().cycle().skip(1)) {
                prop_assert!(edges[*from].contains(&(*to, ())), "{:?}", found[0]);
            }
        }
    }

    /// Searching from everywhere would look at some 10^10 edges.
    #[test]
    fn long_knots_take_no_time() {
        let (count, prime) = (100_000, 7_919);
        let mut edges = vec![Vec::new(); count];
        for index in 0..count {
            let name = |index: usize| index % count * prime % count;
            edges[name(index)] = [1, 3, 7].map(|by| (name(index + by), by)).to_vec();
        }
        let found = shortest_cycles(&edges);
        assert_eq!(found.len(), 1);
        // 14285 sevens, a three and two ones.
        assert_eq!(found[0].len(), 14_288);
        assert_eq!(found[0].iter().map(|(_, by)| by).sum::<usize>(), count);
    }

    #[test]
    fn dense_knots_take_no_time() {
        let all = |from: usize| (0..1000).filter(|&to| to != from).map(|to| (to, ())).collect();
        let edges: Vec<Vec<_>> = (0..1000).map(all).collect();
        assert_eq!(shortest_cycles(&edges), [vec![(0, ()), (1, ())]]);
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
