//! Defines the presence operators ("Presence Operators") and the question that each asks.

use crate::variability::element::ElementKind;

/// The question that a presence operator asks about an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
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
    /// `present(target(r))`; true if the target is left to an orchestrator
    Target,
    /// `⋁ present(t)` over the targets t of the policy, the members of a group among them
    Targets,
    /// `⋁ present(m)` over the members m of the group
    Members,
    /// `present(container(e))`
    Container,
}

/// A presence operator: a position in the table `OPERATORS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PresenceOperator(u8);

/// An entry of the table of presence operators.
struct PresenceQuestion {
    keyword: &'static str,
    path: &'static [ElementKind],
    of: Of,
}

const fn operator(keyword: &'static str, path: &'static [ElementKind], of: Of) -> PresenceQuestion {
    PresenceQuestion { keyword, path, of }
}

const OPERATORS: &[PresenceQuestion] = &[
    operator("node_presence", &[ElementKind::Node], Of::Itself),
    operator("host_presence", &[ElementKind::Node], Of::Hosts),
    operator("has_source", &[ElementKind::Node], Of::Sources),
    operator("has_incoming_relation", &[ElementKind::Node], Of::Incoming),
    operator("has_incoming_relation_naive", &[ElementKind::Node], Of::IncomingNaive),
    operator("has_outgoing_relation", &[ElementKind::Node], Of::Outgoing),
    operator("has_outgoing_relation_naive", &[ElementKind::Node], Of::OutgoingNaive),
    operator("has_artifact", &[ElementKind::Node], Of::Artifacts),
    operator("has_artifact_naive", &[ElementKind::Node], Of::ArtifactsNaive),
    operator("relation_presence", &[ElementKind::Node, ElementKind::Relation], Of::Itself),
    operator("artifact_presence", &[ElementKind::Node, ElementKind::Artifact], Of::Itself),
    operator("is_managed", &[ElementKind::Node, ElementKind::Artifact], Of::Managed),
    operator("technology_presence", &[ElementKind::Node, ElementKind::Technology], Of::Itself),
    operator("policy_presence", &[ElementKind::Policy], Of::Itself),
    operator("group_presence", &[ElementKind::Group], Of::Itself),
    operator("input_presence", &[ElementKind::Input], Of::Itself),
    operator("is_consumed", &[ElementKind::Input], Of::Consumers),
    operator("output_presence", &[ElementKind::Output], Of::Itself),
    operator("is_produced", &[ElementKind::Output], Of::Producers),
    operator("import_presence", &[ElementKind::Import], Of::Itself),
    operator("source_presence", &[ElementKind::Node, ElementKind::Relation], Of::Source),
    operator("target_presence", &[ElementKind::Node, ElementKind::Relation], Of::Target),
    operator("has_present_target", &[ElementKind::Policy], Of::Targets),
    operator("has_present_member", &[ElementKind::Group], Of::Members),
    operator("container_presence", &[], Of::Container),
    operator("node_type_presence", &[ElementKind::Node, ElementKind::Type], Of::Itself),
    operator(
        "relation_type_presence",
        &[ElementKind::Node, ElementKind::Relation, ElementKind::Type],
        Of::Itself,
    ),
    operator("group_type_presence", &[ElementKind::Group, ElementKind::Type], Of::Itself),
    operator("policy_type_presence", &[ElementKind::Policy, ElementKind::Type], Of::Itself),
    operator(
        "artifact_type_presence",
        &[ElementKind::Node, ElementKind::Artifact, ElementKind::Type],
        Of::Itself,
    ),
    operator("node_property_presence", &[ElementKind::Node, ElementKind::Property], Of::Itself),
    operator(
        "relation_property_presence",
        &[ElementKind::Node, ElementKind::Relation, ElementKind::Property],
        Of::Itself,
    ),
    operator("group_property_presence", &[ElementKind::Group, ElementKind::Property], Of::Itself),
    operator("policy_property_presence", &[ElementKind::Policy, ElementKind::Property], Of::Itself),
    operator(
        "artifact_property_presence",
        &[ElementKind::Node, ElementKind::Artifact, ElementKind::Property],
        Of::Itself,
    ),
];

/// The keywords of all presence operators.
pub(super) fn keywords() -> impl Iterator<Item = &'static str> {
    OPERATORS.iter().map(|operator| operator.keyword)
}

impl PresenceOperator {
    /// The operator of a keyword.
    pub(crate) fn from_keyword(keyword: &str) -> Option<Self> {
        let position = OPERATORS.iter().position(|operator| operator.keyword == keyword)?;
        Some(Self(position as u8))
    }

    /// The operator that asks this about elements of the last of these kinds, each in one before.
    pub(crate) fn asking(of: Of, path: &[ElementKind]) -> Option<Self> {
        let asks = |question: &PresenceQuestion| question.of == of && question.path == path;
        Some(Self(OPERATORS.iter().position(asks)? as u8))
    }

    fn question(self) -> &'static PresenceQuestion {
        &OPERATORS[usize::from(self.0)]
    }

    /// Its keyword.
    pub(crate) fn keyword(self) -> &'static str {
        self.question().keyword
    }

    /// The kinds of its operands; each is contained in the one before.
    pub(crate) fn path(self) -> &'static [ElementKind] {
        self.question().path
    }

    /// The question that it asks about the last operand.
    pub(crate) fn of(self) -> Of {
        self.question().of
    }
}
