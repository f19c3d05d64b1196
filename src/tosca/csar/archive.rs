//! Reads a zip file or a tarball as a file system.

use super::tarball;
use super::tree::{Entries, EntryTree};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use cuvee_text::source::FileSystem;
use memchr::memmem;
use std::io::{self, Cursor, Read};
use std::ops::{Bound, Range};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use zip::read::{ZipArchiveMetadata, ZipFileEntry};
use zip::{CompressionMethod, ZipArchive, ZipReadOptions};

/// How many refused entries a message lists one by one.
pub(super) const LISTED: usize = 20;

/// The size in bytes up to which the compression ratio of an entry is not checked.
const SMALL: u64 = 1 << 20;

/// The bits of a Unix mode that give the kind of a file. `PLAIN_KINDS` are the accepted kinds.
const KIND: u32 = 0o170_000;
const PLAIN_KINDS: [u32; 3] = [0, 0o100_000, 0o040_000];

/// The limits on the size of an archive. An archive that exceeds them is refused before anything is
/// unpacked.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The size of the archive itself in bytes.
    pub archive: u64,
    /// The number of entries.
    pub entries: usize,
    /// The unpacked size of one entry in bytes.
    pub entry: u64,
    /// The unpacked size of all entries together in bytes.
    pub total: u64,
    /// How many times larger than its compressed form an entry of more than a mebibyte may be.
    pub ratio: u64,
}

impl Default for Limits {
    /// 512 MiB for the archive, 65,535 entries, 256 MiB for each entry, 2 GiB for all entries
    /// together, and a ratio of 200.
    fn default() -> Self {
        Self { archive: 512 << 20, entries: 65_535, entry: 256 << 20, total: 2 << 30, ratio: 200 }
    }
}

impl Limits {
    /// Whether the compression ratio of an entry is too high to be genuine.
    pub(super) fn is_bomb(&self, size: u64, compressed: u64) -> bool {
        size > SMALL && size / self.ratio.max(1) > compressed
    }

    /// Checks the size of one entry.
    pub(super) fn check_entry(&self, size: u64) -> Result<(), String> {
        match size > self.entry {
            true => Err(format!("is larger than {} MiB", self.entry >> 20)),
            false => Ok(()),
        }
    }

    /// Checks the size of all entries together.
    pub(super) fn check_total(&self, size: u64) -> Result<(), String> {
        match size > self.total {
            true => Err(format!("its entries are larger than {} MiB together", self.total >> 20)),
            false => Ok(()),
        }
    }
}

/// The files in a zip file or a tarball that is held in memory. Each file of a zip file is unpacked
/// when it is read. A tarball that is compressed by gzip is unpacked as a whole, up to its limits.
///
/// What an archive is, its first bytes say; what neither begins like a zip file nor a tarball, its
/// name.
///
/// The path of a file is the path of the archive, a colon, and the path inside the archive, so that
/// messages tell where the file is: `shop.csar:/lib/types.yaml`. A path that leads out of the
/// archive leads to no file.
///
/// Refused are entries with an absolute path or one that leaves the archive, entries of the same
/// name, links, devices, encryption, compressions other than deflate, headers that contradict each
/// other, and everything that exceeds the [`Limits`]. The size that an entry declares is checked
/// when the entry is read.
///
/// ```
/// use cuvee::source::csar::{Archive, Limits};
/// let refused = Archive::new("shop.csar", b"no zip file".to_vec(), &Limits::default()).unwrap_err();
/// assert!(refused.0[0].message.starts_with("`shop.csar` is refused: it is no zip file"));
/// ```
pub struct Archive {
    root: PathBuf,
    bytes: Vec<u8>,
    directory: ArchiveDirectory,
    entries: Entries,
}

/// Where the content of each entry is, by the position of the entry.
enum ArchiveDirectory {
    Zip(Arc<ZipArchiveMetadata>),
    Tar(Vec<Range<usize>>),
}

