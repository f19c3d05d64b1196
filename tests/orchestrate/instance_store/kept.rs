//! Tests what is kept beside the log, which is snapshots, blobs and keys, and questions that need
//! all of it.

use super::{add, anna, begin, bytes, draft, note, read, texts};
use cuvee::deploy::instance::{
    Draft, EventLog, LockAttempt, LockHolder, Locking, LogWriter, MemoryStore, OsStore,
    SnapshotPace, Store, StoreReader, StoredFile, salvage, verify,
};
use cuvee::diagnostic::{Code, Diagnostic, Severity};
use std::io;
use std::time::Duration;

/// An instance with a record for each number, which is its text.
fn numbered(store: &dyn Store, last: u64) -> EventLog<'_> {
    let texts: Vec<_> = (1..=last).map(|number| number.to_string()).collect();
    begin(store, &texts.iter().map(|text| &**text).collect::<Vec<_>>())
}

/// Writes a snapshot with the given number of entries.
fn snapshot(writer: &mut LogWriter<'_, '_>, entries: u64) -> Result<(), Diagnostic> {
    let value = |number| serde_json::json!({"number": number, "text": "x".repeat(100)});
    writer.write_snapshot((0..entries).map(|number| (format!("nodes/{number:06}"), value(number))))
}

fn with_snapshot(store: &dyn Store, entries: u64) {
    let mut log = numbered(store, 3);
    snapshot(&mut log.writer(&anna(), Duration::ZERO).unwrap(), entries).unwrap();
    add(store, "4").unwrap();
}

#[test]
fn a_snapshot_spares_reading_the_log() {
    let store = MemoryStore::new(1);
    with_snapshot(&store, 1_000);
    let mut log = EventLog::open(&store, "shop").unwrap();
    let of = log.snapshot().unwrap();
    assert_eq!((of.revision(), of.structure()), (3, 0));
    let mut count = 0;
    of.entries("nodes/0001", &mut |key, value| {
        let value: serde_json::Value = serde_json::from_str(value).unwrap();
        assert_eq!(key, format!("nodes/{:06}", value["number"].as_u64().unwrap()));
        count += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(count, 100);
    for (key, is_there) in [
        ("nodes/000000", true),
        ("nodes/000999", true),
        ("nodes/001000", false),
        ("", false),
        ("z", false),
    ] {
        assert_eq!(of.entry(key).unwrap().is_some(), is_there, "{key}");
    }
    assert_eq!(log.next_record().unwrap().unwrap().revision, 4);
    // It can be made from the log again.
    for file in ["snapshot-3.idx", "snapshot-3.ndjson"] {
        let was = bytes(&store, file);
        store.remove("shop", file).unwrap();
        assert!(EventLog::open(&store, "shop").unwrap().snapshot().is_none(), "{file}");
        store.replace("shop", file, &was).unwrap();
    }
}

/// A snapshot with a damaged index is ignored, and a damaged entry is an error.
#[test]
fn a_damaged_snapshot_is_none() {
    let store = MemoryStore::new(1);
    with_snapshot(&store, 3);
    let index = bytes(&store, "snapshot-3.idx");
    for at in 0..index.len() {
        let mut wrong = index.clone();
        wrong[at] ^= 1;
        store.replace("shop", "snapshot-3.idx", &wrong).unwrap();
        assert!(EventLog::open(&store, "shop").unwrap().snapshot().is_none(), "{at}");
    }
    store.replace("shop", "snapshot-3.idx", &index).unwrap();
    let entries = bytes(&store, "snapshot-3.ndjson");
    for at in 0..entries.len() {
        let mut wrong = entries.clone();
        wrong[at] ^= 1;
        store.replace("shop", "snapshot-3.ndjson", &wrong).unwrap();
        let log = EventLog::open(&store, "shop").unwrap();
        let error = log.snapshot().unwrap().entry("nodes/000001").unwrap_err();
        assert_eq!(error.code, Code::StoreCorrupt);
        assert_eq!(error.message, "`shop/snapshot-3.ndjson` was changed after it was written");
        assert!(error.help.unwrap().starts_with("remove the file"));
    }
    let told = verify(&store, "shop", &mut |_| Ok(())).unwrap().diagnostics;
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].code, told[0].severity), (Code::StoreCorrupt.into(), Severity::Warning));
}

