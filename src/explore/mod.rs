//! Explores all variants of a template: which combinations of inputs exist, what each contains, and
//! why.
//!
//! Inputs that nothing assigns stay open and become finitely many [cases](InputReport::cases):
//! values that no condition tells apart. A *variant* is a distinct resolved topology, for one of
//! the [projections](Projection); what values of properties come to does not distinguish variants.
//! Only what `resolve` would give counts: where it optimises, the best variant of each assignment;
//! where it rejects an assignment, none.
//!
//! ```
//! use cuvee::Resolver;
//! use cuvee::explore::{Projection, Query};
//!
//! let shop = Resolver::new("examples/shop").preset("prod");
//! let found = shop.variants(&Query { projection: Projection::Nodes, limit: 3, ..Query::default() })?.result;
//! assert!(found.variants.iter().all(|variant| variant.present.contains(&"node.shop".into())));
//! # Ok::<(), cuvee::Failure>(())
//! ```

pub(crate) mod analyze;
pub(crate) mod configure;
mod cycle;
pub(crate) mod explain;
mod flags;
mod inputs;
pub mod matrix;
mod names;
pub mod outline;
mod space;
pub(crate) mod types;
pub(crate) mod variants;
pub(crate) mod words;

pub use analyze::{Analysis, IdleInput, Placed, Rejecting, Verdict};
pub use configure::{Clauses, Configurable, Configuration, TypedValues};
pub use explain::{Change, Explanation, Reason, ReasonKind};
pub use flags::{flag, flags};
pub use inputs::{CaseReport, InputReport, InputsReport};
pub use names::{NamedInput, NamedPreset, Names};
pub use space::{Assigned, Projection};
pub(crate) use space::{Opened, Space, literal};
pub(crate) use variants::LightestVariant;
pub use variants::{Count, Found, Goal, Query, RejectedPreset, Variant, Which};

pub use crate::text::answer::Answer;

/// What an author wrote over several lines, on one.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
