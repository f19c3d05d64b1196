//! Plans the update from one variant to another. Each node gets a class of change from its
//! differences and their consequences (statements U1 to U6).

use super::PendingRelation;
use super::behavior::Behaviors;
use super::build::PlanBuilder;
use super::difference::VariantComparison;
use super::elements;
use super::model::{ChangeClass, ChangeReason, ElementChange, PartKind, PlanElementIndex};
use super::observed::Observed;
use super::others::others;
use super::reach::Reach;
use super::weave::{Down, Scene, SceneSide, Up, weave};
use super::{Adaptation, OrderOptions, Relaxation, named_node};
use crate::diagnostic::Diagnostics;
use crate::topology::diff::step;
use crate::topology::{NodeIndex, RelationIndex, Topology, TopologyRelation};
use crate::tosca::LifecycleOperation as Operation;
use cuvee_text::value::Value;
use cuvee_text::yaml::write_flow;
use rustc_hash::{FxHashMap, FxHashSet};

/// One of the two variants.
pub(super) struct PlannedVariant<'s, 't, 'a> {
    pub(super) behaviors: &'s Behaviors<'t, 'a>,
    /// What is compared of the document of the variant.
    pub(super) document: &'s Value,
    /// The relations whose ends have yet to learn of each other, if that is known.
    pub(super) pending: Option<PendingRelation<'s>>,
}

impl<'t> PlannedVariant<'_, 't, '_> {
    fn topology(&self) -> &'t Topology {
        self.behaviors.topology
    }

    /// Whether the ends of a relation have yet to learn of each other.
    fn is_pending(&self, id: RelationIndex) -> bool {
        let relation = self.topology().relation(id);
        let name = |node: NodeIndex| &*self.topology().node(node).name;
        let target = relation.target.map(name);
        self.pending.is_some_and(|is| is(name(relation.source), &relation.name, target))
    }
}

