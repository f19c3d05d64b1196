//! The XML layer against another reader: what one accepts the other does, and both see the same
//! tree. What they start from are documents that are right and ones that are wrong on purpose, changed
//! at random.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot read its files has failed"
)]

use cuvee::source::FileId;
use cuvee::xml::{XmlElement, XmlLimits, XmlNode, parse};
use proptest::prelude::*;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// What a document says, in a form that does not depend on who has read it.
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

/// What this reader refuses and the other one does not: other encodings and versions, targets without blanks behind them, prefixes of no
/// length, and what cannot be declared.
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

proptest! {
    #[test]
    fn both_readers_agree_on_what_was_changed(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8, any::<prop::sample::Index>()), 1..4),
    ) {
        const PIECES: [&str; 24] = [
            "<", ">", "/", "&", ";", "=", "\"", "'", " ", "]]>", "--", "<!--", "-->", "<![CDATA[", "<a>", "</a>",
            "<a/>", "xmlns:p='u'", "p:", "&amp;", "&#65;", "é", "\n", "\t",
        ];
        let documents = documents();
        let mut text: Vec<char> = which.get(&documents).chars().collect();
        for (at, kind, piece) in changes {
            let at = at.index(text.len() + 1);
            match kind {
                0 if at < text.len() => drop(text.remove(at)),
                1 if at + 1 < text.len() => text.swap(at, at + 1),
                2 => text.truncate(at),
                _ => drop(text.splice(at..at, piece.get(&PIECES).chars())),
            }
        }
        agree(&text.into_iter().collect::<String>());
    }
}
