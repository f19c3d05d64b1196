//! XML Schema 1.0, as far as values of properties need it: elements, types of elements, and types
//! of texts.
//!
//! What goes beyond (groups, substitution groups, `any`, mixed content, unions, lists, `redefine`)
//! makes the type that uses it opaque: a note says so, and nothing is said of values of it.

mod built_in;
mod check;
mod facet;
mod read;
mod shape;

use crate::text::source::Span;
pub(crate) use built_in::BuiltInType;
pub(crate) use check::SchemaPath;
use facet::Facet;
pub(crate) use read::{KeyedElement, SchemaKey, SchemaRoot};
use rustc_hash::{FxHashMap, FxHashSet};
pub(crate) use shape::{TextRule, ValuePart, ValueShape};
use std::borrow::Cow;

/// The namespace of XML Schema.
pub(crate) const XML_SCHEMA: &str = "http://www.w3.org/2001/XMLSchema";

/// A namespace and a name in it.
pub(crate) type SchemaName<'d> = (Cow<'d, str>, Cow<'d, str>);

/// What schemas declare that belong together.
#[derive(Default)]
pub(crate) struct SchemaSet<'d> {
    elements: FxHashMap<SchemaName<'d>, SchemaElementId>,
    types: FxHashMap<SchemaName<'d>, SchemaTypeId>,
    declared: Vec<DeclaredElement<'d>>,
    defined: Vec<SchemaType<'d>>,
    /// Of which a schema was read.
    namespaces: FxHashSet<Cow<'d, str>>,
    /// Which schemas import, be they read or not.
    imported: FxHashSet<Cow<'d, str>>,
}

/// An element that a schema declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SchemaElementId(u32);

/// A type that a schema defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SchemaTypeId(u32);

/// What values are of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SchemaValueType {
    BuiltIn(&'static BuiltInType),
    Defined(SchemaTypeId),
    /// Nothing that is known here, so that nothing can be said of it.
    Unknown,
}

/// An element and what stands in it.
pub(crate) struct DeclaredElement<'d> {
    pub namespace: Cow<'d, str>,
    pub name: Cow<'d, str>,
    pub of: SchemaValueType,
    pub span: Span,
}

struct SchemaType<'d> {
    /// Empty where it stands in what it is the type of.
    name: Cow<'d, str>,
    span: Span,
    /// What it extends or restricts.
    base: Option<SchemaValueType>,
    content: SchemaContent<'d>,
}

enum SchemaContent<'d> {
    /// Of which nothing can be said.
    Opaque,
    /// Texts of the base for which these hold.
    Simple(Vec<Facet<'d>>),
    Complex(ComplexContent<'d>),
}

#[derive(Default)]
struct ComplexContent<'d> {
    /// Whether what the base has stands before it.
    extends: bool,
    attributes: Vec<DeclaredAttribute<'d>>,
    particle: Option<Particle>,
}

struct DeclaredAttribute<'d> {
    name: Cow<'d, str>,
    of: SchemaValueType,
    is_required: bool,
}

/// What may stand somewhere, and how often at most. That it has to be there counts for nothing where
/// values are judged, since they may be given later (TOSCA 1.0, section 5.2).
#[derive(Clone, Debug)]
struct Particle {
    is_required: bool,
    most: Option<u64>,
    term: ParticleTerm,
}

#[derive(Clone, Debug)]
enum ParticleTerm {
    Element(SchemaElementId),
    /// One after the other.
    Sequence(Vec<Particle>),
    /// In any order.
    All(Vec<Particle>),
    Choice(Vec<Particle>),
}

/// What a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoundInSchema<T> {
    Known(T),
    /// Something of a namespace that is imported, and of which nothing was read.
    Elsewhere,
    /// Nothing, though its namespace is known, or nobody imports it.
    Nothing,
}

impl<'d> SchemaSet<'d> {
    /// The element of a name.
    pub(crate) fn element(&self, namespace: &str, name: &str) -> FoundInSchema<SchemaElementId> {
        self.found(self.elements.get(&(Cow::Borrowed(namespace), Cow::Borrowed(name))), namespace)
    }

