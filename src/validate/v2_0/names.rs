//! Finds what names of types and functions mean in files of TOSCA 2.0: what the file defines, and
//! what it imports, behind the namespace of the import (section 6.8).

use super::by;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::tosca::Family;
use crate::tosca::load::Loaded;
use crate::tosca::v2_0::VERSION;
use cuvee_text::source::FileId;
use cuvee_text::yaml::{Document, Node};
use rustc_hash::{FxHashMap, FxHashSet};

/// The types that TOSCA itself has (section 9.1).
const BUILT_IN: [&str; 11] = [
    "string",
    "integer",
    "float",
    "boolean",
    "bytes",
    "nil",
    "timestamp",
    "version",
    "scalar-unit",
    "list",
    "map",
];

/// A type of later texts of the standard, which files use already.
const LATER: &str = "scalar";

/// A file and what it imports.
pub(super) struct TypeFile<'d> {
    pub document: &'d Document,
    /// The imported files, with the namespaces of their names.
    imports: Vec<(Option<&'d str>, FileId)>,
}

/// A file and all that it imports.
pub(super) struct Names<'d> {
    pub files: Vec<TypeFile<'d>>,
    index: FxHashMap<FileId, usize>,
    /// Whether all imports were read, so that a name that is not found does not exist.
    is_complete: bool,
}

/// The definition of a type, and its file.
#[derive(Clone, Copy)]
struct Defined<'d> {
    file: FileId,
    body: Node<'d>,
}

impl<'d> Names<'d> {
    /// Reads a file and all that it imports. Reports imports that cannot be read.
    pub(super) fn read(loaded: &'d Loaded, top: &'d Document, found: &mut Vec<Diagnostic>) -> Self {
        let mut names = Self { files: Vec::new(), index: FxHashMap::default(), is_complete: true };
        let mut open = vec![top];
        names.index.insert(top.file(), 0);
        while let Some(document) = open.pop() {
            let mut imports = Vec::new();
            for item in document.root().get("imports").into_iter().flat_map(Node::items) {
                let Some(name) = imported_name(document.root(), item) else { continue };
                let read = loaded.imported(document.file(), &name).and_then(of_version);
                match read {
                    Ok(other) => {
                        imports.push((item.get("namespace").and_then(Node::as_str), other.file()));
                        if names.index.insert(other.file(), 0).is_none() {
                            open.push(other);
                        }
                    }
                    Err(error) => {
                        names.is_complete = false;
                        let error = match error.span.is_none() && item.get("profile").is_some() {
                            true => unmapped_profile(&name),
                            false => error,
                        };
                        let place = error.span.map_or_else(|| Some(item.span()), Some);
                        found.push(by(error.at(place), "6.8"));
                    }
                }
            }
            names.index.insert(document.file(), names.files.len());
            names.files.push(TypeFile { document, imports });
        }
        names
    }

