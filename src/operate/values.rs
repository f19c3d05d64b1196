//! Computes the values that steps get of an instance: their inputs, and the nodes around relations
//! (chapter 4 of TOSCA Simple Profile 1.3). Everything is evaluated when a step begins.

use super::kinds::Kinds;
use super::plan::{PlannedInput, RunStep};
use crate::diagnostic::{Code, Diagnostic};
use crate::orchestrate::instance::{
    InstanceModel, ModelReading, NodeInstance, SecretMasker, SecretSeal, SecretValues, query_value,
    taken,
};
use crate::topology::sensitive::{InstanceValue, SENSITIVE, kept_secret};
use crate::tosca::function::function_in;
use crate::tosca::meant;
use cuvee_text::source::FileId;
use cuvee_text::value::{ReplacedPart, Value};
use cuvee_text::yaml::{Limits, Node, parse, write_flow};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The secrets that a run knows: those that the caller gave, and those that steps report.
pub(super) struct RunSecrets {
    seal: SecretSeal,
    known: RefCell<SecretValues>,
    masker: RefCell<SecretMasker>,
}

impl RunSecrets {
    pub(super) fn of(seal: SecretSeal, known: SecretValues) -> Self {
        let masker = RefCell::new(known.masker());
        Self { seal, known: RefCell::new(known), masker }
    }

    /// Hides the secrets in what steps write.
    pub(super) fn masker(&self) -> SecretMasker {
        self.masker.borrow().clone()
    }

    /// What is kept of a value that a step reported. The run remembers the secrets in it.
    pub(super) fn learned(&self, of: &InstanceValue<'_>, value: &Value) -> Value {
        let sealed = self.seal.sealed(of, value);
        self.learn(value, &sealed);
        sealed
    }

    /// Remembers the parts of a value that are secrets in its other form.
    fn learn(&self, value: &Value, sealed: &Value) {
        if sealed != value {
            self.known.borrow_mut().add_parts(value, sealed, self.seal.kept());
            *self.masker.borrow_mut() = self.known.borrow().masker();
        }
    }

    /// The secret that an instance keeps in this form; `None` if the run does not know it.
    pub(super) fn value(&self, kept: &Value) -> Option<Value> {
        self.known.borrow().value(kept)
    }

    /// A value with its secrets as they are.
    ///
    /// # Errors
    /// `missing-secret` if the run does not know one of them.
    pub(super) fn opened(&self, what: &str, value: &Value) -> Result<Value, Diagnostic> {
        let mut is_missing = false;
        let opened = value.replaced(&mut |part| match kept_secret(part) {
            None => ReplacedPart::Within,
            Some(_) => match self.value(part) {
                Some(value) => ReplacedPart::By(value),
                None => {
                    is_missing = true;
                    ReplacedPart::Stays
                }
            },
        });
        if is_missing {
            Err(missing_secret(what))
        } else {
            Ok(opened.unwrap_or_else(|| value.clone()))
        }
    }

    /// A node as a provider is told of it.
    pub(super) fn node(&self, id: &str, node: &NodeInstance) -> Result<Value, Diagnostic> {
        let text = serde_json::to_vec(node).unwrap_or_default();
        let node = serde_json::from_slice::<Value>(&text).unwrap_or(Value::Null);
        let wanted = ["type", "properties", "capabilities", "attributes"];
        let Value::Map(entries) = &node else { return Ok(Value::Null) };
        let told = entries.iter().filter(|(name, _)| wanted.contains(&&**name)).cloned();
        let told: Vec<_> = [("name".into(), Value::from(id))].into_iter().chain(told).collect();
        self.opened(&format!("the node `{id}`"), &Value::Map(told.into()))
    }
}

/// The error that a secret has no source.
pub(super) fn missing_secret(what: &str) -> Diagnostic {
    let message = format!("{what} is secret, and the run does not know its value");
    Diagnostic::error(Code::MissingSecret, message).help(
        "give the topology inputs that it is made of, `--deployment-input NAME=VALUE` or `--deployment-inputs FILE`, beside the template; the instance keeps no more than digests of secrets",
    )
}

/// The function that takes an attribute.
const GET_ATTRIBUTE: &str = "get_attribute";

/// The data that the values of steps are computed from.
pub(super) struct Values<'v> {
    pub(super) model: &'v InstanceModel,
    /// The model of the target that the plan leads to.
    pub(super) to: &'v InstanceModel,
    pub(super) kinds: &'v Kinds,
    pub(super) secrets: &'v RunSecrets,
    /// The path of an artifact of a node.
    pub(super) artifacts: &'v dyn Fn(&str, &str) -> Option<String>,
}

