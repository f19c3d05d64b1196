//! Computes the parts that the plans of all variants consist of: the work of each node, and the
//! work and the order that each relation adds, each with the condition under which it applies. From
//! these, the page composes the plan of the present elements.

use super::facts::{Facts, Imports};
use super::ways::OpenTopology;
use super::words::PlanWords;
use crate::draw::plan::{ToldStep, told_apart};
use crate::orchestrate::plan::{self, CallPlace, Deployment, PlanStepIndex, Unhosted};
use crate::topology::{NodeIndex, RelationIndex};
use crate::variability::choice::Choice;
use crate::variability::emit::OpenDocument;
use crate::variability::prepared::Prepared;
use cuvee_sat::formula::Formula;
use indexmap::IndexSet;
use serde::Serialize;

/// How many steps the plans may consist of at most.
const STEPS: usize = 20_000;

/// The parts of plans. Conditions are numbers as in the text of all variants; words are positions.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PlanParts {
    nodes: Vec<NodeParts>,
    relations: Vec<RelationParts>,
    /// The work of nodes, as consecutive stages.
    works: Vec<Vec<StageParts>>,
}

/// A node of the template.
#[derive(Clone, Debug, Serialize)]
struct NodeParts {
    when: i64,
    name: usize,
    /// The name with the number of instances.
    element: usize,
    /// The ways to write the node; exactly one applies if the node is present.
    ways: Vec<WayParts>,
}

#[derive(Clone, Debug, Serialize)]
struct WayParts {
    when: i64,
    /// The imports that must be present for these facts to hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    needs: Vec<i64>,
    /// The work of the node; `None` if it already exists.
    does: Option<usize>,
    /// Whether operations of relations run on this node.
    machine: bool,
    /// Relations with which the node cannot be deployed, each with the operation that is in the way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    impossible: Vec<(usize, usize)>,
    relations: Vec<usize>,
}

#[derive(Clone, Debug, Serialize)]
struct RelationParts {
    when: i64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    needs: Vec<i64>,
    target: Option<usize>,
    /// The identifier, if the target comes before the source.
    orders: Option<usize>,
    /// Whether the target hosts the source.
    hosts: bool,
    /// The name of the relation, if it does anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<usize>,
}

/// A stage: operations that may run in parallel, or a state that is reached.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
enum StageParts {
    Reached(usize),
    Done(Vec<CallParts>),
}

/// A call: the relation it belongs to, if any; the operation; the implementation; and the node
/// whose host runs it, with what applies if nothing hosts that node. The last is `None` if the
/// orchestrator deploys the node.
type CallParts = (Option<usize>, usize, usize, Option<(i64, u8)>);

/// The value in place of a node if the orchestrator runs the call.
const ORCHESTRATOR: i64 = -1;
const OWN: i64 = -2;

impl PlanParts {
    /// Computes the parts. Their conditions are positions of conditions that are added to the
    /// document.
    ///
    /// # Errors
    /// The reason why the page cannot have the parts.
    pub(super) fn of(
        prepared: &Prepared<'_>,
        choice: &Choice,
        open: &mut OpenDocument<'_>,
        words: &mut PlanWords,
    ) -> Result<Self, String> {
        if choice.deployment.is_some() {
            return Err("functions have their values".into());
        }
        if prepared.graph.elements.len() > STEPS {
            return Err("the template is too large".into());
        }
        let topology = OpenTopology::of(open, &prepared.graph)?;
        let imports = Imports::of(prepared, choice);
        let types = imports.types(&|_| true)?;
        let deployment = plan::deployment(&topology.topology, &types);
        if deployment.steps.len() > STEPS {
            return Err("the template is too large".into());
        }
        let told = told_apart(&deployment.plan);
        let facts = imports.needed(&topology, Facts::of(&topology, &deployment, &told))?;
        Ok(PartsMaker::new(&topology, &deployment, &told, &facts, open, words).parts())
    }

