//! Questions that may take long: whoever waits sees after a second what happens, is told how long what
//! took, and waits no longer than for a set time.

use super::args::WatchArgs;
use super::progress::Spinner;
use super::reporter::Reporter;
use super::timings::Timings;
use cuvee::Failure;
use cuvee::diagnostic::{Code, Diagnostic};
use cuvee::progress::Progress;
use std::io::{self, Write};
use std::process;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;

/// Asks. The process ends where the time is over before there is an answer.
pub(super) fn watched<T>(
    args: &WatchArgs,
    reporter: &Reporter,
    ask: impl FnOnce(&mut dyn Progress) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut timings = Timings::start("starting");
    let mut spinner = Spinner::new(reporter.shows_progress());
    let clear = spinner.clearing();
    let answer = thread::scope(|scope| {
        let (answered, waiting) = channel::<()>();
        if let Some(time) = args.timeout {
            scope.spawn(move || {
                if waiting.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                    clear();
                    let message = "the time was over before there was an answer";
                    let over = Diagnostic::error(Code::Unproven, message);
                    reporter.failed(&over.help("allow more with `--timeout`").into());
                    process::exit(1);
                }
            });
        }
        let answer = ask(&mut (&mut spinner, &mut timings));
        drop(answered);
        answer
    });
    drop(spinner);
    timings.stop();
    if args.timings {
        // Whoever closed standard error does not want to know.
        let _ = write!(io::stderr(), "{timings}");
    }
    answer
}
