//! How long it takes to optimise, per solver: `cargo bench --bench solve`.

#[path = "modular/encode.rs"]
mod encode;
mod modular;

use std::time::Instant;

use cuvee::solve::{Problem, SolverKind, solve};

fn main() {
    for size in [64, 200, 500] {
        let template = modular::Template::modular(size, 1);
        let start = Instant::now();
        let encoded = encode::encode(&template);
        println!(
            "modular {size}: {} variables, {} clauses, encoded in {:.1?}",
            encoded.cnf.vars(),
            encoded.cnf.len(),
            start.elapsed()
        );
        for kind in [SolverKind::Batsat, SolverKind::Varisat] {
            measure(&encoded, kind);
        }
    }
}

fn measure(encoded: &encode::Encoded, kind: SolverKind) {
    let start = Instant::now();
    let objectives = std::slice::from_ref(&encoded.objective);
    let problem = Problem { cnf: &encoded.cnf, objectives, preference: &encoded.preference };
    match solve(&problem, &kind.into(), &mut ()) {
        Ok(solution) => println!("  {kind:?}: optimum {} in {:.1?}", solution.bounds()[0].upper, start.elapsed()),
        Err(unsolved) => println!("  {kind:?}: {unsolved:?}, found in {:.1?}", start.elapsed()),
    }
}
