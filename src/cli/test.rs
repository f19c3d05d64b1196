//! Runs `cuvee test`.

use super::args::{TestArgs, TestFormat};
use super::{Outcome, json, junit, output, rejected, select, watch};
use cuvee::diagnostic::{Code, Diagnostic, did_you_mean};
use cuvee::source::OsFiles;
use cuvee::testing::{Case, Report, cases, run_with};
use serde::Serialize;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs the tests of all directories, and writes a single report. Each directory needs at least one
/// test, and the filter has to match at least one in all.
pub(crate) fn run(args: &TestArgs) -> Outcome {
    let wanted = |case: &Path| {
        args.filter.as_ref().is_none_or(|text| case.to_string_lossy().contains(text.as_str()))
    };
    watch::phase("running cases");
    let mut report = Report::default();
    let mut unwanted = Vec::new();
    for dir in &args.dirs {
        let named = named(dir).map_err(|error| rejected(refused(dir, &error.to_string())))?;
        let read = |resolver| select::with_imports(resolver, &args.imports);
        let found = run_with(&named, &OsFiles, wanted, read);
        if found.cases.is_empty() && found.skipped.is_empty() {
            let others = cases(&named, &OsFiles);
            if others.is_empty() {
                let help = "a test is a directory below `tests` beside a service template, or one with a `test.yaml`";
                return Err(rejected(refused(dir, "it holds no tests").help(help)));
            }
            unwanted.extend(others);
        }
        report.cases.extend(found.cases);
        report.skipped.extend(found.skipped);
    }
    if let Some(filter) = args.filter.as_deref().filter(|_| is_empty(&report)) {
        return Err(rejected(unmatched(filter, &unwanted)));
    }
    let text = match args.format {
        TestFormat::Human if args.update => return update(&mut report),
        TestFormat::Human => report.to_string(),
        TestFormat::Json => json(&TestResult::of(&report)),
        TestFormat::Junit => junit::document(&report),
    };
    output::to_stdout(text).map_err(rejected)?;
    Ok(exit(&report))
}

fn is_empty(report: &Report) -> bool {
    report.cases.is_empty() && report.skipped.is_empty()
}

fn exit(report: &Report) -> ExitCode {
    if report.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Writes the expectations with which failing cases would pass, each after the differences.
fn update(report: &mut Report) -> Outcome {
    let mut written: HashMap<PathBuf, String> = HashMap::new();
    let mut updated = 0;
    for case in &mut report.cases {
        let Some(update) = case.update.take() else { continue };
        let shown = update.path.display();
        match written.get(&update.path) {
            Some(other) if *other != update.content => {
                case.problems.push(format!("another case expects something else of `{shown}`"));
                continue;
            }
            Some(_) => {}
            None => {
                let text = format!("{}    writing {shown}\n", difference(case));
                output::to_stdout(text).map_err(rejected)?;
                output::to_file(&update.path, &update.content).map_err(rejected)?;
                written.insert(update.path, update.content);
            }
        }
        case.problems.clear();
        updated += 1;
    }
    let text = report.to_string();
    let text = text.strip_suffix('\n').unwrap_or(&text);
    output::to_stdout(format!("{text}, {updated} of them updated\n")).map_err(rejected)?;
    Ok(exit(report))
}

/// The differences between expected and actual results of a case.
fn difference(case: &Case) -> String {
    let lines =
        case.problems.iter().map(|problem| format!("    {}\n", problem.replace('\n', "\n    ")));
    format!("UPDATE {}\n{}", case.path.display(), lines.collect::<String>())
}

/// The report in its JSON form.
#[derive(Serialize)]
struct TestResult<'r> {
    passed: usize,
    failed: usize,
    skipped: Vec<&'r Path>,
    cases: Vec<TestedCase<'r>>,
}

#[derive(Serialize)]
struct TestedCase<'r> {
    path: &'r Path,
    description: Option<&'r str>,
    passed: bool,
    problems: &'r [String],
}

impl<'r> TestResult<'r> {
    fn of(report: &'r Report) -> Self {
        let case = |case: &'r Case| TestedCase {
            path: &case.path,
            description: case.description.as_deref(),
            passed: case.problems.is_empty(),
            problems: &case.problems,
        };
        Self {
            passed: report.passed(),
            failed: report.failed(),
            skipped: report.skipped.iter().map(PathBuf::as_path).collect(),
            cases: report.cases.iter().map(case).collect(),
        }
    }
}

fn refused(dir: &Path, why: &str) -> Diagnostic {
    Diagnostic::error(Code::File, format!("cannot test `{}`: {why}", dir.display()))
}

/// The error for a filter that matches no test, with a suggestion from the other tests.
fn unmatched(filter: &str, others: &[PathBuf]) -> Diagnostic {
    let names = others.iter().filter_map(|path| path.file_name()?.to_str());
    Diagnostic::error(Code::File, format!("no test has `{filter}` in its path"))
        .help_opt(did_you_mean(filter, names))
}

/// The path of a directory with a name from which its parents can be found, unlike `.`.
fn named(dir: &Path) -> io::Result<PathBuf> {
    if !dir.metadata()?.is_dir() {
        return Err(io::Error::from(io::ErrorKind::NotADirectory));
    }
    if dir.file_name().is_some() { Ok(dir.to_owned()) } else { dir.canonicalize() }
}
