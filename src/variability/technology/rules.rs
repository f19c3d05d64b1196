//! Determines which rules fit a node, and in which ways.

use super::hosting::HostingStacks;
use super::{AssignedName, type_name};
use crate::diagnostic::Diagnostic;
use crate::tosca::types::{Family, Meaning, TypeHierarchy, has_management_operation};
use crate::variability::expression::has_artifact_type;
use crate::variability::graph::{ElementId, Graph, NodeElement, RelationId, Requires};
use crate::variability::options::{AssignPattern, Flag, Options};
use crate::variability::template::TechnologyRule;
use cuvee_text::decimal::Decimal;
use rustc_hash::FxHashMap;

/// A rule that fits a node.
pub(crate) struct Candidate<'a> {
    pub rule: &'a TechnologyRule<'a>,
    /// The number of steps by which the node's type derives from the rule's component.
    pub priority: u32,
    /// The alternative ways in which the node may be hosted.
    pub ways: Vec<Requires>,
    /// The type that it assigns; `None` if the node keeps its own.
    pub assign: Option<String>,
}

/// How the rules that fit become candidates.
pub(crate) struct Matching {
    /// Whether only the rules for the most special component count.
    pub specific_only: bool,
    /// Whether each rule is one candidate, in the order of scenarios; otherwise each of its ways is
    /// a candidate.
    pub by_scenario: bool,
    /// The pattern of the names of assigned types.
    pub pattern: AssignPattern,
}

impl Matching {
    /// The settings that the options make.
    pub(super) fn of(options: &Options) -> Self {
        Self {
            specific_only: options.flag(Flag::EnrichTechnologiesSpecificOnly),
            by_scenario: options.flag(Flag::EnrichTechnologiesScenarios),
            pattern: options.assign_pattern(),
        }
    }
}

/// The rules, by component.
pub(crate) struct Rules<'r, 'a> {
    by_component: FxHashMap<Meaning<'r>, Vec<&'a TechnologyRule<'a>>>,
    stacks: HostingStacks,
}

impl<'r, 'a> Rules<'r, 'a> {
    pub(crate) fn of(rules: &'a [TechnologyRule<'a>], types: &'r TypeHierarchy<'_>) -> Self
    where
        'a: 'r,
    {
        let mut by_component: FxHashMap<Meaning<'_>, Vec<&TechnologyRule<'_>>> =
            FxHashMap::default();
        for rule in rules {
            by_component
                .entry(types.meaning(Family::Node, &rule.component))
                .or_default()
                .push(rule);
        }
        Self { by_component, stacks: HostingStacks::default() }
    }

    /// Whether the bound on the search is reached, so that no more is found.
    pub(super) fn are_spent(&self) -> bool {
        self.stacks.are_spent()
    }

    /// Every way in which rules fit a node: these, and those that plugins answered for it.
    ///
    /// # Errors
    /// If there are too many ways.
    pub(crate) fn candidates(
        &self,
        graph: &Graph<'a>,
        types: &TypeHierarchy<'_>,
        node: &NodeElement<'a>,
        answered: &[&'a TechnologyRule<'a>],
        matching: &Matching,
    ) -> Result<Vec<Candidate<'a>>, Diagnostic> {
        let node_type = type_name(graph, node);
        // The type itself comes first in its chain, so the first component found is the most
        // specific one.
        let chain = types.chain(Family::Node, node_type).zip(0..);
        let by_distance = chain.filter_map(|(one, steps)| {
            let rules = self.by_component.get(&one).map_or(&[][..], Vec::as_slice);
            let answered = if steps == 0 { answered } else { &[] };
            let has_rules = !rules.is_empty() || !answered.is_empty();
            has_rules.then(|| (steps, rules.iter().chain(answered)))
        });
        let mut candidates = Vec::new();
        for (priority, rules) in
            by_distance.take(if matching.specific_only { 1 } else { usize::MAX })
        {
            for &rule in rules {
                let found = ways(graph, types, node, node_type, rule, &self.stacks)?;
                let assign = assigned(node_type, rule, matching.pattern, types);
                let candidate = |ways| Candidate { rule, priority, ways, assign: assign.clone() };
                if !matching.by_scenario {
                    candidates.extend(found.into_iter().map(|way| candidate(vec![way])));
                } else if !found.is_empty() {
                    candidates.push(candidate(found));
                }
            }
        }
        if matching.by_scenario {
            candidates.sort_by_cached_key(|candidate| {
                let TechnologyRule { component, artifact, hosting, .. } = candidate.rule;
                (&**component, *artifact, hosting.join("->"))
            });
        }
        Ok(candidates)
    }
}