impl Archive {
    /// Inspects all entries of an archive of this name.
    ///
    /// # Errors
    /// `csar` for everything that makes the archive unsafe or unreadable.
    pub fn new(
        name: impl AsRef<Path>,
        bytes: Vec<u8>,
        limits: &Limits,
    ) -> Result<Self, Diagnostics> {
        let name = name.as_ref();
        let because =
            |whys: Vec<String>| Diagnostics(whys.iter().map(|why| refused(name, why)).collect());
        let (bytes, directory, entries) = if tarball::is_one(&bytes, super::is_tarball(name)) {
            let tarball = tarball::inspect(bytes, limits).map_err(because)?;
            (tarball.bytes, ArchiveDirectory::Tar(tarball.contents), tarball.entries)
        } else {
            let (directory, entries) = inspect(&bytes, limits).map_err(|error| match error {
                Refused::Unreadable(why) => {
                    refused(name, &format!("it is no zip file that can be read: {why}")).into()
                }
                Refused::Because(whys) => because(whys),
            })?;
            (bytes, ArchiveDirectory::Zip(directory), entries)
        };
        let mut root = name.as_os_str().to_owned();
        root.push(":");
        Ok(Self { root: root.into(), bytes, directory, entries })
    }

    /// Reads an archive from a file system.
    ///
    /// # Errors
    /// As [`Archive::new`], and `file` where the archive cannot be read.
    pub fn open(files: &dyn FileSystem, path: &Path, limits: &Limits) -> Result<Self, Diagnostics> {
        if files.size(path).is_ok_and(|size| size > limits.archive) {
            return Err(
                refused(path, &format!("it is larger than {} MiB", limits.archive >> 20)).into()
            );
        }
        let unreadable = |error| {
            Diagnostic::error(Code::File, format!("cannot read `{}`: {error}", path.display()))
        };
        Self::new(path, files.read(path).map_err(unreadable)?, limits)
    }

    /// The path that all paths in the archive begin with: `shop.csar:`.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The name inside the archive that a path leads to.
    fn name(&self, path: &Path) -> Option<String> {
        let mut parts = Vec::new();
        for part in path.strip_prefix(&self.root).ok()?.components() {
            match part {
                Component::Normal(part) => parts.push(part.to_str()?),
                Component::CurDir => {}
                Component::ParentDir => _ = parts.pop()?,
                Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        Some(parts.join("/"))
    }

    /// The position of the entry that a path leads to.
    fn entry(&self, path: &Path) -> io::Result<usize> {
        let missing = |why| io::Error::new(io::ErrorKind::NotFound, why);
        let name = self.name(path).ok_or_else(|| missing("it is not in the archive"))?;
        match self.entries.get(&name) {
            Some(&Some(entry)) => Ok(entry),
            Some(None) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(missing("the archive has no such file")),
        }
    }
}

fn refused(archive: &Path, why: &str) -> Diagnostic {
    Diagnostic::error(Code::Csar, format!("`{}` is refused: {why}", archive.display()))
}

impl FileSystem for Archive {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let position = self.entry(path)?;
        let directory = match &self.directory {
            ArchiveDirectory::Zip(directory) => directory,
            ArchiveDirectory::Tar(contents) => {
                let content = contents.get(position).and_then(|at| self.bytes.get(at.clone()));
                return content.map(<[u8]>::to_vec).ok_or(io::ErrorKind::NotFound.into());
            }
        };
        let entry = directory.entry(position).map_err(io::Error::other)?;
        let size = entry.size();
        let mut archive = Cursor::new(&self.bytes[..]);
        let file =
            entry.with_reader(&mut archive, ZipReadOptions::new()).map_err(io::Error::other)?;
        let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        file.take(size.saturating_add(1)).read_to_end(&mut content)?;
        if content.len() as u64 != size {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "its size is not what the archive claims",
            ));
        }
        Ok(content)
    }

    fn size(&self, path: &Path) -> io::Result<u64> {
        let position = self.entry(path)?;
        match &self.directory {
            ArchiveDirectory::Zip(directory) => {
                directory.entry(position).map(|entry| entry.size()).map_err(io::Error::other)
            }
            ArchiveDirectory::Tar(contents) => {
                Ok(contents.get(position).map_or(0, |at| at.len() as u64))
            }
        }
    }

    fn is_file(&self, path: &Path) -> bool {
        self.entry(path).is_ok()
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.name(path)
            .is_some_and(|name| name.is_empty() || matches!(self.entries.get(&name), Some(None)))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let Some(name) = self.name(path).filter(|_| self.is_dir(path)) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let prefix = if name.is_empty() { name } else { name + "/" };
        let behind =
            self.entries.range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded));
        let below = behind.map_while(|(name, _)| name.strip_prefix(&prefix));
        let mut found: Vec<_> =
            below.filter(|name| !name.contains('/')).map(|name| path.join(name)).collect();
        found.sort();
        Ok(found)
    }
}

