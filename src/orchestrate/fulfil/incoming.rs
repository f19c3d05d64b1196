//! Counts what the relations to nodes that are to be selected use of the existing nodes.

use super::FulfilQuestion;
use super::inventory::node_type;
use super::slots::Selection;
use super::targets::FulfilTarget;
use super::uses::fitting;
use crate::tosca::TypeId;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The capabilities that the relations to one such node lead to, each with their number, by the type
/// of the existing node.
#[derive(Debug, Default)]
pub(super) struct IncomingUses(FxHashMap<TypeId, Vec<(Rc<str>, u64)>>);

impl IncomingUses {
    /// Counts for the types of all nodes that can be selected.
    pub(super) fn of(
        question: &FulfilQuestion<'_, '_, '_>,
        selection: &Selection,
        kinds: impl Iterator<Item = TypeId>,
    ) -> Self {
        let mut uses = Self::default();
        if selection.incoming.is_empty() {
            return uses;
        }
        for kind in kinds {
            uses.0.entry(kind).or_insert_with(|| of_type(question, selection, kind));
        }
        uses
    }

    /// The capabilities that the relations lead to if this node is selected, with their number.
    pub(super) fn at(&self, target: &FulfilTarget<'_, '_>) -> &[(Rc<str>, u64)] {
        let uses = target.kind.and_then(|kind| self.0.get(&kind));
        uses.map(|uses| &**uses).unwrap_or_default()
    }

    /// The first capability of a node that has too few places for the relations.
    pub(super) fn too_many(&self, target: &FulfilTarget<'_, '_>) -> Option<&Rc<str>> {
        let uses = self.at(target).iter();
        let mut full = uses.filter(|(name, count)| target.left(name).is_some_and(|it| it < *count));
        full.next().map(|(name, _)| name)
    }
}

fn of_type(
    question: &FulfilQuestion<'_, '_, '_>,
    selection: &Selection,
    kind: TypeId,
) -> Vec<(Rc<str>, u64)> {
    let (topology, types) = (question.topology, question.types);
    let mut uses: Vec<(Rc<str>, u64)> = Vec::new();
    for &id in &selection.incoming {
        let relation = topology.relation(id);
        let source = node_type(types, topology.node(relation.source));
        let names = source.map(|source| fitting(types, relation, source, kind));
        let Some(name) = names.and_then(|names| names.first().copied()) else { continue };
        match uses.iter_mut().find(|(known, _)| **known == *name) {
            Some((_, count)) => *count += 1,
            None => uses.push((name.into(), 1)),
        }
    }
    uses
}
