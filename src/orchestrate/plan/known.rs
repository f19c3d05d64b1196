//! Collects the values of attributes that are known before anything runs, for conditions (statement
//! C3): properties, which attributes of the same name reflect, and initial values of attributes.

use super::behavior::Behaviors;
use super::build::PlanBuilder;
use super::condition::Condition;
use super::elements;
use super::model::{Guard, KnownAttribute, PlanElementIndex};
use crate::topology::{NodeIndex, Spanned, TopologyElement};
use cuvee_text::value::Value;

/// Makes a guard. Its element gets the known values of the attributes in the condition.
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
