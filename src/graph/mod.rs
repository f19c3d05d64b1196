//! The elements of a variable service template, with ids for names.
//!
//! After [`build`] no name is looked up any more, except where an expression names an element.

mod build;
mod element;
mod lookup;
mod references;

pub use build::build;
pub use element::{
    ArtifactElement, Element, ElementId, GroupElement, GroupId, Implementation, ImportElement, NodeElement, NodeId, OutputElement,
    PolicyElement, PropertyElement, RelationElement, RelationId, Requires, Target, TechnologyElement, TypeElement,
};
pub use element::{Graph, InputElement, identifier};
pub use lookup::{Lookup, Step};
pub use references::Reference;