/// Keeps the best assessments of each scenario. An assessment with conditions may turn out not to
/// hold, so it does not displace others.
pub(super) fn retain_best<'a>(candidates: &mut Vec<Candidate<'a>>, types: &TypeHierarchy<'_>) {
    let scenario =
        |rule: &'a TechnologyRule<'a>| -> (Meaning<'a>, Option<Meaning<'a>>, &'a [&'a str]) {
            let artifact = rule.artifact.map(|artifact| types.meaning(Family::Artifact, artifact));
            (types.meaning(Family::Node, &rule.component), artifact, &rule.hosting)
        };
    let mut best: FxHashMap<_, Decimal> = FxHashMap::default();
    for rule in candidates.iter().map(|candidate| candidate.rule) {
        if rule.conditions.is_none() {
            let best = best.entry(scenario(rule)).or_insert(rule.weight);
            if rule.weight.order(*best).is_gt() {
                *best = rule.weight;
            }
        }
    }
    candidates.retain(|candidate| {
        let best = best.get(&scenario(candidate.rule));
        best.is_none_or(|best| candidate.rule.weight.order(*best).is_ge())
    });
}

/// The type that a rule assigns.
fn assigned(
    node_type: &str,
    rule: &TechnologyRule<'_>,
    pattern: AssignPattern,
    types: &TypeHierarchy<'_>,
) -> Option<String> {
    let by_pattern = |technology| {
        let (component, artifact, hosting) = (&*rule.component, rule.artifact, &rule.hosting[..]);
        AssignedName { node_type, component, artifact, technology, hosting }.assign(pattern, types)
    };
    rule.assign.map(str::to_owned).or_else(|| rule.technology.as_deref().map(by_pattern))
}

/// The ways in which a rule fits a node: each path along the hosting relations, with the artifact.
fn ways(
    graph: &Graph<'_>,
    types: &TypeHierarchy<'_>,
    node: &NodeElement<'_>,
    node_type: &str,
    rule: &TechnologyRule<'_>,
    stacks: &HostingStacks,
) -> Result<Vec<Requires>, Diagnostic> {
    let has_operation = |operation: &&str| {
        has_management_operation(node.template.declared.value(), operation)
            || types.has_management_operation(node_type, operation)
    };
    let artifacts = artifacts(graph, types, node, node_type, rule);
    let Some(artifacts) = artifacts.filter(|_| rule.operations.iter().all(has_operation)) else {
        return Ok(Vec::new());
    };
    let way = |path: Vec<RelationId>| {
        let path = path.into_iter().flat_map(|id| on_path(graph, id)).map(|id| vec![id]);
        path.chain((!artifacts.is_empty()).then(|| artifacts.clone())).collect()
    };
    Ok(stacks.paths(graph, types, node, &rule.hosting)?.into_iter().map(way).collect())
}

/// A relation and the host that it leads to.
fn on_path(graph: &Graph<'_>, id: RelationId) -> impl Iterator<Item = ElementId> {
    let relation = graph.relation(id);
    std::iter::once(relation.id).chain(relation.target.map(|target| graph.node(target).id))
}

/// The artifacts of which the rule needs one. Empty if it needs none or the type provides it;
/// `None` if the node has no such artifact.
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
