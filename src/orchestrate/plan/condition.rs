//! Evaluates conditions on attributes of elements: the assertions of version 1.3 (section 3.6.25),
//! and the expressions of TOSCA 2.0. The result has three values: true, false, or unknown.

use super::model::PlanElementIndex;
use crate::topology::value_source::part;
use crate::tosca::function::Function;
use crate::tosca::v2_0;
use crate::tosca::v2_0::function::{BuiltIn, PlainText, evaluate};
use crate::tosca::value::{
    Clause, DataTypeView, DataTypes, Operator, Schema, TextType, check_value,
};
use cuvee_text::source::FileId;
use cuvee_text::value::Value;
use cuvee_text::yaml::{self, Limits, Node, write_flow};
use std::borrow::Cow;

/// Whether a condition holds. `values` gives the values of an attribute: that of an element, or those
/// of all members of a group. `forms` gives what their types make of texts.
///
/// # Errors
/// It cannot be told. What is returned is an attribute without a value, if that is why, and the node or
/// group that the condition names there.
#[cfg(feature = "cli")]
pub(crate) fn condition_holds(
    condition: &Value,
    values: &dyn Fn(AskedAttribute<'_>) -> Vec<Option<Value>>,
    forms: FormOfAttribute<'_>,
    calls: ValueOfCall<'_>,
) -> Result<bool, Option<UnknownAttribute>> {
    let found =
        |asked: AskedAttribute<'_>| values(asked).into_iter().map(|value| (None, value)).collect();
    let mut check = ConditionCheck { forms, calls, ..ConditionCheck::new(&found) };
    let holds = check.holds(&Condition::read(condition));
    holds.ok_or_else(|| {
        let why = check.unknown.into_iter().find(|why| why.attribute.is_some());
        why.and_then(|why| Some(UnknownAttribute { of: why.of, name: why.attribute? }))
    })
}

/// An attribute without a value, for which a condition cannot be told.
#[cfg(feature = "cli")]
#[derive(Debug)]
pub(crate) struct UnknownAttribute {
    /// The node or group that the condition names; `None` for the element that it is about.
    pub(crate) of: Option<String>,
    /// Its name; behind that of a capability and a dot, if one has it.
    pub(crate) name: String,
}

/// A condition as a tree.
#[derive(Debug, PartialEq)]
pub(super) enum Condition<'v> {
    /// All parts hold; without parts it always holds.
    And(Vec<Self>),
    /// At least one part holds.
    Or(Vec<Self>),
    /// The part does not hold.
    Not(Box<Self>),
    /// The value of an attribute fulfils a clause.
    Assertion(&'v str, AssertedClause<'v>),
    /// An expression of TOSCA 2.0 is true.
    Expression(&'v Value),
}

/// An attribute that a condition asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AskedAttribute<'v> {
    /// The node or group that has it; `None` for the element that the condition is about.
    pub(crate) of: Option<&'v str>,
    /// The capability of the node that has it, if one does.
    pub(crate) capability: Option<&'v str>,
    pub(crate) name: &'v str,
    pub(crate) nodes: AskedNodes,
}

/// Which of the nodes of a template are asked for an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskedNodes {
    /// The node of this index; without an index, the first one.
    At(u64),
    /// All, so that the value is a list.
    All,
}

impl AskedNodes {
    /// The step of a path behind the name of a template; `None` if it is none of an index.
    fn read(step: &Value) -> Option<Self> {
        match step {
            Value::Number(index) => Some(Self::At(u64::try_from(index.as_int()?).ok()?)),
            step => (step.as_str() == Some("ALL")).then_some(Self::All),
        }
    }

    /// What is asked for, where this many nodes have one value.
    pub(crate) fn of(self, count: u64, value: Option<Value>) -> Option<Value> {
        /// Longer lists are not compared: nobody writes their values.
        const MOST: u64 = 1000;
        match self {
            Self::At(index) => value.filter(|_| index < count),
            Self::All if count == 0 => Some(Value::List([].into())),
            Self::All if count > MOST => None,
            Self::All => {
                Some(Value::List((0..count).map(|_| value.clone()).collect::<Option<_>>()?))
            }
        }
    }
}

