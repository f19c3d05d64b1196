//! Checks parsing and writing together.

use super::*;
use crate::diagnostic::{CodeName, Diagnostic};
use crate::source::FileId;
use crate::value::{Number, Value};
use proptest::prelude::*;

fn parsed(text: &str) -> Document {
    parse(FileId(0), text.into(), &Limits::default())
        .unwrap_or_else(|error| panic!("{error:?} in\n{text}"))
}

fn value(text: &str) -> Value {
    parsed(text).root().to_value()
}

fn written(text: &str) -> String {
    write_yaml(&Out::Source(parsed(text).root()))
}

fn rejected(text: &str) -> Diagnostic {
    let error = parse(FileId(0), text.into(), &Limits::default()).map(|_| ()).expect_err(text);
    assert_eq!(error.code, CodeName::SYNTAX);
    assert!(error.help.is_some(), "{error:?}");
    error
}

/// The text at which a diagnostic points.
fn at<'t>(text: &'t str, error: &Diagnostic) -> &'t str {
    let span = error.span.unwrap();
    &text[span.start as usize..span.end as usize]
}

fn json(value: &Value) -> serde_json::Value {
    serde_json::to_value(value).unwrap()
}

mod trees {
    use super::*;

    #[test]
    fn spans_cover_nodes_without_comments() {
        let text = "# head\na: &x [1,  2] # c\nb:\n  - k: 'v' # d\n\n  # e\nlit: |  # f\n  one\n\n  two\n\n# g\nlast: # h\n";
        let document = parsed(text);
        let snippet = |node: Node<'_>| &text[node.span().start as usize..node.span().end as usize];
        let root = document.root();
        assert_eq!(snippet(root.get("a").unwrap()), "[1,  2]");
        assert_eq!(snippet(root.get("b").unwrap()), "- k: 'v'");
        assert_eq!(snippet(root.get("b").unwrap().items().next().unwrap()), "k: 'v'");
        assert_eq!(snippet(root.get("lit").unwrap()), "|  # f\n  one\n\n  two");
        assert_eq!(snippet(root.get("last").unwrap()), "");
        assert!(snippet(root).starts_with("a: &x") && snippet(root).ends_with("last"));
    }

    #[test]
    fn a_list_in_the_column_of_its_key_starts_at_its_dash() {
        let text = "k:\n- a\n- - b\n";
        let document = parsed(text);
        assert_eq!(document.root().get("k").unwrap().span().start, 3);
    }

    #[test]
    fn scalars_are_typed_when_plain_or_tagged() {
        let document = parsed(
            "[1, '1', !!str 1, ! 1, !!float 1, !!int '7', yes, 017, ~, true, !x 2, \"\\x41\", 0x1F]",
        );
        let scalars: Vec<_> = document.root().items().map(|item| item.scalar().unwrap()).collect();
        use Scalar::*;
        assert_eq!(
            scalars,
            [
                Int(1),
                String("1"),
                String("1"),
                String("1"),
                Float(1.0),
                Int(7),
                String("yes"),
                Int(17),
                Null,
                Bool(true),
                Int(2),
                String("A"),
                Int(31)
            ]
        );
    }

    #[test]
    fn describes_and_converts() {
        let document = parsed("{a: [], b: {}, c: x, d: 1.10, e: true, f: }");
        let described: Vec<_> =
            document.root().entries().map(|(_, node)| node.describe()).collect();
        assert_eq!(described, ["a list", "a map", "a string", "a number", "a boolean", "null"]);
        assert_eq!(
            document.root().to_value().to_string(),
            "{a: [], b: {}, c: x, d: 1.10, e: true, f: null}"
        );
        assert_eq!(document.root().get("e").and_then(Node::as_bool), Some(true));
        assert_eq!(document.root().get("c").and_then(Node::as_str), Some("x"));
        assert_eq!(document.root().get("d").and_then(Node::as_str), None);
        assert_eq!(document.root().get("d").and_then(Node::text), Some("1.10"));
        assert!(document.root().get("f").is_some_and(Node::is_null));
        assert!(document.root().get("g").is_none());
    }

    #[test]
    fn an_alias_is_what_it_stands_for() {
        let document = parsed("a: &x {k: 1}\nb: *x\nc: [*x, &y s]\n*y : d\n");
        let root = document.root();
        let (a, b) = (root.get("a").unwrap(), root.get("b").unwrap());
        assert!(a.ptr_eq(b) && b.ptr_eq(root.get("c").unwrap().items().next().unwrap()));
        assert!(!a.ptr_eq(root) && !a.ptr_eq(parsed("a: {k: 1}").root().get("a").unwrap()));
        assert_eq!(a.span(), b.span());
        assert_eq!(root.get("s").and_then(Node::as_str), Some("d"));
    }

    #[test]
    fn keys_may_be_collections() {
        let text = "[service, 2]: a\n{b: 1, a: '2'}: b\n? - x\n  - [~, 0x1F]\n: c\n? {}\ns: &s [z]\n*s : d\n";
        let document = parsed(text);
        let keys: Vec<_> = document.root().entries().map(|(key, _)| key.key_text()).collect();
        assert_eq!(keys, ["[service, 2]", "{a: '2', b: 1}", "[x, [null, 0x1F]]", "{}", "s", "[z]"]);
        let (key, value) = document.root().entries().next().unwrap();
        assert_eq!((key.text(), key.kind(), value.text()), (None, NodeKind::Sequence, Some("a")));
        assert_eq!(document.root().get("[service, 2]").map(|_| ()), None);
        assert_eq!(json(&value_of_first(text)), serde_json::json!("a"));
        assert!(document.has_collection_keys() && !parsed("a: [b]").has_collection_keys());
    }

    /// The value of the first entry, read back from JSON, whose keys are strings.
    fn value_of_first(text: &str) -> Value {
        let json = write_json(&Out::Source(parsed(text).root()));
        parsed(&json).root().get("[service, 2]").unwrap().to_value()
    }

    #[test]
    fn merge_keys_are_merged() {
        let expected = "{x: {a: 1, b: 2}, y: {b: 3, c: 4}, z: {p: 0, b: 9, a: 1, c: 4, q: 5}}";
        let text =
            "x: &x {a: 1, b: 2}\ny: &y {b: 3, c: 4}\nz:\n  p: 0\n  b: 9\n  <<: [*x, *y]\n  q: 5\n";
        let merged = "z:\n  p: 0\n  b: 9\n  a: 1\n  c: 4\n  q: 5\n";
        assert_eq!(value(text), value(expected));
        assert!(written(text).ends_with(merged), "{}", written(text));
        assert_eq!(value("x: {<<: {a: 1}, a: 2}"), value("x: {a: 2}"));
        assert_eq!(value("x: {'<<': 1}").to_string(), "{x: {<<: 1}}");
    }

