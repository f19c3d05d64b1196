//! Reads constraint clauses (section 3.6.3).

use super::Primitive;
use super::datum::Datum;
use super::literal::integer;
use super::schema::shape;
use crate::diagnostic::{Cite, Code, Diagnostic, did_you_mean};
use crate::tosca::v2_0;
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, NodeKind, Scalar, write_flow};
use regex_lite::Regex;
use rustc_hash::FxHashSet;
use std::cmp::Ordering;
use std::sync::OnceLock;

/// The condition of a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `equal`
    Equal,
    /// `greater_than`
    GreaterThan,
    /// `greater_or_equal`
    GreaterOrEqual,
    /// `less_than`
    LessThan,
    /// `less_or_equal`
    LessOrEqual,
    /// `in_range`
    InRange,
    /// `valid_values`
    ValidValues,
    /// `length`
    Length,
    /// `min_length`
    MinLength,
    /// `max_length`
    MaxLength,
    /// `pattern`
    Pattern,
    /// `schema`
    Schema,
}

impl Operator {
    /// All operators, in the order of section 3.6.3.1.
    pub const ALL: [Self; 12] = [
        Self::Equal,
        Self::GreaterThan,
        Self::GreaterOrEqual,
        Self::LessThan,
        Self::LessOrEqual,
        Self::InRange,
        Self::ValidValues,
        Self::Length,
        Self::MinLength,
        Self::MaxLength,
        Self::Pattern,
        Self::Schema,
    ];

    /// The operator with this keyname.
    pub fn from_keyname(keyname: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operator| operator.keyname() == keyname)
    }

    /// The keyname of the operator.
    pub fn keyname(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::GreaterThan => "greater_than",
            Self::GreaterOrEqual => "greater_or_equal",
            Self::LessThan => "less_than",
            Self::LessOrEqual => "less_or_equal",
            Self::InRange => "in_range",
            Self::ValidValues => "valid_values",
            Self::Length => "length",
            Self::MinLength => "min_length",
            Self::MaxLength => "max_length",
            Self::Pattern => "pattern",
            Self::Schema => "schema",
        }
    }

    /// Whether the operator applies to values of this type. `None` means a data type with
    /// properties.
    pub fn applies_to(self, base: Option<Primitive>) -> bool {
        match self {
            Self::Equal | Self::ValidValues => true,
            Self::InRange => {
                base.is_some_and(|base| base.is_comparable() || base == Primitive::Range)
            }
            Self::Length | Self::MinLength | Self::MaxLength => {
                matches!(base, Some(Primitive::String | Primitive::List | Primitive::Map))
            }
            Self::Pattern | Self::Schema => base == Some(Primitive::String),
            _ => base.is_some_and(Primitive::is_comparable),
        }
    }

    /// The values that the operator applies to, for messages.
    pub(super) fn domain(self) -> &'static str {
        match self {
            Self::Equal | Self::ValidValues => "any value",
            Self::InRange => "numbers, strings, timestamps, versions, scalar units and ranges",
            Self::Length | Self::MinLength | Self::MaxLength => "strings, lists and maps",
            Self::Pattern | Self::Schema => "strings",
            _ => "numbers, strings, timestamps, versions and scalar units",
        }
    }

    /// The test for the order of a value and the operand, or of the value's size and the operand.
    pub(super) fn test(self) -> fn(Ordering) -> bool {
        match self {
            Self::GreaterThan => Ordering::is_gt,
            Self::GreaterOrEqual | Self::MinLength => Ordering::is_ge,
            Self::LessThan => Ordering::is_lt,
            Self::LessOrEqual | Self::MaxLength => Ordering::is_le,
            _ => Ordering::is_eq,
        }
    }
}

/// A constraint clause as it is written. Whether it is valid depends on the type that it
/// constrains.
#[derive(Clone, Debug)]
pub struct Clause<'a> {
    /// The condition of the clause.
    pub operator: Operator,
    /// The operand that values are compared with.
    pub operand: Node<'a>,
    /// The place of the keyname.
    pub span: Span,
    /// The regular expression of `pattern`, which is compiled once and matches whole texts.
    pattern: Option<Result<Regex, String>>,
    /// What `valid_values` lists, found when it is asked for first.
    listed: OnceLock<ListedScalars>,
}

/// The texts and integers in a list, of which there may be thousands. Both are kept in the kind of
/// set that other code has as well, which keeps the module for npm small.
#[derive(Clone, Debug, Default)]
struct ListedScalars {
    texts: FxHashSet<String>,
    integers: FxHashSet<String>,
}

impl ListedScalars {
    fn of(list: Node<'_>) -> Self {
        let mut listed = Self::default();
        for scalar in list.items().filter_map(Node::scalar) {
            match scalar {
                Scalar::String(text) => _ = listed.texts.insert(text.to_owned()),
                Scalar::Int(number) => _ = listed.integers.insert(number.to_string()),
                _ => {}
            }
        }
        listed
    }
}

