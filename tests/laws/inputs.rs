//! Laws of cutting open inputs into cases: exploring lists every variant that some assignment
//! gives, however conditions use the inputs.
//!
//! The templates are small, but their conditions use every type of input, constraint and operator,
//! and expressions that have no value for some inputs. A template is decoded from random choices,
//! so that proptest shrinks it by dropping choices.

use std::collections::{BTreeMap, BTreeSet};

use cuvee::Resolver;
use cuvee::diagnostic::Code;
use cuvee::explore::{Projection, Query};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use super::{cases, texts};

/// A type of inputs, with texts to build declarations and conditions of it.
struct Type {
    name: &'static str,
    constraints: &'static [&'static str],
    /// Constants that conditions compare its values with.
    constants: &'static [&'static str],
    /// Values below, between and above all of these.
    values: &'static [&'static str],
}

const TYPES: [Type; 10] = [
    Type {
        name: "boolean",
        constraints: &[],
        constants: &["true", "false"],
        values: &["true", "false"],
    },
    Type {
        name: "integer",
        constraints: &[
            "in_range: [0, 5]",
            "greater_or_equal: 0",
            "less_than: 4",
            "greater_than: -2",
            "valid_values: [1, 2, 4]",
            "in_range: [2, UNBOUNDED]",
            "in_range: [-10, 30]",
            // Of more than 32 values, not each is tried.
            "valid_values: [-7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 50]",
            "valid_values: [50, 4, 2, 1, 0, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, -1, -7]",
        ],
        constants: &["0", "1", "2", "3", "1.5", "-1"],
        values: &["-7", "-2", "-1", "0", "1", "2", "3", "4", "5", "6", "8", "50"],
    },
    Type {
        name: "float",
        constraints: &[
            "in_range: [0, 2.5]",
            "greater_than: 0",
            "valid_values: [0.5, 1, 2]",
            "less_or_equal: 2",
        ],
        constants: &["0", "1", "0.5", "1.5", "2"],
        values: &[
            "-3", "-0.25", "0", "0.25", "0.5", "0.75", "1", "1.25", "1.5", "1.75", "2", "2.5", "3",
            "40",
        ],
    },
    Type {
        name: "string",
        constraints: &[
            "valid_values: [a, b, ab]",
            "valid_values: [a, b, ab, abc, a-b, '1.0', '1.0.0', c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, '0', '']",
            "min_length: 1",
            "max_length: 2",
            "length: 2",
            "pattern: '[a-c]+'",
            "pattern: '[a-z]{2,3}'",
            "pattern: 'a|b|ab|1.0'",
            "pattern: '[a-z]([a-z0-9]*[a-z0-9])?'",
        ],
        constants: &["a", "b", "ab", "'1.0'", "abc", "a-b"],
        values: &[
            "''", "a", "aa", "ab", "abc", "abcd", "b", "ba", "a-b", "c", "'1.0'", "'0.9'", "'1.1'",
            "'1.0.0'", "z", "A", "'0'",
        ],
    },
    Type {
        name: "version",
        constraints: &[
            "greater_or_equal: '1.0'",
            "valid_values: ['1.0', '1.2.0', '2.0']",
            "less_than: '2.0'",
        ],
        constants: &["'1.0'", "'1.2.0'", "'1.10'", "'2.0'", "'1.2.0.alpha'"],
        values: &[
            "'0.9'",
            "'1.0'",
            "'1.0.0'",
            "'1.1'",
            "'1.2.0.alpha'",
            "'1.2.0.beta-2'",
            "'1.2.0'",
            "'1.9'",
            "'1.10'",
            "'1.11'",
            "'2.0'",
            "'3.0'",
        ],
    },
    Type {
        name: "timestamp",
        constraints: &["greater_or_equal: '2024-01-01'", "less_than: '2025-01-01'"],
        constants: &["'2024-01-01'", "'2024-06-01T12:00:00Z'", "'2023-07-01'"],
        values: &[
            "'2023-01-01'",
            "'2023-07-01'",
            "'2023-12-31'",
            "'2024-01-01'",
            "'2024-01-01T00:00:00Z'",
            "'2024-03-01'",
            "'2024-06-01T12:00:00Z'",
            "'2024-07-01'",
            "'2026-01-01'",
        ],
    },
    Type {
        name: "list",
        constraints: &["min_length: 1", "max_length: 2", "length: 1"],
        constants: &["[1, 2]", "[a]", "[]"],
        values: &["[]", "[1]", "[a]", "[1, 2]", "[2, 1]", "[a, b, c]", "[1, 2, 3, 4]"],
    },
    Type {
        name: "map",
        constraints: &["min_length: 1", "max_length: 1"],
        constants: &["[1]"],
        values: &["{}", "{k: 1}", "{k: a, l: b}", "{k: 1, l: 2, m: 3}"],
    },
    Type {
        name: "scalar-unit.size",
        constraints: &[
            "greater_or_equal: 2 GB",
            "valid_values: [1 GB, 2 GB]",
            "in_range: [1 GB, 4 GB]",
        ],
        constants: &["1 GB", "2 GB", "10 GB"],
        values: &["1 GB", "2 GB", "10 GB", "1000 MB", "3 GB", "1.5 GB", "25 GB", "0 B"],
    },
    Type {
        name: "",
        constraints: &["valid_values: [1, a, true]", "min_length: 2"],
        constants: &["1", "0", "a", "true", "'1'", "2", "[1, 2]"],
        values: &[
            "0",
            "1",
            "-1",
            "0.5",
            "2",
            "3",
            "true",
            "false",
            "a",
            "b",
            "''",
            "'1'",
            "[1, 2]",
            "[]",
            "{k: v, l: w}",
            "null",
        ],
    },
];

