//! Finds which nodes and types a requirement that somebody types can lead to.

use super::grammar::{MemberKind, NODE_TEMPLATES};
use super::owners::{Owner, Owners, TypeScope};
use super::walk::{HolderKind, Word};
use crate::tosca::fit::{Misfit, RequirementFit};
use crate::tosca::{Family, TypeId, TypeRef};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// What the requirement around a word asks of its target.
pub(super) struct PossibleTarget<'t, 'a> {
    scope: TypeScope<'t, 'a>,
    /// The same for each type that the node with the requirement may have, with the node type that
    /// the requirement asks for.
    fits: Vec<(RequirementFit<'t, 't, 'a>, Option<TypeId>)>,
    /// Whether types have a capability for the first, the second and so on of these.
    known: RefCell<FxHashMap<(usize, TypeId), bool>>,
}

impl<'t, 'a> PossibleTarget<'t, 'a> {
    /// `None` where no node assigns a requirement that its types define.
    pub(super) fn of(scope: TypeScope<'t, 'a>, word: Word<'_, 't>) -> Option<Self> {
        let holder = word.holder?;
        let HolderKind::Part(MemberKind::Requirement, name, _) = holder.kind else { return None };
        let HolderKind::Entity(node) = holder.of?.kind else { return None };
        if node.defines.is_some() {
            return None;
        }
        let said = word.map.and_then(|map| map.get("capability")?.as_str());
        let capability = said.map(|said| (said, scope.file));
        let types = scope.types;
        let owners = scope.owners(holder.of);
        let fits = type_ids(&owners).filter_map(|source| {
            let definition = &types.effective(source).requirements.get(name)?.definition;
            let kind = definition.node.and_then(|it| {
                types.find_in(Some(it.span().file), Family::Node, it.text().unwrap_or_default())
            });
            Some((RequirementFit { types, definition, source, capability }, kind))
        });
        let fits: Vec<_> = fits.collect();
        (!fits.is_empty()).then(|| Self { scope, fits, known: RefCell::default() })
    }

    /// Whether a node can be the target; where that is not known, it may be.
    pub(super) fn may_be_node(&self, name: &str) -> bool {
        let owners = self.scope.named(NODE_TEMPLATES, name);
        let mut kinds = type_ids(&owners).peekable();
        kinds.peek().is_none() || kinds.any(|kind| self.may_be(kind, Self::own))
    }

    /// Whether nodes of a type can be the target. A type may be wider than the one that is asked for.
    pub(super) fn may_be_type(&self, id: TypeId) -> bool {
        self.may_be(id, |wanted, id, kind| {
            let is_wider = wanted.may_derive(kind, id) && !wanted.may_derive(id, kind);
            if is_wider { Some(kind) } else { wanted.own(id, kind) }
        })
    }

    /// A type, if it is the one that is asked for.
    fn own(&self, id: TypeId, kind: TypeId) -> Option<TypeId> {
        self.may_derive(id, kind).then_some(id)
    }

    /// Whether there is a type that a target has, by `narrower` with what is asked for, with a
    /// capability that the requirement can lead to.
    fn may_be(
        &self,
        id: TypeId,
        narrower: impl Fn(&Self, TypeId, TypeId) -> Option<TypeId>,
    ) -> bool {
        self.fits.iter().enumerate().any(|(number, (_, kind))| {
            let target = kind.map_or(Some(id), |kind| narrower(self, id, kind));
            target.is_some_and(|target| self.has_capability(number, target))
        })
    }

    fn may_derive(&self, one: TypeId, ancestor: TypeId) -> bool {
        self.scope.types.may_derive(TypeRef::Defined(one), TypeRef::Defined(ancestor))
    }

    /// Whether nodes of a type have a capability that the requirement can lead to.
    fn has_capability(&self, number: usize, target: TypeId) -> bool {
        let types = self.scope.types;
        // Of thousands of types that say nothing of capabilities, those of their ancestor count.
        let says = |id: &TypeId| types.place(*id).2.get("capabilities").is_some();
        let speaker = types.chain(target).find(says).or_else(|| types.chain(target).last());
        let Some((speaker, (fit, _))) = speaker.zip(self.fits.get(number)) else { return true };
        *self.known.borrow_mut().entry((number, speaker)).or_insert_with(|| {
            let found = fit.capabilities(speaker);
            types.effective(speaker).is_open || matches!(found, Ok(_) | Err(Misfit::Unknown))
        })
    }
}

fn type_ids<'o>(owners: &'o Owners<'_>) -> impl Iterator<Item = TypeId> + 'o {
    owners.all.iter().filter_map(|owner| match owner {
        Owner::Type(id) => Some(*id),
        _ => None,
    })
}
