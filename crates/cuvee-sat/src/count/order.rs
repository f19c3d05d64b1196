//! Finds an order in which to decide variables so that the clauses split early.
//!
//! Variables that share a clause are neighbours. Eliminating a variable makes all its neighbours
//! neighbours of each other. The heuristic *min-fill* always eliminates the variable that adds the
//! fewest pairs; so the variables that separate the rest are eliminated last. Variables are decided
//! in the reverse order. Then each part that is left depends on few of the earlier decisions, and
//! occurs again under other decisions. Only long chains, as of exactly one of many, are decided from
//! the middle.
//!
//! # References
//!
//! - Uffe Kjærulff. "Triangulation of Graphs: Algorithms Giving Small Total State Space." Aalborg
//!   University 1990: orders of elimination, *min-fill* among others.
//! - Joseph W. H. Liu. "The Role of Elimination Trees in Sparse Factorization." SIAM Journal on
//!   Matrix Analysis and Applications 1990: what an order of elimination separates.
//! - Adnan Darwiche. "Decomposable Negation Normal Form." Journal of the ACM 2001: the normal form
//!   is small where such an order is good.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use crate::simplify::ClauseList;

/// The rank of each variable. Of the variables that are left, the one of the least rank is decided
/// next.
pub(super) fn ranks(clauses: &ClauseList, decidable: &[bool]) -> Vec<u32> {
    let order = EliminationTree::of(clauses, decidable).decisions();
    let mut ranks = vec![0; decidable.len()];
    order.into_iter().zip(0..).for_each(|(var, rank)| ranks[var as usize] = rank);
    ranks
}

/// The most variables that separate two parts of a chain. A part depends on those at both of its
/// ends.
const NARROW: usize = 2;
/// How many places a chain has at least where so few variables separate it, and how many variables
/// there are between two of them at most.
const LONG_CHAIN: usize = 64;
const NEAR: usize = 8;

/// The elimination of all variables. Below each variable are those that it separates from the rest.
struct EliminationTree {
    /// The variables in the order in which they are eliminated.
    eliminated: Vec<u32>,
    /// The neighbours of each variable when it is eliminated.
    neighbours: Vec<Vec<u32>>,
    /// The neighbour of each variable that is eliminated first.
    parents: Vec<Option<u32>>,
}

impl EliminationTree {
    fn of(clauses: &ClauseList, decidable: &[bool]) -> Self {
        let vars = decidable.len();
        let mut graph = PrimalGraph::of(clauses, vars);
        let mut heap: BinaryHeap<_> =
            (0..vars as u32).map(|var| Reverse(graph.price(var, decidable))).collect();
        let mut tree = Self {
            eliminated: Vec::with_capacity(vars),
            neighbours: vec![Vec::new(); vars],
            parents: vec![None; vars],
        };
        let mut places = vec![0; vars];
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
            let mut neighbours: Vec<u32> = graph.remove(var).into_iter().collect();
            // Sets have another order on another machine.
            neighbours.sort_unstable();
            for &neighbour in &neighbours {
                heap.push(Reverse(graph.price(neighbour, decidable)));
            }
            places[var as usize] = tree.eliminated.len();
            tree.eliminated.push(var);
            tree.neighbours[var as usize] = neighbours;
        }
        for (parent, neighbours) in tree.parents.iter_mut().zip(&tree.neighbours) {
            *parent = neighbours.iter().copied().min_by_key(|&other| places[other as usize]);
        }
        tree
    }

    /// The variables in the order of decisions: each after those above it, except in long chains.
    fn decisions(&self) -> Vec<u32> {
        let vars = self.parents.len();
        let mut sizes = vec![1_u32; vars];
        let mut children = vec![Vec::new(); vars];
        let mut open = Vec::new();
        for &var in &self.eliminated {
            match self.parents[var as usize] {
                Some(parent) => {
                    sizes[parent as usize] += sizes[var as usize];
                    children[parent as usize].push(var);
                }
                None => open.push(var),
            }
        }
        let mut order = DecisionOrder { vars: Vec::with_capacity(vars), has: vec![false; vars] };
        while let Some(top) = open.pop() {
            // The way down into the largest part, and what hangs on it.
            let mut path = vec![top];
            let mut last = top;
            while let Some(&largest) =
                children[last as usize].iter().max_by_key(|&&child| sizes[child as usize])
            {
                open.extend(children[last as usize].iter().filter(|&&child| child != largest));
                path.push(largest);
                last = largest;
            }
            self.decide(&path, &mut order);
        }
        order.vars
    }

    /// Decides the variables of a path from its upper end on, and the chains in it from their middle.
    fn decide(&self, path: &[u32], order: &mut DecisionOrder) {
        let separators: Vec<usize> = (0..path.len())
            .filter(|&place| self.neighbours[path[place] as usize].len() <= NARROW)
            .collect();
        let mut start = 0;
        for chain in separators.chunk_by(|one, next| next - one <= NEAR) {
            if let [first, .., last] = *chain
                && chain.len() >= LONG_CHAIN
            {
                order.add(&path[start..first]);
                self.halve(chain, path, order);
                start = last;
            }
        }
        order.add(&path[start..]);
    }

    /// Decides what separates the middle of a chain first, and then does the same with both halves.
    /// From one end to the other, each decision would leave a part that is as long as the chain.
    fn halve(&self, chain: &[usize], path: &[u32], order: &mut DecisionOrder) {
        let mut open = vec![chain];
        while let Some(part) = open.pop() {
            if let [first, next] = *part {
                order.add(&path[first..next]);
                continue;
            }
            let middle = part.len() / 2;
            order.add(&self.neighbours[path[part[middle]] as usize]);
            open.extend([&part[..=middle], &part[middle..]]);
        }
    }
}

/// Variables in the order in which they are decided, each once.
struct DecisionOrder {
    vars: Vec<u32>,
    /// Whether it has each variable.
    has: Vec<bool>,
}

impl DecisionOrder {
    fn add(&mut self, vars: &[u32]) {
        for &var in vars {
            if !std::mem::replace(&mut self.has[var as usize], true) {
                self.vars.push(var);
            }
        }
    }
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
