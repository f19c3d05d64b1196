//! Conversion between formats.

use super::Resolver;
use crate::convert::{ConvertedYaml, Losses, ToYamlSettings, TypeCounterparts, to_yaml};
use crate::sat::progress::Progress;
use crate::text::answer::{Answer, Failure};
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics, Severity};
use crate::text::files::Files;
use crate::text::source::Span;
use crate::text::xml::{self, XmlLimits};
use crate::text::yaml::{Limits, parse};
use crate::tosca::csar::{self, Meta};
use crate::tosca::load::TemplateLocation;
use crate::tosca::v1_0::{self, Library, LoadedDefinitions, PropertySchemas};
use crate::validate;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How to convert.
#[derive(Clone, Debug, Default)]
pub struct ConversionQuery {
    service_template: Option<String>,
    implementations: Vec<String>,
    types: Option<PathBuf>,
    pub(super) is_single: bool,
    pub(super) leaves_out: bool,
    pub(super) records_inputs: bool,
    pub(super) dialect: ConversionDialect,
}

/// In which format definitions and templates are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConversionFormat {
    /// TOSCA 1.0.
    Xml,
    /// TOSCA Simple Profile 1.3.
    Yaml,
}

/// How definitions of TOSCA 1.0 are written where the specification leaves it open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConversionDialect {
    /// As the specification has it.
    #[default]
    Plain,
    /// As OpenTOSCA reads it: inputs in values as `get_input: NAME`, its name of the lifecycle.
    OpenTosca,
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

    /// What only TOSCA Simple Profile 1.3 can say is left out of definitions of TOSCA 1.0, and lost,
    /// instead of being kept as an extension.
    pub fn without_extensions(mut self) -> Self {
        self.leaves_out = true;
        self
    }

    /// Definitions of TOSCA 1.0 say by tags which variability inputs gave the variant.
    pub fn record_inputs(mut self) -> Self {
        self.records_inputs = true;
        self
    }

    /// Definitions of TOSCA 1.0 are written in this dialect.
    pub fn dialect(mut self, dialect: ConversionDialect) -> Self {
        self.dialect = dialect;
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
    /// What is written.
    pub format: ConversionFormat,
    /// What the archive that was read says of itself and of its files.
    pub(super) meta: Option<Meta>,
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
        match self.format {
            ConversionFormat::Xml => csar::pack_definitions(&self.files, self.meta.as_ref()),
            ConversionFormat::Yaml => csar::pack_converted(&self.files, self.meta.as_ref()),
        }
    }

    /// The files as a directory: definitions of TOSCA 1.0 with what says that they belong together.
    pub fn to_files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let meta = (self.format == ConversionFormat::Xml)
            .then(|| csar::definitions_meta(&self.files, self.meta.as_ref()));
        meta.into_iter().chain(self.files.iter().cloned()).collect()
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

    /// Whether what is named are definitions of TOSCA 1.0: a file, an archive, or a directory.
    pub fn names_definitions(&self) -> bool {
        match &self.location {
            TemplateLocation::Path(path) => v1_0::load(&self.files, path).is_some(),
            TemplateLocation::Text { .. } => false,
        }
    }

    /// Whether it is one file of XML that is named.
    pub fn is_xml_document(&self) -> bool {
        match &self.location {
            TemplateLocation::Path(path) if csar::is_archive(path) || !self.files.is_file(path) => {
                false
            }
            TemplateLocation::Path(path) => {
                let files = Files::default();
                let read = files.read(&*self.files, path);
                read.is_ok_and(|file| xml::is_xml(files.text(file)))
            }
            TemplateLocation::Text { text, .. } => xml::is_xml(text),
        }
    }

    /// Converts documents of TOSCA 1.0 to TOSCA Simple Profile 1.3, and the variant of a template to
    /// documents of TOSCA 1.0.
    ///
    /// ```
    /// use cuvee::{ConversionQuery, Resolver};
    /// let query = ConversionQuery::default().one_document();
    /// let converted = Resolver::new("examples/kiosk.tosca").convert(&query)?.result;
    /// assert!(converted.text().starts_with("tosca_definitions_version: tosca_simple_yaml_1_3\n"));
    /// let converted = Resolver::new("examples/shop").preset("prod").convert(&query)?.result;
    /// assert!(converted.text().starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Definitions "));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// A [`Failure`] where the documents are wrong, or it cannot be told which service template or
    /// implementation is meant; of templates as [`Resolver::resolve`].
    pub fn convert(&self, query: &ConversionQuery) -> Result<Answer<Conversion>, Failure> {
        match &self.location {
            TemplateLocation::Path(path) => match self.definitions(path) {
                Some(loaded) => self.convert_definitions(&loaded, query),
                None if !self.files.is_file(path) && !self.files.is_dir(path) => {
                    let message = format!("there is no file `{}`", path.display());
                    Err(Diagnostic::error(Code::File, message).into())
                }
                None => self.convert_template(query),
            },
            TemplateLocation::Text { .. } => self.convert_template(query),
        }
    }

    /// What definitions there are, if it is definitions.
    pub(super) fn definitions(&self, path: &Path) -> Option<LoadedDefinitions> {
        self.progress.clone().phase("reading");
        v1_0::load(&self.files, path)
    }

    fn convert_definitions(
        &self,
        loaded: &LoadedDefinitions,
        query: &ConversionQuery,
    ) -> Result<Answer<Conversion>, Failure> {
        let sources = loaded.sources.clone();
        let failure = |diagnostics| Failure { diagnostics, sources: sources.clone() };
        let settings = ToYamlSettings {
            service_template: query.service_template.clone(),
            implementations: query.implementations.clone(),
            counterparts: self.counterparts(query)?,
            is_single: query.is_single,
        };
        let mut progress = self.progress.clone();
        progress.phase("converting");
        let mut found = loaded.found.clone();
        let library = Library::of(loaded, &mut found);
        let schemas = PropertySchemas::of(&library, &mut found);
        let ConvertedYaml { files, losses, converted, .. } =
            to_yaml(&library, &schemas, &settings).map_err(|Diagnostics(found)| failure(found))?;
        progress.phase("checking");
        let found = validate::validate_definitions(&library, &schemas, found);
        let found = counting(&found, loaded, &converted);
        if found.iter().any(|found| found.severity == Severity::Error) {
            return Err(failure(found));
        }
        let warnings = found.into_iter().filter(|found| found.severity == Severity::Warning);
        let (format, meta) = (ConversionFormat::Yaml, loaded.meta());
        let result = Conversion { files, losses, format, meta };
        Ok(Answer { result, warnings: warnings.collect(), sources })
    }

    pub(super) fn counterparts(
        &self,
        query: &ConversionQuery,
    ) -> Result<TypeCounterparts, Failure> {
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
