//! The part of the Python package `cuvee` that is not written in Python: it asks the library, and
//! hands on the JSON that the command writes. What Python code sees is in `cuvee/__init__.py`.

mod work;

use cuvee::diagnostic::{Diagnostic, render};
use cuvee::explore::{Answer, ElementKind, Query, WantedVariants};
use cuvee::options::clock;
use cuvee::output::draw::{Drawing, Svg};
use cuvee::output::json::{AnswerDocument, FindingsDocument, NamedDiff, TypesOfName};
use cuvee::source::{MemoryFiles, SourceMap};
use cuvee::topology::diff;
use cuvee::{Failure, Resolution, Resolver};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;
use work::{Heard, Watcher, Work};

/// How often a caller who waits looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

/// A document of the command, and the warnings, which the command prints beside it: both in JSON.
type Told = (String, String);

/// What a caller chooses, as `cuvee._choice` makes it.
#[derive(FromPyObject)]
struct Choice {
    presets: Vec<String>,
    /// Files of inputs, and inputs with their values in JSON.
    inputs: Vec<(Option<String>, String)>,
    /// Options with their values in JSON.
    options: Vec<(String, String)>,
    now: String,
    progress: Option<Py<PyAny>>,
}

impl Choice {
    /// This template with what is chosen.
    fn of(&self, resolver: &Resolver) -> PyResult<Resolver> {
        let now = clock::parse(&self.now, jiff::tz::TimeZone::UTC)
            .map_err(|error| PyValueError::new_err(format!("`now` is no time: {error}")))?;
        let chosen = resolver.clone().now(now);
        let chosen = self.presets.iter().fold(chosen, Resolver::preset);
        let chosen = self.inputs.iter().fold(chosen, |chosen, input| match input {
            (Some(name), value) => chosen.input_text(name, value),
            (None, path) => chosen.inputs_file(path),
        });
        Ok(self.options.iter().fold(chosen, |chosen, (name, value)| chosen.option(name, value)))
    }
}

/// A template, wherever it is.
#[pyclass(frozen, module = "cuvee._cuvee")]
struct Template {
    resolver: Resolver,
}

impl Template {
    /// The answer to a question, for which the interpreter is released.
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        choice: &Choice,
        question: impl FnOnce(Resolver) -> Result<T, Failure> + Send + 'static,
    ) -> PyResult<T> {
        let resolver = choice.of(&self.resolver)?;
        let ask = |watcher: Watcher<_>| {
            let resolver = resolver.stop_when(watcher.stop());
            question(resolver.progress(watcher))
        };
        let work = Work::begin(ask).map_err(PyOSError::new_err)?;
        let answer = wait(py, &work, choice.progress.as_ref())?;
        answer.map_err(|failure| raised(py, &failure))
    }

    /// As [`Template::ask`], for an answer that is a document.
    fn told<T: Serialize + 'static>(
        &self,
        py: Python<'_>,
        choice: &Choice,
        question: impl FnOnce(&Resolver) -> Result<Answer<T>, Failure> + Send + 'static,
    ) -> PyResult<Told> {
        self.ask(py, choice, |resolver| Ok(document(&question(&resolver)?)))
    }
}

/// What comes of some work. Meanwhile `progress` is told its phases, and signals are looked for: an
/// exception of either ends the wait, and with it the work.
fn wait<T: Send + 'static>(
    py: Python<'_>,
    work: &Work<T>,
    progress: Option<&Py<PyAny>>,
) -> PyResult<T> {
    loop {
        match py.detach(|| work.wait(LOOK)) {
            Some(Heard::Answer(answer)) => return Ok(answer),
            Some(Heard::Panic(words)) => {
                let message = format!("this is a mistake in cuvee, not in the template: {words}");
                return Err(PyRuntimeError::new_err(message));
            }
            Some(Heard::Phase(name)) => {
                if let Some(progress) = progress {
                    progress.call1(py, (name,))?;
                }
            }
            None => {}
        }
        py.check_signals()?;
    }
}

/// An answer as its document.
fn document<T: Serialize>(Answer { result, warnings, sources }: &Answer<T>) -> Told {
    (json(result), lines(warnings, sources))
}

fn json<T: Serialize>(result: &T) -> String {
    // Strings, numbers, lists and maps with string keys can always be written.
    serde_json::to_string(&AnswerDocument::of(result)).unwrap_or_default()
}

/// Diagnostics in JSON, a line for each.
fn lines(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    render::json(diagnostics.iter().map(|diagnostic| (diagnostic, sources)))
}

