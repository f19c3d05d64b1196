//! The settings of a conversion.

use crate::diagnostic::{Code, Diagnostic};
use cuvee_text::yaml::Node;

/// The counterparts of types in the other format, by namespace and name.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypeCounterparts(Vec<(String, String, String)>);

impl TypeCounterparts {
    /// Reads a map from qualified names, such as `{urn:example:shop}HostedOn`, to names of types.
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
                let message = format!("the value of `{name}` has to be the name of a type");
                return Err(Diagnostic::error(Code::Usage, message).at(value.span()));
            };
            all.push((namespace.to_owned(), local.to_owned(), meant.to_owned()));
        }
        Ok(Self(all))
    }

    /// The counterpart of a type.
    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(of, local, _)| of == namespace && local == name);
        found.map(|(_, _, meant)| &**meant)
    }

    /// The namespace and name of a type with this name in YAML.
    pub(in crate::convert) fn given(&self, meant: &str) -> Option<(&str, &str)> {
        let found = self.0.iter().rev().find(|(.., of)| of == meant);
        found.map(|(namespace, local, _)| (&**namespace, &**local))
    }
}

/// The settings of a conversion to YAML.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToYamlSettings {
    /// The service template to convert: its id, or `{namespace}id`.
    pub service_template: Option<String>,
    /// The implementations to use if a type has several: their names, or `{namespace}name`.
    pub implementations: Vec<String>,
    pub counterparts: TypeCounterparts,
    /// Whether the output is a single document without further files.
    pub is_single: bool,
    /// Whether only the value of the document is asked for, and neither its text nor what is lost.
    pub has_no_texts: bool,
}

/// Whether a component has this name, which may contain the namespace.
pub(super) fn is_called(wanted: &str, namespace: &str, name: &str) -> bool {
    match wanted.strip_prefix('{').and_then(|wanted| wanted.split_once('}')) {
        Some((of, local)) => of == namespace && local == name,
        None => wanted == name,
    }
}
