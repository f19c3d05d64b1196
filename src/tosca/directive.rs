//! Knows the directives of node templates, and of requirement and capability assignments.

use cuvee_text::yaml::Node;

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

    /// Whether a node template has the directive.
    pub(crate) fn is_said_by(self, template: Node<'_>) -> bool {
        let directives = template.get("directives").into_iter().flat_map(Node::items);
        directives.filter_map(Node::text).any(|word| Self::named(word) == Some(self))
    }

    /// Whether nodes of a template are selected from those that exist already and never created.
    pub(crate) fn selects(template: Node<'_>) -> bool {
        Self::Select.is_said_by(template) && !Self::Create.is_said_by(template)
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
