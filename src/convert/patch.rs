//! Computes the difference between two templates as patches: parts to set, and parts to remove.
//! Definitions in XML use them to keep what only YAML can express.

use crate::tosca::digest::sha256;
use cuvee_text::source::FileId;
use cuvee_text::value::Value;
use cuvee_text::yaml::{Limits, parse, write_flow};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::sync::Arc;

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum PatchStep {
    Key(Arc<str>),
    Item(usize),
}

/// The change of one part.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Patch {
    /// The path of the part: `topology_template.node_templates["a.b"].requirements[0].host`.
    pub path: String,
    /// The new value; `None` if the part is removed.
    pub value: Option<Value>,
}

/// The patches that turn one value into another.
pub(super) fn between(from: &Value, to: &Value) -> Vec<Patch> {
    let mut patches = Vec::new();
    compare(&mut String::new(), from, to, &mut patches);
    patches
}

fn compare(path: &mut String, from: &Value, to: &Value, patches: &mut Vec<Patch>) {
    let length = path.len();
    match (from, to) {
        (Value::Map(old), Value::Map(new)) if has_same_keys(old, new) => {
            for ((key, old), (_, new)) in old.iter().zip(&**new) {
                push_key(path, key);
                compare(path, old, new, patches);
                path.truncate(length);
            }
        }
        (Value::Map(old), Value::Map(new)) => {
            let [olds, news] = [old, new].map(|entries| -> IndexMap<&str, &Value> {
                entries.iter().map(|(key, value)| (&**key, value)).collect()
            });
            for key in olds.keys().filter(|key| !news.contains_key(*key)) {
                push_key(path, key);
                patches.push(Patch { path: path.clone(), value: None });
                path.truncate(length);
            }
            for (key, value) in news {
                push_key(path, key);
                match olds.get(key) {
                    Some(old) => compare(path, old, value, patches),
                    None => {
                        patches.push(Patch { path: path.clone(), value: Some(value.clone()) });
                    }
                }
                path.truncate(length);
            }
        }
        (Value::List(old), Value::List(new)) if old.len() == new.len() => {
            for (at, (old, new)) in old.iter().zip(&**new).enumerate() {
                path.push_str(&format!("[{at}]"));
                compare(path, old, new, patches);
                path.truncate(length);
            }
        }
        _ if is_written_alike(from, to) => {}
        _ => patches.push(Patch { path: path.clone(), value: Some(to.clone()) }),
    }
}

/// A digest of definitions, by which a reader can tell whether they still have the content for
/// which patches were kept.
pub(super) fn digest(said: &Value) -> String {
    let digest = sha256(write_flow(said).as_bytes());
    digest.get(..16).unwrap_or_default().to_owned()
}

/// Whether two maps have the same keys in the same order, as most have that are compared.
fn has_same_keys(one: &[(Arc<str>, Value)], other: &[(Arc<str>, Value)]) -> bool {
    let mut pairs = one.iter().zip(other);
    one.len() == other.len() && pairs.all(|((one, _), (other, _))| one == other)
}

/// Whether two values are written identically: `1` differs from `1.0`.
fn is_written_alike(one: &Value, other: &Value) -> bool {
    let has_one_form = matches!(one, Value::String(_) | Value::Bool(_) | Value::Null);
    one == other && (has_one_form || write_flow(one) == write_flow(other))
}

pub(super) fn push_key(path: &mut String, key: &str) {
    let is_plain = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
    if is_plain {
        let dot = if path.is_empty() { "" } else { "." };
        path.extend([dot, key]);
    } else {
        path.extend(["[\"", &key.replace('\\', "\\\\").replace('"', "\\\""), "\"]"]);
    }
}

/// A value whose parts are looked up by their paths. What is below a part is laid out when it is
/// first asked for, so that no map is searched for each of its entries.
pub(super) struct SearchedValue<'v> {
    value: &'v Value,
    below: OnceCell<FxHashMap<PatchStep, SearchedValue<'v>>>,
}

impl<'v> SearchedValue<'v> {
    pub(super) fn new(value: &'v Value) -> Self {
        Self { value, below: OnceCell::new() }
    }

    /// The part at a path.
    pub(super) fn at(&self, path: &str) -> Option<&'v Value> {
        let part = steps(path)?.iter().try_fold(self, |part, step| part.below().get(step));
        part.map(|part| part.value)
    }

    fn below(&self) -> &FxHashMap<PatchStep, Self> {
        self.below.get_or_init(|| match self.value {
            Value::Map(entries) => {
                let key = |key: &Arc<str>| PatchStep::Key(Arc::clone(key));
                entries.iter().map(|(name, value)| (key(name), Self::new(value))).collect()
            }
            Value::List(items) => {
                let items = items.iter().enumerate();
                items.map(|(at, item)| (PatchStep::Item(at), Self::new(item))).collect()
            }
            _ => FxHashMap::default(),
        })
    }
}

