//! Watches a running command: shows its phase after a second, measures its phases, and stops it at
//! the time limit.
//!
//! The state is global, because there is one process with one terminal.

use super::args::WatchArgs;
use super::progress::Spinner;
use super::timings::Timings;
use cuvee::explore::progress::Progress;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

static WATCH: Mutex<Option<Watch>> = Mutex::new(None);

struct Watch {
    timings: Timings,
    /// The visible spinner. `None` while output is written.
    spinner: Option<Spinner>,
    is_shown: bool,
}

/// Starts to watch all runs. `is_shown` tells whether to show a spinner.
pub(crate) fn begin(is_shown: bool) {
    let watch = Watch { timings: Timings::start("starting"), spinner: None, is_shown };
    *WATCH.lock().unwrap_or_else(PoisonError::into_inner) = Some(watch);
}

/// Calls `give_up`, which has to end the process, if the command takes longer than this.
pub(crate) fn give_up_after(time: Duration, give_up: impl FnOnce() + Send + 'static) {
    // Without the thread, there is no time limit.
    let _ = thread::Builder::new().spawn(move || {
        thread::sleep(time);
        if WATCH.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            give_up();
        }
    });
}

/// Stops watching, and prints the durations of the phases if they are requested.
pub(crate) fn end(args: &WatchArgs) {
    let watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(Watch { mut timings, .. }) = watch.filter(|_| args.timings) {
        timings.stop();
        // If standard error is closed, nobody reads the durations.
        let _ = write!(io::stderr(), "{timings}");
    }
}

/// Clears the spinner before other output.
pub(super) fn hide() {
    with(|watch| watch.spinner = None);
}

/// Begins a phase of the command itself.
pub(super) fn phase(name: &'static str) {
    WatchedRun.phase(name);
}

fn with(tell: impl FnOnce(&mut Watch)) {
    if let Some(watch) = &mut *WATCH.lock().unwrap_or_else(PoisonError::into_inner) {
        tell(watch);
    }
}

impl Watch {
    fn spinner(&mut self) -> &mut Spinner {
        self.spinner.get_or_insert_with(|| Spinner::new(self.is_shown))
    }
}

/// Receives the progress of runs.
pub(super) struct WatchedRun;

impl Progress for WatchedRun {
    fn phase(&mut self, name: &'static str) {
        with(|watch| {
            watch.timings.phase(name);
            watch.spinner().phase(name);
        });
    }

    fn counted(&mut self, what: &'static str, count: usize) {
        with(|watch| watch.timings.counted(what, count));
    }

    fn bounds(&mut self, objective: usize, lower: u64, upper: u64) {
        with(|watch| watch.spinner().bounds(objective, lower, upper));
    }
}
