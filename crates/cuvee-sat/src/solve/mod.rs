//! Finds the best model of clauses, or explains why there is none.
//!
//! [`solve`] satisfies the clauses, optimises the objectives one after the other, and returns the
//! best model or a minimal conflict. The submodules answer further questions about the models of
//! clauses.

pub mod backbone;
mod bounded;
pub mod circuit;
mod component;
mod components;
pub mod covering;
mod determinise;
mod equivalence;
pub mod exclusion;
mod explain;
mod forest;
mod free;
pub(crate) mod gates;
pub mod influence;
mod lexicographic;
mod models;
mod nearby;
mod optimize;
mod propagate;
mod propagator;
pub mod random;
pub mod redundancy;
mod settings;
pub(crate) mod solver;
mod totalizer;
#[cfg(feature = "varisat")]
mod varisat;
pub mod walk;

use std::collections::BTreeMap;

pub use self::bounded::BoundedClauses;
use self::component::ComponentSolver;
use self::components::{Components, VarPlace};
pub use self::determinise::{Determinised, Question, Unique, determinise};
pub use self::models::Models;
use self::propagate::Propagation;
pub use self::settings::{Limit, SolverSettings, Technique, Techniques};
use crate::formula::{Atom, Cnf, Lit, OriginId};
use crate::progress::Progress;

/// A SAT solver that does the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SolverKind {
    /// The solver `varisat`, which needs the feature of this name. It cannot be stopped, and the
    /// conflicts that it names need to be verified.
    #[cfg(feature = "varisat")]
    Varisat,
    /// The solver `batsat`. It can stop early where an answer is not essential, which makes
    /// optimising several times as fast.
    #[default]
    Batsat,
}

impl SolverKind {
    /// The solvers that are compiled in.
    pub const ALL: &'static [Self] = &[
        #[cfg(feature = "varisat")]
        Self::Varisat,
        Self::Batsat,
    ];
}

/// A weighted sum to minimise. To maximise `Σ w·x`, minimise `Σ w·¬x`.
#[derive(Clone, Debug, Default)]
pub struct Objective {
    /// The literals that cost something, each with its cost where it is true.
    pub terms: Vec<(Lit, u64)>,
}

/// A problem for [`solve`].
#[derive(Clone, Copy, Debug)]
pub struct Problem<'p> {
    /// The clauses that must hold.
    pub cnf: &'p Cnf,
    /// The objectives to minimise. The first counts above all others, then the second, and so on.
    pub objectives: &'p [Objective],
    /// Selects one of the equally good models, the lexicographically least: the first of these
    /// atoms is false if it can be, then the second, and so on.
    pub preference: &'p [Atom],
}

/// The best model that was found. It keeps the solvers that found it, so that it can be asked for
/// other models.
pub struct Solution {
    components: Components,
    parts: Vec<ComponentSolver>,
    /// The value of each variable that is fixed. `None` for variables of a component, and for free
    /// variables that do not matter.
    values: Vec<Option<bool>>,
    bounds: Vec<Bounds>,
}

/// The proven bounds of an objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// No model that is optimal for the objectives before this one costs less.
    pub lower: u64,
    /// The cost of the model that was found.
    pub upper: u64,
}

impl Bounds {
    /// Whether the bounds are equal, so that the model is proven to be optimal.
    pub fn meet(self) -> bool {
        self.lower == self.upper
    }
}

/// The reason why [`solve`] found no model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsolved {
    /// No model satisfies the clauses.
    Conflict(Conflict),
    /// No model was found before the limit was reached.
    Interrupted,
}

/// The error that the limit was reached before there was an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// A set of origins whose clauses cannot all be satisfied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The origins in ascending order.
    pub origins: Vec<OriginId>,
    /// Whether all clauses could be satisfied without any one of the origins. It is always true
    /// unless the limit was reached before this was known.
    pub is_minimal: bool,
}

