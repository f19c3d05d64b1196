//! All types by name, and what derives from what.

use super::check;
use super::definition::TypeDefinition;
use super::effective::{self, EffectiveType};
use super::family::Family;
use super::scope::{Links, Scopes};
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::text::source::{FileId, Span};
use crate::text::yaml::{Document, Node};
use crate::tosca::value::Primitive;
use crate::tosca::{grammar, profile};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// More levels than this are nobody's design; with a limit, no type costs more than its own
/// definitions times a constant.
const LEVELS: usize = 256;

/// A type of [`Types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(u32);

impl TypeId {
    /// Its position among [`Types::ids`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What the name of a type stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeRef {
    /// A primitive type of section 3.3.
    Primitive(&'static str),
    /// A type that is defined.
    Defined(TypeId),
}

/// All types of some documents.
#[derive(Debug, Default)]
pub struct Types<'a> {
    definitions: Vec<TypeDefinition<'a>>,
    parents: Vec<Option<TypeRef>>,
    /// By which names types are defined, with the positions of their documents.
    names: [FxHashMap<&'a str, Vec<(usize, TypeId)>>; Family::ALL.len()],
    /// By which other names normative types go.
    other_names: [FxHashMap<&'a str, TypeId>; Family::ALL.len()],
    scopes: Scopes,
    /// The namespaces of the documents.
    namespaces: Vec<Option<String>>,
    /// For a type that is defined alike in another file, that one.
    same: FxHashMap<TypeId, TypeId>,
    effective: Vec<OnceLock<EffectiveType<'a>>>,
    diagnostics: Diagnostics,
}

impl<'a> Types<'a> {
    /// Reads the types of these documents, which all see each other's.
    ///
    /// What is wrong with definitions and derivation is in [`Types::diagnostics`]; a type whose
    /// parent is wrong has none.
    pub fn of(documents: impl IntoIterator<Item = &'a Document>) -> Self {
        Self::linked(documents, &Links::default(), &[])
    }

    /// Reads the types of these documents: profile, library, imports, template, which see what they
    /// import. Group types may derive from these without that anybody defines them.
    pub(crate) fn linked(
        documents: impl IntoIterator<Item = &'a Document>,
        links: &Links,
        undefined_groups: &[&str],
    ) -> Self {
        let mut types = Self::default();
        let mut files = Vec::new();
        for document in documents {
            let definitions = grammar::definitions(document, &mut types.diagnostics);
            let built_in = profile::is_built_in(document.file());
            for definition in definitions {
                let (family, other_names) =
                    (definition.family as usize, profile::other_names(definition.value));
                let id = types.define(definition, files.len());
                other_names.take_while(|_| built_in).for_each(|name| {
                    types.other_names[family].entry(name).or_insert(id);
                });
            }
            files.push(document.file());
            types.namespaces.push(namespace(document, links));
        }
        types.scopes = Scopes::of(&files, links);
        types.unite();
        types.effective.resize_with(types.definitions.len(), OnceLock::new);
        types.derive(undefined_groups);
        types
    }

    fn define(&mut self, definition: TypeDefinition<'a>, document: usize) -> TypeId {
        let id = TypeId(self.definitions.len() as u32);
        self.names[definition.family as usize]
            .entry(definition.name)
            .or_default()
            .push((document, id));
        self.definitions.push(definition);
        id
    }

    /// Judges types of one name: in one namespace, or where they meet without one, they are defined
    /// alike (section 3.1.3.1).
    fn unite(&mut self) {
        let several = self.names.iter().flat_map(FxHashMap::values).filter(|known| known.len() > 1);
        let mut meetings = BTreeSet::new();
        for known in several {
            self.scopes.meetings(known, |first, other| {
                meetings.insert((first, other));
            });
            let mut firsts: FxHashMap<&str, _> = FxHashMap::default();
            for one in known {
                if let Some(namespace) = &self.namespaces[one.0] {
                    meetings.extend(firsts.insert(namespace, *one).map(|first| (first, *one)));
                }
            }
        }
        for (first, other) in meetings {
            if self.is_one_namespace(first, other) && !self.same.contains_key(&other.1) {
                self.unite_two(first.1, other.1);
            }
        }
    }

    /// Nobody else defines what the profile does.
    fn is_one_namespace(&self, (first, id): (usize, TypeId), (other, _): (usize, TypeId)) -> bool {
        let built_in = profile::is_built_in(self.definition(id).key.document().file());
        built_in || self.namespaces[first] == self.namespaces[other]
    }

    fn unite_two(&mut self, first: TypeId, other: TypeId) {
        let (known, definition) = (self.definition(first), self.definition(other));
        let is_same = known.value.to_value() == definition.value.to_value();
        if !is_same {
            let message =
                format!("the {} `{}` is defined twice", definition.family.noun(), definition.name);
            let error = Diagnostic::error(Code::TypeClash, message)
                .at(definition.key.span())
                .section("3.1.3");
            let error = error.label(known.key.span(), "the other definition");
            self.diagnostics.push(
                error.help("rename one of them, or import its file with a `namespace_prefix`"),
            );
        }
        // One mistake is enough: what is defined twice counts as defined once.
        self.same.insert(other, self.same.get(&first).copied().unwrap_or(first));
    }

    /// Finds the parents, and takes away those that would make a cycle or too long a chain.
    fn derive(&mut self, undefined_groups: &[&str]) {
        for index in 0..self.definitions.len() {
            let parent = self.definitions[index].derived_from;
            let family = self.definitions[index].family;
            let parent = parent.filter(|parent| {
                !is_none(*parent) || self.find_in(Some(file_of(*parent)), family, "None").is_some()
            });
            let may_be_undefined =
                |name: &str| family == Family::Group && undefined_groups.contains(&name);
            let parent = parent.filter(|parent| !parent.text().is_some_and(may_be_undefined));
            let found = parent
                .filter(|parent| parent.text().is_some())
                .map(|parent| self.reference(&[family], parent));
            let found = found.and_then(|found| self.diagnostics.ok(found));
            self.parents.push(found);
        }
        // The levels above a type; nothing for those on the way.
        let mut levels: Vec<Option<usize>> = vec![None; self.definitions.len()];
        for id in (0..self.definitions.len() as u32).map(TypeId) {
            let mut way = Vec::new();
            let mut on_way = FxHashSet::default();
            let mut current = Some(id);
            while let Some(next) = current.filter(|next| levels[next.index()].is_none()) {
                if !on_way.insert(next) {
                    self.cut_cycle(&way, next);
                    break;
                }
                way.push(next);
                current = self.parent(next);
            }
            for id in way.into_iter().rev() {
                let level = self
                    .parent(id)
                    .and_then(|parent| levels[parent.index()])
                    .map_or(0, |above| above + 1);
                levels[id.index()] = Some(if level < LEVELS { level } else { self.cut_chain(id) });
            }
        }
    }

    /// `way` leads to `start` again.
    fn cut_cycle(&mut self, way: &[TypeId], start: TypeId) {
        let between = way.iter().skip_while(|id| **id != start).skip(1);
        let names: Vec<_> = between.map(|id| format!("`{}`", self.definition(*id).name)).collect();
        let through =
            if names.is_empty() { String::new() } else { format!(" through {}", names.join(", ")) };
        let definition = self.definition(start);
        let message = format!(
            "the {} `{}` derives from itself{through}",
            definition.family.noun(),
            definition.name
        );
        let place = definition.derived_from.unwrap_or(definition.key).span();
        self.diagnostics.push(
            Diagnostic::error(Code::CyclicType, message)
                .at(place)
                .section(definition.family.section()),
        );
        self.parents[start.index()] = None;
    }

    fn cut_chain(&mut self, id: TypeId) -> usize {
        let definition = self.definition(id);
        let message = format!(
            "the {} `{}` has more than {LEVELS} ancestors",
            definition.family.noun(),
            definition.name
        );
        let place = definition.derived_from.unwrap_or(definition.key).span();
        self.diagnostics.push(
            Diagnostic::error(Code::InvalidDefinition, message)
                .at(place)
                .section(definition.family.section()),
        );
        self.parents[id.index()] = None;
        0
    }

    /// What is wrong with definitions and derivation.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// All that is wrong, with what types refer to, how they refine, and which of their constraints
    /// and defaults make no sense, in the order of the files.
    pub fn validate(&self) -> Diagnostics {
        let effective = self.ids().flat_map(|id| &self.effective(id).diagnostics.0);
        let mut all: Vec<_> = self.diagnostics.0.iter().chain(effective).cloned().collect();
        all.append(&mut check::definitions(self));
        all.sort_by_key(|diagnostic| diagnostic.span);
        Diagnostics(all)
    }

    /// All types, in the order of the documents.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = TypeId> + use<> {
        (0..self.definitions.len() as u32).map(TypeId)
    }

    /// The type of a name in the template: its full name, for normative types their shorthand and
    /// qualified names too, and behind the namespace prefix of an import what is imported so.
    pub fn find(&self, family: Family, name: &str) -> Option<TypeId> {
        self.find_in(None, family, name)
    }

    /// The type of a name in a file; in the template, where no file is given.
    pub fn find_in(&self, file: Option<FileId>, family: Family, name: &str) -> Option<TypeId> {
        let names = &self.names[family as usize];
        let known = |name: &str| names.get(name).map_or(&[][..], Vec::as_slice);
        let found = self
            .scopes
            .find(file, name, known)
            .or_else(|| self.other_names[family as usize].get(name).copied());
        let found = found
            .or_else(|| self.scopes.find_around(file, known(name)))
            .or_else(|| self.qualified(family, name));
        found.map(|found| self.same.get(&found).copied().unwrap_or(found))
    }

    /// The type of a name with the namespace itself in front (section 3.2.1).
    fn qualified(&self, family: Family, name: &str) -> Option<TypeId> {
        let (namespace, local) = name.contains("://").then(|| name.rsplit_once(['/', '#']))??;
        let is_it = |(document, id): &(usize, TypeId)| {
            let own = self.namespaces[*document].as_deref();
            own.is_some_and(|own| own.trim_end_matches(['/', '#']) == namespace).then_some(*id)
        };
        let found =
            self.names[family as usize].get(local).and_then(|known| known.iter().find_map(is_it));
        let normative = || {
            self.other_names[family as usize]
                .get(local)
                .copied()
                .filter(|_| namespace == profile::NAMESPACE)
        };
        found.or_else(normative)
    }

    /// The data type of a name in the template, which may be a primitive one.
    pub fn find_data(&self, name: &str) -> Option<TypeRef> {
        self.resolve(None, Family::Data, name)
    }

    pub(super) fn resolve(
        &self,
        file: Option<FileId>,
        family: Family,
        name: &str,
    ) -> Option<TypeRef> {
        let primitive =
            || profile::primitive(name).filter(|_| family == Family::Data).map(TypeRef::Primitive);
        self.find_in(file, family, name).map(TypeRef::Defined).or_else(primitive)
    }

    /// What the name at a node stands for, in whichever of these families.
    ///
    /// # Errors
    /// `unknown-type`
    pub(super) fn reference(
        &self,
        families: &[Family],
        node: Node<'_>,
    ) -> Result<TypeRef, Diagnostic> {
        let name = node.text().unwrap_or_default();
        let found =
            families.iter().find_map(|family| self.resolve(Some(file_of(node)), *family, name));
        found.ok_or_else(|| self.unknown(families, name, node.span()))
    }

    /// The type of this family that a name at this place stands for.
    ///
    /// # Errors
    /// `unknown-type`
    pub(crate) fn named(
        &self,
        family: Family,
        name: &str,
        span: Span,
    ) -> Result<TypeId, Diagnostic> {
        self.find_in(Some(span.file), family, name)
            .ok_or_else(|| self.unknown(&[family], name, span))
    }

    /// What to say of a name that no data type has.
    pub(crate) fn unknown_data(&self, name: &str, span: Span) -> Diagnostic {
        self.unknown(&[Family::Data], name, span)
    }

    /// What to say of a name that no type of these families has.
    fn unknown(&self, families: &[Family], name: &str, span: Span) -> Diagnostic {
        let wanted: Vec<_> = families.iter().map(|family| family.noun()).collect();
        let error = Diagnostic::error(
            Code::UnknownType,
            format!("there is no {} `{name}`", wanted.join(" or ")),
        );
        let error =
            error.at(span).section(families.first().map_or("3.7", |family| family.section()));
        let file = Some(span.file);
        if let Some(other) =
            Family::ALL.into_iter().find(|family| self.resolve(file, *family, name).is_some())
        {
            return error.help(format!("`{name}` is a {}", other.noun()));
        }
        if families.iter().any(|family| profile::is_non_normative(*family, name)) {
            return error.help("it is a non-normative type of chapter 9, which is there only with `--non-normative`");
        }
        let known = |family: &Family| self.names[*family as usize].get(name).into_iter().flatten();
        let prefix = families
            .iter()
            .flat_map(known)
            .find_map(|(document, _)| self.scopes.prefix_for(file, *document));
        if let Some(prefix) = prefix {
            return error.help(format!("it is imported as `{prefix}:{name}`"));
        }
        match name.split_once(':') {
            Some((prefix, _)) if prefix != "tosca" && !self.scopes.has_prefix(file, prefix) => {
                error.help(format!("nothing is imported with the namespace prefix `{prefix}` here"))
            }
            _ => error.help_opt(did_you_mean(
                name,
                families.iter().flat_map(|family| self.known(file, *family)),
            )),
        }
    }

    fn known(&self, file: Option<FileId>, family: Family) -> impl Iterator<Item = &str> {
        let names = self.names[family as usize]
            .keys()
            .filter(move |name| self.find_in(file, family, name).is_some());
        let primitives = Primitive::ALL
            .iter()
            .map(|primitive| primitive.name())
            .filter(move |_| family == Family::Data);
        names.chain(self.other_names[family as usize].keys()).copied().chain(primitives)
    }

    /// How a type is written.
    pub fn definition(&self, id: TypeId) -> &TypeDefinition<'a> {
        &self.definitions[id.index()]
    }

