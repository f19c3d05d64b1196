//! Holds all types with their definitions, and computes their effective form on demand.

use super::check;
use super::definition::{InterfaceDefinition, OperationDefinition, TypeDefinition};
use super::effective::{self, EffectiveType};
use super::hierarchy::{Parent, TypeHierarchy, TypeId, TypeRef, own};
use super::outline::TypeOutline;
use super::scope::Links;
use super::{grammar, normative, profile};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::parallel::beside;
use crate::tosca::family::Family;
use crate::tosca::grammar::Named;
use crate::tosca::sensitive::said_sensitive;
use crate::tosca::v2_0;
use cuvee_text::source::{FileId, SourceText, Span};
use cuvee_text::yaml::{Document, Node};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::iter;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// How many types are judged at once. What was read of them is forgotten before the next ones are,
/// since it takes many times the room of the text of a library.
const AT_ONCE: usize = 1_000;

/// The definition of a type, with the errors in how it is written.
type ReadDefinition<'a> = Box<(TypeDefinition<'a>, Diagnostics)>;

/// The normative types, and all types of some documents.
#[derive(Debug)]
pub struct Types<'a> {
    hierarchy: Arc<TypeHierarchy<'a>>,
    documents: Vec<&'a Document>,
    /// The definitions of documents.
    definitions: Arc<[OnceLock<ReadDefinition<'a>>]>,
    /// The effective types. Those that nobody asks for take little room, of which a library has
    /// thousands.
    effective: Vec<OnceLock<Box<EffectiveType<'a>>>>,
    /// Whether the rules of TOSCA 2.0 hold for types of version 1.3, too.
    is_strict: bool,
}

/// As many cells in which nothing is yet.
fn unread<T>(count: usize) -> Vec<OnceLock<T>> {
    std::iter::repeat_with(OnceLock::new).take(count).collect()
}

