//! Tests plans, instances, and the substitution of what a template leaves open.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

#[path = "../shared/bpmn.rs"]
mod bpmn;
#[allow(dead_code, reason = "others ask more of commands")]
#[path = "../shared/commands.rs"]
mod commands;
#[path = "../shared/deploying.rs"]
mod deploying;
#[path = "../shared/folders.rs"]
mod folders;
#[path = "../shared/laws.rs"]
mod laws;
#[path = "../shared/sessions.rs"]
mod sessions;
#[path = "../shared/topologies.rs"]
mod topologies;

mod adapting;
mod effective;
mod effective_laws;
mod fulfil;
mod instance;
mod instance_cancelled;
mod instance_claims;
mod instance_exchange;
mod instance_failures;
mod instance_laws;
mod instance_parts;
mod instance_report;
mod instance_run;
mod instance_secrets;
mod instance_sessions;
mod instance_store;
mod instance_targets;
mod plan;
mod plan_formats;
mod plan_laws;
mod representations;
mod room;
mod substitute;
mod substitute_laws;
mod substitute_relations;
