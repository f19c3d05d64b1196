//! Adapts an instance to inputs that change: `cuvee instance run --watch`.

use super::interrupt;
use super::run::{NOBODY, RunDirectory};
use crate::cli::Outcome;
use crate::cli::args::instance::RunInstanceArgs;
use crate::cli::reporter::Reporter;
use cuvee::Failure;
use cuvee::diagnostic::Code;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

/// How long files are left alone between two looks at them.
const PACE: Duration = Duration::from_millis(250);

/// After how many pauses a run is tried again where another one has the instance.
const AGAIN: u32 = 20;

/// What the watched files contain, or why they cannot be read.
type WatchedContents = Vec<Result<Vec<u8>, io::ErrorKind>>;

/// Runs the instance, and once more whenever the files have changed, until somebody ends it. What
/// was begun is ended first.
pub(super) fn run(args: &RunInstanceArgs, reporter: &Reporter, at: &RunDirectory) -> Outcome {
    interrupt::wait_for_runs();
    let mut with_files = args.clone();
    with_files.choose.inputs_files.extend(args.watched.iter().cloned());
    let (mut known, mut has_run) = (None, false);
    while let Some(now) = changed(&args.watched, known.as_ref()) {
        match at.run(&with_files, reporter, has_run) {
            // Nobody says what became of steps that were interrupted.
            Ok(code) if !has_run && code == ExitCode::from(NOBODY) => return Ok(code),
            Ok(_) => (known, has_run) = (Some(now), true),
            Err(failure) => {
                reporter.failed(&failure);
                match is_run_by_others(&failure) {
                    true => (0..AGAIN).for_each(|_| pause()),
                    false => known = Some(now),
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn is_run_by_others(failure: &Failure) -> bool {
    failure.diagnostics.iter().any(|found| found.code == Code::InstanceRunning)
}

/// Waits a little, unless somebody ends the process.
fn pause() {
    if !interrupt::has_come() {
        thread::sleep(PACE);
    }
}

/// Waits until the files have other contents, and these are the same at two looks: a file may be
/// half written. `None` once somebody ends the process.
fn changed(files: &[PathBuf], known: Option<&WatchedContents>) -> Option<WatchedContents> {
    let mut before = None;
    while !interrupt::has_come() {
        let now: WatchedContents =
            files.iter().map(|file| std::fs::read(file).map_err(|why| why.kind())).collect();
        if before.as_ref() == Some(&now) && known != Some(&now) {
            return Some(now);
        }
        before = Some(now);
        pause();
    }
    None
}
