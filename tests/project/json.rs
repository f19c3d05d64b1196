//! Checks everything that programs read: each JSON document against its schema in `docs/schemas`,
//! and messages.
//!
//! Each command that has a format `json` needs a line in [`DOCUMENTS`], and a schema for what it
//! prints.

#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use crate::commands::{commands, cuvee, help_of, text};
use crate::folders::copy;
use cuvee::diagnostic::Code;
use jsonschema::Validator;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use zip::ZipArchive;

/// The name of the schema for each line of `--message-format json`.
const MESSAGE: &str = "message";

/// The schema of resolved templates. They have no `version` of ours, and may have keys that it does
/// not list.
const TOSCA: &str = "resolve";

/// The schema of models of instances. Their version is that of their specification.
const MODEL: &str = "instance-export";

/// Commands that print JSON, their exit codes, and the schemas of what they print, without `.json`.
/// They run beside copies of the examples and the files that [`workplace`] writes.
const DOCUMENTS: &[(&str, i32, &str)] = &[
    ("resolve shop --preset prod --format json", 0, "resolve"),
    ("resolve technologies -i target=workstation --format json", 0, "resolve"),
    ("options shop --format json", 0, "options"),
    ("options deployment --all --format json", 0, "options"),
    ("inputs shop --format json", 0, "inputs"),
    ("inputs shop --preset prod --format json", 0, "inputs"),
    ("inputs odd.yaml --format json", 0, "inputs"),
    ("variants shop --limit 3 --format json", 0, "variants"),
    ("variants shop --pairwise --format json", 0, "variants"),
    ("variants shop --minimize weight --format json", 0, "variants"),
    ("variants shop --all-presets --format json", 0, "variants"),
    ("variants odd.yaml --all-presets --format json", 0, "variants"),
    ("variants shop --count --format json", 0, "variants-count"),
    ("variants shop --count --effort 1 --format json", 0, "variants-count"),
    ("analyze shop --format json", 0, "analyze"),
    ("analyze odd.yaml --format json", 0, "analyze"),
    ("explain shop node.broker --preset prod --format json", 0, "explain"),
    ("explain odd.yaml node.never --format json", 0, "explain"),
    ("explain shop --preset prod --format json", 0, "explain-variant"),
    ("explain shop --preset edge -i durable_orders=true --format json", 0, "explain-variant"),
    ("diff shop --from dev --to prod --format json", 0, "diff"),
    ("diff --from odd.yaml --to typed.yaml --format json", 0, "diff"),
    ("instance plan demo --preset prod --moved cache=broker --format json", 0, "plan"),
    ("instance diff demo@1 demo --format json", 0, "diff"),
    ("instance apply next next.json --format json", 0, "instance-apply"),
    ("instance apply next --resume --format json", 0, "instance-apply"),
    ("instance show taken --format json", 0, "instance-show"),
    ("instance ready taken --now 2026-01-01T00:01:00Z --format json", 0, "instance-ready"),
    ("instance ready taken --now 2026-01-02T00:00:00Z --format json", 0, "instance-ready"),
    ("instance export demo --format json", 0, MODEL),
    ("instance export next --unstable --format json", 0, MODEL),
    ("instance export phones --format json", 0, MODEL),
    ("instance run try guestbook --dry-run --format json", 0, "instance-dry-run"),
    ("instance run try guestbook --rehearse --format json", 0, "instance-rehearsal"),
    ("instance check demo --probe tosca.nodes.Root=cat --format json", 0, "instance-check"),
    ("instance check demo --probe tosca.nodes.Root=none --format json", 1, "instance-check"),
    (
        "instance check demo --probe tosca.nodes.Root=false --record --format json",
        0,
        "instance-check",
    ),
    ("instance list --format json", 0, "instance-list"),
    ("instance show demo --format json", 0, "instance-show"),
    ("instance show next --format json", 0, "instance-show"),
    ("instance show demo shop --format json", 0, "instance-show-entity"),
    ("instance show demo relation.host@0.node.shop --format json", 0, "instance-show-entity"),
    ("instance show demo engine --format json", 0, "instance-show-entity"),
    ("instance show demo group.services --format json", 0, "instance-show-entity"),
    ("instance show next input.domain --format json", 0, "instance-show-entity"),
    ("instance verify demo --format json", 0, "instance-verify"),
    ("matrix shop --elements all --format json", 0, "matrix"),
    ("matrix odd.yaml --format json", 0, "matrix"),
    ("graph shop --format json", 0, "graph"),
    ("graph shop --from dev --to prod --format json", 0, "graph"),
    ("convert kiosk.tosca -o kiosk.yaml --loss -", 0, "convert-loss"),
    ("types kiosk.tosca --format json", 0, "types-definitions"),
    ("types web.tosca Web --format json", 0, "types-definitions"),
    ("types shop --format json", 0, "types"),
    (
        "types shop --non-normative tosca.nodes.Container.Application.Docker --format json",
        0,
        "types-name",
    ),
    ("types shop Compute --format json", 0, "types-name"),
    ("types shop tosca.interfaces.node.lifecycle.Standard --format json", 0, "types-name"),
    ("types shop shop.nodes.Service --format json", 0, "types-name"),
    ("types typed.yaml my.Node --format json", 0, "types-name"),
    ("types typed.yaml my.Policy --format json", 0, "types-name"),
    ("assign plain --format json", 0, "assign"),
    ("enrich shop --format json", 0, "enrich"),
    ("enrich odd.yaml --option optimization_topology=min --format json", 0, "enrich"),
    ("quality plain --format json", 0, "quality"),
    ("plan shop --preset prod --format json", 0, "plan"),
    ("plan planned.yaml --format json", 0, "plan"),
    ("plan planned.yaml undeploy --format json", 0, "plan"),
    ("plan planned.yaml --simulate --fail node.box --format json", 1, "plan"),
    ("plan planned.yaml check --simulate --fail step.first --format json", 1, "plan"),
    ("plan planned.yaml tidy --format json", 0, "plan"),
    ("plan planned.yaml --list --format json", 0, "plan-list"),
    ("plan --from planned.yaml --to next.yaml --recreate box --format json", 0, "plan"),
    ("plan --from planned.yaml --to next.yaml --format json", 0, "plan"),
    (
        "substitute 11-variable/app.yaml --with 11-variable/catalogue --explain --format json",
        0,
        "substitute-explain",
    ),
    (
        "substitute 11-variable/app.yaml --with 11-variable/catalogue --candidates open --explain --format json",
        0,
        "substitute-explain",
    ),
    (
        "substitute 05-put-right/shop.yaml --with 05-put-right --explain --format json",
        0,
        "substitute-explain",
    ),
    (
        "substitute select/app.yaml --inventory select/site.yaml --explain --format json",
        0,
        "substitute-explain",
    ),
    (
        "substitute jointly/app.yaml --with jointly/catalogue --inventory jointly/site.yaml --explain --format json",
        0,
        "substitute-explain",
    ),
    (
        "substitute framed/shop.yaml --with framed --inventory framed/site.yaml --explain --format json",
        0,
        "substitute-explain",
    ),
    (
        "substitute version-2-directives/ways.yaml --with version-2-directives/catalogue --inventory version-2-directives/site.yaml --explain --format json",
        0,
        "substitute-explain",
    ),
    ("graph substituted.yaml --format json", 0, "graph"),
    ("test shop --format json", 0, "test"),
    ("validate shop odd.yaml --format json", 1, "validate"),
    ("validate misspelt.yaml --format json", 1, "validate"),
    ("validate kiosk.yaml --format json", 0, "validate"),
    ("validate misspelt.yaml --message-format json", 1, MESSAGE),
];

