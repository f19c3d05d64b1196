//! Finds the variables that inputs define, from clauses alone.
//!
//! A variable is defined if all other variables of some of its clauses are known to follow from
//! inputs, and these clauses without the variable contradict each other. Then, whatever the other
//! variables are, one of the clauses has only the variable left, and decides its value. That holds
//! for the clauses of any gate, be it a conjunction, an equality or if-then-else, and for gates
//! that the encoder unfolded into each other. So no kind of gate has to be recognised, and no
//! solver has to be asked about these variables.
//!
//! Each clause counts its variables that are not known to follow. When one is left, the clause is
//! *ready* for it. A variable with new ready clauses is looked at, and looked at again when it has
//! twice as many. So the total work is linear in the clauses, except for splits, of which each look
//! has few.
//!
//! # References
//!
//! - Niklas Eén, Armin Biere. "Effective Preprocessing in SAT Through Variable and Clause
//!   Elimination." SAT 2005: gates in clauses.
//! - Jean-Marie Lagniez, Emmanuel Lonca, Pierre Marquis. "Improving Model Counting by Leveraging
//!   Definability." IJCAI 2016: definitions that are no gates.

use std::collections::VecDeque;

use super::propagate::ClauseLists;
use crate::formula::{Lit, Var};

/// A variable that follows from inputs and from the variables of gates before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gate {
    pub var: Var,
    /// The clauses that define the variable. In each assignment of their other variables, at least
    /// one of them has only this variable left.
    pub clauses: Vec<u32>,
}

/// The gates that were found.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    /// The gates in an order in which they can be evaluated.
    pub gates: Vec<Gate>,
    /// How many literals were looked at.
    pub looked: u64,
}

impl Gates {
    /// Finds the gates over some inputs. A clause must contain each variable at most once.
    pub(crate) fn of(vars: usize, clauses: &[Vec<Lit>], inputs: &[Var]) -> Self {
        let mut finder = GateFinder::new(vars, clauses);
        inputs.iter().for_each(|&input| finder.define(input));
        finder.run();
        finder.found
    }

    /// The inputs, and some of the other variables, tried in their order, so that all variables
    /// follow from them by gates.
    pub(super) fn base(
        vars: usize,
        clauses: &[Vec<Lit>],
        inputs: &[Var],
        others: &[Var],
    ) -> Vec<Var> {
        let mut finder = GateFinder::new(vars, clauses);
        inputs.iter().for_each(|&input| finder.define(input));
        finder.run();
        let mut base = inputs.to_vec();
        for &other in others {
            if !finder.defined[other.index()] {
                base.push(other);
                finder.define(other);
                finder.look_at_queued();
            }
        }
        base
    }
}

struct GateFinder<'c> {
    clauses: &'c [Vec<Lit>],
    lists: ClauseLists,
    defined: Vec<bool>,
    /// For each clause, how many of its variables are not defined, and the exclusive-or of their
    /// numbers.
    left: Vec<(u32, u32)>,
    /// The ready clauses of each variable, and below, how many there were at the last look.
    ready: Vec<Vec<u32>>,
    before: Vec<usize>,
    queue: VecDeque<Var>,
    queued: Vec<bool>,
    refuter: Refuter,
    found: Gates,
}

impl<'c> GateFinder<'c> {
    fn new(vars: usize, clauses: &'c [Vec<Lit>]) -> Self {
        let open = |clause: &Vec<Lit>| {
            let numbers = clause.iter().fold(0, |numbers, literal| numbers ^ literal.var().0);
            (clause.len() as u32, numbers)
        };
        Self {
            clauses,
            lists: ClauseLists::new(vars, || clauses.iter().map(Vec::as_slice)),
            defined: vec![false; vars],
            left: clauses.iter().map(open).collect(),
            ready: vec![Vec::new(); vars],
            before: vec![0; vars],
            queue: VecDeque::new(),
            queued: vec![false; vars],
            refuter: Refuter::new(vars),
            found: Gates::default(),
        }
    }

    /// Records that a variable follows from inputs. Clauses that get ready put their last variable
    /// into the queue.
    fn define(&mut self, var: Var) {
        if std::mem::replace(&mut self.defined[var.index()], true) {
            return;
        }
        for literal in [var.positive(), var.negative()] {
            for &clause in self.lists.of_literal(literal) {
                let (left, numbers) = &mut self.left[clause as usize];
                *left -= 1;
                *numbers ^= var.0;
                if *left == 1 {
                    let last = Var(*numbers);
                    self.ready[last.index()].push(clause);
                    if !std::mem::replace(&mut self.queued[last.index()], true) {
                        self.queue.push_back(last);
                    }
                }
            }
        }
    }

