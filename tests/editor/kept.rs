//! Tests that runs share what is parsed and judged, and that nobody notices but by the time.

use cuvee::Resolver;
use cuvee::editor::{DocumentCache, OverlayFiles};
use cuvee::source::MemoryFiles;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

type Texts = BTreeMap<PathBuf, String>;

fn resolver(texts: &Texts) -> Resolver {
    let texts = texts.iter().map(|(path, text)| (path.clone(), text.as_str().into()));
    Resolver::new("t.yaml").files(OverlayFiles::new(Arc::new(MemoryFiles::default()), texts))
}

/// What validating a text that is being typed says, with places and files.
fn found(resolver: &Resolver) -> Vec<String> {
    let typed = resolver.validate_typed(None);
    let place = |span| typed.sources().place(span);
    let line = |it: &cuvee::diagnostic::Diagnostic| {
        let labels = it.labels.iter().map(|label| format!(" {}", place(label.span)));
        let labels: String = labels.collect();
        let at = it.span.map(place).unwrap_or_default();
        format!("{at} {} {} {:?}{labels}", it.code, it.message, it.help)
    };
    typed.text().unwrap().iter().map(line).collect()
}

const HEAD: &str = "tosca_definitions_version: tosca_simple_yaml_1_3\n";

fn library(count: usize) -> String {
    let kind = |number: usize| {
        format!(
            "  Kind{number}:\n    derived_from: tosca.nodes.Root\n    properties: {{port: {{type: integer, default: x{number}}}}}\n"
        )
    };
    format!("{HEAD}node_types:\n{}", (0..count).map(kind).collect::<String>())
}

/// An edit of the template parses one file, and judges no type of a library that stays the same.
#[test]
fn an_edit_of_the_template_costs_the_template() {
    let template = format!(
        "{HEAD}imports: [types.yaml]\nnode_types:\n  Own: {{derived_from: Kind1}}\ntopology_template:\n  node_templates:\n    a: {{type: Own}}\n"
    );
    let mut texts = Texts::new();
    texts.insert("types.yaml".into(), library(50));
    texts.insert("t.yaml".into(), template.clone());
    let cache = Arc::new(DocumentCache::default());
    let first = found(&resolver(&texts).cache(Arc::clone(&cache)));
    assert_eq!(first.len(), 50, "{first:#?}");
    assert!(cache.judged() > 51, "{}", cache.judged());
    for number in 0..10 {
        let (parsed, judged) = (cache.parsed(), cache.judged());
        texts.insert("t.yaml".into(), format!("{template}    b{number}: {{type: Kind2}}\n"));
        let again = found(&resolver(&texts).cache(Arc::clone(&cache)));
        assert_eq!(again, first);
        assert_eq!((cache.parsed(), cache.judged()), (parsed + 1, judged + 1));
    }
    // What is broken is repaired: both are parsed, and again only the template.
    let parsed = cache.parsed();
    texts.insert("t.yaml".into(), format!("{template}    b: {{type: \n"));
    let broken = found(&resolver(&texts).cache(Arc::clone(&cache)));
    assert!(broken.len() > 50 && cache.parsed() <= parsed + 2, "{broken:#?}");
    // Another library is judged anew.
    texts.insert("types.yaml".into(), library(51));
    let judged = cache.judged();
    found(&resolver(&texts).cache(Arc::clone(&cache)));
    assert!(cache.judged() > judged + 50);
}

/// An archive of a template with these nodes, and of a library with so many types.
fn archive(count: usize, nodes: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let head = format!("{HEAD}imports: [types.yaml]\n");
    let template = format!("{head}topology_template:\n  node_templates:\n{nodes}");
    std::fs::write(folder.path().join("template.yaml"), template).unwrap();
    std::fs::write(folder.path().join("types.yaml"), library(count)).unwrap();
    Resolver::new(folder.path()).resolve().unwrap().to_csar().unwrap()
}

/// What is in an archive is used again as long as its bytes say the same, also in another archive in
/// its place; what changed in it is parsed and judged, and nothing else of it.
#[test]
fn an_archive_is_parsed_as_long_as_it_changes() {
    let cache = Arc::new(DocumentCache::default());
    let look = |archive: Vec<u8>| {
        let resolver = Resolver::new("t.csar").files(MemoryFiles::from([("t.csar", archive)]));
        let kept = found(&resolver.clone().cache(Arc::clone(&cache)));
        assert_eq!(kept, found(&resolver));
        (kept, cache.parsed(), cache.judged())
    };
    let node = "    a: {type: Kind1}\n";
    let (first, parsed, judged) = look(archive(5, node));
    assert_eq!(first.len(), 5, "{first:#?}");
    assert!(first.iter().all(|it| it.starts_with("t.csar:/types.yaml:")), "{first:#?}");
    assert_eq!(look(archive(5, node)), (first.clone(), parsed, judged));
    let more = "    a: {type: Kind1}\n    b: {type: Kind9}\n";
    let (second, again, _) = look(archive(5, more));
    assert_eq!((second.len(), again, cache.judged()), (6, parsed + 1, judged));
    let (third, last, _) = look(archive(6, more));
    assert_eq!((third.len(), last), (7, again + 1));
    assert!(cache.judged() >= judged + 6);
    // A file of the same name that is no part of the archive is another one.
    let texts = Texts::from([("t.yaml".into(), format!("{HEAD}imports: [types.yaml]\n"))]);
    let beside = texts.into_iter().chain([("types.yaml".into(), library(6))]).collect();
    found(&resolver(&beside).cache(Arc::clone(&cache)));
    assert_eq!(cache.parsed(), last + 2);
}

