//! Trees into text, in one form: UTF-8, a line for each element, two blanks for each level, and
//! namespaces declared at the root, sorted by their prefixes.
//!
//! Who writes builds an [`XmlTree`] in the order of the text, with names as they are to be written.

use super::characters::is_space;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a level is indented by.
const INDENT: &str = "  ";

/// The line that every document begins with.
const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/// A document that is to be written: parts in the order of its text.
///
/// ```
/// use cuvee::xml::XmlTree;
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
    /// The elements that are open, by their positions among the parts.
    open: Vec<usize>,
    /// What the root declares, by prefixes; the empty one is the default.
    namespaces: BTreeMap<Cow<'t, str>, Cow<'t, str>>,
}

#[derive(Clone, Debug)]
enum TreePart<'t> {
    /// The start of an element.
    Open {
        name: Cow<'t, str>,
        holds_text: bool,
        /// Whether it holds anything else.
        holds_parts: bool,
    },
    Attribute(Cow<'t, str>, Cow<'t, str>),
    /// A prefix that means something else than at the root.
    Declaration(Cow<'t, str>, Cow<'t, str>),
    Text(Cow<'t, str>),
    Comment(Cow<'t, str>),
    Instruction(Cow<'t, str>),
    /// What is written already.
    Written(Cow<'t, str>),
    Close,
}

impl<'t> XmlTree<'t> {
    /// Declares a namespace at the root, whatever was declared for its prefix before; the empty
    /// prefix is that of the default namespace.
    pub fn declare(&mut self, prefix: impl Into<Cow<'t, str>>, uri: impl Into<Cow<'t, str>>) {
        self.namespaces.insert(prefix.into(), uri.into());
    }

    /// What a prefix means at the root.
    pub fn namespace(&self, prefix: &str) -> Option<&str> {
        self.namespaces.get(prefix).map(|uri| &**uri)
    }

    /// What is declared at the root: prefixes and what they mean.
    pub fn namespaces(&self) -> impl Iterator<Item = (&str, &str)> {
        self.namespaces.iter().map(|(prefix, uri)| (&**prefix, &**uri))
    }

    /// Begins an element in the one that is open.
    pub fn open(&mut self, name: impl Into<Cow<'t, str>>) {
        self.holds_part();
        self.open.push(self.parts.len());
        self.parts.push(TreePart::Open {
            name: name.into(),
            holds_text: false,
            holds_parts: false,
        });
    }

    /// Gives the element that was opened last an attribute.
    pub fn attribute(&mut self, name: impl Into<Cow<'t, str>>, value: impl Into<Cow<'t, str>>) {
        let (name, value) = (name.into(), value.into());
        if name == "xml:space" && value == "preserve" {
            // Nothing may be added to it, not even blanks.
            self.holds_text();
            self.holds_part();
        }
        self.parts.push(TreePart::Attribute(name, value));
    }

    /// Declares a prefix for the element that was opened last, where it means something else than
    /// around it.
    pub fn declare_here(&mut self, prefix: impl Into<Cow<'t, str>>, uri: impl Into<Cow<'t, str>>) {
        self.parts.push(TreePart::Declaration(prefix.into(), uri.into()));
    }

    /// Adds text to the element that is open. Where other parts stand beside it, all is written as
    /// it is, without line ends of the writer's.
    pub fn text(&mut self, text: impl Into<Cow<'t, str>>) {
        let text = text.into();
        if !text.is_empty() {
            self.holds_text();
            self.parts.push(TreePart::Text(text));
        }
    }

    /// Adds a comment, which holds no `--`.
    pub fn comment(&mut self, text: impl Into<Cow<'t, str>>) {
        self.holds_part();
        self.parts.push(TreePart::Comment(text.into()));
    }

    /// Adds a processing instruction, which holds no `?>`.
    pub fn instruction(&mut self, text: impl Into<Cow<'t, str>>) {
        self.holds_part();
        self.parts.push(TreePart::Instruction(text.into()));
    }

    /// Adds an element that is written already, with what its prefixes mean. Whether it is in canonical
    /// form is not looked at.
    pub(crate) fn written(&mut self, text: impl Into<Cow<'t, str>>) {
        self.holds_part();
        self.parts.push(TreePart::Written(text.into()));
    }

    /// Ends the element that is open.
    pub fn close(&mut self) {
        if self.open.pop().is_some() {
            self.parts.push(TreePart::Close);
        }
    }

    /// Adds an element that holds a text and nothing else.
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

    /// The text of the document. Elements that are still open are closed.
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
    /// About as much as it takes when it is written.
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

/// A document that is written while its parts are found, in the order of its text. What holds text
/// beside other parts is told before they come.
#[derive(Default)]
pub(crate) struct XmlOutput<'t> {
    text: String,
    /// The names of the elements that are open.
    open: Vec<&'t str>,
    /// Behind the name of the root, where it declares namespaces.
    declarations: Option<usize>,
    /// Whether the last start tag may still get attributes.
    is_in_tag: bool,
    /// Whether the last part stands at the end of a line of its own.
    ends_line: bool,
    /// How many elements were open where that began in which nothing may be added.
    as_it_is: Option<usize>,
}

impl<'t> XmlOutput<'t> {
    /// With room for about so many bytes.
    pub(crate) fn with_room(bytes: usize) -> Self {
        let mut text = String::with_capacity(DECLARATION.len() + bytes);
        text.push_str(DECLARATION);
        Self { text, ..Self::default() }
    }

    /// Begins an element in the one that is open.
    pub(crate) fn open(&mut self, name: &'t str) {
        self.begin();
        self.text.push('<');
        self.text.push_str(name);
        self.declarations = self.declarations.or(Some(self.text.len()));
        self.open.push(name);
        self.is_in_tag = true;
    }

    /// Adds nothing to what stands in the element that was opened last, not even blanks.
    pub(crate) fn as_it_is(&mut self) {
        self.as_it_is = self.as_it_is.or(Some(self.open.len()));
    }

    /// Declares a prefix for the element that was opened last.
    pub(crate) fn declare_here(&mut self, prefix: &str, uri: &str) {
        declare(prefix, uri, &mut self.text);
    }

    /// Gives the element that was opened last an attribute.
    pub(crate) fn attribute(&mut self, name: &str, value: &str) {
        attribute(name, value, &mut self.text);
    }

    /// Adds text to the element that is open.
    pub(crate) fn text(&mut self, text: &str) {
        self.end_tag();
        escape_text(text, &mut self.text);
        self.ends_line = false;
    }

    /// Adds a comment, which holds no `--`.
    pub(crate) fn comment(&mut self, text: &str) {
        self.marked("<!--", text, "-->");
    }

    /// Adds a processing instruction, which holds no `?>`.
    pub(crate) fn instruction(&mut self, text: &str) {
        self.marked("<?", text, "?>");
    }

    /// Ends the element that is open.
    pub(crate) fn close(&mut self) {
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

    /// The text, with these namespaces at the root. Elements that are still open are closed.
    pub(crate) fn finish(mut self, namespaces: &BTreeMap<Cow<'_, str>, Cow<'_, str>>) -> String {
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

    /// Begins a part that has a line of its own, where that may be.
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

/// Writes text as it stands in content: line ends stay.
fn escape_text(text: &str, to: &mut String) {
    escape(text, to, |byte| matches!(byte, b'<' | b'>' | b'&' | b'\r' | 0x7f | 0xc2));
}

/// Writes text as it stands in quotes: white space that is no blank would become one.
fn escape_value(text: &str, to: &mut String) {
    escape(text, to, |byte| {
        matches!(byte, b'<' | b'>' | b'&' | b'"' | b'\t' | b'\n' | b'\r' | 0x7f | 0xc2)
    });
}

/// Writes text with references for the characters that begin with these bytes and need one.
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
            // What controls terminals is not shown to any.
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
