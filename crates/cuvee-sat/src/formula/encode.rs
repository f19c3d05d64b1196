//! Encodes formulas as clauses, by the transformation of Tseitin.
//!
//! A conjunction `v ⇔ a₁ ∧ … ∧ aₙ` becomes the clauses `(¬v ∨ aᵢ)` for each `i` and
//! `(v ∨ ¬a₁ ∨ … ∨ ¬aₙ)`. Both directions are encoded, so that each model of the formulas extends
//! to exactly one model of the clauses. Definitions rule out no assignment of the atoms, so that
//! they are never the reason of a conflict; they have no origin.
//!
//! # References
//!
//! - G. S. Tseitin. "On the Complexity of Derivation in Propositional Calculus." 1968.

use std::fmt;
use std::ops::Not;

use super::arena::{Arena, Formula, View};

/// A variable of the solver. The first variables are the atoms, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

/// A literal: a variable or its negation. Its number is twice that of the variable, plus one for
/// the negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lit(pub u32);

/// The reason for a clause: an index into a list of reasons that the caller keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OriginId(pub u32);

impl Var {
    /// The literal that is true where the variable is.
    pub const fn positive(self) -> Lit {
        Lit(self.0 << 1)
    }

    /// The literal that is true where the variable is false.
    pub const fn negative(self) -> Lit {
        Lit(self.0 << 1 | 1)
    }

    /// The number of the variable as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Lit {
    /// The variable of the literal.
    pub const fn var(self) -> Var {
        Var(self.0 >> 1)
    }

    /// Whether the literal is the negation of its variable.
    pub const fn is_negative(self) -> bool {
        self.0 & 1 == 1
    }

    /// The number of the literal as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The literal as DIMACS writes it: variables count from 1, and a negation has a minus sign.
    pub const fn to_dimacs(self) -> i32 {
        let var = self.var().0 as i32 + 1;
        if self.is_negative() { -var } else { var }
    }

    /// Returns the negation of the literal if `negate` is true, and otherwise the literal itself.
    #[must_use]
    pub const fn negate_if(self, negate: bool) -> Self {
        Self(self.0 ^ negate as u32)
    }
}

impl Not for Lit {
    type Output = Self;

    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

impl fmt::Display for Lit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_negative() { "¬" } else { "" }, self.var().0)
    }
}

/// A disjunction of literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CnfClause<'c> {
    /// The literals in ascending order. Each variable occurs once.
    pub literals: &'c [Lit],
    /// The reason for the clause. Clauses that define an auxiliary variable have none; that
    /// variable is the last variable of the clause. Clauses of [`Cnf::of`] have none either.
    pub origin: Option<OriginId>,
}

/// Clauses in conjunctive normal form, each with its origin.
#[derive(Debug, Default)]
pub struct Cnf {
    literals: Vec<Lit>,
    /// The end of each clause among the literals, and its origin.
    ends: Vec<(u32, Option<OriginId>)>,
    atoms: u32,
    vars: u32,
}

impl Cnf {
    /// Creates a set of clauses without origins. All variables are atoms.
    pub fn of(vars: usize, clauses: impl IntoIterator<Item = Vec<Lit>>) -> Self {
        let mut cnf = Self { atoms: vars as u32, vars: vars as u32, ..Self::default() };
        clauses.into_iter().for_each(|mut clause| cnf.push(&mut clause, None));
        cnf
    }

    /// Adds a variable, which is an atom as well.
    pub(crate) fn fresh(&mut self) -> Var {
        let var = Var(self.vars);
        self.vars += 1;
        self.atoms = self.vars;
        var
    }

    /// The number of variables.
    pub fn vars(&self) -> usize {
        self.vars as usize
    }

    /// The number of variables that are atoms.
    pub fn atoms(&self) -> usize {
        self.atoms as usize
    }

    /// The number of clauses.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no clause.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The total number of literals in all clauses.
    pub fn literals(&self) -> usize {
        self.literals.len()
    }

    /// The clause at a position.
    pub(crate) fn clause(&self, index: usize) -> CnfClause<'_> {
        let start = if index == 0 { 0 } else { self.ends[index - 1].0 };
        let (end, origin) = self.ends[index];
        CnfClause { literals: &self.literals[start as usize..end as usize], origin }
    }

    /// The clauses in the order in which they were asserted. Definitions come before their first
    /// use.
    pub fn clauses(&self) -> impl ExactSizeIterator<Item = CnfClause<'_>> {
        (0..self.len()).map(|index| self.clause(index))
    }

    /// Adds a clause, unless it is a tautology.
    pub(crate) fn push(&mut self, literals: &mut Vec<Lit>, origin: Option<OriginId>) {
        literals.sort_unstable();
        literals.dedup();
        if literals.windows(2).any(|pair| pair[0] == !pair[1]) {
            return;
        }
        self.literals.extend_from_slice(literals);
        self.ends.push((self.literals.len() as u32, origin));
    }
}

