//! Follows paths of TOSCA 2.0 (section 10.3) by the types of what they lead to.

use super::grammar::{MemberKind, NameFamily};
use super::owners::{Owners, TypeScope, assigned_below, element, target_name};
use super::walk::{HolderKind, NameHolder, PathCall, PathKind};
use crate::tosca::{Family, v2_0};
use cuvee_text::yaml::Node;

/// The word for all nodes of a template, or all relationships of a requirement.
const ALL: &str = "ALL";

/// What a step of a path may be.
#[derive(Default)]
pub(super) struct StepPlace<'x> {
    /// The words that lead on from there.
    pub words: Vec<&'static str>,
    /// What has the parts that may be named instead, and their kind.
    pub parts: Option<(Owners<'x>, MemberKind)>,
}

/// What a path has reached.
#[derive(Clone)]
struct ReachedPart<'x> {
    /// What has the values there.
    own: Owners<'x>,
    /// The templates of a node, as far as they are known.
    bodies: Vec<Node<'x>>,
    leads_on: LeadsOn<'x>,
    /// Whether it may be one of several, which an index tells apart.
    is_numbered: bool,
}

/// Where a path may go on.
#[derive(Clone)]
enum LeadsOn<'x> {
    Nowhere,
    /// From a node, to relationships and capabilities.
    Node,
    /// From a capability, to the relationships that lead to it; with its node.
    Capability(Option<Box<ReachedPart<'x>>>),
    /// From a relationship, to its ends and the capability that it leads to. In filters of
    /// requirements, values of the target may be named as its own.
    Relationship(Box<ReachedEnds<'x>>),
}

/// What a relationship leads to.
#[derive(Clone)]
struct ReachedEnds<'x> {
    source: ReachedPart<'x>,
    target: ReachedPart<'x>,
    capability: Owners<'x>,
}

impl<'x> ReachedPart<'x> {
    fn values(own: Owners<'x>) -> Self {
        Self { own, bodies: Vec::new(), leads_on: LeadsOn::Nowhere, is_numbered: false }
    }

    fn node(own: Owners<'x>, bodies: Vec<Node<'x>>) -> Self {
        Self { bodies, leads_on: LeadsOn::Node, ..Self::values(own) }
    }

    fn relationship(own: Owners<'x>, ends: ReachedEnds<'x>) -> Self {
        Self { leads_on: LeadsOn::Relationship(ends.into()), ..Self::values(own) }
    }

    /// The same as one of several.
    fn numbered(self) -> Self {
        Self { is_numbered: true, ..self }
    }

    /// The words that lead on.
    fn words(&self) -> Vec<&'static str> {
        let words: &[_] = match self.leads_on {
            LeadsOn::Nowhere => &[],
            LeadsOn::Node => &["RELATIONSHIP", "CAPABILITY"],
            LeadsOn::Capability(_) => &["RELATIONSHIP"],
            LeadsOn::Relationship(_) => &["SOURCE", "TARGET", "CAPABILITY"],
        };
        words.iter().copied().chain(self.is_numbered.then_some(ALL)).collect()
    }
}

/// The steps of a path that are left, with the distance of the one that is looked at.
struct PathCursor<'p, 'n> {
    steps: &'p [&'n str],
    at: usize,
}

impl<'n> PathCursor<'_, 'n> {
    /// Goes on behind a step, unless that is looked at.
    fn pass(&mut self) -> Option<&'n str> {
        let (first, rest) = self.steps.split_first().filter(|_| self.at > 0)?;
        (self.steps, self.at) = (rest, self.at - 1);
        Some(first)
    }

    /// Goes on behind an index, if there is one. Returns whether there was.
    fn pass_index(&mut self) -> bool {
        let is_index = |step: &&&str| **step == ALL || step.parse::<u64>().is_ok();
        self.steps.first().filter(is_index).is_some() && self.pass().is_some()
    }
}

/// Whether a call has a path of TOSCA 2.0.
pub(super) fn is_path_of_2_0(call: &PathCall<'_>) -> bool {
    !matches!(call.kind, PathKind::Input | PathKind::OperationOutput)
        && v2_0::is_of(call.names.document())
}

