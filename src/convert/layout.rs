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

/// Writes a document as YAML.
pub(super) fn write(document: &Value) -> String {
    let style = parse(FileId::DETACHED, STYLE.into(), &Limits::default()).ok();
    let like = |key| style.as_ref().map(Document::root).and_then(|root| root.get(key));
    write_yaml(&YamlLayout { map: like("map"), list: like("list") }.document(document))
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
        Out::Map { entries: entries_of(entries, &section), like: None }
    }

    /// Writes a value as a block, with each part on lines of its own.
    fn block(&self, value: &'s Value, part: &dyn Fn(&'s str, &'s Value) -> Out<'s>) -> Out<'s> {
        match value {
            Value::Map(entries) => Out::Map { entries: entries_of(entries, part), like: None },
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
            Value::Map(entries) => {
                Out::Map { entries: entries_of(entries, &|_, it| self.line(it)), like: self.map }
            }
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