impl fmt::Display for Cnf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for CnfClause { literals, origin } in self.clauses() {
            match origin {
                Some(OriginId(origin)) => write!(f, "{origin}:")?,
                None => f.write_str("definition:")?,
            }
            for (position, literal) in literals.iter().enumerate() {
                write!(f, "{}{literal}", if position == 0 { " " } else { " ∨ " })?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// The most literals that a clause may have beside a conjunction to be repeated for each of its
/// operands. Beside more literals, the conjunction gets a variable.
const REPEATED: usize = 8;
/// The most atoms that a conjunction may have to be unfolded wherever it occurs. Other conjunctions
/// are unfolded once; for further occurrences they get a variable.
const SHORT: usize = 4;

/// Encodes the formulas that must hold as clauses.
///
/// ```
/// use cuvee_sat::formula::{Arena, Atom, Encoder, OriginId};
///
/// let mut arena = Arena::default();
/// let [a, b, c] = [0, 1, 2].map(|atom| arena.atom(Atom(atom)));
/// let both = arena.and([b, c]);
/// let mut encoder = Encoder::new(&arena, 3);
/// encoder.assert(&[!a, both], OriginId(7));
/// assert_eq!(encoder.finish().to_string(), "7: ¬0 ∨ 1\n7: ¬0 ∨ 2\n");
/// ```
pub struct Encoder<'f> {
    arena: &'f Arena,
    cnf: Cnf,
    /// The variable of each node of the arena that has one.
    vars: Vec<Option<Var>>,
    /// For each node, in which form the conjunction was unfolded into an asserted clause: bit 0 for
    /// the conjunction itself, bit 1 for its negation.
    unfolded: Vec<u8>,
    work: Work,
    clause: Vec<Lit>,
    stack: Vec<Formula>,
}

/// Reusable memory for [`Encoder::assert`], which is called too often to allocate memory each time.
#[derive(Default)]
struct Work {
    /// The clauses that are yet to be flattened, one after the other, and the length of each.
    pending: Vec<Formula>,
    lengths: Vec<usize>,
    /// The disjuncts of the current clause: literals and negated conjunctions here, and below the
    /// conjunctions.
    literals: Vec<Formula>,
    conjunctions: Vec<Formula>,
}

impl<'f> Encoder<'f> {
    /// Creates an encoder for formulas of an arena. All atoms of the formulas are less than
    /// `atoms`.
    pub fn new(arena: &'f Arena, atoms: u32) -> Self {
        Self {
            arena,
            cnf: Cnf { atoms, vars: atoms, ..Cnf::default() },
            vars: vec![None; arena.size()],
            unfolded: vec![0; arena.size()],
            work: Work::default(),
            clause: Vec::new(),
            stack: Vec::new(),
        }
    }

    /// Asserts that at least one of the formulas holds, for the reason `origin`.
    ///
    /// Disjunctions among the formulas are merged into the clause. Where a single conjunction is
    /// left beside literals, the clause is repeated for each of its operands.
    pub fn assert(&mut self, clause: &[Formula], origin: OriginId) {
        let mut work = std::mem::take(&mut self.work);
        work.pending.extend_from_slice(clause);
        work.lengths.push(clause.len());
        while let Some(length) = work.lengths.pop() {
            if self.flatten(&mut work, length) {
                continue;
            }
            let Work { pending, lengths, literals, conjunctions } = &mut work;
            if let [conjunction] = conjunctions[..]
                && let View::And(operands) = self.arena.view(conjunction)
                && literals.len() <= REPEATED
                && self.unfold(conjunction, operands)
            {
                for &operand in operands.iter().rev() {
                    pending.extend_from_slice(literals);
                    pending.push(operand);
                    lengths.push(literals.len() + 1);
                }
                continue;
            }
            self.emit(literals.iter().chain(&*conjunctions), origin);
        }
        self.work = work;
    }

