//! Tests instances that are deep, wide or long: commands end, and twice the size takes twice the
//! work, measured in bytes that a store reads and writes.

use cuvee::Resolver;
use cuvee::deploy::instance::{
    Draft, Event, EventLog, InstanceLog, InstancePlanQuery, InstanceQuery, InstanceSettings,
    LockAttempt, LockHolder, Locking, MemoryStore, ModelAt, ModelReading, RecordAuthor,
    RecordOrigin, ReportRules, ReportStream, Store, StoreReader, StoredFile, StoredInstance,
    TakenReports, ask_about_entity, begin_workflow, view_entity,
};
use cuvee::output::draw::plan::PlanDocument;
use cuvee::source::FileId;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{SIZE, plain};

/// A store that counts the bytes that it reads and writes.
struct CountingStore {
    store: MemoryStore,
    bytes: AtomicU64,
}

/// A reader that counts the bytes that it reads.
struct CountedRead<'s> {
    source: StoreReader<'s>,
    bytes: &'s AtomicU64,
}

impl Read for CountedRead<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl CountingStore {
    fn new() -> Self {
        Self { store: MemoryStore::new(1), bytes: AtomicU64::new(0) }
    }

    fn count(&self, bytes: &[u8]) {
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
    }

    /// The number of bytes since the last call.
    fn taken(&self) -> u64 {
        self.bytes.swap(0, Ordering::Relaxed)
    }
}

impl Store for CountingStore {
    fn instances(&self) -> io::Result<Vec<String>> {
        self.store.instances()
    }

    fn files(&self, instance: &str) -> io::Result<Vec<StoredFile>> {
        self.store.files(instance)
    }

    fn read(&self, instance: &str, file: &str, from: u64) -> io::Result<StoreReader<'_>> {
        let source = self.store.read(instance, file, from)?;
        Ok(Box::new(CountedRead { source, bytes: &self.bytes }))
    }

    fn create(&self, instance: &str) -> io::Result<()> {
        self.store.create(instance)
    }

    fn append(&self, instance: &str, file: &str, bytes: &[u8]) -> io::Result<()> {
        self.count(bytes);
        self.store.append(instance, file, bytes)
    }

    fn replace(&self, instance: &str, file: &str, bytes: &[u8]) -> io::Result<()> {
        self.count(bytes);
        self.store.replace(instance, file, bytes)
    }

    fn truncate(&self, instance: &str, file: &str, length: u64) -> io::Result<()> {
        self.store.truncate(instance, file, length)
    }

    fn remove(&self, instance: &str, file: &str) -> io::Result<()> {
        self.store.remove(instance, file)
    }

    fn sync(&self, instance: &str, file: &str) -> io::Result<()> {
        self.store.sync(instance, file)
    }

    fn remove_instance(&self, instance: &str) -> io::Result<()> {
        self.store.remove_instance(instance)
    }

    fn try_lock(&self, instance: &str, holder: &LockHolder) -> io::Result<LockAttempt<'_>> {
        self.store.try_lock(instance, holder)
    }

    fn locking(&self, instance: &str) -> io::Result<Locking> {
        self.store.locking(instance)
    }

    fn random(&self) -> io::Result<[u8; 32]> {
        self.store.random()
    }

    fn place(&self, instance: &str, file: &str) -> String {
        self.store.place(instance, file)
    }
}

fn ann() -> LockHolder {
    LockHolder { actor: "ann".to_owned(), process: 1 }
}

fn author(holder: &LockHolder) -> RecordAuthor<'_> {
    let (timeout, origin) = (Duration::ZERO, RecordOrigin::Orchestrator);
    RecordAuthor { holder, timeout, time: jiff::Timestamp::UNIX_EPOCH, origin }
}

/// A template in which each node needs the nodes that `targets` gives.
fn template(size: usize, targets: impl Fn(usize) -> Range<usize>) -> String {
    let node = |at: usize| {
        let needed: Vec<_> = targets(at).map(|to| format!("dependency: n_{to}")).collect();
        format!("    n_{at}: {{type: tosca.nodes.Root, requirements: [{}]}}\n", needed.join(", "))
    };
    let header =
        "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n";
    header.to_owned() + &(0..size).map(node).collect::<String>()
}

