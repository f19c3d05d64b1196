//! Parses XML into trees.

use super::characters::{forbidden, is_allowed, is_name, is_space, is_unprefixed_name};
use super::tree::{
    AttributeData, CDATA, COMMENT, DECLARATIONS, INSTRUCTION, NO_NAMESPACE, NOTHING, NodeData,
    TEXT, XML_NAMESPACE,
};
use super::{XML, XMLNS, XmlDocument};
use crate::diagnostic::{CodeName, Diagnostic, Diagnostics};
use crate::source::{FileId, SourceText, Span};
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::attributes::AttrError;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use rustc_hash::FxHashMap;

/// Limits on the size of a document.
#[derive(Clone, Copy, Debug)]
pub struct XmlLimits {
    /// The most bytes of a file.
    pub bytes: usize,
    /// The deepest nesting of elements. The root is at depth one.
    pub depth: usize,
    /// The most attributes of an element.
    pub attributes: usize,
    /// The most declarations of namespaces that are in scope at one place.
    pub bindings: usize,
    /// The most bytes of a name.
    pub name: usize,
}

impl Default for XmlLimits {
    fn default() -> Self {
        Self { bytes: 256 << 20, depth: 128, attributes: 1_000, bindings: 1_000, name: 1_000 }
    }
}

/// The number of findings after which reading stops.
const FOUND: usize = 100;

/// Whether a text is XML, judging by its first character. YAML never begins with it.
///
/// ```
/// use cuvee_text::xml::is_xml;
/// assert!(is_xml("\u{feff} <a/>") && !is_xml("tosca_definitions_version: x"));
/// ```
pub fn is_xml(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start_matches(is_space).starts_with('<')
}

/// Parses a document, which has to be well-formed XML 1.0 with namespaces.
///
/// ```
/// use cuvee_text::source::FileId;
/// use cuvee_text::xml::{XmlLimits, parse};
/// let text = "<a xmlns='urn:a' b='1 &lt; 2'><c/>text</a>";
/// let document = parse(FileId::DETACHED, text.into(), &XmlLimits::default()).unwrap();
/// let root = document.root();
/// assert_eq!((root.name().namespace, root.name().local), ("urn:a", "a"));
/// assert_eq!(root.attribute("b").unwrap().value(), "1 < 2");
/// assert_eq!(root.text(), "text");
/// ```
///
/// # Errors
/// Returns a diagnostic `syntax` for each place that is not well-formed, has a document type, or is
/// beyond a limit.
pub fn parse(
    file: FileId,
    text: SourceText,
    limits: &XmlLimits,
) -> Result<XmlDocument, Diagnostics> {
    let most = limits.bytes.min(u32::MAX as usize);
    if text.len() > most {
        let message = format!("the file has {} bytes, more than {most}", text.len());
        return Err(Diagnostic::error(CodeName::SYNTAX, message).at(start_of(file)).into());
    }
    let mut reading = XmlReading {
        text: &text,
        limits,
        open: Vec::new(),
        scope: Vec::new(),
        scopes: 0,
        resolved: FxHashMap::default(),
        found: Diagnostics::default(),
        has_root: false,
        document: XmlDocument {
            file,
            text: text.clone(),
            nodes: Vec::with_capacity(text.len() / 20),
            attributes: Vec::with_capacity(text.len() / 48),
            names: Default::default(),
            root: 0,
        },
    };
    for (at, c) in forbidden(&text).take(FOUND) {
        let message = format!("XML cannot hold the character U+{:04X}", u32::from(c));
        reading.wrong(at, at + c.len_utf8(), message);
    }
    reading.read();
    let XmlReading { document, found, .. } = reading;
    if found.0.is_empty() { Ok(document) } else { Err(found) }
}

fn start_of(file: FileId) -> Span {
    Span { file, start: 0, end: 0 }
}

