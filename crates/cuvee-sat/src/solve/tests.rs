//! Compares the solvers with brute force.

use proptest::prelude::*;

use super::*;
use crate::formula::{Arena, Encoder, Formula, Var};

pub(super) const KINDS: &[SolverKind] = SolverKind::ALL;

/// Random clauses over the first `vars` variables.
pub(crate) fn clauses(
    vars: u32,
    count: std::ops::Range<usize>,
) -> impl Strategy<Value = Vec<Vec<Lit>>> {
    let literal = (0..2 * vars).prop_map(Lit);
    prop::collection::vec(prop::collection::vec(literal, 1..5), count)
}

/// Whether a model satisfies clauses. The variables are the bits of the model.
pub(crate) fn holds(clauses: &[Vec<Lit>], model: u32) -> bool {
    clauses.iter().all(|clause| {
        clause.iter().any(|literal| (model >> literal.var().0 & 1 == 1) != literal.is_negative())
    })
}

const VARS: u32 = 8;

/// Encodes clauses with their origins. Some of them become formulas that need definitions.
fn encode(clauses: &[Origined]) -> Cnf {
    let mut arena = Arena::default();
    let mut asserted = Vec::new();
    for (clause, origin) in clauses {
        let literals: Vec<_> = clause
            .iter()
            .map(|literal| {
                let atom = arena.atom(Atom(literal.var().0));
                if literal.is_negative() { !atom } else { atom }
            })
            .collect();
        // A literal `l` is equivalent to `¬(l ⊕ a) ⊕ ¬a` for any atom `a`.
        let twisted = arena.atom(Atom(clause.len() as u32));
        let odd = arena.xor([literals[0], twisted]);
        let same = arena.and([literals[0], odd]);
        let other = arena.and([literals[0], !odd]);
        asserted.push((
            literals.into_iter().skip(1).chain([same, other]).collect::<Vec<Formula>>(),
            OriginId(*origin),
        ));
    }
    let mut encoder = Encoder::new(&arena, VARS);
    for (clause, origin) in asserted {
        encoder.assert(&clause, origin);
    }
    encoder.finish()
}

fn plain(clauses: &[Origined]) -> Vec<Vec<Lit>> {
    clauses.iter().map(|(clause, _)| clause.clone()).collect()
}

fn cost(objective: &Objective, model: u32) -> u64 {
    objective
        .terms
        .iter()
        .filter(|(literal, _)| holds(&[vec![*literal]], model))
        .map(|(_, weight)| weight)
        .sum()
}

/// A clause with its origin.
type Origined = (Vec<Lit>, u32);

fn problem() -> impl Strategy<Value = (Vec<Origined>, Vec<Objective>, Vec<Atom>)> {
    let clause = clauses(VARS, 1..2).prop_map(|clauses| clauses.concat());
    let clauses = prop::collection::vec((clause, 0..12_u32), 0..30);
    let weight = prop_oneof![0..6_u64, 0..1000_u64, Just(1 << 58)];
    let term = ((0..2 * VARS).prop_map(Lit), weight);
    let objective = prop::collection::vec(term, 0..14).prop_map(|terms| Objective { terms });
    let preference = Just((0..VARS).map(Atom).collect::<Vec<_>>()).prop_shuffle();
    (clauses, prop::collection::vec(objective, 0..3), preference)
}

/// Collects the reported bounds, and checks that they only improve.
#[derive(Default)]
struct ReportedBounds(Vec<(u64, u64)>);

impl Progress for ReportedBounds {
    fn bounds(&mut self, objective: usize, lower: u64, upper: u64) {
        assert!(lower <= upper);
        if let Some(&(low, high)) = self.0.get(objective) {
            assert!(low <= lower && upper <= high);
            self.0[objective] = (lower, upper);
        } else {
            assert_eq!(self.0.len(), objective);
            self.0.push((lower, upper));
        }
    }
}