/// The clause that the value of an attribute has to fulfil.
#[derive(Debug, PartialEq)]
pub(super) enum AssertedClause<'v> {
    /// A constraint clause, as it is written.
    Written(&'v Value),
    /// A list of values, one of which is required. Earlier specifications list states without an
    /// operator.
    OneOf(&'v Value),
}

/// The assertion that decides why a condition is false or unknown.
#[derive(Debug, PartialEq)]
pub(super) struct DecidingAssertion {
    /// The element that the attribute belongs to.
    pub(super) element: Option<PlanElementIndex>,
    /// The node or group that the condition names.
    pub(super) of: Option<String>,
    /// The attribute; `None` for an expression that asks for none.
    pub(super) attribute: Option<String>,
    /// The value that was found; `None` if it is unknown.
    pub(super) value: Option<Value>,
    /// The clause as people read it: `equal: started`.
    pub(super) clause: String,
    /// What is violated: the clause, with the `not` around it.
    pub(super) demand: String,
}

/// The value of an attribute, if it is known, and the element that it belongs to.
pub(super) type FoundValue = (Option<PlanElementIndex>, Option<Value>);

/// Gives the value of a call of a function that does not ask for an attribute of a node or group alone.
pub(super) type ValueOfCall<'f> = &'f dyn Fn(&str, &[Value]) -> Option<Value>;

/// Gives what the type of an attribute makes of texts in the part at the end of a path.
pub(crate) type FormOfAttribute<'f> = &'f dyn Fn(AskedAttribute<'_>, &[String]) -> Option<TextType>;

/// Evaluates a condition, and collects the reasons why it does not hold.
pub(super) struct ConditionCheck<'f> {
    /// Finds the values of an attribute: that of an element, or those of all members of a group.
    pub(super) found: &'f dyn Fn(AskedAttribute<'_>) -> Vec<FoundValue>,
    pub(super) forms: FormOfAttribute<'f>,
    pub(super) calls: ValueOfCall<'f>,
    /// The assertions that do not hold.
    pub(super) violated: Vec<DecidingAssertion>,
    /// The assertions whose result is unknown.
    pub(super) unknown: Vec<DecidingAssertion>,
}

impl<'v> Condition<'v> {
    /// Reads a precondition, or the filter of a step. Anything that is no condition is skipped,
    /// since validation reports it.
    pub(super) fn read(value: &'v Value) -> Self {
        match value {
            Value::List(items) => Self::all(items.iter().map(Self::read)),
            Value::Map(_) if called(value).is_some() => Self::expression(value),
            Value::Map(entries) => Self::all(entries.iter().map(|(key, value)| match &**key {
                "and" | "assert" => Self::read(value),
                "or" => Self::Or(parts(value).map(Self::read).collect()),
                "not" => Self::Not(Box::new(Self::read(value))),
                "valid_states" if matches!(value, Value::List(_)) => {
                    Self::Assertion("state", AssertedClause::OneOf(value))
                }
                "attributes" if is_old_form(value) => Self::read(value),
                attribute => Self::assertion(attribute, value),
            })),
            Value::Bool(_) => Self::Expression(value),
            _ => Self::And(Vec::new()),
        }
    }

    /// Reads an expression of TOSCA 2.0. Its parts are told apart as far as they decide alone, since
    /// people are told which of them does.
    fn expression(value: &'v Value) -> Self {
        match called(value) {
            Some(("and", parts)) => Self::all(parts.iter().map(Self::expression)),
            Some(("or", parts)) => Self::Or(parts.iter().map(Self::expression).collect()),
            Some(("not", [part])) => Self::Not(Box::new(Self::expression(part))),
            _ => Self::Expression(value),
        }
    }

    /// Adds all attributes in the condition, each once.
    pub(super) fn attributes(&self, asked: &mut Vec<AskedAttribute<'v>>) {
        match self {
            Self::And(parts) | Self::Or(parts) => {
                parts.iter().for_each(|part| part.attributes(asked));
            }
            Self::Not(part) => part.attributes(asked),
            Self::Assertion(name, _) => add(asked, AskedAttribute::own(name)),
            Self::Expression(value) => AskedAttribute::in_expression(value, asked),
        }
    }

    fn all(conditions: impl Iterator<Item = Self>) -> Self {
        let mut conditions: Vec<_> = conditions.collect();
        match conditions.pop() {
            Some(only) if conditions.is_empty() => only,
            last => {
                conditions.extend(last);
                Self::And(conditions)
            }
        }
    }

    fn assertion(attribute: &'v str, clauses: &'v Value) -> Self {
        let clause = |clause| Self::Assertion(attribute, AssertedClause::Written(clause));
        Self::all(parts(clauses).map(clause))
    }
}

