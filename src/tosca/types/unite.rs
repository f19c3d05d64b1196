//! Decides which types with the same name are one type.

use super::hierarchy::{Namesakes, TypeHierarchy, TypeId};
use super::normative;
use super::profile;
use super::scope::Links;
use crate::diagnostic::{Cite, Code, Diagnostic};
use crate::tosca::family::Family;
use crate::tosca::v2_0;
use cuvee_text::source::FileId;
use cuvee_text::yaml::Node;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The types by which a document that defines a whole profile is recognized.
pub(crate) const ROOTS: [(Family, &str); 3] = [
    (Family::Node, "tosca.nodes.Root"),
    (Family::Relationship, "tosca.relationships.Root"),
    (Family::Capability, "tosca.capabilities.Root"),
];

impl<'a> TypeHierarchy<'a> {
    /// Unifies types by name, for resolving. Types with the same name are one type, and the first
    /// definition counts, unless the template uses different prefixes for them. Normative names
    /// belong to the profile: a definition with such a name replaces the normative type.
    pub(super) fn unite_by_name(&mut self, files: &[FileId], links: &Links) {
        let ways = if self.scopes.is_some() { links.ways() } else { FxHashMap::default() };
        let way = |file: usize| files.get(file).and_then(|file| ways.get(file));
        let mut same = Vec::new();
        for namesakes in self.names.iter().flat_map(FxHashMap::values) {
            let normative = self.normative(namesakes.first);
            same.extend(normative.map(|normative| (normative, namesakes.first)));
            // This is the case for nearly all names of a large library.
            if namesakes.first == namesakes.last {
                continue;
            }
            let mut firsts = FxHashMap::default();
            for (file, id) in self.namesakes(Some(namesakes.first)) {
                let way = way(file).filter(|_| normative.is_none());
                let first = *firsts.entry(way).or_insert(id);
                same.extend((first != id).then_some((id, first)));
            }
        }
        self.same.extend(same);
    }

    /// The normative type that has the same name as a type.
    fn normative(&self, id: TypeId) -> Option<TypeId> {
        let outline = self.outline(id)?;
        normative::of_full_name(outline.family, outline.name)
    }

    /// Reports types with the same name that are defined differently, for validating. This concerns
    /// types in one namespace, and types that are visible in one scope without a prefix (section
    /// 3.1.3.1).
    pub(super) fn unite_namespaces(&mut self) {
        let mut meetings = BTreeSet::new();
        for Namesakes { first, .. } in self.names.iter().flat_map(FxHashMap::values) {
            let Some(outline) = self.outline(*first) else { continue };
            let known: Vec<_> = self.defined(outline.family, outline.name).collect();
            if known.len() < 2 {
                continue;
            }
            self.scopes.iter().for_each(|scopes| {
                scopes.meetings(&known, |first, other| {
                    meetings.insert((first, other));
                });
            });
            let mut firsts: FxHashMap<&str, _> = FxHashMap::default();
            for one in known {
                if let Some(namespace) = &self.namespaces[one.0] {
                    meetings.extend(firsts.insert(namespace, one).map(|first| (first, one)));
                }
            }
        }
        for (first, other) in meetings {
            if self.is_one_namespace(first, other) && !self.same.contains_key(&other.1) {
                self.unite_two(first.1, other.1);
            }
        }
        let last: Vec<_> =
            self.same.iter().map(|(id, same)| (*id, self.canonical(*same))).collect();
        self.same.extend(last);
    }

    /// Whether these documents define the whole profile themselves, starting from its roots, as
    /// libraries of other tools do. Then their definitions replace the built-in ones.
    pub(super) fn define_profile(&self) -> bool {
        let defines = |(family, name)| self.names[family as usize].contains_key(name);
        ROOTS.into_iter().all(defines)
    }

    /// Whether two definitions are in one namespace. A name of the built-in profile must not be
    /// defined elsewhere.
    fn is_one_namespace(&self, (first, id): (usize, TypeId), (other, _): (usize, TypeId)) -> bool {
        let built_in = profile::is_built_in(self.written(id).0.document().file());
        built_in || self.namespaces[first] == self.namespaces[other]
    }

    fn unite_two(&mut self, first: TypeId, other: TypeId) {
        let first = self.canonical(first);
        let Some(outline) = self.outline(other) else { return };
        if self.has_own_profile && self.outline(first).is_none() {
            self.same.insert(first, other);
            return;
        }
        let (key, known) = self.written(first);
        // In TOSCA 2.0 a name is defined once, however alike two definitions are.
        let is_2_0 = v2_0::is_of(outline.key.document());
        if is_2_0 || known.to_value() != outline.body.to_value() {
            let message =
                format!("the {} `{}` is defined twice", outline.family.noun(), outline.name);
            let error =
                Diagnostic::error(Code::TypeClash, message).at(outline.key.span()).section("3.1.3");
            let error = error.label(key.span(), "the other definition");
            self.diagnostics.push(
                error.help("rename one of them, or import its file with a `namespace_prefix`"),
            );
        }
        // One report is enough: afterwards the two definitions count as one type.
        self.same.insert(other, first);
    }

    /// The nodes of a type's name and of the map below it.
    fn written(&self, id: TypeId) -> (Node<'a>, Node<'a>) {
        match self.outline(id) {
            Some(outline) => (outline.key, outline.body),
            None => {
                let definition = &profile::definitions()[id.index()];
                (definition.key, definition.value)
            }
        }
    }
}
