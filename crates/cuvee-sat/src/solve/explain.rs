//! Explains why no model exists: finds a minimal set of origins whose clauses conflict.
//!
//! Each origin has a selector, a literal that is assumed to make the clauses of the origin count.
//! The solver names the selectors that it needs. That is repeated as long as they become fewer.
//! Then each origin is left out for a trial. If the rest still conflicts, the origin is dropped for
//! good, together with all origins that the solver did not need this time. If not, the origin is
//! needed. Then the model of the rest, changed a little, shows that other origins are needed as
//! well, without asking the solver.
//!
//! # References
//!
//! - John W. Chinneck, Erik W. Dravnieks. "Locating Minimal Infeasible Constraint Sets in Linear
//!   Programs." ORSA Journal on Computing 1991: leaving out one constraint after the other.
//! - Nachum Dershowitz, Ziyad Hanna, Alexander Nadel. "A Scalable Algorithm for Minimal
//!   Unsatisfiable Core Extraction." SAT 2006: going on with the core of each trial.
//! - João Marques-Silva, Inês Lynce. "On Improving MUS Extraction Algorithms." SAT 2011: model
//!   rotation, here with several clauses for an origin.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::propagate::Propagation;
use super::solver::SatSolver;
use super::{Conflict, SolverSettings};
use crate::formula::{Cnf, Lit, OriginId, Var};

/// Finds a minimal conflict, given clauses that cannot be satisfied after propagation.
///
/// Starts from the origins of these clauses and of all clauses that made their literals false. The
/// solver names the origins that it needs, and then one after the other is left out.
///
/// If the limit is reached, the conflict is as small as was found out by then.
pub(super) fn explain(
    cnf: &Cnf,
    fixed: &Propagation,
    clauses: &[usize],
    settings: &SolverSettings,
) -> Conflict {
    let index = ClauseIndex::of(cnf);
    let cone = fixed.cone(cnf, clauses.iter().copied());
    let mut origins: Vec<_> =
        cone.into_iter().filter_map(|clause| cnf.clause(clause).origin).collect();
    origins.sort_unstable();
    origins.dedup();
    let mut question = ConflictSearch::new(&index, &origins, settings);
    let is_minimal = shrink(&mut origins, &mut question)
        .and_then(|()| minimize(&mut origins, &mut question))
        .is_some();
    Conflict { origins, is_minimal }
}

/// Replaces the origins by those that the solver needs, as long as they become fewer. `None` where
/// the limit was reached.
fn shrink(origins: &mut Vec<OriginId>, question: &mut ConflictSearch) -> Option<()> {
    while question.fails(origins)? {
        let core = question.core();
        let is_smaller = core.len() < origins.len();
        *origins = core;
        if !is_smaller {
            break;
        }
    }
    Some(())
}

/// Leaves out all origins that are not needed. `None` where the limit was reached.
fn minimize(origins: &mut Vec<OriginId>, question: &mut ConflictSearch) -> Option<()> {
    let mut needed = FxHashSet::default();
    let mut next = 0;
    while let Some(&origin) = origins.get(next) {
        if needed.contains(&origin) {
            next += 1;
            continue;
        }
        let mut rest = origins.clone();
        rest.remove(next);
        if question.fails(&rest)? {
            // The origins before this one are needed, so they are in this core too.
            *origins = question.core();
        } else {
            question.rotate(origin, origins, &mut needed);
        }
    }
    Some(())
}

/// Finds clauses by their origin, and by the variable that they define.
struct ClauseIndex<'c> {
    cnf: &'c Cnf,
    by_origin: Vec<(OriginId, usize)>,
    by_definition: Vec<(Var, usize)>,
}

impl<'c> ClauseIndex<'c> {
    fn of(cnf: &'c Cnf) -> Self {
        let (mut by_origin, mut by_definition) = (Vec::new(), Vec::new());
        for (index, clause) in cnf.clauses().enumerate() {
            match (clause.origin, clause.literals.last()) {
                (Some(origin), _) => by_origin.push((origin, index)),
                (None, Some(last)) => by_definition.push((last.var(), index)),
                (None, None) => {}
            }
        }
        by_origin.sort_unstable();
        by_definition.sort_unstable();
        Self { cnf, by_origin, by_definition }
    }
}

/// The clauses of a key in a sorted list.
fn find<K: Ord + Copy>(list: &[(K, usize)], key: K) -> impl Iterator<Item = usize> {
    let start = list.partition_point(|&(other, _)| other < key);
    list[start..].iter().take_while(move |&&(other, _)| other == key).map(|&(_, clause)| clause)
}

/// The clauses of some origins with the definitions that they use. Each origin has a selector.
struct ConflictSearch {
    solver: Box<dyn SatSolver>,
    selectors: FxHashMap<OriginId, Lit>,
    origins: FxHashMap<Lit, OriginId>,
    vars: FxHashMap<Var, Var>,
    /// The clauses without selectors, each with its origin.
    clauses: Vec<(Vec<Lit>, Option<OriginId>)>,
    /// The range of the clauses of each origin.
    groups: FxHashMap<OriginId, Range<usize>>,
    /// The clauses that contain each literal.
    occurrences: FxHashMap<Lit, Vec<usize>>,
}

