//! Measures how long substituting and fulfilling take, beside resolving alone: `cargo bench --bench
//! substitute [-- NAME]`.

#[path = "templates/substitution.rs"]
mod substitution;

use std::error::Error;
use std::time::{Duration, Instant};
use substitution::{CASES, SubstitutionCase};

fn main() -> Result<(), Box<dyn Error>> {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    println!(
        "{:<46} {:>7} {:>8} {:>10} {:>10} {:>8}",
        "template", "size", "nodes", "resolve", "substitute", "goal"
    );
    for case in &CASES {
        if wanted.as_ref().is_none_or(|wanted| case.name.contains(&**wanted)) {
            for size in case.sizes {
                measure(case, *size)?;
            }
        }
    }
    Ok(())
}

/// Prints a row with the fastest of three runs.
fn measure(case: &SubstitutionCase, size: usize) -> Result<(), Box<dyn Error>> {
    let (resolver, query) = (case.make)(size);
    let mut best = [Duration::MAX; 2];
    let mut nodes = 0;
    for _ in 0..3 {
        let (resolving, resolved) = timed(|| resolver.resolve());
        resolved?;
        let (substituting, substituted) = timed(|| resolver.substitute(&query));
        nodes = match substituted {
            Ok(substituted) => substituted.resolution.to_yaml().matches("{type: ").count(),
            Err(_) if case.is_impossible => 0,
            Err(failure) => return Err(failure.into()),
        };
        best = [best[0].min(resolving), best[1].min(substituting)];
    }
    let [resolving, substituting] = best.map(|time| format!("{:.0} ms", time.as_secs_f64() * 1e3));
    let goal = case.goal.map(|goal| format!("{goal} ms")).unwrap_or_default();
    let name = case.name;
    println!("{name:<46} {size:>7} {nodes:>8} {resolving:>10} {substituting:>10} {goal:>8}");
    Ok(())
}

fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = run();
    (start.elapsed(), result)
}
