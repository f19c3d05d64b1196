//! Checks whole documents: extensions, imports, and clashing components.

use super::checker::DefinitionsChecker;
use crate::diagnostic::{Code, Diagnostic};
use crate::tosca::v1_0::definitions::SaidText;
use crate::tosca::v1_0::{DefinitionsExtent, TOSCA, WINERY};
use crate::tosca::xml_schema::XML_SCHEMA;
use cuvee_text::xml::{XmlAttribute, XmlElement};
use rustc_hash::{FxHashMap, FxHashSet};

/// The known extensions: those of `cuvee` and of Winery.
const KNOWN: [&str; 2] = ["urn:cuvee:xml:1", WINERY];

/// The kinds of documents that may be imported: definitions, schemas, and interfaces of services.
const IMPORTED: [&str; 3] = [TOSCA, XML_SCHEMA, "http://schemas.xmlsoap.org/wsdl/"];

impl DefinitionsChecker<'_, '_> {
    /// Checks all documents (section 4.2).
    pub(super) fn documents(&mut self) {
        for document in 0..self.library.documents.len() {
            self.extensions(document);
            self.imports(document);
            self.named_elsewhere(document);
        }
        self.clashes();
    }

    /// Reports an unknown mandatory extension. It rejects the document even if it is optional
    /// elsewhere in it (statement C1).
    fn extensions(&mut self, document: usize) {
        for extension in &self.library.documents[document].extensions {
            let namespace = &extension.namespace;
            if !extension.must_understand || KNOWN.contains(&&*namespace.text) {
                continue;
            }
            let message = format!(
                "this document requires the extension {}, which is not known here",
                namespace.text
            );
            let error = Diagnostic::error(Code::MandatoryExtension, message).at(namespace.span);
            self.say(
                error.help("leave the extension out, or declare it with `mustUnderstand=\"no\"`"),
                "4.2",
            );
        }
    }

    fn imports(&mut self, document: usize) {
        let definitions = &self.library.documents[document];
        let mut seen = FxHashSet::default();
        for import in &definitions.imports {
            let Some(kind) = &import.import_type else { continue };
            let said = kind.text.trim_end_matches('/');
            if IMPORTED.iter().all(|known| known.trim_end_matches('/') != said) {
                let message = format!("the import is of a kind that is not known: {}", kind.text);
                let known = format!("known are {}", IMPORTED.join(", "));
                let warning = Diagnostic::warning(Code::InvalidValue, message).at(kind.span);
                self.say(warning.help(known), "4.2");
            }
            let text =
                |said: &Option<SaidText<'_>>| said.as_ref().map(|said| said.text.to_string());
            let key = (text(&import.namespace), kind.text.to_string(), text(&import.location));
            if !seen.insert(key) {
                let message = "this document is imported already";
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
                let message =
                    format!("the imported document has the namespace {target}, not `{said}`");
                self.error(Code::InvalidValue, at, "4.2", message);
            }
        }
    }

    /// Reports missing imports of a document that stands by itself, for what elements that others
    /// put among the components name, such as the rules of Winery.
    fn named_elsewhere(&mut self, document: usize) {
        let library = self.library;
        if library.loaded.extent != DefinitionsExtent::File {
            return;
        }
        for (kind, name) in &library.documents[document].named_elsewhere {
            self.named(*kind, document, Some(name), "4.2");
        }
    }

    /// Reports two components of one kind and name, unless their contents are the same (statement
    /// Q3).
    fn clashes(&mut self) {
        for &(first, second) in &self.library.repeated {
            let (one, other) = (self.library.component(first), self.library.component(second));
            // Two elements of one document with the same id have already been reported.
            let is_told = other.element.attribute("id").is_some()
                && one.element.span().file == other.element.span().file;
            if is_told || same(one.element, other.element) {
                continue;
            }
            let message = format!(
                "another {} `{}` of {} is defined differently",
                other.kind.what(),
                other.name.text,
                other.namespace
            );
            let error = Diagnostic::error(Code::TypeClash, message).at(other.name.span);
            self.say(error.label(one.name.span, "this one"), "4.2");
        }
    }
}

/// Whether two trees have the same content, regardless of how they are written.
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
