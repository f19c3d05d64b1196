//! Writes the reference of the language, `docs/language.md`, from the files in `docs/language/`:
//! descriptions of each word, and an example that is run here. The words come from the tables in
//! the code.
//!
//! An example is a line that replaces `HERE` in the template that its section's examples share. A
//! template that does not start with a version is put below `topology_template`.

use super::element::ElementKind;
use super::syntax::ExpressionOperator;
use super::{inputs, options, template};
use crate::Resolver;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::source::MemoryFiles;
use crate::variability::clock;
use serde::Deserialize;
use serde_yaml::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A file of `docs/language/`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chapter {
    chapter: String,
    sections: Vec<Section>,
    /// Whether the table of kinds and their keywords follows the chapter.
    #[serde(default)]
    kinds: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    title: String,
    /// The sections of the specification.
    spec: String,
    text: Option<String>,
    version: Option<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    template: String,
    /// The subject of `gives`: an element, for its presence, or a key, for its value.
    asks: Option<String>,
    /// The text that replaces an example to check that the example makes a difference.
    without: Option<String>,
    /// The same as a replacement of one text in the example by another; used without `without`.
    flip: Option<[String; 2]>,
    /// Inputs with which the result is the opposite of `gives`.
    unless: Option<BTreeMap<String, Value>>,
    rows: Vec<Row>,
}

/// A word, or several that one example shows.
#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    One(String),
    All(Vec<String>),
}

impl Words {
    fn all(&self) -> &[String] {
        match self {
            Self::One(word) => std::slice::from_ref(word),
            Self::All(words) => words,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    of: Words,
    here: String,
    #[serde(default)]
    with: BTreeMap<String, Value>,
    #[serde(default)]
    presets: Vec<String>,
    gives: Option<Value>,
    /// Consecutive lines of the result.
    result: Option<String>,
    /// Starts of lines that the result must not have.
    no: Option<Words>,
    error: Option<String>,
    warning: Option<String>,
    /// Whether the result is the same without the example.
    #[serde(default)]
    same: bool,
    text: Option<String>,
}

/// The outcome of an example.
struct Outcome {
    errors: BTreeSet<String>,
    warnings: BTreeSet<String>,
    lines: Vec<String>,
    presence: BTreeMap<String, bool>,
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

fn chapters() -> Vec<Chapter> {
    let files = std::fs::read_dir(directory().join("language")).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    files.iter().map(read).collect()
}

/// A value as it is written on a command line and in YAML.
fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| serde_json::to_string(value).unwrap(), str::to_owned)
}

impl Section {
    fn whole(&self, here: &str) -> String {
        let body = self.template.replace("HERE", here);
        if body.starts_with("tosca_definitions_version") {
            return body;
        }
        let version = self.version.as_deref().unwrap_or("tosca_variability_1_0");
        let start = format!("tosca_definitions_version: {version}\ntopology_template:\n");
        body.lines().fold(start, |whole, line| whole + "  " + line + "\n")
    }

    fn run(&self, here: &str, inputs: &BTreeMap<String, Value>, presets: &[String]) -> Outcome {
        let template = ("shop.yaml".to_owned(), self.whole(here));
        let beside = self.files.iter().map(|(name, text)| (name.clone(), text.clone()));
        let files: MemoryFiles = std::iter::once(template).chain(beside).collect();
        let now = clock::parse("2025-06-02T12:00:00Z", jiff::tz::TimeZone::UTC).unwrap();
        let mut resolver = Resolver::new("shop.yaml").files(files).now(now);
        for preset in presets {
            resolver = resolver.preset(preset);
        }
        for (name, value) in inputs {
            resolver = resolver.input_text(name, written(value));
        }
        match resolver.resolve() {
            Ok(resolution) => Outcome {
                errors: BTreeSet::new(),
                warnings: codes(resolution.warnings(), Severity::Warning),
                lines: resolution.to_yaml().lines().map(|line| line.trim().to_owned()).collect(),
                presence: resolution.presence().collect(),
            },
            Err(failure) => Outcome {
                errors: codes(&failure.diagnostics, Severity::Error),
                warnings: codes(&failure.diagnostics, Severity::Warning),
                lines: Vec::new(),
                presence: BTreeMap::new(),
            },
        }
    }