/// A template with one of each thing that no example has.
const ODD: &str = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    inputs:
      size: { type: integer, description: How much, default: 1, constraints: [{ in_range: [1, 4] }] }
      twice: { type: boolean, default_expression: { greater: [{ variability_input: size }, 2] } }
      idle: { type: boolean, default: false }
      open: { type: boolean, default: false }
    presets:
      small: { description: Little, inputs: { size: 1 } }
      missing: { inputs: { size: 9 } }
    options: { mode: semantic-loose }
    constraints:
      - { node_presence: always }
  node_templates:
    always: { type: Root }
    never: { type: Root, conditions: { and: [{ variability_input: twice }, { not: { variability_input: twice } }] } }
    big: { type: Root, conditions: { variability_input: twice }, requirements: [{ host: never }] }
    also: { type: Root, conditions: { node_presence: always } }
    one: { type: Root, conditions: { variability_input: open } }
    other: { type: Root, conditions: { variability_input: open } }
";

/// A resolved template with a node that replaced another template's node.
const SUBSTITUTED: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    db_server: { type: tosca.nodes.Compute, metadata: { substitutes: db } }
";

/// A type with parts of each kind.
const TYPED: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
interface_types:
  my.Interface:
    derived_from: tosca.interfaces.Root
    inputs: { all: { type: string, default: a } }
    operations: { start: { inputs: { one: { type: string } } } }
    notifications: { stopped: { } }
