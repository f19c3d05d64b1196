//! Finds the strongly connected components of a directed graph, and a shortest cycle of each.
//!
//! The components are found as in Tarjan, "Depth-first search and linear graph algorithms" (1972),
//! but without recursion. A shortest cycle is the best result of several breadth-first searches. A
//! search from every node takes quadratic time, so two things reduce the work. A node that has been
//! searched from is left out from then on. And where a few nodes separate a component, as one level
//! of a breadth-first search does, they are searched from first: no other cycle has nodes on both
//! sides, so each side is a problem of its own.

use std::collections::VecDeque;

/// The edges of a graph: for each node, the nodes that its edges lead to, each with the data of the
/// edge.
pub(crate) type Edges<T> = [Vec<(usize, T)>];

/// A cycle: its nodes, each with the edge to the next node; the last edge leads to the first node.
pub(crate) type Cycle<T> = Vec<(usize, T)>;

/// A shortest cycle of each strongly connected component, in the order of their first members. Each
/// cycle begins with its node of the least position.
///
/// An edge to a position outside the graph is ignored.
pub(crate) fn shortest_cycles<T: Copy>(edges: &Edges<T>) -> Vec<Cycle<T>> {
    let data: Vec<T> = edges.iter().flatten().map(|&(_, data)| data).collect();
    let mut numbers = 0..;
    let numbered =
        |edges: &Vec<(usize, T)>| edges.iter().map(|(to, _)| *to).zip(&mut numbers).collect();
    let whole =
        Knot { members: (0..edges.len()).collect(), edges: edges.iter().map(numbered).collect() };
    let shortest = whole.split().into_iter().filter_map(shortest);
    let with_data = |cycle: Cycle<EdgeNumber>| {
        cycle.into_iter().map(|(index, edge)| (index, data[edge])).collect()
    };
    shortest.map(with_data).collect()
}

/// The number of the strongly connected component that each node is in.
pub(crate) fn components<T>(edges: &Edges<T>) -> Vec<usize> {
    StrongComponents::of(edges).of_each
}

/// The strongly connected components of a graph.
struct StrongComponents {
    of_each: Vec<usize>,
    count: usize,
}

impl StrongComponents {
    fn of<T>(edges: &Edges<T>) -> Self {
        const NONE: usize = usize::MAX;
        let mut found = Self { of_each: vec![NONE; edges.len()], count: 0 };
        // The time when each node was reached first, and the earliest such time it leads back to.
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

    /// Closes a component: all nodes that were reached since `first` are in one component with it.
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

/// The position of an edge among all edges of the whole graph.
type EdgeNumber = usize;

/// A part of a graph, with its own numbering of the nodes.
struct Knot {
    /// The nodes of the part, as positions in the whole graph, in ascending order.
    members: Vec<usize>,
    edges: Vec<Vec<(usize, EdgeNumber)>>,
}

/// In a part of at most this many members, it does not pay to look for a separator.
const FEW: usize = 64;

/// A separator has at most one member for this many members on either side.
const BALANCE: usize = 4;

impl Knot {
    /// The strongly connected components that contain a cycle, in the order of their first members.
    fn split(&self) -> Vec<Self> {
        let components = StrongComponents::of(&self.edges);
        let mut members = vec![Vec::new(); components.count];
        // The position of each node among the members of its component.
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

    /// Members such that every cycle either contains one of them or stays on one side of them.
    fn separator(&self) -> Vec<usize> {
        let few = if self.members.len() > FEW { self.level() } else { None };
        few.unwrap_or_else(|| {
            // Every cycle goes through a member with two or more edges, unless the whole part is a
            // single cycle.
            let branches = (0..self.edges.len()).filter(|&index| self.edges[index].len() > 1);
            let branches: Vec<_> = branches.collect();
            if branches.is_empty() { vec![0] } else { branches }
        })
    }

    /// The members at one distance from the first member, if they are few compared to the nearer
    /// members and to the farther ones.
    ///
    /// An edge leads at most one level farther, so every path from a nearer to a farther member
    /// goes through this level.
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

    /// The shortest cycle through a member, if it is shorter than `bound`.
    fn through(
        &self,
        start: usize,
        bound: usize,
        search: &mut Search,
    ) -> Option<Cycle<EdgeNumber>> {
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

/// Buffers that the breadth-first searches share.
struct Search {
    /// The node and the edge by which each node was reached; cleared after every search.
    came: Vec<Option<(usize, EdgeNumber)>>,
    /// The nodes that are reached but not yet visited, each with the length of a cycle that ends
    /// there.
    queue: VecDeque<(usize, usize)>,
}

/// The shortest cycle of a part.
fn shortest(knot: Knot) -> Option<Cycle<EdgeNumber>> {
    let mut search = Search { came: vec![None; knot.edges.len()], queue: VecDeque::new() };
    let mut best: Option<Cycle<EdgeNumber>> = None;
    let mut open = vec![knot];
    while let Some(mut knot) = open.pop() {
        for start in knot.separator() {
            let bound = best.as_ref().map_or(usize::MAX, Vec::len);
            best = knot.through(start, bound, &mut search).or(best);
            // No cycle through this node is shorter than the best one, so the node can be left out.
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

    /// The length of the shortest path of at least one edge between every two nodes, found by
    /// trying every node as an intermediate one.
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

    /// The length of the shortest cycle, found by a search from every node.
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
        /// Broad rings, with a few extra edges between arbitrary nodes.
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

    /// A search from every node would look at some 10^10 edges.
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
        // The cycle takes 14285 steps of seven, one step of three and two steps of one.
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
