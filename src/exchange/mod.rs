//! Exchange with other tools: the formula of a template for solvers, and the feature model of its
//! inputs for feature-model editors.
//!
//! In a feature model, an input that is true or false is a feature of its name. An input with
//! `valid_values` is a feature `name =` with the alternatives `name = value`, each value as YAML
//! writes it in one line. Any other input is a feature with a value below the root, `Integer
//! visitors`, where the format has such; else a note says what is left out. The root `inputs` is
//! abstract and no input.
//!
//! The other way round, a feature is a boolean input named as the
//! [configurations](crate::Resolver::inputs_file) of FeatureIDE are read: in lower case, with
//! underscores for spaces. Those configurations choose values, too: that `name = value` is selected
//! assigns the value.
//!
//! All formats are written in linear time, but for `amo`, `exo` and crossing `alternatives` in UVL,
//! which has no operator for them: there each pair is excluded.

mod declared;
mod feature_ide;
mod formula;
mod imported;
mod logic;
mod model;
mod names;
mod uvl;

pub use crate::sat::dimacs::{DimacsFormula, WeightOverflow};
pub(crate) use declared::feature_model;
pub use feature_ide::read as read_feature_ide;
pub(crate) use formula::optimization;
pub use imported::{import, import_template};
pub use model::{
    Feature, FeatureGroup, FeatureId, FeatureModel, FeatureType, GroupKind, Proposition,
};
pub use uvl::read as read_uvl;

#[cfg(test)]
mod tests;
