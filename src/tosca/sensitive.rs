//! What says by itself that a value is secret: the metadata of its definition, and its name.

use cuvee_text::yaml::Node;

/// Whether a name says that its value is secret.
pub(crate) fn is_sensitive_name(name: &str) -> bool {
    const WORDS: [&str; 5] = ["password", "passwd", "secret", "token", "private_key"];
    // The function of TOSCA 2.0 takes no secret.
    if name == "$token" {
        return false;
    }
    // Every name of a document is checked, and most names are short.
    let is_at = |part: &[u8], word: &str| part.eq_ignore_ascii_case(word.as_bytes());
    let mut words = WORDS.iter();
    words.any(|word| name.as_bytes().windows(word.len()).any(|part| is_at(part, word)))
}

/// Whether the metadata of a definition, type or template say that its values are secret; `None` if
/// they say nothing about it.
pub(crate) fn said_sensitive(node: Node<'_>) -> Option<bool> {
    means_sensitive(node.get("metadata")?.get("sensitive")?.text()?)
}

/// The meaning of the metadata `sensitive`, which should be a string, but may be a boolean.
pub(crate) fn means_sensitive(said: &str) -> Option<bool> {
    match said.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}
