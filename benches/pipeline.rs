//! The whole pipeline as a process of its own: time and peak memory against what the YAML layer alone takes for the same file.
//!
//! `cargo bench --bench pipeline` prints one row a template; `benches/README.md` says what the columns mean.

mod modular;
mod templates;

use cuvee::source::FileId;
use cuvee::yaml::{Limits, Out, parse, write_yaml};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Runs that count; the median of them is printed.
const RUNS: usize = 7;

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    // The child of a measurement: does one thing once and says how much memory it took.
    if let [_, mode, path, inputs @ ..] = &args[..]
        && (mode == "yaml" || mode == "resolve")
    {
        return child(mode, Path::new(path), inputs);
    }
    let directory = tempfile::tempdir()?;
    println!(
        "{:<22} {:>9} {:>9} {:>9} {:>9} {:>6} {:>9} {:>7}",
        "template", "templates", "KB", "yaml ms", "all ms", "ratio", "peak MB", "x file"
    );
    for seed in [250, 2_500, 10_000, 40_000] {
        let path = write(directory.path(), &format!("chain-{seed}.yaml"), &templates::chain(seed))?;
        row(&format!("chain {seed}"), 4 * seed, &path, &["mode=present"])?;
    }
    for size in [64, 200, 500] {
        let path = write(directory.path(), &format!("modular-{size}.yaml"), &templates::modular(size, 1))?;
        row(&format!("modular {size}"), size, &path, &[])?;
    }
    let shop = directory.path().join("shop");
    fs::create_dir_all(shop.join("lib"))?;
    write(&shop, "lib/types.yaml", &templates::library(1_200))?;
    write(&shop, "lib/more-types.yaml", &templates::library(400))?;
    let path = write(&shop, "service-template.yaml", &templates::shop())?;
    row("shop, 2 MB of types", 25, &path, &["env=static"])?;
    Ok(())
}

fn write(directory: &Path, name: &str, text: &str) -> anyhow::Result<PathBuf> {
    let path = directory.join(name);
    fs::write(&path, text)?;
    Ok(path)
}

fn row(name: &str, templates: usize, path: &Path, inputs: &[&str]) -> anyhow::Result<()> {
    let size = fs::metadata(path)?.len() as f64;
    let (yaml, _) = measure("yaml", path, &[])?;
    let (all, peak) = measure("resolve", path, inputs)?;
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{name:<22} {templates:>9} {:>9.0} {:>9.1} {:>9.1} {:>6.2} {:>9.1} {:>7.1}",
        size / 1e3,
        ms(yaml),
        ms(all),
        ms(all) / ms(yaml),
        peak / 1e6,
        peak / size
    );
    Ok(())
}

/// The median time of whole processes, and the largest peak of their memory in bytes.
fn measure(mode: &str, path: &Path, inputs: &[&str]) -> anyhow::Result<(Duration, f64)> {
    let mut times = Vec::new();
    let mut peak = 0.0f64;
    for _ in 0..RUNS {
        let start = Instant::now();
        let output = Command::new(std::env::current_exe()?).arg(mode).arg(path).args(inputs).output()?;
        times.push(start.elapsed());
        anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        peak = peak.max(String::from_utf8(output.stdout)?.trim().parse()?);
    }
    times.sort();
    Ok((times[RUNS / 2], peak))
}

fn child(mode: &str, path: &Path, inputs: &[String]) -> anyhow::Result<()> {
    let target = path.with_extension("out");
    if mode == "yaml" {
        let document = parse(FileId(0), fs::read_to_string(path)?.into(), &Limits::default());
        let document = document.map_err(|error| anyhow::anyhow!(error.message))?;
        fs::write(target, write_yaml(&Out::Source(document.root())))?;
    } else {
        let mut resolver = cuvee::Resolver::new(path);
        for (name, value) in inputs.iter().filter_map(|input| input.split_once('=')) {
            resolver = resolver.input_text(name, value);
        }
        fs::write(target, resolver.resolve()?.to_yaml())?;
    }
    println!("{}", peak_memory());
    Ok(())
}

/// The peak of resident memory in bytes, where the system tells it.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or_default() * 1024
}
