use super::assignment::AssignmentSource;
use super::features::FeatureKeyword;
use super::*;
use crate::diagnostic::Severity;
use crate::tosca::value::Primitive;
use cuvee_text::source::FileId;
use cuvee_text::value::{Number, Value};
use cuvee_text::yaml::{Document, Limits, parse};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

const FILE: FileId = FileId::new(0);

fn document(text: &str) -> Document {
    parse(FILE, text.into(), &Limits::default())
        .unwrap_or_else(|error| panic!("{text}: {}", error.message))
}

/// The messages of diagnostics, each after its severity and code, and before its help.
fn said(diagnostics: &Diagnostics) -> Vec<String> {
    let one = |diagnostic: &Diagnostic| {
        let severity = if diagnostic.severity == Severity::Error { "" } else { "warning " };
        let help = diagnostic.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
        format!("{severity}{}: {}{help}", diagnostic.code, diagnostic.message)
    };
    diagnostics.0.iter().map(one).collect()
}

/// The text that the places of diagnostics cover.
fn places<'t>(diagnostics: &Diagnostics, text: &'t str) -> Vec<&'t str> {
    let covered = |diagnostic: &Diagnostic| {
        diagnostic.span.map_or("", |span| &text[span.start as usize..span.end as usize])
    };
    diagnostics.0.iter().map(covered).collect()
}

/// The messages about the declaration of an input, and about each of these values of it.
fn checked(declared: &str, values: &[Value]) -> (Vec<String>, Vec<Vec<String>>) {
    let document = document(&format!("x: {declared}"));
    let mut diagnostics = Diagnostics::default();
    let declarations = Declarations::parse(Some(document.root()), &mut diagnostics);
    let declaration = declarations.get(InputId(0)).unwrap();
    let problems = |value: &Value| {
        let value = declaration.read_value(value.clone());
        declaration.problems(&value).into_iter().map(|problem| problem.message).collect()
    };
    (said(&diagnostics), values.iter().map(problems).collect())
}

fn constrained(kind: &str, keyname: &str, operand: &Value) -> String {
    let operand = serde_json::to_string(operand).unwrap();
    format!("{{type: {kind}, constraints: [{{{keyname}: {operand}}}]}}")
}

fn list<T: Into<Value>>(items: impl IntoIterator<Item = T>) -> Value {
    items.into_iter().map(Into::into).collect::<Vec<_>>().into()
}

/// Declares inputs and assigns values; returns all messages and every value.
fn assigned(declared: &str, assignments: Vec<Assignment>) -> (Vec<String>, Vec<String>) {
    let document = document(declared);
    let mut diagnostics = Diagnostics::default();
    let declarations = Declarations::parse(Some(document.root()), &mut diagnostics);
    let values = assign(&declarations, assignments, InputMode::Closed, &mut diagnostics);
    let shown = declarations.iter().map(|(id, declaration)| {
        let value = match values.get(id) {
            InputValue::Assigned(value) => format!("assigned {value}"),
            InputValue::Default(value) => format!("default {value}"),
            InputValue::Expression(node) => format!("expression {}", node.to_value()),
            InputValue::Missing => "missing".to_owned(),
            InputValue::Open => "open".to_owned(),
        };
        format!("{}: {value}", declaration.name)
    });
    (said(&diagnostics), shown.collect())
}

#[test]
fn declarations_are_a_map_or_a_list() {
    let map = "a: {type: string, description: An a}\nb:\nc: {type: boolean, requires: [a, b], excludes: d}\nd: {}";
    let sequence = "- a: {type: string, description: An a}\n- b:\n- c: {type: boolean, requires: [a, b], excludes: d}\n- d: {}";
    for text in [map, sequence] {
        let document = document(text);
        let mut diagnostics = Diagnostics::default();
        let declarations = Declarations::parse(Some(document.root()), &mut diagnostics);
        assert_eq!(said(&diagnostics), [""; 0]);
        let names: Vec<_> = declarations
            .iter()
            .map(|(_, declaration)| (declaration.name, declaration.primitive()))
            .collect();
        let expected = [
            ("a", Some(Primitive::String)),
            ("b", None),
            ("c", Some(Primitive::Boolean)),
            ("d", None),
        ];
        assert_eq!(names, expected);
        assert_eq!(declarations.get(InputId(0)).unwrap().description, Some("An a"));
        let rules = &declarations.get(declarations.id("c").unwrap()).unwrap().rules;
        assert_eq!(rules[0].targets, [InputId(0), InputId(1)]);
        assert_eq!(rules[1].targets, [InputId(3)]);
    }
    assert_eq!(Declarations::parse(None, &mut Diagnostics::default()).len(), 0);
}

