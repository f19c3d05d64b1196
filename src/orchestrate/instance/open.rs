//! Instances as they are opened: the newest snapshot and what has come since, or all from the
//! beginning, and records that are added by whoever holds the lock.

use super::event::{Event, RecordOrigin};
use super::model::{GroupInstance, InstanceModel, NodeInstance, PolicyInstance};
use super::reduce::RecordHead;
use super::secrets::KeptSecrets;
use super::store::{
    Draft, EventLog, LockHolder, LogRecord, LogWriter, Snapshot, Store, Verification, verify,
};
use super::unwritten::Unwritten;
use crate::text::diagnostic::{Code, Diagnostic, Severity};
use jiff::Timestamp;
use serde::Serialize;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

/// Of which time a model is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelAt {
    /// Of now.
    #[default]
    Latest,
    /// Behind this record.
    Revision(u64),
    /// Behind the last record whose time is not later. Order is by revision, never by time.
    Time(Timestamp),
}

/// The model of an instance, at a time.
///
/// ```
/// use cuvee::instance::{EventLog, Draft, Event, LockHolder, MemoryStore, ModelAt, RecordOrigin, read_model};
/// use std::time::Duration;
/// let store = MemoryStore::new(1);
/// let ann = LockHolder { actor: "ann".to_owned(), process: 1 };
/// let output = |url: &str| [Event::Output { name: "url".into(), value: Some(url.into()) }];
/// let (first, second) = (output("http://old"), output("http://new"));
/// let draft = |events| Draft { time: jiff::Timestamp::UNIX_EPOCH, actor: "ann", origin: RecordOrigin::Client, orchestration: None, key: None, events };
/// EventLog::create(&store, "shop", &ann, Duration::ZERO, |writer| writer.commit(&[draft(&first), draft(&second)]))?;
/// assert_eq!(read_model(&store, "shop", ModelAt::Latest)?.outputs["url"].as_str(), Some("http://new"));
/// assert_eq!(read_model(&store, "shop", ModelAt::Revision(1))?.outputs["url"].as_str(), Some("http://old"));
/// assert!(read_model(&store, "shop", ModelAt::Revision(3)).is_err());
/// # Ok::<(), cuvee::diagnostic::Diagnostic>(())
/// ```
///
/// # Errors
/// `unknown-instance`, `store-corrupt`, `store-version`, `file`; `unknown-element` for a revision
/// that is not there, and for a time before the first one.
pub fn read_model(store: &dyn Store, name: &str, at: ModelAt) -> Result<InstanceModel, Diagnostic> {
    let until = match at {
        ModelAt::Latest => u64::MAX,
        ModelAt::Revision(revision) => revision,
        ModelAt::Time(time) => last_until(store, name, time)?,
    };
    let mut log = EventLog::open_until(store, name, until)?;
    let mut fold = ModelFold::of(&log)?;
    while fold.model.revision < until {
        match log.next_record()? {
            Some(record) => fold.add(&record)?,
            None => break,
        }
    }
    let last = fold.model.revision;
    match at {
        ModelAt::Revision(revision) if revision > last || revision == 0 => {
            let message = format!("`{name}` has no revision {revision}: its last one is {last}");
            Err(Diagnostic::error(Code::UnknownElement, message))
        }
        _ => Ok(fold.model),
    }
}

/// The last record whose time is not later.
fn last_until(store: &dyn Store, name: &str, time: Timestamp) -> Result<u64, Diagnostic> {
    let mut log = EventLog::open_at_start(store, name)?;
    let mut last = None;
    while let Some(record) = log.next_record()? {
        if record.time <= time {
            last = Some(record.revision);
        }
    }
    last.ok_or_else(|| {
        let message = format!("`{name}` was not there at {time}");
        Diagnostic::error(Code::UnknownElement, message)
    })
}

