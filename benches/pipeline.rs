//! Measures the whole pipeline as a process of its own: time and peak memory, compared with the
//! YAML layer alone on the same files.
//!
//! `cargo bench --bench pipeline` prints a row for each template, and then how cost grows;
//! `benches/README.md` describes the columns.

mod measured;
mod modular;
#[path = "templates/plain.rs"]
mod plain;
mod templates;

use cuvee::parts::yaml::{Limits, Out, parse, write_yaml};
use cuvee::source::FileId;
use measured::peak_memory;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use templates::growth::CASES;

/// How many runs are made; their median is printed.
const RUNS: usize = 7;
/// Files of more bytes than this are measured with fewer runs.
const LARGE: u64 = 50_000_000;
const FEW: usize = 3;

/// The tasks of a child process, which it does once.
const MODES: [&str; 6] = ["start", "yaml", "library", "resolve", "validate", "report"];

/// The nodes of the plain template that is looked at as a whole.
const NODES: usize = 100_000;

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    // The child process of a measurement does one task once, and prints how much memory it took.
    if let [_, mode, path, inputs @ ..] = &args[..]
        && MODES.contains(&mode.as_str())
    {
        return child(mode, Path::new(path), inputs);
    }
    let directory = tempfile::tempdir()?;
    rows(directory.path())?;
    whole(directory.path())?;
    growth(directory.path())
}

fn rows(directory: &Path) -> anyhow::Result<()> {
    let small = write(directory, "small.yaml", &templates::small())?;
    println!("start: {:.1} ms\n", ms(measure("start", &small, &[])?.time));
    println!(
        "{:<24} {:>9} {:>9} {:>9} {:>9} {:>6} {:>10} {:>6} {:>9} {:>7}",
        "template",
        "templates",
        "KB",
        "yaml ms",
        "all ms",
        "ratio",
        "library ms",
        "ratio",
        "peak MB",
        "x file"
    );
    row("ten lines", 2, &small, &["mode=prod"])?;
    for seed in [250, 2_500, 10_000, 40_000, 100_000] {
        let path = write(directory, &format!("chain-{seed}.yaml"), &templates::chain(seed))?;
        row(&format!("chain {seed}"), 4 * seed, &path, &["mode=present"])?;
    }
    for size in [64, 200, 500] {
        let path = write(directory, &format!("modular-{size}.yaml"), &templates::modular(size, 1))?;
        row(&format!("modular {size}"), size, &path, &[])?;
    }
    let shop = with_library(
        directory,
        "shop",
        &templates::shop(),
        &[("types", 1_200), ("more-types", 400)],
    )?;
    row("shop, 2 MB of types", 25, &shop, &["env=static"])?;
    let libraries = [("types", 3_200), ("more-types", 800), ("other-types", 500)];
    let industry = with_library(directory, "industry", &templates::industry(), &libraries)?;
    row("industry, 6 MB of types", 170, &industry, &["site=plant"])
}

/// A template beside a library of files with the given number of types each.
fn with_library(
    directory: &Path,
    name: &str,
    template: &str,
    library: &[(&str, usize)],
) -> anyhow::Result<PathBuf> {
    let directory = directory.join(name);
    fs::create_dir_all(directory.join("lib"))?;
    for (file, types) in library {
        write(&directory, &format!("lib/{file}.yaml"), &templates::library(*types))?;
    }
    write(&directory, "service-template.yaml", template)
}

fn write(directory: &Path, name: &str, text: &str) -> anyhow::Result<PathBuf> {
    let path = directory.join(name);
    fs::write(&path, text)?;
    Ok(path)
}

fn row(name: &str, templates: usize, path: &Path, inputs: &[&str]) -> anyhow::Result<()> {
    let size = fs::metadata(path)?.len() as f64;
    let yaml = ms(measure("yaml", path, &[])?.time);
    let Measured { time, peak } = measure("resolve", path, inputs)?;
    let all = ms(time);
    let mut library = ["-".to_owned(), "-".to_owned()];
    if !library_of(path)?.is_empty() {
        let read = ms(measure("library", path, &[])?.time);
        library = [format!("{read:.1}"), format!("{:.2}", all / read)];
    }
    let [read, ratio] = library;
    println!(
        "{name:<24} {templates:>9} {:>9.0} {yaml:>9.1} {all:>9.1} {:>6.2} {read:>10} {ratio:>6} {:>9.1} {:>7.1}",
        size / 1e3,
        all / yaml,
        peak / 1e6,
        peak / size
    );
    Ok(())
}

