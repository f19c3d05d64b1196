//! Answers editors that ask for findings. They are asked to ask again where there is something new,
//! and nothing is published for them.

use super::connection;
use super::diagnostics::PublishedFinding;
use super::place::{path_of, uri_of};
use super::protocol::DocumentId;
use lsp_server::RequestId;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The request for what is found in an open document.
pub(super) const DOCUMENT: &str = "textDocument/diagnostic";

/// The request for what is found in files that are not open.
pub(super) const WORKSPACE: &str = "workspace/diagnostic";

/// A request for what is found in an open document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentPull {
    pub text_document: DocumentId,
    #[serde(default)]
    pub previous_result_id: Option<String>,
}

/// A request for what is found in files that are not open.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WorkspacePull {
    previous_result_ids: Vec<PreviousResult>,
}

#[derive(Deserialize)]
struct PreviousResult {
    uri: String,
    value: String,
}

impl WorkspacePull {
    /// The files of which the editor knows a result, each with the id of it.
    pub(super) fn known(self) -> BTreeMap<PathBuf, String> {
        let known = self.previous_result_ids.into_iter();
        known.filter_map(|known| Some((path_of(&known.uri)?, known.value))).collect()
    }
}

/// A request that waits until the text of its file is judged.
pub(super) struct WaitingPull {
    pub id: RequestId,
    pub path: PathBuf,
    /// The result that the editor has.
    pub known: Option<String>,
}

/// What an editor that asks for findings was answered, and what it waits for.
#[derive(Default)]
pub(super) struct PulledFindings {
    pub waiting: Vec<WaitingPull>,
    answered: BTreeMap<PathBuf, AnsweredFindings>,
    /// The files of which there is something new since the answer.
    news: BTreeSet<PathBuf>,
    /// The number of the last result.
    last: u64,
}

/// What was answered of a file.
struct AnsweredFindings {
    number: u64,
    /// The version of the text, if the file was open.
    version: Option<i32>,
    found: Vec<PublishedFinding>,
}

impl PulledFindings {
    /// What the server says that it can answer.
    pub(super) fn capabilities() -> Value {
        json!({ "diagnosticProvider": {
            "identifier": "cuvee", "interFileDependencies": true, "workspaceDiagnostics": true,
        } })
    }

    /// Notes what is found in a version of a file, or in a file that is not open. An editor asks by
    /// itself for what is found in a new version.
    pub(super) fn note(&mut self, path: &Path, version: Option<i32>, found: &[PublishedFinding]) {
        let is_news = match self.answered.get(path) {
            Some(answered) => answered.version == version && answered.found != found,
            None => version.is_none() && !found.is_empty(),
        };
        if is_news {
            self.news.insert(path.to_owned());
        }
    }

    /// Whether the editor was answered what is found in a file.
    pub(super) fn knows(&self, path: &Path) -> bool {
        self.answered.contains_key(path)
    }

    /// Gives up a request that waits. Returns whether there is one.
    pub(super) fn cancel(&mut self, id: &RequestId) -> bool {
        let waiting = self.waiting.len();
        self.waiting.retain(|pull| pull.id != *id);
        self.waiting.len() < waiting
    }

    /// Whether there is something new; it is so once.
    pub(super) fn has_news(&mut self) -> bool {
        !std::mem::take(&mut self.news).is_empty()
    }

    /// Forgets the answers about a file.
    pub(super) fn forget(&mut self, path: &Path) {
        self.answered.remove(path);
        self.news.remove(path);
    }

    /// What is answered of a file: what is found in it, unless the editor knows that.
    pub(super) fn report(
        &mut self,
        path: &Path,
        version: Option<i32>,
        found: Vec<PublishedFinding>,
        known: Option<&str>,
    ) -> Value {
        let before = self.answered.get(path).filter(|answered| answered.found == found);
        let number = before.map(|answered| answered.number).unwrap_or_else(|| {
            self.last += 1;
            self.last
        });
        let id = number.to_string();
        let report = match known == Some(&*id) {
            true => json!({ "kind": "unchanged", "resultId": id }),
            false => json!({ "kind": "full", "resultId": id, "items": found }),
        };
        self.news.remove(path);
        self.answered.insert(path.to_owned(), AnsweredFindings { number, version, found });
        report
    }

    /// The same of a file that is not open, with its address.
    pub(super) fn report_closed(
        &mut self,
        path: &Path,
        found: Vec<PublishedFinding>,
        known: Option<&str>,
    ) -> Value {
        let place = json!({ "uri": uri_of(path), "version": null });
        connection::joined(self.report(path, None, found, known), place)
    }
}
