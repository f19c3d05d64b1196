//! One runner an instance: a lease in the store, renewed while the run lasts.

use super::orphans;
use super::output::private_directory;
use crate::diagnostic::{Code, Diagnostic};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long a lease holds after it was renewed.
const TERM: Duration = Duration::from_secs(60);

/// How often it is renewed.
const BEAT: Duration = Duration::from_secs(15);

/// How often, and after which time, somebody looks who has just taken a lease.
const LOOKS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

const LEASE: &str = "run.json";
const LOCK: &str = "run.lock";

/// The run that holds the lease of an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Holder {
    actor: String,
    machine: String,
    process: u32,
    since: Timestamp,
    renewed: Timestamp,
    /// The directory of the run, which may have files with secrets.
    directory: PathBuf,
}

/// A held lease. It ends when it is dropped, and with the process.
#[derive(Debug)]
pub struct Lease {
    files: LeaseFiles,
    /// Locked while the process lives.
    lock: File,
    beat: Option<(Sender<()>, JoinHandle<()>)>,
    /// The steps of a runner that was killed whose scripts still ran, and were ended.
    ended: Vec<String>,
}

#[derive(Clone, Debug)]
struct LeaseFiles {
    directory: PathBuf,
}

/// The run that takes a lease.
pub(super) struct LeaseTaker<'t> {
    pub(super) actor: &'t str,
    /// The directory of the new run.
    pub(super) directory: &'t Path,
    /// The present time.
    pub(super) now: fn() -> Timestamp,
}

impl Lease {
    /// Takes the lease of the instance whose files are in this directory.
    ///
    /// # Errors
    /// `instance-running` if another runner has it; `file`
    pub(super) fn take(
        directory: &Path,
        instance: &str,
        taker: &LeaseTaker<'_>,
    ) -> Result<Self, Diagnostic> {
        let files = LeaseFiles { directory: directory.to_owned() };
        let failed = |why: io::Error| {
            let place = directory.join(LEASE);
            let message = format!("cannot write `{}`: {why}", place.display());
            let help = "check its permissions and the room on its disk: whoever runs an instance writes to its store";
            Diagnostic::error(Code::File, message).help(help)
        };
        private_directory(directory).map_err(failed)?;
        let machine = machine();
        let is_locked = files.lock().map_err(failed)?;
        let known = match &is_locked {
            Ok(_) => files.read(),
            Err(_) => files.read_soon(),
        };
        let now = (taker.now)();
        // On this machine the lock tells whether the runner lives; of others only time does.
        let is_held = known.as_ref().is_some_and(|known| match &is_locked {
            Ok(_) if known.machine == machine => false,
            _ => now.duration_since(known.renewed).unsigned_abs() < TERM,
        });
        let lock = match is_locked {
            Ok(lock) if !is_held => lock,
            _ => return Err(held(instance, known.as_ref(), &machine)),
        };
        // A runner that was killed could not end its scripts and remove its files.
        let mut ended = Vec::new();
        if let Some(known) = known.filter(|known| known.machine == machine) {
            ended = orphans::end(&known.directory, instance);
            let _ = fs::remove_dir_all(&known.directory);
            // The directory around it is that of the runner as well, if it is empty now.
            let _ = known.directory.parent().map(fs::remove_dir);
        }
        let holder = Holder {
            actor: taker.actor.to_owned(),
            machine,
            process: std::process::id(),
            since: now,
            renewed: now,
            directory: taker.directory.to_owned(),
        };
        files.write(&holder).map_err(failed)?;
        let beat = files.clone().beating(holder, taker.now);
        Ok(Self { files, lock, beat, ended })
    }

    /// Tells of scripts that a runner that was killed had left running.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let ended = |step: &String| {
            let message = format!(
                "the script of `{step}` still ran, although its runner had been killed; it was ended"
            );
            Diagnostic::warning(Code::InstanceRunning, message)
        };
        self.ended.iter().map(ended).collect()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some((stop, beat)) = self.beat.take() {
            drop(stop);
            let _ = beat.join();
        }
        // Where removing fails, the free lock tells that nobody runs.
        let _ = fs::remove_file(self.files.directory.join(LEASE));
        let _ = self.lock.unlock();
    }
}

