//! Reports all variants in one self-contained page: presets, topology, differences, and a
//! configurator.
//!
//! The page contains a solver, which the configurator queries about the clauses of the template, so
//! every answer is exact. If an input cannot stay open, there are no such clauses; then the page
//! says so and has no configurator.

mod facts;
mod hidden;
mod instance;
mod parts;
mod plans;
mod template;
mod texts;
mod ways;
mod words;
mod writing;

use self::hidden::{PageSecrets, PageSource};
use self::instance::PageInstance;
pub use self::instance::ReportedInstance;
use self::parts::PlanParts;
use self::plans::{Plans, PresetVariant};
use self::template::{ElementReport, TemplateReport};
use self::texts::Texts;
use self::words::PlanWords;
use self::writing::Writing;
use crate::diagnostic::{Code, Diagnostics};
use crate::draw::{Drawing, State, Svg};
use crate::explore::explain::{self, Currents};
use crate::explore::matrix::{self, Matrix};
use crate::explore::outline::Outline;
use crate::explore::{Clauses, Configuration, InputsReport, Space, TypedValues, configure};
use crate::parallel::beside;
use crate::tosca::csar::TEMPLATE_NAMES;
use crate::variability::choice::Choice;
use crate::variability::emit;
use crate::variability::graph::Graph;
use crate::variability::inputs::InputMode;
use crate::variability::prepared::{Interpreted, Prepared};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use cuvee_sat::progress::Progress;
use cuvee_text::answer::Failure;
use cuvee_text::yaml::{Out, write_line};
use memchr::memchr2;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::Path;

const TEMPLATE: &str = include_str!("template.html");
const STYLE: &str = include_str!("style.css");
const SCRIPTS: [&str; 4] = [
    include_str!("solver.js"),
    include_str!("choices.js"),
    include_str!("planning.js"),
    include_str!("app.js"),
];

/// How many nodes and relations the page draws at most. Each takes some ten parts of a drawing, and a
/// browser needs seconds for these.
const DRAWN: usize = 40_000;

/// How many elements the configurator is for at most. With more, a browser needs minutes until it has
/// read their clauses.
const CONFIGURED: usize = 200_000;

