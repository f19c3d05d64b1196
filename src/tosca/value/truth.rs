//! Decides whether values are equal and whether they fulfil clauses, as far as that is known.

use super::check::{TypedSchema, ValueChecker};
use super::datum::Datum;
use super::literal::{Literal, integer};
use super::validation::amount;
use super::version::is_version;
use super::{Clause, Operator, Primitive, Schema, UndecidedReason, function, function_not_map};
use cuvee_text::yaml::NodeKind;
use num_bigint::BigInt;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cmp::Ordering;

/// The answer to a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth<'t> {
    Yes,
    No,
    Unknown(UndecidedReason<'t>),
}

impl From<bool> for Truth<'_> {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

impl<'t> Truth<'t> {
    /// Whether all parts hold. A single part that does not hold decides.
    fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::Yes;
        for part in parts {
            match part {
                Self::No => return Self::No,
                Self::Yes => {}
                unknown @ Self::Unknown(_) => all = unknown,
            }
        }
        all
    }

    /// Whether any part holds. A single part that holds decides.
    fn any(parts: impl IntoIterator<Item = Self>) -> Self {
        !Self::all(parts.into_iter().map(|part| !part))
    }
}

impl std::ops::Not for Truth<'_> {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
            unknown @ Self::Unknown(_) => unknown,
        }
    }
}

impl<'t> ValueChecker<'t, '_> {
    /// Whether a value of the type fulfils a clause.
    pub(super) fn fulfils(
        &self,
        datum: Datum<'t>,
        clause: &'t Clause<'t>,
        kind: &TypedSchema<'t>,
    ) -> Truth<'t> {
        let (operator, operand) = (clause.operator, Datum::from(clause.operand));
        let base = if kind.schema.is_typed() { kind.base } else { Some(Primitive::of(datum)) };
        if !operator.applies_to(base) {
            return kind.unless_typed(UndecidedReason::Definition);
        }
        match operator {
            Operator::Equal => self.same(datum, operand, Some(kind.schema)),
            Operator::ValidValues if base.is_some_and(|base| clause.lists(datum, base)) => {
                Truth::Yes
            }
            Operator::ValidValues if operand.kind() == NodeKind::Sequence => {
                Truth::any(operand.items().map(|valid| self.same(datum, valid, Some(kind.schema))))
            }
            Operator::InRange => in_range(datum, operand, base, kind),
            Operator::Length | Operator::MinLength | Operator::MaxLength => {
                sized(datum, operand, operator.test())
            }
            Operator::Pattern => match (datum.as_str(), clause.pattern()) {
                (Some(text), Some(Ok(pattern))) => pattern.is_match(text).into(),
                (_, Some(Err(error))) if is_unsupported(error) => {
                    Truth::Unknown(UndecidedReason::Pattern(error))
                }
                _ => Truth::Unknown(
                    call(operand).map_or(UndecidedReason::Definition, UndecidedReason::Function),
                ),
            },
            Operator::Schema => Truth::Unknown(UndecidedReason::ExternalSchema),
            _ => base.map_or(Truth::Unknown(UndecidedReason::Definition), |base| {
                ordered(datum, operand, base, kind, operator.test())
            }),
        }
    }

    /// Whether two values of one schema are equal by their type. For example, `1 GB` equals `1000
    /// MB`.
    pub(super) fn same(
        &self,
        a: Datum<'t>,
        b: Datum<'t>,
        schema: Option<&'t Schema<'t>>,
    ) -> Truth<'t> {
        let kind = schema.map(|schema| self.kind(schema));
        let call = |datum: Datum<'t>| match &kind {
            Some(kind) => kind.function(datum),
            None => datum.node().and_then(function_not_map),
        };
        if let Some(name) = call(a).or_else(|| call(b)) {
            return Truth::Unknown(UndecidedReason::Function(name));
        }
        match (kind.as_ref().and_then(|kind| kind.base), a.kind(), b.kind()) {
            (_, NodeKind::Sequence, NodeKind::Sequence) => {
                self.same_items(a, b, kind.and_then(|kind| kind.entry_schema()))
            }
            (_, NodeKind::Mapping, NodeKind::Mapping) => self.same_entries(a, b, kind.as_ref()),
            (Some(base), NodeKind::Scalar, NodeKind::Scalar) => {
                let read = |datum| {
                    let typed = kind.as_ref().and_then(|kind| kind.literal(datum, base));
                    typed.or_else(|| Literal::read(datum, base))
                };
                match (read(a), read(b)) {
                    (Some(a), Some(b)) => (a.compare(&b) == Some(Ordering::Equal)).into(),
                    (Some(_), None) => Truth::Unknown(UndecidedReason::Definition),
                    _ => Truth::No,
                }
            }
            (_, NodeKind::Scalar, NodeKind::Scalar) => {
                let [own, other] = [a, b].map(|datum| Literal::read(datum, Primitive::of(datum)));
                let order = own.zip(other).and_then(|(own, other)| own.compare(&other));
                (order == Some(Ordering::Equal)).into()
            }
            _ => Truth::No,
        }
    }

    fn same_items(&self, a: Datum<'t>, b: Datum<'t>, schema: Option<&'t Schema<'t>>) -> Truth<'t> {
        if a.size() != b.size() {
            return Truth::No;
        }
        Truth::all(a.items().zip(b.items()).map(|(a, b)| self.same(a, b, schema)))
    }

    /// Whether two maps are equal: they have the same entries in any order. A missing property has
    /// its default.
    fn same_entries(
        &self,
        a: Datum<'t>,
        b: Datum<'t>,
        kind: Option<&TypedSchema<'t>>,
    ) -> Truth<'t> {
        let [of_a, of_b] = [a, b].map(|node| {
            let entries = node.entries().map(|(key, value)| (key.key_text(), value));
            entries.collect::<FxHashMap<_, _>>()
        });
        let keys = [(a, None), (b, Some(&of_a))].into_iter().flat_map(|(node, seen)| {
            let keys = node.entries().map(|(key, _)| key.key_text());
            // Keys of both maps are compared once. Otherwise the cost would double with every
            // level.
            keys.filter(move |key| seen.is_none_or(|seen| !seen.contains_key(key)))
        });
        Truth::all(keys.map(|key| {
            let property = kind.and_then(|kind| kind.property(&key));
            let or_default = |of: &FxHashMap<Cow<'_, str>, Datum<'t>>| {
                of.get(&key).copied().or_else(|| property?.default.map(Datum::Node))
            };
            let schema = match property {
                Some(property) => property.expected(),
                None => kind.and_then(|kind| kind.entry_schema()),
            };
            match (or_default(&of_a), or_default(&of_b)) {
                (Some(a), Some(b)) => self.same(a, b, schema),
                _ => Truth::No,
            }
        }))
    }
}

