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
use crate::tosca::csar::{self, Extension, Package};
use crate::variability::element::ElementKind;
use rustc_hash::FxHashSet;
use std::path::Path;

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
const EXTENSION: Extension = Extension { is_version: options::known_version, key: "variability" };

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
    /// template.
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
    /// Other variable templates are left out, and from a directory what is hidden and archives
    /// (`.csar`); all else stays. The same files give the same bytes.
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
        let failure = |error| Failure { diagnostics: vec![error], sources: self.sources.clone() };
        csar::pack(&self.package, &self.yaml, &EXTENSION).map_err(failure)
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
