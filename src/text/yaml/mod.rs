//! YAML 1.2 with the place of every node, and a writer that keeps what the author wrote.
//!
//! A document is one arena: nodes are records of twenty bytes, scalars are ranges of the source
//! text wherever reading them changes nothing, and an alias is a node that stands for another one,
//! so the tree is a graph without cycles and nothing is ever copied. Large files are read in parts,
//! by all cores; the document is the same wherever it was cut. Comments and blank lines lie in a
//! table beside the tree, each with the map entry or list item that it goes with.
//!
//! Writing a document back as it was read gives the same bytes for what editors and formatters
//! usually produce. Normalised are: line ends (`\n`), one line end at the end, blank lines at the
//! end, spaces in blank lines, byte order marks, the end marker `...`; the indentation of comments
//! (that of the entry they go with) and comments between a key and its scalar (above the entry);
//! spaces before `:`, more than one space behind `-`, values and items that begin on the line below
//! their key or dash, and what stands in the line of `---`; scalar keys behind `?` that need none,
//! comments between a `?` and its key (above the entry), and a `?` without a colon; and flow
//! collections with aliases or merge keys in them (one line). Anchors, aliases and merge keys are
//! gone, since all are expanded; so are comments at a `<<`.

mod json;
mod key;
mod node;
mod parse;
mod quote;
mod replace;
mod scalar;

#[cfg(test)]
mod tests;
mod trivia;
mod view;
mod write;

pub use json::write_json;
pub use node::{Document, Node, NodeIdentity, NodeKind, Scalar};
pub(crate) use parse::missing_blank;
pub use parse::{Job, Keep, Limits, parse, parse_all, parse_filtered};
pub(crate) use replace::with_strings;
pub(crate) use scalar::switch;
pub(crate) use view::{OutEntry, OutNode};
pub(crate) use write::{OpenMark, OpenText, write_open};
pub use write::{Out, OutKey, write_flow, write_line, write_yaml};
