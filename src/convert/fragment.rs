//! Turns XML elements without a schema into texts for YAML, and back.

use crate::tosca::v1_0::{TOSCA, canonical_element};
use cuvee_text::source::FileId;
use cuvee_text::xml::{XmlElement, XmlLimits, parse};

/// An element as a text of its own, in canonical form, together with the namespaces that are
/// declared around it. `source` is the text of the element in its document.
pub(super) fn to_text(element: XmlElement<'_>, source: &str) -> String {
    let mut declared: Vec<_> = element.declarations().map(|(prefix, _)| prefix).collect();
    let (mut around, mut at) = (Vec::new(), element);
    while let Some(parent) = at.parent() {
        for (prefix, uri) in parent.declarations() {
            let is_used = || match prefix {
                "" => has_unprefixed(element),
                prefix => is_named(source, prefix),
            };
            if !declared.contains(&prefix) && is_used() {
                around.push((prefix, uri));
            }
            declared.push(prefix);
        }
        at = parent;
    }
    canonical_element(element, around)
}

/// The element that a text contains, in a form that can be written among other elements. `None` if
/// it is not an element that may be used in properties.
pub(super) fn to_element(text: &str) -> Option<String> {
    // The element will be nested in a document, so only half of the usual limits is available.
    let usual = XmlLimits::default();
    let half = XmlLimits { depth: usual.depth / 2, bindings: usual.bindings / 2, ..usual };
    let document = parse(FileId::DETACHED, text.into(), &half).ok()?;
    let root = document.root();
    let (name, whole) = (root.written_name(), root.whole_span());
    let whole = text.get(whole.start as usize..whole.end as usize)?;
    let rest = whole.strip_prefix('<')?.strip_prefix(name)?;
    let says_default = root.declarations().any(|(prefix, _)| prefix.is_empty());
    let none = if says_default || !has_unprefixed(root) { "" } else { " xmlns=\"\"" };
    // The schema of TOSCA allows elements of other namespaces here, but not elements without a
    // namespace.
    let is_of_others = !["", TOSCA].contains(&root.name().namespace);
    is_of_others.then(|| format!("<{name}{none}{rest}"))
}

/// Whether a text contains a name with this prefix.
fn is_named(text: &str, prefix: &str) -> bool {
    let mut found = text.match_indices(prefix);
    found.any(|(at, _)| {
        let (before, behind) = (text.get(..at), text.get(at + prefix.len()..));
        let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        before.is_some_and(|before| !before.ends_with(is_of_name))
            && behind.is_some_and(|behind| behind.starts_with(':'))
    })
}

/// Whether the element or a descendant is written without a prefix.
fn has_unprefixed(element: XmlElement<'_>) -> bool {
    let mut open = vec![element];
    while let Some(element) = open.pop() {
        if !element.written_name().contains(':') {
            return true;
        }
        open.extend(element.elements());
    }
    false
}
