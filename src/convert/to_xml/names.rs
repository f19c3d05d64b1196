//! Assigns names in XML: namespaces and their prefixes, names of types, ids.

use crate::convert::unique::UniqueNames;
use crate::tosca::v1_0::{TOSCA, WINERY};
use crate::tosca::xml_schema::XML_SCHEMA;
use cuvee_text::xml::is_unprefixed_name;
use std::collections::BTreeMap;

pub(super) use crate::convert::to_yaml::EXTENSION;
pub(super) use crate::convert::unique::unique;

/// The prefix of the namespace of extensions.
pub(super) const EXTENSION_PREFIX: &str = "v";

/// The prefix of the namespace of XML Schema.
pub(super) const SCHEMA_PREFIX: &str = "xs";

/// The prefix of the namespace of Winery.
pub(super) const WINERY_PREFIX: &str = "winery";

/// A name in a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct QualifiedName {
    pub namespace: String,
    pub local: String,
}

impl QualifiedName {
    /// Reads `{namespace}name`.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (namespace, local) = text.strip_prefix('{')?.split_once('}')?;
        let is_name = as_name(local) == local && !namespace.is_empty();
        is_name.then(|| Self { namespace: namespace.to_owned(), local: local.to_owned() })
    }
}

/// A text as a name without a colon; characters that a name cannot have become `_`.
pub(super) fn as_name(text: &str) -> String {
    if is_unprefixed_name(text) {
        return text.to_owned();
    }
    let is_fine = |c: char| c != ':' && is_unprefixed_name(&format!("_{c}"));
    let mut name: String = text.chars().map(|c| if is_fine(c) { c } else { '_' }).collect();
    if !is_unprefixed_name(&name) {
        name.insert(0, '_');
    }
    name
}

/// The prefixes of namespaces.
#[derive(Debug, Default)]
pub(super) struct Prefixes {
    /// The prefixes, by namespace.
    known: BTreeMap<String, String>,
}

impl Prefixes {
    pub(super) fn of(&mut self, namespace: &str) -> &str {
        if !self.known.contains_key(namespace) {
            let fixed = match namespace {
                EXTENSION => Some(EXTENSION_PREFIX),
                XML_SCHEMA => Some(SCHEMA_PREFIX),
                WINERY => Some(WINERY_PREFIX),
                _ => None,
            };
            let taken = |prefix: &str| {
                matches!(prefix, EXTENSION_PREFIX | SCHEMA_PREFIX | WINERY_PREFIX)
                    || self.known.values().any(|known| known == prefix)
            };
            let last = namespace.trim_end_matches(['/', '#']).rsplit(['/', ':', '#']).next();
            let last = last.unwrap_or_default();
            let is_reserved = last.get(..3).is_some_and(|it| it.eq_ignore_ascii_case("xml"));
            let wanted = if is_unprefixed_name(last) && !is_reserved { last } else { "ns" };
            let prefix = fixed.map_or_else(|| unique(wanted, taken), str::to_owned);
            self.known.insert(namespace.to_owned(), prefix);
        }
        self.known.get(namespace).map_or("", |prefix| prefix)
    }

    /// The prefix of a namespace, if it has one already.
    pub(super) fn known(&self, namespace: &str) -> Option<&str> {
        self.known.get(namespace).map(|prefix| &**prefix)
    }

    /// A qualified name with its prefix; a new prefix is declared if necessary.
    pub(super) fn name(&mut self, name: &QualifiedName) -> String {
        format!("{}:{}", self.of(&name.namespace), name.local)
    }

    /// All prefixes with their namespaces, including that of TOSCA.
    pub(super) fn declared(&self) -> impl Iterator<Item = (&str, &str)> {
        let known = self.known.iter().map(|(namespace, prefix)| (&**prefix, &**namespace));
        known.chain([("", TOSCA)])
    }
}

/// The ids of a document.
#[derive(Debug, Default)]
pub(super) struct DocumentIds {
    given: UniqueNames,
}

impl DocumentIds {
    /// Takes a free id that resembles `wanted`.
    pub(super) fn take(&mut self, wanted: &str) -> String {
        self.given.take(&as_name(wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_names() {
        let names = ["a.b-c", "1st", "two words", "a:b", "", "né"].map(as_name);
        assert_eq!(names, ["a.b-c", "_1st", "two_words", "a_b", "_", "né"]);
        let mut ids = DocumentIds::default();
        assert_eq!(["a", "a", "a_2", "a"].map(|id| ids.take(id)), ["a", "a_2", "a_2_2", "a_3"]);
    }

    #[test]
    fn prefixes_are_like_namespaces() {
        let mut prefixes = Prefixes::default();
        let names =
            ["urn:example:shop", "http://a/shop/", "urn:1", "urn:v", XML_SCHEMA, "urn:xmlish"];
        let names = names.map(|namespace| prefixes.of(namespace).to_owned());
        assert_eq!(names, ["shop", "shop_2", "ns", "v_2", "xs", "ns_2"]);
    }
}
