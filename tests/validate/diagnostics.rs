//! Tests one rule with each fixture, which has wrong entries and right ones.
//!
//! A comment in the line of a cause says what has to be reported there: `# error[code]: message
//! (section)`, or `warning`, or `note`. Exactly these messages are expected, in exactly these
//! lines. Below its first line, a fixture may name a flag to validate it with: `# with --portable`.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot read its fixtures has failed"
)]

use cuvee::Resolver;
use cuvee::diagnostic::Diagnostic;
use cuvee::source::SourceMap;
use cuvee::validate::Validation;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The messages in each line of a file.
type Reported = BTreeMap<(String, usize), Vec<String>>;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics")
}

/// The path without the directory of the fixtures.
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
                // In XML, the end of the comment follows the message.
                let message = message.strip_suffix(" -->").unwrap_or(message);
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
        let section =
            diagnostic.rule.as_ref().map(|rule| format!(" ({})", rule.section)).unwrap_or_default();
        let text = format!(
            "{}[{}]: {}{section}",
            diagnostic.severity, diagnostic.code, diagnostic.message
        );
        reported.entry((name(at.path), at.line)).or_default().push(text);
    }
    reported
}

/// The resolver that a fixture asks for.
fn resolver(fixture: &Path) -> Resolver {
    let text = fs::read(fixture).unwrap();
    let text = String::from_utf8_lossy(&text);
    let resolver = Resolver::new(fixture);
    match text.lines().find_map(|line| line.strip_prefix("# with ")) {
        None => resolver,
        Some("--portable") => resolver.portable(),
        Some(flag) => panic!("{}: nobody knows `{flag}` here", fixture.display()),
    }
}

fn fixtures() -> Vec<PathBuf> {
    let mut fixtures: Vec<_> =
        fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().path()).collect();
    fixtures.retain(|path| path.is_file());
    fixtures.sort();
    assert!(fixtures.len() > 10, "{fixtures:?}");
    fixtures
}

#[test]
fn fixes_leave_nothing_of_what_they_fix() {
    let mut fixed = 0;
    for fixture in fixtures() {
        let Validation { diagnostics, sources, .. } = Resolver::new(&fixture).validate();
        for diagnostic in &diagnostics {
            let Some(fix) = diagnostic.fix(&sources) else { continue };
            let file = sources.file(fix.span.file);
            if file.path() != fixture {
                continue;
            }
            let mut text = file.text().to_string();
            text.replace_range(fix.span.start as usize..fix.span.end as usize, &fix.replacement);
            let again = Resolver::from_text(&fixture, text).validate();
            let is_left = |left: &Diagnostic| {
                left.message == diagnostic.message
                    && left.span.map(|span| span.start) == diagnostic.span.map(|span| span.start)
            };
            let left = again.diagnostics.iter().find(|left| is_left(left));
            assert_eq!(left, None, "{}: {fix:?}", diagnostic.one_line(&sources));
            fixed += 1;
        }
    }
    assert!(fixed > 20, "{fixed}");
}

/// The same for TOSCA 1.0, with a rule of its chapters in each line.
#[test]
fn definitions_of_tosca_1_0_are_judged_in_their_lines() {
    are_judged_in_their_lines("xml", &["valid"], " <!-- #", " -->");
}

/// The same for TOSCA 2.0.
#[test]
fn files_of_tosca_2_0_are_judged_in_their_lines() {
    are_judged_in_their_lines(
        "version-2",
        &["valid", "allowed", "computed-allowed", "computed-lib", "profile"],
        " #",
        "",
    );
}

/// Judges the fixtures of a directory, of which nothing is reported in these. Where messages are
/// updated, they stand between these signs.
fn are_judged_in_their_lines(below: &str, valid: &[&str], start: &str, end: &str) {
    let mut fixtures: Vec<_> = fs::read_dir(directory().join(below))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    fixtures.sort();
    assert!(fixtures.len() > 5, "{fixtures:?}");
    for fixture in fixtures {
        let Validation { diagnostics, sources, .. } = resolver(&fixture).validate();
        let mut told = reported(&diagnostics, &sources);
        told.values_mut().for_each(|messages| messages.sort());
        if std::env::var_os("UPDATE_DOCS").is_some() {
            update(&fixture, &told, start, end);
            continue;
        }
        let mut expected = expected(&sources);
        expected.values_mut().for_each(|messages| messages.sort());
        assert_eq!(told, expected, "{}", fixture.display());
        let wrong =
            fixture.file_stem().is_none_or(|name| !valid.iter().any(|valid| name == *valid));
        assert_eq!(wrong, !told.is_empty(), "{}", fixture.display());
    }
}

/// Writes the messages into the lines of a fixture. The user who asks for that has to check them.
fn update(fixture: &Path, told: &Reported, start: &str, end: &str) {
    let text = fs::read_to_string(fixture).unwrap();
    let lines = text.lines().enumerate().map(|(index, line)| {
        let place = (name(fixture), index + 1);
        let line = line.split(&format!("{start} ")).next().unwrap_or(line);
        match told.get(&place).into_iter().flatten().map(String::as_str).collect::<Vec<_>>() {
            none if none.is_empty() => format!("{line}\n"),
            messages => format!("{line}{start} {}{end}\n", messages.join(" # ")),
        }
    });
    fs::write(fixture, lines.collect::<String>()).unwrap();
}

/// All text of a diagnostic.
fn words(diagnostic: &Diagnostic) -> String {
    let labels = diagnostic.labels.iter().map(|label| label.message.as_str());
    let help = diagnostic.help.as_deref();
    labels.chain(help).fold(diagnostic.message.clone(), |words, more| format!("{words} {more}"))
}

/// Plain templates know neither alternatives, such as `artifact "image@0"` names one, nor words
/// such as `default_condition_mode`.
#[test]
fn messages_about_plain_templates_say_nothing_of_variability() {
    let is_of_variability = |words: &str| {
        let starts_with_digit = |rest: &str| rest.starts_with(|next: char| next.is_ascii_digit());
        words.split('@').skip(1).any(starts_with_digit) || words.contains("default_condition_mode")
    };
    let mut plain = 0;
    for fixture in fixtures() {
        let text = fs::read_to_string(&fixture).unwrap();
        if !text.contains("\ntosca_definitions_version: tosca_simple_yaml_1_3\n") {
            continue;
        }
        let mut found = Resolver::new(&fixture).validate().diagnostics;
        if found.iter().any(|one| one.message.contains("in plain TOSCA")) {
            continue;
        }
        match Resolver::new(&fixture).resolve() {
            Ok(resolution) => found.extend(resolution.warnings().iter().cloned()),
            Err(failure) => found.extend(failure.diagnostics),
        }
        let named = found.iter().map(words).find(|words| is_of_variability(words));
        assert_eq!(named, None, "{}", fixture.display());
        plain += 1;
    }
    assert!(plain > 40, "{plain}");
}

#[test]
fn fixtures_are_reported_as_they_say() {
    let mut wrong = String::new();
    for fixture in fixtures() {
        let name = name(&fixture);
        let Validation { diagnostics, sources, .. } = resolver(&fixture).validate();
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
