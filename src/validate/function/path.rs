//! Follows paths of TOSCA 2.0 (section 10.3) by the types of what they lead to.

use super::super::checker::Checker;
use super::applied::JudgedExpression;
use super::kind::{Fit, KnownValue, ValueType};
use super::target::{ConditionalValue, ReferredEntity};
use crate::diagnostic::{Code, Diagnostic, Rule, TOSCA_2_0, did_you_mean};
use crate::tosca::function::{Arguments, Call, Function, Name};
use crate::tosca::requirement::{AssignedCount, bounds, number_of, times};
use crate::tosca::v2_0::function::ALLOCATION;
use crate::tosca::value::{Primitive, Undecided, UndecidedReason};
use crate::tosca::{Family, Parts, PropertyDefinition, RequirementDefinition, TypeId, v2_0};
use crate::variability::element::ElementKind;
use crate::variability::graph::{ElementId, NodeElement, NodeId, RelationElement};
use cuvee_text::yaml::{Node, NodeKind, Scalar};

/// A node that a path has reached.
#[derive(Clone, Copy)]
pub(in crate::validate) struct ReachedNode {
    pub kind: TypeId,
    /// Its template, if that is known.
    pub template: Option<NodeId>,
}

/// A relationship that a path has reached, as far as it is known.
#[derive(Clone, Copy, Default)]
pub(in crate::validate) struct ReachedRelationship {
    pub kind: Option<TypeId>,
    pub source: Option<ReachedNode>,
    pub target: Option<ReachedNode>,
    /// The type of the capability that it leads to.
    pub capability: Option<TypeId>,
}

impl ReachedNode {
    /// What is known of both.
    fn common(self, other: Self) -> Option<Self> {
        let template = self.template.filter(|_| self.template == other.template);
        (self.kind == other.kind).then_some(Self { template, ..self })
    }
}

impl ReachedRelationship {
    /// What is known of both.
    fn common(self, other: Self) -> Self {
        let same = |one: Option<TypeId>, other| one.filter(|_| one == other);
        let node = |one: Option<ReachedNode>, other: Option<ReachedNode>| one?.common(other?);
        Self {
            kind: same(self.kind, other.kind),
            source: node(self.source, other.source),
            target: node(self.target, other.target),
            capability: same(self.capability, other.capability),
        }
    }
}

/// What a path has reached.
#[derive(Clone, Copy)]
pub(in crate::validate) enum PathStop<'c> {
    Node(ReachedNode),
    Relationship(ReachedRelationship),
    Capability(Members<'c>),
    Unknown,
    /// There is nothing where the path starts.
    Nothing,
}

impl PathStop<'_> {
    /// What is known of both.
    pub(in crate::validate) fn common(self, other: Self) -> Self {
        match (self, other) {
            (Self::Node(one), Self::Node(other)) => {
                one.common(other).map_or(Self::Unknown, Self::Node)
            }
            (Self::Relationship(one), Self::Relationship(other)) => {
                Self::Relationship(one.common(other))
            }
            _ => Self::Unknown,
        }
    }
}

/// Where the values of an activity stand.
#[derive(Clone, Copy)]
pub(in crate::validate) struct ActivityPlace<'p, 'c, 'a> {
    /// What `SELF` is there.
    pub own: PathStop<'c>,
    /// The inputs of the workflow.
    pub inputs: &'p [PropertyDefinition<'a>],
    /// The elements that must be present.
    pub when: &'p [ElementId],
}

/// The properties and attributes of what a path has reached.
#[derive(Clone, Copy)]
pub(in crate::validate) struct Members<'c> {
    /// Its type, if it is known.
    kind: Option<TypeId>,
    properties: &'c Parts<'c, PropertyDefinition<'c>>,
    attributes: &'c Parts<'c, PropertyDefinition<'c>>,
    is_open: bool,
}

/// Where a path ends, and what it names there.
pub(super) struct PathEnd<'s, 'c, 'a> {
    pub reached: PathStop<'c>,
    pub rest: &'s [Node<'a>],
    /// Whether it leads to several at once.
    pub is_list: bool,
}

