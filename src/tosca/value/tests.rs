//! Tests tables of literals and of clauses, and laws on random values.

use super::*;
use crate::diagnostic::Diagnostics;
use crate::tosca::grammar::{Grammar, Named};
use crate::tosca::shape::{PARAMETER, PROPERTY, SCHEMA};
use cuvee_text::source::{FileId, SourceMap};
use cuvee_text::yaml::{Document, Limits, parse};
use proptest::prelude::*;

fn document(text: &str) -> Document {
    parse(FileId::new(0), text.into(), &Limits::default())
        .unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

fn property<'a>(
    key: Node<'a>,
    body: Node<'a>,
    diagnostics: &mut Diagnostics,
) -> PropertyDefinition<'a> {
    Grammar::of_template(diagnostics).property(Named::new((key, body)), &PROPERTY)
}

fn parameter<'a>(
    key: Node<'a>,
    body: Node<'a>,
    diagnostics: &mut Diagnostics,
) -> PropertyDefinition<'a> {
    PropertyDefinition::parameter(Named::new((key, body)), &(&PARAMETER).into(), diagnostics)
}

/// The data types of a small service template, for lookups by name.
struct Types<'a>(Vec<(&'a str, Option<Primitive>, Vec<&'a PropertyDefinition<'a>>, Schema<'a>)>);

impl<'a> Types<'a> {
    /// Reads `data_types`, in which parents come before children.
    fn of(document: &'a Document) -> Self {
        let mut types = Self(Vec::new());
        let mut diagnostics = Diagnostics::default();
        for (key, body) in document.root().get("data_types").into_iter().flat_map(Node::entries) {
            let parent = body.get("derived_from").and_then(Node::as_str);
            let (mut base, mut properties, mut schema) =
                (parent.and_then(Primitive::from_name), Vec::new(), Schema::of("string"));
            if let Some((_, inherited, defined, from)) =
                types.0.iter().find(|(name, ..)| Some(*name) == parent)
            {
                (base, properties, schema) = (base.or(*inherited), defined.clone(), from.clone());
            }
            let own = Grammar::of_template(&mut diagnostics).schema_parts(body, &SCHEMA);
            schema.constraints.extend(own.constraints);
            schema.key_schema = own.key_schema.or(schema.key_schema);
            schema.entry_schema = own.entry_schema.or(schema.entry_schema);
            for (key, body) in body.get("properties").into_iter().flat_map(Node::entries) {
                let definition = property(key, body, &mut diagnostics);
                properties.retain(|property| property.named.name != definition.named.name);
                properties.push(&*Box::leak(Box::new(definition)));
            }
            types.0.push((key.text().unwrap(), base, properties, schema));
        }
        assert_eq!(diagnostics, Diagnostics::default());
        types
    }
}

impl<'a> DataTypes<'a> for Types<'a> {
    fn data_type(&self, name: &str) -> Option<DataTypeView<'_, 'a>> {
        let (_, base, properties, schema) = self.0.iter().find(|(known, ..)| *known == name)?;
        Some(DataTypeView {
            units: &[],
            numbers: ScalarNumbers::default(),
            validations: &[],
            base: *base,
            properties,
            constraints: &schema.constraints,
            rules: &[],
            key_schema: schema.key_schema.as_deref(),
            entry_schema: schema.entry_schema.as_deref(),
            is_open: false,
            is_secret: false,
        })
    }
}

const TYPES: &str = "\
data_types:
  Port: {derived_from: integer, constraints: [in_range: [1, 65535]]}
  UserPort: {derived_from: Port, constraints: [greater_than: 1023]}
  Name: {derived_from: string, constraints: [min_length: 2]}
  Names: {derived_from: list, entry_schema: Name}
  Ages: {derived_from: map, key_schema: Name, entry_schema: {type: integer, constraints: [less_than: 150]}}
  Empty: {}
  Credential: {properties: {token: string, user: {type: string, required: false}}}
  Phone:
    properties:
      country: {type: integer}
      number: {type: Name}
      kind: {type: string, default: mobile}
      note: {type: string, required: false}
  Extended: {derived_from: Phone, properties: {extra: {type: list, entry_schema: Phone, required: false}}}
  Fixed: {properties: {size: {type: scalar-unit.size, value: 1 GB}}}
";

fn types_text() -> String {
    TYPES.replace("{token: string,", "{token: {type: string},")
}

