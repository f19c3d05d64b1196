//! Leads requirements to the nodes that templates stand for (sections 8.7.1 and 14.3).
//!
//! A target with an index is one node. Of a template alone, each relation of one requirement leads
//! to another node: to those that fewest relations of this requirement lead to, so that pairs and
//! regular patterns come out as such.

use super::known::{Indices, KnownInputs};
use super::matching::{Slot, matched};
use super::{NodeCounts, REPRESENTATIONS, Representing, whole};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Rule, TOSCA_2_0};
use crate::orchestrate::evaluated::evaluate;
use crate::orchestrate::fulfil::{
    Allocations, FilterGraph, FilterOwner, FilterTexts, GraphNode, NodeSubject, PlacedFilter,
    amounts, capability_uses, fitting, in_base, lacking, node_type,
};
use crate::orchestrate::representation;
use crate::orchestrate::substitute::flatten::{lead, with_body, written};
use crate::orchestrate::substitute::view::{
    TemplateView, ViewedNode, ViewedRequirement, entry, listed,
};
use crate::orchestrate::tree::{
    MapEntries, entries, items, key_name, like, like_list, set, within_topology,
};
use crate::topology::named::NamedParts;
use crate::topology::scope::TopologyScope;
use crate::topology::{NodeIndex, RelationIndex, Topology};
use crate::tosca::Types;
use crate::tosca::filter::{FilterReason, FilterVerdict, NodeFilter};
use crate::tosca::types::schemas::Schemas;
use crate::tosca::v2_0::function::{BuiltIn, PlainText};
use cuvee_text::source::Span;
use cuvee_text::value::Value;
use cuvee_text::yaml::{NodeKind, Out, OutNode};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// How many relations are led to nodes at most.
const RELATIONS: u64 = 10 * REPRESENTATIONS;

/// What becomes of a requirement assignment.
#[derive(Clone, Debug)]
enum RelationLink {
    /// It stays as it is.
    Kept,
    /// It stays, and its count is this number.
    Counted(u64),
    /// It leads to these nodes, each with the index of the relation.
    Leads(Vec<(u64, String)>),
}

/// What becomes of the requirement assignments of each node, in their order.
pub(super) struct RelationLinks {
    by_node: FxHashMap<String, Vec<RelationLink>>,
}

/// Where an assignment may lead.
struct WantedTarget<'a> {
    /// Its position among the assignments of its node.
    position: usize,
    template: String,
    /// The number of nodes that the template stands for, if it says so.
    nodes: Option<u64>,
    /// The index of its target, if it names one.
    index: Option<Out<'a>>,
    /// The number of its relations.
    count: u64,
    /// The index of its first relation among those of the requirement.
    first: u64,
    is_optional: bool,
}

impl WantedTarget<'_> {
    /// Whether its author said which node it leads to.
    fn is_explicit(&self) -> bool {
        self.index.is_some() || self.nodes.is_none() && self.count == 1
    }

    /// The name of a node of the template.
    fn node(&self, index: u64) -> String {
        match self.nodes {
            Some(_) => representation(&self.template, index),
            None => self.template.clone(),
        }
    }
}

/// The nodes of a template, by the number of relations that lead to them.
struct UsedNodes {
    by_use: BTreeSet<(u64, u64)>,
    uses: FxHashMap<u64, u64>,
}

impl UsedNodes {
    fn of(nodes: u64) -> Self {
        Self { by_use: (0..nodes).map(|index| (0, index)).collect(), uses: FxHashMap::default() }
    }

    fn add(&mut self, index: u64) {
        let uses = self.uses.entry(index).or_default();
        self.by_use.remove(&(*uses, index));
        *uses += 1;
        self.by_use.insert((*uses, index));
    }
}

/// What a relation allocates of a capability of the node that it was led to.
struct LedAllocation<'l> {
    capability: &'l str,
    amounts: Vec<(String, Value)>,
}

