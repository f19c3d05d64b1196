//! What has to happen so that a topology is there, or is another one.

pub(crate) mod fulfil;
pub(crate) mod instance;
pub mod plan;
pub(crate) mod substitute;
pub(crate) mod tree;
