//! Reads documents of TOSCA 2.0 into the tree that those of the Simple Profile 1.3 make, too.
//!
//! The [grammar](grammar) of TOSCA 2.0 is a table, as the shapes of version 1.3 are. It says for
//! each keyname by which name the tree has it: what both versions have has the name of version
//! 1.3. So all other code reads one tree. The text stays as it was written, and what is written
//! has the names that the author wrote.

pub(crate) mod clause;
pub(crate) mod function;
pub(crate) mod grammar;
mod told;

pub(crate) use told::{cite, tell};

use crate::diagnostic::{Code, Diagnostic, Rule, Severity, TOSCA_2_0};
use cuvee_text::source::{FileId, SourceText};
use cuvee_text::value::Value;
use cuvee_text::yaml::{Document, Limits, Node, NodeKind, OutNode, Scalar, parse};
use function::{PlainText, constant};
use grammar::{ElementGrammar, FILE, KeynameContent};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The `tosca_definitions_version` of TOSCA 2.0 documents.
pub(crate) const VERSION: &str = "tosca_2_0";

/// Whether a document is one of TOSCA 2.0.
pub(crate) fn is_of(document: &Document) -> bool {
    document.is_called_otherwise()
}

/// Whether a value calls this function.
pub(crate) fn calls_function(value: &Value, function: &str) -> bool {
    let is_it = |text: &str| function_name(text) == Some(function);
    match value {
        Value::String(text) => is_it(text),
        Value::List(items) => items.iter().any(|item| calls_function(item, function)),
        Value::Map(entries) => {
            entries.iter().any(|(key, value)| is_it(key) || calls_function(value, function))
        }
        _ => false,
    }
}

/// The warning about a `default` where no value is needed: one of the standard's own examples has
/// it.
pub(crate) fn default_of_optional(noun: &str, key: Node<'_>) -> Diagnostic {
    let section = if noun == "property" { "9.3" } else { "9.7" };
    let message = format!("a {noun} that is not required has no `default`");
    let warning = Diagnostic::warning(Code::InvalidDefinition, message).at(key.span());
    let help = "leave out one of `default` and `required: false`";
    warning.rule(Rule::new(&TOSCA_2_0, section)).help(help)
}

/// Whether this is that warning.
pub(crate) fn is_default_of_optional(found: &Diagnostic) -> bool {
    found.code == Code::InvalidDefinition && found.severity == Severity::Warning
}

/// Whether a document that is written says that it is one of TOSCA 2.0.
pub(crate) fn is_said_in(document: OutNode<'_, '_>) -> bool {
    let version = document.get("tosca_definitions_version").and_then(OutNode::text);
    version.as_deref() == Some(VERSION)
}

