//! Tests `cuvee validate` as a user types it.

#![cfg(feature = "cli")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot run the binary has failed"
)]

use cuvee::Resolver;
use cuvee::diagnostic::Code;
use cuvee::source::csar::Archive;
use serde_json::Value;
use snapbox::cmd::{Command, OutputAssert, cargo_bin};
use snapbox::str;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A valid template with a part that can only be decided at run time.
const SHOP: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ types.yaml ]
topology_template:
  inputs:
    port: { type: integer }
  node_templates:
    shop:
      type: Shop
      properties: { port: { get_input: port } }
";

const TYPES: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Shop:
    derived_from: tosca.nodes.Root
    properties:
      port: { type: integer, constraints: [ { in_range: [ 1, 9999 ] } ] }
      host: { type: string, required: false }
";

/// A template with two mistakes, behind a character that is two code units in UTF-16 and four bytes
/// in UTF-8.
const WRONG: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ types.yaml ]
topology_template:
  node_templates:
    \"𝄞\": { type: Shop, properties: { port: no, hsot: 80 } }
";

/// A template with a mistake in one variant only.
const VARIABLE: &str = "\
tosca_definitions_version: tosca_variability_1_0
imports: [ types.yaml ]
topology_template:
  variability:
    inputs:
      debug: { type: boolean, default: false }
    presets:
      dev: { inputs: { debug: true } }
      prod: { inputs: { debug: false } }
  node_templates:
    shop:
      type: Shop
      properties:
        - port: { value: 80, conditions: { not: { variability_input: debug } } }
        - port: { value: 10080, conditions: { variability_input: debug } }
";

/// A template with a warning: its option has no effect.
const SUSPICIOUS: &str = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    options: { technology_required: true }
  node_templates:
    shop:
      type: tosca.nodes.Root
";

fn directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let files = [
        ("shop", SHOP),
        ("types", TYPES),
        ("wrong", WRONG),
        ("variable", VARIABLE),
        ("suspicious", SUSPICIOUS),
    ];
    for (name, text) in files {
        fs::write(directory.path().join(name).with_extension("yaml"), text).unwrap();
    }
    directory
}

fn cuvee(line: &str) -> Command {
    Command::new(cargo_bin!("cuvee")).arg("validate").args(line.split_whitespace())
}

fn validate(line: &str) -> OutputAssert {
    let directory = directory();
    cuvee(line).current_dir(directory.path()).assert()
}