/// A snapshot of records that are not in the log any more, because they were never durable, is
/// ignored.
#[test]
fn a_snapshot_names_its_chain() {
    let store = MemoryStore::new(1);
    with_snapshot(&store, 3);
    let log = bytes(&store, "log-1.ndjson");
    let third = log.split_inclusive(|byte| *byte == b'\n').take(2).map(<[u8]>::len).sum::<usize>();
    store.truncate("shop", "log-1.ndjson", third as u64).unwrap();
    assert_eq!(texts(&store), ["1", "2"]);
    let other = MemoryStore::new(1);
    with_snapshot(&other, 3);
    add(&store, "3, but another one").unwrap();
    assert_eq!(EventLog::open(&store, "shop").unwrap().snapshot().map(|of| of.revision()), None);
    assert!(EventLog::open(&other, "shop").unwrap().snapshot().is_some());
}

#[test]
fn keys_of_snapshots_ascend() {
    let store = MemoryStore::new(1);
    let mut log = numbered(&store, 1);
    let mut writer = log.writer(&anna(), Duration::ZERO).unwrap();
    for keys in [["b", "a"], ["a", "a"], ["!a", "b"], ["", "a"]] {
        let error = writer.write_snapshot(keys.map(|key| (key, 1))).unwrap_err();
        assert_eq!(error.code, Code::InvalidValue, "{keys:?}");
    }
    assert_eq!(store.files("shop").unwrap().len(), 1);
    writer.write_snapshot([("a", 1), ("b", 2)]).unwrap();
}

#[test]
fn a_snapshot_is_due_after_many_records() {
    let store = MemoryStore::new(1);
    let mut log = numbered(&store, 1);
    let mut writer = log.writer(&anna(), Duration::ZERO).unwrap();
    let events = [note("x")];
    writer.commit(&vec![draft(&events); 9_998]).unwrap();
    assert!(!writer.snapshot_due(SnapshotPace::Soon));
    writer.commit(&[draft(&events)]).unwrap();
    assert!(writer.snapshot_due(SnapshotPace::Soon));
    writer.write_snapshot([("a", 1)]).unwrap();
    assert!(!writer.snapshot_due(SnapshotPace::Soon));
    // Long records make a snapshot due sooner.
    writer.commit(&[draft(&[note(&"x".repeat(8 << 20))])]).unwrap();
    assert!(writer.snapshot_due(SnapshotPace::Soon));
    // With the pace of a writer that goes on, it is due when the log has grown by several times the
    // last snapshot.
    assert!(writer.snapshot_due(SnapshotPace::Seldom));
    writer.write_snapshot([("a", "x".repeat(3 << 20))]).unwrap();
    writer.commit(&[draft(&[note(&"x".repeat(9 << 20))])]).unwrap();
    assert!(writer.snapshot_due(SnapshotPace::Soon));
    assert!(!writer.snapshot_due(SnapshotPace::Seldom));
    writer.commit(&[draft(&[note(&"x".repeat(4 << 20))])]).unwrap();
    assert!(writer.snapshot_due(SnapshotPace::Seldom));
}

/// A log says the same from wherever it is read.
#[test]
fn a_log_is_read_from_anywhere() {
    let store = MemoryStore::new(1);
    let mut log = begin(&store, &["1"]).with_segments(500);
    let mut positions = vec![log.position().clone()];
    let mut writer = log.writer(&anna(), Duration::ZERO).unwrap();
    for number in 2..=20 {
        writer.commit(&[draft(&[note(&number.to_string())])]).unwrap();
        positions.push(writer.log().position().clone());
        if number % 6 == 0 {
            snapshot(&mut writer, 2).unwrap();
        }
    }
    let rest = |mut log: EventLog<'_>, from: u64| {
        let mut next = from + 1;
        while let Some(record) = log.next_record().unwrap() {
            assert_eq!(record.revision, next);
            next += 1;
        }
        assert_eq!(next, 21.max(from + 1));
    };
    for (revision, position) in (1..).zip(&positions) {
        assert_eq!(position.revision(), revision);
        rest(EventLog::open_at(&store, "shop", position).unwrap(), revision);
        // The position survives being written as text.
        let text = serde_json::to_string(position).unwrap();
        assert_eq!(
            &serde_json::from_str::<cuvee::deploy::instance::LogPosition>(&text).unwrap(),
            position
        );
    }
    for revision in 0..=20 {
        rest(EventLog::open_after(&store, "shop", revision).unwrap(), revision);
        let until = EventLog::open_until(&store, "shop", revision).unwrap();
        let expected = if revision >= 18 {
            18
        } else if revision >= 12 {
            12
        } else {
            0
        };
        assert_eq!(until.revision(), expected, "the last two snapshots are there");
        rest(until, expected);
    }
    rest(EventLog::open_after(&store, "shop", 25).unwrap(), 20);
    let error = EventLog::open_at(&numbered_elsewhere(), "shop", &positions[3]).err().unwrap();
    assert_eq!(error.code, Code::StoreCorrupt);
    assert!(error.message.ends_with("was replaced by another log after revision 4 was read"));
}

