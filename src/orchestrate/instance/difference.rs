//! Compares two models: two instances, two revisions of one instance, or an export.

use super::model::{
    Annotations, ByName, InstanceModel, NodeInstance, RelationInstance, ReportedValue, SecretsMode,
};
use crate::topology::diff::{Change, Diff, Edit, diff};
use crate::topology::sensitive::{SENSITIVE, kept_secret};
use cuvee_text::value::Value;
use cuvee_text::yaml::write_flow;
use std::sync::Arc;

/// The differences of two models, by element and path as between templates: `node.shop`,
/// `property.port`. A changed secret is noticed within one instance, or if both models keep secrets
/// as they are; its value is never shown. The time of a report and the generation of a node are not
/// compared.
///
/// ```
/// use cuvee::deploy::instance::{InstanceModel, InstanceState, NodeInstance, diff_models};
/// let mut from = InstanceModel::default();
/// from.nodes.insert("shop".into(), NodeInstance::default());
/// let mut to = from.clone();
/// if let Some(shop) = to.nodes.get_mut("shop") {
///     shop.state = InstanceState::named("creating");
/// }
/// let changes = diff_models(&from, &to).changes;
/// assert_eq!((&*changes[0].element, &*changes[0].path), ("node.shop", "state"));
/// assert!(diff_models(&to, &to).is_empty());
/// ```
pub fn diff_models(from: &InstanceModel, to: &InstanceModel) -> Diff {
    // Each instance has its own key for digests.
    let is_one = from.lineage == to.lineage && !from.lineage.is_empty();
    let tells = from.secrets == to.secrets && (is_one || from.secrets == SecretsMode::Keep);
    let [from, to] = [from, to].map(|model| {
        let veil = Veil { tells };
        veil.document(model)
    });
    let found = diff(&from, &to).changes.into_iter().filter(|change| is_known(&change.edit));
    let changes = found.map(|Change { element, path, edit }| {
        let edit = match edit {
            Edit::Added { to } => Edit::Added { to: unveiled(&to) },
            Edit::Removed { from } => Edit::Removed { from: unveiled(&from) },
            Edit::Changed { from, to } => {
                Edit::Changed { from: unveiled(&from), to: unveiled(&to) }
            }
        };
        Change { element, path, edit }
    });
    Diff { changes: changes.collect() }
}

/// Writes a model as a template. Secrets can be compared there, but not read.
#[derive(Clone, Copy)]
struct Veil {
    /// Whether secrets can be told apart.
    tells: bool,
}

/// The prefix of a secret's text during the comparison. The result never contains it.
const TOLD_APART: &str = "(sensitive)\0";

fn map(entries: Vec<(&str, Value)>) -> Value {
    let entries = entries.into_iter().filter(|(_, value)| !is_nothing(value));
    Value::Map(entries.map(|(key, value)| (key.into(), value)).collect())
}

fn is_nothing(value: &Value) -> bool {
    matches!(value, Value::Null) || matches!(value, Value::Map(all) if all.is_empty())
}

fn text(text: Option<&Arc<str>>) -> Value {
    text.map_or(Value::Null, |text| Value::String(Arc::clone(text)))
}

fn texts(all: &[Arc<str>]) -> Value {
    all.iter().map(|text| Value::String(Arc::clone(text))).collect::<Vec<_>>().into()
}

fn links(links: &ByName<Arc<str>>) -> Value {
    Value::Map(links.iter().map(|(name, uri)| (Arc::clone(name), text(Some(uri)))).collect())
}

impl Veil {
    fn document(&self, model: &InstanceModel) -> Value {
        let nodes = model.nodes.iter().map(|(id, node)| (Arc::clone(id), self.node(node)));
        let groups = model.groups.iter().map(|(name, group)| {
            let of = [
                ("type", Value::String(Arc::clone(&group.type_name))),
                ("template", text(group.template.as_ref())),
                ("members", texts(&group.members)),
                ("properties", self.values(&group.properties)),
                ("attributes", self.reports(&group.attributes)),
                ("capabilities", self.values(&group.capabilities)),
                ("requirements", self.values(&group.requirements)),
                ("links", links(&group.links)),
                ("metadata", self.values(&group.metadata)),
            ];
            (Arc::clone(name), map(of.into()))
        });
        let policies = model.policies.iter().map(|(name, policy)| {
            let of = [
                ("type", Value::String(Arc::clone(&policy.type_name))),
                ("template", text(policy.template.as_ref())),
                ("targets", texts(&policy.targets)),
                ("properties", self.values(&policy.properties)),
                ("links", links(&policy.links)),
                ("metadata", self.values(&policy.metadata)),
            ];
            (Arc::clone(name), map(of.into()))
        });
        let parameters = |all: &ByName<Value>, said: &ByName<Annotations>| {
            let one = |(name, value): (&Arc<str>, &Value)| {
                let mut of = vec![("value".into(), self.value(value))];
                if let Some(Annotations { links: said, metadata }) = said.get(name) {
                    let all = [("links", links(said)), ("metadata", self.values(metadata))];
                    let all = all.into_iter().filter(|(_, all)| !is_nothing(all));
                    of.extend(all.map(|(key, all)| (key.into(), all)));
                }
                (Arc::clone(name), Value::Map(of.into()))
            };
            Value::Map(all.iter().map(one).collect())
        };
        let topology = [
            ("inputs", parameters(&model.inputs, &model.input_annotations)),
            ("node_templates", Value::Map(nodes.collect())),
            ("groups", Value::Map(groups.collect())),
            ("policies", Value::Map(policies.collect())),
            ("outputs", parameters(&model.outputs, &model.output_annotations)),
        ];
        let target = [
            ("template", Value::String(Arc::clone(&model.target.template))),
            ("choice", self.values(&model.target.choice)),
        ];
        map(vec![
            ("target", map(target.into())),
            ("metadata", self.values(&model.metadata)),
            ("topology_template", map(topology.into())),
        ])
    }

