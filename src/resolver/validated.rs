//! Whether what is to be substituted can be, in all variants.
//!
//! What substitutes a node depends on what is asked of it: on its type, properties and relations, and
//! on the relations that lead to it. So of all variants one is looked at for each combination of these
//! that occurs, for each node, however many variants there are.

use super::Resolver;
use super::substitution::SubstitutionQuery;
use crate::explore::{Assigned, Space};
use crate::text::answer::{Answer, Failure};
use crate::text::diagnostic::{Code, Diagnostic, Severity};
use crate::text::yaml::Node;
use crate::tosca::load::Extent;
use crate::validate::Validation;
use crate::variability::graph::{ElementId, Graph, NodeElement};
use crate::variability::template::PropertyValue;
use std::sync::Arc;

/// So many combinations of what is asked of a node are looked at.
const COMBINATIONS: usize = 1_000;

/// Inputs of the variants that are looked at, and what is not known of all others.
#[derive(Default)]
struct TellingVariants {
    inputs: Vec<Vec<Arc<Assigned>>>,
    unknown: Vec<Diagnostic>,
}

impl Resolver {
    /// Whether each node that is to be substituted has a candidate, and one only, in all variants of the
    /// template; where a preset or inputs are given, in their variant. What else is wrong is for
    /// [`Resolver::validate`] to say.
    ///
    /// However many variants there are, one is substituted for each combination of what is asked of a
    /// node. `undecidable` says where there are too many of these, or where values count that come from
    /// expressions.
    pub fn validate_substitutions(&self, query: &SubstitutionQuery) -> Validation {
        let loaded = match self.loaded(Extent::WithVersion2) {
            Ok(loaded) => loaded,
            Err(failure) => return failure.into(),
        };
        let resolver = Self { loaded: Some(Arc::clone(&loaded)), ..self.clone() };
        let query = SubstitutionQuery { leaves_open: true, ..query.clone() };
        let mut diagnostics = Vec::new();
        if self.choice.is_of_one_variant() {
            resolver.lacking(&query, &[], &mut diagnostics);
        } else if let Ok(Answer { result: TellingVariants { inputs, unknown }, .. }) =
            // Why there is no variant is said where the template is validated.
            resolver.explore(true, |space| Ok(telling_variants(space)))
        {
            for inputs in &inputs {
                resolver.lacking(&query, inputs, &mut diagnostics);
            }
            diagnostics.extend(unknown);
        }
        // What was read by then is all there.
        Validation { diagnostics, sources: loaded.sources().clone() }
    }

    /// What cannot be substituted with these inputs, unless that is known.
    fn lacking(
        &self,
        query: &SubstitutionQuery,
        inputs: &[Arc<Assigned>],
        known: &mut Vec<Diagnostic>,
    ) {
        let chosen = inputs.iter().filter_map(|it| Some((&it.name, it.value.clone()?)));
        let resolver = chosen.fold(self.clone(), |it, (name, value)| it.input(name, value));
        let Err(Failure { diagnostics, .. }) = resolver.substitute(query) else { return };
        if resolver.resolve().is_err() {
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

/// A variant for each combination of what is asked of each node that is to be substituted.
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

/// Elements on which it depends what substitutes a node.
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

/// Whether a node says that it is to be substituted.
fn is_substituted(node: &NodeElement<'_>) -> bool {
    let directives = node.template.declared.value.get("directives");
    let mut directives = directives.into_iter().flat_map(Node::items);
    directives.any(|it| matches!(it.text(), Some("substitute" | "substitutable")))
}

fn too_many(node: &NodeElement<'_>) -> Diagnostic {
    let message = format!(
        "whether node \"{}\" can be substituted in all variants is not known: {COMBINATIONS} combinations of what is asked of it were looked at",
        node.template.declared.name
    );
    Diagnostic::note(Code::Undecidable, message).at(node.template.declared.key.span())
}

fn open_value(graph: &Graph<'_>, node: &NodeElement<'_>, property: ElementId) -> Diagnostic {
    let message = format!(
        "whether node \"{}\" can be substituted in all variants is not known where that depends on the value of `{}`, which was looked at for some inputs",
        node.template.declared.name,
        graph.element(property).name
    );
    Diagnostic::note(Code::Undecidable, message).at(graph.element(property).span)
}
