//! What may be said of the things that types and templates are made of: one table, from which the
//! parser of templates, the grammar of types, validation and comparing read.
//!
//! The keynames are those of TOSCA Simple Profile 1.3. What an extension adds to them comes with a
//! [`Vocabulary`].

mod definitions;
mod templates;

pub(crate) use definitions::{
    ACTIVITY, ARTIFACT, ATTRIBUTE, CALL_OPERATION, CAPABILITY, CAPABILITY_FILTER, DELEGATE,
    EVENT_FILTER, FILTER, IMPLEMENTATION, IMPORT, INLINE, INTERFACE, NOTIFICATION, OPERATION,
    PARAMETER, PRECONDITION, PROPERTY, REPOSITORY, REQUIREMENT, REQUIREMENT_RELATIONSHIP, SCHEMA,
    SET_STATE, STEP, TRIGGER, TRIGGER_CONDITION, WORKFLOW, of_type,
};
pub(crate) use templates::{
    ATTRIBUTE_MAPPING, CAPABILITY_ASSIGNMENT, CAPABILITY_MAPPING, GROUP, NODE, POLICY,
    PROPERTY_MAPPING, RELATIONSHIP, RELATIONSHIP_IN_PLACE, REQUIREMENT_ASSIGNMENT,
    REQUIREMENT_MAPPING, SERVICE, SUBSTITUTION, TOPOLOGY,
};

use crate::text::diagnostic::{Advice, Code, Diagnostic, closest};
use crate::text::yaml::Node;

/// What may be said of something.
pub(crate) struct Shape {
    /// What it is, for messages.
    pub what: &'static str,
    /// Where its grammar is.
    pub section: &'static str,
    /// The keyname whose value may stand for all of it.
    pub short: Option<&'static str>,
    /// Its keynames.
    pub keynames: &'static [Keyname],
}

/// A keyname.
pub(crate) struct Keyname {
    /// As it is written.
    pub name: &'static str,
    /// What is below it.
    pub holds: Holds,
}

/// What is below a keyname, as far as it has parts of its own.
pub(crate) enum Holds {
    /// A value.
    Value,
    /// A list whose order and repetitions do not count.
    Set,
    /// One map of this shape.
    One(&'static Shape),
    /// Maps of this shape by name, or a list of them; with what each of them is called.
    Named(&'static str, &'static Shape),
    /// A list of maps of this shape, of which each goes by its short form where it has no name.
    Listed(&'static str, &'static Shape),
}

/// How strictly keys are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Every key is known.
    Strict,
    /// What is far from everything known is somebody's own.
    Lenient,
}

/// Keynames, and the words that an extension of TOSCA adds to them.
#[derive(Clone, Copy)]
pub(crate) struct Vocabulary {
    /// What they are said of, for messages.
    pub what: &'static str,
    /// Where the grammar is, where TOSCA has one.
    pub section: Option<&'static str>,
    /// The keynames of TOSCA.
    pub keynames: &'static [Keyname],
    /// What the extension adds here.
    pub words: &'static [&'static [&'static str]],
    /// What the extension adds anywhere: elsewhere than here that has no meaning.
    pub everywhere: &'static [&'static [&'static str]],
}

impl Shape {
    /// Whether this is one of its keynames.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.keynames.iter().any(|keyname| keyname.name == name)
    }

    /// Whether a map has one of its keynames.
    pub(crate) fn is_in(&self, node: Node<'_>) -> bool {
        node.entries().any(|(key, _)| key.text().is_some_and(|text| self.has(text)))
    }

    /// The names of its keynames.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        self.keynames.iter().map(|keyname| keyname.name)
    }

    /// What to say of a key that is none of its keynames; nothing of one that is.
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
    /// A shape with the words that an extension adds to it, of those that it has.
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

    /// The keynames alone, to show what may be said where nothing is extended.
    pub(crate) fn of_tosca(self) -> Self {
        Self { words: &[], ..self }
    }

    /// Whether this is one of the keynames or words.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.is_added(name) || self.keynames.iter().any(|keyname| keyname.name == name)
    }

    /// Whether this is one of the words, and no keyname of TOSCA.
    pub(crate) fn is_added(&self, name: &str) -> bool {
        self.words.iter().any(|words| words.contains(&name))
    }

    /// Whether a map is meant to say such, and is not a value: one of its keys is known, or close
    /// to what is. So it is read where keys are judged leniently, too.
    pub(crate) fn is_meant(&self, node: Node<'_>) -> bool {
        let is_known = |text: &str| self.has(text) || self.closest(text).is_some();
        node.entries().any(|(key, _)| key.text().is_some_and(is_known))
    }

    /// The keynames and words.
    fn names(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        let words = self.words.iter().copied().flatten().copied();
        self.keynames.iter().map(|keyname| keyname.name).chain(words)
    }

    /// Whether it is a word that has a meaning elsewhere.
    fn is_misplaced(&self, text: &str) -> bool {
        self.everywhere.iter().any(|words| words.contains(&text))
    }

    /// The keyname or word that is meant, here or elsewhere.
    fn closest(&self, text: &str) -> Option<&'static str> {
        closest(text, self.names().chain(self.everywhere.iter().copied().flatten().copied()))
    }

    /// What to say of a key that is not known: it would silently have no effect.
    pub(crate) fn unknown(&self, key: Node<'_>, reading: Reading) -> Option<Diagnostic> {
        let text = &*key.key_text();
        // What is no string is nobody's own.
        let reading = if key.text().is_some() { reading } else { Reading::Strict };
        if self.has(text) {
            return None;
        }
        let misplaced = self.is_misplaced(text);
        let meant = self.closest(text);
        if reading == Reading::Lenient && !misplaced && meant.is_none() {
            return None;
        }
        let message = if misplaced {
            format!("`{text}` has no meaning at {}", self.what)
        } else {
            format!("`{text}` is not a keyname of {}", self.what)
        };
        let error = Diagnostic::error(Code::UnknownKeyword, message)
            .at(key.span())
            .help(format!("known are {}", self.names().collect::<Vec<_>>().join(", ")));
        let meant = meant.filter(|_| !misplaced).map(|meant| Advice::did_you_mean(text, meant));
        let error = error.help_opt(meant);
        Some(match self.section {
            Some(section) => error.section(section),
            None => error,
        })
    }
}

impl Vocabulary {
    /// What to say of a key that is not known, and seems to belong elsewhere.
    pub(crate) fn misplaced(&self, key: Node<'_>, help: impl Into<String>) -> Option<Diagnostic> {
        let error = self.unknown(key, Reading::Strict)?;
        Some(error.help(help.into()))
    }
}

/// Lists keynames, with what is below those that have parts.
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

/// Section 3.6.10.3.
pub(crate) const STATUS: [&str; 4] = ["supported", "unsupported", "experimental", "deprecated"];
