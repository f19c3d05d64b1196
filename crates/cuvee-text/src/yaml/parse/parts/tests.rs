//! Checks that a document is the same wherever it was cut.

use super::*;
use crate::yaml::tests::laws::{commented, document, mutated, scraps};
use proptest::prelude::*;
use std::path::Path;

fn job<'k>(text: &str, keep: Option<Keep<'k>>) -> Job<'k> {
    Job { file: FileId(7), text: text.into(), keep }
}

/// Joins parts and returns the document, if they fit.
fn joined<'j>(job: &'j Job<'j>, parts: Vec<EntryRun<'j>>) -> Option<Result<Document, Diagnostic>> {
    let parted = Parted::of(job, parts);
    for part in 0..parted.parts.len() {
        parted.read(part, &Limits::default());
    }
    parted.document.into_inner()
}

/// Makes a cut at every line that looks like an entry, and at lines further left that follow it.
/// Whatever may be a key above is in the path. This is much bolder than [`cut`].
fn bold_cuts(text: &str) -> impl Iterator<Item = Vec<EntryRun<'_>>> {
    let starts: Vec<usize> = text
        .match_indices('\n')
        .map(|(at, _)| at + 1)
        .filter(|&at| starts_entry(&text[at..]))
        .collect();
    (0..starts.len()).map(move |first| {
        let mut parts = vec![EntryRun::whole(text)];
        for &start in &starts[first..] {
            if parts.len() == 1 || indent(&text[start..]) < parts[parts.len() - 1].column {
                parts.last_mut().unwrap().range.end = start;
                parts.push(part_from(text, start));
            }
        }
        parts
    })
}

fn starts_entry(line: &str) -> bool {
    line.trim_start_matches(' ').starts_with(|first: char| first.is_ascii_alphanumeric())
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn part_from(text: &str, start: usize) -> EntryRun<'_> {
    let column = indent(&text[start..]);
    let (mut least, mut path) = (column, Vec::new());
    for line in text[..start].lines().rev() {
        let content = line.trim();
        if indent(line) < least && !content.is_empty() && !content.starts_with('#') {
            least = indent(line);
            path.push(content.split_once(':').map_or(content, |(key, _)| key));
        }
    }
    path.reverse();
    EntryRun { range: start..text.len(), column, path }
}

/// Cuts a text everywhere and checks the documents. Returns how many of the bold cuts fit.
fn cut_everywhere(text: &str, keep: Option<Keep<'_>>) -> usize {
    let job = job(text, keep);
    let whole = read(&job, &Limits::default());
    for size in [1, 2, 5, 10, 20, 50, 100] {
        let parted = read_all(
            std::slice::from_ref(&job),
            &Limits::default(),
            Share { threads: 2 + size % 2, size },
        );
        assert_eq!(parted.first(), Some(&whole), "{size} in\n{text}");
    }
    let fits = bold_cuts(&job.text).filter_map(|parts| {
        let at = parts[1].range.start;
        joined(&job, parts).map(|document| assert_eq!(document, whole, "{at} in\n{text}"))
    });
    fits.count()
}

fn odd(path: &[&str]) -> bool {
    path.len() < 2 || path.last().is_some_and(|key| key.len() % 2 == 0 || key.ends_with(['1', '3']))
}

proptest! {
    #[test]
    fn formatted_documents(text in document()) {
        cut_everywhere(&text, None);
        cut_everywhere(&text, Some(&odd));
    }

    #[test]
    fn comments((text, _) in commented()) {
        cut_everywhere(&text, None);
        cut_everywhere(&text, Some(&odd));
    }

    #[test]
    fn scraps_of_lines(pieces in prop::collection::vec((prop::sample::select(vec!["", "  ", "    "]), line()), 0..12)) {
        let text: String = pieces.iter().map(|(indent, line)| format!("{indent}{line}\n")).collect();
        cut_everywhere(&text, None);
        cut_everywhere(&text, Some(&odd));
    }

    #[test]
    fn scraps_anywhere(text in scraps()) {
        cut_everywhere(&text, None);
    }

    #[test]
    fn mutations(text in mutated()) {
        cut_everywhere(&text, None);
    }
}

/// Lines that have another meaning behind other lines.
fn line() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a:",
        "b: 1",
        "c: x # y",
        "d: |",
        "e: >+",
        "f: 'q",
        "g'",
        "h: [1,",
        "i]: j",
        "k: {l: m}",
        "- n",
        "- o: p",
        "-",
        "? q",
        ": r",
        "s: &t",
        "u: *t",
        "<<: {v: w}",
        "x",
        "# y",
        "",
        "",
        "z: \"",
        "\"",
        "a2:",
        "b2: |2-",
        "---",
        "...",
        "c2: !!str",
        "'d2': e2",
        "f2:\tg2",
        "h2: i2\r",
        "%TAG ! x",
        "j2: &t k2",
        "l2 : m2",
        "!!map",
        "n2:  ",
        "[o2]: p2",
        "{q2: 1}:",
        "? [r2]",
        "? - s2",
        "? t2: 1",
        ": - u2",
        ": v2: 1",
        "? &t [w2]",
        "*t : x2",
    ])
}