    /// The type that it derives from.
    pub fn parent(&self, id: TypeId) -> Option<TypeId> {
        match self.parents[id.index()]? {
            TypeRef::Defined(parent) => Some(parent),
            TypeRef::Primitive(_) => None,
        }
    }

    /// The type and its ancestors, the type first.
    pub fn chain(&self, id: TypeId) -> impl Iterator<Item = TypeId> {
        std::iter::successors(Some(id), |id| self.parent(*id))
    }

    /// The primitive type that a data type derives from, where it does.
    pub fn primitive(&self, data: TypeRef) -> Option<&'static str> {
        match data {
            TypeRef::Primitive(name) => Some(name),
            TypeRef::Defined(id) => match self.parents[self.chain(id).last()?.index()]? {
                TypeRef::Primitive(name) => Some(name),
                TypeRef::Defined(_) => None,
            },
        }
    }

    /// Whether a type is another, or derives from it.
    pub fn derives(&self, one: TypeRef, ancestor: TypeRef) -> bool {
        match (one, ancestor) {
            (TypeRef::Defined(one), TypeRef::Defined(ancestor)) => {
                self.chain(one).any(|id| id == ancestor)
            }
            (one, TypeRef::Primitive(ancestor)) => self.primitive(one) == Some(ancestor),
            (TypeRef::Primitive(_), TypeRef::Defined(_)) => false,
        }
    }

    /// What a type has, with all that it inherits. Worked out when it is asked for, and once.
    pub fn effective(&self, id: TypeId) -> &EffectiveType<'a> {
        // Ancestors first, so that no chain is a recursion.
        let chain: Vec<_> =
            self.chain(id).take_while(|id| self.effective[id.index()].get().is_none()).collect();
        for id in chain.into_iter().rev() {
            let parent = self.parent(id).and_then(|parent| self.effective[parent.index()].get());
            self.effective[id.index()].get_or_init(|| effective::effective(self, id, parent));
        }
        self.effective[id.index()].get_or_init(|| effective::effective(self, id, None))
    }
}

/// The file in which a node stands.
fn file_of(node: Node<'_>) -> FileId {
    node.document().file()
}

/// The namespace that a document gives itself, or else, that who imports it first gives it.
fn namespace(document: &Document, links: &Links) -> Option<String> {
    let file = document.file();
    let own = document.root().get("namespace").and_then(Node::as_str).map(str::to_owned);
    let built_in = || profile::is_built_in(file).then(|| profile::NAMESPACE.to_owned());
    own.or_else(built_in).or_else(|| links.links.iter().find(|link| link.to == file)?.uri.clone())
}

/// What section 3.7.1.1 writes where there is no parent.
fn is_none(parent: Node<'_>) -> bool {
    parent.text() == Some("None")
}
