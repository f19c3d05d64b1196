//! The presence operators ("Presence Operators") and the formulas behind them.
//!
//! The generic default conditions are the same formulas, so both are made here.

use super::evaluate::Evaluator;
use crate::sat::formula::Formula;
use crate::text::diagnostic::{Code, Diagnostic};
use crate::text::yaml::{Node, NodeKind, Scalar};
use crate::tosca::types::{Family, TypeHierarchy};
use crate::variability::graph::{ElementId, NodeElement, RelationElement, RelationId, Step};
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

/// A presence operator: the kinds of its operands, one inside of the other, and what it asks of the
/// last.
struct PresenceOperator {
    keyword: &'static str,
    path: &'static [Kind],
    of: Of,
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
pub fn keywords() -> impl Iterator<Item = &'static str> {
    OPERATORS.iter().map(|operator| operator.keyword)
}

/// Whether a keyword is that of a presence operator.
pub(super) fn is_operator(keyword: &str) -> bool {
    OPERATORS.iter().any(|operator| operator.keyword == keyword)
}

impl<'a> Evaluator<'_, 'a> {
    /// The formula of a presence operator; nothing when the keyword is not one.
    pub(super) fn presence_operator(
        &mut self,
        keyword: &str,
        operand: Node<'a>,
        context: Option<ElementId>,
    ) -> Option<Result<Formula, Diagnostic>> {
        let operator = OPERATORS.iter().find(|operator| operator.keyword == keyword)?;
        Some(
            self.operand_element(operator, operand, context)
                .map(|element| self.presence(operator.of, element)),
        )
    }

    /// The element that a presence operator asks about; nothing when the keyword is not one.
    ///
    /// Without a context it is not known what SELF and the like mean, so they are not judged.
    pub(super) fn presence_element(
        &mut self,
        keyword: &str,
        operand: Node<'a>,
        context: Option<ElementId>,
    ) -> Option<Result<Option<ElementId>, Diagnostic>> {
        let operator = OPERATORS.iter().find(|operator| operator.keyword == keyword)?;
        let first = operand.items().next().unwrap_or(operand);
        if context.is_none() && is_context_keyword(first) {
            return Some(Ok(None));
        }
        Some(self.operand_element(operator, operand, context).map(Some))
    }

    /// Follows the operands from the outermost element to the one that is asked about.
    fn operand_element(
        &mut self,
        operator: &PresenceOperator,
        operand: Node<'a>,
        context: Option<ElementId>,
    ) -> Result<ElementId, Diagnostic> {
        let is_list = operand.kind() == NodeKind::Sequence;
        let mut operands = operand.items().chain((!is_list).then_some(operand));
        let wrong = || {
            let kinds: Vec<_> = operator.path.iter().map(|kind| kind.as_str()).collect();
            let takes =
                if kinds.is_empty() { "SELF or CONTAINER".into() } else { kinds.join(", ") };
            Diagnostic::error(
                Code::InvalidExpression,
                format!("`{}` takes {takes}", operator.keyword),
            )
            .at(operand.span())
        };
        let first = operands.next().filter(|&first| names(first)).ok_or_else(wrong)?;
        let (mut element, mut path) = match self.keyword_element(first, context)? {
            // Inside of the operands' path a keyword stands for everything up to its own kind.
            Some(element) => match operator
                .path
                .iter()
                .position(|&kind| kind == self.graph.element(element).kind)
            {
                Some(at) => (element, &operator.path[at + 1..]),
                None if operator.path.is_empty()
                    && self.graph.element(element).container.is_some() =>
                {
                    (element, operator.path)
                }
                None => {
                    let is = self.graph.display(element).to_string();
                    return Err(wrong()
                        .help(format!("`{}` is {is} here", first.text().unwrap_or_default())));
                }
            },
            None => {
                let (&kind, path) = operator.path.split_first().ok_or_else(wrong)?;
                (self.graph.find(Step::Root(kind), first)?, path)
            }
        };
        for operand in operands {
            if !names(operand) {
                return Err(wrong());
            }
            let (&kind, rest) = path.split_first().ok_or_else(wrong)?;
            element = self.graph.find(Step::In(element, kind), operand)?;
            path = rest;
        }
        if path.is_empty() { Ok(element) } else { Err(wrong()) }
    }

    /// What SELF, CONTAINER, SOURCE and TARGET mean here; nothing for any other name.
    fn keyword_element(
        &mut self,
        operand: Node<'a>,
        context: Option<ElementId>,
    ) -> Result<Option<ElementId>, Diagnostic> {
        if !is_context_keyword(operand) {
            return Ok(None);
        }
        let keyword = operand.text().unwrap_or_default();
        self.note_context();
        let graph = self.graph;
        let relation = || {
            let around = std::iter::successors(context, |&id| graph.element(id).container);
            let slot = around
                .map(|id| graph.element(id))
                .find(|element| element.kind == Kind::Relation)?
                .slot;
            Some(graph.relation(RelationId(slot)))
        };
        let found = match keyword {
            "SELF" => context,
            "CONTAINER" => context.and_then(|id| graph.element(id).container),
            "SOURCE" => relation().map(|relation| graph.node(relation.source).id),
            _ => relation().and_then(|relation| Some(graph.node(relation.target?).id)),
        };
        match found {
            Some(element) => Ok(Some(element)),
            None => {
                let message = format!("`{keyword}` means nothing here");
                let help = "SELF and CONTAINER stand in conditions of elements, SOURCE and TARGET in those of relations";
                Err(Diagnostic::error(Code::InvalidExpression, message)
                    .at(operand.span())
                    .help(help))
            }
        }
    }

    /// The formula of what is asked of an element; false where it is asked of something that has no
    /// such thing.
    pub fn presence(&mut self, of: Of, id: ElementId) -> Formula {
        let graph = self.graph;
        let element = graph.element(id);
        let slot = element.slot as usize;
        let node = (element.kind == Kind::Node).then(|| &graph.nodes[slot]);
        let relation = (element.kind == Kind::Relation).then(|| &graph.relations[slot]);
        match (of, node, relation) {
            (Of::Itself, ..) => self.atom(id),
            (Of::Container, ..) => {
                element.container.map_or(Formula::FALSE, |container| self.atom(container))
            }
            (Of::Source, _, Some(relation)) => self.atom(graph.node(relation.source).id),
            (Of::Target, _, Some(relation)) => self.target(relation),
            (Of::Consumers, ..) if element.kind == Kind::Input => {
                self.any(&graph.inputs[slot].consumers)
            }
            (Of::Producers, ..) if element.kind == Kind::Output => {
                self.any(&graph.outputs[slot].producers)
            }
            (Of::Managed, ..) if element.kind == Kind::Artifact => self.managed(slot),
            (Of::Members, ..) if element.kind == Kind::Group => {
                let members: Vec<_> =
                    graph.groups[slot].members.iter().map(|&(_, member)| member).collect();
                self.any(&members)
            }
            (Of::Targets, ..) if element.kind == Kind::Policy => {
                let targets = graph.policies[slot]
                    .targets
                    .iter()
                    .flat_map(|&(_, target)| graph.target_elements(target));
                let targets: Vec<_> = targets.collect();
                self.any(&targets)
            }
            (of, Some(node), _) => self.node_presence(of, node),
            _ => Formula::FALSE,
        }
    }

    fn node_presence(&mut self, of: Of, node: &NodeElement<'a>) -> Formula {
        let graph = self.graph;
        let incoming = node.incoming.iter().map(|&id| graph.relation(id));
        let outgoing = node.relations.iter().map(|&id| graph.relation(id));
        let disjuncts: Vec<_> = match of {
            Of::Hosts => graph
                .hosting(node)
                .filter_map(|r| r.target)
                .map(|host| self.atom(graph.node(host).id))
                .collect(),
            Of::Sources => incoming.map(|r| self.atom(graph.node(r.source).id)).collect(),
            Of::Incoming => incoming
                .map(|r| self.manual_and(r.id, |e| e.atom(graph.node(r.source).id)))
                .collect(),
            Of::IncomingNaive => incoming.map(|r| self.atom(r.id)).collect(),
            Of::Outgoing => outgoing.map(|r| self.manual_and(r.id, |e| e.target(r))).collect(),
            Of::OutgoingNaive => outgoing.map(|r| self.atom(r.id)).collect(),
            Of::Artifacts => node.artifacts.iter().map(|&artifact| self.manual(artifact)).collect(),
            Of::ArtifactsNaive => {
                node.artifacts.iter().map(|&artifact| self.atom(artifact)).collect()
            }
            _ => Vec::new(),
        };
        self.arena.or(disjuncts)
    }

    fn target(&mut self, relation: &RelationElement<'a>) -> Formula {
        relation.target.map_or(Formula::TRUE, |target| self.atom(self.graph.node(target).id))
    }

    fn manual_and(&mut self, id: ElementId, other: impl FnOnce(&mut Self) -> Formula) -> Formula {
        let manual = self.manual(id);
        let other = other(self);
        self.arena.and([manual, other])
    }

    /// Technologies whose rule names an artifact type that this artifact is of.
    fn managed(&mut self, slot: usize) -> Formula {
        let graph = self.graph;
        let artifact = &graph.artifacts[slot];
        let technologies = graph.node(artifact.node).technologies.iter().copied();
        let manages = |id: &ElementId| {
            let wanted = &graph.technologies[graph.element(*id).slot as usize].artifacts;
            wanted.iter().any(|wanted| has_artifact_type(graph, self.types, artifact.id, wanted))
        };
        let managing: Vec<_> = technologies.filter(manages).collect();
        self.any(&managing)
    }

    /// At least one of these is present.
    pub fn any(&mut self, elements: &[ElementId]) -> Formula {
        let atoms: Vec<_> = elements.iter().map(|&id| self.atom(id)).collect();
        self.arena.or(atoms)
    }
}

/// Whether an operand can name an element at all.
fn names(operand: Node<'_>) -> bool {
    matches!(operand.scalar(), Some(Scalar::String(_) | Scalar::Int(_)))
}

/// Whether an operand means something else for every element.
fn is_context_keyword(operand: Node<'_>) -> bool {
    matches!(operand.text(), Some("SELF" | "CONTAINER" | "SOURCE" | "TARGET"))
}

/// Whether an artifact is, in one of its alternatives, of a type.
pub fn has_artifact_type(
    graph: &crate::variability::graph::Graph<'_>,
    types: &TypeHierarchy<'_>,
    artifact: ElementId,
    wanted: &str,
) -> bool {
    let is_wanted = |name: &str| types.is_a(Family::Artifact, name, wanted);
    match graph.types_of(artifact) {
        [] => is_wanted(crate::variability::template::DEFAULT_ARTIFACT_TYPE),
        own => own.iter().any(|&id| is_wanted(graph.element(id).name)),
    }
}
