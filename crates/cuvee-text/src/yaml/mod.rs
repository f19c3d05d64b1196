//! Reads YAML 1.2 with the place of every node, and writes it back as its author wrote it.
//!
//! A document is one arena. Nodes are records of twenty bytes. Scalars are ranges of the source
//! text wherever reading changes nothing in them. An alias is a node that refers to another one, so
//! that the tree is a graph without cycles and nothing is copied. Large files are read in parts, on
//! all cores; the document is the same wherever the file was cut. Comments and blank lines are in a
//! table beside the tree, each with the map entry or list item that it belongs to.
//!
//! A document that is written back as it was read has the same bytes, for the text that editors and
//! formatters usually produce. The following is normalised: line ends (`\n`), one line end at the
//! end, blank lines at the end, spaces in blank lines, byte order marks, and the end marker `...`;
//! the indentation of comments (that of the entry they belong to), and comments between a key and
//! its scalar (above the entry); spaces before `:`, more than one space behind `-`, values and
//! items that begin on the line below their key or dash, and whatever follows `---` in its line;
//! scalar keys behind a `?` that they do not need, comments between a `?` and its key (above the
//! entry), and a `?` without a colon; and flow collections with aliases or merge keys in them (one
//! line). Anchors, aliases and merge keys are lost, because all are expanded; so are comments at a
//! `<<`.

mod json;
mod key;
mod node;
mod parse;
mod quote;
mod repair;
mod replace;
mod scalar;

#[cfg(test)]
mod tests;
mod trivia;
mod view;
mod write;

pub use json::write_json;
pub use node::{Document, Node, NodeIdentity, NodeKind, Scalar};
pub use parse::missing_blank;
pub use parse::{Job, Keep, Limits, parse, parse_all, parse_filtered};
pub use repair::{RepairEdit, Repaired, repair};
pub use replace::with_strings;
pub use scalar::switch;
pub use view::{OutEntry, OutNode};
pub use write::{OpenMark, OpenText, write_open};
pub use write::{Out, OutKey, write_flow, write_line, write_yaml};