/// Decodes bytes into choices; when no bytes are left, each choice is the first one.
struct Choices<'b>(std::slice::Iter<'b, u8>);

impl Choices<'_> {
    fn below(&mut self, count: usize) -> usize {
        self.0.next().map_or(0, |&byte| byte as usize * count / 256)
    }

    fn of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }

    /// True once in `count` times.
    fn once_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }
}

/// A template with inputs, and values to try for each.
struct Sample {
    text: String,
    pools: Vec<(String, Vec<String>)>,
}

impl std::fmt::Debug for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

struct Builder<'b> {
    choices: Choices<'b>,
    types: Vec<&'static Type>,
    /// Whether each input lists its valid values.
    listed: Vec<bool>,
    nodes: usize,
    /// The number of named expressions.
    named: usize,
}

impl Sample {
    fn of(bytes: &[u8]) -> Self {
        let mut choices = Choices(bytes.iter());
        let count = 2 + choices.below(3);
        let types = (0..count).map(|_| &TYPES[choices.below(TYPES.len())]).collect();
        Self::with(choices, types)
    }

    /// A template whose only input is a number or a string.
    fn of_one_input(bytes: &[u8]) -> Self {
        let mut choices = Choices(bytes.iter());
        let kind = &TYPES[1 + choices.below(3)];
        Self::with(choices, vec![kind])
    }

