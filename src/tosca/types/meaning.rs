//! Determines what type names refer to when resolving.
//!
//! A type that is not defined is its own only ancestor. Its name causes no error, but the type
//! derives from nothing.

use super::hierarchy::{Parent, TypeHierarchy, TypeId, TypeRef};
use super::outline::has_management_operation;
use super::profile;
use super::role::HOSTED_BY_NAME;
use crate::tosca::family::Family;
use cuvee_text::source::FileId;
use cuvee_text::yaml::Node;
use rustc_hash::FxHashMap;

/// The relationship type of hosting.
const HOSTED_ON: &str = "tosca.relationships.HostedOn";

/// The prefix of the full names of normative relationship types.
const RELATIONSHIPS: &str = "tosca.relationships.";

/// The type that a name refers to within a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Meaning<'t> {
    /// A type that is defined.
    Type(TypeId),
    /// A type that is not defined, by its name.
    Unknown(&'t str),
}

impl<'a> TypeHierarchy<'a> {
    /// The type that a name in the template refers to.
    pub(crate) fn meaning<'t>(&self, family: Family, name: &'t str) -> Meaning<'t> {
        self.meaning_in(None, family, name)
    }

    fn meaning_in<'t>(&self, file: Option<FileId>, family: Family, name: &'t str) -> Meaning<'t> {
        self.find_in(file, family, name).map_or(Meaning::Unknown(name), Meaning::Type)
    }

    /// The type that the name at a node of a type definition refers to.
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

    /// The type that a name in the template refers to, followed by its ancestors.
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

    /// The name by which the type is defined.
    pub(crate) fn name_of<'t>(&'t self, meaning: Meaning<'t>) -> &'t str {
        match meaning {
            Meaning::Unknown(name) => name,
            Meaning::Type(id) => self
                .outline(id)
                .map_or_else(|| profile::definitions()[id.index()].name, |outline| outline.name),
        }
    }

    /// Whether the type is `ancestor` or derives from it.
    pub(crate) fn is_a(&self, family: Family, name: &str, ancestor: &str) -> bool {
        let ancestor = self.meaning(family, ancestor);
        self.chain(family, name).any(|one| one == ancestor)
    }

    /// Whether the type is defined.
    pub(crate) fn is_defined(&self, family: Family, name: &str) -> bool {
        self.find_in(None, family, name).is_some()
    }

    /// Whether a node type is marked as one that is not deployed. A derived type does not inherit
    /// the mark.
    pub(crate) fn is_abstract(&self, node_type: &str) -> bool {
        let id = self.find_in(None, Family::Node, node_type);
        id.and_then(|id| self.outline(id)).is_some_and(|outline| outline.is_abstract())
    }

    /// Whether a node type or an ancestor has this operation for managing nodes. A type that is
    /// marked as part of a profile has all such operations.
    pub(crate) fn has_management_operation(&self, node_type: &str, operation: &str) -> bool {
        let Some(id) = self.find_in(None, Family::Node, node_type) else { return false };
        self.outline(id).is_some_and(|outline| outline.is_normative())
            || self
                .ancestors(id)
                .filter_map(|id| self.outline(id))
                .any(|outline| has_management_operation(outline.body, operation))
    }

    /// Whether a node type or an ancestor defines an artifact of a type. Normative node types
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

    /// Whether a node type or an ancestor defines an artifact of this name and gives its type.
    pub(crate) fn types_artifact(&self, node_type: &str, name: &str) -> bool {
        let Meaning::Type(id) = self.meaning(Family::Node, node_type) else { return false };
        let mut outlines = self.ancestors(id).filter_map(|id| self.outline(id));
        outlines.any(|outline| outline.types_artifact(name))
    }

    /// Whether a relationship type is one of hosting. Returns nothing where the type is not
    /// defined.
    pub(crate) fn is_hosting(&self, relationship: &str) -> Option<bool> {
        self.is_hosting_type(self.meaning(Family::Relationship, relationship))
    }

    /// Whether a relationship type is one of hosting.
    pub(super) fn leads_to_host(&self, relationship: TypeId) -> bool {
        let hosted_on: Vec<_> = self.roles(Family::Relationship, HOSTED_ON).collect();
        let is_by_name = |id| self.outline(id).is_some_and(|it| it.name == HOSTED_BY_NAME);
        self.ancestors(relationship).any(|one| hosted_on.contains(&one) || is_by_name(one))
    }

    fn is_hosting_type(&self, relationship: Meaning<'_>) -> Option<bool> {
        match relationship {
            Meaning::Type(id) => Some(self.leads_to_host(id)),
            // Every name in the namespace of the profile belongs to some version of the profile.
            Meaning::Unknown(name) if name.starts_with(RELATIONSHIPS) => Some(false),
            Meaning::Unknown(name) => {
                let local = name.strip_prefix("tosca:").unwrap_or(name);
                let full = format!("{RELATIONSHIPS}{local}");
                let id = self.find_in(None, Family::Relationship, &full)?;
                self.is_hosting_type(Meaning::Type(id))
            }
        }
    }

    /// The requirements of a node type for which the type or an ancestor gives the type of their
    /// relationships, each with whether these are those of hosting. Where that is not known, as for
    /// normative node types, the name of the requirement decides.
    pub(crate) fn hosting_requirements(&self, node_type: &str) -> FxHashMap<&'a str, Option<bool>> {
        let mut found = FxHashMap::default();
        let Meaning::Type(id) = self.meaning(Family::Node, node_type) else { return found };
        for outline in self.ancestors(id).filter_map(|id| self.outline(id)) {
            for (requirement, relationship) in outline.relationships() {
                found.entry(requirement).or_insert_with(|| {
                    self.is_hosting_type(self.meaning_at(Family::Relationship, relationship))
                });
            }
        }
        found
    }
}
