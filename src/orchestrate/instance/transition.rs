//! Decides which state of a node may follow which (seed "instance model", section 2.4; TOSCA Simple
//! Profile 1.3, section 3.4.1).

use super::model::InstanceState;
use crate::tosca::NodeState;

/// The reported state of a node: a state, or gone.
///
/// ```
/// use cuvee::deploy::instance::{InstanceState, ReportedState};
/// assert_eq!(ReportedState::named("gone"), ReportedState::Gone);
/// assert_eq!(ReportedState::named("started").to_string(), "started");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportedState {
    /// The node is in this state.
    In(InstanceState),
    /// The node does not exist any more.
    Gone,
}

/// The word for a node that does not exist any more.
const GONE: &str = "gone";

impl ReportedState {
    /// The reported state with this name. Whether such a state exists is not checked.
    pub fn named(name: &str) -> Self {
        match name {
            GONE => Self::Gone,
            _ => Self::In(InstanceState::named(name)),
        }
    }
}

impl std::fmt::Display for ReportedState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::In(state) => state.fmt(f),
            Self::Gone => f.write_str(GONE),
        }
    }
}

/// The states of a node that nothing stops, in their order.
const FORWARD: [NodeState; 7] = [
    NodeState::Initial,
    NodeState::Creating,
    NodeState::Created,
    NodeState::Configuring,
    NodeState::Configured,
    NodeState::Starting,
    NodeState::Started,
];

/// The states between `from` and `to` that need not be reported; `None` if `to` may not follow
/// `from`. `is_inside` is whether an orchestration is open. Outside of one only a transitional
/// state may become `error`.
///
/// A state that the specification does not know may follow any state, and any may follow it. The
/// caller has made sure that a workflow sets it.
///
/// ```
/// use cuvee::deploy::instance::{InstanceState, ReportedState, skipped_between};
/// let between = |from, to| skipped_between(&InstanceState::named(from), &ReportedState::named(to), true);
/// let names = |skipped: Vec<InstanceState>| skipped.iter().map(InstanceState::to_string).collect::<Vec<_>>();
/// assert_eq!(between("creating", "configured").map(names).unwrap(), ["created", "configuring"]);
/// assert_eq!(between("started", "created"), None);
/// ```
pub fn skipped_between(
    from: &InstanceState,
    to: &ReportedState,
    is_inside: bool,
) -> Option<Vec<InstanceState>> {
    let (InstanceState::Known(from), to) = (from, to) else { return Some(Vec::new()) };
    let skipped = match to {
        ReportedState::In(InstanceState::Other(_)) => Vec::new(),
        ReportedState::Gone if *from == NodeState::Deleting => Vec::new(),
        ReportedState::Gone => vec![NodeState::Deleting],
        ReportedState::In(InstanceState::Known(to)) => known_between(*from, *to, is_inside)?,
    };
    Some(skipped.into_iter().map(InstanceState::Known).collect())
}

fn known_between(from: NodeState, to: NodeState, is_inside: bool) -> Option<Vec<NodeState>> {
    use NodeState::{Configured, Configuring, Deleting, Error, Started, Stopping};
    let none = || Some(Vec::new());
    match (from, to) {
        (_, _) if from == to => None,
        (_, Error) => none().filter(|_| is_inside || from.is_transitional()),
        (_, Deleting) => none(),
        // The condition of a node after an error is undefined, so no state is skipped after it.
        (Error, _) => none().filter(|_| to.is_transitional()),
        (Configured | Started, Stopping | Configuring) => none(),
        (Started, Configured) => Some(vec![Stopping]),
        // After `stopping` the same states follow as after `configuring`.
        (Stopping, _) => forward(Configuring, to).filter(|_| to != Configuring),
        _ => forward(from, to),
    }
}

fn forward(from: NodeState, to: NodeState) -> Option<Vec<NodeState>> {
    let at = |state| FORWARD.iter().position(|known| *known == state);
    let between = at(from)? + 1..at(to)?;
    FORWARD.get(between).map(<[_]>::to_vec)
}
