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
pub(crate) use load::{DefinitionsExtent, LoadedDefinitions, load, load_written};
pub(crate) use path::property_steps;
pub(crate) use properties::{ExpectedProperties, PropertySchemas};
pub(crate) use report::defined_types;
pub use report::{DefinedPart, DefinedProperty, DefinedType, DefinedTypes};
pub(crate) use rule::{AttributeKind, DEFINITIONS, ElementRule, TOPOLOGY_TEMPLATE, TOSCA, WINERY};
pub(crate) use structure::by;
