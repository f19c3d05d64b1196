//! Reads imperative workflows, and the triggers of policies.

use super::body::{assigned, assignment, entries, parameters, text, value, whole_text};
use super::{TopologyReader, positions};
use crate::topology::part::{
    ActivityKind, NamedElement, NextStep, StepIndex, TopologyActivity, TopologyPrecondition,
    TopologyStep, TopologyTrigger, TopologyWorkflow,
};
use cuvee_text::yaml::{NodeKind, OutEntry, OutNode};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

impl<'o, 'a> TopologyReader<'o, 'a, '_> {
    pub(super) fn workflow(&self, entry: OutEntry<'o, 'a>) -> TopologyWorkflow {
        let body = entry.value;
        let steps = body.get("steps").map(entries).unwrap_or_default();
        let positions = positions(&steps, StepIndex::new);
        let preconditions = body.get("preconditions").map(listed).unwrap_or_default().into_iter();
        // That of TOSCA 2.0 names its elements itself.
        let precondition = value(body, "precondition").map(|condition| TopologyPrecondition {
            target: None,
            relationship: None,
            condition: Some(condition),
        });
        TopologyWorkflow {
            name: entry.name.into_owned(),
            span: entry.span,
            description: text(body, "description"),
            metadata: assigned(body, "metadata"),
            inputs: body.get("inputs").map(parameters).unwrap_or_default(),
            preconditions: preconditions
                .map(|one| self.precondition(one))
                .chain(precondition)
                .collect(),
            steps: steps.into_iter().map(|step| self.step(step, &positions)).collect(),
            implementation: value(body, "implementation"),
            outputs: assigned(body, "outputs"),
        }
    }

    /// The triggers of a policy.
    pub(super) fn triggers(&self, policy: OutNode<'o, 'a>) -> Vec<TopologyTrigger> {
        let triggers = policy.get("triggers").map(entries).unwrap_or_default().into_iter();
        triggers.map(|entry| trigger(entry, |node| self.element(node))).collect()
    }

    fn precondition(&self, body: OutNode<'o, 'a>) -> TopologyPrecondition {
        TopologyPrecondition {
            target: body.get("target").map(|target| self.element(target)),
            relationship: text(body, "target_relationship"),
            condition: value(body, "condition"),
        }
    }

    fn step(
        &self,
        entry: OutEntry<'o, 'a>,
        positions: &FxHashMap<Cow<'o, str>, StepIndex>,
    ) -> TopologyStep {
        let body = entry.value;
        let next = |keyname| {
            let names = body.get(keyname).map(listed).unwrap_or_default().into_iter();
            let step = |name: OutNode<'o, 'a>| {
                let name = whole_text(name)?;
                let step = positions.get(&*name.value).copied();
                Some(NextStep { name, step })
            };
            names.filter_map(step).collect()
        };
        let activities = body.get("activities").map(listed).unwrap_or_default();
        TopologyStep {
            name: entry.name.into_owned(),
            span: entry.span,
            target: body.get("target").map(|target| self.element(target)),
            relationship: text(body, "target_relationship"),
            operation_host: text(body, "operation_host"),
            filter: value(body, "filter"),
            activities: activities.into_iter().filter_map(activity).collect(),
            on_success: next("on_success"),
            on_failure: next("on_failure"),
        }
    }
}

/// Reads a trigger. `element` is what a name in it refers to.
pub(super) fn trigger<'o, 'a>(
    entry: OutEntry<'o, 'a>,
    element: impl Fn(OutNode<'o, 'a>) -> NamedElement,
) -> TopologyTrigger {
    const WHEN: [&str; 4] = ["event", "event_type", "schedule", "condition"];
    let body = entry.value;
    let filter = body.get("target_filter");
    let actions = body.get("action").map(listed).unwrap_or_default();
    let when = body.entries().into_iter().filter(|part| WHEN.contains(&&*part.name));
    TopologyTrigger {
        name: entry.name.into_owned(),
        span: entry.span,
        description: text(body, "description"),
        monitored: filter.and_then(|it| it.get("node")).map(element),
        requirement: filter.and_then(|filter| text(filter, "requirement")),
        activities: actions.into_iter().filter_map(activity).collect(),
        when: when.map(|part| assignment(&part)).collect(),
    }
}

/// The items of a list, or the value itself if it is not a list.
fn listed<'o, 'a>(body: OutNode<'o, 'a>) -> Vec<OutNode<'o, 'a>> {
    match body.kind() {
        NodeKind::Sequence => body.items().into_iter().map(|(_, item)| item).collect(),
        _ => vec![body],
    }
}

/// Reads an activity. The short notation is only the name; as section 3.6.23 is printed, inputs may
/// also be written beside the keyname.
fn activity(body: OutNode<'_, '_>) -> Option<TopologyActivity> {
    let (kind, below) =
        ActivityKind::ALL.into_iter().find_map(|kind| Some((kind, body.get(kind.keyname())?)))?;
    let long = if below.kind() == NodeKind::Mapping { below } else { body };
    Some(TopologyActivity {
        kind,
        name: whole_text(below).or_else(|| text(long, kind.name()))?,
        inputs: assigned(long, "inputs"),
    })
}
