//! Checks policies (section 3.8.6) and their triggers (section 3.6.22).

use super::activity::Workflows;
use super::checker::Checker;
use super::condition::{AssertedEntity, Subject};
use super::function::PathStop;
use super::workflow::of_2_0;
use crate::diagnostic::{
    Cite, Code, Diagnostic, Diagnostics, Rule, TOSCA_2_0, did_you_mean, listed_as,
};
use crate::tosca::shape::POLICY;
use crate::tosca::value::{Schema, check_value};
use crate::tosca::workflow::{self, EventFilter, Trigger};
use crate::tosca::{Family, TypeId, v2_0};
use crate::variability::element::ElementKind;
use crate::variability::graph::{ElementId, GroupElement, PolicyElement, Target};
use crate::variability::template::shape;
use cuvee_text::yaml::Node;
use rustc_hash::FxHashMap;

/// The types that a policy type may be applied to.
struct Targets {
    kind: TypeId,
    nodes: Vec<TypeId>,
    groups: Vec<TypeId>,
}

impl<'c, 'a> Checker<'c, 'a> {
    /// Checks all policies.
    pub(super) fn policies(&self, workflows: &Workflows<'a>) {
        let mut known = FxHashMap::default();
        for policy in self.graph.policies.iter().filter(|policy| self.counts(policy.id)) {
            for (kind, when) in self.types_of(policy.id, Family::Policy) {
                self.properties(policy.id, &policy.properties, kind, &when);
                self.policy_targets(policy, kind, &when);
            }
            let body = policy.policy.declared.value();
            let element = self.graph.element(policy.id);
            let first =
                known.insert(element.name, policy.id).filter(|_| v2_0::is_of(body.document()));
            if let Some(first) = first {
                let message = format!("a second policy is named `{}`", element.name);
                let error = Diagnostic::error(Code::Duplicate, message).at(element.span);
                let error = error.label(self.graph.element(first).span, "the first is here");
                let error = error.rule(Rule::new(&TOSCA_2_0, "6.9.1"));
                self.report_when(&[first, policy.id], &[], error);
            }
            self.keynames(&[policy.id], body, shape::POLICY);
            self.about(&[policy.id], body, POLICY.section);
            if let Some(node) = body.get("triggers") {
                self.triggers(policy, node, workflows);
            }
        }
    }

    /// Checks that the type of a policy admits its targets.
    fn policy_targets(&self, policy: &PolicyElement<'a>, kind: TypeId, of_type: &[ElementId]) {
        let Some(valid) = self.valid_targets(kind) else { return };
        let when: Vec<_> = of_type.iter().copied().chain([policy.id]).collect();
        for &(name, target) in &policy.targets {
            match target {
                Target::Node(node) => {
                    self.target_node(name, self.graph.node(node).id, &valid, &when)
                }
                Target::Group(group) => {
                    self.target_group(name, &self.graph.groups[group.0 as usize], &valid, &when)
                }
            }
        }
    }

    /// The target types that a policy type lists. `None` if it lists none, or lists an undefined
    /// type.
    fn valid_targets(&self, kind: TypeId) -> Option<Targets> {
        let mut valid = Targets { kind, nodes: Vec::new(), groups: Vec::new() };
        for name in self.types.effective(kind).valid_types.iter().flatten() {
            match (
                self.defined(Family::Node, Some(*name)),
                self.defined(Family::Group, Some(*name)),
            ) {
                (Some(node), _) => valid.nodes.push(node),
                (None, Some(group)) => valid.groups.push(group),
                (None, None) => return None,
            }
        }
        let lists_any = !valid.nodes.is_empty() || !valid.groups.is_empty();
        lists_any.then_some(valid)
    }

    fn target_node(&self, name: Node<'a>, node: ElementId, valid: &Targets, when: &[ElementId]) {
        for (kind, of_type) in self.types_of(node, Family::Node) {
            if !valid.nodes.iter().any(|&valid| self.may_derive(kind, valid)) {
                self.inadmissible(name, node, kind, valid, &[when, &of_type, &[node]].concat());
            }
        }
    }

    /// Checks a group as a target: its type is admitted, or the types of all its members are.
    fn target_group(
        &self,
        name: Node<'a>,
        group: &GroupElement<'a>,
        valid: &Targets,
        when: &[ElementId],
    ) {
        for (kind, of_type) in self.types_of(group.id, Family::Group) {
            let when = [when, &of_type, &[group.id]].concat();
            if valid.groups.iter().any(|&valid| self.may_derive(kind, valid)) {
                continue;
            }
            if valid.nodes.is_empty() {
                self.inadmissible(name, group.id, kind, valid, &when);
                continue;
            }
            let members = self.graph.members_within(group).into_iter();
            for member in members
                .filter(|&id| self.counts(id) && self.graph.element(id).kind == ElementKind::Node)
            {
                self.target_node(name, member, valid, &when);
            }
        }
    }

    fn inadmissible(
        &self,
        name: Node<'a>,
        target: ElementId,
        kind: TypeId,
        valid: &Targets,
        when: &[ElementId],
    ) {
        let type_name = |kind: TypeId| self.called(kind);
        let (policy, kind) = (type_name(valid.kind), type_name(kind));
        let message = format!(
            "`{policy}` does not apply to {}, which is a `{kind}`",
            self.graph.display(target)
        );
        let known = valid.nodes.iter().chain(&valid.groups);
        let known = listed_as(known.map(|&kind| type_name(kind).into_owned()));
        let error =
            Diagnostic::error(Code::IncompatibleType, message).at(name.span()).section("3.7.12.1");
        self.report_when(when, &[], error.help(format!("it applies to {known}")));
    }