/// Plans how to turn the variant `from`, with its observed nodes, into the variant `to`.
///
/// # Errors
/// `unknown-element` for nodes that do not exist, and as [`weave`].
pub(super) fn update(
    (from, observed): (&PlannedVariant<'_, '_, '_>, Vec<Observed>),
    to: &PlannedVariant<'_, '_, '_>,
    comparison: &VariantComparison<'_, '_, '_>,
    adaptation: &Adaptation,
    order: &OrderOptions,
    builder: &mut PlanBuilder,
) -> Result<(), Diagnostics> {
    let pairs = Correspondence::of(from.topology(), to.topology(), adaptation)?;
    let classes = NodeClasses::of((from, observed), to, &pairs, comparison, adaptation);
    let elements = classes.elements(builder);
    let scene = scene(&classes, &elements, order, adaptation);
    drop(weave(&scene, builder, &[])?);
    if from.behaviors.is_foreign() {
        builder.forget_places(|kind| matches!(kind, PartKind::Down | PartKind::Unwire));
    }
    builder.plan.changes = classes.changes();
    Ok(())
}

/// The nodes and relations that are the same in both variants.
struct Correspondence {
    /// For each node of the new variant, the one of the old variant.
    nodes: Vec<Option<NodeIndex>>,
    gone: Vec<NodeIndex>,
    /// For each relation of the new variant, the one of the old variant.
    relations: Vec<Option<RelationIndex>>,
    /// For each relation of the old variant whether the new one has it, too.
    stays: Vec<bool>,
}

impl Correspondence {
    fn of(from: &Topology, to: &Topology, adaptation: &Adaptation) -> Result<Self, Diagnostics> {
        let mut unknown = Diagnostics::default();
        for (old, new) in &adaptation.moved {
            unknown.ok(named_node(from, "moved", old));
            unknown.ok(named_node(to, "moved", new));
        }
        for name in &adaptation.recreate {
            unknown.ok(named_node(to, "recreate", name));
        }
        if unknown.has_errors() {
            return Err(unknown);
        }
        let renamed = |name: &str| adaptation.renamed(name);
        let old: FxHashMap<_, _> =
            from.node_ids().map(|id| (renamed(&from.node(id).name).to_owned(), id)).collect();
        let nodes: Vec<_> = to.nodes.iter().map(|node| old.get(&node.name).copied()).collect();
        let kept: FxHashSet<_> = nodes.iter().flatten().copied().collect();
        let gone = from.node_ids().filter(|id| !kept.contains(id)).collect();
        let mut known: FxHashMap<_, Vec<RelationIndex>> = FxHashMap::default();
        for id in from.relation_ids() {
            known.entry(relation_key(from, id, &renamed)).or_default().push(id);
        }
        known.values_mut().for_each(|ids| ids.reverse());
        let same = |name: &str| name.to_owned();
        let relations: Vec<_> = to
            .relation_ids()
            .map(|id| known.get_mut(&relation_key(to, id, &same)).and_then(Vec::pop))
            .collect();
        let mut stays = vec![false; from.relations.len()];
        let mut pairs = relations.clone();
        for (id, was) in to.relation_ids().zip(&relations) {
            let Some(was) = *was else { continue };
            let [fewer, more] = [relation_count(from, was), relation_count(to, id)];
            let is_same = from.relation(was).count.as_ref().map(|count| &count.value)
                == to.relation(id).count.as_ref().map(|count| &count.value);
            let [grows, shrinks] = match (fewer, more) {
                (Some(was), Some(is)) => [is > was, is < was],
                _ => [!is_same, !is_same],
            };
            // Relations that come with another count are new, and those that go are gone.
            stays[was.index()] = !shrinks;
            if grows {
                pairs[id.index()] = None;
            }
        }
        Ok(Self { nodes, gone, relations: pairs, stays })
    }
}

/// The number of relations that a requirement assignment stands for, if it is known.
fn relation_count(topology: &Topology, id: RelationIndex) -> Option<i64> {
    match &topology.relation(id).count.as_ref().map(|count| &count.value) {
        None => Some(1),
        Some(Value::Number(count)) => count.as_int(),
        Some(_) => None,
    }
}

type RelationKey = (String, String, Option<String>, Option<String>);

/// The key by which relations of both variants are matched: name and target. Without an index, the
/// target is the first node of its template.
fn relation_key(
    topology: &Topology,
    id: RelationIndex,
    renamed: &dyn Fn(&str) -> String,
) -> RelationKey {
    let relation = topology.relation(id);
    let name = |node: NodeIndex| renamed(&topology.node(node).name);
    let target = relation.target.map(name);
    let written = relation.node.as_ref().map(|node| node.value.clone());
    let index = relation.index.as_ref().map(|index| write_flow(&index.value));
    let index = index.filter(|index| index != "0");
    (name(relation.source), relation.name.clone(), target.or(written), index)
}

/// The classes of the nodes' changes, and the reasons.
struct NodeClasses<'c, 's, 't, 'a, 'b> {
    from: &'c PlannedVariant<'s, 't, 'a>,
    to: &'c PlannedVariant<'s, 't, 'b>,
    pairs: &'c Correspondence,
    /// The observed states of the nodes of the old variant.
    observed: Vec<Observed>,
    /// The class of each node of the new variant.
    classes: Vec<ChangeClass>,
    reasons: Vec<Vec<ChangeReason>>,
    /// The changes of elements that are no nodes.
    others: Vec<ElementChange>,
}

impl<'c, 's, 't, 'a, 'b> NodeClasses<'c, 's, 't, 'a, 'b> {
    fn of(
        (from, observed): (&'c PlannedVariant<'s, 't, 'a>, Vec<Observed>),
        to: &'c PlannedVariant<'s, 't, 'b>,
        pairs: &'c Correspondence,
        comparison: &VariantComparison<'_, '_, '_>,
        adaptation: &Adaptation,
    ) -> Self {
        let count = to.topology().nodes.len();
        let mut classes = Self {
            from,
            to,
            pairs,
            observed,
            classes: vec![ChangeClass::Keep; count],
            reasons: vec![Vec::new(); count],
            others: others(from, to, adaptation),
        };
        classes.nodes(comparison);
        classes.relationships(comparison);
        classes.asked(adaptation);
        classes.delegations();
        classes.repairs();
        classes.hosts();
        classes.reached();
        classes.relations();
        classes.restarts();
        classes
    }

