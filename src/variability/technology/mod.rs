//! Technology rules ("Technology Rules"): which deployment technologies a node can have, and what
//! each makes of its type.
//!
//! A rule matches a node whose type derives from its component, unless a rule for a more specific
//! component does. Each way up the hosting relations that its `hosting` finds is one candidate;
//! that way is the candidate's condition. A rule without a technology is a candidate as well: the
//! node needs none then.

mod hosting;

use crate::text::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::tosca::types::{Family, Meaning, TypeHierarchy};
use crate::variability::element::ElementKind;
use crate::variability::expression::has_artifact_type;
use crate::variability::graph::{
    Element, ElementId, Graph, Implementation, NodeElement, NodeId, RelationId, Requires,
    TechnologyElement,
};
use crate::variability::options::{AssignPattern, Check, Flag, Options};
use crate::variability::template::TechnologyRule;
use rustc_hash::FxHashMap;

/// What candidates are called that stand for no technology.
const NO_TECHNOLOGY: &str = "null";

/// One way in which a rule fits a node.
struct Candidate<'a> {
    rule: &'a TechnologyRule<'a>,
    requires: Requires,
    assign: Option<String>,
}

/// Adds the technologies that rules find for managed nodes, and completes those that authors wrote.
///
/// Reports `required-technology` for each managed node that no rule fits, and a node with more
/// candidates than can be meant.
pub(crate) fn assign<'a>(
    mut graph: Graph<'a>,
    types: &TypeHierarchy<'_>,
    rules: &'a [TechnologyRule<'a>],
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Graph<'a> {
    let rules = Rules::of(rules, types);
    for node in (0..graph.nodes.len() as u32).map(NodeId) {
        let element = graph.node(node);
        let by_rules = element.technologies.is_empty();
        let wanted = if by_rules {
            options.flag(Flag::EnrichTechnologies) && element.managed
        } else {
            options.flag(Flag::EnrichImplementations)
        };
        let found =
            if wanted { rules.candidates(&graph, types, element, options) } else { Ok(Vec::new()) };
        let Some(candidates) = diagnostics.ok(found) else { continue };
        if by_rules && wanted && candidates.is_empty() && options.check(Check::RequiredTechnology) {
            diagnostics.push(required(&graph, element));
        }
        if by_rules {
            add(&mut graph, node, candidates);
        } else {
            complete(&mut graph, types, node, &candidates, options);
        }
    }
    graph
}

fn required(graph: &Graph<'_>, node: &NodeElement<'_>) -> Diagnostic {
    Diagnostic::error(
        Code::RequiredTechnology,
        format!("{} has no technology candidates", graph.display(node.id)),
    )
    .at(graph.element(node.id).span)
    .help("add a technology rule for its type, assign a `technology`, or declare `managed: false`")
}

fn add<'a>(graph: &mut Graph<'a>, node: NodeId, candidates: Vec<Candidate<'a>>) {
    let container = graph.node(node).id;
    for (index, candidate) in candidates.into_iter().enumerate() {
        let id = graph.push(Element {
            kind: ElementKind::Technology,
            name: candidate.rule.technology.as_deref().unwrap_or(NO_TECHNOLOGY),
            index: index as u32,
            container: Some(container),
            slot: graph.technologies.len() as u32,
            span: candidate.rule.node.span(),
            conditions: None,
            settings: None,
            by_rule: true,
        });
        // Rules are read once, however many nodes they are for.
        let conditions = candidate.rule.conditions.map(|node| graph.syntax.read(node));
        graph.technologies.push(TechnologyElement {
            id,
            node,
            none: candidate.rule.technology.is_none(),
            weight: candidate.rule.weight,
            artifacts: candidate.rule.artifact.into_iter().collect(),
            requires: candidate.requires,
            conditions,
            implementations: vec![Implementation {
                requires: Vec::new(),
                assign: candidate.assign,
            }],
        });
        graph.nodes[node.0 as usize].technologies.push(id);
    }
}

/// Gives each technology that the author wrote what the candidates of its name say, and a plain
/// implementation as the last.
fn complete<'a>(
    graph: &mut Graph<'a>,
    types: &TypeHierarchy<'_>,
    node: NodeId,
    candidates: &[Candidate<'a>],
    options: &Options,
) {
    for id in graph.node(node).technologies.clone() {
        let slot = graph.element(id).slot as usize;
        let (name, node_type) =
            (graph.element(id).name, type_name(graph, graph.node(node)).to_owned());
        let index = graph.element(id).index as usize;
        let written = &graph.node(node).template.technologies[index];
        let artifact = written.artifact;
        let fits = |candidate: &&Candidate<'_>| {
            let right_artifact = match (artifact, candidate.rule.artifact) {
                (Some(written), Some(wanted)) => types.is_a(Family::Artifact, written, wanted),
                (Some(_), None) => false,
                (None, _) => true,
            };
            candidate.rule.technology.as_deref() == Some(name) && right_artifact
        };
        let fitting: Vec<_> = candidates.iter().filter(fits).collect();
        let plain = Scenario {
            node_type: &node_type,
            component: &node_type,
            artifact,
            technology: name,
            hosting: &[],
        };
        let last =
            written.assign.map_or_else(|| plain.assign(options.assign_pattern()), str::to_owned);
        let implementation = |candidate: &&Candidate<'_>| Implementation {
            requires: candidate.requires.clone(),
            assign: written.assign.map(str::to_owned).or_else(|| candidate.assign.clone()),
        };
        let mut implementations: Vec<_> = fitting.iter().map(implementation).collect();
        implementations.push(Implementation { requires: Vec::new(), assign: Some(last) });
        let weight = match (written.weight, &fitting[..]) {
            (None, [only]) => Some(only.rule.weight),
            (written, _) => written,
        };
        let technology = &mut graph.technologies[slot];
        technology.weight = weight.unwrap_or(technology.weight);
        technology.implementations = implementations;
        technology.artifacts.extend(fitting.iter().filter_map(|candidate| candidate.rule.artifact));
    }
}