/// Finds the best model of a problem.
///
/// If the limit is reached after a first model was found, the best model so far is returned. Its
/// [`Bounds`] say what is proven about it.
///
/// # Errors
/// Returns a minimal [`Conflict`] where no model satisfies the clauses, and
/// [`Unsolved::Interrupted`] where the limit was reached before any model was found.
///
/// # Examples
/// ```
/// use cuvee_sat::formula::{Arena, Atom, Encoder, OriginId};
/// use cuvee_sat::solve::{Objective, Problem, SolverSettings, solve};
///
/// let mut arena = Arena::default();
/// let [a, b] = [0, 1].map(|atom| arena.atom(Atom(atom)));
/// let mut encoder = Encoder::new(&arena, 2);
/// encoder.assert(&[a, b], OriginId(0));
/// let objective = Objective { terms: vec![(encoder.literal(a), 2), (encoder.literal(b), 3)] };
///
/// let problem = Problem { cnf: &encoder.finish(), objectives: &[objective], preference: &[Atom(0), Atom(1)] };
/// let mut solution = solve(&problem, &SolverSettings::default(), &mut ())?;
/// assert!(solution.is_true(Atom(0)) && !solution.is_true(Atom(1)));
/// assert!(solution.costs().eq([2]) && solution.is_proven());
/// assert_eq!(solution.another(&[Atom(0), Atom(1)]), Ok(None));
/// # Ok::<(), cuvee_sat::solve::Unsolved>(())
/// ```
pub fn solve(
    problem: &Problem<'_>,
    settings: &SolverSettings,
    progress: &mut dyn Progress,
) -> Result<Solution, Unsolved> {
    let cnf = problem.cnf;
    let conflict = |fixed: &_, clauses: &[usize]| {
        Unsolved::Conflict(explain::explain(cnf, fixed, clauses, settings))
    };
    let propagation = if settings.techniques.has(Technique::Units) {
        Propagation::of(cnf)
    } else {
        Propagation::none(cnf)
    };
    if let Some(clause) = propagation.conflict {
        return Err(conflict(&propagation, &[clause]));
    }
    let in_time = || match cnf.len() > UNTIMED && settings.limit.is_over() {
        true => Err(Unsolved::Interrupted),
        false => Ok(()),
    };
    in_time()?;
    let components = Components::of(cnf, &propagation, settings.techniques);
    in_time()?;
    let mut parts = Vec::with_capacity(components.components.len());
    for component in &components.components {
        match ComponentSolver::start(cnf, &components, &propagation, component, settings) {
            Ok(Some(part)) => parts.push(part),
            Ok(None) => return Err(conflict(&propagation, &component.clauses)),
            Err(Interrupted) => return Err(Unsolved::Interrupted),
        }
    }
    let mut solution =
        Solution { components, parts, values: propagation.into_values(), bounds: Vec::new() };
    for (index, objective) in problem.objectives.iter().enumerate() {
        let bounds = solution
            .minimize(objective, &mut |bounds| progress.bounds(index, bounds.lower, bounds.upper));
        solution.bounds.push(bounds);
    }
    solution.prefer(problem.preference);
    Ok(solution)
}

/// How many clauses may be prepared before the limit counts.
const UNTIMED: usize = 100_000;

/// Reports costs as numbers of 64 bits, which saturate.
fn bounds(lower: u128, upper: u128) -> Bounds {
    let narrow = |cost| u64::try_from(cost).unwrap_or(u64::MAX);
    Bounds { lower: narrow(lower), upper: narrow(upper) }
}

/// An objective split into the contributions of the components.
struct Split {
    /// The part of the costs that does not depend on the components.
    constant: u128,
    terms: BTreeMap<u32, Vec<(Lit, u128)>>,
}

/// Cancels the weights of opposite literals. One of a literal and its negation is true, so the
/// lesser of their weights is certain. Returns the certain cost, and the literals with the weights
/// that are left.
fn cancel(weights: &BTreeMap<Lit, u128>) -> (u128, Vec<(Lit, u128)>) {
    let (mut certain, mut left) = (0, Vec::new());
    for (&literal, &weight) in weights {
        let opposite = weights.get(&!literal).copied().unwrap_or(0);
        if !literal.is_negative() {
            certain += weight.min(opposite);
        }
        if weight > opposite {
            left.push((literal, weight - opposite));
        }
    }
    (certain, left)
}

impl Solution {
    /// Whether an atom is true in the model.
    pub fn is_true(&self, atom: Atom) -> bool {
        let value = self.values.get(atom.0 as usize).copied().flatten();
        value.unwrap_or_else(|| {
            self.place(atom).is_some_and(|(part, literal)| self.parts[part].is_true(literal))
        })
    }

    /// The cost of the model for each objective.
    pub fn costs(&self) -> impl Iterator<Item = u64> {
        self.bounds.iter().map(|bounds| bounds.upper)
    }

    /// The proven bounds of each objective.
    pub fn bounds(&self) -> &[Bounds] {
        &self.bounds
    }

    /// Whether the model is proven to be optimal, and to be the preferred one among the optimal
    /// models.
    pub fn is_proven(&self) -> bool {
        self.bounds.iter().all(|bounds| bounds.meet())
            && self.parts.iter().all(ComponentSolver::is_finished)
    }

    /// Finds another model of the same costs in which at least one of these atoms has another
    /// value. Returns those of the atoms that are true in it, in their order. `None` where there is
    /// no such model.
    ///
    /// # Errors
    /// Returns [`Interrupted`] where the limit is reached before the answer is known.
    pub fn another(&mut self, over: &[Atom]) -> Result<Option<Vec<Atom>>, Interrupted> {
        self.differing(over, over)
    }

