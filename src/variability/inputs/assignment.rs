//! Assigns values to inputs in layers: a later assignment replaces the whole value of an earlier
//! one.

use super::declaration::{Declarations, InputId, InputMismatch};
use super::from_feature_ide;
use crate::diagnostic::{Advice, Code, Diagnostic, Diagnostics};
use crate::tosca::sensitive::is_sensitive_name;
use crate::tosca::v2_0;
use crate::tosca::value::Primitive;
use cuvee_text::case::lower_case;
use cuvee_text::source::{FileId, SourceText, Span};
use cuvee_text::value::Value;
use cuvee_text::xml;
use cuvee_text::yaml::{self, Limits, Node, NodeKind};
use std::fmt;
use std::path::Path;

/// The source of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AssignmentSource {
    /// The variability preset of this name.
    Preset(String),
    /// The environment variable of this name.
    Environment(String),
    /// A file of inputs.
    File,
    /// A configuration of a feature model; its features need not all be declared as inputs.
    FeatureModel,
    /// A call of the library.
    Call,
    /// A call with a value as text, such as from the command line.
    Text,
}

impl fmt::Display for AssignmentSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Preset(name) => write!(f, "the preset `{name}`"),
            Self::Environment(name) => write!(f, "the environment variable `{name}`"),
            Self::File => f.write_str("an input file"),
            Self::FeatureModel => f.write_str("a feature configuration"),
            Self::Call | Self::Text => f.write_str("the call"),
        }
    }
}

impl Assignment {
    /// The assignment as it is named in an error: as people wrote it, where that is known.
    fn says(&self, is_sensitive: bool) -> String {
        let Self { name, value, source, .. } = self;
        match source {
            AssignmentSource::Text if is_sensitive => format!("`--input {name}=...`"),
            AssignmentSource::Text => format!("`--input {name}={value}`"),
            _ => format!("{source} assigns `{name}`"),
        }
    }
}

/// The assignment of a value to an input.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Assignment {
    /// The name of the input.
    pub name: String,
    /// The value.
    pub value: Value,
    /// The place of the assignment if it is in a file.
    pub span: Option<Span>,
    /// The source of the assignment.
    pub source: AssignmentSource,
    /// The name of the feature in a feature model. If an input has exactly this name, the
    /// assignment means that input.
    pub feature: Option<String>,
}

impl Assignment {
    /// An assignment by a library call.
    pub(crate) fn new(name: impl Into<String>, value: impl Into<Value>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            span: None,
            source: AssignmentSource::Call,
            feature: None,
        }
    }

    /// The same assignment, under the name of the input that it means.
    pub(crate) fn called_as_declared(mut self, declarations: &Declarations<'_>) -> Self {
        let feature = self.feature.take();
        match feature.filter(|name| declarations.id(name).is_some()) {
            Some(name) => Self { name, ..self },
            None => self,
        }
    }
}

/// The treatment of inputs that nothing assigns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputMode {
    /// They get their defaults.
    Closed,
    /// They are open: they may have any value that their declaration allows.
    Open,
    /// Every input is open, even if a value is assigned.
    AllOpen,
}

/// The value of one input.
#[derive(Clone, Debug)]
pub(crate) enum InputValue<'a> {
    /// An assigned value.
    Assigned(Value),
    /// The declared default.
    Default(Value),
    /// The value of this expression: a `default` that is an expression, or the
    /// `default_expression`.
    Expression(Node<'a>),
    /// No value.
    Missing,
    /// An undecided value: any value that the declaration allows.
    Open,
}

/// The values of all inputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputValues<'a> {
    values: Vec<InputValue<'a>>,
    /// The source and the place of each assigned value.
    sources: Vec<Option<(AssignmentSource, Option<Span>)>>,
}

impl<'a> InputValues<'a> {
    /// The value of this input.
    pub(crate) fn get(&self, id: InputId) -> &InputValue<'a> {
        self.values.get(id.index()).unwrap_or(&InputValue::Missing)
    }

    /// The source of the input's assignment, and its place if it is in a file.
    pub(crate) fn source(&self, id: InputId) -> Option<&(AssignmentSource, Option<Span>)> {
        self.sources.get(id.index())?.as_ref()
    }
}