    /// Gives a node a class of change, unless it has one that takes precedence.
    fn raise(&mut self, node: NodeIndex, class: ChangeClass, reason: ChangeReason) {
        let known = &mut self.classes[node.index()];
        if rank(class) < rank(*known) {
            *known = class;
        }
        self.reasons[node.index()].push(reason);
    }

    /// Finds what differs at the nodes that both variants have.
    fn nodes(&mut self, comparison: &VariantComparison<'_, '_, '_>) {
        for node in self.to.topology().node_ids() {
            let Some(old) = self.pairs.nodes[node.index()] else {
                self.classes[node.index()] = ChangeClass::Add;
                continue;
            };
            for (class, reason) in comparison.node(old, node) {
                self.raise(node, class, reason);
            }
        }
    }

    /// Finds what differs at the relations that both variants have (statement U1).
    fn relationships(&mut self, comparison: &VariantComparison<'_, '_, '_>) {
        let topology = self.to.topology();
        for id in topology.relation_ids() {
            let old = self.pairs.relations[id.index()].filter(|_| !self.is_new(id));
            let Some(old) = old else { continue };
            let relation = topology.relation(id);
            let template = used_template(topology, id);
            // Of another template, what differs is a difference of the relation.
            let is_same = template == used_template(self.from.topology(), old);
            let template = template.filter(|_| is_same);
            let template = template.map(|name| format!("relationship.{name}"));
            let at = format!("requirement{}.relationship", step(&relation.name));
            let mut of_template = Vec::new();
            for (node, reason) in comparison.relation(old, id) {
                let source =
                    (node != relation.source).then(|| topology.node_identifier(relation.source));
                let own = ChangeReason {
                    path: format!("{at}.{}", reason.path),
                    because: source,
                    ..reason.clone()
                };
                of_template.push(reason);
                match &template {
                    None => self.raise(node, ChangeClass::Reconfigure, own),
                    Some(template) => {
                        let (path, because) = (at.clone(), Some(template.clone()));
                        let span = Some(relation.span);
                        let reason = ChangeReason { path, because, span, ..Default::default() };
                        self.raise(node, ChangeClass::Reconfigure, reason);
                    }
                }
            }
            if let (Some(template), false) = (template, of_template.is_empty()) {
                self.template(template, of_template);
            }
        }
    }

    /// Notes a change of a relationship template.
    fn template(&mut self, element: String, reasons: Vec<ChangeReason>) {
        if self.others.iter().all(|change| change.element != element) {
            let class = ChangeClass::Reconfigure;
            self.others.push(ElementChange { element, class, reasons });
        }
    }

    /// Makes the nodes of `--recreate` again.
    fn asked(&mut self, adaptation: &Adaptation) {
        for said in &adaptation.recreate {
            if let Ok(node) = named_node(self.to.topology(), "recreate", said) {
                let reason =
                    ChangeReason { because: Some("--recreate".into()), ..Default::default() };
                self.raise(node, ChangeClass::Recreate, reason);
            }
        }
    }

    /// Makes a node again that the orchestrator brings in only one of the variants.
    fn delegations(&mut self) {
        for node in self.to.topology().node_ids() {
            let Some(old) = self.pairs.nodes[node.index()] else { continue };
            let was = self.from.behaviors.delegation(old).is_some();
            let is = self.to.behaviors.delegation(node).is_some();
            if was != is {
                let path = "directives".to_owned();
                let span = Some(self.to.topology().node(node).span);
                let [before, after] = [(self.from.topology(), old), (self.to.topology(), node)]
                    .map(|(topology, node)| directives(topology, node));
                // Where directives are the same, types and operations decide.
                let [from, to] = if before == after {
                    [Some(was.into()), Some(is.into())]
                } else {
                    [before, after]
                };
                let reason = ChangeReason { path, from, to, span, ..Default::default() };
                self.raise(node, ChangeClass::Recreate, reason);
            }
        }
    }

