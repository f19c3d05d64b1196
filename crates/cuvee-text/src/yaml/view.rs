//! Reads an output tree as the document that it will become, with the place of each part in the
//! source.

use super::node::{Node, NodeKind};
use super::write::{Along, Item, ItemKey, Out};
use crate::source::Span;
use crate::value::Value;
use std::borrow::Cow;

/// A node of an output tree.
#[derive(Clone, Copy)]
pub struct OutNode<'o, 'a> {
    item: Item<'o, 'a>,
    span: Span,
}

/// An entry of a map in an output tree.
#[derive(Clone)]
pub struct OutEntry<'o, 'a> {
    /// The text of the key. For a key that is no scalar, its canonical text.
    pub name: Cow<'o, str>,
    /// The place of the key. For a new key, the place of the map that contains it.
    pub span: Span,
    /// The value of the entry.
    pub value: OutNode<'o, 'a>,
}

impl<'o, 'a> OutNode<'o, 'a> {
    /// The root of a tree.
    pub fn root(out: &'o Out<'a>) -> Self {
        Self::new(out.into(), Span::DETACHED)
    }

    /// Creates a node. A new node has the place of the node around it.
    fn new(item: Item<'o, 'a>, around: Span) -> Self {
        Self { item, span: item.like().map_or(around, Node::span) }
    }

    /// The source node, if the whole node is as its author wrote it.
    pub fn source(self) -> Option<Node<'a>> {
        if let Item::Source(node) = self.item { Some(node) } else { None }
    }

    /// The place of the node in the source.
    pub fn span(self) -> Span {
        self.span
    }

    /// The kind of the node.
    #[inline]
    pub fn kind(self) -> NodeKind {
        self.item.kind()
    }

    /// The entries of a map. Empty if the node is no map.
    pub fn entries(self) -> Vec<OutEntry<'o, 'a>> {
        let mut entries = Vec::new();
        self.each_entry(|entry| entries.push(entry));
        entries
    }

    /// Calls `found` with each entry of a map.
    fn each_entry(self, mut found: impl FnMut(OutEntry<'o, 'a>)) {
        self.item.each_entry(|key, value, Along { lifted, .. }| {
            let (name, span) = match key {
                ItemKey::Source(key) => (key.key_text(), key.span()),
                ItemKey::Renamed(key, name) => (Cow::Borrowed(name), key.span()),
                ItemKey::New(name) => (Cow::Borrowed(name), self.span),
            };
            let value = Self::new(value, lifted.map_or(span, Node::span));
            found(OutEntry { name, span, value });
        });
    }

    /// The items of a list, each with its position in the list of the source. Empty if the node is
    /// no list.
    pub fn items(self) -> Vec<(usize, Self)> {
        let source = self.item.like().map(Node::items);
        let mut rest = source.into_iter().flatten().enumerate();
        let mut items = Vec::new();
        let mut last: Option<(Node<'a>, usize)> = None;
        self.item.each_item(|owner, item, Along { lifted, .. }| {
            let place = lifted.or(owner).map_or(self.span, Node::span);
            let is_owner = |(_, item): &(usize, Node<'a>)| {
                owner.is_some_and(|owner| owner.stands_where(*item))
            };
            // An item with the same owner as the one before has the same position.
            let same = last.filter(|(before, _)| owner.is_some_and(|it| it.stands_where(*before)));
            // A new item has no position in the source. It comes behind the existing items.
            let position = same.map(|(_, position)| position).unwrap_or_else(|| {
                rest.find(is_owner).map_or(items.len(), |(position, _)| position)
            });
            last = owner.map(|owner| (owner, position));
            items.push((position, Self::new(item, place)));
        });
        items
    }

    /// The value of a key in a map.
    #[inline]
    pub fn get(self, key: &str) -> Option<Self> {
        match self.item {
            Item::Source(node) => {
                node.get(key).map(|node| Self::new(Item::Source(node), self.span))
            }
            _ => {
                let mut first = None;
                self.each_entry(|entry| {
                    if first.is_none() && entry.name == key {
                        first = Some(entry.value);
                    }
                });
                first
            }
        }
    }

    /// The content of a scalar of any type but null.
    pub fn text(self) -> Option<Cow<'o, str>> {
        match self.item {
            Item::Source(node) => node.text().filter(|_| !node.is_null()).map(Cow::Borrowed),
            Item::Out(Out::String(text)) => Some(Cow::Borrowed(text)),
            Item::Value(Value::String(text)) => Some(Cow::Borrowed(text)),
            Item::Value(Value::Number(number)) => Some(Cow::Owned(number.to_string())),
            Item::Value(Value::Bool(value)) => {
                Some(Cow::Borrowed(if *value { "true" } else { "false" }))
            }
            _ => None,
        }
    }

    /// The value of the node.
    pub fn to_value(self) -> Value {
        self.item.to_value()
    }
}

impl<'a> Item<'_, 'a> {
    fn to_value(self) -> Value {
        match self {
            Self::Source(node) => node.to_value(),
            Self::Value(value) => value.clone(),
            Self::Out(Out::String(text)) => Value::from(&**text),
            Self::Out(Out::Seq { .. }) => {
                let mut items = Vec::new();
                self.each_item(|_, item, _| items.push(item.to_value()));
                Value::List(items.into())
            }
            Self::Out(_) => {
                let mut entries = Vec::new();
                self.each_entry(|key, value, _| {
                    let name = match key {
                        ItemKey::Source(key) => key.key_text(),
                        ItemKey::Renamed(_, name) | ItemKey::New(name) => Cow::Borrowed(name),
                    };
                    entries.push((name.into(), value.to_value()));
                });
                Value::Map(entries.into())
            }
        }
    }
}

impl Node<'_> {
    /// Whether both nodes are at the same place of the same document. An alias is at its own place.
    fn stands_where(self, other: Node<'_>) -> bool {
        std::ptr::eq(self.document, other.document) && self.id == other.id
    }
}
