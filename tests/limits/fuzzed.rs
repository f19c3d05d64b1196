//! Runs fuzz targets on the inputs that fuzzing found and on those that it starts from. The
//! directory of each file is named after its target.

mod targets;

use std::path::Path;

fn run(target: fn(&[u8]), name: &str) -> std::io::Result<()> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzzed").join(name);
    let files = std::fs::read_dir(&directory)?.collect::<Result<Vec<_>, _>>()?;
    assert!(!files.is_empty(), "{} is empty", directory.display());
    for file in files {
        println!("{}", file.path().display());
        target(&std::fs::read(file.path())?);
    }
    Ok(())
}

#[test]
fn yaml() -> std::io::Result<()> {
    run(targets::yaml, "yaml")
}

#[test]
fn templates() -> std::io::Result<()> {
    run(targets::template, "template")
}

#[test]
fn expressions() -> std::io::Result<()> {
    run(targets::expression, "expression")
}

#[test]
fn archives() -> std::io::Result<()> {
    run(targets::csar, "csar")
}

#[test]
fn xml() -> std::io::Result<()> {
    run(targets::xml, "xml")
}

#[test]
fn logs() -> std::io::Result<()> {
    run(targets::log, "log")
}