    fn file(&self, file: FileId) -> Option<&TypeFile<'d>> {
        self.files.get(*self.index.get(&file)?)
    }

    /// What a name means in a file, where `own` finds what a file itself defines.
    fn find<T>(
        &self,
        file: FileId,
        name: &str,
        own: &impl Fn(&TypeFile<'d>, &str) -> Option<T>,
        seen: &mut FxHashSet<(FileId, usize)>,
    ) -> Option<T> {
        // What is left of the name tells how far the namespaces before it were taken off.
        if !seen.insert((file, name.len())) {
            return None;
        }
        let here = self.file(file)?;
        if let Some(definition) = own(here, name) {
            return Some(definition);
        }
        here.imports.iter().find_map(|&(namespace, to)| {
            let name = match namespace {
                Some(namespace) => name.strip_prefix(namespace)?.strip_prefix(':')?,
                None => name,
            };
            self.find(to, name, own, seen)
        })
    }

    fn definition(&self, file: FileId, family: Family, name: &str) -> Option<Defined<'d>> {
        let own = |file: &TypeFile<'d>, name: &str| {
            let body = file.document.root().get(family.keyword())?.get(name)?;
            Some(Defined { file: file.document.file(), body })
        };
        self.find(file, name, &own, &mut FxHashSet::default())
    }

    /// Whether a function of this name is declared where the file sees it.
    pub(super) fn function(&self, file: &TypeFile<'d>, name: &str) -> Option<Node<'d>> {
        let own = |file: &TypeFile<'d>, name: &str| {
            let root = file.document.root();
            let below = |node: Node<'d>| node.get("functions")?.get(name);
            below(root).or_else(|| root.get("service_template").and_then(below))
        };
        self.find(file.document.file(), name, &own, &mut FxHashSet::default())
    }

    /// Whether all imports were read.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Reports a name of a type that nothing defines.
    pub(super) fn named(
        &self,
        file: &TypeFile<'d>,
        family: Family,
        node: Node<'d>,
        found: &mut Vec<Diagnostic>,
    ) {
        let name = node.text().unwrap_or_default();
        let is_built_in = family == Family::Data && (BUILT_IN.contains(&name) || name == LATER);
        let is_known = || self.definition(file.document.file(), family, name).is_some();
        if is_built_in || !self.is_complete || is_known() {
            return;
        }
        let message = format!("there is no {} `{name}`", family.noun());
        let of_file = file.document.root().get(family.keyword());
        let known = of_file.into_iter().flat_map(Node::entries).filter_map(|(key, _)| key.text());
        let built_in = BUILT_IN.iter().copied().filter(|_| family == Family::Data);
        let error = Diagnostic::error(Code::UnknownType, message)
            .at(node.span())
            .help("define it or import a file that does; TOSCA 2.0 has no types of its own but data types")
            .help_opt(did_you_mean(name, known.chain(built_in)));
        found.push(by(error, "6.4"));
    }

    /// Reports types that derive from themselves, and types named like built-in ones.
    pub(super) fn types(&self, file: &TypeFile<'d>, found: &mut Vec<Diagnostic>) {
        let root = file.document.root();
        for family in Family::ALL {
            for (key, body) in root.get(family.keyword()).into_iter().flat_map(Node::entries) {
                let name = key.text().unwrap_or_default();
                if family == Family::Data && BUILT_IN.contains(&name) {
                    let message = format!("`{name}` is a type of TOSCA itself");
                    let error = Diagnostic::error(Code::ReservedName, message).at(key.span());
                    found.push(by(error.help("give it another name"), "9.1"));
                }
                let start = Defined { file: file.document.file(), body };
                if self.is_cyclic(start, family) {
                    let message = format!("the {} `{name}` derives from itself", family.noun());
                    let error = Diagnostic::error(Code::CyclicType, message).at(key.span());
                    found.push(by(error.help("break the cycle"), "6.4.2"));
                }
            }
        }
    }

    fn parent(&self, of: Defined<'d>, family: Family) -> Option<Defined<'d>> {
        self.definition(of.file, family, of.body.get("derived_from")?.as_str()?)
    }

    fn is_cyclic(&self, start: Defined<'d>, family: Family) -> bool {
        self.ancestors(start, family).skip(1).any(|it| it.body.ptr_eq(start.body))
    }

    /// A type and all that it derives from, each once, and the first that comes again.
    fn ancestors(&self, start: Defined<'d>, family: Family) -> impl Iterator<Item = Defined<'d>> {
        let mut seen = FxHashSet::default();
        let mut is_over = false;
        std::iter::successors(Some(start), move |&it| self.parent(it, family)).take_while(
            move |it| {
                let was_over = is_over;
                is_over = !seen.insert(it.body.identity());
                !was_over
            },
        )
    }

    /// Reports properties of templates that their types do not define, and required ones without
    /// a value.
    pub(super) fn properties(
        &self,
        file: &TypeFile<'d>,
        family: Family,
        template: (Node<'d>, Node<'d>),
        found: &mut Vec<Diagnostic>,
    ) {
        let (key, body) = template;
        let Some(name) = body.get("type").and_then(Node::as_str) else { return };
        let start = self.definition(file.document.file(), family, name);
        let Some(start) = start.filter(|_| self.is_complete) else { return };
        let mut of_type: FxHashMap<&str, Vec<Node<'d>>> = FxHashMap::default();
        for ancestor in self.ancestors(start, family) {
            // A parent that nobody defines may have any property, and is reported by itself.
            let names_parent = ancestor.body.get("derived_from").is_some();
            if names_parent && self.parent(ancestor, family).is_none() {
                return;
            }
            let all = ancestor.body.get("properties").into_iter().flat_map(Node::entries);
            for (name, definition) in all {
                of_type.entry(name.text().unwrap_or_default()).or_default().push(definition);
            }
        }
        let assigned = body.get("properties").into_iter().flat_map(Node::entries);
        for (name, _) in assigned {
            let text = name.text().unwrap_or_default();
            if !of_type.contains_key(text) && !text.starts_with('$') {
                let message = format!("its {} has no property `{text}`", family.noun());
                let error = Diagnostic::error(Code::UnknownProperty, message)
                    .at(name.span())
                    .help_opt(did_you_mean(text, of_type.keys().copied()));
                found.push(by(error, "9.6"));
            }
        }
        let mut lacking: Vec<_> = of_type
            .iter()
            .filter(|(name, definitions)| {
                let is_assigned = body.get("properties").is_some_and(|it| it.get(name).is_some());
                !is_assigned && body.get("copy").is_none() && is_lacking(definitions)
            })
            .map(|(name, _)| *name)
            .collect();
        lacking.sort_unstable();
        for name in lacking {
            let message = format!("the required property `{name}` has no value");
            let error = Diagnostic::error(Code::MissingProperty, message).at(key.span());
            found.push(by(error.help("assign it, or give its definition a `default`"), "9.6"));
        }
    }
}

/// Whether a property needs a value, by its definitions from the type up.
fn is_lacking(definitions: &[Node<'_>]) -> bool {
    // A value that is written in short is fixed.
    let is_fixed = |it: &Node<'_>| {
        it.entries().len() == 0 || it.get("default").is_some() || it.get("value").is_some()
    };
    // It may only become required.
    let is_optional = definitions
        .iter()
        .all(|it| it.get("required").and_then(Node::as_bool) != Some(true))
        && definitions.iter().any(|it| it.get("required").and_then(Node::as_bool) == Some(false));
    !definitions.iter().any(is_fixed) && !is_optional
}

/// The address, path or profile that an import names.
fn imported_name(root: Node<'_>, item: Node<'_>) -> Option<String> {
    let text = |keyname| item.get(keyname).and_then(Node::as_str);
    let name = item.as_str().or_else(|| text("url"));
    let Some(name) = name else { return Some(text("profile")?.to_owned()) };
    let Some(repository) = item.get("repository") else { return Some(name.to_owned()) };
    let address = crate::tosca::import::repository_address(root, repository);
    Some(crate::tosca::import::below(address.unwrap_or_default(), name))
}

fn unmapped_profile(name: &str) -> Diagnostic {
    let message =
        format!("the profile `{name}` is not mapped to a local file, and nothing is fetched");
    Diagnostic::error(Code::File, message).help(format!("name its file: `--map {name}=PATH`"))
}

/// A file that is imported has to be of the same version.
fn of_version(document: &Document) -> Result<&Document, Diagnostic> {
    let version = document.root().get("tosca_definitions_version");
    if version.and_then(Node::text) == Some(VERSION) {
        return Ok(document);
    }
    let message = "a file of TOSCA 2.0 imports only files of TOSCA 2.0";
    Err(Diagnostic::error(Code::UnsupportedVersion, message)
        .at(version.unwrap_or_else(|| document.root()).span())
        .help(format!("start the file with `tosca_definitions_version: {VERSION}`")))
}
