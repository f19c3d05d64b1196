//! Writes results: to standard output, or to a file that is replaced as a whole.

use super::read::ReadFiles;
use super::watch;
use anstream::adapter::strip_str;
use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use cuvee::diagnostic::{Code, Diagnostic};
use cuvee::operate;
use std::borrow::Cow;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

/// How many symbolic links are followed in a row, which is the limit of Linux.
const LINKS: usize = 40;
/// The number of bytes at which streamed output is flushed.
const CHUNK: usize = 1 << 16;
/// The exit code of a process that Ctrl-C ended, as shells report it. It is also used for other
/// signals that end the process.
pub(super) const INTERRUPTED: i32 = 130;

/// The temporary file that is being written. Creating, renaming and removing it requires the lock,
/// so that an interrupt never happens in between.
static PENDING: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The process group that ends with the process; 0 if there is none.
static RUNNING: AtomicU32 = AtomicU32::new(0);

/// Lets this process group end with the process; 0 lets none.
pub(super) fn end_group_too(group: u32) {
    RUNNING.store(group, Ordering::SeqCst);
}

fn pending() -> MutexGuard<'static, Option<PathBuf>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Installs a handler for Ctrl-C and other requests to end the process. The handler removes the
/// unfinished file and exits.
pub(super) fn clean_up_on_interrupt() {
    // Without the handler, an interrupt also ends the process, but the unfinished file remains.
    let _ = ctrlc::set_handler(|| {
        leave_nothing_behind();
        std::process::exit(INTERRUPTED);
    });
}

/// Makes writing fail where a file would exceed the limit that is set for the process. Otherwise the
/// process would end without a message.
pub(crate) fn refuse_large_files() {
    #[cfg(unix)]
    {
        const SIGXFSZ: i32 = signal_hook::consts::SIGXFSZ;
        // Without the handler, the process ends, but nothing that was written is damaged.
        let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    }
}

/// Ends what runs, removes the unfinished file and prevents further writing, because the process is
/// about to end.
pub(super) fn leave_nothing_behind() {
    let group = RUNNING.swap(0, Ordering::SeqCst);
    if group != 0 {
        operate::end_group(group);
    }
    let mut pending = pending();
    discard(&mut pending);
    // The lock is never released, so that no file is created before the end.
    std::mem::forget(pending);
}

fn discard(pending: &mut Option<PathBuf>) {
    if let Some(path) = pending.take() {
        // The process is ending, so a failure is not reported.
        let _ = fs::remove_file(path);
    }
}

/// Replaces control characters by the escapes of YAML and JSON, if the output is a terminal. Other
/// outputs get the text unchanged.
///
/// Results contain text of other authors, and a terminal would act on some control characters.
pub(super) fn harmless<'t>(text: &'t str, to: &impl IsTerminal) -> Cow<'t, str> {
    if to.is_terminal() { escaped(text) } else { text.into() }
}

/// Replaces control characters by their escapes.
pub(super) fn escaped(text: &str) -> Cow<'_, str> {
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

/// Writes to standard output. A closed pipe is not an error.
///
/// # Errors
/// `file` for every other failure of writing.
pub(super) fn to_stdout(text: impl AsRef<[u8]>) -> Result<(), Diagnostic> {
    match std::str::from_utf8(text.as_ref()) {
        Ok(text) => as_it_is(harmless(text, &io::stdout()).as_bytes()),
        Err(_) => as_it_is(text.as_ref()),
    }
}

/// Writes to standard output while the content is produced, because the whole may not fit into
/// memory. On a terminal the content is collected, escaped and written at the end.
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

/// The result of writing to standard output. A closed pipe is not an error.
pub(super) fn told(written: io::Result<()>) -> Result<(), Diagnostic> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Diagnostic::error(Code::File, format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes styled text to standard output. The styles are removed where they are not wanted. Text of
/// other authors in it has to be [`harmless`] already.
///
/// # Errors
/// As [`to_stdout`].
pub(super) fn to_stdout_styled(text: &str, wish: clap::ColorChoice) -> Result<(), Diagnostic> {
    match color(wish, &io::stdout()) {
        ColorChoice::Never => to_stdout(strip_str(text).to_string()),
        _ => as_it_is(text.as_bytes()),
    }
}

/// Whether to colour the output on a stream.
pub(super) fn color(wish: clap::ColorChoice, stream: &impl RawStream) -> ColorChoice {
    match wish {
        clap::ColorChoice::Always => ColorChoice::Always,
        clap::ColorChoice::Never => ColorChoice::Never,
        clap::ColorChoice::Auto => AutoStream::choice(stream),
    }
}

/// Writes to the target of `--output`: a file, or standard output where there is no target or it is
/// `-`.
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

/// Whether the target of `--output` is standard output.
pub(super) fn is_stdout(target: &Path) -> bool {
    target == Path::new("-")
}

/// The directory that a file is written to, to which the names in it are relative. Returns nothing
/// for standard output, devices and pipes.
pub(super) fn directory_of(target: &Path) -> Option<&Path> {
    let is_file = fs::metadata(target).map_or(true, |there| there.is_file());
    let directory = Some(directory(target)).filter(|directory| directory.is_dir());
    directory.filter(|_| is_file && !is_stdout(target))
}

/// Creates a directory, unless it exists.
///
/// # Errors
/// `file` where the directory cannot be created.
pub(super) fn create_directory(path: &Path) -> Result<(), Diagnostic> {
    fs::create_dir_all(path).map_err(|error| {
        let message = format!("cannot create the directory `{}`: {error}", path.display());
        Diagnostic::error(Code::File, message)
    })
}

/// Writes files below a directory. If one of them would overwrite a file that was read, none is
/// written.
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

/// As [`to_file`], unless the content was made from the target itself.
///
/// # Errors
/// As [`to_file`], and where the target is a file that was read.
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
            format!("the result would overwrite `{}`, from which it is made", target.display());
        return Err(Diagnostic::error(Code::File, message).help("write to another file"));
    }
    Ok(())
}

/// Replaces a file as a whole: writes a temporary file beside it and renames that.
///
/// An existing file keeps its permissions. A symbolic link is followed and stays. A device or a
/// pipe is written to directly.
///
/// # Errors
/// `file` where writing fails. The old file is then unchanged.
pub(super) fn to_file(target: &Path, content: impl AsRef<[u8]>) -> Result<(), Diagnostic> {
    let bytes = content.as_ref();
    let written = followed(target).and_then(|place| match fs::metadata(&place) {
        Ok(meta) if !meta.is_file() => {
            OpenOptions::new().write(true).open(&place)?.write_all(bytes)
        }
        Ok(meta) => {
            // A file that is not writable must not be replaced either.
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

/// The end of a chain of symbolic links, even if nothing exists there.
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

/// Removes the name of the temporary file from an error, because users do not know it and it no
/// longer exists.
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
    // If writing failed, dropping the file removes it.
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
        // These are the permissions of any new file. The umask of the user restricts them.
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

    /// The pending file belongs to the whole process, so only one test at a time may write.
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