impl LeaseFiles {
    /// The lock, if it is free; else the file all the same.
    fn lock(&self) -> io::Result<Result<File, File>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(self.directory.join(LOCK))?;
        match file.try_lock() {
            Ok(()) => Ok(Ok(file)),
            Err(TryLockError::WouldBlock) => Ok(Err(file)),
            Err(TryLockError::Error(why)) => Err(why),
        }
    }

    /// The last holder; `None` if there is none, or if what is there cannot be read.
    /// Reads who holds the lease: whoever has just taken it is about to write that.
    fn read_soon(&self) -> Option<Holder> {
        (0..LOOKS).find_map(|look| {
            if look > 0 {
                thread::sleep(PAUSE);
            }
            self.read()
        })
    }

    fn read(&self) -> Option<Holder> {
        serde_json::from_slice(&fs::read(self.directory.join(LEASE)).ok()?).ok()
    }

    fn write(&self, holder: &Holder) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.directory)?;
        file.write_all(&serde_json::to_vec(holder)?)?;
        file.persist(self.directory.join(LEASE)).map_err(|error| error.error)?;
        Ok(())
    }

    /// Renews the lease until the sender is dropped.
    fn beating(
        self,
        holder: Holder,
        now: fn() -> Timestamp,
    ) -> Option<(Sender<()>, JoinHandle<()>)> {
        let (stop, stopped) = channel::<()>();
        let beat = move || {
            let mut holder = holder;
            while stopped.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                holder.renewed = now();
                // The next beat may succeed.
                let _ = self.write(&holder);
            }
        };
        Some((stop, thread::Builder::new().spawn(beat).ok()?))
    }
}

fn held(instance: &str, holder: Option<&Holder>, machine: &str) -> Diagnostic {
    let message = match holder {
        Some(Holder { actor, machine: of, process, since, .. }) => {
            let place = if of == machine { String::new() } else { format!(" on `{of}`") };
            format!("`{actor}` runs `{instance}` since {since}: process {process}{place}")
        }
        None => format!("somebody else runs `{instance}`"),
    };
    Diagnostic::error(Code::InstanceRunning, message).help(
        "wait until that run has ended; the lease of a runner that is gone on another machine ends a minute after its last sign of life",
    )
}

/// The name of this machine.
fn machine() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_runner_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let work = directory.path().join("work");
        let taker = |actor| LeaseTaker { actor, directory: &work, now: Timestamp::now };
        let first = Lease::take(directory.path(), "shop", &taker("ann")).unwrap();
        let refused = Lease::take(directory.path(), "shop", &taker("bob")).unwrap_err();
        assert_eq!(refused.code, Code::InstanceRunning);
        assert!(refused.message.contains("`ann` runs `shop` since"), "{}", refused.message);
        drop(first);
        drop(Lease::take(directory.path(), "shop", &taker("bob")).unwrap());
    }

    #[test]
    fn the_directory_of_a_runner_that_is_gone_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let work = directory.path().join("work");
        fs::create_dir(&work).unwrap();
        let files = LeaseFiles { directory: directory.path().to_owned() };
        let now = Timestamp::now();
        let gone = |machine| Holder {
            actor: "ann".into(),
            machine,
            process: 1,
            since: now,
            renewed: now,
            directory: work.clone(),
        };
        files.write(&gone("another".to_owned())).unwrap();
        let taker = LeaseTaker { actor: "bob", directory: directory.path(), now: Timestamp::now };
        let refused = Lease::take(directory.path(), "shop", &taker).unwrap_err();
        assert!(refused.message.ends_with("process 1 on `another`"), "{}", refused.message);
        files.write(&gone(machine())).unwrap();
        drop(Lease::take(directory.path(), "shop", &taker).unwrap());
        assert!(!work.exists());
    }
}
