//! `cuvee completions` and `cuvee man`: what packages bring along beside the binary.

use super::args::{CommandLine, CompletionsArgs, ManArgs};
use super::{Outcome, output, rejected};
use clap::CommandFactory;
use clap_mangen::Man;
use cuvee::diagnostic::{Code, Diagnostic};
use std::process::ExitCode;

/// Prints the script that completes command lines.
pub(crate) fn completions(args: &CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut CommandLine::command(), "cuvee", &mut script);
    print(&script)
}

/// Prints a page of the manual.
pub(crate) fn man(args: &ManArgs) -> Outcome {
    let mut command = CommandLine::command().disable_help_subcommand(true);
    // Only now the commands know that they are `cuvee-resolve` and the like.
    command.build();
    let named = args.command.as_deref().and_then(|name| command.find_subcommand(name)).cloned();
    let mut page = Vec::new();
    let rendered = Man::new(named.unwrap_or(command)).render(&mut page);
    rendered.map_err(|error| {
        rejected(Diagnostic::error(Code::File, format!("cannot write the page: {error}")))
    })?;
    print(&page)
}

fn print(text: &[u8]) -> Outcome {
    output::to_stdout(text).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}