/// The findings at `value` for `schema`: codes and, behind a question mark, the number of undecided
/// places.
fn found(text: &str) -> String {
    let types = document(&types_text());
    let types = Types::of(&types);
    let document = document(text);
    let mut diagnostics = Diagnostics::default();
    let schema = Schema::read(document.root().get("schema").unwrap(), &mut diagnostics);
    let mut findings = Findings { diagnostics: diagnostics.0, ..Findings::default() };
    if let Some(value) = document.root().get("value") {
        let more = check_value(value, &schema, &types);
        findings.diagnostics.extend(more.diagnostics);
        findings.undecided.extend(more.undecided);
    } else {
        let more = check_schema(&schema, &types);
        findings.diagnostics.extend(more.diagnostics);
        findings.undecided.extend(more.undecided);
    }
    assert!(
        findings.diagnostics.iter().all(|found| found.rule.is_some() && found.span.is_some()),
        "{findings:?}"
    );
    let mut codes: Vec<_> =
        findings.diagnostics.iter().map(|found| found.code.to_string()).collect();
    codes.extend(findings.undecided.iter().map(|undecided| {
        assert_eq!(undecided.diagnostic().code, Code::Undecidable);
        "?".to_owned()
    }));
    codes.join(" ")
}

fn value(schema: &str, value: &str) -> String {
    found(&format!("{{schema: {schema}, value: {value}}}"))
}

