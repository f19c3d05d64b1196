//! Converts the boundary definitions of service templates, and their plans.

use super::super::layout::YamlMap;
use super::super::loss::LossKind;
use super::super::well_known::EXPORTED;
use super::YamlConverter;
use super::names::{FileKey, as_name, node_name, unique};
use super::place;
use super::types::{ParameterOwner, outputs, parameters};
use crate::tosca::v1_0::ComponentId;
use crate::tosca::v1_0::definitions::{
    ComponentKind, DefinedNode, DefinedService, ExposedFeature, FeatureKind, NodeFeature,
};
use cuvee_text::value::Value;
use cuvee_text::xml::XmlElement;
use rustc_hash::{FxHashMap, FxHashSet};

/// The types of plans that are normative workflows in YAML, by how they end, with the names of
/// these workflows.
const WORKFLOWS: [(&str, &str); 2] =
    [("PlanTypes/BuildPlan", "deploy"), ("PlanTypes/TerminationPlan", "undeploy")];

/// The file extensions of plan languages.
const ENDINGS: [(&str, &str); 2] = [("BPMN", "bpmn"), ("bpel", "bpel")];

/// The workflows of a service template, and the plans that some of them come from.
pub(super) struct ConvertedWorkflows {
    pub workflows: YamlMap,
    /// The names of workflows, by the ids of plans.
    pub of_plans: FxHashMap<String, String>,
}

