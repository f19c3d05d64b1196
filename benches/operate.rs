//! Measures what `cuvee instance run` costs beside what it runs: `cargo bench --bench operate [-- STEPS]`.
//! Each row is a plan of scripts that do nothing; `xargs` calls the same scripts in the same way.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How many steps run side by side.
const JOBS: usize = 8;

/// What a row does.
struct Row {
    name: &'static str,
    steps: usize,
    /// How many of the steps take an attribute that another one gave.
    attributes: usize,
    /// Whether each step needs the one before, in `JOBS` rows of the same length.
    in_rows: bool,
}

const ROWS: [Row; 5] = [
    Row { name: "1,000 steps", steps: 1_000, attributes: 0, in_rows: false },
    Row { name: "1,000 steps in rows", steps: 1_000, attributes: 0, in_rows: true },
    Row { name: "5,000 steps", steps: 5_000, attributes: 0, in_rows: false },
    Row { name: "5,000 steps, 1,000 attributes", steps: 5_000, attributes: 1_000, in_rows: false },
    Row { name: "10,000 steps", steps: 10_000, attributes: 0, in_rows: false },
];

fn main() -> Result<(), Box<dyn Error>> {
    let wanted = std::env::args().skip(1).find_map(|word| word.parse::<usize>().ok());
    println!(
        "{:<32} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "", "xargs ms", "plan ms", "run ms", "over ms", "peak MB"
    );
    for row in ROWS.iter().filter(|row| wanted.is_none_or(|steps| row.steps == steps)) {
        measure(row)?;
    }
    println!("`xargs`, `run` and `over` (run - plan - xargs) are per step; goal of `over`: 6 ms");
    Ok(())
}

fn measure(row: &Row) -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let place = directory.path();
    fs::write(place.join("template.yaml"), template(row))?;
    fs::write(place.join("true.sh"), "true\n")?;
    fs::write(place.join("give.sh"), "echo port=80 >$CUVEE_OUTPUTS\n")?;
    let others = timed(place, "xargs", &[&format!("-P{JOBS}"), "-n1", "bash"], row.steps)?;
    let cuvee = env!("CARGO_BIN_EXE_cuvee");
    let dry = timed(place, cuvee, &["instance", "run", "dry", "template.yaml", "--dry-run"], 0)?;
    let own = measured(place, cuvee)?;
    let each = |time: Duration| time.as_secs_f64() * 1e3 / row.steps as f64;
    let over = each(own.0) - each(dry) - each(others);
    println!(
        "{:<32} {:>9.2} {:>9.0} {:>9.2} {over:>9.2} {:>9.0}",
        row.name,
        each(others),
        dry.as_secs_f64() * 1e3,
        each(own.0),
        own.1 as f64 / 1e6,
    );
    Ok(())
}

/// A node for each step. Of those with attributes one gives and the next one takes.
fn template(row: &Row) -> String {
    let mut text = "tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Part: { derived_from: tosca.nodes.Root, interfaces: { Standard: { operations: { create: true.sh } } } }
  Giver:
    derived_from: tosca.nodes.Root
    attributes: { port: { type: integer } }
    interfaces: { Standard: { operations: { create: give.sh } } }
  Taker:
    derived_from: tosca.nodes.Root
    interfaces:
      Standard:
        operations:
          create: { implementation: true.sh, inputs: { port: { type: integer, default: { get_attribute: [SELF, dependency, port] } } } }
topology_template:
  node_templates:
"
    .to_owned();
    for at in 0..row.steps {
        let line = match at {
            at if at / 2 < row.attributes && at % 2 == 0 => "type: Giver".to_owned(),
            at if at / 2 < row.attributes => {
                format!("type: Taker, requirements: [ {{ dependency: n{} }} ]", at - 1)
            }
            at if row.in_rows && at >= JOBS => {
                format!("type: Part, requirements: [ {{ dependency: n{} }} ]", at - JOBS)
            }
            _ => "type: Part".to_owned(),
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "    n{at}: {{ {line} }}");
    }
    text
}

/// How long a command takes that reads the names of that many scripts.
fn timed(
    place: &Path,
    program: &str,
    words: &[&str],
    scripts: usize,
) -> Result<Duration, Box<dyn Error>> {
    fs::write(place.join("names"), "true.sh\n".repeat(scripts))?;
    let began = Instant::now();
    let names = fs::File::open(place.join("names"))?;
    let mut command = Command::new(program);
    command.args(words).current_dir(place).stdin(names).stdout(Stdio::null());
    let status = command.status()?;
    assert!(status.success(), "{program} {words:?}");
    Ok(began.elapsed())
}

/// How long a run takes, and how much memory.
fn measured(place: &Path, cuvee: &str) -> Result<(Duration, u64), Box<dyn Error>> {
    let jobs = format!("-j{JOBS}");
    let words = ["instance", "run", "shop", "template.yaml", "--yes", &jobs];
    let began = Instant::now();
    let mut run = Command::new(cuvee)
        .args(words)
        .current_dir(place)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()?;
    let status = format!("/proc/{}/status", run.id());
    let mut peak = 0;
    let ended = loop {
        // The mark only rises, and is gone with the process.
        peak = peak.max(high_water(&status));
        match run.try_wait()? {
            Some(ended) => break ended,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    assert!(ended.success(), "{words:?}");
    Ok((began.elapsed(), peak))
}

/// The peak of resident memory in bytes; 0 where the system does not tell it.
fn high_water(status: &str) -> u64 {
    let text = fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let kilobytes = line.split_whitespace().next().and_then(|it| it.parse::<u64>().ok());
    kilobytes.unwrap_or_default() * 1024
}
