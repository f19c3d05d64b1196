//! Describes what a type allows, for translations into other schema languages.

use super::built_in::BuiltInType;
use super::facet::Facet;
use super::{
    ComplexContent, Particle, ParticleTerm, SchemaContent, SchemaElementId, SchemaSet,
    SchemaTypeId, SchemaValueType,
};
use cuvee_text::source::Span;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The form of the values of a type.
pub(crate) enum ValueShape<'s> {
    /// The form is not known, or cannot be expressed here.
    Opaque,
    /// Texts of a built-in type that fulfil rules.
    Text(&'static BuiltInType, Vec<TextRule<'s>>),
    /// Named elements and attributes, in the order of the schema.
    Parts(Vec<ValuePart<'s>>),
}

/// A rule for the texts of a type.
pub(crate) enum TextRule<'s> {
    /// The text is one of these.
    Values(&'s [Cow<'s, str>]),
    /// The text matches one of these patterns.
    Patterns(Vec<&'s str>),
    /// The text has at least and at most this many characters.
    Length(usize, Option<usize>),
    /// The text is a number greater than this or, if the flag is set, equal to it.
    Above(&'s str, bool),
    /// The text is a number less than this or, if the flag is set, equal to it.
    Below(&'s str, bool),
    /// The number of digits, in all or behind the point, is limited.
    Digits,
}

/// An element or attribute of a value.
#[derive(Clone, Copy)]
pub(crate) struct ValuePart<'s> {
    /// The name in the namespace.
    pub(crate) name: &'s str,
    /// The namespace. It is empty for attributes.
    pub(crate) namespace: &'s str,
    /// Whether the part is an attribute and not an element.
    pub(crate) is_attribute: bool,
    /// The type of its content.
    pub(crate) of: SchemaValueType,
    /// Whether the part must be present.
    pub(crate) is_required: bool,
    /// Whether the part may occur several times.
    pub(crate) repeats: bool,
    /// Whether the part is one of several that exclude each other.
    pub(crate) is_choice: bool,
}

/// How many parts are searched for one by its name, before they are laid out by name.
const MANY_PARTS: usize = 16;

/// The parts of a value that are elements, while they are collected.
#[derive(Default)]
struct ElementParts<'s> {
    parts: Vec<ValuePart<'s>>,
    /// The positions of parts by name and namespace, once there are many.
    places: FxHashMap<(&'s str, &'s str), usize>,
}

impl<'s> ElementParts<'s> {
    fn named(&mut self, name: (&str, &str)) -> Option<&mut ValuePart<'s>> {
        let is_it = |part: &ValuePart<'_>| (part.name, part.namespace) == name;
        let at = match self.places.is_empty() {
            true => self.parts.iter().position(is_it)?,
            false => *self.places.get(&name)?,
        };
        self.parts.get_mut(at)
    }

    fn push(&mut self, part: ValuePart<'s>) {
        self.parts.push(part);
        let from = match self.places.is_empty() {
            true if self.parts.len() <= MANY_PARTS => return,
            true => 0,
            false => self.parts.len() - 1,
        };
        let new = self.parts.iter().enumerate().skip(from);
        self.places.extend(new.map(|(at, part)| ((part.name, part.namespace), at)));
    }
}

/// The properties that the surroundings of a particle pass on to its elements.
#[derive(Clone, Copy)]
struct ParticleSpot {
    is_required: bool,
    repeats: bool,
    is_choice: bool,
}

