//! Writes XML in a canonical form: UTF-8, a line for each element, two blanks for each level, and
//! namespaces declared at the root, sorted by prefix.
//!
//! A document is built as an [`XmlTree`] in the order of its text. Names are given as they are to
//! be written.

use super::characters::is_space;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The indentation of a level.
const INDENT: &str = "  ";

/// The first line of every document.
const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/// A document to be written. Its parts are added in the order of the text.
///
/// ```
/// use cuvee_text::xml::XmlTree;
/// let mut tree = XmlTree::default();
/// tree.declare("", "urn:a");
/// tree.open("a");
/// tree.attribute("b", "1 < 2");
/// tree.leaf("c", "text");
/// tree.close();
/// let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
/// <a xmlns=\"urn:a\" b=\"1 &lt; 2\">
///   <c>text</c>
/// </a>
/// ";
/// assert_eq!(tree.write(), expected);
/// ```
#[derive(Clone, Debug, Default)]
pub struct XmlTree<'t> {
    parts: Vec<TreePart<'t>>,
    /// The positions of the open elements among the parts.
    open: Vec<usize>,
    /// The namespaces that the root declares, by prefix. The empty prefix stands for the default
    /// namespace.
    namespaces: BTreeMap<Cow<'t, str>, Cow<'t, str>>,
}

#[derive(Clone, Debug)]
enum TreePart<'t> {
    /// The start of an element.
    Open {
        name: Cow<'t, str>,
        holds_text: bool,
        /// Whether the element contains anything but text.
        holds_parts: bool,
    },
    Attribute(Cow<'t, str>, Cow<'t, str>),
    /// A prefix that has another namespace than at the root.
    Declaration(Cow<'t, str>, Cow<'t, str>),
    Text(Cow<'t, str>),
    Comment(Cow<'t, str>),
    Instruction(Cow<'t, str>),
    /// An element that is already written as text.
    Written(Cow<'t, str>),
    Close,
}

impl<'t> XmlTree<'t> {
    /// Declares a namespace at the root. It replaces an earlier declaration of the prefix. The
    /// empty prefix stands for the default namespace.
    pub fn declare(&mut self, prefix: impl Into<Cow<'t, str>>, uri: impl Into<Cow<'t, str>>) {
        self.namespaces.insert(prefix.into(), uri.into());
    }

    /// The namespace of a prefix at the root.
    pub fn namespace(&self, prefix: &str) -> Option<&str> {
        self.namespaces.get(prefix).map(|uri| &**uri)
    }

    /// The prefixes that are declared at the root, with their namespaces.
    pub fn namespaces(&self) -> impl Iterator<Item = (&str, &str)> {
        self.namespaces.iter().map(|(prefix, uri)| (&**prefix, &**uri))
    }

    /// Starts an element inside of the current one.
    pub fn open(&mut self, name: impl Into<Cow<'t, str>>) {
        self.holds_part();
        self.open.push(self.parts.len());
        self.parts.push(TreePart::Open {
            name: name.into(),
            holds_text: false,
            holds_parts: false,
        });
    }

    /// Adds an attribute to the element that was started last.
    pub fn attribute(&mut self, name: impl Into<Cow<'t, str>>, value: impl Into<Cow<'t, str>>) {
        let (name, value) = (name.into(), value.into());
        if name == "xml:space" && value == "preserve" {
            // Nothing may be added to the content, not even blanks.
            self.holds_text();
            self.holds_part();
        }
        self.parts.push(TreePart::Attribute(name, value));
    }

    /// Declares a prefix at the element that was started last, where it has another namespace than
    /// around the element.
    pub fn declare_here(&mut self, prefix: impl Into<Cow<'t, str>>, uri: impl Into<Cow<'t, str>>) {
        self.parts.push(TreePart::Declaration(prefix.into(), uri.into()));
    }

    /// Adds text to the current element. If the element has other parts as well, its content is
    /// written without additional line breaks.
    pub fn text(&mut self, text: impl Into<Cow<'t, str>>) {
        let text = text.into();
        if !text.is_empty() {
            self.holds_text();
            self.parts.push(TreePart::Text(text));
        }
    }

    /// Adds a comment. The text must not contain `--`.
    pub fn comment(&mut self, text: impl Into<Cow<'t, str>>) {
        self.holds_part();
        self.parts.push(TreePart::Comment(text.into()));
    }

    /// Adds a processing instruction. The text must not contain `?>`.
    pub fn instruction(&mut self, text: impl Into<Cow<'t, str>>) {
        self.holds_part();
        self.parts.push(TreePart::Instruction(text.into()));
    }

    /// Adds an element that is already written as text. Its prefixes must be declared. Its form is
    /// not checked.
    pub fn written(&mut self, text: impl Into<Cow<'t, str>>) {
        self.holds_part();
        self.parts.push(TreePart::Written(text.into()));
    }

    /// Ends the current element.
    pub fn close(&mut self) {
        if self.open.pop().is_some() {
            self.parts.push(TreePart::Close);
        }
    }

    /// Adds an element that contains only a text.
    pub fn leaf(&mut self, name: impl Into<Cow<'t, str>>, text: impl Into<Cow<'t, str>>) {
        self.open(name);
        self.text(text);
        self.close();
    }

    fn holds_text(&mut self) {
        if let Some(TreePart::Open { holds_text, .. }) = self.last_open() {
            *holds_text = true;
        }
    }

    fn holds_part(&mut self) {
        if let Some(TreePart::Open { holds_parts, .. }) = self.last_open() {
            *holds_parts = true;
        }
    }

    fn last_open(&mut self) -> Option<&mut TreePart<'t>> {
        self.parts.get_mut(*self.open.last()?)
    }

    /// Writes the document. Elements that are still open are closed.
    pub fn write(&self) -> String {
        let mut output = XmlOutput::with_room(self.parts.iter().map(TreePart::length).sum());
        for part in &self.parts {
            match part {
                TreePart::Open { name, holds_text, holds_parts } => {
                    output.open(name);
                    if *holds_text && *holds_parts {
                        output.as_it_is();
                    }
                }
                TreePart::Attribute(name, value) => output.attribute(name, value),
                TreePart::Declaration(prefix, uri) => output.declare_here(prefix, uri),
                TreePart::Text(text) => output.text(text),
                TreePart::Comment(text) => output.comment(text),
                TreePart::Instruction(text) => output.instruction(text),
                TreePart::Written(text) => output.marked("", text, ""),
                TreePart::Close => output.close(),
            }
        }
        output.finish(&self.namespaces)
    }
}

impl TreePart<'_> {
    /// The approximate length of the part when it is written.
    fn length(&self) -> usize {
        match self {
            Self::Open { name, .. } => 2 * name.len() + 20,
            Self::Attribute(name, value) | Self::Declaration(name, value) => {
                name.len() + value.len() + 10
            }
            Self::Text(text)
            | Self::Comment(text)
            | Self::Instruction(text)
            | Self::Written(text) => text.len() + 10,
            Self::Close => 0,
        }
    }
}

/// A document that is written directly, in the order of its text. For an element with text and
/// other parts, [`as_it_is`](Self::as_it_is) must be called before these are added.
#[derive(Default)]
pub struct XmlOutput<'t> {
    text: String,
    /// The names of the open elements.
    open: Vec<&'t str>,
    /// The position behind the name of the root, where its declarations are inserted.
    declarations: Option<usize>,
    /// Whether the last start tag is still open for attributes.
    is_in_tag: bool,
    /// Whether the last part has a line of its own.
    ends_line: bool,
    /// The depth of the element inside of which no white space may be added.
    as_it_is: Option<usize>,
}

