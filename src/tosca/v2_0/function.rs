//! The functions of TOSCA 2.0 (section 10.2), and the values of those that depend on their arguments
//! alone.

use super::{called, function_name, meant_key, unescaped};
use cuvee_text::float::parse_float;
use cuvee_text::value::{Number, ReplacedPart, Value};
use cuvee_text::yaml::{Node, NodeKind};
use regex_lite::{Regex, RegexBuilder};
use std::cmp::Ordering;

/// A function of TOSCA 2.0.
pub(crate) struct BuiltIn {
    /// The name behind `$`.
    pub name: &'static str,
    /// Its arguments, for people.
    pub takes: &'static str,
    /// The kinds of its arguments, as letters for `ValueKinds::taken`; the last one holds for all
    /// others.
    pub kinds: &'static str,
    /// The least number of arguments.
    pub least: usize,
    /// The greatest number of arguments.
    pub most: usize,
    /// The section that defines it.
    pub section: &'static str,
    /// Its value, if that depends on the arguments alone.
    pub value: Option<FunctionValue>,
}

/// The value of a call with these arguments, of which texts have this form; `None` where it is not
/// known here.
type FunctionValue = fn(&[Value], &dyn FormOfText) -> Result<Option<Value>, String>;

pub(crate) type FunctionOutcome = Result<Option<Value>, String>;

/// What the type of values says about those that are written as texts.
pub(crate) trait FormOfText {
    /// The order of two texts, where it is not that of their characters; the inner `None` where they
    /// have none.
    fn order(&self, one: &str, other: &str) -> Option<Option<Ordering>>;

    /// An amount in the base unit.
    fn base_amount(&self, text: &str) -> Option<Number>;

    /// The name of the base unit.
    fn base_unit(&self) -> Option<&str>;

    /// The length of a text, where it is not the number of its characters.
    fn length(&self, text: &str) -> Option<usize>;

    /// Whether a number is such a text without quotes.
    fn is_text(&self, number: &Number) -> bool;

    /// An amount in the base unit, without a fraction of that, if only integers are allowed and it is
    /// none.
    fn in_whole_units(&self, amount: &Number, unit: &str) -> Option<Value>;

    /// The form of texts in an entry of a map, or in a property of a structure, if that is another one.
    fn part(&self, _key: &str) -> Option<&dyn FormOfText> {
        None
    }
}

/// The form of texts of whose type nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlainText;

impl FormOfText for PlainText {
    fn order(&self, _: &str, _: &str) -> Option<Option<Ordering>> {
        None
    }

    fn base_amount(&self, _: &str) -> Option<Number> {
        None
    }

    fn base_unit(&self) -> Option<&str> {
        None
    }

    fn length(&self, _: &str) -> Option<usize> {
        None
    }

    fn is_text(&self, _: &Number) -> bool {
        false
    }

    fn in_whole_units(&self, _: &Number, _: &str) -> Option<Value> {
        None
    }
}

impl<F: FormOfText> FormOfText for Option<F> {
    fn order(&self, one: &str, other: &str) -> Option<Option<Ordering>> {
        self.as_ref()?.order(one, other)
    }

    fn base_amount(&self, text: &str) -> Option<Number> {
        self.as_ref()?.base_amount(text)
    }

    fn base_unit(&self) -> Option<&str> {
        self.as_ref()?.base_unit()
    }

    fn length(&self, text: &str) -> Option<usize> {
        self.as_ref()?.length(text)
    }

    fn is_text(&self, number: &Number) -> bool {
        self.as_ref().is_some_and(|form| form.is_text(number))
    }

    fn in_whole_units(&self, amount: &Number, unit: &str) -> Option<Value> {
        self.as_ref()?.in_whole_units(amount, unit)
    }

    fn part(&self, key: &str) -> Option<&dyn FormOfText> {
        self.as_ref()?.part(key)
    }
}

const ANY: usize = usize::MAX;

/// The function that asks for what is left of a property of a capability.
pub(crate) const ALLOCATION: &str = "available_allocation";

/// The function that gives the index of a node.
pub(crate) const NODE_INDEX: &str = "node_index";

/// The function that gives the index of a relation.
pub(crate) const RELATIONSHIP_INDEX: &str = "relationship_index";

/// The functions of indices. They take no arguments, so a text calls them.
pub(crate) const INDICES: [&str; 2] = [NODE_INDEX, RELATIONSHIP_INDEX];

/// Defines the functions: name, arguments, their kinds and numbers, section, value.
macro_rules! functions {
    ($($name:literal $takes:literal $kinds:literal $least:tt to $most:tt, $section:literal $(=> $value:expr)?;)*) => {
        &[$(BuiltIn {
            name: $name,
            takes: $takes,
            kinds: $kinds,
            least: $least,
            most: $most,
            section: $section,
            value: functions!(@value $($value)?),
        }),*]
    };
    (@value) => { None };
    (@value $value:expr) => { Some($value) };
}

