//! Converts the paths that functions follow.

use super::{Converter, SelfScope, TargetVersion, list, text};
use crate::convert::loss::LossKind;
use crate::tosca::Family;
use crate::tosca::types::{EffectiveCapability, RequirementDefinition, TypeId, is_hosting_by_name};
use crate::tosca::v2_0;
use cuvee_text::yaml::{Node, NodeKind, Out};
use rustc_hash::FxHashMap;

/// How many hosts a path leads over at most.
const MOST_HOSTS: usize = 16;

/// A node as far as it is known: its type, and its template.
pub(super) type ScopedNode<'a> = (Option<TypeId>, Option<Node<'a>>);

/// A relationship as far as it is known: its type, and its ends.
#[derive(Clone, Copy, Default)]
pub(super) struct ScopedRelationship<'a> {
    pub kind: Option<TypeId>,
    pub source: ScopedNode<'a>,
    pub target: ScopedNode<'a>,
}

/// A node template, and the name and body of its requirement that uses a relationship template.
pub(super) type UsedRelationship<'a> = (Node<'a>, Node<'a>, Node<'a>);

/// A path of version 1.3: the name that it starts at, and what stands behind that.
type SimplePath<'p, 'a> = (PathWord<'a>, &'p [Node<'a>]);

/// The first words of a path, and the node that they lead to.
type PathBeginning<'a> = (Vec<PathWord<'a>>, Option<ScopedNode<'a>>);

/// Whether a node has something of a name.
type HasNamed<'p, 'a> = &'p dyn Fn(&ScopedNode<'a>, &str) -> bool;

/// A word of a path.
#[derive(Clone, Copy)]
enum PathWord<'a> {
    /// A word or a name that stands in the source.
    Written(Node<'a>),
    Word(&'static str),
    Name(&'a str),
}

impl<'a> PathWord<'a> {
    fn text(self) -> Option<&'a str> {
        match self {
            Self::Written(node) => node.text(),
            Self::Word(word) => Some(word),
            Self::Name(name) => Some(name),
        }
    }
}

/// The words that do not end a path behind a requirement.
const END_WORDS: [&str; 3] = ["SOURCE", "TARGET", "CAPABILITY"];

/// What a path of version 1.3 says in version 2.0.
struct LedPath<'a> {
    words: Vec<PathWord<'a>>,
    /// Whether types and templates say that it leads there.
    is_certain: bool,
}

/// The words that lead through a part of a node. An empty one stands for the name of the part.
type PartWords = &'static [&'static str];

/// What version 2.0 says before each word that it could take for the call of a function.
pub(super) fn literal(node: Node<'_>) -> Out<'_> {
    node.as_str().and_then(v2_0::escaped).map_or(Out::Source(node), text)
}

/// A path of these words in place of another one.
fn written<'a>(node: Node<'a>, words: Vec<PathWord<'a>>) -> Out<'a> {
    let items = words.into_iter().map(|word| match word {
        PathWord::Written(node) => (Some(node), literal(node)),
        PathWord::Word(word) => (None, text(word)),
        PathWord::Name(name) => (None, text(name.to_owned())),
    });
    list(node, items.collect())
}

/// The entries of a map, or of the maps in a list.
pub(super) fn named_parts(all: Node<'_>) -> impl Iterator<Item = (Node<'_>, Node<'_>)> {
    all.entries().chain(all.items().flat_map(Node::entries))
}

/// The entry of this name in a map, or in the maps in a list.
fn named_part<'a>(all: Node<'a>, name: &str) -> Option<Node<'a>> {
    named_parts(all).find(|(key, _)| key.text() == Some(name)).map(|(_, body)| body)
}

/// Whether a word behind a node, a relationship or a capability is a step of a path of version 2.0.
fn is_step(node: Node<'_>) -> bool {
    let words = ["CAPABILITY", "RELATIONSHIP", "SOURCE", "TARGET"];
    is_index(&node) || node.text().is_some_and(|text| words.contains(&text))
}

