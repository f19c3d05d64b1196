//! Defines the closed vocabularies of options: aspects, parts and the words that options accept.

use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::variability::element::ElementKind;
use crate::variability::words::named;

named! {
    /// The aspects of default conditions and pruning.
    pub enum Aspect {
        /// Keeps the result well-formed.
        Consistency "consistency",
        /// Keeps the result meaningful.
        Semantic "semantic",
    }
}

named! {
    /// A part of a default condition mode, such as `incoming` in `incoming-host`.
    #[expect(missing_docs, reason = "each is the keyword of the specification's table")]
    pub enum ModePart {
        Source "source",
        Target "target",
        Incoming "incoming",
        IncomingNaive "incomingnaive",
        Outgoing "outgoing",
        OutgoingNaive "outgoingnaive",
        Host "host",
        Artifact "artifact",
        ArtifactNaive "artifactnaive",
        Container "container",
        Consuming "consuming",
        Managed "managed",
        Other "other",
        Scenario "scenario",
        Produced "produced",
        Default "default",
    }
}

named! {
    /// The direction of an optimization.
    pub enum Optimization {
        /// No optimization: every variant is acceptable.
        Off "false",
        /// The minimum.
        Min "min",
        /// The maximum.
        Max "max",
    }
}

named! {
    /// The measure of the optimization of the topology.
    pub enum TopologyMode {
        /// The number of present nodes.
        Count "count",
        /// The sum of their weights.
        Weight "weight",
    }
}

named! {
    /// The measure of the optimization of technologies.
    pub enum TechnologiesMode {
        /// The number of different technologies.
        Count "count",
        /// The sum of the weights of present technologies.
        Weight "weight",
        /// The weight, and among equal weights the number.
        WeightCount "weight-count",
    }
}

named! {
    /// The pattern of the name of the type that a technology assigns to its node, if its rule does
    /// not name the type.
    pub enum AssignPattern {
        /// `<type>~<component>[#<artifact>]::<technology>[@<hosting>]`
        Vintner "vintner",
        /// `<type>.<technology>[.<host>]`, the pattern of the specification.
        Dotted "dotted",
    }
}

impl ElementKind {
    /// The parts of its default condition mode; empty for a kind with a single default condition.
    pub const fn parts(self) -> &'static [ModePart] {
        use ModePart::*;
        match self {
            Self::Node => &[
                Source,
                Incoming,
                IncomingNaive,
                Outgoing,
                OutgoingNaive,
                Host,
                Artifact,
                ArtifactNaive,
            ],
            Self::Relation => &[Source, Target, Default],
            Self::Property => &[Container, Consuming, Default],
            Self::Artifact => &[Container, Managed, Default],
            Self::Technology => &[Container, Other, Scenario, Default],
            Self::Output => &[Produced, Default],
            Self::Input | Self::Type | Self::Group | Self::Policy | Self::Import => &[],
        }
    }

    /// An alternative name of one of its parts, which the specification also uses.
    pub(super) const fn part_alias(self) -> Option<(&'static str, ModePart)> {
        match self {
            Self::Node => Some(("relation", ModePart::Incoming)),
            Self::Artifact => Some(("technology", ModePart::Managed)),
            _ => None,
        }
    }

    fn part(self, word: &str) -> Option<ModePart> {
        let named = self.parts().iter().copied().find(|part| part.as_str() == word);
        named
            .or_else(|| self.part_alias().filter(|&(alias, _)| alias == word).map(|(_, part)| part))
    }
}

/// Reads a default condition mode, such as `incoming-host`, for an element of this kind. The parts
/// may have any order, and none may occur twice.
///
/// ```
/// use cuvee::explore::ElementKind;
/// use cuvee::options::{ModePart, parse_mode};
/// let parts = parse_mode(ElementKind::Node, "host-incoming")?;
/// assert_eq!(parts, [ModePart::Host, ModePart::Incoming]);
/// assert!(parse_mode(ElementKind::Relation, "host").is_err());
/// # Ok::<(), cuvee::diagnostic::Diagnostic>(())
/// ```
///
/// # Errors
/// `invalid-option` without a place, with the parts that the kind accepts.
pub fn parse_mode(kind: ElementKind, text: &str) -> Result<Vec<ModePart>, Diagnostic> {
    let known = kind.parts();
    let error =
        |message: String| Diagnostic::error(Code::InvalidOption, message).help(mode_help(kind));
    if known.is_empty() {
        return Err(error(format!("{} have no default condition mode", kind.plural())));
    }
    let mut parts = Vec::with_capacity(known.len());
    for word in text.split('-') {
        let part = kind.part(word).ok_or_else(|| {
            let guess = did_you_mean(word, known.iter().map(|part| part.as_str()));
            let guess = guess.map(|guess| guess.and(&mode_help(kind)));
            error(format!("`{word}` is no part of a default condition mode of {}", kind.plural()))
                .help_opt(guess)
        })?;
        if parts.contains(&part) {
            return Err(error(format!(
                "the default condition mode `{text}` has the part `{part}` twice"
            )));
        }
        parts.push(part);
    }
    Ok(parts)
}

fn mode_help(kind: ElementKind) -> String {
    match kind.parts() {
        [] => "remove it".to_owned(),
        parts => format!(
            "a mode has to be one or more of {}, joined with `-`",
            quoted(parts.iter().map(|part| part.as_str()))
        ),
    }
}

/// The names in backticks, separated by commas: `` `a`, `b` ``
pub(super) fn quoted<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
