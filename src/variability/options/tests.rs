use super::settings::OptionSettings;
use super::table::Takes;
use super::*;
use crate::diagnostic::{Code, Diagnostic};
use cuvee_text::source::FileId;
use cuvee_text::yaml::{Limits, parse};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

const VERSIONS: [&str; 4] = [
    "tosca_variability_1_0",
    "tosca_variability_1_0_rc_1",
    "tosca_variability_1_0_rc_2",
    "tosca_variability_1_0_rc_3",
];

fn try_resolve(
    version: &str,
    template: &str,
    overrides: &[(&str, &str)],
) -> Result<Options, Vec<Diagnostic>> {
    let document = parse(FileId::new(0), template.into(), &Limits::default()).unwrap();
    let overrides: Vec<_> =
        overrides.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
    resolve(version, Some(document.root()), &overrides).map_err(|found| found.0)
}

/// The options of a version whose release and mode set few options.
fn options(template: &str) -> Options {
    try_resolve("tosca_variability_1_0", template, &[]).unwrap()
}

fn errors(template: &str) -> Vec<Diagnostic> {
    let found = try_resolve("tosca_variability_1_0", template, &[]).unwrap_err();
    assert!(found.iter().all(|one| one.code == Code::InvalidOption));
    found
}

fn error(template: &str) -> Diagnostic {
    let mut found = errors(template);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn entry(options: &Options, name: &str) -> OptionEntry {
    options.list().find(|entry| entry.name == name).unwrap()
}

fn value(options: &Options, name: &str) -> String {
    entry(options, name).value.into_owned()
}

/// The part of `template` that a diagnostic points at.
fn pointed<'t>(template: &'t str, diagnostic: &Diagnostic) -> &'t str {
    let span = diagnostic.span.unwrap();
    &template[span.start as usize..span.end as usize]
}

// ---- What options there are ----

/// The option tables of the specification, copied by hand.
const SPECIFIED: &str = "
    mode
    default_condition
    input_default_condition input_default_consistency_condition input_default_semantic_condition
    node_default_condition node_default_condition_mode node_default_consistency_condition node_default_semantic_condition
    output_default_condition output_default_consistency_condition output_default_semantic_condition
    relation_default_condition relation_default_condition_mode relation_default_consistency_condition
    relation_default_semantic_condition relation_default_implied
    policy_default_condition policy_default_consistency_condition policy_default_semantic_condition
    group_default_condition group_default_consistency_condition group_default_semantic_condition
    artifact_default_condition artifact_default_condition_mode artifact_default_consistency_condition
    artifact_default_semantic_condition
    property_default_condition property_default_condition_mode property_default_consistency_condition
    property_default_semantic_condition
    type_default_condition type_default_consistency_condition type_default_semantic_condition
    technology_default_condition technology_default_condition_mode technology_default_consistency_condition
    technology_default_semantic_condition
    pruning
    input_pruning input_consistency_pruning input_semantic_pruning
    node_pruning node_consistency_pruning node_semantic_pruning
    output_pruning output_consistency_pruning output_semantic_pruning
    relation_pruning relation_consistency_pruning relation_semantic_pruning
    policy_pruning policy_consistency_pruning policy_semantic_pruning
    group_pruning group_consistency_pruning group_semantic_pruning
    artifact_pruning artifact_consistency_pruning artifact_semantic_pruning
    property_pruning property_consistency_pruning property_semantic_pruning
    type_pruning type_consistency_pruning type_semantic_pruning
    technology_pruning technology_consistency_pruning technology_semantic_pruning
    checks consistency_checks semantic_checks
    relation_source_check relation_target_check ambiguous_hosting_check missing_artifact_container_check
    ambiguous_artifact_check missing_property_container_check ambiguous_property_check missing_type_container_check
    ambiguous_type_check expected_hosting_check expected_incoming_relation_check expected_artifact_check
    expected_technology_check missing_technology_container_check ambiguous_technology_check ambiguous_relation_check
    ambiguous_input_check ambiguous_output_check unconsumed_input_check unproduced_output_check
    required_technology_check
    optimization_topology optimization_topology_unique optimization_topology_mode
    optimization_technologies optimization_technologies_unique optimization_technologies_mode
    enrich_input_condition enrich_technologies enrich_implementations
    constraints relation_source_constraint relation_target_constraint artifact_container_constraint
    property_container_constraint type_container_constraint hosting_stack_constraint technology_constraint
    unique_property_constraint unique_artifact_constraint unique_input_constraint unique_output_constraint
    unique_relation_constraint required_artifact_constraint required_incoming_relation_constraint";

