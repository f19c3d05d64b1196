//! Plans and records how a topology is deployed or changed: substitution of nodes, fulfilment of
//! requirements, plans and instances.

pub(crate) mod evaluated;
pub(crate) mod fulfil;
pub(crate) mod instance;
pub mod plan;
pub(crate) mod redact;
pub(crate) mod substitute;
pub(crate) mod tree;

/// The name of one of the nodes that a template with a count stands for.
fn representation(template: &str, index: u64) -> String {
    format!("{template}@{index}")
}