/// All functions. `in_range` is used by the standard, but defined nowhere in it.
pub(crate) static FUNCTIONS: &[BuiltIn] = functions! {
    "get_input" "NAME` or `$get_input: [NAME, KEY_OR_INDEX, …]" "" 1 to ANY, "10.2.1.1";
    "get_property" "[PATH, …, PROPERTY, KEY_OR_INDEX, …]" "" 2 to ANY, "10.2.1.2";
    "get_attribute" "[PATH, …, ATTRIBUTE, KEY_OR_INDEX, …]" "" 2 to ANY, "10.2.1.3";
    "get_artifact" "[PATH, …, ARTIFACT]" "" 2 to ANY, "10.2.1.4";
    "value" "[KEY_OR_INDEX, …]" "" 0 to ANY, "10.2.1.5";
    "node_index" "" "" 0 to 0, "10.2.1.6";
    "relationship_index" "" "" 0 to 0, "10.2.1.7";
    "available_allocation" "[PATH, …, CAPABILITY, NAME, PROPERTY]" "" 2 to ANY, "10.2.1.8";
    "and" "[BOOLEAN, BOOLEAN, …]" "b" 2 to ANY, "10.2.2.1.1" => |all, _| truths(all, |all| all.iter().all(|it| *it));
    "or" "[BOOLEAN, BOOLEAN, …]" "b" 2 to ANY, "10.2.2.1.2" => |all, _| truths(all, |all| all.iter().any(|it| *it));
    "not" "[BOOLEAN]" "b" 1 to 1, "10.2.2.1.3" => |all, _| truths(all, |all| !all.iter().all(|it| *it));
    "xor" "[BOOLEAN, BOOLEAN]" "b" 2 to 2, "10.2.2.1.4" => |all, _| truths(all, |all| all.iter().filter(|it| **it).count() == 1);
    "equal" "[VALUE, VALUE]" "a" 2 to 2, "10.2.2.2.1" => equal;
    "greater_than" "[VALUE, VALUE]" "o" 2 to 2, "10.2.2.2.2" => |all, form| ordered(all, form, Ordering::is_gt);
    "greater_or_equal" "[VALUE, VALUE]" "o" 2 to 2, "10.2.2.2.3" => |all, form| ordered(all, form, Ordering::is_ge);
    "less_than" "[VALUE, VALUE]" "o" 2 to 2, "10.2.2.2.4" => |all, form| ordered(all, form, Ordering::is_lt);
    "less_or_equal" "[VALUE, VALUE]" "o" 2 to 2, "10.2.2.2.5" => |all, form| ordered(all, form, Ordering::is_le);
    "in_range" "[VALUE, [LOW, HIGH]]" "ol" 2 to 2, "10.2.2.2" => in_range;
    "valid_values" "[VALUE, [VALUE, …]]" "al" 2 to 2, "10.2.2.2.6" => |all, form| has(all, form, 1, 0);
    "matches" "[STRING, REGEX]" "s" 2 to 2, "10.2.2.2.7" => |all, _| matches(all);
    "has_suffix" "[STRING_OR_LIST, SUFFIX]" "t" 2 to 2, "10.2.2.3.1" => |all, form| contents(all, form, |x, y| x.ends_with(y), |at, rest| at == rest);
    "has_prefix" "[STRING_OR_LIST, PREFIX]" "t" 2 to 2, "10.2.2.3.2" => |all, form| contents(all, form, |x, y| x.starts_with(y), |at, _| at == 0);
    "contains" "[STRING_OR_LIST, PART]" "t" 2 to 2, "10.2.2.3.3" => |all, form| contents(all, form, |x, y| x.contains(y), |_, _| true);
    "has_entry" "[LIST_OR_MAP, ENTRY]" "ca" 2 to 2, "10.2.2.3.4" => |all, form| has(all, form, 0, 1);
    "has_key" "[MAP, KEY]" "ma" 2 to 2, "10.2.2.3.5" => |all, _| keys(all, |known, key| Ok(known(key)));
    "has_all_entries" "[LIST_OR_MAP, [ENTRY, …]]" "cl" 2 to 2, "10.2.2.3.6" => |all, form| entries(all, form, |known, list| list.iter().all(known));
    "has_any_entry" "[LIST_OR_MAP, [ENTRY, …]]" "cl" 2 to 2, "10.2.2.3.8" => |all, form| entries(all, form, |known, list| list.iter().any(known));
    "has_all_keys" "[MAP, [KEY, …]]" "ml" 2 to 2, "10.2.2.3.7" => |all, _| keys(all, |known, it| Ok(list(it)?.iter().all(known)));
    "has_any_key" "[MAP, [KEY, …]]" "ml" 2 to 2, "10.2.2.3.9" => |all, _| keys(all, |known, it| Ok(list(it)?.iter().any(known)));
    "length" "[STRING_LIST_OR_MAP]" "z" 1 to 1, "10.2.3.1" => length;
    "concat" "[STRING_OR_LIST, …]" "x" 1 to ANY, "10.2.3.2" => |all, _| concat(all);
    "join" "[[STRING, …], DELIMITER]" "ls" 1 to 2, "10.2.3.3" => |all, _| join(all);
    "token" "[STRING, CHARACTERS, INDEX]" "ssi" 3 to 3, "10.2.3.4" => |all, _| token(all);
    "union" "[LIST, …]" "l" 1 to ANY, "10.2.4.1" => |all, form| sets(all, form, |_, _, _| true);
    "intersection" "[LIST, …]" "l" 1 to ANY, "10.2.4.2" => |all, form| sets(all, form, |value, others, same| others.iter().all(|it| it.iter().any(|one| same(one, value))));
    "sum" "[NUMBER, …]" "n" 1 to ANY, "10.2.5.1" => |all, form| fold(all, form, |a, b| a + b, |a, b| a + b);
    "difference" "[NUMBER, NUMBER]" "n" 2 to 2, "10.2.5.2" => |all, form| fold(all, form, |a, b| a - b, |a, b| a - b);
    "product" "[NUMBER, …]" "nf" 1 to ANY, "10.2.5.3" => product;
    "quotient" "[NUMBER, NUMBER]" "nf" 2 to 2, "10.2.5.4" => quotient;
    "remainder" "[INTEGER, INTEGER]" "wi" 2 to 2, "10.2.5.5" => remainder;
    "round" "[FLOAT]" "f" 1 to 1, "10.2.5.6" => |all, _| whole(all, |it| (it - 0.5).ceil());
    "floor" "[FLOAT]" "f" 1 to 1, "10.2.5.7" => |all, _| whole(all, f64::floor);
    "ceil" "[FLOAT]" "f" 1 to 1, "10.2.5.8" => |all, _| whole(all, f64::ceil);
};

