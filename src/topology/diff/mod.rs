//! Compares two plain templates by their elements and the contents of those, not by lines.
//!
//! Documents are compared as data: style, comments and the order of map entries do not count, and
//! `1` equals `1.0`. Where TOSCA allows several notations, they are equal: a requirement may be
//! written as its target only, and policies as a list or as a map. Elements and their parts are
//! matched by name; requirements that share a name are matched by their target. Members and targets
//! are compared as sets.
//!
//! ```
//! use cuvee::Resolver;
//! use cuvee::topology::diff::{Edit, diff};
//!
//! let of = |preset| Resolver::new("examples/shop").preset(preset).resolve().map(|resolution| resolution.to_value());
//! let diff = diff(&of("dev")?, &of("prod")?);
//! let protocol = diff.changes.iter().find(|change| change.element == "node.shop" && change.path == "property.protocol").unwrap();
//! assert_eq!(protocol.edit, Edit::Changed { from: "http".into(), to: "https".into() });
//! # Ok::<(), cuvee::Failure>(())
//! ```

use crate::tosca::shape::{Holds, SERVICE, Shape};
use cuvee_text::answer::Failure;
use cuvee_text::files::Files;
use cuvee_text::source::FileSystem;
use cuvee_text::value::Value;
use cuvee_text::yaml::write_flow;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::hash::Hash;
use std::path::Path;
use std::sync::Arc;

/// The element of a change that belongs to no other element.
pub const DOCUMENT: &str = "document";

/// All differences between two templates, each as small as possible.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Diff {
    /// The changes in the order of the first document; in each map, entries that only the second
    /// document has come last.
    pub changes: Vec<Change>,
}

impl Diff {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// One difference.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Change {
    /// The element: `node.shop`, `relationship.r`, `group.g`, `policy.p`, `input.i`, `output.o`,
    /// `import.file`, else [`DOCUMENT`].
    pub element: String,
    /// The path within the element: `type`, `property.port`, `requirement.host.node`,
    /// `artifact.image.file`, `members`. For [`DOCUMENT`] these are the keys, such as
    /// `topology_template.substitution_mappings.node_type`. Empty if the change is about the whole
    /// element.
    pub path: String,
    /// The change at the path.
    #[serde(flatten)]
    pub edit: Edit,
}

/// The change of a value.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Edit {
    /// Only the second document has the value.
    Added {
        /// The value in the second document.
        to: Value,
    },
    /// Only the first document has the value.
    Removed {
        /// The value in the first document.
        from: Value,
    },
    /// Both documents have a value, and the values differ.
    Changed {
        /// The value in the first document.
        from: Value,
        /// The value in the second document.
        to: Value,
    },
}

impl Edit {
    /// The values in the first and in the second document.
    pub(crate) fn sides(&self) -> [Option<&Value>; 2] {
        match self {
            Self::Added { to } => [None, Some(to)],
            Self::Removed { from } => [Some(from), None],
            Self::Changed { from, to } => [Some(from), Some(to)],
        }
    }
}

/// Compares two plain templates. Their values may be nested as deeply as in any parsed document.
///
/// The comparison is symmetric: with the sides swapped, it finds the same changes, swapped.
///
/// ```
/// use cuvee::topology::diff::diff;
/// use cuvee::source::FileId;
/// use cuvee::parts::yaml::{Limits, parse};
///
/// let read = |text: &str| parse(FileId::DETACHED, text.into(), &Limits::default()).map(|document| document.root().to_value());
/// let from = read("topology_template: {node_templates: {shop: {type: Shop, requirements: [{host: engine}, {cache: cache}]}}}")?;
/// let to = read("topology_template: {node_templates: {shop: {requirements: [{cache: {node: cache}}, {host: box}], type: Shop}}}")?;
/// let diff = diff(&from, &to);
/// assert_eq!(diff.changes.len(), 1);
/// assert_eq!((&*diff.changes[0].element, &*diff.changes[0].path), ("node.shop", "requirement.host.node"));
/// # Ok::<(), cuvee::diagnostic::Diagnostic>(())
/// ```
pub fn diff(from: &Value, to: &Value) -> Diff {
    let mut walk = Walk::of(None, String::new());
    walk.body(&SERVICE, from, to);
    Diff { changes: walk.changes }
}

