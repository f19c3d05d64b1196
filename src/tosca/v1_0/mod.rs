//! TOSCA 1.0: documents in XML, what they define, and how that belongs together.

pub(crate) mod definitions;
mod library;
mod load;
mod read;
mod rule;
mod structure;

pub(crate) use library::{ComponentId, FoundComponent, Library};
pub(crate) use load::{DefinitionsExtent, LoadedDefinitions, load};
pub(crate) use rule::TOSCA;
pub(crate) use structure::by;
