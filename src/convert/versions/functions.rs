//! Converts values and the functions that they call.

use super::{Converter, TargetVersion, call, inline_list, list, map, paths, text};
use crate::convert::loss::LossKind;
use crate::tosca::Family;
use crate::tosca::function::function_not_map;
use crate::tosca::v2_0;
use crate::tosca::value::{Primitive, Schema};
use cuvee_text::yaml::{Node, NodeKind, Out, OutKey};

/// The functions of both versions whose arguments are values.
const OF_VALUES: [&str; 3] = ["concat", "join", "token"];

/// The functions that only version 1.3 has.
const OLD: [&str; 2] = ["get_operation_output", "get_nodes_of_type"];

impl<'a> Converter<'_, 'a> {
    /// Converts a value. Returns nothing where it has no counterpart.
    pub(super) fn value(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        match self.to {
            TargetVersion::Two => {
                let schema = self.expected.clone();
                self.value_to_2_0(node, schema.as_deref())
            }
            TargetVersion::Simple => self.value_to_1_3(node),
        }
    }

    /// Converts a value of version 1.3. What has no counterpart is reported.
    fn value_to_2_0(&mut self, node: Node<'a>, schema: Option<&Schema<'a>>) -> Option<Out<'a>> {
        match node.kind() {
            NodeKind::Scalar => {
                let literal = || paths::literal(node);
                Some(self.notation_to_2_0(node, schema).map_or_else(literal, text))
            }
            NodeKind::Sequence if self.is_range(schema) => Some(self.range_to_2_0(node)),
            NodeKind::Sequence => {
                let schema = schema.and_then(|schema| self.schema_of_part(schema, None));
                let items =
                    node.items().map(|item| Some((Some(item), self.value_to_2_0(item, schema)?)));
                let items = items.collect::<Option<_>>()?;
                Some(list(node, items))
            }
            NodeKind::Mapping => match function_not_map(node).zip(node.entries().next()) {
                Some((name, (key, operand))) => self.call_to_2_0(node, name, key, operand),
                None => {
                    let entries = node.entries().map(|(key, value)| {
                        let name = key.as_str();
                        let schema = schema.and_then(|schema| self.schema_of_part(schema, name));
                        let key = self.key_to_2_0(key);
                        Some((key, self.value_to_2_0(value, schema)?))
                    });
                    let entries = entries.collect::<Option<_>>()?;
                    Some(map(node, entries))
                }
            },
        }
    }

    /// The key of a value, which is a string in version 2.0.
    fn key_to_2_0(&mut self, key: Node<'a>) -> OutKey<'a> {
        match (key.as_str(), key.text()) {
            (Some(name), _) => match v2_0::escaped(name) {
                Some(escaped) => OutKey::Renamed(key, escaped.into()),
                None => OutKey::Source(key),
            },
            (None, Some(name)) => {
                let why = "the keys of maps of TOSCA 2.0 are strings";
                self.report(LossKind::Lost, key, &format!("the type of the key `{name}`"), why);
                OutKey::New(name.into())
            }
            (None, None) => OutKey::Source(key),
        }
    }

    pub(super) fn is_range(&self, schema: Option<&Schema<'a>>) -> bool {
        schema.and_then(|schema| schema.kind).is_some_and(|kind| self.is_range_type(kind))
    }

    /// Whether the values of a type are ranges. In version 2.0, the type is one that is supplied.
    pub(super) fn is_range_type(&self, kind: Node<'a>) -> bool {
        let (types, range) = (self.context.types, Primitive::Range.name());
        let mut chain =
            self.named_type(Family::Data, kind).into_iter().flat_map(|id| types.chain(id));
        kind.text() == Some(range)
            || self.primitive(kind) == Some(range)
            || chain.any(|id| types.definition(id).name == range)
    }

    /// A range, of which version 2.0 wants numbers as bounds.
    fn range_to_2_0(&mut self, node: Node<'a>) -> Out<'a> {
        let items = node.items().map(|bound| (Some(bound), self.bound_to_2_0(bound)));
        let items = items.collect();
        list(node, items)
    }

    pub(super) fn bound_to_2_0(&mut self, bound: Node<'a>) -> Out<'a> {
        if bound.as_str() != Some("UNBOUNDED") {
            return Out::Source(bound);
        }
        let why = "a `range` of TOSCA 2.0 has numbers as bounds: it gets the largest one";
        self.report(LossKind::Lost, bound, "`UNBOUNDED`", why);
        Out::Value(i64::MAX.into())
    }

    /// Converts a call of version 1.3.
    fn call_to_2_0(
        &mut self,
        node: Node<'a>,
        name: &str,
        key: Node<'a>,
        operand: Node<'a>,
    ) -> Option<Out<'a>> {
        let arguments = match name {
            "get_property" | "get_attribute" if operand.kind() == NodeKind::Sequence => {
                self.path_to_2_0(operand)?
            }
            "get_artifact" if operand.kind() == NodeKind::Sequence => {
                if let Some(more) = operand.items().nth(2) {
                    let why = "`$get_artifact` of TOSCA 2.0 does not say where artifacts go";
                    self.report(LossKind::Lost, more, "the location of an artifact", why);
                }
                self.artifact_to_2_0(operand)?
            }
            name if OLD.contains(&name) => {
                let why = "TOSCA 2.0 does not have it, so nobody knows its value";
                self.report(LossKind::KeptAsExtension, key, &format!("`{name}`"), why);
                Out::Source(operand)
            }
            _ => self.value_to_2_0(operand, None)?,
        };
        let key = OutKey::Renamed(key, format!("${name}").into());
        Some(Out::Map { entries: vec![(key, arguments)].into(), like: Some(node) })
    }

    pub(super) fn value_to_1_3(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        match node.kind() {
            NodeKind::Scalar if v2_0::called(node).is_some() => None,
            NodeKind::Scalar => {
                let meant = node.as_str().and_then(v2_0::unescaped);
                Some(meant.map_or(Out::Source(node), text))
            }
            NodeKind::Sequence => {
                let items = node.items().map(|item| Some((Some(item), self.value_to_1_3(item)?)));
                let items = items.collect::<Option<_>>()?;
                Some(list(node, items))
            }
            NodeKind::Mapping => match v2_0::called(node) {
                Some((name, arguments)) => self.call_to_1_3(node, name, arguments?),
                None => self.map_to_1_3(node),
            },
        }
    }

    /// Converts a map that calls nothing. One that would be a call in version 1.3 has no
    /// counterpart.
    fn map_to_1_3(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        let mut entries = Vec::new();
        for (key, value) in node.entries() {
            let name = key.as_str().unwrap_or_default();
            let key = match v2_0::unescaped(name) {
                Some(name) => OutKey::Renamed(key, name.into()),
                None if name.starts_with('$') => return None,
                None => OutKey::Source(key),
            };
            entries.push((key, self.value_to_1_3(value)?));
        }
        let made = map(node, entries);
        let is_call = crate::tosca::function::function_in(&node.to_value()).is_some()
            && node.entries().len() == 1
            && node.entries().next().is_some_and(|(key, _)| {
                crate::tosca::function::Function::named(key.text().unwrap_or_default()).is_some()
            });
        (!is_call).then_some(made)
    }

    /// Converts a call of version 2.0.
    fn call_to_1_3(&mut self, node: Node<'a>, name: &str, operand: Node<'a>) -> Option<Out<'a>> {
        let arguments = match name {
            "get_property" | "get_attribute" => self.path_to_1_3(operand)?,
            "get_artifact" => self.artifact_to_1_3(operand)?,
            name if OLD.contains(&name) => Out::Source(operand),
            // TOSCA 2.0 puts lists together, too.
            "concat" if operand.items().any(|item| item.kind() == NodeKind::Sequence) => {
                return None;
            }
            "get_input" => self.asked_input_to_1_3(operand)?,
            name if OF_VALUES.contains(&name) => self.value_to_1_3(operand)?,
            _ => return None,
        };
        let (key, _) = node.entries().next()?;
        let key = OutKey::Renamed(key, name.to_owned().into());
        Some(Out::Map { entries: vec![(key, arguments)].into(), like: Some(node) })
    }

    /// The name of an input, and what leads to a part of its value.
    fn asked_input_to_1_3(&mut self, operand: Node<'a>) -> Option<Out<'a>> {
        if operand.kind() != NodeKind::Sequence {
            return self.name_to_1_3(operand);
        }
        let items = operand.items().enumerate().map(|(at, item)| {
            let step = if at == 0 { self.name_to_1_3(item) } else { self.value_to_1_3(item) };
            Some((Some(item), step?))
        });
        let items = items.collect::<Option<_>>()?;
        Some(list(operand, items))
    }

    /// The value of a property or an attribute at a path.
    pub(super) fn got(&self, function: &str, path: &[&str]) -> Out<'a> {
        let literal = |word: &&str| v2_0::escaped(word).unwrap_or_else(|| (*word).to_owned());
        let words = path.iter().map(|word| text(literal(word))).collect();
        super::inline_map(format!("${function}"), inline_list(words))
    }

    /// The value that a condition is about.
    pub(super) fn subject_of(&self, at: Option<i64>) -> Out<'a> {
        match at {
            None => text("$value"),
            Some(index) => call("value", vec![Out::Value(index.into())]),
        }
    }
}
