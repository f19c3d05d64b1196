//! Reads a question, and answers it.

use crate::diagnostics::{placed, text};
use cuvee::diagnostic::{Code, Diagnostic};
use cuvee::editor::{self, CompletedWord, Encoding, Position, Suggestion, SuggestionKind};
use cuvee::explore::{Answer, ElementKind, Query, WantedVariants};
use cuvee::options::clock;
use cuvee::output::draw::{Drawing, Svg};
use cuvee::output::json::{FindingsDocument, NamedDiff, TypesOfName, VERSION};
use cuvee::source::{SourceMap, Span};
use cuvee::topology::diff::diff;
use cuvee::validate::{Stage, Validation};
use cuvee::{Failure, Resolution, Resolver};
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A question with all that it may say; each kind looks at what concerns it.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Question {
    ask: String,
    // What is chosen.
    presets: Vec<String>,
    inputs: Vec<(String, String)>,
    input_files: Vec<String>,
    options: Vec<(String, String)>,
    now: Option<String>,
    non_normative: bool,
    portable: bool,
    // Of questions about variants.
    r#where: Vec<String>,
    projection: Option<String>,
    limit: Option<usize>,
    effort: Option<u64>,
    sample: Option<u64>,
    seed: u64,
    twise: Option<usize>,
    minimize: Option<String>,
    all_presets: bool,
    // Of one question each.
    element: String,
    nodes_only: bool,
    name: Option<String>,
    from: Option<String>,
    to: Option<String>,
    format: String,
    present_only: bool,
    path: Option<PathBuf>,
    position: Option<Position>,
}

impl Question {
    /// Answers the question in JSON.
    pub(crate) fn answer(
        &self,
        resolver: Resolver,
        template: &str,
        query: &Query,
    ) -> Result<String, Failure> {
        let plain = resolver.clone();
        let resolver = self.chosen(resolver)?;
        match &*self.ask {
            "resolve" => Ok(text(&Resolved::of(&resolver.resolve()?))),
            "resolved" => Ok(resolver.resolve()?.to_json()),
            "validate" => Ok(self.checked(&resolver)),
            "findings" => Ok(findings(template, &resolver.validate())),
            "variants" => self.variants(&resolver, query),
            "count" => document(resolver.count_variants(query)?),
            "explain" => document(resolver.explain(&self.element)?),
            "inputs" => document(resolver.input_report()?),
            "matrix" => self.matrix(&resolver),
            "types" => self.types(&resolver),
            "diff" => self.diff(&resolver),
            "graph" => self.graph(&resolver),
            "names" => Ok(text(&plain.names()?)),
            "complete" => Ok(self.complete(&plain)),
            "hover" => Ok(self.hover(&plain)),
            other => Err(wrong(format!("there is no question `{other}`"))),
        }
    }

