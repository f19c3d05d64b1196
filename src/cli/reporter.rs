//! Writes diagnostics to standard error: for people in the style of rustc, for programs as one JSON
//! object a line.

use super::args::{MessageFormat, Messages};
use anstream::{AutoStream, ColorChoice};
use cuvee::Failure;
use cuvee::diagnostic::render;
use cuvee::diagnostic::{Code, Diagnostic, Severity};
use cuvee::source::SourceMap;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// A diagnostic, with the sources that it points into.
pub(crate) type LocatedDiagnostic<'d> = (&'d Diagnostic, &'d SourceMap);

/// The most diagnostics of one code that are shown on a terminal.
const MOST: usize = 10;
/// How to see all of them.
const ALL: &str = "`2>&1 | less` at the end of the command shows all";

/// Writes diagnostics in the requested way.
#[derive(Clone)]
pub(crate) struct Reporter {
    format: MessageFormat,
    color: ColorChoice,
    quiet: bool,
}

impl Reporter {
    /// The reporter that the flags describe.
    pub(crate) fn new(messages: &Messages) -> Self {
        let color = super::output::color(messages.color, &io::stderr());
        Self { format: messages.message_format, color, quiet: messages.quiet }
    }

    /// Whether to show progress: standard error is a terminal, and the messages are for people.
    pub(crate) fn shows_progress(&self) -> bool {
        !self.quiet && self.format == MessageFormat::Human && io::stderr().is_terminal()
    }

    /// Whether only errors and answers are shown.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Reports a failure, and returns the exit code.
    pub(crate) fn failed(&self, failure: &Failure) -> ExitCode {
        self.report(&failure.diagnostics, &failure.sources);
        ExitCode::FAILURE
    }

    /// Ends the process because the time limit was reached.
    pub(crate) fn give_up(&self) {
        super::output::leave_nothing_behind();
        let over =
            Diagnostic::error(Code::Unproven, "the time was over before there was an answer");
        self.failed(&over.help("allow more time with `--timeout`").into());
        std::process::exit(1);
    }

    /// Whether diagnostics of this severity are shown. With `quiet`, only errors are.
    pub(crate) fn tells(&self, severity: Severity) -> bool {
        !self.quiet || severity == Severity::Error
    }

    /// Reports all diagnostics that are shown.
    pub(crate) fn report(&self, diagnostics: &[Diagnostic], sources: &SourceMap) {
        let told = diagnostics.iter().filter(|diagnostic| self.tells(diagnostic.severity));
        self.tell(&told.map(|diagnostic| (diagnostic, sources)).collect::<Vec<_>>());
    }

    /// Writes all of these diagnostics.
    pub(crate) fn tell(&self, found: &[LocatedDiagnostic<'_>]) {
        if found.is_empty() {
            return;
        }
        super::watch::hide();
        let found = found.iter().copied();
        let text = match self.format {
            MessageFormat::Human if io::stderr().is_terminal() => {
                render::brief(found, self.color != ColorChoice::Never, MOST, ALL)
            }
            MessageFormat::Human if self.color == ColorChoice::Never => render::plain(found),
            MessageFormat::Human => render::styled(found),
            MessageFormat::Json => {
                super::output::harmless(&render::json(found), &io::stderr()).into_owned()
            }
        };
        // If standard error is closed, nobody reads the message.
        let _ = AutoStream::new(io::stderr(), self.color).write_all(text.as_bytes());
    }
}
