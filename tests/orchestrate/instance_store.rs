//! Tests the stores of instances: what a log guarantees, byte by byte, however its writer ends.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use cuvee::deploy::instance::{
    Draft, Event, EventLog, LockHolder, MemoryStore, OsStore, RecordOrigin, Store, instance_names,
};
use cuvee::diagnostic::{Code, Diagnostic};
use std::time::Duration;

mod crashes;
mod kept;
mod laws;

/// An event with a text.
fn note(text: &str) -> Event {
    Event::Note { entity: None, text: text.into(), level: None }
}

fn draft(events: &[Event]) -> Draft<'_> {
    Draft {
        time: jiff::Timestamp::UNIX_EPOCH,
        actor: "anna",
        origin: RecordOrigin::Client,
        orchestration: None,
        key: None,
        events,
    }
}

fn anna() -> LockHolder {
    LockHolder { actor: "anna".to_owned(), process: 7 }
}

/// Creates an instance with one record for each text.
fn begin<'s>(store: &'s dyn Store, texts: &[&str]) -> EventLog<'s> {
    let made = EventLog::create(store, "shop", &anna(), Duration::ZERO, |writer| {
        texts.iter().try_for_each(|text| writer.commit(&[draft(&[note(text)])]).map(drop))
    });
    made.unwrap().0
}

fn add(store: &dyn Store, text: &str) -> Result<u64, Diagnostic> {
    let mut log = EventLog::open(store, "shop")?;
    let committed = log.writer(&anna(), Duration::ZERO)?.commit(&[draft(&[note(text)])])?;
    Ok(committed[0].revision)
}

/// The texts in the log, and how many bytes at its end belong to no record.
fn read(store: &dyn Store) -> Result<(Vec<String>, Option<u64>), Diagnostic> {
    let mut log = EventLog::open_at_start(store, "shop")?;
    let mut said = Vec::new();
    while let Some(record) = log.next_record()? {
        assert_eq!(record.revision, said.len() as u64 + 1);
        said.push(match record.events()?.as_slice() {
            [Event::Note { text, .. }] => text.to_string(),
            [Event::LogRecovered { bytes }] => format!("recovered {bytes}"),
            other => format!("{other:?}"),
        });
    }
    Ok((said, log.torn()))
}

fn texts(store: &dyn Store) -> Vec<String> {
    read(store).unwrap().0
}