/// The function that a value itself calls and that depends on nothing but its arguments, with these.
pub(crate) fn computing(value: &Value) -> Option<(&'static BuiltIn, &Value)> {
    let Value::Map(entries) = value else { return None };
    let [(key, arguments)] = &**entries else { return None };
    let built_in = BuiltIn::named(function_name(key)?)?;
    built_in.value.is_some().then_some((built_in, arguments))
}

/// Whether a value may be true or false. Of functions that files declare, nothing is known.
pub(crate) fn may_be_truth(node: Node<'_>) -> bool {
    match called(node) {
        Some((name, _)) => BuiltIn::named(name).is_none_or(BuiltIn::may_be_truth),
        None => node.as_bool().is_some() || node.is_null(),
    }
}

impl BuiltIn {
    /// The function of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        FUNCTIONS.iter().find(|function| function.name == name)
    }

    /// Whether its values may be true or false: those of boolean functions are, and what is asked of
    /// nodes may be.
    pub(crate) fn may_be_truth(&self) -> bool {
        let is_number = INDICES.contains(&self.name);
        self.section.starts_with("10.2.2") || self.section.starts_with("10.2.1.") && !is_number
    }

    /// The name of the type of its values, where it has only one.
    pub(crate) fn result(&self) -> Option<&'static str> {
        match self.name {
            "length" | "round" | "floor" | "ceil" => Some("integer"),
            name if INDICES.contains(&name) => Some("integer"),
            "join" | "token" => Some("string"),
            "quotient" => Some("float"),
            "union" | "intersection" => Some("list"),
            _ => self.section.starts_with("10.2.2").then_some("boolean"),
        }
    }

    /// Whether its values tell no more of its arguments than true or false, or how long they are.
    pub(crate) fn tells_little(&self) -> bool {
        self.name == "length" || self.section.starts_with("10.2.2")
    }

    /// Whether its value depends on the form of texts.
    pub(crate) fn asks_form(&self) -> bool {
        let sections = ["10.2.2.2", "10.2.2.3", "10.2.3", "10.2.4", "10.2.5"];
        sections.iter().any(|it| self.section.starts_with(it))
    }

    /// Whether texts in its values have the form of those in its arguments.
    pub(crate) fn keeps_form(&self) -> bool {
        self.name == "concat" || ["10.2.4", "10.2.5"].iter().any(|it| self.section.starts_with(it))
    }

    /// The value of a call with these arguments, as far as they are known, and the form of texts in
    /// it; `None` where it is not known. The first form that an argument has holds for all of them;
    /// without any it is `form`.
    ///
    /// # Errors
    /// Why the function has no value.
    pub(crate) fn applied_to_formed<F: FormOfText + Clone>(
        &self,
        arguments: Vec<Option<FormedValue<F>>>,
        form: &dyn FormOfText,
    ) -> Result<Option<FormedValue<F>>, String> {
        let own = arguments.iter().flatten().find_map(|(_, form)| form.clone());
        let values = arguments.into_iter().map(|it| Some(it?.0)).collect();
        let value = self.applied(values, own.as_ref().map_or(form, |own| own))?;
        Ok(value.map(|value| (value, own.filter(|_| self.keeps_form()))))
    }

    /// The value of a call with these arguments, as far as they are known; `None` where it is not
    /// known.
    ///
    /// # Errors
    /// Why the function has no value.
    pub(crate) fn applied(
        &self,
        arguments: Vec<Option<Value>>,
        form: &dyn FormOfText,
    ) -> FunctionOutcome {
        let Some(value) = self.value else { return Ok(None) };
        if !(self.least..=self.most).contains(&arguments.len()) {
            return Ok(None);
        }
        // One argument may decide although others are not known.
        let deciding = match self.name {
            "and" => Some(Value::Bool(false)),
            "or" => Some(Value::Bool(true)),
            _ => None,
        };
        if deciding.is_some() && arguments.contains(&deciding) {
            return Ok(deciding);
        }
        let as_text = |value: Value| {
            let text = |part: &Value| match part {
                Value::Number(number) if form.is_text(number) => {
                    ReplacedPart::By(part.to_string().into())
                }
                _ => ReplacedPart::Within,
            };
            value.replaced(&mut { text }).unwrap_or(value)
        };
        let arguments = arguments.into_iter().map(|value| value.map(as_text));
        let arguments: Option<Vec<_>> = arguments.collect();
        arguments.map_or(Ok(None), |arguments| value(&arguments, form))
    }
}

/// A value, and the form of the texts in it if its type says so.
pub(crate) type FormedValue<F> = (Value, Option<F>);

