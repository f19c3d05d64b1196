//! Whether values are equal and fulfil clauses, where that can be told.

use super::check::{Checker, Kind};
use super::function::function_not_map;
use super::primitive::{Literal, is_unbounded};
use super::{Clause, Operator, Primitive, Reason, Schema, function};
use crate::text::yaml::{Node, NodeKind};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// What can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth<'t> {
    Yes,
    No,
    Unknown(Reason<'t>),
}

impl From<bool> for Truth<'_> {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

impl<'t> Truth<'t> {
    /// Whether all hold: one that does not decides.
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

    /// Whether any holds: one that does decides.
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

impl<'t> Checker<'t, '_> {
    /// Whether a value of the type fulfils a clause.
    pub(super) fn fulfils(
        &self,
        node: Node<'t>,
        clause: &'t Clause<'t>,
        kind: &Kind<'t>,
    ) -> Truth<'t> {
        let (operator, operand) = (clause.operator, clause.operand);
        if !operator.applies_to(kind.base) {
            return Truth::Unknown(Reason::Definition);
        }
        match operator {
            Operator::Equal => self.same(node, operand, Some(kind.schema)),
            Operator::ValidValues if operand.kind() == NodeKind::Sequence => {
                Truth::any(operand.items().map(|valid| self.same(node, valid, Some(kind.schema))))
            }
            Operator::InRange => in_range(node, operand, kind.base),
            Operator::Length | Operator::MinLength | Operator::MaxLength => {
                sized(node, operand, operator.test())
            }
            Operator::Pattern => match (node.as_str(), clause.pattern()) {
                (Some(text), Some(Ok(pattern))) => pattern.is_match(text).into(),
                (_, Some(Err(error))) if is_unsupported(error) => Truth::Unknown(Reason::Pattern),
                _ => Truth::Unknown(function(operand).map_or(Reason::Definition, Reason::Function)),
            },
            Operator::Schema => Truth::Unknown(Reason::ExternalSchema),
            _ => kind.base.map_or(Truth::Unknown(Reason::Definition), |base| {
                ordered(node, operand, base, operator.test())
            }),
        }
    }

    /// Whether two values of one schema are equal: as their type has it, so `1 GB` is `1000 MB`.
    pub(super) fn same(
        &self,
        a: Node<'t>,
        b: Node<'t>,
        schema: Option<&'t Schema<'t>>,
    ) -> Truth<'t> {
        let kind = schema.map(|schema| self.kind(schema));
        let call = |node| kind.map_or_else(|| function_not_map(node), |kind| kind.function(node));
        if let Some(name) = call(a).or_else(|| call(b)) {
            return Truth::Unknown(Reason::Function(name));
        }
        match (kind.and_then(|kind| kind.base), a.kind(), b.kind()) {
            (_, NodeKind::Sequence, NodeKind::Sequence) => {
                self.same_items(a, b, kind.and_then(|kind| kind.entry_schema()))
            }
            (_, NodeKind::Mapping, NodeKind::Mapping) => self.same_entries(a, b, kind.as_ref()),
            (Some(base), NodeKind::Scalar, NodeKind::Scalar) => {
                match (Literal::read(a, base), Literal::read(b, base)) {
                    (Some(a), Some(b)) => (a.compare(&b) == Some(Ordering::Equal)).into(),
                    (Some(_), None) => Truth::Unknown(Reason::Definition),
                    _ => Truth::No,
                }
            }
            (_, NodeKind::Scalar, NodeKind::Scalar) => (a.to_value() == b.to_value()).into(),
            _ => Truth::No,
        }
    }

    fn same_items(&self, a: Node<'t>, b: Node<'t>, schema: Option<&'t Schema<'t>>) -> Truth<'t> {
        if a.items().len() != b.items().len() {
            return Truth::No;
        }
        Truth::all(a.items().zip(b.items()).map(|(a, b)| self.same(a, b, schema)))
    }

    /// Maps are equal when they have the same entries in any order; a property that is left out has
    /// its default.
    fn same_entries(&self, a: Node<'t>, b: Node<'t>, kind: Option<&Kind<'t>>) -> Truth<'t> {
        let [of_a, of_b] = [a, b].map(|node| {
            let entries = node.entries().filter_map(|(key, value)| Some((key.text()?, value)));
            entries.collect::<FxHashMap<_, _>>()
        });
        let keys = [(a, None), (b, Some(&of_a))].into_iter().flat_map(|(node, seen)| {
            let keys = node.entries().filter_map(|(key, _)| key.text());
            // What both have is compared once, or the cost would double with every level.
            keys.filter(move |key| seen.is_none_or(|seen| !seen.contains_key(key)))
        });
        Truth::all(keys.map(|key| {
            let property = kind.and_then(|kind| kind.property(key));
            let or_default =
                |of: &FxHashMap<&str, Node<'t>>| of.get(key).copied().or_else(|| property?.default);
            let schema = match property {
                Some(property) => property.schema.as_ref(),
                None => kind.and_then(|kind| kind.entry_schema()),
            };
            match (or_default(&of_a), or_default(&of_b)) {
                (Some(a), Some(b)) => self.same(a, b, schema),
                _ => Truth::No,
            }
        }))
    }
}