/// A record that cannot be.
fn corrupt(place: &str, what: impl Display) -> Diagnostic {
    let message = format!("`{place}` says what cannot be: {what}");
    Diagnostic::error(Code::StoreCorrupt, message).help(
        "nothing was written; `cuvee instance verify NAME --salvage TO` copies what is provably whole",
    )
}

/// Reads all of an instance, and whether its records can follow on each other.
///
/// # Errors
/// As [`verify`].
pub fn verify_instance(store: &dyn Store, name: &str) -> Result<Verification, Diagnostic> {
    let mut fold = ModelFold::from(InstanceModel::default());
    verify(store, name, &mut |record| fold.add(record))
}

/// A model into which records are folded.
struct ModelFold {
    model: InstanceModel,
    head: RecordHead,
}

impl ModelFold {
    fn from(model: InstanceModel) -> Self {
        let (time, actor) = ("".into(), "".into());
        let head = RecordHead { revision: 0, time, actor, origin: RecordOrigin::default() };
        Self { model, head }
    }

    /// What a log comes to where it begins to be read: nothing, or what a snapshot says.
    fn of(log: &EventLog<'_>) -> Result<Self, Diagnostic> {
        log.snapshot().map_or_else(|| Ok(InstanceModel::default()), restore).map(Self::from)
    }

    fn add(&mut self, record: &LogRecord<'_>) -> Result<(), Diagnostic> {
        let head = &mut self.head;
        (head.revision, head.origin) = (record.revision, record.origin);
        head.time = record.time.to_string().into();
        if *head.actor != *record.actor {
            head.actor = Arc::from(&*record.actor);
        }
        self.model
            .apply(head, record.key.as_deref(), &record.events()?)
            .map_err(|why| corrupt(&record.place(), why))?;
        if self.model.structure == record.structure {
            return Ok(());
        }
        let (is, says) = (self.model.structure, record.structure);
        Err(corrupt(&record.place(), format_args!("the structure is {is}, not {says}")))
    }
}

/// What a snapshot has of the model beside what has names of its own.
const HEAD: &str = "head";

/// The parts of a model as a snapshot keeps them: by keys that ascend.
fn parts(model: &InstanceModel) -> impl Iterator<Item = (String, ModelPart<'_>)> {
    let head = InstanceModel {
        nodes: Default::default(),
        groups: Default::default(),
        policies: Default::default(),
        uri: Arc::clone(&model.uri),
        lineage: Arc::clone(&model.lineage),
        revision: model.revision,
        structure: model.structure,
        time: Arc::clone(&model.time),
        secrets: model.secrets,
        sensitive: model.sensitive.clone(),
        target: model.target.clone(),
        metadata: model.metadata.clone(),
        inputs: model.inputs.clone(),
        outputs: model.outputs.clone(),
        orchestration: model.orchestration.clone(),
        generations: model.generations.clone(),
        last_key: model.last_key.clone(),
        is_later: model.is_later,
    };
    let groups = model.groups.iter();
    let groups = groups.map(|(name, it)| (format!("group/{name}"), ModelPart::Group(it)));
    let nodes = model.nodes.iter().map(|(id, it)| (format!("node/{id}"), ModelPart::Node(it)));
    let policies = model.policies.iter();
    let policies = policies.map(|(name, it)| (format!("policy/{name}"), ModelPart::Policy(it)));
    let head = std::iter::once((HEAD.to_owned(), ModelPart::Head(Box::new(head))));
    groups.chain(head).chain(nodes).chain(policies)
}

