//! Tests that a writer may end at any moment and in any way: acknowledged records are kept, and no
//! record is kept in part.

use super::{add, anna, draft, note, read};
use cuvee::deploy::instance::{
    Draft, Event, EventLog, Fault, FaultKind, FaultyStore, MemoryStore, OsStore, Store, verify,
};
use cuvee::diagnostic::Severity;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What a writer was told.
#[derive(Default)]
struct Told {
    /// Acknowledged texts with their revisions.
    acknowledged: Vec<(u64, String)>,
    refused: Vec<String>,
}

impl Told {
    /// Writes texts as one group.
    fn write(&mut self, log: &mut EventLog<'_>, texts: &[&str]) {
        let events: Vec<[Event; 1]> = texts.iter().map(|text| [note(text)]).collect();
        let drafts: Vec<Draft<'_>> = events.iter().map(|events| draft(events)).collect();
        let committed =
            log.writer(&anna(), Duration::ZERO).and_then(|mut writer| writer.commit(&drafts));
        match committed {
            Ok(committed) => {
                let revisions = committed.iter().map(|committed| committed.revision);
                self.acknowledged
                    .extend(revisions.zip(texts.iter().map(|text| (*text).to_owned())));
            }
            Err(_) => self.refused.extend(texts.iter().map(|text| (*text).to_owned())),
        }
    }
}

/// Creates an instance and does everything to it that can be done, whatever fails on the way.
fn use_of(store: &dyn Store) -> Told {
    let mut told = Told::default();
    let made = EventLog::create(store, "shop", &anna(), Duration::ZERO, |writer| {
        writer.put_key()?;
        writer.put_blob(b"template")?;
        writer.commit(&[draft(&[note("begun")])])
    });
    if made.is_ok() {
        told.acknowledged.push((1, "begun".to_owned()));
    } else {
        told.refused.push("begun".to_owned());
    }
    let Ok(log) = EventLog::open(store, "shop") else { return told };
    let mut log = log.with_segments(700);
    told.write(&mut log, &["a"]);
    told.write(&mut log, &["b", "c", "d", "e"]);
    if let Ok(mut writer) = log.writer(&anna(), Duration::ZERO) {
        let _ = snapshot(&mut writer);
        let _ = writer.put_blob(b"another template");
    }
    told.write(&mut log, &["f"]);
    told.write(&mut log, &["g", "h"]);
    if let Ok(mut writer) = log.writer(&anna(), Duration::ZERO) {
        let _ = snapshot(&mut writer);
        let _ = writer.sweep();
    }
    told.write(&mut log, &["i"]);
    told
}

/// Writes a snapshot with the number of records.
fn snapshot(
    writer: &mut cuvee::deploy::instance::LogWriter<'_, '_>,
) -> Result<(), cuvee::diagnostic::Diagnostic> {
    let revision = writer.log().revision();
    writer.write_snapshot([("revision", revision)])
}

/// Asserts that the store agrees with what its writer was told.
fn holds(store: &dyn Store, told: &Told, is_over: bool, what: &dyn std::fmt::Debug) {
    let there = match read(store) {
        Ok((there, _)) => there,
        Err(why) => {
            assert!(told.acknowledged.is_empty(), "{what:?}: {why:?}");
            return;
        }
    };
    for (revision, text) in &told.acknowledged {
        assert_eq!(there.get(*revision as usize - 1), Some(text), "{what:?}: {there:?}");
    }
    let distinct: BTreeSet<_> = there.iter().collect();
    assert_eq!(distinct.len(), there.len(), "{what:?}: {there:?}");
    // A writer that goes on after an error leaves nothing of a refused record; one that ended may.
    for text in told.refused.iter().filter(|_| !is_over) {
        assert!(!there.contains(text), "{what:?}: {there:?}");
    }
    let group: Vec<_> =
        ["b", "c", "d", "e"].iter().map(|text| distinct.contains(&(*text).to_owned())).collect();
    assert!(group.iter().all(|is| is == &group[0]) || is_over, "{what:?}: {there:?}");
    let verification = verify(store, "shop", &mut |_| Ok(())).unwrap();
    let errors = verification.diagnostics.iter().filter(|found| found.severity == Severity::Error);
    assert_eq!(errors.count(), 0, "{what:?}: {:?}", verification.diagnostics);
    let log = EventLog::open(store, "shop").unwrap();
    if let Some(snapshot) = log.snapshot() {
        let said = snapshot.entry("revision").unwrap().unwrap();
        assert_eq!(said, snapshot.revision().to_string(), "{what:?}");
    }
}

#[test]
fn one_operation_goes_wrong() {
    use FaultKind::{Fail, Late, Shorten, Tear};
    let mut runs = 0;
    for kind in [Fail, Late, Shorten(9), Shorten(400), Tear(170)] {
        for is_final in [false, true] {
            for operation in 0.. {
                let fault = Fault { operation, kind, is_final };
                let memory = MemoryStore::new(1);
                let store = FaultyStore::new(memory.clone(), fault);
                let told = use_of(&store);
                if store.operations() <= operation {
                    assert!(told.refused.is_empty() && told.acknowledged.len() == 10);
                    break;
                }
                drop(store);
                holds(&memory, &told, is_final, &fault);
                // Another writer goes on.
                if read(&memory).is_ok() {
                    let revision = add(&memory, "next").unwrap();
                    let mut told = told;
                    told.acknowledged.push((revision, "next".to_owned()));
                    holds(&memory, &told, is_final, &fault);
                }
                runs += 1;
            }
        }
    }
    assert!(runs > 500, "{runs}");
}