/// Whether an error says that a regular expression may be valid but is not supported.
pub(crate) fn is_unsupported(error: &str) -> bool {
    error.contains("not supported") || is_too_large(error)
}

/// Whether a regular expression is not compiled because it would become too large.
pub(super) fn is_too_large(error: &str) -> bool {
    error.contains("exceeded")
}

/// The function call that a datum is, by the name of the function.
fn call(datum: Datum<'_>) -> Option<&str> {
    datum.node().and_then(function)
}

impl<'t> TypedSchema<'t> {
    /// A datum as a value of a primitive type. A scalar of TOSCA 2.0 is an amount of the base unit of
    /// this type.
    fn literal(&self, datum: Datum<'t>, base: Primitive) -> Option<Literal<'t>> {
        match base {
            Primitive::Scalar => {
                amount(datum.as_str()?, self.data_type?.units).map(Literal::Measure)
            }
            _ => Literal::read(datum, base),
        }
    }

    /// The answer for a clause that does not suit the type of the value. With a declared type, the
    /// definition of the clause reports that. Without one, the value does not fulfil the clause.
    fn unless_typed(&self, reason: UndecidedReason<'t>) -> Truth<'t> {
        if self.schema.is_typed() { Truth::Unknown(reason) } else { Truth::No }
    }
}

/// Whether the order of a value and a bound passes a test. If no type is declared, texts that are
/// versions are compared as versions, as in expressions.
fn ordered<'t>(
    datum: Datum<'t>,
    bound: Datum<'t>,
    base: Primitive,
    kind: &TypedSchema<'t>,
    test: fn(Ordering) -> bool,
) -> Truth<'t> {
    if let Some(name) = call(bound) {
        return Truth::Unknown(UndecidedReason::Function(name));
    }
    let versions = |datum: Datum<'_>| datum.as_str().is_some_and(is_version);
    let versions = !kind.schema.is_typed() && versions(datum) && versions(bound);
    let base = if versions { Primitive::Version } else { base };
    let read = |datum| kind.literal(datum, base);
    let (Some(value), Some(bound)) = (read(datum), read(bound)) else {
        return kind.unless_typed(UndecidedReason::Definition);
    };
    match value.compare(&bound) {
        Some(order) => test(order).into(),
        None if base == Primitive::Version => Truth::Unknown(UndecidedReason::VersionBranches),
        // A NaN is neither above nor below anything.
        None => Truth::No,
    }
}

/// Whether a value is within two bounds. A range is if both of its ends are.
fn in_range<'t>(
    datum: Datum<'t>,
    bounds: Datum<'t>,
    base: Option<Primitive>,
    kind: &TypedSchema<'t>,
) -> Truth<'t> {
    let mut ends = bounds.items();
    let (Some(low), Some(high), None, Some(base)) = (ends.next(), ends.next(), ends.next(), base)
    else {
        return Truth::Unknown(
            call(bounds).map_or(UndecidedReason::Definition, UndecidedReason::Function),
        );
    };
    let above = |value, base| ordered(value, low, base, kind, Ordering::is_ge);
    let below = |value, base| {
        if high.is_unbounded() {
            Truth::Yes
        } else {
            ordered(value, high, base, kind, Ordering::is_le)
        }
    };
    if base != Primitive::Range {
        return Truth::all([above(datum, base), below(datum, base)]);
    }
    let mut parts = datum.items();
    let (Some(first), Some(last)) = (parts.next(), parts.next()) else {
        return Truth::Unknown(UndecidedReason::Definition);
    };
    let within = if last.is_unbounded() {
        high.is_unbounded().into()
    } else {
        below(last, Primitive::Integer)
    };
    Truth::all([above(first, Primitive::Integer), within])
}

/// Whether the number of a text's characters, or of a list's or map's entries, passes a test.
fn sized<'t>(datum: Datum<'t>, length: Datum<'t>, test: fn(Ordering) -> bool) -> Truth<'t> {
    if let Some(name) = call(length) {
        return Truth::Unknown(UndecidedReason::Function(name));
    }
    match integer(length) {
        Some(length) => test(BigInt::from(datum.size()).cmp(&length)).into(),
        None => Truth::Unknown(UndecidedReason::Definition),
    }
}
