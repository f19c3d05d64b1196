//! Tests the cases into which open inputs are cut, and how they are shown. Resolving accepts the
//! example of each case.

#![expect(clippy::unwrap_used, reason = "a test whose template cannot be explored has failed")]

use cuvee::Resolver;
use cuvee::diagnostic::{Code, Diagnostic};
use snapbox::{assert_data_eq, str};
use std::fmt::Write;

/// A template with the input `x`, perhaps more inputs, and a node for each condition, in which `$x`
/// stands for the input.
fn template(inputs: &str, conditions: &[&str]) -> String {
    let mut text =
        "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    options: {mode: manual}\n"
            .to_owned();
    writeln!(
        text,
        "    inputs: {{{inputs}}}\n    expressions:\n      twice: {{mul: [{{variability_input: x}}, 2]}}\n  node_templates:"
    )
    .unwrap();
    for (index, condition) in conditions.iter().enumerate() {
        let condition = condition
            .replace("$x", "{variability_input: x}")
            .replace("$y", "{variability_input: y}");
        writeln!(text, "    n{index}: {{type: t, conditions: {condition}}}").unwrap();
    }
    text
}

fn resolver(inputs: &str, conditions: &[&str]) -> Resolver {
    Resolver::from_text("template.yaml", template(inputs, conditions)).option("checks", "false")
}

/// The cases, with their examples, for each declaration of `x` and the conditions on it; asserts
/// that the examples are valid.
fn cases(all: &[(&str, &[&str])]) -> String {
    cases_with(all, resolver)
}

fn cases_with(all: &[(&str, &[&str])], resolver: fn(&str, &[&str]) -> Resolver) -> String {
    let mut page = String::new();
    for (declaration, conditions) in all {
        let resolver = resolver(&format!("x: {declaration}"), conditions);
        let report = resolver.input_report().unwrap().result;
        let mut labels = Vec::new();
        for case in &report.inputs[0].cases {
            let Some(value) = case.value.clone() else {
                labels.push(format!("{} (?)", case.label));
                continue;
            };
            resolver.clone().input("x", value.clone()).resolve().unwrap();
            labels.push(format!("{} ({value})", case.label));
        }
        writeln!(page, "{declaration} {}\n    {}", conditions.join(" "), labels.join(" | "))
            .unwrap();
    }
    page
}

/// Why the inputs cannot stay open, and where.
fn refused(inputs: &str, conditions: &[&str]) -> String {
    let failure = resolver(inputs, conditions).variants(&Default::default()).unwrap_err();
    let text = template(inputs, conditions);
    let told = |diagnostic: &Diagnostic| {
        assert_eq!(diagnostic.code, Code::OpenInput);
        let span = diagnostic.span.unwrap();
        let place = &text[span.start as usize..span.end as usize];
        format!(
            "{place}: {}\n    {}",
            diagnostic.message,
            diagnostic.help.clone().unwrap_or_default()
        )
    };
    failure.diagnostics.iter().map(told).collect::<Vec<_>>().join("\n")
}