    #[test]
    fn json_and_odd_starts_are_yaml() {
        assert_eq!(
            value("{\"a\": [1, null, \"x\\ty\"],\n \"b\":{}}").to_string(),
            "{a: [1, null, x\ty], b: {}}"
        );
        assert_eq!(value("\u{feff}a: 1"), value("a: 1"));
        assert_eq!(value("a: 1\r\nb: |\r\n  x\r\n  y\r\n"), value("a: 1\nb: |\n  x\n  y\n"));
        assert_eq!(value(""), Value::Null);
        assert_eq!(value("# only\n"), Value::Null);
        assert_eq!(value("---\n...\n"), Value::Null);
    }
}

mod rejects {
    use super::*;

    #[test]
    fn duplicate_keys() {
        let many: String = (0..40).map(|index| format!("k{index}: 1\n")).collect();
        for text in
            ["a: 1\nb: 2\na: 3\n".to_owned(), "{a: 1, \"a\": 2}".to_owned(), many + "'k3': 2\n"]
        {
            let error = rejected(&text);
            assert!(error.message.contains("twice"), "{error:?}");
            let (first, second) = (error.labels[0].span, error.span.unwrap());
            assert!(first.start < second.start);
            assert_eq!(
                text[first.start as usize..first.end as usize],
                *at(&text, &error).trim_matches(['"', '\''])
            );
        }
    }

    #[test]
    fn equal_collections_as_keys() {
        for text in [
            "[a, b]: 1\n['a', \"b\"]: 2\n",
            "? - a\n  - b\n: 1\n[a, b]: 2\n",
            "{{a: 1, b: 2}: x, {b: 2, a: 1}: y}",
            "a: &a [b]\nc: {*a : 1, [b]: 2}\n",
            "'[a, b]': 1\n[a, b]: 2\n",
        ] {
            let error = rejected(text);
            assert!(error.message.contains("is there twice"), "{error:?}");
            let (first, second) = (error.labels[0].span, error.span.unwrap());
            assert!(first.start < second.start);
        }
        for text in ["[a, b]: 1\n[b, a]: 2\n", "{[1]: 1, ['1']: 2, [[1]]: 3, {1: ~}: 4}"] {
            assert_eq!(parsed(text).root().to_value(), value(&written(text)));
        }
        assert_eq!(
            value("{x: &x {[a]: 1, b: 2}, y: {<<: *x, [a]: 3}}"),
            value("{x: {[a]: 1, b: 2}, y: {[a]: 3, b: 2}}")
        );
    }

    #[test]
    fn what_is_malformed_with_its_place() {
        for (text, place) in [
            ("a: [1, 2", "["),
            ("a: *nope", "*nope"),
            ("a: b: c", ":"),
            ("a: \"x", "\"x"),
            ("a: @x", "@x"),
            ("a:\n\tb: 1", "b:"),
            ("--- a\n--- b\n", "---"),
            ("a: &x [*x]", "*x"),
            ("!!int x", "x"),
            ("!!map x", "!!map"),
            ("!!seq {}", "!!seq"),
            ("<<: 1", "1"),
            ("<<: [{a: 1}, 2]", "2"),
            ("a: 1\0", "\0"),
            ("a: \u{7}", "\u{7}"),
        ] {
            let error = rejected(text);
            assert_eq!(at(text, &error), place, "{text:?} {error:?}");
        }
    }

    #[test]
    fn what_is_too_deep_or_too_large() {
        let deep = |open: &str, count: usize| open.repeat(count);
        for text in [
            deep("[", 200),
            deep("- ", 200),
            deep("{a: ", 200),
            deep("? ", 200),
            deep("[", 100_000),
            deep("- ", 100_000),
        ] {
            rejected(&text);
        }
        let nested = (1..200).fold("a0: &a0 [x]\n".to_owned(), |text, level| {
            text + &format!("a{level}: &a{level} [*a{}]\n", level - 1)
        });
        assert!(rejected(&nested).message.contains("levels deep"));
        let fine = format!("{}x{}", "[".repeat(120), "]".repeat(120));
        assert_eq!(written(&fine), fine + "\n");
        let small = Limits { bytes: 3, ..Limits::default() };
        assert!(parse(FileId(0), "a: 1".into(), &small).is_err());
    }

    #[test]
    fn aliases_that_explode() {
        let list = |level: usize| vec![format!("*a{level}"); 10].join(", ");
        let laughs = (1..30).fold("a0: &a0 [x]\n".to_owned(), |text, level| {
            text + &format!("a{level}: &a{level} [{}]\n", list(level - 1))
        });
        assert!(rejected(&laughs).message.contains("aliases"));
        let merged = (1..30).fold("a0: &a0 {x: 1}\n".to_owned(), |text, level| {
            let entries: String = (0..10).map(|key| format!("k{key}: *a{}, ", level - 1)).collect();
            text + &format!("a{level}: &a{level} {{{entries}<<: *a{}}}\n", level - 1)
        });
        assert!(rejected(&merged).message.contains("aliases"));
    }
}

mod filters {
    use super::*;

    fn filtered(text: &str, keep: Keep<'_>) -> Document {
        parse_filtered(FileId(0), text.into(), &Limits::default(), keep).unwrap()
    }

    const LIBRARY: &str = "\
types: # all
  # about a
  a:
    x: &x
      - 1 # one

    # end of a
  # about b
  b: # behind b
    y:
    - 1
    # in b
    # below b
  # about c
  c: {z: 2, x: 3} # behind c
  # about d
  d: |
    text

  # about e
  e: 5 # behind e
# the end
";

    #[test]
    fn leaves_out_entries_and_their_comments() {
        let document =
            filtered(LIBRARY, &|path| !matches!(path, ["types", "b" | "d"] | ["types", "c", "x"]));
        let rest = "\
types: # all
  # about a
  a:
    x:
      - 1 # one

    # end of a
  # about c
  c: {z: 2} # behind c
  # about e
  e: 5 # behind e
# the end
";
        let out = write_yaml(&Out::Source(document.root()));
        assert_eq!(value(&out), value(rest));
        for comment in [
            "all", "about a", "one", "end of a", "about c", "behind c", "about e", "behind e",
            "the end",
        ] {
            assert!(out.contains(comment), "{comment} in\n{out}");
        }
        assert!(
            !["about b", "behind b", "in b", "below b", "about d"]
                .iter()
                .any(|gone| out.contains(gone)),
            "{out}"
        );
    }