/// As [`diff`], without what only the second template has.
pub(crate) fn lost(from: &Value, to: &Value) -> Vec<Change> {
    let mut walk = Walk { leaves_out_added: true, ..Walk::of(None, String::new()) };
    walk.body(&SERVICE, from, to);
    walk.changes
}

/// The differences between two values of an element, below a path.
pub(crate) fn values(path: String, from: Option<&Value>, to: Option<&Value>) -> Vec<Change> {
    let mut walk = Walk::of(Some(String::new()), path);
    walk.sides(from, to, Walk::value);
    walk.changes
}

/// Reads a plain template in order to compare it; nothing is resolved.
///
/// # Errors
/// A [`Failure`] where the file cannot be read or is not well-formed.
pub fn read(path: &Path, files: &dyn FileSystem) -> Result<Value, Failure> {
    let texts = Files::default();
    match texts.document(files, path) {
        Ok(document) => Ok(document.root().to_value()),
        Err(error) => Err(Failure { diagnostics: vec![error], sources: texts.sources().clone() }),
    }
}

/// The keyname of version 1.3 in the place of which TOSCA 2.0 has this one.
fn keyname_in_1_3(key: &str) -> &str {
    match key {
        "service_template" => "topology_template",
        "url" | "profile" => "file",
        other => other,
    }
}

/// Whether a key is the keyname whose value may stand alone.
fn is_short(shape: &Shape, key: &str) -> bool {
    shape.short.is_some_and(|short| key == short || keyname_in_1_3(key) == short)
}

/// The value with its short notation, if it uses one, replaced by the long one, in the words of the
/// value that it is compared with.
fn long<'v>(shape: &Shape, value: &'v Value, other: &Value) -> Cow<'v, Value> {
    match (shape.short, value) {
        (Some(short), Value::String(_)) | (Some(short @ "node"), Value::List(_)) => {
            let mut keys = entries(other).unwrap_or_default().iter().map(|(key, _)| key);
            let key = keys.find(|key| is_short(shape, key) && &***key != "profile");
            let key = key.map_or_else(|| short.into(), Arc::clone);
            Cow::Owned(Value::Map([(key, value.clone())].into()))
        }
        _ => Cow::Borrowed(value),
    }
}

/// The text that the short notation of the value would consist of.
fn gist<'v>(shape: &Shape, value: &'v Value) -> Option<&'v str> {
    value.as_str().or_else(|| {
        let (_, gist) = entries(value)?.iter().find(|(key, _)| is_short(shape, key))?;
        gist.as_str()
    })
}

type Index<K, V> = IndexMap<K, V, FxBuildHasher>;

/// The key by which the parts of both sides are matched.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key<'v> {
    name: &'v str,
    /// The target of the part, if other parts share its name.
    target: Option<&'v str>,
    /// The position among the parts that share the name and the target.
    nth: usize,
}

/// The differences found so far, and the current place in both documents.
struct Walk {
    element: Option<String>,
    path: String,
    changes: Vec<Change>,
    leaves_out_added: bool,
}

impl Walk {
    fn of(element: Option<String>, path: String) -> Self {
        Self { element, path, changes: Vec::new(), leaves_out_added: false }
    }

    fn push(&mut self, edit: Edit) {
        if self.leaves_out_added && matches!(edit, Edit::Added { .. }) {
            return;
        }
        let element = self.element.clone().unwrap_or_else(|| DOCUMENT.into());
        self.changes.push(Change { element, path: self.path.clone(), edit });
    }

    /// Compares a value of both sides; a value that only one side has is reported as a whole.
    fn sides(
        &mut self,
        from: Option<&Value>,
        to: Option<&Value>,
        both: impl FnOnce(&mut Self, &Value, &Value),
    ) {
        match (from, to) {
            (Some(from), Some(to)) => both(self, from, to),
            (Some(from), None) => self.push(Edit::Removed { from: from.clone() }),
            (None, Some(to)) => self.push(Edit::Added { to: to.clone() }),
            (None, None) => {}
        }
    }