node_types:
  my.Node:
    derived_from: tosca.nodes.SoftwareComponent
    artifacts: { image: { type: tosca.artifacts.File, file: image.tar } }
    interfaces:
      own: { type: my.Interface, inputs: { more: { type: string } }, operations: { start: { implementation: start.sh } } }
policy_types:
  my.Policy:
    derived_from: tosca.policies.Root
    triggers: { full: { event: full, action: [ { delegate: grow } ] } }
";

/// A plain template, and technology rules for it.
const PLAIN: [&str; 2] = [
    "\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types: { Service: {}, Box: {} }
topology_template:
  node_templates:
    service:
      type: Service
      technology: a
      artifacts: { image: { type: tosca.artifacts.File, file: image.tar } }
      requirements: [host: box]
    box: { type: Box }
",
    "[{ technology: a, component: Service, artifact: tosca.artifacts.File, hosting: Box, weight: 0.5, reason: why not }]\n",
];

/// A template whose node has operations in each form.
const PLANNED: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    service:
      type: tosca.nodes.SoftwareComponent
      properties: { component_version: \"1\" }
      artifacts:
        install: { type: tosca.artifacts.Implementation.Bash, file: install.sh, properties: { mode: quick } }
      requirements: [host: box]
      interfaces:
        Standard:
          operations:
            create: { implementation: { primary: install, dependencies: [tools.sh], timeout: 60 }, inputs: { port: 80 } }
            start: { implementation: start.sh, inputs: { at: { get_attribute: [HOST, public_address] } }, outputs: { port: [SELF, feature, ports, 0] } }
    box: { type: tosca.nodes.Compute }
  substitution_mappings:
    node_type: tosca.nodes.Root
    interfaces: { Standard: { create: check } }
  policies:
    - care: { type: tosca.policies.Root, targets: [service], triggers: { lost: { event: lost, action: [{ set_state: error }] } } }
  workflows:
    check:
      description: Looks after it.
      inputs: { depth: { type: integer, default: 1 } }
      preconditions: { target: service, condition: [{ state: [{ equal: started }] }] }
      steps:
        first:
          target: service
          filter: [{ state: [{ equal: started }] }]
          activities: [{ call_operation: Standard.start }]
          on_failure: [second]
        second: { target: service, activities: [{ set_state: configured }] }
    tidy: { steps: { all: { activities: [{ inline: uninstall }] } } }
";

/// Parts that a schema describes and that no command here prints.
const UNSEEN: &[(&str, &[&str])] = &[
    ("plan", &["artifact", "unknown", "sealed", "function", "ends", "requirement", "source"]),
    ("instance-apply", &["status"]),
    ("instance-check", &["code", "help", "log", "stopped"]),
    ("instance-run", &["code", "help", "note", "kill", "outputs"]),
    ("instance-show", &["workflow", "edited", "time"]),
    ("instance-show-entity", &["revision", "policies", "edited", "failed_in", "hidden", "time"]),
    (MODEL, &["index", "sensitive", "$dsl-group-types", "$dsl-policy-types"]),
    ("substitute-explain", &["least"]),
];

/// A node that needs a technology, and a plugin to ask about it.
const PLUGGED: &str = "\
tosca_definitions_version: tosca_variability_1_0
node_types:
  Shop: { derived_from: tosca.nodes.SoftwareComponent }
topology_template:
  variability:
    options: { mode: semantic-loose, enrich_technologies: true, optimization_technologies: true }
    plugins: { technology: [chooser] }
    qualities: [{ technology: ansible, component: Shop, conditions: { not: false } }]
  node_templates:
    box: { type: tosca.nodes.Compute, managed: false }
    shop:
      type: Shop
      persistent: true
      artifacts: { image: { type: tosca.artifacts.Deployment.Image, file: shop.img } }
      interfaces: { management: { operations: { start: start.sh } } }
      requirements: [host: box]
";

/// What the plugin answers.
const ANSWER: &str = r#"{
  "version": 1,
  "technologies": [
    {
      "technology": "helm",
      "hosting": ["tosca.nodes.Compute"],
      "artifact": "tosca.artifacts.Deployment.Image",
      "operations": "start",
      "conditions": { "node_presence": "box" },
      "weight": 2,
      "assign": "Shop.Helm",
      "reason": "the cluster is paid for"
    }
  ]
}"#;

