//! Where results go: standard output, or a file that is replaced as a whole.

use super::read::ReadFiles;
use super::watch;
use anstream::adapter::strip_str;
use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use cuvee::diagnostic::{Code, Diagnostic};
use std::borrow::Cow;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

/// As many symbolic links in a row as Linux follows.
const LINKS: usize = 40;
/// What is made bit by bit is written when there are so many bytes of it.
const CHUNK: usize = 1 << 16;
/// What a shell says of a process that Ctrl-C ended; other signals that ask it to end are told by
/// the same.
const INTERRUPTED: i32 = 130;

/// The file that is being written. Whoever creates, renames or removes it holds the lock, so that
/// an interrupt finds it settled.
static PENDING: Mutex<Option<PathBuf>> = Mutex::new(None);

fn pending() -> MutexGuard<'static, Option<PathBuf>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on Ctrl-C, and whatever else asks the process to end, removes what is half-written and
/// exits.
pub(super) fn clean_up_on_interrupt() {
    // Without a handler an interrupt ends the process all the same.
    let _ = ctrlc::set_handler(|| {
        leave_nothing_behind();
        std::process::exit(INTERRUPTED);
    });
}

/// Removes what is half-written, and lets nothing be written any more: the process is about to end.
pub(super) fn leave_nothing_behind() {
    let mut pending = pending();
    discard(&mut pending);
    // The lock is kept: nothing may be created between here and the end.
    std::mem::forget(pending);
}

fn discard(pending: &mut Option<PathBuf>) {
    if let Some(path) = pending.take() {
        // There is nobody left to tell.
        let _ = fs::remove_file(path);
    }
}

/// What a terminal would obey, as the escapes that YAML and JSON have for it; as it is for whoever
/// else reads.
///
/// Results hold what others wrote, and a terminal does what some control characters say.
pub(super) fn harmless<'t>(text: &'t str, to: &impl IsTerminal) -> Cow<'t, str> {
    if to.is_terminal() { escaped(text) } else { text.into() }
}

fn escaped(text: &str) -> Cow<'_, str> {
    let is_obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_obeyed) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if is_obeyed(c) => escaped.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => escaped.push(c),
        }
    }
    escaped.into()
}

/// Writes to standard output; that its reader wants no more is no mistake.
///
/// # Errors
/// A `file` diagnostic for anything else that goes wrong.
pub(super) fn to_stdout(text: impl AsRef<[u8]>) -> Result<(), Diagnostic> {
    match std::str::from_utf8(text.as_ref()) {
        Ok(text) => as_it_is(harmless(text, &io::stdout()).as_bytes()),
        Err(_) => as_it_is(text.as_ref()),
    }
}

