//! Tests that names are found wherever they stand: names of the examples are renamed, and back.

use crate::folders;
use crate::typing::tosca_files;
use cuvee::Resolver;
use cuvee::editor::OverlayFiles;
use cuvee::source::{MemoryFiles, OsFiles, SourceMap, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Texts = BTreeMap<PathBuf, String>;

/// Applies changes to the texts of files.
fn changed(sources: &SourceMap, before: &Texts, changes: &[(Span, String)]) -> Texts {
    let mut texts = before.clone();
    let mut changes = changes.to_vec();
    changes.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    for (span, new) in changes {
        let file = sources.file(span.file);
        let text = texts.entry(file.path().to_owned()).or_insert_with(|| file.text().to_string());
        text.replace_range(span.start as usize..span.end as usize, &new);
    }
    texts
}

fn resolver(template: &Path, texts: &Texts) -> Resolver {
    let texts = texts.iter().map(|(path, text)| (path.clone(), text.as_str().into()));
    Resolver::new(template).files(OverlayFiles::new(Arc::new(OsFiles), texts))
}

fn findings(template: &Path, texts: &Texts) -> Vec<String> {
    let validation = resolver(template, texts).validate();
    validation.diagnostics.iter().map(|it| format!("{} {}", it.code, it.message)).collect()
}

fn results(template: &Path, texts: &Texts) -> Vec<String> {
    let resolver = resolver(template, texts);
    let presets = resolver.preset_names().unwrap();
    let result = |preset: &String| match resolver.clone().preset(preset).resolve() {
        Ok(resolution) => resolution.to_yaml().to_owned(),
        Err(failure) => failure.to_string(),
    };
    presets.iter().map(result).collect()
}

/// The offsets at which names of a file stand, one for each name.
fn names(template: &Path, file: &Path) -> Vec<usize> {
    let text = std::fs::read_to_string(file).unwrap();
    resolver(template, &Texts::new()).analysis(None, |analysis| {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut before = ' ';
        for (at, c) in text.char_indices() {
            let starts = c.is_alphanumeric() && !before.is_alphanumeric() && before != '_';
            before = c;
            if starts && let Ok((span, name)) = analysis.renamable(file, at) {
                let places = analysis.places(file, at);
                if span.start as usize == at && seen.insert((name, places)) {
                    found.push(at);
                }
            }
        }
        found
    })
}

#[test]
fn names_of_examples_are_renamed_and_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let (mut count, mut taken) = (0, 0);
    let examples = ["shop", "technologies", "guestbook", "deployment", "catalogue", "build-script"];
    for example in examples {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join(example);
        folders::copy(&root.join(example), &copy);
        let usual = ["variable-service-template.yaml", "service-template.yaml"];
        let template =
            usual.map(|name| copy.join(name)).into_iter().find(|it| it.is_file()).unwrap();
        let nothing = Texts::new();
        let before = (findings(&template, &nothing), results(&template, &nothing));
        let mut files = Vec::new();
        tosca_files(&copy, &mut files);
        let mut places = Vec::new();
        for file in files {
            places.extend(names(&template, &file).into_iter().map(|at| (file.clone(), at)));
        }
        for (file, at) in places {
            let rename = |texts: &Texts, at: usize, new: &str| {
                resolver(&template, texts).analysis(None, |analysis| {
                    let changes = analysis.rename(&file, at, new)?;
                    Ok::<_, String>(changed(analysis.sources(), texts, &changes))
                })
            };
            let name = resolver(&template, &nothing)
                .analysis(None, |analysis| analysis.renamable(&file, at).unwrap().1);
            // The words of a name of a part may mean something, such as `host` and `password`.
            let new = format!("Zz_{name}");
            let renamed = rename(&nothing, at, &new).unwrap();
            let restore = |lines: Vec<String>| -> Vec<String> {
                lines.iter().map(|line| line.replace(&new, &name)).collect()
            };
            let mut found = restore(findings(&template, &renamed));
            found.sort();
            let mut expected = before.0.clone();
            expected.sort();
            assert_eq!(found, expected, "{example}: {name}");
            // Names that have a meaning by themselves are those of presets, which stay.
            if !before.1.is_empty()
                && resolver(&template, &renamed).preset_names().unwrap().iter().all(|it| *it != new)
            {
                assert_eq!(restore(results(&template, &renamed)), before.1, "{example}: {name}");
            }
            let back = rename(&renamed, at, &name);
            // A step of a path might mean another part that has the name, such as a property beside
            // a requirement.
            let is_taken = |why: &String| {
                *why.split(", at ").next().unwrap() == format!("there is a `{name}` already")
            };
            if back.as_ref().is_err_and(is_taken) {
                taken += 1;
                continue;
            }
            for (path, text) in &back.unwrap() {
                assert_eq!(*text, std::fs::read_to_string(path).unwrap(), "{example}: {name}");
            }
            count += 1;
        }
    }
    assert!(count > 80 && taken < 5, "{count} {taken}");
}

