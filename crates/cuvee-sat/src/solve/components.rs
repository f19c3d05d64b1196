//! Splits the clauses that propagation left into components that share no variable. Each component
//! is solved alone, and the costs add up.

use super::equivalence::Equivalences;
use super::propagate::Propagation;
use super::settings::{Technique, Techniques};
use crate::formula::{Cnf, Lit, Var};
use petgraph::unionfind::UnionFind;

/// The source of the value of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VarPlace {
    /// Propagation fixed it.
    Fixed,
    /// No remaining clause mentions it.
    Free,
    /// The variable is in the component of this number, and has the value of this literal there.
    Component(u32, Lit),
}

/// Clauses that share variables with each other and with no other clauses.
#[derive(Default)]
pub(super) struct Component {
    /// The number of variables of the component.
    pub vars: u32,
    /// The indices of its clauses among all clauses.
    pub clauses: Vec<usize>,
}

pub(super) struct Components {
    pub places: Vec<VarPlace>,
    pub components: Vec<Component>,
}

/// Components of fewer variables than this are put together, because a solver for each would cost
/// more than it saves. It is small in tests, which have few variables.
const SMALL: usize = if cfg!(test) { 3 } else { 64 };

impl Components {
    pub(super) fn of(cnf: &Cnf, fixed: &Propagation, techniques: Techniques) -> Self {
        let mut sets = UnionFind::<u32>::new(cnf.vars());
        let mut mentioned = vec![false; cnf.vars()];
        let mut residual = Vec::new();
        for (index, clause) in cnf.clauses().enumerate() {
            let Some(mut literals) = fixed.residue(clause.literals) else { continue };
            let Some(first) = literals.next() else { continue };
            mentioned[first.var().index()] = true;
            for literal in literals {
                mentioned[literal.var().index()] = true;
                sets.union(first.var().0, literal.var().0);
            }
            residual.push((index, first.var()));
        }
        let mut found = Self { places: vec![VarPlace::Fixed; cnf.vars()], components: Vec::new() };
        let equivalences = Equivalences::new(cnf, fixed, techniques.has(Technique::Equivalences));
        let small = if techniques.has(Technique::Components) { SMALL } else { usize::MAX };
        found.place_vars(fixed, &equivalences, &mut sets, &mentioned, small);
        for (index, var) in residual {
            if let VarPlace::Component(component, _) = found.places[var.index()] {
                found.components[component as usize].clauses.push(index);
            }
        }
        found
    }

    fn place_vars(
        &mut self,
        fixed: &Propagation,
        equivalences: &Equivalences,
        sets: &mut UnionFind<u32>,
        mentioned: &[bool],
        few: usize,
    ) {
        let mut sizes = vec![0_usize; mentioned.len()];
        let vars = || (0..mentioned.len() as u32).map(Var);
        vars().for_each(|var| sizes[sets.find_mut(var.0) as usize] += 1);
        let mut components: Vec<Option<u32>> = vec![None; mentioned.len()];
        let (mut gathering, mut gathered) = (None, 0);
        for var in vars() {
            if fixed.value(var.positive()).is_some() {
                continue;
            }
            if !mentioned[var.index()] {
                self.places[var.index()] = VarPlace::Free;
                continue;
            }
            let same = equivalences.of_var(var);
            if same.var() != var {
                // The first of equal variables has its place already.
                if let VarPlace::Component(component, inner) = self.places[same.var().index()] {
                    self.places[var.index()] =
                        VarPlace::Component(component, inner.negate_if(same.is_negative()));
                }
                continue;
            }
            let root = sets.find_mut(var.0) as usize;
            let component = *components[root].get_or_insert_with(|| {
                let small = sizes[root] < few;
                if small
                    && gathered < few
                    && let Some(component) = gathering
                {
                    gathered += sizes[root];
                    return component;
                }
                self.components.push(Component::default());
                let component = self.components.len() as u32 - 1;
                if small {
                    (gathering, gathered) = (Some(component), sizes[root]);
                }
                component
            });
            let vars = &mut self.components[component as usize].vars;
            self.places[var.index()] = VarPlace::Component(component, Var(*vars).positive());
            *vars += 1;
        }
    }

    /// The literal that a literal of a component has inside the component.
    pub(super) fn inner(&self, literal: Lit) -> Option<Lit> {
        match self.places[literal.var().index()] {
            VarPlace::Component(_, inner) => Some(inner.negate_if(literal.is_negative())),
            VarPlace::Fixed | VarPlace::Free => None,
        }
    }
}