/// A part of a model.
#[derive(Serialize)]
#[serde(untagged)]
enum ModelPart<'m> {
    Head(Box<InstanceModel>),
    Group(&'m GroupInstance),
    Node(&'m NodeInstance),
    Policy(&'m PolicyInstance),
}

/// The model that a snapshot keeps.
fn restore(snapshot: &Snapshot<'_>) -> Result<InstanceModel, Diagnostic> {
    let wrong = |key: &str| {
        let place = format!("snapshot {}", snapshot.revision());
        corrupt(&place, format_args!("the entry `{key}` cannot be read; delete the snapshot"))
    };
    let mut whole = InstanceModel::default();
    let mut head = None;
    snapshot.entries("", &mut |key, value| {
        fn read<T: serde::de::DeserializeOwned>(value: &str) -> Option<T> {
            serde_json::from_str(value).ok()
        }
        let is_read = match key.split_once('/') {
            None if key == HEAD => {
                head = read::<InstanceModel>(value);
                head.is_some()
            }
            Some(("node", id)) => {
                read(value).map(|node| whole.nodes.insert(id.into(), node)).is_some()
            }
            Some(("group", name)) => {
                read(value).map(|group| whole.groups.insert(name.into(), group)).is_some()
            }
            Some(("policy", name)) => {
                read(value).map(|policy| whole.policies.insert(name.into(), policy)).is_some()
            }
            _ => false,
        };
        if is_read { Ok(()) } else { Err(wrong(key)) }
    })?;
    let InstanceModel { nodes, groups, policies, .. } = whole;
    let head = head.ok_or_else(|| wrong(HEAD))?;
    Ok(InstanceModel { nodes, groups, policies, ..head })
}

/// Who adds to a log, and when.
#[derive(Clone, Copy, Debug)]
pub struct RecordAuthor<'a> {
    /// Who it is, for whoever waits meanwhile.
    pub holder: &'a LockHolder,
    /// How long it waits for others.
    pub timeout: Duration,
    /// When it is.
    pub time: Timestamp,
    /// As what it says something.
    pub origin: RecordOrigin,
}

/// What came of adding to a log.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecordedChange<T> {
    /// What was asked for.
    pub result: T,
    /// The last record now.
    pub revision: u64,
    /// The structure now.
    pub structure: u64,
    /// Whether there is a record of it.
    pub is_written: bool,
    /// What there is to say beside.
    pub warnings: Vec<Diagnostic>,
}

/// An instance that is open: its model, and the log that says so.
///
/// ```
/// use cuvee::instance::{EventLog, Draft, Event, InstanceLog, LockHolder, MemoryStore, RecordAuthor, RecordOrigin, begin_workflow};
/// use std::time::Duration;
/// let store = MemoryStore::new(1);
/// let ann = LockHolder { actor: "ann".to_owned(), process: 1 };
/// let author = RecordAuthor { holder: &ann, timeout: Duration::ZERO, time: jiff::Timestamp::UNIX_EPOCH, origin: RecordOrigin::Client };
/// let first = [Event::Output { name: "url".into(), value: Some("http://shop".into()) }];
/// let draft = Draft { time: author.time, actor: "ann", origin: author.origin, orchestration: None, key: None, events: &first };
/// EventLog::create(&store, "shop", &ann, Duration::ZERO, |writer| writer.commit(&[draft]))?;
///
/// let mut shop = InstanceLog::open(&store, "shop")?;
/// let change = shop.change(&author, None, None, |record, _| begin_workflow(record, "backup"))?;
/// assert_eq!((change.revision, change.is_written), (2, true));
/// assert!(shop.model().orchestration.is_some());
/// # Ok::<(), cuvee::diagnostic::Diagnostic>(())
/// ```
pub struct InstanceLog<'s> {
    store: &'s dyn Store,
    log: EventLog<'s>,
    fold: ModelFold,
    /// Whether the model says more than the log, which has failed.
    is_ahead: bool,
}

impl<'s> InstanceLog<'s> {
    /// Opens an instance, and reads what it comes to.
    ///
    /// # Errors
    /// `unknown-instance`, `store-corrupt`, `store-version`, `file`.
    pub fn open(store: &'s dyn Store, name: &str) -> Result<Self, Diagnostic> {
        let mut log = EventLog::open(store, name)?;
        let mut fold = ModelFold::of(&log)?;
        while let Some(record) = log.next_record()? {
            fold.add(&record)?;
        }
        Ok(Self { store, log, fold, is_ahead: false })
    }

