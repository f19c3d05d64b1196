//! Optimisation problems of the size of real systems: both solvers agree.

#[path = "../benches/modular/encode.rs"]
mod encode;
#[path = "../benches/modular/mod.rs"]
mod modular;

use cuvee::formula::Atom;
use cuvee::progress::Progress;
use cuvee::solve::{Conflict, Problem, Solution, SolverKind, solve};

/// The bounds of the only objective.
#[derive(Default)]
struct Bounds(Option<(u64, u64)>);

impl Progress for Bounds {
    fn bounds(&mut self, objective: usize, lower: u64, upper: u64) {
        assert_eq!(objective, 0);
        if let Some((low, high)) = self.0 {
            assert!(low <= lower && lower <= upper && upper <= high);
        }
        self.0 = Some((lower, upper));
    }
}

fn optimum(encoded: &encode::Encoded, kind: SolverKind) -> Result<Solution, Conflict> {
    let problem =
        Problem { cnf: &encoded.cnf, objectives: std::slice::from_ref(&encoded.objective), preference: &encoded.preference };
    let mut bounds = Bounds::default();
    let solution = solve(&problem, kind, &mut bounds)?;
    assert_eq!(bounds.0, Some((solution.costs()[0], solution.costs()[0])));
    Ok(solution)
}

fn satisfies(encoded: &encode::Encoded, solution: &Solution) -> bool {
    // All variables of this problem but those of definitions are atoms, so clauses over atoms alone can be checked.
    let atoms = encoded.cnf.atoms() as u32;
    encoded
        .cnf
        .clauses()
        .filter(|clause| clause.literals.iter().all(|literal| literal.var().0 < atoms))
        .all(|clause| clause.literals.iter().any(|literal| solution.is_true(Atom(literal.var().0)) != literal.is_negative()))
}

#[test]
fn both_solvers_find_the_same_optimum_and_model() -> Result<(), Conflict> {
    for seed in 1..4 {
        let encoded = encode::encode(&modular::Template::modular(64, seed));
        let mut first = optimum(&encoded, SolverKind::Varisat)?;
        let mut second = optimum(&encoded, SolverKind::Batsat)?;
        assert_eq!(first.costs(), second.costs());
        assert!(encoded.preference.iter().all(|&atom| first.is_true(atom) == second.is_true(atom)));
        assert!(satisfies(&encoded, &first));
        assert_eq!(first.another(&encoded.preference).is_some(), second.another(&encoded.preference).is_some());
    }
    Ok(())
}

#[test]
fn no_restriction_is_cheaper() -> Result<(), Conflict> {
    let best = optimum(&encode::encode(&modular::Template::modular(64, 1)), SolverKind::default())?.costs()[0];
    let mut dearer = 0;
    for node in (0..modular::Template::modular(64, 1).nodes.len()).step_by(3) {
        let mut restricted = modular::Template::modular(64, 1);
        // What excludes itself is absent.
        restricted.excluded.push((node, node));
        let encoded = encode::encode(&restricted);
        let objectives = std::slice::from_ref(&encoded.objective);
        match solve(&Problem { cnf: &encoded.cnf, objectives, preference: &[] }, SolverKind::default(), &mut ()) {
            Ok(solution) => {
                assert!(solution.costs()[0] >= best);
                dearer += usize::from(solution.costs()[0] > best);
            }
            // Without the restriction there is a model, so it is part of each conflict; it was asserted last.
            Err(conflict) => {
                assert_eq!(conflict.origins.last().copied(), encoded.cnf.clauses().filter_map(|clause| clause.origin).max())
            }
        }
    }
    assert!(dearer > 0);
    Ok(())
}
