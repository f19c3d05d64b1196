//! Opens instances: reads the newest snapshot and the records since then, or all records if there
//! is none. Whoever holds the lock may add records.

use super::blobs::NamedBlobs;
use super::event::{Event, RecordOrigin};
use super::model::InstanceModel;
use super::part::{Concern, ModelExtent, parts, restore, sources_of};
use super::reduce::{ImpossibleEvent, RecordHead, relation_parts};
use super::secrets::KeptSecrets;
use super::store::{
    Draft, EventLog, LockHolder, LogRecord, LogWriter, SnapshotPace, Store, Verification,
    find_blob, missing_blob, verify,
};
use super::unwritten::Unwritten;
use crate::diagnostic::{Code, Diagnostic, Severity};
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

/// The time of which a model is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelAt {
    /// The present.
    #[default]
    Latest,
    /// After this record.
    Revision(u64),
    /// After the last record whose time is not later. Records are in order of revision, not time.
    Time(Timestamp),
}

/// Reads the model of an instance as it was at a time.
///
/// ```
/// use cuvee::deploy::instance::{EventLog, Draft, Event, LockHolder, MemoryStore, ModelAt, RecordOrigin, read_model};
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
/// `unknown-instance`, `store-corrupt`, `store-version`, `file`; `unknown-element` if the revision
/// does not exist, or if the time is before the first record.
pub fn read_model(store: &dyn Store, name: &str, at: ModelAt) -> Result<InstanceModel, Diagnostic> {
    read_extent(store, name, at, &|_| Ok(ModelExtent::Whole))
}

/// Reads the model of an instance without groups and policies, and of its nodes only their states.
/// This is enough to list an instance.
///
/// # Errors
/// As [`read_model`].
pub fn read_states(
    store: &dyn Store,
    name: &str,
    at: ModelAt,
) -> Result<InstanceModel, Diagnostic> {
    read_extent(store, name, at, &|_| Ok(ModelExtent::States))
}

/// Asks something about one entity of an instance. The first attempt reads only the nodes that
/// concern the entity, if the snapshot tells which these are. If `ask` fails on these, the second
/// attempt reads all.
///
/// # Errors
/// As [`read_model`], and those of `ask`.
pub fn ask_about_entity<T>(
    store: &dyn Store,
    name: &str,
    at: ModelAt,
    entity: &str,
    ask: &dyn Fn(&InstanceModel) -> Result<T, Diagnostic>,
) -> Result<T, Diagnostic> {
    let part = read_extent(store, name, at, &|log| around(log, entity))?;
    ask(&part).or_else(|_| ask(&read_model(store, name, at)?))
}

/// The part of a model that concerns an entity: the nodes that it may name, and those with a
/// relation to it.
fn around(log: &EventLog<'_>, entity: &str) -> Result<ModelExtent, Diagnostic> {
    /// For more nodes than this, reading all is no slower.
    const MOST: usize = 100;
    let Some(snapshot) = log.snapshot() else { return Ok(ModelExtent::Whole) };
    let own = [Some(entity), entity.strip_prefix("node.")].into_iter().flatten();
    let ends = relation_parts(entity).map(|(.., source)| source);
    let mut nodes: BTreeSet<Arc<str>> = ends.map(Arc::from).collect();
    for id in own {
        nodes.insert(id.into());
        nodes.extend(sources_of(snapshot, id)?);
    }
    if nodes.len() > MOST {
        return Ok(ModelExtent::Whole);
    }
    Ok(ModelExtent::Nodes { nodes, keys: BTreeSet::new() })
}