    /// Finds another model of the same costs in which at least one of these atoms that are true is
    /// false. Returns those of the atoms that are true in it, in their order. A model that only has
    /// more of the atoms does not count.
    ///
    /// # Errors
    /// As for [`Solution::another`].
    pub fn another_without(&mut self, over: &[Atom]) -> Result<Option<Vec<Atom>>, Interrupted> {
        let present: Vec<_> = over.iter().copied().filter(|&atom| self.is_true(atom)).collect();
        self.differing(&present, over)
    }

    /// Finds another model in which at least one of the atoms `over` has another value. Returns
    /// those of the atoms `shown` that are true in it.
    fn differing(
        &mut self,
        over: &[Atom],
        shown: &[Atom],
    ) -> Result<Option<Vec<Atom>>, Interrupted> {
        let is_free = |atom: &&Atom| {
            self.components.places.get(atom.0 as usize) == Some(&VarPlace::Free)
                && self.values[atom.0 as usize].is_none()
        };
        if let Some(&free) = over.iter().find(is_free) {
            return Ok(Some(
                shown
                    .iter()
                    .copied()
                    .filter(|&atom| self.is_true(atom) != (atom == free))
                    .collect(),
            ));
        }
        for (changed, literals) in self.by_part(over) {
            if self.parts[changed].differs(&literals)? {
                let is_true = |atom: Atom| match self.place(atom) {
                    Some((part, literal)) if part == changed => {
                        self.parts[part].is_true_in_last(literal)
                    }
                    _ => self.is_true(atom),
                };
                return Ok(Some(shown.iter().copied().filter(|&atom| is_true(atom)).collect()));
            }
        }
        Ok(None)
    }

    /// The literals of some atoms, grouped by component.
    fn by_part(&self, atoms: &[Atom]) -> BTreeMap<usize, Vec<Lit>> {
        let mut found: BTreeMap<usize, Vec<Lit>> = BTreeMap::new();
        for (part, literal) in atoms.iter().filter_map(|&atom| self.place(atom)) {
            found.entry(part).or_default().push(literal);
        }
        found
    }

    /// The component of an atom, and the literal of the atom there.
    fn place(&self, atom: Atom) -> Option<(usize, Lit)> {
        match *self.components.places.get(atom.0 as usize)? {
            VarPlace::Component(part, literal) => Some((part as usize, literal)),
            VarPlace::Fixed | VarPlace::Free => None,
        }
    }

    /// Minimises an objective, and admits only models of the least cost from now on, unless the
    /// limit is reached.
    fn minimize(&mut self, objective: &Objective, report: &mut dyn FnMut(Bounds)) -> Bounds {
        let Split { constant, terms } = self.split(objective);
        let cost = |(&part, terms): (&u32, &Vec<_>)| self.parts[part as usize].cost(terms);
        let (mut lower, mut upper) = (constant, constant + terms.iter().map(cost).sum::<u128>());
        report(bounds(lower, upper));
        for (part, terms) in terms {
            let part = &mut self.parts[part as usize];
            // Subtracts the cost of this component, so that the cost of the others is left.
            upper -= part.cost(&terms);
            let (least, cost) = part
                .minimize(&terms, &mut |least, most| report(bounds(lower + least, upper + most)));
            lower += least;
            upper += cost;
        }
        bounds(lower, upper)
    }

    /// Sums up the weights of each variable by component. A free variable gets the value that costs
    /// nothing, unless an earlier objective decided it.
    fn split(&mut self, objective: &Objective) -> Split {
        let (mut constant, mut free) = (0, BTreeMap::<Lit, u128>::new());
        let mut by_part: BTreeMap<u32, BTreeMap<Lit, u128>> = BTreeMap::new();
        for &(literal, weight) in &objective.terms {
            let (index, weight) = (literal.var().index(), u128::from(weight));
            match (self.values[index], self.components.places[index]) {
                (Some(value), _) if value != literal.is_negative() => constant += weight,
                (Some(_), _) => {}
                (None, VarPlace::Component(part, inner)) => {
                    *by_part
                        .entry(part)
                        .or_default()
                        .entry(inner.negate_if(literal.is_negative()))
                        .or_default() += weight;
                }
                (None, VarPlace::Fixed | VarPlace::Free) => {
                    *free.entry(literal).or_default() += weight
                }
            }
        }
        let (certain, left) = cancel(&free);
        constant += certain;
        for (literal, _) in left {
            self.values[literal.var().index()] = Some(literal.is_negative());
        }
        let mut terms = BTreeMap::new();
        for (part, weights) in by_part {
            let (certain, left) = cancel(&weights);
            constant += certain;
            terms.insert(part, left);
        }
        Split { constant, terms }
    }

    /// Takes the model that is lexicographically least for the preference.
    fn prefer(&mut self, preference: &[Atom]) {
        for (part, literals) in self.by_part(preference) {
            self.parts[part].prefer(&literals);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
