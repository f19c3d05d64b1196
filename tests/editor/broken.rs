//! Tests what editors are told at a cursor in a text that is broken there, which fixtures have as
//! `|`: what is offered, described, found and renamed.

use cuvee::Resolver;
use cuvee::editor::{DocumentCache, TemplateAnalysis, complete};
use cuvee::source::{MemoryFiles, Span};
use std::path::Path;
use std::sync::Arc;

const TYPES: &str = "tosca_definitions_version: tosca_simple_yaml_1_3
description: What a shop is made of
node_types:
  Shop: {derived_from: tosca.nodes.Root, properties: {port: {type: integer, required: false}}}
";

const HEAD: &str = "tosca_definitions_version: tosca_variability_1_0
imports: [types.yaml]
topology_template:
  variability:
    inputs: {live: {type: boolean, default: false}}
  node_templates:
    first: {type: Shop, conditions: {variability_input: live}}
";

fn at_cursor<R>(text: &str, ask: impl FnOnce(&TemplateAnalysis<'_>, &str, usize) -> R) -> R {
    let offset = text.find('|').unwrap();
    let text = text.replacen('|', "", 1);
    let files = MemoryFiles::from([
        ("types.yaml", TYPES.to_owned()),
        ("more/base.yaml", TYPES.to_owned()),
        ("more/notes.yaml", "a: 1\n".to_owned()),
        ("run.sh", "true\n".to_owned()),
        ("t.yaml", text.clone()),
    ]);
    let resolver = Resolver::new("t.yaml").files(files);
    resolver.analysis(Some(("t.yaml".as_ref(), offset)), |analysis| ask(analysis, &text, offset))
}

fn offered(text: &str) -> Vec<String> {
    at_cursor(text, |analysis, text, offset| {
        let found = complete(analysis, "t.yaml".as_ref(), text, offset);
        found.suggestions.into_iter().map(|it| it.label).collect()
    })
}

/// Lines that are broken behind a word, or around it.
const BROKEN: &[(&str, &str)] = &[
    ("in the middle of a flow map", "    a: {type: Sh|op, properties: {port: 1\n"),
    ("in a flow map that is not closed", "    a: {type: Shop|\n    b: {type: Shop}\n"),
    ("in an open quote", "    a: {type: \"Shop|\n    b: {type: Shop}\n"),
    ("in a quote of the other kind", "    a: {type: 'Shop|\n"),
    ("behind a tab", "    a: {type:\tShop|}\n"),
    ("in a list that is not closed", "    a: {type: [Shop|\n"),
    ("where the block ends", "    a:\n      type: Shop|"),
    ("before another broken line", "    a: {type: Shop|\n    b: {type: [\n"),
];

#[test]
fn types_are_known_in_broken_lines() {
    for (what, line) in BROKEN {
        let text = format!("{HEAD}{line}");
        assert!(offered(&text).iter().any(|it| it == "Shop"), "{what}");
        at_cursor(&text, |analysis, text, offset| {
            let path = Path::new("t.yaml");
            let (span, said) = analysis.description(path, offset).expect(what);
            assert!(said.starts_with("**Shop** (node type)"), "{what}: {said}");
            assert_eq!(&text[span.start as usize..span.end as usize], "Shop", "{what}");
            let places = analysis.places(path, offset);
            let here = |it: &&cuvee::editor::SymbolPlace| {
                let file = analysis.sources().file(it.span.file).path() == path;
                file && (it.span.start as usize..=it.span.end as usize).contains(&offset)
            };
            assert_eq!(places.iter().filter(here).count(), 1, "{what}");
            let defines = places.iter().filter(|it| it.defines).count();
            assert_eq!(defines, 1, "{what}");
            // Either all places are renamed, or none is.
            match analysis.rename(path, offset, "Store") {
                Ok(changes) => {
                    let count = text.matches("Shop").count() + 1;
                    assert_eq!(changes.len(), count, "{what}");
                }
                Err(why) => assert!(why.contains("broken line"), "{what}: {why}"),
            }
        });
    }
}

/// Lines that are broken somewhere else than at the cursor.
const ELSEWHERE: &[&str] = &[
    "    x: {type: Shop\n",
    "    x: {type: \"Shop\n",
    "    x: {type: 'Shop, properties: {port: 1}}\n",
    "    x: {type: [Shop\n",
    "    x:\n      type: Shop\n      properties: {port: 1\n",
    "    x:\n      type: Shop\n      properties:\n        port 1\n",
    "    x:\n      type: \"Shop\n",
    "    x: Shop: }\n",
    "    x: {type: Shop}}\n",
    "    x:\n      type: Shop\n     properties: {}\n",
    "    x: {type: Shop, properties: {port: {get_input: [\n",
    "    x\n",
    "    x:\n\ttype: Shop\n",
    "    x: {type: Shop, \n",
];

/// What is broken before the cursor or behind it, in this file or in an imported one, hides nothing
/// at the cursor.
/// A file that somebody types in, and that others import, still has everything in its whole lines:
/// those others are told no mistakes that they do not have.
#[test]
fn broken_imports_hide_only_what_is_broken() {
    let line = "  Cache: {derived_from: tosca.nodes.Root, properties: {size: {required: false, type: inte\n";
    let base = format!("{TYPES}{line}");
    let between = "tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [base.yaml]\n";
    let text = "tosca_definitions_version: tosca_simple_yaml_1_3
imports: [between.yaml]
topology_template:
  node_templates:
    a: {type: Shop, properties: {port: x}}
    b: {type: Cache}
    c: {type: Stall}
";
    let files = [("base.yaml", &*base), ("between.yaml", between), ("t.yaml", text)];
    let resolver = Resolver::new("t.yaml")
        .files(MemoryFiles::from(files.map(|(name, text)| (name, text.to_owned()))));
    for near in
        [None, Some((Path::new("base.yaml"), base.len() - 1)), Some((Path::new("t.yaml"), 3))]
    {
        let typed = resolver.validate_typed(near);
        let told: Vec<_> = typed
            .text()
            .unwrap()
            .iter()
            .map(|it| {
                let place = it.span.map(|span| typed.sources().place(span)).unwrap_or_default();
                format!("{place} {}", it.code)
            })
            .collect();
        assert_eq!(
            told,
            ["t.yaml:5:40 invalid-value", "t.yaml:7:15 unknown-type", "base.yaml:5:62 syntax"],
            "{near:?}"
        );
        resolver.analysis(near, |analysis| {
            assert!(analysis.is_repaired());
            let offset = text.find("Shop").unwrap() + 1;
            let places = analysis.places(Path::new("t.yaml"), offset);
            assert_eq!(places.iter().filter(|it| it.defines).count(), 1);
        });
    }
}

#[test]
fn two_broken_lines_hide_nothing_of_each_other() {
    let mut missed = Vec::new();
    for (what, line) in BROKEN.iter().filter(|(_, line)| !line.contains("b: {type: [")) {
        let line = if line.ends_with('\n') { (*line).to_owned() } else { format!("{line}\n") };
        for other in ELSEWHERE {
            let before =
                format!("{HEAD}{other}    y: {{type: Shop}}\n{line}    z: {{type: Shop}}\n");
            let behind =
                format!("{HEAD}{line}    y: {{type: Shop}}\n{other}    z: {{type: Shop}}\n");
            let next = format!("{HEAD}{line}{other}");
            for (place, text) in [("before", before), ("behind", behind), ("next", next)] {
                let offers = offered(&text).iter().any(|it| it == "Shop");
                let (is_said, is_found, is_renamed) = at_cursor(&text, |analysis, text, offset| {
                    let path = Path::new("t.yaml");
                    let said = analysis.description(path, offset);
                    let is_said = said.is_some_and(|(span, said)| {
                        let word = &text[span.start as usize..span.end as usize];
                        word == "Shop" && said.starts_with("**Shop** (node type)")
                    });
                    let defines =
                        analysis.places(path, offset).iter().filter(|it| it.defines).count();
                    let count = text.matches("Shop").count() + 1;
                    let is_renamed = match analysis.rename(path, offset, "Store") {
                        Ok(changes) => changes.len() == count,
                        Err(why) => why.contains("broken line"),
                    };
                    (is_said, defines == 1, is_renamed)
                });
                if !(offers && is_said && is_found && is_renamed) {
                    missed.push(format!(
                        "{what}, {place} {other:?}: {offers} {is_said} {is_found} {is_renamed}"
                    ));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} of them: {missed:#?}", missed.len());
}

/// A use in a line that could not be read is not forgotten: nothing is renamed.
#[test]
fn nothing_is_renamed_while_places_are_not_known() {
    let text = format!("{HEAD}    b: Shop: }} Shop\n    a: {{type: Shop|}}\n");
    at_cursor(&text, |analysis, _, offset| {
        let why = analysis.rename("t.yaml".as_ref(), offset, "Store").unwrap_err();
        assert_eq!(why, "`Shop` stands in a broken line, too: repair that first");
    });
}

#[test]
fn expressions_are_known_in_broken_lines() {
    for line in [
        "    a: {type: Shop, conditions: {variability_input: live|\n",
        "    a: {type: Shop, conditions: {not: {variability_input: \"live|\n",
        "    a: {type: Shop, conditions: [{and: [true, {variability_input: live|\n    b: {type: Shop}\n",
    ] {
        let text = format!("{HEAD}{line}");
        let offers = offered(&text);
        assert!(offers.iter().any(|it| it == "live"), "{line}: {offers:?}");
        assert!(!offers.iter().any(|it| it == "first"), "{line}: {offers:?}");
        at_cursor(&text, |analysis, _, offset| {
            let path = Path::new("t.yaml");
            let (_, said) = analysis.description(path, offset).expect(line);
            assert!(said.starts_with("**live** (variability input): boolean"), "{line}: {said}");
            assert_eq!(analysis.places(path, offset).len(), 3, "{line}");
            assert_eq!(analysis.rename(path, offset, "open").unwrap().len(), 3, "{line}");
        });
    }
    let operators = offered(&format!("{HEAD}    a: {{type: Shop, conditions: {{no|\n"));
    assert!(operators.iter().any(|it| it == "not") && !operators.iter().any(|it| it == "type"));
}

#[test]
fn imports_name_files() {
    let head = "tosca_definitions_version: tosca_simple_yaml_1_3\n";
    for (line, wanted) in [
        ("imports: [|]\n", &["more/", "types.yaml"][..]),
        ("imports: [|\n", &["more/", "types.yaml"]),
        ("imports:\n  - ty|\n", &["more/", "types.yaml"]),
        ("imports:\n  - \"|\n", &["more/", "types.yaml"]),
        ("imports:\n  - more/|\n", &["base.yaml"]),
        ("imports:\n  - {file: more/ba|\n", &["base.yaml"]),
        ("imports:\n  - file: |\n", &["more/", "types.yaml"]),
        ("imports:\n  - nowhere/|\n", &[]),
    ] {
        let text = format!("{head}{line}topology_template: {{node_templates: {{}}}}\n");
        let labels = offered(&text);
        let keynames = ["file", "namespace_prefix", "namespace_uri", "repository", "conditions"];
        let files: Vec<_> = labels.iter().filter(|it| !keynames.contains(&&***it)).collect();
        assert_eq!(files, wanted, "{line}");
    }
    let text = format!("{head}imports: [types|.yaml\n");
    at_cursor(&text, |analysis, text, offset| {
        let (span, said) = analysis.description("t.yaml".as_ref(), offset).unwrap();
        assert_eq!(said, "**types.yaml**: 1 type\n\nWhat a shop is made of");
        assert_eq!(&text[span.start as usize..span.end as usize], "types.yaml");
        assert!(analysis.rename("t.yaml".as_ref(), offset, "x").is_err());
    });
    let artifact = format!("{HEAD}    a:\n      type: Shop\n      artifacts: {{run: {{file: r|\n");
    assert!(offered(&artifact).iter().any(|it| it == "run.sh"));
}

/// Whether a text is broken or not, findings in files of TOSCA 2.0 cite that standard.
#[test]
fn findings_cite_the_standard_of_their_file() {
    let head = "tosca_definitions_version: tosca_2_0\nservice_template:\n  node_templates:\n";
    for rest in ["", "    b: {type: [\n"] {
        let text = format!("{head}    a: {{type: Missing}}\n{rest}");
        let files = MemoryFiles::from([("t.yaml", text)]);
        let typed = Resolver::new("t.yaml").files(files).validate_typed(None);
        let found = typed.text().unwrap();
        let missing = found.iter().find(|it| it.code.as_str() == "unknown-type").unwrap();
        let rule = missing.rule.as_ref().unwrap().to_string();
        assert!(rule.contains("TOSCA 2.0") || rule.contains("Version 2.0"), "{rest}: {rule}");
    }
}

/// Where more is broken than is repaired, the rest is known as it was before.
#[test]
fn what_cannot_be_repaired_is_read_as_before() {
    let nodes = "    a: {type: Stall}\n    b: {type: tosca.nodes.Root}\n";
    let head =
        "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n";
    let broken: String = (0..12).map(|i| format!("    x{i}: ]}}{{: [\n     - \"\n")).collect();
    let cache = Arc::new(DocumentCache::default());
    let template = |text: String| {
        let resolver = Resolver::new("t.yaml").files(MemoryFiles::from([("t.yaml", text)]));
        resolver.cache(Arc::clone(&cache))
    };
    let codes = |resolver: &Resolver| {
        let typed = resolver.validate_typed(None);
        let sources = typed.sources().clone();
        let line = |span: Option<Span>| span.map(|span| sources.place(span)).unwrap_or_default();
        let found = typed.text().unwrap().iter();
        found.map(|it| format!("{} {}", line(it.span), it.code)).collect::<Vec<_>>()
    };
    assert_eq!(codes(&template(format!("{head}{nodes}"))), ["t.yaml:4:15 unknown-type"]);
    let typed = template(format!("{head}{broken}{nodes}"));
    assert_eq!(codes(&typed), ["t.yaml:4:9 syntax", "t.yaml:28:15 unknown-type"]);
    let outline = typed.analysis(None, |analysis| analysis.outline(Path::new("t.yaml")).len());
    assert_eq!(outline, 2);
}
