//! Deployment inputs: values of topology inputs, checked against their declarations.

use crate::text::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::text::source::FileId;
use crate::text::value::Value;
use crate::text::yaml::{self, Document, Limits, Node, NodeKind};
use crate::topology::sensitive::told;
use crate::tosca::Types;
use crate::tosca::types::schemas::Schemas;
use crate::tosca::value::check_given;
use crate::variability::graph::{ElementId, Graph};
use crate::variability::presence::Presence;
use crate::variability::template::Parameter;
use rustc_hash::{FxHashMap, FxHashSet};

/// One source of deployment inputs.
pub(crate) enum DeploymentInputs<'l> {
    /// A file: a map of values by the names of inputs.
    File(&'l Document),
    /// The value of the input of this name.
    Value(String, Box<Document>),
    /// The value of the input of this name, where there is one and nobody gives another value.
    Known(String, Box<Document>),
}

impl DeploymentInputs<'_> {
    /// The value of one input, from text.
    ///
    /// # Errors
    /// `syntax` where the text is no YAML.
    pub(crate) fn of_text(name: &str, text: &str) -> Result<Self, Diagnostic> {
        let parsed = yaml::parse(FileId::DETACHED, text.into(), &Limits::default());
        parsed
            .map(|document| Self::Value(name.to_owned(), Box::new(document)))
            .map_err(|error| named(error, name))
    }

    /// The same, where it counts only for want of another value.
    pub(crate) fn known(self) -> Self {
        match self {
            Self::Value(name, document) => Self::Known(name, document),
            other => other,
        }
    }
}

/// The values of the inputs that are present; of several for one input the last one counts.
///
/// # Errors
/// Inputs that are not declared, and values that are not as they are declared.
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
        by_name.entry(input.parameter.declared.name).or_default().push((input.id, input.parameter));
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
            // What another variant declares is no mistake in this one.
            Some(inputs) => {
                if let Some(&(id, parameter)) =
                    inputs.iter().rev().find(|&&(id, _)| presence.is(id))
                {
                    found = check(parameter, value, &schemas, types);
                    assigned.insert(id, value.to_value());
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

/// What is wrong with a value.
fn check(
    parameter: &Parameter<'_>,
    value: Node<'_>,
    schemas: &Schemas<'_, '_>,
    types: &Types<'_>,
) -> Vec<Diagnostic> {
    // What is wrong with the declaration is said by validating.
    let definition = parameter.declared.parameter_definition(&mut Diagnostics::default());
    let found = check_given(value, &definition, schemas, "a deployment input");
    told(found, &definition, types, "it")
}

/// Says which input it is about, for want of a place.
fn named(error: Diagnostic, name: &str) -> Diagnostic {
    let message = format!("the deployment input `{name}`: {}", error.message);
    Diagnostic { message, ..error }
}
