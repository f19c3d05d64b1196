//! Values of TOSCA types (sections 3.3, 3.6.3, 3.6.9 to 3.6.14 and 3.7.6): whether a YAML node is a
//! value of its type, whether it fulfils its constraints, and whether constraints and defaults make
//! sense for their type.
//!
//! `valid(v, s) ⇔ v is of type(s) ∧ every part of v is valid ∧ v fulfils every clause of type(s)
//! and s`. A value that is an intrinsic function is neither valid nor invalid yet: it is handed
//! back as [`Undecided`].
//!
//! ```
//! use cuvee::diagnostic::Diagnostics;
//! use cuvee::source::FileId;
//! use cuvee::tosca::value::{DataTypeView, DataTypes, Schema, check_value};
//! use cuvee::yaml::{Limits, parse};
//!
//! struct None;
//! impl<'a> DataTypes<'a> for None {
//!     fn data_type(&self, _: &str) -> Option<DataTypeView<'_, 'a>> {
//!         Option::None
//!     }
//! }
//!
//! let text = "schema: {type: list, entry_schema: {type: scalar-unit.size, constraints: [greater_than: 1 GB]}}\nvalue: [2 GB, 3 MB, x]";
//! let document = parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap();
//! let schema = Schema::read(document.root().get("schema").unwrap(), &mut Diagnostics::default());
//! let findings = check_value(document.root().get("value").unwrap(), &schema, &None);
//! let codes: Vec<_> = findings.diagnostics.iter().map(|found| found.code.as_str()).collect();
//! assert_eq!(codes, ["violated-constraint", "invalid-value"]);
//! ```

mod check;
mod clause;
mod datum;
mod define;
mod literal;
mod primitive;
mod read;
mod rule;
mod schema;
#[cfg(test)]
mod tests;
mod timestamp;
mod truth;
mod unit;
mod version;

pub use crate::tosca::function::{function, function_not_map};
pub use clause::{Clause, Operator};
pub use datum::Datum;
pub use primitive::Primitive;
pub use rule::PropertyRule;
pub(crate) use rule::RuleDemand;
pub use schema::{DataTypeView, DataTypes, PropertyDefinition, Schema};
pub(crate) use timestamp::timestamp;
pub use unit::Dimension;
pub(crate) use version::{Version, is_version};

use crate::text::diagnostic::{Code, Diagnostic};
use crate::text::source::Span;
use crate::text::value::Value;
use crate::text::yaml::Node;
use check::{PropertyOwner, ValueChecker};
use literal::Literal;
use rule::GivenValues;
use std::cmp::Ordering;
use truth::Truth;

/// All that was found out.
#[derive(Clone, Debug, Default)]
pub struct Findings<'t> {
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// What cannot be told here.
    pub undecided: Vec<Undecided<'t>>,
}

/// A place at which it cannot be told whether all is well.
#[derive(Clone, Copy, Debug)]
pub struct Undecided<'t> {
    /// The place.
    pub node: Node<'t>,
    /// Why.
    pub reason: UndecidedReason<'t>,
    /// What is expected there, where anything in particular is.
    pub schema: Option<&'t Schema<'t>>,
}

/// Why something cannot be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndecidedReason<'t> {
    /// The value, or something that it is compared with, is that of this function.
    Function(&'t str),
    /// The type of this name is not defined, which is reported where it is named.
    UnknownType(&'t str),
    /// Versions whose qualifiers differ are not ordered (section 3.3.2.2).
    VersionBranches,
    /// The clause refers to a schema of another language (section 3.6.3.2).
    ExternalSchema,
    /// The regular expression is of a kind that is not supported; which are is left open (section
    /// 3.6.3.3).
    Pattern,
    /// What it is compared with makes no sense itself, which is reported at its definition.
    Definition,
}

impl Undecided<'_> {
    /// A note that says so.
    pub fn diagnostic(&self) -> Diagnostic {
        let (because, section) = match self.reason {
            UndecidedReason::Function(name) => {
                (format!("the result of `{name}` is not known here"), "4.1")
            }
            UndecidedReason::UnknownType(name) => {
                (format!("the type `{name}` is not known"), "3.7.6")
            }
            UndecidedReason::VersionBranches => {
                ("versions with different qualifiers have no order".to_owned(), "3.3.2.2")
            }
            UndecidedReason::ExternalSchema => {
                ("schemas of other languages are not evaluated".to_owned(), "3.6.3.2")
            }
            UndecidedReason::Pattern => (
                "look-around and back references are not supported in patterns".to_owned(),
                "3.6.3.3",
            ),
            UndecidedReason::Definition => {
                ("what it is compared with is not valid itself".to_owned(), "3.6.3")
            }
        };
        let message = format!("whether the value fits cannot be decided: {because}");
        Diagnostic::note(Code::Undecidable, message).at(self.node.span()).section(section)
    }
}

/// Checks a value: its type, its parts, and its constraints.
pub fn check_value<'t, 'a>(
    value: impl Into<Datum<'t>>,
    schema: &'t Schema<'t>,
    types: &'t dyn DataTypes<'a>,
) -> Findings<'t> {
    let mut checker = ValueChecker::new(types);
    checker.value(value.into(), schema);
    checker.findings
}

/// The types that values may have of which nobody says it, the narrower ones first.
const UNTYPED: [Primitive; 10] = [
    Primitive::Null,
    Primitive::Boolean,
    Primitive::Float,
    Primitive::ScalarUnit(Dimension::Size),
    Primitive::ScalarUnit(Dimension::Time),
    Primitive::ScalarUnit(Dimension::Frequency),
    Primitive::ScalarUnit(Dimension::Bitrate),
    Primitive::Timestamp,
    Primitive::Version,
    Primitive::String,
];

