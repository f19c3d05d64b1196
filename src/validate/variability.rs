//! Checks variability inputs independently of any choice: their types, and the values that presets
//! assign to them.

use super::checker::Checker;
use crate::diagnostic::Diagnostics;
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
            let kind = body.get("type").and_then(Node::text);
            let parts = ["key_schema", "entry_schema"].map(|part| body.get(part));
            if kind == Some(NUMBER) {
                parts.into_iter().flatten().for_each(|part| {
                    self.schema_types(&[], part);
                });
            } else {
                self.schema_types(&[], body);
            }
        }
    }
}
