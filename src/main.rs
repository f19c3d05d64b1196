//! The command line.

mod cli;

use cli::args::{Arguments, Command};
use cli::{explain, export, import, options, render::Reporter, resolve, test};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::from_command_line();
    let reporter = Reporter::new(&arguments.messages);
    let outcome = match &arguments.command {
        Command::Resolve(args) => resolve::run(args, &reporter),
        Command::Test(args) => test::run(args),
        Command::Options(args) => options::run(args),
        Command::ExplainCode(args) => explain::run(args),
        Command::Export(args) => export::run(args),
        Command::Import(args) => import::run(args),
    };
    outcome.unwrap_or_else(|failure| reporter.failed(&failure))
}
