//! Answers what editors ask about variants: commands, whose answers are texts for people or data for
//! an extension, and lenses, which offer some of them where presets are written.

use super::documents::SERVICE_KEYS;
use super::place;
use super::protocol::{Encoding, Position, Range};
use crate::cli::args::Elements;
use crate::cli::{explain, matrix, variants};
use cuvee::Resolver;
use cuvee::editor::{self, TemplateAnalysis};
use cuvee::explore::outline::ElementPlace;
use cuvee::explore::{ElementKind, Query};
use cuvee::output::draw::{Drawing, Svg};
use cuvee::parts::yaml::{Limits, Node, NodeKind, parse};
use cuvee::source::{FileId, SourceMap, Span};
use serde::Deserialize;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The request that runs a command.
pub(super) const EXECUTE: &str = "workspace/executeCommand";

/// The request for lenses.
pub(super) const LENSES: &str = "textDocument/codeLens";

/// The version of what an extension may ask beyond the protocol; it grows when a part is removed or
/// changes its meaning.
pub(super) const VERSION: u32 = 2;

/// The commands.
const COMMANDS: [&str; 6] = [
    "cuvee.explain",
    "cuvee.graph",
    "cuvee.matrix",
    "cuvee.presets",
    "cuvee.resolve",
    "cuvee.template",
];

/// How many steps counting for a lens may take.
const EFFORT: u64 = 200_000;

/// What the server says that it can do.
pub(super) fn capabilities() -> Value {
    json!({
        "executeCommandProvider": { "commands": COMMANDS },
        "codeLensProvider": {},
        "experimental": { "cuvee": VERSION },
    })
}

/// What a command is about.
#[derive(Deserialize)]
pub(super) struct CommandSubject {
    /// The template.
    pub uri: String,
    /// The chosen preset.
    preset: Option<String>,
    /// The cursor.
    position: Option<Position>,
}

impl CommandSubject {
    /// The subject in the parameters of a request to run a command.
    pub(super) fn of(params: &Value) -> Option<Self> {
        serde_json::from_value(params.pointer("/arguments/0")?.clone()).ok()
    }
}

/// A request about the variants of a template.
pub(super) struct VariantsQuestion<'q> {
    pub resolver: Resolver,
    pub file: &'q Path,
    pub text: &'q str,
    pub params: &'q Value,
    pub encoding: Encoding,
}

impl VariantsQuestion<'_> {
    /// Answers the question.
    ///
    /// # Errors
    /// Why there is no answer, for people.
    pub(super) fn answer(&self, method: &str) -> Result<Value, String> {
        if method == LENSES {
            return Ok(self.lenses());
        }
        let command = self.params.get("command").and_then(Value::as_str).unwrap_or_default();
        let subject = CommandSubject::of(self.params).ok_or("the command names no template")?;
        let chosen = self.resolver.clone().only_presets(&subject.preset);
        let answer = match command {
            "cuvee.explain" => self.explained(&chosen, subject.position)?,
            "cuvee.graph" => {
                let outline = chosen.outline().map_err(told)?;
                let variant = subject.preset.map(|_| chosen.resolve().map_err(told)).transpose()?;
                let drawing = match &variant {
                    Some(variant) => Drawing::of_variant(&outline, variant),
                    None => Drawing::of(&outline),
                };
                let drawing = if drawing.is_large() { drawing.collapsed() } else { drawing };
                drawing.to_svg(&Svg::default())
            }
            "cuvee.matrix" => {
                let mut found = self.resolver.matrix().map_err(told)?;
                found.rows.retain(|row| row.kind == ElementKind::Node);
                matrix::markdown(&found, Elements::Nodes)
            }
            "cuvee.presets" => {
                return Ok(self.resolver.preset_names().map_err(told)?.into());
            }
            "cuvee.template" => {
                let template =
                    |analysis: &TemplateAnalysis<'_>| analysis.template().map(place::uri_of);
                let why = || format!("`{}` has no template that can be read", self.file.display());
                self.resolver.analysis(None, template).ok_or_else(why)?
            }
            "cuvee.resolve" => chosen.resolve().map_err(told)?.to_yaml().to_owned(),
            _ => return Err(format!("there is no command `{command}`")),
        };
        Ok(answer.into())
    }

    /// Why the element at a cursor is present or absent.
    fn explained(&self, chosen: &Resolver, cursor: Option<Position>) -> Result<String, String> {
        let cursor = cursor.ok_or("the command has no position")?;
        let offset = editor::offset(self.text, cursor, self.encoding);
        let is_here = |span: Span| (span.start as usize) <= offset && offset <= (span.end as usize);
        let (places, sources) = places(chosen)?;
        let is_here = |span: Span| sources.file(span.file).path() == self.file && is_here(span);
        let here = places.iter().filter(|(_, span)| is_here(*span));
        let innermost = here.min_by_key(|(_, span)| span.end - span.start);
        let (place, _) = innermost.ok_or("no element of the template is at the cursor")?;
        let explanation = chosen.explain(&place.identifier).map_err(told)?.result;
        Ok(format!("```text\n{}```\n", explain::human(&explanation, explain::DEPTH)))
    }

    /// The file alone.
    fn sources(&self) -> (SourceMap, FileId) {
        let sources = SourceMap::default();
        let file = sources.add(self.file, self.text);
        (sources, file)
    }

    /// A lens above each preset, and one above the variability section.
    fn lenses(&self) -> Value {
        let (sources, file) = self.sources();
        let Ok(document) = parse(file, self.text.into(), &Limits::default()) else {
            return json!([]);
        };
        let uri = place::uri_of(self.file);
        let lens = |at: Node<'_>, title: &str, command: &str, preset: Option<&str>| {
            let subject = match preset {
                Some(preset) => json!({ "uri": uri, "preset": preset }),
                None => json!({ "uri": uri }),
            };
            json!({
                "range": editor::range(&sources, at.span(), self.encoding),
                "command": { "title": title, "command": command, "arguments": [subject] },
            })
        };
        let topology = SERVICE_KEYS.iter().find_map(|key| document.root().get(key));
        let section =
            topology.and_then(|it| it.entries().find(|(key, _)| key.text() == Some("variability")));
        let Some((key, variability)) = section else { return json!([]) };
        let query = Query { effort: EFFORT, ..Query::default() };
        let count = self.resolver.count_variants(&query).ok();
        let count = count.map(|answer| variants::amount(&answer.result));
        let mut lenses: Vec<Value> =
            count.iter().map(|title| lens(key, title, "cuvee.matrix", None)).collect();
        for (key, _) in variability.get("presets").into_iter().flat_map(Node::entries) {
            let name = key.text();
            lenses.push(lens(key, "show variant", "cuvee.resolve", name));
            lenses.push(lens(key, "show graph", "cuvee.graph", name));
        }
        lenses.into()
    }
}

