//! Adds events of nodes to records: notifications, whose outputs become attributes, and what the
//! triggers of policies wait for. Nothing is run; the log says which triggers an event meets.

use super::event::Event;
use super::model::NodeInstance;
use super::report::{DeclaredTypes, InstanceReport, ReportJudge};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::orchestrate::plan::CallOutput;
use crate::topology::{NodeIndex, Topology, TopologyElement, TopologyInterface, TopologyPolicy};
use crate::tosca::{EffectiveInterface, EffectiveType};
use cuvee_text::value::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The attributes to which the outputs of a notification are mapped, as paths.
type NotificationOutputs = BTreeMap<String, Value>;

/// The events that a node may have.
struct KnownEvents<'e> {
    /// The type of the node.
    effective: Option<&'e EffectiveType<'e>>,
    topology: Option<&'e Topology>,
    template: Option<NodeIndex>,
}

impl ReportJudge<'_, '_, '_, '_, '_, '_> {
    /// Adds an event of a node, and the attributes that its outputs are mapped to.
    pub(super) fn event(
        &mut self,
        report: &InstanceReport,
        id: &Arc<str>,
        name: &Arc<str>,
    ) -> Result<(), Diagnostic> {
        let Some(types) = self.rules.types else {
            let message = "an event is only known by the types of the instance, which are missing";
            return Err(Diagnostic::error(Code::UnknownElement, message));
        };
        let Some(node) = self.record.model().nodes.get(id) else { return Err(self.no_node(id)) };
        let known = KnownEvents::of(types, node, id);
        let (outputs, triggers) = (known.outputs(name), known.triggers(name));
        if outputs.is_none() && triggers.is_empty() {
            return Err(known.unknown(name, id));
        }
        let outputs = outputs.unwrap_or_default();
        let entity: Arc<str> = format!("node.{id}").into();
        for (output, value) in &report.outputs {
            let Some(mapping) = outputs.get(&**output) else {
                let message = format!("the event `{name}` of `{id}` has no output `{output}`");
                let help = did_you_mean(output, outputs.keys().map(|known| &**known));
                return Err(Diagnostic::error(Code::UnknownProperty, message).help_opt(help));
            };
            let mapped = CallOutput::of(output, mapping, false, |_, name| {
                known.effective.is_some_and(|of| of.capabilities.contains_key(name))
            });
            let Some(of) = mapped.filter(|mapped| mapped.entity == "SELF") else {
                let message = format!(
                    "the output `{output}` of `{name}` is not mapped to an attribute of the node itself"
                );
                let error = Diagnostic::error(Code::InvalidValue, message);
                return Err(error.help("report the attribute itself with `--attribute`"));
            };
            let capability = of.capability.map(Arc::from);
            let name = (capability.as_ref(), &of.attribute.into(), &*of.path);
            self.attribute(id, &entity, name, value)?;
        }
        self.add(Event::Occurred { entity, event: Arc::clone(name), triggers })
    }
}

impl<'e> KnownEvents<'e> {
    fn of(types: &'e DeclaredTypes<'_, '_>, node: &NodeInstance, id: &str) -> Self {
        let topology = types.topology();
        // Nodes of a template with several have names of their own.
        let named = |name| topology.and_then(|topology| topology.node_named(name));
        let template = named(id).or_else(|| named(node.template.as_deref()?));
        Self { effective: types.of(node), topology, template }
    }

    /// The interfaces of the type of the node.
    fn defined(&self) -> Vec<(&'e str, &'e EffectiveInterface<'e>)> {
        let all = self.effective.into_iter().flat_map(|effective| effective.interfaces.iter());
        all.map(|(name, part)| (*name, &part.definition)).collect()
    }

    /// The interfaces that the template of the node assigns.
    fn assigned(&self) -> &'e [TopologyInterface] {
        let node = self.topology.zip(self.template).map(|(topology, id)| topology.node(id));
        node.map_or(&[], |node| &node.described.interfaces)
    }

    /// The outputs of a notification, which is named with its interface. What the template says
    /// counts before what the type says.
    fn outputs(&self, event: &str) -> Option<NotificationOutputs> {
        let is = |interface: &str, name: &str| {
            event.strip_prefix(interface).and_then(|rest| rest.strip_prefix('.')) == Some(name)
        };
        let mut found = None;
        for (interface, definition) in self.defined() {
            for (name, part) in definition.notifications.iter() {
                if is(interface, name) {
                    let outputs = part.definition.outputs.iter();
                    let outputs = outputs.map(|it| (it.name.to_owned(), it.value.to_value()));
                    found.get_or_insert_with(BTreeMap::new).extend(outputs);
                }
            }
        }
        for interface in self.assigned() {
            for notification in
                interface.notifications.iter().filter(|it| is(&interface.name, &it.name))
            {
                let outputs = notification.outputs.iter();
                let outputs = outputs.map(|it| (it.name.clone(), it.value.value.clone()));
                found.get_or_insert_with(BTreeMap::new).extend(outputs);
            }
        }
        found
    }

    /// The triggers that wait for an event of the node. A policy without targets is for all nodes.
    fn triggers(&self, event: &str) -> Vec<Arc<str>> {
        let all = self.waiting().filter(|(waits, _)| waits.as_str() == event);
        all.map(|(_, trigger)| trigger.into()).collect()
    }

    /// The events that triggers of policies for the node wait for, each with the trigger.
    fn waiting(&self) -> impl Iterator<Item = (String, String)> {
        let policies = self.topology.into_iter().flat_map(|topology| &topology.policies);
        policies.filter(|policy| self.is_target(policy)).flat_map(|policy| {
            policy.triggers.iter().flat_map(move |trigger| {
                let events = trigger.when.iter().filter(|said| said.name == "event");
                let texts = events.filter_map(|event| event.value.value.as_str());
                let identifier = format!("policy.{}.{}", policy.name, trigger.name);
                texts.map(move |text| (text.to_owned(), identifier.clone()))
            })
        })
    }

    fn is_target(&self, policy: &TopologyPolicy) -> bool {
        let (Some(topology), Some(own)) = (self.topology, self.template) else { return false };
        policy.targets.is_empty()
            || policy.targets.iter().any(|target| match target.element {
                Some(TopologyElement::Node(node)) => node == own,
                Some(TopologyElement::Group(group)) => topology.nodes_of(group).contains(&own),
                _ => false,
            })
    }

    fn unknown(&self, event: &str, id: &str) -> Diagnostic {
        let mut known: Vec<String> = self.waiting().map(|(event, _)| event).collect();
        for (interface, definition) in self.defined() {
            let names = definition.notifications.keys();
            known.extend(names.map(|name| format!("{interface}.{name}")));
        }
        for interface in self.assigned() {
            let names = interface.notifications.iter().map(|it| &it.name);
            known.extend(names.map(|name| format!("{}.{name}", interface.name)));
        }
        let message = format!(
            "`{id}` has no notification `{event}`, and no trigger waits for such an event of it"
        );
        let help = did_you_mean(event, known.iter().map(|known| &**known));
        let form = "a notification is named with its interface: `Health.failed`";
        Diagnostic::error(Code::UnknownElement, message).help(help.unwrap_or(form.into()))
    }
}
