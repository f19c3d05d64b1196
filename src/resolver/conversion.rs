//! Converts between versions of TOSCA, and writes the canonical form of XML.

use super::Resolver;
use crate::convert::{
    ConvertedYaml, Losses, TargetVersion, ToYamlSettings, TypeCounterparts, to_yaml,
};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Severity};
use crate::tosca::csar::{self, Meta};
use crate::tosca::load::TemplateLocation;
use crate::tosca::v1_0::{self, Library, LoadedDefinitions, PropertySchemas};
use crate::validate;
use cuvee_sat::progress::Progress;
use cuvee_text::answer::{Answer, Failure};
use cuvee_text::files::Files;
use cuvee_text::source::Span;
use cuvee_text::xml::{self, XmlLimits};
use cuvee_text::yaml::{Limits, parse};
use std::path::{Path, PathBuf};

/// The settings of a conversion.
#[derive(Clone, Debug, Default)]
pub struct ConversionQuery {
    service_template: Option<String>,
    implementations: Vec<String>,
    types: Option<PathBuf>,
    pub(super) is_single: bool,
    pub(super) leaves_out: bool,
    pub(super) records_inputs: bool,
    pub(super) dialect: ConversionDialect,
    version: Option<TargetVersion>,
}

/// The format of definitions and templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConversionFormat {
    /// TOSCA 1.0.
    Xml,
    /// TOSCA Simple Profile 1.3.
    Yaml,
    /// TOSCA 2.0.
    Tosca2,
}

/// How to write definitions of TOSCA 1.0 where the specification leaves a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConversionDialect {
    /// As the specification writes them.
    #[default]
    Plain,
    /// As OpenTOSCA reads them: inputs in values as `get_input: NAME`, and OpenTOSCA's own name of
    /// the lifecycle interface.
    OpenTosca,
}

impl ConversionQuery {
    /// Writes one document without files beside it, wherever that is possible.
    pub fn one_document(mut self) -> Self {
        self.is_single = true;
        self
    }

    /// Converts the service template with this id, or with this `{namespace}id`.
    pub fn service_template(mut self, name: impl Into<String>) -> Self {
        self.service_template = Some(name.into());
        self
    }

    /// Chooses this implementation for a type with several.
    pub fn implementation(mut self, name: impl Into<String>) -> Self {
        self.implementations.push(name.into());
        self
    }

    /// Leaves out, and so loses, constructs that only TOSCA Simple Profile 1.3 has, instead of
    /// keeping them as extensions in the definitions of TOSCA 1.0.
    pub fn without_extensions(mut self) -> Self {
        self.leaves_out = true;
        self
    }

    /// Records in the definitions of TOSCA 1.0, as tags, which variability inputs gave the variant.
    pub fn record_inputs(mut self) -> Self {
        self.records_inputs = true;
        self
    }

    /// Writes a template of TOSCA Simple Profile 1.3, plain or variable, as one of TOSCA 2.0.
    pub fn to_2_0(mut self) -> Self {
        self.version = Some(TargetVersion::Two);
        self
    }

    /// Writes a template of TOSCA 2.0, plain or variable, as one of TOSCA Simple Profile 1.3.
    /// Definitions of TOSCA 1.0 are written so in any case.
    pub fn to_1_3(mut self) -> Self {
        self.version = Some(TargetVersion::Simple);
        self
    }

    /// Writes definitions of TOSCA 1.0 in this dialect.
    pub fn dialect(mut self, dialect: ConversionDialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Translates types as a file says: a map of `{namespace}name` to names in YAML.
    pub fn types(mut self, path: impl Into<PathBuf>) -> Self {
        self.types = Some(path.into());
        self
    }
}

/// A converted template.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The files of the conversion by their names; the file of the service template comes first.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// Constructs that the target format cannot express.
    pub losses: Losses,
    /// The format of the files.
    pub format: ConversionFormat,
    /// The metadata of the archive that was read, about itself and about its files.
    pub(super) meta: Option<Meta>,
}

impl Conversion {
    /// The text of the first file.
    pub fn text(&self) -> String {
        let first = self.files.first().map(|(_, content)| &**content);
        String::from_utf8_lossy(first.unwrap_or_default()).into_owned()
    }

    /// The files as an archive.
    ///
    /// # Errors
    /// `csar` where the name of a file is not allowed in an archive.
    pub fn to_csar(&self) -> Result<Vec<u8>, Diagnostic> {
        match self.format {
            ConversionFormat::Xml => csar::pack_definitions(&self.files, self.meta.as_ref()),
            _ => csar::pack_converted(&self.files, self.meta.as_ref()),
        }
    }

    /// The files for a directory; definitions of TOSCA 1.0 and several templates of one archive come
    /// with the metadata file that links them.
    pub fn to_files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let meta = match (self.format, self.meta.as_ref()) {
            (ConversionFormat::Xml, meta) => Some(csar::definitions_meta(&self.files, meta)),
            (_, meta) => meta.filter(|meta| !meta.others.is_empty()).and_then(|meta| {
                let (path, meta) = csar::converted_meta(&self.files, meta)?;
                Some((path.into(), meta))
            }),
        };
        meta.into_iter().chain(self.files.iter().cloned()).collect()
    }
}