/// The type of a node; with alternatives, the first: conditional types and technology rules do not
/// mix.
fn type_name<'g>(graph: &'g Graph<'_>, node: &NodeElement<'_>) -> &'g str {
    node.types.first().map_or("", |&id| graph.element(id).name)
}

/// What the assigned type is named after.
struct Scenario<'s> {
    node_type: &'s str,
    component: &'s str,
    artifact: Option<&'s str>,
    technology: &'s str,
    hosting: &'s [&'s str],
}

impl Scenario<'_> {
    fn assign(&self, pattern: AssignPattern) -> String {
        let Self { node_type, component, technology, .. } = self;
        match pattern {
            AssignPattern::Vintner => {
                let artifact =
                    self.artifact.map(|artifact| format!("#{artifact}")).unwrap_or_default();
                let hosting = if self.hosting.is_empty() {
                    String::new()
                } else {
                    format!("@{}", self.hosting.join("->"))
                };
                format!("{node_type}~{component}{artifact}::{technology}{hosting}")
            }
            AssignPattern::Dotted => {
                let hosting: String = self.hosting.iter().map(|host| format!(".{host}")).collect();
                format!("{node_type}.{technology}{hosting}")
            }
        }
    }
}

/// Rules by component.
struct Rules<'r, 'a> {
    by_component: FxHashMap<Meaning<'r>, Vec<&'a TechnologyRule<'a>>>,
}

impl<'r, 'a> Rules<'r, 'a> {
    fn of(rules: &'a [TechnologyRule<'a>], types: &'r TypeHierarchy<'_>) -> Self
    where
        'a: 'r,
    {
        let mut by_component: FxHashMap<Meaning<'_>, Vec<&TechnologyRule<'_>>> =
            FxHashMap::default();
        for rule in rules {
            by_component.entry(types.meaning(Family::Node, rule.component)).or_default().push(rule);
        }
        Self { by_component }
    }

    fn candidates(
        &self,
        graph: &Graph<'a>,
        types: &TypeHierarchy<'_>,
        node: &NodeElement<'a>,
        options: &Options,
    ) -> Result<Vec<Candidate<'a>>, Diagnostic> {
        let node_type = type_name(graph, node);
        // The type itself comes first in its chain, so the first component found is the most
        // specific one.
        let rules =
            types.chain(Family::Node, node_type).find_map(|one| self.by_component.get(&one));
        let mut candidates = Vec::new();
        for &rule in rules.into_iter().flatten() {
            let Some(artifacts) = artifacts(graph, types, node, node_type, rule) else { continue };
            let hosting = &rule.hosting;
            let by_pattern = |technology| {
                let scenario = Scenario {
                    node_type,
                    component: rule.component,
                    artifact: rule.artifact,
                    technology,
                    hosting,
                };
                scenario.assign(options.assign_pattern())
            };
            let assign = rule.assign.map(str::to_owned);
            let assign = assign.or_else(|| rule.technology.as_deref().map(by_pattern));
            for path in hosting::paths(graph, types, node, hosting)? {
                let mut requires: Requires =
                    path.iter().flat_map(|&id| on_path(graph, id)).map(|id| vec![id]).collect();
                requires.extend((!artifacts.is_empty()).then(|| artifacts.clone()));
                candidates.push(Candidate { rule, requires, assign: assign.clone() });
            }
        }
        Ok(candidates)
    }
}

/// The relation and the host it leads to.
fn on_path(graph: &Graph<'_>, id: RelationId) -> impl Iterator<Item = ElementId> {
    let relation = graph.relation(id);
    std::iter::once(relation.id).chain(relation.target.map(|target| graph.node(target).id))
}

/// The artifacts one of which the rule needs: none where it needs none or the type brings it;
/// nothing where it is not to be had.
fn artifacts(
    graph: &Graph<'_>,
    types: &TypeHierarchy<'_>,
    node: &NodeElement<'_>,
    node_type: &str,
    rule: &TechnologyRule<'_>,
) -> Option<Vec<ElementId>> {
    let Some(wanted) = rule.artifact else { return Some(Vec::new()) };
    let own: Vec<_> = node
        .artifacts
        .iter()
        .copied()
        .filter(|&id| has_artifact_type(graph, types, id, wanted))
        .collect();
    (!own.is_empty() || types.has_artifact(node_type, wanted)).then_some(own)
}
