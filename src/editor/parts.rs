//! Says which parts of types a word names.

use super::grammar::{MemberKind, NameFamily, NamedSubject};
use super::owners::{DefinedMember, Owner, Owners, TypeScope, assigned_below, element};
use super::path::{StepPlace, is_path_of_2_0};
use super::walk::{
    HolderKind, NameHolder, PathCall, PathKind, TypedEntity, Word, WordRole, member_of,
};
use crate::diagnostic::Diagnostics;
use crate::tosca::Family;
use crate::tosca::value::Schema;
use crate::variability::graph::{NodeElement, NodeId};
use cuvee_text::yaml::{Node, NodeKind};

/// Stands for every name; no name has this character.
const ANY: &str = "\0";

/// How many hosts are looked at one behind the other.
const HOSTS: usize = 64;

/// The parts that a word may name.
#[derive(Default)]
pub(super) struct WordMeaning<'x> {
    pub parts: Vec<DefinedMember<'x>>,
    /// Whether it may also be a part of something that is not known.
    pub is_open: bool,
}

impl<'x> WordMeaning<'x> {
    fn unknown() -> Self {
        Self { parts: Vec::new(), is_open: true }
    }

    fn and(mut self, mut other: Self) -> Self {
        self.parts.append(&mut other.parts);
        self.is_open |= other.is_open;
        self
    }
}