    fn at(&mut self, step: &str, inner: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push_str(step.strip_prefix('.').filter(|_| length == 0).unwrap_or(step));
        inner(self);
        self.path.truncate(length);
    }

    /// Goes into a part. The outermost part is an element, and the paths start within it.
    fn at_part(&mut self, part: &str, key: Key<'_>, inner: impl FnOnce(&mut Self)) {
        let target = key.target.map(bracketed).unwrap_or_default();
        let nth = if key.nth > 0 { format!("@{}", key.nth) } else { String::new() };
        if self.element.is_some() {
            return self.at(&format!(".{part}{}{target}{nth}", step(key.name)), inner);
        }
        let outside = std::mem::take(&mut self.path);
        self.element = Some(format!("{part}.{}{target}{nth}", key.name));
        inner(self);
        self.element = None;
        self.path = outside;
    }

    fn body(&mut self, shape: &'static Shape, from: &Value, to: &Value) {
        let (from, to) = (long(shape, from, to), long(shape, to, from));
        let (Some(a), Some(b)) = (entries(&from), entries(&to)) else {
            return self.value(&from, &to);
        };
        for (key, from, to) in union(&index(a), &index(b)) {
            if from.zip(to).is_some_and(|(from, to)| is_written_alike(from, to)) {
                continue;
            }
            let name = keyname_in_1_3(key);
            let keyname = shape.keynames.iter().find(|keyname| keyname.name == name);
            let step = step(key);
            if !keyname.is_some_and(|keyname| self.below(&keyname.holds, &step, from, to)) {
                self.at(&step, |walk| walk.sides(from, to, Self::value));
            }
        }
    }

    /// Compares what is below a keyname that has parts; returns false if the keyname has none.
    fn below(
        &mut self,
        holds: &Holds,
        step: &str,
        from: Option<&Value>,
        to: Option<&Value>,
    ) -> bool {
        match *holds {
            Holds::Value => return false,
            Holds::One(shape) if self.element.is_some() => {
                self.at(step, |walk| {
                    walk.sides(from, to, |walk, from, to| walk.body(shape, from, to))
                });
            }
            // A whole topology is not an element, so its contents are reported.
            Holds::One(shape) => {
                self.at(step, |walk| {
                    walk.body(shape, from.unwrap_or(&Value::Null), to.unwrap_or(&Value::Null))
                });
            }
            Holds::Named(part, shape) => match (parts(from, shape), parts(to, shape)) {
                (Some(from), Some(to)) => self.parts(part, shape, &from, &to),
                _ => return false,
            },
            Holds::Listed(part, shape) => match (listed(from, shape), listed(to, shape)) {
                (Some(from), Some(to)) => self.parts(part, shape, &from, &to),
                _ => return false,
            },
            Holds::Set => match (members(from), members(to)) {
                (Some(from), Some(to)) => self.at(step, |walk| walk.set(&from, &to)),
                _ => return false,
            },
        }
        true
    }