impl std::fmt::Debug for Archive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Archive")
            .field("root", &self.root)
            .field("entries", &self.entries.len())
            .finish_non_exhaustive()
    }
}

/// Why an archive is refused.
enum Refused {
    Unreadable(zip::result::ZipError),
    Because(Vec<String>),
}

impl From<zip::result::ZipError> for Refused {
    fn from(error: zip::result::ZipError) -> Self {
        Self::Unreadable(error)
    }
}

fn inspect(bytes: &[u8], limits: &Limits) -> Result<(Arc<ZipArchiveMetadata>, Entries), Refused> {
    // Without zip64 an archive has at most 65,535 entries, and none can claim to be larger than 4
    // GiB.
    if has_zip64_end(bytes) {
        return Err(Refused::Because(vec![
            "it is in the zip64 form, which only larger archives need".into(),
        ]));
    }
    let mut archive = ZipArchive::new(Cursor::new(bytes))?;
    let directory = archive.metadata();
    if directory.len() > limits.entries {
        return Err(Refused::Because(vec![format!(
            "it has {} entries, {} are allowed",
            directory.len(),
            limits.entries
        )]));
    }
    let mut tree = EntryTree::default();
    let mut wrong = Vec::new();
    for index in 0..directory.len() {
        wrong.extend(add(&mut tree, index, &directory.entry(index)?, limits).err());
        if wrong.len() == LISTED {
            break;
        }
    }
    wrong.extend(limits.check_total(tree.unpacked).err());
    if directory.has_duplicate_names() {
        wrong.push("two of its entries have the same name".into());
    }
    if !wrong.is_empty() {
        return Err(Refused::Because(wrong));
    }
    archive.validate_header_consistency()?;
    Ok((directory, tree.entries))
}

/// Whether the locator of a zip64 directory precedes an end record.
fn has_zip64_end(bytes: &[u8]) -> bool {
    const END: usize = 22;
    const COMMENT: usize = u16::MAX as usize;
    const LOCATOR: usize = 20;
    let tail = bytes.get(bytes.len().saturating_sub(LOCATOR + END + COMMENT)..).unwrap_or_default();
    let end_behind =
        |at: usize| tail.get(at + LOCATOR..).is_some_and(|end| end.starts_with(b"PK\x05\x06"));
    memmem::find_iter(tail, b"PK\x06\x07").any(end_behind)
}

/// Adds an entry to those that were accepted so far.
fn add(
    tree: &mut EntryTree,
    index: usize,
    entry: &ZipFileEntry<'_>,
    limits: &Limits,
) -> Result<(), String> {
    let written = String::from_utf8_lossy(entry.name_raw()).into_owned();
    let because = |why: &str| format!("its entry `{}` {why}", written.escape_debug());
    let name = entry
        .name()
        .map_err(|error| because(&format!("has a name that cannot be read: {error}")))?;
    let directory = name.ends_with('/');
    let name = EntryTree::checked(name.strip_suffix('/').unwrap_or(&name)).map_err(&because)?;
    admissible(entry, limits).map_err(|why| because(&why))?;
    let file = (!directory).then_some((index, entry.size()));
    tree.add(name, file).map_err(because)
}

/// Checks from the headers of an entry whether it may be unpacked.
fn admissible(entry: &ZipFileEntry<'_>, limits: &Limits) -> Result<(), String> {
    let (size, compressed) = (entry.size(), entry.compressed_size());
    if entry.encrypted() {
        return Err("is encrypted".into());
    }
    if entry.unix_mode().is_some_and(|mode| !PLAIN_KINDS.contains(&(mode & KIND))) {
        return Err("is a link or a device".into());
    }
    if !matches!(entry.compression(), CompressionMethod::Stored | CompressionMethod::Deflated) {
        return Err(format!("is compressed by {}; only deflate is supported", entry.compression()));
    }
    limits.check_entry(size)?;
    if limits.is_bomb(size, compressed) {
        return Err(format!(
            "would become {} times larger, {} are allowed",
            size / compressed.max(1),
            limits.ratio
        ));
    }
    Ok(())
}
