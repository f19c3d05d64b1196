//! Takes output trees apart and puts them together again. Parts that do not change keep their
//! source text.

use crate::tosca::v2_0;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Document, Node, NodeKind, Out, OutKey, OutNode, write_yaml};
use std::borrow::Cow;

/// The entries of a map of an output tree while they are changed.
pub(crate) type MapEntries<'a> = Vec<(OutKey<'a>, Out<'a>)>;

/// The document with the sections of its topology changed.
pub(crate) fn within_topology<'a>(
    document: &Out<'a>,
    change: &mut dyn FnMut(&str, &Out<'a>) -> Out<'a>,
) -> Out<'a> {
    let mut all = entries(document);
    for (key, topology) in &mut all {
        if key_name(key) == "topology_template" {
            let mut sections = entries(topology);
            for (key, value) in &mut sections {
                *value = change(&key_name(key), value);
            }
            *topology = like(topology, sections);
        }
    }
    like(document, all)
}

/// Sets an entry of a map to what `value` makes of its old value, or removes it; a new entry comes
/// last.
pub(crate) fn set<'a>(
    all: &mut MapEntries<'a>,
    name: &str,
    value: impl FnOnce(Option<&Out<'a>>) -> Option<Out<'a>>,
) {
    match all.iter().position(|(key, _)| key_name(key) == name) {
        Some(at) => match value(Some(&all[at].1)) {
            Some(value) => all[at].1 = value,
            None => drop(all.remove(at)),
        },
        None => {
            if let Some(value) = value(None) {
                all.push((OutKey::New(name.to_owned().into()), value));
            }
        }
    }
}

pub(crate) fn key_name<'k>(key: &'k OutKey<'_>) -> Cow<'k, str> {
    match key {
        OutKey::Source(key) => key.key_text(),
        OutKey::Renamed(_, name) | OutKey::New(name) => Cow::Borrowed(name),
    }
}

/// Calls `found` with each entry of a map, as it is written.
pub(crate) fn for_each_entry<'a>(out: &Out<'a>, found: &mut dyn FnMut(&OutKey<'a>, &Out<'a>)) {
    match out {
        Out::Source(node) => {
            node.entries()
                .for_each(|(key, value)| found(&OutKey::Source(key), &Out::Source(value)));
        }
        Out::Lifted(_, inner) | Out::Below(_, inner) => for_each_entry(inner, found),
        Out::Map { entries, .. } => entries.iter().for_each(|(key, value)| found(key, value)),
        other => entries(other).iter().for_each(|(key, value)| found(key, value)),
    }
}

/// The entries of a map, as they are written.
pub(crate) fn entries<'a>(out: &Out<'a>) -> MapEntries<'a> {
    match out {
        Out::Source(node) => {
            let entries = node.entries();
            entries.map(|(key, value)| (OutKey::Source(key), Out::Source(value))).collect()
        }
        Out::Lifted(_, inner) | Out::Below(_, inner) => entries(inner),
        Out::Map { entries, .. } => entries.to_vec(),
        Out::Value(Value::Map(entries)) => entries
            .iter()
            .map(|(key, value)| (OutKey::New(key.to_string().into()), Out::Value(value.clone())))
            .collect(),
        _ => Vec::new(),
    }
}

/// The items of a list, as they are written.
pub(crate) fn items<'a>(out: &Out<'a>) -> Vec<Out<'a>> {
    match out {
        Out::Source(node) => node.items().map(Out::Source).collect(),
        Out::Lifted(_, inner) | Out::Below(_, inner) => items(inner),
        Out::Seq { items, .. } => items.iter().map(|(_, item)| item.clone()).collect(),
        Out::Value(Value::List(items)) => items.iter().cloned().map(Out::Value).collect(),
        _ => Vec::new(),
    }
}

/// A map of these entries that takes the place of `old` and keeps its position in the source.
pub(crate) fn like<'a>(old: &Out<'a>, entries: MapEntries<'a>) -> Out<'a> {
    match old {
        Out::Source(node) => Out::Map { entries: entries.into(), like: Some(*node) },
        Out::Lifted(key, inner) => Out::Lifted(*key, Box::new(like(inner, entries))),
        Out::Below(gone, inner) => Out::Below(gone.clone(), Box::new(like(inner, entries))),
        Out::Map { like, .. } => Out::Map { entries: entries.into(), like: *like },
        _ => Out::Map { entries: entries.into(), like: None },
    }
}

