//! Writes output trees as JSON.

use super::node::{Node, NodeKind, Scalar};
use super::quote::is_printable;
use super::write::{Item, ItemKey, Out, number_text, plain_number};
use crate::value::{Number, Value};

/// Writes an output tree as JSON, indented by two. Numbers keep their text where JSON allows it.
/// Infinities and "not a number" become strings. Keys that are no scalars become their canonical
/// text.
///
/// ```
/// use cuvee_text::source::FileId;
/// use cuvee_text::yaml::{Limits, Out, parse, write_json};
/// let document = parse(FileId::DETACHED, "port: 0x50\nratio: 1.10\n".into(), &Limits::default()).unwrap();
/// assert_eq!(write_json(&Out::Source(document.root())), "{\n  \"port\": 80,\n  \"ratio\": 1.10\n}\n");
/// ```
pub fn write_json(out: &Out<'_>) -> String {
    let mut writer = JsonWriter { out: String::new(), depth: 0 };
    writer.item(out.into());
    writer.out.push('\n');
    writer.out
}

struct JsonWriter {
    out: String,
    depth: usize,
}

impl JsonWriter {
    fn item(&mut self, item: Item<'_, '_>) {
        match (item.kind(), item) {
            (NodeKind::Mapping, _) => self.collection(item, ['{', '}'], |writer, first| {
                item.each_entry(|key, value, _| {
                    writer.line(first);
                    writer.key(key);
                    writer.out.push_str(": ");
                    writer.item(value);
                });
            }),
            (NodeKind::Sequence, _) => self.collection(item, ['[', ']'], |writer, first| {
                item.each_item(|_, item, _| {
                    writer.line(first);
                    writer.item(item);
                });
            }),
            (_, Item::Source(node)) => self.scalar(node),
            (_, Item::Out(Out::String(text))) => self.string(text),
            (_, Item::Value(value)) => self.value(value),
            (_, Item::Out(_)) => {}
        }
    }

    /// Writes the brackets, and calls a function to write what is between them. The function gets
    /// the position at which its first line starts.
    fn collection(
        &mut self,
        item: Item<'_, '_>,
        [open, close]: [char; 2],
        write: impl FnOnce(&mut Self, usize),
    ) {
        self.out.push(open);
        if !item.is_empty() {
            self.depth += 1;
            let first = self.out.len();
            write(self, first);
            self.depth -= 1;
            self.indent();
        }
        self.out.push(close);
    }

    fn line(&mut self, first: usize) {
        if self.out.len() > first {
            self.out.push(',');
        }
        self.indent();
    }

    fn indent(&mut self) {
        self.out.push('\n');
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
    }

    fn key(&mut self, key: ItemKey<'_, '_>) {
        match key {
            ItemKey::Source(node) => self.string(&node.key_text()),
            ItemKey::Renamed(_, text) | ItemKey::New(text) => self.string(text),
        }
    }

    fn scalar(&mut self, node: Node<'_>) {
        let text = node.text().unwrap_or_default();
        match node.scalar() {
            None | Some(Scalar::Null) => self.out.push_str("null"),
            Some(Scalar::Bool(value)) => self.bool(value),
            Some(Scalar::Int(value)) => self.number(text, &Number::int(value)),
            Some(Scalar::Float(value)) => self.number(text, &Number::float(value)),
            Some(Scalar::String(text)) => self.string(text),
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Bool(value) => self.bool(*value),
            Value::Number(number) => self.number(&number_text(number), number),
            Value::String(text) => self.string(text),
            Value::Null | Value::List(_) | Value::Map(_) => self.out.push_str("null"),
        }
    }

    fn bool(&mut self, value: bool) {
        self.out.push_str(if value { "true" } else { "false" });
    }

    fn number(&mut self, text: &str, number: &Number) {
        if is_json_number(text) {
            self.out.push_str(text);
        } else if number.as_f64().is_finite() {
            self.out.push_str(&plain_number(number));
        } else {
            self.string(text);
        }
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                // JSON allows more characters than YAML, but the output should be valid as both.
                c if !is_printable(c) => self.out.push_str(&format!("\\u{:04x}", u32::from(c))),
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }
}

fn is_json_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (number, exponent) = text
        .split_once(['e', 'E'])
        .map_or((text, None), |(number, exponent)| (number, Some(exponent)));
    let (whole, fraction) =
        number.split_once('.').map_or((number, None), |(whole, fraction)| (whole, Some(fraction)));
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent
            .is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_json_numbers() {
        for text in ["0", "-0", "10", "1.10", "1e5", "1.5E-3", "0.5", "1e+5"] {
            assert!(is_json_number(text), "{text}");
        }
        for text in ["", "-", "01", "+1", ".5", "1.", "0x1", "1e", "1_0", ".inf"] {
            assert!(!is_json_number(text), "{text}");
        }
    }
}
