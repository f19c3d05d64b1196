//! Converts artifacts: in version 1.3 they inherit from those that they refine, and in version 2.0
//! they replace them.

use super::{Converter, Made, SelfScope, SourceEntry, inline_map, text};
use crate::convert::loss::LossKind;
use crate::tosca::Family;
use crate::tosca::types::ArtifactDefinition;
use cuvee_text::yaml::{Node, NodeKind, Out, OutKey};
use rustc_hash::FxHashSet;

/// The type of artifacts that name none.
const ARTIFACT: &str = "tosca.artifacts.File";

impl<'a> Converter<'_, 'a> {
    /// Keeps artifacts that take their file from a definition in another file, where its name means
    /// something else. Returns false where there are none.
    pub(super) fn artifacts_to_2_0(&mut self, made: &mut Made<'a>, entry: SourceEntry<'a>) -> bool {
        let takes_file = |this: &Self, name: &str, artifact: Node<'a>| {
            let is_without = artifact.kind() == NodeKind::Mapping && artifact.get("file").is_none();
            let file = this.inherited_artifact(artifact, name, |it| it.file);
            is_without && file.is_some_and(|it| !std::ptr::eq(it.document(), artifact.document()))
        };
        let why =
            "an artifact of TOSCA 2.0 has to have a file, and this one is that of another type";
        let taking = entry.value.entries().filter(|(key, artifact)| {
            key.text().is_some_and(|name| takes_file(self, name, *artifact))
        });
        let taking: FxHashSet<_> = taking.filter_map(|(key, _)| key.text()).collect();
        self.keep_some(made, entry, &|key, _| taking.contains(key.text()?).then_some(why))
    }

    pub(super) fn finish_artifact(&mut self, made: &mut Made<'a>) {
        if !made.has("type") {
            let kind = self.artifact_type(made.node, self.name);
            made.supply("type", text(kind));
        }
        // Names of files have their meaning beside the file that says them.
        let inherited = self.inherited_artifact(made.node, self.name, |artifact| artifact.file);
        let inherited =
            inherited.filter(|file| std::ptr::eq(file.document(), made.node.document()));
        if let Some(file) = inherited.filter(|_| !made.has("file")) {
            let why = "an artifact of TOSCA 2.0 has to have one";
            self.report(LossKind::Supplied, made.node, "the file of an artifact", why);
            made.supply("file", Out::Source(file));
            self.supply_of_artifact(made);
        }
    }

    /// Supplies what belongs to the file of the artifact that another one refines.
    fn supply_of_artifact(&mut self, made: &mut Made<'a>) {
        let repository = self.inherited_artifact(made.node, self.name, |it| it.repository);
        let properties = self.inherited_properties(made.node);
        let why = "an artifact of TOSCA 2.0 replaces the one of its name";
        if let Some(repository) = repository.filter(|_| !made.has("repository")) {
            self.report(LossKind::Supplied, made.node, "`repository`", why);
            made.supply("repository", Out::Source(repository));
        }
        if let Some(properties) = properties.filter(|_| !made.has("properties")) {
            self.report(LossKind::Supplied, made.node, "`properties`", why);
            let mut properties = self.values(properties, true);
            self.drop_refused(&mut properties);
            made.supply("properties", properties);
        }
    }

    /// What the node type says of its artifact of this name elsewhere than at a node.
    fn inherited_artifact(
        &self,
        at: Node<'a>,
        name: &str,
        said: impl Fn(&ArtifactDefinition<'a>) -> Option<Node<'a>>,
    ) -> Option<Node<'a>> {
        let SelfScope::Node((Some(id), _)) = self.scope else { return None };
        let said = said(&self.context.types.effective(id).artifacts.get(name)?.definition)?;
        let is_here = std::ptr::eq(said.document(), at.document())
            && (at.span().start..at.span().end).contains(&said.span().start);
        (!is_here).then_some(said)
    }

    /// The properties that the artifact which another one refines has.
    fn inherited_properties(&self, at: Node<'a>) -> Option<Node<'a>> {
        let SelfScope::Node((Some(id), _)) = self.scope else { return None };
        let is_here = |node: Node<'a>| node.span() == at.span();
        self.context.types.chain(id).find_map(|id| {
            let mut artifacts = self.context.types.definition(id).artifacts.iter();
            let said = artifacts.find(|it| it.named.name == self.name)?.named.value;
            said.get("properties").filter(|_| !is_here(said))
        })
    }

    /// The type of an artifact that names none: that of the node type's artifact of this name, or
    /// else the one of all files.
    fn artifact_type(&mut self, at: Node<'a>, name: &str) -> String {
        if let Some(kind) = self.inherited_artifact(at, name, |artifact| artifact.kind) {
            let name = kind.text().unwrap_or_default();
            let called = self.called(&[Family::Artifact], name, kind);
            return called.unwrap_or_else(|| name.to_owned());
        }
        self.report(
            LossKind::Supplied,
            at,
            "the type of an artifact",
            "an artifact of TOSCA 2.0 has to have one",
        );
        self.need(Family::Artifact, ARTIFACT);
        ARTIFACT.to_owned()
    }

    /// An artifact that is only the name of its file.
    pub(super) fn short_artifact_to_2_0(&mut self, key: Node<'a>, value: Node<'a>) -> Out<'a> {
        let kind = self.artifact_type(value, key.text().unwrap_or_default());
        let mut out = inline_map("type", text(kind));
        super::extend(&mut out, vec![(OutKey::New("file".into()), Out::Source(value))]);
        out
    }

    /// Tells what an artifact inherits in version 1.3 from the one that it replaces in version 2.0.
    pub(super) fn tell_inherited_of_artifact(&mut self, made: &Made<'a>) {
        let replaced = match (self.own_type, self.scope) {
            (Some(_), _) => self.of_parent(),
            (None, SelfScope::Node((Some(id), _))) => Some(self.context.types.effective(id)),
            _ => None,
        };
        let replaced = replaced.and_then(|of| of.artifacts.get(self.name));
        let Some(replaced) = replaced.map(|part| &part.definition) else { return };
        let inherited = [
            ("repository", replaced.repository.is_some()),
            ("properties", !replaced.properties.is_empty()),
        ];
        for (name, _) in inherited.into_iter().filter(|(name, is)| *is && !made.has(name)) {
            let construct = format!("that an artifact has no `{name}`");
            let why = "an artifact of TOSCA 1.3 inherits what it does not say";
            self.report(LossKind::Lost, made.node, &construct, why);
        }
    }
}
