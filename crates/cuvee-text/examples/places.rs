//! Prints where each key of a YAML file is: `cargo run --example places -- FILE`.

use cuvee_text::source::{OsFiles, SourceMap};
use cuvee_text::yaml::{Limits, Node, parse};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(name) = std::env::args().nth(1) else {
        eprintln!("usage: places FILE");
        return ExitCode::from(2);
    };
    match std::fs::read_to_string(&name).and_then(|text| print_keys(&name, text)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print_keys(name: &str, text: String) -> io::Result<ExitCode> {
    let sources = SourceMap::default();
    let file = sources.add_from(&OsFiles, Path::new(name), text.as_str());
    match parse(file, text.into(), &Limits::default()) {
        Ok(document) => print_below(document.root(), &sources, 0).map(|()| ExitCode::SUCCESS),
        Err(error) => {
            eprintln!("{}", error.one_line(&sources));
            Ok(ExitCode::FAILURE)
        }
    }
}

fn print_below(node: Node<'_>, sources: &SourceMap, depth: usize) -> io::Result<()> {
    for (key, value) in node.entries() {
        let (place, indent) = (sources.place(key.span()), 2 * depth);
        writeln!(io::stdout(), "{place}: {:indent$}{}", "", key.text().unwrap_or("?"))?;
        print_below(value, sources, depth + 1)?;
    }
    node.items().try_for_each(|item| print_below(item, sources, depth + 1))
}
