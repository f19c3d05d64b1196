//! Answers one question after the other about the same clauses.

use super::SolverSettings;
use super::equivalence::Equivalences;
use super::lexicographic::lexicographic_minimum;
use super::nearby::Nearby;
use super::propagate::Propagation;
use super::propagator::Propagator;
use super::solver::{Recorded, SatSolver};
use super::walk::Samples;
use crate::formula::{Cnf, Lit, Var};
use crate::simplify::projected;
use rustc_hash::FxHashMap;

/// A solver for a set of clauses. It finds models one at a time, and clauses can be added.
///
/// ```
/// use cuvee_sat::formula::Var;
/// use cuvee_sat::solve::{Models, SolverKind};
///
/// let [a, b] = [0, 1].map(|var| Var(var).positive());
/// let mut models = Models::new(2, [[a, b].as_slice()].into_iter(), SolverKind::default());
/// assert!(models.solve(&[!a]));
/// assert!(models.is_true(b));
/// assert!(!models.solve(&[!a, !b]));
/// ```
pub struct Models {
    solver: Recorded,
    settings: SolverSettings,
}

impl Models {
    /// Starts a solver for clauses over the first `vars` variables. Where its settings have a limit,
    /// all questions after that are answered as if there were no model.
    pub fn new<'c>(
        vars: usize,
        clauses: impl Iterator<Item = &'c [Lit]>,
        settings: impl Into<SolverSettings>,
    ) -> Self {
        let settings = settings.into();
        let solver = settings.solver.start_within(&settings.limit);
        let mut models = Self { solver: Recorded::new(solver), settings };
        models.cover(vars);
        for clause in clauses {
            models.cover_literals(clause);
            models.solver.add_clause(clause);
        }
        models
    }

    /// Starts a solver for clauses with origins, which are ignored.
    pub fn of(cnf: &Cnf, settings: impl Into<SolverSettings>) -> Self {
        Self::new(cnf.vars(), cnf.clauses().map(|clause| clause.literals), settings)
    }

    /// A solver with fewer clauses, whose models are the same as far as some literals go, and the
    /// inputs of samples. `None` where there is no model.
    pub fn projected(&mut self, onto: &[Lit], samples: &Samples) -> Option<Self> {
        let inputs = samples.inputs().map(Var::positive);
        let onto: Vec<Lit> = onto.iter().copied().chain(inputs).collect();
        self.cover_literals(&onto);
        let mut shown = vec![false; self.vars()];
        onto.iter().for_each(|literal| shown[literal.var().index()] = true);
        let clauses = projected(self.solver.clauses(), shown)?;
        let clauses = clauses.iter().map(Vec::as_slice);
        let mut projected = Self::new(self.vars(), clauses, self.settings.clone());
        projected.add_searches(self.searches());
        Some(projected)
    }

    /// Whether there is a model in which all assumptions are true.
    pub fn solve(&mut self, assumptions: &[Lit]) -> bool {
        self.cover_literals(assumptions);
        self.solver.solve(assumptions)
    }

    /// The number of variables.
    pub(super) fn vars(&self) -> usize {
        self.solver.vars()
    }

    /// How often the solver was asked so far.
    pub fn searches(&self) -> usize {
        self.solver.searches()
    }

    /// Counts questions that another solver was asked instead.
    pub(super) fn add_searches(&mut self, searches: usize) {
        self.solver.add_searches(searches);
    }

    /// Whether a literal is true in the model that was found last.
    pub fn is_true(&self, literal: Lit) -> bool {
        self.solver.is_true(literal)
    }

    /// Whether a literal is known to be true in no model. For literals whose variables exist.
    pub(super) fn excludes(&self, literal: Lit) -> bool {
        self.solver.excludes(literal)
    }

    /// Given assumptions for which there is no model, finds a minimal subset for which there is
    /// none. The fewest first assumptions that exclude each other end with one that is needed;
    /// beside it, the fewest of those before are looked for, and so on. So the result is the same
    /// for every solver.
    ///
    /// It is the one that Ulrich Junker prefers in "QuickXplain: Preferred Explanations and
    /// Relaxations for Over-Constrained Problems." AAAI 2004. Here, models that were found show
    /// how many of the first assumptions do not yet exclude each other (model rotation in Anton
    /// Belov, Joao Marques-Silva. "Accelerating MUS Extraction with Recursive Model Rotation."
    /// FMCAD 2011, is a kin of it), and the solver's own cores show how many do.
    pub(super) fn least_core(&mut self, assumptions: &[Lit]) -> Vec<Lit> {
        let mut search = CoreSearch::new(self, assumptions);
        let mut end = assumptions.len();
        while let Some(last) = search.fewest(end).checked_sub(1) {
            search.need(last);
            end = last;
        }
        search.needed.reverse();
        search.needed
    }

    /// After an unsatisfiable answer: assumptions that exclude each other.
    pub(super) fn core(&self) -> &[Lit] {
        self.solver.core()
    }

    /// Adds a variable that no clause mentions yet.
    pub fn new_var(&mut self) -> Var {
        self.solver.new_var()
    }

    /// Adds a clause. All further models satisfy it.
    pub fn add_clause(&mut self, clause: &[Lit]) {
        self.solver.add_clause(clause);
    }

    /// Adds variables until those of the literals exist.
    pub(super) fn cover_literals(&mut self, literals: &[Lit]) {
        let vars = literals.iter().map(|literal| literal.var().index() + 1);
        self.cover(vars.max().unwrap_or(0));
    }

    fn cover(&mut self, vars: usize) {
        while self.solver.vars() < vars {
            self.solver.new_var();
        }
    }

    /// Whether there is a model in which all assumptions and at least one of some literals are
    /// true.
    pub fn solve_any(&mut self, literals: &[Lit], assumptions: &[Lit]) -> bool {
        let asked = self.new_var().positive();
        self.add_clause(&literals.iter().copied().chain([!asked]).collect::<Vec<_>>());
        let found = self.solve(&assumptions.iter().copied().chain([asked]).collect::<Vec<_>>());
        self.add_clause(&[!asked]);
        found
    }

    /// The literals that may be true in a model in which all assumptions are true, as far as
    /// propagation alone can tell.
    pub fn not_excluded(&self, literals: &[Lit], assumptions: &[Lit]) -> Vec<Lit> {
        let mut propagator = self.propagator();
        let mut assumptions = assumptions.iter();
        let holds = assumptions.all(|&literal| {
            propagator.value(literal).unwrap_or_else(|| propagator.assume(literal))
        });
        if holds { propagator.possible(literals) } else { Vec::new() }
    }

    /// Asks as [`solve`](Self::solve) does, and finds a particular model: the first literal of
    /// `toward` is true if it can be, then the second, and so on. Where these literals decide all
    /// that is looked at, the result is the same for every solver.
    pub fn solve_least(&mut self, assumptions: &[Lit], toward: &[Lit]) -> bool {
        if assumptions.is_empty() {
            // Without assumptions, the guess finds out by itself whether there is a model.
            return self.solve_toward(toward);
        }
        let found = self.solve(assumptions);
        if found {
            self.solve_toward(&[assumptions, toward].concat());
        }
        found
    }

    /// Finds a model in which the first literal is true if it can be, then the second, and so on.
    /// Returns whether there is a model.
    pub(super) fn solve_toward(&mut self, literals: &[Lit]) -> bool {
        let preference: Vec<_> = literals.iter().map(|&literal| !literal).collect();
        lexicographic_minimum(&preference, &mut self.solver)
    }

    /// The equivalences that follow from the clauses of two literals.
    pub(super) fn equivalences(&self) -> Equivalences {
        let cnf = Cnf::of(self.vars(), self.solver.clauses().map(<[Lit]>::to_vec));
        Equivalences::new(&cnf, &Propagation::of(&cnf), true)
    }

    pub(super) fn propagator(&self) -> Propagator {
        Propagator::new(&self.solver)
    }

    /// A search near the model that was found last.
    pub(super) fn nearby(&self) -> Nearby<'_> {
        Nearby::of(&self.solver)
    }
}

