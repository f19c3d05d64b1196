//! Options as the specification describes them: later layers override earlier ones, and specific
//! options override wider ones.

use std::collections::BTreeMap;

use super::template::{Kind, Template};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    Consistency,
    Semantic,
}

impl Half {
    pub(crate) const ALL: [Self; 2] = [Self::Consistency, Self::Semantic];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Consistency => "consistency",
            Self::Semantic => "semantic",
        }
    }
}

/// The options that are set, by name; the value is that of the last layer that sets the option.
pub(crate) struct Options {
    set: BTreeMap<String, String>,
}

const EARLY: &[(&str, &str)] = &[
    ("node_default_condition_mode", "incoming-artifact"),
    ("artifact_default_condition_mode", "container"),
];

const RC_3: &[(&str, &str)] = &[
    ("mode", "semantic-loose"),
    ("node_default_condition_mode", "incomingnaive-artifact-host"),
    ("artifact_default_condition_mode", "container-managed"),
    ("relation_default_implied", "true"),
    ("optimization_topology", "min"),
    ("optimization_technologies", "max"),
    ("optimization_technologies_mode", "weight-count"),
];

/// Constraints that the third release candidate turns on, unless `constraints` is set.
const RC_3_OTHERWISE: &[&str] = &[
    "hosting_stack_constraint",
    "technology_constraint",
    "unique_property_constraint",
    "unique_artifact_constraint",
    "unique_input_constraint",
    "unique_output_constraint",
    "unique_relation_constraint",
];

/// What the December edition sets for options that only later editions know.
const DECEMBER: &[(&str, &str)] =
    &[("single_hosting_constraint", "false"), ("unique_technology_constraint", "false")];

const JULY: &[(&str, &str)] = &[
    ("relation_enhanced_implication_mode", "true"),
    ("property_enhanced_implication_mode", "true"),
    ("node_implication_mode", "true"),
    ("optimization_topology_unique_backward", "false"),
    ("optimization_topology_unique_first", "true"),
    ("optimization_technologies_first", "true"),
];

/// What the July edition sets for the third release candidate.
const JULY_RC_3: &[(&str, &str)] = &[
    ("relation_default_condition_mode", "source-target-default"),
    ("property_default_condition_mode", "container-consuming-default"),
    ("artifact_default_condition_mode", "container-managed-default"),
    ("technology_default_condition_mode", "container-other-scenario-default"),
    ("output_default_condition_mode", "produced-default"),
];

/// Constraints that the July edition turns on for the third release candidate, unless `constraints`
/// is set.
const JULY_RC_3_OTHERWISE: &[&str] = &[
    "hosting_stack_constraint",
    "single_hosting_constraint",
    "technology_constraint",
    "unique_technology_constraint",
];

/// Old names of options, each with the name that is kept.
const ALIASES: &[(&str, &str)] = &[
    ("required_hosting_constraint", "hosting_stack_constraint"),
    ("required_technology_constraint", "technology_constraint"),
];

/// The options that each mode sets, for every kind of element that it covers.
const MODES: &[(&str, &[(&str, &str)])] = &[
    ("manual", &[]),
    ("strict", &[]),
    ("consistent-strict", &[("default_condition", "consistency")]),
    ("consistent-loose", &[("pruning", "consistency")]),
    ("default", &[("default_condition", "true")]),
    ("semantic-strict", &[("default_condition", "semantic"), ("pruning", "consistency")]),
    ("semantic-loose", &[("pruning", "true")]),
    ("loose", &[("pruning", "true")]),
];

