//! Laws of stores and logs that hold for any bytes.

use super::{add, all_bytes, anna, draft, note};
use cuvee::deploy::instance::{
    Event, EventLog, LockAttempt, MemoryStore, OsStore, Store, StoreLock, salvage, verify,
};
use cuvee::diagnostic::{Code, Diagnostic};
use proptest::prelude::*;
use std::io;
use std::time::Duration;

/// A change of a file, at some place of it.
#[derive(Clone, Debug)]
enum Edit {
    Flip(usize, u8),
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
    /// Zeros, which file systems give where nothing was written.
    Zero(usize, usize),
    Cut(usize),
    Copy(usize, usize, usize),
    Line(usize),
    All(Vec<u8>),
}

impl Edit {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len().max(1);
        let at = |at: usize| (at % length).min(bytes.len());
        let range = |from: usize, many: usize| at(from)..(at(from) + many % 200).min(bytes.len());
        match self {
            Self::Flip(place, by) => {
                let place = at(*place);
                bytes.get_mut(place).into_iter().for_each(|byte| *byte ^= by);
            }
            Self::Insert(place, new) => {
                let place = at(*place);
                bytes.splice(place..place, new.iter().copied());
            }
            Self::Remove(from, many) => drop(bytes.drain(range(*from, *many))),
            Self::Zero(from, many) => {
                let range = range(*from, *many);
                bytes[range].fill(0);
            }
            Self::Cut(place) => {
                let place = at(*place);
                bytes.truncate(place);
            }
            Self::Copy(from, many, to) => {
                let (copied, to) = (bytes[range(*from, *many)].to_vec(), at(*to));
                bytes.splice(to..to, copied);
            }
            Self::Line(which) => {
                let mut lines: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
                if !lines.is_empty() {
                    lines.remove(which % lines.len());
                }
                *bytes = lines.concat();
            }
            Self::All(new) => bytes.clone_from(new),
        }
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    let place = any::<usize>;
    let bytes = || prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..50);
    prop_oneof![
        (place(), 1..=255u8).prop_map(|(at, by)| Edit::Flip(at, by)),
        (place(), bytes()).prop_map(|(at, new)| Edit::Insert(at, new)),
        (place(), place()).prop_map(|(from, many)| Edit::Remove(from, many)),
        (place(), place()).prop_map(|(from, many)| Edit::Zero(from, many)),
        place().prop_map(Edit::Cut),
        (place(), place(), place()).prop_map(|(from, many, to)| Edit::Copy(from, many, to)),
        place().prop_map(Edit::Line),
        bytes().prop_map(Edit::All),
    ]
}

/// An instance with nine records in some segments, and perhaps a snapshot of the fifth.
fn nine(has_snapshot: bool) -> MemoryStore {
    let store = MemoryStore::new(1);
    let shared = store.clone();
    let mut log = super::begin(&shared, &["1"]).with_segments(450);
    let mut writer = log.writer(&anna(), Duration::ZERO).unwrap();
    for number in 2..=9 {
        writer.commit(&[draft(&[note(&number.to_string())])]).unwrap();
        if number == 5 && has_snapshot {
            writer.write_snapshot((1..=5).map(|number| (format!("n{number}"), number))).unwrap();
        }
    }
    store
}

/// What a reader knows: numbers, from the snapshot and then from the log.
fn model(store: &dyn Store) -> Result<Vec<u64>, Diagnostic> {
    let mut log = EventLog::open(store, "shop")?;
    let mut model = Vec::new();
    if let Some(snapshot) = log.snapshot() {
        snapshot.entries("n", &mut |key, value| {
            assert_eq!(format!("n{value}"), key);
            model.push(value.parse().unwrap());
            Ok(())
        })?;
        assert_eq!(model.len() as u64, snapshot.revision());
    }
    while let Some(record) = log.next_record()? {
        match &record.events()?[..] {
            [Event::Note { text, .. }] => model.push(text.parse().unwrap()),
            [Event::LogRecovered { .. }] => {}
            other => unreachable!("{other:?}"),
        }
    }
    Ok(model)
}