    /// Looks at the variables in the queue, and returns those that have too few new ready clauses.
    fn look_at_queued(&mut self) -> Vec<Var> {
        let mut later = Vec::new();
        while let Some(var) = self.queue.pop_front() {
            self.queued[var.index()] = false;
            if self.ready[var.index()].len() < 2 * self.before[var.index()] {
                later.push(var);
            } else {
                self.look(var);
            }
        }
        later
    }

    fn run(&mut self) {
        loop {
            let later = self.look_at_queued();
            if later.is_empty() {
                return;
            }
            for var in later {
                if self.ready[var.index()].len() > self.before[var.index()] {
                    self.look(var);
                }
            }
        }
    }

    /// Checks whether the ready clauses of a variable define it.
    fn look(&mut self, var: Var) {
        if self.defined[var.index()] {
            return;
        }
        let ready = &self.ready[var.index()];
        self.before[var.index()] = ready.len();
        let Self { clauses, refuter, found, .. } = self;
        let rest = ready.iter().map(|&clause| &*clauses[clause as usize]);
        found.looked += rest.clone().map(|clause| clause.len() as u64).sum::<u64>();
        if let Some(needed) = refuter.refute(rest, var) {
            let clauses = needed.into_iter().map(|index| ready[index]).collect();
            found.gates.push(Gate { var, clauses });
            self.define(var);
        }
    }
}

/// How often one look may split, which is to try both values of a variable.
const SPLITS: u32 = 64;

/// Finds out whether a few clauses contradict each other, by propagation and by splits.
struct Refuter {
    /// The clauses that contain each literal. Empty between two questions.
    of: Vec<Vec<u32>>,
    values: Vec<Option<bool>>,
    /// The clause that forced the value of each variable. `None` where a split set it.
    reasons: Vec<Option<u32>>,
    trail: Vec<Lit>,
    /// How many literals of the trail were propagated.
    next: usize,
    literals: Vec<Lit>,
    ends: Vec<u32>,
    /// How many literals of each clause are not false.
    left: Vec<u32>,
    needed: Vec<bool>,
    splits: u32,
}

impl Refuter {
    fn new(vars: usize) -> Self {
        Self {
            of: vec![Vec::new(); 2 * vars],
            values: vec![None; vars],
            reasons: vec![None; vars],
            trail: Vec::new(),
            next: 0,
            literals: Vec::new(),
            ends: Vec::new(),
            left: Vec::new(),
            needed: Vec::new(),
            splits: 0,
        }
    }

