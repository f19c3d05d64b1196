//! Writes converted templates as YAML: sections as blocks, short values on one line.

use cuvee_text::source::FileId;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Document, Limits, Node, Out, OutKey, parse, write_yaml};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

/// The greatest width of a line.
const WIDTH: usize = 100;

/// The style of maps and lists on one line.
const STYLE: &str = "map: { a: b }\nlist: [a]\n";

/// The sections whose entries are themselves written as blocks.
const SECTIONS: [&str; 7] = [
    "inputs",
    "node_templates",
    "relationship_templates",
    "policies",
    "outputs",
    "substitution_mappings",
    "workflows",
];

/// The key of the part of a document that has these sections.
const TOPOLOGY: &str = "topology_template";

/// How many entries of a section are laid out at once. A layout takes several times the memory of its
/// text.
const AT_ONCE: usize = 1_000;

/// Writes a document as YAML.
pub(super) fn write(document: &Value) -> String {
    written(document, AT_ONCE)
}

/// Writes a document part by part, with at most this many entries of a section at once.
fn written(document: &Value, at_once: usize) -> String {
    let style = parse(FileId::DETACHED, STYLE.into(), &Limits::default()).ok();
    let like = |key| style.as_ref().map(Document::root).and_then(|root| root.get(key));
    let layout = YamlLayout { map: like("map"), list: like("list") };
    let mut text = String::new();
    for LaidOutPart { keys, value } in parts(document, at_once) {
        let part = write_yaml(&layout.document(&value));
        // The lines of keys that parts before have written.
        let written: usize = part.split_inclusive('\n').take(keys).map(str::len).sum();
        text.push_str(part.get(written..).unwrap_or_default());
    }
    text
}

/// A part of a document, as a document of its own.
struct LaidOutPart {
    /// How many keys around its entries parts before have as well.
    keys: usize,
    value: Value,
}

/// The parts of a document: those of the topology are apart if one is large.
fn parts(document: &Value, at_once: usize) -> Vec<LaidOutPart> {
    let whole = |value: &Value| vec![LaidOutPart { keys: 0, value: value.clone() }];
    let Value::Map(entries) = document else { return whole(document) };
    let sections = |value: &Value| match value {
        Value::Map(sections) => Some(Arc::clone(sections)),
        _ => None,
    };
    let is_large = |(_, value): &(Arc<str>, Value)| match value {
        Value::Map(entries) => entries.len() > at_once,
        _ => false,
    };
    let topology = entries.iter().position(|(key, _)| **key == *TOPOLOGY);
    let Some((at, sections)) = topology.and_then(|at| Some((at, sections(&entries[at].1)?))) else {
        return whole(document);
    };
    if !sections.iter().any(is_large) {
        return whole(document);
    }
    let map = |entries: &[(Arc<str>, Value)]| Value::Map(entries.into());
    let within = |key: &str, value: Value| Value::Map([(key.into(), value)].into());
    let mut parts = vec![LaidOutPart { keys: 0, value: map(&entries[..at]) }];
    for (number, section) in sections.iter().enumerate() {
        let above = usize::from(number > 0);
        match &section.1 {
            Value::Map(entries) if is_large(section) => {
                for (number, some) in entries.chunks(at_once).enumerate() {
                    let value = within(TOPOLOGY, within(&section.0, map(some)));
                    let keys = if number > 0 { 2 } else { above };
                    parts.push(LaidOutPart { keys, value });
                }
            }
            _ => {
                let value = within(TOPOLOGY, map(std::slice::from_ref(section)));
                parts.push(LaidOutPart { keys: above, value });
            }
        }
    }
    parts.push(LaidOutPart { keys: 0, value: map(&entries[at + 1..]) });
    parts.retain(|part| !matches!(&part.value, Value::Map(entries) if entries.is_empty()));
    parts
}

struct YamlLayout<'s> {
    /// The style of a map on one line.
    map: Option<Node<'s>>,
    /// The style of a list on one line.
    list: Option<Node<'s>>,
}

