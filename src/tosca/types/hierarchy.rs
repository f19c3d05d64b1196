//! Builds the hierarchy of all types, by name and derivation, that both resolving and validating
//! use.
//!
//! It reads only the name of a type and the name of its parent. The normative types are always
//! included. They come from an index that is part of the program ([`normative`]), so that a
//! template that does not use the profile costs nothing extra. Resolving and validating differ in
//! how they treat types that are defined twice ([`super::unite`]) or not at all:
//! [`TypeHierarchy::resolving`] accepts everything, [`TypeHierarchy::judged`] reports it.

use super::normative;
use super::outline::TypeOutline;
use super::profile;
use super::scope::{Links, Scopes};
use crate::diagnostic::Diagnostics;
use crate::tosca::family::Family;
use crate::tosca::v2_0;
use crate::tosca::value::Primitive;
use cuvee_text::source::FileId;
use cuvee_text::yaml::{Document, Node};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The position of the normative types' file among the files of a hierarchy.
const NORMATIVE_FILE: usize = 0;

/// The id of a type in a hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(u32);

impl TypeId {
    /// The id of the type at this position.
    pub(super) const fn new(index: usize) -> Self {
        Self(index as u32)
    }

    /// The position of the type. The normative types come first, then those of documents, in their
    /// order.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The type that a name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeRef {
    /// A primitive type of section 3.3.
    Primitive(&'static str),
    /// A type that is defined in a document or in the profile.
    Defined(TypeId),
}

/// The parent of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parent {
    /// The type is a root.
    None,
    Known(TypeRef),
    /// The type names a parent that is not defined.
    Unknown,
}

/// The types of one family and name, as a list that is linked by [`TypeOutline::next`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Namesakes {
    pub first: TypeId,
    pub last: TypeId,
}

