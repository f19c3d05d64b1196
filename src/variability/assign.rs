//! Assigns technologies to the nodes of plain templates by rules, and rates the technologies that a
//! template names.
//!
//! All elements of a plain template are present, so there is nothing to solve. Of the rules that
//! fit a node, the most special ones count, and of those the one with the highest weight.

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::variability::emit::{self, TechnologyNames};
use crate::variability::expression::Evaluator;
use crate::variability::graph::NodeElement;
use crate::variability::options::AssignPattern;
use crate::variability::prepared::Prepared;
use crate::variability::presence::Presence;
use crate::variability::technology::{Candidate, Matching, Rules};
use crate::variability::template::TechnologyRule;
use cuvee_text::source::Span;
use cuvee_text::yaml::Node;
use rustc_hash::FxHashSet;
use serde::Serialize;

/// The rules of one component, artifact and hosting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TechnologyScenario {
    /// The type of the nodes that the rules are for.
    pub component: String,
    /// The type of the artifact that the nodes need.
    pub artifact: Option<String>,
    /// The types of the hosts, upwards along the hosting relations.
    pub hosting: Vec<String>,
}

impl TechnologyScenario {
    fn of(rule: &TechnologyRule<'_>) -> Self {
        Self {
            component: rule.component.to_string(),
            artifact: rule.artifact.map(str::to_owned),
            hosting: rule.hosting.iter().map(|&host| host.to_owned()).collect(),
        }
    }
}

/// The technology of a node, and what the rules say about it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NodeTechnology {
    /// The node.
    pub node: String,
    /// The technology of the node; `None` where no rule has one for it.
    pub technology: Option<String>,
    /// Whether the template names the technology.
    pub given: bool,
    /// The weight of the rule for the technology; `None` where no rule supports it.
    pub weight: Option<f64>,
    /// The weight in words.
    pub quality: Option<&'static str>,
    /// The reason that the rule gives.
    pub reason: Option<String>,
    /// The scenario that the rule is for.
    pub scenario: Option<TechnologyScenario>,
}

/// The technologies of all nodes, and the template with these technologies.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AssignedTechnologies {
    /// Each node that needs a technology.
    pub nodes: Vec<NodeTechnology>,
    /// The template, in which each node names its technology.
    #[serde(skip)]
    pub yaml: String,
}

/// How good the technologies of a template are.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TechnologyQuality {
    /// Each node that needs a technology.
    pub nodes: Vec<NodeTechnology>,
    /// The mean of the weights of the nodes; `None` where no node counts.
    pub weight: Option<f64>,
    /// The mean in words.
    pub quality: Option<&'static str>,
}

/// How a node counts that has no technology, or one that no rule supports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UnsupportedTechnology {
    /// The node counts with this weight.
    Penalty(f64),
    /// The node does not count.
    LeftOut,
}

impl Default for UnsupportedTechnology {
    fn default() -> Self {
        Self::Penalty(0.0)
    }
}

/// Weights in words: the highest weight that each word stands for.
const LABELS: [(f64, &str); 4] =
    [(0.125, "very low"), (0.375, "low"), (0.625, "medium"), (0.875, "high")];

fn label(weight: f64) -> &'static str {
    LABELS.iter().find(|(most, _)| weight <= *most).map_or("very high", |(_, label)| label)
}

/// Assigns each node that needs a technology the one that the rules prefer. Technologies that the
/// template names stay.
///
/// # Errors
/// Errors of the rules; `invalid-template` if the template is not plain.
pub(crate) fn assign(
    prepared: &Prepared<'_>,
    warnings: &mut Diagnostics,
) -> Result<AssignedTechnologies, Diagnostics> {
    let nodes = rated(prepared, warnings)?;
    let graph = &prepared.graph;
    let names: TechnologyNames<'_> = nodes
        .iter()
        .filter_map(|node| Some((graph.node_named(&node.node)?.id, node.technology.as_deref()?)))
        .collect();
    let presence = all_present(prepared);
    let mut evaluator = prepared.evaluator();
    evaluator.decide(&presence);
    let document = emit::emit(&mut evaluator, &presence, None, Some(names))?;
    let yaml = emit::text(&document);
    Ok(AssignedTechnologies { nodes, yaml })
}

/// Rates the technologies that the nodes of a template name.
///
/// # Errors
/// As [`assign`].
pub(crate) fn quality(
    prepared: &Prepared<'_>,
    unsupported: UnsupportedTechnology,
    warnings: &mut Diagnostics,
) -> Result<TechnologyQuality, Diagnostics> {
    let mut nodes = rated(prepared, warnings)?;
    for node in nodes.iter_mut().filter(|node| !node.given) {
        // Rules would assign this technology, but the node does not have it.
        (node.technology, node.weight, node.quality) = (None, None, None);
        (node.reason, node.scenario) = (None, None);
    }
    let counted = nodes.iter().filter_map(|node| match (node.weight, unsupported) {
        (None, UnsupportedTechnology::Penalty(penalty)) => Some(penalty),
        (weight, _) => weight,
    });
    let counted: Vec<f64> = counted.collect();
    let mean = counted.iter().sum::<f64>() / counted.len() as f64;
    let weight = (!counted.is_empty()).then_some(mean);
    Ok(TechnologyQuality { nodes, weight, quality: weight.map(label) })
}

