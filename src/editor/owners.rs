//! Says what has the parts that are named at a place: types, capabilities, interfaces and values.

use super::TemplateAnalysis;
use super::grammar::{MemberKind, NameFamily, NamedSubject};
use super::walk::{HolderKind, NameHolder, TypedEntity};
use crate::diagnostic::Diagnostics;
use crate::tosca::value::{Primitive, Schema};
use crate::tosca::{
    EffectiveCapability, EffectiveInterface, Family, Part, Parts, PropertyDefinition,
    RequirementDefinition, TypeId, TypeRef, Types,
};
use cuvee_text::source::FileId;
use cuvee_text::yaml::{Node, NodeKind};
use rustc_hash::FxHashMap;

/// How many templates are followed that are copies of each other.
const COPIES: usize = 16;

/// The elements of all topologies by their names.
pub(super) type NamedElements<'a> = FxHashMap<NameFamily, FxHashMap<&'a str, Vec<Node<'a>>>>;

/// What has parts with names.
#[derive(Clone)]
pub(super) enum Owner<'x> {
    Type(TypeId),
    Capability(&'x EffectiveCapability<'x>),
    Interface(&'x EffectiveInterface<'x>),
    Value(ValueKind<'x>),
}

/// The values that something takes: those of a data type, and what is in them.
#[derive(Clone, Default)]
pub(super) struct ValueKind<'x> {
    data: Option<TypeId>,
    entry: Option<Box<Schema<'x>>>,
}

/// All that has the parts which are named at a place.
#[derive(Clone, Default)]
pub(super) struct Owners<'x> {
    pub all: Vec<Owner<'x>>,
    /// Whether there may be others that are not known.
    pub is_open: bool,
}

/// A part of a type, as it is first defined.
#[derive(Clone, Copy)]
pub(crate) struct DefinedMember<'x> {
    pub kind: MemberKind,
    /// The key that first defines it.
    pub key: Node<'x>,
    /// What is below that key.
    pub body: Node<'x>,
    /// The type that first defines it.
    pub owner: TypeId,
}

impl<'x> DefinedMember<'x> {
    fn of<T>(kind: MemberKind, part: &Part<'x, T>) -> Self {
        let mut first = part;
        while let Some(refined) = &first.refines {
            first = refined;
        }
        Self { kind, key: first.named.key, body: first.named.value, owner: first.owner }
    }

    /// The name of the part's own type, as its first definition has it.
    pub(super) fn type_name(self) -> Option<&'x str> {
        self.body.get("type")?.as_str()
    }
}

impl<'x> Owners<'x> {
    pub(super) fn unknown() -> Self {
        Self { all: Vec::new(), is_open: true }
    }

    fn one(owner: Owner<'x>) -> Self {
        Self { all: vec![owner], is_open: false }
    }

    pub(super) fn and(mut self, mut other: Self) -> Self {
        self.all.append(&mut other.all);
        self.is_open |= other.is_open;
        self
    }

    /// Those of all of these; unknown where there is none.
    fn of(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().reduce(Self::and).unwrap_or_else(Self::unknown)
    }
}

/// The types that names in a file mean.
#[derive(Clone, Copy)]
pub(super) struct TypeScope<'s, 'a> {
    pub analysis: &'s TemplateAnalysis<'a>,
    pub types: &'a Types<'a>,
    pub file: Option<FileId>,
}

impl<'a> TemplateAnalysis<'a> {
    /// The types that names in a file mean.
    pub(super) fn scope(&self, file: Option<FileId>) -> Option<TypeScope<'_, 'a>> {
        Some(TypeScope { analysis: self, types: self.types?, file })
    }