const MISSPELT: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    box: { type: tosca.nodes.Compute, propertys: {} }
";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A directory with copies of the examples and the templates above.
fn workplace() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for example in ["shop", "technologies", "deployment", "guestbook"] {
        copy(&root().join("examples").join(example), &dir.path().join(example));
    }
    for case in
        ["11-variable", "05-put-right", "select", "framed", "jointly", "version-2-directives"]
    {
        copy(&root().join("tests/substitute").join(case), &dir.path().join(case));
    }
    let types = "tests/substitute/types.yaml";
    fs::copy(root().join(types), dir.path().join("types.yaml")).unwrap();
    let phones = "tests/instance/version-2-export/template.yaml";
    fs::copy(root().join(phones), dir.path().join("phones.yaml")).unwrap();
    fs::copy(root().join("examples/kiosk.tosca"), dir.path().join("kiosk.tosca")).unwrap();
    let web = root().join("tests/convert/shop/shop.tosca");
    fs::copy(web, dir.path().join("web.tosca")).unwrap();
    fs::create_dir(dir.path().join("plain")).unwrap();
    let [template, rules] = PLAIN;
    let files = [
        ("odd.yaml", ODD),
        ("substituted.yaml", SUBSTITUTED),
        ("typed.yaml", TYPED),
        ("misspelt.yaml", MISSPELT),
        ("planned.yaml", PLANNED),
        ("plugged.yaml", PLUGGED),
        ("answer.json", ANSWER),
        ("next.yaml", &PLANNED.replace("\"1\"", "\"2\"")),
        ("plain/template.yaml", template),
        ("plain/qualities.yaml", rules),
    ];
    files.iter().for_each(|(name, text)| fs::write(dir.path().join(name), text).unwrap());
    dir
}

/// The schemas of `docs/schemas` by their names.
fn schemas() -> BTreeMap<String, Value> {
    let files = fs::read_dir(root().join("docs/schemas")).unwrap();
    let paths = files.map(|entry| entry.unwrap().path());
    paths
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, parsed(&fs::read_to_string(&path).unwrap()))
        })
        .collect()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Asserts that a document is valid by a schema.
fn hold(document: &Value, schema: &Validator, of: &str) {
    let errors: Vec<_> = schema
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(
        errors.is_empty(),
        "`cuvee {of}` differs from its schema in docs/schemas:\n{errors:#?}"
    );
}

fn validator(schema: &Value) -> Validator {
    jsonschema::validator_for(schema).unwrap()
}

