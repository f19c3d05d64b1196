//! Stores formulas as an and-inverter graph with n-ary conjunctions.
//!
//! A disjunction `a ∨ b` is stored as `¬(¬a ∧ ¬b)`. So formulas of equal structure are one node.
//!
//! # References
//!
//! - Andreas Kuehlmann, Viresh Paruthi, Florian Krohm, Malay K. Ganai. "Robust Boolean Reasoning
//!   for Equivalence Checking and Functional Property Verification." IEEE TCAD 2002: graphs of
//!   conjunctions and negations, in which equal structures are shared.

use std::hash::Hasher;
use std::ops::Range;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// A proposition that the solver decides, such as whether an element is present. Atoms are numbered
/// from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Atom(pub u32);

/// A reference to a formula of an [`Arena`]. The reference includes the sign, so that negation
/// costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Formula(u32);

/// The outermost operator of a formula, with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View<'a> {
    /// True or false.
    Constant(bool),
    /// An atom, and whether it is positive; `false` stands for its negation.
    Literal(Atom, bool),
    /// The formula holds where all of these hold.
    And(&'a [Formula]),
    /// The formula holds where at least one of these does not hold.
    NotAnd(&'a [Formula]),
}

impl std::ops::Not for Formula {
    type Output = Self;

    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// The kind of a node. The sign is in the [`Formula`] that refers to the node.
#[derive(Clone, Copy, Debug)]
enum FormulaNode {
    True,
    Atom(Atom),
    /// A conjunction, as a range of [`Arena::operands`].
    And {
        start: u32,
        end: u32,
    },
}

/// All formulas of one problem.
///
/// Formulas are simplified as they are built. True operands of a conjunction disappear, and a false
/// one makes it false. Repeated operands count once. A conjunction of a formula and its negation is
/// false. A conjunction that exists already is not built again.
///
/// ```
/// use cuvee_sat::formula::{Arena, Atom, Formula};
///
/// let mut arena = Arena::default();
/// let (a, b) = (arena.atom(Atom(0)), arena.atom(Atom(1)));
/// assert_eq!(arena.and([a, b, Formula::TRUE]), arena.and([b, a, b]));
/// assert_eq!(arena.and([a, b, !a]), Formula::FALSE);
///
/// let either = arena.or([a, b]);
/// assert!(arena.eval(either, &|atom| atom == Atom(1)));
/// ```
#[derive(Debug)]
pub struct Arena {
    nodes: Vec<FormulaNode>,
    operands: Vec<Formula>,
    /// The node of each atom that has one.
    atoms: Vec<Option<Formula>>,
    /// The nodes of the conjunctions, found by their operands.
    conjunctions: HashTable<u32>,
    scratch: Vec<Formula>,
}

impl Default for Arena {
    fn default() -> Self {
        Self {
            nodes: vec![FormulaNode::True],
            operands: Vec::new(),
            atoms: Vec::new(),
            conjunctions: HashTable::new(),
            scratch: Vec::new(),
        }
    }
}

impl Formula {
    /// The formula that always holds.
    pub const TRUE: Self = Self(0);
    /// The formula that never holds.
    pub const FALSE: Self = Self(1);

    /// The formula of a truth value.
    pub fn constant(value: bool) -> Self {
        if value { Self::TRUE } else { Self::FALSE }
    }

    /// The truth value, if the formula is a constant.
    pub fn as_constant(self) -> Option<bool> {
        (self.0 < 2).then_some(self == Self::TRUE)
    }

    /// The position of the node in its arena.
    pub(super) fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(super) fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// The same formula without its sign.
    fn unsigned(self) -> Self {
        Self(self.0 & !1)
    }

    fn negate_if(self, negate: bool) -> Self {
        Self(self.0 ^ u32::from(negate))
    }
}

impl Arena {
    /// Creates an arena that has room for `atoms` atoms.
    pub fn with_room(atoms: usize) -> Self {
        let mut arena = Self {
            nodes: Vec::with_capacity(atoms + 1),
            atoms: Vec::with_capacity(atoms),
            ..Self::default()
        };
        arena.nodes.push(FormulaNode::True);
        arena
    }

    /// Returns the formula of an atom.
    pub fn atom(&mut self, atom: Atom) -> Formula {
        let index = atom.0 as usize;
        if index >= self.atoms.len() {
            self.atoms.resize(index + 1, None);
        }
        if let Some(formula) = self.atoms[index] {
            return formula;
        }
        let formula = push_node(&mut self.nodes, FormulaNode::Atom(atom));
        self.atoms[index] = Some(formula);
        formula
    }

    /// All operands hold. The conjunction of no operands is true.
    pub fn and(&mut self, operands: impl IntoIterator<Item = Formula>) -> Formula {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.extend(operands.into_iter().filter(|&operand| operand != Formula::TRUE));
        scratch.sort_unstable();
        scratch.dedup();
        // FALSE sorts before every other operand that is left. A formula and its negation are
        // neighbours.
        let contradiction = scratch.first() == Some(&Formula::FALSE)
            || scratch.windows(2).any(|pair| pair[0] == !pair[1]);
        let formula = match scratch[..] {
            _ if contradiction => Formula::FALSE,
            [] => Formula::TRUE,
            [operand] => operand,
            _ => self.conjunction(&scratch),
        };
        self.scratch = scratch;
        formula
    }

    /// Finds or adds the conjunction of at least two operands, which are sorted and distinct.
    fn conjunction(&mut self, operands: &[Formula]) -> Formula {
        let Self { nodes, operands: pool, conjunctions, .. } = self;
        let found = conjunctions
            .find(hash(operands), |&node| pool[range(nodes[node as usize])] == *operands);
        if let Some(&node) = found {
            return Formula(node << 1);
        }
        let start = pool.len() as u32;
        pool.extend_from_slice(operands);
        let formula = push_node(nodes, FormulaNode::And { start, end: pool.len() as u32 });
        conjunctions.insert_unique(hash(operands), formula.0 >> 1, |&node| {
            hash(&pool[range(nodes[node as usize])])
        });
        formula
    }

    /// At least one operand holds. The disjunction of no operands is false.
    pub fn or(&mut self, operands: impl IntoIterator<Item = Formula>) -> Formula {
        !self.and(operands.into_iter().map(|operand| !operand))
    }

    /// The implication `a ⇒ b`.
    pub fn implies(&mut self, a: Formula, b: Formula) -> Formula {
        self.or([!a, b])
    }

    /// The equivalence `a ⇔ b`.
    pub fn iff(&mut self, a: Formula, b: Formula) -> Formula {
        let both = self.and([a, b]);
        let neither = self.and([!a, !b]);
        self.or([both, neither])
    }

    /// An odd number of the operands hold.
    pub fn xor(&mut self, operands: impl IntoIterator<Item = Formula>) -> Formula {
        let mut odd = false;
        let mut operands: Vec<_> = operands
            .into_iter()
            .map(|operand| {
                odd ^= operand.is_negated();
                operand.unsigned()
            })
            .collect();
        operands.sort_unstable();
        // Of equal operands, two cancel out.
        let single = operands
            .chunk_by(|a, b| a == b)
            .filter(|equal| equal.len() % 2 == 1)
            .map(|equal| equal[0]);
        let single: Vec<_> = single.collect();
        self.parity(&single).negate_if(odd)
    }

    /// An odd number of the operands hold, by halves: a change of one operand then concerns few
    /// parts, and not all that come later.
    fn parity(&mut self, operands: &[Formula]) -> Formula {
        match operands {
            [] => Formula::FALSE,
            &[operand] => operand,
            _ => {
                let (left, right) = operands.split_at(operands.len() / 2);
                let (left, right) = (self.parity(left), self.parity(right));
                !self.iff(left, right)
            }
        }
    }

    /// At most one operand holds. The size of the formula is linear in the number of operands.
    pub fn at_most_one(&mut self, operands: impl IntoIterator<Item = Formula>) -> Formula {
        let (distinct, _) = self.distinct(operands);
        distinct
    }

    /// Exactly one operand holds.
    pub fn exactly_one(&mut self, operands: impl IntoIterator<Item = Formula>) -> Formula {
        let (distinct, any) = self.distinct(operands);
        self.and([distinct, any])
    }

    /// Returns the formulas "at most one operand holds" and "at least one operand holds":
    /// `⋀ᵢ ¬(xᵢ ∧ pᵢ)` and `pₙ₊₁`, where `pᵢ = x₁ ∨ … ∨ xᵢ₋₁`.
    fn distinct(&mut self, operands: impl IntoIterator<Item = Formula>) -> (Formula, Formula) {
        let mut earlier = Formula::FALSE;
        let mut distinct = Vec::new();
        for operand in operands {
            distinct.push(!self.and([operand, earlier]));
            earlier = self.or([operand, earlier]);
        }
        (self.and(distinct), earlier)
    }

    /// Returns a formula over some atoms that holds only where these atoms alone give `formula` the
    /// truth value `value`, whatever the other atoms are.
    ///
    /// Each operand is looked at by itself, as it is when formulas are built. So the result may be
    /// too strong: it does not notice that `a ∨ ¬a` holds for every `a` outside the given atoms.
    ///
    /// `known` stores results between calls. All calls with the same `known` must have the same
    /// `atoms`.
    pub fn folds_to(
        &mut self,
        formula: Formula,
        value: bool,
        atoms: &Range<u32>,
        known: &mut rustc_hash::FxHashMap<Formula, Formula>,
    ) -> Formula {
        let root = if value { formula } else { !formula };
        // A stack instead of recursion, so that deep formulas do not overflow the call stack.
        let mut open = vec![root];
        while let Some(&formula) = open.last() {
            let folded = match self.view(formula) {
                _ if known.contains_key(&formula) => {
                    open.pop();
                    continue;
                }
                View::Constant(value) => Formula::constant(value),
                View::Literal(atom, _) if atoms.contains(&atom.0) => formula,
                View::Literal(..) => Formula::FALSE,
                View::And(operands) | View::NotAnd(operands) => {
                    let is_and = !formula.is_negated();
                    let operand = |it: &Formula| it.negate_if(!is_and);
                    let found = operands.iter().map(|it| known.get(&operand(it)).copied());
                    match found.collect::<Option<Vec<Formula>>>() {
                        Some(operands) if is_and => self.and(operands),
                        Some(operands) => self.or(operands),
                        None => {
                            open.extend(operands.iter().map(operand));
                            continue;
                        }
                    }
                }
            };
            known.insert(formula, folded);
        }
        known.get(&root).copied().unwrap_or(Formula::FALSE)
    }

    /// Returns the outermost operator of a formula, with its operands.
    #[inline]
    pub fn view(&self, formula: Formula) -> View<'_> {
        let negated = formula.is_negated();
        match self.nodes[formula.node()] {
            FormulaNode::True => View::Constant(!negated),
            FormulaNode::Atom(atom) => View::Literal(atom, !negated),
            node @ FormulaNode::And { .. } if negated => View::NotAnd(&self.operands[range(node)]),
            node @ FormulaNode::And { .. } => View::And(&self.operands[range(node)]),
        }
    }

    /// The number of nodes. Every [`Formula::node`] is less than it.
    pub(super) fn size(&self) -> usize {
        self.nodes.len()
    }

    /// Evaluates a formula, where `present` returns the truth of each atom. The evaluation does not
    /// recurse, so that deep formulas do not overflow the call stack.
    pub fn eval(&self, formula: Formula, present: &dyn Fn(Atom) -> bool) -> bool {
        self.evaluator(present).eval(formula)
    }

    /// Returns an evaluator for many formulas over the same atoms. Subformulas that they share are
    /// evaluated once.
    pub fn evaluator<'a>(&'a self, present: &'a dyn Fn(Atom) -> bool) -> FormulaEvaluator<'a> {
        FormulaEvaluator { arena: self, present, values: rustc_hash::FxHashMap::default() }
    }
}

/// Evaluates formulas of an [`Arena`]; see [`Arena::evaluator`].
pub struct FormulaEvaluator<'a> {
    arena: &'a Arena,
    present: &'a dyn Fn(Atom) -> bool,
    /// The truth of the conjunctions evaluated so far, by node.
    values: rustc_hash::FxHashMap<usize, bool>,
}

