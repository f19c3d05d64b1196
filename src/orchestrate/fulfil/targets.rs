//! Finds the targets that requirements and selections can have: nodes of the template and of the
//! inventory.

use super::allocated::{Allocations, LackingRoom, amounts, in_base, lacking, unknown_property};
use super::filters::{FilterOwner, PlacedFilter};
use super::inventory::node_type;
use super::slots::{Selection, SlotDemand, Wish, derives};
use super::subject::{FilterGraph, GraphNode, NodeSubject};
use super::uses::{capability_bound, fitting, known_type};
use super::{FulfilQuestion, instance_uri};
use crate::diagnostic::Diagnostics;
use crate::topology::{NodeIndex, RelationIndex, TopologyCapability, TopologyRelation};
use crate::tosca::filter::{FilterReason, FilterVerdict, NodeFilter};
use crate::tosca::fit::RequirementFit;
use crate::tosca::value::DataTypes;
use crate::tosca::{Directive, PermittedEnds, RequirementDefinition, TypeId};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A node that can be a target.
pub(super) struct FulfilTarget<'q, 't> {
    pub name: &'q str,
    /// The place of the node; detached for a node of an inventory.
    pub span: Span,
    pub kind: Option<TypeId>,
    /// The position in the topology, for a node of the template.
    pub node: Option<NodeIndex>,
    /// The position in the inventory, for a node of it.
    pub stored: Option<usize>,
    /// How many more relations may lead to each of its capabilities, if that is bounded.
    left: FxHashMap<String, u64>,
    subject: NodeSubject<'q, 't>,
}

impl FulfilTarget<'_, '_> {
    /// How many more relations may lead to a capability, if that is bounded.
    pub(super) fn left(&self, capability: &str) -> Option<u64> {
        self.left.get(capability).copied()
    }

    /// Whether the node comes from the inventory and is not in the template yet.
    pub(super) fn is_new(&self) -> bool {
        self.node.is_none()
    }
}

/// An option of a demand: a target and one of its capabilities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FulfilOption {
    /// The position of the target.
    pub target: usize,
    /// The capability that the relation leads to.
    pub capability: Rc<str>,
    /// Whether no other capability of the target fits.
    pub is_only: bool,
}

/// The options of a demand that its relations can take.
#[derive(Debug, Default)]
pub(super) struct DemandOptions {
    pub options: Vec<FulfilOption>,
    /// The number of their targets.
    pub targets: usize,
}

impl DemandOptions {
    /// Some options, in the order of their targets.
    pub(super) fn of(options: Vec<FulfilOption>) -> Self {
        let targets = options.chunk_by(|one, other| one.target == other.target).count();
        Self { options, targets }
    }
}

/// The reason why a node does not fit.
#[derive(Clone, Debug)]
pub(super) struct Unfit {
    pub target: usize,
    pub reason: FilterReason,
    /// Whether a filter asks for something that is not known yet.
    pub is_undecided: bool,
}

impl Unfit {
    pub(super) fn new(target: usize, message: String, at: Span) -> Self {
        Self { target, reason: FilterReason { message, at }, is_undecided: false }
    }

    /// The first filter that fails, otherwise the first whose result is not known. If a clause has
    /// no place, it gets that of its filter.
    fn of(
        target: usize,
        verdicts: impl Iterator<Item = (FilterVerdict, Option<Span>)>,
    ) -> Option<Self> {
        let mut undecided = None;
        for (verdict, at) in verdicts {
            let (reason, is_undecided) = match verdict {
                FilterVerdict::Holds => continue,
                FilterVerdict::Fails(reason) => (reason, false),
                FilterVerdict::Undecided(reason) => (reason, true),
            };
            let at = at.filter(|_| reason.at.is_detached()).unwrap_or(reason.at);
            let unfit = Self { target, reason: FilterReason { at, ..reason }, is_undecided };
            if !is_undecided {
                return Some(unfit);
            }
            undecided.get_or_insert(unfit);
        }
        undecided
    }
}

/// The options for a wish, and the nodes of the right type that do not fit.
#[derive(Debug)]
pub(super) struct Fitting<T> {
    pub options: Vec<T>,
    /// The nodes of the template among the options.
    pub nodes: FxHashSet<NodeIndex>,
    pub unfit: Vec<Unfit>,
}

impl<T> Default for Fitting<T> {
    fn default() -> Self {
        Self { options: Vec::new(), nodes: FxHashSet::default(), unfit: Vec::new() }
    }
}

impl<T> Fitting<T> {
    /// Whether nothing fits, but perhaps something will once more is fulfilled.
    pub(super) fn waits(&self) -> bool {
        self.options.is_empty() && self.unfit.iter().any(|unfit| unfit.is_undecided)
    }
}