    /// Repairs nodes that do not run, if that is known. The condition of a node that has hardly
    /// begun is unknown, so it is made again, and so is one that has failed and that nothing but
    /// `create` brings.
    fn repairs(&mut self) {
        for node in self.to.topology().node_ids() {
            let Some(old) = self.pairs.nodes[node.index()] else { continue };
            let observed = self.observed[old.index()];
            let Some(missing) = observed.missing() else { continue };
            if self.to.behaviors.is_selected(node) {
                continue;
            }
            let is_managed = self.to.behaviors.delegation(node).is_none();
            let class = match missing {
                Up::Whole if is_managed => ChangeClass::Recreate,
                _ if observed.has_failed && self.is_only_created(node) => ChangeClass::Recreate,
                _ => ChangeClass::Repair,
            };
            let state = match observed.has_failed {
                true => "error",
                false => observed.reached.as_str(),
            };
            let reason = ChangeReason {
                path: "state".to_owned(),
                from: Some(Value::from(state)),
                to: Some(Value::from("started")),
                ..Default::default()
            };
            self.raise(node, class, reason);
        }
    }

    /// Whether `create` is the only operation with something to run that brings a node up.
    fn is_only_created(&self, node: NodeIndex) -> bool {
        let runs = |operation| self.to.behaviors.standard(node, operation).is_some();
        runs(Operation::Create) && !runs(Operation::Configure) && !runs(Operation::Start)
    }

    /// Makes a node again that gets another host, or whose host is made again.
    fn hosts(&mut self) {
        let (from, to) = (self.from.topology(), self.to.topology());
        for node in to.node_ids() {
            let Some(old) = self.pairs.nodes[node.index()] else { continue };
            let (was, is) = (hosting(from, old), hosting(to, node));
            let [old_host, host] = [was, is].map(|relation| relation?.target);
            let kept = host.and_then(|host| self.pairs.nodes[host.index()]);
            let index = |relation: Option<&TopologyRelation>| {
                let index = relation?.index.as_ref().map(|index| index.value.clone());
                index.filter(|index| *index != Value::from(0_i64))
            };
            if old_host.is_some() != host.is_some() || old_host != kept || index(was) != index(is) {
                let hosting = to.node(node).relations.iter().copied();
                let relation = hosting.map(|id| to.relation(id)).find(|relation| relation.hosting);
                let name = relation.map_or("host", |relation| &relation.name);
                let reason = ChangeReason {
                    path: format!("requirement.{name}.node"),
                    from: was.and_then(TopologyRelation::target_name),
                    to: is.and_then(TopologyRelation::target_name),
                    span: Some(relation.map_or(to.node(node).span, |relation| relation.span)),
                    ..Default::default()
                };
                self.raise(node, ChangeClass::Recreate, reason);
            }
        }
        // Hosted nodes are made again after their hosts, from the ends of the chains upwards.
        let mut open: Vec<_> = self.of_class(ChangeClass::Recreate);
        while let Some(host) = open.pop() {
            for guest in self.guests(host) {
                let was_recreated = self.classes[guest.index()] == ChangeClass::Recreate;
                if self.pairs.nodes[guest.index()].is_some() && !was_recreated {
                    let because = Some(to.node_identifier(host));
                    let reason = ChangeReason { because, ..Default::default() };
                    self.raise(guest, ChangeClass::Recreate, reason);
                    open.push(guest);
                }
            }
        }
    }

    fn of_class(&self, class: ChangeClass) -> Vec<NodeIndex> {
        let nodes = self.to.topology().node_ids();
        nodes.filter(|node| self.classes[node.index()] == class).collect()
    }

    /// The nodes that a node hosts directly.
    fn guests(&self, host: NodeIndex) -> Vec<NodeIndex> {
        let to = self.to.topology();
        let incoming = to.node(host).incoming.iter().map(|&id| to.relation(id));
        let hosted = incoming.filter(|relation| relation.hosting).map(|relation| relation.source);
        hosted.filter(|&guest| to.hosted_on(guest) == Some(host)).collect()
    }

    /// Finds the nodes whose operations get other inputs, because a property or an input changes,
    /// or because a node with a used attribute is made again.
    fn reached(&mut self) {
        let mut reach = Reach::of(self.to.behaviors);
        for change in &self.others {
            if let Some(name) = change.element.strip_prefix("input.") {
                reach.input(name);
            }
        }
        for node in self.to.topology().node_ids() {
            let class = self.classes[node.index()];
            if matches!(class, ChangeClass::Add | ChangeClass::Recreate) {
                reach.anew(node);
            }
            for reason in &self.reasons[node.index()] {
                // Functions name a property, or the capability that has it.
                let name = reason.path.strip_prefix("property.");
                let name = name.or_else(|| reason.path.strip_prefix("capability."));
                if let Some(name) = name {
                    reach.property(node, name.split(['.', '[']).next().unwrap_or_default());
                }
            }
        }
        for (node, reason) in reach.reached() {
            let is_kept = self.pairs.nodes[node.index()].is_some();
            if is_kept && rank(self.classes[node.index()]) > rank(ChangeClass::Reconfigure) {
                self.raise(node, ChangeClass::Reconfigure, reason);
            }
        }
    }