    fn with(choices: Choices<'_>, types: Vec<&'static Type>) -> Self {
        let count = types.len();
        let mut builder = Builder { choices, types, listed: Vec::new(), nodes: 0, named: 0 };
        let mut text = "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    options: {mode: manual}\n    inputs:\n".to_owned();
        for input in 0..count {
            text += &builder.declaration(input);
        }
        text += "    expressions:\n";
        for name in 0..2 {
            text += &format!(
                "      e{name}: {}\n",
                if name == 0 { builder.condition(2) } else { builder.value(2) }
            );
            builder.named += 1;
        }
        text += "  node_templates:\n";
        for node in 0..2 + builder.choices.below(2) {
            let (condition, more) = (builder.condition(3), builder.choices.once_in(3));
            let conditions =
                if more { format!("[{condition}, {}]", builder.condition(2)) } else { condition };
            text += &format!("    n{node}: {{type: t, conditions: {conditions}}}\n");
            builder.nodes += 1;
        }
        // Where values are listed, only the spelling in the list is used.
        let meant = |input: usize, value: &&&str| {
            !builder.listed[input] || !["1000 MB", "'1.0.0'"].contains(value)
        };
        let pools = builder.types.iter().enumerate().map(|(input, kind)| {
            let values = kind
                .values
                .iter()
                .filter(|value| meant(input, value))
                .map(|&value| value.to_owned());
            (format!("i{input}"), values.collect())
        });
        Self { text, pools: pools.collect() }
    }

    fn resolver(&self) -> Resolver {
        Resolver::from_text("template.yaml", self.text.clone()).option("checks", "false")
    }

    /// All assignments, or at most `most` of them, evenly spread.
    fn assignments(&self, most: usize) -> Vec<Vec<(&str, &str)>> {
        let total: usize = self.pools.iter().map(|(_, values)| values.len()).product();
        let step = total.div_ceil(most).max(1);
        // A step without a common factor with the numbers of values reaches every value.
        let step = if step == 1 {
            1
        } else {
            (step..)
                .find(|step| [2, 3, 5, 7, 11, 13, 17].iter().all(|prime| step % prime != 0))
                .unwrap()
        };
        let assignment = |mut number: usize| {
            let pick = |(name, values): &'_ (String, Vec<String>)| {
                let value = number % values.len();
                number /= values.len();
                (name.clone(), value)
            };
            self.pools.iter().map(pick).collect::<Vec<_>>()
        };
        let picked = (0..total).step_by(step).map(assignment);
        let named = |picked: Vec<(String, usize)>| {
            let pairs = self.pools.iter().zip(picked);
            pairs
                .map(|((name, values), (_, value))| (name.as_str(), values[value].as_str()))
                .collect()
        };
        picked.map(named).collect()
    }
}

