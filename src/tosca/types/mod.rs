//! The types of a template: their names and what derives from what ([`hierarchy`]), which files see
//! which names ([`scope`]), how they are written ([`definition`]), and what they effectively are
//! ([`effective`]).

mod check;
mod definition;
mod effective;
mod family;
mod hierarchy;
mod report;
pub(crate) mod schemas;
pub(crate) mod scope;

pub use definition::{
    ArtifactDefinition, CapabilityDefinition, Constraint, InterfaceDefinition, Named, Occurrences,
    OperationDefinition, PropertyDefinition, RequirementDefinition, SchemaDefinition,
    TypeDefinition,
};
pub use effective::{EffectiveCapability, EffectiveInterface, EffectiveType, Part, Parts};
pub use family::Family;
pub use hierarchy::{TypeId, TypeRef, Types};
pub use report::{
    ArtifactReport, CapabilityReport, InterfaceReport, OperationReport, Origin, PropertyReport,
    RequirementReport, Said, TypeEntry, TypeReport, TypesReport,
};
