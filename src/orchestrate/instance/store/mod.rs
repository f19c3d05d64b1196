//! Stores instances: each has a directory of files, and one of the files is a log that only grows.
//! A [`Store`] handles only bytes; [`EventLog`] and [`Snapshot`] give them a meaning.
//!
//! Rules of the log, which hold for every store:
//!
//! - A record is one line, and a line is written as a whole or not at all. Each line contains a
//!   chain that depends on the line before, so that no earlier line can change unnoticed.
//! - A writer holds the lock from reading the last record until the new ones are durable.
//! - A reader needs no lock, and sees only complete lines. It may see a record an instant before
//!   that is durable; to be sure of a record, wait for the answer of the writer. If the machine
//!   loses power in that instant, or the disk refuses, the record is gone again. A reader that has
//!   seen it is then told that the log is another one.

mod blob;
mod faulty;
#[cfg(not(target_family = "wasm"))]
mod files;
mod keys;
mod lines;
mod log;
mod memory;
mod record;
mod segment;
mod snapshot;
mod torn;
mod trouble;
mod verify;
mod writer;

pub(super) use blob::{find_blob, missing_blob};
pub use faulty::{Fault, FaultKind, FaultyStore};
#[cfg(not(target_family = "wasm"))]
pub use files::OsStore;
pub use log::{EventLog, LogPosition};
pub use memory::MemoryStore;
pub use record::{Chain, Draft, LogRecord};
pub use snapshot::Snapshot;
pub use verify::{Salvaged, Verification, salvage, verify};
pub use writer::{Committed, LogWriter, SnapshotPace};

use crate::diagnostic::{Code, Diagnostic};
use std::fmt;
use std::io::{self, Read};
use std::time::{Duration, Instant};

/// The files of instances: bytes, and when they become durable.
///
/// An instance has a directory with files such as `log-1.ndjson`, and a folder there for
/// `blobs/DIGEST`. Only the holder of the instance's lock may call methods that change files.
///
/// ```
/// use cuvee::deploy::instance::{MemoryStore, Store};
/// let store = MemoryStore::new(1);
/// store.create("shop")?;
/// store.append("shop", "log-1.ndjson", b"{}\n")?;
/// assert_eq!(store.instances()?, ["shop"]);
/// assert_eq!((&*store.files("shop")?[0].name, store.files("shop")?[0].length), ("log-1.ndjson", 3));
/// let mut text = String::new();
/// store.read("shop", "log-1.ndjson", 1)?.read_to_string(&mut text)?;
/// assert_eq!(text, "}\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Store: Send + Sync {
    /// The directories of instances, sorted. Not all of them need to have a log.
    ///
    /// # Errors
    /// Errors of the system; a store that does not exist yet has no instances.
    fn instances(&self) -> io::Result<Vec<String>>;

    /// The files of an instance, sorted by name.
    ///
    /// # Errors
    /// Errors of the system; `NotFound` if the instance does not exist.
    fn files(&self, instance: &str) -> io::Result<Vec<StoredFile>>;

    /// The contents of a file from this byte on.
    ///
    /// # Errors
    /// Errors of the system.
    fn read(&self, instance: &str, file: &str, from: u64) -> io::Result<StoreReader<'_>>;

    /// Makes the directory of an instance, unless it exists.
    ///
    /// # Errors
    /// Errors of the system.
    fn create(&self, instance: &str) -> io::Result<()>;

    /// Appends to a file by one write; makes the file if it does not exist. The bytes are durable
    /// when this returns. After an error a part of them may be in the file.
    ///
    /// # Errors
    /// Errors of the system.
    fn append(&self, instance: &str, file: &str, bytes: &[u8]) -> io::Result<()>;

    /// Replaces the contents of a file. Others see the old or the new contents, never a mixture.
    /// The new ones are durable when this returns.
    ///
    /// # Errors
    /// Errors of the system.
    fn replace(&self, instance: &str, file: &str, bytes: &[u8]) -> io::Result<()>;

    /// Cuts a file off after `length` bytes, durably.
    ///
    /// # Errors
    /// Errors of the system.
    fn truncate(&self, instance: &str, file: &str, length: u64) -> io::Result<()>;

    /// Removes a file, durably.
    ///
    /// # Errors
    /// Errors of the system.
    fn remove(&self, instance: &str, file: &str) -> io::Result<()>;

    /// Makes durable what others may have written to a file.
    ///
    /// # Errors
    /// Errors of the system.
    fn sync(&self, instance: &str, file: &str) -> io::Result<()>;

    /// Removes an instance with all its files. Others see all of them or none.
    ///
    /// # Errors
    /// Errors of the system.
    fn remove_instance(&self, instance: &str) -> io::Result<()>;

    /// Takes the lock of an instance. If another holder has it, that one is returned if known.
    ///
    /// # Errors
    /// Errors of the system; `NotFound` if the instance does not exist.
    fn try_lock(&self, instance: &str, holder: &LockHolder) -> io::Result<LockAttempt<'_>>;

    /// Whether locks of this store keep others out.
    ///
    /// # Errors
    /// Errors of the system.
    fn locking(&self, instance: &str) -> io::Result<Locking>;

    /// Random bytes that nobody can guess.
    ///
    /// # Errors
    /// Errors of the system.
    fn random(&self) -> io::Result<[u8; 32]>;

    /// The name of a file in messages.
    fn place(&self, instance: &str, file: &str) -> String;
}

