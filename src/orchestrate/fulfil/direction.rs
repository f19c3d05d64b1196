//! Reads the directives of requirement and capability assignments (TOSCA 2.0, sections 8.4 and 8.7).

use crate::topology::Spanned;

/// Which nodes can be at the other end of a relation, and which are preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum PermittedEnds {
    /// Nodes of the template, otherwise existing ones.
    InternalFirst,
    /// Existing nodes, otherwise those of the template.
    ExternalFirst,
    /// Only nodes of the template.
    Internal,
    /// Only existing nodes.
    External,
}

impl PermittedEnds {
    pub(super) fn of(directives: &[Spanned<String>]) -> Self {
        let names = |name: &str| directives.iter().any(|it| it.value == name);
        match (names("internal"), names("external")) {
            (true, false) => Self::Internal,
            (false, true) => Self::External,
            _ if directives.first().is_some_and(|first| first.value == "external") => {
                Self::ExternalFirst
            }
            _ => Self::InternalFirst,
        }
    }

    /// Whether nodes of the template are permitted, or existing ones.
    pub(super) fn permits(self, is_external: bool) -> bool {
        self != if is_external { Self::Internal } else { Self::External }
    }

    /// The nodes that are permitted, in words.
    pub(super) fn permitted(self) -> &'static str {
        match self {
            Self::Internal => "nodes of the template",
            Self::External => "existing nodes",
            Self::InternalFirst | Self::ExternalFirst => "all nodes",
        }
    }
}