impl Builder<'_> {
    fn declaration(&mut self, input: usize) -> String {
        let kind = self.types[input];
        let mut parts = Vec::new();
        if !kind.name.is_empty() {
            parts.push(format!("type: {}", kind.name));
        }
        if !kind.constraints.is_empty() && self.choices.once_in(2) {
            let constraints: Vec<_> = (0..1 + self.choices.below(2))
                .map(|_| format!("{{{}}}", self.choices.of(kind.constraints)))
                .collect();
            parts.push(format!("constraints: [{}]", constraints.join(", ")));
        } else if self.choices.once_in(3) {
            parts.push(format!("default: {}", self.choices.of(kind.values)));
        } else if self.choices.once_in(4) && input > 0 {
            parts.push(format!(
                "default_expression: {{variability_input: i{}}}",
                self.choices.below(input)
            ));
        }
        if self.types.len() > 1 && self.choices.once_in(6) {
            let keyword = self.choices.of(&[
                "requires",
                "optional",
                "mandatory",
                "choices",
                "alternatives",
                "excludes",
            ]);
            let others: Vec<_> = (0..self.types.len())
                .filter(|&other| other != input)
                .map(|other| format!("i{other}"))
                .collect();
            let listed = 1 + self.choices.below(others.len());
            parts.push(format!("{keyword}: [{}]", others[..listed].join(", ")));
        }
        let parts = parts.join(", ");
        self.listed.push(parts.contains("valid_values"));
        format!("      i{input}: {{{parts}}}\n")
    }

    fn input(&mut self) -> usize {
        self.choices.below(self.types.len())
    }

    fn itself(input: usize) -> String {
        format!("{{variability_input: i{input}}}")
    }

    fn constant(&mut self, input: usize) -> String {
        if self.choices.once_in(16) {
            let other = self.choices.below(TYPES.len());
            return self.choices.of(TYPES[other].constants).to_owned();
        }
        match self.choices.below(12) {
            11 if self.types[input].name != "string" => "{add: [1, 1]}".into(),
            10 => "{max: [1, 2]}".into(),
            _ => self.choices.of(self.types[input].constants).to_owned(),
        }
    }

    /// Writes a condition.
    fn condition(&mut self, depth: usize) -> String {
        let kind = if depth == 0 { self.choices.below(5) } else { self.choices.below(16) };
        match kind {
            0..=4 => self.comparison(),
            5 => Self::itself(self.input()),
            6..=9 => {
                let operator = self.choices.of(&["and", "or", "or", "and", "xor", "exo", "amo"]);
                let count = 2 + self.choices.below(2);
                let operands: Vec<_> = (0..count).map(|_| self.condition(depth - 1)).collect();
                format!("{{{operator}: [{}]}}", operands.join(", "))
            }
            10 => format!("{{not: {}}}", self.condition(depth - 1)),
            11 => format!(
                "{{implies: [{}, {}]}}",
                self.condition(depth - 1),
                self.condition(depth - 1)
            ),
            12 if self.nodes > 0 => {
                format!("{{node_presence: n{}}}", self.choices.below(self.nodes))
            }
            13 if self.named > 0 => {
                let operator = self.choices.of(&["logic_expression", "value_expression"]);
                format!("{{{operator}: e{}}}", self.choices.below(self.named))
            }
            14 => {
                format!("{{equal: [{}, {}]}}", self.condition(depth - 1), self.condition(depth - 1))
            }
            15 if self.choices.once_in(2) => self.value(depth - 1),
            _ => self.comparison(),
        }
    }

    /// Writes a comparison of an input, or of a value computed from it, with a constant or another
    /// value.
    fn comparison(&mut self) -> String {
        let input = self.input();
        let own = if self.choices.once_in(4) { self.computed(input) } else { Self::itself(input) };
        let other = if self.choices.once_in(24) {
            Self::itself(self.input())
        } else {
            self.constant(input)
        };
        let (first, second) =
            if self.choices.once_in(5) { (other.clone(), own) } else { (own, other.clone()) };
        let numeric = matches!(self.types[input].name, "integer" | "float" | "");
        match (self.choices.below(10), self.types[input].name) {
            (0..=3, "timestamp") => {
                let operator = self.choices.of(&[
                    "same",
                    "before",
                    "before_or_same",
                    "after",
                    "after_or_same",
                ]);
                format!("{{{operator}: [{first}, {second}]}}")
            }
            (4, "timestamp") => format!(
                "{{within: [{first}, [{}, {}]]}}",
                self.constant(input),
                self.constant(input)
            ),
            (0..=6, "boolean") => format!("{{equal: [{first}, {second}]}}"),
            (0..=5, "list" | "map") | (0..=2, "string") => {
                let operator = self.choices.of(&["length", "min_length", "max_length"]);
                format!(
                    "{{{operator}: [{}, {}]}}",
                    Self::itself(input),
                    self.choices.of(&["0", "1", "2", "3"])
                )
            }
            (0..=3, _) if numeric => {
                let operator =
                    self.choices.of(&["greater", "greater_or_equal", "less", "less_or_equal"]);
                format!("{{{operator}: [{first}, {second}]}}")
            }
            (4..=5, _) => format!("{{equal: [{first}, {second}]}}"),
            (6, _) => format!(
                "{{in_range: [{first}, [{}, {}]]}}",
                self.constant(input),
                self.constant(input)
            ),
            (7, _) => format!(
                "{{valid_values: [{first}, [{}, {}]]}}",
                self.constant(input),
                self.constant(input)
            ),
            _ => {
                let operator = self.choices.of(&[
                    "greater",
                    "greater_or_equal",
                    "less",
                    "less_or_equal",
                    "equal",
                ]);
                format!("{{{operator}: [{first}, {second}]}}")
            }
        }
    }

    /// Writes an expression that is computed from an input.
    fn computed(&mut self, input: usize) -> String {
        let own = Self::itself(input);
        match self.types[input].name {
            "integer" | "float" | "" => {
                let number = self.choices.of(&["2", "1", "-1", "0", "0.5", "3"]);
                match self.choices.below(24) {
                    7 => format!("{{{}: [{own}, 2]}}", self.choices.of(&["mod", "div"])),
                    8 => format!("{{div: [6, {own}]}}"),
                    13..=15 => format!("{{sub: [{number}, {own}]}}"),
                    16..=18 => format!("{{mul: [{own}, {number}]}}"),
                    19..=21 => format!("{{div: [{own}, {number}]}}"),
                    22.. => format!(
                        "{{{}: [{own}, {number}]}}",
                        self.choices.of(&["min", "max", "sum", "mean", "median"])
                    ),
                    _ => format!("{{add: [{own}, {number}]}}"),
                }
            }
            "list" => format!("{{{}: {own}}}", self.choices.of(&["count", "sum", "max"])),
            // Unless the values are listed, expressions that cannot be cut into cases are rare.
            name if name != "boolean" && !self.listed[input] && !self.choices.once_in(8) => own,
            _ => match self.choices.below(3) {
                0 => format!("{{concat: [{own}, b]}}"),
                1 => format!("{{token: [{own}, '-', {}]}}", self.choices.of(&["0", "1"])),
                _ => format!("{{join: [[{own}, b], '-']}}"),
            },
        }
    }

    /// Writes any expression.
    fn value(&mut self, depth: usize) -> String {
        match self.choices.below(5) {
            0 | 1 => self.comparison(),
            2 => {
                let input = self.input();
                self.computed(input)
            }
            3 if self.choices.once_in(4) => Self::itself(self.input()),
            _ if depth > 0 => self.condition(depth - 1),
            _ => self.comparison(),
        }
    }
}

