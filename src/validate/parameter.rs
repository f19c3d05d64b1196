//! Checks topology inputs and outputs, which are parameter definitions (section 3.6.14).

use super::checker::Checker;
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics};
use crate::tosca::shape::PARAMETER;
use crate::tosca::value::{Schema, check_definition, check_value, defines_parameter};
use crate::tosca::{Named, v2_0};
use crate::variability::graph::ElementId;
use crate::variability::template::{Parameter, shape};
use cuvee_text::yaml::{Node, NodeKind};

impl<'a> Checker<'_, 'a> {
    /// Checks all topology inputs and outputs.
    pub(super) fn parameters(&self) {
        for input in self.graph.inputs.iter().filter(|input| self.counts(input.id)) {
            self.parameter(input.id, input.parameter);
            let body = input.parameter.declared.value();
            let owner = self.graph.display(input.id).to_string();
            self.unchosen_input(&[input.id], &owner, body, "3.9.2.1");
            self.mapped_input(input.parameter.declared.named());
        }
        for output in self.graph.outputs.iter().filter(|output| self.counts(output.id)) {
            self.parameter(output.id, output.parameter);
            let body = output.parameter.declared.value();
            let is_empty =
                body.is_null() || body.kind() == NodeKind::Mapping && body.entries().len() == 0;
            let says_nothing =
                ["value", "default", "type"].iter().all(|keyname| body.get(keyname).is_none());
            if is_empty || shape::PARAMETER.is_meant(body) && says_nothing {
                let message = format!("{} has no `value`", self.graph.display(output.id));
                let error = Diagnostic::error(Code::InvalidTemplate, message)
                    .at(self.graph.element(output.id).span);
                self.report(output.id, error.section("3.6.14"));
            }
        }
    }

    /// Warns of an input whose value is fixed.
    pub(super) fn unchosen_input(
        &self,
        when: &[ElementId],
        input: &str,
        body: Node<'a>,
        section: &'static str,
    ) {
        let fixed = body.entries().find(|(key, _)| key.text() == Some("value"));
        // A list is a mapping (TOSCA 2.0, section 9.7).
        let is_list = body.kind() == NodeKind::Sequence;
        let is_value = !body.is_null() && !is_list && !defines_parameter(body);
        let is_short = v2_0::is_of(body.document()) && is_value;
        if let Some(key) = fixed.map(|(key, _)| key).or(is_short.then_some(body)) {
            let message = format!("{input} has a fixed `value`, so nobody can choose its value");
            let warning = Diagnostic::warning(Code::InvalidTemplate, message).at(key.span());
            let help = "write the value as `default`";
            self.report_when(when, &[], warning.section(section).help(help));
        }
    }

    /// Checks from where an input of TOSCA 2.0 takes its value, which a list says in short.
    pub(super) fn mapped_input(&self, input: Named<'a>) {
        let mapping = v2_0::output_mapping(input.value);
        if v2_0::is_of(mapping.document()) && mapping.kind() == NodeKind::Sequence {
            self.mapped_parameter(("input", "3.6.15.1"), input);
        }
    }

    fn parameter(&self, id: ElementId, parameter: &Parameter<'a>) {
        let body = parameter.declared.value();
        // A body that is not a definition is the parameter's value in the single-line grammar.
        if !defines_parameter(body) {
            return self.untyped_call(id, body);
        }
        self.keynames(&[id], body, shape::PARAMETER);
        self.about(&[id], body, PARAMETER.section);
        let mut diagnostics = Diagnostics::default();
        let definition = parameter.declared.parameter_definition(&mut diagnostics);
        self.report_all(&[id], diagnostics);
        if definition.expected().is_none() {
            let values = ["value", "default"].into_iter().filter_map(|keyname| body.get(keyname));
            values.for_each(|value| {
                self.untyped(&[id], value);
                self.untyped_call(id, value);
            });
        }
        if self.schema_types(&[id], body) {
            self.report_values(&[id], check_definition(&definition, &self.schemas));
        }
    }

    /// Checks a call of TOSCA 2.0 whose value may be of any type.
    fn untyped_call(&self, id: ElementId, value: Node<'_>) {
        if v2_0::calls(value) {
            self.report_values(&[id], check_value(value, &Schema::untyped(), &self.schemas));
        }
    }

    /// Whether all data types of a schema are defined; undefined ones are reported. The recursion
    /// follows the written schema, whose depth the parser limits.
    pub(super) fn schema_types(&self, when: &[ElementId], body: Node<'_>) -> bool {
        let named = if body.kind() == NodeKind::Scalar { Some(body) } else { body.get("type") };
        let unknown = named
            .filter(|name| name.text().is_some_and(|name| self.types.find_data(name).is_none()));
        if let Some(name) = unknown {
            let error = self.types.unknown_data(name.text().unwrap_or_default(), name.span());
            self.report_when(when, &[], error);
        }
        let mut known = unknown.is_none();
        for part in ["key_schema", "entry_schema"].into_iter().filter_map(|part| body.get(part)) {
            known &= self.schema_types(when, part);
        }
        known
    }
}
