//! The parts of the protocol that the server reads, and the names and numbers that it writes.

pub(super) use cuvee::editor::{Encoding, Position, Range};

use super::place::path_of;
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;

/// Files changed outside of the editor.
pub(super) const WATCHED: &str = "workspace/didChangeWatchedFiles";

/// Why a request has no result.
#[derive(Clone, Copy)]
pub(super) enum ErrorKind {
    Parse,
    InvalidRequest,
    MethodNotFound,
    InvalidParams,
    Internal,
    NotInitialized,
    ContentModified,
    Cancelled,
    /// What was asked for cannot be done, as the message says.
    Failed,
}

impl ErrorKind {
    pub(super) fn code(self) -> i32 {
        match self {
            Self::Parse => -32_700,
            Self::InvalidRequest => -32_600,
            Self::MethodNotFound => -32_601,
            Self::InvalidParams => -32_602,
            Self::Internal => -32_603,
            Self::NotInitialized => -32_002,
            Self::Cancelled => -32_800,
            Self::ContentModified => -32_801,
            Self::Failed => -32_803,
        }
    }
}

/// What of `initialize` is looked at.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Initialize {
    #[serde(default)]
    pub process_id: Option<u32>,
    #[serde(default)]
    pub capabilities: Value,
    #[serde(default)]
    pub initialization_options: Value,
    #[serde(default)]
    workspace_folders: Option<Vec<DocumentId>>,
    #[serde(default)]
    root_uri: Option<String>,
}

/// Folders came to the workspace, or went.
#[derive(Deserialize)]
pub(super) struct ChangedFolders {
    pub event: FolderChanges,
}

#[derive(Deserialize)]
pub(super) struct FolderChanges {
    pub added: Vec<DocumentId>,
    pub removed: Vec<DocumentId>,
}

impl Initialize {
    /// The folders of the workspace.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let folders = self.workspace_folders.iter().flatten().map(|folder| &folder.uri);
        let folders: Vec<_> = folders.filter_map(|uri| path_of(uri)).collect();
        let root = self.root_uri.as_deref().and_then(path_of);
        if folders.is_empty() { root.into_iter().collect() } else { folders }
    }

    /// How columns are counted: by bytes if the editor offers that.
    pub(super) fn encoding(&self) -> Encoding {
        let offered = self.capabilities.pointer("/general/positionEncodings");
        let mut offered = offered.and_then(Value::as_array).into_iter().flatten();
        if offered.any(|one| one == Encoding::Utf8.name()) {
            Encoding::Utf8
        } else {
            Encoding::Utf16
        }
    }

    /// Whether the editor asks for findings, and can be asked to ask again: what only variants have
    /// is found after it was answered what the text says.
    pub(super) fn pulls(&self) -> bool {
        let asks = self.capabilities.pointer("/textDocument/diagnostic");
        asks.is_some_and(Value::is_object) && self.offers("/workspace/diagnostics/refreshSupport")
    }

    /// Whether the editor says that it can do something.
    pub(super) fn offers(&self, pointer: &str) -> bool {
        self.capabilities.pointer(pointer).and_then(Value::as_bool).unwrap_or_default()
    }
}

#[derive(Deserialize)]
pub(super) struct DocumentId {
    pub uri: String,
}

#[derive(Deserialize)]
pub(super) struct DocumentVersion {
    pub uri: String,
    pub version: i32,
}

#[derive(Deserialize)]
pub(super) struct DocumentText {
    pub uri: String,
    pub version: i32,
    pub text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenedDocument {
    pub text_document: DocumentText,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Changed {
    pub text_document: DocumentVersion,
    pub content_changes: Vec<TextChange>,
}

/// A change of a document: of a range, or of all of it.
#[derive(Deserialize)]
pub(super) struct TextChange {
    pub range: Option<Range>,
    pub text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OfDocument {
    pub text_document: DocumentId,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeActions {
    pub text_document: DocumentId,
    pub range: Range,
}

#[derive(Deserialize)]
pub(super) struct ChangedSettings {
    #[serde(default)]
    pub settings: Value,
}

#[derive(Deserialize)]
pub(super) struct WantedNames {
    #[serde(default)]
    pub query: String,
}

#[derive(Deserialize)]
pub(super) struct WatchedFiles {
    pub changes: Vec<DocumentId>,
}

#[derive(Deserialize)]
pub(super) struct Cancelled {
    pub id: lsp_server::RequestId,
}
