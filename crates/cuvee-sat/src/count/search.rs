//! Decides variables until no clause is left, and records the decisions as a graph. Each decision
//! is a node. A residual that occurs again is the node that it already has.
//!
//! The search goes through all assignments, so it must not do anything twice. After each decision,
//! unit propagation sets the literals that follow. The remaining clauses are split into
//! *residuals*: sets of variables that are connected by clauses that do not hold yet. Each residual
//! is searched alone.
//!
//! **The cache.** A residual is the clauses that do not hold yet, each without its false literals.
//! Each literal has a random number. The key of a clause is the scrambled sum of the numbers of its
//! remaining literals, and the key of a residual is the sum of the keys of its clauses. The sums
//! are updated literal by literal, so that the key of a residual takes one look at its clauses and
//! no memory. Two different residuals have the same key only by a collision of 128 random bits.
//! Residuals without shown variables are cached with whether they have a model at all.
//!
//! **The stacks.** The search is a loop and not a recursion, because the clauses decide how deep it
//! goes. A frame is a residual that is being searched, with the lengths that the stacks had when it
//! was begun: assignments (`trail`), variables of residuals (`members`), residuals that wait
//! (`residuals`) and branches that are not yet part of a node (`drafts`). To take a branch back,
//! the stacks are cut to these lengths. A branch is one value of the decision. Its factors are the
//! literals that it sets, and its children are the nodes of its residuals. If one of these
//! residuals is impossible, the branch is dropped, and the other residuals need not be looked at.
//! So hidden and small residuals come first.
//!
//! The search learns no clauses as a SAT solver does. Propagation finds most contradictions, and
//! residuals that have no model are cached as such.
//!
//! # References
//!
//! - Roberto J. Bayardo Jr., Joseph Daniel Pehoushek. "Counting Models using Connected Components."
//!   AAAI 2000: splitting.
//! - Tian Sang, Fahiem Bacchus, Paul Beame, Henry Kautz, Toniann Pitassi. "Combining Component
//!   Caching and Clause Learning for Effective Model Counting." SAT 2004: caching residuals.
//! - Marc Thurley. "sharpSAT: Counting Models with Advanced Component Caching and Implicit BCP."
//!   SAT 2006: keys of residuals that take little memory.
//! - Shubham Sharma, Subhajit Roy, Mate Soos, Kuldeep S. Meel. "GANAK: A Scalable Probabilistic
//!   Exact Model Counter." IJCAI 2019: keys of random bits only.

use rustc_hash::FxHashMap;

use super::dag::{Dag, Factor};
use crate::formula::{Lit, Var};
use crate::simplify::{ClauseList, LiteralOccurrences};
use crate::solve::SolverKind;
use crate::solve::random::Random;

/// The clauses to search, and what is known about their variables.
pub(super) struct Searched<'s> {
    /// The clauses, each with two literals or more.
    pub clauses: &'s ClauseList,
    /// Whether models are told apart by each variable.
    pub shown: &'s [bool],
    /// Whether each variable may be decided: the shown variables, and variables that follow from
    /// them.
    pub decidable: &'s [bool],
    pub ranks: &'s [u32],
}

/// Compiles clauses. `None` where that takes more than `effort` steps.
pub(super) fn search(searched: &Searched<'_>, effort: u64) -> Option<Dag> {
    Compiler::new(searched, effort).run()
}

/// How many literals may be looked at in one step. A decision is a step as well.
const LOOKS: u64 = 64;

/// A maximal set of variables that are connected by clauses that do not hold yet.
#[derive(Clone, Copy)]
struct Residual {
    /// The range of its variables among the members.
    start: usize,
    end: usize,
    /// A hash of the remaining clauses. With 128 bits, two different residuals of the same key are
    /// not to be expected in the lifetime of the universe.
    key: u128,
    /// Whether one of its variables is shown.
    shown: bool,
    /// The variable to decide: of those that may be decided, the one of least rank.
    decision: u32,
}

/// The result of an earlier search of a residual.
#[derive(Clone, Copy)]
enum Cached {
    Impossible,
    /// The residual has a model, and no shown variable.
    Possible,
    Node(u32),
}