    fn parts(
        &mut self,
        part: &str,
        shape: &'static Shape,
        from: &[DiffPart<'_>],
        to: &[DiffPart<'_>],
    ) {
        let repeated = repeated(from).chain(repeated(to)).collect();
        let (from, to) = (keyed(from, &repeated), keyed(to, &repeated));
        for (key, from, to) in union(&from, &to) {
            if !from.zip(to).is_some_and(|(from, to)| is_written_alike(from, to)) {
                self.at_part(part, key, |walk| {
                    walk.sides(from, to, |walk, from, to| walk.body(shape, from, to))
                });
            }
        }
        self.orders(part, &from, &to);
    }

    /// Reports a different order of the parts that share a name: the order may decide which comes
    /// first.
    fn orders(&mut self, part: &str, from: &Index<Key<'_>, &Value>, to: &Index<Key<'_>, &Value>) {
        let (mut orders, targets) = (targets(from, to), targets(to, from));
        for (name, from) in orders.drain(..) {
            let to = targets.get(name).cloned().unwrap_or_default();
            if from != to {
                let list = |targets: Vec<&str>| {
                    Value::from(targets.into_iter().map(Value::from).collect::<Vec<_>>())
                };
                let edit = Edit::Changed { from: list(from), to: list(to) };
                self.at_part(part, Key { name, target: None, nth: 0 }, |walk| walk.push(edit));
            }
        }
    }

    fn set(&mut self, from: &Index<SetMember<'_>, &Value>, to: &Index<SetMember<'_>, &Value>) {
        for (_, from, to) in union(from, to) {
            self.sides(from, to, |_, _, _| {});
        }
    }

    fn value(&mut self, from: &Value, to: &Value) {
        match (from, to) {
            (Value::Map(a), Value::Map(b)) => {
                for (key, from, to) in union(&index(a), &index(b)) {
                    self.at(&step(key), |walk| walk.sides(from, to, Self::value));
                }
            }
            (Value::List(a), Value::List(b)) => self.list(a, b),
            _ if is_same(from, to) => {}
            _ => self.push(Edit::Changed { from: from.clone(), to: to.clone() }),
        }
    }

    /// Compares lists: items are matched by position, and items at the end by position from the
    /// end.
    fn list(&mut self, from: &[Value], to: &[Value]) {
        let head = from.iter().zip(to).take_while(|(from, to)| is_same(from, to)).count();
        let (from, to) = (&from[head..], &to[head..]);
        let tail = from
            .iter()
            .rev()
            .zip(to.iter().rev())
            .take_while(|(from, to)| is_same(from, to))
            .count();
        let (from, to) = (&from[..from.len() - tail], &to[..to.len() - tail]);
        for index in 0..from.len().max(to.len()) {
            let step = format!("[{}]", head + index);
            self.at(&step, |walk| walk.sides(from.get(index), to.get(index), Self::value));
        }
    }
}

/// The entries of a map; null counts as an empty map.
fn entries(value: &Value) -> Option<&[(Arc<str>, Value)]> {
    match value {
        Value::Null => Some(&[]),
        Value::Map(entries) => Some(entries),
        _ => None,
    }
}

fn index(entries: &[(Arc<str>, Value)]) -> Index<&str, &Value> {
    entries.iter().map(|(key, value)| (&**key, value)).collect()
}

/// All keys of both sides, each with its value on either side.
fn union<'v, K: Clone + Eq + Hash>(
    from: &Index<K, &'v Value>,
    to: &Index<K, &'v Value>,
) -> impl Iterator<Item = (K, Option<&'v Value>, Option<&'v Value>)> {
    let first = from.iter().map(|(key, value)| (key.clone(), Some(*value), to.get(key).copied()));
    let second = to
        .iter()
        .filter(|(key, _)| !from.contains_key(*key))
        .map(|(key, value)| (key.clone(), None, Some(*value)));
    first.chain(second)
}

/// A part of an element, as one side has it.
struct DiffPart<'v> {
    name: &'v str,
    /// The text that distinguishes the part from others of the same name.
    gist: Option<&'v str>,
    value: &'v Value,
}

/// The parts in a map, or in a list of maps with one entry each, by name.
fn parts<'v>(value: Option<&'v Value>, shape: &Shape) -> Option<Vec<DiffPart<'v>>> {
    let part = |(name, value)| DiffPart { name, gist: gist(shape, value), value };
    match value.unwrap_or(&Value::Null) {
        Value::List(items) => items.iter().map(|item| named(item).map(part)).collect(),
        value => Some(entries(value)?.iter().map(|(name, value)| part((name, value))).collect()),
    }
}

/// The parts in a list, by their gist or else by their name.
fn listed<'v>(value: Option<&'v Value>, shape: &Shape) -> Option<Vec<DiffPart<'v>>> {
    let part = |(name, value)| DiffPart { name, gist: None, value };
    match value.unwrap_or(&Value::Null) {
        Value::Null => Some(Vec::new()),
        Value::List(items) => items
            .iter()
            .map(|item| {
                gist(shape, item).map(|gist| (gist, item)).or_else(|| named(item)).map(part)
            })
            .collect(),
        _ => None,
    }
}