/// The search for targets.
struct Linking<'l, 't, 'a> {
    view: &'l TemplateView<'a>,
    topology: &'l Topology,
    graph: &'l dyn FilterGraph,
    named: NamedParts<'l>,
    types: &'l Types<'t>,
    schemas: &'l Schemas<'l, 't>,
    filters: &'l FxHashMap<FilterOwner, PlacedFilter<'l>>,
    counts: &'l NodeCounts,
    known: &'l KnownInputs,
    /// The nodes of each template that relations of each requirement lead to.
    used: FxHashMap<(String, String), UsedNodes>,
    allocations: &'l Allocations<'l, 't>,
    /// The relations that were led to each node and allocate something of it.
    led: FxHashMap<NodeIndex, Vec<LedAllocation<'l>>>,
    /// Why nodes do not fit the assignments of the present node, by their positions.
    lacking: FxHashMap<usize, Option<FilterReason>>,
    relations: u64,
    errors: Diagnostics,
}

/// Whether requirements say more than which nodes they lead to: a number, or an index.
pub(super) fn are_needed(templates: &MapEntries<'_>) -> bool {
    let is_one = |item: &Out<'_>| {
        entries(item).first().is_some_and(|(_, body)| {
            let body = OutNode::root(body);
            let target = body.get("node").unwrap_or(body);
            target.kind() == NodeKind::Sequence || body.get("count").is_some()
        })
    };
    templates.iter().any(|(_, body)| {
        entry(body, "requirements").is_some_and(|all| items(&all).iter().any(is_one))
    })
}

/// Decides where the requirements of all nodes lead.
///
/// # Errors
/// `unfulfilled-requirement` where a mandatory relation has no target.
pub(super) fn links(
    document: &Out<'_>,
    counts: &NodeCounts,
    known: &KnownInputs,
    types: &Types<'_>,
) -> Result<RelationLinks, Diagnostics> {
    let view = TemplateView::of(document.clone(), types);
    let mut topology = Topology::read(document, &|_| false);
    evaluate(&mut topology, types);
    let texts = FilterTexts::of(OutNode::root(document), &topology);
    let (filters, schemas) = (texts.read(), Schemas::new(types));
    let uses = capability_uses(&topology, types);
    let mut linking = Linking {
        view: &view,
        topology: &topology,
        graph: &TopologyScope::of(&topology, types),
        named: NamedParts::of(&topology),
        types,
        schemas: &schemas,
        filters: &filters,
        counts,
        known,
        used: FxHashMap::default(),
        allocations: &Allocations::of(&topology, types, &uses),
        led: FxHashMap::default(),
        lacking: FxHashMap::default(),
        relations: 0,
        errors: Diagnostics::default(),
    };
    let nodes: Vec<_> = view.nodes.iter().zip(&topology.nodes).collect();
    let mut all: Vec<_> = nodes.iter().map(|(node, _)| linking.node(node)).collect();
    // All mandatory relations come before optional ones (section 8.7.1).
    for is_optional in [false, true] {
        for ((node, values), (links, wanted)) in nodes.iter().zip(&mut all) {
            let of_turn = wanted
                .iter()
                .filter(|wanted| wanted.iter().all(|it| it.is_optional) == is_optional);
            of_turn
                .for_each(|wanted| linking.requirement((node, &values.relations), wanted, links));
        }
    }
    let by_node = nodes.iter().zip(all).filter_map(|((node, _), (mut links, _))| {
        linking.index(node, &mut links);
        let says_more = links.iter().any(|link| !matches!(link, RelationLink::Kept));
        says_more.then(|| (node.name.clone(), links))
    });
    let by_node = by_node.collect();
    let errors = linking.errors;
    if errors.has_errors() { Err(errors) } else { Ok(RelationLinks { by_node }) }
}

