//! Puts conditions into words, for readers who do not know their syntax.

use cuvee_text::value::Value;
use cuvee_text::yaml::write_line;

/// Operators that are written between their operands, with the words for them.
const BETWEEN: [(&str, &str); 17] = [
    ("and", " and "),
    ("or", " or "),
    ("implies", " implies "),
    ("xor", " or else "),
    ("equal", " = "),
    ("greater", " > "),
    ("greater_or_equal", " ≥ "),
    ("less", " < "),
    ("less_or_equal", " ≤ "),
    ("same", " = "),
    ("within", " within "),
    ("before", " before "),
    ("after", " after "),
    ("add", " + "),
    ("sub", " − "),
    ("mul", " × "),
    ("div", " ÷ "),
];

/// Presence operators, with the words for the kind of their operands.
const PRESENCE: [(&str, &str); 9] = [
    ("node_presence", ""),
    ("relation_presence", "relation "),
    ("artifact_presence", "artifact "),
    ("technology_presence", "technology "),
    ("policy_presence", "policy "),
    ("group_presence", "group "),
    ("input_presence", "input "),
    ("output_presence", "output "),
    ("import_presence", "import "),
];

/// A condition in words: `live and not debug`, `stack = cluster`, `broker is present`. A condition
/// without known words stays as it is written.
pub(crate) fn words(condition: &Value) -> String {
    let Some((operator, operand)) = single(condition) else { return plain(condition) };
    if matches!(operator, "variability_input" | "logic_expression" | "value_expression") {
        return plain(operand);
    }
    if operator == "default_alternative" {
        return match operand {
            Value::Bool(true) => "no other alternative is present".to_owned(),
            _ => "nothing: no condition selects this alternative".to_owned(),
        };
    }
    if operator == "not" {
        return format!("not {}", nested(one(operand)));
    }
    if let Some((_, kind)) = PRESENCE.iter().find(|(known, _)| *known == operator) {
        return present(kind, operand);
    }
    match (BETWEEN.iter().find(|(known, _)| *known == operator), operand) {
        (Some((_, between)), Value::List(operands)) if operands.len() > 1 => {
            operands.iter().map(nested).collect::<Vec<_>>().join(between)
        }
        (Some(_), Value::List(operands)) if operands.len() == 1 => words(&operands[0]),
        _ => write_line(condition),
    }
}

/// A conjunction of conditions in words.
pub(crate) fn all(conditions: &[Value]) -> String {
    match conditions {
        [one] => words(one),
        several => several.iter().map(nested).collect::<Vec<_>>().join(" and "),
    }
}

/// An operand in words, in parentheses where the meaning would otherwise change.
fn nested(operand: &Value) -> String {
    let text = words(operand);
    let stands_between = single(operand).is_some_and(|(operator, operand)| {
        BETWEEN.iter().any(|(known, _)| *known == operator)
            && matches!(operand, Value::List(operands) if operands.len() > 1)
    });
    if stands_between { format!("({text})") } else { text }
}

/// The operand of an operator that takes one operand, also if it is written as a list.
fn one(operand: &Value) -> &Value {
    match operand {
        Value::List(operands) if operands.len() == 1 => &operands[0],
        other => other,
    }
}

/// The operator of a condition, without the `$` that it may have in TOSCA 2.0, and its operand.
fn single(value: &Value) -> Option<(&str, &Value)> {
    match value {
        Value::Map(entries) if entries.len() == 1 => {
            let (key, value) = entries.iter().next()?;
            Some((key.strip_prefix('$').unwrap_or(key), value))
        }
        _ => None,
    }
}

fn plain(value: &Value) -> String {
    match value.as_str() {
        Some(text) if !text.is_empty() && !text.contains([',', '\n', '\r']) => text.to_owned(),
        _ => write_line(value),
    }
}

/// The presence of an element in words: `broker is present`, `relation host of shop is present`,
/// `import 2 is present`. Positions count from one.
fn present(kind: &str, operand: &Value) -> String {
    let name = |part: &Value| match part {
        Value::Number(number) => match number.as_int().and_then(|position| position.checked_add(1))
        {
            Some(position) => format!("number {position}"),
            None => plain(part),
        },
        _ => plain(part),
    };
    match operand {
        Value::List(path) if path.len() == 2 => {
            format!("{kind}{} of {} is present", name(&path[1]), name(&path[0]))
        }
        other => format!("{kind}{} is present", name(one(other))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuvee_text::source::FileId;
    use cuvee_text::yaml::{Limits, parse};

    fn said(condition: &str) -> String {
        let document = parse(FileId::DETACHED, condition.into(), &Limits::default()).unwrap();
        words(&document.root().to_value())
    }

    #[test]
    fn conditions_read_as_sentences() {
        for (written, read) in [
            ("{ variability_input: live }", "live"),
            (
                "{ and: [{ variability_input: live }, { not: { variability_input: debug } }] }",
                "live and not debug",
            ),
            (
                "{ not: [{ or: [{ logic_expression: a }, { logic_expression: b }] }] }",
                "not (a or b)",
            ),
            ("{ and: [{ or: [{ logic_expression: a }, true] }] }", "a or true"),
            ("{ equal: [{ variability_input: stack }, cluster] }", "stack = cluster"),
            (
                "{ implies: [{ greater: [{ variability_input: size }, 5] }, false] }",
                "(size > 5) implies false",
            ),
            ("{ node_presence: broker }", "broker is present"),
            ("{ relation_presence: [database, backup] }", "relation backup of database is present"),
            ("{ relation_presence: [orders, 0] }", "relation number 1 of orders is present"),
            ("{ has_source: SELF }", "has_source: SELF"),
            (
                "{ $and: [{ $variability_input: live }, { not: { $node_presence: broker } }] }",
                "live and not broker is present",
            ),
            ("{ $has_source: SELF }", "$has_source: SELF"),
            ("true", "true"),
            ("default_alternative: true", "no other alternative is present"),
        ] {
            assert_eq!(said(written), read);
        }
    }
}
