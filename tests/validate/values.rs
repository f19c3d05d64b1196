//! Tests that a literal is a value of a type, or is not, wherever it is: as the default, preset
//! value or assignment of a variability input, as the default or value of a topology input, as a
//! property, and as the operand of a constraint clause; alone and as an entry of a list.

#![expect(clippy::panic, reason = "what is said of no row of the table is wrong")]

use cuvee::diagnostic::{Diagnostic, Severity};
use cuvee::{Resolver, source::SourceMap};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Types, each with literals that are values of it and literals that are not (TOSCA Simple Profile
/// 1.3, section 3.3, with scalars as YAML 1.2 reads them).
const TABLE: &[(&str, &[&str], &[&str])] = &[
    (
        "string",
        &[
            "a",
            "''",
            "'5'",
            "\"true\"",
            "yes",
            "2024-01-01",
            "1_000",
            "1.2.3",
            "!!str 5",
            "0x",
            "~x",
        ],
        &["5", "5.0", "0x1F", "true", "~", ".inf", "[a]", "{a: b}"],
    ),
    (
        "integer",
        &[
            "0",
            "-0",
            "5",
            "+12",
            "-3",
            "017",
            "0o14",
            "0x1F",
            "!!int 5",
            "9223372036854775807",
            "9223372036854775808",
            "-99999999999999999999999999999999",
            "123456789012345678901234567890123456789012345678901234567890",
            "0xFFFFFFFFFFFFFFFFFF",
        ],
        &[
            "5.0",
            "1e3",
            "9223372036854775808.0",
            "1_000",
            "0b11",
            "1:30",
            "'5'",
            "!!str 5",
            "!!float 5",
            ".inf",
            "true",
            "~",
            "a",
            "''",
            "[5]",
        ],
    ),
    (
        "float",
        &[
            "1.5",
            "-1.",
            ".5",
            "1e3",
            "1.5E-3",
            "5",
            "0x1F",
            "9223372036854775808",
            ".inf",
            "-.INF",
            ".nan",
            "!!float 5",
        ],
        &["'1.5'", "1_000.5", "1e", "inf", "nan", "1.2.3", "true", "~", "[1.5]"],
    ),
    (
        "boolean",
        &["true", "false", "True", "FALSE", "!!bool true"],
        &["'true'", "yes", "no", "on", "y", "tRue", "1", "0", "~", "[true]"],
    ),
    (
        "timestamp",
        &[
            "2001-12-14",
            "'2001-12-14'",
            "2001-12-15T02:59:43.1Z",
            "2001-12-14t21:59:43.10-05:00",
            "2001-12-14 21:59:43.10 -5",
            "2001-12-15 2:59:43.10",
            "2002-2-4 0:00:00",
            "2016-12-31T23:59:60Z",
            "2001-12-14T21:59:43",
        ],
        &[
            "0",
            "1700000000000",
            "20011214",
            "2001",
            "2001-12",
            "2001-2-4",
            "2001-02-29",
            "2001-12-14T21:59",
            "2001-12-14T21",
            "2001-12-14T21:59:43z",
            "2001-W50-5",
            "'2001-12-14T21:59:43+01:00[Europe/Paris]'",
            "+002001-12-14",
            "2001-12-14T24:00:00",
            "now",
            "true",
            "~",
            "''",
        ],
    ),
    (
        "version",
        &[
            "6.1",
            "1.10",
            "'1.10'",
            "2.0.1",
            "3.1.0.beta",
            "1.0.0.alpha-10",
            "0",
            "'0'",
            "0.0",
            "0.0.0",
            "01.2",
            "1.20240101123456789012345",
        ],
        &[
            "1",
            "'1'",
            "v1.0",
            "1.x",
            "1.0.0.",
            "0.0.0.beta",
            "1.0.0.a-b",
            "+1.0",
            "-1.0",
            "1e3",
            ".5",
            "1.",
            "1_0.1",
            "~",
            "''",
            "[1.0]",
        ],
    ),
    (
        "range",
        &[
            "[1, 4]",
            "[4, 4]",
            "[-4, 0]",
            "[0, UNBOUNDED]",
            "[0x1, 0o7]",
            "[9223372036854775808, 9223372036854775809]",
        ],
        &[
            "[4, 1]",
            "[1]",
            "[]",
            "[1, 2, 3]",
            "[1.0, 2]",
            "[1, 2.0]",
            "['1', 2]",
            "[UNBOUNDED, 1]",
            "[1, unbounded]",
            "[1, ~]",
            "1",
            "UNBOUNDED",
            "~",
            "{1: 4}",
        ],
    ),
    (
        "scalar-unit.size",
        &["10 GB", "10GB", "10   GB", "'10 GB'", "0.5 MiB", "4 gb", "4 kib", "1 B", "+1 kB"],
        &["10", "GB", "10 GHz", "10 G", "1e3 B", "1_000 B", "0x1F B", ". B", "inf B", "~", "[1 B]"],
    ),
    (
        "scalar-unit.time",
        &["10 ms", "1 d", "1.5h", "3 us", "10 MS"],
        &["10", "10 min", "10 GB", "d", "~"],
    ),
    ("scalar-unit.frequency", &["2.4 GHz", "1Hz", "2.4 ghz", "1 KHz"], &["2.4", "1 KiHz", "~"]),
    (
        "scalar-unit.bitrate",
        &["10 Kbps", "1 KiBps", "1 bps"],
        &["10 kbps", "10 KBs", "10", "1 KB", "~"],
    ),
    ("\"null\"", &["~", "null", "NULL", "''"], &["'null'", "0", "false", "none", "[]", "nil"]),
    ("list", &["[]", "[1, a]", "[[]]"], &["{}", "a", "1", "~", "'[]'"]),
    ("map", &["{}", "{a: 1}", "{1: a}"], &["[]", "a", "1", "~", "'{}'"]),
];

/// The place of a literal in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The default of a variability input.
    VariabilityDefault,
    /// A value that a preset assigns to a variability input.
    Preset,
    /// A value that a call assigns to a variability input.
    Call,
    /// An operand of a constraint on a variability input.
    VariabilityOperand,
    /// The default of a topology input.
    TopologyDefault,
    /// An operand of a constraint on a topology input.
    TopologyOperand,
    /// The value that a topology input has when functions are evaluated.
    Deployment,
    /// A property of a node template.
    Property,
    /// An operand of a constraint on a property.
    PropertyOperand,
}