impl FormulaEvaluator<'_> {
    /// Evaluates a formula.
    pub fn eval(&mut self, formula: Formula) -> bool {
        // The conjunctions under evaluation, each with the number of its operands that are known to
        // hold.
        let mut stack: Vec<(&[Formula], usize, Formula)> = Vec::new();
        let mut formula = formula;
        loop {
            let mut value = match (self.known(formula), self.arena.view(formula)) {
                (Some(value), _) => value,
                (None, View::And(operands) | View::NotAnd(operands)) => {
                    stack.push((operands, 0, formula));
                    formula = operands[0];
                    continue;
                }
                (None, View::Constant(value)) => value,
                (None, View::Literal(atom, sign)) => (self.present)(atom) == sign,
            };
            loop {
                let Some((operands, held, owner)) = stack.last_mut() else { return value };
                *held += 1;
                if value && *held < operands.len() {
                    formula = operands[*held];
                    break;
                }
                self.values.insert(owner.node(), value);
                value ^= owner.is_negated();
                stack.pop();
            }
        }
    }

    fn known(&self, formula: Formula) -> Option<bool> {
        self.values.get(&formula.node()).map(|value| value ^ formula.is_negated())
    }
}

fn push_node(nodes: &mut Vec<FormulaNode>, node: FormulaNode) -> Formula {
    nodes.push(node);
    Formula((nodes.len() as u32 - 1) << 1)
}