impl<'s, 'n> PathEnd<'s, '_, 'n> {
    /// Goes on behind an index, if there is one.
    fn pass_index(&mut self, steps: &'s [Node<'n>]) -> Result<Option<WrittenIndex>, Diagnostic> {
        let (index, rest) = index(steps)?;
        self.is_list |= index == Some(WrittenIndex::All);
        self.rest = rest;
        Ok(index)
    }

    /// Goes on behind a capability. Returns whether the path leads back from there to a relationship.
    fn leads_back(&mut self, steps: &'s [Node<'n>]) -> Result<bool, Diagnostic> {
        self.rest = steps;
        let Some((word, rest)) = steps.split_first() else { return Ok(false) };
        let leads_back = word.as_str() == Some("RELATIONSHIP");
        if leads_back {
            self.pass_index(rest)?;
        }
        Ok(leads_back)
    }
}

/// An index in a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WrittenIndex {
    Number(u64),
    All,
}

impl<'c, 'a> Checker<'c, 'a> {
    /// The results of a call of TOSCA 2.0 that asks for something at a path; `None` for others.
    pub(super) fn asked<'n>(
        &self,
        own: Option<ElementId>,
        value: Node<'n>,
    ) -> Option<(Call<'n>, Vec<ConditionalValue>)> {
        let (call, steps) = path_call(value)?;
        let Arguments::Path(entity, _) = call.arguments else { return None };
        // An artifact of a node itself is looked up in its template.
        if call.function == Function::GetArtifact && Call::of_2_0(value).is_some() {
            return None;
        }
        let answers = match self.entity(own, &call, entity) {
            Err(error) => vec![ConditionalValue::always(Err(error))],
            Ok(ReferredEntity::Element(id)) => match self.graph.element(id).kind {
                ElementKind::Node | ElementKind::Relation => self.asked_of(id, &call, &steps),
                _ => return None,
            },
            Ok(ReferredEntity::HostOf(_) | ReferredEntity::Open) => Vec::new(),
        };
        Some((call, answers))
    }

    /// The error about a path that starts at a group (section 10.3).
    pub(super) fn group_at_start(&self, value: Node<'_>) -> Option<Diagnostic> {
        let (call, _) = path_call(value)?;
        let Arguments::Path(entity, _) = &call.arguments else { return None };
        let found = self.entity(None, &call, *entity).ok()?;
        let ReferredEntity::Element(id) = found else { return None };
        (self.graph.element(id).kind == ElementKind::Group).then(|| {
            let message = format!(
                "a path starts at a node or relationship template, and `{}` is a group",
                entity.text
            );
            invalid(entity.at, message)
        })
    }

    pub(super) fn asked_of<'n>(
        &self,
        id: ElementId,
        call: &Call<'n>,
        steps: &[Node<'n>],
    ) -> Vec<ConditionalValue> {
        let element = self.graph.element(id);
        let slot = element.slot;
        let is_named = steps.first().and_then(|start| start.as_str()) != Some("SELF");
        // A relationship without a type of its own has that of the requirement.
        let is_typed = !self.graph.types_of(id).is_empty();
        if let (ElementKind::Relation, false) = (element.kind, is_typed) {
            let ends = self.ends_of(&self.graph.relations[slot as usize], None);
            let outcome = self.at_path(PathStop::Relationship(ends), call, steps, is_named);
            return vec![ConditionalValue::always(outcome)];
        }
        self.ask(id, |kind| {
            let start = match element.kind {
                ElementKind::Node => {
                    PathStop::Node(ReachedNode { kind, template: Some(NodeId(slot)) })
                }
                _ => {
                    let relation = &self.graph.relations[slot as usize];
                    PathStop::Relationship(self.ends_of(relation, Some(kind)))
                }
            };
            self.at_path(start, call, steps, is_named)
        })
    }

    /// Checks all calls in an expression, in which `SELF` is something of these types.
    pub(in crate::validate) fn paths(&self, own: PathStop<'c>, expression: Node<'_>) {
        self.expression(own, expression);
    }

    fn expression<'n>(&self, own: PathStop<'c>, expression: Node<'n>) -> Vec<ConditionalValue> {
        let ask = |node: Node<'n>| {
            let (call, steps) = path_call(node)?;
            let is_own = steps.first().and_then(|start| start.as_str()) == Some("SELF");
            let answers = match is_own {
                true if matches!(own, PathStop::Nothing) => {
                    let message = "nothing is `SELF` here: start at the name of a node";
                    let error = invalid(node, message.to_owned());
                    vec![ConditionalValue::always(Err(error))]
                }
                true => vec![ConditionalValue::always(self.at_path(own, &call, &steps, false))],
                false => self.asked(None, node).map(|(_, answers)| answers).unwrap_or_default(),
            };
            for ConditionalValue { when, outcome } in &answers {
                if let Err(error) = outcome {
                    self.report_when(when, &[], error.clone());
                }
            }
            Some(answers)
        };
        self.judged(JudgedExpression { when: &[], value: None, ask: &ask }, expression)
    }

    /// Checks that what a call in the value of an activity gives fits the input. What is wrong with
    /// the call itself is reported with the whole value.
    pub(in crate::validate) fn result_fits(
        &self,
        place: ActivityPlace<'_, 'c, 'a>,
        open: &Undecided<'_>,
    ) {
        let call = open.node;
        let is_call = matches!(open.reason, UndecidedReason::Function(_));
        let kind = open.schema.and_then(|schema| self.declared_type(schema));
        let Some(kind) = kind.filter(|_| is_call && v2_0::is_of(call.document())) else { return };
        let answers = match Call::read(call).and_then(Result::ok).map(|it| it.arguments) {
            Some(Arguments::Input(name, path)) => {
                let mut inputs = place.inputs.iter();
                match inputs.find(|it| Some(it.named.name) == name.text()) {
                    Some(own) => vec![ConditionalValue::always(self.part_of(own, &path))],
                    None => self.input_call(name, &path),
                }
            }
            _ => self.expression(place.own, call),
        };
        for ConditionalValue { when, outcome } in answers {
            if let Ok(outcome) = outcome
                && self.fit(&outcome, &kind) == Fit::No
            {
                let when = [place.when, &when].concat();
                self.report_when(&when, &[], self.misfit(call, &outcome, &kind));
            }
        }
    }

    /// The same of a condition, or of a list of these: what they give are booleans.
    pub(in crate::validate) fn condition(&self, own: PathStop<'c>, condition: Node<'_>) {
        if condition.kind() == NodeKind::Sequence {
            return condition.items().for_each(|one| self.condition(own, one));
        }
        let boolean = ValueType::of(Primitive::Boolean);
        let found = self.expression(own, condition);
        // What other functions give is judged by their names.
        for ConditionalValue { when, outcome } in
            found.iter().filter(|_| path_call(condition).is_some())
        {
            if let Ok(outcome) = outcome
                && self.fit(outcome, &boolean) == Fit::No
            {
                self.report_when(when, &[], self.misfit(condition, outcome, &boolean));
            }
        }
    }

    /// The value that a call asks for, from where its path starts.
    pub(super) fn at_path<'n>(
        &self,
        start: PathStop<'c>,
        call: &Call<'n>,
        steps: &[Node<'n>],
        is_named: bool,
    ) -> Result<KnownValue, Diagnostic> {
        let Some((first, rest)) = steps.split_first() else { return Ok(KnownValue::Unknown) };
        let (true, PathStop::Node(node)) = (is_named, start) else {
            return self.behind_start(start, call, rest, false);
        };
        let (index, behind) = index(rest)?;
        self.has_node(node, index, *first)?;
        let found = self.behind_start(start, call, behind, index == Some(WrittenIndex::All));
        // What is computed behind the name of a node may also be the name of a property.
        let is_computed = rest.first().is_some_and(|step| v2_0::called(*step).is_some());
        found.or_else(|error| if is_computed { Ok(KnownValue::Unknown) } else { Err(error) })
    }

    /// The value that a call asks for behind the start of its path.
    fn behind_start<'n>(
        &self,
        start: PathStop<'c>,
        call: &Call<'n>,
        rest: &[Node<'n>],
        is_list: bool,
    ) -> Result<KnownValue, Diagnostic> {
        let is_artifact = call.function == Function::GetArtifact;
        let (named, rest) = match rest.split_last().filter(|_| is_artifact) {
            Some((name, before)) => (Some(name), before),
            None => (None, rest),
        };
        let end = self.follow(start, rest)?;
        let is_list = is_list || end.is_list;
        if is_artifact {
            if let Some(step) = end.rest.first() {
                return Err(no_step(*step));
            }
            if let Some(name) = named {
                self.has_artifact(end.reached, *name)?;
            }
            // The location of the artifact.
            return Ok(KnownValue::Typed(ValueType::of(Primitive::String)));
        }
        let found = self.member(end.reached, call, end.rest)?;
        Ok(match found {
            KnownValue::Typed(entry) if is_list => KnownValue::Typed(ValueType::list_of(entry)),
            found => found,
        })
    }

    /// Reports an artifact that what a path has reached does not have (section 10.2.1.4).
    fn has_artifact(&self, reached: PathStop<'c>, name: Node<'_>) -> Result<(), Diagnostic> {
        let node = match reached {
            PathStop::Node(node) => node,
            PathStop::Capability(_) | PathStop::Relationship(_) => {
                let what = match reached {
                    PathStop::Capability(_) => "capability",
                    _ => "relationship",
                };
                let message = format!("the path leads to a {what}, and only nodes have artifacts");
                return Err(invalid(name, message));
            }
            PathStop::Unknown | PathStop::Nothing => return Ok(()),
        };
        let effective = self.types.effective(node.kind);
        let text = name.text().unwrap_or_default();
        let is_known = effective.artifacts.contains_key(text) || effective.is_open;
        // Only a template tells whether the node has more of them.
        let Some(template) = node.template.map(|id| self.graph.node(id)) else { return Ok(()) };
        let holder = self.graph.holder(template, "artifacts");
        let mut own = holder.artifacts.iter().chain(&template.artifacts);
        let is_found_elsewhere =
            self.graph.holder(template, "directives").template.declared.value();
        if is_known
            || v2_0::called(name).is_some()
            || own.any(|id| self.graph.element(*id).name == text)
            || is_found_elsewhere.get("directives").is_some()
        {
            return Ok(());
        }
        let message =
            format!("`{}` has no artifact `{text}`", self.graph.element(template.id).name);
        let error = Diagnostic::error(Code::UnknownElement, message).at(name.span());
        let known = effective.artifacts.keys().copied();
        let known = known.chain(holder.artifacts.iter().map(|id| self.graph.element(*id).name));
        Err(error.rule(Rule::new(&TOSCA_2_0, "10.2.1.4")).help_opt(did_you_mean(text, known)))
    }

    /// Reports an index that no node of a template has.
    fn has_node(
        &self,
        node: ReachedNode,
        index: Option<WrittenIndex>,
        at: Node<'_>,
    ) -> Result<(), Diagnostic> {
        let template = node.template.map(|id| self.graph.node(id));
        let said = template.map(|it| self.graph.holder(it, "instance_count"));
        let there = said.and_then(|it| number_of(it.template.declared.value()));
        match (index, there) {
            (Some(WrittenIndex::Number(index)), Some(there)) if index >= there => Err(invalid(
                at,
                format!("there is no node {index} of this template, which stands for {there}"),
            )),
            _ => Ok(()),
        }
    }

    /// Follows the steps of a path as far as they lead.
    pub(super) fn follow<'s, 'n>(
        &self,
        start: PathStop<'c>,
        steps: &'s [Node<'n>],
    ) -> Result<PathEnd<'s, 'c, 'n>, Diagnostic> {
        let mut end = PathEnd { reached: start, rest: steps, is_list: false };
        while let Some((word, rest)) = end.rest.split_first() {
            end.reached = match (end.reached, word.as_str(), rest) {
                (PathStop::Node(node), Some("RELATIONSHIP"), [name, rest @ ..]) => {
                    let index = end.pass_index(rest)?;
                    self.outgoing(node, *name, index)?
                }
                (PathStop::Node(node), Some("CAPABILITY"), [name, rest @ ..]) => {
                    let (members, capability) = self.capability_named(node, *name)?;
                    match end.leads_back(rest)? {
                        true => PathStop::Relationship(ReachedRelationship {
                            target: Some(node),
                            capability,
                            ..self.incoming(node, name.text().unwrap_or_default())
                        }),
                        false => members,
                    }
                }
                (PathStop::Relationship(it), Some("CAPABILITY"), rest) => {
                    let members = it.capability.map(|kind| self.members_of(kind));
                    match end.leads_back(rest)? {
                        true => PathStop::Relationship(ReachedRelationship { target: None, ..it }),
                        false => members.map_or(PathStop::Unknown, PathStop::Capability),
                    }
                }
                (PathStop::Relationship(it), Some(word @ ("SOURCE" | "TARGET")), rest) => {
                    end.rest = rest;
                    let node = if word == "SOURCE" { it.source } else { it.target };
                    node.map_or(PathStop::Unknown, PathStop::Node)
                }
                // What comes behind something unknown cannot be told from names.
                _ => break,
            };
        }
        Ok(end)
    }

    /// The relationship of a requirement.
    fn outgoing<'n>(
        &self,
        node: ReachedNode,
        name: Node<'n>,
        index: Option<WrittenIndex>,
    ) -> Result<PathStop<'c>, Diagnostic> {
        let effective = self.types.effective(node.kind);
        let text = name.text().unwrap_or_default();
        let Some(part) = effective.requirements.get(text) else {
            if effective.is_open || v2_0::called(name).is_some() {
                return Ok(PathStop::Unknown);
            }
            let known = effective.requirements.keys().copied();
            return Err(self.has_no(node.kind, "requirement", name, known));
        };
        let definition = &part.definition;
        if let (Some(WrittenIndex::Number(index)), Some(max)) = (index, bounds(definition).max)
            && index >= max
        {
            let message = format!(
                "`{text}` occurs {} at most, so no relation has the index {index}",
                times(max)
            );
            return Err(invalid(name, message));
        }
        let template = node.template.map(|id| self.graph.node(id));
        let template = template.map(|node| self.graph.holder(node, "requirements"));
        let assigned = template.iter().flat_map(|node| &node.relations);
        let assigned = assigned.map(|&id| self.graph.relation(id));
        let of_name = |relation: &&RelationElement<'_>| {
            self.graph.element(relation.id).name == text && self.counts(relation.id)
        };
        let assigned: Vec<_> = assigned.filter(of_name).collect();
        let most = assigned.iter().try_fold(0_u64, |all, relation| {
            let AssignedCount { max, is_known, .. } =
                AssignedCount::read(relation.requirement.declared.value());
            Some(all.saturating_add(max.filter(|_| is_known)?))
        });
        // A node that is found elsewhere brings relations of its own.
        let is_own =
            template.is_some_and(|it| it.template.declared.value().get("directives").is_none());
        if let (Some(WrittenIndex::Number(index)), Some(most)) = (index, most)
            && is_own
            && !assigned.is_empty()
            && index >= most
        {
            let most = times(most);
            let message =
                format!("`{text}` is assigned {most}, so no relation has the index {index}");
            return Err(invalid(name, message));
        }
        let source = Some(node);
        Ok(PathStop::Relationship(match &assigned[..] {
            [] => ReachedRelationship { source, ..self.defined_ends(definition) },
            [only] if index != Some(WrittenIndex::All) => {
                let ends = self.ends_of(only, self.only_type(only.id));
                let kind = ends.kind.or(self.defined_ends(definition).kind);
                ReachedRelationship { kind, source, ..ends }
            }
            several => {
                let ends = several.iter().map(|it| self.ends_of(it, self.only_type(it.id)));
                let common = ends.reduce(ReachedRelationship::common).unwrap_or_default();
                ReachedRelationship { source, ..common }
            }
        }))
    }

    /// What all relationships to a capability have in common, where the template decides which these
    /// are.
    fn incoming(&self, node: ReachedNode, capability: &str) -> ReachedRelationship {
        let none = ReachedRelationship::default();
        let Some(template) = node.template.map(|id| self.graph.node(id)) else { return none };
        // A node that is found elsewhere is the target of others, too, and so is one whose capability
        // stands for that of another node.
        let is_own = template.template.declared.value().get("directives").is_none();
        let name = self.graph.element(template.id).name;
        let mappings = self.graph.template.root.get("topology_template");
        let mapped = mappings.and_then(|it| it.get("substitution_mappings")?.get("capabilities"));
        let mut mapped = mapped.into_iter().flat_map(Node::entries);
        let is_mapped =
            mapped.any(|(_, to)| to.items().next().is_some_and(|it| it.text() == Some(name)));
        if !is_own || is_mapped || self.has_open_relations() {
            return none;
        }
        let mut ends = Vec::new();
        for &id in &template.incoming {
            let relation = self.graph.relation(id);
            match self.leads_to(id, template, capability) {
                _ if !self.counts(relation.id) => {}
                Some(false) => {}
                Some(true) => ends.push(self.ends_of(relation, self.only_type(relation.id))),
                None => return none,
            }
        }
        ends.into_iter().reduce(ReachedRelationship::common).unwrap_or(none)
    }

    /// Whether requirements are left open, so that their targets may be any nodes.
    fn has_open_relations(&self) -> bool {
        *self.functions.has_open_relations.get_or_init(|| {
            let graph = self.graph;
            let mut relations = graph.relations.iter().filter(|it| self.counts(it.id));
            let is_left = |node: &NodeElement<'a>| {
                let is_assigned = |name: &str| {
                    let mut own = node.relations.iter().map(|&id| graph.relation(id).id);
                    own.any(|id| graph.element(id).name == name)
                };
                let kinds = self.alternatives(node.id).into_iter().filter_map(|(kind, _)| kind);
                let mut kinds = kinds.map(|kind| &self.types.effective(kind).requirements);
                kinds.any(|all| {
                    let mut needed = all.iter().filter(|(_, it)| bounds(&it.definition).min > 0);
                    needed.any(|(name, _)| !is_assigned(name))
                })
            };
            relations.any(|relation| relation.target.is_none()) || graph.nodes.iter().any(is_left)
        })
    }

    /// The ends of a relationship as the definition of its requirement has them.
    pub(in crate::validate) fn defined_ends(
        &self,
        definition: &RequirementDefinition<'_>,
    ) -> ReachedRelationship {
        let target = self.defined(Family::Node, definition.node);
        ReachedRelationship {
            kind: self.defined(Family::Relationship, definition.relationship),
            source: None,
            target: target.map(|kind| ReachedNode { kind, template: None }),
            capability: self.defined(Family::Capability, definition.capability),
        }
    }

    /// The ends of a relation.
    pub(in crate::validate) fn ends_of(
        &self,
        relation: &RelationElement<'a>,
        kind: Option<TypeId>,
    ) -> ReachedRelationship {
        let node = |id: NodeId| {
            let kind = self.only_type(self.graph.node(id).id)?;
            Some(ReachedNode { kind, template: Some(id) })
        };
        let source = node(relation.source);
        let requirements = source.map(|source| &self.types.effective(source.kind).requirements);
        let part = requirements.and_then(|all| all.get(self.graph.element(relation.id).name));
        let defined = part.map(|part| self.defined_ends(&part.definition)).unwrap_or_default();
        let named = relation.requirement.target().filter(|_| relation.target.is_none());
        let named = self.defined(Family::Node, named);
        let target = match (relation.target, named) {
            (Some(target), _) => node(target),
            (None, Some(kind)) => Some(ReachedNode { kind, template: None }),
            (None, None) => defined.target,
        };
        // The assignment may name types instead of a template and of a capability.
        let assigned = |family, keyname| {
            self.defined(family, relation.requirement.declared.value().get(keyname))
        };
        let capability = match (target, relation.target) {
            (Some(target), _) => self.capability_led_to(relation, source, target),
            (None, Some(_)) => None,
            (None, None) => assigned(Family::Capability, "capability").or(defined.capability),
        };
        let kind = kind.or_else(|| assigned(Family::Relationship, "relationship"));
        ReachedRelationship { kind: kind.or(defined.kind), source, target, capability }
    }

    /// The type of the capability of a target that a relation leads to, where it can be no other.
    fn capability_led_to(
        &self,
        relation: &RelationElement<'a>,
        source: Option<ReachedNode>,
        target: ReachedNode,
    ) -> Option<TypeId> {
        let fitting = self.reachable(relation, source?.kind, target.kind)?;
        let mut kinds = fitting.iter().map(|(_, it)| self.defined(Family::Capability, it.kind));
        let first = kinds.next()?;
        first.filter(|_| kinds.all(|kind| kind == first))
    }

    /// The type of an element, if it has the same in all variants.
    pub(super) fn only_type(&self, id: ElementId) -> Option<TypeId> {
        match self.alternatives(id)[..] {
            [(kind, _)] => kind,
            _ => None,
        }
    }

    fn capability_named<'n>(
        &self,
        node: ReachedNode,
        name: Node<'n>,
    ) -> Result<(PathStop<'c>, Option<TypeId>), Diagnostic> {
        let effective = self.types.effective(node.kind);
        let text = name.text().unwrap_or_default();
        let Some(part) = effective.capabilities.get(text) else {
            if effective.is_open || v2_0::called(name).is_some() {
                return Ok((PathStop::Unknown, None));
            }
            let known = effective.capabilities.keys().copied();
            return Err(self.has_no(node.kind, "capability", name, known));
        };
        let capability = &part.definition;
        let kind = self.defined(Family::Capability, capability.kind);
        let members = Members {
            kind,
            properties: &capability.properties,
            attributes: &capability.attributes,
            is_open: capability.is_open,
        };
        Ok((PathStop::Capability(members), kind))
    }

    fn members_of(&self, kind: TypeId) -> Members<'c> {
        let effective = self.types.effective(kind);
        Members {
            kind: Some(kind),
            properties: &effective.properties,
            attributes: &effective.attributes,
            is_open: effective.is_open,
        }
    }

    /// The property or attribute that the rest of a path names.
    fn member<'n>(
        &self,
        reached: PathStop<'c>,
        call: &Call<'n>,
        rest: &[Node<'n>],
    ) -> Result<KnownValue, Diagnostic> {
        let is_attribute = call.function == Function::GetAttribute;
        let noun = if is_attribute { "attribute" } else { "property" };
        let Some((name, nested)) = rest.split_first() else {
            return Err(invalid(call.node, format!("the path names no {noun} at its end")));
        };
        let text = name.text().unwrap_or_default();
        let is_allocation = v2_0::called(call.node).is_some_and(|(name, _)| name == ALLOCATION);
        let members = match reached {
            PathStop::Unknown | PathStop::Nothing => return Ok(KnownValue::Unknown),
            PathStop::Node(_) | PathStop::Relationship(_) if is_allocation => {
                return Err(invalid(
                    *name,
                    format!("the path of `${ALLOCATION}` leads to a capability"),
                ));
            }
            PathStop::Capability(members) => members,
            PathStop::Node(node) => self.members_of(node.kind),
            PathStop::Relationship(ReachedRelationship { kind: Some(kind), .. }) => {
                self.members_of(kind)
            }
            PathStop::Relationship(_) => return Ok(KnownValue::Unknown),
        };
        let section = if is_attribute { "10.2.1.3" } else { "10.2.1.2" };
        let rule = Rule::new(&TOSCA_2_0, section);
        let attribute = members.attributes.get(text).filter(|_| is_attribute);
        if let Some(part) = attribute.or_else(|| members.properties.get(text)) {
            let found = self.part_of(&part.definition, nested);
            return found.map_err(|error| error.rule(rule));
        }
        // An assignment without a definition is reported where it is made.
        let template = if let PathStop::Node(node) = reached { node.template } else { None };
        let is_assigned = template.is_some_and(|id| self.is_assigned(self.graph.node(id).id, text));
        match is_assigned || members.is_open || v2_0::called(*name).is_some() {
            true => Ok(KnownValue::Unknown),
            false => Err(self.no_member(reached, members, (*name, noun), rule)),
        }
    }

    fn no_member(
        &self,
        reached: PathStop<'_>,
        members: Members<'_>,
        (name, noun): (Node<'_>, &str),
        rule: Rule,
    ) -> Diagnostic {
        let (text, owner) =
            (name.text().unwrap_or_default(), members.kind.map(|it| self.called(it)));
        let owner = owner.unwrap_or_default();
        let error =
            |message| Diagnostic::error(Code::UnknownProperty, message).at(name.span()).rule(rule);
        if let PathStop::Node(node) = reached {
            let effective = self.types.effective(node.kind);
            let as_capability = effective.capabilities.contains_key(text);
            let as_requirement = effective.requirements.contains_key(text);
            let meant = match (as_capability, as_requirement) {
                (true, _) => Some(("capability", format!("CAPABILITY, {text}, …"))),
                (false, true) => Some(("requirement", format!("RELATIONSHIP, {text}, TARGET, …"))),
                (false, false) => None,
            };
            if let Some((what, way)) = meant {
                let message = format!("`{text}` is a {what}, and the path does not say so");
                return error(message).help(format!("write `{way}` in the path"));
            }
        }
        let found = error(format!("`{owner}` has no {noun} `{text}`"));
        if noun == "property" && members.attributes.contains_key(text) {
            return found.help("it is an attribute: use `get_attribute`");
        }
        let attributes = members.attributes.keys().filter(|_| noun == "attribute");
        found.help_opt(did_you_mean(text, members.properties.keys().chain(attributes).copied()))
    }

    fn has_no<'k>(
        &self,
        kind: TypeId,
        what: &str,
        name: Node<'_>,
        known: impl Iterator<Item = &'k str>,
    ) -> Diagnostic {
        let (owner, text) = (self.called(kind), name.text().unwrap_or_default());
        let message = format!("`{owner}` has no {what} `{text}`");
        let error = Diagnostic::error(Code::UnknownDefinition, message).at(name.span());
        error.rule(Rule::new(&TOSCA_2_0, "10.3")).help_opt(did_you_mean(text, known))
    }
}

