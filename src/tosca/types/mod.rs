//! Builds the types of a template on two levels. The lower level is the hierarchy, which refers to
//! types by ids. It consists of the parts of a type that it reads ([`outline`]), the index of
//! normative types ([`normative`]), the visibility of names in files ([`scope`]), the unification
//! of types with one name ([`unite`]), derivation ([`derive`]), and the meaning of names for
//! resolving ([`meaning`]) and for validating ([`unknown`]). The upper level is built on demand. It
//! has the type definitions as they are written ([`definition`]), the effective types
//! ([`effective`]), and what TOSCA 2.0 says of how these are narrowed ([`narrowing`]).

mod artifact;
mod check;
mod defined;
mod definition;
mod derive;
mod effective;
pub(crate) mod grammar;
mod hierarchy;
mod meaning;
mod narrowing;
mod normative;
mod outline;
pub mod profile;
mod report;
mod role;
pub(crate) mod schemas;
pub(crate) mod scope;
mod unite;
mod unknown;

pub(crate) use crate::tosca::family::Family;
pub(crate) use crate::tosca::grammar::Named;
pub(crate) use crate::tosca::value::PropertyDefinition;
pub(crate) use defined::KeptJudgements;
pub(crate) use defined::Refusals;
pub use defined::Types;
pub use definition::{
    ArtifactDefinition, CapabilityDefinition, InterfaceDefinition, Occurrences,
    OperationDefinition, RequirementDefinition, TypeDefinition, ValidEnds,
};
pub use effective::{EffectiveCapability, EffectiveInterface, EffectiveType, Part, Parts};
pub(crate) use hierarchy::TypeHierarchy;
pub use hierarchy::{TypeId, TypeRef};
pub(crate) use meaning::Meaning;
pub(crate) use outline::{MANAGEMENT_INTERFACE, has_management_operation, is_needed};
pub use report::{
    ArtifactReport, CapabilityReport, InterfaceReport, OperationReport, PartOrigin, PropertyReport,
    RequirementReport, Said, TriggerReport, TypeEntry, TypeReport, TypesReport,
};
pub(crate) use role::{HOSTED_BY_NAME, is_hosting_by_name};
pub(crate) use unite::ROOTS;

#[cfg(test)]
mod tests;
