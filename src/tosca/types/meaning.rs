//! What names of types mean to whoever resolves.
//!
//! A type that nobody defines is its own only ancestor: nothing fails, it just derives from
//! nothing.

use super::hierarchy::{Parent, TypeHierarchy, TypeId, TypeRef};
use super::outline::has_management_operation;
use crate::text::source::FileId;
use crate::text::yaml::Node;
use crate::tosca::family::Family;

/// The relationship type of hosting.
const HOSTED_ON: &str = "tosca.relationships.HostedOn";

/// What the full names of normative relationship types start with.
const RELATIONSHIPS: &str = "tosca.relationships.";

/// What the name of a type means, of whichever family it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Meaning<'t> {
    /// A type that is defined.
    Type(TypeId),
    /// One that nobody defines.
    Unknown(&'t str),
}

impl<'a> TypeHierarchy<'a> {
    /// What a name means in the template.
    pub(crate) fn meaning<'t>(&self, family: Family, name: &'t str) -> Meaning<'t> {
        self.meaning_in(None, family, name)
    }

    fn meaning_in<'t>(&self, file: Option<FileId>, family: Family, name: &'t str) -> Meaning<'t> {
        self.find_in(file, family, name).map_or(Meaning::Unknown(name), Meaning::Type)
    }

    /// What the name at a node of a type definition means.
    fn meaning_at(&self, family: Family, node: Node<'a>) -> Meaning<'a> {
        let file = node.document().file();
        self.meaning_in(Some(file), family, node.text().unwrap_or_default())
    }

    fn parent_meaning(&self, meaning: Meaning<'_>) -> Option<Meaning<'a>> {
        let Meaning::Type(id) = meaning else { return None };
        match self.parent_of(id) {
            Parent::Known(TypeRef::Defined(parent)) => Some(Meaning::Type(parent)),
            Parent::Unknown => self.outline(id)?.parent?.text().map(Meaning::Unknown),
            Parent::Known(TypeRef::Primitive(_)) | Parent::None => None,
        }
    }

    /// What a name in the template means, and what that derives from, itself first.
    pub(crate) fn chain<'t>(
        &'t self,
        family: Family,
        name: &'t str,
    ) -> impl Iterator<Item = Meaning<'t>> + Clone {
        self.chain_of(self.meaning(family, name))
    }

    fn chain_of<'t>(&'t self, meaning: Meaning<'t>) -> impl Iterator<Item = Meaning<'t>> + Clone {
        std::iter::successors(Some(meaning), |meaning| self.parent_meaning(*meaning))
    }

    /// Whether the type is the ancestor or derives from it.
    pub(crate) fn is_a(&self, family: Family, name: &str, ancestor: &str) -> bool {
        let ancestor = self.meaning(family, ancestor);
        self.chain(family, name).any(|one| one == ancestor)
    }

    /// Whether the type is defined.
    pub(crate) fn is_defined(&self, family: Family, name: &str) -> bool {
        self.find_in(None, family, name).is_some()
    }

    /// Whether a node type says that nothing deploys it; a derived type says so itself.
    pub(crate) fn is_abstract(&self, node_type: &str) -> bool {
        let id = self.find_in(None, Family::Node, node_type);
        id.and_then(|id| self.outline(id)).is_some_and(|outline| outline.is_abstract())
    }

    /// Whether a node type or an ancestor has an operation by which nodes are managed; one of a profile
    /// has them all.
    pub(crate) fn has_management_operation(&self, node_type: &str, operation: &str) -> bool {
        let Some(id) = self.find_in(None, Family::Node, node_type) else { return false };
        self.outline(id).is_some_and(|outline| outline.is_normative())
            || self
                .ancestors(id)
                .filter_map(|id| self.outline(id))
                .any(|outline| has_management_operation(outline.body, operation))
    }

    /// Whether a node type or an ancestor defines an artifact of a type; normative node types
    /// define none.
    pub(crate) fn has_artifact(&self, node_type: &str, wanted: &str) -> bool {
        let Meaning::Type(id) = self.meaning(Family::Node, node_type) else { return false };
        let wanted = self.meaning(Family::Artifact, wanted);
        let outlines = self.ancestors(id).filter_map(|id| self.outline(id));
        let mut artifacts = outlines
            .flat_map(|outline| outline.artifact_types())
            .map(|name| self.meaning_at(Family::Artifact, name));
        artifacts.any(|artifact| self.chain_of(artifact).any(|one| one == wanted))
    }

    /// Whether a node type or an ancestor defines an artifact of this name, and its type.
    pub(crate) fn types_artifact(&self, node_type: &str, name: &str) -> bool {
        let Meaning::Type(id) = self.meaning(Family::Node, node_type) else { return false };
        let mut outlines = self.ancestors(id).filter_map(|id| self.outline(id));
        outlines.any(|outline| outline.types_artifact(name))
    }

    /// Whether a relationship type is one of hosting; nothing where nobody defines it.
    pub(crate) fn is_hosting(&self, relationship: &str) -> Option<bool> {
        self.is_hosting_type(self.meaning(Family::Relationship, relationship))
    }

    fn is_hosting_type(&self, relationship: Meaning<'_>) -> Option<bool> {
        match relationship {
            Meaning::Type(id) => {
                let hosted_on = self.find_in(None, Family::Relationship, HOSTED_ON);
                Some(self.ancestors(id).any(|one| Some(one) == hosted_on))
            }
            // Whatever is in the namespace of the profile is of some version of it.
            Meaning::Unknown(name) if name.starts_with(RELATIONSHIPS) => Some(false),
            Meaning::Unknown(name) => {
                let local = name.strip_prefix("tosca:").unwrap_or(name);
                let full = format!("{RELATIONSHIPS}{local}");
                let id = self.find_in(None, Family::Relationship, &full)?;
                self.is_hosting_type(Meaning::Type(id))
            }
        }
    }

    /// Whether the relationships of a requirement are those of hosting, where the node type or an
    /// ancestor says what they are. Of normative node types the requirements' names tell.
    pub(crate) fn is_hosting_requirement(
        &self,
        node_type: &str,
        requirement: &str,
    ) -> Option<bool> {
        let Meaning::Type(id) = self.meaning(Family::Node, node_type) else { return None };
        let mut outlines = self.ancestors(id).filter_map(|id| self.outline(id));
        let relationship = outlines.find_map(|outline| outline.relationship(requirement))?;
        self.is_hosting_type(self.meaning_at(Family::Relationship, relationship))
    }
}
