//! The Universal Variability Language: an indented tree of features with attributes, and
//! constraints below it.
//!
//! Read is its boolean level, group cardinalities, attributes of any kind, and typed features that are
//! always there. Names that are no identifiers stand in double
//! quotes. What quotes cannot hold (`.`, `"`, `'` in strings, line ends, `%`) is written as in
//! URLs: `version = 1%2E10`; that is undone when read.

mod lexer;
mod read;
mod write;

pub use read::read;

/// What is written in quotes where it is a name. Read as names are also those that mean nothing else
/// where they stand.
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

/// Keywords that begin or end something wherever they stand.
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

/// The characters that are written as `%XX`.
const ESCAPED: [char; 7] = ['%', '"', '\'', '.', '\n', '\r', '\t'];