fn numbered_elsewhere() -> MemoryStore {
    let store = MemoryStore::new(1);
    begin(&store, &["1", "2", "other", "4", "5"]);
    store
}

/// A log that was removed and created again is a different log, and a writer of the old one
/// notices.
#[test]
fn a_log_is_not_mistaken_for_another() {
    let store = MemoryStore::new(1);
    let mut log = numbered(&store, 3);
    log.writer(&anna(), Duration::ZERO).unwrap().delete().unwrap();
    assert!(store.instances().unwrap().is_empty());
    assert_eq!(log.refresh().unwrap_err().code, Code::UnknownInstance);
    begin(&store, &["a", "b", "c", "d", "e"]);
    let before = bytes(&store, "log-1.ndjson");
    assert_eq!(log.writer(&anna(), Duration::ZERO).err().unwrap().code, Code::StoreCorrupt);
    assert_eq!(bytes(&store, "log-1.ndjson"), before);
}

#[test]
fn keys_outlive_snapshots() {
    let store = MemoryStore::new(1);
    let mut log = numbered(&store, 1);
    let events = [note("done")];
    let keys: Vec<_> = (0..100).map(|key| key.to_string()).collect();
    let keyed = |key| Draft { orchestration: Some("7"), key: Some(key), ..draft(&events) };
    let mut writer = log.writer(&anna(), Duration::ZERO).unwrap();
    for keys in keys.chunks(10) {
        writer.commit(&keys.iter().map(|key| keyed(key)).collect::<Vec<_>>()).unwrap();
        snapshot(&mut writer, 2).unwrap();
    }
    drop(writer);
    // A few keys are looked up one by one, many at once.
    for many in [1, 100] {
        let mut log = EventLog::open(&store, "shop").unwrap();
        assert_eq!(log.snapshot().unwrap().revision(), 101);
        let mut writer = log.writer(&anna(), Duration::ZERO).unwrap();
        let drafts: Vec<_> = keys.iter().take(many).map(|key| keyed(key)).collect();
        for (committed, revision) in writer.commit(&drafts).unwrap().iter().zip(2..) {
            assert_eq!((committed.revision, committed.repeated), (revision, true));
        }
    }
    // Keys are also found when the snapshot was made by a writer that had not read them.
    let mut log = EventLog::open_after(&store, "shop", 101).unwrap();
    let mut writer = log.writer(&anna(), Duration::ZERO).unwrap();
    writer.commit(&[draft(&events)]).unwrap();
    snapshot(&mut writer, 2).unwrap();
    drop(writer);
    let mut log = EventLog::open(&store, "shop").unwrap();
    assert_eq!(log.snapshot().unwrap().revision(), 102);
    let mut writer = log.writer(&anna(), Duration::ZERO).unwrap();
    assert!(writer.commit(&[keyed("42")]).unwrap()[0].repeated);
    let committed = writer.commit(&[keyed("new"), keyed("new")]).unwrap();
    assert_eq!((committed[0].revision, committed[0].repeated), (103, false));
    assert_eq!((committed[1].revision, committed[1].repeated), (103, true));
    // Keys are not listed among the other entries.
    let mut count = 0;
    writer
        .log()
        .snapshot()
        .unwrap()
        .entries("", &mut |key, _| {
            count += 1;
            assert!(key.starts_with("nodes/"));
            Ok(())
        })
        .unwrap();
    assert_eq!(count, 2);
}

