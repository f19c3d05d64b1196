//! Formulas as in DIMACS CNF: a literal is the number of a variable, from 1 on, and negative where
//! the variable is negated.

use anyhow::{Context, Result};
use std::fs::File;
use std::path::Path;
use varisat::dimacs::DimacsParser;

pub(crate) struct Formula {
    pub(crate) vars: usize,
    pub(crate) clauses: Vec<Vec<i32>>,
}

impl Formula {
    /// Reads a file. The parser names the line of an error.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let file = File::open(path).with_context(|| path.display().to_string())?;
        let read = DimacsParser::parse(file)
            .map_err(|error| anyhow::anyhow!("{error}"))
            .with_context(|| path.display().to_string())?;
        let clause = |clause: &[varisat::Lit]| {
            clause.iter().map(|literal| literal.to_dimacs() as i32).collect()
        };
        Ok(Self { vars: read.var_count(), clauses: read.iter().map(clause).collect() })
    }

    pub(crate) fn literals(&self) -> impl Iterator<Item = i32> {
        (1..=self.vars as i32).flat_map(|var| [var, -var])
    }

    /// Whether a model satisfies all clauses.
    pub(crate) fn accepts(&self, model: &[bool]) -> bool {
        self.clauses.iter().all(|clause| clause.iter().any(|&literal| is_true(model, literal)))
    }
}

/// Whether a literal is true in a model, which has a value for each variable.
pub(crate) fn is_true(model: &[bool], literal: i32) -> bool {
    model[literal.unsigned_abs() as usize - 1] == (literal > 0)
}
