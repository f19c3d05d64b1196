//! Turns "the best model for these inputs" into clauses, so that questions about all inputs become
//! questions about models.
//!
//! Which model is best is a property that compares models, and no clause can compare models. But
//! clauses can say which model is best in one situation, and few situations differ in what is best:
//!
//! 1. *Determined variables.* Most variables are gates over inputs, which the clauses themselves
//!    show ([`Gates`]). The others are examined by Padoa's method: two copies of the clauses share
//!    inputs and gates, and a variable is defined by the inputs if the copies cannot differ in it.
//!    One question asks about all of them at once. Each pair of models that differ shows some that
//!    are not defined, as do searches near a model, until no pair differs in the rest. Where
//!    the conditions leave no choice, this is all, and there is no lemma.
//! 2. *Blocks.* The remaining variables that are connected by clauses form a block. Blocks do not
//!    influence each other: costs add up, and the lexicographic minimum of several blocks is that
//!    of each.
//! 3. *Contexts.* What is best in a block depends only on the literals around it that decide which
//!    of its clauses hold. For a clause that holds anyway, one true literal is reason enough. For a
//!    clause that is left to the block, all of its false literals are the reason. These literals
//!    are the block's context, which is mostly short.
//! 4. *Lemmas.* A solver looks for a pair of models of the two copies that differ. For each block
//!    in which they do, the optimiser finds the best for its context in the first model. Both
//!    copies get the lemma `context ⇒ block as in the best model`. It excludes this pair, and every
//!    other pair with this context. There are finitely many contexts, and `effort` bounds their
//!    number. Where no pair differs, every assignment of inputs has exactly one model, the best.
//!
//! Some models are required to be unique among equally good ones. Where another model differs in
//! what has to be unique, the literal of the lemma says so. Then uniqueness is the demand that this
//! literal is false.
//!
//! # References
//!
//! - Alessandro Padoa. "Essai d'une théorie algébrique des nombres entiers, précédé d'une
//!   introduction logique à une théorie déductive quelconque." 1901: a notion is not defined by
//!   others where two models agree in those and differ in it.
//! - Jean-Marie Lagniez, Emmanuel Lonca, Pierre Marquis. "Improving Model Counting by Leveraging
//!   Definability." IJCAI 2016: Padoa's method by a SAT solver, with a literal for each pair of
//!   copies.

use std::collections::BTreeMap;

use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashSet;

use super::circuit::{Circuit, Lanes};
use super::exclusion::{self, Exclusions};
use super::gates::Gates;
use super::lexicographic::lexicographic_minimum;
use super::models::Models;
use super::nearby;
use super::propagate::Propagation;
use super::solver::{Recorded, SatSolver};
use super::{Interrupted, Objective, Problem, Solution, SolverSettings, solve};
use crate::formula::{Atom, Cnf, Lit, Var};

/// The input of [`determinise`].
#[derive(Debug)]
pub struct Question<'p> {
    /// The clauses, and the objectives and preference by which models are compared.
    pub problem: &'p Problem<'p>,
    /// The inputs: variables that are given and not chosen by the optimiser.
    pub inputs: &'p [Var],
    /// Sets of atoms that must be the same in all best models of the same inputs.
    pub unique: &'p [Unique],
}

/// A set of atoms that must be the same in all best models of the same inputs.
#[derive(Clone, Debug)]
pub struct Unique {
    /// The atoms.
    pub atoms: Vec<Atom>,
    /// Whether another best model may have more of the atoms than the model that is taken.
    pub admits_more: bool,
    /// How many objectives decide here which models are the best. They are the first ones.
    pub objectives: usize,
}

