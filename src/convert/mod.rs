//! TOSCA 1.0 into TOSCA Simple Profile 1.3, and back: what a document says is said in the other
//! format, or is in a report of what could not be.

mod loss;

pub use loss::{Loss, LossEntry, LossKind, LossReport, Losses};
