//! Tests that parts of types are renamed wherever they stand, or not at all. In the files of
//! `tests/editor/parts`, each name that begins with `q_` is one name, so that replacing its text is
//! what renaming has to do.

use cuvee::Resolver;
use cuvee::editor::{Renaming, TemplateAnalysis};
use cuvee::source::MemoryFiles;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

type Texts = BTreeMap<String, String>;

fn resolver(texts: &Texts, root: &str) -> Resolver {
    Resolver::new(root).files(MemoryFiles::from_iter(texts.clone()))
}

fn texts<const N: usize>(files: [(&str, &str); N]) -> Texts {
    files.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

/// The files of `tests/editor/parts`, and the scripts that they name.
fn parts() -> Texts {
    texts([
        ("types.yaml", include_str!("parts/types.yaml")),
        ("more.yaml", include_str!("parts/more.yaml")),
        ("shop.yaml", include_str!("parts/shop.yaml")),
        ("service.yaml", include_str!("parts/service.yaml")),
        ("two.yaml", include_str!("parts/two.yaml")),
        ("clean.sh", "true\n"),
        ("more.sh", "true\n"),
        ("own.sh", "true\n"),
        ("picture.png", "\n"),
    ])
}

/// Renames what is at an offset of a file in all of these templates.
fn renamed(
    texts: &Texts,
    roots: &[&str],
    (file, offset): (&str, usize),
    new: &str,
) -> Result<Texts, String> {
    let own = if roots.contains(&file) { file } else { roots[0] };
    let start =
        |analysis: &TemplateAnalysis<'_>| Renaming::start(analysis, Path::new(file), offset, new);
    let mut renaming = resolver(texts, own).analysis(None, start)?;
    let mut is_more = true;
    while is_more {
        is_more = false;
        for root in roots {
            is_more |= resolver(texts, root).analysis(None, |it| renaming.spread(it))?;
        }
    }
    let mut after = texts.clone();
    let mut changes: Vec<_> = renaming.changes().collect();
    changes.reverse();
    for change in changes {
        let text = after.get_mut(change.path.to_str().unwrap()).unwrap();
        text.replace_range(change.range, change.new);
    }
    Ok(after)
}

/// The places of words that begin with `q_`.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices("q_").map(|(at, _)| {
        let rest = &text[at..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        (at, &rest[..end])
    })
}

/// A text with another word in the place of one.
fn replaced(text: &str, old: &str, new: &str) -> String {
    let mut after = text.to_owned();
    let places: Vec<_> = words(text).filter(|(_, word)| *word == old).collect();
    places.iter().rev().for_each(|(at, _)| after.replace_range(*at..at + old.len(), new));
    after
}

/// What is found in a template, and what each choice of its inputs resolves to.
fn outcome(texts: &Texts, root: &str) -> (BTreeSet<String>, Vec<String>) {
    let found = resolver(texts, root).validate().diagnostics;
    let found = found.iter().map(|it| format!("{} {}", it.code, it.message)).collect();
    let resolve = |live: bool| {
        let resolver = resolver(texts, root);
        let has_inputs = texts[root].contains("variability_input");
        let resolver = if has_inputs { resolver.input("live", live) } else { resolver };
        match resolver.resolve() {
            Ok(resolution) => resolution.to_yaml().to_owned(),
            Err(failure) => failure.diagnostics.iter().map(|it| it.message.clone()).collect(),
        }
    };
    (found, [false, true].map(resolve).into())
}

fn restored(
    (found, results): (BTreeSet<String>, Vec<String>),
    new: &str,
    old: &str,
) -> (BTreeSet<String>, Vec<String>) {
    let restore = |text: String| text.replace(new, old);
    (found.into_iter().map(restore).collect(), results.into_iter().map(restore).collect())
}