/// The steps of a path.
fn steps(path: &str) -> Option<Vec<PatchStep>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix("[\"") {
            let (key, more) = unquoted(quoted)?;
            steps.push(PatchStep::Key(key.into()));
            rest = more.strip_prefix(']')?;
        } else if let Some(item) = rest.strip_prefix('[') {
            let (number, more) = item.split_once(']')?;
            steps.push(PatchStep::Item(number.parse().ok()?));
            rest = more;
        } else {
            let plain = rest.strip_prefix('.').unwrap_or(rest);
            let end = plain.find(['.', '[']).unwrap_or(plain.len());
            let (key, more) = plain.split_at_checked(end).filter(|(key, _)| !key.is_empty())?;
            steps.push(PatchStep::Key(key.into()));
            rest = more;
        }
    }
    (!steps.is_empty()).then_some(steps)
}

/// The text up to its closing quotation mark, and the rest after it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut key = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((key, text.get(at + 1..)?)),
            '\\' => key.push(chars.next()?.1),
            c => key.push(c),
        }
    }
    None
}

/// Patches as a tree of the steps of their paths.
#[derive(Debug, Default)]
pub(super) struct PatchTree {
    /// The patch of this part itself, if there is one; the inner `None` removes the part.
    own: Option<Option<Value>>,
    below: IndexMap<PatchStep, PatchTree>,
}

impl PatchTree {
    /// Adds the patch of a path: YAML text, or `None` to remove the part. Returns false if the path
    /// or the text cannot be parsed.
    pub(super) fn add(&mut self, path: &str, text: Option<&str>) -> bool {
        let value = match text.map(|text| parse(FileId::DETACHED, text.into(), &Limits::default()))
        {
            Some(Ok(document)) => Some(document.root().to_value()),
            Some(Err(_)) => return false,
            None => None,
        };
        let Some(steps) = steps(path) else { return false };
        let mut at = self;
        for step in steps {
            at = at.below.entry(step).or_default();
        }
        at.own = Some(value);
        true
    }

    /// The value with the patches applied; `left` counts the patches whose path does not exist.
    pub(super) fn applied(&self, value: &Value, left: &mut usize) -> Value {
        match value {
            Value::Map(entries) => {
                let mut patched = Vec::with_capacity(entries.len());
                for (key, value) in &**entries {
                    let tree = self.below.get(&PatchStep::Key(Arc::clone(key)));
                    let value = tree.map_or_else(|| Some(value.clone()), |it| it.of(value, left));
                    patched.extend(value.map(|value| (Arc::clone(key), value)));
                }
                let known: FxHashSet<&str> = entries.iter().map(|(known, _)| &**known).collect();
                for (step, tree) in &self.below {
                    let PatchStep::Key(key) = step else {
                        *left += 1;
                        continue;
                    };
                    if !known.contains(&**key) {
                        match &tree.own {
                            Some(Some(value)) => patched.push((Arc::clone(key), value.clone())),
                            Some(None) => {}
                            None => *left += 1,
                        }
                    }
                }
                Value::Map(patched.into())
            }
            Value::List(items) => {
                let patched = items.iter().enumerate().filter_map(|(at, item)| {
                    let tree = self.below.get(&PatchStep::Item(at));
                    tree.map_or_else(|| Some(item.clone()), |tree| tree.of(item, left))
                });
                let patched = Value::List(patched.collect());
                let is_there =
                    |step: &PatchStep| matches!(step, PatchStep::Item(at) if *at < items.len());
                *left += self.below.keys().filter(|step| !is_there(step)).count();
                patched
            }
            other => {
                *left += self.below.len();
                other.clone()
            }
        }
    }

    fn of(&self, value: &Value, left: &mut usize) -> Option<Value> {
        match &self.own {
            Some(own) => own.clone(),
            None => Some(self.applied(value, left)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap().root().to_value()
    }

    #[test]
    fn make_one_value_of_another() {
        let from = value("{a: 1, 'b.c': {d: [x, {e: y}], f: 2}, g: 3}");
        let to = value("{a: 1.0, 'b.c': {d: [x, {e: z}]}, 'h\"i': {j: [1]}}");
        let patches = between(&from, &to);
        let paths: Vec<_> = patches.iter().map(|patch| &*patch.path).collect();
        assert_eq!(paths, ["g", "a", "[\"b.c\"].f", "[\"b.c\"].d[1].e", "[\"h\\\"i\"]"]);
        let mut tree = PatchTree::default();
        for Patch { path, value } in &patches {
            assert!(tree.add(path, value.as_ref().map(write_flow).as_deref()));
        }
        let mut left = 0;
        let patched = tree.applied(&from, &mut left);
        assert!(between(&patched, &to).is_empty() && left == 0);
    }

    #[test]
    fn what_is_not_there_any_more_is_counted() {
        let mut tree = PatchTree::default();
        assert!(tree.add("gone.part", Some("1")) && tree.add("list[7]", Some("1")));
        assert!(!tree.add("", Some("1")) && !tree.add("a[", None) && !tree.add("a", Some("{")));
        let mut left = 0;
        let same = value("{list: [1]}");
        assert_eq!(tree.applied(&same, &mut left), same);
        assert_eq!(left, 2);
    }
}
