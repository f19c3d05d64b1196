//! Checks the inputs of a workflow against their declarations (statement I8).

use crate::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::orchestrate::tree::{MADE, made};
use crate::topology::scope::TopologyScope;
use crate::topology::sensitive::told;
use crate::topology::{Topology, TopologyElement, TopologyParameter, TopologyWorkflow};
use crate::tosca::evaluate::{EvaluatorState, FunctionEvaluator};
use crate::tosca::function::{Function, function_in};
use crate::tosca::shape::PARAMETER;
use crate::tosca::types::schemas::Schemas;
use crate::tosca::value::{check_given, check_value};
use crate::tosca::{Named, PropertyDefinition, Types, meant, v2_0};
use cuvee_text::source::{FileId, Span};
use cuvee_text::value::Value;
use cuvee_text::yaml::{self, Document, Limits, Out, write_flow};

/// A value that is given to an input of a workflow.
pub(super) struct GivenInput {
    pub(super) name: String,
    pub(super) value: Value,
    /// The places of the name and the value in an activity; `None` if a caller gives the value.
    pub(super) places: Option<[Span; 2]>,
}

/// The values of all inputs of a workflow that have one: the given value, the last if there are
/// several, otherwise the default.
pub(super) fn input_values(
    workflow: &TopologyWorkflow,
    given: Vec<GivenInput>,
    types: &Types<'_>,
    wrong: &mut Diagnostics,
) -> Vec<(String, Value)> {
    let names = || workflow.inputs.iter().map(|input| &*input.name);
    for GivenInput { name, places, .. } in &given {
        if !names().any(|known| known == name) {
            let message = format!("the workflow `{}` has no input `{name}`", workflow.name);
            let error =
                Diagnostic::error(Code::InvalidInput, message).at(places.map(|[name, _]| name));
            wrong.push(error.help_opt(did_you_mean(name, names())));
        }
    }
    if workflow.inputs.is_empty() {
        return Vec::new();
    }
    let schemas = Schemas::new(types);
    let mut values = Vec::new();
    for input in &workflow.inputs {
        let value = match given.iter().rfind(|given| given.name == input.name) {
            Some(given) => {
                wrong.0.extend(check(input, given, &schemas, types));
                Some(given.value.clone())
            }
            None => default(workflow, input, (&schemas, types), wrong),
        };
        values.extend(value.map(|value| (input.name.clone(), value)));
    }
    values
}

/// A value in which functions are evaluated, as far as nothing but what is written decides them.
pub(super) fn evaluated(value: Value, types: &Types<'_>) -> Value {
    if function_in(&value).is_none() {
        return value;
    }
    let nothing = Topology::read(&Out::Value(Value::Null), &|_| false);
    evaluated_in(value, (&TopologyScope::of(&nothing, types), None), types.is_of_2_0())
}

/// A value of an element in which functions are evaluated, as far as a topology decides them.
pub(super) fn evaluated_in(
    value: Value,
    (scope, element): (&TopologyScope<'_, '_>, Option<TopologyElement>),
    is_2_0: bool,
) -> Value {
    let written = if is_2_0 { meant::written(value.clone()) } else { value.clone() };
    let made = made(Out::Value(written), is_2_0);
    let Some(node) = made.as_ref().and_then(|made| made.root().get(MADE)) else { return value };
    FunctionEvaluator::new(scope, EvaluatorState::default()).replaced(node, element)
}

/// Reports what is wrong with a value. An activity may give a function, whose value is not known
/// yet.
fn check(
    input: &TopologyParameter,
    given: &GivenInput,
    schemas: &Schemas<'_, '_>,
    types: &Types<'_>,
) -> Vec<Diagnostic> {
    let is_open = given.places.is_some()
        && function_in(&given.value).is_some_and(|name| Function::named(name).is_none());
    let value = document(&given.value, FileId::DETACHED).filter(|_| !is_open);
    let Some(value) = value else { return Vec::new() };
    let found = with_definition(input, types, |definition| {
        let found = match (given.places, definition.expected()) {
            (None, _) => check_given(value.root(), definition, schemas, "an input of a workflow"),
            (Some(_), Some(schema)) => check_value(value.root(), schema, schemas).diagnostics,
            (Some(_), None) => Vec::new(),
        };
        told(found, definition, types, "it")
    });
    let at = |error: Diagnostic| match given.places {
        Some([_, place]) => error.without_labels().at(place),
        None => {
            let message = format!("the workflow input `{}`: {}", input.name, error.message);
            error.with_message(message).without_labels().at(None)
        }
    };
    found.into_iter().map(at).collect()
}

/// The default of an input that nobody gives a value.
fn default(
    workflow: &TopologyWorkflow,
    input: &TopologyParameter,
    (schemas, types): (&Schemas<'_, '_>, &Types<'_>),
    wrong: &mut Diagnostics,
) -> Option<Value> {
    let is_optional =
        input.required.as_ref().is_some_and(|required| required.value == Value::Bool(false));
    match input.value.as_ref().or(input.default.as_ref()) {
        Some(value) => {
            let (name, places) = (input.name.clone(), Some([input.span, value.span]));
            let value = evaluated(value.value.clone(), types);
            let given = GivenInput { name, value, places };
            wrong.0.extend(check(input, &given, schemas, types));
            Some(given.value)
        }
        None if is_optional => None,
        None => {
            let (name, workflow) = (&input.name, &workflow.name);
            let message = format!("the input `{name}` of the workflow `{workflow}` has no value");
            let error = Diagnostic::error(Code::MissingInput, message).at(input.span);
            wrong.push(
                error.help(format!("give the input a value: `--workflow-input {name}=VALUE`")),
            );
            None
        }
    }
}

/// Asks something about the declaration of an input. The topology contains the declaration as data,
/// so it is written as a document of the same version again. Names of types mean what they mean in the file of the
/// workflow.
pub(crate) fn with_definition<T: Default>(
    input: &TopologyParameter,
    types: &Types<'_>,
    ask: impl FnOnce(&PropertyDefinition<'_>) -> T,
) -> T {
    let map = |name: &str, value| Value::Map([(name.into(), value)].into());
    let inputs = map("inputs", map(&input.name, input.definition.value.clone()));
    let whole = match types.is_of_2_0() {
        true => Value::Map(
            [
                ("tosca_definitions_version".into(), v2_0::VERSION.into()),
                ("service_template".into(), inputs),
            ]
            .into(),
        ),
        false => map("topology_template", inputs),
    };
    let whole = document(&whole, input.span.file).map(v2_0::read);
    let inputs = whole.as_ref().and_then(|it| it.root().get("topology_template")?.get("inputs"));
    let Some((key, value)) = inputs.and_then(|inputs| inputs.entries().next()) else {
        return T::default();
    };
    let named = Named { name: &input.name, key, value };
    // Validation reports errors in the declaration.
    let mut ignored = Diagnostics::default();
    ask(&PropertyDefinition::parameter(named, &(&PARAMETER).into(), &mut ignored))
}

/// A value as a document; its places mean nothing.
fn document(value: &Value, file: FileId) -> Option<Document> {
    yaml::parse(file, write_flow(value).into(), &Limits::default()).ok()
}
