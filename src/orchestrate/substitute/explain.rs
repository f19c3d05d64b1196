//! Explains how the open parts of a template were completed.

use super::candidate::{FitMapping, FitRequirement};
use super::flatten::ChosenCandidate;
use super::view::ViewedNode;
use crate::orchestrate::fulfil::{FoundNode, Fulfilment, Inventory, PassedDirective};
use crate::topology::Topology;
use crate::tosca::Directive;
use cuvee_text::decimal::Decimal;
use cuvee_text::source::{SourceMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::fmt::Write;

/// The explanation of a completion: what was substituted, selected and fulfilled.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SubstitutionExplanation {
    /// The substituted nodes, outermost first.
    pub substitutions: Vec<ExplainedSubstitution>,
    /// The directives that do not work for their nodes, which have others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<ExplainedDirective>,
    /// The nodes that were selected, in the order of declaration.
    pub selected: Vec<ExplainedSelection>,
    /// The requirements that got a target.
    pub fulfilled: Vec<ExplainedFulfilment>,
}

/// A directive that does not work for a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExplainedDirective {
    /// The name of the node.
    pub node: String,
    /// The place of its declaration.
    pub place: Option<String>,
    /// The directive: `select` or `substitute`.
    pub directive: &'static str,
    /// Why it does not work.
    pub reason: String,
    /// The directive that is tried next.
    pub next: &'static str,
}

/// A node for which an existing one was selected.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExplainedSelection {
    /// The name of the node.
    pub node: String,
    /// The place of its declaration.
    pub place: Option<String>,
    /// The URI of the selected node.
    pub instance: String,
    /// The place where the selected node is declared; `None` for nodes of instances.
    pub found_at: Option<String>,
}

/// A relation that got a target.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExplainedFulfilment {
    /// The name of its source.
    pub node: String,
    /// The name of the requirement.
    pub requirement: String,
    /// The place of its assignment, otherwise that of the node.
    pub place: Option<String>,
    /// The name of the node that it leads to.
    pub target: String,
    /// The capability, if the target has several that fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// The URI of the target, if it existed already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// The place where the target is declared; `None` for nodes of instances.
    pub found_at: Option<String>,
}

impl SubstitutionExplanation {
    /// Adds the explanations of further nodes.
    pub(super) fn extend(&mut self, more: Self) {
        self.substitutions.extend(more.substitutions);
        self.passed.extend(more.passed);
        self.selected.extend(more.selected);
        self.fulfilled.extend(more.fulfilled);
    }

    /// Adds what was selected and fulfilled in a topology.
    pub(super) fn found(
        &mut self,
        found: &Fulfilment,
        topology: &Topology,
        inventory: &Inventory,
        sources: &SourceMap,
    ) {
        for PassedDirective { node, next, reason } in &found.passed {
            let node = topology.node(*node);
            let place = line_of(node.span, sources);
            let (name, directive) = (node.name.clone(), Directive::Select);
            self.passed.push(ExplainedDirective::of(name, place, [directive, *next], reason));
        }
        for &(node, stored) in &found.selected {
            let (node, stored) = (topology.node(node), &inventory.nodes[stored]);
            self.selected.push(ExplainedSelection {
                node: node.name.clone(),
                place: line_of(node.span, sources),
                instance: stored.uri.clone(),
                found_at: stored.place.clone(),
            });
        }
        for relation in &found.relations {
            let source = topology.node(relation.source);
            let assigned = relation.assignment.map(|it| topology.relation(it).span);
            let (target, instance, found_at) = match relation.target {
                FoundNode::Own(node) => {
                    let node = topology.node(node);
                    (&node.name, None, line_of(node.span, sources))
                }
                FoundNode::Stored(stored) => {
                    let stored = &inventory.nodes[stored];
                    (&stored.name, Some(stored.uri.clone()), stored.place.clone())
                }
            };
            self.fulfilled.push(ExplainedFulfilment {
                node: source.name.clone(),
                requirement: relation.requirement.clone(),
                place: line_of(assigned.unwrap_or(source.span), sources),
                target: target.clone(),
                capability: relation.capability.clone(),
                instance,
                found_at,
            });
        }
    }
}

