//! Reads the declarations in `variability.inputs`.

use super::data_type::DeclarableTypes;
use super::features::{FeatureKeyword, FeatureRule};
use super::{listed, named, shape};
use crate::diagnostic::{Advice, Code, Diagnostic, Diagnostics, Severity, closest, did_you_mean};
use crate::tosca::grammar::Grammar;
use crate::tosca::sensitive::{is_sensitive_name, said_sensitive};
use crate::tosca::shape::PARAMETER;
use crate::tosca::types::Types;
use crate::tosca::types::schemas::Schemas;
use crate::tosca::v2_0;
use crate::tosca::v2_0::clause::{SAME, conjuncts};
use crate::tosca::value::{
    AmountUnits, Clause, DataTypes, NoDataTypes, Operator, Primitive, Schema, UndecidedReason,
    check_schema, check_value, concealed, said_clauses, same,
};
use crate::variability::syntax::ExpressionOperator;
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{self, Node, NodeKind};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::Arc;

/// The id of a declared input: its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct InputId(pub u32);

impl InputId {
    /// The position as an index.
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
    /// The schema of its values. Instead of a data type that derives from a built-in one, it has what
    /// that type says of values.
    pub schema: Schema<'a>,
    /// The constraints of the schema, and the clauses that its validations say all of.
    constraints: Vec<Clause<'a>>,
    /// What the clauses alone say of values, where a validation says more than clauses and
    /// comparisons do.
    conceivable: Option<Box<Schema<'a>>>,
    /// The units of its values if these are amounts.
    amounts: Option<AmountUnits>,
    /// The data types that the schema names.
    types: Option<Arc<Types<'a>>>,
    /// A description for people.
    pub description: Option<&'a str>,
    /// The value that it has if none is assigned; a map whose only key is an operator is an
    /// expression.
    pub default: Option<Node<'a>>,
    /// The expression for its value if there is neither an assignment nor a default.
    pub default_expression: Option<Node<'a>>,
    /// The rules that it imposes on other inputs.
    pub rules: Vec<FeatureRule>,
    /// Whether its values are secret, by its metadata or else by its name.
    pub is_sensitive: bool,
}

/// All declared inputs, in the order of the template.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declarations<'a> {
    inputs: Vec<Declaration<'a>>,
    ids: FxHashMap<&'a str, InputId>,
}

/// Keynames that describe the values of an input.
pub(super) const SCHEMA: [&str; 4] = ["type", "constraints", "key_schema", "entry_schema"];

/// Keynames of a declaration beside the feature keywords.
pub(super) const KEYWORDS: [&str; 6] =
    ["type", "description", "default", "default_expression", "constraints", "entry_schema"];

/// Keynames that TOSCA defines for a parameter but that have no meaning here.
pub(super) const TOLERATED: [&str; 4] = ["metadata", "required", "status", "schema"];

/// The keyname of TOSCA 2.0 for a condition on values. Inputs may have `constraints` in both versions.
const VALIDATION: &str = "validation";

impl<'a> Declarations<'a> {
    /// Reads the node of `variability.inputs`: a map, or a list of maps with one entry each.
    ///
    /// Errors are reported and the wrong parts left out; the rest is declared. Data types do not
    /// restrict values.
    pub(crate) fn parse(node: Option<Node<'a>>, diagnostics: &mut Diagnostics) -> Self {
        Self::parse_typed(node, &|| None, diagnostics)
    }

    /// The same, with the data types that `types` finds if a declaration names one.
    pub(crate) fn parse_typed(
        node: Option<Node<'a>>,
        types: &dyn Fn() -> Option<Types<'a>>,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let types = DeclarableTypes::new(types);
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
        // Rules are read in a second pass, because they may name inputs that are declared later.
        let mut inputs = std::mem::take(&mut declarations.inputs);
        for (declaration, body) in inputs.iter_mut().zip(bodies) {
            declaration.read(body, &declarations, &types, diagnostics);
        }
        declarations.inputs = inputs;
        declarations
    }

    /// The input of this name.
    pub(crate) fn id(&self, name: &str) -> Option<InputId> {
        self.ids.get(name).copied()
    }

