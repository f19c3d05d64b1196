//! Resolves variability options: every option has a value and an origin.
//!
//! The layers are, from lowest to highest precedence: the built-in defaults, the release preset of
//! the definitions version, the edition, the pruning mode, the template, and the command line.
//! Between options of one family, the more specific one wins, whatever their layers: kind and
//! aspect, then kind, then aspect of all kinds, then all. What a release or an edition sets only
//! `otherwise` gives way to a wider option of the author.

mod explicit;
mod names;
mod presets;
mod settings;
mod table;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod vocabulary;

pub(crate) use explicit::ExplicitOption;
pub use names::{
    Aspect, AssignPattern, ModePart, Optimization, TechnologiesMode, TopologyMode, parse_mode,
};
pub use table::{Check, Constraint, Flag};

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::variability::element::ElementKind;
use cuvee_text::source::{SourceMap, Span};
use cuvee_text::yaml::Node;
use settings::{OptionSettings, Setting};
use std::array::from_fn;
use std::borrow::Cow;
use table::{ChoiceOption, Ignored, OptionKey, SwitchFamily, TABLE, Takes};

/// The name of the option that selects the edition of the specification.
pub(crate) const EDITION: &str = ChoiceOption::Edition.as_str();

/// The origin of an option's value, in the order of layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionOrigin {
    /// The built-in default, because no layer sets the option.
    BuiltIn,
    /// The release preset of this definitions version.
    Release(&'static str),
    /// The edition of this name.
    Edition(&'static str),
    /// The pruning mode of this name.
    Mode(&'static str),
    /// The template, at this place.
    Template(Span),
    /// The command line or the library call.
    CommandLine,
}

impl OptionOrigin {
    fn layer(self) -> u8 {
        match self {
            Self::BuiltIn => 0,
            Self::Release(_) => 1,
            Self::Edition(_) => 2,
            Self::Mode(_) => 3,
            Self::Template(_) => 4,
            Self::CommandLine => 5,
        }
    }

    /// Whether the author of the template or of the call sets the option.
    fn is_of_author(self) -> bool {
        matches!(self, Self::Template(_) | Self::CommandLine)
    }

    /// The origin of the later layer.
    fn later(self, other: Self) -> Self {
        if other.layer() > self.layer() { other } else { self }
    }

    /// The origin in words: `built-in`, `release …`, `edition …`, `mode …`, `shop.yaml:4:9`,
    /// `command line`.
    pub fn describe(self, sources: &SourceMap) -> String {
        match self {
            Self::BuiltIn => "built-in".to_owned(),
            Self::Release(name) => format!("release {name}"),
            Self::Edition(name) => format!("edition {name}"),
            Self::Mode(name) => format!("mode {name}"),
            Self::Template(span) => {
                let at = sources.location(span);
                format!("{}:{}:{}", at.path.display(), at.line, at.column)
            }
            Self::CommandLine => "command line".to_owned(),
        }
    }
}

/// The value of a switch and its origin.
#[derive(Clone, Copy, Debug)]
struct Decided {
    on: bool,
    origin: OptionOrigin,
}

/// The values of both aspects for each kind.
type Switches = [[Decided; Aspect::COUNT]; ElementKind::COUNT];

/// All resolved options. Every query is a single array access.
#[derive(Clone, Debug)]
pub struct Options {
    settings: OptionSettings,
    warnings: Diagnostics,
    default_condition: Switches,
    pruning: Switches,
    modes: [Vec<ModePart>; ElementKind::COUNT],
    checks: [bool; Check::ALL.len()],
    constraints: [Decided; Constraint::ALL.len()],
    flags: [bool; Flag::ALL.len()],
    topology: Optimization,
    topology_mode: TopologyMode,
    technologies: Optimization,
    technologies_mode: TechnologiesMode,
    assign_pattern: AssignPattern,
}

/// An entry of [`Options::list`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OptionEntry {
    /// The name of the option.
    pub name: &'static str,
    /// The effective value, as a template would write it.
    pub value: Cow<'static, str>,
    /// The origin of the value; for an option that follows a wider one, the origin of that one's
    /// value.
    pub origin: OptionOrigin,
    /// The effect of the option.
    pub description: &'static str,
}

/// Resolves the layers of options.
///
/// `template` is the node of `variability.options`. `overrides` come from the command line, in its
/// order; their values are read as YAML scalars.
///
/// ```
/// use cuvee::explore::ElementKind;
/// use cuvee::options::{OptionOrigin, resolve};
/// let asked = [("node_pruning".to_owned(), "true".to_owned())];
/// let options = resolve("tosca_variability_1_0", None, &asked)?;
/// assert!(options.pruning_enabled(ElementKind::Node));
/// assert!(!options.pruning_enabled(ElementKind::Relation));
/// # Ok::<(), cuvee::diagnostic::Diagnostics>(())
/// ```
///
/// # Errors
/// `invalid-option` for each unknown option and each value that does not fit; `unsupported-version`
/// if the version is unknown.
pub fn resolve(
    version: &str,
    template: Option<Node<'_>>,
    overrides: &[(String, String)],
) -> Result<Options, Diagnostics> {
    let release = presets::release(version)?;
    let mut diagnostics = Diagnostics::default();
    let written = template.map(|map| {
        OptionSettings::read(map, &release.modes, OptionOrigin::Template, &mut diagnostics)
    });
    let written = written.unwrap_or_default();
    let asked = OptionSettings::read_overrides(overrides, &release.modes, &mut diagnostics);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    // The edition and the mode are determined first, because the template overrides their settings.
    let above = [&written, &asked];
    let choice = |layers: &[&OptionSettings], choice| {
        let mut settings = release.settings.clone();
        layers.iter().chain(&above).for_each(|layer| settings.overlay(layer));
        settings.decide(OptionKey::Choice(choice)).text
    };
    let edition = presets::edition(&choice(&[], ChoiceOption::Edition))?;
    let mut layers: Vec<_> = edition.layers(release).collect();
    let mode = release.modes.find(&choice(&layers, ChoiceOption::Mode));
    layers.extend(mode.map(presets::Mode::settings).transpose()?);
    let mut settings = release.settings.clone();
    layers.into_iter().chain(above).for_each(|layer| settings.overlay(layer));
    Ok(Options::new(settings, ignored(above)))
}

/// What a template of one definitions version has to say beside its own options, to have the same
/// options under another version.
pub(crate) fn carried(
    [from, to]: [&str; 2],
    template: Option<Node<'_>>,
) -> Vec<(&'static str, Cow<'static, str>)> {
    let mut said: Vec<(&str, Cow<'_, str>)> = Vec::new();
    let Ok(wanted) = resolve(from, template, &[]) else { return said };
    loop {
        let overrides: Vec<_> =
            said.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect();
        let Ok(found) = resolve(to, template, &overrides) else { return said };
        // What is said of one option may change those behind it, so they are said one by one.
        let mut options = wanted.list().zip(found.list());
        let differing = options.find(|(wanted, found)| wanted.value != found.value);
        match differing.filter(|(next, _)| said.iter().all(|(known, _)| *known != next.name)) {
            Some((next, _)) => said.push((next.name, next.value)),
            None => return said,
        }
    }
}

/// Warnings about options that have no effect although users may expect one.
fn ignored(layers: [&OptionSettings; 2]) -> Diagnostics {
    let mut found: Vec<_> = layers
        .iter()
        .flat_map(|layer| layer.iter())
        .filter_map(|(key, setting)| match key {
            OptionKey::Ignored(option) if option.is_misleading() => Some((option, setting.origin)),
            _ => None,
        })
        .collect();
    found.sort_by_key(|&(option, origin)| (option, origin.layer()));
    let warning = |(option, origin): (Ignored, _)| {
        let message = format!("option `{}` has no effect", option.as_str());
        let place = match origin {
            OptionOrigin::Template(span) => Some(span),
            _ => None,
        };
        Diagnostic::warning(Code::InvalidOption, message).at(place).help("remove it")
    };
    Diagnostics(found.into_iter().map(warning).collect())
}

/// Whether templates of this definitions version can be resolved.
pub fn known_version(version: &str) -> bool {
    presets::release(version).is_ok()
}

/// The pruning modes of a definitions version, ordered by how much they prune.
pub(crate) fn modes(version: &str) -> Vec<&'static str> {
    presets::release(version).map(|release| release.modes.names()).unwrap_or_default()
}

/// Every definitions version that can be resolved.
pub fn versions() -> impl Iterator<Item = &'static str> {
    presets::versions()
}

