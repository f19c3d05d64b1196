//! Checks deployment inputs, which are values of topology inputs, against their declarations.

use crate::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::topology::sensitive::{masked, told};
use crate::tosca::Types;
use crate::tosca::types::schemas::Schemas;
use crate::tosca::value::check_given;
use crate::variability::graph::{ElementId, Graph};
use crate::variability::presence::Presence;
use crate::variability::template::Parameter;
use cuvee_text::source::FileId;
use cuvee_text::value::Value;
use cuvee_text::yaml::{self, Document, Limits, Node, NodeKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// A source of deployment inputs.
pub(crate) enum DeploymentInputs<'l> {
    /// A file: a map of values by the names of inputs.
    File(&'l Document),
    /// The value of the input of this name.
    Value(String, Box<Document>),
    /// The value of the input of this name, if there is such an input and it has no other value.
    Known(String, Box<Document>),
}

impl DeploymentInputs<'_> {
    /// A source with the value of one input, from text.
    ///
    /// # Errors
    /// `syntax` if the text is not YAML.
    pub(crate) fn of_text(name: &str, text: &str) -> Result<Self, Diagnostic> {
        let parsed = yaml::parse(FileId::DETACHED, text.into(), &Limits::default());
        parsed
            .map(|document| Self::Value(name.to_owned(), Box::new(document)))
            .map_err(|error| named(error, name))
    }

    /// The same value, but it counts only if there is no other value.
    pub(crate) fn known(self) -> Self {
        match self {
            Self::Value(name, document) => Self::Known(name, document),
            other => other,
        }
    }
}

/// The values of the present inputs; if an input has several values, the last one counts.
///
/// # Errors
/// Undeclared inputs, and values that do not fit the declarations.
pub(crate) fn assign<'t>(
    graph: &Graph<'_>,
    presence: &Presence,
    sources: &[DeploymentInputs<'_>],
    types: &'t Types<'t>,
) -> Result<FxHashMap<ElementId, Value>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let mut assigned = FxHashMap::default();
    let mut by_name: FxHashMap<&str, Vec<(ElementId, &Parameter<'_>)>> = FxHashMap::default();
    for input in &graph.inputs {
        by_name
            .entry(input.parameter.declared.name())
            .or_default()
            .push((input.id, input.parameter));
    }
    let schemas = Schemas::new(types);
    let (known, given): (Vec<_>, Vec<_>) =
        sources.iter().partition(|source| matches!(source, DeploymentInputs::Known(..)));
    let mut entries =
        |source: Vec<_>| source.into_iter().flat_map(|it| entries(it, &mut diagnostics)).collect();
    let (mut all, given): (Vec<_>, Vec<_>) = (entries(known), entries(given));
    let names: FxHashSet<_> = given.iter().map(|(name, ..)| *name).collect();
    all.retain(|(name, ..)| by_name.contains_key(name) && !names.contains(name));
    all.extend(given);
    for (name, key, value) in all {
        let mut found = Vec::new();
        match by_name.get(name) {
            // It is no error to assign an input that only other variants declare.
            Some(inputs) => {
                if let Some(&(id, parameter)) =
                    inputs.iter().rev().find(|&&(id, _)| presence.is(id))
                {
                    let given = value.to_value();
                    // What stands for a secret was judged when that was given.
                    if names.contains(name) || masked(&given).is_none() {
                        found = check(parameter, value, &schemas, types);
                    }
                    assigned.insert(id, given);
                }
            }
            None => {
                let error = Diagnostic::error(
                    Code::InvalidInput,
                    format!("there is no topology input `{name}`"),
                );
                found.push(
                    error.at(key.span()).help_opt(did_you_mean(name, by_name.keys().copied())),
                );
            }
        }
        let is_detached = key.span().is_detached();
        diagnostics.0.extend(
            found.into_iter().map(|error| if is_detached { named(error, name) } else { error }),
        );
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(assigned) }
}

fn entries<'d>(
    source: &'d DeploymentInputs<'_>,
    diagnostics: &mut Diagnostics,
) -> Vec<(&'d str, Node<'d>, Node<'d>)> {
    match source {
        DeploymentInputs::Value(name, document) | DeploymentInputs::Known(name, document) => {
            vec![(name, document.root(), document.root())]
        }
        DeploymentInputs::File(document) => {
            let root = document.root();
            if root.kind() != NodeKind::Mapping && !root.is_null() {
                let message = format!(
                    "deployment inputs have to be a map of values by the names of inputs, not {}",
                    root.describe()
                );
                diagnostics.push(Diagnostic::error(Code::InvalidInput, message).at(root.span()));
            }
            root.entries()
                .map(|(key, value)| (key.text().unwrap_or_default(), key, value))
                .collect()
        }
    }
}

/// The errors of a value.
fn check(
    parameter: &Parameter<'_>,
    value: Node<'_>,
    schemas: &Schemas<'_, '_>,
    types: &Types<'_>,
) -> Vec<Diagnostic> {
    // Validating reports errors of the declaration.
    let definition = parameter.declared.parameter_definition(&mut Diagnostics::default());
    let found = check_given(value, &definition, schemas, "a deployment input");
    told(found, &definition, types, "it")
}

/// Names the input in an error, because the error has no place.
fn named(error: Diagnostic, name: &str) -> Diagnostic {
    let message = format!("the deployment input `{name}`: {}", error.message);
    error.with_message(message)
}
