//! Connects the documents of a library: finds components by name, determines which documents see
//! which components, and follows derivation.

use super::definitions::{
    ComponentContent, ComponentKind, ComponentName, DefinedComponent, Definitions, EntityType,
    FeatureDefinition, FeatureKind, TypeImplementation,
};
use super::load::{DefinitionsExtent, LoadedDefinitions};
use super::read::read;
use crate::diagnostic::Diagnostics;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// The id of a component in a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ComponentId(u32);

impl ComponentId {
    /// The position of the component among all components.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// All documents that are processed together.
pub(crate) struct Library<'d> {
    pub loaded: &'d LoadedDefinitions,
    pub documents: Vec<Definitions<'d>>,
    /// The document of each component, and its position in that document.
    components: Vec<(usize, usize)>,
    by_name: FxHashMap<(ComponentKind, Cow<'d, str>, Cow<'d, str>), ComponentId>,
    /// Components with the name of another component, each as a pair with that one.
    pub repeated: Vec<(ComponentId, ComponentId)>,
    /// The documents that each document imports directly.
    imports: Vec<FxHashSet<usize>>,
    /// The namespaces that each document imports without a document that was read. Their components
    /// are unknown.
    unread: Vec<FxHashSet<String>>,
    parents: Vec<Option<ComponentId>>,
}

/// The result of looking up a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoundComponent {
    /// The component with this name.
    Known(ComponentId),
    /// A component of the document's target namespace. By the rules, the name has another
    /// namespace, because it lacks a prefix.
    Unprefixed(ComponentId),
    /// A component of an import that was not read.
    Elsewhere,
    /// No component has this name.
    Nothing,
}

impl FoundComponent {
    /// The component that was found.
    pub(crate) fn id(self) -> Option<ComponentId> {
        match self {
            Self::Known(id) | Self::Unprefixed(id) => Some(id),
            Self::Elsewhere | Self::Nothing => None,
        }
    }
}

impl<'d> Library<'d> {
    /// Reads all loaded documents. Errors in prefixes are added to `found`.
    pub(crate) fn of(loaded: &'d LoadedDefinitions, found: &mut Diagnostics) -> Self {
        let documents: Vec<_> =
            loaded.documents.iter().filter_map(|document| read(document, found)).collect();
        let mut library = Self {
            loaded,
            components: Vec::new(),
            by_name: FxHashMap::default(),
            repeated: Vec::new(),
            imports: Vec::new(),
            unread: Vec::new(),
            parents: Vec::new(),
            documents,
        };
        library.name();
        library.link();
        library.parents = library.ids().map(|id| library.parent_of(id)).collect();
        library
    }

    fn name(&mut self) {
        for (document, definitions) in self.documents.iter().enumerate() {
            for (position, component) in definitions.components.iter().enumerate() {
                let id = ComponentId(u32::try_from(self.components.len()).unwrap_or(u32::MAX));
                self.components.push((document, position));
                let (namespace, name) = (&component.namespace, &component.name.text);
                let key = (component.kind, namespace.clone(), name.clone());
                match self.by_name.get(&key) {
                    Some(&first) => self.repeated.push((first, id)),
                    None => drop(self.by_name.insert(key, id)),
                }
            }
        }
    }

    fn link(&mut self) {
        let position: FxHashMap<_, _> =
            self.documents.iter().enumerate().map(|(at, it)| (it.file, at)).collect();
        let mut of_namespace: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (at, definitions) in self.documents.iter().enumerate() {
            of_namespace.entry(&definitions.target_namespace).or_default().push(at);
        }
        let (mut imports, mut unread) = (Vec::new(), Vec::new());
        for definitions in &self.documents {
            let (mut own, mut open) = (FxHashSet::default(), FxHashSet::default());
            for import in &definitions.imports {
                let led = self.loaded.imported(definitions.file, import.span);
                let file = led.and_then(|at| self.loaded.documents.get(at)).map(|it| it.file());
                let at = file.and_then(|file| position.get(&file).copied());
                own.extend(at);
                let Some(namespace) = &import.namespace else { continue };
                let is_whole = self.loaded.extent == DefinitionsExtent::Repository;
                let beside = of_namespace.get(&*namespace.text).filter(|_| is_whole);
                own.extend(beside.into_iter().flatten());
                if at.is_none() && beside.is_none() {
                    open.insert(namespace.text.to_string());
                }
            }
            imports.push(own);
            unread.push(open);
        }
        (self.imports, self.unread) = (imports, unread);
    }