    #[test]
    fn paths_are_keys_from_the_root_through_lists() {
        let seen = std::sync::Mutex::new(Vec::new());
        let keep = |path: &[&str]| {
            seen.lock().unwrap().push(path.join("/"));
            path != ["a", "b"]
        };
        filtered("a:\n  - b: {c: 1}\n    d: {e: 2}\nf: {<<: {g: 1}}\n", &keep);
        assert_eq!(*seen.lock().unwrap(), ["a", "a/b", "a/d", "a/d/e", "f", "f/g", "f/g"]);
    }

    #[test]
    fn anchors_in_what_is_left_out_still_work() {
        let text = "lib:\n  a: &a {lib: {x: &x 1}}\n  &k b: 2\nuse: [*a, *x, *k]\n";
        let document = filtered(text, &|path| path != ["lib"]);
        assert_eq!(document.root().to_value(), value("use: [{lib: {x: 1}}, 1, b]"));
    }
}

mod writing {
    use super::*;

    /// Documents that are written as people and formatters write them stay the same byte by byte.
    #[test]
    fn keeps_well_formatted_documents() {
        for text in [
            "a: 1\n",
            "a:   1\nbb:  2\n",
            "# head\n\n# about a\na: 1 # behind\n\n\n# about b\nb:\n  # about c\n  c: 2\n  # below c\n\n# foot\n",
            "%YAML 1.2\n--- # start\n# head\na: 1\n",
            "---\n- a\n# between\n- b # behind\n-\n- c:\n  # in c\n  - d\n\n  e: f\n",
            "k: # behind k\n  - a\n  # below a\nl:\n- x\n- y\n# about m\nm:\n    deep: 1\n",
            "a: |\n  x\n    y\n\n  z\n\nb: >-\n    folded\n    text\nc: |2-\n   x\nd: |+\n  x\n\n\ne: |-  # note\n  y\n",
            "- |\n  x\n- >\n  y\n- - |\n    z\n  - 2\n",
            "a: 'it''s'\nb: \"x\\ty\"\nc: 1.10\nd: 0x1F\ne: 2024-01-01\nf: !tag 1\ng: !!str 1\nh: ~\ni:\n",
            "a: {x: 1, y: [a, b], z: {}}\nb: []\nc: [\n  1, # one\n  2\n]\nd: {\n  a: 1 }\n",
            "a: one\n  two\n\n  three\nb: \"one\n  two\"\n",
            "a: !t\n  b: 1\nc: !u\n  - d\n- e: 1\n".split_once("- e").unwrap().0,
            "- !t\n  a: 1\n- # behind the dash\n  b: 1\n-\n  # above\n  c: 1\n",
            "a:\n\n  b: 1\n\n  c: 2\n",
            "- - a\n  - b\n- - c\n",
            "# only a comment\n",
            "---\n",
            "5 # five\n",
            "[1, 2]\n",
            "--- \n".trim_end_matches([' ', '\n']).to_owned().leak(),
            "|\n  text\n",
            "[a, b]: x\n{a: 1}: y # c\nk:\n  [c]: d\n  [e]:\n    - f\n- g\n"
                .split_once("- g")
                .unwrap()
                .0,
            "? [a, b]\n: x\n? {a: 1} # c\n: y # d\n? [\n    a2, # in it\n    b\n  ]\n: - 1\n  - 2\nk: v\n",
            "# above\n? - a\n  - b # of b\n: x # of x\n\n? a: 1\n  b:\n    - c\n: k: v\n  l: w\n? - - d\n:\n    e: f\n",
            "m:\n  ?\n    - a\n  : - 1\n  ? ? - a\n    : b\n  : # c\n    d: 1\n- x\n"
                .split_once("- x")
                .unwrap()
                .0,
            "- ? [a]\n  : b\n  ? [c]\n  : - d\n- [e]: f\n  [g]:\n    h: 1\n",
            "? !t [a]\n: x\n!t [b]: y\n? !t\n  - c\n: z\n",
        ] {
            let text = if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
            assert_eq!(written(&text), text);
        }
    }

    #[test]
    fn normalises_the_rest() {
        for (text, expected) in [
            ("", "null\n"),
            ("a: 1", "a: 1\n"),
            ("a: 1\n\n\n", "a: 1\n"),
            ("a: 1\r\n# c\r\nb: |\r\n  x\r\n", "a: 1\n# c\nb: |\n  x\n"),
            ("\u{feff}a: 1\n", "a: 1\n"),
            ("a: 1\n  \nb: 2\n", "a: 1\n\nb: 2\n"),
            ("a:\n  b: 1\n # odd\n  c: 2\n", "a:\n  b: 1\n  # odd\n  c: 2\n"),
            ("-   a: 1\n    b: 2\n", "- a: 1\n  b: 2\n"),
            ("-\n  a: 1\n", "- a: 1\n"),
            ("a:\n  text\n", "a: text\n"),
            ("a: # one\n  text # two\n", "# one\na: text # two\n"),
            ("a:\n  # c\n  text\n", "# c\na: text\n"),
            ("? a\n: b\n", "a: b\n"),
            ("? # c\n  a\n: b\n", "# c\na: b\n"),
            ("[a] : b\n", "[a]: b\n"),
            ("? [a]\n", "? [a]\n:\n"),
            ("?   - a\n    - b\n:   c\n", "? - a\n  - b\n: c\n"),
            ("? # c\n  - a\n: b\n", "# c\n?\n  - a\n: b\n"),
            ("?\n  # c\n  - a\n: b\n", "# c\n?\n  - a\n: b\n"),
            ("? - a\n# c\n: b\n", "# c\n? - a\n: b\n"),
            ("a: &x\n  - b\nc: {*x : d}\n*x : e\n", "a:\n  - b\nc:\n  ? - b\n  : d\n? - b\n: e\n"),
            ("a: &x [b]\nc: {*x : d}\n*x : e\n", "a: [b]\nc: {[b]: d}\n[b]: e\n"),
            ("a: [[b]: c, {d: 1}: {e: 2}]\n", "a: [[b]: c, {d: 1}: {e: 2}]\n"),
            (
                "a: &x [b]\nc: [[d]: e, {f: 1}: {g: 2}, *x]\n",
                "a: [b]\nc: [[d]: e, {f: 1}: {g: 2}, [b]]\n",
            ),
            ("a : b\n", "a: b\n"),
            ("--- a\n", "---\na\n"),
            ("--- {a: 1} # c\n", "---\n{a: 1} # c\n"),
            ("--- | # c\n  x\n", "---\n| # c\n  x\n"),
            ("a: 1\n... # c\n# d\n", "a: 1\n# c\n# d\n"),
            (
                "a: &x [1, 2]\nb: *x\nc: [*x, # c\n  3]\n",
                "a: [1, 2]\nb: [1, 2]\n# c\nc: [[1, 2], 3]\n",
            ),
            (
                "a: &x\n  k: 1 # one\nb: *x\nc: [*x]\nd: {e: *x}\n",
                "a:\n  k: 1 # one\nb:\n  k: 1 # one\nc:\n  - k: 1 # one\nd:\n  e:\n    k: 1 # one\n",
            ),
            (
                "%TAG !e! tag:e.org,2000:\n---\na: !e!x 1\n",
                "%TAG !e! tag:e.org,2000:\n---\na: !<tag:e.org,2000:x> 1\n",
            ),
            ("[a: b, ? c : d]\n", "[a: b, ? c : d]\n"),
            ("a: |\n\nb: 1\n", "a: \"\"\n\nb: 1\n"),
        ] {
            assert_eq!(written(text), expected, "{text:?}");
            assert_eq!(written(expected), expected);
        }
    }

