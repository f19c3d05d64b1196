//! A resolved variant.

use super::find::Optimum;
use super::graph::{self, Graph};
use super::options;
use super::presence::Presence;
use crate::text::answer::Failure;
use crate::text::diagnostic::{Code, Diagnostic};
use crate::text::source::{FileId, SourceMap};
use crate::text::value::Value;
use crate::text::yaml::{self, Document, Limits};
use crate::tosca::csar::{self, Extension, Extras, Package};
use crate::variability::element::ElementKind;
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};

/// The identifiers of elements, held compactly: most callers never ask.
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

/// What other templates beside this one are.
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
    pub(super) warnings: Vec<Diagnostic>,
}

impl Resolution {
    /// A variant of which more was made than what is present in it.
    pub(crate) fn rewritten(
        yaml: String,
        package: Package,
        sources: SourceMap,
        warnings: Vec<Diagnostic>,
    ) -> Self {
        let elements = ElementNames::default();
        Self { yaml, elements, package, optima: Vec::new(), sources, warnings }
    }

    /// The resolved template as YAML, styled as its author styled it.
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

    /// What was written is read again, so that the forms cannot differ.
    fn parsed(&self) -> Option<Document> {
        yaml::parse(FileId::DETACHED, self.yaml.as_str().into(), &Limits::default()).ok()
    }

    /// Every element's identifier (`node.shop`), and whether it is present, in the order of the
    /// template; of no element where a variant was fulfilled.
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
    /// Left out are other variable templates and `tests` at the root or beside the template, and from
    /// a directory what is hidden and archives (`.csar`); all else stays. The same files give the same
    /// bytes.
    ///
    /// ```
    /// use cuvee::Resolver;
    /// use cuvee::csar::{Archive, Limits};
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

    /// As [`Resolution::to_csar`], with what is hidden and with tests.
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

    /// The resolved template and the files that it names in an archive, wherever they come from; see
    /// [`Resolution::to_files`].
    ///
    /// # Errors
    /// As [`Resolution::to_files`].
    pub fn to_csar_of_files(&self) -> Result<Vec<u8>, Failure> {
        let failure = |error| Failure { diagnostics: vec![error], sources: self.sources.clone() };
        csar::pack_files(&self.to_files()?).map_err(failure)
    }

    /// As [`Resolution::to_csar_of_files`], with templates that lie elsewhere and substitute these
    /// nodes each.
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

    /// Makes the relative names of files in the resolved template right for a file in this
    /// directory: imports, artifacts, what implements operations, and repositories that are
    /// directories.
    ///
    /// Without it they are right beside the template. Names are quoted as they were, and URLs,
    /// absolute paths and names in repositories stay. Where nothing leads to a file from there,
    /// because it is in an archive, that is a warning.
    ///
    /// ```
    /// let mut resolution = cuvee::Resolver::new("examples/shop").preset("prod").resolve()?;
    /// resolution.relocate("examples/deployment".as_ref());
    /// assert!(resolution.to_yaml().contains("- ../shop/lib/types.yaml"));
    /// # Ok::<(), cuvee::Failure>(())
    /// ```
    pub fn relocate(&mut self, directory: &Path) {
        let (text, warning) = csar::renamed(&self.package, &self.yaml, directory);
        if let Some(text) = text {
            self.yaml = text;
        }
        self.warnings.extend(warning);
    }

    /// The resolved template and the files that it names, and those that they name, each with its
    /// path below a directory of their own; the template comes first.
    ///
    /// They lie to each other as they did: where one was beside the directory of the template, the
    /// template has a directory, too.
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
    /// A [`Failure`] where an import has variability itself or is not there, or where a file cannot
    /// be read.
    pub fn to_files(&self) -> Result<Vec<(PathBuf, Vec<u8>)>, Failure> {
        let failure = |error| Failure { diagnostics: vec![error], sources: self.sources.clone() };
        csar::gather(&self.package, &self.sources, &self.yaml, &[], &EXTENSION).map_err(failure)
    }

    /// The files that were read, in the order of reading; an archive for what is in it.
    pub fn sources(&self) -> impl Iterator<Item = &Path> {
        let paths = self.sources.files().map(|file| self.package.on_disk(file.path()));
        let mut seen = FxHashSet::default();
        paths.filter(move |path| seen.insert(*path))
    }

    /// What was optimised, in the order of its rank: what the variant comes to, and what is proven.
    pub fn optima(&self) -> &[Optimum] {
        &self.optima
    }

    /// Whether the variant is proven to be the best, and the only best one wherever the template
    /// asks for that. It always is unless the run was [cut short](crate::Resolver::timeout); a warning
    /// tells as well.
    pub fn is_proven(&self) -> bool {
        self.warnings.iter().all(|warning| warning.code != Code::Unproven)
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

impl serde::Serialize for Resolution {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let document =
            self.parsed().ok_or_else(|| serde::ser::Error::custom("the result is no YAML"))?;
        document.root().to_value().serialize(serializer)
    }
}
