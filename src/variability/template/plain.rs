//! Recognises plain TOSCA, and reports notations of variability in templates that declare
//! themselves plain: lists instead of maps, and keywords that variability adds.

use super::entity::{Artifact, Group, NodeTemplate, Requirement};
use super::shape;
use super::topology::ServiceTemplate;
use super::{OLDER_VERSIONS, PLAIN_VERSION};
use crate::diagnostic::{Cite, Code, Diagnostic};
use crate::tosca::shape::{GROUP, TOPOLOGY, Vocabulary};
use crate::tosca::{profile, v2_0};
use cuvee_text::source::Span;
use cuvee_text::yaml::{Node, NodeKind};

/// Whether the version of a template declares it plain.
pub(super) fn is_declared(root: Node<'_>) -> bool {
    let version = root.get("tosca_definitions_version").and_then(Node::text);
    version.is_some_and(|version| match version {
        // In version 2.0, the definition of variability is all that tells.
        v2_0::VERSION => !has_variability(root),
        PLAIN_VERSION | profile::NAMESPACE => true,
        _ => OLDER_VERSIONS.contains(&version),
    })
}

/// Whether a template is plain TOSCA, without variability. In a plain template, a map with `value`
/// is the property's own value; otherwise resolving a resolved template again would change it.
pub(super) fn is_plain(root: Node<'_>) -> bool {
    is_declared(root) && !has_variability(root)
}

fn has_variability(root: Node<'_>) -> bool {
    root.get("topology_template").is_some_and(|topology| topology.get("variability").is_some())
}

/// An error for each place where a template that declares itself plain has a notation that only
/// variable templates may use.
pub(super) fn variability(template: &ServiceTemplate<'_>) -> Vec<Diagnostic> {
    if !is_declared(template.root) {
        return Vec::new();
    }
    let version = template.root.get("tosca_definitions_version").map(Node::span);
    let mut notation = ForeignNotation { version, found: Vec::new() };
    notation.template(template);
    notation.found
}

/// The collections that are maps in plain templates, but may be lists of alternatives in variable
/// ones.
const COLLECTIONS: [&str; 5] =
    ["inputs", "outputs", "node_templates", "relationship_templates", "groups"];

struct ForeignNotation {
    /// The place where the template declares itself plain.
    version: Option<Span>,
    found: Vec<Diagnostic>,
}

impl ForeignNotation {
    fn template(&mut self, template: &ServiceTemplate<'_>) {
        if let Some(topology) = template.root.get("topology_template") {
            self.words(topology, &shape::TOPOLOGY);
            self.lists(topology, &COLLECTIONS, TOPOLOGY.section);
        }
        for import in &template.imports {
            self.words(import.declared.value(), &shape::IMPORT);
        }
        for parameter in template.inputs.iter().chain(&template.outputs) {
            self.words(parameter.declared.value(), &shape::PARAMETER);
        }
        template.nodes.iter().for_each(|node| self.node(node));
        for relationship in &template.relationships {
            self.typed(relationship.declared.value(), &shape::RELATIONSHIP);
        }
        template.groups.iter().for_each(|group| self.group(group));
        for policy in &template.policies {
            self.typed(policy.declared.value(), &shape::POLICY);
        }
    }

    fn node(&mut self, node: &NodeTemplate<'_>) {
        let body = node.declared.value();
        self.typed(body, &shape::NODE);
        self.lists(body, &["artifacts"], shape::NODE.section.unwrap_or_default());
        for Artifact { declared, .. } in &node.artifacts {
            self.typed(declared.value(), &shape::ARTIFACT);
        }
        for Requirement { declared, inline, .. } in &node.requirements {
            self.words(declared.value(), &shape::REQUIREMENT);
            if let Some(relationship) = inline {
                self.typed(relationship.declared.value(), &shape::RELATIONSHIP_IN_PLACE);
            }
        }
    }

    fn group(&mut self, group: &Group<'_>) {
        self.typed(group.declared.value(), &shape::GROUP);
        for member in group.members.iter().filter(|member| member.relation.is_some()) {
            let message = "a member has to be the name of a node in plain TOSCA, not a list";
            self.push(Code::InvalidTemplate, member.item, message.to_owned(), GROUP.section);
        }
    }

    /// Checks an entity that has one type, and one value for each property.
    fn typed(&mut self, body: Node<'_>, vocabulary: &Vocabulary) {
        self.words(body, vocabulary);
        let section = vocabulary.section.unwrap_or_default();
        self.lists(body, &["properties"], section);
        if let Some((key, _)) = lists(body).find(|(key, _)| key.text() == Some("type")) {
            let message = "`type` has to be the name of one type in plain TOSCA, not a list";
            self.push(Code::InvalidTemplate, key, message.to_owned(), section);
        }
    }

    /// Checks the keywords of an entity. Other unknown words are reported elsewhere.
    fn words(&mut self, body: Node<'_>, vocabulary: &Vocabulary) {
        for (key, _) in body.entries() {
            let word = key.text().unwrap_or_default();
            if vocabulary.is_added(word) {
                let message = format!("`{word}` has no meaning in plain TOSCA");
                let section = vocabulary.section.unwrap_or_default();
                self.push(Code::UnknownKeyword, key, message, section);
            }
        }
    }

    fn lists(&mut self, body: Node<'_>, keynames: &[&str], section: &'static str) {
        for (key, list) in lists(body) {
            let keyname = key.text().unwrap_or_default();
            if keynames.contains(&keyname) {
                let message = format!("`{keyname}` has to be a map in plain TOSCA, not a list");
                // There, the grammar says the same of the list.
                let at = if v2_0::is_of(body.document()) { list } else { key };
                self.push(Code::InvalidTemplate, at, message, section);
            }
        }
    }

    fn push(&mut self, code: Code, at: Node<'_>, message: String, section: &'static str) {
        let mut error = Diagnostic::error(code, message).at(at.span()).section(section);
        if let Some(version) = self.version {
            error = error.label(version, "this version makes it plain TOSCA");
        }
        let help = match v2_0::is_of(at.document()) {
            true => "a template with variability has `variability` in its `service_template`",
            false => {
                "a template with variability says `tosca_definitions_version: tosca_variability_1_0`"
            }
        };
        self.found.push(error.help(help));
    }
}

/// The entries of a map whose values are lists.
fn lists(body: Node<'_>) -> impl Iterator<Item = (Node<'_>, Node<'_>)> {
    body.entries().filter(|(_, value)| value.kind() == NodeKind::Sequence)
}