/// Every edition of the specification.
pub fn editions() -> impl Iterator<Item = &'static str> {
    presets::editions()
}

/// An option with the values that it accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownOption {
    /// The name of the option.
    pub name: &'static str,
    /// The words that it accepts; for values that are composed of parts, these parts.
    pub values: Vec<&'static str>,
    /// The effect of the option.
    pub description: &'static str,
    /// The heading under which the page on options has it.
    pub section: &'static str,
}

/// Every option, in the order of the specification's list.
pub fn known() -> impl Iterator<Item = KnownOption> {
    TABLE.options.iter().map(|(_, option)| KnownOption {
        name: &option.name,
        values: match option.takes {
            Takes::Words(words) => words.to_vec(),
            Takes::WordsOrTrue(words, _) => [words, &["true"]].concat(),
            Takes::Parts(kind) => kind.parts().iter().map(|part| part.as_str()).collect(),
            Takes::PruningMode => presets::mode_names(),
            Takes::Edition => presets::editions().collect(),
        },
        description: &option.description,
        section: option.section.title(),
    })
}

impl Options {
    fn new(settings: OptionSettings, warnings: Diagnostics) -> Self {
        let decide = |key| settings.decide(key);
        // Settings contain only words that their options accept, so reading these back cannot fail.
        let choice = |choice| decide(OptionKey::Choice(choice)).text;
        let switches = |family| {
            from_fn(|kind| {
                from_fn(|aspect| {
                    let (on, origin) = settings.decide_aspect(
                        family,
                        Some(ElementKind::ALL[kind]),
                        Aspect::ALL[aspect],
                    );
                    Decided { on, origin }
                })
            })
        };
        Self {
            default_condition: switches(SwitchFamily::DefaultCondition),
            pruning: switches(SwitchFamily::Pruning),
            modes: from_fn(|kind| mode_of(&settings, ElementKind::ALL[kind])),
            checks: from_fn(|check| decide(OptionKey::Check(Check::ALL[check])).is_on()),
            constraints: from_fn(|constraint| {
                let set = decide(OptionKey::Constraint(Constraint::ALL[constraint]));
                Decided { on: set.is_on(), origin: set.origin }
            }),
            flags: from_fn(|flag| decide(OptionKey::Flag(Flag::ALL[flag])).is_on()),
            topology: choice(ChoiceOption::Topology).parse().unwrap_or(Optimization::Off),
            topology_mode: choice(ChoiceOption::TopologyMode)
                .parse()
                .unwrap_or(TopologyMode::Weight),
            technologies: choice(ChoiceOption::Technologies).parse().unwrap_or(Optimization::Off),
            technologies_mode: choice(ChoiceOption::TechnologiesMode)
                .parse()
                .unwrap_or(TechnologiesMode::Count),
            assign_pattern: choice(ChoiceOption::AssignPattern)
                .parse()
                .unwrap_or(AssignPattern::Vintner),
            settings,
            warnings,
        }
    }