    /// Whether the ends of a relation do not know of it yet, even if the old variant has it.
    fn is_new(&self, id: RelationIndex) -> bool {
        let was = self.pairs.relations[id.index()];
        was.is_none_or(|was| !self.is_connected(was) || self.from.is_pending(was))
    }

    /// Whether the ends of a relation of the old variant may know of each other.
    fn is_connected(&self, id: RelationIndex) -> bool {
        self.observed[self.from.topology().relation(id).source.index()].is_connected()
    }

    /// Finds the relations that are added or removed at nodes that stay.
    fn relations(&mut self) {
        let (from, to) = (self.from.topology(), self.to.topology());
        for id in to.relation_ids() {
            let relation = to.relation(id);
            if self.is_new(id)
                && self.pairs.nodes[relation.source.index()].is_some()
                && !relation.hosting
            {
                let reason = ChangeReason {
                    path: format!("requirement.{}", relation.name),
                    to: relation.target_name(),
                    span: Some(relation.span),
                    ..Default::default()
                };
                self.raise(relation.source, ChangeClass::Rewire, reason);
            }
        }
        let now: FxHashMap<_, _> =
            to.node_ids().filter_map(|id| Some((self.pairs.nodes[id.index()]?, id))).collect();
        for id in from.relation_ids() {
            let relation = from.relation(id);
            if let (false, Some(&source), false) =
                (self.pairs.stays[id.index()], now.get(&relation.source), relation.hosting)
            {
                let reason = ChangeReason {
                    path: format!("requirement.{}", relation.name),
                    from: relation.target_name(),
                    ..Default::default()
                };
                self.raise(source, ChangeClass::Rewire, reason);
            }
        }
    }

    /// Restarts nodes that have to stop because others do: nodes on a host that stops, and the
    /// sources of nodes that are made again.
    fn restarts(&mut self) {
        let to = self.to.topology();
        for id in to.relation_ids() {
            let relation = to.relation(id);
            let Some(target) = relation.target.filter(|_| !relation.hosting) else { continue };
            if self.pairs.relations[id.index()].is_some()
                && self.classes[target.index()] == ChangeClass::Recreate
            {
                self.restart(relation.source, target);
            }
        }
        let stops = |class| {
            matches!(class, ChangeClass::Reconfigure | ChangeClass::Restart | ChangeClass::Repair)
        };
        let mut open: Vec<_> =
            to.node_ids().filter(|node| stops(self.classes[node.index()])).collect();
        while let Some(host) = open.pop() {
            if self.to.behaviors.delegation(host).is_some() {
                continue;
            }
            for guest in self.guests(host) {
                let before = self.classes[guest.index()];
                self.restart(guest, host);
                if before != self.classes[guest.index()] {
                    open.push(guest);
                }
            }
        }
    }

    fn restart(&mut self, node: NodeIndex, because: NodeIndex) {
        if self.pairs.nodes[node.index()].is_some()
            && rank(self.classes[node.index()]) > rank(ChangeClass::Restart)
        {
            let because = Some(self.to.topology().node_identifier(because));
            self.raise(node, ChangeClass::Restart, ChangeReason { because, ..Default::default() });
        }
    }

    /// All changes: nodes in the order of the new variant, removed nodes, and then the other
    /// elements.
    fn changes(&self) -> Vec<ElementChange> {
        let (from, to) = (self.from.topology(), self.to.topology());
        let there = to.node_ids().map(|node| ElementChange {
            element: to.node_identifier(node),
            class: self.classes[node.index()],
            reasons: self.reasons[node.index()].clone(),
        });
        let gone = self.pairs.gone.iter().map(|&node| ElementChange {
            element: from.node_identifier(node),
            class: ChangeClass::Remove,
            reasons: Vec::new(),
        });
        there.chain(gone).chain(self.others.iter().cloned()).collect()
    }

