//! Tests that random documents are written as they were read, and that another reader reads the
//! same. Uses only the public interface of the crate.

use cuvee_text::source::{FileId, SourceMap};
use cuvee_text::xml;
use cuvee_text::xml::{XmlLimits, XmlOutput};
use cuvee_text::yaml::{Limits, Out, parse, write_json, write_yaml};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Scalars, each as an author may write it.
const SCALARS: [&str; 12] = [
    "1.10",
    "0x1F",
    "true",
    "null",
    "~",
    "'it''s'",
    "\"a\\tb\"",
    "plain words",
    "12",
    "-0.5",
    "''",
    "é",
];

/// A tree of maps and lists, with comments and blank lines between entries.
#[derive(Clone, Debug)]
enum Tree {
    Scalar(usize),
    Map(Vec<(bool, Tree)>),
    List(Vec<(bool, Tree)>),
}

fn tree() -> impl Strategy<Value = Tree> {
    (0..SCALARS.len()).prop_map(Tree::Scalar).prop_recursive(4, 24, 4, |below| {
        let parts = vec((any::<bool>(), below), 1..4);
        prop_oneof![parts.clone().prop_map(Tree::Map), parts.prop_map(Tree::List)]
    })
}

fn write_parts(parts: &[(bool, Tree)], indent: usize, is_map: bool, text: &mut String) {
    for (index, (has_comment, part)) in parts.iter().enumerate() {
        if *has_comment {
            let _ = writeln!(text, "{:indent$}# about {index}", "");
        }
        let lead = if is_map { format!("k{index}:") } else { "-".to_owned() };
        match part {
            Tree::Scalar(scalar) => {
                let _ = writeln!(text, "{:indent$}{lead} {}", "", SCALARS[*scalar]);
            }
            Tree::Map(parts) | Tree::List(parts) => {
                let _ = writeln!(text, "{:indent$}{lead}", "");
                write_parts(parts, indent + 2, matches!(part, Tree::Map(_)), text);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn yaml_is_written_as_it_was_read(parts in vec((any::<bool>(), tree()), 1..4)) {
        let mut text = String::new();
        // Under keys, maps and lists begin on a line of their own, but under dashes, the writer
        // puts them on the same line.
        let parts: Vec<_> = parts.into_iter().map(|(said, part)| (said, without_lists(part))).collect();
        write_parts(&parts, 0, true, &mut text);
        let document = parse(FileId::DETACHED, text.as_str().into(), &Limits::default()).unwrap();
        prop_assert_eq!(write_yaml(&Out::Source(document.root())), text.as_str());
    }

    #[test]
    fn yaml_means_what_another_reader_says(parts in vec((any::<bool>(), tree()), 1..4)) {
        let mut text = String::new();
        write_parts(&parts, 0, true, &mut text);
        let document = parse(FileId::DETACHED, text.as_str().into(), &Limits::default()).unwrap();
        let ours: serde_json::Value =
            serde_json::from_str(&write_json(&Out::Source(document.root()))).unwrap();
        let other: serde_json::Value = serde_yaml::from_str(&text).unwrap();
        prop_assert_eq!(ours, other, "{}", text);
    }

    #[test]
    fn xml_is_read_as_it_was_written(texts in vec("[ -~é]{0,12}", 1..6)) {
        let mut output = XmlOutput::default();
        output.open("list");
        texts.iter().for_each(|text| {
            output.open("item");
            output.attribute("said", text);
            output.close();
        });
        let text = output.finish(&BTreeMap::new());
        let sources = SourceMap::default();
        let file = sources.add("list.xml", text.clone());
        let document = xml::parse(file, text.into(), &XmlLimits::default()).unwrap();
        let read: Vec<_> = document
            .root()
            .elements()
            .map(|item| item.attribute("said").unwrap().value().into_owned())
            .collect();
        prop_assert_eq!(read, texts);
    }
}

/// The tree with each list replaced by a scalar.
fn without_lists(tree: Tree) -> Tree {
    match tree {
        Tree::List(parts) => Tree::Scalar(parts.len()),
        Tree::Map(parts) => {
            Tree::Map(parts.into_iter().map(|(said, part)| (said, without_lists(part))).collect())
        }
        scalar => scalar,
    }
}
