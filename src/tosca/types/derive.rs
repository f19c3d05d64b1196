//! Finds the parents of types, and removes parents that would make a cycle or too long a chain.

use super::hierarchy::{Parent, TypeHierarchy, TypeId, own};
use super::normative;
use super::outline::TypeOutline;
use crate::diagnostic::{Cite, Code, Diagnostic, listed};
use crate::tosca::family::Family;
use cuvee_text::yaml::Node;

/// The largest number of ancestors. No sensible design has more. With a limit, the cost of a type
/// is at most its own definitions times a constant.
const LEVELS: usize = 256;

impl<'a> TypeHierarchy<'a> {
    /// Finds the parent of each type. For a parent that is not defined, `unknown` decides what it
    /// is.
    pub(super) fn find_parents(
        &mut self,
        mut unknown: impl FnMut(&Self, &TypeOutline<'a>) -> Parent,
    ) {
        self.parents.reserve(self.outlines.len());
        for index in 0..self.outlines.len() {
            let outline = self.outlines[index];
            let parent = outline.parent.map(|parent| self.named_parent(outline.family, parent));
            self.parents.push(match parent {
                Some(Parent::Unknown) => unknown(self, &outline),
                known => known.unwrap_or(Parent::None),
            });
        }
    }

    fn named_parent(&self, family: Family, parent: Node<'a>) -> Parent {
        let name = parent.text().unwrap_or_default();
        match self.resolve(Some(parent.document().file()), family, name) {
            Some(found) => Parent::Known(found),
            // Section 3.7.1.1 writes this where there is no parent.
            None if name == "None" => Parent::None,
            None => Parent::Unknown,
        }
    }

    /// Removes parents until no type derives from itself. Each type is walked once: a walk ends at
    /// a type that an earlier walk has passed.
    pub(super) fn cut_cycles(&mut self) {
        let mut walks = vec![0_u32; normative::count() + self.outlines.len()];
        for start in normative::count()..walks.len() {
            let walk = start as u32 + 1;
            let mut current = Some(TypeId::new(start));
            while let Some(id) = current {
                match std::mem::replace(&mut walks[id.index()], walk) {
                    0 => current = self.parent(id),
                    seen => {
                        walks[id.index()] = seen;
                        if seen == walk {
                            self.cut_cycle(id);
                        }
                        break;
                    }
                }
            }
        }
    }

    /// Reports and cuts the cycle that contains the type.
    fn cut_cycle(&mut self, on_it: TypeId) {
        let others = self.ancestors(on_it).skip(1).take_while(|id| *id != on_it);
        let cycle: Vec<_> = std::iter::once(on_it).chain(others).collect();
        // A copy of a normative type may derive from a type that here derives from the normative
        // one. That is no mistake, because the author of the copy need not know the built-in types.
        let leads_to_copy =
            |id: &&TypeId| own(**id).is_none() && self.parent(**id).and_then(own).is_some();
        if let Some(normative) = cycle.iter().find(leads_to_copy) {
            self.severed.insert(*normative);
            return;
        }
        let outlines = cycle.iter().filter_map(|id| Some((*id, *self.outline(*id)?)));
        let mut outlines: Vec<_> = outlines.collect();
        // One cycle is one mistake, with the same message wherever it was found.
        let first = outlines.iter().enumerate().min_by_key(|(_, (_, outline))| outline.name);
        let first = first.map_or(0, |(position, _)| position);
        outlines.rotate_left(first);
        let names = listed(outlines.iter().skip(1).map(|(_, outline)| outline.name));
        let through = if names.is_empty() { names } else { format!(" through {names}") };
        let Some((first, outline)) = outlines.first() else { return };
        let message = format!(
            "the {} `{}` derives from itself{through}",
            outline.family.noun(),
            outline.name
        );
        let error = Diagnostic::error(Code::CyclicType, message)
            .at(outline.place().span())
            .section(outline.family.section())
            .help("let one of them derive from another type");
        self.diagnostics.push(error);
        self.make_root(*first);
    }

    fn make_root(&mut self, id: TypeId) {
        if let Some(parent) = own(id).and_then(|index| self.parents.get_mut(index)) {
            *parent = Parent::None;
        }
    }

    /// Removes the parents of types that have too many ancestors.
    pub(super) fn cut_chains(&mut self) {
        let mut levels: Vec<Option<usize>> = vec![None; normative::count() + self.outlines.len()];
        for id in self.ids() {
            let way: Vec<_> =
                self.ancestors(id).take_while(|id| levels[id.index()].is_none()).collect();
            for id in way.into_iter().rev() {
                let above = self.parent(id).and_then(|parent| levels[parent.index()]);
                let level = above.map_or(0, |above| above + 1);
                levels[id.index()] = Some(if level < LEVELS { level } else { self.cut_chain(id) });
            }
        }
    }

    fn cut_chain(&mut self, id: TypeId) -> usize {
        if let Some(outline) = self.outline(id) {
            let message = format!(
                "the {} `{}` has more than {LEVELS} ancestors",
                outline.family.noun(),
                outline.name
            );
            let error = Diagnostic::error(Code::InvalidDefinition, message)
                .at(outline.place().span())
                .section(outline.family.section());
            self.diagnostics.push(error);
        }
        self.make_root(id);
        0
    }
}
