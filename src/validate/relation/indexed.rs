//! Checks targets that are one of several nodes of a template (TOSCA 2.0, section 8.7.1).

use super::super::checker::Checker;
use crate::diagnostic::{Code, Diagnostic, Rule, TOSCA_2_0};
use crate::tosca::requirement::{self, AssignedCount, number_of};
use crate::tosca::{Directive, Family, PermittedEnds, v2_0};
use crate::variability::graph::{NodeElement, RelationElement};
use cuvee_text::yaml::{Node, NodeKind};

impl<'a> Checker<'_, 'a> {
    /// Checks the index of a target, and that a template has as many nodes as targets are wanted.
    pub(super) fn indexed_target(&self, relation: &RelationElement<'a>) {
        let body = relation.requirement.declared.value();
        if !v2_0::is_of(body.document()) {
            return;
        }
        let named = named_target(body);
        let target = relation.target.map(|target| self.graph.node(target));
        let count = AssignedCount::read(body);
        if let Some(node) = target.filter(|_| takes_existing(body)) {
            let is_selected = self.has_directive(node, Directive::Select);
            if !is_selected && !self.has_directive(node, Directive::Substitute) {
                let name = self.graph.element(node.id).name;
                let message = format!(
                    "`{name}` is a node of the template, and the requirement takes only existing nodes"
                );
                let error = Diagnostic::error(Code::InvalidTemplate, message)
                    .at(named.unwrap_or(body).span());
                let help = "leave out the node, or permit `internal` under `directives`";
                self.report(relation.id, error.rule(Rule::new(&TOSCA_2_0, "8.7.1")).help(help));
            }
        }
        if let (Some(node), Some(capability)) = (target, body.get("capability")) {
            self.for_existing(relation, node, capability);
        }
        let source = self.number_of(self.graph.node(relation.source));
        let list = named.filter(|named| named.kind() == NodeKind::Sequence);
        let wrong = match (list, target) {
            (Some(list), _) => self.indexed(list, target, (source, count)).map(|why| (list, why)),
            // What stands for no node has no relations.
            (None, Some(node)) if source != Some(0) => named.zip(self.few(node, count)),
            (None, _) => None,
        };
        if let Some((at, message)) = wrong {
            let error = Diagnostic::error(Code::InvalidTemplate, message).at(at.span());
            self.report(relation.id, error.rule(Rule::new(&TOSCA_2_0, "8.7.1")));
        }
    }

    /// Reports a relation to a capability that permits only relations from existing nodes (section
    /// 8.4).
    fn for_existing(
        &self,
        relation: &RelationElement<'a>,
        target: &NodeElement<'a>,
        capability: Node<'a>,
    ) {
        let name = capability.text().unwrap_or_default();
        let all = self.graph.holder(target, "capabilities").template.declared.value();
        let all = all.get("capabilities");
        let Some(said) = all.and_then(|all| all.get(name)?.get("directives")) else { return };
        let words = said.items().filter_map(Node::text);
        let is_existing = self.has_directive(self.graph.node(relation.source), Directive::Select);
        if PermittedEnds::of(words) == PermittedEnds::External && !is_existing {
            let message =
                format!("the capability `{name}` takes only relations from existing nodes");
            let error = Diagnostic::error(Code::InvalidTemplate, message).at(capability.span());
            let error = error.label(said.span(), "it says so here");
            let help = "permit `internal` under `directives`";
            self.report(relation.id, error.rule(Rule::new(&TOSCA_2_0, "8.4")).help(help));
        }
    }

    /// What is wrong with a list of the name of a template and an index, for so many nodes that
    /// have the requirement.
    fn indexed(
        &self,
        list: Node<'_>,
        target: Option<&NodeElement<'a>>,
        (sources, wanted): (Option<u64>, AssignedCount),
    ) -> Option<String> {
        let items: Vec<_> = list.items().collect();
        let &[name, index] = &items[..] else {
            return Some("a target is a name, or a list of a name and an index".to_owned());
        };
        let Some(target) = target else {
            let name = name.text().unwrap_or_default();
            let is_type = self.types.find(Family::Node, name).is_some();
            return is_type.then(|| {
                format!("only a node template has an index, and `{name}` is a node type")
            });
        };
        // The last of the nodes has the highest index.
        let highest = match v2_0::called(index) {
            Some(("node_index", None)) => sources.and_then(|sources| sources.checked_sub(1)),
            Some(_) => None,
            None => requirement::count(index),
        };
        let Some(highest) = highest else {
            if v2_0::called(index).is_some() {
                return None;
            }
            let got = index.text().map_or(index.describe().to_string(), |text| format!("`{text}`"));
            return Some(format!("an index is a number from 0 up, not {got}"));
        };
        if wanted.min > 1 {
            return Some(format!("{} targets are wanted, and one node is named", wanted.min));
        }
        let there = self
            .number_of(target)
            .filter(|there| *there <= highest && wanted.is_certain() && sources != Some(0))?;
        Some(format!("there is no node {highest} of this template, which stands for {there}"))
    }

    /// Why a template cannot be the target of as many relations as are wanted.
    fn few(&self, target: &NodeElement<'a>, wanted: AssignedCount) -> Option<String> {
        let there =
            self.number_of(target).filter(|there| *there < wanted.min && wanted.is_certain())?;
        if there == 0 {
            return Some("this template stands for no node, and so it is no target".to_owned());
        }
        Some(format!(
            "{} different targets are wanted, and this template stands for {there}",
            wanted.min
        ))
    }

    /// How many nodes a template stands for, which may be said by the one that it copies.
    pub(super) fn number_of(&self, node: &NodeElement<'a>) -> Option<u64> {
        number_of(self.graph.holder(node, "instance_count").template.declared.value())
    }
}

/// The name of a target, or a list of the name of a template and an index.
fn named_target(assignment: Node<'_>) -> Option<Node<'_>> {
    if assignment.kind() == NodeKind::Mapping { assignment.get("node") } else { Some(assignment) }
}

/// Whether only the index that is computed tells which node of a template is the target.
pub(super) fn is_computed(assignment: Node<'_>) -> bool {
    let index = named_target(assignment).and_then(|list| list.items().nth(1));
    let called = index.and_then(v2_0::called);
    called.is_some_and(|called| !matches!(called, ("node_index", None)))
}

/// Whether an assignment permits existing nodes alone.
fn takes_existing(assignment: Node<'_>) -> bool {
    let directives = assignment.get("directives").into_iter().flat_map(Node::items);
    PermittedEnds::of(directives.filter_map(Node::text)) == PermittedEnds::External
}
