//! Tests repairing as texts are typed.

use super::*;
use crate::source::SourceMap;
use crate::yaml::{Document, Node};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

fn repaired(text: &str) -> String {
    let offset = text.find('|').unwrap();
    let text = text.replacen('|', "", 1);
    repair(&text, offset, &Limits::default()).unwrap().text
}

#[test]
fn the_least_that_helps_is_done() {
    let cases = [
        ("shop: { type: Sho|\n", "shop: { type: Sho}\n"),
        ("shop: { type: [a, |\nb: 1\n", "shop: { type: [a,]}\nb: 1\n"),
        ("a: { b: \"op|\nc: 1\n", "a: { b: \"op\"}\nc: 1\n"),
        ("a: 'op|\nc: 1\n", "a: 'op'\nc: 1\n"),
        ("a: \"op\\|\nc: 1\n", "a: \"op\\\\\"\nc: 1\n"),
        ("a:\n  b: 1\n  ty|\n", "a:\n  b: 1\n  ty:\n"),
        ("a:\n  b: 1\n  ty|\n  c: 1\n", "a:\n  b: 1\n  ty:\n  c: 1\n"),
        ("a: [ x,\n  y|\nb: 1\n", "a: [ x,\n  y]\nb: 1\n"),
        ("a:\n  b: 1\n\tc|\n", "a:\n  b: 1\n  c:\n"),
        ("a:\n  b: 1\n c: 1|\n", "a:\n  b: 1\n  c: 1\n"),
        ("a:\n  b: 1\n  b|: 2\n", "a:\n  b: 1\n  \n"),
        ("a: it's\nb: # not 'open\nc: {d|\n", "a: it's\nb: # not 'open\nc: {d}\n"),
        ("a: |\nb: 1\n", "a: \nb: 1\n"),
    ];
    for (broken, expected) in cases {
        assert_eq!(repaired(broken), expected, "{broken}");
    }
}

#[test]
fn what_is_far_from_the_cursor_is_repaired_too() {
    let broken = "a: {\nb: 1\nc: [x\nd: 1\ne: 1|\n";
    let text = repaired(broken);
    assert!(text.contains("\nd: 1\ne: 1\n"), "{text}");
}

#[test]
fn what_lines_above_left_open_is_closed_there() {
    let cases = [
        ("a: {b: 1, \nc: {d: 1}\ne: {f: |\n", "a: {b: 1,}\nc: {d: 1}\ne: {f:}\n"),
        ("a: {b: {c: [\nd: {e: |\n", "a: {b: {c: []}}\nd: {e:}\n"),
        ("a: {b: \"c\nd: {e: f|\n", "a: {b: \"c\"}\nd: {e: f}\n"),
        ("a:\n  b:\n\tc: d\n  e: {f: g|\nh: 1\n", "a:\n  b:\n    c: d\n  e: {f: g}\nh: 1\n"),
        ("a: {\n  b: 1,\n}\nc: {d|\n", "a: {\n  b: 1,\n}\nc: {d}\n"),
        ("a:\n  b: \"c|\n  d: {e: 1\n", "a:\n  b: \"c\"\n  d: {e: 1\n}"),
    ];
    for (broken, expected) in cases {
        assert_eq!(repaired(broken), expected, "{broken}");
    }
}

#[test]
fn places_lead_back() {
    let broken = "a: { b: \"op\nc: [d\n";
    let repaired = repair(broken, 4, &Limits::default()).unwrap();
    let at = repaired.text.find('d').unwrap();
    assert_eq!(&broken[repaired.original(at)..][..1], "d");
    assert_eq!(repaired.original(0), 0);
    assert_eq!(repaired.original(repaired.text.len()), broken.len());
}

