//! Models the lifecycle of nodes: their states (section 3.4.1), and the operations of the
//! interfaces `Standard` (5.8.4) and `Configure` (5.8.5) that lead from one state to the next.

/// A state of a node (section 3.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodeState {
    /// The node only exists as a template.
    Initial,
    /// The node is on its way to `created`.
    Creating,
    /// The software of the node is installed.
    Created,
    /// The node is on its way to `configured`.
    Configuring,
    /// The node could be started. A node that was stopped is in this state as well.
    Configured,
    /// The node is on its way to `started`.
    Starting,
    /// The node runs.
    Started,
    /// The node is on its way back to `configured`.
    Stopping,
    /// The node is on its way to being unknown.
    Deleting,
    /// An operation of the node failed.
    Error,
}

impl NodeState {
    /// All states, in the order of the specification.
    pub const ALL: [Self; 10] = [
        Self::Initial,
        Self::Creating,
        Self::Created,
        Self::Configuring,
        Self::Configured,
        Self::Starting,
        Self::Started,
        Self::Stopping,
        Self::Deleting,
        Self::Error,
    ];

    /// The name of the state in TOSCA.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Creating => "creating",
            Self::Created => "created",
            Self::Configuring => "configuring",
            Self::Configured => "configured",
            Self::Starting => "starting",
            Self::Started => "started",
            Self::Stopping => "stopping",
            Self::Deleting => "deleting",
            Self::Error => "error",
        }
    }

    /// The state of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// Whether a node only passes through the state.
    pub fn is_transitional(self) -> bool {
        matches!(
            self,
            Self::Creating | Self::Configuring | Self::Starting | Self::Stopping | Self::Deleting
        )
    }

    /// Whether the table of the specification leads from this state to another one in one step.
    /// Every state may lead to `error`. All states except `initial`, `deleting` and the next state
    /// itself may lead to `stopping` and `deleting`. Behind `deleting` the node is unknown, which
    /// is not a state.
    ///
    /// ```
    /// use cuvee::parts::tosca::NodeState;
    /// assert!(NodeState::Stopping.leads_to(NodeState::Configured));
    /// assert!(!NodeState::Initial.leads_to(NodeState::Started));
    /// ```
    pub fn leads_to(self, next: Self) -> bool {
        match next {
            Self::Initial => false,
            Self::Creating => self == Self::Initial,
            Self::Created => self == Self::Creating,
            Self::Configuring => matches!(self, Self::Created | Self::Configured),
            Self::Configured => matches!(self, Self::Configuring | Self::Stopping),
            Self::Starting => self == Self::Configured,
            Self::Started => self == Self::Starting,
            Self::Stopping => !matches!(self, Self::Initial | Self::Stopping | Self::Deleting),
            Self::Deleting => !matches!(self, Self::Initial | Self::Deleting),
            Self::Error => true,
        }
    }
}

impl std::fmt::Display for NodeState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An operation that orchestrators call by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LifecycleOperation {
    /// Creates a node.
    Create,
    /// Configures a node.
    Configure,
    /// Starts a node.
    Start,
    /// Stops a node.
    Stop,
    /// Deletes a node.
    Delete,
    /// Prepares the source of a relationship.
    PreConfigureSource,
    /// Prepares the target of a relationship.
    PreConfigureTarget,
    /// Finishes the source of a relationship.
    PostConfigureSource,
    /// Finishes the target of a relationship.
    PostConfigureTarget,
    /// Tells the source that a target was added.
    AddTarget,
    /// Tells the target that a source was added.
    AddSource,
    /// Tells the source that the target has changed.
    TargetChanged,
    /// Tells the source that a target goes away.
    RemoveTarget,
    /// Tells the target that a source goes away.
    RemoveSource,
}

impl LifecycleOperation {
    /// The operations of nodes: those of the interface `Standard`.
    pub const STANDARD: [Self; 5] =
        [Self::Create, Self::Configure, Self::Start, Self::Stop, Self::Delete];

    const RELATIONSHIP: [Self; 9] = [
        Self::PreConfigureSource,
        Self::PreConfigureTarget,
        Self::PostConfigureSource,
        Self::PostConfigureTarget,
        Self::AddTarget,
        Self::AddSource,
        Self::TargetChanged,
        Self::RemoveTarget,
        Self::RemoveSource,
    ];

    /// The operation that has this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let all = Self::STANDARD.into_iter().chain(Self::RELATIONSHIP);
        all.into_iter().find(|operation| operation.as_str() == name)
    }

    /// Whether an interface of this name has such operations.
    pub(crate) fn has_interface(name: &str) -> bool {
        [Self::Create, Self::AddTarget].iter().any(|operation| operation.interface() == name)
    }

    /// The name of the operation in TOSCA.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Configure => "configure",
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Delete => "delete",
            Self::PreConfigureSource => "pre_configure_source",
            Self::PreConfigureTarget => "pre_configure_target",
            Self::PostConfigureSource => "post_configure_source",
            Self::PostConfigureTarget => "post_configure_target",
            Self::AddTarget => "add_target",
            Self::AddSource => "add_source",
            Self::TargetChanged => "target_changed",
            Self::RemoveTarget => "remove_target",
            Self::RemoveSource => "remove_source",
        }
    }

    /// The operation of nodes that has this name.
    pub fn standard(name: &str) -> Option<Self> {
        Self::STANDARD.into_iter().find(|operation| operation.as_str() == name)
    }

    /// The type of the interface that defines the operation.
    pub const fn interface_type(self) -> &'static str {
        match self {
            Self::Create | Self::Configure | Self::Start | Self::Stop | Self::Delete => {
                "tosca.interfaces.node.lifecycle.Standard"
            }
            _ => "tosca.interfaces.relationship.Configure",
        }
    }

    /// The usual name of the interface that defines the operation.
    pub const fn interface(self) -> &'static str {
        match self {
            Self::Create | Self::Configure | Self::Start | Self::Stop | Self::Delete => "Standard",
            _ => "Configure",
        }
    }

    /// Whether an operation of relationships is about the target. The others are about the source.
    pub const fn is_at_target(self) -> bool {
        matches!(
            self,
            Self::PreConfigureTarget
                | Self::PostConfigureTarget
                | Self::AddSource
                | Self::RemoveSource
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for state in NodeState::ALL {
            assert_eq!(NodeState::named(state.as_str()), Some(state));
        }
        assert_eq!(NodeState::named("stopped"), None);
        assert_eq!(LifecycleOperation::standard("add_target"), None);
    }

    /// Section 3.4.1 gives the next state for each transitional state.
    #[test]
    fn transitional_states_lead_to_what_the_table_says() {
        use NodeState::{Configured, Configuring, Created, Creating, Deleting, Error};
        use NodeState::{Started, Starting, Stopping};
        let table = [
            (Creating, vec![Created]),
            (Configuring, vec![Configured]),
            (Starting, vec![Started]),
            (Stopping, vec![Configured]),
            (Deleting, vec![]),
        ];
        for (state, ends) in table {
            assert!(state.is_transitional());
            let lasting = |next: &NodeState| !next.is_transitional() && *next != Error;
            let found: Vec<_> = NodeState::ALL
                .into_iter()
                .filter(lasting)
                .filter(|&next| state.leads_to(next))
                .collect();
            assert_eq!(found, ends, "{state}");
        }
    }
}
