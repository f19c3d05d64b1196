//! Reads tarballs, plain or compressed by gzip (section 17.1.1.1 of TOSCA 2.0).

use super::Limits;
use super::archive::LISTED;
use super::tree::{Entries, EntryTree};
use flate2::read::MultiGzDecoder;
use std::io::{self, Read};
use std::ops::Range;
use tar::{Archive, Entry, EntryType};

/// How gzip files begin.
const GZIP: &[u8] = b"\x1f\x8b";

/// What stands in the header of each entry of the supported format, and where.
const USTAR: (usize, &[u8]) = (257, b"ustar");

/// A tarball, unpacked.
pub(super) struct Tarball {
    /// Its bytes, without the compression around them.
    pub bytes: Vec<u8>,
    /// The content of each file.
    pub contents: Vec<Range<usize>>,
    pub entries: Entries,
}

/// Whether these bytes are a tarball. `is_called` says whether the file is called like one.
pub(super) fn is_one(bytes: &[u8], is_called: bool) -> bool {
    let (at, magic) = USTAR;
    is_called || bytes.starts_with(GZIP) || bytes.get(at..).is_some_and(|it| it.starts_with(magic))
}

/// Inspects all entries of a tarball.
///
/// # Errors
/// Why it is refused.
pub(super) fn inspect(bytes: Vec<u8>, limits: &Limits) -> Result<Tarball, Vec<String>> {
    let unreadable = |error: io::Error| vec![format!("it is no tarball that can be read: {error}")];
    let bytes = match bytes.starts_with(GZIP) {
        true => unpacked(&bytes, limits)?,
        false => bytes,
    };
    let (mut tree, mut contents, mut wrong) = (EntryTree::default(), Vec::new(), Vec::new());
    let mut archive = Archive::new(&*bytes);
    let mut count = 0;
    for entry in archive.entries().map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        count += 1;
        if count > limits.entries {
            wrong.push(format!("it has more than {} entries", limits.entries));
            break;
        }
        wrong.extend(add(&mut tree, &mut contents, &entry, bytes.len(), limits).err());
        if wrong.len() == LISTED {
            break;
        }
    }
    // Zeros alone are an archive without entries, and so is nothing at all.
    if count == 0 {
        wrong.push("it is no tarball that can be read: it has no entries".into());
    }
    wrong.extend(limits.check_total(tree.unpacked).err());
    match wrong.is_empty() {
        true => Ok(Tarball { bytes, contents, entries: tree.entries }),
        false => Err(wrong),
    }
}

/// The content of a gzip file, as far as it is within the limits.
fn unpacked(bytes: &[u8], limits: &Limits) -> Result<Vec<u8>, Vec<String>> {
    let mut content = Vec::new();
    let mut reader = MultiGzDecoder::new(bytes).take(1 << 20);
    loop {
        let read = reader
            .read_to_end(&mut content)
            .map_err(|error| vec![format!("it is no gzip file that can be read: {error}")])?;
        let size = content.len() as u64;
        if limits.is_bomb(size, bytes.len() as u64) {
            let ratio = limits.ratio;
            return Err(vec![format!("it would become more than {ratio} times larger")]);
        }
        limits.check_total(size).map_err(|why| vec![why])?;
        if read == 0 {
            return Ok(content);
        }
        reader.set_limit(1 << 20);
    }
}

/// Adds an entry to those that were accepted so far.
fn add(
    tree: &mut EntryTree,
    contents: &mut Vec<Range<usize>>,
    entry: &Entry<'_, &[u8]>,
    all: usize,
    limits: &Limits,
) -> Result<(), String> {
    let name = entry.path_bytes();
    let written = String::from_utf8_lossy(&name).into_owned();
    let because = |why: &str| format!("its entry `{}` {why}", written.escape_debug());
    let is_directory = match entry.header().entry_type() {
        EntryType::Regular | EntryType::Continuous => false,
        EntryType::Directory => true,
        // Facts about the archive as a whole, such as a comment.
        EntryType::XGlobalHeader => return Ok(()),
        _ => return Err(because("is a link, a device or of another rare kind")),
    };
    let name = std::str::from_utf8(&name).map_err(|_| because("has a name that is no UTF-8"))?;
    let name = name.strip_suffix('/').filter(|_| is_directory).unwrap_or(name);
    // Many archives begin with the directory that was packed.
    if is_directory && name == "." {
        return Ok(());
    }
    let name = EntryTree::checked(name).map_err(&because)?;
    let size = entry.size();
    limits.check_entry(size).map_err(|why| because(&why))?;
    let start = usize::try_from(entry.raw_file_position()).ok();
    let end = start.zip(usize::try_from(size).ok());
    let end = end.and_then(|(start, size)| start.checked_add(size)).filter(|end| *end <= all);
    let (Some(start), Some(end)) = (start, end) else { return Err(because("ends too early")) };
    let file = (!is_directory).then_some((contents.len(), size));
    contents.push(start..end);
    tree.add(name, file).map_err(because)
}
