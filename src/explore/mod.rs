//! Explores all variants of a template: which combinations of inputs exist, what each variant
//! contains, and why.
//!
//! Inputs that nothing assigns stay open. Their values fall into finitely many
//! [cases](InputReport::cases): sets of values that no condition distinguishes. A *variant* is a
//! distinct resolved topology under one of the [projections](Projection); property values do not
//! distinguish variants. Only results that `resolve` would give count: where it optimises, that is
//! the best variant of each assignment; an assignment that it rejects has no variant.
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
mod share;
mod space;
pub(crate) mod types;
pub(crate) mod variants;
mod wanted;
pub(crate) mod words;

pub use analyze::{Analysis, IdleInput, Placed, Rejecting, Verdict};
pub use configure::{Clauses, Configurable, Configuration, TypedValues};
pub use explain::{Change, Explanation, Reason, ReasonKind};
pub use flags::{flag, flags};
pub use inputs::{CaseReport, InputReport, InputsReport};
pub use names::{NamedInput, NamedPreset, Names};
pub(crate) use share::VariantShare;
pub use space::{Assigned, Projection};
pub(crate) use space::{Opened, Space, literal};
pub(crate) use variants::LightestVariant;
pub use variants::{Count, Found, Goal, Query, RejectedPreset, Variant, Which};
pub use wanted::WantedVariants;

pub use crate::variability::element::ElementKind;
pub use crate::variability::find::Optimum;
pub use cuvee_sat::progress;
pub use cuvee_text::answer::Answer;

/// A text that may span several lines, on one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