#[test]
fn names_lead_through_prefixes_and_quotes() {
    let types = "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  Shop: {derived_from: tosca.nodes.Root}\n";
    let shop = "tosca_definitions_version: tosca_simple_yaml_1_3\nimports:\n  - {file: types.yaml, namespace_prefix: t}\ntopology_template:\n  node_templates:\n    a: {type: t:Shop}\n    b: {type: \"t:Shop\"}\n";
    let files = MemoryFiles::from([("types.yaml", types), ("shop.yaml", shop)]);
    let resolver = Resolver::new("shop.yaml").files(files);
    let at = shop.find("t:Shop").unwrap() + 3;
    resolver.analysis(None, |analysis| {
        let changes = analysis.rename("shop.yaml".as_ref(), at, "Store").unwrap();
        let texts = changed(analysis.sources(), &Texts::new(), &changes);
        assert_eq!(texts[Path::new("types.yaml")], types.replace("Shop", "Store"));
        assert_eq!(texts[Path::new("shop.yaml")], shop.replace("Shop", "Store"));
        let refused =
            |at: usize, new: &str| analysis.rename("shop.yaml".as_ref(), at, new).unwrap_err();
        assert!(refused(at, "a b").contains("cannot be a name"));
        assert!(refused(at, "true").contains("cannot be a name"));
        assert!(refused(0, "x").starts_with("there is no name"));
        let node = shop.find("a: {").unwrap();
        assert_eq!(refused(node, "b"), "there is a `b` already");
        let root = analysis.rename("types.yaml".as_ref(), types.find("nodes.Root").unwrap(), "x");
        assert_eq!(root.unwrap_err(), "`tosca.nodes.Root` is a type of TOSCA, so its name stays");
    });
}

/// Each part of an analysis is missing where nothing can be said, and nothing fails.
#[test]
fn an_analysis_has_what_there_is() {
    let parts = |text: &str| {
        let files = MemoryFiles::from([("t.yaml", text)]);
        Resolver::new("t.yaml").files(files).analysis(None, |analysis| {
            [
                analysis.has_documents(),
                analysis.has_types(),
                analysis.has_graph(),
                analysis.has_symbols(),
            ]
        })
    };
    let shop = "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template: {node_templates: {shop: {type: tosca.nodes.Root}}}\n";
    assert_eq!(parts(shop), [true; 4]);
    assert!(parts(&shop.replace("1_3", "9_9"))[0], "an unknown version");
    assert_eq!(
        parts(&shop.replace("shop: {", "shop: [")),
        [true, true, true, false],
        "a broken line"
    );
    assert_eq!(
        parts("tosca_definitions_version: tosca_simple_yaml_1_3\n"),
        [true, true, true, false]
    );
    assert_eq!(parts("[]"), [true, false, false, false], "no template");
    assert_eq!(parts("<xml/>"), [false; 4]);
    let missing = Resolver::new("nowhere.yaml").files(MemoryFiles::default());
    assert!(
        missing.analysis(None, |analysis| !analysis.has_documents() && !analysis.has_symbols())
    );
}
