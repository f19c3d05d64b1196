//! Checks what requirement assignments of TOSCA 2.0 allocate of capabilities (section 8.7.5): all
//! together take no more of a property than it has.

use super::super::checker::Checker;
use crate::diagnostic::{Code, Diagnostic, Rule, TOSCA_2_0, did_you_mean};
use crate::tosca::requirement::{self, AssignedCount};
use crate::tosca::types::EffectiveCapability;
use crate::tosca::v2_0::function::{BuiltIn, FormOfText, PlainText, constant};
use crate::tosca::value::{
    DataTypes, Primitive, PropertyDefinition, Schema, TextType, check_value, in_base_unit,
};
use crate::tosca::{Directive, Family};
use crate::variability::graph::{ElementId, NodeCopies, NodeElement, RelationElement};
use crate::variability::template::shape::is_common;
use cuvee_text::decimal::Decimal;
use cuvee_text::value::Value;
use cuvee_text::yaml::Node;
use indexmap::IndexMap;

/// The sum of what is allocated of a property, and the last place that adds to it; `None` where it
/// is not known.
type Allocated<'a> = IndexMap<&'a str, (Option<Value>, Node<'a>)>;

impl<'a> Checker<'_, 'a> {
    pub(super) fn allocations(&self) {
        let has_allocation = |relation: &&RelationElement<'a>| {
            relation.requirement.declared.value().get("allocation").is_some()
        };
        if !self.graph.relations.iter().any(|relation| has_allocation(&relation)) {
            return;
        }
        let copies = self.graph.copies();
        for node in self.graph.nodes.iter().filter(|node| self.counts(node.id)) {
            for (kind, of_type) in self.types_of(node.id, Family::Node) {
                for (name, part) in self.types.effective(kind).capabilities.iter() {
                    let uses = node.incoming.iter().filter(|&&id| self.uses(id, node, name));
                    let users = uses.map(|&id| self.graph.relation(id)).filter(has_allocation);
                    let when = [&[node.id], &*of_type].concat();
                    self.allocated(&when, (node, name), &part.definition, users, &copies);
                }
            }
        }
    }

    /// Checks what these relations allocate of one capability.
    fn allocated<'r>(
        &self,
        when: &[ElementId],
        (node, name): (&NodeElement<'a>, &str),
        capability: &EffectiveCapability<'_>,
        users: impl Iterator<Item = &'r RelationElement<'a>>,
        copies: &NodeCopies<'_, 'a>,
    ) where
        'a: 'r,
    {
        let mut allocated = Allocated::default();
        for relation in users {
            let body = relation.requirement.declared.value();
            // Optional relations give way where there is no room.
            let is_certain = (self.presence.is_some() || self.is_unconditional(relation.id))
                && AssignedCount::read(body).is_certain();
            let Some(said) = body.get("allocation") else { continue };
            let source = self.number_with_copies(self.graph.node(relation.source), copies);
            let times = body.get("count").map_or(Some(1), requirement::count);
            let times = times.zip(source).and_then(|(times, source)| times.checked_mul(source));
            for (key, amount) in said.entries() {
                let Some(part) = key.text().and_then(|key| capability.properties.get(key)) else {
                    self.unknown_allocation(when, key, name, capability);
                    continue;
                };
                if !self.is_allocatable(&part.definition) {
                    let message = format!(
                        "`{}` is no number, and so nothing of it is allocated",
                        key.key_text()
                    );
                    self.report_when(when, &[], wrong(Code::InvalidTemplate, message, key));
                    continue;
                }
                let with = [when, &[relation.id]].concat();
                self.is_amount(&with, &part.definition, amount);
                let amount = self.amount(&part.definition, amount);
                let amount =
                    amount.zip(times).and_then(|(amount, times)| multiplied(amount, times));
                let Some(key) = key.text().filter(|_| is_certain) else { continue };
                let sum = allocated.entry(key).or_insert((Some(Value::from(0)), body));
                let before = sum.0.take().filter(|_| amount.is_some());
                sum.0 = match before {
                    Some(before) if before == Value::from(0) => amount,
                    Some(before) => amount.and_then(|amount| added(before, amount)),
                    None => None,
                };
                sum.1 = said;
            }
        }
        for (property, (sum, at)) in allocated {
            self.is_enough(when, (node, name), capability, (property, sum, at));
        }
    }

    /// Reports an allocation of more than there is.
    fn is_enough(
        &self,
        when: &[ElementId],
        (node, name): (&NodeElement<'a>, &str),
        capability: &EffectiveCapability<'_>,
        (property, sum, at): (&str, Option<Value>, Node<'a>),
    ) {
        let Some(definition) = capability.properties.get(property).map(|part| &part.definition)
        else {
            return;
        };
        let own = self.graph.holder(node, "capabilities").template.declared.value();
        let own = own.get("capabilities");
        let own = own.and_then(|all| all.get(name)?.get("properties")?.get(property));
        // The node that is selected has its own values, whatever the default is.
        let default = definition.default.filter(|_| !self.has_directive(node, Directive::Select));
        let there = own.or(definition.value).or(default);
        let there = there.and_then(|there| self.amount(definition, there));
        // Each of the nodes that a template stands for has as much.
        let number = self.number_of(node);
        let there = there.zip(number).and_then(|(there, number)| multiplied(there, number));
        let more = sum.zip(there).and_then(|(sum, there)| {
            let is_more = called("greater_than", vec![sum.clone(), there.clone()])?;
            (is_more == Value::Bool(true)).then_some((sum, there))
        });
        if let Some((sum, there)) = more {
            let form = TextType::of_part(&definition.schema, &[], &self.schemas);
            let unit = form.base_unit().map(|unit| format!(" {unit}")).unwrap_or_default();
            let message = format!(
                "{sum}{unit} of `{property}` is allocated, and the capability `{name}` of {} has {there}{unit}",
                self.graph.display(node.id)
            );
            let error = wrong(Code::TooManyRelations, message, at);
            self.report_when(when, &[], error.help("allocate less, or raise its value"));
        }
    }

    /// How many nodes have the relations of a template: its own, and those of its copies that are
    /// there for certain and have no requirements of their own.
    fn number_with_copies(
        &self,
        source: &NodeElement<'a>,
        copies: &NodeCopies<'_, 'a>,
    ) -> Option<u64> {
        let has_them = |copy: &&NodeElement<'a>| {
            let is_there = match self.presence.is_some() {
                true => self.counts(copy.id),
                false => self.is_unconditional(copy.id),
            };
            is_there && self.graph.holder(copy, "requirements").id == source.id
        };
        let copies = copies.get(&source.id).into_iter().flatten().copied().filter(has_them);
        let mut all = std::iter::once(source).chain(copies);
        all.try_fold(0_u64, |all, node| all.checked_add(self.number_of(node)?))
    }

    fn unknown_allocation(
        &self,
        when: &[ElementId],
        key: Node<'_>,
        name: &str,
        capability: &EffectiveCapability<'_>,
    ) {
        let key_text = key.key_text();
        // A word of variability has been reported as one.
        let is_word = is_common(&key_text) && !self.graph.template.is_plain();
        if !capability.is_open && !is_word {
            let message = format!("the capability `{name}` has no property `{key_text}`");
            let meant = did_you_mean(&key_text, capability.properties.keys().copied());
            let error = wrong(Code::UnknownProperty, message, key);
            self.report_when(when, &[], error.help_opt(meant));
        }
    }

    fn is_allocatable(&self, definition: &PropertyDefinition<'_>) -> bool {
        let schema = &definition.schema;
        let of_type = || self.schemas.data_type_in(schema.file(), schema.type_name)?.base;
        let base = schema.primitive().or_else(of_type);
        matches!(base, None | Some(Primitive::Integer | Primitive::Float | Primitive::Scalar))
    }

    /// Reports an amount that is of another type than its property, or less than nothing.
    fn is_amount(&self, when: &[ElementId], definition: &PropertyDefinition<'_>, amount: Node<'_>) {
        // What the validation of the property says is about the whole, and not about a part.
        let schema = Schema {
            constraints: Vec::new(),
            validations: Vec::new(),
            ..definition.schema.clone()
        };
        let found = check_value(amount, &schema, &self.schemas);
        // What a call gives is judged with the call.
        for open in &found.undecided {
            self.expects(when, open);
        }
        let found = found.diagnostics;
        let is_less = || {
            let amount = self.amount(definition, amount)?;
            Some(called("less_than", vec![amount, 0.into()])? == Value::Bool(true))
        };
        if found.is_empty() && is_less() == Some(true) {
            let message = "nothing less than 0 can be allocated".to_owned();
            return self.report_when(when, &[], wrong(Code::InvalidValue, message, amount));
        }
        found.into_iter().for_each(|found| self.report_when(when, &[], found));
    }

    /// An amount in the base unit of its type; `None` where it depends on more than its arguments.
    fn amount(&self, definition: &PropertyDefinition<'_>, amount: Node<'_>) -> Option<Value> {
        let form = TextType::of_part(&definition.schema, &[], &self.schemas);
        let amount = constant(amount, &form).ok()??;
        Some(in_base_unit(amount, &self.schemas.units(definition)))
    }
}