/// Options that the specification does not have.
const BEYOND: &str = "
    default_consistency_condition default_semantic_condition consistency_pruning semantic_pruning
    import_default_condition import_default_consistency_condition import_default_semantic_condition
    import_pruning import_consistency_pruning import_semantic_pruning
    persistent_check edition
    single_hosting_constraint unique_technology_constraint
    technology_assign_pattern
    output_default_condition_mode
    relation_enhanced_implication_mode property_enhanced_implication_mode node_implication_mode
    optimization_scenarios optimization_scenarios_unique optimization_technologies_first
    enrich_technologies_scenarios enrich_technologies_best_only enrich_technologies_specific_only
    automatic_default_alternatives unassigned_input_check optimization_topology_unique_backward
    optimization_topology_unique_first
    fallback_property_default_alternative technology_required unique_scenario_constraint";

#[test]
fn options_are_those_of_the_specification_and_a_few_more() {
    let expected: BTreeSet<_> =
        SPECIFIED.split_whitespace().chain(BEYOND.split_whitespace()).collect();
    let listed: Vec<_> = options("{}").list().map(|entry| entry.name).collect();
    assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), expected);
    assert_eq!(listed.len(), expected.len(), "a name is declared twice");
}

#[test]
fn aliases_are_no_names_of_other_options() {
    let names: BTreeSet<_> = TABLE.names().collect();
    let aliases: Vec<_> = TABLE.options.iter().filter_map(|(_, option)| option.alias).collect();
    assert_eq!(
        aliases,
        ["anchor_check", "required_hosting_constraint", "required_technology_constraint"]
    );
    assert!(aliases.iter().all(|alias| !names.contains(alias)));
}

#[test]
fn every_option_takes_its_own_effective_values() {
    for version in VERSIONS {
        for entry in try_resolve(version, "{}", &[]).unwrap().list() {
            let again =
                try_resolve(version, &format!("{}: {}", entry.name, entry.value), &[]).unwrap();
            assert_eq!(value(&again, entry.name), entry.value, "{}", entry.name);
        }
    }
}

#[test]
fn every_option_takes_the_words_it_says_it_takes() {
    for (_, option) in &TABLE.options {
        let words = match option.takes {
            Takes::Words(words) | Takes::WordsOrTrue(words, _) => words.to_vec(),
            Takes::Parts(kind) => kind.parts().iter().map(|part| part.as_str()).collect(),
            Takes::PruningMode => vec!["manual", "semantic-loose"],
            Takes::Edition => presets::editions().collect(),
        };
        for word in words {
            assert_eq!(
                value(&options(&format!("{}: {word}", option.name)), &option.name),
                word,
                "{}",
                option.name
            );
        }
    }
}

#[test]
fn only_the_widest_options_have_built_in_values() {
    use super::table::Unset;
    for (key, option) in &TABLE.options {
        let families = option.name.ends_with("_check")
            || matches!(key, OptionKey::Constraint(_))
            || matches!(key, OptionKey::Switch(_, Some(_), _) | OptionKey::Switch(_, _, Some(_)));
        assert_eq!(
            matches!(key.unset(), Unset::Follows(_)),
            families || option.name.ends_with("_checks"),
            "{}",
            option.name
        );
    }
}

// ---- Releases and modes ----

#[test]
fn embedded_data_is_sound_and_complete() {
    for release in presets::releases() {
        let modes = &release.unwrap().modes;
        assert!(modes.names().iter().all(|name| modes.find(name).unwrap().settings().is_ok()));
    }
    for edition in presets::editions() {
        let edition = presets::edition(edition).unwrap();
        let known = |name: &String| presets::RELEASES.iter().any(|(path, _)| path.ends_with(name));
        assert!(edition.releases.iter().all(|(name, _)| known(name)));
    }
    assert!(presets::edition("2025-08").is_err());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("presets");
    let mut files = BTreeSet::new();
    let mut folders = vec![root.join("releases"), root.join("editions"), root.join("modes")];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|found| found.unwrap().path()) {
            if path.is_dir() { folders.push(path) } else { _ = files.insert(path) }
        }
    }
    let embedded = presets::RELEASES
        .iter()
        .chain(presets::EDITIONS)
        .chain(presets::MODES)
        .map(|(path, _)| root.join(format!("{path}.yaml")));
    assert_eq!(files, embedded.collect());
}

#[test]
fn versions_are_known_by_name_and_alias() {
    let mut versions: Vec<_> = versions().collect();
    versions.sort_unstable();
    assert_eq!(versions, [&["tosca_simple_yaml_1_3"], &VERSIONS[..]].concat());
    assert!(versions.iter().all(|version| known_version(version)));
    assert!(!known_version("tosca_2_0"));
    let plain: Vec<_> = try_resolve("tosca_simple_yaml_1_3", "{}", &[]).unwrap().list().collect();
    assert_eq!(plain, options("{}").list().collect::<Vec<_>>());
}

#[test]
fn an_unknown_version_is_an_error() {
    let found = try_resolve("tosca_variability_1_0_rc_9", "{}", &[]).unwrap_err();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].code, Code::UnsupportedVersion);
    assert!(found[0].help.as_ref().unwrap().contains("tosca_variability_1_0_rc_"));
}

