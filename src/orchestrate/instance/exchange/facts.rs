//! Facts about a model that only this program knows. Documents contain them as metadata.

use crate::orchestrate::instance::model::{
    Annotations, ByName, InstanceModel, InstanceState, InstanceTarget, OpenOrchestration,
    SecretsMode,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Facts about an instance for which the specification has no place.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ModelFacts {
    pub uri: Arc<str>,
    pub lineage: Arc<str>,
    pub revision: u64,
    pub structure: u64,
    pub time: Arc<str>,
    pub secrets: SecretsMode,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sensitive: Vec<Arc<str>>,
    pub target: InstanceTarget,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orchestration: Option<OpenOrchestration>,
    /// The annotations of inputs and outputs; the document itself has only their values.
    #[serde(skip_serializing_if = "ByName::is_empty")]
    pub inputs: ByName<Annotations>,
    #[serde(skip_serializing_if = "ByName::is_empty")]
    pub outputs: ByName<Annotations>,
}

/// Facts about a node, a capability, a group or a policy for which the specification has no place.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct EntityFacts {
    /// The name of the type, if the entity names a template instead.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_name: Option<Arc<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Arc<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_in: Option<InstanceState>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<Arc<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Arc<str>>,
    /// The report of each attribute.
    #[serde(skip_serializing_if = "ByName::is_empty")]
    pub reported: ByName<ReportAge>,
    /// Whether its attributes are written although its state is not stable.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unstable: bool,
}

/// The record that reported an attribute.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReportAge {
    pub revision: u64,
    #[serde(default)]
    pub time: Arc<str>,
}

impl ModelFacts {
    pub(super) fn of(model: &InstanceModel) -> Self {
        Self {
            uri: Arc::clone(&model.uri),
            lineage: Arc::clone(&model.lineage),
            revision: model.revision,
            structure: model.structure,
            time: Arc::clone(&model.time),
            secrets: model.secrets,
            sensitive: model.sensitive.clone(),
            target: model.target.clone(),
            orchestration: model.orchestration.clone(),
            inputs: model.input_annotations.clone(),
            outputs: model.output_annotations.clone(),
        }
    }

    pub(super) fn into_model(self) -> InstanceModel {
        let Self { uri, lineage, revision, structure, time, secrets, sensitive, .. } = self;
        let Self { target, orchestration, inputs, outputs, .. } = self;
        InstanceModel {
            uri,
            lineage,
            revision,
            structure,
            time,
            secrets,
            sensitive,
            target,
            orchestration,
            input_annotations: inputs,
            output_annotations: outputs,
            ..InstanceModel::default()
        }
    }
}
