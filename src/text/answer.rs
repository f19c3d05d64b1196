//! What a question comes to: an answer with what is to be said besides, or a failure.

use super::diagnostic::Diagnostic;
use super::source::SourceMap;

/// What a question comes to, and what is to be said besides.
#[derive(Debug)]
pub struct Answer<T> {
    /// The answer.
    pub result: T,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
    /// The files that warnings point into.
    pub sources: SourceMap,
}

/// Why there is no result: at least one error, possibly warnings, and the files they point into.
pub struct Failure {
    /// In the order found.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that were read.
    pub sources: SourceMap,
}

/// A failure that has no place in a file.
impl From<Diagnostic> for Failure {
    fn from(error: Diagnostic) -> Self {
        Self { diagnostics: vec![error], sources: SourceMap::default() }
    }
}

impl Failure {
    /// As the command shows it, with the line of each place; in text without colours.
    #[cfg(feature = "render")]
    pub fn render(&self) -> String {
        let found = self.diagnostics.iter().map(|diagnostic| (diagnostic, &self.sources));
        super::render::plain(found)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, diagnostic) in self.diagnostics.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{}", diagnostic.one_line(&self.sources))?;
        }
        Ok(())
    }
}

/// As for display: a `main` that returns it prints what people can read, not whole files.
impl std::fmt::Debug for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Failure {}
