//! Tests that the parts of a result stay as their author wrote them. Each `template.yaml` below
//! `tests/faithful` resolves to the bytes of the `expected.yaml` beside it, including scalars,
//! quotes, comments and styles.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its templates has failed")]

use cuvee::Resolver;
use cuvee::diagnostic::Diagnostic;
use cuvee::parts::yaml::{Limits, parse};
use cuvee::source::FileId;
use std::fmt::Write;
use std::fs::{self, read_to_string};
use std::path::{Path, PathBuf};

#[test]
fn results_are_as_their_authors_wrote_them() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faithful");
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    cases.sort();
    assert!(!cases.is_empty(), "there are no cases");
    let mut problems = String::new();
    for case in cases {
        let expected = read_to_string(case.join("expected.yaml")).unwrap();
        let difference = match Resolver::new(case.join("template.yaml")).resolve() {
            Ok(resolution) => difference(&expected, resolution.to_yaml()),
            Err(failure) => Some(failure.to_string()),
        };
        if let Some(difference) = difference {
            writeln!(problems, "{}: {difference}", case.display()).unwrap();
        }
    }
    assert!(problems.is_empty(), "\n{problems}");
}

/// Finds plain templates that resolve, without those that use a notation of variable ones.
fn plain_templates(below: &Path, found: &mut Vec<(PathBuf, String, String)>) {
    for entry in fs::read_dir(below).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            plain_templates(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            let text = read_to_string(&path).unwrap_or_default();
            let is_plain = parse(FileId::DETACHED, text.clone().into(), &Limits::default())
                .ok()
                .and_then(|document| {
                    let version = document.root().get("tosca_definitions_version")?;
                    Some(version.text()?.contains("simple"))
                })
                .unwrap_or_default();
            let resolved = is_plain.then(|| Resolver::new(&path).resolve());
            let Some(Ok(resolution)) = resolved else { continue };
            let is_variable = |warning: &Diagnostic| warning.message.contains("in plain TOSCA");
            if !resolution.warnings().iter().any(is_variable) {
                found.push((path, text, resolution.to_yaml().to_owned()));
            }
        }
    }
}

#[test]
fn what_is_plain_stays_as_it_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut templates = Vec::new();
    for directory in ["tests", "examples"] {
        plain_templates(&root.join(directory), &mut templates);
    }
    assert!(templates.len() > 200, "{}", templates.len());
    let mut problems = String::new();
    for (path, text, resolved) in templates {
        if let Some(difference) = difference(&text, &resolved) {
            writeln!(problems, "{}: {difference}", path.display()).unwrap();
        }
    }
    assert!(problems.is_empty(), "\n{problems}");
}

/// The first line that differs; `None` if all bytes are equal.
fn difference(expected: &str, got: &str) -> Option<String> {
    let same = expected
        .split_inclusive('\n')
        .zip(got.split_inclusive('\n'))
        .take_while(|(wanted, found)| wanted == found)
        .count();
    let (wanted, found) = (line(expected, same), line(got, same));
    (expected != got).then(|| format!("line {}: expected {wanted:?}, got {found:?}", same + 1))
}

fn line(text: &str, index: usize) -> &str {
    text.split_inclusive('\n').nth(index).unwrap_or_default()
}

/// A variable template with all parts that a service template has.
const ALL_PARTS: &str = r#"
tosca_definitions_version: tosca_variability_1_0
repositories: {r: {url: x}}
data_types: {D: {properties: {p: {type: list, required: false, entry_schema: {type: string}}}}}
artifact_types: {F: {derived_from: tosca.artifacts.Root, properties: {p: {type: string, required: false}}}}
capability_types: {C: {derived_from: tosca.capabilities.Root, properties: {p: {type: integer, required: false}}, attributes: {a: {type: string}}}}
interface_types: {I: {derived_from: tosca.interfaces.Root, operations: {go: {inputs: {i: {type: integer, default: 1}}}}, notifications: {n: {}}}}
relationship_types: {R: {derived_from: tosca.relationships.DependsOn, interfaces: {I: {type: I}}}}
group_types: {G: {derived_from: tosca.groups.Root}}
policy_types: {P: {derived_from: tosca.policies.Root, triggers: {t: {event: e, action: []}}}}
node_types:
  N:
    derived_from: tosca.nodes.Root
    properties: {p: {type: string, required: false}}
    attributes: {a: {type: string}}
    capabilities: {c: {type: C}}
    requirements: [{d: {capability: tosca.capabilities.Node, relationship: {type: R}, occurrences: [0, 1]}}]
    interfaces: {I: {type: I}}
    artifacts: {f: {type: F, file: f.sh}}
