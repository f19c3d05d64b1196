//! Arranges the implications of clauses of two literals as a forest.

use super::propagator::Propagator;
use crate::formula::Lit;

/// A forest of literals. The parent of a literal is one that it implies directly; of several, the
/// one from which the longest chain of implications leads on. The forest contains only the given
/// leaves and their ancestors.
pub(super) struct ImplicationForest {
    roots: Vec<Lit>,
    /// The children of each literal, one literal after the other, and where those of each start.
    children: Vec<Lit>,
    starts: Vec<u32>,
}

/// How far the implications of a literal have been followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Followed {
    No,
    /// The literal is on the current path. Meeting it again closes a circle.
    Now,
    /// The literal was followed, and the longest chain has this many steps.
    To(u32),
}

impl ImplicationForest {
    pub(super) fn of(propagator: &Propagator, leaves: impl Iterator<Item = Lit>) -> Self {
        let mut followed = vec![Followed::No; 2 * propagator.vars()];
        let mut parents: Vec<Option<Lit>> = vec![None; 2 * propagator.vars()];
        let mut is_in = vec![false; 2 * propagator.vars()];
        let (mut roots, mut members) = (Vec::new(), Vec::new());
        for leaf in leaves {
            follow(propagator, leaf, &mut followed, &mut parents);
            let mut current = Some(leaf);
            while let Some(literal) = current.filter(|literal| !is_in[literal.index()]) {
                is_in[literal.index()] = true;
                current = parents[literal.index()];
                match current {
                    Some(parent) => members.push((parent, literal)),
                    None => roots.push(literal),
                }
            }
        }
        let mut starts = vec![0; 2 * propagator.vars() + 1];
        members.sort_unstable();
        for (parent, _) in &members {
            starts[parent.index() + 1] += 1;
        }
        (1..starts.len()).for_each(|index| starts[index] += starts[index - 1]);
        let children = members.into_iter().map(|(_, child)| child).collect();
        Self { roots, children, starts }
    }

    /// The literals without a parent.
    pub(super) fn roots(&self) -> impl Iterator<Item = Lit> {
        self.roots.iter().copied()
    }

    /// The children of a literal.
    pub(super) fn children(&self, literal: Lit) -> &[Lit] {
        let index = literal.index();
        &self.children[self.starts[index] as usize..self.starts[index + 1] as usize]
    }
}

/// Follows all implications from a literal to their ends, and sets the parents of the literals on
/// the way.
fn follow(
    propagator: &Propagator,
    start: Lit,
    followed: &mut [Followed],
    parents: &mut [Option<Lit>],
) {
    let mut way = vec![start];
    while let Some(&literal) = way.last() {
        match followed[literal.index()] {
            Followed::No => {
                followed[literal.index()] = Followed::Now;
                let next = propagator.implied_at_once(literal);
                way.extend(next.filter(|next| followed[next.index()] == Followed::No));
            }
            Followed::Now => {
                way.pop();
                let steps = |next: Lit| match followed[next.index()] {
                    Followed::To(steps) => Some((steps + 1, next)),
                    Followed::No | Followed::Now => None,
                };
                let longest = propagator.implied_at_once(literal).filter_map(steps).max();
                parents[literal.index()] = longest.map(|(_, next)| next);
                followed[literal.index()] = Followed::To(longest.map_or(0, |(steps, _)| steps));
            }
            Followed::To(_) => {
                way.pop();
            }
        }
    }
}
