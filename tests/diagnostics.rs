//! One fixture a rule: what is wrong, and beside it what is right.
//!
//! What is to be reported stands as a comment in the line of its cause: `# error[code]: message (section)`. Exactly that is reported, in
//! exactly those lines.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixtures has failed")]

use cuvee::diagnostic::{Diagnostic, Severity};
use cuvee::source::SourceMap;
use cuvee::tosca::validate_types;
use cuvee::yaml::{Document, Limits, Node, parse};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// What is reported in a line of a file.
type Reported = BTreeMap<(String, usize), Vec<String>>;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics")
}

/// A fixture, and the files beside it that it imports.
fn read(name: &str, sources: &mut SourceMap) -> Vec<Document> {
    let text = fs::read_to_string(directory().join(name)).unwrap();
    let id = sources.add(name, text.as_str());
    let document = parse(id, text.into(), &Limits::default()).unwrap();
    let imports = document.root().get("imports").into_iter().flat_map(Node::items);
    let files: Vec<_> = imports.filter_map(Node::as_str).map(str::to_owned).collect();
    let imported = files.iter().flat_map(|file| read(file, sources)).collect::<Vec<_>>();
    imported.into_iter().chain([document]).collect()
}

fn expected(sources: &SourceMap) -> Reported {
    let mut expected = Reported::new();
    for file in sources.files() {
        for (index, line) in file.text().lines().enumerate() {
            let messages = line.split(" # ").skip(1).filter(|text| text.starts_with("error[") || text.starts_with("warning["));
            let place = (file.path().display().to_string(), index + 1);
            messages.for_each(|message| expected.entry(place.clone()).or_default().push(message.to_owned()));
        }
    }
    expected
}

fn reported(diagnostics: &[Diagnostic], sources: &SourceMap) -> Reported {
    let mut reported = Reported::new();
    for diagnostic in diagnostics {
        let at = sources.location(diagnostic.span.unwrap());
        let severity = if diagnostic.severity == Severity::Error { "error" } else { "warning" };
        let text = format!("{severity}[{}]: {} ({})", diagnostic.code, diagnostic.message, diagnostic.section.unwrap());
        reported.entry((at.path.display().to_string(), at.line)).or_default().push(text);
    }
    reported
}

#[test]
fn fixtures_are_reported_as_they_say() {
    let mut fixtures: Vec<_> = fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().path()).collect();
    fixtures.retain(|path| path.is_file());
    fixtures.sort();
    assert!(fixtures.len() > 10, "{fixtures:?}");
    let mut wrong = String::new();
    for fixture in fixtures {
        let name = fixture.file_name().unwrap().to_str().unwrap();
        let mut sources = SourceMap::default();
        let documents = read(name, &mut sources);
        let (expected, reported) = (expected(&sources), reported(&validate_types(&documents).0, &sources));
        let missing = expected.iter().filter(|(place, texts)| reported.get(place) != Some(texts));
        let surplus = reported.iter().filter(|(place, texts)| expected.get(place) != Some(texts));
        for (sign, ((file, line), texts)) in missing.map(|it| ('-', it)).chain(surplus.map(|it| ('+', it))) {
            writeln!(wrong, "{sign} {file}:{line} # {}", texts.join(" # ")).unwrap();
        }
        if expected.is_empty() {
            writeln!(wrong, "- {name}: nothing is expected").unwrap();
        }
    }
    assert!(wrong.is_empty(), "expected (-) and reported (+):\n{wrong}");
}