#[test]
fn parts_are_renamed_wherever_they_stand() {
    let before = parts();
    let mut count = 0;
    for roots in [&["shop.yaml", "service.yaml", "more.yaml", "types.yaml"][..], &["two.yaml"]] {
        let mut results = BTreeMap::new();
        for file in roots {
            for (at, name) in words(&before[*file]) {
                let expected: Texts = before
                    .iter()
                    .map(|(path, text)| {
                        let is_one = roots.contains(&&**path);
                        let text =
                            if is_one { replaced(text, name, "r_new") } else { text.clone() };
                        (path.clone(), text)
                    })
                    .collect();
                let line = before[*file][..at].lines().count();
                let after = renamed(&before, roots, (file, at + 1), "r_new");
                let after = after.unwrap_or_else(|why| panic!("{file}:{line}: {name}: {why}"));
                for root in roots {
                    assert_eq!(after[*root], expected[*root], "{file}:{line}: {name} in {root}");
                }
                results.insert(name, after);
                count += 1;
            }
        }
        for root in roots {
            let expected = outcome(&before, root);
            assert!(!expected.0.iter().any(|it| it.starts_with("unknown")), "{root}: {expected:?}");
            for (name, after) in &results {
                assert_eq!(
                    restored(outcome(after, root), "r_new", name),
                    expected,
                    "{name} in {root}"
                );
            }
        }
    }
    assert!(count > 150, "{count}");
}

const HEAD: &str = "tosca_definitions_version: tosca_simple_yaml_1_3\n";

/// Texts in which the part at `|` cannot be called `new`, and why.
const REFUSED: &[(&str, &str, &str)] = &[
    (
        "node_types:\n  A: {properties: {p|: {type: string}, r: {type: string}}}\n",
        "r",
        "there is a `r` already, at t.yaml:3:39",
    ),
    (
        "node_types:\n  A: {properties: {p|: {type: string}}}\n  B: {derived_from: A, properties: {r: {type: string}}}\n",
        "r",
        "there is a `r` already, at t.yaml:4:37",
    ),
    (
        "node_types:\n  A: {attributes: {r: {type: string}}}\n  B: {derived_from: A, properties: {p|: {type: string}}}\n",
        "r",
        "there is a `r` already, at t.yaml:3:20",
    ),
    (
        "node_types:\n  A: {derived_from: Missing, properties: {p|: {type: string}}}\n",
        "r",
        "`p` at t.yaml:3:43 may be the same: what it is a part of is not known there",
    ),
    (
        "node_types:\n  A: {properties: {p|: {type: string}}}\ntopology_template: {node_templates: {a: {type: Missing, properties: {p: x}}}}\n",
        "r",
        "`p` at t.yaml:4:70 may be the same: what it is a part of is not known there",
    ),
    (
        "node_types:\n  A: {properties: {p|: {type: string}}}\ntopology_template: {node_templates: {a: {type: [A, Missing], properties: {p: x}}}}\n",
        "r",
        "`p` at t.yaml:4:75 may be the same: what it is a part of is not known there",
    ),
    (
        "node_types:\n  A: {derived_from: tosca.nodes.Compute, capabilities: {host|: {type: tosca.capabilities.Compute}}}\n",
        "r",
        "`host` is the capability of `tosca.nodes.Abstract.Compute`, a type of TOSCA, so its name stays",
    ),
    (
        "node_types:\n  A: {derived_from: tosca.nodes.Compute}\ntopology_template: {node_templates: {a: {type: A, capabilities: {host: {properties: {num_cpus|: 1}}}}}}\n",
        "r",
        "`num_cpus` is the property of `tosca.capabilities.Compute`, a type of TOSCA, so its name stays",
    ),
    (
        "node_types:\n  A: {properties: {p|: {type: string}}}\ntopology_template: {node_templates: {a: {type: A, properties: {\"\\x70\": x}}}}\n",
        "r",
        "`p` is written in other letters at t.yaml:4:64: change that first",
    ),
    (
        "node_types:\n  A: {requirements: [{db_host|: {capability: tosca.capabilities.Node}}]}\n",
        "db",
        "`db_host` cannot be `db`: the word `host` in the name of a requirement says that it leads to a host",
    ),
    (
        "node_types:\n  A: {properties: {password|: {type: string}}}\n",
        "word",
        "`password` cannot be `word`: by the one name values are kept secret, by the other they are not; say so in its `metadata` first, by `sensitive: true` or `false`",
    ),
    (
        "data_types:\n  D: {properties: {p|: {type: string}}}\n",
        "value",
        "`value` is a word that values may have beside properties",
    ),
    (
        "interface_types:\n  I: {operations: {tidy|: {}}}\n",
        "inputs",
        "`inputs` is no name that an operation can be called by",
    ),
    (
        "interface_types:\n  I: {operations: {start|: {}}}\n",
        "go",
        "`start` is an operation that orchestrators call by themselves",
    ),
    (
        "node_types:\n  A: {properties: {p|: {type: string}}}\n",
        "a b",
        "`a b` cannot be a name: use letters, digits, `_`, `-` and `.`",
    ),
    (
        "topology_template: {node_templates: {a|: {type: tosca.nodes.Root}}}\n",
        "SELF",
        "`SELF` cannot be a name: expressions use it as a word",
    ),
    (
        "topology_template:\n  variability: {inputs: {node.a: {type: boolean, default: true}}}\n  node_templates: {a|: {type: tosca.nodes.Root}}\n",
        "b",
        "the variability input `node.a` is made of the name `a`, so it would lose its meaning",
    ),
    (
        "node_types: {A: {properties: {p|: {type: string}, q: {type: string, default: x}}}}\ntopology_template: {node_templates: {a: {type: A, properties: {p: \"{{ '::a::q' | eval }}\"}}, b: {type: A, properties: {p: {eval: \"::a::p\"}}}}}\n",
        "r",
        "`p` stands in an expression of `eval` at t.yaml:3:130: change that by hand",
    ),
    (
        "node_types: {App|: {}, App~App::helm: {derived_from: App}}\ntopology_template: {variability: {qualities: [{technology: helm, component: App}]}, node_templates: {a: {type: App}}}\n",
        "Shop",
        "the type `App~App::helm`, which technology rules assign, is made of the name `App`, so it would lose its meaning",
    ),
    (
        "node_types:\n  A: {properties: {p|: {type: string}}, more: {p: 1}}\n",
        "r",
        "`p` at t.yaml:3:47 may be the same: what it is a part of is not known there",
    ),
];