fn named(item: &Value) -> Option<(&str, &Value)> {
    match item {
        Value::Map(entries) => match &**entries {
            [(name, value)] => Some((name, value)),
            _ => None,
        },
        _ => None,
    }
}

fn repeated<'v>(parts: &[DiffPart<'v>]) -> impl Iterator<Item = &'v str> {
    let mut seen = FxHashSet::default();
    parts.iter().map(|part| part.name).filter(move |name| !seen.insert(*name))
}

fn keyed<'v>(parts: &[DiffPart<'v>], repeated: &FxHashSet<&str>) -> Index<Key<'v>, &'v Value> {
    let mut counts: FxHashMap<_, usize> = FxHashMap::default();
    let key = |&DiffPart { name, gist, value }: &DiffPart<'v>| {
        let target = gist.filter(|_| repeated.contains(name));
        let count = counts.entry((name, target)).or_default();
        *count += 1;
        (Key { name, target, nth: *count - 1 }, value)
    };
    parts.iter().map(key).collect()
}

/// The targets of parts that share a name, in their order, limited to those that the other side has
/// too.
fn targets<'v>(
    side: &Index<Key<'v>, &Value>,
    other: &Index<Key<'_>, &Value>,
) -> Index<&'v str, Vec<&'v str>> {
    let mut targets: Index<_, Vec<_>> = Index::default();
    for key in side.keys().filter(|key| other.contains_key(*key)) {
        if let Some(target) = key.target {
            targets.entry(key.name).or_default().push(target);
        }
    }
    targets
}

/// The key by which members of sets are compared.
#[derive(Clone, PartialEq, Eq, Hash)]
enum SetMember<'v> {
    Name(&'v str),
    /// Any other value as text, with maps sorted and numbers normalised.
    Other(Arc<str>),
}

fn members<'v>(value: Option<&'v Value>) -> Option<Index<SetMember<'v>, &'v Value>> {
    let member = |item: &'v Value| match item {
        Value::String(name) => (SetMember::Name(name), item),
        _ => (SetMember::Other(write_flow(&normal(item)).into()), item),
    };
    match value.unwrap_or(&Value::Null) {
        Value::Null => Some(Index::default()),
        Value::List(items) => Some(items.iter().map(member).collect()),
        _ => None,
    }
}

/// The value in its normal form.
fn normal(value: &Value) -> Value {
    match value {
        Value::Map(entries) => {
            let mut entries: Vec<_> =
                entries.iter().map(|(key, value)| (key.clone(), normal(value))).collect();
            entries.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Map(entries.into())
        }
        Value::List(items) => items.iter().map(normal).collect::<Vec<_>>().into(),
        Value::Number(number) => {
            number.as_int().map_or_else(|| number.as_f64().into(), Value::from)
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

/// Whether two values are equal; unlike with `==`, NaN equals itself.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || (a.as_f64().is_nan() && b.as_f64().is_nan())
        }
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_same(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            let others = index(b);
            a.len() == b.len()
                && a.iter().all(|(key, a)| others.get(&**key).is_some_and(|b| is_same(a, b)))
        }
        _ => a == b,
    }
}

/// Whether two values are written alike, so that nothing can differ. Most parts of two variants
/// are.
fn is_written_alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_written_alike(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            let mut pairs = a.iter().zip(b.iter());
            a.len() == b.len() && pairs.all(|(a, b)| a.0 == b.0 && is_written_alike(&a.1, &b.1))
        }
        (Value::List(_) | Value::Map(_), _) | (_, Value::List(_) | Value::Map(_)) => false,
        _ => is_same(a, b),
    }
}

/// A name as a further step of a path.
pub(crate) fn step(key: &str) -> String {
    if is_plain(key) { [".", key].concat() } else { bracketed(key) }
}

fn bracketed(key: &str) -> String {
    if is_plain(key) { format!("[{key}]") } else { format!("[{key:?}]") }
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-~#@:".contains(c))
}

#[cfg(test)]
mod tests;
