//! Converts policies and workflows with plans.

use super::XmlConverter;
use super::part::XmlPart;
use super::said::{SaidMap, SaidValue, entries, step};
use crate::topology::{NodeIndex, TopologyElement};
use crate::tosca::{Family, TypeId};
use cuvee_text::source::Span;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

/// The policies of nodes and those of the service template.
#[derive(Debug, Default)]
pub(super) struct NodePolicies {
    /// The policies of nodes, by position of the node.
    of_nodes: FxHashMap<usize, Vec<XmlPart>>,
    pub of_service: Vec<XmlPart>,
}

impl NodePolicies {
    pub(super) fn take(&mut self, node: usize) -> Vec<XmlPart> {
        self.of_nodes.remove(&node).unwrap_or_default()
    }
}

/// The plans, and the workflows that they come from.
#[derive(Debug, Default)]
pub(super) struct ConvertedPlans {
    parts: Vec<XmlPart>,
    /// The ids of plans, by the names of workflows.
    pub ids: FxHashMap<String, String>,
}

impl ConvertedPlans {
    pub(super) fn written(self) -> Option<XmlPart> {
        let mut all = XmlPart::new("Plans");
        self.parts.into_iter().for_each(|plan| all.push(plan));
        (!all.is_empty()).then_some(all)
    }
}

/// The language of plans that are BPMN processes.
const BPMN: &str = "http://www.omg.org/spec/BPMN/20100524/MODEL";

/// The workflow that takes the inputs of the topology.
const BUILD: &str = "deploy";

/// The types of the plans that deploy and undeploy.
const PLAN_TYPES: [(&str, &str); 2] = [
    (BUILD, "http://docs.oasis-open.org/tosca/ns/2011/12/PlanTypes/BuildPlan"),
    ("undeploy", "http://docs.oasis-open.org/tosca/ns/2011/12/PlanTypes/TerminationPlan"),
];

/// The type of all other plans.
const PLAN_TYPE: &str = "http://docs.oasis-open.org/tosca/ns/2011/12/PlanTypes/ManagementPlan";

/// Metadata of a workflow that record the former id, name, type and language of its plan.
const PLAN_NAMES: [&str; 4] = ["id", "name", "plan_type", "plan_language"];

/// The prefix of metadata that record outputs.
const OUTPUT: &str = "output.";

impl XmlConverter<'_, '_> {
    /// Converts policies. Each becomes a policy of the nodes it applies to, with a policy template
    /// for its values.
    pub(super) fn policies(&mut self, said: Vec<(String, SaidValue)>) -> NodePolicies {
        let mut all = NodePolicies::default();
        for (at, (name, said)) in said.into_iter().enumerate() {
            let Some(policy) = self.variant.topology.policies.get(at) else { continue };
            let said = SaidValue { span: Some(policy.span), ..said };
            let mut body = said.map();
            let kind = body.clone().take_text("type");
            let kind = kind.and_then(|kind| self.find_named(Family::Policy, &kind, said.span));
            let targets = self.targets(at);
            let (Some(kind), Some(targets)) = (kind, targets) else {
                let key = format!("policies{}", step(&name));
                let why = "policies of TOSCA 1.0 are those of nodes";
                self.keep(&key, &said, why);
                continue;
            };
            body.take("type");
            if let Some(targets) = body.take("targets") {
                self.groups(&name, at, &targets);
            }
            let type_name = self.prefixed(kind);
            let called = Self::known_names(&mut body, |key| matches!(key, "name" | "template"));
            let template = self.policy_template(&name, called.get("template"), kind, &mut body);
            let about = body.take_text("description");
            let why = "policies of TOSCA 1.0 have properties only";
            self.keep_rest(body, why);
            let name = called.get("name").unwrap_or(&name);
            let mut policy = XmlPart::new("Policy")
                .with("name", name)
                .with("policyType", &*type_name)
                .with_some("policyRef", template);
            policy.document(about);
            if targets.is_empty() {
                all.of_service.push(policy.clone());
            }
            for node in targets {
                all.of_nodes.entry(node.index()).or_default().push(policy.clone());
            }
        }
        all
    }

    /// The name of the policy template that holds the values of a policy; `None` if there are no
    /// values and there was no template. Templates of the same content and former name are shared.
    fn policy_template(
        &mut self,
        name: &str,
        known: Option<&String>,
        kind: TypeId,
        body: &mut SaidMap,
    ) -> Option<String> {
        let kind_name = self.prefixed(kind);
        let properties = body.take("properties");
        let properties = self.properties(Some(kind), properties);
        if known.is_none() && properties.is_none() {
            return None;
        }
        let mut template = XmlPart::new("PolicyTemplate").with("type", kind_name);
        template.push_some(properties);
        let key = known.map(|known| (known.clone(), template.clone()));
        if let Some(made) = key.as_ref().and_then(|key| self.policy_templates.get(key)) {
            return Some(made.clone());
        }
        let named = self.template_name(known.map(|known| &**known), name);
        let template = template.with("id", &*named.local);
        let made = self.add_template(&named, template);
        if let Some(key) = key {
            self.policy_templates.insert(key, made.clone());
        }
        Some(made)
    }

