//! Checks repositories, imports and namespaces of the template and of its imports (sections 3.1,
//! 3.6.6 and 3.6.8). Imports that cannot be read are reported when they are read.

use super::checker::Checker;
use super::conditional::ConditionalFiles;
use crate::diagnostic::{Cite, Code, Diagnostic, Diagnostics};
use crate::tosca::import::ImportDefinition;
use crate::tosca::import::is_profile;
use crate::tosca::shape::{self, REPOSITORY, Reading, Vocabulary};
use crate::tosca::types::profile::is_reserved;
use crate::tosca::types::schemas::Schemas;
use crate::tosca::v2_0;
use crate::tosca::value::{Schema, check_value};
use crate::tosca::{Family, Types, profile};
use crate::variability::element::ElementKind;
use crate::variability::graph::ElementId;
use crate::variability::template::shape::IMPORT;
use cuvee_text::yaml::{Document, Node, NodeKind};
use rustc_hash::FxHashMap;

/// The data type of credentials for a repository.
const CREDENTIAL: &str = "tosca.datatypes.Credential";

/// Checks these documents; the last one is the template.
pub(super) fn check(documents: &[&Document], types: &Types<'_>, diagnostics: &mut Diagnostics) {
    let schemas = Schemas::new(types);
    let mut checking = Checking { schemas: &schemas, diagnostics };
    for (index, document) in documents.iter().enumerate() {
        let root = document.root();
        if index + 1 < documents.len() {
            checking.version(root);
        }
        if !types.is_profile(document) {
            checking.namespace(root.get("namespace"));
        }
        for (name, definition) in checking.entries(root, "repositories") {
            checking.repository(name, definition);
        }
        checking.imports(root);
    }
}

impl Checker<'_, '_> {
    /// Checks that a file that defines a type is imported wherever the type is used.
    pub(super) fn imported_types(&self, conditional: &ConditionalFiles) {
        let mut defined_behind = FxHashMap::default();
        for id in self.graph.ids().filter(|_| !conditional.is_empty()) {
            let element = self.graph.element(id);
            let Some((container, family)) =
                element.container.filter(|_| element.kind == ElementKind::Type).and_then(
                    |container| Some((container, family(self.graph.element(container).kind)?)),
                )
            else {
                continue;
            };
            let Some(defined) = self.types.find_in(Some(element.span.file), family, element.name)
            else {
                continue;
            };
            let imports = defined_behind
                .entry(defined)
                .or_insert_with(|| conditional.behind(self.types.files_of(defined)));
            if let Some(imports) = imports {
                let error = Diagnostic::error(
                    Code::UnknownType,
                    format!("there is no {} `{}`", family.noun(), element.name),
                );
                let error = error.at(element.span).section(family.section());
                let error = self.behind_conditions(error, imports);
                self.report_when(&[container, id], imports, error);
            }
        }
    }

    /// A diagnostic about what is not there because none of these imports is present.
    pub(super) fn behind_conditions(&self, found: Diagnostic, imports: &[ElementId]) -> Diagnostic {
        let places = imports.iter().map(|&import| self.graph.element(import).span);
        places.fold(found, |it, place| it.label(place, "its file is imported under a condition"))
    }
}

/// The family of the types of an element.
fn family(kind: ElementKind) -> Option<Family> {
    match kind {
        ElementKind::Node => Some(Family::Node),
        ElementKind::Relation => Some(Family::Relationship),
        ElementKind::Artifact => Some(Family::Artifact),
        ElementKind::Group => Some(Family::Group),
        ElementKind::Policy => Some(Family::Policy),
        _ => None,
    }
}

struct Checking<'c, 't, 'd> {
    schemas: &'c Schemas<'t, 'd>,
    diagnostics: &'c mut Diagnostics,
}

