//! Checks what only files of TOSCA 2.0 have: the keynames of their grammar, and calls of functions.
//! All else is checked as in files of the Simple Profile 1.3.

mod function;
mod keynames;

use crate::diagnostic::{Code, Diagnostic, Diagnostics, Rule, Severity, TOSCA_2_0};
use crate::tosca::Types;
use crate::tosca::import::ImportDefinition;
use crate::tosca::types::schemas::Schemas;
use crate::tosca::types::scope::{Links, Scopes};
use crate::tosca::v2_0;
use crate::tosca::value::Primitive;
use cuvee_text::yaml::{Document, Node};
use function::CallChecker;
pub(super) use function::{DeclaredFunctions, each, refusal, refused_call, taken};
use keynames::KeynameChecker;
pub(super) use keynames::KeynameFinding;
pub(super) use keynames::misplaced;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What is wrong in those of these files that are of TOSCA 2.0.
pub(super) fn check(
    documents: &[&Document],
    links: &Links,
    types: &Types<'_>,
) -> Vec<KeynameFinding> {
    let mut found = Vec::new();
    if !documents.iter().any(|document| v2_0::is_of(document)) {
        return found;
    }
    let schemas = Schemas::new(types);
    let functions =
        CallChecker { types: &schemas, functions: DeclaredFunctions::of(documents, links) };
    let mut wrong = Vec::new();
    functions.definitions(&mut wrong);
    found.extend(wrong.into_iter().map(KeynameFinding::from));
    for document in documents.iter().filter(|document| v2_0::is_of(document)) {
        KeynameChecker::new(&functions, document, &mut found).file(document.root());
        reserved(document, &mut found);
        tags(document, &mut found);
    }
    for section in ["functions", "repositories"] {
        equal_names(section, documents, functions.scopes(), &mut found);
    }
    versions(documents, links, &mut found);
    profiles(documents, links, &mut found);
    found
}

/// Adds what only the grammar of TOSCA 2.0 found to what others found: where these have an error
/// already, a second one says the same.
pub(super) fn add(of_2_0: Vec<KeynameFinding>, others: &mut Diagnostics) {
    let mut wrong: FxHashMap<_, Vec<String>> = FxHashMap::default();
    for found in others.0.iter().filter(|found| found.severity == Severity::Error) {
        wrong.entry(found.span).or_default().push(found.message.clone());
    }
    let is_news = |found: &KeynameFinding| {
        let known = wrong.get(&found.diagnostic.span);
        let says = |message: &String| found.lacking.is_none_or(|name| message.contains(name));
        !known.is_some_and(|known| known.iter().any(says))
    };
    others.0.extend(of_2_0.into_iter().filter(is_news).map(|found| found.diagnostic));
}

/// Reports data types that have the names of built-in ones (section 9.1).
fn reserved(document: &Document, found: &mut Vec<KeynameFinding>) {
    let types = document.root().get("data_types").into_iter().flat_map(Node::entries);
    for (key, _) in types {
        let name = key.text().unwrap_or_default();
        if Primitive::of_2_0(name).is_some_and(|primitive| primitive.name() == name) {
            let message = format!("`{name}` is a type of TOSCA itself");
            let error = Diagnostic::error(Code::ReservedName, message).at(key.span());
            found.push(by(error.help("give it another name"), "9.1").into());
        }
    }
}

/// Reports types of YAML that TOSCA does not accept (sections 9.1.1.5 and 9.1.2.1).
fn tags(document: &Document, found: &mut Vec<KeynameFinding>) {
    const REFUSED: [(&str, &str); 2] = [("binary", "9.1.1.5"), ("timestamp", "9.1.2.1")];
    for (node, tag) in document.tagged() {
        let name = tag.trim_start_matches('!').trim_matches(['<', '>']);
        let name = name.strip_prefix("tag:yaml.org,2002:").unwrap_or(name);
        if let Some((name, section)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
            let message = format!("TOSCA does not accept the type `!!{name}` of YAML");
            let error = Diagnostic::error(Code::InvalidValue, message).at(node.span());
            found.push(by(error.help("write a string without a tag"), section).into());
        }
    }
}

