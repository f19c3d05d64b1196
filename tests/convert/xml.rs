//! Compares the XML layer with another reader: both accept the same documents, and see the same
//! tree in them. They read documents that are right or wrong on purpose, and random changes of
//! these.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot read its files has failed"
)]

#[path = "../limits/fuzzed/canonical.rs"]
mod canonical;

use cuvee::parts::xml::{XmlAttribute, XmlElement, XmlLimits, XmlNode, XmlText, parse};
use cuvee::source::FileId;
use proptest::prelude::*;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The content of a document, in a form that does not depend on the reader; `None` if it is
/// refused.
fn ours(text: &str) -> Option<String> {
    fn say(element: XmlElement<'_>, said: &mut String) {
        let name = element.name();
        let mut attributes: Vec<_> = element
            .attributes()
            .map(|it| (it.name().namespace.to_owned(), it.name().local.to_owned(), it.value()))
            .collect();
        attributes.sort();
        write!(said, "({} {} {attributes:?} ", name.namespace, name.local).unwrap();
        let mut text = String::new();
        for node in element.nodes() {
            if let XmlNode::Element(child) = node {
                say(child, said);
            }
        }
        text.push_str(&element.text());
        write!(said, "{text:?})").unwrap();
    }
    let limits = XmlLimits { depth: 1_000, ..XmlLimits::default() };
    let document = parse(FileId::DETACHED, text.into(), &limits).ok()?;
    let mut said = String::new();
    say(document.root(), &mut said);
    Some(said)
}

fn theirs(text: &str) -> Option<String> {
    fn say(node: roxmltree::Node<'_, '_>, said: &mut String) {
        let name = node.tag_name();
        let mut attributes: Vec<_> = node
            .attributes()
            .map(|it| {
                let namespace = it.namespace().unwrap_or_default().to_owned();
                (namespace, it.name().to_owned(), std::borrow::Cow::Borrowed(it.value()))
            })
            .collect();
        attributes.sort();
        let namespace = name.namespace().unwrap_or_default();
        write!(said, "({namespace} {} {attributes:?} ", name.name()).unwrap();
        let mut text = String::new();
        for child in node.children() {
            if child.is_element() {
                say(child, said);
            } else if child.is_text() {
                text.push_str(child.text().unwrap_or_default());
            }
        }
        write!(said, "{text:?})").unwrap();
    }
    let document = roxmltree::Document::parse(text).ok()?;
    let mut said = String::new();
    say(document.root_element(), &mut said);
    Some(said)
}

fn documents() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let files = ["fuzzed/xml", "diagnostics/xml"].iter().flat_map(|directory| {
        fs::read_dir(root.join(directory)).unwrap().map(|entry| entry.unwrap().path())
    });
    let mut files: Vec<_> = files.filter(|path| path.is_file()).collect();
    files.sort();
    let texts = files.iter().map(|path| fs::read_to_string(path).unwrap());
    texts.filter(|text| text.len() < 5_000).collect()
}

/// Whether a text may be refused by this reader alone: for other encodings and versions, targets
/// without blanks behind them, empty prefixes, and prefixes that cannot be declared.
fn is_ours_to_refuse(text: &str) -> bool {
    let is_undeclared =
        text.contains("xmlns:") && ["=\"\"", "=''"].iter().any(|it| text.contains(it));
    let pieces = ["<?", "\u{feff}", "<:", "/:", " :", "xmlns:xmlns"];
    is_undeclared || pieces.iter().any(|piece| text.contains(piece))
}

fn agree(text: &str) {
    match (ours(text), theirs(text)) {
        (None, Some(_)) if is_ours_to_refuse(text) => {}
        (ours, theirs) => assert_eq!(ours, theirs, "{text:?}"),
    }
}

#[test]
fn both_readers_agree_on_what_is_there() {
    let documents = documents();
    assert!(documents.len() > 40);
    documents.iter().for_each(|text| agree(text));
}