/// Gives every declared input its value. Of several assignments of one input only the last counts,
/// and only that one is checked.
///
/// Every assignment of an undeclared input, and every value of a wrong type or against a
/// constraint, is reported as `invalid-input`. A string for a boolean input is only a warning,
/// because `yes` and similar words, which are strings in YAML 1.2, are in use for features; it
/// counts as true. But `no` on a command line or in the environment is an error, because its author
/// does not want the feature. If inputs are left open, those that nothing assigns do not get their
/// defaults.
pub(crate) fn assign<'a>(
    declarations: &Declarations<'a>,
    assignments: impl IntoIterator<Item = Assignment>,
    mode: InputMode,
    diagnostics: &mut Diagnostics,
) -> InputValues<'a> {
    let mut last: Vec<Option<Assignment>> = vec![None; declarations.len()];
    for assignment in assignments {
        match declarations.id(&assignment.name).and_then(|id| last.get_mut(id.index())) {
            Some(slot) => *slot = Some(assignment),
            None if assignment.source == AssignmentSource::FeatureModel => {}
            None => diagnostics.push(undeclared(&assignment, declarations)),
        }
    }
    let sources = last
        .iter()
        .map(|assigned| assigned.as_ref().map(|assigned| (assigned.source.clone(), assigned.span)))
        .collect();
    let value =
        |((_, declaration), assignment): ((_, &super::Declaration<'a>), Option<Assignment>)| {
            match assignment {
                _ if mode == InputMode::AllOpen => InputValue::Open,
                Some(assignment) => {
                    let value = declaration.read_value(assignment.value.clone());
                    for problem in declaration.problems(&value) {
                        diagnostics.push(misfit(declaration, &assignment, &value, &problem));
                    }
                    InputValue::Assigned(value)
                }
                None if mode == InputMode::Open => InputValue::Open,
                None => match (declaration.default_value(), declaration.computed_default()) {
                    (Some(default), _) => InputValue::Default(default),
                    (None, Some(expression)) => InputValue::Expression(expression),
                    (None, None) => InputValue::Missing,
                },
            }
        };
    InputValues { values: declarations.iter().zip(last).map(value).collect(), sources }
}

fn undeclared(assignment: &Assignment, declarations: &Declarations<'_>) -> Diagnostic {
    let name = &assignment.name;
    let says = assignment.says(is_sensitive_name(name));
    let message = match assignment.source {
        AssignmentSource::Text => format!("{says}: there is no variability input `{name}`"),
        _ => format!("{says}, which is not a declared variability input"),
    };
    Diagnostic::error(Code::InvalidInput, message).at(assignment.span).help(
        match wraps_inputs(assignment, declarations) {
            true => Advice::from(format!(
                "leave `{name}` out: the names of inputs are to stand at the top of the file"
            )),
            false => declarations.suggestion(name),
        },
    )
}

/// Whether a file has its inputs one level too deep, in the form that presets have.
fn wraps_inputs(assignment: &Assignment, declarations: &Declarations<'_>) -> bool {
    let Value::Map(entries) = &assignment.value else { return false };
    assignment.source == AssignmentSource::File
        && entries.iter().any(|(name, _)| declarations.id(name).is_some())
}

fn misfit(
    declaration: &super::Declaration<'_>,
    assignment: &Assignment,
    value: &Value,
    problem: &InputMismatch,
) -> Diagnostic {
    let feature = problem.wrong_type
        && declaration.primitive() == Some(Primitive::Boolean)
        && value.as_str().is_some();
    let is_typed =
        matches!(assignment.source, AssignmentSource::Text | AssignmentSource::Environment(_));
    let switch = value.as_str().and_then(yaml::switch).filter(|_| feature && is_typed);
    let make = if feature && switch.is_none() { Diagnostic::warning } else { Diagnostic::error };
    let says = assignment.says(declaration.is_sensitive);
    let message = match assignment.source {
        AssignmentSource::Text => format!("{says}: {}", problem.message),
        _ => format!("{says} a value that does not fit: {}", problem.message),
    };
    let diagnostic = problem
        .labels(make(Code::InvalidInput, message).at(assignment.span))
        .label(declaration.span, "declared here");
    match switch {
        Some(meant) => diagnostic.help(format!("write `{meant}`")),
        None if feature => diagnostic.help("any string counts as true; write `true` or `false`"),
        None => diagnostic,
    }
}

