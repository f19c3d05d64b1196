//! Our own cases, and the tests of the examples, through the same runner as `cuvee test`.

use cuvee::source::OsFiles;
use cuvee::testing::run;
use std::path::Path;

#[test]
fn every_case_is_as_expected() {
    let report = run(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance"), &OsFiles);
    assert!(report.is_success(), "\n{report}");
}

#[test]
fn every_example_has_tests_that_pass() {
    let examples = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")).unwrap();
    let mut count = 0;
    for example in examples.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        let report = run(&example, &OsFiles);
        assert!(report.is_success(), "{}\n{report}", example.display());
        count += 1;
    }
    assert!(count > 0, "there are no examples");
}