/// The data from which the page generates everything that it shows.
#[derive(Clone, Debug, Serialize)]
struct Data {
    version: u32,
    title: String,
    template: String,
    description: Option<String>,
    generator: String,
    /// The command line that flags for inputs are appended to.
    command: Vec<String>,
    presets: Vec<Preset>,
    /// The text that each choice resolves to, as far as the page can compute it.
    writing: Option<Writing>,
    /// The resolved text of those presets for which `writing` does not give it.
    resolved: Texts,
    elements: Vec<ElementReport>,
    inputs: Vec<Input>,
    cnf: Option<Clauses>,
    /// The reason why there are no clauses.
    inexact: Option<String>,
    plans: Plans,
    /// The instance, if one is shown.
    instance: Option<PageInstance>,
    svg: String,
    /// The reason why there is no drawing.
    undrawn: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct Preset {
    /// The name of the preset; `None` for the variant without a preset.
    id: Option<String>,
    description: Option<String>,
    /// The values of inputs, in the notation of the command line.
    inputs: BTreeMap<String, String>,
    /// The case of each open input.
    cases: Vec<Option<usize>>,
    /// The positions of the present elements.
    present: Vec<usize>,
    error: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct Input {
    name: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    description: Option<String>,
    default: Option<usize>,
    /// The expression that computes the value if none is assigned.
    follows: Option<String>,
    /// For each case, the literal that the expression has a value of this case.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    coming: Vec<i32>,
    typed: Option<TypedValues>,
    note: Option<String>,
    cases: Vec<PageCase>,
}

#[derive(Clone, Debug, Serialize)]
struct PageCase {
    label: String,
    /// A value of the case in the notation of the command line, if one is known.
    value: Option<String>,
    literal: i32,
}

/// The choice that a report is made for, and how it is shown.
pub(crate) struct ReportQuery<'q> {
    pub(crate) choice: &'q Choice,
    /// The words of the command line that flags for inputs are appended to.
    pub(crate) command: &'q [String],
    pub(crate) instance: Option<&'q ReportedInstance<'q>>,
    /// Whether the page shows secrets.
    pub(crate) reveal: bool,
}

/// The report as HTML; see [`Resolver::report`](crate::Resolver::report).
///
/// # Errors
/// The errors of the template that do not depend on inputs.
pub(crate) fn report(
    interpreted: &Interpreted<'_>,
    query: &ReportQuery<'_>,
    progress: &mut dyn Progress,
) -> Result<String, Diagnostics> {
    let ReportQuery { choice, command, instance, reveal } = *query;
    let prepared = Prepared::of(interpreted, choice, InputMode::Open, progress)?;
    progress.phase("resolving presets");
    let mut chosen: Vec<Option<(Currents, BTreeMap<String, String>)>> = Vec::new();
    let mut look = |prepared: Option<&Prepared<'_>>| {
        chosen.push(prepared.map(|prepared| {
            let currents = explain::currents(prepared);
            let written = configure::written(prepared, &currents);
            (currents, written)
        }));
    };
    // Secrets are looked for behind the search for the first variant, which takes as much memory.
    let source = OnceCell::new();
    let secrets_of_page =
        || PageSecrets::of(source.get_or_init(|| PageSource::of(interpreted, choice)));
    let mut secrets = None;
    let is_alone = prepared.presets.iter().next().is_none();
    let mut texts = Vec::new();
    let mut variants = Vec::new();
    let mut read = |document: Option<&Out<'_>>| {
        texts.push(document.map(|document| match reveal {
            true => emit::text(document),
            false => secrets.get_or_insert_with(secrets_of_page).text(document),
        }));
        let variant = document.and_then(|it| PresetVariant::of(it, &prepared.graph, is_alone));
        variants.push(variant);
    };
    let (matrix, _) = matrix::columns(interpreted, choice, &prepared, &mut look, &mut read);
    let mut secrets = secrets.or_else(|| (!reveal).then(secrets_of_page));
    let (currents, written): (Vec<_>, Vec<_>) = chosen.into_iter().map(Option::unzip).unzip();
    let undrawn = undrawn(&prepared.graph);
    let outline = (undrawn.is_none() || instance.is_some())
        .then(|| Outline::of(&prepared.graph, prepared.sources()));
    let drawn = outline.as_ref().filter(|_| undrawn.is_none());
    let svg = || {
        let drawing = drawn.map(|outline| Drawing::with(outline, |_| State::Plain));
        drawing.map(|it| it.to_svg(&Svg { style: false, legend: false })).unwrap_or_default()
    };
    let mut words = PlanWords::default();
    let (configured, svg) = beside(svg, |svg| {
        let secrets = (&mut words, &mut secrets);
        (Configured::of(&prepared, choice, &currents, secrets, progress), svg())
    });
    let Configured { configuration, inputs, inexact, writing, parts } = configured?;
    // What is known of the whole template takes as much memory as the page, and is not needed for it.
    let mask = secrets.map(PageSecrets::into_mask);
    drop(source);
    let literals = configuration.as_ref().map_or(&[][..], |configuration| &configuration.elements);
    let template = TemplateReport::of(&prepared, literals);
    drop(prepared);
    let preset = |column: &matrix::Column| match &column.preset {
        Some(preset) => choice.with_preset(preset),
        None => choice.clone(),
    };
    let choices: Vec<_> = matrix.columns.iter().map(preset).collect();
    let presets = columns(&matrix, written, configuration.as_ref());
    drop(matrix);
    progress.phase("writing");
    let plans = Plans::of(interpreted.loaded, &choices, &variants, (words, parts));
    let mut data = Data {
        version: 1,
        title: title(&template),
        template: template.path.clone(),
        description: template.description.clone(),
        generator: format!("cuvee {}", env!("CARGO_PKG_VERSION")),
        command: command.to_vec(),
        presets,
        writing,
        resolved: Texts::default(),
        elements: template.elements,
        inputs,
        cnf: configuration.map(|configuration| configuration.clauses),
        inexact,
        plans,
        instance: instance.zip(outline.as_ref()).map(|(of, it)| PageInstance::of(of, it)),
        svg,
        undrawn,
    };
    if let Some(mask) = &mask {
        mask.hide_data(&mut data);
        // Inputs were not known yet when they were written.
        texts.iter_mut().flatten().for_each(|text| mask.hide(text));
    }
    data.resolved = untold(&data, texts);
    Ok(page(&data))
}

/// Why the page does not draw a topology; `None` if it does.
fn undrawn(graph: &Graph<'_>) -> Option<String> {
    let (nodes, relations) = (graph.nodes.len(), graph.relations.len());
    (nodes + relations > DRAWN).then(|| {
        format!(
            "A page draws at most {DRAWN} nodes and relations, and these are {}: `cuvee graph` draws them all.",
            nodes + relations
        )
    })
}

/// The data of the configurator.
#[derive(Default)]
struct Configured {
    configuration: Option<Configuration>,
    inputs: Vec<Input>,
    /// The reason why there is no configuration.
    inexact: Option<String>,
    /// The text that each choice resolves to.
    writing: Option<Writing>,
    /// The parts that all plans consist of, or the reason why they are missing.
    parts: Option<Result<PlanParts, String>>,
}