impl Unique {
    /// Finds two of the best models that do not agree. Each is given by those of the atoms that are
    /// true in it. The first is the model that is taken; where all objectives count, that is
    /// `solution`. `None` where all best models agree.
    ///
    /// # Errors
    /// Returns [`Interrupted`] where the limit is reached before the answer is known.
    pub fn disagreement(
        &self,
        problem: &Problem<'_>,
        solution: &mut Solution,
        settings: &SolverSettings,
    ) -> Result<Option<[Vec<Atom>; 2]>, Interrupted> {
        match problem.objectives.get(..self.objectives) {
            Some(objectives) if objectives.len() < problem.objectives.len() => {
                let earlier = Problem { objectives, ..*problem };
                // A problem that has a model also has one with fewer objectives, so only the limit
                // can be the reason.
                let mut best = solve(&earlier, settings, &mut ()).map_err(|_| Interrupted)?;
                self.disagreement_with(&mut best)
            }
            _ => self.disagreement_with(solution),
        }
    }

    fn disagreement_with(
        &self,
        taken: &mut Solution,
    ) -> Result<Option<[Vec<Atom>; 2]>, Interrupted> {
        let other = if self.admits_more {
            taken.another_without(&self.atoms)?
        } else {
            taken.another(&self.atoms)?
        };
        let own = || self.atoms.iter().copied().filter(|&atom| taken.is_true(atom)).collect();
        Ok(other.map(|other| [own(), other]))
    }
}

/// The result of [`determinise`]. Together with the clauses of the problem, the lemmas leave
/// exactly one model, the best, for each assignment of inputs that has a model.
#[derive(Clone, Debug, Default)]
pub struct Determinised {
    /// The number of variables. Those of the problem come first.
    pub vars: usize,
    /// How many variables are gates, each over inputs and gates before it.
    pub gates: usize,
    /// How many variables a solver was asked about, because no gate defines them.
    pub asked: usize,
    /// How often a solver was asked for a pair of models that differ.
    pub searches: usize,
    /// The clauses that say which model is best.
    pub lemmas: Vec<Vec<Lit>>,
    /// Literals with indices into [`Question::unique`]. A literal is true where equally good models
    /// differ in the set at the index.
    pub ambiguous: Vec<(Lit, usize)>,
}

/// Determinises a problem: makes clauses that leave only the best model for each assignment of the
/// inputs. `None` where more than `effort` contexts occur, where more pairs of models are needed to
/// find the blocks, or where the limit of the settings is reached.
///
/// ```
/// use cuvee_sat::formula::{Arena, Atom, Encoder, OriginId, Var};
/// use cuvee_sat::solve::{Problem, Question, SolverKind, determinise};
///
/// // Input 0 asks for 1 or 2; where nothing prefers one of them, the first that can be absent is.
/// let mut arena = Arena::default();
/// let [input, a, b] = [0, 1, 2].map(|atom| arena.atom(Atom(atom)));
/// let mut encoder = Encoder::new(&arena, 3);
/// encoder.assert(&[!input, a, b], OriginId(0));
/// let problem = Problem { cnf: &encoder.finish(), objectives: &[], preference: &[Atom(1), Atom(2)] };
/// let determinised = determinise(&Question { problem: &problem, inputs: &[Var(0)], unique: &[] }, SolverKind::default(), 100);
/// assert!(determinised.is_some_and(|determinised| !determinised.lemmas.is_empty()));
/// ```
pub fn determinise(
    question: &Question<'_>,
    settings: impl Into<SolverSettings>,
    effort: usize,
) -> Option<Determinised> {
    let gates =
        |clauses: &[Vec<Lit>]| Gates::of(question.problem.cnf.vars(), clauses, question.inputs);
    determinise_beside(question, gates, &settings.into(), effort)
}

