//! Tests the documents of instance models on the two-tier blog of their specification: written in
//! both encodings, read back, read by a program that knows the specification only, shown, and
//! compared.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use cuvee::Resolver;
use cuvee::deploy::instance::{
    InstanceModel, InstanceState, KeptSecrets, ModelExport, ModelReading, SecretsMode, diff_models,
    export_bindings, export_json, export_yaml, import_model, view_entity, view_model,
};
use cuvee::output::draw::instance::{entity, model as shown_model};
use cuvee::parts::yaml::{Limits, parse};
use cuvee::source::FileId;
use cuvee::source::value::Value;
use snapbox::{assert_data_eq, file};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn blog() -> InstanceModel {
    let text = std::fs::read_to_string(root().join("instance/wordpress/model.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn read(text: &str) -> InstanceModel {
    import_model(parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap().root()).unwrap()
}

#[test]
fn exports_are_as_they_were() {
    let (blog, how) = (blog(), ModelExport::default());
    assert_data_eq!(export_yaml(&blog, how), file!["../instance/wordpress/export.yaml"].raw());
    assert_data_eq!(export_json(&blog, how), file!["../instance/wordpress/export.json"].raw());
    assert_data_eq!(
        export_bindings(&blog, how),
        file!["../instance/wordpress/bindings.yaml"].raw()
    );
}

#[test]
fn exports_are_read_back() {
    let blog = blog();
    for unstable in [false, true] {
        let how = ModelExport { unstable, reveal: false };
        let (yaml, json) = (export_yaml(&blog, how), export_json(&blog, how));
        let (of_yaml, of_json) = (read(&yaml), read(&json));
        assert_eq!(of_yaml, of_json);
        assert_eq!((export_yaml(&of_json, how), export_json(&of_yaml, how)), (yaml, json));
    }
}

/// A Python with the `yaml` module: that of the system, or that of the tools for the checks.
fn python() -> Option<&'static str> {
    let knows_yaml = |python: &&str| {
        let asked = Command::new(python).args(["-c", "import yaml"]).output();
        asked.is_ok_and(|output| output.status.success())
    };
    let found = ["python3", "target/tools/bin/python3"].into_iter().find(knows_yaml);
    let required = std::env::var("CUVEE_TOOLS").is_ok_and(|value| value == "required");
    assert!(found.is_some() || !required, "there is no Python that knows YAML");
    if found.is_none() {
        // Not by a macro: the output of those is shown for failing tests only.
        std::io::stderr()
            .write_all(b"SKIPPED: what needs Python and PyYAML, which are not here\n")
            .unwrap();
    }
    found
}

/// Reads a document with a program that knows the specification only, and gives its graph and its
/// faults.
fn outside(python: &str, name: &str, text: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    std::fs::write(&path, text).unwrap();
    let (reader, blog) =
        (root().join("outside/instances/read.py"), root().join("instance/wordpress"));
    let mut command = Command::new(python);
    command.arg(reader).args([path, blog.join("template.yaml"), blog.join("types.yaml")]);
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn others_read_the_graph() {
    let Some(python) = python() else { return };
    let blog = blog();
    for unstable in [false, true] {
        let how = ModelExport { unstable, reveal: false };
        let graph = outside(python, "blog.json", &export_json(&blog, how));
        assert_data_eq!(&graph, file!["../instance/wordpress/graph.txt"].raw());
        assert_eq!(outside(python, "blog.yaml", &export_yaml(&blog, how)), graph);
    }
}

/// The model that is derived from the template, before any node is deployed.
#[test]
fn others_read_what_is_derived() {
    let template = "tests/instance/wordpress/template.yaml";
    let resolver = Resolver::new(template).deployment_input("admin_password", "canary");
    let mut secrets = KeptSecrets::new(SecretsMode::Digest, [7; 32], [""; 0]);
    let mut model = (*resolver.instance_target(&mut secrets).unwrap().result.model).clone();
    model.uri = "cuvee:north/press/blog".into();
    model.target.template = "template.yaml".into();
    let how = ModelExport::default();
    let yaml = export_yaml(&model, how);
    assert!(!yaml.contains("canary"), "{yaml}");
    assert_data_eq!(&yaml, file!["../instance/wordpress/derived.yaml"].raw());
    assert_eq!(export_yaml(&read(&yaml), how), yaml);
    let Some(python) = python() else { return };
    let graph = outside(python, "blog.yaml", &yaml);
    assert_data_eq!(&graph, file!["../instance/wordpress/derived.txt"].raw());
    assert_eq!(outside(python, "blog.json", &export_json(&model, how)), graph);
}

#[test]
fn others_see_what_is_wrong() {
    let Some(python) = python() else { return };
    let export = export_json(&blog(), ModelExport::default());
    for (from, to, said) in [
        (
            "\"$ref\": \"#/nodes/mysql\"",
            "\"$ref\": \"#/nodes/mysq\"",
            "! nodes/wordpress_db: nothing is at `#/nodes/mysq`",
        ),
        (
            "tosca_simple_yaml_1_0",
            "tosca_2_0",
            "! metadata: `tosca_2_0` is no version of the schema",
        ),
        (
            "\"state\": \"started\",\n        \"url\"",
            "\"url\"",
            "! nodes/wordpress/attributes: lacks `state`",
        ),
        (
            "node_templates/wordpress\"",
            "node_templates/blog\"",
            "! nodes/wordpress: the template has nothing at",
        ),
        (
            "\"workers\": 4",
            "\"workers\": {\"get_input\": \"workers\"}",
            "! nodes/apache/properties/workers: is a function",
        ),
        ("\"charset\"", "\"encoding\"", "! nodes/wordpress_db/properties: lacks `charset`"),
    ] {
        let broken = export.replacen(from, to, 1);
        assert_ne!(broken, export, "{from}");
        let found = outside(python, "blog.json", &broken);
        assert!(found.contains(said), "{said}\n{found}");
    }
}

#[test]
fn people_are_shown_what_there_is() {
    let (blog, reading) = (blog(), ModelReading::default());
    let one = |name: &str| entity(&view_entity(&blog, name, &reading).unwrap());
    let text = [
        shown_model(&view_model(&blog, &reading)),
        one("wordpress"),
        one("node.mysql"),
        one("post_tier"),
        one("relation.database_endpoint@1.node.wordpress"),
        one("group.behind_the_wall"),
        one("close_together"),
    ];
    assert_data_eq!(text.join("\n---\n\n"), file!["../instance/wordpress/shown.txt"].raw());
    let error = view_entity(&blog, "wordpres", &reading).unwrap_err();
    assert_eq!(error.help.as_deref(), Some("did you mean `wordpress`?"));
}

/// The changes from one model to another, each as a line of JSON.
fn told(from: &InstanceModel, to: &InstanceModel) -> Vec<String> {
    let changes = diff_models(from, to).changes;
    changes.iter().map(|change| serde_json::to_string(change).unwrap()).collect()
}

#[test]
fn models_differ_by_element_and_path() {
    let from = blog();
    let mut to = from.clone();
    let site = to.nodes.get_mut("wordpress").unwrap();
    site.state = InstanceState::named("configured");
    site.properties.insert("title".into(), "Notes".into());
    site.requirements.get_mut("host").unwrap()[0].target = Some("page_tier".into());
    site.generation = 3;
    to.nodes.remove("resolver");
    to.groups.get_mut("behind_the_wall").unwrap().members.pop();
    to.outputs.clear();
    to.metadata.insert("contact".into(), Value::Null);
    to.revision = 30;
    assert_data_eq!(
        told(&from, &to).join("\n") + "\n",
        file!["../instance/wordpress/difference.txt"].raw()
    );
    assert_eq!(told(&from, &from), [""; 0]);
}

#[test]
fn that_secrets_differ_is_seen_within_an_instance_only() {
    let secret = |text: &str| Value::Map([("$sensitive".into(), text.into())].into());
    let from = blog();
    let mut to = from.clone();
    to.inputs.insert("admin_password".into(), secret("hmac-sha256:60"));
    let changed = r#"{"element":"input.admin_password","path":"value","kind":"changed","from":"(sensitive)","to":"(sensitive)"}"#;
    assert_eq!(told(&from, &to), [changed]);
    to.lineage = "another".into();
    assert_eq!(told(&from, &to), [""; 0]);
    let exported = read(&export_yaml(&from, ModelExport { unstable: true, reveal: false }));
    assert_eq!(told(&from, &exported), [""; 0]);
    let mut kept = from.clone();
    kept.secrets = SecretsMode::Keep;
    kept.inputs.insert("admin_password".into(), secret("canary-1"));
    let mut other = kept.clone();
    other.inputs.insert("admin_password".into(), secret("canary-2"));
    other.lineage = "another".into();
    assert_eq!(told(&kept, &other), [changed]);
}
