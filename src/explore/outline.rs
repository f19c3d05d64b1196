//! The outline of a template before anything is chosen: its possible elements and their conditions.
//!
//! The outline is owned and serialisable, so that drawings, reports and other programs can use it.

use crate::variability::graph::{ElementId, Graph};
use crate::variability::presence::Presence;
use cuvee_text::source::{SourceMap, Span};
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, NodeKind, write_line};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// All node templates of a template and the relations between them, in the order of the template.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Outline {
    /// The node templates.
    pub nodes: Vec<OutlineNode>,
    /// The requirement assignments.
    pub relations: Vec<OutlineRelation>,
}

/// A node template.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OutlineNode {
    /// Its identifier, such as `node.shop`.
    pub identifier: String,
    /// Its name.
    pub name: String,
    /// The names of the node's types; several if they are alternatives.
    pub types: Vec<String>,
    /// The cost of the node when the topology is optimised.
    pub weight: f64,
    /// The conditions that the author wrote for the node and for the variability groups it is a
    /// member of. Each is one line of YAML; all of them must hold.
    pub conditions: Vec<String>,
    /// The place of the declaration: `file:line:column`.
    pub place: String,
    /// Whether the node is used from outside.
    pub persistent: bool,
    /// The nodes that this node helps to substitute, outermost first; each is a part of what
    /// substitutes the one before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub substitutes: Vec<String>,
}

/// A requirement assignment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OutlineRelation {
    /// Its identifier, such as `relation.host@0.node.shop`.
    pub identifier: String,
    /// Its name.
    pub name: String,
    /// The source node, as a position in [`Outline::nodes`].
    pub source: usize,
    /// The target node, likewise; `None` if the target is left to an orchestrator.
    pub target: Option<usize>,
    /// Whether the target hosts the source.
    pub hosting: bool,
    /// The conditions, as for nodes.
    pub conditions: Vec<String>,
    /// The place of the declaration: `file:line:column`.
    pub place: String,
    /// The identifier of the relation that is declared, if the source copies the one that has it.
    #[serde(skip)]
    pub copies: Option<String>,
}

/// Where an element is declared, and whether a variant has it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ElementPlace {
    /// The identifier of the element, such as `node.shop`.
    pub identifier: String,
    /// The place of its declaration: its key, where it has one.
    pub span: Span,
    /// Whether the variant has it.
    pub present: bool,
}

impl ElementPlace {
    /// The places of all elements that have an author.
    pub(crate) fn all(graph: &Graph<'_>, presence: &Presence) -> Vec<Self> {
        let place = |id| Self {
            identifier: graph.identifier(id).to_string(),
            span: graph.element(id).span,
            present: presence.is(id),
        };
        let written = |&id: &ElementId| {
            let element = graph.element(id);
            !element.by_rule && !element.span.is_detached()
        };
        graph.ids().filter(written).map(place).collect()
    }
}

impl Outline {
    /// The outline of a template, with all inputs left open.
    pub(crate) fn of(graph: &Graph<'_>, sources: &SourceMap) -> Self {
        let groups = group_conditions(graph);
        let conditions =
            |id| conditions(graph, id, &groups).iter().map(write_line).collect::<Vec<_>>();
        let place = |id| sources.place(graph.element(id).span);
        let names = |ids: &[ElementId]| {
            ids.iter().map(|&id| graph.element(id).name.to_owned()).collect::<Vec<_>>()
        };
        let nodes = graph.nodes.iter().map(|node| OutlineNode {
            identifier: graph.identifier(node.id).to_string(),
            name: graph.element(node.id).name.to_owned(),
            types: names(&graph.holder(node, "type").types),
            weight: node.template.weight.into(),
            conditions: conditions(node.id),
            place: place(node.id),
            persistent: node.template.persistent,
            substitutes: substituted_nodes(node.template.declared.value()),
        });
        let relations = graph.relations.iter().map(|relation| OutlineRelation {
            identifier: graph.identifier(relation.id).to_string(),
            name: graph.element(relation.id).name.to_owned(),
            source: relation.source.0 as usize,
            target: relation.target.map(|target| target.0 as usize),
            hosting: relation.hosting,
            conditions: conditions(relation.id),
            place: place(relation.id),
            copies: None,
        });
        let mut relations: Vec<_> = relations.collect();
        let nodes: Vec<OutlineNode> = nodes.collect();
        for (source, node) in graph.nodes.iter().enumerate() {
            let holder = graph.holder(node, "requirements");
            for id in holder.relations.iter().filter(|_| holder.id != node.id) {
                let relation = relations[id.0 as usize].clone();
                let of = graph.identifier(holder.id).to_string();
                let written = relation.identifier.strip_suffix(&*of).unwrap_or_default();
                let identifier = format!("{written}{}", nodes[source].identifier);
                let copies = Some(relation.identifier);
                relations.push(OutlineRelation { identifier, source, copies, ..relation });
            }
        }
        Self { nodes, relations }
    }
}

/// The greatest depth of substitution that is read; deeper nesting does not occur in practice.
const DEPTH: usize = 64;

/// The nodes that a node substitutes according to its metadata, outermost first.
fn substituted_nodes(template: Node<'_>) -> Vec<String> {
    let said = |name: &str| template.get("metadata")?.get(name)?.text().filter(|it| !it.is_empty());
    let Some(innermost) = said("substitutes") else { return Vec::new() };
    let around = said("within").into_iter().flat_map(|path| path.split('/'));
    around.take(DEPTH).chain([innermost]).map(str::to_owned).collect()
}

