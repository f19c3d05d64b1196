//! What a part of a template says: whatever nobody takes is left, and told.

use crate::text::source::Span;
use crate::text::value::Value;
use crate::text::yaml::Node;
use std::sync::Arc;

/// The keys of a map, each until somebody takes it.
#[derive(Clone, Debug)]
pub(super) struct SaidMap {
    /// Where it is in the template, as `cuvee diff` says it.
    pub path: String,
    pub span: Option<Span>,
    entries: Vec<SaidEntry>,
}

#[derive(Clone, Debug)]
struct SaidEntry {
    key: Arc<str>,
    value: Value,
    span: Option<Span>,
}

/// Something that a map says.
#[derive(Clone, Debug)]
pub(super) struct SaidValue {
    pub value: Value,
    pub path: String,
    pub span: Option<Span>,
}

impl SaidMap {
    /// That of a definition.
    pub(super) fn of_node(path: String, key: Node<'_>, body: Node<'_>) -> Self {
        let entries = body.entries().map(|(key, value)| SaidEntry {
            key: key.text().unwrap_or_default().into(),
            value: value.to_value(),
            span: Some(key.span()),
        });
        Self { path, span: Some(key.span()), entries: entries.collect() }
    }

    /// That of a value; what is no map says nothing.
    pub(super) fn of_value(path: String, value: &Value, span: Option<Span>) -> Self {
        let entries = entries(value).map(|(key, value)| SaidEntry {
            key: Arc::clone(key),
            value: value.clone(),
            span,
        });
        Self { path, span, entries: entries.collect() }
    }

    /// What a key says, which is told by whoever takes it.
    pub(super) fn take(&mut self, key: &str) -> Option<SaidValue> {
        let at = self.entries.iter().position(|entry| &*entry.key == key)?;
        let SaidEntry { key, value, span } = self.entries.remove(at);
        Some(SaidValue { value, path: format!("{}{}", self.path, step(&key)), span })
    }

    /// Leaves of a map that a key says only these entries; where there are none, nothing.
    pub(super) fn replace(&mut self, key: &str, left: Vec<(Arc<str>, Value)>) {
        if left.is_empty() {
            self.entries.retain(|entry| &*entry.key != key);
        } else if let Some(entry) = self.entries.iter_mut().find(|entry| &*entry.key == key) {
            entry.value = Value::Map(left.into());
        }
    }

    /// A text that a key says.
    pub(super) fn take_text(&mut self, key: &str) -> Option<String> {
        let at = self.entries.iter().position(|entry| &*entry.key == key)?;
        let text = self.entries.get(at)?.value.as_str()?.to_owned();
        self.entries.remove(at);
        Some(text)
    }

    /// What the entries of a key say, each in a map of its own; what stands in a list of maps of one
    /// entry is in such a map, too.
    pub(super) fn take_parts(&mut self, key: &str, part: &str) -> Vec<(String, SaidValue)> {
        let Some(taken) = self.take(key) else { return Vec::new() };
        let all = parts(&taken.value).into_iter();
        let base = &self.path;
        let named = all.map(|(name, value)| {
            let path = format!("{base}.{part}{}", step(&name));
            (name.to_string(), SaidValue { value, path, span: taken.span })
        });
        named.collect()
    }

    /// What nobody has taken.
    pub(super) fn rest(self) -> impl Iterator<Item = (Arc<str>, SaidValue)> {
        let path = self.path;
        self.entries.into_iter().filter(|it| it.value != Value::Null).map(move |entry| {
            let path = format!("{path}{}", step(&entry.key));
            (entry.key, SaidValue { value: entry.value, path, span: entry.span })
        })
    }
}

impl SaidValue {
    /// What it says, where it is a map.
    pub(super) fn map(&self) -> SaidMap {
        SaidMap::of_value(self.path.clone(), &self.value, self.span)
    }

    /// The entries of a map whose keys are these, and the others.
    pub(super) fn split(&self, is_first: impl Fn(&str) -> bool) -> (Option<Self>, Option<Self>) {
        let of = |wanted: bool| {
            let all = entries(&self.value).filter(|(key, _)| is_first(key) == wanted);
            let all: Vec<_> = all.cloned().collect();
            (!all.is_empty()).then(|| Self { value: Value::Map(all.into()), ..self.clone() })
        };
        (of(true), of(false))
    }

    /// A part of it.
    pub(super) fn part(&self, key: &str, value: &Value) -> Self {
        let path = format!("{}{}", self.path, step(key));
        Self { value: value.clone(), path, span: self.span }
    }
}

/// The entries of a map.
pub(super) fn entries(value: &Value) -> impl Iterator<Item = &(Arc<str>, Value)> {
    let entries: &[_] = if let Value::Map(entries) = value { entries } else { &[] };
    entries.iter()
}

/// The entries of a map, or of maps in a list.
fn parts(value: &Value) -> Vec<(Arc<str>, Value)> {
    match value {
        Value::List(items) => items.iter().flat_map(entries).cloned().collect(),
        value => entries(value).cloned().collect(),
    }
}

/// The step of a path that leads to a key.
pub(super) fn step(key: &str) -> String {
    let is_plain = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
    if is_plain { format!(".{key}") } else { format!("[{key:?}]") }
}