/// The switches that a mode turns on: the consistency and semantic aspects of default conditions,
/// then those of pruning.
const MODES: [(&str, [bool; 4]); 9] = [
    ("manual", [false, false, false, false]),
    ("strict", [false, false, false, false]),
    ("consistent-strict", [true, false, false, false]),
    ("consistent-loose", [false, false, true, false]),
    ("consitent-loose", [false, false, true, false]),
    ("default", [true, true, false, false]),
    ("semantic-strict", [false, true, true, false]),
    ("semantic-loose", [false, false, true, true]),
    ("loose", [false, false, true, true]),
];

fn aspects(options: &Options, kind: ElementKind) -> [bool; 4] {
    let [consistency, semantic] = [Aspect::Consistency, Aspect::Semantic];
    [
        options.default_condition_aspect(kind, consistency),
        options.default_condition_aspect(kind, semantic),
        options.pruning_aspect(kind, consistency),
        options.pruning_aspect(kind, semantic),
    ]
}

#[test]
fn modes_turn_on_what_the_specification_says() {
    for version in VERSIONS {
        for (mode, on) in MODES {
            let options = try_resolve(version, &format!("mode: {mode}"), &[]).unwrap();
            for &kind in ElementKind::ALL {
                let covered = version.ends_with("rc_3")
                    || !matches!(kind, ElementKind::Input | ElementKind::Output);
                let expected = if covered { on } else { [false; 4] };
                assert_eq!(aspects(&options, kind), expected, "{version} {mode} {kind}");
                assert_eq!(options.default_condition_enabled(kind), expected[0] || expected[1]);
                assert_eq!(options.pruning_enabled(kind), expected[2] || expected[3]);
            }
        }
    }
}

#[test]
fn a_switch_of_a_kind_replaces_what_the_mode_says_about_it() {
    for version in VERSIONS {
        for (mode, on) in MODES {
            for (text, expected) in [("true", [true; 2]), ("false", [false; 2])] {
                let template = format!("{{mode: {mode}, node_pruning: {text}}}");
                let options = try_resolve(version, &template, &[]).unwrap();
                assert_eq!(
                    aspects(&options, ElementKind::Node)[2..],
                    expected,
                    "{version} {template}"
                );
                assert_eq!(aspects(&options, ElementKind::Relation), on, "{version} {template}");
            }
        }
    }
}

#[test]
fn a_wide_switch_reaches_what_the_mode_leaves_open() {
    let options = options("{mode: consistent-loose, pruning: true, default_condition: semantic}");
    assert_eq!(
        aspects(&options, ElementKind::Node),
        [false, true, true, false],
        "the mode names the pruning of nodes"
    );
}

#[test]
fn a_wide_switch_reaches_inputs_and_outputs_with_the_third_candidate_only() {
    let ends = [ElementKind::Input, ElementKind::Output];
    let wide = "pruning: true, semantic_pruning: true, default_condition: true";
    for version in VERSIONS {
        let reached = version.ends_with("rc_3");
        let manual = try_resolve(version, &format!("{{mode: manual, {wide}}}"), &[]).unwrap();
        assert_eq!(aspects(&manual, ElementKind::Node), [true; 4], "{version}");
        for (mode, _) in MODES {
            let template = format!("{{mode: {mode}, {wide}}}");
            let options = try_resolve(version, &template, &[]).unwrap();
            let asked = try_resolve(version, &template, &[("input_pruning", "true")]).unwrap();
            assert_eq!(aspects(&asked, ElementKind::Input)[2..], [true; 2], "{version} {mode}");
            for end in ends {
                assert_eq!(aspects(&options, end), [reached; 4], "{version} {mode} {end}");
            }
        }
    }
}

#[test]
fn the_mode_lies_below_the_template_and_above_the_release() {
    let version = "tosca_variability_1_0_rc_2";
    let released = try_resolve(version, "{}", &[]).unwrap();
    assert_eq!(
        released.pruning_origin(ElementKind::Node, Aspect::Semantic),
        OptionOrigin::Mode("semantic-loose")
    );
    let asked = try_resolve(version, "mode: semantic-loose", &[("mode", "default")]).unwrap();
    assert_eq!(aspects(&asked, ElementKind::Node), [true, true, false, false]);
    assert_eq!(entry(&asked, "mode").origin, OptionOrigin::CommandLine);
}

#[test]
fn releases_keep_their_values() {
    let mut text = String::new();
    for version in VERSIONS {
        let options = try_resolve(version, "{}", &[]).unwrap();
        writeln!(text, "{version}").unwrap();
        for entry in options.list().filter(|entry| !matches!(entry.origin, OptionOrigin::BuiltIn)) {
            writeln!(
                text,
                "    {}: {}  # {}",
                entry.name,
                entry.value,
                entry.origin.describe(&SourceMap::default())
            )
            .unwrap();
        }
    }
    insta::assert_snapshot!(text);
}