/// Whether a capability assignment has a property or attribute.
fn assigns(assigned: Option<Node<'_>>, property: &str) -> bool {
    let has = |section| assigned.and_then(|it| named_part(it.get(section)?, property)).is_some();
    has("properties") || has("attributes")
}

/// Whether a capability has a value for a property, or may get one for an attribute.
fn capability_gives(
    defined: Option<&EffectiveCapability<'_>>,
    assigned: Option<Node<'_>>,
    property: &str,
) -> bool {
    let of_type = || {
        let defined = defined?;
        let property = defined.properties.get(property).map(|part| &part.definition);
        Some(property?.default.is_some())
    };
    let is_attribute = || defined.is_some_and(|it| it.attributes.contains_key(property));
    assigns(assigned, property) || of_type() == Some(true) || is_attribute()
}

fn is_index(node: &Node<'_>) -> bool {
    node.text().is_some_and(|text| text == "ALL" || text.parse::<i64>().is_ok())
}

impl<'t, 'a> Converter<'t, 'a> {
    /// Converts a path of version 1.3 to one of version 2.0. Returns nothing, and reports why, where
    /// there is none.
    pub(super) fn path_to_2_0(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        let all: Vec<_> = node.items().collect();
        let Some((first, rest)) = all.split_first() else { return Some(Out::Source(node)) };
        match self.led((PathWord::Written(*first), rest)) {
            Ok(path) => Some(written(node, path.words)),
            Err(why) => self.lose_path(*first, why),
        }
    }

    fn lose_path<T>(&mut self, first: Node<'a>, why: &str) -> Option<T> {
        let construct = format!("`{}`", first.text().unwrap_or_default());
        self.report(LossKind::Lost, first, &construct, why);
        None
    }

    /// Converts what leads to an artifact of version 1.3: a node or an end, and the name.
    pub(super) fn artifact_to_2_0(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        let all: Vec<_> = node.items().take(2).collect();
        let Some((first, rest)) = all.split_first() else { return Some(Out::Source(node)) };
        match self.artifact_words(*first, rest) {
            Ok(words) => Some(written(node, words)),
            Err(why) => self.lose_path(*first, why),
        }
    }