impl ExplainedDirective {
    pub(super) fn of(
        node: String,
        place: Option<String>,
        [directive, next]: [Directive; 2],
        reason: &str,
    ) -> Self {
        let (directive, next) = (directive.name(), next.name());
        Self { node, place, directive, reason: reason.to_owned(), next }
    }
}

/// A substituted node, with the reasons for the choice.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExplainedSubstitution {
    /// The name of the node.
    pub node: String,
    /// The name of its type.
    #[serde(rename = "type")]
    pub node_type: String,
    /// The path of the template.
    pub template: String,
    /// The preset that gives the variant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Inputs of the variant that do not have their defaults, such as `size=3`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// The weight of the variant.
    #[serde(serialize_with = "as_number")]
    pub weight: Decimal,
    /// If time ran out before it was proven that nothing costs less: a lower bound for all
    /// candidates.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_number_or_none")]
    pub least: Option<Decimal>,
    /// How many candidates there are.
    pub candidates: usize,
    /// Whether the user named the template.
    pub is_asked_for: bool,
    /// Whether candidates of less weight leave a requirement open that has to be fulfilled.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub jointly: bool,
    /// Other candidates, the best ones first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runners_up: Vec<ExplainedRunnerUp>,
    /// The places to which the relations of the node are mapped.
    pub requirements: Vec<ExplainedRequirement>,
    /// Templates that cannot substitute it, the nearest ones first.
    pub refused: Vec<ExplainedRefusal>,
}

/// A candidate that was not chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExplainedRunnerUp {
    /// The path of the template.
    pub template: String,
    /// The preset that gives the variant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Inputs of the variant that do not have their defaults.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// The weight of the variant.
    #[serde(serialize_with = "as_number")]
    pub weight: Decimal,
}

/// The places to which the relations of one requirement are mapped.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExplainedRequirement {
    /// Its name.
    pub name: String,
    /// How many relations the requirement has.
    pub relations: usize,
    /// How many mappings it has, with groups written out.
    pub mappings: u64,
    /// How many of them lead to mandatory requirements.
    pub mandatory: u64,
    /// Whether mandatory mappings come before others that are written earlier.
    pub reordered: bool,
    /// Each relation with its mapping, and then the mappings without a relation.
    pub mapped: Vec<ExplainedMapping>,
}

/// A relation and its mapping.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExplainedMapping {
    /// The target of the relation; `None` for a mapping without a relation.
    pub target: Option<String>,
    /// The requirement that it becomes, such as `client_shop.service`; `None` if no mapping takes
    /// it.
    pub to: Option<String>,
    /// Whether that requirement is mandatory.
    pub mandatory: bool,
    /// The place of the mapping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// A template that cannot substitute a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExplainedRefusal {
    /// The path of the template.
    pub template: String,
    /// The reason.
    pub reason: String,
    /// The place of the reason in the template.
    pub place: String,
    /// Whether the template is for nodes of another type.
    pub other_type: bool,
}

/// The place of a span as file and line.
pub(crate) fn line_of(span: Span, sources: &SourceMap) -> Option<String> {
    if span.is_detached() {
        return None;
    }
    let at = sources.location(span);
    Some(format!("{}:{}", at.path.strip_prefix(".").unwrap_or(at.path).display(), at.line))
}

pub(super) fn place(span: Span, sources: &SourceMap) -> String {
    line_of(span, sources).unwrap_or_default()
}