    /// The ids of all components.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ComponentId> + use<> {
        (0..u32::try_from(self.components.len()).unwrap_or(u32::MAX)).map(ComponentId)
    }

    /// The component with this id.
    pub(crate) fn component(&self, id: ComponentId) -> &DefinedComponent<'d> {
        let (document, position) = self.components[id.0 as usize];
        &self.documents[document].components[position]
    }

    /// The content of the component with this id, to change the names in it.
    pub(crate) fn content_mut(&mut self, id: ComponentId) -> &mut ComponentContent<'d> {
        let (document, position) = self.components[id.0 as usize];
        &mut self.documents[document].components[position].content
    }

    /// The position of the document that defines a component.
    pub(crate) fn document(&self, id: ComponentId) -> usize {
        self.components[id.0 as usize].0
    }

    /// The content of a component, if it is a type.
    pub(crate) fn entity_type(&self, id: ComponentId) -> Option<&EntityType<'d>> {
        match &self.component(id).content {
            ComponentContent::Type(said) => Some(said),
            _ => None,
        }
    }

    /// The content of a component, if it is an implementation.
    pub(crate) fn implementation(&self, id: ComponentId) -> Option<&TypeImplementation<'d>> {
        match &self.component(id).content {
            ComponentContent::Implementation(said) => Some(said),
            _ => None,
        }
    }

    /// Looks up the name of a component of a kind in a document (statements Q1 and Q2).
    pub(crate) fn find(
        &self,
        kind: ComponentKind,
        document: usize,
        name: &ComponentName<'_>,
    ) -> FoundComponent {
        let Some(namespace) = &name.namespace else { return FoundComponent::Elsewhere };
        let find = |namespace: &str| {
            let key = (kind, Cow::Borrowed(namespace), Cow::Borrowed(&*name.local));
            self.by_name.get(&key).copied()
        };
        if let Some(id) = find(namespace) {
            return FoundComponent::Known(id);
        }
        let own = self.documents.get(document).map(|it| &*it.target_namespace).unwrap_or_default();
        if !name.has_prefix
            && let Some(id) = find(own)
        {
            return FoundComponent::Unprefixed(id);
        }
        match self.is_unread(document, namespace) {
            true => FoundComponent::Elsewhere,
            false => FoundComponent::Nothing,
        }
    }

    /// Whether a document imports a namespace without a document that was read.
    pub(crate) fn is_unread(&self, document: usize, namespace: &str) -> bool {
        self.unread.get(document).is_some_and(|unread| unread.contains(namespace))
    }

    /// Whether a document may use a component: it is its own, or one of a document that it imports
    /// directly.
    pub(crate) fn is_visible(&self, document: usize, id: ComponentId) -> bool {
        let other = self.document(id);
        document == other || self.imports.get(document).is_some_and(|own| own.contains(&other))
    }

    /// All components of a kind, with their names and namespaces.
    pub(crate) fn names(&self, kind: ComponentKind) -> impl Iterator<Item = &DefinedComponent<'d>> {
        self.ids().map(|id| self.component(id)).filter(move |component| component.kind == kind)
    }

    fn parent_of(&self, id: ComponentId) -> Option<ComponentId> {
        let component = self.component(id);
        let name = match &component.content {
            ComponentContent::Type(said) => said.derived_from.as_ref(),
            ComponentContent::Implementation(said) => said.derived_from.as_ref(),
            ComponentContent::Template(_) | ComponentContent::Service(_) => None,
        };
        self.find(component.kind, self.document(id), name?).id()
    }

    /// The component that this one derives from directly.
    pub(crate) fn parent(&self, id: ComponentId) -> Option<ComponentId> {
        self.parents.get(id.0 as usize).copied().flatten()
    }

    /// The component and its ancestors, the nearest first. Each occurs once, even in a cycle.
    pub(crate) fn ancestry(&self, id: ComponentId) -> impl Iterator<Item = ComponentId> {
        let mut seen = FxHashSet::default();
        let parents = std::iter::successors(self.parent(id), |id| self.parent(*id));
        let new = parents.take_while(move |parent| *parent != id && seen.insert(*parent));
        std::iter::once(id).chain(new)
    }

    /// The requirements or capabilities that a node type defines or inherits, each with the type
    /// that defines it. The nearest come first, and overridden ones are included.
    pub(crate) fn features(
        &self,
        id: ComponentId,
        kind: FeatureKind,
    ) -> impl Iterator<Item = (ComponentId, &FeatureDefinition<'d>)> {
        let said = self.ancestry(id).filter_map(|owner| Some((owner, self.entity_type(owner)?)));
        said.flat_map(move |(owner, said)| said.features(kind).iter().map(move |it| (owner, it)))
    }

    /// The requirements or capabilities without overridden ones: of each name the nearest.
    pub(crate) fn effective_features(
        &self,
        id: ComponentId,
        kind: FeatureKind,
    ) -> impl Iterator<Item = (ComponentId, &FeatureDefinition<'d>)> {
        let mut seen = FxHashSet::default();
        self.features(id, kind).filter(move |(_, feature)| seen.insert(&*feature.name.text))
    }

    /// Whether the components are the same, or `one` derives from `other`.
    pub(crate) fn derives(&self, one: ComponentId, other: ComponentId) -> bool {
        self.ancestry(one).any(|id| id == other)
    }

    /// Whether all ancestors of the component are known.
    pub(crate) fn is_whole(&self, id: ComponentId) -> bool {
        let Some(last) = self.ancestry(id).last() else { return true };
        match &self.component(last).content {
            ComponentContent::Type(said) => said.derived_from.is_none(),
            ComponentContent::Implementation(said) => said.derived_from.is_none(),
            _ => true,
        }
    }
}
