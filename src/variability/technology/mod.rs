//! Applies technology rules ("Technology Rules"), which determine the deployment technologies that
//! a node can have, and the types that these assign.
//!
//! A rule matches a node whose type derives from its component. Each path along the hosting
//! relations that its `hosting` finds is one candidate, or all paths together are one candidate;
//! the paths are the condition of the candidate. Options decide which rules yield to others. A rule
//! without a technology is a candidate as well; its node then needs none.

mod hosting;
mod plugin;
mod rules;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::tosca::types::{Family, TypeHierarchy};
use crate::variability::element::ElementKind;
use crate::variability::graph::{
    Element, Graph, Implementation, NodeElement, NodeId, TechnologyElement,
};
use crate::variability::options::{AssignPattern, Check, Flag, Options};
use crate::variability::template::TechnologyRule;
use plugin::AskedPlugins;
pub(crate) use plugin::{AnsweredRules, Answers, TechnologyPlugins};
pub use plugin::{RequestedNode, RequestedRule, TechnologyRequest};
pub(crate) use rules::{Candidate, Matching, Rules};

/// The name of candidates that mean no technology.
const NO_TECHNOLOGY: &str = "null";

/// Adds the technologies that rules find for managed nodes and that plugins answer, and completes
/// those that authors wrote.
///
/// Reports `required-technology` for each managed node that no rule fits. Also reports a node with
/// so many candidates that this must be a mistake.
pub(crate) fn assign<'a>(
    mut graph: Graph<'a>,
    types: &TypeHierarchy<'_>,
    rules: &'a [TechnologyRule<'a>],
    answers: &Answers<'_, 'a>,
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Graph<'a> {
    let rules = Rules::of(rules, types);
    let mut plugins = AskedPlugins::of(graph.template, answers);
    let matching = Matching::of(options);
    for node in (0..graph.nodes.len() as u32).map(NodeId) {
        let element = graph.node(node);
        let by_rules = element.technologies.is_empty();
        let wanted = if by_rules {
            options.flag(Flag::EnrichTechnologies) && element.managed
        } else {
            options.flag(Flag::EnrichImplementations)
        };
        let candidates = |answered: &[_]| match wanted {
            true => rules.candidates(&graph, types, element, answered, &matching),
            false => Ok(Vec::new()),
        };
        let mut found = candidates(&[]);
        if let (Ok(fitting), true) = (&found, by_rules && wanted) {
            let answered = plugins.rules(&graph, types, node, fitting, diagnostics);
            if !answered.is_empty() {
                found = candidates(&answered);
            }
        }
        let found = diagnostics.ok(found);
        // The error names one node; for the other nodes no candidates can be determined.
        if rules.are_spent() {
            break;
        }
        let Some(mut candidates) = found else { continue };
        if by_rules && wanted && candidates.is_empty() && options.check(Check::RequiredTechnology) {
            diagnostics.push(required(&graph, element));
        }
        if by_rules {
            if options.flag(Flag::EnrichTechnologiesBestOnly) {
                rules::retain_best(&mut candidates, types);
            }
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
            follows: false,
        });
        // The conditions of a rule are read once, however many nodes it fits.
        let conditions = candidate.rule.conditions.map(|node| graph.syntax.read(node));
        graph.technologies.push(TechnologyElement {
            id,
            node,
            none: candidate.rule.technology.is_none(),
            weight: candidate.rule.weight,
            artifacts: candidate.rule.artifact.into_iter().collect(),
            priority: candidate.priority,
            ways: candidate.ways,
            conditions,
            implementations: vec![Implementation {
                requires: Vec::new(),
                assign: candidate.assign,
            }],
        });
        graph.nodes[node.0 as usize].technologies.push(id);
    }
}

/// Adds the implementations of candidates with the same name to each technology that the author
/// named, and a plain implementation as the last one.
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
        let plain = AssignedName {
            node_type: &node_type,
            component: &node_type,
            artifact,
            technology: name,
            hosting: &[],
        };
        let last = written
            .assign
            .map_or_else(|| plain.assign(options.assign_pattern(), types), str::to_owned);
        let implementations = fitting.iter().flat_map(|candidate| {
            candidate.ways.iter().map(|way| Implementation {
                requires: way.clone(),
                assign: written.assign.map(str::to_owned).or_else(|| candidate.assign.clone()),
            })
        });
        let mut implementations: Vec<_> = implementations.collect();
        implementations.push(Implementation { requires: Vec::new(), assign: Some(last) });
        let weight = match (written.weight, &fitting[..]) {
            (None, [only]) => Some(only.rule.weight),
            (written, _) => written,
        };
        let technology = &mut graph.technologies[slot];
        technology.weight = weight.unwrap_or(technology.weight);
        technology.priority =
            fitting.iter().map(|candidate| candidate.priority).min().unwrap_or_default();
        technology.implementations = implementations;
        technology.artifacts.extend(fitting.iter().filter_map(|candidate| candidate.rule.artifact));
    }
}

/// The type of a node. If it has alternatives, the first one, because conditional types and
/// technology rules cannot be combined.
fn type_name<'g>(graph: &'g Graph<'_>, node: &NodeElement<'_>) -> &'g str {
    node.types.first().map_or("", |&id| graph.element(id).name)
}

/// The parts of the name of an assigned type.
struct AssignedName<'s> {
    node_type: &'s str,
    component: &'s str,
    artifact: Option<&'s str>,
    technology: &'s str,
    hosting: &'s [&'s str],
}

impl AssignedName<'_> {
    /// The name. If no type has it and the type of the node has a prefix, the name that a library
    /// gives it, which the prefix stands before once.
    fn assign(&self, pattern: AssignPattern, types: &TypeHierarchy<'_>) -> String {
        let is_known = |name: &str| types.find_in(None, Family::Node, name).is_some();
        let made = self.without("", pattern);
        let prefix = prefix(self.node_type);
        if prefix.is_empty() || is_known(&made) {
            return made;
        }
        Some(self.without(prefix, pattern)).filter(|name| is_known(name)).unwrap_or(made)
    }

    /// The name without a prefix, but for that of the type of the node.
    fn without(&self, prefix: &str, pattern: AssignPattern) -> String {
        let Self { node_type, technology, .. } = self;
        let local = |name: &str| name.strip_prefix(prefix).unwrap_or(name).to_owned();
        let hosts: Vec<_> = self.hosting.iter().map(|host| local(host)).collect();
        match pattern {
            AssignPattern::Vintner => {
                let artifact = self.artifact.map(|it| format!("#{}", local(it)));
                let artifact = artifact.unwrap_or_default();
                let hosting = match &hosts[..] {
                    [] => String::new(),
                    hosts => format!("@{}", hosts.join("->")),
                };
                format!("{node_type}~{}{artifact}::{technology}{hosting}", local(self.component))
            }
            AssignPattern::Dotted => {
                let hosting: String = hosts.iter().map(|host| format!(".{host}")).collect();
                format!("{node_type}.{technology}{hosting}")
            }
        }
    }
}

/// The prefix of a name with its colon, such as `shop:` of `shop:Web`; empty if there is none.
fn prefix(name: &str) -> &str {
    let own = name.split('~').next().unwrap_or(name);
    let end = own.rfind(':').filter(|&end| !own[..end].ends_with(':'));
    end.map_or("", |end| &own[..=end])
}