/// Determinises a problem, given gates, all of which follow from inputs. A solver is asked about
/// all other variables.
fn determinise_beside(
    question: &Question<'_>,
    gates: impl FnOnce(&[Vec<Lit>]) -> Gates,
    settings: &SolverSettings,
    effort: usize,
) -> Option<Determinised> {
    let cnf = question.problem.cnf;
    let fixed = Propagation::of(cnf);
    let mut determinised = Determinised { vars: cnf.vars(), ..Determinised::default() };
    if fixed.conflict.is_some() {
        return Some(determinised);
    }
    let residues = cnf.clauses().filter_map(|clause| fixed.residue(clause.literals));
    let clauses: Vec<Vec<Lit>> = residues.map(Iterator::collect).collect();
    let known = gates(&clauses).gates.into_iter().map(|gate| gate.var);
    let known: Vec<Var> = question.inputs.iter().copied().chain(known).collect();
    determinised.gates = known.len() - question.inputs.len();
    let mut twins = Twins::new(cnf.vars(), &clauses, &fixed, &known, settings);
    determinised.asked = twins.differences.len();
    let near = |candidates: &mut Vec<Var>, pair: &Twins| {
        undetermined_nearby(candidates, (cnf, &clauses), &known, pair, settings)
    };
    let undetermined = twins.undetermined(effort, near)?;
    let blocks = ChoiceBlocks::of(cnf.vars(), &undetermined, &clauses);
    let mut left = effort;
    // All other variables follow from these. Comparing them makes the pairs that are found
    // independent of the solver.
    let decisive: Vec<Var> = question.inputs.iter().chain(&undetermined).copied().collect();
    while twins.differ(&undetermined, &decisive) {
        let differing: FxHashSet<usize> = undetermined
            .iter()
            .filter(|&&var| twins.differs(var))
            .filter_map(|var| blocks.of_var[var.index()])
            .collect();
        let mut differing: Vec<_> = differing.into_iter().collect();
        differing.sort_unstable();
        for block in differing {
            left = left.checked_sub(1)?;
            let block = &blocks.blocks[block];
            let context =
                block.context(&clauses, &blocks.of_var, &|literal| twins.is_true(literal));
            let best = block.best(question, &clauses, &context, settings)?;
            let lemma = Lemma { context: context.reason, best };
            lemma.add(&mut determinised, &mut twins);
        }
    }
    determinised.searches = twins.solver.searches();
    // A search that was stopped finds no pair that differs.
    (!settings.limit.is_over()).then_some(determinised)
}

/// Two copies of the clauses, which share the inputs and the variables known to follow from them.
struct Twins {
    solver: Recorded,
    /// The literal of each variable in each of the two copies.
    copies: Vec<[Lit; 2]>,
    /// A literal for each variable that may differ. It implies that the two copies of the variable
    /// differ.
    differences: BTreeMap<Var, Lit>,
}

impl Twins {
    fn new(
        vars: usize,
        clauses: &[Vec<Lit>],
        fixed: &Propagation,
        known: &[Var],
        settings: &SolverSettings,
    ) -> Self {
        let mut shared: Vec<bool> =
            (0..vars as u32).map(|var| fixed.value(Var(var).positive()).is_some()).collect();
        known.iter().for_each(|var| shared[var.index()] = true);
        let mut solver = Recorded::new(settings.solver.start_within(&settings.limit));
        let mut copies: Vec<[Lit; 2]> =
            (0..vars).map(|_| [solver.new_var().positive(); 2]).collect();
        let mut differences = BTreeMap::new();
        for (var, copies) in copies.iter_mut().enumerate().filter(|&(var, _)| !shared[var]) {
            // Where the first copy has few true variables and the second has many, one pair of
            // models shows many differences.
            let second = solver.new_true_var().positive();
            let difference = solver.new_true_var().positive();
            copies[1] = second;
            let first = copies[0];
            solver.add_clause(&[!difference, first, second]);
            solver.add_clause(&[!difference, !first, !second]);
            differences.insert(Var(var as u32), difference);
        }
        let mut twins = Self { solver, copies, differences };
        clauses.iter().for_each(|clause| twins.add(clause));
        twins
    }

    /// Adds a clause to both copies. Where they share all of its literals, it is added once.
    fn add(&mut self, clause: &[Lit]) {
        let [first, second] = [0, 1].map(|copy| {
            let own = |literal: &Lit| {
                self.copies[literal.var().index()][copy].negate_if(literal.is_negative())
            };
            clause.iter().map(own).collect::<Vec<_>>()
        });
        self.solver.add_clause(&first);
        if first != second {
            self.solver.add_clause(&second);
        }
    }

