//! Puts all solvers behind one interface.

use anyhow::{Result, bail, ensure};
use batsat::SolverInterface;
use rustsat::solvers::{SolveIncremental, SolverResult};
use rustsat::types::{Lit, TernaryVal, Var};
use splr::SolveIF;
use varisat::ExtendFormula;

/// A solver. Literals are those of DIMACS.
pub(crate) trait Sat {
    /// Adds a clause for good.
    fn add(&mut self, clause: &[i32]) -> Result<()>;

    /// Whether there is a model in which the assumptions hold.
    fn solve(&mut self, assumptions: &[i32]) -> Result<bool>;

    /// The model that was found last: a value for each of the first `vars` variables.
    fn model(&self, vars: usize) -> Result<Vec<bool>>;
}

/// All solvers. The others are compared with the first one.
pub(crate) const NAMES: &[&str] =
    &["batsat", "batsat, random", "varisat", "minisat", "glucose", "cadical", ONCE];
/// This one cannot be asked again and again, each time with other assumptions.
pub(crate) const ONCE: &str = "splr";

/// Starts a solver for a number of variables.
pub(crate) fn start(name: &str, vars: usize) -> Box<dyn Sat> {
    match name {
        "batsat" => Box::new(Batsat::new(vars, false)),
        "batsat, random" => Box::new(Batsat::new(vars, true)),
        "varisat" => Box::<Varisat>::default(),
        "minisat" => Box::<Rustsat<rustsat_minisat::core::Minisat>>::default(),
        "glucose" => Box::<Rustsat<rustsat_glucose::core::Glucose>>::default(),
        "cadical" => Box::<Rustsat<rustsat_cadical::CaDiCaL>>::default(),
        _ => Box::<Splr>::default(),
    }
}

/// The number of a literal's variable, from zero.
fn var(literal: i32) -> u32 {
    literal.unsigned_abs() - 1
}

struct Batsat(batsat::BasicSolver);

impl Batsat {
    /// With random signs, each decision gives a variable any value, instead of the one it had last.
    /// Then models differ more from each other.
    fn new(vars: usize, has_random_signs: bool) -> Self {
        let options = batsat::SolverOpts { rnd_pol: has_random_signs, ..Default::default() };
        let mut solver = batsat::BasicSolver::new(options, Default::default());
        (0..vars).for_each(|_| _ = solver.new_var_default());
        Self(solver)
    }

    fn literal(literal: i32) -> batsat::Lit {
        batsat::Lit::new(batsat::Var::unsafe_from_idx(var(literal)), literal > 0)
    }
}

impl Sat for Batsat {
    fn add(&mut self, clause: &[i32]) -> Result<()> {
        self.0.add_clause_reuse(&mut clause.iter().copied().map(Self::literal).collect());
        Ok(())
    }

    fn solve(&mut self, assumptions: &[i32]) -> Result<bool> {
        let assumptions: Vec<_> = assumptions.iter().copied().map(Self::literal).collect();
        Ok(self.0.solve_limited(&assumptions) == batsat::lbool::TRUE)
    }

    fn model(&self, vars: usize) -> Result<Vec<bool>> {
        let model = self.0.get_model();
        Ok(model[..vars].iter().map(|&value| value == batsat::lbool::TRUE).collect())
    }
}

#[derive(Default)]
struct Varisat(varisat::Solver<'static>);

impl Varisat {
    fn literals(literals: &[i32]) -> Vec<varisat::Lit> {
        literals
            .iter()
            .map(|&literal| varisat::Lit::from_index(var(literal) as usize, literal > 0))
            .collect()
    }
}

impl Sat for Varisat {
    fn add(&mut self, clause: &[i32]) -> Result<()> {
        self.0.add_clause(&Self::literals(clause));
        Ok(())
    }

    fn solve(&mut self, assumptions: &[i32]) -> Result<bool> {
        self.0.assume(&Self::literals(assumptions));
        Ok(self.0.solve()?)
    }

    fn model(&self, vars: usize) -> Result<Vec<bool>> {
        let mut model = vec![false; vars];
        for literal in self.0.model().unwrap_or_default() {
            if let Some(value) = model.get_mut(literal.index()) {
                *value = literal.is_positive();
            }
        }
        Ok(model)
    }
}

/// A solver in C or C++.
#[derive(Default)]
struct Rustsat<S>(S);

impl<S: SolveIncremental> Sat for Rustsat<S> {
    fn add(&mut self, clause: &[i32]) -> Result<()> {
        self.0.add_clause(literals(clause)?.as_slice().into())
    }

    fn solve(&mut self, assumptions: &[i32]) -> Result<bool> {
        let result = self.0.solve_assumps(&literals(assumptions)?)?;
        ensure!(result != SolverResult::Interrupted, "interrupted, though nobody did");
        Ok(result == SolverResult::Sat)
    }

    fn model(&self, vars: usize) -> Result<Vec<bool>> {
        let is_true = |var| Ok(self.0.var_val(Var::new(var))? == TernaryVal::True);
        (0..vars as u32).map(is_true).collect()
    }
}

fn literals(literals: &[i32]) -> Result<Vec<Lit>> {
    literals.iter().map(|&literal| Ok(Lit::from_ipasir(literal)?)).collect()
}

/// Takes all clauses at once, so they are kept until it is asked.
#[derive(Default)]
struct Splr {
    clauses: Vec<Vec<i32>>,
    model: Vec<bool>,
}

impl Sat for Splr {
    fn add(&mut self, clause: &[i32]) -> Result<()> {
        self.clauses.push(clause.to_vec());
        Ok(())
    }

    fn solve(&mut self, _assumptions: &[i32]) -> Result<bool> {
        let config = splr::Config { quiet_mode: true, ..splr::Config::default() };
        // A formula that loading decides already is an error whose content is the answer.
        let found = splr::Solver::try_from((config, self.clauses.as_slice()))
            .map_or_else(|decided| decided, |mut solver| solver.solve());
        match found {
            Ok(splr::Certificate::SAT(model)) => {
                self.model = model.iter().map(|&literal| literal > 0).collect();
                Ok(true)
            }
            Ok(splr::Certificate::UNSAT) | Err(splr::SolverError::EmptyClause) => Ok(false),
            Err(error) => bail!("splr: {error}"),
        }
    }

    fn model(&self, vars: usize) -> Result<Vec<bool>> {
        Ok(self.model.iter().copied().chain(std::iter::repeat(false)).take(vars).collect())
    }
}
