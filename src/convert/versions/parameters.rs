//! Converts parameters that are no plain definitions: those that are values, and variability inputs.

use super::notation::schema_of;
use super::paths::named_parts;
use super::{Converter, TargetVersion, inline_map, key_text, list, map, named_key};
use crate::tosca::Family;
use crate::tosca::v2_0::grammar::{ElementGrammar, EntityKind};
use crate::tosca::value::{Primitive, Schema, defines_parameter};
use cuvee_text::yaml::{Node, NodeKind, Out, OutKey};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The keyname that says the value of a parameter where version 1.3 has the value in place of a
/// definition. Templates may assign other inputs of operations, so that theirs are defaults.
pub(super) fn keyname_of_value(entity: &ElementGrammar, field: &str) -> Option<&'static str> {
    use EntityKind::{Interface, InterfaceType, Notification, Operation, ServiceTemplate};
    match (entity.kind, field) {
        (Interface | InterfaceType | Notification | Operation, "inputs") => Some("default"),
        (ServiceTemplate, "outputs") => Some("value"),
        _ => None,
    }
}

/// The schemas of the variability inputs of a topology.
pub(super) fn variability_inputs<'a>(
    topology: Option<Node<'a>>,
    mark: &str,
) -> FxHashMap<&'a str, Schema<'a>> {
    let inputs = topology.and_then(|it| it.get(mark)?.get("inputs"));
    let named = inputs.into_iter().flat_map(named_parts);
    named.filter_map(|(key, body)| Some((key.text()?, schema_of(body).into_owned()))).collect()
}

/// Whether a text in constraints begins with a dollar.
fn has_dollar(node: Node<'_>) -> bool {
    match node.kind() {
        NodeKind::Scalar => node.as_str().is_some_and(|text| text.starts_with('$')),
        NodeKind::Sequence => node.items().any(has_dollar),
        NodeKind::Mapping => node.entries().any(|(_, value)| has_dollar(value)),
    }
}