/// The exception for a failure.
fn raised(py: Python<'_>, failure: &Failure) -> PyErr {
    let lines = lines(&failure.diagnostics, &failure.sources);
    let error = py
        .import("cuvee")
        .and_then(|module| module.getattr("_error")?.call1((failure.render(), lines)));
    error.map_or_else(|error| error, PyErr::from_value)
}

#[pymethods]
impl Template {
    #[new]
    #[pyo3(signature = (path, text, files))]
    fn new(path: PathBuf, text: Option<String>, files: Option<HashMap<PathBuf, Vec<u8>>>) -> Self {
        let resolver = match text {
            Some(text) => Resolver::from_text(path, text),
            None => Resolver::new(path),
        };
        let resolver = match files {
            Some(files) => resolver.files(files.into_iter().collect::<MemoryFiles>()),
            None => resolver,
        };
        Self { resolver }
    }

    fn resolve(
        &self,
        py: Python<'_>,
        choice: Choice,
        timeout: Option<Duration>,
    ) -> PyResult<Variant> {
        let resolve = move |resolver: Resolver| match timeout {
            Some(time) => resolver.timeout(time).resolve(),
            None => resolver.resolve(),
        };
        self.ask(py, &choice, resolve).map(|resolution| Variant { resolution })
    }

    /// The findings, and whether no error is among them.
    fn validate(
        &self,
        py: Python<'_>,
        choice: Choice,
        strict: bool,
        portable: bool,
        non_normative: bool,
    ) -> PyResult<(String, bool)> {
        self.ask(py, &choice, move |mut resolver| {
            if portable {
                resolver = resolver.portable();
            }
            if non_normative {
                resolver = resolver.non_normative_types();
            }
            let validation = resolver.validate();
            let validation = if strict { validation.strict() } else { validation };
            let found = validation.diagnostics.iter().map(|found| (found, &validation.sources));
            Ok((json(&FindingsDocument::of(found)), validation.is_valid(false)))
        })
    }

    fn variants(&self, py: Python<'_>, choice: Choice, listed: Listed) -> PyResult<Told> {
        let query = listed.query()?;
        self.told(py, &choice, move |resolver| match listed.all_presets {
            true => {
                let (warnings, sources) = (Vec::new(), SourceMap::default());
                let result = resolver.preset_variants(query.projection)?;
                Ok(Answer { result, warnings, sources })
            }
            false => listed.within(resolver).variants(&query),
        })
    }

    fn count(&self, py: Python<'_>, choice: Choice, listed: Listed) -> PyResult<Told> {
        let query = listed.query()?;
        self.told(py, &choice, move |resolver| listed.within(resolver).count_variants(&query))
    }

    fn explain(&self, py: Python<'_>, choice: Choice, name: String) -> PyResult<Told> {
        self.told(py, &choice, move |resolver| resolver.explain(&name))
    }

    fn inputs(&self, py: Python<'_>, choice: Choice) -> PyResult<Told> {
        self.told(py, &choice, Resolver::input_report)
    }

    fn matrix(&self, py: Python<'_>, choice: Choice, all: bool) -> PyResult<Told> {
        self.told(py, &choice, move |resolver| {
            let mut result = resolver.matrix()?;
            result.rows.retain(|row| all || row.kind == ElementKind::Node);
            Ok(Answer { result, warnings: Vec::new(), sources: SourceMap::default() })
        })
    }

    fn types(
        &self,
        py: Python<'_>,
        choice: Choice,
        name: Option<String>,
        non_normative: bool,
    ) -> PyResult<Told> {
        self.ask(py, &choice, move |mut resolver| {
            if non_normative {
                resolver = resolver.non_normative_types();
            }
            if let Some(answer) = resolver.defined_types(name.as_deref()) {
                return Ok(document(&answer?));
            }
            let Some(name) = name else { return Ok(document(&resolver.types()?)) };
            let Answer { result: definitions, warnings, sources } =
                resolver.effective_types(&name)?;
            Ok(document(&Answer { result: TypesOfName { definitions }, warnings, sources }))
        })
    }

    /// What differs between two variants of a template, or the variants of two templates. A side is
    /// a template, the names of presets, and what the document calls it.
    fn diff(
        &self,
        py: Python<'_>,
        choice: Choice,
        other: &Self,
        presets: [Vec<String>; 2],
        names: [Option<String>; 2],
    ) -> PyResult<Told> {
        let other = choice.of(&other.resolver)?;
        self.ask(py, &choice, move |resolver| {
            let [from, to] = presets;
            let variant = |resolver: Resolver, presets: Vec<String>| {
                presets.into_iter().fold(resolver, Resolver::preset).resolve()
            };
            let (from, to) = (variant(resolver, from)?, variant(other, to)?);
            let diff = diff::diff(&from.to_value(), &to.to_value());
            let [from_name, to_name] = names.each_ref().map(Option::as_deref);
            let told = [&from, &to].map(|side| lines(side.warnings(), side.source_map())).concat();
            Ok((json(&NamedDiff { from: from_name, to: to_name, diff: &diff }), told))
        })
    }

