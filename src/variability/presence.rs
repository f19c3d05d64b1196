//! Stores which elements of a graph are present.

use crate::variability::graph::ElementId;
use cuvee_sat::formula::Atom;

/// The presence of every element of a graph, and the truth of further atoms.
#[derive(Clone, Debug)]
pub(crate) struct Presence {
    truth: Vec<bool>,
}

impl Presence {
    /// Takes the truth of each atom; the atoms of elements come first.
    pub(crate) fn new(truth: Vec<bool>) -> Self {
        Self { truth }
    }

    /// Whether an atom holds.
    pub(crate) fn holds(&self, atom: Atom) -> bool {
        self.truth.get(atom.0 as usize).copied().unwrap_or_default()
    }

    /// Whether an element is present.
    pub(crate) fn is(&self, id: ElementId) -> bool {
        self.holds(id.into())
    }

    /// The elements among `ids` that are present.
    pub(crate) fn among<'p>(
        &'p self,
        ids: &'p [ElementId],
    ) -> impl Iterator<Item = ElementId> + Clone + 'p {
        ids.iter().copied().filter(|&id| self.is(id))
    }
}
