//! Checks variability inputs independently of any choice: their types, and the values that presets
//! assign to them.

use super::checker::Checker;
use crate::diagnostic::Diagnostics;
use crate::tosca::value::Primitive;
use crate::variability::inputs::{self, InputMode};
use cuvee_text::yaml::{Node, NodeKind};

/// Another name of `float` in variability definitions.
const NUMBER: &str = "number";

impl Checker<'_, '_> {
    /// Checks variability inputs and presets.
    pub(super) fn variability(&self) {
        self.input_types();
        let (inputs, presets) = (&self.prepared.inputs, &self.prepared.presets);
        for name in presets.names() {
            let mut diagnostics = Diagnostics::default();
            let assigned = presets.assignments(&[name], &mut diagnostics);
            inputs::assign(&inputs.declarations, assigned, InputMode::Open, &mut diagnostics);
            self.report_all(&[], diagnostics);
        }
    }

    /// Checks that the types of variability inputs exist.
    fn input_types(&self) {
        let Some(declared) = self.graph.template.variability.inputs else { return };
        let declared = declared.entries().chain(declared.items().flat_map(Node::entries));
        for (_, body) in declared.filter(|(_, body)| body.kind() == NodeKind::Mapping) {
            self.input_schema(body);
        }
    }

    /// Checks that the types of a schema exist. What is built in in version 1.3 is so in TOSCA 2.0 as
    /// well.
    fn input_schema(&self, schema: Node<'_>) {
        let kind = schema.get("type").unwrap_or(schema).text();
        if kind.is_some_and(|kind| kind == NUMBER || Primitive::from_name(kind).is_some()) {
            let parts = ["key_schema", "entry_schema"].into_iter();
            parts.filter_map(|part| schema.get(part)).for_each(|part| self.input_schema(part));
        } else {
            self.schema_types(&[], schema);
        }
    }
}
