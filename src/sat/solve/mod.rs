//! Finds the variant: satisfies the clauses, optimises the objectives one after the other, and
//! explains what conflicts.

pub mod backbone;
mod bounded;
pub(crate) mod circuit;
mod component;
mod components;
pub mod covering;
mod determinise;
mod equivalence;
mod exclusion;
mod explain;
mod forest;
mod free;
mod gates;
pub(crate) mod influence;
mod lexicographic;
mod models;
mod optimize;
mod propagate;
mod propagator;
pub mod random;
pub(crate) mod redundancy;
mod settings;
pub(in crate::sat) mod solver;
mod totalizer;
#[cfg(feature = "varisat")]
mod varisat;
pub(crate) mod walk;

use std::collections::BTreeMap;

pub use self::bounded::BoundedClauses;
use self::component::ComponentSolver;
use self::components::{Components, VarPlace};
pub use self::determinise::{Determinised, Question, Unique, determinise};
pub use self::models::Models;
use self::propagate::Propagation;
pub use self::settings::{Limit, SolverSettings, Technique, Techniques};
use crate::sat::formula::{Atom, Cnf, Lit, OriginId};
use crate::sat::progress::Progress;

/// Which solver does the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SolverKind {
    /// varisat, with the feature of this name: cannot be stopped, and its conflicts need to be
    /// verified.
    #[cfg(feature = "varisat")]
    Varisat,
    /// batsat: stops early where an answer would only be nice to have, which makes optimising
    /// several times as fast.
    #[default]
    Batsat,
}

impl SolverKind {
    /// Those that there are.
    pub const ALL: &'static [Self] = &[
        #[cfg(feature = "varisat")]
        Self::Varisat,
        Self::Batsat,
    ];
}

/// A weighted sum to minimise. Maximising `Σ w·x` is minimising `Σ w·¬x`.
#[derive(Clone, Debug, Default)]
pub struct Objective {
    /// What each true literal costs.
    pub terms: Vec<(Lit, u64)>,
}

/// What to solve.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'p> {
    /// What must hold.
    pub cnf: &'p Cnf,
    /// What to minimise: the first above all, then the second, ...
    pub objectives: &'p [Objective],
    /// Among equally good models the one that is lexicographically least here: the first of these
    /// absent if it can be, then the second, ...
    pub preference: &'p [Atom],
}

/// The best model that was found, and the solvers that found it, to ask for others.
pub struct Solution {
    components: Components,
    parts: Vec<ComponentSolver>,
    /// The truth of each variable; of one that is free and does not matter, `None`.
    values: Vec<Option<bool>>,
    bounds: Vec<Bounds>,
}

/// What is proven about an objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// No model that is optimal for the objectives before costs less.
    pub lower: u64,
    /// What the model that was found costs.
    pub upper: u64,
}

impl Bounds {
    /// Whether the model is proven to be optimal.
    pub fn meet(self) -> bool {
        self.lower == self.upper
    }
}

/// Why there is no model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsolved {
    /// None satisfies the clauses.
    Conflict(Conflict),
    /// None was found before the limit was reached.
    Interrupted,
}

/// The limit was reached before there was an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// A set of origins that cannot all be fulfilled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// In ascending order.
    pub origins: Vec<OriginId>,
    /// Whether it is known that all of them could be fulfilled without any one of them; it always is
    /// unless the limit was reached before.
    pub is_minimal: bool,
}

/// Solves.
///
/// # Errors
/// A minimal [`Conflict`] where nothing satisfies the clauses; nothing where the limit was reached before
/// there was any model. Once there is one, the best that was found comes with the [`Bounds`] that
/// are proven.
///
/// # Examples
/// ```
/// use cuvee::formula::{Arena, Atom, Encoder, OriginId};
/// use cuvee::solve::{Objective, Problem, SolverSettings, solve};
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
/// # Ok::<(), cuvee::solve::Unsolved>(())
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
    let components = Components::of(cnf, &propagation, settings.techniques);
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