/// A residual that is being searched. Stack entries beyond the remembered lengths belong to the
/// current branch.
struct DecisionFrame {
    residual: Residual,
    /// How many values of the decision have been tried.
    tried: u8,
    trail: usize,
    members: usize,
    residuals: usize,
    drafts: usize,
}

struct Compiler<'s> {
    searched: &'s Searched<'s>,
    occurrences: LiteralOccurrences,
    values: Vec<Option<bool>>,
    trail: Vec<Lit>,
    /// For each clause, how many of its literals are true, how many are not false, and the sum of
    /// the keys of those that are not false.
    satisfied: Vec<u32>,
    open: Vec<u32>,
    sums: Vec<u128>,
    keys: Vec<u128>,
    /// The number of the traversal in which each variable and each clause was met last.
    met_vars: Vec<u32>,
    met_clauses: Vec<u32>,
    look: u32,
    members: Vec<u32>,
    residuals: Vec<Residual>,
    frames: Vec<DecisionFrame>,
    /// Branches that are not yet part of a node: the start of their factors and of their children.
    drafts: Vec<(usize, usize)>,
    factors: Vec<u32>,
    children: Vec<u32>,
    known: FxHashMap<u128, Cached>,
    dag: Dag,
    /// How many literals may still be looked at.
    left: u64,
}

impl<'s> Compiler<'s> {
    fn new(searched: &'s Searched<'s>, effort: u64) -> Self {
        let (clauses, vars) = (searched.clauses, searched.shown.len());
        let mut random = Random::new(0);
        let keys: Vec<_> = (0..2 * vars)
            .map(|_| u128::from(random.next()) << 64 | u128::from(random.next()))
            .collect();
        Self {
            searched,
            occurrences: LiteralOccurrences::of(clauses, vars),
            values: vec![None; vars],
            trail: Vec::new(),
            satisfied: vec![0; clauses.len()],
            open: clauses.iter().map(|clause| clause.len() as u32).collect(),
            sums: clauses
                .iter()
                .map(|clause| sum(clause.iter().map(|literal| keys[literal.index()])))
                .collect(),
            keys,
            met_vars: vec![0; vars],
            met_clauses: vec![0; clauses.len()],
            look: 0,
            members: (0..vars as u32).collect(),
            residuals: Vec::new(),
            frames: Vec::new(),
            drafts: Vec::new(),
            factors: Vec::new(),
            children: Vec::new(),
            known: FxHashMap::default(),
            dag: Dag::default(),
            left: effort.saturating_mul(LOOKS),
        }
    }

    fn run(mut self) -> Option<Dag> {
        // The root frame has all variables as its one branch and nothing to decide.
        let all = Residual { start: 0, end: self.members.len(), key: 0, shown: true, decision: 0 };
        self.push(all, 2);
        self.open_branch(all);
        while let Some(frame) = self.frames.last() {
            if self.residuals.len() == frame.residuals {
                self.advance()?;
                continue;
            }
            let residual = self.residuals.pop()?;
            match self.known(&residual)? {
                Some(Cached::Possible) => {}
                Some(Cached::Node(node)) => self.children.push(node),
                Some(Cached::Impossible) => {
                    self.discard_branch();
                    self.advance()?;
                }
                None => {
                    self.push(residual, 0);
                    self.advance()?;
                }
            }
        }
        // The root is the last child that is left. There is none where the clauses have no model.
        self.dag.root = self.children.pop();
        Some(self.dag)
    }

    fn push(&mut self, residual: Residual, tried: u8) {
        self.frames.push(DecisionFrame {
            residual,
            tried,
            trail: self.trail.len(),
            members: self.members.len(),
            residuals: self.residuals.len(),
            drafts: self.drafts.len(),
        });
    }

    /// Takes back the current branch and opens the next possible one: of this frame or, where it
    /// has no more, of the frames above it.
    fn advance(&mut self) -> Option<()> {
        while let Some(frame) = self.frames.last_mut() {
            let (residual, tried, trail) = (frame.residual, frame.tried, frame.trail);
            frame.tried += 1;
            self.members.truncate(frame.members);
            self.residuals.truncate(frame.residuals);
            self.undo(trail);
            if tried < 2 {
                self.pay(LOOKS)?;
                if self.assume(Var(residual.decision).negative().negate_if(tried == 1)) {
                    self.open_branch(residual);
                    return self.pay(0);
                }
                continue;
            }
            let Some(frame) = self.frames.pop() else { break };
            if let Some(node) = self.close(frame.drafts)? {
                self.known.insert(residual.key, Cached::Node(node));
                self.children.push(node);
                break;
            }
            self.known.insert(residual.key, Cached::Impossible);
            self.discard_branch();
        }
        Some(())
    }