/// A document of XML in its canonical form.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CanonicalDocument {
    /// The text in canonical form.
    pub text: String,
    /// Whether the document is already written in this form.
    pub is_canonical: bool,
}

impl Resolver {
    /// The canonical form of one XML file: definitions are in the order of their schema, each level
    /// is indented by two blanks, and all namespaces are declared at the root.
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
    /// `file` where the file cannot be read, `syntax` where it is not well-formed,
    /// `unsupported-version` where it is no XML.
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
            TemplateLocation::Text { name, text } => files.add(&*self.files, name, text.clone()),
        };
        let text = files.text(file);
        if !xml::is_xml(text) {
            let start = Span { file, start: 0, end: 0 };
            let error =
                Diagnostic::error(Code::UnsupportedVersion, "the file is not XML").at(start);
            return Err(error.help("name one document of TOSCA 1.0").into());
        }
        let document = xml::parse(file, text.clone(), &XmlLimits::default())?;
        let written = v1_0::canonical_definitions(&document);
        Ok(CanonicalDocument { is_canonical: written == **text, text: written })
    }

    /// Whether the named file, archive or directory has definitions of TOSCA 1.0.
    pub fn names_definitions(&self) -> bool {
        match &self.location {
            TemplateLocation::Path(path) => v1_0::load(&self.files, path).is_some(),
            TemplateLocation::Text { .. } => false,
        }
    }

    /// Whether the template is one XML file.
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

    /// Converts definitions of TOSCA 1.0 to TOSCA Simple Profile 1.3, the variant of a template to
    /// definitions of TOSCA 1.0, or, where the query says so, a template from one version to
    /// another.
    ///
    /// ```
    /// use cuvee::Resolver;
    /// use cuvee::output::convert::ConversionQuery;
    /// let query = ConversionQuery::default().one_document();
    /// let converted = Resolver::new("examples/kiosk.tosca").convert(&query)?.result;
    /// assert!(converted.text().starts_with("tosca_definitions_version: tosca_simple_yaml_1_3\n"));
    /// let converted = Resolver::new("examples/shop").preset("prod").convert(&query)?.result;
    /// assert!(converted.text().starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Definitions "));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// A [`Failure`] where the definitions are wrong, or where it is unclear which service template
    /// or implementation is meant; for templates as [`Resolver::resolve`].
    pub fn convert(&self, query: &ConversionQuery) -> Result<Answer<Conversion>, Failure> {
        match &self.location {
            TemplateLocation::Path(path) => match self.definitions(path) {
                Some(loaded) if query.version != Some(TargetVersion::Two) => {
                    self.convert_definitions(&loaded, query)
                }
                Some(_) => Err(in_two_steps("definitions of TOSCA 1.0", "2.0").into()),
                None if !self.files.is_file(path) && !self.files.is_dir(path) => {
                    let message = format!("there is no file `{}`", path.display());
                    Err(Diagnostic::error(Code::File, message).into())
                }
                None => self.convert_to(query),
            },
            TemplateLocation::Text { .. } => self.convert_to(query),
        }
    }

    fn convert_to(&self, query: &ConversionQuery) -> Result<Answer<Conversion>, Failure> {
        match query.version {
            Some(to) => self.convert_version(query, to),
            None => self.convert_template(query),
        }
    }

    /// Loads the definitions of TOSCA 1.0 at a path; `None` if the path has none. The package for npm
    /// leaves them to the command: what reads and checks them is a twentieth of its module.
    pub(super) fn definitions(&self, path: &Path) -> Option<LoadedDefinitions> {
        if cfg!(target_family = "wasm") {
            return None;
        }
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
            has_no_texts: false,
        };
        let mut progress = self.progress.clone();
        progress.phase("checking");
        let mut found = loaded.found.clone();
        let mut library = Library::of(loaded, &mut found);
        let schemas = PropertySchemas::of(&library, &mut found);
        // Converting renames what YAML cannot call so.
        let found = validate::validate_definitions(&library, &schemas, found);
        progress.phase("converting");
        let converted = to_yaml(&mut library, &schemas, &settings);
        let ConvertedYaml { files, losses, converted, .. } =
            converted.map_err(|Diagnostics(found)| failure(found))?;
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
            let document = parse(file, files.text(file).clone(), &Limits::default())?;
            Ok(TypeCounterparts::read(document.root())?)
        });
        let failure =
            |Diagnostics(diagnostics)| Failure { diagnostics, sources: files.sources().clone() };
        read.map_err(failure)
    }
}

/// Refuses to write something in a version to which only version 1.3 leads.
pub(super) fn in_two_steps(what: &str, version: &str) -> Diagnostic {
    let message = format!("{what} cannot be written as TOSCA {version}");
    let help = "write them as TOSCA 1.3 first, with `--to 1.3`";
    Diagnostic::error(Code::UnsupportedVersion, message).help(help)
}

/// The diagnostics about what is converted. In a repository, those about other parts do not count.
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
    // Documents of repositories do not import each other, but the converted files do.
    let counts = |found: &&Diagnostic| {
        is_whole || found.code != Code::MissingImport && found.span.as_ref().is_some_and(is_within)
    };
    found.iter().filter(counts).cloned().collect()
}