/// Writes what may take more memory than there is to standard output, as it is made; a terminal
/// gets it at once.
///
/// # Errors
/// As [`to_stdout`].
pub(super) fn stream_to_stdout(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Diagnostic> {
    if io::stdout().is_terminal() {
        let mut text = Vec::new();
        return told(write(&mut text)).and_then(|()| to_stdout(text));
    }
    watch::hide();
    let mut stdout = BufWriter::with_capacity(CHUNK, io::stdout().lock());
    told(write(&mut stdout).and_then(|()| stdout.flush()))
}

fn as_it_is(text: &[u8]) -> Result<(), Diagnostic> {
    watch::hide();
    let mut stdout = io::stdout().lock();
    told(stdout.write_all(text).and_then(|()| stdout.flush()))
}

/// What writing to standard output came to.
fn told(written: io::Result<()>) -> Result<(), Diagnostic> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Diagnostic::error(Code::File, format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes text with styles to standard output, and leaves them out where they are not wished for.
/// What others wrote is [`harmless`] in it already.
///
/// # Errors
/// As [`to_stdout`].
pub(super) fn to_stdout_styled(text: &str, wish: clap::ColorChoice) -> Result<(), Diagnostic> {
    match color(wish, &io::stdout()) {
        ColorChoice::Never => to_stdout(strip_str(text).to_string()),
        _ => as_it_is(text.as_bytes()),
    }
}

/// Whether to colour what is written to a stream.
pub(super) fn color(wish: clap::ColorChoice, stream: &impl RawStream) -> ColorChoice {
    match wish {
        clap::ColorChoice::Always => ColorChoice::Always,
        clap::ColorChoice::Never => ColorChoice::Never,
        clap::ColorChoice::Auto => AutoStream::choice(stream),
    }
}

/// Writes where `--output` says: to standard output where it says nothing or `-`, else to a file.
///
/// # Errors
/// As [`to_stdout`] and [`to_unread_file`].
pub(super) fn deliver(
    target: Option<&Path>,
    content: impl AsRef<[u8]>,
    read: &ReadFiles,
) -> Result<(), Diagnostic> {
    match target {
        Some(file) if !is_stdout(file) => to_unread_file(file, content, read),
        _ => to_stdout(content),
    }
}

/// Whether `--output` says that standard output is meant.
pub(super) fn is_stdout(target: &Path) -> bool {
    target == Path::new("-")
}

/// The directory that a file is written to, for the names in it; nothing where there is none, as
/// for standard output, devices and pipes.
pub(super) fn directory_of(target: &Path) -> Option<&Path> {
    let is_file = fs::metadata(target).map_or(true, |there| there.is_file());
    let directory = Some(directory(target)).filter(|directory| directory.is_dir());
    directory.filter(|_| is_file && !is_stdout(target))
}

/// Creates a directory, where it is not there yet.
///
/// # Errors
/// A `file` diagnostic.
pub(super) fn create_directory(path: &Path) -> Result<(), Diagnostic> {
    fs::create_dir_all(path).map_err(|error| {
        let message = format!("cannot create the directory `{}`: {error}", path.display());
        Diagnostic::error(Code::File, message)
    })
}

/// Writes files below a directory; none where one of them would overwrite what was read.
///
/// # Errors
/// As [`to_unread_file`] and [`create_directory`].
pub(super) fn to_directory(
    path: &Path,
    files: &[(PathBuf, Vec<u8>)],
    read: &ReadFiles,
) -> Result<(), Diagnostic> {
    let target = |(name, _): &(PathBuf, Vec<u8>)| path.join(name);
    files.iter().try_for_each(|file| unread(&target(file), read))?;
    files.iter().try_for_each(|file| {
        create_directory(directory(&target(file)))?;
        to_file(&target(file), &file.1)
    })
}

/// As [`to_file`], unless the file is one that the content was made of.
///
/// # Errors
/// As [`to_file`].
pub(super) fn to_unread_file(
    target: &Path,
    content: impl AsRef<[u8]>,
    read: &ReadFiles,
) -> Result<(), Diagnostic> {
    unread(target, read)?;
    to_file(target, content)
}

fn unread(target: &Path, read: &ReadFiles) -> Result<(), Diagnostic> {
    if read.contain(target) {
        let message =
            format!("`{}` would be overwritten, from which the result is made", target.display());
        return Err(Diagnostic::error(Code::File, message).help("write to another file"));
    }
    Ok(())
}

/// Replaces a file as a whole: it is written beside its place and renamed.
///
/// An existing file keeps its permissions, a symbolic link keeps pointing to it, and a device or a
/// pipe is written into.
///
/// # Errors
/// A `file` diagnostic; the old file is untouched then.
pub(super) fn to_file(target: &Path, content: impl AsRef<[u8]>) -> Result<(), Diagnostic> {
    let bytes = content.as_ref();
    let written = followed(target).and_then(|place| match fs::metadata(&place) {
        Ok(meta) if !meta.is_file() => {
            OpenOptions::new().write(true).open(&place)?.write_all(bytes)
        }
        Ok(meta) => {
            // A file that may not be written may not be replaced either.
            OpenOptions::new().write(true).open(&place)?;
            replace(&place, Some(meta.permissions()), bytes)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => replace(&place, None, bytes),
        Err(error) => Err(error),
    });
    written.map_err(|error| {
        Diagnostic::error(Code::File, format!("cannot write `{}`: {error}", target.display()))
    })
}

/// Where the links lead, also when there is nothing yet.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = directory(&path).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Without the name of a file that nobody knows, and that is gone.
fn unnamed(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((why, _)) => io::Error::new(error.kind(), why),
        None => error,
    }
}

fn replace(place: &Path, permissions: Option<fs::Permissions>, bytes: &[u8]) -> io::Result<()> {
    let mut file = create(directory(place)).map_err(unnamed)?;
    let written = file.write_all(bytes).and_then(|()| match permissions {
        Some(permissions) => file.as_file().set_permissions(permissions),
        None => Ok(()),
    });
    let mut pending = pending();
    *pending = None;
    // Dropping the file removes it, where something went wrong.
    written.map_err(unnamed)?;
    file.persist(place).map(drop).map_err(|error| error.error)
}

fn create(directory: &Path) -> io::Result<NamedTempFile> {
    let mut pending = pending();
    let mut builder = tempfile::Builder::new();
    builder.prefix(".cuvee-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What any new file gets; the user's mask is applied to it.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(directory)?;
    *pending = Some(file.path().to_owned());
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// What is pending is pending for the whole process, so one test at a time writes.
    static ALONE: Mutex<()> = Mutex::new(());

    fn alone() -> MutexGuard<'static, ()> {
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[test]
    fn replaces_as_a_whole_or_not_at_all() {
        let _alone = alone();
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("out.yaml");
        to_file(&target, "one").unwrap();
        to_file(&target, "two").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "two");
        assert_eq!(names(dir.path()), ["out.yaml"]);

        let error = to_file(&dir.path().join("no/where.yaml"), "x").unwrap_err();
        assert_eq!(error.code, Code::File);
        assert!(error.message.contains("where.yaml`: "), "{}", error.message);
        assert!(to_file(dir.path(), "x").is_err());

        let half = create(dir.path()).unwrap();
        assert_eq!(names(dir.path()).len(), 2);
        discard(&mut pending());
        assert_eq!(names(dir.path()), ["out.yaml"]);
        drop(half);
        assert_eq!(*pending(), None);
    }

    #[cfg(unix)]
    #[test]
    fn keeps_permissions_and_links() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let _alone = alone();
        let dir = tempfile::tempdir().unwrap();
        let (target, link, loose) =
            (dir.path().join("out"), dir.path().join("link"), dir.path().join("loose"));
        fs::write(&target, "old").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("out", &link).unwrap();
        to_file(&link, "new").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());

        symlink("fresh", &loose).unwrap();
        to_file(&loose, "made").unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("fresh")).unwrap(), "made");
        symlink("round", dir.path().join("round")).unwrap();
        assert!(
            to_file(&dir.path().join("round"), "x")
                .unwrap_err()
                .message
                .ends_with("too many symbolic links")
        );
        to_file(Path::new("/dev/null"), "gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