fn is_present(atom: Atom, model: u32) -> bool {
    model >> atom.0 & 1 == 1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn agrees_with_brute_force(
        (clauses, objectives, preference) in problem(),
        toggled in prop::sample::subsequence(Technique::ALL.to_vec(), 0..=Technique::ALL.len()),
        over in prop::collection::vec((0..VARS).prop_map(Atom), 0..4),
    ) {
        let techniques = toggled.into_iter().fold(Techniques::default(), Techniques::toggled);
        let cnf = encode(&clauses);
        let plain = plain(&clauses);
        let models = || (0..1 << VARS).filter(|&model| holds(&plain, model));
        let costs = |model: u32| objectives.iter().map(|objective| cost(objective, model)).collect::<Vec<_>>();
        let preferred = |model: u32| preference.iter().map(|&atom| is_present(atom, model)).collect::<Vec<_>>();
        let best = models().min_by_key(|&model| (costs(model), preferred(model)));
        for &kind in KINDS {
            let mut bounds = ReportedBounds::default();
            let settings = SolverSettings { techniques, ..kind.into() };
            let found = solve(&Problem { cnf: &cnf, objectives: &objectives, preference: &preference }, &settings, &mut bounds);
            let Some(best) = best else {
                let Some(Unsolved::Conflict(Conflict { origins, is_minimal: true })) = found.err() else { panic!("it was interrupted") };
                let conflicts = |without: Option<OriginId>| {
                    let is_in = |origin| origins.contains(&origin) && Some(origin) != without;
                    let subset: Vec<_> = clauses.iter().filter(|(_, origin)| is_in(OriginId(*origin))).map(|(clause, _)| clause.clone()).collect();
                    (0..1 << VARS).all(|model| !holds(&subset, model))
                };
                prop_assert!(origins.is_sorted());
                prop_assert!(conflicts(None));
                prop_assert!(origins.iter().all(|&origin| !conflicts(Some(origin))));
                continue;
            };
            let mut solution = found.unwrap();
            prop_assert!(solution.is_proven());
            prop_assert_eq!(solution.costs().collect::<Vec<_>>(), costs(best));
            prop_assert_eq!(bounds.0.iter().map(|&(_, upper)| upper).collect::<Vec<_>>(), costs(best));
            prop_assert_eq!((0..VARS).map(|atom| solution.is_true(Atom(atom))).collect::<Vec<_>>(),
                (0..VARS).map(|atom| is_present(Atom(atom), best)).collect::<Vec<_>>());
            let projected = |model: u32| over.iter().copied().filter(|&atom| is_present(atom, model)).collect::<Vec<_>>();
            let others: Vec<_> = models().filter(|&model| costs(model) == costs(best)).map(projected).filter(|other| *other != projected(best)).collect();
            for _ in 0..2 {
                match solution.another(&over).unwrap() {
                    Some(other) => prop_assert!(others.contains(&other)),
                    None => prop_assert!(others.is_empty()),
                }
            }
        }
    }
}

#[test]
fn costs_saturate() {
    let objective =
        Objective { terms: [0, 1, 2].map(|atom| (Var(atom).positive(), u64::MAX)).to_vec() };
    let cnf = encode(&[(vec![Var(0).positive()], 0), (vec![Var(1).positive()], 1)]);
    for &kind in KINDS {
        let solution = solve(
            &Problem { cnf: &cnf, objectives: std::slice::from_ref(&objective), preference: &[] },
            &kind.into(),
            &mut (),
        )
        .unwrap();
        assert_eq!(solution.costs().collect::<Vec<_>>(), [u64::MAX]);
        assert!(!solution.is_true(Atom(2)));
    }
}

#[test]
fn what_is_fixed_has_no_other_model() {
    let cnf = encode(&[(vec![Var(0).positive()], 0)]);
    for &kind in KINDS {
        let mut solution = solve(
            &Problem { cnf: &cnf, objectives: &[], preference: &[Atom(0), Atom(1)] },
            &kind.into(),
            &mut (),
        )
        .unwrap();
        assert!(solution.is_true(Atom(0)) && !solution.is_true(Atom(1)));
        assert_eq!(solution.another(&[Atom(0)]), Ok(None));
        assert_eq!(solution.another(&[Atom(0), Atom(1)]), Ok(Some(vec![Atom(0), Atom(1)])));
    }
}