    /// The input that `NAME=TEXT` assigns, and its text. Where no input is called `NAME`, the name may
    /// have equals signs itself.
    pub(crate) fn named<'n>(&self, name: &'n str, text: &'n str) -> (Cow<'n, str>, &'n str) {
        if self.id(name).is_some() || !text.contains('=') {
            return (name.into(), text);
        }
        let mut longer = text.rmatch_indices('=').map(|(at, _)| {
            let (more, value) = (&text[..at], &text[at + 1..]);
            (format!("{name}={more}"), value)
        });
        let found = longer.find(|(name, _)| self.id(name).is_some());
        found.map_or((name.into(), text), |(name, value)| (name.into(), value))
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

    /// The number of declared inputs.
    pub(crate) fn len(&self) -> usize {
        self.inputs.len()
    }

    /// Advice for an undeclared name: the declared name that was probably meant.
    pub(crate) fn suggestion(&self, name: &str) -> Advice {
        let names = || self.names();
        did_you_mean(name, names()).unwrap_or_else(|| match names().next() {
            Some(_) => format!("declared are {}", listed(names())).into(),
            None => "no variability inputs are declared".into(),
        })
    }

    // The declared names. They come from the index, because the declarations are still being read
    // when rules look up names.
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
            constraints: Vec::new(),
            conceivable: None,
            amounts: None,
            types: None,
            description: None,
            default: None,
            default_expression: None,
            rules: Vec::new(),
            is_sensitive: is_sensitive_name(name),
        }
    }

    fn read(
        &mut self,
        body: Node<'a>,
        declarations: &Declarations<'a>,
        types: &DeclarableTypes<'_, 'a>,
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
        self.is_sensitive = said_sensitive(body).unwrap_or(self.is_sensitive);
        for (key, value) in body.entries() {
            match &*key.key_text() {
                "description" => self.description = value.text(),
                "default" => self.default = Some(value),
                "default_expression" => self.default_expression = Some(value),
                known if SCHEMA.contains(&known) || TOLERATED.contains(&known) => {}
                VALIDATION if v2_0::is_of(body.document()) => {}
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
        self.read_schema(body, types, diagnostics);
        self.check_default(diagnostics);
    }

    fn read_schema(
        &mut self,
        body: Node<'a>,
        types: &DeclarableTypes<'_, 'a>,
        diagnostics: &mut Diagnostics,
    ) {
        let mut found = Diagnostics::default();
        self.schema = Grammar::lenient(&mut found).typed_schema(body, &PARAMETER);
        as_in_conditions(&mut self.schema);
        // What is wrong in the types that it names is reported where they are defined.
        let findings = check_schema(&self.schema, &NoDataTypes);
        for undecided in &findings.undecided {
            match undecided.reason {
                UndecidedReason::Function(name) => {
                    let message = format!(
                        "a constraint of a variability input has to be a value, not the function `{name}`"
                    );
                    let error = Diagnostic::error(Code::InvalidInput, message);
                    // In TOSCA 2.0, a text may call a function.
                    let text = undecided.node.as_str().map(|text| {
                        Advice::from(format!(
                            "to ask for the text, compare `$value` with `${text}` in a `validation`"
                        ))
                    });
                    found.push(error.at(undecided.node.span()).help_opt(text));
                }
                UndecidedReason::UnknownType(_) => {}
                _ => found.push(undecided.diagnostic()),
            }
        }
        let found = found.0.into_iter().chain(findings.diagnostics);
        diagnostics.0.extend(found.map(of_input));
        self.types = types.inline(&mut self.schema);
        let said = self.schema.validations.iter().flat_map(|clause| said_clauses(*clause));
        self.constraints = self.schema.constraints.iter().cloned().chain(said).collect();
        self.amounts = self.with_types(|types| AmountUnits::of(&self.schema, types));
        let is_opaque = !self.schema.validations.iter().copied().all(compares_only);
        self.conceivable = is_opaque.then(|| {
            let constraints = self.constraints.clone();
            Box::new(Schema { constraints, validations: Vec::new(), ..self.schema.clone() })
        });
    }

    /// Asks with the data types that the schema names.
    fn with_types<T>(&self, ask: impl FnOnce(&dyn DataTypes<'_>) -> T) -> T {
        match &self.types {
            Some(types) => ask(&Schemas::new(types)),
            None => ask(&NoDataTypes),
        }
    }

    /// Checks the default. A default of another type is only a warning, because templates declare
    /// `default: yes` for features.
    fn check_default(&self, diagnostics: &mut Diagnostics) {
        let Some(default) = self.default.filter(|default| !is_expression(*default)) else { return };
        for problem in self.problems(&self.read_value(v2_0::data(default))) {
            let message = format!(
                "the default of the variability input `{}` does not fit: {}",
                self.name, problem.message
            );
            let make = if problem.wrong_type { Diagnostic::warning } else { Diagnostic::error };
            let diagnostic = problem.labels(make(Code::InvalidInput, message).at(default.span()));
            let is_switch = self.primitive() == Some(Primitive::Boolean);
            let meant = default.as_str().and_then(yaml::switch).filter(|_| is_switch);
            diagnostics.push(diagnostic.help_opt(meant.map(|meant| format!("write `{meant}`"))));
        }
    }

    /// The primitive type of its values. `None` if no type is declared, or if it is a data type with
    /// properties.
    pub(crate) fn primitive(&self) -> Option<Primitive> {
        Primitive::from_name(self.schema.type_name)
    }

    /// The primitive type of the entries of its values if these are lists or maps.
    pub(crate) fn entries(&self) -> Option<Primitive> {
        Primitive::from_name(self.schema.entry_schema.as_deref()?.type_name)
    }

    /// The constraints on its values beside their type.
    pub(crate) fn constraints(&self) -> &[Clause<'a>] {
        &self.constraints
    }

    /// The units of its values if these are amounts with units.
    pub(crate) fn amounts(&self) -> Option<&AmountUnits> {
        self.amounts.as_ref()
    }

    /// A value in the form in which conditions compare it with the input: amounts are numbers of the
    /// base unit.
    pub(crate) fn compared(&self, value: &Value) -> Value {
        self.amounts().map_or_else(|| value.clone(), |units| units.in_base_unit(value))
    }

    /// Whether there may be valid values like this one, although it is not valid itself: only
    /// validations refuse it of which samples do not tell what they allow.
    pub(crate) fn is_conceivable(&self, value: &Value) -> bool {
        self.conceivable.as_deref().is_some_and(|schema| {
            let found = self.with_types(|types| check_value(value, schema, types).diagnostics);
            !found.iter().any(|found| found.severity == Severity::Error)
        })
    }

    /// The regular expressions that validations match values with.
    pub(crate) fn patterns(&self) -> Vec<&'a str> {
        let mut found = Vec::new();
        self.schema.validations.iter().for_each(|validation| patterns(*validation, &mut found));
        found
    }

    /// The values that a constraint clause lists, if any.
    pub(crate) fn listed_values(&self) -> Option<Vec<Value>> {
        let values = self.constraints().iter().find_map(Clause::values)?;
        Some(values.into_iter().map(|value| self.read_value(value)).collect())
    }

    /// The values at which a constraint clause starts or stops to hold.
    pub(crate) fn bounds(&self) -> impl Iterator<Item = Value> {
        self.constraints().iter().flat_map(Clause::bounds).map(|value| self.read_value(value))
    }

    /// The constants that validations name. Only those of clauses are bounds, too.
    pub(crate) fn constants(&self) -> Vec<Value> {
        let mut found = Vec::new();
        self.schema.validations.iter().for_each(|validation| constants(*validation, &mut found));
        found.into_iter().map(|value| self.read_value(value)).collect()
    }

    /// The value in the form of its type: a version keeps its text, although `1.10` could also be
    /// read as a number.
    pub(crate) fn read_value(&self, value: Value) -> Value {
        as_declared(value, &self.schema)
    }

    /// Whether two of its values are equal. For sizes, `1 GB` equals `1000 MB`.
    pub(crate) fn equal(&self, a: &Value, b: &Value) -> bool {
        self.with_types(|types| same(a, b, &self.schema, types))
    }

    /// The declared default if it is a value rather than an expression.
    pub(crate) fn default_value(&self) -> Option<Value> {
        self.default
            .filter(|default| !is_expression(*default))
            .map(|default| self.read_value(v2_0::data(default)))
    }

    /// The expression for its value if nothing is assigned: a default that is an expression, else
    /// the default expression.
    pub(crate) fn computed_default(&self) -> Option<Node<'a>> {
        match self.default {
            Some(default) => is_expression(default).then_some(default),
            None => self.default_expression,
        }
    }

    /// The errors of a value: a wrong type, or else every constraint that it violates.
    pub(crate) fn problems(&self, value: &Value) -> Vec<InputMismatch> {
        let found = self.with_types(|types| check_value(value, &self.schema, types).diagnostics);
        let told = |found| if self.is_sensitive { concealed(&found) } else { found };
        found.into_iter().map(told).filter_map(InputMismatch::of).collect()
    }
}

