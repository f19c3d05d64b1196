//! Asks one solver questions of the forms that exploring asks, and takes the time.

use crate::formula::{Formula, is_true};
use crate::sat::{Sat, start};
use anyhow::{Result, ensure};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Questions of one form are given up when they took longer than this.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
/// What takes less than this is measured three times, and the best counts.
const SHORT: Duration = Duration::from_secs(2);
/// How many models are kept to answer questions about more than one literal: the bits of a word.
const MODELS: usize = u64::BITS as usize;

/// What a solver answered, what that took, and how many of the questions it was really asked.
pub(crate) struct Asked {
    pub(crate) answers: Vec<bool>,
    pub(crate) time: Duration,
    pub(crate) searches: usize,
}

/// Asks three times where that is quick. Returns the quickest.
pub(crate) fn best(ask: impl Fn() -> Result<Asked>) -> Result<Asked> {
    let mut best = ask()?;
    for _ in 0..2 {
        if best.time < SHORT {
            let again = ask()?;
            best = if again.time < best.time { again } else { best };
        }
    }
    Ok(best)
}

/// What this process took of the processor, in which its neighbours do not count.
fn now() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
}

/// Answers one question after the other, as long as there is time. Loading the clauses counts.
fn ask<Q, S>(
    questions: &[Q],
    load: impl FnOnce() -> Result<S>,
    mut answer: impl FnMut(&mut S, usize, &Q) -> Result<bool>,
) -> Result<(S, Asked)> {
    let begin = now();
    let mut solver = load()?;
    let mut answers = Vec::with_capacity(questions.len());
    for (at, question) in questions.iter().enumerate() {
        if now() - begin > PATIENCE {
            break;
        }
        answers.push(answer(&mut solver, at, question)?);
    }
    Ok((solver, Asked { searches: answers.len(), answers, time: now() - begin }))
}

/// For each set of literals, whether they are true together in some model.
pub(crate) fn together(name: &str, formula: &Formula, sets: &[Vec<i32>]) -> Result<Asked> {
    let load = || {
        let mut solver = start(name, formula.vars);
        formula.clauses.iter().try_for_each(|clause| solver.add(clause))?;
        Ok(Showing { solver, shown: vec![0; 2 * formula.vars], kept: 0, first: None, searches: 0 })
    };
    let (showing, asked) = ask(sets, load, |showing, _, set| showing.ask(formula, set))?;
    let is_right = showing.first.is_none_or(|model| formula.accepts(&model));
    ensure!(is_right, "{name} gave a model that violates a clause");
    Ok(Asked { searches: showing.searches, ..asked })
}

/// A solver that is not asked for what its models show already.
struct Showing {
    solver: Box<dyn Sat>,
    /// For each literal a word, in which there is a bit for each model that is kept.
    shown: Vec<u64>,
    kept: usize,
    /// The first model, to be verified when the time has been taken.
    first: Option<Vec<bool>>,
    searches: usize,
}

impl Showing {
    fn ask(&mut self, formula: &Formula, set: &[i32]) -> Result<bool> {
        let shown = set.iter().fold(u64::MAX, |bits, &literal| bits & self.shown[place(literal)]);
        if self.kept > 0 && shown != 0 {
            return Ok(true);
        }
        self.searches += 1;
        let is_possible = self.solver.solve(set)?;
        // Where literals are alone, it does not matter in which model, so there is room for all.
        let bit = if set.len() < 2 { 0 } else { self.kept };
        if is_possible && bit < MODELS {
            let model = self.solver.model(formula.vars)?;
            for literal in formula.literals().filter(|&literal| is_true(&model, literal)) {
                self.shown[place(literal)] |= 1 << bit;
            }
            self.kept += 1;
            self.first.get_or_insert(model);
        }
        Ok(is_possible)
    }
}

/// Where a literal stands among all.
fn place(literal: i32) -> usize {
    2 * (literal.unsigned_abs() as usize - 1) + usize::from(literal < 0)
}

/// For each clause of a sample, which has the numbers of clauses, whether it follows from all other
/// clauses. Each has a variable that switches it on.
pub(crate) fn vain(name: &str, formula: &Formula, sample: &[usize]) -> Result<Asked> {
    let switch = |at: usize| (formula.vars + at + 1) as i32;
    let load = || {
        let mut solver = start(name, formula.vars + sample.len());
        for (index, clause) in formula.clauses.iter().enumerate() {
            match sample.binary_search(&index) {
                Ok(at) => solver.add(&[clause.as_slice(), &[-switch(at)]].concat())?,
                Err(_) => solver.add(clause)?,
            }
        }
        Ok(solver)
    };
    let asked = ask(sample, load, |solver, at, &index| {
        let others = (0..sample.len()).map(|i| if i == at { -switch(i) } else { switch(i) });
        let violated = formula.clauses[index].iter().map(|&literal| -literal);
        Ok(!solver.solve(&others.chain(violated).collect::<Vec<_>>())?)
    });
    Ok(asked?.1)
}