impl<'v> AskedAttribute<'v> {
    /// An attribute of the element that the condition is about.
    fn own(name: &'v str) -> Self {
        Self { of: None, capability: None, name, nodes: AskedNodes::At(0) }
    }

    /// Its name among the attributes of its node, and of capabilities of that: `http.port`.
    pub(crate) fn key(&self) -> Cow<'v, str> {
        match self.capability {
            Some(capability) => format!("{capability}.{}", self.name).into(),
            None => self.name.into(),
        }
    }

    /// Adds all attributes that an expression asks for, each once.
    fn in_expression(value: &'v Value, asked: &mut Vec<Self>) {
        if let Some((one, _)) = called(value).and_then(Self::of_call) {
            return add(asked, one);
        }
        match value {
            Value::List(items) => items.iter().for_each(|it| Self::in_expression(it, asked)),
            Value::Map(entries) => {
                entries.iter().for_each(|(_, it)| Self::in_expression(it, asked));
            }
            _ => {}
        }
    }

    /// The attribute that a call asks for, and the path within its value. Paths to anything but a
    /// node, a capability of it, or a group are not followed.
    fn of_call((function, arguments): (&str, &'v [Value])) -> Option<(Self, &'v [Value])> {
        let [Value::String(of), path @ ..] = arguments else { return None };
        let nodes = path.first().and_then(AskedNodes::read);
        let path = if nodes.is_some() { path.get(1..)? } else { path };
        let (capability, path) = match path {
            [Value::String(keyword), Value::String(name), path @ ..]
                if **keyword == *"CAPABILITY" =>
            {
                (Some(&**name), path)
            }
            path => (None, path),
        };
        let ([Value::String(name), within @ ..], "get_attribute" | "get_property") =
            (path, function)
        else {
            return None;
        };
        let leads_on = ["CAPABILITY", "RELATIONSHIP", "SOURCE", "TARGET"].contains(&&**name);
        let of = Some(&**of).filter(|of| *of != "SELF");
        let nodes = nodes.unwrap_or(AskedNodes::At(0));
        (!leads_on).then_some((Self { of, capability, name, nodes }, within))
    }
}

fn add<'v>(asked: &mut Vec<AskedAttribute<'v>>, one: AskedAttribute<'v>) {
    if !asked.contains(&one) {
        asked.push(one);
    }
}

/// The function of TOSCA 2.0 that a value calls, with its arguments.
fn called(value: &Value) -> Option<(&str, &[Value])> {
    let Value::Map(entries) = value else { return None };
    let [(key, Value::List(arguments))] = &**entries else { return None };
    Some((v2_0::function_name(key)?, arguments))
}

/// Whether a value is known only after a function in it was called.
fn is_open(value: &Value) -> bool {
    match value {
        Value::Map(entries) => {
            let is_call = matches!(&**entries, [(key, _)] if v2_0::function_name(key).is_some());
            is_call
                || Function::called_in(value).is_some()
                || entries.iter().any(|(_, value)| is_open(value))
        }
        Value::List(items) => items.iter().any(is_open),
        _ => false,
    }
}

/// The items of a list; any other value is the only item.
fn parts(value: &Value) -> impl Iterator<Item = &Value> {
    match value {
        Value::List(items) => items.iter(),
        only => std::slice::from_ref(only).iter(),
    }
}

/// Whether `attributes` is the keyword of an earlier specification, with assertions below it. An
/// attribute of that name has clauses below it.
fn is_old_form(value: &Value) -> bool {
    let Value::Map(entries) = value else { return false };
    !entries.iter().any(|(key, _)| Operator::from_keyname(key).is_some())
}