#[test]
fn blobs_are_what_their_names_say() {
    let directory = tempfile::tempdir().unwrap();
    let stores: [&dyn Store; 2] = [&MemoryStore::new(1), &OsStore::new(directory.path())];
    for store in stores {
        let mut log = numbered(store, 1);
        let mut writer = log.writer(&anna(), Duration::ZERO).unwrap();
        let digest = writer.put_blob(b"template").unwrap();
        assert_eq!(digest, "5cde0f1298f41f7d1c8b907a36992a7a513225a2615bd6e307bf1a9149b06b40");
        assert_eq!(writer.put_blob(b"template").unwrap(), digest);
        assert_eq!(writer.log().blob(&digest).unwrap(), b"template");
        let file = format!("blobs/{digest}");
        store.replace("shop", &file, b"another one").unwrap();
        let error = writer.log().blob(&digest).unwrap_err();
        assert_eq!(error.code, Code::StoreCorrupt);
        assert!(error.message.ends_with("does not match the digest that is its name"));
        // Putting the content of a damaged blob again repairs it.
        writer.put_blob(b"template").unwrap();
        assert_eq!(writer.log().blob(&digest).unwrap(), b"template");
        store.remove("shop", &file).unwrap();
        assert!(writer.log().blob(&digest).unwrap_err().message.contains("is missing"));
        assert_eq!(writer.log().blob("../key").unwrap_err().code, Code::StoreCorrupt);
    }
}

#[test]
fn a_key_is_made_once() {
    let directory = tempfile::tempdir().unwrap();
    let store = OsStore::new(directory.path());
    let mut log = numbered(&store, 1);
    assert_eq!(log.key().unwrap(), None);
    let mut writer = log.writer(&anna(), Duration::ZERO).unwrap();
    let key = writer.put_key().unwrap();
    assert_eq!(writer.put_key().unwrap(), key);
    assert_ne!(store.random().unwrap(), key);
    drop(writer);
    assert_eq!(EventLog::open(&store, "shop").unwrap().key().unwrap(), Some(key));
    store.replace("shop", "key", b"abc").unwrap();
    assert_eq!(log.key().unwrap_err().code, Code::StoreCorrupt);
}

#[test]
fn what_no_record_names_is_swept() {
    let store = MemoryStore::new(1);
    let mut log = numbered(&store, 1);
    let mut writer = log.writer(&anna(), Duration::ZERO).unwrap();
    let within = writer.put_blob(b"named by what is named").unwrap();
    let named = writer.put_blob(format!("{{\"text\":\"{within}\"}}").as_bytes()).unwrap();
    let unnamed = writer.put_blob(b"never named").unwrap();
    writer.commit(&[draft(&[note(&format!("sha256:{named}"))])]).unwrap();
    for entries in 1..3 {
        writer.commit(&[draft(&[note("x")])]).unwrap();
        snapshot(&mut writer, entries).unwrap();
    }
    let swept = writer.sweep().unwrap();
    let expected = ["snapshot-3.idx", "snapshot-3.ndjson", &format!("blobs/{unnamed}")];
    assert_eq!(swept, expected);
    assert!(writer.log().blob(&named).is_ok() && writer.log().blob(&within).is_ok());
    let verification = verify(&store, "shop", &mut |_| Ok(())).unwrap();
    assert_eq!((verification.revision, verification.blobs, verification.snapshots), (4, 2, 1));
    assert_eq!((verification.segments, verification.diagnostics), (1, Vec::new()));
}

#[test]
fn what_is_whole_is_saved() {
    let store = MemoryStore::new(1);
    let mut log = begin(&store, &["1"]).with_segments(300);
    let mut writer = log.writer(&anna(), Duration::ZERO).unwrap();
    let (right, wrong) = (writer.put_blob(b"right").unwrap(), writer.put_blob(b"wrong").unwrap());
    let key = writer.put_key().unwrap();
    for number in 2..=9 {
        writer.commit(&[draft(&[note(&number.to_string())])]).unwrap();
    }
    drop(writer);
    store.replace("shop", &format!("blobs/{wrong}"), b"otherwise").unwrap();
    let mut third = bytes(&store, "log-5.ndjson");
    third[200] ^= 1;
    store.replace("shop", "log-5.ndjson", &third).unwrap();
    let verification = verify(&store, "shop", &mut |_| Ok(())).unwrap();
    let codes: Vec<_> = verification.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!((verification.revision, codes), (5, vec![Code::StoreCorrupt.into(); 2]));

    let to = MemoryStore::new(2);
    let saved = salvage((&store, "shop"), (&to, "shop"), &anna(), Duration::ZERO).unwrap();
    assert_eq!((saved.revision, saved.blobs, saved.left.len()), (5, 1, 2));
    assert_eq!(texts(&to), ["1", "2", "3", "4", "5"]);
    for segment in ["log-1.ndjson", "log-3.ndjson"] {
        assert_eq!(bytes(&to, segment), bytes(&store, segment));
    }
    let log = EventLog::open(&to, "shop").unwrap();
    assert_eq!((log.blob(&right).unwrap(), log.key().unwrap()), (b"right".to_vec(), Some(key)));
    assert_eq!(verify(&to, "shop", &mut |_| Ok(())).unwrap().diagnostics, []);
    // An existing instance is not overwritten.
    let again = salvage((&store, "shop"), (&to, "shop"), &anna(), Duration::ZERO);
    assert_eq!(again.unwrap_err().code, Code::InstanceExists);
    add(&to, "6").unwrap();
    assert_eq!(read(&to).unwrap().0.len(), 6);
}

