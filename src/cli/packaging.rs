//! Runs `cuvee completions` and `cuvee man`, whose output packages ship with the binary.

use super::args::{CommandLine, CompletionsArgs, ManArgs};
use super::{Outcome, manual, output, rejected};
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use cuvee::Failure;
use cuvee::diagnostic::{Code, Diagnostic, did_you_mean};
use std::io;
use std::process::ExitCode;

/// Prints the script that completes command lines.
pub(crate) fn completions(args: &CompletionsArgs) -> Outcome {
    // The scripts for these shells call the program for names in the template. Other shells
    // complete flags only.
    match args.shell {
        Shell::Bash => print(include_bytes!("complete/bash.sh")),
        Shell::Zsh => print(include_bytes!("complete/zsh.zsh")),
        Shell::Fish => print(include_bytes!("complete/fish.fish")),
        shell => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut CommandLine::command(), "cuvee", &mut script);
            print(&script)
        }
    }
}

/// Prints a page of the manual.
pub(crate) fn man(args: &ManArgs) -> Outcome {
    let mut command = manual::arranged(CommandLine::command()).disable_help_subcommand(true);
    // Building gives the commands their names such as `cuvee-resolve`.
    command.build();
    let named = args.command.as_deref().and_then(|name| command.find_subcommand(name));
    let named = match (named, args.subcommand.as_deref()) {
        (Some(command), Some(name)) => Some(below(command, name)?),
        (named, _) => named,
    };
    let words = args.command.iter().chain(&args.subcommand);
    let name = words.map(String::as_str).collect::<Vec<_>>().join(" ");
    let page = page(named.unwrap_or(&command).clone(), &name);
    let page = page.map_err(|error| {
        rejected(Diagnostic::error(Code::File, format!("cannot write the page: {error}")))
    })?;
    print(&page)
}

/// The subcommand of a command.
fn below<'c>(command: &'c clap::Command, name: &str) -> Result<&'c clap::Command, Failure> {
    command.find_subcommand(name).ok_or_else(|| {
        let message = format!("`{}` has no command `{name}`", command.get_name());
        let help = did_you_mean(name, command.get_subcommands().map(clap::Command::get_name));
        rejected(Diagnostic::error(Code::Usage, message).help_opt(help))
    })
}

/// The manual page of a command. An empty name gives the page of the whole program.
fn page(command: clap::Command, name: &str) -> io::Result<Vec<u8>> {
    let of_all = name.is_empty();
    let has_commands = command.has_subcommands();
    // The page has its own section about exit codes.
    let command = if of_all { command.after_help(None) } else { command };
    let has_notes = command.get_after_help().is_some();
    let man = Man::new(command);
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_commands {
        man.render_subcommands_section(&mut page)?;
    }
    if has_notes {
        man.render_extra_section(&mut page)?;
    }
    manual::sections(name).to_writer(&mut page)?;
    if of_all {
        man.render_version_section(&mut page)?;
    }
    Ok(page)
}

fn print(text: &[u8]) -> Outcome {
    output::to_stdout(text).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}
