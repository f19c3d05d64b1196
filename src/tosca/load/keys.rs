//! Where a key may be a list or a map: in values alone. All that is defined, and all that it says
//! of itself, goes by names and keynames, which are strings; whoever reads those may rely on it.

use crate::text::diagnostic::{Code, Diagnostic};
use crate::text::yaml::{Document, Node};

/// What stands in a map, as far as its keys say.
#[derive(Clone, Copy)]
enum Keys {
    /// Keynames.
    Keynames,
    /// Names of what has keynames.
    Names,
    /// Names of what has a value.
    NamesOfValues,
    /// Keynames of a substitution mapping.
    Substitution,
    /// Names of requirements, or groups of them, such as `[service, 2]`.
    Groups,
}

impl Keys {
    /// The keys of what is below a keyname; nothing where it is a value.
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

/// A document whose names and keynames are strings.
///
/// # Errors
/// `unknown-keyword` at the first that is none.
pub(super) fn judged(document: Result<&Document, Diagnostic>) -> Result<&Document, Diagnostic> {
    let document = document?;
    // Nearly no document has such a key, and then nothing is walked through.
    let wrong =
        if document.has_collection_keys() { wrong(document.root(), Keys::Keynames) } else { None };
    wrong.map_or(Ok(document), Err)
}

fn wrong(node: Node<'_>, keys: Keys) -> Option<Diagnostic> {
    let entry = |(key, value): (Node<'_>, Node<'_>)| {
        let Some(name) = key.text() else {
            // What is wrong with a group is said with the grammar of its mapping.
            return (!matches!(keys, Keys::Groups)).then(|| keys.wrong(key));
        };
        let below = match keys {
            Keys::Keynames => Keys::below(name)?,
            Keys::Substitution if name == "requirements" => Keys::Groups,
            Keys::Substitution => Keys::below(name)?,
            // Paths of names, in short or behind `mapping`.
            Keys::Groups => Keys::Keynames,
            Keys::Names => Keys::Keynames,
            Keys::NamesOfValues => return None,
        };
        wrong(value, below)
    };
    node.entries().find_map(entry).or_else(|| node.items().find_map(|item| wrong(item, keys)))
}