/// The reason why a value does not fit a declaration.
pub(crate) struct InputMismatch {
    /// The reason in a few words.
    pub message: String,
    pub(super) wrong_type: bool,
    found: Diagnostic,
}

impl InputMismatch {
    fn of(mut found: Diagnostic) -> Option<Self> {
        let is_refused = [Code::ViolatedConstraint, Code::InvalidFunction];
        let wrong_type = !is_refused.iter().any(|&code| found.code == code);
        let message = std::mem::take(&mut found.message);
        (found.severity == Severity::Error).then_some(Self { message, wrong_type, found })
    }

    /// Adds to a diagnostic the place of the violated constraint, and what may have been meant.
    pub(crate) fn labels(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        diagnostic.labels.extend(self.found.labels.iter().cloned());
        diagnostic.with_help_of(&self.found)
    }
}

/// Converts an error of a declaration to the code that this phase uses.
fn of_input(found: Diagnostic) -> Diagnostic {
    match Code::named(found.code) {
        Some(Code::InvalidConstraint | Code::InvalidValue) => found.with_code(Code::InvalidInput),
        _ => found,
    }
}

/// Replaces the type name `number`, which expressions use for numbers, by that of floats. Types that
/// are built in in version 1.3 only, such as `scalar-unit.size`, are so for inputs of TOSCA 2.0, too,
/// since all of variability means the same in both versions.
fn as_in_conditions(schema: &mut Schema<'_>) {
    if schema.type_name == "number" {
        schema.type_name = Primitive::Float.name();
    }
    if schema.primitive().is_none() && Primitive::from_name(schema.type_name).is_some() {
        schema.kind = None;
    }
    for part in [&mut schema.key_schema, &mut schema.entry_schema].into_iter().flatten() {
        as_in_conditions(part);
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
        None if Operator::from_keyname(written).is_some() => {
            format!("it is a constraint: `constraints: [{{{written}: ...}}]`").into()
        }
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
pub(crate) fn is_expression(node: Node<'_>) -> bool {
    let mut entries = node.entries();
    match entries.next() {
        Some((key, _)) if entries.len() == 0 => {
            let operator = ExpressionOperator::called_by(key, false);
            operator.is_some_and(|operator| !matches!(operator, ExpressionOperator::Presence(_)))
        }
        _ => false,
    }
}

/// Whether a validation consists of clauses, and of comparisons of the whole value that are combined:
/// samples around what these name tell all values that it allows.
fn compares_only(validation: Node<'_>) -> bool {
    let is_clause = |one: Node<'_>| said_clauses(one).len() == 1;
    conjuncts(validation).into_iter().all(|one| is_clause(one) || compares_value(one))
}

fn compares_value(node: Node<'_>) -> bool {
    match v2_0::called(node) {
        Some(("and" | "or" | "xor", Some(arguments))) => arguments.items().all(compares_value),
        Some(("not", Some(arguments))) => compares_value(v2_0::negated(arguments)),
        Some(("has_entry", Some(arguments))) => {
            let is_value = |it: Node<'_>| matches!(v2_0::called(it), Some(("value", None)));
            let mut arguments = arguments.items();
            arguments.next().is_some_and(|list| !v2_0::calls(list))
                && arguments.next().is_some_and(is_value)
        }
        Some((name, Some(_))) if SAME.contains(&name) => {
            said_clauses(node).first().is_some_and(|clause| clause.size().is_none())
        }
        _ => false,
    }
}

/// The regular expressions of calls of `$matches` in an expression.
fn patterns<'a>(node: Node<'a>, found: &mut Vec<&'a str>) {
    if let Some(("matches", Some(arguments))) = v2_0::called(node) {
        found.extend(arguments.items().nth(1).and_then(Node::as_str));
    }
    let parts = node.items().chain(node.entries().map(|(_, value)| value));
    parts.for_each(|part| patterns(part, found));
}

/// The values in an expression that are no calls.
fn constants(node: Node<'_>, found: &mut Vec<Value>) {
    match node.kind() {
        NodeKind::Scalar if v2_0::calls(node) => {}
        NodeKind::Scalar => {
            let text = node.as_str().and_then(v2_0::unescaped);
            found.push(text.map_or_else(|| node.to_value(), Value::from));
        }
        _ => {
            let parts = node.items().chain(node.entries().map(|(_, value)| value));
            parts.for_each(|part| constants(part, found));
        }
    }
}