/// The text with the changes.
fn changed(text: &str, changes: &[Change]) -> String {
    const PIECES: [&str; 24] = [
        "<",
        ">",
        "/",
        "&",
        ";",
        "=",
        "\"",
        "'",
        " ",
        "]]>",
        "--",
        "<!--",
        "-->",
        "<![CDATA[",
        "<a>",
        "</a>",
        "<a/>",
        "xmlns:p='u'",
        "p:",
        "&amp;",
        "&#65;",
        "é",
        "\n",
        "\t",
    ];
    let mut text: Vec<char> = text.chars().collect();
    for (at, kind, piece) in changes {
        let at = at.index(text.len() + 1);
        match kind {
            0 if at < text.len() => drop(text.remove(at)),
            1 if at + 1 < text.len() => text.swap(at, at + 1),
            2 => text.truncate(at),
            _ => drop(text.splice(at..at, piece.get(&PIECES).chars())),
        }
    }
    text.into_iter().collect()
}

type Change = (prop::sample::Index, u8, prop::sample::Index);

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = (any::<prop::sample::Index>(), 0..4_u8, any::<prop::sample::Index>());
    prop::collection::vec(change, 1..4)
}

/// Elements of a document, each well-formed by itself where `n` and `p` are declared.
fn pieces() -> impl Strategy<Value = String> {
    let name =
        prop::sample::select(vec!["n:a", "p:b", "c", "t:NodeType", "NodeType", "Tags", "Types"]);
    let attributes = prop::sample::subsequence(
        vec![
            "type='p:x'",
            "name=' y  z '",
            "xmlns:p='urn:other'",
            "xmlns='urn:default'",
            "xmlns=''",
            "p:q='&#9;1'",
            "xml:space='preserve'",
            "xmlns:ns1='urn:taken'",
        ],
        0..4,
    );
    let text = prop::sample::select(vec![
        "",
        "  ",
        "text",
        "<!-- said -->",
        "<?do it?>",
        "<![CDATA[<]]>",
        "&#13;",
    ]);
    let element = move |inside: String, (name, attributes, text): (&str, Vec<&str>, &str)| {
        let is_declared =
            |it: &&&str| **it != "xmlns=''" || !attributes.contains(&"xmlns='urn:default'");
        let attributes: String =
            attributes.iter().filter(is_declared).map(|it| format!(" {it}")).collect();
        format!("<{name}{attributes}>{text}{inside}</{name}>")
    };
    let parts = (name, attributes, text);
    let made = parts.clone().prop_map(move |parts| element(String::new(), parts));
    let derived =
        "<t:NodeType xmlns='urn:default'><t:DerivedFrom typeRef='w'/><c typeRef='w'/></t:NodeType>";
    let leaf = prop_oneof![3 => made, 1 => Just(derived.to_owned())];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        (prop::collection::vec(inner, 0..4), parts.clone())
            .prop_map(move |(inside, parts)| element(inside.concat(), parts))
    })
}

#[test]
fn what_is_written_is_read_as_the_same() {
    let written = documents().iter().filter_map(|text| canonical::holds(text)).count();
    assert!(written > 20, "{written}");
}

#[test]
fn a_prefix_that_means_nothing_means_nothing_for_being_declared_elsewhere() {
    let text = "<Definitions xmlns='http://docs.oasis-open.org/tosca/ns/2011/12' id='a' targetNamespace='urn:a'>\
                <NodeType name='A'><DerivedFrom typeRef='p:B'/></NodeType>\
                <NodeType name='B' xmlns:p='urn:a'><DerivedFrom typeRef='p:C'/></NodeType></Definitions>";
    let written = canonical::holds(text).unwrap();
    assert!(written.contains("<NodeType xmlns:p=\"urn:a\" name=\"B\">"), "{written}");
}

#[test]
fn more_namespaces_than_may_be_declared_at_one_place_are_left_where_they_are() {
    let each = (0..1_200).map(|at| format!("<p{at}:a xmlns:p{at}='urn:{at}'/>"));
    let text = format!("<n:a xmlns:n='urn:n'>{}</n:a>", each.collect::<String>());
    let written = canonical::holds(&text).unwrap();
    assert!(
        written.contains("\n<n:a xmlns:n=\"urn:n\">\n  <p0:a xmlns:p0=\"urn:0\"/>\n"),
        "{written}"
    );
}