    /// Warnings about options that are set but have no effect.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// Whether elements of this kind without conditions get at least one aspect of their default
    /// condition.
    pub fn default_condition_enabled(&self, kind: ElementKind) -> bool {
        Aspect::ALL.iter().any(|&aspect| self.default_condition_aspect(kind, aspect))
    }

    /// Whether elements of this kind without conditions get this aspect of their default condition.
    pub fn default_condition_aspect(&self, kind: ElementKind, aspect: Aspect) -> bool {
        self.default_condition[kind as usize][aspect as usize].on
    }

    /// The origin of [`Options::default_condition_aspect`].
    pub fn default_condition_origin(&self, kind: ElementKind, aspect: Aspect) -> OptionOrigin {
        self.default_condition[kind as usize][aspect as usize].origin
    }

    /// Whether at least one aspect of pruning is on for this kind.
    pub fn pruning_enabled(&self, kind: ElementKind) -> bool {
        Aspect::ALL.iter().any(|&aspect| self.pruning_aspect(kind, aspect))
    }

    /// Whether this aspect of pruning is on for this kind.
    pub fn pruning_aspect(&self, kind: ElementKind, aspect: Aspect) -> bool {
        self.pruning[kind as usize][aspect as usize].on
    }

    /// The origin of [`Options::pruning_aspect`].
    pub fn pruning_origin(&self, kind: ElementKind, aspect: Aspect) -> OptionOrigin {
        self.pruning[kind as usize][aspect as usize].origin
    }

    /// The parts of the default condition of this kind; empty for a kind with a single default
    /// condition.
    pub fn mode(&self, kind: ElementKind) -> &[ModePart] {
        &self.modes[kind as usize]
    }

    /// Whether this check is on.
    pub fn check(&self, check: Check) -> bool {
        self.checks[check as usize]
    }

    /// Whether this constraint is on.
    pub fn constraint(&self, constraint: Constraint) -> bool {
        self.constraints[constraint as usize].on
    }

    /// The origin of [`Options::constraint`].
    pub fn constraint_origin(&self, constraint: Constraint) -> OptionOrigin {
        self.constraints[constraint as usize].origin
    }

    /// Whether this flag is on.
    pub fn flag(&self, flag: Flag) -> bool {
        self.flags[flag as usize]
    }

    /// The direction in which the topology is optimized.
    pub fn topology(&self) -> Optimization {
        self.topology
    }

    /// The measure of the optimization of the topology.
    pub fn topology_mode(&self) -> TopologyMode {
        self.topology_mode
    }

    /// The direction in which technologies are optimized.
    pub fn technologies(&self) -> Optimization {
        self.technologies
    }

    /// The measure of the optimization of technologies.
    pub fn technologies_mode(&self) -> TechnologiesMode {
        self.technologies_mode
    }

    /// The pattern of the names of types that technologies assign.
    pub fn assign_pattern(&self) -> AssignPattern {
        self.assign_pattern
    }

    /// Every option with its effective value, in the order of the specification's list.
    pub fn list(&self) -> impl Iterator<Item = OptionEntry> {
        TABLE.options.iter().map(|(key, option)| {
            let Setting { text, origin } = self.settings.decide(*key);
            OptionEntry {
                name: &option.name,
                value: text,
                origin,
                description: &option.description,
            }
        })
    }
}

fn mode_of(settings: &OptionSettings, kind: ElementKind) -> Vec<ModePart> {
    match kind.parts() {
        [] => Vec::new(),
        _ => parse_mode(kind, &settings.decide(OptionKey::ConditionMode(kind)).text)
            .unwrap_or_default(),
    }
}