/// Costs are reported up to the largest number there is.
fn bounds(lower: u128, upper: u128) -> Bounds {
    let narrow = |cost| u64::try_from(cost).unwrap_or(u64::MAX);
    Bounds { lower: narrow(lower), upper: narrow(upper) }
}

/// An objective split into what each component contributes.
struct Split {
    /// What it costs whatever the components do.
    constant: u128,
    terms: BTreeMap<u32, Vec<(Lit, u128)>>,
}

/// Of a literal and its negation one is true: what both cost is certain, and what one costs more is
/// left.
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
    /// Whether an atom is true.
    pub fn is_true(&self, atom: Atom) -> bool {
        let value = self.values.get(atom.0 as usize).copied().flatten();
        value.unwrap_or_else(|| {
            self.place(atom).is_some_and(|(part, literal)| self.parts[part].is_true(literal))
        })
    }

    /// What the model costs by each objective.
    pub fn costs(&self) -> impl Iterator<Item = u64> {
        self.bounds.iter().map(|bounds| bounds.upper)
    }

    /// What is proven about each objective.
    pub fn bounds(&self) -> &[Bounds] {
        &self.bounds
    }

    /// Whether the model is proven to be optimal, and is the preferred one of those that are.
    pub fn is_proven(&self) -> bool {
        self.bounds.iter().all(|bounds| bounds.meet())
            && self.parts.iter().all(ComponentSolver::is_finished)
    }

    /// Another model of the same costs in which at least one of these atoms differs: its true atoms
    /// among them, in order.
    ///
    /// # Errors
    /// Where the limit is reached before that is known.
    pub fn another(&mut self, over: &[Atom]) -> Result<Option<Vec<Atom>>, Interrupted> {
        self.differing(over, over)
    }

    /// Another model of the same costs in which at least one of these atoms that are true is false:
    /// its true atoms among them, in order. A model that has all of them, and more, is none.
    ///
    /// # Errors
    /// As [`Solution::another`].
    pub fn another_without(&mut self, over: &[Atom]) -> Result<Option<Vec<Atom>>, Interrupted> {
        let present: Vec<_> = over.iter().copied().filter(|&atom| self.is_true(atom)).collect();
        self.differing(&present, over)
    }

    /// Another model that differs in some of these, by those of the others that are true in it.
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

    /// The literals of atoms in each part.
    fn by_part(&self, atoms: &[Atom]) -> BTreeMap<usize, Vec<Lit>> {
        let mut found: BTreeMap<usize, Vec<Lit>> = BTreeMap::new();
        for (part, literal) in atoms.iter().filter_map(|&atom| self.place(atom)) {
            found.entry(part).or_default().push(literal);
        }
        found
    }

    /// The component of an atom, and its literal there.
    fn place(&self, atom: Atom) -> Option<(usize, Lit)> {
        match *self.components.places.get(atom.0 as usize)? {
            VarPlace::Component(part, literal) => Some((part as usize, literal)),
            VarPlace::Fixed | VarPlace::Free => None,
        }
    }

    /// Minimises an objective, and admits only models of the least cost from now on, as far as the
    /// limit allows.
    fn minimize(&mut self, objective: &Objective, report: &mut dyn FnMut(Bounds)) -> Bounds {
        let Split { constant, terms } = self.split(objective);
        let cost = |(&part, terms): (&u32, &Vec<_>)| self.parts[part as usize].cost(terms);
        let (mut lower, mut upper) = (constant, constant + terms.iter().map(cost).sum::<u128>());
        report(bounds(lower, upper));
        for (part, terms) in terms {
            let part = &mut self.parts[part as usize];
            // What the other components cost.
            upper -= part.cost(&terms);
            let (least, cost) = part
                .minimize(&terms, &mut |least, most| report(bounds(lower + least, upper + most)));
            lower += least;
            upper += cost;
        }
        bounds(lower, upper)
    }

    /// Adds up what the objective says about each variable. A free variable is decided as it costs
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

    /// Takes the model that is lexicographically least.
    fn prefer(&mut self, preference: &[Atom]) {
        for (part, literals) in self.by_part(preference) {
            self.parts[part].prefer(&literals);
        }
    }
}

#[cfg(test)]
pub(in crate::sat) mod tests;
