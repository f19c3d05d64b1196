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
//! assert!(found.variants.iter().all(|variant| variant.present.contains(&"node.shop".to_owned())));
//! # Ok::<(), cuvee::Failure>(())
//! ```

mod analyze;
mod configure;
mod dimacs;
mod explain;
mod flags;
mod inputs;
pub mod matrix;
pub mod outline;
mod space;
mod types;
mod variants;

pub use analyze::{Analysis, IdleInput, Placed, Rejecting, Verdict};
pub use configure::{Clauses, Configurable, Configuration};
pub(crate) use dimacs::dimacs;
pub use explain::{Change, Explanation, Reason, ReasonKind};
pub use flags::{flag, flags};
pub use inputs::{CaseReport, InputReport, InputsReport};
pub use space::Projection;
pub(crate) use space::{Opened, Space, literal};
pub use variants::{Assigned, Count, Found, Goal, Query, RejectedPreset, Variant, Which};

use crate::Failure;
use crate::Resolver;
use crate::resolver::with_sources;
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::source::SourceMap;
use crate::variability::inputs::Openness;

/// What a question comes to, and what is to be said besides.
#[derive(Debug)]
pub struct Answer<T> {
    /// The answer.
    pub result: T,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
    /// The files that warnings point into.
    pub sources: SourceMap,
}

impl Resolver {
    /// Asks something about all variants, of all inputs or only of those that fulfil the rules
    /// between them.
    pub(crate) fn explore<T>(
        &self,
        openness: Openness,
        features: bool,
        ask: impl FnOnce(&mut Space<'_, '_>, &SourceMap, &mut Diagnostics) -> Result<T, Diagnostics>,
    ) -> Result<Answer<T>, Failure> {
        let ((result, warnings), sources) = with_sources(|sources| {
            self.with_prepared(
                openness,
                sources,
                &mut (),
                |prepared, sources, warnings, progress| {
                    let opened = Opened::new(prepared, features, progress)?;
                    ask(&mut Space::new(prepared, opened, progress)?, sources, warnings)
                },
            )
        })?;
        Ok(Answer { result, warnings: warnings.0, sources })
    }
}

/// What an author wrote over several lines, on one.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
