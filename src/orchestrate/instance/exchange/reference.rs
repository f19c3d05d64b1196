//! Reads and writes references in documents of models (seed "instance model", section 5.5.2.1.2).

use crate::orchestrate::instance::model::{InstanceTarget, pointer};
use std::borrow::Cow;

/// The key of a reference to an entity.
pub(super) const REFERENCE: &str = "$ref";
/// The key of a reference to a place in TOSCA.
pub(super) const TOSCA_REFERENCE: &str = "$externalToscaRef";

/// A place in a document, by keys or positions: `#/nodes/shop`. The document may be another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DocumentPlace<'t> {
    /// The document; empty for the same one.
    pub document: &'t str,
    /// The path after `#/`.
    pub path: &'t str,
}

impl<'t> DocumentPlace<'t> {
    /// Reads a reference; `None` if it has no path.
    pub(super) fn read(text: &'t str) -> Option<Self> {
        let (document, path) = text.split_once("#/")?;
        // The URI of a later generation contains its number, which is no part of the path.
        let path = path.split_once("?generation=").map_or(path, |(path, _)| path);
        Some(Self { document, path })
    }

    /// The keys and positions of the path.
    pub(super) fn segments(self) -> impl Iterator<Item = Cow<'t, str>> {
        self.path.split('/').map(unescaped)
    }
}

/// Whether a name refers to an entity in another document.
pub(super) fn is_foreign(name: &str) -> bool {
    name.contains("#/")
}

/// A reference to an entity of this document.
pub(super) fn local(section: &str, name: &str) -> String {
    format!("#/{section}/{}", pointer(name))
}

/// The keyname below which templates of TOSCA 2.0 are.
pub(super) const SERVICE_TEMPLATE: &str = "service_template";

/// Whether templates are below this keyname.
pub(super) fn is_topology(keyname: &str) -> bool {
    ["topology_template", SERVICE_TEMPLATE].contains(&keyname)
}

/// A reference to a template of a target, which is in this document.
pub(super) fn template(
    target: &InstanceTarget,
    document: &str,
    section: &str,
    name: &str,
) -> String {
    let topology = if target.service_template { SERVICE_TEMPLATE } else { "topology_template" };
    format!("{document}#/{topology}/{section}/{}", pointer(name))
}

/// A segment of a JSON pointer with its escapes resolved.
fn unescaped(segment: &str) -> Cow<'_, str> {
    match segment.contains('~') {
        true => segment.replace("~1", "/").replace("~0", "~").into(),
        false => segment.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_as_they_are_written() {
        for name in ["shop", "a/b", "a~b", "~1", "site@0", "§ x"] {
            let text = local("nodes", name);
            let place = DocumentPlace::read(&text).unwrap();
            let segments: Vec<_> = place.segments().collect();
            assert_eq!((place.document, &*segments), ("", &["nodes".into(), Cow::from(name)][..]));
        }
        for (service_template, topology) in
            [(true, "service_template"), (false, "topology_template")]
        {
            let target = InstanceTarget { service_template, ..InstanceTarget::default() };
            let text = template(&target, "https://host/a#b.yaml", "node_templates", "shop");
            let place = DocumentPlace::read(&text).unwrap();
            assert_eq!(place.document, "https://host/a#b.yaml");
            assert_eq!(place.path, format!("{topology}/node_templates/shop"));
        }
        assert_eq!(DocumentPlace::read("#/nodes/a?generation=2").unwrap().path, "nodes/a");
        assert_eq!(DocumentPlace::read("shop"), None);
    }
}
