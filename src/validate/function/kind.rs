//! Describes types of values, and decides whether a value of one type fits where another is
//! expected.

use super::super::checker::Checker;
use crate::diagnostic::{Code, Diagnostic};
use crate::tosca::types::schemas::units_of;
use crate::tosca::value::{Primitive, Schema, UnitSize, function};
use crate::tosca::{Family, PropertyDefinition, TypeRef, v2_0};
use cuvee_text::yaml::{Node, Scalar};

/// The type of a value, as its definition declares it.
#[derive(Clone, Debug)]
pub(in crate::validate) struct ValueType {
    kind: TypeRef,
    /// Whether the definition has constraints beyond those of the type.
    constrained: bool,
    /// The type of the entries, if the definition declares it.
    entry: Option<Box<Self>>,
}

/// The knowledge about a value before it is computed.
#[derive(Clone, Debug)]
pub(super) enum KnownValue {
    /// The declared type of the value.
    Typed(ValueType),
    /// The value is a text that a function composes. It may read as a number or as any other type
    /// that is written as text.
    Text,
    /// Nothing is known before run time.
    RunTime,
    /// Nothing is known, for reasons that are reported elsewhere.
    Unknown,
}

/// Whether a value fits at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    Yes,
    /// The type fits, but there are constraints to satisfy.
    Constraints,
    /// It depends on the value.
    Undecided,
    No,
}

/// The greatest depth to which types that contain themselves are compared.
const DEPTH: usize = 16;

impl ValueType {
    /// A type of TOSCA itself.
    pub(super) fn of(primitive: Primitive) -> Self {
        Self { kind: TypeRef::Primitive(primitive.name()), constrained: false, entry: None }
    }

    /// The type of a list of values of a type.
    pub(super) fn list_of(entry: Self) -> Self {
        Self { entry: Some(Box::new(entry)), ..Self::of(Primitive::List) }
    }
}