impl<'d> YamlConverter<'_, 'd> {
    /// The substitution mapping of a service template that substitutes a node.
    pub(super) fn substitution(
        &mut self,
        id: ComponentId,
        service: &DefinedService<'d>,
        interfaces: YamlMap,
    ) -> Option<YamlMap> {
        let kind = ComponentKind::NodeType;
        let node_type = service.substitutable.as_ref();
        let name = self.type_name(kind, id, node_type, FileKey::Service);
        let element = self.library.component(id).element;
        let boundary = service.boundary.as_ref();
        let shown = boundary.map(|boundary| {
            [
                ("Requirements", FeatureKind::Requirement, &boundary.requirements),
                ("Capabilities", FeatureKind::Capability, &boundary.capabilities),
            ]
        });
        let Some(name) = name else {
            let shown = shown.into_iter().flatten().filter(|(_, _, shown)| !shown.is_empty());
            for (container, kind, _) in shown {
                let construct = format!("the list of {} that it shows", plural(kind));
                let why = "a template of YAML shows nothing if it substitutes no node type";
                let below = format!("BoundaryDefinitions/{container}");
                self.lose(element, &below, construct, why, LossKind::Lost);
            }
            return None;
        };
        let mut mappings = YamlMap::default().with("node_type", name);
        mappings.put_map("properties", std::mem::take(&mut self.shown.properties));
        for (container, kind, shown) in shown.into_iter().flatten() {
            let mut mapped = YamlMap::default();
            for feature in shown {
                let Some((node, own)) = exposed(service, kind, feature) else { continue };
                let said = feature.name.as_ref().unwrap_or(&own.name);
                if mapped.has(&said.text) {
                    let construct =
                        format!("another {} with the name `{}`", kind.what(), said.text);
                    let why = "a template of YAML shows one of each name";
                    let below = format!("BoundaryDefinitions/{container}");
                    self.lose(element, &below, construct, why, LossKind::Lost);
                    continue;
                }
                if self.is_asked_anyway(id, service, (kind, &said.text), own) {
                    let construct = format!("that it shows the requirement `{}`", said.text);
                    let why = "it need not be fulfilled outside, and has to be inside";
                    let below = format!("BoundaryDefinitions/{container}");
                    self.lose(element, &below, construct, why, LossKind::Lost);
                    continue;
                }
                let node = Value::from(&*node_name(node));
                mapped.put(&said.text, vec![node, (&*own.name.text).into()]);
            }
            mappings.put_map(plural(kind), mapped);
        }
        mappings.put_map("interfaces", interfaces);
        Some(mappings)
    }

    /// The ids of open requirements that a service template shows as ones of its node type that need
    /// not be fulfilled. In YAML, requirements without occurrences have to be.
    pub(super) fn optional_requirements(
        &self,
        id: ComponentId,
        service: &DefinedService<'d>,
    ) -> FxHashSet<String> {
        let name = service.substitutable.as_ref();
        let Some(of) = self.find(ComponentKind::NodeType, id, name) else {
            return FxHashSet::default();
        };
        let kind = FeatureKind::Requirement;
        let shown = service.boundary.iter().flat_map(|boundary| &boundary.requirements);
        let optional = shown.filter_map(|feature| {
            let (_, own) = exposed(service, kind, feature)?;
            let said = feature.name.as_ref().unwrap_or(&own.name);
            let is_open = self.least(of, kind, &said.text) == Some(0)
                && !self.is_asked_anyway(id, service, (kind, &said.text), own);
            is_open.then(|| own.id.text.to_string())
        });
        optional.collect()
    }

    /// The lower bound of a requirement or capability of a type.
    fn least(&self, of: ComponentId, kind: FeatureKind, name: &str) -> Option<u64> {
        let mut defined = self.library.effective_features(of, kind);
        defined.find(|(_, it)| it.name.text == name)?.1.lower.value
    }

    /// Whether a requirement inside has to be fulfilled, and the one that it is shown as need not.
    /// YAML maps no such requirement.
    fn is_asked_anyway(
        &self,
        id: ComponentId,
        service: &DefinedService<'d>,
        (kind, shown): (FeatureKind, &str),
        own: &NodeFeature<'d>,
    ) -> bool {
        let find = |name| self.find(ComponentKind::NodeType, id, name);
        let is_inside =
            |node: &&DefinedNode<'d>| node.requirements.iter().any(|it| it.id.text == own.id.text);
        let (FeatureKind::Requirement, Some(outer), Some(node)) =
            (kind, find(service.substitutable.as_ref()), service.nodes.iter().find(is_inside))
        else {
            return false;
        };
        let inner = find(node.template.type_name.as_ref());
        let inner = inner.and_then(|inner| self.least(inner, kind, &own.name.text));
        let outer = self.least(outer, kind, shown);
        inner.zip(outer).is_some_and(|(inner, outer)| inner > outer)
    }

    /// The plans as workflows.
    pub(super) fn workflows(
        &mut self,
        id: ComponentId,
        service: &DefinedService<'d>,
    ) -> ConvertedWorkflows {
        let element = self.library.component(id).element;
        let plans = place::child(element, "Plans").into_iter();
        let plans: Vec<_> = plans.flat_map(|plans| place::children(plans, "Plan")).collect();
        let mut workflows = YamlMap::default();
        let mut of_plans = FxHashMap::default();
        let exported = self.exported_plans(id, service);
        for plan in plans {
            let id = place::attribute(plan, "id").unwrap_or_default();
            let kind = place::attribute(plan, "planType").unwrap_or_default();
            let known = WORKFLOWS.iter().find(|(ending, _)| kind.ends_with(ending));
            let wanted = known.map(|(_, name)| *name).filter(|name| !workflows.has(name));
            let name = unique(wanted.unwrap_or(&id), |name| workflows.has(name));
            let exported = exported.get(&id).map(|names| names.join(", "));
            let workflow = self.workflow(plan, &id, &kind, exported);
            workflows.put(&name, workflow);
            of_plans.entry(id).or_insert(name);
        }
        ConvertedWorkflows { workflows, of_plans }
    }

    fn workflow(
        &mut self,
        plan: XmlElement<'d>,
        id: &str,
        kind: &str,
        exported: Option<String>,
    ) -> YamlMap {
        let language = place::attribute(plan, "planLanguage").unwrap_or_default();
        let mut workflow = YamlMap::default();
        workflow.put_some("description", self.description(plan));
        let mut metadata = YamlMap::default().with("id", id);
        metadata.put_some("name", place::attribute(plan, "name"));
        metadata.put("plan_type", kind);
        metadata.put("plan_language", &*language);
        metadata.put_some(EXPORTED, exported);
        for (name, kind) in outputs(plan) {
            metadata.put(&format!("output.{name}"), kind);
            let below = format!("OutputParameters/OutputParameter[{name}]");
            let construct = format!("that plan `{id}` gives `{name}`");
            let why = "outputs of workflows go to attributes, and the plan names none";
            self.lose(plan, &below, construct, why, LossKind::KeptAsExtension);
        }
        workflow.put_map("metadata", metadata);
        workflow.put_map("inputs", parameters(plan, ParameterOwner::Plan));
        let known = ENDINGS.iter().find(|(part, _)| language.contains(part));
        let ending = known.map_or("xml", |(_, ending)| ending);
        let model = place::child(plan, "PlanModel").and_then(place::foreign);
        let file = match (place::child(plan, "PlanModelReference"), model) {
            (Some(reference), _) => self.plan_reference(reference),
            (None, Some(model)) => {
                let text = self.fragment(model).into_bytes();
                let name = format!("{}.{ending}", as_name(id));
                let path = self.files.inline("plans", &name, text);
                if path.is_none() {
                    let construct = format!("the model of plan `{id}`");
                    let why = "one document holds no files; write an archive or a directory";
                    self.lose(plan, "PlanModel", construct, why, LossKind::Lost);
                }
                path
            }
            (None, None) => None,
        };
        workflow.put_some("implementation", file);
        workflow
    }

    /// The file of a plan that the document refers to.
    fn plan_reference(&mut self, reference: XmlElement<'d>) -> Option<String> {
        let name = place::attribute(reference, "reference")?;
        if name.contains("://") {
            return Some(name);
        }
        match self.files.copy(&name) {
            Ok(path) => Some(path),
            Err(why) => {
                let construct = format!("the file `{name}`");
                self.lose(reference, "@reference", construct, why, LossKind::Lost);
                Some(name)
            }
        }
    }
}

/// The section of requirements or capabilities.
fn plural(kind: FeatureKind) -> &'static str {
    match kind {
        FeatureKind::Requirement => "requirements",
        FeatureKind::Capability => "capabilities",
    }
}

/// The node with the requirement or capability that a service template exposes.
fn exposed<'s, 'd>(
    service: &'s DefinedService<'d>,
    kind: FeatureKind,
    feature: &ExposedFeature<'d>,
) -> Option<(&'s str, &'s NodeFeature<'d>)> {
    let wanted = &feature.reference.as_ref()?.text;
    service.nodes.iter().find_map(|node| {
        let all = match kind {
            FeatureKind::Requirement => &node.requirements,
            FeatureKind::Capability => &node.capabilities,
        };
        let found = all.iter().find(|it| it.id.text == *wanted)?;
        Some((&*node.id.text, found))
    })
}
