//! Instances: what is deployed, what has happened to it, and what has to happen next (seed "instance
//! model").
//!
//! Not promised: may change with any version.

mod event;
mod model;
mod store;

pub use event::{Event, NodeAdded, RecordOrigin, RelationAdded, ReportOutcome};
pub use model::{
    ByName, CapabilityInstance, GroupInstance, InstanceModel, InstanceState, InstanceTarget,
    NodeInstance, OpenOrchestration, PolicyInstance, RelationInstance, ReportedValue, SecretsMode,
    StepStatus, relation_identifier,
};
#[cfg(not(target_family = "wasm"))]
pub use store::OsStore;
pub use store::{
    Chain, Committed, Draft, EventLog, LockAttempt, LockHolder, Locking, LogPosition, LogRecord,
    LogWriter, MemoryStore, Store, StoreLock, StoredFile, check_name, instance_names,
};
