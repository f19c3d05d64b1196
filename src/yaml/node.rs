//! The tree: one arena a document, nodes as cheap handles into it.

use crate::source::{FileId, Span};
use crate::value::Value;

/// A parsed document: an arena of nodes over the text of its file.
#[derive(Debug)]
pub struct Document {
    file: FileId,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A scalar.
    Scalar,
    /// A list.
    Sequence,
    /// A map.
    Mapping,
}

/// A scalar, typed by the YAML 1.2 core schema; only plain scalars are anything but strings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar<'a> {
    /// `null`, `~`, or nothing
    Null,
    /// `true`, `True`, `TRUE`, `false`, ...
    Bool(bool),
    /// `12`, `0o14`, `0xC`
    Int(i64),
    /// `1.5`, `.inf`; also an integer past 64 bits.
    Float(f64),
    /// Anything else.
    String(&'a str),
}

/// A handle to a node.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    document: &'a Document,
    id: u32,
}

impl Document {
    /// The root; a null scalar for an empty file.
    pub fn root(&self) -> Node<'_> {
        Node { document: self, id: 0 }
    }

    /// The file this is the document of.
    pub fn file(&self) -> FileId {
        self.file
    }
}

impl<'a> Node<'a> {
    /// What it is; an alias is what it stands for.
    pub fn kind(self) -> NodeKind {
        todo!()
    }

    /// Its place, without comments.
    pub fn span(self) -> Span {
        let _ = (self.document, self.id);
        todo!()
    }

    /// Keys and values in the order written, merge keys (`<<`) already merged; nothing for what is not a map.
    pub fn entries(self) -> impl ExactSizeIterator<Item = (Node<'a>, Node<'a>)> + Clone {
        std::iter::empty()
    }

    /// The items; nothing for what is not a list.
    pub fn items(self) -> impl ExactSizeIterator<Item = Node<'a>> + Clone {
        std::iter::empty()
    }

    /// The value of this key; scans, so not for large maps in a loop.
    pub fn get(self, _key: &str) -> Option<Node<'a>> {
        todo!()
    }

    /// The content of a scalar of whatever type, unquoted and unfolded.
    pub fn text(self) -> Option<&'a str> {
        todo!()
    }

    /// The typed scalar.
    pub fn scalar(self) -> Option<Scalar<'a>> {
        todo!()
    }

    /// The string, when it is one by the core schema.
    pub fn as_str(self) -> Option<&'a str> {
        todo!()
    }

    /// The boolean, when it is one by the core schema.
    pub fn as_bool(self) -> Option<bool> {
        todo!()
    }

    /// Whether this is a null scalar.
    pub fn is_null(self) -> bool {
        todo!()
    }

    /// What this is, for messages: `a map`, `a string`, `a number`, ...
    pub fn describe(self) -> &'static str {
        todo!()
    }

    /// The value, numbers with the text they were written as.
    pub fn to_value(self) -> Value {
        todo!()
    }
}
