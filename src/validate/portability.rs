//! Notes valid constructs that other programs reject, for authors who pass a template on.
//!
//! The table of programs and constructs is data, in `presets/portability.yaml`.

use super::checker::Checker;
use crate::diagnostic::{Code, Diagnostic};
use crate::tosca::{ArtifactDefinition, Family, TypeDefinition, TypeId, profile, v2_0};
use crate::variability::graph::{ArtifactElement, ElementId, NodeElement, RelationElement};
use cuvee_text::source::FileId;
use cuvee_text::yaml::{self, Document, Limits, Node, NodeKind};
use std::sync::OnceLock;

/// A section of the table in `presets/portability.yaml`.
fn table(key: &str) -> Option<Node<'static>> {
    static TABLE: OnceLock<Option<Document>> = OnceLock::new();
    let read = || {
        let text = include_str!("../../presets/portability.yaml").into();
        // The text is fixed, and a test ensures that it parses.
        yaml::parse(FileId::DETACHED, text, &Limits::default()).ok()
    };
    TABLE.get_or_init(read).as_ref()?.root().get(key)
}

/// The programs of a list, with their versions, as part of a sentence.
fn names(programs: Node<'static>) -> String {
    let all = table("programs");
    let name = |key: Node<'static>| all?.get(key.text()?)?.text();
    let names: Vec<_> = programs.items().filter_map(name).collect();
    match &*names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A note that these programs reject a construct; `None` if there are no such programs.
fn note(code: Code, what: &str, programs: Option<Node<'static>>) -> Option<Diagnostic> {
    let names = names(programs?);
    let message = format!("{what}, and so is refused by {names}");
    (!names.is_empty()).then(|| Diagnostic::note(code, message))
}

/// A note about a way of writing something.
fn way(code: Code, way: &str, what: &str) -> Option<Diagnostic> {
    note(code, what, table("ways").and_then(|ways| ways.get(way)))
}

impl<'c, 'a> Checker<'c, 'a> {
    /// Notes the constructs of the template that other programs reject.
    pub(super) fn portability(&self) {
        for document in self.documents.iter().filter(|one| !profile::is_built_in(one.file())) {
            self.portable_version(document);
            self.portable_metadata(&[], document.root());
        }
        let types = self.types.ids().map(|id| self.types.definition(id));
        types.filter(|kind| !profile::is_built_in(kind.key.span().file)).for_each(|kind| {
            self.portable_type(kind);
        });
        let inputs = self.graph.inputs.iter().map(|input| (input.id, input.parameter));
        let outputs = self.graph.outputs.iter().map(|output| (output.id, output.parameter));
        for (id, parameter) in inputs.chain(outputs) {
            self.portable_schemas(&[id], parameter.declared.value());
        }
        for node in self.graph.nodes.iter().filter(|node| self.counts(node.id)) {
            self.portable_metadata(&[node.id], node.template.declared.value());
            self.portable_properties(node);
        }
        self.graph.artifacts.iter().for_each(|artifact| self.portable_artifact(artifact));
        self.graph.relations.iter().for_each(|relation| self.portable_relation(relation));
    }

    /// Reports a note for the variants in which all of `when` are present.
    fn tell(&self, when: &[ElementId], at: Node<'_>, note: Option<Diagnostic>, help: String) {
        if let Some(note) = note {
            self.report_when(when, &[], note.at(at.span()).help(help));
        }
    }

    /// Notes a file of TOSCA 2.0.
    fn portable_version(&self, document: &Document) {
        let version = document.root().get("tosca_definitions_version");
        if let Some(version) = version.filter(|_| v2_0::is_of(document)) {
            let found = way(Code::PortableVersion, "version-2", "the file is of TOSCA 2.0");
            let help = "write it as TOSCA 1.3 with `cuvee convert --to 1.3`".to_owned();
            self.tell(&[], version, found, help);
        }
    }

    /// Notes metadata that are not strings: metadata are a map of strings, and `1.10` is a number.
    fn portable_metadata(&self, when: &[ElementId], owner: Node<'_>) {
        for (key, value) in owner.get("metadata").into_iter().flat_map(Node::entries) {
            if value.kind() != NodeKind::Scalar || value.as_str().is_some() {
                continue;
            }
            let (name, is) = (key.text().unwrap_or_default(), value.describe());
            let what = format!("`{name}` in `metadata` is {is}");
            let note = way(Code::PortableMetadata, "metadata-not-text", &what);
            let help = format!("write `\"{}\"`", value.text().unwrap_or_default());
            self.tell(when, value, note, help);
        }
    }

    fn portable_type(&self, kind: &TypeDefinition<'_>) {
        self.portable_metadata(&[], kind.value);
        self.portable_schemas(&[], kind.value);
        for requirement in &kind.requirements {
            let lacks = |keyname| {
                format!("the requirement `{}` has no `{keyname}`", requirement.named.name)
            };
            if requirement.relationship.is_none() {
                let way = way(
                    Code::PortableRelationship,
                    "requirement-without-relationship",
                    &lacks("relationship"),
                );
                let help = "name a relationship type, such as `tosca.relationships.DependsOn`, also where it is inherited";
                self.tell(&[], requirement.named.key, way, help.to_owned());
            }
            if requirement.node.is_none() {
                let way = way(Code::PortableNode, "requirement-without-node", &lacks("node"));
                let help =
                    "name a node type, such as `tosca.nodes.Root`, also where it is inherited";
                self.tell(&[], requirement.named.key, way, help.to_owned());
            }
        }
        for ArtifactDefinition { named, file, repository, .. } in &kind.artifacts {
            self.portable_file(&[], named.name, *file, *repository);
        }
    }

    /// Notes schemas in their short notation, in all definitions below a node.
    fn portable_schemas(&self, when: &[ElementId], definition: Node<'_>) {
        let mut open = vec![definition];
        while let Some(node) = open.pop() {
            let is_schema =
                |key: Node<'_>| matches!(key.text(), Some("entry_schema" | "key_schema"));
            let is_definition = node.get("type").is_some();
            for (key, value) in node.entries() {
                if is_definition && is_schema(key) && value.kind() == NodeKind::Scalar {
                    let name = key.text().unwrap_or_default();
                    let what = format!("`{name}` is a name");
                    let note = way(Code::PortableSchema, "schema-in-short", &what);
                    let help = format!("write `{{ type: {} }}`", value.text().unwrap_or_default());
                    self.tell(when, value, note, help);
                }
                // A default is a value, even if it looks like a definition.
                if !matches!(key.text(), Some("default" | "value" | "metadata")) {
                    open.push(value);
                }
            }
            open.extend(node.items());
        }
    }

    /// Notes missing properties that are optional here but required by other programs.
    fn portable_properties(&self, node: &NodeElement<'a>) {
        if self.is_selected(node) {
            return;
        }
        let copied = self.copied(node).into_iter().flat_map(|copied| &copied.properties);
        let properties: Vec<_> = node.properties.iter().chain(copied).copied().collect();
        for (kind, mut when) in self.types_of(node.id, Family::Node) {
            when.push(node.id);
            for (name, programs) in self.required_by_others(kind) {
                let is_named = |id: &&ElementId| self.graph.element(**id).name == name;
                let assigned: Vec<_> = properties.iter().filter(is_named).copied().collect();
                let what = format!("{} has no `{name}`", self.graph.display(node.id));
                let Some(note) = note(Code::PortableRequired, &what, Some(programs)) else {
                    continue;
                };
                let help = format!(
                    "assign the property, which is optional in TOSCA, or give `{name}` a default in the type"
                );
                let at = self.graph.element(node.id).span;
                self.report_when(&when, &assigned, note.at(at).help(help));
            }
        }
    }

    /// The properties of a type that profiles of other programs require, without those that have a
    /// default or that are required here, too.
    fn required_by_others(&self, kind: TypeId) -> Vec<(&'static str, Node<'static>)> {
        let required = table("required");
        let of_type = |id| required?.get(self.types.definition(id).name);
        let all = self.types.chain(kind).filter_map(of_type).flat_map(Node::entries);
        let named = all.filter_map(|(key, programs)| Some((key.text()?, programs)));
        let properties = &self.types.effective(kind).properties;
        let is_left_to_others = |name: &str| {
            properties.get(name).is_some_and(|part| {
                let definition = &part.definition;
                !definition.is_required()
                    && definition.default.is_none()
                    && definition.value.is_none()
            })
        };
        named.filter(|(name, _)| is_left_to_others(name)).collect()
    }

    fn portable_artifact(&self, artifact: &ArtifactElement<'a>) {
        let body = artifact.artifact.declared.value();
        let file = if body.kind() == NodeKind::Scalar { Some(body) } else { body.get("file") };
        let name = self.graph.element(artifact.id).name;
        self.portable_file(&[artifact.id], name, file, body.get("repository"));
    }

    /// Notes a file that is not in the archive, because other programs look for it there.
    fn portable_file(
        &self,
        when: &[ElementId],
        name: &str,
        file: Option<Node<'_>>,
        repository: Option<Node<'_>>,
    ) {
        let Some((file, text)) = file.and_then(|file| Some((file, file.as_str()?))) else { return };
        let (which, is) = match repository {
            Some(_) => ("artifact-in-repository", "lies in a repository"),
            None if text.contains("://") => ("artifact-address", "is an address"),
            None => return,
        };
        let what = format!("the file of the artifact `{name}` {is}");
        let help = "bring a file along, and say in a property where to get what it stands for";
        self.tell(when, file, way(Code::PortableArtifact, which, &what), help.to_owned());
    }

    /// Notes a `relationship` in a requirement assignment that is not the name of a relationship
    /// template.
    fn portable_relation(&self, relation: &RelationElement<'a>) {
        let Some(relationship) = relation.requirement.declared.value().get("relationship") else {
            return;
        };
        let named = relationship.text().filter(|_| relationship.kind() == NodeKind::Scalar);
        let is_type = |name| self.types.find(Family::Relationship, name).is_some();
        let (which, what) = match named {
            None if relationship.is_null() => return,
            None => ("relationship-in-place", "the relationship is described in place".to_owned()),
            Some(name) if relation.relationship.is_none() && is_type(name) => {
                ("relationship-by-type", format!("the relationship is named by its type `{name}`"))
            }
            Some(_) => return,
        };
        let help = "name a relationship template, or leave it to the definition of the requirement";
        let note = way(Code::PortableRelationship, which, &what);
        self.tell(&[relation.id], relationship, note, help.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_names_programs_and_types() {
        let lists = |key| table(key).unwrap().entries();
        let required = lists("required").flat_map(|(_, properties)| properties.entries());
        for (key, programs) in lists("ways").chain(required) {
            let known = programs
                .items()
                .filter(|one| table("programs").unwrap().get(one.text().unwrap()).is_some());
            assert!(known.count() > 0, "{:?}", key.text());
            assert!(names(programs).contains(char::is_numeric));
        }
        let types = crate::tosca::Types::of([profile::normative()]);
        for (name, properties) in lists("required") {
            let kind = types.find(Family::Node, name.text().unwrap()).unwrap();
            for (property, _) in properties.entries() {
                assert!(types.effective(kind).properties.contains_key(property.text().unwrap()));
            }
        }
    }
}
