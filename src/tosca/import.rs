//! Reads import definitions (section 3.6.8).

use super::shape::IMPORT;
use super::types::profile;
use super::v2_0;
use cuvee_text::source::FileId;
use cuvee_text::yaml::{Limits, Node, NodeKind, parse};
use memchr::memmem;
use std::path::Path;

/// An import as the template has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImportDefinition<'a> {
    /// The whole item in the list of imports.
    pub item: Node<'a>,
    /// The name of the import, where it has one.
    pub name: Option<Node<'a>>,
    /// The map with the keynames. In the short form, the item itself.
    pub body: Node<'a>,
    /// The name of the imported file or profile.
    pub file: &'a str,
    /// Whether the import names a profile, as in TOSCA 2.0.
    pub is_profile: bool,
    /// The name of the repository that contains the file.
    pub repository: Option<Node<'a>>,
    /// The prefix of the names of the imported types.
    pub prefix: Option<&'a str>,
    /// The namespace of the imported types, where the file has none of its own.
    pub uri: Option<&'a str>,
}

impl<'a> ImportDefinition<'a> {
    /// Reads an import: `- file`, `- file: file`, or with a name, as in section 3.10.3.9.3, `-
    /// name: file` and `- name: {file: file}`.
    pub(crate) fn read(item: Node<'a>) -> Option<Self> {
        let named = named(item);
        let body = named.map_or(item, |(_, body)| body);
        let text = |keyname| body.get(keyname).and_then(Node::as_str);
        Some(Self {
            item,
            name: named.map(|(name, _)| name),
            body,
            file: body.as_str().or_else(|| text("file"))?,
            is_profile: text("file").is_some_and(|_| {
                let file = body.entries().find(|(key, _)| key.text() == Some("file"));
                file.is_some_and(|(key, _)| v2_0::written(key) == "profile")
            }),
            repository: body.get("repository"),
            prefix: text("namespace_prefix"),
            uri: text("namespace_uri"),
        })
    }

    /// All imports of a service template that can be read.
    pub(crate) fn all(root: Node<'a>) -> impl Iterator<Item = Self> {
        root.get("imports").into_iter().flat_map(Node::items).filter_map(Self::read)
    }
}

/// A name that is not a keyname, and the import below it.
fn named(item: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    let (name, body) = item.entries().next().filter(|_| item.entries().len() == 1)?;
    let is_name = !IMPORT.has(name.text().unwrap_or_default());
    let has_body = body.kind() == NodeKind::Mapping || body.as_str().is_some();
    (is_name && has_body).then_some((name, body))
}

/// Whether the text is a URL rather than a path.
pub(crate) fn is_url(text: &str) -> bool {
    text.contains("://")
}

/// Whether this is the TOSCA Simple Profile itself (section 3.1), whose types need no import.
pub(crate) fn is_profile(name: &str) -> bool {
    [profile::ALIAS, profile::NAMESPACE].contains(&name.trim_end_matches('/'))
}

/// The name of the profile that a file is (TOSCA 2.0, section 6.7).
pub(crate) fn profile_name(text: &str) -> Option<String> {
    memmem::find(text.as_bytes(), b"profile")?;
    let document = parse(FileId::DETACHED, text.into(), &Limits::default()).ok()?;
    document.root().get("profile").and_then(Node::text).map(str::to_owned)
}

/// The address of a repository that a service template defines (section 3.6.6), where it has one.
pub(crate) fn repository_address<'a>(root: Node<'a>, name: &str) -> Option<&'a str> {
    let definition = root.get("repositories")?.get(name)?;
    definition.as_str().or_else(|| definition.get("url")?.as_str())
}

/// The location of a name in a repository: below the repository's address.
pub(crate) fn below(address: &str, name: &str) -> String {
    if is_url(address) {
        return format!("{}/{}", address.trim_end_matches('/'), name.trim_start_matches('/'));
    }
    Path::new(address).join(name.trim_start_matches('/')).to_string_lossy().into_owned()
}

/// The files that a service template imports by a path: neither from a URL nor from a repository.
pub(crate) fn import_names(root: Node<'_>) -> impl Iterator<Item = &str> {
    let local = ImportDefinition::all(root)
        .filter(|import| import.repository.is_none() && !is_url(import.file));
    local.map(|import| import.file).filter(|file| !is_profile(file))
}

#[cfg(test)]
mod tests {
    use super::below;

    #[test]
    fn repositories_hold_what_is_below_them() {
        assert_eq!(below("https://a.example/repo/", "t/x.yaml"), "https://a.example/repo/t/x.yaml");
        assert_eq!(below("../vendor", "/t/x.yaml"), "../vendor/t/x.yaml");
    }
}
