//! Writes feature models in UVL.

use super::super::model::{
    Feature, FeatureModel, FeatureStep, FeatureType, GroupKind, Proposition,
};
use super::{ESCAPED, KEYWORDS};
use cuvee_text::value::{Number, Value};
use std::fmt::Write;

impl FeatureModel {
    /// The model in the Universal Variability Language; notes are comments above it.
    pub fn to_uvl(&self) -> String {
        let mut out = String::new();
        for note in &self.notes {
            // A comment ends with its line.
            note.lines().for_each(|line| push(&mut out, format_args!("// {line}\n")));
        }
        out.push_str("features\n");
        self.walk(|step| match step {
            FeatureStep::Feature { feature, depth, .. } => {
                indent(&mut out, 2 * depth + 1);
                push_feature(&mut out, feature);
            }
            FeatureStep::Group { kind, depth } => {
                indent(&mut out, 2 * depth);
                let keyword = match kind {
                    GroupKind::Mandatory => "mandatory\n",
                    GroupKind::Optional => "optional\n",
                    GroupKind::Or => "or\n",
                    GroupKind::Alternative => "alternative\n",
                };
                out.push_str(keyword);
            }
            FeatureStep::End { .. } => {}
        });
        if !self.constraints.is_empty() {
            out.push_str("constraints\n");
        }
        for constraint in &self.constraints {
            out.push('\t');
            self.push_proposition(&mut out, constraint, 0);
            out.push('\n');
        }
        out
    }

    /// Writes a proposition, in parentheses if it binds less tightly than its surroundings.
    fn push_proposition(&self, out: &mut String, proposition: &Proposition, surroundings: u8) {
        let binds = match proposition {
            Proposition::Iff(_) => 1,
            Proposition::Implies(_) => 2,
            Proposition::Or(_) | Proposition::Constant(true) => 3,
            Proposition::And(_) | Proposition::Constant(false) | Proposition::AtMostOne(_) => 4,
            Proposition::Not(_) => 5,
            Proposition::Feature(_) => 6,
        };
        let parentheses = binds < surroundings;
        if parentheses {
            out.push('(');
        }
        match proposition {
            // UVL has no constants, but the root is always selected.
            Proposition::Constant(value) => {
                self.push_name(out, &Proposition::Feature(self.root()));
                out.push_str(if *value { " | !" } else { " & !" });
                self.push_name(out, &Proposition::Feature(self.root()));
            }
            Proposition::Feature(_) => self.push_name(out, proposition),
            Proposition::Not(inner) => {
                out.push('!');
                self.push_proposition(out, inner, 5);
            }
            Proposition::And(operands) => self.push_operands(out, operands, " & ", 5),
            Proposition::Or(operands) => self.push_operands(out, operands, " | ", 4),
            // Chains associate to the left. Both sides are in parentheses, so that every reader
            // understands them.
            Proposition::Implies(pair) => self.push_operands(out, &**pair, " => ", 3),
            Proposition::Iff(pair) => self.push_operands(out, &**pair, " <=> ", 2),
            Proposition::AtMostOne(operands) => self.push_pairs(out, operands),
        }
        if parentheses {
            out.push(')');
        }
    }

    fn push_operands(&self, out: &mut String, operands: &[Proposition], operator: &str, binds: u8) {
        for (index, operand) in operands.iter().enumerate() {
            if index > 0 {
                out.push_str(operator);
            }
            self.push_proposition(out, operand, binds);
        }
    }

    /// Writes that at most one operand holds: no two of them hold together.
    fn push_pairs(&self, out: &mut String, operands: &[Proposition]) {
        let pairs = operands
            .iter()
            .enumerate()
            .flat_map(|(index, one)| operands[..index].iter().map(move |other| (other, one)));
        for (index, (one, other)) in pairs.enumerate() {
            out.push_str(if index > 0 { " & !(" } else { "!(" });
            self.push_proposition(out, one, 5);
            out.push_str(" & ");
            self.push_proposition(out, other, 5);
            out.push(')');
        }
    }

