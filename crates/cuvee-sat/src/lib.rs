//! Encodes Boolean formulas as clauses, and solves, optimises, explains and counts them.
//!
//! [`formula`] builds formulas and encodes them as clauses. [`solve`] finds the best model of
//! clauses, or a minimal set of reasons why there is none. [`count`] counts, lists and draws
//! models. [`dimacs`] writes formulas in the formats of other solvers, and [`progress`] reports on
//! long runs. Every answer is the same on every machine and with every solver.
//!
//! ```
//! use cuvee_sat::formula::{Arena, Atom, Encoder, OriginId};
//! use cuvee_sat::solve::{Objective, Problem, SolverSettings, Unsolved, solve};
//!
//! // Tea or coffee, and no tea without a kettle.
//! let mut arena = Arena::default();
//! let [tea, coffee, kettle] = [0, 1, 2].map(|atom| arena.atom(Atom(atom)));
//! let mut encoder = Encoder::new(&arena, 3);
//! encoder.assert(&[tea, coffee], OriginId(0));
//! encoder.assert(&[!tea, kettle], OriginId(1));
//!
//! // The cheapest way: coffee costs 3, tea and the kettle 2 each.
//! let costs = [(tea, 2), (coffee, 3), (kettle, 2)];
//! let terms = costs.map(|(formula, cost)| (encoder.literal(formula), cost)).to_vec();
//! let (cnf, objectives) = (encoder.finish(), [Objective { terms }]);
//! let problem = Problem { cnf: &cnf, objectives: &objectives, preference: &[] };
//! let best = solve(&problem, &SolverSettings::default(), &mut ())?;
//! assert!(best.is_true(Atom(1)) && best.is_proven());
//! assert!(best.costs().eq([3]));
//! # Ok::<(), Unsolved>(())
//! ```

pub mod count;
pub mod dimacs;
pub mod formula;
pub mod progress;
mod simplify;
pub mod solve;

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct SatReadme;
