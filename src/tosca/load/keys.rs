//! Rejects keys that are lists or maps, except inside of values. Definitions and their parts have
//! names and keynames, which are strings; the code that reads those relies on it.

use crate::diagnostic::{Cite, Code, Diagnostic};
use crate::tosca::v2_0;
use cuvee_text::yaml::{Document, Node};

/// The kind of the keys in a map.
#[derive(Clone, Copy)]
enum Keys {
    /// Keynames.
    Keynames,
    /// Names of elements that have keynames.
    Names,
    /// Names of elements that have a value.
    NamesOfValues,
    /// Keynames of a substitution mapping.
    Substitution,
    /// Names of requirements, or groups of them, such as `[service, 2]`.
    Groups,
}

impl Keys {
    /// The kind of the keys below a keyname. Returns nothing where a value follows.
    fn below(keyname: &str) -> Option<Self> {
        match keyname {
            "default" | "value" | "dsl_definitions" => None,
            "substitution_mappings" => Some(Self::Substitution),
            "properties" | "attributes" | "inputs" | "outputs" | "constraints" => {
                Some(Self::NamesOfValues)
            }
            "node_templates"
            | "relationship_templates"
            | "groups"
            | "policies"
            | "workflows"
            | "requirements"
            | "capabilities"
            | "interfaces"
            | "operations"
            | "notifications"
            | "artifacts"
            | "steps"
            | "triggers"
            | "repositories"
            | "imports" => Some(Self::Names),
            _ if keyname.ends_with("_types") => Some(Self::Names),
            _ => Some(Self::Keynames),
        }
    }

    fn wrong(self, key: Node<'_>) -> Diagnostic {
        let what = match self {
            Self::Keynames | Self::Substitution => "a keyname",
            Self::Names | Self::NamesOfValues | Self::Groups => "a name",
        };
        let message = format!("{what} has to be a string, not {}", key.describe());
        Diagnostic::error(Code::UnknownKeyword, message)
            .at(key.span())
            .section("3.3.5")
            .help("only a value of type `map` may have other keys, where its `key_schema` says so")
    }
}

/// Checks that all names and keynames in a document are strings.
///
/// # Errors
/// `unknown-keyword` at the first name or keyname that is not a string.
pub(super) fn judged(document: Result<&Document, Diagnostic>) -> Result<&Document, Diagnostic> {
    let document = document?;
    // Nearly no document has such a key, so that the walk is usually skipped.
    let wrong =
        if document.has_collection_keys() { wrong(document.root(), Keys::Keynames) } else { None };
    wrong.map_or(Ok(document), |mut error| {
        if v2_0::is_of(document) {
            v2_0::tell(&mut error);
        }
        Err(error)
    })
}

fn wrong(node: Node<'_>, keys: Keys) -> Option<Diagnostic> {
    let entry = |(key, value): (Node<'_>, Node<'_>)| {
        let Some(name) = key.text() else {
            // The grammar of substitution mappings reports malformed groups.
            return (!matches!(keys, Keys::Groups)).then(|| keys.wrong(key));
        };
        let below = match keys {
            Keys::Keynames => Keys::below(name)?,
            Keys::Substitution if name == "requirements" => Keys::Groups,
            // In TOSCA 2.0, paths may stand there (section 15.2).
            Keys::Substitution
                if matches!(name, "properties" | "attributes") && v2_0::is_of(key.document()) =>
            {
                return None;
            }
            Keys::Substitution => Keys::below(name)?,
            // Below a group are paths of names, directly or under `mapping`.
            Keys::Groups => Keys::Keynames,
            Keys::Names => Keys::Keynames,
            Keys::NamesOfValues => return None,
        };
        wrong(value, below)
    };
    node.entries().find_map(entry).or_else(|| node.items().find_map(|item| wrong(item, keys)))
}
