//! Tests repairing as texts are typed.

use super::*;
use crate::yaml::{Document, Node};
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

/// A scalar, and where it stands.
type Scalar<'d> = (Range<usize>, &'d str);

fn scalars(document: &Document) -> Vec<Scalar<'_>> {
    fn walk<'d>(node: Node<'d>, found: &mut Vec<Scalar<'d>>) {
        let span = node.span();
        match node.text() {
            Some(text) => found.push((span.start as usize..span.end as usize, text)),
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
    found
}

/// Every prefix of every line of every example leads to a tree, and what lies outside of the
/// repaired lines is where it is in the whole text.
#[test]
fn every_state_of_typing_has_a_tree() {
    let texts: Vec<_> =
        examples().iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    // Of each text, every thread types some lines.
    let run = |thread| texts.iter().map(|text| typed_states(text, (thread, threads))).sum();
    let states: usize = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run(thread))).collect();
        runs.into_iter().map(|run| -> usize { run.join().unwrap() }).sum()
    });
    assert!(states > 60_000, "{states}");
}

/// Types the lines of a text whose numbers have a remainder. Returns how many states there were.
fn typed_states(text: &str, (remainder, divisor): (usize, usize)) -> usize {
    let limits = Limits::default();
    let Ok(whole) = parse(FileId::DETACHED, text.into(), &limits) else { return 0 };
    let (whole, mut start, mut states) = (scalars(&whole), 0, 0);
    for (number, line) in text.split('\n').enumerate() {
        let end = start + line.len();
        let cursors = line.char_indices().map(|(at, _)| start + at);
        for cursor in cursors.filter(|_| number % divisor == remainder) {
            let typed = format!("{}{}", &text[..cursor], &text[end..]);
            let Some(repaired) = repair(&typed, cursor, &limits) else {
                panic!("no tree for {:?} in {text}", &text[start..cursor]);
            };
            states += 1;
            if !repaired.edits.is_empty() {
                check_places(&whole, &typed, &repaired, (start, cursor, end));
            }
        }
        start = end + 1;
    }
    states
}

/// Holds scalars of the repaired text to those of the whole one.
fn check_places(
    whole: &[Scalar<'_>],
    typed: &str,
    repaired: &Repaired,
    (start, cursor, end): (usize, usize, usize),
) {
    let line_around = |at: usize| {
        let start = typed[..at].rfind('\n').map_or(0, |at| at + 1);
        start..=typed[at..].find('\n').map_or(typed.len(), |behind| at + behind)
    };
    let touched: Vec<_> = repaired.edits.iter().map(|it| line_around(it.range.start)).collect();
    let cut = end - cursor;
    // The rest of a scalar that starts in the line is no part of it any more.
    let begun = whole.iter().filter(|(span, _)| (start..end).contains(&span.start));
    let rest = begun.map(|(span, _)| span.end).max().unwrap_or(0).saturating_sub(cut);
    let typed_last = start..=cursor.max(rest);
    let outside =
        |at: &usize| !typed_last.contains(at) && !touched.iter().any(|it| it.contains(at));
    let tree = parse(FileId::DETACHED, repaired.text.as_str().into(), &Limits::default()).unwrap();
    let in_typed = |at: usize| if at < end { at } else { at - cut };
    let is_cut = |at: usize| (start..end).contains(&at);
    let of_repaired = places(&scalars(&tree), |at| Some(repaired.original(at)).filter(outside));
    let of_whole = places(whole, |at| (!is_cut(at)).then(|| in_typed(at)).filter(outside));
    assert_eq!(of_repaired, of_whole, "{:?}\n{:?}", &typed[start..cursor], repaired.edits);
}

/// The scalars that are outside, each at its place there.
fn places<'d>(
    scalars: &[Scalar<'d>],
    place: impl Fn(usize) -> Option<usize>,
) -> Vec<(usize, &'d str)> {
    let written = scalars.iter().filter(|(_, text)| !text.is_empty());
    written.filter_map(|(span, text)| Some((place(span.start)?, *text))).collect()
}
