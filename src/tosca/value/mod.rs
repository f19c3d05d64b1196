//! Checks values of TOSCA types (sections 3.3, 3.6.3, 3.6.9 to 3.6.14 and 3.7.6): whether a YAML
//! node is a value of its type and fulfils its constraints, and whether constraints and defaults
//! suit their type.
//!
//! `valid(v, s) ⇔ v is of type(s) ∧ every part of v is valid ∧ v fulfils every clause of type(s)
//! and s`. The validity of a call of an intrinsic function is not known before evaluation, so it is
//! returned as [`Undecided`].
//!
//! ```
//! use cuvee::diagnostic::Diagnostics;
//! use cuvee::source::FileId;
//! use cuvee::parts::tosca::value::{DataTypeView, DataTypes, Schema, check_value};
//! use cuvee::parts::yaml::{Limits, parse};
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

mod amount;
mod check;
mod clause;
mod datum;
mod define;
mod form;
mod kept;
mod kinds;
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
mod validation;
mod version;

pub use crate::tosca::function::{function, function_not_map};
pub(crate) use amount::AmountUnits;
pub use clause::{Clause, Operator};
pub use datum::Datum;
pub(crate) use form::{TextType, default_of_part};
pub(crate) use kept::{has_number, takes_null, with_versions};
pub(crate) use kinds::ValueKinds;
pub use primitive::Primitive;
pub(crate) use read::defines_parameter;
pub use rule::PropertyRule;
pub(crate) use rule::RuleDemand;
pub use schema::{DataTypeView, DataTypes, DefinedRole, PropertyDefinition, ScalarNumbers, Schema};
pub(crate) use timestamp::{rfc_3339, timestamp};
pub use unit::Dimension;
pub(crate) use unit::{product, units};
pub(crate) use validation::{UnitSize, in_base_unit, said_clauses};
pub(crate) use version::{Version, is_version};

use crate::diagnostic::{Cite, Code, Diagnostic};
use crate::tosca::v2_0;
pub(crate) use check::{PropertyOwner, concealed};
use check::{ValueChecker, ValueQuery};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::Node;
use literal::Literal;
use rule::GivenValues;
use std::cmp::Ordering;
pub(crate) use truth::is_unsupported;
use truth::{Truth, is_too_large};

/// The results of a check.
#[derive(Clone, Debug, Default)]
pub struct Findings<'t> {
    /// The errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The places whose validity is not known.
    pub undecided: Vec<Undecided<'t>>,
}

/// A place whose validity is not known.
#[derive(Clone, Copy, Debug)]
pub struct Undecided<'t> {
    /// The node at the place.
    pub node: Node<'t>,
    /// The reason.
    pub reason: UndecidedReason<'t>,
    /// The schema that the value has to match, where there is one.
    pub schema: Option<&'t Schema<'t>>,
}

/// The reason why validity is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndecidedReason<'t> {
    /// The value, or an operand that it is compared with, is the result of this function.
    Function(&'t str),
    /// The type of this name is not defined, which is reported where the type is named.
    UnknownType(&'t str),
    /// The versions have different qualifiers, so they are not ordered (section 3.3.2.2).
    VersionBranches,
    /// The clause refers to a schema of another language (section 3.6.3.2).
    ExternalSchema,
    /// The regular expression is too large or of an unsupported kind, with this error. The
    /// specification leaves open which kinds there are (section 3.6.3.3).
    Pattern(&'t str),
    /// The operand of the clause is invalid itself, which is reported at the definition of the
    /// clause.
    Definition,
}

impl Undecided<'_> {
    /// A note with the place and the reason.
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
            UndecidedReason::Pattern(error) => {
                let because = match is_too_large(error) {
                    true => "the pattern is too large".to_owned(),
                    false => format!("{error} in patterns"),
                };
                (because, "3.6.3.3")
            }
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

/// The types that are tried for values without a declared type, the narrower ones first.
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

/// Compares two scalar values without a declared type, as values of the first type that both fit.
pub(crate) fn compare(a: Datum<'_>, b: Datum<'_>) -> Option<Ordering> {
    let order = |kind| Literal::read(a, kind)?.compare(&Literal::read(b, kind)?);
    UNTYPED.into_iter().find_map(order)
}

/// Whether a value without a declared type fulfils a clause, as a value of some type that it fits.
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

/// Knows no types except the primitive ones. Values of other types are accepted as they are.
pub(crate) struct NoDataTypes;

impl<'a> DataTypes<'a> for NoDataTypes {
    fn data_type(&self, _: &str) -> Option<DataTypeView<'_, 'a>> {
        None
    }
}

/// Checks a value that is given to an input before any evaluation: it must not be a function call,
/// and must fit the declaration. `what` names its destination in messages.
pub(crate) fn check_given<'t, 'a>(
    value: Node<'t>,
    definition: &'t PropertyDefinition<'t>,
    types: &'t dyn DataTypes<'a>,
    what: &str,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    no_functions(value, what, &mut found);
    found.extend(check_argument(value, definition, types).diagnostics);
    found
}

/// Checks a value that a caller gives to a parameter. Callers do not replace fixed values of TOSCA
/// 2.0 (section 9.8), while 1.3 has operations whose `value` is what they get unless told otherwise.
pub(crate) fn check_argument<'t, 'a>(
    value: Node<'t>,
    definition: &'t PropertyDefinition<'t>,
    types: &'t dyn DataTypes<'a>,
) -> Findings<'t> {
    if definition.value.is_some_and(|fixed| v2_0::is_of(fixed.document())) {
        return check_assignment(value, definition, types);
    }
    definition.expected().map(|schema| check_value(value, schema, types)).unwrap_or_default()
}

fn no_functions(value: Node<'_>, what: &str, found: &mut Vec<Diagnostic>) {
    if let Some(name) = function_not_map(value) {
        let message = format!("{what} has to be a value, not the function `{name}`");
        found.push(Diagnostic::error(Code::InvalidInput, message).at(value.span()));
    } else {
        value.parts().for_each(|part| no_functions(part, what, found));
    }
}

/// Checks a value that is assigned to a property, attribute or parameter with this definition: as
/// [`check_value`], and also that a fixed value is not changed.
pub fn check_assignment<'t, 'a>(
    value: impl Into<Datum<'t>>,
    definition: &'t PropertyDefinition<'t>,
    types: &'t dyn DataTypes<'a>,
) -> Findings<'t> {
    let mut checker = ValueChecker::new(types);
    checker.assignment(value.into(), definition);
    checker.findings
}

