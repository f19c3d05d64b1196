//! Reads expressions of TOSCA 2.0 that say what constraint clauses of version 1.3 say.

use super::called;
use cuvee_text::yaml::Node;
use regex_lite::Regex;

/// The operators that both versions have by one name.
pub(crate) const SAME: [&str; 7] = [
    "equal",
    "greater_than",
    "greater_or_equal",
    "less_than",
    "less_or_equal",
    "in_range",
    "valid_values",
];

/// Operators about lengths, and what they compare a length by.
pub(crate) const OF_LENGTH: [(&str, &str); 3] =
    [("length", "equal"), ("min_length", "greater_or_equal"), ("max_length", "less_or_equal")];

/// A clause: the operator, what it is about, and what that is compared with.
pub(crate) struct ExpressionClause<'a> {
    /// The operator of version 1.3.
    pub operator: &'static str,
    pub subject: Node<'a>,
    pub argument: ClauseArgument<'a>,
}

/// What a clause compares with.
pub(crate) enum ClauseArgument<'a> {
    Node(Node<'a>),
    Pattern(&'a str),
}

/// The conditions that an expression says all of.
pub(crate) fn conjuncts(node: Node<'_>) -> Vec<Node<'_>> {
    match called(node) {
        Some(("and", Some(arguments))) => arguments.items().flat_map(conjuncts).collect(),
        _ => vec![node],
    }
}

impl<'a> ExpressionClause<'a> {
    /// The clause that an expression is, by its operator in version 1.3.
    pub(crate) fn read(node: Node<'a>) -> Option<Self> {
        let (name, arguments) = called(node)?;
        let arguments: Vec<_> = arguments?.items().collect();
        let [subject, argument] = arguments[..] else { return None };
        if name == "matches" {
            let pattern = argument.as_str()?.strip_prefix("^(?:")?.strip_suffix(")$")?;
            // The brackets belong together if what they enclose is a pattern.
            Regex::new(pattern).ok()?;
            let argument = ClauseArgument::Pattern(pattern);
            return Some(Self { operator: "pattern", subject, argument });
        }
        if let Some(("length", Some(of))) = called(subject) {
            let (operator, _) = OF_LENGTH.iter().find(|(_, compares)| *compares == name)?;
            let subject = of.items().next().filter(|_| of.items().len() == 1)?;
            return Some(Self { operator, subject, argument: ClauseArgument::Node(argument) });
        }
        let operator = SAME.into_iter().find(|operator| *operator == name)?;
        Some(Self { operator, subject, argument: ClauseArgument::Node(argument) })
    }
}
