//! Whoever waits for a command sees after a second what happens, is told how long what took, and
//! waits no longer than for a set time.
//!
//! There is one process, one who waits for it, and one terminal: so is this.

use super::args::WatchArgs;
use super::progress::Spinner;
use super::timings::Timings;
use cuvee::progress::Progress;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

static WATCH: Mutex<Option<Watch>> = Mutex::new(None);

struct Watch {
    timings: Timings,
    /// What is shown; nothing while something is written.
    spinner: Option<Spinner>,
    is_shown: bool,
}

/// From now on every run is watched; `is_shown` says whether somebody sits there who would like to know
/// that we are not stuck.
pub(crate) fn begin(is_shown: bool) {
    let watch = Watch { timings: Timings::start("starting"), spinner: None, is_shown };
    *WATCH.lock().unwrap_or_else(PoisonError::into_inner) = Some(watch);
}

/// Does this, which is to end the process, where it takes longer.
pub(crate) fn give_up_after(time: Duration, give_up: impl FnOnce() + Send + 'static) {
    // Without a thread nobody looks at the clock, as if no time had been set.
    let _ = thread::Builder::new().spawn(move || {
        thread::sleep(time);
        if WATCH.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            give_up();
        }
    });
}

/// Says how long what took, where somebody wants to know.
pub(crate) fn end(args: &WatchArgs) {
    let watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(Watch { mut timings, .. }) = watch.filter(|_| args.timings) {
        timings.stop();
        // Whoever closed standard error does not want to know.
        let _ = write!(io::stderr(), "{timings}");
    }
}

/// Clears the terminal for what is written to it now.
pub(super) fn hide() {
    with(|watch| watch.spinner = None);
}

/// A phase of the command itself begins.
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

/// What runs tell.
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
