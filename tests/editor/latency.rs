//! Holds the time of an answer and the memory of the server, generously: the build is not
//! optimised. `benches/lsp.rs` measures one that is.

use crate::client::Client;
use serde_json::json;
use std::time::{Duration, Instant};

const SHOP: &str = include_str!("../../examples/shop/variable-service-template.yaml");

/// The memory of a process and of those that it has started, in kilobytes.
#[cfg(target_os = "linux")]
fn memory(process: u32) -> u64 {
    let of = |process: &str| -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    };
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let children = tasks.map(|it| std::fs::read_to_string(it.unwrap().path().join("children")));
    let children: String = children.map(Result::unwrap).collect();
    of(&process.to_string()) + children.split_whitespace().map(of).sum::<u64>()
}

#[cfg(target_os = "linux")]
#[test]
fn changes_take_little_time_and_leave_no_memory_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::new(folder.path());
    client.open("t.yaml", SHOP);
    client.published("t.yaml", 1);
    let line = SHOP.matches('\n').count();
    let (mut times, mut before) = (Vec::new(), 0);
    for version in 2..302 {
        let (end, new) = if version % 2 == 0 { (0, "#") } else { (1, "") };
        let range = json!({ "start": { "line": line, "character": 0 }, "end": { "line": line, "character": end } });
        let start = Instant::now();
        client.change("t.yaml", version, json!([{ "range": range, "text": new }]));
        client.published("t.yaml", version);
        times.push(start.elapsed());
        if version == 100 {
            before = memory(client.process());
        }
    }
    times.sort_unstable();
    let p95 = times[times.len() * 95 / 100];
    assert!(p95 < Duration::from_secs(2), "{p95:?}");
    let after = memory(client.process());
    assert!(after < before + 20_000, "{before} kB, then {after} kB");
    println!("p95 {p95:?}, {after} kB");
    client.shut_down();
}
