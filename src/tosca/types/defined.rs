//! Holds all types with their definitions, and computes their effective form on demand.

use super::check;
use super::definition::TypeDefinition;
use super::effective::{self, EffectiveType};
use super::hierarchy::{Parent, TypeHierarchy, TypeId, TypeRef, own};
use super::outline::TypeOutline;
use super::scope::Links;
use super::{grammar, normative, profile};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::tosca::family::Family;
use crate::tosca::grammar::Named;
use crate::tosca::sensitive::said_sensitive;
use cuvee_text::source::{FileId, Span};
use cuvee_text::yaml::{Document, Node};
use std::sync::OnceLock;

/// The normative types, and all types of some documents.
#[derive(Debug)]
pub struct Types<'a> {
    hierarchy: TypeHierarchy<'a>,
    documents: Vec<&'a Document>,
    /// The definitions of documents, each with the errors in how it is written.
    definitions: Vec<OnceLock<Box<(TypeDefinition<'a>, Diagnostics)>>>,
    effective: Vec<OnceLock<EffectiveType<'a>>>,
}

impl<'a> Types<'a> {
    /// The types of these documents, which all see each other's types. The normative types are
    /// always included.
    ///
    /// [`Types::diagnostics`] has the errors in names and derivation. A type with an invalid parent
    /// has no parent.
    pub fn of(documents: impl IntoIterator<Item = &'a Document>) -> Self {
        Self::linked(documents, &Links::default(), &[])
    }

    /// The types of these documents, which are profiles, library, imports and the template. Each
    /// document sees the types that it imports. Group types may derive from `undefined_groups`
    /// although no document defines these.
    pub(crate) fn linked(
        documents: impl IntoIterator<Item = &'a Document>,
        links: &Links,
        undefined_groups: &[&str],
    ) -> Self {
        let documents = documents.into_iter();
        let documents: Vec<_> =
            documents.filter(|document| document.file() != profile::normative_file()).collect();
        let hierarchy = TypeHierarchy::judged(&documents, links, undefined_groups);
        let definitions = hierarchy.outlines.iter().map(|_| OnceLock::new()).collect();
        let effective = hierarchy.ids().map(|_| OnceLock::new()).collect();
        Self { hierarchy, documents, definitions, effective }
    }

