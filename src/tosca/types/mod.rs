//! The types of a template, on two levels. Below is the hierarchy, by ids: what is read of a type
//! for it ([`outline`]), the index of normative types ([`normative`]), which files see which names
//! ([`scope`]), which types of one name are one ([`unite`]), what derives from what ([`derive`]), and
//! what names mean to whoever resolves ([`meaning`]) or judges ([`unknown`]). On top of it stand, for
//! whoever asks, how types are written ([`definition`]) and what they effectively are ([`effective`]).

mod artifact;
mod check;
mod defined;
mod definition;
mod derive;
mod effective;
pub(crate) mod grammar;
mod hierarchy;
mod meaning;
mod normative;
mod outline;
pub mod profile;
mod report;
pub(crate) mod schemas;
pub(crate) mod scope;
mod unite;
mod unknown;

pub(crate) use crate::tosca::family::Family;
pub(crate) use crate::tosca::grammar::Named;
pub(crate) use crate::tosca::value::PropertyDefinition;
pub use defined::Types;
pub use definition::{
    ArtifactDefinition, CapabilityDefinition, InterfaceDefinition, Occurrences,
    OperationDefinition, RequirementDefinition, TypeDefinition,
};
pub use effective::{EffectiveCapability, EffectiveInterface, EffectiveType, Part, Parts};
pub(crate) use hierarchy::TypeHierarchy;
pub use hierarchy::{TypeId, TypeRef};
pub(crate) use meaning::Meaning;
pub(crate) use outline::{has_management_operation, is_needed};
pub use report::{
    ArtifactReport, CapabilityReport, InterfaceReport, OperationReport, PartOrigin, PropertyReport,
    RequirementReport, Said, TypeEntry, TypeReport, TypesReport,
};

#[cfg(test)]
mod tests;