/// Answers the functions that depend on more than their arguments.
type FunctionQuery<'q, F> = &'q dyn Fn(&str, Option<Node<'_>>) -> Option<FormedValue<F>>;

/// The value of an expression; `None` where it is not known here. Texts of whose type nothing is
/// known have this form, unless they are arguments beside others.
///
/// # Errors
/// Why the value of a function is none.
pub(crate) fn evaluate<F: FormOfText + Clone>(
    node: Node<'_>,
    query: FunctionQuery<'_, F>,
    form: &dyn FormOfText,
) -> FunctionOutcome {
    Ok(evaluated(node, query, form)?.map(|(value, _)| value))
}

fn evaluated<F: FormOfText + Clone>(
    node: Node<'_>,
    query: FunctionQuery<'_, F>,
    form: &dyn FormOfText,
) -> Result<Option<FormedValue<F>>, String> {
    let Some((name, arguments)) = called(node) else { return written_value(node, query, form) };
    let Some(built_in) = BuiltIn::named(name) else { return Ok(None) };
    if built_in.value.is_none() {
        return Ok(query(name, arguments));
    }
    let arguments = arguments.into_iter().flat_map(Node::items);
    let arguments =
        arguments.map(|it| evaluated(it, query, form)).collect::<Result<Vec<_>, _>>()?;
    built_in.applied_to_formed(arguments, form)
}

/// A value in which functions may be called.
fn written_value<F: FormOfText + Clone>(
    node: Node<'_>,
    query: FunctionQuery<'_, F>,
    form: &dyn FormOfText,
) -> Result<Option<FormedValue<F>>, String> {
    let mut own = None;
    let mut part = |part: Node<'_>| {
        let found = evaluated(part, query, form)?;
        Ok(found.map(|(value, form)| {
            own = own.take().or(form);
            value
        }))
    };
    let whole = match node.kind() {
        NodeKind::Scalar => scalar(node),
        NodeKind::Sequence => {
            let items = node.items().map(&mut part).collect::<Result<Option<Vec<_>>, String>>()?;
            items.map(Value::from)
        }
        NodeKind::Mapping => {
            let entry = |(key, value): (Node<'_>, Node<'_>)| {
                Ok(part(value)?.map(|value| (meant_key(key), value)))
            };
            let entries = node.entries().map(entry).collect::<Result<Option<Vec<_>>, String>>()?;
            entries.map(|entries| Value::Map(entries.into()))
        }
    };
    Ok(whole.map(|whole| (whole, own)))
}

/// The value of an expression that depends on nothing but what is written in it.
///
/// # Errors
/// Why the value of a function is none.
pub(crate) fn constant(node: Node<'_>, form: &dyn FormOfText) -> FunctionOutcome {
    evaluate::<PlainText>(node, &|_, _| None, form)
}

/// The value of a scalar. A text behind one `$` calls a function; of several `$`, one is left out
/// (section 10.1).
pub(crate) fn scalar(node: Node<'_>) -> Option<Value> {
    match node.as_str() {
        Some(text) if function_name(text).is_some() => None,
        Some(text) => Some(unescaped(text).unwrap_or(text).into()),
        None => Some(node.to_value()),
    }
}

fn known(value: impl Into<Value>) -> FunctionOutcome {
    Ok(Some(value.into()))
}

fn unfit<T>(expected: &str, got: &Value) -> Result<T, String> {
    Err(format!("expected {expected}, got {}", got.describe()))
}

fn truths(arguments: &[Value], value: fn(&[bool]) -> bool) -> FunctionOutcome {
    let truth = |argument: &Value| match argument {
        Value::Bool(truth) => Ok(*truth),
        other => unfit("`true` or `false`", other),
    };
    known(value(&arguments.iter().map(truth).collect::<Result<Vec<_>, _>>()?))
}

/// The number and the unit of a scalar of TOSCA 2.0, such as `10 GB`.
pub(crate) fn amount_and_unit(text: &str) -> Option<(&str, &str)> {
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.');
    // An exponent has a digit or a sign behind its letter, a unit has not.
    let exponent = text.find(['e', 'E']).filter(|&at| {
        at > 0
            && text[..at].chars().all(is_of_number)
            && text[at + 1..].starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'))
    });
    let start = exponent.map_or(0, |at| at + 1);
    let end = start + text[start..].find(|c| !is_of_number(c))?;
    let (number, unit) = text.split_at(end);
    parse_float(number)?;
    let unit = unit.trim_start_matches([' ', '\t']);
    (!unit.is_empty() && !unit.ends_with(char::is_whitespace)).then_some((number, unit))
}

/// A number, or a scalar with a unit. The unit of a number is empty.
fn amount(value: &Value) -> Option<(Number, &str)> {
    match value {
        Value::Number(number) => Some((number.clone(), "")),
        Value::String(text) => {
            let (amount, unit) = amount_and_unit(text)?;
            let integer = amount.parse().ok().map(Number::int);
            Some((integer.or_else(|| parse_float(amount).map(Number::float))?, unit))
        }
        _ => None,
    }
}

/// As [`amount`], in the base unit where the form of texts says what that is.
fn base_amount<'v>(value: &'v Value, form: &dyn FormOfText) -> Option<(Number, &'v str)> {
    let in_base = value.as_str().and_then(|text| form.base_amount(text));
    in_base.map(|number| (number, "")).or_else(|| amount(value))
}