    fn artifact_words(
        &self,
        first: Node<'a>,
        rest: &[Node<'a>],
    ) -> Result<Vec<PathWord<'a>>, &'static str> {
        let has = |node: &ScopedNode<'a>, name: &str| self.has_artifact(node, name);
        let (mut words, _) = self.start((PathWord::Written(first), rest), &has)?;
        words.extend(rest.iter().copied().map(PathWord::Written));
        Ok(words)
    }

    /// Converts what leads to an artifact of version 2.0.
    pub(super) fn artifact_to_1_3(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        let path: Vec<_> = node.items().collect();
        let has = |node: &ScopedNode<'a>, name: &str| self.has_artifact(node, name);
        let (host, names) = match self.behind_hosts(&path, &has, 1) {
            Some(rest) => (Some((None, text("HOST"))), rest.to_vec()),
            None => (None, self.simple_path(&self.without_first_indices(&path))?),
        };
        if let (None, [first, rest @ ..]) = (&host, &names[..]) {
            let words = self.artifact_words(*first, rest).ok()?;
            let is_same = words.iter().map(|word| word.text()).eq(path.iter().map(|it| it.text()));
            (is_same && rest.len() == 1).then_some(())?;
        }
        self.names_to_1_3(node, host, names)
    }

    /// The words of version 2.0 for the name that a path starts at, and the node that this is.
    /// `has` says whether a node has what the path leads to.
    fn start(
        &self,
        (first, rest): SimplePath<'_, 'a>,
        has: HasNamed<'_, 'a>,
    ) -> Result<PathBeginning<'a>, &'static str> {
        let own = || self.own_words().collect();
        Ok(match first.text().unwrap_or_default() {
            end @ ("SOURCE" | "TARGET") => {
                let node = match (self.scope, end) {
                    (SelfScope::Relationship(it), "SOURCE") => Some(it.source),
                    (SelfScope::Relationship(it), _) => Some(it.target),
                    (SelfScope::Source(_), _) => return Err("a filter is about no relationship"),
                    _ => None,
                };
                (vec![PathWord::Word("SELF"), first], node)
            }
            "HOST" => {
                let part = rest.first().and_then(|it| it.text());
                let why = "paths of TOSCA 2.0 do not lead to whatever host has it";
                let (requirements, host) = self.host_with(part, has).ok_or(why)?;
                let mut words: Vec<_> = own();
                words.extend(requirements.into_iter().flat_map(|name| {
                    let [step, end] = ["RELATIONSHIP", "TARGET"].map(PathWord::Word);
                    [step, PathWord::Name(name), end]
                }));
                (words, Some(host))
            }
            "SELF" => (own(), self.own_node()),
            name => match self.template("node_templates", name) {
                Some(_) if name.starts_with('$') && self.to == TargetVersion::Two => {
                    return Err("paths of TOSCA 2.0 lead to no name that begins with `$`");
                }
                Some(template) => (vec![first], Some(self.template_node(template))),
                None if self.template("groups", name).is_some() => {
                    return Err("paths of TOSCA 2.0 do not start at groups");
                }
                None => (vec![first], None),
            },
        })
    }

    /// Where a path of version 1.3 leads, or why version 2.0 has no such path.
    fn led(&self, (first, rest): SimplePath<'_, 'a>) -> Result<LedPath<'a>, &'static str> {
        let (mut words, node) = self.start((first, rest), &|it, part| self.has_value(it, part))?;
        let is_certain = match (node, self.scope) {
            (Some((Some(id), _)), _) => !self.context.types.effective(id).is_open,
            (_, SelfScope::Source(_) | SelfScope::Relationship(_)) => first.text() == Some("SELF"),
            _ => false,
        };
        let part = rest.split_first().filter(|(_, more)| !more.is_empty());
        let through = part.and_then(|(name, more)| match (node?, self.scope) {
            ((None, None), SelfScope::Relationship(it)) if first.text() == Some("TARGET") => {
                self.may_lead_to(it.kind, more.first()?.text()?).then_some(&["CAPABILITY", ""][..])
            }
            (node, _) => self.part_words(node, *name, more),
        });
        let led = part.zip(through);
        let property = led.map_or(rest, |((_, more), _)| more).first();
        if property.is_some_and(|it| is_step(*it)) {
            return Err("paths of TOSCA 2.0 lead to no property of this name");
        }
        match led {
            Some(((name, more), through)) => {
                words.extend(through.iter().map(|word| match *word {
                    "" => PathWord::Written(*name),
                    word => PathWord::Word(word),
                }));
                words.extend(more.iter().copied().map(PathWord::Written));
            }
            None => words.extend(rest.iter().copied().map(PathWord::Written)),
        }
        Ok(LedPath { words, is_certain })
    }

    /// The words of version 2.0 for what `SELF` is in version 1.3.
    fn own_words(&self) -> impl Iterator<Item = PathWord<'a>> {
        let source = matches!(self.scope, SelfScope::Source(_)).then_some("SOURCE");
        std::iter::once("SELF").chain(source).map(PathWord::Word)
    }

