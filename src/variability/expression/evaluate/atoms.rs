//! Manages the atoms of formulas. Each element has one. Further atoms are for manual formulas that
//! are needed before they are known, and for the cases of open inputs.

use super::Evaluator;
use crate::variability::graph::ElementId;
use cuvee_sat::formula::{Atom, Formula};

/// The manual formulas of elements, or the atoms that represent formulas that are not known yet.
pub(super) struct ManualAtoms {
    manual: Vec<Option<Formula>>,
    /// The number of atoms; the atoms of elements come first.
    count: u32,
}

impl ManualAtoms {
    pub(super) fn new(elements: usize) -> Self {
        Self { manual: vec![None; elements], count: elements as u32 }
    }
}

impl Evaluator<'_, '_> {
    /// The atom that an element is present.
    pub(crate) fn atom(&mut self, id: ElementId) -> Formula {
        self.arena.atom(id.into())
    }

    /// The number of atoms: one for each element, each case of an open input, and each manual
    /// formula that was needed before it was known.
    pub(crate) fn atoms(&self) -> u32 {
        self.atoms.count
    }

    /// A new atom without a meaning so far.
    pub(crate) fn fresh_atom(&mut self) -> Formula {
        self.atoms.count += 1;
        self.arena.atom(Atom(self.atoms.count - 1))
    }

    /// The conjunction of the conditions that the author wrote for an element.
    pub(crate) fn manual(&mut self, id: ElementId) -> Formula {
        let index = id.0 as usize;
        if let Some(formula) = self.atoms.manual[index] {
            return formula;
        }
        // The formula is not known yet, so a new atom represents it.
        let formula = self.fresh_atom();
        self.atoms.manual[index] = Some(formula);
        formula
    }

    /// Sets the manual formula of an element. Returns the atom that represented the formula, if it
    /// was needed before.
    pub(crate) fn set_manual(&mut self, id: ElementId, formula: Formula) -> Option<Formula> {
        let known = self.atoms.manual[id.0 as usize].replace(formula);
        // Formulas that exist already contain the atom; new ones can contain the formula itself.
        known.filter(|&atom| atom != formula)
    }
}