    /// The entry of the root with this key, as an entry to be written.
    fn entry<'a>(document: &'a Document, name: &str) -> (OutKey<'a>, Out<'a>) {
        let (key, value) =
            document.root().entries().find(|(key, _)| key.text() == Some(name)).unwrap();
        (OutKey::Source(key), Out::Source(value))
    }

    #[test]
    fn what_is_left_out_takes_its_comments_along() {
        let text = "# head\n\na: 1 # a\n\n# about b\nb: # b\n  x: 1\n  # below x\n\n# about c\nc: 2\n\n# foot\n";
        let document = parsed(text);
        let without = |gone: &str| {
            let names = ["a", "b", "c"].into_iter().filter(|name| *name != gone);
            let entries = names.map(|name| entry(&document, name)).collect();
            write_yaml(&Out::Map { entries, like: Some(document.root()) })
        };
        assert_eq!(without(""), text);
        assert_eq!(
            without("a"),
            "# head\n\n# about b\nb: # b\n  x: 1\n  # below x\n\n# about c\nc: 2\n\n# foot\n"
        );
        assert_eq!(without("b"), "# head\n\na: 1 # a\n\n# about c\nc: 2\n\n# foot\n");
        assert_eq!(
            without("c"),
            "# head\n\na: 1 # a\n\n# about b\nb: # b\n  x: 1\n  # below x\n\n# foot\n"
        );
    }

    #[test]
    fn new_parts_take_the_style_around_them() {
        let document = parsed(
            "a:\n    b:\n    - 1\nflow: {x: 1, y: {z: 2}}\nblock:\n    k: |\n        text\n",
        );
        let (key, flow) = document.root().entries().nth(1).unwrap();
        let (x, one) = flow.entries().next().unwrap();
        let block = document.root().get("block").unwrap();
        let new = |value| Out::Map {
            entries: vec![
                (OutKey::Source(x), value),
                (OutKey::New("new".into()), Out::Source(one)),
            ]
            .into(),
            like: Some(flow),
        };
        let list = |like| Out::Seq {
            items: vec![(None, Out::String("a, b".into())), (None, Out::Value(true.into()))].into(),
            like,
        };
        let out = |value| {
            write_yaml(&Out::Map { entries: vec![(OutKey::Source(key), value)].into(), like: None })
        };
        assert_eq!(out(new(Out::Source(one))), "flow: {x: 1, new: 1}\n");
        assert_eq!(out(new(list(Some(flow)))), "flow: {x: ['a, b', true], new: 1}\n");
        assert_eq!(out(new(Out::Source(block))), "flow:\n  x:\n    k: |\n        text\n  new: 1\n");
        assert_eq!(out(list(None)), "flow:\n  - a, b\n  - true\n");
        assert_eq!(out(Out::Map { entries: Default::default(), like: Some(block) }), "flow: {}\n");
        assert_eq!(out(Out::Seq { items: Default::default(), like: None }), "flow: []\n");
        let root = Out::Map {
            entries: vec![
                (OutKey::New("list".into()), list(None)),
                (OutKey::New("m".into()), new(Out::Source(block))),
            ]
            .into(),
            like: Some(document.root()),
        };
        assert_eq!(
            write_yaml(&root),
            "list:\n- a, b\n- true\nm:\n    x:\n        k: |\n            text\n    new: 1\n"
        );
    }

    #[test]
    fn subtrees_move_to_other_depths() {
        let text = "deep:\n  deeper:\n    k: |2\n       x\n      y\n    f: [a,\n      b]\n    q: \"one\n      two\" # c\n    p: one\n      two\n";
        let document = parsed(text);
        let inner = document.root().get("deep").and_then(|deep| deep.get("deeper")).unwrap();
        assert_eq!(
            write_yaml(&Out::Source(inner)),
            "k: |2\n   x\n  y\nf: [a,\n  b]\nq: \"one\n  two\" # c\np: one\n  two\n"
        );
        let deeper = Out::Seq {
            items: [(None, Out::Seq { items: [(None, Out::Source(inner))].into(), like: None })]
                .into(),
            like: None,
        };
        let out = write_yaml(&deeper);
        assert_eq!(
            out,
            "- - k: |2\n       x\n      y\n    f: [a,\n      b]\n    q: \"one\n      two\" # c\n    p: one\n      two\n"
        );
        assert_eq!(value(&out), value("- - {k: \" x\\ny\\n\", f: [a, b], q: one two, p: one two}"));
    }

    #[test]
    fn new_strings_of_several_lines_are_literal_blocks() {
        let write = |text: &str| {
            write_yaml(&Out::Map {
                entries: vec![(OutKey::New("k".into()), Out::String(text.to_owned().into()))]
                    .into(),
                like: None,
            })
        };
        assert_eq!(write("a\n\n b\n"), "k: |\n  a\n\n   b\n");
        assert_eq!(write(" a\nb"), "k: |2-\n   a\n  b\n");
        assert_eq!(write("a\n\n"), "k: \"a\\n\\n\"\n");
        assert_eq!(write("\n"), "k: \"\\n\"\n");
    }

    #[test]
    fn json_keeps_numbers_and_order() {
        let text = "z: 1.10\na: [0x10, 1e3, .inf, 017, '1', yes, ~, !t x, 123456789012345678901234567890]\nm: {<<: {k: {}}, l: []}\n";
        let out = write_json(&Out::Source(parsed(text).root()));
        let one_line: String = out.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        let expected = "{ \"z\": 1.10, \"a\": [ 16, 1e3, \".inf\", 17, \"1\", \"yes\", null, \"x\", \
                        123456789012345678901234567890 ], \"m\": { \"k\": {}, \"l\": [] } }";
        assert_eq!(one_line, expected);
    }

    #[test]
    fn long_and_odd_keys_stay_keys() {
        for key in [
            "x".repeat(2000),
            "a\nb".to_owned(),
            String::new(),
            "<<".to_owned(),
            "- a".to_owned(),
            "a: b".to_owned(),
            "é".repeat(600),
        ] {
            let tree = Value::Map([(key.as_str().into(), Value::from("v"))].into());
            let block = write_yaml(&Out::Value(tree.clone()));
            assert_eq!(value(&block), tree, "{block}");
            assert_eq!(written(&block), block);
            let document = parsed("[]");
            let flow = write_yaml(&Out::Seq {
                items: vec![(None, Out::Value(tree.clone()))].into(),
                like: Some(document.root()),
            });
            assert_eq!(value(&flow), Value::from(vec![tree]), "{flow}");
            assert_eq!(flow.lines().count(), 1);
        }
    }
}

