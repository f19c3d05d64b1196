//! Laws of enriched templates: with everything written out, a template resolves to the same, for
//! all inputs and without any of its options.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use cuvee::Resolver;
use cuvee::source::{FileSystem, OsFiles};
use cuvee::testing::run;
use proptest::prelude::*;

use super::generate::template;
use super::{cases, codes, files, resolver};

/// The bytes of the result, or the codes of the errors.
fn outcome(resolver: &Resolver) -> Result<String, BTreeSet<&'static str>> {
    let resolution = resolver.resolve();
    resolution.map(|resolution| resolution.to_yaml().to_owned()).map_err(|failure| codes(&failure))
}

proptest! {
    #![proptest_config(cases(128))]

    /// Every assignment of inputs gives the same bytes, or is rejected with the same codes.
    /// Enriching what is enriched changes nothing.
    #[test]
    fn an_enriched_template_resolves_to_the_same(template in template()) {
        let text = template.render();
        let original = resolver(&text, &template);
        let assigned = |resolver: &Resolver| {
            let inputs = [("true", "small"), ("true", "large"), ("false", "small"), ("false", "large")];
            inputs.map(|(flag, size)| outcome(&resolver.clone().input_text("flag", flag).input_text("size", size)))
        };
        let enriched = match original.enrich() {
            Ok(enriched) => enriched.result.yaml,
            Err(failure) => {
                let unwritable = failure.diagnostics.iter().any(|error| error.code.as_str() == "invalid-template");
                let rejected = assigned(&original).iter().all(Result::is_err);
                prop_assert!(unwritable || rejected, "{}\n{}", failure, text);
                return Ok(());
            }
        };
        let again = Resolver::from_text("template.yaml", enriched.clone()).files(files(&template)).preset("only");
        prop_assert_eq!(assigned(&again), assigned(&original), "{}\n{}", text, enriched);
        let twice = again.enrich().map(|twice| twice.result.yaml).map_err(|failure| failure.to_string());
        prop_assert_eq!(twice.as_deref(), Ok(&*enriched), "{}", text);
    }
}

/// Files of which templates are enriched when they are read; remembers the ones that are.
#[derive(Clone, Default)]
struct Enriching(Arc<Mutex<BTreeSet<PathBuf>>>);

impl FileSystem for Enriching {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let read = OsFiles.read(path)?;
        let templates = ["template.yaml", "variable-service-template.yaml"];
        if !path.file_name().is_some_and(|name| templates.iter().any(|known| name == *known)) {
            return Ok(read);
        }
        // What is wrong whatever the inputs are is also wrong without enriching.
        let Ok(enriched) = Resolver::new(path).enrich() else { return Ok(read) };
        self.0.lock().unwrap().insert(path.to_owned());
        Ok(enriched.result.yaml.into_bytes())
    }

    fn size(&self, path: &Path) -> io::Result<u64> {
        Ok(self.read(path)?.len() as u64)
    }

    fn is_file(&self, path: &Path) -> bool {
        OsFiles.is_file(path)
    }

    fn is_dir(&self, path: &Path) -> bool {
        OsFiles.is_dir(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        OsFiles.list(path)
    }
}

/// What our own cases and the tests of the examples expect also holds once their templates are
/// enriched. Options of a call change what a template adds, so cases with options say nothing here.
/// Warnings about what options do are gone.
#[test]
fn enriched_templates_pass_the_tests_of_the_original_ones() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = Enriching::default();
    let examples = std::fs::read_dir(root.join("examples")).unwrap();
    let examples = examples.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    for directory in examples.chain([root.join("tests/conformance")]) {
        let report = run(&directory, &files);
        for case in report.cases.iter().filter(|case| !case.problems.is_empty()) {
            let settings = std::fs::read_to_string(case.path.join("test.yaml")).unwrap_or_default();
            let says = |key: &str| settings.lines().any(|line| line.starts_with(key));
            assert!(
                says("options:") || says("warning:"),
                "{}: {:?}",
                case.path.display(),
                case.problems
            );
        }
        assert!(report.passed() > 20 * report.failed(), "{report}");
    }
    let enriched = files.0.lock().unwrap().len();
    assert!(enriched > 500, "{enriched}");
}