/// A relation as its identifier names it: its source, its requirement, and its position.
struct RelationName<'s> {
    source: &'s str,
    requirement: &'s str,
    position: usize,
}

impl<'s> RelationName<'s> {
    /// Reads `relation.db@0.node.shop`.
    fn of(identifier: &'s str) -> Option<Self> {
        let (relation, source) = identifier.strip_prefix("relation.")?.split_once(".node.")?;
        let (requirement, position) = relation.rsplit_once('@')?;
        Some(Self { source, requirement, position: position.parse().ok()? })
    }
}

impl<'v> Values<'v> {
    /// The inputs of a step, with their values.
    ///
    /// # Errors
    /// `missing-secret`, `unresolved-attribute`, and those of functions.
    pub(super) fn inputs(&self, step: &RunStep) -> Result<Vec<(Arc<str>, Value)>, Diagnostic> {
        let value = |(name, input)| Ok((Arc::clone(name), self.input(step, name, input)?));
        step.inputs.iter().map(value).collect()
    }

    /// The value of an input of a step.
    ///
    /// # Errors
    /// As [`Values::inputs`].
    pub(super) fn input(
        &self,
        step: &RunStep,
        name: &str,
        input: &PlannedInput,
    ) -> Result<Value, Diagnostic> {
        let what = || format!("the input `{name}` of `{}`", step.id);
        let value = input.sealed.as_ref().unwrap_or(&input.value);
        if input.when.is_none() && value.as_str() == Some(SENSITIVE) {
            return Err(missing_secret(&what()));
        }
        let opened = self.secrets.opened(&what(), value)?;
        if input.when.is_none() {
            return Ok(opened);
        }
        let found = self.evaluated(&opened, step.target.as_deref(), &what())?;
        let found = self.secrets.opened(&what(), &found)?;
        if opened != *value {
            self.secrets.learn(&found, &taken(&SENSITIVE.into()));
        }
        Ok(found)
    }

    /// The nodes whose attributes an input of a step needs and that nobody gave, each with the
    /// error. Attributes that are found over requirements and capabilities are left out.
    pub(super) fn missing(
        &self,
        step: &RunStep,
        name: &str,
        input: &PlannedInput,
    ) -> Vec<(String, Diagnostic)> {
        let element = step.target.as_deref();
        let what = format!("the input `{name}` of `{}`", step.id);
        let mut paths = Vec::new();
        attribute_paths(&input.value, &mut paths);
        let missing = |path: &Arc<[Value]>| {
            let [Value::String(entity), Value::String(_)] = &**path else { return None };
            let call = Value::Map([(GET_ATTRIBUTE.into(), Value::List(Arc::clone(path)))].into());
            let error = self.evaluated(&call, element, &what).err()?;
            let node = self.around_element(entity, element).unwrap_or_else(|| entity.to_string());
            (error.code == Code::UnresolvedAttribute).then_some((node, error))
        };
        paths.into_iter().filter_map(missing).collect()
    }

    /// The outputs of a template that are computed, as far as their values are known by now.
    pub(super) fn outputs(&self, template: Node<'_>) -> Vec<(Arc<str>, Value)> {
        let outputs =
            template.get("topology_template").and_then(|topology| topology.get("outputs"));
        let outputs = outputs.into_iter().flat_map(Node::entries);
        let value = |(name, output): (Node<'_>, Node<'_>)| {
            let value =
                output.get("value").map(meant::value_of).filter(|it| function_in(it).is_some())?;
            Some((name.key_text().into(), self.evaluated(&value, None, "an output").ok()?))
        };
        outputs.filter_map(value).collect()
    }

