//! Defines the outcome of a question: an [`Answer`] with warnings, or a [`Failure`].

use super::diagnostic::Diagnostic;
use super::source::SourceMap;

/// A result together with the warnings that were found on the way.
#[derive(Debug)]
pub struct Answer<T> {
    /// The result.
    pub result: T,
    /// The warnings.
    pub warnings: Vec<Diagnostic>,
    /// The files that the warnings point into.
    pub sources: SourceMap,
}

/// The reason why there is no result: at least one error, possibly warnings, and the files that
/// they point into.
pub struct Failure {
    /// The errors and warnings, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that were read.
    pub sources: SourceMap,
}

/// Turns an error into a failure without files, so that the error has no place in a file.
impl From<Diagnostic> for Failure {
    fn from(error: Diagnostic) -> Self {
        Self { diagnostics: vec![error], sources: SourceMap::default() }
    }
}

impl Failure {
    /// Renders the diagnostics for people, with the source line of each place, without colours.
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

/// Formats the failure as `Display` does, so that a `main` that returns it prints readable text and
/// not whole files.
impl std::fmt::Debug for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Failure {}
