//! Variability options: every one has a value and knows where it comes from.
//!
//! Layers, later wins: built-in defaults, the release preset of the definitions version, the pruning mode, the template, the command line.
//! Between options of one family the more specific wins: kind and half over kind over all.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Span;
use crate::yaml::Node;

/// The kinds of conditional elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A topology template input.
    Input,
    /// A topology template output.
    Output,
    /// A node template.
    Node,
    /// A requirement assignment.
    Relation,
    /// A property assignment.
    Property,
    /// An artifact.
    Artifact,
    /// A type assignment.
    Type,
    /// A deployment technology.
    Technology,
    /// A group.
    Group,
    /// A policy.
    Policy,
    /// An import.
    Import,
}

/// The halves of default conditions and pruning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Half {
    /// Keeps the result well-formed.
    Consistency,
    /// Keeps it meaningful.
    Semantic,
}

/// A part of a default condition mode, such as `incoming` in `incoming-host`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is the keyword of the specification's table")]
pub enum Part {
    Source,
    Target,
    Incoming,
    IncomingNaive,
    Outgoing,
    OutgoingNaive,
    Host,
    Artifact,
    ArtifactNaive,
    Container,
    Consuming,
    Managed,
    Other,
}

/// Where the value of an option comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionOrigin {
    /// No layer says anything.
    BuiltIn,
    /// The release preset of this definitions version.
    Release(&'static str),
    /// The pruning mode of this name.
    Mode(&'static str),
    /// The template, at this place.
    Template(Span),
    /// The command line or the library call.
    CommandLine,
}

/// All options, resolved.
#[derive(Clone, Debug)]
pub struct Options {}

/// Resolves the layers.
///
/// `template` is the node of `variability.options`, `overrides` are from the command line in order, their values read as YAML scalars.
///
/// # Errors
/// `invalid-option` for each unknown option and each value that does not fit.
pub fn resolve(version: &str, template: Option<Node<'_>>, overrides: &[(String, String)]) -> Result<Options, Diagnostics> {
    let _ = (version, template, overrides);
    todo!()
}

/// Reads a default condition mode, such as `incoming-host`, as an element of this kind takes it.
///
/// # Errors
/// `invalid-option` with the parts that the kind takes.
pub fn parse_mode(kind: Kind, text: &str) -> Result<Vec<Part>, Diagnostic> {
    let _ = (kind, text);
    todo!()
}