    /// The value of a function, or of what has functions in it.
    fn evaluated(
        &self,
        value: &Value,
        element: Option<&str>,
        what: &str,
    ) -> Result<Value, Diagnostic> {
        let derives = |one: &str, other: &str| self.kinds.derives(one, other);
        let open = |kept: &Value| self.secrets.value(kept);
        let reading = ModelReading {
            unstable: true,
            reveal: true,
            derives: &derives,
            open: Some(&open),
            artifacts: Some(self.artifacts),
        };
        let text = write_flow(value).into();
        let document = parse(FileId::DETACHED, text, &Limits::default())?;
        let hiding = ModelReading { reveal: false, open: None, ..reading };
        let evaluate = |reading| query_value(self.model, document.root(), element, reading);
        let found = evaluate(&reading).inspect(|found| {
            // What is computed from secrets is one.
            let shown = evaluate(&hiding).unwrap_or_else(|_| SENSITIVE.into());
            self.secrets.learn(found, &taken(&shown));
        });
        found.map_err(|error| {
            let is_open = error.code == Code::UnknownProperty || error.code == Code::NotVisible;
            match wanted_attribute(value).filter(|_| is_open) {
                Some((entity, name)) => self.unresolved(entity, name, element, what),
                None => error.without_labels().at(None),
            }
        })
    }

    /// The error that nobody gave an attribute.
    fn unresolved(
        &self,
        entity: &str,
        name: &str,
        element: Option<&str>,
        what: &str,
    ) -> Diagnostic {
        let node = match entity {
            "SELF" | "SOURCE" | "TARGET" | "HOST" => self.around_element(entity, element),
            named => Some(named.to_owned()),
        };
        let node = node.unwrap_or_else(|| entity.to_owned());
        let message = format!("{what} needs the attribute `{name}` of `{node}`, which nobody gave");
        let kind = self.model.nodes.get(&*node).map_or("", |node| &*node.type_name);
        let operations = self.kinds.operations(kind);
        let help = match operations {
            [] => format!(
                "`{node}` has no operation that could give it: report it, `cuvee instance record NAME {node} --attribute {name}=VALUE`"
            ),
            some => format!(
                "operations of `{node}` can give it by a line `{name}=VALUE` in the file `CUVEE_OUTPUTS`: {}",
                some.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
            ),
        };
        Diagnostic::error(Code::UnresolvedAttribute, message).help(help)
    }

    /// The node that a keyword means at an element.
    fn around_element(&self, keyword: &str, element: Option<&str>) -> Option<String> {
        let element = element?;
        match (keyword, element.strip_prefix("node."), RelationName::of(element)) {
            ("SELF", Some(node), _) => Some(node.to_owned()),
            ("SOURCE", _, Some(relation)) => Some(relation.source.to_owned()),
            ("TARGET", _, Some(relation)) => self.target(&relation).map(|it| it.to_string()),
            ("HOST", Some(node), _) => self.host(node).map(|it| it.to_string()),
            _ => None,
        }
    }

    fn host(&self, node: &str) -> Option<Arc<str>> {
        let node = self.known(node)?;
        let mut relations = node.requirements.values().flatten();
        relations.find(|relation| relation.hosting)?.target.clone()
    }