impl<'a> Linking<'_, '_, 'a> {
    /// What is known of the assignments of a node, and where those of each requirement may lead.
    fn node(&mut self, node: &ViewedNode<'a>) -> (Vec<RelationLink>, Vec<Vec<WantedTarget<'a>>>) {
        let mut links = vec![RelationLink::Kept; node.assignments.len()];
        let mut before: FxHashMap<&str, u64> = FxHashMap::default();
        let mut by_requirement: IndexMap<&str, Vec<WantedTarget<'a>>> = IndexMap::new();
        for (position, assignment) in node.assignments.iter().enumerate() {
            let first = before.entry(&assignment.name).or_default();
            let (count, is_call) = self.count(assignment);
            if let (Some(count), true) = (count, is_call) {
                links[position] = RelationLink::Counted(count);
            }
            if let Some(wanted) = self.wanted(node, position, (count, *first)) {
                by_requirement.entry(&assignment.name).or_default().push(wanted);
            }
            *first = first.saturating_add(count.unwrap_or(1));
        }
        (links, by_requirement.into_values().collect())
    }

    /// Gives the relations that there are their indices: optional ones may have found no node.
    fn index(&self, node: &ViewedNode<'a>, links: &mut [RelationLink]) {
        let mut next: FxHashMap<&str, u64> = FxHashMap::default();
        for (assignment, link) in node.assignments.iter().zip(links) {
            let next = next.entry(&assignment.name).or_default();
            match link {
                RelationLink::Leads(targets) => {
                    for (index, _) in targets {
                        *index = *next;
                        *next = next.saturating_add(1);
                    }
                }
                _ => *next = next.saturating_add(self.count(assignment).0.unwrap_or(1)),
            }
        }
    }

