use super::ValueOperator::*;
use super::*;
use crate::variability::clock::Clock;
use proptest::prelude::*;
use std::sync::Arc;

/// A value from JSON, the shortest notation for operands.
fn json(text: &str) -> Value {
    fn value(json: &serde_json::Value) -> Value {
        match json {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(value) => Value::Bool(*value),
            serde_json::Value::Number(number) => match number.as_i64() {
                Some(int) => Value::from(int),
                None => Value::from(number.as_f64().unwrap()),
            },
            serde_json::Value::String(text) => Value::from(text.as_str()),
            serde_json::Value::Array(items) => items.iter().map(value).collect::<Vec<_>>().into(),
            serde_json::Value::Object(map) => Value::Map(
                map.iter().map(|(key, item)| (Arc::from(key.as_str()), value(item))).collect(),
            ),
        }
    }
    value(&serde_json::from_str(text).unwrap())
}

fn apply(operator: ValueOperator, operands: &str) -> Value {
    operator.apply(&json(operands), None).unwrap_or_else(|error| panic!("{operands}: {error}"))
}

fn error(operator: ValueOperator, operands: &str) -> String {
    operator.apply(&json(operands), None).expect_err(operands).message
}

fn number(value: Value) -> f64 {
    match value {
        Value::Number(number) => number.as_f64(),
        other => panic!("{other}"),
    }
}

fn list<T: Into<Value>>(items: impl IntoIterator<Item = T>) -> Value {
    items.into_iter().map(Into::into).collect::<Vec<_>>().into()
}

#[test]
fn every_keyword_means_its_operator() {
    for &operator in ValueOperator::ALL {
        assert_eq!(ValueOperator::from_keyword(operator.keyword()), Some(operator));
    }
    assert_eq!(ValueOperator::keywords().count(), 37);
    assert_eq!(ValueOperator::from_keyword("Add"), None);
}

