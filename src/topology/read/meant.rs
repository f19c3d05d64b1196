//! Gives the values of a topology of TOSCA 2.0 the form that version 1.3 writes, so that whatever
//! follows values knows one form of them. Conditions, filters and definitions stay as written.

use crate::topology::Topology;
use crate::topology::part::{
    AssignedValue, Described, Spanned, TopologyActivity, TopologyInterface, TopologyParameter,
    TopologyTrigger,
};
use crate::tosca::meant;
use cuvee_text::value::Value;

pub(super) fn mean(topology: &mut Topology) {
    let Topology {
        inputs,
        outputs,
        nodes,
        relations,
        relationships,
        groups,
        policies,
        workflows,
        ..
    } = topology;
    inputs.iter_mut().chain(outputs).for_each(parameter);
    for node in nodes {
        described(&mut node.described);
        for capability in &mut node.capabilities {
            assigned(&mut capability.properties);
            assigned(&mut capability.attributes);
        }
        for artifact in &mut node.artifacts {
            assigned(&mut artifact.properties);
        }
        if let Some(count) = &mut node.instance_count {
            value(count);
        }
    }
    for relation in relations {
        assigned(&mut relation.allocation);
        relation.count.iter_mut().chain(&mut relation.index).for_each(|it| value(it));
    }
    relationships.iter_mut().for_each(|it| described(&mut it.described));
    groups.iter_mut().for_each(|it| described(&mut it.described));
    for policy in policies {
        described(&mut policy.described);
        policy.triggers.iter_mut().for_each(mean_trigger);
    }
    for workflow in workflows {
        workflow.inputs.iter_mut().for_each(parameter);
        workflow.steps.iter_mut().flat_map(|it| &mut it.activities).for_each(activity);
    }
}

pub(super) fn mean_trigger(trigger: &mut TopologyTrigger) {
    trigger.activities.iter_mut().for_each(activity);
}

fn described(body: &mut Described) {
    assigned(&mut body.properties);
    assigned(&mut body.attributes);
    body.interfaces.iter_mut().for_each(interface);
}

fn interface(body: &mut TopologyInterface) {
    assigned(&mut body.inputs);
    let operations = body.operations.iter_mut().chain(&mut body.notifications);
    operations.for_each(|it| assigned(&mut it.inputs));
}

fn activity(body: &mut TopologyActivity) {
    assigned(&mut body.inputs);
}

fn parameter(body: &mut TopologyParameter) {
    body.value.iter_mut().chain(&mut body.default).for_each(value);
}

fn assigned(all: &mut [AssignedValue]) {
    all.iter_mut().for_each(|one| value(&mut one.value));
}

fn value(written: &mut Spanned<Value>) {
    written.value = meant::value(std::mem::replace(&mut written.value, Value::Null));
}