/// The mappings of the chosen template, with the new names of their targets.
pub(super) fn named(
    chosen: &ChosenCandidate<'_, '_>,
    names: &FxHashMap<String, String>,
) -> Vec<(FitRequirement, Vec<Vec<String>>)> {
    let targets = |mapping: &FitMapping| {
        let onto = mapping.targets.iter().map(|(node, requirement)| {
            format!("{}.{requirement}", names.get(node).unwrap_or(node))
        });
        let selected = mapping.selected.iter().map(|node| names.get(node).unwrap_or(node).clone());
        onto.chain(selected).collect()
    };
    let each = chosen.fit.requirements.iter();
    each.map(|it| (it.clone(), it.mappings.iter().map(targets).collect())).collect()
}

/// Adds the mappings of a node's relations to its explanation.
pub(super) fn complete(
    explained: &mut ExplainedSubstitution,
    node: &ViewedNode<'_>,
    requirements: Vec<(FitRequirement, Vec<Vec<String>>)>,
    sources: &SourceMap,
) {
    for (requirement, targets) in requirements {
        let mut mapped = Vec::new();
        for (slot, &assignment) in requirement.slots.iter().enumerate() {
            let target = node.assignments[assignment].target.clone();
            let taken = requirement.taken.get(slot).copied();
            let Some(taken) = taken else {
                mapped.push(ExplainedMapping { target, to: None, mandatory: false, place: None });
                continue;
            };
            let mapping = &requirement.mappings[taken];
            for to in &targets[taken] {
                mapped.push(ExplainedMapping {
                    target: target.clone(),
                    to: Some(to.clone()),
                    mandatory: mapping.is_mandatory,
                    place: Some(place(mapping.span, sources)),
                });
            }
        }
        let taken: FxHashSet<usize> = requirement.taken.iter().copied().collect();
        for (position, mapping) in requirement.mappings.iter().enumerate() {
            if !taken.contains(&position) {
                mapped.extend(targets[position].iter().map(|to| ExplainedMapping {
                    target: None,
                    to: Some(to.clone()),
                    mandatory: mapping.is_mandatory,
                    place: Some(place(mapping.span, sources)),
                }));
            }
        }
        explained.requirements.push(ExplainedRequirement {
            relations: requirement.slots.len(),
            mappings: requirement.entries,
            mandatory: requirement.mandatory,
            reordered: !requirement.taken.is_sorted(),
            mapped,
            name: requirement.name,
        });
    }
}

/// Writes the explanation for people.
pub fn human(explained: &SubstitutionExplanation) -> String {
    let mut out = String::new();
    for substitution in &explained.substitutions {
        // Writing to a string does not fail.
        let _ = whole(&mut out, substitution);
    }
    for it in &explained.passed {
        let ExplainedDirective { node, directive, reason, next, .. } = it;
        let places = places([&it.place, &None]);
        let _ = writeln!(out, "{node}: {next} instead of {directive}, since {reason}{places}");
    }
    for it in &explained.selected {
        let places = places([&it.place, &it.found_at]);
        let _ = writeln!(out, "{}: selected, is {}{places}", it.node, it.instance);
    }
    for it in &explained.fulfilled {
        let places = places([&it.place, &it.found_at]);
        let capability = it.capability.as_ref().map(|it| format!(".{it}")).unwrap_or_default();
        let instance = it.instance.as_ref().map(|it| format!(", is {it}")).unwrap_or_default();
        let ExplainedFulfilment { node, requirement, target, .. } = it;
        let _ = writeln!(
            out,
            "{node}.{requirement}: fulfilled by {target}{capability}{instance}{places}"
        );
    }
    out
}

/// The known places, in parentheses.
fn places(places: [&Option<String>; 2]) -> String {
    let known: Vec<_> = places.into_iter().flatten().map(String::as_str).collect();
    if known.is_empty() { String::new() } else { format!("  ({})", known.join(", ")) }
}

/// A weight as a JSON number, as an integer if it is one.
fn as_number<S: serde::Serializer>(weight: &Decimal, serializer: S) -> Result<S::Ok, S::Error> {
    match weight.units(0) {
        Some(whole) => serializer.serialize_u64(whole),
        None => serializer.serialize_f64(f64::from(*weight)),
    }
}

