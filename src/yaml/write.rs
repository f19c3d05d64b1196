//! From an output tree to text.

use super::node::Node;
use crate::value::Value;
use std::borrow::Cow;

/// A key of an output map.
#[derive(Clone, Debug)]
pub enum OutKey<'a> {
    /// As its author wrote it, with the comments above and behind it.
    Source(Node<'a>),
    /// A new one.
    New(Cow<'a, str>),
}

/// An output tree: parts of the source as they are, and what is new.
#[derive(Clone, Debug)]
pub enum Out<'a> {
    /// A whole subtree as its author wrote it.
    Source(Node<'a>),
    /// A new string; quoted where a reader would take it for something else.
    String(Cow<'a, str>),
    /// A new value.
    Value(Value),
    /// A map; `like` is the source collection whose style it takes.
    Map { entries: Vec<(OutKey<'a>, Out<'a>)>, like: Option<Node<'a>> },
    /// A list; each item with the source item whose comments it keeps.
    Seq { items: Vec<(Option<Node<'a>>, Out<'a>)>, like: Option<Node<'a>> },
}

/// Writes YAML.
pub fn write_yaml(out: &Out<'_>) -> String {
    let _ = out;
    todo!()
}

/// Writes JSON, indented by two.
pub fn write_json(out: &Out<'_>) -> String {
    let _ = out;
    todo!()
}
