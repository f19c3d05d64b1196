//! Documents as wholes: extensions, imports, and what clashes.

use super::checker::DefinitionsChecker;
use crate::text::diagnostic::{Code, Diagnostic};
use crate::text::xml::schema::XML_SCHEMA;
use crate::text::xml::{XmlAttribute, XmlElement};
use crate::tosca::v1_0::definitions::SaidText;
use crate::tosca::v1_0::{TOSCA, WINERY};
use rustc_hash::{FxHashMap, FxHashSet};

/// Extensions whose elements are known here: our own, and those of Winery.
const KNOWN: [&str; 2] = ["urn:cuvee:xml:1", WINERY];

/// What may be imported: definitions, schemas, and interfaces of services.
const IMPORTED: [&str; 3] = [TOSCA, XML_SCHEMA, "http://schemas.xmlsoap.org/wsdl/"];

impl DefinitionsChecker<'_, '_> {
    /// Section 4.2.
    pub(super) fn documents(&mut self) {
        for document in 0..self.library.documents.len() {
            self.extensions(document);
            self.imports(document);
        }
        self.clashes();
    }

    /// A mandatory extension that is not known rejects the document, even where it is optional
    /// elsewhere in it (statement C1).
    fn extensions(&mut self, document: usize) {
        for extension in &self.library.documents[document].extensions {
            let namespace = &extension.namespace;
            if !extension.must_understand || KNOWN.contains(&&*namespace.text) {
                continue;
            }
            let message = format!("who does not know {} cannot understand this", namespace.text);
            let error = Diagnostic::error(Code::MandatoryExtension, message).at(namespace.span);
            self.say(error.help("it can be left aside with `mustUnderstand=\"no\"`"), "4.2");
        }
    }

    fn imports(&mut self, document: usize) {
        let definitions = &self.library.documents[document];
        let mut seen = FxHashSet::default();
        for import in &definitions.imports {
            let Some(kind) = &import.import_type else { continue };
            let said = kind.text.trim_end_matches('/');
            if IMPORTED.iter().all(|known| known.trim_end_matches('/') != said) {
                let message =
                    format!("what is imported is of no kind that is known: {}", kind.text);
                let known = format!("known are {}", IMPORTED.join(", "));
                let warning = Diagnostic::warning(Code::InvalidValue, message).at(kind.span);
                self.say(warning.help(known), "4.2");
            }
            let text =
                |said: &Option<SaidText<'_>>| said.as_ref().map(|said| said.text.to_string());
            let key = (text(&import.namespace), kind.text.to_string(), text(&import.location));
            if !seen.insert(key) {
                let message = "this is imported already";
                self.error(Code::Duplicate, import.span, "4.2", message);
            }
            let led = self.library.loaded.imported(definitions.file, import.span);
            let Some(other) = led.and_then(|at| self.library.loaded.documents.get(at)) else {
                continue;
            };
            let target = other.root().attribute("targetNamespace");
            let target = target.map(|it| it.collapsed().into_owned()).unwrap_or_default();
            let said = import.namespace.as_ref().map_or("", |said| &said.text);
            if said != target {
                let at = import.namespace.as_ref().map_or(import.span, |said| said.span);
                let message = format!("what is imported has the namespace {target}, not `{said}`");
                self.error(Code::InvalidValue, at, "4.2", message);
            }
        }
    }

    /// Two components of one kind and name are one, or contradict each other (statement Q3).
    fn clashes(&mut self) {
        for &(first, second) in &self.library.repeated {
            let (one, other) = (self.library.component(first), self.library.component(second));
            // What has the id of something else in its document was told.
            let is_told = other.element.attribute("id").is_some()
                && one.element.span().file == other.element.span().file;
            if is_told || same(one.element, other.element) {
                continue;
            }
            let message = format!(
                "another {} `{}` of {} says something else",
                other.kind.what(),
                other.name.text,
                other.namespace
            );
            let error = Diagnostic::error(Code::TypeClash, message).at(other.name.span);
            self.say(error.label(one.name.span, "this one"), "4.2");
        }
    }
}

/// Whether two trees say the same, however they are written.
fn same(one: XmlElement<'_>, other: XmlElement<'_>) -> bool {
    let mut open = vec![(one, other)];
    while let Some((one, other)) = open.pop() {
        let attributes = |element: XmlElement<'_>| -> FxHashMap<(String, String), String> {
            let named = |it: XmlAttribute<'_>| {
                let name = it.name();
                ((name.namespace.to_owned(), name.local.to_owned()), it.collapsed().into_owned())
            };
            element.attributes().map(named).collect()
        };
        let texts = |element: XmlElement<'_>| -> String { element.text().trim().to_owned() };
        let (own, others): (Vec<_>, Vec<_>) =
            (one.elements().collect(), other.elements().collect());
        if one.name() != other.name()
            || attributes(one) != attributes(other)
            || texts(one) != texts(other)
            || own.len() != others.len()
        {
            return false;
        }
        open.extend(own.into_iter().zip(others));
    }
    true
}