    fn push_name(&self, out: &mut String, feature: &Proposition) {
        if let Proposition::Feature(id) = feature
            && let Some(feature) = self.feature(*id)
        {
            push_name(out, &feature.name);
        }
    }
}

fn indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n('\t', depth));
}

/// Writing to a string does not fail.
fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

fn push_feature(out: &mut String, feature: &Feature) {
    out.push_str(match feature.kind {
        FeatureType::Boolean => "",
        FeatureType::Integer => "Integer ",
        FeatureType::Real => "Real ",
        FeatureType::String => "String ",
    });
    push_name(out, &feature.name);
    let mut attributes: Vec<(&str, Value)> = Vec::new();
    if feature.is_abstract {
        attributes.push(("abstract", true.into()));
    }
    attributes.extend(feature.description.as_deref().map(|text| ("description", text.into())));
    attributes.extend(feature.value_type.as_deref().map(|text| ("type", text.into())));
    attributes.extend(feature.default.clone().map(|value| ("default", value)));
    if !feature.clauses.is_empty() {
        attributes.push(("clauses", feature.clauses.clone().into()));
    }
    attributes.extend(feature.attributes.iter().map(|(name, value)| (&**name, value.clone())));
    // UVL has no empty strings.
    attributes.retain(|(_, value)| value.as_str() != Some(""));
    if !attributes.is_empty() {
        out.push(' ');
        push_attributes(out, attributes.iter().map(|(key, value)| (*key, value)));
    }
    out.push('\n');
}

fn push_attributes<'v>(out: &mut String, attributes: impl Iterator<Item = (&'v str, &'v Value)>) {
    out.push('{');
    for (index, (key, value)) in attributes.enumerate() {
        out.push_str(if index > 0 { ", " } else { "" });
        push_name(out, key);
        out.push(' ');
        push_value(out, value);
    }
    out.push('}');
}

/// Writes a value. Values are never nested deeper than a YAML document, so recursion is safe.
fn push_value(out: &mut String, value: &Value) {
    match value {
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                push_value(out, item);
            }
            out.push(']');
        }
        Value::Map(entries) => {
            push_attributes(out, entries.iter().map(|(key, value)| (&**key, value)))
        }
        Value::Bool(_) => push(out, format_args!("{value}")),
        Value::Number(number) => push_number(out, number),
        Value::Null | Value::String(_) => push_text(out, &value.to_string()),
    }
}

/// Writes a number as it was written if UVL allows this notation, otherwise by its value;
/// infinities are written as texts.
fn push_number(out: &mut String, number: &Number) {
    let written = number.to_string();
    let digits = written.strip_prefix('-').unwrap_or(&written);
    let is_decimal = digits.split('.').count() <= 2
        && digits
            .split('.')
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
        && (!digits.starts_with('0') || digits.starts_with("0.") || digits == "0");
    match (is_decimal, number.as_int()) {
        (true, _) => out.push_str(&written),
        (false, Some(int)) => push(out, format_args!("{int}")),
        (false, None) if number.as_f64().is_finite() => {
            push(out, format_args!("{}", number.as_f64()))
        }
        (false, None) => push_text(out, &written),
    }
}

fn push_text(out: &mut String, text: &str) {
    out.push('\'');
    // Texts may contain dots.
    escape(out, text, &ESCAPED.map(|c| if c == '.' { '%' } else { c }));
    out.push('\'');
}

fn push_name(out: &mut String, name: &str) {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !KEYWORDS.contains(&name);
    if plain {
        out.push_str(name);
    } else {
        out.push('"');
        escape(out, name, &ESCAPED.map(|c| if c == '\'' { '%' } else { c }));
        out.push('"');
    }
}

fn escape(out: &mut String, text: &str, escaped: &[char]) {
    for c in text.chars() {
        if escaped.contains(&c) {
            push(out, format_args!("%{:02X}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
}
