//! Where instances are kept: files in a directory of their own for each, of which one is a log that
//! only grows. Behind [`Store`] are bytes and nothing else; what they mean is said by [`EventLog`]
//! and [`Snapshot`].
//!
//! Rules of the log, which hold for every store:
//!
//! - A record is one line, and a line is there as a whole or not at all. Each names the chain of
//!   the one before, so that nothing in between can change unseen.
//! - Whoever writes holds the lock from reading the last record until the new ones are durable.
//! - Whoever reads needs no lock, and sees whole lines only. A reader may see a record an instant
//!   before it is durable: whoever waits for an acknowledgement, waits for the writer. When the
//!   machine loses its power in that instant, or the disk refuses, the record is gone again, and a
//!   reader who goes on from it is told that the log is not the one it was.

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

pub use faulty::{Fault, FaultKind, FaultyStore};
#[cfg(not(target_family = "wasm"))]
pub use files::OsStore;
pub use log::{EventLog, LogPosition};
pub use memory::MemoryStore;
pub use record::{Chain, Draft, LogRecord};
pub use snapshot::Snapshot;
pub use verify::{Salvaged, Verification, salvage, verify};
pub use writer::{Committed, LogWriter, SnapshotPace};

use crate::text::diagnostic::{Code, Diagnostic};
use std::fmt;
use std::io::{self, Read};
use std::time::{Duration, Instant};

/// Files of instances: bytes, and when they are durable.
///
/// An instance has a directory with files such as `log-1.ndjson`, and one below that,
/// `blobs/DIGEST`. What changes is called by whoever holds the lock of the instance only.
///
/// ```
/// use cuvee::instance::{MemoryStore, Store};
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
    /// As the system gives them; a store that is not there yet has none.
    fn instances(&self) -> io::Result<Vec<String>>;

    /// The files of an instance, sorted by name.
    ///
    /// # Errors
    /// As the system gives them; `NotFound` where there is no such instance.
    fn files(&self, instance: &str) -> io::Result<Vec<StoredFile>>;

    /// What a file holds from this byte on.
    ///
    /// # Errors
    /// As the system gives them.
    fn read(&self, instance: &str, file: &str, from: u64) -> io::Result<Box<dyn Read + Send + '_>>;

    /// Makes the directory of an instance, unless it is there.
    ///
    /// # Errors
    /// As the system gives them.
    fn create(&self, instance: &str) -> io::Result<()>;

    /// Adds to the end of a file, which is made where it is not there, by one write. When this
    /// returns, it is durable; where it fails, a part of it may be there.
    ///
    /// # Errors
    /// As the system gives them.
    fn append(&self, instance: &str, file: &str, bytes: &[u8]) -> io::Result<()>;

    /// Makes this the whole file: others see it as it was or as it is now. When this returns, it is
    /// durable.
    ///
    /// # Errors
    /// As the system gives them.
    fn replace(&self, instance: &str, file: &str, bytes: &[u8]) -> io::Result<()>;

    /// Cuts a file off, durably.
    ///
    /// # Errors
    /// As the system gives them.
    fn truncate(&self, instance: &str, file: &str, length: u64) -> io::Result<()>;

    /// Removes a file, durably.
    ///
    /// # Errors
    /// As the system gives them.
    fn remove(&self, instance: &str, file: &str) -> io::Result<()>;

    /// Makes durable what somebody else may have written to a file.
    ///
    /// # Errors
    /// As the system gives them.
    fn sync(&self, instance: &str, file: &str) -> io::Result<()>;

    /// Removes an instance with all its files: others see all of it or nothing.
    ///
    /// # Errors
    /// As the system gives them.
    fn remove_instance(&self, instance: &str) -> io::Result<()>;

    /// Takes the lock of an instance, unless somebody else has it, who may read who has it.
    ///
    /// # Errors
    /// As the system gives them; `NotFound` where there is no such instance.
    fn try_lock(&self, instance: &str, holder: &LockHolder) -> io::Result<LockAttempt<'_>>;

    /// Whether a lock keeps others out.
    ///
    /// # Errors
    /// As the system gives them.
    fn locking(&self, instance: &str) -> io::Result<Locking>;

    /// Bytes that nobody can guess.
    ///
    /// # Errors
    /// As the system gives them.
    fn random(&self) -> io::Result<[u8; 32]>;

    /// A file as messages call it.
    fn place(&self, instance: &str, file: &str) -> String;
}

/// A file of an instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoredFile {
    /// As the store calls it: `log-1.ndjson`, `blobs/DIGEST`.
    pub name: String,
    /// How many bytes it has.
    pub length: u64,
}

/// Who has a lock.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LockHolder {
    /// Who it is.
    pub actor: String,
    /// The process, as the system numbers it.
    pub process: u32,
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`, process {}", self.actor, self.process)
    }
}

/// What came of asking for a lock.
#[derive(Debug)]
pub enum LockAttempt<'s> {
    /// It is held until this is dropped.
    Held(Box<dyn StoreLock + 's>),
    /// Somebody else has it; who, where that can be told.
    Busy(Option<LockHolder>),
}

/// A lock that is held; dropping it lets others have it, and so does the end of the process.
pub trait StoreLock: fmt::Debug + Send {}

/// Whether locks keep others out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Locking {
    /// They do.
    Exclusive,
    /// They may not, and why.
    Doubtful(String),
    /// It cannot be told here, and why.
    Unknown(String),
}

/// So long are names of instances at most.
const LONGEST_NAME: usize = 63;

/// Whether an instance may be called this: a letter or a digit, then those, `.`, `_` and `-`.
///
/// ```
/// assert!(cuvee::instance::check_name("shop-2.eu").is_ok());
/// assert!(cuvee::instance::check_name("../shop").is_err());
/// ```
///
/// # Errors
/// `instance-name` with what it may be called instead.
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

/// The instances of a store that have begun, by name.
///
/// # Errors
/// `file` where the store cannot be read.
pub fn instance_names(store: &dyn Store) -> Result<Vec<String>, Diagnostic> {
    let mut names = store
        .instances()
        .map_err(|why| trouble::file(&trouble::READ, &store.place("", ""), &why))?;
    // What cannot be read is there.
    let has_begun = |name: &String| !matches!(EventLog::begun(store, name), Ok(None));
    names.retain(|name| has_log(store, name) && has_begun(name));
    Ok(names)
}

/// Whether a directory is that of an instance.
fn has_log(store: &dyn Store, name: &str) -> bool {
    let files = || store.files(name).unwrap_or_default();
    check_name(name).is_ok() && files().iter().any(|file| segment::first(&file.name).is_some())
}

/// Takes the lock of an instance, and waits that long for whoever has it.
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

/// How long somebody still waits.
struct Patience {
    /// Not at all where there is no such time.
    until: Option<Instant>,
}

impl Patience {
    fn new(timeout: Duration) -> Self {
        const FOREVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);
        // In a browser there is neither a clock to look at nor anybody to wait for.
        if timeout.is_zero() || cfg!(target_family = "wasm") {
            return Self { until: None };
        }
        let until = Instant::now().checked_add(timeout.min(FOREVER));
        Self { until }
    }

    /// Waits a little; false where there is no time left.
    fn wait(&self) -> bool {
        const MOMENT: Duration = Duration::from_millis(1);
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = left.filter(|left| !left.is_zero());
        left.map(|left| std::thread::sleep(left.min(MOMENT))).is_some()
    }
}