topology_template:
  variability: {inputs: {a: {type: boolean, default: true}}}
  inputs: {i: {type: string, default: x}}
  node_templates:
    z:
      type: N
      properties: {p: {value: x}}
      attributes: {a: {value: x}}
      capabilities: {c: {properties: {p: {value: 1}}, attributes: {a: x}}}
      requirements: [{d: {node: y, relationship: {type: R, interfaces: {I: {operations: {go: {inputs: {i: {value: 1}}}}}}}}}]
      interfaces: {I: {inputs: {i: {value: 1}}, operations: {go: {implementation: {primary: f.sh}, inputs: {i: {value: 1}}}}, notifications: {n: {}}}, Older: {type: I, go: {implementation: f.sh}}}
      artifacts: {g: {type: F, file: g.sh, properties: {p: {value: x}}}}
      node_filter: {capabilities: [{c: {properties: [{p: {equal: 1}}]}}]}
    y: {type: N}
    w: {type: N, requirements: [{d: {node: y, relationship: t}}]}
  relationship_templates: {t: {type: R, attributes: {a: {value: 1}}}}
  groups: {g: {type: G, members: [z], interfaces: {I: {operations: {go: {implementation: f.sh}}}}}}
  policies: [{p: {type: P, targets: [z], triggers: {t: {event: e, target_filter: {node: z}, condition: {constraint: []}, action: [{call_operation: {operation: I.go, inputs: {i: {value: 1}}}}]}}}}]
  outputs: {o: {value: x}}
  substitution_mappings:
    node_type: N
    properties: {p: {mapping: [i]}}
    attributes: {a: {mapping: [z, a]}}
    capabilities: {c: {mapping: [z, c]}}
    requirements: {d: {mapping: [z, d]}}
  workflows: {w: {inputs: {i: {type: string}}, preconditions: [{target: z, condition: []}], steps: {s: {target: z, activities: [{set_state: x}, {call_operation: {operation: I.go}}, {inline: {workflow: w}}, {delegate: {workflow: w}}]}}}}
"#;

/// Maps whose keys are names, by the keys above them.
const NAMED: [&str; 28] = [
    "repositories",
    "data_types",
    "artifact_types",
    "capability_types",
    "interface_types",
    "relationship_types",
    "group_types",
    "policy_types",
    "node_types",
    "properties",
    "attributes",
    "capabilities",
    "interfaces",
    "operations",
    "notifications",
    "inputs",
    "outputs",
    "artifacts",
    "triggers",
    "node_templates",
    "relationship_templates",
    "groups",
    "policies",
    "requirements",
    "workflows",
    "steps",
    "activities",
    "variability",
];

/// Wherever a word of variability is written, it is in no result.
#[test]
fn no_word_of_variability_is_in_a_result() {
    let base: serde_yaml::Value = serde_yaml::from_str(ALL_PARTS).unwrap();
    Resolver::from_text("base.yaml", ALL_PARTS).resolve().unwrap();
    let mut places = Vec::new();
    maps(&base, &mut Vec::new(), &mut places);
    let words = [
        ("conditions", "true"),
        ("implied", "true"),
        ("pruning", "false"),
        ("default_condition", "false"),
        ("default_alternative", "true"),
        ("semantic_pruning", "false"),
        ("consistency_pruning", "false"),
        ("default_consistency_condition", "false"),
        ("default_semantic_condition", "false"),
    ];
    let (mut refused, mut removed) = (0, 0);
    for place in &places {
        for (word, value) in words {
            let mut template = base.clone();
            let mut map = &mut template;
            for step in place {
                map = match step {
                    Step::Key(key) => map.get_mut(key.as_str()).unwrap(),
                    Step::Item(index) => map.get_mut(*index).unwrap(),
                };
            }
            let value = serde_yaml::from_str(value).unwrap();
            map.as_mapping_mut().unwrap().insert(word.into(), value);
            let text = serde_yaml::to_string(&template).unwrap();
            match Resolver::from_text("changed.yaml", &*text).resolve() {
                Err(_) => refused += 1,
                Ok(resolution) => {
                    let yaml = resolution.to_yaml();
                    let words = yaml.split(|c: char| !c.is_alphanumeric() && c != '_');
                    assert!(words.clone().all(|it| it != word), "{place:?}: {word}\n{yaml}");
                    removed += 1;
                }
            }
        }
    }
    assert!(refused > 300 && removed > 50, "{refused} are refused, {removed} are removed");
}

#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Item(usize),
}

/// The places of all maps whose keys are keynames.
fn maps(node: &serde_yaml::Value, path: &mut Vec<Step>, places: &mut Vec<Vec<Step>>) {
    let is_named = |key: &str| NAMED.contains(&key);
    match node {
        serde_yaml::Value::Mapping(map) => {
            let above = path.iter().rev().find_map(|step| match step {
                Step::Key(key) => Some(key.as_str()),
                Step::Item(_) => None,
            });
            // What is directly below such a key has names as keys; in a list, each of its items.
            let is_below = match path.last() {
                Some(Step::Key(key)) => is_named(key) && !is_name(path),
                Some(Step::Item(_)) => above.is_some_and(is_named),
                None => false,
            };
            if !is_below {
                places.push(path.clone());
            }
            for (key, value) in map {
                path.push(Step::Key(key.as_str().unwrap().to_owned()));
                maps(value, path, places);
                path.pop();
            }
        }
        serde_yaml::Value::Sequence(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Item(index));
                maps(item, path, places);
                path.pop();
            }
        }
        _ => {}
    }
}

/// Whether the last step of a path is a name, below a map of names.
fn is_name(path: &[Step]) -> bool {
    match path {
        [.., Step::Key(above), Step::Key(_)] => NAMED.contains(&above.as_str()) && above.len() > 1,
        _ => false,
    }
}
