//! Measures conversions of large templates, from text to text: `cargo bench --bench convert [--
//! NAME]`.

#[path = "templates/plain.rs"]
mod plain;

use cuvee::output::convert::{Conversion, ConversionQuery};
use cuvee::source::MemoryFiles;
use cuvee::{Failure, Resolver};
use plain::PlainCase;
use std::time::{Duration, Instant};

const SIZE: usize = 100_000;
/// How many runs are made; the fastest counts.
const RUNS: usize = 3;

/// The milliseconds that each conversion may take.
const GOAL: u32 = 2_000;

fn main() -> Result<(), Failure> {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    println!(
        "{:<30} {:>8} {:>9} {:>9} {:>9} {:>9} {:>8}",
        "template", "size", "to XML", "from XML", "to 2.0", "from 2.0", "goal"
    );
    for case in &plain::CASES {
        if wanted.as_ref().is_none_or(|wanted| case.name.contains(&**wanted)) {
            [SIZE / 2, SIZE].into_iter().try_for_each(|size| measure(case, size))?;
        }
    }
    Ok(())
}

/// Prints a row with the time of each conversion of a template, and of the way back.
fn measure(case: &PlainCase, size: usize) -> Result<(), Failure> {
    let query = ConversionQuery::default().one_document();
    let text = plain::template(case.name, size).unwrap_or_default();
    let (to_xml, definitions) = converted("large.yaml", &text, &query)?;
    let (from_xml, _) = converted("large.tosca", &definitions.text(), &query)?;
    let (to_2_0, newer) = converted("large.yaml", &text, &query.clone().to_2_0())?;
    let (from_2_0, _) = converted("large.yaml", &newer.text(), &query.to_1_3())?;
    let times = [to_xml, from_xml, to_2_0, from_2_0];
    let [a, b, c, d] = times.map(|time| format!("{:.0} ms", time.as_secs_f64() * 1e3));
    let goal = if size == SIZE { format!("{GOAL} ms") } else { String::new() };
    println!("{:<30} {size:>8} {a:>9} {b:>9} {c:>9} {d:>9} {goal:>8}", case.name);
    Ok(())
}

/// Converts a text, and says how long the fastest run took.
fn converted(
    name: &str,
    text: &str,
    query: &ConversionQuery,
) -> Result<(Duration, Conversion), Failure> {
    let run = || {
        let resolver = Resolver::new(name).files(MemoryFiles::from([(name, text)]));
        let start = Instant::now();
        let converted = resolver.convert(query)?.result;
        Ok::<_, Failure>((start.elapsed(), converted))
    };
    let (mut best, converted) = run()?;
    for _ in 1..RUNS {
        best = best.min(run()?.0);
    }
    Ok((best, converted))
}
