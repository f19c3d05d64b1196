//! All types by name, and what derives from what.

use super::definition::{Family, TypeDefinition};
use super::effective::{self, EffectiveType};
use super::value::Primitive;
use super::{grammar, profile};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::graph::VARIABILITY_GROUPS;
use crate::source::Span;
use crate::yaml::{Document, Node};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::OnceLock;

/// More levels than this are nobody's design; with a limit, no type costs more than its own definitions times a constant.
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
    names: [FxHashMap<&'a str, TypeId>; Family::ALL.len()],
    prefixes: FxHashSet<&'a str>,
    effective: Vec<OnceLock<EffectiveType<'a>>>,
    diagnostics: Diagnostics,
}

impl<'a> Types<'a> {
    /// Reads the types of these documents: profile, library, imports, template. Of a type defined more than once the first definition counts.
    ///
    /// What is wrong with definitions and derivation is in [`Types::diagnostics`]; a type whose parent is wrong has none.
    pub fn of(documents: impl IntoIterator<Item = &'a Document>) -> Self {
        let mut types = Self::default();
        let mut others = Vec::new();
        for document in documents {
            let definitions = grammar::definitions(document, &mut types.diagnostics);
            let built_in = profile::is_built_in(document.file());
            for definition in definitions {
                let other_names = built_in.then(|| profile::other_names(definition.value));
                let (family, id) = (definition.family, types.define(definition));
                others.extend(other_names.into_iter().flatten().map(|name| (family, name, id)));
            }
            let imports = document.root().get("imports").into_iter().flat_map(Node::items);
            types.prefixes.extend(imports.filter_map(|import| import.get("namespace_prefix")?.as_str()));
        }
        // What somebody defines goes before the other names of normative types.
        for (family, name, id) in others {
            types.names[family as usize].entry(name).or_insert(id);
        }
        types.effective.resize_with(types.definitions.len(), OnceLock::new);
        types.derive();
        types
    }

    fn define(&mut self, definition: TypeDefinition<'a>) -> TypeId {
        let id = TypeId(self.definitions.len() as u32);
        let known = *self.names[definition.family as usize].entry(definition.name).or_insert(id);
        if known != id {
            let message = format!("the {} `{}` is defined twice", definition.family.noun(), definition.name);
            let error = Diagnostic::error(Code::TypeClash, message).at(definition.key.span());
            let error = error.label(self.definition(known).key.span(), "this definition counts").section("3.1.3");
            self.diagnostics.push(error.help("rename one of them"));
        }
        self.definitions.push(definition);
        id
    }

