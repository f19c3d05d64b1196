//! Checks the parts of the service template (section 3.10) and its topology template (section 3.9)
//! that are not elements.

use super::checker::Checker;
use crate::diagnostic::{Cite, Code, Diagnostic};
use crate::tosca::shape::{SERVICE, TOPOLOGY};
use crate::variability::template::shape;
use cuvee_text::yaml::{Node, NodeKind};

/// The keynames that belong into `metadata`, each with its section.
const METADATA: [(&str, &str); 3] = [
    ("template_name", "3.10.3.3"),
    ("template_author", "3.10.3.4"),
    ("template_version", "3.10.3.5"),
];

impl Checker<'_, '_> {
    /// Checks the service templates of the template and all its imports.
    pub(super) fn service_templates(&self) {
        for root in self.documents.iter().map(|document| document.root()) {
            self.service_template(root);
        }
    }

    fn service_template(&self, root: Node<'_>) {
        self.keynames(&[], root, shape::SERVICE);
        self.about(&[], root, "3.10.3.2");
        if let Some(namespace) =
            root.get("namespace").filter(|namespace| namespace.as_str().is_none())
        {
            self.wrong(&[], namespace, "namespace", "a URI", SERVICE.section);
        }
        self.map(&[], root, "dsl_definitions", "3.10.3.7").for_each(drop);
        for (name, section) in METADATA {
            if let Some((key, value)) = root.entries().find(|(key, _)| key.text() == Some(name)) {
                let warning = Diagnostic::warning(
                    Code::Deprecated,
                    format!("`{name}` is deprecated beside `metadata`"),
                );
                self.report_when(
                    &[],
                    &[],
                    warning.at(key.span()).section(section).help("move it into `metadata`"),
                );
                if value.kind() != NodeKind::Scalar {
                    self.wrong(&[], value, name, "a string", section);
                }
            }
        }
        if let Some(topology) = root.get("topology_template") {
            self.keynames(&[], topology, shape::TOPOLOGY);
            self.about(&[], topology, TOPOLOGY.section);
        }
    }
}