impl<'t> XmlOutput<'t> {
    /// Creates an output with room for about `bytes` bytes.
    pub fn with_room(bytes: usize) -> Self {
        let mut text = String::with_capacity(DECLARATION.len() + bytes);
        text.push_str(DECLARATION);
        Self { text, ..Self::default() }
    }

    /// Starts an element inside of the current one.
    pub fn open(&mut self, name: &'t str) {
        self.begin();
        self.text.push('<');
        self.text.push_str(name);
        self.declarations = self.declarations.or(Some(self.text.len()));
        self.open.push(name);
        self.is_in_tag = true;
    }

    /// Adds no white space to the content of the element that was started last.
    pub fn as_it_is(&mut self) {
        self.as_it_is = self.as_it_is.or(Some(self.open.len()));
    }

    /// Declares a prefix at the element that was started last.
    pub fn declare_here(&mut self, prefix: &str, uri: &str) {
        declare(prefix, uri, &mut self.text);
    }

    /// Adds an attribute to the element that was started last.
    pub fn attribute(&mut self, name: &str, value: &str) {
        attribute(name, value, &mut self.text);
    }

    /// Adds text to the current element.
    pub fn text(&mut self, text: &str) {
        self.end_tag();
        escape_text(text, &mut self.text);
        self.ends_line = false;
    }

    /// Adds a comment. The text must not contain `--`.
    pub fn comment(&mut self, text: &str) {
        self.marked("<!--", text, "-->");
    }

    /// Adds a processing instruction. The text must not contain `?>`.
    pub fn instruction(&mut self, text: &str) {
        self.marked("<?", text, "?>");
    }

    /// Ends the current element.
    pub fn close(&mut self) {
        let Some(name) = self.open.pop() else { return };
        if std::mem::take(&mut self.is_in_tag) {
            self.text.push_str("/>");
        } else {
            if self.ends_line && self.as_it_is.is_none() {
                self.text.push('\n');
                self.indent();
            }
            self.text.push_str("</");
            self.text.push_str(name);
            self.text.push('>');
        }
        if self.as_it_is.is_some_and(|depth| depth > self.open.len()) {
            self.as_it_is = None;
        }
        self.ends_line = true;
        if self.open.is_empty() {
            self.text.push('\n');
        }
    }

