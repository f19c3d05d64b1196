//! Tests conversions between TOSCA Simple Profile 1.3 and TOSCA 2.0: all templates at hand become
//! valid ones of TOSCA 2.0, and come back with the variants that they had.

use cuvee::Resolver;
use cuvee::diagnostic::Severity;
use cuvee::output::convert::{Conversion, ConversionQuery, LossKind};
use cuvee::parts::yaml::{Limits, parse};
use cuvee::source::value::Value;
use cuvee::source::{FileId, MemoryFiles};
use cuvee::topology::diff::diff;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

/// Templates whose conditions come back in another form that says the same: a condition directly
/// in place of `assert`, several clauses as `and`, `count` as `occurrences`, the value of an input as
/// its default, an interface that is called by its type by its name.
const OTHER_FORM: [&str; 10] = [
    "plan/secrets/",
    "plan/07-preconditions/",
    "plan/09-filter/",
    "plan/processes/",
    "substitute/countless/",
    "diagnostics/requirement-mapping",
    "diagnostics/workflow.yaml",
    "diagnostics/directives.yaml",
    "diagnostics/interface-assignment.yaml",
    "instance/interface-inputs/simple.yaml",
];

/// Templates whose relationships are of a type that the supplied one is no ancestor of.
const OF_OTHER_ROOT: [&str; 1] = ["diagnostics/deployment-order.yaml"];

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
        let text =
            if is_yaml { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
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

/// A resolver of what a conversion wrote, beside the other files in the directory of the template.
fn written(conversion: &Conversion, directory: &Path) -> Resolver {
    let (template, _) = &conversion.files[0];
    let here = template.parent().unwrap();
    let beside = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let beside = beside.filter(|path| path.is_file());
    let beside =
        beside.map(|path| (here.join(path.file_name().unwrap()), fs::read(&path).unwrap()));
    let files = beside.chain(conversion.files.iter().cloned());
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
    let Ok(document) = parse(FileId::DETACHED, text.into(), &Limits::default()) else {
        return Vec::new();
    };
    let presets = document
        .root()
        .get("topology_template")
        .and_then(|it| it.get("variability")?.get("presets"));
    let names = presets.into_iter().flat_map(|presets| presets.entries());
    let names = names.filter_map(|(name, _)| Some(Some(name.text()?.to_owned())));
    names.chain([None]).collect()
}

fn variant(resolver: &Resolver, preset: Option<&str>) -> Option<Value> {
    let resolver =
        preset.map_or_else(|| resolver.clone(), |preset| resolver.clone().preset(preset));
    resolver.resolve().ok().map(|resolution| resolution.to_value())
}

/// The full names of normative types by their other names.
fn full_names() -> &'static HashMap<String, BTreeSet<String>> {
    static NAMES: LazyLock<HashMap<String, BTreeSet<String>>> = LazyLock::new(|| {
        let mut names: HashMap<_, BTreeSet<_>> = HashMap::new();
        let document = cuvee::parts::tosca::profile::normative();
        for (key, body) in document.root().entries().flat_map(|(_, types)| types.entries()) {
            let metadata = body.get("metadata").into_iter();
            for (_, other) in metadata.flat_map(|metadata| metadata.entries()) {
                for other in other.text().unwrap_or_default().split(' ') {
                    let full = key.text().unwrap_or_default().to_owned();
                    names.entry(other.to_owned()).or_default().insert(full);
                }
            }
        }
        names
    });
    &NAMES
}

