//! Declares every option once: its name, the values that it accepts, its default, and its effect.

use super::names::{Aspect, AssignPattern, Optimization, TechnologiesMode, TopologyMode, quoted};
use super::presets;
use crate::variability::element::ElementKind;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The value of an option that nobody sets.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unset {
    /// The value of this wider option.
    Follows(OptionKey),
    /// This value, in the notation of presets.
    Is(&'static str),
}

/// The values that an option accepts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Takes {
    /// One of these words.
    Words(&'static [&'static str]),
    /// One of these words, or `true`, which means the word in the second field.
    WordsOrTrue(&'static [&'static str], &'static str),
    /// A default condition mode of this kind.
    Parts(ElementKind),
    /// The name of a pruning mode; the release decides which modes exist.
    PruningMode,
    /// The name of an edition.
    Edition,
}

/// The chapters of the specification's list of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    General,
    DefaultConditions,
    Pruning,
    Checks,
    Solver,
    Enricher,
    Constraints,
}

impl Section {
    /// The heading of the section in the page on options.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::General => "General",
            Self::DefaultConditions => "Default conditions",
            Self::Pruning => "Pruning",
            Self::Checks => "Checks",
            Self::Solver => "Solver",
            Self::Enricher => "Enricher",
            Self::Constraints => "Constraints",
        }
    }
}

/// The declaration of an option.
#[derive(Debug)]
pub(super) struct OptionDeclaration {
    pub(super) name: Cow<'static, str>,
    /// An alternative name.
    pub(super) alias: Option<&'static str>,
    pub(super) section: Section,
    pub(super) takes: Takes,
    pub(super) description: Cow<'static, str>,
}

/// The two families in which each kind has its own switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum SwitchFamily {
    DefaultCondition,
    Pruning,
}

/// The key of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum OptionKey {
    /// A switch of one kind or all kinds, for one aspect or both.
    Switch(SwitchFamily, Option<ElementKind>, Option<Aspect>),
    ConditionMode(ElementKind),
    Wide(Wide),
    Check(Check),
    Constraint(Constraint),
    Flag(Flag),
    Choice(ChoiceOption),
    Ignored(Ignored),
}

use Section::{Checks, Constraints, DefaultConditions, Enricher, General, Solver};
use Unset::{Follows, Is};

const SWITCH: Takes = Takes::Words(&["true", "false"]);
const ASPECTS: Takes =
    Takes::Words(&["true", "false", Aspect::Consistency.as_str(), Aspect::Semantic.as_str()]);
const CHECKS: Unset = Follows(OptionKey::Wide(Wide::Checks));
const CONSISTENCY: Unset = Follows(OptionKey::Wide(Wide::ConsistencyChecks));
const SEMANTIC: Unset = Follows(OptionKey::Wide(Wide::SemanticChecks));
const CONSTRAINTS: Unset = Follows(OptionKey::Wide(Wide::Constraints));

