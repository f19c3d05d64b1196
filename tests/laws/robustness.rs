//! Laws for malformed input: the resolver never panics, and its messages point into the input.

use cuvee::diagnostic::{Diagnostic, Severity};
use cuvee::source::{SourceMap, Span};
use cuvee::{Failure, Resolution};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::generate::template;
use super::template::Template;
use super::{cases, resolver};

/// A mistake in a text, such as a person makes.
#[derive(Clone, Debug)]
enum Mistake {
    Delete(Index),
    Duplicate(Index, Index),
    Swap(Index, Index),
    Indent(Index, usize),
    Word(Index, &'static str),
    Insert(Index, char),
    Cut(Index),
}

const JUNK: &[&str] = &[
    "",
    "~",
    "null",
    "true",
    "-1",
    "0",
    "1e999",
    "0x",
    "99999999999999999999",
    "''",
    "\"",
    "[",
    "]",
    "{",
    "}",
    "[]",
    "{}",
    "[[[]]]",
    "&a",
    "*a",
    "<<",
    "!t",
    "|",
    ">-",
    "#",
    "- ",
    "? ",
    ": ",
    "---",
    "...",
    "SELF",
    "CONTAINER",
    "SOURCE",
    "TARGET",
    "n0",
    "p0",
    "and",
    "or",
    "not",
    "implies",
    "node_presence",
    "has_incoming_relation",
    "container_presence",
    "relation_property_presence",
    "variability_input",
    "logic_expression",
    "value_expression",
    "equal",
    "sum",
    "conditions",
    "value",
    "expression",
    "type",
    "node",
    "properties",
    "requirements",
    "members",
    "targets",
    "weight",
    "mode",
    "semantic-loose",
    "get_input",
    "2024-01-01",
    "node.n0",
    "é",
    "\t",
    "topology_template",
    "condtions",
    "min",
    "flag",
    "size",
    "e0",
    "div",
    "[1, 0]",
    "{div: [1, 0]}",
    "weekday",
    "within",
];

fn mistake() -> impl Strategy<Value = Mistake> {
    let at = any::<Index>;
    prop_oneof![
        2 => at().prop_map(Mistake::Delete),
        1 => (at(), at()).prop_map(|(from, to)| Mistake::Duplicate(from, to)),
        1 => (at(), at()).prop_map(|(one, other)| Mistake::Swap(one, other)),
        1 => (at(), 0..9usize).prop_map(|(line, by)| Mistake::Indent(line, by)),
        6 => (at(), select(JUNK)).prop_map(|(word, junk)| Mistake::Word(word, junk)),
        1 => (at(), any::<char>()).prop_map(|(place, with)| Mistake::Insert(place, with)),
        1 => at().prop_map(Mistake::Cut),
    ]
}

/// Whether a character is part of a word.
fn in_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '@')
}

/// The offsets between characters.
fn places(text: &str) -> Vec<usize> {
    text.char_indices().map(|(place, _)| place).chain([text.len()]).collect()
}

fn make(mistake: &Mistake, text: &str) -> String {
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let count = lines.len();
    if count == 0 {
        return text.to_owned();
    }
    match mistake {
        Mistake::Delete(line) => _ = lines.remove(line.index(count)),
        Mistake::Duplicate(from, to) => {
            lines.insert(to.index(count), lines[from.index(count)].clone())
        }
        Mistake::Swap(one, other) => lines.swap(one.index(count), other.index(count)),
        Mistake::Indent(line, by) => {
            let line = line.index(count);
            lines[line] = format!("{}{}", " ".repeat(*by), lines[line].trim_start());
        }
        Mistake::Word(word, junk) => {
            let starts: Vec<_> = places(text)
                .windows(2)
                .map(|pair| pair[0])
                .filter(|&at| is_start(text, at))
                .collect();
            if starts.is_empty() {
                return text.to_owned();
            }
            let start = starts[word.index(starts.len())];
            let rest = text[start..].trim_start_matches(in_word);
            return format!("{}{junk}{rest}", &text[..start]);
        }
        Mistake::Insert(place, with) => {
            let places = places(text);
            let (before, after) = text.split_at(places[place.index(places.len())]);
            return format!("{before}{with}{after}");
        }
        Mistake::Cut(place) => {
            let places = places(text);
            return text[..places[place.index(places.len())]].to_owned();
        }
    }
    lines.join("\n")
}

fn is_start(text: &str, at: usize) -> bool {
    text[at..].starts_with(in_word) && !text[..at].ends_with(in_word)
}

/// Whether a span is a range of characters of its file.
fn lies_in(sources: &SourceMap, span: Span) -> bool {
    let file = sources.get(span.file).filter(|_| !span.file.is_built_in());
    span.start <= span.end
        && file
            .is_some_and(|file| file.text().get(span.start as usize..span.end as usize).is_some())
}

fn check(outcome: &Result<Resolution, Failure>, text: &str) -> Result<(), TestCaseError> {
    let (sources, diagnostics): (_, &[Diagnostic]) = match outcome {
        Ok(resolution) => (resolution.source_map(), resolution.warnings()),
        Err(failure) => (&failure.sources, &failure.diagnostics),
    };
    let is_error = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    prop_assert_eq!(is_error, outcome.is_err(), "{:?}\n{}", diagnostics, text);
    for diagnostic in diagnostics {
        let spans =
            diagnostic.span.into_iter().chain(diagnostic.labels.iter().map(|label| label.span));
        for span in spans {
            prop_assert!(lies_in(sources, span), "{:?}\n{}", diagnostic, text);
        }
        prop_assert!(!diagnostic.message.is_empty());
        diagnostic.one_line(sources);
    }
    let read = |text| serde_yaml::from_str::<serde_yaml::Value>(text);
    if let (Ok(resolution), Ok(_)) = (outcome, read(text)) {
        let read = read(resolution.to_yaml());
        // The other reader does not know keys without a text.
        prop_assume!(!resolution.to_yaml().lines().any(|line| line.trim_start().starts_with(':')));
        prop_assert!(read.is_ok(), "{:?}\n{}\n{}", read, resolution.to_yaml(), text);
    }
    Ok(())
}

fn garbled() -> impl Strategy<Value = (Template, String)> {
    (template(), prop::collection::vec(mistake(), 1..4)).prop_map(|(template, mistakes)| {
        let text = mistakes.iter().fold(template.render(), |text, mistake| make(mistake, &text));
        (template, text)
    })
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn mistakes_are_errors_that_point_at_them((template, text) in garbled()) {
        check(&resolver(&text, &template).resolve(), &text)?;
        // With checks too.
        check(&resolver(&text, &template).option("checks", "true").resolve(), &text)?;
    }

    #[test]
    fn any_text_is_an_error_or_resolved(text in "\\PC{0,40}|([-:{}\\[\\],&*!|>'\"%@#\\n a0.~?<=]){0,60}") {
        check(&cuvee::Resolver::from_text("template.yaml", &*text).files(super::imported()).resolve(), &text)?;
        let text = format!("tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  {text}");
        check(&cuvee::Resolver::from_text("template.yaml", &*text).files(super::imported()).resolve(), &text)?;
    }
}