#[test]
fn what_is_not_known_is_not_renamed() {
    for (text, new, why) in REFUSED {
        let text = format!("{HEAD}{text}");
        let at = text.find('|').unwrap();
        let texts = texts([("t.yaml", &text.replacen('|', "", 1))]);
        assert_eq!(renamed(&texts, &["t.yaml"], ("t.yaml", at), new).unwrap_err(), *why, "{text}");
    }
}

/// Names in conditions are those of nodes, types and parts, also within identifiers, and in TOSCA
/// 2.0 a requirement may ask for a capability by its name.
#[test]
fn names_in_conditions_and_definitions_are_renamed() {
    for text in [
        "node_types:\n  q_App: {properties: {q_port: {type: integer, required: false}}}\n  q_Web: {derived_from: q_App}\ntopology_template:\n  variability: {options: {mode: consistent-loose}}\n  inputs: {q_in: {type: string, default: a}}\n  node_templates:\n    q_app: {type: [q_Web: {conditions: true}], properties: [q_port: {value: 80}]}\n    b: {type: q_App, conditions: node.q_app}\n    c: {type: q_App, conditions: {node_type_presence: [q_app, q_Web]}}\n    d: {type: q_App, conditions: [property.q_port@0.node.q_app, \"type.q_Web@0.node.q_app\", input.q_in@0]}\n    e: {type: q_App, implies: [[node.q_app, group.q_team]]}\n  groups: {q_team: {type: tosca.groups.Root, members: [q_app]}}\n",
        "node_types:\n  a: {properties: {p: {type: string}}}\ntopology_template: {node_templates: {x.node.y@1: {type: a}, q_z: {type: a, conditions: node.x.node.y@1}, node: {type: a, conditions: node.node}}}\n",
    ] {
        check_words(&format!("{HEAD}{text}"));
    }
    check_words(&format!(
        "{HEAD}artifact_types: {{q_Img: {{derived_from: tosca.artifacts.Root}}}}\nrelationship_types: {{q_Rel: {{derived_from: tosca.relationships.DependsOn}}}}\ntopology_template:\n  variability: {{inputs: {{q_x: {{type: boolean, default: false}}}}, options: {{mode: manual}}}}\n  node_templates:\n    a: {{type: tosca.nodes.Root, requirements: [dependency: {{node: b, relationship: rt}}], artifacts: [im: {{type: [tosca.artifacts.File: {{conditions: {{variability_input: q_x}}}}, q_Img: {{default_alternative: true}}], file: f}}]}}\n    b: {{type: tosca.nodes.Root, conditions: [{{artifact_type_presence: [a, im, q_Img]}}, {{relation_type_presence: [a, dependency, q_Rel]}}], requirements: [dependency: {{node: a, relationship: {{type: [q_Rel: {{conditions: {{variability_input: q_x}}}}]}}}}]}}\n  relationship_templates: {{rt: {{type: [q_Rel: {{conditions: true}}, tosca.relationships.DependsOn: {{default_alternative: true}}]}}}}\n"
    ));
    check_words(
        "tosca_definitions_version: tosca_2_0\ncapability_types: {Cap: {}}\nrelationship_types: {Rel: {}}\nnode_types:\n  Base: {capabilities: {q_spot: {type: Cap}}}\n  User: {requirements: [uses: {capability: q_spot, node: Base, relationship: Rel}]}\nservice_template: {node_templates: {b: {type: Base}, u: {type: User, requirements: [uses: b]}}}\n",
    );
}