    /// The nodes of both variants as elements of the plan, those of the new variant first.
    fn elements(&self, builder: &mut PlanBuilder) -> [Vec<(PlanElementIndex, ChangeClass)>; 2] {
        let (from, to) = (self.from.topology(), self.to.topology());
        let new: Vec<_> = to
            .node_ids()
            .map(|id| (elements::node(builder, self.to.behaviors, id), self.classes[id.index()]))
            .collect();
        let mut old = vec![None; from.nodes.len()];
        for (index, was) in self.pairs.nodes.iter().enumerate() {
            if let Some(was) = was {
                old[was.index()] = Some(new[index]);
            }
        }
        let old = from.node_ids().zip(old).map(|(id, known)| {
            known.unwrap_or_else(|| {
                (elements::node(builder, self.from.behaviors, id), ChangeClass::Remove)
            })
        });
        [old.collect(), new]
    }
}

/// The name of the relationship template that a relation uses.
fn used_template(topology: &Topology, id: RelationIndex) -> Option<&str> {
    topology.relationship(topology.relation(id).relationship?).name.as_deref()
}

/// The directives of a node, as they are written.
fn directives(topology: &Topology, node: NodeIndex) -> Option<Value> {
    let said = topology.node(node).directives.iter();
    let said: Vec<_> = said.map(|directive| Value::from(&*directive.value)).collect();
    (!said.is_empty()).then(|| said.into())
}

/// The relation by which a node is hosted.
fn hosting(topology: &Topology, node: NodeIndex) -> Option<&TopologyRelation> {
    let relations = topology.node(node).relations.iter().map(|&id| topology.relation(id));
    relations.into_iter().find(|relation| relation.hosting && relation.target.is_some())
}

/// The precedence of classes; the first one that applies counts.
fn rank(class: ChangeClass) -> usize {
    const ORDER: [ChangeClass; 8] = [
        ChangeClass::Add,
        ChangeClass::Remove,
        ChangeClass::Recreate,
        ChangeClass::Reconfigure,
        ChangeClass::Restart,
        ChangeClass::Repair,
        ChangeClass::Rewire,
        ChangeClass::Keep,
    ];
    ORDER.iter().position(|known| *known == class).unwrap_or(ORDER.len())
}

fn scene<'s, 't, 'a, 'b>(
    classes: &NodeClasses<'_, 's, 't, 'a, 'b>,
    [old, new]: &[Vec<(PlanElementIndex, ChangeClass)>; 2],
    order: &OrderOptions,
    adaptation: &Adaptation,
) -> Scene<'s, 't, 'a, 'b> {
    let up: Vec<_> = (classes.to.topology().node_ids()).map(|node| coming(classes, node)).collect();
    let mut down = vec![None; old.len()];
    for (index, was) in classes.pairs.nodes.iter().enumerate() {
        if let Some(was) = was {
            down[was.index()] = going(up[index], classes.observed[was.index()]);
        }
    }
    for &node in &classes.pairs.gone {
        let is_selected = classes.from.behaviors.is_selected(node);
        down[node.index()] = (!is_selected).then_some(Down::Whole);
    }
    let sides = SideMaker { classes, order };
    Scene {
        down: Some(sides.down(down, old.clone(), &up)),
        up: Some(sides.up(up, new.clone())),
        is_relaxed: order.relaxation == Relaxation::Connections,
        removals_first: adaptation.removals_first,
    }
}

/// From where a node of the new variant comes up.
fn coming(classes: &NodeClasses<'_, '_, '_, '_, '_>, node: NodeIndex) -> Option<Up> {
    let behaviors = classes.to.behaviors;
    if behaviors.is_selected(node) {
        return None;
    }
    let is_delegated = behaviors.delegation(node).is_some();
    let old = classes.pairs.nodes[node.index()];
    let missing = old.and_then(|old| classes.observed[old.index()].missing());
    let class = match classes.classes[node.index()] {
        ChangeClass::Add | ChangeClass::Recreate => return Some(Up::Whole),
        ChangeClass::Reconfigure | ChangeClass::Restart | ChangeClass::Repair if is_delegated => {
            return Some(Up::Update);
        }
        ChangeClass::Reconfigure => Some(Up::Configure),
        ChangeClass::Restart => Some(Up::Start),
        _ => None,
    };
    // An unfinished node may have to come up from further back than its change requires.
    match (class, missing) {
        (Some(Up::Start) | None, Some(missing)) => Some(missing),
        (class, _) => class,
    }
}

