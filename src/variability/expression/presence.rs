//! Builds the formulas of the presence operators ("Presence Operators"). The generic default
//! conditions use the same formulas.

use super::evaluate::Evaluator;
use crate::diagnostic::{Code, Diagnostic};
use crate::tosca::types::{Family, TypeHierarchy};
use crate::variability::element::ElementKind;
use crate::variability::graph::{ElementId, LookupStep, NodeElement, RelationElement, RelationId};
use crate::variability::syntax::{Expression, ExpressionId, Of, PresenceOperator};
use cuvee_sat::formula::Formula;
use cuvee_text::yaml::{Node, Scalar};

impl<'a> Evaluator<'_, 'a> {
    /// Reports an operand of a presence operator that names no element.
    ///
    /// Without a context, the meaning of SELF and the like is unknown, so they are not checked.
    pub(super) fn validate_presence(
        &mut self,
        operator: PresenceOperator,
        operand: ExpressionId,
        context: Option<ElementId>,
    ) -> Result<(), Diagnostic> {
        let syntax = &self.graph.syntax;
        let first = syntax.each(operand).iter().next().unwrap_or(operand);
        if context.is_none() && syntax.get(first).text().is_some_and(is_context_keyword) {
            return Ok(());
        }
        self.operand_element(operator, operand, context).map(|_| ())
    }

    /// Follows the operands from the outermost element to the element whose presence the operator
    /// asks for.
    pub(crate) fn operand_element(
        &mut self,
        operator: PresenceOperator,
        operand: ExpressionId,
        context: Option<ElementId>,
    ) -> Result<ElementId, Diagnostic> {
        let graph = self.graph;
        let mut operands = graph.syntax.each(operand).iter().map(|id| name(graph.syntax.get(id)));
        let wrong = || {
            let kinds: Vec<_> = operator.path().iter().map(|kind| kind.as_str()).collect();
            let takes =
                if kinds.is_empty() { "SELF or CONTAINER".into() } else { kinds.join(", ") };
            let message = format!("`{}` takes {takes}", operator.keyword());
            Diagnostic::error(Code::InvalidExpression, message).at(graph.syntax.get(operand).span())
        };
        let first = operands.next().flatten().ok_or_else(wrong)?;
        let (mut element, mut path) = match self.keyword_element(first, context)? {
            // A keyword replaces the start of the path, up to the kind of its element.
            Some(id) => {
                let element = graph.element(id);
                match operator.path().iter().position(|&kind| kind == element.kind) {
                    Some(at) => (id, &operator.path()[at + 1..]),
                    None if operator.path().is_empty() && element.container.is_some() => {
                        (id, operator.path())
                    }
                    None => {
                        let (keyword, is) = (first.text().unwrap_or_default(), graph.display(id));
                        return Err(wrong().help(format!("`{keyword}` is {is} here")));
                    }
                }
            }
            None => {
                let (&kind, path) = operator.path().split_first().ok_or_else(wrong)?;
                (graph.find(LookupStep::Root(kind), first)?, path)
            }
        };
        for operand in operands {
            let operand = operand.ok_or_else(wrong)?;
            let (&kind, rest) = path.split_first().ok_or_else(wrong)?;
            element = graph.find(LookupStep::In(element, kind), operand)?;
            path = rest;
        }
        if path.is_empty() { Ok(element) } else { Err(wrong()) }
    }

    /// The element that SELF, CONTAINER, SOURCE or TARGET means here; `None` for any other name.
    fn keyword_element(
        &mut self,
        operand: Node<'a>,
        context: Option<ElementId>,
    ) -> Result<Option<ElementId>, Diagnostic> {
        let keyword = operand.text().unwrap_or_default();
        if !is_context_keyword(keyword) {
            return Ok(None);
        }
        self.note_context();
        let graph = self.graph;
        let relation = || {
            let around = std::iter::successors(context, |&id| graph.element(id).container);
            let slot = around
                .map(|id| graph.element(id))
                .find(|element| element.kind == ElementKind::Relation)?
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

    /// The formula of a presence operator for an element; false if elements of this kind have
    /// nothing that the operator asks for.
    pub(crate) fn presence(&mut self, of: Of, id: ElementId) -> Formula {
        let graph = self.graph;
        let element = graph.element(id);
        let slot = element.slot as usize;
        let node = (element.kind == ElementKind::Node).then(|| &graph.nodes[slot]);
        let relation = (element.kind == ElementKind::Relation).then(|| &graph.relations[slot]);
        match (of, node, relation) {
            (Of::Itself, ..) => self.atom(id),
            (Of::Container, ..) => {
                element.container.map_or(Formula::FALSE, |container| self.atom(container))
            }
            (Of::Source, _, Some(relation)) => self.atom(graph.node(relation.source).id),
            (Of::Target, _, Some(relation)) => self.target(relation),
            (Of::Consumers, ..) if element.kind == ElementKind::Input => {
                let input = &graph.inputs[slot];
                if input.is_always_consumed { Formula::TRUE } else { self.any(&input.consumers) }
            }
            (Of::Producers, ..) if element.kind == ElementKind::Output => {
                self.any(&graph.outputs[slot].producers)
            }
            (Of::Managed, ..) if element.kind == ElementKind::Artifact => self.managed(slot),
            (Of::Members, ..) if element.kind == ElementKind::Group => {
                let members: Vec<_> =
                    graph.groups[slot].members.iter().map(|&(_, member)| member).collect();
                self.any(&members)
            }
            (Of::Targets, ..) if element.kind == ElementKind::Policy => {
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

    /// The condition that a technology manages this artifact: the rule of a present technology
    /// names a type that the artifact has.
    fn managed(&mut self, slot: usize) -> Formula {
        let managing = self.managing(slot);
        self.any(&managing)
    }

    /// The technologies that manage the artifact at this position, if they are present.
    pub(crate) fn managing(&self, slot: usize) -> Vec<ElementId> {
        let graph = self.graph;
        let artifact = &graph.artifacts[slot];
        let technologies = graph.node(artifact.node).technologies.iter().copied();
        let manages = |id: &ElementId| {
            let wanted = &graph.technologies[graph.element(*id).slot as usize].artifacts;
            wanted
                .iter()
                .any(|wanted| has_artifact_type(graph, self.known.types, artifact.id, wanted))
        };
        technologies.filter(manages).collect()
    }

    /// The formula that at least one of these elements is present.
    pub(crate) fn any(&mut self, elements: &[ElementId]) -> Formula {
        let atoms: Vec<_> = elements.iter().map(|&id| self.atom(id)).collect();
        self.arena.or(atoms)
    }
}

/// The node that names an element; `None` if the expression cannot be a name.
fn name(expression: Expression<'_>) -> Option<Node<'_>> {
    let is_name =
        |node: &Node<'_>| matches!(node.scalar(), Some(Scalar::String(_) | Scalar::Int(_)));
    expression.scalar().filter(is_name)
}

/// Whether the meaning of a name depends on the element that has the condition.
fn is_context_keyword(name: &str) -> bool {
    matches!(name, "SELF" | "CONTAINER" | "SOURCE" | "TARGET")
}

/// Whether an artifact has a type, in one of its alternatives.
pub(crate) fn has_artifact_type(
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
