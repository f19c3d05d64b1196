//! What stays in a result stays as its author wrote it: each `template.yaml` below `tests/faithful`
//! resolves to the bytes of the `expected.yaml` beside it, scalars, quotes, comments and styles
//! included.

use cuvee::Resolver;
use std::fmt::Write;
use std::path::Path;

#[test]
fn results_are_as_their_authors_wrote_them() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faithful");
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    cases.sort();
    assert!(!cases.is_empty(), "there are no cases");
    let mut problems = String::new();
    for case in cases {
        let expected = std::fs::read_to_string(case.join("expected.yaml")).unwrap();
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

/// The first line that differs; nothing where all bytes are equal.
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