impl Configured {
    fn of(
        prepared: &Prepared<'_>,
        choice: &Choice,
        currents: &[Option<Currents>],
        (words, secrets): (&mut PlanWords, &mut Option<PageSecrets<'_, '_>>),
        progress: &mut dyn Progress,
    ) -> Result<Self, Diagnostics> {
        let elements = prepared.graph.elements.len();
        let mut without = |inexact| {
            if let Some(secrets) = secrets.as_mut() {
                secrets.learn_inputs(prepared, &[], currents);
            }
            Self { inexact: Some(inexact), ..Self::default() }
        };
        if elements > CONFIGURED {
            let inexact = format!(
                "It has {elements} elements, and a page configures at most {CONFIGURED}: `cuvee inputs`, `cuvee variants` and `cuvee explain` answer for it."
            );
            return Ok(without(inexact));
        }
        let mut space = match Space::of(prepared, true, progress) {
            Ok(space) => space,
            Err(errors) => {
                let Diagnostics(errors) =
                    prepared.answer::<()>(Err(errors)).err().unwrap_or_default();
                if errors.iter().any(|error| error.code != Code::OpenInput) {
                    return Err(Diagnostics(errors));
                }
                let sources = prepared.sources().clone();
                return Ok(without(Failure { diagnostics: errors, sources }.to_string()));
            }
        };
        let configuration = space.configuration(currents);
        if let Some(secrets) = secrets {
            secrets.learn_inputs(prepared, &configuration.inputs, currents);
        }
        let inputs = configurable(&configuration, space.inputs_apart(progress)?);
        progress.phase("planning");
        let open = writing::open_document(prepared, &configuration.inputs, currents);
        let (writing, parts) = open
            .and_then(|mut open| {
                let parts = PlanParts::of(prepared, choice, &mut open, words);
                if let Some(secrets) = secrets {
                    open.document = secrets.document(&open.document);
                }
                let (mut writing, numbers) = Writing::of(prepared, &open, &configuration.inputs)?;
                if let Some(secrets) = secrets {
                    secrets.hide_writing(&mut writing, &configuration.inputs);
                }
                Some((writing, parts.map(|parts| parts.numbered(&numbers))))
            })
            .unzip();
        Ok(Self { configuration: Some(configuration), inputs, inexact: None, writing, parts })
    }
}

/// The open inputs with their descriptions.
fn configurable(configuration: &Configuration, described: InputsReport) -> Vec<Input> {
    let mut described: BTreeMap<_, _> =
        described.inputs.into_iter().map(|input| (input.name.clone(), input)).collect();
    let input = |open: &crate::explore::Configurable| {
        let report = described.remove(&open.name);
        let note =
            report.as_ref().filter(|report| report.influences.is_empty()).map(
                |report| match report.values.is_empty() {
                    true => "decides about no element",
                    false => "changes only values of properties",
                },
            );
        let case = |(case, &literal): (&crate::explore::CaseReport, &i32)| PageCase {
            label: case.label.clone(),
            value: case.value.as_ref().map(write_line),
            literal,
        };
        Input {
            name: open.name.clone(),
            kind: report.as_ref().and_then(|report| report.kind.clone()),
            description: report.as_ref().and_then(|report| report.description.clone()),
            default: open.default,
            follows: open.computed.clone(),
            coming: open.follows.clone(),
            typed: open.typed.clone(),
            note: note.map(str::to_owned),
            cases: open.cases.iter().zip(&open.literals).map(case).collect(),
        }
    };
    configuration.inputs.iter().map(input).collect()
}

/// The title of the template: its own, or else its file name. If the file has one of the usual
/// template names, the name of its directory is used instead.
fn title(template: &TemplateReport) -> String {
    let path = Path::new(&template.path);
    let is_usual =
        path.file_name().is_some_and(|name| TEMPLATE_NAMES.iter().any(|usual| name == *usual));
    let named = if is_usual { path.parent().and_then(Path::file_name) } else { None };
    let name = named.or_else(|| path.file_stem()).map(|name| name.to_string_lossy().into_owned());
    template.title.clone().or(name).unwrap_or_default()
}

