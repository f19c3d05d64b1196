//! Says which wishes conflict: tea needs a kettle, the kettle needs power, and there is none.

use cuvee_sat::formula::{Arena, Atom, Encoder, OriginId};
use cuvee_sat::solve::{Problem, SolverSettings, Unsolved, solve};

const WISHES: [&str; 4] =
    ["there is tea", "tea needs a kettle", "a kettle needs power", "there is no power"];

fn main() {
    let mut arena = Arena::default();
    let [tea, kettle, power] = [0, 1, 2].map(|atom| arena.atom(Atom(atom)));
    let clauses = [vec![tea], vec![!tea, kettle], vec![!kettle, power], vec![!power]];
    let mut encoder = Encoder::new(&arena, 3);
    for (origin, clause) in (0..).map(OriginId).zip(&clauses) {
        encoder.assert(clause, origin);
    }
    let cnf = encoder.finish();
    let problem = Problem { cnf: &cnf, objectives: &[], preference: &[] };
    match solve(&problem, &SolverSettings::default(), &mut ()) {
        Ok(_) => println!("all of it is possible"),
        Err(Unsolved::Interrupted) => println!("there was not enough time"),
        Err(Unsolved::Conflict(conflict)) => {
            println!("these conflict, and no three of them do:");
            for origin in conflict.origins {
                println!("- {}", WISHES[origin.0 as usize]);
            }
        }
    }
}