/// The options that an edition decides differently from December 2024, with the value for each
/// version.
fn differences(edition: &str) -> Vec<(&'static str, Vec<[String; 2]>)> {
    let list = |version, edition: &str| -> Vec<_> {
        let options = try_resolve(version, "{}", &[("edition", edition)]).unwrap();
        options.list().map(|entry| (entry.name, entry.value.into_owned())).collect()
    };
    let lists = VERSIONS.map(|version| (list(version, DECEMBER), list(version, edition)));
    let values =
        |at: usize| lists.iter().map(move |(was, is)| [was[at].1.clone(), is[at].1.clone()]);
    (0..lists[0].0.len())
        .map(|at| (lists[0].0[at].0, values(at).collect::<Vec<_>>()))
        .filter(|(name, values)| *name != "edition" && values.iter().any(|[was, is]| was != is))
        .collect()
}

const DECEMBER: &str = "2024-12";
const JULY: &str = "2025-07";

#[test]
fn an_edition_is_chosen_by_the_call_before_the_template() {
    let version = "tosca_variability_1_0_rc_2";
    let edition = |template, overrides: &[_]| {
        let options = try_resolve(version, template, overrides).unwrap();
        assert_eq!(
            options.constraint(Constraint::SingleHosting),
            value(&options, "edition") == JULY
        );
        entry(&options, "edition")
    };
    assert_eq!(
        (&*edition("{}", &[]).value, edition("{}", &[]).origin),
        (DECEMBER, OptionOrigin::BuiltIn)
    );
    assert_eq!(edition("edition: 2025-07", &[]).value, JULY);
    assert_eq!(edition("edition: 2025-07", &[("edition", DECEMBER)]).value, DECEMBER);
    let called = edition("edition: 2024-12", &[("edition", DECEMBER), ("edition", JULY)]);
    assert_eq!((&*called.value, called.origin), (JULY, OptionOrigin::CommandLine));
}

#[test]
fn an_unknown_edition_is_reported_with_those_there_are() {
    let error = error("edition: 2025-06");
    assert_eq!(error.message, "option `edition` does not take a string `2025-06`");
    assert_eq!(
        error.help.as_deref(),
        Some("did you mean `2025-07`? it takes `2024-12`, `2025-07`")
    );
}

#[test]
fn what_an_edition_says_lies_below_the_template_whatever_it_follows() {
    let july = |template: &str| {
        let template = format!("edition: 2025-07\n{template}");
        let options = try_resolve("tosca_variability_1_0_rc_2", &template, &[]).unwrap();
        let all = [Constraint::RequiredHosting, Constraint::SingleHosting];
        all.map(|constraint| {
            (options.constraint(constraint), options.constraint_origin(constraint).layer())
        })
    };
    assert_eq!(july(""), [(true, 2), (true, 2)]);
    assert_eq!(july("constraints: false"), [(false, 4), (false, 4)]);
    assert_eq!(july("required_hosting_constraint: false"), [(false, 4), (true, 2)]);
}

