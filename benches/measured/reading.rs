//! Reading a text, by one library and by others.

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;

/// One row, with the best of some rounds, since all that disturbs a round makes it slower; the peak
/// is in sizes of the text.
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

/// The heading of such rows.
pub(crate) fn heading() {
    println!("{:<20} {:>8} {:>8} {:>8} {:>12}", "", "MB", "ms", "MB/s", "peak x file");
}

/// What a process of its own says that does this with a file, in bytes.
pub(crate) fn measured_apart(what: &str, file: &Path) -> anyhow::Result<f64> {
    let own = std::env::current_exe()?;
    let output = Command::new(own).args(["memory", what]).arg(file).output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}