    fn node(&self, node: &NodeInstance) -> Value {
        let capabilities = node.capabilities.iter().map(|(name, capability)| {
            let of = [
                ("type", Value::String(Arc::clone(&capability.type_name))),
                ("properties", self.values(&capability.properties)),
                ("attributes", self.reports(&capability.attributes)),
            ];
            (Arc::clone(name), map(of.into()))
        });
        let relations = node.requirements.iter().flat_map(|(name, all)| {
            all.iter().map(|one| Value::Map([(Arc::clone(name), self.relation(one))].into()))
        });
        map(vec![
            ("type", Value::String(Arc::clone(&node.type_name))),
            ("template", text(node.template.as_ref())),
            ("state", node.state.as_str().into()),
            ("properties", self.values(&node.properties)),
            ("attributes", self.reports(&node.attributes)),
            ("capabilities", Value::Map(capabilities.collect())),
            ("requirements", relations.collect::<Vec<_>>().into()),
            ("links", links(&node.links)),
            ("metadata", self.values(&node.metadata)),
            ("note", text(node.note.as_ref())),
        ])
    }

    fn relation(&self, relation: &RelationInstance) -> Value {
        map(vec![
            ("node", text(relation.target.as_ref())),
            ("capability", text(relation.capability.as_ref())),
            ("template", text(relation.template.as_ref())),
            ("relationship", text(relation.relationship.as_ref())),
            ("state", relation.state.as_str().into()),
            ("links", links(&relation.links)),
            ("metadata", self.values(&relation.metadata)),
        ])
    }

    fn values(&self, values: &ByName<Value>) -> Value {
        let of = values.iter().map(|(name, value)| (Arc::clone(name), self.value(value)));
        Value::Map(of.collect())
    }

    fn reports(&self, values: &ByName<ReportedValue>) -> Value {
        let of = values.iter();
        Value::Map(of.map(|(name, said)| (Arc::clone(name), self.value(&said.value))).collect())
    }

    fn value(self, value: &Value) -> Value {
        match (value, kept_secret(value)) {
            // A secret that was dropped, or was read from an export, may have any value.
            (_, Some(kept)) if !self.tells || *kept == Value::Null => SENSITIVE.into(),
            (_, Some(kept)) => format!("{TOLD_APART}{}", write_flow(kept)).into(),
            (Value::List(items), _) => {
                items.iter().map(|item| self.value(item)).collect::<Vec<_>>().into()
            }
            (Value::Map(entries), _) => {
                let of = entries.iter().map(|(key, value)| (Arc::clone(key), self.value(value)));
                Value::Map(of.collect())
            }
            (plain, _) => plain.clone(),
        }
    }
}

/// Whether a difference is certain: of a secret that is not kept nobody knows whether it changed.
fn is_known(edit: &Edit) -> bool {
    let Edit::Changed { from, to } = edit else { return true };
    let is_told = |value: &Value| value.as_str().is_some_and(|text| text.starts_with(TOLD_APART));
    let is_unknown = |value: &Value| value.as_str() == Some(SENSITIVE);
    !(is_told(from) && is_unknown(to) || is_unknown(from) && is_told(to))
}

fn unveiled(value: &Value) -> Value {
    match value {
        Value::String(text) if text.starts_with(TOLD_APART) => SENSITIVE.into(),
        Value::List(items) => items.iter().map(unveiled).collect::<Vec<_>>().into(),
        Value::Map(entries) => Value::Map(
            entries.iter().map(|(key, value)| (Arc::clone(key), unveiled(value))).collect(),
        ),
        plain => plain.clone(),
    }
}
