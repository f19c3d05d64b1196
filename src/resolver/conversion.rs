//! Conversion between formats.

use super::Resolver;
use crate::convert::{ConvertedYaml, Losses, ToYamlSettings, TypeCounterparts, to_yaml};
use crate::text::answer::{Answer, Failure};
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics, Severity};
use crate::text::files::Files;
use crate::text::source::Span;
use crate::text::xml::{self, XmlLimits};
use crate::text::yaml::{Limits, parse};
use crate::tosca::csar;
use crate::tosca::load::TemplateLocation;
use crate::tosca::v1_0::{self, Library, LoadedDefinitions, PropertySchemas};
use crate::validate;
use std::path::PathBuf;
use std::sync::Arc;

/// How to convert.
#[derive(Clone, Debug, Default)]
pub struct ConversionQuery {
    service_template: Option<String>,
    implementations: Vec<String>,
    types: Option<PathBuf>,
    is_single: bool,
}

impl ConversionQuery {
    /// Whatever may be one document without files beside it is that.
    pub fn one_document(mut self) -> Self {
        self.is_single = true;
        self
    }

    /// Converts the service template of this id, or of this `{namespace}id`.
    pub fn service_template(mut self, name: impl Into<String>) -> Self {
        self.service_template = Some(name.into());
        self
    }

    /// Takes this implementation where a type has several.
    pub fn implementation(mut self, name: impl Into<String>) -> Self {
        self.implementations.push(name.into());
        self
    }

    /// Takes types for others that a file names: a map of `{namespace}name` to names in YAML.
    pub fn types(mut self, path: impl Into<PathBuf>) -> Self {
        self.types = Some(path.into());
        self
    }
}

/// A converted template.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The files that belong together, by their names; that of the service template comes first.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// What could not be said.
    pub losses: Losses,
}

impl Conversion {
    /// The first document.
    pub fn text(&self) -> String {
        let first = self.files.first().map(|(_, content)| &**content);
        String::from_utf8_lossy(first.unwrap_or_default()).into_owned()
    }

    /// The files as an archive.
    ///
    /// # Errors
    /// `csar` where a name cannot be one in an archive.
    pub fn to_csar(&self) -> Result<Vec<u8>, Diagnostic> {
        csar::pack_files(&self.files)
    }
}

/// A document of XML in its canonical form.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CanonicalDocument {
    /// The document in that form.
    pub text: String,
    /// Whether it is written so already.
    pub is_canonical: bool,
}

impl Resolver {
    /// The canonical form of one file of XML: definitions in the order of their schema, two blanks a
    /// level, all namespaces at the root.
    ///
    /// ```
    /// let resolver = cuvee::Resolver::from_text("a.tosca", "<a><b></b></a>");
    /// let form = resolver.canonical_document()?;
    /// assert_eq!(form.text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a>\n  <b/>\n</a>\n");
    /// assert!(!form.is_canonical);
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// `file` where it cannot be read, `syntax` where it is not well-formed, `unsupported-version` where
    /// it is no XML.
    pub fn canonical_document(&self) -> Result<CanonicalDocument, Failure> {
        let files = Files::default();
        let written = self.canonical_of(&files);
        written.map_err(|Diagnostics(diagnostics)| Failure {
            diagnostics,
            sources: files.sources().clone(),
        })
    }

    fn canonical_of(&self, files: &Files) -> Result<CanonicalDocument, Diagnostics> {
        let file = match &self.location {
            TemplateLocation::Path(path) => files.read(&*self.files, path)?,
            TemplateLocation::Text { name, text } => {
                files.add(&*self.files, name, Arc::clone(text))
            }
        };
        let text = files.text(file);
        if !xml::is_xml(text) {
            let start = Span { file, start: 0, end: 0 };
            let error = Diagnostic::error(Code::UnsupportedVersion, "this is no XML").at(start);
            return Err(error
                .help("one document of TOSCA 1.0 is written in its canonical form")
                .into());
        }
        let document = xml::parse(file, Arc::clone(text), &XmlLimits::default())?;
        let written = v1_0::canonical_definitions(&document);
        Ok(CanonicalDocument { is_canonical: written == **text, text: written })
    }

