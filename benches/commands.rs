//! Measures each command on large templates, and how its time grows with them: `cargo bench
//! --bench commands [-- COMMAND]`.

#[path = "templates/commands.rs"]
mod commands;

use commands::{COMMANDS, SHAPES, Shape};
use std::io;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// The smaller size; the larger one is [`TIMES`] as large.
const SIZE: usize = 10_000;
const TIMES: usize = 4;
/// How many runs are made at least; the fastest counts.
const RUNS: usize = 3;

fn main() -> anyhow::Result<()> {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let is_wanted = |line: &str| wanted.as_ref().is_none_or(|wanted| line.starts_with(&**wanted));
    SHAPES.iter().try_for_each(|shape| table(shape, &is_wanted))
}

/// Prints the table of a shape.
fn table(shape: &Shape, is_wanted: &dyn Fn(&str) -> bool) -> anyhow::Result<()> {
    let [few, many] = [SIZE, TIMES * SIZE].map(|size| format!("{size} ms"));
    println!("\n{:<62} {few:>8} {many:>8} {:>7}", shape.name, "growth");
    let (small, large) = (tempfile::tempdir()?, tempfile::tempdir()?);
    shape.write(small.path(), SIZE)?;
    shape.write(large.path(), TIMES * SIZE)?;
    for line in COMMANDS {
        let [few, many] = [&small, &large].map(|it| measure(it.path(), line, is_wanted(line)));
        let (few, many) = (few?.as_secs_f64() * 1e3, many?.as_secs_f64() * 1e3);
        if is_wanted(line) {
            println!("{line:<62} {few:>8.0} {many:>8.0} {:>7.2}", many / few / TIMES as f64);
        }
    }
    Ok(())
}

/// The shortest time of a command. Commands that are not wanted run once, since others may need
/// what they write, and so do those that cannot be repeated.
fn measure(directory: &Path, line: &str, is_wanted: bool) -> anyhow::Result<Duration> {
    let changes_nothing =
        !["init", "instance init", "instance apply", "instance compact", "test cases --update"]
            .iter()
            .any(|it| line.starts_with(it));
    let runs = if is_wanted && changes_nothing { RUNS } else { 1 };
    let mut best = Duration::MAX;
    for _ in 0..runs {
        let start = Instant::now();
        let output = run(directory, line)?;
        best = best.min(start.elapsed());
        anyhow::ensure!(
            output.status.success(),
            "{line}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(best)
}

fn run(directory: &Path, line: &str) -> io::Result<Output> {
    let command = env!("CARGO_BIN_EXE_cuvee");
    Command::new(command).args(line.split_whitespace()).current_dir(directory).output()
}