/// Adds amounts. Decimals add up as they are written, so that three times `0.1` is `0.3`.
fn added(one: Value, other: Value) -> Option<Value> {
    let exact = || Some(f64::from(decimal(&one)?.plus(decimal(&other)?)?).into());
    match is_integer(&one) && is_integer(&other) {
        true => called("sum", vec![one, other]),
        false => exact().or_else(|| called("sum", vec![one, other])),
    }
}

/// An amount so many times.
fn multiplied(amount: Value, times: u64) -> Option<Value> {
    let exact = decimal(&amount).filter(|_| !is_integer(&amount)).and_then(|one| {
        let digits = one.units(one.scale())?.checked_mul(times)?;
        Some(f64::from(Decimal::of_units(digits, one.scale())).into())
    });
    exact.or_else(|| called("product", vec![amount, i64::try_from(times).ok()?.into()]))
}

fn is_integer(value: &Value) -> bool {
    matches!(value, Value::Number(number) if number.as_int().is_some())
}

/// A number as it is written.
fn decimal(value: &Value) -> Option<Decimal> {
    if let Value::Number(number) = value { Decimal::parse(&number.to_string()) } else { None }
}

fn called(function: &str, arguments: Vec<Value>) -> Option<Value> {
    BuiltIn::named(function)?.value?(&arguments, &PlainText).ok()?
}

fn wrong(code: Code, message: String, at: Node<'_>) -> Diagnostic {
    Diagnostic::error(code, message).at(at.span()).rule(Rule::new(&TOSCA_2_0, "8.7.5"))
}