    /// Splits the last pending disjuncts into literals and conjunctions. Returns whether one of the
    /// disjuncts always holds.
    fn flatten(&mut self, work: &mut Work, length: usize) -> bool {
        let Work { pending, literals, conjunctions, .. } = work;
        let start = pending.len() - length;
        literals.clear();
        conjunctions.clear();
        while pending.len() > start
            && let Some(disjunct) = pending.pop()
        {
            match self.arena.view(disjunct) {
                View::Constant(true) => {
                    pending.truncate(start);
                    return true;
                }
                View::Constant(false) => {}
                View::NotAnd(operands) if self.unfold(disjunct, operands) => {
                    pending.extend(operands.iter().map(|&operand| !operand))
                }
                View::Literal(..) | View::NotAnd(_) => literals.push(disjunct),
                View::And(_) => conjunctions.push(disjunct),
            }
        }
        false
    }

    /// Whether to unfold a conjunction instead of giving it a variable. Long conjunctions are
    /// unfolded only once, so that the size of the clauses is linear in the size of the formulas.
    fn unfold(&mut self, formula: Formula, operands: &[Formula]) -> bool {
        let bit = 1 << u8::from(formula.is_negated());
        let unfolded = &mut self.unfolded[formula.node()];
        let first = *unfolded & bit == 0;
        *unfolded |= bit;
        let is_literal = |&operand| matches!(self.arena.view(operand), View::Literal(..));
        first || operands.len() <= SHORT && operands.iter().all(is_literal)
    }

    fn emit<'a>(&mut self, disjuncts: impl Iterator<Item = &'a Formula>, origin: OriginId) {
        let mut clause = std::mem::take(&mut self.clause);
        clause.clear();
        clause.extend(disjuncts.map(|&disjunct| self.literal(disjunct)));
        self.cnf.push(&mut clause, Some(origin));
        self.clause = clause;
    }

    /// Returns a literal that is equivalent to a formula. Adds definitions where there is no such
    /// literal yet.
    pub fn literal(&mut self, formula: Formula) -> Lit {
        if let Some(literal) = self.known(formula) {
            return literal;
        }
        let mut stack = std::mem::take(&mut self.stack);
        stack.push(formula);
        while let Some(&top) = stack.last() {
            let ready = stack.len();
            if self.known(top).is_none() {
                let differing = self.differing(top);
                let operands = match (&differing, self.arena.view(top)) {
                    (Some(differing), _) => differing.as_slice(),
                    (None, View::And(operands) | View::NotAnd(operands)) => operands,
                    // A constant is the conjunction of no operands, or its negation.
                    (None, View::Constant(_) | View::Literal(..)) => &[],
                };
                stack.extend(operands.iter().filter(|&&operand| self.known(operand).is_none()));
                if stack.len() > ready {
                    continue;
                }
                match differing {
                    Some(operands) => self.define_exclusive_or(top, operands),
                    None => self.define_conjunction(top, operands),
                }
            }
            stack.pop();
        }
        self.stack = stack;
        self.known(formula).unwrap_or(Lit(0))
    }

    fn known(&self, formula: Formula) -> Option<Lit> {
        match self.arena.view(formula) {
            View::Literal(atom, sign) => Some(Var(atom.0).positive().negate_if(!sign)),
            _ => {
                self.vars[formula.node()].map(|var| var.positive().negate_if(formula.is_negated()))
            }
        }
    }

    /// The formulas that must differ so that a conjunction holds, if that is what it says:
    /// `¬(a ∧ b) ∧ ¬(¬a ∧ ¬b)`.
    fn differing(&self, conjunction: Formula) -> Option<[Formula; 2]> {
        let (View::And(&[both, neither]) | View::NotAnd(&[both, neither])) =
            self.arena.view(conjunction)
        else {
            return None;
        };
        match (self.arena.view(both), self.arena.view(neither)) {
            (View::NotAnd(&[a, b]), View::NotAnd(&[c, d])) if [c, d] == [!a, !b] => Some([a, b]),
            _ => None,
        }
    }

    /// Gives a conjunction a variable. The literals of its operands must be known already.
    fn define_conjunction(&mut self, formula: Formula, operands: &[Formula]) {
        let var = self.variable_of(formula);
        let mut clause: Vec<_> =
            operands.iter().filter_map(|&operand| self.known(operand)).collect();
        for literal in &mut clause {
            self.cnf.push(&mut vec![*literal, var.negative()], None);
            *literal = !*literal;
        }
        clause.push(var.positive());
        self.cnf.push(&mut clause, None);
    }