pub(super) mod laws {
    use super::*;

    fn text() -> impl Strategy<Value = String> {
        let odd = prop::sample::select(vec![
            "",
            " ",
            "~",
            "null",
            "yes",
            "No",
            "1",
            "1.10",
            "0x1F",
            "0o7",
            "1_0",
            "12:30",
            "2024-01-01",
            "- a",
            "a: b",
            "a #b",
            "#",
            "a\nb",
            "a\n",
            "\n",
            " a\n b",
            "a\n\n",
            "\ta\n",
            "|",
            ">",
            "&a",
            "*a",
            "!a",
            "%",
            "@",
            "`",
            "'",
            "\"",
            "\\",
            "?",
            ":",
            "-",
            "---",
            "...",
            "[",
            "]",
            "{",
            "}",
            ",",
            "<<",
            "=",
            "a:",
            "\u{85}",
            "\u{2028}",
            "\u{feff}",
            "\r\n",
            "\u{7f}",
            "é",
            "\u{10ffff}",
            "a \nb",
            "x\n \ny",
        ]);
        prop_oneof![
            odd.prop_map(str::to_owned),
            "[ -~]{0,12}",
            "[a-z]{1,8}",
            "\\PC{0,6}",
            "[a-c \\n\\t:#-]{0,10}"
        ]
    }