fn columns(
    matrix: &Matrix,
    written: Vec<Option<BTreeMap<String, String>>>,
    configuration: Option<&Configuration>,
) -> Vec<Preset> {
    let column = |((index, column), written): ((usize, &matrix::Column), Option<_>)| Preset {
        id: column.preset.clone(),
        description: column.description.clone(),
        inputs: written.unwrap_or_default(),
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
    matrix.columns.iter().enumerate().zip(written).map(column).collect()
}

/// The resolved texts of presets for which the page cannot compute the same text from its pieces.
fn untold(data: &Data, texts: Vec<Option<String>>) -> Texts {
    let Data { presets, writing, inputs, .. } = data;
    let mut resolved = Texts::default();
    for (preset, text) in presets.iter().zip(texts) {
        let value = |input: usize| preset.inputs.get(&inputs.get(input)?.name).map(String::as_str);
        let told = writing.as_ref().and_then(|writing| writing.text(&preset.present, &value));
        resolved.add(text.filter(|text| told.as_ref() != Some(text)).as_deref());
    }
    resolved
}

/// The HTML page with its data.
fn page(data: &Data) -> String {
    let script = SCRIPTS.concat();
    let hash = format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(script.as_bytes())));
    let parts: [(&str, &str); 5] = [
        ("title", &escaped(&data.title)),
        ("generator", &escaped(&data.generator)),
        ("hash", &hash),
        ("style", &[crate::draw::STYLE, STYLE].concat()),
        ("script", &script),
    ];
    let (before, after) = TEMPLATE.split_once("{{data}}").unwrap_or((TEMPLATE, ""));
    let mut page = filled(before, &parts);
    // Strings, numbers, lists and maps with string keys can always be serialised.
    let _ = serde_json::to_writer(ScriptWriter(&mut page), data);
    page.push_str(&filled(after, &parts));
    page
}

/// Writes JSON into a script element of a page, without a text of its own in between.
struct ScriptWriter<'p>(&'p mut String);

impl io::Write for ScriptWriter<'_> {
    /// Appends a piece of JSON. The serialiser never divides a character.
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(json).map_err(io::Error::other)?;
        push_in_script(self.0, text);
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Appends JSON to a script element. Nothing may look like the end of the element or like a comment,
/// and in old versions of JavaScript two line separators end a string.
fn push_in_script(page: &mut String, json: &str) {
    let mut rest = json;
    let mut from = 0;
    // In UTF-8 both separators begin with this byte, so the search skips everything else.
    while let Some(at) = memchr2(b'<', 0xe2, &rest.as_bytes()[from..]).map(|at| from + at) {
        let special = rest[at..].chars().next().unwrap_or_default();
        from = at + special.len_utf8();
        if matches!(special, '<' | '\u{2028}' | '\u{2029}') {
            page.push_str(&rest[..at]);
            let _ = write!(page, "\\u{:04x}", u32::from(special));
            (rest, from) = (&rest[from..], 0);
        }
    }
    page.push_str(rest);
}

/// Replaces each `{{name}}` in a template by the part of that name. It does so in a single pass,
/// because parts may look like templates.
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
    fn a_template_has_a_name() {
        let named = |path: &str, name: Option<&str>| {
            let (path, name) = (path.to_owned(), name.map(str::to_owned));
            title(&TemplateReport { title: name, description: None, path, elements: Vec::new() })
        };
        assert_eq!(named("a/shop.yaml", None), "shop");
        assert_eq!(named("a/shop/variable-service-template.yaml", None), "shop");
        assert_eq!(named("template.yaml", None), "template");
        assert_eq!(named("a/b/template.yaml", Some("tea")), "tea");
    }

    /// On the page, as in drawings, a colour stands for one state.
    #[test]
    fn colours_are_those_of_drawings() {
        let (light, dark) = crate::draw::STYLE.split_once("@media").unwrap_or_default();
        let drawn = |sheet: &str, state: &str, part: &str| {
            let (_, rest) = sheet.split_once(&format!("--{state}-{part}: ")).unwrap_or_default();
            rest.split(';').next().unwrap_or_default().to_owned()
        };
        for state in ["present", "added", "removed", "changed", "failed"] {
            for (own, part) in [("", "line"), ("-soft", "fill")] {
                let (light, dark) = (drawn(light, state, part), drawn(dark, state, part));
                let line = format!("--{state}{own}: light-dark({light}, {dark});");
                assert!(STYLE.contains(&line), "{line}");
            }
        }
    }

    #[test]
    fn parts_are_not_templates() {
        assert_eq!(
            filled("a {{x}} b {{y}} {{z}}", &[("x", "{{y}}"), ("y", "1")]),
            "a {{y}} b 1 {{z}}"
        );
    }

    #[test]
    fn data_ends_no_script() {
        let json = "{\"a\":\"</script>\u{2028}x\u{2029}<!--\"}";
        let safe = "{\"a\":\"\\u003c/script>\\u2028x\\u2029\\u003c!--\"}";
        let in_script = |json: &str| {
            let mut page = "<script>".to_owned();
            push_in_script(&mut page, json);
            page
        };
        assert_eq!(in_script(json), format!("<script>{safe}"));
        assert_eq!(in_script("[1,2]"), "<script>[1,2]");
        let mut page = String::new();
        serde_json::to_writer(ScriptWriter(&mut page), "é</script>\u{2028}").unwrap();
        assert_eq!(page, "\"é\\u003c/script>\\u2028\"");
    }

    #[test]
    fn scripts_end_nowhere() {
        assert!(!SCRIPTS.concat().contains("</"), "a script must not close its element");
    }
}
