//! Collects the values of attributes that are known before anything runs, for conditions (statement
//! C3): properties, which attributes of the same name reflect, and initial values of attributes.

use super::behavior::Behaviors;
use super::build::PlanBuilder;
use super::condition::{AskedAttribute, Condition};
use super::elements;
use super::model::{Guard, KnownAttribute, PlanElementIndex};
use crate::topology::value_source::ValueOwner;
use crate::topology::{GroupIndex, NodeIndex, Spanned, Topology, TopologyElement};
use crate::tosca::value::TextType;
use cuvee_text::value::Value;

/// Makes a guard. Its element, and those that the condition names, get the known values of the
/// attributes in the condition.
pub(super) fn guard(
    builder: &mut PlanBuilder,
    behaviors: &Behaviors<'_, '_>,
    subject: Option<TopologyElement>,
    (condition, written): (Spanned<Value>, &Value),
) -> Guard {
    let mut asked = Vec::new();
    Condition::read(&condition.value).attributes(&mut asked);
    let names =
        |of: Option<&str>| -> Vec<_> { asked.iter().filter(|one| one.of == of).copied().collect() };
    let element = subject.map(|subject| knowing(builder, behaviors, subject, &names(None)));
    for AskedAttribute { of, .. } in &asked {
        if let Some(named) = of.and_then(|of| named(behaviors.topology, of)) {
            knowing(builder, behaviors, named, &names(*of));
        }
    }
    drop(asked);
    let Spanned { value: condition, span } = condition;
    let written = (condition != *written).then(|| written.clone());
    Guard { element, condition, written, span }
}

/// The node or group of this name.
fn named(topology: &Topology, name: &str) -> Option<TopologyElement> {
    let group = || topology.groups.iter().position(|group| group.name == name);
    let node = topology.node_named(name).map(TopologyElement::Node);
    node.or_else(|| Some(TopologyElement::Group(GroupIndex::new(group()?))))
}

fn knowing(
    builder: &mut PlanBuilder,
    behaviors: &Behaviors<'_, '_>,
    subject: TopologyElement,
    names: &[AskedAttribute<'_>],
) -> PlanElementIndex {
    let topology = behaviors.topology;
    match subject {
        TopologyElement::Node(node) => {
            let element = elements::node(builder, behaviors, node);
            know(builder, element, names, |asked| behaviors.attribute(node, asked));
            let owner = ValueOwner::Node(node);
            know_forms(builder, element, names, |asked| behaviors.form(owner, asked));
            element
        }
        TopologyElement::Relation(relation) => {
            let element = elements::relation(builder, behaviors, relation);
            know(builder, element, names, |asked| {
                behaviors.relation_attribute(relation, asked.name)
            });
            let owner = ValueOwner::Relation(relation);
            know_forms(builder, element, names, |asked| behaviors.form(owner, asked));
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
    names: &[AskedAttribute<'_>],
    find: impl Fn(AskedAttribute<'_>) -> Option<KnownAttribute>,
) {
    let known = &mut builder.plan.elements[element.index()].known;
    for asked in names {
        let key = asked.key();
        if !known.iter().any(|one| one.name == key) {
            known.extend(find(*asked));
        }
    }
}

fn know_forms(
    builder: &mut PlanBuilder,
    element: PlanElementIndex,
    names: &[AskedAttribute<'_>],
    find: impl Fn(AskedAttribute<'_>) -> Option<TextType>,
) {
    let forms = &mut builder.plan.elements[element.index()].forms;
    for asked in names {
        let key = asked.key();
        if !forms.iter().any(|(known, _)| *known == key) {
            forms.extend(find(*asked).map(|form| (key.into_owned(), form)));
        }
    }
}