    fn scalar() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<i32>().prop_map(|n| Value::from(f64::from(n) / 8.0)),
            any::<f64>().prop_filter("equal to itself", |n| !n.is_nan()).prop_map(Value::from),
            text().prop_map(Value::from),
        ]
    }

    fn tree() -> impl Strategy<Value = Value> {
        scalar().prop_recursive(4, 32, 5, |inner| {
            let map = prop::collection::vec((text(), inner.clone()), 0..5).prop_map(|entries| {
                let mut map: Vec<(std::sync::Arc<str>, Value)> = Vec::new();
                for (key, value) in entries {
                    if !map.iter().any(|(earlier, _)| **earlier == *key) {
                        map.push((key.into(), value));
                    }
                }
                Value::Map(map.into())
            });
            prop_oneof![prop::collection::vec(inner, 0..5).prop_map(Value::from), map]
        })
    }

    /// Converts a value that the other library read.
    fn converted(value: &serde_yaml::Value) -> Value {
        match value {
            serde_yaml::Value::Null => Value::Null,
            serde_yaml::Value::Bool(value) => Value::Bool(*value),
            serde_yaml::Value::Number(n) => n
                .as_i64()
                .map_or_else(|| Value::Number(Number::float(n.as_f64().unwrap())), Value::from),
            serde_yaml::Value::String(text) => Value::from(text.as_str()),
            serde_yaml::Value::Sequence(items) => {
                Value::List(items.iter().map(converted).collect())
            }
            serde_yaml::Value::Mapping(map) => Value::Map(
                map.iter()
                    .map(|(key, value)| (key.as_str().unwrap().into(), converted(value)))
                    .collect(),
            ),
            serde_yaml::Value::Tagged(tagged) => converted(&tagged.value),
        }
    }

    /// The form of the key of a map entry.
    #[derive(Debug, Clone, Copy)]
    enum EntryKey {
        Name,
        FlowList,
        FlowMap,
        MarkedFlow,
        MarkedBlock,
        MarkedBelow,
    }

    impl EntryKey {
        /// The text of the key in this column, up to the colon.
        fn written(self, index: usize, column: usize) -> String {
            let pad = " ".repeat(column);
            match self {
                Self::Name => format!("k{index}:"),
                Self::FlowList => format!("[k{index}, 'x']:"),
                Self::FlowMap => format!("{{k{index}: [x]}}:"),
                Self::MarkedFlow => format!("? [k{index},\n{pad}    y]\n{pad}:"),
                Self::MarkedBelow => format!("?\n{pad}   k{index}: x\n{pad}:"),
                Self::MarkedBlock => format!("? - k{index}\n{pad}  - z:\n{pad}    - z\n{pad}:"),
            }
        }
    }

    fn entry_key() -> impl Strategy<Value = EntryKey> {
        use EntryKey::*;
        let marked = [MarkedFlow, MarkedBlock, MarkedBelow];
        prop_oneof![
            Just(Name),
            prop::sample::select(vec![FlowList, FlowMap]),
            prop::sample::select(marked.to_vec()),
        ]
    }

    #[derive(Debug, Clone)]
    enum Block {
        Text(&'static str),
        Map(Vec<Entry>),
        List(Vec<Entry>),
    }

    #[derive(Debug, Clone)]
    struct Entry {
        key: EntryKey,
        blank: bool,
        above: bool,
        behind: bool,
        below: bool,
        value: Block,
    }

    fn block() -> impl Strategy<Value = Block> {
        let text = prop::sample::select(vec![
            "x",
            "1.10",
            "'q'",
            "\"a # b\"",
            "[a, {b: c}]",
            "{}",
            "|\n  lit\n\n  # text",
            ">-\n  folded",
            "~",
            "",
        ]);
        let leaf = text.prop_map(Block::Text);
        leaf.prop_recursive(4, 40, 5, |inner| {
            let entry =
                (entry_key(), any::<[bool; 4]>(), inner).prop_map(|(key, comments, value)| {
                    let [blank, above, behind, below] = comments;
                    Entry { key, blank, above, behind, below, value }
                });
            let entries = prop::collection::vec(entry, 1..4);
            (entries, any::<bool>()).prop_map(|(entries, map)| {
                if map { Block::Map(entries) } else { Block::List(entries) }
            })
        })
    }

    struct Printer {
        out: String,
        step: usize,
        list_step: usize,
        comments: usize,
    }

    impl Printer {
        fn comment(&mut self, column: usize) {
            self.comments += 1;
            self.out.push_str(&format!("{}# comment {};\n", " ".repeat(column), self.comments));
        }

        /// Writes entries in this column. The first one continues the line when it is `inline`.
        fn entries(&mut self, entries: &[Entry], map: bool, column: usize, mut inline: bool) {
            for (index, entry) in entries.iter().enumerate() {
                if entry.blank && !inline {
                    self.out.push('\n');
                }
                if entry.above && !inline {
                    self.comment(column);
                }
                if !inline {
                    self.out.push_str(&" ".repeat(column));
                }
                inline = false;
                self.out.push_str(&if map {
                    entry.key.written(index, column)
                } else {
                    "-".to_owned()
                });
                self.value(entry, map, column);
            }
            // Lines that are indented like a block belong to its last entry. But in the column of a
            // key they belong to what follows.
            if column > 0
                && entries.last().is_some_and(|entry| entry.below)
                && (map || self.list_step > 0)
            {
                self.comment(column);
            }
        }

        fn value(&mut self, entry: &Entry, in_map: bool, column: usize) {
            let behind = if entry.behind {
                format!("  # comment {};", {
                    self.comments += 1;
                    self.comments
                })
            } else {
                String::new()
            };
            match &entry.value {
                Block::Text(text) => {
                    let (first, rest) =
                        text.split_once('\n').map_or((*text, ""), |(first, rest)| (first, rest));
                    self.out.push_str(&format!(
                        "{}{first}{behind}\n",
                        if first.is_empty() { "" } else { " " }
                    ));
                    let by = if in_map { self.step } else { 2 };
                    for line in rest.lines() {
                        let line = line.trim_start();
                        self.out.push_str(&if line.is_empty() {
                            "\n".to_owned()
                        } else {
                            format!("{}{line}\n", " ".repeat(column + by))
                        });
                    }
                }
                Block::Map(entries) | Block::List(entries) => {
                    let map = matches!(entry.value, Block::Map(_));
                    let by = match (in_map, map) {
                        (false, _) => 2,
                        (true, true) => self.step,
                        (true, false) => self.list_step,
                    };
                    let inline =
                        !in_map && behind.is_empty() && !entries[0].above && !entries[0].blank;
                    self.out.push_str(&if inline { " ".to_owned() } else { format!("{behind}\n") });
                    self.entries(entries, map, column + by, inline);
                }
            }
        }
    }

    pub(in crate::yaml) fn document() -> impl Strategy<Value = String> {
        (block(), 2..5_usize, 0..3_usize).prop_map(|(block, step, list)| {
            let mut printer =
                Printer { out: String::new(), step, list_step: list * step / 2, comments: 0 };
            match &block {
                Block::Text(_) => printer.out.push_str("k: v\n"),
                Block::Map(entries) => printer.entries(entries, true, 0, false),
                Block::List(entries) => printer.entries(entries, false, 0, false),
            }
            printer.out
        })
    }

    /// A document of maps with a comment above, behind and below each entry, and the paths of the
    /// entries.
    pub(in crate::yaml) fn commented() -> impl Strategy<Value = (String, Vec<String>)> {
        block().prop_map(|block| {
            // Lines above the first entry belong to the document.
            let (mut text, mut paths) = ("first: 0\n".to_owned(), Vec::new());
            match &block {
                Block::Text(_) => comment_entries(&mut text, &mut paths, &[], "", 0),
                Block::Map(entries) | Block::List(entries) => {
                    comment_entries(&mut text, &mut paths, entries, "", 0)
                }
            }
            (text, paths)
        })
    }

    fn comment_entries(
        text: &mut String,
        paths: &mut Vec<String>,
        entries: &[Entry],
        above: &str,
        column: usize,
    ) {
        let pad = " ".repeat(column);
        paths.push(format!("{above}/last"));
        for (index, entry) in entries.iter().enumerate() {
            let (name, key) = match entry.key {
                EntryKey::Name => (format!("k{index}"), format!("k{index}: ")),
                EntryKey::FlowList | EntryKey::FlowMap => {
                    (format!("[k{index}]"), format!("['k{index}']: "))
                }
                _ => (format!("[k{index}]"), format!("? - k{index}\n{pad}: ")),
            };
            let path = format!("{above}/{name}");
            text.push_str(&format!("\n{pad}# above {path} ;\n{pad}{key}"));
            match &entry.value {
                Block::Text(_) => text.push_str(&format!("x # behind {path} ;\n")),
                Block::Map(inner) | Block::List(inner) => {
                    text.push_str(&format!("# behind {path} ;\n"));
                    comment_entries(text, paths, inner, &path, column + 2);
                }
            }
            paths.push(path);
        }
        text.push_str(&format!("{pad}last: 1\n"));
        if column > 0 {
            text.push_str(&format!("{pad}# below {above}/last ;\n"));
        }
    }

    /// Copies a map without the entry of one path.
    fn without<'a>(node: Node<'a>, path: &str, gone: &str) -> Out<'a> {
        if node.kind() != NodeKind::Mapping {
            return Out::Source(node);
        }
        let entries = node.entries().filter_map(|(key, value)| {
            let path = format!("{path}/{}", key.key_text());
            (path != gone).then(|| (OutKey::Source(key), without(value, &path, gone)))
        });
        Out::Map { entries: entries.collect(), like: Some(node) }
    }

    /// Pieces from which nearly every special construct of YAML can be composed.
    pub(in crate::yaml) fn scraps() -> impl Strategy<Value = String> {
        let pieces = vec![
            "a",
            "b: ",
            "c",
            ":",
            " ",
            "  ",
            "\n",
            "\n  ",
            "\n    ",
            "- ",
            "-",
            "? ",
            "# x\n",
            " # y",
            "|",
            "|-\n",
            ">+2\n",
            "'",
            "\"",
            "[",
            "]",
            "{",
            "}",
            ",",
            ", ",
            "&r ",
            "*r",
            "*r ",
            "!t ",
            "!!str ",
            "!!int ",
            "1",
            "~",
            "<<: ",
            "---\n",
            "...\n",
            "\t",
            "\r\n",
            "\r",
            "\u{feff}",
            "é",
            "\\",
            "%YAML 1.2\n",
            "k1: ",
            "k2: v\n",
            "k3:\n",
            "? - ",
            "\n: ",
            "[c]: ",
            "{d: ~}: ",
            "? [e\n",
            "\n\n",
            "x y",
            "\u{2028}",
            "\0",
        ];
        prop::collection::vec(prop::sample::select(pieces), 0..24)
            .prop_map(|pieces| pieces.concat())
    }

    pub(in crate::yaml) fn mutated() -> impl Strategy<Value = String> {
        const BASE: &str = "# head\na: &r 1 # c\nb:\n  - x\n  - k: |\n      lit\n    l: [1, {m: n}, *r]\n# d\nc: {<<: {z: 1}, [o]: p}\nd: >-\n  f\n\n  g\n[q, *r]: s\n? - t # e\n  - u\n# f\n: v # g\n";
        prop::collection::vec((0..BASE.len(), 0..6_usize, scraps()), 1..4).prop_map(|edits| {
            edits.into_iter().fold(BASE.to_owned(), |mut text, (at, len, scrap)| {
                let at = (0..=at.min(text.len()))
                    .rev()
                    .find(|at| text.is_char_boundary(*at))
                    .unwrap_or(0);
                let end = (at + len..text.len())
                    .find(|end| text.is_char_boundary(*end))
                    .unwrap_or(text.len());
                text.replace_range(
                    at..end,
                    &scrap[..scrap.char_indices().nth(6).map_or(scrap.len(), |(end, _)| end)],
                );
                text
            })
        })
    }

    /// Checks that a text that can be read can be written, and is the same when it is read again.
    fn survives(text: &str) {
        let Ok(document) = parse(FileId(0), text.into(), &Limits::default()) else { return };
        let tree = document.root().to_value();
        let out = write_yaml(&Out::Source(document.root()));
        let again = parse(FileId(0), out.as_str().into(), &Limits::default());
        let again = again.unwrap_or_else(|error| panic!("{error:?}\n{text:?}\n{out:?}\n{out}"));
        assert_eq!(json(&again.root().to_value()), json(&tree), "{text:?}\n{out:?}");
        let parsed: serde_json::Value =
            serde_json::from_str(&write_json(&Out::Source(document.root()))).unwrap();
        assert!(parsed.is_object() == json(&tree).is_object());
        let keep =
            |path: &[&str]| path.len() < 2 || path.last().is_some_and(|key| key.len() % 2 == 0);
        let filtered = parse_filtered(FileId(0), text.into(), &Limits::default(), &keep).unwrap();
        let out = write_yaml(&Out::Source(filtered.root()));
        assert_eq!(json(&value(&out)), json(&filtered.root().to_value()), "{text:?}\n{out}");
    }

    proptest! {
        #[test]
        fn new_values_read_as_they_were(tree in tree()) {
            let out = write_yaml(&Out::Value(tree.clone()));
            prop_assert_eq!(&value(&out), &tree, "{}", out);
            prop_assert_eq!(&written(&out), &out);
            let theirs: serde_yaml::Value = serde_yaml::from_str(&out).unwrap_or_else(|error| panic!("{error}\n{out}"));
            prop_assert_eq!(&converted(&theirs), &tree, "{}", out);
        }

        #[test]
        fn new_values_in_flow_read_as_they_were(tree in tree()) {
            let flow = parsed("[]");
            let out = write_yaml(&Out::Seq { items: vec![(None, Out::Value(tree.clone()))].into(), like: Some(flow.root()) });
            let expected = Value::from(vec![tree]);
            prop_assert_eq!(out.lines().count(), 1, "{}", out);
            prop_assert_eq!(&value(&out), &expected, "{}", out);
            let theirs: serde_yaml::Value = serde_yaml::from_str(&out).unwrap_or_else(|error| panic!("{error}\n{out}"));
            prop_assert_eq!(&converted(&theirs), &expected, "{}", out);
        }

        #[test]
        fn json_reads_as_it_was(tree in tree()) {
            let out = write_json(&Out::Value(tree.clone()));
            prop_assert_eq!(&value(&out), &tree, "{}", out);
            prop_assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok(), "{}", out);
        }

        #[test]
        fn documents_of_another_writer_read_the_same(tree in tree()) {
            let theirs = serde_yaml::to_string(&tree).unwrap();
            // The other writer does not quote the key `<<`, which has a special meaning when it is
            // plain, and it breaks lines at the characters of YAML 1.1.
            prop_assume!(!theirs.contains("<<:") && !theirs.contains(['\u{85}', '\u{2028}', '\u{2029}']));
            prop_assert_eq!(value(&theirs), tree, "{}", theirs);
            survives(&theirs);
        }

        #[test]
        fn formatted_documents_keep_their_bytes(text in document()) {
            prop_assert_eq!(written(&text), text);
        }

        /// Each comment names the key path of its entry. Leaving out an entry removes the comments
        /// in it and no others.
        #[test]
        fn only_comments_of_what_is_left_out_vanish((text, paths) in commented(), pick in any::<prop::sample::Index>()) {
            let document = parsed(&text);
            let gone = pick.get(&paths);
            let out = write_yaml(&without(document.root(), "", gone));
            prop_assert!(parse(FileId(0), out.as_str().into(), &Limits::default()).is_ok(), "{}", out);
            let within = |path: &str| path.strip_prefix(gone.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            for line in text.lines().filter(|line| line.contains('#')) {
                let (_, comment) = line.split_once('#').unwrap();
                let path = comment.split(' ').nth(2).unwrap();
                prop_assert_eq!(out.contains(comment), !within(path), "{} without {}:\n{}", text, gone, out);
            }
        }

        #[test]
        fn no_text_panics(text in any::<String>()) {
            survives(&text);
        }

        #[test]
        fn no_scraps_panic(text in scraps()) {
            survives(&text);
        }

        #[test]
        fn no_mutation_panics(text in mutated()) {
            survives(&text);
        }
    }
}