/// A file of an instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoredFile {
    /// The name in the store: `log-1.ndjson`, `blobs/DIGEST`.
    pub name: String,
    /// The number of bytes in the file.
    pub length: u64,
}

/// The holder of a lock.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LockHolder {
    /// The name of the actor.
    pub actor: String,
    /// The number of the process in the system.
    pub process: u32,
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`, process {}", self.actor, self.process)
    }
}

/// The result of trying to take a lock.
#[derive(Debug)]
pub enum LockAttempt<'s> {
    /// The lock is held until this is dropped.
    Held(Box<dyn StoreLock + 's>),
    /// Another holder has the lock; `None` if it is unknown.
    Busy(Option<LockHolder>),
}

/// Reads the contents of a file of a store, on any thread.
pub type StoreReader<'s> = Box<dyn Read + Send + Sync + 's>;

/// A lock that is held. It ends when this is dropped, or when the process ends.
pub trait StoreLock: fmt::Debug + Send {}

/// Whether locks of a store keep others out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Locking {
    /// Locks keep others out.
    Exclusive,
    /// Locks may not keep others out, for this reason.
    Doubtful(String),
    /// Unknown, for this reason.
    Unknown(String),
}

/// How long names of instances may be.
const LONGEST_NAME: usize = 63;

/// Checks the name of an instance: a letter or a digit, then these, `.`, `_` and `-`.
///
/// ```
/// assert!(cuvee::deploy::instance::check_name("shop-2.eu").is_ok());
/// assert!(cuvee::deploy::instance::check_name("../shop").is_err());
/// ```
///
/// # Errors
/// `instance-name`, with a permitted name as help.
pub fn check_name(name: &str) -> Result<(), Diagnostic> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_inner = |c: char| is_plain(c) || "._-".contains(c);
    if name.starts_with(is_plain) && name.chars().all(is_inner) && name.len() <= LONGEST_NAME {
        return Ok(());
    }
    let error = Diagnostic::error(
        Code::InstanceName,
        format!("`{}` cannot be the name of an instance", name.escape_debug()),
    );
    Err(error.help(format!(
        "use up to {LONGEST_NAME} of the characters a-z, 0-9, `.`, `_` and `-`, the first one a letter or a digit"
    )))
}

/// The names of the instances in a store that have a record, sorted.
///
/// # Errors
/// `file` if the store cannot be read.
pub fn instance_names(store: &dyn Store) -> Result<Vec<String>, Diagnostic> {
    let mut names = store
        .instances()
        .map_err(|why| trouble::file(&trouble::READ, &store.place("", ""), &why))?;
    // An instance that cannot be read exists.
    let has_begun = |name: &String| !matches!(EventLog::begun(store, name), Ok(None));
    names.retain(|name| has_log(store, name) && has_begun(name));
    Ok(names)
}

/// Whether a directory has a permitted name and a log.
fn has_log(store: &dyn Store, name: &str) -> bool {
    let files = || store.files(name).unwrap_or_default();
    check_name(name).is_ok() && files().iter().any(|file| segment::first(&file.name).is_some())
}

/// Takes the lock of an instance, waiting for the holder at most `timeout`.
///
/// # Errors
/// `store-locked`, `unknown-instance`, `file`.
fn lock<'s>(
    store: &'s dyn Store,
    instance: &str,
    holder: &LockHolder,
    timeout: Duration,
) -> Result<Box<dyn StoreLock + 's>, Diagnostic> {
    let patience = Patience::new(timeout);
    loop {
        match store.try_lock(instance, holder) {
            Ok(LockAttempt::Held(lock)) => return Ok(lock),
            Ok(LockAttempt::Busy(_)) if patience.wait() => {}
            Ok(LockAttempt::Busy(other)) => return Err(trouble::locked(instance, other.as_ref())),
            Err(why) if why.kind() == io::ErrorKind::NotFound => {
                return Err(trouble::unknown(store, instance));
            }
            Err(why) => {
                return Err(trouble::file(&trouble::LOCK, &store.place(instance, "lock"), &why));
            }
        }
    }
}

/// How long a caller waits.
struct Patience {
    /// Since when it waits, and the end of the waiting time; `None` not to wait at all.
    times: Option<(Instant, Instant)>,
}

impl Patience {
    fn new(timeout: Duration) -> Self {
        const FOREVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);
        // A browser has neither this clock nor other processes to wait for.
        if timeout.is_zero() || cfg!(target_family = "wasm") {
            return Self { times: None };
        }
        let began = Instant::now();
        let until = began.checked_add(timeout.min(FOREVER));
        Self { times: until.map(|until| (began, until)) }
    }

    /// Waits a moment, the longer the longer it has waited: of hundreds, most wait for long. Returns
    /// false if no time is left.
    fn wait(&self) -> bool {
        const SHORTEST: Duration = Duration::from_millis(1);
        const LONGEST: Duration = Duration::from_millis(50);
        let Some((began, until)) = self.times else { return false };
        let now = Instant::now();
        let left = until.saturating_duration_since(now);
        let moment = (now.saturating_duration_since(began) / 8).clamp(SHORTEST, LONGEST);
        std::thread::sleep(left.min(moment));
        !left.is_zero()
    }
}