fn with(resolver: &Resolver, inputs: &[(&str, &str)]) -> Resolver {
    inputs
        .iter()
        .fold(resolver.clone(), |resolver, (name, value)| resolver.input_text(*name, *value))
}

/// The identifiers of the present elements; `None` where there is no variant.
fn present(resolver: &Resolver) -> Option<Vec<String>> {
    let resolution = resolver.resolve().ok()?;
    Some(resolution.presence().filter(|(_, present)| *present).map(|(id, _)| id).collect())
}

fn sample() -> impl Strategy<Value = Sample> {
    prop::collection::vec(any::<u8>(), 40..240).prop_map(|bytes| Sample::of(&bytes))
}

/// Writes a condition on a few of many numbers.
fn of_many_cases(bytes: &[u8]) -> String {
    let [kind, at, to, other] = [0, 1, 2, 3].map(|byte| bytes[byte] % 64);
    let (x, [low, high]) = ("{variability_input: x}", [at.min(to), at.max(to)]);
    let above = format!("{{greater_or_equal: [{x}, {at}]}}");
    match kind % 7 {
        0 => format!("{{in_range: [{x}, [{low}, {high}]]}}"),
        1 => format!("{{not: {{in_range: [{x}, [{low}, {high}]]}}}}"),
        2 => format!("{{valid_values: [{x}, [{at}, {to}, {other}]]}}"),
        3 => format!("{{and: [{above}, {{variability_input: y}}]}}"),
        4 => format!(
            "{{or: [{{less: [{x}, {other}]}}, {{not: {{variability_input: y}}}}, {above}]}}"
        ),
        5 => format!("{{equal: [{above}, {{variability_input: y}}]}}"),
        _ => above,
    }
}

