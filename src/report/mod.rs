//! A report of all variants in one self-contained page: presets, topology, differences, and a
//! configurator.
//!
//! The configurator asks a solver of its own, in the page, about the clauses of the template, so
//! that every answer is exact. Where a template has no such clauses, because an input cannot stay
//! open, the page says so and has none.

mod template;

use self::template::{ElementReport, TemplateReport};
use crate::Failure;
use crate::Resolver;
use crate::draw::{Drawing, State, Svg};
use crate::explore::matrix::Matrix;
use crate::explore::{Clauses, Configuration};
use crate::text::diagnostic::Code;
use crate::text::yaml::write_line;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

const TEMPLATE: &str = include_str!("template.html");
const STYLE: &str = include_str!("style.css");
const SCRIPTS: [&str; 3] =
    [include_str!("solver.js"), include_str!("choices.js"), include_str!("app.js")];

/// What the page knows; everything that it shows is made of it.
#[derive(Clone, Debug, Serialize)]
struct Data {
    version: u32,
    title: String,
    template: String,
    description: Option<String>,
    generator: String,
    /// The words of a command line that inputs are added to.
    command: Vec<String>,
    presets: Vec<Preset>,
    elements: Vec<Element>,
    inputs: Vec<Input>,
    cnf: Option<Clauses>,
    /// Why there are no clauses.
    inexact: Option<String>,
    svg: String,
}

#[derive(Clone, Debug, Serialize)]
struct Preset {
    /// Nothing for the variant without a preset.
    id: Option<String>,
    description: Option<String>,
    /// The values of inputs, as a command line takes them.
    inputs: BTreeMap<String, String>,
    /// The case of each open input.
    cases: Vec<Option<usize>>,
    /// Positions of elements.
    present: Vec<usize>,
    error: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct Element {
    #[serde(flatten)]
    report: ElementReport,
    /// Where it is in the clauses.
    literal: Option<i32>,
}

#[derive(Clone, Debug, Serialize)]
struct Input {
    name: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    description: Option<String>,
    default: Option<usize>,
    /// The expression that decides where nothing is assigned.
    follows: Option<String>,
    note: Option<String>,
    cases: Vec<Case>,
}

#[derive(Clone, Debug, Serialize)]
struct Case {
    label: String,
    /// One of its values, as a command line takes it.
    value: String,
    literal: i32,
}

impl Resolver {
    /// The report as HTML. What is chosen is fixed in it; other inputs can be configured.
    ///
    /// `command` are the words of the command line that the page adds inputs to, such as `cuvee
    /// resolve shop.yaml`.
    ///
    /// ```
    /// let page = cuvee::Resolver::new("examples/shop").report(&["cuvee".into(), "resolve".into(), "shop".into()])?;
    /// assert!(page.starts_with("<!doctype html>"));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// A [`Failure`] where the template is wrong whatever its inputs are.
    pub fn report(&self, command: &[String]) -> Result<String, Failure> {
        let template = self.template_report()?;
        let (matrix, _) = self.all_columns()?;
        let presets = matrix.columns.iter().map(|column| {
            column.preset.iter().fold(self.clone(), |all, preset| all.preset(preset))
        });
        let presets: Vec<_> = presets.collect();
        let (configuration, inexact) = match self.configuration(&presets) {
            Ok(answer) => (Some(answer.result), None),
            Err(failure)
                if failure.diagnostics.iter().all(|error| error.code == Code::OpenInput) =>
            {
                (None, Some(failure.to_string()))
            }
            Err(failure) => return Err(failure),
        };
        let svg = Drawing::with(&self.topology()?, |_| State::Plain)
            .to_svg(&Svg { style: false, legend: false });
        let inputs = configuration
            .as_ref()
            .map_or(Ok(Vec::new()), |configuration| self.configurable(configuration))?;
        let literals =
            configuration.as_ref().map_or(&[][..], |configuration| &configuration.elements);
        Ok(page(&Data {
            version: 1,
            title: title(&template),
            template: template.path.clone(),
            description: template.description.clone(),
            generator: format!("cuvee {}", env!("CARGO_PKG_VERSION")),
            command: command.to_vec(),
            presets: columns(&matrix, &presets, configuration.as_ref()),
            elements: elements(&template, literals),
            inputs,
            cnf: configuration.map(|configuration| configuration.clauses),
            inexact,
            svg,
        }))
    }

