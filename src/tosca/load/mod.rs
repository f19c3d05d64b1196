//! Reads a template with its library and its imports, each file once.

mod imports;
mod loaded;
mod mapping;

pub use imports::{Imported, import_names};
pub(crate) use loaded::{Extent, Loaded, TemplateLocation};
pub use mapping::{Mapping, is_profile};

use crate::text::diagnostic::{Code, Diagnostic};
use crate::text::source::FileSystem;
use std::path::{Path, PathBuf};

/// The names under which a directory's template is found, the first one first.
pub const TEMPLATE_NAMES: [&str; 4] =
    ["variable-service-template.yaml", "service-template.yaml", "template.yaml", "vst.yaml"];

/// Finds the template of a path: the file, or the file of a usual name in the directory.
///
/// # Errors
/// `file` where there is none.
pub fn find_template(files: &dyn FileSystem, path: &Path) -> Result<PathBuf, Diagnostic> {
    if !files.is_dir(path) {
        return Ok(path.to_owned());
    }
    let found = TEMPLATE_NAMES.iter().map(|name| path.join(name)).find(|file| files.is_file(file));
    found.ok_or_else(|| {
        let message = format!("there is no template in `{}`", path.display());
        Diagnostic::error(Code::File, message)
            .help(format!("name the file, or call it {}", TEMPLATE_NAMES.join(", ")))
    })
}

/// Every YAML file below a directory, sorted; nothing where there is no such directory.
fn library_files(files: &dyn FileSystem, directory: &Path) -> Vec<PathBuf> {
    const DEPTH: usize = 16;
    let mut found = Vec::new();
    let mut open = vec![(directory.to_owned(), 0)];
    while let Some((directory, depth)) = open.pop() {
        for path in files.list(&directory).unwrap_or_default() {
            if is_yaml(&path) && files.is_file(&path) {
                found.push(path);
            } else if depth < DEPTH && files.is_dir(&path) {
                open.push((path, depth + 1));
            }
        }
    }
    found.sort();
    found
}

/// Whether this is called a YAML file.
pub fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}