/// The search for a minimal set of assumptions that exclude each other.
struct CoreSearch<'m, 'a> {
    models: &'m mut Models,
    assumptions: &'a [Lit],
    /// The position of each assumption.
    positions: FxHashMap<Lit, usize>,
    /// The assumptions that are needed, the last one first.
    needed: Vec<Lit>,
    /// Of each model that was found and in which all of these are true: which assumptions are.
    found: Vec<Vec<bool>>,
}

impl<'m, 'a> CoreSearch<'m, 'a> {
    fn new(models: &'m mut Models, assumptions: &'a [Lit]) -> Self {
        models.cover_literals(assumptions);
        let positions = assumptions.iter().copied().zip(0..).collect();
        Self { models, assumptions, positions, needed: Vec::new(), found: Vec::new() }
    }

    /// How many of the first assumptions, as few as possible, exclude each other together with the
    /// needed ones. The first `end` do.
    fn fewest(&mut self, end: usize) -> usize {
        let mut most = end;
        let mut least = self.found.iter().map(|found| excluded_by(found)).max().unwrap_or(0);
        while least < most {
            let count = least.midpoint(most);
            let asked = [&self.assumptions[..count], &self.needed].concat();
            match self.models.solver.search(&asked) {
                Some(true) => {
                    let is_true = |&literal: &Lit| self.models.is_true(literal);
                    let found: Vec<_> = self.assumptions.iter().map(is_true).collect();
                    least = excluded_by(&found);
                    self.found.push(found);
                }
                Some(false) => {
                    let core = self.models.solver.core().iter();
                    let positions = core.filter_map(|literal| self.positions.get(literal));
                    let among = positions.filter(|&&position| position < count);
                    most = among.map(|position| position + 1).max().unwrap_or(0);
                }
                // At its limit, the solver says that there is no model.
                None => most = count,
            }
        }
        most
    }

