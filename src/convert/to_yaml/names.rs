//! Assigns names and files to types: one file of types for each namespace, or a single document for
//! all.

use super::super::well_known;
use super::settings::TypeCounterparts;
pub(super) use crate::convert::unique::unique;
use crate::tosca::profile;
use crate::tosca::v1_0::definitions::{ComponentKind, DefinedComponent};
use crate::tosca::v1_0::{ComponentId, Library};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The section of data types, among which are types without a definition.
const DATA_TYPES: &str = "data_types";

/// A file of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum FileKey {
    /// The file with the service template; the only file, if the output is a single document.
    Service,
    /// The file with the types of a namespace, by the number of the namespace.
    Types(usize),
}

/// The name of a type in the output.
#[derive(Clone, Debug)]
pub(super) enum TypeName {
    /// The type is one of the profile, or the settings map it to this name.
    Counterpart(String),
    Own(FileKey, String),
}

/// A namespace, and the name of its file.
pub(super) struct NamedSpace {
    pub uri: String,
    /// The file name without its extension.
    pub stem: String,
    pub prefix: String,
}

/// The names of all types.
pub(super) struct TypeNames {
    pub spaces: Vec<NamedSpace>,
    of: FxHashMap<ComponentId, TypeName>,
    given: TypeCounterparts,
    is_single: bool,
    /// The files that each file needs.
    needed: BTreeMap<FileKey, BTreeSet<FileKey>>,
    /// The taken names, by file and section.
    taken: BTreeSet<(FileKey, &'static str, String)>,
}

impl TypeNames {
    /// Assigns names to the converted types.
    pub(super) fn of(
        library: &Library<'_>,
        converted: &[ComponentId],
        counterparts: &TypeCounterparts,
        is_single: bool,
        service: Option<&str>,
    ) -> Self {
        let mut names = Self {
            spaces: Vec::new(),
            of: FxHashMap::default(),
            given: counterparts.clone(),
            is_single,
            needed: BTreeMap::new(),
            taken: BTreeSet::new(),
        };
        // The namespace of the service template comes first.
        if let Some(service) = service {
            names.space(library, service);
        }
        let mut all_named: FxHashMap<(&'static str, &str), usize> = FxHashMap::default();
        let own: Vec<_> = converted
            .iter()
            .filter_map(|&id| Some((id, well_known::section_of(library.component(id).kind)?)))
            .collect();
        for &(id, section) in &own {
            let component = library.component(id);
            if of_component(component, counterparts).is_none() {
                *all_named.entry((section, &component.name.text)).or_default() += 1;
            }
        }
        for (id, section) in own {
            let component = library.component(id);
            let name = match of_component(component, counterparts) {
                Some(name) => TypeName::Counterpart(name),
                None => {
                    let space = names.space(library, &component.namespace);
                    let local = component.name.text.to_string();
                    let clashes = is_single && all_named.get(&(section, &*local)) > Some(&1);
                    let wanted = match clashes {
                        true => format!("{}_{local}", names.spaces[space].prefix),
                        false => local,
                    };
                    let file = names.file(space);
                    TypeName::Own(file, names.free(file, section, &wanted))
                }
            };
            names.of.insert(id, name);
        }
        names
    }

    fn file(&self, space: usize) -> FileKey {
        if self.is_single { FileKey::Service } else { FileKey::Types(space) }
    }

    /// The number of a namespace; a new namespace is added.
    pub(super) fn space(&mut self, library: &Library<'_>, uri: &str) -> usize {
        if let Some(known) = self.spaces.iter().position(|space| space.uri == uri) {
            return known;
        }
        let last = uri.trim_end_matches(['/', '#']).rsplit(['/', ':', '#']).next();
        let stem = as_name(last.unwrap_or_default());
        let declared = declared_prefix(library, uri).unwrap_or_else(|| stem.clone());
        let stem = unique(&stem, |name| self.spaces.iter().any(|it| it.stem == name));
        let prefix = unique(&declared, |name| {
            name == "tosca" || self.spaces.iter().any(|it| it.prefix == name)
        });
        self.spaces.push(NamedSpace { uri: uri.to_owned(), stem, prefix });
        self.spaces.len() - 1
    }

    /// Takes a free name in a section of a file.
    pub(super) fn free(&mut self, file: FileKey, section: &'static str, wanted: &str) -> String {
        let normative = profile::normative().root().get(section);
        let is_taken = |name: &str| {
            normative.is_some_and(|known| known.get(name).is_some())
                || section == DATA_TYPES && profile::primitive(name).is_some()
                || self.taken.contains(&(file, section, name.to_owned()))
        };
        let name = unique(wanted, is_taken);
        self.taken.insert((file, section, name.clone()));
        name
    }

    /// The name of a type.
    pub(super) fn get(&self, id: ComponentId) -> Option<&TypeName> {
        self.of.get(&id)
    }

    /// The counterpart of a type that the library does not define, if it is known.
    pub(super) fn unread(
        &self,
        kind: ComponentKind,
        namespace: &str,
        name: &str,
    ) -> Option<String> {
        counterpart(kind, namespace, name, &self.given)
    }

    /// The namespace of a file.
    pub(super) fn namespace(&self, file: FileKey) -> Option<&str> {
        let space = match file {
            FileKey::Types(space) => space,
            FileKey::Service => 0,
        };
        self.spaces.get(space).map(|space| &*space.uri)
    }

    /// The file that defines a type, unless the type has a counterpart.
    pub(super) fn file_of(&self, id: ComponentId) -> Option<FileKey> {
        match self.of.get(&id)? {
            TypeName::Own(file, _) => Some(*file),
            TypeName::Counterpart(_) => None,
        }
    }

    /// The name of a type as seen from a file.
    pub(super) fn name(&mut self, id: ComponentId, from: FileKey) -> Option<String> {
        match self.of.get(&id)?.clone() {
            TypeName::Counterpart(name) => Some(name),
            TypeName::Own(file, name) => Some(self.seen(file, &name, from)),
        }
    }

    /// The name of a type of one file as seen from another file, which then imports it.
    pub(super) fn seen(&mut self, file: FileKey, name: &str, from: FileKey) -> String {
        if file == from {
            return name.to_owned();
        }
        self.needed.entry(from).or_default().insert(file);
        match file {
            FileKey::Types(space) if !self.is_of_service(space, from) => {
                format!("{}:{name}", self.spaces[space].prefix)
            }
            _ => name.to_owned(),
        }
    }

    /// Whether this is the namespace of the service template, seen from its own file; it needs no
    /// prefix.
    fn is_of_service(&self, space: usize, from: FileKey) -> bool {
        from == FileKey::Service && space == 0
    }

    /// The files that a file imports, each with its prefix.
    pub(super) fn imports(&self, from: FileKey) -> Vec<(&NamedSpace, Option<&str>)> {
        let needed = self.needed.get(&from).into_iter().flatten();
        let imports = needed.filter_map(|file| match file {
            FileKey::Service => None,
            FileKey::Types(space) => {
                let named = &self.spaces[*space];
                let prefix = (!self.is_of_service(*space, from)).then_some(&*named.prefix);
                Some((named, prefix))
            }
        });
        imports.collect()
    }

    /// Records that a file imports another one, whether or not it is used.
    pub(super) fn need(&mut self, from: FileKey, file: FileKey) {
        if from != file {
            self.needed.entry(from).or_default().insert(file);
        }
    }
}

/// The counterpart of a type, if there is one.
fn of_component(component: &DefinedComponent<'_>, given: &TypeCounterparts) -> Option<String> {
    counterpart(component.kind, &component.namespace, &component.name.text, given)
}

fn counterpart(
    kind: ComponentKind,
    namespace: &str,
    name: &str,
    given: &TypeCounterparts,
) -> Option<String> {
    match given.get(namespace, name) {
        Some(given) => Some(given.to_owned()),
        None if namespace == profile::NAMESPACE => {
            let section = well_known::section_of(kind)?;
            let defined = profile::normative().root().get(section)?;
            defined.get(name).map(|_| name.to_owned())
        }
        None => well_known::normative(kind, namespace, name).map(str::to_owned),
    }
}

/// The prefix that any document declares for a namespace.
fn declared_prefix(library: &Library<'_>, uri: &str) -> Option<String> {
    library.loaded.documents.iter().find_map(|document| {
        let mut declared = document.root().declarations();
        let found = declared.find(|(prefix, of)| !prefix.is_empty() && of == uri);
        found.map(|(prefix, _)| as_name(prefix))
    })
}

/// A text as a name; characters that names cannot have become `_`.
pub(super) fn as_name(text: &str) -> String {
    let is_of_names = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let name: String = text.chars().map(|c| if is_of_names(c) { c } else { '_' }).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// What functions call the node that hosts another one.
const HOST: &str = "HOST";

/// The name of a node. One that means something in functions gets a blank, which no id in XML has.
pub(super) fn node_name(id: &str) -> Cow<'_, str> {
    not_reserved(id, "node")
}

/// The name of a relationship template, likewise.
pub(super) fn relationship_name(id: &str) -> Cow<'_, str> {
    not_reserved(id, "relationship")
}

fn not_reserved<'i>(id: &'i str, what: &str) -> Cow<'i, str> {
    match profile::RESERVED_NAMES.contains(&id) || id == HOST {
        true => Cow::Owned(format!("{id} {what}")),
        false => Cow::Borrowed(id),
    }
}

/// A name such as `HostedOn` in the style of requirement names: `hosted_on`.
pub(super) fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    let mut was_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && was_lower {
            snake.push('_');
        }
        was_lower = c.is_lowercase() || c.is_numeric();
        match c {
            '-' | '.' => snake.push('_'),
            c => snake.extend(c.to_lowercase()),
        }
    }
    snake
}

/// Whether components of this kind are types that are converted.
pub(super) fn is_converted_type(kind: ComponentKind) -> bool {
    well_known::section_of(kind).is_some()
}
