//! What `variability.inputs` declares.

use super::features::{FeatureKeyword, FeatureRule};
use super::{listed, named, shape};
use crate::text::diagnostic::{
    Advice, Code, Diagnostic, Diagnostics, Severity, closest, did_you_mean,
};
use crate::text::source::Span;
use crate::text::value::Value;
use crate::text::yaml::{Node, NodeKind};
use crate::tosca::grammar::Grammar;
use crate::tosca::shape::PARAMETER;
use crate::tosca::value::{
    Clause, NoDataTypes, Primitive, Schema, UndecidedReason, check_schema, check_value, same,
};
use crate::variability::syntax::ExpressionOperator;
use rustc_hash::FxHashMap;

/// A declared input, by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct InputId(pub u32);

impl InputId {
    /// The position.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The declaration of one input.
#[derive(Clone, Debug)]
pub(crate) struct Declaration<'a> {
    /// The name.
    pub name: &'a str,
    /// The place of the name.
    pub span: Span,
    /// What its values have to be.
    pub schema: Schema<'a>,
    /// For people.
    pub description: Option<&'a str>,
    /// The value where none is assigned; a map whose only key is an operator is an expression.
    pub default: Option<Node<'a>>,
    /// The expression whose value it has where there is neither an assignment nor a default.
    pub default_expression: Option<Node<'a>>,
    /// What it demands of other inputs.
    pub rules: Vec<FeatureRule>,
}

/// All declared inputs, in the order of the template.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declarations<'a> {
    inputs: Vec<Declaration<'a>>,
    ids: FxHashMap<&'a str, InputId>,
}

/// Keys that say what values have to be.
pub(super) const SCHEMA: [&str; 4] = ["type", "constraints", "key_schema", "entry_schema"];

/// Keys of a declaration beside the feature keywords.
pub(super) const KEYWORDS: [&str; 6] =
    ["type", "description", "default", "default_expression", "constraints", "entry_schema"];

/// Keys that TOSCA knows at a parameter and that mean nothing here.
pub(super) const TOLERATED: [&str; 4] = ["metadata", "required", "status", "schema"];

impl<'a> Declarations<'a> {
    /// Reads the node of `variability.inputs`: a map, or a list of maps with one entry each.
    ///
    /// What is wrong is reported and left out; the rest is declared all the same.
    pub(crate) fn parse(node: Option<Node<'a>>, diagnostics: &mut Diagnostics) -> Self {
        let mut declarations = Self::default();
        let mut bodies = Vec::new();
        for (name, key, body) in named(node, "a variability input", diagnostics) {
            if let Some(first) = declarations.id(name).and_then(|id| declarations.get(id)) {
                let message = format!("the variability input `{name}` is declared twice");
                let diagnostic = Diagnostic::error(Code::Duplicate, message).at(key.span());
                diagnostics.push(diagnostic.label(first.span, "declared here first"));
                continue;
            }
            declarations.ids.insert(name, InputId(declarations.inputs.len() as u32));
            declarations.inputs.push(Declaration::empty(name, key.span()));
            bodies.push(body);
        }
        // In a second pass, because rules name inputs that are declared further down.
        let mut inputs = std::mem::take(&mut declarations.inputs);
        for (declaration, body) in inputs.iter_mut().zip(bodies) {
            declaration.read(body, &declarations, diagnostics);
        }
        declarations.inputs = inputs;
        declarations
    }

    /// The input of this name.
    pub(crate) fn id(&self, name: &str) -> Option<InputId> {
        self.ids.get(name).copied()
    }

    /// The declaration of this input.
    pub(crate) fn get(&self, id: InputId) -> Option<&Declaration<'a>> {
        self.inputs.get(id.index())
    }

    /// All inputs in the order of the template.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (InputId, &Declaration<'a>)> {
        self.inputs
            .iter()
            .enumerate()
            .map(|(index, declaration)| (InputId(index as u32), declaration))
    }

    /// How many inputs are declared.
    pub(crate) fn len(&self) -> usize {
        self.inputs.len()
    }

    /// What somebody who named an undeclared input may have meant.
    pub(crate) fn suggestion(&self, name: &str) -> Advice {
        let names = || self.names();
        did_you_mean(name, names()).unwrap_or_else(|| match names().next() {
            Some(_) => format!("declared are {}", listed(names())).into(),
            None => "no variability inputs are declared".into(),
        })
    }

    // By the index and not by the declarations, which are still being read when rules ask for
    // names.
    fn names(&self) -> impl Iterator<Item = &'a str> {
        let mut names: Vec<_> = self.ids.iter().map(|(&name, &id)| (id, name)).collect();
        names.sort_unstable();
        names.into_iter().map(|(_, name)| name)
    }
}

