//! The Universal Variability Language: an indented tree of features with attributes, and
//! constraints below it.
//!
//! Read is its boolean level, group cardinalities that the other groups express, attributes of any
//! kind, and typed features that are always there. Names that are no identifiers stand in double
//! quotes. What quotes cannot hold (`.`, `"`, `'` in strings, line ends, `%`) is written as in
//! URLs: `version = 1%2E10`; that is undone when read.

mod lexer;
mod read;
mod write;

pub use read::read;

/// What may not be a name without quotes.
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

/// The characters that are written as `%XX`.
const ESCAPED: [char; 7] = ['%', '"', '\'', '.', '\n', '\r', '\t'];