    fn new_var(&mut self) -> Var {
        self.copies.push([0, 1].map(|_| self.solver.new_var().positive()));
        Var(self.copies.len() as u32 - 1)
    }

    /// Whether there are two models of the same inputs in which at least one of the variables
    /// `among` differs. The pair found is the one in which the `decisive` variables are least.
    fn differ(&mut self, among: &[Var], decisive: &[Var]) -> bool {
        let asked = self.solver.new_var().positive();
        let differences = among.iter().filter_map(|var| self.differences.get(var).copied());
        self.solver.add_clause(&std::iter::once(!asked).chain(differences).collect::<Vec<_>>());
        let found = self.solver.solve(&[asked]);
        if found && !decisive.is_empty() {
            let copies = decisive.iter().flat_map(|var| self.copies[var.index()]);
            let least: Vec<_> = std::iter::once(!asked).chain(copies).collect();
            lexicographic_minimum(&least, &mut self.solver);
        }
        self.solver.add_clause(&[!asked]);
        found
    }

    /// Whether a variable differs between the two models found last.
    fn differs(&self, var: Var) -> bool {
        let [first, second] = self.copies[var.index()];
        self.solver.is_true(first) != self.solver.is_true(second)
    }

    /// Whether a literal is true in the first of the two models found last.
    fn is_true(&self, literal: Lit) -> bool {
        self.solver.is_true(self.copies[literal.var().index()][0].negate_if(literal.is_negative()))
    }

    /// The variables that the inputs do not determine, in order. `None` where more than `effort`
    /// pairs of models are needed to show them. As soon as there are some, `near` moves more out
    /// of the candidates.
    fn undetermined(
        &mut self,
        effort: usize,
        near: impl FnOnce(&mut Vec<Var>, &Self) -> Vec<Var>,
    ) -> Option<Vec<Var>> {
        let mut near = Some(near);
        let mut candidates: Vec<Var> = self.differences.keys().copied().collect();
        let mut found = Vec::new();
        let mut left = effort;
        while self.differ(&candidates, &[]) {
            left = left.checked_sub(1)?;
            let (differing, rest): (Vec<_>, Vec<_>) =
                candidates.iter().partition(|&&var| self.differs(var));
            found.extend(differing);
            candidates = rest;
            if let Some(near) = near.take() {
                found.extend(near(&mut candidates, self));
            }
        }
        found.sort_unstable();
        Some(found)
    }
}

/// Moves the variables out of `candidates` that have two values for the same values of `known`, as
/// models near a pair of models that differ show. Where a choice is one of many, a pair of models
/// shows only two of them, and each question to the solver takes as long as there are many.
fn undetermined_nearby(
    candidates: &mut Vec<Var>,
    (cnf, clauses): (&Cnf, &[Vec<Lit>]),
    known: &[Var],
    pair: &Twins,
    settings: &SolverSettings,
) -> Vec<Var> {
    let mut models = Models::new(cnf.vars(), clauses.iter().map(Vec::as_slice), settings.clone());
    let in_pair = |var: &Var| var.positive().negate_if(!pair.is_true(var.positive()));
    let given: Vec<Lit> = known.iter().map(in_pair).collect();
    if !models.solve(&given) {
        return Vec::new();
    }
    let as_is = |var: Var| var.positive().negate_if(!models.is_true(var.positive()));
    let mut propagator = models.propagator();
    for literal in given {
        if propagator.value(literal).is_none() {
            // In the model they are all true, so they do not contradict each other.
            propagator.assume(literal);
        }
    }
    let mut exclusions = Exclusions::of(propagator);
    let mut found = Vec::new();
    if pair.differences.len() >= exclusion::WIDE {
        let others: Vec<Var> = pair.differences.keys().copied().collect();
        let base = Gates::base(cnf.vars(), clauses, known, &others);
        let chosen: Vec<Lit> = base[known.len()..].iter().map(|var| var.negative()).collect();
        let choices = exclusions.wide_groups(&chosen, exclusion::WIDE);
        if !choices.is_empty()
            && let Some(circuit) = Circuit::new(cnf, &base)
        {
            let differs = chosen_side_by_side(&circuit, &choices, &models);
            found.extend(candidates.extract_if(.., |var| differs[var.index()]));
        }
    }
    let nearby = models.nearby();
    let mut in_vain = 0;
    candidates.retain(|&var| {
        if in_vain == nearby::IN_VAIN || settings.limit.is_over() {
            return true;
        }
        let differs = nearby.has_model(!as_is(var), exclusions.propagator());
        found.extend(differs.filter(|differs| *differs).map(|_| var));
        in_vain = if differs.is_none() { in_vain + 1 } else { 0 };
        // That there is none beside this model does not mean that there is none beside others.
        differs != Some(true)
    });
    found
}

