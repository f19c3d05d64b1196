//! Import definitions (TOSCA Simple Profile 1.3, section 3.6.8).

use super::conditional::is_keyword;
use crate::text::yaml::{Node, NodeKind};

/// The keynames of an import definition.
pub const IMPORT_KEYS: &[&str] = &["file", "repository", "namespace_prefix", "namespace_uri"];

/// An import as it is written.
#[derive(Clone, Copy, Debug)]
pub struct ImportDefinition<'a> {
    /// The whole item.
    pub item: Node<'a>,
    /// What its keynames stand in; the item itself in the short form.
    pub body: Node<'a>,
    /// The name of the file.
    pub file: &'a str,
    /// The name of a repository.
    pub repository: Option<Node<'a>>,
    /// The prefix of the names of what is imported.
    pub prefix: Option<&'a str>,
    /// The namespace of what is imported, where it has none of its own.
    pub uri: Option<&'a str>,
}

impl<'a> ImportDefinition<'a> {
    /// Reads an import: `- file`, `- file: file`, or with a name, as in section 3.10.3.9.3, `-
    /// name: file` and `- name: {file: file}`.
    pub fn read(item: Node<'a>) -> Option<Self> {
        let body = named(item).unwrap_or(item);
        let text = |keyname| body.get(keyname).and_then(Node::as_str);
        Some(Self {
            item,
            body,
            file: body.as_str().or_else(|| text("file"))?,
            repository: body.get("repository"),
            prefix: text("namespace_prefix"),
            uri: text("namespace_uri"),
        })
    }

    /// Those of a service template that can be read.
    pub fn all(root: Node<'a>) -> impl Iterator<Item = Self> {
        root.get("imports").into_iter().flat_map(Node::items).filter_map(Self::read)
    }
}

/// What stands behind a name that is not a keyname.
fn named(item: Node<'_>) -> Option<Node<'_>> {
    let (name, body) = item.entries().next().filter(|_| item.entries().len() == 1)?;
    let name = name.text().unwrap_or_default();
    let is_name = !IMPORT_KEYS.contains(&name) && !is_keyword(name);
    (is_name && (body.kind() == NodeKind::Mapping || body.as_str().is_some())).then_some(body)
}