    fn elements(&self) -> &NamedElements<'a> {
        self.elements.get_or_init(|| {
            let mut found = NamedElements::default();
            let topologies =
                self.documents.iter().filter_map(|it| it.root().get("topology_template"));
            for topology in topologies {
                for (section, family) in SECTIONS {
                    let Some(section) = topology.get(section) else { continue };
                    let of_family = found.entry(family).or_default();
                    for (key, body) in
                        section.entries().chain(section.items().flat_map(Node::entries))
                    {
                        of_family.entry(key.text().unwrap_or_default()).or_default().push(body);
                    }
                }
            }
            found
        })
    }
}

const SECTIONS: [(&str, NameFamily); 5] = [
    ("inputs", NameFamily::Input),
    ("node_templates", NameFamily::Node),
    ("relationship_templates", NameFamily::Relationship),
    ("groups", NameFamily::Group),
    ("policies", NameFamily::Policy),
];

impl<'s, 'a> TypeScope<'s, 'a> {
    fn find(&self, family: Family, name: &str) -> Option<TypeId> {
        self.types.find_in(self.file, family, name)
    }

    /// The type that a name in a definition means.
    fn defined(&self, family: Family, name: Option<Node<'_>>) -> Option<TypeId> {
        self.types.find_in(Some(name?.span().file), family, name?.text()?)
    }

    /// What has the parts that are named in something.
    pub(super) fn owners<'x>(&self, holder: Option<&NameHolder<'_, 'x>>) -> Owners<'x>
    where
        'a: 'x,
    {
        let Some(holder) = holder else { return Owners::unknown() };
        match holder.kind {
            HolderKind::Entity(entity) => self.of_entity(entity, holder.of),
            HolderKind::Part(kind, name, body) => self.of_part((kind, name, body), holder),
            HolderKind::Named(families, name) => self.named(families, name),
            HolderKind::Type(family, name) => self.of_type_named(family, name.text()),
            HolderKind::Subject(subject, map) => self.of_subject(subject, map, holder),
            HolderKind::Schema(body) => {
                let around = self.owners(holder.of);
                let is_value = |owner: &Owner<'_>| matches!(owner, Owner::Value(_));
                match around.all.is_empty() || !around.all.iter().all(is_value) {
                    true => self.value(&Schema::read(body, &mut Diagnostics::default())),
                    false => around,
                }
            }
            HolderKind::Within(key) => {
                let around = self.owners(holder.of);
                let inner = around.all.iter().map(|owner| self.within(owner, key));
                let inner = Owners::of(inner);
                Owners { is_open: inner.is_open || around.is_open, ..inner }
            }
            // What steps of a path name depends on all of it.
            HolderKind::Path(_) => Owners::unknown(),
        }
    }

    fn of_type<'x>(&self, id: TypeId) -> Owners<'x> {
        Owners { all: vec![Owner::Type(id)], is_open: self.types.effective(id).is_open }
    }

    fn of_type_named<'x>(&self, family: Family, name: Option<&str>) -> Owners<'x> {
        let id = name.and_then(|name| self.find(family, name));
        id.map_or_else(Owners::unknown, |id| self.of_type(id))
    }

