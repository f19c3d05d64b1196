//! Reads files as the command line names them: files of the operating system, and streams that a
//! shell passes under a name. Such streams are standard input (`/dev/stdin`) and the output of
//! other commands (`<(command)`, which is `/dev/fd/63` or the like).
//!
//! A stream is read once, up to the size limit of files, and only where the command line names it.
//! Imports of a template are always files.

use cuvee::parts::yaml::Limits;
use cuvee::source::{FileSystem, OsFiles};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

/// The path that means standard input in place of a template.
pub(super) const STANDARD_INPUT: &str = "-";

/// The file that is standard input.
pub(super) const STDIN_FILE: &str = "/dev/stdin";

/// The files that a command reads.
pub(super) struct CommandFiles;

/// The streams in the arguments: a whole argument, the part behind `=`, or a part between commas.
static NAMED: LazyLock<HashSet<PathBuf>> = LazyLock::new(|| {
    let arguments = std::env::args_os().filter_map(|argument| argument.into_string().ok());
    let parts = |argument: String| -> Vec<PathBuf> {
        let parts = argument.split(['=', ',']).map(|part| match part {
            STANDARD_INPUT => PathBuf::from(STDIN_FILE),
            part => PathBuf::from(part),
        });
        parts.filter(|part| part == Path::new(STDIN_FILE) || is_stream(part)).collect()
    };
    arguments.flat_map(parts).collect()
});

/// The result of reading a stream.
type Read = Result<Vec<u8>, String>;

/// The results of streams, because a stream cannot be read again.
static READ: LazyLock<Mutex<HashMap<PathBuf, Read>>> = LazyLock::new(Mutex::default);

/// Whether this is the path of an open file descriptor.
pub(super) fn is_stream(path: &Path) -> bool {
    let descriptors = ["/dev/fd", "/proc/self/fd"].map(Path::new);
    cfg!(unix)
        && (path == Path::new(STDIN_FILE)
            || path.parent().is_some_and(|parent| descriptors.contains(&parent)))
}

/// Whether a path in the arguments means standard input or another stream, which can be read only
/// once.
pub(super) fn is_read_once(path: &Path) -> bool {
    path == Path::new(STANDARD_INPUT) || is_stream(path)
}

/// The name of a template from a stream in messages. Relative names in such a template start in the
/// working directory.
pub(super) fn label(path: &Path) -> String {
    let number = path.file_name().and_then(|name| name.to_str());
    match number.filter(|number| !matches!(*number, "-" | "stdin" | "0")) {
        Some(number) => format!("<fd {number}>"),
        None => "<stdin>".to_owned(),
    }
}

/// Reads all of a stream, if it is not too large.
///
/// # Errors
/// The errors of the system.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut streams = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let read = streams.entry(path.to_owned()).or_insert_with(|| {
        let read = if [STANDARD_INPUT, STDIN_FILE].map(Path::new).contains(&path) {
            limited(io::stdin().lock())
        } else {
            File::open(path).and_then(limited)
        };
        read.map_err(|error| error.to_string())
    });
    read.clone().map_err(Error::other)
}

fn limited(stream: impl io::Read) -> io::Result<Vec<u8>> {
    let limit = Limits::default().bytes;
    let mut bytes = Vec::new();
    let mut stream = stream.take(limit / 2);
    io::Read::read_to_end(&mut stream, &mut bytes)?;
    if bytes.len() as u64 == limit / 2 {
        // A buffer that doubles would take three times the limit in the end.
        let rest = limit + 1 - limit / 2;
        bytes.try_reserve_exact(rest as usize)?;
        stream.set_limit(rest);
        io::Read::read_to_end(&mut stream, &mut bytes)?;
    }
    if bytes.len() as u64 > limit {
        let why = format!("it is larger than {} MiB", limit >> 20);
        return Err(Error::new(ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

impl FileSystem for CommandFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if NAMED.contains(path) { read(path) } else { OsFiles.read(path) }
    }

    fn read_start(&self, path: &Path, most: usize) -> io::Result<Vec<u8>> {
        if NAMED.contains(path) {
            let mut bytes = read(path)?;
            bytes.truncate(most);
            return Ok(bytes);
        }
        OsFiles.read_start(path, most)
    }

    fn size(&self, path: &Path) -> io::Result<u64> {
        OsFiles.size(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        NAMED.contains(path) || OsFiles.is_file(path)
    }

    fn is_dir(&self, path: &Path) -> bool {
        OsFiles.is_dir(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        OsFiles.list(path)
    }

    fn is_link(&self, path: &Path) -> bool {
        OsFiles.is_link(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        OsFiles.canonical(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_open_already_is_a_stream() {
        for (path, label) in [
            ("/dev/stdin", "<stdin>"),
            ("/dev/fd/0", "<stdin>"),
            ("/dev/fd/63", "<fd 63>"),
            ("/proc/self/fd/7", "<fd 7>"),
        ] {
            assert_eq!(
                (is_stream(path.as_ref()), super::label(path.as_ref())),
                (cfg!(unix), label.into())
            );
        }
        for path in ["-", "/dev/zero", "/dev/fd", "/dev/fd/63/lib", "/dev/tty", "dev/fd/63"] {
            assert!(!is_stream(path.as_ref()), "{path}");
        }
    }
}