/// Reports names of a section that several files define in one namespace (section 6.8.4). Those of
/// types are compared where types are read.
fn equal_names(
    section: &str,
    documents: &[&Document],
    scopes: &Scopes,
    found: &mut Vec<KeynameFinding>,
) {
    let mut by_name: BTreeMap<&str, Vec<(usize, Node<'_>)>> = BTreeMap::new();
    for (position, document) in documents.iter().enumerate().filter(|(_, it)| v2_0::is_of(it)) {
        for (key, _) in document.root().get(section).into_iter().flat_map(Node::entries) {
            by_name.entry(key.text().unwrap_or_default()).or_default().push((position, key));
        }
    }
    for (name, known) in by_name {
        let mut clashing = BTreeMap::new();
        scopes.meetings(&known, |(_, first), (file, other)| {
            clashing.entry(file).or_insert((first, other));
        });
        for (first, other) in clashing.into_values() {
            let message = format!("`{name}` is defined twice under `{section}`");
            let error = Diagnostic::error(Code::TypeClash, message).at(other.span());
            let error = error.label(first.span(), "the other definition");
            let help = "rename one of them, or import its file with a `namespace`";
            found.push(by(error.help(help), "6.8.4").into());
        }
    }
}

/// Reports imports of files of other versions: what a name means there, no rule says.
fn versions(documents: &[&Document], links: &Links, found: &mut Vec<KeynameFinding>) {
    // That a file has no version is reported with it.
    let is_of_2_0 = |file| {
        let document = documents.iter().find(|document| document.file() == file)?;
        document.root().get("tosca_definitions_version")?;
        Some(v2_0::is_of(document))
    };
    for link in &links.links {
        if is_of_2_0(link.from).zip(is_of_2_0(link.to)).is_some_and(|(from, to)| from != to) {
            let message = "the imported file is of another version of TOSCA";
            let error = Diagnostic::error(Code::UnsupportedVersion, message).at(link.span);
            let help = "convert one of them, so that both are of one version";
            found.push(by(error.help(help), "6.8").into());
        }
    }
}

/// Whether something is in a file that is of TOSCA 2.0 while the template, the last document, is of
/// another version, or the other way round.
pub(super) fn is_foreign(found: &Diagnostic, documents: &[&Document]) -> bool {
    let file = found.span.map(|span| span.file);
    let own = documents.iter().find(|document| Some(document.file()) == file);
    own.zip(documents.last()).is_some_and(|(own, top)| v2_0::is_of(own) != v2_0::is_of(top))
}

/// Warns of imported profiles whose files say that they are others.
fn profiles(documents: &[&Document], links: &Links, found: &mut Vec<KeynameFinding>) {
    let imports = documents.iter().flat_map(|document| ImportDefinition::all(document.root()));
    for import in imports.filter(|import| import.is_profile) {
        let link = links.links.iter().find(|link| link.span == import.item.span());
        let to = link.and_then(|link| documents.iter().find(|it| it.file() == link.to));
        let own = to.and_then(|document| document.root().get("profile")?.text());
        if let Some(own) = own.filter(|own| *own != import.file) {
            let message = format!("the file of this profile is the profile `{own}`");
            let warning = Diagnostic::warning(Code::File, message).at(import.item.span());
            let help = "import it by that name, or name the file of this one";
            found.push(by(warning.help(help), "6.8.2.1").into());
        }
    }
}

/// Cites a section of TOSCA 2.0, unless the diagnostic cites another already.
fn by(diagnostic: Diagnostic, section: &'static str) -> Diagnostic {
    match diagnostic.rule {
        Some(_) => diagnostic,
        None => diagnostic.rule(Rule::new(&TOSCA_2_0, section)),
    }
}