/// An option that releases and editions turn on, the wider one that it follows, and for each edition
/// the versions in which it is on where nobody says anything. What an edition does not know is off,
/// whatever the wider option says.
type TurnedOn = (&'static str, &'static str, [Option<&'static [usize]>; 2]);

const TURNED_ON: [TurnedOn; 10] = [
    ("hosting_stack_constraint", "constraints", [Some(&[2, 3]); 2]),
    ("technology_constraint", "constraints", [Some(&[2, 3]); 2]),
    ("single_hosting_constraint", "constraints", [None, Some(&[2, 3])]),
    ("unique_technology_constraint", "constraints", [None, Some(&[2, 3])]),
    ("unique_property_constraint", "constraints", [Some(&[3]); 2]),
    ("unique_artifact_constraint", "constraints", [Some(&[3]); 2]),
    ("unique_input_constraint", "constraints", [Some(&[3]); 2]),
    ("unique_output_constraint", "constraints", [Some(&[3]); 2]),
    ("unique_relation_constraint", "constraints", [Some(&[3]); 2]),
    ("unassigned_input_check", "checks", [None, Some(&[0, 1, 2, 3])]),
];

#[test]
fn the_narrow_option_of_the_author_wins_then_the_wide_one_then_release_and_edition() {
    let said = [None, Some(true), Some(false)];
    let said = said.iter().flat_map(|&narrow| said.map(|wide| (narrow, wide)));
    for (name, wide, on) in TURNED_ON {
        for ((narrow_said, wide_said), (mode, _)) in
            said.clone().flat_map(|said| MODES.map(|mode| (said, mode)))
        {
            for (edition, on) in [DECEMBER, JULY].into_iter().zip(on) {
                let mut template = format!("edition: {edition}\nmode: {mode}\n");
                for (name, said) in [(wide, wide_said), (name, narrow_said)] {
                    if let Some(said) = said {
                        writeln!(template, "{name}: {said}").unwrap();
                    }
                }
                for (at, version) in VERSIONS.iter().enumerate() {
                    let options = try_resolve(version, &template, &[]).unwrap();
                    let otherwise = on.is_some_and(|on| wide_said.unwrap_or(on.contains(&at)));
                    let expected = narrow_said.unwrap_or(otherwise);
                    assert_eq!(
                        value(&options, name),
                        expected.to_string(),
                        "{version}: {template}"
                    );
                }
            }
        }
    }
}

#[test]
fn what_has_no_effect_is_a_warning_where_somebody_may_expect_one() {
    let template = "{technology_required: true, fallback_property_default_alternative: true}";
    let set =
        try_resolve("tosca_variability_1_0", template, &[("unique_scenario_constraint", "true")]);
    let set = set.unwrap();
    let messages: Vec<_> = set.warnings().0.iter().map(|one| &*one.message).collect();
    assert_eq!(
        messages,
        [
            "option `technology_required` has no effect",
            "option `unique_scenario_constraint` has no effect"
        ]
    );
    assert_eq!(pointed(template, &set.warnings().0[0]), "true");
    assert!(options("{}").warnings().0.is_empty());
}

#[test]
fn built_in_values_are_kept() {
    let mut text = String::new();
    for (key, option) in
        TABLE.options.iter().filter(|(key, _)| !matches!(key, OptionKey::Switch(_, Some(_), _)))
    {
        writeln!(text, "{}: {}", option.name, OptionSettings::default().decide(*key).text).unwrap();
    }
    insta::assert_snapshot!(text);
}

#[test]
fn unused_ends_are_checked_by_name_only_before_the_third_candidate() {
    for version in VERSIONS {
        let on = |template| {
            let options = try_resolve(version, template, &[]).unwrap();
            (options.check(Check::UnconsumedInput), options.check(Check::UnproducedOutput))
        };
        let follows = version.ends_with("rc_3");
        assert_eq!(on("{}"), (false, false));
        assert_eq!(on("{checks: true}"), (follows, follows));
        assert_eq!(on("{semantic_checks: true}"), (follows, false));
        assert_eq!(on("{consistency_checks: true}"), (false, follows));
        assert_eq!(on("{unconsumed_input_check: true}"), (true, false));
        assert_eq!(on("{unproduced_output_check: true}"), (false, true));
    }
}

// ---- Values ----

#[test]
fn true_is_short_for_min() {
    let options = options("{optimization_topology: true, optimization_technologies: true}");
    assert_eq!(
        (options.topology(), options.technologies()),
        (Optimization::Min, Optimization::Min)
    );
    assert_eq!(value(&options, "optimization_topology"), "min");
    assert_eq!(value(&options, "optimization_technologies"), "min");
}

#[test]
fn choices_are_answered() {
    let set = options(
        "{optimization_topology: max, optimization_topology_mode: count, optimization_technologies: min, \
         optimization_technologies_mode: weight, technology_assign_pattern: dotted}",
    );
    assert_eq!((set.topology(), set.topology_mode()), (Optimization::Max, TopologyMode::Count));
    assert_eq!(
        (set.technologies(), set.technologies_mode()),
        (Optimization::Min, TechnologiesMode::Weight)
    );
    assert_eq!(set.assign_pattern(), AssignPattern::Dotted);
    let unset = options("{}");
    assert_eq!(
        (unset.topology(), unset.topology_mode()),
        (Optimization::Off, TopologyMode::Weight)
    );
    assert_eq!(
        (unset.technologies(), unset.technologies_mode()),
        (Optimization::Off, TechnologiesMode::Count)
    );
    assert_eq!(unset.assign_pattern(), AssignPattern::Vintner);
}

#[test]
fn a_switch_of_both_aspects_takes_one_of_them() {
    let options =
        options("{pruning: semantic, node_pruning: consistency, input_semantic_pruning: false}");
    assert_eq!(aspects(&options, ElementKind::Group)[2..], [false, true]);
    assert_eq!(aspects(&options, ElementKind::Node)[2..], [true, false]);
    assert_eq!(aspects(&options, ElementKind::Input)[2..], [false, false]);
    assert_eq!(value(&options, "group_pruning"), "semantic");
    assert_eq!(value(&options, "group_semantic_pruning"), "true");
}

#[test]
fn one_aspect_needs_no_wider_switch() {
    let options = options("{node_consistency_pruning: true, default_semantic_condition: true}");
    assert!(
        options.pruning_enabled(ElementKind::Node) && !options.pruning_enabled(ElementKind::Group)
    );
    assert_eq!(aspects(&options, ElementKind::Node), [false, true, true, false]);
    assert_eq!(aspects(&options, ElementKind::Group), [false, true, false, false]);
}

#[test]
fn every_named_switch_answers_for_itself() {
    let unset = options("{checks: false}");
    for &check in Check::ALL {
        let set = options(&format!("{{checks: false, {}: true}}", check.as_str()));
        assert!(
            Check::ALL.iter().all(|&other| set.check(other) == (other == check)),
            "{}",
            check.as_str()
        );
        assert!(!unset.check(check));
    }
    for &constraint in Constraint::ALL {
        let set = options(&format!("{}: true", constraint.as_str()));
        assert!(
            Constraint::ALL.iter().all(|&other| set.constraint(other) == (other == constraint)),
            "{}",
            constraint.as_str()
        );
        assert!(matches!(set.constraint_origin(constraint), OptionOrigin::Template(_)));
        let origin = unset.constraint_origin(constraint);
        assert!(matches!(origin, OptionOrigin::BuiltIn | OptionOrigin::Edition(DECEMBER)));
    }
    for &flag in Flag::ALL {
        let set = options(&format!("{}: {}", flag.as_str(), !unset.flag(flag)));
        assert!(
            Flag::ALL
                .iter()
                .all(|&other| (set.flag(other) != unset.flag(other)) == (other == flag)),
            "{}",
            flag.as_str()
        );
    }
}

#[test]
fn wide_switches_reach_what_follows_them() {
    let off = options("{consistency_checks: false}");
    assert!(
        !off.check(Check::RelationSource)
            && off.check(Check::ExpectedHosting)
            && off.check(Check::Persistent)
    );
    let off = options("{semantic_checks: false}");
    assert!(
        off.check(Check::RelationSource)
            && !off.check(Check::ExpectedHosting)
            && !off.check(Check::RequiredTechnology)
    );
    let on = options(
        "{edition: 2025-07, constraints: true, hosting_stack_constraint: false, unique_technology_constraint: false}",
    );
    assert!(
        !on.constraint(Constraint::RequiredHosting) && on.constraint(Constraint::SingleHosting)
    );
    assert!(
        on.constraint(Constraint::RequiredTechnology)
            && !on.constraint(Constraint::UniqueTechnology)
    );
    assert!(on.constraint(Constraint::UniqueInput));
}

#[test]
fn an_option_has_two_names() {
    assert!(!options("anchor_check: false").check(Check::Persistent));
    let template = "{anchor_check: false, persistent_check: true}";
    let error = error(template);
    assert_eq!(pointed(template, &error), "persistent_check");
    assert_eq!(error.labels.len(), 1);
    assert!(error.help.unwrap().contains("anchor_check"));
    let both = "{required_hosting_constraint: true, hosting_stack_constraint: true}";
    assert!(options(both).constraint(Constraint::RequiredHosting), "for tools of each revision");
}

// ---- Modes of default conditions ----

#[test]
fn default_condition_modes_are_read() {
    use ModePart::*;
    assert_eq!(options("{}").mode(ElementKind::Node), [Incoming, Artifact]);
    assert_eq!(
        options("node_default_condition_mode: host-relation").mode(ElementKind::Node),
        [Host, Incoming]
    );
    assert_eq!(
        options("artifact_default_condition_mode: technology-container")
            .mode(ElementKind::Artifact),
        [Managed, Container]
    );
    assert_eq!(options("{}").mode(ElementKind::Input), []);
    assert_eq!(
        value(
            &options("artifact_default_condition_mode: technology"),
            "artifact_default_condition_mode"
        ),
        "managed"
    );
}

#[test]
fn default_condition_modes_are_refused() {
    let message = |kind, text| parse_mode(kind, text).unwrap_err().message;
    assert_eq!(
        message(ElementKind::Node, "incoming-target"),
        "`target` is no part of a default condition mode of nodes"
    );
    assert_eq!(
        message(ElementKind::Node, ""),
        "`` is no part of a default condition mode of nodes"
    );
    assert_eq!(
        message(ElementKind::Node, "relation-incoming"),
        "the default condition mode `relation-incoming` has the part `incoming` twice"
    );
    assert_eq!(message(ElementKind::Group, "container"), "groups have no default condition mode");
    assert!(
        parse_mode(ElementKind::Node, "incomin")
            .unwrap_err()
            .help
            .unwrap()
            .starts_with("did you mean `incoming`?")
    );
    let template = "node_default_condition_mode: hots";
    assert_eq!(pointed(template, &error(template)), "hots");
}

/// The kinds whose default condition mode has parts.
const MODE_KINDS: &[ElementKind] = &[
    ElementKind::Node,
    ElementKind::Relation,
    ElementKind::Property,
    ElementKind::Artifact,
    ElementKind::Technology,
    ElementKind::Output,
];

proptest! {
    #[test]
    fn default_condition_modes_take_parts_in_any_order(
        (kind, parts) in prop::sample::select(MODE_KINDS)
            .prop_flat_map(|kind| (Just(kind), prop::sample::subsequence(kind.parts(), 1..=kind.parts().len()).prop_shuffle()))
    ) {
        let text = parts.iter().map(|part| part.as_str()).collect::<Vec<_>>().join("-");
        prop_assert_eq!(parse_mode(kind, &text).unwrap(), parts.clone());
        let twice = format!("{text}-{}", parts[0]);
        prop_assert!(parse_mode(kind, &twice).is_err());
    }

    #[test]
    fn no_text_makes_it_panic(name in ".{0,12}", text in ".{0,12}") {
        _ = parse_mode(ElementKind::Node, &text);
        _ = try_resolve("tosca_variability_1_0", "{}", &[(&name, &text), ("mode", &text), ("pruning", &text)]);
    }
}

// ---- Mistakes ----

#[test]
fn an_unknown_option_is_reported_at_its_key() {
    let template = "{node_prunning: true, xyz: 1}";
    let found = errors(template);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].message, "unknown variability option `node_prunning`");
    assert_eq!(found[0].help.as_deref(), Some("did you mean `node_pruning`?"));
    assert_eq!(
        (pointed(template, &found[0]), pointed(template, &found[1])),
        ("node_prunning", "xyz")
    );
    assert_eq!(found[1].help, None);
}

