//! Evaluates conditions on attributes of an element (section 3.6.25). The result has three values:
//! true, false, or unknown.

use super::model::PlanElementIndex;
use crate::tosca::value::{Clause, DataTypeView, DataTypes, Operator, Schema, check_value};
use cuvee_text::source::FileId;
use cuvee_text::value::Value;
use cuvee_text::yaml::{self, Limits, write_flow};

/// Whether a condition holds, if that is known. `values` gives the values of an attribute: that of
/// an element, or those of all members of a group.
#[cfg(feature = "cli")]
pub(crate) fn condition_holds(
    condition: &Value,
    values: &dyn Fn(&str) -> Vec<Option<Value>>,
) -> Option<bool> {
    let found = |name: &str| values(name).into_iter().map(|value| (None, value)).collect();
    let mut check = ConditionCheck { found: &found, violated: Vec::new(), unknown: Vec::new() };
    check.holds(&Condition::read(condition))
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
    pub(super) attribute: String,
    /// The value that was found; `None` if it is unknown.
    pub(super) value: Option<Value>,
    /// The clause as people read it: `equal: started`.
    pub(super) clause: String,
    /// Whether the clause must not hold, because there is a `not` around it.
    pub(super) is_negated: bool,
}

/// The value of an attribute, if it is known, and the element that it belongs to.
pub(super) type FoundValue = (Option<PlanElementIndex>, Option<Value>);

/// Evaluates a condition, and collects the reasons why it does not hold.
pub(super) struct ConditionCheck<'f> {
    /// Finds the values of an attribute: that of an element, or those of all members of a group.
    pub(super) found: &'f dyn Fn(&str) -> Vec<FoundValue>,
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
            _ => Self::And(Vec::new()),
        }
    }

    /// Adds the names of all attributes in the condition, each once.
    pub(super) fn attributes(&self, names: &mut Vec<&'v str>) {
        match self {
            Self::And(parts) | Self::Or(parts) => {
                parts.iter().for_each(|part| part.attributes(names));
            }
            Self::Not(part) => part.attributes(names),
            Self::Assertion(name, _) if names.contains(name) => {}
            Self::Assertion(name, _) => names.push(name),
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

impl ConditionCheck<'_> {
    /// Whether a condition holds, if that is known.
    pub(super) fn holds(&mut self, condition: &Condition<'_>) -> Option<bool> {
        self.decide(condition, false)
    }

    fn decide(&mut self, condition: &Condition<'_>, is_negated: bool) -> Option<bool> {
        match condition {
            Condition::And(parts) => self.all(parts, is_negated, true),
            Condition::Or(parts) => self.all(parts, is_negated, false),
            Condition::Not(part) => self.decide(part, !is_negated).map(|holds| !holds),
            Condition::Assertion(attribute, clause) => self.assert(attribute, clause, is_negated),
        }
    }

    /// Whether an assertion holds for all elements. The deciding one is the first for which it is
    /// false, otherwise the first for which it is unknown.
    fn assert(
        &mut self,
        attribute: &str,
        clause: &AssertedClause<'_>,
        is_negated: bool,
    ) -> Option<bool> {
        let judged = (self.found)(attribute).into_iter().map(|(element, value)| {
            let (holds, clause) = clause.holds(value.as_ref());
            let attribute = attribute.to_owned();
            (holds, DecidingAssertion { element, attribute, value, clause, is_negated })
        });
        let rank = |holds: &Option<bool>| match holds {
            Some(false) => 0,
            None => 1,
            Some(true) => 2,
        };
        // For a group without members the assertion holds.
        let Some((holds, deciding)) = judged.min_by_key(|(holds, _)| rank(holds)) else {
            return Some(true);
        };
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

impl AssertedClause<'_> {
    /// Whether a value fulfils the clause, and the clause as text.
    fn holds(&self, value: Option<&Value>) -> (Option<bool>, String) {
        let listed;
        let clause = match self {
            Self::Written(clause) => *clause,
            Self::OneOf(values) => {
                let keyname = Operator::ValidValues.keyname().into();
                listed = Value::Map([(keyname, (*values).clone())].into());
                &listed
            }
        };
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
        let holds = match (value, findings.diagnostics.is_empty()) {
            (None, _) => None,
            (Some(_), false) => Some(false),
            (Some(_), true) => findings.undecided.is_empty().then_some(true),
        };
        (holds, text)
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
        let found = |name: &str| match name {
            "state" => vec![(None, Some(Value::String("started".into())))],
            "bar" => vec![(None, Some(value("1")))],
            // An attribute of a group of three members.
            "port" => vec![(None, Some(value("1"))), (None, None), (None, Some(value("3")))],
            _ => vec![(None, None)],
        };
        let mut check = ConditionCheck { found: &found, violated: Vec::new(), unknown: Vec::new() };
        check.holds(&Condition::read(&value(text)))
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
    fn what_does_not_hold_is_named() {
        let started = |name: &str| (name == "state").then(|| Value::String("started".into()));
        let found = |name: &str| vec![(None, started(name))];
        let mut check = ConditionCheck { found: &found, violated: Vec::new(), unknown: Vec::new() };
        let written = value("[state: [{equal: available}], not: [state: started], foo: 1]");
        assert_eq!(check.holds(&Condition::read(&written)), Some(false));
        let said: Vec<_> = check.violated.iter().map(|it| (&*it.clause, it.is_negated)).collect();
        assert_eq!(said, [("equal: available", false), ("equal: started", true)]);
        assert_eq!(check.unknown[0].attribute, "foo");
    }
}