/// The order of two values by the form of their texts, where that is of its own.
fn order_of_form(one: &Value, other: &Value, form: &dyn FormOfText) -> Option<Option<Ordering>> {
    let text = |value: &Value| match value {
        Value::Number(number) => form.is_text(number).then(|| number.to_string()),
        value => value.as_str().map(str::to_owned),
    };
    form.order(&text(one)?, &text(other)?)
}

/// The order of two values; `None` where their types, or the units of their types, decide.
fn order(one: &Value, other: &Value, form: &dyn FormOfText) -> Result<Option<Ordering>, String> {
    if let Some(order) = order_of_form(one, other, form) {
        return Ok(order);
    }
    match (base_amount(one, form), base_amount(other, form)) {
        (Some((one, unit)), Some((other, same))) => {
            let order = match (one.as_int(), other.as_int()) {
                (Some(one), Some(other)) => Some(one.cmp(&other)),
                _ => one.as_f64().partial_cmp(&other.as_f64()),
            };
            return Ok(order.filter(|_| unit == same));
        }
        (None, None) => {}
        _ => return Ok(None),
    }
    match (one, other) {
        (Value::String(one), Value::String(other)) => Ok(Some(one.cmp(other))),
        (Value::String(_), other) | (other, _) => {
            unfit("values of one type that has an order", other)
        }
    }
}

fn ordered(
    arguments: &[Value],
    form: &dyn FormOfText,
    holds: fn(Ordering) -> bool,
) -> FunctionOutcome {
    let [one, other] = arguments else { return Ok(None) };
    Ok(order(one, other, form)?.map(|order| holds(order).into()))
}

fn is_equal(one: &Value, other: &Value, form: &dyn FormOfText) -> Option<bool> {
    match (one, other) {
        _ if one == other => Some(true),
        (Value::List(one), Value::List(other)) => are_equal(one, other, form),
        (Value::Map(one), Value::Map(other)) if one.len() == other.len() => {
            all_hold(one.iter().map(|(key, value)| {
                let found = other.iter().find(|(known, _)| known == key);
                let form = form.part(key).unwrap_or(form);
                found.map_or(Some(false), |(_, found)| is_equal(value, found, form))
            }))
        }
        _ => match order_of_form(one, other, form) {
            Some(order) => Some(order.is_some_and(Ordering::is_eq)),
            None => match (base_amount(one, form), base_amount(other, form)) {
                (Some((_, unit)), Some((_, same))) if unit != same => None,
                (Some(_), Some(_)) => order(one, other, form).ok()?.map(Ordering::is_eq),
                _ => Some(false),
            },
        },
    }
}

fn are_equal(one: &[Value], other: &[Value], form: &dyn FormOfText) -> Option<bool> {
    if one.len() != other.len() {
        return Some(false);
    }
    all_hold(one.iter().zip(other).map(|(one, other)| is_equal(one, other, form)))
}

/// Whether any of these holds.
fn any_holds(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    all_hold(parts.map(|part| part.map(|holds| !holds))).map(|none| !none)
}

/// Whether all of these hold; one that does not decides although others are not known.
fn all_hold(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let parts: Vec<_> = parts.collect();
    let any_fails = parts.contains(&Some(false));
    (any_fails || !parts.contains(&None)).then_some(!any_fails)
}

fn equal(arguments: &[Value], form: &dyn FormOfText) -> FunctionOutcome {
    let [one, other] = arguments else { return Ok(None) };
    Ok(is_equal(one, other, form).map(Value::from))
}

fn in_range(arguments: &[Value], form: &dyn FormOfText) -> FunctionOutcome {
    let [value, range] = arguments else { return Ok(None) };
    let [low, high] = list(range)? else { return unfit("two bounds", range) };
    let is_open = |bound: &Value| bound.as_str() == Some("UNBOUNDED");
    let within = |bound: &Value, holds: fn(Ordering) -> bool| match is_open(bound) {
        true => Ok(Some(true)),
        false => order(value, bound, form).map(|order| order.map(holds)),
    };
    let (low, high) = (within(low, Ordering::is_ge)?, within(high, Ordering::is_le)?);
    Ok(low.zip(high).map(|(low, high)| (low && high).into()))
}

fn list(value: &Value) -> Result<&[Value], String> {
    match value {
        Value::List(items) => Ok(items),
        other => unfit("a list", other),
    }
}

fn text(value: &Value) -> Result<&str, String> {
    value.as_str().map_or_else(|| unfit("a string", value), Ok)
}

fn matches(arguments: &[Value]) -> FunctionOutcome {
    let [value, pattern] = arguments else { return Ok(None) };
    known(regular_expression(text(pattern)?)?.is_match(text(value)?))
}

/// Reads the second argument of `$matches`; `Err` says why it is no regular expression.
pub(crate) fn regular_expression(pattern: &str) -> Result<Regex, String> {
    /// How large the compiled form of an expression may be.
    const BYTES: usize = 1 << 20;
    let compiled = RegexBuilder::new(pattern).size_limit(BYTES).build();
    compiled.map_err(|error| format!("`{pattern}` is no regular expression: {error}"))
}