impl<'s> YamlLayout<'s> {
    fn document(&self, document: &'s Value) -> Out<'s> {
        let Value::Map(entries) = document else { return self.out(document, 0) };
        let section = |key: &'s str, value: &'s Value| match key {
            "topology_template" => self.block(value, &|key, value| match SECTIONS.contains(&key) {
                true => self.block(value, &|key, value| self.out(value, 4 + key.len())),
                false => self.out(value, 2 + key.len()),
            }),
            key if key.ends_with("_types") => {
                self.block(value, &|key, value| self.out(value, 2 + key.len()))
            }
            key => self.out(value, key.len()),
        };
        Out::Map { entries: entries_of(entries, &section).into(), like: None }
    }

    /// Writes a value as a block, with each part on lines of its own.
    fn block(&self, value: &'s Value, part: &dyn Fn(&'s str, &'s Value) -> Out<'s>) -> Out<'s> {
        match value {
            Value::Map(entries) => {
                Out::Map { entries: entries_of(entries, part).into(), like: None }
            }
            Value::List(items) => {
                // The first entry of an item is written on the line of its dash.
                let item = |item: &'s Value| match item {
                    Value::Map(entries) if !entries.is_empty() => self.block(item, part),
                    _ => part("", item),
                };
                Out::Seq { items: items.iter().map(|it| (None, item(it))).collect(), like: None }
            }
            other => Out::Value(other.clone()),
        }
    }

    /// Writes a value on one line if it fits after `before` columns, otherwise as a block.
    fn out(&self, value: &'s Value, before: usize) -> Out<'s> {
        if width(value).is_some_and(|width| before + 2 + width <= WIDTH) {
            return self.line(value);
        }
        self.block(value, &|key, value| match is_listed(key, value) {
            true => self.block(value, &|key, value| self.out(value, before + 6 + key.len())),
            false => self.out(value, before + 2 + key.len()),
        })
    }

    fn line(&self, value: &'s Value) -> Out<'s> {
        match value {
            Value::Map(entries) => Out::Map {
                entries: entries_of(entries, &|_, it| self.line(it)).into(),
                like: self.map,
            },
            Value::List(items) => {
                let items = items.iter().map(|it| (None, self.line(it))).collect();
                Out::Seq { items, like: self.list }
            }
            other => Out::Value(other.clone()),
        }
    }
}

fn entries_of<'s>(
    entries: &'s [(Arc<str>, Value)],
    part: &dyn Fn(&'s str, &'s Value) -> Out<'s>,
) -> Vec<(OutKey<'s>, Out<'s>)> {
    let all = entries.iter();
    all.map(|(key, value)| (OutKey::New(Cow::Borrowed(&**key)), part(key, value))).collect()
}

/// Whether the value is a list whose items are written on lines of their own.
fn is_listed(key: &str, value: &Value) -> bool {
    key == "requirements" && matches!(value, Value::List(items) if !items.is_empty())
}

/// The width of a value on one line; `None` if it needs several lines.
fn width(value: &Value) -> Option<usize> {
    match value {
        Value::Map(entries) => {
            entries.iter().try_fold(4, |sum, (key, value)| match is_listed(key, value) {
                true => None,
                false => Some(sum + key.len() + 4 + width(value)?),
            })
        }
        Value::List(items) => items.iter().try_fold(2, |sum, item| Some(sum + 2 + width(item)?)),
        Value::String(text) => (!text.contains('\n')).then_some(text.len()),
        Value::Number(number) => Some(number.to_string().len()),
        Value::Bool(_) | Value::Null => Some(5),
    }
}

/// In a map with up to this many entries, a linear search is faster than a lookup.
const LOOKED_THROUGH: usize = 16;

/// A map under construction.
#[derive(Default)]
pub(super) struct YamlMap {
    entries: Vec<(Arc<str>, Value)>,
    /// The position of the first entry of each name, for maps that are too large for a linear
    /// search.
    places: FxHashMap<Arc<str>, usize>,
}

impl YamlMap {
    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.put(key, value);
        self
    }

    pub(super) fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.push(key.into(), value.into());
    }

    fn push(&mut self, key: Arc<str>, value: Value) {
        self.entries.push((key, value));
        let last = self.entries.len() - 1;
        let new = match last.cmp(&LOOKED_THROUGH) {
            Ordering::Less => return,
            Ordering::Equal => 0..=last,
            Ordering::Greater => last..=last,
        };
        for at in new {
            self.places.entry(Arc::clone(&self.entries[at].0)).or_insert(at);
        }
    }

    /// Adds an entry if there is a value.
    pub(super) fn put_some(&mut self, key: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }

    /// Adds a map unless it is empty.
    pub(super) fn put_map(&mut self, key: &str, map: Self) {
        if !map.is_empty() {
            self.put(key, map);
        }
    }

    /// Adds a list unless it is empty.
    pub(super) fn put_list(&mut self, key: &str, items: Vec<Value>) {
        if !items.is_empty() {
            self.put(key, Value::List(items.into()));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(key, _)| &**key)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        let at = match self.places.is_empty() {
            true => self.entries.iter().position(|(known, _)| &**known == key)?,
            false => *self.places.get(key)?,
        };
        self.entries.get(at).map(|(_, value)| value)
    }

    /// Appends the entries of another map.
    pub(super) fn append(&mut self, other: Self) {
        other.entries.into_iter().for_each(|(key, value)| self.push(key, value));
    }
}

impl From<YamlMap> for Value {
    fn from(map: YamlMap) -> Self {
        Self::Map(map.entries.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_the_whole() {
        let text = "a: 1\ntopology_template:\n  description: |+\n    long\n\n    text\n\n  inputs:\n    one: {type: string}\n    two: {type: string}\n  node_templates:\n    \"null\": {type: T, properties: {a: \"x\\n\\n\", b: [1, 2]}}\n    b: {type: T}\n    c: {type: T, requirements: [{r: b}, {r: c}]}\n  policies: [{p: {type: P}}]\nz: 2\n";
        let document = parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap();
        let value = document.root().to_value();
        let whole = written(&value, usize::MAX);
        for at_once in [1, 2, 3] {
            assert_eq!(written(&value, at_once), whole);
        }
        let again = parse(FileId::DETACHED, whole.as_str().into(), &Limits::default()).unwrap();
        assert_eq!(again.root().to_value(), value);
        assert!(parts(&value, 1).len() > 5 && parts(&value, 3).len() == 1);
    }
}