impl<'a> Declaration<'a> {
    fn empty(name: &'a str, span: Span) -> Self {
        Self {
            name,
            span,
            schema: Schema::untyped(),
            description: None,
            default: None,
            default_expression: None,
            rules: Vec::new(),
        }
    }

    fn read(
        &mut self,
        body: Node<'a>,
        declarations: &Declarations<'a>,
        diagnostics: &mut Diagnostics,
    ) {
        if body.kind() != NodeKind::Mapping {
            if !body.is_null() {
                let message = format!(
                    "the declaration of the variability input `{}` must be a map, not {}",
                    self.name,
                    body.describe()
                );
                diagnostics.push(shape(body, message).help("write its value as `default`"));
            }
            return;
        }
        for (key, value) in body.entries() {
            match &*key.key_text() {
                "description" => self.description = value.text(),
                "default" => self.default = Some(value),
                "default_expression" => self.default_expression = Some(value),
                known if SCHEMA.contains(&known) || TOLERATED.contains(&known) => {}
                other => match FeatureKeyword::from_keyword(other) {
                    Some(keyword) => self.rules.push(FeatureRule::read(
                        keyword,
                        key,
                        value,
                        declarations,
                        diagnostics,
                    )),
                    None => diagnostics.push(unknown_keyword(key, other)),
                },
            }
        }
        self.read_schema(body, diagnostics);
        self.check_default(diagnostics);
    }

    fn read_schema(&mut self, body: Node<'a>, diagnostics: &mut Diagnostics) {
        let mut found = Diagnostics::default();
        self.schema = Grammar::lenient(&mut found).typed_schema(body, &PARAMETER);
        number_is_float(&mut self.schema);
        let findings = check_schema(&self.schema, &NoDataTypes);
        for undecided in &findings.undecided {
            match undecided.reason {
                UndecidedReason::Function(name) => found.push(Diagnostic::error(
                    Code::InvalidInput,
                    format!("a constraint of a variability input has to be a value, not the function `{name}`"),
                ).at(undecided.node.span())),
                UndecidedReason::UnknownType(_) => {}
                _ => found.push(undecided.diagnostic()),
            }
        }
        let found = found.0.into_iter().chain(findings.diagnostics);
        diagnostics.0.extend(found.map(of_input));
    }

    /// A default of another type is only worth a warning: templates declare `default: yes` at
    /// features.
    fn check_default(&self, diagnostics: &mut Diagnostics) {
        let Some(default) = self.default.filter(|default| !is_expression(*default)) else { return };
        for problem in self.problems(&self.read_value(default.to_value())) {
            let message = format!(
                "the default of the variability input `{}` does not fit: {}",
                self.name, problem.message
            );
            let make = if problem.wrong_type { Diagnostic::warning } else { Diagnostic::error };
            diagnostics.push(problem.labels(make(Code::InvalidInput, message).at(default.span())));
        }
    }

    /// The primitive type of its values; nothing where none is declared, and where it is a data
    /// type, which says nothing about values here.
    pub(crate) fn primitive(&self) -> Option<Primitive> {
        Primitive::from_name(self.schema.type_name)
    }

    /// The primitive type of the entries of its values, where they are lists or maps.
    pub(crate) fn entries(&self) -> Option<Primitive> {
        Primitive::from_name(self.schema.entry_schema.as_deref()?.type_name)
    }

    /// What its assigned values must fulfil beside being of their type.
    pub(crate) fn constraints(&self) -> &[Clause<'a>] {
        &self.schema.constraints
    }

    /// The values that a clause lists, where one does.
    pub(crate) fn listed_values(&self) -> Option<Vec<Value>> {
        let values = self.constraints().iter().find_map(Clause::values)?;
        Some(values.into_iter().map(|value| self.read_value(value)).collect())
    }

    /// The values at which a clause begins or ceases to hold.
    pub(crate) fn bounds(&self) -> impl Iterator<Item = Value> {
        self.constraints().iter().flat_map(Clause::bounds).map(|value| self.read_value(value))
    }

    /// The value as its type has it: a version stays the text it was written as, though `1.10` also
    /// reads as a number.
    pub(crate) fn read_value(&self, value: Value) -> Value {
        as_declared(value, &self.schema)
    }

