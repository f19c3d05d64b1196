//! Represents a value to be checked: a node of a document, or a value outside any document, such as
//! one that a call assigns or an expression computes. The checks read both in the same way.

use super::timestamp::rfc_3339;
use cuvee_text::source::Span;
use cuvee_text::value::{Value, quote};
use cuvee_text::yaml::{Node, NodeKind, Scalar};
use std::borrow::Cow;

/// A value to be checked.
#[derive(Clone, Copy, Debug)]
pub enum Datum<'t> {
    /// A node of a document.
    Node(Node<'t>),
    /// A value outside any document.
    Value(&'t Value),
    /// A part of a value outside any document.
    Part(&'t Value),
    /// A key in a value outside any document.
    Key(&'t str),
}

impl<'t> From<Node<'t>> for Datum<'t> {
    fn from(node: Node<'t>) -> Self {
        Self::Node(node)
    }
}

impl<'t> From<&'t Value> for Datum<'t> {
    fn from(value: &'t Value) -> Self {
        Self::Value(value)
    }
}

impl<'t> Datum<'t> {
    /// The value itself.
    pub(crate) fn to_value(self) -> Value {
        match self {
            Self::Node(node) => node.to_value(),
            Self::Value(value) | Self::Part(value) => value.clone(),
            Self::Key(text) => text.into(),
        }
    }

    /// The node, if the value is one.
    pub(super) fn node(self) -> Option<Node<'t>> {
        if let Self::Node(node) = self { Some(node) } else { None }
    }

    /// The place of the value, if it has one.
    pub(super) fn span(self) -> Option<Span> {
        self.node().map(Node::span)
    }

    pub(super) fn kind(self) -> NodeKind {
        match self {
            Self::Node(node) => node.kind(),
            Self::Value(Value::List(_)) | Self::Part(Value::List(_)) => NodeKind::Sequence,
            Self::Value(Value::Map(_)) | Self::Part(Value::Map(_)) => NodeKind::Mapping,
            _ => NodeKind::Scalar,
        }
    }

    /// The scalar, if the value is one.
    pub(super) fn scalar(self) -> Option<Scalar<'t>> {
        Some(match self {
            Self::Node(node) => return node.scalar(),
            Self::Key(text) => Scalar::String(text),
            Self::Value(value) | Self::Part(value) => match value {
                Value::Null => Scalar::Null,
                Value::Bool(value) => Scalar::Bool(*value),
                Value::Number(number) => number
                    .as_int()
                    .filter(|_| number.is_integer())
                    .map_or_else(|| Scalar::Float(number.as_f64()), Scalar::Int),
                Value::String(text) => Scalar::String(text),
                Value::List(_) | Value::Map(_) => return None,
            },
        })
    }

    /// The scalar that the text of a key may also mean, because the notation of the key is lost.
    pub(super) fn key(self) -> Option<Scalar<'t>> {
        if let Self::Key(text) = self { Some(Scalar::plain(text)) } else { None }
    }

    /// The text of a scalar as it is written.
    pub(super) fn text(self) -> Option<&'t str> {
        match self {
            Self::Node(node) => node.text(),
            Self::Key(text) => Some(text),
            Self::Value(Value::String(text)) | Self::Part(Value::String(text)) => Some(text),
            Self::Value(Value::Number(number)) | Self::Part(Value::Number(number)) => number.text(),
            _ => None,
        }
    }

    /// The text of the value as a key: the text of a scalar, or the canonical text of a list or a
    /// map.
    pub(super) fn key_text(self) -> Cow<'t, str> {
        match self {
            Self::Node(node) => node.key_text(),
            _ => Cow::Borrowed(self.text().unwrap_or_default()),
        }
    }

    /// Whether the value is the canonical text of a list or a map. A key outside any document has
    /// this text in place of the list or map.
    pub(super) fn stands_for(self, kind: NodeKind) -> bool {
        match (self, kind) {
            (Self::Key(text), NodeKind::Sequence) => text.starts_with('[') && text.ends_with(']'),
            (Self::Key(text), NodeKind::Mapping) => text.starts_with('{') && text.ends_with('}'),
            _ => false,
        }
    }

    /// The text of a scalar as a document would contain it. Returns nothing for null, which has no
    /// text.
    pub(super) fn written(self) -> Option<Cow<'t, str>> {
        match self {
            Self::Value(Value::Null) | Self::Part(Value::Null) => None,
            Self::Value(value) | Self::Part(value) if self.kind() == NodeKind::Scalar => {
                Some(value.to_string().into())
            }
            _ => self.text().map(Cow::Borrowed),
        }
    }

    pub(super) fn as_str(self) -> Option<&'t str> {
        if let Some(Scalar::String(text)) = self.scalar() { Some(text) } else { None }
    }

    /// Whether it is a timestamp as TOSCA 2.0 writes them.
    pub(super) fn is_rfc_3339(self) -> bool {
        self.as_str().and_then(rfc_3339).is_some()
    }

    /// Whether the value is written as an integer with any number of digits.
    pub(super) fn is_integer(self) -> bool {
        match self {
            Self::Node(node) => node.is_integer(),
            Self::Value(Value::Number(number)) | Self::Part(Value::Number(number)) => {
                number.is_integer()
            }
            _ => false,
        }
    }

    /// The items, if the value is a list.
    pub(super) fn items(self) -> impl Iterator<Item = Datum<'t>> {
        let values = match self {
            Self::Value(Value::List(items)) | Self::Part(Value::List(items)) => &**items,
            _ => &[],
        };
        let nodes = self.node().into_iter().flat_map(|node| node.items().map(Datum::Node));
        nodes.chain(values.iter().map(Datum::Part))
    }

    /// The entries, if the value is a map.
    pub(super) fn entries(self) -> impl Iterator<Item = (Datum<'t>, Datum<'t>)> {
        let values = match self {
            Self::Value(Value::Map(entries)) | Self::Part(Value::Map(entries)) => &**entries,
            _ => &[],
        };
        let nodes = self.node().into_iter().flat_map(Node::entries);
        let nodes = nodes.map(|(key, value)| (Datum::Node(key), Datum::Node(value)));
        nodes.chain(values.iter().map(|(key, value)| (Datum::Key(key), Datum::Part(value))))
    }

    /// The number of characters of a scalar, items of a list, or entries of a map.
    pub(super) fn size(self) -> usize {
        match self.kind() {
            NodeKind::Scalar => self.text().unwrap_or_default().chars().count(),
            NodeKind::Sequence => self.items().count(),
            NodeKind::Mapping => self.entries().count(),
        }
    }

    pub(super) fn is_unbounded(self) -> bool {
        self.as_str() == Some("UNBOUNDED")
    }

    /// The value for messages, shortened if it is long.
    pub(super) fn shown(self) -> String {
        match self {
            Self::Node(node) => match node.text() {
                None | Some("") => node.describe().to_owned(),
                Some(text) => cut(text),
            },
            Self::Key("") => "a string".to_owned(),
            Self::Key(text) => cut(text),
            Self::Value(value) | Self::Part(value) => match value.as_str() {
                Some("") => value.describe().to_owned(),
                _ => cut(&value.to_string()),
            },
        }
    }

    /// The value for messages about its type. Outside a document, the value itself has to be shown.
    pub(super) fn described(self) -> String {
        match self {
            Self::Value(value) => quote(value),
            Self::Part(value) => format!("{} in it", quote(value)),
            _ => self.shown(),
        }
    }
}

fn cut(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST).and_then(|(at, _)| text.get(..at)) {
        Some(start) => format!("`{start}…`"),
        None => format!("`{text}`"),
    }
}