fn as_number_or_none<S: serde::Serializer>(
    weight: &Option<Decimal>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match weight {
        Some(weight) => as_number(weight, serializer),
        None => serializer.serialize_none(),
    }
}

/// A template with its variant.
fn candidate(template: &str, preset: Option<&String>, inputs: &[String]) -> String {
    let preset = preset.map(|preset| format!(":{preset}")).unwrap_or_default();
    let inputs = match inputs {
        [] => String::new(),
        inputs => format!(" with {}", inputs.join(", ")),
    };
    format!("{template}{preset}{inputs}")
}

/// How many other candidates are named to people.
const RUNNERS_UP: usize = 3;

fn whole(out: &mut String, it: &ExplainedSubstitution) -> std::fmt::Result {
    let least = it.least.map(|least| format!(", at least {least}")).unwrap_or_default();
    let why = match it.candidates {
        _ if it.is_asked_for => "as asked for".to_owned(),
        1 => "the only candidate".to_owned(),
        count if it.jointly => {
            format!("the least of {count} candidates by which nothing stays open")
        }
        count => format!("the least of {count} candidates"),
    };
    writeln!(
        out,
        "{}: {}  by {}, weight {}{least} ({why})",
        it.node,
        it.node_type,
        candidate(&it.template, it.preset.as_ref(), &it.inputs),
        it.weight
    )?;
    for other in it.runners_up.iter().take(RUNNERS_UP) {
        let name = candidate(&other.template, other.preset.as_ref(), &other.inputs);
        writeln!(out, "  then {name}, weight {}", other.weight)?;
    }
    for requirement in &it.requirements {
        self::requirement(out, requirement)?;
    }
    for refused in it.refused.iter().filter(|refused| !refused.other_type) {
        writeln!(out, "  not by {}: {} ({})", refused.template, refused.reason, refused.place)?;
    }
    Ok(())
}

fn requirement(out: &mut String, it: &ExplainedRequirement) -> std::fmt::Result {
    let count =
        |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let mandatory = match (it.mandatory, it.reordered) {
        (0, _) => String::new(),
        (1, false) => ", 1 of them onto a mandatory requirement".to_owned(),
        (1, true) => ", 1 of them onto a mandatory requirement, which comes first".to_owned(),
        (many, false) => format!(", {many} of them onto mandatory requirements"),
        (many, true) => {
            format!(", {many} of them onto mandatory requirements, which come first")
        }
    };
    let relations = count(it.relations as u64, "relation");
    writeln!(out, "  {}  {relations}, {}{mandatory}", it.name, count(it.mappings, "mapping"))?;
    let width = |text: &dyn Fn(&ExplainedMapping) -> Option<&String>| {
        let widths = it.mapped.iter().filter_map(text);
        widths.map(|text| text.chars().count()).max().unwrap_or(1)
    };
    let (left, right) = (width(&|it| it.target.as_ref()), width(&|it| it.to.as_ref()));
    for mapped in &it.mapped {
        let place = mapped.place.as_deref().unwrap_or_default();
        match (&mapped.target, &mapped.to) {
            (Some(target), Some(to)) => {
                let mandatory = if mapped.mandatory { "mandatory, " } else { "" };
                writeln!(out, "    {target:<left$} -> {to:<right$}   {mandatory}{place}")?;
            }
            (Some(target), None) => {
                writeln!(out, "    {target:<left$} -> {:<right$}   nothing takes it", "-")?;
            }
            (None, Some(to)) => {
                let wide = left + 4;
                let optional = if mapped.mandatory { "mandatory" } else { "optional" };
                writeln!(
                    out,
                    "    {:<wide$}{to:<right$}   {optional}, no relation is left for it",
                    "-"
                )?;
            }
            (None, None) => writeln!(out, "    -")?,
        }
    }
    Ok(())
}