    /// Returns the document with these namespaces declared at the root. Elements that are still
    /// open are closed.
    pub fn finish(mut self, namespaces: &BTreeMap<Cow<'_, str>, Cow<'_, str>>) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        if let Some(at) = self.declarations {
            let mut declarations = String::new();
            for (prefix, uri) in namespaces {
                declare(prefix, uri, &mut declarations);
            }
            self.text.insert_str(at, &declarations);
        }
        self.text
    }

    /// Starts a part, on a line of its own where white space may be added.
    fn begin(&mut self) {
        self.end_tag();
        if self.as_it_is.is_none() {
            if !self.text.ends_with('\n') {
                self.text.push('\n');
            }
            self.indent();
        }
        self.ends_line = true;
    }

    fn indent(&mut self) {
        (0..self.open.len()).for_each(|_| self.text.push_str(INDENT));
    }

    fn end_tag(&mut self) {
        if std::mem::take(&mut self.is_in_tag) {
            self.text.push('>');
        }
    }

    fn marked(&mut self, start: &str, text: &str, end: &str) {
        self.begin();
        self.text.push_str(start);
        self.text.push_str(text);
        self.text.push_str(end);
        if self.open.is_empty() {
            self.text.push('\n');
        }
    }
}

fn declare(prefix: &str, uri: &str, to: &mut String) {
    match prefix {
        "" => attribute("xmlns", uri, to),
        prefix => {
            to.push_str(" xmlns:");
            value(prefix, uri, to);
        }
    }
}

fn attribute(name: &str, text: &str, to: &mut String) {
    to.push(' ');
    value(name, text, to);
}

fn value(name: &str, text: &str, to: &mut String) {
    to.push_str(name);
    to.push_str("=\"");
    escape_value(text, to);
    to.push('"');
}

/// Escapes a text for content. Line feeds stay.
fn escape_text(text: &str, to: &mut String) {
    escape(text, to, |byte| matches!(byte, b'<' | b'>' | b'&' | b'\r' | 0x7f | 0xc2));
}

/// Escapes a text for a quoted value. White space other than blanks is escaped, because it would be
/// read as blanks.
fn escape_value(text: &str, to: &mut String) {
    escape(text, to, |byte| {
        matches!(byte, b'<' | b'>' | b'&' | b'"' | b'\t' | b'\n' | b'\r' | 0x7f | 0xc2)
    });
}

/// Escapes a text. Only characters whose first byte is suspect are looked at.
fn escape(text: &str, to: &mut String, is_suspect: impl Fn(u8) -> bool) {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(&is_suspect) {
        let (before, behind) = rest.split_at(at);
        to.push_str(before);
        let mut chars = behind.chars();
        let Some(c) = chars.next() else { return };
        match c {
            '<' => to.push_str("&lt;"),
            '>' => to.push_str("&gt;"),
            '&' => to.push_str("&amp;"),
            '"' => to.push_str("&quot;"),
            // Control characters should not reach terminals.
            c if is_space(c) || c.is_control() => to.push_str(&format!("&#{};", u32::from(c))),
            c => to.push(c),
        }
        rest = chars.as_str();
    }
    to.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(build: impl FnOnce(&mut XmlTree<'_>)) -> String {
        let mut tree = XmlTree::default();
        build(&mut tree);
        let text = tree.write();
        text.strip_prefix(DECLARATION).unwrap().to_owned()
    }

    #[test]
    fn elements_have_lines_and_texts_have_none() {
        let text = written(|tree| {
            tree.comment(" before ");
            tree.open("a");
            tree.open("b");
            tree.close();
            tree.comment(" in\nlines ");
            tree.leaf("c", " text\n");
            tree.instruction("do it");
            tree.close();
            tree.comment("behind");
        });
        let expected = "<!-- before -->\n<a>\n  <b/>\n  <!-- in\nlines -->\n  <c> text\n</c>\n  <?do it?>\n</a>\n<!--behind-->\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn nothing_is_added_where_text_stands_beside_elements() {
        let text = written(|tree| {
            tree.open("a");
            tree.open("b");
            tree.text("one ");
            tree.open("c");
            tree.open("d");
            tree.close();
            tree.close();
            tree.text(" two");
            tree.close();
            tree.open("e");
            tree.attribute("xml:space", "preserve");
            tree.open("f");
        });
        let expected =
            "<a>\n  <b>one <c><d/></c> two</b>\n  <e xml:space=\"preserve\"><f/></e>\n</a>\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn namespaces_are_declared_at_the_root_and_characters_are_kept() {
        let text = written(|tree| {
            tree.open("a");
            tree.attribute("v", "\"\t\n\r<>&'\u{7f}é\u{85}");
            tree.open("p:b");
            tree.declare_here("p", "urn:other");
            tree.text("\t\n\r<>&\"\u{7f}é\u{85}");
            tree.declare("p", "urn:p");
            tree.declare("", "urn:a");
        });
        let expected = "<a xmlns=\"urn:a\" xmlns:p=\"urn:p\" v=\"&quot;&#9;&#10;&#13;&lt;&gt;&amp;'&#127;é&#133;\">
  <p:b xmlns:p=\"urn:other\">\t
&#13;&lt;&gt;&amp;\"&#127;é&#133;</p:b>
</a>
";
        assert_eq!(text, expected);
    }
}