/// Where an output is mapped to. A definition as a parameter says so beside its other keynames.
pub(crate) fn output_mapping(value: Node<'_>) -> Node<'_> {
    value.get("mapping").filter(|_| is_of(value.document())).unwrap_or(value)
}

/// Whether the mapping of an output differs from the one that is there.
pub(crate) fn remaps(before: Node<'_>, mapping: Node<'_>) -> bool {
    before.kind() == NodeKind::Sequence && before.to_value() != mapping.to_value()
}

/// Whether a step of a path of an output, as [`output_path`] gives it, leads away from an element and
/// its capabilities, to what only templates know.
pub(crate) fn leads_away(step: Node<'_>) -> bool {
    let leads = ["RELATIONSHIP", "CAPABILITY", "SOURCE", "TARGET"];
    step.text().is_some_and(|step| leads.contains(&step)) && is_of(step.document())
}

/// The path of an output: a keyword, and an attribute of it or a capability of it with one. A path of
/// TOSCA 2.0 that leads to others stays as it is.
pub(crate) fn output_path(value: Node<'_>, of_relationship: bool) -> Vec<Node<'_>> {
    let path: Vec<_> = value.items().collect();
    let read = if is_of(value.document()) { local_path(&path, of_relationship) } else { None };
    read.unwrap_or(path)
}

/// A path that leads to an attribute of an element, of an end of a relationship, or of a capability
/// of them, as version 1.3 writes it. Other paths should not be used for outputs (section 9.9).
pub(crate) fn local_path<S: PathStep>(path: &[S], of_relationship: bool) -> Option<Vec<S>> {
    let is = |at: usize, word: &str| path.get(at).and_then(S::word) == Some(word);
    let leads_to_end = is(0, "SELF") && (is(1, "SOURCE") || is(1, "TARGET"));
    let first = if leads_to_end { 2 } else { 1 };
    let is_capability_of_target = of_relationship && !leads_to_end && is(1, "CAPABILITY");
    let leads_away = is(first, "RELATIONSHIP") && path.len() > first + 1;
    simple_path(path).filter(|_| !leads_away && !is_capability_of_target)
}

/// A path of TOSCA 2.0 (section 10.3) as version 1.3 writes it: it has no words before capabilities
/// and the ends of relationships. Nothing if version 1.3 has no such path.
pub(crate) fn simple_path<S: PathStep>(path: &[S]) -> Option<Vec<S>> {
    let said: Vec<_> = path.iter().map(|step| (step.word(), step.index())).collect();
    let is = |at: usize, words: &[&str]| {
        said.get(at).and_then(|(word, _)| *word).is_some_and(|word| words.contains(&word))
    };
    let entity = usize::from(is(0, &["SELF"]) && is(1, &["SOURCE", "TARGET"]));
    let behind = names_behind(entity + 1, &said, &is)?;
    [entity].into_iter().chain(behind).map(|at| path.get(at).cloned()).collect()
}

/// The positions of the names behind an entity: through a capability, through the target of a
/// requirement's first relation, or to the entity itself.
fn names_behind(
    mut at: usize,
    said: &[(Option<&str>, Option<i64>)],
    is: &dyn Fn(usize, &[&str]) -> bool,
) -> Option<Vec<usize>> {
    let index = |at: usize| said.get(at).and_then(|(_, index)| *index);
    // The node of this index among those of its template is as the others are.
    while index(at).is_some() {
        at += 1;
    }
    let rest = |at: usize| at..said.len();
    if at + 1 < said.len() && is(at, &["CAPABILITY"]) {
        let has_name = !is(at + 1, &["RELATIONSHIP"]);
        let has_value = at + 2 < said.len() && !is(at + 2, &["RELATIONSHIP"]);
        return (has_name && has_value).then(|| rest(at + 1).collect());
    }
    if at + 1 < said.len() && is(at, &["RELATIONSHIP"]) {
        let end = if index(at + 2) == Some(0) { at + 3 } else { at + 2 };
        let leads_on = is(end + 1, &["CAPABILITY", "RELATIONSHIP"]);
        let names = || [at + 1].into_iter().chain(rest(end + 1)).collect();
        return (is(end, &["TARGET"]) && !leads_on).then(names);
    }
    (!is(at, &["ALL", "SOURCE", "TARGET"])).then(|| rest(at).collect())
}

/// A step of a path: a node of a document, or a value.
pub(crate) trait PathStep: Clone {
    /// Its text.
    fn word(&self) -> Option<&str>;

    /// Its number, if it is an index.
    fn index(&self) -> Option<i64>;
}

impl PathStep for Node<'_> {
    fn word(&self) -> Option<&str> {
        self.as_str()
    }

    fn index(&self) -> Option<i64> {
        if let Some(Scalar::Int(index)) = self.scalar() { Some(index) } else { None }
    }
}

impl PathStep for Value {
    fn word(&self) -> Option<&str> {
        self.as_str()
    }

    fn index(&self) -> Option<i64> {
        if let Value::Number(number) = self { number.as_int() } else { None }
    }
}

/// Reads the text of a file that has no place, of whatever version.
///
/// # Errors
/// `syntax` if the text is not YAML.
pub(crate) fn parsed(text: impl Into<SourceText>) -> Result<Document, Diagnostic> {
    parse(FileId::DETACHED, text.into(), &Limits::default()).map(read)
}

/// Gives the keynames of a document of version 2.0 the names that the tree has for them. Other
/// documents are returned unchanged.
pub(crate) fn read(document: Document) -> Document {
    let version = document.root().get("tosca_definitions_version");
    let Some(version) = version.filter(|version| version.text() == Some(VERSION)) else {
        return document;
    };
    // The version keeps its name, and says that the document was read.
    let mut called = vec![(version.position(), VERSION)];
    element(document.root(), &FILE, &mut called);
    document.called(&called)
}

/// The keys of a document that are no keynames where they stand, although they were probably meant
/// to be: to leave them out would change the meaning. `is_word` knows the words that an extension
/// adds.
pub(crate) fn mistaken_keynames(
    document: &Document,
    is_word: &dyn Fn(&str) -> bool,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if is_of(document) {
        mistaken(document.root(), &FILE, is_word, &mut found);
    }
    found
}

fn mistaken(
    node: Node<'_>,
    entity: &'static ElementGrammar,
    is_word: &dyn Fn(&str) -> bool,
    found: &mut Vec<Diagnostic>,
) {
    if entity.takes_value(node, is_word) {
        return;
    }
    for (key, value) in node.entries() {
        let name = written(key);
        match entity.keyname(name) {
            Some(keyname) => {
                keyname
                    .holds
                    .bodies(value, &mut |body, below| mistaken(body, below, is_word, found));
            }
            None if entity.is_meant(name) && !is_word(name) => {
                found.push(entity.unknown(key, name))
            }
            None => {}
        }
    }
}

/// What is below a keyname that TOSCA 2.0 has by another name, if it has it at all. There, what is
/// written by the name of version 1.3 is no keyname.
pub(crate) fn renamed<'n>(node: Node<'n>, field: &str) -> Option<Node<'n>> {
    let (key, value) = node.entries().find(|(key, _)| key.text() == Some(field))?;
    (!is_of(node.document()) || written(key) != field).then_some(value)
}