/// Renames each word of a template that begins with `q_`.
fn check_words(text: &str) {
    let texts = texts([("t.yaml", text)]);
    for (at, name) in words(text) {
        let after = renamed(&texts, &["t.yaml"], ("t.yaml", at), "r_new").unwrap();
        assert_eq!(after["t.yaml"], replaced(text, name, "r_new"), "{name}");
    }
}

/// Parts that one word may name are renamed together.
#[test]
fn parts_that_share_a_word_are_renamed_together() {
    for text in [
        // Alternatives of a node.
        "node_types:\n  A: {properties: {q_p: {type: string}}}\n  B: {properties: {q_p: {type: string}}}\n  C: {properties: {p: {type: string}}}\ntopology_template: {node_templates: {a: {type: [A, B], properties: {q_p: x}}}}\n",
        // One map by an anchor.
        "node_types:\n  A: {properties: {q_p: {type: string}}}\n  B: {properties: {q_p: {type: string}}}\ntopology_template: {node_templates: {a: {type: A, properties: &all {q_p: x}}, b: {type: B, properties: *all}}}\n",
        // A property and the attribute of the same name.
        "node_types:\n  A: {properties: {q_p: {type: string}}, attributes: {q_p: {type: string}}}\ntopology_template: {node_templates: {a: {type: A, properties: {q_p: x}, attributes: {q_p: y}}}}\n",
    ] {
        check_words(&format!("{HEAD}{text}"));
    }
}

/// Another part of the same name keeps it.
#[test]
fn other_parts_of_the_name_stay() {
    let text = format!(
        "{HEAD}node_types:\n  A: {{properties: {{q_p: {{type: string}}}}}}\n  B: {{properties: {{p: {{type: string}}}}}}\ntopology_template:\n  node_templates:\n    a: {{type: A, properties: {{q_p: {{get_property: [b, p]}}}}}}\n    b: {{type: B, properties: {{p: {{get_property: [a, q_p]}}}}}}\n"
    );
    let plain = text.replace("q_p", "p");
    let texts = texts([("t.yaml", &plain)]);
    let at = plain.find("p: {type").unwrap();
    let after = renamed(&texts, &["t.yaml"], ("t.yaml", at), "r").unwrap();
    assert_eq!(after["t.yaml"], replaced(&text, "q_p", "r"));
}