const STORE: &str = "CUVEE_TEST_STORE";
const WRITES: &str = "CUVEE_TEST_WRITES";

/// The tests below run this as a process of its own: it writes, and prints what was acknowledged.
#[test]
#[ignore = "is run by others as a process of its own"]
fn writes_and_says_so() {
    let (Ok(directory), Ok(writes)) = (std::env::var(STORE), std::env::var(WRITES)) else { return };
    let store = OsStore::new(directory);
    let mut log = EventLog::open(&store, "shop").unwrap().with_segments(20_000);
    let anna = cuvee::deploy::instance::LockHolder { process: std::process::id(), ..anna() };
    let mut out = std::io::stdout();
    for number in 0..writes.parse().unwrap() {
        let text = |part: u64| format!("{}-{number}-{part}", std::process::id());
        let events: Vec<_> = (0..=number % 4).map(|part| [note(&text(part))]).collect();
        let drafts: Vec<_> = events.iter().map(|events| draft(events)).collect();
        let mut writer = log.writer(&anna, Duration::from_secs(60)).unwrap();
        let committed = writer.commit(&drafts).unwrap();
        for (part, committed) in committed.iter().enumerate() {
            writeln!(out, "acknowledged {} {}", committed.revision, text(part as u64)).unwrap();
        }
        out.flush().unwrap();
        if number % 50 == 49 {
            snapshot(&mut writer).unwrap();
        }
    }
}

fn start(directory: &Path, writes: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "instance_store::crashes::writes_and_says_so",
            "--ignored",
            "--nocapture",
        ])
        .env(STORE, directory)
        .env(WRITES, writes.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What a process prints as acknowledged, until it ends.
fn acknowledged(out: impl BufRead) -> Vec<(u64, String)> {
    let lines = out.split(b'\n');
    let line = |line: std::io::Result<Vec<u8>>| {
        let line = String::from_utf8(line.unwrap()).unwrap();
        // The first line may begin with output of the test harness.
        let mut words = line.split_once("acknowledged ")?.1.split(' ');
        // The last line may be incomplete.
        Some((words.next()?.parse().ok()?, words.next()?.to_owned()))
            .filter(|said| said.1.matches('-').count() == 2)
    };
    lines.filter_map(line).collect()
}

/// The records of a log, read while it grows.
#[derive(Default)]
struct Seen {
    texts: Vec<String>,
}

impl Seen {
    fn read_on(&mut self, log: &mut EventLog<'_>) {
        log.refresh().unwrap();
        while let Some(record) = log.next_record().unwrap() {
            assert_eq!(record.revision, self.texts.len() as u64 + 1);
            self.texts.push(match &record.events().unwrap()[..] {
                [Event::Note { text, .. }] => text.to_string(),
                other => format!("{other:?}"),
            });
        }
    }

    fn has(&self, (revision, text): &(u64, String)) -> bool {
        self.texts.get(*revision as usize - 1) == Some(text)
    }

    /// Whether no text occurs twice, apart from the notes that a torn end was put aside.
    fn is_distinct(&self) -> bool {
        let texts: Vec<_> = self.texts.iter().filter(|text| text.contains('-')).collect();
        texts.iter().collect::<BTreeSet<_>>().len() == texts.len()
    }
}

/// `CUVEE_TEST_KILLS=1000` kills more often.
#[test]
fn killed_at_any_moment() {
    let kills = std::env::var("CUVEE_TEST_KILLS").map_or(60, |kills| kills.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let store = OsStore::new(directory.path());
    super::begin(&store, &["begun"]);
    let mut log = EventLog::open_at_start(&store, "shop").unwrap();
    let (mut seen, mut count) = (Seen::default(), 0);
    for kill in 0..kills {
        let mut child = start(directory.path(), u64::MAX);
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        // Some processes are killed before they begin, others while they write.
        while kill % 3 != 0 && !first.contains("acknowledged") {
            assert!(out.read_line(&mut first).unwrap() > 0, "{first}");
        }
        std::thread::sleep(Duration::from_micros(kill * 7_919 % 20_000));
        child.kill().unwrap();
        let said = acknowledged(first.as_bytes().chain(out));
        child.wait().unwrap();
        seen.read_on(&mut log);
        assert!(said.iter().all(|said| seen.has(said)), "{said:?}");
        count += said.len();
    }
    assert!(seen.is_distinct());
    assert!(kills < 20 || count > 20, "only {count} were acknowledged");
    let verification = verify(&store, "shop", &mut |_| Ok(())).unwrap();
    let errors = verification.diagnostics.iter().filter(|found| found.severity == Severity::Error);
    assert_eq!(errors.count(), 0, "{:?}", verification.diagnostics);
    add(&store, "next").unwrap();
    println!("{kills} killed, {count} acknowledged, {} records", seen.texts.len());
}

#[test]
fn two_processes_write() {
    let directory = tempfile::tempdir().unwrap();
    let store = OsStore::new(directory.path());
    super::begin(&store, &["begun"]);
    let mut children = [start(directory.path(), 120), start(directory.path(), 120)];
    let outs = children.each_mut().map(|child| BufReader::new(child.stdout.take().unwrap()));
    let said: Vec<_> = outs.into_iter().flat_map(acknowledged).collect();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let mut seen = Seen::default();
    seen.read_on(&mut EventLog::open_at_start(&store, "shop").unwrap());
    // The groups have one to four records.
    assert_eq!(said.len(), 2 * 30 * (1 + 2 + 3 + 4));
    assert_eq!(seen.texts.len(), said.len() + 1);
    assert!(said.iter().all(|said| seen.has(said)) && seen.is_distinct());
}