    /// Adds the assumption at a position to those that are needed.
    fn need(&mut self, position: usize) {
        self.needed.push(self.assumptions[position]);
        self.found.retain(|found| found[position]);
    }
}

/// How many of the first assumptions at least exclude each other, as a model shows: all up to the
/// first that is not true.
fn excluded_by(found: &[bool]) -> usize {
    found.iter().position(|is_true| !is_true).map_or(found.len(), |first| first + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{KINDS, clauses, holds};
    use super::*;

    const VARS: u32 = 8;

    proptest! {
        /// From the last to the first, each assumption is left out without which the others still
        /// exclude each other.
        #[test]
        fn the_core_has_what_cannot_be_left_out(clauses in clauses(VARS, 4..40), order in Just((0..2 * VARS).map(Lit).collect::<Vec<_>>()).prop_shuffle(), count in 1..16_usize) {
            let assumptions = &order[..count];
            let excluded = |assumptions: &[Lit]| {
                let clauses: Vec<_> = clauses.iter().cloned().chain(assumptions.iter().map(|&it| vec![it])).collect();
                (0..1 << VARS).all(|model| !holds(&clauses, model))
            };
            if excluded(assumptions) {
                let mut core = assumptions.to_vec();
                for at in (0..count).rev() {
                    let left_out = core.remove(at);
                    if !excluded(&core) {
                        core.insert(at, left_out);
                    }
                }
                for &kind in KINDS {
                    let mut models = Models::new(VARS as usize, clauses.iter().map(Vec::as_slice), kind);
                    prop_assert_eq!(&models.least_core(assumptions), &core);
                }
            }
        }
    }
}
