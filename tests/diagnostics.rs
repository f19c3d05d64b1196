//! One fixture a rule: what is wrong, and beside it what is right.
//!
//! What is to be reported stands as a comment in the line of its cause: `# error[code]: message
//! (section)`, or `warning`, or `note`. Exactly that is reported, in exactly those lines.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixtures has failed")]

use cuvee::Resolver;
use cuvee::diagnostic::Diagnostic;
use cuvee::source::SourceMap;
use cuvee::validate::Validation;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// What is reported in a line of a file.
type Reported = BTreeMap<(String, usize), Vec<String>>;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics")
}

/// Without the directory of the fixtures.
fn name(path: &Path) -> String {
    path.strip_prefix(directory()).unwrap_or(path).display().to_string()
}

fn expected(sources: &SourceMap) -> Reported {
    let mut expected = Reported::new();
    for file in sources.files() {
        for (index, line) in file.text().lines().enumerate() {
            let is_report = |text: &&str| {
                ["error[", "warning[", "note["].iter().any(|start| text.starts_with(start))
            };
            let messages = line.split(" # ").skip(1).filter(is_report);
            let place = (name(file.path()), index + 1);
            messages.for_each(|message| {
                expected.entry(place.clone()).or_default().push(message.to_owned())
            });
        }
    }
    expected
}

fn reported(diagnostics: &[Diagnostic], sources: &SourceMap) -> Reported {
    let mut reported = Reported::new();
    for diagnostic in diagnostics {
        let at = sources.location(diagnostic.span.unwrap());
        let section = diagnostic.section.map(|section| format!(" ({section})")).unwrap_or_default();
        let text = format!(
            "{}[{}]: {}{section}",
            diagnostic.severity, diagnostic.code, diagnostic.message
        );
        reported.entry((name(at.path), at.line)).or_default().push(text);
    }
    reported
}

#[test]
fn fixtures_are_reported_as_they_say() {
    let mut fixtures: Vec<_> =
        fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().path()).collect();
    fixtures.retain(|path| path.is_file());
    fixtures.sort();
    assert!(fixtures.len() > 10, "{fixtures:?}");
    let mut wrong = String::new();
    for fixture in fixtures {
        let name = name(&fixture);
        let Validation { diagnostics, sources } = Resolver::new(&fixture).validate();
        let (expected, reported) = (expected(&sources), reported(&diagnostics, &sources));
        let missing = expected.iter().filter(|(place, texts)| reported.get(place) != Some(texts));
        let surplus = reported.iter().filter(|(place, texts)| expected.get(place) != Some(texts));
        for (sign, ((file, line), texts)) in
            missing.map(|it| ('-', it)).chain(surplus.map(|it| ('+', it)))
        {
            writeln!(wrong, "{sign} {file}:{line} # {}", texts.join(" # ")).unwrap();
        }
        if expected.is_empty() {
            writeln!(wrong, "- {name}: nothing is expected").unwrap();
        }
    }
    assert!(wrong.is_empty(), "expected (-) and reported (+):\n{wrong}");
}