/// Each node that needs a technology, with the technology that it names, or else the one that the
/// rules prefer.
fn rated(
    prepared: &Prepared<'_>,
    warnings: &mut Diagnostics,
) -> Result<Vec<NodeTechnology>, Diagnostics> {
    let graph = &prepared.graph;
    if !graph.template.is_plain() {
        let version = graph.template.root.get("tosca_definitions_version");
        let error = Diagnostic::error(Code::InvalidTemplate, "this is no plain template");
        let error = error.at(version.map(Node::span));
        return Err(error.help("resolve it first: `cuvee resolve`").into());
    }
    // The keyword `technology` is unknown in plain TOSCA, but here it is meant.
    let named: FxHashSet<Span> = graph.nodes.iter().filter_map(named_at).collect();
    warnings.0.retain(|warning| {
        warning.code != Code::UnknownKeyword
            || !warning.span.is_some_and(|span| named.contains(&span))
    });
    let rules = Rules::of(prepared.rules, &prepared.types);
    let presence = all_present(prepared);
    let mut evaluator = prepared.evaluator();
    evaluator.decide(&presence);
    let mut rated = Vec::new();
    for node in &graph.nodes {
        let candidates = rules.candidates(graph, &prepared.types, node, &[], &MATCHING)?;
        let mut possible = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            if holds(&mut evaluator, node, &candidate)? {
                possible.push(candidate);
            }
        }
        rated.extend(rate(prepared, node, &possible, warnings));
    }
    Ok(rated)
}

/// All rules are candidates, each once.
const MATCHING: Matching =
    Matching { specific_only: false, by_scenario: true, pattern: AssignPattern::Vintner };

/// A presence in which all elements are present. Each element may have a second atom, for its
/// conditions; it holds as well.
fn all_present(prepared: &Prepared<'_>) -> Presence {
    Presence::new(vec![true; 2 * prepared.graph.elements.len()])
}

/// The place at which a node names its technology.
fn named_at(node: &NodeElement<'_>) -> Option<Span> {
    let mut entries = node.template.declared.value().entries();
    entries.find(|(key, _)| key.text() == Some("technology")).map(|(key, _)| key.span())
}

/// Whether the conditions of the rule hold if all elements are present.
fn holds<'a>(
    evaluator: &mut Evaluator<'_, 'a>,
    node: &NodeElement<'a>,
    candidate: &Candidate<'a>,
) -> Result<bool, Diagnostic> {
    let Some(conditions) = candidate.rule.conditions else { return Ok(true) };
    let conditions = evaluator.graph.syntax.read(conditions);
    let all = evaluator.conditions(conditions, Some(node.id))?;
    Ok(all.iter().all(|&(formula, _)| evaluator.arena.eval(formula, &|_| true)))
}

/// The technology that a node has or gets; `None` for a node that needs none.
fn rate(
    prepared: &Prepared<'_>,
    node: &NodeElement<'_>,
    possible: &[Candidate<'_>],
    warnings: &mut Diagnostics,
) -> Option<NodeTechnology> {
    let graph = &prepared.graph;
    let named = node.technologies.first().map(|&id| graph.element(id).name);
    let best = best(possible, named);
    let needs_none = best.is_some_and(|best| best.rule.technology.is_none());
    if named.is_none() && (!node.managed || needs_none) {
        return None;
    }
    if best.is_none() {
        warnings.push(unsupported(prepared, node, named));
    }
    let rule = best.map(|best| best.rule);
    let weight = rule.map(|rule| f64::from(rule.weight));
    let technology = named.or_else(|| rule?.technology.as_deref());
    Some(NodeTechnology {
        node: graph.element(node.id).name.to_owned(),
        technology: technology.map(str::to_owned),
        given: named.is_some(),
        weight,
        quality: weight.map(label),
        reason: rule.and_then(|rule| rule.reason).map(str::to_owned),
        scenario: rule.map(TechnologyScenario::of),
    })
}

fn unsupported(prepared: &Prepared<'_>, node: &NodeElement<'_>, named: Option<&str>) -> Diagnostic {
    let (graph, name) = (&prepared.graph, prepared.graph.display(node.id));
    let message = match named {
        Some(named) => format!("no technology rule supports `{named}` for {name}"),
        None => format!("{name} has no technology candidates"),
    };
    Diagnostic::warning(Code::RequiredTechnology, message)
        .at(graph.element(node.id).span)
        .help("add a technology rule for its type")
}

/// The most special candidate; of several such the one with the highest weight, and of those the
/// first. Where a technology is named, only candidates with this technology count.
fn best<'c, 'a>(possible: &'c [Candidate<'a>], named: Option<&str>) -> Option<&'c Candidate<'a>> {
    let fitting =
        possible.iter().filter(|one| named.is_none() || one.rule.technology.as_deref() == named);
    fitting.min_by(|one, other| {
        let by_weight = || other.rule.weight.order(one.rule.weight);
        one.priority.cmp(&other.priority).then_with(by_weight)
    })
}