    /// The type of a name, built in or not.
    pub(crate) fn value_type(&self, namespace: &str, name: &str) -> FoundInSchema<SchemaValueType> {
        if namespace == XML_SCHEMA {
            let known = BuiltInType::named(name).map(SchemaValueType::BuiltIn);
            return known.map_or(FoundInSchema::Nothing, FoundInSchema::Known);
        }
        let found = self.types.get(&(Cow::Borrowed(namespace), Cow::Borrowed(name)));
        self.found(found.copied().map(SchemaValueType::Defined).as_ref(), namespace)
    }

    fn found<T: Copy>(&self, found: Option<&T>, namespace: &str) -> FoundInSchema<T> {
        match found {
            Some(&id) => FoundInSchema::Known(id),
            None if !self.knows(namespace) && self.imported.contains(namespace) => {
                FoundInSchema::Elsewhere
            }
            None => FoundInSchema::Nothing,
        }
    }

    /// Whether a schema of a namespace was read.
    pub(crate) fn knows(&self, namespace: &str) -> bool {
        namespace == XML_SCHEMA || self.namespaces.contains(namespace)
    }

    /// The names of elements in a namespace.
    pub(crate) fn element_names(&self, namespace: &str) -> impl Iterator<Item = &str> {
        let all = self.elements.keys().filter(move |(of, _)| of == namespace);
        all.map(|(_, name)| &**name)
    }

    /// The names of types in a namespace.
    pub(crate) fn type_names(&self, namespace: &str) -> impl Iterator<Item = &str> {
        let all = self.types.keys().filter(move |(of, _)| of == namespace);
        all.map(|(_, name)| &**name)
    }

    /// What is declared of an element.
    pub(crate) fn declared(&self, id: SchemaElementId) -> &DeclaredElement<'d> {
        &self.declared[id.0 as usize]
    }

    fn defined(&self, id: SchemaTypeId) -> &SchemaType<'d> {
        &self.defined[id.0 as usize]
    }

    /// A type, and what it extends or restricts, the nearest first; each once, whatever derives from
    /// itself.
    fn chain(&self, of: SchemaValueType) -> impl Iterator<Item = SchemaValueType> {
        let mut seen = FxHashSet::default();
        std::iter::successors(Some(of), |of| match of {
            SchemaValueType::Defined(id) => self.defined(*id).base,
            SchemaValueType::BuiltIn(_) | SchemaValueType::Unknown => None,
        })
        .take_while(move |of| match of {
            SchemaValueType::Defined(id) => seen.insert(*id),
            SchemaValueType::BuiltIn(_) | SchemaValueType::Unknown => true,
        })
    }

    /// Whether a type is another one or derives from it, as far as that is known.
    pub(crate) fn derives(&self, of: SchemaValueType, other: SchemaValueType) -> Option<bool> {
        let mut last = of;
        for known in self.chain(of) {
            if known == other {
                return Some(true);
            }
            last = known;
        }
        (last != SchemaValueType::Unknown && other != SchemaValueType::Unknown).then_some(false)
    }

    /// Whether values of two types may be the same ones, as far as that is known.
    pub(crate) fn may_share(&self, one: SchemaValueType, other: SchemaValueType) -> bool {
        let built_in = |of| match self.chain(of).last() {
            Some(SchemaValueType::BuiltIn(known)) => Some(known),
            _ => None,
        };
        match (built_in(one), built_in(other)) {
            (Some(one), Some(other)) => one.may_share(other),
            _ => self.derives(one, other) != Some(false) || self.derives(other, one) != Some(false),
        }
    }

    /// Whether two types let other elements stand in elements of them, or elements of types that share
    /// nothing, where both are known.
    pub(crate) fn differ(&self, one: SchemaValueType, other: SchemaValueType) -> Option<bool> {
        let (one, other) = (self.named_parts(one)?, self.named_parts(other)?);
        let mut pairs = one.iter().zip(&other);
        let are_alike = one.len() == other.len()
            && pairs.all(|(one, other)| one.0 == other.0 && self.may_share(one.1, other.1));
        Some(!are_alike)
    }

    /// As messages call a type.
    pub(crate) fn type_name(&self, of: SchemaValueType) -> &str {
        match of {
            SchemaValueType::BuiltIn(known) => known.name,
            SchemaValueType::Defined(id) => &self.defined(id).name,
            SchemaValueType::Unknown => "",
        }
    }
}
