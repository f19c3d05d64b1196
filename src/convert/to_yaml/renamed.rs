//! Renames what YAML cannot call as TOSCA 1.0 does, in the definitions that were read and before
//! they are converted: so whatever names it names it anew.
//!
//! A requirement or capability that a type would inherit in YAML alone gets another name, and so
//! does an operation whose name means something else there. Each name becomes the same one in all
//! definitions, and no other one of its kind.

use super::added::{self, AddedMembers};
use super::names::unique;
use crate::tosca::v1_0::definitions::{
    ArtifactUse, ComponentContent, ComponentKind, ComponentName, DefinedService, EntityType,
    ExportedInterface, FeatureKind, OperationReference, OperationTarget, SaidText, TypeInterface,
};
use crate::tosca::v1_0::{ComponentId, Library};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// What an operation of an interface cannot be called, as it is a keyname there.
const NO_OPERATION: &str = "inputs";

/// The names of one kind that were given.
#[derive(Default)]
struct GivenNames {
    new: FxHashMap<String, String>,
    former: FxHashMap<String, String>,
}

impl GivenNames {
    fn of(former: FxHashSet<String>, wanted: fn(&str) -> String, known: &FxHashSet<&str>) -> Self {
        let mut given = Self::default();
        let mut former: Vec<_> = former.into_iter().collect();
        former.sort();
        for former in former {
            let is_taken = |name: &str| known.contains(name) || given.former.contains_key(name);
            let new = unique(&wanted(&former), is_taken);
            given.former.insert(new.clone(), former.clone());
            given.new.insert(former, new);
        }
        given
    }

    fn rename(&self, name: &mut SaidText<'_>) {
        if let Some(new) = self.new.get(&*name.text) {
            name.text = Cow::Owned(new.clone());
        }
    }
}

/// The names that a conversion gave.
#[derive(Default)]
pub(super) struct RenamedParts {
    requirements: GivenNames,
    capabilities: GivenNames,
    operations: GivenNames,
}

impl RenamedParts {
    /// Renames in a library, and records the former names.
    pub(super) fn of(library: &mut Library<'_>, added: &AddedMembers) -> Self {
        let renamed = Self {
            requirements: features(library, added, FeatureKind::Requirement),
            capabilities: features(library, added, FeatureKind::Capability),
            operations: operations(library),
        };
        let is_any = renamed.given().iter().any(|given| !given.new.is_empty());
        if is_any {
            // What service templates name is found by the names that types had.
            for is_service in [true, false] {
                for id in library.ids() {
                    let kind = library.component(id).kind;
                    if (kind == ComponentKind::ServiceTemplate) == is_service {
                        renamed.rename(library, added, id);
                    }
                }
            }
        }
        renamed
    }

    fn given(&self) -> [&GivenNames; 3] {
        [&self.requirements, &self.capabilities, &self.operations]
    }

    fn of_features(&self, kind: FeatureKind) -> &GivenNames {
        match kind {
            FeatureKind::Requirement => &self.requirements,
            FeatureKind::Capability => &self.capabilities,
        }
    }

    /// The former name of a requirement or capability with a new one.
    pub(super) fn former_feature(&self, kind: FeatureKind, name: &str) -> Option<&str> {
        self.of_features(kind).former.get(name).map(|name| &**name)
    }

    /// The former name of an operation with a new one.
    pub(super) fn former_operation(&self, name: &str) -> Option<&str> {
        self.operations.former.get(name).map(|name| &**name)
    }

