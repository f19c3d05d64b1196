//! Measures how long instances take: first the store alone, then commands on a large instance,
//! beside their goals: `cargo bench --bench instance [-- NAME]`.

mod load;
#[path = "../measured/mod.rs"]
mod measured;
#[path = "../templates/plain.rs"]
mod plain;
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
