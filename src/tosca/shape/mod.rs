//! Lists the keynames of the elements in types and templates. The parser of templates, the grammar
//! of types, validation and comparison all read this one table.
//!
//! The keynames are those of TOSCA Simple Profile 1.3. An extension adds its own through a
//! [`Vocabulary`].

mod definitions;
mod templates;

pub(crate) use definitions::{
    ACTIVITY, ARTIFACT, ATTRIBUTE, CALL_OPERATION, CAPABILITY, CAPABILITY_FILTER, DELEGATE,
    EVENT_FILTER, FILTER, IMPLEMENTATION, IMPORT, INLINE, INTERFACE, NOTIFICATION, OPERATION,
    PARAMETER, PRECONDITION, PROPERTY, REPOSITORY, REQUIREMENT, REQUIREMENT_RELATIONSHIP, SCHEMA,
    SET_STATE, STEP, TRIGGER, TRIGGER_CONDITION, WORKFLOW, defines_parameter, of_type,
};
pub(crate) use templates::{
    ATTRIBUTE_MAPPING, CAPABILITY_ASSIGNMENT, CAPABILITY_MAPPING, GROUP, NODE, POLICY,
    PROPERTY_MAPPING, RELATIONSHIP, RELATIONSHIP_IN_PLACE, REQUIREMENT_ASSIGNMENT,
    REQUIREMENT_MAPPING, SERVICE, SUBSTITUTION, TOPOLOGY, type_sections,
};

use crate::diagnostic::{Advice, Cite, Code, Diagnostic, closest};
use crate::tosca::v2_0;
use cuvee_text::yaml::Node;

/// The keynames of one kind of element.
pub(crate) struct Shape {
    /// The name of the kind in messages.
    pub what: &'static str,
    /// The section that defines its grammar.
    pub section: &'static str,
    /// The keyname whose value may replace the whole map.
    pub short: Option<&'static str>,
    /// The keynames of the kind.
    pub keynames: &'static [Keyname],
}

/// A keyname.
pub(crate) struct Keyname {
    /// The name as it is written.
    pub name: &'static str,
    /// The kind of content below the keyname.
    pub holds: Holds,
}

/// The content below a keyname, as far as it has parts of its own.
pub(crate) enum Holds {
    /// A value.
    Value,
    /// A list in which order and repetitions have no meaning.
    Set,
    /// One map of this shape.
    One(&'static Shape),
    /// Maps of this shape by name, or a list of them. The string is the noun for one of them.
    Named(&'static str, &'static Shape),
    /// A list of maps of this shape. A map without a name is identified by its short form.
    Listed(&'static str, &'static Shape),
}

/// How strictly the reader treats unknown keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Every unknown key is an error.
    Strict,
    /// A key that is not similar to any known one is accepted as a private one.
    Lenient,
}

/// The keynames of an element, and the words that an extension of TOSCA adds to them.
#[derive(Clone, Copy)]
pub(crate) struct Vocabulary {
    /// The name of the element in messages.
    pub what: &'static str,
    /// The section that defines the grammar, where TOSCA defines it.
    pub section: Option<&'static str>,
    /// The keynames of TOSCA.
    pub keynames: &'static [Keyname],
    /// The words that the extension adds to this element.
    pub words: &'static [&'static [&'static str]],
    /// The words that the extension adds to all kinds of elements together. Those that are not in
    /// `words` have no meaning in this element.
    pub everywhere: &'static [&'static [&'static str]],
}

impl Shape {
    /// Whether this is one of the shape's keynames.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.keynames.iter().any(|keyname| keyname.name == name)
    }

    /// Whether a map has one of the shape's keynames.
    pub(crate) fn is_in(&self, node: Node<'_>) -> bool {
        node.entries().any(|(key, _)| key.text().is_some_and(|text| self.has(text)))
    }

    /// The names of the shape's keynames.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        self.keynames.iter().map(|keyname| keyname.name)
    }

    /// The error for a key that is not one of the shape's keynames. Returns nothing for a known
    /// key.
    pub(crate) fn unknown(&self, key: Node<'_>) -> Option<Diagnostic> {
        Vocabulary::from(self).unknown(key, Reading::Strict)
    }
}

impl From<&Shape> for Vocabulary {
    fn from(shape: &Shape) -> Self {
        Self::extended(shape, &[], &[])
    }
}

