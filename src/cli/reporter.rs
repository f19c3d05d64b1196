//! Diagnostics on standard error: for people as rustc shows them, for programs as one JSON object a
//! line.

use super::args::{MessageFormat, Messages};
use anstream::{AutoStream, ColorChoice};
use cuvee::diagnostic::{Code, Diagnostic, Severity};
use cuvee::source::SourceMap;
use cuvee::{Failure, render};
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// A diagnostic, and the files that it points into.
pub(crate) type LocatedDiagnostic<'d> = (&'d Diagnostic, &'d SourceMap);

/// Whoever is told what went wrong.
#[derive(Clone)]
pub(crate) struct Reporter {
    format: MessageFormat,
    color: ColorChoice,
    quiet: bool,
}

impl Reporter {
    /// As the flags wish.
    pub(crate) fn new(messages: &Messages) -> Self {
        let color = super::output::color(messages.color, &io::stderr());
        Self { format: messages.message_format, color, quiet: messages.quiet }
    }

    /// Whether somebody sits there who would like to know that we are not stuck.
    pub(crate) fn shows_progress(&self) -> bool {
        !self.quiet && self.format == MessageFormat::Human && io::stderr().is_terminal()
    }

    /// Reports what went wrong, and says how to exit.
    pub(crate) fn failed(&self, failure: &Failure) -> ExitCode {
        self.report(&failure.diagnostics, &failure.sources);
        ExitCode::FAILURE
    }

    /// Ends the process, for the time is over.
    pub(crate) fn give_up(&self) {
        super::output::leave_nothing_behind();
        let over =
            Diagnostic::error(Code::Unproven, "the time was over before there was an answer");
        self.failed(&over.help("allow more with `--timeout`").into());
        std::process::exit(1);
    }

    /// Whether this is worth telling: somebody may want to hear of nothing but errors.
    pub(crate) fn tells(&self, severity: Severity) -> bool {
        !self.quiet || severity == Severity::Error
    }

    /// Reports all of them, except for warnings that nobody wants to hear.
    pub(crate) fn report(&self, diagnostics: &[Diagnostic], sources: &SourceMap) {
        let told = diagnostics.iter().filter(|diagnostic| self.tells(diagnostic.severity));
        self.tell(&told.map(|diagnostic| (diagnostic, sources)).collect::<Vec<_>>());
    }

    /// Tells all of them.
    pub(crate) fn tell(&self, found: &[LocatedDiagnostic<'_>]) {
        if found.is_empty() {
            return;
        }
        super::watch::hide();
        let found = found.iter().copied();
        let text = match self.format {
            MessageFormat::Human if self.color == ColorChoice::Never => render::plain(found),
            MessageFormat::Human => render::styled(found),
            MessageFormat::Json => {
                super::output::harmless(&render::json(found), &io::stderr()).into_owned()
            }
        };
        // Whoever closed standard error does not want to know.
        let _ = AutoStream::new(io::stderr(), self.color).write_all(text.as_bytes());
    }
}