/// All types of a template and their derivation.
#[derive(Debug, Default)]
pub(crate) struct TypeHierarchy<'a> {
    /// The types of documents. The normative types are not among them.
    pub(super) outlines: Vec<TypeOutline<'a>>,
    /// The parents of the types of documents.
    pub(super) parents: Vec<Parent>,
    /// The types of documents by family and name.
    pub(super) names: [FxHashMap<&'a str, Namesakes>; Family::ALL.len()],
    /// The types of further profiles by their other names.
    pub(super) other_names: [FxHashMap<&'a str, TypeId>; Family::ALL.len()],
    /// The visibility of names in files. `None` means that all files see each other's names, and
    /// that a name refers to one type.
    pub(super) scopes: Option<Scopes>,
    /// Whether a name may also refer to a type that its file does not see.
    sees_all: bool,
    /// The namespaces of the files, by position.
    pub(super) namespaces: Vec<Option<String>>,
    /// For a type that was unified with another one, that other one.
    pub(super) same: FxHashMap<TypeId, TypeId>,
    /// Whether documents replace the built-in profile with their own normative types.
    pub(super) has_own_profile: bool,
    /// Normative types without a parent, because a copy of an ancestor derives from them.
    pub(super) severed: FxHashSet<TypeId>,
    /// Whether the files are of TOSCA 2.0, which has no normative types, and other primitive ones.
    pub(super) is_of_2_0: bool,
    /// The errors in names and derivation.
    pub(super) diagnostics: Diagnostics,
    /// The names that files name and do not see; `None` where nobody wants to know.
    pub(super) strays: Option<Mutex<Strays>>,
}

/// By file, the names that it does not see. What they mean may change with any other file.
type Strays = FxHashMap<FileId, BTreeSet<(Family, Box<str>)>>;

impl<'a> TypeHierarchy<'a> {
    /// Builds the hierarchy for resolving, with the types of elements in these documents. Of
    /// several definitions of a type the first one counts. A definition of a normative type
    /// replaces that type. A type that is not defined derives from nothing.
    ///
    /// # Errors
    /// `cyclic-type` for each cycle of derivation.
    pub(crate) fn resolving(
        documents: impl IntoIterator<Item = &'a Document>,
        links: &Links,
    ) -> Result<Self, Diagnostics> {
        let mut types = Self { sees_all: true, ..Self::default() };
        let files = types.read(documents, Family::has_elements);
        if links.have_prefixes() {
            types.scopes = Some(Scopes::of(&files, links));
        }
        types.unite_by_name(&files, links);
        types.find_parents(|_, _| Parent::Unknown);
        types.cut_cycles();
        let diagnostics = std::mem::take(&mut types.diagnostics);
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok(types) }
    }

    /// Builds the hierarchy for validating, with all types of these documents and the errors in
    /// their names and parents. Group types may derive from `undefined_groups` although no document
    /// defines these.
    pub(super) fn judged(
        documents: &[&'a Document],
        links: &Links,
        undefined_groups: &[&str],
        notes_strays: bool,
    ) -> Self {
        let strays = notes_strays.then(Mutex::default);
        let mut types = Self { strays, ..Self::default() };
        let files = types.read(documents.iter().copied(), |_| true);
        types.scopes = Some(Scopes::of(&files, links));
        types.namespaces.push(Some(profile::NAMESPACE.to_owned()));
        types.namespaces.extend(documents.iter().map(|document| namespace(document, links)));
        types.has_own_profile = types.define_profile();
        types.unite_namespaces();
        let mut diagnostics = Diagnostics::default();
        types.find_parents(|types, outline| {
            let may_be_undefined = outline.family == Family::Group
                && outline.place().text().is_some_and(|name| undefined_groups.contains(&name));
            if !may_be_undefined {
                let name = outline.place();
                diagnostics.push(types.unknown(
                    &[outline.family],
                    name.text().unwrap_or_default(),
                    name.span(),
                ));
            }
            if may_be_undefined { Parent::None } else { Parent::Unknown }
        });
        types.diagnostics.0.append(&mut diagnostics.0);
        types.cut_cycles();
        types.cut_chains();
        types
    }

    /// Reads the outlines of all types. The positions of the files follow that of the normative
    /// types.
    fn read(
        &mut self,
        documents: impl IntoIterator<Item = &'a Document>,
        is_wanted: impl Fn(Family) -> bool,
    ) -> Vec<FileId> {
        let mut files = vec![profile::normative_file()];
        for document in documents {
            self.is_of_2_0 |= v2_0::is_of(document);
            for (key, definitions) in document.root().entries() {
                let family = key.text().and_then(Family::of_keyword);
                let Some(family) = family.filter(|family| is_wanted(*family)) else { continue };
                for entry in definitions.entries() {
                    let id = self.define(TypeOutline::new(family, files.len(), entry));
                    if profile::is_built_in(document.file()) {
                        for name in profile::other_names(entry.1) {
                            self.other_names[family as usize].entry(name).or_insert(id);
                        }
                    }
                }
            }
            files.push(document.file());
        }
        files
    }

    fn define(&mut self, outline: TypeOutline<'a>) -> TypeId {
        let id = TypeId::new(normative::count() + self.outlines.len());
        let mut before = None;
        self.names[outline.family as usize]
            .entry(outline.name)
            .and_modify(|namesakes| before = Some(std::mem::replace(&mut namesakes.last, id)))
            .or_insert(Namesakes { first: id, last: id });
        let before = before.and_then(|before| self.outlines.get_mut(own(before)?));
        if let Some(before) = before {
            before.next = Some(id);
        }
        self.outlines.push(outline);
        id
    }

    /// All types, in their order.
    pub(crate) fn ids(&self) -> impl ExactSizeIterator<Item = TypeId> + use<> {
        (0..normative::count() + self.outlines.len()).map(TypeId::new)
    }

    /// The outline of a type. A normative type has none, because it comes from the index.
    pub(super) fn outline(&self, id: TypeId) -> Option<&TypeOutline<'a>> {
        self.outlines.get(own(id)?)
    }

    /// The list that starts with this type, each type with the position of its file.
    pub(super) fn namesakes(
        &self,
        first: Option<TypeId>,
    ) -> impl Iterator<Item = (usize, TypeId)> + use<'_, 'a> {
        let all = std::iter::successors(first, |id| self.outline(*id)?.next);
        all.filter_map(|id| Some((self.outline(id)?.file, id)))
    }

    /// The types of this full name, each with the position of its file.
    pub(super) fn defined(
        &self,
        family: Family,
        name: &str,
    ) -> impl Iterator<Item = (usize, TypeId)> + use<'_, 'a> {
        let normative = normative::of_full_name(family, name).filter(|_| !self.is_of_2_0);
        let normative = normative.map(|id| (NORMATIVE_FILE, id));
        let first = self.names[family as usize].get(name).map(|namesakes| namesakes.first);
        normative.into_iter().chain(self.namesakes(first))
    }

    /// The type that a name in a file refers to. Without a file, the name is looked up in the
    /// template.
    pub(crate) fn find_in(
        &self,
        file: Option<FileId>,
        family: Family,
        name: &str,
    ) -> Option<TypeId> {
        let found = match &self.scopes {
            None => self.names[family as usize].get(name).map(|namesakes| namesakes.first),
            Some(scopes) => scopes.find(file, name, |name| self.defined(family, name)),
        };
        let found = found.or_else(|| self.of_other_name(family, name)).or_else(|| {
            self.note_stray(file, family, name);
            self.scopes.as_ref()?.find_around(file, || self.defined(family, name))
        });
        let found = found.or_else(|| self.qualified(family, name)).or_else(|| {
            self.defined(family, name).next().map(|(_, id)| id).filter(|_| self.sees_all)
        });
        found.map(|found| self.canonical(found))
    }

    /// Notes that a file does not see a name, unless it is noted already.
    fn note_stray(&self, file: Option<FileId>, family: Family, name: &str) {
        let (Some(strays), Some(file)) = (&self.strays, file) else { return };
        let mut strays = strays.lock().unwrap_or_else(PoisonError::into_inner);
        let of_file = strays.entry(file).or_default();
        // A qualified name may mean that of any file.
        let local = name.rsplit_once(['/', '#']).map(|(_, local)| local);
        for name in [Some(name), local].into_iter().flatten() {
            if !of_file.iter().any(|(known, it)| *known == family && **it == *name) {
                of_file.insert((family, name.into()));
            }
        }
    }

    /// The type that this type was unified with, or else itself.
    pub(super) fn canonical(&self, id: TypeId) -> TypeId {
        self.same.get(&id).copied().unwrap_or(id)
    }

    /// The type of a profile that has this as one of its other names.
    fn of_other_name(&self, family: Family, name: &str) -> Option<TypeId> {
        let normative = normative::find(family, name).filter(|_| !self.is_of_2_0);
        normative.or_else(|| self.other_names[family as usize].get(name).copied())
    }

    /// The type of a name that begins with its namespace (section 3.2.1).
    fn qualified(&self, family: Family, name: &str) -> Option<TypeId> {
        let (namespace, local) = name.contains("://").then(|| name.rsplit_once(['/', '#']))??;
        let is_it = |(file, id): (usize, TypeId)| {
            let own = self.namespaces.get(file)?.as_deref()?;
            (own.trim_end_matches(['/', '#']) == namespace).then_some(id)
        };
        let found = self.defined(family, local).find_map(is_it);
        found.or_else(|| {
            self.of_other_name(family, local).filter(|_| namespace == profile::NAMESPACE)
        })
    }

    /// The type that a name in a file refers to, in any family.
    pub(super) fn resolve(
        &self,
        file: Option<FileId>,
        family: Family,
        name: &str,
    ) -> Option<TypeRef> {
        let named = || match self.is_of_2_0 {
            true => Primitive::of_2_0(name).map(Primitive::name),
            false => profile::primitive(name),
        };
        let primitive = || named().filter(|_| family == Family::Data).map(TypeRef::Primitive);
        self.find_in(file, family, name).map(TypeRef::Defined).or_else(primitive)
    }

    /// The parent of a type, including none and unknown ones.
    pub(super) fn parent_of(&self, id: TypeId) -> Parent {
        match own(id) {
            Some(index) => self.parents.get(index).copied().unwrap_or(Parent::None),
            None if self.severed.contains(&id) => Parent::None,
            None => match normative::parent(id) {
                Some(TypeRef::Defined(parent)) => {
                    Parent::Known(TypeRef::Defined(self.canonical(parent)))
                }
                Some(primitive) => Parent::Known(primitive),
                None => Parent::None,
            },
        }
    }

    /// The type that this type derives from.
    pub(crate) fn parent(&self, id: TypeId) -> Option<TypeId> {
        match self.parent_of(id) {
            Parent::Known(TypeRef::Defined(parent)) => Some(parent),
            _ => None,
        }
    }

    /// The type and its ancestors, the type first.
    pub(crate) fn ancestors(&self, id: TypeId) -> impl Iterator<Item = TypeId> {
        std::iter::successors(Some(id), |id| self.parent(*id))
    }

    /// Whether a type or an ancestor names a parent that is not defined.
    pub(super) fn is_open(&self, id: TypeId) -> bool {
        self.ancestors(id).last().is_some_and(|last| self.parent_of(last) == Parent::Unknown)
    }

    /// The primitive type that a data type derives from, where it does.
    pub(crate) fn primitive(&self, data: TypeRef) -> Option<&'static str> {
        match data {
            TypeRef::Primitive(name) => Some(name),
            TypeRef::Defined(id) => match self.parent_of(self.ancestors(id).last()?) {
                Parent::Known(TypeRef::Primitive(name)) => Some(name),
                _ => None,
            },
        }
    }

    /// Whether the types are the same, or `one` derives from `ancestor`.
    pub(crate) fn derives(&self, one: TypeRef, ancestor: TypeRef) -> bool {
        match (one, ancestor) {
            (TypeRef::Defined(one), TypeRef::Defined(ancestor)) => {
                self.ancestors(one).any(|id| id == ancestor)
            }
            (one, TypeRef::Primitive(ancestor)) => self.primitive(one) == Some(ancestor),
            (TypeRef::Primitive(_), TypeRef::Defined(_)) => false,
        }
    }
}

/// The position of a type among those of documents. Returns nothing for a normative type.
pub(super) fn own(id: TypeId) -> Option<usize> {
    id.index().checked_sub(normative::count())
}

/// The namespace of a document: its own, or else the one that the first import of it gives.
fn namespace(document: &Document, links: &Links) -> Option<String> {
    let file = document.file();
    let own = document.root().get("namespace").and_then(Node::as_str).map(str::to_owned);
    let built_in = || profile::is_built_in(file).then(|| profile::NAMESPACE.to_owned());
    own.or_else(built_in).or_else(|| links.links.iter().find(|link| link.to == file)?.uri.clone())
}
