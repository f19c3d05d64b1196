//! TOSCA 1.0: documents in XML, what they define, and how that belongs together.

pub(crate) mod definitions;
mod library;
mod load;
mod properties;
mod read;
mod rule;
mod structure;

pub(crate) use library::{ComponentId, FoundComponent, Library};
pub(crate) use load::{DefinitionsExtent, LoadedDefinitions, load};
pub(crate) use properties::{ExpectedProperties, PropertySchemas};
pub(crate) use rule::{TOSCA, WINERY};
pub(crate) use structure::by;