    /// The errors in names and derivation.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.hierarchy.diagnostics
    }

    /// Reports all errors in the order of the files: in the notation of types, in references, in
    /// refinements, and in constraints and defaults.
    pub fn validate(&self) -> Diagnostics {
        let mut shapes = Diagnostics::default();
        self.documents.iter().for_each(|document| drop(grammar::types(document, &mut shapes)));
        let written = (0..self.definitions.len()).flat_map(|index| &self.written(index).1.0);
        let effective = self.named_ids().flat_map(|id| &self.effective(id).diagnostics.0);
        let mut all = shapes.0;
        all.extend(written.chain(&self.diagnostics().0).chain(effective).cloned());
        all.append(&mut check::definitions(self));
        if self.hierarchy.has_own_profile || self.hierarchy.is_of_2_0 {
            // The types that remain from the built-in profile were not made for another one.
            all.retain(|diagnostic| {
                !diagnostic.span.is_some_and(|at| profile::is_built_in(at.file))
            });
        }
        all.sort_by_key(|diagnostic| diagnostic.span);
        Diagnostics(all)
    }

    /// Whether a document is one of those that replace the built-in profile.
    pub(crate) fn is_profile(&self, document: &Document) -> bool {
        let mut types = document
            .root()
            .entries()
            .filter_map(|(key, types)| Some((key.text().and_then(Family::of_keyword)?, types)));
        let is_normative = |(family, types): (Family, Node<'_>)| {
            types.entries().any(|(name, _)| {
                name.text().is_some_and(|name| normative::of_full_name(family, name).is_some())
            })
        };
        self.hierarchy.has_own_profile && types.any(is_normative)
    }

    /// The documents that define types, without the profile of normative types.
    pub(crate) fn documents(&self) -> &[&'a Document] {
        &self.documents
    }

    /// All types: the normative ones, then those of documents, in their order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = TypeId> + use<> {
        self.hierarchy.ids()
    }

    /// The types that names may refer to: all, in TOSCA 2.0 without the normative ones.
    pub(crate) fn named_ids(&self) -> impl Iterator<Item = TypeId> + use<> {
        let is_of_2_0 = self.hierarchy.is_of_2_0;
        self.ids().filter(move |id| !is_of_2_0 || own(*id).is_some())
    }

    /// The type that a name in the template refers to. The name is a full name, for normative types
    /// also a shorthand or qualified name, and for prefixed imports a name behind the prefix.
    pub fn find(&self, family: Family, name: &str) -> Option<TypeId> {
        self.find_in(None, family, name)
    }

    /// The type that a name in a file refers to. Without a file, the name is looked up in the
    /// template.
    pub fn find_in(&self, file: Option<FileId>, family: Family, name: &str) -> Option<TypeId> {
        self.hierarchy.find_in(file, family, name)
    }

    /// The type that has the role of a normative type in deploying, by that one's full name.
    pub(crate) fn role(&self, family: Family, normative: &str) -> Option<TypeId> {
        self.hierarchy.role(family, normative)
    }

    /// The data type that a name in the template refers to. It may be a primitive type.
    pub fn find_data(&self, name: &str) -> Option<TypeRef> {
        self.resolve(None, Family::Data, name)
    }

    pub(super) fn resolve(
        &self,
        file: Option<FileId>,
        family: Family,
        name: &str,
    ) -> Option<TypeRef> {
        self.hierarchy.resolve(file, family, name)
    }

    /// The type that the name at a node refers to, in any of these families.
    ///
    /// # Errors
    /// `unknown-type` where there is no such type.
    pub(super) fn reference(
        &self,
        families: &[Family],
        node: Node<'_>,
    ) -> Result<TypeRef, Diagnostic> {
        self.hierarchy.reference(families, node)
    }

    /// The type of this family that a name at this place refers to.
    ///
    /// # Errors
    /// `unknown-type` where there is no such type.
    pub(crate) fn named(
        &self,
        family: Family,
        name: &str,
        span: Span,
    ) -> Result<TypeId, Diagnostic> {
        self.find_in(Some(span.file), family, name)
            .ok_or_else(|| self.hierarchy.unknown(&[family], name, span))
    }

    /// The error for a name that no data type has.
    pub(crate) fn unknown_data(&self, name: &str, span: Span) -> Diagnostic {
        self.hierarchy.unknown(&[Family::Data], name, span)
    }

    /// The definition of a type as it is written. It is read on the first call only.
    pub fn definition(&self, id: TypeId) -> &TypeDefinition<'a> {
        match own(id) {
            Some(index) => &self.written(index).0,
            None => &profile::definitions()[id.index()],
        }
    }

    fn written(&self, index: usize) -> &(TypeDefinition<'a>, Diagnostics) {
        self.definitions[index].get_or_init(|| {
            let mut diagnostics = Diagnostics::default();
            let TypeOutline { family, key, body, .. } = self.hierarchy.outlines[index];
            let definition =
                grammar::definition((family, Named::new((key, body))), &mut diagnostics);
            Box::new((definition, diagnostics))
        })
    }

    /// The type that this type derives from.
    pub fn parent(&self, id: TypeId) -> Option<TypeId> {
        self.hierarchy.parent(id)
    }

    /// The type and its ancestors, the type first.
    pub fn chain(&self, id: TypeId) -> impl Iterator<Item = TypeId> {
        self.hierarchy.ancestors(id)
    }

    /// The primitive type that a data type derives from, where it does.
    pub fn primitive(&self, data: TypeRef) -> Option<&'static str> {
        self.hierarchy.primitive(data)
    }

    /// Whether the types are the same, or `one` derives from `ancestor`.
    pub fn derives(&self, one: TypeRef, ancestor: TypeRef) -> bool {
        self.hierarchy.derives(one, ancestor)
    }

    /// Whether `one` is `ancestor`, derives from it, or may derive from it. The latter cannot be
    /// decided where an ancestor is not defined.
    pub(crate) fn may_derive(&self, one: TypeRef, ancestor: TypeRef) -> bool {
        let is_open = || matches!(one, TypeRef::Defined(id) if self.hierarchy.is_open(id));
        self.derives(one, ancestor) || is_open()
    }

    /// Whether relationships of a type determine which of their ends comes first. The types in the
    /// hierarchy of the specification do (section 7.2.2).
    pub(crate) fn is_ordering(&self, relationship: TypeId) -> bool {
        let root = self.find(Family::Relationship, "tosca.relationships.Root");
        root.is_none_or(|root| self.chain(relationship).any(|ancestor| ancestor == root))
    }

    /// Whether the metadata of a type, or of its nearest ancestor that says anything about it, say
    /// that its values are secret.
    pub(crate) fn said_sensitive(&self, id: TypeId) -> Option<bool> {
        self.chain(id).find_map(|id| said_sensitive(self.definition(id).value))
    }

    /// Whether values of a data type are secret as a whole: its metadata say so, or it is a
    /// credential.
    pub(crate) fn is_secret_data(&self, id: TypeId) -> bool {
        let is_credential = || {
            let credential = self.find(Family::Data, "tosca.datatypes.Credential");
            credential.is_some_and(|credential| self.chain(id).any(|one| one == credential))
        };
        self.said_sensitive(id).unwrap_or_else(is_credential)
    }

    /// Whether a type names a parent that is not defined.
    pub(super) fn has_unknown_parent(&self, id: TypeId) -> bool {
        self.hierarchy.parent_of(id) == Parent::Unknown
    }

    /// All members of a type, including inherited ones. They are computed on the first call only.
    pub fn effective(&self, id: TypeId) -> &EffectiveType<'a> {
        // Ancestors come first, so that a long chain causes no deep recursion.
        let chain: Vec<_> =
            self.chain(id).take_while(|id| self.effective[id.index()].get().is_none()).collect();
        for id in chain.into_iter().rev() {
            let parent = self.parent(id).and_then(|parent| self.effective[parent.index()].get());
            self.effective[id.index()].get_or_init(|| effective::effective(self, id, parent));
        }
        self.effective[id.index()].get_or_init(|| effective::effective(self, id, None))
    }
}
