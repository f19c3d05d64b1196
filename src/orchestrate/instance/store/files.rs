//! Keeps instances as files of the operating system.

use super::{LockAttempt, LockHolder, Locking, Store, StoreLock, StoreReader, StoredFile};
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A store of files below a directory, in `instances/NAME/` for each instance. Only their owner may
/// read them.
///
/// While a file is replaced, the new one has a name that begins with a dot; such files do not
/// count. The lock is one of the operating system on the file `lock`. It ends with the process that
/// holds it. On file systems of other machines it may not work.
#[derive(Clone, Debug)]
pub struct OsStore {
    root: PathBuf,
}

/// The name of the file that is locked.
const LOCK: &str = "lock";

impl OsStore {
    /// A store in this directory. The directory is made when the first file is written.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The directory of an instance, where programs that run it may keep files of their own below
    /// `runs/`. The name has to be permitted for instances.
    pub fn directory_of(&self, instance: &str) -> PathBuf {
        self.all().join(instance)
    }

    fn all(&self) -> PathBuf {
        self.root.join("instances")
    }

    fn directory(&self, instance: &str) -> io::Result<PathBuf> {
        Ok(self.all().join(plain(instance)?))
    }

    fn path(&self, instance: &str, file: &str) -> io::Result<PathBuf> {
        let directory = self.directory(instance)?;
        match file.split_once('/') {
            Some((folder, file)) => Ok(directory.join(plain(folder)?).join(plain(file)?)),
            None => Ok(directory.join(plain(file)?)),
        }
    }

    /// The path of a file; makes its folder if the instance exists.
    fn made(&self, instance: &str, file: &str) -> io::Result<PathBuf> {
        let path = self.path(instance, file)?;
        if file.contains('/') && self.directory(instance)?.is_dir() {
            make_directory(parent(&path))?;
        }
        Ok(path)
    }
}

/// Refuses names that lead elsewhere, and those of files that are being written.
fn plain(name: &str) -> io::Result<&str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if !name.is_empty() && !name.starts_with('.') && name.bytes().all(is_plain) {
        return Ok(name);
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "a store has no file of such a name"))
}

/// A lock of the operating system.
#[derive(Debug)]
struct FileLock(File);

impl StoreLock for FileLock {}

impl Drop for FileLock {
    fn drop(&mut self) {
        // The file of a free lock is empty. If cutting it fails, it still names the last holder,
        // but the lock is free.
        let _ = self.0.set_len(0);
        let _ = self.0.unlock();
    }
}

impl Store for OsStore {
    fn instances(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        each_entry(&self.all(), |name, entry| {
            if entry.path().is_dir() {
                names.push(name.to_owned());
            }
            Ok(())
        })
        .or_else(|why| if why.kind() == ErrorKind::NotFound { Ok(()) } else { Err(why) })?;
        names.sort_unstable();
        Ok(names)
    }

    fn files(&self, instance: &str) -> io::Result<Vec<StoredFile>> {
        let mut files = Vec::new();
        let directory = self.directory(instance)?;
        let mut folders = Vec::new();
        each_entry(&directory, |name, entry| {
            match found(entry)? {
                Some(meta) if meta.is_dir() => folders.push(name.to_owned()),
                Some(meta) if meta.is_file() => {
                    files.push(StoredFile { name: name.to_owned(), length: meta.len() });
                }
                // Reading anything else, such as a pipe, may never end. A file that was removed
                // meanwhile is skipped.
                _ => {}
            }
            Ok(())
        })?;
        for folder in folders {
            each_entry(&directory.join(&folder), |name, entry| {
                if let Some(meta) = found(entry)?.filter(fs::Metadata::is_file) {
                    let name = format!("{folder}/{name}");
                    files.push(StoredFile { name, length: meta.len() });
                }
                Ok(())
            })?;
        }
        files.retain(|file| file.name != LOCK);
        files.sort_unstable();
        Ok(files)
    }