#[test]
fn finite_domains_are_listed() {
    let found = cases(&[
        ("{type: boolean}", &["$x"]),
        (
            "{type: string, constraints: [{valid_values: [laptop, cluster, box]}]}",
            &["{equal: [$x, box]}"],
        ),
        (
            "{type: integer, constraints: [{valid_values: [1, 2, 3, 4, 5, 6, 7]}]}",
            &["{greater: [$x, 2]}"],
        ),
        ("{type: integer, constraints: [{in_range: [1, 6]}]}", &["{equal: [{mod: [$x, 2]}, 0]}"]),
        (
            "{type: string, constraints: [{pattern: '(dev|prod)-[ab]'}]}",
            &["{equal: [{token: [$x, '-', 0]}, dev]}"],
        ),
        (
            r#"{type: string, constraints: [{valid_values: ["x, y", "1", "m: n", "", z]}]}"#,
            &["{equal: [$x, z]}"],
        ),
    ]);
    assert_data_eq!(
        found,
        str![[r#"
{type: boolean} $x
    false (false) | true (true)
{type: string, constraints: [{valid_values: [laptop, cluster, box]}]} {equal: [$x, box]}
    laptop, cluster (laptop) | box (box)
{type: integer, constraints: [{valid_values: [1, 2, 3, 4, 5, 6, 7]}]} {greater: [$x, 2]}
    1, 2 (1) | 3 … 7 (3)
{type: integer, constraints: [{in_range: [1, 6]}]} {equal: [{mod: [$x, 2]}, 0]}
    1, 3, 5 (1) | 2, 4, 6 (2)
{type: string, constraints: [{pattern: '(dev|prod)-[ab]'}]} {equal: [{token: [$x, '-', 0]}, dev]}
    dev-a, dev-b (dev-a) | prod-a, prod-b (prod-a)
{type: string, constraints: [{valid_values: ["x, y", "1", "m: n", "", z]}]} {equal: [$x, z]}
    'x, y', '1', 'm: n', '' (x, y) | z (z)

"#]]
    );
}

#[test]
fn numbers_are_cut_where_conditions_change() {
    let found = cases(&[
        ("{type: integer}", &["{less: [$x, 500]}", "{greater_or_equal: [$x, 2000]}"]),
        (
            "{type: integer, constraints: [{in_range: [1, 100]}], default: 10}",
            &["{greater: [$x, 5]}"],
        ),
        ("{type: integer}", &["{equal: [$x, 5]}"]),
        ("{type: float}", &["{greater: [$x, 0.5]}", "{equal: [$x, 2]}"]),
        ("{type: integer}", &["{in_range: [$x, [2, 4]]}", "{valid_values: [$x, [3, 9]]}"]),
        ("{type: integer}", &["$x"]),
        ("{type: integer, constraints: [{greater_or_equal: 0}]}", &["true"]),
    ]);
    assert_data_eq!(
        found,
        str![[r#"
{type: integer} {less: [$x, 500]} {greater_or_equal: [$x, 2000]}
    ≤ 499 (499) | 500 … 1999 (500) | ≥ 2000 (2000)
{type: integer, constraints: [{in_range: [1, 100]}], default: 10} {greater: [$x, 5]}
    1 … 5 (1) | 6 … 100 (10)
{type: integer} {equal: [$x, 5]}
    5 (5) | something else (4)
{type: float} {greater: [$x, 0.5]} {equal: [$x, 2]}
    ≤ 0.5 (0) | > 0.5 and < 2, > 2 (1) | 2 (2)
{type: integer} {in_range: [$x, [2, 4]]} {valid_values: [$x, [3, 9]]}
    2, 4 (2) | 3 (3) | 9 (9) | something else (1)
{type: integer} $x
    ≤ 0 (-1) | ≥ 1 (1)
{type: integer, constraints: [{greater_or_equal: 0}]} true
    any (0)

"#]]
    );
}

/// Validations of TOSCA 2.0 that are no constraints cut values, too; where they cannot, a valid value
/// stands for a case.
#[test]
fn values_are_cut_where_validations_change() {
    let resolver_of_2_0 = |inputs: &str, conditions: &[&str]| {
        let text = template(inputs, conditions)
            .replace("tosca_variability_1_0\ntopology_template", "tosca_2_0\nservice_template");
        let types = "\nnode_types: {t: {}}\ndata_types:\n  Odd: {derived_from: integer, validation: {$equal: [{$remainder: [$value, 2]}, 1]}}\n  Size: {derived_from: scalar, units: {MB: 1, GB: 1000}, canonical_unit: MB}\nservice_template";
        let text = text.replace("\nservice_template", types);
        Resolver::from_text("template.yaml", text).option("checks", "false")
    };
    let page = cases_with(
        &[
            (
                "{type: integer, validation: {$or: [{$equal: [$value, 2]}, {$equal: [$value, 5]}]}}",
                &["{greater: [$x, 3]}"],
            ),
            (
                "{type: integer, validation: {$not: [{$equal: [$value, 4]}]}}",
                &["{greater: [$x, 3]}"],
            ),
            (
                "{type: integer, validation: {$has_entry: [[1, 5], $value]}}",
                &["{greater: [$x, 3]}"],
            ),
            (
                "{type: float, validation: {$not: [{$in_range: [$value, [3.0, 4.5]]}]}}",
                &["{greater: [$x, 3]}"],
            ),
            ("{type: Odd}", &["{greater: [$x, 3]}", "{less: [$x, -7]}"]),
            (
                "{type: string, validation: {$or: [{$equal: [$value, a]}, {$equal: [$value, $$b]}]}}",
                &["{not: {equal: [$x, a]}}"],
            ),
            (
                "{type: string, validation: {$has_prefix: [$value, ab]}}",
                &["{equal: [$x, abc]}", "{equal: [$x, ab]}"],
            ),
            (
                "{type: string, validation: {$valid_values: [$value, [a, $$c]]}}",
                &["{equal: [$x, $$c]}"],
            ),
            (
                "{type: string, validation: {$matches: [$value, '^[a-c]+$']}}",
                &["{length: [$x, 2]}"],
            ),
            (
                "{type: bytes, validation: {$greater_than: [{$length: [$value]}, 2]}}",
                &["{equal: [$x, AAAA]}"],
            ),
            (
                "{type: timestamp, validation: {$less_than: [$value, '2024-06-01T00:00:00Z']}}",
                &["{before: [$x, 2024-01-01]}"],
            ),
            (
                "{type: integer, validation: {$less_than: [{$sum: [$value, 2]}, 5]}}",
                &["{greater: [$x, 1]}"],
            ),
            (
                "{type: string, validation: {$equal: [{$token: [$value, '-', 1]}, zz]}}",
                &["{equal: [$x, a-zz]}"],
            ),
            (
                "{type: Size, validation: {$valid_values: [$value, [1 GB, 500 MB]]}}",
                &["{equal: [$x, 1000 MB]}"],
            ),
            ("{type: Size}", &["{greater: [$x, 500 MB]}", "{equal: [$x, 1 GB, 1000 MB]}"]),
            (
                "{type: Size, validation: {$in_range: [$value, [500 MB, 2 GB]]}}",
                &["{less: [$x, 1 GB]}", "{in_range: [$x, [1 GB, 1.5 GB]]}"],
            ),
            ("{type: scalar-unit.time}", &["{less_or_equal: [$x, 90 s]}", "{less: [1 m, $x]}"]),
        ],
        resolver_of_2_0,
    );
    assert_data_eq!(
        page,
        str![[r#"
{type: integer, validation: {$or: [{$equal: [$value, 2]}, {$equal: [$value, 5]}]}} {greater: [$x, 3]}
    2 (2) | 5 (5)
{type: integer, validation: {$not: [{$equal: [$value, 4]}]}} {greater: [$x, 3]}
    ≤ 3 (2) | ≥ 5 (5)
{type: integer, validation: {$has_entry: [[1, 5], $value]}} {greater: [$x, 3]}
    1 (1) | 5 (5)
{type: float, validation: {$not: [{$in_range: [$value, [3.0, 4.5]]}]}} {greater: [$x, 3]}
    < 3 (2) | > 4.5 (5)
{type: Odd} {greater: [$x, 3]} {less: [$x, -7]}
    ≤ -8 (?) | -6 … 1, 3 (1) | ≥ 4 (5)
{type: string, validation: {$or: [{$equal: [$value, a]}, {$equal: [$value, $$b]}]}} {not: {equal: [$x, a]}}
    a (a) | something else ($b)
{type: string, validation: {$has_prefix: [$value, ab]}} {equal: [$x, abc]} {equal: [$x, ab]}
    abc (abc) | ab (ab) | something else (aba)
{type: string, validation: {$valid_values: [$value, [a, $$c]]}} {equal: [$x, $$c]}
    a (a) | $c ($c)
{type: string, validation: {$matches: [$value, '^[a-c]+$']}} {length: [$x, 2]}
    length ≤ 1, length ≥ 3 (a) | length 2 (aa)
{type: bytes, validation: {$greater_than: [{$length: [$value]}, 2]}} {equal: [$x, AAAA]}
    AAAA (AAAA) | something else (BBBB)
{type: timestamp, validation: {$less_than: [$value, '2024-06-01T00:00:00Z']}} {before: [$x, 2024-01-01]}
    < 2024-01-01 (2023-12-31T00:00:00Z) | ≥ 2024-01-01 (2024-01-01T00:00:00Z)
{type: integer, validation: {$less_than: [{$sum: [$value, 2]}, 5]}} {greater: [$x, 1]}
    ≤ 1 (0) | 2 … 4, ≥ 6 (2)
{type: string, validation: {$equal: [{$token: [$value, '-', 1]}, zz]}} {equal: [$x, a-zz]}
    a-zz (a-zz) | something else (-zz)
{type: Size, validation: {$valid_values: [$value, [1 GB, 500 MB]]}} {equal: [$x, 1000 MB]}
    1 GB (1 GB) | 500 MB (500 MB)
{type: Size} {greater: [$x, 500 MB]} {equal: [$x, 1 GB, 1000 MB]}
    ≤ 500 MB (499 MB) | > 500 MB and < 1 GB, > 1 GB (501 MB) | 1 GB (1 GB)
{type: Size, validation: {$in_range: [$value, [500 MB, 2 GB]]}} {less: [$x, 1 GB]} {in_range: [$x, [1 GB, 1.5 GB]]}
    < 1 GB (500 MB) | 1 GB … 1.5 GB (1 GB) | > 1.5 GB (2 GB)
{type: scalar-unit.time} {less_or_equal: [$x, 90 s]} {less: [1 m, $x]}
    ≤ 1 m (45 s) | > 1 m and ≤ 90 s (89 s) | > 90 s (91 s)

"#]]
    );
}

#[test]
fn computed_numbers_are_cut_exactly() {
    let found = cases(&[
        ("{type: integer}", &["{greater: [{mul: [$x, 2]}, 9]}"]),
        ("{type: integer}", &["{less: [{sub: [10, {div: [$x, 3]}]}, {add: [1, 2]}]}"]),
        ("{type: float}", &["{greater_or_equal: [{value_expression: twice}, 10]}"]),
        ("{type: integer}", &["{equal: [{max: [$x, 3]}, 3]}", "{greater: [$x, {sub: [8, $x]}]}"]),
        ("{type: integer}", &["{add: [$x, -3]}"]),
    ]);
    assert_data_eq!(
        found,
        str![[r#"
{type: integer} {greater: [{mul: [$x, 2]}, 9]}
    ≤ 4 (4) | ≥ 5 (5)
{type: integer} {less: [{sub: [10, {div: [$x, 3]}]}, {add: [1, 2]}]}
    ≤ 21 (20) | ≥ 22 (22)
{type: float} {greater_or_equal: [{value_expression: twice}, 10]}
    < 5 (4) | ≥ 5 (5)
{type: integer} {equal: [{max: [$x, 3]}, 3]} {greater: [$x, {sub: [8, $x]}]}
    ≤ 3 (3) | 4 (4) | ≥ 5 (5)
{type: integer} {add: [$x, -3]}
    ≤ 3 (2) | ≥ 4 (4)

"#]]
    );
}

#[test]
fn texts_are_named_or_something_else() {
    let found = cases(&[
        ("{type: string}", &["{equal: [$x, laptop]}", "{valid_values: [$x, [cluster, box]]}"]),
        ("{type: string, default: eu}", &["{equal: [$x, us]}"]),
        ("{type: string, constraints: [{pattern: '[a-z]{3}-[0-9]+'}]}", &["{equal: [$x, aaa-0]}"]),
        (
            "{type: string, constraints: [{pattern: '[a-z]+'}, {min_length: 8}]}",
            &["{equal: [$x, abcdefgh]}"],
        ),
        ("{type: string}", &["{min_length: [$x, 3]}"]),
        ("{type: string}", &["{min_length: [$x, 3]}", "{equal: [$x, ab]}"]),
        ("{type: string}", &["{greater: [$x, k]}"]),
    ]);
    assert_data_eq!(
        found,
        str![[r#"
{type: string} {equal: [$x, laptop]} {valid_values: [$x, [cluster, box]]}
    laptop (laptop) | cluster, box (cluster) | something else (other)
{type: string, default: eu} {equal: [$x, us]}
    us (us) | something else (eu)
{type: string, constraints: [{pattern: '[a-z]{3}-[0-9]+'}]} {equal: [$x, aaa-0]}
    aaa-0 (aaa-0) | something else (aaa-1)
{type: string, constraints: [{pattern: '[a-z]+'}, {min_length: 8}]} {equal: [$x, abcdefgh]}
    abcdefgh (abcdefgh) | something else (aaaaaaaa)
{type: string} {min_length: [$x, 3]}
    length ≤ 2 (x) | length ≥ 3 (a-b)
{type: string} {min_length: [$x, 3]} {equal: [$x, ab]}
    ab (ab) | length ≤ 2 but not ab (x) | length ≥ 3 (a-b)
{type: string} {greater: [$x, k]}
    ≤ k (another) | > k (other)

"#]]
    );
}

#[test]
fn other_types_are_cut_in_their_orders() {
    let found = cases(&[
        ("{type: version}", &["{greater_or_equal: [$x, '1.2.0']}", "{less: [$x, '2.0']}"]),
        (
            "{type: timestamp}",
            &["{before: [$x, '2024-01-01']}", "{within: [$x, ['2024-01-01', '2024-07-01']]}"],
        ),
        ("{type: list}", &["{max_length: [$x, 2]}"]),
        ("{type: map, constraints: [{min_length: 1}]}", &["{length: [$x, 2]}"]),
        (
            "{type: scalar-unit.size, constraints: [{in_range: [1 GB, 4 GB]}]}",
            &["{equal: [$x, 2 GB]}"],
        ),
        ("{}", &["$x"]),
        ("{}", &["{equal: [$x, 5]}", "{equal: [$x, five]}"]),
    ]);
    assert_data_eq!(
        found,
        str![[r#"
{type: version} {greater_or_equal: [$x, '1.2.0']} {less: [$x, '2.0']}
    < 1.2.0 (1.0) | ≥ 1.2.0 and < 2.0 (1.2.0) | ≥ 2.0 (2.0)
{type: timestamp} {before: [$x, '2024-01-01']} {within: [$x, ['2024-01-01', '2024-07-01']]}
    < 2024-01-01 (2023-12-31) | 2024-01-01, ≥ 2024-07-01 (2024-01-01) | > 2024-01-01 and < 2024-07-01 (2024-04-01)
{type: list} {max_length: [$x, 2]}
    length ≤ 2 ([]) | length ≥ 3 ([x, x, x])
{type: map, constraints: [{min_length: 1}]} {length: [$x, 2]}
    length 1, length ≥ 3 ({key0: x}) | length 2 ({key0: x, key1: x})
{type: scalar-unit.size, constraints: [{in_range: [1 GB, 4 GB]}]} {equal: [$x, 2 GB]}
    2 GB (2 GB) | something else (1 GB)
{} $x
    false, ≤ 0 (false) | true, > 0, a string (true)
{} {equal: [$x, 5]} {equal: [$x, five]}
    5 (5) | five (five) | something else (false)

"#]]
    );
}

/// If another input has few values, each of them is tried.
#[test]
fn inputs_are_compared_with_inputs_that_have_few_values() {
    let inputs = "x: {type: integer}, y: {type: integer, constraints: [{valid_values: [2, 4]}]}";
    let report =
        resolver(inputs, &["{greater: [$x, {add: [$y, 1]}]}"]).input_report().unwrap().result;
    let labels: Vec<Vec<_>> = report
        .inputs
        .iter()
        .map(|input| input.cases.iter().map(|case| case.label.as_str()).collect())
        .collect();
    assert_eq!(labels, [vec!["≤ 3", "4, 5", "≥ 6"], vec!["2", "4"]]);
}

#[test]
fn what_cannot_be_cut_is_shown() {
    assert_data_eq!(
        refused("x: {type: string}", &["{equal: [{token: [$x, '-', 0]}, eu]}"]),
        str![[r#"
{token: [{variability_input: x}, '-', 0]}: the values of input `x` cannot be told apart here, so it cannot stay open
    assign it with `--input x=VALUE` or a preset, or list its `valid_values`
"#]]
    );
    assert_data_eq!(
        refused("x: {type: integer}", &["{equal: [{mod: [$x, 2]}, 0]}"]),
        str![[r#"
{mod: [{variability_input: x}, 2]}: the values of input `x` cannot be told apart here, so it cannot stay open
    assign it with `--input x=VALUE` or a preset, or list its `valid_values`
"#]]
    );
    assert_data_eq!(
        refused("x: {type: integer}, y: {type: integer}", &["{greater: [$x, $y]}"]),
        str![[r#"
{variability_input: x}: the values of input `x` cannot be told apart here, so it cannot stay open
    assign it with `--input x=VALUE` or a preset, or list its `valid_values`
{variability_input: y}: the values of input `y` cannot be told apart here, so it cannot stay open
    assign it with `--input y=VALUE` or a preset, or list its `valid_values`
"#]]
    );
    assert_data_eq!(
        refused(
            "x: {type: string, constraints: [{length: 2}, {length: 3}]}",
            &["{equal: [$x, a]}"]
        ),
        str![[r#"
x: no value is known that input `x` may have
    declare a valid `default`, or assign it with `--input`
"#]]
    );
    let bits: Vec<_> = (0..13).map(|bit| format!("b{bit}: {{type: boolean}}")).collect();
    let sum: Vec<_> = (0..13).map(|bit| format!("{{variability_input: b{bit}}}")).collect();
    let inputs = format!("x: {{type: integer}}, {}", bits.join(", "));
    assert_data_eq!(
        refused(&inputs, &[&format!("{{equal: [{{concat: [{}]}}, a]}}", sum.join(", "))]),
        str![[r#"
equal: this depends on more than 4096 combinations of open inputs
    assign some of them with `--input` or a preset
"#]]
    );
}

/// An element is dead if no valid value of an input allows it.
#[test]
fn elements_of_no_case_are_dead() {
    let conditions = ["{greater: [$x, 5]}", "{less: [$x, 3]}"];
    let answer = resolver("x: {type: integer, constraints: [{in_range: [1, 4]}]}", &conditions)
        .analyze()
        .unwrap();
    let warnings: Vec<_> =
        answer.warnings.iter().map(|warning| (warning.code, warning.message.as_str())).collect();
    assert_eq!(warnings, [(Code::DeadElement.into(), "node \"n0\" is in no variant")]);
}
