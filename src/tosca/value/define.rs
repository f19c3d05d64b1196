//! Checks whether definitions are valid: constraints have to suit their types (section 3.6.3.3),
//! and defaults have to fit their definitions (3.6.10.5, 3.6.14.3).

use super::check::{TypedSchema, ValueChecker};
use super::datum::Datum;
use super::literal::{Literal, integer};
use super::truth::is_unsupported;
use super::{Clause, Operator, Primitive, PropertyDefinition, Schema, UndecidedReason, function};
use crate::diagnostic::{Cite, Code, Diagnostic, Rule, TOSCA_2_0, TOSCA_SIMPLE_1_3};
use crate::tosca::v2_0;
use cuvee_text::source::Span;
use cuvee_text::yaml::{Node, NodeKind};
use num_bigint::Sign;

/// The type of a range's bounds, and of lengths.
static INTEGER: Schema<'static> = Schema {
    type_name: "integer",
    kind: None,
    constraints: Vec::new(),
    validations: Vec::new(),
    key_schema: None,
    entry_schema: None,
};

impl<'t> ValueChecker<'t, '_> {
    /// Checks a definition together with its default and its fixed value.
    pub(super) fn definition(&mut self, definition: &'t PropertyDefinition<'t>) {
        let Some(schema) = definition.expected() else { return };
        self.schema(schema);
        let role = definition.role;
        for (what, section, value) in [
            ("default", role.of_default(), definition.default),
            ("value", role.of_value(), definition.value),
        ] {
            let Some(value) = value else { continue };
            let before = self.findings.diagnostics.len();
            self.discreetly(definition.is_sensitive(), |checker| {
                checker.value(value.into(), schema);
            });
            for found in self.errors_since(before) {
                found.message = format!(
                    "the {what} of `{}` does not fit: {}",
                    definition.named.name, found.message
                );
                found.rule = Some(Box::new(Rule::new(&TOSCA_SIMPLE_1_3, section)));
            }
        }
    }

    /// Checks a schema and the schemas inside it. The recursion follows the nesting of schemas in
    /// the document, which the parser limits.
    pub(super) fn schema(&mut self, schema: &'t Schema<'t>) {
        schema.constraints.iter().for_each(|clause| self.clause_definition(clause, schema));
        self.has_entries(schema);
        self.has_text_keys(schema);
        [&schema.key_schema, &schema.entry_schema]
            .into_iter()
            .flatten()
            .for_each(|part| self.schema(part));
    }

    /// Reports keys of a map that are no strings (TOSCA 2.0, section 9.3).
    fn has_text_keys(&mut self, schema: &'t Schema<'t>) {
        let Some(keys) = schema.key_schema.as_deref() else { return };
        let kind = self.kind(keys);
        let named = keys.kind.filter(|it| v2_0::is_of(it.document()));
        if let Some(named) = named.filter(|_| !kind.is_unknown())
            && kind.base != Some(Primitive::String)
        {
            let message = format!("the keys of a map are strings, and no `{}`", keys.type_name);
            let error = Diagnostic::error(Code::InvalidTemplate, message).at(named.span());
            self.report(error.rule(Rule::new(&TOSCA_2_0, "9.3")));
        }
    }

    /// Reports schemas of keys or entries where the type has none.
    fn has_entries(&mut self, schema: &'t Schema<'t>) {
        let kind = self.kind(schema);
        if !schema.is_typed() || kind.is_unknown() {
            return;
        }
        let is_map = kind.base == Some(Primitive::Map);
        let has_entries = is_map || kind.base == Some(Primitive::List);
        for (keyname, what, part, is_right) in [
            ("key_schema", "keys of a map", &schema.key_schema, is_map),
            ("entry_schema", "entries of a list or a map", &schema.entry_schema, has_entries),
        ] {
            let Some(part) = part.as_ref().filter(|_| !is_right) else { continue };
            let message =
                format!("`{keyname}` describes {what}, and `{}` has none", schema.type_name);
            let error = Diagnostic::error(Code::InvalidTemplate, message);
            let place = part.kind.or(schema.kind).map(Node::span);
            self.report(error.at(place).section("3.6.9.1"));
        }
    }

    /// Checks a clause for values of this schema.
    pub(super) fn clause_definition(&mut self, clause: &'t Clause<'t>, schema: &'t Schema<'t>) {
        let kind = self.kind(schema);
        if kind.is_unknown() {
            return self.undecided(
                clause.operand.into(),
                UndecidedReason::UnknownType(schema.type_name),
                None,
            );
        }
        if schema.is_typed() && !clause.operator.applies_to(kind.base) {
            let (keyname, domain) = (clause.operator.keyname(), clause.operator.domain());
            let message =
                format!("`{keyname}` constrains {domain}, not values of `{}`", schema.type_name);
            return self.report(
                Diagnostic::error(Code::InvalidConstraint, message)
                    .at(clause.span)
                    .section("3.6.3.1"),
            );
        }
        let whole = matches!(clause.operator, Operator::ValidValues | Operator::InRange);
        if let Some(name) = function(clause.operand).filter(|_| whole) {
            return self.undecided(clause.operand.into(), UndecidedReason::Function(name), None);
        }
        match clause.operator {
            Operator::ValidValues if clause.operand.kind() == NodeKind::Sequence => {
                clause.operand.items().for_each(|operand| self.operand(operand, clause, &kind));
            }
            Operator::ValidValues => self.wrong(clause, "needs a list of values"),
            Operator::InRange => self.bounds(clause, &kind),
            Operator::Length | Operator::MinLength | Operator::MaxLength => self.length(clause),
            Operator::Pattern => self.text(clause, "needs a regular expression"),
            Operator::Schema => self.text(clause, "needs a schema as text"),
            Operator::Equal => self.operand(clause.operand, clause, &kind),
            _ => self.bound(clause.operand, clause, &kind),
        }
    }

    /// Checks the operand of a comparison. Even if no type is declared, the operand has to be of an
    /// ordered type.
    fn bound(&mut self, operand: Node<'t>, clause: &'t Clause<'t>, kind: &TypedSchema<'t>) {
        let untyped = !kind.schema.is_typed() && function(operand).is_none();
        if untyped && !Primitive::of(operand.into()).is_comparable() {
            return self.wrong(clause, "needs a value that has an order");
        }
        self.operand(operand, clause, kind);
    }

    /// Checks an operand that values are compared with. It has to be of their type.
    fn operand(&mut self, operand: Node<'t>, clause: &Clause<'_>, kind: &TypedSchema<'t>) {
        let before = self.findings.diagnostics.len();
        self.typed(operand.into(), kind);
        for found in self.errors_since(before) {
            found.code = Code::InvalidConstraint.into();
            found.message = format!(
                "the operand of `{}` does not fit: {}",
                clause.operator.keyname(),
                found.message
            );
        }
    }

    fn bounds(&mut self, clause: &'t Clause<'t>, kind: &TypedSchema<'t>) {
        let mut bounds = clause.operand.items();
        let (Some(low), Some(high), None) = (bounds.next(), bounds.next(), bounds.next()) else {
            return self.wrong(clause, "needs a list of a lower and an upper bound");
        };
        let kind = if kind.base == Some(Primitive::Range) { self.kind(&INTEGER) } else { *kind };
        self.bound(low, clause, &kind);
        if Datum::Node(high).is_unbounded() {
            return;
        }
        self.bound(high, clause, &kind);
        let base = |bound: Node<'t>| match kind.schema.is_typed() {
            true => kind.base,
            false => Some(Primitive::of(bound.into())),
        };
        let read = |bound: Node<'t>| Literal::read(bound.into(), base(bound)?);
        if read(low)
            .zip(read(high))
            .and_then(|(low, high)| low.compare(&high))
            .is_some_and(std::cmp::Ordering::is_gt)
        {
            let message = format!(
                "no value is in a range from {} to {}",
                Datum::Node(low).shown(),
                Datum::Node(high).shown()
            );
            self.refuse(clause.operand.span(), message);
        }
    }

    fn length(&mut self, clause: &'t Clause<'t>) {
        let kind = self.kind(&INTEGER);
        match integer(clause.operand.into()) {
            Some(length) if length.sign() == Sign::Minus => {
                self.wrong(clause, "needs an integer from zero")
            }
            _ => self.operand(clause.operand, clause, &kind),
        }
    }

    fn text(&mut self, clause: &'t Clause<'t>, need: &str) {
        if let Some(name) = function(clause.operand) {
            return self.undecided(clause.operand.into(), UndecidedReason::Function(name), None);
        }
        match clause.pattern() {
            _ if clause.operand.as_str().is_none() => self.wrong(clause, need),
            Some(Err(error)) if is_unsupported(error) => {
                self.undecided(clause.operand.into(), UndecidedReason::Pattern(error), None)
            }
            Some(Err(error)) => {
                let message = format!(
                    "{} is no regular expression: {error}",
                    Datum::Node(clause.operand).shown()
                );
                self.refuse(clause.operand.span(), message);
            }
            _ => {}
        }
    }

    fn wrong(&mut self, clause: &Clause<'_>, need: &str) {
        let message = format!(
            "`{}` {need}, not {}",
            clause.operator.keyname(),
            Datum::Node(clause.operand).shown()
        );
        self.refuse(clause.operand.span(), message);
    }

    fn refuse(&mut self, at: Span, message: String) {
        self.report(Diagnostic::error(Code::InvalidConstraint, message).at(at).section("3.6.3.3"));
    }
}
