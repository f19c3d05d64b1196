//! Measures how long it takes to prove an optimum: with each solver, and with each technique turned
//! off or on.
//!
//! `cargo bench --bench solve` prints a table for each of these. To compare with other programs,
//! `cargo bench --bench solve -- PROBLEM.wcnf...` proves the optima of problems in the format of
//! `cuvee export --format wcnf`, and `cargo bench --bench solve -- DIRECTORY/` writes the problems
//! of the tables.

#[path = "modular/encode.rs"]
mod encode;
#[path = "modular/families.rs"]
mod families;
mod modular;

use cuvee::parts::formula::{Cnf, Lit, Var};
use cuvee::parts::solve::{
    Limit, Objective, Problem, SolverKind, SolverSettings, Technique, Unsolved, solve,
};
use encode::Encoded;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// How many runs are made; the time of the shortest is printed.
const RUNS: usize = 3;

/// The problems on which techniques are compared.
const COMPARED: [&str; 5] =
    ["modular 64", "modular 500", "modular 2000", "shared 400", "technologies 1000"];

/// A run that takes longer than this is given up.
const PATIENCE: Duration = Duration::from_secs(20);

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    for argument in &arguments {
        if argument.ends_with('/') {
            for (name, problem) in problems() {
                fs::write(
                    Path::new(argument).join(name.replace(' ', "-") + ".wcnf"),
                    wcnf(&problem),
                )?;
            }
        } else {
            println!(
                "{argument:<32} {}",
                prove(&read(&fs::read_to_string(argument)?)?, &SolverSettings::default())
            );
        }
    }
    if arguments.is_empty() {
        solvers();
        techniques();
    }
    Ok(())
}

fn problems() -> Vec<(String, Encoded)> {
    let modular =
        |size| (format!("modular {size}"), encode::encode(&modular::Template::modular(size, 1)));
    let shared = |size| (format!("shared {size}"), families::shared(size, 1));
    let technologies = |size| (format!("technologies {size}"), families::technologies(size, 1));
    let alternatives = ("alternatives 1000".to_owned(), families::alternatives(1000));
    [64, 200, 500, 1000, 2000]
        .map(modular)
        .into_iter()
        .chain([100, 400, 1000].map(shared))
        .chain([1000, 4000].map(technologies))
        .chain([alternatives])
        .collect()
}

/// Prints a row for each problem, with a column for each solver.
fn solvers() {
    print!("{:<24} {:>8} {:>8}", "problem", "vars", "clauses");
    SolverKind::ALL.iter().for_each(|kind| print!(" {:>24}", format!("{kind:?}")));
    println!();
    for (name, problem) in problems() {
        print!("{name:<24} {:>8} {:>8}", problem.cnf.vars(), problem.cnf.len());
        for &kind in SolverKind::ALL {
            print!(" {:>24}", prove(&problem, &kind.into()));
        }
        println!();
    }
}

/// Prints a row for each technique, with a column for each problem: by which factor the time grows
/// if this technique is toggled.
fn techniques() {
    let problems: Vec<_> =
        problems().into_iter().filter(|(name, _)| COMPARED.contains(&name.as_str())).collect();
    print!("\n{:<24}", "times as long");
    problems.iter().for_each(|(name, _)| print!(" {name:>18}"));
    for technique in Technique::ALL {
        let techniques = SolverSettings::default().techniques.toggled(technique);
        let direction = if techniques.has(technique) { "with" } else { "without" };
        print!("\n{:<24}", format!("{direction} {technique:?}"));
        for (_, problem) in &problems {
            // The two settings run in turns, so that noise affects both.
            let (mut usual, mut other) = (Some(Duration::MAX), Some(Duration::MAX));
            for _ in 0..RUNS {
                usual = usual.min(run(problem, &SolverSettings::default()).1);
                other = other.min(
                    run(problem, &SolverSettings { techniques, ..SolverSettings::default() }).1,
                );
            }
            let ratio = other
                .zip(usual)
                .map(|(other, usual)| format!("{:.2}", other.as_secs_f64() / usual.as_secs_f64()));
            print!(" {:>18}", ratio.unwrap_or_else(|| format!("> {} s", PATIENCE.as_secs())));
        }
    }
    println!();
}

