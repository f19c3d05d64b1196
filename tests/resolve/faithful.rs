//! Tests that the parts of a result stay as their author wrote them. Each `template.yaml` below
//! `tests/faithful` resolves to the bytes of the `expected.yaml` beside it, including scalars,
//! quotes, comments and styles.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its templates has failed")]

use cuvee::Resolver;
use cuvee::diagnostic::Diagnostic;
use cuvee::parts::yaml::{Limits, parse};
use cuvee::source::FileId;
use std::fmt::Write;
use std::fs::{self, read_to_string};
use std::path::{Path, PathBuf};

#[test]
fn results_are_as_their_authors_wrote_them() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faithful");
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    cases.sort();
    assert!(!cases.is_empty(), "there are no cases");
    let mut problems = String::new();
    for case in cases {
        let expected = read_to_string(case.join("expected.yaml")).unwrap();
        let difference = match Resolver::new(case.join("template.yaml")).resolve() {
            Ok(resolution) => difference(&expected, resolution.to_yaml()),
            Err(failure) => Some(failure.to_string()),
        };
        if let Some(difference) = difference {
            writeln!(problems, "{}: {difference}", case.display()).unwrap();
        }
    }
    assert!(problems.is_empty(), "\n{problems}");
}

/// Finds plain templates that resolve, without those that use a notation of variable ones.
fn plain_templates(below: &Path, found: &mut Vec<(PathBuf, String, String)>) {
    for entry in fs::read_dir(below).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            plain_templates(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            let text = read_to_string(&path).unwrap_or_default();
            let is_plain = parse(FileId::DETACHED, text.clone().into(), &Limits::default())
                .ok()
                .and_then(|document| {
                    let version = document.root().get("tosca_definitions_version")?;
                    Some(version.text()?.contains("simple"))
                })
                .unwrap_or_default();
            let resolved = is_plain.then(|| Resolver::new(&path).resolve());
            let Some(Ok(resolution)) = resolved else { continue };
            let is_variable = |warning: &Diagnostic| warning.message.contains("in plain TOSCA");
            if !resolution.warnings().iter().any(is_variable) {
                found.push((path, text, resolution.to_yaml().to_owned()));
            }
        }
    }
}

#[test]
fn what_is_plain_stays_as_it_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut templates = Vec::new();
    for directory in ["tests", "examples"] {
        plain_templates(&root.join(directory), &mut templates);
    }
    assert!(templates.len() > 200, "{}", templates.len());
    let mut problems = String::new();
    for (path, text, resolved) in templates {
        if let Some(difference) = difference(&text, &resolved) {
            writeln!(problems, "{}: {difference}", path.display()).unwrap();
        }
    }
    assert!(problems.is_empty(), "\n{problems}");
}

/// The first line that differs; `None` if all bytes are equal.
fn difference(expected: &str, got: &str) -> Option<String> {
    let same = expected
        .split_inclusive('\n')
        .zip(got.split_inclusive('\n'))
        .take_while(|(wanted, found)| wanted == found)
        .count();
    let (wanted, found) = (line(expected, same), line(got, same));
    (expected != got).then(|| format!("line {}: expected {wanted:?}, got {found:?}", same + 1))
}

fn line(text: &str, index: usize) -> &str {
    text.split_inclusive('\n').nth(index).unwrap_or_default()
}