/// Whether a value is the same as another one but for names of types, which are full names now,
/// and for what is written where version 1.3 has a default.
fn is_same(from: &Value, to: &Value) -> bool {
    match (from, to) {
        // Operations stand below `operations` now, and an equality has its operator.
        (_, Value::Map(to)) if is_wrapped(from, to, "operations") => {
            let Value::Map(from) = from else { return false };
            let inside = |(key, value): &(Arc<str>, Value)| match value {
                Value::Map(inside) if &**key == "operations" => inside.to_vec(),
                _ => vec![(key.clone(), value.clone())],
            };
            let flat: Vec<_> = to.iter().flat_map(inside).collect();
            is_same(&Value::Map(from.clone()), &Value::Map(flat.into()))
        }
        (Value::String(_) | Value::Number(_), Value::Map(to))
            if to.len() == 1 && ["equal", "value"].contains(&&*to[0].0) =>
        {
            is_same(from, &to[0].1)
        }
        (Value::Map(from), Value::List(_)) if from.len() == 1 && &*from[0].0 == "mapping" => {
            is_same(&from[0].1, to)
        }
        // One clause is a list of clauses, and mappings are a map, as TOSCA 1.3 has them.
        (Value::Map(_) | Value::Number(_) | Value::String(_), Value::List(to)) if to.len() == 1 => {
            is_same(from, &to[0])
        }
        (Value::List(from), Value::Map(_)) => {
            let inside = |value: &Value| match value {
                Value::Map(entries) => entries.to_vec(),
                _ => Vec::new(),
            };
            is_same(&Value::Map(from.iter().flat_map(inside).collect()), to)
        }
        (Value::Map(from), Value::Map(to)) => {
            let get = |entries: &[(Arc<str>, Value)], key: &str| {
                entries.iter().find(|(known, _)| **known == *key).map(|(_, value)| value.clone())
            };
            let is_kept = from.iter().all(|(key, value)| match get(to, key) {
                Some(other) => is_same(value, &other),
                None => is_default(key, value),
            });
            // An artifact that refines another one may take its file from that one.
            let is_known = |(key, value): &(Arc<str>, Value)| {
                get(from, key).is_some() || is_default(key, value) || &**key == "file"
            };
            is_kept && to.iter().all(is_known)
        }
        (Value::List(from), Value::List(to)) => {
            from.len() == to.len() && from.iter().zip(to.iter()).all(|(from, to)| is_same(from, to))
        }
        // The short form of an artifact or of a requirement definition.
        (Value::String(short), Value::Map(long)) => {
            let is = |key: &str, value: &Value| match key {
                "file" | "capability" => is_same(from, value),
                _ => is_default(key, value),
            };
            !short.is_empty() && long.iter().all(|(key, value)| is(key, value))
        }
        // A date is the instant at which it begins, and a unit is written as it is spelt.
        (Value::String(from), Value::String(to)) => {
            let is_date = from.split('-').map(str::len).eq([4, 2, 2]);
            let is_amount = from.starts_with(|first: char| first.is_ascii_digit());
            is_amount && from.eq_ignore_ascii_case(to)
                || is_same_name(from, to)
                || is_date && to.strip_suffix("T00:00:00Z") == Some(from)
        }
        _ => from == to,
    }
}

/// Whether a map has a part that another one has in place of it.
fn is_wrapped(from: &Value, to: &[(Arc<str>, Value)], part: &str) -> bool {
    let has = |entries: &[(Arc<str>, Value)]| entries.iter().any(|(key, _)| &**key == part);
    matches!(from, Value::Map(from) if !has(from)) && has(to)
}

/// Whether a name means the same as another one. Behind a `~`, variants say by which rule they
/// have their technology.
fn is_same_name(from: &str, to: &str) -> bool {
    let is = |from: &str, to: &str| {
        let full = full_names().get(from).is_some_and(|full| full.contains(to));
        from == to || full || from.strip_suffix(to).is_some_and(|prefix| prefix.ends_with(':'))
    };
    let parts = |name: &str| {
        let name = name.replace("::", "~").replace("->", "~").replace(['#', '@'], "~");
        name.split('~').map(str::to_owned).collect::<Vec<_>>()
    };
    match from.contains('~') {
        true => {
            let (from, to) = (parts(from), parts(to));
            from.len() == to.len() && from.iter().zip(&to).all(|(from, to)| is(from, to))
        }
        false => is(from, to) || (from, to) == ("selectable", "select"),
    }
}

/// What the reports name as supplied, and what version 1.3 has by default.
fn is_default(key: &str, value: &Value) -> bool {
    let text = value.to_string();
    match key {
        "occurrences" => text == "[1, 1]",
        "relationship" => text == "tosca.relationships.Root",
        "entry_schema" => text == "string",
        "optional" => text == "false",
        "required" => text == "true",
        "node_templates" => *value == Value::Map([].into()),
        "operation_host" => text == "SOURCE",
        "type" | "target" => true,
        // TOSCA 1.3 maps a property to the input of its name, too, where nothing is said.
        "properties" => {
            matches!(value, Value::Map(all) if all.iter().all(|(key, value)| is_default(key, value)))
        }
        _ => text == format!("[{key}]"),
    }
}

fn differences(from: &Value, to: &Value) -> Vec<String> {
    if is_same(from, to) {
        return Vec::new();
    }
    let changes = diff(from, to).changes;
    let changes = changes.into_iter();
    changes.map(|change| format!("{}: {:?}", change.path, change.edit)).collect()
}