    /// The node that `SELF` is in version 1.3.
    pub(super) fn own_node(&self) -> Option<ScopedNode<'a>> {
        match self.scope {
            SelfScope::Node(node) | SelfScope::Source(node) => Some(node),
            SelfScope::Relationship(_) | SelfScope::None => None,
        }
    }

    /// The words that lead through a part of a node: a capability, or a requirement. Where one name
    /// is both, or that of a property, the capability counts if it has what is asked for. At a
    /// template, that is a value, and what has none is passed over.
    fn part_words(
        &self,
        node: ScopedNode<'a>,
        name: Node<'a>,
        more: &[Node<'a>],
    ) -> Option<PartWords> {
        let (id, template) = node;
        let effective = id.map(|id| self.context.types.effective(id));
        let name = name.as_str()?;
        let property = more.first().and_then(|property| property.text()).unwrap_or_default();
        let own = |keyname| self.said("node_templates", template?, keyname);
        let assigned = own("capabilities").and_then(|it| named_part(it, name));
        let defined = effective.and_then(|it| it.capabilities.get(name)).map(|it| &it.definition);
        let requires = effective.is_some_and(|it| it.requirements.contains_key(name))
            || self.assignments(template, name).next().is_some();
        let has = assigns(assigned, property)
            || defined.is_some_and(|it| {
                it.properties.contains_key(property) || it.attributes.contains_key(property)
            });
        let is_capability = defined.is_some() || assigned.is_some();
        let value = own("properties").and_then(|it| named_part(it, name));
        let is_value = || value.is_some() || id.is_some_and(|id| self.says(id, name));
        let value = value.or_else(|| effective?.properties.get(name)?.definition.default);
        let through = || requires.then(|| self.requirement_words(node, name, property));
        if template.is_some() && requires {
            return match () {
                () if is_capability && capability_gives(defined, assigned, property) => {
                    Some(&["CAPABILITY", ""])
                }
                () if self.requirement_gives(node, name, property) => through(),
                () if value.is_some_and(|it| it.get(property).is_some()) => None,
                () if is_capability && has => Some(&["CAPABILITY", ""]),
                () => through(),
            };
        }
        if is_capability && (has || !requires && !is_value()) {
            return Some(&["CAPABILITY", ""]);
        }
        through()
    }

    /// Whether what a requirement of a template leads to has a value for a property: the
    /// relationship, the capability or the target. Of a target that is not known, that is so.
    fn requirement_gives(&self, node: ScopedNode<'a>, name: &str, property: &str) -> bool {
        let (definition, assigned) = self.requirement(node, name);
        let Some(assigned) = assigned else { return false };
        let (kind, template) = self.target_of(definition, Some(assigned));
        let Some(template) = template else { return true };
        if self.relationship_says(assigned, property) {
            return true;
        }
        let own = |keyname| self.said("node_templates", template, keyname);
        let is_assigned = |section| own(section).and_then(|it| named_part(it, property)).is_some();
        if is_assigned("properties") || is_assigned("attributes") {
            return true;
        }
        let Some(kind) = kind.map(|id| self.context.types.effective(id)) else { return true };
        let by_type = kind.properties.get(property).map(|part| &part.definition);
        let wanted = assigned.get("capability").or_else(|| definition?.capability);
        let capabilities = own("capabilities");
        let mut all = kind.capabilities.iter().map(|(name, part)| (*name, &part.definition));
        by_type.is_some_and(|it| it.default.is_some())
            || kind.attributes.contains_key(property)
            || all.any(|(name, it)| {
                let assigned = capabilities.and_then(|all| named_part(all, name));
                wanted.is_some_and(|wanted| self.is_wanted(wanted, name, it.kind))
                    && capability_gives(Some(it), assigned, property)
            })
    }

    /// The definition of a requirement of a node, and its first assignment.
    fn requirement(
        &self,
        (id, template): ScopedNode<'a>,
        name: &str,
    ) -> (Option<&RequirementDefinition<'a>>, Option<Node<'a>>) {
        let effective = id.map(|id| self.context.types.effective(id));
        let definition = effective.and_then(|it| it.requirements.get(name));
        (definition.map(|part| &part.definition), self.assignments(template, name).next())
    }

    /// Whether a capability is one that a requirement wants by its name or type.
    fn is_wanted(&self, wanted: Node<'a>, name: &str, own: Option<Node<'a>>) -> bool {
        match self.named_type(Family::Capability, wanted) {
            Some(kind) => own
                .and_then(|own| self.named_type(Family::Capability, own))
                .is_some_and(|own| self.context.types.chain(own).any(|id| id == kind)),
            None => wanted.text() == Some(name),
        }
    }

    /// The assignments of a requirement in a template.
    fn assignments<'s>(
        &self,
        template: Option<Node<'a>>,
        name: &'s str,
    ) -> impl Iterator<Item = Node<'a>> + use<'s, 'a> {
        let all = template.and_then(|it| self.said("node_templates", it, "requirements"));
        let all = all.into_iter().flat_map(named_parts);
        all.filter(move |(key, _)| key.text() == Some(name)).map(|(_, body)| body)
    }

    /// The words that lead through a requirement to what has a property: its relationship, if a
    /// template says what that is, the capability or the target.
    fn requirement_words(&self, node: ScopedNode<'a>, name: &str, property: &str) -> PartWords {
        let (definition, assigned) = self.requirement(node, name);
        let target = self.target_of(definition, assigned);
        if assigned.is_some_and(|it| self.relationship_says(it, property)) {
            return &["RELATIONSHIP", ""];
        }
        let named = assigned.and_then(|it| it.get("capability"));
        let wanted = named.or_else(|| definition?.capability);
        if wanted.is_some_and(|it| self.capability_says(target.0, it, property)) {
            return &["RELATIONSHIP", "", "CAPABILITY"];
        }
        let is_of_target = target.0.is_some_and(|id| self.says(id, property));
        let relationship = definition.and_then(|it| it.relationship);
        let relationship = relationship.and_then(|it| self.named_type(Family::Relationship, it));
        let is_open = target.1.is_none() && !is_of_target;
        match is_open && relationship.is_some_and(|id| self.says(id, property)) {
            true => &["RELATIONSHIP", ""],
            false => &["RELATIONSHIP", "", "TARGET"],
        }
    }

    /// Whether the relationship that an assignment describes has a property. That its requirement
    /// has a type for it does not count in version 1.3.
    fn relationship_says(&self, assignment: Node<'a>, property: &str) -> bool {
        let Some(said) = assignment.get("relationship") else { return false };
        let named = said.as_str().map(|name| self.template("relationship_templates", name));
        let Some(template) = named.unwrap_or(Some(said)) else { return false };
        let of = |keyname| self.said("relationship_templates", template, keyname);
        let kind = of("type").and_then(|it| self.declared_type(Family::Relationship, it));
        let assigned = of("properties").and_then(|it| named_part(it, property));
        assigned.is_some() || kind.is_some_and(|id| self.says(id, property))
    }

    /// Whether the capability that fulfils a requirement has a property: one that is named, or those
    /// of a type.
    fn capability_says(&self, target: Option<TypeId>, wanted: Node<'a>, property: &str) -> bool {
        let Some(effective) = target.map(|id| self.context.types.effective(id)) else {
            let kind = self.named_type(Family::Capability, wanted);
            return kind.is_some_and(|id| self.says(id, property));
        };
        let mut all = effective.capabilities.iter().map(|(name, part)| (*name, &part.definition));
        all.any(|(name, it)| {
            let has = it.properties.contains_key(property) || it.attributes.contains_key(property);
            has && self.is_wanted(wanted, name, it.kind)
        })
    }

    /// What a requirement leads to: the template or the type that its assignment names, or else the
    /// type of its definition.
    pub(super) fn target_of(
        &self,
        definition: Option<&RequirementDefinition<'a>>,
        assigned: Option<Node<'a>>,
    ) -> ScopedNode<'a> {
        let named = assigned.and_then(|body| match body.kind() {
            NodeKind::Mapping => body.get("node"),
            _ => Some(body),
        });
        // TOSCA 2.0 may name one node of a template.
        let named = named.and_then(|it| it.items().next().or(Some(it)));
        let template = named.and_then(|it| self.template("node_templates", it.text()?));
        match template {
            Some(template) => self.template_node(template),
            None => {
                let kind = named.or_else(|| definition?.node);
                (kind.and_then(|it| self.named_type(Family::Node, it)), None)
            }
        }
    }

    /// The type of a node template, and the template.
    pub(super) fn template_node(&self, template: Node<'a>) -> ScopedNode<'a> {
        let kind = self.said("node_templates", template, "type");
        (kind.and_then(|it| self.declared_type(Family::Node, it)), Some(template))
    }

    /// What a relationship is that stands in an element of this template or type: the requirement
    /// that has it says what its ends are.
    pub(super) fn assigned_relationship(&self, node: Node<'a>) -> ScopedRelationship<'a> {
        let kind = node.get("type");
        let kind = kind.and_then(|it| self.declared_type(Family::Relationship, it));
        let Some(source) = self.own_node() else {
            return ScopedRelationship { kind, ..ScopedRelationship::default() };
        };
        let definition = source.0.and_then(|id| {
            self.context.types.effective(id).requirements.get(self.name).map(|it| &it.definition)
        });
        let kind =
            kind.or_else(|| self.named_type(Family::Relationship, definition?.relationship?));
        ScopedRelationship { kind, source, target: self.target_of(definition, self.assignment) }
    }

    /// What a relationship template is. Its ends are known where one requirement uses it.
    pub(super) fn relationship_template(&self, node: Node<'a>) -> ScopedRelationship<'a> {
        let kind = self.said("relationship_templates", node, "type");
        let kind = kind.and_then(|it| self.declared_type(Family::Relationship, it));
        let users = self.users.get_or_init(|| self.relationship_users());
        let Some([(template, key, body)]) = users.get(self.name).map(Vec::as_slice) else {
            return ScopedRelationship { kind, ..ScopedRelationship::default() };
        };
        let source = self.template_node(*template);
        let effective = source.0.map(|id| self.context.types.effective(id));
        let definition = effective.and_then(|it| it.requirements.get(key.text()?));
        let target = self.target_of(definition.map(|it| &it.definition), Some(*body));
        ScopedRelationship { kind, source, target }
    }

    /// What uses relationship templates, by their names.
    fn relationship_users(&self) -> FxHashMap<&'a str, Vec<UsedRelationship<'a>>> {
        let nodes = self.root.get("topology_template").and_then(|it| it.get("node_templates"));
        let mut users: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for (_, template) in nodes.into_iter().flat_map(named_parts) {
            for (key, body) in template.get("requirements").into_iter().flat_map(named_parts) {
                if let Some(name) = body.get("relationship").and_then(|it| it.as_str()) {
                    users.entry(name).or_default().push((template, key, body));
                }
            }
        }
        users
    }

    /// Whether elements of a type have a property or attribute.
    fn says(&self, id: TypeId, property: &str) -> bool {
        let effective = self.context.types.effective(id);
        effective.properties.contains_key(property) || effective.attributes.contains_key(property)
    }

    /// Whether a capability that a relationship may lead to has a property or attribute.
    fn may_lead_to(&self, relationship: Option<TypeId>, property: &str) -> bool {
        let valid = relationship.map(|id| &self.context.types.effective(id).valid_types);
        valid.into_iter().flatten().flatten().any(|name| {
            let capability = self.named_type(Family::Capability, *name);
            capability.is_some_and(|id| self.says(id, property))
        })
    }

    /// Whether a node has a property, attribute or capability.
    fn has_value(&self, (id, _): &ScopedNode<'a>, part: &str) -> bool {
        id.map(|id| self.context.types.effective(id)).is_some_and(|it| {
            it.properties.contains_key(part)
                || it.attributes.contains_key(part)
                || it.capabilities.contains_key(part)
        })
    }

    /// Whether a node has an artifact.
    fn has_artifact(&self, (id, template): &ScopedNode<'a>, name: &str) -> bool {
        let own = template.and_then(|it| self.said("node_templates", it, "artifacts"));
        let of_type = id.map(|id| self.context.types.effective(id));
        own.is_some_and(|it| named_part(it, name).is_some())
            || of_type.is_some_and(|it| it.artifacts.contains_key(name))
    }

    /// The requirements that lead from `SELF` to the first host that has something, and what that
    /// host is. Returns nothing where that is not certain.
    fn host_with(
        &self,
        part: Option<&str>,
        has: HasNamed<'_, 'a>,
    ) -> Option<(Vec<&'a str>, ScopedNode<'a>)> {
        let part = part?;
        let (mut node, mut path) = (self.own_node()?, Vec::new());
        while path.len() < MOST_HOSTS {
            let (requirement, hosts) = self.hosts(node)?;
            path.push(requirement);
            match &hosts[..] {
                [host, ..] if hosts.iter().all(|it| has(it, part)) => return Some((path, *host)),
                [host] if host.0.is_some() => node = *host,
                _ => return None,
            }
        }
        None
    }

    /// The requirement by which a node is hosted, if there is one only, and what may be its target:
    /// alternative templates, or one type.
    fn hosts(&self, (id, template): ScopedNode<'a>) -> Option<(&'a str, Vec<ScopedNode<'a>>)> {
        let types = self.context.types;
        let defined = &types.effective(id?).requirements;
        let mut hosting = defined.values().map(|part| &part.definition).filter(|definition| {
            match definition.relationship {
                Some(kind) => self
                    .named_type(Family::Relationship, kind)
                    .is_some_and(|id| types.is_hosting(id)),
                None => is_hosting_by_name(definition.named.name),
            }
        });
        let definition = hosting.next().filter(|_| hosting.next().is_none())?;
        let name = definition.named.name;
        let assigned = self.assignments(template, name);
        let assigned =
            assigned.filter(|body| body.as_str().or_else(|| body.get("node")?.as_str()).is_some());
        let hosts: Vec<_> = assigned.map(|body| self.target_of(None, Some(body))).collect();
        match hosts.iter().all(|(_, template)| template.is_some()) {
            true if hosts.is_empty() => Some((name, vec![self.target_of(Some(definition), None)])),
            true => Some((name, hosts)),
            false => None,
        }
    }

    /// Converts a path of version 2.0 to one of version 1.3: one that leads to the same.
    pub(super) fn path_to_1_3(&mut self, node: Node<'a>) -> Option<Out<'a>> {
        let all: Vec<_> = node.items().collect();
        let has = |node: &ScopedNode<'a>, part: &str| self.has_value(node, part);
        let (host, names) = match self.behind_hosts(&all, &has, 2) {
            Some(rest) => (Some((None, text("HOST"))), rest.to_vec()),
            None => (None, self.names_in(&all)?),
        };
        self.names_to_1_3(node, host, names)
    }

    /// A path of version 1.3: `HOST`, or the name that it starts at, and more names.
    fn names_to_1_3(
        &mut self,
        node: Node<'a>,
        host: Option<(Option<Node<'a>>, Out<'a>)>,
        names: Vec<Node<'a>>,
    ) -> Option<Out<'a>> {
        let starts = host.is_none();
        let names = names.into_iter().enumerate().map(|(at, item)| {
            Some((Some(item), self.step_to_1_3(at + usize::from(!starts), item)?))
        });
        let items: Vec<_> = host.into_iter().map(Some).chain(names).collect::<Option<_>>()?;
        Some(list(node, items))
    }

    /// A step of a path, which is no call in version 1.3. The name that it starts at is called so
    /// there, too, where a `$` means nothing.
    pub(super) fn step_to_1_3(&mut self, at: usize, step: Node<'a>) -> Option<Out<'a>> {
        let is_name = step.kind() == NodeKind::Scalar && v2_0::called(step).is_none();
        match at {
            _ if !is_name => None,
            0 => Some(Out::Source(step)),
            _ => self.value_to_1_3(step),
        }
    }

    /// The names of a path of version 2.0, if the path of version 1.3 that has them leads to the same.
    fn names_in(&self, path: &[Node<'a>]) -> Option<Vec<Node<'a>>> {
        let path = self.without_first_indices(path);
        let names = self.simple_path(&path)?;
        let (first, rest) = names.split_first()?;
        let led = self.led((PathWord::Written(*first), rest)).ok()?;
        let words = led.words.iter().map(|word| word.text());
        let is_same = words.eq(path.iter().map(|item| item.text()));
        (is_same || !led.is_certain).then_some(names)
    }

    /// A path of version 2.0 without the indices that say what version 1.3 says without any.
    fn without_first_indices(&self, path: &[Node<'a>]) -> Vec<Node<'a>> {
        let is_node = |name: &Node<'a>| {
            name.text().is_some_and(|name| self.template("node_templates", name).is_some())
        };
        let is_first = |at: usize| {
            let before = |back: usize| path.get(at.checked_sub(back)?);
            let of_node = at == 1 && before(1).is_some_and(is_node);
            let of_requirement = before(2).and_then(|it| it.as_str()) == Some("RELATIONSHIP");
            of_node || of_requirement
        };
        let all = path.iter().enumerate();
        let kept = all.filter(|(at, item)| !(item.text() == Some("0") && is_first(*at)));
        kept.map(|(_, item)| *item).collect()
    }

    /// The names of a path of version 2.0, as version 1.3 writes them. Returns nothing where that
    /// has no such path.
    fn simple_path(&self, path: &[Node<'a>]) -> Option<Vec<Node<'a>>> {
        let words: Vec<_> = path.iter().map(|item| item.as_str().unwrap_or_default()).collect();
        let is_source = matches!(self.scope, SelfScope::Source(_));
        let (first, behind) = match words[..] {
            ["SELF", "SOURCE", _, ..] if is_source => (0, 2),
            ["SELF", "SOURCE" | "TARGET", _, ..] => (1, 2),
            [_, _, ..] => (0, 1),
            _ => return None,
        };
        let is_node = |at: usize| self.template("node_templates", words.get(at)?);
        let (names, rest) = match words.get(behind..)? {
            ["CAPABILITY", _, "RELATIONSHIP", ..] => return None,
            ["CAPABILITY", _, _, ..] => (None, behind + 1),
            ["RELATIONSHIP", _, "TARGET", "RELATIONSHIP" | "CAPABILITY", ..]
            | ["RELATIONSHIP", _, "CAPABILITY", "RELATIONSHIP", ..] => return None,
            ["RELATIONSHIP", _, "TARGET" | "CAPABILITY", _, ..] => (Some(behind + 1), behind + 3),
            ["RELATIONSHIP", _, end, ..] if !END_WORDS.contains(end) => {
                (Some(behind + 1), behind + 2)
            }
            ["RELATIONSHIP" | "CAPABILITY" | "SOURCE" | "TARGET", _, ..] => return None,
            _ => (None, behind),
        };
        let has_index = path.get(rest).is_some_and(is_index)
            && (names.is_some() || behind == 1 && is_node(first).is_some());
        if has_index {
            return None;
        }
        let names = [Some(first), names].into_iter().flatten().chain(rest..path.len());
        names.map(|at| path.get(at).copied()).collect()
    }

    /// The end of a path of version 2.0 that leads over hosts, in so many steps at least, if `HOST`
    /// of version 1.3 leads there. A step may lead to a capability of one.
    fn behind_hosts<'p>(
        &self,
        path: &'p [Node<'a>],
        has: HasNamed<'_, 'a>,
        least: usize,
    ) -> Option<&'p [Node<'a>]> {
        let is = |node: &Node<'a>, word: &str| node.as_str() == Some(word);
        let (first, mut rest) = path.split_first()?;
        if let SelfScope::Source(_) = self.scope {
            rest = rest.split_first().filter(|(end, _)| is(end, "SOURCE"))?.1;
        }
        let mut requirements = Vec::new();
        while let [step, requirement, more @ ..] = rest
            && is(step, "RELATIONSHIP")
        {
            let more = match more {
                [index, more @ ..] if index.text() == Some("0") => more,
                more => more,
            };
            requirements.push(requirement.text()?);
            rest = more.split_first().filter(|(end, _)| is(end, "TARGET"))?.1;
        }
        let of_capability = rest.split_first().filter(|(step, _)| is(step, "CAPABILITY"));
        rest = of_capability.map_or(rest, |(_, rest)| rest);
        let (part, _) = rest.split_first()?;
        let steps = requirements.len() + usize::from(of_capability.is_some());
        if !is(first, "SELF") || steps < least || requirements.is_empty() {
            return None;
        }
        let (hosts, _) = self.host_with(part.text(), has)?;
        (hosts == requirements).then_some(rest)
    }
}