impl Options {
    pub(crate) fn of(template: &Template) -> Self {
        let complete = template.version == "tosca_variability_1_0_rc_3";
        let release = if complete { RC_3 } else { EARLY };
        let mut set: BTreeMap<String, String> = release
            .iter()
            .chain(DECEMBER)
            .map(|&(name, value)| (name.into(), value.into()))
            .collect();
        let kept = |name: String| {
            let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
            alias.map_or(name, |&(_, kept)| kept.to_owned())
        };
        let written = || {
            let all = template.options.iter().chain(&template.overrides).cloned();
            all.map(|(name, value)| (kept(name), value))
        };
        let is_july = written()
            .rfind(|(name, _)| name == "edition")
            .is_some_and(|(_, edition)| edition == "2025-07");
        if is_july {
            DECEMBER.iter().for_each(|(name, _)| _ = set.remove(*name));
            let of_version = if complete { JULY_RC_3 } else { &[] };
            let settings = JULY.iter().chain(of_version);
            set.extend(settings.map(|&(name, value)| (name.into(), value.into())));
        }
        if complete && !written().any(|(name, _)| name == "constraints") {
            let of_july = if is_july { JULY_RC_3_OTHERWISE } else { &[] };
            let on = RC_3_OTHERWISE.iter().chain(of_july);
            set.extend(on.map(|&name| (name.into(), "true".into())));
        }
        let mode = written().rfind(|(name, _)| name == "mode");
        let mode = mode.map_or_else(
            || set.get("mode").map_or("manual", String::as_str).to_owned(),
            |(_, value)| value,
        );
        let &(_, settings) = MODES.iter().find(|(name, _)| *name == mode).unwrap();
        let (ends, covered): (Vec<Kind>, Vec<Kind>) =
            Kind::ALL.iter().partition(|kind| matches!(kind, Kind::Input | Kind::Output));
        let of_kind = |kind: &Kind, name: &str, value: &str| {
            (format!("{}_{name}", kind.word()), value.to_owned())
        };
        for (name, value) in settings {
            if complete {
                set.insert((*name).into(), (*value).into());
            } else {
                set.extend(covered.iter().map(|kind| of_kind(kind, name, value)));
            }
        }
        if !complete {
            for name in ["default_condition", "pruning"] {
                set.extend(ends.iter().map(|kind| of_kind(kind, name, "false")));
            }
        }
        set.extend(written());
        Self { set }
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.set.get(name).map_or("", String::as_str)
    }

    /// Whether the first of the options that is set is on; they are ordered from the most specific
    /// one.
    fn is_on(&self, chain: &[&str]) -> bool {
        chain.iter().find_map(|name| self.set.get(*name)).is_some_and(|value| value == "true")
    }

    pub(crate) fn flag(&self, name: &str, otherwise: bool) -> bool {
        self.set.get(name).map_or(otherwise, |value| value == "true")
    }

    pub(crate) fn constraint(&self, name: &str) -> bool {
        self.is_on(&[name, "constraints"])
    }

    /// Whether a half of `pruning` or of `default_condition` is on for a kind. The most specific
    /// option decides: for the kind and half, the kind, the half, or all.
    fn half(&self, family: [&str; 3], kind: Kind, half: Half) -> bool {
        let [before, after, wide] = family;
        let (kind, word) = (kind.word(), half.word());
        let chain = [
            format!("{kind}_{before}{word}{after}"),
            format!("{kind}_{wide}"),
            format!("{before}{word}{after}"),
            wide.into(),
        ];
        let value = chain.iter().find_map(|name| self.set.get(name));
        // A wider option may name a half, which it then turns on.
        value.is_some_and(|value| value == "true" || value == word)
    }

    pub(crate) fn pruning(&self, kind: Kind, half: Half) -> bool {
        self.half(["", "_pruning", "pruning"], kind, half)
    }

    pub(crate) fn default_condition(&self, kind: Kind, half: Half) -> bool {
        self.half(["default_", "_condition", "default_condition"], kind, half)
    }

    /// The parts of the default condition of a kind, joined by `-`.
    pub(crate) fn mode(&self, kind: Kind) -> &str {
        let otherwise = match kind {
            Kind::Relation => "source-target",
            Kind::Property => "container-consuming",
            Kind::Technology => "container-other",
            Kind::Output => "produced",
            _ => "",
        };
        self.set
            .get(&format!("{}_default_condition_mode", kind.word()))
            .map_or(otherwise, String::as_str)
    }
}