mod open {
    use super::laws::{document, mutated};
    use super::*;
    use crate::yaml::write::{OpenMark, OpenText, write_open};

    /// A tree of the source whose entries and items have conditions. A condition is a bit of a
    /// number; without one, the part is always present. A collection is dropped if nothing is left
    /// in it.
    enum Tree<'a> {
        Whole(Node<'a>),
        Map(Node<'a>, Vec<(Option<u32>, Node<'a>, Tree<'a>)>),
        List(Node<'a>, Vec<(Option<u32>, Node<'a>, Tree<'a>)>),
    }

    impl<'a> Tree<'a> {
        /// Builds a tree. The bits of `kinds` decide which parts have a condition of their own.
        fn of(node: Node<'a>, depth: usize, kinds: u64, bits: &mut u32) -> Self {
            let mut part = |owner, value| {
                let bit = *bits % 64;
                *bits += 1;
                let own = (kinds >> bit & 1 == 1).then_some(bit);
                (own, owner, Self::of(value, depth + 1, kinds, bits))
            };
            match node.kind() {
                NodeKind::Mapping if depth < 3 && node.entries().len() > 0 => {
                    Self::Map(node, node.entries().map(|(key, value)| part(key, value)).collect())
                }
                NodeKind::Sequence if depth < 3 && node.items().next().is_some() => {
                    Self::List(node, node.items().map(|item| part(item, item)).collect())
                }
                _ => Self::Whole(node),
            }
        }

        fn is_there(&self, truth: u64) -> bool {
            match self {
                Self::Whole(_) => true,
                Self::Map(_, parts) | Self::List(_, parts) => {
                    parts.iter().any(|(own, _, tree)| is_there(*own, tree, truth))
                }
            }
        }

        /// The parts of the tree that are present.
        fn left(&self, truth: u64) -> Out<'a> {
            self.out(&mut |own, tree| is_there(own, tree, truth).then(|| tree.left(truth)))
        }

        /// All parts of the tree. Their conditions are collected and numbered.
        fn open<'t>(&'t self, conditions: &mut Vec<(Option<u32>, &'t Self)>) -> Out<'a> {
            self.out(&mut |own, tree| {
                let inner = tree.open(conditions);
                if own.is_none() && tree.is_there(0) {
                    return Some(inner);
                }
                conditions.push((own, tree));
                Some(Out::Cases(vec![(conditions.len() as u32 - 1, inner)]))
            })
        }

        fn out<'t>(
            &'t self,
            part: &mut dyn FnMut(Option<u32>, &'t Self) -> Option<Out<'a>>,
        ) -> Out<'a> {
            match self {
                Self::Whole(node) => Out::Source(*node),
                Self::Map(node, parts) => {
                    let entry = |(own, key, tree): &'t (Option<u32>, Node<'a>, Self)| {
                        Some((OutKey::Source(*key), part(*own, tree)?))
                    };
                    Out::Map {
                        entries: parts.iter().filter_map(entry).collect(),
                        like: Some(*node),
                    }
                }
                Self::List(node, parts) => {
                    let item = |(own, item, tree): &'t (Option<u32>, Node<'a>, Self)| {
                        Some((Some(*item), part(*own, tree)?))
                    };
                    Out::Seq { items: parts.iter().filter_map(item).collect(), like: Some(*node) }
                }
            }
        }
    }

    fn is_there(own: Option<u32>, tree: &Tree<'_>, truth: u64) -> bool {
        own.is_none_or(|bit| truth >> bit & 1 == 1) && tree.is_there(truth)
    }

    /// The text of an open text in which some conditions hold.
    fn filled(open: &OpenText, holds: &dyn Fn(u32) -> bool) -> String {
        let (mut text, mut done) = (String::new(), 0);
        let mut around: Vec<(OpenMark, bool)> = Vec::new();
        let mut begun = vec![false];
        for &(at, mark) in &open.marks {
            if around.iter().all(|(_, is_there)| *is_there) {
                text.push_str(&open.text[done..at]);
            }
            done = at;
            match mark {
                OpenMark::Collection => {
                    begun.push(false);
                    around.push((mark, true));
                }
                OpenMark::When(when) => around.push((mark, holds(when))),
                OpenMark::Behind => around.push((mark, *begun.last().unwrap())),
                OpenMark::Later(_) => around.push((mark, true)),
                OpenMark::End => match around.pop().unwrap() {
                    (OpenMark::Collection, _) => drop(begun.pop()),
                    (OpenMark::When(_), true) if around.iter().all(|(_, is_there)| *is_there) => {
                        *begun.last_mut().unwrap() = true;
                    }
                    _ => {}
                },
            }
        }
        text + &open.text[done..]
    }

    /// Whether a document can be written as an open text. If it can, checks for some conditions
    /// that the open text gives the same as writing the parts that are present.
    fn agrees(document: &Document, kinds: u64, truths: &[u64]) -> bool {
        let tree = Tree::of(document.root(), 0, kinds, &mut 0);
        let mut conditions = Vec::new();
        let out = tree.open(&mut conditions);
        let Some(open) = write_open(&out) else { return false };
        for &truth in truths.iter().filter(|&&truth| tree.is_there(truth)) {
            let holds = |when: u32| {
                let (own, tree) = conditions[when as usize];
                is_there(own, tree, truth)
            };
            assert_eq!(filled(&open, &holds), write_yaml(&tree.left(truth)), "{open:?}");
        }
        true
    }

    #[test]
    fn all_that_is_open_has_its_place() {
        // Some parts cannot be open: the start of the text, and the first part in the line of an
        // item.
        for (text, certain) in [
            (
                "# head\n\na: 1\n\n# of n\nn:\n  # first\n  p:\n\n    - x: 1\n\n    # second\n    - y: {a: 1}\n  q: |\n    lines\n    of text\n\n  r: 5 # five\nz: []\n# foot\n",
                0b11,
            ),
            ("f: {a: 1, b: [1, 2], c: 3}\ng: [ x, y ]\nh: { i: j } # h\n", 0b11),
            ("- a\n\n- b: 1\n- # c\n  - d\n", 0b1_0111),
        ] {
            let document = parsed(text);
            for kinds in 0..1 << 10 {
                // At least one part is always present.
                let truths: Vec<_> = (0..16).map(|at| (at * 0x9e37) ^ kinds).collect();
                let is_open = agrees(&document, kinds, &truths);
                assert!(is_open || kinds & certain != 0, "{kinds:b} of {text}");
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_left_is_as_if_nothing_else_had_been(
            text in prop_oneof![document(), mutated()],
            kinds in any::<u64>(),
            truths in prop::collection::vec(any::<u64>(), 4),
        ) {
            if let Ok(document) = parse(FileId::DETACHED, text.into(), &Limits::default()) {
                agrees(&document, kinds, &truths);
            }
        }
    }
}

#[test]
fn new_comments_stand_above_what_they_belong_to() {
    for (like, expected) in
        [("a: 1\n", "# why\nb: 2\n# how\nc: 3\n"), ("{a: 1}\n", "{b: 2, c: 3}\n")]
    {
        let document = parsed(like);
        let noted = |note: &'static str, value: i64| {
            Out::Noted(note.into(), Box::new(Out::Value(value.into())))
        };
        let entries = vec![
            (OutKey::New("b".into()), noted("why", 2)),
            (OutKey::New("c".into()), noted("how", 3)),
        ];
        let written =
            write_yaml(&Out::Map { entries: entries.into(), like: Some(document.root()) });
        assert_eq!(written, expected);
    }
}
