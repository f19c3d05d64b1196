//! Finds what is secret at a path of a service template, and at the paths of differences.

use super::area::{AreaKind, SlotForm, each_part, form};
use super::{Area, SecretOwner, Sensitivity, input_of, inputs_of};
use crate::topology::{
    ActivityKind, NodeIndex, TopologyActivity, TopologyElement, TopologyWorkflow,
};
use crate::tosca::function::Function;
use crate::tosca::secrecy::Secrecy;
use crate::tosca::types::{EffectiveInterface, EffectiveType, Parts};
use crate::tosca::{Family, PropertyDefinition};
use cuvee_text::source::FileId;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Out, OutNode};

impl<'t, 'a> Sensitivity<'t, 'a> {
    /// What is secret of the slot at a path of a document, such as `node_templates`, `shop`,
    /// `properties`, `port`. Names of types have their meaning in `file`.
    pub(crate) fn at(&self, path: &[String], file: Option<FileId>) -> Secrecy {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let named = || Secrecy::whole(path.last().is_some_and(|name| self.names().has(name)));
        let found = match *path {
            ["inputs", name] => Some(self.input(name)),
            ["outputs", name] => Some(self.output(name)),
            ["workflows", name, ref rest @ ..] => self.in_workflow(name, rest),
            [section, name, ref rest @ ..] => match Family::of_keyword(section) {
                Some(family) => self.in_type((file, family, name), rest),
                None => self.in_elements(&self.elements(section, name), rest),
            },
            _ => None,
        };
        found.unwrap_or_else(named)
    }

    /// What is secret of the slot at a path, where this is written.
    pub(crate) fn of_slot(
        &self,
        path: &[String],
        written: &Value,
        file: Option<FileId>,
    ) -> Secrecy {
        let found = self.at(path, file);
        match (form(path, written), path.last()) {
            // The definition counts also where no type is known that has it.
            (SlotForm::Definition, Some(name)) if found.is_open() => {
                self.definition(name, written, file)
            }
            _ => found,
        }
    }

    /// The elements of a section that have this name.
    fn elements(&self, section: &str, name: &str) -> Vec<SecretOwner> {
        match section {
            "node_templates" => {
                self.nodes_named(name).iter().copied().map(SecretOwner::Node).collect()
            }
            "relationship_templates" => self.relationships_named(name),
            "groups" => {
                self.named.groups.get(name).map(|id| SecretOwner::Group(*id)).into_iter().collect()
            }
            "policies" => self
                .named
                .policies
                .get(name)
                .map(|at| SecretOwner::Policy(*at))
                .into_iter()
                .collect(),
            _ => Vec::new(),
        }
    }

    fn in_elements(&self, owners: &[SecretOwner], path: &[&str]) -> Option<Secrecy> {
        let found = owners.iter().filter_map(|owner| self.in_element(*owner, path));
        found.reduce(|one, other| self.data().either(one, other))
    }

    /// What is secret at a path of an element; `None` if only the name of the slot says.
    fn in_element(&self, owner: SecretOwner, path: &[&str]) -> Option<Secrecy> {
        Some(match *path {
            ["properties" | "attributes", name] => self.slot(owner, None, name),
            ["capabilities", capability, "properties" | "attributes", name] => {
                self.slot(owner, Some(capability), name)
            }
            ["interfaces", interface, "inputs", name] => {
                self.operation_input(owner, (interface, None), name)
            }
            ["interfaces", interface, operation, "inputs", name] => {
                self.operation_input(owner, (interface, Some(operation)), name)
            }
            ["requirements", name, "relationship", ref rest @ ..] => {
                let SecretOwner::Node(node) = owner else { return None };
                return self.in_elements(&self.relations(node, name), rest);
            }
            ["artifacts", artifact, "properties", name] => self.artifact(owner, artifact, name)?,
            ["triggers", trigger, .., "inputs", name] => {
                let SecretOwner::Policy(at) = owner else { return None };
                let mut triggers = self.topology.policies.get(at)?.triggers.iter();
                let trigger = triggers.find(|one| one.name == trigger)?;
                self.in_activities(&trigger.activities, &[], name)
            }
            _ => return None,
        })
    }

    /// The relations of a node by the name of their requirement.
    fn relations(&self, node: NodeIndex, name: &str) -> Vec<SecretOwner> {
        let relations = self.topology.node(node).relations.iter();
        let named = relations.filter(|id| self.topology.relation(**id).name == name);
        named.map(|id| SecretOwner::Relation(*id)).collect()
    }