impl ConflictSearch {
    fn new(index: &ClauseIndex<'_>, origins: &[OriginId], settings: &SolverSettings) -> Self {
        let mut question = Self {
            solver: settings.solver.start_within(&settings.limit),
            selectors: FxHashMap::default(),
            origins: FxHashMap::default(),
            vars: FxHashMap::default(),
            clauses: Vec::new(),
            groups: FxHashMap::default(),
            occurrences: FxHashMap::default(),
        };
        let mut used = Vec::new();
        for &origin in origins {
            let selector = question.solver.new_var().positive();
            question.selectors.insert(origin, selector);
            question.origins.insert(selector, origin);
            let start = question.clauses.len();
            for clause in find(&index.by_origin, origin) {
                question.add(index.cnf.clause(clause).literals, Some(origin), &mut used);
            }
            question.groups.insert(origin, start..question.clauses.len());
        }
        while let Some(var) = used.pop() {
            for clause in find(&index.by_definition, var) {
                question.add(index.cnf.clause(clause).literals, None, &mut used);
            }
        }
        question
    }

    /// Adds a clause, and adds to `used` the variables that no clause mentioned before.
    fn add(&mut self, literals: &[Lit], origin: Option<OriginId>, used: &mut Vec<Var>) {
        let Self { solver, vars, selectors, clauses, occurrences, .. } = self;
        let mut clause = Vec::with_capacity(literals.len() + 1);
        for literal in literals {
            let var = vars.entry(literal.var()).or_insert_with(|| {
                used.push(literal.var());
                solver.new_var()
            });
            let literal = var.positive().negate_if(literal.is_negative());
            occurrences.entry(literal).or_default().push(clauses.len());
            clause.push(literal);
        }
        clauses.push((clause.clone(), origin));
        clause.extend(origin.and_then(|origin| selectors.get(&origin)).map(|&selector| !selector));
        solver.add_clause(&clause);
    }

    /// Whether the clauses of these origins conflict. `None` where the limit was reached.
    fn fails(&mut self, origins: &[OriginId]) -> Option<bool> {
        let selectors: Vec<_> =
            origins.iter().filter_map(|origin| self.selectors.get(origin).copied()).collect();
        self.solver.search(&selectors).map(|satisfiable| !satisfiable)
    }

    /// The origins that the last conflict needs, in order.
    fn core(&self) -> Vec<OriginId> {
        let mut core: Vec<_> = self
            .solver
            .core()
            .iter()
            .filter_map(|selector| self.origins.get(selector).copied())
            .collect();
        core.sort_unstable();
        core
    }

    /// Records that an origin is needed, and other origins that the model shows to be needed. The
    /// solver must just have found a model of all origins but this one.
    ///
    /// If the model violates a single clause of the origin, flipping one variable repairs it. If
    /// that violates only clauses of one other origin, all origins but that one are fulfilled, so
    /// that one is needed as well.
    fn rotate(&self, origin: OriginId, origins: &[OriginId], needed: &mut FxHashSet<OriginId>) {
        let vars = self.selectors.len() + self.vars.len();
        let mut model: Vec<bool> =
            (0..vars as u32).map(|var| self.solver.is_true(Var(var).positive())).collect();
        let mut current = Some(origin);
        while let Some(origin) = current {
            needed.insert(origin);
            let group = self.groups.get(&origin).cloned().unwrap_or_default();
            let mut violated = group.filter(|&clause| self.is_violated(clause, &model));
            let (Some(clause), None) = (violated.next(), violated.next()) else { return };
            current = self.clauses[clause].0.iter().find_map(|literal| {
                model[literal.var().index()] ^= true;
                let next = self
                    .only_violated(!*literal, &model, origins)
                    .filter(|next| *next != origin && !needed.contains(next));
                if next.is_none() {
                    model[literal.var().index()] ^= true;
                }
                next
            });
        }
    }

    /// Of the clauses that contain `literal` and that the model violates, returns the origin if it
    /// is one of the given origins and the same for all.
    fn only_violated(
        &self,
        literal: Lit,
        model: &[bool],
        origins: &[OriginId],
    ) -> Option<OriginId> {
        let is_asked = |origin: &Option<OriginId>| {
            origin.is_none_or(|origin| origins.binary_search(&origin).is_ok())
        };
        let clauses = self.occurrences.get(&literal).into_iter().flatten();
        let mut violated = clauses
            .map(|&clause| (clause, self.clauses[clause].1))
            .filter(|(clause, origin)| is_asked(origin) && self.is_violated(*clause, model))
            .map(|(_, origin)| origin);
        let first = violated.next()?;
        if violated.all(|origin| origin == first) { first } else { None }
    }

    fn is_violated(&self, clause: usize, model: &[bool]) -> bool {
        self.clauses[clause]
            .0
            .iter()
            .all(|literal| model[literal.var().index()] == literal.is_negative())
    }
}
