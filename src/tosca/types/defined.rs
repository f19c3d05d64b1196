//! All types with their definitions, and on demand, what they effectively are.

use super::check;
use super::definition::TypeDefinition;
use super::effective::{self, EffectiveType};
use super::hierarchy::{Parent, TypeHierarchy, TypeId, TypeRef, own};
use super::outline::TypeOutline;
use super::scope::Links;
use super::{grammar, normative, profile};
use crate::text::diagnostic::{Diagnostic, Diagnostics};
use crate::text::source::{FileId, Span};
use crate::text::yaml::{Document, Node};
use crate::tosca::family::Family;
use crate::tosca::grammar::Named;
use std::sync::OnceLock;

/// The normative types and all types of some documents.
#[derive(Debug)]
pub struct Types<'a> {
    hierarchy: TypeHierarchy<'a>,
    documents: Vec<&'a Document>,
    /// Those of documents, with what is wrong with how they are written.
    definitions: Vec<OnceLock<Box<(TypeDefinition<'a>, Diagnostics)>>>,
    effective: Vec<OnceLock<EffectiveType<'a>>>,
}

impl<'a> Types<'a> {
    /// The types of these documents, which all see each other's. The normative types are always
    /// there.
    ///
    /// What is wrong with names and derivation is in [`Types::diagnostics`]; a type whose parent is
    /// wrong has none.
    pub fn of(documents: impl IntoIterator<Item = &'a Document>) -> Self {
        Self::linked(documents, &Links::default(), &[])
    }

    /// The types of these documents: profiles, library, imports, template, which see what
    /// they import. Group types may derive from these without that anybody defines them.
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

    /// What is wrong with names and derivation.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.hierarchy.diagnostics
    }

    /// All that is wrong, with how types are written, what they refer to, how they refine, and which
    /// of their constraints and defaults make no sense, in the order of the files.
    pub fn validate(&self) -> Diagnostics {
        let mut shapes = Diagnostics::default();
        self.documents.iter().for_each(|document| drop(grammar::types(document, &mut shapes)));
        let written = (0..self.definitions.len()).flat_map(|index| &self.written(index).1.0);
        let effective = self.ids().flat_map(|id| &self.effective(id).diagnostics.0);
        let mut all = shapes.0;
        all.extend(written.chain(&self.diagnostics().0).chain(effective).cloned());
        all.append(&mut check::definitions(self));
        if self.hierarchy.has_own_profile {
            // What is left of the profile that is built in was not made for another one.
            all.retain(|diagnostic| {
                !diagnostic.span.is_some_and(|at| profile::is_built_in(at.file))
            });
        }
        all.sort_by_key(|diagnostic| diagnostic.span);
        Diagnostics(all)
    }

    /// Whether a document is one of those that define the profile instead of the one that is built
    /// in.
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

    /// All types: the normative ones, then those of documents, in their order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = TypeId> + use<> {
        self.hierarchy.ids()
    }

    /// The type of a name in the template: its full name, for normative types their shorthand and
    /// qualified names too, and behind the namespace prefix of an import what is imported so.
    pub fn find(&self, family: Family, name: &str) -> Option<TypeId> {
        self.find_in(None, family, name)
    }

    /// The type of a name in a file; in the template, where no file is given.
    pub fn find_in(&self, file: Option<FileId>, family: Family, name: &str) -> Option<TypeId> {
        self.hierarchy.find_in(file, family, name)
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
        self.hierarchy.resolve(file, family, name)
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
        self.hierarchy.reference(families, node)
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
            .ok_or_else(|| self.hierarchy.unknown(&[family], name, span))
    }

    /// What to say of a name that no data type has.
    pub(crate) fn unknown_data(&self, name: &str, span: Span) -> Diagnostic {
        self.hierarchy.unknown(&[Family::Data], name, span)
    }

    /// How a type is written. Read when it is asked for, and once.
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

    /// The type that it derives from.
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

    /// Whether a type is another, or derives from it.
    pub fn derives(&self, one: TypeRef, ancestor: TypeRef) -> bool {
        self.hierarchy.derives(one, ancestor)
    }

    /// Whether a type is another, derives from it, or may do so: where an ancestor is defined
    /// nowhere, that is undecidable.
    pub(crate) fn may_derive(&self, one: TypeRef, ancestor: TypeRef) -> bool {
        let is_open = || matches!(one, TypeRef::Defined(id) if self.hierarchy.is_open(id));
        self.derives(one, ancestor) || is_open()
    }

    /// Whether relationships of a type say which of their ends comes first: those of the
    /// specification's hierarchy do (section 7.2.2).
    pub(crate) fn is_ordering(&self, relationship: TypeId) -> bool {
        let root = self.find(Family::Relationship, "tosca.relationships.Root");
        root.is_none_or(|root| self.chain(relationship).any(|ancestor| ancestor == root))
    }

    /// Whether a type names a parent that is defined nowhere.
    pub(super) fn has_unknown_parent(&self, id: TypeId) -> bool {
        self.hierarchy.parent_of(id) == Parent::Unknown
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
