//! Tests substitution as users see it. Each directory of `tests/substitute/` has templates and a
//! session of commands, each followed by its output. `UPDATE_DOCS=1` writes the output anew.

#![expect(clippy::unwrap_used)]

use crate::sessions::{Place, hold, run};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

#[test]
fn sessions_are_as_shown() {
    hold("substitute", &Place::There, run);
}

/// An inventory has the started nodes of an instance, at present or at an earlier revision, or of
/// an export.
#[test]
fn instances_are_inventories() {
    let at = tempfile::tempdir().unwrap();
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/substitute/select");
    for name in ["app.yaml", "site.yaml"] {
        fs::copy(templates.join(name), at.path().join(name)).unwrap();
    }
    let run = |line: &str| run(&format!("cuvee {line}"), at.path());
    let eight = "substitute app.yaml --deployment-input cpus=8 --inventory";
    assert!(run(&format!("{eight} instance:site")).contains("error[unknown-instance]"));
    run("instance init site site.yaml");
    assert!(run(&format!("{eight} instance:site")).contains("error[no-selection]"));
    run("instance plan site -o plan.json");
    run("instance apply site plan.json --assume-done");
    let whole = run(&format!("{eight} instance:site"));
    assert!(
        whole.contains("\n        instance: cuvee:default/default/site#/nodes/huge\n"),
        "{whole}"
    );
    assert!(whole.contains("\n            num_cpus: 16\n"), "{whole}");
    assert!(run(&format!("{eight} instance:site@1")).contains("error[no-selection]"));
    run("instance export site -o export.yaml");
    // An export lists values in the order of their names.
    let sorted = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&run(&format!("{eight} export.yaml"))), sorted(&whole));
    // A selected node exists already: no plan creates, changes or removes it.
    fs::write(at.path().join("whole.yaml"), whole).unwrap();
    let plan = run("plan whole.yaml --all-steps");
    assert!(plan.contains("app") && !plan.contains("machine/create"), "{plan}");
    run("instance init app whole.yaml");
    let plan = run("instance plan app --all-steps");
    assert!(!plan.contains("machine/create"), "{plan}");
    let valid = run("validate whole.yaml --strict");
    assert!(!valid.contains("error["), "{valid}");
}

/// The files of an archive by their names.
fn unpacked(archive: &Path) -> BTreeMap<String, String> {
    let mut zip = zip::ZipArchive::new(fs::File::open(archive).unwrap()).unwrap();
    let names: Vec<_> = zip.file_names().map(|name| name.unwrap().into_owned()).collect();
    let text = |name: String| {
        let text = std::io::read_to_string(zip.by_name(&name).unwrap()).unwrap();
        (name, text)
    };
    names.into_iter().map(text).collect()
}

/// Runs a command line in the directory of a case.
fn of_case(case: &str, line: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/substitute");
    run(&format!("cuvee {line}"), &root.join(case))
}

#[test]
fn archives_hold_what_results_name() {
    let dir = tempfile::tempdir().unwrap();
    let archive = dir.path().join("shop.csar");
    let to = archive.display();
    let line = "substitute shop.yaml --with cluster.yaml engine.yaml --inventory site.yaml";
    assert_eq!(of_case("framed", &format!("{line} -q -o {to}")), "");
    let files = unpacked(&archive);
    let names: Vec<_> = files.keys().map(String::as_str).collect();
    assert_eq!(names, ["TOSCA-Metadata/TOSCA.meta", "shop.yaml", "types.yaml"]);
    assert_eq!(files["shop.yaml"], of_case("framed", &format!("{line} -q")));
    assert_eq!(of_case("framed", &format!("validate {to}")), format!("`{to}` is valid\n"));
}

#[test]
fn nested_templates_are_flattened_as_if_they_were_not() {
    let dir = tempfile::tempdir().unwrap();
    let archive = dir.path().join("nest.csar");
    let to = archive.display();
    let cases = [
        ("01-distribute", "shop.yaml", "two.yaml"),
        ("03-replicate", "shop.yaml", "both.yaml"),
        ("05-put-right", "shop.yaml", "three.yaml"),
        ("08-rest", "shop.yaml", "rest.yaml"),
        ("16-chain", "shop.yaml", "db.yaml queue.yaml transactions.yaml"),
        ("18-select-target", "shop.yaml", "both.yaml"),
        ("comments", "shop.yaml", "database.yaml engine.yaml"),
        ("relationship", "shop.yaml", "own.yaml"),
        ("rewired", "service.yaml", "database.yaml"),
        ("workflows", "shop.yaml", "database.yaml"),
    ];
    for (case, template, with) in cases {
        let flat = of_case(case, &format!("substitute {template} --with {with} -q"));
        assert!(flat.starts_with("tosca_definitions_version"), "{case}: {flat}");
        let nest = format!("substitute {template} --with {with} -q --nest -o {to}");
        assert_eq!(of_case(case, &nest), "", "{case}");
        let again = of_case(case, &format!("substitute {to} --with {to} -q"));
        // The archive keeps the relative places of imports, though its template may be in a lower
        // directory.
        assert_eq!(again, flat, "{case}");
        // An archive is warned of as its templates are.
        let warned = |files: &str| {
            let valid = of_case(case, &format!("validate {files}"));
            assert!(valid.contains("is valid") && !valid.contains("error["), "{case}: {valid}");
            valid.lines().filter(|line| line.starts_with("warning[")).map(str::to_owned).collect()
        };
        let (nested, apart): (BTreeSet<String>, BTreeSet<String>) =
            (warned(&to.to_string()), warned(with));
        assert_eq!(nested, apart, "{case}");
    }
}

