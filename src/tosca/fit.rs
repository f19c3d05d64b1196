//! Determines which capabilities of a node a requirement can lead to (sections 3.7.2.1, 3.7.3 and
//! 3.8.2.2).

use super::family::Family;
use super::types::{EffectiveCapability, RequirementDefinition, TypeId, TypeRef, Types};
use cuvee_text::source::FileId;
use cuvee_text::yaml::Node;

/// A capability of a node type, with its name.
pub(crate) type NamedCapability<'c> = (&'c str, &'c EffectiveCapability<'c>);

/// A requirement assignment that is matched with node types.
#[derive(Clone, Copy)]
pub(crate) struct RequirementFit<'r, 't, 'c> {
    pub types: &'t Types<'c>,
    /// The definition of the requirement.
    pub definition: &'r RequirementDefinition<'r>,
    /// The type of the node that has the requirement.
    pub source: TypeId,
    /// The capability, or capability type, that the assignment names, with the file of that name.
    pub capability: Option<(&'r str, Option<FileId>)>,
}

/// Why a requirement cannot lead to nodes of a type.
pub(crate) enum Misfit<'r, 'c> {
    /// The name in the assignment is neither a capability of the type nor a capability type.
    Unknown,
    /// The type has no capability of the type that the assignment names.
    NoneNamed,
    /// The type has no capability of this type, which the requirement definition asks for.
    NoneRequired(TypeId),
    /// The assignment names another capability than the requirement definition.
    NotNamed(&'r str),
    /// This capability does not accept nodes of the source's type.
    NotForSource(NamedCapability<'c>),
}

/// A type that a list of valid types is to have, if there is one, and what it means if it has not.
type ValidList<'c> =
    (Family, Option<TypeId>, Option<&'c [Node<'c>]>, fn(&'c [Node<'c>]) -> RelationshipMisfit<'c>);

/// Why a relationship of a type cannot lead to a capability, by the types that are valid.
#[derive(Clone, Copy)]
pub(crate) enum RelationshipMisfit<'c> {
    /// It leads to capabilities of these types.
    Capability(&'c [Node<'c>]),
    /// It leads to nodes of these types.
    Target(&'c [Node<'c>]),
    /// It starts from nodes of these types.
    Source(&'c [Node<'c>]),
    /// Relationships of these types lead to the capability.
    Relationship(&'c [Node<'c>]),
}

