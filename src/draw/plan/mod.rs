//! Writes plans as text: for people, for programs, and for tools that run them.

mod bpmn;
mod dot;
mod human;
mod json;
mod make;
mod mermaid;
mod picture;
mod simulation;
mod svg;
mod visible;
mod words;
mod yaml;

pub use bpmn::bpmn;
pub use dot::dot;
pub(crate) use human::{ToldPlan, ToldStep, told, told_apart};
pub use human::{human, workflows};
pub use json::PlanDocument;
pub use make::make;
pub use mermaid::mermaid;
pub use simulation::simulated;
pub use svg::svg;
pub use yaml::yaml;