impl<'a> TypeScope<'_, 'a> {
    /// The parts that a word names, or would name if it were this name.
    pub(super) fn meaning<'x>(&self, word: &Word<'_, 'x>, name: &str) -> WordMeaning<'x>
    where
        'a: 'x,
    {
        match word.role {
            WordRole::Defines(NameFamily::Member(kind)) => {
                self.parts(&self.owners(word.holder), kind, name)
            }
            WordRole::Names(families) => {
                let Some(kind) = member_of(families) else { return WordMeaning::default() };
                self.parts(&self.owners(word.holder), kind, name)
            }
            WordRole::Entry => self.parts(&self.owners(word.holder), MemberKind::Property, name),
            WordRole::Step => match word.holder.map(|holder| (holder.kind, holder.of)) {
                Some((HolderKind::Path(call), around)) => self.step(call, around, name, 0),
                _ => WordMeaning::unknown(),
            },
            WordRole::Implementation => {
                let around = word.holder.and_then(|holder| {
                    let is_element = |it: &&NameHolder<'_, 'x>| element(it.kind).is_some();
                    holder.outwards().find(is_element)
                });
                let owners = around.map_or_else(Owners::unknown, |it| self.owners(Some(it)));
                self.parts(&owners, MemberKind::Artifact, name)
            }
            WordRole::Unknown => WordMeaning::unknown(),
            _ => WordMeaning::default(),
        }
    }

    /// The parts that a step of a path may name: those from which the next step leads on.
    pub(super) fn steps<'x>(&self, word: &Word<'_, 'x>) -> Vec<DefinedMember<'x>>
    where
        'a: 'x,
    {
        let Some((HolderKind::Path(call), around)) = word.holder.map(|it| (it.kind, it.of)) else {
            return Vec::new();
        };
        let mut parts = self.step(call, around, ANY, 0).parts;
        parts.retain(|part| {
            let next = self.step(call, around, part.key.text().unwrap_or_default(), 1);
            next.is_open || !next.parts.is_empty()
        });
        parts
    }

    /// The words that a step of a path of TOSCA 2.0 may be, from which the next step leads on.
    pub(super) fn words<'x>(&self, word: &Word<'_, 'x>) -> Vec<&'static str>
    where
        'a: 'x,
    {
        match word.holder.map(|it| (it.kind, it.of)) {
            Some((HolderKind::Path(call), around)) if is_path_of_2_0(&call) => {
                self.path_place(call.kind, (&names_of(call), call.at), around).words
            }
            _ => Vec::new(),
        }
    }

    /// The parts with which a word would share a name if it were this one: those that it would
    /// name, and of a property also attributes, since a property is known as an attribute, too.
    pub(super) fn namesakes<'x>(&self, word: &Word<'_, 'x>, name: &str) -> WordMeaning<'x>
    where
        'a: 'x,
    {
        let is_property = match word.role {
            WordRole::Defines(family) => family == NameFamily::Member(MemberKind::Property),
            WordRole::Names(families) => member_of(families) == Some(MemberKind::Property),
            _ => false,
        };
        match is_property {
            true => self.parts(&self.owners(word.holder), MemberKind::Attribute, name),
            false => self.meaning(word, name),
        }
    }

    /// The parts of a kind and a name.
    fn parts<'x>(&self, owners: &Owners<'x>, kind: MemberKind, name: &str) -> WordMeaning<'x>
    where
        'a: 'x,
    {
        let parts = owners.all.iter().flat_map(|owner| {
            let names = if name == ANY { self.names_of(owner, kind) } else { vec![name] };
            names.into_iter().flat_map(|name| self.part(owner, kind, name))
        });
        WordMeaning { parts: parts.collect(), is_open: owners.is_open }
    }

    // Paths.

    /// The parts that a step of a path would name if it were this name, or one so many steps behind
    /// it.
    fn step<'x>(
        &self,
        call: PathCall<'x>,
        around: Option<&NameHolder<'_, 'x>>,
        name: &str,
        behind: usize,
    ) -> WordMeaning<'x>
    where
        'a: 'x,
    {
        let (mut names, at) = (names_of(call), call.at);
        if let Some(step) = names.get_mut(at) {
            *step = name;
        }
        let at = at + behind;
        if at >= names.len() {
            return WordMeaning::unknown();
        }
        if is_path_of_2_0(&call) {
            let StepPlace { words, parts } = self.path_place(call.kind, (&names, at), around);
            let name = names.get(at).copied().filter(|name| !words.contains(name));
            let Some((owners, kind)) = parts else { return WordMeaning::default() };
            return name.map_or_else(WordMeaning::default, |it| self.parts(&owners, kind, it));
        }
        let Some((first, steps)) = names.split_first() else { return WordMeaning::default() };
        let at = at.saturating_sub(1);
        let own = around.and_then(|it| it.outwards().find_map(|it| element(it.kind)));
        let own: Vec<_> =
            own.filter(|it| it.defines.is_none()).map(|it| it.body).into_iter().collect();
        let bodies = match *first {
            "SELF" => &own,
            "SOURCE" | "TARGET" => &[][..],
            name => self.bodies(NameFamily::Node, name),
        };
        let path = NamedPath { kind: call.kind, steps, at, bodies };
        if call.kind == PathKind::Input {
            return self.in_owners(&self.input(first), path);
        }
        if *first == "HOST" {
            return self.of_hosts(around, path);
        }
        self.in_owners(&self.element(first, around), path)
    }

    /// The values of an input.
    fn input<'x>(&self, name: &str) -> Owners<'x>
    where
        'a: 'x,
    {
        let bodies = self.bodies(NameFamily::Input, name).iter();
        let value = |body: &Node<'a>| {
            let schema = Schema::read(*body, &mut Diagnostics::default());
            self.value(&schema)
        };
        bodies.map(value).reduce(Owners::and).unwrap_or_else(Owners::unknown)
    }

    /// The element that a name in a path means, or a word for what is around it.
    pub(super) fn element<'x>(&self, name: &str, around: Option<&NameHolder<'_, 'x>>) -> Owners<'x>
    where
        'a: 'x,
    {
        let outwards = || around.into_iter().flat_map(|around| around.outwards());
        let filtered = || {
            let is_filter = |it: &&NameHolder<'_, 'x>| {
                matches!(it.kind, HolderKind::Subject(NamedSubject::Target, _))
            };
            outwards().take_while(|it| element(it.kind).is_none()).find(is_filter)
        };
        let own = || outwards().find(|it| element(it.kind).is_some());
        match (name, filtered()) {
            ("TARGET", Some(filter)) => self.owners(Some(filter)),
            // There it is the relationship, or the node that is looked for.
            ("SELF", Some(filter)) => {
                let requirement = filter.of.and_then(|it| self.relationship_around(it));
                requirement.into_iter().fold(self.owners(Some(filter)), Owners::and)
            }
            ("SOURCE", Some(_)) | ("SELF", None) => {
                own().map_or_else(Owners::unknown, |it| self.owners(Some(it)))
            }
            ("SOURCE" | "TARGET", None) => {
                own().map_or_else(Owners::unknown, |it| self.end(name == "TARGET", it))
            }
            _ => self.named(&[NameFamily::Node, NameFamily::Relationship, NameFamily::Group], name),
        }
    }

    fn relationship_around<'x>(&self, requirement: &NameHolder<'_, 'x>) -> Option<Owners<'x>>
    where
        'a: 'x,
    {
        let HolderKind::Part(MemberKind::Requirement, name, body) = requirement.kind else {
            return None;
        };
        let of = self.owners(requirement.of);
        let assignment = body.filter(|_| requirement.of.is_some_and(|it| !is_definition(it.kind)));
        Some(self.assigned_relationships(&of, assignment.as_slice(), name))
    }

    /// The nodes at an end of a relationship.
    pub(super) fn end<'x>(&self, is_target: bool, relationship: &NameHolder<'_, 'x>) -> Owners<'x>
    where
        'a: 'x,
    {
        let Some(entity) = element(relationship.kind) else { return Owners::unknown() };
        if entity.family != Family::Relationship || entity.defines.is_some() {
            return Owners::unknown();
        }
        let of_requirement = |requirement: &NameHolder<'_, 'x>| match requirement.kind {
            HolderKind::Part(MemberKind::Requirement, name, body) => {
                let source = self.owners(requirement.of);
                Some(if is_target { self.targets(&source, name, body) } else { source })
            }
            _ => None,
        };
        let found = relationship.of.and_then(of_requirement);
        found.unwrap_or_else(|| self.ends_of_template(entity.body, is_target))
    }

    /// The nodes at an end of a template: it stands for the relationships of all requirements that
    /// name it.
    pub(super) fn ends_of_template<'x>(&self, template: Node<'_>, is_target: bool) -> Owners<'x>
    where
        'a: 'x,
    {
        let Some(prepared) = self.analysis.prepared else { return Owners::unknown() };
        let graph = &prepared.graph;
        let uses = graph.relations.iter().filter(|relation| {
            relation.relationship.is_some_and(|it| it.declared.value().ptr_eq(template))
        });
        let node = |name: &str| self.named(&[NameFamily::Node], name);
        let ends = uses.map(|relation| {
            let source = node(graph.element(graph.node(relation.source).id).name);
            let name = graph.element(relation.id).name;
            let assignment = Some(relation.requirement.declared.value());
            if is_target { self.targets(&source, name, assignment) } else { source }
        });
        ends.reduce(Owners::and).unwrap_or_else(Owners::unknown)
    }

    fn node_of(&self, entity: TypedEntity<'_>) -> Option<NodeId> {
        let graph = &self.analysis.prepared?.graph;
        let is_it = |node: &NodeElement<'_>| node.template.declared.value().ptr_eq(entity.body);
        Some(NodeId(u32::try_from(graph.nodes.iter().position(is_it)?).ok()?))
    }

    /// What a path means in the nearest hosts of a node in which it means something.
    fn of_hosts<'x>(
        &self,
        around: Option<&NameHolder<'_, 'x>>,
        path: NamedPath<'_, '_>,
    ) -> WordMeaning<'x>
    where
        'a: 'x,
    {
        let entity = around.and_then(|it| it.outwards().find_map(|it| element(it.kind)));
        let start = entity.and_then(|entity| self.node_of(entity));
        let (Some(start), Some(prepared)) = (start, self.analysis.prepared) else {
            return WordMeaning::unknown();
        };
        let graph = &prepared.graph;
        let (mut seen, mut open, mut found) = (vec![start], vec![start], WordMeaning::default());
        while let Some(node) = open.pop() {
            for target in graph.hosting(graph.node(node)).filter_map(|relation| relation.target) {
                if seen.contains(&target) || seen.len() > HOSTS {
                    continue;
                }
                seen.push(target);
                let name = graph.element(graph.node(target).id).name;
                let path = NamedPath { bodies: self.bodies(NameFamily::Node, name), ..path };
                let meaning = self.in_owners(&self.named(&[NameFamily::Node], name), path);
                if meaning.parts.is_empty() {
                    open.push(target);
                }
                found = found.and(meaning);
            }
        }
        found
    }

    /// What the steps of a path mean in these.
    fn in_owners<'x>(&self, owners: &Owners<'x>, path: NamedPath<'_, '_>) -> WordMeaning<'x>
    where
        'a: 'x,
    {
        let found = owners.all.iter().map(|owner| self.in_owner(owner, path));
        let mut found = found.fold(WordMeaning::default(), WordMeaning::and);
        found.is_open |= owners.is_open;
        found
    }

    fn in_owner<'x>(&self, owner: &Owner<'x>, path: NamedPath<'_, '_>) -> WordMeaning<'x>
    where
        'a: 'x,
    {
        let Some((first, rest)) = path.steps.split_first() else { return WordMeaning::default() };
        let (first, behind) =
            (*first, NamedPath { steps: rest, at: path.at.wrapping_sub(1), ..path });
        let is_here = path.at == 0;
        let own = Owners { all: vec![owner.clone()], is_open: false };
        let part = |kind| self.parts(&own, kind, first);
        match (path.kind, owner) {
            (PathKind::Artifact, _) if is_here => part(MemberKind::Artifact),
            (PathKind::OperationOutput, Owner::Type(_)) if is_here => part(MemberKind::Interface),
            (PathKind::OperationOutput, Owner::Type(_)) => {
                let interface = self.interface(owner, first, None);
                self.in_owners(&interface, behind)
            }
            (PathKind::OperationOutput, _) if is_here => part(MemberKind::Operation),
            (PathKind::Artifact | PathKind::OperationOutput, _) => WordMeaning::default(),
            (PathKind::Property | PathKind::Attribute, Owner::Type(_)) if !rest.is_empty() => {
                self.behind(owner, first, path)
            }
            (_, Owner::Value(_)) if is_here => part(MemberKind::Property),
            (_, Owner::Value(_)) => self.in_owners(&self.within(owner, Some(first)), behind),
            (_, Owner::Type(_)) if is_here => {
                let own = part(path.values());
                if own.parts.is_empty() { self.of_capabilities(owner, path) } else { own }
            }
            _ if is_here => part(path.values()),
            _ => self.in_owners(&self.inner(owner, path.values(), first), behind),
        }
    }

    /// What a name means that a node does not have itself: what one of its capabilities has.
    fn of_capabilities<'x>(&self, owner: &Owner<'x>, path: NamedPath<'_, '_>) -> WordMeaning<'x>
    where
        'a: 'x,
    {
        let names = self.names_of(owner, MemberKind::Capability).into_iter();
        let all = names.map(|name| self.inner(owner, MemberKind::Capability, name));
        self.in_owners(&all.fold(Owners::default(), Owners::and), path)
    }

    /// What a path of several steps means: through a capability that has the next step, else
    /// through a requirement whose relationship or target has it, else into a value of its own.
    fn behind<'x>(&self, owner: &Owner<'x>, first: &str, path: NamedPath<'_, '_>) -> WordMeaning<'x>
    where
        'a: 'x,
    {
        let steps = path.steps.get(1..).unwrap_or_default();
        // What follows is asked for by its first step, whichever is looked at.
        let next = NamedPath { steps, at: 0, ..path };
        let behind = NamedPath { at: path.at.wrapping_sub(1), ..next };
        let own = Owners { all: vec![owner.clone()], is_open: false };
        let part = |kind| self.parts(&own, kind, first);
        let capability = self.inner(owner, MemberKind::Capability, first);
        let has_capability = !part(MemberKind::Capability).parts.is_empty();
        let ways = [
            (MemberKind::Capability, if has_capability { vec![capability] } else { Vec::new() }),
            (MemberKind::Requirement, self.through(&own, first, path.bodies)),
            (path.values(), vec![self.inner(owner, path.values(), first)]),
        ];
        let is_named = steps.first() != Some(&ANY);
        for (kind, all) in ways.iter().filter(|_| is_named) {
            let leads = all.iter().find(|it| !self.in_owners(it, next).parts.is_empty());
            if let Some(leads) = leads {
                return if path.at == 0 { part(*kind) } else { self.in_owners(leads, behind) };
            }
        }
        // Nothing is known to have the next step, or any is asked for: all of them may be meant.
        let all = ways.iter().map(|(kind, all)| match path.at {
            0 => part(*kind),
            _ => all.iter().fold(WordMeaning::default(), |meaning, it| {
                let inner = self.in_owners(it, behind);
                meaning.and(WordMeaning { is_open: inner.is_open || it.is_open, ..inner })
            }),
        });
        all.fold(WordMeaning::default(), WordMeaning::and)
    }

    /// What is asked one after the other behind a requirement: its relationship, the capabilities
    /// of its target, and its target.
    fn through<'x>(&self, of: &Owners<'x>, name: &str, bodies: &[Node<'_>]) -> Vec<Owners<'x>>
    where
        'a: 'x,
    {
        let assigned = assigned_below(bodies, name);
        // An undeclared one leads to its target all the same.
        if assigned.is_empty() && self.requirements(of, name).is_empty() {
            return Vec::new();
        }
        let targets = assigned.iter().map(|it| self.targets(of, name, Some(*it)));
        let targets = targets.reduce(Owners::and).unwrap_or_else(|| self.targets(of, name, None));
        let capabilities = targets.all.iter().flat_map(|target| {
            let names = self.names_of(target, MemberKind::Capability);
            names.into_iter().map(|name| self.inner(target, MemberKind::Capability, name))
        });
        let capabilities = capabilities.fold(Owners::default(), Owners::and);
        vec![self.assigned_relationships(of, &assigned, name), capabilities, targets]
    }
}

/// The names that lead to something.
#[derive(Clone, Copy)]
struct NamedPath<'p, 'n> {
    kind: PathKind,
    /// The names behind that of the element.
    steps: &'p [&'p str],
    /// The one that is looked at.
    at: usize,
    /// The node templates that the path begins at, as far as they are known.
    bodies: &'p [Node<'n>],
}

impl NamedPath<'_, '_> {
    /// The kind of parts that have values.
    fn values(&self) -> MemberKind {
        if self.kind == PathKind::Attribute { MemberKind::Attribute } else { MemberKind::Property }
    }
}

/// The names of a path.
fn names_of(call: PathCall<'_>) -> Vec<&str> {
    let PathCall { names, .. } = call;
    match names.kind() {
        NodeKind::Scalar => names.text().unwrap_or_default().split(',').map(str::trim).collect(),
        _ => names.items().map(|it| it.text().unwrap_or_default()).collect(),
    }
}

fn is_definition(kind: HolderKind<'_>) -> bool {
    matches!(kind, HolderKind::Entity(TypedEntity { defines: Some(_), .. }))
}