/// Reads a file of inputs: XML of FeatureIDE, or YAML, which includes JSON.
///
/// # Errors
/// `syntax` if the file is not well-formed, `invalid-input` if it is neither a map of inputs nor a
/// feature configuration.
pub(crate) fn read_file(
    path: &Path,
    file: FileId,
    text: &SourceText,
    limits: &Limits,
) -> Result<Vec<Assignment>, Diagnostics> {
    let is_called_xml = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("xml"));
    if is_called_xml || xml::is_xml(text) {
        from_feature_ide(text, file)
    } else {
        Ok(from_yaml(yaml::parse(file, text.clone(), limits)?.root())?)
    }
}

/// Reads the root of a file of inputs: a plain map from names to values.
///
/// # Errors
/// `invalid-input` for anything but a map; an empty file counts as an empty map.
pub(super) fn from_yaml(root: Node<'_>) -> Result<Vec<Assignment>, Diagnostic> {
    entries(root, &AssignmentSource::File)
}

pub(super) fn entries(
    node: Node<'_>,
    source: &AssignmentSource,
) -> Result<Vec<Assignment>, Diagnostic> {
    if node.kind() != NodeKind::Mapping && !node.is_null() {
        let message = format!(
            "expected a map from names of variability inputs to their values, not {}",
            node.describe()
        );
        return Err(Diagnostic::error(Code::InvalidInput, message).at(node.span()));
    }
    let assignment = |(key, value): (Node<'_>, Node<'_>)| match key.text() {
        Some(name) => {
            let (span, source) = (Some(value.span()), source.clone());
            Ok(Assignment { span, source, ..Assignment::new(name, v2_0::data(value)) })
        }
        None => {
            let message =
                format!("the name of a variability input must be a string, not {}", key.describe());
            Err(Diagnostic::error(Code::InvalidInput, message).at(key.span()))
        }
    };
    node.entries().map(assignment).collect()
}

/// Reads the text that a call assigns to an input, as YAML.
///
/// # Errors
/// `syntax` if the text is not well-formed; without a place, because the text is in no file.
pub(crate) fn parse_assignment_text(name: &str, text: &str) -> Result<Assignment, Diagnostic> {
    parse_text(name, text, AssignmentSource::Text)
}

fn parse_text(name: &str, text: &str, source: AssignmentSource) -> Result<Assignment, Diagnostic> {
    match yaml::parse(FileId::DETACHED, text.into(), &Limits::default()) {
        Ok(document) => {
            Ok(Assignment { source, ..Assignment::new(name, document.root().to_value()) })
        }
        Err(error) => {
            let message = match source {
                AssignmentSource::Text => {
                    format!("`--input {name}=...` is no YAML: {}", error.message)
                }
                _ => format!("{source} assigns `{name}` what is no YAML: {}", error.message),
            };
            Err(error.with_message(message))
        }
    }
}

/// The prefix of environment variables that assign inputs.
pub(crate) const INPUT_VARIABLE: &str = "CUVEE_INPUT_";

/// Reads the environment variables `CUVEE_INPUT_<NAME>`, sorted by name.
///
/// The name means the declared input of that name in lower case. If there is none, it means the
/// input whose name differs only in case.
pub(crate) fn from_environment(
    variables: &[(String, String)],
    declarations: &Declarations<'_>,
    diagnostics: &mut Diagnostics,
) -> Vec<Assignment> {
    let mut found: Vec<_> = variables
        .iter()
        .filter_map(|(key, text)| Some((key, key.strip_prefix(INPUT_VARIABLE)?, text)))
        .collect();
    found.sort_unstable();
    let mut read = |(key, name, text): (&String, &str, &String)| {
        let name = declared_name(&lower_case(name), declarations);
        diagnostics.ok(parse_text(&name, text, AssignmentSource::Environment(key.clone())))
    };
    found.into_iter().filter_map(&mut read).collect()
}

fn declared_name(lower: &str, declarations: &Declarations<'_>) -> String {
    let but_for_case =
        || declarations.iter().map(|(_, input)| input.name).find(|name| lower_case(name) == lower);
    match declarations.id(lower) {
        Some(_) => lower.to_owned(),
        None => but_for_case().unwrap_or(lower).to_owned(),
    }
}

/// The presets that `CUVEE_PRESETS` lists, separated by commas. They apply if no preset is chosen
/// otherwise.
pub(crate) fn presets_from_environment(variables: &[(String, String)]) -> Vec<String> {
    let lists = variables
        .iter()
        .filter(|(key, _)| key == "CUVEE_PRESETS")
        .flat_map(|(_, list)| list.split(','));
    lists.map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}