impl<'f> ConditionCheck<'f> {
    pub(super) fn new(found: &'f dyn Fn(AskedAttribute<'_>) -> Vec<FoundValue>) -> Self {
        let (violated, unknown) = (Vec::new(), Vec::new());
        Self { found, forms: &|_, _| None, calls: &|_, _| None, violated, unknown }
    }

    /// Whether a condition holds, if that is known.
    pub(super) fn holds(&mut self, condition: &Condition<'_>) -> Option<bool> {
        self.decide(condition, false)
    }

    fn decide(&mut self, condition: &Condition<'_>, is_negated: bool) -> Option<bool> {
        match condition {
            Condition::And(parts) => self.all(parts, is_negated, true),
            Condition::Or(parts) => self.all(parts, is_negated, false),
            Condition::Not(part) => self.decide(part, !is_negated).map(|holds| !holds),
            Condition::Assertion(attribute, clause) => {
                let judged = self.assert(attribute, clause);
                self.conclude(judged, is_negated)
            }
            Condition::Expression(value) => {
                let judged = ExpressionCheck::new(value, self).judged();
                self.conclude(judged, is_negated)
            }
        }
    }

    /// What an assertion is for each element.
    fn assert(&self, attribute: &str, clause: &AssertedClause<'_>) -> Vec<JudgedAssertion> {
        let form = (self.forms)(AskedAttribute::own(attribute), &[]);
        let judged = |(element, value): FoundValue| {
            let (holds, clause) = clause.holds(value.as_ref(), form.as_ref());
            let (attribute, demand) = (Some(attribute.to_owned()), format!("not: {{{clause}}}"));
            (holds, DecidingAssertion { element, of: None, attribute, value, clause, demand })
        };
        (self.found)(AskedAttribute::own(attribute)).into_iter().map(judged).collect()
    }

    /// Whether an assertion holds for all elements. The deciding one is the first for which it is
    /// false, otherwise the first for which it is unknown.
    fn conclude(&mut self, judged: Vec<JudgedAssertion>, is_negated: bool) -> Option<bool> {
        let rank = |holds: &Option<bool>| match holds {
            Some(false) => 0,
            None => 1,
            Some(true) => 2,
        };
        // For a group without members the assertion holds.
        let first = judged.into_iter().min_by_key(|(holds, _)| rank(holds));
        let Some((holds, mut deciding)) = first else { return Some(true) };
        if !is_negated {
            deciding.demand.clone_from(&deciding.clause);
        }
        match holds {
            Some(holds) if holds == is_negated => self.violated.push(deciding),
            Some(_) => {}
            None => self.unknown.push(deciding),
        }
        holds
    }

    /// Combines parts: whether all hold, or whether any holds, depending on `neutral`.
    fn all(&mut self, parts: &[Condition<'_>], is_negated: bool, neutral: bool) -> Option<bool> {
        let mut whole = Some(neutral);
        for part in parts {
            match self.decide(part, is_negated) {
                Some(holds) if holds == neutral => {}
                Some(_) => whole = Some(!neutral),
                None if whole == Some(neutral) => whole = None,
                None => {}
            }
        }
        whole
    }
}

/// The result of an assertion for an element, and the reason for it.
type JudgedAssertion = (Option<bool>, DecidingAssertion);

/// An expression of TOSCA 2.0, with the values of the attributes that it asks for.
struct ExpressionCheck<'v, 'f> {
    value: &'v Value,
    asked: Vec<(AskedAttribute<'v>, Vec<FoundValue>)>,
    forms: FormOfAttribute<'f>,
    calls: ValueOfCall<'f>,
}

impl<'v, 'f> ExpressionCheck<'v, 'f> {
    fn new(value: &'v Value, of: &ConditionCheck<'f>) -> Self {
        let ConditionCheck { found, forms, calls, .. } = *of;
        let mut asked = Vec::new();
        AskedAttribute::in_expression(value, &mut asked);
        let asked = asked.into_iter().map(|one| (one, found(one))).collect();
        Self { value, asked, forms, calls }
    }

    /// The group whose members the expression is about, and how many these are.
    fn group(&self) -> Option<(Option<&'v str>, usize)> {
        let mut asked = self.asked.iter();
        asked.find(|(_, found)| found.len() != 1).map(|(one, found)| (one.of, found.len()))
    }

    /// The result, or the one for each member of the group.
    fn judged(&self) -> Vec<JudgedAssertion> {
        let (version, condition) = (v2_0::VERSION, write_flow(self.value));
        let text = format!("tosca_definitions_version: {version}\ncondition: {condition}\n");
        let document = v2_0::parsed(text).ok();
        let condition = document.as_ref().and_then(|document| document.root().get("condition"));
        let judged = |member| {
            let holds = condition.and_then(|condition| self.holds(condition, member));
            (holds, self.deciding(holds, member))
        };
        (0..self.group().map_or(1, |(_, members)| members)).map(judged).collect()
    }