/// The state of reading a document.
struct XmlReading<'t> {
    text: &'t str,
    limits: &'t XmlLimits,
    /// The elements that are open.
    open: Vec<OpenElement<'t>>,
    /// The prefixes in scope with their namespaces. The last one of a prefix counts.
    scope: Vec<(&'t str, u32)>,
    /// How often the scope has changed.
    scopes: u32,
    /// The names of elements and attributes as they are written, and whether they are of an
    /// element. Each has the number of its expanded name, and the count of scope changes at which
    /// it was resolved.
    resolved: FxHashMap<(&'t str, bool), (u32, u32)>,
    found: Diagnostics,
    has_root: bool,
    document: XmlDocument,
}

struct OpenElement<'t> {
    index: u32,
    name: &'t str,
    /// How many prefixes were in scope before the element.
    scope: usize,
    /// Whether a wrong end tag of the element was reported.
    is_told: bool,
}

impl<'t> XmlReading<'t> {
    fn read(&mut self) {
        let offset = if self.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let text = self.text;
        if text[offset..].starts_with('\u{feff}') {
            // The reader would skip the second mark, and all places would be wrong.
            let message = "there is another byte order mark behind the first".to_owned();
            return self.wrong(offset, 2 * offset, message);
        }
        let mut reader = Reader::from_str(&text[offset..]);
        let settings = reader.config_mut();
        // Wrong end tags are reported here, with their places.
        settings.check_end_names = false;
        settings.allow_unmatched_ends = true;
        loop {
            let place = |position: u64| offset + usize::try_from(position).unwrap_or(text.len());
            let start = place(reader.buffer_position());
            let event = match reader.read_event() {
                Ok(event) => event,
                Err(error) => {
                    let at = place(reader.error_position()).clamp(start, text.len());
                    let end = (at + 1..=text.len()).find(|&end| text.is_char_boundary(end));
                    self.wrong(at, end.unwrap_or(at), error.to_string());
                    return;
                }
            };
            let end = place(reader.buffer_position());
            if matches!(event, Event::Eof) {
                return self.finish(end);
            }
            if self.event(&event, start, end, offset).is_none() || self.found.0.len() >= FOUND {
                return;
            }
        }
    }

    /// Handles an event. `None` where reading on makes no sense.
    fn event(&mut self, event: &Event<'_>, start: usize, end: usize, offset: usize) -> Option<()> {
        match event {
            Event::Start(element) => self.start(element, start, end)?,
            Event::Empty(element) => {
                self.start(element, start, end)?;
                self.close(end);
            }
            Event::End(element) => {
                let name = element.name();
                self.end(name.as_ref(), start, end);
            }
            Event::Text(_) => self.text(start, end),
            Event::GeneralRef(_) => {
                self.references(start, end);
                self.character_data(TEXT, start, end);
            }
            Event::CData(_) => self.character_data(CDATA, start, end),
            Event::Comment(_) => self.comment(start, end),
            Event::PI(instruction) => {
                self.instruction(instruction.target(), start, end);
            }
            Event::Decl(_) => self.declaration(start, end, start == offset),
            Event::DocType(_) => {
                let message = "a document type is not allowed";
                let help = "leave out the document type: its declarations are never read";
                self.found.push(self.error(start, end, message).help(help));
            }
            Event::Eof => {}
        }
        Some(())
    }

    fn finish(&mut self, end: usize) {
        if let Some(open) = self.open.last() {
            let (name, from) = (open.name, self.document.nodes[open.index as usize].start as usize);
            let message = format!("`<{name}>` is never closed");
            self.wrong(from, from + 1 + name.len(), message);
        } else if !self.has_root {
            self.wrong(end, end, "the document has no root element");
        }
    }

    fn error(&self, start: usize, end: usize, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(CodeName::SYNTAX, message).at(self.span(start, end))
    }

    fn wrong(&mut self, start: usize, end: usize, message: impl Into<String>) {
        let error = self.error(start, end, message);
        self.found.push(error);
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span { file: self.document.file, start: position(start), end: position(end) }
    }

    fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    fn push(&mut self, name: u32, start: usize, end: usize, written: usize) -> u32 {
        let index = position(self.document.nodes.len());
        self.document.nodes.push(NodeData {
            name,
            start: position(start),
            end: position(end),
            parent: self.open.last().map_or(NOTHING, |open| open.index),
            next: index + 1,
            attributes: position(self.document.attributes.len()),
            attribute_count: 0,
            written: u16::try_from(written).unwrap_or(u16::MAX),
        });
        index
    }

    fn start(&mut self, element: &BytesStart<'_>, start: usize, end: usize) -> Option<()> {
        let written = element.name().as_ref().len();
        let name = self.slice(start + 1, start + 1 + written);
        if self.open.len() >= self.limits.depth {
            let depth = self.limits.depth;
            let message = format!("elements stand in each other more than {depth} deep");
            self.wrong(start, start + 1 + written, message);
            return None;
        }
        if self.open.is_empty() && std::mem::replace(&mut self.has_root, true) {
            self.wrong(start, start + 1 + written, "there is a second root element");
            return None;
        }
        let index = self.push(NO_NAMESPACE, start, end, written);
        if self.open.is_empty() {
            self.document.root = index;
        }
        let scope = self.scope.len();
        self.open.push(OpenElement { index, name, scope, is_told: false });
        self.attributes(element, start, index)?;
        let resolved = self.resolved(name, start + 1, true);
        self.document.nodes[index as usize].name = resolved;
        Some(())
    }

    /// The number of the expanded name for a written name. Reports a name that is malformed or has
    /// an unknown prefix.
    fn resolved(&mut self, name: &'t str, at: usize, is_element: bool) -> u32 {
        if let Some(&(known, since)) = self.resolved.get(&(name, is_element))
            && since == self.scopes
        {
            return known;
        }
        let wrong = self.found.0.len();
        let found = self.resolve(name, at, is_element);
        if self.found.0.len() == wrong {
            self.resolved.insert((name, is_element), (found, self.scopes));
        }
        found
    }

    fn resolve(&mut self, name: &str, at: usize, is_element: bool) -> u32 {
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        if name.len() > self.limits.name {
            let message = format!("the name is longer than {} bytes", self.limits.name);
            self.wrong(at, at + name.len(), message);
        } else if !is_name(name) || local.contains(':') || !is_name(local) || name.starts_with(':')
        {
            self.wrong(at, at + name.len(), format!("`{name}` is no name"));
        }
        let namespace = match prefix {
            "" if !is_element => NO_NAMESPACE,
            "xml" => XML_NAMESPACE,
            _ => match self.scope.iter().rev().find(|(known, _)| *known == prefix) {
                Some(&(_, namespace)) => namespace,
                None if prefix.is_empty() => NO_NAMESPACE,
                None => {
                    let message = format!("no namespace is declared for the prefix `{prefix}`");
                    let help = format!("declare it: `xmlns:{prefix}=\"...\"`");
                    let error = self.error(at, at + prefix.len(), message).help(help);
                    self.found.push(error);
                    NO_NAMESPACE
                }
            },
        };
        self.document.names.name(namespace, local)
    }

    fn attributes(&mut self, element: &BytesStart<'_>, start: usize, index: u32) -> Option<()> {
        let first = self.document.attributes.len();
        let mut all = element.attributes();
        for attribute in all.with_checks(false) {
            let attribute = match attribute {
                Ok(attribute) => attribute,
                Err(error) => {
                    self.malformed_attribute(&error, start);
                    continue;
                }
            };
            let key: &str = attribute.key.as_ref();
            let (at, value) = (self.offset(key), self.offset(&attribute.value));
            self.attribute(at, key.len(), value, attribute.value.len());
            let count = self.document.attributes.len() - first;
            if count > self.limits.attributes {
                let most = self.limits.attributes;
                self.wrong(
                    at,
                    at + key.len(),
                    format!("an element has more than {most} attributes"),
                );
                return None;
            }
            self.document.nodes[index as usize].attribute_count =
                u16::try_from(count).unwrap_or(u16::MAX);
        }
        self.name_attributes(first)
    }

