//! A store in which one operation fails, as with a full disk, a crash or a bad cable.

use super::{LockAttempt, LockHolder, Locking, Store, StoreReader, StoredFile};
use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};

/// The operation that fails, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The number of the operation, from 0. All calls of a store are counted.
    pub operation: u64,
    /// How the operation fails.
    pub kind: FaultKind,
    /// Whether all later operations fail as well, as when the process ends.
    pub is_final: bool,
}

/// How an operation fails. The caller always gets an error, except when a file that is read ends
/// early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The operation does nothing.
    Fail,
    /// An append or read handles only this many bytes; other operations do nothing.
    Shorten(usize),
    /// An append writes this many bytes right and the others as zero; other operations are done.
    Tear(usize),
    /// The operation is done, and reports an error.
    Late,
}

/// A store in which one operation fails, for tests of the code that uses it.
///
/// ```
/// use cuvee::deploy::instance::{Fault, FaultKind, FaultyStore, MemoryStore, Store};
/// let memory = MemoryStore::new(1);
/// let fault = Fault { operation: 1, kind: FaultKind::Shorten(2), is_final: false };
/// let store = FaultyStore::new(memory.clone(), fault);
/// store.create("shop")?;
/// assert!(store.append("shop", "log-1.ndjson", b"{}\n").is_err());
/// assert_eq!(memory.files("shop")?[0].length, 2);
/// store.append("shop", "log-1.ndjson", b"\n")?;
/// assert_eq!(store.operations(), 3);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct FaultyStore<S> {
    store: S,
    fault: Fault,
    state: Mutex<FaultState>,
}

#[derive(Debug, Default)]
struct FaultState {
    operations: u64,
    is_over: bool,
}

impl<S: Store> FaultyStore<S> {
    /// A store that behaves like this one, apart from the fault.
    pub fn new(store: S, fault: Fault) -> Self {
        Self { store, fault, state: Mutex::default() }
    }

    /// The number of operations so far.
    pub fn operations(&self) -> u64 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).operations
    }

    /// Counts an operation, and returns the fault that it gets.
    fn next(&self) -> io::Result<Option<FaultKind>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_over {
            return Err(broken());
        }
        let operation = state.operations;
        state.operations += 1;
        if operation != self.fault.operation {
            return Ok(None);
        }
        state.is_over = self.fault.is_final;
        Ok(Some(self.fault.kind))
    }

    /// Does an operation that cannot be done in part.
    fn whole<T>(&self, done: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match self.next()? {
            None => done(),
            Some(FaultKind::Fail | FaultKind::Shorten(_)) => Err(broken()),
            Some(FaultKind::Tear(_) | FaultKind::Late) => done().and_then(|_| Err(broken())),
        }
    }
}

fn broken() -> io::Error {
    io::Error::other("the store is broken on purpose")
}

impl<S: Store> Store for FaultyStore<S> {
    fn instances(&self) -> io::Result<Vec<String>> {
        self.whole(|| self.store.instances())
    }

    fn files(&self, instance: &str) -> io::Result<Vec<StoredFile>> {
        self.whole(|| self.store.files(instance))
    }

    fn read(&self, instance: &str, file: &str, from: u64) -> io::Result<StoreReader<'_>> {
        match self.next()? {
            None => self.store.read(instance, file, from),
            Some(FaultKind::Shorten(kept)) => {
                Ok(Box::new(self.store.read(instance, file, from)?.take(kept as u64)))
            }
            Some(_) => Err(broken()),
        }
    }

    fn create(&self, instance: &str) -> io::Result<()> {
        self.whole(|| self.store.create(instance))
    }

    fn append(&self, instance: &str, file: &str, bytes: &[u8]) -> io::Result<()> {
        let mut bytes = bytes.to_vec();
        let fault = self.next()?;
        match fault {
            None | Some(FaultKind::Late) => {}
            Some(FaultKind::Fail) => return Err(broken()),
            Some(FaultKind::Shorten(kept)) => bytes.truncate(kept),
            Some(FaultKind::Tear(kept)) => bytes.iter_mut().skip(kept).for_each(|byte| *byte = 0),
        }
        self.store.append(instance, file, &bytes)?;
        if fault.is_some() { Err(broken()) } else { Ok(()) }
    }

    fn replace(&self, instance: &str, file: &str, bytes: &[u8]) -> io::Result<()> {
        self.whole(|| self.store.replace(instance, file, bytes))
    }

    fn truncate(&self, instance: &str, file: &str, length: u64) -> io::Result<()> {
        self.whole(|| self.store.truncate(instance, file, length))
    }

    fn remove(&self, instance: &str, file: &str) -> io::Result<()> {
        self.whole(|| self.store.remove(instance, file))
    }

    fn sync(&self, instance: &str, file: &str) -> io::Result<()> {
        self.whole(|| self.store.sync(instance, file))
    }

    fn remove_instance(&self, instance: &str) -> io::Result<()> {
        self.whole(|| self.store.remove_instance(instance))
    }

    fn try_lock(&self, instance: &str, holder: &LockHolder) -> io::Result<LockAttempt<'_>> {
        self.whole(|| self.store.try_lock(instance, holder))
    }

    fn locking(&self, instance: &str) -> io::Result<Locking> {
        self.whole(|| self.store.locking(instance))
    }

    fn random(&self) -> io::Result<[u8; 32]> {
        self.whole(|| self.store.random())
    }

    fn place(&self, instance: &str, file: &str) -> String {
        self.store.place(instance, file)
    }
}
