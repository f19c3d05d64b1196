//! Substituting as users see it: each directory of `tests/substitute/` has templates and a session, in which
//! every command stands above what it prints. `UPDATE_DOCS=1` writes anew what they print.

#![expect(clippy::unwrap_used)]

mod sessions;

use sessions::{Place, hold, run};
use std::fs;
use std::path::Path;

#[test]
fn sessions_are_as_shown() {
    hold("substitute", &Place::There, run);
}

/// Of an instance what is started is there, as it is now or was then, and of an export of one.
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
    // An export has its values in the order of their names.
    let sorted = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&run(&format!("{eight} export.yaml"))), sorted(&whole));
    // What was selected is there: nobody creates it, or changes it, or lets it go.
    fs::write(at.path().join("whole.yaml"), whole).unwrap();
    let plan = run("plan whole.yaml --all-steps");
    assert!(plan.contains("app") && !plan.contains("machine/create"), "{plan}");
    run("instance init app whole.yaml");
    let plan = run("instance plan app --all-steps");
    assert!(!plan.contains("machine/create"), "{plan}");
    let valid = run("validate whole.yaml --strict");
    assert!(!valid.contains("error["), "{valid}");
}