#[test]
fn literals_are_those_of_their_types() {
    let table: [(&str, &[&str], &[&str]); 14] = [
        (
            "string",
            &["a", "'1'", "''", "\"true\"", "2020-01-01"],
            &["1", "1.5", "true", "null", "[a]", "{a: b}"],
        ),
        (
            "integer",
            &["0", "-1", "0x1F", "0o17", "99999999999999999999"],
            &["1.5", "'1'", "a", "true", "1e3", "[1]"],
        ),
        (
            "float",
            &["1.5", "1", "-.5", "1e3", ".inf", "-.inf", ".nan"],
            &["'1.5'", "a", "null", "true"],
        ),
        ("boolean", &["true", "false"], &["'true'", "yes", "1", "null"]),
        (
            "timestamp",
            &["2001-12-14", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.10 -5"],
            &["2001", "x", "2001-13-01", "1"],
        ),
        ("null", &["null", "~"], &["0", "''", "[]"]),
        (
            "version",
            &["6.1", "2.0.1", "3.1.0.beta", "1.0.0.alpha-10", "0", "0.0", "0.0.0", "'1.10'"],
            &["1", "a", "1.a", "1.0.0.", "1.0.0.a-b", "0.0.0.alpha", "-1.0", "1.0.0.0.0.!"],
        ),
        (
            "range",
            &["[1, 100]", "[0, UNBOUNDED]", "[-3, -3]"],
            &["[2, 1]", "[1]", "[1, 2, 3]", "[UNBOUNDED, 1]", "[1.5, 2]", "1", "[a, b]", "{a: 1}"],
        ),
        ("list", &["[]", "[1, a, null]"], &["{}", "a", "null"]),
        ("map", &["{}", "{a: 1, b: [c]}", "{token: secret}"], &["[]", "a", "null"]),
        (
            "scalar-unit.size",
            &["1 B", "10 GB", "10GB", "1.5   TiB", "-1 kB"],
            &["10", "GB", "1 s", "1 PB", "1e3 B", "true"],
        ),
        ("scalar-unit.time", &["2 d", "10 ms", "1us"], &["10", "1 sec", "1 MS", "ms"]),
        ("scalar-unit.frequency", &["2.4 GHz", "1 Hz"], &["1 hz", "1 THz", "2.4"]),
        ("scalar-unit.bitrate", &["1 Kbps", "1 KBps", "2 TiBps"], &["1 kbps", "1 Kb", "1"]),
    ];
    for (kind, valid, invalid) in table {
        for name in [kind.to_owned(), format!("'tosca:{kind}'")] {
            for literal in valid {
                assert_eq!(value(&name, literal), "", "{name} {literal}");
            }
            for literal in invalid {
                assert_eq!(value(&name, literal), "invalid-value", "{name} {literal}");
            }
        }
    }
}

#[test]
fn sizes_may_be_written_in_any_case_with_a_warning() {
    let document = document("10 gb");
    let schema = Schema::of("scalar-unit.size");
    let types = Types(Vec::new());
    let findings = check_value(document.root(), &schema, &types);
    let lines: Vec<_> = findings.diagnostics.iter().map(|found| found.message.as_str()).collect();
    assert_eq!(lines, ["the unit in `10 gb` is best written `GB`"]);
    assert!(!Diagnostics(findings.diagnostics).has_errors());
    assert_eq!(
        value("{type: scalar-unit.size, constraints: [less_than: 1 GB]}", "1 gb"),
        "invalid-value violated-constraint"
    );
}

#[test]
fn parts_and_constraints_are_checked() {
    let cases = [
        ("{type: list, entry_schema: integer}", "[1, a, 2.5]", "invalid-value invalid-value"),
        (
            "{type: list, entry_schema: {type: list, entry_schema: integer}}",
            "[[1], [a], 1]",
            "invalid-value invalid-value",
        ),
        (
            "{type: map, key_schema: {type: integer}, entry_schema: boolean}",
            "{1: true, a: false, 2: 3}",
            "invalid-value invalid-value",
        ),
        ("{type: map, entry_schema: {type: string}}", "{8080: a}", ""),
        (
            "{type: map, key_schema: {type: list, entry_schema: integer}}",
            "{[1, 2]: a, [b]: c, d: e, {1: 2}: f}",
            "invalid-value invalid-value invalid-value",
        ),
        ("{type: map, key_schema: {type: map}}", "{{a: 1}: b, [c]: d}", "invalid-value"),
        ("{type: map, key_schema: Names}", "{[ab]: 1, [a]: 2, []: 3}", "violated-constraint"),
        ("{type: map, key_schema: Empty}", "{{}: 1, a: 2}", "invalid-value"),
        ("map", "{[1]: a}", "invalid-value"),
        ("Empty", "{[1]: a}", "unknown-property"),
        ("Port", "80", ""),
        ("Port", "0", "violated-constraint"),
        ("Port", "http", "invalid-value"),
        ("UserPort", "80", "violated-constraint"),
        ("UserPort", "0", "violated-constraint violated-constraint"),
        ("{type: UserPort, constraints: [valid_values: [8080, 80]]}", "8080", ""),
        ("{type: UserPort, constraints: [valid_values: [8080, 80]]}", "80", "violated-constraint"),
        ("Names", "[ab, a, 1]", "violated-constraint invalid-value"),
        ("Ages", "{ann: 30, b: 200}", "violated-constraint violated-constraint"),
        ("{type: map, entry_schema: Port}", "{a: 0, b: x}", "violated-constraint invalid-value"),
        ("Unheard", "1", "?"),
        ("Empty", "{}", ""),
        ("Empty", "{a: 1}", "unknown-property"),
        ("Phone", "{country: 49, number: '123'}", ""),
        ("Phone", "{country: 49, number: '1', nmber: x}", "violated-constraint unknown-property"),
        ("Phone", "{kind: 1}", "invalid-value missing-property missing-property"),
        ("Phone", "[]", "invalid-value"),
        (
            "Extended",
            "{country: 49, number: '12', extra: [{country: 1, number: '22'}, {}]}",
            "missing-property missing-property",
        ),
        ("Fixed", "{size: 1000 MB}", ""),
        ("Fixed", "{size: 2 GB}", "invalid-value"),
        ("Fixed", "{}", ""),
    ];
    for (schema, literal, expected) in cases {
        assert_eq!(value(schema, literal), expected, "{schema} {literal}");
    }
}

/// A key outside any document keeps only its text, even if it was a list or a map.
#[test]
fn texts_stand_for_keys_that_are_lists_and_maps() {
    for (schema, given, expected) in [
        ("{type: list, entry_schema: integer}", "{[1, 2]: x, {a: 1}: y, z: 0}", 2),
        ("Empty", "{[1, 2]: x, {a: 1}: y, z: 0}", 2),
        ("string", "{[1, 2]: x, y: 0}", 0),
    ] {
        let text = format!("{{type: map, key_schema: {schema}}}");
        let (types, schema, given) = (document(&types_text()), document(&text), document(given));
        let mut diagnostics = Diagnostics::default();
        let schema = Schema::read(schema.root(), &mut diagnostics);
        assert_eq!(diagnostics, Diagnostics::default());
        let value = given.root().to_value();
        let types = Types::of(&types);
        let findings = check_value(Datum::Value(&value), &schema, &types);
        assert_eq!(findings.diagnostics.len(), expected, "{text} {value}");
    }
}

#[test]
fn functions_are_left_undecided() {
    let cases = [
        ("integer", "{get_input: cpus}", "?"),
        ("integer", "{get_input: cpus, b: 1}", "invalid-value"),
        ("integer", "{get_inputs: cpus}", "invalid-value"),
        ("{type: list, entry_schema: Port}", "[80, {get_input: p}, 0]", "violated-constraint ?"),
        ("list", "[1, [{get_attribute: [SELF, a]}]]", "?"),
        ("map", "{get_input: [a, b]}", "?"),
        ("map", "{token: a}", ""),
        (
            "{type: list, constraints: [max_length: 1]}",
            "[{get_input: a}, 2]",
            "violated-constraint ?",
        ),
        ("{type: list, constraints: [equal: [1, 2]]}", "[{get_input: a}, 2]", "? ?"),
        (
            "{type: list, constraints: [equal: [1, 2]]}",
            "[{get_input: a}, 3]",
            "violated-constraint ?",
        ),
        ("{type: list, constraints: [equal: [1, 2]]}", "[{get_input: a}]", "violated-constraint ?"),
        ("{type: integer, constraints: [greater_than: {get_input: a}]}", "1", "?"),
        ("{type: integer, constraints: [valid_values: [1, {get_input: a}]]}", "1", ""),
        ("{type: integer, constraints: [valid_values: [1, {get_input: a}]]}", "2", "?"),
        ("range", "[1, {get_input: high}]", "?"),
        ("{type: range, constraints: [equal: [1, {get_input: high}]]}", "[1, 2]", "?"),
        (
            "{type: range, constraints: [equal: [1, {get_input: high}]]}",
            "[2, 2]",
            "violated-constraint",
        ),
        ("{type: integer, constraints: [equal: a]}", "1", "?"),
        ("{type: integer, constraints: [min_length: 1]}", "1", "?"),
        (
            "{type: Phone, constraints: [equal: {number: ab, country: 1}]}",
            "{country: 0x1, number: ab, kind: mobile}",
            "",
        ),
        (
            "{type: Phone, constraints: [equal: {number: ab, country: 1, note: a}]}",
            "{country: 1, number: ab}",
            "violated-constraint",
        ),
        ("Phone", "{country: {get_input: c}, number: {concat: [a, b]}}", "? ?"),
        ("Phone", "{get_property: [SELF, phone]}", "?"),
        ("Credential", "{token: secret}", ""),
        ("Credential", "{get_input: credential}", "?"),
        ("{type: string, constraints: [schema: '{}']}", "a", "?"),
        ("{type: string, constraints: [pattern: '(?=a)a']}", "a", "?"),
        ("{type: string, constraints: [pattern: 'a|b']}", "ab", "violated-constraint"),
        ("{type: version, constraints: [greater_than: 1.0.0.alpha]}", "1.0.0.beta", "?"),
        ("{type: version, constraints: [greater_than: 1.0.0.alpha-1]}", "1.0.0.alpha-10", ""),
        ("{type: version, constraints: [less_than: 1.0]}", "1.0.0.alpha", ""),
        ("{type: version, constraints: [equal: 1.0.0]}", "1.0", ""),
    ];
    for (schema, literal, expected) in cases {
        assert_eq!(value(schema, literal), expected, "{schema} {literal}");
    }
}

/// Two literals of each type, the first below the second where they are ordered.
const SAMPLES: [(&str, &str, &str); 16] = [
    ("string", "a", "b"),
    ("integer", "9", "10"),
    ("float", "0.5", "1"),
    ("boolean", "false", "true"),
    ("timestamp", "2001-12-14", "2001-12-14 00:00:01 Z"),
    ("null", "null", "null"),
    ("version", "1.9", "1.10"),
    ("range", "[1, 2]", "[1, 3]"),
    ("list", "[1]", "[1, 2]"),
    ("map", "{a: 1}", "{a: 2}"),
    ("scalar-unit.size", "1 GB", "1 GiB"),
    ("scalar-unit.time", "999 ms", "1 s"),
    ("scalar-unit.frequency", "0.9 GHz", "1000 MHz"),
    ("scalar-unit.bitrate", "1 MBps", "9 Mbps"),
    ("Port", "80", "443"),
    ("Phone", "{country: 1, number: ab}", "{country: 2, number: ab}"),
];

/// The table of section 3.6.3.1, written independently of the code.
fn allows(operator: Operator, kind: &str) -> bool {
    let comparable = ["string", "integer", "float", "timestamp", "version", "Port"].contains(&kind)
        || kind.starts_with("scalar-unit");
    match operator {
        Operator::Equal | Operator::ValidValues => true,
        Operator::InRange => comparable || kind == "range",
        Operator::Length | Operator::MinLength | Operator::MaxLength => {
            ["string", "list", "map"].contains(&kind)
        }
        Operator::Pattern | Operator::Schema => kind == "string",
        _ => comparable,
    }
}

#[test]
fn clauses_apply_to_the_types_of_the_table() {
    for (kind, low, high) in SAMPLES {
        for operator in Operator::ALL {
            let operand = match operator {
                Operator::InRange if kind == "range" => "[0, 5]".to_owned(),
                Operator::InRange => format!("[{low}, {high}]"),
                Operator::ValidValues => format!("[{low}, {high}]"),
                Operator::Length | Operator::MinLength | Operator::MaxLength => "1".to_owned(),
                Operator::Pattern | Operator::Schema => "a".to_owned(),
                _ => low.to_owned(),
            };
            let expected = if allows(operator, kind) { "" } else { "invalid-constraint" };
            let schema = format!(
                "{{schema: {{type: {kind}, constraints: [{}: {operand}]}}}}",
                operator.keyname()
            );
            assert_eq!(found(&schema), expected, "{schema}");
        }
    }
}

#[test]
fn clauses_hold_as_the_order_says() {
    for (kind, low, high) in SAMPLES {
        let differ = low != high;
        let holds = |operator: &str, operand: &str, literal: &str| {
            let found =
                value(&format!("{{type: {kind}, constraints: [{operator}: {operand}]}}"), literal);
            assert!(
                matches!(&*found, "" | "violated-constraint"),
                "{kind} {operator} {operand} {literal}: {found}"
            );
            found.is_empty()
        };
        assert!(
            holds("equal", low, low) && holds("valid_values", &format!("[{high}, {low}]"), low),
            "{kind}"
        );
        assert_eq!(holds("equal", low, high), !differ, "{kind}");
        assert_eq!(holds("valid_values", &format!("[{high}]"), low), !differ, "{kind}");
        if allows(Operator::GreaterThan, kind) {
            let tests = [
                ("greater_than", [false, false, true]),
                ("greater_or_equal", [false, true, true]),
                ("less_than", [true, false, false]),
                ("less_or_equal", [true, true, false]),
            ];
            for (operator, expected) in tests {
                let actual = [
                    holds(operator, high, low),
                    holds(operator, low, low),
                    holds(operator, low, high),
                ];
                assert_eq!(actual, expected, "{kind} {operator}");
            }
            assert!(
                holds("in_range", &format!("[{low}, {high}]"), low)
                    && holds("in_range", &format!("[{low}, {high}]"), high)
            );
            assert!(
                !holds("in_range", &format!("[{high}, {high}]"), low)
                    && !holds("in_range", &format!("[{low}, {low}]"), high)
            );
            assert!(holds("in_range", &format!("[{low}, UNBOUNDED]"), high));
        }
    }
    let range = |operand: &str, literal: &str| {
        value(&format!("{{type: range, constraints: [in_range: {operand}]}}"), literal)
    };
    assert_eq!(range("[1, 5]", "[1, 5]"), "");
    assert_eq!(range("[1, 5]", "[0, 5]"), "violated-constraint");
    assert_eq!(range("[1, 5]", "[1, UNBOUNDED]"), "violated-constraint");
    assert_eq!(range("[1, UNBOUNDED]", "[2, UNBOUNDED]"), "");
    for (kind, literal) in [("string", "äöü"), ("list", "[1, 2, 3]"), ("map", "{a: 1, b: 2, c: 3}")]
    {
        for (operator, expected) in [
            ("length", [false, true, false]),
            ("min_length", [true, true, false]),
            ("max_length", [false, true, true]),
        ] {
            let actual = [2, 3, 4].map(|length| {
                value(&format!("{{type: {kind}, constraints: [{operator}: {length}]}}"), literal)
                    .is_empty()
            });
            assert_eq!(actual, expected, "{kind} {operator}");
        }
    }
}

#[test]
fn operands_fit_their_types() {
    let cases = [
        ("{type: integer, constraints: [equal: a]}", "invalid-constraint"),
        ("{type: integer, constraints: [3]}", ""),
        ("{type: integer, constraints: [equl: 3]}", "invalid-constraint"),
        ("{type: integer, constraints: [{equal: 3, less_than: 4}]}", "invalid-template"),
        ("{type: integer, constraints: {equal: 3}}", "invalid-template"),
        (
            "{type: integer, constraints: [valid_values: [1, a, b]]}",
            "invalid-constraint invalid-constraint",
        ),
        ("{type: integer, constraints: [valid_values: 1]}", "invalid-constraint"),
        ("{type: integer, constraints: [in_range: [4, 1]]}", "invalid-constraint"),
        ("{type: integer, constraints: [in_range: [1, UNBOUNDED]]}", ""),
        ("{type: integer, constraints: [in_range: [UNBOUNDED, 1]]}", "invalid-constraint"),
        ("{type: integer, constraints: [in_range: [1, 2, 3]]}", "invalid-constraint"),
        ("{type: integer, constraints: [in_range: 1]}", "invalid-constraint"),
        ("{type: integer, constraints: [in_range: {get_input: r}]}", "?"),
        ("{type: integer, constraints: [greater_than: {get_input: r}]}", "?"),
        ("{type: range, constraints: [in_range: [1.5, 2]]}", "invalid-constraint"),
        ("{type: string, constraints: [length: -1]}", "invalid-constraint"),
        ("{type: string, constraints: [length: a]}", "invalid-constraint"),
        ("{type: string, constraints: [pattern: '(']}", "invalid-constraint"),
        ("{type: string, constraints: [pattern: 1]}", "invalid-constraint"),
        ("{type: string, constraints: [pattern: '(?=a)']}", "?"),
        ("{type: string, constraints: [schema: {}]}", "invalid-constraint"),
        ("{type: scalar-unit.size, constraints: [greater_than: 1 s]}", "invalid-constraint"),
        ("{type: Unheard, constraints: [greater_than: 1 s]}", "?"),
        (
            "{type: list, entry_schema: {type: integer, constraints: [max_length: 128]}}",
            "invalid-constraint",
        ),
        (
            "{type: map, key_schema: {type: string, constraints: [greater_than: 1]}}",
            "invalid-constraint",
        ),
        (
            "{type: Phone, constraints: [equal: {country: a}]}",
            "invalid-constraint invalid-constraint",
        ),
        ("[]", "invalid-template"),
        ("{type: 1}", "invalid-template"),
    ];
    for (schema, expected) in cases {
        assert_eq!(found(&format!("{{schema: {schema}}}")), expected, "{schema}");
    }
}

#[test]
fn defaults_fit_their_definitions() {
    let cases: [(&str, &[Code]); 8] = [
        ("{type: integer, default: 1}", &[]),
        ("{type: integer, default: a}", &[Code::InvalidValue]),
        (
            "{type: integer, default: 1, constraints: [greater_than: 1]}",
            &[Code::ViolatedConstraint],
        ),
        ("{type: integer, default: {get_input: a}}", &[]),
        ("{type: integer, value: a, default: b}", &[Code::InvalidValue, Code::InvalidValue]),
        (
            "{type: Phone, default: {nmber: a}}",
            &[Code::UnknownProperty, Code::MissingProperty, Code::MissingProperty],
        ),
        ("{type: integer, constraints: [length: 1]}", &[Code::InvalidConstraint]),
        ("{required: 1}", &[Code::InvalidTemplate]),
    ];
    let types = document(&types_text());
    let types = Types::of(&types);
    for (text, expected) in cases {
        let document = document(&format!("name: {text}"));
        let (key, body) = document.root().entries().next().unwrap();
        for read in [property, parameter] {
            let mut diagnostics = Diagnostics::default();
            let definition = read(key, body, &mut diagnostics);
            diagnostics.0.extend(check_definition(&definition, &types).diagnostics);
            assert_eq!(
                diagnostics.0.iter().map(|found| found.code).collect::<Vec<_>>(),
                expected,
                "{text}"
            );
        }
    }
}

#[test]
fn a_parameter_without_a_type_takes_any_value() {
    for text in ["name: {value: {get_attribute: [a, b]}}", "name: 3", "name: {country: 1}"] {
        let document = document(text);
        let (key, body) = document.root().entries().next().unwrap();
        let mut diagnostics = Diagnostics::default();
        let definition = parameter(key, body, &mut diagnostics);
        assert!(
            definition.expected().is_none()
                && definition.value.is_some()
                && diagnostics.0.is_empty(),
            "{text}"
        );
    }
}

#[test]
fn problems_say_where_they_are_and_what_to_do() {
    let sources = SourceMap::default();
    let text = "ports: [80, '81']\nphne: {}\n";
    sources.add("t.yaml", text);
    let document = document(text);
    let types = document_types();
    let types = Types::of(&types);
    let mut diagnostics = Diagnostics::default();
    let definitions = document_definitions();
    let definitions: Vec<_> = definitions
        .root()
        .entries()
        .map(|(key, body)| property(key, body, &mut diagnostics))
        .collect();
    let root = document.root();
    let findings = check_assignments(
        Some(root),
        &definitions.iter().collect::<Vec<_>>(),
        "the node `shop`",
        root.span(),
        &types,
        false,
    );
    let lines: Vec<_> = findings
        .diagnostics
        .iter()
        .map(|found| {
            format!(
                "{} ({}; {})",
                found.one_line(&sources),
                found.rule.as_ref().unwrap().section,
                found.help.as_deref().unwrap_or("-")
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            "t.yaml:1:13: error[invalid-value]: expected a `Port`, which is an integer, got `81` (3.3.1; write it without quotes: `81`)",
            "t.yaml:2:1: error[unknown-property]: the node `shop` has no property `phne` (3.6.11; did you mean `phone`?)",
            "t.yaml:1:1: error[missing-property]: the node `shop` needs a value of the property `phone` (3.6.10.5; -)",
        ]
    );
}

fn document_types() -> Document {
    document(&types_text())
}

fn document_definitions() -> Document {
    document(
        "ports: {type: list, entry_schema: Port}\nphone: {type: Phone}\nnote: {type: string, required: false}",
    )
}

/// The units of each dimension, written independently of the code, with their size in the smallest
/// unit.
const UNITS: [(&str, &[(&str, i128)]); 4] = [
    (
        "scalar-unit.size",
        &[
            ("B", 1),
            ("kB", 1000),
            ("KiB", 1 << 10),
            ("MB", 1_000_000),
            ("MiB", 1 << 20),
            ("GB", 1_000_000_000),
            ("GiB", 1 << 30),
            ("TB", 1_000_000_000_000),
            ("TiB", 1 << 40),
        ],
    ),
    (
        "scalar-unit.time",
        &[
            ("ns", 1),
            ("us", 1000),
            ("ms", 1_000_000),
            ("s", 1_000_000_000),
            ("m", 60_000_000_000),
            ("h", 3_600_000_000_000),
            ("d", 86_400_000_000_000),
        ],
    ),
    (
        "scalar-unit.frequency",
        &[("Hz", 1), ("kHz", 1000), ("MHz", 1_000_000), ("GHz", 1_000_000_000)],
    ),
    (
        "scalar-unit.bitrate",
        &[
            ("bps", 1),
            ("Kbps", 1000),
            ("Kibps", 1 << 10),
            ("Mbps", 1_000_000),
            ("Mibps", 1 << 20),
            ("Gbps", 1_000_000_000),
            ("Gibps", 1 << 30),
            ("Tbps", 1_000_000_000_000),
            ("Tibps", 1 << 40),
            ("Bps", 8),
            ("KBps", 8000),
            ("KiBps", 8 << 10),
            ("MBps", 8_000_000),
            ("MiBps", 8 << 20),
            ("GBps", 8_000_000_000),
            ("GiBps", 8 << 30),
            ("TBps", 8_000_000_000_000),
            ("TiBps", 8 << 40),
        ],
    ),
];

#[test]
fn every_unit_is_worth_what_the_tables_say() {
    for (kind, units) in UNITS {
        let (smallest, _) = units[0];
        for (unit, worth) in units {
            assert_eq!(
                literal_order(kind, &format!("1 {unit}"), &format!("{worth} {smallest}")),
                Some(std::cmp::Ordering::Equal),
                "{unit}"
            );
        }
    }
}

/// An amount as text, and its exact value in thousandths of the smallest unit.
fn amount(dimension: usize) -> impl Strategy<Value = (String, i128)> {
    let (_, units) = UNITS[dimension];
    // A small set of numbers makes equal amounts in different units likely.
    (
        prop_oneof![-3000i128..3000, (-3i128..4).prop_map(|whole| whole * 1000)],
        0..units.len(),
        0..3usize,
    )
        .prop_map(move |(thousandths, unit, spaces)| {
            let (unit, factor) = units[unit];
            let (sign, size) = (if thousandths < 0 { "-" } else { "" }, thousandths.unsigned_abs());
            let text =
                format!("{sign}{}.{:03}{}{unit}", size / 1000, size % 1000, " ".repeat(spaces));
            (text, thousandths * factor)
        })
}

fn literal_order(kind: &str, a: &str, b: &str) -> Option<std::cmp::Ordering> {
    let [a, b] = [a, b].map(|text| document(&format!("'{text}'")));
    let kind = Primitive::from_name(kind).unwrap();
    let read = |document| literal::Literal::read(Document::root(document).into(), kind).unwrap();
    read(&a).compare(&read(&b))
}

fn version_text() -> impl Strategy<Value = (String, [u32; 3], Option<(&'static str, u32)>)> {
    let qualifier =
        proptest::option::of((prop_oneof![Just("alpha"), Just("beta"), Just("rc-x")], 0u32..12));
    ([1u32..2, 9..11, 0..2], qualifier, any::<bool>()).prop_map(|(numbers, qualifier, short)| {
        let [major, minor, fix] = numbers;
        let text = match qualifier {
            Some((name, build)) => format!("{major}.{minor}.{fix}.{name}-{build}"),
            None if short && fix == 0 => format!("{major}.{minor}"),
            None => format!("{major}.{minor}.{fix}"),
        };
        (text, numbers, qualifier)
    })
}

/// A schema, a value of it, and the same value with an error in it.
fn schema_and_values() -> impl Strategy<Value = (String, String, String)> {
    let leaf = prop_oneof![
        (0i64..99).prop_map(|n| (
            format!("{{type: integer, constraints: [in_range: [{n}, {}]]}}", n + 3),
            n.to_string(),
            (n + 4).to_string()
        )),
        "[a-z]{3,5}".prop_map(|t| (
            format!("{{type: string, constraints: [length: {}]}}", t.len()),
            format!("'{t}'"),
            format!("'{t}x'")
        )),
        any::<bool>().prop_map(|b| ("boolean".to_owned(), b.to_string(), format!("'{b}'"))),
        (1u8..9).prop_map(|n| (
            "{type: scalar-unit.size, constraints: [less_than: 9 GiB]}".to_owned(),
            format!("{n} GiB"),
            format!("{n} GHz")
        )),
        (1u8..9).prop_map(|n| (
            "version".to_owned(),
            format!("1.{n}.0.beta-{n}"),
            format!("1.{n}.0.beta-x")
        )),
        (1u8..9).prop_map(|n| (
            "range".to_owned(),
            format!("[{n}, {n}]"),
            format!("[{n}, {}]", n - 1)
        )),
        (1u8..9).prop_map(|n| (
            "timestamp".to_owned(),
            format!("2020-01-0{n}"),
            format!("2020-0{n}")
        )),
        (2u8..9).prop_map(|n| (
            "Phone".to_owned(),
            format!("{{country: {n}, number: ab}}"),
            format!("{{country: {n}}}")
        )),
        (2u8..9).prop_map(|n| (
            "Phone".to_owned(),
            format!("{{country: {n}, number: ab}}"),
            format!("{{country: {n}, number: ab, x: {n}}}")
        )),
    ];
    leaf.prop_recursive(4, 16, 3, |part| {
        (part, 1usize..4, 0usize..3, any::<bool>()).prop_map(
            |((schema, valid, invalid), count, wrong, list)| {
                let entries = |wrong: Option<usize>| {
                    let entry =
                        |index| if Some(index) == wrong { invalid.clone() } else { valid.clone() };
                    let entries = (0..count).map(|index| {
                        if list { entry(index) } else { format!("k{index}: {}", entry(index)) }
                    });
                    let entries = entries.collect::<Vec<_>>().join(", ");
                    if list { format!("[{entries}]") } else { format!("{{{entries}}}") }
                };
                let kind = if list { "list" } else { "map" };
                let schema = format!(
                    "{{type: {kind}, entry_schema: {schema}, constraints: [max_length: {count}]}}"
                );
                (schema, entries(None), entries(Some(wrong % count)))
            },
        )
    })
}

proptest! {
    #[test]
    fn amounts_are_ordered_as_exact_arithmetic_has_it(
        (dimension, amounts) in (0usize..4).prop_flat_map(|dimension| (Just(dimension), [amount(dimension), amount(dimension), amount(dimension)]))
    ) {
        let (kind, _) = UNITS[dimension];
        for (a, exact_a) in &amounts {
            for (b, exact_b) in &amounts {
                prop_assert_eq!(literal_order(kind, a, b), Some(exact_a.cmp(exact_b)), "{} {}", a, b);
            }
        }
    }

    #[test]
    fn versions_are_ordered_within_their_branch((a, numbers_a, qualifier_a) in version_text(), (b, numbers_b, qualifier_b) in version_text()) {
        let expected = match (numbers_a.cmp(&numbers_b), qualifier_a, qualifier_b) {
            (std::cmp::Ordering::Equal, Some((name_a, build_a)), Some((name_b, build_b))) => (name_a == name_b).then(|| build_a.cmp(&build_b)),
            (order, a, b) => Some(order.then(a.is_none().cmp(&b.is_none()))),
        };
        prop_assert_eq!(literal_order("version", &a, &b), expected, "{} {}", a, b);
        prop_assert_eq!(literal_order("version", &b, &a), expected.map(std::cmp::Ordering::reverse));
    }

    #[test]
    fn a_value_of_a_schema_is_valid_and_a_spoilt_one_is_not((schema, valid, spoilt) in schema_and_values()) {
        prop_assert_eq!(found(&format!("{{schema: {schema}}}")), "");
        prop_assert_eq!(value(&schema, &valid), "");
        let codes = value(&schema, &spoilt);
        prop_assert!(!codes.is_empty() && !codes.contains(' '), "{} {}: {}", schema, spoilt, codes);
        let own = format!("{{type: {}, entry_schema: {schema}, constraints: [equal: [{valid}]]}}", "list");
        prop_assert_eq!(value(&own, &format!("[{valid}]")), "");
    }

    #[test]
    fn nothing_panics(kind in 0usize..16, operator in 0usize..12, text in "[-0-9a-zGB.,:+TZ ]{0,14}", operand in "[-0-9a-z.(\\[\\\\|*?{}, ]{0,10}") {
        let quoted = |text: &str| format!("'{text}'");
        let (kind, ..) = SAMPLES[kind];
        let schema = format!("{{type: {kind}, constraints: [{}: {}]}}", Operator::ALL[operator].keyname(), quoted(&operand));
        found(&format!("{{schema: {schema}}}"));
        value(&schema, &quoted(&text));
    }
}

/// Every definition under `properties` or `attributes`, anywhere in the document.
fn definitions<'a>(
    node: Node<'a>,
    found: &mut Vec<PropertyDefinition<'a>>,
    diagnostics: &mut Diagnostics,
) {
    for (key, value) in node.entries() {
        if matches!(key.text(), Some("properties" | "attributes")) {
            found.extend(value.entries().map(|(key, body)| property(key, body, diagnostics)));
        }
        definitions(value, found, diagnostics);
    }
    node.items().for_each(|item| definitions(item, found, diagnostics));
}

#[test]
fn definitions_of_the_profile_fit_their_types() {
    let profile = document(include_str!("../../../presets/profiles/tosca_simple_1_3.yaml"));
    let types = Types::of(&profile);
    let (mut found, mut diagnostics) = (Vec::new(), Diagnostics::default());
    definitions(profile.root(), &mut found, &mut diagnostics);
    assert!(found.len() > 50, "{}", found.len());
    let sources = SourceMap::default();
    sources.add("profile.yaml", include_str!("../../../presets/profiles/tosca_simple_1_3.yaml"));
    for definition in &found {
        let findings = check_definition(definition, &types);
        diagnostics.0.extend(findings.undecided.iter().map(Undecided::diagnostic));
        diagnostics.0.extend(findings.diagnostics);
    }
    for (name, _, _, schema) in &types.0 {
        let own = Schema::of(name);
        for clause in &schema.constraints {
            diagnostics.0.extend(check_constraint_definition(clause, &own, &types).diagnostics);
        }
    }
    let lines: Vec<_> = diagnostics.0.iter().map(|found| found.one_line(&sources)).collect();
    assert!(lines.is_empty(), "{lines:#?}");
}

#[test]
fn equality_of_nested_maps_is_linear_in_their_depth() {
    let depth = 100;
    let nested = format!("{}1{}", "{a: ".repeat(depth), "}".repeat(depth));
    assert_eq!(value(&format!("{{type: map, constraints: [equal: {nested}]}}"), &nested), "");
}
