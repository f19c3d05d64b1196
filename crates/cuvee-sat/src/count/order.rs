//! Finds an order in which to decide variables so that the clauses split early.
//!
//! Variables that share a clause are neighbours. Eliminating a variable makes all its neighbours
//! neighbours of each other. The heuristic *min-fill* always eliminates the variable that adds the
//! fewest pairs; so the variables that separate the rest are eliminated last. Variables are decided
//! in the reverse order. Then each part that is left depends on few of the earlier decisions, and
//! occurs again under other decisions.
//!
//! # References
//!
//! - Uffe Kjærulff. "Triangulation of Graphs: Algorithms Giving Small Total State Space." Aalborg
//!   University 1990: orders of elimination, *min-fill* among others.
//! - Adnan Darwiche. "Decomposable Negation Normal Form." Journal of the ACM 2001: the normal form
//!   is small where such an order is good.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use crate::simplify::ClauseList;

/// The rank of each variable. Of the variables that are left, the one of the least rank is decided
/// next. All variables that may be decided come before the others.
pub(super) fn ranks(clauses: &ClauseList, decidable: &[bool]) -> Vec<u32> {
    let mut graph = PrimalGraph::of(clauses, decidable.len());
    let mut heap: BinaryHeap<_> =
        (0..decidable.len() as u32).map(|var| Reverse(graph.price(var, decidable))).collect();
    let mut ranks = vec![0; decidable.len()];
    let mut rank = decidable.len() as u32;
    while let Some(Reverse(price)) = heap.pop() {
        let var = price.var;
        if graph.gone[var as usize] {
            continue;
        }
        let current = graph.price(var, decidable);
        if current > price {
            heap.push(Reverse(current));
            continue;
        }
        rank -= 1;
        ranks[var as usize] = rank;
        for neighbour in graph.remove(var) {
            heap.push(Reverse(graph.price(neighbour, decidable)));
        }
    }
    ranks
}

/// The cost of eliminating a variable. The cheapest variable is eliminated first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Price {
    decidable: bool,
    /// How many pairs of variables become neighbours.
    pairs: usize,
    neighbours: usize,
    var: u32,
}

struct PrimalGraph {
    neighbours: Vec<FxHashSet<u32>>,
    gone: Vec<bool>,
    /// How many pairs may still be looked at. After that, costs are estimated.
    left: usize,
}

/// The most variables that a clause may have to make all of them neighbours. In a longer clause
/// only consecutive variables become neighbours, because such a clause is nearly always satisfied
/// by one of its literals.
const LONG: usize = 64;
/// The most neighbours of a variable whose missing pairs are counted. With more neighbours, the
/// number is estimated.
const WIDE: usize = 64;
/// How many pairs may be looked at, and how many more for each variable.
const EFFORT: usize = 20_000_000;
const EFFORT_PER_VAR: usize = 200;

impl PrimalGraph {
    fn of(clauses: &ClauseList, vars: usize) -> Self {
        let mut neighbours = vec![FxHashSet::default(); vars];
        for clause in clauses.iter() {
            let reach = if clause.len() > LONG { 1 } else { clause.len() };
            for (position, a) in clause.iter().enumerate() {
                for b in clause[position + 1..].iter().take(reach) {
                    neighbours[a.var().index()].insert(b.var().0);
                    neighbours[b.var().index()].insert(a.var().0);
                }
            }
        }
        Self {
            neighbours,
            gone: vec![false; vars],
            left: EFFORT + vars.saturating_mul(EFFORT_PER_VAR),
        }
    }

    fn price(&mut self, var: u32, decidable: &[bool]) -> Price {
        let neighbours = self.neighbours[var as usize].len();
        let is_estimate = neighbours > WIDE || self.left == 0;
        let pairs = if is_estimate { neighbours * neighbours / 2 } else { self.missing_pairs(var) };
        Price { decidable: decidable[var as usize], pairs, neighbours, var }
    }

    /// The number of pairs of neighbours of a variable that are not neighbours of each other.
    fn missing_pairs(&mut self, var: u32) -> usize {
        let around = &self.neighbours[var as usize];
        self.left = self.left.saturating_sub(around.len() * around.len());
        let missing = |a: &u32| {
            around.iter().filter(|b| a < b && !self.neighbours[*a as usize].contains(b)).count()
        };
        around.iter().map(missing).sum()
    }

    /// Eliminates a variable. Its neighbours become neighbours of each other, as long as effort is
    /// left.
    fn remove(&mut self, var: u32) -> FxHashSet<u32> {
        self.gone[var as usize] = true;
        let around = std::mem::take(&mut self.neighbours[var as usize]);
        let pairs = around.len() * around.len();
        for &neighbour in &around {
            let list = &mut self.neighbours[neighbour as usize];
            list.remove(&var);
            if pairs <= self.left {
                list.extend(around.iter().filter(|&&other| other != neighbour));
            }
        }
        self.left = self.left.saturating_sub(pairs);
        around
    }
}
