//! Makes clauses smaller without changing their projected models, which are those of
//! `∃ hidden: clauses`.
//!
//! - A unit clause gives its variable a value.
//! - Literals that imply each other in a circle are merged into one: `a ⇒ b ⇒ … ⇒ a`.
//! - A hidden variable `h` is eliminated where the number of clauses does not grow:
//!   `∃h: (h ∨ A) ∧ (¬h ∨ B)` is `A ∨ B`.
//!
//! # References
//!
//! - Niklas Eén, Armin Biere. "Effective Preprocessing in SAT through Variable and Clause
//!   Elimination." SAT 2005: eliminating variables as long as the number of clauses does not grow.

mod clauses;

pub(crate) use clauses::{ClauseList, LiteralOccurrences};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::formula::{Lit, Var};

/// The simplified clauses.
pub(crate) struct Simplified {
    /// Clauses of at least two literals. Their variables have no value and represent themselves.
    pub clauses: ClauseList,
    /// The literal that represents each variable.
    pub representatives: Vec<Lit>,
    /// The values of the variables that represent themselves, where they are fixed.
    pub values: Vec<Option<bool>>,
    /// Whether the projection contains the variable or one that it represents.
    pub shown: Vec<bool>,
}

/// Clauses whose models are those of other clauses, restricted to the shown variables. Most hidden
/// variables are in none of them but one that makes them false. `None` where there is no model.
pub(crate) fn projected<'c>(
    clauses: impl Iterator<Item = &'c [Lit]>,
    shown: Vec<bool>,
) -> Option<Vec<Vec<Lit>>> {
    let Simplified { clauses, representatives, values, shown: mut mentioned } =
        simplify(clauses, shown)?;
    clauses.iter().flatten().for_each(|literal| mentioned[literal.var().index()] = true);
    let mut found: Vec<Vec<Lit>> = clauses.iter().map(<[Lit]>::to_vec).collect();
    for (var, &same) in (0..).map(Var).zip(&representatives) {
        let literal = var.positive();
        match values[same.var().index()] {
            _ if !mentioned[var.index()] => found.push(vec![!literal]),
            Some(value) => found.push(vec![literal.negate_if(value == same.is_negative())]),
            None if same == literal => {}
            None => found.extend([vec![literal, !same], vec![!literal, same]]),
        }
    }
    Some(found)
}

/// Simplifies clauses. `None` where they have no model.
pub(crate) fn simplify<'c>(
    clauses: impl Iterator<Item = &'c [Lit]>,
    shown: Vec<bool>,
) -> Option<Simplified> {
    let mut simplifier = Simplifier {
        clauses: Vec::new(),
        occurrences: vec![Vec::new(); 2 * shown.len()],
        values: vec![None; shown.len()],
        representatives: (0..shown.len() as u32).map(|var| Var(var).positive()).collect(),
        units: Vec::new(),
        contradiction: false,
        left: 0,
        shown,
    };
    clauses.for_each(|clause| simplifier.add(clause));
    simplifier.propagate();
    simplifier.left = WRITTEN * simplifier.clauses.iter().map(Vec::len).sum::<usize>();
    for _ in 0..ROUNDS {
        let merged = simplifier.merge();
        simplifier.propagate();
        let eliminated = simplifier.eliminate();
        if simplifier.contradiction || !(merged || eliminated) {
            break;
        }
    }
    (!simplifier.contradiction).then(|| simplifier.finish())
}

/// How often the steps are repeated. Each round finds less than the one before.
const ROUNDS: usize = 8;
/// A variable is not eliminated where both of its literals are in more clauses than this.
const FEW: usize = 8;
/// The most clauses of a literal among which a duplicate of a clause is searched for.
const MANY: usize = 64;

/// How many literals a clause has that are put into another one by one.
const SHORT: usize = 16;
/// How many literals of resolvents are written for each literal of the clauses. Where a clause has
/// thousands of hidden variables, each that is eliminated writes it anew.
const WRITTEN: usize = 64;

struct Simplifier {
    /// The clauses, each in ascending order of its literals. Removed clauses are empty.
    clauses: Vec<Vec<Lit>>,
    /// For each literal the clauses that contain it, and some that no longer do.
    occurrences: Vec<Vec<u32>>,
    values: Vec<Option<bool>>,
    representatives: Vec<Lit>,
    shown: Vec<bool>,
    units: Vec<Lit>,
    contradiction: bool,
    /// How many literals of resolvents may still be written.
    left: usize,
}

impl Simplifier {
    fn value(&self, literal: Lit) -> Option<bool> {
        self.values[literal.var().index()].map(|value| value != literal.is_negative())
    }

    fn representative(&self, mut literal: Lit) -> Lit {
        loop {
            let next = self.representatives[literal.var().index()].negate_if(literal.is_negative());
            if next == literal {
                return literal;
            }
            literal = next;
        }
    }

    fn add(&mut self, literals: &[Lit]) {
        let mut clause = Vec::with_capacity(literals.len());
        for &literal in literals {
            let literal = self.representative(literal);
            match self.value(literal) {
                Some(true) => return,
                Some(false) => {}
                None => clause.push(literal),
            }
        }
        clause.sort_unstable();
        clause.dedup();
        let holds_always = clause.windows(2).any(|pair| pair[0] == !pair[1]);
        match *clause {
            [] => self.contradiction = true,
            [literal] => self.units.push(literal),
            _ if holds_always || self.is_known(&clause) => {}
            _ => {
                let index = self.clauses.len() as u32;
                clause.iter().for_each(|literal| self.occurrences[literal.index()].push(index));
                self.clauses.push(clause);
            }
        }
    }

