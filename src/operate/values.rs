//! Computes the values that steps get of an instance: their inputs, and the nodes around relations
//! (chapter 4 of TOSCA Simple Profile 1.3). Everything is evaluated when a step begins.

use super::kinds::Kinds;
use super::plan::{PlannedInput, RunStep, StepEnds};
use crate::diagnostic::{Code, Diagnostic};
use crate::orchestrate::instance::{
    FormOfValue, FunctionOwner, InstanceModel, ModelReading, NodeInstance, RelationInstance,
    SecretMasker, SecretSeal, SecretValues, SecretsMode, query_value_of, taken,
};
use crate::topology::sensitive::{InstanceValue, SENSITIVE, kept_secret};
use crate::tosca::function::function_in;
use crate::tosca::meant;
use crate::tosca::v2_0::function::computing;
use cuvee_text::source::FileId;
use cuvee_text::value::{ReplacedPart, Value};
use cuvee_text::yaml::{Limits, Node, parse, write_flow};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The secrets that a run knows: those that the caller gave, and those that steps report.
pub(super) struct RunSecrets {
    seal: SecretSeal,
    known: RefCell<SecretValues>,
    masker: RefCell<SecretMasker>,
    /// How often it has learned secrets.
    learned: Cell<usize>,
}

impl RunSecrets {
    pub(super) fn of(seal: SecretSeal, known: SecretValues) -> Self {
        let masker = RefCell::new(known.masker());
        Self { seal, known: RefCell::new(known), masker, learned: Cell::default() }
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

    /// How often it has learned secrets: what was written before may have more of them.
    pub(super) fn times_learned(&self) -> usize {
        self.learned.get()
    }

    /// Remembers the parts of a value that are secrets in its other form.
    fn learn(&self, value: &Value, sealed: &Value) {
        if sealed != value {
            self.known.borrow_mut().add_parts(value, sealed, self.seal.kept());
            *self.masker.borrow_mut() = self.known.borrow().masker();
            self.learned.set(self.learned.get() + 1);
        }
    }

    /// The secret that an instance keeps in this form; `None` if the run does not know it.
    pub(super) fn value(&self, kept: &Value) -> Option<Value> {
        self.known.borrow().value(kept)
    }

    /// Whether the instance keeps nothing of secrets.
    fn drops(&self) -> bool {
        self.seal.kept().mode() == SecretsMode::Drop
    }

    /// The value of an input that has secrets, if the caller gave them.
    fn of_input(&self, step: &RunStep, name: &str) -> Option<Value> {
        let (interface, operation) = (step.interface.as_deref()?, step.operation.as_deref()?);
        let operation = format!("{}/{interface}.{operation}", step.target.as_deref()?);
        self.known.borrow().of_input(&operation, name).cloned()
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

    /// A node as a program here is told of it. If the program can do without them, secrets that the
    /// run does not know are left out.
    ///
    /// # Errors
    /// `missing-secret`
    pub(super) fn node(
        &self,
        id: &str,
        node: &NodeInstance,
        can_do_without: bool,
    ) -> Result<Value, Diagnostic> {
        let text = serde_json::to_vec(node).unwrap_or_default();
        let node = serde_json::from_slice::<Value>(&text).unwrap_or(Value::Null);
        let wanted = ["type", "properties", "capabilities", "attributes"];
        let Value::Map(entries) = &node else { return Ok(Value::Null) };
        let mut told = vec![(Arc::from("name"), Value::from(id))];
        for (part, all) in entries.iter().filter(|(name, _)| wanted.contains(&&**name)) {
            let Value::Map(all) = all else {
                told.push((Arc::clone(part), all.clone()));
                continue;
            };
            let mut opened = Vec::new();
            for (name, value) in all.iter() {
                let what = format!("`{name}` among the {part} of the node `{id}`");
                match self.opened(&what, value) {
                    Ok(value) => opened.push((Arc::clone(name), value)),
                    Err(_) if can_do_without => {}
                    Err(error) => return Err(error),
                }
            }
            told.push((Arc::clone(part), Value::Map(opened.into())));
        }
        Ok(Value::Map(told.into()))
    }
}

/// The error that a secret has no source.
pub(super) fn missing_secret(what: &str) -> Diagnostic {
    let message = format!("{what} is secret, and the run does not know its value");
    Diagnostic::error(Code::MissingSecret, message).help(
        "give the topology inputs that it is made of, `--deployment-input NAME=VALUE` or `--deployment-inputs FILE`, beside the template; the instance keeps no more than digests of secrets",
    )
}

/// Whether a value tells so little of secrets in it that it is none.
fn tells_little(value: &Value) -> bool {
    computing(value).is_some_and(|(function, _)| function.tells_little())
}

/// The function that takes an attribute.
const GET_ATTRIBUTE: &str = "get_attribute";

/// The data that the values of steps are computed from.
pub(super) struct Values<'v> {
    pub(super) model: &'v InstanceModel,
    /// The model of the target that the plan leads to.
    pub(super) to: &'v InstanceModel,
    pub(super) kinds: &'v Kinds,
    /// What types make of texts in values.
    pub(super) forms: FormOfValue<'v>,
    pub(super) secrets: &'v RunSecrets,
    /// The path of an artifact of a node.
    pub(super) artifacts: &'v dyn Fn(&str, &str) -> Option<String>,
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
        if self.is_dropped(value)
            && let Some(value) = self.secrets.of_input(step, name)
        {
            return Ok(value);
        }
        if input.when.is_none() && value.as_str() == Some(SENSITIVE) {
            return Err(missing_secret(&what()));
        }
        let opened = self.secrets.opened(&what(), value)?;
        if input.when.is_none() {
            return Ok(opened);
        }
        let found = self.evaluated(&opened, Some(step), &what())?;
        let found = self.secrets.opened(&what(), &found)?;
        if opened != *value && !tells_little(value) {
            self.secrets.learn(&found, &taken(&SENSITIVE.into()));
        }
        Ok(found)
    }