impl Checking<'_, '_, '_> {
    fn error(&mut self, code: Code, at: Node<'_>, message: String, section: &'static str) {
        self.diagnostics.push(Diagnostic::error(code, message).at(at.span()).section(section));
    }

    fn wrong(&mut self, at: Node<'_>, what: &str, expected: &str, section: &'static str) {
        let message = format!("{what} has to be {expected}, not {}", at.describe());
        self.error(Code::InvalidTemplate, at, message, section);
    }

    fn keynames(&mut self, body: Node<'_>, known: impl Into<Vocabulary>) {
        let known = known.into();
        let keys = body.entries().map(|(key, _)| key);
        self.diagnostics.0.extend(keys.filter_map(|key| known.unknown(key, Reading::Strict)));
    }

    /// Checks that an imported file has a TOSCA version, which need not be that of the template.
    fn version(&mut self, root: Node<'_>) {
        const SECTION: &str = "3.10.3.1";
        let Some(version) = root.get("tosca_definitions_version") else {
            let message = "the imported file has no `tosca_definitions_version`".to_owned();
            return self.error(Code::UnsupportedVersion, root, message, SECTION);
        };
        let text = version.as_str().unwrap_or_default();
        if !text.starts_with("tosca_") && !is_reserved(text) {
            let known = format!("`{}` or another version of TOSCA", profile::ALIAS);
            let message = format!(
                "`tosca_definitions_version` of an imported file is {known}, not {}",
                version.describe()
            );
            self.error(Code::UnsupportedVersion, version, message, SECTION);
        }
    }

    fn namespace(&mut self, namespace: Option<Node<'_>>) {
        if let Some(namespace) =
            namespace.filter(|namespace| namespace.as_str().is_some_and(is_reserved))
        {
            let message = format!(
                "the namespace `{}` is reserved for TOSCA",
                namespace.text().unwrap_or_default()
            );
            self.error(Code::ReservedName, namespace, message, "3.1.3.1");
        }
    }

    fn entries<'n>(&mut self, root: Node<'n>, keyname: &str) -> Vec<(Node<'n>, Node<'n>)> {
        let value = root.get(keyname).filter(|value| !value.is_null());
        if let Some(value) = value.filter(|value| value.kind() != NodeKind::Mapping) {
            self.wrong(value, &format!("`{keyname}`"), "a map", "3.10.1");
        }
        value.into_iter().flat_map(Node::entries).collect()
    }

    fn repository(&mut self, name: Node<'_>, definition: Node<'_>) {
        if definition.as_str().is_some() {
            return self.url(definition);
        }
        if definition.kind() != NodeKind::Mapping {
            return self.wrong(
                definition,
                "a repository",
                "a URL, or a map with its `url`",
                "3.6.6.2",
            );
        }
        self.keynames(definition, &REPOSITORY);
        match definition.get("url") {
            None => {
                let message =
                    format!("the repository `{}` has no `url`", name.text().unwrap_or_default());
                self.error(Code::InvalidTemplate, name, message, REPOSITORY.section);
            }
            Some(url) if url.as_str().is_none() => {
                self.wrong(url, "`url`", "a string", REPOSITORY.section)
            }
            Some(url) => self.url(url),
        }
        if let Some(description) =
            definition.get("description").filter(|text| text.as_str().is_none() && !text.is_null())
        {
            self.wrong(description, "`description`", "a string", REPOSITORY.section);
        }
        let credential = definition.get("credential").filter(|it| !v2_0::is_of(it.document()));
        if let Some(credential) = credential {
            let schema = Schema::of(CREDENTIAL);
            let found = check_value(credential, &schema, self.schemas);
            self.diagnostics
                .0
                .extend(found.undecided.iter().map(|undecided| undecided.diagnostic()));
            self.diagnostics.0.extend(found.diagnostics);
        }
    }

    /// Checks the address of a repository: a URL, or a host or a path without a scheme.
    fn url(&mut self, url: Node<'_>) {
        let text = url.text().unwrap_or_default();
        if !is_address(text) {
            let message = format!("the address of a repository has to be a URL, not `{text}`");
            self.error(Code::InvalidTemplate, url, message, REPOSITORY.section);
        }
    }

    fn imports(&mut self, root: Node<'_>) {
        let Some(imports) = root.get("imports") else { return };
        if imports.kind() != NodeKind::Sequence {
            return self.wrong(imports, "`imports`", "a list", "3.10.1");
        }
        for item in imports.items() {
            match ImportDefinition::read(item) {
                Some(import) => self.import(import),
                // The grammar of TOSCA 2.0 has keynames of its own for imports.
                None if v2_0::is_of(item.document()) => {}
                None => self.wrong(
                    item,
                    "an import",
                    "the name of a file, or a map with its `file`",
                    "3.6.8.2",
                ),
            }
        }
    }

    fn import(&mut self, import: ImportDefinition<'_>) {
        self.keynames(import.body, IMPORT);
        for keyname in ["repository", "namespace_prefix", "namespace_uri"] {
            if let Some(value) = import.body.get(keyname).filter(|value| value.as_str().is_none()) {
                self.wrong(value, &format!("`{keyname}`"), "a string", shape::IMPORT.section);
            }
        }
        if let Some(prefix) =
            import.body.get("namespace_prefix").filter(|_| import.prefix == Some("tosca"))
        {
            let message = "the namespace prefix `tosca` is reserved for TOSCA".to_owned();
            self.error(Code::ReservedName, prefix, message, "3.6.8.2.3");
        }
        if let Some(prefix) =
            import.body.get("namespace_prefix").filter(|it| it.text().is_some_and(has_colon))
        {
            let name = prefix.text().unwrap_or_default();
            let message = format!("nothing is found behind the namespace `{name}`");
            let warning = Diagnostic::warning(Code::InvalidTemplate, message).at(prefix.span());
            let help = "a colon ends the name of a namespace, so leave it out";
            self.diagnostics.push(warning.section("3.6.8.2.3").help(help));
        }
        if let Some((key, uri)) =
            import.body.entries().find(|(key, _)| key.text() == Some("namespace_uri"))
        {
            let warning = Diagnostic::warning(Code::Deprecated, "`namespace_uri` is deprecated")
                .at(key.span());
            self.diagnostics.push(
                warning
                    .section("3.6.8.2.3")
                    .help("declare the `namespace` in the file that is imported"),
            );
            self.namespace(Some(uri).filter(|_| !is_profile(import.file)));
        }
    }
}

/// Whether a name would be read as that of a namespace in another one.
fn has_colon(name: &str) -> bool {
    name.contains(':')
}

/// Whether a text may be a URL or a network address: it consists of characters that RFC 3986
/// allows, and if it has a scheme, something follows it.
fn is_address(text: &str) -> bool {
    let is_allowed = |c: char| c.is_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c);
    let has_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    let is_whole = match text.split_once("://") {
        Some((scheme, rest)) => has_scheme(scheme) && !rest.is_empty(),
        None => !text.is_empty(),
    };
    is_whole && text.chars().all(is_allowed)
}
