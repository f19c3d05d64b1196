//! Lets an interrupt end what a command runs before the command ends itself.

use crate::cli::output;
use cuvee::operate::Signal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where an interrupt is sent while something runs.
static STOP: Mutex<Option<SyncSender<Signal>>> = Mutex::new(None);

/// Whether the first interrupt is only noted.
static IS_NOTED: AtomicBool = AtomicBool::new(false);

/// Whether an interrupt was noted.
static HAS_COME: AtomicBool = AtomicBool::new(false);

fn stopping() -> MutexGuard<'static, Option<SyncSender<Signal>>> {
    STOP.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends interrupts there from now on; `None` lets them end the process.
pub(super) fn tell(whom: Option<SyncSender<Signal>>) {
    *stopping() = whom;
}

/// Lets the first interrupt end neither what runs nor the process: [`has_come`] tells of it.
pub(super) fn wait_for_runs() {
    IS_NOTED.store(true, Ordering::SeqCst);
}

/// Whether an interrupt was noted.
pub(super) fn has_come() -> bool {
    HAS_COME.load(Ordering::SeqCst)
}

/// Installs the handler.
pub(super) fn handle() {
    // Without the handler an interrupt ends the process at once; the next run goes on.
    let _ = ctrlc::set_handler(|| {
        if IS_NOTED.swap(false, Ordering::SeqCst) {
            return HAS_COME.store(true, Ordering::SeqCst);
        }
        let sent = stopping().as_ref().is_some_and(|stop| stop.send(Signal::Stop).is_ok());
        if !sent {
            output::leave_nothing_behind();
            std::process::exit(output::INTERRUPTED);
        }
    });
}