struct Outcome {
    count: usize,
    valid: usize,
    same: usize,
    wrong: Vec<String>,
}

/// Converts one of `every` templates of a directory, if it is valid, and back.
fn there_and_back(directory: &str, every: usize) -> Outcome {
    let mut outcome = Outcome { count: 0, valid: 0, same: 0, wrong: Vec::new() };
    for path in templates(directory).into_iter().step_by(every) {
        let own = Resolver::new(&path);
        let name = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().display().to_string();
        if OTHER_FORM.iter().chain(&OF_OTHER_ROOT).any(|it| name.contains(it)) {
            continue;
        }
        let is_valid = errors(&own).is_empty();
        let text = fs::read_to_string(&path).unwrap();
        let resolves = |preset: &Option<String>| variant(&own, preset.as_deref()).is_some();
        if !is_valid && !presets(&text).iter().any(resolves) {
            continue;
        }
        outcome.count += 1;
        outcome.valid += usize::from(is_valid);
        match one(&own, &text, path.parent().unwrap(), is_valid) {
            Ok(()) => outcome.same += 1,
            Err(why) => outcome.wrong.push(format!("{name}: {why}")),
        }
    }
    outcome
}

fn one(own: &Resolver, text: &str, directory: &Path, is_valid: bool) -> Result<(), String> {
    let two = converted(own, &ConversionQuery::default().to_2_0())?;
    let there = written(&two, directory);
    let found = errors(&there);
    let is_of_older = two.losses.entries().iter().any(|loss| loss.construct.contains("tosca_"));
    if is_valid && !is_of_older && !found.is_empty() {
        return Err(format!("in 2.0: {found:?}"));
    }
    let one = converted(&there, &ConversionQuery::default().to_1_3())?;
    let back = written(&one, directory);
    let found = errors(&back);
    if is_valid && !found.is_empty() {
        return Err(format!("back in 1.3: {found:?}"));
    }
    let is_lost =
        |it: &Conversion| it.losses.entries().iter().any(|loss| loss.kind == LossKind::Lost);
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
            (was, _) => {
                return Err(format!("with {preset:?}: only one resolves, {}", was.is_some()));
            }
        }
    }
    Ok(())
}

fn assert_all(directory: &str, least: usize) {
    assert_some(directory, 1, least);
}

/// As [`assert_all`], for one of `every` templates.
fn assert_some(directory: &str, every: usize, least: usize) {
    let Outcome { count, valid, same, wrong } = there_and_back(directory, every);
    println!("{directory}: {same} of {count}, {valid} of them valid");
    assert!(wrong.is_empty(), "{same} of {count}\n{}", wrong.join("\n"));
    assert!(count >= least, "{count}");
}

#[test]
fn conformance_cases_come_back() {
    let every = if option_env!("CUVEE_SIZE").is_some() { 1 } else { 3 };
    assert_some("tests/conformance", every, 1700 / every);
}

#[test]
fn examples_come_back() {
    assert_all("examples", 12);
}

#[test]
fn chapter_2_comes_back() {
    assert_all("tests/chapter2", 30);
}

#[test]
fn fixtures_of_rules_come_back() {
    assert_all("tests/diagnostics", 60);
}

#[test]
fn plans_and_substitutions_come_back() {
    assert_all("tests/plan", 40);
    assert_all("tests/substitute", 130);
}

/// TOSCA 2.0 has one version, so what older ones say of options is written.
#[test]
fn options_of_older_versions_are_carried() {
    let query = ConversionQuery::default().to_2_0();
    let options = |resolver: &Resolver| -> Vec<_> {
        let (options, _) = resolver.effective_options().unwrap();
        options.list().map(|option| (option.name, option.value)).collect()
    };
    for version in cuvee::options::versions() {
        for said in [
            "",
            "\n    options: {mode: manual, node_pruning: true}",
            "\n    options: {checks: true}",
        ] {
            let text = format!(
                "tosca_definitions_version: {version}\ntopology_template:\n  variability:\n    inputs: {{a: {{type: boolean}}}}{said}\n  node_templates: {{}}\n"
            );
            let of = |text: String| {
                Resolver::new("t.yaml").files(MemoryFiles::from_iter([("t.yaml".to_owned(), text)]))
            };
            let before = of(text.clone());
            let (_, after) = converted(&before, &query).unwrap().files.remove(0);
            let after = String::from_utf8(after).unwrap();
            assert_eq!(options(&of(after.clone())), options(&before), "{text}{after}");
        }
    }
}