#[test]
fn operators_have_the_values_of_the_specification() {
    let cases = [
        (Add, "[1, 2, 3]", "6"),
        (Add, "[]", "0"),
        (Add, "[1, 0.5]", "1.5"),
        (Sub, "[10, 1, 1, 1, 1, 1]", "5"),
        (Mul, "[2, 3, 4]", "24"),
        (Div, "[10, 1, 2, 5]", "1"),
        (Div, "[1, 4]", "0.25"),
        (Mod, "[11, 2]", "1"),
        (Mod, "[-11, 2]", "-1"),
        (Mod, "[5.5, 2]", "1.5"),
        (Concat, r#"["a", 1, true, 1.5]"#, r#""a1true1.5""#),
        (Join, r#"[["hello", "world"], " "]"#, r#""hello world""#),
        (Join, r#"[[], " "]"#, r#""""#),
        (Token, r#"["hello world", " ", 1]"#, r#""world""#),
        (Token, r#"["a, b; c", ", ", 1]"#, r#""b; c""#),
        (Equal, "[1, 1, 1]", "true"),
        (Equal, "[1, 1, 2]", "false"),
        (Equal, r#"[1, "1"]"#, "false"),
        (Equal, r#"[{"a": 1, "b": 2}, {"b": 2, "a": 1}]"#, "true"),
        (Greater, "[2, 1]", "true"),
        (Greater, "[1, 1]", "false"),
        (GreaterOrEqual, "[1, 1]", "true"),
        (Less, r#"["a", "b"]"#, "true"),
        (Less, r#"["1.9.0", "1.10.0"]"#, "true"),
        (Less, r#"["v1.9.0", "v1.10.0"]"#, "false"),
        (Less, r#"["1.0.0.beta", "1.0.0"]"#, "true"),
        (Less, r#"["1.0.0.beta-2", "1.0.0.beta-10"]"#, "true"),
        (LessOrEqual, "[2, 1]", "false"),
        (InRange, "[1, [0, 1]]", "true"),
        (InRange, "[2, [0, 1]]", "false"),
        (ValidValues, "[2, [0, 1]]", "false"),
        (ValidValues, "[1, [0, 1]]", "true"),
        (Length, r#"["hällo", 5]"#, "true"),
        (Length, "[[1, 2], 2]", "true"),
        (Length, r#"[{"a": 1}, 2]"#, "false"),
        (MinLength, r#"["hallo", 4]"#, "true"),
        (MaxLength, r#"["hallo", 5]"#, "true"),
        (MaxLength, r#"["hallo", 4]"#, "false"),
        (Sum, "[1, 2, 3, 4]", "10"),
        (Sum, "[0.1, 0.2]", "0.3"),
        (Count, r#"[1, "a", null]"#, "3"),
        (Min, "[3, 1, 2]", "1"),
        (Max, "[3, 1, 2]", "3"),
        (Mean, "[1, 2, 2]", "1.67"),
        (Median, "[1, 2, 3, 4, 10]", "3"),
        (Median, "[4, 1, 2, 3]", "2.5"),
        (Median, "[7]", "7"),
        (Variance, "[1, 2, 3, 4]", "1.25"),
        (StandardDeviation, "[1, 2, 3, 4]", "1.12"),
        (LinearRegression, "[[[0, 0], [1, 2], [2, 4]], 100]", "200"),
        (PolynomialRegression, "[[[0, 0], [1, 1], [2, 4]], 2, 5]", "25"),
        (PolynomialRegression, "[[[0, 1], [1, 3]], 0, 9]", "2"),
        (
            LogarithmicRegression,
            "[[[0.01, -4.61], [0.5, -0.7], [1, 0], [2, 0.69], [3, 1]], 4]",
            "1.34",
        ),
        (ExponentialRegression, "[[[0, 1], [1, 2], [2, 4], [3, 8]], 5]", "31.5"),
        (Same, r#"["2023-01-01", "2023-01-01T01:00:00+01:00"]"#, "true"),
        (Same, r#"[0, "1970-01-01"]"#, "true"),
        (Same, r#"["2023-01-01", "2023-01-03"]"#, "false"),
        (Before, r#"["2023-01-01T10:00:00", "2023-01-01T10:00:00.001Z"]"#, "true"),
        (BeforeOrSame, r#"["2023-01-01", "2023-01-03T00:00:00.000Z"]"#, "true"),
        (After, r#"["2023-01-01", "2022-01-03T00:00:00.000Z"]"#, "true"),
        (AfterOrSame, r#"["2023-01-01", "2023-01-03"]"#, "false"),
        (Within, r#"["2023-01-04", ["2023-01-01", "2023-01-03"]]"#, "false"),
        (Within, r#"["2023-01-02", ["2023-01-01", "2023-01-03"]]"#, "true"),
        (Within, r#"["2023-01-03", ["2023-01-01", "2023-01-03"]]"#, "false"),
    ];
    for (operator, operands, expected) in cases {
        assert_eq!(apply(operator, operands), json(expected), "{} {operands}", operator.keyword());
    }
}

#[test]
fn mistakes_are_named() {
    let cases = [
        (Add, "5", "`add` expects a list, but got a number `5`"),
        (Add, r#"[1, "2"]"#, "`add` expects numbers, but got a string `2`"),
        (Sub, "[]", "`sub` expects at least one number, but got an empty list"),
        (Div, "[1, 0]", "`div` cannot divide by zero"),
        (Mod, "[1, 0.0]", "`mod` cannot divide by zero"),
        (Mod, "[1, 2, 3]", "`mod` expects two numbers, but got a list of 3"),
        (Mul, "[1e300, 1e300]", "`mul` has a result that is no finite number"),
        (Concat, "[[]]", "`concat` expects strings, numbers and booleans, but got a list"),
        (
            Join,
            r#"["a", ","]"#,
            "`join` expects a list of values and a delimiter, but got a string `a`",
        ),
        (Token, r#"["a b", " ", 2]"#, "`token` has no part 2: the value has 2, counted from zero"),
        (
            Token,
            r#"["a b", " ", -1]"#,
            "`token` expects an integer from zero as index, but got a number `-1`",
        ),
        (Token, r#"["a b", "", 0]"#, "`token` expects a delimiter, but got an empty string"),
        (
            Greater,
            r#"[1, "1"]"#,
            "`greater` compares numbers, or strings, or versions alike, but got a number `1` and a string `1`",
        ),
        (
            InRange,
            "[1, [1]]",
            "`in_range` expects a value and a range of two values, but got a list of 1",
        ),
        (Length, "[1, 1]", "`length` expects a string, a list or a map, but got a number `1`"),
        (
            Length,
            r#"["a", 1.5]"#,
            "`length` expects an integer from zero as length, but got a number `1.5`",
        ),
        (Mean, "[]", "`mean` expects at least one number, but got an empty list"),
        (Min, "[]", "`min` expects at least one number, but got an empty list"),
        (Median, "[]", "`median` expects at least one number, but got an empty list"),
        (Variance, "[]", "`variance` expects at least one number, but got an empty list"),
        (
            LinearRegression,
            "[[[1]], 1]",
            "`linear_regression` expects points, each a list of two numbers, but got a list of 1",
        ),
        (
            PolynomialRegression,
            "[[[0, 0]], 33, 1]",
            "`polynomial_regression` expects an integer from 0 to 32 as order, but got a number `33`",
        ),
        (
            LogarithmicRegression,
            "[[[0, 1], [1, 2]], 1]",
            "`logarithmic_regression` needs an x above zero, but got 0",
        ),
        (
            ExponentialRegression,
            "[[[0, 1], [1, -2]], 1]",
            "`exponential_regression` needs every y above zero, but got -2",
        ),
        (Weekday, "[1]", "`weekday` expects no operands, but got a list"),
        (
            Weekday,
            "[]",
            "`weekday` needs a clock: pass `--now` (in a library call, `Resolver::now`)",
        ),
        (
            Same,
            r#"["today", 0]"#,
            "`same` expects dates, as ISO 8601 strings or as milliseconds since 1970, but got a string `today`",
        ),
    ];
    for (operator, operands, expected) in cases {
        assert_eq!(error(operator, operands), expected);
    }
}

#[test]
fn points_that_determine_nothing_are_ill_conditioned() {
    for operands in [
        "[[], 1]",
        "[[[1, 1]], 1]",
        "[[[1, 1], [1, 2], [1, 3]], 1]",
        "[[[1e9, 1], [1.0000000000000002e9, 2]], 1]",
    ] {
        assert!(error(LinearRegression, operands).contains("ill-conditioned"), "{operands}");
    }
    assert!(
        error(PolynomialRegression, "[[[0, 0], [1, 1], [0, 0]], 2, 5]").contains("ill-conditioned")
    );
    let cluster = "[[[1000000, 0], [1000001, 1], [1000002, 2], [1000003, 3], [1000004, 4]], 4, 0]";
    assert!(error(PolynomialRegression, cluster).contains("ill-conditioned"));
}

#[test]
fn scale_and_place_of_the_points_do_not_matter() {
    assert_eq!(
        number(apply(
            LinearRegression,
            "[[[1e9, 1], [1000000001, 2], [1000000002, 3]], 1000000003]"
        )),
        4.0
    );
    assert_eq!(number(apply(LinearRegression, "[[[1e-9, 1], [2e-9, 2], [3e-9, 3]], 4e-9]")), 4.0);
    let huge = number(apply(ExponentialRegression, "[[[0, 1e20], [1, 2e20]], 2]"));
    assert!((huge / (1e20 * 1.38_f64.exp()) - 1.0).abs() < 1e-9, "{huge}");
}

#[test]
fn integers_stay_exact_as_long_as_they_fit() {
    assert_eq!(apply(Add, "[9007199254740993, 2]").to_string(), "9007199254740995");
    assert_eq!(apply(Sum, "[9007199254740993, 2]").to_string(), "9007199254740995");
    assert_eq!(apply(Div, "[9007199254740993, 1]").to_string(), "9007199254740993");
    assert_eq!(apply(Mod, "[-9223372036854775808, -1]"), Value::from(0));
    assert_eq!(apply(Sum, "[9223372036854775807, 1, -1]").to_string(), "9223372036854775807");
    let most = "[9223372036854775807, 9223372036854775807]";
    assert_eq!(apply(Median, most).to_string(), "9223372036854775807");
    assert_eq!(number(apply(Mean, most)), 9_223_372_036_854_775_807.0);
    for (operator, operands) in [
        (Add, "[9223372036854775807, 1]"),
        (Sum, most),
        (Sub, "[-9223372036854775808, 1]"),
        (Mul, "[4611686018427387904, 2]"),
        (Div, "[-9223372036854775808, -1]"),
    ] {
        assert!(error(operator, operands).ends_with("too large for an integer of 64 bits"));
    }
}

#[test]
fn numbers_are_written_as_their_author_did() {
    let version = Value::Number(Number::float(1.1).with_text("1.10"));
    let joined = Concat.apply(&list([Value::from("v"), version.clone()]), None);
    assert_eq!(joined, Ok(Value::from("v1.10")));
    let most = Max.apply(&list([Value::from(1), version]), None).map(|value| value.to_string());
    assert_eq!(most, Ok("1.10".to_owned()));
}

#[test]
fn weekday_is_that_of_the_clock_in_its_zone() {
    let now: jiff::Zoned = "2024-12-31T23:30:00-05:00[-05:00]".parse().unwrap();
    let utc = now.with_time_zone(jiff::tz::TimeZone::UTC);
    assert_eq!(Weekday.apply(&Value::Null, Some(&Clock::new(|| now))), Ok(Value::from("tuesday")));
    assert_eq!(Weekday.apply(&json("[]"), Some(&Clock::new(|| utc))), Ok(Value::from("wednesday")));
}

#[test]
fn dates_are_iso_8601_with_or_without_time_and_zone() {
    let noon = instant(&Value::from("2023-01-01T12:00:00Z"));
    assert!(noon.is_some());
    for same in [
        "2023-01-01T12:00",
        "2023-01-01 12:00:00",
        "2023-01-01T13:00:00+01:00",
        "2023-01-01T12:00:00.000Z",
    ] {
        assert_eq!(instant(&Value::from(same)), noon, "{same}");
    }
    for bad in [
        "",
        "x",
        "2023-13-01",
        "2023-01-01T25:00",
        "2023-01-01+02:00",
        "2023-01-01Z",
        "T",
        "2023-01-01T12:00:00+99:00",
    ] {
        assert_eq!(instant(&Value::from(bad)), None, "{bad}");
    }
    assert_eq!(instant(&Value::from(i64::MAX)), None);
    assert_eq!(instant(&Value::from(0.5)), None);
}

/// Operands of any shape, mostly similar to what operators take.
fn any_value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-3i64..9).prop_map(Value::from)
    ];
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number,
        "[ -~äT0-9:-]{0,12}".prop_map(Value::from)
    ];
    scalar.prop_recursive(3, 24, 4, |inner| {
        let map = prop::collection::vec(("[a-c]", inner.clone()), 0..3);
        let map = map.prop_map(|entries| {
            Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
        });
        prop_oneof![4 => prop::collection::vec(inner, 0..4).prop_map(Value::from), 1 => map]
    })
}

fn points(points: &[(i32, f64)]) -> Value {
    list(points.iter().map(|&(x, y)| list([f64::from(x), y])))
}

/// Whether two ways to compute this number may round it to different hundredths.
fn near_tie(value: f64) -> bool {
    ((value * 100.0).fract().abs() - 0.5).abs() < 1e-6
}

proptest! {
    #[test]
    fn no_operands_make_an_operator_panic_or_answer_without_a_number(operands in any_value(), index in 0..ValueOperator::ALL.len()) {
        if let Ok(Value::Number(number)) = ValueOperator::ALL[index].apply(&operands, None) {
            prop_assert!(!number.as_f64().is_nan());
        }
    }

    #[test]
    fn statistics_agree_with_their_definitions(items in prop::collection::vec(-1000i64..1000, 1..20)) {
        let n = items.len() as f64;
        let mean = items.iter().sum::<i64>() as f64 / n;
        // E(x²) − E(x)² is another way to compute the variance, exact enough for numbers of this
        // size.
        let variance = items.iter().map(|x| (x * x) as f64).sum::<f64>() / n - mean * mean;
        let mut sorted = items.clone();
        sorted.sort_unstable();
        let apply = |operator: ValueOperator| number(operator.apply(&list(items.iter().copied()), None).unwrap());
        prop_assert_eq!(apply(Sum), items.iter().sum::<i64>() as f64);
        prop_assert_eq!(apply(Sum), apply(Add));
        prop_assert_eq!(apply(Count), n);
        prop_assert_eq!(apply(Min), sorted[0] as f64);
        prop_assert_eq!(apply(Max), sorted[sorted.len() - 1] as f64);
        prop_assert_eq!(apply(Median), (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) as f64 / 2.0);
        prop_assert!((apply(Mean) - mean).abs() <= 0.00501);
        prop_assert!((apply(Variance) - variance).abs() <= 0.00501);
        prop_assert!((apply(StandardDeviation) - variance.max(0.0).sqrt()).abs() <= 0.00501);
    }

    #[test]
    fn regression_recovers_a_polynomial(
        coefficients in prop::collection::vec(-9i32..10, 1..5),
        xs in prop::collection::btree_set(-50i32..50, 5..12),
        at in -60i32..60,
    ) {
        let polynomial = |x: i32| coefficients.iter().rev().fold(0.0, |value, &c| value * f64::from(x) + f64::from(c));
        let points = points(&xs.iter().map(|&x| (x, polynomial(x))).collect::<Vec<_>>());
        let operands = list([points, Value::from(coefficients.len() as i64 - 1), Value::from(at)]);
        // Clustered points may be rejected, but an answer has to be right.
        match PolynomialRegression.apply(&operands, None) {
            Ok(value) => prop_assert!((number(value) - polynomial(at)).abs() <= 0.0051 + 1e-9 * polynomial(at).abs()),
            Err(error) => prop_assert!(error.message.contains("ill-conditioned")),
        }
    }

    #[test]
    fn linear_regression_agrees_with_its_closed_form(ys in prop::collection::vec(-100i32..100, 2..12), at in -20i32..40) {
        let data: Vec<_> = ys.iter().zip(0..).map(|(&y, x)| (x, f64::from(y))).collect();
        let n = data.len() as f64;
        let sum = |term: fn(f64, f64) -> f64| data.iter().map(|&(x, y)| term(f64::from(x), y)).sum::<f64>();
        let exact = (n * sum(|x, y| x * y) - sum(|x, _| x) * sum(|_, y| y)) / (n * sum(|x, _| x * x) - sum(|x, _| x).powi(2));
        let slope = (exact * 100.0).round() / 100.0;
        let intercept = (sum(|_, y| y) - slope * sum(|x, _| x)) / n;
        prop_assume!(!near_tie(exact) && !near_tie(intercept));
        let expected = (intercept * 100.0).round() / 100.0 + slope * f64::from(at);
        let got = number(LinearRegression.apply(&list([points(&data), Value::from(at)]), None).unwrap());
        prop_assert!((got - expected).abs() <= 1e-9, "{got} {expected}");
    }

    #[test]
    fn exponential_regression_agrees_with_its_closed_form(ys in prop::collection::vec(1i32..100, 2..10), at in -3i32..6) {
        let data: Vec<_> = ys.iter().zip(0..).map(|(&y, x)| (x, f64::from(y))).collect();
        let sum = |term: fn(f64, f64) -> f64| data.iter().map(|&(x, y)| term(f64::from(x), y)).sum::<f64>();
        let (y, xy, xxy) = (sum(|_, y| y), sum(|x, y| x * y), sum(|x, y| x * x * y));
        let (yl, xyl) = (sum(|_, y| y * y.ln()), sum(|x, y| x * y * y.ln()));
        let denominator = y * xxy - xy * xy;
        let (a, b) = (((xxy * yl - xy * xyl) / denominator).exp(), (y * xyl - xy * yl) / denominator);
        prop_assume!(!near_tie(a) && !near_tie(b));
        let expected = (a * 100.0).round() / 100.0 * ((b * 100.0).round() / 100.0 * f64::from(at)).exp();
        let got = number(ExponentialRegression.apply(&list([points(&data), Value::from(at)]), None).unwrap());
        prop_assert!((got - expected).abs() <= 0.00501 + 1e-9 * expected, "{got} {expected}");
    }

    #[test]
    fn token_undoes_join(parts in prop::collection::vec("[a-c ]{0,4}", 1..6), delimiter in "(;;|-|, x)") {
        let joined = Join.apply(&list([list(parts.clone()), Value::from(delimiter.as_str())]), None).unwrap();
        for (index, part) in parts.iter().enumerate() {
            let operands = list([joined.clone(), Value::from(delimiter.as_str()), Value::from(index as i64)]);
            prop_assert_eq!(Token.apply(&operands, None), Ok(Value::from(part.as_str())));
        }
    }

    #[test]
    fn comparison_is_total_and_antisymmetric(
        (a, b) in prop_oneof![
            (any::<i64>(), any::<i64>()).prop_map(|(a, b)| (Value::from(a), Value::from(b))),
            (-1e9..1e9f64, -9i64..9).prop_map(|(a, b)| (Value::from(a), Value::from(b))),
            ("[0-2a.]{0,5}", "[0-2a.]{0,5}").prop_map(|(a, b)| (Value::from(a), Value::from(b))),
        ],
    ) {
        let holds = |operator: ValueOperator, a: &Value, b: &Value| operator.apply(&list([a.clone(), b.clone()]), None).unwrap() == Value::Bool(true);
        let (less, greater) = (holds(Less, &a, &b), holds(Greater, &a, &b));
        prop_assert!(!(less && greater));
        prop_assert_eq!(greater, holds(Less, &b, &a));
        prop_assert_eq!(holds(LessOrEqual, &a, &b), !greater);
        prop_assert_eq!(holds(GreaterOrEqual, &a, &b), !less);
        prop_assert!(a != b || !(less || greater));
        let range = list([a.clone(), list([b.clone(), b.clone()])]);
        prop_assert_eq!(InRange.apply(&range, None), Ok(Value::Bool(!less && !greater)));
    }

    #[test]
    fn within_is_after_and_before(dates in [-4i64..4, -4i64..4, -4i64..4]) {
        let [date, from, to] = dates.map(Value::from);
        let holds = |operator: ValueOperator, operands: Value| operator.apply(&operands, None).unwrap() == Value::Bool(true);
        let within = holds(Within, list([date.clone(), list([from.clone(), to.clone()])]));
        prop_assert_eq!(within, holds(After, list([date.clone(), from])) && holds(Before, list([date, to])));
    }

    #[test]
    fn division_leaves_what_modulo_says(a in any::<i64>(), b in any::<i64>().prop_filter("zero", |b| *b != 0)) {
        let remainder = Mod.apply(&list([a, b]), None).unwrap();
        let quotient = Div.apply(&list([a, b]), None).unwrap();
        match quotient {
            Value::Number(number) if remainder == Value::from(0) && number.as_int().is_some() => {
                prop_assert_eq!(Mul.apply(&list([Value::Number(number), Value::from(b)]), None), Ok(Value::from(a)));
            }
            _ => prop_assert!(a.checked_rem(b) != Some(0) || a.checked_div(b).is_none() || number(quotient).abs() < 1e19),
        }
    }
}