#[test]
fn kinds_with_one_default_condition_have_no_mode() {
    for kind in ["input", "group", "policy", "type", "import"] {
        let error = error(&format!("{kind}_default_condition_mode: container"));
        assert!(error.message.starts_with("unknown variability option"), "{error:?}");
    }
}

#[test]
fn a_wrong_value_is_reported_at_its_place_with_what_fits() {
    let cases = [
        ("node_pruning: yes", "yes", "option `node_pruning` does not take a string `yes`"),
        ("checks: 'true'", "'true'", "option `checks` does not take a string `true`"),
        ("checks: 1", "1", "option `checks` does not take a number `1`"),
        ("checks: [true]", "[true]", "option `checks` does not take a list"),
        (
            "checks: consistency",
            "consistency",
            "option `checks` does not take a string `consistency`",
        ),
        (
            "mode: semantic-lose",
            "semantic-lose",
            "option `mode` does not take a string `semantic-lose`",
        ),
        (
            "optimization_topology_mode: true",
            "true",
            "option `optimization_topology_mode` does not take a boolean `true`",
        ),
    ];
    for (template, place, message) in cases {
        let error = error(template);
        assert_eq!((pointed(template, &error), &*error.message), (place, message));
        assert!(error.help.unwrap().contains("it takes `"));
    }
    assert!(
        error("mode: semantic-lose")
            .help
            .unwrap()
            .starts_with("did you mean `semantic-loose`? it takes `manual`, ")
    );
    assert!(error("optimization_topology: minn").help.unwrap().starts_with("did you mean `min`?"));
}

