//! Implements the operators that compute values from values: arithmetic, string, constraint,
//! analytical and date operators (specification, "Intrinsic Functions").

mod analytical;
mod arithmetic;
mod comparison;
mod date;
mod string;

pub(crate) use comparison::{compare, size};
pub(crate) use date::instant;

use crate::variability::clock::Clock;
pub(crate) use cuvee_text::value::quote;
use cuvee_text::value::{Number, Value};

/// The error of an operator; the caller adds the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OperatorError {
    /// The message.
    pub message: String,
    /// Whether the only problem is that a number is too large.
    pub is_overflow: bool,
}

impl std::fmt::Display for OperatorError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OperatorError {}

/// How many bytes the value of an expression has at most. Values that contain each other double
/// with every step.
pub(crate) const MAX_BYTES: usize = 1 << 20;

/// How many bytes a list that an operator is applied to has at most, including its contents.
pub(crate) const MAX_LIST_BYTES: usize = 4 << 20;

/// The value of an operator, or its error.
type OperatorResult = Result<Value, OperatorError>;

macro_rules! operators {
    ($($variant:ident $keyword:literal $function:path;)*) => {
        /// An operator over values.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) enum ValueOperator {
            $(#[doc = concat!("`", $keyword, "`")] $variant,)*
        }

        impl ValueOperator {
            /// All operators, family by family.
            pub(crate) const ALL: &'static [ValueOperator] = &[$(ValueOperator::$variant,)*];

            /// The operator of this keyword.
            pub(crate) fn from_keyword(keyword: &str) -> Option<Self> {
                match keyword {
                    $($keyword => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// The keyword of this operator.
            pub(crate) fn keyword(self) -> &'static str {
                match self {
                    $(Self::$variant => $keyword,)*
                }
            }

            fn function(self) -> fn(&Operands<'_>) -> OperatorResult {
                match self {
                    $(Self::$variant => $function,)*
                }
            }
        }
    };
}

operators! {
    Add "add" arithmetic::add;
    Sub "sub" arithmetic::sub;
    Mul "mul" arithmetic::mul;
    Div "div" arithmetic::div;
    Mod "mod" arithmetic::modulo;
    Concat "concat" string::concat;
    Join "join" string::join;
    Token "token" string::token;
    Equal "equal" comparison::equal;
    Greater "greater" comparison::greater;
    GreaterOrEqual "greater_or_equal" comparison::greater_or_equal;
    Less "less" comparison::less;
    LessOrEqual "less_or_equal" comparison::less_or_equal;
    InRange "in_range" comparison::in_range;
    ValidValues "valid_values" comparison::valid_values;
    Length "length" comparison::length;
    MinLength "min_length" comparison::min_length;
    MaxLength "max_length" comparison::max_length;
    Sum "sum" analytical::sum;
    Count "count" analytical::count;
    Min "min" analytical::min;
    Max "max" analytical::max;
    Mean "mean" analytical::mean;
    Median "median" analytical::median;
    Variance "variance" analytical::variance;
    StandardDeviation "standard_deviation" analytical::standard_deviation;
    LinearRegression "linear_regression" analytical::linear_regression;
    PolynomialRegression "polynomial_regression" analytical::polynomial_regression;
    LogarithmicRegression "logarithmic_regression" analytical::logarithmic_regression;
    ExponentialRegression "exponential_regression" analytical::exponential_regression;
    Weekday "weekday" date::weekday;
    Same "same" date::same;
    Before "before" date::before;
    BeforeOrSame "before_or_same" date::before_or_same;
    After "after" date::after;
    AfterOrSame "after_or_same" date::after_or_same;
    Within "within" date::within;
}

impl ValueOperator {
    /// All keywords.
    pub(crate) fn keywords() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().map(|operator| operator.keyword())
    }

    /// Whether the value of the operator is true or false.
    pub(crate) fn compares(self) -> bool {
        matches!(
            self,
            Self::Equal
                | Self::Greater
                | Self::GreaterOrEqual
                | Self::Less
                | Self::LessOrEqual
                | Self::InRange
                | Self::ValidValues
                | Self::Length
                | Self::MinLength
                | Self::MaxLength
        )
    }

    /// How many operands it takes, where that is fixed.
    pub(crate) fn arity(self) -> Option<usize> {
        match self {
            Self::Token | Self::PolynomialRegression => Some(3),
            Self::Mod
            | Self::Join
            | Self::Greater
            | Self::GreaterOrEqual
            | Self::Less
            | Self::LessOrEqual
            | Self::InRange
            | Self::ValidValues
            | Self::Length
            | Self::MinLength
            | Self::MaxLength
            | Self::LinearRegression
            | Self::LogarithmicRegression
            | Self::ExponentialRegression
            | Self::Same
            | Self::Before
            | Self::BeforeOrSame
            | Self::After
            | Self::AfterOrSame
            | Self::Within => Some(2),
            _ => None,
        }
    }

    /// Applies the operator. `operands` is the evaluated value of the keyword; only `weekday` uses
    /// the clock.
    ///
    /// # Errors
    /// An error about the number, types or values of the operands, or about the missing clock of
    /// `weekday`.
    pub(crate) fn apply(
        self,
        operands: &Value,
        clock: Option<&Clock>,
    ) -> Result<Value, OperatorError> {
        self.function()(&Operands { operator: self, value: operands, clock })
    }
}

/// The operands of an operator, with methods that read them.
struct Operands<'a> {
    operator: ValueOperator,
    value: &'a Value,
    clock: Option<&'a Clock>,
}

