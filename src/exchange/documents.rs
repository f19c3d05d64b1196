//! Writes answers as the JSON documents of the command.

use crate::topology::diff::Diff;
use crate::tosca::TypeReport;
use serde::Serialize;

/// The version of the documents. It grows when a part is removed or changes its meaning.
pub const VERSION: u32 = 1;

/// An answer as a document: its keys behind the version.
///
/// ```
/// use cuvee::output::json::AnswerDocument;
/// let count = cuvee::Resolver::new("examples/shop").count_variants(&Default::default())?.result;
/// let text = serde_json::to_string(&AnswerDocument::of(&count)).unwrap();
/// assert!(text.starts_with(r#"{"version":1,"count":"459","#));
/// # Ok::<(), cuvee::Failure>(())
/// ```
#[derive(Debug, Serialize)]
pub struct AnswerDocument<'r, T> {
    version: u32,
    #[serde(flatten)]
    result: &'r T,
}

impl<'r, T: Serialize> AnswerDocument<'r, T> {
    /// The document of an answer that has keys.
    pub fn of(result: &'r T) -> Self {
        Self { version: VERSION, result }
    }
}

/// What validating found, each as it is reported alone.
#[cfg(feature = "render")]
#[derive(Debug, Serialize)]
pub struct FindingsDocument {
    findings: Vec<Box<serde_json::value::RawValue>>,
}

#[cfg(feature = "render")]
impl FindingsDocument {
    /// The findings, each with the files that it points into.
    pub fn of<'d>(
        found: impl IntoIterator<
            Item = (&'d crate::diagnostic::Diagnostic, &'d cuvee_text::source::SourceMap),
        >,
    ) -> Self {
        // Each line is an object.
        let finding = |line: &str| serde_json::value::RawValue::from_string(line.to_owned()).ok();
        let lines = cuvee_text::render::json(found);
        Self { findings: lines.lines().filter_map(finding).collect() }
    }
}

/// The types of a name, of which there may be one in each of several families.
#[derive(Debug, Serialize)]
pub struct TypesOfName {
    /// Each type.
    pub definitions: Vec<TypeReport>,
}

/// A difference, with what it is between.
#[derive(Debug, Serialize)]
pub struct NamedDiff<'a> {
    /// The names of the presets, or the file, that were first.
    pub from: Option<&'a str>,
    /// The names of the presets, or the file, that came second.
    pub to: Option<&'a str>,
    /// What differs.
    #[serde(flatten)]
    pub diff: &'a Diff,
}