    /// Makes a node of the branches that were possible. The inner `None` means that none was.
    fn close(&mut self, drafts: usize) -> Option<Option<u32>> {
        let Some(&(first_factor, first_child)) = self.drafts.get(drafts) else { return Some(None) };
        let ends = self.drafts[drafts + 1..]
            .iter()
            .copied()
            .chain([(self.factors.len(), self.children.len())]);
        for (&(factors, children), (factors_end, children_end)) in
            self.drafts[drafts..].iter().zip(ends)
        {
            self.dag.add_product(
                &self.factors[factors..factors_end],
                &self.children[children..children_end],
            )?;
        }
        self.factors.truncate(first_factor);
        self.children.truncate(first_child);
        self.drafts.truncate(drafts);
        Some(Some(self.dag.add_node()))
    }

    fn discard_branch(&mut self) {
        if let Some((factors, children)) = self.drafts.pop() {
            self.factors.truncate(factors);
            self.children.truncate(children);
        }
    }

    /// Records what the current branch decided of a residual, and splits the rest of the residual.
    fn open_branch(&mut self, residual: Residual) {
        self.drafts.push((self.factors.len(), self.children.len()));
        let Some(frame) = self.frames.last() else { return };
        let shown = self.searched.shown;
        let decided =
            self.trail[frame.trail..].iter().filter(|literal| shown[literal.var().index()]);
        self.factors.extend(decided.map(|&literal| Factor::Literal(literal).to_word()));
        let first = self.residuals.len();
        self.look += 1;
        for position in residual.start..residual.end {
            let var = self.members[position];
            if self.values[var as usize].is_some() || self.met_vars[var as usize] == self.look {
                continue;
            }
            let connected = self.connected(var);
            if connected.end - connected.start > 1 {
                self.residuals.push(connected);
                continue;
            }
            self.members.truncate(connected.start);
            if connected.shown {
                self.factors.push(Factor::Free(Var(var)).to_word());
            }
        }
        // The last residuals are searched first. So those are last that may turn out to be
        // impossible with the least work.
        self.residuals[first..]
            .sort_by_key(|residual| (residual.shown, residual.end - residual.start));
        self.residuals[first..].reverse();
    }

    /// Finds the residual that a variable belongs to. The variable is alone where none of its
    /// clauses is left.
    fn connected(&mut self, var: u32) -> Residual {
        let Searched { clauses, shown, decidable, ranks } = *self.searched;
        let start = self.members.len();
        let mut residual = Residual { start, end: start, key: 0, shown: false, decision: var };
        self.members.push(var);
        self.met_vars[var as usize] = self.look;
        let mut looks = 0;
        while let Some(&var) = self.members.get(residual.end) {
            residual.end += 1;
            let index = var as usize;
            residual.shown |= shown[index];
            let best = residual.decision as usize;
            if decidable[index] && (ranks[index] < ranks[best] || !decidable[best]) {
                residual.decision = var;
            }
            for position in self.occurrences.of_var(var) {
                let clause = self.occurrences.at(position);
                looks += 1;
                if self.satisfied[clause] > 0 || self.met_clauses[clause] == self.look {
                    continue;
                }
                self.met_clauses[clause] = self.look;
                residual.key = residual.key.wrapping_add(scramble(self.sums[clause]));
                for literal in clauses.get(clause) {
                    looks += 1;
                    let index = literal.var().index();
                    if self.values[index].is_none() && self.met_vars[index] != self.look {
                        self.met_vars[index] = self.look;
                        self.members.push(index as u32);
                    }
                }
            }
        }
        self.left = self.left.saturating_sub(looks);
        residual
    }

    /// Looks up a residual, or finds without a decision whether it has a model.
    fn known(&mut self, residual: &Residual) -> Option<Option<Cached>> {
        if let Some(&known) = self.known.get(&residual.key) {
            return Some(Some(known));
        }
        if residual.shown {
            return Some(None);
        }
        let known = if self.is_possible(residual)? { Cached::Possible } else { Cached::Impossible };
        self.known.insert(residual.key, known);
        Some(Some(known))
    }

