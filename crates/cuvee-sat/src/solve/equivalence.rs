//! Finds variables that are equal, or opposite, in every model. Conditions that go both ways make
//! many of them, and the solver needs only one of each set.
//!
//! A clause of two literals is two implications. Literals that imply each other in a circle are a
//! strongly connected component of the graph of implications.
//!
//! # References
//!
//! - Bengt Aspvall, Michael F. Plass, Robert E. Tarjan. "A Linear-Time Algorithm for Testing the
//!   Truth of Certain Quantified Boolean Formulas." Information Processing Letters 1979: the graph
//!   of implications.
//! - Micha Sharir. "A Strong-Connectivity Algorithm and its Applications in Data Flow Analysis."
//!   Computers & Mathematics with Applications 1981: the components of a graph, as `petgraph` finds
//!   them.

use super::propagate::Propagation;
use crate::formula::{Cnf, Lit, Var};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// For each variable, the literal that represents it.
pub(super) struct Equivalences {
    same: Vec<Lit>,
}

impl Equivalences {
    /// Finds the literals that imply each other through clauses of two literals. If `searches` is
    /// false, each literal represents itself.
    pub(super) fn new(cnf: &Cnf, fixed: &Propagation, searches: bool) -> Self {
        let mut found =
            Self { same: (0..cnf.vars() as u32).map(|var| Var(var).positive()).collect() };
        let implications = if searches { implications(cnf, fixed) } else { Vec::new() };
        if implications.is_empty() {
            return found;
        }
        let mut graph = DiGraph::<(), (), u32>::with_capacity(2 * cnf.vars(), implications.len());
        (0..2 * cnf.vars()).for_each(|_| {
            graph.add_node(());
        });
        graph.extend_with_edges(implications.iter().map(|&(from, to)| (from.0, to.0)));
        let components = kosaraju_scc(&graph);
        for component in components.iter().filter(|component| component.len() > 1) {
            found.join(component);
        }
        found
    }

    /// Makes the literals of a component equal. For each component there is another with all
    /// literals negated, which says the same.
    fn join(&mut self, component: &[NodeIndex<u32>]) {
        let literals = || component.iter().map(|node| Lit(node.index() as u32));
        let Some(least) = literals().min() else { return };
        // A literal that is equal to its negation means that there is no model. The solver will
        // find that out.
        if literals().any(|literal| literal == !least) {
            return;
        }
        for literal in literals() {
            self.same[literal.var().index()] = least.negate_if(literal.is_negative());
        }
    }

    /// The literal that represents a literal.
    pub(super) fn of(&self, literal: Lit) -> Lit {
        self.of_var(literal.var()).negate_if(literal.is_negative())
    }

    /// The literal that represents a variable: it belongs to the first variable among equal ones.
    pub(super) fn of_var(&self, var: Var) -> Lit {
        self.same[var.index()]
    }
}

/// The implications of the clauses of two literals, in both directions.
fn implications(cnf: &Cnf, fixed: &Propagation) -> Vec<(Lit, Lit)> {
    let mut found = Vec::new();
    for clause in cnf.clauses() {
        let Some(mut literals) = fixed.residue(clause.literals) else { continue };
        if let (Some(one), Some(other), None) = (literals.next(), literals.next(), literals.next())
        {
            found.extend([(!one, other), (!other, one)]);
        }
    }
    found
}