/// Nine lines of which some are removed, repeated or exchanged.
fn lines() -> impl Strategy<Value = Vec<usize>> {
    let edits = prop::collection::vec((0..3u8, 0..9usize, 0..9usize), 0..3);
    edits.prop_map(|edits| {
        let mut lines: Vec<_> = (0..9).collect();
        for (edit, one, other) in edits {
            let (one, other) = (one % lines.len(), other % lines.len());
            match edit {
                0 => drop(lines.remove(one)),
                1 => lines.insert(one, lines[other]),
                _ => lines.swap(one, other),
            }
        }
        lines
    })
}

/// Whether an error has a code and a place that a user can act on.
fn is_placed(error: &Diagnostic) -> bool {
    let codes = [Code::StoreCorrupt, Code::StoreVersion, Code::UnknownInstance];
    let is_placed = error.code == Code::UnknownInstance || error.message.contains("`shop/");
    codes.iter().any(|&code| error.code == code) && is_placed && error.help.is_some()
}

proptest! {
    /// Reading an edited log gives an error with a place, or the log as of some revision. A writer
    /// goes on from there, or changes nothing.
    #[test]
    fn edits_are_found(
        has_snapshot: bool,
        edits in prop::collection::vec((any::<prop::sample::Index>(), edit()), 1..4),
    ) {
        let store = nine(has_snapshot);
        for (file, edit) in &edits {
            let files = store.files("shop").unwrap();
            let file = &file.get(&files).name;
            let mut bytes = super::bytes(&store, file);
            edit.apply(&mut bytes);
            store.replace("shop", file, &bytes).unwrap();
        }
        let before = all_bytes(&store);
        let found = model(&store);
        prop_assert_eq!(&all_bytes(&store), &before, "reading changes nothing");
        let verified = verify(&store, "shop", &mut |_| Ok(())).unwrap();
        let saved = MemoryStore::new(2);
        let salvaged = salvage((&store, "shop"), (&saved, "shop"), &anna(), Duration::ZERO);
        if let Ok(salvaged) = salvaged {
            prop_assert_eq!(salvaged.revision, verified.revision);
            let numbers: Vec<_> = (1..=salvaged.revision).collect();
            prop_assert_eq!(model(&saved).unwrap(), numbers);
        }
        match found {
            Ok(model) => {
                let numbers: Vec<_> = (1..=model.len() as u64).collect();
                prop_assert_eq!(&model, &numbers);
                add(&store, "10").unwrap();
                prop_assert_eq!(self::model(&store).unwrap(), [&model[..], &[10]].concat());
                let aside = all_bytes(&store).into_iter().filter(|it| it.0.starts_with("torn-"));
                for (name, bytes) in aside {
                    prop_assert!(!bytes.contains(&b'\n'), "{} may be acknowledged", name);
                }
            }
            Err(error) => {
                prop_assert!(is_placed(&error), "{:?}", error);
                if error.code == Code::StoreCorrupt && !error.message.contains("snapshot") {
                    prop_assert!(add(&store, "10").is_err());
                    prop_assert_eq!(&all_bytes(&store), &before, "nothing is written");
                }
            }
        }
    }

    /// Lines that are missing, repeated or in another order are found, wherever they are. Only those
    /// at the end can be missing unnoticed.
    #[test]
    fn holes_are_found(order in lines()) {
        let store = MemoryStore::new(1);
        super::begin(&store, &["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
        let log = super::bytes(&store, "log-1.ndjson");
        let lines: Vec<_> = log.split_inclusive(|byte| *byte == b'\n').collect();
        let edited: Vec<_> = order.iter().map(|&line| lines[line]).collect();
        store.replace("shop", "log-1.ndjson", &edited.concat()).unwrap();
        let wrong = order.iter().enumerate().position(|(at, &line)| at != line);
        match (wrong, model(&store)) {
            (None, found) => prop_assert_eq!(found.unwrap().len(), order.len()),
            (Some(wrong), found) => {
                let error = found.unwrap_err();
                prop_assert_eq!(error.code, Code::StoreCorrupt);
                let place = format!("`shop/log-1.ndjson:{}` ", wrong + 1);
                prop_assert!(error.message.starts_with(&place), "{}: {}", place, error.message);
            }
        }
    }

    /// Both stores give the same answers.
    #[test]
    fn stores_are_alike(operations in prop::collection::vec(operation(), 1..40)) {
        let directory = tempfile::tempdir().unwrap();
        let (memory, disk) = (MemoryStore::new(1), OsStore::new(directory.path()));
        let (mut memory_locks, mut disk_locks) = Default::default();
        for operation in &operations {
            let there = operation.run(&memory, &mut memory_locks);
            let here = operation.run(&disk, &mut disk_locks);
            prop_assert_eq!(there, here, "{:?}", operation);
        }
    }
}

/// A call of a store, with one of two instances and three files.
#[derive(Clone, Debug)]
enum Operation {
    Create(bool),
    Instances,
    Files(bool),
    Read(bool, u8, u64),
    Append(bool, u8, Vec<u8>),
    Replace(bool, u8, Vec<u8>),
    Truncate(bool, u8, u64),
    Remove(bool, u8),
    Sync(bool, u8),
    RemoveInstance(bool),
    Lock(bool),
    Unlock,
}

fn operation() -> impl Strategy<Value = Operation> {
    let file = || 0..3u8;
    let bytes = || prop::collection::vec(any::<u8>(), 0..20);
    let instance = any::<bool>;
    prop_oneof![
        4 => instance().prop_map(Operation::Create),
        1 => Just(Operation::Instances),
        3 => instance().prop_map(Operation::Files),
        3 => (instance(), file(), 0..30u64).prop_map(|(one, file, from)| Operation::Read(one, file, from)),
        5 => (instance(), file(), bytes()).prop_map(|(one, file, new)| Operation::Append(one, file, new)),
        3 => (instance(), file(), bytes()).prop_map(|(one, file, new)| Operation::Replace(one, file, new)),
        2 => (instance(), file(), 0..30u64).prop_map(|(one, file, to)| Operation::Truncate(one, file, to)),
        2 => (instance(), file()).prop_map(|(one, file)| Operation::Remove(one, file)),
        1 => (instance(), file()).prop_map(|(one, file)| Operation::Sync(one, file)),
        1 => instance().prop_map(Operation::RemoveInstance),
        2 => instance().prop_map(Operation::Lock),
        1 => Just(Operation::Unlock),
    ]
}

impl Operation {
    /// Makes the call, and gives the answer in words.
    fn run<'s>(
        &self,
        store: &'s dyn Store,
        locks: &mut Vec<Box<dyn StoreLock + 's>>,
    ) -> Result<String, io::ErrorKind> {
        let name = |one: bool| if one { "one" } else { "other" };
        let file = |file: u8| ["log-1.ndjson", "key", "blobs/template"][usize::from(file)];
        let done = |done: io::Result<()>| done.map(|()| String::new());
        let said = match self {
            Self::Create(one) => done(store.create(name(*one))),
            Self::Instances => store.instances().map(|all| format!("{all:?}")),
            Self::Files(one) => store.files(name(*one)).map(|all| format!("{all:?}")),
            Self::Read(one, which, from) => {
                let mut bytes = Vec::new();
                store
                    .read(name(*one), file(*which), *from)
                    .and_then(|mut source| source.read_to_end(&mut bytes))
                    .map(|_| format!("{bytes:?}"))
            }
            Self::Append(one, which, new) => done(store.append(name(*one), file(*which), new)),
            Self::Replace(one, which, new) => done(store.replace(name(*one), file(*which), new)),
            Self::Truncate(one, which, to) => done(store.truncate(name(*one), file(*which), *to)),
            Self::Remove(one, which) => done(store.remove(name(*one), file(*which))),
            Self::Sync(one, which) => done(store.sync(name(*one), file(*which))),
            Self::RemoveInstance(one) => done(store.remove_instance(name(*one))),
            Self::Lock(one) => store.try_lock(name(*one), &anna()).map(|attempt| match attempt {
                LockAttempt::Held(lock) => {
                    locks.push(lock);
                    "held".to_owned()
                }
                LockAttempt::Busy(holder) => format!("{holder:?}"),
            }),
            Self::Unlock => {
                locks.pop();
                Ok(String::new())
            }
        };
        said.map_err(|why| why.kind())
    }
}
