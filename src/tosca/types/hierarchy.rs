//! All types by name, and what derives from what: the one hierarchy under resolving and validating.
//!
//! Of a type nothing is read but its name and the name of its parent. The normative types are
//! always there, out of an index that is part of the program ([`normative`]), so that nobody pays
//! for the profile who does not use it. Resolving and validating differ in what they do about types
//! that are defined twice ([`super::unite`]) or not at all: [`TypeHierarchy::resolving`] takes
//! everything, [`TypeHierarchy::judged`] reports it.

use super::normative;
use super::outline::TypeOutline;
use super::profile;
use super::scope::{Links, Scopes};
use crate::text::diagnostic::Diagnostics;
use crate::text::source::FileId;
use crate::text::yaml::{Document, Node};
use crate::tosca::family::Family;
use rustc_hash::{FxHashMap, FxHashSet};

/// The position of the normative types' file among the files of a hierarchy.
const NORMATIVE_FILE: usize = 0;

/// A type of a hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(u32);

impl TypeId {
    /// The id of the type at this position.
    pub(super) const fn new(index: usize) -> Self {
        Self(index as u32)
    }

    /// Its position: first come the normative types, then those of documents, in their order.
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

/// What a type derives from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parent {
    /// It is a root.
    None,
    Known(TypeRef),
    /// The type that it names is defined nowhere.
    Unknown,
}

/// The types of one family and name, as a list through [`TypeOutline::next`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Namesakes {
    pub first: TypeId,
    pub last: TypeId,
}

/// All types.
#[derive(Debug, Default)]
pub(crate) struct TypeHierarchy<'a> {
    /// The types of documents.
    pub(super) outlines: Vec<TypeOutline<'a>>,
    /// What those derive from.
    pub(super) parents: Vec<Parent>,
    /// By which names those are defined.
    pub(super) names: [FxHashMap<&'a str, Namesakes>; Family::ALL.len()],
    /// By which other names types of further profiles go.
    pub(super) other_names: [FxHashMap<&'a str, TypeId>; Family::ALL.len()],
    /// Which files see which names; where there is nothing, all see each other's, and a name means
    /// one type.
    pub(super) scopes: Option<Scopes>,
    /// Whether a name also means what its file does not see.
    sees_all: bool,
    /// The namespaces of the files.
    pub(super) namespaces: Vec<Option<String>>,
    /// For a type that is another one, that one.
    pub(super) same: FxHashMap<TypeId, TypeId>,
    /// Whether documents define the profile, so that the normative types are theirs.
    pub(super) has_own_profile: bool,
    /// Normative types that derive from nothing, because a copy of an ancestor derives from them.
    pub(super) severed: FxHashSet<TypeId>,
    /// What is wrong.
    pub(super) diagnostics: Diagnostics,
}

impl<'a> TypeHierarchy<'a> {
    /// The types of elements in these documents, as resolving reads them: of a type that is defined
    /// more than once the first definition counts, whatever defines a normative type is that
    /// type, and one that nobody defines derives from nothing.
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

    /// All types of these documents, and what is wrong with their names and parents. Group types
    /// may derive from some that nobody defines.
    pub(super) fn judged(
        documents: &[&'a Document],
        links: &Links,
        undefined_groups: &[&str],
    ) -> Self {
        let mut types = Self::default();
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

    /// Reads the outlines of all types; the files have positions behind that of the normative
    /// types.
    fn read(
        &mut self,
        documents: impl IntoIterator<Item = &'a Document>,
        is_wanted: impl Fn(Family) -> bool,
    ) -> Vec<FileId> {
        let mut files = vec![profile::normative_file()];
        for document in documents {
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

    /// How a type is written; nothing for a normative type, which is an entry of the index.
    pub(super) fn outline(&self, id: TypeId) -> Option<&TypeOutline<'a>> {
        self.outlines.get(own(id)?)
    }

    /// These types with the positions of their files, one after the other.
    pub(super) fn namesakes(
        &self,
        first: Option<TypeId>,
    ) -> impl Iterator<Item = (usize, TypeId)> + use<'_, 'a> {
        let all = std::iter::successors(first, |id| self.outline(*id)?.next);
        all.filter_map(|id| Some((self.outline(id)?.file, id)))
    }

    /// The types of this full name, with the positions of their files.
    pub(super) fn defined(
        &self,
        family: Family,
        name: &str,
    ) -> impl Iterator<Item = (usize, TypeId)> + use<'_, 'a> {
        let normative = normative::of_full_name(family, name).map(|id| (NORMATIVE_FILE, id));
        let first = self.names[family as usize].get(name).map(|namesakes| namesakes.first);
        normative.into_iter().chain(self.namesakes(first))
    }

    /// The type of a name in a file; in the template, where no file is given.
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
        let found = found
            .or_else(|| self.of_other_name(family, name))
            .or_else(|| self.scopes.as_ref()?.find_around(file, || self.defined(family, name)));
        let found = found.or_else(|| self.qualified(family, name)).or_else(|| {
            self.defined(family, name).next().map(|(_, id)| id).filter(|_| self.sees_all)
        });
        found.map(|found| self.canonical(found))
    }

    /// The type that a type is.
    pub(super) fn canonical(&self, id: TypeId) -> TypeId {
        self.same.get(&id).copied().unwrap_or(id)
    }

    /// The type of a profile by whichever of its names.
    fn of_other_name(&self, family: Family, name: &str) -> Option<TypeId> {
        let normative = normative::find(family, name);
        normative.or_else(|| self.other_names[family as usize].get(name).copied())
    }

    /// The type of a name with the namespace itself in front (section 3.2.1).
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

    /// What a name in a file stands for, in whichever family.
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

    /// What a type derives from, as it is written.
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

    /// The type that it derives from.
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

    /// Whether a type or an ancestor names a parent that is defined nowhere.
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

    /// Whether a type is another, or derives from it.
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

/// The position of a type among those of documents.
pub(super) fn own(id: TypeId) -> Option<usize> {
    id.index().checked_sub(normative::count())
}

/// The namespace that a document gives itself, or else, that who imports it first gives it.
fn namespace(document: &Document, links: &Links) -> Option<String> {
    let file = document.file();
    let own = document.root().get("namespace").and_then(Node::as_str).map(str::to_owned);
    let built_in = || profile::is_built_in(file).then(|| profile::NAMESPACE.to_owned());
    own.or_else(built_in).or_else(|| links.links.iter().find(|link| link.to == file)?.uri.clone())
}
