//! Reads the part of TOSCA 2.0 that validating and substituting need: types, node templates,
//! requirements and substitution mappings.
//!
//! Apart from two keynames, this part is the same as in the Simple Profile 1.3. Therefore a
//! document of version 2.0 is read as one of version 1.3, with those keynames translated. Its text
//! stays as it was written.

pub(crate) mod grammar;

use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use cuvee_text::yaml::{Document, Node};

/// The `tosca_definitions_version` of TOSCA 2.0 documents.
pub(crate) const VERSION: &str = "tosca_2_0";

/// The known keynames of a map, with the content below each.
struct Keynames(&'static [(&'static str, Below)]);

/// The content below a keyname.
#[derive(Clone, Copy)]
enum Below {
    /// Anything: a value, a text, or content that is the same as in version 1.3.
    Anything,
    /// A map of keynames.
    Body(&'static Keynames),
    /// A map of names. Below each name is a map of keynames or a short form.
    Named(&'static Keynames),
    /// A list of maps of names.
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

/// Lists the keynames that all types have, and then those of one family.
macro_rules! of_types {
    ($($own:expr),*) => {
        Keynames(&[
            ("derived_from", Anything),
            ("version", Anything),
            ("metadata", Anything),
            ("description", Anything),
            ("properties", Named(&DEFINITION)),
            ("attributes", Named(&DEFINITION)),
            $($own),*
        ])
    };
}

const TYPE: Keynames = of_types![];

const NODE_TYPE: Keynames =
    of_types![("capabilities", Named(&CAPABILITY)), ("requirements", Listed(&REQUIREMENT))];

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

/// The keynames of version 2.0 with their names in version 1.3.
const RENAMED: [(&str, &str); 2] =
    [("service_template", "topology_template"), ("count_range", "occurrences")];

/// Translates a document of version 2.0 into one of version 1.3. Other documents are returned
/// unchanged.
///
/// # Errors
/// `unsupported-version` at the first unknown keyname.
pub(crate) fn read(document: Document) -> Result<Document, Diagnostic> {
    let version = document.root().get("tosca_definitions_version");
    let Some(version) = version.filter(|version| version.text() == Some(VERSION)) else {
        return Ok(document);
    };
    let mut called = vec![(version.position(), "tosca_simple_yaml_1_3")];
    Body(&FILE).read(document.root(), &mut called)?;
    Ok(document.called(&called))
}

/// Whether version 1.3 can say all that a document does, whatever its version: its keynames are among
/// those that are translated, and it calls no function, as those of version 2.0 are others.
pub(crate) fn is_read(document: &Document) -> bool {
    let root = document.root();
    Body(&FILE).read(root, &mut Vec::new()).is_ok() && !has_call(root)
}

/// Whether a function is called here or below. A second `$` means that none is (section 10.1).
fn has_call(node: Node<'_>) -> bool {
    let is_call = |key: Node<'_>| {
        key.text().is_some_and(|name| name.starts_with('$') && !name.starts_with("$$"))
    };
    node.entries().any(|(key, value)| is_call(key) || has_call(value)) || node.items().any(has_call)
}

impl Below {
    /// Checks the keynames here and below, and collects those that have another name in version
    /// 1.3.
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
        let message = format!("`{name}` of TOSCA 2.0 is not supported here");
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
