//! Questions about what is deployed: paths through a model, node filters, and functions of TOSCA.
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
//! `text` is anything without `/ [ ] , = ! < > ~ ' "`, and without `->`. All filters have to hold; one
//! without an operator asks whether there is something. `type=T` holds for all that derives from
//! `T`; `~` is a regular expression that matches somewhere; `!=` also holds where there is nothing.
//! Values compare as what both are: numbers, sizes, times, frequencies, bit rates, versions,
//! timestamps, else as texts.
//!
//! What is in a node, besides its `properties`, `attributes`, `capabilities`, `requirements`,
//! `links` and `metadata`, are `id`, `type`, `template`, `state`, `index`, `generation`, `tosca_id`
//! and `note`; of relations `id`, `name`, `source`, `target`, `capability`, `type`, `state`,
//! `position` and `hosting`. `members` of groups and `targets` of policies are the nodes themselves.

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
pub use function::query_function;
pub use parse::InstanceQuery;

/// Whether a type, the first, derives from another one; each derives from itself.
pub type DerivesFrom<'h> = &'h dyn Fn(&str, &str) -> bool;

/// How a model is read.
#[derive(Clone, Copy)]
pub struct ModelReading<'h> {
    /// Attributes of nodes between stable states are seen as well.
    pub unstable: bool,
    /// Secrets are seen, where the instance keeps them.
    pub reveal: bool,
    /// What derives from what.
    pub derives: DerivesFrom<'h>,
}

impl Default for ModelReading<'_> {
    /// What anybody may see; types derive from themselves only.
    fn default() -> Self {
        Self { unstable: false, reveal: false, derives: &|own, other| own == other }
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
