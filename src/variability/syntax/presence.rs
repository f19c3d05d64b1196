//! The presence operators ("Presence Operators") and what they ask.

use crate::variability::options::Kind;

/// What is asked of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// `present(e)`
    Itself,
    /// `⋁ present(h)` over the hosts h of the node
    Hosts,
    /// `⋁ present(source(r))` over the incoming relations r of the node
    Sources,
    /// `⋁ manual(r) ∧ present(source(r))` over the incoming relations r of the node
    Incoming,
    /// `⋁ present(r)` over the incoming relations r of the node
    IncomingNaive,
    /// `⋁ manual(r) ∧ present(target(r))` over the outgoing relations r of the node
    Outgoing,
    /// `⋁ present(r)` over the outgoing relations r of the node
    OutgoingNaive,
    /// `⋁ manual(a)` over the artifacts a of the node
    Artifacts,
    /// `⋁ present(a)` over the artifacts a of the node
    ArtifactsNaive,
    /// `⋁ present(t)` over the technologies t of the node that manage the artifact
    Managed,
    /// `⋁ present(c)` over the consumers c of the input
    Consumers,
    /// `⋁ present(p)` over the producers p of the output
    Producers,
    /// `present(source(r))`
    Source,
    /// `present(target(r))`; true where the target is left to an orchestrator
    Target,
    /// `⋁ present(t)` over the targets t of the policy, the members of a group among them
    Targets,
    /// `⋁ present(m)` over the members m of the group
    Members,
    /// `present(container(e))`
    Container,
}

/// A presence operator.
#[derive(Debug)]
pub struct PresenceOperator {
    /// Its keyword.
    pub keyword: &'static str,
    /// The kinds of its operands, one inside of the other.
    pub path: &'static [Kind],
    /// What it asks of the last of them.
    pub of: Of,
}

const fn operator(keyword: &'static str, path: &'static [Kind], of: Of) -> PresenceOperator {
    PresenceOperator { keyword, path, of }
}

const OPERATORS: &[PresenceOperator] = &[
    operator("node_presence", &[Kind::Node], Of::Itself),
    operator("host_presence", &[Kind::Node], Of::Hosts),
    operator("has_source", &[Kind::Node], Of::Sources),
    operator("has_incoming_relation", &[Kind::Node], Of::Incoming),
    operator("has_incoming_relation_naive", &[Kind::Node], Of::IncomingNaive),
    operator("has_outgoing_relation", &[Kind::Node], Of::Outgoing),
    operator("has_outgoing_relation_naive", &[Kind::Node], Of::OutgoingNaive),
    operator("has_artifact", &[Kind::Node], Of::Artifacts),
    operator("has_artifact_naive", &[Kind::Node], Of::ArtifactsNaive),
    operator("relation_presence", &[Kind::Node, Kind::Relation], Of::Itself),
    operator("artifact_presence", &[Kind::Node, Kind::Artifact], Of::Itself),
    operator("is_managed", &[Kind::Node, Kind::Artifact], Of::Managed),
    operator("technology_presence", &[Kind::Node, Kind::Technology], Of::Itself),
    operator("policy_presence", &[Kind::Policy], Of::Itself),
    operator("group_presence", &[Kind::Group], Of::Itself),
    operator("input_presence", &[Kind::Input], Of::Itself),
    operator("is_consumed", &[Kind::Input], Of::Consumers),
    operator("output_presence", &[Kind::Output], Of::Itself),
    operator("is_produced", &[Kind::Output], Of::Producers),
    operator("import_presence", &[Kind::Import], Of::Itself),
    operator("source_presence", &[Kind::Node, Kind::Relation], Of::Source),
    operator("target_presence", &[Kind::Node, Kind::Relation], Of::Target),
    operator("has_present_target", &[Kind::Policy], Of::Targets),
    operator("has_present_member", &[Kind::Group], Of::Members),
    operator("container_presence", &[], Of::Container),
    operator("node_type_presence", &[Kind::Node, Kind::Type], Of::Itself),
    operator("relation_type_presence", &[Kind::Node, Kind::Relation, Kind::Type], Of::Itself),
    operator("group_type_presence", &[Kind::Group, Kind::Type], Of::Itself),
    operator("policy_type_presence", &[Kind::Policy, Kind::Type], Of::Itself),
    operator("artifact_type_presence", &[Kind::Node, Kind::Artifact, Kind::Type], Of::Itself),
    operator("node_property_presence", &[Kind::Node, Kind::Property], Of::Itself),
    operator(
        "relation_property_presence",
        &[Kind::Node, Kind::Relation, Kind::Property],
        Of::Itself,
    ),
    operator("group_property_presence", &[Kind::Group, Kind::Property], Of::Itself),
    operator("policy_property_presence", &[Kind::Policy, Kind::Property], Of::Itself),
    operator(
        "artifact_property_presence",
        &[Kind::Node, Kind::Artifact, Kind::Property],
        Of::Itself,
    ),
];

/// The keywords of all presence operators.
pub(super) fn keywords() -> impl Iterator<Item = &'static str> {
    OPERATORS.iter().map(|operator| operator.keyword)
}

impl PresenceOperator {
    /// The operator of a keyword.
    pub fn from_keyword(keyword: &str) -> Option<&'static Self> {
        OPERATORS.iter().find(|operator| operator.keyword == keyword)
    }
}
