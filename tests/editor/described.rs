//! Tests what is said of the word at a cursor, which fixtures have as `|`.

use crate::client::Client;
use cuvee::Resolver;
use cuvee::editor::complete;
use cuvee::options;
use cuvee::source::MemoryFiles;
use serde_json::json;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const SHOP: &str = "tosca_definitions_version: tosca_variability_1_0
node_types:
  Kept: {derived_from: tosca.nodes.Root, properties: {port: {type: integer}}}
topology_template:
  variability:
    options: {mode: consistent-loose}
    inputs:
      live: {type: boolean, description: Whether customers see it, default: false}
      size: {type: integer, constraints: [{in_range: [1, 9]}], default_expression: {add: [1, 1]}}
      unused: {type: string, default: none}
    expressions:
      big: {greater: [{variability_input: size}, 5]}
    presets: {prod: {inputs: {live: true}}}
  node_templates:
    shop: {type: Kept, properties: {port: 80}}
    cache: {type: Kept, properties: {port: 81}, conditions: [{variability_input: live}]}
    cluster: {type: Kept, properties: {port: 82}, conditions: {logic_expression: big}}
    never: {type: Kept, properties: {port: 83}, conditions: false}
";

fn resolver(text: &str) -> Resolver {
    Resolver::new("t.yaml").files(MemoryFiles::from([("t.yaml", text.to_owned())]))
}

/// What is said behind the first occurrence of a text.
fn said_of(resolver: &Resolver, text: &str, place: &str) -> Option<String> {
    let offset = text.find(place).unwrap() + place.len();
    let path = "t.yaml".as_ref();
    resolver.analysis(None, |analysis| Some(analysis.description(path, offset)?.1))
}

fn said(place: &str) -> String {
    said_of(&resolver(SHOP), SHOP, place).unwrap_or_default()
}

#[test]
fn elements_are_in_some_variants() {
    assert_eq!(said("    shop"), "**shop** (node template)\n\nin every variant");
    assert_eq!(
        said("    cache"),
        "**cache** (node template)\n\npresent if live\n\nin 2 of 4 variants"
    );
    assert_eq!(
        said("    cluster"),
        "**cluster** (node template)\n\npresent if big\n\nin 2 of 4 variants"
    );
    assert_eq!(said("    never"), "**never** (node template)\n\npresent if false\n\nin no variant");
}

#[test]
fn a_template_without_variants_says_so() {
    let text = SHOP.replace("consistent-loose", "manual");
    let said = said_of(&resolver(&text), &text, "    cache").unwrap();
    assert_eq!(said, "**cache** (node template)\n\npresent if live\n\nthere is no variant");
}

#[test]
fn inputs_have_cases() {
    assert_eq!(
        said("    inputs:\n      live"),
        "**live** (variability input): boolean\n\nWhether customers see it\n\ndefault: `false`\n\ncases: false | true"
    );
    assert_eq!(
        said("{variability_input: size"),
        "**size** (variability input): integer\n\n`in_range: [1, 9]`\n\ndefault: 1 + 1\n\ncases: 1 … 5 | 6 … 9"
    );
    assert_eq!(
        said("      unused"),
        "**unused** (variability input): string\n\ndefault: `none`\n\nno condition tells its values apart"
    );
    assert_eq!(said("logic_expression: big"), "**big** (expression)\n\nsize > 5");
}

#[test]
fn operators_and_options_lead_to_their_pages() {
    let operator =
        "**greater** (operator): Whether the first is greater.\n\n`docs/language.md#comparisons`";
    assert_eq!(said("big: {greater"), operator);
    let mode = said("options: {mode");
    assert!(mode.starts_with("**mode** (option): Which default conditions "), "{mode}");
    assert!(mode.ends_with("semantic-loose\n\n`docs/options.md#general`"), "{mode}");
    assert_eq!(said("mode: consistent-loose"), mode);
    let page = |name: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
        std::fs::read_to_string(path).unwrap()
    };
    let headings = |page: &str| -> Vec<String> {
        let titles = page.lines().filter(|line| line.starts_with("##"));
        let titles = titles.map(|title| title.trim_start_matches(['#', ' ']));
        titles.map(|title| title.to_lowercase().replace(' ', "-")).collect()
    };
    let (language, all) = (headings(&page("language.md")), headings(&page("options.md")));
    let leads = |said: &str, file: &str, headings: &[String]| {
        let (_, heading) = said.split_once(&format!("`docs/{file}.md#")).unwrap();
        let heading = heading.trim_end_matches('`');
        assert!(headings.iter().any(|known| known == heading), "{said}");
    };
    for option in options::known() {
        let text = SHOP.replace("mode: consistent-loose", &format!("{}: x", option.name));
        let said = said_of(&resolver(&text), &text, &format!("{{{}", option.name)).unwrap();
        leads(&said, "options", &all);
    }
    let marked = SHOP.replace("conditions: false", "conditions: {}");
    let offset = marked.find("conditions: {}").unwrap() + "conditions: {".len();
    let operators = resolver(&marked).analysis(None, |analysis| {
        complete(analysis, "t.yaml".as_ref(), &marked, offset).suggestions
    });
    assert!(operators.len() > 70, "{}", operators.len());
    for operator in operators {
        let text =
            SHOP.replace("conditions: false", &format!("conditions: {{{}: x}}", operator.label));
        let place = format!("conditions: {{{}: x", operator.label);
        let said = said_of(&resolver(&text), &text, &place[..place.len() - 3]).unwrap_or_default();
        let start = format!("**{}** (operator): ", operator.label);
        assert!(said.starts_with(&start), "{}: {said}", operator.label);
        leads(&said, "language", &language);
    }
}