/// The text of a key as the author wrote it.
pub(crate) fn written(key: Node<'_>) -> &str {
    let span = key.span();
    let text = key.document().text().get(span.start as usize..span.end as usize);
    text.unwrap_or_default().trim_matches(['"', '\''])
}

/// The name of the function that a node of TOSCA 2.0 calls, and its arguments: a map with one key
/// behind a `$`, or a text behind one, which has no arguments (section 10.1).
pub(crate) fn called(node: Node<'_>) -> Option<(&str, Option<Node<'_>>)> {
    if node.kind() == NodeKind::Scalar {
        return Some((function_name(node.as_str()?)?, None));
    }
    let mut entries = node.entries();
    let (key, arguments) = entries.next().filter(|_| entries.len() == 0)?;
    Some((function_name(key.as_str()?)?, Some(arguments).filter(|it| !it.is_null())))
}

/// The arguments of a call: those that are listed, or the only one.
pub(crate) fn listed(arguments: Option<Node<'_>>) -> Vec<Node<'_>> {
    match arguments {
        Some(list) if list.kind() == NodeKind::Sequence => list.items().collect(),
        one => one.into_iter().collect(),
    }
}

/// Whether functions are called in a value of TOSCA 2.0.
pub(crate) fn calls(value: Node<'_>) -> bool {
    let is_called = || called(value).is_some() || calls_keys(value) || value.parts().any(calls);
    is_of(value.document()) && is_called()
}

/// Whether calls stand in place of keys of a map.
pub(crate) fn calls_keys(map: Node<'_>) -> bool {
    map.entries().any(|(key, _)| called_as_key(key).is_some())
}

/// The value that a node means if it is data, in which nothing is called. What looks like a call
/// stays as it is.
pub(crate) fn data(node: Node<'_>) -> Value {
    if !is_of(node.document()) {
        return node.to_value();
    }
    if let Ok(Some(meant)) = constant(node, &PlainText) {
        return meant;
    }
    match node.kind() {
        NodeKind::Sequence => node.items().map(data).collect::<Vec<_>>().into(),
        NodeKind::Mapping if called(node).is_none() => {
            Value::Map(node.entries().map(|(key, part)| (meant_key(key), data(part))).collect())
        }
        _ => node.to_value(),
    }
}

/// The call that stands in place of a key of a map. A suffix behind another `$` tells equal calls
/// apart: `$f$1` is `f`.
pub(crate) fn called_as_key(key: Node<'_>) -> Option<(&str, Option<Node<'_>>)> {
    let is_call = key.kind() == NodeKind::Mapping && is_of(key.document());
    let (name, arguments) = called(key).filter(|_| is_call)?;
    Some((name.split('$').next().unwrap_or(name), arguments))
}

/// The key that a node means.
pub(crate) fn meant_key(key: Node<'_>) -> Arc<str> {
    let text = key.key_text();
    unescaped(&text).filter(|_| is_of(key.document())).unwrap_or(&text).into()
}

/// The text behind the first `$` of several.
pub(crate) fn unescaped(text: &str) -> Option<&str> {
    text.strip_prefix('$').filter(|rest| rest.starts_with('$'))
}

/// How a text is written that calls nothing, if that is not as it is: with one `$` more.
pub(crate) fn escaped(text: &str) -> Option<String> {
    text.starts_with('$').then(|| format!("${text}"))
}

/// What `$not` is called with: like all functions, it takes a list of arguments (section 10.1).
pub(crate) fn negated(arguments: Node<'_>) -> Node<'_> {
    let mut items = arguments.items();
    items.next().filter(|_| items.len() == 0).unwrap_or(arguments)
}

/// The function that a text calls: its name stands behind one `$`.
pub(crate) fn function_name(text: &str) -> Option<&str> {
    let name = text.strip_prefix('$')?;
    (!name.is_empty() && !name.starts_with('$')).then_some(name)
}

/// The grammar of each element of a document, by its position.
pub(crate) fn elements(document: &Document) -> FxHashMap<u32, &'static ElementGrammar> {
    fn visit(
        node: Node<'_>,
        element: &'static ElementGrammar,
        found: &mut FxHashMap<u32, &'static ElementGrammar>,
    ) {
        found.insert(node.position(), element);
        for (key, value) in node.entries() {
            if let Some(keyname) = element.keyname(written(key)) {
                keyname.holds.bodies(value, &mut |body, below| visit(body, below, found));
            }
        }
    }
    let mut found = FxHashMap::default();
    visit(document.root(), &FILE, &mut found);
    found
}

/// Collects the keynames of an element, and of all below it, that the tree has by other names.
fn element(node: Node<'_>, entity: &'static ElementGrammar, called: &mut Vec<(u32, &'static str)>) {
    for (key, value) in node.entries() {
        let Some(keyname) = key.text().and_then(|name| entity.keyname(name)) else { continue };
        if keyname.field != keyname.name {
            called.push((key.position(), keyname.field));
        }
        keyname.holds.bodies(value, &mut |body, below| element(body, below, called));
    }
}

impl KeynameContent {
    /// Visits the elements below a keyname. Where variability has conditions, a list of maps may
    /// stand for a map, and a map for a list.
    pub(crate) fn bodies<'a>(
        &self,
        value: Node<'a>,
        visit: &mut dyn FnMut(Node<'a>, &'static ElementGrammar),
    ) {
        match *self {
            Self::One(below) => visit(value, below),
            Self::Items(below) => value.items().for_each(|item| visit(item, below)),
            Self::Named(below) | Self::Listed(below) => {
                let listed = value.items().flat_map(Node::entries);
                value.entries().chain(listed).for_each(|(_, body)| visit(body, below));
            }
            _ => {}
        }
    }
}
