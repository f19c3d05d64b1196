//! Measures how fast SAT solvers answer what exploring asks: `cargo run --release -- FILE.cnf...`.
//!
//! Prints a table for each file. Ends with an error where two solvers do not agree.

mod formula;
mod questions;
mod sat;

use anyhow::{Context, Result, bail, ensure};
use formula::Formula;
use questions::{Asked, PATIENCE, best, together, vain};
use sat::{NAMES, ONCE};
use std::env;
use std::io::Write;
use std::path::PathBuf;

/// The forms of questions, as the columns of the table.
const FORMS: [&str; 4] = ["one model", "backbone", "pairs", "in vain"];
/// How many pairs of literals, and at most how many clauses, are asked about.
const PAIRS: usize = 20_000;
const CLAUSES: usize = 200;

fn main() -> Result<()> {
    let files: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    ensure!(!files.is_empty(), "no file is named: `solvers FILE.cnf...`");
    for file in files {
        let formula = Formula::read(&file)?;
        let (name, vars) = (file.file_stem().unwrap_or_default().display(), formula.vars);
        println!("\n{name}: {vars} variables, {} clauses\n", formula.clauses.len());
        table(&formula).with_context(|| file.display().to_string())?;
    }
    Ok(())
}

/// Prints a row for each solver, each figure as soon as it is there.
fn table(formula: &Formula) -> Result<()> {
    println!("| solver | {} |\n|---{}|", FORMS.join(" | "), "|---".repeat(FORMS.len()));
    let mut expected = Expected::default();
    for name in NAMES {
        print!("| {name} |");
        row(name, formula, &mut expected)?;
        println!();
    }
    println!("\n{}", expected.summary());
    Ok(())
}

fn row(name: &str, formula: &Formula, expected: &mut Expected) -> Result<()> {
    for form in 0..FORMS.len() {
        if form > 0 && name == ONCE {
            print!(" – |");
            continue;
        }
        let asked = ask(form, name, formula, &expected.0[1])?;
        if asked.time > PATIENCE {
            print!(" > {} s |", PATIENCE.as_secs());
        } else {
            print!(" {:.1} ms, {} × |", asked.time.as_secs_f64() * 1e3, asked.searches);
        }
        std::io::stdout().flush()?;
        expected.accept(form, name, asked.answers)?;
    }
    Ok(())
}

/// Asks all questions of one form. Pairs are of literals that are known to be possible.
fn ask(form: usize, name: &str, formula: &Formula, possible: &[bool]) -> Result<Asked> {
    let sets = match form {
        0 => vec![Vec::new()],
        1 => formula.literals().map(|literal| vec![literal]).collect(),
        2 => sample_pairs(formula, possible),
        _ => {
            let clauses = sample_clauses(formula);
            return best(|| vain(name, formula, &clauses));
        }
    };
    best(|| together(name, formula, &sets))
}

/// The answers to the questions of each form, by the solver that gave most of them so far.
#[derive(Default)]
struct Expected([Vec<bool>; FORMS.len()]);

impl Expected {
    /// Compares answers with those of the solvers before, as far as both came.
    fn accept(&mut self, form: usize, name: &str, answers: Vec<bool>) -> Result<()> {
        let known = &mut self.0[form];
        if let Some(at) = known.iter().zip(&answers).position(|(left, right)| left != right) {
            bail!("{name} answers otherwise: {}, question {at}", FORMS[form]);
        }
        if answers.len() > known.len() {
            *known = answers;
        }
        Ok(())
    }

    /// How many answers are yes, and a checksum of all (FNV-1a) to compare runs.
    fn summary(&self) -> String {
        let sum = self.0.iter().flatten().fold(0xcbf2_9ce4_8422_2325, |sum: u64, &answer| {
            (sum ^ u64::from(answer)).wrapping_mul(0x0100_0000_01b3)
        });
        let yes = |answers: &Vec<bool>| answers.iter().filter(|&&answer| answer).count();
        let counts = FORMS.iter().zip(&self.0);
        let counts = counts.map(|(form, all)| format!("{form} {} of {}", yes(all), all.len()));
        format!("Yes: {}. Checksum {sum:016x}.", counts.collect::<Vec<_>>().join(", "))
    }
}

/// Pairs of literals that are the same in every run, by xorshift.
fn sample_pairs(formula: &Formula, possible: &[bool]) -> Vec<Vec<i32>> {
    let possible = formula.literals().zip(possible).filter(|(_, possible)| **possible);
    let possible: Vec<i32> = possible.map(|(literal, _)| literal).collect();
    let mut state = 1_u64;
    let mut literal = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        possible[(state % possible.len() as u64) as usize]
    };
    let count = if possible.is_empty() { 0 } else { PAIRS };
    (0..count).map(|_| vec![literal(), literal()]).collect()
}

/// The numbers of clauses, spread evenly.
fn sample_clauses(formula: &Formula) -> Vec<usize> {
    let all = formula.clauses.len();
    let count = CLAUSES.min(all);
    (0..count).map(|at| at * all / count).collect()
}