/// Whether a text has a part, or a list a part at a position that is right; that is told how many
/// more positions there would be.
fn contents(
    arguments: &[Value],
    form: &dyn FormOfText,
    texts: fn(&str, &str) -> bool,
    is_there: fn(usize, usize) -> bool,
) -> FunctionOutcome {
    match arguments {
        [Value::String(whole), Value::String(part)] => known(texts(whole, part)),
        [Value::List(whole), Value::List(part)] => {
            let last = whole.len().checked_sub(part.len());
            let starts =
                last.into_iter().flat_map(|last| (0..=last).filter(move |at| is_there(*at, last)));
            let parts = starts.filter_map(|at| whole.get(at..at + part.len()));
            Ok(any_holds(parts.map(|there| are_equal(there, part, form))).map(Value::from))
        }
        [Value::String(_) | Value::List(_), other] | [other, ..] => {
            unfit("two strings or two lists", other)
        }
        [] => Ok(None),
    }
}

/// Whether a list or a map has an entry or a key.
type HasPart<'p> = &'p dyn Fn(&Value) -> bool;

/// An entry of a list or a map, and its form.
type FormedEntry<'v> = (&'v Value, &'v dyn FormOfText);

/// The entries of a list, or the values of a map, with their forms.
fn values<'v>(
    container: &'v Value,
    form: &'v dyn FormOfText,
) -> Result<Vec<FormedEntry<'v>>, String> {
    match container {
        Value::List(items) => Ok(items.iter().map(|item| (item, form)).collect()),
        Value::Map(entries) => {
            let entries = entries.iter();
            Ok(entries.map(|(key, value)| (value, form.part(key).unwrap_or(form))).collect())
        }
        other => unfit("a list or a map", other),
    }
}

fn has(
    arguments: &[Value],
    form: &dyn FormOfText,
    container: usize,
    wanted: usize,
) -> FunctionOutcome {
    let (Some(container), Some(wanted)) = (arguments.get(container), arguments.get(wanted)) else {
        return Ok(None);
    };
    let answers = values(container, form)?.into_iter();
    let answers = answers.map(|(value, form)| is_equal(value, wanted, form));
    Ok(any_holds(answers).map(Value::from))
}

