//! What is known of attributes before anything runs, for the conditions that ask for them (statement
//! C3): properties, which attributes of their names reflect, and what attributes begin with.

use super::behavior::Behaviors;
use super::build::PlanBuilder;
use super::condition::Condition;
use super::elements;
use super::model::{Guard, KnownAttribute, PlanElementIndex};
use crate::text::value::Value;
use crate::topology::{NodeIndex, Spanned, TopologyElement};

/// A condition on an element, which from now on knows what the condition asks for.
pub(super) fn guard(
    builder: &mut PlanBuilder,
    behaviors: &Behaviors<'_, '_>,
    subject: Option<TopologyElement>,
    condition: &Spanned<Value>,
) -> Guard {
    let mut names = Vec::new();
    Condition::read(&condition.value).attributes(&mut names);
    let element = subject.map(|subject| knowing(builder, behaviors, subject, &names));
    Guard { element, condition: condition.value.clone(), span: condition.span }
}

fn knowing(
    builder: &mut PlanBuilder,
    behaviors: &Behaviors<'_, '_>,
    subject: TopologyElement,
    names: &[&str],
) -> PlanElementIndex {
    let topology = behaviors.topology;
    match subject {
        TopologyElement::Node(node) => {
            let element = elements::node(builder, behaviors, node);
            know(builder, element, names, |name| behaviors.attribute(node, name));
            element
        }
        TopologyElement::Relation(relation) => {
            let element = elements::relation(builder, behaviors, relation);
            know(builder, element, names, |name| behaviors.relation_attribute(relation, name));
            element
        }
        TopologyElement::Group(group) => {
            let members = topology.nodes_of(group).into_iter();
            let member =
                |node: NodeIndex| knowing(builder, behaviors, TopologyElement::Node(node), names);
            let members = members.map(member).collect();
            let element = elements::group(builder, topology, group);
            builder.plan.elements[element.index()].members = members;
            element
        }
    }
}

fn know(
    builder: &mut PlanBuilder,
    element: PlanElementIndex,
    names: &[&str],
    find: impl Fn(&str) -> Option<KnownAttribute>,
) {
    let known = &mut builder.plan.elements[element.index()].known;
    for name in names {
        if !known.iter().any(|one| one.name == *name) {
            known.extend(find(name));
        }
    }
}
