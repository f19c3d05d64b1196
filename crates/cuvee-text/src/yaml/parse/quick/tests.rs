//! Checks that the quick reader reads the same as the parser.

use super::super::{Builder, Omitted};
use super::*;
use crate::source::{FileId, is_yaml};
use crate::yaml::tests::laws::{commented, document, mutated, scraps};
use crate::yaml::{Keep, Limits};
use proptest::prelude::*;
use std::path::Path;

/// Events as text, with their places.
#[derive(Default)]
struct Seen(Vec<String>);

impl EventSink for Seen {
    fn take(&mut self, event: &Event<'_>, place: &EventPlace) -> Result<(), Stop> {
        let EventPlace { start, end, column, line, last_line, tag } = place;
        // No receiver uses the column of an end.
        let column = if event.is_node() { *column } else { 0 };
        match event {
            Event::StreamStart | Event::DocumentStart(..) | Event::StreamEnd => {}
            _ => self
                .0
                .push(format!("{event:?} {start}..{end} in {line}:{column}..{last_line} {tag:?}")),
        }
        Ok(())
    }
}

fn options() -> Options {
    granit_parser::options! { flow_nesting_limit: 40, block_nesting_limit: 40 }
}

fn by_parser(text: &str) -> Option<Vec<String>> {
    let mut seen = Seen::default();
    let mut documents = 0;
    for next in Parser::new_from_str_with_options(text, options()) {
        let (event, place) = next.ok()?;
        documents += usize::from(matches!(event, Event::DocumentStart(..)));
        seen.take(&event, &EventPlace::new(&place, 0)).ok()?;
    }
    (documents < 2).then_some(seen.0)
}

fn quickly(text: &str) -> Option<Vec<String>> {
    let mut seen = Seen::default();
    read(text, 0, &options(), &mut seen).ok()?;
    Some(seen.0)
}

/// Whether the quick reader reads a text. If it does, checks that the parser reads the same.
fn agrees(text: &str) -> bool {
    let Some(quick) = quickly(text) else { return false };
    let parsed = by_parser(text).unwrap_or_else(|| panic!("read, though it is wrong: {text:?}"));
    assert_eq!(quick, parsed, "{text:?}\n{text}");
    true
}

/// Checks that a text becomes the same document with and without the quick reader.
fn same_document(text: &str, keep: Option<Keep<'_>>) {
    let limits = Limits { depth: 12, ..Limits::default() };
    let new = || Builder::new(FileId(7), text, &limits, keep, Omitted::Skip);
    let mut slow = new();
    let slow = slow.read_by_parser().map(|()| slow.finish());
    match (Builder::filled(new).map(Builder::finish), slow) {
        (Ok(quick), Ok(slow)) => assert_eq!(quick, slow, "{text}"),
        (Err(Stop::Wrong(quick)), Err(Stop::Wrong(slow))) => assert_eq!(quick, slow, "{text}"),
        (quick, slow) => assert_eq!(quick.is_ok(), slow.is_ok(), "{text}"),
    }
}

fn odd(path: &[&str]) -> bool {
    path.last().is_some_and(|key| key.len() % 2 == 0 || key.ends_with(['1', '3']))
}

/// Whether the quick reader reads a text. Checks that the events and the document are the same as
/// the parser's.
fn holds(text: &str) -> bool {
    same_document(text, None);
    same_document(text, Some(&odd));
    agrees(text)
}

/// Lines that occur in templates. Some of them are wrong in their place.
fn line() -> impl Strategy<Value = String> {
    let head = prop::sample::select(vec![
        "",
        "",
        "",
        "",
        "- ",
        "- ",
        "-   ",
        "- - ",
        "a: ",
        "b:",
        "c-d.e:   ",
        "'f g': ",
        "\"h\" : ",
        "é ü: ",
        "- i: ",
        "- j:",
        "1: ",
        "<<: ",
        "- - k: ",
        "-",
        "? ",
        "[l]: ",
    ]);
    let value = prop::sample::select(vec![
        "",
        "",
        "",
        "",
        "x",
        "x y",
        "http://x#y",
        "-1.5",
        "a:b",
        "'q'",
        "'q # r'",
        "'it''s'",
        "\"s\"",
        "\"s\\n\"",
        "é",
        "\u{85}",
        "[]",
        "{}",
        "[a, 'b', \"c\"]",
        "{a: b, 'c': [d, -1], e: {}}",
        "[a, [b, {c: d}]]",
        "[a",
        "b]",
        "{a: ",
        "b}",
        "[a, ]",
        "[a: b]",
        "{a}",
        "{'a':b}",
        "{a: }",
        "|",
        ">-",
        "|+",
        "|2",
        ">1-",
        "| # z",
        "'t",
        "u'",
        "\"v",
        "w\"",
        "!!str",
        "!t x",
        "!t |",
        "!!map",
        "&r s",
        "*r",
        "@",
        "%",
        "x: y",
        "x:",
        "- x",
        "a\tb",
        "\tc",
        "d\t",
        "---",
        "...",
        ", e",
        "~",
        "null",
        "[a] b",
        "'a' b",
        "\u{feff}",
        "[a]#b",
        "'a'#b",
        "[é, ü]: x",
    ]);
    let tail = prop::sample::select(vec![
        "", "", "", "", "", "  ", " # y", "  # é", " #", "#z", "\t", " \t# y",
    ]);
    let end = prop::sample::select(vec![
        "\n",
        "\n",
        "\n",
        "\n",
        "\n",
        "\n\n",
        "\r\n",
        "\n  \n",
        "\n# y\n",
        "\n    # y\n",
        "\n\n\n",
    ]);
    (head, value, tail, end)
        .prop_map(|(head, value, tail, end)| format!("{head}{value}{tail}{end}"))
}