    fn read(&self, instance: &str, file: &str, from: u64) -> io::Result<StoreReader<'_>> {
        let mut file = File::open(self.path(instance, file)?)?;
        if from > 0 {
            file.seek(SeekFrom::Start(from))?;
        }
        Ok(Box::new(file))
    }

    fn create(&self, instance: &str) -> io::Result<()> {
        make_directory(&self.directory(instance)?)
    }

    fn append(&self, instance: &str, file: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.made(instance, file)?;
        let mut file = private().append(true).create(true).open(&path)?;
        // The name becomes durable before the content, so a file with content is never lost.
        if file.metadata()?.len() == 0 {
            sync_directory(parent(&path))?;
        }
        file.write_all(bytes)?;
        file.sync_data()
    }

    fn replace(&self, instance: &str, file: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.made(instance, file)?;
        let directory = parent(&path);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Only the holder of the lock replaces files, so nobody else writes this one.
        let beside = directory.join(format!(".{name}.new"));
        let write = || {
            let mut file = private().write(true).create(true).truncate(true).open(&beside)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&beside, &path)
        };
        write().inspect_err(|_| {
            // A file that remains is overwritten by the next attempt.
            let _ = fs::remove_file(&beside);
        })?;
        sync_directory(directory)
    }

    fn truncate(&self, instance: &str, file: &str, length: u64) -> io::Result<()> {
        let file = private().write(true).open(self.path(instance, file)?)?;
        if file.metadata()?.len() > length {
            file.set_len(length)?;
        }
        file.sync_all()
    }

    fn remove(&self, instance: &str, file: &str) -> io::Result<()> {
        let path = self.path(instance, file)?;
        fs::remove_file(&path)?;
        sync_directory(parent(&path))
    }

    fn sync(&self, instance: &str, file: &str) -> io::Result<()> {
        let path = self.path(instance, file)?;
        private().append(true).open(&path)?.sync_data()?;
        sync_directory(parent(&path))
    }

    fn remove_instance(&self, instance: &str) -> io::Result<()> {
        let directory = self.directory(instance)?;
        let aside = self.all().join(format!(".{instance}.deleted"));
        // An earlier removal may have been interrupted.
        match fs::remove_dir_all(&aside) {
            Err(why) if why.kind() != ErrorKind::NotFound => return Err(why),
            _ => fs::rename(&directory, &aside)?,
        }
        sync_directory(&self.all())?;
        fs::remove_dir_all(&aside)
    }

    fn try_lock(&self, instance: &str, holder: &LockHolder) -> io::Result<LockAttempt<'_>> {
        let path = self.path(instance, LOCK)?;
        let mut file = private().read(true).write(true).create(true).truncate(false).open(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(LockAttempt::Busy(holder_in(&path))),
            Err(TryLockError::Error(why)) => return Err(why),
        }
        // If the instance was removed meanwhile, this is the lock of a file that no longer exists.
        if !is_at(&file, &path) {
            return Ok(LockAttempt::Busy(None));
        }
        file.set_len(0)?;
        file.write_all(&serde_json::to_vec(holder)?)?;
        Ok(LockAttempt::Held(Box::new(FileLock(file))))
    }

    fn locking(&self, instance: &str) -> io::Result<Locking> {
        let path = self.path(instance, LOCK)?;
        let open = || private().read(true).write(true).open(&path);
        let (first, second) = match (open(), open()) {
            (Ok(first), Ok(second)) => (first, second),
            (Err(why), _) | (_, Err(why)) => {
                return Ok(Locking::Unknown(format!("`{}`: {why}", path.display())));
            }
        };
        // For this lock, two handles in one process behave like two processes.
        match (first.try_lock(), second.try_lock()) {
            (Err(TryLockError::WouldBlock), _) | (_, Err(TryLockError::WouldBlock)) => {
                Ok(elsewhere(&path))
            }
            (Err(TryLockError::Error(why)), _) | (_, Err(TryLockError::Error(why))) => {
                Ok(Locking::Doubtful(format!("the file system refuses locks: {why}")))
            }
            (Ok(()), Ok(())) => {
                Ok(Locking::Doubtful("two can have one lock on its file system".to_owned()))
            }
        }
    }

    fn random(&self) -> io::Result<[u8; 32]> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|why| io::Error::other(why.to_string()))?;
        Ok(bytes)
    }

    fn place(&self, instance: &str, file: &str) -> String {
        [instance, file]
            .iter()
            .filter(|part| !part.is_empty())
            .fold(self.all(), |path, part| path.join(part))
            .display()
            .to_string()
    }
}

/// Calls `then` with each entry of a directory, by name, except files that are being written.
fn each_entry(
    directory: &Path,
    mut then: impl FnMut(&str, &fs::DirEntry) -> io::Result<()>,
) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if let Some(name) = entry.file_name().to_str().filter(|name| plain(name).is_ok()) {
            then(name, &entry)?;
        }
    }
    Ok(())
}

