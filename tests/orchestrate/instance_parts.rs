//! Tests reading only a part of an instance: the part says the same as the whole does, and so does
//! a record that is written from it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use cuvee::deploy::instance::{
    Draft, Event, EventLog, GroupInstance, InstanceLog, InstanceModel, InstanceReport,
    InstanceState, LockHolder, MemoryStore, ModelAt, ModelReading, NodeAdded, RecordAuthor,
    RecordOrigin, RelationAdded, ReportOutcome, Store, StoredInstance, TakenReports, Unwritten,
    ask_about_entity, begin_workflow, finish_workflow, read_model, read_states, view_entity,
};
use cuvee::diagnostic::Diagnostic;
use proptest::prelude::*;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Names of nodes. One looks like the identifier of another one, and one needs escapes.
const NODES: [&str; 6] = ["a", "b", "node.a", "b@1", "x.node.a", "\"q\""];

fn ann() -> LockHolder {
    LockHolder { actor: "ann".to_owned(), process: 1 }
}

fn author(holder: &LockHolder) -> RecordAuthor<'_> {
    let (timeout, origin) = (Duration::ZERO, RecordOrigin::Orchestrator);
    RecordAuthor { holder, timeout, time: jiff::Timestamp::UNIX_EPOCH, origin }
}

/// An instance without any node.
fn begun() -> MemoryStore {
    let store = MemoryStore::new(1);
    let events = [Event::InstanceCreated {
        lineage: "l".into(),
        uri: "cuvee:default/default/shop".into(),
        secrets: Default::default(),
        sensitive: Vec::new(),
    }];
    let draft = Draft {
        time: jiff::Timestamp::UNIX_EPOCH,
        actor: "ann",
        origin: RecordOrigin::Client,
        orchestration: None,
        key: None,
        events: &events,
    };
    EventLog::create(&store, "shop", &ann(), Duration::ZERO, |writer| writer.commit(&[draft]))
        .unwrap();
    store
}

/// An event for two nodes. Whether it is possible is only checked when it is recorded.
fn happen(record: &mut Unwritten<'_>, what: usize, one: &str, other: &str) {
    let (id, to): (Arc<str>, Arc<str>) = (one.into(), other.into());
    let entity: Arc<str> = format!("node.{one}").into();
    let (name, value): (Arc<str>, _) = ("v".into(), Some(other.into()));
    let event = match what {
        0 | 1 => {
            let mut added = NodeAdded::default();
            (added.id, added.type_name) = (id, "T".into());
            added.requirements = vec!["r".into()];
            Event::NodeAdded(Box::new(added))
        }
        2 => Event::NodeRemoved { id },
        3 => Event::NodeRenamed { id, to },
        4..=6 => {
            let mut added = RelationAdded::default();
            (added.source, added.requirement, added.target) = (id, "r".into(), Some(to));
            added.position = u32::try_from(what).unwrap();
            Event::RelationAdded(Box::new(added))
        }
        7 => Event::RelationRemoved { source: id, requirement: "r".into(), target: Some(to) },
        8 => Event::Attribute { entity, capability: None, name, value },
        9 => Event::Property { entity, name, value },
        10 => Event::Linked { entity, name, uri: Some(to) },
        11 => Event::Note { entity: Some(entity), text: to, level: None },
        12 => {
            let mut group = GroupInstance::default();
            group.members = vec![id, to];
            Event::Group { name: "g".into(), value: Some(group) }
        }
        13 => Event::Output { name, value },
        14 => Event::NodeAdopted { id, type_name: "T".into() },
        15 => return drop(begin_workflow(record, "w")),
        16 => return drop(finish_workflow(record, ReportOutcome::Done)),
        17 => Event::StepStarted { step: id },
        18 => {
            let entity = format!("relation.r@4.node.{one}").into();
            let (from, to) = (InstanceState::default(), InstanceState::named("creating"));
            Event::State { entity, from, to, skipped: Vec::new(), forced: false }
        }
        _ => {
            let Some(node) = record.model().nodes.get(one) else { return };
            let (from, to) = (node.state.clone(), InstanceState::named(other));
            Event::State { entity, from, to, skipped: Vec::new(), forced: true }
        }
    };
    let _ = record.add(event);
}

