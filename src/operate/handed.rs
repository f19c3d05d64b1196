//! What is handed to another orchestrator, and what comes back.

use cuvee_text::value::Value;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// What an orchestrator is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HandoverVerb {
    Deploy,
    Undeploy,
}

impl HandoverVerb {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Deploy => "deploy",
            Self::Undeploy => "undeploy",
        }
    }
}

/// Where an orchestrator finds a template, and keeps its state.
pub(super) struct HandedPlace {
    /// The directory of the template.
    pub(super) base: PathBuf,
    /// The name of the template there.
    pub(super) template: String,
    /// The directory for the state.
    pub(super) state: PathBuf,
}

/// A node as an orchestrator has left it.
#[derive(Debug, PartialEq)]
pub(super) struct HandedNode {
    pub(super) name: String,
    pub(super) end: HandedEnd,
    pub(super) attributes: Vec<(Arc<str>, Value)>,
}

/// How an orchestrator has left a node.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HandedEnd {
    Deployed,
    Gone,
    /// It had nothing to run, or was not come to.
    Untouched,
    Other(String),
}

/// The way in which an orchestrator is called, and in which it says what it has done.
pub(super) trait HandoverWay: Sync {
    /// The programs that have to be installed.
    fn programs(&self) -> &'static [&'static str];

    /// Puts what the orchestrator needs beside the files of a template that is to be deployed, and
    /// makes what an earlier call left unfinished such that another one goes on with it.
    fn prepare(&self, place: &HandedPlace) -> io::Result<()>;

    /// The command, which starts in the directory of the template.
    fn command(&self, place: &HandedPlace, verb: HandoverVerb) -> Vec<String>;

    /// The variables of its environment.
    fn environment(&self) -> &'static [(&'static str, &'static str)];

    /// The nodes that it knows, as it has left them.
    fn nodes(&self, place: &HandedPlace) -> Result<Vec<HandedNode>, String>;
}
