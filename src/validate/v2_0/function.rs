//! Checks calls of functions in values of TOSCA 2.0 (section 10).

use super::by;
use super::names::{Names, TypeFile};
use crate::diagnostic::{Code, Diagnostic, closest};
use cuvee_text::yaml::{Node, NodeKind};

/// The functions of TOSCA, with the least and the greatest number of arguments.
const FUNCTIONS: [(&str, usize, usize); 43] = [
    ("and", 2, usize::MAX),
    ("or", 2, usize::MAX),
    ("not", 1, 1),
    ("xor", 2, 2),
    ("equal", 2, 2),
    ("greater_than", 2, 2),
    ("greater_or_equal", 2, 2),
    ("less_than", 2, 2),
    ("less_or_equal", 2, 2),
    ("valid_values", 2, 2),
    ("matches", 2, 2),
    ("in_range", 2, 2),
    ("has_suffix", 2, 2),
    ("has_prefix", 2, 2),
    ("contains", 2, 2),
    ("has_entry", 2, 2),
    ("has_key", 2, 2),
    ("has_all_entries", 2, 2),
    ("has_any_entry", 2, 2),
    ("has_all_keys", 2, 2),
    ("has_any_key", 2, 2),
    ("length", 1, 1),
    ("concat", 1, usize::MAX),
    ("join", 1, 2),
    ("token", 3, 3),
    ("union", 1, usize::MAX),
    ("intersection", 1, usize::MAX),
    ("sum", 1, usize::MAX),
    ("difference", 2, 2),
    ("product", 1, usize::MAX),
    ("quotient", 2, 2),
    ("remainder", 2, 2),
    ("round", 1, 1),
    ("floor", 1, 1),
    ("ceil", 1, 1),
    ("get_input", 1, usize::MAX),
    ("get_property", 2, usize::MAX),
    ("get_attribute", 2, usize::MAX),
    ("get_artifact", 2, usize::MAX),
    ("value", 0, usize::MAX),
    ("node_index", 0, usize::MAX),
    ("relationship_index", 0, usize::MAX),
    ("available_allocation", 2, usize::MAX),
];

/// Whether a value is the call of a function: a map of one key behind a single `$`, or that key
/// alone.
pub(super) fn is_call(node: Node<'_>) -> bool {
    let mut entries = node.entries();
    let key = entries.next().filter(|_| entries.len() == 0);
    key.is_some_and(|(key, _)| called(key).is_some())
}

/// The name of the function that a text calls; a name in the middle of a text is none.
fn called(node: Node<'_>) -> Option<&str> {
    let name = node.as_str()?.strip_prefix('$')?;
    (!name.is_empty() && !name.starts_with('$')).then_some(name)
}

/// Checks all calls in a value.
pub(super) fn check<'d>(
    node: Node<'d>,
    names: &Names<'d>,
    file: &TypeFile<'d>,
    found: &mut Vec<Diagnostic>,
) {
    match node.kind() {
        NodeKind::Scalar => {
            if let Some(name) = called(node) {
                call(node, name, None, names, file, found);
            }
        }
        NodeKind::Sequence => node.items().for_each(|item| check(item, names, file, found)),
        NodeKind::Mapping => {
            let is_call = is_call(node);
            for (key, value) in node.entries() {
                match called(key) {
                    Some(name) if is_call => call(key, name, Some(value), names, file, found),
                    // `$f$1` as a key is the value of a call.
                    Some(name) if !name.contains('$') => {
                        let message =
                            format!("`${name}` calls a function, and other keys stand beside it");
                        let error =
                            Diagnostic::error(Code::InvalidFunction, message).at(key.span());
                        found.push(by(
                            error.help(format!("write `$${name}` where a key is meant")),
                            "10.1",
                        ));
                    }
                    _ => {}
                }
                check(value, names, file, found);
            }
        }
    }
}

fn call<'d>(
    at: Node<'d>,
    name: &str,
    arguments: Option<Node<'d>>,
    names: &Names<'d>,
    file: &TypeFile<'d>,
    found: &mut Vec<Diagnostic>,
) {
    let count = arguments.map_or(0, |it| match it.kind() {
        NodeKind::Sequence => it.items().len(),
        _ => 1,
    });
    let (least, most) = match names.function(file, name) {
        Some(definition) => match declared(definition) {
            Some(counts) => counts,
            None => return,
        },
        None => match FUNCTIONS.iter().find(|(known, ..)| *known == name) {
            Some(&(_, least, most)) => (least, most),
            None if !names.is_complete() => return,
            None => {
                let message =
                    format!("no function `{name}` is declared, so nothing is known of its value");
                let meant = closest(name, FUNCTIONS.iter().map(|(known, ..)| *known));
                let meant = meant.map(|meant| format!("did you mean `${meant}`?"));
                let warning = Diagnostic::warning(Code::InvalidFunction, message)
                    .at(at.span())
                    .help("declare it under `functions`")
                    .help_opt(meant);
                found.push(by(warning, "10.2"));
                return;
            }
        },
    };
    if count < least || count > most {
        let wanted = match (least, most) {
            (least, most) if least == most => format!("{least}"),
            (least, usize::MAX) => format!("{least} or more"),
            (least, most) => format!("{least} to {most}"),
        };
        let message = format!("`${name}` takes {wanted} arguments, not {count}");
        let error = Diagnostic::error(Code::InvalidFunction, message).at(at.span());
        found.push(by(error, "10"));
    }
}

/// The least and the greatest number of arguments of all signatures.
fn declared(definition: Node<'_>) -> Option<(usize, usize)> {
    let of = |signature: Node<'_>| {
        let count = |keyname| signature.get(keyname).map_or(0, |it| it.items().len());
        let is_variadic = signature.get("variadic").and_then(Node::as_bool) == Some(true);
        let (least, optional) = (count("arguments"), count("optional_arguments"));
        (least, if is_variadic { usize::MAX } else { least + optional })
    };
    let all = definition.get("signatures")?.items().map(of);
    all.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
}
