//! How often requirements are assigned, as it is written: by `occurrences`, or by `count` and
//! `optional`, which later versions of TOSCA have.

use super::mapping::CountBounds;
use super::types::{Occurrences, RequirementDefinition};
use crate::text::yaml::{Node, Scalar};

/// For how many relations an assignment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AssignedCount {
    /// So many have to be there.
    pub min: u64,
    /// So many may be there; nothing for as many as fit.
    pub max: Option<u64>,
}

impl AssignedCount {
    /// What an assignment says of that; what cannot be read says nothing.
    pub(crate) fn read(assignment: Node<'_>) -> Self {
        let occurrences = assignment.get("occurrences").and_then(Occurrences::read);
        if let Some(Occurrences { min, max, .. }) = occurrences {
            return Self { min, max };
        }
        let count = assignment.get("count").and_then(count).unwrap_or(1);
        let is_optional = assignment.get("optional").and_then(Node::as_bool).unwrap_or(false);
        Self { min: if is_optional { 0 } else { count }, max: Some(count) }
    }
}

/// A number of relations, where it is one.
pub(crate) fn count(node: Node<'_>) -> Option<u64> {
    match node.scalar()? {
        Scalar::Int(count) => u64::try_from(count).ok(),
        _ => None,
    }
}

/// How often a requirement occurs: where nothing is said, once (section 3.7.3.3).
pub(crate) fn bounds(definition: &RequirementDefinition<'_>) -> CountBounds {
    definition.occurrences.map_or(CountBounds { min: 1, max: Some(1) }, |said| CountBounds {
        min: said.min,
        max: said.max,
    })
}