    /// Whether an input has a secret of which the instance keeps nothing, nor does its plan.
    fn is_dropped(&self, value: &Value) -> bool {
        let is_hidden = value.as_str() == Some(SENSITIVE);
        (is_hidden || kept_secret(value).is_some()) && self.secrets.drops()
    }

    /// The nodes whose attributes an input of a step needs and that nobody gave, each with the
    /// error. Attributes that are found over requirements and capabilities are left out.
    pub(super) fn missing(
        &self,
        step: &RunStep,
        name: &str,
        input: &PlannedInput,
    ) -> Vec<(String, Diagnostic)> {
        let what = format!("the input `{name}` of `{}`", step.id);
        let mut paths = Vec::new();
        attribute_paths(&input.value, &mut paths);
        let missing = |path: &Arc<[Value]>| {
            let [Value::String(entity), Value::String(_)] = &**path else { return None };
            let call = Value::Map([(GET_ATTRIBUTE.into(), Value::List(Arc::clone(path)))].into());
            let error = self.evaluated(&call, Some(step), &what).err()?;
            let node = self.around_step(entity, step).unwrap_or_else(|| entity.to_string());
            (error.code == Code::UnresolvedAttribute).then_some((node, error))
        };
        paths.into_iter().filter_map(missing).collect()
    }

    /// The outputs of a template that are computed, with their present values or why they have none.
    pub(super) fn outputs(&self, template: Node<'_>) -> Vec<(Arc<str>, Result<Value, Diagnostic>)> {
        let outputs =
            template.get("topology_template").and_then(|topology| topology.get("outputs"));
        let outputs = outputs.into_iter().flat_map(Node::entries);
        let value = |(name, output): (Node<'_>, Node<'_>)| {
            let value =
                output.get("value").map(meant::value_of).filter(|it| function_in(it).is_some())?;
            let name: Arc<str> = name.key_text().into();
            let value = self.evaluated(&value, None, &format!("the output `{name}`"));
            Some((name, value))
        };
        outputs.filter_map(value).collect()
    }

