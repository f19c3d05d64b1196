//! Validates substitutions: finds nodes that cannot be substituted in some variant.
//!
//! The candidates for a node depend on its type, properties and relations in the variant, and on
//! the relations that lead to it. So this looks at one variant for each combination of these that
//! occurs, for each node, however many variants there are.

use super::Resolver;
use super::substitution::SubstitutionQuery;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::explore::{Assigned, Space};
use crate::tosca::load::Extent;
use crate::validate::Validation;
use crate::variability::graph::{ElementId, Graph, NodeElement};
use crate::variability::template::PropertyValue;
use cuvee_text::answer::{Answer, Failure};
use cuvee_text::yaml::Node;
use std::sync::Arc;

/// The number of combinations of demands on one node that are looked at.
const COMBINATIONS: usize = 1_000;

/// The inputs of the variants to look at, and notes on what remains unknown about the others.
#[derive(Default)]
struct TellingVariants {
    inputs: Vec<Vec<Arc<Assigned>>>,
    unknown: Vec<Diagnostic>,
}

impl Resolver {
    /// Checks that each node to be substituted has exactly one candidate in all variants of the
    /// template, or in one variant if a preset or inputs are given. [`Resolver::validate`] reports
    /// everything else that is wrong.
    ///
    /// This substitutes in one variant for each combination of demands on a node, however many
    /// variants there are. A note `undecidable` says where there are too many combinations, or
    /// where the result depends on values of expressions.
    pub fn validate_substitutions(&self, query: &SubstitutionQuery) -> Validation {
        let loaded = match self.loaded(Extent::Whole) {
            Ok(loaded) => loaded,
            Err(failure) => return failure.into(),
        };
        let resolver = Self { loaded: Some(Arc::clone(&loaded)), ..self.clone() };
        let query = SubstitutionQuery { leaves_open: true, ..query.clone() };
        let mut diagnostics = Vec::new();
        if self.choice.is_of_one_variant() {
            resolver.lacking(&query, &[], &mut diagnostics);
        } else if let Ok(Answer { result: TellingVariants { inputs, unknown }, .. }) =
            // Validating the template says why there is no variant.
            resolver.explore(true, |space| Ok(telling_variants(space)))
        {
            for inputs in &inputs {
                resolver.lacking(&query, inputs, &mut diagnostics);
            }
            diagnostics.extend(unknown);
        }
        // By now every file that diagnostics point into was read.
        Validation { diagnostics, sources: loaded.sources().clone() }
    }

    /// Adds to `known` what cannot be substituted with these inputs, unless `known` has it already.
    fn lacking(
        &self,
        query: &SubstitutionQuery,
        inputs: &[Arc<Assigned>],
        known: &mut Vec<Diagnostic>,
    ) {
        let chosen = inputs.iter().filter_map(|it| Some((&it.name, it.value.clone()?)));
        let resolver = chosen.fold(self.clone(), |it, (name, value)| it.input(name, value));
        let Err(Failure { diagnostics, .. }) = resolver.substitute(query) else { return };
        // Without what `resolve` adds to its errors, which nobody reads here.
        if resolver.topology().is_err() {
            return;
        }
        let example = inputs.iter().filter(|input| !input.default);
        let example =
            example.filter_map(|it| Some(format!("-i {}={}", it.name, it.value.as_ref()?)));
        let example = example.collect::<Vec<_>>().join(" ");
        let is_error = |found: &Diagnostic| found.severity == Severity::Error;
        for mut found in diagnostics.into_iter().filter(is_error) {
            let is_known =
                |other: &Diagnostic| (other.code, other.span) == (found.code, found.span);
            if known.iter().any(is_known) {
                continue;
            }
            if !example.is_empty() {
                found.message.push_str(&format!(", for example with `{example}`"));
            }
            known.push(found);
        }
    }
}

/// One variant for each combination of demands on each node to be substituted.
fn telling_variants(space: &Space<'_, '_>) -> TellingVariants {
    let graph = space.graph();
    let mut found = TellingVariants::default();
    for node in graph.nodes.iter().filter(|node| is_substituted(node)) {
        let (inputs, more) = space.combinations(&asked_of(graph, node), COMBINATIONS);
        for inputs in inputs {
            if !found.inputs.contains(&inputs) {
                found.inputs.push(inputs);
            }
        }
        let is_computed = |id: &&ElementId| {
            let property = graph.properties.get(graph.element(**id).slot as usize);
            property.is_some_and(|it| matches!(it.property.value, PropertyValue::Expression(_)))
        };
        let computed = node.properties.iter().find(is_computed);
        found.unknown.extend(more.then(|| too_many(node)));
        found.unknown.extend(computed.map(|&property| open_value(graph, node, property)));
    }
    found
}

/// The elements that decide which templates may substitute a node.
fn asked_of(graph: &Graph<'_>, node: &NodeElement<'_>) -> Vec<ElementId> {
    let kind = |node: &NodeElement<'_>| {
        node.types.iter().chain(&node.technologies).copied().collect::<Vec<_>>()
    };
    let mut found = vec![node.id];
    found.extend(kind(node));
    found.extend(&node.properties);
    found.extend(node.relations.iter().map(|&relation| graph.relation(relation).id));
    for &relation in &node.incoming {
        let relation = graph.relation(relation);
        found.push(relation.id);
        found.extend(kind(graph.node(relation.source)));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether a node has the directive to be substituted.
fn is_substituted(node: &NodeElement<'_>) -> bool {
    let directives = node.template.declared.value().get("directives");
    let mut directives = directives.into_iter().flat_map(Node::items);
    directives.any(|it| matches!(it.text(), Some("substitute" | "substitutable")))
}

fn too_many(node: &NodeElement<'_>) -> Diagnostic {
    let message = format!(
        "whether node \"{}\" can be substituted in all variants is not known: only {COMBINATIONS} combinations of its properties and relations were checked",
        node.template.declared.name()
    );
    Diagnostic::note(Code::Undecidable, message).at(node.template.declared.span())
}

fn open_value(graph: &Graph<'_>, node: &NodeElement<'_>, property: ElementId) -> Diagnostic {
    let message = format!(
        "whether node \"{}\" can be substituted in all variants is not known: it may depend on the value of `{}`, which was checked for some inputs only",
        node.template.declared.name(),
        graph.element(property).name
    );
    Diagnostic::note(Code::Undecidable, message).at(graph.element(property).span)
}
