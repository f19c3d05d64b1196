//! Feature models as FeatureIDE keeps them in `model.xml`: a tree of `and`, `or`, `alt` and
//! `feature`, and rules below it.

mod read;
mod write;

pub use read::read;