impl<'d> SchemaSet<'d> {
    /// The form of the values of a type.
    pub(crate) fn shape(&self, of: SchemaValueType) -> ValueShape<'_> {
        let (mut rules, mut parts, mut is_complex) = (Vec::new(), Vec::new(), false);
        let mut extends = true;
        for of in self.chain(of) {
            match of {
                SchemaValueType::Unknown => return ValueShape::Opaque,
                SchemaValueType::BuiltIn(known) if is_complex => {
                    // A type that restricts anything has only the parts that it states itself.
                    return match known.is_anything() && !extends {
                        true => ValueShape::Parts(parts),
                        false => ValueShape::Opaque,
                    };
                }
                SchemaValueType::BuiltIn(known) if known.is_anything() => {
                    return ValueShape::Opaque;
                }
                SchemaValueType::BuiltIn(known) => return ValueShape::Text(known, rules),
                SchemaValueType::Defined(id) => match &self.defined(id).content {
                    SchemaContent::Opaque => return ValueShape::Opaque,
                    SchemaContent::Simple(_) if is_complex => return ValueShape::Opaque,
                    SchemaContent::Simple(facets) => rules.extend(facets.iter().map(rule)),
                    SchemaContent::Complex(content) => {
                        is_complex = true;
                        // The parts of the base come first.
                        let mut own = self.parts(content, extends);
                        extends &= content.extends;
                        own.append(&mut parts);
                        parts = own;
                    }
                },
            }
        }
        ValueShape::Parts(parts)
    }

    fn parts<'s>(&'s self, content: &'s ComplexContent<'d>, extends: bool) -> Vec<ValuePart<'s>> {
        let mut parts = ElementParts::default();
        if let Some(particle) = content.particle.as_ref().filter(|_| extends) {
            let spot = ParticleSpot { is_required: true, repeats: false, is_choice: false };
            self.parts_of(particle, spot, &mut parts);
        }
        let ElementParts { mut parts, .. } = parts;
        parts.extend(content.attributes.iter().map(|attribute| ValuePart {
            name: &attribute.name,
            namespace: "",
            is_attribute: true,
            of: attribute.of,
            is_required: attribute.is_required,
            repeats: false,
            is_choice: false,
        }));
        parts
    }

    fn parts_of<'s>(
        &'s self,
        particle: &Particle,
        around: ParticleSpot,
        parts: &mut ElementParts<'s>,
    ) {
        let mut spot = ParticleSpot {
            is_required: around.is_required && particle.is_required,
            repeats: around.repeats || particle.most.is_none_or(|most| most > 1),
            ..around
        };
        match &particle.term {
            ParticleTerm::Element(id) => self.part_of(*id, spot, parts),
            ParticleTerm::Sequence(inside) | ParticleTerm::All(inside) => {
                inside.iter().for_each(|particle| self.parts_of(particle, spot, parts));
            }
            ParticleTerm::Choice(inside) => {
                if inside.len() > 1 {
                    spot = ParticleSpot { is_required: false, is_choice: true, ..spot };
                }
                inside.iter().for_each(|particle| self.parts_of(particle, spot, parts));
            }
        }
    }

    fn part_of<'s>(
        &'s self,
        id: SchemaElementId,
        spot: ParticleSpot,
        parts: &mut ElementParts<'s>,
    ) {
        let declared = self.declared(id);
        let (name, namespace) = (&*declared.name, &*declared.namespace);
        // An element that is declared at two places may occur twice.
        if let Some(known) = parts.named((name, namespace)) {
            known.repeats |= !spot.is_choice || !known.is_choice;
            known.is_required |= spot.is_required;
            return;
        }
        parts.push(ValuePart {
            name,
            namespace,
            is_attribute: false,
            of: declared.of,
            is_required: spot.is_required,
            repeats: spot.repeats,
            is_choice: spot.is_choice,
        });
    }

    /// The place where a type is defined.
    pub(crate) fn defined_span(&self, id: SchemaTypeId) -> Span {
        self.defined(id).span
    }

    /// The name of a type, if it has one.
    pub(crate) fn defined_name(&self, id: SchemaTypeId) -> Option<&str> {
        Some(&*self.defined(id).name).filter(|name| !name.is_empty())
    }
}

fn rule<'s>(facet: &'s Facet<'_>) -> TextRule<'s> {
    match facet {
        Facet::Values(values) => TextRule::Values(values),
        Facet::Patterns(patterns) => {
            TextRule::Patterns(patterns.iter().map(|(written, _)| &**written).collect())
        }
        Facet::Length(least, most) => TextRule::Length(*least, *most),
        Facet::Above(bound, or_equal) => TextRule::Above(bound, *or_equal),
        Facet::Below(bound, or_equal) => TextRule::Below(bound, *or_equal),
        Facet::Digits(_) | Facet::Decimals(_) => TextRule::Digits,
    }
}
