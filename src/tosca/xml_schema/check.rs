//! Checks documents against schemas.

use super::facet::Facet;
use super::{
    ComplexContent, DeclaredAttribute, Particle, ParticleTerm, SchemaContent, SchemaElementId,
    SchemaSet, SchemaValueType,
};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use cuvee_text::source::Span;
use cuvee_text::xml::{XmlElement, XmlName, XmlNode};
use rustc_hash::FxHashMap;

/// The namespace of attributes that give an element a type, or say that it has no value.
const INSTANCE: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// The prefix of texts that stand for a value given later.
const GIVEN_LATER: &str = "get_input:";

/// The result of following a path of names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SchemaPath {
    /// The path leads to a value of this type.
    To(SchemaValueType),
    /// The path leads nowhere, because one of its steps does not exist.
    Nowhere,
    /// It is not known where the path leads.
    Unknown,
}

/// The content that an element of a type may have, including what the bases of the type allow.
#[derive(Default)]
struct AllowedContent<'s, 'd> {
    attributes: Vec<&'s DeclaredAttribute<'d>>,
    /// The content models. Those of base types come last.
    particles: Vec<&'s Particle>,
    /// The type of the text, if the content is text and not elements.
    text: Option<SchemaValueType>,
}

impl<'d> SchemaSet<'d> {
    /// Checks an element of a type with everything in it, and returns the mistakes.
    pub(crate) fn check(&self, element: XmlElement<'_>, of: SchemaValueType) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let mut open = vec![(element, of)];
        while let Some((element, of)) = open.pop() {
            // An element that states its own type, or that it has no value, is not checked.
            let says_itself = |name: XmlName<'_>| {
                name.namespace == INSTANCE && matches!(name.local, "type" | "nil")
            };
            if element.attributes().any(|attribute| says_itself(attribute.name())) {
                continue;
            }
            if let Some(content) = self.content(of) {
                self.attributes(element, &content, &mut found);
                match content.text {
                    Some(of) => self.value(element, of, &mut found),
                    None => open.extend(self.children(element, &content, &mut found)),
                }
            }
        }
        found.sort_by_key(|found| found.span);
        found
    }

    /// The content that an element of a type may have. `None` where it is not known.
    fn content(&self, of: SchemaValueType) -> Option<AllowedContent<'_, 'd>> {
        let mut content = AllowedContent::default();
        let mut takes_particles = true;
        for of in self.chain(of) {
            let id = match of {
                SchemaValueType::Defined(id) => id,
                SchemaValueType::BuiltIn(known) if known.is_anything() => {
                    return (!takes_particles).then_some(content);
                }
                SchemaValueType::BuiltIn(_) => {
                    content.text = Some(of);
                    return Some(content);
                }
                SchemaValueType::Unknown => return None,
            };
            match &self.defined(id).content {
                SchemaContent::Opaque => return None,
                SchemaContent::Simple(_) => {
                    content.text = Some(of);
                    return Some(content);
                }
                SchemaContent::Complex(ComplexContent { extends, attributes, particle }) => {
                    content.attributes.extend(attributes);
                    content.particles.extend(particle.as_ref().filter(|_| takes_particles));
                    takes_particles &= *extends;
                }
            }
        }
        Some(content)
    }

    fn attributes(
        &self,
        element: XmlElement<'_>,
        content: &AllowedContent<'_, 'd>,
        found: &mut Vec<Diagnostic>,
    ) {
        for attribute in element.attributes().filter(|it| it.name().namespace.is_empty()) {
            let name = attribute.name().local;
            let declared = content.attributes.iter().find(|declared| declared.name == name);
            let Some(declared) = declared else {
                let known = content.attributes.iter().map(|declared| &*declared.name);
                let message = format!("`{}` has no attribute `{name}`", element.name().local);
                let error = Diagnostic::error(Code::UnknownProperty, message).at(attribute.span());
                found.push(error.help_opt(did_you_mean(name, known)));
                continue;
            };
            let wrong = self.wrong_text(&attribute.value(), declared.of);
            found.extend(wrong.map(|message| {
                Diagnostic::error(Code::InvalidValue, message).at(attribute.value_span())
            }));
        }
    }

    /// Checks an element that must contain only a text.
    fn value(&self, element: XmlElement<'_>, of: SchemaValueType, found: &mut Vec<Diagnostic>) {
        if let Some(child) = element.elements().next() {
            let message = format!("`{}` holds a value, not elements", element.name().local);
            found.push(Diagnostic::error(Code::InvalidValue, message).at(child.span()));
            return;
        }
        if let Some(message) = self.wrong_text(&element.text(), of) {
            let places = element.nodes().filter_map(|node| match node {
                XmlNode::Text(_, at) | XmlNode::Unescaped(_, at) => Some(at),
                _ => None,
            });
            let at = places.reduce(|first, last| Span { end: last.end, ..first });
            let error = Diagnostic::error(Code::InvalidValue, message);
            found.push(error.at(at.unwrap_or(element.span())));
        }
    }

    /// Explains why a text is not a value of a type. `None` where it is one.
    fn wrong_text(&self, text: &str, of: SchemaValueType) -> Option<String> {
        let mut facets: Vec<&Facet<'d>> = Vec::new();
        for of in self.chain(of) {
            match of {
                SchemaValueType::Defined(id) => match &self.defined(id).content {
                    SchemaContent::Simple(own) => facets.extend(own),
                    _ => return None,
                },
                SchemaValueType::BuiltIn(known) => {
                    let collapsed: Vec<_> = text.split_ascii_whitespace().collect();
                    let collapsed = collapsed.join(" ");
                    let text = if known.collapses() { &*collapsed } else { text };
                    if text.trim_start().starts_with(GIVEN_LATER) {
                        return None;
                    }
                    if !known.holds(text) {
                        return Some(format!("`{text}` is no `{}`", known.name));
                    }
                    let is_number = known.is_number();
                    return facets.iter().find_map(|facet| facet.broken_by(text, is_number));
                }
                SchemaValueType::Unknown => return None,
            }
        }
        None
    }

    /// Checks an element that must contain only elements. Returns the children that are known, with
    /// their types.
    fn children<'e>(
        &self,
        element: XmlElement<'e>,
        content: &AllowedContent<'_, 'd>,
        found: &mut Vec<Diagnostic>,
    ) -> Vec<(XmlElement<'e>, SchemaValueType)> {
        let name = element.name().local;
        let declared = self.declared_children(content);
        let mut known = Vec::new();
        let mut seen: FxHashMap<(&str, &str), Vec<XmlElement<'e>>> = FxHashMap::default();
        for node in element.nodes() {
            match node {
                XmlNode::Text(text, at) | XmlNode::Unescaped(text, at)
                    if !text.trim().is_empty() =>
                {
                    let before = text.len() - text.trim_start().len();
                    let start = at.start + u32::try_from(before).unwrap_or_default();
                    let message = format!("`{name}` holds elements, not text");
                    let error = Diagnostic::error(Code::InvalidValue, message);
                    found.push(error.at(Span { start, ..at }));
                }
                XmlNode::Element(child) => {
                    let key = (child.name().namespace, child.name().local);
                    match declared.get(&key) {
                        Some(of) => {
                            seen.entry(key).or_default().push(child);
                            known.push((child, *of));
                        }
                        None => found.push(self.unknown_child(element, child, content)),
                    }
                }
                _ => {}
            }
        }
        for particle in &content.particles {
            self.repetitions(particle, Some(1), &seen, found);
        }
        known
    }

    /// The types of the children that a content allows, by their namespaces and names. Of several
    /// declarations of a name, the first counts.
    fn declared_children(
        &self,
        content: &AllowedContent<'_, 'd>,
    ) -> FxHashMap<(&str, &str), SchemaValueType> {
        let all = content.particles.iter().flat_map(|particle| leaves(particle));
        let mut first = FxHashMap::default();
        for declared in all.map(|id| self.declared(id)) {
            first.entry((&*declared.namespace, &*declared.name)).or_insert(declared.of);
        }
        first
    }

    fn unknown_child(
        &self,
        element: XmlElement<'_>,
        child: XmlElement<'_>,
        content: &AllowedContent<'_, 'd>,
    ) -> Diagnostic {
        let name = child.name();
        let message = format!(
            "the schema declares no element `{}` in `{}`",
            name.local,
            element.name().local
        );
        let error = Diagnostic::error(Code::UnknownProperty, message).at(child.span());
        let all = || {
            let all = content.particles.iter().flat_map(|particle| leaves(particle));
            all.map(|id| self.declared(id))
        };
        match all().find(|declared| declared.name == name.local) {
            Some(known) if known.namespace.is_empty() => {
                error.help("put the element into no namespace: `xmlns=\"\"`")
            }
            Some(known) => {
                error.help(format!("put the element into the namespace {}", known.namespace))
            }
            None => error.help_opt(did_you_mean(name.local, all().map(|declared| &*declared.name))),
        }
    }

    /// How often a particle must be repeated to hold the elements that were seen. Reports elements
    /// that occur more often than `room` allows.
    fn repetitions(
        &self,
        particle: &Particle,
        room: Option<u64>,
        seen: &FxHashMap<(&str, &str), Vec<XmlElement<'_>>>,
        found: &mut Vec<Diagnostic>,
    ) -> u64 {
        let room = room.zip(particle.most).map(|(room, most)| room.saturating_mul(most));
        let needed = match &particle.term {
            ParticleTerm::Element(id) => {
                let declared = self.declared(*id);
                let all = seen.get(&(&*declared.namespace, &*declared.name));
                let all = all.map_or(&[][..], |all| all);
                let is_beyond = |at: u64| room.is_some_and(|room| at >= room);
                for (at, child) in (0..).zip(all).filter(|(at, _)| is_beyond(*at)).take(1) {
                    let room = room.unwrap_or_default();
                    let message = format!(
                        "`{}` may occur {room} times, and this is occurrence {}",
                        declared.name,
                        at + 1
                    );
                    let error = Diagnostic::error(Code::InvalidValue, message).at(child.span());
                    found.push(error.label(declared.span, "declared here"));
                }
                all.len() as u64
            }
            ParticleTerm::Sequence(inside) | ParticleTerm::All(inside) => {
                let all = inside.iter().map(|part| self.repetitions(part, room, seen, found));
                all.max().unwrap_or_default()
            }
            ParticleTerm::Choice(inside) => {
                let before = found.len();
                let all: Vec<_> =
                    inside.iter().map(|part| self.repetitions(part, room, seen, found)).collect();
                let needed = all.iter().sum();
                if before == found.len() && room.is_some_and(|room| needed > room) {
                    found.extend(self.excluded(inside, seen));
                }
                needed
            }
        };
        match particle.most {
            Some(0) => 0,
            Some(most) => needed.div_ceil(most),
            None => needed.min(1),
        }
    }

    /// Reports two elements that exclude each other.
    fn excluded(
        &self,
        choice: &[Particle],
        seen: &FxHashMap<(&str, &str), Vec<XmlElement<'_>>>,
    ) -> Option<Diagnostic> {
        let mut there = choice.iter().filter_map(|part| {
            leaves(part).find_map(|id| {
                let declared = self.declared(id);
                seen.get(&(&*declared.namespace, &*declared.name))?.first().copied()
            })
        });
        let (one, other) = (there.next()?, there.next()?);
        let message =
            format!("`{}` and `{}` exclude each other", one.name().local, other.name().local);
        let error = Diagnostic::error(Code::InvalidValue, message).at(other.span());
        Some(error.label(one.span(), "this one"))
    }

    /// The names and types of the elements that may be directly in an element of a type, sorted by
    /// name. `None` where they are not known.
    pub(crate) fn named_parts(&self, of: SchemaValueType) -> Option<Vec<(&str, SchemaValueType)>> {
        let content = self.content(of)?;
        let all = content.particles.iter().flat_map(|particle| leaves(particle));
        let all = all.map(|id| self.declared(id));
        let mut all: Vec<_> = all.map(|declared| (&*declared.name, declared.of)).collect();
        all.sort_by_key(|(name, _)| *name);
        Some(all)
    }

    /// Follows steps from an element. A step is the name of an element or, after `@`, of an
    /// attribute. The first step may be the root element itself.
    pub(crate) fn follow<'p>(
        &self,
        root: (&str, SchemaValueType),
        steps: impl Iterator<Item = &'p str>,
    ) -> SchemaPath {
        let mut steps = steps.peekable();
        if steps.peek() == Some(&root.0) {
            steps.next();
        }
        let mut of = root.1;
        for step in steps {
            let Some(content) = self.content(of) else { return SchemaPath::Unknown };
            let next = match step.strip_prefix('@') {
                Some(name) => {
                    let declared = content.attributes.iter().find(|declared| declared.name == name);
                    declared.map(|declared| declared.of)
                }
                None => {
                    let all = content.particles.iter().flat_map(|particle| leaves(particle));
                    let mut all = all.map(|id| self.declared(id));
                    all.find(|declared| declared.name == step).map(|declared| declared.of)
                }
            };
            match next {
                Some(next) => of = next,
                None => return SchemaPath::Nowhere,
            }
        }
        SchemaPath::To(of)
    }
}

/// The elements that a particle may consist of.
fn leaves(particle: &Particle) -> impl Iterator<Item = SchemaElementId> {
    let mut open = vec![particle];
    std::iter::from_fn(move || {
        while let Some(particle) = open.pop() {
            match &particle.term {
                ParticleTerm::Element(id) => return Some(*id),
                ParticleTerm::Sequence(inside)
                | ParticleTerm::All(inside)
                | ParticleTerm::Choice(inside) => open.extend(inside.iter().rev()),
            }
        }
        None
    })
}
