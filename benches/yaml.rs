//! Measures speed and memory of the YAML layer beside other libraries, on a document like large
//! templates: `cargo bench --bench yaml [-- TEMPLATES]`.

mod measured;
#[path = "measured/reading.rs"]
mod reading;

use cuvee::parts::yaml::{Document, Limits, Out, parse, write_yaml};
use cuvee::source::{FileId, SourceText};
use measured::peak_memory;
use reading::{heading, measured_apart, report};
use saphyr::{LoadableYamlNode, MarkedYaml};
use std::fmt::Write;
use std::fs;
use std::hint::black_box;
use std::path::Path;

/// The result that a library makes of a document.
trait Tree {}
impl<T> Tree for T {}

type Parse = fn(&SourceText) -> Option<Box<dyn Tree + '_>>;

const PARSERS: [(&str, Parse); 4] = [
    ("parse, all cores", |text| Some(Box::new(ours(text, usize::MAX)?))),
    ("parse, one core", |text| Some(Box::new(ours(text, 1)?))),
    ("serde_yaml parse", |text| {
        Some(Box::new(serde_yaml::from_str::<serde_yaml::Value>(text).ok()?))
    }),
    ("saphyr parse", |text| Some(Box::new(MarkedYaml::load_from_str(text).ok()?))),
];

fn ours(text: &SourceText, threads: usize) -> Option<Document> {
    parse(FileId::DETACHED, text.clone(), &Limits { threads, ..Limits::default() }).ok()
}

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    if let [_, mode, name, path] = &args[..]
        && mode == "memory"
    {
        return memory(name, Path::new(path));
    }
    let templates = args.iter().find_map(|argument| argument.parse().ok()).unwrap_or(20_000);
    let text = SourceText::from(document(templates));
    let file = tempfile::NamedTempFile::new()?;
    fs::write(file.path(), &*text)?;
    println!(
        "{:.1} MB, {} lines, {} cores",
        text.len() as f64 / 1e6,
        text.lines().count(),
        std::thread::available_parallelism()?
    );
    heading();
    for (name, parse) in PARSERS {
        report(name, &text, Some(measured_apart(name, file.path())?), || parse(&text).is_some());
    }
    let document = ours(&text, 1).ok_or_else(|| anyhow::anyhow!("the document is not read"))?;
    let theirs: serde_yaml::Value = serde_yaml::from_str(&text)?;
    anyhow::ensure!(
        write_yaml(&Out::Source(document.root())) == *text,
        "the document is not written as it was"
    );
    report("write", &text, None, || write_yaml(&Out::Source(document.root())));
    report("serde_yaml write", &text, None, || serde_yaml::to_string(&theirs).ok());
    let types = library(templates);
    // The quick reader does not support anchors, so the parser has to read this.
    let anchored = SourceText::from(format!("{types}last: &anchor 0\n"));
    let types = SourceText::from(types);
    report("types, one core", &types, None, || ours(&types, 1).is_some());
    report("and an anchor", &anchored, None, || ours(&anchored, 1).is_some());
    Ok(())
}

/// Prints by how many bytes at most a process grows that reads a file into a tree.
fn memory(name: &str, path: &Path) -> anyhow::Result<()> {
    let before = peak_memory();
    let text = SourceText::from(fs::read_to_string(path)?);
    for (_, parse) in PARSERS.iter().filter(|parser| parser.0 == name) {
        black_box(parse(&text));
    }
    println!("{}", peak_memory() - before);
    Ok(())
}

/// Types as people write them: in block style, and in flow style where that is shorter.
fn library(types: usize) -> String {
    let mut text = "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n".to_owned();
    for index in 0..types {
        let parent = index / 2;
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "\n  # Number {index}.\n  shop.T{index}:\n    derived_from: shop.T{parent}\n    description: |\n      What we wrote.\n\n      And more.\n    \
             properties:\n      name: {{ type: string }}\n      port: {{ type: integer, default: 8080 }}\n      payments: {{ type: list, entry_schema: \
             {{ type: string }}, required: false }}\n    requirements:\n      - host:\n          capability: tosca.capabilities.Compute\n          \
             occurrences: [0, 1]\n"
        );
    }
    text
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