    /// Whether the remaining clauses of a residual have a model. `None` where the effort is used
    /// up.
    fn is_possible(&mut self, residual: &Residual) -> Option<bool> {
        let mut solver = SolverKind::default().start();
        let mut inner = FxHashMap::default();
        for &var in &self.members[residual.start..residual.end] {
            inner.insert(var, solver.new_var());
        }
        self.look += 1;
        for &var in &self.members[residual.start..residual.end] {
            for position in self.occurrences.of_var(var) {
                let clause = self.occurrences.at(position);
                if self.satisfied[clause] > 0
                    || std::mem::replace(&mut self.met_clauses[clause], self.look) == self.look
                {
                    continue;
                }
                let literals = self.searched.clauses.get(clause).iter();
                let open = literals.filter_map(|literal| {
                    Some(inner.get(&literal.var().0)?.positive().negate_if(literal.is_negative()))
                });
                solver.add_clause(&open.collect::<Vec<_>>());
            }
        }
        let decisions = self.left / LOOKS;
        let mut left = decisions;
        let answer = solver.solve_within(&[], &mut left);
        self.pay((decisions - left) * LOOKS)?;
        answer
    }

    /// Makes a literal true, and every literal that follows from it. Returns whether that is free
    /// of contradiction. If it is not, the caller must undo it.
    fn assume(&mut self, literal: Lit) -> bool {
        let mut next = self.trail.len();
        self.set(literal);
        while let Some(&literal) = self.trail.get(next) {
            next += 1;
            for position in self.occurrences.of_literal(literal) {
                self.satisfied[self.occurrences.at(position)] += 1;
            }
            let mut consistent = true;
            for position in self.occurrences.of_literal(!literal) {
                let clause = self.occurrences.at(position);
                self.open[clause] -= 1;
                self.sums[clause] = self.sums[clause].wrapping_sub(self.keys[(!literal).index()]);
                if self.satisfied[clause] > 0 {
                    continue;
                }
                match self.open[clause] {
                    0 => consistent = false,
                    1 => self.set_last(clause),
                    _ => {}
                }
            }
            if !consistent {
                self.forget(next);
                return false;
            }
        }
        true
    }

    fn set(&mut self, literal: Lit) {
        self.values[literal.var().index()] = Some(!literal.is_negative());
        self.trail.push(literal);
    }

    /// Makes the only literal of a clause true that is not false.
    fn set_last(&mut self, clause: usize) {
        let literals = self.searched.clauses.get(clause).iter();
        // The literal may be true already. Then its own visit is still to come, and there is
        // nothing to set.
        if let Some(&last) =
            literals.into_iter().find(|literal| self.values[literal.var().index()].is_none())
        {
            self.set(last);
        }
    }

    /// Takes back the literals after the first `length`, none of which was visited yet.
    fn forget(&mut self, length: usize) {
        for literal in self.trail.drain(length..) {
            self.values[literal.var().index()] = None;
        }
    }

    /// Takes back all literals but the first `length`.
    fn undo(&mut self, length: usize) {
        for literal in self.trail.drain(length..) {
            self.values[literal.var().index()] = None;
            for position in self.occurrences.of_literal(literal) {
                self.satisfied[self.occurrences.at(position)] -= 1;
            }
            for position in self.occurrences.of_literal(!literal) {
                let clause = self.occurrences.at(position);
                self.open[clause] += 1;
                self.sums[clause] = self.sums[clause].wrapping_add(self.keys[(!literal).index()]);
            }
        }
    }

    fn pay(&mut self, looks: u64) -> Option<()> {
        self.left = self.left.checked_sub(looks).filter(|&left| left > 0)?;
        Some(())
    }
}

fn sum(keys: impl Iterator<Item = u128>) -> u128 {
    keys.fold(0, u128::wrapping_add)
}

/// Mixes the bits, so that different sets of clauses have different sums of scrambled sums.
fn scramble(sum: u128) -> u128 {
    const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    let mixed = (sum ^ sum >> 67).wrapping_mul(ODD);
    let mixed = (mixed ^ mixed >> 61).wrapping_mul(ODD);
    mixed ^ mixed >> 64
}
