//! Elements under construction.

use crate::tosca::v1_0::{AttributeKind, ElementRule, TOSCA};
use cuvee_text::xml::{XmlOutput, collapsed};
use std::borrow::Cow;

/// An element. Its contents are written after its extensions, in the order of the schema.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct XmlPart {
    name: Cow<'static, str>,
    attributes: Vec<(Cow<'static, str>, String)>,
    documentation: Option<String>,
    /// Extensions, which other tools may ignore.
    extensions: Vec<XmlPart>,
    parts: Vec<XmlPart>,
    text: String,
}

impl XmlPart {
    pub(super) fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// An element that is already text, including the declarations of its prefixes.
    pub(super) fn written(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    /// Adds an attribute.
    pub(super) fn with(
        mut self,
        name: impl Into<Cow<'static, str>>,
        value: impl Into<String>,
    ) -> Self {
        self.set(name, value);
        self
    }

    pub(super) fn set(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) {
        push_exactly(&mut self.attributes, (name.into(), value.into()));
    }

    /// Adds an attribute if it has a value.
    pub(super) fn with_some(self, name: &'static str, value: Option<impl Into<String>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds a child element.
    pub(super) fn holding(mut self, part: Self) -> Self {
        self.push(part);
        self
    }

    pub(super) fn with_text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    pub(super) fn push(&mut self, part: Self) {
        push_exactly(&mut self.parts, part);
    }

    pub(super) fn push_some(&mut self, part: Option<Self>) {
        part.into_iter().for_each(|part| self.push(part));
    }

    /// Adds elements within a container element, if there are any.
    pub(super) fn push_in(&mut self, container: &'static str, mut parts: Vec<Self>) {
        if !parts.is_empty() {
            parts.shrink_to_fit();
            self.push(Self { name: container.into(), parts, ..Self::default() });
        }
    }

    pub(super) fn document(&mut self, text: Option<String>) {
        self.documentation = text;
    }

    pub(super) fn extend(&mut self, extension: Self) {
        self.extensions.push(extension);
    }

    /// Inserts the children of another element before the own ones.
    pub(super) fn behind(mut self, other: Self) -> Self {
        self.parts.splice(0..0, other.parts);
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Takes the children away.
    pub(super) fn empty(&mut self) {
        self.parts = Vec::new();
    }

    /// Gives attributes and children the order and the form that the canonical form has, but for what is
    /// already text. Names with a prefix are those of other namespaces.
    pub(super) fn arrange(&mut self, rule: Option<&'static ElementRule>) {
        let known = |name: &str| rule.and_then(|rule| rule.position(name));
        let place = |name: &str| known(name).map_or((1, name.contains(':').into()), |at| (0, at));
        if self.attributes.len() > 1 {
            let order = |(one, _): &(Cow<'_, str>, _), (other, _): &(Cow<'_, str>, _)| {
                (place(one), one).cmp(&(place(other), other))
            };
            self.attributes.sort_by(order);
        }
        for (name, value) in &mut self.attributes {
            let kind = rule.zip(known(name)).map(|(rule, at)| rule.attributes[at].kind);
            if kind.is_some_and(|kind| kind != AttributeKind::Text) {
                let form = collapsed(value);
                if form.len() < value.len() {
                    *value = form.into_owned();
                }
            }
        }
        let child = |part: &Self| {
            let namespace = if part.is_written() || part.name.contains(':') { "" } else { TOSCA };
            rule.map_or((0, None), |rule| rule.child(namespace, &part.name))
        };
        if self.parts.len() > 1 {
            self.parts.sort_by_key(|part| child(part).0);
        }
        for part in self.extensions.iter_mut().chain(&mut self.parts) {
            part.arrange(child(part).1);
        }
    }

    fn is_written(&self) -> bool {
        self.name.is_empty()
    }

    /// Whether the element has no content and no attributes.
    pub(super) fn is_bare(&self) -> bool {
        !self.is_written() && self.parts.is_empty() && self.attributes.is_empty()
    }

    /// Whether the element has this name.
    pub(super) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// The attributes by name.
    pub(super) fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.attributes.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Whether another element has the same `name` attribute.
    pub(super) fn is_named_as(&self, other: &Self) -> bool {
        let name = |part: &Self| {
            part.attributes().find(|(name, _)| *name == "name").map(|(_, value)| value.to_owned())
        };
        name(self) == name(other)
    }

    /// Whether the element contains a component, as definitions must.
    pub(super) fn has_component(&self) -> bool {
        self.parts.iter().any(|part| !matches!(&*part.name, "Extensions" | "Types"))
    }

    /// How many bytes of the element are already text.
    pub(super) fn written_bytes(&self) -> usize {
        self.text.len() + self.parts.iter().map(Self::written_bytes).sum::<usize>()
    }

    /// Writes the element into a document. Elements are never nested deeper than documents allow.
    pub(super) fn write<'p>(&'p self, output: &mut XmlOutput<'p>) {
        if self.is_written() {
            return output.written(&self.text);
        }
        output.open(&self.name);
        self.attributes().for_each(|(name, value)| output.attribute(name, value));
        let holds_parts =
            self.documentation.is_some() || !self.extensions.is_empty() || !self.parts.is_empty();
        let keeps_space = || self.attributes().any(|it| it == ("xml:space", "preserve"));
        if holds_parts && !self.text.is_empty() || keeps_space() {
            output.as_it_is();
        }
        if let Some(text) = &self.documentation {
            output.leaf("documentation", text);
        }
        self.extensions.iter().chain(&self.parts).for_each(|part| part.write(output));
        if !self.text.is_empty() {
            output.text(&self.text);
        }
        output.close();
    }
}

/// Elements that are written as soon as they are made, since trees take several times the memory of
/// their text.
pub(super) struct WrittenTemplates {
    /// The element that holds them, and its depth.
    rule: &'static ElementRule,
    depth: usize,
    text: String,
}

impl WrittenTemplates {
    pub(super) fn new(rule: &'static ElementRule, depth: usize) -> Self {
        Self { rule, depth, text: String::new() }
    }

    pub(super) fn push(&mut self, mut part: XmlPart) {
        part.arrange(self.rule.child(TOSCA, &part.name).1);
        let mut output = XmlOutput::within(self.depth, std::mem::take(&mut self.text));
        part.write(&mut output);
        self.text = output.into_parts();
    }

    /// All of them as one part, if there are any.
    pub(super) fn part(mut self) -> Option<XmlPart> {
        // The document around them goes to the line of the first itself.
        let start = self.text.find('<')?;
        self.text.drain(..start);
        Some(XmlPart::written(self.text))
    }
}

/// Adds to a list that often has one entry alone, for which a list that grows by itself would have
/// room for four.
fn push_exactly<T>(list: &mut Vec<T>, entry: T) {
    if list.is_empty() {
        list.reserve_exact(1);
    }
    list.push(entry);
}