    /// Finds the parents, and takes away those that would make a cycle or too long a chain.
    fn derive(&mut self) {
        for index in 0..self.definitions.len() {
            let parent = self.definitions[index].derived_from;
            let family = self.definitions[index].family;
            let parent = parent.filter(|parent| !is_none(*parent) || self.find(family, "None").is_some());
            // Groups that only carry conditions are of types that nobody defines, and that derive from nothing.
            let is_variability = |name: &str| family == Family::Group && VARIABILITY_GROUPS.contains(&name);
            let parent = parent.filter(|parent| !parent.text().is_some_and(is_variability));
            let found = parent.filter(|parent| parent.text().is_some()).map(|parent| self.reference(&[family], parent));
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
                let level = self.parent(id).and_then(|parent| levels[parent.index()]).map_or(0, |above| above + 1);
                levels[id.index()] = Some(if level < LEVELS { level } else { self.cut_chain(id) });
            }
        }
    }

    /// `way` leads to `start` again.
    fn cut_cycle(&mut self, way: &[TypeId], start: TypeId) {
        let between = way.iter().skip_while(|id| **id != start).skip(1);
        let names: Vec<_> = between.map(|id| format!("`{}`", self.definition(*id).name)).collect();
        let through = if names.is_empty() { String::new() } else { format!(" through {}", names.join(", ")) };
        let definition = self.definition(start);
        let message = format!("the {} `{}` derives from itself{through}", definition.family.noun(), definition.name);
        let place = definition.derived_from.unwrap_or(definition.key).span();
        self.diagnostics.push(Diagnostic::error(Code::CyclicType, message).at(place).section(definition.family.section()));
        self.parents[start.index()] = None;
    }

    fn cut_chain(&mut self, id: TypeId) -> usize {
        let definition = self.definition(id);
        let message = format!("the {} `{}` has more than {LEVELS} ancestors", definition.family.noun(), definition.name);
        let place = definition.derived_from.unwrap_or(definition.key).span();
        self.diagnostics.push(Diagnostic::error(Code::InvalidDefinition, message).at(place).section(definition.family.section()));
        self.parents[id.index()] = None;
        0
    }

    /// What is wrong with definitions and derivation.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// All that is wrong, with what types refer to and how they refine as well, in the order of the files.
    pub fn validate(&self) -> Diagnostics {
        let effective = self.ids().flat_map(|id| &self.effective(id).diagnostics.0);
        let mut all: Vec<_> = self.diagnostics.0.iter().chain(effective).cloned().collect();
        all.sort_by_key(|diagnostic| diagnostic.span);
        Diagnostics(all)
    }

    /// All types, in the order of the documents.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = TypeId> + use<> {
        (0..self.definitions.len() as u32).map(TypeId)
    }

    /// The type of a name: its full name, for normative types their shorthand and qualified names too, and behind the namespace prefix of an
    /// import, any.
    pub fn find(&self, family: Family, name: &str) -> Option<TypeId> {
        let names = &self.names[family as usize];
        let unprefixed = || name.split_once(':').filter(|(prefix, _)| self.prefixes.contains(prefix)).map(|(_, name)| name);
        names.get(name).or_else(|| names.get(unprefixed()?)).copied()
    }

    /// The data type of a name, which may be a primitive one.
    pub fn find_data(&self, name: &str) -> Option<TypeRef> {
        self.resolve(Family::Data, name)
    }

    pub(super) fn resolve(&self, family: Family, name: &str) -> Option<TypeRef> {
        let primitive = || profile::primitive(name).filter(|_| family == Family::Data).map(TypeRef::Primitive);
        self.find(family, name).map(TypeRef::Defined).or_else(primitive)
    }

    /// What the name at a node stands for, in whichever of these families.
    ///
    /// # Errors
    /// `unknown-type`
    pub(super) fn reference(&self, families: &[Family], node: Node<'_>) -> Result<TypeRef, Diagnostic> {
        let name = node.text().unwrap_or_default();
        let found = families.iter().find_map(|family| self.resolve(*family, name));
        found.ok_or_else(|| self.unknown(families, name, node.span()))
    }

    /// The type of this family that a name at this place stands for.
    ///
    /// # Errors
    /// `unknown-type`
    pub(crate) fn named(&self, family: Family, name: &str, span: Span) -> Result<TypeId, Diagnostic> {
        self.find(family, name).ok_or_else(|| self.unknown(&[family], name, span))
    }

    /// What to say of a name that no data type has.
    pub(crate) fn unknown_data(&self, name: &str, span: Span) -> Diagnostic {
        self.unknown(&[Family::Data], name, span)
    }

    /// What to say of a name that no type of these families has.
    fn unknown(&self, families: &[Family], name: &str, span: Span) -> Diagnostic {
        let wanted: Vec<_> = families.iter().map(|family| family.noun()).collect();
        let error = Diagnostic::error(Code::UnknownType, format!("there is no {} `{name}`", wanted.join(" or ")));
        let error = error.at(span).section(families.first().map_or("3.7", |family| family.section()));
        match Family::ALL.into_iter().find(|family| self.resolve(*family, name).is_some()) {
            Some(other) => error.help(format!("`{name}` is a {}", other.noun())),
            None if families.iter().any(|family| profile::is_non_normative(*family, name)) => {
                error.help("it is a non-normative type of chapter 9, which is there only where it is asked for")
            }
            None => error.help_opt(did_you_mean(name, families.iter().flat_map(|family| self.known(*family)))),
        }
    }

    fn known(&self, family: Family) -> impl Iterator<Item = &str> {
        let mut names: Vec<_> = self.names[family as usize].keys().copied().collect();
        names.extend(Primitive::ALL.iter().map(|primitive| primitive.name()).filter(|_| family == Family::Data));
        // Hash order must not decide between two that are equally close.
        names.sort_unstable();
        names.into_iter()
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
            (TypeRef::Defined(one), TypeRef::Defined(ancestor)) => self.chain(one).any(|id| id == ancestor),
            (one, TypeRef::Primitive(ancestor)) => self.primitive(one) == Some(ancestor),
            (TypeRef::Primitive(_), TypeRef::Defined(_)) => false,
        }
    }

    /// What a type has, with all that it inherits. Worked out when it is asked for, and once.
    pub fn effective(&self, id: TypeId) -> &EffectiveType<'a> {
        // Ancestors first, so that no chain is a recursion.
        let chain: Vec<_> = self.chain(id).take_while(|id| self.effective[id.index()].get().is_none()).collect();
        for id in chain.into_iter().rev() {
            let parent = self.parent(id).and_then(|parent| self.effective[parent.index()].get());
            self.effective[id.index()].get_or_init(|| effective::effective(self, id, parent));
        }
        self.effective[id.index()].get_or_init(|| effective::effective(self, id, None))
    }
}

/// What section 3.7.1.1 writes where there is no parent.
fn is_none(parent: Node<'_>) -> bool {
    parent.text() == Some("None")
}