/// Orders two values without parts of which nobody says the type: as what both are.
pub(crate) fn compare(a: Datum<'_>, b: Datum<'_>) -> Option<Ordering> {
    let order = |kind| Literal::read(a, kind)?.compare(&Literal::read(b, kind)?);
    UNTYPED.into_iter().find_map(order)
}

/// Whether a value of which nobody says the type fulfils a clause: as one of some type.
pub(crate) fn fulfils_clause(value: &Value, clause: &Clause<'_>) -> bool {
    let as_one = |type_name| {
        let schema = Schema { constraints: vec![clause.clone()], ..Schema::of(type_name) };
        let found = check_value(value, &schema, &NoDataTypes);
        found.diagnostics.is_empty() && found.undecided.is_empty()
    };
    match value {
        Value::List(_) | Value::Map(_) => as_one(""),
        _ => UNTYPED
            .into_iter()
            .any(|kind| Literal::read(value.into(), kind).is_some() && as_one(kind.name())),
    }
}

/// Where no types are known but those that are there without being defined: others are taken as they
/// are.
pub(crate) struct NoDataTypes;

impl<'a> DataTypes<'a> for NoDataTypes {
    fn data_type(&self, _: &str) -> Option<DataTypeView<'_, 'a>> {
        None
    }
}

/// Checks a value that is given to an input before anything is evaluated: it is no function, and as
/// it is declared. `what` says what it is given to.
pub(crate) fn check_given<'t, 'a>(
    value: Node<'t>,
    definition: &'t PropertyDefinition<'t>,
    types: &'t dyn DataTypes<'a>,
    what: &str,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    no_functions(value, what, &mut found);
    if let Some(schema) = definition.expected() {
        found.extend(check_value(value, schema, types).diagnostics);
    }
    found
}

fn no_functions(value: Node<'_>, what: &str, found: &mut Vec<Diagnostic>) {
    if let Some(name) = function_not_map(value) {
        let message = format!("{what} has to be a value, not the function `{name}`");
        found.push(Diagnostic::error(Code::InvalidInput, message).at(value.span()));
    } else {
        let parts = value.items().chain(value.entries().map(|(_, part)| part));
        parts.for_each(|part| no_functions(part, what, found));
    }
}

/// Checks a value that is assigned to what has this definition: as [`check_value`], and that what
/// is fixed stays as it is.
pub fn check_assignment<'t, 'a>(
    value: impl Into<Datum<'t>>,
    definition: &'t PropertyDefinition<'t>,
    types: &'t dyn DataTypes<'a>,
) -> Findings<'t> {
    let mut checker = ValueChecker::new(types);
    checker.assignment(value.into(), definition);
    checker.findings
}

/// Checks the values that are assigned to properties: a map, or none. `owner` says whose they are,
/// and `at` where it is, for what is missing; where it `is_open`, it may have others than these.
pub fn check_assignments<'t, 'a>(
    values: Option<Node<'t>>,
    definitions: &[&'t PropertyDefinition<'t>],
    owner: &str,
    at: Span,
    types: &'t dyn DataTypes<'a>,
    is_open: bool,
) -> Findings<'t> {
    let mut checker = ValueChecker::new(types);
    let owner = PropertyOwner { what: owner, at: Some(at), section: "3.6.11", is_open };
    checker.assignments(values.map(Datum::Node), definitions, owner);
    checker.findings
}

/// Checks the values of properties by rules between them, beside their definitions.
pub(crate) fn check_rules<'t>(
    values: Option<Node<'t>>,
    definitions: &'t [&'t PropertyDefinition<'t>],
    rules: &[&PropertyRule],
    owner: &str,
    at: Span,
) -> Vec<Diagnostic> {
    let values = GivenValues { assigned: values.map(Datum::Node), definitions, at: Some(at) };
    rules.iter().filter_map(|rule| rule.check(&values, owner)).collect()
}

/// Checks a property, attribute or parameter definition: its schema, and its default and its value
/// against that.
pub fn check_definition<'t, 'a>(
    definition: &'t PropertyDefinition<'t>,
    types: &'t dyn DataTypes<'a>,
) -> Findings<'t> {
    let mut checker = ValueChecker::new(types);
    checker.definition(definition);
    checker.findings
}

/// Checks a schema: whether its constraints, and those of the schemas in it, make sense for their
/// types.
pub fn check_schema<'t, 'a>(schema: &'t Schema<'t>, types: &'t dyn DataTypes<'a>) -> Findings<'t> {
    let mut checker = ValueChecker::new(types);
    checker.schema(schema);
    checker.findings
}

/// Checks whether a clause makes sense for values of this schema: its operator applies to them, and
/// its operand is of the right type.
///
/// For a clause of a data type the schema is that data type itself.
pub fn check_constraint_definition<'t, 'a>(
    clause: &'t Clause<'t>,
    schema: &'t Schema<'t>,
    types: &'t dyn DataTypes<'a>,
) -> Findings<'t> {
    let mut checker = ValueChecker::new(types);
    checker.clause_definition(clause, schema);
    checker.findings
}

/// Whether two values of a schema are equal, as far as that can be told.
pub fn same<'t, 'a>(
    a: impl Into<Datum<'t>>,
    b: impl Into<Datum<'t>>,
    schema: &'t Schema<'t>,
    types: &'t dyn DataTypes<'a>,
) -> bool {
    ValueChecker::new(types).same(a.into(), b.into(), Some(schema)) == Truth::Yes
}