    /// The resolver with what is chosen.
    fn chosen(&self, mut resolver: Resolver) -> Result<Resolver, Failure> {
        resolver = self.presets.iter().fold(resolver, Resolver::preset);
        resolver = self.input_files.iter().fold(resolver, Resolver::inputs_file);
        for (name, value) in &self.inputs {
            resolver = resolver.input_text(name, value);
        }
        for (name, value) in &self.options {
            resolver = resolver.option(name, value);
        }
        for condition in &self.r#where {
            resolver = resolver.only_where(condition);
        }
        if self.non_normative {
            resolver = resolver.non_normative_types();
        }
        if self.portable {
            resolver = resolver.portable();
        }
        match &self.now {
            None => Ok(resolver),
            Some(now) => match clock::parse(now, TimeZone::UTC) {
                Ok(now) => Ok(resolver.now(now)),
                // The words of the error are a hundredth of the module.
                Err(_) => Err(wrong(format!(
                    "`now` is no time: `{now}`; write one such as `2026-12-24T18:00+01:00`, with an offset instead of the name of a zone"
                ))),
            },
        }
    }

    /// What it asks of variants; what it says of them that makes no sense is wrong, whatever it asks.
    pub(crate) fn query(&self) -> Result<Query, Diagnostic> {
        let wanted = WantedVariants {
            projection: self.projection.as_deref(),
            limit: self.limit,
            effort: self.effort,
            sample: self.sample,
            seed: self.seed,
            cover: self.twise,
            minimize: self.minimize.as_deref(),
            all_presets: self.all_presets,
        };
        wanted.query()
    }

    fn variants(&self, resolver: &Resolver, query: &Query) -> Result<String, Failure> {
        match self.all_presets {
            true => Ok(pretty(&resolver.preset_variants(query.projection)?)),
            false => document(resolver.variants(query)?),
        }
    }

    fn matrix(&self, resolver: &Resolver) -> Result<String, Failure> {
        let mut matrix = resolver.matrix()?;
        matrix.rows.retain(|row| !self.nodes_only || row.kind == ElementKind::Node);
        Ok(pretty(&matrix))
    }

    fn types(&self, resolver: &Resolver) -> Result<String, Failure> {
        match &self.name {
            None => document(resolver.types()?),
            Some(name) => {
                let definitions = resolver.effective_types(name)?.result;
                Ok(pretty(&TypesOfName { definitions }))
            }
        }
    }

    /// The variants of what `from` and `to` name, on top of what is chosen for both.
    fn sides(&self, resolver: &Resolver) -> Result<[Resolution; 2], Failure> {
        let resolver = resolver.clone().load()?;
        let side = |names: &Option<String>| {
            let names = names.iter().flat_map(|names| names.split(','));
            names.fold(resolver.clone(), Resolver::preset).resolve()
        };
        Ok([side(&self.from)?, side(&self.to)?])
    }

    fn diff(&self, resolver: &Resolver) -> Result<String, Failure> {
        let [first, second] = self.sides(resolver)?;
        let diff = diff(&first.to_value(), &second.to_value());
        let (from, to) = (self.from.as_deref(), self.to.as_deref());
        Ok(pretty(&NamedDiff { from, to, diff: &diff }))
    }

    fn graph(&self, resolver: &Resolver) -> Result<String, Failure> {
        let resolver = resolver.clone().load()?;
        let outline = resolver.outline()?;
        let chooses =
            !(self.presets.is_empty() && self.inputs.is_empty() && self.input_files.is_empty());
        let drawing = if self.from.is_some() || self.to.is_some() {
            let [first, second] = self.sides(&resolver)?;
            Drawing::of_difference(&outline, &first, &second)
        } else if chooses || self.present_only {
            Drawing::of_variant(&outline, &resolver.resolve()?)
        } else {
            Drawing::of(&outline)
        };
        let drawing = if self.present_only { drawing.without_absent() } else { drawing };
        match &*self.format {
            "json" => Ok(pretty(&drawing)),
            "mermaid" => Ok(drawing.to_mermaid()),
            "dot" => Ok(drawing.to_dot()),
            "svg" if drawing.is_large() => Ok(drawing.collapsed().to_svg(&Svg::default())),
            "svg" => Ok(drawing.to_svg(&Svg::default())),
            other => Err(wrong(format!("no graph has the format `{other}`"))),
        }
    }

    /// What validating finds. Around a place at which somebody types, what is broken is repaired.
    fn checked(&self, resolver: &Resolver) -> String {
        let whole = |validation: Validation| {
            let is_valid = validation.is_valid(false);
            let diagnostics = placed(&validation.diagnostics, &validation.sources);
            text(&Checked { valid: is_valid, diagnostics })
        };
        let Some(near) = self.near(resolver) else { return whole(resolver.validate()) };
        let typed = resolver.validate_typed(Some((&near.path, near.offset)));
        let is_broken = |list: &[Diagnostic]| list.iter().any(|it| it.code == Code::Syntax);
        match typed.text() {
            Some(found) if is_broken(found) => {
                text(&Checked { valid: false, diagnostics: placed(found, typed.sources()) })
            }
            _ => match resolver.validate_until(Stage::Variants).into_validation() {
                Some(validation) => whole(validation),
                None => whole(resolver.validate()),
            },
        }
    }

    /// The place that the question is about, in a file that can be read.
    fn near(&self, resolver: &Resolver) -> Option<Near> {
        let (path, position) = (self.path.clone()?, self.position?);
        let text = resolver.analysis(None, |analysis| {
            let sources = analysis.sources();
            sources.find(&path).map(|file| sources.file(file).text().to_string())
        })?;
        let offset = editor::offset(&text, position, Encoding::Utf16);
        Some(Near { path, text, offset })
    }

    fn complete(&self, resolver: &Resolver) -> String {
        let Some(near) = self.near(resolver) else { return "null".to_owned() };
        let found = resolver.analysis(Some((&near.path, near.offset)), |analysis| {
            editor::complete(analysis, &near.path, &near.text, near.offset)
        });
        text(&Completed::of(&found, &near))
    }

    fn hover(&self, resolver: &Resolver) -> String {
        let Some(near) = self.near(resolver) else { return "null".to_owned() };
        resolver.analysis(Some((&near.path, near.offset)), |analysis| {
            let described = analysis.description(&near.path, near.offset);
            text(&described.map(|(span, markdown)| Hovered {
                range: editor::range(analysis.sources(), span, Encoding::Utf16),
                markdown,
            }))
        })
    }
}