impl Vocabulary {
    /// A shape with the words that an extension adds to it.
    pub(crate) const fn extended(
        shape: &Shape,
        words: &'static [&'static [&'static str]],
        everywhere: &'static [&'static [&'static str]],
    ) -> Self {
        Self {
            what: shape.what,
            section: Some(shape.section),
            keynames: shape.keynames,
            words,
            everywhere,
        }
    }

    /// The keynames without the words, to list what is allowed where no extension is used.
    pub(crate) fn of_tosca(self) -> Self {
        Self { words: &[], ..self }
    }

    /// Whether this is one of the keynames or words.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.is_added(name) || self.keynames.iter().any(|keyname| keyname.name == name)
    }

    /// Whether this is one of the words of the extension.
    pub(crate) fn is_added(&self, name: &str) -> bool {
        self.words.iter().any(|words| words.contains(&name))
    }

    /// Whether a map is probably meant to be this element and not a value: one of its keys is known
    /// or similar to a known one. Under lenient reading, such a map is still read as the element.
    pub(crate) fn is_meant(&self, node: Node<'_>) -> bool {
        let is_known = |text: &str| self.has(text) || self.closest(text).is_some();
        node.entries().any(|(key, _)| key.text().is_some_and(is_known))
    }

    /// The keynames and words.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        let words = self.words.iter().copied().flatten().copied();
        self.keynames.iter().map(|keyname| keyname.name).chain(words)
    }

    /// Whether this is a word that has a meaning only in other elements.
    fn is_misplaced(&self, text: &str) -> bool {
        self.everywhere.iter().any(|words| words.contains(&text))
    }

    /// The most similar keyname or word, of this element or of others.
    fn closest(&self, text: &str) -> Option<&'static str> {
        closest(text, self.names().chain(self.everywhere.iter().copied().flatten().copied()))
    }

    /// The word that other languages call `text`.
    fn of_other_languages(&self, text: &str) -> Option<&'static str> {
        let is_condition = matches!(text, "if" | "when" | "only_if" | "enabled");
        Some("conditions").filter(|meant| is_condition && self.is_added(meant))
    }

    /// The error for an unknown key, which would otherwise silently have no effect. Of TOSCA 2.0,
    /// the grammar judges all keys but the words of the extension.
    pub(crate) fn unknown(&self, key: Node<'_>, reading: Reading) -> Option<Diagnostic> {
        let text = &*key.key_text();
        if self.has(text) {
            return None;
        }
        let (misplaced, meant) = (self.is_misplaced(text), self.closest(text));
        let is_own =
            self.section.is_none() || misplaced || meant.is_some_and(|meant| self.is_added(meant));
        if !is_own && v2_0::is_of(key.document()) {
            return None;
        }
        // A key that is not a string cannot be a private one.
        let may_be_private = reading == Reading::Lenient && key.text().is_some();
        let is_private = may_be_private && !misplaced && meant.is_none();
        (!is_private).then(|| self.error(key))
    }

    /// The error for an unknown key that seems to belong to another element.
    pub(crate) fn misplaced(&self, key: Node<'_>, help: impl Into<String>) -> Option<Diagnostic> {
        let text = &*key.key_text();
        let is_of_2_0 = v2_0::is_of(key.document()) && v2_0::grammar::has_field(text);
        let is_unknown = !self.has(text) && !is_of_2_0;
        is_unknown.then(|| self.error(key).help(help.into()))
    }

    fn error(&self, key: Node<'_>) -> Diagnostic {
        let text = &*key.key_text();
        let misplaced = self.is_misplaced(text);
        let message = if misplaced {
            format!("`{text}` has no meaning at {}", self.what)
        } else {
            format!("`{text}` is not a keyname of {}", self.what)
        };
        let meant = closest(text, self.names()).filter(|_| !misplaced);
        let meant = meant.or_else(|| self.of_other_languages(text));
        let error = Diagnostic::error(Code::UnknownKeyword, message)
            .at(key.span())
            .help(format!("known are {}", self.names().collect::<Vec<_>>().join(", ")))
            .help_opt(meant.map(|meant| Advice::did_you_mean(text, meant)));
        match self.section {
            Some(section) => error.section(section),
            None => error,
        }
    }
}

/// Lists keynames, with the content below those that have parts.
macro_rules! keynames {
    (@holds) => { $crate::tosca::shape::Holds::Value };
    (@holds $holds:expr) => { $holds };
    ($($name:literal $(=> $holds:expr)?),* $(,)?) => {
        &[$($crate::tosca::shape::Keyname {
            name: $name,
            holds: $crate::tosca::shape::keynames!(@holds $($holds)?),
        }),*]
    };
}
use keynames;

/// The values of `status` (section 3.6.10.3).
pub(crate) const STATUS: [&str; 4] = ["supported", "unsupported", "experimental", "deprecated"];
