//! The topology of a template before anything is chosen: what there may be, and under which conditions.
//!
//! It is owned and serialisable, so that drawings, reports and other programs can be made from it.

use crate::graph::{ElementId, Graph};
use crate::inputs::Openness;
use crate::resolver::{Failure, Resolver};
use crate::source::{SourceMap, Span};
use crate::yaml::{NodeKind, write_line};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// All node templates of a template and the relations between them, in the order of the template.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Topology {
    /// The node templates.
    pub nodes: Vec<Node>,
    /// The requirement assignments.
    pub relations: Vec<Relation>,
}

/// A node template.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Node {
    /// Its identifier, such as `node.shop`.
    pub identifier: String,
    /// Its name.
    pub name: String,
    /// The names of its types; more than one where it has alternatives.
    pub types: Vec<String>,
    /// What its presence costs when the topology is optimised.
    pub weight: f64,
    /// What its author wrote under `conditions`, here and at the variability groups it is a member of: one line of YAML each, all of
    /// which must hold.
    pub conditions: Vec<String>,
    /// Where it is declared: `file:line:column`.
    pub place: String,
    /// Whether it is used from outside.
    pub persistent: bool,
}

/// A requirement assignment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Relation {
    /// Its identifier, such as `relation.host@0.node.shop`.
    pub identifier: String,
    /// Its name.
    pub name: String,
    /// Where it starts: a position in [`Topology::nodes`].
    pub source: usize,
    /// Where it ends; nothing where the target is left to an orchestrator.
    pub target: Option<usize>,
    /// Whether the target hosts the source.
    pub hosting: bool,
    /// As for nodes.
    pub conditions: Vec<String>,
    /// Where it is declared: `file:line:column`.
    pub place: String,
}

impl Resolver {
    /// The topology of the template, whatever its inputs are: those without a value are left open.
    ///
    /// ```
    /// let topology = cuvee::Resolver::new("examples/shop").topology()?;
    /// let relation = &topology.relations[0];
    /// assert_eq!(relation.identifier, "relation.host@0.node.shop");
    /// assert_eq!(relation.conditions, ["logic_expression: on_laptop"]);
    /// assert_eq!(relation.target.map(|target| &*topology.nodes[target].name), Some("engine"));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// A [`Failure`] where the template is wrong whatever its inputs are.
    pub fn topology(&self) -> Result<Topology, Failure> {
        let mut sources = SourceMap::default();
        let survey = self.with_prepared(Openness::Open, &mut sources, &mut (), |prepared, _, _| Ok(Survey::of(prepared.graph)));
        match survey {
            Ok((survey, _)) => Ok(survey.placed(&sources)),
            Err(diagnostics) => Err(Failure { diagnostics: diagnostics.0, sources }),
        }
    }
}

/// A topology whose places are not yet named: that takes the files, which are still being read.
struct Survey {
    topology: Topology,
    nodes: Vec<Span>,
    relations: Vec<Span>,
}

impl Survey {
    fn of(graph: &Graph<'_>) -> Self {
        let groups = group_conditions(graph);
        let conditions = |id| conditions(graph, id, &groups);
        let nodes = graph.nodes.iter().map(|node| Node {
            identifier: graph.identifier(node.id).to_string(),
            name: graph.element(node.id).name.to_owned(),
            types: node.types.iter().map(|&id| graph.element(id).name.to_owned()).collect(),
            weight: node.template.weight.into(),
            conditions: conditions(node.id),
            place: String::new(),
            persistent: node.template.persistent,
        });
        let relations = graph.relations.iter().map(|relation| Relation {
            identifier: graph.identifier(relation.id).to_string(),
            name: graph.element(relation.id).name.to_owned(),
            source: relation.source.0 as usize,
            target: relation.target.map(|target| target.0 as usize),
            hosting: relation.hosting,
            conditions: conditions(relation.id),
            place: String::new(),
        });
        Self {
            topology: Topology { nodes: nodes.collect(), relations: relations.collect() },
            nodes: graph.nodes.iter().map(|node| graph.element(node.id).span).collect(),
            relations: graph.relations.iter().map(|relation| graph.element(relation.id).span).collect(),
        }
    }

    fn placed(mut self, sources: &SourceMap) -> Topology {
        let place = |span: &Span| {
            let at = sources.location(*span);
            format!("{}:{}:{}", at.path.display(), at.line, at.column)
        };
        for (node, span) in self.topology.nodes.iter_mut().zip(&self.nodes) {
            node.place = place(span);
        }
        for (relation, span) in self.topology.relations.iter_mut().zip(&self.relations) {
            relation.place = place(span);
        }
        self.topology
    }
}

/// What the variability groups demand of their members.
fn group_conditions<'a>(graph: &Graph<'a>) -> FxHashMap<ElementId, Vec<crate::yaml::Node<'a>>> {
    let mut demanded: FxHashMap<_, Vec<_>> = FxHashMap::default();
    for group in graph.groups.iter().filter(|group| group.variability) {
        for &(_, member) in &group.members {
            demanded.entry(member).or_default().extend(group.group.declared.conditional.conditions);
        }
    }
    demanded
}

/// The author's conditions of an element. A default alternative has none of its own: that it is the default is what decides.
fn conditions(graph: &Graph<'_>, id: ElementId, groups: &FxHashMap<ElementId, Vec<crate::yaml::Node<'_>>>) -> Vec<String> {
    let conditional = graph.element(id).conditional;
    if conditional.and_then(|conditional| conditional.default_alternative()) == Some(true) {
        return vec!["default_alternative: true".to_owned()];
    }
    let own = conditional.and_then(|conditional| conditional.conditions);
    let mut lines = Vec::new();
    for &written in own.iter().chain(groups.get(&id).into_iter().flatten()) {
        let list = written.kind() == NodeKind::Sequence;
        let (one, several) = ((!list).then_some(written), written.items());
        lines.extend(one.into_iter().chain(several).map(|condition| write_line(&condition.to_value())));
    }
    lines
}
