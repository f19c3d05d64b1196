//! Measures the store alone: records and snapshots, whatever their content.

use super::{Measured, told};
use cuvee::deploy::instance::{
    Draft, Event, EventLog, LockHolder, OsStore, RecordOrigin, Store, verify,
};
use cuvee::diagnostic::{Code, Diagnostic};
use cuvee::source::value::Value;
use std::time::{Duration, Instant};

/// The number of records in the large log; with these events it has about 180 MB, in three
/// segments.
const RECORDS: usize = 1_000_000;
/// How many records share one write and one sync.
const GROUP: usize = 1_000;
/// The number of entries in the snapshot.
const ENTRIES: usize = 30_000;
/// The number of records behind the snapshot.
const TAIL: usize = 5_000;

type Row = (&'static str, fn(&dyn Store) -> Result<String, Diagnostic>);

const ROWS: [Row; 9] = [
    ("append, 1 record a time", append_single),
    ("append, groups of 1,000", append_groups),
    ("append, groups of 1,000 with keys", append_keyed),
    ("read 1,000,000 records", read_all),
    ("read the last 1,000 of them", read_last),
    ("verify them", verify_all),
    ("write a snapshot", write_snapshot),
    ("open behind it, read 5,000 records", open_snapshot),
    ("one entry of it", read_entry),
];

/// Prints a row for each task whose name contains `wanted`.
pub(super) fn measure(wanted: Option<&str>) -> Measured {
    // The directory is on the disk of the builds: in a file system in memory, syncing would cost
    // nothing.
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let store = OsStore::new(directory.path());
    let mut rows =
        ROWS.iter().filter(|(name, _)| wanted.is_none_or(|wanted| name.contains(wanted)));
    let Some(first) = rows.next() else { return Ok(()) };
    prepare(&store).map_err(told)?;
    for (name, row) in std::iter::once(first).chain(rows) {
        println!("{name:<36} {}", row(&store).map_err(told)?);
    }
    println!("{:<36} {:>9.1} MB", "peak memory", super::measured::peak_memory() as f64 / 1e6);
    Ok(())
}

/// Makes the log of a million records, and another one with a snapshot.
fn prepare(store: &dyn Store) -> Result<(), Diagnostic> {
    fill(store, "large", RECORDS)?;
    fill(store, "small", GROUP)?;
    write_snapshot(store).map(drop)
}

fn holder() -> LockHolder {
    LockHolder { actor: "orchestrator".to_owned(), process: std::process::id() }
}

/// The event of a report about a node.
fn report(number: usize) -> [Event; 1] {
    [Event::Attribute {
        entity: format!("node.n{}", number % 10_000).into(),
        capability: None,
        name: "load".into(),
        value: Some(Value::String(number.to_string().into())),
    }]
}

fn draft<'a>(events: &'a [Event], key: Option<&'a str>) -> Draft<'a> {
    Draft {
        time: jiff::Timestamp::UNIX_EPOCH,
        actor: "monitor",
        origin: RecordOrigin::Client,
        orchestration: key.map(|_| "1"),
        key,
        events,
    }
}

/// Adds records to an instance, which is created if it does not exist.
fn fill(store: &dyn Store, name: &str, records: usize) -> Result<(), Diagnostic> {
    let mut log = opened(store, name)?;
    let mut writer = log.writer(&holder(), Duration::ZERO)?;
    for group in 0..records.div_ceil(GROUP) {
        let events: Vec<_> = (0..GROUP).map(|number| report(group * GROUP + number)).collect();
        writer.commit(&events.iter().map(|events| draft(events, None)).collect::<Vec<_>>())?;
    }
    Ok(())
}

fn opened<'s>(store: &'s dyn Store, name: &str) -> Result<EventLog<'s>, Diagnostic> {
    let begun = EventLog::create(store, name, &holder(), Duration::ZERO, |writer| {
        writer.commit(&[draft(&report(0), None)])
    });
    begun.map(|(log, _)| log).or_else(|_| EventLog::open(store, name))
}

