//! Reads a template with its library and its imports. Each file is read once.

mod dependencies;
mod imports;
mod keys;
mod loaded;
mod mapping;
mod profiles;

pub(crate) use imports::{Imported, NeededImports};
pub use loaded::DocumentCache;
pub(crate) use loaded::{Extent, Loaded, TemplateLocation};
pub(crate) use mapping::{Mapping, below_one};
