//! Holds what all checks of TOSCA 1.0 share: the lookup of names, and the list of findings.

use crate::diagnostic::{Advice, Code, Diagnostic, Diagnostics, Severity, closest};
use crate::tosca::v1_0::definitions::{ComponentKind, ComponentName, SaidText};
use crate::tosca::v1_0::{
    ComponentId, DefinitionsExtent, FoundComponent, Library, PropertySchemas, by,
};
use cuvee_text::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) struct DefinitionsChecker<'l, 'd> {
    pub(super) library: &'l Library<'d>,
    pub(super) schemas: &'l PropertySchemas<'d>,
    pub(super) found: Diagnostics,
    /// Pairs of a document and a namespace that it uses without importing it; each is reported
    /// once.
    unimported: FxHashSet<(usize, String)>,
}

impl<'l, 'd> DefinitionsChecker<'l, 'd> {
    pub(super) fn new(
        library: &'l Library<'d>,
        schemas: &'l PropertySchemas<'d>,
        found: Diagnostics,
    ) -> Self {
        Self { library, schemas, found, unimported: FxHashSet::default() }
    }

    pub(super) fn say(&mut self, diagnostic: Diagnostic, section: &'static str) {
        self.found.push(diagnostic.rule(by(section)));
    }

    pub(super) fn error(
        &mut self,
        code: Code,
        at: Span,
        section: &'static str,
        message: impl Into<String>,
    ) {
        self.say(Diagnostic::error(code, message).at(at), section);
    }

    /// The component that a name refers to; a missing component is an error (statement Q2).
    pub(super) fn named(
        &mut self,
        kind: ComponentKind,
        document: usize,
        name: Option<&ComponentName<'d>>,
        section: &'static str,
    ) -> Option<ComponentId> {
        self.looked_up(kind, document, name?, section, Severity::Error)
    }

    /// Looks a component up like [`Self::named`], with a given severity if it is missing.
    pub(super) fn looked_up(
        &mut self,
        kind: ComponentKind,
        document: usize,
        name: &ComponentName<'d>,
        section: &'static str,
        severity: Severity,
    ) -> Option<ComponentId> {
        let id = match self.library.find(kind, document, name) {
            FoundComponent::Known(id) => id,
            FoundComponent::Unprefixed(id) => {
                let own = &self.library.documents[document].target_namespace;
                let message = format!(
                    "`{}` has no prefix, so by the rules it does not mean the {} of {own}",
                    name.local,
                    kind.what()
                );
                let warning = Diagnostic::warning(Code::UnprefixedName, message).at(name.span);
                self.say(
                    warning.help("declare a prefix for the target namespace, and use it"),
                    "2.6",
                );
                id
            }
            FoundComponent::Elsewhere => return None,
            FoundComponent::Nothing => {
                let unknown = self.unknown(kind, name);
                self.say(unknown.with_severity(severity), section);
                return None;
            }
        };
        self.imported(document, id, name);
        Some(id)
    }

    fn unknown(&self, kind: ComponentKind, name: &ComponentName<'d>) -> Diagnostic {
        let namespace = name.namespace.as_deref().unwrap_or_default();
        let code = if kind.is_type() { Code::UnknownType } else { Code::UnknownElement };
        let message = match namespace {
            "" => format!("there is no {} `{}` without a namespace", kind.what(), name.local),
            namespace => format!("there is no {} `{}` in {namespace}", kind.what(), name.local),
        };
        let beside = self.library.names(kind).filter(|known| known.namespace == namespace);
        let meant = closest(&name.local, beside.map(|known| &*known.name.text));
        let mut elsewhere = self.library.names(kind).filter(|known| known.name.text == name.local);
        let error = Diagnostic::error(code, message).at(name.span);
        match (meant, elsewhere.next()) {
            (_, Some(other)) => error.help(format!("there is one in {}", other.namespace)),
            (Some(meant), None) => error.help(Advice::did_you_mean(&name.local, meant)),
            (None, None) => error.help_opt(self.nowhere(namespace)),
        }
    }

    /// Help for a name whose namespace is entirely unknown.
    fn nowhere(&self, namespace: &str) -> Option<&'static str> {
        let library = self.library;
        let is_there = library.ids().any(|id| library.component(id).namespace == namespace);
        let help = match library.loaded.extent {
            DefinitionsExtent::File => {
                "import a document of this namespace: no imported one is of it"
            }
            DefinitionsExtent::Repository => {
                "put a document of this namespace beside the others: none of them is of it"
            }
        };
        (!is_there && !namespace.is_empty()).then_some(help)
    }

    /// Reports a used component that is not imported directly (statement C3), once per document and
    /// namespace.
    fn imported(&mut self, document: usize, id: ComponentId, name: &ComponentName<'d>) {
        if self.library.is_visible(document, id) {
            return;
        }
        let component = self.library.component(id);
        if !self.unimported.insert((document, component.namespace.to_string())) {
            return;
        }
        let message = format!(
            "the {} `{}` of {} is not imported here",
            component.kind.what(),
            component.name.text,
            component.namespace
        );
        let found = match self.library.loaded.extent {
            DefinitionsExtent::File => Diagnostic::error(Code::MissingImport, message),
            DefinitionsExtent::Repository => Diagnostic::warning(Code::MissingImport, message),
        };
        let found = found.at(name.span).label(component.name.span, "it is defined here");
        self.say(found.help("import the document that defines it"), "4.2");
    }

    /// Reports duplicate names.
    pub(super) fn unique<'n>(
        &mut self,
        names: impl IntoIterator<Item = &'n SaidText<'d>>,
        what: &str,
        section: &'static str,
        severity: Severity,
    ) where
        'd: 'n,
    {
        let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
        for name in names {
            let Some(first) = seen.insert(&name.text, name.span) else { continue };
            let message = format!("there is another {what} `{}`", name.text);
            let found = Diagnostic::error(Code::Duplicate, message).with_severity(severity);
            self.say(found.at(name.span).label(first, "this one"), section);
        }
    }

    /// The local name of a component, for messages.
    pub(super) fn name(&self, id: ComponentId) -> &'l str {
        let library = self.library;
        &library.component(id).name.text
    }
}