const PLACES: [Place; 9] = [
    Place::VariabilityDefault,
    Place::Preset,
    Place::Call,
    Place::VariabilityOperand,
    Place::TopologyDefault,
    Place::TopologyOperand,
    Place::Deployment,
    Place::Property,
    Place::PropertyOperand,
];

/// A literal of the table, with its type and whether it is valid.
struct Row {
    kind: String,
    literal: String,
    valid: bool,
}

fn rows() -> Vec<Row> {
    let row = |kind: &str, literal: &str, valid| {
        // The empty text is always written with quotes, except where null is a value.
        let literal = if kind == "\"null\"" && literal == "''" { "" } else { literal };
        Row { kind: kind.to_owned(), literal: literal.to_owned(), valid }
    };
    let mut rows = Vec::new();
    for (kind, valid, invalid) in TABLE {
        rows.extend(valid.iter().map(|literal| row(kind, literal, true)));
        rows.extend(invalid.iter().map(|literal| row(kind, literal, false)));
    }
    rows
}

/// The resolver of a template that has a literal on each line behind `# first`, and the number of
/// the first of these lines.
fn template(place: Place, rows: &[Row], listed: bool) -> (Resolver, usize) {
    let mut text = "tosca_definitions_version: tosca_variability_1_0\n".to_owned();
    let schema = |row: &Row| match listed {
        true => format!("type: list, entry_schema: {{ type: {} }}", row.kind),
        false => format!("type: {}", row.kind),
    };
    let literal = |row: &Row| match listed {
        true => format!("[ {} ]", row.literal),
        false => row.literal.clone(),
    };
    let mut lines = |head: &str, line: &dyn Fn(&str, &str) -> String| {
        text.push_str(head);
        let first = text.lines().count() + 1;
        for (index, row) in rows.iter().enumerate() {
            writeln!(
                text,
                "{} # {index}",
                line(&schema(row), &literal(row)).replace('@', &index.to_string())
            )
            .unwrap_or_default();
        }
        first
    };
    let inputs = "topology_template:\n  variability:\n    inputs:\n";
    let first = match place {
        Place::VariabilityDefault => lines(inputs, &|schema, literal| {
            format!("      i@: {{ {schema}, default: {literal} }}")
        }),
        Place::VariabilityOperand => lines(inputs, &|schema, literal| {
            format!("      i@: {{ {schema}, constraints: [ valid_values: [ {literal} ] ] }}")
        }),
        Place::Preset => {
            lines(inputs, &|schema, _| format!("      i@: {{ {schema} }}"));
            lines("    presets:\n      all:\n        inputs:\n", &|_, literal| {
                format!("          i@: {literal}")
            })
        }
        Place::Call => lines(inputs, &|schema, _| format!("      i@: {{ {schema} }}")),
        Place::TopologyDefault => lines("topology_template:\n  inputs:\n", &|schema, literal| {
            format!("    i@: {{ {schema}, default: {literal} }}")
        }),
        Place::TopologyOperand => lines("topology_template:\n  inputs:\n", &|schema, literal| {
            format!("    i@: {{ {schema}, constraints: [ valid_values: [ {literal} ] ] }}")
        }),
        Place::Deployment => {
            lines("topology_template:\n  inputs:\n", &|schema, _| format!("    i@: {{ {schema} }}"))
        }
        Place::Property => {
            lines(
                "node_types:\n  Shop:\n    derived_from: tosca.nodes.Root\n    properties:\n",
                &|schema, _| format!("      i@: {{ {schema} }}"),
            );
            lines(
                "topology_template:\n  node_templates:\n    shop:\n      type: Shop\n      properties:\n",
                &|_, literal| format!("        i@: {literal}"),
            )
        }
        Place::PropertyOperand => lines(
            "node_types:\n  Shop:\n    derived_from: tosca.nodes.Root\n    properties:\n",
            &|schema, literal| {
                format!(
                    "      i@: {{ {schema}, required: false, constraints: [ equal: {literal} ] }}"
                )
            },
        ),
    };
    let mut resolver = Resolver::from_text("t.yaml", text);
    for (index, row) in rows.iter().enumerate() {
        let (name, text) = (format!("i{index}"), literal(row));
        match place {
            Place::Call => resolver = resolver.input_text(name, text),
            Place::Deployment => {
                resolver = resolver.evaluate_functions().deployment_input_text(name, text)
            }
            _ => {}
        }
    }
    (resolver, first)
}

