//! Plans as text: for people, for programs, and for what runs them.

mod human;
mod json;
mod simulation;
mod words;

pub use human::{human, workflows};
pub use json::PlanDocument;
pub use simulation::simulated;
