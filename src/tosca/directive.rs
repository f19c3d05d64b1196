//! Knows the directives of node templates, and of requirement and capability assignments.

/// How a node comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directive {
    /// The orchestrator creates it.
    Create,
    /// It is chosen among existing nodes.
    Select,
    /// Another template takes its place.
    Substitute,
}

impl Directive {
    /// The directive of this name, also of one that is deprecated (section 3.4.3).
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "create" => Self::Create,
            "select" | "selectable" => Self::Select,
            "substitute" | "substitutable" => Self::Substitute,
            _ => return None,
        })
    }

    /// The name of the directive.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Select => "select",
            Self::Substitute => "substitute",
        }
    }
}

/// Which nodes can be at the other end of a relation, and which are preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PermittedEnds {
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
    /// The ends that the directives of an assignment permit (TOSCA 2.0, sections 8.4 and 8.7).
    pub(crate) fn of<'n>(mut directives: impl Iterator<Item = &'n str> + Clone) -> Self {
        let names = |name: &str| directives.clone().any(|it| it == name);
        match (names("internal"), names("external")) {
            (true, false) => Self::Internal,
            (false, true) => Self::External,
            _ if directives.next() == Some("external") => Self::ExternalFirst,
            _ => Self::InternalFirst,
        }
    }

    /// Whether nodes of the template are permitted, or existing ones.
    pub(crate) fn permits(self, is_external: bool) -> bool {
        self != if is_external { Self::Internal } else { Self::External }
    }

    /// The nodes that are permitted, in words.
    pub(crate) fn permitted(self) -> &'static str {
        match self {
            Self::Internal => "nodes of the template",
            Self::External => "existing nodes",
            Self::InternalFirst | Self::ExternalFirst => "all nodes",
        }
    }
}
