//! Reads TOSCA 1.0: XML documents, their definitions, and the links between these.

mod canonical;
pub(crate) mod definitions;
mod library;
mod load;
mod path;
mod properties;
mod read;
mod report;
mod rule;
mod structure;

pub use canonical::canonical_definitions;
pub(crate) use canonical::canonical_element;
pub(crate) use library::{ComponentId, FoundComponent, Library};
pub(crate) use load::{DefinitionsExtent, LoadedDefinitions, load};
pub(crate) use path::property_steps;
pub(crate) use properties::{ExpectedProperties, PropertySchemas};
pub(crate) use report::defined_types;
pub use report::{DefinedPart, DefinedProperty, DefinedType, DefinedTypes};
#[cfg(test)]
pub(crate) use rule::{DEFINITIONS, ElementRule};
pub(crate) use rule::{TOSCA, WINERY};
pub(crate) use structure::by;