/// A call that asks for something at a path, and the steps of the path.
pub(super) fn path_call(value: Node<'_>) -> Option<(Call<'_>, Vec<Node<'_>>)> {
    if !v2_0::is_of(value.document()) {
        return None;
    }
    let (name, path) = v2_0::called(value)?;
    let function = Function::named(if name == ALLOCATION { "get_property" } else { name })?;
    let asks = [Function::GetProperty, Function::GetAttribute, Function::GetArtifact];
    let steps: Vec<_> = path.filter(|_| asks.contains(&function))?.items().collect();
    // That there are too few, who knows the function tells.
    let &[start, _, ..] = &steps[..] else { return None };
    let entity = Name { text: start.as_str()?, at: start };
    let arguments = Arguments::Path(entity, Vec::new());
    Some((Call { node: value, function, arguments }, steps))
}

/// The index that a path may have next, and the steps behind it. A call gives one that is not known.
fn index<'s, 'n>(
    steps: &'s [Node<'n>],
) -> Result<(Option<WrittenIndex>, &'s [Node<'n>]), Diagnostic> {
    let Some((first, rest)) = steps.split_first() else { return Ok((None, steps)) };
    Ok(match first.scalar() {
        Some(Scalar::Int(index)) => match u64::try_from(index) {
            Ok(index) => (Some(WrittenIndex::Number(index)), rest),
            Err(_) => return Err(invalid(*first, "an index is a number from 0 up".to_owned())),
        },
        Some(Scalar::String("ALL")) => (Some(WrittenIndex::All), rest),
        _ if v2_0::called(*first).is_some() => (None, rest),
        _ => (None, steps),
    })
}

fn no_step(step: Node<'_>) -> Diagnostic {
    invalid(step, format!("`{}` is no step of a path", step.text().unwrap_or_default()))
}

fn invalid(at: Node<'_>, message: String) -> Diagnostic {
    let error = Diagnostic::error(Code::InvalidFunction, message).at(at.span());
    error.rule(Rule::new(&TOSCA_2_0, "10.3"))
}