/// Resolving reads a few names of a library. Something to tell about it makes it read no more.
#[test]
fn what_is_told_of_a_library_parses_no_more_of_it() {
    let mut texts = Texts::new();
    let library = library(50).replace("node_types:", "imports: [missing.yaml]\nnode_types:");
    texts.insert("lib/types.yaml".into(), library);
    let template = "topology_template:\n  node_templates:\n    a: {type: Kind1}\n";
    texts.insert("t.yaml".into(), format!("{HEAD}{template}"));
    let cache = Arc::new(DocumentCache::default());
    // What is secret in the lines that are shown, only the whole library says.
    let resolver = resolver(&texts).cache(Arc::clone(&cache)).reveal_secrets();
    let resolution = resolver.resolve().unwrap();
    let warnings = resolution.warnings();
    assert!(warnings.iter().any(|it| it.code.as_str() == "file" && it.span.is_some()));
    assert_eq!(cache.parsed(), 2);
}

/// Texts of each file, in which names come and go, mean something else, are defined twice, are
/// found through prefixes and through files that import others, and lines are broken.
const TEMPLATES: &[&str] = &[
    "imports: [a.yaml]\ntopology_template:\n  node_templates:\n    n: {type: A}\n",
    "imports: [a.yaml, b.yaml]\ntopology_template:\n  node_templates:\n    n: {type: B, properties: {p: 1}}\n",
    "imports: [{file: a.yaml, namespace_prefix: x}]\ntopology_template:\n  node_templates:\n    n: {type: x:A}\n",
    "imports: [{file: a.yaml, namespace_uri: 'http://a'}, b.yaml]\n",
    "imports: [b.yaml]\nnode_types:\n  Missing: {derived_from: tosca.nodes.Root}\n",
    "imports: [a.yaml]\nnode_types:\n  A: {derived_from: Gone}\ndata_types:\n  Deep: {derived_from: string}\n",
    "imports: [a.yaml]\ndata_types:\n  integer: {derived_from: string}\n",
    "imports: [a.yaml]\nnode_types:\n  A: {derived_from: [\n",
    "namespace: 'http://t'\nnode_types:\n  B: {derived_from: tosca.nodes.Root, properties: {p: {type: Deep}}}\n",
    "# a comment\n\nimports: [a.yaml]\ntopology_template: {node_templates: {n: {type: A}}}\n",
];
const FIRST: &[&str] = &[
    "node_types:\n  A: {derived_from: tosca.nodes.Root}\n",
    "node_types:\n  A: {derived_from: Missing}\n",
    "imports: [b.yaml]\nnode_types:\n  A: {derived_from: B, properties: {p: {type: integer, default: x}}}\n",
    "imports: [{file: b.yaml, namespace_prefix: y}]\nnode_types:\n  A: {derived_from: y:B}\n",
    "node_types:\n  A: {derived_from: tosca.nodes.Root, properties: {q: {type: Deep}}}\n",
    "node_types:\n  A: {derived_from: tosca.nodes.Root, properties: {q: {type: integer, default: 1.5}}}\n",
    "node_types:\n  A: {derived_from: 'http://t/B'}\n",
    "imports: [t.yaml]\nnode_types:\n  A: {derived_from: Missing}\n",
];
const SECOND: &[&str] = &[
    "node_types:\n  B: {derived_from: tosca.nodes.Root, properties: {p: {type: integer}}}\n",
    "node_types:\n  B: {derived_from: A, properties: {p: {type: string, default: 1}}}\n",
    "node_types:\n  A: {derived_from: tosca.nodes.Root}\n  B: {derived_from: A}\n",
    "data_types:\n  Deep: {properties: {d: {type: Deeper}}}\nnode_types:\n  B: {derived_from: B}\n",
    "node_types:\n  tosca.nodes.Root: {description: ours}\n  B: {derived_from: tosca.nodes.Root}\n",
];
const LIBRARY: &[&str] = &[
    "",
    "node_types:\n  L: {derived_from: tosca.nodes.Root}\n",
    "data_types:\n  Deep: {derived_from: integer}\n  Deeper: {derived_from: string}\n",
    "node_types:\n  Missing: {derived_from: L}\n",
    "imports: [../b.yaml]\nnode_types:\n  Gone: {derived_from: B}\n",
];

/// A thousand edits of four files lead to what fresh runs find.
#[test]
fn edits_lead_to_what_fresh_runs_find() {
    let choices =
        [("t.yaml", TEMPLATES), ("a.yaml", FIRST), ("b.yaml", SECOND), ("lib/l.yaml", LIBRARY)];
    let mut texts = Texts::new();
    let text =
        |rest: &str| if rest.is_empty() { "{}\n".to_owned() } else { format!("{HEAD}{rest}") };
    for (path, all) in choices {
        texts.insert(path.into(), text(all[0]));
    }
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let cache = Arc::new(DocumentCache::default());
    let mut different = std::collections::BTreeSet::new();
    for number in 0..1_000 {
        let edit = (0..4_usize, 0..100_usize).new_tree(&mut runner).unwrap().current();
        let (path, all) = choices[edit.0];
        texts.insert(path.into(), text(all[edit.1 % all.len()]));
        let fresh = found(&resolver(&texts));
        let kept = found(&resolver(&texts).cache(Arc::clone(&cache)));
        assert_eq!(kept, fresh, "edit {number}: {texts:#?}");
        different.insert(fresh);
    }
    assert!(different.len() > 100, "{}", different.len());
    assert!(cache.parsed() < 2_500, "{}", cache.parsed());
}