/// Chooses otherwise than the last model of the solver in each possible way, 64 of them side by side.
/// What is chosen is the only literal of a group that is false. Returns for each variable whether it
/// changes in any model that there is then.
fn chosen_side_by_side(circuit: &Circuit, choices: &[Vec<Lit>], models: &Models) -> Vec<bool> {
    let mut lanes = Lanes::new(circuit, Vec::new());
    lanes.set(u64::MAX, &|literal| models.is_true(literal));
    let mut differs = vec![false; lanes.values().len()];
    for group in choices {
        let (others, current): (Vec<Lit>, Vec<Lit>) =
            group.iter().partition(|literal| models.is_true(**literal));
        for others in others.chunks(64) {
            let current = current.iter().map(|literal| (literal.var(), u64::MAX));
            let others = others.iter().zip(0..).map(|(other, lane)| (other.var(), 1 << lane));
            let holds = lanes.change(current.chain(others));
            for (var, _) in lanes.changed().filter(|(_, changed)| changed & holds != 0) {
                differs[var.index()] = true;
            }
            lanes.keep(0);
        }
    }
    differs
}

/// Undetermined variables that are connected by clauses, and the clauses that mention them.
#[derive(Default)]
struct ChoiceBlock {
    vars: Vec<Var>,
    clauses: Vec<usize>,
}

struct ChoiceBlocks {
    blocks: Vec<ChoiceBlock>,
    /// The block of each variable, if the variable is undetermined.
    of_var: Vec<Option<usize>>,
}

impl ChoiceBlocks {
    fn of(vars: usize, undetermined: &[Var], clauses: &[Vec<Lit>]) -> Self {
        let mut is_undetermined = vec![false; vars];
        undetermined.iter().for_each(|var| is_undetermined[var.index()] = true);
        let own = |clause: &'_ [Lit]| -> Vec<Var> {
            clause
                .iter()
                .map(|literal| literal.var())
                .filter(|var| is_undetermined[var.index()])
                .collect()
        };
        let mut sets = UnionFind::<u32>::new(vars);
        for clause in clauses {
            own(clause).windows(2).for_each(|pair| {
                sets.union(pair[0].0, pair[1].0);
            });
        }
        let mut found = Self { blocks: Vec::new(), of_var: vec![None; vars] };
        let mut block_of_set: BTreeMap<u32, usize> = BTreeMap::new();
        for &var in undetermined {
            let block = *block_of_set.entry(sets.find_mut(var.0)).or_insert(found.blocks.len());
            if block == found.blocks.len() {
                found.blocks.push(ChoiceBlock::default());
            }
            found.blocks[block].vars.push(var);
            found.of_var[var.index()] = Some(block);
        }
        for (index, clause) in clauses.iter().enumerate() {
            if let Some(block) =
                clause.iter().find_map(|literal| found.of_var[literal.var().index()])
            {
                found.blocks[block].clauses.push(index);
            }
        }
        found
    }
}

/// The situation of a block: the literals around it that matter, and the clauses that they leave to
/// it.
struct BlockContext {
    reason: Vec<Lit>,
    open: Vec<usize>,
}

