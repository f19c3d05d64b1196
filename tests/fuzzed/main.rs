//! What fuzzing found, and what it starts from: each file is given to the target that its directory is named after.

mod targets;

use std::path::Path;

fn run(target: fn(&[u8]), name: &str) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzzed").join(name);
    let files: Vec<_> = std::fs::read_dir(&directory).expect("a directory of inputs").collect();
    assert!(!files.is_empty(), "{} is empty", directory.display());
    for file in files {
        let path = file.expect("an input").path();
        println!("{}", path.display());
        target(&std::fs::read(path).expect("an input that can be read"));
    }
}

#[test]
fn yaml() {
    run(targets::yaml, "yaml");
}

#[test]
fn templates() {
    run(targets::template, "template");
}

#[test]
fn expressions() {
    run(targets::expression, "expression");
}

#[test]
fn archives() {
    run(targets::csar, "csar");
}
