//! Policies and plans.

use super::XmlConverter;
use super::names::QualifiedName;
use super::part::XmlPart;
use super::said::{SaidMap, SaidValue, step};
use crate::text::source::Span;
use crate::topology::{NodeIndex, TopologyElement};
use crate::tosca::Family;
use rustc_hash::FxHashMap;

/// The policies of nodes, by their positions.
#[derive(Debug, Default)]
pub(super) struct NodePolicies(FxHashMap<usize, Vec<XmlPart>>);

impl NodePolicies {
    pub(super) fn take(&mut self, node: usize) -> Vec<XmlPart> {
        self.0.remove(&node).unwrap_or_default()
    }
}

/// What a plan is written in, where it is a process of BPMN.
const BPMN: &str = "http://www.omg.org/spec/BPMN/20100524/MODEL";

/// The workflow that takes what the topology takes.
const BUILD: &str = "deploy";

/// Plans that deploy and undeploy.
const PLAN_TYPES: [(&str, &str); 2] = [
    (BUILD, "http://docs.oasis-open.org/tosca/ns/2011/12/PlanTypes/BuildPlan"),
    ("undeploy", "http://docs.oasis-open.org/tosca/ns/2011/12/PlanTypes/TerminationPlan"),
];

/// What other plans are.
const PLAN_TYPE: &str = "http://docs.oasis-open.org/tosca/ns/2011/12/PlanTypes/ManagementPlan";

impl XmlConverter<'_, '_> {
    /// Policies become those of the nodes that they apply to, with the values of a policy template.
    pub(super) fn policies(
        &mut self,
        said: Vec<(String, SaidValue)>,
        nodes: &[String],
    ) -> NodePolicies {
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
            let id = self.ids.take(&name);
            let mut template =
                XmlPart::new("PolicyTemplate").with("id", &*id).with("type", &*type_name);
            Self::describe(&mut template, &mut body);
            let properties = body.take("properties");
            let properties = self.properties(Some(kind), properties);
            template.push_some(properties);
            let why = "policies of TOSCA 1.0 have properties only";
            self.keep_rest(body, why);
            self.templates.push(template);
            let local = QualifiedName { namespace: self.target.clone(), local: id };
            let template = self.prefixes.name(&local);
            debug_assert!(targets.iter().all(|node| node.index() < nodes.len()));
            for node in targets {
                let policy = XmlPart::new("Policy")
                    .with("name", &*name)
                    .with("policyType", &*type_name)
                    .with("policyRef", &*template);
                all.0.entry(node.index()).or_default().push(policy);
            }
        }
        all
    }

    /// The nodes that a policy applies to, each once; nothing where there are none, or others.
    fn targets(&self, policy: usize) -> Option<Vec<NodeIndex>> {
        let topology = self.variant.topology;
        let mut nodes = Vec::new();
        for target in &topology.policies.get(policy)?.targets {
            match target.element? {
                TopologyElement::Node(node) => nodes.push(node),
                TopologyElement::Group(group) => nodes.extend(topology.nodes_of(group)),
                TopologyElement::Relation(_) => return None,
            }
        }
        let mut seen = rustc_hash::FxHashSet::default();
        nodes.retain(|node| seen.insert(*node));
        (!nodes.is_empty()).then_some(nodes)
    }

    /// That a policy is one of groups is not said by one of their members.
    fn groups(&mut self, name: &str, at: usize, targets: &SaidValue) {
        let policy = &self.variant.topology.policies[at];
        let is_group = |element| matches!(element, Some(TopologyElement::Group(_)));
        if policy.targets.iter().any(|target| is_group(target.element)) {
            let key = format!("policies{}.targets", step(name));
            self.keep(&key, targets, "it is a policy of each member");
        }
    }

    /// Workflows whose model somebody wrote; what steps do is kept as YAML.
    pub(super) fn plans(&mut self, said: &mut SaidMap) -> Option<XmlPart> {
        let mut plans = Vec::new();
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
            let of_topology = inputs.as_ref().filter(|_| name == BUILD);
            plans.push(self.plan((&name, &workflow), body, (&model, span), of_topology));
        }
        let mut all = XmlPart::new("Plans");
        plans.into_iter().for_each(|plan| all.push(plan));
        (!all.is_empty()).then_some(all)
    }

    fn plan(
        &mut self,
        (name, said): (&str, &SaidValue),
        mut body: SaidMap,
        (model, span): (&str, Option<Span>),
        of_topology: Option<&SaidValue>,
    ) -> XmlPart {
        let mut plan = XmlPart::new("Plan");
        let id = self.ids.take(name);
        let old = SaidValue { value: name.into(), ..said.clone() };
        self.named(&mut plan, "id", &id, &old);
        let kind = PLAN_TYPES.iter().find(|(known, _)| *known == name);
        plan.set("planType", kind.map_or(PLAN_TYPE, |(_, kind)| kind));
        plan.set("planLanguage", BPMN);
        Self::describe(&mut plan, &mut body);
        let mut parameters = Vec::new();
        if let Some(inputs) = body.take("inputs") {
            parameters = self.parameters(&inputs);
        }
        if let Some(inputs) = of_topology {
            // What becomes of the inputs themselves is told of them.
            let is_silent = std::mem::replace(&mut self.is_silent, true);
            let more = self.parameters(inputs).into_iter();
            let is_new = |it: &XmlPart| !parameters.iter().any(|own| own.is_named_as(it));
            let more: Vec<_> = more.filter(is_new).collect();
            parameters.extend(more);
            self.is_silent = is_silent;
        }
        plan.push_in("InputParameters", parameters);
        self.keep_rest(body, "plans of TOSCA 1.0 have no such thing");
        let reference = self.reference(model, span);
        plan.push(XmlPart::new("PlanModelReference").with("reference", reference));
        plan
    }
}
