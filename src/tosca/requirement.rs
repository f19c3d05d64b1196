//! Reads how often requirements are assigned: from `occurrences`, or from `count` and `optional`,
//! which later versions of TOSCA have.

use super::mapping::CountBounds;
use super::types::RequirementDefinition;
use super::v2_0;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, Scalar};

/// How often something occurs, in words.
pub(crate) fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// The number of relations that an assignment stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AssignedCount {
    /// The number of relations that have to exist.
    pub min: u64,
    /// The number of relations that may exist. `None` means as many as fit.
    pub max: Option<u64>,
    /// Whether the counts are written. What a function computes counts here as if it were not said.
    pub is_known: bool,
}

impl AssignedCount {
    /// Reads the counts of an assignment. A count that cannot be read is ignored.
    pub(crate) fn read(assignment: Node<'_>) -> Self {
        let said = |keyname| assignment.get(keyname).map(Node::to_value);
        Self::said(said("occurrences").as_ref(), said("count").as_ref(), said("optional").as_ref())
    }

    /// The same as [`Self::read`], from the values of these keynames.
    pub(crate) fn said(
        occurrences: Option<&Value>,
        count: Option<&Value>,
        optional: Option<&Value>,
    ) -> Self {
        if let Some(range) = occurrences.and_then(Self::range) {
            return range;
        }
        let is_known = count.is_none_or(|count| whole(count).is_some())
            && optional.is_none_or(|optional| matches!(optional, Value::Bool(_)));
        let count = count.and_then(whole).unwrap_or(1);
        let is_optional = optional == Some(&Value::Bool(true));
        Self { min: if is_optional { 0 } else { count }, max: Some(count), is_known }
    }

    /// A lower and an upper bound, where the value is a range.
    pub(crate) fn range(occurrences: &Value) -> Option<Self> {
        let Value::List(bounds) = occurrences else { return None };
        let [min, max] = &**bounds else { return None };
        let min = whole(min)?;
        match max.as_str() {
            Some("UNBOUNDED") => Some(Self { min, max: None, is_known: true }),
            _ => Some(Self { min, max: Some(whole(max)?.max(min)), is_known: true }),
        }
    }

    /// Whether there has to be a relation.
    pub(crate) fn is_certain(self) -> bool {
        self.min > 0 && self.is_known
    }

    /// The number of relations that may exist beyond the required ones. `None` means as many as
    /// fit.
    pub(crate) fn optional(self) -> Option<u64> {
        self.max.map(|max| max - self.min)
    }
}

fn whole(value: &Value) -> Option<u64> {
    if let Value::Number(number) = value { u64::try_from(number.as_int()?).ok() } else { None }
}

/// The value as a number of relations, where it is one.
pub(crate) fn count(node: Node<'_>) -> Option<u64> {
    match node.scalar()? {
        Scalar::Int(count) => u64::try_from(count).ok(),
        _ => None,
    }
}

/// How many nodes a template of TOSCA 2.0 stands for, if its number is written (section 7.2).
pub(crate) fn number_of(template: Node<'_>) -> Option<u64> {
    template.get("instance_count").map_or(Some(1), count)
}

/// How often a requirement occurs. The default is once (section 3.7.3.3), and in TOSCA 2.0 any
/// number of times (section 8.5).
pub(crate) fn bounds(definition: &RequirementDefinition<'_>) -> CountBounds {
    let default = match v2_0::is_of(definition.named.key.document()) {
        true => CountBounds { min: 0, max: None },
        false => CountBounds { min: 1, max: Some(1) },
    };
    definition.occurrences.map_or(default, |said| CountBounds { min: said.min, max: said.max })
}
