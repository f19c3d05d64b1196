//! The command line.

mod cli;

use cli::args::{Arguments, Command};
use cli::{diff, explain, options, packaging, render::Reporter, resolve, test};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::from_command_line();
    let reporter = Reporter::new(&arguments.messages);
    let outcome = match &arguments.command {
        Command::Resolve(args) => resolve::run(args, &reporter),
        Command::Test(args) => test::run(args),
        Command::Options(args) => options::run(args),
        Command::ExplainCode(args) => explain::run(args),
        Command::Diff(args) => diff::run(args, arguments.messages.color, &reporter),
        Command::Completions(args) => packaging::completions(args),
        Command::Man(args) => packaging::man(args),
    };
    outcome.unwrap_or_else(|failure| reporter.failed(&failure))
}
