//! Tests that the stages of validating say together what validating says, and that they stop.

use cuvee::Resolver;
use cuvee::source::MemoryFiles;
use cuvee::validate::Stage;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The fixtures of diagnostics, and the templates of the examples.
fn templates() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut open = vec![root.join("tests/diagnostics"), root.join("examples")];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path
                .extension()
                .is_some_and(|it| ["yaml", "tosca", "csar"].iter().any(|one| it == *one))
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Holds stages to `validate`.
fn same(resolver: &Resolver, name: &Path) {
    let whole = resolver.validate();
    let text = resolver.validate_until(Stage::Text);
    assert!(text.variants().is_none(), "{}", name.display());
    let staged = resolver.validate_until(Stage::Variants);
    assert_eq!(text.text(), staged.text(), "{}", name.display());
    let of_stages = [staged.text().unwrap(), staged.variants().unwrap()].concat();
    for found in &whole.diagnostics {
        assert!(of_stages.contains(found), "{}: no stage has {found:?}", name.display());
    }
    let union = staged.into_validation().unwrap();
    assert_eq!(union.diagnostics, whole.diagnostics, "{}", name.display());
}

#[test]
fn stages_say_together_what_validating_says() {
    let templates = templates();
    assert!(templates.len() > 150, "{}", templates.len());
    for path in templates {
        let resolver = Resolver::new(&path);
        same(&resolver, &path);
        // A flag that nobody sets changes nothing.
        same(&resolver.portable().stop_when(Arc::default()), &path);
    }
}

#[test]
fn stages_of_one_variant_are_the_same() {
    for preset in Resolver::new("examples/shop").preset_names().unwrap() {
        same(&Resolver::new("examples/shop").preset(&preset), Path::new(&preset));
    }
}

/// A template of many nodes with many inputs, each of which decides about some of them.
fn large(nodes: usize) -> String {
    let mut text = String::from(
        "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    options: {mode: semantic-loose}\n    inputs:\n",
    );
    for input in 0..20 {
        writeln!(text, "      input{input}: {{type: boolean, default: false}}").unwrap();
    }
    text.push_str("  node_templates:\n");
    for node in 0..nodes {
        writeln!(
            text,
            "    node{node}:\n      type: tosca.nodes.Root\n      conditions: {{variability_input: input{}}}\n      requirements:\n        - dependency: node{}",
            node % 20,
            (node * 7 + 1) % nodes
        )
        .unwrap();
    }
    text
}

/// A flag that is set at any time ends validating soon. A build that is not optimised takes longer
/// between two looks at the flag; `benches/lsp.rs` measures one that is.
#[test]
fn validating_stops_soon() {
    let files = MemoryFiles::from([("large.yaml", &*large(600))]);
    let resolver = Resolver::new("large.yaml").files(files);
    let start = Instant::now();
    let whole = resolver.validate_until(Stage::Variants);
    let all = start.elapsed();
    assert!(whole.variants().is_some());
    // The first run may take longer than those that are stopped.
    let start = Instant::now();
    resolver.validate_until(Stage::Variants);
    let quickest = all.min(start.elapsed());
    let mut stopped = 0;
    for tenth in 0..10_u32 {
        let stop = Arc::new(AtomicBool::new(false));
        let resolver = resolver.clone().stop_when(Arc::clone(&stop));
        let (staged, late) = std::thread::scope(|scope| {
            let run = scope.spawn(|| (resolver.validate_until(Stage::Variants), Instant::now()));
            std::thread::sleep(quickest * tenth / 10);
            stop.store(true, Ordering::Relaxed);
            let set = Instant::now();
            let (staged, end) = run.join().unwrap();
            (staged, end.saturating_duration_since(set))
        });
        let limit = Duration::from_millis(300).max(all / 4);
        assert!(late < limit, "{late:?} of {all:?} after {tenth} tenths");
        match staged.variants() {
            Some(found) => assert_eq!(Some(found), whole.variants()),
            None => stopped += 1,
        }
        // What is there is not half of it.
        assert!(staged.text().is_none_or(|text| Some(text) == whole.text()));
    }
    assert!(stopped > 4, "{stopped}");
}