#[test]
fn mistakes_in_declarations_are_all_reported() {
    let text = "mode: {tpye: string, colour: red, required: true, requires: [mdoe, [x]]}
list: [1]
- x
";
    assert!(parse(FILE, text.into(), &Limits::default()).is_err());
    let text = "mode: {tpye: string, colour: red, required: true, requires: [mdoe, [x]]}
sum: 5
named: {type: [string], constraints: {min_length: 1}}
bound: {type: integer, constraints: [{min: 1}, {greater_than: a}, {in_range: [1]}, {length: -1}, [1]]}
";
    let document = document(text);
    let mut diagnostics = Diagnostics::default();
    Declarations::parse(Some(document.root()), &mut diagnostics);
    assert_eq!(
        said(&diagnostics),
        [
            "unknown-keyword: `tpye` is no keyword of a variability input (did you mean `type`?)",
            "unknown-keyword: `colour` is no keyword of a variability input (a variability input has `type`, `description`, `default`, \
             `default_expression`, `constraints`, `entry_schema`, `mandatory`, `optional`, `choices`, `alternatives`, `requires`, `excludes`)",
            "invalid-input: `requires` names `mdoe`, which is not a declared variability input (did you mean `mode`?)",
            "invalid-template: `requires` has to list names of variability inputs, not a list",
            "invalid-template: the declaration of the variability input `sum` must be a map, not a number (write its value as `default`)",
            "invalid-template: `type` has to be a string, not a list",
            "invalid-template: `constraints` has to be a list of constraint clauses, not a map",
            "invalid-input: `min` is no operator of a constraint clause (there are `equal`, `greater_than`, `greater_or_equal`, `less_than`, \
             `less_or_equal`, `in_range`, `valid_values`, `length`, `min_length`, `max_length`, `pattern`, `schema`)",
            "invalid-template: a constraint clause has to be a map with one key, such as `min_length: 1`, not a list",
            "invalid-input: the operand of `greater_than` does not fit: expected an integer, got `a`",
            "invalid-input: `in_range` needs a list of a lower and an upper bound, not a list",
            "invalid-input: `length` constrains strings, lists and maps, not values of `integer`",
        ]
    );
    let expected = [
        "tpye",
        "colour",
        "mdoe",
        "[x]",
        "5",
        "[string]",
        "{min_length: 1}",
        "min",
        "[1]",
        "a",
        "[1]",
        "length",
    ];
    assert_eq!(places(&diagnostics, text), expected);
}

#[test]
fn an_input_is_declared_once() {
    let document = document("- a: {type: string}\n- a: {type: integer}\n- {b: {}, c: {}}\n- d");
    let mut diagnostics = Diagnostics::default();
    let declarations = Declarations::parse(Some(document.root()), &mut diagnostics);
    assert_eq!(declarations.len(), 1);
    assert_eq!(
        said(&diagnostics),
        [
            "invalid-template: a variability input in a list must be a map with its name as only key",
            "invalid-template: a variability input in a list must be a map with its name as only key",
            "duplicate: the variability input `a` is declared twice",
        ]
    );
    assert_eq!(diagnostics.0[2].labels.len(), 1);
}

#[test]
fn a_value_is_assigned_or_default_or_expression_or_missing() {
    let declared = "
a: {type: string, default: x}
b: {default: {concat: [x, y]}}
c: {default: {concat: [x, y], also: this}}
d: {default: {concatenate: [x, y]}}
e: {default_expression: {add: [1, 2]}}
f: {default: 1, default_expression: {add: [1, 2]}}
g: {type: string}
h: {type: version, default: 1.10}
i: {default: {variability_input: a}}
j: {default: {or: []}}
k: {default: }
";
    let (said, values) =
        assigned(declared, vec![Assignment::new("g", "first"), Assignment::new("g", "last")]);
    assert_eq!(said, [""; 0]);
    assert_eq!(
        values,
        [
            "a: default x",
            "b: expression {concat: [x, y]}",
            "c: default {concat: [x, y], also: this}",
            "d: default {concatenate: [x, y]}",
            "e: expression {add: [1, 2]}",
            "f: default 1",
            "g: assigned last",
            "h: default 1.10",
            "i: expression {variability_input: a}",
            "j: expression {or: []}",
            "k: default null",
        ]
    );
}

#[test]
fn a_later_value_replaces_an_earlier_one_whole() {
    let first = Assignment::new("a", list([1, 2, 3]));
    let (said, values) = assigned("a: {type: list}", vec![first, Assignment::new("a", list([4]))]);
    assert_eq!((said, values), (vec![], vec!["a: assigned [4]".to_owned()]));
}