/// What the chosen variant does not have: ranges by file, in order, none of them in another one.
///
/// # Errors
/// Why there is no such variant, for people.
pub(super) fn absent(chosen: &Resolver, encoding: Encoding) -> Result<Value, String> {
    let (places, sources) = places(chosen)?;
    let spans = places.iter().filter(|(place, _)| !place.present).map(|(_, span)| *span);
    let mut spans: Vec<Span> = spans.collect();
    spans.sort_unstable_by_key(|span| (span.file, span.start, Reverse(span.end)));
    let is_inner = |span: &Span, around: &Span| span.file == around.file && span.end <= around.end;
    spans.dedup_by(|span, around| is_inner(span, around));
    let mut absent: BTreeMap<&Path, Vec<Range>> = BTreeMap::new();
    for span in spans {
        let ranges = absent.entry(sources.file(span.file).path()).or_default();
        ranges.push(editor::range(&sources, span, encoding));
    }
    Ok(json!(absent))
}

/// The elements of a template, each with all of its text.
fn places(chosen: &Resolver) -> Result<(Vec<(ElementPlace, Span)>, SourceMap), String> {
    let found = chosen.element_places().map_err(told)?;
    let mut texts: HashMap<FileId, HashMap<u32, Span>> = HashMap::new();
    let mut whole = |place: ElementPlace| {
        let file = place.span.file;
        let texts = texts.entry(file).or_insert_with(|| {
            let text = found.sources.file(file).text().clone();
            let mut texts = HashMap::new();
            let parsed = parse(file, text, &Limits::default());
            parsed.iter().for_each(|document| gather(document.root(), &mut texts));
            texts
        });
        let span = texts.get(&place.span.start).copied().unwrap_or(place.span);
        (place, span)
    };
    let places = found.result.into_iter().map(&mut whole).collect();
    Ok((places, found.sources))
}

/// Gathers where the text of each entry and each item ends, by where it begins. Of those that begin
/// at the same place, the one around the others counts.
fn gather(node: Node<'_>, texts: &mut HashMap<u32, Span>) {
    let mut add = |start: Span, end: Span| {
        texts.entry(start.start).or_insert(Span { end: end.end.max(start.end), ..start });
    };
    match node.kind() {
        NodeKind::Mapping => node.entries().for_each(|(key, value)| add(key.span(), value.span())),
        NodeKind::Sequence => node.items().for_each(|item| add(item.span(), item.span())),
        _ => {}
    }
    node.entries().for_each(|(_, value)| gather(value, texts));
    node.items().for_each(|item| gather(item, texts));
}

fn told(failure: cuvee::Failure) -> String {
    failure.to_string()
}