    /// The offset of a part of the text.
    fn offset(&self, part: &str) -> usize {
        part.as_ptr().addr().wrapping_sub(self.text.as_ptr().addr())
    }

    fn malformed_attribute(&mut self, error: &AttrError, start: usize) {
        let (at, message) = match error {
            AttrError::ExpectedEq(at) => (at, "an attribute needs a value: `name=\"value\"`"),
            AttrError::ExpectedValue(at) => (at, "there is no value behind `=`"),
            AttrError::UnquotedValue(at) => (at, "values of attributes stand in quotes"),
            AttrError::ExpectedQuote(at, _) => (at, "the quote is never closed"),
            AttrError::Duplicated(at, _) => (at, "the attribute is there twice"),
        };
        let at = (start + 1 + at).min(self.text.len());
        let at = (0..=at).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or(0);
        let end = self.slice(at, self.text.len()).chars().next().map_or(at, |c| at + c.len_utf8());
        self.wrong(at, end, message);
    }

    fn attribute(&mut self, at: usize, written: usize, value: usize, length: usize) {
        let key = self.slice(at, at + written);
        if !self.slice(0, at).ends_with(is_space) {
            self.wrong(at, at + written, "there has to be a blank before an attribute");
        }
        let raw = self.slice(value, value + length);
        if let Some(within) = raw.find('<') {
            let at = value + within;
            let error = self.error(at, at + 1, "`<` cannot stand in the value of an attribute");
            self.found.push(error.help("write `&lt;`"));
        }
        self.references(value, value + length);
        let name = match (key, key.strip_prefix("xmlns:")) {
            ("xmlns", _) => Some(""),
            (_, declared) => declared,
        };
        let (start, written) = (position(at), u16::try_from(written).unwrap_or(u16::MAX));
        let (value, end) = (position(value), position(value + length));
        self.document.attributes.push(AttributeData { name: TEXT, start, value, end, written });
        if let Some(prefix) = name {
            self.declare(prefix, at, key.len());
        }
    }

    /// Handles the last attribute as a declaration of a namespace.
    fn declare(&mut self, prefix: &'t str, at: usize, written: usize) {
        let last = self.document.attributes.len() - 1;
        let name = self.document.names.name(DECLARATIONS, prefix);
        self.document.attributes[last].name = name;
        let uri = self.document.value_of(&self.document.attributes[last]).into_owned();
        let written_name = self.slice(at, at + written);
        let wrong = match (prefix, &*uri) {
            _ if written_name != "xmlns" && !is_unprefixed_name(prefix) => {
                Some(format!("`{written_name}` declares no prefix"))
            }
            ("xml", XML) => None,
            ("xml" | "xmlns", _) => {
                Some(format!("XML itself fixes the meaning of the prefix `{prefix}`"))
            }
            (_, XML | XMLNS) => Some(format!("XML itself fixes the prefix of the namespace {uri}")),
            ("", _) => None,
            (_, "") => Some(format!("the prefix `{prefix}` needs a namespace")),
            _ => None,
        };
        if let Some(message) = wrong {
            self.wrong(at, at + written, message);
        }
        let namespace = self.document.names.namespace(&uri);
        self.scope.push((prefix, namespace));
        self.scopes += 1;
        if self.scope.len() > self.limits.bindings {
            let most = self.limits.bindings;
            self.wrong(at, at + written, format!("more than {most} namespaces are declared here"));
        }
    }