fn stdout(assert: OutputAssert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

#[test]
fn what_is_valid_says_so_and_what_cannot_be_decided_is_noted() {
    validate("shop.yaml").success().stdout_eq("`shop.yaml` is valid\n").stderr_eq(str![[r#"
note[undecidable]: [..]`get_input`[..]
 --> shop.yaml:9:27
  |
9 |       properties: { port: { get_input: port } }
  |                           ^^^^^^^^^^^^^^^^^^^
...

note: 1 note

"#]]);
    validate("shop.yaml --quiet").success().stdout_eq("").stderr_eq("");
}

#[test]
fn mistakes_are_shown_at_once_with_their_section() {
    validate("wrong.yaml").code(1).stdout_eq("").stderr_eq(str![[r#"
error[invalid-value]: expected an integer, got `no`
 --> wrong.yaml:5:44
  |
5 |     "𝄞": { type: Shop, properties: { port: no, hsot: 80 } }
  |                                            ^^
  |
  = note: section 3.3.1 of TOSCA Simple Profile 1.3
  = help: property "port" of node "𝄞" is of the type `integer`, as `Shop` defines

error[unknown-property]: `Shop` has no property `hsot`
 --> wrong.yaml:5:48
  |
5 |     "𝄞": { type: Shop, properties: { port: no, hsot: 80 } }
  |                                                ^^^^
  |
  = note: section 3.6.11 of TOSCA Simple Profile 1.3
  = help: did you mean `host`?

error: 2 errors

"#]]);
}

#[test]
fn all_variants_count_where_none_is_chosen() {
    let all = "error[violated-constraint]: `10080` violates `in_range: [1, 9999]`[..]\n...\n";
    validate("variable.yaml").code(1).stdout_eq("").stderr_eq(all);
    validate("variable.yaml --preset dev").code(1).stderr_eq(all);
    validate("variable.yaml -i debug=true").code(1).stderr_eq(all);
    validate("variable.yaml --preset prod")
        .success()
        .stdout_eq("`variable.yaml` is valid\n")
        .stderr_eq("");
    validate("variable.yaml --preset dev --input debug=false").success();
    validate("variable.yaml --preset test").code(1).stderr_eq("error[unknown-preset]: [..]\n...\n");
}

#[test]
fn inputs_come_from_files_and_the_environment_too() {
    let directory = directory();
    fs::write(directory.path().join("in.yaml"), "debug: false\n").unwrap();
    let run = |line| cuvee(line).current_dir(directory.path());
    run("variable.yaml --inputs in.yaml").assert().success();
    run("variable.yaml").env("CUVEE_INPUT_DEBUG", "false").assert().success();
    run("variable.yaml").env("CUVEE_PRESETS", "dev").assert().code(1);
    // Variables with other prefixes are no choice of inputs, so all variants are validated.
    run("variable.yaml").env("CUVEE_OTHER", "false").assert().code(1);
}

#[test]
fn warnings_do_not_count_unless_strict() {
    validate("suspicious.yaml")
        .success()
        .stdout_eq("`suspicious.yaml` is valid\n")
        .stderr_eq("warning[invalid-option]: [..]\n...\n");
    validate("suspicious.yaml --quiet").success().stdout_eq("").stderr_eq("");
    validate("suspicious.yaml --strict")
        .code(1)
        .stdout_eq("")
        .stderr_eq("error[invalid-option]: [..]\n...\n");
    // A note about something undecidable does not become an error.
    validate("shop.yaml --strict").success().stderr_eq("note[undecidable]: [..]\n...\n");
    let strict = stdout(validate("suspicious.yaml --strict --quiet --format json").code(1));
    assert_eq!(findings(&strict)[0]["severity"], "error");
}

/// Files without a TOSCA version are skipped on request, as where a repository passes all of its
/// YAML.
#[test]
fn files_of_other_kinds_are_passed_over_where_that_is_asked_for() {
    let directory = directory();
    for (name, text) in [
        ("compose.yaml", "services: { shop: { image: shop } }\n"),
        ("many.yaml", "a: 1\n---\nb: 2\n"),
        ("chart.yaml", "image: {{ .Values.image }}\n"),
        ("workflow.yaml", "run: |\ntosca: tosca_definitions_version: 1\n"),
        ("mentions.yaml", "run: 'grep tosca_definitions_version *.yaml'\n"),
        ("nested.yaml", "metadata: { tosca_definitions_version: tosca_simple_yaml_1_3 }\n"),
    ] {
        fs::write(directory.path().join(name), text).unwrap();
    }
    let run = |line: &str| cuvee(line).current_dir(directory.path()).assert();
    let others = "compose.yaml many.yaml chart.yaml mentions.yaml nested.yaml";
    run(&format!("--only-tosca --quiet shop.yaml {others}")).success().stdout_eq("").stderr_eq("");
    run(&format!("--only-tosca {others}"))
        .success()
        .stderr_eq("")
        .stdout_eq("5 files without `tosca_definitions_version` were passed over\n");
    run("--only-tosca types.yaml mentions.yaml").success().stdout_eq(
        "`types.yaml` is valid\n1 file without `tosca_definitions_version` was passed over\n",
    );
    run("--only-tosca compose.yaml --format json").success().stdout_eq(NONE);
    // Every file that may be a template is validated: wrong, missing or broken ones.
    run("--only-tosca --quiet wrong.yaml compose.yaml").code(1);
    run("--only-tosca nowhere.yaml").code(1).stderr_eq("error[file]: [..]\n...\n");
    run("--only-tosca workflow.yaml").code(1).stderr_eq("error[syntax]: [..]\n...\n");
    run("--quiet compose.yaml").code(1).stderr_eq("error[unsupported-version]: [..]\n...\n");
}

#[test]
fn several_templates_are_validated_and_what_they_share_is_wrong_once() {
    validate("shop.yaml variable.yaml --quiet --preset prod")
        .code(1)
        .stderr_eq("error[unknown-preset]: [..]\n...\n");
    let directory = directory();
    let broken = TYPES.replace("Root", "Rot");
    fs::write(directory.path().join("types.yaml"), broken).unwrap();
    let assert = cuvee("wrong.yaml suspicious.yaml shop.yaml nowhere.yaml --quiet")
        .current_dir(directory.path())
        .assert()
        .code(1);
    let text = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert_eq!(text.matches("there is no node type `tosca.nodes.Rot`").count(), 1, "{text}");
    assert!(text.contains("nowhere.yaml"), "{text}");
    assert!(text.ends_with(" errors\n"), "{text}");
    assert_eq!(text.matches(" errors\n").count(), 1, "{text}");
    assert_eq!(
        stdout(cuvee("suspicious.yaml shop.yaml").current_dir(directory.path()).assert()),
        "`suspicious.yaml` is valid\n"
    );
}

#[test]
fn standard_input_is_a_template() {
    let run = |text: &str| {
        let directory = directory();
        cuvee("-").current_dir(directory.path()).stdin(text.to_owned()).assert()
    };
    run(SHOP).success().stdout_eq("`<stdin>` is valid\n");
    run(WRONG).code(1).stderr_eq("error[invalid-value]: [..]\n --> <stdin>:5:44\n...\n");
}

#[test]
fn directories_and_archives_are_templates() {
    let directory = tempfile::tempdir().unwrap();
    let shop = directory.path().join("shop");
    fs::create_dir(&shop).unwrap();
    fs::write(shop.join("service-template.yaml"), SHOP).unwrap();
    fs::write(shop.join("types.yaml"), TYPES).unwrap();
    fs::write(
        directory.path().join("shop.csar"),
        Resolver::new(&shop).resolve().unwrap().to_csar().unwrap(),
    )
    .unwrap();
    fs::write(shop.join("service-template.yaml"), WRONG).unwrap();
    fs::write(directory.path().join("wrong.csar"), wrong_archive()).unwrap();
    let run = |line| cuvee(line).current_dir(directory.path()).assert();
    run("shop.csar").success().stdout_eq("`shop.csar` is valid\n");
    run("shop").code(1).stdout_eq("");
    let log: Value =
        serde_json::from_str(&stdout(run("wrong.csar --format sarif").code(1))).unwrap();
    assert_eq!(
        uri(&log["runs"][0]["results"][0]["locations"][0]),
        "wrong.csar%3A/service-template.yaml"
    );
    fs::write(directory.path().join("no.csar"), "no").unwrap();
    run("no.csar").code(1).stderr_eq("error[csar]: [..]\n...\n");
}

#[test]
fn a_directory_without_a_template_is_a_library() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("tosca_definitions_version: tosca_simple_yaml_1_3\n{text}"))
            .unwrap();
    };
    write(
        "nodes/shop/NodeType.tosca",
        "node_types: { Shop: { properties: { size: { type: Size } } } }",
    );
    write("data/size.yml", "data_types: { Size: { derived_from: integer } }");
    fs::write(directory.path().join("playbook.yml"), "hosts: all").unwrap();
    let run = || cuvee(".").current_dir(directory.path()).assert();
    run().success().stdout_eq("`.` is valid\n");
    write(
        "one.yaml",
        "topology_template: { node_templates: { shop: { type: Shop, properties: { size: one } } } }",
    );
    write(
        "two.yaml",
        "topology_template: { node_templates: { shop: { type: Shop, properties: { size: 2 } } } }",
    );
    write("data/colour.yaml", "data_types: { Colour: { derived_from: strong } }");
    write("broken.yaml", "node_types: [");
    let log = cuvee(". --format json").current_dir(directory.path()).assert().code(1);
    let findings = findings(&stdout(log));
    let found: BTreeSet<_> = findings
        .iter()
        .map(|one| (one["code"].as_str().unwrap(), one["file"].as_str().unwrap()))
        .collect();
    let expected = [
        ("invalid-value", "./one.yaml"),
        ("syntax", "./broken.yaml"),
        ("unknown-type", "./data/colour.yaml"),
    ];
    assert_eq!(found, BTreeSet::from(expected));
    assert_eq!(findings.len(), 3);
}

#[test]
fn archives_are_validated_with_the_templates_that_substitute_nodes() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
    fs::create_dir(directory.path().join("other")).unwrap();
    // The only YAML file at the root is the entry.
    write(
        "TOSCA.meta",
        "CSAR-Version: 2.0\nOther-Definitions: other/stall.yaml other/kiosk.yaml\n",
    );
    let template = "tosca_definitions_version: tosca_2_0\nservice_template: {node_templates: {}}\n";
    let inputs =
        "service_template: {variability: {inputs: {big: {type: boolean, default: true}}}, ";
    write("shop.yaml", &template.replace("service_template: {", inputs));
    write("other/stall.yaml", &format!("{template}colour: red\n"));
    write("other/kiosk.yaml", "shop: [\n");
    let found = cuvee(".").current_dir(directory.path()).assert().code(1);
    let found = String::from_utf8(found.get_output().stderr.clone()).unwrap();
    assert!(found.contains("`colour` is not a keyname of a TOSCA file"), "{found}");
    assert!(found.contains("error[syntax]"), "{found}");
    // The inputs of one variant are not those of the other templates.
    let found = cuvee(". -i big=false").current_dir(directory.path()).assert().success();
    let found = String::from_utf8(found.get_output().stderr.clone()).unwrap();
    let note = "note[undecidable]: the templates under `Other-Definitions` are not judged: presets and inputs are those of `shop.yaml`";
    assert!(found.contains(note), "{found}");
}

/// An archive with a mistake that resolving ignores.
fn wrong_archive() -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("service-template.yaml"), WRONG).unwrap();
    fs::write(directory.path().join("types.yaml"), TYPES).unwrap();
    let bytes = Resolver::new(directory.path()).resolve().unwrap().to_csar().unwrap();
    assert!(
        Archive::new("wrong.csar", bytes.clone(), &cuvee::source::csar::Limits::default()).is_ok()
    );
    bytes
}

#[test]
fn wrong_use_exits_with_2() {
    for (line, complaint) in [
        ("", "...\n[..]<TEMPLATE>...[..]\n...\n"),
        ("shop.yaml --format xml", "...\n[..]human, json, sarif[..]\n...\n"),
        (
            "- shop.yaml -",
            "error: standard input can be read only once, so `-` cannot be given twice\n...\n",
        ),
    ] {
        validate(line).code(2).stdout_eq("").stderr_eq(complaint);
    }
}

/// The document of templates that are valid.
const NONE: &str = "{\n  \"version\": 1,\n  \"findings\": []\n}\n";

/// The findings in a document.
fn findings(document: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(document).unwrap();
    assert_eq!(document["version"], 1);
    document["findings"].as_array().unwrap().clone()
}

#[test]
fn json_is_one_document_and_nothing_else() {
    let assert = validate("shop.yaml wrong.yaml --format json").code(1).stderr_eq("");
    let lines = findings(&stdout(assert));
    let codes: Vec<_> = lines.iter().map(|line| line["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["undecidable", "invalid-value", "unknown-property"]);
    let last = &lines[2];
    assert_eq!(
        (&last["file"], &last["line"], &last["column"]),
        (&"wrong.yaml".into(), &5.into(), &48.into())
    );
    assert_eq!(
        (&last["section"], &last["help"]),
        (&"3.6.11".into(), &"did you mean `host`?".into())
    );
    let (text, fix) = (WRONG, &last["fix"]);
    let place = |key: &str| fix[key].as_u64().unwrap() as usize;
    assert_eq!(&text[place("start")..place("end")], "hsot");
    assert_eq!((&fix["replacement"], &fix["line"]), (&"host".into(), &5.into()));
    assert_eq!(lines[1].get("fix"), None);
    // A program that reads it gets a document of valid templates, too.
    assert_eq!(stdout(validate("suspicious.yaml --format json --quiet").success()), NONE);
    // The same messages as other commands write to standard error, a line each.
    let reported = validate("wrong.yaml --message-format json")
        .code(1)
        .stdout_eq("")
        .get_output()
        .stderr
        .clone();
    let lines = String::from_utf8(reported).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let document = stdout(validate("wrong.yaml --format json"));
    assert_eq!(lines.collect::<Vec<_>>(), findings(&document));
}

fn uri(location: &Value) -> &str {
    location["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap()
}

fn region(location: &Value) -> [u64; 4] {
    let region = &location["physicalLocation"]["region"];
    ["startLine", "startColumn", "endLine", "endColumn"].map(|key| region[key].as_u64().unwrap())
}

/// Asserts what the schema and the text of SARIF 2.1.0 demand of the properties that are written.
fn assert_sarif(log: &Value) {
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().ends_with("sarif-schema-2.1.0.json"));
    assert_eq!(log.as_object().unwrap().len(), 3);
    let [run] = log["runs"].as_array().unwrap().as_slice() else { panic!("{log}") };
    assert_eq!(run["columnKind"], "utf16CodeUnits");
    let driver = &run["tool"]["driver"];
    assert_eq!(
        (&driver["name"], &driver["version"]),
        (&"cuvee".into(), &env!("CARGO_PKG_VERSION").into())
    );
    let mut rules = BTreeSet::new();
    for rule in driver["rules"].as_array().unwrap() {
        let code: Code = rule["id"].as_str().unwrap().parse().unwrap();
        assert!(rules.insert(code), "{code} twice");
        assert_eq!(rule["fullDescription"]["text"], code.description());
        assert!(code.description().starts_with(rule["shortDescription"]["text"].as_str().unwrap()));
        assert!(
            rule.get("help")
                .is_none_or(|help| code.description().ends_with(help["text"].as_str().unwrap()))
        );
    }
    let mut used = BTreeSet::new();
    for result in run["results"].as_array().unwrap() {
        used.insert(result["ruleId"].as_str().unwrap().parse::<Code>().unwrap());
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        assert_eq!(result["locations"].as_array().unwrap().len(), 1);
        let related =
            result.get("relatedLocations").map_or(&[][..], |related| related.as_array().unwrap());
        for (index, location) in related.iter().enumerate() {
            assert_eq!(location["id"], index);
            assert!(location["message"]["text"].is_string());
            region(location);
        }
    }
    assert_eq!(rules, used);
}

fn sarif(line: &str, exit: i32) -> Value {
    let log = serde_json::from_str(&stdout(validate(line).code(exit).stderr_eq(""))).unwrap();
    assert_sarif(&log);
    log
}

#[test]
fn sarif_names_rules_places_and_sections() {
    let log = sarif("wrong.yaml shop.yaml --format sarif", 1);
    let results = log["runs"][0]["results"].as_array().unwrap();
    let said: Vec<_> = results
        .iter()
        .map(|result| (result["ruleId"].as_str().unwrap(), result["level"].as_str().unwrap()))
        .collect();
    assert_eq!(
        said,
        [("invalid-value", "error"), ("unknown-property", "error"), ("undecidable", "note")]
    );
    let unknown = &results[1];
    assert_eq!(
        unknown["message"]["text"],
        "`Shop` has no property `hsot`\nhelp: did you mean `host`?"
    );
    assert_eq!(unknown["properties"]["section"], "3.6.11");
    assert_eq!(uri(&unknown["locations"][0]), "wrong.yaml");
    // The clef has two code units here; in other formats it is one character.
    assert_eq!(region(&unknown["locations"][0]), [5, 49, 5, 53]);
    let change = &unknown["fixes"][0]["artifactChanges"][0];
    assert_eq!(change["artifactLocation"]["uri"], "wrong.yaml");
    let replacement = &change["replacements"][0];
    assert_eq!(replacement["deletedRegion"], unknown["locations"][0]["physicalLocation"]["region"]);
    assert_eq!(replacement["insertedContent"]["text"], "host");
    assert!(results[0].get("fixes").is_none());
}

#[test]
fn sarif_has_related_places_also_in_profiles() {
    let directory = directory();
    let text = "\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    data: { type: tosca.nodes.Database }
";
    fs::create_dir(directory.path().join("ü b")).unwrap();
    fs::write(directory.path().join("ü b/db.yaml"), text).unwrap();
    let output =
        cuvee("--format sarif").arg("ü b/db.yaml").current_dir(directory.path()).assert().code(1);
    let log: Value = serde_json::from_str(&stdout(output)).unwrap();
    assert_sarif(&log);
    let results = log["runs"][0]["results"].as_array().unwrap();
    let missing = results.iter().find(|result| result["ruleId"] == "missing-property").unwrap();
    assert_eq!(uri(&missing["locations"][0]), "%C3%BC%20b/db.yaml");
    let related = &missing["relatedLocations"][0];
    assert_eq!(uri(related), "cuvee:profiles/tosca_simple_1_3.yaml");
    assert_eq!(related["message"]["text"], "the property is defined here");
}

#[test]
fn sarif_places_what_has_no_place_at_the_template() {
    let log = sarif("nowhere.yaml --format sarif", 1);
    let [result] = log["runs"][0]["results"].as_array().unwrap().as_slice() else {
        panic!("{log}")
    };
    assert_eq!((&result["ruleId"], uri(&result["locations"][0])), (&"file".into(), "nowhere.yaml"));
    assert!(result["locations"][0]["physicalLocation"].get("region").is_none());
    let none = sarif("suspicious.yaml --quiet --format sarif", 0);
    assert_eq!(none["runs"][0]["results"], Value::Array(Vec::new()));
}

const NON_NORMATIVE: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    web: { type: tosca.nodes.WebServer.Apache, requirements: [ { host: machine } ] }
    other: { type: WebServer.Apache, requirements: [ { host: machine } ] }
    machine: { type: tosca.nodes.Compute }
";

#[test]
fn non_normative_types_are_there_where_they_are_asked_for() {
    let directory = directory();
    let run = |line| cuvee(line).current_dir(directory.path()).assert();
    fs::write(directory.path().join("web.yaml"), NON_NORMATIVE).unwrap();
    let text = String::from_utf8(run("web.yaml").code(1).get_output().stderr.clone()).unwrap();
    assert_eq!(text.matches("error[unknown-type]").count(), 2, "{text}");
    assert_eq!(text.matches("only with `--non-normative`").count(), 2, "{text}");
    run("web.yaml --non-normative").success().stderr_eq("");
}

/// Other tools need a file with these types; it is not a second definition of them.
#[test]
fn a_copy_of_a_profile_is_the_profile() {
    let directory = directory();
    let profiles = Path::new(env!("CARGO_MANIFEST_DIR")).join("presets/profiles");
    for name in ["tosca_simple_1_3.yaml", "tosca_simple_1_3_non_normative.yaml"] {
        fs::copy(profiles.join(name), directory.path().join(name)).unwrap();
    }
    let imports = "imports: [ tosca_simple_1_3.yaml, tosca_simple_1_3_non_normative.yaml ]\ntopology_template:";
    fs::write(
        directory.path().join("web.yaml"),
        NON_NORMATIVE.replace("topology_template:", imports),
    )
    .unwrap();
    for line in [
        "web.yaml",
        "web.yaml --non-normative",
        "tosca_simple_1_3.yaml",
        "tosca_simple_1_3_non_normative.yaml",
    ] {
        cuvee(line).current_dir(directory.path()).assert().success().stderr_eq("");
    }
    let types = Command::new(cargo_bin!("cuvee")).args([
        "types",
        "web.yaml",
        "tosca.nodes.WebServer.Apache",
    ]);
    types.current_dir(directory.path()).assert().success().stderr_eq("");
}

#[test]
fn archives_of_tosca_1_0_are_judged_as_such() {
    const DEFINITIONS: &str = "<Definitions xmlns=\"http://docs.oasis-open.org/tosca/ns/2011/12\" id=\"d\" targetNamespace=\"urn:d\"><NodeType name=\"N\"/></Definitions>";
    let judged = |meta: &str, document: &str| {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = directory.path().join("a").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("TOSCA-Metadata/TOSCA.meta", meta);
        write(document, DEFINITIONS);
        let log = cuvee("a --format json").current_dir(directory.path()).assert();
        let line = |found: &Value| {
            let text = |name: &str| found[name].as_str().unwrap_or_default().to_owned();
            format!("{}:{} {}: {}", text("file"), found["line"], text("severity"), text("message"))
        };
        findings(&stdout(log)).iter().map(line).collect::<Vec<_>>()
    };
    let first = "TOSCA-Meta-File-Version: 1.0\nCSAR-Version: 1.0\nCreated-By: me\n";
    let entry = "Entry-Definitions: Definitions/d.tosca\n";
    let block =
        "\nName: Definitions/d.tosca\nContent-Type: application/vnd.oasis.tosca.definitions\n";
    let nothing: [&str; 0] = [];
    assert_eq!(judged(first, "Definitions/d.tosca"), nothing);
    assert_eq!(judged(&format!("{first}{entry}{block}"), "Definitions/d.tosca"), nothing);
    let meta = "a/TOSCA-Metadata/TOSCA.meta";
    assert_eq!(
        judged(&format!("{first}{entry}{block}"), "types/d.tosca"),
        [
            format!("{meta}:1 warning: there is no directory `Definitions`"),
            format!(
                "{meta}:4 error: the entry `Definitions/d.tosca` is not a document of definitions in this archive"
            ),
        ]
    );
    let wrong = "TOSCA-Meta-Version: 2.0\nCSAR-Version: 1.0\n\nContent-Type: a/b\nName: x\n\nName: y\nOther: z\n\nName: z\nContent-Type: text\n";
    assert_eq!(
        judged(wrong, "Definitions/d.tosca"),
        [
            format!("{meta}:1 error: `TOSCA-Meta-Version` is `2.0`, which cannot be read"),
            format!("{meta}:4 warning: a block about a file begins with its `Name`"),
            format!("{meta}:7 warning: the `Content-Type` of a file comes behind its name"),
            format!(
                "{meta}:11 warning: a `Content-Type` is a type and a subtype, such as `text/plain`"
            ),
        ]
    );
}