fn entries(
    arguments: &[Value],
    form: &dyn FormOfText,
    holds: fn(HasPart<'_>, &[Value]) -> bool,
) -> FunctionOutcome {
    let [container, wanted] = arguments else { return Ok(None) };
    let values = values(container, form)?;
    let known_entry = |value: &Value| {
        values.iter().any(|(known, form)| is_equal(known, value, *form) == Some(true))
    };
    known(holds(&known_entry, list(wanted)?))
}

fn keys(
    arguments: &[Value],
    holds: fn(HasPart<'_>, &Value) -> Result<bool, String>,
) -> FunctionOutcome {
    let [container, wanted] = arguments else { return Ok(None) };
    let Value::Map(entries) = container else { return unfit("a map", container) };
    let is_key = |key: &Value| entries.iter().any(|(known, _)| **known == *key.to_string());
    known(holds(&is_key, wanted)?)
}

/// The number of characters of a string, of bytes, or of entries.
fn length(arguments: &[Value], form: &dyn FormOfText) -> FunctionOutcome {
    let count = match arguments {
        [Value::String(text)] => form.length(text).unwrap_or_else(|| text.chars().count()),
        [Value::List(items)] => items.len(),
        [Value::Map(entries)] => entries.len(),
        [other, ..] => return unfit("a string, a list or a map", other),
        [] => return Ok(None),
    };
    known(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Whether a value is a string, or a number, which the examples of the standard have among strings.
fn is_text(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Number(_))
}

fn concat(arguments: &[Value]) -> FunctionOutcome {
    if let Some(Value::List(_)) = arguments.first() {
        let lists = arguments.iter().map(list).collect::<Result<Vec<_>, _>>()?;
        return known(lists.concat());
    }
    match arguments.iter().find(|part| !is_text(part)) {
        Some(other) => unfit("strings", other),
        None => known(arguments.iter().map(Value::to_string).collect::<String>()),
    }
}

fn join(arguments: &[Value]) -> FunctionOutcome {
    let (parts, delimiter) = match arguments {
        [parts] => (parts, ""),
        [parts, delimiter] => (parts, text(delimiter)?),
        _ => return Ok(None),
    };
    let parts = list(parts)?;
    match parts.iter().find(|part| !is_text(part)) {
        Some(other) => unfit("a list of strings", other).map_err(|why| format!("{why} in it")),
        None => {
            let texts: Vec<_> = parts.iter().map(Value::to_string).collect();
            known(texts.join(delimiter))
        }
    }
}

fn token(arguments: &[Value]) -> FunctionOutcome {
    let [whole, characters, index] = arguments else { return Ok(None) };
    let (whole, characters) = (text(whole)?, text(characters)?);
    let position = match index {
        Value::Number(number) => number.as_int().and_then(|it| usize::try_from(it).ok()),
        _ => None,
    };
    let Some(position) = position else { return unfit("an integer from 0 up", index) };
    match whole.split(|c| characters.contains(c)).nth(position) {
        Some(part) => known(part),
        None => Err(format!("the string has no substring {position}")),
    }
}

/// Whether an entry is kept, by the other lists and by what is equal.
type IsKept = fn(&Value, &[&[Value]], &dyn Fn(&Value, &Value) -> bool) -> bool;

/// Entries of the first list and then of the others, each once, that `is_kept`.
fn sets(arguments: &[Value], form: &dyn FormOfText, is_kept: IsKept) -> FunctionOutcome {
    let lists = arguments.iter().map(list).collect::<Result<Vec<_>, _>>()?;
    let same = |one: &Value, other: &Value| is_equal(one, other, form) == Some(true);
    let mut kept: Vec<Value> = Vec::new();
    for value in lists.iter().copied().flatten() {
        if !kept.iter().any(|one| same(one, value)) && is_kept(value, &lists, &same) {
            kept.push(value.clone());
        }
    }
    known(kept)
}

/// An amount as it is written: a number, or a number and a unit.
fn written(amount: Number, unit: &str) -> Value {
    match unit {
        "" => Value::Number(amount),
        unit => format!("{amount} {unit}").into(),
    }
}

fn finite(value: f64, others: &[Number]) -> Result<Number, String> {
    let is_one = value.is_finite() || others.iter().any(|it| !it.as_f64().is_finite());
    if is_one {
        Ok(Number::float(value).written_as_integer(false))
    } else {
        Err("the result is too large".into())
    }
}

/// Amounts, in the base unit where they have several units or where this is asked for.
fn amounts<'v>(
    arguments: &'v [Value],
    form: &'v dyn FormOfText,
    in_base: bool,
) -> Result<Vec<(Number, &'v str)>, String> {
    let read = |it: &'v Value| amount(it).map_or_else(|| unfit("a number", it), Ok);
    let written = arguments.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let is_mixed =
        written.windows(2).any(|two| two.first().map(|it| it.1) != two.last().map(|it| it.1));
    let Some(base) = form.base_unit().filter(|_| in_base || is_mixed) else { return Ok(written) };
    let in_base = |(value, written): (&Value, (Number, &'v str))| {
        let number = value.as_str().and_then(|text| form.base_amount(text));
        number.map_or(written, |number| (number, base))
    };
    Ok(arguments.iter().zip(written).map(in_base).collect())
}

/// An integer; a number with a fraction is of type float, even if that is zero.
fn integer(number: &Number) -> Option<i64> {
    number.as_int().filter(|_| number.is_integer())
}

fn fold(
    arguments: &[Value],
    form: &dyn FormOfText,
    exact: fn(i128, i128) -> i128,
    double: fn(f64, f64) -> f64,
) -> FunctionOutcome {
    let amounts = amounts(arguments, form, false)?;
    let Some((_, unit)) = amounts.first() else { return Ok(None) };
    // Scalars of several units are known where their type is.
    if amounts.iter().any(|(_, other)| other != unit) {
        return Ok(None);
    }
    let numbers: Vec<_> = amounts.iter().map(|(it, _)| it.clone()).collect();
    let total = match numbers.iter().map(integer).collect::<Option<Vec<_>>>() {
        Some(all) => integral(all.into_iter().map(i128::from).reduce(exact))?,
        None => {
            let total = numbers.iter().map(Number::as_f64).reduce(double);
            finite(total.unwrap_or_default(), &numbers)?
        }
    };
    Ok(Some(written(total, unit)))
}

/// An integer of 64 bits. Nothing of more than 128 is computed.
fn integral(value: Option<i128>) -> Result<Number, String> {
    let value = value.and_then(|value| i64::try_from(value).ok());
    value.map(Number::int).ok_or_else(|| "the result does not fit 64 bits".to_owned())
}

fn product(arguments: &[Value], form: &dyn FormOfText) -> FunctionOutcome {
    let amounts = amounts(arguments, &PlainText, false)?;
    let Some(((_, unit), others)) = amounts.split_first() else { return Ok(None) };
    if others.iter().any(|(_, other)| !other.is_empty()) {
        return Err("only the first factor may have a unit".into());
    }
    if !unit.is_empty() && others.len() > 1 {
        return Err("a scalar has one factor".into());
    }
    let numbers: Vec<_> = amounts.iter().map(|(it, _)| it.clone()).collect();
    let total = match numbers.iter().map(integer).collect::<Option<Vec<_>>>() {
        Some(all) => integral(all.into_iter().map(i128::from).try_fold(1, i128::checked_mul))?,
        None => finite(numbers.iter().map(Number::as_f64).product(), &numbers)?,
    };
    Ok(Some(form.in_whole_units(&total, unit).unwrap_or_else(|| written(total, unit))))
}

/// The dividend with its unit, and the divisor.
fn division<'v>(
    amounts: &'v [(Number, &'v str)],
) -> Result<(&'v Number, &'v str, &'v Number), String> {
    match amounts {
        [(one, unit), (other, "")] => Ok((one, unit, other)),
        _ => Err("the divisor has no unit".into()),
    }
}

fn quotient(arguments: &[Value], form: &dyn FormOfText) -> FunctionOutcome {
    let amounts = amounts(arguments, &PlainText, false)?;
    let (one, unit, other) = division(&amounts)?;
    if other.as_f64() == 0.0 {
        return Err("cannot divide by zero".into());
    }
    let value = finite(one.as_f64() / other.as_f64(), &[one.clone(), other.clone()])?;
    Ok(Some(form.in_whole_units(&value, unit).unwrap_or_else(|| written(value, unit))))
}

fn remainder(arguments: &[Value], form: &dyn FormOfText) -> FunctionOutcome {
    let amounts = amounts(arguments, form, true)?;
    let (one, unit, other) = division(&amounts)?;
    let (Some(one), Some(other)) = (integer(one), integer(other)) else {
        return Err("expected integers".into());
    };
    if other == 0 {
        return Err("cannot divide by zero".into());
    }
    // A remainder is one of base units, which are known where the type is.
    let is_known = unit.is_empty() || form.base_unit().is_some();
    Ok(is_known.then(|| written(Number::int(one.wrapping_rem(other)), unit)))
}

