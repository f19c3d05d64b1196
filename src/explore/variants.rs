//! Lists variants: distinct topologies, each with one assignment of inputs that gives it.

use super::space::{Projection, Space, literal};
use super::Answer;
use crate::diagnostic::Diagnostics;
use crate::formula::{Atom, Cnf, Lit};
use crate::graph::ElementId;
use crate::inputs::Openness;
use crate::solve::{self, Objective, Problem, SatSolver};
use crate::value::Value;
use crate::{Failure, Resolver};
use serde::Serialize;

/// Which variants are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// What makes a variant.
    pub projection: Projection,
    /// At most so many.
    pub limit: usize,
    /// Only the best by this.
    pub goal: Option<Goal>,
}

impl Default for Query {
    fn default() -> Self {
        Self { projection: Projection::default(), limit: 100, goal: None }
    }
}

/// What to minimise over all inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// The weight of all present nodes.
    Weight,
    /// The number of present nodes.
    Count,
    /// The number of different technologies.
    Technologies,
}

/// The value of an open input in a variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assigned {
    /// The name of the input.
    pub name: String,
    /// A value with which it gives the variant; nothing where it has no known value and needs none.
    pub value: Option<Value>,
    /// All values that do, for people.
    pub case: String,
    /// Whether it has a value of that case anyway when nothing assigns it.
    pub default: bool,
}

/// A variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Variant {
    /// The identifiers of its elements, in the order of the template.
    pub present: Vec<String>,
    /// An assignment of the open inputs that gives it.
    pub inputs: Vec<Assigned>,
}

/// Variants that were found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found {
    /// The variants.
    pub variants: Vec<Variant>,
    /// Whether there are more.
    pub more: bool,
    /// What the best costs, where something is minimised.
    pub cost: Option<String>,
}

impl Resolver {
    /// Lists variants.
    ///
    /// # Errors
    /// What is wrong with the template whatever the inputs; `open-input` where an input cannot stay open; `unsatisfiable` where there is no variant.
    pub fn variants(&self, query: &Query) -> Result<Answer<Found>, Failure> {
        self.explore(Openness::Open, true, |space, _, _| space.variants(query))
    }
}

impl Space<'_, '_> {
    pub(super) fn variants(&mut self, query: &Query) -> Result<Found, Diagnostics> {
        let elements = query.projection.elements(self.graph());
        if let Some(goal) = query.goal {
            return self.best(goal, &elements);
        }
        let mut solver = self.valid_solver();
        let mut variants = Vec::new();
        while solver.solve(&[]) {
            if variants.len() == query.limit {
                return Ok(Found { variants, more: true, cost: None });
            }
            variants.push(self.variant(&elements, &|literal| solver.is_true(literal)));
            exclude(&elements, &mut *solver);
        }
        if variants.is_empty() { Err(self.void().into()) } else { Ok(Found { variants, more: false, cost: None }) }
    }

    /// The best variant.
    fn best(&self, goal: Goal, elements: &[ElementId]) -> Result<Found, Diagnostics> {
        let objective = match goal {
            Goal::Weight => self.weight.clone(),
            Goal::Count => Objective { terms: self.graph().nodes.iter().map(|node| (literal(node.id), 1)).collect() },
            Goal::Technologies => self.technologies.clone(),
        };
        let cnf = Cnf::of(self.settled.vars, self.valid_clauses());
        let preference: Vec<Atom> = elements.iter().map(|&id| id.into()).collect();
        let problem = Problem { cnf: &cnf, objectives: std::slice::from_ref(&objective), preference: &preference };
        let Ok(mut solution) = solve::solve(&problem, self.prepared.solver, &mut ()) else { return Err(self.void().into()) };
        let cost = solution.costs().first().copied().unwrap_or_default();
        let cost = if goal == Goal::Weight { self.weighed(cost) } else { cost.to_string() };
        let variant = self.variant(elements, &|literal| solution.is_true(Atom(literal.var().0)) != literal.is_negative());
        Ok(Found { variants: vec![variant], more: solution.another(&preference).is_some(), cost: Some(cost) })
    }

    /// A sum of weights as it is written; sums are in units of the smallest digit that any weight has.
    fn weighed(&self, cost: u64) -> String {
        let scale = self.graph().nodes.iter().map(|node| node.template.weight.scale()).max().unwrap_or_default() as usize;
        let digits = format!("{cost:0>width$}", width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        let fraction = fraction.trim_end_matches('0');
        if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
    }

    /// The variant of a model.
    pub(super) fn variant(&self, elements: &[ElementId], is_true: &dyn Fn(Lit) -> bool) -> Variant {
        let present = elements.iter().filter(|&&id| is_true(literal(id)));
        Variant {
            present: present.map(|&id| self.graph().identifier(id).to_string()).collect(),
            inputs: self.assigned(is_true),
        }
    }

    /// The assignment of a model.
    pub(super) fn assigned(&self, is_true: &dyn Fn(Lit) -> bool) -> Vec<Assigned> {
        let assigned = self.open.iter().zip(self.chosen(is_true)).enumerate().filter_map(|(index, (open, case))| {
            let declaration = self.declaration(open.input)?;
            let found = open.cases.get(case)?;
            Some(Assigned {
                name: declaration.name.to_owned(),
                value: found.value.clone(),
                case: found.label.clone(),
                default: self.is_default(index, case, is_true),
            })
        });
        assigned.collect()
    }
}

/// Admits only models in which another set of these elements is present than in the one found last.
pub(super) fn exclude(elements: &[ElementId], solver: &mut dyn SatSolver) {
    let other: Vec<Lit> = elements.iter().map(|&id| literal(id).negate_if(solver.is_true(literal(id)))).collect();
    solver.add_clause(&other);
}
