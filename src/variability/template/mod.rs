//! The syntax of a variable service template, with shorthands resolved: after this module nobody
//! matches YAML shapes.
//!
//! Specification: "Service Template" to "Import Definition". What TOSCA knows and variability does
//! not touch stays in its YAML node.

mod alternatives;
mod conditional;
mod entity;
mod imported;
mod plain;
pub(crate) mod shape;
mod topology;
mod variability;
#[cfg(test)]
pub(crate) mod vocabulary;

pub(crate) use alternatives::choose_default_alternatives;
pub(crate) use conditional::{Declared, ElementSettings, Implied};
pub(crate) use entity::{
    Artifact, Group, Member, NODE_PARTS, NodeTemplate, Parameter, Policy, Property, PropertyValue,
    RELATIONSHIP_PARTS, REQUIREMENT_PARTS, RelationshipTemplate, Requirement, Technology,
    TypeAssignment, is_read_as_wrapped,
};
pub(crate) use imported::{ImportedTopology, has_topology};
pub(crate) use shape::is_keyword;
pub(crate) use topology::{Import, ServiceTemplate, parse};
pub(crate) use variability::{
    TechnologyRule, TypeSpecificCondition, TypeSpecificConditions, parse_rules,
    parse_type_specific_conditions,
};

pub(crate) use crate::tosca::{OLDER_VERSIONS, PLAIN_VERSION};

/// The type of an artifact that declares none.
pub(crate) const DEFAULT_ARTIFACT_TYPE: &str = "tosca.artifacts.File";