/// Declares an enum of options: `Variant "name" or "alias" (section, takes, unset) "description"`.
macro_rules! options {
    ($(#[$meta:meta])* $visibility:vis enum $list:ident {
        $($variant:ident $name:literal $(or $alias:literal)? ($section:expr, $takes:expr, $unset:expr) $text:literal;)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $visibility enum $list {
            $(#[doc = $text] $variant,)*
        }

        impl $list {
            /// All variants, in the order of their numbers.
            $visibility const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name of the option.
            $visibility const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            fn declaration(self) -> OptionDeclaration {
                match self {
                    $(Self::$variant => OptionDeclaration {
                        name: Cow::Borrowed(self.as_str()),
                        alias: [$($alias,)?].first().copied(),
                        section: $section,
                        takes: $takes,
                        description: Cow::Borrowed($text),
                    },)*
                }
            }

            fn unset(self) -> Unset {
                match self {
                    $(Self::$variant => $unset,)*
                }
            }
        }
    };
}

options! {
    /// Options with more than two values.
    pub(super) enum ChoiceOption {
        Edition "edition" (General, Takes::Edition, Is("2024-12")) "Which revision of the specification options that nobody sets are taken from.";
        Mode "mode" (General, Takes::PruningMode, Is("manual")) "Which default conditions and which pruning to begin with.";
        Topology "optimization_topology" (Solver, Takes::WordsOrTrue(Optimization::NAMES, Optimization::Min.as_str()), Is("false")) "Looks for the variant with the least or the most nodes; `true` means `min`.";
        TopologyMode "optimization_topology_mode" (Solver, Takes::Words(TopologyMode::NAMES), Is("weight")) "Measures nodes by their number or by the sum of their weights.";
        Technologies "optimization_technologies" (Solver, Takes::WordsOrTrue(Optimization::NAMES, Optimization::Min.as_str()), Is("false")) "Looks for the least or the most of technologies; `true` means `min`.";
        TechnologiesMode "optimization_technologies_mode" (Solver, Takes::Words(TechnologiesMode::NAMES), Is("count")) "Measures technologies by the number of different ones, by the sum of their weights, or by weight first and then by number.";
        AssignPattern "technology_assign_pattern" (Enricher, Takes::Words(AssignPattern::NAMES), Is("vintner")) "Names the type that a technology gives to its node, where its rule has no `assign`: `vintner` for `<type>~<component>[#<artifact>]::<technology>[@<hosting>]`, which existing type libraries use, or `dotted` for the specification's `<type>.<technology>[.<host>]`.";
    }
}

options! {
    /// Options that other options follow.
    pub(super) enum Wide {
        Checks "checks" (Checks, SWITCH, Is("true")) "Checks the result.";
        ConsistencyChecks "consistency_checks" (Checks, SWITCH, CHECKS) "Checks that the result is well-formed.";
        SemanticChecks "semantic_checks" (Checks, SWITCH, CHECKS) "Checks that the result makes sense.";
        Constraints "constraints" (Constraints, SWITCH, Is("false")) "Lets only variants count that fulfil every constraint.";
    }
}

options! {
    /// A check on the result.
    pub enum Check {
        RelationSource "relation_source_check" (Checks, SWITCH, CONSISTENCY) "The source of a present relation is present.";
        RelationTarget "relation_target_check" (Checks, SWITCH, CONSISTENCY) "The target of a present relation is present.";
        AmbiguousHosting "ambiguous_hosting_check" (Checks, SWITCH, CONSISTENCY) "A present node has at most one present hosting relation.";
        MissingArtifactContainer "missing_artifact_container_check" (Checks, SWITCH, CONSISTENCY) "The node of a present artifact is present.";
        AmbiguousArtifact "ambiguous_artifact_check" (Checks, SWITCH, CONSISTENCY) "The present artifacts of a node differ in their names.";
        MissingPropertyContainer "missing_property_container_check" (Checks, SWITCH, CONSISTENCY) "What a present property belongs to is present.";
        AmbiguousProperty "ambiguous_property_check" (Checks, SWITCH, CONSISTENCY) "The present properties of an element differ in their names.";
        MissingTypeContainer "missing_type_container_check" (Checks, SWITCH, CONSISTENCY) "What a present type belongs to is present.";
        AmbiguousType "ambiguous_type_check" (Checks, SWITCH, CONSISTENCY) "A present element has exactly one present type; that it has none is an error even where this is off.";
        ExpectedHosting "expected_hosting_check" (Checks, SWITCH, SEMANTIC) "A present node that has hosting relations has one that is present.";
        ExpectedIncomingRelation "expected_incoming_relation_check" (Checks, SWITCH, SEMANTIC) "A present node that has incoming relations has one that is present.";
        ExpectedArtifact "expected_artifact_check" (Checks, SWITCH, SEMANTIC) "A present node that has artifacts has one that is present.";
        ExpectedTechnology "expected_technology_check" (Checks, SWITCH, CONSISTENCY) "A present managed node that has technologies has one that is present; that it has none is an error even where this is off.";
        MissingTechnologyContainer "missing_technology_container_check" (Checks, SWITCH, CONSISTENCY) "The node of a present technology is present.";
        AmbiguousTechnology "ambiguous_technology_check" (Checks, SWITCH, CONSISTENCY) "A present node has at most one present technology.";
        AmbiguousRelation "ambiguous_relation_check" (Checks, SWITCH, CONSISTENCY) "The present relations of a node differ in their names.";
        AmbiguousInput "ambiguous_input_check" (Checks, SWITCH, CONSISTENCY) "The present inputs differ in their names.";
        AmbiguousOutput "ambiguous_output_check" (Checks, SWITCH, CONSISTENCY) "The present outputs differ in their names.";
        UnconsumedInput "unconsumed_input_check" (Checks, SWITCH, SEMANTIC) "A present input is consumed by something present.";
        UnproducedOutput "unproduced_output_check" (Checks, SWITCH, CONSISTENCY) "A present output takes its value from something present.";
        Persistent "persistent_check" or "anchor_check" (Checks, SWITCH, CHECKS) "Where nodes are kept by their incoming relations and their hosts, some node is persistent.";
        UnassignedInput "unassigned_input_check" (Checks, SWITCH, CHECKS) "Where inputs are features, each that no feature keyword of another names has a value.";
        RequiredTechnology "required_technology_check" (Checks, SWITCH, SEMANTIC) "Where technologies are enriched, a managed node without any has a technology rule that fits, also one that turns out to be absent.";
    }
}

options! {
    /// A constraint on variants, before solving.
    pub enum Constraint {
        RelationSource "relation_source_constraint" (Constraints, SWITCH, CONSTRAINTS) "The source of a present relation is present.";
        RelationTarget "relation_target_constraint" (Constraints, SWITCH, CONSTRAINTS) "The target of a present relation is present.";
        ArtifactContainer "artifact_container_constraint" (Constraints, SWITCH, CONSTRAINTS) "The node of a present artifact is present.";
        PropertyContainer "property_container_constraint" (Constraints, SWITCH, CONSTRAINTS) "What a present property belongs to is present.";
        TypeContainer "type_container_constraint" (Constraints, SWITCH, CONSTRAINTS) "What a present type belongs to is present.";
        RequiredHosting "hosting_stack_constraint" or "required_hosting_constraint" (Constraints, SWITCH, CONSTRAINTS) "A present node that has hosting relations has exactly one that is present.";
        RequiredTechnology "technology_constraint" or "required_technology_constraint" (Constraints, SWITCH, CONSTRAINTS) "A present managed node has exactly one present technology.";
        SingleHosting "single_hosting_constraint" (Constraints, SWITCH, CONSTRAINTS) "A node, whether it is present or not, has at most one present hosting relation.";
        UniqueTechnology "unique_technology_constraint" (Constraints, SWITCH, CONSTRAINTS) "A managed node, whether it is present or not, has at most one present technology.";
        UniqueProperty "unique_property_constraint" (Constraints, SWITCH, CONSTRAINTS) "The present properties of an element differ in their names.";
        UniqueArtifact "unique_artifact_constraint" (Constraints, SWITCH, CONSTRAINTS) "The present artifacts of a node differ in their names.";
        UniqueInput "unique_input_constraint" (Constraints, SWITCH, CONSTRAINTS) "The present inputs differ in their names.";
        UniqueOutput "unique_output_constraint" (Constraints, SWITCH, CONSTRAINTS) "The present outputs differ in their names.";
        UniqueRelation "unique_relation_constraint" (Constraints, SWITCH, CONSTRAINTS) "The present relations of a node differ in their names.";
        RequiredArtifact "required_artifact_constraint" (Constraints, SWITCH, CONSTRAINTS) "A present node that has artifacts has exactly one that is present.";
        RequiredIncomingRelation "required_incoming_relation_constraint" (Constraints, SWITCH, CONSTRAINTS) "A present node that has incoming relations has at least one that is present.";
    }
}

options! {
    /// An independent option that is on or off.
    pub enum Flag {
        RelationDefaultImplied "relation_default_implied" (DefaultConditions, SWITCH, Is("false")) "A present node implies its relations as far as their own conditions allow; hosting relations are never meant.";
        RelationEnhancedImplication "relation_enhanced_implication_mode" (DefaultConditions, SWITCH, Is("false")) "An implied relation is so only as far as the conditions of its other end allow, too.";
        PropertyEnhancedImplication "property_enhanced_implication_mode" (DefaultConditions, SWITCH, Is("false")) "Only a property that takes from topology inputs is implied, and only as far as the conditions of something it takes from allow.";
        NodeImplication "node_implication_mode" (DefaultConditions, SWITCH, Is("false")) "A node that is `implied` is present where its own conditions allow.";
        AutomaticDefaultAlternatives "automatic_default_alternatives" (DefaultConditions, SWITCH, Is("false")) "Of several alternatives, the only one without conditions is the default alternative.";
        OptimizationTopologyUnique "optimization_topology_unique" (Solver, SWITCH, Is("true")) "Rejects a template of which two equally good variants differ in their nodes.";
        OptimizationTopologyUniqueBackward "optimization_topology_unique_backward" (Solver, SWITCH, Is("true")) "Two variants differ in their nodes also where the other one has more of them.";
        OptimizationTopologyUniqueFirst "optimization_topology_unique_first" (Solver, SWITCH, Is("false")) "Whether two variants differ in their nodes is asked of those whose topology is equally good, before scenarios and technologies decide between them.";
        OptimizationScenarios "optimization_scenarios" (Solver, SWITCH, Is("false")) "Before technologies, looks for those whose rules are for the most special components.";
        OptimizationScenariosUnique "optimization_scenarios_unique" (Solver, SWITCH, Is("false")) "Rejects a template of which two variants whose technology rules are equally special differ in their technologies.";
        OptimizationTechnologiesUnique "optimization_technologies_unique" (Solver, SWITCH, Is("false")) "Rejects a template of which two equally good variants differ in their technologies.";
        OptimizationTechnologiesFirst "optimization_technologies_first" (Solver, SWITCH, Is("false")) "Of equally good technologies of a node the first is taken, not the last.";
        EnrichInputCondition "enrich_input_condition" (Enricher, SWITCH, Is("true")) "An element whose identifier is the name of a variability input has that input as a further condition.";
        EnrichTechnologies "enrich_technologies" (Enricher, SWITCH, Is("false")) "Managed nodes without technologies get those that the technology rules allow.";
        EnrichTechnologiesScenarios "enrich_technologies_scenarios" (Enricher, SWITCH, Is("false")) "Rules of one component, artifact and hosting are assessments of one scenario, each of which is one technology, in how many ways the node may be hosted; otherwise each way is one.";
        EnrichTechnologiesBestOnly "enrich_technologies_best_only" (Enricher, SWITCH, Is("false")) "Of the rules of one component, artifact and hosting, only those of the highest weight become technologies.";
        EnrichTechnologiesSpecificOnly "enrich_technologies_specific_only" (Enricher, SWITCH, Is("true")) "Rules for a more general component give way to those for a more special one.";
        EnrichImplementations "enrich_implementations" (Enricher, SWITCH, Is("true")) "Technologies written by hand are completed from the technology rules.";
    }
}

options! {
    /// An option that a revision of the specification defines, but that has no effect.
    pub(super) enum Ignored {
        FallbackPropertyDefaultAlternative "fallback_property_default_alternative" (DefaultConditions, SWITCH, Is("false")) "Has no effect: a property that is absent needs no alternative that stands for it.";
        TechnologyRequired "technology_required" (Enricher, SWITCH, Is("false")) "Has no effect: no revision says what it means.";
        UniqueScenarioConstraint "unique_scenario_constraint" (Constraints, SWITCH, Is("false")) "Has no effect: no revision says what it means.";
    }
}

impl Ignored {
    /// Whether a user who sets the option may expect an effect.
    pub(super) fn is_misleading(self) -> bool {
        self != Self::FallbackPropertyDefaultAlternative
    }
}

impl OptionKey {
    fn declaration(self) -> OptionDeclaration {
        match self {
            Self::Switch(family, kind, aspect) => family.declaration(kind, aspect),
            Self::ConditionMode(kind) => condition_mode(kind),
            Self::Wide(option) => option.declaration(),
            Self::Check(option) => option.declaration(),
            Self::Constraint(option) => option.declaration(),
            Self::Flag(option) => option.declaration(),
            Self::Choice(option) => option.declaration(),
            Self::Ignored(option) => option.declaration(),
        }
    }

    /// The value of the option if nobody sets it. It is needed too often to build the whole
    /// declaration each time.
    pub(super) fn unset(self) -> Unset {
        match self {
            Self::Switch(family, kind, aspect) => family.unset(kind, aspect),
            Self::ConditionMode(kind) => Is(default_mode(kind)),
            Self::Wide(option) => option.unset(),
            Self::Check(option) => option.unset(),
            Self::Constraint(option) => option.unset(),
            Self::Flag(option) => option.unset(),
            Self::Choice(option) => option.unset(),
            Self::Ignored(option) => option.unset(),
        }
    }

    /// Every option; each comes before those that follow it.
    fn all() -> Vec<Self> {
        let mut keys: Vec<_> = ChoiceOption::ALL.iter().copied().map(Self::Choice).collect();
        keys.extend(Wide::ALL.iter().copied().map(Self::Wide));
        keys.extend(
            std::iter::once(None)
                .chain(ElementKind::ALL.iter().copied().map(Some))
                .flat_map(Self::of_kind),
        );
        keys.extend(Check::ALL.iter().copied().map(Self::Check));
        keys.extend(Constraint::ALL.iter().copied().map(Self::Constraint));
        keys.extend(Flag::ALL.iter().copied().map(Self::Flag));
        keys.extend(Ignored::ALL.iter().copied().map(Self::Ignored));
        keys
    }

    fn of_kind(kind: Option<ElementKind>) -> impl Iterator<Item = Self> {
        let aspects = [None, Some(Aspect::Consistency), Some(Aspect::Semantic)];
        let switches =
            move |family| aspects.into_iter().map(move |aspect| Self::Switch(family, kind, aspect));
        let mode = kind.filter(|kind| !kind.parts().is_empty()).map(Self::ConditionMode);
        switches(SwitchFamily::DefaultCondition).chain(mode).chain(switches(SwitchFamily::Pruning))
    }
}

impl SwitchFamily {
    /// The declaration of a switch, such as `node_default_consistency_condition`, or without the
    /// kind or the aspect.
    fn declaration(self, kind: Option<ElementKind>, aspect: Option<Aspect>) -> OptionDeclaration {
        let (section, effect) = match self {
            Self::DefaultCondition => {
                (Section::DefaultConditions, "that have no condition get their default condition")
            }
            Self::Pruning => (
                Section::Pruning,
                "get their default condition, also besides conditions of their own",
            ),
        };
        let of_kind = kind.map(|kind| format!("{kind}_")).unwrap_or_default();
        let of_aspect = aspect.map(|aspect| format!("{aspect}_")).unwrap_or_default();
        let name = match self {
            Self::DefaultCondition => format!("{of_kind}default_{of_aspect}condition"),
            Self::Pruning => format!("{of_kind}{of_aspect}pruning"),
        };
        let what = kind.map_or("elements", ElementKind::plural);
        let purpose = match aspect {
            None => "",
            Some(Aspect::Consistency) => ", as far as it keeps the result well-formed",
            Some(Aspect::Semantic) => ", as far as it keeps the result meaningful",
        };
        OptionDeclaration {
            name: Cow::Owned(name),
            alias: None,
            section,
            takes: if aspect.is_some() { SWITCH } else { ASPECTS },
            description: Cow::Owned(capitalized(format!("{what} {effect}{purpose}."))),
        }
    }

    fn unset(self, kind: Option<ElementKind>, aspect: Option<Aspect>) -> Unset {
        match (kind, aspect) {
            (None, None) => Is("false"),
            (_, Some(_)) => Follows(OptionKey::Switch(self, kind, None)),
            (Some(_), None) => Follows(OptionKey::Switch(self, None, None)),
        }
    }
}

fn default_mode(kind: ElementKind) -> &'static str {
    match kind {
        ElementKind::Node => "incoming-artifact",
        ElementKind::Relation => "source-target",
        ElementKind::Property => "container-consuming",
        ElementKind::Technology => "container-other",
        ElementKind::Output => "produced",
        _ => "container",
    }
}

fn condition_mode(kind: ElementKind) -> OptionDeclaration {
    OptionDeclaration {
        name: Cow::Owned(format!("{kind}_default_condition_mode")),
        alias: None,
        section: Section::DefaultConditions,
        takes: Takes::Parts(kind),
        description: Cow::Owned(format!(
            "What the default condition of {} is made of.",
            kind.plural()
        )),
    }
}

fn capitalized(mut text: String) -> String {
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

impl Takes {
    /// The accepted values in words.
    pub(super) fn describe(self, modes: &[&str]) -> String {
        match self {
            Self::Words(words) => quoted(words.iter().copied()),
            Self::WordsOrTrue(words, _) => quoted(words.iter().copied().chain(["true"])),
            Self::Parts(kind) => {
                format!(
                    "one or more of {}, joined with `-`",
                    quoted(kind.parts().iter().map(|part| part.as_str()))
                )
            }
            Self::PruningMode => quoted(modes.iter().copied()),
            Self::Edition => quoted(presets::editions()),
        }
    }
}

/// All declarations, in the order of the specification's list.
pub(super) struct Table {
    pub(super) options: Vec<(OptionKey, OptionDeclaration)>,
    /// The positions of options by their names and aliases.
    by_name: FxHashMap<Cow<'static, str>, usize>,
}

pub(super) static TABLE: LazyLock<Table> = LazyLock::new(Table::new);

impl Table {
    fn new() -> Self {
        let mut options: Vec<_> =
            OptionKey::all().into_iter().map(|key| (key, key.declaration())).collect();
        options.sort_by_key(|(_, option)| option.section);
        let names = options.iter().enumerate().flat_map(|(index, (_, option))| {
            let alias = option.alias.map(Cow::Borrowed);
            std::iter::once(option.name.clone()).chain(alias).map(move |name| (name, index))
        });
        let by_name = names.collect();
        Self { options, by_name }
    }

    /// The option of this name or alias.
    pub(super) fn find(&self, name: &str) -> Option<&(OptionKey, OptionDeclaration)> {
        self.options.get(*self.by_name.get(name)?)
    }

    /// Every name, without aliases.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.options.iter().map(|(_, option)| &*option.name)
    }
}
