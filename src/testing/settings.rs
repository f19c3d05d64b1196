//! Reads the file `test.yaml` of a case.

use crate::diagnostic::{Code, did_you_mean};
use crate::variability::clock;
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, NodeKind};
use jiff::Zoned;
use jiff::tz::TimeZone;
use std::path::PathBuf;

/// The settings of a test. All of them are optional.
#[derive(Debug, Default)]
pub(super) struct CaseSettings {
    /// The purpose of the case, which is shown if the case fails.
    pub description: Option<String>,
    /// The variability presets in order.
    pub presets: Vec<String>,
    /// The files of inputs in order.
    pub inputs: Vec<PathBuf>,
    /// The template.
    pub template: Option<PathBuf>,
    /// The file of the template that resolving has to give.
    pub expected: Option<PathBuf>,
    /// The expected error: a diagnostic code, or text of its message.
    pub error: Option<String>,
    /// The code of an expected warning.
    pub warning: Option<String>,
    /// The pairs of text and replacement for strings of the resolved template.
    pub replace: Vec<(String, String)>,
    /// The value that is merged over the expected template.
    pub merge: Option<Value>,
    /// The variability options.
    pub options: Vec<(String, String)>,
    /// The current time of the clock.
    pub now: Option<Zoned>,
    /// Names in the settings that later errors may be about, with their places.
    named: Vec<(String, Span)>,
}

const KEYS: [&str; 13] = [
    "name",
    "description",
    "descriptions",
    "presets",
    "inputs",
    "template",
    "expected",
    "error",
    "warning",
    "replace",
    "merge",
    "options",
    "now",
];

/// An error in a value: its place and the message.
type SettingProblem = (Span, String);

impl CaseSettings {
    /// Reads the root of `test.yaml`. An empty file sets nothing.
    ///
    /// # Errors
    /// Lists every unknown key, and every value of the wrong shape.
    pub(super) fn read(root: Node<'_>) -> Result<Self, Vec<SettingProblem>> {
        let mut settings = Self::default();
        if root.is_null() {
            return Ok(settings);
        }
        if root.kind() != NodeKind::Mapping {
            return Err(vec![(
                root.span(),
                format!("a test has to be a map, not {}", root.describe()),
            )]);
        }
        let mut problems: Vec<_> =
            root.entries().filter_map(|(key, value)| settings.set(key, value).err()).collect();
        let both = settings.expected.is_some() || settings.merge.is_some();
        if let Some(error) = root.get("error").filter(|_| both && settings.error.is_some()) {
            let message = "a test that expects an `error` expects no template";
            problems.push((error.span(), message.into()));
        }
        if problems.is_empty() { Ok(settings) } else { Err(problems) }
    }

    /// The place of the name that a message is about.
    pub(super) fn place_of(&self, message: &str) -> Option<Span> {
        let is_named = |text: &str| {
            !text.is_empty()
                && (message.contains(&format!("`{text}`"))
                    || message.contains(&format!("/{text}`")))
        };
        self.named.iter().find(|(text, _)| is_named(text)).map(|&(_, span)| span)
    }

    /// Keeps the places of a string, or of the strings in a list or map.
    fn name(&mut self, node: Node<'_>) {
        let all = std::iter::once(node).chain(node.items());
        let all = all.chain(node.entries().flat_map(|(key, value)| [key, value]));
        self.named.extend(all.filter_map(|node| Some((node.text()?.to_owned(), node.span()))));
    }

    fn set(&mut self, key: Node<'_>, value: Node<'_>) -> Result<(), SettingProblem> {
        if matches!(&*key.key_text(), "presets" | "inputs" | "template" | "expected" | "options") {
            self.name(value);
        }
        match &*key.key_text() {
            "description" => self.description = Some(text(value)?),
            "descriptions" => self.description = Some(texts(value)?.join(" ")),
            "name" => self.description = self.description.take().or(Some(text(value)?)),
            "presets" => self.presets = texts(value)?,
            "inputs" => self.inputs = texts(value)?.into_iter().map(PathBuf::from).collect(),
            "template" => self.template = Some(text(value)?.into()),
            "expected" => self.expected = Some(text(value)?.into()),
            "error" => self.error = Some(text(value)?),
            "warning" => self.warning = Some(code(value)?),
            "replace" => self.replace = pairs(value)?,
            "merge" => self.merge = Some(map(value)?.to_value()),
            "options" => self.options = options(value)?,
            "now" => self.now = Some(now(value)?),
            unknown => {
                let hint = did_you_mean(unknown, KEYS)
                    .unwrap_or_else(|| format!("known are {}", KEYS.join(", ")).into());
                return Err((key.span(), format!("unknown key `{unknown}`: {hint}")));
            }
        }
        Ok(())
    }
}

fn wrong(node: Node<'_>, wanted: &str) -> SettingProblem {
    (node.span(), format!("expected {wanted}, not {}", node.describe()))
}

/// A scalar of any type as text, so that a preset with the name `1` needs no quotes.
fn text(node: Node<'_>) -> Result<String, SettingProblem> {
    let text = if node.is_null() { None } else { node.text() };
    text.map(str::to_owned).ok_or_else(|| wrong(node, "a string"))
}

/// Reads the code of a diagnostic.
fn code(node: Node<'_>) -> Result<String, SettingProblem> {
    let code = text(node)?;
    if code.parse::<Code>().is_ok() {
        return Ok(code);
    }
    let hint = did_you_mean(&code, Code::ALL.iter().map(|code| code.as_str()))
        .unwrap_or_else(|| "`cuvee explain-code` lists all codes".into());
    Err((node.span(), format!("there is no code `{code}`: {hint}")))
}