    /// Resolves the names of the attributes from `first` on. All prefixes must be in scope by then.
    fn name_attributes(&mut self, first: usize) -> Option<()> {
        // A few attributes are compared with each other, which is faster than a map.
        let is_few = self.document.attributes.len() - first <= 16;
        let mut seen: FxHashMap<u32, u32> = FxHashMap::default();
        for index in first..self.document.attributes.len() {
            let AttributeData { name, start, written, .. } = self.document.attributes[index];
            let (at, end) = (start as usize, start as usize + usize::from(written));
            let name = match name {
                TEXT => self.resolved(self.slice(at, end), at, false),
                declared => declared,
            };
            self.document.attributes[index].name = name;
            let other = match is_few {
                true => {
                    let before = &self.document.attributes[first..index];
                    before.iter().find(|other| other.name == name).map(|other| other.start)
                }
                false => seen.insert(name, start),
            };
            if let Some(other) = other {
                let message = format!("the attribute `{}` is there twice", self.slice(at, end));
                let first = self.span(other as usize, other as usize + usize::from(written));
                let error = self.error(at, end, message).label(first, "the first one");
                self.found.push(error);
            }
        }
        (self.scope.len() <= self.limits.bindings).then_some(())
    }

    fn end(&mut self, name: &str, start: usize, end: usize) {
        let Some(open) = self.open.last_mut() else {
            self.wrong(start, end, format!("`</{name}>` closes nothing"));
            return;
        };
        let (opened, index) = (open.name, open.index);
        if opened != name {
            if !std::mem::replace(&mut open.is_told, true) {
                let began = self.document.nodes[index as usize].start as usize;
                let label = self.span(began, began + 1 + opened.len());
                let message = format!("`<{opened}>` is closed as `</{name}>`");
                let error = self.error(start, end, message).label(label, "it begins here");
                self.found.push(error);
            }
            // If the end tag belongs to an outer element, the elements inside of that end with it.
            let Some(meant) = self.open.iter().rposition(|open| open.name == name) else { return };
            while self.open.len() > meant + 1 {
                self.close(start);
            }
        }
        self.close(end);
    }

    fn close(&mut self, end: usize) {
        let Some(open) = self.open.pop() else { return };
        if self.scope.len() > open.scope {
            self.scope.truncate(open.scope);
            self.scopes += 1;
        }
        let next = position(self.document.nodes.len());
        let node = &mut self.document.nodes[open.index as usize];
        (node.end, node.next) = (position(end), next);
    }

    fn text(&mut self, start: usize, end: usize) {
        let text = self.slice(start, end);
        if let Some(at) = text.find("]]>") {
            let at = start + at;
            let error = self.error(at, at + 3, "`]]>` cannot stand in a text");
            self.found.push(error.help("write `]]&gt;`"));
        }
        if !self.open.is_empty() {
            self.character_data(TEXT, start, end);
        } else if let Some(at) = text.find(|c| !is_space(c)) {
            self.wrong(start + at, start + text.trim_end_matches(is_space).len(), OUTSIDE);
        }
    }

    fn character_data(&mut self, kind: u32, start: usize, end: usize) {
        let Some(open) = self.open.last() else {
            self.wrong(start, end, OUTSIDE);
            return;
        };
        // References cut a text into pieces, which are joined again.
        match self.document.nodes.last_mut() {
            Some(last)
                if kind == TEXT
                    && last.name == TEXT
                    && last.end == position(start)
                    && last.parent == open.index =>
            {
                last.end = position(end);
            }
            _ => {
                self.push(kind, start, end, 0);
            }
        }
    }

    /// Checks the references in a part of the text.
    fn references(&mut self, start: usize, end: usize) {
        let mut rest = start;
        while let Some(found) = self.slice(rest, end).find('&') {
            let at = rest + found;
            let Some(length) = self.slice(at, end).find(';') else {
                let error = self.error(at, at + 1, "a reference has to end with `;`");
                self.found.push(error.help("a mere `&` is written `&amp;`"));
                return;
            };
            let name = self.slice(at + 1, at + length);
            if let Some(message) = wrong_reference(name) {
                self.wrong(at, at + length + 1, message);
            }
            rest = at + length + 1;
        }
    }

