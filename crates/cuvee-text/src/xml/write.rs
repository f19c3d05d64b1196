//! Writes XML in a canonical form: UTF-8, a line for each element, two blanks for each level, and
//! namespaces declared at the root, sorted by prefix.
//!
//! An [`XmlOutput`] takes the parts of a document in the order of its text. Names are given as they
//! are to be written.

use super::characters::is_space;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The indentation of a level.
const INDENT: &str = "  ";

/// The first line of every document.
const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/// A document that is written, in the order of its text. For an element with text and other parts,
/// [`as_it_is`](Self::as_it_is) must be called before these are added.
///
/// ```
/// use cuvee_text::xml::XmlOutput;
/// let mut output = XmlOutput::default();
/// output.open("a");
/// output.attribute("b", "1 < 2");
/// output.leaf("c", "text");
/// output.close();
/// let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
/// <a xmlns=\"urn:a\" b=\"1 &lt; 2\">
///   <c>text</c>
/// </a>
/// ";
/// assert_eq!(output.finish(&[("".into(), "urn:a".into())].into()), expected);
/// ```
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

impl Default for XmlOutput<'_> {
    fn default() -> Self {
        Self::with_room(0)
    }
}

impl<'t> XmlOutput<'t> {
    /// Creates an output with room for about `bytes` bytes.
    pub fn with_room(bytes: usize) -> Self {
        let mut text = String::with_capacity(DECLARATION.len() + bytes);
        text.push_str(DECLARATION);
        Self { text, ..Self::empty() }
    }

    fn empty() -> Self {
        Self {
            text: String::new(),
            open: Vec::new(),
            declarations: None,
            is_in_tag: false,
            ends_line: false,
            as_it_is: None,
        }
    }

    /// Creates an output for elements at a depth of a document, which are added to `text`. What
    /// [`into_parts`](Self::into_parts) returns can be [`written`](Self::written) there.
    pub fn within(depth: usize, text: String) -> Self {
        Self { text, open: vec![""; depth], ..Self::empty() }
    }

    /// Returns the text with the elements that were added, each behind a line feed.
    pub fn into_parts(self) -> String {
        self.text
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

    /// Adds an element that contains only a text.
    pub fn leaf(&mut self, name: &'t str, text: &str) {
        self.open(name);
        if !text.is_empty() {
            self.text(text);
        }
        self.close();
    }

    /// Adds an element that is already written as text. Its prefixes must be declared. Its form is
    /// not checked.
    pub fn written(&mut self, text: &str) {
        self.marked("", text, "");
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

    fn written(namespaces: &[(&str, &str)], build: impl FnOnce(&mut XmlOutput<'_>)) -> String {
        let mut output = XmlOutput::default();
        build(&mut output);
        let all = namespaces.iter().map(|&(prefix, uri)| (prefix.into(), uri.into()));
        let text = output.finish(&all.collect());
        text.strip_prefix(DECLARATION).unwrap().to_owned()
    }

    #[test]
    fn elements_have_lines_and_texts_have_none() {
        let text = written(&[], |output| {
            output.comment(" before ");
            output.open("a");
            output.open("b");
            output.close();
            output.comment(" in\nlines ");
            output.leaf("c", " text\n");
            output.instruction("do it");
            output.close();
            output.comment("behind");
        });
        let expected = "<!-- before -->\n<a>\n  <b/>\n  <!-- in\nlines -->\n  <c> text\n</c>\n  <?do it?>\n</a>\n<!--behind-->\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn nothing_is_added_where_text_stands_beside_elements() {
        let text = written(&[], |output| {
            output.open("a");
            output.open("b");
            output.as_it_is();
            output.text("one ");
            output.open("c");
            output.open("d");
            output.close();
            output.close();
            output.text(" two");
            output.close();
            output.open("e");
            output.attribute("xml:space", "preserve");
            output.as_it_is();
            output.open("f");
        });
        let expected =
            "<a>\n  <b>one <c><d/></c> two</b>\n  <e xml:space=\"preserve\"><f/></e>\n</a>\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn namespaces_are_declared_at_the_root_and_characters_are_kept() {
        let text = written(&[("p", "urn:p"), ("", "urn:a")], |output| {
            output.open("a");
            output.attribute("v", "\"\t\n\r<>&'\u{7f}é\u{85}");
            output.open("p:b");
            output.declare_here("p", "urn:other");
            output.text("\t\n\r<>&\"\u{7f}é\u{85}");
        });
        let expected = "<a xmlns=\"urn:a\" xmlns:p=\"urn:p\" v=\"&quot;&#9;&#10;&#13;&lt;&gt;&amp;'&#127;é&#133;\">
  <p:b xmlns:p=\"urn:other\">\t
&#13;&lt;&gt;&amp;\"&#127;é&#133;</p:b>
</a>
";
        assert_eq!(text, expected);
    }
}
