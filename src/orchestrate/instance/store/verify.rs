//! Verifies that an instance is what was written, and copies what is intact of a damaged one.

use super::log::{EventLog, LogPosition};
use super::record::{Chain, LogRecord};
use super::snapshot::{self, Snapshot};
use super::{LockHolder, Locking, Store, StoredFile, blob, check_name, segment, trouble};
use crate::diagnostic::{Code, Diagnostic};
use rustc_hash::FxHashMap;
use std::time::Duration;

/// The result of a verification: what was checked, and what is wrong.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Verification {
    /// The last revision up to which the log is right.
    pub revision: u64,
    /// The number of files of the log.
    pub segments: usize,
    /// The number of bytes of the log that are records.
    pub bytes: u64,
    /// The number of blobs whose contents have their digest.
    pub blobs: usize,
    /// The number of blobs that records name and that are missing.
    pub missing: usize,
    /// The number of intact snapshots.
    pub snapshots: usize,
    /// Errors, warnings and notes. If there is no error, everything that was acknowledged is
    /// intact.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads all of an instance. `each` gets every record, and its errors are reported as well.
///
/// ```
/// use cuvee::deploy::instance::{EventLog, LockHolder, MemoryStore, Store, verify};
/// let store = MemoryStore::new(1);
/// let anna = LockHolder { actor: "anna".to_owned(), process: 1 };
/// # use cuvee::deploy::instance::{Draft, RecordOrigin};
/// # let draft = Draft { time: jiff::Timestamp::UNIX_EPOCH, actor: "anna", origin: RecordOrigin::Edit, orchestration: None, key: None, events: &[] };
/// EventLog::create(&store, "shop", &anna, std::time::Duration::ZERO, |writer| writer.commit(&[draft]))?;
/// let verification = verify(&store, "shop", &mut |_| Ok(()))?;
/// assert_eq!((verification.revision, verification.diagnostics.len()), (1, 0));
/// # Ok::<(), cuvee::diagnostic::Diagnostic>(())
/// ```
///
/// # Errors
/// `instance-name`, `unknown-instance`, and `file` if not even the files can be listed.
pub fn verify(
    store: &dyn Store,
    name: &str,
    each: &mut dyn FnMut(&LogRecord<'_>) -> Result<(), Diagnostic>,
) -> Result<Verification, Diagnostic> {
    check_name(name)?;
    let mut log = EventLog::at(store, name, LogPosition::START);
    log.refresh()?;
    let files = store
        .files(name)
        .map_err(|why| trouble::file(&trouble::READ, &store.place(name, ""), &why))?;
    let mut verification =
        Verification { segments: segment::all(&files).len(), ..Verification::default() };
    if verification.segments == 0 {
        return Err(trouble::unknown(store, name));
    }
    let chains = verification.read_log(&mut log, &files, each);
    verification.check_blobs(&log, &files);
    verification.check_snapshots(&log, &files, &chains);
    verification.check_lock(&log);
    Ok(verification)
}

impl Verification {
    fn read_log(
        &mut self,
        log: &mut EventLog<'_>,
        files: &[StoredFile],
        each: &mut dyn FnMut(&LogRecord<'_>) -> Result<(), Diagnostic>,
    ) -> FxHashMap<u64, Option<Chain>> {
        let mut chains: FxHashMap<u64, Option<Chain>> =
            snapshot::revisions(files).into_iter().map(|revision| (revision, None)).collect();
        let ended = loop {
            match log.next_record() {
                Ok(Some(record)) => {
                    if let Some(chain) = chains.get_mut(&record.revision) {
                        *chain = Some(record.chain);
                    }
                    if let Err(found) = each(&record) {
                        self.diagnostics.push(found);
                    }
                }
                Ok(None) => break None,
                Err(why) => break Some(why),
            }
        };
        self.revision = log.revision();
        self.bytes = log.tail.bytes;
        let is_whole = ended.is_none();
        self.diagnostics.extend(ended);
        if is_whole && self.revision == 0 {
            self.diagnostics.push(trouble::never_begun(log.instance()));
        }
        if let Some(bytes) = log.torn() {
            self.diagnostics.push(trouble::torn(&log.next_place(), bytes));
        }
        chains
    }

    fn check_blobs(&mut self, log: &EventLog<'_>, files: &[StoredFile]) {
        for digest in files.iter().filter_map(|file| blob::digest_of(&file.name)) {
            match log.blob(digest) {
                Ok(_) => self.blobs += 1,
                Err(why) => self.diagnostics.push(why),
            }
        }
    }

    /// Checks the snapshots. They follow from the log, so a wrong one is only a warning.
    fn check_snapshots(
        &mut self,
        log: &EventLog<'_>,
        files: &[StoredFile],
        chains: &FxHashMap<u64, Option<Chain>>,
    ) {
        for revision in snapshot::revisions(files) {
            let opened = Snapshot::open(log.store, log.instance(), files, revision);
            let chain = chains.get(&revision).copied().flatten();
            let is_right = match opened {
                Ok(Some(snapshot)) => {
                    chain.is_some()
                        && snapshot.header.position.chain == chain
                        && snapshot.check().is_ok()
                }
                _ => false,
            };
            if is_right {
                self.snapshots += 1;
            } else {
                let [file, _] = snapshot::names(revision);
                self.diagnostics.push(trouble::ignored(&log.store.place(log.instance(), &file)));
            }
        }
    }

    fn check_lock(&mut self, log: &EventLog<'_>) {
        let place = log.store.place(log.instance(), "lock");
        let found = match log.store.locking(log.instance()) {
            Ok(Locking::Exclusive) => return,
            Ok(Locking::Doubtful(why)) => Diagnostic::warning(
                Code::File,
                format!("the lock `{place}` may not keep others out: {why}"),
            )
            .help("let one machine at a time write to this store"),
            Ok(Locking::Unknown(why)) => Diagnostic::note(
                Code::File,
                format!("whether the lock `{place}` keeps others out cannot be told: {why}"),
            )
            .help(
                "keep the store on a disk of one machine, or let one machine at a time write to it",
            ),
            Err(why) => trouble::file(&trouble::LOCK, &place, &why),
        };
        self.diagnostics.push(found);
    }
}

/// The result of a salvage.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Salvaged {
    /// The last revision up to which the log was right.
    pub revision: u64,
    /// The number of blobs that were copied.
    pub blobs: usize,
    /// The reasons why further records or blobs were not copied.
    pub left: Vec<Diagnostic>,
}

/// How many bytes are copied by one write.
const CHUNK: usize = 1 << 20;

/// Copies everything that is provably intact to a new instance: the records before the first wrong
/// one, blobs whose contents have their digest, and the key.
///
/// # Errors
/// `instance-exists` if the new instance exists, `instance-name`, `unknown-instance`,
/// `store-locked`, `file`; if nothing is intact, the error of the log.
pub fn salvage(
    (from, name): (&dyn Store, &str),
    (to, to_name): (&dyn Store, &str),
    holder: &LockHolder,
    timeout: Duration,
) -> Result<Salvaged, Diagnostic> {
    check_name(name)?;
    let mut log = EventLog::at(from, name, LogPosition::START);
    log.refresh()?;
    EventLog::create(to, to_name, holder, timeout, |_| {
        let write =
            |why: std::io::Error| trouble::file(&trouble::WRITE, &to.place(to_name, ""), &why);
        let mut salvaged = Salvaged::default();
        // Blobs come before the records that name them.
        let files = from.files(name).map_err(|why| log.unreadable(&why))?;
        for digest in files.iter().filter_map(|file| blob::digest_of(&file.name)) {
            match log.blob(digest) {
                Ok(bytes) => {
                    to.replace(to_name, &blob::file(digest), &bytes).map_err(write)?;
                    salvaged.blobs += 1;
                }
                Err(why) => salvaged.left.push(why),
            }
        }
        match log.key_text() {
            Ok(Some(text)) => to.replace(to_name, blob::KEY, text.as_bytes()).map_err(write)?,
            Ok(None) => {}
            Err(why) => salvaged.left.push(why),
        }
        let mut copy = SegmentCopy { to, to_name, segment: 0, bytes: Vec::new() };
        loop {
            match log.next_record() {
                Ok(Some(record)) => copy.add(record.segment(), record.line()).map_err(write)?,
                Ok(None) => break,
                Err(why) if copy.segment == 0 => return Err(why),
                Err(why) => {
                    salvaged.left.push(why);
                    break;
                }
            }
        }
        copy.flush().map_err(write)?;
        if let Some(bytes) = log.torn() {
            salvaged.left.push(trouble::torn(&log.next_place(), bytes));
        }
        salvaged.revision = log.revision();
        if salvaged.revision == 0 { Err(trouble::never_begun(name)) } else { Ok(salvaged) }
    })
    .map(|(_, salvaged)| salvaged)
}

/// Copies lines to another log, in the same segments.
struct SegmentCopy<'t> {
    to: &'t dyn Store,
    to_name: &'t str,
    segment: u64,
    bytes: Vec<u8>,
}

impl SegmentCopy<'_> {
    fn add(&mut self, segment: u64, line: &str) -> std::io::Result<()> {
        if segment != self.segment || self.bytes.len() >= CHUNK {
            self.flush()?;
            self.segment = segment;
        }
        self.bytes.extend_from_slice(line.as_bytes());
        self.bytes.push(b'\n');
        Ok(())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        if !self.bytes.is_empty() {
            self.to.append(self.to_name, &segment::name(self.segment), &self.bytes)?;
        }
        self.bytes.clear();
        Ok(())
    }
}
