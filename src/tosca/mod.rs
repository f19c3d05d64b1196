//! Implements the type system of TOSCA Simple Profile 1.3: type definitions, derivation, and
//! effective types.
//!
//! Not promised: may change with any version.
//!
//! [`Types::of`] reads the type definitions of documents. The first of these is usually
//! [`profile::normative`]. [`Types::effective`] gives all members of a type, including those that
//! it inherits. [`validate_types`] reports all errors in the types of a file.
//!
//! ```
//! use cuvee::source::FileId;
//! use cuvee::parts::tosca::{Family, Types, profile};
//! use cuvee::parts::yaml::{Limits, parse};
//!
//! let text = "node_types: {Shop: {derived_from: WebApplication, properties: {context_root: {default: /shop}}}}";
//! let document = parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap();
//! let types = Types::of([profile::normative(), &document]);
//! let shop = types.find(Family::Node, "Shop").unwrap();
//! let root = &types.effective(shop).properties["context_root"];
//! assert_eq!(root.definition.default.and_then(|value| value.as_str()), Some("/shop"));
//! assert_eq!(types.definition(root.refines.as_ref().unwrap().owner).name, "tosca.nodes.WebApplication");
//! ```

pub mod csar;
pub(crate) mod digest;
mod directive;
pub(crate) mod evaluate;
mod family;
pub(crate) mod filter;
pub(crate) mod fit;
pub(crate) mod function;
pub(crate) mod grammar;
pub(crate) mod import;
mod lifecycle;
pub(crate) mod load;
pub(crate) mod mapping;
pub(crate) mod meant;
pub(crate) mod reference;
pub(crate) mod requirement;
pub(crate) mod secrecy;
pub(crate) mod sensitive;
pub(crate) mod shape;
pub(crate) mod substitution;
pub(crate) mod types;
pub(crate) mod v1_0;
pub(crate) mod v2_0;
pub mod value;
pub(crate) mod workflow;
pub(crate) mod xml_schema;

pub(crate) use directive::{Directive, PermittedEnds};
pub use family::Family;
pub use grammar::Named;
pub use lifecycle::{LifecycleOperation, NodeState};
pub use types::profile;
pub use types::{
    ArtifactDefinition, ArtifactReport, CapabilityDefinition, CapabilityReport,
    EffectiveCapability, EffectiveInterface, EffectiveType, InterfaceDefinition, InterfaceReport,
    Occurrences, OperationDefinition, OperationReport, Part, PartOrigin, Parts, PropertyReport,
    RequirementDefinition, RequirementReport, Said, TriggerReport, TypeDefinition, TypeEntry,
    TypeId, TypeRef, TypeReport, Types, TypesReport, ValidEnds,
};
pub use v1_0::{DefinedPart, DefinedProperty, DefinedType, DefinedTypes, canonical_definitions};
pub use value::PropertyDefinition;

use crate::diagnostic::Diagnostics;
use cuvee_text::yaml::Document;

/// The version that every plain template and every result declares.
pub(crate) const PLAIN_VERSION: &str = "tosca_simple_yaml_1_3";

/// The versions of plain templates that are read as [`PLAIN_VERSION`]: version 1.3 still has nearly
/// everything that they define.
pub(crate) const OLDER_VERSIONS: [&str; 3] =
    ["tosca_simple_yaml_1_0", "tosca_simple_yaml_1_1", "tosca_simple_yaml_1_2"];

/// Reports all errors in the type definitions of these documents, except in the normative types.
///
/// The documents are whole files that belong together: a template and what it imports.
pub fn validate_types<'a>(documents: impl IntoIterator<Item = &'a Document>) -> Diagnostics {
    let normative = profile::normative();
    let others = documents.into_iter().filter(|document| !std::ptr::eq(*document, normative));
    Types::of(std::iter::once(normative).chain(others)).validate()
}

#[cfg(test)]
mod tests;