/// The result of a run in words.
fn prove(problem: &Encoded, settings: &SolverSettings) -> String {
    match run(problem, settings) {
        (result, None) => result,
        (result, Some(first)) => {
            let best =
                (1..RUNS).filter_map(|_| run(problem, settings).1).fold(first, Duration::min);
            format!("{result} in {:.1} ms", best.as_secs_f64() * 1e3)
        }
    }
}

/// The optimum or why there is none, and the time that a result took.
fn run(problem: &Encoded, settings: &SolverSettings) -> (String, Option<Duration>) {
    let Encoded { cnf, objective, preference } = problem;
    let settings = SolverSettings { limit: Limit::after(PATIENCE), ..settings.clone() };
    let start = Instant::now();
    match solve(
        &Problem { cnf, objectives: std::slice::from_ref(objective), preference },
        &settings,
        &mut (),
    ) {
        Ok(solution) => {
            let bounds = solution.bounds()[0];
            if solution.is_proven() {
                (bounds.upper.to_string(), Some(start.elapsed()))
            } else {
                (format!("{}..{} in {} s", bounds.lower, bounds.upper, PATIENCE.as_secs()), None)
            }
        }
        Err(Unsolved::Conflict(_)) => ("unsatisfiable".to_owned(), Some(start.elapsed())),
        Err(Unsolved::Interrupted) => (format!("nothing in {} s", PATIENCE.as_secs()), None),
    }
}

fn wcnf(problem: &Encoded) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    for clause in problem.cnf.clauses() {
        let literals: Vec<_> =
            clause.literals.iter().map(|literal| literal.to_dimacs().to_string()).collect();
        let _ = writeln!(text, "h {} 0", literals.join(" "));
    }
    for (literal, weight) in problem.objective.terms.iter().filter(|(_, weight)| *weight > 0) {
        let _ = writeln!(text, "{weight} {} 0", (!*literal).to_dimacs());
    }
    text
}

/// Reads a problem in the WCNF format of the MaxSAT evaluations since 2022.
fn read(text: &str) -> anyhow::Result<Encoded> {
    let (mut vars, mut clauses, mut soft) = (0, Vec::new(), Vec::new());
    for line in text.lines().filter(|line| !line.starts_with('c') && !line.trim().is_empty()) {
        let (head, rest) = line.split_once(' ').unwrap_or((line, ""));
        let numbers =
            rest.split_whitespace().map(str::parse::<i32>).collect::<Result<Vec<_>, _>>()?;
        let literals: Vec<Lit> = numbers
            .iter()
            .take_while(|number| **number != 0)
            .map(|&number| literal(number))
            .collect();
        vars = literals.iter().map(|literal| literal.var().0 + 1).fold(vars, u32::max);
        if head == "h" {
            clauses.push(literals)
        } else {
            soft.push((literals, head.parse::<u64>()?))
        }
    }
    let mut terms = Vec::new();
    for (clause, weight) in soft {
        // The cost of a soft clause is a literal: the negation of its only literal, or else a new
        // variable that is true where the clause fails.
        let cost = if let [literal] = clause[..] { !literal } else { Var(vars).positive() };
        if clause.len() != 1 {
            vars += 1;
            clauses.push([clause, vec![cost]].concat());
        }
        terms.push((cost, weight));
    }
    Ok(Encoded {
        cnf: Cnf::of(vars as usize, clauses),
        objective: Objective { terms },
        preference: Vec::new(),
    })
}

fn literal(number: i32) -> Lit {
    Var(number.unsigned_abs() - 1).positive().negate_if(number < 0)
}