/// Appends records as separate processes would: each takes the lock, looks for new records, writes
/// and syncs.
fn append_single(store: &dyn Store) -> Result<String, Diagnostic> {
    const TIMES: usize = 500;
    let mut log = opened(store, "single")?;
    let start = Instant::now();
    for number in 0..TIMES {
        let events = report(number);
        log.writer(&holder(), Duration::ZERO)?.commit(&[draft(&events, None)])?;
    }
    Ok(rate(TIMES, start.elapsed()))
}

fn append_groups(store: &dyn Store) -> Result<String, Diagnostic> {
    const TIMES: usize = 200_000;
    let start = Instant::now();
    fill(store, "groups", TIMES)?;
    Ok(rate(TIMES, start.elapsed()))
}

/// Appends records as a stream of reports does: each has a key, and the lock is released between
/// groups.
fn append_keyed(store: &dyn Store) -> Result<String, Diagnostic> {
    const TIMES: usize = 200_000;
    let mut log = opened(store, "keyed")?;
    let keys: Vec<_> = (0..TIMES).map(|number| number.to_string()).collect();
    let start = Instant::now();
    for keys in keys.chunks(GROUP) {
        let events: Vec<_> = (0..keys.len()).map(report).collect();
        let drafts = events.iter().zip(keys).map(|(events, key)| draft(events, Some(key)));
        log.writer(&holder(), Duration::ZERO)?.commit(&drafts.collect::<Vec<_>>())?;
    }
    Ok(rate(TIMES, start.elapsed()))
}

fn read_all(store: &dyn Store) -> Result<String, Diagnostic> {
    let start = Instant::now();
    let mut log = EventLog::open_at_start(store, "large")?;
    let (mut records, mut bytes) = (0, 0);
    while let Some(record) = log.next_record()? {
        records += 1;
        bytes += record.line().len() + 1;
    }
    let time = start.elapsed();
    Ok(format!("{} {:>9.0} MB", rate(records, time), bytes as f64 / 1e6))
}

fn read_last(store: &dyn Store) -> Result<String, Diagnostic> {
    best(|| {
        let mut log = EventLog::open_after(store, "large", RECORDS as u64 - 1_000)?;
        while log.next_record()?.is_some() {}
        Ok(())
    })
}

fn verify_all(store: &dyn Store) -> Result<String, Diagnostic> {
    let start = Instant::now();
    let verification = verify(store, "large", &mut |_| Ok(()))?;
    Ok(rate(usize::try_from(verification.revision).unwrap_or_default(), start.elapsed()))
}

fn write_snapshot(store: &dyn Store) -> Result<String, Diagnostic> {
    let mut log = EventLog::open(store, "small")?;
    let mut writer = log.writer(&holder(), Duration::ZERO)?;
    let text = "x".repeat(400);
    let start = Instant::now();
    writer.write_snapshot((0..ENTRIES).map(|number| (format!("nodes/{number:06}"), &text)))?;
    Ok(rate(ENTRIES, start.elapsed()))
}

fn open_snapshot(store: &dyn Store) -> Result<String, Diagnostic> {
    write_snapshot(store)?;
    fill(store, "small", TAIL)?;
    best(|| {
        let mut log = EventLog::open(store, "small")?;
        while log.next_record()?.is_some() {}
        Ok(())
    })
}

fn read_entry(store: &dyn Store) -> Result<String, Diagnostic> {
    best(|| {
        let log = EventLog::open(store, "small")?;
        let entry = log.snapshot().map(|snapshot| snapshot.entry("nodes/012345"));
        entry
            .transpose()?
            .flatten()
            .map(drop)
            .ok_or_else(|| Diagnostic::error(Code::File, "no entry"))
    })
}

/// The time of the fastest of seven runs.
fn best(mut run: impl FnMut() -> Result<(), Diagnostic>) -> Result<String, Diagnostic> {
    let mut best = Duration::MAX;
    for _ in 0..7 {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed());
    }
    Ok(format!("{:>9.2} ms", best.as_secs_f64() * 1e3))
}

fn rate(times: usize, time: Duration) -> String {
    let seconds = time.as_secs_f64();
    format!("{:>9.2} ms {:>12.0}/s", seconds * 1e3, times as f64 / seconds)
}
