//! Finds the types that have a role in deploying. In version 1.3 they are normative. TOSCA 2.0 leaves
//! them to profiles: there, a table says by which names profiles define them.

use super::hierarchy::{TypeHierarchy, TypeId};
use crate::tosca::family::Family;

/// The names in profiles of the types that have the role of a normative one. The first name that a
/// file defines counts, and of those of hosting each one.
const NAMES: &[(&str, &[&str])] = &[
    ("tosca.relationships.HostedOn", &["HostedOn", "Hosting"]),
    ("tosca.relationships.ConnectsTo", &["ConnectsTo"]),
    (
        "tosca.interfaces.node.lifecycle.Standard",
        &["Lifecycle.Standard", "Node.Lifecycle.Standard", "Standard", "Lifecycle"],
    ),
    ("tosca.interfaces.relationship.Configure", &["Relationship.Configure", "Configure"]),
    ("tosca.artifacts.Deployment", &["Deployment"]),
    ("tosca.artifacts.Implementation.Bash", &["Implementation.Bash", "Bash"]),
    ("tosca.artifacts.Implementation.Python", &["Implementation.Python", "Python"]),
    ("tosca.nodes.Compute", &["Compute"]),
    ("tosca.nodes.Storage.BlockStorage", &["Storage.BlockStorage", "BlockStorage"]),
    ("tosca.nodes.Storage.ObjectStorage", &["Storage.ObjectStorage", "ObjectStorage"]),
    ("tosca.nodes.network.Network", &["network.Network", "Network"]),
    ("tosca.nodes.network.Port", &["network.Port", "Port"]),
    ("tosca.nodes.LoadBalancer", &["LoadBalancer"]),
];

/// The relationship type that TOSCA 2.0 has for requirements that lead to hosts by their names
/// alone.
pub(crate) const HOSTED_BY_NAME: &str = "tosca.relationships.HostedByName";

/// Whether a requirement leads to a host where no type tells.
pub(crate) fn is_hosting_by_name(requirement: &str) -> bool {
    requirement.split('_').any(|word| word == "host")
}

impl TypeHierarchy<'_> {
    /// The type that has the role of a normative type, by that one's full name.
    pub(crate) fn role(&self, family: Family, normative: &str) -> Option<TypeId> {
        self.roles(family, normative).next()
    }

    /// All types that have that role by their names.
    pub(super) fn roles(
        &self,
        family: Family,
        normative: &str,
    ) -> impl Iterator<Item = TypeId> + use<'_> {
        let own = match self.is_of_2_0 {
            true => self.names[family as usize].get(normative).map(|it| it.first),
            false => self.find_in(None, family, normative),
        };
        let names = NAMES.iter().find(|(name, _)| self.is_of_2_0 && *name == normative);
        let names = names.map_or(&[][..], |(_, names)| names).iter();
        let others = names.filter_map(move |name| self.names[family as usize].get(name));
        own.into_iter().chain(others.map(|it| it.first))
    }
}
