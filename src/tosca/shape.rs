//! What may be said of the things that types and templates have in common.

use crate::text::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::text::yaml::Node;

/// What may be said of something.
pub(crate) struct Shape {
    /// What it is, for messages.
    pub what: &'static str,
    /// Where its grammar is.
    pub section: &'static str,
    /// Its keynames.
    pub keynames: &'static [&'static str],
}

impl Shape {
    /// What to say of a key that is none of its keynames; nothing of one that is.
    pub fn unknown(&self, key: Node<'_>) -> Option<Diagnostic> {
        let text = key.text().unwrap_or_default();
        if self.keynames.contains(&text) {
            return None;
        }
        let error = Diagnostic::error(
            Code::UnknownKeyword,
            format!("`{text}` is not a keyname of {}", self.what),
        );
        let error = error
            .at(key.span())
            .section(self.section)
            .help(format!("known are {}", self.keynames.join(", ")));
        Some(error.help_opt(did_you_mean(text, self.keynames.iter().copied())))
    }
}

pub(crate) const SCHEMA: Shape = Shape {
    what: "a schema definition",
    section: "3.6.9.1",
    keynames: &["type", "description", "constraints", "key_schema", "entry_schema"],
};
/// With `value`, which refinements have as parameters do (section 3.6.10.6).
pub(crate) const PROPERTY: Shape = Shape {
    what: "a property definition",
    section: "3.6.10.2",
    keynames: &[
        "type",
        "description",
        "required",
        "default",
        "status",
        "constraints",
        "key_schema",
        "entry_schema",
        "external-schema",
        "metadata",
        "value",
    ],
};
pub(crate) const PARAMETER: Shape =
    Shape { what: "a parameter definition", section: "3.6.14.1", keynames: PROPERTY.keynames };
pub(crate) const INTERFACE: Shape = Shape {
    what: "an interface definition",
    section: "3.6.20.1",
    keynames: &["type", "description", "inputs", "operations", "notifications"],
};
pub(crate) const OPERATION: Shape = Shape {
    what: "an operation definition",
    section: "3.6.17.1",
    keynames: &["description", "implementation", "inputs", "outputs"],
};
pub(crate) const NOTIFICATION: Shape = Shape {
    what: "a notification definition",
    section: "3.6.19.1",
    keynames: &["description", "implementation", "outputs"],
};
pub(crate) const IMPLEMENTATION: Shape = Shape {
    what: "an implementation",
    section: "3.6.16.1",
    keynames: &["primary", "dependencies", "timeout", "operation_host"],
};
/// With `version`, as section 3.6.7.2.2 spells what section 3.6.7.1 calls `artifact_version`.
pub(crate) const ARTIFACT: Shape = Shape {
    what: "an artifact definition",
    section: "3.6.7.1",
    keynames: &[
        "type",
        "file",
        "repository",
        "description",
        "deploy_path",
        "artifact_version",
        "version",
        "checksum",
        "checksum_algorithm",
        "properties",
    ],
};

pub(crate) const FILTER: Shape =
    Shape { what: "a node filter", section: "3.6.5.1", keynames: &["properties", "capabilities"] };
pub(crate) const CAPABILITY_FILTER: Shape =
    Shape { what: "a filter of a capability", section: "3.6.5.2", keynames: &["properties"] };

/// Section 3.6.10.3.
pub(crate) const STATUS: [&str; 4] = ["supported", "unsupported", "experimental", "deprecated"];
