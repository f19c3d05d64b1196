//! The grammar of requirement assignments (section 3.8.2.2), as far as it is not resolved yet.

use super::super::checker::Checker;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::graph::{ElementId, RelationElement};
use crate::template::is_keyword;
use crate::tosca::Occurrences;
use crate::yaml::{Node, NodeKind};

/// What may be said of something, and which kind of node each of that is.
pub(super) struct Grammar {
    /// What it is, for messages.
    pub what: &'static str,
    /// Where its keynames are listed.
    pub section: &'static str,
    /// Its keynames.
    pub keynames: &'static [(&'static str, Value)],
}

/// What stands behind a keyname.
#[derive(Clone, Copy)]
pub(super) enum Value {
    Text,
    Map,
    /// What has been read already, or is read elsewhere.
    Other,
}

/// With what Variability4TOSCA lets every template say of itself.
const REQUIREMENT: Grammar = Grammar {
    what: "a requirement assignment",
    section: "3.8.2.1",
    keynames: &[
        ("capability", Value::Text),
        ("node", Value::Text),
        ("relationship", Value::Other),
        ("node_filter", Value::Other),
        ("occurrences", Value::Other),
        ("description", Value::Text),
        ("metadata", Value::Map),
    ],
};

const INLINE: Grammar = Grammar {
    what: "the relationship of a requirement assignment",
    section: "3.8.2.1",
    keynames: &[
        ("type", Value::Other),
        ("properties", Value::Other),
        ("interfaces", Value::Other),
        ("description", Value::Text),
        ("metadata", Value::Map),
    ],
};

impl<'a> Checker<'_, 'a> {
    pub(super) fn requirement_grammar(&self, relation: &RelationElement<'a>) {
        let value = relation.requirement.declared.value;
        self.grammar(&[relation.id], value, &REQUIREMENT);
        match value.get("relationship") {
            Some(relationship) if relationship.kind() == NodeKind::Mapping => self.grammar(&[relation.id], relationship, &INLINE),
            Some(other) if other.as_str().is_none() && !other.is_null() => {
                let message = format!("`relationship` is a name or a map, not {}", other.describe());
                let error = Diagnostic::error(Code::InvalidTemplate, message).at(other.span());
                self.report(relation.id, error.section("3.8.2.2.2"));
            }
            _ => {}
        }
        if let Some(wrong) = value.get("occurrences").filter(|node| occurrences(*node).is_none()) {
            let message = "`occurrences` is a lower and an upper bound, such as `[0, 2]` or `[1, UNBOUNDED]`";
            let error = Diagnostic::error(Code::InvalidTemplate, message).at(wrong.span());
            self.report(relation.id, error.section("3.8.2.1"));
        }
    }

    /// Reports each key that is neither a keyname nor a keyword of variability, and each value that is not what it should be.
    pub(super) fn grammar(&self, when: &[ElementId], body: Node<'_>, grammar: &Grammar) {
        for (key, value) in body.entries() {
            let text = key.text().unwrap_or_default();
            let known = || grammar.keynames.iter().map(|(keyname, _)| *keyname);
            let expected = match grammar.keynames.iter().find(|(keyname, _)| *keyname == text) {
                Some((_, Value::Text)) if value.as_str().is_none() && !value.is_null() => "a string",
                Some((_, Value::Map)) if value.kind() != NodeKind::Mapping && !value.is_null() => "a map",
                None if !is_keyword(text) => {
                    let message = format!("`{text}` is not a keyname of {}", grammar.what);
                    let error = Diagnostic::error(Code::UnknownKeyword, message).at(key.span()).section(grammar.section);
                    let error = error.help(format!("known are {}", known().collect::<Vec<_>>().join(", ")));
                    self.report_when(when, &[], error.help_opt(did_you_mean(text, known())));
                    continue;
                }
                _ => continue,
            };
            let message = format!("`{text}` is {expected}, not {}", value.describe());
            let error = Diagnostic::error(Code::InvalidTemplate, message).at(value.span());
            self.report_when(when, &[], error.section(grammar.section));
        }
    }
}

/// A lower and an upper bound; nothing where they are not.
pub(super) fn occurrences(node: Node<'_>) -> Option<Occurrences<'_>> {
    let bound = |item: Node<'_>| item.text()?.parse::<u64>().ok().filter(|_| item.as_str().is_none());
    let mut items = node.items();
    let (min, max, None) = (bound(items.next()?)?, items.next()?, items.next()) else { return None };
    let max = if max.as_str() == Some("UNBOUNDED") { None } else { Some(bound(max)?) };
    max.is_none_or(|max| min <= max).then_some(Occurrences { node, min, max })
}