#[test]
fn nasty_documents() {
    const NASTY: &[(&str, usize)] = &[
        ("a: |\n  b: 1\n  c: 2\nd:\n  e: 1\n  f: 2\n", 2),
        ("a:\n  b: x\n    c\n    d\n  e: f\n", 1),
        ("a: 'x\n  b: 1\n  c: 2'\nd: e\n", 1),
        ("a: [\n  b, c: 1,\n  d: 2]\ne: f\n", 1),
        ("a: 1\n---\nb: 2\n", 0),
        ("a: 1\n...\nb: 2\n", 0),
        ("a: 1\nb: 2\n...\n# c\n", 1),
        ("%TAG ! tag:x,2000:\n---\na: !b 1\nc: !d 2\ne: 3\n", 0),
        ("? a\n: b\nc: d\n? e\nf: g\n", 2),
        ("a:\n- b\n- c\nd:\n- e\nf:\ng: h\n", 3),
        ("[a]: b\nc: d\n? - e\n: f\ng: h\n{i: j}: k\n", 2),
        ("a: 1\n[b]:\n  c: 2\n  d: 3\ne: 4\n", 1),
        ("a: 1\n? b: 2\n  c: 3\n: d: 4\n  e: 5\nf: 6\n? g: 7\n", 0),
        (
            "a:\n  b: 1\n\n  # of b\n  # of c\n  c: 2\n # of a\n# of d\n\nd: 3\n  # of d\n# of all\n",
            2,
        ),
        ("a: &x 1\nb: *x\nc: &x 2\nd: *x\n", 1),
        ("a: 1\nb: 2\na: 3\n", 0),
        ("a:\n  b: 1\n  c: 2\n  <<: {d: 3}\n  e: 4\nf: 5\n", 3),
        ("a: 1\r\nb:\r\n  c: 2\r\n  d: 3\r\ne: 4", 3),
        ("a: |+\n  x\n\n\nb: >+\n  y\n \n\n# z\nc: 1\n", 2),
        ("\u{feff}a: 1\nb: 2\n", 1),
        ("- a: 1\n  b: 2\n- c: 3\n", 0),
        ("{a: 1,\nb: 2,\nc: 3}\n", 0),
        ("a: 1\nb\nc: 2\n", 0),
        ("|\n a: 1\n b: 2\n", 0),
        ("a:\n  b:\n    c: 1\n    d: \"x\n  e: 2\n\"\n", 0),
    ];
    for (text, fit) in NASTY {
        assert_eq!(cut_everywhere(text, None), *fit, "{text}");
        cut_everywhere(text, Some(&odd));
    }
}

/// A filter that keeps little of a library: its types, and what each derives from.
fn names_of_types(path: &[&str]) -> bool {
    match path {
        [_] | [_, _] | ["topology_template", ..] => true,
        ["node_types", _, "requirements"] | ["node_types", _, "requirements", _] => true,
        [_, _, keyword] => matches!(*keyword, "derived_from" | "metadata"),
        _ => false,
    }
}

/// Every YAML file of the tests, the examples and the presets, whether it is valid or not.
#[test]
fn files() {
    let mut open: Vec<_> = ["tests", "examples", "presets"]
        .map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name))
        .into();
    let mut fits = 0;
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if crate::source::is_yaml(&path)
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            let job = job(&text, Some(&names_of_types));
            let whole = read(&job, &Limits::default());
            for size in [1, 200, 1000] {
                let parted = Parted::new(&job, &Limits::default(), Share { threads: 2, size });
                let parts = parted.parts.len();
                let document = joined(&job, parted.parts);
                fits += usize::from(parts > 1 && document.is_some());
                assert!(
                    document.is_none_or(|document| document == whole),
                    "{size} in {}",
                    path.display()
                );
            }
        }
    }
    assert!(fits > 100, "only {fits} were cut");
}

/// Entries in the form that people write, with blank lines and comments between them.
fn library(types: usize) -> String {
    let mut text =
        "# generated\ntosca_definitions_version: tosca_simple_yaml_1_3\n\nnode_types:\n".to_owned();
    for index in 0..types {
        text.push_str(&format!(
            "\n  # type {index}\n  shop.T{index}:\n    derived_from: tosca.nodes.Root\n    description: |\n      a: text\n\n      b: text\n    \
             properties:\n      size:\n        type: integer\n        # in bytes\n        default: 1\n    requirements:\n      - host: [a, b]\n"
        ));
    }
    text + "\n# the rest\ncapability_types:\n  shop.C:\n    derived_from: tosca.capabilities.Root\n"
}

#[test]
fn what_is_large_is_cut_and_fits() {
    let text = library(500);
    for keep in [None, Some(&names_of_types as Keep<'_>)] {
        let job = job(&text, keep);
        let parts = cut(&job.text, 5_000, job.keep);
        assert!(parts.len() > text.len() / 10_000, "{}", parts.len());
        assert_eq!(joined(&job, parts), Some(read(&job, &Limits::default())));
    }
}

#[test]
fn what_is_small_needs_no_thread() {
    let jobs = [job(&library(10), None), job(&library(20), None)];
    assert_eq!(Share::of_machine(&jobs, usize::MAX).threads, 1);
    assert_eq!(Share::of_machine(&[job(&library(10_000), None)], 1).threads, 1);
}

#[test]
fn what_is_too_long_is_not_cut() {
    let job = job(&library(10), None);
    let limits = Limits { bytes: 1_000, ..Limits::default() };
    let read = read_all(std::slice::from_ref(&job), &limits, Share { threads: 2, size: 100 })
        .pop()
        .unwrap();
    assert!(read.unwrap_err().message.ends_with("1000 are allowed"));
}