    /// The model, as it was when the log was last looked at.
    pub fn model(&self) -> &InstanceModel {
        &self.fold.model
    }

    /// The log.
    pub fn log(&self) -> &EventLog<'s> {
        &self.log
    }

    /// How it keeps secrets.
    ///
    /// # Errors
    /// `file` where its key cannot be read.
    pub fn secrets(&self) -> Result<KeptSecrets, Diagnostic> {
        let key = self.log.key()?.unwrap_or_default();
        Ok(KeptSecrets::new(self.model().secrets, key, &self.model().sensitive))
    }

    /// Keeps what no record names yet, so that one may.
    ///
    /// # Errors
    /// `store-locked`, `file`
    pub fn keep_blobs(
        &mut self,
        author: &RecordAuthor<'_>,
        blobs: &[Vec<u8>],
    ) -> Result<(), Diagnostic> {
        let mut writer = self.log.writer(author.holder, author.timeout)?;
        blobs.iter().try_for_each(|blob| writer.put_blob(blob).map(drop))
    }

    /// Removes the instance with all that is kept of it.
    ///
    /// # Errors
    /// `store-locked`, `file`
    pub fn delete(mut self, author: &RecordAuthor<'_>) -> Result<(), Diagnostic> {
        self.log.writer(author.holder, author.timeout)?.delete()
    }

    /// Adds a record: reads what others have written meanwhile, holds the revision to what is
    /// expected, and writes what `what` adds to the record, if anything. `what` may keep what its
    /// events name. Where it fails, nothing is written.
    ///
    /// # Errors
    /// `store-locked`, `stale-revision`, `store-version` where a later version has written what
    /// this one does not know, `store-corrupt`, `file`, and those of `what`.
    pub fn change<T>(
        &mut self,
        author: &RecordAuthor<'_>,
        expect: Option<u64>,
        key: Option<&str>,
        what: impl FnOnce(&mut Unwritten<'_>, &mut LogWriter<'_, 's>) -> Result<T, Diagnostic>,
    ) -> Result<RecordedChange<T>, Diagnostic> {
        self.writing(author, |group| {
            if let Some(revision) = expect.filter(|expected| *expected != group.model.revision) {
                group.writer.expect(revision)?;
            }
            let (mut unwritten, writer) = group.record();
            match what(&mut unwritten, writer) {
                Ok(result) => {
                    let events = unwritten.close(key);
                    group.keep(events, key);
                    Ok(result)
                }
                Err(error) => {
                    unwritten.take_back();
                    Err(error)
                }
            }
        })
    }
}

/// Records that are written together, by whoever holds the lock.
pub(super) struct RecordGroup<'g, 'l, 's> {
    pub(super) model: &'g mut InstanceModel,
    pub(super) writer: &'g mut LogWriter<'l, 's>,
    author: &'g RecordAuthor<'g>,
    /// As records say it.
    time: Arc<str>,
    actor: Arc<str>,
    /// What was open before the record that is made now.
    open: Option<Arc<str>>,
    drafts: Vec<OwnedDraft>,
}

/// What is to become a record.
struct OwnedDraft {
    orchestration: Option<Arc<str>>,
    key: Option<Arc<str>>,
    events: Vec<Event>,
}