    fn comment(&mut self, start: usize, end: usize) {
        let text = self.slice(start + 4, end.saturating_sub(3));
        if let Some(at) = text.find("--").or(text.ends_with('-').then(|| text.len() - 1)) {
            let at = start + 4 + at;
            self.wrong(at, at + 2, "`--` cannot stand in a comment");
        }
        self.push(COMMENT, start, end, 0);
    }

    fn instruction(&mut self, target: &str, start: usize, end: usize) {
        let is_reserved = target.eq_ignore_ascii_case("xml");
        if is_reserved || !is_name(target) || target.contains(':') {
            let message = format!("`{target}` is no name of a processing instruction");
            self.wrong(start + 2, start + 2 + target.len(), message);
        }
        self.push(INSTRUCTION, start, end, 0);
    }

    fn declaration(&mut self, start: usize, end: usize, is_first: bool) {
        if !is_first {
            self.wrong(start, end, "the declaration of XML has to stand at the start of the file");
            return;
        }
        let content = self.slice(start + 2, end.saturating_sub(2));
        let said = BytesStart::from_content(content, "xml".len());
        let said: Result<Vec<_>, _> = said.attributes().collect();
        let Ok(said) = said else {
            self.wrong(start, end, DECLARATION);
            return;
        };
        let names: Vec<&str> = said.iter().map(|attribute| attribute.key.as_ref()).collect();
        let value = |name: &str| {
            let attribute = said.iter().find(|attribute| attribute.key.as_ref() == name);
            attribute.map(|attribute| &*attribute.value)
        };
        let is_in_order = matches!(
            names[..],
            ["version"]
                | ["version", "encoding" | "standalone"]
                | ["version", "encoding", "standalone"]
        );
        let are_apart = content.matches(['"', '\'']).count() == 2 * said.len();
        if !is_in_order
            || !are_apart
            || value("standalone").is_some_and(|it| !matches!(it, "yes" | "no"))
        {
            self.wrong(start, end, DECLARATION);
        }
        if let Some(version) = value("version").filter(|version| *version != "1.0") {
            self.wrong(start, end, format!("XML {version} is not supported, only XML 1.0"));
        }
        if let Some(name) = value("encoding").filter(|name| !is_readable(name)) {
            let message = format!("the file says that it is written in {name}");
            let error = self
                .error(start, end, message)
                .help("convert the file to UTF-8, and declare `encoding=\"UTF-8\"`");
            self.found.push(error);
        }
    }
}

const DECLARATION: &str = "the declaration of XML is `<?xml version=\"1.0\" encoding=\"UTF-8\"?>`";
const OUTSIDE: &str = "text cannot stand outside of the root element";

fn is_readable(encoding: &str) -> bool {
    ["utf-8", "us-ascii"].iter().any(|known| encoding.eq_ignore_ascii_case(known))
}

/// The message for a reference that is wrong.
fn wrong_reference(name: &str) -> Option<String> {
    let Some(number) = name.strip_prefix('#') else {
        let is_known = resolve_predefined_entity(name).is_some();
        return (!is_known).then(|| format!("there is no entity `{name}`"));
    };
    let digits = |text: &str, radix| {
        let is_number = !text.is_empty() && text.chars().all(|c| c.is_digit(radix));
        u32::from_str_radix(text, radix).ok().filter(|_| is_number)
    };
    let code = match number.strip_prefix('x') {
        Some(number) => digits(number, 16),
        None => digits(number, 10),
    };
    let is_char = code.and_then(char::from_u32).is_some_and(is_allowed);
    (!is_char).then(|| format!("`&{name};` is no character that XML can hold"))
}

/// An offset as a number of 32 bits. The limits keep texts short enough.
fn position(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}
