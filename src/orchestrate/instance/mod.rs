//! Instances: what is deployed, what has happened to it, and what has to happen next (seed "instance
//! model").
//!
//! Not promised: may change with any version.

mod concrete;
mod derive;
mod difference;
mod event;
mod exchange;
mod model;
mod query;
mod redact;
mod secrets;
mod shown;
mod store;
mod target;
mod view;

pub use difference::diff_models;

pub(crate) use concrete::{Overlay, expanded, with_hosting};
pub(crate) use derive::{Derived, VariantOfInstance, derive};
pub use event::{Event, NodeAdded, RecordOrigin, RelationAdded, ReportOutcome};
pub use exchange::{
    ModelExport, RESERVED_METADATA, export_bindings, export_json, export_yaml, import_model,
};
pub use model::{
    ByName, CapabilityInstance, GroupInstance, InstanceModel, InstanceState, InstanceTarget,
    NodeInstance, OpenOrchestration, PolicyInstance, RelationInstance, ReportedValue, SecretsMode,
    StepStatus, relation_identifier,
};
pub use query::{
    DerivesFrom, InstanceQuery, ModelReading, QueryAnswer, QueryRow, query_by_filter,
    query_function,
};
pub(crate) use redact::redacted;
pub use secrets::KeptSecrets;
#[cfg(not(target_family = "wasm"))]
pub use store::OsStore;
pub use store::{
    Chain, Committed, Draft, EventLog, Fault, FaultKind, FaultyStore, LockAttempt, LockHolder,
    Locking, LogPosition, LogRecord, LogWriter, MemoryStore, Salvaged, Snapshot, Store, StoreLock,
    StoredFile, Verification, check_name, instance_names, salvage, verify,
};
pub use target::{TargetSources, choice_of};
pub use view::{
    CapabilityView, EntityView, ModelView, NodeLine, OrchestrationView, RelationView, ValueView,
    view_entity, view_model,
};