/// What TOSCA 2.0 does not allow in types of version 1.3.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    /// Why, by the places of what it does not allow.
    pub why: FxHashMap<Span, String>,
    /// The keys of defaults of what types refine without requiring it.
    pub optional: FxHashSet<Span>,
    /// The interface types without a parent to which other types add operations.
    pub extended: FxHashSet<TypeId>,
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
        Self::noted(documents, links, undefined_groups, false)
    }

    /// The same, noting which names files do not see, as [`Types::validate_keeping`] wants to know.
    pub(crate) fn noted(
        documents: impl IntoIterator<Item = &'a Document>,
        links: &Links,
        undefined_groups: &[&str],
        notes_strays: bool,
    ) -> Self {
        let documents = documents.into_iter();
        let documents: Vec<_> =
            documents.filter(|document| document.file() != profile::normative_file()).collect();
        let hierarchy = TypeHierarchy::judged(&documents, links, undefined_groups, notes_strays);
        let hierarchy = Arc::new(hierarchy);
        let (definitions, effective) =
            (unread(hierarchy.outlines.len()), unread(hierarchy.ids().len()));
        Self { hierarchy, documents, definitions: definitions.into(), effective, is_strict: false }
    }

    /// The same types, of which nothing was read.
    fn unread(&self) -> Self {
        Self { definitions: unread(self.definitions.len()).into(), ..self.underived() }
    }

    /// The same types and their definitions, of which no effective form was computed.
    fn underived(&self) -> Self {
        Self {
            hierarchy: Arc::clone(&self.hierarchy),
            documents: self.documents.clone(),
            definitions: Arc::clone(&self.definitions),
            effective: unread(self.effective.len()),
            is_strict: self.is_strict,
        }
    }

    /// Whether the rules of TOSCA 2.0 hold for what this document says.
    pub(super) fn is_strict_in(&self, document: &Document) -> bool {
        self.is_strict || v2_0::is_of(document)
    }

    /// What TOSCA 2.0 does not allow in the types of these documents, and version 1.3 does.
    pub(crate) fn refusals(&self) -> Refusals {
        let all: Vec<_> = self.ids().filter(|id| own(*id).is_some()).collect();
        let mut refusals = Refusals::default();
        for found in self.at_once(&all, |ids| self.refused(ids)) {
            refusals.why.extend(found.why);
            refusals.optional.extend(found.optional);
            refusals.extended.extend(found.extended);
        }
        refusals
    }

    /// What TOSCA 2.0 does not allow in these types, and version 1.3 does.
    fn refused(&self, ids: &[TypeId]) -> Refusals {
        let strict = Self { is_strict: true, ..self.underived() };
        let [mut found, mut known] = [Vec::new(), Vec::new()];
        strict.judge_effective(ids, &mut found);
        if !found.is_empty() {
            self.underived().judge_effective(ids, &mut known);
        }
        let known: FxHashSet<_> = known.iter().map(|it| (it.code, it.span)).collect();
        found.retain(|it| !known.contains(&(it.code, it.span)));
        let (optional, found): (Vec<_>, Vec<_>) =
            found.into_iter().partition(v2_0::is_default_of_optional);
        Refusals {
            why: found.into_iter().filter_map(|it| Some((it.span?, it.message))).collect(),
            optional: optional.into_iter().filter_map(|it| it.span).collect(),
            extended: ids.iter().flat_map(|id| strict.extended_by(*id)).collect(),
        }
    }

    /// Has types judged, some at a time and on two cores.
    fn at_once<T: Send>(&self, ids: &[TypeId], judge: impl Fn(&[TypeId]) -> T + Sync) -> Vec<T> {
        let chunks: Vec<_> = ids.chunks(AT_ONCE).collect();
        let judged =
            |chunks: &[&[TypeId]]| -> Vec<T> { chunks.iter().map(|ids| judge(ids)).collect() };
        let (first, rest) = chunks.split_at(chunks.len().div_ceil(2));
        if rest.is_empty() {
            return judged(first);
        }
        beside(
            || judged(rest),
            |rest| {
                let mut all = judged(first);
                all.extend(rest());
                all
            },
        )
    }

    /// The roots of the interface types to which a type adds operations or notifications.
    fn extended_by(&self, id: TypeId) -> Vec<TypeId> {
        let interfaces = &self.effective(id).interfaces;
        let adds = |own: &InterfaceDefinition<'a>| {
            let kind = interfaces.get(own.named.name)?.definition.kind?;
            let kind =
                self.find_in(Some(kind.document().file()), Family::Interface, kind.text()?)?;
            let of_type = &self.effective(kind).interface;
            let is_new = |it: &OperationDefinition<'_>| {
                let name = it.named.name;
                !of_type.operations.contains_key(name) && !of_type.notifications.contains_key(name)
            };
            let is_extended = own.operations.iter().chain(&own.notifications).any(is_new);
            self.chain(kind).last().filter(|_| is_extended)
        };
        self.definition(id).interfaces.iter().filter_map(adds).collect()
    }

    /// The errors in names and derivation.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.hierarchy.diagnostics
    }

    /// Reports all errors in the order of the files: in the notation of types, in references, in
    /// refinements, and in constraints and defaults.
    pub fn validate(&self) -> Diagnostics {
        self.in_order(self.judge(&self.documents, &self.named_ids().collect::<Vec<_>>()))
    }

    /// The same; what was found in files whose types are as they were is taken from before.
    pub(crate) fn validate_keeping(&self, links: &Links, kept: &KeptJudgements) -> Diagnostics {
        let mut ids: FxHashMap<FileId, Vec<TypeId>> = FxHashMap::default();
        self.named_ids().for_each(|id| ids.entry(self.file_of(id)).or_default().push(id));
        let mut all = Vec::new();
        let files = self.documents.iter().map(|document| (document.file(), Some(*document)));
        let open: Vec<_> = kept.run(|run| {
            run.begin();
            let open = files.chain([(profile::normative_file(), None)]).filter_map(|(file, it)| {
                let closure = JudgedClosure::of(self, links, file);
                let found = run.found(self, file, &closure);
                let is_open = found.is_none();
                all.extend(found.iter().flat_map(|found| found.iter()).cloned());
                is_open.then_some((file, it, closure))
            });
            open.collect()
        });
        for (file, document, closure) in open {
            let ids = ids.remove(&file).unwrap_or_default();
            let found = self.judge(document.as_slice(), &ids);
            all.extend(found.iter().cloned());
            kept.run(|run| run.keep(self, (file, closure), found, ids.len()));
        }
        self.in_order(all)
    }

    /// What is wrong with these documents and these types of them, but for what is wrong with the
    /// hierarchy.
    fn judge(&self, documents: &[&'a Document], ids: &[TypeId]) -> Vec<Diagnostic> {
        let mut shapes = Diagnostics::default();
        documents.iter().for_each(|document| drop(grammar::types(document, &mut shapes)));
        let mut all = shapes.0;
        all.extend(self.at_once(ids, |ids| self.unread().judge_at_once(ids)).into_iter().flatten());
        all
    }

    /// What is wrong with these types.
    fn judge_at_once(&self, ids: &[TypeId]) -> Vec<Diagnostic> {
        let written = ids.iter().filter_map(|id| own(*id));
        let mut all: Vec<_> = written.flat_map(|index| &self.written(index).1.0).cloned().collect();
        self.judge_effective(ids, &mut all);
        ids.iter().for_each(|id| check::calls(self.place(*id).2, &mut all));
        all
    }

    /// What is wrong with what these types inherit, refine and define, which is where rules of the
    /// versions differ.
    fn judge_effective(&self, ids: &[TypeId], all: &mut Vec<Diagnostic>) {
        all.extend(ids.iter().flat_map(|&id| &self.effective(id).diagnostics.0).cloned());
        all.append(&mut check::definitions(self, ids));
    }

    /// What was found, with what is wrong with the hierarchy.
    fn in_order(&self, mut all: Vec<Diagnostic>) -> Diagnostics {
        all.extend(self.diagnostics().0.iter().cloned());
        if self.hierarchy.has_own_profile || self.hierarchy.is_of_2_0 {
            // The types that remain from the built-in profile were not made for another one.
            all.retain(|diagnostic| {
                !diagnostic.span.is_some_and(|at| profile::is_built_in(at.file))
            });
        }
        all.sort_by_key(|diagnostic| diagnostic.span);
        Diagnostics(all)
    }

    /// The file that defines a type.
    fn file_of(&self, id: TypeId) -> FileId {
        let outline = self.hierarchy.outline(id);
        outline.map_or(profile::normative_file(), |it| it.key.document().file())
    }

    /// The files that define a type: several, where what they define is one type.
    pub(crate) fn files_of(&self, id: TypeId) -> impl Iterator<Item = FileId> {
        let hierarchy = &self.hierarchy;
        let namesakes = hierarchy.outline(id).map(|it| hierarchy.defined(it.family, it.name));
        let others = namesakes.into_iter().flatten().map(|(_, other)| other);
        let same = others.filter(move |&other| {
            other != id && hierarchy.canonical(other) == hierarchy.canonical(id)
        });
        iter::once(id).chain(same).map(|id| self.file_of(id))
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

    /// Whether the types are those of a template of TOSCA 2.0.
    pub(crate) fn is_of_2_0(&self) -> bool {
        self.hierarchy.is_of_2_0
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

    /// The name by which a file refers to a type, for messages: its own where the file does not see
    /// the type.
    pub(crate) fn called(&self, file: Option<FileId>, id: TypeId) -> Cow<'a, str> {
        self.name_in(file, id).unwrap_or(self.definition(id).name.into())
    }

    /// The name by which a file refers to a type that is named here, perhaps in another file: that
    /// name if it means the same there.
    pub(crate) fn called_by(
        &self,
        file: Option<FileId>,
        families: &[Family],
        named: Node<'_>,
    ) -> String {
        let (written, name) = (named.document().file(), named.text().unwrap_or_default());
        let meant = |family: &Family| Some((*family, self.find_in(Some(written), *family, name)?));
        let known = families.iter().find_map(meant);
        let other = known.filter(|(family, id)| self.find_in(file, *family, name) != Some(*id));
        other.map_or(name.to_owned(), |(_, id)| self.called(file, id).into_owned())
    }

    /// The name by which a file refers to a type: its own, behind the prefixes of imports where the
    /// file sees it by those alone.
    pub(crate) fn name_in(&self, file: Option<FileId>, id: TypeId) -> Option<Cow<'a, str>> {
        let definition = self.definition(id);
        let (family, name) = (definition.family, definition.name);
        let is_it = |name: &str| self.find_in(file, family, name) == Some(id);
        if is_it(name) {
            return Some(name.into());
        }
        let (position, _) = self.hierarchy.defined(family, name).find(|(_, it)| *it == id)?;
        let prefix = self.hierarchy.scopes.as_ref()?.prefix_for(file, position)?;
        Some(format!("{prefix}:{name}")).filter(|name| is_it(name)).map(Cow::Owned)
    }

    /// The name of a type outside of all files: that by which the template refers to it, or its own
    /// where the template does not see it.
    pub(crate) fn told_name(&self, id: TypeId) -> Cow<'a, str> {
        self.called(None, id)
    }

    /// The type that a [`Types::told_name`] means. The own name of a type is enough where no other
    /// type has it, and the template means nothing else by it.
    pub(crate) fn find_told(&self, family: Family, name: &str) -> Option<TypeId> {
        let only = || {
            let mut all = self.hierarchy.defined(family, name).map(|(_, id)| id);
            let first = self.hierarchy.canonical(all.next()?);
            all.all(|id| self.hierarchy.canonical(id) == first).then_some(first)
        };
        self.find(family, name).or_else(only)
    }

    /// Whether a type and one of other types have the same name and definition.
    pub(crate) fn is_alike(&self, id: TypeId, (others, other): (&Types<'_>, TypeId)) -> bool {
        let (one, other) = (self.definition(id), others.definition(other));
        one.name == other.name && one.value.to_value() == other.value.to_value()
    }

    /// Whether a type is the same as one of other types: both templates call it by the same name, or
    /// it and all that it derives from are defined alike.
    pub(crate) fn is_same(&self, id: TypeId, (others, other): (&Types<'_>, TypeId)) -> bool {
        let of_two = || self.chain(id).zip(others.chain(other));
        self.told_name(id) == others.told_name(other)
            || self.chain(id).count() == others.chain(other).count()
                && of_two().all(|(one, other)| self.is_alike(one, (others, other)))
    }

    /// Whether a name in a file would mean this type if all files were of version 1.3.
    pub(crate) fn is_so_in_1_3(&self, file: Option<FileId>, name: &str, id: TypeId) -> bool {
        let family = self.definition(id).family;
        self.hierarchy.scopes.as_ref().is_none_or(|scopes| {
            let found = scopes.find_in_1_3(file, name, |name| self.hierarchy.defined(family, name));
            found.is_some_and(|found| self.hierarchy.canonical(found) == id)
        })
    }

    /// The type that has the role of a normative type in deploying, by that one's full name.
    pub(crate) fn role(&self, family: Family, normative: &str) -> Option<TypeId> {
        self.hierarchy.role(family, normative)
    }

    /// The data type that a name in the template refers to. It may be a primitive type.
    pub fn find_data(&self, name: &str) -> Option<TypeRef> {
        self.resolve(None, Family::Data, name)
    }

    pub(crate) fn resolve(
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

    /// The key and the map of a definition, of which nothing was read.
    pub(crate) fn place(&self, id: TypeId) -> (Family, Node<'a>, Node<'a>) {
        match self.hierarchy.outline(id) {
            Some(outline) => (outline.family, outline.key, outline.body),
            None => {
                let definition = self.definition(id);
                (definition.family, definition.key, definition.value)
            }
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

    /// The capability that a requirement definition names where it names no type of capabilities: in
    /// TOSCA 2.0, it may be one of the node type beside it (section 8.5).
    pub(crate) fn capability_named<'n>(
        &self,
        capability: Option<Node<'n>>,
        node: Option<Node<'_>>,
    ) -> Option<&'n str> {
        let capability = capability.filter(|it| v2_0::is_of(it.document()))?;
        let (name, file) = (capability.text()?, Some(capability.document().file()));
        let node = node?;
        let node = self.find_in(Some(node.document().file()), Family::Node, node.text()?)?;
        // The definitions are asked, as node types may require each other.
        let has = |id| self.definition(id).capabilities.iter().any(|own| own.named.name == name);
        let is_type = self.find_in(file, Family::Capability, name).is_some();
        (!is_type && self.chain(node).any(has)).then_some(name)
    }

    /// The type of the capability that a requirement definition names so.
    pub(crate) fn kind_of_capability(
        &self,
        capability: Option<Node<'_>>,
        node: Option<Node<'_>>,
    ) -> Option<Node<'a>> {
        let (name, node) = (self.capability_named(capability, node)?, node?);
        let node = self.find_in(Some(node.document().file()), Family::Node, node.text()?)?;
        let mut all = self.chain(node).flat_map(|id| &self.definition(id).capabilities);
        all.find_map(|own| own.kind.filter(|_| own.named.name == name))
    }

    /// The primitive type that a data type derives from, where it does.
    pub fn primitive(&self, data: TypeRef) -> Option<&'static str> {
        self.hierarchy.primitive(data)
    }

    /// Whether a relationship type is one of hosting.
    pub(crate) fn is_hosting(&self, relationship: TypeId) -> bool {
        self.hierarchy.leads_to_host(relationship)
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
            let parent = parent.map(|parent| &**parent);
            self.effective[id.index()]
                .get_or_init(|| Box::new(effective::effective(self, id, parent)));
        }
        self.effective[id.index()].get_or_init(|| Box::new(effective::effective(self, id, None)))
    }
}