    fn is_known(&self, clause: &[Lit]) -> bool {
        let rarest = clause
            .iter()
            .map(|literal| &self.occurrences[literal.index()])
            .min_by_key(|clauses| clauses.len());
        rarest.is_some_and(|clauses| {
            clauses.len() <= MANY
                && clauses.iter().any(|&index| self.clauses[index as usize] == clause)
        })
    }

    /// The clauses that contain a literal.
    fn with(&self, literal: Lit) -> Vec<u32> {
        let has = |index: &&u32| self.clauses[**index as usize].binary_search(&literal).is_ok();
        self.occurrences[literal.index()].iter().filter(has).copied().collect()
    }

    /// Removes and returns the clauses that contain a literal.
    fn take(&mut self, literal: Lit) -> Vec<Vec<Lit>> {
        let clauses = self.with(literal);
        self.occurrences[literal.index()] = Vec::new();
        clauses.into_iter().map(|index| std::mem::take(&mut self.clauses[index as usize])).collect()
    }

    fn propagate(&mut self) {
        while let Some(literal) = self.units.pop() {
            let literal = self.representative(literal);
            match self.value(literal) {
                Some(true) => continue,
                Some(false) => self.contradiction = true,
                None => self.values[literal.var().index()] = Some(!literal.is_negative()),
            }
            self.take(literal);
            for index in self.with(!literal) {
                let clause = &mut self.clauses[index as usize];
                clause.retain(|&other| other != !literal);
                if let [last] = **clause {
                    clause.clear();
                    self.units.push(last);
                }
            }
            self.occurrences[(!literal).index()] = Vec::new();
        }
    }

    /// Merges literals that imply each other. Returns whether there were any.
    fn merge(&mut self) -> bool {
        let mut implications = DiGraph::<(), ()>::new();
        for _ in 0..self.occurrences.len() {
            implications.add_node(());
        }
        for clause in &self.clauses {
            if let [a, b] = **clause {
                for (from, to) in [(!a, b), (!b, a)] {
                    implications.add_edge(
                        NodeIndex::new(from.index()),
                        NodeIndex::new(to.index()),
                        (),
                    );
                }
            }
        }
        let mut merged = Vec::new();
        for mut class in kosaraju_scc(&implications) {
            class.sort_unstable();
            let mut class = class.into_iter().map(|node| Lit(node.index() as u32));
            let Some(first) = class.next() else { continue };
            for literal in class {
                if literal.var() == first.var() {
                    self.contradiction = true;
                    return true;
                }
                let index = literal.var().index();
                self.representatives[index] = first.negate_if(literal.is_negative());
                self.shown[first.var().index()] |= self.shown[index];
                merged.push(literal);
            }
        }
        for &literal in &merged {
            self.take(literal).iter().for_each(|clause| self.add(clause));
        }
        !merged.is_empty()
    }

    /// Eliminates hidden variables, those first that were made last: what defines a variable that
    /// nothing needs is of no use then either. Returns whether there were any.
    fn eliminate(&mut self) -> bool {
        let mut eliminated = false;
        for var in (0..self.shown.len() as u32).rev().map(Var) {
            if self.contradiction || self.shown[var.index()] || self.values[var.index()].is_some() {
                continue;
            }
            if let Some(resolvents) = self.resolvents(var) {
                self.take(var.positive());
                self.take(var.negative());
                resolvents.iter().for_each(|clause| self.add(clause));
                self.propagate();
                eliminated = true;
            }
        }
        eliminated
    }

    /// The resolvents of all clauses that contain a variable. `None` where they are more clauses
    /// than those, or where too many literals were written before.
    fn resolvents(&mut self, var: Var) -> Option<Vec<Vec<Lit>>> {
        let [positive, negative] =
            [var.positive(), var.negative()].map(|literal| self.with(literal));
        let most = positive.len() + negative.len();
        if most == 0 || positive.len().min(negative.len()) > FEW {
            return None;
        }
        let mut resolvents = Vec::new();
        for &with in &positive {
            for &without in &negative {
                let [with, without] = [with, without].map(|index| &*self.clauses[index as usize]);
                let Some(resolvent) = resolvent(with, without, var) else { continue };
                self.left = self.left.saturating_sub(resolvent.len());
                if resolvents.len() == most || self.left == 0 {
                    return None;
                }
                resolvents.push(resolvent);
            }
        }
        Some(resolvents)
    }

    fn finish(self) -> Simplified {
        let vars = 0..self.shown.len() as u32;
        let representatives = vars.map(|var| self.representative(Var(var).positive())).collect();
        let mut clauses = ClauseList::default();
        self.clauses
            .iter()
            .filter(|clause| !clause.is_empty())
            .for_each(|clause| clauses.push(clause));
        Simplified { clauses, representatives, values: self.values, shown: self.shown }
    }
}

/// The resolvent of two clauses that contain the two literals of a variable; `None` where it holds
/// always. Where thousands of clauses define a variable, most are short, and one is long.
fn resolvent(one: &[Lit], other: &[Lit], var: Var) -> Option<Vec<Lit>> {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let own = |clause: &'_ [Lit]| {
        clause.iter().copied().filter(|literal| literal.var() != var).collect::<Vec<_>>()
    };
    let short = own(short);
    if short.iter().any(|&literal| long.binary_search(&!literal).is_ok()) {
        return None;
    }
    let mut resolvent = own(long);
    if short.len() < SHORT {
        for literal in short {
            if let Err(place) = resolvent.binary_search(&literal) {
                resolvent.insert(place, literal);
            }
        }
    } else {
        resolvent.extend(short);
        resolvent.sort_unstable();
        resolvent.dedup();
    }
    Some(resolvent)
}
