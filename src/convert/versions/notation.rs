//! Writes timestamps of version 1.3, such as `2001-12-14`, and units such as `mB` as TOSCA 2.0 has
//! them.

use super::{Converter, list, map, text};
use crate::diagnostic::Diagnostics;
use crate::tosca::Family;
use crate::tosca::grammar::Grammar;
use crate::tosca::v2_0;
use crate::tosca::value::{Primitive, Schema, rfc_3339, timestamp, units};
use cuvee_text::yaml::{Node, NodeKind, Out, OutKey};
use std::borrow::Cow;
use std::rc::Rc;

impl<'t, 'a> Converter<'t, 'a> {
    /// A literal in the notation of TOSCA 2.0: a timestamp in that of RFC 3339, a unit as it is
    /// spelt. Returns nothing where the value is so already, or is none of the two.
    pub(super) fn notation_to_2_0(
        &self,
        value: Node<'a>,
        schema: Option<&Schema<'a>>,
    ) -> Option<String> {
        let kind = self.primitive(schema?.kind?)?;
        let text = value.as_str()?;
        match Primitive::from_name(kind)? {
            Primitive::Timestamp if rfc_3339(text).is_none() => {
                timestamp(text).map(|instant| instant.to_string())
            }
            Primitive::ScalarUnit(dimension) => {
                let at = text.find(|c: char| c.is_ascii_alphabetic())?;
                let (number, unit) = text.split_at_checked(at)?;
                let known = |spelling: &str| {
                    // The supplied type has these.
                    [spelling.to_owned(), spelling.to_lowercase(), spelling.to_uppercase()]
                };
                let all = units(dimension).iter().map(|(spelling, _)| *spelling);
                let mut meant = all.filter(|spelling| spelling.eq_ignore_ascii_case(unit));
                let is_supplied = |spelling: &str| known(spelling).iter().any(|it| it == unit);
                let (spelling, None) = (meant.next()?, meant.next()) else { return None };
                (!is_supplied(spelling)).then(|| format!("{number}{spelling}"))
            }
            _ => None,
        }
    }

    /// What variability says, where single dollars call nothing: values, and expressions. Their
    /// literals have the type that is expected, or that of a variability input among the operands
    /// beside.
    pub(super) fn literals_to_2_0(
        &mut self,
        node: Node<'a>,
        schema: Option<&Schema<'a>>,
    ) -> Out<'a> {
        match node.kind() {
            NodeKind::Scalar if self.is_range(schema) => self.bound_to_2_0(node),
            NodeKind::Scalar => {
                let escaped = || doubled(node.as_str()?);
                self.notation_to_2_0(node, schema).or_else(escaped).map_or(Out::Source(node), text)
            }
            NodeKind::Sequence => {
                let inputs = Rc::clone(&self.variability_inputs);
                let name = |item: Node<'a>| item.get("variability_input")?.text();
                let beside = node.items().find_map(|item| inputs.get(name(item)?));
                let of_entry = || schema.and_then(|it| self.schema_of_part(it, None));
                let schema = beside.or_else(of_entry);
                let items = node.items();
                let items = items.map(|item| (Some(item), self.literals_to_2_0(item, schema)));
                let items = items.collect();
                list(node, items)
            }
            NodeKind::Mapping => {
                let mut entries = Vec::new();
                for (key, value) in node.entries() {
                    if let Some(made) = self.type_presence(key.text().unwrap_or_default(), value) {
                        entries.push((OutKey::Source(key), made));
                        continue;
                    }
                    let part = schema.and_then(|it| self.schema_of_part(it, key.as_str()));
                    let key = match key.as_str().and_then(doubled) {
                        Some(name) => OutKey::Renamed(key, name.into()),
                        None => OutKey::Source(key),
                    };
                    entries.push((key, self.literals_to_2_0(value, part)));
                }
                map(node, entries)
            }
        }
    }

    /// As [`Self::literals_to_2_0`], back. Operators may have a `$` in TOSCA 2.0.
    pub(super) fn literals_to_1_3(&mut self, node: Node<'a>, has_operators: bool) -> Out<'a> {
        match node.kind() {
            NodeKind::Scalar => {
                let meant = node.as_str().and_then(v2_0::unescaped);
                meant.map_or(Out::Source(node), text)
            }
            NodeKind::Sequence => {
                let items = node.items();
                let items =
                    items.map(|item| (Some(item), self.literals_to_1_3(item, has_operators)));
                list(node, items.collect())
            }
            NodeKind::Mapping => {
                let entries = node.entries().map(|(key, value)| {
                    let name = key.text().unwrap_or_default();
                    let operator = v2_0::function_name(name).filter(|_| has_operators);
                    let value = if operator == Some("not") { v2_0::negated(value) } else { value };
                    let key = match operator.or_else(|| v2_0::unescaped(name)) {
                        Some(name) => OutKey::Renamed(key, name.into()),
                        None => OutKey::Source(key),
                    };
                    let named = operator.unwrap_or(name);
                    let asks = has_operators.then(|| self.type_presence(named, value)).flatten();
                    (key, asks.unwrap_or_else(|| self.literals_to_1_3(value, has_operators)))
                });
                map(node, entries.collect())
            }
        }
    }

    /// What an operator such as `node_type_presence` asks for: the last item names a type.
    fn type_presence(&mut self, operator: &str, node: Node<'a>) -> Option<Out<'a>> {
        let family = match operator.strip_suffix("_type_presence")? {
            "node" => Family::Node,
            "relation" => Family::Relationship,
            "artifact" => Family::Artifact,
            "group" => Family::Group,
            "policy" => Family::Policy,
            _ => return None,
        };
        let last = node.items().last()?;
        let items = node.items().map(|item| match item.span() == last.span() {
            true => (Some(item), self.type_name(&[family], item)),
            false => (Some(item), self.expressions(item)),
        });
        let items = items.collect();
        Some(list(node, items))
    }

    /// The schema of a part of a value: of a property, or of an entry. An operand of a constraint
    /// may be a list of values.
    pub(super) fn schema_of_part<'s>(
        &self,
        schema: &'s Schema<'a>,
        key: Option<&str>,
    ) -> Option<&'s Schema<'a>>
    where
        't: 's,
    {
        let kind = schema.kind.and_then(|name| self.primitive(name));
        let kind = kind.and_then(Primitive::from_name);
        let is_whole = matches!(kind, Some(Primitive::Timestamp | Primitive::ScalarUnit(_)));
        if is_whole || self.is_range(Some(schema)) {
            return Some(schema);
        }
        if let Some(entry) = &schema.entry_schema {
            return Some(entry);
        }
        let id = self.named_type(Family::Data, schema.kind?)?;
        let effective = self.context.types.effective(id);
        let property = key.and_then(|key| effective.properties.get(key));
        let entry = effective.schema.entry_schema.as_deref();
        property.map(|part| &part.definition.schema).or(entry)
    }
}

/// A text that begins with two dollars, with one more: variability reads one of several away.
fn doubled(text: &str) -> Option<String> {
    v2_0::unescaped(text).and_then(|_| v2_0::escaped(text))
}

/// The schema of a definition.
pub(super) fn schema_of<'t, 'a>(definition: Node<'a>) -> Cow<'t, Schema<'a>> {
    // What is wrong with it, validating tells.
    Cow::Owned(Grammar::lenient(&mut Diagnostics::default()).schema(definition))
}