    /// The value of a function of a step, or of what has functions in it.
    fn evaluated(
        &self,
        value: &Value,
        step: Option<&RunStep>,
        what: &str,
    ) -> Result<Value, Diagnostic> {
        let derives = |one: &str, other: &str| self.kinds.derives(one, other);
        let is_hidden = Cell::new(false);
        let open = |kept: &Value| {
            let value = self.secrets.value(kept);
            is_hidden.set(is_hidden.get() || value.is_none());
            value
        };
        let lacking = RefCell::new(None);
        let lack = |node: &str, name: &str| {
            lacking.borrow_mut().get_or_insert_with(|| (node.to_owned(), name.to_owned()));
        };
        let reading = ModelReading {
            unstable: true,
            reveal: true,
            derives: &derives,
            forms: Some(self.forms),
            open: Some(&open),
            artifacts: Some(self.artifacts),
            lacking: Some(&lack),
        };
        let text = write_flow(value).into();
        let document = parse(FileId::DETACHED, text, &Limits::default())?;
        let hiding = ModelReading { reveal: false, open: None, lacking: None, ..reading };
        let lost = step.and_then(|step| step.ends.as_ref()).map(StepEnds::lost);
        let owner = step.and_then(|step| self.owner(step, lost.as_ref()));
        let evaluate = |reading| query_value_of(self.model, document.root(), owner, reading);
        let found = evaluate(&reading).inspect(|found| {
            if tells_little(value) {
                return;
            }
            // What is computed from secrets is one.
            let shown = evaluate(&hiding).unwrap_or_else(|_| SENSITIVE.into());
            self.secrets.learn(found, &taken(&shown));
        });
        found.map_err(|error| match lacking.take() {
            Some((node, name)) => self.unresolved(&node, &name, step, what),
            None if is_hidden.get() => missing_secret(what),
            None => {
                let mut error = error.without_labels().at(None);
                error.message = format!("{what}: {}", error.message);
                error
            }
        })
    }

    /// The error that nobody gave an attribute.
    fn unresolved(
        &self,
        entity: &str,
        name: &str,
        step: Option<&RunStep>,
        what: &str,
    ) -> Diagnostic {
        let node = match entity {
            "SELF" | "SOURCE" | "TARGET" | "HOST" => {
                step.and_then(|step| self.around_step(entity, step))
            }
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

    /// The element whose functions a step has. A relation is found by its name and ends, since two
    /// targets may give one position to different relations.
    /// Where a step takes away what is left of one that is gone, that stands for it.
    fn owner<'s>(
        &self,
        step: &'s RunStep,
        lost: Option<&'s RelationInstance>,
    ) -> Option<FunctionOwner<'s>>
    where
        'v: 's,
    {
        let Some(ends) = &step.ends else {
            return step.target.as_deref().map(FunctionOwner::Named);
        };
        let of = |model: &'v InstanceModel| {
            let (source, node) = model.nodes.get_key_value(&ends.source)?;
            let (name, all) = node.requirements.get_key_value(&ends.requirement)?;
            let relation = all.iter().find(|relation| relation.target == ends.target)?;
            Some(FunctionOwner::Relation(source, name, relation))
        };
        // What a step adds is not there before the step has ended.
        let lost = || Some(FunctionOwner::Relation(&ends.source, &ends.requirement, lost?));
        of(self.model).or_else(|| of(self.to)).or_else(lost)
    }

    /// The node that a keyword means at the element of a step.
    fn around_step(&self, keyword: &str, step: &RunStep) -> Option<String> {
        match (keyword, step.node(), &step.ends) {
            ("SELF", Some(node), _) => Some(node.to_owned()),
            ("SOURCE", _, Some(ends)) => Some(ends.source.to_string()),
            ("TARGET", _, Some(ends)) => ends.target.as_ref().map(|it| it.to_string()),
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

    /// The node that a step is about: its own, or the source of its relation.
    pub(super) fn node_of<'s>(&self, step: &'s RunStep) -> Option<&'s str> {
        step.node().or_else(|| step.ends.as_ref().map(|ends| &*ends.source))
    }