fn bytes(store: &dyn Store, file: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    store.read("shop", file, 0).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

/// All files of an instance.
fn all_bytes(store: &dyn Store) -> Vec<(String, Vec<u8>)> {
    let files = store.files("shop").unwrap_or_default();
    files.into_iter().map(|file| (file.name.clone(), bytes(store, &file.name))).collect()
}

/// A store whose log has these bytes.
fn of(log: &[u8]) -> MemoryStore {
    let store = MemoryStore::new(1);
    store.create("shop").unwrap();
    store.append("shop", "log-1.ndjson", log).unwrap();
    store
}

/// A log with three records. The chain of each is the beginning of a SHA-256: of the chain before,
/// if there is one, and of the line up to `,"chain"`.
const THREE: &str = r#"{"format":2,"revision":1,"structure":0,"time":"1970-01-01T00:00:00Z","actor":"anna","origin":"client","events":[{"kind":"note","text":"one"}],"chain":"9180ee0bbd7a7f8fa59374eeab14f95e"}
{"revision":2,"structure":0,"time":"1970-01-01T00:00:00Z","actor":"anna","origin":"client","events":[{"kind":"note","text":"two"}],"chain":"6cf36942cff3842001b233e8bce23cfd"}
{"revision":3,"structure":0,"time":"1970-01-01T00:00:00Z","actor":"anna","origin":"client","events":[{"kind":"note","text":"three"}],"chain":"b9d46bd9407907108ce7ff1c250bb6cc"}
"#;

#[test]
fn a_record_is_one_line() {
    let store = MemoryStore::new(1);
    begin(&store, &["one", "two", "three"]);
    assert_eq!(String::from_utf8(bytes(&store, "log-1.ndjson")).unwrap(), THREE);
    assert_eq!(texts(&of(THREE.as_bytes())), ["one", "two", "three"]);
}

/// The offset of each of the three lines, and the end of the last.
fn starts() -> Vec<usize> {
    let ends = THREE.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(ends).collect()
}

#[test]
fn what_lacks_its_end_was_never_acknowledged() {
    let starts = starts();
    for cut in starts[2]..THREE.len() {
        let store = of(&THREE.as_bytes()[..cut]);
        let torn = (cut - starts[2]) as u64;
        let said = (vec!["one".to_owned(), "two".to_owned()], Some(torn).filter(|torn| *torn > 0));
        assert_eq!(read(&store).unwrap(), said, "{cut}");
        // Reading does not change the log.
        assert_eq!(bytes(&store, "log-1.ndjson").len(), cut);
        add(&store, "next").unwrap();
        if torn == 0 {
            assert_eq!(texts(&store), ["one", "two", "next"]);
            continue;
        }
        assert_eq!(texts(&store), ["one", "two", &format!("recovered {torn}"), "next"]);
        assert_eq!(bytes(&store, "torn-3"), &THREE.as_bytes()[starts[2]..cut]);
    }
}

#[test]
fn a_writer_says_what_it_put_aside() {
    let store = of(&THREE.as_bytes()[..THREE.len() - 5]);
    let mut log = EventLog::open(&store, "shop").unwrap();
    let mut writer = log.writer(&anna(), Duration::ZERO).unwrap();
    assert_eq!(writer.recovered(), None);
    writer.commit(&[draft(&[note("next")])]).unwrap();
    let warning = writer.recovered().unwrap();
    assert_eq!(warning.code, Code::LogRecovered);
    assert!(
        warning.message.ends_with("`shop/log-1.ndjson` were never acknowledged and are put aside")
    );
    assert!(warning.help.unwrap().contains("`shop/torn-3`"));
    assert_eq!(writer.recovered(), None);
}

fn corrupt(log: &[u8], line: &str) -> Vec<String> {
    let store = of(log);
    let error = read(&store).unwrap_err();
    assert_eq!(error.code, Code::StoreCorrupt, "{error:?}");
    assert!(error.message.starts_with(&format!("`shop/log-{line}` ")), "{}", error.message);
    assert!(error.help.is_some_and(|help| help.contains("verify NAME --salvage")));
    // Writing behind it is refused, too.
    let before = all_bytes(&store);
    assert_eq!(add(&store, "next").unwrap_err().code, Code::StoreCorrupt);
    assert_eq!(all_bytes(&store), before);
    vec![error.message]
}

/// A whole line may have been acknowledged, so nothing but an unfinished last one is torn.
#[test]
fn what_does_not_continue_the_line_before_is_corrupt() {
    let [_, second, third, end] = starts()[..] else { unreachable!() };
    let four = {
        let store = of(THREE.as_bytes());
        add(&store, "four").unwrap();
        bytes(&store, "log-1.ndjson")
    };
    // Any byte of the lines behind the first, including chains and line breaks; of the last line, all
    // but its line break.
    for at in second..four.len() - 1 {
        let mut log = four.clone();
        log[at] ^= 1;
        let line = 1 + four[..at].iter().filter(|byte| **byte == b'\n').count();
        corrupt(&log, &format!("1.ndjson:{line}"));
    }
    // A line that is missing, repeated or in another's place.
    let [a, b, c, d] = [&four[..second], &four[second..third], &four[third..end], &four[end..]];
    for (lines, line) in [
        ([b, c, d, b""], 1),
        ([a, c, d, b""], 2),
        ([a, b, d, b""], 3),
        ([a, b, b, c], 3),
        ([a, b, d, c], 3),
        ([a, c, b, d], 2),
        ([b, a, c, d], 1),
        ([a, b, c, c], 4),
        ([a, b, c, b"\n"], 4),
    ] {
        corrupt(&lines.concat(), &format!("1.ndjson:{line}"));
    }
    // Parts of a write that were lost though its end was kept.
    let mut log = four;
    log[third + 20..end + 30].fill(0);
    corrupt(&log, "1.ndjson:3");
}

#[test]
fn a_record_that_was_made_up_is_no_next_one() {
    let chained = |lines: &[&str]| {
        let mut log = String::new();
        let mut chain = String::new();
        for line in lines {
            chain = sha256(&format!("{chain}{line}"));
            log.push_str(&format!("{line},\"chain\":\"{chain}\"}}\n"));
        }
        log
    };
    let first = |rest: &str| format!("{{\"revision\":1,\"structure\":0{rest}");
    let said =
        ",\"time\":\"1970-01-01T00:00:00Z\",\"actor\":\"anna\",\"origin\":\"edit\",\"events\":[]";
    let right = format!("{{\"format\":2,\"revision\":1,\"structure\":1{said}");
    assert_eq!(texts(&of(chained(&[&right]).as_bytes())), ["[]"]);
    let next = |revision: u32, structure: u32| {
        let line = format!("{{\"revision\":{revision},\"structure\":{structure}{said}");
        corrupt(chained(&[&right, &line]).as_bytes(), "1.ndjson:2")
    };
    assert!(next(3, 1)[0].ends_with("has revision 3, and the one before has 1"));
    assert!(next(2, 3)[0].ends_with("has structure 3, and the one before has 1"));
    assert!(next(2, 0)[0].ends_with("has structure 0, and the one before has 1"));
    corrupt(chained(&[&first(said)]).as_bytes(), "1.ndjson:1");
    corrupt(chained(&[&right, "{\"revision\":2,\"structure\":1"]).as_bytes(), "1.ndjson:2");
    corrupt(chained(&[&right, &right.replace("1970", "19701")]).as_bytes(), "1.ndjson:2");
}

/// The first 32 digits of the SHA-256.
fn sha256(text: &str) -> String {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn later_formats_are_refused() {
    for log in [
        "{\"format\":3,\"revision\":1,\"chain\":\"x\"}\n{}\n".to_owned(),
        THREE.replace("\"format\":2", "\"format\":3"),
    ] {
        let error = read(&of(log.as_bytes())).unwrap_err();
        assert_eq!(error.code, Code::StoreVersion);
        assert!(error.message.contains("has format 3, and this version knows format 2"));
    }
}

#[test]
fn segments_follow_each_other() {
    let store = MemoryStore::new(1);
    let mut log = begin(&store, &["1"]).with_segments(400);
    let mut writer = log.writer(&anna(), Duration::ZERO).unwrap();
    for text in 2..=9 {
        writer.commit(&[draft(&[note(&text.to_string())])]).unwrap();
    }
    let names: Vec<_> = store.files("shop").unwrap().into_iter().map(|file| file.name).collect();
    assert_eq!(names, ["log-1.ndjson", "log-4.ndjson", "log-7.ndjson"]);
    assert_eq!(texts(&store).len(), 9);
    // With a segment missing.
    for (gone, place) in [("log-1.ndjson", "log-1.ndjson"), ("log-4.ndjson", "log-7.ndjson")] {
        let was = bytes(&store, gone);
        store.remove("shop", gone).unwrap();
        let error = read(&store).unwrap_err();
        assert_eq!(error.code, Code::StoreCorrupt);
        assert!(error.message.starts_with(&format!("`shop/{place}`")), "{}", error.message);
        store.replace("shop", gone, &was).unwrap();
    }
    // An unfinished line may end the last segment, and none before it.
    store.truncate("shop", "log-7.ndjson", 5).unwrap();
    assert_eq!(read(&store).unwrap().1, Some(5));
    let middle = bytes(&store, "log-4.ndjson");
    store.truncate("shop", "log-4.ndjson", middle.len() as u64 - 1).unwrap();
    let error = read(&store).unwrap_err();
    assert_eq!(error.code, Code::StoreCorrupt);
    assert!(error.message.starts_with("`shop/log-4.ndjson:3` "), "{}", error.message);
    // The same where a line of it is missing, also the last one.
    for lines in [0..2, 1..3] {
        let left: Vec<_> = middle.split_inclusive(|byte| *byte == b'\n').collect();
        store.replace("shop", "log-4.ndjson", &left[lines].concat()).unwrap();
        assert_eq!(read(&store).unwrap_err().code, Code::StoreCorrupt);
    }
}

#[test]
fn a_torn_segment_is_begun_anew() {
    let store = MemoryStore::new(1);
    drop(begin(&store, &["1", "2"]).with_segments(100));
    store.append("shop", "log-3.ndjson", b"{\"revi").unwrap();
    assert_eq!(read(&store).unwrap(), (vec!["1".to_owned(), "2".to_owned()], Some(6)));
    let mut log = EventLog::open(&store, "shop").unwrap().with_segments(100);
    let mut writer = log.writer(&anna(), Duration::ZERO).unwrap();
    assert_eq!(writer.commit(&[draft(&[note("4")])]).unwrap()[0].revision, 4);
    assert_eq!(texts(&store), ["1", "2", "recovered 6", "4"]);
    assert_eq!(bytes(&store, "torn-3"), b"{\"revi");
    drop(log);
    // A file that was put aside earlier is kept.
    let store = of(&THREE.as_bytes()[..THREE.len() - 5]);
    store.append("shop", "torn-3", b"earlier").unwrap();
    add(&store, "4").unwrap();
    assert_eq!(bytes(&store, "torn-3"), b"earlier");
    assert_eq!(bytes(&store, "torn-3.2"), &THREE.as_bytes()[starts()[2]..THREE.len() - 5]);
}

#[test]
fn names_are_those_of_directories() {
    let store = MemoryStore::new(1);
    for name in ["", "Shop", "-shop", "shop/eu", "..", "shöp", &"a".repeat(64)] {
        let made = EventLog::create(&store, name, &anna(), Duration::ZERO, |_| Ok(()));
        assert_eq!(made.err().unwrap().code, Code::InstanceName, "{name}");
        assert_eq!(EventLog::open(&store, name).err().unwrap().code, Code::InstanceName);
    }
    assert!(store.instances().unwrap().is_empty());
}

#[test]
fn an_instance_begins_once() {
    let store = MemoryStore::new(1);
    let unknown = EventLog::open(&store, "shop").err().unwrap();
    assert_eq!(unknown.code, Code::UnknownInstance);
    // If writing its first record fails, there is no instance.
    let failed = EventLog::create(&store, "shop", &anna(), Duration::ZERO, |_| {
        Err::<(), _>(Diagnostic::error(Code::InvalidInput, "no"))
    });
    assert_eq!(failed.err().unwrap().code, Code::InvalidInput);
    assert!(store.instances().unwrap().is_empty());
    begin(&store, &["one"]);
    let again = EventLog::create(&store, "shop", &anna(), Duration::ZERO, |_| Ok(()));
    assert_eq!(again.err().unwrap().code, Code::InstanceExists);
    assert_eq!(instance_names(&store).unwrap(), ["shop"]);
    let meant = EventLog::open(&store, "shp").err().unwrap();
    assert_eq!(meant.help.as_deref(), Some("did you mean `shop`?"));
}

/// An instance whose first record was interrupted does not exist, and can be created again.
#[test]
fn a_torn_beginning_is_none() {
    let store = of(&THREE.as_bytes()[..40]);
    let unknown = EventLog::open(&store, "shop").err().unwrap();
    assert_eq!(unknown.code, Code::UnknownInstance);
    assert_eq!(unknown.message, "the instance `shop` was never begun: its log has no whole record");
    assert!(instance_names(&store).unwrap().is_empty());
    begin(&store, &["one", "two"]);
    assert_eq!(texts(&store), ["one", "two"]);
    assert_eq!(bytes(&store, "torn-1"), &THREE.as_bytes()[..40]);
}

#[test]
fn a_stale_revision_changes_no_byte() {
    // Likewise behind a torn end, which the next writer would put aside.
    let store = of(&THREE.as_bytes()[..THREE.len() - 5]);
    let before = all_bytes(&store);
    let mut log = EventLog::open(&store, "shop").unwrap();
    let mut writer = log.writer(&anna(), Duration::ZERO).unwrap();
    let error = writer.expect(1).unwrap_err();
    assert_eq!(error.code, Code::StaleRevision);
    assert_eq!(error.message, "`shop` is at revision 2, and not at 1 as expected");
    assert!(error.help.unwrap().contains("`cuvee instance log shop --since 1`"));
    assert_eq!(writer.expect(3).unwrap_err().code, Code::StaleRevision);
    writer.expect(2).unwrap();
    drop(writer);
    assert_eq!(all_bytes(&store), before);
}

#[test]
fn whoever_has_the_lock_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let stores: [&dyn Store; 2] = [&MemoryStore::new(1), &OsStore::new(directory.path())];
    for store in stores {
        let mut log = begin(store, &["one"]);
        let mut other = EventLog::open(store, "shop").unwrap();
        let writer = log.writer(&anna(), Duration::ZERO).unwrap();
        let bob = LockHolder { actor: "bob".to_owned(), process: 8 };
        let error = other.writer(&bob, Duration::from_millis(5)).err().unwrap();
        assert_eq!(error.code, Code::StoreLocked);
        assert_eq!(error.message, "`shop` is being written by `anna`, process 7");
        // Reading does not need the lock.
        assert_eq!(texts(store), ["one"]);
        drop(writer);
        assert!(other.writer(&bob, Duration::ZERO).is_ok());
    }
}

#[test]
fn a_key_counts_once_in_its_orchestration() {
    let store = MemoryStore::new(1);
    begin(&store, &["one"]);
    let events = [note("done")];
    let keyed = |orchestration, key| Draft {
        orchestration: Some(orchestration),
        key: Some(key),
        ..draft(&events)
    };
    let commit = |drafts: &[Draft<'_>]| {
        let mut log = EventLog::open(&store, "shop").unwrap();
        let committed = log.writer(&anna(), Duration::ZERO).unwrap().commit(drafts).unwrap();
        committed.iter().map(|one| (one.revision, one.repeated)).collect::<Vec<_>>()
    };
    assert_eq!(
        commit(&[keyed("1", "a"), keyed("1", "b"), keyed("1", "a")]),
        [(2, false), (3, false), (2, true)]
    );
    assert_eq!(commit(&[keyed("1", "b")]), [(3, true)]);
    assert_eq!(commit(&[keyed("2", "b"), keyed("1", "a")]), [(4, false), (2, true)]);
    // Outside of an orchestration, a key is not compared with earlier ones.
    let loose = Draft { key: Some("a"), ..draft(&events) };
    assert_eq!(commit(&[loose, loose]), [(5, false), (6, false)]);
}

#[test]
fn files_are_for_their_owner_only() {
    let directory = tempfile::tempdir().unwrap();
    let store = OsStore::new(directory.path().join("deep/store"));
    begin(&store, &["one"]);
    let shop = directory.path().join("deep/store/instances/shop");
    assert_eq!(texts(&store), ["one"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&shop), 0o700);
        assert_eq!(mode(&shop.join("log-1.ndjson")), 0o600);
        assert_eq!(mode(&shop.join("lock")), 0o600);
        // Everything that only reads works where nothing can be written.
        let log = shop.join("log-1.ndjson");
        std::fs::set_permissions(&log, std::fs::Permissions::from_mode(0o400)).unwrap();
        std::fs::set_permissions(&shop, std::fs::Permissions::from_mode(0o500)).unwrap();
        assert_eq!(texts(&store), ["one"]);
        std::fs::set_permissions(&shop, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
}