impl<'a> Converter<'_, 'a> {
    /// Converts a value in place of the definition of a parameter. Returns nothing where there is a
    /// definition; a value without a counterpart is reported.
    pub(super) fn in_place(
        &mut self,
        node: Node<'a>,
        keyname: &'static str,
    ) -> Option<Option<Out<'a>>> {
        let is_value = |node: Node<'_>| !node.is_null() && !defines_parameter(node);
        if is_value(node) {
            // A short parameter of TOSCA 2.0 is fixed.
            let keyname = if self.to == TargetVersion::Two { keyname } else { "value" };
            let schema = self.assigned_schema(self.name);
            let made = self.expecting(schema, |this| this.value_or_loss(node));
            return Some(made.map(|made| inline_map(keyname, made)));
        }
        let default = node.get("default").filter(|_| node.entries().len() == 1)?;
        let is_short = keyname == "default" && self.to == TargetVersion::Simple;
        (is_short && is_value(default)).then(|| self.value_or_loss(default))
    }

    /// Converts the variability of a topology.
    pub(super) fn variability(&mut self, node: Node<'a>) -> Out<'a> {
        let entries = node.entries().map(|(key, value)| {
            let made = match key.text() {
                Some("inputs") => self.each(value, &mut |this, _, input| this.input(input)),
                Some("presets") => self.presets(value),
                Some("options") => Out::Source(value),
                Some("type_specific_conditions") => self.conditions_of_types(value),
                Some("qualities") => self.technology_rules(value),
                _ => self.expressions(value),
            };
            (OutKey::Source(key), made)
        });
        let entries = entries.collect();
        map(node, entries)
    }

    /// Converts the default conditions of types, by families and names. A file of them may repeat
    /// the keyword.
    pub(super) fn conditions_of_types(&mut self, node: Node<'a>) -> Out<'a> {
        self.each(node, &mut |this, keyword, content| match Family::of_keyword(keyword) {
            Some(family) => this.type_name(&[family], content),
            None if keyword == "type_specific_conditions" => this.conditions_of_types(content),
            None => Out::Source(content),
        })
    }

    /// Converts technology rules: a list, or a map of technologies to lists.
    pub(super) fn technology_rules(&mut self, node: Node<'a>) -> Out<'a> {
        if node.kind() == NodeKind::Mapping {
            return self.each(node, &mut |this, _, rules| this.technology_rules(rules));
        }
        self.each(node, &mut |this, name, value| match name {
            "component" | "hosting" | "assign" => this.type_name(&[Family::Node], value),
            "artifact" => this.type_name(&[Family::Artifact], value),
            _ => this.expressions(value),
        })
    }

    /// Converts presets by name, or a list of them: their values are those of inputs.
    fn presets(&mut self, node: Node<'a>) -> Out<'a> {
        self.each(node, &mut |this, _, preset| {
            let entries = preset.entries().map(|(key, value)| {
                let made = match key.text() {
                    Some("inputs") => this.each(value, &mut |this, name, value| {
                        let inputs = Rc::clone(&this.variability_inputs);
                        this.literals(value, inputs.get(name))
                    }),
                    _ => Out::Source(value),
                };
                (OutKey::Source(key), made)
            });
            let entries = entries.collect();
            map(preset, entries)
        })
    }

    /// Converts what maps by name, or a list of them, hold.
    fn each(
        &mut self,
        node: Node<'a>,
        convert: &mut dyn FnMut(&mut Self, &str, Node<'a>) -> Out<'a>,
    ) -> Out<'a> {
        if node.kind() == NodeKind::Sequence {
            let items = node.items().map(|item| (Some(item), self.each(item, convert)));
            let items = items.collect();
            return list(node, items);
        }
        let entries = node.entries().map(|(key, value)| {
            let name = key.text().unwrap_or_default();
            (OutKey::Source(key), self.below(name, |this| convert(this, name, value)))
        });
        let entries = entries.collect();
        if node.kind() == NodeKind::Mapping { map(node, entries) } else { Out::Source(node) }
    }

    /// Converts a value of a variability input.
    fn literals(&mut self, node: Node<'a>, schema: Option<&Schema<'a>>) -> Out<'a> {
        match self.to {
            TargetVersion::Two => self.literals_to_2_0(node, schema),
            TargetVersion::Simple => self.literals_to_1_3(node, false),
        }
    }

    /// Converts the declaration of an input, or a schema in it.
    fn input(&mut self, node: Node<'a>) -> Out<'a> {
        if node.kind() == NodeKind::Scalar {
            return self.input_type(node);
        }
        let mut entries = Vec::new();
        for (key, value) in node.entries() {
            let name = key.text().unwrap_or_default();
            let made = match name {
                "type" => self.input_type(value),
                "key_schema" | "entry_schema" => self.below(name, |this| this.input(value)),
                "constraints" | "validation" if self.says_validation(node) => {
                    // Both are written where the first of them stands.
                    let is_known = |(key, _): &(OutKey<'_>, _)| key_text(key) == "constraints";
                    if !entries.iter().any(is_known) {
                        let constraints = self.input_constraints(node);
                        entries.extend(constraints.map(|it| (named_key(key, "constraints"), it)));
                    }
                    continue;
                }
                "constraints" if self.to == TargetVersion::Two && has_dollar(value) => {
                    entries.extend(self.input_validation(key, node, value));
                    continue;
                }
                // The bounds of constraints may be open in both versions.
                "constraints" => {
                    let schema = Some(schema_of(node)).filter(|it| !self.is_range(Some(it)));
                    self.literals(value, schema.as_deref())
                }
                "default" if !(self.context.is_expression)(value) => {
                    self.literals(value, Some(&schema_of(node)))
                }
                "default" | "default_expression" => {
                    self.expressions_of(value, Some(&schema_of(node)))
                }
                _ => Out::Source(value),
            };
            entries.push((OutKey::Source(key), made));
        }
        map(node, entries)
    }

    /// Whether a declaration has a validation that version 1.3 does not know.
    fn says_validation(&self, node: Node<'a>) -> bool {
        self.to == TargetVersion::Simple && node.get("validation").is_some()
    }

    /// The validation for constraints with texts that would call functions, and what it cannot say.
    fn input_validation(
        &mut self,
        key: Node<'a>,
        node: Node<'a>,
        constraints: Node<'a>,
    ) -> Vec<(OutKey<'a>, Out<'a>)> {
        let schema = schema_of(node);
        let is_range = self.is_range(Some(&schema));
        let (all, rest) =
            self.expecting(Some(schema), |this| this.validation(constraints, is_range));
        let rest: Vec<_> =
            rest.into_iter().map(|(item, _)| (Some(item), Out::Source(item))).collect();
        let rest = (!rest.is_empty()).then(|| Out::Seq { items: rest.into(), like: None });
        let all = all.map(|all| (named_key(key, "validation"), all));
        all.into_iter().chain(rest.map(|rest| (named_key(key, "constraints"), rest))).collect()
    }

    /// The constraints of a declaration, followed by those for its validation.
    fn input_constraints(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        let is_range = node.get("type").is_some_and(|kind| self.is_range_type(kind));
        let validation = node.get("validation");
        let said = validation.and_then(|it| self.constraints_to_1_3(it, is_range));
        let own = node.get("constraints").into_iter().flat_map(Node::items);
        let own = own.map(|item| (Some(item), self.literals_to_1_3(item, false)));
        let mut items: Vec<_> = own.collect();
        if let Some(Out::Seq { items: said, .. }) = said {
            items.extend(said.to_vec());
        }
        (!items.is_empty()).then_some(Out::Seq { items: items.into(), like: None })
    }

    /// The name of the type of an input. What version 1.3 has built in is so at inputs of both.
    fn input_type(&mut self, node: Node<'a>) -> Out<'a> {
        match node.text().and_then(Primitive::from_name) {
            Some(_) => Out::Source(node),
            None => self.type_name(&[Family::Data], node),
        }
    }
}
