//! Measures the language server: how long it takes from the start to the first answer, from a
//! change to what is published of its text, of its variants and to words that may be written, how
//! much memory its processes have after all of that, and how soon validating stops.
//!
//! `cargo bench --bench lsp` measures 1,000 changes of each text; a number behind `--` says how
//! many.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    dead_code,
    reason = "a measurement that cannot go on has failed, and the client of the tests can do more"
)]

#[path = "../tests/editor/client.rs"]
mod client;
#[path = "../tests/shared/folders.rs"]
mod folders;

use client::Client;
use cuvee::Resolver;
use cuvee::validate::Stage;
use serde_json::json;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

fn main() {
    let given = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let changes: usize = given.unwrap_or(1_000);
    println!(
        "{:<16} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "text", "first", "median", "p95", "words", "variants", "memory"
    );
    let folder = tempfile::tempdir().unwrap();
    let shop = folder.path().join("shop");
    folders::copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/shop"), &shop);
    row("shop", &shop, "variable-service-template.yaml", changes);
    let large = folder.path().join("large");
    std::fs::create_dir(&large).unwrap();
    std::fs::write(large.join("t.yaml"), nodes(3_000)).unwrap();
    row("3,000 nodes", &large, "t.yaml", changes);
    let typed = folder.path().join("typed");
    std::fs::create_dir(&typed).unwrap();
    std::fs::write(typed.join("types.yaml"), types(6_000_000)).unwrap();
    std::fs::write(typed.join("t.yaml"), using_types(20)).unwrap();
    row("6 MB of types", &typed, "t.yaml", changes);
    stopping(&large.join("t.yaml"));
}

/// How often validating is stopped.
const STOPS: u32 = 40;

/// Measures how long validating goes on after somebody has typed, at evenly spread times.
fn stopping(template: &Path) {
    let resolver = Resolver::new(template);
    let start = Instant::now();
    resolver.validate_until(Stage::Variants);
    let whole = start.elapsed();
    let times = (0..STOPS).map(|at| {
        let stop = Arc::new(AtomicBool::new(false));
        let resolver = resolver.clone().stop_when(Arc::clone(&stop));
        std::thread::scope(|scope| {
            let run = scope.spawn(|| {
                resolver.validate_until(Stage::Variants);
                Instant::now()
            });
            std::thread::sleep(whole * at / STOPS);
            stop.store(true, Ordering::Relaxed);
            let set = Instant::now();
            run.join().unwrap().saturating_duration_since(set)
        })
    });
    let times = share(times.collect());
    println!(
        "validating 3,000 nodes, {:.0} ms, ends {:.1} ms after it is stopped (median; p95 {:.1} ms)",
        whole.as_secs_f64() * 1e3,
        times(50).as_secs_f64() * 1e3,
        times(95).as_secs_f64() * 1e3
    );
}

/// How many times words are asked for, and how many times variants are waited for.
const WORDS: i32 = 50;
const VARIANTS: i32 = 5;

/// How long the server waits before it looks at variants.
const IDLE: Duration = Duration::from_millis(300);

/// Measures one text: each change adds a comment at the end or takes it away.
fn row(what: &str, folder: &Path, name: &str, changes: usize) {
    let start = Instant::now();
    let mut client = Client::new(folder);
    let text = client.open_saved(name);
    client.published(name, 1);
    let first = start.elapsed();
    let end = text.matches('\n').count();
    let mut version = 1;
    let mut change = |client: &mut Client| {
        version += 1;
        let (column, new) = if version % 2 == 0 { (0, "#") } else { (1, "") };
        let range = json!({ "start": { "line": end, "character": 0 }, "end": { "line": end, "character": column } });
        client.change(name, version, json!([{ "range": range, "text": new }]));
        version
    };
    let texts = (0..changes).map(|_| {
        let start = Instant::now();
        let version = change(&mut client);
        client.published(name, version);
        start.elapsed()
    });
    let texts = share(texts.collect());
    let word = [" type: ", "{type: "].into_iter().find(|word| text.contains(word)).unwrap();
    let line = text.lines().position(|line| line.contains(word)).unwrap();
    let column = text.lines().nth(line).unwrap().find(word).unwrap() + word.len();
    let words = (0..WORDS).map(|_| {
        let start = Instant::now();
        change(&mut client);
        let place = json!({ "textDocument": { "uri": client.uri(name) }, "position": { "line": line, "character": column } });
        client.request("textDocument/completion", place).unwrap();
        start.elapsed()
    });
    let words = share(words.collect());
    let variants = (0..VARIANTS).map(|_| {
        let start = Instant::now();
        let version = change(&mut client);
        // What the text says comes first.
        client.published(name, version);
        client.published(name, version);
        start.elapsed().saturating_sub(IDLE)
    });
    let variants = share(variants.collect());
    // Both workers have read everything by now, and what is offered is known.
    let memory = memory(&client);
    let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
    println!(
        "{what:<16} {:>9} {:>9} {:>9} {:>9} {:>9} {memory:>6} MB",
        ms(first),
        ms(texts(50)),
        ms(texts(95)),
        ms(words(95)),
        ms(variants(50)),
    );
    client.shut_down();
}

/// Says which time a share of all is below, in percent.
fn share(mut times: Vec<Duration>) -> impl Fn(usize) -> Duration {
    times.sort_unstable();
    move |part| times.get(times.len() * part / 100).copied().unwrap_or_default()
}

/// The memory of the server and its workers in megabytes.
fn memory(client: &Client) -> u64 {
    let of = |process: &str| {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|it| it.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default()
    };
    let id = client.process().to_string();
    let tasks = std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let children = tasks.map(|it| std::fs::read_to_string(it.path().join("children")));
    let children: String = children.map(Result::unwrap_or_default).collect();
    (of(&id) + children.split_whitespace().map(of).sum::<u64>()) / 1024
}

fn nodes(count: usize) -> String {
    let mut text = String::from(
        "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    options: {mode: semantic-loose}\n    inputs:\n",
    );
    for input in 0..20 {
        writeln!(text, "      input{input}: {{type: boolean, default: false}}").unwrap();
    }
    text.push_str("  node_templates:\n");
    for node in 0..count {
        let (input, target) = (node % 20, (node * 7 + 1) % count);
        writeln!(text, "    node{node}:\n      type: tosca.nodes.Root\n      metadata: {{owner: \"the people of node {node}\", note: \"what is said of it takes some space\"}}\n      conditions: {{variability_input: input{input}}}\n      requirements:\n        - dependency: node{target}").unwrap();
    }
    text
}

fn types(bytes: usize) -> String {
    let mut text = String::from("tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n");
    let mut number = 0;
    while text.len() < bytes {
        writeln!(text, "  kind.Number{number}:\n    derived_from: tosca.nodes.Root\n    description: The kind of number {number}\n    properties:\n      port: {{type: integer, default: {number}}}\n      name: {{type: string, required: false}}\n    requirements:\n      - peer: {{capability: tosca.capabilities.Node}}").unwrap();
        number += 1;
    }
    text
}

fn using_types(count: usize) -> String {
    let mut text = String::from(
        "tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [types.yaml]\ntopology_template:\n  node_templates:\n",
    );
    for node in 0..count {
        writeln!(
            text,
            "    node{node}: {{type: kind.Number{}, properties: {{port: {node}}}}}",
            node * 7
        )
        .unwrap();
    }
    text
}
