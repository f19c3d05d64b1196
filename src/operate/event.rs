//! Defines the events of a run, which are sent while it lasts.

use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// Something that happened during a run. As JSON each is an object with the key `event`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RunEvent {
    /// The run has begun, or goes on with what an earlier one began.
    Begun {
        /// The name of the instance.
        instance: String,
        /// The record that began the orchestration.
        revision: u64,
        /// How many steps are left that run something.
        steps: usize,
    },
    /// A step has begun.
    Started {
        /// The step.
        step: Arc<str>,
        /// The place where it runs: `here`, or the address of a host.
        place: String,
        /// The command, without secrets.
        command: String,
        /// The number of the attempt, from 1.
        attempt: u32,
    },
    /// A line that a step wrote.
    Said {
        /// The step.
        step: Arc<str>,
        /// The line, with known secrets masked.
        line: String,
    },
    /// A step has ended as it should.
    Done {
        /// The step.
        step: Arc<str>,
        /// How long it took, in seconds.
        seconds: f64,
        /// How many steps are left that run something.
        left: usize,
    },
    /// A step was left out, because its condition does not hold.
    Skipped {
        /// The step.
        step: Arc<str>,
    },
    /// A step has failed, or will be tried again.
    Failed(Box<StepFailure>),
    /// A note about a step, such as an output that nothing declares.
    Noted {
        /// The step.
        step: Arc<str>,
        /// The note.
        note: String,
    },
    /// Somebody asked the run to end.
    Stopping {
        /// Whether what runs is killed; else it may end by itself.
        kill: bool,
    },
    /// The run is over.
    Ended(RunSummary),
}

impl RunEvent {
    /// The event with how many steps are left that run something.
    pub(super) fn with_left(mut self, now: usize) -> Self {
        if let Self::Done { left, .. } = &mut self {
            *left = now;
        }
        self
    }
}

impl RunSummary {
    /// The summary of a plan that has nothing to run.
    pub fn nothing_to_run() -> Self {
        Self { complete: true, ..Self::default() }
    }
}

/// The failure of a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StepFailure {
    /// The step.
    pub step: Arc<str>,
    /// The message of the error.
    pub message: String,
    /// The code of the error, if it is one of cuvee's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The advice on what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Whether the step is tried again.
    pub retried: bool,
    /// The last lines that it wrote, with known secrets masked.
    pub tail: Vec<String>,
    /// The file with all that it wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunSummary {
    /// Whether all of the plan is done.
    pub complete: bool,
    /// Whether the change is open: it can go on or be given up.
    pub open: bool,
    /// Whether somebody stopped the run.
    pub stopped: bool,
    /// How many steps ran and ended as they should.
    pub done: usize,
    /// The steps that failed, in the order in which they did.
    pub failed: Vec<Arc<str>>,
    /// How many steps are left that run something.
    pub left: usize,
    /// The last record.
    pub revision: u64,
}