/// A place at which somebody types.
struct Near {
    path: PathBuf,
    text: String,
    offset: usize,
}

#[derive(Serialize)]
struct Resolved<'r> {
    yaml: &'r str,
    presence: Vec<(String, bool)>,
    proven: bool,
    warnings: Vec<crate::diagnostics::PlacedDiagnostic<'r>>,
}

impl<'r> Resolved<'r> {
    fn of(resolution: &'r Resolution) -> Self {
        Self {
            yaml: resolution.to_yaml(),
            presence: resolution.presence().collect(),
            proven: resolution.is_proven(),
            warnings: placed(resolution.warnings(), resolution.source_map()),
        }
    }
}

#[derive(Serialize)]
struct Checked<'d> {
    valid: bool,
    diagnostics: Vec<crate::diagnostics::PlacedDiagnostic<'d>>,
}

#[derive(Serialize)]
struct Completed<'c> {
    range: editor::Range,
    suggestions: Vec<Suggested<'c>>,
}

#[derive(Serialize)]
struct Suggested<'c> {
    label: &'c str,
    kind: &'static str,
    insert: &'c str,
    detail: Option<&'c str>,
}

impl<'c> Completed<'c> {
    fn of(found: &'c CompletedWord, near: &Near) -> Self {
        let sources = SourceMap::default();
        let file = sources.add(&near.path, near.text.as_str());
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let span = Span { file, start: number(found.range.start), end: number(found.range.end) };
        let suggested = |it: &'c Suggestion| Suggested {
            label: &it.label,
            kind: match it.kind {
                SuggestionKind::Keyname => "keyname",
                SuggestionKind::Type => "type",
                SuggestionKind::Name => "name",
                SuggestionKind::Member => "member",
                SuggestionKind::Operator => "operator",
                SuggestionKind::Option => "option",
                _ => "value",
            },
            insert: &it.insert,
            detail: it.detail.as_deref(),
        };
        Self {
            range: editor::range(&sources, span, Encoding::Utf16),
            suggestions: found.suggestions.iter().map(suggested).collect(),
        }
    }
}

#[derive(Serialize)]
struct Hovered {
    range: editor::Range,
    markdown: String,
}

/// The document that `cuvee validate --format json` writes.
fn findings(template: &str, validation: &Validation) -> String {
    let found = cuvee::validate::found_once([(Path::new(template), validation)]);
    pretty(&FindingsDocument::of(found.into_iter().map(|(_, found)| found)))
}

/// The document that the command writes.
fn document<T: Serialize>(answer: Answer<T>) -> Result<String, Failure> {
    Ok(pretty(&answer.result))
}

/// The document of an answer that has keys, with the version before them. It is put in as text, since a
/// wrapper around each type would be a twentieth of the module.
fn pretty(result: &impl Serialize) -> String {
    let keys = text(result);
    format!("{{\n  \"version\": {VERSION},{}\n", keys.strip_prefix('{').unwrap_or(&keys))
}

/// A failure that has no place in a file.
fn wrong(message: String) -> Failure {
    Diagnostic::error(Code::Usage, message).into()
}
