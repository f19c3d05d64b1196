//! Tracks which keys of a map have been converted: keys that nothing takes are kept and reported.

use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::Node;
use std::sync::Arc;

/// A map whose keys are removed as they are converted.
#[derive(Clone, Debug)]
pub(super) struct SaidMap {
    /// The path in the template, in the notation of `cuvee diff`.
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

/// A value of the template, with its path and place.
#[derive(Clone, Debug)]
pub(super) struct SaidValue {
    pub value: Value,
    pub path: String,
    pub span: Option<Span>,
}

impl SaidMap {
    /// The map of a definition.
    pub(super) fn of_node(path: String, key: Node<'_>, body: Node<'_>) -> Self {
        let entries = body.entries().map(|(key, value)| SaidEntry {
            key: key.text().unwrap_or_default().into(),
            value: value.to_value(),
            span: Some(key.span()),
        });
        Self { path, span: Some(key.span()), entries: entries.collect() }
    }

    /// The map of a value; a value that is not a map has no entries.
    pub(super) fn of_value(path: String, value: &Value, span: Option<Span>) -> Self {
        let entries = entries(value).map(|(key, value)| SaidEntry {
            key: Arc::clone(key),
            value: value.clone(),
            span,
        });
        Self { path, span, entries: entries.collect() }
    }

    /// Takes the value of a key; the caller reports its losses.
    pub(super) fn take(&mut self, key: &str) -> Option<SaidValue> {
        let at = self.entries.iter().position(|entry| &*entry.key == key)?;
        let SaidEntry { key, value, span } = self.entries.remove(at);
        Some(SaidValue { value, path: format!("{}{}", self.path, step(&key)), span })
    }

    /// Replaces the value of a key by these entries; removes the key if there are none.
    pub(super) fn replace(&mut self, key: &str, left: Vec<(Arc<str>, Value)>) {
        if left.is_empty() {
            self.entries.retain(|entry| &*entry.key != key);
        } else if let Some(entry) = self.entries.iter_mut().find(|entry| &*entry.key == key) {
            entry.value = Value::Map(left.into());
        }
    }

    /// Takes the value of a key if it is a text.
    pub(super) fn take_text(&mut self, key: &str) -> Option<String> {
        let at = self.entries.iter().position(|entry| &*entry.key == key)?;
        let text = self.entries.get(at)?.value.as_str()?.to_owned();
        self.entries.remove(at);
        Some(text)
    }

    /// Takes the entries of a key, each with its name. The key may hold a map, or a list of maps
    /// with one entry each.
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

    /// The entries that nothing has taken.
    pub(super) fn rest(self) -> impl Iterator<Item = (Arc<str>, SaidValue)> {
        let path = self.path;
        self.entries.into_iter().filter(|it| it.value != Value::Null).map(move |entry| {
            let path = format!("{path}{}", step(&entry.key));
            (entry.key, SaidValue { value: entry.value, path, span: entry.span })
        })
    }
}

impl SaidValue {
    /// The value as a map of entries to take.
    pub(super) fn map(&self) -> SaidMap {
        SaidMap::of_value(self.path.clone(), &self.value, self.span)
    }

    /// Splits a map into the entries whose keys are accepted, and the others.
    pub(super) fn split(&self, is_first: impl Fn(&str) -> bool) -> (Option<Self>, Option<Self>) {
        let of = |wanted: bool| {
            let all = entries(&self.value).filter(|(key, _)| is_first(key) == wanted);
            let all: Vec<_> = all.cloned().collect();
            (!all.is_empty()).then(|| Self { value: Value::Map(all.into()), ..self.clone() })
        };
        (of(true), of(false))
    }

    /// An entry of this map, with its path.
    pub(super) fn part(&self, key: &str, value: &Value) -> Self {
        let path = format!("{}{}", self.path, step(key));
        Self { value: value.clone(), path, span: self.span }
    }
}

/// The entries of a map; none for any other value.
pub(super) fn entries(value: &Value) -> impl Iterator<Item = &(Arc<str>, Value)> {
    let entries: &[_] = if let Value::Map(entries) = value { entries } else { &[] };
    entries.iter()
}

/// The entries of a map, or of a list of maps.
fn parts(value: &Value) -> Vec<(Arc<str>, Value)> {
    match value {
        Value::List(items) => items.iter().flat_map(entries).cloned().collect(),
        value => entries(value).cloned().collect(),
    }
}

/// The path step to a key.
pub(super) fn step(key: &str) -> String {
    let is_plain = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
    if is_plain { format!(".{key}") } else { format!("[{key:?}]") }
}
