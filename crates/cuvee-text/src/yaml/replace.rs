//! Replaces strings in the text of a document, and leaves the rest as it was written.

use super::node::{Document, Node, NodeStyle};
use super::quote::{is_printable, push_double_quoted, push_string};
use crate::source::Span;
use std::collections::BTreeMap;

/// Returns the text of a document in which some scalars are replaced by other strings, quoted as
/// the scalars were.
///
/// An alias of a replaced scalar becomes the text that the scalar had before, unless the alias is
/// itself replaced.
pub fn with_strings(document: &Document, strings: Vec<(Node<'_>, String)>) -> String {
    let mut pieces = BTreeMap::new();
    let mut replaced = BTreeMap::new();
    for (node, string) in strings {
        let span = node.own_span();
        pieces.insert((span.start, span.end), quoted_like(node, &string));
        if !node.is_alias() {
            replaced.insert(node.position(), node);
        }
    }
    let all = (0..document.node_count()).map(|position| document.at(position as u32));
    for alias in all.filter(|node| node.is_alias()) {
        if let Some(was) = replaced.get(&alias.target()) {
            let span = alias.own_span();
            let text = was.text().unwrap_or_default();
            pieces.entry((span.start, span.end)).or_insert_with(|| quoted_like(*was, text));
        }
    }
    let mut text = String::with_capacity(document.text().len());
    let mut done = 0;
    for ((start, end), piece) in pieces {
        text.push_str(document.slice(done, start));
        text.push_str(&piece);
        done = end;
    }
    text.push_str(document.slice(done, document.text().len() as u32));
    text
}

/// Writes a string in the style of a scalar. The string of a block scalar is written in one line.
fn quoted_like(node: Node<'_>, string: &str) -> String {
    let source = node.source();
    let mut text = String::new();
    match node.record().shape {
        NodeStyle::Quoted if source.starts_with('"') => push_double_quoted(&mut text, string),
        NodeStyle::Quoted if string.chars().all(is_printable) => {
            text = format!("'{}'", string.replace('\'', "''"));
        }
        NodeStyle::Plain => push_string(&mut text, string, true),
        _ => push_double_quoted(&mut text, string),
    }
    if source.ends_with('\n') {
        text.push('\n');
    }
    text
}

impl Node<'_> {
    /// The place of the node itself, without comments, even if the node is an alias.
    fn own_span(self) -> Span {
        let record = self.own_record();
        Span { file: self.document.file, start: record.start, end: record.end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Limits, parse};

    /// Puts `x/` before each string that begins with `f`, except under the key `keep`.
    fn moved(text: &str) -> String {
        fn strings<'a>(node: Node<'a>, found: &mut Vec<(Node<'a>, String)>) {
            node.items().for_each(|item| strings(item, found));
            for (key, value) in node.entries().filter(|(key, _)| key.text() != Some("keep")) {
                let _ = key;
                strings(value, found);
            }
            found.extend(
                node.as_str().filter(|it| it.starts_with('f')).map(|it| (node, format!("x/{it}"))),
            );
        }
        let document = parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap();
        let mut found = Vec::new();
        strings(document.root(), &mut found);
        with_strings(&document, found)
    }

    use crate::source::FileId;

    #[test]
    fn all_else_stays() {
        for (text, expected) in [
            (
                "a:   f1 # one\nb: [ 'f2',\"f3\" , f 4]\n",
                "a:   x/f1 # one\nb: [ 'x/f2',\"x/f3\" , x/f 4]\n",
            ),
            ("a: 'f''s'\n", "a: 'x/f''s'\n"),
            ("a: \"f\\ts\"\n", "a: \"x/f\\ts\"\n"),
            ("a: >-\n  f1\nb: 1\n", "a: \"x/f1\"\nb: 1\n"),
            ("a: [f,1]\n", "a: [x/f,1]\n"),
            ("a: &n f1\nb: *n\nkeep: *n\n", "a: &n x/f1\nb: x/f1\nkeep: f1\n"),
            ("keep: &n f1\nb: *n\n", "keep: &n f1\nb: x/f1\n"),
            ("a: &l [f1]\nb: *l\n", "a: &l [x/f1]\nb: *l\n"),
            ("a: &m {b: f1}\nc: {<<: *m, d: f2}\n", "a: &m {b: x/f1}\nc: {<<: *m, d: x/f2}\n"),
        ] {
            assert_eq!(moved(text), expected, "{text}");
        }
    }
}