/// The best assignment of a block in its context.
struct Best {
    literals: Vec<Lit>,
    /// The indices of the unique sets in which another assignment is as good.
    ambiguous: Vec<usize>,
}

impl ChoiceBlock {
    /// Finds the context of a block. For a clause that holds, one literal is reason enough. For the
    /// other clauses, all false literals are needed.
    fn context(
        &self,
        clauses: &[Vec<Lit>],
        of_var: &[Option<usize>],
        is_true: &dyn Fn(Lit) -> bool,
    ) -> BlockContext {
        let around = |clause: usize| {
            clauses[clause]
                .iter()
                .copied()
                .filter(|literal| of_var[literal.var().index()].is_none())
        };
        let (satisfied, open): (Vec<usize>, Vec<usize>) =
            self.clauses.iter().partition(|&&clause| around(clause).any(is_true));
        let mut reason: FxHashSet<Lit> =
            open.iter().flat_map(|&clause| around(clause)).map(|literal| !literal).collect();
        for clause in satisfied {
            if !around(clause).any(|literal| reason.contains(&literal)) {
                reason.extend(around(clause).find(|&literal| is_true(literal)));
            }
        }
        let mut reason: Vec<_> = reason.into_iter().collect();
        reason.sort_unstable();
        BlockContext { reason, open }
    }

    fn best(
        &self,
        question: &Question<'_>,
        clauses: &[Vec<Lit>],
        context: &BlockContext,
        settings: &SolverSettings,
    ) -> Option<Best> {
        let local: BTreeMap<Var, Var> = self.vars.iter().copied().zip((0..).map(Var)).collect();
        let inner = |literal: Lit| {
            Some(local.get(&literal.var())?.positive().negate_if(literal.is_negative()))
        };
        let atom = |atom: &Atom| Some(Atom(local.get(&Var(atom.0))?.0));
        let own = context
            .open
            .iter()
            .map(|&clause| clauses[clause].iter().filter_map(|&literal| inner(literal)).collect());
        let cnf = Cnf::of(self.vars.len(), own);
        let problem = question.problem;
        let objective = |objective: &Objective| Objective {
            terms: objective
                .terms
                .iter()
                .filter_map(|&(literal, weight)| Some((inner(literal)?, weight)))
                .collect(),
        };
        let objectives: Vec<_> = problem.objectives.iter().map(objective).collect();
        let preference: Vec<_> = problem.preference.iter().filter_map(atom).collect();
        let own = Problem { cnf: &cnf, objectives: &objectives, preference: &preference };
        let mut solution = solve(&own, settings, &mut ()).ok()?;
        let value = |&var: &Var| {
            var.positive()
                .negate_if(!local.get(&var).is_some_and(|own| solution.is_true(Atom(own.0))))
        };
        let literals = self.vars.iter().map(value).collect();
        let mut ambiguous = Vec::new();
        for (index, unique) in question.unique.iter().enumerate() {
            let unique =
                Unique { atoms: unique.atoms.iter().filter_map(atom).collect(), ..*unique };
            if !unique.atoms.is_empty()
                && unique.disagreement(&own, &mut solution, settings) != Ok(None)
            {
                ambiguous.push(index);
            }
        }
        Some(Best { literals, ambiguous })
    }
}

/// The lemma `context ⇒ best`.
struct Lemma {
    context: Vec<Lit>,
    best: Best,
}

