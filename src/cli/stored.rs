//! Finds the instances that arguments name: in a store, or in an exported file.

use super::read::ReadFiles;
use super::{args, rejected};
use cuvee::Failure;
use cuvee::deploy::instance::{
    InstanceModel, ModelAt, ModelReading, OsStore, add_outputs, import_model, read_model,
};
use cuvee::diagnostic::{Code, Diagnostic, Diagnostics};
use cuvee::parts::yaml::{Document, Limits, parse};
use cuvee::source::{FileSystem, SourceMap, SourceText};
use std::path::{Path, PathBuf};

/// Reads the model in an exported file without adding anything. An import would give it a new
/// lineage.
///
/// # Errors
/// All errors in the file, each at its place.
pub(super) fn exported(path: &Path, read: &ReadFiles) -> Result<InstanceModel, Failure> {
    let sources = SourceMap::default();
    let found = document(path, read, &sources).map_err(Diagnostics::from);
    let found = found.and_then(|document| import_model(document.root()));
    found.map_err(|Diagnostics(diagnostics)| Failure { diagnostics, sources })
}

/// Reads and parses a file, and adds its text to `sources`.
pub(super) fn document(
    path: &Path,
    read: &ReadFiles,
    sources: &SourceMap,
) -> Result<Document, Diagnostic> {
    let text = read.read(path).map_err(|error| {
        Diagnostic::error(Code::File, format!("cannot read `{}`: {error}", path.display()))
    })?;
    let text = String::from_utf8(text).map_err(|_| {
        Diagnostic::error(Code::Syntax, format!("`{}` is no UTF-8 text", path.display()))
    })?;
    let text = SourceText::from(text);
    parse(sources.add(path, text.clone()), text, &Limits::default())
}

/// The store in this directory, in that of the environment variable, or else in `.cuvee`.
pub(super) fn store(said: Option<&Path>) -> OsStore {
    OsStore::new(directory(said))
}

/// The directory of the store.
pub(super) fn directory(said: Option<&Path>) -> PathBuf {
    let said = said.map(Path::to_owned);
    let variable =
        || std::env::var_os("CUVEE_STORE").filter(|it| !it.is_empty()).map(PathBuf::from);
    said.or_else(variable).unwrap_or_else(|| PathBuf::from(".cuvee"))
}

/// Parses a revision, or a time.
pub(super) fn at(text: &str) -> Result<ModelAt, Failure> {
    if let Ok(revision) = text.parse() {
        return Ok(ModelAt::Revision(revision));
    }
    match args::date(text) {
        Ok(time) => Ok(ModelAt::Time(time.timestamp())),
        Err(why) => {
            let message = format!("`{text}` is neither a revision nor a time: {why}");
            Err(rejected(Diagnostic::error(Code::Usage, message)))
        }
    }
}

/// The meaning of a name: a state of an instance, or an exported file.
pub(super) enum NamedModel<'n> {
    Instance(&'n str, ModelAt),
    File(&'n Path),
}

impl<'n> NamedModel<'n> {
    /// Parses `NAME`, `NAME@REVISION`, or the path of a file.
    pub(super) fn of(name: &'n str, revision: Option<&'n str>) -> Result<Self, Failure> {
        let is_file =
            name.contains(['/', '\\']) || name.ends_with(".yaml") || name.ends_with(".json");
        if is_file {
            return Ok(Self::File(Path::new(name)));
        }
        let (name, revision) = match (name.split_once('@'), revision) {
            (Some((name, at)), None) => (name, Some(at)),
            (_, revision) => (name, revision),
        };
        Ok(Self::Instance(name, revision.map_or(Ok(ModelAt::Latest), at)?))
    }
}

/// Reads the model of `NAME`, `NAME@REVISION`, or an exported file. `reading` tells which attributes
/// outputs may show.
pub(super) fn model(
    name: &str,
    revision: Option<&str>,
    store: &OsStore,
    reading: &ModelReading<'_>,
) -> Result<InstanceModel, Failure> {
    match NamedModel::of(name, revision)? {
        NamedModel::File(path) => exported(path, &ReadFiles::default()),
        NamedModel::Instance(name, at) => {
            let mut model = read_model(store, name, at).map_err(rejected)?;
            add_outputs(store, name, &mut model, reading);
            Ok(model)
        }
    }
}

/// The name of the instance in `NAME` or `NAME@REVISION`.
pub(super) fn instance_name(name: &str) -> &str {
    name.split_once('@').map_or(name, |(name, _)| name)
}

/// Reads the model of `instance:NAME`, `instance:NAME@REVISION`, or an exported file.
pub(super) fn model_of(source: &str, directory: Option<&Path>) -> Result<InstanceModel, Failure> {
    let name = source.strip_prefix("instance:");
    match name {
        Some(name) => model(name, None, &store(directory), &ModelReading::default()),
        None => exported(Path::new(source), &ReadFiles::default()),
    }
}