/// A chain of implications that leads to a contradiction. It extends beyond the conflict at both
/// ends.
#[test]
fn a_long_conflict_is_found_whole() {
    let link = |atom: u32| vec![Var(atom).negative(), Var(atom + 1).positive()];
    let mut arena = Arena::default();
    let atoms: Vec<_> = (0..1000).map(|atom| arena.atom(Atom(atom))).collect();
    let mut encoder = Encoder::new(&arena, 1000);
    let formula = |literal: Lit| {
        if literal.is_negative() {
            !atoms[literal.var().index()]
        } else {
            atoms[literal.var().index()]
        }
    };
    for atom in 0..999 {
        encoder.assert(&link(atom).into_iter().map(formula).collect::<Vec<_>>(), OriginId(atom));
    }
    encoder.assert(&[atoms[100]], OriginId(1000));
    encoder.assert(&[!atoms[900], atoms[5]], OriginId(1001));
    encoder.assert(&[!atoms[900], !atoms[5]], OriginId(1002));
    let cnf = encoder.finish();
    for &kind in KINDS {
        let conflict =
            solve(&Problem { cnf: &cnf, objectives: &[], preference: &[] }, &kind.into(), &mut ())
                .err();
        let origins = (100..900).chain(1000..1003).map(OriginId).collect::<Vec<_>>();
        assert_eq!(conflict, Some(Unsolved::Conflict(Conflict { origins, is_minimal: true })));
        let settings =
            SolverSettings { limit: Limit::after(std::time::Duration::ZERO), ..kind.into() };
        let problem = Problem { cnf: &cnf, objectives: &[], preference: &[] };
        let Err(Unsolved::Conflict(hasty)) = solve(&problem, &settings, &mut ()) else {
            panic!("propagation finds that there is a conflict");
        };
        assert!(
            !hasty.is_minimal
                && (100..900)
                    .chain(1000..1003)
                    .all(|origin| hasty.origins.contains(&OriginId(origin)))
        );
    }
}

/// Whenever the search stops, its result is a model, and the bounds are right.
#[derive(Default)]
struct Stopping {
    told: u32,
    stop_after: u32,
    stop: std::sync::Arc<std::sync::atomic::AtomicBool>,
}

impl Progress for Stopping {
    fn bounds(&mut self, _: usize, _: u64, _: u64) {
        self.told += 1;
        if self.told >= self.stop_after {
            self.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    }
}

proptest! {
    #[test]
    fn what_is_found_in_time_is_right((clauses, objectives, preference) in problem(), stop_after in 0..12_u32) {
        let cnf = encode(&clauses);
        let plain = plain(&clauses);
        let models = || (0..1 << VARS).filter(|&model| holds(&plain, model));
        let costs = |model: u32| objectives.iter().map(|objective| cost(objective, model)).collect::<Vec<_>>();
        for &kind in KINDS {
            let mut progress = Stopping { stop_after, ..Stopping::default() };
            progress.stop.store(stop_after == 0, std::sync::atomic::Ordering::Relaxed);
            let settings = SolverSettings { limit: Limit::default().or_when(progress.stop.clone()), ..kind.into() };
            let problem = Problem { cnf: &cnf, objectives: &objectives, preference: &preference };
            let mut solution = match solve(&problem, &settings, &mut progress) {
                Ok(solution) => solution,
                Err(Unsolved::Conflict(_)) => {
                    prop_assert!(models().next().is_none());
                    continue;
                }
                Err(Unsolved::Interrupted) => {
                    prop_assert_eq!(stop_after, 0);
                    continue;
                }
            };
            let found = (0..VARS).map(|atom| u32::from(solution.is_true(Atom(atom))) << atom).sum();
            prop_assert!(holds(&plain, found));
            prop_assert_eq!(solution.costs().collect::<Vec<_>>(), costs(found));
            let best = models().map(costs).min().unwrap();
            // Up to the first objective that is not proven, the objectives before are optimal.
            for (position, bounds) in solution.bounds().iter().enumerate() {
                prop_assert!(bounds.lower <= best[position] && best[position] <= bounds.upper);
                if !bounds.meet() {
                    prop_assert!(!solution.is_proven());
                    break;
                }
            }
            if solution.is_proven() {
                prop_assert_eq!(costs(found), best);
            }
            if let Ok(Some(other)) = solution.another(&preference) {
                prop_assert!(other.is_sorted_by_key(|atom| preference.iter().position(|own| own == atom)));
            }
        }
    }
}
