//! Turns the triggers of policies into workflows: an anonymous one each, applied to the targets of
//! the policy (section 3.6.22.3).

use crate::diagnostic::{Cite, Code, Diagnostic, did_you_mean};
use crate::topology::value_source::inputs;
use crate::topology::{
    ActivityKind, Spanned, Topology, TopologyElement, TopologyParameter, TopologyPolicy,
    TopologyStep, TopologyTrigger, TopologyWorkflow,
};
use cuvee_text::value::Value;
use indexmap::IndexSet;

/// A trigger, with its policy.
#[derive(Clone, Copy)]
pub(super) struct TriggerOfPolicy<'t> {
    policy: &'t TopologyPolicy,
    trigger: &'t TopologyTrigger,
}

impl<'t> TriggerOfPolicy<'t> {
    /// The triggers of all policies of a topology.
    pub(super) fn all(topology: &'t Topology) -> impl Iterator<Item = Self> {
        let of = |policy: &'t TopologyPolicy| {
            policy.triggers.iter().map(move |trigger| Self { policy, trigger })
        };
        topology.policies.iter().flat_map(of)
    }

    /// The trigger with this name: `POLICY.TRIGGER`.
    ///
    /// # Errors
    /// `unknown-element`
    pub(super) fn named(topology: &'t Topology, name: &str) -> Result<Self, Diagnostic> {
        Self::all(topology).find(|one| one.name() == name).ok_or_else(|| {
            let mut policies = topology.policies.iter().map(|policy| &*policy.name);
            let policy = policies
                .clone()
                .find(|policy| name.strip_prefix(policy).is_some_and(|rest| rest.starts_with('.')));
            let names: Vec<_> = Self::all(topology).map(Self::name).collect();
            let message = match (policy, name.split_once('.')) {
                (Some(policy), _) => {
                    let trigger = &name[policy.len() + 1..];
                    format!("the policy `{policy}` has no trigger `{trigger}`")
                }
                (None, Some((policy, _))) => format!("there is no policy `{policy}`"),
                (None, None) if policies.any(|policy| policy == name) => {
                    format!("`{name}` is a policy, which may have several triggers")
                }
                (None, None) => format!("there is no trigger `{name}`"),
            };
            let error = Diagnostic::error(Code::UnknownElement, message);
            match did_you_mean(name, names.iter().map(|name| &**name)) {
                Some(meant) => error.help(meant),
                None if names.is_empty() => error.help("no policy of this variant has a trigger"),
                None => error.help(format!("there is `{}`", names.join("`, `"))),
            }
        })
    }

    /// The name of the trigger on a command line.
    pub(super) fn name(self) -> String {
        format!("{}.{}", self.policy.name, self.trigger.name)
    }

    pub(super) fn description(self) -> Option<&'t Spanned<String>> {
        self.trigger.description.as_ref()
    }

    /// The inputs that the activities use. They have no declarations, except for those that the
    /// topology declares.
    pub(super) fn inputs(self, topology: &Topology) -> Vec<TopologyParameter> {
        let mut names: IndexSet<String> = IndexSet::new();
        for input in self.trigger.activities.iter().flat_map(|activity| &activity.inputs) {
            inputs(&input.value.value, &mut |name| {
                names.insert(name.to_owned());
            });
        }
        let input = |name: String| {
            let declared = topology.inputs.iter().find(|input| input.name == name);
            let no = Spanned { value: Value::Bool(false), span: self.trigger.span };
            let definition = Spanned { value: Value::Map([].into()), span: self.trigger.span };
            TopologyParameter {
                name,
                span: declared.map_or(self.trigger.span, |input| input.span),
                type_name: declared.and_then(|input| input.type_name.clone()),
                value: None,
                default: None,
                // Inputs that nobody gives have the values of the topology.
                required: Some(no),
                definition: declared.map_or(definition, |input| input.definition.clone()),
            }
        };
        names.into_iter().map(input).collect()
    }

    /// The trigger as a workflow with one step.
    pub(super) fn workflow(self, topology: &Topology) -> TopologyWorkflow {
        let TopologyTrigger { name, span, activities, .. } = self.trigger;
        let step = TopologyStep {
            name: name.clone(),
            span: *span,
            target: None,
            relationship: None,
            operation_host: None,
            filter: None,
            activities: activities.clone(),
            on_success: Vec::new(),
            on_failure: Vec::new(),
        };
        TopologyWorkflow {
            name: self.name(),
            span: *span,
            description: self.trigger.description.clone(),
            metadata: Vec::new(),
            inputs: self.inputs(topology),
            preconditions: Vec::new(),
            steps: vec![step],
            implementation: None,
            outputs: Vec::new(),
        }
    }

    /// The targets of the activities: those of the policy, otherwise the element that the trigger
    /// watches.
    ///
    /// # Errors
    /// `unknown-element` if there is neither, and an activity needs it.
    pub(super) fn targets(self, topology: &Topology) -> Result<Vec<TopologyElement>, Diagnostic> {
        let mut targets: Vec<_> =
            self.policy.targets.iter().filter_map(|target| target.element).collect();
        if targets.is_empty() {
            targets.extend(self.watched(topology));
        }
        let acts = self.trigger.activities.iter().any(|one| one.kind != ActivityKind::Inline);
        if targets.is_empty() && acts {
            let message = format!("the trigger `{}` has no targets to act on", self.name());
            let error = Diagnostic::error(Code::UnknownElement, message).at(self.trigger.span);
            let help = "name nodes or groups as `targets` of its policy";
            return Err(error.section("3.6.22.3").help(help));
        }
        Ok(targets)
    }

    /// The element that the trigger watches, or the target of its requirement; `None` for a type.
    fn watched(self, topology: &Topology) -> Option<TopologyElement> {
        let element = self.trigger.monitored.as_ref()?.element?;
        let TopologyElement::Node(node) = element else { return Some(element) };
        let Some(name) = &self.trigger.requirement else { return Some(element) };
        let mut relations = topology.node(node).relations.iter().map(|&id| topology.relation(id));
        relations.find(|relation| relation.name == name.value)?.target.map(TopologyElement::Node)
    }
}
