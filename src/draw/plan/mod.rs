//! Plans as text: for people, for programs, and for what runs them.

mod human;
mod json;
mod words;

pub use human::human;
pub use json::PlanDocument;