impl Lemma {
    /// Adds the lemma as clauses. A new variable stands for the context, so that each literal of
    /// the block needs only a clause of two literals.
    fn add(self, determinised: &mut Determinised, twins: &mut Twins) {
        let applies = twins.new_var().positive();
        determinised.vars = twins.copies.len();
        let mut clauses: Vec<Vec<Lit>> =
            self.context.iter().map(|&literal| vec![!applies, literal]).collect();
        clauses.push(self.context.iter().map(|&literal| !literal).chain([applies]).collect());
        clauses.extend(self.best.literals.iter().map(|&literal| vec![!applies, literal]));
        clauses.iter().for_each(|clause| twins.add(clause));
        determinised.lemmas.extend(clauses);
        determinised
            .ambiguous
            .extend(self.best.ambiguous.into_iter().map(|index| (applies, index)));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::SolverKind;
    use super::super::tests::{KINDS, clauses, holds};
    use super::*;
    use crate::formula::{Arena, Encoder, OriginId};

    const INPUTS: u32 = 3;
    const VARS: u32 = 8;

    fn cost(weights: &[u64], model: u32) -> u64 {
        weights
            .iter()
            .enumerate()
            .filter(|(var, _)| model >> var & 1 == 1)
            .map(|(_, weight)| weight)
            .sum()
    }

    /// The sort key of a model: its cost, and then the values that the preference compares.
    fn key(weights: &[u64], model: u32) -> (u64, Vec<bool>) {
        (cost(weights, model), (INPUTS..VARS).map(|var| model >> var & 1 == 1).collect())
    }

    /// With the input there is exactly one of the others, of which the cheapest is best.
    #[test]
    fn a_wide_choice_is_made() {
        const SIZE: u32 = 2 * exclusion::WIDE as u32;
        let cheapest = Var(SIZE / 2);
        let mut arena = Arena::default();
        let input = arena.atom(Atom(0));
        let chosen: Vec<_> = (1..=SIZE).map(|atom| arena.atom(Atom(atom))).collect();
        let one = arena.exactly_one(chosen.iter().copied());
        let mut encoder = Encoder::new(&arena, SIZE + 1);
        encoder.assert(&[!input, one], OriginId(0));
        chosen.iter().for_each(|&chosen| encoder.assert(&[!chosen, input], OriginId(0)));
        let cnf = encoder.finish();
        let price = |var: u32| (Var(var).positive(), u64::from(var.abs_diff(cheapest.0)) + 1);
        let objectives = [Objective { terms: (1..=SIZE).map(price).collect() }];
        let preference: Vec<_> = (1..=SIZE).map(Atom).collect();
        let problem = Problem { cnf: &cnf, objectives: &objectives, preference: &preference };
        let question = Question { problem: &problem, inputs: &[Var(0)], unique: &[] };
        let determinised = determinise(&question, SolverKind::default(), 3).unwrap();
        assert!(determinised.asked >= SIZE as usize && determinised.searches < 8);

        let mut models = Models::of(&cnf, SolverKind::default());
        (cnf.vars()..determinised.vars).for_each(|_| _ = models.new_var());
        determinised.lemmas.iter().for_each(|lemma| models.add_clause(lemma));
        let given = Var(0).positive();
        assert!(models.solve(&[given]) && models.is_true(cheapest.positive()));
        assert!(!models.solve(&[given, cheapest.negative()]));
        assert!(models.solve(&[!given]) && !models.is_true(cheapest.positive()));
    }

    proptest! {
        /// The lemmas are the same without gates. Gates only save questions.
        #[test]
        fn lemmas_are_the_same_without_gates(clauses in clauses(VARS, 1..16), weights in prop::collection::vec(0..4_u64, VARS as usize)) {
            let cnf = Cnf::of(VARS as usize, clauses);
            let terms = weights.iter().zip(0..).skip(INPUTS as usize);
            let objective = Objective { terms: terms.map(|(&weight, var)| (Var(var).positive(), weight)).collect() };
            let preference: Vec<_> = (INPUTS..VARS).map(Atom).collect();
            let problem = Problem { cnf: &cnf, objectives: &[objective], preference: &preference };
            let unique = vec![Unique { atoms: vec![Atom(INPUTS), Atom(INPUTS + 1)], admits_more: false, objectives: 1 }];
            let inputs: Vec<_> = (0..INPUTS).map(Var).collect();
            let question = Question { problem: &problem, inputs: &inputs, unique: &unique };
            for &kind in KINDS {
                let [with, without] = [
                    determinise(&question, kind, 1000),
                    determinise_beside(&question, |_| Gates::default(), &kind.into(), 1000),
                ].map(Option::unwrap);
                prop_assert_eq!((with.vars, with.lemmas, with.ambiguous), (without.vars, without.lemmas, without.ambiguous));
            }
        }

        /// Without effort, problems are determinised whose inputs leave no choice, and no others.
        #[test]
        fn without_effort_no_choice_is_made(clauses in clauses(VARS, 1..16)) {
            let cnf = Cnf::of(VARS as usize, clauses);
            let preference: Vec<_> = (INPUTS..VARS).map(Atom).collect();
            let problem = Problem { cnf: &cnf, objectives: &[], preference: &preference };
            let inputs: Vec<_> = (0..INPUTS).map(Var).collect();
            let question = Question { problem: &problem, inputs: &inputs, unique: &[] };
            for &kind in KINDS {
                let with = determinise(&question, kind, 1000).unwrap();
                let without = determinise(&question, kind, 0);
                prop_assert_eq!(without.map(|it| it.lemmas), with.lemmas.is_empty().then(Vec::new));
            }
        }

        /// The determinised clauses have exactly the best model of each assignment of inputs, and
        /// ambiguity is found.
        #[test]
        fn best_models_are_left(clauses in clauses(VARS, 1..16), weights in prop::collection::vec(0..4_u64, VARS as usize), admits_more: bool, count in 0..=1_usize) {
            let inputs = (1 << INPUTS) - 1;
            let models: Vec<u32> = (0..1 << VARS).filter(|&model| holds(&clauses, model)).collect();
            let mut best = Vec::new();
            let mut ambiguous = Vec::new();
            for input in 0..1_u32 << INPUTS {
                let of_input = || models.iter().copied().filter(|model| model & inputs == input);
                let Some(least) = of_input().min_by_key(|&model| key(&weights, model)) else { continue };
                best.push(least);
                // Uniqueness may depend on fewer objectives than the best model does.
                let weights = if count == 0 { &[0; VARS as usize][..] } else { &weights };
                let Some(taken) = of_input().min_by_key(|&model| key(weights, model)) else { continue };
                let unique = |model: u32| model >> INPUTS & 0b11;
                let agrees = |model| {
                    let both = if admits_more { unique(model) & unique(taken) } else { unique(model) };
                    both == unique(taken)
                };
                if of_input().any(|model| cost(weights, model) == cost(weights, taken) && !agrees(model)) {
                    ambiguous.push(least);
                }
            }
            let cnf = Cnf::of(VARS as usize, clauses.iter().cloned());
            let terms = weights.iter().enumerate().skip(INPUTS as usize);
            let objective = Objective { terms: terms.map(|(var, &weight)| (Var(var as u32).positive(), weight)).collect() };
            let preference: Vec<_> = (INPUTS..VARS).map(Atom).collect();
            let problem = Problem { cnf: &cnf, objectives: &[objective], preference: &preference };
            let unique = vec![Unique { atoms: vec![Atom(INPUTS), Atom(INPUTS + 1)], admits_more, objectives: count }];
            let input_vars: Vec<_> = (0..INPUTS).map(Var).collect();
            let question = Question { problem: &problem, inputs: &input_vars, unique: &unique };
            let determinised = determinise(&question, SolverKind::default(), 1000).unwrap();

            let mut solver = SolverKind::default().start();
            (0..determinised.vars).for_each(|_| { solver.new_var(); });
            clauses.iter().chain(&determinised.lemmas).for_each(|clause| solver.add_clause(clause));
            for model in 0..1_u32 << VARS {
                let literals: Vec<_> = (0..VARS).map(|var| Var(var).positive().negate_if(model >> var & 1 == 0)).collect();
                prop_assert_eq!(solver.solve(&literals), best.contains(&model), "{:08b} {:?}", model, best);
                if best.contains(&model) {
                    let seen = determinised.ambiguous.iter().any(|&(literal, _)| solver.is_true(literal));
                    prop_assert_eq!(seen, ambiguous.contains(&model), "{:08b}", model);
                }
            }
        }
    }
}
