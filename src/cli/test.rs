//! `cuvee test`

use super::args::TestArgs;
use super::{Outcome, output, rejected};
use cuvee::diagnostic::{Code, Diagnostic};
use cuvee::source::OsFiles;
use cuvee::testing::{Report, run as run_tests};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs the tests of all directories, and reports them as one; each directory must hold some.
pub(crate) fn run(args: &TestArgs) -> Outcome {
    let mut report = Report::default();
    for dir in &args.dirs {
        let found = named(dir).map(|dir| run_tests(dir, &OsFiles));
        let found = found.map_err(|error| rejected(refused(dir, &error.to_string())))?;
        if found.cases.is_empty() && found.skipped == 0 {
            let help = "a test is a directory below `tests` beside a service template, or one with a `test.yaml`";
            return Err(rejected(refused(dir, "it holds no tests").help(help)));
        }
        report.cases.extend(found.cases);
        report.skipped += found.skipped;
    }
    output::to_stdout(report.to_string()).map_err(rejected)?;
    Ok(if report.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn refused(dir: &Path, why: &str) -> Diagnostic {
    Diagnostic::error(Code::File, format!("cannot test `{}`: {why}", dir.display()))
}

/// The directory under a name that tells what is above it, which `.` does not.
fn named(dir: &Path) -> io::Result<PathBuf> {
    if !dir.metadata()?.is_dir() {
        return Err(io::Error::from(io::ErrorKind::NotADirectory));
    }
    if dir.file_name().is_some() { Ok(dir.to_owned()) } else { dir.canonicalize() }
}
