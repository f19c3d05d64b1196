//! What is nobody's business: secrets are named, never shown.

use crate::tosca::types::PropertyDefinition;
use crate::tosca::{Family, TypeRef, Types};

/// Whether a name says that its value is secret.
pub(super) fn is_sensitive_name(name: &str) -> bool {
    const WORDS: [&str; 5] = ["password", "passwd", "secret", "token", "private_key"];
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// What a definition says of it: its metadata, else its type; nothing where the name decides.
pub(super) fn of_definition(
    definition: &PropertyDefinition<'_>,
    types: &Types<'_>,
) -> Option<bool> {
    let said = definition.named.value.get("metadata").and_then(|said| said.get("sensitive"));
    if let Some(text) = said.and_then(|said| said.text()) {
        return Some(text == "true");
    }
    let kind = definition.schema.kind?;
    let id = types.find_in(Some(kind.span().file), Family::Data, kind.text()?)?;
    let credential = types.find(Family::Data, "tosca.datatypes.Credential")?;
    types.derives(TypeRef::Defined(id), TypeRef::Defined(credential)).then_some(true)
}