#[test]
fn values_that_do_not_fit_are_all_reported() {
    let declared = "
mode: {type: string, constraints: [{min_length: 3}, {pattern: '[a-z]+'}]}
port: {type: integer, constraints: [{in_range: [1, UNBOUNDED]}]}
size: {type: scalar-unit.size, constraints: [{less_or_equal: 1 GB}]}
flag: {type: boolean}
";
    let assignments = vec![
        Assignment::new("mode", "A"),
        Assignment::new("port", 0),
        Assignment::new("size", "1.5 GiB"),
        Assignment::new("flag", "yes"),
        Assignment::new("mod", "x"),
        Assignment {
            source: AssignmentSource::Preset("prod".into()),
            ..Assignment::new("zebra", 1)
        },
        Assignment { source: AssignmentSource::FeatureModel, ..Assignment::new("root", true) },
    ];
    assert_eq!(
        assigned(declared, assignments).0,
        [
            "invalid-input: the call assigns `mod`, which is not a declared variability input (did you mean `mode`?)",
            "invalid-input: the preset `prod` assigns `zebra`, which is not a declared variability input \
             (declared are `mode`, `port`, `size`, `flag`)",
            "invalid-input: the call assigns `mode` a value that does not fit: `A` violates `min_length: 3`",
            "invalid-input: the call assigns `mode` a value that does not fit: `A` violates `pattern: [a-z]+`",
            "invalid-input: the call assigns `port` a value that does not fit: `0` violates `in_range: [1, UNBOUNDED]`",
            "invalid-input: the call assigns `size` a value that does not fit: `1.5 GiB` violates `less_or_equal: 1 GB`",
            "warning invalid-input: the call assigns `flag` a value that does not fit: expected `true` or `false`, got a string `yes` \
             (any string counts as true; write `true` or `false`)",
        ]
    );
    let wrong =
        [("mode", Value::from(5)), ("port", "80".into()), ("port", 1.5.into()), ("flag", 1.into())];
    let wrong = wrong
        .map(|(name, value)| assigned(declared, vec![Assignment::new(name, value)]).0.concat());
    assert_eq!(
        wrong,
        [
            "invalid-input: the call assigns `mode` a value that does not fit: expected a string, got a number `5` \
             (write it in quotes: `\"5\"`)",
            "invalid-input: the call assigns `port` a value that does not fit: expected an integer, got a string `80` (write it without quotes: `80`)",
            "invalid-input: the call assigns `port` a value that does not fit: expected an integer, got a number `1.5`",
            "invalid-input: the call assigns `flag` a value that does not fit: expected `true` or `false`, got a number `1`",
        ]
    );
}

#[test]
fn a_default_of_another_type_is_a_warning() {
    let (said, values) = assigned(
        "a: {type: boolean, default: yes}\nb: {type: integer, default: 1, constraints: [equal: 2]}",
        vec![],
    );
    assert_eq!(
        said,
        [
            "warning invalid-input: the default of the variability input `a` does not fit: expected `true` or `false`, got a string `yes` (write `true`)",
            "invalid-input: the default of the variability input `b` does not fit: `1` violates `equal: 2`",
        ]
    );
    assert_eq!(values, ["a: default yes", "b: default 1"]);
}

#[test]
fn presets_assign_in_the_order_they_are_chosen() {
    let text = "
base: {name: Base, description: The base, inputs: {mode: dev, size: 1}}
prod: {inputs: {mode: prod}}
none:
empty: {inputs: }
";
    let document = document(text);
    let mut diagnostics = Diagnostics::default();
    let presets = VariabilityPresets::parse(Some(document.root()), &mut diagnostics);
    assert_eq!(presets.0.first().and_then(|preset| preset.name), Some("Base"));
    let chosen = presets.assignments(&["base", "prod", "none", "empty"], &mut diagnostics);
    assert_eq!(said(&diagnostics), [""; 0]);
    let shown: Vec<_> =
        chosen.iter().map(|one| format!("{} {} {}", one.name, one.value, one.source)).collect();
    assert_eq!(
        shown,
        ["mode dev the preset `base`", "size 1 the preset `base`", "mode prod the preset `prod`"]
    );
    presets.assignments(&["pord", "other"], &mut diagnostics);
    assert_eq!(
        said(&diagnostics),
        [
            "unknown-preset: there is no variability preset `pord` (did you mean `prod`?)",
            "unknown-preset: there is no variability preset `other` (there are `base`, `prod`, `none`, `empty`)",
        ]
    );
}

#[test]
fn mistakes_in_presets_are_reported() {
    let document =
        document("dev: {mode: dev}\nprod: {inptus: {mode: prod}}\nlist: [1]\nedge: {inputs: [1]}");
    let mut diagnostics = Diagnostics::default();
    VariabilityPresets::parse(Some(document.root()), &mut diagnostics)
        .assignments(&["edge"], &mut diagnostics);
    assert_eq!(
        said(&diagnostics),
        [
            "unknown-keyword: `mode` is no keyword of a variability preset (the values of a preset belong under `inputs`)",
            "unknown-keyword: `inptus` is no keyword of a variability preset (did you mean `inputs`?)",
            "invalid-template: the variability preset `list` must be a map, not a list (its values belong under `inputs`)",
            "invalid-input: expected a map from names of variability inputs to their values, not a list",
        ]
    );
}

