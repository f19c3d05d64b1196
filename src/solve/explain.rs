//! Why nothing satisfies the clauses: a minimal set of origins whose clauses conflict.

use rustc_hash::FxHashMap;

use super::propagate::Propagation;
use super::solver::SatSolver;
use super::{Conflict, SolverKind};
use crate::formula::{Cnf, Lit, OriginId, Var};

/// A minimal conflict, given clauses of which propagation left nothing, or something unsatisfiable.
///
/// Starts from the origins of these clauses and of all that made their literals false, lets the solver name those it needs, and then leaves out one
/// after the other.
pub(super) fn explain(cnf: &Cnf, fixed: &Propagation, clauses: &[usize], kind: SolverKind) -> Conflict {
    let index = Index::of(cnf);
    let cone = fixed.cone(cnf, clauses.iter().copied());
    let mut origins: Vec<_> = cone.into_iter().filter_map(|clause| cnf.clause(clause).origin).collect();
    origins.sort_unstable();
    origins.dedup();
    let mut question = Question::new(&index, &origins, kind);
    while question.fails(&origins) {
        let core = question.core();
        let is_smaller = core.len() < origins.len();
        origins = core;
        if !is_smaller {
            break;
        }
        question = Question::new(&index, &origins, kind);
    }
    Conflict { origins: minimize(origins, &mut question) }
}

/// Leaves out whatever is not needed.
fn minimize(mut origins: Vec<OriginId>, question: &mut Question) -> Vec<OriginId> {
    let mut needed = 0;
    while needed < origins.len() {
        let mut rest = origins.clone();
        rest.remove(needed);
        if question.fails(&rest) {
            // The origins before the position are needed, so they are in this core too; both are in order.
            origins = question.core();
        } else {
            needed += 1;
        }
    }
    origins
}

/// Finds clauses by origin and by the variable that they define.
struct Index<'c> {
    cnf: &'c Cnf,
    by_origin: Vec<(OriginId, usize)>,
    by_definition: Vec<(Var, usize)>,
}

impl<'c> Index<'c> {
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

/// The clauses of one key in a sorted list.
fn find<K: Ord + Copy>(list: &[(K, usize)], key: K) -> impl Iterator<Item = usize> {
    let start = list.partition_point(|&(other, _)| other < key);
    list[start..].iter().take_while(move |&&(other, _)| other == key).map(|&(_, clause)| clause)
}

/// The clauses of some origins, each origin behind a selector, and the definitions that they use.
struct Question {
    solver: Box<dyn SatSolver>,
    selectors: FxHashMap<OriginId, Lit>,
    origins: FxHashMap<Lit, OriginId>,
    vars: FxHashMap<Var, Var>,
}

impl Question {
    fn new(index: &Index<'_>, origins: &[OriginId], kind: SolverKind) -> Self {
        let solver = kind.start();
        let mut question =
            Self { solver, selectors: FxHashMap::default(), origins: FxHashMap::default(), vars: FxHashMap::default() };
        let mut used = Vec::new();
        for &origin in origins {
            let selector = question.solver.new_var().positive();
            question.selectors.insert(origin, selector);
            question.origins.insert(selector, origin);
            for clause in find(&index.by_origin, origin) {
                question.add(index.cnf.clause(clause).literals, Some(!selector), &mut used);
            }
        }
        while let Some(var) = used.pop() {
            for clause in find(&index.by_definition, var) {
                question.add(index.cnf.clause(clause).literals, None, &mut used);
            }
        }
        question
    }

    /// Adds a clause, and notes the variables that it is the first to use.
    fn add(&mut self, literals: &[Lit], selector: Option<Lit>, used: &mut Vec<Var>) {
        let Self { solver, vars, .. } = self;
        let inner = literals.iter().map(|literal| {
            let var = vars.entry(literal.var()).or_insert_with(|| {
                used.push(literal.var());
                solver.new_var()
            });
            var.positive().negate_if(literal.is_negative())
        });
        let clause: Vec<_> = inner.chain(selector).collect();
        self.solver.add_clause(&clause);
    }

    /// Whether the clauses of these origins conflict.
    fn fails(&mut self, origins: &[OriginId]) -> bool {
        let selectors: Vec<_> = origins.iter().filter_map(|origin| self.selectors.get(origin).copied()).collect();
        !self.solver.solve(&selectors)
    }

    /// The origins that the last conflict needs, in order.
    fn core(&self) -> Vec<OriginId> {
        let mut core: Vec<_> = self.solver.core().iter().filter_map(|selector| self.origins.get(selector).copied()).collect();
        core.sort_unstable();
        core
    }
}
