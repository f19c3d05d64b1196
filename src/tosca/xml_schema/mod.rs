//! Reads the part of XML Schema 1.0 that values of properties need: elements, types of elements,
//! and types of texts. Checks documents against it.
//!
//! Other constructs (groups, substitution groups, `any`, mixed content, unions, lists, `redefine`)
//! make the type that uses them opaque. A note reports that, and values of the type are not
//! checked.

mod built_in;
mod check;
mod facet;
mod read;
mod shape;

pub(crate) use built_in::BuiltInType;
pub(crate) use check::SchemaPath;
use cuvee_text::source::Span;
use facet::Facet;
pub(crate) use read::{KeyedElement, SchemaKey, SchemaRoot};
use rustc_hash::{FxHashMap, FxHashSet};
pub(crate) use shape::{TextRule, ValuePart, ValueShape};
use std::borrow::Cow;

/// The namespace of XML Schema itself.
pub(crate) const XML_SCHEMA: &str = "http://www.w3.org/2001/XMLSchema";

/// A name with its namespace, which comes first.
pub(crate) type SchemaName<'d> = (Cow<'d, str>, Cow<'d, str>);

/// The declarations of several schemas that belong together.
#[derive(Default)]
pub(crate) struct SchemaSet<'d> {
    elements: FxHashMap<SchemaName<'d>, SchemaElementId>,
    types: FxHashMap<SchemaName<'d>, SchemaTypeId>,
    declared: Vec<DeclaredElement<'d>>,
    defined: Vec<SchemaType<'d>>,
    /// The namespaces of which a schema was read.
    namespaces: FxHashSet<Cow<'d, str>>,
    /// The namespaces that schemas import, whether they were read or not.
    imported: FxHashSet<Cow<'d, str>>,
}

/// The number of an element that a schema declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SchemaElementId(u32);

/// The number of a type that a schema defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SchemaTypeId(u32);

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SchemaValueType {
    /// A built-in type of XML Schema.
    BuiltIn(&'static BuiltInType),
    /// A type that a schema defines.
    Defined(SchemaTypeId),
    /// An unknown type, so that values cannot be checked.
    Unknown,
}

/// An element that a schema declares, with the type of its content.
pub(crate) struct DeclaredElement<'d> {
    /// The namespace of the name. It is empty if there is none.
    pub(crate) namespace: Cow<'d, str>,
    /// The name in the namespace.
    pub(crate) name: Cow<'d, str>,
    /// The type of its content.
    pub(crate) of: SchemaValueType,
    /// The place of the declaration.
    pub(crate) span: Span,
}

struct SchemaType<'d> {
    /// The name of the type. It is empty for a type that is defined inside of an element or
    /// attribute.
    name: Cow<'d, str>,
    span: Span,
    /// The type that this one extends or restricts.
    base: Option<SchemaValueType>,
    content: SchemaContent<'d>,
}

enum SchemaContent<'d> {
    /// The content is unknown, so that it cannot be checked.
    Opaque,
    /// Texts of the base type that fulfil these facets.
    Simple(Vec<Facet<'d>>),
    Complex(ComplexContent<'d>),
}

#[derive(Default)]
struct ComplexContent<'d> {
    /// Whether the type extends its base, so that the content of the base comes first.
    extends: bool,
    attributes: Vec<DeclaredAttribute<'d>>,
    particle: Option<Particle>,
}

struct DeclaredAttribute<'d> {
    name: Cow<'d, str>,
    of: SchemaValueType,
    is_required: bool,
}

/// A part of a content model, and how often it may occur at most. When values are checked, missing
/// parts are not reported, because they may be given later (TOSCA 1.0, section 5.2).
#[derive(Clone, Debug)]
struct Particle {
    is_required: bool,
    most: Option<u64>,
    term: ParticleTerm,
}

#[derive(Clone, Debug)]
enum ParticleTerm {
    Element(SchemaElementId),
    /// The parts, one after the other.
    Sequence(Vec<Particle>),
    /// The parts in any order.
    All(Vec<Particle>),
    Choice(Vec<Particle>),
}

/// The result of looking up a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoundInSchema<T> {
    /// The name is defined as this.
    Known(T),
    /// The namespace is imported, but no schema of it was read.
    Elsewhere,
    /// The name is not defined, though its namespace was read or nothing imports it.
    Nothing,
}

impl<'d> SchemaSet<'d> {
    /// Looks up an element by its name.
    pub(crate) fn element(&self, namespace: &str, name: &str) -> FoundInSchema<SchemaElementId> {
        self.found(self.elements.get(&(Cow::Borrowed(namespace), Cow::Borrowed(name))), namespace)
    }

    /// Looks up a type by its name, among the built-in types as well.
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

    /// The names of the elements in a namespace.
    pub(crate) fn element_names(&self, namespace: &str) -> impl Iterator<Item = &str> {
        let all = self.elements.keys().filter(move |(of, _)| of == namespace);
        all.map(|(_, name)| &**name)
    }

    /// The names of the types in a namespace.
    pub(crate) fn type_names(&self, namespace: &str) -> impl Iterator<Item = &str> {
        let all = self.types.keys().filter(move |(of, _)| of == namespace);
        all.map(|(_, name)| &**name)
    }

    /// The declaration of an element.
    pub(crate) fn declared(&self, id: SchemaElementId) -> &DeclaredElement<'d> {
        &self.declared[id.0 as usize]
    }

    fn defined(&self, id: SchemaTypeId) -> &SchemaType<'d> {
        &self.defined[id.0 as usize]
    }

    /// A type and all that it derives from, the nearest first. Each comes once, even if a type
    /// derives from itself.
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

    /// Whether a type is another one or derives from it. `None` where that is not known.
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

    /// Whether two types may have common values, as far as that is known.
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

    /// Whether two types allow different elements, or elements of types that share no values.
    /// `None` where the elements are not known.
    pub(crate) fn differ(&self, one: SchemaValueType, other: SchemaValueType) -> Option<bool> {
        let (one, other) = (self.named_parts(one)?, self.named_parts(other)?);
        let mut pairs = one.iter().zip(&other);
        let are_alike = one.len() == other.len()
            && pairs.all(|(one, other)| one.0 == other.0 && self.may_share(one.1, other.1));
        Some(!are_alike)
    }

    /// The name of a type in messages.
    pub(crate) fn type_name(&self, of: SchemaValueType) -> &str {
        match of {
            SchemaValueType::BuiltIn(known) => known.name,
            SchemaValueType::Defined(id) => &self.defined(id).name,
            SchemaValueType::Unknown => "",
        }
    }
}