/// The rows in which something is reported to be wrong: by the line, or by the name of the input
/// where the value is in no file.
fn refused(place: Place, rows: &[Row], listed: bool) -> BTreeSet<usize> {
    let (resolver, first) = template(place, rows, listed);
    let (diagnostics, sources): (Vec<Diagnostic>, SourceMap) = match place {
        Place::Preset => outcome(resolver.preset("all")),
        Place::Call | Place::Deployment => outcome(resolver),
        _ => {
            let found = resolver.validate();
            (found.diagnostics, found.sources)
        }
    };
    let wrong = |found: &&Diagnostic| {
        // A default of another type, or a unit in another case, only leads to a warning.
        found.severity == Severity::Error
            || found.severity == Severity::Warning
                && (found.message.contains("does not fit")
                    || found.message.starts_with("`--input "))
    };
    let row = |found: &Diagnostic| {
        let named = found.message.split('`').find_map(|part| {
            let name = part.strip_prefix("--input ").unwrap_or(part).strip_prefix('i')?;
            name.split('=').next()?.parse().ok()
        });
        let line = || found.span.map(|span| sources.location(span).line);
        match place {
            Place::Call | Place::Deployment => named,
            _ => line().and_then(|line| line.checked_sub(first)),
        }
    };
    let found = diagnostics.iter().filter(wrong).map(|found| {
        row(found)
            .filter(|row| *row < rows.len())
            .unwrap_or_else(|| panic!("{}", found.one_line(&sources)))
    });
    found.collect()
}

fn outcome(resolver: Resolver) -> (Vec<Diagnostic>, SourceMap) {
    match resolver.resolve() {
        Ok(resolution) => (resolution.warnings().to_vec(), resolution.source_map().clone()),
        Err(failure) => (failure.diagnostics, failure.sources),
    }
}

fn same_everywhere(listed: bool) {
    let rows = rows();
    let mut wrong = Vec::new();
    for place in PLACES {
        let refused = refused(place, &rows, listed);
        for (index, row) in rows.iter().enumerate() {
            if refused.contains(&index) == row.valid {
                let verdict = if row.valid { "refused" } else { "accepted" };
                wrong.push(format!("{place:?}: {} `{}` is {verdict}", row.kind, row.literal));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_literal_is_valid_or_not_wherever_it_stands() {
    same_everywhere(false);
}

#[test]
fn an_entry_is_valid_or_not_wherever_it_stands() {
    same_everywhere(true);
}