#[test]
fn options_are_a_map() {
    assert_eq!(error("[mode]").message, "variability options have to be a map, not a list");
    assert_eq!(options("").list().collect::<Vec<_>>(), options("{}").list().collect::<Vec<_>>());
}

#[test]
fn all_mistakes_of_all_layers_are_reported_without_places_outside_of_files() {
    let overrides = [("chekcs", "true"), ("checks", "maybe"), ("checks", "[")];
    let found = try_resolve("tosca_variability_1_0", "{pruning: 7, prunning: true}", &overrides)
        .unwrap_err();
    let places: Vec<_> = found.iter().map(|one| one.span.is_some()).collect();
    assert_eq!(places, [true, true, false, false, false], "{found:?}");
    assert!(found[4].message.starts_with("value of option `checks`: "), "{found:?}");
}

// ---- Precedence ----

#[test]
fn later_overrides_win() {
    let overrides = [("anchor_check", "true"), ("persistent_check", "false")];
    let options =
        try_resolve("tosca_variability_1_0", "persistent_check: true", &overrides).unwrap();
    assert!(!options.check(Check::Persistent));
    assert_eq!(entry(&options, "persistent_check").origin, OptionOrigin::CommandLine);
}

#[test]
fn origins_name_what_decided() {
    let template = "{constraints: true, semantic_pruning: true}";
    let options = options(template);
    let OptionOrigin::Template(span) = options.constraint_origin(Constraint::RequiredHosting)
    else {
        panic!()
    };
    assert_eq!(&template[span.start as usize - 13..span.end as usize], "constraints: true");
    assert_eq!(
        options.pruning_origin(ElementKind::Node, Aspect::Consistency),
        OptionOrigin::BuiltIn
    );
    assert!(matches!(
        options.pruning_origin(ElementKind::Node, Aspect::Semantic),
        OptionOrigin::Template(_)
    ));
    assert!(matches!(entry(&options, "node_pruning").origin, OptionOrigin::Template(_)));
    assert_eq!(
        options.default_condition_origin(ElementKind::Node, Aspect::Semantic),
        OptionOrigin::BuiltIn
    );
    let sources = SourceMap::default();
    sources.add("shop.yaml", template);
    assert_eq!(
        options.constraint_origin(Constraint::RequiredHosting).describe(&sources),
        "shop.yaml:1:15"
    );
}