    /// The topology as SVG, for mermaid and for DOT, and as the document that holds it.
    fn graph(
        &self,
        py: Python<'_>,
        choice: Choice,
        present_only: bool,
    ) -> PyResult<(String, String, String, Told)> {
        let is_chosen = present_only || !(choice.presets.is_empty() && choice.inputs.is_empty());
        self.ask(py, &choice, move |resolver| {
            let resolver = resolver.load()?;
            let outline = resolver.outline()?;
            let variant = if is_chosen { Some(resolver.resolve()?) } else { None };
            let drawing = match &variant {
                Some(variant) => Drawing::of_variant(&outline, variant),
                None => Drawing::of(&outline),
            };
            let drawing = if present_only { drawing.without_absent() } else { drawing };
            let told = variant.as_ref().map(|it| lines(it.warnings(), it.source_map()));
            let document = (json(&drawing), told.unwrap_or_default());
            let (mermaid, dot) = (drawing.to_mermaid(), drawing.to_dot());
            let shown = if drawing.is_large() { drawing.collapsed() } else { drawing };
            Ok((shown.to_svg(&Svg::default()), mermaid, dot, document))
        })
    }

    /// Panics, so that a test sees what becomes of it.
    fn _panic(&self, py: Python<'_>, choice: Choice) -> PyResult<()> {
        #[expect(clippy::panic, reason = "what a mistake would do")]
        self.ask(py, &choice, |_| panic!("as told"))
    }
}

/// Which variants are listed or counted.
#[derive(FromPyObject)]
struct Listed {
    limit: Option<usize>,
    projection: String,
    conditions: Vec<String>,
    sample: Option<u64>,
    seed: u64,
    cover: Option<usize>,
    minimize: Option<String>,
    all_presets: bool,
    effort: Option<u64>,
}

impl Listed {
    fn query(&self) -> PyResult<Query> {
        let wanted = WantedVariants {
            projection: Some(&self.projection),
            limit: self.limit,
            effort: self.effort,
            sample: self.sample,
            seed: self.seed,
            cover: self.cover,
            minimize: self.minimize.as_deref(),
            all_presets: self.all_presets,
        };
        wanted.query().map_err(|wrong| PyValueError::new_err(wrong.message))
    }

    /// A template without the variants in which the conditions do not hold.
    fn within(&self, resolver: &Resolver) -> Resolver {
        self.conditions.iter().fold(resolver.clone(), Resolver::only_where)
    }
}

/// A variant that was resolved.
#[pyclass(frozen, module = "cuvee._cuvee")]
struct Variant {
    resolution: Resolution,
}

#[pymethods]
impl Variant {
    fn yaml(&self) -> &str {
        self.resolution.to_yaml()
    }

    fn json(&self, py: Python<'_>) -> String {
        py.detach(|| self.resolution.to_json())
    }

    fn presence(&self) -> Vec<(String, bool)> {
        self.resolution.presence().collect()
    }

    fn proven(&self) -> bool {
        self.resolution.is_proven()
    }

    fn warnings(&self) -> String {
        lines(self.resolution.warnings(), self.resolution.source_map())
    }

    fn sources(&self) -> Vec<PathBuf> {
        self.resolution.sources().map(Into::into).collect()
    }

    fn files(&self, py: Python<'_>) -> PyResult<Vec<(PathBuf, Cow<'static, [u8]>)>> {
        let files = py.detach(|| self.resolution.to_files());
        let files = files.map_err(|failure| raised(py, &failure))?;
        Ok(files.into_iter().map(|(path, bytes)| (path, Cow::Owned(bytes))).collect())
    }

    fn csar(&self, py: Python<'_>) -> PyResult<Cow<'static, [u8]>> {
        let archive = py.detach(|| self.resolution.to_csar());
        archive.map(Cow::Owned).map_err(|failure| raised(py, &failure))
    }
}

/// The version of the library.
const VERSION: &str = env!("CARGO_PKG_VERSION");

#[pymodule]
fn _cuvee(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", VERSION)?;
    module.add_class::<Template>()?;
    module.add_class::<Variant>()
}