/// Writes the same document differently: attributes in reverse order, namespaces declared again,
/// blanks and line ends between elements.
fn otherwise(text: &str) -> Option<String> {
    fn say(element: XmlElement<'_>, said: &mut String, known: &[(String, String)], keeps: bool) {
        write!(said, "<{}", element.written_name()).unwrap();
        let mut attributes: Vec<_> =
            element.attributes().map(|it| (it.written_name(), it.value())).collect();
        attributes.reverse();
        for (name, value) in attributes {
            write!(said, "\n{name} = '{}'", XmlText(&value).to_string().replace('\'', "&apos;"))
                .unwrap();
        }
        let mut known = known.to_vec();
        for (prefix, uri) in element.declarations() {
            known.retain(|(other, _)| other != prefix);
            known.push((prefix.to_owned(), uri.into_owned()));
        }
        for (prefix, uri) in &known {
            let name =
                if prefix.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{prefix}") };
            write!(said, " {name}='{}'", XmlText(uri).to_string().replace('\'', "&apos;")).unwrap();
        }
        said.push('>');
        let is_text = |node: XmlNode<'_>| node.text().is_some();
        let is_preserved = |it: XmlAttribute<'_>| it.written_name() == "xml:space";
        let keeps = keeps || element.nodes().any(is_text) || element.attributes().any(is_preserved);
        let has_parts = element.nodes().any(|node| !is_text(node));
        for node in element.nodes() {
            if !keeps && has_parts {
                said.push_str("\r\n   \t");
            }
            match node {
                XmlNode::Element(child) => say(child, said, &known, keeps),
                XmlNode::Text(text, _) => said.push_str(text),
                XmlNode::Unescaped(text, _) => write!(said, "<![CDATA[{text}]]>").unwrap(),
                XmlNode::Comment(text, _) => write!(said, "<!--{text}-->").unwrap(),
                XmlNode::Instruction(text, _) => write!(said, "<?{text}?>").unwrap(),
            }
        }
        write!(said, "</{}>", element.written_name()).unwrap();
    }
    let document = parse(FileId::DETACHED, text.into(), &XmlLimits::default()).ok()?;
    let mut said = String::new();
    for node in document.nodes() {
        match node {
            XmlNode::Element(root) => say(root, &mut said, &[], false),
            XmlNode::Comment(text, _) => write!(said, "  <!--{text}-->\n\n").unwrap(),
            XmlNode::Instruction(text, _) => write!(said, "<?{text}?>").unwrap(),
            XmlNode::Text(..) | XmlNode::Unescaped(..) => {}
        }
    }
    Some(said)
}

fn is_written_alike(text: &str) {
    let (Some(written), Some(otherwise)) = (canonical::holds(text), otherwise(text)) else {
        return;
    };
    assert_eq!(canonical::holds(&otherwise), Some(written), "\n{text}\n{otherwise}");
}

#[test]
fn how_a_document_is_written_does_not_matter() {
    documents().iter().for_each(|text| is_written_alike(text));
}

proptest! {
    #[test]
    fn both_readers_agree_on_what_was_changed(which in any::<prop::sample::Index>(), changes in changes()) {
        let documents = documents();
        agree(&changed(which.get::<String>(&documents), &changes));
    }

    #[test]
    fn what_was_changed_and_written_is_read_as_the_same(which in any::<prop::sample::Index>(), changes in changes()) {
        let documents = documents();
        is_written_alike(&changed(which.get::<String>(&documents), &changes));
    }

    #[test]
    fn what_is_made_at_random_and_written_is_read_as_the_same(pieces in prop::collection::vec(pieces(), 0..4), is_default in any::<bool>()) {
        let (prefix, default) = if is_default { ("", "xmlns") } else { ("t:", "xmlns:t") };
        let tosca = "http://docs.oasis-open.org/tosca/ns/2011/12";
        let text = format!(
            "<{prefix}Definitions xmlns:n='urn:n' xmlns:p='urn:p' {default}='{tosca}' xmlns:t='{tosca}'>{}</{prefix}Definitions>",
            pieces.concat(),
        );
        let text = if is_default { text } else { text.replacen(&format!("xmlns:t='{tosca}'"), "", 1) };
        assert!(canonical::holds(&text).is_some(), "{text}");
        is_written_alike(&text);
    }
}