impl<'a> Operands<'a> {
    /// The operands of an operator that takes any number of them.
    fn list(&self) -> Result<&'a [Value], OperatorError> {
        self.list_of(self.value, "a list")
    }

    /// The operands of an operator that takes exactly `N`; `expected` describes them in errors.
    fn exactly<const N: usize>(&self, expected: &str) -> Result<&'a [Value; N], OperatorError> {
        self.tuple(self.value, expected)
    }

    /// All operands as numbers.
    fn numbers(&self) -> Result<Vec<&'a Number>, OperatorError> {
        self.list()?.iter().map(|value| self.number(value, "numbers")).collect()
    }

    fn list_of(&self, value: &'a Value, expected: &str) -> Result<&'a [Value], OperatorError> {
        match value {
            Value::List(items) => Ok(items),
            other => Err(self.expected(expected, other)),
        }
    }

    fn tuple<const N: usize>(
        &self,
        value: &'a Value,
        expected: &str,
    ) -> Result<&'a [Value; N], OperatorError> {
        let items = self.list_of(value, expected)?;
        items.try_into().map_err(|_| {
            self.error(format!("expects {expected}, but got a list of {}", items.len()))
        })
    }

    fn number(&self, value: &'a Value, expected: &str) -> Result<&'a Number, OperatorError> {
        match value {
            Value::Number(number) if !number.as_f64().is_nan() => Ok(number),
            other => Err(self.expected(expected, other)),
        }
    }

    fn string(&self, value: &'a Value, expected: &str) -> Result<&'a str, OperatorError> {
        value.as_str().ok_or_else(|| self.expected(expected, value))
    }

    /// A position, a length or an order, each of which is an integer of at least zero.
    fn index(&self, value: &Value, expected: &str) -> Result<usize, OperatorError> {
        let integer = match value {
            Value::Number(number) => {
                number.as_int().and_then(|integer| usize::try_from(integer).ok())
            }
            _ => None,
        };
        integer.ok_or_else(|| self.expected(expected, value))
    }

    /// The result if it is finite: neither an overflow nor NaN.
    fn finite(&self, value: f64) -> Result<Number, OperatorError> {
        if value.is_finite() {
            Ok(Number::float(value))
        } else {
            Err(self.error("has a result that is no finite number"))
        }
    }

    fn expected(&self, expected: &str, got: &Value) -> OperatorError {
        self.error(format!("expects {expected}, but got {}", quote(got)))
    }

    fn error(&self, what: impl std::fmt::Display) -> OperatorError {
        let message = format!("`{}` {what}", self.operator.keyword());
        OperatorError { message, is_overflow: false }
    }
}

#[cfg(test)]
mod tests;
