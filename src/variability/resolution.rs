//! Holds a resolved variant, and writes it as text, data or an archive.

use super::find::Optimum;
use super::graph::{self, Graph};
use super::options;
use super::presence::Presence;
use crate::diagnostic::{Code, Diagnostic};
use crate::tosca::csar::{self, Extension, Extras, Package};
use crate::variability::element::ElementKind;
use cuvee_text::answer::Failure;
use cuvee_text::source::{FileId, SourceMap};
use cuvee_text::value::Value;
use cuvee_text::yaml::{self, Document, Limits};
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};

/// The identifiers of all elements in a compact form, because most callers never ask for them.
#[derive(Debug, Default)]
pub(super) struct ElementNames {
    names: String,
    elements: Vec<KeptName>,
}

#[derive(Debug)]
struct KeptName {
    kind: ElementKind,
    index: u32,
    container: Option<u32>,
    end: usize,
    present: bool,
}

impl ElementNames {
    pub(super) fn of(graph: &Graph<'_>, presence: &Presence) -> Self {
        let length = graph.elements.iter().map(|element| element.name.len()).sum();
        let mut elements = Self {
            names: String::with_capacity(length),
            elements: Vec::with_capacity(graph.elements.len()),
        };
        for id in graph.ids() {
            let element = graph.element(id);
            elements.names.push_str(element.name);
            elements.elements.push(KeptName {
                kind: element.kind,
                index: element.index,
                container: element.container.map(|container| container.0),
                end: elements.names.len(),
                present: presence.is(id),
            });
        }
        elements
    }

    fn identifier(&self, position: usize) -> String {
        let start = position.checked_sub(1).map_or(0, |before| self.elements[before].end);
        let element = &self.elements[position];
        let own = graph::identifier(element.kind, &self.names[start..element.end], element.index);
        match element.container {
            Some(container) => format!("{own}.{}", self.identifier(container as usize)),
            None => own,
        }
    }
}

/// How to recognise other variable templates among the files beside a template.
pub(crate) const EXTENSION: Extension =
    Extension { is_version: options::known_version, key: "variability" };

/// A resolved variant. Serialises as the resolved template.
#[derive(Debug)]
pub struct Resolution {
    pub(super) yaml: String,
    pub(super) elements: ElementNames,
    pub(super) package: Package,
    pub(super) optima: Vec<Optimum>,
    pub(super) sources: SourceMap,
    pub(crate) warnings: Vec<Diagnostic>,
}

impl Resolution {
    /// A variant whose document was changed after resolving, so that the presence of elements no
    /// longer describes it.
    pub(crate) fn rewritten(
        yaml: String,
        package: Package,
        sources: SourceMap,
        warnings: Vec<Diagnostic>,
    ) -> Self {
        let elements = ElementNames::default();
        Self { yaml, elements, package, optima: Vec::new(), sources, warnings }
    }

    /// The resolved template as YAML, in the style of its author.
    pub fn to_yaml(&self) -> &str {
        &self.yaml
    }

    /// The resolved template as JSON, indented by two.
    pub fn to_json(&self) -> String {
        self.parsed().map_or_else(String::new, |document| {
            yaml::write_json(&yaml::Out::Source(document.root()))
        })
    }

    /// The resolved template as data.
    pub fn to_value(&self) -> Value {
        self.parsed().map_or(Value::Null, |document| document.root().to_value())
    }

    /// Parses the written text again, so that all output forms agree.
    fn parsed(&self) -> Option<Document> {
        yaml::parse(FileId::DETACHED, self.yaml.as_str().into(), &Limits::default()).ok()
    }

    /// The identifier of every element (`node.shop`), and whether it is present, in the order of
    /// the template. Empty for a variant that was fulfilled.
    pub fn presence(&self) -> impl ExactSizeIterator<Item = (String, bool)> {
        self.elements
            .elements
            .iter()
            .enumerate()
            .map(|(position, element)| (self.elements.identifier(position), element.present))
    }

    /// The resolved template in an archive, with the files of the archive or directory that it came
    /// from.
    ///
    /// The archive leaves out other variable templates, and `tests` at the root or beside the
    /// template. Of a directory it also leaves out hidden files and archives (`.csar`). All other
    /// files stay. The same files give the same bytes.
    ///
    /// ```
    /// use cuvee::Resolver;
    /// use cuvee::source::csar::{Archive, Limits};
    /// use cuvee::source::FileSystem;
    ///
    /// let bytes = Resolver::new("examples/shop").preset("prod").resolve()?.to_csar()?;
    /// let archive = Archive::new("prod.csar", bytes, &Limits::default()).unwrap();
    /// assert!(archive.is_file("prod.csar:/lib/types.yaml".as_ref()));
    ///
    /// let again = Resolver::new("prod.csar:").files(archive).resolve()?;
    /// assert!(again.to_yaml().starts_with("# The web shop of a tea merchant."));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// A [`Failure`] where the template was a file of its own, where the archive would lack a file
    /// that the result needs, or where a file cannot be read.
    pub fn to_csar(&self) -> Result<Vec<u8>, Failure> {
        self.packed(Extras::Left)
    }