    /// Decides where the assignments of one requirement lead.
    fn requirement(
        &mut self,
        (node, relations): (&ViewedNode<'a>, &[RelationIndex]),
        wanted: &[WantedTarget<'a>],
        links: &mut [RelationLink],
    ) {
        let is_plain =
            |it: &WantedTarget<'_>| it.index.is_none() && it.nodes.is_none() && it.count == 1;
        if wanted.iter().all(is_plain) {
            return;
        }
        let Some(found) = self.led(node, wanted, relations) else { return };
        for (wanted, found) in wanted.iter().zip(found) {
            if !is_plain(wanted) || found.is_empty() {
                links[wanted.position] = RelationLink::Leads(found);
            }
        }
    }

    /// The number of relations of an assignment, as far as it is known, and whether a function says
    /// it.
    fn count(&self, assignment: &ViewedRequirement<'a>) -> (Option<u64>, bool) {
        let Some(said) = entry(&assignment.body, "count") else { return (Some(1), false) };
        let is_call = whole(&OutNode::root(&said).to_value()).is_none();
        let value = self.known.value(&said, Indices { node: Some(0), ..Indices::default() });
        (value.ok().flatten().as_ref().and_then(whole), is_call)
    }

    /// Where an assignment may lead, if it names a template.
    fn wanted(
        &mut self,
        node: &ViewedNode<'a>,
        position: usize,
        (count, first): (Option<u64>, u64),
    ) -> Option<WantedTarget<'a>> {
        let assignment = &node.assignments[position];
        let body = &assignment.body;
        let target = match OutNode::root(body).kind() {
            NodeKind::Mapping => entry(body, "node")?,
            _ => body.clone(),
        };
        let mut steps = items(&target).into_iter();
        let named = steps.next().unwrap_or_else(|| target.clone());
        let template = OutNode::root(&named).text()?.into_owned();
        let nodes = self.counts.get(&template);
        if nodes.is_none() {
            // Of a template whose count is not known before deployment nothing is decided.
            let single = self.view.node(&template)?;
            entry(&single.body, "instance_count").is_none().then_some(())?;
        }
        let Some(count) = count else {
            if nodes.is_some() {
                let what = format!("how many nodes of `{template}` it leads to");
                self.undecided(node, assignment, &what);
            }
            return None;
        };
        let (index, is_optional) = (steps.next(), assignment.count.min == 0);
        Some(WantedTarget { position, template, nodes, index, count, first, is_optional })
    }

    /// The targets of the assignments of one requirement; `None` if they are not known.
    fn led(
        &mut self,
        node: &ViewedNode<'a>,
        all: &[WantedTarget<'a>],
        relations: &[RelationIndex],
    ) -> Option<Vec<Vec<(u64, String)>>> {
        let mut slots = Vec::new();
        for (at, wanted) in all.iter().enumerate() {
            let candidates = match &wanted.index {
                Some(index) => self.named(node, wanted, index, relations.get(wanted.position))?,
                None => self.fitting(node, wanted, relations.get(wanted.position)),
            };
            let template = &*wanted.template;
            let relations = wanted.first..;
            slots.extend(relations.zip(candidates).map(|(relation, candidates)| {
                let is_fixed = wanted.is_explicit() && !wanted.is_optional;
                Slot { assignment: at, relation, template, candidates, is_fixed }
            }));
            if self.relations.saturating_add(slots.len() as u64) > RELATIONS {
                let message = format!("requirements have more than {RELATIONS} relations together");
                let place = node.assignments[wanted.position].span;
                self.errors.push(super::invalid(message, place));
                return None;
            }
        }
        self.relations = self.relations.saturating_add(slots.len() as u64);
        // What the author decided comes first, and optional relations come last.
        slots.sort_by_key(|slot| (!slot.is_fixed, all[slot.assignment].is_optional));
        let mut found: Vec<Vec<(u64, u64)>> = vec![Vec::new(); all.len()];
        for (slot, index) in slots.iter().zip(matched(&slots)) {
            found[slot.assignment].extend(index.map(|index| (slot.relation, index)));
        }
        let mut named = Vec::new();
        for (wanted, mut found) in all.iter().zip(found) {
            self.enough(node, wanted, found.len());
            self.use_up(&node.assignments[wanted.position].name, wanted, &found);
            self.allocate(node, wanted, relations.get(wanted.position), &found);
            if wanted.index.is_none() {
                // Which relation leads to which node makes no difference.
                let mut nodes: Vec<_> = found.iter().map(|(_, node)| *node).collect();
                nodes.sort_unstable();
                found.iter_mut().zip(nodes).for_each(|((_, node), sorted)| *node = sorted);
            }
            named.push(found.into_iter().map(|(at, node)| (at, wanted.node(node))).collect());
        }
        Some(named)
    }

    /// For each relation of an assignment the nodes with the index that it names: one, or none.
    fn named(
        &mut self,
        node: &ViewedNode<'a>,
        wanted: &WantedTarget<'a>,
        index: &Out<'a>,
        assigned: Option<&RelationIndex>,
    ) -> Option<Vec<Rc<[u64]>>> {
        let assignment = &node.assignments[wanted.position];
        let mut all: Vec<Rc<[u64]>> = Vec::new();
        for relation in wanted.first..wanted.first.saturating_add(wanted.count.min(RELATIONS + 1)) {
            let at = Indices { node: Some(0), relationship: Some(relation), ..Indices::default() };
            let value = match self.known.value(index, at) {
                Ok(Some(value)) => value,
                Ok(None) if wanted.nodes.is_none() => return None,
                Ok(None) => {
                    let what = format!("which node of `{}` it leads to", wanted.template);
                    self.undecided(node, assignment, &what);
                    return None;
                }
                Err(why) => {
                    let why = format!("its index has no value: {why}");
                    self.unfulfilled(node, wanted, &why, Span::DETACHED);
                    return None;
                }
            };
            let there = wanted.nodes.unwrap_or(1);
            let found = whole(&value).filter(|index| *index < there);
            let unfit = match found {
                Some(index) => self.unfit(node, wanted, assigned, &wanted.node(index)),
                None => {
                    let WantedTarget { template, .. } = wanted;
                    Some(FilterReason {
                        message: format!(
                            "`{template}` has no node of the index {value}, as its `count` is {there}"
                        ),
                        at: Span::DETACHED,
                    })
                }
            };
            if let Some(FilterReason { message, at }) =
                unfit.as_ref().filter(|_| !wanted.is_optional)
            {
                self.unfulfilled(node, wanted, message, *at);
                return None;
            }
            all.push(found.filter(|_| unfit.is_none()).into_iter().collect());
        }
        Some(all)
    }

    /// For each relation of an assignment the nodes of its template that fit: those first to which
    /// fewest relations lead.
    fn fitting(
        &mut self,
        node: &ViewedNode<'a>,
        wanted: &WantedTarget<'a>,
        relation: Option<&RelationIndex>,
    ) -> Vec<Rc<[u64]>> {
        let name = &node.assignments[wanted.position].name;
        let there = wanted.nodes.unwrap_or(1);
        let used = self.used.get(&(wanted.template.clone(), name.clone()));
        let all: Vec<u64> = match used {
            Some(used) => used.by_use.iter().map(|(_, index)| *index).collect(),
            None => (0..there).collect(),
        };
        // The filters of nodes that are named in the old way are checked elsewhere.
        let mut lacking = None;
        let mut fits = |index: &u64| {
            let unfit =
                wanted.nodes.and_then(|_| self.unfit(node, wanted, relation, &wanted.node(*index)));
            let is_fitting = unfit.is_none();
            lacking = lacking.take().or(unfit);
            is_fitting
        };
        let all: Rc<[u64]> = all.into_iter().filter(|index| fits(index)).collect();
        self.lacking.insert(wanted.position, lacking);
        // One more relation than there are nodes shows that these are not enough.
        let count = usize::try_from(wanted.count.min(there.saturating_add(1)));
        vec![all; count.unwrap_or(usize::MAX)]
    }

    /// Notes which nodes relations lead to.
    fn use_up(&mut self, requirement: &str, wanted: &WantedTarget<'a>, found: &[(u64, u64)]) {
        let Some(nodes) = wanted.nodes else { return };
        let key = (wanted.template.clone(), requirement.to_owned());
        let used = self.used.entry(key).or_insert_with(|| UsedNodes::of(nodes));
        found.iter().for_each(|(_, index)| used.add(*index));
    }

    /// Notes what relations allocate of the nodes that they were led to.
    fn allocate(
        &mut self,
        source: &ViewedNode<'a>,
        wanted: &WantedTarget<'a>,
        relation: Option<&RelationIndex>,
        found: &[(u64, u64)],
    ) {
        let (Some(&relation), Some(kind)) = (relation, source.kind) else { return };
        let (topology, types) = (self.topology, self.types);
        let relation = topology.relation(relation);
        if relation.allocation.is_empty() {
            return;
        }
        for (_, index) in found {
            let target = self.named.nodes.get(&*wanted.node(*index));
            let Some((&id, of)) =
                target.and_then(|id| Some((id, node_type(types, topology.node(*id))?)))
            else {
                continue;
            };
            if let Some(&capability) = fitting(types, relation, kind, of).first() {
                let amounts = amounts(types, of, capability, relation);
                self.led.entry(id).or_default().push(LedAllocation { capability, amounts });
            }
        }
    }

    /// Why a node does not fulfil the filters of a requirement and of its definition, or has no room
    /// for what the relation allocates.
    fn unfit(
        &self,
        source: &ViewedNode<'a>,
        wanted: &WantedTarget<'a>,
        relation: Option<&RelationIndex>,
        target: &str,
    ) -> Option<FilterReason> {
        let requirements = source.kind.map(|kind| &self.types.effective(kind).requirements);
        let part = requirements.and_then(|all| all.get(&*source.assignments[wanted.position].name));
        let defined = part.map_or(&[][..], |part| &part.definition.node_filters);
        let own = relation.and_then(|id| self.filters.get(&FilterOwner::Relation(*id)));
        let relation = relation.map(|&id| self.topology.relation(id));
        let allocating = relation.filter(|it| !it.allocation.is_empty() && wanted.nodes.is_some());
        if defined.is_empty() && own.is_none() && allocating.is_none() {
            return None;
        }
        let &id = self.named.nodes.get(target)?;
        let target = self.topology.node(id);
        let kind = node_type(self.types, target);
        let ends = relation.zip(source.kind).zip(kind);
        let capabilities =
            ends.map(|((relation, source), kind)| fitting(self.types, relation, source, kind));
        let capabilities = capabilities.unwrap_or_default();
        let no_room = allocating.zip(capabilities.first()).and_then(|(relation, capability)| {
            let amounts = amounts(self.types, kind?, capability, relation);
            let lacks = lacking(amounts, |property| self.left(id, capability, property))?;
            let message = format!("`{}` does not fit: {}", target.name, lacks.words(capability));
            Some(FilterReason { message, at: Span::DETACHED })
        });
        if no_room.is_some() {
            return no_room;
        }
        let place = GraphNode { graph: self.graph, node: id };
        let subject = NodeSubject::of(self.types, self.schemas, target, place);
        let from = relation.map(|relation| relation.source);
        let subject = subject.required((None, from), &capabilities);
        let refused = |filter: &NodeFilter<'_>, at: Span| match filter.verdict(&subject) {
            FilterVerdict::Holds => None,
            FilterVerdict::Fails(reason) | FilterVerdict::Undecided(reason) => {
                let at = if reason.at.is_detached() { at } else { reason.at };
                let target = &target.name;
                let message = format!("`{target}` does not fit: {}", reason.message);
                Some(FilterReason { message, at })
            }
        };
        // Validating reports errors in how filters are written.
        let read = |filter| NodeFilter::read(filter, &mut Diagnostics::default());
        let by_definition = || defined.iter().find_map(|it| refused(&read(*it), it.span()));
        own.and_then(|own| refused(&own.filter, own.at)).or_else(by_definition)
    }

    /// What is left of a property of a node's capability, beside what relations allocate that were
    /// led to it.
    fn left(&self, node: NodeIndex, capability: &str, property: &str) -> Option<Value> {
        let kind = node_type(self.types, self.topology.node(node))?;
        let value = |value: &Value| in_base(self.types, kind, (capability, property), value);
        let there = value(&self.allocations.left(node, capability, property)?)?;
        let led = self.led.get(&node).into_iter().flatten();
        let of_it = led.filter(|led| led.capability == capability);
        let amounts = of_it.flat_map(|led| &led.amounts).filter(|(name, _)| name == property);
        let difference = BuiltIn::named("difference")?.value?;
        amounts
            .map(|(_, amount)| amount.clone())
            .try_fold(there, |left, amount| difference(&[left, amount], &PlainText).ok()?)
    }

    /// Reports a mandatory assignment for which there are too few nodes.
    fn enough(&mut self, node: &ViewedNode<'a>, wanted: &WantedTarget<'a>, there: usize) {
        if (there as u64) < wanted.count && !wanted.is_optional {
            let WantedTarget { template, count, .. } = wanted;
            let lacking = self.lacking.remove(&wanted.position).flatten();
            let because = lacking.as_ref().map(|reason| format!(": {}", reason.message));
            let because = because.unwrap_or_default();
            let why = format!(
                "it needs {count} different nodes of `{template}`, and {there} fit{because}"
            );
            let at = lacking.map_or(Span::DETACHED, |reason| reason.at);
            self.unfulfilled(node, wanted, &why, at);
        }
    }

    fn unfulfilled(
        &mut self,
        node: &ViewedNode<'a>,
        wanted: &WantedTarget<'a>,
        why: &str,
        at: Span,
    ) {
        let assignment = &node.assignments[wanted.position];
        let (name, node) = (&assignment.name, &node.name);
        let message = format!("the requirement `{name}` of `{node}` is not fulfilled: {why}");
        let error = Diagnostic::error(Code::UnfulfilledRequirement, message).at(assignment.span);
        let error = error.rule(Rule::new(&TOSCA_2_0, "8.7.1"));
        let error = match at.is_detached() {
            true => error,
            false => error.label(at, "the filter is here"),
        };
        self.errors.push(error.help("raise the `count` of the node, or make this `optional`"));
    }

    fn undecided(&mut self, node: &ViewedNode<'a>, assignment: &ViewedRequirement<'a>, what: &str) {
        let (name, node) = (&assignment.name, &node.name);
        let message = format!(
            "of the requirement `{name}` of `{node}` is not known before deployment {what}"
        );
        let error = Diagnostic::error(Code::UnfulfilledRequirement, message).at(assignment.span);
        let error = error.rule(Rule::new(&TOSCA_2_0, "14.3"));
        self.errors.push(error.help("give the inputs that it needs with `--deployment-input`"));
    }
}

impl RelationLinks {
    pub(super) fn is_empty(&self) -> bool {
        self.by_node.is_empty()
    }

