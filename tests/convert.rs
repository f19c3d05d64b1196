//! Conversions as people see them: in `tests/convert`, documents, commands, and what they print and
//! write.

#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod folders;
mod sessions;

use folders::copy;
use sessions::{Place, hold, run};
use std::fs;
use std::path::Path;

/// Lines run one after the other in a copy of the directory; `cat` shows a file.
#[test]
fn conversions() {
    hold("convert", &Place::Copy(copy), |line, directory| match line.strip_prefix("cat ") {
        Some(name) => fs::read_to_string(directory.join(name)).unwrap(),
        None => run(line, directory),
    });
}

/// What a conversion writes is what its fixture has, to the byte.
#[test]
fn the_worked_example_is_written_to_the_byte() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/convert/shop");
    let aside = tempfile::tempdir().unwrap();
    copy(&fixture, &aside.path().join("shop"));
    run("cuvee convert shop.tosca --types types.yaml -o out/", &aside.path().join("shop"));
    for name in ["Shop.yaml", "types/shop.yaml"] {
        let written = fs::read_to_string(aside.path().join("shop/out").join(name)).unwrap();
        let expected = fs::read_to_string(fixture.join("expected").join(name)).unwrap();
        assert_eq!(written, expected, "{name}");
    }
}