    /// The nodes that an output of a step is assigned to, by the keyword of its mapping.
    pub(super) fn entity(&self, step: &RunStep, keyword: &str) -> Option<Arc<str>> {
        self.around_step(keyword, step).map(Arc::from)
    }

    /// The variables that tell an operation of a relation of the nodes around it (section 4.2).
    /// The identifiers of nodes are their names, since names of variables begin with them.
    pub(super) fn around(&self, step: &RunStep) -> Result<Vec<(String, String)>, Diagnostic> {
        let Some(ends) = &step.ends else { return Ok(Vec::new()) };
        let target = ends.target.as_deref().unwrap_or_default();
        let targets = self.targets(ends);
        let sources = self.sources(ends);
        let list = |nodes: &BTreeSet<&str>| nodes.iter().copied().collect::<Vec<_>>().join(",");
        let mut variables: Vec<_> = [
            ("SOURCE", ends.source.to_string()),
            ("SOURCE_NODE", ends.source.to_string()),
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
                    let value = self.evaluated(&of_node, Some(step), &what);
                    let value = value.and_then(|value| self.secrets.opened(&what, &value));
                    variables.extend(value.ok().map(|it| (format!("{node}_{name}"), as_text(&it))));
                }
            }
        }
        Ok(variables)
    }

    /// All nodes that the requirement of a relation leads to, with the one that it is about.
    fn targets<'s>(&'s self, ends: &'s StepEnds) -> BTreeSet<&'s str> {
        let source = self.known(&ends.source);
        let relations = source.and_then(|source| source.requirements.get(&ends.requirement));
        let all = relations.into_iter().flatten().filter_map(|relation| relation.target.as_deref());
        // A relation may outlive its target while a plan runs.
        let all = all.filter(|target| self.model.nodes.contains_key(*target));
        all.chain(ends.target.as_deref()).collect()
    }

    /// All nodes whose requirement of the same name leads to the target of a relation.
    fn sources<'s>(&'s self, ends: &'s StepEnds) -> BTreeSet<&'s str> {
        let leads = |node: &NodeInstance| {
            let mut all = node.requirements.get(&ends.requirement).into_iter().flatten();
            all.any(|relation| relation.target.is_some() && relation.target == ends.target)
        };
        let nodes = self.model.nodes.iter().filter(|(_, node)| leads(node));
        nodes.map(|(id, _)| &**id).chain([&*ends.source]).collect()
    }
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
        Value::Number(number) if !number.as_f64().is_finite() => number.to_string(),
        other => as_json(other),
    }
}

/// A value as JSON for programs: integers have all their digits, and what JSON has no number for,
/// such as `.inf`, is a text.
pub(super) fn as_json(value: &Value) -> String {
    serde_json::to_string(&ToldValue(value)).unwrap_or_default()
}

struct ToldValue<'v>(&'v Value);

impl Serialize for ToldValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::List(items) => serializer.collect_seq(items.iter().map(ToldValue)),
            Value::Map(entries) => {
                serializer.collect_map(entries.iter().map(|(key, value)| (key, ToldValue(value))))
            }
            Value::Number(number) if !number.as_f64().is_finite() => serializer.collect_str(number),
            Value::Number(number) if number.is_beyond_64_bits() => {
                let digits = number.to_string();
                match RawValue::from_string(digits.trim_start_matches('+').to_owned()) {
                    Ok(digits) => digits.serialize(serializer),
                    // A leading zero, say, is none of JSON.
                    Err(_) => serializer.serialize_f64(number.as_f64()),
                }
            }
            other => other.serialize(serializer),
        }
    }
}