    /// Gives a conjunction a variable that says that two formulas differ. Their literals must be
    /// known already.
    fn define_exclusive_or(&mut self, formula: Formula, operands: [Formula; 2]) {
        let [Some(a), Some(b)] = operands.map(|operand| self.known(operand)) else { return };
        let var = self.variable_of(formula);
        let (differ, agree) = (var.positive(), var.negative());
        for clause in [[a, b, agree], [!a, !b, agree], [a, !b, differ], [!a, b, differ]] {
            self.cnf.push(&mut clause.to_vec(), None);
        }
    }

    fn variable_of(&mut self, formula: Formula) -> Var {
        let var = Var(self.cnf.vars);
        self.cnf.vars += 1;
        self.vars[formula.node()] = Some(var);
        var
    }

    /// The clauses that were added so far.
    pub fn cnf(&self) -> &Cnf {
        &self.cnf
    }

    /// Leaves the variables below this number to the caller. From now on every new variable is at
    /// least this number.
    pub fn reserve(&mut self, vars: usize) {
        self.cnf.vars = self.cnf.vars.max(vars as u32);
    }

    /// Returns the clauses.
    pub fn finish(self) -> Cnf {
        self.cnf
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::super::arena::Atom;
    use super::*;

    fn encode(atoms: u32, build: impl Fn(&mut Arena, &[Formula]) -> Vec<Vec<Formula>>) -> Cnf {
        let mut arena = Arena::default();
        let operands: Vec<_> = (0..atoms).map(|atom| arena.atom(Atom(atom))).collect();
        let clauses = build(&mut arena, &operands);
        let mut encoder = Encoder::new(&arena, atoms);
        for (origin, clause) in clauses.iter().enumerate() {
            encoder.assert(clause, OriginId(origin as u32));
        }
        encoder.finish()
    }

    #[test]
    fn clauses_stay_clauses() {
        let cnf = encode(4, |arena, x| {
            let nested = arena.or([x[2], !x[3]]);
            let clause = arena.or([x[1], nested]);
            vec![
                vec![!x[0], clause],
                vec![x[0], !x[0]],
                vec![Formula::TRUE],
                vec![Formula::FALSE, x[1], x[1]],
                vec![],
            ]
        });
        assert_snapshot!(cnf, @r"
        0: ¬0 ∨ 1 ∨ 2 ∨ ¬3
        3: 1
        4:
        ");
    }

    #[test]
    fn a_lone_conjunction_repeats_the_clause() {
        let cnf = encode(5, |arena, x| {
            let either = arena.or([x[3], x[4]]);
            let all = arena.and([x[1], !x[2], either]);
            vec![vec![!x[0], all], vec![!all, x[0]]]
        });
        assert_snapshot!(cnf, @r"
        0: ¬0 ∨ 1
        0: ¬0 ∨ ¬2
        0: ¬0 ∨ 3 ∨ 4
        1: 0 ∨ ¬1 ∨ 2 ∨ ¬3
        1: 0 ∨ ¬1 ∨ 2 ∨ ¬4
        ");
    }

    #[test]
    fn two_conjunctions_get_variables() {
        let cnf = encode(4, |arena, x| {
            let left = arena.and([x[0], x[1]]);
            let right = arena.and([x[2], x[3]]);
            vec![vec![left, right]]
        });
        assert_snapshot!(cnf, @r"
        definition: 2 ∨ ¬4
        definition: 3 ∨ ¬4
        definition: ¬2 ∨ ¬3 ∨ 4
        definition: 0 ∨ ¬5
        definition: 1 ∨ ¬5
        definition: ¬0 ∨ ¬1 ∨ 5
        0: 4 ∨ 5
        ");
    }

    #[test]
    fn exactly_one_of_four() {
        let cnf = encode(4, |arena, x| vec![vec![arena.exactly_one(x.iter().copied())]]);
        assert_snapshot!(cnf, @r"
        0: 0 ∨ 1 ∨ 2 ∨ 3
        0: ¬0 ∨ ¬1
        0: ¬0 ∨ ¬2
        0: ¬1 ∨ ¬2
        0: ¬2 ∨ ¬3
        0: ¬0 ∨ ¬3
        0: ¬1 ∨ ¬3
        ");
    }

    #[test]
    fn constants_have_literals() {
        let arena = Arena::default();
        let mut encoder = Encoder::new(&arena, 0);
        assert_eq!(encoder.literal(Formula::FALSE), !encoder.literal(Formula::TRUE));
        assert_snapshot!(encoder.finish(), @"definition: 0");
    }

    #[test]
    fn clauses_are_linear_in_the_formulas() {
        // The clauses share a chain of prefixes, a conjunction that every clause uses, and its
        // negation.
        let cnf = encode(1000, |arena, x| {
            let once = arena.at_most_one(x.iter().copied());
            let all = arena.and(x.iter().copied());
            let mut clauses = vec![vec![once]];
            clauses.extend(x.iter().map(|&x| vec![!x, all]));
            clauses.extend(x.iter().map(|&x| vec![x, !all]));
            clauses
        });
        assert!(cnf.literals() < 30_000, "{}", cnf.literals());
    }

    #[test]
    fn depth_does_not_matter() {
        let cnf = encode(100_000, |arena, x| {
            let mut left = x[0];
            for &atom in x {
                left = !arena.and([left, atom]);
            }
            vec![vec![left], vec![!left, x[0]]]
        });
        assert!(cnf.len() < 700_000);
    }

    const ATOMS: u32 = 4;

    /// The position of an earlier formula, counted backwards, and whether the formula is negated.
    type Reference = (u8, bool);

    #[derive(Clone, Debug)]
    struct Recipe {
        /// The formulas. Each combines earlier formulas by an operator.
        steps: Vec<(u8, Vec<Reference>)>,
        asserted: Vec<Vec<Reference>>,
    }

    fn recipe() -> impl Strategy<Value = Recipe> {
        let references = |most| prop::collection::vec((any::<u8>(), any::<bool>()), 0..most);
        let steps = prop::collection::vec((0..5_u8, references(5)), 1..12);
        (steps, prop::collection::vec(references(4), 1..5))
            .prop_map(|(steps, asserted)| Recipe { steps, asserted })
    }

    proptest! {
        #[test]
        fn models_are_those_of_the_formulas(Recipe { steps, asserted } in recipe()) {
            let mut arena = Arena::default();
            let mut formulas: Vec<_> = (0..ATOMS).map(|atom| arena.atom(Atom(atom))).collect();
            let pick = |formulas: &[Formula], (index, negate): (u8, bool)| {
                let formula = formulas[formulas.len() - 1 - index as usize % formulas.len()];
                if negate { !formula } else { formula }
            };
            for (operator, operands) in &steps {
                let operands: Vec<_> = operands.iter().map(|&operand| pick(&formulas, operand)).collect();
                formulas.push(match operator {
                    0 => arena.and(operands),
                    1 => arena.or(operands),
                    2 => arena.xor(operands),
                    3 => arena.at_most_one(operands),
                    _ => arena.exactly_one(operands),
                });
            }
            let clauses: Vec<Vec<_>> =
                asserted.iter().map(|clause| clause.iter().map(|&operand| pick(&formulas, operand)).collect()).collect();
            let mut encoder = Encoder::new(&arena, ATOMS);
            for clause in &clauses {
                encoder.assert(clause, OriginId(0));
            }
            let literals: Vec<_> = formulas.iter().map(|&formula| encoder.literal(formula)).collect();
            let cnf = encoder.finish();
            for assignment in 0..1_u32 << ATOMS {
                let present = |atom: Atom| assignment >> atom.0 & 1 == 1;
                let values: Vec<_> = formulas.iter().map(|&formula| arena.eval(formula, &present)).collect();
                let holds = clauses.iter().all(|clause| clause.iter().any(|&formula| arena.eval(formula, &present)));
                // The definitions determine each auxiliary variable from the variables before it.
                let mut model: Vec<bool> = (0..ATOMS).map(|atom| present(Atom(atom))).collect();
                for var in ATOMS..cnf.vars {
                    let satisfied = |value: bool| {
                        cnf.clauses().filter(|clause| clause.origin.is_none() && clause.literals.last().unwrap().var() == Var(var)).all(|clause| {
                            clause.literals.iter().any(|literal| {
                                let truth = model.get(literal.var().index()).copied().unwrap_or(value);
                                truth != literal.is_negative()
                            })
                        })
                    };
                    prop_assert!(satisfied(true) != satisfied(false));
                    model.push(satisfied(true));
                }
                let truth = |literal: &Lit| model[literal.var().index()] != literal.is_negative();
                prop_assert_eq!(cnf.clauses().all(|clause| clause.literals.iter().any(truth)), holds);
                prop_assert_eq!(literals.iter().map(truth).collect::<Vec<_>>(), values);
            }
        }
    }
}
