//! Reads and writes YAML and XML without losing how they are written, and reports mistakes with
//! their place.
//!
//! [`yaml`] reads a text into a tree that knows the place of each part and how it is written. It
//! writes trees so that every part that was read is written as its author wrote it. [`xml`] reads
//! and writes XML. Both report a mistake as a [`diagnostic::Diagnostic`] with a [`source::Span`]; a
//! [`source::SourceMap`] finds the file, line and column of a span. [`files`] reads and parses each
//! file once.

pub mod answer;
pub mod case;
pub mod decimal;
pub mod diagnostic;
pub mod files;
pub mod float;
pub mod kept;
pub mod mounted;
pub mod overlay;
#[cfg(feature = "render")]
pub mod render;
pub mod source;
pub mod value;
pub mod xml;
pub mod yaml;

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct TextReadme;
