//! The settings of a run.

use super::place::Providers;
use super::runner::Runners;
use std::time::Duration;

/// The settings of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunSettings {
    /// The greatest number of steps that run side by side.
    pub jobs: usize,
    /// The programs that run implementations, beside those that are built in.
    pub runners: Runners,
    /// The providers of nodes that have no operations, and the ways to reach hosts.
    pub providers: Providers,
    /// Programs that find out whether nodes run, each for a node, a type of nodes, or what derives
    /// from it.
    pub probes: Vec<(String, Vec<String>)>,
    /// The names of nodes, types and extensions that the caller gives for this instance, each with
    /// its argument.
    /// A configuration may be about other instances, too.
    pub named: Vec<(&'static str, String)>,
    /// How long a step may take, if its operation does not say.
    pub step_timeout: Option<Duration>,
    /// The number of times that a failed step is tried again.
    pub retries: u32,
    /// The time before a failed step is tried again.
    pub retry_delay: Duration,
    /// Whether steps that do not depend on a failed one still begin.
    pub keep_going: bool,
}

impl Default for RunSettings {
    /// One step at a time, tried once.
    fn default() -> Self {
        Self {
            jobs: 1,
            runners: Runners::default(),
            providers: Providers::new(),
            probes: Vec::new(),
            named: Vec::new(),
            step_timeout: None,
            retries: 0,
            retry_delay: Duration::from_secs(5),
            keep_going: false,
        }
    }
}
