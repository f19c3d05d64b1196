//! Parses the syntax of a variable service template and expands its short forms. No later module
//! has to examine YAML structures.
//!
//! Specification: "Service Template" to "Import Definition". The parts of TOSCA that variability
//! does not touch stay YAML nodes.

mod alternatives;
mod conditional;
mod entity;
mod imported;
mod misplaced;
mod misplaced_in_2_0;
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
pub(crate) use topology::{Import, NEWEST_VERSION, ServiceTemplate, parse};
pub(crate) use variability::{
    TechnologyRule, TypeSpecificCondition, TypeSpecificConditions, parse_answer, parse_rules,
    parse_type_specific_conditions,
};

pub(crate) use crate::tosca::{OLDER_VERSIONS, PLAIN_VERSION};

/// The type of an artifact that does not declare a type.
pub(crate) const DEFAULT_ARTIFACT_TYPE: &str = "tosca.artifacts.File";
