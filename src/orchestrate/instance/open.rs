//! Instances as they are opened: the newest snapshot and what has come since, or all from the
//! beginning, and records that are added by whoever holds the lock.

use super::event::{Event, RecordOrigin};
use super::model::InstanceModel;
use super::part::{Concern, ModelExtent, parts, restore, sources_of};
use super::reduce::{ImpossibleEvent, RecordHead, relation_parts};
use super::secrets::KeptSecrets;
use super::store::{
    Draft, EventLog, LockHolder, LogRecord, LogWriter, SnapshotPace, Store, Verification, verify,
};
use super::unwritten::Unwritten;
use crate::text::diagnostic::{Code, Diagnostic, Severity};
use jiff::Timestamp;
use std::collections::BTreeSet;
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
    read_extent(store, name, at, &|_| Ok(ModelExtent::Whole))
}

/// The model of an instance with no more of its nodes than their states, and without groups and
/// policies; to list it, the rest need not be read.
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

/// Asks something about one entity of an instance: first of a model with only those nodes that have
/// to do with it, where these can be told apart, and where that is of no use of all there is.
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

/// What has to do with an entity: the nodes that it may be, and those that lead there.
fn around(log: &EventLog<'_>, entity: &str) -> Result<ModelExtent, Diagnostic> {
    /// Of more, reading all is no slower.
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

/// As much of a model as is asked for, or all of it, where less cannot be told.
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
pub(super) fn corrupt(place: &str, what: impl Display) -> Diagnostic {
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
    let mut fold = ModelFold::new(InstanceModel::default(), ModelExtent::Whole);
    verify(store, name, &mut |record| fold.add(record))
}

/// A model into which records are folded.
struct ModelFold {
    model: InstanceModel,
    head: RecordHead,
    /// The time of that, of which there are often many alike.
    time: Timestamp,
    extent: ModelExtent,
    /// Whether something has happened that cannot be told from what is read of the model.
    is_beyond: bool,
}

impl ModelFold {
    fn new(model: InstanceModel, extent: ModelExtent) -> Self {
        let time = Timestamp::UNIX_EPOCH;
        let (said, actor) = (time.to_string().into(), "".into());
        let head = RecordHead { revision: 0, time: said, actor, origin: RecordOrigin::default() };
        Self { model, head, time, extent, is_beyond: false }
    }

    /// What a log comes to where it begins to be read: nothing, or what a snapshot says.
    fn of(log: &EventLog<'_>, extent: ModelExtent) -> Result<Self, Diagnostic> {
        match log.snapshot() {
            Some(snapshot) => Ok(Self::new(restore(snapshot, &extent)?, extent)),
            // From its beginning, all of it is read anyway.
            None => Ok(Self::new(InstanceModel::default(), ModelExtent::Whole)),
        }
    }

    fn add(&mut self, record: &LogRecord<'_>) -> Result<(), Diagnostic> {
        if self.is_beyond {
            return Ok(());
        }
        let head = &mut self.head;
        (head.revision, head.origin) = (record.revision, record.origin);
        if self.time != record.time {
            (self.time, head.time) = (record.time, record.time.to_string().into());
        }
        if *head.actor != *record.actor {
            head.actor = Arc::from(&*record.actor);
        }
        if self.extent.is_outside(record) {
            self.model.close_record(head, record.key.as_deref(), &[]);
            self.model.structure = record.structure;
            return Ok(());
        }
        self.apply(record, &record.events()?).map_err(|why| corrupt(&record.place(), why))?;
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
            // Whatever comes now may be about what is not there.
            if self.is_beyond {
                break;
            }
        }
        self.model.close_record(head, key, events);
        Ok(())
    }
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
        Self::open_extent(store, name, ModelExtent::Whole)
    }

    /// Opens an instance for what is said of these nodes under these keys: of others nothing is
    /// read, where that can be told apart.
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

    /// Whether the model is all that there is.
    pub(crate) fn is_whole(&self) -> bool {
        self.fold.extent == ModelExtent::Whole
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
        if writer.snapshot_due(pace) {
            warnings.extend(snapshot(*store, &mut writer, fold));
        }
        let (revision, structure) = (fold.model.revision, fold.model.structure);
        Ok(RecordedChange { result, revision, structure, is_written, warnings })
    }

    /// Makes a snapshot of what the instance is now, so that it is opened faster.
    ///
    /// # Errors
    /// `store-locked`, `store-corrupt`, `store-version`, `file`.
    pub fn compact(&mut self, author: &RecordAuthor<'_>) -> Result<(), Diagnostic> {
        let written = self
            .writing(author, SnapshotPace::Soon, |group| write_snapshot(group.writer, group.model));
        written.map(|_| ())
    }

    /// Makes a snapshot if one is due, for who has gone on writing and does so no more.
    ///
    /// # Errors
    /// As [`InstanceLog::compact`].
    pub(crate) fn settle(&mut self, author: &RecordAuthor<'_>) -> Result<(), Diagnostic> {
        self.writing(author, SnapshotPace::Soon, |_| Ok(())).map(|_| ())
    }
}

/// Makes a snapshot; that it cannot be made stops nobody, since the log says all.
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
    Some(Diagnostic { severity: Severity::Warning, ..written.err()? })
}

fn write_snapshot(writer: &mut LogWriter<'_, '_>, model: &InstanceModel) -> Result<(), Diagnostic> {
    let open = model.orchestration.as_ref();
    let keeps_keys = open.is_some_and(|open| writer.log().keeps_keys_of(open.id));
    writer.write_snapshot(parts(model, keeps_keys))
}

/// Somebody who knows more has written to it.
fn later(instance: &str) -> Diagnostic {
    let message =
        format!("a later version has written to `{instance}` what this one does not know");
    Diagnostic::error(Code::StoreVersion, message)
        .help("it can be read; to write to it, use that version")
}
