//! Adds the contents of imported files other than types (section 3.6.8): their templates, inputs
//! and so on count as if they were part of the importing topology.
//!
//! The resolved template still imports the files with all their contents. So these elements are
//! present as long as an import that leads to them is, and nothing else decides about their
//! presence.

use super::entity::{NodeTemplate, Property, RelationshipTemplate, TypeAssignment};
use super::topology::{ServiceTemplate, parse};
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics};
use crate::tosca::v2_0;
use cuvee_text::source::Span;
use cuvee_text::yaml::Node;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// The topology of an imported file.
pub(crate) struct ImportedTopology<'a> {
    /// The whole document.
    pub root: Node<'a>,
    /// The conditions under which it is imported; `None` if it always is.
    pub conditions: Option<Node<'a>>,
    /// Whether inputs leave it possible.
    pub is_possible: bool,
}

/// Whether an importing template includes the topology of this file. A topology that substitutes
/// nodes is not included: it is for nodes that need it, and otherwise a template of its own. Imports
/// of TOSCA 2.0 bring types, repositories and functions only (section 6.8.1).
pub(crate) fn has_topology(root: Node<'_>) -> bool {
    !v2_0::is_of(root.document())
        && root
            .get("topology_template")
            .is_some_and(|topology| topology.get("substitution_mappings").is_none())
}

impl<'a> ServiceTemplate<'a> {
    /// The template with the topologies of these files.
    pub(crate) fn with(
        &self,
        imported: &[ImportedTopology<'a>],
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let (whole, known) = (self.clone(), FxHashMap::default());
        let mut merging = Merging { whole, known, is_possible: true, diagnostics };
        merging.know_own();
        for topology in imported {
            merging.topology(topology);
        }
        merging.whole
    }
}

struct Merging<'a, 'd> {
    whole: ServiceTemplate<'a>,
    /// The places of the known elements, by their kinds and names.
    known: FxHashMap<(&'static str, &'a str), Span>,
    /// Whether the topology that is being added can be there. If not, its names clash with no others.
    is_possible: bool,
    diagnostics: &'d mut Diagnostics,
}

impl<'a> Merging<'a, '_> {
    fn know_own(&mut self) {
        let whole = &self.whole;
        let own = [
            ("input", whole.inputs.iter().map(|it| &it.declared).collect()),
            ("output", whole.outputs.iter().map(|it| &it.declared).collect()),
            ("node", whole.nodes.iter().map(|it| &it.declared).collect()),
            ("group", whole.groups.iter().map(|it| &it.declared).collect()),
            ("policy", whole.policies.iter().map(|it| &it.declared).collect::<Vec<_>>()),
        ];
        for (what, all) in own {
            self.known.extend(all.into_iter().map(|it| ((what, it.name()), it.span())));
        }
        let relationships = whole.relationships.iter();
        self.known.extend(
            relationships.map(|it| ((RELATIONSHIP, it.declared.name()), it.declared.span())),
        );
        let workflows = workflows(whole.root);
        self.known.extend(workflows.map(|name| ((WORKFLOW, text(name)), name.span())));
    }

    /// Adds the elements of an imported topology; of two elements of one name, the first counts.
    fn topology(&mut self, imported: &ImportedTopology<'a>) {
        self.is_possible = imported.is_possible;
        let mut found = Diagnostics::default();
        // Of files in other versions, which import definitions allow, only types are used.
        let Ok(mut part) = parse(imported.root, &mut found) else { return };
        found.0.retain(|found| found.code != Code::UnsupportedVersion);
        self.diagnostics.0.append(&mut found.0);
        part.settle(imported.conditions);
        part.inputs.retain(|it| self.is_new("input", it.declared.key()));
        part.outputs.retain(|it| self.is_new("output", it.declared.key()));
        part.nodes.retain(|it| self.is_new("node", it.declared.key()));
        part.relationships.retain(|it| self.is_new(RELATIONSHIP, it.declared.key()));
        part.groups.retain(|it| self.is_new("group", it.declared.key()));
        part.policies.retain(|it| self.is_new("policy", it.declared.key()));
        for name in workflows(imported.root) {
            self.is_new(WORKFLOW, name);
        }
        self.whole.inputs.append(&mut part.inputs);
        self.whole.outputs.append(&mut part.outputs);
        self.whole.nodes.append(&mut part.nodes);
        self.whole.relationships.append(&mut part.relationships);
        self.whole.groups.append(&mut part.groups);
        self.whole.policies.append(&mut part.policies);
        self.whole.imported.push(imported.root);
    }