    fn artifact(&self, owner: SecretOwner, artifact: &str, name: &str) -> Option<Secrecy> {
        let SecretOwner::Node(node) = owner else { return None };
        let mut artifacts = self.topology.node(node).artifacts.iter();
        let said = artifacts.find(|one| one.name == artifact)?;
        let id =
            crate::topology::type_named(self.types(), Family::Artifact, said.type_name.as_ref()?)?;
        let part = self.types().effective(id).properties.get(name)?;
        let value = said.properties.iter().find(|one| one.name == name);
        let computed = value.map(|one| self.computed(&one.value.value, Some(owner)));
        let declared = self.declared.definition(&part.definition);
        Some(self.data().either(declared, computed.unwrap_or_default()))
    }

    fn in_workflow(&self, name: &str, path: &[&str]) -> Option<Secrecy> {
        let workflow = self.workflow(name)?;
        match *path {
            ["inputs", name] => self.workflow_input(workflow, name),
            ["steps", step, .., "inputs", name] => {
                let step = workflow.steps.iter().find(|one| one.name == step)?;
                let target = step.target.as_ref().and_then(|target| target.element);
                Some(self.in_activities(&step.activities, &self.targets(target), name))
            }
            _ => None,
        }
    }

    fn workflow(&self, name: &str) -> Option<&'t TopologyWorkflow> {
        self.topology.workflows.iter().find(|workflow| workflow.name == name)
    }

    fn workflow_input(&self, workflow: &TopologyWorkflow, name: &str) -> Option<Secrecy> {
        let input = workflow.inputs.iter().find(|input| input.name == name)?;
        Some(self.parameter(input))
    }

    /// What is secret of an input that a step of a workflow gives to what it calls. The workflow
    /// may stand for a trigger of a policy.
    pub(crate) fn activity_input(&self, workflow: &str, step: &str, name: &str) -> Secrecy {
        let of_policy = || {
            let mut policies = self.topology.policies.iter().enumerate();
            let at = policies.find_map(|(at, policy)| {
                let trigger = workflow.strip_prefix(&*policy.name)?.strip_prefix('.')?;
                (trigger == step).then_some(at)
            });
            self.in_element(SecretOwner::Policy(at?), &["triggers", step, "inputs", name])
        };
        let found = self.in_workflow(workflow, &["steps", step, "inputs", name]);
        found.or_else(of_policy).unwrap_or_else(|| Secrecy::whole(self.names().has(name)))
    }

    /// The nodes that a step works on.
    fn targets(&self, target: Option<TopologyElement>) -> Vec<SecretOwner> {
        match target {
            Some(TopologyElement::Node(node)) => vec![SecretOwner::Node(node)],
            Some(TopologyElement::Relation(relation)) => vec![SecretOwner::Relation(relation)],
            Some(TopologyElement::Group(group)) => {
                self.topology.nodes_of(group).into_iter().map(SecretOwner::Node).collect()
            }
            None => Vec::new(),
        }
    }

    /// What is secret of an input that activities give to operations and workflows.
    fn in_activities(
        &self,
        activities: &[TopologyActivity],
        targets: &[SecretOwner],
        name: &str,
    ) -> Secrecy {
        let mut found = Secrecy::whole(self.names().has(name));
        for activity in activities {
            for input in activity.inputs.iter().filter(|input| input.name == name) {
                let own = match activity.kind {
                    ActivityKind::CallOperation => self.called_input(activity, targets, name),
                    ActivityKind::Inline => self
                        .workflow(&activity.name.value)
                        .and_then(|workflow| self.workflow_input(workflow, name)),
                    _ => None,
                };
                let computed = self.computed(&input.value.value, targets.first().copied());
                found = self.data().either(found, own.unwrap_or_default());
                found = self.data().either(found, computed);
            }
        }
        found
    }

    /// What the called operation says of its input.
    fn called_input(
        &self,
        activity: &TopologyActivity,
        targets: &[SecretOwner],
        name: &str,
    ) -> Option<Secrecy> {
        let called = &*activity.name.value;
        let (interface, operation) = called.rsplit_once('.').unwrap_or(("Standard", called));
        let of =
            |owner: &SecretOwner| self.operation_input(*owner, (interface, Some(operation)), name);
        targets.iter().map(of).reduce(|one, other| self.data().either(one, other))
    }

    /// What is secret at a path of a type.
    fn in_type(
        &self,
        (file, family, name): (Option<FileId>, Family, &str),
        path: &[&str],
    ) -> Option<Secrecy> {
        let id = self.types().find_in(file, family, name)?;
        let effective = self.types().effective(id);
        let definitions = definitions_at(effective, family, path);
        if definitions.is_empty() {
            return None;
        }
        if self.types().said_sensitive(id) == Some(true) {
            return Some(Secrecy::Whole);
        }
        let found = definitions.into_iter().map(|it| self.declared.definition(it));
        found.reduce(|one, other| self.data().either(one, other))
    }

    /// Whether a value touches a secret at a path of an element, as differences name both.
    pub(crate) fn touches(&self, element: &str, path: &str, value: &Value) -> bool {
        let keys = keys(element, path);
        let (mut area, mut slot) = (Area::DOCUMENT.below("topology_template"), Vec::new());
        for (at, key) in keys.iter().enumerate() {
            let is_slot = area == Area::Slots;
            if !area.leaves_out(key) {
                slot.push(key.clone());
            }
            if is_slot {
                return self.is_secret_within(&slot, &keys[at + 1..])
                    || self.has_secret_name(value);
            }
            area = area.below(key);
        }
        match area {
            Area::Secret => true,
            Area::Structure => false,
            Area::Free => {
                let is_named = keys.last().is_some_and(|name| self.names().has(name));
                is_named || self.has_secret_name(value)
            }
            area => self.holds_secret(value, area, &mut slot),
        }
    }

    /// Whether a value that is behind a path in one of which this is secret touches that.
    pub(crate) fn touches_within(&self, secrecy: &Secrecy, path: &str, value: &Value) -> bool {
        let steps = steps(path);
        let steps = steps.iter().map(|(step, _)| &**step);
        !self.data().at(secrecy, steps, self.names()).is_open() || self.has_secret_name(value)
    }

    /// Whether the part of a slot behind these keys is secret, or has parts that are.
    fn is_secret_within(&self, slot: &[String], inner: &[String]) -> bool {
        let secrecy = self.at(slot, None);
        let at = |inner: &[String]| {
            let inner = inner.iter().map(String::as_str);
            !self.data().at(&secrecy, inner, self.names()).is_open()
        };
        match inner {
            // Of a definition, only what gives a value can be secret; a value may look like one.
            [key, rest @ ..] if matches!(&**key, "default" | "value") => at(rest) || at(inner),
            [key] if matches!(&**key, "type" | "required") && is_parameter(slot) => false,
            inner => at(inner),
        }
    }

    /// Whether a part of a document contains secrets.
    fn holds_secret(&self, value: &Value, area: Area, path: &mut Vec<String>) -> bool {
        let (out, mut is_secret) = (Out::Value(value.clone()), false);
        each_part((OutNode::root(&out), area), path, &|_| true, &mut |area, path, node| {
            is_secret |= match area {
                Area::Slots => {
                    !self.at(path, None).is_open() || self.has_secret_name(&node.to_value())
                }
                Area::Free => self.has_secret_name(&node.to_value()),
                _ => true,
            };
        });
        is_secret
    }

    /// Whether a value has an entry with the name of a secret.
    pub(crate) fn has_secret_name(&self, value: &Value) -> bool {
        match value {
            Value::List(items) => items.iter().any(|item| self.has_secret_name(item)),
            Value::Map(entries) => {
                let is_call = Function::called_in(value).is_some();
                let is_named = |name: &str| !is_call && self.names().has(name);
                entries.iter().any(|(name, it)| is_named(name) || self.has_secret_name(it))
            }
            _ => false,
        }
    }
}