    /// Whether two of its values are equal: as sizes, `1 GB` is `1000 MB`.
    pub(crate) fn equal(&self, a: &Value, b: &Value) -> bool {
        same(a, b, &self.schema, &NoDataTypes)
    }

    /// The value that is declared as default, where it is one and no expression.
    pub(crate) fn default_value(&self) -> Option<Value> {
        self.default
            .filter(|default| !is_expression(*default))
            .map(|default| self.read_value(default.to_value()))
    }

    /// The expression that its value is that of where nothing is assigned: a default that is one,
    /// or else the default expression.
    pub(crate) fn computed_default(&self) -> Option<Node<'a>> {
        match self.default {
            Some(default) => is_expression(default).then_some(default),
            None => self.default_expression,
        }
    }

    /// What is wrong with a value: its type, or else every constraint that it violates.
    pub(crate) fn problems(&self, value: &Value) -> Vec<InputMismatch> {
        let found = check_value(value, &self.schema, &NoDataTypes).diagnostics;
        found.into_iter().filter_map(InputMismatch::of).collect()
    }
}

/// Why a value does not fit a declaration.
pub(crate) struct InputMismatch {
    /// What, in a few words.
    pub message: String,
    pub(super) wrong_type: bool,
    found: Diagnostic,
}

impl InputMismatch {
    fn of(mut found: Diagnostic) -> Option<Self> {
        let wrong_type = found.code != Code::ViolatedConstraint;
        let message = std::mem::take(&mut found.message);
        (found.severity == Severity::Error).then_some(Self { message, wrong_type, found })
    }

    /// The diagnostic with the place of the constraint that is violated, and what may have been
    /// meant.
    pub(crate) fn labels(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        diagnostic.labels.extend(self.found.labels.iter().cloned());
        diagnostic.help.clone_from(&self.found.help);
        diagnostic.instead.clone_from(&self.found.instead);
        diagnostic
    }
}

/// What is wrong with a declaration, as this phase reports it.
fn of_input(mut found: Diagnostic) -> Diagnostic {
    if matches!(found.code, Code::InvalidConstraint | Code::InvalidValue) {
        found.code = Code::InvalidInput;
    }
    found
}

/// Expressions speak of numbers, so that is a name of the type as well.
fn number_is_float(schema: &mut Schema<'_>) {
    if schema.type_name == "number" {
        schema.type_name = Primitive::Float.name();
    }
    if let Some(entries) = schema.entry_schema.as_deref_mut() {
        number_is_float(entries);
    }
}

fn as_declared(value: Value, schema: &Schema<'_>) -> Value {
    let entries = schema.entry_schema.as_deref().filter(|entries| mentions_version(entries));
    match (value, entries) {
        (Value::Number(number), _)
            if Primitive::from_name(schema.type_name) == Some(Primitive::Version) =>
        {
            Value::from(number.to_string())
        }
        (Value::List(items), Some(entries)) => {
            Value::List(items.iter().map(|item| as_declared(item.clone(), entries)).collect())
        }
        (Value::Map(items), Some(entries)) => Value::Map(
            items
                .iter()
                .map(|(key, item)| (key.clone(), as_declared(item.clone(), entries)))
                .collect(),
        ),
        (value, _) => value,
    }
}

fn mentions_version(schema: &Schema<'_>) -> bool {
    Primitive::from_name(schema.type_name) == Some(Primitive::Version)
        || schema.entry_schema.as_deref().is_some_and(mentions_version)
}

fn unknown_keyword(key: Node<'_>, written: &str) -> Diagnostic {
    let known =
        || KEYWORDS.into_iter().chain(FeatureKeyword::ALL.iter().map(|keyword| keyword.as_str()));
    let help = match closest(written, known().chain(TOLERATED)) {
        Some(name) => Advice::did_you_mean(written, name),
        None => format!("a variability input has {}", listed(known())).into(),
    };
    Diagnostic::error(
        Code::UnknownKeyword,
        format!("`{written}` is no keyword of a variability input"),
    )
    .at(key.span())
    .help(help)
}

/// Whether a default is an expression: a map whose only key is an operator.
pub(super) fn is_expression(node: Node<'_>) -> bool {
    let mut entries = node.entries();
    match entries.next() {
        Some((key, _)) if entries.len() == 0 => {
            let operator = key.as_str().and_then(ExpressionOperator::from_keyword);
            operator.is_some_and(|operator| !matches!(operator, ExpressionOperator::Presence(_)))
        }
        _ => false,
    }
}
