//! Reads and writes the Universal Variability Language (UVL): an indented tree of features with
//! attributes, followed by constraints.
//!
//! The reader supports the boolean level, group cardinalities, attributes of any kind, and typed
//! features that are always present. Names that are not identifiers are written in double quotes.
//! Characters that quotes cannot contain (`.`, `"`, `'` in strings, line ends, `%`) are
//! percent-encoded as in URLs: `version = 1%2E10`. The reader decodes them.

mod lexer;
mod read;
mod write;

pub use read::read;

/// Words that are quoted if they are names. The reader also accepts them unquoted where they cannot
/// mean anything else.
const KEYWORDS: [&str; 25] = [
    "include",
    "features",
    "imports",
    "namespace",
    "as",
    "constraint",
    "constraints",
    "cardinality",
    "String",
    "Boolean",
    "Integer",
    "Real",
    "len",
    "sum",
    "avg",
    "floor",
    "ceil",
    "Type",
    "Arithmetic",
    "or",
    "alternative",
    "optional",
    "mandatory",
    "true",
    "false",
];

/// Keywords that have a structural meaning everywhere.
const STRUCTURE: [&str; 12] = [
    "include",
    "features",
    "imports",
    "namespace",
    "constraints",
    "cardinality",
    "or",
    "alternative",
    "optional",
    "mandatory",
    "true",
    "false",
];

/// The characters that are percent-encoded.
const ESCAPED: [char; 7] = ['%', '"', '\'', '.', '\n', '\r', '\t'];
