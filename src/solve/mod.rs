//! Finds the variant: satisfies the clauses, optimises the objectives one after the other, and explains what conflicts.

pub mod backbone;
mod components;
pub mod count;
pub mod covering;
mod explain;
mod least;
mod models;
mod optimize;
mod part;
mod propagate;
mod propagator;
pub mod random;
mod settle;
mod solver;
mod totalizer;

use std::collections::BTreeMap;

use self::components::{Components, Place};
pub use self::models::Models;
use self::part::Part;
use self::propagate::Propagation;
pub use self::settle::{Question, Settled, settle};
use crate::formula::{Atom, Cnf, Lit, OriginId};
use crate::progress::Progress;

/// Which solver does the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SolverKind {
    /// varisat: cannot be stopped, and its conflicts need to be verified.
    Varisat,
    /// batsat: stops early where an answer would only be nice to have, which makes optimising several times as fast.
    #[default]
    Batsat,
}

/// A weighted sum to minimise. Maximising `Σ w·x` is minimising `Σ w·¬x`.
#[derive(Clone, Debug, Default)]
pub struct Objective {
    /// What each true literal costs.
    pub terms: Vec<(Lit, u64)>,
}

/// What to solve.
#[derive(Debug)]
pub struct Problem<'p> {
    /// What must hold.
    pub cnf: &'p Cnf,
    /// What to minimise: the first above all, then the second, ...
    pub objectives: &'p [Objective],
    /// Among equally good models the one that is lexicographically least here: the first of these absent if it can be, then the second, ...
    pub preference: &'p [Atom],
}

/// A model with proven optimal costs, and the solvers that found it, to ask for others.
pub struct Solution {
    components: Components,
    parts: Vec<Part>,
    /// The truth of each variable; of one that is free and does not matter, `None`.
    values: Vec<Option<bool>>,
    costs: Vec<u64>,
}

/// A minimal set of origins that cannot all be fulfilled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// In ascending order.
    pub origins: Vec<OriginId>,
}

/// Solves.
///
/// # Errors
/// A [`Conflict`] where nothing satisfies the clauses.
///
/// # Examples
/// ```
/// use cuvee::formula::{Arena, Atom, Encoder, OriginId};
/// use cuvee::solve::{Objective, Problem, SolverKind, solve};
///
/// let mut arena = Arena::default();
/// let [a, b] = [0, 1].map(|atom| arena.atom(Atom(atom)));
/// let mut encoder = Encoder::new(&arena, 2);
/// encoder.assert(&[a, b], OriginId(0));
/// let objective = Objective { terms: vec![(encoder.literal(a), 2), (encoder.literal(b), 3)] };
///
/// let problem = Problem { cnf: &encoder.finish(), objectives: &[objective], preference: &[Atom(0), Atom(1)] };
/// let mut solution = solve(&problem, SolverKind::default(), &mut ())?;
/// assert!(solution.is_true(Atom(0)) && !solution.is_true(Atom(1)));
/// assert_eq!(solution.costs(), [2]);
/// assert_eq!(solution.another(&[Atom(0), Atom(1)]), None);
/// # Ok::<(), cuvee::solve::Conflict>(())
/// ```
pub fn solve(problem: &Problem<'_>, kind: SolverKind, progress: &mut dyn Progress) -> Result<Solution, Conflict> {
    let cnf = problem.cnf;
    let propagation = Propagation::of(cnf);
    if let Some(clause) = propagation.conflict {
        return Err(explain::explain(cnf, &propagation, &[clause], kind));
    }
    let components = Components::of(cnf, &propagation);
    let mut parts = Vec::with_capacity(components.components.len());
    for component in &components.components {
        match Part::start(cnf, &components, &propagation, component, kind) {
            Some(part) => parts.push(part),
            None => return Err(explain::explain(cnf, &propagation, &component.clauses, kind)),
        }
    }
    let mut solution = Solution { components, parts, values: propagation.into_values(), costs: Vec::new() };
    for (index, objective) in problem.objectives.iter().enumerate() {
        let cost = solution.minimize(objective, &mut |lower, upper| progress.bounds(index, narrow(lower), narrow(upper)));
        solution.costs.push(narrow(cost));
    }
    solution.prefer(problem.preference);
    Ok(solution)
}

/// Costs are reported up to the largest number there is.
fn narrow(cost: u128) -> u64 {
    u64::try_from(cost).unwrap_or(u64::MAX)
}

