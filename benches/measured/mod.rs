//! Measures memory, for all benchmarks.

/// The peak of resident memory of this process in bytes; 0 where the system does not tell it.
pub(crate) fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace()
        .next()
        .and_then(|kilobytes| kilobytes.parse::<u64>().ok())
        .unwrap_or_default()
        * 1024
}