fn whole(arguments: &[Value], rounded: fn(f64) -> f64) -> FunctionOutcome {
    let [Value::Number(number)] = arguments else {
        return arguments.first().map_or(Ok(None), |other| unfit("a number", other));
    };
    if let Some(integer) = number.as_int() {
        return known(integer);
    }
    let value = rounded(number.as_f64());
    // Every double below 2^63 has an integer of 64 bits.
    match value.abs() < 9.2e18 {
        true => known(value as i64),
        false => Err("the result does not fit 64 bits".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuvee_text::source::FileId;
    use cuvee_text::yaml::{Limits, parse};

    /// The value of a call whose arguments are written in YAML, or why it has none.
    fn value(name: &str, arguments: &str) -> String {
        let document = parse(FileId::new(0), arguments.into(), &Limits::default()).unwrap();
        let Value::List(arguments) = document.root().to_value() else { panic!("a list") };
        let function = BuiltIn::named(name).unwrap();
        assert!((function.least..=function.most).contains(&arguments.len()), "{name}");
        match function.value.unwrap()(&arguments, &PlainText) {
            Ok(Some(value)) => value.to_string(),
            Ok(None) => "unknown".to_owned(),
            Err(why) => why,
        }
    }

    #[test]
    fn functions_have_the_values_of_the_standard() {
        let cases = [
            ("and", "[true, true, false]", "false"),
            ("or", "[false, true]", "true"),
            ("not", "[true]", "false"),
            ("xor", "[true, false]", "true"),
            ("xor", "[true, true]", "false"),
            ("not", "[1]", "expected `true` or `false`, got a number"),
            ("equal", "[1, 1.0]", "true"),
            ("equal", "[a, b]", "false"),
            ("equal", "[1 GB, 1000 MB]", "unknown"),
            ("equal", "[2 GB, 2GB]", "true"),
            ("greater_than", "[10 GB, 9 GB]", "true"),
            ("less_or_equal", "[2, 2]", "true"),
            ("greater_or_equal", "[1, 2]", "false"),
            ("less_than", "[b, a]", "false"),
            ("in_range", "[5, [0, 0xFF]]", "true"),
            ("in_range", "[5, [6, UNBOUNDED]]", "false"),
            ("valid_values", "[b, [a, b]]", "true"),
            ("matches", "[foobar, \"o+b\"]", "true"),
            ("matches", "[foobar, \"^o\"]", "false"),
            ("has_suffix", "[foobar, bar]", "true"),
            ("has_prefix", "[[1, 2, 3], [1, 2]]", "true"),
            ("contains", "[[1, 2, 3], [2, 3]]", "true"),
            ("contains", "[[1, 2, 3], [1, 3]]", "false"),
            ("has_entry", "[{a: 1}, 1]", "true"),
            ("has_key", "[{a: 1}, b]", "false"),
            ("has_all_entries", "[[1, 2, 3], [3, 1]]", "true"),
            ("has_any_entry", "[[1, 2], [3, 4]]", "false"),
            ("has_all_keys", "[{a: 1, b: 2}, [a, b]]", "true"),
            ("has_any_key", "[{a: 1}, [b, a]]", "true"),
            ("length", "[äöü]", "3"),
            ("length", "[{a: 1}]", "1"),
            ("concat", "[a, \"-\", b]", "a-b"),
            ("concat", "[[1], [2, 3]]", "[1, 2, 3]"),
            ("join", "[[a, b], \", \"]", "a, b"),
            ("join", "[[a, b]]", "ab"),
            ("join", "[[prefix, 1111, suffix], _]", "prefix_1111_suffix"),
            ("join", "[[a, true]]", "expected a list of strings, got a boolean in it"),
            ("concat", "[a, true]", "expected strings, got a boolean"),
            ("token", "[\"10.0.0.1:80\", \":\", 1]", "80"),
            ("token", "[a, \":\", 1]", "the string has no substring 1"),
            ("union", "[[b, a, b], [c, a]]", "[b, a, c]"),
            ("intersection", "[[b, a, b], [a, b, c]]", "[b, a]"),
            ("sum", "[1, 2, 3]", "6"),
            ("sum", "[1 GB, 2 GB]", "3 GB"),
            ("sum", "[9223372036854775807, 1]", "the result does not fit 64 bits"),
            ("difference", "[1.5, 1]", "0.5"),
            ("product", "[2 s, 3]", "6 s"),
            ("product", "[2, 3, 4]", "24"),
            ("quotient", "[3, 2]", "1.5"),
            ("quotient", "[1, 0]", "cannot divide by zero"),
            ("remainder", "[7, 4]", "3"),
            ("remainder", "[7, 0]", "cannot divide by zero"),
            ("remainder", "[-9223372036854775808, -1]", "0"),
            ("remainder", "[1 kB, 300]", "unknown"),
            ("round", "[3.5]", "3"),
            ("round", "[3.53]", "4"),
            ("round", "[-3.5]", "-4"),
            ("floor", "[-1.5]", "-2"),
            ("ceil", "[1.2]", "2"),
        ];
        for (name, arguments, expected) in cases {
            assert_eq!(value(name, arguments), expected, "${name}: {arguments}");
        }
        let untested = FUNCTIONS.iter().filter(|function| {
            function.value.is_some() && !cases.iter().any(|(name, ..)| *name == function.name)
        });
        assert_eq!(untested.map(|function| function.name).collect::<Vec<_>>(), [""; 0]);
    }
}
