//! The atoms of formulas: one for each element, more for manual formulas that are needed before
//! they are known, and for the cases of open inputs.

use super::Evaluator;
use crate::sat::formula::{Atom, Formula};
use crate::variability::graph::ElementId;

/// What authors say about elements, and the atoms that stand for it where it is not known yet.
pub(super) struct ManualAtoms {
    manual: Vec<Option<Formula>>,
    /// The number of atoms, those of elements first.
    count: u32,
}

impl ManualAtoms {
    pub(super) fn new(elements: usize) -> Self {
        Self { manual: vec![None; elements], count: elements as u32 }
    }
}

impl Evaluator<'_, '_> {
    /// The presence of an element.
    pub(crate) fn atom(&mut self, id: ElementId) -> Formula {
        self.arena.atom(id.into())
    }

    /// The number of atoms: one for each element, each case of an open input, and each manual
    /// formula that was needed before it was known.
    pub(crate) fn atoms(&self) -> u32 {
        self.atoms.count
    }

    /// An atom that stands for nothing yet.
    pub(crate) fn fresh_atom(&mut self) -> Formula {
        self.atoms.count += 1;
        self.arena.atom(Atom(self.atoms.count - 1))
    }

    /// The conjunction of what the author says about an element.
    pub(crate) fn manual(&mut self, id: ElementId) -> Formula {
        let index = id.0 as usize;
        if let Some(formula) = self.atoms.manual[index] {
            return formula;
        }
        // An atom of its own stands for what is not known yet.
        let formula = self.fresh_atom();
        self.atoms.manual[index] = Some(formula);
        formula
    }

    /// Says what the manual formula of an element is; the atom that stood for it, if it was needed
    /// before.
    pub(crate) fn set_manual(&mut self, id: ElementId, formula: Formula) -> Option<Formula> {
        let known = self.atoms.manual[id.0 as usize].replace(formula);
        // Whoever asked before holds the atom, so later users may have the formula itself.
        known.filter(|&atom| atom != formula)
    }
}
