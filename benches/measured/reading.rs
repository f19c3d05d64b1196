//! Measures how fast libraries read a text.

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;

/// Prints a row with the time of the fastest of some rounds, since every disturbance makes a round
/// slower. The peak of memory is printed as a multiple of the size of the text.
pub(crate) fn report<T>(name: &str, text: &str, peak: Option<f64>, work: impl Fn() -> T) {
    let round = || {
        let start = Instant::now();
        black_box(work());
        start.elapsed()
    };
    let best = (0..ROUNDS).map(|_| round()).min().unwrap_or(Duration::MAX).as_secs_f64();
    let size = text.len() as f64 / 1e6;
    let peak = peak.map_or_else(String::new, |peak| format!("{:.1}", peak / text.len() as f64));
    println!("{name:<20} {size:>8.1} {:>8.1} {:>8.1} {peak:>12}", best * 1e3, size / best);
}

/// Prints the heading of the rows.
pub(crate) fn heading() {
    println!("{:<20} {:>8} {:>8} {:>8} {:>12}", "", "MB", "ms", "MB/s", "peak x file");
}

/// Runs this program as a process that does `what` with a file, and returns the number of bytes
/// that it prints.
pub(crate) fn measured_apart(what: &str, file: &Path) -> anyhow::Result<f64> {
    let own = std::env::current_exe()?;
    let output = Command::new(own).args(["memory", what]).arg(file).output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}