/// Whether an error says that a regular expression may well be one, though not here.
pub(super) fn is_unsupported(error: &str) -> bool {
    error.contains("not supported")
}

/// Whether the order of a value and a bound is as it must be.
fn ordered<'t>(
    node: Node<'t>,
    bound: Node<'t>,
    base: Primitive,
    test: fn(Ordering) -> bool,
) -> Truth<'t> {
    if let Some(name) = function(bound) {
        return Truth::Unknown(Reason::Function(name));
    }
    let (Some(value), Some(bound)) = (Literal::read(node, base), Literal::read(bound, base)) else {
        return Truth::Unknown(Reason::Definition);
    };
    match value.compare(&bound) {
        Some(order) => test(order).into(),
        None if base == Primitive::Version => Truth::Unknown(Reason::VersionBranches),
        // What is not a number is neither above nor below anything.
        None => Truth::No,
    }
}

/// Whether a value is between two bounds, or at one of them; a range is when both its ends are.
fn in_range<'t>(node: Node<'t>, bounds: Node<'t>, base: Option<Primitive>) -> Truth<'t> {
    let mut ends = bounds.items();
    let (Some(low), Some(high), None, Some(base)) = (ends.next(), ends.next(), ends.next(), base)
    else {
        return Truth::Unknown(function(bounds).map_or(Reason::Definition, Reason::Function));
    };
    let above = |value, base| ordered(value, low, base, Ordering::is_ge);
    let below = |value, base| {
        if is_unbounded(high) { Truth::Yes } else { ordered(value, high, base, Ordering::is_le) }
    };
    if base != Primitive::Range {
        return Truth::all([above(node, base), below(node, base)]);
    }
    let mut parts = node.items();
    let (Some(first), Some(last)) = (parts.next(), parts.next()) else {
        return Truth::Unknown(Reason::Definition);
    };
    let within = if is_unbounded(last) {
        is_unbounded(high).into()
    } else {
        below(last, Primitive::Integer)
    };
    Truth::all([above(first, Primitive::Integer), within])
}

/// Whether a text has so many characters, a list so many items, or a map so many entries.
fn sized<'t>(node: Node<'t>, length: Node<'t>, test: fn(Ordering) -> bool) -> Truth<'t> {
    if let Some(name) = function(length) {
        return Truth::Unknown(Reason::Function(name));
    }
    let size = match node.kind() {
        NodeKind::Scalar => node.text().unwrap_or_default().chars().count(),
        NodeKind::Sequence => node.items().len(),
        NodeKind::Mapping => node.entries().len(),
    };
    match (i128::try_from(size), Literal::read(length, Primitive::Integer)) {
        (Ok(size), Some(Literal::Integer(length))) => test(size.cmp(&length)).into(),
        _ => Truth::Unknown(Reason::Definition),
    }
}
