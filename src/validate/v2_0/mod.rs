//! Validates files of TOSCA 2.0: keynames and what stands below them, imports, names of types,
//! properties of templates, and calls of functions.

mod function;
mod keynames;
mod names;

use crate::diagnostic::{Code, Diagnostic, Rule, Severity, TOSCA_2_0};
use crate::tosca::Family;
use crate::tosca::load::Loaded;
use crate::tosca::v2_0::{self, VERSION};
use cuvee_text::yaml::{Document, Node};
use keynames::KeynameChecker;
use names::Names;

/// Whether the template is of TOSCA 2.0.
pub(crate) fn is_of_version(document: &Document) -> bool {
    document.root().get("tosca_definitions_version").and_then(Node::text) == Some(VERSION)
}

/// Validates a template of TOSCA 2.0 and all files that it imports. `None` where nothing is wrong
/// and all of them can be read as version 1.3, by whose rules more is checked then.
pub(crate) fn validate_file(loaded: &Loaded, is_read: bool) -> Option<Vec<Diagnostic>> {
    let top = loaded.whole(loaded.template()).ok()?;
    const TEMPLATES: [(&str, Family); 2] =
        [("node_templates", Family::Node), ("relationship_templates", Family::Relationship)];
    let mut found = Vec::new();
    let names = Names::read(loaded, top, &mut found);
    for file in &names.files {
        KeynameChecker { names: &names, file, found: &mut found }.file(file.document.root());
        names.types(file, &mut found);
        let template = file.document.root().get("service_template");
        for (keyname, family) in TEMPLATES {
            let all = template.and_then(|it| it.get(keyname)).into_iter().flat_map(Node::entries);
            all.for_each(|template| names.properties(file, family, template, &mut found));
        }
    }
    let is_read = is_read && names.files.iter().all(|file| v2_0::is_read(file.document));
    if found.is_empty() && is_read {
        return None;
    }
    if !found.iter().any(|found| found.severity == Severity::Error) {
        found.push(unchecked(top.root()));
    }
    Some(super::in_order(found))
}

/// Says what is not checked.
fn unchecked(root: Node<'_>) -> Diagnostic {
    const MESSAGE: &str = "of TOSCA 2.0, keynames, imports, names of types, names of properties and calls of functions are checked, and values and relations are not";
    let version = root.get("tosca_definitions_version").unwrap_or(root);
    Diagnostic::note(Code::UnsupportedVersion, MESSAGE).at(version.span())
}

/// Cites a section of TOSCA 2.0, unless the diagnostic cites another already.
fn by(diagnostic: Diagnostic, section: &'static str) -> Diagnostic {
    match diagnostic.rule {
        Some(_) => diagnostic,
        None => diagnostic.rule(Rule::new(&TOSCA_2_0, section)),
    }
}
