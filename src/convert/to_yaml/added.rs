//! Finds what types inherit in YAML alone: where TOSCA 1.0 knows no parent, they derive from a type
//! of the profile.

use super::names::{TypeName, TypeNames};
use crate::convert::well_known;
use crate::tosca::profile;
use crate::tosca::v1_0::definitions::{ComponentKind, FeatureKind};
use crate::tosca::v1_0::{ComponentId, Library, PropertySchemas};
use crate::tosca::xml_schema::ValueShape;
use cuvee_text::yaml::Node;
use rustc_hash::{FxHashMap, FxHashSet};

/// The members of types: properties, capabilities and so on. The values are their keynames.
pub(super) const PROPERTIES: &str = "properties";
pub(super) const ATTRIBUTES: &str = "attributes";
pub(super) const CAPABILITIES: &str = "capabilities";
pub(super) const REQUIREMENTS: &str = "requirements";
pub(super) const INTERFACES: &str = "interfaces";

/// The kinds of members that a type inherits.
const MEMBERS: [&str; 5] = [PROPERTIES, ATTRIBUTES, CAPABILITIES, REQUIREMENTS, INTERFACES];

/// Members of a type, by kind and name.
type MemberNames = FxHashSet<(&'static str, &'static str)>;

/// The keyname of requirements or capabilities.
pub(super) fn keyname(kind: FeatureKind) -> &'static str {
    match kind {
        FeatureKind::Requirement => REQUIREMENTS,
        FeatureKind::Capability => CAPABILITIES,
    }
}

/// A property of the profile that every template needs a value of: its name and its type.
pub(super) type NeededProperty = (&'static str, &'static str);

/// The members of a type of the profile.
#[derive(Default)]
struct ProfileMembers {
    names: MemberNames,
    needed: Vec<NeededProperty>,
}

/// The members that converted types inherit in YAML alone.
#[derive(Default)]
pub(super) struct AddedMembers {
    /// The position among `all`, by type.
    of: FxHashMap<ComponentId, usize>,
    all: Vec<ProfileMembers>,
    /// Types that are called like one of the profile: what they have is not inherited.
    counterparts: FxHashSet<ComponentId>,
}

impl AddedMembers {
    /// Finds the added members of each type.
    pub(super) fn of(
        library: &Library<'_>,
        schemas: &PropertySchemas<'_>,
        names: &TypeNames,
        converted: &[ComponentId],
    ) -> Self {
        let mut added = Self::default();
        // Many types have the same parent.
        let mut known: FxHashMap<(ComponentKind, String, Option<ComponentId>), usize> =
            FxHashMap::default();
        for &id in converted {
            let Some((parent, by)) = added_parent(library, names, id) else { continue };
            if by == Some(id) {
                added.counterparts.insert(id);
            }
            let kind = library.component(id).kind;
            let at = *known.entry((kind, parent.clone(), by)).or_insert_with(|| {
                let mut members = members_of(kind, &parent);
                if let Some(by) = by {
                    forget_defined(library, schemas, by, &mut members);
                }
                added.all.push(members);
                added.all.len() - 1
            });
            added.of.insert(id, at);
        }
        added
    }

    /// Whether a type inherits a member of this kind and name in YAML, and not in TOSCA 1.0.
    pub(super) fn has(&self, id: ComponentId, kind: &'static str, name: &str) -> bool {
        let members = self.of.get(&id).filter(|_| !self.counterparts.contains(&id));
        let members = members.and_then(|at| self.all.get(*at));
        members.is_some_and(|members| {
            let names: &FxHashSet<(&str, &str)> = &members.names;
            names.contains(&(kind, name))
        })
    }

    /// The properties that templates of a type need in YAML, and do not have in TOSCA 1.0.
    pub(super) fn needed(&self, id: ComponentId) -> &[NeededProperty] {
        let members = self.of.get(&id).and_then(|at| self.all.get(*at));
        members.map(|members| &*members.needed).unwrap_or_default()
    }
}

/// The type of the profile that a type of the output is or derives from, and its definition in TOSCA
/// 1.0 does not, with the component that is called so, if there is one. Where definitions name types of
/// the profile as such, they inherit what these have.
fn added_parent(
    library: &Library<'_>,
    names: &TypeNames,
    id: ComponentId,
) -> Option<(String, Option<ComponentId>)> {
    let kind = library.component(id).kind;
    let mut last = id;
    for of in library.ancestry(id) {
        match names.get(of) {
            Some(TypeName::Counterpart(name)) => {
                let is_named = library.component(of).namespace == profile::NAMESPACE;
                return (!is_named).then(|| (name.clone(), Some(of)));
            }
            _ => last = of,
        }
    }
    let unread = library.entity_type(last).and_then(|said| said.derived_from.as_ref());
    let namespace = unread.map(|name| name.namespace.as_deref().unwrap_or_default());
    if namespace == Some(profile::NAMESPACE) {
        return None;
    }
    let unread = unread.zip(namespace).and_then(|(name, of)| names.unread(kind, of, &name.local));
    let root = || well_known::root_of(kind).map(str::to_owned);
    Some((unread.or_else(root)?, None))
}

/// The members of a type of the profile, inherited ones included.
fn members_of(kind: ComponentKind, name: &str) -> ProfileMembers {
    let mut members = ProfileMembers::default();
    let section = well_known::section_of(kind);
    let types = section.and_then(|section| profile::normative().root().get(section));
    let mut at = types.and_then(|types| types.get(name));
    while let Some(definition) = at {
        for member in MEMBERS {
            let Some(all) = definition.get(member) else { continue };
            // Requirements are a list of maps.
            let named = all.items().flat_map(Node::entries).chain(all.entries());
            let named = named.filter_map(|(name, _)| name.text());
            members.names.extend(named.map(|name| (member, name)));
        }
        let properties = definition.get(PROPERTIES);
        let own = properties.into_iter().flat_map(Node::entries);
        members.needed.extend(own.filter_map(|(name, body)| needed(name, body)));
        let parent = definition.get("derived_from").and_then(Node::text);
        at = parent.and_then(|parent| types?.get(parent));
    }
    members
}

/// The property, if it is required and has no default.
fn needed(name: Node<'static>, body: Node<'static>) -> Option<NeededProperty> {
    let is_optional = body.get("required").and_then(Node::text) == Some("false");
    let is_needed = !is_optional && body.get("default").is_none();
    is_needed.then_some((name.text()?, body.get("type")?.text()?))
}

/// Removes the members that definitions of TOSCA 1.0 have themselves.
fn forget_defined(
    library: &Library<'_>,
    schemas: &PropertySchemas<'_>,
    id: ComponentId,
    members: &mut ProfileMembers,
) {
    let mut defined: FxHashSet<(&str, &str)> = FxHashSet::default();
    for kind in FeatureKind::ALL {
        let features = library.features(id, kind);
        defined.extend(features.map(|(_, it)| (keyname(kind), &*it.name.text)));
    }
    let expected = schemas.expected(library, id);
    if let ValueShape::Parts(parts) = schemas.set.shape(schemas.value_type(expected)) {
        defined.extend(parts.iter().map(|part| (PROPERTIES, part.name)));
    }
    members.names.retain(|member| !defined.contains(member));
    members.needed.retain(|(name, _)| !defined.contains(&(PROPERTIES, name)));
}
