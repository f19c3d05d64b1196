//! Represents the elements of a variable service template as a graph, with ids instead of names.
//!
//! After [`build`] no name is looked up any more, except if an expression names an element.

mod build;
mod element;
pub(crate) mod index;
mod lookup;
mod references;

pub(crate) use build::VARIABILITY_GROUPS;
pub(crate) use build::{build, no_target};
pub(crate) use element::{
    ArtifactElement, Element, ElementId, Graph, GroupElement, GroupId, Implementation, NodeElement,
    NodeId, PolicyElement, PropertyElement, RelationElement, RelationId, Requires, Target,
    TechnologyElement, identifier, names_in_identifier,
};
pub(crate) use lookup::{LookupStep, NodeCopies};
pub(crate) use references::{Reference, calls_eval};