    /// The first difference between an outcome and its row, or with `opposite` from the opposite of
    /// what the row gives.
    fn mismatch(&self, row: &Row, outcome: &Outcome, opposite: bool) -> Option<String> {
        let only = |code: &Option<String>| code.iter().cloned().collect::<BTreeSet<_>>();
        let Outcome { errors, warnings, lines, presence } = outcome;
        if *errors != only(&row.error) {
            return Some(format!("errors: {errors:?}"));
        }
        if row.error.is_some() {
            return None;
        }
        if *warnings != only(&row.warning) {
            return Some(format!("warnings: {warnings:?}"));
        }
        if let Some(gives) = &row.gives {
            let asks = self.asks.as_deref().expect("`gives` needs `asks`");
            let start = format!("{asks}: ");
            let value =
                || lines.iter().find_map(|line| line.trim_start_matches("- ").strip_prefix(&start));
            let given = match presence.get(asks) {
                Some(&present) => (present ^ opposite).to_string(),
                None => value().unwrap_or_default().to_owned(),
            };
            if given != written(gives) {
                return Some(format!("{asks}: {given}"));
            }
        }
        let wanted: Vec<_> = row.result.iter().flat_map(|result| result.lines()).collect();
        if !wanted.is_empty() && !lines.windows(wanted.len()).any(|found| found == wanted) {
            return Some(format!("without {wanted:?}:\n{}", lines.join("\n")));
        }
        let unwanted = row.no.iter().flat_map(Words::all);
        let found = unwanted.filter(|start| lines.iter().any(|line| line.starts_with(*start)));
        found.map(|start| format!("has {start:?}")).next()
    }