/// An objective split into what each component contributes.
struct Split {
    /// What it costs whatever the components do.
    constant: u128,
    terms: BTreeMap<u32, Vec<(Lit, u128)>>,
}

impl Solution {
    /// Whether an atom is true.
    pub fn is_true(&self, atom: Atom) -> bool {
        let value = self.values.get(atom.0 as usize).copied().flatten();
        value.unwrap_or_else(|| self.place(atom).is_some_and(|(part, literal)| self.parts[part].is_true(literal)))
    }

    /// The cost of each objective.
    pub fn costs(&self) -> &[u64] {
        &self.costs
    }

    /// Another model of the same costs in which at least one of these atoms differs: its true atoms among them, in order.
    pub fn another(&mut self, over: &[Atom]) -> Option<Vec<Atom>> {
        let is_free = |atom: &&Atom| {
            self.components.places.get(atom.0 as usize) == Some(&Place::Free) && self.values[atom.0 as usize].is_none()
        };
        if let Some(&free) = over.iter().find(is_free) {
            return Some(over.iter().copied().filter(|&atom| self.is_true(atom) != (atom == free)).collect());
        }
        let mut by_part: BTreeMap<usize, Vec<Lit>> = BTreeMap::new();
        for (part, literal) in over.iter().filter_map(|&atom| self.place(atom)) {
            by_part.entry(part).or_default().push(literal);
        }
        let changed = by_part.into_iter().find_map(|(part, literals)| self.parts[part].differs(&literals).then_some(part))?;
        let is_true = |atom: Atom| match self.place(atom) {
            Some((part, literal)) if part == changed => self.parts[part].is_true_in_last(literal),
            _ => self.is_true(atom),
        };
        Some(over.iter().copied().filter(|&atom| is_true(atom)).collect())
    }

    /// The component of an atom, and its literal there.
    fn place(&self, atom: Atom) -> Option<(usize, Lit)> {
        match *self.components.places.get(atom.0 as usize)? {
            Place::Component(part, var) => Some((part as usize, var.positive())),
            Place::Fixed | Place::Free => None,
        }
    }

    /// Minimises an objective, and admits only models of the least cost from now on.
    fn minimize(&mut self, objective: &Objective, bounds: &mut dyn FnMut(u128, u128)) -> u128 {
        let Split { constant, terms } = self.split(objective);
        let cost = |(&part, terms): (&u32, &Vec<_>)| self.parts[part as usize].cost(terms);
        let (mut lower, mut upper) = (constant, constant + terms.iter().map(cost).sum::<u128>());
        bounds(lower, upper);
        for (part, terms) in terms {
            let part = &mut self.parts[part as usize];
            // What the other components cost.
            upper -= part.cost(&terms);
            let least = part.minimize(&terms, &mut |least, most| bounds(lower + least, upper + most));
            lower += least;
            upper += least;
        }
        lower
    }

    /// Adds up what the objective says about each variable. A free variable is decided as it costs nothing, unless an earlier objective decided it.
    fn split(&mut self, objective: &Objective) -> Split {
        let mut weights: BTreeMap<Lit, u128> = BTreeMap::new();
        for &(literal, weight) in &objective.terms {
            *weights.entry(literal).or_default() += u128::from(weight);
        }
        let mut split = Split { constant: 0, terms: BTreeMap::new() };
        for (&literal, &weight) in &weights {
            // Of a literal and its negation, one is true.
            let opposite = weights.get(&!literal).copied().unwrap_or(0);
            let (common, weight) = (weight.min(opposite), weight.saturating_sub(opposite));
            if !literal.is_negative() {
                split.constant += common;
            }
            let index = literal.var().index();
            match (self.values[index], self.components.places[index]) {
                _ if weight == 0 => {}
                (Some(value), _) if value != literal.is_negative() => split.constant += weight,
                (Some(_), _) => {}
                (None, Place::Component(part, var)) => {
                    split.terms.entry(part).or_default().push((var.positive().negate_if(literal.is_negative()), weight));
                }
                (None, Place::Fixed | Place::Free) => self.values[index] = Some(literal.is_negative()),
            }
        }
        split
    }

    /// Takes the model that is lexicographically least.
    fn prefer(&mut self, preference: &[Atom]) {
        let mut by_part: BTreeMap<usize, Vec<Lit>> = BTreeMap::new();
        for (part, literal) in preference.iter().filter_map(|&atom| self.place(atom)) {
            by_part.entry(part).or_default().push(literal);
        }
        for (part, literals) in by_part {
            self.parts[part].prefer(&literals);
        }
    }
}

#[cfg(test)]
mod tests;