/// All targets: those of the template first, then those of the inventory, in the order of
/// declaration.
pub(super) struct FulfilTargets<'q, 't> {
    pub all: Vec<FulfilTarget<'q, 't>>,
    question: &'q FulfilQuestion<'q, 'q, 't>,
    filters: &'q FxHashMap<FilterOwner, PlacedFilter<'q>>,
    allocations: &'q Allocations<'q, 't>,
    /// The filters of requirement definitions, each read once.
    defined: FxHashMap<Span, Rc<NodeFilter<'q>>>,
    fitting: FxHashMap<Wish, Rc<Fitting<FulfilOption>>>,
    by_type: FxHashMap<TypeId, Vec<usize>>,
}

impl<'q, 't> FulfilTargets<'q, 't> {
    pub(super) fn of(
        question: &'q FulfilQuestion<'q, 'q, 't>,
        (data_types, graph): (&'q dyn DataTypes<'t>, &'q dyn FilterGraph),
        filters: &'q FxHashMap<FilterOwner, PlacedFilter<'q>>,
        allocations: &'q Allocations<'q, 't>,
    ) -> Self {
        let uses = allocations.uses();
        let FulfilQuestion { topology, types, inventory, .. } = *question;
        let positions: FxHashMap<&str, usize> =
            inventory.nodes.iter().enumerate().map(|(at, node)| (&*node.uri, at)).collect();
        let mut present = FxHashMap::default();
        let mut all = Vec::new();
        for id in topology.node_ids() {
            let node = topology.node(id);
            let stored = instance_uri(node).and_then(|uri| positions.get(uri).copied());
            if let Some(stored) = stored {
                present.insert(stored, id);
            } else if node.directive() != Directive::Select {
                let kind = node_type(types, node);
                let known = kind.map(|kind| &types.effective(kind).capabilities);
                let known = known.into_iter().flat_map(|known| known.iter());
                let left = known.filter_map(|(name, part)| {
                    let own = node.capabilities.iter().find(|own| own.name == *name);
                    let max = capability_bound(own, &part.definition)?;
                    let used = uses.of(id, name).unwrap_or(0);
                    Some(((*name).to_owned(), max.saturating_sub(used)))
                });
                all.push(FulfilTarget {
                    name: &node.name,
                    span: node.span,
                    kind,
                    node: Some(id),
                    stored: None,
                    left: left.collect(),
                    subject: NodeSubject::of(
                        types,
                        data_types,
                        node,
                        GraphNode { graph, node: id },
                    ),
                });
            }
        }
        for (position, node) in inventory.nodes.iter().enumerate() {
            let kind = known_type(types, &node.types);
            let id = present.get(&position).copied();
            let left = node.capabilities.iter().filter_map(|one| {
                let name = one.assigned.name.clone();
                let here = id.and_then(|id| uses.of(id, &name)).unwrap_or(0);
                let known = kind.map(|kind| &types.effective(kind).capabilities);
                let known = known.and_then(|known| known.get(&*name));
                let max = one.max.or_else(|| capability_bound(None, &known?.definition))?;
                Some((name, max.saturating_sub(one.used).saturating_sub(here)))
            });
            all.push(FulfilTarget {
                name: &node.name,
                span: Span::DETACHED,
                kind,
                node: id,
                stored: Some(position),
                left: left.collect(),
                subject: NodeSubject::of_inventory(types, data_types, (node, graph), kind),
            });
        }
        let mut by_type: FxHashMap<TypeId, Vec<usize>> = FxHashMap::default();
        for (position, target) in all.iter().enumerate() {
            for ancestor in target.kind.into_iter().flat_map(|kind| types.chain(kind)) {
                by_type.entry(ancestor).or_default().push(position);
            }
        }
        let (defined, fitting) = (FxHashMap::default(), FxHashMap::default());
        Self { all, question, filters, allocations, defined, fitting, by_type }
    }

    /// The options for the wish of a demand, computed once for each wish.
    pub(super) fn fitting(&mut self, demand: &SlotDemand<'q>) -> Rc<Fitting<FulfilOption>> {
        if let Some(known) = self.fitting.get(&demand.wish) {
            return Rc::clone(known);
        }
        let found = Rc::new(self.find(&demand.wish, demand.definition));
        self.fitting.insert(demand.wish.clone(), Rc::clone(&found));
        found
    }

    fn find(
        &mut self,
        wish: &Wish,
        definition: &'q RequirementDefinition<'q>,
    ) -> Fitting<FulfilOption> {
        let fit = RequirementFit {
            types: self.question.types,
            definition,
            source: wish.source,
            capability: wish.capability.as_ref().map(|(name, file)| (&**name, *file)),
        };
        let asked = self.defined(definition);
        let filters = self.filters;
        let own = wish.filter.and_then(|id| filters.get(&FilterOwner::Relation(id)));
        let candidates: Vec<usize> = match wish.node {
            Some(node) => self.by_type.get(&node).cloned().unwrap_or_default(),
            None => (0..self.all.len()).collect(),
        };
        let mut capabilities: FxHashMap<TypeId, Vec<Rc<str>>> = FxHashMap::default();
        let mut found = Fitting::default();
        for position in candidates {
            let target = &self.all[position];
            let Some(kind) = target.kind.filter(|_| self.is_reachable(wish.scope, target)) else {
                continue;
            };
            let names = capabilities.entry(kind).or_insert_with(|| {
                let fitting = fit.reachable(kind, fit.relationship()).unwrap_or_default();
                fitting.into_iter().map(|(name, _)| name.into()).collect()
            });
            if names.is_empty() {
                continue;
            }
            if !wish.origin.permits(target.stored.is_some()) {
                let message = format!("the requirement takes only {}", wish.origin.permitted());
                found.unfit.push(Unfit::new(position, message, target.span));
                continue;
            }
            let fitting: Vec<&str> = names.iter().map(|name| &**name).collect();
            let source = wish.filter.map(|id| self.question.topology.relation(id).source);
            let relation = (wish.filter, wish.from.or(source));
            let subject = target.subject.required(relation, &fitting);
            let asked = asked.iter().map(|filter| (filter.verdict(&subject), None));
            let own = own.map(|own| (own.filter.verdict(&subject), Some(own.at)));
            match Unfit::of(position, asked.chain(own)) {
                Some(unfit) => found.unfit.push(unfit),
                None => {
                    let is_only = names.len() == 1;
                    let names = names.clone();
                    let mut has_room = false;
                    for capability in names {
                        match self.refusal(position, &capability, wish.allocating) {
                            Some(message) if is_only => found.unfit.push(Unfit::new(
                                position,
                                message,
                                self.all[position].span,
                            )),
                            Some(_) => {}
                            None => {
                                has_room = true;
                                let target = position;
                                found.options.push(FulfilOption { target, capability, is_only });
                            }
                        }
                    }
                    found.nodes.extend(self.all[position].node.filter(|_| has_room));
                }
            }
        }
        if wish.origin == PermittedEnds::ExternalFirst {
            found.options.sort_by_key(|option| self.all[option.target].stored.is_none());
        }
        found
    }

    /// Why a relation cannot lead to a capability that fits.
    fn refusal(
        &self,
        target: usize,
        capability: &str,
        allocating: Option<RelationIndex>,
    ) -> Option<String> {
        let sources = self.sources(target, capability);
        // What the template has comes from outside for an existing node.
        if !sources.permits(self.all[target].stored.is_some()) {
            let only = if sources == PermittedEnds::Internal { "its own" } else { "another" };
            return Some(format!(
                "its capability `{capability}` takes only relations of nodes of {only} template"
            ));
        }
        let unknown = || {
            let relation = self.question.topology.relation(allocating?);
            let property = unknown_property(
                self.question.types,
                self.all[target].kind?,
                capability,
                relation,
            )?;
            Some(format!("its capability `{capability}` has no property `{property}`"))
        };
        let lacking = self.lacking(target, capability, allocating);
        lacking.map(|lacks| lacks.words(capability)).or_else(unknown)
    }

    /// Where relations to a capability may come from.
    fn sources(&self, target: usize, capability: &str) -> PermittedEnds {
        let FulfilQuestion { topology, inventory, .. } = self.question;
        let FulfilTarget { node, stored, .. } = &self.all[target];
        let is_it = |one: &&TopologyCapability| one.name == capability;
        let assigned = match (stored, node) {
            (Some(stored), _) => {
                let all = &inventory.nodes[*stored].capabilities;
                all.iter().map(|it| &it.assigned).find(is_it)
            }
            (None, Some(node)) => topology.node(*node).capabilities.iter().find(is_it),
            (None, None) => None,
        };
        assigned.map_or(PermittedEnds::InternalFirst, TopologyCapability::permitted_ends)
    }

    /// What a relation allocates of a capability more than is left of it.
    fn lacking(
        &self,
        target: usize,
        capability: &str,
        relation: Option<RelationIndex>,
    ) -> Option<LackingRoom> {
        let kind = self.all[target].kind?;
        let relation = self.question.topology.relation(relation?);
        let amounts = amounts(self.question.types, kind, capability, relation);
        lacking(amounts, |property| self.left_of(target, capability, property))
    }

    /// What a relation allocates of a capability of a target.
    pub(super) fn amounts(
        &self,
        target: usize,
        capability: &str,
        relation: RelationIndex,
    ) -> Vec<(String, Value)> {
        let relation = self.question.topology.relation(relation);
        let kind = self.all[target].kind;
        kind.map(|kind| amounts(self.question.types, kind, capability, relation))
            .unwrap_or_default()
    }

    /// What the relations to a node that is to be selected allocate of a target.
    pub(super) fn incoming(
        &self,
        target: usize,
        selection: &Selection,
    ) -> Vec<(&'q str, String, Value)> {
        let FulfilQuestion { topology, types, .. } = *self.question;
        let Some(kind) = self.all[target].kind else { return Vec::new() };
        let relations = selection.incoming.iter().map(|&id| topology.relation(id));
        let allocating = relations.filter(|relation| !relation.allocation.is_empty());
        let of = |relation: &TopologyRelation| {
            let source = node_type(types, topology.node(relation.source))?;
            let name = fitting(types, relation, source, kind).first().copied()?;
            let amounts = amounts(types, kind, name, relation);
            Some(amounts.into_iter().map(move |(property, amount)| (name, property, amount)))
        };
        allocating.filter_map(of).flatten().collect()
    }

    /// What is left of a property of a target's capability, in its base unit; `None` if that is not
    /// known.
    pub(super) fn left_of(&self, target: usize, capability: &str, property: &str) -> Option<Value> {
        let FulfilTarget { node, stored, kind, .. } = &self.all[target];
        let kind = (*kind)?;
        let left = match (stored, node) {
            (Some(stored), node) => {
                let stored = &self.question.inventory.nodes[*stored];
                self.allocations.stored_left(stored, (*node, kind), capability, property)?
            }
            (None, node) => self.allocations.left((*node)?, capability, property)?,
        };
        in_base(self.question.types, kind, (capability, property), &left)
    }

    /// Whether a target is in the inventory, or among the nodes of the same template.
    fn is_reachable(&self, scope: u32, target: &FulfilTarget<'_, '_>) -> bool {
        target.stored.is_some() || (self.question.scope)(target.name) == scope
    }

    /// The filters in the definition of a requirement.
    fn defined(&mut self, definition: &RequirementDefinition<'q>) -> Vec<Rc<NodeFilter<'q>>> {
        let filters = definition.node_filters.iter().map(|&filter| {
            let read = || Rc::new(NodeFilter::read(filter, &mut Diagnostics::default()));
            Rc::clone(self.defined.entry(filter.span()).or_insert_with(read))
        });
        filters.collect()
    }

    /// The nodes of the inventory that can be selected for a node. They have to fulfil its
    /// conditions and those of the relations to it.
    pub(super) fn selectable(&mut self, selection: &Selection) -> Fitting<usize> {
        let FulfilQuestion { topology, types, .. } = *self.question;
        let owners = [FilterOwner::Node(selection.node), FilterOwner::Assigned(selection.node)];
        let filters = self.filters;
        let asked: Vec<_> = owners.into_iter().filter_map(|owner| filters.get(&owner)).collect();
        let incoming: Vec<_> = selection
            .incoming
            .iter()
            .filter_map(|&id| {
                let relation = topology.relation(id);
                let source = node_type(types, topology.node(relation.source))?;
                let part = types.effective(source).requirements.get(&*relation.name)?;
                Some((id, relation, source, self.defined(&part.definition)))
            })
            .collect();
        let mut found = Fitting::default();
        for (position, target) in self.all.iter().enumerate() {
            let (Some(kind), true) = (target.kind, target.stored.is_some() && target.is_new())
            else {
                continue;
            };
            if selection.kind.is_none_or(|wanted| !derives(types, kind, wanted)) {
                continue;
            }
            let own = asked.iter().map(|own| (own.filter.verdict(&target.subject), Some(own.at)));
            let by_relations = incoming.iter().map(|(id, relation, source, filters)| {
                let mut capabilities = fitting(types, relation, *source, kind);
                capabilities.retain(|name| self.sources(position, name).permits(true));
                if capabilities.is_empty() {
                    let message = format!(
                        "it has no capability for the requirement `{}` of `{}`",
                        relation.name,
                        topology.node(relation.source).name
                    );
                    let reason = FilterReason { message, at: relation.span };
                    return (FilterVerdict::Fails(reason), None);
                }
                let relation = (Some(*id), Some(relation.source));
                let subject = target.subject.required(relation, &capabilities);
                let mut verdicts = filters.iter().map(|filter| filter.verdict(&subject));
                let refusal = verdicts.find(|verdict| !matches!(verdict, FilterVerdict::Holds));
                (refusal.unwrap_or(FilterVerdict::Holds), None)
            });
            match Unfit::of(position, own.chain(by_relations)) {
                Some(unfit) => found.unfit.push(unfit),
                None => found.options.push(position),
            }
        }
        found
    }
}