/// The documents of each schema, from every command that prints JSON.
fn documents() -> BTreeMap<&'static str, Vec<(&'static str, Value)>> {
    let dir = workplace();
    let mut documents: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for line in [
        "instance init demo shop --preset dev",
        "instance plan demo -o plan.json",
        "instance apply demo plan.json --assume-done",
        "instance edit demo link shop ticket=https://tickets.example/1",
        "instance edit demo --set groups/services/metadata/owner=ann",
        "instance record demo shop --note busy",
        "instance init next deployment --deployment-input domain=books.example",
        "instance plan next -o next.json",
        "instance init phones phones.yaml",
        "instance init taken deployment --deployment-input domain=books.example",
        "instance plan taken -o taken.json",
        "instance apply taken taken.json",
        "instance record taken --step node.machine/deploy --claim --now 2026-01-01T00:00:00Z",
    ] {
        let output = cuvee(dir.path(), &line.split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{line}: {}", text(output.stderr));
    }
    for &(line, exit, schema) in DOCUMENTS {
        let words = crate::shell::words(line);
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let output = cuvee(dir.path(), &words);
        let stderr = text(output.stderr);
        assert_eq!(output.status.code(), Some(exit), "cuvee {line}: {stderr}");
        let stdout = text(output.stdout);
        let of = documents.entry(schema).or_default();
        match schema {
            MESSAGE => of.extend(stderr.lines().map(|text| (line, parsed(text)))),
            _ => of.push((line, parsed(&stdout))),
        }
    }
    // A command reads requests of technology plugins, and writes answers.
    let line = "resolve plugged.yaml --plugin 'chooser=cat >request.json; cat answer.json'";
    let words = crate::shell::words(line);
    let output = cuvee(dir.path(), &words.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(output.status.success(), "{line}: {}", text(output.stderr));
    for (schema, file) in
        [("technology-request", "request.json"), ("technology-answer", "answer.json")]
    {
        let document = fs::read_to_string(dir.path().join(file)).unwrap();
        documents.entry(schema).or_default().push((line, parsed(&document)));
    }
    // This model has one of each thing.
    let blog = fs::read_to_string(root().join("tests/instance/wordpress/export.json")).unwrap();
    documents.entry(MODEL).or_default().push(("instance export blog", parsed(&blog)));
    for line in [
        "variants shop --pairwise --output-dir out",
        "variants shop --all-presets --output-dir out",
    ] {
        let output = cuvee(dir.path(), &line.split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{line}");
        let manifest = fs::read_to_string(dir.path().join("out/manifest.json")).unwrap();
        documents.entry("variants-manifest").or_default().push((line, parsed(&manifest)));
    }
    // Each event of a run is a document. Nobody says where the guest book is to be, so it fails.
    let line = "instance run lines guestbook --yes --verbose --format json";
    let output = cuvee(dir.path(), &line.split(' ').collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(1), "{line}");
    let events = text(output.stdout);
    documents
        .entry("instance-run")
        .or_default()
        .extend(events.lines().map(|it| (line, parsed(it))));
    let line = "substitute framed/shop.yaml --with framed --inventory framed/site.yaml --nest -o nest.csar";
    let output = cuvee(dir.path(), &line.split(' ').collect::<Vec<_>>());
    assert!(output.status.success(), "{line}");
    let mut nest = ZipArchive::new(fs::File::open(dir.path().join("nest.csar")).unwrap()).unwrap();
    let substitutions = std::io::read_to_string(nest.by_name("substitutions.json").unwrap());
    let substitutions = parsed(&substitutions.unwrap());
    documents.entry("substitutions").or_default().push((line, substitutions));
    documents
}

#[test]
fn documents_are_as_their_schemas_say() {
    let schemas = schemas();
    let documents = documents();
    for (name, documents) in &documents {
        let schema =
            schemas.get(*name).unwrap_or_else(|| panic!("docs/schemas/{name}.json is missing"));
        let checked = validator(schema);
        documents.iter().for_each(|(line, document)| hold(document, &checked, line));
        let seen: BTreeSet<_> =
            documents.iter().flat_map(|(_, document)| maps(document)).flat_map(Map::keys).collect();
        for (property, _) in properties(schema) {
            let unseen =
                UNSEEN.iter().any(|(of, names)| of == name && names.contains(&&**property));
            assert!(
                seen.contains(property) || unseen,
                "docs/schemas/{name}.json describes `{property}`, which no document has"
            );
        }
    }
    let described: BTreeSet<_> = schemas.keys().map(String::as_str).collect();
    assert_eq!(described, documents.keys().copied().collect(), "a schema of nothing");
}

/// All maps in a value, starting with the value itself.
fn maps(value: &Value) -> Vec<&Map<String, Value>> {
    let (own, children): (_, Vec<&Value>) = match value {
        Value::Object(map) => (Some(map), map.values().collect()),
        Value::Array(items) => (None, items.iter().collect()),
        _ => (None, Vec::new()),
    };
    own.into_iter().chain(children.into_iter().flat_map(maps)).collect()
}

/// The schemas of objects within a schema. A property that is called `properties` is not one.
fn objects(schema: &Value) -> Vec<&Map<String, Value>> {
    let mut objects = maps(schema);
    objects.retain(|map| map.get("type").is_some_and(|kind| kind == "object"));
    objects
}

/// The schemas of all properties within a schema, by the names of the properties.
fn properties(schema: &Value) -> Vec<(&String, &Value)> {
    let said = objects(schema).into_iter().filter_map(|map| map.get("properties"));
    said.filter_map(Value::as_object).flatten().collect()
}

#[test]
fn schemas_are_strict_and_described() {
    for (name, schema) in schemas() {
        if let Err(error) = jsonschema::meta::validate(&schema) {
            panic!("docs/schemas/{name}.json is no schema: {error}");
        }
        assert!(schema["title"].is_string(), "{name}");
        let versioned = schema["properties"]["version"]["const"] == 1;
        assert_eq!(versioned, ![MESSAGE, TOSCA, MODEL].contains(&&*name), "{name}: `version` is 1");
        for map in objects(&schema) {
            // A map whose keys the author chose has one schema for all of its values.
            let more = map.get("additionalProperties");
            let closed = more.is_some_and(|more| *more == Value::Bool(false) || more.is_object());
            assert!(closed || name == TOSCA, "{name}: `additionalProperties` of {map:?}");
            assert!(map.contains_key("description"), "{name}: {map:?} has no description");
        }
        for (property, said) in properties(&schema) {
            assert!(said.get("description").is_some(), "{name}: `{property}` has no description");
        }
    }
}

/// Whether a command has a format `json`, by its help.
fn prints_json(command: &str) -> bool {
    let help = help_of(command);
    let Some((_, rest)) = help.split_once("--format <FORMAT>") else { return false };
    let is_flag = |line: &&str| line.trim_start().starts_with("--") || line.is_empty();
    let said: Vec<_> = rest.lines().take_while(|line| !is_flag(line)).collect();
    said.join(" ").split(|c: char| !c.is_alphanumeric()).any(|word| word == "json")
}

#[test]
fn every_command_that_prints_json_is_held_to_a_schema() {
    let tested: BTreeSet<_> =
        DOCUMENTS.iter().map(|(line, ..)| line.split(' ').next().unwrap()).collect();
    let printing: Vec<_> = commands().into_iter().filter(|command| prints_json(command)).collect();
    assert!(printing.len() > 10, "{printing:?}");
    for command in printing {
        assert!(
            tested.contains(&*command),
            "`cuvee {command}` prints JSON: describe it in docs/schemas/{command}.json, and add a line with it to DOCUMENTS in tests/project/json.rs"
        );
    }
}

#[test]
fn wrong_use_is_a_message_of_each_command() {
    let schema = validator(&schemas()[MESSAGE]);
    let message = |words: &[&str], exit: i32| {
        let output = cuvee(root(), &[words, &["--message-format=json"]].concat());
        let stderr = text(output.stderr);
        assert_eq!(
            (output.status.code(), &*output.stdout),
            (Some(exit), &b""[..]),
            "{words:?}: {stderr}"
        );
        assert_eq!(stderr.lines().count(), 1, "{words:?}: {stderr}");
        let message = parsed(&stderr);
        hold(&message, &schema, &words.join(" "));
        message
    };
    for command in commands() {
        let message = message(&[&command, "--no-such-flag"], 2);
        assert_eq!(message["code"], Code::Usage.as_str());
        assert_eq!(message["message"], "unexpected argument '--no-such-flag' found", "{command}");
    }
    let tip = message(&["resolve", "examples/shop", "--pre", "prod"], 2);
    assert_eq!(tip["help"], "a similar argument exists: '--preset'");
    let usage = message(&["resolve"], 2);
    assert_eq!(usage["message"], "the following required arguments were not provided: <TEMPLATE>");
    assert!(usage["help"].as_str().unwrap().starts_with("Usage: cuvee resolve "), "{usage}");
    let values = message(&["types", "examples/shop", "--format", "xml"], 2);
    assert_eq!(
        values["message"],
        "invalid value 'xml' for '--format <FORMAT>' [possible values: human, json]"
    );
    message(&["resolve", "a", "-o", "a.csar", "--format", "json"], 2);
    message(&[], 2);
    assert_eq!(message(&["resolve", "nowhere"], 1)["code"], "file");
    assert_eq!(
        message(
            &["options", "examples/shop", "--all", "--preset", "prd", "--option", "checks=maybe"],
            1
        )["code"],
        "invalid-option"
    );
}

#[test]
fn help_stays_help_for_whoever_wants_json() {
    let output = cuvee(root(), &["resolve", "--help", "--message-format", "json"]);
    assert!(output.status.success() && text(output.stdout).contains("Usage: cuvee resolve"));
}