/// Reads a part of a model, or all of it if a later event needs more than the part.
fn read_extent(
    store: &dyn Store,
    name: &str,
    at: ModelAt,
    extent: &dyn Fn(&EventLog<'_>) -> Result<ModelExtent, Diagnostic>,
) -> Result<InstanceModel, Diagnostic> {
    let until = match at {
        ModelAt::Latest => u64::MAX,
        ModelAt::Revision(revision) => revision,
        ModelAt::Time(time) => last_until(store, name, time)?,
    };
    let mut log = EventLog::open_until(store, name, until)?;
    let mut fold = ModelFold::of(&log, extent(&log)?)?;
    while !fold.is_beyond
        && fold.model.revision < until
        && let Some(record) = log.next_record()?
    {
        fold.add(&record)?;
    }
    if fold.is_beyond {
        return read_extent(store, name, at, &|_| Ok(ModelExtent::Whole));
    }
    let last = fold.model.revision;
    match at {
        ModelAt::Revision(revision) if revision > last || revision == 0 => {
            let message = match revision {
                0 => format!("`{name}` has no revision 0: its first one is 1"),
                _ => format!("`{name}` has no revision {revision}: its last one is {last}"),
            };
            Err(Diagnostic::error(Code::UnknownElement, message))
        }
        _ => Ok(fold.model),
    }
}

/// The last record whose time is not later than `time`.
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

/// The error that a record contradicts the model.
pub(super) fn corrupt(place: &str, what: impl Display) -> Diagnostic {
    let message = format!("`{place}` contradicts the records before it: {what}");
    Diagnostic::error(Code::StoreCorrupt, message).help(
        "copy the intact records with `cuvee instance verify NAME --salvage TO`; nothing was written",
    )
}

/// Reads all of an instance, and checks that each of its records can follow the previous one.
///
/// # Errors
/// As [`verify`].
pub fn verify_instance(store: &dyn Store, name: &str) -> Result<Verification, Diagnostic> {
    let mut fold = ModelFold::new(InstanceModel::default(), ModelExtent::Whole);
    let (mut named, mut missing) = (NamedBlobs::default(), Vec::new());
    // A blob with other contents is reported with all others.
    let find =
        |digest: &str| Ok(find_blob(store, name, digest).unwrap_or_else(|_| Some(Vec::new())));
    let mut verification = verify(store, name, &mut |record| {
        let events = record.events()?;
        let blobs = named.new_in(&events, &find)?.into_iter();
        missing.extend(blobs.filter(|(_, found)| found.is_none()).map(|(digest, _)| digest));
        fold.add_events(record, &events)
    })?;
    verification.missing = missing.len();
    let missing = missing.iter().map(|digest| missing_blob(store, name, digest));
    verification.diagnostics.extend(missing);
    Ok(verification)
}

/// A model into which records are folded.
struct ModelFold {
    model: InstanceModel,
    head: RecordHead,
    /// The time of `head`, parsed. Many records in a row often have the same time.
    time: Timestamp,
    extent: ModelExtent,
    /// Whether an event needs more of the model than was read.
    is_beyond: bool,
}

impl ModelFold {
    fn new(model: InstanceModel, extent: ModelExtent) -> Self {
        let time = Timestamp::UNIX_EPOCH;
        let (said, actor) = (time.to_string().into(), "".into());
        let head = RecordHead { revision: 0, time: said, actor, origin: RecordOrigin::default() };
        Self { model, head, time, extent, is_beyond: false }
    }

    /// The model at the place where reading the log begins: empty, or that of a snapshot.
    fn of(log: &EventLog<'_>, extent: ModelExtent) -> Result<Self, Diagnostic> {
        match log.snapshot() {
            Some(snapshot) => Ok(Self::new(restore(snapshot, &extent)?, extent)),
            // A reader that begins at the first record reads all events anyway.
            None => Ok(Self::new(InstanceModel::default(), ModelExtent::Whole)),
        }
    }

    fn add(&mut self, record: &LogRecord<'_>) -> Result<(), Diagnostic> {
        if self.is_beyond {
            return Ok(());
        }
        if self.extent.is_outside(record) {
            self.turn_to(record);
            self.model.close_record(&self.head, record.key.as_deref(), &[]);
            self.model.structure = record.structure;
            return Ok(());
        }
        self.add_events(record, &record.events()?)
    }

    /// Makes the head that of a record.
    fn turn_to(&mut self, record: &LogRecord<'_>) {
        let head = &mut self.head;
        (head.revision, head.origin) = (record.revision, record.origin);
        if self.time != record.time {
            (self.time, head.time) = (record.time, record.time.to_string().into());
        }
        if *head.actor != *record.actor {
            head.actor = Arc::from(&*record.actor);
        }
    }

    /// Adds a record with these events.
    fn add_events(&mut self, record: &LogRecord<'_>, events: &[Event]) -> Result<(), Diagnostic> {
        self.turn_to(record);
        self.apply(record, events).map_err(|why| corrupt(&record.place(), why))?;
        if self.model.structure == record.structure {
            return Ok(());
        }
        let (is, says) = (self.model.structure, record.structure);
        Err(corrupt(&record.place(), format_args!("the structure is {is}, not {says}")))
    }

    fn apply(&mut self, record: &LogRecord<'_>, events: &[Event]) -> Result<(), ImpossibleEvent> {
        let (head, key) = (&self.head, record.key.as_deref());
        if self.extent == ModelExtent::Whole {
            return self.model.apply(head, key, events);
        }
        for event in events {
            match self.extent.concern(event) {
                Concern::Inside => self.model.apply_event(head, event)?,
                Concern::Outside => {}
                Concern::Beyond => self.is_beyond = true,
            }
            // Further events may be about elements that were not read.
            if self.is_beyond {
                break;
            }
        }
        self.model.close_record(head, key, events);
        Ok(())
    }
}

/// The author of a record, and the circumstances of its writing.
#[derive(Clone, Copy, Debug)]
pub struct RecordAuthor<'a> {
    /// The name under which the author holds the lock, for those who wait.
    pub holder: &'a LockHolder,
    /// How long the author waits for the lock.
    pub timeout: Duration,
    /// The time of the record.
    pub time: Timestamp,
    /// The role of the author.
    pub origin: RecordOrigin,
}

