//! Knows the directives of node templates.

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
