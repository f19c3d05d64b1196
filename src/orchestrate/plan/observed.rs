//! How things are where that is known: what a node has reached, and what is left to do so that it
//! runs (statement O-5 and the class `repair` of `docs/instances.md`).

use super::weave::Up;
use crate::topology::Topology;
use crate::tosca::NodeState as State;

/// How far each node has come, by its name; nothing for one of which that is not known.
pub(crate) type Observation<'o> = &'o dyn Fn(&str) -> Option<Observed>;

/// How far a node has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Observed {
    /// Its state; where it is `error`, the one that it came from.
    pub(crate) reached: State,
    /// Whether that went wrong.
    pub(crate) has_failed: bool,
}

impl Observed {
    /// What runs as it should, which is what plans between variants take for granted.
    const RUNS: Self = Self { reached: State::Started, has_failed: false };

    /// The nodes of a topology.
    pub(super) fn all(topology: &Topology, observation: Option<Observation<'_>>) -> Vec<Self> {
        let of = |name: &str| observation.and_then(|observe| observe(name)).unwrap_or(Self::RUNS);
        topology.nodes.iter().map(|node| of(&node.name)).collect()
    }

    /// Whether there is something to be stopped.
    pub(super) fn runs(self) -> bool {
        matches!(self.reached, State::Starting | State::Started | State::Stopping)
    }

    /// Whether the ends of its relations know of each other.
    pub(super) fn is_connected(self) -> bool {
        self.runs() || matches!(self.reached, State::Configuring | State::Configured)
    }

    /// From where it has to come up so that it runs; nothing where it does.
    pub(super) fn missing(self) -> Option<Up> {
        match self.reached {
            State::Started if !self.has_failed => None,
            State::Initial | State::Creating | State::Deleting => Some(Up::Whole),
            State::Created | State::Configuring => Some(Up::Configure),
            // What failed after it ran is left undefined: it is configured anew.
            State::Started | State::Error => Some(Up::Configure),
            State::Configured | State::Starting | State::Stopping => Some(Up::Start),
        }
    }
}