#[test]
fn the_environment_assigns_whatever_the_case() {
    let document = document("region: {type: string}\nMaxSize: {type: integer}\n");
    let mut diagnostics = Diagnostics::default();
    let declarations = Declarations::parse(Some(document.root()), &mut diagnostics);
    let variables = [
        ("PATH", "/bin"),
        ("CUVEE_INPUT_REGION", "eu"),
        ("CUVEE_INPUT_MAXSIZE", "3"),
        ("CUVEE_INPUT_OTHER", "[1"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let found = from_environment(&variables, &declarations, &mut diagnostics);
    let shown: Vec<_> = found.iter().map(|one| format!("{} {}", one.name, one.value)).collect();
    assert_eq!(shown, ["MaxSize 3", "region eu"]);
    assert_eq!(diagnostics.0.len(), 1);
    assert_eq!((diagnostics.0[0].code, diagnostics.0[0].span), (Code::Syntax.into(), None));
    assert!(diagnostics.0[0].message.starts_with(
        "the environment variable `CUVEE_INPUT_OTHER` assigns `other` what is no YAML: "
    ));
}

#[test]
fn presets_come_from_the_environment_as_a_list() {
    let variables = [
        ("CUVEE_PRESETS".to_owned(), "base, prod,,".to_owned()),
        ("CUVEE_PRESET".to_owned(), "x".to_owned()),
    ];
    assert_eq!(presets_from_environment(&variables), ["base", "prod"]);
}

#[test]
fn the_text_of_a_call_is_yaml() {
    let values = [
        ("eu", Value::from("eu")),
        ("1", 1.into()),
        ("'1'", "1".into()),
        ("[a, b]", list(["a", "b"])),
        ("", Value::Null),
    ];
    for (text, value) in values {
        let read = Assignment { source: AssignmentSource::Text, ..Assignment::new("a", value) };
        assert_eq!(parse_assignment_text("a", text), Ok(read));
    }
    assert_eq!(
        parse_assignment_text("a", "[").map_err(|error| (error.code, error.span)),
        Err((Code::Syntax.into(), None))
    );
}

#[test]
fn files_are_read_by_their_kind() {
    let read = |path: &str, text: &str| {
        let found = read_file(Path::new(path), FILE, &text.into(), &Limits::default())?;
        Ok(found.iter().map(|one| format!("{} {}", one.name, one.value)).collect::<Vec<_>>())
    };
    let read = |path: &str, text: &str| {
        read(path, text).map_err(|Diagnostics(mut errors)| {
            let error = errors.remove(0);
            format!("{}: {}", error.code, error.message)
        })
    };
    assert_eq!(read("a.yaml", "a: 1\nb: [x]"), Ok(vec!["a 1".to_owned(), "b [x]".to_owned()]));
    assert_eq!(read("a.json", r#"{"a": true}"#), Ok(vec!["a true".to_owned()]));
    assert_eq!(read("a.yaml", ""), Ok(vec![]));
    assert_eq!(
        read("config", " <configuration><feature name='A'/></configuration>"),
        Ok(vec!["a false".to_owned()])
    );
    assert_eq!(
        read("a.XML", "<configuration><feature name='A'/></configuration>"),
        Ok(vec!["a false".to_owned()])
    );
    let error = "invalid-input: expected a map from names of variability inputs to their values, not a list";
    assert_eq!(read("a.yaml", "[1]"), Err(error.to_owned()));
}

#[test]
fn a_feature_configuration_selects_booleans() {
    let text = r#"<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!-- a comment -->
<extendedConfiguration>
    <feature automatic="selected" manual="undefined" name="My Root"/>
    <feature automatic="undefined" manual="selected" name="A &amp; B"><attribute name="price" value="1"/></feature>
    <feature automatic="unselected" manual="undefined" name="Off"/>
    <feature name="bare"/>
</extendedConfiguration>
"#;
    let found = from_feature_ide(text, FILE).unwrap();
    let shown: Vec<_> = found.iter().map(|one| format!("{} {}", one.name, one.value)).collect();
    assert_eq!(shown, ["my_root true", "a_&_b true", "a_&_b_price 1", "off false", "bare false"]);
    let pointed = |at: usize| {
        let span = found[at].span.unwrap();
        &text[span.start as usize..span.end as usize]
    };
    assert_eq!(pointed(2), r#"<attribute name="price" value="1"/>"#);
    assert_eq!(pointed(4), r#"<feature name="bare"/>"#);
}

#[test]
fn attributes_of_features_are_assigned() {
    let text = r#"<configuration>
    <feature name="Web Shop">
        <attribute name="Items" value="12"/><attribute name="greeting" value="hello: world"/>
        <attribute name="__NAME" value="shop"/><attribute name="__name_greeting" value="hi"/>
        <attribute name="__full_name_items" value="limit"/><attribute name="__named" value="[1]"/>
        <feature name="inner"><attribute name="a" value="null"/></feature>
        <attribute name="b" value=""/>
    </feature>
    <attribute name="of nobody" value="1"/>
</configuration>"#;
    let found = from_feature_ide(text, FILE).unwrap();
    let shown: Vec<_> = found.iter().map(|one| format!("{} {}", one.name, one.value)).collect();
    let expected =
        ["shop false", "limit 12", "shop_hi hello: world", "shop___named [1]", "shop_b "];
    assert_eq!(shown[..5], expected);
    assert_eq!(shown[5..], ["inner false", "inner_a null"]);
}

#[test]
fn unsafe_or_broken_xml_is_refused() {
    let unnamed =
        "<configuration><feature name='a'><attribute value='1'/></feature></configuration>";
    let twice = "<configuration><feature name='a' name='b'/></configuration>";
    let cases = [
        (
            "<!DOCTYPE x [<!ENTITY a 'b'>]><configuration/>",
            "syntax",
            "a document type is not allowed",
        ),
        ("<configuration>&a;</configuration>", "syntax", "there is no entity `a`"),
        (
            "<configuration><feature name='&a;'/></configuration>",
            "syntax",
            "there is no entity `a`",
        ),
        ("<configuration>", "syntax", "is never closed"),
        ("<configuration></other>", "syntax", "is closed as `</other>`"),
        ("</configuration>", "syntax", "closes nothing"),
        (twice, "syntax", "the attribute `name` is there twice"),
        ("<configuration/><configuration/>", "syntax", "a second root element"),
        ("", "syntax", "the document has no root element"),
        ("<html/>", "invalid-input", "the root element is `html`"),
        ("<configuration><feature/></configuration>", "invalid-input", "a feature has no name"),
        (unnamed, "invalid-input", "an attribute has no name"),
    ];
    for (text, code, part) in cases {
        let error = from_feature_ide(text, FILE).expect_err(text).0.remove(0);
        assert_eq!(error.code.as_str(), code, "{text}: {}", error.message);
        assert!(error.message.contains(part), "{text}: {}", error.message);
    }
}

#[test]
fn types_admit_their_values() {
    let range = |low: i64, high: Value| Value::from(vec![Value::from(low), high]);
    let cases = [
        ("string", vec!["a".into()], vec![1.into(), true.into(), Value::Null]),
        ("integer", vec![1.into(), 4.0.into()], vec![1.5.into(), "1".into()]),
        ("float", vec![1.into(), 1.5.into()], vec!["1.5".into(), Value::Null]),
        ("number", vec![1.into(), 1.5.into()], vec![true.into()]),
        ("boolean", vec![true.into()], vec!["true".into(), 1.into()]),
        ("list", vec![list([1])], vec![Value::Map(Arc::from([])), 1.into()]),
        ("map", vec![Value::Map(Arc::from([]))], vec![list([1])]),
        (
            "timestamp",
            vec!["2024-01-01".into(), "2024-01-01T10:00:00Z".into()],
            vec!["now".into(), true.into()],
        ),
        ("version", vec!["1.10".into(), "1.0.0.beta-1".into()], vec!["1".into(), "v1.0".into()]),
        (
            "range",
            vec![range(1, 4.into()), range(1, "UNBOUNDED".into())],
            vec![range(4, 1.into()), list([1]), range(1, "x".into())],
        ),
        ("scalar-unit.size", vec!["4 GB".into()], vec!["4".into(), 4.into(), "4 GHz".into()]),
        ("scalar-unit.time", vec!["4 ms".into()], vec!["4 GB".into()]),
        ("scalar-unit.frequency", vec!["4 GHz".into()], vec!["4 GB".into()]),
        ("scalar-unit.bitrate", vec!["4 Mbps".into()], vec!["4 GB".into()]),
        ("my.own.type", vec![Value::Null, 1.into(), "a".into(), list([1])], vec![]),
    ];
    for (name, good, bad) in cases {
        let problems = |values: &[Value]| checked(&format!("{{type: {name}}}"), values).1;
        assert!(problems(&good).concat().is_empty(), "{name}: {:?}", problems(&good));
        assert!(problems(&bad).iter().all(|found| found.len() == 1), "{name} {:?}", problems(&bad));
    }
}

#[test]
fn a_version_is_the_text_it_was_written_as() {
    let document = document("x: {type: list, entry_schema: version}");
    let declarations = Declarations::parse(Some(document.root()), &mut Diagnostics::default());
    let written = Value::Number(Number::float(1.1).with_text("1.10"));
    let read = declarations.get(InputId(0)).unwrap().read_value(list([written]));
    assert_eq!(read, list(["1.10"]));
}

#[test]
fn clauses_hold_for_what_they_say() {
    // Type, clause, its operand, values that fulfil it, values that violate it.
    type Case = (&'static str, &'static str, Value, Vec<Value>, Vec<Value>);
    let cases: Vec<Case> = vec![
        ("integer", "equal", 2.into(), vec![2.into()], vec![3.into()]),
        ("string", "equal", "2".into(), vec!["2".into()], vec!["3".into()]),
        ("integer", "greater_than", 1.into(), vec![2.into()], vec![1.into()]),
        ("integer", "greater_or_equal", 1.into(), vec![1.into()], vec![0.into()]),
        ("integer", "less_than", 1.into(), vec![0.into()], vec![1.into()]),
        ("integer", "less_or_equal", 1.into(), vec![1.into()], vec![2.into()]),
        ("integer", "in_range", list([1, 4]), vec![1.into(), 4.into()], vec![0.into(), 5.into()]),
        (
            "integer",
            "in_range",
            vec![1.into(), "UNBOUNDED".into()].into(),
            vec![i64::MAX.into()],
            vec![0.into()],
        ),
        (
            "range",
            "in_range",
            list([1, 4]),
            vec![list([1, 4]), list([2, 3])],
            vec![list([0, 4]), list([1, 5])],
        ),
        (
            "range",
            "in_range",
            list([1, 4]),
            vec![],
            vec![vec![1.into(), "UNBOUNDED".into()].into()],
        ),
        (
            "string",
            "valid_values",
            list(["a", "b"]),
            vec!["a".into(), "b".into()],
            vec!["c".into()],
        ),
        ("string", "length", 2.into(), vec!["äb".into()], vec!["a".into(), "abc".into()]),
        ("list", "min_length", 2.into(), vec![list([1, 2])], vec![list([1])]),
        (
            "map",
            "max_length",
            0.into(),
            vec![Value::Map(Arc::from([]))],
            vec![Value::Map(Arc::from([("a".into(), Value::Null)]))],
        ),
        (
            "string",
            "pattern",
            "a|bc".into(),
            vec!["a".into(), "bc".into()],
            vec!["ac".into(), "bcd".into(), "xa".into()],
        ),
        ("string", "schema", "{}".into(), vec!["anything".into()], vec![]),
        (
            "version",
            "greater_or_equal",
            "1.9".into(),
            vec!["1.10".into(), "1.9.0".into()],
            vec!["1.8.9".into(), "1.9.0.beta".into()],
        ),
        (
            "timestamp",
            "less_than",
            "2024-01-01".into(),
            vec!["2024-01-01T00:30:00+01:00".into()],
            vec!["2024-01-01".into()],
        ),
        (
            "scalar-unit.size",
            "in_range",
            list(["4 GB", "20 GB"]),
            vec!["10 GB".into(), "4000 MB".into()],
            vec!["3 GB".into()],
        ),
        ("scalar-unit.size", "equal", "1 GB".into(), vec!["1000 MB".into()], vec!["1 GiB".into()]),
    ];
    for (kind, keyword, operand, good, bad) in cases {
        let declared = constrained(kind, keyword, &operand);
        let (said, found) = checked(&declared, &good);
        assert_eq!(said, [""; 0], "{declared}");
        assert!(found.concat().is_empty(), "{declared}: {found:?}");
        let violated = |value: &Value| vec![format!("`{value}` violates `{keyword}: {operand}`")];
        assert_eq!(checked(&declared, &bad).1, bad.iter().map(violated).collect::<Vec<_>>());
    }
}

#[test]
fn clauses_with_wrong_operands_are_refused() {
    let cases: Vec<(&str, &str, Value, &str)> = vec![
        (
            "integer",
            "greater_then",
            1.into(),
            "invalid-input: `greater_then` is no operator of a constraint clause (did you mean `greater_than`?)",
        ),
        (
            "integer",
            "greater_than",
            "a".into(),
            "invalid-input: the operand of `greater_than` does not fit: expected an integer, got `a`",
        ),
        (
            "boolean",
            "greater_than",
            true.into(),
            "invalid-input: `greater_than` constrains numbers, strings, timestamps, versions and scalar units, not values of `boolean`",
        ),
        (
            "integer",
            "in_range",
            1.into(),
            "invalid-input: `in_range` needs a list of a lower and an upper bound, not `1`",
        ),
        (
            "integer",
            "in_range",
            list([5, 2]),
            "invalid-input: no value is in a range from `5` to `2`",
        ),
        (
            "string",
            "valid_values",
            "a".into(),
            "invalid-input: `valid_values` needs a list of values, not `a`",
        ),
        (
            "string",
            "min_length",
            "a".into(),
            "invalid-input: the operand of `min_length` does not fit: expected an integer, got `a`",
        ),
        (
            "integer",
            "min_length",
            1.into(),
            "invalid-input: `min_length` constrains strings, lists and maps, not values of `integer`",
        ),
        (
            "string",
            "pattern",
            1.into(),
            "invalid-input: `pattern` needs a regular expression, not `1`",
        ),
        (
            "string",
            "pattern",
            "a)(b".into(),
            "invalid-input: `a)(b` is no regular expression: found closing ')' without matching '('",
        ),
    ];
    for (kind, keyname, operand, expected) in cases {
        let (found, _) = checked(&constrained(kind, keyname, &operand), &[]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with(expected), "{}\n{expected}", found[0]);
    }
}

#[test]
fn where_no_type_is_declared_values_have_their_own() {
    let refused = |clause: &str, value: Value| {
        !checked(&format!("{{constraints: [{clause}]}}"), &[value]).1.concat().is_empty()
    };
    for (clause, good, bad) in [
        ("greater_than: 1.5", Value::from(2), Value::from(1)),
        ("greater_than: '1.9'", "1.10".into(), "1.8".into()),
        ("greater_than: b", "c".into(), 5.into()),
        ("min_length: 2", "ab".into(), 12.into()),
        ("min_length: 1", list([1]), list::<i64>([])),
        ("valid_values: [1, a, true]", true.into(), "1".into()),
        ("pattern: a+", "aa".into(), 1.into()),
    ] {
        assert!(!refused(clause, good), "{clause}");
        assert!(refused(clause, bad), "{clause}");
    }
    let (found, _) = checked("{constraints: [greater_than: [1]]}", &[]);
    assert_eq!(
        found,
        ["invalid-input: `greater_than` needs a value that has an order, not a list"]
    );
}

#[test]
fn order_is_that_of_the_declared_type() {
    let holds = |kind: &str, bound: &str, value: &str| {
        let declared = constrained(kind, "less_than", &bound.into());
        checked(&declared, &[value.into()]).1.concat().is_empty()
    };
    assert!(holds("string", "1.9", "1.10") && !holds("version", "1.9", "1.10"));
    assert!(holds("version", "1.0", "1.0.0.beta") && !holds("version", "1.0.0.beta", "1.0"));
    let [alpha, beta] = ["1.0.0.alpha", "1.0.0.beta"];
    assert!(holds("version", alpha, beta) && holds("version", beta, alpha));
}

#[test]
fn a_pattern_of_another_dialect_is_a_note() {
    let declared = constrained("string", "pattern", &"(?=a)b".into());
    let document = document(&format!("x: {declared}"));
    let mut diagnostics = Diagnostics::default();
    let declarations = Declarations::parse(Some(document.root()), &mut diagnostics);
    let found: Vec<_> = diagnostics.0.iter().map(|found| (found.severity, found.code)).collect();
    assert_eq!(found, [(Severity::Note, Code::Undecidable.into())]);
    let (_, declaration) = declarations.iter().next().unwrap();
    assert!(declaration.problems(&"b".into()).is_empty());
}

#[test]
fn entries_have_a_schema_of_their_own() {
    let declared = "{type: list, entry_schema: {type: map, entry_schema: {type: integer, constraints: [less_than: 3]}}}";
    let map = |value: Value| Value::Map([("a".into(), value)].into());
    let (said, found) = checked(
        declared,
        &[list([map(2.into())]), list([map(3.into())]), list([map("x".into())]), list([1])],
    );
    assert_eq!(said, [""; 0]);
    assert_eq!(
        found,
        [
            vec![],
            vec!["`3` violates `less_than: 3`".to_owned()],
            vec!["expected an integer, got a string `x` in it".to_owned()],
            vec!["expected a map, got a number `1` in it".to_owned()],
        ]
    );
}

/// The rule by its definition in logic, not by counting as in the code.
fn oracle(keyword: FeatureKeyword, parent: bool, children: [bool; 3]) -> bool {
    let [a, b, c] = children;
    let implies = |premise: bool, conclusion: bool| if premise { conclusion } else { true };
    let each = |holds: &dyn Fn(bool) -> bool| children.into_iter().all(holds);
    match keyword {
        FeatureKeyword::Mandatory => {
            each(&|child| implies(parent, child) && implies(child, parent))
        }
        FeatureKeyword::Optional => each(&|child| implies(child, parent)),
        FeatureKeyword::Choices => implies(parent, a || b || c),
        FeatureKeyword::Alternatives => implies(
            parent,
            matches!((a, b, c), (true, false, false) | (false, true, false) | (false, false, true)),
        ),
        FeatureKeyword::Requires => each(&|child| implies(parent, child)),
        FeatureKeyword::Excludes => each(&|child| implies(parent, !child)),
    }
}

#[test]
fn feature_rules_have_their_truth_tables() {
    for &keyword in FeatureKeyword::ALL {
        for bits in 0..16_u8 {
            let [parent, a, b, c] = [0, 1, 2, 3].map(|bit| bits >> bit & 1 == 1);
            let text = format!("p: {{{}: [a, b, c]}}\na:\nb:\nc:\n", keyword.as_str());
            let document = document(&text);
            let declarations =
                Declarations::parse(Some(document.root()), &mut Diagnostics::default());
            let found = check_features(&declarations, &|id| {
                Some(Value::Bool([parent, a, b, c][id.index()]))
            });
            assert_eq!(
                found.0.is_empty(),
                oracle(keyword, parent, [a, b, c]),
                "{keyword:?} {parent} {a} {b} {c}"
            );
            assert_eq!(keyword.holds(parent, [a, b, c].into_iter()), found.0.is_empty());
            assert!(places(&found, &text).iter().all(|place| *place == keyword.as_str()));
        }
    }
}

#[test]
fn violations_name_the_rule_and_the_values() {
    let text = "shop: {requires: database, alternatives: [mysql, sqlite]}\ndatabase: \nmysql: \nsqlite: {excludes: mysql}\n";
    let document = document(text);
    let declarations = Declarations::parse(Some(document.root()), &mut Diagnostics::default());
    let values = [Some(Value::from("yes")), None, Some(Value::from(true)), Some(Value::from(1))];
    assert_eq!(
        said(&check_features(&declarations, &|id| values[id.index()].clone())),
        [
            "variability-input-constraint: `requires` is violated: `shop` needs each of these, but `shop` is yes, and `database` is unassigned",
            "variability-input-constraint: `alternatives` is violated: `shop` needs exactly one of these, but `shop` is yes, and `mysql` is true, \
             `sqlite` is 1",
            "variability-input-constraint: `excludes` is violated: `sqlite` excludes each of these, but `sqlite` is 1, and `mysql` is true",
        ]
    );
}

proptest! {
    #[test]
    fn no_xml_makes_the_reader_panic(text in "(<!?/?|</|/>|>|&|;|configuration|feature|name|=|'|\"|a| |<!--|-->|<\\?|\\]\\]){0,24}") {
        let _ = from_feature_ide(&text, FILE);
    }

    #[test]
    fn rules_over_any_number_of_features_agree_with_counting(parent in any::<bool>(), children in prop::collection::vec(any::<bool>(), 0..6)) {
        let (all, on) = (children.len(), children.iter().filter(|child| **child).count());
        let holds = |keyword: FeatureKeyword| keyword.holds(parent, children.iter().copied());
        prop_assert_eq!(holds(FeatureKeyword::Mandatory), on == if parent { all } else { 0 });
        prop_assert_eq!(holds(FeatureKeyword::Optional), parent || on == 0);
        prop_assert_eq!(holds(FeatureKeyword::Choices), !parent || on > 0);
        prop_assert_eq!(holds(FeatureKeyword::Alternatives), !parent || on == 1);
        prop_assert_eq!(holds(FeatureKeyword::Requires), !parent || on == all);
        prop_assert_eq!(holds(FeatureKeyword::Excludes), !parent || on == 0);
    }

    #[test]
    fn a_range_is_both_of_its_bounds(value in -9i64..9, low in -9i64..9, high in -9i64..9) {
        let clause = |keyname: &str, operand: Value| checked(&constrained("integer", keyname, &operand), &[value.into()]).1.concat().is_empty();
        let both = clause("greater_or_equal", low.into()) && clause("less_or_equal", high.into());
        // An empty range is reported as an error of its own.
        prop_assert!(low > high || clause("in_range", list([low, high])) == both);
        prop_assert_eq!(clause("greater_than", low.into()), !clause("less_or_equal", low.into()));
    }
}

#[test]
fn schemas_in_declarations_are_read_as_elsewhere_and_leniently() {
    let text = "of_text: {type: list, entry_schema: {constraints: [min_length: 2], colour: red}}
of_nothing: {type: list, entry_schema: 'null'}
misspelt: {type: list, entry_schema: {tpye: integer}}
";
    let document = document(text);
    let mut diagnostics = Diagnostics::default();
    let declarations = Declarations::parse(Some(document.root()), &mut diagnostics);
    let entries = |name: &str| declarations.get(declarations.id(name)?)?.entries();
    assert_eq!(entries("of_text"), Some(Primitive::String));
    assert_eq!(entries("of_nothing"), Some(Primitive::Null));
    assert_eq!(places(&diagnostics, text), ["tpye"], "{diagnostics:?}");
}
