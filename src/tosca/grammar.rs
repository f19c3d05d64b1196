//! Reads the elements of TOSCA as maps with known keynames. Each error is reported once, and the
//! readable rest is kept.

use super::shape::{Reading, Shape, Vocabulary};
use super::v2_0;
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics};
use cuvee_text::yaml::{Node, NodeKind};

/// A name and the value below it.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// The name.
    pub name: &'a str,
    /// The node that contains the name.
    pub key: Node<'a>,
    /// The value below the name.
    pub value: Node<'a>,
}

impl<'a> Named<'a> {
    /// Makes one from an entry of a map.
    pub(crate) fn new((key, value): (Node<'a>, Node<'a>)) -> Self {
        Self { name: key.text().unwrap_or_default(), key, value }
    }
}

/// A reader of TOSCA elements. The modules of types and templates add a method for each kind of
/// element.
pub(crate) struct Grammar<'d> {
    /// The code of errors about the shape of elements.
    pub code: Code,
    /// How strictly keys are read.
    pub reading: Reading,
    /// The list to which errors are added.
    pub diagnostics: &'d mut Diagnostics,
}

impl<'d> Grammar<'d> {
    /// A reader of templates that reports every unknown key.
    pub(crate) fn of_template(diagnostics: &'d mut Diagnostics) -> Self {
        Self { code: Code::InvalidTemplate, reading: Reading::Strict, diagnostics }
    }

    /// A reader of templates that accepts unknown keys that may be private ones.
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

    /// Warns of a keyname that the next version removes (section 1.6.1).
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

    /// The entries of a node that has to be a map.
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

    /// The entries of the map below this keyname, if the keyname is present.
    pub(crate) fn entries<'a>(
        &mut self,
        node: Node<'a>,
        keyname: &str,
        shape: &Shape,
    ) -> Vec<Named<'a>> {
        // A keyname that the shape lacks is reported as unknown, and not read. Otherwise an
        // interface type that contains interfaces could contain itself.
        let value = node.get(keyname).filter(|_| shape.has(keyname));
        value.map(|value| self.map(value, keyname, shape.section)).unwrap_or_default()
    }

    /// Checks the keynames of a node that has to be a map.
    pub(crate) fn keynames(&mut self, node: Node<'_>, shape: &Shape) {
        if node.kind() != NodeKind::Mapping {
            return self.invalid(
                node,
                format!("{} has to be a map, not {}", shape.what, node.describe()),
                shape.section,
            );
        }
        // The grammar of TOSCA 2.0 has tables of its own.
        if v2_0::is_of(node.document()) {
            return;
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

    /// The name of a type. The primitive type `null` needs no quotes.
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

    /// The description of an element. Returns nothing where the keyname has no value.
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
