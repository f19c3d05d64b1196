//! Measures commands on an instance of 10,000 nodes with 20,000 relations and ten values each, and
//! on a log of a million records. Each command is a process of its own; its time is printed beside
//! the goal.

use super::{Measured, plain, told};
use cuvee::deploy::instance::{
    Draft, Event, EventLog, LockHolder, ModelAt, OsStore, RecordOrigin, read_model,
};
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const NODES: usize = 10_000;
/// The number of records in the long log.
const RECORDS: usize = 1_000_000;
/// The number of records behind the snapshot.
const TAIL: usize = 5_000;
/// The number of reports in a measured stream.
const REPORTS: usize = 200_000;
/// How many runs are made; the fastest counts.
const RUNS: usize = 5;

/// The argument with which a process reads a log, and prints how long that took and how much
/// memory.
pub(super) const REPLAY: &str = "replay";

/// What is measured, its goal, and how to measure it.
type Row = (&'static str, &'static str, fn(&Load) -> Result<String, Box<dyn Error>>);

const ROWS: [Row; 18] = [
    ("a process that does nothing", "", |load| load.command(&["--version"])),
    ("a write of 200 bytes, synced", "", Load::sync),
    ("init, beside resolving", "200 ms", Load::init),
    ("init, a node with 100,000 properties", "2 s", Load::init_wide),
    ("record --stream, attributes", "100,000/s", |load| load.stream(false)),
    ("record --stream, attributes and keys", "100,000/s", |load| load.stream(true)),
    ("record a note, snapshot and tail", "15 ms + sync", |load| load.record(&["--note", "NOW"])),
    ("record a state, snapshot and tail", "15 ms + sync", Load::state),
    ("record an attribute, snapshot and tail", "15 ms + sync", |load| {
        load.record(&["--attribute", "a_1=NOW"])
    }),
    ("show of one node", "15 ms", |load| load.command(&["instance", "show", "large", "n_4321"])),
    ("list", "", |load| load.command(&["instance", "list"])),
    ("query over all nodes", "100 ms", |load| {
        load.command(&["instance", "query", "large", "nodes[state=started]/attributes/a_1"])
    }),
    ("plan, 1 % changed", "400 ms", |load| load.plan("some.yaml")),
    ("plan, 100 % changed", "1.5 s", |load| load.plan("all.yaml")),
    ("export, YAML", "600 ms", |load| load.command(&["instance", "export", "large"])),
    ("replay of 1,000,000 records", "3 s, 300 MB", Load::replayed),
    ("log --entity over them", "600 ms", |load| {
        load.command(&["instance", "log", "long", "--entity", "n_4321"])
    }),
    ("record a note behind them", "", |load| {
        load.timed(&["instance", "record", "long", "n_1", "--note", "x"], 1)
    }),
];

/// Prints a row for each task whose name contains `wanted`.
pub(super) fn measure(wanted: Option<&str>) -> Measured {
    let mut rows =
        ROWS.iter().filter(|(name, ..)| wanted.is_none_or(|wanted| name.contains(wanted)));
    let Some(first) = rows.next() else { return Ok(()) };
    let load = Load::prepare()?;
    for (name, goal, row) in std::iter::once(first).chain(rows) {
        println!("{name:<42} {:<24} {goal:>14}", row(&load)?);
    }
    Ok(())
}

/// Reads a log from its beginning, as a process of its own.
pub(super) fn replay(directory: &Path) -> Measured {
    let start = Instant::now();
    let model = read_model(&OsStore::new(directory), "long", ModelAt::Latest).map_err(told)?;
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(model.nodes.len(), NODES);
    println!("{:>9.0} ms {:>6.0} MB", seconds * 1e3, super::measured::peak_memory() as f64 / 1e6);
    Ok(())
}

/// A directory with a store of two instances.
struct Load(tempfile::TempDir);

impl Load {
    /// Makes `large`, with a snapshot and records behind it, and `long`, without a snapshot.
    fn prepare() -> Result<Self, Box<dyn Error>> {
        // The directory is on the disk of the builds: in a file system in memory, syncing would
        // cost nothing.
        let load = Self(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?);
        for (name, every) in [("now.yaml", None), ("some.yaml", Some(100)), ("all.yaml", Some(1))] {
            fs::write(load.0.path().join(name), template(every))?;
        }
        for name in ["large", "long"] {
            load.run(&["instance", "init", name, "now.yaml"], "")?;
            load.run(&["instance", "begin", name, "--workflow", "load"], "")?;
            load.run(
                &["instance", "record", name, "--stream"],
                &all(|node| {
                    let values: Vec<_> =
                        (0..5).map(|value| format!("\"a_{value}\":{node}")).collect();
                    format!(
                        r#"{{"node":"n_{node}","state":"started","attributes":{{{}}}}}"#,
                        values.join(",")
                    )
                }),
            )?;
            load.run(&["instance", "finish", name, "--outcome", "done"], "")?;
        }
        load.run(&["instance", "compact", "large"], "")?;
        load.run(&["instance", "record", "large", "--stream"], &attributes(0, TAIL, None))?;
        load.fill()?;
        Ok(load)
    }

