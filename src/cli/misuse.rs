//! Reports wrong command lines, before any command runs.

use super::args::{MessageFormat, Messages};
use super::output;
use super::reporter::Reporter;
use clap::ColorChoice;
use cuvee::diagnostic::{Code, Diagnostic};
use cuvee::source::SourceMap;
use std::io::{self, Write};

/// Reports the error, or shows the requested help, and ends the process: with exit code 2 for wrong
/// usage, with 0 for help.
pub(crate) fn exit(error: &clap::Error, format: MessageFormat) -> ! {
    if format == MessageFormat::Json && error.use_stderr() {
        let messages = Messages { message_format: format, color: ColorChoice::Never, quiet: false };
        Reporter::new(&messages).report(&[diagnostic(error)], &SourceMap::default());
        std::process::exit(error.exit_code());
    }
    if error.use_stderr() {
        error.exit();
    }
    // Help and versions are results: that they cannot be written is an error as with any result.
    let printed = error.print().and_then(|()| io::stdout().flush());
    match output::told(printed) {
        Ok(()) => std::process::exit(error.exit_code()),
        Err(problem) => {
            let messages =
                Messages { message_format: format, color: ColorChoice::Auto, quiet: false };
            Reporter::new(&messages).report(&[problem], &SourceMap::default());
            std::process::exit(1)
        }
    }
}

/// Splits the text of an error into a message and advice. The advice is its tips if there are any,
/// or else the usage.
fn diagnostic(error: &clap::Error) -> Diagnostic {
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n").map(one_line);
    let message = paragraphs.next().unwrap_or_default();
    let (tips, others): (Vec<_>, Vec<_>) =
        paragraphs.partition(|paragraph| paragraph.starts_with("tip: "));
    let usage = || others.into_iter().find(|paragraph| paragraph.starts_with("Usage: "));
    let tips: Vec<_> = tips.iter().map(|tip| tip.trim_start_matches("tip: ")).collect();
    let help = if tips.is_empty() { usage() } else { Some(tips.join("; ")) };
    let diagnostic =
        Diagnostic::error(Code::Usage, message.strip_prefix("error: ").unwrap_or(&message));
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

fn one_line(paragraph: &str) -> String {
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}