impl<'r, 't> RequirementFit<'r, 't, '_> {
    /// The type of the relationship that the definition names.
    pub(crate) fn relationship(&self) -> Option<TypeId> {
        self.defined(Family::Relationship, self.definition.relationship)
    }

    /// The capabilities of nodes of this type that the requirement can lead to by a relationship of
    /// a type, if that is known.
    pub(crate) fn reachable(
        &self,
        target: TypeId,
        relationship: Option<TypeId>,
    ) -> Result<Vec<NamedCapability<'t>>, Misfit<'r, 't>> {
        let mut found = self.capabilities(target)?;
        if let Some(relationship) = relationship {
            found.retain(|(_, it)| self.relationship_misfit(relationship, target, it).is_none());
        }
        Ok(found)
    }

    /// Why a relationship of a type cannot lead to a capability of a node of a type (section 3.7.10;
    /// sections 7.3 and 8.1 of TOSCA 2.0).
    pub(crate) fn relationship_misfit(
        &self,
        relationship: TypeId,
        target: TypeId,
        capability: &'t EffectiveCapability<'t>,
    ) -> Option<RelationshipMisfit<'t>> {
        let of_type = self.types.effective(relationship);
        let ends = of_type.valid_ends.as_deref();
        let lists: [ValidList<'t>; 4] = [
            (
                Family::Capability,
                self.defined(Family::Capability, capability.kind),
                of_type.valid_types.as_deref(),
                RelationshipMisfit::Capability,
            ),
            (
                Family::Node,
                Some(target),
                ends.and_then(|ends| ends.targets.as_deref()),
                RelationshipMisfit::Target,
            ),
            (
                Family::Node,
                Some(self.source),
                ends.and_then(|ends| ends.sources.as_deref()),
                RelationshipMisfit::Source,
            ),
            (
                Family::Relationship,
                Some(relationship),
                capability.valid_relationship_types.as_deref(),
                RelationshipMisfit::Relationship,
            ),
        ];
        lists.into_iter().find_map(|(family, kind, valid, misfit)| {
            let (kind, valid) = kind.zip(valid)?;
            let mut known = valid.iter().map(|valid| self.defined(family, Some(*valid)));
            let is_among = known.any(|valid| valid.is_none_or(|it| self.may_derive(kind, it)));
            (!is_among).then(|| misfit(valid))
        })
    }

    /// The capabilities of nodes of this type that the requirement can lead to. Fails with the
    /// reason why there are none.
    pub(crate) fn capabilities(
        &self,
        target: TypeId,
    ) -> Result<Vec<NamedCapability<'t>>, Misfit<'r, 't>> {
        let mut left = self.named_capabilities(target)?;
        let RequirementDefinition { capability, node, .. } = *self.definition;
        if let Some(wanted) = self.types.capability_named(capability, node) {
            // Where a capability is named, its type is no other way to name it.
            let is_other = self.capability.is_some_and(|(own, _)| own != wanted);
            left.retain(|(name, _)| *name == wanted);
            if left.is_empty() || is_other {
                return Err(Misfit::NotNamed(wanted));
            }
        }
        if let Some(wanted) = self.defined(Family::Capability, self.definition.capability) {
            left.retain(|(_, capability)| self.is_a(capability.kind, wanted));
            if left.is_empty() {
                return Err(Misfit::NoneRequired(wanted));
            }
        }
        let refused = left.first().copied();
        left.retain(|(_, capability)| {
            let valid = capability.valid_source_types.as_deref();
            valid.is_none_or(|valid| valid.iter().any(|valid| self.is_source(*valid)))
        });
        match refused.filter(|_| left.is_empty()) {
            Some(capability) => Err(Misfit::NotForSource(capability)),
            None => Ok(left),
        }
    }

    /// The capabilities that the assignment names: the one with this name, or else those of the
    /// type with this name. If the assignment names none, all capabilities.
    fn named_capabilities(
        &self,
        target: TypeId,
    ) -> Result<Vec<NamedCapability<'t>>, Misfit<'r, 't>> {
        let capabilities = &self.types.effective(target).capabilities;
        let all = capabilities.iter().map(|(name, part)| (*name, &part.definition));
        let Some((name, file)) = self.capability else { return Ok(all.collect()) };
        if let Some(part) = capabilities.get(name) {
            return Ok(vec![(part.named.name, &part.definition)]);
        }
        let kind = self.types.find_in(file, Family::Capability, name).ok_or(Misfit::Unknown)?;
        let found: Vec<_> = all.filter(|(_, one)| self.is_a(one.kind, kind)).collect();
        if found.is_empty() { Err(Misfit::NoneNamed) } else { Ok(found) }
    }

    fn defined(&self, family: Family, name: Option<Node<'_>>) -> Option<TypeId> {
        let name = name?;
        self.types.find_in(Some(name.span().file), family, name.text()?)
    }

    fn may_derive(&self, one: TypeId, ancestor: TypeId) -> bool {
        self.types.may_derive(TypeRef::Defined(one), TypeRef::Defined(ancestor))
    }

    /// Whether the named type derives from `ancestor`. An unknown name is reported where it is
    /// written, and could be any type.
    fn is_a(&self, name: Option<Node<'_>>, ancestor: TypeId) -> bool {
        self.defined(Family::Capability, name).is_none_or(|kind| self.may_derive(kind, ancestor))
    }

    fn is_source(&self, valid: Node<'_>) -> bool {
        let valid = self.defined(Family::Node, Some(valid));
        valid.is_none_or(|valid| self.may_derive(self.source, valid))
    }
}
