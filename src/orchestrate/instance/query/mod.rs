//! Queries what is deployed: by paths through a model, node filters, and functions of TOSCA.
//!
//! A path begins with a collection of the model and goes on in steps:
//!
//! ```text
//! path       = collection filters* step*
//! collection = nodes | groups | policies | relations | inputs | outputs | metadata
//! step       = "/" name filters*           into what was found: by name, or by position in a list
//!            | axis name filters*          along relations, by the name of their requirement
//! axis       = "->"                        to targets
//!            | "<-"                        back to sources
//!            | "->>" | "<<-"               the same as often as it goes on
//! name       = "*" | text | quoted
//! filters    = "[" filter { "," filter } "]"
//! filter     = name { "/" name } [ operator value ]
//! operator   = "=" | "!=" | "<" | "<=" | ">" | ">=" | "~"
//! value      = "*" | text | quoted
//! quoted     = "'" ... "'" | '"' ... '"'   a quote in it is written twice
//! ```
//!
//! `text` is anything without `/ [ ] , = ! < > ~ ' "`, and without `->`. All filters have to hold.
//! A filter without an operator holds if the value exists. `type=T` holds for all types derived
//! from `T`; `~` is a regular expression that matches anywhere in the text; `!=` also holds for a
//! missing value. Values are compared as numbers, sizes, times, frequencies, bit rates, versions or
//! timestamps if both are such, otherwise as texts.
//!
//! Besides `properties`, `attributes`, `capabilities`, `requirements`, `links` and `metadata` a
//! node has `id`, `type`, `template`, `state`, `index`, `generation`, `tosca_id` and `note`. A
//! relation has `id`, `name`, `source`, `target`, `capability`, `type`, `state`, `position` and
//! `hosting`. `members` of groups and `targets` of policies are the nodes themselves.

mod compare;
mod evaluate;
mod filter;
mod function;
mod parse;
mod place;
#[cfg(test)]
mod tests;

pub use evaluate::{QueryAnswer, QueryRow};
pub use filter::query_by_filter;
#[cfg(feature = "cli")]
pub(crate) use function::{FunctionOwner, query_value_of};
pub(crate) use function::{computed_inputs, computed_outputs, holds_secret};
pub use function::{query_function, query_value};
pub use parse::InstanceQuery;

use super::shown::OpenSecret;
use crate::topology::sensitive::InstanceValue;
use crate::tosca::value::TextType;

/// Whether the first type derives from the second one; each type derives from itself.
pub type DerivesFrom<'h> = &'h dyn Fn(&str, &str) -> bool;

/// Gives the path of an artifact of a node.
pub type ArtifactPath<'h> = &'h dyn Fn(&str, &str) -> Option<String>;

/// What the type of a value makes of texts in it: whether they are versions, timestamps, bytes or
/// amounts with units.
#[derive(Clone, Debug)]
pub struct TypedForm(pub(crate) TextType);

/// Gives the form of a part of a value, at the end of a path of names and positions.
pub type FormOfValue<'h> = &'h dyn Fn(&InstanceValue<'_>, &[String]) -> Option<TypedForm>;

/// Is told of an attribute without a value: the node, or the keyword or name that was to lead to it,
/// and the name of the attribute, behind that of its capability if one has it.
pub type LackingAttribute<'h> = &'h dyn Fn(&str, &str);

/// The rights and types with which a model is read.
#[derive(Clone, Copy)]
pub struct ModelReading<'h> {
    /// Whether attributes of nodes in transitional states are visible.
    pub unstable: bool,
    /// Whether secrets are visible, if the instance keeps them.
    pub reveal: bool,
    /// The derivation between types.
    pub derives: DerivesFrom<'h>,
    /// The forms of values, by which functions of TOSCA 2.0 compare and count them.
    pub forms: Option<FormOfValue<'h>>,
    /// Opens secrets for a reader who knows them.
    pub open: Option<OpenSecret<'h>>,
    /// Gives the path of an artifact of a node, for a reader who has the files.
    pub artifacts: Option<ArtifactPath<'h>>,
    /// Is told of attributes that functions need and that have no value.
    pub lacking: Option<LackingAttribute<'h>>,
}

impl Default for ModelReading<'_> {
    /// The defaults show what anybody may see; types derive from themselves only.
    fn default() -> Self {
        let derives = &|own: &str, other: &str| own == other;
        Self {
            unstable: false,
            reveal: false,
            derives,
            forms: None,
            open: None,
            artifacts: None,
            lacking: None,
        }
    }
}

impl std::fmt::Debug for ModelReading<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("ModelReading");
        debug
            .field("unstable", &self.unstable)
            .field("reveal", &self.reveal)
            .finish_non_exhaustive()
    }
}
