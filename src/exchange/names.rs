//! Finds features of a model by name while it is read, and words the errors of readers.

use super::model::{FeatureId, FeatureModel, FeatureType, MAX_DEPTH, Proposition};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use cuvee_text::source::Span;
use rustc_hash::FxHashMap;

/// The features, by name.
#[derive(Default)]
pub(super) struct FeatureNames(FxHashMap<String, FeatureId>);

impl FeatureNames {
    /// Adds a feature.
    ///
    /// # Errors
    /// `duplicate` if there is already a feature of that name, `invalid-input` if the name is
    /// empty.
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

    /// Whether a feature of this name exists.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The proposition that a feature is selected; an always-selected feature with a value is true.
    ///
    /// # Errors
    /// `invalid-input` if there is no such feature.
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
                // The names are in the order of the model, so that the suggestion is always the
                // same.
                let names = model.features().map(|(_, feature)| feature.name.as_str());
                Err(Diagnostic::error(Code::InvalidInput, format!("there is no feature `{name}`"))
                    .at(span)
                    .help_opt(did_you_mean(name, names)))
            }
        }
    }
}

/// The error that the model is not well-formed.
pub(super) fn syntax(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::Syntax, message).at(span)
}

/// The error that the model contains something that variability inputs cannot express.
pub(super) fn unsupported(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error(
        Code::InvalidInput,
        format!("{what} cannot be imported as variability inputs"),
    )
    .at(span)
}

/// The error that a proposition is nested too deep.
pub(super) fn too_deep(span: Span) -> Diagnostic {
    syntax(span, format!("this nests deeper than {MAX_DEPTH} levels"))
        .help("split the constraint in several")
}
