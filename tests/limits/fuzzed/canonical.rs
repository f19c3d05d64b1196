//! Checks the canonical form of XML: compares what documents say without what the form changes,
//! which is blanks between elements, prefixes, and the order of elements where the schema
//! prescribes one.

use cuvee::parts::tosca::canonical_definitions;
use cuvee::parts::xml::{XmlDocument, XmlElement, XmlLimits, XmlNode, parse};
use cuvee::source::FileId;
use std::fmt::Write;

const TOSCA: &str = "http://docs.oasis-open.org/tosca/ns/2011/12";

/// Attributes whose values are names of components.
const COMPONENTS: [&str; 16] = [
    "type",
    "typeRef",
    "nodeType",
    "relationshipType",
    "nodeTypeImplementationRef",
    "relationshipTypeImplementationRef",
    "requirementType",
    "capabilityType",
    "requiredCapabilityType",
    "artifactType",
    "artifactRef",
    "policyType",
    "policyRef",
    "substitutableNodeType",
    "element",
    "ref",
];

/// Writes a text in canonical form, and that once more, and asserts that all three say the same.
pub(crate) fn holds(text: &str) -> Option<String> {
    let read = |text: &str| parse(FileId::DETACHED, text.into(), &XmlLimits::default());
    let document = read(text).ok()?;
    let written = canonical_definitions(&document);
    let again = match read(&written) {
        Ok(again) => again,
        Err(wrong) => panic!("{wrong:?}\n{text}\n{written}"),
    };
    assert_eq!(said(&document), said(&again), "\n{text}\n{written}");
    assert_eq!(written, canonical_definitions(&again), "\n{text}");
    Some(written)
}

/// The content of a document, in words.
fn said(document: &XmlDocument) -> String {
    let mut nodes = document.nodes();
    let mut said = String::new();
    nodes.by_ref().for_each(|node| said.push_str(&of_node(node, false)));
    said
}

fn of_node(node: XmlNode<'_>, keeps_blanks: bool) -> String {
    match node {
        XmlNode::Element(element) => of_element(element, keeps_blanks),
        XmlNode::Comment(text, _) => format!("<!--{}-->", lines(text)),
        XmlNode::Instruction(text, _) => format!("<?{}?>", lines(text)),
        XmlNode::Text(..) | XmlNode::Unescaped(..) => node.text().unwrap_or_default().into_owned(),
    }
}

fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn is_blank(text: &str) -> bool {
    text.chars().all(|c| matches!(c, ' ' | '\t' | '\n' | '\r'))
}

fn of_element(element: XmlElement<'_>, keeps_blanks: bool) -> String {
    let name = element.name();
    let is_ours = name.namespace == TOSCA;
    let mut attributes: Vec<_> = element
        .attributes()
        .map(|it| {
            format!("{:?}", {
                let (namespace, local) = (it.name().namespace, it.name().local);
                let is_word = is_ours && namespace.is_empty();
                let value = if is_word { it.collapsed() } else { it.value() };
                let is_name = is_word && COMPONENTS.contains(&local);
                (
                    namespace,
                    local,
                    if is_name { expanded(element, &value) } else { value.into_owned() },
                )
            })
        })
        .collect();
    attributes.sort();
    let mut said = String::new();
    write!(said, "({} {} {attributes:?} ", name.namespace, name.local).unwrap();
    let texts: Vec<_> = element.nodes().filter_map(XmlNode::text).collect();
    let is_kept = keeps_blanks
        || (is_ours && name.local == "documentation")
        || texts.iter().any(|text| !is_blank(text))
        || element
            .attributes()
            .any(|it| it.written_name() == "xml:space" && it.value() == "preserve");
    let is_leaf = element.nodes().all(|node| node.text().is_some()) && !is_ours;
    let nodes = element.nodes().filter(|node| is_kept || is_leaf || node.text().is_none());
    let mut nodes: Vec<_> = nodes.map(|node| of_node(node, is_kept)).collect();
    if is_ours && !is_kept {
        nodes.sort();
    }
    write!(said, "{})", nodes.concat()).unwrap();
    said
}

/// A name with its namespace in place of its prefix.
fn expanded(element: XmlElement<'_>, name: &str) -> String {
    let (prefix, local) = name.split_once(':').unwrap_or(("", name));
    match element.namespace(prefix) {
        // Names of components are in neither of these namespaces.
        Some(uri) if prefix.is_empty() && (uri.is_empty() || uri == TOSCA) => local.to_owned(),
        Some(uri) => format!("{{{uri}}}{local}"),
        None => name.to_owned(),
    }
}