/// How far a node that comes up like this goes down first, if it existed.
fn going(up: Option<Up>, observed: Observed) -> Option<Down> {
    match up? {
        Up::Whole => Some(Down::Whole),
        // A node that does not run need not stop.
        Up::Configure | Up::Start => observed.runs().then_some(Down::Stop),
        Up::Update => None,
    }
}

/// Makes the two sides of a scene.
struct SideMaker<'m, 'c, 's, 't, 'a, 'b> {
    classes: &'m NodeClasses<'c, 's, 't, 'a, 'b>,
    order: &'m OrderOptions,
}

impl<'s, 't, 'a, 'b> SideMaker<'_, '_, 's, 't, 'a, 'b> {
    fn up(
        &self,
        extents: Vec<Option<Up>>,
        nodes: Vec<(PlanElementIndex, ChangeClass)>,
    ) -> SceneSide<'s, 't, 'b, Up> {
        let behaviors = self.classes.to.behaviors;
        let topology = behaviors.topology;
        let is_ignored = self.order.ignored(topology);
        let extent = |node: NodeIndex| extents[node.index()];
        let keeps = |node| matches!(extent(node), None | Some(Up::Update));
        let is_new = |id: RelationIndex| self.classes.is_new(id);
        let is_anew = |id: RelationIndex| {
            let relation = topology.relation(id);
            let target = relation.target.and_then(extent);
            is_new(id) || extent(relation.source) == Some(Up::Whole) || target == Some(Up::Whole)
        };
        let ids = || topology.relation_ids();
        let is_wire = |id: &RelationIndex| {
            is_anew(*id) && (keeps(topology.relation(*id).source) || is_ignored[id.index()])
        };
        let is_changed = |id: &RelationIndex| {
            let relation = topology.relation(*id);
            let target = relation.target.and_then(extent);
            let changes = matches!(target, Some(Up::Configure | Up::Start | Up::Update));
            changes && !is_new(*id) && keeps(relation.source)
        };
        SceneSide {
            behaviors,
            nodes,
            observed: Vec::new(),
            is_told: ids().map(|id| is_anew(id) && !keeps(topology.relation(id).source)).collect(),
            wires: ids().filter(is_wire).collect(),
            changed: ids().filter(is_changed).collect(),
            is_ignored,
            extents,
        }
    }

    fn down(
        &self,
        extents: Vec<Option<Down>>,
        nodes: Vec<(PlanElementIndex, ChangeClass)>,
        up: &[Option<Up>],
    ) -> SceneSide<'s, 't, 'a, Down> {
        let behaviors = self.classes.from.behaviors;
        let topology = behaviors.topology;
        let is_ignored = self.order.ignored(topology);
        let mut updates = vec![false; extents.len()];
        for (was, up) in self.classes.pairs.nodes.iter().zip(up) {
            if let Some(was) = was {
                updates[was.index()] = *up == Some(Up::Update);
            }
        }
        let extent = |node: NodeIndex| extents[node.index()];
        let keeps = |node: NodeIndex| extent(node).is_none() || updates[node.index()];
        let goes = |id: RelationIndex| {
            let relation = topology.relation(id);
            let target = relation.target.and_then(extent);
            let goes = !self.classes.pairs.stays[id.index()]
                || extent(relation.source) == Some(Down::Whole)
                || target == Some(Down::Whole);
            goes && self.classes.is_connected(id)
        };
        let ids = || topology.relation_ids();
        let is_wire = |id: &RelationIndex| {
            goes(*id) && (keeps(topology.relation(*id).source) || is_ignored[id.index()])
        };
        SceneSide {
            behaviors,
            nodes,
            observed: self.classes.observed.clone(),
            is_told: ids().map(|id| goes(id) && !keeps(topology.relation(id).source)).collect(),
            wires: ids().filter(is_wire).collect(),
            changed: Vec::new(),
            is_ignored,
            extents,
        }
    }
}