    /// Extends the log of `long` to a million records, without a snapshot.
    fn fill(&self) -> Measured {
        const GROUP: usize = 1_000;
        let store = OsStore::new(self.store());
        let holder = LockHolder { actor: "monitor".to_owned(), process: std::process::id() };
        let mut log = EventLog::open(&store, "long").map_err(told)?;
        let mut writer = log.writer(&holder, Duration::ZERO).map_err(told)?;
        while writer.next_record().map_err(told)?.is_some() {}
        for group in 0..RECORDS / GROUP {
            let event = |number: usize| {
                [Event::Attribute {
                    entity: format!("node.n_{}", number % NODES).into(),
                    capability: None,
                    name: format!("a_{}", number % 5).into(),
                    value: Some((number as i64).into()),
                }]
            };
            let events: Vec<_> = (0..GROUP).map(|number| event(group * GROUP + number)).collect();
            let draft = |events| Draft {
                time: jiff::Timestamp::UNIX_EPOCH,
                actor: "monitor",
                origin: RecordOrigin::Orchestrator,
                orchestration: None,
                key: None,
                events,
            };
            let drafts: Vec<_> = events.iter().map(|events| draft(events)).collect();
            writer.commit(&drafts).map_err(told)?;
        }
        for file in fs::read_dir(self.store().join("instances/long"))? {
            let path = file?.path();
            let is_snapshot = path
                .file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("snapshot-"));
            if is_snapshot {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    fn store(&self) -> PathBuf {
        self.0.path().join("store")
    }

    /// The time that a command takes with this input.
    fn run(&self, words: &[&str], input: &str) -> Result<Duration, Box<dyn Error>> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cuvee"));
        command.current_dir(self.0.path()).env("CUVEE_STORE", self.store()).args(words);
        let start = Instant::now();
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let stdin = child.stdin.take();
        let output = std::thread::scope(|scope| {
            scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
            child.wait_with_output()
        })?;
        let time = start.elapsed();
        match output.status.success() {
            true => Ok(time),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
        }
    }

    fn command(&self, words: &[&str]) -> Result<String, Box<dyn Error>> {
        self.timed(words, RUNS)
    }

    fn timed(&self, words: &[&str], runs: usize) -> Result<String, Box<dyn Error>> {
        let times: Result<Vec<_>, _> = (0..runs).map(|_| self.run(words, "")).collect();
        Ok(millis(times?.into_iter().min().unwrap_or_default()))
    }

    /// Measures what a disk needs to make a record durable.
    fn sync(&self) -> Result<String, Box<dyn Error>> {
        let mut file = fs::File::create(self.0.path().join("synced"))?;
        let mut times = Vec::new();
        for _ in 0..4 * RUNS {
            let start = Instant::now();
            file.write_all(&[b'x'; 200])?;
            file.sync_data()?;
            times.push(start.elapsed());
        }
        times.sort_unstable();
        Ok(millis(times[times.len() / 2]))
    }

    fn init(&self) -> Result<String, Box<dyn Error>> {
        let mut best = [Duration::MAX; 2];
        for run in 0..RUNS {
            let name = format!("new-{run}");
            let resolving = self.run(&["resolve", "now.yaml"], "")?;
            let beginning = self.run(&["instance", "init", &name, "now.yaml"], "")?;
            best = [best[0].min(resolving), best[1].min(beginning)];
        }
        let [resolving, beginning] = best;
        Ok(format!(
            "{} (of {:.0})",
            millis(beginning.saturating_sub(resolving)),
            beginning.as_secs_f64() * 1e3
        ))
    }

    /// Measures a process that makes an instance of one node with many properties.
    fn init_wide(&self) -> Result<String, Box<dyn Error>> {
        let text = plain::template("properties of a node", 100_000).unwrap_or_default();
        fs::write(self.0.path().join("wide.yaml"), text)?;
        let run =
            |run: usize| self.run(&["instance", "init", &format!("wide-{run}"), "wide.yaml"], "");
        let times: Result<Vec<_>, _> = (0..RUNS).map(run).collect();
        Ok(millis(times?.into_iter().min().unwrap_or_default()))
    }

    /// Measures a stream of reports, from the start of the process until the last is answered.
    fn stream(&self, has_keys: bool) -> Result<String, Box<dyn Error>> {
        let name = if has_keys { "new-0" } else { "new-1" };
        if self.run(&["instance", "show", name, "n_1"], "").is_err() {
            self.run(&["instance", "init", name, "now.yaml"], "")?;
        }
        self.run(&["instance", "begin", name, "--workflow", "load"], "")?;
        let input = attributes(0, REPORTS, has_keys.then_some("key-"));
        let time = self.run(&["instance", "record", name, "--stream"], &input)?.as_secs_f64();
        Ok(format!("{} {:>10.0}/s", millis(Duration::from_secs_f64(time)), REPORTS as f64 / time))
    }

    /// Measures processes with one report each; each report has other values.
    fn record(&self, words: &[&str]) -> Result<String, Box<dyn Error>> {
        let mut times = Vec::new();
        for run in 0..RUNS {
            let now = (1_000_000 + run).to_string();
            let said: Vec<_> = words.iter().map(|word| word.replace("NOW", &now)).collect();
            let mut all = vec!["instance", "record", "large", "n_4321"];
            all.extend(said.iter().map(|word| &**word));
            times.push(self.run(&all, "")?);
        }
        Ok(millis(times.into_iter().min().unwrap_or_default()))
    }

    fn state(&self) -> Result<String, Box<dyn Error>> {
        self.run(&["instance", "begin", "large", "--workflow", "load"], "")?;
        let mut times = Vec::new();
        for run in 0..RUNS {
            let state = if run % 2 == 0 { "configuring" } else { "configured" };
            times.push(self.run(&["instance", "record", "large", "n_1234", "--state", state], "")?);
        }
        self.run(&["instance", "record", "large", "n_1234", "--state", "started"], "")?;
        self.run(&["instance", "finish", "large", "--outcome", "done"], "")?;
        Ok(millis(times.into_iter().min().unwrap_or_default()))
    }

    fn plan(&self, template: &str) -> Result<String, Box<dyn Error>> {
        self.command(&["instance", "plan", "large", template, "-o", "plan.json"])
    }

    fn replayed(&self) -> Result<String, Box<dyn Error>> {
        let own = std::env::current_exe()?;
        let output = Command::new(own).arg(REPLAY).arg(self.store()).output()?;
        Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
    }
}

fn millis(time: Duration) -> String {
    format!("{:>9.1} ms", time.as_secs_f64() * 1e3)
}

/// The text of a line for each node.
fn all(line: impl Fn(usize) -> String) -> String {
    (0..NODES).map(|node| line(node) + "\n").collect()
}

/// Reports of attributes, one on each line.
fn attributes(from: usize, count: usize, key: Option<&str>) -> String {
    let line = |number: usize| {
        let key = key.map_or_else(String::new, |key| format!(r#","key":"{key}{number}""#));
        let (node, name) = (number % NODES, number % 5);
        format!(
            "{{\"node\":\"n_{node}\",\"attributes\":{{\"a_{name}\":{}}}{key}}}\n",
            number + NODES
        )
    };
    (from..from + count).map(line).collect()
}

/// A template whose nodes form a chain. Each node has another relation, five properties and five
/// attributes, and one of every `every` nodes has a different property.
fn template(every: Option<usize>) -> String {
    let mut text = String::from(
        "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  Item:\n    derived_from: tosca.nodes.Root\n    properties:\n",
    );
    let five = |text: &mut String, kind: char| {
        for value in 0..5 {
            let _ = writeln!(text, "      {kind}_{value}: {{type: integer, required: false}}");
        }
    };
    five(&mut text, 'p');
    text.push_str("    attributes:\n");
    five(&mut text, 'a');
    text.push_str(
        "    requirements:\n      - next: {capability: tosca.capabilities.Node, node: Item, relationship: tosca.relationships.DependsOn, occurrences: [0, 1]}\n      \
         - side: {capability: tosca.capabilities.Node, node: Item, relationship: tosca.relationships.DependsOn, occurrences: [0, 1]}\n\
         topology_template:\n  node_templates:\n",
    );
    for node in 0..NODES {
        let changed = usize::from(every.is_some_and(|every| node % every == 0));
        let _ = writeln!(text, "    n_{node}:\n      type: Item\n      properties:");
        for value in 0..5 {
            let _ = writeln!(text, "        p_{value}: {}", node + value + changed);
        }
        if node > 0 {
            let _ = writeln!(
                text,
                "      requirements:\n        - next: n_{}\n        - side: n_{}",
                node - 1,
                node / 2
            );
        }
    }
    text
}
