//! Provides the built-in profiles: the normative types, and the non-normative types on request.

use super::grammar;
use super::{Family, TypeDefinition};
use crate::diagnostic::Diagnostics;
use crate::tosca::value::Primitive;
use cuvee_text::source::{BuiltInFile, FileId};
use cuvee_text::yaml::{self, Document, Limits, Node};
#[cfg(cuvee_npm)]
use flate2::{Decompress, FlushDecompress};
use std::sync::OnceLock;

/// The namespace of the normative types (section 3.1).
pub const NAMESPACE: &str = "http://docs.oasis-open.org/tosca/ns/simple/yaml/1.3";

/// The URI that is reserved for TOSCA, with everything below it (section 3.1.3.1).
const RESERVED: &str = "http://docs.oasis-open.org/tosca";

/// The names that functions have for what surrounds them (section 4.1).
pub(crate) const RESERVED_NAMES: [&str; 4] = ["SELF", "CONTAINER", "SOURCE", "TARGET"];

/// The name of the profile as a version and in an import (section 3.1).
pub const ALIAS: &str = "tosca_simple_yaml_1_3";

/// A file of types that is part of the program.
struct Profile {
    file: BuiltInFile,
    document: OnceLock<Document>,
}

/// A file of `presets/profiles`, by its number.
#[cfg(not(cuvee_npm))]
macro_rules! built_in {
    ($number:literal, $name:literal) => {
        BuiltInFile::new($number, $name, || {
            include_str!(concat!("../../../presets/profiles/", $name))
        })
    };
}

/// The same, packed by `wasm/build`: the module for browsers may have only so many bytes.
#[cfg(cuvee_npm)]
macro_rules! built_in {
    ($number:literal, $name:literal) => {
        BuiltInFile::new($number, $name, || {
            static TEXT: OnceLock<String> = OnceLock::new();
            TEXT.get_or_init(|| {
                unpacked(include_bytes!(concat!(env!("CUVEE_PACKED"), "/", $name, ".deflate")))
            })
        })
    };
}

#[cfg(cuvee_npm)]
fn unpacked(packed: &[u8]) -> String {
    // More bytes would be lost, which each test of the module would see.
    let mut text = Vec::with_capacity(1 << 16);
    let _ = Decompress::new(false).decompress_vec(packed, &mut text, FlushDecompress::Finish);
    String::from_utf8(text).unwrap_or_default()
}

static NORMATIVE: Profile = Profile::new(built_in!(0, "tosca_simple_1_3.yaml"));

static NON_NORMATIVE: Profile = Profile::new(built_in!(1, "tosca_simple_1_3_non_normative.yaml"));

/// Whether a namespace is reserved for TOSCA.
pub(crate) fn is_reserved(uri: &str) -> bool {
    uri.strip_prefix(RESERVED)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '#', '?']))
}

impl Profile {
    const fn new(file: BuiltInFile) -> Self {
        Self { file, document: OnceLock::new() }
    }

    fn document(&'static self) -> &'static Document {
        self.document.get_or_init(|| {
            let parse = |text| yaml::parse(self.file.id(), text, &Limits::default());
            // The text is fixed, and a test checks that it parses.
            let parsed = parse(self.file.source().text().clone()).or_else(|_| parse("".into()));
            parsed.unwrap_or_else(|_| unreachable!("an empty text is a document"))
        })
    }
}

/// The types that every template has without importing them: chapters 5 and 8.
pub fn normative() -> &'static Document {
    NORMATIVE.document()
}

/// The file of the normative types.
pub(super) fn normative_file() -> FileId {
    NORMATIVE.file.id()
}

/// The definitions of the normative types, in the order of the file.
pub(super) fn definitions() -> &'static [TypeDefinition<'static>] {
    static DEFINITIONS: OnceLock<Vec<TypeDefinition<'static>>> = OnceLock::new();
    DEFINITIONS.get_or_init(|| {
        let mut diagnostics = Diagnostics::default();
        let types = grammar::types(normative(), &mut diagnostics).into_iter();
        types.map(|written| grammar::definition(written, &mut diagnostics)).collect()
    })
}

/// The types of chapter 9, which only examples use.
pub fn non_normative() -> &'static Document {
    NON_NORMATIVE.document()
}

/// Whether this is one of the names of a type of chapter 9.
pub(super) fn is_non_normative(family: Family, name: &str) -> bool {
    let mut types =
        non_normative().root().get(family.keyword()).into_iter().flat_map(Node::entries);
    types.any(|(key, definition)| {
        key.as_str() == Some(name) || other_names(definition).any(|other| other == name)
    })
}

/// The profile that a text is a copy of. Such copies are placed beside templates for tools that
/// need a file for every type.
pub(crate) fn of_text(text: &str) -> Option<&'static Document> {
    let copied =
        [&NORMATIVE, &NON_NORMATIVE].into_iter().find(|profile| profile.file.text() == text)?;
    Some(copied.document())
}

/// The names and texts of the profiles.
pub(crate) fn texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    [&NORMATIVE, &NON_NORMATIVE].into_iter().map(|it| (it.file.name(), it.file.text()))
}

/// Whether a file is one of the profiles.
pub fn is_built_in(file: FileId) -> bool {
    file.is_built_in()
}

/// The primitive type of this plain or qualified name.
pub fn primitive(name: &str) -> Option<&'static str> {
    Primitive::from_name(name).map(Primitive::name)
}

/// The names of a profile's type besides its full name: its shorthand, its qualified name, and
/// further ones (section 5.2).
pub(super) fn other_names(definition: Node<'_>) -> impl Iterator<Item = &str> {
    let metadata = definition.get("metadata");
    let names = ["shorthand", "qualified", "aliases"]
        .into_iter()
        .filter_map(move |key| metadata?.get(key)?.as_str());
    names.flat_map(|names| names.split(' '))
}