impl<'a> Clause<'a> {
    /// Makes a clause with this keyname and place.
    ///
    /// # Errors
    /// `invalid-constraint` where no operator has this keyname.
    pub fn new(keyname: &str, operand: Node<'a>, span: Span) -> Result<Self, Diagnostic> {
        let Some(operator) = Operator::from_keyname(keyname) else {
            let all = Operator::ALL.map(Operator::keyname);
            let help = did_you_mean(keyname, all)
                .unwrap_or_else(|| format!("there are `{}`", all.join("`, `")).into());
            let error = Diagnostic::error(
                Code::InvalidConstraint,
                format!("`{keyname}` is no operator of a constraint clause"),
            );
            return Err(error.at(span).section("3.6.3.1").help(help));
        };
        let text = operand.as_str().filter(|_| operator == Operator::Pattern);
        let pattern = text.map(|text| anchored(text).map_err(|error| error.to_string()));
        Ok(Self { operator, operand, span, pattern, listed: OnceLock::new() })
    }

    /// Reads a clause: a map with its operator as the only key, or a scalar, which is short for
    /// `equal` (section 3.6.3.3).
    ///
    /// # Errors
    /// As [`Clause::new`]; `invalid-template` for another shape.
    pub fn read(node: Node<'a>) -> Result<Self, Diagnostic> {
        let mut entries = node.entries();
        match (node.kind(), entries.next()) {
            (NodeKind::Scalar, _) => Self::new("equal", node, node.span()),
            (_, Some((key, operand))) if entries.len() == 0 => {
                Self::new(key.text().unwrap_or_default(), operand, key.span())
            }
            (NodeKind::Mapping, Some(_)) => Err(Diagnostic::error(
                Code::InvalidTemplate,
                "a constraint clause has to be one operator with its operand",
            )
            .at(node.span())
            .section("3.6.3.4")),
            _ => Err(shape(
                node,
                "a constraint clause has to be a map with one key, such as `min_length: 1`",
                "3.6.3.4",
            )),
        }
    }

    /// The regular expression of a `pattern`, or the reason why it is invalid.
    pub(crate) fn pattern(&self) -> Option<Result<&Regex, &str>> {
        self.pattern.as_ref().map(|pattern| pattern.as_ref().map_err(String::as_str))
    }

    /// Whether `valid_values` lists a value of this type. Only texts and integers are looked up;
    /// others may be listed even if this is false.
    pub(super) fn lists(&self, datum: Datum<'_>, primitive: Primitive) -> bool {
        let listed = || self.listed.get_or_init(|| ListedScalars::of(self.operand));
        match (primitive, datum.scalar()) {
            (Primitive::String, Some(Scalar::String(text))) => listed().texts.contains(text),
            (Primitive::Integer, Some(Scalar::Int(number))) => {
                listed().integers.contains(&number.to_string())
            }
            _ => false,
        }
    }

    /// The clause on one line, such as `in_range: [1, 4]`, or `$in_range: [1, 4]` in TOSCA 2.0.
    pub(crate) fn text(&self) -> String {
        let sigil = if v2_0::is_of(self.operand.document()) { "$" } else { "" };
        let operand = self.operand.to_value();
        // Of several values, each has to be told from its neighbours.
        let operand = match operand.as_str() {
            Some(text) if !text.contains(['\n', '\r']) => text.to_owned(),
            _ => write_flow(&operand),
        };
        format!("{sigil}{}: {operand}", self.operator.keyname())
    }

    /// The clause as a map from its keyname to its operand.
    pub(crate) fn to_value(&self) -> Value {
        Value::Map([(self.operator.keyname().into(), self.operand.to_value())].into())
    }

    /// The values that the clause allows, if it lists them.
    pub(crate) fn values(&self) -> Option<Vec<Value>> {
        match self.operator {
            Operator::Equal => Some(vec![v2_0::data(self.operand)]),
            Operator::ValidValues => Some(self.operand.items().map(v2_0::data).collect()),
            _ => None,
        }
    }

    /// The values at which the truth of the clause may change, for ordered values.
    pub(crate) fn bounds(&self) -> Vec<Value> {
        match self.operator {
            Operator::InRange => {
                let known = |bound: &Node<'_>| !Datum::Node(*bound).is_unbounded();
                self.operand.items().filter(known).map(Node::to_value).collect()
            }
            Operator::GreaterThan
            | Operator::GreaterOrEqual
            | Operator::LessThan
            | Operator::LessOrEqual => vec![self.operand.to_value()],
            _ => Vec::new(),
        }
    }

    /// The size that the clause requires or limits.
    pub(crate) fn size(&self) -> Option<usize> {
        match self.operator {
            Operator::Length | Operator::MinLength | Operator::MaxLength => {
                usize::try_from(integer(self.operand.into())?).ok()
            }
            _ => None,
        }
    }
}

/// Makes the regular expression match whole texts only.
fn anchored(text: &str) -> Result<Regex, regex_lite::Error> {
    // The text is compiled alone first, so that an unbalanced parenthesis in it is not closed by
    // the added one.
    Regex::new(text).and_then(|_| Regex::new(&format!(r"\A(?:{text})\z")))
}