/// Lines of which each is indented like the one before, or a little more or less.
fn lines() -> impl Strategy<Value = String> {
    let step = prop::sample::select(vec![0_isize, 0, 0, 0, 2, 2, 2, 4, -2, -2, -4, -6, 1, -1]);
    let first = prop::sample::select(vec![
        "",
        "",
        "",
        "---\n",
        "--- # x\n",
        "\u{feff}",
        "# x\n",
        "%YAML 1.2\n---\n",
    ]);
    let last = prop::sample::select(vec![
        "", "", "", "last", "last: ", "  ", "- ", "  # z", "...\n", "    x",
    ]);
    (first, prop::collection::vec((step, line()), 1..14), last).prop_map(|(first, lines, last)| {
        let mut column = 0;
        let mut text = first.to_owned();
        for (step, line) in lines {
            column = (column + step).clamp(0, 12);
            text.push_str(&" ".repeat(column as usize));
            text.push_str(&line);
        }
        text + last
    })
}

/// A text with some of its characters replaced.
fn changed(text: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let scrap = prop_oneof![
        scraps(),
        line(),
        Just("\n".to_owned()),
        Just(" ".to_owned()),
        Just("  ".to_owned())
    ];
    let edit = (any::<prop::sample::Index>(), 0..4_usize, scrap);
    (text, prop::collection::vec(edit, 0..4)).prop_map(|(text, edits)| {
        edits.into_iter().fold(text, |text, (at, len, scrap)| {
            let mut chars: Vec<char> = text.chars().collect();
            let at = at.index(chars.len() + 1);
            let end = (at + len).min(chars.len());
            chars.splice(at..end, scrap.chars().take(8));
            chars.into_iter().collect()
        })
    })
}

proptest! {
    #[test]
    fn lines_of_templates(text in lines()) {
        holds(&text);
    }

    #[test]
    fn changed_lines(text in changed(lines())) {
        holds(&text);
    }

    #[test]
    fn changed_documents(text in changed(document())) {
        holds(&text);
    }

    #[test]
    fn comments((text, _) in commented()) {
        holds(&text);
    }

    #[test]
    fn scraps_anywhere(text in scraps()) {
        holds(&text);
    }

    #[test]
    fn mutations(text in mutated()) {
        holds(&text);
    }

    #[test]
    fn any_text(text in any::<String>()) {
        holds(&text);
    }
}

#[test]
fn what_is_read_quickly() {
    for text in [
        "a: 1\n",
        "a:\n  b: 1\n  c:\n  - d\n  -   e: f\n      g:\n  - - h\n    - i\n\nj: 'k' # l\n",
        "---\n# a\nb: c\n",
        "\u{feff}a: b\r\nc: é\r\n",
        "a: [b, {c: d}] # e\nf: {}\n",
        "a: [b,\n  c]\nd: |\n  e\n\n  f\n# g\nh: >-\n  i\n\n",
        "a:\n  b\n  c\nd: e\n  f\ng: 'h\n  i'\nj: \"k\\n\"\nl: !!str 1\n",
        "a: |+\n  b\n\n\n# c\nd:\n- |\n  e\n-\n  f\n",
        "  a: b\n  c:\n",
        "- a\n-\n- # b\n- c:\n",
        "a: {b: c,\r\n   d: e}\r\nf: |\r\n  g\r\n",
    ] {
        assert!(holds(text), "{text}");
    }
}

#[test]
fn what_the_parser_reads_alone() {
    for text in [
        "",
        "# a\n",
        "a",
        "[a]",
        "a: &b c\nd: *b\n",
        "a: b\n---\nc: d\n",
        "a: b\n...\n",
        "%YAML 1.2\n---\na: b\n",
        "? a\n: b\n",
        "[a]: b\n",
        "a:\tb\n",
        "a:\n- \tb\n",
        "a: b: c\n",
        "a: b\n  c: d\n",
        "a: |\nb: c\n",
        "a:\n  |\nb: c\n",
        "a: b\u{7f}\n",
        "a: b\rc: d\n",
        "a: !!map\n  b: c\n",
        "a: [b\n]\nc: d\n  e\n f: g\n",
        "a: b\n- c\n",
        " a: b\nc: d\n",
        "- a\nb: c\n",
        "'a'#: b\n",
    ] {
        assert!(!holds(text), "{text}");
    }
}

#[test]
fn long_keys_are_none() {
    let text = |len: usize| format!("{}: b\n", "a".repeat(len));
    assert!(holds(&text(LONGEST_KEY)));
    assert!(!holds(&text(LONGEST_KEY + 1)));
    assert!(!holds(&text(1_100)));
}

/// Every YAML file of the tests, the examples and the presets, whether it is valid or not.
#[test]
fn files() {
    let mut open: Vec<_> = ["tests", "examples", "presets", "docs"]
        .map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name))
        .into();
    let (mut all, mut quick) = (0, 0);
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if is_yaml(&path)
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            all += 1;
            quick += usize::from(holds(&text));
            quick += usize::from(holds(&text.replace('\n', "\r\n")));
        }
    }
    assert!(quick > 2 * all * 9 / 10, "{quick} of {all}, each twice, are read quickly");
}

/// Each case of the YAML test suite, as a file in the directory that the environment variable
/// names.
#[test]
#[ignore = "needs YAML_TEST_SUITE"]
fn yaml_test_suite() {
    let files = std::fs::read_dir(std::env::var_os("YAML_TEST_SUITE").unwrap()).unwrap();
    let (mut all, mut quick) = (0, 0);
    for file in files {
        all += 1;
        quick += usize::from(holds(&std::fs::read_to_string(file.unwrap().path()).unwrap()));
    }
    println!("{quick} of {all} are read quickly");
    assert!(quick > 0);
}