/// Reads a string, or a list of strings.
fn texts(node: Node<'_>) -> Result<Vec<String>, SettingProblem> {
    match node.kind() {
        NodeKind::Sequence => node.items().map(text).collect(),
        _ => text(node)
            .map(|one| vec![one])
            .map_err(|_| wrong(node, "a string or a list of strings")),
    }
}

fn map(node: Node<'_>) -> Result<Node<'_>, SettingProblem> {
    if node.kind() == NodeKind::Mapping { Ok(node) } else { Err(wrong(node, "a map")) }
}

fn options(node: Node<'_>) -> Result<Vec<(String, String)>, SettingProblem> {
    map(node)?.entries().map(|(key, value)| Ok((text(key)?, text(value)?))).collect()
}

fn pairs(node: Node<'_>) -> Result<Vec<(String, String)>, SettingProblem> {
    let pair = |item: Node<'_>| match texts(item)?.try_into() {
        Ok::<[String; 2], _>([from, to]) if !from.is_empty() => Ok((from, to)),
        _ => Err(wrong(item, "a pair of what to replace and its replacement")),
    };
    match node.kind() {
        NodeKind::Sequence => node.items().map(pair).collect(),
        _ => Err(wrong(node, "a list of pairs")),
    }
}

/// Reads a time. Without a zone it is in UTC, so that a case has the same meaning everywhere.
fn now(node: Node<'_>) -> Result<Zoned, SettingProblem> {
    clock::parse(&text(node)?, TimeZone::UTC)
        .map_err(|error| (node.span(), format!("not a date: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuvee_text::source::SourceMap;
    use cuvee_text::yaml::{Limits, parse};

    fn read(text: &str) -> Result<CaseSettings, Vec<String>> {
        let sources = SourceMap::default();
        let file = sources.add("test.yaml", text);
        let document = parse(file, text.into(), &Limits::default()).unwrap();
        CaseSettings::read(document.root()).map_err(|problems| {
            let line = |(span, message)| format!("{}: {message}", sources.location(span).line);
            problems.into_iter().map(line).collect()
        })
    }

    #[test]
    fn reads_every_key() {
        let text = "name: n\ndescription: d\npresets: [a, 1]\ninputs: i.yaml\ntemplate: ../t.yaml\nexpected: e.yaml\n\
                    warning: nondeterminism\nreplace: [[_x, '']]\nmerge: {a: 1}\noptions: {mode: manual, checks: false}\n\
                    now: 2024-12-24T18:00\n";
        let settings = read(text).unwrap();
        assert_eq!(settings.description.as_deref(), Some("d"));
        assert_eq!(settings.presets, ["a", "1"]);
        assert_eq!(settings.inputs, [PathBuf::from("i.yaml")]);
        assert_eq!(settings.template, Some("../t.yaml".into()));
        assert_eq!(settings.expected, Some("e.yaml".into()));
        assert_eq!(settings.warning.as_deref(), Some("nondeterminism"));
        assert_eq!(settings.replace, [("_x".into(), String::new())]);
        assert_eq!(settings.merge, Some(Value::Map([("a".into(), 1.into())].into())));
        let options = [("mode".into(), "manual".into()), ("checks".into(), "false".into())];
        assert_eq!(settings.options, options);
        assert_eq!(settings.now.unwrap().to_string(), "2024-12-24T18:00:00+00:00[UTC]");
    }

    #[test]
    fn knows_where_names_stand() {
        let settings = read("presets: [a, prd]\ninputs: in.yaml\noptions: {mod: manual}").unwrap();
        let start = |message| settings.place_of(message).map(|span| span.start);
        assert_eq!(start("there is no preset `prd`"), Some(13));
        assert_eq!(start("cannot read `x/in.yaml`"), Some(26));
        assert_eq!(start("there is no option `mod`"), Some(44));
        assert_eq!(start("there is no option `mode`"), None);
    }

    #[test]
    fn takes_one_string_for_a_list_and_nothing_for_everything() {
        assert_eq!(read("presets: prod").unwrap().presets, ["prod"]);
        assert_eq!(
            read("descriptions: [one, two]").unwrap().description.as_deref(),
            Some("one two")
        );
        assert_eq!(read("name: n").unwrap().description.as_deref(), Some("n"));
        assert!(read("").unwrap().presets.is_empty());
    }

    #[test]
    fn reports_every_mistake_with_its_place() {
        let problems =
            read("preset: prod\nreplace: [[a]]\nmerge: 1\nnow: soon\ninputs: {}").unwrap_err();
        assert_eq!(problems[0], "1: unknown key `preset`: did you mean `presets`?");
        assert_eq!(
            problems[1],
            "2: expected a pair of what to replace and its replacement, not a list"
        );
        assert_eq!(problems[2], "3: expected a map, not a number");
        assert!(problems[3].starts_with("4: not a date: "), "{}", problems[3]);
        assert_eq!(problems[4], "5: expected a string or a list of strings, not a map");
        assert_eq!(read("[]").unwrap_err(), ["1: a test has to be a map, not a list"]);
        assert_eq!(
            read("expected: y\nerror: x").unwrap_err(),
            ["2: a test that expects an `error` expects no template"]
        );
        assert_eq!(
            read("warning: nondeterminsm").unwrap_err(),
            ["1: there is no code `nondeterminsm`: did you mean `nondeterminism`?"]
        );
        assert_eq!(
            read("warning: whatever").unwrap_err(),
            ["1: there is no code `whatever`: `cuvee explain-code` lists all codes"]
        );
    }
}
