//! The names of a model that is being read, and what is wrong with one.

use super::model::{FeatureId, FeatureModel, FeatureType, MAX_DEPTH, Proposition};
use crate::text::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::text::source::Span;
use rustc_hash::FxHashMap;

/// The features by name.
#[derive(Default)]
pub(super) struct FeatureNames(FxHashMap<String, FeatureId>);

impl FeatureNames {
    /// Takes note of a feature.
    ///
    /// # Errors
    /// `duplicate` where there is one of that name, `invalid-input` where it has none.
    pub(super) fn declare(
        &mut self,
        model: &FeatureModel,
        id: FeatureId,
    ) -> Result<(), Diagnostic> {
        let Some(feature) = model.feature(id) else { return Ok(()) };
        if feature.name.trim().is_empty() {
            return Err(
                Diagnostic::error(Code::InvalidInput, "a feature has no name").at(feature.span)
            );
        }
        let Some(first) = self.0.insert(feature.name.clone(), id) else { return Ok(()) };
        let error = Diagnostic::error(
            Code::Duplicate,
            format!("there are two features `{}`", feature.name),
        )
        .at(feature.span);
        Err(match model.feature(first).and_then(|first| first.span) {
            Some(span) => error.label(span, "this is the first one"),
            None => error,
        })
    }

    /// Whether there is a feature of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// What it means that a feature is selected. One with a value is always there.
    ///
    /// # Errors
    /// `invalid-input` where there is no such feature.
    pub(super) fn find(
        &self,
        model: &FeatureModel,
        name: &str,
        span: Span,
    ) -> Result<Proposition, Diagnostic> {
        match self.0.get(name) {
            Some(&id)
                if model
                    .feature(id)
                    .is_some_and(|feature| feature.kind != FeatureType::Boolean) =>
            {
                Ok(Proposition::Constant(true))
            }
            Some(&id) => Ok(Proposition::Feature(id)),
            None => {
                // In the order of the model, so that the suggestion is the same every time.
                let names = model.features().map(|(_, feature)| feature.name.as_str());
                Err(Diagnostic::error(Code::InvalidInput, format!("there is no feature `{name}`"))
                    .at(span)
                    .help_opt(did_you_mean(name, names)))
            }
        }
    }
}

/// The model is not well-formed.
pub(super) fn syntax(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::Syntax, message).at(span)
}

/// The model is well-formed and says what variability inputs cannot.
pub(super) fn unsupported(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error(
        Code::InvalidInput,
        format!("{what} cannot be imported as variability inputs"),
    )
    .at(span)
}

/// A proposition that nests too deep.
pub(super) fn too_deep(span: Span) -> Diagnostic {
    syntax(span, format!("this nests deeper than {MAX_DEPTH} levels"))
        .help("split the constraint in several")
}