    /// The error of an example, if it has one: its outcome differs from its row, or the outcome
    /// would be the same without its word.
    fn check(&self, row: &Row) -> Option<String> {
        let expects = row.gives.is_some() || row.result.is_some() || row.no.is_some();
        if !expects && row.error.is_none() && row.warning.is_none() {
            return Some("expects nothing".to_owned());
        }
        let outcome = self.run(&row.here, &row.with, &row.presets);
        if let Some(wrong) = self.mismatch(row, &outcome, false) {
            return Some(wrong);
        }
        if let Some(inputs) = &self.unless {
            let outcome = self.run(&row.here, inputs, &row.presets);
            return self.mismatch(row, &outcome, true);
        }
        let flipped = self.flip.as_ref().map(|[from, to]| row.here.replace(from, to));
        let without = self.without.clone().or(flipped)?;
        let otherwise = self.mismatch(row, &self.run(&without, &row.with, &row.presets), false);
        match (otherwise, row.same) {
            (None, false) => Some(format!("is the same with `{without}`")),
            (Some(wrong), true) => Some(format!("is not the same with `{without}`: {wrong}")),
            _ => None,
        }
    }
}

/// The codes of a severity. An example shows a part of a template, so that a variant of it may well
/// have no nodes.
fn codes(diagnostics: &[Diagnostic], severity: Severity) -> BTreeSet<String> {
    let of_severity = diagnostics.iter().filter(|one| one.severity == severity);
    let of_severity =
        of_severity.filter(|one| one.code != Code::NothingLeft && one.code != Code::Pruned);
    of_severity.map(|one| one.code.to_string()).collect()
}

#[test]
fn every_example_of_the_language_does_what_it_says() {
    let mut wrong = String::new();
    for Chapter { sections, .. } in chapters() {
        for (section, row) in
            sections.iter().flat_map(|one| one.rows.iter().map(move |row| (one, row)))
        {
            if let Some(problem) = section.check(row) {
                writeln!(wrong, "{}: {:?}: `{}`: {problem}", section.title, row.of.all(), row.here)
                    .unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Every word of the language in the tables of the code, with the description that the table has of
/// it.
fn words() -> BTreeMap<String, Option<String>> {
    let operators = ExpressionOperator::keywords().map(|keyword| format!("operator {keyword}"));
    let words = operators.chain(template::vocabulary::words()).chain(inputs::vocabulary::words());
    words.map(|word| (word, None)).chain(options::vocabulary::words()).collect()
}

#[test]
fn every_word_of_the_language_has_an_example() {
    let (words, chapters) = (words(), chapters());
    assert!(words.len() > 300, "{}", words.len());
    let rows = chapters.iter().flat_map(|chapter| &chapter.sections).flat_map(|one| &one.rows);
    let shown: BTreeSet<_> = rows.flat_map(|row| row.of.all()).collect();
    let missing: Vec<_> = words.keys().filter(|word| !shown.contains(word)).collect();
    assert!(missing.is_empty(), "without an example: {missing:#?}");
    // Words that no table has: the forms of conditions, and types with a special meaning.
    let is_known = |word: &str| words.contains_key(word) || word.starts_with("form ");
    let unknown: Vec<_> = shown.iter().filter(|word| !is_known(word)).collect();
    assert!(unknown.is_empty(), "no words of the language: {unknown:#?}");
}

const START: &str = "\
# The language

A template with one condition. The cache is there where `cached` is true; the mode removes what an absent node leaves behind, here the
requirement `dependency` that leads to it:

```yaml tea.yaml
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability:
    inputs:
      cached: { type: boolean, default: false }
    options:
      mode: consistent-loose
  node_templates:
    shop:
      type: tosca.nodes.SoftwareComponent
      requirements:
        - host: machine
        - dependency: cache
    cache:
      type: tosca.nodes.SoftwareComponent
      conditions: { variability_input: cached }
      requirements:
        - host: machine
    machine:
      type: tosca.nodes.Compute
```

```console
$ cuvee resolve tea.yaml
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    shop:
      type: tosca.nodes.SoftwareComponent
      requirements:
        - host: machine
    machine:
      type: tosca.nodes.Compute
$ cuvee resolve tea.yaml --input cached=true
...
        - dependency: cache
    cache:
      type: tosca.nodes.SoftwareComponent
...
```

Without a mode that requirement would be an error, because its target is absent: [modes](#modes) says what each removes. [The
tutorial](tutorial.md) goes on slowly from here; this page has all of the rest.

Below is Variability4TOSCA from the beginning: every keyword, kind of element, operator, default condition, mode, option, check and constraint, each with an
example. The examples are run by a test, and a word without one fails it.

A template is shown first, then examples, each of which stands in it in place of `HERE`. Templates are what stands below `topology_template` of a
template that starts with `tosca_definitions_version: tosca_variability_1_0`, unless they start with a version themselves.

The specifications are *Variability4TOSCA Specification 1.0 Release Candidate*, whose sections are named under each heading here, and the
[TOSCA Simple Profile in YAML 1.3](https://docs.oasis-open.org/tosca/TOSCA-Simple-Profile-YAML/v1.3/TOSCA-Simple-Profile-YAML-v1.3.html). Where they leave
something open, [deviations.md](deviations.md) says what is done. All defaults of options are in [options.md](options.md), codes of errors in
[codes.md](codes.md).

<!-- Generated from docs/language: UPDATE_DOCS=1 cargo test documentation -->
";

/// `docs/language.md`
fn page() -> String {
    let (words, chapters) = (words(), chapters());
    let mut page = START.to_owned();
    page.push('\n');
    for Chapter { chapter, sections, .. } in &chapters {
        let link = |title: &str| format!("[{title}](#{})", anchor(title));
        let links: Vec<_> = sections.iter().map(|one| link(&one.title)).collect();
        writeln!(page, "- {}: {}", link(chapter), links.join(", ")).unwrap();
    }
    for Chapter { chapter, sections, kinds } in &chapters {
        write!(page, "\n## {chapter}\n").unwrap();
        sections.iter().for_each(|section| section.show(&words, &mut page));
        if *kinds {
            show_kinds(&mut page);
        }
    }
    page
}

fn anchor(title: &str) -> String {
    let letters = title.chars().filter(|&letter| letter.is_alphanumeric() || " -".contains(letter));
    letters.collect::<String>().to_lowercase().replace(' ', "-")
}

impl Section {
    fn show(&self, words: &BTreeMap<String, Option<String>>, page: &mut String) {
        write!(page, "\n### {}\n\nSpecification: {}.\n", self.title, self.spec).unwrap();
        if let Some(text) = &self.text {
            write!(page, "\n{text}").unwrap();
        }
        if let Some(version) = &self.version {
            write!(page, "\nWith `tosca_definitions_version: {version}`:\n").unwrap();
        }
        write!(page, "\n```yaml\n{}```\n", self.template).unwrap();
        for (name, text) in &self.files {
            write!(page, "\nBeside it lies `{name}`:\n\n```yaml\n{}\n```\n", text.trim_end())
                .unwrap();
        }
        if let Some(inputs) = &self.unless {
            let inputs = inputs.iter().map(|(name, value)| format!("-i {name}={}", written(value)));
            let inputs: Vec<_> = inputs.collect();
            write!(page, "\nWith `{}` each gives the opposite.\n", inputs.join(" ")).unwrap();
        }
        if let Some(without) = &self.without {
            write!(page, "\nWith `{without}` in its place it is otherwise.\n").unwrap();
        }
        page.push_str("\n| | `HERE` | gives | |\n| --- | --- | --- | --- |\n");
        let mut said = BTreeSet::new();
        for row in &self.rows {
            let names: Vec<_> = row.of.all().iter().map(|word| name(word)).collect();
            let first = row.of.all().first().filter(|word| said.insert(*word));
            let known = first.and_then(|word| words.get(word)?.as_deref());
            let text = known.into_iter().chain(row.text.as_deref()).collect::<Vec<_>>().join(" ");
            let cells = [names.join(", "), row.shown(), self.outcome(row), text];
            writeln!(page, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
                .unwrap();
        }
    }

    fn outcome(&self, row: &Row) -> String {
        let mut parts = Vec::new();
        let code =
            |severity: &str, code: &String| format!("{severity} [`{code}`](codes.md#{code})");
        parts.extend(row.error.iter().map(|error| code("error", error)));
        parts.extend(row.gives.iter().map(|gives| {
            let element =
                self.asks.as_deref().filter(|asks| asks.contains('.')).unwrap_or_default();
            match (element, gives) {
                ("", gives) => format!("`{}`", written(gives)),
                (element, Value::Bool(true)) => format!("`{element}`"),
                (element, _) => format!("no `{element}`"),
            }
        }));
        parts.extend(
            row.result.iter().flat_map(|text| text.lines()).map(|line| format!("`{line}`")),
        );
        let absent = row.no.iter().flat_map(Words::all);
        parts.extend(absent.map(|start| format!("no `{}`", start.trim_end_matches(':'))));
        parts.extend(row.warning.iter().map(|warning| code("warning", warning)));
        let same = if row.same { ", as without it" } else { "" };
        parts.join(", ") + same
    }
}

impl Row {
    /// The example with the inputs and presets that are chosen for it.
    fn shown(&self) -> String {
        let inputs = self.with.iter().map(|(name, value)| format!("-i {name}={}", written(value)));
        let presets = self.presets.iter().map(|preset| format!("--preset {preset}"));
        let chosen: Vec<_> = presets.chain(inputs).collect();
        match chosen.is_empty() {
            true => format!("`{}`", self.here),
            false => format!("`{}` with `{}`", self.here, chosen.join(" ")),
        }
    }
}

/// The name in a word: `value a b` is `a: b`, and of `part node host` the last one counts.
fn name(word: &str) -> String {
    let (of, word) = word.split_once(' ').unwrap_or_default();
    match (of, word.split_once(' ')) {
        ("form", _) => word.to_owned(),
        ("value", Some((option, value))) => format!("`{option}: {value}`"),
        (_, Some((_, last))) => format!("`{last}`"),
        _ => format!("`{word}`"),
    }
}

fn show_kinds(page: &mut String) {
    page.push_str("\n### Which keyword stands where\n\n| Kind | Keywords of Variability4TOSCA | Keynames of TOSCA |\n| --- | --- | --- |\n");
    let common = template::vocabulary::common();
    let listed = |words: &mut dyn Iterator<Item = &str>| {
        words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
    };
    for &kind in ElementKind::ALL {
        let (words, keynames, section) = template::vocabulary::of_element(kind);
        let but = listed(&mut common.iter().copied().filter(|word| !words.contains(word)));
        let own = listed(&mut words.iter().copied().filter(|word| !common.contains(word)));
        let but = if but.is_empty() { but } else { format!(" but {but}") };
        let own = if own.is_empty() { own } else { format!("; {own}") };
        let keynames = listed(&mut keynames.into_iter());
        let section = section.map(|section| format!(" (section {section})")).unwrap_or_default();
        writeln!(page, "| {kind} | those of every element{but}{own} | {keynames}{section} |")
            .unwrap();
    }
}

/// Each heading has an anchor of its own, so links lead where they say.
#[test]
fn sections_of_the_language_have_titles_of_their_own() {
    let page = page();
    let titles = page.lines().filter_map(|line| line.strip_prefix('#'));
    let anchors: Vec<_> =
        titles.map(|title| anchor(title.trim_start_matches('#').trim())).collect();
    assert_eq!(anchors.iter().collect::<BTreeSet<_>>().len(), anchors.len());
    let links: Vec<_> =
        page.split("](#").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(links.len() > 80, "{}", links.len());
    let lost = links.iter().find(|link| !anchors.iter().any(|anchor| anchor == *link));
    assert_eq!(lost, None);
}

/// `presets/operators.tsv`: each operator with the heading of its section and what it does, which
/// editors show.
fn operators() -> String {
    let mut lines = String::new();
    let mut said = BTreeSet::new();
    for section in chapters().iter().flat_map(|chapter| &chapter.sections) {
        for row in &section.rows {
            let operator = row.of.all().iter().find_map(|it| it.strip_prefix("operator "));
            let (Some(operator), Some(text)) = (operator, &row.text) else { continue };
            if said.insert(operator.to_owned()) {
                writeln!(lines, "{operator}\t{}\t{text}", anchor(&section.title)).unwrap();
            }
        }
    }
    lines
}

#[test]
fn documentation_of_operators_is_up_to_date() {
    let path = directory().join("../presets/operators.tsv");
    let table = operators();
    for keyword in ExpressionOperator::keywords() {
        let start = format!("{keyword}\t");
        assert!(table.lines().any(|line| line.starts_with(&start)), "{keyword} has no text");
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, table).unwrap();
    } else {
        let written = std::fs::read_to_string(path).unwrap_or_default();
        let why =
            "presets/operators.tsv is out of date: run `UPDATE_DOCS=1 cargo test documentation`";
        assert!(written == table, "{why}");
    }
}

#[test]
fn documentation_of_the_language_is_up_to_date() {
    let path = directory().join("language.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap_or_default() == page,
        "docs/language.md is out of date: run `UPDATE_DOCS=1 cargo test documentation`"
    );
}