/// The same tree as new values: nothing of its source is left but keys, as they are written, and
/// values.
pub(crate) fn plain<'a>(out: &Out<'a>) -> Out<'a> {
    match (out, OutNode::root(out).kind()) {
        (Out::Noted(_, inner), _) => plain(inner),
        (_, NodeKind::Mapping) => {
            let all = entries(out).into_iter();
            let all = all.map(|(key, value)| (OutKey::New(written_name(&key)), plain(&value)));
            Out::Map { entries: all.collect(), like: None }
        }
        (_, NodeKind::Sequence) => {
            let all = items(out).into_iter().map(|item| (None, plain(&item)));
            Out::Seq { items: all.collect(), like: None }
        }
        (_, NodeKind::Scalar) => Out::Value(OutNode::root(out).to_value()),
    }
}

/// The name of a key as its author wrote it: keynames of TOSCA 2.0 have others in the tree.
fn written_name<'a>(key: &OutKey<'a>) -> Cow<'a, str> {
    let is_keyname =
        |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    match key {
        OutKey::Source(key) if key.document().is_called_otherwise() => {
            let written = v2_0::written(*key);
            let written = Some(written).filter(|written| is_keyname(written));
            written.map_or_else(|| key.key_text().into_owned(), str::to_owned).into()
        }
        key => key_name(key).into_owned().into(),
    }
}

pub(crate) fn rebuilt<'a>(old: Option<&Out<'a>>, entries: MapEntries<'a>) -> Out<'a> {
    match old {
        Some(old) => like(old, entries),
        None => Out::Map { entries: entries.into(), like: None },
    }
}

/// Writes into the body of a requirement assignment how many relations stay open. TOSCA 2.0 has no
/// range here: it gets `count`, and `optional` where relations may be missing.
pub(super) fn set_open<'a>(body: &mut MapEntries<'a>, item: &Out<'a>, (min, max): (Value, Value)) {
    let source = match item {
        Out::Source(node) => Some(*node),
        Out::Map { like, .. } => *like,
        _ => None,
    };
    if source.is_none_or(|node| !node.document().is_called_otherwise()) {
        set(body, "occurrences", |_| Some(Out::Value(Value::from(vec![min, max]))));
        return;
    }
    let is_optional = min != max;
    let is_one = max == Value::from(1_i64);
    set(body, "count", |_| (!is_one).then_some(Out::Value(max)));
    set(body, "optional", |_| is_optional.then(|| Out::Value(true.into())));
}

/// A list of these items that takes the place of `old`.
pub(crate) fn like_list<'a>(old: &Out<'a>, items: Vec<(Option<Node<'a>>, Out<'a>)>) -> Out<'a> {
    match old {
        Out::Source(node) if node.kind() == NodeKind::Sequence => {
            Out::Seq { items: items.into(), like: Some(*node) }
        }
        Out::Seq { like, .. } => Out::Seq { items: items.into(), like: *like },
        Out::Lifted(key, inner) => Out::Lifted(*key, Box::new(like_list(inner, items))),
        _ => Out::Seq { items: items.into(), like: None },
    }
}

/// The body of a node template without the first of its directives.
pub(crate) fn without_directive<'a>(template: &Out<'a>) -> Out<'a> {
    let mut body = entries(template);
    set(&mut body, "directives", |old| {
        let rest = old.map(items).unwrap_or_default().into_iter().skip(1);
        old.map(|old| like_list(old, rest.map(|item| (None, item)).collect()))
    });
    like(template, body)
}

/// The key of the value in a document that was made for it.
pub(crate) const MADE: &str = "made";

/// A document of a version with a value, for what reads documents only.
pub(crate) fn made(value: Out<'_>, is_2_0: bool) -> Option<Document> {
    let version = is_2_0.then(|| {
        (OutKey::New("tosca_definitions_version".into()), Out::String(v2_0::VERSION.into()))
    });
    let value = (OutKey::New(MADE.into()), value);
    let out = Out::Map { entries: version.into_iter().chain([value]).collect(), like: None };
    v2_0::parsed(write_yaml(&out)).ok()
}