#[test]
fn an_instance_is_deleted_as_a_whole() {
    let directory = tempfile::tempdir().unwrap();
    let store = OsStore::new(directory.path());
    // What an earlier attempt left behind is no obstacle.
    std::fs::create_dir_all(directory.path().join("instances/.shop.deleted/blobs")).unwrap();
    let mut log = numbered(&store, 1);
    log.writer(&anna(), Duration::ZERO).unwrap().put_blob(b"template").unwrap();
    log.writer(&anna(), Duration::ZERO).unwrap().delete().unwrap();
    assert_eq!(std::fs::read_dir(directory.path().join("instances")).unwrap().count(), 0);
    assert_eq!(log.writer(&anna(), Duration::ZERO).err().unwrap().code, Code::UnknownInstance);
    begin(&store, &["anew"]);
    assert_eq!(texts(&store), ["anew"]);
}

/// A failed write is reported, and leaves no record.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_is_told() {
    let store = OsStore::new("/proc/cuvee-store");
    let error =
        EventLog::create(&store, "shop", &anna(), Duration::ZERO, |_| Ok(())).err().unwrap();
    assert_eq!(error.code, Code::File);
    assert!(error.message.starts_with("cannot write `/proc/cuvee-store/instances/shop`: "));
    assert!(error.help.is_some());
}

/// A store on a file system that several machines share.
struct SharedStore(MemoryStore);

impl Store for SharedStore {
    fn instances(&self) -> io::Result<Vec<String>> {
        self.0.instances()
    }

    fn files(&self, instance: &str) -> io::Result<Vec<StoredFile>> {
        self.0.files(instance)
    }

    fn read(&self, instance: &str, file: &str, from: u64) -> io::Result<StoreReader<'_>> {
        self.0.read(instance, file, from)
    }

    fn create(&self, instance: &str) -> io::Result<()> {
        self.0.create(instance)
    }

    fn append(&self, instance: &str, file: &str, bytes: &[u8]) -> io::Result<()> {
        self.0.append(instance, file, bytes)
    }

    fn replace(&self, instance: &str, file: &str, bytes: &[u8]) -> io::Result<()> {
        self.0.replace(instance, file, bytes)
    }

    fn truncate(&self, instance: &str, file: &str, length: u64) -> io::Result<()> {
        self.0.truncate(instance, file, length)
    }

    fn remove(&self, instance: &str, file: &str) -> io::Result<()> {
        self.0.remove(instance, file)
    }

    fn sync(&self, instance: &str, file: &str) -> io::Result<()> {
        self.0.sync(instance, file)
    }

    fn remove_instance(&self, instance: &str) -> io::Result<()> {
        self.0.remove_instance(instance)
    }

    fn try_lock(&self, instance: &str, holder: &LockHolder) -> io::Result<LockAttempt<'_>> {
        self.0.try_lock(instance, holder)
    }

    fn locking(&self, _: &str) -> io::Result<Locking> {
        Ok(Locking::Doubtful("it is on nfs4".to_owned()))
    }

    fn random(&self) -> io::Result<[u8; 32]> {
        self.0.random()
    }

    fn place(&self, instance: &str, file: &str) -> String {
        self.0.place(instance, file)
    }
}

/// A store whose locks may not keep other machines out leads to a warning, but nothing is refused.
#[test]
fn shared_file_systems_are_warned_of() {
    let store = SharedStore(MemoryStore::new(1));
    numbered(&store, 3);
    let told = verify(&store, "shop", &mut |_| Ok(())).unwrap().diagnostics;
    let [told] = &told[..] else { panic!("{told:?}") };
    assert_eq!((told.code, told.severity), (Code::File.into(), Severity::Warning));
    assert!(told.message.contains("may not keep others out: it is on nfs4"), "{}", told.message);
    assert_eq!(told.help.as_deref(), Some("let one machine at a time write to this store"));
    assert_eq!(add(&store, "4").unwrap(), 4);
}
