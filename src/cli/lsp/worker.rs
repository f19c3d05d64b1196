//! Computes, in a process of its own. Messages between a server and its workers are lines of JSON.

use super::ask;
use super::commands::{self, VariantsQuestion};
use super::diagnostics;
use super::place;
use super::protocol::{Encoding, Range};
use super::rename::{RenamedWorkspace, WorkspaceRenaming};
use super::settings::ImportLookup;
use cuvee::Resolver;
use cuvee::diagnostic::Diagnostic;
use cuvee::editor::{DocumentCache, OverlayFiles, TemplateAnalysis};
use cuvee::explore::Answer;
use cuvee::source::{OsFiles, SourceText};
use indexmap::IndexSet;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// How much stack the thread that computes has. Recursion is bounded, so only what is touched of it
/// takes memory.
const STACK: usize = 256 << 20;

/// How many elements are shown at most of those that no variant has: they are told again with each
/// version, and one reason may be behind thousands.
const DEAD: usize = 100;

/// What a server says to a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ToWorker {
    /// How columns are counted.
    Encoding(Encoding),
    /// Where imports are looked for.
    Lookup(ImportLookup),
    /// The text of an open file; none for a file that was closed.
    Text(PathBuf, Option<SourceText>),
    /// Something to compute.
    Run(WorkerRun),
    /// The result is not needed any more.
    Stop(u64),
}

/// Something to compute about a template.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WorkerRun {
    pub id: u64,
    pub root: PathBuf,
    pub task: WorkerTask,
}

/// What is to be computed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum WorkerTask {
    /// What the text says; with the file in which somebody types, and the offset.
    Text(Option<(PathBuf, usize)>),
    /// What validating says.
    Variants,
    /// The answer to a request about a file.
    Ask(AskedQuestion),
    /// The changes that rename what is at a place, in all files of a workspace.
    Rename(AskedQuestion, RenamedWorkspace),
    /// The answer to a request about the variants of a template that is open in a file.
    AskVariants(AskedQuestion),
    /// What the variant of this preset does not have.
    Absent(String),
    /// The names that these templates define and that have this text in them.
    Names(Vec<PathBuf>, String),
    /// The text of a document that is only read, by its address.
    Content(String),
}

/// A request about a file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AskedQuestion {
    pub method: String,
    pub file: PathBuf,
    pub params: Value,
    /// The name of the preset that is shown, and what of the file it does not have.
    #[serde(default)]
    pub shown: Option<(String, Vec<Range>)>,
}

/// What a worker says to its server.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FromWorker {
    pub id: u64,
    /// What was computed; an error is for people. There is neither where the run was stopped.
    pub result: Option<Result<Value, String>>,
}

/// What is to be done, and what was stopped.
#[derive(Default)]
struct Queue {
    messages: VecDeque<ToWorker>,
    /// The run that is computed now, with the flag that stops it.
    running: Option<(u64, Arc<AtomicBool>)>,
}

impl Queue {
    fn push(&mut self, message: ToWorker) {
        match message {
            ToWorker::Stop(id) => {
                if let Some((running, stop)) = &self.running
                    && *running == id
                {
                    stop.store(true, Ordering::Relaxed);
                }
                let is_it =
                    |message: &ToWorker| matches!(message, ToWorker::Run(run) if run.id == id);
                if let Some(waiting) = self.messages.iter().position(is_it) {
                    self.messages.remove(waiting);
                    // Every run is answered, so that the server knows what goes on.
                    say(id, None);
                }
            }
            message => self.messages.push_back(message),
        }
    }
}

/// The queue, which one thread fills and another one empties.
#[derive(Default)]
struct SharedQueue {
    queue: Mutex<Queue>,
    filled: Condvar,
}

impl SharedQueue {
    fn push(&self, message: ToWorker) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).push(message);
        self.filled.notify_one();
    }

    /// The next message. A run gets a flag that stops it.
    fn next(&self) -> (ToWorker, Arc<AtomicBool>) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.running = None;
        loop {
            if let Some(message) = queue.messages.pop_front() {
                let stop = Arc::new(AtomicBool::new(false));
                if let ToWorker::Run(run) = &message {
                    queue.running = Some((run.id, Arc::clone(&stop)));
                }
                return (message, stop);
            }
            queue = self.filled.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Computes what the server on standard input asks for, until it is gone.
pub(super) fn run() {
    let shared = Arc::new(SharedQueue::default());
    let queue = Arc::clone(&shared);
    let computing = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        let (encoding, lookup, cache, texts) = Default::default();
        let mut worker = Worker { queue, encoding, lookup, cache, texts };
        let mut next = None;
        loop {
            next = worker.handle(next);
        }
    });
    if computing.is_err() {
        return;
    }
    for line in std::io::stdin().lock().lines() {
        match line.map(|line| serde_json::from_str(&line)) {
            Ok(Ok(message)) => shared.push(message),
            Ok(Err(_)) => {}
            Err(_) => break,
        }
    }
    // The server is gone: whatever is computed now, nobody reads it.
    std::process::exit(0);
}

type Next = (ToWorker, Arc<AtomicBool>);

struct Worker {
    queue: Arc<SharedQueue>,
    encoding: Encoding,
    lookup: ImportLookup,
    /// What was parsed and judged before.
    cache: Arc<DocumentCache>,
    /// What is open, over the saved files.
    texts: BTreeMap<PathBuf, SourceText>,
}

