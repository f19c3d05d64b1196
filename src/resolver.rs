//! The pipeline in one readable function, and the public way into it.

use crate::diagnostic::Diagnostic;
use crate::options::Options;
use crate::progress::Progress;
use crate::solve::SolverKind;
use crate::source::{FileSystem, OsFiles, SourceMap};
use crate::value::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the template is.
#[derive(Clone, Debug)]
enum Template {
    Path(PathBuf),
    Text { name: PathBuf, text: String },
}

/// One source of variability inputs, in the order given.
#[derive(Clone, Debug)]
enum InputSource {
    File(PathBuf),
    Value(String, Value),
    Text(String, String),
}

/// Resolves one variant of one template.
///
/// ```no_run
/// let resolution = cuvee::Resolver::new("shop.yaml").preset("prod").input("region", "eu").resolve()?;
/// println!("{}", resolution.to_yaml());
/// # Ok::<(), cuvee::Failure>(())
/// ```
#[derive(Clone)]
pub struct Resolver {
    template: Template,
    files: Arc<dyn FileSystem + Send>,
    presets: Vec<String>,
    environment: Vec<(String, String)>,
    inputs: Vec<InputSource>,
    options: Vec<(String, String)>,
    now: Option<jiff::Zoned>,
    solver: SolverKind,
}

impl Resolver {
    /// For a template file, or a directory that holds one under its usual name.
    pub fn new(template: impl Into<PathBuf>) -> Self {
        Self::of(Template::Path(template.into()))
    }

    /// For a template at hand; `name` says where it would be, for messages and for relative paths in it.
    pub fn from_text(name: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self::of(Template::Text { name: name.into(), text: text.into() })
    }

    fn of(template: Template) -> Self {
        Self {
            template,
            files: Arc::new(OsFiles),
            presets: Vec::new(),
            environment: Vec::new(),
            inputs: Vec::new(),
            options: Vec::new(),
            now: None,
            solver: SolverKind::default(),
        }
    }

    /// Reads files through this instead of from the operating system.
    pub fn files(mut self, files: impl FileSystem + Send + 'static) -> Self {
        self.files = Arc::new(files);
        self
    }

    /// Adds a variability preset; later ones win.
    pub fn preset(mut self, name: impl Into<String>) -> Self {
        self.presets.push(name.into());
        self
    }

    /// Takes inputs from environment variables: `CUVEE_INPUT_<NAME>`, and `CUVEE_PRESETS` where no preset is given.
    pub fn environment(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.environment.extend(variables);
        self
    }

    /// Adds a file of inputs: YAML, JSON, or FeatureIDE extended XML.
    pub fn inputs_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.inputs.push(InputSource::File(path.into()));
        self
    }

    /// Assigns an input; wins over files.
    pub fn input(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.inputs.push(InputSource::Value(name.into(), value.into()));
        self
    }

    /// Assigns an input from text read as YAML; wins over files.
    pub fn input_text(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.inputs.push(InputSource::Text(name.into(), text.into()));
        self
    }

    /// Sets a variability option over the template's; the value is read as YAML.
    pub fn option(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.push((name.into(), value.into()));
        self
    }

    /// Sets the clock, in the time zone that `weekday` means; needed only by templates that ask for it.
    pub fn now(mut self, now: jiff::Zoned) -> Self {
        self.now = Some(now);
        self
    }

    /// Chooses the solver; every solver finds the same variant.
    pub fn solver(mut self, solver: SolverKind) -> Self {
        self.solver = solver;
        self
    }

    /// Resolves.
    ///
    /// # Errors
    /// A [`Failure`] with everything that is wrong.
    pub fn resolve(&self) -> Result<Resolution, Failure> {
        self.resolve_with(&mut ())
    }

    /// Resolves, and tells what happens meanwhile.
    ///
    /// # Errors
    /// As [`Resolver::resolve`].
    pub fn resolve_with(&self, _progress: &mut dyn Progress) -> Result<Resolution, Failure> {
        todo!()
    }

    /// The effective options of the template, and the files their origins point into.
    ///
    /// # Errors
    /// A [`Failure`] where the template cannot be read or an option is wrong.
    pub fn effective_options(&self) -> Result<(Options, SourceMap), Failure> {
        todo!()
    }
}

/// A resolved variant. Serialises as the resolved template.
#[derive(Debug)]
pub struct Resolution {
    sources: SourceMap,
    warnings: Vec<Diagnostic>,
}

impl Resolution {
    /// The resolved template as YAML, styled as its author styled it.
    pub fn to_yaml(&self) -> &str {
        todo!()
    }

    /// The resolved template as JSON.
    pub fn to_json(&self) -> &str {
        todo!()
    }

    /// Every element's identifier (`node.shop`), and whether it is present, in the order of the template.
    pub fn presence(&self) -> impl ExactSizeIterator<Item = (&str, bool)> {
        std::iter::empty()
    }

    /// The files that were read, in the order of reading.
    pub fn sources(&self) -> impl Iterator<Item = &Path> {
        self.sources.files().map(|file| file.path())
    }

    /// The files that diagnostics point into.
    pub fn source_map(&self) -> &SourceMap {
        &self.sources
    }

    /// Warnings.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }
}

/// Why there is no result: at least one error, possibly warnings, and the files they point into.
#[derive(Debug)]
pub struct Failure {
    /// In the order found.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that were read.
    pub sources: SourceMap,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, diagnostic) in self.diagnostics.iter().enumerate() {
            write!(f, "{}{}", if index == 0 { "" } else { "\n" }, diagnostic.one_line(&self.sources))?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}