/// The four options that decide about nodes, the most specific first.
const NODE_NAMES: [&str; 4] =
    ["node_semantic_pruning", "node_pruning", "semantic_pruning", "pruning"];

fn layer() -> impl Strategy<Value = BTreeMap<&'static str, bool>> {
    prop::collection::btree_map(prop::sample::select(&NODE_NAMES[..]), any::<bool>(), 0..=4)
}

proptest! {
    #[test]
    fn per_option_the_later_layer_wins_and_then_the_most_specific(template in layer(), asked in layer(), mode in 0..MODES.len()) {
        let (mode, on) = MODES[mode];
        let mut text = format!("mode: {mode}\n");
        for (name, on) in &template {
            writeln!(text, "{name}: {on}").unwrap();
        }
        let overrides: Vec<_> = asked.iter().map(|(name, on)| (*name, if *on { "true" } else { "false" })).collect();
        let options = try_resolve("tosca_variability_1_0", &text, &overrides).unwrap();

        let mut merged: BTreeMap<&str, bool> = BTreeMap::new();
        if on[2] || on[3] {
            merged.insert("node_pruning", on[3]);
        }
        merged.extend(template);
        merged.extend(asked);
        let expected = NODE_NAMES.iter().find_map(|name| merged.get(name)).copied().unwrap_or(false);
        prop_assert_eq!(options.pruning_aspect(ElementKind::Node, Aspect::Semantic), expected);
        prop_assert_eq!(value(&options, "node_semantic_pruning"), expected.to_string());
    }

    #[test]
    fn a_check_is_decided_by_the_most_specific_that_is_set(
        set in prop::collection::btree_map(prop::sample::select(&["checks", "semantic_checks", "expected_artifact_check"][..]), any::<bool>(), 0..=3)
    ) {
        let overrides: Vec<_> = set.iter().map(|(name, on)| (*name, if *on { "true" } else { "false" })).collect();
        let options = try_resolve("tosca_variability_1_0", "{}", &overrides).unwrap();
        let chain = ["expected_artifact_check", "semantic_checks", "checks"];
        let expected = chain.iter().find_map(|name| set.get(name)).copied().unwrap_or(true);
        prop_assert_eq!(options.check(Check::ExpectedArtifact), expected);
    }
}

// ---- Documentation ----

/// The text of `docs/options.md` after its first part, which is written by hand.
fn tables() -> String {
    let all: Vec<_> =
        VERSIONS.iter().map(|version| try_resolve(version, "{}", &[]).unwrap()).collect();
    let lists: Vec<Vec<_>> = all.iter().map(|options| options.list().collect()).collect();
    let modes = presets::release(VERSIONS[0]).unwrap().modes.names();
    let mut text = String::new();
    let mut section = None;
    for (at, (_, option)) in TABLE.options.iter().enumerate() {
        if section.replace(option.section) != Some(option.section) {
            let title = option.section.title();
            write!(text, "\n## {title}\n\n| Option | Values | `1_0` | `rc_1` | `rc_2` | `rc_3` | What it does |\n").unwrap();
            text.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
        }
        let alias = option.alias.map(|alias| format!(" or `{alias}`")).unwrap_or_default();
        write!(text, "| `{}`{alias} | {} |", option.name, option.takes.describe(&modes)).unwrap();
        for list in &lists {
            write!(text, " `{}` |", list[at].value).unwrap();
        }
        writeln!(text, " {} |", option.description).unwrap();
    }
    text.push_str("\n## Editions\n\nWhat is otherwise than in the tables above, where it is.\n");
    for edition in presets::editions().filter(|&edition| edition != DECEMBER) {
        write!(text, "\n### `{edition}`\n\n| Option | `1_0` | `rc_1` | `rc_2` | `rc_3` |\n")
            .unwrap();
        text.push_str("| --- | --- | --- | --- | --- |\n");
        for (name, values) in differences(edition) {
            write!(text, "| `{name}` |").unwrap();
            for [was, is] in values {
                if was == is { text.push_str(" |") } else { write!(text, " `{is}` |").unwrap() }
            }
            text.push('\n');
        }
    }
    text
}

#[test]
fn documentation_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/options.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let mark = "<!-- Below this line generated: UPDATE_DOCS=1 cargo test documentation -->\n";
    let (by_hand, generated) = text.split_once(mark).unwrap();
    let expected = tables();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{by_hand}{mark}{expected}")).unwrap();
    } else {
        assert!(
            generated == expected,
            "docs/options.md is out of date: run `UPDATE_DOCS=1 cargo test documentation`"
        );
    }
}
