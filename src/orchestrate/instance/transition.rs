//! From which state of a node which other one can be reached (seed "instance model", section 2.4;
//! TOSCA Simple Profile 1.3, section 3.4.1).

use super::model::InstanceState;
use crate::tosca::NodeState;

/// What a node is said to be: in a state, or gone.
///
/// ```
/// use cuvee::instance::{InstanceState, ReportedState};
/// assert_eq!(ReportedState::named("gone"), ReportedState::Gone);
/// assert_eq!(ReportedState::named("started").to_string(), "started");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportedState {
    /// It is in this state.
    In(InstanceState),
    /// It is not there any more.
    Gone,
}

/// What somebody writes for what is not there any more.
const GONE: &str = "gone";

impl ReportedState {
    /// What a name stands for; whether there is such a state is another question.
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

/// The way of a node that nothing stops: each state leads to the next one.
const FORWARD: [NodeState; 7] = [
    NodeState::Initial,
    NodeState::Creating,
    NodeState::Created,
    NodeState::Configuring,
    NodeState::Configured,
    NodeState::Starting,
    NodeState::Started,
];

/// What lies between two states where the one may follow the other, of which nobody has to speak;
/// nothing where it may not. `is_inside` says whether an orchestration is open: only there something
/// may fail that nobody touches.
///
/// Names that the specification does not know may follow anything, and be followed by anything: who
/// asks has made sure that a workflow sets them.
///
/// ```
/// use cuvee::instance::{InstanceState, ReportedState, skipped_between};
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
        // What an error leaves behind is undefined, so nothing is skipped behind it.
        (Error, _) => none().filter(|_| to.is_transitional()),
        (Configured | Started, Stopping | Configuring) => none(),
        (Started, Configured) => Some(vec![Stopping]),
        // Behind `stopping` it goes on where it would behind `configuring`.
        (Stopping, _) => forward(Configuring, to).filter(|_| to != Configuring),
        _ => forward(from, to),
    }
}

fn forward(from: NodeState, to: NodeState) -> Option<Vec<NodeState>> {
    let at = |state| FORWARD.iter().position(|known| *known == state);
    let between = at(from)? + 1..at(to)?;
    FORWARD.get(between).map(<[_]>::to_vec)
}
