//! Reads and writes feature models in the format of FeatureIDE's `model.xml`: a tree of `and`,
//! `or`, `alt` and `feature`, followed by rules.

mod read;
mod write;

pub use read::read;
