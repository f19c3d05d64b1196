//! Decides variables until nothing is left, and writes down how: each decision is a node, and a
//! part that is met again is the node it already has.

use rustc_hash::FxHashMap;

use super::clauses::{Clauses, Occurrences};
use super::dag::{Dag, Factor};
use crate::sat::formula::{Lit, Var};
use crate::sat::solve::SolverKind;
use crate::sat::solve::random::Random;

/// What to search.
pub(super) struct Searched<'s> {
    /// Each with two literals or more.
    pub clauses: &'s Clauses,
    /// What the models are told apart by.
    pub shown: &'s [bool],
    /// The shown variables, and such as follow from them.
    pub decidable: &'s [bool],
    pub ranks: &'s [u32],
}

/// Compiles clauses; `None` where that takes more than the effort.
pub(super) fn search(searched: &Searched<'_>, effort: u64) -> Option<Dag> {
    Search::new(searched, effort).run()
}

/// A step is one decision, or a look at so many literals.
const LOOKS: u64 = 64;

/// Variables that are connected by clauses, and with no others.
#[derive(Clone, Copy)]
struct Part {
    /// Where its variables are among the members.
    start: usize,
    end: usize,
    /// What is left of its clauses, as a number of 128 bits: that two differ and have the same is
    /// not to be expected in the lifetime of the universe.
    key: u128,
    /// Whether a shown variable is among them.
    shown: bool,
    /// Of those that may be decided the one of least rank.
    decision: u32,
}

/// What is known about a part.
#[derive(Clone, Copy)]
enum Known {
    Impossible,
    /// It has a model, and no shown variable.
    Possible,
    Node(u32),
}

/// A part in work. Whatever is on the stacks beyond the lengths that it remembers belongs to the
/// branch in work.
struct Frame {
    part: Part,
    /// How many values of its decision have been tried.
    tried: u8,
    trail: usize,
    members: usize,
    parts: usize,
    drafts: usize,
}

struct Search<'s> {
    searched: &'s Searched<'s>,
    occurrences: Occurrences,
    values: Vec<Option<bool>>,
    trail: Vec<Lit>,
    /// For each clause how many of its literals are true, how many are not false, and the sum of
    /// the keys of those.
    satisfied: Vec<u32>,
    open: Vec<u32>,
    sums: Vec<u128>,
    keys: Vec<u128>,
    /// In which look at the parts each variable and clause was met last.
    met_vars: Vec<u32>,
    met_clauses: Vec<u32>,
    look: u32,
    members: Vec<u32>,
    parts: Vec<Part>,
    frames: Vec<Frame>,
    /// Branches that are written but not yet part of a node: where their factors and children
    /// start.
    drafts: Vec<(usize, usize)>,
    factors: Vec<u32>,
    children: Vec<u32>,
    known: FxHashMap<u128, Known>,
    dag: Dag,
    /// How many literals may still be looked at.
    left: u64,
}

