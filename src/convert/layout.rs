//! How converted templates are written: sections in blocks, what is short in one line.

use crate::text::source::FileId;
use crate::text::value::Value;
use crate::text::yaml::{Document, Limits, Node, Out, OutKey, parse, write_yaml};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

/// What is longer is not put into one line.
const WIDTH: usize = 100;

/// What one line looks like.
const STYLE: &str = "map: { a: b }\nlist: [a]\n";

/// Parts of the document that have parts of their own: each of these gets lines.
const SECTIONS: [&str; 7] = [
    "inputs",
    "node_templates",
    "relationship_templates",
    "policies",
    "outputs",
    "substitution_mappings",
    "workflows",
];

/// Writes a document.
pub(super) fn write(document: &Value) -> String {
    let style = parse(FileId::DETACHED, STYLE.into(), &Limits::default()).ok();
    let like = |key| style.as_ref().map(Document::root).and_then(|root| root.get(key));
    write_yaml(&YamlLayout { map: like("map"), list: like("list") }.document(document))
}

struct YamlLayout<'s> {
    /// A map in one line.
    map: Option<Node<'s>>,
    /// A list in one line.
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

    /// With a line for each part.
    fn block(&self, value: &'s Value, part: &dyn Fn(&'s str, &'s Value) -> Out<'s>) -> Out<'s> {
        match value {
            Value::Map(entries) => Out::Map { entries: entries_of(entries, part), like: None },
            Value::List(items) => {
                // What an item is called stands behind its dash.
                let item = |item: &'s Value| match item {
                    Value::Map(entries) if !entries.is_empty() => self.block(item, part),
                    _ => part("", item),
                };
                Out::Seq { items: items.iter().map(|it| (None, item(it))).collect(), like: None }
            }
            other => Out::Value(other.clone()),
        }
    }

    /// In one line where it fits into it, behind `before` columns.
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

/// Whether it is a list of which each item has a line.
fn is_listed(key: &str, value: &Value) -> bool {
    key == "requirements" && matches!(value, Value::List(items) if !items.is_empty())
}

/// How wide something is in one line; nothing where it needs several.
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

/// So many entries are looked through faster than looked up.
const LOOKED_THROUGH: usize = 16;

/// A map that is being made.
#[derive(Default)]
pub(super) struct YamlMap {
    entries: Vec<(Arc<str>, Value)>,
    /// Where the first entry of a name is, of maps that are not looked through.
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

    /// Where there is something to put.
    pub(super) fn put_some(&mut self, key: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }

    /// Where there is anything in it.
    pub(super) fn put_map(&mut self, key: &str, map: Self) {
        if !map.is_empty() {
            self.put(key, map);
        }
    }

    /// Where there is anything in it.
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

    /// With the entries of another one behind its own.
    pub(super) fn append(&mut self, other: Self) {
        other.entries.into_iter().for_each(|(key, value)| self.push(key, value));
    }
}

impl From<YamlMap> for Value {
    fn from(map: YamlMap) -> Self {
        Self::Map(map.entries.into())
    }
}