/// Creates an instance of the template, and deploys all of it by its plan.
fn deployed(store: &CountingStore, template: String) {
    let (holder, settings) = (ann(), InstanceSettings::default());
    let resolver = Resolver::from_text("t.yaml", template);
    resolver.init_instance(store, "shop", &settings, &author(&holder)).unwrap();
    let mut instance = StoredInstance::open(store, "shop").unwrap();
    let query = InstancePlanQuery { name: "shop".to_owned(), ..InstancePlanQuery::default() };
    let plan = instance.plan_repair(&query).unwrap();
    let document = PlanDocument::of(&plan.result, &plan.sources, false);
    let document = serde_json::to_string(&document).unwrap();
    let document = format!(r#"{{"version":1,{}"#, &document[1..]);
    let left = instance.apply(&document, &author(&holder), None, true).unwrap().result;
    assert!(left.is_empty(), "{left:?}");
}

/// How many nodes a path selects.
fn found(store: &CountingStore, path: &str) -> usize {
    let instance = StoredInstance::open(store, "shop").unwrap();
    let query = InstanceQuery::parse(path, FileId::DETACHED).unwrap();
    query.run(instance.model(), &ModelReading::default()).unwrap().rows.len()
}

/// Asserts that twice the size takes at most a little more than twice the work.
fn assert_linear(name: &str, half: u64, whole: u64) {
    assert!(whole <= half * 22 / 10, "{name}: {half} bytes, at twice the size {whole}");
}

#[test]
fn deep_instances() {
    let next = |size: usize| move |at: usize| at + 1..size.min(at + 2);
    let store = CountingStore::new();
    deployed(&store, template(SIZE, next(SIZE)));
    assert_eq!(found(&store, "nodes[state=started]/state"), SIZE);
    assert_eq!(found(&store, "nodes/n_0->>dependency"), SIZE - 1);
    let work = |size: usize| {
        let store = CountingStore::new();
        deployed(&store, template(size, next(size)));
        store.taken()
    };
    assert_linear("a chain", work(SIZE / 20), work(SIZE / 10));
}

#[test]
fn wide_instances() {
    // Half of the nodes need the first one, which needs the other half.
    let hub = |size: usize| {
        move |at: usize| match at {
            0 => 1..size / 2,
            _ if at < size / 2 => 0..0,
            _ => 0..1,
        }
    };
    let store = CountingStore::new();
    deployed(&store, template(2 * SIZE, hub(2 * SIZE)));
    assert_eq!(found(&store, "nodes/n_0<-dependency"), SIZE);
    assert_eq!(found(&store, "nodes/n_0->dependency"), SIZE - 1);
    let reading = ModelReading::default();
    let ends = |id: &str| {
        let view = ask_about_entity(&store, "shop", ModelAt::Latest, id, &|model| {
            view_entity(model, id, &reading)
        });
        view.map(|view| (view.incoming.len(), view.relations.len())).unwrap()
    };
    assert_eq!((ends("n_0"), ends("n_1")), ((SIZE, SIZE - 1), (1, 0)));
    let work = |size: usize| {
        let store = CountingStore::new();
        deployed(&store, template(size, hub(size)));
        store.taken()
    };
    assert_linear("a star", work(SIZE / 20), work(SIZE / 10));
}

/// Adds `count` reports of one node, each with a key of its own, during an orchestration.
fn reported(store: &CountingStore, count: usize) {
    let holder = ann();
    let events = [Event::NodeAdopted { id: "db".into(), type_name: "Db".into() }];
    let draft = Draft {
        time: jiff::Timestamp::UNIX_EPOCH,
        actor: "ann",
        origin: RecordOrigin::Client,
        orchestration: None,
        key: None,
        events: &events,
    };
    EventLog::create(store, "shop", &holder, Duration::ZERO, |writer| writer.commit(&[draft]))
        .unwrap();
    let mut log = InstanceLog::open(store, "shop").unwrap();
    log.change(&author(&holder), None, None, |record, _| begin_workflow(record, "w")).unwrap();
    let mut stream = ReportStream::new(ReportRules::default(), None);
    let line = |number: usize| {
        format!(r#"{{"node":"db","attributes":{{"load":{number}}},"key":"{number}"}}"#)
    };
    let lines: Vec<_> = (0..count).map(line).collect();
    for group in lines.chunks(1_000) {
        let answers = stream.group(&mut log, &author(&holder), group).unwrap();
        assert!(answers.iter().all(|answer| answer.ok));
    }
}

/// Values of one node, and nodes of a type without a definition: what is looked for by its name is
/// not looked for among all others.
#[test]
fn wide_nodes() {
    let holder = ann();
    for name in ["properties of a node", "properties that no type has", "inputs and outputs"] {
        let store = MemoryStore::new(1);
        let text = plain::template(name, 3 * SIZE).unwrap();
        let resolver = Resolver::from_text("t.yaml", text);
        let settings = InstanceSettings::default();
        let made = resolver.init_instance(&store, "shop", &settings, &author(&holder)).unwrap();
        let nodes = made.result.nodes.values();
        let values = nodes.map(|node| node.properties.len()).sum::<usize>();
        assert_eq!(values + made.result.inputs.len(), 3 * SIZE, "{name}");
    }
}

#[test]
fn long_instances() {
    const REPORTS: usize = 100_000;
    let work = |count: usize| {
        let store = CountingStore::new();
        reported(&store, count);
        (store.taken(), store)
    };
    let ((half, _), (whole, store)) = (work(REPORTS / 2), work(REPORTS));
    assert_linear("reports of a node", half, whole);
    let last = InstanceLog::open(&store, "shop").unwrap();
    assert_eq!(last.model().revision, REPORTS as u64 + 2);
    // A repeated report is recognised by its key, and only reads the log behind the last snapshot.
    let holder = ann();
    let again = |key: usize| {
        let text = format!(r#"{{"node":"db","note":"again","key":"{key}"}}"#);
        let report = cuvee::deploy::instance::InstanceReport::parse(&text).unwrap();
        let taking = TakenReports::default();
        StoredInstance::record_one(&store, "shop", &report, &author(&holder), taking).unwrap()
    };
    assert!(!again(5).is_written && !again(REPORTS - 1).is_written && again(REPORTS).is_written);
}
