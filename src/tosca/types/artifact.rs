//! What an artifact type says of the files of its artifacts (section 3.7.4.1).

use super::defined::Types;
use super::hierarchy::TypeId;
use crate::text::diagnostic::{Code, Diagnostic};
use crate::text::yaml::Node;

impl Types<'_> {
    /// What to say of a file whose extension is none of those that its artifact type lists, or the
    /// nearest ancestor that does. A name without an extension says nothing of what is in the file.
    pub(crate) fn misnamed(&self, kind: TypeId, file: Node<'_>) -> Option<Diagnostic> {
        let text = file.as_str()?;
        let path = if text.contains("://") { text.split(['?', '#']).next()? } else { text };
        let name = path.rsplit('/').next()?.to_lowercase();
        let listed = self.chain(kind).find_map(|id| self.definition(id).file_ext.as_ref())?;
        let endings: Vec<_> = listed.iter().filter_map(|listed| listed.text()).collect();
        let endings: Vec<_> =
            endings.iter().map(|ending| format!(".{}", ending.trim_start_matches('.'))).collect();
        let fits = |ending: &String| name.ends_with(&ending.to_lowercase());
        if !name.contains('.') || endings.is_empty() || endings.iter().any(fits) {
            return None;
        }
        let message = format!(
            "a file of the artifact type `{}` has to end in `{}`, not `{text}`",
            self.definition(kind).name,
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