    fn triggers(&self, policy: &PolicyElement<'a>, node: Node<'a>, workflows: &Workflows<'a>) {
        let mut diagnostics = Diagnostics::default();
        let triggers = workflow::triggers(node, &mut diagnostics);
        self.report_all(&[policy.id], diagnostics);
        let targets = policy.targets.iter().map(|&(_, target)| self.target_subject(target));
        let mut subject = targets.fold(Subject::default(), Subject::and);
        subject.when.push(policy.id);
        for trigger in triggers {
            self.value_of(trigger.schedule, "tosca.datatypes.TimeInterval", policy.id);
            self.value_of(trigger.period, "scalar-unit.time", policy.id);
            self.value_of(trigger.evaluations, "integer", policy.id);
            match &trigger.filter {
                Some(filter) => self.filtered(&trigger, filter, policy.id),
                None => self.assertions(&trigger.condition, &subject),
            }
            if let Some(condition) = of_2_0(trigger.named.value, "condition") {
                self.condition(PathStop::Unknown, condition);
            }
            self.activities(&trigger.activities, &subject, workflows);
        }
    }

    fn value_of(&self, value: Option<Node<'a>>, kind: &str, policy: ElementId) {
        if let Some(value) = value {
            self.report_values(&[policy], check_value(value, &Schema::of(kind), &self.schemas));
        }
    }

    /// Checks a condition on the entities that an event filter selects.
    fn filtered(&self, trigger: &Trigger<'a>, filter: &EventFilter<'a>, policy: ElementId) {
        let Some(node) = filter.node else { return };
        let mut subject = match filter.requirement {
            None => self.filtered_node(node, policy),
            Some(requirement) => self.filtered_target(node, requirement, policy),
        };
        subject.when.push(policy);
        match filter.capability {
            None => self.assertions(&trigger.condition, &subject),
            Some(capability) => {
                for entity in &subject.entities {
                    self.capability_assertions(
                        &trigger.condition,
                        capability,
                        entity.kind,
                        &subject.when(entity),
                    );
                }
            }
        }
    }

    /// The subject of the node or node type that a filter names.
    fn filtered_node(&self, name: Node<'a>, policy: ElementId) -> Subject<'c, 'a> {
        let text = name.text().unwrap_or_default();
        if let Some(target @ Target::Node(node)) = self.target(name) {
            let node = self.graph.node(node).id;
            let message = format!(
                "{} refers to {}, which is absent",
                self.graph.display(policy),
                self.graph.display(node)
            );
            let warning = Diagnostic::warning(Code::DanglingReference, message)
                .at(name.span())
                .section("3.6.21.1");
            self.report_when(
                &[policy],
                &[node],
                warning.label(self.graph.element(node).span, "this is absent"),
            );
            return self.target_subject(target);
        }
        let kind = self.types.find(Family::Node, text);
        if kind.is_none() {
            let error = Diagnostic::error(
                Code::UnknownElement,
                format!("there is neither a node nor a node type `{text}`"),
            );
            let help = did_you_mean(
                text,
                self.graph.nodes.iter().map(|node| node.template.declared.name()),
            );
            self.report(policy, error.at(name.span()).section("3.6.21.1").help_opt(help));
        }
        Subject::of(kind.into_iter().map(Self::entity_of))
    }

    fn entity_of(kind: TypeId) -> AssertedEntity<'c, 'a> {
        AssertedEntity { kind, when: Vec::new(), element: None, body: None, given: &[] }
    }

    /// The subject of the target of a requirement; empty if the target is not known.
    fn filtered_target(
        &self,
        name: Node<'a>,
        requirement: Node<'a>,
        policy: ElementId,
    ) -> Subject<'c, 'a> {
        let mut found = Subject::default();
        let text = requirement.text().unwrap_or_default();
        let mut by_definition = Vec::new();
        for entity in self.filtered_node(name, policy).entities {
            let requirements = &self.types.effective(entity.kind).requirements;
            match requirements.get(text) {
                Some(part) => by_definition.extend(part.definition.node),
                None => {
                    let when: Vec<_> = entity.when.into_iter().chain([policy]).collect();
                    let known = requirements.keys().copied();
                    self.lacks(&when, (entity.kind, "requirement"), requirement, known, "3.6.21.1");
                }
            }
        }
        let relations = match self.target(name) {
            Some(Target::Node(node)) => self.graph.node(node).relations.as_slice(),
            _ => &[],
        };
        let relations = relations.iter().map(|&id| self.graph.relation(id));
        for relation in relations.filter(|relation| {
            relation.requirement.declared.name() == text && self.counts(relation.id)
        }) {
            let target = relation
                .target
                .map(|node| self.node_subject(self.graph.node(node)))
                .unwrap_or_default();
            found.entities.extend(target.entities.into_iter().map(|mut entity| {
                entity.when.push(relation.id);
                entity
            }));
        }
        if found.entities.is_empty() {
            let kinds =
                by_definition.iter().filter_map(|node| self.defined(Family::Node, Some(*node)));
            found.entities.extend(kinds.map(Self::entity_of));
        }
        found
    }
}