/// Whether a slot is an input or output of a topology or workflow, which is written as a definition.
fn is_parameter(slot: &[String]) -> bool {
    matches!(slot.first().map(String::as_str), Some("inputs" | "outputs" | "workflows"))
}

/// The keys of a document that lead to the path of an element in a difference.
fn keys(element: &str, path: &str) -> Vec<String> {
    let (kind, name) = element.split_once('.').unwrap_or((element, ""));
    let section = match kind {
        "node" => "node_templates",
        "relationship" => "relationship_templates",
        "group" => "groups",
        "policy" => "policies",
        "input" => "inputs",
        "output" => "outputs",
        other => other,
    };
    let mut keys = vec![section.to_owned(), name.to_owned()];
    let mut area = Area::DOCUMENT.below("topology_template").below(section);
    if area != Area::Slots {
        area = area.below(name);
    }
    let mut steps = steps(path).into_iter().peekable();
    while let Some((step, _)) = steps.next() {
        let key = match (area, &*step) {
            (Area::One(AreaKind::Entity), "property") => "properties".to_owned(),
            (Area::One(AreaKind::Entity), "attribute") => "attributes".to_owned(),
            (Area::One(AreaKind::Entity), "capability") => "capabilities".to_owned(),
            (Area::One(AreaKind::Entity), "artifact") => "artifacts".to_owned(),
            (Area::One(AreaKind::Entity), "requirement") => "requirements".to_owned(),
            (Area::Named(AreaKind::Requirement), step) => {
                // Requirements of one name are told apart by their targets and numbers.
                let (name, _) = step.split_once('@').unwrap_or((step, ""));
                let name = name.to_owned();
                while steps.next_if(|(it, is_in)| *is_in || it.starts_with('@')).is_some() {}
                name
            }
            _ => step,
        };
        area = area.below(&key);
        keys.push(key);
        if area == Area::Slots {
            keys.extend(steps.map(|(step, _)| step));
            break;
        }
    }
    keys
}

