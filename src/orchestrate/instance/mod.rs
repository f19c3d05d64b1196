//! Instances: the model of what is deployed, the log of what has happened to it, and the
//! orchestration of changes (seed "instance model").
//!
//! This module is not stable: it may change with any version.

mod annotation;
mod apply;
mod begin;
mod blobs;
mod claim;
mod concrete;
mod derive;
mod difference;
mod edit;
mod event;
mod exchange;
mod import;
mod inventory;
mod log_text;
mod masker;
mod model;
mod occurred;
mod open;
mod parse;
mod part;
mod query;
mod reduce;
mod report;
mod secrets;
mod shown;
mod store;
mod stream;
mod target;
mod transition;
mod unwritten;
mod view;

pub use crate::topology::sensitive::{InstanceValue, SecretPlaces};
pub use apply::{
    AppliedPlan, BegunPlan, ClaimedStep, Orchestration, ReadyStep, TargetModels, begin_workflow,
    finish_workflow,
};
pub(crate) use apply::{another_plan, check_lineage, none_open};
pub(crate) use begin::{BegunInstance, random_name};
pub use claim::DrawToken;
pub(crate) use concrete::{NamedTemplates, Overlay, as_in_model, types_only};
pub(crate) use derive::{Derived, SeparateNodes, VariantOfInstance, derive, separate_nodes};
pub use difference::diff_models;
pub use edit::ModelEdit;
pub use event::{Event, NodeAdded, RecordOrigin, RelationAdded, ReportOutcome};
pub use exchange::{
    ModelExport, RESERVED_METADATA, export_bindings, export_json, export_yaml, import_model,
};
pub use import::{ImportedLog, import_instance, import_log};
pub(crate) use inventory::inventory;
pub use log_text::{ExportedLog, export_log};
#[cfg(feature = "cli")]
pub(crate) use masker::MaskedStream;
pub use masker::SecretMasker;
#[cfg(feature = "cli")]
pub(crate) use model::KEPT_OUTPUTS;
pub use model::{
    Annotations, ByName, CapabilityInstance, GroupInstance, InstanceModel, InstanceState,
    InstanceTarget, NodeInstance, OpenOrchestration, PolicyInstance, RelationInstance,
    ReportedValue, SecretsMode, StepClaim, StepStatus, relation_identifier,
};
pub use open::{
    InstanceLog, ModelAt, RecordAuthor, RecordedChange, ask_about_entity, read_model, read_states,
    verify_instance,
};
pub use query::{
    ArtifactPath, DerivesFrom, FormOfValue, InstanceQuery, LackingAttribute, ModelReading,
    QueryAnswer, QueryRow, TypedForm, query_by_filter, query_function, query_value,
};
#[cfg(feature = "cli")]
pub(crate) use query::{FunctionOwner, query_value_of};
pub(crate) use query::{computed_inputs, computed_outputs};
pub use reduce::{ImpossibleEvent, RecordHead};
pub use report::{DeclaredTypes, InstanceReport, ReportRules, Reported};
pub(crate) use secrets::SecretScanner;
pub(crate) use secrets::with_secrets;
pub use secrets::{KeptSecrets, SecretSeal, SecretValues};
pub use shown::OpenSecret;
#[cfg(feature = "cli")]
pub(crate) use shown::taken;
#[cfg(not(target_family = "wasm"))]
pub use store::OsStore;
pub use store::{
    Chain, Committed, Draft, EventLog, Fault, FaultKind, FaultyStore, LockAttempt, LockHolder,
    Locking, LogPosition, LogRecord, LogWriter, MemoryStore, Salvaged, Snapshot, SnapshotPace,
    Store, StoreLock, StoreReader, StoredFile, Verification, check_name, instance_names, salvage,
    verify,
};
pub use stream::{Acknowledgement, GROUP_LINES, GROUP_TIME, NextReports, ReportStream, TakenLines};
pub use target::{ComputedOutput, TargetSources, TargetTypes, choice_of};
pub use transition::{ReportedState, skipped_between};
pub use unwritten::Unwritten;
pub use view::{
    CapabilityView, EntityView, ModelView, NodeLine, OrchestrationView, RelationView, ValueView,
    view_entity, view_model,
};