/// Random types that share few names, and a template of them.
fn workspace() -> impl Strategy<Value = Texts> {
    let name = || prop::sample::select(vec!["qa", "qb", "qc"]);
    let names = move || prop::collection::btree_set(name(), 1..3);
    let kind = (0..4_usize, names(), names(), names(), prop::bool::ANY);
    let node = (0..4_usize, 0..4_usize, name(), name(), 0..6_usize);
    (prop::collection::vec(kind, 4), prop::collection::vec(node, 1..5)).prop_map(|(types, nodes)| {
        let mut library = format!(
            "{HEAD}capability_types:\n  C: {{derived_from: tosca.capabilities.Root, properties: {{qa: {{type: integer, default: 1}}}}}}\nnode_types:\n"
        );
        for (number, (parent, properties, capabilities, requirements, refines)) in types.iter().enumerate() {
            let parent = if *parent < number { format!("T{parent}") } else { "tosca.nodes.Root".to_owned() };
            writeln!(library, "  T{number}:\n    derived_from: {parent}\n    properties:").unwrap();
            for name in properties {
                writeln!(library, "      {name}: {{type: integer, default: {number}}}").unwrap();
            }
            writeln!(library, "    capabilities:").unwrap();
            for name in capabilities {
                let own = if *refines { ", properties: {qa: {type: integer, default: 3}, qb: {type: integer, default: 4}}" } else { "" };
                writeln!(library, "      c{name}: {{type: C{own}}}").unwrap();
            }
            writeln!(library, "    requirements:").unwrap();
            for name in requirements {
                writeln!(library, "      - r{name}: {{capability: C, occurrences: [0, 1]}}").unwrap();
            }
        }
        let mut template = "tosca_definitions_version: tosca_variability_1_0\nimports: [types.yaml]\ntopology_template:\n  variability:\n    inputs: {live: {type: boolean, default: true}}\n  node_templates:\n".to_owned();
        for (number, (kind, target, first, second, form)) in nodes.iter().enumerate() {
            let target = target % nodes.len();
            let value = match form {
                0 => "5".to_owned(),
                1 => format!("{{get_property: [n{target}, {second}]}}"),
                2 => format!("{{get_property: [n{target}, c{second}, {first}]}}"),
                3 => format!("{{get_property: [SELF, r{second}, {first}]}}"),
                4 => format!("{{get_attribute: [n{target}, {second}]}}"),
                _ => format!("{{get_property: [n{target}, r{second}, c{first}]}}"),
            };
            writeln!(template, "    n{number}:\n      type: T{kind}\n      properties: {{{first}: {value}}}\n      requirements: [{{r{second}: n{target}}}]").unwrap();
            writeln!(template, "      conditions: {{or: [{{variability_input: live}}, {{node_property_presence: [n{number}, {first}]}}]}}").unwrap();
        }
        texts([("types.yaml", &library), ("t.yaml", &template)])
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is renamed, validating and resolving say the same but for the name, and renaming
    /// back leads to the same texts, unless a step of a path might mean another part then.
    #[test]
    fn renaming_changes_only_the_name(texts in workspace(), share in 0.0..1.0_f64) {
        let roots = ["t.yaml", "types.yaml"];
        let names: Vec<_> = roots.iter().flat_map(|file| {
            ["qa", "qb", "qc"].iter().flat_map(|name| texts[*file].match_indices(name).map(|(at, _)| (*file, at)))
        }).collect();
        let (file, at) = names[(names.len() as f64 * share) as usize];
        let start = texts[file][..at].rfind(|c: char| !c.is_alphanumeric()).map_or(0, |it| it + 1);
        let old = texts[file][start..at + 2].to_owned();
        if let Ok(after) = renamed(&texts, &roots, (file, at), "znew") {
            prop_assert_eq!(restored(outcome(&after, "t.yaml"), "znew", &old), outcome(&texts, "t.yaml"));
            let (file, at) = roots.iter().find_map(|file| Some((*file, after[*file].find("znew")?))).unwrap();
            match renamed(&after, &roots, (file, at), &old) {
                Ok(back) => prop_assert_eq!(&back, &texts),
                Err(why) => prop_assert!(why.starts_with(&format!("there is a `{old}` already")), "{}", why),
            }
        }
    }
}