impl Worker {
    /// Handles a message, and returns the next one if that was already taken.
    fn handle(&mut self, next: Option<Next>) -> Option<Next> {
        let (message, stop) = next.unwrap_or_else(|| self.queue.next());
        match message {
            ToWorker::Encoding(encoding) => self.encoding = encoding,
            ToWorker::Lookup(lookup) => self.lookup = lookup,
            ToWorker::Text(path, Some(text)) => drop(self.texts.insert(path, text)),
            ToWorker::Text(path, None) => drop(self.texts.remove(&path)),
            ToWorker::Stop(_) => {}
            ToWorker::Run(WorkerRun { id, root, task }) => match task {
                WorkerTask::Ask(asked) => return self.answer(&root, (id, stop), &asked),
                WorkerTask::Text(near) => {
                    let near = near.as_ref().map(|(path, offset)| (path.as_path(), *offset));
                    let staged = self.resolver(&root).stop_when(stop).validate_typed(near);
                    say(id, diagnostics::of_text(&staged, self.encoding).map(Ok));
                }
                WorkerTask::AskVariants(AskedQuestion { method, file, params, .. }) => {
                    let resolver = self.resolver(&root).clock(jiff::Zoned::now).stop_when(stop);
                    let text = self.text(&file).unwrap_or_default();
                    let (file, text, params) = (&*file, &*text, &params);
                    let encoding = self.encoding;
                    let question = VariantsQuestion { resolver, file, text, params, encoding };
                    say(id, Some(question.answer(&method)));
                }
                WorkerTask::Absent(preset) => {
                    let resolver = self.resolver(&root).clock(jiff::Zoned::now).stop_when(stop);
                    say(
                        id,
                        Some(commands::absent(&resolver.only_presets([preset]), self.encoding)),
                    );
                }
                WorkerTask::Names(roots, wanted) => {
                    let mut found = IndexSet::new();
                    for root in roots {
                        self.resolver(&root).analysis(None, |analysis| {
                            found.extend(ask::names(analysis, &wanted, self.encoding));
                        });
                    }
                    say(id, Some(Ok(found.into_iter().collect())));
                }
                WorkerTask::Rename(asked, workspace) => {
                    let resolver = |root: &Path| self.resolver(root).stop_when(Arc::clone(&stop));
                    let (texts, encoding) = (&self.texts, self.encoding);
                    let renaming = WorkspaceRenaming { resolver: &resolver, texts, encoding };
                    let renamed = renaming.answer(&root, &asked, &workspace);
                    say(id, Some(renamed).filter(|_| !stop.load(Ordering::Relaxed)));
                }
                WorkerTask::Content(uri) => {
                    say(id, Some(place::text_of(&uri).map(|text| json!({ "text": text }))));
                }
                WorkerTask::Variants => {
                    let resolver = self.resolver(&root).stop_when(Arc::clone(&stop));
                    let staged = resolver.validate_until(cuvee::validate::Stage::Variants);
                    let report =
                        diagnostics::of_variants(staged, self.dead(&root, resolver), self.encoding);
                    say(id, report.filter(|_| !stop.load(Ordering::Relaxed)).map(Ok));
                }
            },
        }
        None
    }

    fn resolver(&self, root: &Path) -> Resolver {
        let texts = self.texts.iter().filter(|(path, _)| !place::is_fixed(path));
        let texts = texts.map(|(path, text)| (path.clone(), text.clone()));
        let files = OverlayFiles::new(Arc::new(OsFiles), texts);
        self.lookup.apply(Resolver::new(root).files(files).cache(Arc::clone(&self.cache)))
    }

    /// What no variant has, where that is soon found. In plain templates, it is nothing.
    fn dead(&self, root: &Path, resolver: Resolver) -> Option<Answer<Vec<Diagnostic>>> {
        self.text(root).filter(|text| text.contains("variability"))?;
        let mut dead = resolver.timeout(ask::COUNTING).dead_elements().ok()?;
        dead.result.truncate(DEAD);
        Some(dead)
    }

    /// Answers a request, and those that follow as long as no text changes, they are about the same
    /// template, and need no time of their own.
    fn answer(
        &self,
        root: &Path,
        (id, stop): (u64, Arc<AtomicBool>),
        asked: &AskedQuestion,
    ) -> Option<Next> {
        let near = ask::offset(&asked.params, self.text(&asked.file).as_deref(), self.encoding);
        let near = near.map(|offset| (asked.file.clone(), offset));
        let near = near.as_ref().map(|(path, offset)| (path.as_path(), *offset));
        let resolver = self.resolver(root).stop_when(stop).timeout(ask::COUNTING);
        resolver.analysis(near, |analysis| {
            self.say_answer(analysis, id, asked);
            loop {
                let (message, stop) = self.queue.next();
                match message {
                    ToWorker::Run(WorkerRun { id, root: other, task: WorkerTask::Ask(asked) })
                        if other == root && !analysis.is_repaired() && !ask::counts(&asked) =>
                    {
                        self.say_answer(analysis, id, &asked);
                    }
                    message => return Some((message, stop)),
                }
            }
        })
    }

    fn say_answer(&self, analysis: &TemplateAnalysis<'_>, id: u64, asked: &AskedQuestion) {
        let text = self.text(&asked.file).unwrap_or_default();
        let (text, encoding) = (&*text, self.encoding);
        let question = ask::PlaceQuestion { analysis, text, asked, encoding };
        say(id, Some(question.answer()));
    }

    fn text(&self, file: &Path) -> Option<SourceText> {
        self.texts.get(file).cloned()
    }
}

fn say(id: u64, result: Option<Result<Value, String>>) {
    let Ok(mut line) = serde_json::to_string(&FromWorker { id, result }) else { return };
    line.push('\n');
    let mut out = std::io::stdout().lock();
    if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}