/// A store with copies of the files.
fn copied(store: &MemoryStore) -> MemoryStore {
    let copy = MemoryStore::new(1);
    copy.create("shop").unwrap();
    for file in store.files("shop").unwrap() {
        let mut bytes = Vec::new();
        store.read("shop", &file.name, 0).unwrap().read_to_end(&mut bytes).unwrap();
        copy.replace("shop", &file.name, &bytes).unwrap();
    }
    copy
}

fn log_text(store: &MemoryStore) -> String {
    let mut text = String::new();
    store.read("shop", "log-1.ndjson", 0).unwrap().read_to_string(&mut text).unwrap();
    text
}

fn words(said: Result<impl serde::Serialize, Diagnostic>) -> String {
    match said {
        Ok(said) => serde_json::to_string(&said).unwrap(),
        Err(error) => format!("{} {:?}", error.message, error.help),
    }
}

fn check_reading(store: &MemoryStore, at: ModelAt) {
    let whole = read_model(store, "shop", at).unwrap();
    let names = NODES
        .iter()
        .flat_map(|id| [id.to_string(), format!("node.{id}"), format!("relation.r@4.node.{id}")]);
    for entity in names.chain(["g".to_owned(), "group.g".to_owned(), "c".to_owned()]) {
        let reading = ModelReading::default();
        let view = |model: &InstanceModel| view_entity(model, &entity, &reading);
        let part = ask_about_entity(store, "shop", at, &entity, &view);
        assert_eq!(words(part), words(view(&whole)), "{entity}");
    }
    let heads = read_states(store, "shop", at).unwrap();
    let states = |model: &InstanceModel| {
        let nodes = model.nodes.iter();
        nodes.map(|(id, node)| format!("{id}: {}", node.state)).collect::<Vec<_>>()
    };
    assert_eq!(states(&heads), states(&whole));
    let open = |model: &InstanceModel| model.orchestration.as_ref().map(|open| open.id);
    let head = |model: &InstanceModel| (model.revision, model.structure, open(model));
    assert_eq!(head(&heads), head(&whole));
}

fn check_recording(store: &MemoryStore, node: &str, key: Option<&str>) {
    let report =
        json!({"node": node, "state": "creating", "note": "n", "links": {"l": "u"}, "key": key});
    let mut report = report;
    if key.is_none() {
        report.as_object_mut().unwrap().remove("key");
    }
    let report = InstanceReport::parse(&report.to_string()).unwrap();
    let (holder, taking) = (ann(), TakenReports { undeclared: false, force: true });
    let (one, other) = (copied(store), copied(store));
    let said = |result: Result<_, cuvee::Failure>| {
        let words = |it: cuvee::deploy::instance::RecordedChange<_>| {
            format!("{:?} {} {} {}", it.result, it.revision, it.structure, it.is_written)
        };
        result.map(words).unwrap_or_else(|failure| failure.to_string())
    };
    let whole =
        StoredInstance::open(&one, "shop").unwrap().record(&report, &author(&holder), taking);
    let part = StoredInstance::record_one(&other, "shop", &report, &author(&holder), taking);
    assert_eq!(said(part), said(whole));
    assert_eq!(log_text(&other), log_text(&one));
}

proptest! {
    /// For any events, and snapshots at any revisions.
    #[test]
    fn a_part_says_what_the_whole_says(
        events in proptest::collection::vec((0..22_usize, 0..6_usize, 0..6_usize, 0..8_u8), 1..60),
    ) {
        let store = begun();
        let holder = ann();
        let mut log = InstanceLog::open(&store, "shop").unwrap();
        for (number, (what, one, other, then)) in events.into_iter().enumerate() {
            let key = (then == 1).then(|| format!("k{number}"));
            let happens = |record: &mut Unwritten<'_>| {
                happen(record, what, NODES[one], NODES[other]);
                Ok(())
            };
            log.change(&author(&holder), None, key.as_deref(), |record, _| happens(record)).unwrap();
            if then == 0 {
                log.compact(&author(&holder)).unwrap();
            }
        }
        let last = log.model().revision;
        check_reading(&store, ModelAt::Latest);
        check_reading(&store, ModelAt::Revision(last.div_ceil(2)));
        prop_assert_eq!(&read_model(&store, "shop", ModelAt::Latest).unwrap(), log.model());
        for (node, key) in [("a", None), ("node.a", Some("k1")), ("x.node.a", Some("k9")), ("c", None)] {
            check_recording(&store, node, key);
        }
    }
}
