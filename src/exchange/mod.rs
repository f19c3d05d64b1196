//! Exchanges data with other tools: the formula of a template for solvers, and the feature model of
//! its inputs for feature-model editors.
//!
//! In a feature model, a boolean input is a feature of its name. An input with `valid_values` is a
//! feature `name =` with the alternatives `name = value`, each value as YAML writes it on one line.
//! Any other input is a feature with a value below the root, such as `Integer visitors`, if the
//! format has such features; otherwise a note says what is left out. The root `inputs` is abstract
//! and not an input.
//!
//! In the other direction, a feature becomes a boolean input. Its name is formed as for the
//! [configurations](crate::Resolver::inputs_file) of FeatureIDE: in lower case, with underscores
//! for spaces. Those configurations also choose values: if `name = value` is selected, the input is
//! assigned the value.
//!
//! All formats are written in linear time, except `amo`, `exo` and overlapping `alternatives` in
//! UVL. UVL has no operator for them, so each pair is excluded.

mod declared;
pub(crate) mod documents;
mod feature_ide;
mod formula;
mod imported;
mod logic;
mod model;
mod names;
mod uvl;

pub use cuvee_sat::dimacs::{DimacsFormula, WeightOverflow};
pub(crate) use declared::feature_model;
pub use feature_ide::read as read_feature_ide;
pub(crate) use formula::optimization;
pub use formula::overflowing;
pub use imported::{import, import_template};
pub use model::{
    Feature, FeatureGroup, FeatureId, FeatureModel, FeatureType, GroupKind, Proposition,
};
pub use uvl::read as read_uvl;

#[cfg(test)]
mod tests;
