//! Tests the page of `cuvee report`: as a file, its scripts alone, and in a browser.
//!
//! Where `node`, playwright-core or Chromium is missing, the tests that need it are skipped, unless
//! the environment variable `CUVEE_BROWSER=required` demands it.

#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use cuvee::Resolver;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/shop");
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/report");

fn cuvee(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cuvee")).args(words).output().unwrap()
}

fn report(words: &[&str]) -> String {
    let output = cuvee(&[&["report"], words].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The page of a template with this text.
fn report_of(text: &str, words: &[&str]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let template = dir.path().join("t.yaml");
    std::fs::write(&template, text).unwrap();
    report(&[&[template.to_str().unwrap()], words].concat())
}

fn required() -> bool {
    std::env::var("CUVEE_BROWSER").is_ok_and(|value| value == "required")
}

/// Runs a script, and returns whether it could be started.
fn node(words: &[&str]) -> bool {
    let output = match Command::new("node").args(words).output() {
        Ok(output) => output,
        Err(error) if required() => panic!("node: {error}"),
        Err(_) => return false,
    };
    let said = [output.stdout, output.stderr]
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .concat();
    assert!(output.status.success(), "{said}");
    println!("{said}");
    true
}

#[test]
fn the_page_stands_alone() {
    let page = report(&[SHOP]);
    assert!(page.starts_with("<!doctype html>"));
    assert!(page.contains("default-src 'none'; script-src 'sha256-"));
    for word in ["http://", "https://", "url(", "@import", "<link rel=\"stylesheet\""] {
        let found: Vec<_> = page
            .lines()
            .filter(|line| line.contains(word) && !line.contains("application/json"))
            .collect();
        assert!(found.iter().all(|line| line.contains("www.w3.org/2000/svg")), "{word}: {found:?}");
    }
}

#[test]
fn data_cannot_leave_its_element() {
    let text = "\
tosca_definitions_version: tosca_variability_1_0
description: '</script><script>alert(1)</script><!-- {{script}}'
metadata: { template_name: '<b>& {{data}}' }
topology_template:
  node_templates:
    '</script>': { type: T }
";
    let page = report_of(text, &[]);
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(page.contains("<title>&lt;b&gt;&amp; {{data}}: variants</title>"));
}

/// The data in a page.
fn data(page: &str) -> serde_json::Value {
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

/// Finds the templates of all cases below a directory, each with the options of its case.
fn cases(dir: &Path, found: &mut Vec<(PathBuf, Resolver)>) {
    let mut entries: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap()).collect();
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries.iter().filter(|entry| entry.path().is_dir()) {
        cases(&entry.path(), found);
    }
    let Ok(settings) = std::fs::read_to_string(dir.join("test.yaml")) else { return };
    let settings: serde_yaml::Value = serde_yaml::from_str(&settings).unwrap();
    let text = |value: &serde_yaml::Value| serde_yaml::to_string(value).unwrap().trim().to_owned();
    let named = |key: &str| settings.get(key).and_then(|value| value.as_str()).map(str::to_owned);
    let template = dir.join(named("template").unwrap_or_else(|| "template.yaml".into()));
    let mut resolver = Resolver::new(&template);
    let listed = |key: &str| match settings.get(key) {
        Some(serde_yaml::Value::Sequence(all)) => all.iter().map(text).collect(),
        Some(one) => vec![text(one)],
        None => Vec::new(),
    };
    for preset in listed("presets") {
        resolver = resolver.preset(preset);
    }
    for file in listed("inputs") {
        resolver = resolver.inputs_file(dir.join(file));
    }
    for (name, value) in
        settings.get("options").and_then(|it| it.as_mapping()).into_iter().flatten()
    {
        resolver = resolver.option(text(name), text(value));
    }
    if let Some(now) = named("now").and_then(|now| now.parse::<jiff::civil::DateTime>().ok()) {
        resolver = resolver.now(now.to_zoned(jiff::tz::TimeZone::UTC).unwrap());
    }
    found.push((dir.to_owned(), resolver));
}

/// Whether a preset agrees with the inputs that the command has fixed.
fn keeps(preset: &serde_json::Value, data: &serde_json::Value) -> bool {
    let is_open =
        |name: &str| data["inputs"].as_array().unwrap().iter().any(|input| input["name"] == name);
    let mut inputs = preset["inputs"].as_object().unwrap().iter();
    inputs.all(|(name, value)| is_open(name) || *value == data["presets"][0]["inputs"][name])
}

/// The page has a whole text only for presets whose resolved template it cannot compose.
#[test]
fn what_it_puts_together_is_what_resolves() {
    let mut found = Vec::new();
    cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance"), &mut found);
    let (mut composed, mut whole) = (0, Vec::new());
    for (dir, resolver) in found {
        let Ok(page) = resolver.report(&[]) else { continue };
        let data = data(&page);
        let Some(later) = data["writing"]["later"].as_array() else { continue };
        let [presets, texts] =
            [&data["presets"], &data["resolved"]["texts"]].map(|all| all.as_array().unwrap());
        for (preset, text) in presets.iter().zip(texts) {
            composed += usize::from(preset["error"].is_null());
            if !text.is_null() && later.is_empty() && keeps(preset, &data) {
                whole.push(format!("{} {}", dir.display(), preset["id"]));
            }
        }
    }
    assert!(whole.is_empty(), "{}", whole.join("\n"));
    assert!(composed > 200, "{composed}");
}

/// The page has the plans of presets, but no secrets from them.
#[test]
fn plans_tell_no_secrets() {
    let text = "\
tosca_definitions_version: tosca_variability_1_0
node_types:
  Service:
    derived_from: SoftwareComponent
    properties: { password: { type: string }, level: { type: string } }
    interfaces:
      Standard:
        operations:
          create: { implementation: create.sh, inputs: { password: { type: string, default: { get_property: [SELF, password] } } } }
topology_template:
  variability:
    inputs: { live: { type: boolean, default: false } }
    presets: { live: { inputs: { live: true } } }
  node_templates:
    machine: { type: Compute }
    web:
      type: Service
      properties:
        - password: { value: hunter2, conditions: { variability_input: live } }
        - password: { value: swordfish, conditions: { not: { variability_input: live } } }
        - level: { value: plain, conditions: { variability_input: live } }
        - level: { value: verbose, conditions: { not: { variability_input: live } } }
      requirements: [{ host: machine }]
";
    let plans = data(&report_of(text, &[]))["plans"].to_string();
    for word in ["create.sh", "reconfigured", "verbose -> plain", "(sensitive)"] {
        assert!(plans.contains(word), "{word} is not in {plans}");
    }
    for secret in ["hunter2", "swordfish"] {
        assert!(!plans.contains(secret), "{plans}");
    }
}

/// What presets give to secret inputs is nowhere in the page: not in resolved texts, in plans, or in
/// reasons, whether there is a configurator or not.
#[test]
fn pages_tell_no_secret_inputs() {
    let text = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    inputs:
      door: { type: string, metadata: { sensitive: true }, default: hunter2 }
      live: { type: boolean, default: true }
      a: { type: string, default: x }
      b: { type: string, default: y }
    presets: { one: { inputs: { door: swordfish } }, two: { inputs: { door: mellon } } }
  node_templates:
    web: { type: T, properties: [{ code: { expression: { concat: [door, { variability_input: door }] } } }] }
    n: { type: T, conditions: COND }
    m: { type: T, conditions: { equal: [{ variability_input: door }, hunter2] } }
";
    let open = "{ equal: [{ variability_input: a }, { variability_input: b }] }";
    for (condition, is_configured) in [("{ variability_input: live }", true), (open, false)] {
        let text = text.replace("COND", condition);
        let page = report_of(&text, &[]);
        assert_eq!(data(&page)["cnf"].is_object(), is_configured);
        for secret in ["hunter2", "swordfish", "mellon"] {
            let at = page.find(secret).map(|at| page[..at].chars().rev().take(200).collect());
            let before: Option<String> = at.map(|it: String| it.chars().rev().collect());
            assert_eq!(before, None, "{secret}");
        }
        assert!(report_of(&text, &["--reveal"]).contains("swordfish"));
    }
}

/// What would take a browser minutes is not in the page, and the page says so.
#[test]
fn huge_templates_are_neither_drawn_nor_configured() {
    let relations = "        - next: n\n".repeat(40_000);
    let values: String = (0..160_000).map(|at| format!("        p_{at}: {at}\n")).collect();
    let text = format!(
        "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  node_templates:\n    n:\n      type: T\n      requirements:\n{relations}      properties:\n{values}"
    );
    let page = data(&report_of(&text, &[]));
    assert_eq!((&page["svg"], &page["cnf"]), (&"".into(), &serde_json::Value::Null));
    let said = [&page["undrawn"], &page["inexact"]].map(|it| it.as_str().unwrap_or_default());
    assert!(said[0].contains("at most 40000 nodes and relations, and these are 40001"), "{said:?}");
    assert!(said[1].contains("`cuvee inputs`, `cuvee variants` and `cuvee explain`"), "{said:?}");
}

#[test]
fn what_cannot_be_configured_says_so() {
    let text = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    inputs:
      a: { type: string, default: x }
      b: { type: string, default: y }
  node_templates:
    n: { type: T, conditions: { equal: [{ variability_input: a }, { variability_input: b }] } }
";
    let page = report_of(text, &[]);
    assert!(page.contains("\"cnf\":null,\"inexact\":\""), "{}", &page[page.len() - 2000..]);
    assert!(page.contains("open-input"));
}

#[test]
fn its_solver_agrees_with_brute_force() {
    if !node(&["--test", &format!("{SCRIPTS}/solver.test.mjs")]) {
        eprintln!("left out: there is no node");
    }
}

/// The plans that the page composes for presets are those that were made with the page, and for
/// random choices those of the command.
#[test]
fn it_plans_what_the_command_plans() {
    let dir = tempfile::tempdir().unwrap();
    let mut found = Vec::new();
    cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance"), &mut found);
    let mut pages = Vec::new();
    for (case, resolver) in found {
        let Ok(page) = resolver.report(&[]) else { continue };
        pages.push(serde_json::json!({ "name": case.display().to_string(), "data": data(&page) }));
    }
    let presets = dir.path().join("presets.json");
    std::fs::write(&presets, serde_json::to_string(&pages).unwrap()).unwrap();
    let script = format!("{SCRIPTS}/plans.mjs");
    if !node(&[&script, "presets", presets.to_str().unwrap(), "400"]) {
        eprintln!("left out: there is no node");
        return;
    }
    let examples =
        ["examples/shop", "examples/guestbook", "examples/technologies", "examples/deployment"];
    for template in
        [&examples[..], &["tests/report/plans.yaml", "tests/report/small.yaml"]].concat()
    {
        let template = Path::new(env!("CARGO_MANIFEST_DIR")).join(template);
        let template = template.to_str().unwrap();
        let page = dir.path().join("page.html");
        std::fs::write(&page, report(&[template])).unwrap();
        let page = page.to_str().unwrap();
        node(&[&script, "random", env!("CARGO_BIN_EXE_cuvee"), "60", template, page]);
    }
}

/// The example of a guest book.
const GUESTBOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/guestbook");

/// Creates an instance of the guest book with one node that runs, one that has failed and one that
/// was adopted, and returns the directory of its store.
fn instance(dir: &Path) -> String {
    let store = dir.join("store").to_str().unwrap().to_owned();
    let plan = dir.join("plan.json").to_str().unwrap().to_owned();
    let adopt = ["edit", "book", "adopt", "tosca.nodes.Root", "aside"];
    let house = ["record", "book", "house", "--step", "node.house/up", "--outcome", "done"];
    let book = ["record", "book", "book", "--step", "node.book/create", "--outcome", "failed"];
    let book: Vec<_> = book.into_iter().chain(["--note", "no disk"]).collect();
    for words in [
        &["init", "book", GUESTBOOK][..],
        &adopt,
        &["plan", "book", "-o", &plan],
        &["apply", "book", &plan],
        &house,
        &book,
    ] {
        let output = cuvee(&[&["instance"], words, &["--store", &store]].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words:?}: {said}");
    }
    store
}

/// The arguments that make its page.
fn of_instance(store: &str) -> [&str; 5] {
    [GUESTBOOK, "--state", "instance:book", "--store", store]
}

#[test]
fn it_knows_the_states_of_an_instance() {
    let dir = tempfile::tempdir().unwrap();
    let store = instance(dir.path());
    let found = &data(&report(&of_instance(&store)))["instance"];
    let looks = |node: &str| found["looks"][node].as_str();
    assert_eq!(looks("node.house"), Some("present"));
    assert_eq!(looks("node.book"), Some("failed"));
    assert_eq!(looks("node.site"), Some("plain"));
    assert_eq!(found["states"]["node.book"][0], serde_json::json!(["book", "error", "no disk"]));
    assert_eq!(found["others"], serde_json::json!(["aside"]));
    assert_eq!(found["open"], true);
    assert_eq!(data(&report(&[GUESTBOOK]))["instance"], serde_json::Value::Null);
    let before = report(&[GUESTBOOK, "--state", "instance:book@1", "--store", &store]);
    assert_eq!(data(&before)["instance"]["looks"]["node.book"], "plain");
}

/// A pipeline of many stages, every other of which is optional.
fn large_template() -> String {
    let stage = |at: usize| {
        let conditions = if at % 2 == 1 { ", conditions: { variability_input: full }" } else { "" };
        let next = match at {
            119 => String::new(),
            _ => format!(", requirements: [{{ next: stage_{} }}]", at + 1),
        };
        format!("    stage_{at}: {{ type: Stage{conditions}{next} }}\n")
    };
    let stages: String = (0..120).map(stage).collect();
    format!(
        "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    inputs:
      full: {{ type: boolean, default: true }}
    options: {{ mode: semantic-loose, checks: false }}
  node_templates:
{stages}"
    )
}

#[test]
fn it_works_in_a_browser() {
    let chromium = std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".into());
    let playwright = std::env::var("PLAYWRIGHT").unwrap_or_default();
    if !required()
        && (!Path::new(&chromium).exists() || !Path::new(&playwright).join("index.mjs").exists())
    {
        eprintln!(
            "left out: there is no Chromium, or PLAYWRIGHT does not name the directory of playwright-core"
        );
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let store = instance(dir.path());
    let page = |name: &str, words: &[&str]| {
        let file = dir.path().join(name);
        std::fs::write(&file, report(words)).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let small = &format!("{SCRIPTS}/small.yaml");
    let fixed = [
        small,
        "-i",
        "release=''",
        "-i",
        "size=1",
        "-i",
        "tags=[]",
        "-i",
        "safe=false",
        "-i",
        "alarm=false",
    ];
    let [shop_page, small_page, fixed_page] =
        [page("shop.html", &[SHOP]), page("small.html", &[small]), page("fixed.html", &fixed)];
    let large = dir.path().join("large.yaml");
    std::fs::write(&large, large_template()).unwrap();
    let large_page = page("large.html", &[large.to_str().unwrap()]);
    let script = format!("{SCRIPTS}/browser.mjs");
    node(&[
        &script,
        env!("CARGO_BIN_EXE_cuvee"),
        SHOP,
        &shop_page,
        small,
        &small_page,
        &fixed_page,
        &large_page,
        &page("prod.html", &[SHOP, "--preset", "prod"]),
        &page("plans.html", &[&format!("{SCRIPTS}/plans.yaml")]),
        &page("instance.html", &of_instance(&store)),
    ]);
}
