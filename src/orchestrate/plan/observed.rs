//! The observed state of nodes: what a node has reached, and what is left to do until it runs
//! (statement O-5 and the class `repair` of `docs/instances.md`).

use super::weave::Up;
use crate::topology::Topology;
use crate::tosca::NodeState as State;

/// Gives what is observed of a node, by its name; `None` if nothing is known.
pub(crate) type Observation<'o> = &'o dyn Fn(&str) -> Option<Observed>;

/// The observed state of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Observed {
    /// The state of the node. If that is `error`, the state before it.
    pub(crate) reached: State,
    /// Whether the node is in the state `error`.
    pub(crate) has_failed: bool,
}

impl Observed {
    /// A node that runs as it should. Plans between variants assume this if nothing is known.
    const RUNS: Self = Self { reached: State::Started, has_failed: false };

    /// The observed states of the nodes of a topology.
    pub(super) fn all(topology: &Topology, observation: Option<Observation<'_>>) -> Vec<Self> {
        let of = |name: &str| observation.and_then(|observe| observe(name)).unwrap_or(Self::RUNS);
        topology.nodes.iter().map(|node| of(&node.name)).collect()
    }

    /// Whether the node has something to stop.
    pub(super) fn runs(self) -> bool {
        matches!(self.reached, State::Starting | State::Started | State::Stopping)
    }

    /// Whether the ends of the node's relations know of each other.
    pub(super) fn is_connected(self) -> bool {
        self.runs() || matches!(self.reached, State::Configuring | State::Configured)
    }

    /// From where the node has to come up until it runs; `None` if it runs.
    pub(super) fn missing(self) -> Option<Up> {
        match self.reached {
            State::Started if !self.has_failed => None,
            State::Initial | State::Creating | State::Deleting => Some(Up::Whole),
            State::Created | State::Configuring => Some(Up::Configure),
            // The condition of a node that failed after it ran is undefined, so it is configured
            // anew.
            State::Started | State::Error => Some(Up::Configure),
            State::Configured | State::Starting | State::Stopping => Some(Up::Start),
        }
    }
}
