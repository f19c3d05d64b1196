//! The errors of a store, each with advice on what to do.

use super::record::FORMAT;
use super::{LockHolder, Store};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use std::fmt::Display;

/// An operation on a file that failed.
pub(super) struct Attempt {
    what: &'static str,
    help: &'static str,
}

pub(super) const READ: Attempt =
    Attempt { what: "read", help: "check that the file exists and may be read" };
pub(super) const WRITE: Attempt = Attempt {
    what: "write",
    help: "check its permissions and the room on its disk; what was acknowledged is still there",
};
pub(super) const LOCK: Attempt = Attempt {
    what: "lock",
    help: "check its permissions and the room on its disk; reading needs no lock, writing does, on a file system that has locks",
};

/// The error for a file that cannot be read, written or locked.
pub(super) fn file(attempt: &Attempt, place: &str, why: &dyn Display) -> Diagnostic {
    Diagnostic::error(Code::File, format!("cannot {} `{place}`: {why}", attempt.what))
        .help(attempt.help)
}

/// The error for a log that is not what was written.
pub(super) fn corrupt(place: &str, what: impl Display) -> Diagnostic {
    Diagnostic::error(Code::StoreCorrupt, format!("`{place}` {what}")).help(
        "copy the intact records with `cuvee instance verify NAME --salvage TO`; nothing was written",
    )
}

/// The error for a damaged file that follows from the log.
pub(super) fn damaged(place: &str) -> Diagnostic {
    Diagnostic::error(Code::StoreCorrupt, format!("`{place}` was changed after it was written"))
        .help("remove the file: it is made again from the log")
}

/// The warning for a damaged file that follows from the log and is not needed.
pub(super) fn ignored(place: &str) -> Diagnostic {
    let message =
        format!("`{place}` was changed after it was written, or not of this log, and is ignored");
    Diagnostic::warning(Code::StoreCorrupt, message)
        .help("remove the file: it is made again from the log")
}

/// The error for a log that is not the one any more from which somebody wants to continue.
pub(super) fn replaced(place: &str, revision: u64) -> Diagnostic {
    let message =
        format!("`{place}` was replaced by another log after revision {revision} was read");
    Diagnostic::error(Code::StoreCorrupt, message)
        .help("read the log from the beginning; nothing was written")
}

pub(super) fn torn(place: &str, bytes: u64) -> Diagnostic {
    let message = format!("{bytes} bytes from `{place}` on were never acknowledged");
    Diagnostic::warning(Code::LogRecovered, message)
        .help("the next writer puts them aside; another process may be writing them just now")
}

pub(super) fn version(place: &str, format: u64) -> Diagnostic {
    let message = format!("`{place}` has format {format}, and this version knows format {FORMAT}");
    Diagnostic::error(Code::StoreVersion, message).help(match format > FORMAT {
        true => "use the version of cuvee that wrote it, or a later one",
        false => "use the version of cuvee that wrote it, or begin the instance anew",
    })
}

pub(super) fn unknown(store: &dyn Store, instance: &str) -> Diagnostic {
    let error = Diagnostic::error(
        Code::UnknownInstance,
        format!("there is no instance `{}`", instance.escape_debug()),
    );
    let mut names = store.instances().unwrap_or_default();
    names.retain(|name| super::has_log(store, name));
    match did_you_mean(instance, names.iter().map(|name| &**name)) {
        Some(meant) => error.help(meant),
        None => error.help("`cuvee instance list` names those of the store, `--store` chooses it"),
    }
}

pub(super) fn never_begun(instance: &str) -> Diagnostic {
    let message = format!("the instance `{instance}` was never begun: its log has no whole record");
    Diagnostic::error(Code::UnknownInstance, message)
        .help("begin it with `cuvee instance init`, which puts the existing log aside")
}

pub(super) fn exists(instance: &str) -> Diagnostic {
    let message = format!("there is an instance `{instance}` already");
    Diagnostic::error(Code::InstanceExists, message)
        .help("choose another name, or remove it with `cuvee instance delete`")
}

pub(super) fn locked(instance: &str, holder: Option<&LockHolder>) -> Diagnostic {
    let who = holder.map_or("another process".to_owned(), ToString::to_string);
    Diagnostic::error(Code::StoreLocked, format!("`{instance}` is being written by {who}")).help(
        "try again when that process is done, or wait longer with `--lock-timeout`; a process that has ended holds no lock",
    )
}

pub(super) fn stale(instance: &str, expected: u64, present: u64) -> Diagnostic {
    let message =
        format!("`{instance}` is at revision {present}, and not at {expected} as expected");
    Diagnostic::error(Code::StaleRevision, message).help(if expected < present {
        format!(
            "`cuvee instance log {instance} --since {expected}` shows what has changed; nothing was written"
        )
    } else {
        "check that the revision is right and is one of this store; nothing was written".to_owned()
    })
}

pub(super) fn recovered(place: &str, bytes: u64, aside: &str) -> Diagnostic {
    let message =
        format!("{bytes} bytes at the end of `{place}` were never acknowledged and are put aside");
    Diagnostic::warning(Code::LogRecovered, message).help(format!(
        "a writer was interrupted; look into `{aside}` for what it meant to write, and report that again"
    ))
}

pub(super) fn unwritable(instance: &str, why: &dyn Display) -> Diagnostic {
    let message = format!("an event of `{instance}` cannot be written: {why}");
    Diagnostic::error(Code::InvalidValue, message).help("use only values that JSON can express")
}