/// The steps of a path such as `property.ports[0]["a b"]`, each with whether it is in brackets.
fn steps(path: &str) -> Vec<(String, bool)> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let (step, behind) = match rest.strip_prefix('[') {
            Some(inner) => bracketed(inner),
            None => {
                let rest = rest.strip_prefix('.').unwrap_or(rest);
                let end = rest.find(['.', '[']).unwrap_or(rest.len());
                (rest[..end].to_owned(), &rest[end..])
            }
        };
        steps.push((step, rest.starts_with('[')));
        rest = behind;
    }
    steps
}

/// The text in brackets, and what comes behind them.
fn bracketed(inner: &str) -> (String, &str) {
    let Some(quoted) = inner.strip_prefix('"') else {
        let (step, behind) = inner.split_once(']').unwrap_or((inner, ""));
        return (step.to_owned(), behind);
    };
    let mut step = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return (step, quoted[at + 1..].strip_prefix(']').unwrap_or(&quoted[at + 1..])),
            '\\' => step.extend(characters.next().map(|(_, c)| c)),
            c => step.push(c),
        }
    }
    (step, "")
}

/// The definitions of the slot at a path of a type.
fn definitions_at<'t, 'a>(
    effective: &'t EffectiveType<'a>,
    family: Family,
    path: &[&str],
) -> Vec<&'t PropertyDefinition<'a>> {
    let of = |parts: &'t Parts<'a, PropertyDefinition<'a>>, name: &str| {
        parts.get(name).map(|part| &part.definition)
    };
    let one = match *path {
        ["properties", name] => of(&effective.properties, name),
        ["attributes", name] => of(&effective.attributes, name),
        ["capabilities", capability, kind @ ("properties" | "attributes"), name] => {
            let part = effective.capabilities.get(capability);
            part.and_then(|part| match kind {
                "properties" => of(&part.definition.properties, name),
                _ => of(&part.definition.attributes, name),
            })
        }
        _ => None,
    };
    if let Some(one) = one {
        return vec![one];
    }
    match *path {
        ["interfaces", interface, ref rest @ ..] => {
            let part = effective.interfaces.get(interface);
            part.map(|part| inputs_at(&part.definition, rest)).unwrap_or_default()
        }
        ["requirements", name, "relationship", "interfaces", interface, ref rest @ ..] => {
            let part = effective.requirements.get(name);
            let interfaces = part.map(|part| &part.definition.interfaces).into_iter().flatten();
            let meant = interfaces.filter(|one| one.named.name == interface);
            let (operation, Some(input)) = operation_and_input(rest) else { return Vec::new() };
            meant.flat_map(|one| inputs_of(one, operation, input)).collect()
        }
        _ if family == Family::Interface => inputs_at(&effective.interface, path),
        _ => Vec::new(),
    }
}

fn inputs_at<'t, 'a>(
    interface: &'t EffectiveInterface<'a>,
    path: &[&str],
) -> Vec<&'t PropertyDefinition<'a>> {
    let (operation, Some(input)) = operation_and_input(path) else { return Vec::new() };
    let own = interface.inputs.get(input).map(|part| &part.definition);
    let operation = operation.and_then(|name| interface.operations.get(name));
    let of_operation = operation.and_then(|part| input_of(&part.definition, input));
    own.into_iter().chain(of_operation).collect()
}

/// The names in a path of an interface: the operation, if there is one, and the input.
fn operation_and_input<'p>(path: &[&'p str]) -> (Option<&'p str>, Option<&'p str>) {
    match *path {
        ["inputs", input] => (None, Some(input)),
        [operation, "inputs", input] => (Some(operation), Some(input)),
        _ => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_differences_lead_into_documents() {
        let cases = [
            ("node.shop", "property.login.user", "node_templates shop properties login user"),
            (
                "node.a b",
                "capability.web.property[\"a.b\"]",
                "node_templates a b capabilities web properties a.b",
            ),
            (
                "node.shop",
                "requirement.host[db]@1.relationship.property.x",
                "node_templates shop requirements host relationship properties x",
            ),
            ("node.shop", "requirement.host@1", "node_templates shop requirements host"),
            ("input.size", "default", "inputs size default"),
        ];
        for (element, path, expected) in cases {
            assert_eq!(keys(element, path).join(" "), expected, "{element} {path}");
        }
    }
}