    /// Whether no element of this kind has the name yet. A duplicate is reported at the importing
    /// template's own element if there is one, because its author can rename that.
    fn is_new(&mut self, what: &'static str, key: Node<'a>) -> bool {
        let name = text(key);
        let first = match self.known.entry((what, name)) {
            Entry::Vacant(place) => {
                place.insert(key.span());
                return true;
            }
            Entry::Occupied(_) if !self.is_possible => return false,
            Entry::Occupied(first) => *first.get(),
        };
        let is_own = first.file == self.whole.root.span().file;
        let (at, other) = if is_own { (first, key.span()) } else { (key.span(), first) };
        let message = format!("the {what} `{name}` is imported, and there a second time");
        let error = Diagnostic::error(Code::Duplicate, message).at(at).section("3.6.8");
        self.diagnostics.push(error.label(other, "the other one").help("rename one of them"));
        false
    }
}

const RELATIONSHIP: &str = "relationship template";

const WORKFLOW: &str = "workflow";

fn text(name: Node<'_>) -> &str {
    name.text().unwrap_or_default()
}

/// The names of workflows. Workflows are not parsed further here.
fn workflows(root: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let all = root.get("topology_template").and_then(|topology| topology.get("workflows"));
    all.into_iter().flat_map(Node::entries).map(|(name, _)| name)
}

impl<'a> ServiceTemplate<'a> {
    /// Makes every element of the template present while these conditions hold, whatever conditions
    /// it has itself.
    fn settle(&mut self, conditions: Option<Node<'a>>) {
        let parameters = self.inputs.iter_mut().chain(&mut self.outputs);
        parameters.for_each(|parameter| parameter.declared.settle(conditions));
        self.nodes.iter_mut().for_each(|node| node.settle(conditions));
        self.relationships.iter_mut().for_each(|template| template.settle(conditions));
        for group in &mut self.groups {
            group.declared.settle(conditions);
            settle(&mut group.types, &mut group.properties, conditions);
        }
        for policy in &mut self.policies {
            policy.declared.settle(conditions);
            settle(&mut policy.types, &mut policy.properties, conditions);
        }
    }
}

impl<'a> NodeTemplate<'a> {
    fn settle(&mut self, conditions: Option<Node<'a>>) {
        self.declared.settle(conditions);
        settle(&mut self.types, &mut self.properties, conditions);
        for requirement in &mut self.requirements {
            requirement.declared.settle(conditions);
            requirement.inline.iter_mut().for_each(|template| template.settle(conditions));
        }
        for artifact in &mut self.artifacts {
            artifact.declared.settle(conditions);
            settle(&mut artifact.types, &mut artifact.properties, conditions);
        }
        // The deployment of an imported node cannot be written into its file.
        self.technologies = Box::default();
        self.managed = Some(false);
    }
}

impl<'a> RelationshipTemplate<'a> {
    fn settle(&mut self, conditions: Option<Node<'a>>) {
        settle(&mut self.types, &mut self.properties, conditions);
    }
}

fn settle<'a>(
    types: &mut [TypeAssignment<'a>],
    properties: &mut [Property<'a>],
    conditions: Option<Node<'a>>,
) {
    let types = types.iter_mut().map(|assignment| &mut assignment.declared);
    let properties = properties.iter_mut().map(|property| &mut property.declared);
    types.chain(properties).for_each(|declared| declared.settle(conditions));
}
