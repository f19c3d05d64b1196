//! Elements that are being made.

use crate::text::xml::XmlTree;
use std::borrow::Cow;

/// An element: what is in it is written behind what is kept in extensions, as the schema wants it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct XmlPart {
    name: Cow<'static, str>,
    attributes: Vec<(Cow<'static, str>, String)>,
    documentation: Option<String>,
    /// What others may ignore.
    extensions: Vec<XmlPart>,
    parts: Vec<XmlPart>,
    text: String,
}

impl XmlPart {
    pub(super) fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// An element that is written already, with what its prefixes mean.
    pub(super) fn written(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    /// With an attribute.
    pub(super) fn with(
        mut self,
        name: impl Into<Cow<'static, str>>,
        value: impl Into<String>,
    ) -> Self {
        self.set(name, value);
        self
    }

    pub(super) fn set(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) {
        self.attributes.push((name.into(), value.into()));
    }

    /// With an attribute, where there is a value for it.
    pub(super) fn with_some(self, name: &'static str, value: Option<impl Into<String>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// With a part.
    pub(super) fn holding(mut self, part: Self) -> Self {
        self.parts.push(part);
        self
    }

    pub(super) fn with_text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    pub(super) fn push(&mut self, part: Self) {
        self.parts.push(part);
    }

    pub(super) fn push_some(&mut self, part: Option<Self>) {
        self.parts.extend(part);
    }

    /// Adds parts in a container of theirs, where there are any.
    pub(super) fn push_in(&mut self, container: &'static str, parts: Vec<Self>) {
        if !parts.is_empty() {
            self.parts.push(Self { name: container.into(), parts, ..Self::default() });
        }
    }

    pub(super) fn document(&mut self, text: Option<String>) {
        self.documentation = text;
    }

    pub(super) fn extend(&mut self, extension: Self) {
        self.extensions.push(extension);
    }

    /// The same, with the parts of another one before its own.
    pub(super) fn behind(mut self, other: Self) -> Self {
        self.parts.splice(0..0, other.parts);
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    fn is_written(&self) -> bool {
        self.name.is_empty()
    }

    /// Whether it has nothing at all.
    pub(super) fn is_bare(&self) -> bool {
        !self.is_written() && self.parts.is_empty() && self.attributes.is_empty()
    }

    /// Whether it is an element of this name.
    pub(super) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// Whether another one has the same name.
    pub(super) fn is_named_as(&self, other: &Self) -> bool {
        let name = |part: &Self| {
            let mut all = part.attributes.iter();
            all.find(|(name, _)| name == "name").map(|(_, value)| value.clone())
        };
        name(self) == name(other)
    }

    /// Whether it has a part that stands for itself, as definitions need one.
    pub(super) fn has_component(&self) -> bool {
        self.parts.iter().any(|part| !matches!(&*part.name, "Extensions" | "Types"))
    }

    /// Adds it to a document. Parts stand in each other no deeper than documents may be.
    pub(super) fn write<'p>(&'p self, tree: &mut XmlTree<'p>) {
        if self.is_written() {
            tree.written(&*self.text);
            return;
        }
        tree.open(&*self.name);
        for (name, value) in &self.attributes {
            tree.attribute(&**name, value);
        }
        if let Some(text) = &self.documentation {
            tree.leaf("documentation", text);
        }
        self.extensions.iter().chain(&self.parts).for_each(|part| part.write(tree));
        tree.text(&*self.text);
        tree.close();
    }
}