impl<'s> Search<'s> {
    fn new(searched: &'s Searched<'s>, effort: u64) -> Self {
        let (clauses, vars) = (searched.clauses, searched.shown.len());
        let mut random = Random::new(0);
        let keys: Vec<_> = (0..2 * vars)
            .map(|_| u128::from(random.next()) << 64 | u128::from(random.next()))
            .collect();
        Self {
            searched,
            occurrences: Occurrences::of(clauses, vars),
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
            parts: Vec::new(),
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
        // All there is, as the one branch of a root that has nothing to decide.
        let all = Part { start: 0, end: self.members.len(), key: 0, shown: true, decision: 0 };
        self.push(all, 2);
        self.open_branch(all);
        while let Some(frame) = self.frames.last() {
            if self.parts.len() == frame.parts {
                self.advance()?;
                continue;
            }
            let part = self.parts.pop()?;
            match self.known(&part)? {
                Some(Known::Possible) => {}
                Some(Known::Node(node)) => self.children.push(node),
                Some(Known::Impossible) => {
                    self.discard_branch();
                    self.advance()?;
                }
                None => {
                    self.push(part, 0);
                    self.advance()?;
                }
            }
        }
        // The root is nobody's child; where it is impossible there is none.
        self.dag.root = self.children.pop();
        Some(self.dag)
    }

    fn push(&mut self, part: Part, tried: u8) {
        self.frames.push(Frame {
            part,
            tried,
            trail: self.trail.len(),
            members: self.members.len(),
            parts: self.parts.len(),
            drafts: self.drafts.len(),
        });
    }

    /// Takes back the branch in work and opens the next one that is possible, of this frame or,
    /// where it has no more, of those above it.
    fn advance(&mut self) -> Option<()> {
        while let Some(frame) = self.frames.last_mut() {
            let (part, tried, trail) = (frame.part, frame.tried, frame.trail);
            frame.tried += 1;
            self.members.truncate(frame.members);
            self.parts.truncate(frame.parts);
            self.undo(trail);
            if tried < 2 {
                self.pay(LOOKS)?;
                if self.assume(Var(part.decision).negative().negate_if(tried == 1)) {
                    self.open_branch(part);
                    return self.pay(0);
                }
                continue;
            }
            let Some(frame) = self.frames.pop() else { break };
            if let Some(node) = self.close(frame.drafts)? {
                self.known.insert(part.key, Known::Node(node));
                self.children.push(node);
                break;
            }
            self.known.insert(part.key, Known::Impossible);
            self.discard_branch();
        }
        Some(())
    }

    /// Makes a node of the branches that were possible.
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

    /// Writes down what the branch in work decided of a part, and splits the rest of the part.
    fn open_branch(&mut self, part: Part) {
        self.drafts.push((self.factors.len(), self.children.len()));
        let Some(frame) = self.frames.last() else { return };
        let shown = self.searched.shown;
        let decided =
            self.trail[frame.trail..].iter().filter(|literal| shown[literal.var().index()]);
        self.factors.extend(decided.map(|&literal| Factor::Literal(literal).to_word()));
        let first = self.parts.len();
        self.look += 1;
        for position in part.start..part.end {
            let var = self.members[position];
            if self.values[var as usize].is_some() || self.met_vars[var as usize] == self.look {
                continue;
            }
            let connected = self.connected(var);
            if connected.end - connected.start > 1 {
                self.parts.push(connected);
                continue;
            }
            self.members.truncate(connected.start);
            if connected.shown {
                self.factors.push(Factor::Free(Var(var)).to_word());
            }
        }
        // The last ones come first: those that may turn out to be impossible with the least work.
        self.parts[first..].sort_by_key(|part| (part.shown, part.end - part.start));
        self.parts[first..].reverse();
    }

    /// The part that a variable belongs to; it is alone where no clause is left of it.
    fn connected(&mut self, var: u32) -> Part {
        let Searched { clauses, shown, decidable, ranks } = *self.searched;
        let start = self.members.len();
        let mut part = Part { start, end: start, key: 0, shown: false, decision: var };
        self.members.push(var);
        self.met_vars[var as usize] = self.look;
        let mut looks = 0;
        while let Some(&var) = self.members.get(part.end) {
            part.end += 1;
            let index = var as usize;
            part.shown |= shown[index];
            let best = part.decision as usize;
            if decidable[index] && (ranks[index] < ranks[best] || !decidable[best]) {
                part.decision = var;
            }
            for position in self.occurrences.of_var(var) {
                let clause = self.occurrences.at(position);
                looks += 1;
                if self.satisfied[clause] > 0 || self.met_clauses[clause] == self.look {
                    continue;
                }
                self.met_clauses[clause] = self.look;
                part.key = part.key.wrapping_add(scramble(self.sums[clause]));
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
        part
    }

    /// What is known about a part without deciding anything.
    fn known(&mut self, part: &Part) -> Option<Option<Known>> {
        if let Some(&known) = self.known.get(&part.key) {
            return Some(Some(known));
        }
        if part.shown {
            return Some(None);
        }
        let known = if self.is_possible(part)? { Known::Possible } else { Known::Impossible };
        self.known.insert(part.key, known);
        Some(Some(known))
    }

    /// Whether what is left of a part has a model.
    fn is_possible(&mut self, part: &Part) -> Option<bool> {
        let mut solver = SolverKind::default().start();
        let mut inner = FxHashMap::default();
        for &var in &self.members[part.start..part.end] {
            inner.insert(var, solver.new_var());
        }
        self.look += 1;
        for &var in &self.members[part.start..part.end] {
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

    /// Makes a literal true, and what follows; whether that contradicts nothing. If it does, it is
    /// to be taken back.
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

    /// Sets the one literal of a clause that is not false.
    fn set_last(&mut self, clause: usize) {
        let literals = self.searched.clauses.get(clause).iter();
        // Where it is true already, its clauses do not know yet.
        if let Some(&last) =
            literals.into_iter().find(|literal| self.values[literal.var().index()].is_none())
        {
            self.set(last);
        }
    }

    /// Takes back what came after so many literals, which nobody visited yet.
    fn forget(&mut self, length: usize) {
        for literal in self.trail.drain(length..) {
            self.values[literal.var().index()] = None;
        }
    }

    /// Takes back all but so many literals.
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

/// Mixes the bits, so that sums of results say which sums went in.
fn scramble(sum: u128) -> u128 {
    const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    let mixed = (sum ^ sum >> 67).wrapping_mul(ODD);
    let mixed = (mixed ^ mixed >> 61).wrapping_mul(ODD);
    mixed ^ mixed >> 64
}
