//! Checks the file names of artifacts against their artifact type (section 3.7.4.1).

use super::defined::Types;
use super::hierarchy::TypeId;
use crate::diagnostic::{Cite, Code, Diagnostic};
use cuvee_text::case::lower_case;
use cuvee_text::yaml::Node;

impl Types<'_> {
    /// The diagnostic for a file whose extension is not among those of its artifact type, or of the
    /// nearest ancestor that lists extensions. A name without an extension is accepted, because it
    /// tells nothing about the content.
    pub(crate) fn misnamed(&self, kind: TypeId, file: Node<'_>) -> Option<Diagnostic> {
        let text = file.as_str()?;
        let path = if text.contains("://") { text.split(['?', '#']).next()? } else { text };
        let name = lower_case(path.rsplit('/').next()?);
        let listed = self.chain(kind).find_map(|id| self.definition(id).file_ext.as_ref())?;
        let endings: Vec<_> = listed.iter().filter_map(|listed| listed.text()).collect();
        let endings: Vec<_> =
            endings.iter().map(|ending| format!(".{}", ending.trim_start_matches('.'))).collect();
        let fits = |ending: &String| name.ends_with(&lower_case(ending));
        if !name.contains('.') || endings.is_empty() || endings.iter().any(fits) {
            return None;
        }
        let message = format!(
            "a file of the artifact type `{}` has to end in `{}`, not `{text}`",
            self.called(Some(file.document().file()), kind),
            endings.join("` or `"),
        );
        let error = Diagnostic::error(Code::IncompatibleType, message).at(file.span());
        let error = error.section("3.7.4.1");
        Some(match listed.first() {
            Some(first) => error.label(first.span(), "the extensions are listed here"),
            None => error,
        })
    }
}