/// After how many validations a judgement that nobody has used is given up.
const RUNS: u64 = 32;

/// How many judgements of files at one position are kept. Each has the texts that it is about, and
/// who types makes a new text with each character.
const TEXTS: usize = 8;

/// What was found in the types of files, kept from one validation to the next.
///
/// It counts as long as all that the file sees stays the same: itself, what it imports, and what
/// every file sees. Names that it does not see must not be defined anywhere, because files that
/// import it may then give them a meaning.
#[derive(Debug, Default)]
pub(crate) struct KeptJudgements {
    kept: Mutex<JudgementRun>,
}

impl KeptJudgements {
    /// How many types were judged so far.
    pub(crate) fn judged(&self) -> usize {
        self.run(|run| run.judged)
    }

    fn run<T>(&self, act: impl FnOnce(&mut JudgementRun) -> T) -> T {
        act(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[derive(Debug, Default)]
struct JudgementRun {
    judgements: FxHashMap<FileId, Vec<KeptJudgement>>,
    number: u64,
    judged: usize,
}

/// What was found in the types of a file.
#[derive(Debug)]
struct KeptJudgement {
    closure: JudgedClosure,
    /// The names that files of the closure do not see.
    strays: BTreeSet<(Family, Box<str>)>,
    found: Arc<[Diagnostic]>,
    used: u64,
}

impl JudgementRun {
    /// Begins a validation, and gives up what was not used for many of them.
    fn begin(&mut self) {
        self.number += 1;
        let number = self.number;
        self.judgements.retain(|_, judgements| {
            judgements.retain(|judgement| judgement.used + RUNS >= number);
            !judgements.is_empty()
        });
    }

    /// What was found in a file before, if it counts.
    fn found(
        &mut self,
        types: &Types<'_>,
        file: FileId,
        closure: &JudgedClosure,
    ) -> Option<Arc<[Diagnostic]>> {
        let mut known = self.judgements.get_mut(&file)?.iter_mut();
        let counts = |known: &&mut KeptJudgement| {
            known.closure == *closure && !types.hierarchy.defines_any(&known.strays)
        };
        let known = known.find(counts)?;
        known.used = self.number;
        types.hierarchy.add_strays(file, &known.strays);
        Some(Arc::clone(&known.found))
    }

    /// Keeps what was found in a file, if it counts for others.
    fn keep(
        &mut self,
        types: &Types<'_>,
        (file, closure): (FileId, JudgedClosure),
        found: Vec<Diagnostic>,
        judged: usize,
    ) {
        self.judged += judged;
        let strays = types.hierarchy.strays_of(closure.files.iter().map(|(file, _)| *file));
        if !types.hierarchy.defines_any(&strays) {
            let judgement =
                KeptJudgement { closure, strays, found: found.into(), used: self.number };
            let known = self.judgements.entry(file).or_default();
            known.push(judgement);
            let oldest = known.iter().enumerate().min_by_key(|(_, known)| known.used);
            if let Some((oldest, _)) = oldest.filter(|_| known.len() > TEXTS) {
                known.swap_remove(oldest);
            }
        }
    }
}

/// Whatever the types of a file may depend on, unless it names what it does not see.
#[derive(Debug, PartialEq)]
struct JudgedClosure {
    /// The files, with their texts.
    files: Vec<(FileId, SourceText)>,
    /// The imports between them.
    links: Vec<(FileId, FileId, Option<String>, Option<String>)>,
    /// The files that every file sees, and whether they are imported with a prefix.
    library: Vec<(FileId, bool)>,
    has_own_profile: bool,
}

impl JudgedClosure {
    fn of(types: &Types<'_>, links: &Links, file: FileId) -> Self {
        let TypeHierarchy { ref same, ref severed, has_own_profile, .. } = *types.hierarchy;
        // Types that are one with others make all files one.
        let is_one =
            links.top.is_none() || has_own_profile || !same.is_empty() || !severed.is_empty();
        let behind = links.behind(links.library.iter().copied().chain([file]));
        let is_seen = |file: FileId| is_one || file.is_built_in() || behind.contains(&file);
        let seen = types.documents.iter().filter(|document| is_seen(document.file()));
        let between = links.links.iter().filter(|link| is_seen(link.from) && is_seen(link.to));
        let has_prefix: FxHashSet<_> =
            links.links.iter().filter(|link| link.prefix.is_some()).map(|link| link.to).collect();
        let library = links.library.iter();
        Self {
            files: seen.map(|it| (it.file(), it.shared_text().clone())).collect(),
            links: between.map(|it| (it.from, it.to, it.prefix.clone(), it.uri.clone())).collect(),
            library: library.map(|file| (*file, has_prefix.contains(file))).collect(),
            has_own_profile,
        }
    }
}

impl TypeHierarchy<'_> {
    /// Whether any of these names is defined in a document.
    fn defines_any(&self, names: &BTreeSet<(Family, Box<str>)>) -> bool {
        names.iter().any(|(family, name)| self.names[*family as usize].contains_key(&**name))
    }

    /// The names that these files do not see.
    fn strays_of(&self, files: impl Iterator<Item = FileId>) -> BTreeSet<(Family, Box<str>)> {
        let Some(strays) = &self.strays else { return BTreeSet::new() };
        let strays = strays.lock().unwrap_or_else(PoisonError::into_inner);
        files.filter_map(|file| strays.get(&file)).flatten().cloned().collect()
    }

    fn add_strays(&self, file: FileId, names: &BTreeSet<(Family, Box<str>)>) {
        let Some(strays) = &self.strays else { return };
        let mut strays = strays.lock().unwrap_or_else(PoisonError::into_inner);
        strays.entry(file).or_default().extend(names.iter().cloned());
    }
}