    /// A node that is there, or will be.
    fn known(&self, id: &str) -> Option<&'v NodeInstance> {
        self.model.nodes.get(id).or_else(|| self.to.nodes.get(id))
    }

    fn target(&self, relation: &RelationName<'_>) -> Option<Arc<str>> {
        let of = |model: &'v InstanceModel| {
            let relations =
                model.nodes.get(relation.source)?.requirements.get(relation.requirement)?;
            let by_position = relations.iter().find(|it| it.position as usize == relation.position);
            by_position.or_else(|| relations.first())?.target.clone()
        };
        of(self.model).or_else(|| of(self.to))
    }

    /// The node that a step is about: its own, or the source of its relation.
    pub(super) fn node_of<'s>(&self, step: &'s RunStep) -> Option<&'s str> {
        let relation = || RelationName::of(step.target.as_deref()?).map(|it| it.source);
        step.node().or_else(relation)
    }

    /// The nodes that an output of a step is assigned to, by the keyword of its mapping.
    pub(super) fn entity(&self, step: &RunStep, keyword: &str) -> Option<Arc<str>> {
        self.around_element(keyword, step.target.as_deref()).map(Arc::from)
    }

    /// The variables that tell an operation of a relation of the nodes around it (section 4.2).
    /// The identifiers of nodes are their names, since names of variables begin with them.
    pub(super) fn around(&self, step: &RunStep) -> Result<Vec<(String, String)>, Diagnostic> {
        let Some(relation) = step.target.as_deref().and_then(RelationName::of) else {
            return Ok(Vec::new());
        };
        let target = self.target(&relation);
        let target = target.as_deref().unwrap_or_default();
        let targets = self.targets(&relation, target);
        let sources = self.sources(&relation, target);
        let list = |nodes: &BTreeSet<&str>| nodes.iter().copied().collect::<Vec<_>>().join(",");
        let mut variables: Vec<_> = [
            ("SOURCE", relation.source.to_owned()),
            ("SOURCE_NODE", relation.source.to_owned()),
            ("SOURCES", list(&sources)),
            ("TARGET", target.to_owned()),
            ("TARGET_NODE", target.to_owned()),
            ("TARGETS", list(&targets)),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        for (name, input) in &step.inputs {
            let Some(function) = input.function.as_ref() else { continue };
            for (keyword, nodes) in [("SOURCE", &sources), ("TARGET", &targets)] {
                for node in nodes.iter().filter(|_| names_entity(function, keyword)) {
                    let of_node = with_entity(function, keyword, node);
                    let what = format!("the input `{name}` of `{}`", step.id);
                    // What another node does not have yet is left out.
                    let value = self.evaluated(&of_node, step.target.as_deref(), &what);
                    let value = value.and_then(|value| self.secrets.opened(&what, &value));
                    variables.extend(value.ok().map(|it| (format!("{node}_{name}"), as_text(&it))));
                }
            }
        }
        Ok(variables)
    }

    /// All nodes that the requirement of a relation leads to, with the one that it is about.
    fn targets<'s>(&'s self, relation: &RelationName<'s>, own: &'s str) -> BTreeSet<&'s str> {
        let source = self.known(relation.source);
        let relations = source.and_then(|source| source.requirements.get(relation.requirement));
        let targets = relations.into_iter().flatten().filter_map(|it| it.target.as_deref());
        targets.chain([own]).filter(|node| !node.is_empty()).collect()
    }

    /// All nodes whose requirement of the same name leads to the target of a relation.
    fn sources<'s>(&'s self, relation: &RelationName<'s>, target: &str) -> BTreeSet<&'s str> {
        let leads = |node: &NodeInstance| {
            let mut relations = node.requirements.get(relation.requirement).into_iter().flatten();
            relations.any(|it| it.target.as_deref() == Some(target))
        };
        let nodes = self.model.nodes.iter().filter(|(_, node)| leads(node));
        nodes.map(|(id, _)| &**id).chain([relation.source]).collect()
    }
}

/// The first attribute that a value needs: the entity and the name.
fn wanted_attribute(value: &Value) -> Option<(&str, &str)> {
    let mut paths = Vec::new();
    attribute_paths(value, &mut paths);
    paths.into_iter().find_map(|path| Some((path.first()?.as_str()?, path.get(1)?.as_str()?)))
}

/// The paths of the attributes that a value needs.
fn attribute_paths<'v>(value: &'v Value, paths: &mut Vec<&'v Arc<[Value]>>) {
    match value {
        Value::List(items) => items.iter().for_each(|item| attribute_paths(item, paths)),
        Value::Map(entries) => entries.iter().for_each(|(name, value)| match value {
            Value::List(path) if **name == *GET_ATTRIBUTE => paths.push(path),
            other => attribute_paths(other, paths),
        }),
        _ => {}
    }
}

/// Whether a function in a value takes something from this entity.
fn names_entity(value: &Value, entity: &str) -> bool {
    match value {
        Value::List(items) => items.iter().any(|item| names_entity(item, entity)),
        Value::Map(entries) => entries.iter().any(|(name, value)| match value {
            Value::List(path) if name.starts_with("get_") => {
                path.first().and_then(Value::as_str) == Some(entity)
            }
            other => names_entity(other, entity),
        }),
        _ => false,
    }
}

/// A value whose functions take from a node what they take from an entity.
fn with_entity(value: &Value, entity: &str, node: &str) -> Value {
    match value {
        Value::List(items) => {
            Value::List(items.iter().map(|it| with_entity(it, entity, node)).collect())
        }
        Value::Map(entries) => {
            let entry = |(name, value): &(Arc<str>, Value)| {
                let value = match value {
                    Value::List(path) if name.starts_with("get_") => {
                        let part = |(at, part): (usize, &Value)| match part.as_str() {
                            Some(said) if at == 0 && said == entity => Value::from(node),
                            _ => part.clone(),
                        };
                        Value::List(path.iter().enumerate().map(part).collect())
                    }
                    other => with_entity(other, entity, node),
                };
                (Arc::clone(name), value)
            };
            Value::Map(entries.iter().map(entry).collect())
        }
        other => other.clone(),
    }
}

/// A value for the environment: text as it is, everything else as JSON.
pub(super) fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        Value::Null => String::new(),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}
