//! Makes a text of each map key: the text of a scalar, or the canonical text of a collection.
//!
//! The canonical text of a collection is its flow style in one line, with the entries of maps in
//! the order of their keys. Two keys are equal when their texts are equal.

use super::node::{Document, Node, NodeStyle, Record, Scalar};
use super::quote::push_string;
use std::borrow::Cow;

/// The nodes of a document, which may still be under construction.
#[derive(Clone, Copy)]
pub(super) struct Records<'d> {
    pub(super) nodes: &'d [Record],
    pub(super) children: &'d [u32],
    pub(super) text: &'d str,
    pub(super) cooked: &'d str,
}

impl<'d> Records<'d> {
    /// The number and record of a node; for an alias, those of its target.
    pub(super) fn resolved(self, id: u32) -> (u32, &'d Record) {
        let record = &self.nodes[id as usize];
        match record.shape {
            NodeStyle::Alias => (record.first, &self.nodes[record.first as usize]),
            _ => (id, record),
        }
    }

    /// The text of a key.
    #[inline]
    pub(super) fn key_text(self, id: u32) -> Cow<'d, str> {
        let (_, record) = self.resolved(id);
        if record.shape.is_scalar() {
            return Cow::Borrowed(self.scalar_text(record));
        }
        let mut text = String::new();
        self.push(record, &mut text);
        Cow::Owned(text)
    }

    #[inline]
    pub(super) fn scalar_text(self, record: &Record) -> &'d str {
        let from = if record.cooked { self.cooked } else { self.text };
        from.get(record.first as usize..record.first as usize + record.len as usize)
            .unwrap_or_default()
    }

    #[inline]
    pub(super) fn children_of(self, record: &Record) -> &'d [u32] {
        let first = record.first as usize;
        self.children.get(first..first + record.len as usize).unwrap_or_default()
    }

    fn push(self, record: &Record, out: &mut String) {
        let children = self.children_of(record);
        match record.shape {
            NodeStyle::BlockMap | NodeStyle::FlowMap => {
                out.push('{');
                self.push_entries(children.as_chunks::<2>().0, out);
                out.push('}');
            }
            NodeStyle::BlockList | NodeStyle::FlowList => {
                out.push('[');
                for (index, &item) in children.iter().enumerate() {
                    separate(index, out);
                    self.push(self.resolved(item).1, out);
                }
                out.push(']');
            }
            _ => match record.typing.read(self.scalar_text(record)) {
                Some(Scalar::String(text)) => push_string(out, text, true),
                None | Some(Scalar::Null) => out.push_str("null"),
                Some(Scalar::Bool(value)) => out.push_str(if value { "true" } else { "false" }),
                Some(Scalar::Int(_) | Scalar::Float(_)) => out.push_str(self.scalar_text(record)),
            },
        }
    }

    fn push_entries(self, entries: &[[u32; 2]], out: &mut String) {
        let mut entries: Vec<_> = entries
            .iter()
            .map(|&[key, value]| {
                let mut text = String::new();
                self.push(self.resolved(key).1, &mut text);
                (text, value)
            })
            .collect();
        entries.sort_unstable();
        for (index, (key, value)) in entries.into_iter().enumerate() {
            separate(index, out);
            out.push_str(&key);
            out.push_str(": ");
            self.push(self.resolved(value).1, out);
        }
    }
}

fn separate(index: usize, out: &mut String) {
    if index > 0 {
        out.push_str(", ");
    }
}

impl Document {
    pub(super) fn records(&self) -> Records<'_> {
        Records {
            nodes: &self.nodes,
            children: &self.children,
            text: &self.text,
            cooked: &self.cooked,
        }
    }

    /// Whether the document contains keys that are no scalars.
    pub fn has_collection_keys(&self) -> bool {
        self.collection_keys
    }
}

impl<'a> Node<'a> {
    /// The text of the node as a key: the text of a scalar, or the canonical text of a list or map:
    /// its flow style in one line, with entries in the order of their keys.
    pub fn key_text(self) -> Cow<'a, str> {
        self.document.records().key_text(self.id)
    }
}
