//! How long instances take: first the store alone, then commands on a large instance, beside what they
//! are meant to take: `cargo bench --bench instance [-- NAME]`.

mod load;
mod store;

use cuvee::diagnostic::Diagnostic;
use std::error::Error;

type Measured = Result<(), Box<dyn Error>>;

fn main() -> Measured {
    let args: Vec<String> = std::env::args().collect();
    if let [_, mode, directory] = &args[..]
        && mode == load::REPLAY
    {
        return load::replay(directory.as_ref());
    }
    let wanted = args.iter().skip(1).find(|argument| !argument.starts_with('-'));
    let wanted = wanted.map(|wanted| &**wanted);
    store::measure(wanted)?;
    load::measure(wanted)
}

fn told(diagnostic: Diagnostic) -> String {
    diagnostic.message
}

/// As much as this process ever had, in MB, as far as the system says.
fn peak_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) / 1e3
}