/// The outcome of adding to a log.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecordedChange<T> {
    /// The result of the caller's function.
    pub result: T,
    /// The number of the last record now.
    pub revision: u64,
    /// The number of structural changes now.
    pub structure: u64,
    /// Whether a record was written.
    pub is_written: bool,
    /// Warnings beside the result.
    pub warnings: Vec<Diagnostic>,
}

/// An open instance: its model, and the log that the model comes from.
///
/// ```
/// use cuvee::deploy::instance::{EventLog, Draft, Event, InstanceLog, LockHolder, MemoryStore, RecordAuthor, RecordOrigin, begin_workflow};
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
    /// Whether the model contains events that could not be written to the log.
    is_ahead: bool,
}

impl<'s> InstanceLog<'s> {
    /// Opens an instance, and reads its model.
    ///
    /// # Errors
    /// `unknown-instance`, `store-corrupt`, `store-version`, `file`.
    pub fn open(store: &'s dyn Store, name: &str) -> Result<Self, Diagnostic> {
        Self::open_extent(store, name, ModelExtent::Whole)
    }

    /// Opens an instance to read reports about these nodes under these keys. If the snapshot allows
    /// it, other nodes are not read.
    ///
    /// # Errors
    /// As [`InstanceLog::open`].
    pub(crate) fn open_nodes(
        store: &'s dyn Store,
        name: &str,
        nodes: BTreeSet<Arc<str>>,
        keys: BTreeSet<Arc<str>>,
    ) -> Result<Self, Diagnostic> {
        Self::open_extent(store, name, ModelExtent::Nodes { nodes, keys })
    }

    fn open_extent(
        store: &'s dyn Store,
        name: &str,
        extent: ModelExtent,
    ) -> Result<Self, Diagnostic> {
        let mut log = EventLog::open(store, name)?;
        let mut fold = ModelFold::of(&log, extent)?;
        log.note_keys();
        while !fold.is_beyond
            && let Some(record) = log.next_record()?
        {
            fold.add(&record)?;
        }
        match fold.is_beyond {
            true => Self::open(store, name),
            false => Ok(Self { store, log, fold, is_ahead: false }),
        }
    }

    /// Whether the model is complete.
    pub(crate) fn is_whole(&self) -> bool {
        self.fold.extent == ModelExtent::Whole
    }

    /// The model, as of the last time that the log was read.
    pub fn model(&self) -> &InstanceModel {
        &self.fold.model
    }

    /// The store that has the instance.
    pub(crate) fn store(&self) -> &'s dyn Store {
        self.store
    }

    /// The log.
    pub fn log(&self) -> &EventLog<'s> {
        &self.log
    }

    /// How the instance keeps secrets.
    ///
    /// # Errors
    /// `file`, if its key cannot be read.
    pub fn secrets(&self) -> Result<KeptSecrets, Diagnostic> {
        let key = self.log.key()?.unwrap_or_default();
        Ok(KeptSecrets::new(self.model().secrets, key, &self.model().sensitive))
    }

    /// Stores texts before a record names their digests.
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

    /// Removes the instance with all its files.
    ///
    /// # Errors
    /// `store-locked`, `file`
    pub fn delete(mut self, author: &RecordAuthor<'_>) -> Result<(), Diagnostic> {
        self.log.writer(author.holder, author.timeout)?.delete()
    }

    /// Adds a record. Reads what others have written meanwhile, compares the revision with
    /// `expect`, and writes the events that `what` adds, if any. `what` may also store texts that
    /// its events name. If `what` fails, nothing is written.
    ///
    /// # Errors
    /// `store-locked`, `stale-revision`, `store-version` if a later version has written events that
    /// this one does not know, `store-corrupt`, `file`, and the errors of `what`.
    pub fn change<T>(
        &mut self,
        author: &RecordAuthor<'_>,
        expect: Option<u64>,
        key: Option<&str>,
        what: impl FnOnce(&mut Unwritten<'_>, &mut LogWriter<'_, 's>) -> Result<T, Diagnostic>,
    ) -> Result<RecordedChange<T>, Diagnostic> {
        self.writing(author, SnapshotPace::Soon, |group| {
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

/// A group of records that the holder of the lock writes together.
pub(super) struct RecordGroup<'g, 'l, 's> {
    pub(super) model: &'g mut InstanceModel,
    pub(super) writer: &'g mut LogWriter<'l, 's>,
    author: &'g RecordAuthor<'g>,
    /// The time of the author, as records write it.
    time: Arc<str>,
    actor: Arc<str>,
    /// The orchestration that was open before the present record.
    open: Option<Arc<str>>,
    drafts: Vec<OwnedDraft>,
}

/// The contents of a record that is to be written.
struct OwnedDraft {
    orchestration: Option<Arc<str>>,
    key: Option<Arc<str>>,
    events: Vec<Event>,
}

impl<'l, 's> RecordGroup<'_, 'l, 's> {
    /// The next record, still empty, and the writer that stores the texts its events name.
    pub(super) fn record(&mut self) -> (Unwritten<'_>, &mut LogWriter<'l, 's>) {
        self.open = self.orchestration();
        let (time, actor) = (Arc::clone(&self.time), Arc::clone(&self.actor));
        (Unwritten::new(self.model, time, actor, self.author.origin), &mut *self.writer)
    }

    /// The name of the open orchestration: the number of its first record.
    fn orchestration(&self) -> Option<Arc<str>> {
        self.model.orchestration.as_ref().map(|open| open.id.to_string().into())
    }

    /// Keeps the events of a record until they are written. A record without events is dropped.
    pub(super) fn keep(&mut self, events: Vec<Event>, key: Option<&str>) {
        if events.is_empty() {
            return;
        }
        // The record that begins an orchestration belongs to it, and so does the one that ends it.
        let orchestration = self.open.take().or_else(|| self.orchestration());
        self.drafts.push(OwnedDraft { orchestration, key: key.map(Arc::from), events });
    }

    /// Writes the records that were kept.
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
                "the key of a new report is in the log already, but not in the model",
            )),
        }
    }
}

