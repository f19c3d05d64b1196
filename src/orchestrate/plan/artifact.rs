//! Finds artifacts that operations name: in the template of a node, otherwise in its type.

use crate::topology::{TopologyArtifact, type_named};
use crate::tosca::types::Named;
use crate::tosca::{EffectiveType, Family, TypeId, Types};
use cuvee_text::source::Span;
use cuvee_text::yaml::Node;

/// An artifact of a node.
pub(super) struct FoundArtifact<'v, 'a> {
    /// Its file, and the place where that is named.
    pub(super) file: String,
    pub(super) place: Span,
    /// The definition in the template.
    pub(super) own: Option<&'v TopologyArtifact>,
    /// The properties that the type of the node gives, and the name of that type.
    pub(super) inherited: Option<(&'a str, &'v [Named<'a>])>,
    kind: Option<Node<'a>>,
}

impl<'v, 'a> FoundArtifact<'v, 'a> {
    /// The artifact of this name, if it has a file.
    pub(super) fn of(
        name: &str,
        artifacts: &'v [TopologyArtifact],
        (of_type, types): (Option<&'v EffectiveType<'a>>, &Types<'a>),
    ) -> Option<Self> {
        let own = artifacts.iter().find(|artifact| artifact.name == name);
        let part = of_type.and_then(|of_type| of_type.artifacts.get(name));
        let own_file = own.and_then(|own| own.file.as_ref());
        let own_file = own_file.map(|file| (file.value.clone(), file.span));
        let inherited_file = || {
            let file = part?.definition.file?;
            Some((file.text()?.to_owned(), file.span()))
        };
        let (file, place) = own_file.or_else(inherited_file)?;
        let inherited =
            part.map(|part| (types.definition(part.owner).name, &*part.definition.properties));
        let kind = part.and_then(|part| part.definition.kind);
        Some(Self { file, place, own, inherited, kind })
    }

    /// The full name of its type, if that is defined; otherwise as it is written.
    pub(super) fn kind(&self, types: &Types<'a>) -> Option<String> {
        if let Some(kind) = self.own.and_then(|own| own.type_name.as_ref()) {
            let full = full_name(types, type_named(types, Family::Artifact, kind));
            return Some(full.unwrap_or_else(|| kind.value.clone()));
        }
        let kind = self.kind?;
        let text = kind.text()?;
        let id = types.find_in(Some(kind.span().file), Family::Artifact, text);
        Some(full_name(types, id).unwrap_or_else(|| text.to_owned()))
    }
}

/// The name of a type that is no shorthand, as the template would write it.
pub(super) fn full_name(types: &Types<'_>, id: Option<TypeId>) -> Option<String> {
    Some(types.told_name(id?).into_owned())
}