impl<'c> Checker<'c, '_> {
    /// The type that a schema declares; `None` if it is not defined.
    pub(in crate::validate) fn declared_type(&self, schema: &Schema<'_>) -> Option<ValueType> {
        let entry = schema.entry_schema.as_deref().and_then(|entry| self.declared_type(entry));
        // A name in a file of TOSCA 2.0 has its meaning there.
        let named = schema.kind.map(|kind| kind.document()).filter(|it| v2_0::is_of(it));
        let file = named.map(|document| document.file());
        let kind = self.types.resolve(file, Family::Data, schema.type_name)?;
        Some(ValueType {
            kind,
            constrained: !schema.constraints.is_empty(),
            entry: entry.map(Box::new),
        })
    }

    /// The type of a part of a property.
    pub(super) fn part_of(
        &self,
        definition: &PropertyDefinition<'_>,
        path: &[Node<'_>],
    ) -> Result<KnownValue, Diagnostic> {
        self.part(self.declared_type(&definition.schema), path)
    }

    /// The type of a part of a value. The path consists of names of entries and properties, and
    /// indices of items.
    pub(super) fn part(
        &self,
        whole: Option<ValueType>,
        path: &[Node<'_>],
    ) -> Result<KnownValue, Diagnostic> {
        let mut current = whole;
        for step in path {
            let Some(kind) = current else { return Ok(KnownValue::Unknown) };
            current = self.step(&kind, *step)?;
        }
        Ok(current.map_or(KnownValue::Unknown, KnownValue::Typed))
    }

    /// Whether a path in a value fails only because of a property that a derived type has. A value
    /// may be of that type.
    pub(super) fn derived_have(&self, whole: Option<&ValueType>, path: &[Node<'_>]) -> bool {
        let mut ways = (0..path.len()).rev().map(|length| path.split_at(length));
        let last = ways.find_map(|(way, rest)| {
            Some((self.part(whole.cloned(), way).ok()?, rest.first()?.text()?))
        });
        let Some((KnownValue::Typed(kind), name)) = last else { return false };
        self.types.ids().any(|id| {
            self.types.derives(TypeRef::Defined(id), kind.kind)
                && self.types.effective(id).properties.contains_key(name)
        })
    }

    fn step(&self, kind: &ValueType, step: Node<'_>) -> Result<Option<ValueType>, Diagnostic> {
        // The keyword `INDEX`, the position of a node among several of one template, is also an
        // index (section 2.20.2).
        let index = matches!(step.scalar(), Some(Scalar::Int(0..)))
            || step.text() == Some("INDEX")
            || function(step).is_some();
        let name = step.text().unwrap_or_default();
        let wrong = |code, message: String| Err(Diagnostic::error(code, message).at(step.span()));
        match (self.base(kind), kind.kind) {
            (Some(Primitive::List), _) if index => Ok(self.entry(kind)),
            (Some(Primitive::List), _) => wrong(
                Code::InvalidFunction,
                format!("the items of a list have an index from 0 up, not `{name}`"),
            ),
            (Some(Primitive::Map), _) => Ok(self.entry(kind)),
            (Some(Primitive::Range), _) if index => Ok(None),
            (None, TypeRef::Defined(id)) => match self.types.effective(id).properties.get(name) {
                Some(part) => Ok(self.declared_type(&part.definition.schema)),
                None if self.is_open(id) => Ok(None),
                None => wrong(
                    Code::UnknownProperty,
                    format!("{} has no property `{name}`", self.described(kind)),
                ),
            },
            _ => wrong(
                Code::InvalidFunction,
                format!("{} has no part `{name}`", self.described(kind)),
            ),
        }
    }

    pub(super) fn base(&self, kind: &ValueType) -> Option<Primitive> {
        self.types.primitive(kind.kind).and_then(Primitive::of_any_version)
    }

    /// The units of a scalar type of TOSCA 2.0; none of other types.
    pub(super) fn units(&self, kind: &ValueType) -> Vec<UnitSize> {
        match kind.kind {
            TypeRef::Defined(id) if self.base(kind) == Some(Primitive::Scalar) => {
                units_of(self.types, id)
            }
            _ => Vec::new(),
        }
    }

    /// Whether nothing is known of the values of a type that is not one of TOSCA itself.
    pub(super) fn may_be_anything(&self, kind: &ValueType) -> bool {
        match kind.kind {
            TypeRef::Defined(id) => self.is_open(id),
            TypeRef::Primitive(_) => true,
        }
    }

    /// The type of the entries of a list or a map, if it is declared.
    pub(super) fn entry(&self, kind: &ValueType) -> Option<ValueType> {
        let inherited = || match kind.kind {
            TypeRef::Defined(id) => {
                self.declared_type(self.types.effective(id).schema.entry_schema.as_deref()?)
            }
            TypeRef::Primitive(_) => None,
        };
        kind.entry.as_deref().cloned().or_else(inherited)
    }

    /// The name of a type for messages.
    pub(super) fn described(&self, kind: &ValueType) -> String {
        let name = match kind.kind {
            TypeRef::Primitive(name) => name.into(),
            TypeRef::Defined(id) => self.called(id),
        };
        match &kind.entry {
            Some(entry) => format!("`{name}` of {}", self.described(entry)),
            None => format!("`{name}`"),
        }
    }

    /// Whether values of a type can be parts of a string.
    pub(super) fn is_scalar(&self, kind: &ValueType) -> bool {
        !matches!(self.base(kind), None | Some(Primitive::List | Primitive::Map | Primitive::Range))
    }

    /// Whether values of a type are lists.
    pub(super) fn is_list(&self, kind: &ValueType) -> bool {
        matches!(self.base(kind), Some(Primitive::List | Primitive::Range))
    }

    /// Whether the result of a function fits the expected type.
    pub(super) fn fit(&self, outcome: &KnownValue, expected: &ValueType) -> Fit {
        match outcome {
            KnownValue::Unknown => Fit::Yes,
            KnownValue::RunTime => Fit::Undecided,
            KnownValue::Typed(kind) => self.fits(kind, expected, DEPTH),
            KnownValue::Text if self.base(expected) == Some(Primitive::String) => {
                self.constraints(expected)
            }
            KnownValue::Text if self.is_scalar(expected) => Fit::Undecided,
            KnownValue::Text => Fit::No,
        }
    }

    fn fits(&self, kind: &ValueType, expected: &ValueType, depth: usize) -> Fit {
        if depth == 0 {
            return Fit::Undecided;
        }
        if self.types.may_derive(kind.kind, expected.kind) {
            let entries = match (self.entry(kind), self.entry(expected)) {
                (Some(_), Some(_)) if kind.entry.is_none() && expected.entry.is_none() => Fit::Yes,
                (Some(kind), Some(expected)) => self.fits(&kind, &expected, depth - 1),
                (None, Some(_)) => Fit::Undecided,
                (_, None) => Fit::Yes,
            };
            return if expected.constrained { entries.at_least(Fit::Constraints) } else { entries };
        }
        match (self.base(kind), self.base(expected)) {
            (Some(Primitive::Scalar), Some(Primitive::Scalar))
                if self.share_no_unit(kind, expected) =>
            {
                Fit::No
            }
            (Some(one), Some(other)) if one == other => {
                match (self.entry(kind), self.entry(expected)) {
                    (Some(kind), Some(expected)) => {
                        self.fits(&kind, &expected, depth - 1).at_least(Fit::Constraints)
                    }
                    (None, Some(_)) => Fit::Undecided,
                    (_, None) => self.constraints(expected),
                }
            }
            (Some(Primitive::Integer), Some(Primitive::Float)) => self.constraints(expected),
            // Values of these types are written as text, as a map, or as a list.
            (
                Some(Primitive::String),
                Some(
                    Primitive::Timestamp
                    | Primitive::Version
                    | Primitive::ScalarUnit(_)
                    | Primitive::Bytes
                    | Primitive::Scalar,
                ),
            )
            | (Some(Primitive::Map), None)
            | (Some(Primitive::List), Some(Primitive::Range)) => Fit::Undecided,
            (None, Some(Primitive::Map)) => self.constraints(expected),
            (None, None) if self.types.may_derive(expected.kind, kind.kind) => Fit::Undecided,
            _ => Fit::No,
        }
    }

    /// Whether no amount of one scalar type is one of the other: each has units of its own.
    fn share_no_unit(&self, one: &ValueType, other: &ValueType) -> bool {
        let [one, other] = [one, other].map(|kind| self.units(kind));
        let are_known = !one.is_empty() && !other.is_empty();
        are_known && !one.iter().any(|(unit, _)| other.iter().any(|(it, _)| it == unit))
    }

    fn constraints(&self, expected: &ValueType) -> Fit {
        let of_type = match expected.kind {
            TypeRef::Defined(id) => !self.types.effective(id).schema.constraints.is_empty(),
            TypeRef::Primitive(_) => false,
        };
        if expected.constrained || of_type { Fit::Constraints } else { Fit::Yes }
    }
}

impl Fit {
    /// The worse of two fits.
    fn at_least(self, other: Self) -> Self {
        if self as u8 >= other as u8 { self } else { other }
    }
}