fn everything() -> Query {
    Query { projection: Projection::All, limit: usize::MAX, ..Query::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 300, ..cases(24) })]

    /// For an input that conditions cut into many cases, the listed variants are exactly those that
    /// its values give.
    #[test]
    fn many_cases_are_those_of_all_values(bytes in prop::collection::vec(any::<u8>(), 60..150)) {
        let nodes: String = (0..).zip(bytes.chunks_exact(4)).map(|(at, bytes)| {
            let condition = of_many_cases(bytes);
            format!("    n{at}: {{type: t, conditions: {condition}}}\n")
        }).collect();
        let text = format!("tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    options: {{mode: manual}}\n    inputs: {{x: {{type: integer}}, y: {{type: boolean}}}}\n  node_templates:\n{nodes}");
        let resolver = Resolver::from_text("many.yaml", text.clone()).option("checks", "false");
        let listed = resolver.variants(&everything()).unwrap().result.variants;
        let listed: BTreeSet<_> = listed.iter().map(texts).collect();
        let all = (-1..=65).flat_map(|x| ["true", "false"].map(|y| (x.to_string(), y)));
        let given = all.filter_map(|(x, y)| present(&with(&resolver, &[("x", &*x), ("y", y)])));
        prop_assert_eq!(listed, given.collect::<BTreeSet<_>>(), "{}", text);
    }

    /// No value of an input gives a variant that is not listed, and every example that is listed
    /// gives its variant.
    #[test]
    fn no_value_gives_a_variant_that_is_not_listed(sample in sample()) {
        let resolver = sample.resolver();
        let answer = match resolver.variants(&everything()) {
            Ok(answer) => answer.result.variants,
            Err(failure) if failure.diagnostics.iter().any(|diagnostic| diagnostic.code == Code::OpenInput) => return Ok(()),
            Err(failure) => {
                for inputs in sample.assignments(150) {
                    prop_assert_eq!(present(&with(&resolver, &inputs)), None, "{}\n{:?}\n{}", failure, inputs, sample.text);
                }
                return Ok(());
            }
        };
        let found: BTreeSet<_> = answer.iter().map(texts).collect();
        prop_assert_eq!(found.len(), answer.len(), "{}", sample.text);
        for variant in &answer {
            let given = |but: Option<&str>| {
                let inputs = variant.inputs.iter().filter(|input| Some(input.name.as_str()) != but);
                inputs.fold(resolver.clone(), |resolver, input| match &input.value {
                    Some(value) => resolver.input(&input.name, value.clone()),
                    None => resolver,
                })
            };
            let resolved = given(None).resolve();
            prop_assert!(resolved.is_ok(), "{:?}\n{}\n{}", variant, resolved.unwrap_err(), sample.text);
            prop_assert_eq!(present(&given(None)), Some(texts(variant)), "{:?}\n{}", variant.inputs, sample.text);
            // An input with its default value needs no assignment.
            for input in variant.inputs.iter().filter(|input| input.default) {
                let left_out = present(&given(Some(&input.name)));
                prop_assert_eq!(left_out, Some(texts(variant)), "{} in {:?}\n{}", input.name, variant.inputs, sample.text);
            }
        }
        for inputs in sample.assignments(150) {
            if let Some(present) = present(&with(&resolver, &inputs)) {
                prop_assert!(found.contains(&present), "{:?} with {:?} not in {:?}\n{}", present, inputs, answer, sample.text);
            }
        }
    }
}