impl<'l, 's> RecordGroup<'_, 'l, 's> {
    /// The next record, of which nothing is said yet, and what keeps what its events name.
    pub(super) fn record(&mut self) -> (Unwritten<'_>, &mut LogWriter<'l, 's>) {
        self.open = self.orchestration();
        let (time, actor) = (Arc::clone(&self.time), Arc::clone(&self.actor));
        (Unwritten::new(self.model, time, actor, self.author.origin), &mut *self.writer)
    }

    /// What names the orchestration that is open: its first record.
    fn orchestration(&self) -> Option<Arc<str>> {
        self.model.orchestration.as_ref().map(|open| open.id.to_string().into())
    }

    /// Keeps the events of a record to be written; without any there is none.
    pub(super) fn keep(&mut self, events: Vec<Event>, key: Option<&str>) {
        if events.is_empty() {
            return;
        }
        // A record that ends an orchestration is one of its records, and so is the one that begins
        // it.
        let orchestration = self.open.take().or_else(|| self.orchestration());
        self.drafts.push(OwnedDraft { orchestration, key: key.map(Arc::from), events });
    }

    /// Writes what was kept.
    fn write(self) -> Result<(), Diagnostic> {
        let Self { writer, author, drafts, .. } = self;
        let drafts: Vec<_> = drafts
            .iter()
            .map(|draft| Draft {
                time: author.time,
                actor: &author.holder.actor,
                origin: author.origin,
                orchestration: draft.orchestration.as_deref(),
                key: draft.key.as_deref(),
                events: &draft.events,
            })
            .collect();
        let committed = writer.commit(&drafts)?;
        match committed.iter().any(|one| one.repeated) {
            false => Ok(()),
            true => Err(corrupt(
                &author.holder.actor,
                "a key that the model does not know was said before",
            )),
        }
    }
}

impl<'s> InstanceLog<'s> {
    /// Takes the lock, reads on, and writes the records that `what` makes.
    pub(super) fn writing<T>(
        &mut self,
        author: &RecordAuthor<'_>,
        what: impl FnOnce(&mut RecordGroup<'_, '_, 's>) -> Result<T, Diagnostic>,
    ) -> Result<RecordedChange<T>, Diagnostic> {
        if self.is_ahead {
            *self = Self::open(self.store, self.log.instance())?;
        }
        let Self { log, fold, is_ahead, .. } = self;
        let mut writer = log.writer(author.holder, author.timeout)?;
        while let Some(record) = writer.next_record()? {
            fold.add(&record)?;
        }
        if fold.model.is_later {
            return Err(later(writer.log().instance()));
        }
        // What is torn at the end gets a record of its own, before all others.
        let before = fold.model.revision;
        let torn = u64::from(writer.log().torn().is_some());
        fold.model.revision += torn;
        let mut group = RecordGroup {
            model: &mut fold.model,
            writer: &mut writer,
            author,
            time: author.time.to_string().into(),
            actor: author.holder.actor.as_str().into(),
            open: None,
            drafts: Vec::new(),
        };
        let result = what(&mut group);
        let is_written = !group.drafts.is_empty();
        // From here on the model says what the log does not say, until that has been written.
        *is_ahead = is_written;
        let written = match result {
            Ok(result) => group.write().map(|()| result),
            Err(error) => Err(error),
        };
        if !is_written {
            fold.model.revision = before;
        }
        let result = written?;
        *is_ahead = false;
        let mut warnings: Vec<_> = writer.recovered().into_iter().collect();
        if writer.snapshot_due() {
            warnings.extend(snapshot(&mut writer, &fold.model));
        }
        let (revision, structure) = (fold.model.revision, fold.model.structure);
        Ok(RecordedChange { result, revision, structure, is_written, warnings })
    }

    /// Makes a snapshot of what the instance is now, so that it is opened faster.
    ///
    /// # Errors
    /// `store-locked`, `store-corrupt`, `store-version`, `file`.
    pub fn compact(&mut self, author: &RecordAuthor<'_>) -> Result<(), Diagnostic> {
        self.writing(author, |group| group.writer.write_snapshot(parts(group.model))).map(|_| ())
    }
}

/// Makes a snapshot; that it cannot be made stops nobody, since the log says all.
fn snapshot(writer: &mut LogWriter<'_, '_>, model: &InstanceModel) -> Option<Diagnostic> {
    let failed = writer.write_snapshot(parts(model)).err()?;
    Some(Diagnostic { severity: Severity::Warning, ..failed })
}

/// Somebody who knows more has written to it.
fn later(instance: &str) -> Diagnostic {
    let message =
        format!("a later version has written to `{instance}` what this one does not know");
    Diagnostic::error(Code::StoreVersion, message)
        .help("it can be read; to write to it, use that version")
}
