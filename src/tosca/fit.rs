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

impl<'r, 't> RequirementFit<'r, 't, '_> {
    /// The capabilities of nodes of this type that the requirement can lead to. Fails with the
    /// reason why there are none.
    pub(crate) fn capabilities(
        &self,
        target: TypeId,
    ) -> Result<Vec<NamedCapability<'t>>, Misfit<'r, 't>> {
        let mut left = self.named_capabilities(target)?;
        let RequirementDefinition { capability, node, .. } = *self.definition;
        if let Some(wanted) = self.types.capability_named(capability, node) {
            left.retain(|(name, _)| *name == wanted);
            if left.is_empty() {
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