    /// The types of an element: alternatives, and those of what it is a copy of.
    fn of_entity<'x>(
        &self,
        entity: TypedEntity<'x>,
        around: Option<&NameHolder<'_, 'x>>,
    ) -> Owners<'x>
    where
        'a: 'x,
    {
        let TypedEntity { family, body, defines } = entity;
        if let Some(name) = defines {
            return self.of_type_named(family, name.text());
        }
        if let Some(types) = self.said_types(family, body) {
            return types;
        }
        match around.map(|around| (around, around.kind)) {
            Some((around, HolderKind::Part(MemberKind::Requirement, name, _))) => {
                self.relationships_of(&self.owners(around.of), name)
            }
            Some((around, HolderKind::Part(MemberKind::Artifact, name, _))) => {
                self.artifact_types(&self.owners(around.of), name)
            }
            _ => Owners::unknown(),
        }
    }

    /// The types that the body of an element says that it has.
    fn said_types<'x>(&self, family: Family, body: Node<'_>) -> Option<Owners<'x>> {
        let mut body = body;
        for _ in 0..COPIES {
            if let Some(said) = body.get("type").or_else(|| body.get("node_type")) {
                let items = said.items().chain((said.kind() != NodeKind::Sequence).then_some(said));
                let names = items.flat_map(|one| {
                    one.entries().map(|(key, _)| key.text()).chain([one.text()]).flatten()
                });
                return Some(Owners::of(names.map(|name| self.of_type_named(family, Some(name)))));
            }
            let of =
                if family == Family::Node { NameFamily::Node } else { NameFamily::Relationship };
            body = *self.bodies(of, body.get("copy")?.text()?).first()?;
        }
        None
    }

    /// The bodies of the elements with a name.
    pub(super) fn bodies(&self, family: NameFamily, name: &str) -> &'s [Node<'a>] {
        let of_family = self.analysis.elements().get(&family);
        of_family.and_then(|all| all.get(name)).map_or(&[], Vec::as_slice)
    }

    /// The types of all elements with a name; of a group, also those of its members.
    pub(super) fn named<'x>(&self, families: &[NameFamily], name: &str) -> Owners<'x> {
        let mut found = Vec::new();
        for &family in families {
            let of = match family {
                NameFamily::Node => Family::Node,
                NameFamily::Relationship => Family::Relationship,
                NameFamily::Group => Family::Group,
                NameFamily::Policy => Family::Policy,
                _ => continue,
            };
            let said = |body: &Node<'a>| self.said_types(of, *body).unwrap_or_else(Owners::unknown);
            found.extend(self.bodies(family, name).iter().map(said));
        }
        Owners::of(found)
    }

    fn members<'x>(&self, group: &str) -> Owners<'x> {
        let members = self.bodies(NameFamily::Group, group).iter();
        let members = members.filter_map(|body| body.get("members")).flat_map(Node::items);
        let named =
            members.map(|it| self.named(&[NameFamily::Node], it.text().unwrap_or_default()));
        named.fold(self.named(&[NameFamily::Group], group), Owners::and)
    }

    /// A node or a group with its members.
    fn target<'x>(&self, name: Option<Node<'_>>) -> Owners<'x> {
        let Some(name) = name.and_then(first_name) else { return Owners::unknown() };
        match self.bodies(NameFamily::Group, name).is_empty() {
            true => self.named(&[NameFamily::Node], name),
            false => self.members(name),
        }
    }

    // Parts that have parts.

    fn of_part<'x>(
        &self,
        (kind, name, body): (MemberKind, &'x str, Option<Node<'x>>),
        holder: &NameHolder<'_, 'x>,
    ) -> Owners<'x>
    where
        'a: 'x,
    {
        let around = self.owners(holder.of);
        let found = match kind {
            MemberKind::Requirement => match holder.of.map(|of| of.kind) {
                Some(HolderKind::Named(_, node)) => self.relationships_of_node(&around, node, name),
                _ => self.relationships_of(&around, name),
            },
            MemberKind::Artifact => match holder.of.map(|of| of.kind) {
                Some(HolderKind::Named(_, node)) => self.assigned_artifacts(&around, node, name),
                _ => self.artifact_types(&around, name),
            },
            MemberKind::Interface => {
                Owners::of(around.all.iter().map(|owner| self.interface(owner, name, body)))
            }
            MemberKind::Operation => Owners::unknown(),
            _ => Owners::of(around.all.iter().map(|owner| self.inner(owner, kind, name))),
        };
        Owners { is_open: found.is_open || around.is_open, ..found }
    }

    /// What is in a capability, or in the values of a property or an attribute.
    pub(super) fn inner<'x>(&self, owner: &Owner<'x>, kind: MemberKind, name: &str) -> Owners<'x>
    where
        'a: 'x,
    {
        let properties = |all: &Parts<'x, PropertyDefinition<'x>>| {
            all.get(name).map(|part| self.value(&part.definition.schema))
        };
        let found = match (kind, owner) {
            (MemberKind::Capability, Owner::Type(id)) => {
                let part = self.types.effective(*id).capabilities.get(name);
                let own = part.map(|part| {
                    let is_open = part.definition.is_open;
                    Owners { is_open, ..Owners::one(Owner::Capability(&part.definition)) }
                });
                // A filter may name a type instead.
                own.or_else(|| self.find(Family::Capability, name).map(|id| self.of_type(id)))
            }
            (MemberKind::Property, Owner::Type(id)) => {
                properties(&self.types.effective(*id).properties)
            }
            (MemberKind::Attribute, Owner::Type(id)) => {
                let effective = self.types.effective(*id);
                properties(&effective.attributes).or_else(|| properties(&effective.properties))
            }
            (MemberKind::Property, Owner::Capability(capability)) => {
                properties(&capability.properties)
            }
            (MemberKind::Attribute, Owner::Capability(capability)) => {
                properties(&capability.attributes).or_else(|| properties(&capability.properties))
            }
            (_, Owner::Value(_)) => Some(self.within(owner, Some(name))),
            _ => None,
        };
        found.unwrap_or_default()
    }

    /// The interface of a name, or that of the type of this name; all where there is no name.
    pub(super) fn interface<'x>(
        &self,
        owner: &Owner<'x>,
        name: &str,
        body: Option<Node<'_>>,
    ) -> Owners<'x>
    where
        'a: 'x,
    {
        let Owner::Type(id) = owner else { return Owners::default() };
        let all = &self.types.effective(*id).interfaces;
        let of = |definition: &'a EffectiveInterface<'a>| Owners {
            is_open: definition.is_open,
            ..Owners::one(Owner::Interface(definition))
        };
        if name.is_empty() {
            return all
                .values()
                .map(|part| of(&part.definition))
                .fold(Owners::default(), Owners::and);
        }
        if let Some(part) = all.get(name) {
            return of(&part.definition);
        }
        let said = body.and_then(|body| body.get("type")?.text());
        let Some(kind) = self.find(Family::Interface, said.unwrap_or(name)) else {
            return Owners { is_open: self.types.effective(*id).is_open, ..Owners::default() };
        };
        let is_it = |it: &&'a EffectiveInterface<'a>| {
            let own = self.defined(Family::Interface, it.kind);
            own.is_some_and(|own| self.types.chain(own).any(|one| one == kind))
        };
        let mut known = all.values().map(|part| &part.definition).filter(is_it);
        known.next().map_or_else(|| of(&self.types.effective(kind).interface), of)
    }

    /// The interfaces of a type.
    pub(super) fn interfaces_of(
        &self,
        owner: &Owner<'_>,
    ) -> impl Iterator<Item = (&'a str, &'a EffectiveInterface<'a>)> + use<'a> {
        let all = match owner {
            Owner::Type(id) => Some(&self.types.effective(*id).interfaces),
            _ => None,
        };
        all.into_iter().flat_map(|all| all.iter()).map(|(name, part)| (*name, &part.definition))
    }

    fn artifact_types<'x>(&self, of: &Owners<'x>, name: &str) -> Owners<'x> {
        let kind = |owner: &Owner<'_>| match owner {
            Owner::Type(id) => {
                let part = self.types.effective(*id).artifacts.get(name)?;
                self.defined(Family::Artifact, part.definition.kind)
            }
            _ => None,
        };
        let known = of.all.iter().map(|owner| kind(owner).map(|id| self.of_type(id)));
        Owners::of(known.map(Option::unwrap_or_default))
    }

    fn assigned_artifacts<'x>(&self, of: &Owners<'x>, node: &str, name: &str) -> Owners<'x> {
        let own = self.assigned((&[NameFamily::Node], node), "artifacts", name).into_iter();
        let said = own.filter_map(|(_, body)| self.said_types(Family::Artifact, body));
        said.fold(self.artifact_types(of, name), Owners::and)
    }

    // Requirements.

    /// The definitions of a requirement by the types that have it.
    pub(super) fn requirements(
        &self,
        of: &Owners<'_>,
        name: &str,
    ) -> Vec<&'a RequirementDefinition<'a>> {
        let definition = |owner: &Owner<'_>| match owner {
            Owner::Type(id) => Some(&self.types.effective(*id).requirements.get(name)?.definition),
            _ => None,
        };
        of.all.iter().filter_map(definition).collect()
    }

    /// The relationships of a requirement, as types define it.
    pub(super) fn relationships_of<'x>(&self, of: &Owners<'_>, name: &str) -> Owners<'x> {
        let definitions = self.requirements(of, name).into_iter();
        let kind =
            |it: &RequirementDefinition<'_>| self.defined(Family::Relationship, it.relationship);
        let known =
            definitions.map(|it| kind(it).map_or_else(Owners::unknown, |id| self.of_type(id)));
        Owners::of(known)
    }

    /// What elements of a name assign by a name or a position, each with its name.
    fn assigned(
        &self,
        (families, node): (&[NameFamily], &str),
        section: &str,
        name: &str,
    ) -> Vec<(&'a str, Node<'a>)> {
        let position = name.parse::<usize>().ok();
        let bodies = families.iter().flat_map(|family| self.bodies(*family, node));
        let all = bodies.filter_map(|body| body.get(section));
        let chosen = all.flat_map(|all| {
            let entries = all.entries().chain(all.items().flat_map(Node::entries)).enumerate();
            entries.filter(move |(at, (key, _))| Some(*at) == position || key.text() == Some(name))
        });
        chosen.map(|(_, (key, body))| (key.text().unwrap_or_default(), body)).collect()
    }

    /// The relationships of a requirement of a node, by its name or its position.
    fn relationships_of_node<'x>(&self, of: &Owners<'_>, node: &str, name: &str) -> Owners<'x> {
        let assigned = self.assigned((&[NameFamily::Node], node), "requirements", name);
        let known = assigned.iter().map(|(name, it)| self.assigned_relationships(of, &[*it], name));
        known.reduce(Owners::and).unwrap_or_else(|| self.relationships_of(of, name))
    }

    /// The relationships of a requirement with these assignments.
    pub(super) fn assigned_relationships<'x>(
        &self,
        of: &Owners<'_>,
        assignments: &[Node<'_>],
        name: &str,
    ) -> Owners<'x> {
        let said = |assignment: &Node<'_>| {
            let said = assignment.get("relationship")?;
            let Some(text) = said.text() else {
                return self.said_types(Family::Relationship, said);
            };
            match self.bodies(NameFamily::Relationship, text).is_empty() {
                true => Some(self.of_type_named(Family::Relationship, Some(text))),
                false => Some(self.named(&[NameFamily::Relationship], text)),
            }
        };
        let defined = || self.relationships_of(of, name);
        let known = assignments.iter().map(|it| said(it).unwrap_or_else(defined));
        known.reduce(Owners::and).unwrap_or_else(defined)
    }

    /// The nodes that a requirement leads to: those that an assignment names, or those that its
    /// definition asks for.
    pub(super) fn targets<'x>(
        &self,
        of: &Owners<'_>,
        name: &str,
        assignment: Option<Node<'_>>,
    ) -> Owners<'x> {
        if let Some(said) = assignment.and_then(target_name) {
            return self.node_or_type(said);
        }
        let kind = |it: &RequirementDefinition<'_>| self.defined(Family::Node, it.node);
        let known = self.requirements(of, name).into_iter();
        Owners::of(known.map(|it| kind(it).map_or_else(Owners::unknown, |id| self.of_type(id))))
    }

    /// The capability that a requirement leads to: the one of the target that an assignment or the
    /// definition names, or those of the type that the definition asks for.
    pub(super) fn target_capability<'x>(
        &self,
        of: &Owners<'_>,
        (name, assignment): (&str, Option<Node<'_>>),
        target: &Owners<'x>,
    ) -> Owners<'x>
    where
        'a: 'x,
    {
        let definitions = self.requirements(of, name).into_iter();
        let defined: Vec<_> = definitions.filter_map(|it| it.capability).collect();
        let said = assignment.and_then(|body| body.get("capability"));
        let names = if said.is_some() { said.as_slice() } else { &defined };
        let found = names.iter().flat_map(|said| {
            let kind = self.defined(Family::Capability, Some(*said));
            target.all.iter().map(move |owner| {
                let own =
                    self.inner(owner, MemberKind::Capability, said.text().unwrap_or_default());
                let is_named = own.all.iter().any(|it| matches!(it, Owner::Capability(_)));
                if is_named { own } else { self.capabilities_of(owner, kind) }
            })
        });
        Owners::of(found).and(Owners { is_open: target.is_open, ..Owners::default() })
    }

    /// The capabilities of a node that have a type, or derive from it.
    fn capabilities_of<'x>(&self, owner: &Owner<'x>, kind: Option<TypeId>) -> Owners<'x>
    where
        'a: 'x,
    {
        let (Owner::Type(id), Some(kind)) = (owner, kind) else { return Owners::unknown() };
        let all = self.types.effective(*id).capabilities.values().map(|part| &part.definition);
        let fit = all.filter(|it| {
            let own = self.defined(Family::Capability, it.kind);
            own.is_none_or(|own| self.types.chain(own).any(|one| one == kind))
        });
        let fit =
            fit.map(|it| Owners { is_open: it.is_open, ..Owners::one(Owner::Capability(it)) });
        fit.reduce(Owners::and).unwrap_or_else(|| self.of_type(kind))
    }

    fn node_or_type<'x>(&self, name: &str) -> Owners<'x> {
        match self.bodies(NameFamily::Node, name).is_empty() {
            true => self.of_type_named(Family::Node, Some(name)),
            false => self.named(&[NameFamily::Node], name),
        }
    }

    // Subjects.

    fn of_subject<'x>(
        &self,
        subject: NamedSubject,
        map: Option<Node<'x>>,
        holder: &NameHolder<'_, 'x>,
    ) -> Owners<'x>
    where
        'a: 'x,
    {
        let said = |key: &str| map.and_then(|map| map.get(key));
        match subject {
            NamedSubject::Target => match holder.of.map(|of| (of, of.kind)) {
                Some((of, HolderKind::Part(MemberKind::Requirement, name, body))) => {
                    self.targets(&self.owners(of.of), name, body)
                }
                _ => Owners::unknown(),
            },
            NamedSubject::TargetCapability => match holder.of.map(|of| (of, of.kind)) {
                Some((of, HolderKind::Part(MemberKind::Requirement, name, body))) => {
                    let source = self.owners(of.of);
                    let target = self.targets(&source, name, body);
                    self.target_capability(&source, (name, body), &target)
                }
                _ => Owners::unknown(),
            },
            NamedSubject::StepNode => self.target(said("target")),
            NamedSubject::Step => match said("target_relationship").and_then(Node::text) {
                Some(name) => {
                    let node = said("target").and_then(first_name).unwrap_or_default();
                    let of = self.named(&[NameFamily::Node], node);
                    self.relationships_of_node(&of, node, name)
                }
                None => self.target(said("target")),
            },
            NamedSubject::SaidNode => said("node")
                .and_then(Node::text)
                .map_or_else(Owners::unknown, |it| self.node_or_type(it)),
            NamedSubject::FilteredTarget => self.filtered_target(map),
            NamedSubject::Trigger => match said("target_filter") {
                Some(filter) => {
                    let of = self.filtered_target(Some(filter));
                    let capability = filter.get("capability").and_then(Node::text);
                    let inner = capability.map(|name| {
                        let inner = |owner| self.inner(owner, MemberKind::Capability, name);
                        Owners::of(of.all.iter().map(inner))
                    });
                    inner.into_iter().fold(of.clone(), Owners::and)
                }
                None => {
                    let policy = holder.entity().filter(|entity| entity.defines.is_none());
                    let targets = policy.and_then(|policy| policy.body.get("targets"));
                    let targets = targets.into_iter().flat_map(Node::items);
                    Owners::of(targets.map(|target| self.target(Some(target))))
                }
            },
        }
    }

    fn filtered_target<'x>(&self, filter: Option<Node<'_>>) -> Owners<'x> {
        let said = |key: &str| filter.and_then(|filter| filter.get(key)?.text());
        let Some(node) = said("node") else { return Owners::unknown() };
        let of = self.node_or_type(node);
        let Some(requirement) = said("requirement") else { return of };
        let assigned = self.assigned((&[NameFamily::Node], node), "requirements", requirement);
        let known = assigned.into_iter().map(|(name, it)| self.targets(&of, name, Some(it)));
        known.reduce(Owners::and).unwrap_or_else(|| self.targets(&of, requirement, None))
    }

    // Values.

    /// What takes the values that a schema describes.
    pub(super) fn value<'x>(&self, schema: &Schema<'x>) -> Owners<'x>
    where
        'a: 'x,
    {
        let file = schema.file().filter(|file| *file != FileId::DETACHED).or(self.file);
        let data = self.types.find_in(file, Family::Data, schema.type_name);
        let own = schema.entry_schema.clone();
        let inherited = || {
            Some(Box::new((**self.types.effective(data?).schema.entry_schema.as_ref()?).clone()))
        };
        let entry = own.or_else(|| inherited().map(|it: Box<Schema<'a>>| it as Box<Schema<'x>>));
        let is_open = data.is_none() && Primitive::of_any_version(schema.type_name).is_none();
        Owners { all: vec![Owner::Value(ValueKind { data, entry })], is_open }
    }

    /// What is below a key of a value, or in an item of it.
    pub(super) fn within<'x>(&self, owner: &Owner<'x>, key: Option<&str>) -> Owners<'x>
    where
        'a: 'x,
    {
        let Owner::Value(ValueKind { data, entry }) = owner else { return Owners::unknown() };
        let has_properties = |id: &TypeId| self.types.primitive(TypeRef::Defined(*id)).is_none();
        match (data.filter(has_properties), key, entry) {
            (Some(id), Some(key), _) => {
                let effective = self.types.effective(id);
                match effective.properties.get(key) {
                    Some(part) => self.value(&part.definition.schema),
                    None => Owners { is_open: effective.is_open, ..Owners::default() },
                }
            }
            (None, _, Some(entry)) => self.value(entry),
            _ => Owners::unknown(),
        }
    }

    // Parts.

    /// The part of a kind and a name, as it is first defined. An attribute may be what a property
    /// is known by at run time, and what a capability adds may be in its type as well.
    pub(super) fn part<'x>(
        &self,
        owner: &Owner<'x>,
        kind: MemberKind,
        name: &str,
    ) -> Vec<DefinedMember<'x>>
    where
        'a: 'x,
    {
        macro_rules! in_any {
            ($kind:expr, $($parts:expr),*) => {
                [$($parts.get(name).map(|part| DefinedMember::of($kind, part))),*]
                    .into_iter().flatten().collect()
            };
        }
        use MemberKind::{
            Artifact, Attribute, Capability, Interface, Operation, Property, Requirement,
        };
        match owner {
            Owner::Type(id) => {
                let it = self.types.effective(*id);
                match kind {
                    Property => in_any!(Property, it.properties),
                    Attribute => {
                        let mut all: Vec<_> = in_any!(Attribute, it.attributes);
                        all.extend(self.part(owner, Property, name));
                        all
                    }
                    Capability => in_any!(Capability, it.capabilities),
                    Requirement => in_any!(Requirement, it.requirements),
                    Interface => in_any!(Interface, it.interfaces),
                    Artifact => in_any!(Artifact, it.artifacts),
                    Operation => {
                        in_any!(Operation, it.interface.operations, it.interface.notifications)
                    }
                }
            }
            Owner::Capability(it) => {
                let of_type = self.defined(Family::Capability, it.kind).map(Owner::Type);
                let mut all: Vec<_> = match kind {
                    Property => in_any!(Property, it.properties),
                    Attribute => {
                        let mut all: Vec<_> = in_any!(Attribute, it.attributes);
                        all.extend::<Vec<_>>(in_any!(Property, it.properties));
                        all
                    }
                    _ => Vec::new(),
                };
                all.extend(of_type.into_iter().flat_map(|it| self.part(&it, kind, name)));
                all
            }
            Owner::Interface(it) if kind == Operation => {
                let of_type = self.defined(Family::Interface, it.kind).map(Owner::Type);
                let mut all: Vec<_> = in_any!(Operation, it.operations, it.notifications);
                all.extend(of_type.into_iter().flat_map(|it| self.part(&it, kind, name)));
                all
            }
            Owner::Value(ValueKind { data: Some(id), .. }) if kind == Property => {
                self.part(&Owner::Type(*id), kind, name)
            }
            Owner::Interface(_) | Owner::Value(_) => Vec::new(),
        }
    }

    /// The names of the parts of a kind.
    pub(super) fn names_of<'x>(&self, owner: &Owner<'x>, kind: MemberKind) -> Vec<&'x str>
    where
        'a: 'x,
    {
        macro_rules! names {
            ($($parts:expr),*) => { [].into_iter()$(.chain($parts.keys().copied()))*.collect() };
        }
        match (owner, kind) {
            (Owner::Type(id), kind) => {
                let it = self.types.effective(*id);
                match kind {
                    MemberKind::Property => names!(it.properties),
                    MemberKind::Attribute => names!(it.attributes, it.properties),
                    MemberKind::Capability => names!(it.capabilities),
                    MemberKind::Requirement => names!(it.requirements),
                    MemberKind::Interface => names!(it.interfaces),
                    MemberKind::Artifact => names!(it.artifacts),
                    MemberKind::Operation => {
                        names!(it.interface.operations, it.interface.notifications)
                    }
                }
            }
            (Owner::Capability(it), MemberKind::Property) => names!(it.properties),
            (Owner::Capability(it), MemberKind::Attribute) => names!(it.attributes, it.properties),
            (Owner::Interface(it), MemberKind::Operation) => {
                names!(it.operations, it.notifications)
            }
            (Owner::Value(ValueKind { data: Some(id), .. }), MemberKind::Property) => {
                self.names_of(&Owner::Type(*id), kind)
            }
            _ => Vec::new(),
        }
    }
}

/// The name of the target of a requirement. In TOSCA 2.0, an index may stand behind it.
pub(super) fn target_name(assignment: Node<'_>) -> Option<&str> {
    first_name(assignment).or_else(|| first_name(assignment.get("node")?))
}

/// A name, or the first one of a list.
fn first_name(node: Node<'_>) -> Option<&str> {
    node.text().or_else(|| node.items().next()?.text())
}

/// What nodes assign to a requirement.
pub(super) fn assigned_below<'n>(nodes: &[Node<'n>], name: &str) -> Vec<Node<'n>> {
    let all = nodes.iter().filter_map(|body| body.get("requirements"));
    let entries = all.flat_map(|all| all.entries().chain(all.items().flat_map(Node::entries)));
    entries.filter(|(key, _)| key.text() == Some(name)).map(|(_, body)| body).collect()
}

/// The element that a holder is, if it is one that values belong to.
pub(super) fn element(kind: HolderKind<'_>) -> Option<TypedEntity<'_>> {
    match kind {
        HolderKind::Entity(entity) => Some(entity).filter(|it| {
            matches!(
                it.family,
                Family::Node | Family::Relationship | Family::Group | Family::Policy
            )
        }),
        _ => None,
    }
}