    /// Converts documents of TOSCA 1.0 to TOSCA Simple Profile 1.3.
    ///
    /// ```
    /// use cuvee::{ConversionQuery, Resolver};
    /// let query = ConversionQuery::default().one_document();
    /// let converted = Resolver::new("examples/kiosk.tosca").convert(&query)?.result;
    /// assert!(converted.text().starts_with("tosca_definitions_version: tosca_simple_yaml_1_3\n"));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// A [`Failure`] where the documents are wrong, or it cannot be told which service template or
    /// implementation is meant.
    pub fn convert(&self, query: &ConversionQuery) -> Result<Answer<Conversion>, Failure> {
        let loaded = self.definitions()?;
        let sources = loaded.sources.clone();
        let failure = |diagnostics| Failure { diagnostics, sources: sources.clone() };
        let settings = ToYamlSettings {
            service_template: query.service_template.clone(),
            implementations: query.implementations.clone(),
            counterparts: self.counterparts(query)?,
            is_single: query.is_single,
        };
        let mut ignored = Diagnostics::default();
        let library = Library::of(&loaded, &mut ignored);
        let schemas = PropertySchemas::of(&library, &mut ignored);
        let ConvertedYaml { files, losses, converted } =
            to_yaml(&library, &schemas, &settings).map_err(|Diagnostics(found)| failure(found))?;
        let found = counting(&validate::validate_definitions(&loaded), &loaded, &converted);
        if found.iter().any(|found| found.severity == Severity::Error) {
            return Err(failure(found));
        }
        let warnings = found.into_iter().filter(|found| found.severity == Severity::Warning);
        Ok(Answer { result: Conversion { files, losses }, warnings: warnings.collect(), sources })
    }

    /// The documents of TOSCA 1.0 to which the path leads.
    fn definitions(&self) -> Result<LoadedDefinitions, Failure> {
        let loaded = match &self.location {
            TemplateLocation::Path(path) => v1_0::load(&self.files, path),
            TemplateLocation::Text { .. } => None,
        };
        loaded.ok_or_else(|| {
            if let TemplateLocation::Path(path) = &self.location
                && !self.files.is_file(path)
                && !self.files.is_dir(path)
            {
                let message = format!("there is no file `{}`", path.display());
                return Diagnostic::error(Code::File, message).into();
            }
            let message = "there are no definitions of TOSCA 1.0";
            let error = Diagnostic::error(Code::UnsupportedVersion, message);
            error.help("only XML is converted").into()
        })
    }

    fn counterparts(&self, query: &ConversionQuery) -> Result<TypeCounterparts, Failure> {
        let Some(path) = &query.types else { return Ok(TypeCounterparts::default()) };
        let files = Files::default();
        let read = files.read(&*self.files, path).map_err(Diagnostics::from);
        let read = read.and_then(|file| {
            let document = parse(file, Arc::clone(files.text(file)), &Limits::default())?;
            Ok(TypeCounterparts::read(document.root())?)
        });
        let failure =
            |Diagnostics(diagnostics)| Failure { diagnostics, sources: files.sources().clone() };
        read.map_err(failure)
    }
}

/// What is wrong with what is converted; of a repository the rest does not count.
fn counting(
    found: &[Diagnostic],
    loaded: &LoadedDefinitions,
    converted: &[Span],
) -> Vec<Diagnostic> {
    let is_within = |span: &Span| {
        converted
            .iter()
            .any(|of| of.file == span.file && of.start <= span.start && span.start < of.end)
    };
    let is_whole = loaded.extent == v1_0::DefinitionsExtent::File || loaded.is_archive();
    // Documents of repositories do not import each other, and what is written of them does.
    let counts = |found: &&Diagnostic| {
        is_whole || found.code != Code::MissingImport && found.span.as_ref().is_some_and(is_within)
    };
    found.iter().filter(counts).cloned().collect()
}
