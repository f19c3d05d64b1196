//! Resolves operators from their keywords.
//!
//! Specification: "Variability Expression", "Intrinsic Functions".

use super::presence::{self, PresenceOperator};
use crate::tosca::v2_0;
use crate::variability::operators::ValueOperator;
use cuvee_text::yaml::Node;

/// The operation that an expression applies to its operand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ExpressionOperator {
    /// `variability_input`: the value of an input.
    Input,
    /// `logic_expression` and `value_expression`: the value of a named expression.
    Named(ReadAs),
    /// A logical operator.
    Logical(Connective),
    /// A presence operator.
    Presence(PresenceOperator),
    /// An operator over values.
    Value(ValueOperator),
}

/// How a named expression is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ReadAs {
    /// As a condition.
    Logic,
    /// As a value.
    Value,
}

/// A logical operator ("Logical Operators").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connective {
    /// `and`
    And,
    /// `or`
    Or,
    /// `not`
    Not,
    /// `xor`
    Xor,
    /// `exo`
    ExactlyOne,
    /// `implies`
    Implies,
    /// `amo`
    AtMostOne,
}

/// The operators that name something instead of taking operands.
const REFERENCES: [(&str, ExpressionOperator); 3] = [
    ("variability_input", ExpressionOperator::Input),
    ("logic_expression", ExpressionOperator::Named(ReadAs::Logic)),
    ("value_expression", ExpressionOperator::Named(ReadAs::Value)),
];

const CONNECTIVES: [(&str, Connective); 7] = [
    ("and", Connective::And),
    ("or", Connective::Or),
    ("not", Connective::Not),
    ("xor", Connective::Xor),
    ("exo", Connective::ExactlyOne),
    ("implies", Connective::Implies),
    ("amo", Connective::AtMostOne),
];

impl ExpressionOperator {
    /// The operator that a key calls. Functions of TOSCA 2.0 have a `$` before their names, and so may
    /// operators there, and in files beside such a template.
    pub(crate) fn called_by(key: Node<'_>, is_of_2_0: bool) -> Option<Self> {
        let name = key.text()?;
        let plain = name.strip_prefix('$');
        let plain = plain.filter(|_| is_of_2_0 || v2_0::is_of(key.document()));
        Self::from_keyword(plain.unwrap_or(name))
    }

    /// The operator of a keyword.
    pub(crate) fn from_keyword(keyword: &str) -> Option<Self> {
        let reference = REFERENCES.iter().find(|(known, _)| *known == keyword);
        let connective = || CONNECTIVES.iter().find(|(known, _)| *known == keyword);
        reference
            .map(|&(_, operator)| operator)
            .or_else(|| connective().map(|&(_, connective)| Self::Logical(connective)))
            .or_else(|| ValueOperator::from_keyword(keyword).map(Self::Value))
            .or_else(|| PresenceOperator::from_keyword(keyword).map(Self::Presence))
    }

    /// The keyword of an operator.
    pub(crate) fn keyword(self) -> &'static str {
        match self {
            Self::Input => "variability_input",
            Self::Named(ReadAs::Logic) => "logic_expression",
            Self::Named(ReadAs::Value) => "value_expression",
            Self::Logical(connective) => CONNECTIVES
                .iter()
                .find(|(_, known)| *known == connective)
                .map_or("", |(keyword, _)| keyword),
            Self::Presence(operator) => operator.keyword(),
            Self::Value(operator) => operator.keyword(),
        }
    }

    /// The keywords of all operators.
    pub(crate) fn keywords() -> impl Iterator<Item = &'static str> {
        let references = REFERENCES.into_iter().map(|(keyword, _)| keyword);
        let connectives = CONNECTIVES.into_iter().map(|(keyword, _)| keyword);
        references.chain(connectives).chain(presence::keywords()).chain(ValueOperator::keywords())
    }

    /// Whether the operator names an input or an expression instead of taking operands.
    pub(crate) fn is_reference(self) -> bool {
        matches!(self, Self::Input | Self::Named(_))
    }

    /// Whether the value of the operator is always true or false.
    pub(crate) fn gives_truth(self) -> bool {
        match self {
            Self::Logical(_) | Self::Presence(_) => true,
            Self::Value(operator) => operator.compares(),
            Self::Input | Self::Named(_) => false,
        }
    }

    /// Whether the operands are conditions.
    pub(crate) fn is_logical(self) -> bool {
        matches!(self, Self::Logical(_))
    }
}