/// The conditions that variability groups impose on their members.
pub(crate) fn group_conditions<'a>(graph: &Graph<'a>) -> FxHashMap<ElementId, Vec<Node<'a>>> {
    let mut demanded: FxHashMap<_, Vec<_>> = FxHashMap::default();
    for group in graph.groups.iter().filter(|group| group.variability) {
        for &(_, member) in &group.members {
            demanded.entry(member).or_default().extend(group.group.declared.conditions());
        }
    }
    demanded
}

/// The author's conditions of an element. A default alternative has none of its own: it is selected
/// because it is the default.
pub(crate) fn conditions(
    graph: &Graph<'_>,
    id: ElementId,
    groups: &FxHashMap<ElementId, Vec<Node<'_>>>,
) -> Vec<Value> {
    let element = graph.element(id);
    let default = |is_default: bool| {
        vec![Value::Map([("default_alternative".into(), is_default.into())].into())]
    };
    if element.default_alternative() == Some(true) {
        return default(true);
    }
    let own = element.conditions.map(|conditions| graph.syntax.get(conditions).node());
    let mut found = Vec::new();
    for &written in own.iter().chain(groups.get(&id).into_iter().flatten()) {
        let list = written.kind() == NodeKind::Sequence;
        let (one, several) = ((!list).then_some(written), written.items());
        found.extend(one.into_iter().chain(several).map(Node::to_value));
    }
    // An alternative that declares not to be the default and has no conditions is never selected.
    if found.is_empty() && element.default_alternative() == Some(false) {
        return default(false);
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::Resolver;
    use cuvee_text::source::MemoryFiles;

    const TEMPLATE: &str = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    inputs:
      open: { type: integer }
  node_templates:
    a:
      type: T
      weight: 0.25
      conditions: { and: [{ greater: [{ variability_input: open }, 1.50] }, true] }
      requirements:
        - to: { node: b, default_alternative: true }
        - to: { node: a, default_alternative: false }
        - to: { conditions: false }
    b:
      type: [T, { U: { conditions: true } }]
      persistent: true
      conditions:
        - variability_input: open
        - node_presence: a
  groups:
    g:
      type: variability.groups.Root
      conditions: { node_presence: b }
      members: [a, [a, 2]]
";

    #[test]
    fn says_what_there_may_be_and_when() {
        let resolver = Resolver::new("t.yaml").files(MemoryFiles::from([("t.yaml", TEMPLATE)]));
        let outline = resolver.outline().unwrap();
        let node = |index: usize, conditions: &[&str]| {
            let node = &outline.nodes[index];
            assert_eq!(node.conditions, conditions);
            (
                &*node.identifier,
                &*node.name,
                node.weight,
                &*node.place,
                node.persistent,
                node.types.join(" "),
            )
        };
        let a = node(
            0,
            &["and: [{greater: [{variability_input: open}, 1.50]}, true]", "node_presence: b"],
        );
        assert_eq!(a, ("node.a", "a", 0.25, "t.yaml:7:5", false, "T".to_owned()));
        let b = node(1, &["variability_input: open", "node_presence: a"]);
        assert_eq!(b, ("node.b", "b", 1.0, "t.yaml:15:5", true, "T U".to_owned()));
        let relations: Vec<_> = outline
            .relations
            .iter()
            .map(|r| (&*r.identifier, r.source, r.target, r.conditions.join("; ")))
            .collect();
        let expected = [
            ("relation.to@0.node.a", 0, Some(1), "default_alternative: true"),
            ("relation.to@1.node.a", 0, Some(0), "default_alternative: false"),
            ("relation.to@2.node.a", 0, None, "false; node_presence: b"),
        ];
        assert_eq!(
            relations,
            expected.map(|(id, source, target, conditions)| (
                id,
                source,
                target,
                conditions.to_owned()
            ))
        );
    }

    #[test]
    fn copies_have_the_relations_of_what_they_copy() {
        let text = "\
tosca_definitions_version: tosca_2_0
node_types: {T: {}}
service_template:
  node_templates:
    a: {type: T, requirements: [to: b]}
    b: {type: T}
    c: {copy: a}
    d: {copy: a, requirements: []}
";
        let outline = Resolver::from_text("t.yaml", text).outline().unwrap();
        let relations = outline.relations.iter();
        let relations: Vec<_> =
            relations.map(|it| (&*it.identifier, it.source, it.target, &it.copies)).collect();
        let own = Some("relation.to@0.node.a".to_owned());
        assert_eq!(
            relations,
            [
                ("relation.to@0.node.a", 0, Some(1), &None),
                ("relation.to@0.node.c", 2, Some(1), &own)
            ]
        );
    }

    #[test]
    fn a_broken_template_has_none() {
        let text = TEMPLATE.replace("persistent", "persistant");
        let failure = Resolver::new("t.yaml")
            .files(MemoryFiles::from([("t.yaml", text)]))
            .outline()
            .unwrap_err();
        assert!(
            failure.to_string().contains("did you mean")
                || failure.to_string().contains("unknown-keyword"),
            "{failure}"
        );
    }
}
