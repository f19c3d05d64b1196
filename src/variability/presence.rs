//! Which elements are present: a total map, decided once.

use crate::sat::formula::Atom;
use crate::variability::graph::ElementId;

/// The presence of every element of a graph.
#[derive(Clone, Debug)]
pub(crate) struct Presence {
    truth: Vec<bool>,
}

impl Presence {
    /// From the truth of each atom, elements first.
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

    /// The present ones of these.
    pub(crate) fn among<'p>(
        &'p self,
        ids: &'p [ElementId],
    ) -> impl Iterator<Item = ElementId> + Clone + 'p {
        ids.iter().copied().filter(|&id| self.is(id))
    }
}
