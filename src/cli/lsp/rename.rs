//! Renames in all files of a workspace, whether they are open or not.

use super::place::uri_of;
use super::protocol::Encoding;
use super::worker::AskedQuestion;
use crate::cli::validate::mentions_tosca;
use cuvee::Resolver;
use cuvee::editor::{self, Renaming};
use cuvee::source::{SourceMap, SourceText, Span};
use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The request for the changes that rename something.
pub(super) const METHOD: &str = "textDocument/rename";

/// How many files of a workspace are looked through at most.
const FILES: usize = 20_000;

/// Keys of templates that may name other files, in which names stand.
const ELSEWHERE: [&str; 2] = ["qualities:", "type_specific_conditions:"];

/// Where there may be files that have a name.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RenamedWorkspace {
    /// The folders of the workspace.
    pub folders: Vec<PathBuf>,
    /// What is judged as it is open.
    pub roots: BTreeSet<PathBuf>,
}

/// Renames by what is open, over the saved files.
pub(super) struct WorkspaceRenaming<'w> {
    pub resolver: &'w dyn Fn(&Path) -> Resolver,
    pub texts: &'w BTreeMap<PathBuf, SourceText>,
    pub encoding: Encoding,
}

impl WorkspaceRenaming<'_> {
    /// The changes in all files.
    ///
    /// # Errors
    /// Why something cannot be renamed, or not so.
    pub(super) fn answer(
        &self,
        root: &Path,
        asked: &AskedQuestion,
        workspace: &RenamedWorkspace,
    ) -> Result<Value, String> {
        let text = self.texts.get(&asked.file).map(|text| &**text);
        let offset = super::ask::offset(&asked.params, text, self.encoding);
        let offset = offset.ok_or("the request has no position")?;
        let new = asked.params.get("newName").and_then(Value::as_str).unwrap_or_default();
        let resolver = (self.resolver)(root);
        let mut renaming = resolver.analysis(Some((&asked.file, offset)), |analysis| {
            Renaming::start(analysis, &asked.file, offset, new)
        })?;
        let mut roots = workspace.roots.clone();
        for folder in &workspace.folders {
            self.mentioning(folder, renaming.old(), &mut roots)?;
        }
        roots.insert(root.to_owned());
        // What one template adds, such as an alternative, another one may have as well.
        let mut is_more = true;
        while is_more {
            is_more = false;
            for root in &roots {
                let resolver = (self.resolver)(root);
                is_more |= resolver.analysis(None, |analysis| match analysis.has_types() {
                    true => renaming.spread(analysis),
                    false => {
                        let (name, root) = (renaming.old(), root.display());
                        Err(format!("`{name}` may stand in `{root}`, which cannot be read"))
                    }
                })?;
            }
        }
        self.check(&renaming, workspace)?;
        Ok(self.changes(&renaming))
    }

    /// Checks that all changes are in files that somebody sees.
    fn check(&self, renaming: &Renaming, workspace: &RenamedWorkspace) -> Result<(), String> {
        let is_seen = |path: &Path| {
            workspace.folders.is_empty()
                || self.texts.contains_key(path)
                || workspace.folders.iter().any(|folder| path.starts_with(folder))
        };
        match renaming.changes().find(|change| !is_seen(change.path)) {
            Some(change) => Err(format!(
                "`{}` stands in `{}`, too, which is outside of the workspace",
                renaming.old(),
                change.path.display()
            )),
            None => Ok(()),
        }
    }

    fn changes(&self, renaming: &Renaming) -> Value {
        let sources = SourceMap::default();
        let mut changes: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for change in renaming.changes() {
            let known = sources.find(change.path);
            let file = known.unwrap_or_else(|| sources.add(change.path, change.text.clone()));
            let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            let span =
                Span { file, start: number(change.range.start), end: number(change.range.end) };
            let range = editor::range(&sources, span, self.encoding);
            let edit = json!({ "range": range, "newText": change.new });
            changes.entry(uri_of(change.path)).or_default().push(edit);
        }
        json!({ "changes": changes })
    }

    /// The files of TOSCA in a folder that have a name, or may name files that have it.
    fn mentioning(
        &self,
        folder: &Path,
        name: &str,
        found: &mut BTreeSet<PathBuf>,
    ) -> Result<(), String> {
        let wanted: Vec<_> =
            [name].iter().chain(&ELSEWHERE).map(|word| memmem::Finder::new(*word)).collect();
        let (mut open, mut count) = (vec![folder.to_owned()], 0);
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let (path, kind) = (entry.path(), entry.file_type());
                let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
                match kind {
                    Ok(kind)
                        if kind.is_dir() && !is_hidden && entry.file_name() != "node_modules" =>
                    {
                        open.push(path);
                        continue;
                    }
                    Ok(kind) if !kind.is_dir() && is_yaml(&path) => count += 1,
                    _ => continue,
                }
                if count > FILES {
                    return Err(format!("the workspace has more than {FILES} files"));
                }
                let text = self.texts.get(&path).map(|text| text.as_bytes().to_vec());
                let Some(text) = text.or_else(|| std::fs::read(&path).ok()) else { continue };
                let has_word = wanted.iter().any(|word| word.find(&text).is_some());
                if has_word && mentions_tosca(&text) {
                    found.insert(path);
                }
            }
        }
        Ok(())
    }
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "yaml" || it == "yml" || it == "tosca")
}
