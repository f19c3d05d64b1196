//! The orchestrators that plans can be handed to.

use super::handed::HandoverWay;
use super::opera::Opera;
use super::unfurl::Unfurl;
use std::fmt;

/// An orchestrator that plans can be handed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orchestrator {
    /// xOpera, which runs Ansible playbooks.
    Opera,
    /// Unfurl, which runs scripts.
    Unfurl,
}

impl Orchestrator {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Opera, Self::Unfurl];

    /// The name, which is that of its program and of its package.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Opera => "opera",
            Self::Unfurl => "unfurl",
        }
    }

    /// The orchestrator of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }

    pub(super) fn way(self) -> &'static dyn HandoverWay {
        match self {
            Self::Opera => &Opera,
            Self::Unfurl => &Unfurl,
        }
    }
}

impl fmt::Display for Orchestrator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