    fn rename(&self, library: &mut Library<'_>, added: &AddedMembers, id: ComponentId) {
        let mut content =
            std::mem::replace(library.content_mut(id), ComponentContent::Service(Box::default()));
        match &mut content {
            ComponentContent::Type(said) => self.rename_type(added, id, said),
            ComponentContent::Implementation(said) => {
                let artifacts = &mut said.implementation_artifacts;
                let named = artifacts
                    .iter_mut()
                    .filter_map(|it: &mut ArtifactUse<'_>| it.operation.as_mut());
                named.for_each(|operation| self.operations.rename(operation));
            }
            ComponentContent::Service(said) => self.rename_service(library, added, id, said),
            ComponentContent::Template(_) => {}
        }
        *library.content_mut(id) = content;
    }

    fn rename_type(&self, added: &AddedMembers, id: ComponentId, said: &mut EntityType<'_>) {
        for (kind, features) in [
            (FeatureKind::Requirement, &mut said.requirements),
            (FeatureKind::Capability, &mut said.capabilities),
        ] {
            for feature in features {
                self.rename_feature(added, (Some(id), kind), &mut feature.name);
            }
        }
        let interfaces = said.interfaces.iter_mut().chain(&mut said.target_interfaces);
        for operation in interfaces.flat_map(|interface| &mut interface.operations) {
            self.operations.rename(&mut operation.name);
        }
    }

    /// Renames a requirement or capability of a type, or of a node of it.
    fn rename_feature(
        &self,
        added: &AddedMembers,
        (of, kind): (Option<ComponentId>, FeatureKind),
        name: &mut SaidText<'_>,
    ) {
        if of.is_some_and(|of| added.has(of, added::keyname(kind), &name.text)) {
            self.of_features(kind).rename(name);
        }
    }

    fn rename_service<'d>(
        &self,
        library: &Library<'d>,
        added: &AddedMembers,
        id: ComponentId,
        said: &mut DefinedService<'d>,
    ) {
        let find = |name: Option<&ComponentName<'_>>| {
            library.find(ComponentKind::NodeType, library.document(id), name?).id()
        };
        let substituted = find(said.substitutable.as_ref());
        self.rename_shown(added, substituted, said);
        for node in &mut said.nodes {
            let of = find(node.template.type_name.as_ref());
            for requirement in &mut node.requirements {
                self.rename_feature(added, (of, FeatureKind::Requirement), &mut requirement.name);
            }
            for capability in &mut node.capabilities {
                self.rename_feature(added, (of, FeatureKind::Capability), &mut capability.name);
            }
        }
        let Some(boundary) = &mut said.boundary else { return };
        for interface in &mut boundary.interfaces {
            let is_of_type = substituted.is_some_and(|of| has_interface(library, of, interface));
            for operation in &mut interface.operations {
                match &mut operation.by {
                    Some(OperationTarget::Node(by) | OperationTarget::Relationship(by)) => {
                        self.rename_call(by);
                    }
                    Some(OperationTarget::Plan(_)) | None => {}
                }
                if is_of_type {
                    self.operations.rename(&mut operation.name);
                }
            }
        }
    }

    fn rename_call(&self, by: &mut OperationReference<'_>) {
        if let Some(operation) = &mut by.operation {
            self.operations.rename(operation);
        }
    }

    /// Renames what a service template shows: where it says no name, that is the one inside.
    fn rename_shown(
        &self,
        added: &AddedMembers,
        of: Option<ComponentId>,
        said: &mut DefinedService<'_>,
    ) {
        let Some(boundary) = &mut said.boundary else { return };
        for (kind, shown) in [
            (FeatureKind::Requirement, &mut boundary.requirements),
            (FeatureKind::Capability, &mut boundary.capabilities),
        ] {
            if self.of_features(kind).new.is_empty() {
                continue;
            }
            let inside = said.nodes.iter().flat_map(|node| match kind {
                FeatureKind::Requirement => &node.requirements,
                FeatureKind::Capability => &node.capabilities,
            });
            let names: FxHashMap<&str, &SaidText<'_>> =
                inside.map(|feature| (&*feature.id.text, &feature.name)).collect();
            for feature in shown {
                let inner = feature.reference.as_ref().and_then(|it| names.get(&*it.text));
                let name = feature.name.take().or_else(|| inner.map(|name| (*name).clone()));
                feature.name = name.map(|mut name| {
                    self.rename_feature(added, (of, kind), &mut name);
                    name
                });
            }
        }
    }
}

/// Whether a type or an ancestor has an interface of the name of an exported one.
fn has_interface(library: &Library<'_>, of: ComponentId, exported: &ExportedInterface<'_>) -> bool {
    let all = library.ancestry(of).filter_map(|of| library.entity_type(of));
    all.flat_map(interfaces_of).any(|interface| interface.name.text == exported.name.text)
}

fn interfaces_of<'t, 'd>(said: &'t EntityType<'d>) -> impl Iterator<Item = &'t TypeInterface<'d>> {
    said.interfaces.iter().chain(&said.target_interfaces)
}

/// The names of requirements or capabilities that types would inherit in YAML alone.
fn features(library: &Library<'_>, added: &AddedMembers, kind: FeatureKind) -> GivenNames {
    let (mut former, mut known) = (FxHashSet::default(), FxHashSet::default());
    for id in library.ids() {
        let said = library.entity_type(id).map(|said| said.features(kind)).unwrap_or_default();
        for feature in said {
            known.insert(&*feature.name.text);
            if added.has(id, added::keyname(kind), &feature.name.text) {
                former.insert(feature.name.text.to_string());
            }
        }
    }
    GivenNames::of(former, str::to_owned, &known)
}

/// The names of operations that mean something else in YAML: a keyname, or one of which activities
/// would take the beginning for the name of the interface.
fn operations(library: &Library<'_>) -> GivenNames {
    let mut known = FxHashSet::default();
    for said in library.ids().filter_map(|id| library.entity_type(id)) {
        let operations = interfaces_of(said).flat_map(|interface| &interface.operations);
        known.extend(operations.map(|operation| &*operation.name.text));
    }
    let is_other = |name: &&&str| **name == NO_OPERATION || name.contains('.');
    let former = known.iter().filter(is_other).map(|name| (*name).to_owned()).collect();
    GivenNames::of(former, |name| name.replace('.', "_"), &known)
}