impl<'a> TypeScope<'_, 'a> {
    /// What the step at a position may be, of a path of these names.
    pub(super) fn path_place<'x>(
        &self,
        kind: PathKind,
        (names, at): (&[&str], usize),
        around: Option<&NameHolder<'_, 'x>>,
    ) -> StepPlace<'x>
    where
        'a: 'x,
    {
        let Some((first, steps)) = names.split_first() else { return StepPlace::default() };
        let Some(at) = at.checked_sub(1) else { return StepPlace::default() };
        let mut reached = self.path_start(first, around);
        let mut cursor = PathCursor { steps, at };
        loop {
            if reached.is_numbered && cursor.pass_index() {
                reached.is_numbered = false;
            }
            let word = match cursor.steps.first() {
                Some(word) if cursor.at > 0 && reached.words().contains(word) => *word,
                _ => break,
            };
            cursor.pass();
            match self.lead_on(reached, word, &mut cursor) {
                Ok(next) => reached = next,
                Err(place) => return place,
            }
        }
        self.value_place(kind, reached, cursor)
    }

    /// What a word leads to; or what the step behind the word is, if that is looked at.
    fn lead_on<'x>(
        &self,
        from: ReachedPart<'x>,
        word: &str,
        cursor: &mut PathCursor<'_, '_>,
    ) -> Result<ReachedPart<'x>, StepPlace<'x>>
    where
        'a: 'x,
    {
        let named = |kind| StepPlace { words: Vec::new(), parts: Some((from.own.clone(), kind)) };
        match (from.leads_on.clone(), word) {
            (LeadsOn::Node, "RELATIONSHIP") => match cursor.pass() {
                Some(name) => Ok(self.outgoing(&from, name).numbered()),
                None => Err(named(MemberKind::Requirement)),
            },
            (LeadsOn::Node, _) => {
                let name = cursor.pass().ok_or_else(|| named(MemberKind::Capability))?;
                let own = from.own.all.iter();
                let own = own.map(|it| self.inner(it, MemberKind::Capability, name));
                let own = Owners { is_open: from.own.is_open, ..Owners::default() }
                    .and(own.fold(Owners::default(), Owners::and));
                let leads_on = LeadsOn::Capability(Some(Box::new(from)));
                Ok(ReachedPart { leads_on, ..ReachedPart::values(own) })
            }
            (LeadsOn::Capability(node), _) => {
                let unknown = || ReachedPart::node(Owners::unknown(), Vec::new());
                let target = node.map_or_else(unknown, |node| *node);
                let capability = from.own;
                let ends = ReachedEnds { source: unknown(), target, capability };
                Ok(ReachedPart::relationship(Owners::unknown(), ends).numbered())
            }
            (LeadsOn::Relationship(ends), "SOURCE") => Ok(ends.source),
            (LeadsOn::Relationship(ends), "TARGET") => Ok(ends.target),
            (LeadsOn::Relationship(ends), "CAPABILITY") => {
                let leads_on = LeadsOn::Capability(Some(Box::new(ends.target)));
                Ok(ReachedPart { leads_on, ..ReachedPart::values(ends.capability) })
            }
            _ => Ok(ReachedPart::values(from.own)),
        }
    }

    /// What the step that is looked at names of the values, or the artifacts, of what is reached.
    fn value_place<'x>(
        &self,
        kind: PathKind,
        reached: ReachedPart<'x>,
        mut cursor: PathCursor<'_, '_>,
    ) -> StepPlace<'x>
    where
        'a: 'x,
    {
        let mut kind = match kind {
            PathKind::Artifact => MemberKind::Artifact,
            PathKind::Attribute => MemberKind::Attribute,
            _ => MemberKind::Property,
        };
        let (words, mut own) = (reached.words(), reached.own);
        if cursor.at == 0 {
            return StepPlace { words, parts: Some((own, kind)) };
        }
        while let Some(step) = cursor.pass() {
            let inner = own.all.iter().map(|owner| self.inner(owner, kind, step));
            let inner = inner.fold(Owners::default(), Owners::and);
            own = Owners { is_open: own.is_open || inner.is_open, ..inner };
            kind = MemberKind::Property;
        }
        StepPlace { words: Vec::new(), parts: Some((own, kind)) }
    }

    /// Where a path starts: an element with a name, or the one around.
    fn path_start<'x>(&self, name: &str, around: Option<&NameHolder<'_, 'x>>) -> ReachedPart<'x>
    where
        'a: 'x,
    {
        if name == "SELF" {
            return around.map_or_else(
                || ReachedPart::values(Owners::unknown()),
                |around| self.own_start(around),
            );
        }
        let nodes = self.bodies(NameFamily::Node, name);
        if !nodes.is_empty() {
            return ReachedPart::node(self.named(&[NameFamily::Node], name), nodes.to_vec())
                .numbered();
        }
        let templates = self.bodies(NameFamily::Relationship, name);
        if templates.is_empty() {
            return ReachedPart::values(self.named(&[NameFamily::Group], name));
        }
        let ends = |is_target| {
            let ends = templates.iter().map(|body| self.ends_of_template(*body, is_target));
            ReachedPart::node(ends.fold(Owners::default(), Owners::and), Vec::new())
        };
        let ends =
            ReachedEnds { source: ends(false), target: ends(true), capability: Owners::unknown() };
        ReachedPart::relationship(self.named(&[NameFamily::Relationship], name), ends)
    }

    /// The element around, the relationship of the requirement whose filter is around, or the target
    /// of the step around.
    fn own_start<'x>(&self, around: &NameHolder<'_, 'x>) -> ReachedPart<'x>
    where
        'a: 'x,
    {
        let is_start = |it: &&NameHolder<'_, 'x>| {
            element(it.kind).is_some() || matches!(it.kind, HolderKind::Subject(..))
        };
        let Some(start) = around.outwards().find(is_start) else {
            return ReachedPart::values(Owners::unknown());
        };
        let own = self.element("SELF", Some(around));
        let is_requirement = |of: &&NameHolder<'_, 'x>| {
            matches!(of.kind, HolderKind::Part(MemberKind::Requirement, ..))
        };
        let requirement = start.of.filter(is_requirement);
        let ends = requirement.map(|requirement| self.ends_of_requirement(requirement));
        match (element(start.kind), ends) {
            (Some(entity), _) if entity.family == Family::Node => {
                let body = entity.defines.is_none().then_some(entity.body);
                ReachedPart::node(own, body.into_iter().collect())
            }
            (Some(entity), ends) if entity.family == Family::Relationship => {
                let end = |is_target| ReachedPart::node(self.end(is_target, start), Vec::new());
                let ends = ends.unwrap_or_else(|| ReachedEnds {
                    source: end(false),
                    target: end(true),
                    capability: Owners::unknown(),
                });
                ReachedPart::relationship(own, ends)
            }
            (Some(_), _) => ReachedPart::values(own),
            (None, Some(ends)) => ReachedPart::relationship(own, ends),
            // A step may be about a node or its relationship.
            (None, None) => ReachedPart::node(self.owners(Some(start)), Vec::new()),
        }
    }

    /// The relationship of a requirement of a node.
    fn outgoing<'x>(&self, node: &ReachedPart<'x>, name: &str) -> ReachedPart<'x>
    where
        'a: 'x,
    {
        let assigned = assigned_below(&node.bodies, name);
        let own = match assigned.is_empty() && self.requirements(&node.own, name).is_empty() {
            true => Owners::unknown(),
            false => self.assigned_relationships(&node.own, &assigned, name),
        };
        ReachedPart::relationship(own, self.ends_of(node.clone(), name, &assigned))
    }

    /// The ends of the relationship of a requirement that is around.
    fn ends_of_requirement<'x>(&self, requirement: &NameHolder<'_, 'x>) -> ReachedEnds<'x>
    where
        'a: 'x,
    {
        let HolderKind::Part(_, name, body) = requirement.kind else {
            return self.ends_of(ReachedPart::values(Owners::unknown()), "", &[]);
        };
        let entity = requirement.of.and_then(|of| element(of.kind));
        let own = entity.filter(|it| it.defines.is_none()).map(|it| it.body);
        let source = ReachedPart::node(self.owners(requirement.of), own.into_iter().collect());
        self.ends_of(source, name, body.as_slice())
    }

    fn ends_of<'x>(
        &self,
        source: ReachedPart<'x>,
        name: &str,
        assigned: &[Node<'x>],
    ) -> ReachedEnds<'x>
    where
        'a: 'x,
    {
        let bodies = assigned.iter().filter_map(|body| target_name(*body));
        let bodies = bodies.flat_map(|name| self.bodies(NameFamily::Node, name).iter().copied());
        let bodies: Vec<Node<'x>> = bodies.collect();
        let each = |body: Option<Node<'x>>| {
            let target = self.targets(&source.own, name, body);
            (self.target_capability(&source.own, (name, body), &target), target)
        };
        let all = assigned.iter().map(|body| each(Some(*body)));
        let both = |one: (Owners<'x>, Owners<'x>), other: (Owners<'x>, Owners<'x>)| {
            (one.0.and(other.0), one.1.and(other.1))
        };
        let (capability, target) = all.reduce(both).unwrap_or_else(|| each(None));
        ReachedEnds { target: ReachedPart::node(target, bodies), source, capability }
    }
}