impl<'s> InstanceLog<'s> {
    /// Takes the lock, reads new records, and writes the records that `what` makes.
    pub(super) fn writing<T>(
        &mut self,
        author: &RecordAuthor<'_>,
        pace: SnapshotPace,
        what: impl FnOnce(&mut RecordGroup<'_, '_, 's>) -> Result<T, Diagnostic>,
    ) -> Result<RecordedChange<T>, Diagnostic> {
        if self.is_ahead || self.fold.is_beyond {
            *self = Self::open(self.store, self.log.instance())?;
        }
        let Self { store, log, fold, is_ahead } = self;
        let mut writer = log.writer(author.holder, author.timeout)?;
        while let Some(record) = writer.next_record()? {
            fold.add(&record)?;
        }
        if fold.is_beyond {
            drop(writer);
            return self.writing(author, pace, what);
        }
        if fold.model.is_later {
            return Err(later(writer.log().instance()));
        }
        // A torn end of the log gets a record of its own, before all others.
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
        // From here on the model is ahead of the log, until the records have been written.
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
        if writer.snapshot_due(pace) {
            warnings.extend(snapshot(*store, &mut writer, fold));
        }
        let (revision, structure) = (fold.model.revision, fold.model.structure);
        Ok(RecordedChange { result, revision, structure, is_written, warnings })
    }

    /// Makes a snapshot of the present model, so that the instance opens faster.
    ///
    /// # Errors
    /// `store-locked`, `store-corrupt`, `store-version`, `file`.
    pub fn compact(&mut self, author: &RecordAuthor<'_>) -> Result<(), Diagnostic> {
        let written = self
            .writing(author, SnapshotPace::Soon, |group| write_snapshot(group.writer, group.model));
        written.map(|_| ())
    }

    /// Makes a snapshot if one is due, after a series of writes that made none.
    ///
    /// # Errors
    /// As [`InstanceLog::compact`].
    pub(crate) fn settle(&mut self, author: &RecordAuthor<'_>) -> Result<(), Diagnostic> {
        self.writing(author, SnapshotPace::Soon, |_| Ok(())).map(|_| ())
    }
}

/// Makes a snapshot. A failure is only a warning, since the log contains everything.
fn snapshot(
    store: &dyn Store,
    writer: &mut LogWriter<'_, '_>,
    fold: &ModelFold,
) -> Option<Diagnostic> {
    let written = match fold.extent {
        ModelExtent::Whole => write_snapshot(writer, &fold.model),
        _ => read_model(store, writer.log().instance(), ModelAt::Latest)
            .and_then(|model| write_snapshot(writer, &model)),
    };
    Some(written.err()?.with_severity(Severity::Warning))
}

fn write_snapshot(writer: &mut LogWriter<'_, '_>, model: &InstanceModel) -> Result<(), Diagnostic> {
    let open = model.orchestration.as_ref();
    let keeps_keys = open.is_some_and(|open| writer.log().keeps_keys_of(open.id));
    writer.write_snapshot(parts(model, keeps_keys))
}

/// The error that a later version has written to the instance.
fn later(instance: &str) -> Diagnostic {
    let message = format!(
        "a later version of cuvee has written records to `{instance}` that this version does not know"
    );
    Diagnostic::error(Code::StoreVersion, message)
        .help("use that version to write to the instance; this one can only read it")
}
