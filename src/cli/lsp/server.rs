//! The loop of the server: it holds documents, hands work to workers, and publishes what they find.

use super::commands::{self, CommandSubject};
use super::connection::{self, ClientMessage, params, refused};
use super::diagnostics::{PublishedFinding, WorkerReport};
use super::documents::EditedDocument;
use super::place::{is_built_in, is_fixed, path_of, root_of, uri_of};
use super::protocol::{
    self, Cancelled, Changed, ChangedFolders, ChangedSettings, CodeActions, DocumentId, Encoding,
    ErrorKind, Initialize, OfDocument, OpenedDocument, Range, WantedNames, WatchedFiles,
};
use super::pulled::{self, DocumentPull, PulledFindings, WaitingPull, WorkspacePull};
use super::rename::{self, RenamedWorkspace};
use super::root::JudgedRoot;
use super::settings::{self, ChosenPreset, EditorSettings, ImportLookup, ShownPreset};
use super::worker::{AskedQuestion, FromWorker, ToWorker, WorkerRun, WorkerTask};
use super::workers::{FromWorkers, WorkerKind, WorkerProcess};
use cuvee::source::SourceText;
use cuvee::source::csar::is_archive;
use indexmap::IndexSet;
use lsp_server::{Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How long nobody types before variants are looked at.
const IDLE: Duration = Duration::from_millis(300);

/// How long a worker may go on with what was stopped, before it is ended.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often the server looks whether the editor is still there.
const LOOK: Duration = Duration::from_secs(2);

/// What happens to the server.
enum ServerEvent {
    Client(ClientMessage),
    /// The editor is gone.
    Closed,
    Worker(FromWorkers),
}

impl From<FromWorkers> for ServerEvent {
    fn from(said: FromWorkers) -> Self {
        Self::Worker(said)
    }
}

/// What a run was started for.
enum Purpose {
    Text(PathBuf),
    Variants(PathBuf),
    /// What the variant of a preset does not have.
    Absent(PathBuf, String),
    Request(RequestId),
    /// A request about variants.
    VariantsRequest(RequestId),
}

impl Purpose {
    /// The worker that computes this.
    fn worker(&self) -> WorkerKind {
        match self {
            Self::Text(_) | Self::Request(_) => WorkerKind::Text,
            Self::Variants(_) | Self::Absent(..) | Self::VariantsRequest(_) => WorkerKind::Variants,
        }
    }

    /// The request that waits for this.
    fn request(&self) -> Option<&RequestId> {
        match self {
            Self::Request(id) | Self::VariantsRequest(id) => Some(id),
            Self::Text(_) | Self::Variants(_) | Self::Absent(..) => None,
        }
    }
}

/// How the session goes on.
enum SessionFlow {
    On,
    /// It ends; whether the editor said goodbye before.
    End(bool),
}

/// Serves the editor on standard input and output, with imports that are looked for where its
/// arguments say. Returns whether it said goodbye.
///
/// # Errors
/// Where a worker cannot be started.
pub(super) fn serve(arguments: ImportLookup) -> io::Result<bool> {
    let (to, from) = channel();
    let events = to.clone();
    std::thread::Builder::new().spawn(move || {
        let mut input = BufReader::new(io::stdin());
        while let Ok(Some(incoming)) = connection::read(&mut input) {
            if events.send(ServerEvent::Client(incoming)).is_err() {
                return;
            }
        }
        let _ = events.send(ServerEvent::Closed);
    })?;
    let mut server = Server::new(to, arguments)?;
    server.serve(&from)
}

struct Server {
    to: Sender<ServerEvent>,
    encoding: Encoding,
    /// The process of the editor.
    editor: Option<u32>,
    is_initialized: bool,
    is_shut_down: bool,
    settings: EditorSettings,
    /// Where imports are looked for by the arguments, and by these and the settings.
    arguments: ImportLookup,
    lookup: ImportLookup,
    /// The presets that the editor has chosen for templates.
    presets: BTreeMap<PathBuf, String>,
    /// The folders of the workspace.
    folders: Vec<PathBuf>,
    /// What the editor shows anew where it is asked to.
    refreshes: Vec<&'static str>,
    /// How many requests the editor was sent.
    asked: i32,
    documents: BTreeMap<PathBuf, EditedDocument>,
    roots: BTreeMap<PathBuf, JudgedRoot>,
    /// What was last published of each file.
    published: BTreeMap<PathBuf, Vec<PublishedFinding>>,
    /// What an editor was answered that asks for findings; then nothing is published.
    pulled: Option<PulledFindings>,
    text: WorkerProcess,
    variants: WorkerProcess,
    runs: BTreeMap<u64, Purpose>,
    next_run: u64,
    /// The runs that were stopped and not answered yet, and since when.
    stopped: BTreeMap<u64, (WorkerKind, Instant)>,
}

impl Server {
    fn new(to: Sender<ServerEvent>, arguments: ImportLookup) -> io::Result<Self> {
        let (encoding, texts) = (Encoding::default(), BTreeMap::new());
        let start = |kind| WorkerProcess::start(kind, 0, &to, encoding, &arguments, &texts);
        Ok(Self {
            text: start(WorkerKind::Text)?,
            variants: start(WorkerKind::Variants)?,
            to,
            encoding,
            editor: None,
            is_initialized: false,
            is_shut_down: false,
            settings: EditorSettings::default(),
            lookup: arguments.clone(),
            arguments,
            presets: BTreeMap::new(),
            folders: Vec::new(),
            refreshes: Vec::new(),
            asked: 0,
            documents: BTreeMap::new(),
            roots: BTreeMap::new(),
            published: BTreeMap::new(),
            pulled: None,
            runs: BTreeMap::new(),
            next_run: 0,
            stopped: BTreeMap::new(),
        })
    }

    fn serve(&mut self, events: &Receiver<ServerEvent>) -> io::Result<bool> {
        loop {
            let event = match events.recv_timeout(self.wait()) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => {
                    self.look_around()?;
                    if self.editor.is_some_and(is_gone) {
                        return Ok(self.is_shut_down);
                    }
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(self.is_shut_down),
            };
            match event {
                ServerEvent::Client(ClientMessage::Message(message)) => {
                    if let SessionFlow::End(said_goodbye) = self.message(message) {
                        return Ok(said_goodbye);
                    }
                }
                ServerEvent::Client(ClientMessage::Wrong(response)) => {
                    let _ = connection::write_value(&response, &mut io::stdout().lock());
                }
                // Who never said hello need not say goodbye.
                ServerEvent::Closed => return Ok(self.is_shut_down || !self.is_initialized),
                ServerEvent::Worker(FromWorkers::Said(said)) => self.said(said),
                ServerEvent::Worker(FromWorkers::Gone(kind, number)) => self.gone(kind, number)?,
            }
            self.look_around()?;
        }
    }

    /// Does what is due.
    fn look_around(&mut self) -> io::Result<()> {
        self.look_at_variants();
        self.answer_pulls();
        self.end_what_goes_on()
    }

    /// How long there is nothing to do if nothing happens.
    fn wait(&self) -> Duration {
        let due = self.roots.values().filter_map(|root| root.is_due).map(|due| due + IDLE);
        let ended = self.stopped.values().map(|(_, since)| *since + PATIENCE);
        let next = due.chain(ended).min();
        next.map_or(LOOK, |next| next.saturating_duration_since(Instant::now()).min(LOOK))
    }

    // Messages of the editor.

    fn message(&mut self, message: Message) -> SessionFlow {
        match message {
            Message::Request(request) => self.request(request),
            Message::Notification(Notification { method, .. }) if method == "exit" => {
                return SessionFlow::End(self.is_shut_down);
            }
            Message::Notification(notification) if self.is_initialized => {
                self.notification(notification);
            }
            Message::Notification(_) | Message::Response(_) => {}
        }
        SessionFlow::On
    }

    fn request(&mut self, request: Request) {
        let Request { id, method, params: given } = request;
        match &*method {
            "initialize" if !self.is_initialized => self.initialize(id, given),
            _ if !self.is_initialized => {
                let why = "the first request is `initialize`";
                write(&refused(id, ErrorKind::NotInitialized, why));
            }
            "shutdown" => {
                self.is_shut_down = true;
                write(&Response::new_ok(id, Value::Null).into());
            }
            _ if self.is_shut_down => {
                write(&refused(id, ErrorKind::InvalidRequest, "the server was shut down"));
            }
            "textDocument/codeAction" => match params::<CodeActions>(given) {
                Ok(asked) => write(&Response::new_ok(id, self.code_actions(&asked)).into()),
                Err(why) => write(&refused(id, ErrorKind::InvalidParams, &why)),
            },
            pulled::DOCUMENT if self.pulled.is_some() => match params::<DocumentPull>(given) {
                Ok(pull) => self.pull(id, pull),
                Err(why) => write(&refused(id, ErrorKind::InvalidParams, &why)),
            },
            pulled::WORKSPACE if self.pulled.is_some() => match params::<WorkspacePull>(given) {
                Ok(pull) => self.pull_closed(id, pull.known()),
                Err(why) => write(&refused(id, ErrorKind::InvalidParams, &why)),
            },
            "workspace/symbol" => match params::<WantedNames>(given) {
                Ok(wanted) => self.names(id, wanted.query),
                Err(why) => write(&refused(id, ErrorKind::InvalidParams, &why)),
            },
            "workspace/textDocumentContent" => match params::<DocumentId>(given) {
                Ok(wanted) => {
                    let task = WorkerTask::Content(wanted.uri);
                    self.start(Path::new(""), Purpose::Request(id), task);
                }
                Err(why) => write(&refused(id, ErrorKind::InvalidParams, &why)),
            },
            super::ask::HINTS if !self.settings.inlay_hints => {
                write(&Response::new_ok(id, json!([])).into());
            }
            commands::LENSES if !self.settings.lenses => {
                write(&Response::new_ok(id, json!([])).into());
            }
            rename::METHOD => self.ask(id, rename::METHOD, given),
            method if super::ask::METHODS.contains(&method) => self.ask(id, method, given),
            commands::EXECUTE | commands::LENSES => self.ask_variants(id, &method, given),
            _ => {
                let why = format!("there is no `{method}`");
                write(&refused(id, ErrorKind::MethodNotFound, &why));
            }
        }
    }

    fn initialize(&mut self, id: RequestId, given: Value) {
        let initialize = match params::<Initialize>(given) {
            Ok(initialize) => initialize,
            Err(why) => return write(&refused(id, ErrorKind::InvalidParams, &why)),
        };
        self.is_initialized = true;
        self.encoding = initialize.encoding();
        self.editor = initialize.process_id;
        self.folders = initialize.folders();
        let settings = EditorSettings::of(&initialize.initialization_options);
        self.settings = settings.unwrap_or_default();
        let refreshes = settings::REFRESHES.iter().filter(|(offer, _)| initialize.offers(offer));
        self.refreshes = refreshes.map(|(_, method)| *method).collect();
        self.tell_both(&ToWorker::Encoding(self.encoding));
        self.look_up();
        self.pulled = initialize.pulls().then(PulledFindings::default);
        let pulls = self.pulled.as_ref().map(|_| PulledFindings::capabilities());
        let own = json!({
            "positionEncoding": self.encoding.name(),
            "textDocumentSync": { "openClose": true, "change": 2, "save": false },
            "codeActionProvider": { "codeActionKinds": ["quickfix"] },
        });
        let more = [commands::capabilities(), own].into_iter().chain(pulls);
        let capabilities = more.fold(super::ask::capabilities(), connection::joined);
        let server = json!({ "name": "cuvee", "version": env!("CARGO_PKG_VERSION") });
        let result = json!({ "capabilities": capabilities, "serverInfo": server });
        write(&Response::new_ok(id, result).into());
        if initialize.offers("/workspace/didChangeWatchedFiles/dynamicRegistration") {
            write(&connection::watches(self.asked));
            self.asked += 1;
        }
    }

    /// Asks the editor to show something anew, if it can.
    fn refresh(&mut self, method: &str) {
        if self.refreshes.contains(&method) {
            write(&connection::asked(self.asked, method, Value::Null));
            self.asked += 1;
        }
    }

    fn notification(&mut self, notification: Notification) {
        let Notification { method, params: given } = notification;
        // What is wrong with a notification, nobody can be told.
        match &*method {
            "textDocument/didOpen" => drop(params(given).map(|opened| self.open(opened))),
            "textDocument/didChange" => drop(params(given).map(|changed| self.change(&changed))),
            "textDocument/didClose" => drop(params(given).map(|closed| self.close(&closed))),
            "$/cancelRequest" => drop(params(given).map(|cancelled| self.cancel(&cancelled))),
            protocol::WATCHED => drop(params(given).map(|watched| self.watched(&watched))),
            "workspace/didChangeConfiguration" => {
                drop(params(given).map(|changed| self.configure(&changed)));
            }
            "workspace/didChangeWorkspaceFolders" => {
                drop(params(given).map(|changed| self.change_folders(&changed)));
            }
            settings::PRESET => drop(params(given).map(|chosen| self.choose(chosen))),
            _ => {}
        }
    }

    fn change_folders(&mut self, ChangedFolders { event }: &ChangedFolders) {
        let paths = |folders: &[DocumentId]| -> Vec<_> {
            folders.iter().filter_map(|folder| path_of(&folder.uri)).collect()
        };
        let removed = paths(&event.removed);
        self.folders.retain(|folder| !removed.contains(folder));
        self.folders.extend(paths(&event.added));
        self.look_up();
    }

    // Settings.

    fn configure(&mut self, ChangedSettings { settings }: &ChangedSettings) {
        let Some(settings) = EditorSettings::of(settings) else { return };
        self.settings = settings;
        self.look_up();
        self.refresh(settings::HINTS_REFRESH);
        self.refresh(settings::LENSES_REFRESH);
        let roots: Vec<_> = self.roots.keys().cloned().collect();
        roots.iter().for_each(|root| self.show_preset(root));
    }

    /// Finds out where imports are looked for now. Where that changes, all is judged anew.
    fn look_up(&mut self) {
        let lookup = self.arguments.clone().chosen(&self.settings, &self.folders);
        if lookup == self.lookup {
            return;
        }
        self.lookup = lookup;
        self.tell_both(&ToWorker::Lookup(self.lookup.clone()));
        let roots: Vec<_> = self.roots.keys().cloned().collect();
        roots.iter().for_each(|root| self.judge(root, None));
    }

    fn choose(&mut self, ChosenPreset { uri, preset }: ChosenPreset) {
        let Some(root) = path_of(&uri).map(|path| root_of(&path)) else { return };
        match preset {
            Some(preset) => drop(self.presets.insert(root.clone(), preset)),
            None => drop(self.presets.remove(&root)),
        }
        self.show_preset(&root);
    }

    /// Finds out what the variant of the chosen preset does not have.
    fn show_preset(&mut self, root: &Path) {
        let preset = self.presets.get(root).unwrap_or(&self.settings.preset).clone();
        let Some(known) = self.roots.get_mut(root) else { return };
        // A text that is broken has no variants: what is shown stays until there is one.
        let (can_be_shown, before) =
            (known.text.is_some() && !known.is_broken, known.absent_run.take());
        before.map(|run| self.stop_run(run));
        if preset.is_empty() {
            self.show(root, None);
        } else if can_be_shown {
            let purpose = Purpose::Absent(root.to_owned(), preset.clone());
            let run = self.start(root, purpose, WorkerTask::Absent(preset));
            if let Some(known) = self.roots.get_mut(root) {
                known.absent_run = Some(run);
            }
        }
    }

    /// Tells the editor what is absent in the files that are open.
    fn show(&mut self, root: &Path, shown: Option<ShownPreset>) {
        let Some(known) = self.roots.get_mut(root) else { return };
        let before = std::mem::replace(&mut known.shown, shown);
        let (after, files) = (known.shown.clone(), known.files.clone());
        if before.is_none() && after.is_none() {
            return;
        }
        let preset = after.as_ref().map(|shown| shown.name.clone());
        for file in files {
            let Some(document) = self.documents.get(&file) else { continue };
            let absent = after.as_ref().map_or(&[][..], |shown| shown.absent_in(&file));
            let method = settings::ABSENT.to_owned();
            let params = json!({
                "uri": document.uri, "version": document.version, "preset": preset, "ranges": absent,
            });
            write(&Notification { method, params }.into());
        }
        if before != after {
            self.refresh(settings::TOKENS_REFRESH);
            self.refresh(settings::HINTS_REFRESH);
        }
    }

    // Documents.

    fn open(&mut self, OpenedDocument { text_document: opened }: OpenedDocument) {
        let Some(path) = path_of(&opened.uri) else { return };
        let text = SourceText::from(opened.text);
        self.tell_both(&ToWorker::Text(path.clone(), Some(text.clone())));
        let (uri, version) = (opened.uri, opened.version);
        let document = EditedDocument { uri, version, text, typed_at: 0 };
        self.documents.insert(path.clone(), document);
        self.changed(&path);
    }

    fn change(&mut self, changed: &Changed) {
        let Some(path) = path_of(&changed.text_document.uri) else { return };
        let Some(document) = self.documents.get_mut(&path) else { return };
        for change in &changed.content_changes {
            document.apply(change, self.encoding);
            for root in self.roots.values_mut() {
                root.change(&path, change, self.encoding);
            }
        }
        document.version = changed.text_document.version;
        let text = document.text.clone();
        self.tell_both(&ToWorker::Text(path.clone(), Some(text)));
        self.changed(&path);
    }

    fn close(&mut self, closed: &OfDocument) {
        let Some(path) = path_of(&closed.text_document.uri) else { return };
        if self.documents.remove(&path).is_none() {
            return;
        }
        if let Some(pulled) = &mut self.pulled {
            pulled.forget(&path);
        }
        self.tell_both(&ToWorker::Text(path.clone(), None));
        self.changed(&path);
    }

    fn watched(&mut self, watched: &WatchedFiles) {
        let paths: BTreeSet<_> =
            watched.changes.iter().filter_map(|change| path_of(&change.uri)).collect();
        for path in paths {
            // The text of an open file is that of the editor.
            if !self.documents.contains_key(&path) {
                let about = path.clone();
                let missing = |root: &JudgedRoot| root.is_broken || root.text.is_none();
                let roots = self.roots.iter().filter(|(_, root)| root.has(&about) || missing(root));
                let roots: Vec<_> = roots.map(|(root, _)| root.clone()).collect();
                // A new file may be one that an import has missed.
                let all: Vec<_> = self.roots.keys().cloned().collect();
                let roots = if path.exists() && roots.is_empty() { all } else { roots };
                roots.iter().for_each(|root| self.judge(root, None));
            }
        }
    }

    /// Judges what belongs to a file again, as its text is another one.
    fn changed(&mut self, path: &Path) {
        self.choose_roots();
        let near = self.documents.get(path).map(|document| (path.to_owned(), document.typed_at));
        let roots = self.roots.iter().filter(|(root, known)| *root == path || known.has(path));
        let roots: Vec<_> = roots.map(|(root, _)| root.clone()).collect();
        for root in &roots {
            self.judge(root, near.clone());
        }
        if roots.is_empty() {
            self.publish(path);
        }
    }

    /// Templates are judged by themselves, and so are libraries that no open template reads.
    fn choose_roots(&mut self) {
        let is_covered = |path: &PathBuf| {
            let others = self.roots.iter().filter(|(root, _)| *root != path);
            let mut others = others.filter(|(root, _)| self.documents.contains_key(*root));
            others.any(|(_, root)| root.files.contains(path))
        };
        let wanted = self.documents.iter().filter(|(path, document)| {
            document.is_tosca() && (document.is_template() || !is_covered(path))
        });
        let wanted = wanted.filter(|(path, _)| !is_built_in(path));
        let wanted: BTreeSet<PathBuf> = wanted.map(|(path, _)| root_of(path)).collect();
        let gone: Vec<_> =
            self.roots.keys().filter(|root| !wanted.contains(*root)).cloned().collect();
        for root in gone {
            self.stop(&root);
            let Some(known) = self.roots.remove(&root) else { continue };
            let files: BTreeSet<_> = known.found_in().cloned().collect();
            files.iter().for_each(|file| self.publish(file));
        }
        for root in wanted {
            self.roots.entry(root).or_default();
        }
    }

    // Runs.

    /// Lets a worker find out what the text of a template says.
    fn judge(&mut self, root: &Path, near: Option<(PathBuf, usize)>) {
        self.stop(root);
        let run = self.start(root, Purpose::Text(root.to_owned()), WorkerTask::Text(near));
        if let Some(known) = self.roots.get_mut(root) {
            (known.text, known.proven) = (None, None);
            known.text_run = Some(run);
            known.is_due = None;
        }
    }

    /// Stops what is computed of a template.
    fn stop(&mut self, root: &Path) {
        let Some(known) = self.roots.get_mut(root) else { return };
        let runs = [known.text_run.take(), known.variants_run.take(), known.absent_run.take()];
        runs.into_iter().flatten().for_each(|id| drop(self.stop_run(id)));
    }

    /// Stops a run, and returns what it was started for, unless it is over.
    fn stop_run(&mut self, id: u64) -> Option<Purpose> {
        let purpose = self.runs.remove(&id)?;
        self.worker(purpose.worker()).tell(&ToWorker::Stop(id));
        self.stopped.insert(id, (purpose.worker(), Instant::now()));
        Some(purpose)
    }

    fn worker(&mut self, kind: WorkerKind) -> &mut WorkerProcess {
        match kind {
            WorkerKind::Text => &mut self.text,
            WorkerKind::Variants => &mut self.variants,
        }
    }

    fn start(&mut self, root: &Path, purpose: Purpose, task: WorkerTask) -> u64 {
        self.next_run += 1;
        let id = self.next_run;
        let run = WorkerRun { id, root: root.to_owned(), task };
        self.worker(purpose.worker()).tell(&ToWorker::Run(run));
        self.runs.insert(id, purpose);
        id
    }

    /// Looks at variants of what was not typed in for a while.
    fn look_at_variants(&mut self) {
        let now = Instant::now();
        let is_due = |root: &JudgedRoot| root.is_due.is_some_and(|due| now >= due + IDLE);
        let due: Vec<_> =
            self.roots.iter().filter(|(_, root)| is_due(root)).map(|(it, _)| it.clone()).collect();
        for root in due {
            let run = self.start(&root, Purpose::Variants(root.clone()), WorkerTask::Variants);
            if let Some(known) = self.roots.get_mut(&root) {
                (known.is_due, known.variants_run) = (None, Some(run));
            }
        }
    }

    /// Ends workers that go on with what was stopped, and starts again what waited behind it.
    fn end_what_goes_on(&mut self) -> io::Result<()> {
        for kind in [WorkerKind::Text, WorkerKind::Variants] {
            let is_late =
                |(of, since): &(WorkerKind, Instant)| *of == kind && since.elapsed() >= PATIENCE;
            if !self.stopped.values().any(is_late) {
                continue;
            }
            for purpose in self.restart(kind)? {
                match purpose {
                    Purpose::Request(id) | Purpose::VariantsRequest(id) => {
                        let why = "cuvee was busy with another text";
                        write(&refused(id, ErrorKind::ContentModified, why));
                    }
                    Purpose::Text(root) => self.judge(&root, None),
                    Purpose::Absent(root, _) => self.show_preset(&root),
                    Purpose::Variants(root) => {
                        if let Some(known) = self.roots.get_mut(&root) {
                            (known.variants_run, known.is_due) = (None, Some(Instant::now()));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Starts a worker again, and returns what it has not answered.
    fn restart(&mut self, kind: WorkerKind) -> io::Result<Vec<Purpose>> {
        let (to, encoding, texts) = (self.to.clone(), self.encoding, texts(&self.documents));
        let lookup = self.lookup.clone();
        self.worker(kind).restart(&to, encoding, &lookup, &texts)?;
        self.stopped.retain(|_, (of, _)| *of != kind);
        let runs = std::mem::take(&mut self.runs);
        let (lost, left) = runs.into_iter().partition(|(_, purpose)| purpose.worker() == kind);
        self.runs = left;
        let lost: BTreeMap<u64, Purpose> = lost;
        Ok(lost.into_values().collect())
    }

    fn said(&mut self, FromWorker { id, result }: FromWorker) {
        self.stopped.remove(&id);
        let Some(purpose) = self.runs.remove(&id) else { return };
        let report = |result: Option<Result<Value, String>>| -> Option<WorkerReport> {
            serde_json::from_value(result?.ok()?).ok()
        };
        match purpose {
            Purpose::Request(request) | Purpose::VariantsRequest(request) => match result {
                Some(Ok(result)) => write(&Response::new_ok(request, result).into()),
                Some(Err(why)) => write(&refused(request, ErrorKind::Failed, &why)),
                None => write(&refused(request, ErrorKind::ContentModified, "the text changed")),
            },
            Purpose::Text(root) => {
                let Some(report) = report(result) else { return };
                self.found_text(&root, report);
            }
            Purpose::Absent(root, name) => {
                let Some(known) = self.roots.get_mut(&root) else { return };
                known.absent_run = None;
                let absent = match result {
                    Some(Ok(absent)) => serde_json::from_value(absent).ok(),
                    // While a text is typed there may be no variant: what is shown stays.
                    _ if known.shown.as_ref().is_some_and(|shown| shown.name == name) => None,
                    _ => Some(BTreeMap::new()),
                };
                if let Some(absent) = absent {
                    self.show(&root, Some(ShownPreset { name, absent }));
                }
            }
            Purpose::Variants(root) => {
                let Some(report) = report(result) else { return };
                if let Some(known) = self.roots.get_mut(&root) {
                    let before: BTreeSet<_> = known.found_in().cloned().collect();
                    known.set_variants(report);
                    let mut files: BTreeSet<_> = known.found_in().cloned().collect();
                    // That nothing was found is news as well.
                    files.insert(root);
                    before.union(&files).for_each(|file| self.publish(file));
                }
            }
        }
    }

    fn found_text(&mut self, root: &Path, report: WorkerReport) {
        let Some(known) = self.roots.get_mut(root) else { return };
        let mut files: BTreeSet<_> = known.found_in().cloned().collect();
        files.extend(known.files.iter().cloned());
        known.set_text(report);
        known.is_due = (!known.is_broken).then(Instant::now);
        files.extend(known.files.iter().chain(known.found_in()).cloned());
        files.insert(root.to_owned());
        self.choose_roots();
        // What the editor knows of closed files has to go as well.
        let shown = |file: &&PathBuf| {
            self.documents.contains_key(*file)
                || self.published.contains_key(*file)
                || self.pulled.as_ref().is_some_and(|pulled| pulled.knows(file))
        };
        let found = self.roots.get(root);
        let is_found =
            |file: &PathBuf| found.is_some_and(|root| root.found_in().any(|it| it == file));
        let files: Vec<_> =
            files.iter().filter(|file| shown(file) || is_found(file)).cloned().collect();
        files.iter().for_each(|file| self.publish(file));
        self.show_preset(root);
    }

    /// Starts a worker again that ended. What it was about is not tried again before the text
    /// changes.
    fn gone(&mut self, kind: WorkerKind, number: u32) -> io::Result<()> {
        if !self.worker(kind).is(number) {
            return Ok(());
        }
        for purpose in self.restart(kind)? {
            let why = "cuvee ended at this text, and goes on with the next change";
            match purpose {
                Purpose::Request(id) | Purpose::VariantsRequest(id) => {
                    write(&refused(id, ErrorKind::Internal, why));
                }
                Purpose::Text(root) => {
                    let report = ended(&root, why);
                    self.found_text(&root, report);
                }
                Purpose::Variants(root) => {
                    if let Some(known) = self.roots.get_mut(&root) {
                        known.variants_run = None;
                    }
                }
                Purpose::Absent(root, _) => {
                    if let Some(known) = self.roots.get_mut(&root) {
                        known.absent_run = None;
                    }
                }
            }
        }
        Ok(())
    }

    // What is published.

    /// What was found in a file; `None` while a run is about to say more.
    fn found(&self, path: &Path) -> Option<Vec<PublishedFinding>> {
        let about =
            self.roots.iter().filter(|(root, known)| *root == path || known.files.contains(path));
        let about: Vec<_> = about.map(|(_, root)| root).collect();
        if about.iter().any(|root| root.text_run.is_some()) {
            return None;
        }
        let all: IndexSet<_> = about.iter().flat_map(|root| root.shown(path)).collect();
        Some(all.into_iter().collect())
    }

    /// Publishes what was found in a file, unless a run is about to say more. Every version of an
    /// open file is published.
    fn publish(&mut self, path: &Path) {
        let Some(all) = self.found(path) else { return };
        if let Some(pulled) = &mut self.pulled {
            let version = self.documents.get(path).map(|document| document.version);
            return pulled.note(path, version, &all);
        }
        let document = self.documents.get(path);
        let uri = document.map_or_else(|| uri_of(path), |document| document.uri.clone());
        let mut params = json!({ "uri": uri, "diagnostics": all });
        if let (Some(document), Value::Object(params)) = (document, &mut params) {
            params.insert("version".to_owned(), document.version.into());
        }
        let is_news = document.is_some() || self.published.get(path) != Some(&all);
        match all.is_empty() && document.is_none() {
            true => drop(self.published.remove(path)),
            false => drop(self.published.insert(path.to_owned(), all)),
        }
        if is_news {
            let method = "textDocument/publishDiagnostics".to_owned();
            write(&Notification { method, params }.into());
        }
    }

    /// Lets an editor wait for what is found in a document.
    fn pull(&mut self, id: RequestId, pull: DocumentPull) {
        let DocumentPull { text_document, previous_result_id: known } = pull;
        match (path_of(&text_document.uri), &mut self.pulled) {
            (Some(path), Some(pulled)) => pulled.waiting.push(WaitingPull { id, path, known }),
            _ => write(&Response::new_ok(id, json!({ "kind": "full", "items": [] })).into()),
        }
    }

    /// Answers what is found in files that are not open. Those that are judged now stay as they
    /// are until the editor asks again.
    fn pull_closed(&mut self, id: RequestId, known: BTreeMap<PathBuf, String>) {
        let Some(mut pulled) = self.pulled.take() else { return };
        let found_in = self.roots.values().flat_map(JudgedRoot::found_in);
        let files: BTreeSet<_> = found_in.chain(known.keys()).collect();
        let closed = files.into_iter().filter(|path| !self.documents.contains_key(*path));
        let report = |path: &PathBuf| {
            let (found, known) = (self.found(path)?, known.get(path));
            let is_news = known.is_some() || !found.is_empty();
            is_news.then(|| pulled.report_closed(path, found, known.map(String::as_str)))
        };
        let items: Vec<_> = closed.filter_map(report).collect();
        write(&Response::new_ok(id, json!({ "items": items })).into());
        self.pulled = Some(pulled);
    }

    /// Answers requests for what is found in documents whose texts are judged, and asks the editor
    /// to ask again where something is found later.
    fn answer_pulls(&mut self) {
        let Some(mut pulled) = self.pulled.take() else { return };
        for pull in std::mem::take(&mut pulled.waiting) {
            let Some(found) = self.found(&pull.path) else {
                pulled.waiting.push(pull);
                continue;
            };
            let version = self.documents.get(&pull.path).map(|document| document.version);
            let report = pulled.report(&pull.path, version, found, pull.known.as_deref());
            write(&Response::new_ok(pull.id, report).into());
        }
        let has_news = pulled.has_news();
        self.pulled = Some(pulled);
        if has_news {
            self.refresh(settings::FINDINGS_REFRESH);
        }
    }

    // Requests.

    /// The repairs of what was found in a range.
    fn code_actions(&self, asked: &CodeActions) -> Value {
        let uri = &asked.text_document.uri;
        let Some(path) = path_of(uri) else { return json!([]) };
        // Of a text that changed since, the places are not known.
        let found = self.found(&path).unwrap_or_default();
        let found = found.iter().filter(|_| !is_fixed(&path));
        let touches =
            |range: Range| range.start <= asked.range.end && asked.range.start <= range.end;
        let action = |finding: &PublishedFinding| {
            let fix = finding.data.as_ref().filter(|_| touches(finding.range))?;
            let edit = json!({ "range": fix.range, "newText": fix.new_text });
            Some(json!({
                "title": fix.title,
                "kind": "quickfix",
                "isPreferred": true,
                "diagnostics": [finding],
                "edit": { "changes": { uri: [edit] } },
            }))
        };
        Value::Array(found.filter_map(action).collect())
    }

    /// Lets a worker answer a request.
    fn ask(&mut self, id: RequestId, method: &str, given: Value) {
        let uri = given.pointer("/textDocument/uri").and_then(Value::as_str).map(str::to_owned);
        let file = uri.as_deref().and_then(path_of);
        let is_open = |path: &PathBuf| self.documents.contains_key(path);
        let Some(file) = file.filter(is_open) else {
            return write(&Response::new_ok(id, Value::Null).into());
        };
        // What is a part of cuvee belongs to every template.
        let reads =
            |(_, root): &(&PathBuf, &JudgedRoot)| root.files.contains(&file) || is_built_in(&file);
        let own = root_of(&file);
        let root = match self.roots.contains_key(&own) {
            true => own,
            false => self.roots.iter().find(reads).map_or(own, |(it, _)| it.clone()),
        };
        let shown = self.roots.get(&root).and_then(|known| known.shown.as_ref());
        let shown = shown.map(|shown| (shown.name.clone(), shown.absent_in(&file).to_vec()));
        let method = method.to_owned();
        let is_rename = method == rename::METHOD;
        let asked = AskedQuestion { method, file, params: given, shown };
        let task = match is_rename {
            true => {
                let (folders, roots) = (self.folders.clone(), self.roots.keys().cloned().collect());
                WorkerTask::Rename(asked, RenamedWorkspace { folders, roots })
            }
            false => WorkerTask::Ask(asked),
        };
        self.start(&root, Purpose::Request(id), task);
    }

    /// Lets a worker find names in all templates.
    fn names(&mut self, id: RequestId, wanted: String) {
        let roots = self.roots.keys().cloned().collect();
        let task = WorkerTask::Names(roots, wanted);
        self.start(Path::new(""), Purpose::Request(id), task);
    }

    /// Lets a worker answer a request about variants.
    fn ask_variants(&mut self, id: RequestId, method: &str, given: Value) {
        let subject = CommandSubject::of(&given).map(|subject| subject.uri);
        let named = given.pointer("/textDocument/uri").and_then(Value::as_str).map(str::to_owned);
        let file = named.or(subject).as_deref().and_then(path_of);
        let is_lens = method == commands::LENSES;
        let file = file.filter(|path| match self.documents.get(path) {
            Some(document) => document.is_template() || !is_lens && document.is_tosca(),
            // An archive is not open as such, but files in it are.
            None => !is_lens && is_archive(path),
        });
        match file {
            Some(file) => {
                let (root, method) = (root_of(&file), method.to_owned());
                let asked = AskedQuestion { method, file, params: given, shown: None };
                let task = WorkerTask::AskVariants(asked);
                self.start(&root, Purpose::VariantsRequest(id), task);
            }
            None if is_lens => write(&Response::new_ok(id, json!([])).into()),
            None => {
                let why = "the command is about a template that is not open";
                write(&refused(id, ErrorKind::InvalidParams, why));
            }
        }
    }

    fn cancel(&mut self, cancelled: &Cancelled) {
        let is_it = |purpose: &Purpose| purpose.request() == Some(&cancelled.id);
        let run = self.runs.iter().find(|(_, purpose)| is_it(purpose)).map(|(id, _)| *id);
        let has_waited = self.pulled.as_mut().is_some_and(|it| it.cancel(&cancelled.id));
        if has_waited || run.and_then(|run| self.stop_run(run)).is_some() {
            write(&refused(
                cancelled.id.clone(),
                ErrorKind::Cancelled,
                "the request was cancelled",
            ));
        }
    }

    fn tell_both(&mut self, message: &ToWorker) {
        self.text.tell(message);
        self.variants.tell(message);
    }
}

/// The texts of what is open.
fn texts(documents: &BTreeMap<PathBuf, EditedDocument>) -> BTreeMap<PathBuf, SourceText> {
    documents.iter().map(|(path, document)| (path.clone(), document.text.clone())).collect()
}

/// A report of a template at which a worker ended.
fn ended(root: &Path, why: &str) -> WorkerReport {
    let finding = PublishedFinding::note(why);
    WorkerReport {
        files: vec![root.to_owned()],
        found: BTreeMap::from([(root.to_owned(), vec![finding])]),
        variants: None,
        is_broken: true,
    }
}

/// Whether a process is no longer there.
#[cfg(unix)]
fn is_gone(process: u32) -> bool {
    let pid = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}

/// Where processes cannot be asked for, the end of standard input says that the editor is gone.
#[cfg(not(unix))]
fn is_gone(_process: u32) -> bool {
    false
}

/// Writes a message. An editor that is gone is noticed where it is read.
fn write(message: &Message) {
    let _ = connection::write(message, &mut io::stdout().lock());
}
