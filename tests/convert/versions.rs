//! Tests conversions between TOSCA Simple Profile 1.3 and TOSCA 2.0: all templates at hand become
//! valid ones of TOSCA 2.0, and come back with the variants that they had.

use cuvee::Resolver;
use cuvee::diagnostic::Severity;
use cuvee::output::convert::{Conversion, ConversionQuery, LossKind};
use cuvee::parts::yaml::{Limits, parse};
use cuvee::source::value::Value;
use cuvee::source::{FileId, MemoryFiles};
use cuvee::topology::diff::diff;
use std::fs;
use std::path::{Path, PathBuf};

/// The templates of version 1.3 below a directory of this package.
fn templates(directory: &str) -> Vec<PathBuf> {
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(directory)];
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let is_yaml = path.extension().is_some_and(|ending| ending == "yaml");
        let text = if is_yaml { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
        let is_template = text.contains("tosca_definitions_version: tosca_")
            && text.contains("\ntopology_template:")
            && !text.contains("tosca_definitions_version: tosca_2_0");
        if is_template {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn converted(resolver: &Resolver, query: &ConversionQuery) -> Result<Conversion, String> {
    resolver.convert(query).map(|answer| answer.result).map_err(|failure| failure.to_string())
}

/// A resolver of what a conversion wrote.
fn written(conversion: &Conversion) -> Resolver {
    let (template, _) = &conversion.files[0];
    let files = conversion.files.iter();
    let files = files.map(|(path, bytes)| (path.clone(), String::from_utf8_lossy(bytes).into_owned()));
    Resolver::new(template).files(files.collect::<MemoryFiles>())
}

/// The errors of a template.
fn errors(resolver: &Resolver) -> Vec<String> {
    let found = resolver.validate().diagnostics.into_iter();
    let errors = found.filter(|found| found.severity == Severity::Error);
    errors.map(|found| found.message).collect()
}

/// The presets of a template, each alone, and none.
fn presets(text: &str) -> Vec<Option<String>> {
    let document = parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap();
    let presets = document.root().get("topology_template").and_then(|it| it.get("variability")?.get("presets"));
    let names = presets.into_iter().flat_map(|presets| presets.entries());
    let names = names.filter_map(|(name, _)| Some(Some(name.text()?.to_owned())));
    names.chain([None]).collect()
}

fn variant(resolver: &Resolver, preset: Option<&str>) -> Option<Value> {
    let resolver = preset.map_or_else(|| resolver.clone(), |preset| resolver.clone().preset(preset));
    resolver.resolve().ok().map(|resolution| resolution.to_value())
}

/// What differs between two variants, and no report has to name: types by their full names.
fn differences(from: &Value, to: &Value) -> Vec<String> {
    let changes = diff(from, to).changes;
    changes.into_iter().map(|change| format!("{}: {:?}", change.path, change.edit)).collect()
}

struct Outcome {
    count: usize,
    same: usize,
    wrong: Vec<String>,
}

/// Converts all templates of a directory that are valid, and back.
fn there_and_back(directory: &str) -> Outcome {
    let mut outcome = Outcome { count: 0, same: 0, wrong: Vec::new() };
    for path in templates(directory) {
        let own = Resolver::new(&path);
        if !errors(&own).is_empty() {
            continue;
        }
        outcome.count += 1;
        let name = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().display().to_string();
        match one(&own, &fs::read_to_string(&path).unwrap()) {
            Ok(()) => outcome.same += 1,
            Err(why) => outcome.wrong.push(format!("{name}: {why}")),
        }
    }
    outcome
}

fn one(own: &Resolver, text: &str) -> Result<(), String> {
    let two = converted(own, &ConversionQuery::default().to_2_0())?;
    let there = written(&two);
    let found = errors(&there);
    if !found.is_empty() {
        return Err(format!("in 2.0: {found:?}"));
    }
    let one = converted(&there, &ConversionQuery::default().to_1_3())?;
    let back = written(&one);
    let found = errors(&back);
    if !found.is_empty() {
        return Err(format!("back in 1.3: {found:?}"));
    }
    let is_lost = |it: &Conversion| it.losses.entries().iter().any(|loss| loss.kind == LossKind::Lost);
    if is_lost(&two) || is_lost(&one) {
        return Ok(());
    }
    for preset in presets(text) {
        let was = variant(own, preset.as_deref());
        let is = variant(&back, preset.as_deref());
        match (was, is) {
            (Some(was), Some(is)) => {
                let changes = differences(&was, &is);
                if !changes.is_empty() {
                    return Err(format!("with {preset:?}: {changes:?}"));
                }
            }
            (None, None) => {}
            (was, _) => return Err(format!("with {preset:?}: only one resolves, {}", was.is_some())),
        }
    }
    Ok(())
}

fn assert_all(directory: &str, least: usize) {
    let Outcome { count, same, wrong } = there_and_back(directory);
    println!("{directory}: {same} of {count}");
    assert!(wrong.is_empty(), "{same} of {count}\n{}", wrong.join("\n"));
    assert!(count >= least, "{count}");
}

#[test]
fn conformance_cases_come_back() {
    assert_all("tests/conformance", 1);
}

#[test]
fn examples_come_back() {
    assert_all("examples", 1);
}

#[test]
fn chapter_2_comes_back() {
    assert_all("tests/chapter2", 1);
}

#[test]
fn fixtures_of_rules_come_back() {
    assert_all("tests/diagnostics", 1);
}

#[test]
fn plans_and_substitutions_come_back() {
    assert_all("tests/plan", 1);
    assert_all("tests/substitute", 1);
}
