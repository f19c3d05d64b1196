//! Keeps instances in memory, for tests and where there is no disk.

use super::{LockAttempt, LockHolder, Locking, Store, StoreLock, StoreReader, StoredFile};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{self, Cursor, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A store in memory. Clones share their files.
///
/// ```
/// use cuvee::deploy::instance::{LockAttempt, LockHolder, MemoryStore, Store};
/// let store = MemoryStore::new(7);
/// store.create("shop")?;
/// let anna = LockHolder { actor: "anna".to_owned(), process: 1 };
/// let held = store.try_lock("shop", &anna)?;
/// let LockAttempt::Busy(Some(holder)) = store.clone().try_lock("shop", &anna)? else { unreachable!() };
/// assert_eq!(holder.actor, "anna");
/// drop(held);
/// assert!(matches!(store.try_lock("shop", &anna)?, LockAttempt::Held(_)));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MemoryStore {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    instances: BTreeMap<String, Directory>,
    /// The seed of random bytes, and how many blocks of them were given.
    seed: u64,
    given: u64,
    /// How many locks were taken. The number tells locks apart.
    locks: u64,
}

#[derive(Debug, Default)]
struct Directory {
    /// The files. A reader keeps the contents that it has opened.
    files: BTreeMap<String, Arc<Vec<u8>>>,
    /// The number of the lock and its holder, if it is held.
    holder: Option<(u64, LockHolder)>,
}

/// A lock in memory.
#[derive(Debug)]
struct MemoryLock {
    shared: Arc<Mutex<Shared>>,
    instance: String,
    number: u64,
}

impl StoreLock for MemoryLock {}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        // The instance may have been removed and made anew meanwhile.
        if let Some(directory) = shared(&self.shared).instances.get_mut(&self.instance) {
            directory.holder.take_if(|(number, _)| *number == self.number);
        }
    }
}

/// The shared files. A panic leaves nothing half-done here, so a poisoned lock is fine.
fn shared(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemoryStore {
    /// An empty store. Its random bytes follow from the seed.
    pub fn new(seed: u64) -> Self {
        Self { shared: Arc::new(Mutex::new(Shared { seed, ..Shared::default() })) }
    }

    fn with<T>(
        &self,
        instance: &str,
        then: impl FnOnce(&mut Directory) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut shared = shared(&self.shared);
        then(shared.instances.get_mut(instance).ok_or_else(|| missing("directory"))?)
    }
}

fn missing(what: &str) -> io::Error {
    io::Error::new(ErrorKind::NotFound, format!("no such {what}"))
}

impl Directory {
    fn file(&mut self, name: &str) -> io::Result<&mut Vec<u8>> {
        self.files.get_mut(name).map(Arc::make_mut).ok_or_else(|| missing("file"))
    }
}

impl Store for MemoryStore {
    fn instances(&self) -> io::Result<Vec<String>> {
        Ok(shared(&self.shared).instances.keys().cloned().collect())
    }

    fn files(&self, instance: &str) -> io::Result<Vec<StoredFile>> {
        self.with(instance, |directory| {
            let file = |(name, bytes): (&String, &Arc<Vec<u8>>)| StoredFile {
                name: name.clone(),
                length: bytes.len() as u64,
            };
            Ok(directory.files.iter().map(file).collect())
        })
    }

    fn read(&self, instance: &str, file: &str, from: u64) -> io::Result<StoreReader<'_>> {
        let bytes = self.with(instance, |directory| {
            directory.files.get(file).cloned().ok_or_else(|| missing("file"))
        })?;
        let mut cursor = Cursor::new(SharedBytes(bytes));
        cursor.set_position(from);
        Ok(Box::new(cursor))
    }

    fn create(&self, instance: &str) -> io::Result<()> {
        shared(&self.shared).instances.entry(instance.to_owned()).or_default();
        Ok(())
    }

    fn append(&self, instance: &str, file: &str, bytes: &[u8]) -> io::Result<()> {
        self.with(instance, |directory| {
            let there = directory.files.entry(file.to_owned()).or_default();
            Arc::make_mut(there).extend_from_slice(bytes);
            Ok(())
        })
    }

    fn replace(&self, instance: &str, file: &str, bytes: &[u8]) -> io::Result<()> {
        self.with(instance, |directory| {
            directory.files.insert(file.to_owned(), Arc::new(bytes.to_vec()));
            Ok(())
        })
    }

    fn truncate(&self, instance: &str, file: &str, length: u64) -> io::Result<()> {
        self.with(instance, |directory| {
            let bytes = directory.file(file)?;
            bytes.truncate(usize::try_from(length).unwrap_or(usize::MAX));
            Ok(())
        })
    }

    fn remove(&self, instance: &str, file: &str) -> io::Result<()> {
        self.with(instance, |directory| {
            directory.files.remove(file).map(drop).ok_or_else(|| missing("file"))
        })
    }

    fn sync(&self, instance: &str, file: &str) -> io::Result<()> {
        self.with(instance, |directory| directory.file(file).map(drop))
    }

    fn remove_instance(&self, instance: &str) -> io::Result<()> {
        let removed = shared(&self.shared).instances.remove(instance);
        removed.map(drop).ok_or_else(|| missing("directory"))
    }

    fn try_lock(&self, instance: &str, holder: &LockHolder) -> io::Result<LockAttempt<'_>> {
        let mut inner = shared(&self.shared);
        let Shared { instances, locks, .. } = &mut *inner;
        let directory = instances.get_mut(instance).ok_or_else(|| missing("directory"))?;
        if let Some((_, holder)) = &directory.holder {
            return Ok(LockAttempt::Busy(Some(holder.clone())));
        }
        *locks += 1;
        let number = *locks;
        directory.holder = Some((number, holder.clone()));
        let (shared, instance) = (Arc::clone(&self.shared), instance.to_owned());
        Ok(LockAttempt::Held(Box::new(MemoryLock { shared, instance, number })))
    }

    fn locking(&self, _instance: &str) -> io::Result<Locking> {
        Ok(Locking::Exclusive)
    }

    fn random(&self) -> io::Result<[u8; 32]> {
        let mut shared = shared(&self.shared);
        shared.given += 1;
        let text = format!("{} of {}", shared.given, shared.seed);
        Ok(Sha256::digest(text.as_bytes()).into())
    }

    fn place(&self, instance: &str, file: &str) -> String {
        [instance, file]
            .iter()
            .filter(|part| !part.is_empty())
            .copied()
            .collect::<Vec<_>>()
            .join("/")
    }
}

struct SharedBytes(Arc<Vec<u8>>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