    /// The open inputs with all that is to be said of them.
    fn configurable(&self, configuration: &Configuration) -> Result<Vec<Input>, Failure> {
        let described = self.input_report()?.result.inputs;
        let mut described = described
            .into_iter()
            .map(|input| (input.name.clone(), input))
            .collect::<BTreeMap<_, _>>();
        let input = |open: &crate::explore::Configurable| {
            let report = described.remove(&open.name);
            let note =
                report.as_ref().filter(|report| report.influences.is_empty()).map(|report| {
                    if report.values.is_empty() {
                        "decides about no element"
                    } else {
                        "changes only values of properties"
                    }
                });
            let case = |(case, &literal): (&crate::explore::CaseReport, &i32)| Case {
                label: case.label.clone(),
                value: case.value.as_ref().map(write_line).unwrap_or_default(),
                literal,
            };
            Input {
                name: open.name.clone(),
                kind: report.as_ref().and_then(|report| report.kind.clone()),
                description: report.as_ref().and_then(|report| report.description.clone()),
                default: open.default,
                follows: open.computed.clone(),
                note: note.map(str::to_owned),
                cases: open.cases.iter().zip(&open.literals).map(case).collect(),
            }
        };
        Ok(configuration.inputs.iter().map(input).collect())
    }
}

/// The name that the template has, or else its file.
fn title(template: &TemplateReport) -> String {
    let file = || {
        std::path::Path::new(&template.path)
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
    };
    template.title.clone().or_else(file).unwrap_or_default()
}

fn elements(template: &TemplateReport, literals: &[(String, i32)]) -> Vec<Element> {
    let literals =
        literals.iter().map(|(_, literal)| Some(*literal)).chain(std::iter::repeat(None));
    template
        .elements
        .iter()
        .zip(literals)
        .map(|(report, literal)| Element { report: report.clone(), literal })
        .collect()
}

fn columns(
    matrix: &Matrix,
    presets: &[Resolver],
    configuration: Option<&Configuration>,
) -> Vec<Preset> {
    let column = |(index, column): (usize, &crate::explore::matrix::Column)| Preset {
        id: column.preset.clone(),
        description: column.description.clone(),
        inputs: presets.get(index).map(Resolver::written_inputs).unwrap_or_default(),
        cases: configuration
            .and_then(|configuration| configuration.chosen.get(index).cloned())
            .unwrap_or_default(),
        present: matrix
            .rows
            .iter()
            .enumerate()
            .filter(|(_, row)| row.present[index] == Some(true))
            .map(|(row, _)| row)
            .collect(),
        error: (!column.rejected.is_empty()).then(|| column.rejected.join("\n")),
    };
    matrix.columns.iter().enumerate().map(column).collect()
}

/// The page with its data.
fn page(data: &Data) -> String {
    let script = SCRIPTS.concat();
    let hash = format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(script.as_bytes())));
    // Strings, numbers, lists and maps with string keys can always be written.
    let json = serde_json::to_string(data).unwrap_or_default();
    let parts: [(&str, &str); 6] = [
        ("title", &escaped(&data.title)),
        ("generator", &escaped(&data.generator)),
        ("hash", &hash),
        ("style", &[crate::draw::STYLE, STYLE].concat()),
        // In a script element nothing may look like its end or like a comment.
        (
            "data",
            &json
                .replace('<', "\\u003c")
                .replace('\u{2028}', "\\u2028")
                .replace('\u{2029}', "\\u2029"),
        ),
        ("script", &script),
    ];
    filled(TEMPLATE, &parts)
}

/// A template with `{{name}}` replaced by the part of that name, in one pass: parts may look like
/// templates themselves.
fn filled(template: &str, parts: &[(&str, &str)]) -> String {
    let mut page = String::with_capacity(
        template.len() + parts.iter().map(|(_, part)| part.len()).sum::<usize>(),
    );
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        page.push_str(before);
        match after
            .split_once("}}")
            .and_then(|(name, after)| Some((parts.iter().find(|part| part.0 == name)?.1, after)))
        {
            Some((part, after)) => {
                page.push_str(part);
                rest = after;
            }
            None => {
                page.push_str("{{");
                rest = after;
            }
        }
    }
    page.push_str(rest);
    page
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_not_templates() {
        assert_eq!(
            filled("a {{x}} b {{y}} {{z}}", &[("x", "{{y}}"), ("y", "1")]),
            "a {{y}} b 1 {{z}}"
        );
    }

    #[test]
    fn scripts_end_nowhere() {
        assert!(!SCRIPTS.concat().contains("</"), "a script must not close its element");
    }
}
