//! Ways up the hosting relations.

use crate::text::diagnostic::{Code, Diagnostic};
use crate::tosca::types::{Family, TypeHierarchy};
use crate::variability::graph::{Graph, NodeElement, NodeId, RelationId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;

/// More ways than this for one rule and node are a mistake: each is a variable, and people have to
/// tell them apart.
const MAX_PATHS: usize = 10_000;

/// Stacks are a handful of hosts high; this bounds the search in what is a cycle or generated.
const MAX_HEIGHT: usize = 256;

/// A search that looks at more relations than this is told first which of them lead anywhere.
const FEW: usize = 1_000;

/// So many relations are looked at for all nodes and rules together.
const MAX_LOOKS: usize = 20_000_000;

/// A way that is found costs as much as so many relations: it is a variable from then on.
const FOUND: usize = 50;

/// Finds stacks for the nodes of a template; what it costs is bounded for all of them together.
pub(super) struct HostingStacks(Cell<usize>);

impl Default for HostingStacks {
    fn default() -> Self {
        Self(Cell::new(MAX_LOOKS))
    }
}

impl HostingStacks {
    /// Every way from a node up its hosting relations that passes hosts of these types; `*` skips
    /// any number of hosts.
    ///
    /// # Errors
    /// Where there are too many.
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
            format!("hosts host each other in too many ways to look for all stacks of {node}")
        } else {
            return Ok(search.found);
        };
        Err(Diagnostic::error(Code::InvalidTemplate, message)
            .at(graph.element(graph.node(start.0).id).span)
            .help("assign a `technology`, or name more of the stack in the rule's `hosting`"))
    }

    /// Whether nothing more can be found.
    pub(super) fn are_spent(&self) -> bool {
        self.0.get() == 0
    }
}

/// Where a search is: at a node, with so many of the wanted hosts behind it.
type HostingStep = (NodeId, usize);

/// Which hosts lead where.
#[derive(Clone, Copy)]
struct Hosts<'s, 'a> {
    graph: &'s Graph<'a>,
    types: &'s TypeHierarchy<'s>,
    hosting: &'s [&'s str],
}

impl<'s, 'a> Hosts<'s, 'a> {
    /// The steps from here, each with the relation that it takes; a star skips nothing by none.
    fn steps(
        self,
        (node, at): HostingStep,
    ) -> impl Iterator<Item = (Option<RelationId>, HostingStep)> + use<'s, 'a> {
        let wanted = self.hosting.get(at).copied();
        let any = wanted == Some("*");
        let skip = any.then_some((None, (node, at + 1)));
        // A star at the end asks for nothing, so it skips nothing.
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

    /// The places from which the end is reached at all.
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
    /// From where the end is reached, where that is known.
    leading: Option<FxHashSet<HostingStep>>,
    path: Vec<RelationId>,
    found: Vec<Vec<RelationId>>,
    /// How many relations may still be looked at.
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
                // The way may have used it already, as in a cycle of hosts.
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