    /// Writes the links into a document, and whether functions get the values that indices decide.
    pub(super) fn write<'a>(
        &self,
        (document, evaluates): (&Out<'a>, bool),
        known: &KnownInputs,
        types: &Types<'_>,
    ) -> Out<'a> {
        let counts = NodeCounts { by_template: FxHashMap::default() };
        let found = RefCell::default();
        let writer = Representing { counts: &counts, known, types, evaluates, found };
        within_topology(document, &mut |section, value| {
            if section != "node_templates" {
                return value.clone();
            }
            let mut all = entries(value);
            for (key, body) in &mut all {
                let Some(links) = self.by_node.get(&*key_name(key)) else { continue };
                let mut parts = entries(body);
                set(&mut parts, "requirements", |old| {
                    let old = old?;
                    let items = listed(old).into_iter();
                    let items = items.filter(|(_, item)| !entries(item).is_empty());
                    let new: Vec<_> = items
                        .zip(links)
                        .flat_map(|((owner, item), link)| {
                            let owners = std::iter::once(owner).chain(std::iter::repeat(None));
                            owners.zip(link.items(&item, &writer))
                        })
                        .collect();
                    (!new.is_empty()).then(|| like_list(old, new))
                });
                *body = like(body, parts);
            }
            like(value, all)
        })
    }
}

impl RelationLink {
    /// The assignments in place of one.
    fn items<'a>(&self, item: &Out<'a>, writer: &Representing<'_, '_>) -> Vec<Out<'a>> {
        let Some((_, body)) = entries(item).into_iter().next() else { return Vec::new() };
        match self {
            Self::Kept => vec![item.clone()],
            Self::Counted(count) => {
                let mut parts = entries(&body);
                let count = i64::try_from(*count).unwrap_or(i64::MAX);
                set(&mut parts, "count", |_| Some(Out::Value(Value::from(count))));
                vec![with_body(item, like(&body, parts))]
            }
            Self::Leads(targets) => {
                let lead = |(relation, target): &(u64, String)| {
                    let at = Indices { relationship: Some(*relation), ..Indices::default() };
                    let mut parts = entries(&body);
                    for (key, value) in &mut parts {
                        if key_name(key) != "node" {
                            *value = writer.value(value, at);
                        }
                    }
                    for keyname in ["count", "optional", "node_filter"] {
                        set(&mut parts, keyname, |_| None);
                    }
                    lead(&mut parts, target, None);
                    with_body(item, written(Some(&body), parts))
                };
                targets.iter().map(lead).collect()
            }
        }
    }
}