    /// Replaces positions of conditions by the numbers of the conditions.
    pub(super) fn numbered(mut self, numbers: &[i64]) -> Self {
        let number = |when: &mut i64| {
            *when =
                usize::try_from(*when).ok().and_then(|at| numbers.get(at)).copied().unwrap_or(0);
        };
        for node in &mut self.nodes {
            number(&mut node.when);
            node.ways.iter_mut().for_each(|way| number(&mut way.when));
        }
        self.relations.iter_mut().for_each(|relation| number(&mut relation.when));
        self
    }
}

/// Computes the parts of a deployment.
struct PartsMaker<'m, 'a> {
    topology: &'m OpenTopology,
    deployment: &'m Deployment<'m>,
    told: &'m [ToldStep<'m>],
    facts: &'m Facts,
    open: &'m mut OpenDocument<'a>,
    words: &'m mut PlanWords,
    /// The node of the template that each way of writing a node belongs to.
    node_of: Vec<usize>,
    /// The positions of the relations that are part of the result.
    relations: Vec<Option<usize>>,
    works: IndexSet<Vec<StageParts>>,
}

impl<'m, 'a> PartsMaker<'m, 'a> {
    fn new(
        topology: &'m OpenTopology,
        deployment: &'m Deployment<'m>,
        told: &'m [ToldStep<'m>],
        facts: &'m Facts,
        open: &'m mut OpenDocument<'a>,
        words: &'m mut PlanWords,
    ) -> Self {
        let mut node_of = vec![0; topology.topology.nodes.len()];
        for (node, (_, ways)) in topology.nodes.iter().enumerate() {
            ways.iter().for_each(|way| node_of[way.index()] = node);
        }
        let relations = vec![None; topology.topology.relations.len()];
        let works = IndexSet::new();
        Self { topology, deployment, told, facts, open, words, node_of, relations, works }
    }

    fn parts(mut self) -> PlanParts {
        let nodes: Vec<_> =
            self.topology.nodes.iter().map(|(_, all)| self.told_ways(all)).collect();
        let mut relations = Vec::new();
        for (way, _) in nodes.iter().flatten() {
            for &id in &self.topology.topology.node(*way).relations {
                self.relations[id.index()] = Some(relations.len());
                relations.push(id);
            }
        }
        let nodes = self.topology.nodes.iter().zip(nodes);
        let nodes = nodes.map(|((when, _), ways)| self.node(*when, ways)).collect();
        let relations = relations.into_iter().map(|id| self.relation(id)).collect();
        PlanParts { nodes, relations, works: self.works.into_iter().collect() }
    }

    /// Merges ways with the same effects: one of them represents all, with the disjunction of their
    /// conditions.
    fn told_ways(&mut self, all: &[NodeIndex]) -> Vec<(NodeIndex, Formula)> {
        let mut told: Vec<(NodeIndex, Vec<Formula>)> = Vec::new();
        for &way in all {
            let when = self.topology.node_whens[way.index()];
            match told
                .iter_mut()
                .find(|(known, _)| self.facts.are_alike(self.topology, *known, way))
            {
                Some((_, whens)) => whens.push(when),
                None => told.push((way, vec![when])),
            }
        }
        let arena = &mut self.open.arena;
        told.into_iter().map(|(way, whens)| (way, arena.or(whens))).collect()
    }

    /// Adds a condition, and returns its position.
    fn when(&mut self, when: Formula) -> i64 {
        self.open.conditions.push(when);
        self.open.conditions.len() as i64 - 1
    }

    fn node(&mut self, when: Formula, ways: Vec<(NodeIndex, Formula)>) -> NodeParts {
        let first = ways.first().map(|(way, _)| *way);
        let name = first.map(|way| &*self.topology.topology.node(way).name).unwrap_or_default();
        let steps = first.and_then(|way| self.deployment.nodes[way.index()].steps.clone());
        let own = steps.and_then(|steps| Some(&*self.told.get(steps.start)?.element));
        NodeParts {
            when: self.when(when),
            name: self.words.position(name),
            element: self.words.position(own.unwrap_or(name)),
            ways: ways.into_iter().map(|(way, when)| self.way(way, when)).collect(),
        }
    }

    fn way(&mut self, way: NodeIndex, when: Formula) -> WayParts {
        let node = &self.deployment.nodes[way.index()];
        let does = node.steps.clone().map(|steps| {
            let stages = self.stages(way, steps);
            self.works.insert_full(stages).0
        });
        let impossible = node.impossible.iter().filter_map(|(relation, operation)| {
            Some((self.relations[relation.index()]?, self.words.position(operation)))
        });
        let relations = self.topology.topology.node(way).relations.iter();
        WayParts {
            impossible: impossible.collect(),
            relations: relations.filter_map(|id| self.relations[id.index()]).collect(),
            machine: node.is_compute,
            needs: self.facts.nodes[way.index()].needs.clone(),
            does,
            when: self.when(when),
        }
    }

    fn stages(&mut self, way: NodeIndex, steps: std::ops::Range<usize>) -> Vec<StageParts> {
        let plan = &self.deployment.plan;
        let mut stages = Vec::new();
        let mut open: Vec<CallParts> = Vec::new();
        for index in steps.clone() {
            let id = PlanStepIndex::new(index);
            let (step, told) = (plan.step(id), &self.told[index]);
            // Steps that wait for the same steps may run in parallel.
            let before = index.checked_sub(1).filter(|before| steps.contains(before));
            let is_next =
                before.is_none_or(|it| plan.after(PlanStepIndex::new(it)) != plan.after(id));
            if is_next && !open.is_empty() {
                stages.push(StageParts::Done(std::mem::take(&mut open)));
            }
            if step.is_run() {
                open.extend(self.call(way, index, told));
            } else if !told.state.is_empty() {
                stages.push(StageParts::Reached(self.words.position(told.state)));
            }
        }
        if !open.is_empty() {
            stages.push(StageParts::Done(open));
        }
        stages
    }

    /// The data of a call; `None` if it belongs to a relation that another way of writing it
    /// represents.
    fn call(&mut self, way: NodeIndex, index: usize, told: &ToldStep<'_>) -> Option<CallParts> {
        let step = &self.deployment.steps[index];
        let relation = match step.relation {
            Some(relation) => Some(self.relations[relation.index()]?),
            None => None,
        };
        let place = step.place.map(|place| match place {
            CallPlace::Orchestrator => (ORCHESTRATOR, 0),
            CallPlace::HostOf(node, unhosted) => {
                let own = relation.is_none() && node == way;
                let node = if own { OWN } else { self.node_of[node.index()] as i64 };
                let unhosted = match unhosted {
                    Unhosted::Orchestrator => 0,
                    Unhosted::Machine => 1,
                    Unhosted::Itself => 2,
                };
                (node, unhosted)
            }
        });
        let mut word = |word: &str| self.words.position(word);
        Some((relation, word(told.operation), word(told.implementation), place))
    }

    fn relation(&mut self, id: RelationIndex) -> RelationParts {
        let relation = self.topology.topology.relation(id);
        let mut steps = self.deployment.steps.iter();
        let step = steps.position(|step| step.relation == Some(id));
        let is_ordering = self.deployment.relations[id.index()].is_ordering;
        let identifier = &self.topology.relation_identifiers[id.index()];
        RelationParts {
            when: self.when(self.topology.relation_whens[id.index()]),
            needs: self.facts.relations[id.index()].needs.clone(),
            target: relation.target.map(|target| self.node_of[target.index()]),
            orders: is_ordering.then(|| self.words.position(identifier)),
            hosts: relation.hosting,
            name: step.map(|step| self.words.position(&self.told[step].element)),
        }
    }
}
