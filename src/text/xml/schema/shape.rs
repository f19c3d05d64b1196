//! What a type lets be, for whoever says the same in another language.

use super::built_in::BuiltInType;
use super::facet::Facet;
use super::{
    ComplexContent, Particle, ParticleTerm, SchemaContent, SchemaElementId, SchemaSet,
    SchemaTypeId, SchemaValueType,
};
use crate::text::source::Span;
use std::borrow::Cow;

/// What values of a type look like.
pub(crate) enum ValueShape<'s> {
    /// Nobody knows, or nobody could say it.
    Opaque,
    /// Texts of a built-in type for which rules hold.
    Text(&'static BuiltInType, Vec<TextRule<'s>>),
    /// Elements and attributes with names, in the order of the schema.
    Parts(Vec<ValuePart<'s>>),
}

/// A rule for texts.
pub(crate) enum TextRule<'s> {
    /// One of these.
    Values(&'s [Cow<'s, str>]),
    /// One of these patterns.
    Patterns(Vec<&'s str>),
    /// So many characters at least and at most.
    Length(usize, Option<usize>),
    /// At least this, or, where it says so, more than it.
    Above(&'s str, bool),
    /// At most this, or less than it.
    Below(&'s str, bool),
    /// So many digits in all or behind the point.
    Digits,
}

/// What stands in a value.
#[derive(Clone, Copy)]
pub(crate) struct ValuePart<'s> {
    pub name: &'s str,
    /// Empty for attributes.
    pub namespace: &'s str,
    pub is_attribute: bool,
    pub of: SchemaValueType,
    pub is_required: bool,
    pub repeats: bool,
    /// Whether it stands for others that exclude it.
    pub is_choice: bool,
}

/// How far what is around a particle makes it what it is.
#[derive(Clone, Copy)]
struct ParticleSpot {
    is_required: bool,
    repeats: bool,
    is_choice: bool,
}

impl<'d> SchemaSet<'d> {
    /// What values of a type look like.
    pub(crate) fn shape(&self, of: SchemaValueType) -> ValueShape<'_> {
        let (mut rules, mut parts, mut is_complex) = (Vec::new(), Vec::new(), false);
        let mut extends = true;
        for of in self.chain(of) {
            match of {
                SchemaValueType::Unknown => return ValueShape::Opaque,
                SchemaValueType::BuiltIn(known) if is_complex => {
                    // A restriction of anything has what it says itself.
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
                        // What the base has comes first.
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
        let mut parts = Vec::new();
        if let Some(particle) = content.particle.as_ref().filter(|_| extends) {
            let spot = ParticleSpot { is_required: true, repeats: false, is_choice: false };
            self.parts_of(particle, spot, &mut parts);
        }
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
        parts: &mut Vec<ValuePart<'s>>,
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
        parts: &mut Vec<ValuePart<'s>>,
    ) {
        let declared = self.declared(id);
        let (name, namespace) = (&*declared.name, &*declared.namespace);
        // An element in two places is there twice at most.
        let is_same = |part: &&mut ValuePart<'_>| (part.name, part.namespace) == (name, namespace);
        if let Some(known) = parts.iter_mut().find(is_same) {
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

    /// Where a type is defined.
    pub(crate) fn defined_span(&self, id: SchemaTypeId) -> Span {
        self.defined(id).span
    }

    /// The name of a type that has one.
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
