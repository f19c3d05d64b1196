//! Compares optima, conflicts and counts of random clauses with the results of trying every
//! assignment. Uses only the public interface of the crate.

use cuvee_sat::count::compile;
use cuvee_sat::formula::{Arena, Atom, Cnf, Encoder, OriginId, Var};
use cuvee_sat::solve::{Objective, Problem, SolverKind, Unsolved, solve};
use proptest::collection::vec;
use proptest::prelude::*;

const ATOMS: u32 = 6;

/// An atom, and whether it is negated.
type RandomLiteral = (u32, bool);

fn literals() -> impl Strategy<Value = Vec<RandomLiteral>> {
    vec((0..ATOMS, any::<bool>()), 1..4)
}

fn weights() -> impl Strategy<Value = Vec<u64>> {
    vec(0..9_u64, ATOMS as usize)
}

fn holds(clauses: &[Vec<RandomLiteral>], model: u32) -> bool {
    clauses.iter().all(|clause| {
        clause.iter().any(|&(atom, is_negated)| (model >> atom & 1 == 1) != is_negated)
    })
}

fn cost(weights: &[u64], model: u32) -> u64 {
    (0..ATOMS).zip(weights).filter(|(atom, _)| model >> atom & 1 == 1).map(|(_, cost)| cost).sum()
}

/// The clauses, each with its position as its origin, and an objective for each list of weights.
fn encoded(clauses: &[Vec<RandomLiteral>], weights: &[Vec<u64>]) -> (Cnf, Vec<Objective>) {
    let mut arena = Arena::default();
    let atoms: Vec<_> = (0..ATOMS).map(|atom| arena.atom(Atom(atom))).collect();
    let of = |&(atom, is_negated): &RandomLiteral| {
        if is_negated { !atoms[atom as usize] } else { atoms[atom as usize] }
    };
    let mut encoder = Encoder::new(&arena, ATOMS);
    for (origin, clause) in (0..).map(OriginId).zip(clauses) {
        encoder.assert(&clause.iter().map(of).collect::<Vec<_>>(), origin);
    }
    let objectives = weights
        .iter()
        .map(|weights| {
            let terms = atoms.iter().zip(weights);
            Objective { terms: terms.map(|(&atom, &cost)| (encoder.literal(atom), cost)).collect() }
        })
        .collect();
    (encoder.finish(), objectives)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_best_model_is_the_best_of_all(
        clauses in vec(literals(), 0..12),
        weights in vec(weights(), 0..3),
    ) {
        let (cnf, objectives) = encoded(&clauses, &weights);
        let preference: Vec<_> = (0..ATOMS).map(Atom).collect();
        let problem = Problem { cnf: &cnf, objectives: &objectives, preference: &preference };
        // Equally good models are ranked by their atoms in order, where absent comes before
        // present.
        let rank = |&model: &u32| {
            let costs: Vec<_> = weights.iter().map(|weights| cost(weights, model)).collect();
            (costs, (0..ATOMS).map(|atom| model >> atom & 1).collect::<Vec<_>>())
        };
        let best = (0..1 << ATOMS).filter(|&model| holds(&clauses, model)).min_by_key(rank);
        for &kind in SolverKind::ALL {
            match (solve(&problem, &kind.into(), &mut ()), best) {
                (Ok(found), Some(best)) => {
                    let model = (0..ATOMS).filter(|&atom| found.is_true(Atom(atom)));
                    prop_assert_eq!(model.map(|atom| 1 << atom).sum::<u32>(), best);
                    prop_assert!(found.is_proven());
                    prop_assert_eq!(found.costs().collect::<Vec<_>>(), rank(&best).0);
                }
                (Err(Unsolved::Conflict(conflict)), None) => {
                    let without = |left_out: Option<OriginId>| -> Vec<_> {
                        let kept = conflict.origins.iter().filter(|&&one| Some(one) != left_out);
                        kept.map(|origin| clauses[origin.0 as usize].clone()).collect()
                    };
                    let can = |some: Vec<_>| (0..1 << ATOMS).any(|model| holds(&some, model));
                    prop_assert!(!can(without(None)));
                    for &origin in &conflict.origins {
                        prop_assert!(can(without(Some(origin))), "{:?} is not needed", origin);
                    }
                }
                (found, best) => {
                    prop_assert!(false, "{:?} instead of {:?}", found.err(), best);
                }
            }
        }
    }

    #[test]
    fn models_are_counted_and_listed(clauses in vec(literals(), 0..12), shown in 1..=ATOMS) {
        let (cnf, _) = encoded(&clauses, &[]);
        let projection: Vec<_> = (0..shown).map(Var).collect();
        let clause_literals = cnf.clauses().map(|clause| clause.literals);
        let compiled = compile(cnf.vars(), clause_literals, &projection, 1_000_000).unwrap();
        let models = (0..1 << ATOMS).filter(|&model| holds(&clauses, model));
        let mut expected: Vec<Vec<bool>> =
            models.map(|model| (0..shown).map(|atom| model >> atom & 1 == 1).collect()).collect();
        expected.sort();
        expected.dedup();
        let mut listed: Vec<_> = compiled.models().collect();
        listed.sort();
        prop_assert_eq!(compiled.count(), &expected.len().into());
        prop_assert_eq!(listed, expected);
    }
}
