//! `cuvee instance import`, as far as it reads a model

use crate::cli::read::ReadFiles;
use cuvee::Failure;
use cuvee::diagnostic::{Code, Diagnostic, Diagnostics};
use cuvee::instance::{InstanceModel, import_model};
use cuvee::source::{FileSystem, SourceMap};
use cuvee::yaml::{Document, Limits, parse};
use std::path::Path;
use std::sync::Arc;

/// The model that a file says, with nothing added: who imports it gives it a lineage of its own.
///
/// # Errors
/// Everything that is wrong with the file, each at its place.
pub(super) fn model(path: &Path, read: &ReadFiles) -> Result<InstanceModel, Failure> {
    let sources = SourceMap::default();
    let found = document(path, read, &sources).map_err(Diagnostics::from);
    let found = found.and_then(|document| import_model(document.root()));
    found.map_err(|Diagnostics(diagnostics)| Failure { diagnostics, sources })
}

/// A document of its own.
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
    let text: Arc<str> = text.into();
    parse(sources.add(path, Arc::clone(&text)), text, &Limits::default())
}