    fn holds(&self, condition: Node<'_>, member: usize) -> Option<bool> {
        let query = |function: &str, arguments: Option<Node<'_>>| {
            let called = |value| Some((value, None));
            let Value::List(path) = arguments?.to_value() else { return None };
            let Some((asked, within)) = AskedAttribute::of_call((function, &path)) else {
                return (self.calls)(function, &path).filter(|it| !is_open(it)).and_then(called);
            };
            let value = self.found(asked, member)?.1.as_ref()?;
            let value = within.iter().try_fold(value, part).filter(|value| !is_open(value))?;
            let path: Vec<_> = within.iter().map(Value::to_string).collect();
            Some((value.clone(), (self.forms)(asked, &path)))
        };
        match evaluate(condition, &query, &PlainText) {
            Ok(Some(Value::Bool(holds))) => Some(holds),
            _ => None,
        }
    }

    /// The value of an attribute. Which members of two groups belong together is not known.
    fn found(&self, asked: AskedAttribute<'_>, member: usize) -> Option<&FoundValue> {
        let (_, found) = self.asked.iter().find(|(one, _)| *one == asked)?;
        match self.group() {
            Some((of, _)) if found.len() != 1 => found.get(member).filter(|_| of == asked.of),
            _ => found.first(),
        }
    }

    /// People are told of the first attribute that is unknown if the result is, else of the first.
    fn deciding(&self, holds: Option<bool>, member: usize) -> DecidingAssertion {
        let is_unknown = |asked| {
            let found = self.found(asked, member).and_then(|(_, value)| value.as_ref());
            found.is_none_or(is_open)
        };
        let mut asked = self.asked.iter().map(|(asked, _)| *asked);
        let asked = asked.find(|&asked| holds.is_some() || is_unknown(asked));
        let found = asked.and_then(|asked| self.found(asked, member));
        let (element, value) = found.cloned().unwrap_or_default();
        let clause = write_flow(self.value);
        DecidingAssertion {
            element,
            of: asked.and_then(|asked| asked.of).map(str::to_owned),
            attribute: asked.map(|asked| asked.key().into_owned()),
            value: value.filter(|_| holds.is_some()),
            demand: format!("{{$not: [{clause}]}}"),
            clause,
        }
    }
}

impl AssertedClause<'_> {
    /// Whether a value, of whose texts its type makes this, fulfils the clause, and the clause as text.
    fn holds(&self, value: Option<&Value>, form: Option<&TextType>) -> (Option<bool>, String) {
        let listed;
        let clause = match self {
            Self::Written(clause) => *clause,
            Self::OneOf(values) => {
                let keyname = Operator::ValidValues.keyname().into();
                listed = Value::Map([(keyname, (*values).clone())].into());
                &listed
            }
        };
        let written = clause;
        let pair = Value::List([value.cloned().unwrap_or(Value::Null), clause.clone()].into());
        let unread = || (None, write_flow(clause));
        let text = write_flow(&pair);
        let Ok(document) = yaml::parse(FileId::DETACHED, text.into(), &Limits::default()) else {
            return unread();
        };
        let mut pair = document.root().items();
        let (Some(found), Some(clause)) = (pair.next(), pair.next()) else { return unread() };
        let Ok(clause) = Clause::read(clause) else { return unread() };
        let text = clause.text();
        let schema = Schema { constraints: vec![clause], ..Schema::untyped() };
        let findings = check_value(found, &schema, &NoTypes);
        let compared = value.zip(form).and_then(|(value, form)| compared(value, written, form));
        let holds = match (value, findings.diagnostics.is_empty()) {
            (None, _) => None,
            _ if compared.is_some() => compared,
            (Some(_), false) => Some(false),
            (Some(_), true) => findings.undecided.is_empty().then_some(true),
        };
        (holds, text)
    }
}

/// What a clause of version 1.3 gives that compares values of a type with such texts. The functions of
/// TOSCA 2.0 have the names of the clauses. `None` for other clauses, and where it is not known.
fn compared(value: &Value, clause: &Value, form: &TextType) -> Option<bool> {
    let equal;
    let (name, operand) = match clause {
        Value::Map(entries) => match &**entries {
            [(name, operand)] => (&**name, operand),
            _ => return None,
        },
        // A value alone has to be the same.
        only => {
            equal = Operator::Equal.keyname();
            (equal, only)
        }
    };
    let operator = Operator::from_keyname(name)?;
    let is_size = matches!(operator, Operator::Length | Operator::MinLength | Operator::MaxLength);
    if is_size || is_open(value) || is_open(operand) {
        return None;
    }
    let arguments = vec![Some(value.clone()), Some(operand.clone())];
    match BuiltIn::named(name)?.applied(arguments, form) {
        Ok(Some(Value::Bool(holds))) => Some(holds),
        _ => None,
    }
}

