//! Measures how long plans take beyond resolving, and how much memory: `cargo bench --bench plan
//! [-- NAME]`.

mod measured;

use cuvee::Resolver;
use cuvee::deploy::plan::{
    Adaptation, OrderOptions, PlanQuery, SimulationOptions, StartStates, simulate,
};
use cuvee::output::draw::plan::{PlanDocument, human};
use measured::peak_memory;
use std::error::Error;
use std::fmt::Write;
use std::process::Command;
use std::time::{Duration, Instant};

/// The name of a problem, its template at present (`false`) or after a change (`true`), and its
/// number of nodes.
type Problem = (&'static str, fn(usize, bool) -> String, usize);

const PROBLEMS: [Problem; 10] = [
    ("chains of hosts 10,000", chains_of_hosts, 10_000),
    ("chains of hosts 100,000", chains_of_hosts, 100_000),
    ("one host 10,000", one_host, 10_000),
    ("one target 10,000", one_target, 10_000),
    ("one source 10,000", one_source, 10_000),
    ("chain 10,000", chain, 10_000),
    ("cycles 10,000", cycles, 10_000),
    ("mixed cycles 10,000", mixed_cycles, 10_000),
    ("ring 10,000", ring, 10_000),
    ("dense cycles 300", dense_cycles, 300),
];

/// How many plans are kept by a process that is compared with one that keeps one plan.
const KEPT: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().collect();
    if let [_, mode, name, kept] = &args[..]
        && mode == "keep"
    {
        return keep(name, kept.parse()?);
    }
    let wanted = args.into_iter().skip(1).find(|argument| !argument.starts_with('-'));
    println!(
        "{:<24} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "template", "steps", "resolve", "build", "human", "json", "simulate", "update", "KB/node"
    );
    for (name, template, count) in PROBLEMS {
        if wanted.as_ref().is_none_or(|wanted| name.contains(&**wanted)) {
            measure(name, &template(count, false), &template(count, true), count)?;
        }
    }
    Ok(())
}

/// Keeps the given number of plans, as a process of its own, and prints how much memory it took.
fn keep(name: &str, kept: usize) -> Result<(), Box<dyn Error>> {
    let (_, template, count) =
        PROBLEMS.into_iter().find(|problem| problem.0 == name).ok_or("no such template")?;
    let template = Resolver::from_text("template.yaml", template(count, false)).load()?;
    let query = PlanQuery::default();
    let plans: Result<Vec<_>, _> = (0..kept).map(|_| template.plan(&query)).collect();
    drop(plans?);
    println!("{}", peak_memory());
    Ok(())
}

/// The memory of one plan in KB, where the system tells it: by how much processes differ that keep
/// several plans or one.
fn memory(name: &str) -> Result<f64, Box<dyn Error>> {
    let peak = |kept: usize| -> Result<f64, Box<dyn Error>> {
        let own = std::env::current_exe()?;
        let output = Command::new(own).args(["keep", name, &kept.to_string()]).output()?;
        Ok(String::from_utf8(output.stdout)?.trim().parse()?)
    };
    Ok((peak(KEPT)? - peak(1)?) / 1024.0 / (KEPT - 1) as f64)
}

/// Prints a row. Times that include resolving are printed without it.
fn measure(name: &str, template: &str, later: &str, nodes: usize) -> Result<(), Box<dyn Error>> {
    let load = |text| Resolver::from_text("template.yaml", text).load();
    let (now, later) = (load(template)?, load(later)?);
    // Types are read at the first question, which is not measured.
    now.topology()?;
    let (resolving, _) = timed(|| now.topology());
    let (resolving_later, _) = timed(|| later.topology());
    let (building, plan) = timed(|| now.plan(&PlanQuery::default()));
    let building = building.saturating_sub(resolving);
    let Ok(answer) = plan else {
        println!("{name:<24} {:>9} {} {}", "rejected", millis(resolving), millis(building));
        return Ok(());
    };
    let (telling, _) = timed(|| human(&answer.result, false, false));
    let document = PlanDocument::of(&answer.result, &answer.sources, false);
    let (writing, text) = timed(|| serde_json::to_string(&document));
    text?;
    let start = StartStates::default();
    let (simulating, simulation) =
        timed(|| simulate(&answer.result, &start, &SimulationOptions::default()));
    simulation.map_err(|_| "a simulation that is refused")?;
    let (updating, update) =
        timed(|| now.adapt(&later, &Adaptation::default(), &OrderOptions::default()));
    update?;
    println!(
        "{name:<24} {:>9} {} {} {} {} {} {} {:>9.2}",
        answer.result.steps.len(),
        millis(resolving),
        millis(building),
        millis(telling),
        millis(writing),
        millis(simulating),
        millis(updating.saturating_sub(resolving + resolving_later)),
        memory(name)? / nodes as f64
    );
    Ok(())
}

fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = run();
    (start.elapsed(), result)
}

fn millis(time: Duration) -> String {
    format!("{:>6.0} ms", time.as_secs_f64() * 1e3)
}

const TYPES: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Software:
    derived_from: SoftwareComponent
    properties: {port: {type: integer, default: 80}}
    capabilities: {host: tosca.capabilities.Compute}
    interfaces:
      Standard:
        operations: {create: create.sh, configure: configure.sh, start: start.sh, stop: stop.sh, delete: delete.sh}
relationship_types:
  Link:
    derived_from: DependsOn
    interfaces:
      Configure:
        operations: {add_target: connect.sh, remove_target: disconnect.sh}
topology_template:
  node_templates:
";

/// Writes a node; in the later template, one of four nodes has another port.
fn node(text: &mut String, index: usize, host: Option<usize>, links: &[usize], later: bool) {
    let kind = if host.is_some() { "Software" } else { "Compute" };
    writeln!(text, "    n{index}:\n      type: {kind}").ok();
    if host.is_some() {
        let port = if later && index % 4 == 3 { 81 } else { 80 };
        writeln!(text, "      properties: {{port: {port}}}").ok();
    }
    if host.is_some() || !links.is_empty() {
        text.push_str("      requirements:\n");
    }
    if let Some(host) = host {
        writeln!(text, "        - host: n{host}").ok();
    }
    for link in links {
        writeln!(text, "        - dependency: {{node: n{link}, relationship: Link}}").ok();
    }
}

/// Stacks of three nodes, each on a machine. Except in the first stack, each node needs the one at
/// its height in the stack before.
fn chains_of_hosts(count: usize, later: bool) -> String {
    let mut text = TYPES.to_owned();
    for index in 0..count {
        let host = (index % 4 > 0).then(|| index - 1);
        let link = index.checked_sub(4).filter(|_| index % 4 > 0);
        node(&mut text, index, host, link.as_slice(), later);
    }
    text
}

fn one_host(count: usize, later: bool) -> String {
    let mut text = TYPES.to_owned();
    for index in 0..count {
        node(&mut text, index, (index > 0).then_some(0), &[], later);
    }
    text
}

/// A template in which all nodes need the same one.
fn one_target(count: usize, later: bool) -> String {
    let mut text = TYPES.to_owned();
    node(&mut text, 0, None, &[], later);
    node(&mut text, 1, Some(0), &[], later);
    for index in 2..count {
        node(&mut text, index, Some(0), &[1], later);
    }
    text
}

/// A template in which one node needs all others, and after the change entirely different ones.
fn one_source(count: usize, later: bool) -> String {
    let mut text = TYPES.to_owned();
    let others: Vec<_> = (2..count).map(|index| index + if later { count } else { 0 }).collect();
    node(&mut text, 0, None, &[], later);
    node(&mut text, 1, Some(0), &others, false);
    others.iter().for_each(|&index| node(&mut text, index, Some(0), &[], false));
    text
}

fn chain(count: usize, later: bool) -> String {
    let mut text = TYPES.to_owned();
    node(&mut text, 0, None, &[], later);
    for index in 1..count {
        let link = (index > 1).then(|| index - 1);
        node(&mut text, index, Some(0), link.as_slice(), later);
    }
    text
}

/// A template in which every node can be reached from every other one, with two relations from
/// each.
fn cycles(count: usize, later: bool) -> String {
    let mut text = TYPES.to_owned();
    for index in 0..count {
        let links = [(index + 1) % count, (index + 7) % count];
        node(&mut text, index, None, &links, later);
    }
    text
}

/// Likewise, but without any help from the order of the template.
fn mixed_cycles(count: usize, later: bool) -> String {
    const PRIME: usize = 7_919;
    let mut text = TYPES.to_owned();
    for index in 0..count {
        let links = [(index + PRIME) % count, (index + 7 * PRIME) % count];
        node(&mut text, index, None, &links, later);
    }
    text
}

fn ring(count: usize, later: bool) -> String {
    let mut text = TYPES.to_owned();
    for index in 0..count {
        node(&mut text, index, None, &[(index + 1) % count], later);
    }
    text
}

/// A template in which each node needs all others.
fn dense_cycles(count: usize, later: bool) -> String {
    let mut text = TYPES.to_owned();
    for index in 0..count {
        let links: Vec<_> = (0..count).filter(|&other| other != index).collect();
        node(&mut text, index, None, &links, later);
    }
    text
}