    /// Whether clauses without a variable contradict each other. Returns the positions of clauses
    /// that are enough for the contradiction.
    fn refute<'c>(
        &mut self,
        clauses: impl Iterator<Item = &'c [Lit]>,
        without: Var,
    ) -> Option<Vec<usize>> {
        self.splits = SPLITS;
        for clause in clauses {
            let before = self.literals.len();
            self.literals.extend(clause.iter().filter(|literal| literal.var() != without));
            let index = self.ends.len() as u32;
            for literal in &self.literals[before..] {
                self.of[literal.index()].push(index);
            }
            self.ends.push(self.literals.len() as u32);
            self.left.push((self.literals.len() - before) as u32);
        }
        self.needed.resize(self.ends.len(), false);
        let refuted = self.start();
        let needed = (0..self.ends.len()).filter(|&index| self.needed[index]).collect();
        self.clear();
        refuted.then_some(needed)
    }

    fn clear(&mut self) {
        self.undo(0);
        let Self { literals, of, .. } = self;
        literals.drain(..).for_each(|literal| of[literal.index()].clear());
        self.ends.clear();
        self.left.clear();
        self.needed.clear();
    }

    fn clause(&self, index: u32) -> &[Lit] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.literals[start as usize..self.ends[index as usize] as usize]
    }

    fn start(&mut self) -> bool {
        for index in 0..self.ends.len() as u32 {
            match *self.clause(index) {
                [] => {
                    self.needed[index as usize] = true;
                    return true;
                }
                [literal] if self.values[literal.var().index()].is_none() => {
                    self.set(literal, Some(index));
                }
                _ => {}
            }
        }
        self.is_refuted()
    }

    /// Whether the literals set so far leave no model.
    fn is_refuted(&mut self) -> bool {
        if let Some(violated) = self.propagate() {
            self.need(violated);
            return true;
        }
        let Some(literal) = self.open_literal() else { return false };
        let Some(left) = self.splits.checked_sub(1) else { return false };
        self.splits = left;
        let before = self.trail.len();
        [literal, !literal].into_iter().all(|tried| {
            self.set(tried, None);
            let refuted = self.is_refuted();
            self.undo(before);
            refuted
        })
    }

    fn set(&mut self, literal: Lit, reason: Option<u32>) {
        self.values[literal.var().index()] = Some(!literal.is_negative());
        self.reasons[literal.var().index()] = reason;
        self.trail.push(literal);
    }

    fn value(&self, literal: Lit) -> Option<bool> {
        self.values[literal.var().index()].map(|value| value != literal.is_negative())
    }

    /// Propagates, and returns a clause that is violated, if any.
    fn propagate(&mut self) -> Option<u32> {
        let mut violated = None;
        while violated.is_none()
            && let Some(&literal) = self.trail.get(self.next)
        {
            self.next += 1;
            // The loop does not stop at a violated clause, because `undo` counts all clauses back.
            for position in 0..self.of[(!literal).index()].len() {
                let index = self.of[(!literal).index()][position];
                self.left[index as usize] -= 1;
                match self.left[index as usize] {
                    0 => violated = Some(index),
                    1 => {
                        let open = self.clause(index).iter().copied();
                        let last = open.clone().find(|&literal| self.value(literal) != Some(false));
                        if let Some(last) = last.filter(|&last| self.value(last).is_none()) {
                            self.set(last, Some(index));
                        }
                    }
                    _ => {}
                }
            }
        }
        violated
    }

    /// Takes back all literals but the first `known`.
    fn undo(&mut self, known: usize) {
        while self.trail.len() > known
            && let Some(literal) = self.trail.pop()
        {
            self.values[literal.var().index()] = None;
            if self.next > self.trail.len() {
                self.next = self.trail.len();
                for &index in &self.of[(!literal).index()] {
                    self.left[index as usize] += 1;
                }
            }
        }
    }

    /// An undecided literal of the clause with the fewest literals left. `None` where all clauses
    /// hold.
    fn open_literal(&self) -> Option<Lit> {
        let is_open = |index: &u32| {
            self.clause(*index).iter().all(|&literal| self.value(literal) != Some(true))
        };
        let open = (0..self.ends.len() as u32).filter(is_open);
        let index = open.min_by_key(|&index| self.left[index as usize])?;
        self.clause(index).iter().copied().find(|&literal| self.value(literal).is_none())
    }

    /// Records that a violated clause is needed, and the clauses that made its literals false.
    fn need(&mut self, violated: u32) {
        let mut met = vec![false; self.ends.len()];
        let mut stack = vec![violated];
        met[violated as usize] = true;
        while let Some(index) = stack.pop() {
            self.needed[index as usize] = true;
            for literal in self.clause(index) {
                let reason = self.reasons[literal.var().index()];
                if self.value(*literal) == Some(false)
                    && let Some(reason) = reason
                    && !std::mem::replace(&mut met[reason as usize], true)
                {
                    stack.push(reason);
                }
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::formula::Cnf;
    use crate::solve::random::Random;
    use crate::solve::tests::{clauses, holds};

    const INPUTS: u32 = 3;
    const VARS: u32 = 8;

    fn gates(vars: u32, inputs: u32, clauses: &[Vec<Lit>]) -> Gates {
        Gates::of(vars as usize, clauses, &(0..inputs).map(Var).collect::<Vec<_>>())
    }

    /// The clauses of a gate over some literals: `and`, `xor`, if-then-else, or an `and` of `or`s
    /// where the `or`s have no variable.
    fn gate(kind: u32, var: Var, of: &[Lit]) -> Vec<Vec<Lit>> {
        let own = var.positive();
        let implies_all = |parts: &[&[Lit]]| -> Vec<Vec<Lit>> {
            let part = |part: &&[Lit]| [&[!own], *part].concat();
            let mut clauses: Vec<_> = parts.iter().map(part).collect();
            // All ways to take one literal out of each part.
            let mut ways = vec![vec![own]];
            for part in parts {
                let longer = |way: &Vec<Lit>| {
                    part.iter().map(|&literal| [way.as_slice(), &[!literal]].concat()).collect()
                };
                ways = ways.iter().flat_map(|way| -> Vec<_> { longer(way) }).collect();
            }
            clauses.extend(ways);
            clauses
        };
        match (kind, of) {
            (0, &[a, b, c, ..]) => {
                vec![vec![!a, !own, b], vec![!a, own, !b], vec![a, !own, c], vec![a, own, !c]]
            }
            (1, &[a, b, ..]) => {
                vec![vec![!own, a, b], vec![!own, !a, !b], vec![own, !a, b], vec![own, a, !b]]
            }
            (2, &[a, b, c, d, ..]) => implies_all(&[&[a, b], &[c, d]]),
            _ => implies_all(&of.iter().map(std::slice::from_ref).collect::<Vec<_>>()),
        }
    }

    /// Clauses of a random circuit. Its first variables are inputs. Each other variable is a gate
    /// over a few variables before it.
    pub(in crate::solve) fn circuit(inputs: u32, gates: u32, random: &mut Random) -> Vec<Vec<Lit>> {
        let mut below = |bound: u32| (random.next() % u64::from(bound)) as u32;
        let mut clauses = Vec::new();
        for var in inputs..inputs + gates {
            let mut of: Vec<Lit> = Vec::new();
            let wanted = 1 + below(4);
            for _ in 0..wanted {
                let literal = Lit(2 * below(var) + below(2));
                if of.iter().all(|other| other.var() != literal.var()) {
                    of.push(literal);
                }
            }
            clauses.extend(gate(below(4), Var(var), &of));
        }
        for index in 0..clauses.len() {
            clauses.swap(index, below(index as u32 + 1) as usize);
        }
        // The clauses are brought to the form of [`Cnf`]: sorted, and without tautologies.
        let cnf = Cnf::of((inputs + gates) as usize, clauses);
        cnf.clauses().map(|clause| clause.literals.to_vec()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        /// Each gate that is found follows from inputs, by the clauses that it names.
        #[test]
        fn what_is_found_follows(clauses in clauses(VARS, 1..20)) {
            let cnf = Cnf::of(VARS as usize, clauses);
            let clauses: Vec<_> = cnf.clauses().map(|clause| clause.literals.to_vec()).collect();
            let mut known: Vec<u32> = (0..INPUTS).collect();
            for Gate { var, clauses: own } in gates(VARS, INPUTS, &clauses).gates {
                let own: Vec<_> = own.iter().map(|&index| clauses[index as usize].clone()).collect();
                let models: Vec<u32> = (0..1 << VARS).filter(|&model| holds(&own, model)).collect();
                let mask = known.iter().map(|var| 1 << var).sum::<u32>();
                let others = own.iter().flatten().map(|literal| literal.var()).filter(|&other| other != var);
                prop_assert!(others.into_iter().all(|other| known.contains(&other.0)));
                for &one in &models {
                    prop_assert!(models.iter().all(|&other| (one ^ other) & mask != 0 || (one ^ other) >> var.0 & 1 == 0));
                }
                known.push(var.0);
            }
        }

        #[test]
        fn circuits_are_found_entirely(inputs in 1..12_u32, count in 1..60_u32, seed: u64) {
            let clauses = circuit(inputs, count, &mut Random::new(seed));
            let found = gates(inputs + count, inputs, &clauses).gates;
            prop_assert_eq!(found.len(), count as usize);
        }
    }

    /// Ten times as many gates are ten times the work, and so is a gate that is ten times as wide.
    #[test]
    fn work_grows_with_the_clauses() {
        let deep = |count: u32| {
            let clauses = circuit(count / 4, count, &mut Random::new(7));
            let found = gates(count / 4 + count, count / 4, &clauses);
            assert_eq!(found.gates.len(), count as usize);
            found.looked as f64 / clauses.concat().len() as f64
        };
        let wide = |count: u32| {
            let of: Vec<_> = (0..count).map(|var| Var(var).negative()).collect();
            // The inputs become known one by one: each is a gate over an input of its own.
            let mut clauses = gate(3, Var(count), &of);
            clauses.extend(
                (0..count).flat_map(|var| gate(3, Var(var), &[Var(count + 1 + var).positive()])),
            );
            let inputs: Vec<_> = (count + 1..2 * count + 1).map(Var).collect();
            let found = Gates::of(2 * count as usize + 1, &clauses, &inputs);
            assert_eq!(found.gates.len(), count as usize + 1);
            found.looked as f64 / clauses.concat().len() as f64
        };
        for share in [deep(2_000), deep(20_000), wide(2_000), wide(20_000)] {
            assert!(share < 4.0, "{share}");
        }
    }
}
