//! What a conversion is told.

use crate::text::diagnostic::{Code, Diagnostic};
use crate::text::yaml::Node;

/// Types and what they are in the other format, by namespace and name.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypeCounterparts(Vec<(String, String, String)>);

impl TypeCounterparts {
    /// Reads a map of names, such as `{urn:example:shop}HostedOn`, to names of types.
    pub(crate) fn read(root: Node<'_>) -> Result<Self, Diagnostic> {
        let mut all = Vec::new();
        for (key, value) in root.entries() {
            let name = key.text().unwrap_or_default();
            let Some((namespace, local)) =
                name.strip_prefix('{').and_then(|name| name.split_once('}'))
            else {
                let message = format!("`{name}` does not say which type is meant");
                let error = Diagnostic::error(Code::Usage, message).at(key.span());
                return Err(error.help("write `{namespace}name`, in quotes"));
            };
            let Some(meant) = value.text().filter(|meant| !meant.is_empty()) else {
                let message = format!("what `{name}` is has to be the name of a type");
                return Err(Diagnostic::error(Code::Usage, message).at(value.span()));
            };
            all.push((namespace.to_owned(), local.to_owned(), meant.to_owned()));
        }
        Ok(Self(all))
    }

    /// What a type is.
    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(of, local, _)| of == namespace && local == name);
        found.map(|(_, _, meant)| &**meant)
    }

    /// The namespace and the name of a type that is called so in YAML.
    pub(in crate::convert) fn given(&self, meant: &str) -> Option<(&str, &str)> {
        let found = self.0.iter().rev().find(|(.., of)| of == meant);
        found.map(|(namespace, local, _)| (&**namespace, &**local))
    }
}

/// What a conversion is told.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToYamlSettings {
    /// The id of a service template, or `{namespace}id`.
    pub service_template: Option<String>,
    /// Names of implementations that are taken where there are several, likewise.
    pub implementations: Vec<String>,
    pub counterparts: TypeCounterparts,
    /// Whether one document is to come out, and no files beside it.
    pub is_single: bool,
}

/// Whether a component is called so: by its name, or by its namespace and name.
pub(super) fn is_called(wanted: &str, namespace: &str, name: &str) -> bool {
    match wanted.strip_prefix('{').and_then(|wanted| wanted.split_once('}')) {
        Some((of, local)) => of == namespace && local == name,
        None => wanted == name,
    }
}
