//! Finds paths along the hosting relations of nodes.

use crate::diagnostic::{Code, Diagnostic};
use crate::tosca::types::{Family, TypeHierarchy};
use crate::variability::graph::{Graph, NodeElement, NodeId, RelationId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::collections::VecDeque;

/// How many paths one rule may have for one node. More are considered a mistake: each is a
/// variable, and people have to distinguish them.
const MAX_PATHS: usize = 10_000;

/// How high a stack of hosts may be. Real stacks have a handful of hosts; the limit bounds the
/// search in cycles and in generated templates.
const MAX_HEIGHT: usize = 256;

/// After how many relations a search stops to determine first which relations lead to the end at
/// all.
const FEW: usize = 1_000;

/// How many relations are visited for all nodes and rules together at most.
const MAX_LOOKS: usize = 20_000_000;

/// How many visits a found path costs, because it is a variable from then on.
const FOUND: usize = 50;

/// Finds stacks for the nodes of a template, within a bound on the cost for all of them together.
pub(super) struct HostingStacks(Cell<usize>);

impl Default for HostingStacks {
    fn default() -> Self {
        Self(Cell::new(MAX_LOOKS))
    }
}

impl HostingStacks {
    /// Every path from a node along its hosting relations that passes hosts of these types; `*`
    /// skips any number of hosts.
    ///
    /// # Errors
    /// If there are too many paths.
    pub(super) fn paths(
        &self,
        graph: &Graph<'_>,
        types: &TypeHierarchy<'_>,
        node: &NodeElement<'_>,
        hosting: &[&str],
    ) -> Result<Vec<Vec<RelationId>>, Diagnostic> {
        let mut left = self.0.get();
        let few = FEW.min(left);
        let mut search = HostingSearch {
            hosts: Hosts { graph, types, hosting },
            leading: None,
            path: Vec::new(),
            found: Vec::new(),
            looks: few,
        };
        let start = (NodeId(graph.element(node.id).slot), 0);
        search.from(start);
        left -= few - search.looks;
        if search.looks == 0 {
            search.found.clear();
            search.leading = Some(search.hosts.leading(start, &mut left));
            search.looks = left;
            search.from(start);
            left = search.looks;
        }
        self.0.set(left);
        let node = graph.display(node.id);
        let message = if search.found.len() > MAX_PATHS {
            format!("there are more than {MAX_PATHS} hosting stacks for {node} and one rule")
        } else if self.are_spent() {
            format!("there are too many ways of hosting to find all hosting stacks of {node}")
        } else {
            return Ok(search.found);
        };
        Err(Diagnostic::error(Code::InvalidTemplate, message)
            .at(graph.element(graph.node(start.0).id).span)
            .help("assign a `technology`, or name more of the stack in the rule's `hosting`"))
    }

    /// Whether the bound on the cost is reached.
    pub(super) fn are_spent(&self) -> bool {
        self.0.get() == 0
    }
}

/// The nodes that may host a node directly.
pub(super) fn direct_hosts<'g, 'a>(
    graph: &'g Graph<'a>,
    node: &'g NodeElement<'a>,
) -> impl Iterator<Item = NodeId> {
    graph.hosting(node).filter_map(|relation| relation.target)
}

/// The nodes that may host a node, directly or through others, the nearest first.
pub(super) fn hosts_of(graph: &Graph<'_>, node: NodeId) -> Vec<NodeId> {
    let (mut hosts, mut met) = (Vec::new(), FxHashSet::from_iter([node]));
    let mut open = VecDeque::from([node]);
    while let Some(node) = open.pop_front() {
        for host in direct_hosts(graph, graph.node(node)).filter(|&host| met.insert(host)) {
            hosts.push(host);
            open.push_back(host);
        }
    }
    hosts
}

/// The state of a search: a node, and the number of wanted hosts that were passed.
type HostingStep = (NodeId, usize);

/// The hosting relations, with the types of hosts that a rule wants.
#[derive(Clone, Copy)]
struct Hosts<'s, 'a> {
    graph: &'s Graph<'a>,
    types: &'s TypeHierarchy<'s>,
    hosting: &'s [&'s str],
}

impl<'s, 'a> Hosts<'s, 'a> {
    /// The next steps from a state, each with the relation that it takes. A star that skips no host
    /// takes no relation.
    fn steps(
        self,
        (node, at): HostingStep,
    ) -> impl Iterator<Item = (Option<RelationId>, HostingStep)> + use<'s, 'a> {
        let wanted = self.hosting.get(at).copied();
        let any = wanted == Some("*");
        let skip = any.then_some((None, (node, at + 1)));
        // A star at the end wants no host, so it skips none.
        let wanted = wanted.filter(|_| !any || at + 1 < self.hosting.len());
        let relations = wanted.map(|_| &self.graph.node(node).relations[..]).unwrap_or_default();
        let step = move |&id: &RelationId| {
            let relation = self.graph.relation(id);
            let host = relation.target.filter(|_| relation.hosting)?;
            let fits = any || wanted.is_some_and(|wanted| self.fits(host, wanted));
            fits.then_some((Some(id), (host, if any { at } else { at + 1 })))
        };
        skip.into_iter().chain(relations.iter().filter_map(step))
    }

    fn fits(self, host: NodeId, wanted: &str) -> bool {
        let mut types = self.graph.node(host).types.iter();
        types.any(|&name| self.types.is_a(Family::Node, self.graph.element(name).name, wanted))
    }

    /// The states from which the end can be reached.
    fn leading(self, start: HostingStep, looks: &mut usize) -> FxHashSet<HostingStep> {
        let mut before: FxHashMap<HostingStep, Vec<HostingStep>> = FxHashMap::default();
        let (mut open, mut met) = (vec![start], FxHashSet::from_iter([start]));
        while let Some(step) = open.pop() {
            for (_, next) in self.steps(step) {
                *looks = looks.saturating_sub(1);
                before.entry(next).or_default().push(step);
                if met.insert(next) {
                    open.push(next);
                }
            }
            if *looks == 0 {
                return FxHashSet::default();
            }
        }
        let mut open: Vec<_> =
            met.into_iter().filter(|step| step.1 == self.hosting.len()).collect();
        let mut leading = FxHashSet::default();
        while let Some(step) = open.pop() {
            if leading.insert(step) {
                open.extend(before.get(&step).into_iter().flatten());
            }
        }
        leading
    }
}

struct HostingSearch<'s, 'a> {
    hosts: Hosts<'s, 'a>,
    /// The states from which the end can be reached, once they are known.
    leading: Option<FxHashSet<HostingStep>>,
    path: Vec<RelationId>,
    found: Vec<Vec<RelationId>>,
    /// How many relations may still be visited.
    looks: usize,
}

impl HostingSearch<'_, '_> {
    fn from(&mut self, step: HostingStep) {
        if self.found.len() > MAX_PATHS || self.looks == 0 || self.path.len() > MAX_HEIGHT {
            return;
        }
        if self.leading.as_ref().is_some_and(|leading| !leading.contains(&step)) {
            return;
        }
        if step.1 == self.hosts.hosting.len() {
            self.looks = self.looks.saturating_sub(FOUND);
            self.found.push(self.path.clone());
            return;
        }
        let hosts = self.hosts;
        for (relation, next) in hosts.steps(step) {
            self.looks = self.looks.saturating_sub(1);
            match relation {
                None => self.from(next),
                // The path may contain the relation already if hosts form a cycle.
                Some(relation) if self.path.contains(&relation) => {}
                Some(relation) => {
                    self.path.push(relation);
                    self.from(next);
                    self.path.pop();
                }
            }
        }
    }
}
