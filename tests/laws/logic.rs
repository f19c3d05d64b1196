//! Formulas about the presence of elements, and a search for all of their models.

use std::collections::BTreeSet;

use super::template::Id;

#[derive(Clone, Debug)]
pub(crate) enum Logic {
    Constant(bool),
    Present(Id),
    /// Whether the conditions that the author gave an element hold.
    Manual(Id),
    Not(Box<Logic>),
    And(Vec<Logic>),
    Or(Vec<Logic>),
    Odd(Vec<Logic>),
    ExactlyOne(Vec<Logic>),
    AtMostOne(Vec<Logic>),
}

impl Logic {
    pub(crate) fn not(self) -> Self {
        Self::Not(Box::new(self))
    }

    pub(crate) fn implies(self, then: Self) -> Self {
        Self::Or(vec![self.not(), then])
    }

    pub(crate) fn iff(self, other: Self) -> Self {
        Self::Odd(vec![self, other]).not()
    }

    pub(crate) fn any(ids: impl IntoIterator<Item = Id>) -> Self {
        Self::Or(ids.into_iter().map(Self::Present).collect())
    }

    pub(crate) fn at_most_one(ids: impl IntoIterator<Item = Id>) -> Self {
        Self::AtMostOne(ids.into_iter().map(Self::Present).collect())
    }

    pub(crate) fn exactly_one(ids: impl IntoIterator<Item = Id>) -> Self {
        Self::ExactlyOne(ids.into_iter().map(Self::Present).collect())
    }

    fn operands(&self) -> &[Self] {
        match self {
            Self::Constant(_) | Self::Present(_) | Self::Manual(_) => &[],
            Self::Not(inner) => std::slice::from_ref(inner),
            Self::And(all)
            | Self::Or(all)
            | Self::Odd(all)
            | Self::ExactlyOne(all)
            | Self::AtMostOne(all) => all,
        }
    }

    /// Collects the elements whose manual conditions the formula uses.
    pub(crate) fn manuals(&self, into: &mut BTreeSet<Id>) {
        if let Self::Manual(id) = self {
            into.insert(*id);
        }
        self.operands().iter().for_each(|operand| operand.manuals(into));
    }

    /// The truth of the formula, if what is known already decides it.
    fn truth(&self, known: &dyn Fn(&Self) -> Option<bool>) -> Option<bool> {
        let count = |all: &[Self]| {
            let truths: Vec<_> = all.iter().map(|one| one.truth(known)).collect();
            let of = |truth| truths.iter().filter(|&&one| one == truth).count();
            (of(Some(true)), of(None))
        };
        match self {
            Self::Constant(value) => Some(*value),
            Self::Present(_) | Self::Manual(_) => known(self),
            Self::Not(inner) => inner.truth(known).map(|value| !value),
            Self::And(all) => match count(all) {
                (trues, 0) => Some(trues == all.len()),
                (trues, unknown) => (trues + unknown < all.len()).then_some(false),
            },
            Self::Or(all) => match count(all) {
                (0, 0) => Some(false),
                (0, _) => None,
                _ => Some(true),
            },
            Self::Odd(all) => match count(all) {
                (trues, 0) => Some(trues % 2 == 1),
                _ => None,
            },
            Self::ExactlyOne(all) => match count(all) {
                (trues, 0) => Some(trues == 1),
                (trues, _) => (trues > 1).then_some(false),
            },
            Self::AtMostOne(all) => match count(all) {
                (0 | 1, unknown) if unknown > 0 && all.len() > 1 => None,
                (trues, _) => Some(trues <= 1),
            },
        }
    }

    /// The truth of the formula where the presence of every element is known.
    pub(crate) fn holds(&self, present: &[bool]) -> Option<bool> {
        self.truth(&|atom| if let Self::Present(id) = atom { Some(present[*id]) } else { None })
    }

    fn atoms(&self, elements: usize, into: &mut BTreeSet<usize>) {
        match self {
            Self::Present(id) => _ = into.insert(*id),
            Self::Manual(id) => _ = into.insert(elements + id),
            _ => self.operands().iter().for_each(|operand| operand.atoms(elements, into)),
        }
    }
}

/// A search through all assignments that turns back as soon as a formula is false.
pub(crate) struct Models<'f> {
    formulas: &'f [Logic],
    /// The formulas that use each atom. Atoms are the elements, followed by their manual
    /// conditions.
    about: Vec<Vec<usize>>,
    /// The order in which atoms are decided.
    order: Vec<usize>,
    elements: usize,
    known: Vec<Option<bool>>,
    found: Vec<Vec<bool>>,
    patience: usize,
    /// Whether the search stops at the first model.
    one: bool,
}

impl<'f> Models<'f> {
    /// The presence of all elements in each model. Early elements in `order` are absent in the
    /// first models. `None` where the search takes too long.
    pub(crate) fn of(
        formulas: &'f [Logic],
        order: &[Id],
        elements: usize,
    ) -> Option<Vec<Vec<bool>>> {
        Self::find(formulas, order, elements, false)
    }

    /// Whether there is a model.
    pub(crate) fn exists(formulas: &'f [Logic], order: &[Id], elements: usize) -> Option<bool> {
        Self::find(formulas, order, elements, true).map(|models| !models.is_empty())
    }

    fn find(
        formulas: &'f [Logic],
        order: &[Id],
        elements: usize,
        one: bool,
    ) -> Option<Vec<Vec<bool>>> {
        let mut about = vec![Vec::new(); 2 * elements];
        let mut all = BTreeSet::new();
        for (index, formula) in formulas.iter().enumerate() {
            let mut atoms = BTreeSet::new();
            formula.atoms(elements, &mut atoms);
            atoms.iter().for_each(|&atom| about[atom].push(index));
            all.extend(atoms);
        }
        let manuals = all.iter().copied().filter(|&atom| atom >= elements);
        let order = order
            .iter()
            .copied()
            .filter(|atom| !one || all.contains(atom))
            .chain(manuals)
            .collect();
        let known = vec![None; 2 * elements];
        let mut models = Self {
            formulas,
            about,
            order,
            elements,
            known,
            found: Vec::new(),
            patience: 200_000,
            one,
        };
        if formulas.iter().any(|formula| formula.truth(&|_| None) == Some(false)) {
            return Some(Vec::new());
        }
        models.search(0);
        (models.patience > 0).then_some(models.found)
    }

    /// Decides the atoms from a position on, and returns whether that gave a model.
    fn search(&mut self, position: usize) -> bool {
        let Some(&atom) = self.order.get(position) else {
            self.found.push(
                self.known[..self.elements].iter().map(|value| value.unwrap_or_default()).collect(),
            );
            return true;
        };
        let mut any = false;
        for value in [false, true] {
            // For manual conditions, one possible value is enough.
            if self.patience == 0 || any && (self.one || atom >= self.elements) {
                break;
            }
            self.patience -= 1;
            self.known[atom] = Some(value);
            if self.is_possible(atom) {
                any |= self.search(position + 1);
            }
        }
        self.known[atom] = None;
        any
    }

    fn is_possible(&self, atom: usize) -> bool {
        let known = |atom: &Logic| match atom {
            Logic::Present(id) => self.known[*id],
            Logic::Manual(id) => self.known[self.elements + id],
            _ => None,
        };
        self.about[atom].iter().all(|&formula| self.formulas[formula].truth(&known) != Some(false))
    }
}
