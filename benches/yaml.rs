//! Speed of the YAML layer beside another library, on a document like the large templates: `cargo bench --bench yaml [-- TEMPLATES]`.

use cuvee::source::FileId;
use cuvee::yaml::{Limits, Out, parse, write_yaml};
use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROUNDS: usize = 5;

fn main() {
    let templates = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(20_000);
    let text: Arc<str> = document(templates).into();
    println!("{:.1} MB, {} lines", text.len() as f64 / 1e6, text.lines().count());

    let limits = Limits::default();
    let Ok(document) = parse(FileId(0), text.clone(), &limits) else { return println!("the document is not read") };
    let Ok(theirs) = serde_yaml::from_str::<serde_yaml::Value>(&text) else {
        return println!("the document is not read by the other");
    };
    println!("written as it was: {}", write_yaml(&Out::Source(document.root())) == *text);
    report("parse", &text, || parse(FileId(0), text.clone(), &limits).is_ok());
    report("write", &text, || write_yaml(&Out::Source(document.root())).len());
    report("serde_yaml parse", &text, || serde_yaml::from_str::<serde_yaml::Value>(&text).is_ok());
    report("serde_yaml write", &text, || serde_yaml::to_string(&theirs).map(|text| text.len()));
}

/// The best of some rounds, since all that disturbs a round makes it slower.
fn report<T>(name: &str, text: &str, work: impl Fn() -> T) {
    let round = || {
        let start = Instant::now();
        black_box(work());
        start.elapsed()
    };
    let best = (0..ROUNDS).map(|_| round()).min().unwrap_or(Duration::MAX);
    println!("{name:<18} {:>7.1} ms {:>8.1} MB/s", best.as_secs_f64() * 1e3, text.len() as f64 / 1e6 / best.as_secs_f64());
}

/// A ring of node templates with conditions and relations.
fn document(templates: usize) -> String {
    let mut text =
        "# generated\ntosca_definitions_version: tosca_variability_1_0\ntopology_template:\n    node_templates:\n".to_owned();
    for index in 0..templates {
        let next = (index + 1) % templates;
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "        node_{index}:\n            type: type_{index}\n            conditions:\n                equal:\n                    \
             - variability_input: mode\n                    - present\n            properties:\n                size: {index}\n                \
             name: 'node {index}' # as shown\n            requirements:\n                - next:\n                      node: node_{next}\n\
             \x20                     relationship: relationship_{index}\n"
        );
    }
    text
}