/// The range of the operands of a conjunction, which is empty for other nodes.
fn range(node: FormulaNode) -> Range<usize> {
    match node {
        FormulaNode::And { start, end } => start as usize..end as usize,
        FormulaNode::True | FormulaNode::Atom(_) => 0..0,
    }
}

fn hash(operands: &[Formula]) -> u64 {
    let mut hasher = FxHasher::default();
    operands.iter().for_each(|operand| hasher.write_u32(operand.0));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u32 = 5;

    /// Checks an operator against its meaning on truth values. It takes up to [`MOST`] operands;
    /// each is an atom, a negated atom, a constant or a repetition of the operand before it.
    fn table(build: impl Fn(&mut Arena, &[Formula]) -> Formula, meaning: impl Fn(&[bool]) -> bool) {
        for count in 0..=MOST {
            for kinds in 0..5_u32.pow(count) {
                let mut arena = Arena::default();
                let mut operands = Vec::new();
                for position in 0..count {
                    let atom = arena.atom(Atom(position));
                    operands.push(match kinds / 5_u32.pow(position) % 5 {
                        0 => atom,
                        1 => !atom,
                        2 => Formula::TRUE,
                        3 => Formula::FALSE,
                        _ => operands.last().copied().unwrap_or(atom),
                    });
                }
                let formula = build(&mut arena, &operands);
                for assignment in 0..1_u32 << count {
                    let present = |atom: Atom| assignment >> atom.0 & 1 == 1;
                    let values: Vec<_> =
                        operands.iter().map(|&operand| arena.eval(operand, &present)).collect();
                    assert_eq!(
                        arena.eval(formula, &present),
                        meaning(&values),
                        "{operands:?} {values:?}"
                    );
                }
            }
        }
    }

    fn count(values: &[bool]) -> usize {
        values.iter().filter(|&&value| value).count()
    }

    #[test]
    fn operators_mean_what_they_say() {
        table(
            |arena, operands| arena.and(operands.iter().copied()),
            |values| count(values) == values.len(),
        );
        table(|arena, operands| arena.or(operands.iter().copied()), |values| count(values) > 0);
        table(
            |arena, operands| arena.xor(operands.iter().copied()),
            |values| count(values) % 2 == 1,
        );
        table(
            |arena, operands| arena.at_most_one(operands.iter().copied()),
            |values| count(values) <= 1,
        );
        table(
            |arena, operands| arena.exactly_one(operands.iter().copied()),
            |values| count(values) == 1,
        );
    }

    #[test]
    fn binary_operators_mean_what_they_say() {
        fn binary(
            build: fn(&mut Arena, Formula, Formula) -> Formula,
            meaning: fn(bool, bool) -> bool,
        ) {
            let pad = |values: &[bool]| matches!(values, [a, b, ..] if meaning(*a, *b));
            table(
                |arena, operands| match operands {
                    [a, b, ..] => build(arena, *a, *b),
                    _ => Formula::FALSE,
                },
                pad,
            );
        }
        binary(Arena::implies, |a, b| !a || b);
        binary(Arena::iff, |a, b| a == b);
    }

    #[test]
    fn equal_formulas_are_one() {
        let mut arena = Arena::default();
        let [a, b, c] = [0, 1, 2].map(|atom| arena.atom(Atom(atom)));
        let ab = arena.and([a, b]);
        assert_eq!(arena.and([b, a, Formula::TRUE, a]), ab);
        assert_eq!(arena.or([!a, !b]), !ab);
        assert_eq!(arena.atom(Atom(0)), a);
        assert_eq!(arena.and([ab, !ab]), Formula::FALSE);
        assert_eq!(arena.or([ab, !ab, c]), Formula::TRUE);
        assert_eq!(arena.and([c]), c);
        assert_eq!(arena.xor([a, b, a]), b);
        let size = arena.size();
        arena.implies(a, !b);
        assert_eq!(arena.size(), size);
    }

    #[test]
    fn cardinality_is_linear() {
        let mut arena = Arena::default();
        let operands: Vec<_> = (0..10_000).map(|atom| arena.atom(Atom(atom))).collect();
        arena.exactly_one(operands.iter().copied());
        arena.xor(operands);
        assert!(arena.operands.len() < 150_000, "{}", arena.operands.len());
    }

    #[test]
    fn depth_does_not_matter() {
        let mut arena = Arena::default();
        let mut formula = arena.atom(Atom(0));
        for atom in 1..1_000_000 {
            let atom = arena.atom(Atom(atom));
            formula = !arena.and([formula, atom]);
        }
        // The value of `¬(… ∧ 1)` flips at each step.
        assert!(!arena.eval(formula, &|_| true));
        assert!(arena.eval(formula, &|_| false));
    }

    #[test]
    fn view_shows_one_step() {
        let mut arena = Arena::default();
        let (a, b) = (arena.atom(Atom(0)), arena.atom(Atom(7)));
        let both = arena.and([a, b]);
        assert_eq!(arena.view(both), View::And(&[a, b]));
        assert_eq!(arena.view(!both), View::NotAnd(&[a, b]));
        assert_eq!(arena.view(!b), View::Literal(Atom(7), false));
        assert_eq!(arena.view(Formula::FALSE), View::Constant(false));
        assert_eq!(Formula::constant(true).as_constant(), Some(true));
        assert_eq!(a.as_constant(), None);
    }

    /// The nested `(x₁ ∨ y) ∧ (x₂ ∨ y) ∧ …` folds to the conjunction of the `x` if these atoms
    /// alone have to make it true.
    #[test]
    fn folding_goes_as_deep_as_formulas_do() {
        let mut arena = Arena::with_room(100_001);
        let other = arena.atom(Atom(100_000));
        let [mut formula, mut folded] = [Formula::TRUE; 2];
        for atom in 0..100_000 {
            let own = arena.atom(Atom(atom));
            let either = arena.or([own, other]);
            formula = arena.and([either, formula]);
            folded = arena.and([own, folded]);
        }
        let (atoms, mut known) = (0..100_000, rustc_hash::FxHashMap::default());
        assert_eq!(arena.folds_to(formula, true, &atoms, &mut known), folded);
        assert_eq!(arena.folds_to(formula, false, &atoms, &mut known), Formula::FALSE);
    }
}
