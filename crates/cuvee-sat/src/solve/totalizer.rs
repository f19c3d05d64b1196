//! Counts true literals by a tree of unary sums, which grows only as far as it is asked.
//!
//! The output `at_least(k)` is implied where `k` of the literals are true. The other direction is
//! left out, because no caller needs a count to be large.
//!
//! # References
//!
//! - Olivier Bailleux, Yacine Boufkhad. "Efficient CNF Encoding of Boolean Cardinality
//!   Constraints." CP 2003: the tree.
//! - Ruben Martins, Saurabh Joshi, Vasco Manquinho, Inês Lynce. "Incremental Cardinality
//!   Constraints for MaxSAT." CP 2014: sums that grow.

use super::solver::SatSolver;
use crate::formula::{Lit, Var};

/// A receiver for the clauses of a sum: a solver, or a set of clauses.
pub(super) trait ClauseSink {
    /// Adds a variable that no clause mentions yet.
    fn fresh(&mut self) -> Var;

    /// Adds a clause. Its last literal is the one that it defines.
    fn define(&mut self, clause: &[Lit]);
}

impl<S: SatSolver + ?Sized> ClauseSink for S {
    fn fresh(&mut self) -> Var {
        self.new_var()
    }

    fn define(&mut self, clause: &[Lit]) {
        self.add_clause(clause);
    }
}

/// A sum of literals, as a tree.
pub(super) struct Totalizer {
    /// The nodes, each after its children. The root is the last.
    nodes: Vec<TotalizerNode>,
}

struct TotalizerNode {
    /// How many literals the node counts.
    size: usize,
    children: Option<(usize, usize)>,
    /// The literals "at least `k` of them are true", at the positions `k - 1`.
    outputs: Vec<Lit>,
}

impl Totalizer {
    /// Creates the sum of one or more literals.
    pub(super) fn new(literals: &[Lit]) -> Self {
        let mut nodes: Vec<_> = literals
            .iter()
            .map(|&literal| TotalizerNode { size: 1, children: None, outputs: vec![literal] })
            .collect();
        // Two nodes without a parent are joined, again and again. Taking always the first two keeps
        // the tree balanced.
        let mut left = 0;
        while left + 1 < nodes.len() {
            let size = nodes[left].size + nodes[left + 1].size;
            nodes.push(TotalizerNode {
                size,
                children: Some((left, left + 1)),
                outputs: Vec::new(),
            });
            left += 2;
        }
        Self { nodes }
    }

    /// Returns a literal that is true where at least `count` of the literals are. The count must be
    /// from one to the number of literals.
    pub(super) fn at_least<S: ClauseSink + ?Sized>(
        &mut self,
        count: usize,
        sink: &mut S,
    ) -> Option<Lit> {
        let root = self.nodes.len().checked_sub(1)?;
        self.extend(root, count, sink);
        self.nodes[root].outputs.get(count.checked_sub(1)?).copied()
    }

    /// Lets a node count up to `most`. The recursion is only as deep as the logarithm of the size.
    fn extend<S: ClauseSink + ?Sized>(&mut self, node: usize, most: usize, sink: &mut S) {
        let counted = self.nodes[node].outputs.len();
        let most = most.min(self.nodes[node].size);
        let Some((left, right)) = self.nodes[node].children else { return };
        if counted >= most {
            return;
        }
        self.extend(left, most, sink);
        self.extend(right, most, sink);
        for count in counted + 1..=most {
            let output = sink.fresh().positive();
            self.nodes[node].outputs.push(output);
            let (a, b) = (&self.nodes[left].outputs, &self.nodes[right].outputs);
            for from_left in count.saturating_sub(b.len())..=count.min(a.len()) {
                let from_right = count - from_left;
                let parts = [
                    from_left.checked_sub(1).map(|k| !a[k]),
                    from_right.checked_sub(1).map(|k| !b[k]),
                ];
                sink.define(&parts.into_iter().flatten().chain([output]).collect::<Vec<_>>());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::KINDS;
    use super::*;

    /// Checks all sizes up to six, all assignments and all orders of growing. An output can be
    /// false exactly where fewer literals are true.
    #[test]
    fn counts() {
        for &kind in KINDS {
            for size in 1..=6 {
                for first in 1..=size {
                    let mut solver = kind.start();
                    let literals: Vec<_> = (0..size)
                        .map(|position| solver.new_var().positive().negate_if(position % 2 == 1))
                        .collect();
                    let mut totalizer = Totalizer::new(&literals);
                    assert!(totalizer.at_least(first, &mut *solver).is_some());
                    let outputs: Vec<_> = (1..=size)
                        .map(|count| totalizer.at_least(count, &mut *solver).unwrap())
                        .collect();
                    assert_eq!(totalizer.at_least(size + 1, &mut *solver), None);
                    for assignment in 0..1_u32 << size {
                        let mut assumptions: Vec<_> = literals
                            .iter()
                            .enumerate()
                            .map(|(position, literal)| {
                                literal.negate_if(assignment >> position & 1 == 0)
                            })
                            .collect();
                        for (below, &output) in outputs.iter().enumerate() {
                            assumptions.push(!output);
                            assert_eq!(
                                solver.solve(&assumptions),
                                assignment.count_ones() as usize <= below
                            );
                            assumptions.pop();
                        }
                        assumptions.extend(
                            outputs
                                .iter()
                                .skip(assignment.count_ones() as usize)
                                .map(|&output| !output),
                        );
                        assert!(solver.solve(&assumptions));
                    }
                }
            }
        }
    }
}
