//! Texts and what is said about them: files and places in them, YAML that keeps how it is written,
//! values, diagnostics.
//!
//! Knows nothing of TOSCA.

pub(crate) mod answer;
pub(crate) mod decimal;
pub mod diagnostic;
pub(crate) mod digest;
pub(crate) mod files;
pub(crate) mod index;
pub(crate) mod mounted;
#[cfg(feature = "render")]
pub mod render;
pub mod source;
pub mod value;
pub mod xml;
pub mod yaml;
