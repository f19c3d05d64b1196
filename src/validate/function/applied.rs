//! Checks calls of TOSCA 2.0 that compute something from their arguments: whether they take what
//! they are given (sections 10.2 and 10.4), and what they give.

use super::super::checker::Checker;
use super::super::v2_0::{each, refusal, refused_call, taken};
use super::kind::{Fit, KnownValue, ValueType};
use super::target::ConditionalValue;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Rule, TOSCA_2_0};
use crate::tosca::Family;
use crate::tosca::v2_0::function::{
    BuiltIn, PlainText, amount_and_unit, constant, regular_expression,
};
use crate::tosca::v2_0::{called, listed};
use crate::tosca::value::{Primitive, Schema, TextType, ValueKinds, check_value, is_unsupported};
use crate::variability::graph::ElementId;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Node, NodeKind, Scalar};

/// An expression, and who answers the calls in it that ask for something.
#[derive(Clone, Copy)]
pub(super) struct JudgedExpression<'s, 'n> {
    /// The elements that have to be there.
    pub when: &'s [ElementId],
    /// What `$value` is.
    pub value: Option<&'s ValueType>,
    /// The answers to a call; `None` if it asks for nothing.
    pub ask: &'s dyn Fn(Node<'n>) -> Option<Vec<ConditionalValue>>,
}

/// A call with arguments, and what is known of these.
struct AppliedCall<'s, 'n> {
    node: Node<'n>,
    name: &'s str,
    arguments: &'s [Node<'n>],
    given: &'s [Vec<ConditionalValue>],
    /// Of a call that joins strings, those that are listed.
    joined: &'s [(Node<'n>, Vec<ConditionalValue>)],
}