/// Compares values of attributes as they are, without types.
struct NoTypes;

impl<'a> DataTypes<'a> for NoTypes {
    fn data_type(&self, _: &str) -> Option<DataTypeView<'_, 'a>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        yaml::parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap().root().to_value()
    }

    /// Evaluates a condition where `state` is `started` and `bar` is 1.
    fn holds(text: &str) -> Option<bool> {
        let found = |asked: AskedAttribute<'_>| match asked.name {
            _ if asked.of == Some("none") => Vec::new(),
            "port" if asked.capability == Some("tags") => vec![(None, Some(value("2")))],
            "tags" => vec![(None, Some(value("[a, {b: 2}]")))],
            "open" => vec![(None, Some(value("{$concat: [a, b]}")))],
            "asked" => vec![(None, Some(value("[{get_input: a}]")))],
            "state" => vec![(None, Some(Value::String("started".into())))],
            "bar" => vec![(None, Some(value("1")))],
            // An attribute of a group of three members.
            "port" => vec![(None, Some(value("1"))), (None, None), (None, Some(value("3")))],
            _ => vec![(None, None)],
        };
        ConditionCheck::new(&found).holds(&Condition::read(&value(text)))
    }

    #[test]
    fn lists_and_assert_are_and() {
        assert_eq!(holds("[state: [{equal: started}], bar: [{in_range: [0, 2]}]]"), Some(true));
        assert_eq!(holds("[state: [{equal: started}], bar: [{in_range: [2, 20]}]]"), Some(false));
        assert_eq!(holds("assert: [state: [{equal: created}], bar: 1]"), Some(false));
        assert_eq!(holds("bar: [{greater_than: 0}, {less_than: 1}]"), Some(false));
        assert_eq!(holds("[]"), Some(true));
    }

    #[test]
    fn not_denies_all_together() {
        assert_eq!(holds("not: [state: [{equal: started}], bar: [{equal: 2}]]"), Some(true));
        assert_eq!(holds("not: [state: [{equal: started}], bar: [{equal: 1}]]"), Some(false));
        assert_eq!(holds("not: [{or: [state: [{equal: no}], bar: [{equal: 1}]]}]"), Some(false));
    }

    #[test]
    fn unknown_is_neither() {
        assert_eq!(holds("foo: [{equal: true}]"), None);
        assert_eq!(holds("not: [foo: [{equal: true}]]"), None);
        assert_eq!(holds("or: [foo: [{equal: true}], bar: [{in_range: [2, 20]}]]"), None);
        assert_eq!(holds("or: [foo: [{equal: true}], bar: [{in_range: [0, 20]}]]"), Some(true));
        assert_eq!(holds("and: [foo: [{equal: true}], bar: [{in_range: [2, 20]}]]"), Some(false));
        assert_eq!(holds("bar: [{equal: {get_input: bar}}]"), None);
    }

    #[test]
    fn groups_fulfil_what_all_members_do() {
        assert_eq!(holds("port: [{equal: 1}]"), Some(false));
        assert_eq!(holds("port: [{in_range: [1, 3]}]"), None);
        assert_eq!(holds("not: [port: [{equal: 1}]]"), Some(true));
        assert_eq!(holds("not: [port: [{in_range: [1, 3]}]]"), None);
    }

    #[test]
    fn old_forms_are_assertions() {
        assert_eq!(holds("valid_states: [started, available]"), Some(true));
        assert_eq!(holds("valid_states: [available]"), Some(false));
        assert_eq!(holds("attributes: {bar: [1]}"), Some(true));
        assert_eq!(holds("attributes: {bar: [ready]}"), Some(false));
    }

    #[test]
    fn expressions_call_all_functions() {
        for (written, expected) in [
            ("[{$equal: [{$get_attribute: [SELF, state]}, started]}]", Some(true)),
            ("[{$equal: [BAR, 1]}, {$equal: [BAR, 2]}]", Some(false)),
            ("{$xor: [{$equal: [BAR, 1]}, {$greater_than: [BAR, 0]}]}", Some(false)),
            ("{$xor: [{$equal: [BAR, 1]}, {$equal: [FOO, 0]}]}", None),
            ("{$or: [{$equal: [FOO, 0]}, {$equal: [BAR, 1]}]}", Some(true)),
            ("{$and: [{$equal: [FOO, 0]}, {$equal: [BAR, 1]}]}", None),
            ("{$and: [{$equal: [FOO, 0]}, {$not: [{$equal: [BAR, 1]}]}]}", Some(false)),
            ("{$equal: [{$sum: [BAR, {$product: [BAR, 2]}]}, 3]}", Some(true)),
            ("{$equal: [{$length: [TAGS]}, 3]}", Some(false)),
            ("{$has_any_entry: [TAGS, [z, a]]}", Some(true)),
            ("{$equal: [{$get_attribute: [db, tags, 1, b]}, 2]}", Some(true)),
            ("{$equal: [{$get_attribute: [db, tags, 2]}, 2]}", None),
            ("{$matches: [{$get_property: [db, state]}, '^start']}", Some(true)),
            ("{$contains: [{$get_attribute: [db, state]}, $art]}", None),
            ("{$not: [{$contains: [{$get_attribute: [db, state]}, $$art]}]}", Some(true)),
            ("{$equal: [{$get_attribute: [SELF, open]}, ab]}", None),
            ("{$has_entry: [{$get_attribute: [SELF, asked]}, 1]}", None),
            ("{$equal: [{$get_attribute: [SELF, CAPABILITY, tags, port]}, 2]}", Some(true)),
            ("{$equal: [{$get_property: [db, 0, CAPABILITY, tags, port]}, 2]}", Some(true)),
            ("{$equal: [{$get_attribute: [SELF, CAPABILITY, bar, RELATIONSHIP, bar]}, 1]}", None),
            ("{$get_attribute: [SELF, bar]}", None),
            ("{$unheard: [BAR]}", None),
        ] {
            let written = written.replace("FOO", "{$get_attribute: [SELF, foo]}");
            let written = written.replace("BAR", "{$get_attribute: [db, bar]}");
            let written = written.replace("TAGS", "{$get_attribute: [db, tags]}");
            assert_eq!(holds(&written), expected, "{written}");
        }
    }

    #[test]
    fn expressions_hold_for_all_members() {
        let port = |of: &str, clause: &str| {
            holds(&clause.replace("PORT", &format!("{{$get_attribute: [{of}, port]}}")))
        };
        assert_eq!(port("SELF", "{$equal: [PORT, 1]}"), Some(false));
        assert_eq!(port("web", "{$in_range: [PORT, [1, 3]]}"), None);
        assert_eq!(port("web", "{$not: [{$equal: [PORT, 1]}]}"), Some(true));
        assert_eq!(port("none", "{$equal: [PORT, 7]}"), Some(true));
        assert_eq!(port("web", "{$equal: [PORT, PORT]}"), None);
        let two = "{$xor: [{$equal: [PORT, 1]}, {$equal: [{$get_attribute: [app, port]}, 3]}]}";
        assert_eq!(port("web", two), None);
    }

    #[test]
    fn what_does_not_hold_is_named() {
        let found = |asked: AskedAttribute<'_>| {
            vec![(None, (asked.name == "state").then(|| Value::String("started".into())))]
        };
        let said = |written: &str| {
            let mut check = ConditionCheck::new(&found);
            assert_eq!(check.holds(&Condition::read(&value(written))), Some(false));
            let violated: Vec<_> = check.violated.into_iter().map(|it| it.demand).collect();
            let unknown: Vec<_> =
                check.unknown.into_iter().map(|it| (it.of, it.attribute)).collect();
            (violated, unknown)
        };
        let (violated, unknown) =
            said("[state: [{equal: available}], not: [state: started], foo: 1]");
        assert_eq!(violated, ["equal: available", "not: {equal: started}"]);
        assert_eq!(unknown, [(None, Some("foo".into()))]);
        let state = "{$get_attribute: [SELF, state]}";
        let started = format!("{{$equal: [{state}, started]}}");
        let gone = format!("{{$equal: [{state}, gone]}}");
        let (violated, unknown) = said(&format!(
            "{{$and: [{gone}, {{$not: [{started}]}}, {{$get_attribute: [db, foo]}}, {{$equal: [{{$get_input: a}}, 1]}}]}}"
        ));
        assert_eq!(violated, [gone, format!("{{$not: [{started}]}}")]);
        assert_eq!(unknown, [(Some("db".into()), Some("foo".into())), (None, None)]);
    }
}
