//! How what TOSCA defines is read: maps, by their keynames. What is wrong is said once, and what can
//! be read of it is kept.

use super::shape::{Reading, Shape, Vocabulary};
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::text::yaml::{Node, NodeKind};

/// A name and what is behind it.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// The name.
    pub name: &'a str,
    /// Where the name stands.
    pub key: Node<'a>,
    /// What stands behind it.
    pub value: Node<'a>,
}

impl<'a> Named<'a> {
    /// An entry of a map.
    pub(crate) fn new((key, value): (Node<'a>, Node<'a>)) -> Self {
        Self { name: key.text().unwrap_or_default(), key, value }
    }
}

/// Reads what is written in this grammar: what types and templates are made of, each in its module.
pub(crate) struct Grammar<'d> {
    /// What is said of what does not have its shape.
    pub code: Code,
    /// How strictly keys are read.
    pub reading: Reading,
    /// Where that goes.
    pub diagnostics: &'d mut Diagnostics,
}

impl<'d> Grammar<'d> {
    /// Reads templates, and judges all that they say.
    pub(crate) fn of_template(diagnostics: &'d mut Diagnostics) -> Self {
        Self { code: Code::InvalidTemplate, reading: Reading::Strict, diagnostics }
    }

    /// Reads templates, and leaves alone what may be somebody's own.
    pub(crate) fn lenient(diagnostics: &'d mut Diagnostics) -> Self {
        Self { reading: Reading::Lenient, ..Self::of_template(diagnostics) }
    }

    pub(crate) fn invalid(
        &mut self,
        at: Node<'_>,
        message: impl Into<String>,
        section: &'static str,
    ) {
        self.diagnostics.push(Diagnostic::error(self.code, message).at(at.span()).section(section));
    }

    /// Warns of what the next version will not have any more (section 1.6.1).
    pub(crate) fn deprecated(
        &mut self,
        at: Node<'_>,
        message: impl Into<String>,
        section: &'static str,
    ) {
        self.diagnostics
            .push(Diagnostic::warning(Code::Deprecated, message).at(at.span()).section(section));
    }

    pub(crate) fn wrong(
        &mut self,
        at: Node<'_>,
        what: &str,
        expected: &str,
        section: &'static str,
    ) {
        self.invalid(at, format!("`{what}` has to be {expected}, not {}", at.describe()), section);
    }

    /// The entries of what has to be a map.
    pub(crate) fn map<'a>(
        &mut self,
        node: Node<'a>,
        what: &str,
        section: &'static str,
    ) -> Vec<Named<'a>> {
        if node.kind() != NodeKind::Mapping && !node.is_null() {
            self.wrong(node, what, "a map", section);
        }
        node.entries().map(Named::new).collect()
    }

    /// The entries of a map below this keyname, where it is there.
    pub(crate) fn entries<'a>(
        &mut self,
        node: Node<'a>,
        keyname: &str,
        shape: &Shape,
    ) -> Vec<Named<'a>> {
        // What may not be there is reported as that, and not read: a type of interfaces that has
        // interfaces could have itself.
        let value = node.get(keyname).filter(|_| shape.has(keyname));
        value.map(|value| self.map(value, keyname, shape.section)).unwrap_or_default()
    }

    /// Judges the keynames of what has to be a map.
    pub(crate) fn keynames(&mut self, node: Node<'_>, shape: &Shape) {
        if node.kind() != NodeKind::Mapping {
            return self.invalid(
                node,
                format!("{} has to be a map, not {}", shape.what, node.describe()),
                shape.section,
            );
        }
        let known = Vocabulary::from(shape);
        let unknown = |(key, _)| known.unknown(key, self.reading);
        self.diagnostics.0.extend(node.entries().filter_map(unknown));
    }

    pub(crate) fn string<'a>(
        &mut self,
        node: Node<'a>,
        keyname: &str,
        shape: &Shape,
    ) -> Option<Node<'a>> {
        let value = node.get(keyname)?;
        if value.as_str().is_none() {
            self.wrong(value, keyname, "a string", shape.section);
            return None;
        }
        Some(value)
    }

    /// The name of a type; the primitive type `null` needs no quotes.
    pub(crate) fn type_name<'a>(
        &mut self,
        node: Node<'a>,
        keyname: &str,
        shape: &Shape,
    ) -> Option<Node<'a>> {
        let null =
            node.get(keyname).filter(|value| value.is_null() && value.text() == Some("null"));
        null.or_else(|| self.string(node, keyname, shape))
    }

    /// What is said for people; nothing where nothing stands behind the keyname.
    pub(crate) fn description<'a>(&mut self, node: Node<'a>, shape: &Shape) -> Option<Node<'a>> {
        node.get("description").filter(|text| !text.is_null())?;
        self.string(node, "description", shape)
    }

    pub(crate) fn strings<'a>(
        &mut self,
        node: Node<'a>,
        keyname: &str,
        shape: &Shape,
    ) -> Option<Vec<Node<'a>>> {
        let list = node.get(keyname)?;
        if list.kind() != NodeKind::Sequence {
            self.wrong(list, keyname, "a list of strings", shape.section);
            return None;
        }
        let (strings, others): (Vec<_>, Vec<_>) =
            list.items().partition(|item| item.as_str().is_some());
        others
            .into_iter()
            .for_each(|item| self.wrong(item, keyname, "a list of strings", shape.section));
        Some(strings)
    }
}
