//! Lists the kinds of elements that may have conditions.

use super::words::named;

named! {
    /// The kinds of conditional elements.
    pub enum ElementKind {
        /// A topology template input.
        Input "input",
        /// A topology template output.
        Output "output",
        /// A node template.
        Node "node",
        /// A requirement assignment.
        Relation "relation",
        /// A property assignment.
        Property "property",
        /// An artifact.
        Artifact "artifact",
        /// A type assignment.
        Type "type",
        /// A deployment technology.
        Technology "technology",
        /// A group.
        Group "group",
        /// A policy.
        Policy "policy",
        /// An import.
        Import "import",
    }
}

impl ElementKind {
    /// The plural of the kind's name.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Input => "inputs",
            Self::Output => "outputs",
            Self::Node => "nodes",
            Self::Relation => "relations",
            Self::Property => "properties",
            Self::Artifact => "artifacts",
            Self::Type => "types",
            Self::Technology => "technologies",
            Self::Group => "groups",
            Self::Policy => "policies",
            Self::Import => "imports",
        }
    }
}
