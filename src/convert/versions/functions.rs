//! Converts values and the functions that they call.

use super::{AssignedTo, Converter, TargetVersion, call, inline_list, list, map, paths, text};
use crate::convert::loss::LossKind;
use crate::tosca::Family;
use crate::tosca::function::function_not_map;
use crate::tosca::v2_0;
use crate::tosca::value::{Primitive, Schema};
use cuvee_text::yaml::{Node, NodeKind, Out, OutKey, Scalar};

/// The functions of both versions whose arguments are values.
const OF_VALUES: [&str; 3] = ["concat", "join", "token"];

/// The functions that only version 1.3 has.
const OLD: [&str; 3] = ["get_operation_output", "get_nodes_of_type", EVAL];

/// The function of Unfurl, which asks for what its text leads to.
const EVAL: &str = "eval";

/// The function that a map of version 1.3 calls.
fn function_of_1_3(node: Node<'_>) -> Option<&str> {
    function_not_map(node).or_else(|| {
        let of = node.get(EVAL)?.as_str()?;
        (node.entries().len() == 1 && of.contains("::")).then_some(EVAL)
    })
}

impl<'a> Converter<'_, 'a> {
    /// Converts a value. Returns nothing where it has no counterpart.
    pub(super) fn value(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        match self.to {
            TargetVersion::Two => {
                let schema = self.expected.clone();
                self.value_to_2_0(node, schema.as_deref())
            }
            TargetVersion::Simple if self.is_range(self.expected.as_deref()) => {
                self.range_to_1_3(node)
            }
            TargetVersion::Simple => self.value_to_1_3(node),
        }
    }

    /// Converts a value of version 1.3. What has no counterpart is reported.
    fn value_to_2_0(&mut self, node: Node<'a>, schema: Option<&Schema<'a>>) -> Option<Out<'a>> {
        match node.kind() {
            NodeKind::Scalar if self.is_too_large(node, schema) => {
                let why = "integers of TOSCA 2.0 have 64 bits";
                self.report(LossKind::Lost, node, "a value", why);
                None
            }
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
            NodeKind::Mapping => match function_of_1_3(node).zip(node.entries().next()) {
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

    /// Whether a value is an integer beyond 64 bits, where no type makes it a float.
    fn is_too_large(&self, node: Node<'a>, schema: Option<&Schema<'a>>) -> bool {
        let kind = schema.and_then(|schema| self.primitive(schema.kind?));
        let is_float = kind == Some(Primitive::Float.name());
        !is_float && node.is_integer() && !matches!(node.scalar(), Some(Scalar::Int(_)))
    }

    /// The key of a value, which is a string in version 2.0. There, other keys may call functions.
    fn key_to_2_0(&mut self, key: Node<'a>) -> OutKey<'a> {
        match key.as_str() {
            Some(name) => match v2_0::escaped(name) {
                Some(escaped) => OutKey::Renamed(key, escaped.into()),
                None => OutKey::Source(key),
            },
            None => {
                let name = key.key_text();
                let why = "the keys of maps of TOSCA 2.0 are strings";
                self.report(LossKind::Lost, key, &format!("the type of the key `{name}`"), why);
                OutKey::New(name)
            }
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

    /// A range: the largest integer is no bound in version 1.3.
    fn range_to_1_3(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        let is_largest = |bound: Node<'_>| matches!(bound.scalar(), Some(Scalar::Int(i64::MAX)));
        if !node.items().nth(1).is_some_and(is_largest) {
            return self.value_to_1_3(node);
        }
        let items = node.items().map(|bound| {
            let made = if is_largest(bound) { text("UNBOUNDED") } else { Out::Source(bound) };
            (Some(bound), made)
        });
        Some(list(node, items.collect()))
    }

    /// What a function puts together, which are no booleans in version 2.0.
    fn texts_to_2_0(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        if node.kind() == NodeKind::Sequence {
            let items = node.items().map(|item| Some((Some(item), self.texts_to_2_0(item)?)));
            let items = items.collect::<Option<_>>()?;
            return Some(list(node, items));
        }
        if node.as_bool().is_some() {
            return node.text().map(text);
        }
        if self.type_given(node) == Some(Primitive::Boolean.name()) {
            let why = "functions of TOSCA 2.0 put no booleans together";
            self.report(LossKind::Lost, node, "a value", why);
            return None;
        }
        self.value_to_2_0(node, None)
    }

    /// The primitive type of what a function gives, as far as the definition of an input, or of a
    /// property of a node, says it.
    fn type_given(&self, node: Node<'a>) -> Option<&'static str> {
        let name = match self.to {
            TargetVersion::Two => function_of_1_3(node)?,
            TargetVersion::Simple => v2_0::called(node)?.0,
        };
        let (_, operand) = node.entries().next()?;
        let path: Vec<_> = operand.items().collect();
        let kind = match (name, &path[..]) {
            ("get_input", [] | [_]) => {
                let input = path.first().unwrap_or(&operand);
                let inputs = self.root.get("topology_template")?.get("inputs")?;
                inputs.get(input.text()?)?.get("type")
            }
            ("get_property" | "get_attribute", [of, property]) => {
                let (id, _) = match of.text()? {
                    "SELF" => self.own_node()?,
                    name => self.template_node(self.template("node_templates", name)?),
                };
                let of = AssignedTo::Type(self.context.types.effective(id?));
                of.schema(property.text()?)?.kind
            }
            _ => None,
        };
        self.primitive(kind?)
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
            "concat" | "join" => self.texts_to_2_0(operand)?,
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
            "concat" if operand.items().any(|item| self.is_list(item)) => return None,
            "get_input" => self.asked_input_to_1_3(operand)?,
            name if OF_VALUES.contains(&name) => self.value_to_1_3(operand)?,
            _ => return None,
        };
        let (key, _) = node.entries().next()?;
        let key = OutKey::Renamed(key, name.to_owned().into());
        Some(Out::Map { entries: vec![(key, arguments)].into(), like: Some(node) })
    }

    /// Whether a value is a list, as far as that is known.
    fn is_list(&self, node: Node<'a>) -> bool {
        node.kind() == NodeKind::Sequence || self.type_given(node) == Some(Primitive::List.name())
    }

    /// The name of an input, and what leads to a part of its value.
    fn asked_input_to_1_3(&mut self, operand: Node<'a>) -> Option<Out<'a>> {
        if operand.kind() != NodeKind::Sequence {
            return self.step_to_1_3(0, operand);
        }
        let items = operand
            .items()
            .enumerate()
            .map(|(at, item)| Some((Some(item), self.step_to_1_3(at, item)?)));
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