/// Prints what it costs to look at all of a plain template, beside what that is meant to take.
fn whole(directory: &Path) -> anyhow::Result<()> {
    let text = plain::template("nodes in a chain", NODES).unwrap_or_default();
    let path = write(directory, "nodes.yaml", &text)?;
    println!("\n{:<28} {:>9} {:>9} {:>14}", format!("{NODES} nodes"), "ms", "peak MB", "goal");
    for (mode, goal) in [("resolve", ""), ("validate", ""), ("report", "2 s, 400 MB")] {
        let Measured { time, peak } = measure(mode, &path, &[])?;
        println!("{mode:<28} {:>9.0} {:>9.0} {goal:>14}", ms(time), peak / 1e6);
    }
    Ok(())
}

/// Prints how cost grows: with the number of templates, and then in one respect at a time, such as
/// depth or width, from one size to twice that.
fn growth(directory: &Path) -> anyhow::Result<()> {
    let start = measure("start", directory, &[])?;
    println!("\n{:<28} {:>9} {:>9} {:>9} {:>9}", "growth", "n", "ms", "us each", "bytes each");
    let grown = |name: &str, count: usize, text: &str, input: &str| -> anyhow::Result<()> {
        let path = write(directory, "growth.yaml", text)?;
        let Measured { time, peak } = measure("resolve", &path, &[input])?;
        let (each, bytes) = (time.saturating_sub(start.time), peak - start.peak);
        let count = count as f64;
        println!(
            "{name:<28} {count:>9} {:>9.1} {:>9.2} {:>9.0}",
            ms(time),
            1e3 * ms(each) / count,
            bytes / count
        );
        Ok(())
    };
    for seed in [250, 2_500, 25_000, 100_000] {
        grown("chain", 4 * seed, &templates::chain(seed), "mode=present")?;
    }
    for case in &CASES {
        for size in [10_000, 20_000] {
            grown(case.name, size, &(case.make)(size), "mode=5")?;
        }
    }
    Ok(())
}

struct Measured {
    time: Duration,
    /// The peak of memory, in bytes.
    peak: f64,
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The median time of whole processes, and the highest peak of their memory.
fn measure(mode: &str, path: &Path, inputs: &[&str]) -> anyhow::Result<Measured> {
    let runs = if fs::metadata(path)?.len() > LARGE { FEW } else { RUNS };
    let mut times = Vec::new();
    let mut peak = 0.0f64;
    for _ in 0..runs {
        let start = Instant::now();
        let output =
            Command::new(std::env::current_exe()?).arg(mode).arg(path).args(inputs).output()?;
        times.push(start.elapsed());
        anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        peak = peak.max(String::from_utf8(output.stdout)?.trim().parse()?);
    }
    times.sort();
    Ok(Measured { time: times[runs / 2], peak })
}

fn child(mode: &str, path: &Path, inputs: &[String]) -> anyhow::Result<()> {
    let target = path.with_extension("out");
    match mode {
        "yaml" => {
            let document =
                parse(FileId::DETACHED, fs::read_to_string(path)?.into(), &Limits::default());
            let document = document.map_err(|error| anyhow::anyhow!(error.message))?;
            fs::write(target, write_yaml(&Out::Source(document.root())))?;
        }
        "library" => read_library(path)?,
        "resolve" => {
            let mut resolver = cuvee::Resolver::new(path);
            for (name, value) in inputs.iter().filter_map(|input| input.split_once('=')) {
                resolver = resolver.input_text(name, value);
            }
            fs::write(target, resolver.resolve()?.to_yaml())?;
        }
        "validate" => drop(cuvee::Resolver::new(path).validate()),
        "report" => fs::write(target, cuvee::Resolver::new(path).report(&[])?)?,
        _ => {}
    }
    println!("{}", peak_memory());
    Ok(())
}

/// The files of the library beside a template.
fn library_of(template: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let library = template.with_file_name("lib");
    if !library.is_dir() {
        return Ok(Vec::new());
    }
    fs::read_dir(library)?.map(|entry| Ok(entry?.path())).collect()
}

/// Reads and parses a template and its library with all cores, the largest files first.
fn read_library(template: &Path) -> anyhow::Result<()> {
    let mut files = library_of(template)?;
    files.push(template.to_owned());
    files.sort_by_cached_key(|file| {
        std::cmp::Reverse(fs::metadata(file).map_or(0, |meta| meta.len()))
    });
    let next = AtomicUsize::new(0);
    let work = || -> anyhow::Result<()> {
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let document =
                parse(FileId::DETACHED, fs::read_to_string(file)?.into(), &Limits::default());
            std::hint::black_box(document.map_err(|error| anyhow::anyhow!(error.message))?);
        }
        Ok(())
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })
}