impl Checker<'_, '_> {
    /// The possible results of an expression, in which all calls are checked.
    pub(super) fn judged<'n>(
        &self,
        expression: JudgedExpression<'_, 'n>,
        node: Node<'n>,
    ) -> Vec<ConditionalValue> {
        if let Some(answers) = (expression.ask)(node) {
            return answers;
        }
        let Some((name, arguments)) = called(node) else {
            node.parts().for_each(|part| drop(self.judged(expression, part)));
            return vec![ConditionalValue::always(Ok(literal(node)))];
        };
        let arguments = listed(arguments);
        if name == "value" {
            return vec![self.part_of_value(expression, &arguments)];
        }
        let mut joined = Vec::new();
        let given = arguments.iter().map(|argument| match name {
            "join" if argument.kind() == NodeKind::Sequence => {
                joined.extend(argument.items().map(|it| (it, self.judged(expression, it))));
                vec![ConditionalValue::always(Ok(literal(*argument)))]
            }
            _ => self.judged(expression, *argument),
        });
        let given: Vec<_> = given.collect();
        let call =
            AppliedCall { node, name, arguments: &arguments, given: &given, joined: &joined };
        let known = match (self.declared_functions().find(node.document().file(), name), name) {
            (Some(signatures), _) => self.custom(expression, &call, &signatures),
            (None, name) => BuiltIn::named(name).and_then(|function| {
                match constant(node, &PlainText) {
                    Ok(None) => {
                        self.takes_given(expression, &call, function);
                        self.joins(expression.when, &call, function);
                        self.takes_pattern(expression.when, &call, function);
                        self.takes_range(expression.when, &call, function);
                        self.adds_alike(expression.when, &call, function);
                        self.compares(expression, &call);
                    }
                    Ok(Some(_)) => self.compares(expression, &call),
                    // That it gives nothing is reported elsewhere.
                    Err(_) => {}
                }
                self.result(&call, function)
            }),
        };
        vec![known.unwrap_or(ConditionalValue::always(Ok(KnownValue::Unknown)))]
    }

    /// The type of `$value`, or of a part of it.
    fn part_of_value(
        &self,
        expression: JudgedExpression<'_, '_>,
        path: &[Node<'_>],
    ) -> ConditionalValue {
        let known = self.part(expression.value.cloned(), path).unwrap_or_else(|error| {
            if error.code != Code::UnknownProperty || !self.derived_have(expression.value, path) {
                let error = error.rule(Rule::new(&TOSCA_2_0, "10.2.1.5"));
                self.report_when(expression.when, &[], error);
            }
            KnownValue::Unknown
        });
        ConditionalValue::always(Ok(known))
    }

    /// Checks that a function of TOSCA itself takes the arguments that it is given.
    fn takes_given(
        &self,
        expression: JudgedExpression<'_, '_>,
        call: &AppliedCall<'_, '_>,
        function: &BuiltIn,
    ) {
        let letters = function.kinds.as_bytes();
        let last = letters.last().copied().into_iter().cycle();
        let each = call.given.iter().zip(call.arguments);
        for ((given, at), letter) in each.zip(letters.iter().copied().chain(last)) {
            let (kinds, wanted) = ValueKinds::taken(letter);
            for (known, when) in certain(given) {
                let own = self.kinds(known);
                // Lists go with lists only.
                let mixed = match letter {
                    b't' | b'x' => self.mixed(own, call.given),
                    _ => None,
                };
                if own.meets(kinds) && mixed.is_none() {
                    continue;
                }
                let shown = mixed.as_ref().map_or_else(|| self.shown(known), |_| "both".into());
                let message = format!("`${}` takes {wanted}, not {shown}", call.name);
                let error = Diagnostic::error(Code::InvalidFunction, message).at(at.span());
                let error = error.rule(Rule::new(&TOSCA_2_0, function.section));
                let also = mixed.unwrap_or_default();
                self.report_when(&[expression.when, when, &also].concat(), &[], error);
            }
        }
    }

    /// The elements with which the first argument is a list and another one none, or the other way
    /// round; no elements where it is so whatever the alternatives of the first are.
    fn mixed(&self, own: ValueKinds, given: &[Vec<ConditionalValue>]) -> Option<Vec<ElementId>> {
        let (list, _) = ValueKinds::taken(b'l');
        let is_mixed = |first: &KnownValue| {
            let first = self.kinds(first);
            own.is_only(b'l') && !first.meets(list) || first.is_only(b'l') && !own.meets(list)
        };
        let mut firsts = given.first().into_iter().flat_map(|first| certain(first));
        let always = given.first().is_some_and(|all| firsts.clone().count() == all.len())
            && firsts.clone().all(|(first, _)| is_mixed(first));
        let (_, when) = firsts.find(|(first, _)| is_mixed(first))?;
        // A single one that is no alternative depends on what it is computed from.
        let is_free = always && given.first().is_some_and(|all| all.len() > 1);
        Some(if is_free { Vec::new() } else { when.to_vec() })
    }

    /// Checks that what a call joins are strings.
    fn joins(&self, when: &[ElementId], call: &AppliedCall<'_, '_>, function: &BuiltIn) {
        let ("join", Some((list, at))) =
            (call.name, call.given.first().zip(call.arguments.first()))
        else {
            return;
        };
        let of_list = certain(list).filter_map(|(known, also)| match known {
            KnownValue::Typed(kind) => Some((*at, KnownValue::Typed(self.entry(kind)?), also)),
            _ => None,
        });
        let listed = call
            .joined
            .iter()
            .flat_map(|(at, given)| certain(given).map(|(known, also)| (*at, known.clone(), also)));
        let (kinds, wanted) = ValueKinds::taken(b'j');
        for (at, known, also) in of_list.chain(listed) {
            if !self.kinds(&known).meets(kinds) {
                let message = format!("`$join` takes {wanted}, not of {}", self.shown(&known));
                let error = Diagnostic::error(Code::InvalidFunction, message).at(at.span());
                let error = error.rule(Rule::new(&TOSCA_2_0, function.section));
                self.report_when(&[when, also].concat(), &[], error);
            }
        }
    }

    /// Checks the regular expression of a call whose text is not known.
    fn takes_pattern(&self, when: &[ElementId], call: &AppliedCall<'_, '_>, function: &BuiltIn) {
        let ("matches", [_, pattern]) = (call.name, call.arguments) else { return };
        let written = pattern.as_str().filter(|_| called(*pattern).is_none());
        if let Some(Err(why)) = written.map(regular_expression)
            && !is_unsupported(&why)
        {
            let error = Diagnostic::error(Code::InvalidFunction, why).at(pattern.span());
            self.report_when(when, &[], error.rule(Rule::new(&TOSCA_2_0, function.section)));
        }
    }

    /// Reports a range that is not one of two bounds, and warns of one of numbers that has none.
    fn takes_range(&self, when: &[ElementId], call: &AppliedCall<'_, '_>, function: &BuiltIn) {
        let ("in_range", [_, range]) = (call.name, call.arguments) else { return };
        let rule = Rule::new(&TOSCA_2_0, function.section);
        let bounds: Vec<Value> = range.items().map(Node::to_value).collect();
        // What is no list at all is reported with the other arguments.
        let is_known = range.kind() != NodeKind::Scalar && called(*range).is_none();
        if is_known && bounds.len() != 2 {
            let error = Diagnostic::error(Code::InvalidFunction, "a range has two bounds");
            let error = error.at(range.span()).help("write `[LOW, HIGH]`").rule(rule);
            return self.report_when(when, &[], error);
        }
        let is_version = |(known, _): (&KnownValue, _)| match known {
            KnownValue::Typed(kind) => self.base(kind) == Some(Primitive::Version),
            _ => false,
        };
        let of_value = call.given.first().is_some_and(|given| certain(given).any(is_version));
        let form = of_value.then_some(TextType::Version);
        if let [low @ Value::Number(_), high @ Value::Number(_)] = &bounds[..]
            && let Some(greater) = BuiltIn::named("greater_than")
            && greater.applied(vec![Some(low.clone()), Some(high.clone())], &form)
                == Ok(Some(true.into()))
        {
            let message = format!("no value is in a range from `{low}` to `{high}`");
            let warning = Diagnostic::warning(Code::InvalidFunction, message).at(range.span());
            self.report_when(when, &[], warning.rule(rule));
        }
    }

    /// Checks that a sum or difference is one of plain numbers, or of scalars of one type.
    fn adds_alike(&self, when: &[ElementId], call: &AppliedCall<'_, '_>, function: &BuiltIn) {
        if !matches!(call.name, "sum" | "difference") {
            return;
        }
        let mut all = call.given.iter().zip(call.arguments);
        let Some((first, first_at)) = all.next() else { return };
        for (given, at) in all {
            let pairs =
                certain(first).flat_map(|one| certain(given).map(move |other| (one, other)));
            for ((one, also), (other, with)) in pairs {
                let is_mixed = match [(one, first_at), (other, at)].map(|it| self.is_with_unit(it))
                {
                    [Some(true), Some(true)] => {
                        self.are_unlike(one, other) || self.foreign_unit(one, *at).is_some()
                    }
                    [one, other] => one.zip(other).is_some_and(|(one, other)| one != other),
                };
                if is_mixed {
                    let (one, other) = (self.told(one, *first_at), self.told(other, *at));
                    let name = call.name;
                    let message = format!(
                        "`${name}` takes numbers, or scalars of one type, not {one} and {other}"
                    );
                    let error = Diagnostic::error(Code::InvalidFunction, message).at(at.span());
                    let error = error.rule(Rule::new(&TOSCA_2_0, function.section));
                    self.report_when(&[when, also, with].concat(), &[], error);
                }
            }
        }
    }

    /// Whether an argument is an amount with a unit, or else a plain number; `None` if neither is
    /// known.
    fn is_with_unit(&self, (known, at): (&KnownValue, &Node<'_>)) -> Option<bool> {
        let text = at.as_str().filter(|_| called(*at).is_none());
        let kinds = self.kinds(known);
        match text.map(amount_and_unit) {
            Some(written) => written.map(|(_, unit)| !unit.is_empty()),
            None if kinds.is_scalar() => Some(true),
            None => (kinds.is_only(b'i') || kinds.is_only(b'f')).then_some(false),
        }
    }

    /// A value for messages: as it is written, or its type.
    fn told(&self, known: &KnownValue, at: Node<'_>) -> String {
        let written = at.text().filter(|_| called(at).is_none());
        written.map_or_else(|| self.shown(known), |text| format!("`{text}`"))
    }

    /// Warns of lists whose entries are never of one type, and of entries that no list has.
    fn compares_entries(&self, expression: JudgedExpression<'_, '_>, call: &AppliedCall<'_, '_>) {
        let (Some(first), Some(function)) = (call.given.first(), BuiltIn::named(call.name)) else {
            return;
        };
        let entry = |known: &KnownValue| match known {
            KnownValue::Typed(kind) => self.entry(kind).map(KnownValue::Typed),
            _ => None,
        };
        // Whether the first argument, and the others, are lists.
        let are_lists = match call.name {
            "union" | "intersection" | "concat" | "contains" | "has_prefix" | "has_suffix"
            | "has_all_entries" | "has_any_entry" => (true, true),
            "has_entry" => (true, false),
            "valid_values" => (false, true),
            _ => return,
        };
        let compared = |known: &KnownValue, is_list: bool| {
            if is_list { entry(known) } else { Some(known.clone()) }
        };
        for (given, at) in call.given.iter().zip(call.arguments).skip(1) {
            let pairs =
                certain(first).flat_map(|one| certain(given).map(move |other| (one, other)));
            for ((one, also), (other, when)) in pairs {
                let one = compared(one, are_lists.0);
                let Some((one, other)) = one.zip(compared(other, are_lists.1)) else { continue };
                if self.are_unlike(&one, &other) {
                    let name = call.name;
                    let (one, other) = (self.shown(&one), self.shown(&other));
                    let message =
                        format!("`${name}` takes values of different types: {one} and {other}");
                    let warning = Diagnostic::warning(Code::InvalidFunction, message);
                    let warning = warning.at(at.span()).help("use values of one type");
                    let warning = warning.rule(Rule::new(&TOSCA_2_0, function.section));
                    self.report_when(&[expression.when, when, also].concat(), &[], warning);
                }
            }
        }
    }

    /// Warns of comparisons of values that are never of one type (section 10.2.2.2).
    fn compares(&self, expression: JudgedExpression<'_, '_>, call: &AppliedCall<'_, '_>) {
        self.compares_entries(expression, call);
        let ([one, other], [_, right]) = (call.given, call.arguments) else { return };
        let items: Vec<_> = match call.name {
            "valid_values" | "in_range" => {
                right.items().map(|item| (item, literal(item))).collect()
            }
            "equal" | "greater_than" | "greater_or_equal" | "less_than" | "less_or_equal" => {
                for (other, when) in certain(other) {
                    self.compares_with(expression, call, one, (*right, other, when));
                }
                return;
            }
            _ => return,
        };
        let is_compared = |item: &&(Node<'_>, KnownValue)| {
            called(item.0).is_none() && item.0.as_str() != Some("UNBOUNDED")
        };
        for (at, item) in items.iter().filter(is_compared) {
            self.compares_with(expression, call, one, (*at, item, &[]));
        }
    }

    fn compares_with(
        &self,
        expression: JudgedExpression<'_, '_>,
        call: &AppliedCall<'_, '_>,
        ones: &[ConditionalValue],
        (at, other, when): (Node<'_>, &KnownValue, &[ElementId]),
    ) {
        let name = call.name;
        let letter = BuiltIn::named(name).and_then(|function| function.kinds.bytes().next());
        let (kinds, _) = ValueKinds::taken(letter.unwrap_or_default());
        // What the function does not take at all is an error already.
        let is_taken = |known: &KnownValue| self.kinds(known).meets(kinds);
        let is_news =
            |one: &KnownValue| is_taken(one) && is_taken(other) && self.are_unlike(one, other);
        for (one, also) in certain(ones) {
            let message = match self.foreign_unit(one, at) {
                Some(unit) => format!("{} has no unit `{unit}`", self.shown(one)),
                None if is_news(one) => {
                    let (one, other) = (self.shown(one), self.shown(other));
                    format!("`${name}` compares values of different types: {one} and {other}")
                }
                None => continue,
            };
            let warning = Diagnostic::warning(Code::InvalidFunction, message).at(at.span());
            let section = BuiltIn::named(name).map_or("10.2.2.2", |function| function.section);
            let warning = warning.rule(Rule::new(&TOSCA_2_0, section));
            let when = [expression.when, when, also].concat();
            self.report_when(&when, &[], warning.help("compare values of one type"));
        }
    }

    /// The unit of a scalar as it is written, if the type of what it is compared with lacks it.
    fn foreign_unit<'n>(&self, compared: &KnownValue, written: Node<'n>) -> Option<&'n str> {
        let KnownValue::Typed(kind) = compared else { return None };
        let (_, unit) = amount_and_unit(written.as_str()?)?;
        let units = self.units(kind);
        let is_unknown = !units.is_empty() && units.iter().all(|(known, _)| known != unit);
        is_unknown.then_some(unit)
    }

    /// Whether two values are of different types for certain.
    fn are_unlike(&self, one: &KnownValue, other: &KnownValue) -> bool {
        let kinds = [one, other].map(|known| self.kinds(known));
        let fits = |one: &KnownValue, other: &KnownValue| match other {
            KnownValue::Typed(kind) => self.fit(one, kind) != Fit::No,
            _ => true,
        };
        !kinds[0].is_comparable(kinds[1])
            || kinds[0] == kinds[1] && !fits(one, other) && !fits(other, one)
    }

    /// What a function of TOSCA itself gives, as far as its arguments tell that.
    fn result(&self, call: &AppliedCall<'_, '_>, function: &BuiltIn) -> Option<ConditionalValue> {
        let of = |primitive| Some(KnownValue::Typed(ValueType::of(primitive)));
        let all: Option<Vec<_>> = call.given.iter().map(|given| only(given)).collect();
        let all = all.unwrap_or_default();
        let first = all.first().map(|(known, _)| (*known).clone());
        let is = |letter| {
            !all.is_empty() && all.iter().all(|(known, _)| self.kinds(known).is_only(letter))
        };
        let is_number = |kinds: ValueKinds| kinds.is_only(b'i') || kinds.is_only(b'f');
        let are_numbers =
            !all.is_empty() && all.iter().all(|(known, _)| is_number(self.kinds(known)));
        let is_scalar = first.as_ref().is_some_and(|first| self.kinds(first).is_scalar());
        let known = match call.name {
            "sum" | "difference" | "product" | "quotient" | "remainder" if is_scalar => first,
            "quotient" if is(b'f') => of(Primitive::Float),
            "sum" | "difference" | "product" | "remainder" if is(b'i') => of(Primitive::Integer),
            "sum" | "difference" | "product" if are_numbers => of(Primitive::Float),
            "concat" if is(b's') => of(Primitive::String),
            "concat" | "union" | "intersection" if is(b'l') && all.len() == 1 => first,
            "concat" if is(b'l') => of(Primitive::List),
            "union" | "intersection" => of(Primitive::List),
            "quotient" => None,
            _ => function.result().and_then(Primitive::of_2_0).and_then(of),
        };
        let when = all.into_iter().flat_map(|(_, when)| when.iter().copied()).collect();
        known.map(|known| ConditionalValue { when, outcome: Ok(known) })
    }

    /// Checks a call of a function that files declare, and says what it gives.
    fn custom(
        &self,
        expression: JudgedExpression<'_, '_>,
        call: &AppliedCall<'_, '_>,
        signatures: &[Node<'_>],
    ) -> Option<ConditionalValue> {
        // What is refused as it is written is reported elsewhere.
        let open =
            signatures.iter().filter(|it| refusal(**it, call.arguments, &self.schemas).is_none());
        let refused: Vec<_> = open.map(|it| (*it, self.refused(*it, call))).collect();
        let taking = refused.iter().filter(|(_, refused)| refused.is_none());
        let mut taking = taking.map(|(signature, _)| *signature);
        let Some(first) = taking.next() else {
            if let Some((_, Some((why, when)))) = refused.first() {
                let when = [expression.when, when].concat();
                self.report_when(&when, &[], refused_call(call.node, call.name, why));
            }
            return None;
        };
        // They are tried in order.
        let is_only = taking.next().is_none();
        let signature = Some(first).filter(|it| is_only || self.surely_takes(*it, call))?;
        let known = KnownValue::Typed(self.type_in(signature.get("result")?)?);
        Some(ConditionalValue::always(Ok(known)))
    }

    /// Whether a signature takes the arguments for certain that it does not refuse.
    fn surely_takes(&self, signature: Node<'_>, call: &AppliedCall<'_, '_>) -> bool {
        let (_, schemas) = taken(signature);
        let mut all = call.given.iter().zip(call.arguments).zip(each(&schemas));
        all.all(|((given, at), schema)| {
            if called(*at).is_none() {
                let schema = Schema::read(schema, &mut Diagnostics::default());
                return check_value(*at, &schema, &self.schemas).undecided.is_empty();
            }
            let is_known = |it: &KnownValue| !matches!(it, KnownValue::Unknown);
            let kind = self.type_in(schema).filter(|_| !given.is_empty());
            // Whether a validation holds is not known before the value is.
            let kind = kind.filter(|_| !self.validates(schema));
            kind.is_some_and(|kind| {
                let fitting = certain(given).filter(|(known, _)| is_known(known));
                let fitting = fitting.filter(|(known, _)| self.fit(known, &kind) == Fit::Yes);
                fitting.count() == given.len()
            })
        })
    }

    /// Why a signature does not take these arguments, by the types of what they give, and while
    /// which elements are there.
    fn refused(
        &self,
        signature: Node<'_>,
        call: &AppliedCall<'_, '_>,
    ) -> Option<(String, Vec<ElementId>)> {
        let (_, schemas) = taken(signature);
        let all = call.given.iter().zip(call.arguments).zip(each(&schemas));
        all.filter(|((_, at), _)| called(**at).is_some()).find_map(|((given, _), schema)| {
            let kind = self.type_in(schema)?;
            let (known, when) = only(given)?;
            let (wanted, given) = (self.described(&kind), self.shown(known));
            (self.fit(known, &kind) == Fit::No)
                .then(|| (format!("expected {wanted}, got {given}"), when.to_vec()))
        })
    }

    /// Whether a schema in a signature, its type or its parts have validations.
    fn validates(&self, schema: Node<'_>) -> bool {
        let kind = schema.as_str().map(|_| schema).or_else(|| schema.get("type"));
        let kind = kind.and_then(|kind| self.defined(Family::Data, Some(kind)));
        let of_type = kind.map(|kind| &self.types.effective(kind).schema);
        let parts = ["key_schema", "entry_schema"].into_iter().filter_map(|it| schema.get(it));
        schema.get("validation").is_some()
            || of_type.is_some_and(|it| !it.validations.is_empty() || it.entry_schema.is_some())
            || parts.into_iter().any(|part| self.validates(part))
    }

    /// The type that a schema in a signature names.
    fn type_in(&self, schema: Node<'_>) -> Option<ValueType> {
        schema.as_str().map(|_| schema).or_else(|| schema.get("type"))?;
        self.declared_type(&Schema::read(schema, &mut Diagnostics::default()))
    }

    /// The kinds of what may be there.
    fn kinds(&self, known: &KnownValue) -> ValueKinds {
        match known {
            KnownValue::Typed(kind) => match self.base(kind) {
                Some(primitive) => ValueKinds::of(primitive),
                None if self.may_be_anything(kind) => ValueKinds::ANY,
                None => ValueKinds::MAP,
            },
            KnownValue::Text => ValueKinds::TEXT,
            KnownValue::RunTime | KnownValue::Unknown => ValueKinds::ANY,
        }
    }

    /// The name of what is known of a value, for messages.
    pub(super) fn shown(&self, known: &KnownValue) -> String {
        match known {
            KnownValue::Typed(kind) => self.described(kind),
            _ => "a string".to_owned(),
        }
    }
}

/// What is known of a value as it is written.
fn literal(node: Node<'_>) -> KnownValue {
    let primitive = match (node.kind(), node.scalar()) {
        (NodeKind::Sequence, _) => Primitive::List,
        (_, Some(Scalar::Bool(_))) => Primitive::Boolean,
        (_, Some(Scalar::Int(_))) => Primitive::Integer,
        (_, Some(Scalar::Float(_))) => Primitive::Float,
        (_, Some(Scalar::String(text))) if amount_and_unit(text).is_none() => Primitive::String,
        (_, Some(Scalar::String(_))) => return KnownValue::Text,
        _ => return KnownValue::Unknown,
    };
    KnownValue::Typed(ValueType::of(primitive))
}

/// What is known of a value, each with the elements that it depends on. Errors are reported
/// elsewhere.
fn certain(
    given: &[ConditionalValue],
) -> impl Iterator<Item = (&KnownValue, &[ElementId])> + Clone {
    given.iter().filter_map(|it| Some((it.outcome.as_ref().ok()?, &it.when[..])))
}

/// What is known of a value that has one alternative.
fn only(given: &[ConditionalValue]) -> Option<(&KnownValue, &[ElementId])> {
    if given.len() == 1 { certain(given).next() } else { None }
}