#[test]
fn parts_of_types_say_where_they_come_from() {
    let kept = said("cache: {type: Kept");
    for part in
        ["- `port`\n", "- `feature` (of tosca.nodes.Root)", "- `dependency` (of tosca.nodes.Root)"]
    {
        assert!(kept.contains(part), "{kept}");
    }
    assert_eq!(
        said("cache: {type: Kept, properties: {port"),
        "**port**: integer (property of Kept)"
    );
}

/// Counting has an end: what takes too long, or was stopped, is not counted.
#[test]
fn what_takes_too_long_is_not_counted() {
    let stopped = resolver(SHOP).stop_when(Arc::new(AtomicBool::new(true)));
    let said = said_of(&stopped, SHOP, "    cache").unwrap();
    assert_eq!(said, "**cache** (node template)\n\npresent if live\n\nnot counted");
    let mut large = SHOP.to_owned();
    for number in 0..3_000 {
        writeln!(large, "    node{number}: {{type: Kept, properties: {{port: 1}}}}").unwrap();
    }
    let said = said_of(&resolver(&large), &large, "    cache").unwrap();
    assert!(said.ends_with("not counted"), "{said}");
}

#[test]
fn a_word_is_described_over_the_protocol() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::new(folder.path());
    client.open("t.yaml", SHOP);
    client.published("t.yaml", 1);
    let line = SHOP[..SHOP.find("    cache").unwrap()].matches('\n').count();
    let place = json!({ "textDocument": { "uri": client.uri("t.yaml") }, "position": { "line": line, "character": 5 } });
    for _ in 0..3 {
        let hover = client.request("textDocument/hover", place.clone()).unwrap();
        let typed: gen_lsp_types::Hover = serde_json::from_value(hover.clone()).unwrap();
        assert_eq!(typed.range.unwrap().start.line as usize, line);
        let said = hover["contents"]["value"].as_str().unwrap();
        let start = "**cache** (node template)\n\npresent if live\n\n";
        // Where the machine is busy, the time may be over before.
        let ends = ["in 2 of 4 variants", "not counted"];
        assert!(ends.iter().any(|end| said == format!("{start}{end}")), "{said}");
    }
    client.shut_down();
}

const TWO: &str = r#"tosca_definitions_version: tosca_2_0
data_types:
  Size: { derived_from: scalar, units: { MB: 1, GB: 1000 }, canonical_unit: MB }
capability_types: { Host: { properties: { memory: { type: Size } } } }
relationship_types: { HostedOn: {} }
node_types:
  App:
    properties: { index: { type: integer, validation: { $greater_or_equal: [$value, 0] } } }
    requirements: [{ host: { capability: Host, relationship: HostedOn, count_range: [0, 1] } }]
service_template:
  node_templates:
    app:
      type: App
      count: 2
      properties: { index: $node_index }
      requirements: [{ host: { allocation: { memory: 1 GB }, directives: [internal] } }]
"#;

/// Files of TOSCA 2.0 are spoken of in the words of their own standard.
#[test]
fn words_of_tosca_2_0_are_described() {
    let cases = [
        (
            "service_template",
            "**service_template** (keyname of a TOSCA file)\n\nsection 6.1 of TOSCA 2.0",
        ),
        ("      count", "**count** (keyname of a node template)\n\nsection 7.2 of TOSCA 2.0"),
        (
            "allocation",
            "**allocation** (keyname of a requirement assignment)\n\nsection 8.7.1 of TOSCA 2.0",
        ),
        (
            "validation",
            "**validation** (keyname of a property definition)\n\nsection 9.3 of TOSCA 2.0",
        ),
        (
            "1 GB }, directives",
            "**directives** (keyname of a requirement assignment)\n\nvalues: internal, external\n\nsection 8.7.1 of TOSCA 2.0",
        ),
        (
            "$greater_or_equal",
            "**$greater_or_equal** (function): `$greater_or_equal: [VALUE, VALUE]`\n\nsection 10.2.2.2.3 of TOSCA 2.0",
        ),
        (
            "$node_index",
            "**$node_index** (function): `$node_index`\n\nsection 10.2.1.6 of TOSCA 2.0",
        ),
        ("  Size", "**Size** (data type)\n\nunits: MB, GB"),
    ];
    for (word, expected) in cases {
        let found = said_of(&resolver(TWO), TWO, word).unwrap_or_default();
        assert_eq!(found, expected, "{word}");
    }
    let outline = resolver(TWO).analysis(None, |analysis| analysis.outline("t.yaml".as_ref()));
    let template = outline.iter().find(|entry| entry.name == "service_template").unwrap();
    let app = template.parts[0].parts[0].parts.iter().map(|entry| &*entry.name);
    assert_eq!(app.collect::<Vec<_>>(), ["type", "count", "properties", "requirements"]);
}
