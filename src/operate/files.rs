//! The files that operations need, as they were kept with the target of an instance.

use crate::diagnostic::Diagnostic;
use crate::orchestrate::instance::TargetSources;
use crate::tosca::csar::is_archive;
use crate::tosca::v2_0;
use cuvee_text::source::normalize;
use cuvee_text::yaml::Node;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a target by their names, which are relative to one directory.
#[derive(Debug, Default)]
pub(super) struct KeptFiles {
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// The directory of the template that the target was made of. Files that are too large to be
    /// kept, or hold secrets, are only there. Those beside an archive do not belong to it.
    origin: Option<PathBuf>,
    /// The directory of the template among the files.
    template: PathBuf,
    /// The artifacts of node templates.
    artifacts: FxHashMap<String, Vec<NamedArtifact>>,
    /// The path of the template among the files, and its text.
    path: PathBuf,
    text: String,
    /// The names of files that are not kept.
    others: Vec<String>,
}

/// An artifact of a node template or node type.
#[derive(Debug)]
pub(super) struct NamedArtifact {
    pub(super) name: String,
    /// Its file, as it is written.
    pub(super) file: String,
    /// The place where that is written; `None` for the template.
    pub(super) place: Option<String>,
}

/// The largest file that is taken from the directory of the template.
const LARGEST: u64 = 1 << 30;

impl KeptFiles {
    /// The files of a target. `template` is the path of its template, as somebody gave it.
    ///
    /// # Errors
    /// `store-corrupt` if its text is no template.
    pub(super) fn of(target: TargetSources, template: &Path) -> Result<Self, Diagnostic> {
        let document = v2_0::parsed(target.concrete.as_str())?;
        let files = target.files.into_iter();
        let others = target.digests.into_iter().map(|(name, _)| name);
        let origin = match template {
            template if template.is_dir() => Some(template),
            template if is_archive(template) => None,
            template => Some(template.parent().unwrap_or(Path::new(""))),
        };
        Ok(Self {
            artifacts: artifacts(document.root()),
            files: files.map(|(name, bytes)| (normalize(Path::new(&name)), bytes)).collect(),
            origin: origin.map(Path::to_owned),
            template: Path::new(&target.template).parent().unwrap_or(Path::new("")).to_owned(),
            path: normalize(Path::new(&target.template)),
            text: target.concrete,
            others: others.collect(),
        })
    }

    /// The path of the template among the files.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The text of the template.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// All files by their names, those that are not kept as well.
    pub(super) fn all(&self) -> impl Iterator<Item = (PathBuf, Cow<'_, [u8]>)> {
        let kept = self.files.iter().map(|(path, bytes)| (path.clone(), Cow::Borrowed(&**bytes)));
        let others = self.others.iter().filter_map(|name| {
            let path = normalize(Path::new(name));
            let from_template = path.strip_prefix(&self.template).unwrap_or(&path);
            let (_, bytes) = self.find(&from_template.to_string_lossy(), None)?;
            Some((path, bytes))
        });
        kept.chain(others)
    }

    /// The artifacts of a node template.
    pub(super) fn artifacts(&self, template: &str) -> &[NamedArtifact] {
        self.artifacts.get(template).map_or(&[], Vec::as_slice)
    }

    /// Finds the file that `name` means at a place such as `examples/shop/types.yaml:13:5`: a path
    /// from the directory of the file that names it. Gives its name in the archive, and its bytes.
    pub(super) fn find(&self, name: &str, place: Option<&str>) -> Option<(PathBuf, Cow<'_, [u8]>)> {
        // The directory in a place may begin before that of the target's files.
        let by = place.and_then(directory_of).unwrap_or_else(|| self.template.clone());
        let mut parts = by.components();
        loop {
            let path = normalize(&parts.as_path().join(name));
            if let Some(bytes) = self.files.get(&path) {
                return Some((path, Cow::Borrowed(bytes)));
            }
            if parts.next().is_none() {
                break;
            }
        }
        let origin = self.origin.as_ref()?;
        [by.join(name), origin.join(name)].iter().find_map(|path| {
            let is_file =
                fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= LARGEST);
            let bytes = is_file.then(|| fs::read(path).ok()).flatten()?;
            Some((below(name), Cow::Owned(bytes)))
        })
    }
}

fn artifacts(template: Node<'_>) -> FxHashMap<String, Vec<NamedArtifact>> {
    let nodes = template.get("topology_template").and_then(|it| it.get("node_templates"));
    let file = |(name, said): (Node<'_>, Node<'_>)| {
        let file = said.text().or_else(|| said.get("file")?.text())?;
        let (name, file) = (name.key_text().into_owned(), file.to_owned());
        Some(NamedArtifact { name, file, place: None })
    };
    let nodes = nodes.into_iter().flat_map(Node::entries);
    let of_node = |(name, node): (Node<'_>, Node<'_>)| {
        let files: Vec<_> = node.get("artifacts")?.entries().filter_map(file).collect();
        Some((name.key_text().into_owned(), files))
    };
    nodes.filter_map(of_node).collect()
}

/// The directory of the file in a place `FILE:LINE:COLUMN`.
fn directory_of(place: &str) -> Option<PathBuf> {
    let file = place.rsplitn(3, ':').last()?;
    Some(Path::new(file).parent()?.to_owned())
}

/// The path below a directory that a name has there.
fn below(name: &str) -> PathBuf {
    let parts = Path::new(name).components();
    parts.filter(|part| matches!(part, std::path::Component::Normal(_))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_paths_from_the_file_that_has_them() {
        let names =
            ["lib/a.sh", "a.sh", "scripts/b.sh"].map(|name| (PathBuf::from(name), name.into()));
        let files = KeptFiles { files: names.into(), ..KeptFiles::default() };
        let find =
            |name, place| files.find(name, Some(place)).map(|(path, _)| path.display().to_string());
        assert_eq!(find("a.sh", "examples/shop/lib/types.yaml:1:2").unwrap(), "lib/a.sh");
        assert_eq!(find("a.sh", "t.yaml:1:2").unwrap(), "a.sh");
        assert_eq!(find("../scripts/b.sh", "lib/types.yaml:1:2").unwrap(), "scripts/b.sh");
        assert_eq!(find("c.sh", "t.yaml:1:2"), None);
    }
}
