//! Holds the normative types as an index of names and parents, so that the profile need not be
//! parsed for these. [`table`] is generated from the profile.

#[rustfmt::skip]
mod table;

use super::hierarchy::{TypeId, TypeRef};
use crate::tosca::family::Family;

/// A normative type.
struct NormativeType {
    name: &'static str,
    parent: Option<TypeRef>,
}

/// The number of normative types.
pub(super) const fn count() -> usize {
    table::TYPES.len()
}

/// The type that a normative type derives from.
pub(super) fn parent(id: TypeId) -> Option<TypeRef> {
    table::TYPES.get(id.index())?.parent
}

/// The normative type of this family that has this as one of its names.
pub(super) fn find(family: Family, name: &str) -> Option<TypeId> {
    let names = table::NAMES[family as usize];
    let position = names.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    names.get(position).map(|(_, index)| TypeId::new(usize::from(*index)))
}

/// The normative type of this full name.
pub(super) fn of_full_name(family: Family, name: &str) -> Option<TypeId> {
    if !name.starts_with("tosca.") {
        return None;
    }
    let is_full = |id: &TypeId| table::TYPES.get(id.index()).is_some_and(|it| it.name == name);
    find(family, name).filter(is_full)
}

/// All names of the normative types of a family.
pub(super) fn names<'n>(family: Family) -> impl Iterator<Item = &'n str> {
    table::NAMES[family as usize].iter().map(|(name, _)| -> &'n str { name })
}

const fn root(name: &'static str) -> NormativeType {
    NormativeType { name, parent: None }
}

const fn derived(name: &'static str, parent: usize) -> NormativeType {
    NormativeType { name, parent: Some(TypeRef::Defined(TypeId::new(parent))) }
}

const fn simple(name: &'static str, primitive: &'static str) -> NormativeType {
    NormativeType { name, parent: Some(TypeRef::Primitive(primitive)) }
}

#[cfg(test)]
mod tests;