/// The metadata of an entry; `None` if it was removed meanwhile.
fn found(entry: &fs::DirEntry) -> io::Result<Option<fs::Metadata>> {
    match fs::metadata(entry.path()) {
        Ok(meta) => Ok(Some(meta)),
        Err(why) if why.kind() == ErrorKind::NotFound => Ok(None),
        Err(why) => Err(why),
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Options to open files that only the owner may use.
fn private() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "modes are of Unix"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a directory and its parents durably, for the owner only.
fn make_directory(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    make_directory(parent(path))?;
    #[cfg_attr(not(unix), expect(unused_mut, reason = "modes are of Unix"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        // Another process was faster.
        Err(_) if path.is_dir() => {}
        made => made?,
    }
    sync_directory(parent(path))
}

/// Makes the list of files in a directory durable.
#[cfg(unix)]
fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Does nothing, because a system whose directories cannot be opened keeps the order of changes
/// itself.
#[cfg(not(unix))]
fn sync_directory(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// The holder that the lock file names. Some systems do not let others read a locked file.
fn holder_in(path: &Path) -> Option<LockHolder> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Whether an open file is still the one at this path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let there = fs::metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
    there.is_some() && there == file.metadata().map(|meta| (meta.dev(), meta.ino())).ok()
}

/// On these systems an open file cannot be renamed or removed.
#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.is_file()
}

/// Whether the file system is shared with other machines, which may not see the lock.
#[cfg(target_os = "linux")]
fn elsewhere(path: &Path) -> Locking {
    let kind = path.canonicalize().ok().and_then(|path| {
        mounted(&fs::read_to_string("/proc/self/mountinfo").ok()?, &path).map(str::to_owned)
    });
    match kind {
        None => Locking::Unknown("the kind of its file system is not known".to_owned()),
        Some(kind) if is_remote(&kind) => Locking::Doubtful(format!(
            "its file system is `{kind}`, where other machines may not see a lock"
        )),
        Some(_) => Locking::Exclusive,
    }
}

#[cfg(not(target_os = "linux"))]
fn elsewhere(_path: &Path) -> Locking {
    Locking::Unknown(
        "locks hold on this machine; whether others can write there is not known".to_owned(),
    )
}

/// Whether a file system of this kind is shared between machines.
#[cfg(target_os = "linux")]
fn is_remote(kind: &str) -> bool {
    const REMOTE: [&str; 17] = [
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "fuse.ceph",
        "fuse.glusterfs",
        "fuse.s3fs",
        "fuse.sshfs",
        "gfs2",
        "gpfs",
        "lustre",
        "nfs",
        "nfs4",
        "ocfs2",
        "smb3",
    ];
    REMOTE.contains(&kind)
}

/// The kind of the file system that contains a path, by the kernel's list of mounts. The deepest
/// mount counts, and of several there the last.
#[cfg(target_os = "linux")]
fn mounted<'m>(mounts: &'m str, path: &Path) -> Option<&'m str> {
    let mount = |line: &'m str| {
        let (mount, kind) = line.split_once(" - ")?;
        let point = mount.split(' ').nth(4)?;
        // The kernel escapes blanks.
        let point = point.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
        let kind = kind.split(' ').next()?;
        path.starts_with(&point).then_some((point.len(), kind))
    };
    mounts.lines().filter_map(mount).max_by_key(|&(length, _)| length).map(|(_, kind)| kind)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn knows_the_file_system() {
        let mounts = "\
22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
30 22 0:25 / /home rw shared:1 - nfs4 server:/home rw,vers=4.2
31 30 8:2 / /home/an\\040a rw - xfs /dev/sdb rw
32 31 0:9 / /home/an\\040a rw - fuse.sshfs there rw
";
        let kind = |path: &str| mounted(mounts, Path::new(path));
        assert_eq!(kind("/var/lib"), Some("ext4"));
        assert_eq!(kind("/homeless"), Some("ext4"));
        assert_eq!(kind("/home/bob/.cuvee"), Some("nfs4"));
        assert_eq!(kind("/home/an a/x"), Some("fuse.sshfs"));
        assert!(is_remote("nfs4") && !is_remote("ext4"));
    }

    #[test]
    fn names_lead_nowhere_else() {
        for name in ["", ".", "..", ".lock.new", "a/b", "a\\b", "a b", "ä", "/etc"] {
            assert!(plain(name).is_err(), "{name}");
        }
        let store = OsStore::new("store");
        assert!(store.path("shop", "blobs/../key").is_err());
        assert!(store.path("shop", "blobs/a/b").is_err());
        assert!(store.path("shop", "blobs/a").is_ok());
    }
}
