//! Tests optimisation problems of the size of real systems, on which both solvers agree.

#[path = "../../benches/modular/encode.rs"]
mod encode;
#[path = "../../benches/modular/families.rs"]
mod families;
#[path = "../../benches/modular/mod.rs"]
mod modular;

use cuvee::Resolver;
use cuvee::diagnostic::Code;
use cuvee::explore::progress::Progress;
use cuvee::parts::formula::Atom;
use cuvee::parts::solve::{
    Bounds as Proven, Conflict, Problem, Solution, SolverKind, SolverSettings, Unsolved, solve,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The last bounds of the only objective.
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

fn optimum(encoded: &encode::Encoded, kind: SolverKind) -> Result<Solution, Unsolved> {
    let problem = Problem {
        cnf: &encoded.cnf,
        objectives: std::slice::from_ref(&encoded.objective),
        preference: &encoded.preference,
    };
    let mut bounds = Bounds::default();
    let solution = solve(&problem, &kind.into(), &mut bounds)?;
    assert_eq!(bounds.0, solution.bounds().first().map(|&Proven { lower, upper }| (lower, upper)));
    Ok(solution)
}

fn satisfies(encoded: &encode::Encoded, solution: &Solution) -> bool {
    // Except for definitions, all variables of this problem are atoms, so clauses over atoms alone
    // can be checked.
    let atoms = encoded.cnf.atoms() as u32;
    encoded
        .cnf
        .clauses()
        .filter(|clause| clause.literals.iter().all(|literal| literal.var().0 < atoms))
        .all(|clause| {
            clause
                .literals
                .iter()
                .any(|literal| solution.is_true(Atom(literal.var().0)) != literal.is_negative())
        })
}

#[test]
fn both_solvers_find_the_same_optimum_and_model() -> Result<(), Unsolved> {
    for seed in 1..4 {
        let encoded = encode::encode(&modular::Template::modular(64, seed));
        let mut first = optimum(&encoded, SolverKind::ALL[0])?;
        let mut second = optimum(&encoded, SolverKind::Batsat)?;
        assert_eq!(first.bounds(), second.bounds());
        assert!(first.is_proven() && second.is_proven());
        assert!(encoded.preference.iter().all(|&atom| first.is_true(atom) == second.is_true(atom)));
        assert!(satisfies(&encoded, &first));
        assert_eq!(
            first.another(&encoded.preference).map(|other| other.is_some()),
            second.another(&encoded.preference).map(|other| other.is_some())
        );
    }
    Ok(())
}

#[test]
fn no_restriction_is_cheaper() -> Result<(), Unsolved> {
    let best = optimum(&encode::encode(&modular::Template::modular(64, 1)), SolverKind::default())?
        .bounds()[0]
        .upper;
    let mut dearer = 0;
    for node in (0..modular::Template::modular(64, 1).nodes.len()).step_by(3) {
        let mut restricted = modular::Template::modular(64, 1);
        // A node that excludes itself is absent.
        restricted.excluded.push((node, node));
        let encoded = encode::encode(&restricted);
        let objectives = std::slice::from_ref(&encoded.objective);
        match solve(
            &Problem { cnf: &encoded.cnf, objectives, preference: &[] },
            &SolverSettings::default(),
            &mut (),
        ) {
            Ok(solution) => {
                assert!(solution.bounds()[0].upper >= best);
                dearer += usize::from(solution.bounds()[0].upper > best);
            }
            Err(Unsolved::Interrupted) => panic!("nothing limits it"),
            // Without the restriction there is a model, so every conflict includes it. It was
            // asserted last.
            Err(Unsolved::Conflict(Conflict { origins, is_minimal })) => {
                assert!(is_minimal);
                assert_eq!(
                    origins.last().copied(),
                    encoded.cnf.clauses().filter_map(|clause| clause.origin).max()
                )
            }
        }
    }
    assert!(dearer > 0);
    Ok(())
}

/// Other kinds of problems, small enough to be confirmed by an entirely different method.
#[test]
fn another_method_confirms_the_optimum() -> Result<(), Unsolved> {
    let modular = |seed| encode::encode(&modular::Template::modular(20, seed));
    for seed in 1..6 {
        for encoded in [modular(seed), families::shared(14, seed), families::technologies(8, seed)]
        {
            let cost = optimum(&encoded, SolverKind::default())?.bounds()[0].upper;
            let clauses = encoded
                .cnf
                .clauses()
                .map(|clause| clause.literals.iter().map(|literal| literal.to_dimacs()).collect());
            let terms = encoded
                .objective
                .terms
                .iter()
                .map(|&(literal, weight)| (weight, literal.to_dimacs()));
            let problem = crate::oracle::Problem {
                clauses: clauses.collect(),
                objectives: vec![terms.collect()],
            };
            assert!(problem.confirms(&[cost]));
            assert!(!problem.confirms(&[cost + 1]) && !problem.confirms(&[cost - 1]));
            if encoded.cnf.vars() <= 20 {
                assert_eq!(problem.brute_force(encoded.cnf.vars() as u32), Some(vec![cost]));
            }
        }
    }
    Ok(())
}

/// All but one of a thousand alternatives have to be missed. A search core by core would take
/// forever.
#[test]
fn a_wide_choice_is_maximized() -> Result<(), Unsolved> {
    let encoded = families::alternatives(1200);
    let weights: u64 = encoded.objective.terms.iter().map(|(_, weight)| weight).sum();
    let heaviest = encoded.objective.terms.iter().map(|(_, weight)| weight).max().unwrap();
    assert_eq!(optimum(&encoded, SolverKind::default())?.bounds()[0].upper, weights - heaviest);
    Ok(())
}

/// Asks to stop as soon as the bounds do not meet.
struct Impatient(Arc<AtomicBool>);

impl Progress for Impatient {
    fn bounds(&mut self, _: usize, lower: u64, upper: u64) {
        self.0.fetch_or(lower < upper, Ordering::Relaxed);
    }
}

#[test]
fn what_is_not_proven_says_so() {
    // In a ring of five nodes, no neighbours may be present together. Pairs alone do not show that
    // three nodes are too many.
    let ring = |line: &dyn Fn(usize) -> String| (0..5).map(line).collect::<String>();
    let excluded = ring(&|i| {
        format!("    - not: {{and: [node_presence: n{i}, node_presence: n{}]}}\n", (i + 1) % 5)
    });
    let nodes = ring(&|i| {
        format!("    n{i}: {{type: T, weight: 0.5, conditions: {{node_presence: n{i}}}}}\n")
    });
    let options = "{type_default_condition: true, optimization_topology: max, optimization_topology_unique: false}";
    let template = format!(
        "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    options: {options}\n    \
         constraints:\n{excluded}  node_templates:\n{nodes}"
    );
    let resolver = Resolver::from_text("t.yaml", template);
    let proven = resolver.resolve().unwrap();
    let optimum = &proven.optima()[0];
    assert!(proven.is_proven() && optimum.is_proven() && proven.warnings().is_empty());
    assert_eq!(
        (optimum.what, &*optimum.value, optimum.is_maximized),
        ("the weight of the nodes", "1", true)
    );

    let stop = Arc::default();
    let cut_short =
        resolver.stop_when(Arc::clone(&stop)).resolve_with(&mut Impatient(stop)).unwrap();
    let optimum = &cut_short.optima()[0];
    assert!(!cut_short.is_proven() && !optimum.is_proven());
    assert_eq!(optimum.bound, "1.5");
    assert!(["0", "0.5", "1"].contains(&&*optimum.value), "{optimum:?}");
    let codes: Vec<_> = cut_short.warnings().iter().map(|warning| warning.code).collect();
    match &*optimum.value {
        "0" => assert_eq!(codes, [Code::Unproven, Code::NothingLeft]),
        _ => assert_eq!(codes, [Code::Unproven]),
    }
    assert!(cut_short.warnings()[0].message.ends_with("and no variant has more than 1.5"));
}