/// The YAML files of the examples.
fn examples() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let (mut found, mut open) = (Vec::new(), vec![root]);
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|it| it == "yaml" || it == "yml") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The scalars of a document that lie in none of the lines, each with its place.
fn scalars(
    document: &Document,
    place: &dyn Fn(usize) -> Option<usize>,
) -> HashSet<(usize, String)> {
    fn walk(node: Node<'_>, found: &mut Vec<(usize, String)>) {
        match node.text() {
            Some("") => {}
            Some(text) => found.push((node.span().start as usize, text.to_owned())),
            None => {
                for (key, value) in node.entries() {
                    walk(key, found);
                    walk(value, found);
                }
                node.items().for_each(|item| walk(item, found));
            }
        }
    }
    let mut found = Vec::new();
    walk(document.root(), &mut found);
    found.into_iter().filter_map(|(at, text)| Some((place(at)?, text))).collect()
}

/// One of so many prefixes of a line is looked at; which ones depends on the line. All of them take
/// four times as long.
const EVERY: usize = 4;

/// Every prefix of every line of every example leads to a tree, and what lies outside of the
/// repaired lines is where it is in the whole text.
#[test]
fn every_state_of_typing_has_a_tree() {
    let limits = Limits::default();
    let mut states = 0;
    for path in examples() {
        let text = std::fs::read_to_string(&path).unwrap();
        let sources = SourceMap::default();
        let file = sources.add(&path, text.as_str());
        let Ok(whole) = parse(file, text.as_str().into(), &limits) else { continue };
        let mut start = 0;
        for (number, line) in text.split('\n').enumerate() {
            let end = start + line.len();
            for (at, _) in line.char_indices().skip(number % EVERY).step_by(EVERY) {
                let cursor = start + at;
                let typed = format!("{}{}", &text[..cursor], &text[end..]);
                let Some(repaired) = repair(&typed, cursor, &limits) else {
                    panic!("{}: no tree for {:?}", path.display(), &typed[start..cursor]);
                };
                states += 1;
                if !repaired.edits.is_empty() {
                    check_places(&whole, &typed, &repaired, (start, cursor, end));
                }
            }
            start = end + 1;
        }
    }
    assert!(states > 60_000 / EVERY, "{states}");
}

/// Where the last scalar ends that starts in a range.
fn rest_of_scalar(node: Node<'_>, line: std::ops::Range<usize>) -> usize {
    let span = node.span();
    if node.text().is_some() {
        return if line.contains(&(span.start as usize)) { span.end as usize } else { 0 };
    }
    let entries = node.entries().flat_map(|(key, value)| [key, value]);
    let ends = entries.chain(node.items()).map(|node| rest_of_scalar(node, line.clone()));
    ends.max().unwrap_or(0)
}

/// Holds scalars of the repaired text to those of the whole one.
fn check_places(
    whole: &Document,
    typed: &str,
    repaired: &Repaired,
    (start, cursor, end): (usize, usize, usize),
) {
    let line_of = |at: usize| typed[..at].matches('\n').count();
    let touched: HashSet<usize> = repaired.edits.iter().map(|it| line_of(it.range.start)).collect();
    let cut = end - cursor;
    // The rest of a scalar that starts in the line is no part of it any more.
    let rest = rest_of_scalar(whole.root(), start..end).saturating_sub(cut);
    let outside = |at: usize| {
        let is_typed = (start..=cursor.max(rest)).contains(&at);
        !touched.contains(&line_of(at)) && !is_typed
    };
    let tree = parse(FileId::DETACHED, repaired.text.as_str().into(), &Limits::default()).unwrap();
    let of_repaired = scalars(&tree, &|at| Some(repaired.original(at)).filter(|&at| outside(at)));
    let in_typed = |at: usize| if at < end { at } else { at - cut };
    let of_whole = scalars(whole, &|at| {
        let is_cut = (start..end).contains(&at);
        Some(in_typed(at)).filter(|&at| !is_cut && outside(at))
    });
    let differing: Vec<_> = of_repaired.symmetric_difference(&of_whole).collect();
    assert!(
        differing.is_empty(),
        "{:?}\n{:?}\n{differing:?}",
        &typed[start..cursor],
        repaired.edits
    );
}