/// As [`check_value`], with somebody who knows what validations ask for.
pub(crate) fn check_value_asking<'t, 'a>(
    value: impl Into<Datum<'t>>,
    schema: &'t Schema<'t>,
    types: &'t dyn DataTypes<'a>,
    ask: ValueQuery<'t>,
) -> Findings<'t> {
    let mut checker = ValueChecker { ask: Some(ask), ..ValueChecker::new(types) };
    checker.value(value.into(), schema);
    checker.findings
}

/// Checks the value that an owner has by the definition of a property, where its validations ask for
/// others of the owner, which `ask` knows. Findings are reported at `at`.
pub(crate) fn check_taken<'t, 'a>(
    definition: &'t PropertyDefinition<'t>,
    at: Span,
    types: &'t dyn DataTypes<'a>,
    ask: ValueQuery<'t>,
) -> Findings<'t> {
    let mut checker = ValueChecker { ask: Some(ask), ..ValueChecker::new(types) };
    checker.taken(definition, Some(at));
    checker.findings
}

/// As [`check_assignment`], with somebody who knows what validations ask for.
pub(crate) fn check_assignment_asking<'t, 'a>(
    value: impl Into<Datum<'t>>,
    definition: &'t PropertyDefinition<'t>,
    types: &'t dyn DataTypes<'a>,
    ask: ValueQuery<'t>,
) -> Findings<'t> {
    let mut checker = ValueChecker { ask: Some(ask), ..ValueChecker::new(types) };
    checker.assignment(value.into(), definition);
    checker.findings
}

/// Checks the values that are assigned to properties, which are a map or missing. Messages call
/// their owner `owner`, and report missing values at `at`. With `is_open`, the owner may have other
/// properties than these.
pub fn check_assignments<'t, 'a>(
    values: Option<Node<'t>>,
    definitions: &[&'t PropertyDefinition<'t>],
    owner: &str,
    at: Span,
    types: &'t dyn DataTypes<'a>,
    is_open: bool,
) -> Findings<'t> {
    let owner = PropertyOwner { what: owner, at: Some(at), section: "3.6.11", is_open };
    check_assignments_asking(values, definitions, owner, types, None)
}

/// As [`check_assignments`], with somebody who knows what validations ask for.
pub(crate) fn check_assignments_asking<'t, 'a>(
    values: Option<Node<'t>>,
    definitions: &[&'t PropertyDefinition<'t>],
    owner: PropertyOwner<'_>,
    types: &'t dyn DataTypes<'a>,
    ask: Option<ValueQuery<'t>>,
) -> Findings<'t> {
    let mut checker = ValueChecker { ask, ..ValueChecker::new(types) };
    checker.assignments(values.map(Datum::Node), definitions, owner);
    checker.findings
}

/// Checks rules between the values of several properties, in addition to their definitions.
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

/// Checks a property, attribute or parameter definition: its schema, and then its default and its
/// value against the schema.
pub fn check_definition<'t, 'a>(
    definition: &'t PropertyDefinition<'t>,
    types: &'t dyn DataTypes<'a>,
) -> Findings<'t> {
    let mut checker = ValueChecker::new(types);
    checker.definition(definition);
    checker.findings
}

/// Checks whether the constraints of a schema, and of the schemas inside it, suit their types.
pub fn check_schema<'t, 'a>(schema: &'t Schema<'t>, types: &'t dyn DataTypes<'a>) -> Findings<'t> {
    let mut checker = ValueChecker::new(types);
    checker.schema(schema);
    checker.findings
}

/// Checks whether a clause suits values of this schema: its operator has to apply to them, and its
/// operand has to be of the right type.
///
/// For a clause in a data type, the schema is that data type.
pub fn check_constraint_definition<'t, 'a>(
    clause: &'t Clause<'t>,
    schema: &'t Schema<'t>,
    types: &'t dyn DataTypes<'a>,
) -> Findings<'t> {
    let mut checker = ValueChecker::new(types);
    checker.clause_definition(clause, schema);
    checker.findings
}

/// Whether two values of a schema are equal. Returns false where this is not known.
pub fn same<'t, 'a>(
    a: impl Into<Datum<'t>>,
    b: impl Into<Datum<'t>>,
    schema: &'t Schema<'t>,
    types: &'t dyn DataTypes<'a>,
) -> bool {
    ValueChecker::new(types).same(a.into(), b.into(), Some(schema)) == Truth::Yes
}