    /// The former names that metadata record. The metadata are taken if they contain nothing else.
    fn known_names(
        body: &mut SaidMap,
        is_wanted: impl Fn(&str) -> bool,
    ) -> IndexMap<String, String> {
        let metadata = body.clone().take("metadata");
        let said: Vec<_> = metadata.iter().flat_map(|it| entries(&it.value)).collect();
        let known = said.iter().filter(|(key, _)| is_wanted(key));
        let known = known.filter_map(|(key, it)| Some((key.to_string(), it.as_str()?.to_owned())));
        let known: IndexMap<_, _> = known.collect();
        if known.len() == said.len() {
            body.take("metadata");
        }
        known
    }

    /// The nodes that a policy applies to, each once; empty if the policy applies to the whole
    /// template. `None` if it applies to anything else.
    fn targets(&self, policy: usize) -> Option<Vec<NodeIndex>> {
        let topology = self.variant.topology;
        let mut nodes = Vec::new();
        let targets = &topology.policies.get(policy)?.targets;
        for target in targets {
            match target.element? {
                TopologyElement::Node(node) => nodes.push(node),
                TopologyElement::Group(group) => nodes.extend(topology.nodes_of(group)),
                TopologyElement::Relation(_) => return None,
            }
        }
        let mut seen = rustc_hash::FxHashSet::default();
        nodes.retain(|node| seen.insert(*node));
        (targets.is_empty() || !nodes.is_empty()).then_some(nodes)
    }

    /// Keeps the targets of a policy on groups, which is converted to a policy on each member.
    fn groups(&mut self, name: &str, at: usize, targets: &SaidValue) {
        let policy = &self.variant.topology.policies[at];
        let is_group = |element| matches!(element, Some(TopologyElement::Group(_)));
        if policy.targets.iter().any(|target| is_group(target.element)) {
            let key = format!("policies{}.targets", step(name));
            self.keep(&key, targets, "it is a policy of each member");
        }
    }

    /// Converts workflows that are implemented by a model; workflows of steps are kept as YAML.
    pub(super) fn plans(&mut self, said: &mut SaidMap) -> ConvertedPlans {
        let mut plans = ConvertedPlans::default();
        let inputs = said.clone().take("inputs");
        for (name, mut workflow) in said.take_parts("workflows", "workflow") {
            workflow.path = format!("topology_template.workflows{}", step(&name));
            let mut body = workflow.map();
            let model = body
                .take("implementation")
                .and_then(|it| Some((it.value.as_str()?.to_owned(), it.span)));
            let Some((model, span)) = model else {
                let key = format!("workflows{}", step(&name));
                self.keep(&key, &workflow, "a plan of TOSCA 1.0 is a model of a process");
                continue;
            };
            // In a template made from definitions, inputs replace values that the definitions omit,
            // so they are no parameters.
            let of_topology = inputs.as_ref().filter(|_| name == BUILD && !self.were_definitions);
            let (id, plan) = self.plan((&name, &workflow), body, (&model, span), of_topology);
            plans.parts.push(plan);
            plans.ids.insert(name, id);
        }
        plans
    }

    fn plan(
        &mut self,
        (name, said): (&str, &SaidValue),
        mut body: SaidMap,
        (model, span): (&str, Option<Span>),
        of_topology: Option<&SaidValue>,
    ) -> (String, XmlPart) {
        let mut plan = XmlPart::new("Plan");
        let is_known = |key: &str| PLAN_NAMES.contains(&key) || key.starts_with(OUTPUT);
        let known = Self::known_names(&mut body, is_known);
        let id = self.ids.take(known.get("id").map_or(name, |id| id));
        match known.contains_key("id") {
            true => plan.set("id", &*id),
            false => {
                let old = SaidValue { value: name.into(), ..said.clone() };
                self.named(&mut plan, "id", &id, &old);
            }
        }
        if let Some(name) = known.get("name") {
            plan.set("name", name);
        }
        let kind = PLAN_TYPES.iter().find(|(known, _)| *known == name);
        let kind = kind.map_or(PLAN_TYPE, |(_, kind)| kind);
        plan.set("planType", known.get("plan_type").map_or(kind, |kind| kind));
        plan.set("planLanguage", known.get("plan_language").map_or(BPMN, |it| it));
        Self::describe(&mut plan, &mut body);
        let mut parameters = Vec::new();
        if let Some(inputs) = body.take("inputs") {
            parameters = self.parameters(&inputs);
        }
        if let Some(inputs) = of_topology {
            // Losses of the inputs themselves are reported with the inputs.
            let is_silent = std::mem::replace(&mut self.is_silent, true);
            let more = self.parameters(inputs).into_iter();
            let is_new = |it: &XmlPart| !parameters.iter().any(|own| own.is_named_as(it));
            let more: Vec<_> = more.filter(is_new).collect();
            parameters.extend(more);
            self.is_silent = is_silent;
        }
        plan.push_in("InputParameters", parameters);
        let outputs =
            known.iter().filter_map(|(key, kind)| Some((key.strip_prefix(OUTPUT)?, kind)));
        let output = |(name, kind): (&str, &String)| {
            XmlPart::new("OutputParameter").with("name", name).with("type", kind)
        };
        plan.push_in("OutputParameters", outputs.map(output).collect());
        self.keep_rest(body, "plans of TOSCA 1.0 have no such thing");
        let reference = self.reference(model, span);
        plan.push(XmlPart::new("PlanModelReference").with("reference", reference));
        (id, plan)
    }
}
