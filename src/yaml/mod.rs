//! YAML 1.2 with the place of every node, and a writer that keeps what the author wrote.

mod node;
mod parse;
mod write;

pub use node::{Document, Node, NodeKind, Scalar};
pub use parse::{Limits, parse, parse_filtered};
pub use write::{Out, OutKey, write_json, write_yaml};