/// Whether a label says that a value belongs to its case; `None` where it does not tell.
fn says(label: &str, value: &str) -> Option<bool> {
    let number = value.parse::<f64>().ok().filter(|_| !value.starts_with('\''));
    let text = value.trim_matches('\'');
    let quantity = |part: &str| match part.strip_prefix("length ") {
        Some(range) => (range.to_owned(), Some(text.chars().count() as f64)),
        None => (part.to_owned(), number),
    };
    let holds = |part: &str| {
        let (range, own) = quantity(part);
        let bound = |text: &str| text.parse::<f64>().ok();
        let one = |range: &str| {
            // Texts are not compared by order here.
            if own.is_none() && (range.contains(" … ") || range.starts_with(['≤', '≥', '<', '>']))
            {
                return None;
            }
            let (low, high) = range.split_once(" … ").unwrap_or(("", ""));
            let compared = |sign: &str| range.strip_prefix(sign).and_then(bound);
            Some(
                match (
                    bound(low).zip(bound(high)),
                    compared("≤ "),
                    compared("≥ "),
                    compared("< "),
                    compared("> "),
                ) {
                    (Some((low, high)), ..) => (low..=high).contains(&own?),
                    (_, Some(high), ..) => own? <= high,
                    (_, _, Some(low), ..) => own? >= low,
                    (_, _, _, Some(high), _) => own? < high,
                    (.., Some(low)) => own? > low,
                    _ => own.is_some() && bound(range) == own,
                },
            )
        };
        let (range, named) = range.split_once(" but not ").unwrap_or((&range, "nothing"));
        if part == text || (part == "''" && text.is_empty()) {
            return Some(true);
        }
        let inside = range.split(" and ").map(one).collect::<Option<Vec<bool>>>()?;
        Some(
            inside.into_iter().all(|inside| inside)
                && !named.split(" or ").any(|name| name == text),
        )
    };
    if label == "any" {
        return Some(true);
    }
    if label.contains("like ") || label.contains(" more") || label == "something else" {
        return None;
    }
    label.split(", ").map(holds).collect::<Option<Vec<_>>>().map(|parts| parts.contains(&true))
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 300, ..cases(24) })]

    /// A label is true of values: those that it includes give the same elements as the example of
    /// its case.
    #[test]
    fn labels_are_true(bytes in prop::collection::vec(any::<u8>(), 40..160)) {
        let sample = Sample::of_one_input(&bytes);
        let resolver = sample.resolver();
        let Ok(answer) = resolver.input_report() else { return Ok(()) };
        let cases = &answer.result.inputs[0].cases;
        for value in &sample.pools[0].1 {
            let Some(found) = present(&with(&resolver, &[("i0", value)])) else { continue };
            let told: Vec<_> = cases.iter().map(|case| says(&case.label, value)).collect();
            let named = told.iter().filter(|told| **told == Some(true)).count();
            prop_assert!(named <= 1, "{} in {:?}\n{}", value, cases, sample.text);
            for (case, own) in cases.iter().zip(&told) {
                let is_rest = case.label == "something else" && named == 0 && cases.iter().zip(&told).all(|(other, told)| other.label == case.label || told.is_some());
                if *own == Some(true) || is_rest {
                    let example = resolver.clone().input("i0", case.value.clone().unwrap());
                    prop_assert_eq!(present(&example), Some(found.clone()), "{} is not {}\n{}", value, case.label, sample.text);
                }
            }
            prop_assert!(named == 1 || told.contains(&None), "{} is in none of {:?}\n{}", value, cases, sample.text);
        }
    }
}

/// Checks that the law is tried on templates of every outcome, and that most can be explored.
#[test]
fn samples_are_varied() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut outcomes: BTreeMap<&str, u32> = BTreeMap::new();
    for _ in 0..400 {
        let sample = sample().new_tree(&mut runner).unwrap().current();
        let outcome = match sample.resolver().variants(&everything()) {
            Ok(answer) => match answer.result.variants.len() {
                1 => "one variant",
                2 => "two variants",
                _ => "more variants",
            },
            Err(failure) => failure.diagnostics.first().unwrap().code.as_str(),
        };
        *outcomes.entry(outcome).or_default() += 1;
    }
    let count = |outcome: &str| outcomes.get(outcome).copied().unwrap_or_default();
    assert!(
        count("one variant") >= 20 && count("two variants") >= 50 && count("more variants") >= 50,
        "{outcomes:?}"
    );
    assert!((10..120).contains(&count("open-input")), "{outcomes:?}");
    assert!(count("unsatisfiable") + count("invalid-expression") >= 10, "{outcomes:?}");
}
