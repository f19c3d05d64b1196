//! Checks the shape of parts that variability does not affect and that are therefore not
//! interpreted.

use super::checker::Checker;
use crate::diagnostic::{Cite, Code, Diagnostic, did_you_mean};
use crate::tosca::Occurrences;
use crate::tosca::shape::{Reading, Vocabulary};
use crate::tosca::v2_0;
use crate::variability::graph::ElementId;
use cuvee_text::yaml::{Node, NodeKind};

impl Checker<'_, '_> {
    /// Reports each unknown key of a map.
    pub(super) fn keynames(
        &self,
        when: &[ElementId],
        body: Node<'_>,
        known: impl Into<Vocabulary>,
    ) {
        let known = known.into();
        let judged = if self.graph.template.is_plain() { known.of_tosca() } else { known };
        // Keynames that only variable templates may use are reported as such elsewhere.
        for (key, _) in
            body.entries().filter(|(key, _)| !key.text().is_some_and(|key| known.is_added(key)))
        {
            if let Some(error) = judged.unknown(key, Reading::Strict) {
                self.report_when(when, &[], error);
            }
        }
    }

    /// Checks the description and the metadata. Metadata values may be written without quotes, as
    /// in section 3.10.3.2.
    pub(super) fn about(&self, when: &[ElementId], body: Node<'_>, section: &'static str) {
        if let Some(description) =
            body.get("description").filter(|text| text.as_str().is_none() && !text.is_null())
        {
            self.wrong(when, description, "description", "a string", section);
        }
        for (key, value) in self.map(when, body, "metadata", section) {
            // In TOSCA 2.0 they may be anything (section 5.3.1).
            if value.kind() != NodeKind::Scalar && !v2_0::is_of(value.document()) {
                self.wrong(when, value, key.text().unwrap_or_default(), "a string", section);
            }
        }
    }

    /// The entries of the map below a keyname, if it exists; a value that is not a map is reported.
    pub(super) fn map<'n>(
        &self,
        when: &[ElementId],
        body: Node<'n>,
        keyname: &str,
        section: &'static str,
    ) -> impl Iterator<Item = (Node<'n>, Node<'n>)> + use<'n> {
        let value = body.get(keyname);
        if let Some(value) =
            value.filter(|value| value.kind() != NodeKind::Mapping && !value.is_null())
        {
            self.wrong(when, value, keyname, "a map", section);
        }
        value.into_iter().flat_map(Node::entries)
    }

    /// Reads a pair of a lower and an upper bound.
    pub(super) fn occurrences<'n>(
        &self,
        when: &[ElementId],
        node: Node<'n>,
        section: &'static str,
    ) -> Option<Occurrences<'n>> {
        let occurrences = Occurrences::read(node);
        if occurrences.is_none() {
            let error =
                Diagnostic::error(Code::InvalidTemplate, Occurrences::EXPECTED).at(node.span());
            self.report_when(when, &[], error.section(section));
        }
        occurrences
    }

    /// Reports a value of the wrong shape.
    pub(super) fn wrong(
        &self,
        when: &[ElementId],
        at: Node<'_>,
        what: &str,
        expected: &str,
        section: &'static str,
    ) {
        let error = Diagnostic::error(
            Code::InvalidTemplate,
            format!("`{what}` has to be {expected}, not {}", at.describe()),
        );
        self.report_when(when, &[], error.at(at.span()).section(section));
    }

    /// Reports a name that a type does not define.
    pub(super) fn undefined<'n>(
        &self,
        when: &[ElementId],
        key: Node<'_>,
        message: String,
        known: impl IntoIterator<Item = &'n str>,
        section: &'static str,
    ) {
        let error =
            Diagnostic::error(Code::UnknownDefinition, message).at(key.span()).section(section);
        self.report_when(
            when,
            &[],
            error.help_opt(did_you_mean(key.text().unwrap_or_default(), known)),
        );
    }
}