#[test]
fn nested_templates_are_named_once_a_variant() {
    let dir = tempfile::tempdir().unwrap();
    let archive = dir.path().join("nest.csar");
    let to = archive.display();
    let line = "substitute shop.yaml --with variable.yaml --choose orders=variable.yaml:two";
    let said = of_case("nest", &format!("{line} --nest -o {to}"));
    assert_eq!(said, "");
    let files = unpacked(&archive);
    let meta = &files["TOSCA-Metadata/TOSCA.meta"];
    assert!(meta.contains("Other-Definitions: variable.yaml variable_2.yaml\n"), "{meta}");
    assert!(files["variable.yaml"].contains("other: {type: Server}"));
    assert!(!files["variable_2.yaml"].contains("other"));
    assert!(files["shop.yaml"].contains("orders: {type: Database, directives: [substitute]}"));
    let said: serde_json::Value = serde_json::from_str(&files["substitutions.json"]).unwrap();
    let expected = serde_json::json!({"orders": "variable.yaml", "users": "variable_2.yaml"});
    assert_eq!((&said["version"], &said["substitutions"]), (&1.into(), &expected));
    let two = "substitute shop.yaml --with small.yaml large.yaml --choose orders=large.yaml";
    let warned = of_case("nest", &format!("{two} --nest -o {to}"));
    let message = "cannot be told from another one in the archive by type and filter";
    assert_eq!(warned.matches(message).count(), 2, "{warned}");
    let wrong = of_case("nest", &format!("{two} --nest -o flat.yaml"));
    assert!(
        wrong.contains("error[usage]: `--nest` writes an archive and needs a file name for it"),
        "{wrong}"
    );
    let again = dir.path().join("again.csar");
    let packed = format!("substitute {to} --with {to} --choose orders=large.yaml --nest -o");
    let packed = of_case("nest", &format!("{packed} {}", again.display()));
    assert!(packed.contains("is in an archive, and cannot be put into another one"), "{packed}");
}

/// A template that a catalogue has twice, by a link or by being named twice, counts once. A
/// catalogue also finds archives in directories, and long names.
#[test]
fn catalogues_hold_each_template_once() {
    let at = tempfile::tempdir().unwrap();
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/substitute/edges");
    let long = "n".repeat(300);
    let file = |name: &str| fs::read_to_string(templates.join(name)).unwrap();
    fs::create_dir_all(at.path().join("catalogue/deep")).unwrap();
    let write = |name: &str, text: &str| fs::write(at.path().join(name), text).unwrap();
    write("types.yaml", &file("types.yaml").replace("../types.yaml", "common.yaml"));
    write("common.yaml", &file("../types.yaml"));
    write("none.yaml", &file("none.yaml").replace("alone", &long));
    let free = file("plain/free.yaml").replace("part", &long);
    write("free.yaml", &free.replace("../types.yaml", "types.yaml"));
    // An archive is made of a directory with one template at its top.
    fs::create_dir_all(at.path().join("packed/types")).unwrap();
    let named =
        "metadata: {template_name: free, template_version: 1.0.0}\nimports: [types/types.yaml]";
    write("packed/free.yaml", &free.replace("imports: [../types.yaml]", named));
    for name in ["types.yaml", "common.yaml"] {
        fs::copy(at.path().join(name), at.path().join("packed/types").join(name)).unwrap();
    }
    let run = |line: &str| run(&format!("cuvee {line}"), at.path());
    assert_eq!(run("resolve packed -o catalogue/deep/free.csar"), "");
    let packed = run("substitute none.yaml --with catalogue");
    assert!(packed.contains(&format!("\n    {long}_{long}: {{type: Soft0, ")), "{packed}");
    std::os::unix::fs::symlink("../free.yaml", at.path().join("catalogue/linked.yaml")).unwrap();
    std::os::unix::fs::symlink("../free.yaml", at.path().join("catalogue/again.yaml")).unwrap();
    fs::remove_dir_all(at.path().join("catalogue/deep")).unwrap();
    let linked = run("substitute none.yaml --with catalogue --with free.yaml --explain");
    assert!(linked.contains("(the only candidate)"), "{linked}");
}
