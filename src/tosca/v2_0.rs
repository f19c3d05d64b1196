//! What is read of TOSCA 2.0, for validating and substituting: types, node templates, requirements and
//! substitution mappings.
//!
//! These are what they are in the Simple Profile 1.3 but for two keynames, so a document of 2.0 is
//! read as one of 1.3 in which these are called as there. It is written as it was.

use crate::text::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::text::yaml::{Document, Node};

/// What a document of TOSCA 2.0 says in `tosca_definitions_version`.
const VERSION: &str = "tosca_2_0";

/// What may stand in a map, and what is below it.
struct Keynames(&'static [(&'static str, Below)]);

/// What is below a keyname.
#[derive(Clone, Copy)]
enum Below {
    /// Anything: a value, a text, or what is as in 1.3.
    Anything,
    /// A map of keynames.
    Body(&'static Keynames),
    /// Names, each with a map of keynames or in short.
    Named(&'static Keynames),
    /// A list of such.
    Listed(&'static Keynames),
}

use Below::{Anything, Body, Listed, Named};

const FILE: Keynames = Keynames(&[
    ("tosca_definitions_version", Anything),
    ("description", Anything),
    ("metadata", Anything),
    ("imports", Anything),
    ("capability_types", Named(&TYPE)),
    ("relationship_types", Named(&TYPE)),
    ("node_types", Named(&NODE_TYPE)),
    ("service_template", Body(&TEMPLATE)),
]);

const TYPE: Keynames = Keynames(&[
    ("derived_from", Anything),
    ("version", Anything),
    ("metadata", Anything),
    ("description", Anything),
    ("properties", Named(&DEFINITION)),
    ("attributes", Named(&DEFINITION)),
]);

const NODE_TYPE: Keynames = Keynames(&[
    ("derived_from", Anything),
    ("version", Anything),
    ("metadata", Anything),
    ("description", Anything),
    ("properties", Named(&DEFINITION)),
    ("attributes", Named(&DEFINITION)),
    ("capabilities", Named(&CAPABILITY)),
    ("requirements", Listed(&REQUIREMENT)),
]);

const DEFINITION: Keynames = Keynames(&[
    ("type", Anything),
    ("description", Anything),
    ("metadata", Anything),
    ("required", Anything),
    ("default", Anything),
]);

const CAPABILITY: Keynames = Keynames(&[
    ("type", Anything),
    ("description", Anything),
    ("metadata", Anything),
    ("properties", Named(&DEFINITION)),
    ("attributes", Named(&DEFINITION)),
]);

const REQUIREMENT: Keynames = Keynames(&[
    ("capability", Anything),
    ("node", Anything),
    ("relationship", Anything),
    ("node_filter", Anything),
    ("count_range", Anything),
    ("description", Anything),
    ("metadata", Anything),
]);

const TEMPLATE: Keynames = Keynames(&[
    ("description", Anything),
    ("metadata", Anything),
    ("node_templates", Named(&NODE)),
    ("substitution_mappings", Body(&MAPPINGS)),
]);

const NODE: Keynames = Keynames(&[
    ("type", Anything),
    ("description", Anything),
    ("metadata", Anything),
    ("directives", Anything),
    ("properties", Anything),
    ("capabilities", Anything),
    ("requirements", Listed(&ASSIGNMENT)),
]);

const ASSIGNMENT: Keynames = Keynames(&[
    ("node", Anything),
    ("capability", Anything),
    ("relationship", Anything),
    ("node_filter", Anything),
    ("count", Anything),
    ("optional", Anything),
]);

const MAPPINGS: Keynames = Keynames(&[
    ("node_type", Anything),
    ("substitution_filter", Anything),
    ("properties", Anything),
    ("attributes", Anything),
    ("capabilities", Anything),
    ("requirements", Anything),
]);

/// What 1.3 calls a keyname of 2.0.
const RENAMED: [(&str, &str); 2] =
    [("service_template", "topology_template"), ("count_range", "occurrences")];

/// A document that is read as one of 1.3, where it is one of 2.0.
///
/// # Errors
/// `unsupported-version` at the first keyname that is not known.
pub(crate) fn read(document: Document) -> Result<Document, Diagnostic> {
    let version = document.root().get("tosca_definitions_version");
    let Some(version) = version.filter(|version| version.text() == Some(VERSION)) else {
        return Ok(document);
    };
    let mut called = vec![(version.position(), "tosca_simple_yaml_1_3")];
    Body(&FILE).read(document.root(), &mut called)?;
    Ok(document.called(&called))
}

impl Below {
    /// Looks at what stands here, and takes note of what is called otherwise.
    fn read(self, node: Node<'_>, called: &mut Vec<(u32, &'static str)>) -> Result<(), Diagnostic> {
        match self {
            Anything => Ok(()),
            Body(keynames) => node.entries().try_for_each(|(key, value)| {
                let Some(name) = key.text() else { return Ok(()) };
                let known = keynames.0.iter().find(|(known, _)| *known == name);
                let (_, below) = known.ok_or_else(|| keynames.unknown(key, name))?;
                let renamed = RENAMED.iter().find(|(old, _)| *old == name);
                called.extend(renamed.map(|(_, new)| (key.position(), *new)));
                below.read(value, called)
            }),
            Named(keynames) => {
                node.entries().try_for_each(|(_, body)| Body(keynames).read(body, called))
            }
            Listed(keynames) => {
                node.items().try_for_each(|item| Named(keynames).read(item, called))
            }
        }
    }
}

impl Keynames {
    fn unknown(&self, key: Node<'_>, name: &str) -> Diagnostic {
        let message = format!("`{name}` is nothing that is read of TOSCA 2.0 here");
        let known = self.0.iter().map(|(known, _)| *known);
        let names = || {
            let names: Vec<_> = known.clone().collect();
            format!("it can be {}; of 2.0, types, node templates, requirements and substitution mappings are read", names.join(", ")).into()
        };
        Diagnostic::error(Code::UnsupportedVersion, message)
            .at(key.span())
            .help(did_you_mean(name, known.clone()).unwrap_or_else(names))
    }
}
