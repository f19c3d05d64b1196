//! Tests that valid templates are accepted: those of chapter 2 in our own words, the examples, and
//! their resolved templates.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its templates has failed")]

use cuvee::diagnostic::Severity;
use cuvee::parts::yaml::{Limits, parse};
use cuvee::source::value::Value;
use cuvee::validate::Validation;
use cuvee::{Resolver, source::FileId};
use std::fs;
use std::path::{Path, PathBuf};

fn below(directory: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let mut entries: Vec<_> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

fn templates_of_chapter_2() -> Vec<PathBuf> {
    let mut files = below("tests/chapter2");
    files.retain(|path| path.is_file());
    assert!(files.len() > 30, "{files:?}");
    files
}

/// The directories of examples with a template.
fn examples() -> Vec<PathBuf> {
    let examples = below("examples");
    assert!(examples.len() >= 3, "{examples:?}");
    examples
}

/// Everything that is worse than a note, with its place.
fn complaints(resolver: &Resolver) -> Vec<String> {
    let Validation { diagnostics, sources, .. } = resolver.validate();
    let worse = diagnostics.iter().filter(|diagnostic| diagnostic.severity > Severity::Note);
    worse.map(|diagnostic| diagnostic.one_line(&sources)).collect()
}

fn assert_valid(what: &str, resolver: &Resolver) {
    let complaints = complaints(resolver);
    assert!(complaints.is_empty(), "{what}: {complaints:#?}");
}

fn value(text: &str) -> Value {
    parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap().root().to_value()
}

#[test]
fn templates_of_chapter_2_are_valid() {
    let complaints = templates_of_chapter_2()
        .into_iter()
        .flat_map(|path| complaints(&Resolver::new(path).non_normative_types()));
    let complaints: Vec<_> = complaints.collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn examples_are_refused_by_nobody() {
    // Definitions of TOSCA 1.0 are left out: their templates ask for capabilities without nodes.
    for path in examples().into_iter().filter(|path| path.extension().is_none()) {
        let Validation { diagnostics, sources, .. } = Resolver::new(&path).portable().validate();
        let notes: Vec<_> = diagnostics.iter().map(|note| note.one_line(&sources)).collect();
        assert!(!notes.iter().any(|note| note.contains("[portable-")), "{notes:#?}");
    }
}

#[test]
fn templates_of_chapter_2_are_resolved_already() {
    for path in templates_of_chapter_2() {
        let resolution = Resolver::new(&path).resolve().unwrap();
        assert_eq!(
            resolution.to_value(),
            value(&fs::read_to_string(&path).unwrap()),
            "{}",
            path.display()
        );
    }
}

/// Each section of chapter 2 that has templates has one here.
#[test]
fn chapter_2_is_complete() {
    let names: Vec<_> = templates_of_chapter_2()
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    // Section 2.18 has no template.
    for section in (1..=20).filter(|&section| section != 18) {
        let starts = [format!("2.{section}-"), format!("2.{section}.")];
        assert!(
            names.iter().any(|name| starts.iter().any(|start| name.starts_with(start))),
            "2.{section}"
        );
    }
}

#[test]
fn examples_are_valid_in_all_variants() {
    for path in examples() {
        assert_valid(&path.display().to_string(), &Resolver::new(&path));
    }
}

#[test]
fn what_examples_resolve_to_is_valid() {
    let mut presets = 0;
    // Definitions of TOSCA 1.0 have no variants.
    let templates = examples().into_iter().filter(|path| path.extension().is_none());
    for path in templates {
        for preset in Resolver::new(&path).preset_names().unwrap() {
            let variant = Resolver::new(&path).preset(&preset);
            let what = format!("{} --preset {preset}", path.display());
            assert_valid(&what, &variant);
            let resolution = variant.resolve().unwrap();
            assert!(
                resolution.to_yaml().contains("tosca_definitions_version: tosca_simple_yaml_1_3\n")
            );
            assert_valid(
                &what,
                &Resolver::from_text(path.join("resolved.yaml"), resolution.to_yaml()),
            );
            presets += 1;
        }
    }
    assert!(presets >= 9, "{presets}");
}

#[test]
fn profiles_are_valid() {
    let profiles = below("presets/profiles")
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    let profiles: Vec<_> = profiles.collect();
    assert_eq!(profiles.len(), 2);
    for path in profiles {
        assert_valid(&path.display().to_string(), &Resolver::new(&path));
    }
}