    /// As [`Resolution::to_csar`], with hidden files and with tests.
    ///
    /// # Errors
    /// As [`Resolution::to_csar`].
    pub fn to_csar_with_all_files(&self) -> Result<Vec<u8>, Failure> {
        self.packed(Extras::Packed)
    }

    fn packed(&self, extras: Extras) -> Result<Vec<u8>, Failure> {
        let failure = |error| Failure { diagnostics: vec![error], sources: self.sources.clone() };
        csar::pack(&self.package, &self.yaml, &EXTENSION, extras).map_err(failure)
    }

    /// An archive of the resolved template and the files that it names, wherever they come from;
    /// see [`Resolution::to_files`].
    ///
    /// # Errors
    /// As [`Resolution::to_files`].
    pub fn to_csar_of_files(&self) -> Result<Vec<u8>, Failure> {
        let failure = |error| Failure { diagnostics: vec![error], sources: self.sources.clone() };
        csar::pack_files(&self.to_files()?).map_err(failure)
    }

    /// As [`Resolution::to_csar_of_files`], with other templates, each of which substitutes some
    /// nodes.
    pub(crate) fn to_csar_with(
        &self,
        others: &[(&Path, &str)],
        nodes: &[&[String]],
    ) -> Result<Vec<u8>, Failure> {
        let failure = |error| Failure { diagnostics: vec![error], sources: self.sources.clone() };
        let gathered = csar::gather(&self.package, &self.sources, &self.yaml, others, &EXTENSION);
        let files = gathered.map_err(failure)?;
        csar::pack_nested(&files, nodes).map_err(failure)
    }

    /// Adapts the relative names of files in the resolved template to a file in this directory:
    /// imports, artifacts, implementations of operations, and repositories that are directories.
    ///
    /// Without this call, names are right beside the original template. Quotes stay as they were,
    /// and so do URLs, absolute paths and names in repositories. A file in an archive cannot be
    /// named from outside; that is a warning.
    ///
    /// ```
    /// let mut resolution = cuvee::Resolver::new("examples/shop").preset("prod").resolve()?;
    /// resolution.relocate("examples/deployment".as_ref());
    /// assert!(resolution.to_yaml().contains("- ../shop/lib/types.yaml"));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    pub fn relocate(&mut self, directory: &Path) {
        let (text, warning) = csar::renamed(&self.package, &self.sources, &self.yaml, directory);
        if let Some(text) = text {
            self.yaml = text;
        }
        self.warnings.extend(warning);
    }

    /// The resolved template, the files that it names, and the files that those name, each with its
    /// path below a common directory; the template comes first.
    ///
    /// The files keep their places relative to each other: if one is outside the directory of the
    /// template, the template gets a directory, too.
    ///
    /// ```
    /// let files = cuvee::Resolver::new("examples/shop").preset("dev").resolve()?.to_files()?;
    /// let names: Vec<_> = files.iter().map(|(path, _)| path.to_str().unwrap()).collect();
    /// assert_eq!(names[0], "variable-service-template.yaml");
    /// assert!(names.contains(&"images/shop.Containerfile") && names.contains(&"lib/types.yaml"));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    ///
    /// # Errors
    /// A [`Failure`] where an import has variability itself or does not exist, or where a file
    /// cannot be read.
    pub fn to_files(&self) -> Result<Vec<(PathBuf, Vec<u8>)>, Failure> {
        let failure = |error| Failure { diagnostics: vec![error], sources: self.sources.clone() };
        csar::gather(&self.package, &self.sources, &self.yaml, &[], &EXTENSION).map_err(failure)
    }

    /// The files that were read, in the order of reading; for files in an archive, the archive.
    pub fn sources(&self) -> impl Iterator<Item = &Path> {
        let paths = self.sources.files().map(|file| self.package.on_disk(file.path()));
        let mut seen = FxHashSet::default();
        paths.filter(move |path| seen.insert(*path))
    }

    /// The optimised sums, in the order of their rank, with what is proven about each.
    pub fn optima(&self) -> &[Optimum] {
        &self.optima
    }

    /// Whether the variant is proven to be the best, and the only best one wherever the template
    /// asks for that. This is always so unless the run was [cut short](crate::Resolver::timeout);
    /// then there is a warning as well.
    pub fn is_proven(&self) -> bool {
        self.warnings.iter().all(|warning| warning.code != Code::Unproven)
    }

    /// The files that diagnostics point into.
    pub fn source_map(&self) -> &SourceMap {
        &self.sources
    }

    /// The warnings of the run.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }
}

impl serde::Serialize for Resolution {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let document =
            self.parsed().ok_or_else(|| serde::ser::Error::custom("the result is no YAML"))?;
        document.root().to_value().serialize(serializer)
    }
}
