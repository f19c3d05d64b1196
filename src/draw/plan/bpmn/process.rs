//! Converts a plan to flow nodes of BPMN, and the sequence flows between them.

use crate::orchestrate::plan::{Flow, Plan, PlanStepIndex};
use rustc_hash::FxHashMap;

/// A node of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlowNode {
    Start,
    /// A step that is shown.
    Task(PlanStepIndex),
    /// The failure of the task at this position.
    Failure(usize),
    /// Branches by conditions: those of a workflow step, or of the whole plan.
    Choice(Option<u32>),
    /// Continues with each incoming flow.
    Merge,
    /// Waits for all incoming flows, and continues with all outgoing ones.
    Parallel,
    /// Waits for all incoming flows that are active.
    Inclusive,
    End(ProcessEnd),
}

/// How a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessEnd {
    Done,
    /// A failure occurred and was handled.
    Failed,
    /// Nothing was done, because a condition did not hold.
    Refused,
}

/// The condition under which a flow is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Always,
    Met,
    NotMet,
}

/// A flow from one node to another, as positions in [`Process::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SequenceFlow {
    pub source: usize,
    pub target: usize,
    pub when: When,
}

/// A process in which only gateways have several incoming or outgoing flows.
#[derive(Default)]
pub(super) struct Process {
    pub nodes: Vec<FlowNode>,
    pub flows: Vec<SequenceFlow>,
}

impl Process {
    pub(super) fn of(plan: &Plan) -> Self {
        let mut course = Course::of(plan);
        plan.step_ids().for_each(|id| course.step(id));
        course.end();
        course.failures();
        Junctions::of(course.nodes, course.flows).process()
    }

    fn node(&mut self, node: FlowNode) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn flow(&mut self, source: usize, target: usize, when: When) {
        self.flows.push(SequenceFlow { source, target, when });
    }
}

/// A process under construction. A node with several successors still has a flow to each.
struct Course<'p> {
    plan: &'p Plan,
    flow: Flow,
    nodes: Vec<FlowNode>,
    flows: Vec<SequenceFlow>,
    /// The node that everything follows.
    begin: usize,
    /// For each step, the nodes that are complete when the step is.
    fronts: Vec<Vec<usize>>,
    /// The steps with conditions, by their first position: the workflow step, and the last
    /// position.
    guarded: FxHashMap<usize, (u32, usize)>,
    /// The conditional steps that have begun, outermost first.
    open: Vec<GuardedSteps>,
    /// The first steps of failure handlers.
    entries: FxHashMap<PlanStepIndex, u32>,
    /// The nodes that failures lead to.
    handlers: FxHashMap<u32, usize>,
    /// The gateways that wait for several nodes.
    joins: FxHashMap<Vec<usize>, usize>,
}

/// Steps that are only done if conditions hold.
struct GuardedSteps {
    written: u32,
    first: usize,
    last: usize,
    choice: usize,
}

impl<'p> Course<'p> {
    fn of(plan: &'p Plan) -> Self {
        let flow = Flow::of(plan);
        let handlers = plan.workflow_steps.iter().flat_map(|step| &step.on_failure);
        let entries = handlers
            .flat_map(|&handler| flow.entries(handler).iter().map(move |&entry| (entry, handler)));
        let mut course = Self {
            entries: entries.collect(),
            plan,
            flow,
            nodes: Vec::new(),
            flows: Vec::new(),
            begin: 0,
            fronts: Vec::with_capacity(plan.steps.len()),
            guarded: guarded(plan),
            open: Vec::new(),
            handlers: FxHashMap::default(),
            joins: FxHashMap::default(),
        };
        course.begin = course.node(FlowNode::Start);
        if !plan.preconditions.is_empty() {
            let choice = course.behind(&[course.begin], FlowNode::Choice(None));
            let refused = course.node(FlowNode::End(ProcessEnd::Refused));
            course.flows.push(SequenceFlow { source: choice, target: refused, when: When::NotMet });
            course.begin = choice;
        }
        course
    }

    fn node(&mut self, node: FlowNode) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn link(&mut self, source: usize, target: usize) {
        let is_choice = matches!(self.nodes[source], FlowNode::Choice(_));
        let when = if is_choice { When::Met } else { When::Always };
        self.flows.push(SequenceFlow { source, target, when });
    }

    /// Adds a node that each of these nodes leads to.
    fn reached(&mut self, sources: &[usize], node: FlowNode) -> usize {
        let node = self.node(node);
        sources.iter().for_each(|&source| self.link(source, node));
        node
    }

    /// A node that is complete when all of these are. It is shared by all successors.
    fn joined(&mut self, front: &[usize]) -> usize {
        if let [one] = front {
            return *one;
        }
        if let Some(&known) = self.joins.get(front) {
            return known;
        }
        let join = self.reached(front, FlowNode::Parallel);
        self.joins.insert(front.to_vec(), join);
        join
    }

    /// Adds a node that follows all of these nodes.
    fn behind(&mut self, front: &[usize], node: FlowNode) -> usize {
        let before = (!front.is_empty()).then(|| self.joined(front));
        self.reached(before.as_slice(), node)
    }

    fn step(&mut self, id: PlanStepIndex) {
        self.close(id.index());
        let mut front = self.front(id);
        if let Some(&(written, last)) = self.guarded.get(&id.index()) {
            let choice = self.behind(&front, FlowNode::Choice(Some(written)));
            self.open.push(GuardedSteps { written, first: id.index(), last, choice });
            front = vec![choice];
        }
        if self.plan.step(id).is_shown {
            front = vec![self.behind(&front, FlowNode::Task(id))];
        } else if front.len() > 1 && self.flow.followers_of(id).len() > 1 {
            // A hidden step passes on what it waits for. It becomes a gateway if otherwise every
            // predecessor would lead to every successor.
            front = vec![self.joined(&front)];
        }
        self.fronts.push(front);
    }

    /// The nodes that a step follows.
    fn front(&mut self, id: PlanStepIndex) -> Vec<usize> {
        let step = self.plan.step(id);
        let since = self.open.last().map_or(0, |block| block.first);
        let waits = self.plan.after(id).iter().filter(|wait| wait.index() >= since);
        let mut front: Vec<_> =
            waits.flat_map(|wait| &self.fronts[wait.index()]).copied().collect();
        front.sort_unstable();
        front.dedup();
        if front.is_empty() {
            let is_own = |block: &&GuardedSteps| {
                !step.is_handler || step.activity.is_some_and(|(own, _)| own == block.written)
            };
            let block = self.open.last().filter(is_own).map(|block| block.choice);
            front.extend(block.or((!step.is_handler).then_some(self.begin)));
        }
        match self.entries.get(&id) {
            Some(&written) => vec![self.entered(written, &front)],
            None => front,
        }
    }

    /// The first node of a failure handler. A handler that also follows without a failure has these
    /// predecessors, too.
    fn entered(&mut self, written: u32, front: &[usize]) -> usize {
        if let Some(&known) = self.handlers.get(&written) {
            return known;
        }
        let entry = self.behind(front, FlowNode::Merge);
        self.handlers.insert(written, entry);
        entry
    }

    /// Ends all conditional steps whose last step is before this position.
    fn close(&mut self, position: usize) {
        while let Some(block) = self.open.pop_if(|block| block.last < position) {
            let steps = block.first..=block.last;
            let is_handler = self.plan.steps[block.first].is_handler;
            let of_block = |&step: &usize| self.plan.steps[step].is_handler == is_handler;
            let awaited = steps.clone().flat_map(|step| self.plan.after(PlanStepIndex::new(step)));
            let awaited: rustc_hash::FxHashSet<_> = awaited.map(|wait| wait.index()).collect();
            let last = steps.clone().filter(of_block).filter(|step| !awaited.contains(step));
            let mut front: Vec<_> = last.flat_map(|step| &self.fronts[step]).copied().collect();
            front.sort_unstable();
            front.dedup();
            let over = self.behind(&front, FlowNode::Merge);
            self.flows.push(SequenceFlow {
                source: block.choice,
                target: over,
                when: When::NotMet,
            });
            for step in steps.filter(of_block) {
                self.fronts[step] = vec![over];
            }
        }
    }

    fn end(&mut self) {
        self.close(usize::MAX);
        let (mut done, mut failed) = (Vec::new(), Vec::new());
        for id in self.plan.step_ids().filter(|&id| self.flow.followers_of(id).is_empty()) {
            let ends = if self.plan.step(id).is_handler { &mut failed } else { &mut done };
            ends.extend(&self.fronts[id.index()]);
        }
        for ends in [&mut done, &mut failed] {
            ends.sort_unstable();
            ends.dedup();
        }
        if done.is_empty() {
            done.push(self.begin);
        }
        self.behind(&done, FlowNode::End(ProcessEnd::Done));
        if !failed.is_empty() {
            let handled = self.reached(&failed, FlowNode::Inclusive);
            self.behind(&[handled], FlowNode::End(ProcessEnd::Failed));
        }
    }

    /// Connects the failures of all tasks to their handlers.
    fn failures(&mut self) {
        for position in 0..self.nodes.len() {
            let FlowNode::Task(id) = self.nodes[position] else { continue };
            let handlers = Flow::handlers(self.plan, id);
            let mut handlers: Vec<_> =
                handlers.iter().filter_map(|handler| self.handlers.get(handler).copied()).collect();
            handlers.sort_unstable();
            handlers.dedup();
            if !handlers.is_empty() {
                let failure = self.node(FlowNode::Failure(position));
                handlers.iter().for_each(|&handler| self.link(failure, handler));
            }
        }
    }
}

/// The steps with conditions. All plan steps of one workflow step are consecutive.
fn guarded(plan: &Plan) -> FxHashMap<usize, (u32, usize)> {
    let mut extents: FxHashMap<u32, (usize, usize)> = FxHashMap::default();
    for (position, id) in plan.step_ids().enumerate() {
        let Some(written) = plan.written(id) else { continue };
        if !plan.workflow_steps[written as usize].guards.is_empty() {
            extents.entry(written).or_insert((position, position)).1 = position;
        }
    }
    extents.into_iter().map(|(written, (first, last))| (first, (written, last))).collect()
}

/// The graph in which flows join and split.
struct Junctions {
    nodes: Vec<FlowNode>,
    flows: Vec<SequenceFlow>,
    /// The incoming flows of each node.
    arriving: Vec<Vec<usize>>,
    leaving: Vec<Vec<usize>>,
    is_there: Vec<bool>,
}

impl Junctions {
    fn of(nodes: Vec<FlowNode>, flows: Vec<SequenceFlow>) -> Self {
        let lists = vec![Vec::new(); nodes.len()];
        let (arriving, leaving) = (lists.clone(), lists);
        let is_there = vec![false; nodes.len()];
        let mut junctions = Self { nodes, flows, arriving, leaving, is_there };
        for (index, flow) in junctions.flows.iter().enumerate() {
            junctions.leaving[flow.source].push(index);
        }
        junctions.reach();
        for (index, flow) in junctions.flows.iter().enumerate() {
            if junctions.is_there[flow.source] {
                junctions.arriving[flow.target].push(index);
            }
        }
        (0..junctions.nodes.len()).for_each(|node| junctions.shorten(node));
        junctions
    }

    /// Removes handlers of failures that cannot occur.
    fn reach(&mut self) {
        let mut failures = vec![None; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            if let FlowNode::Failure(task) = *node {
                failures[task] = Some(index);
            }
        }
        let mut open = vec![0];
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut self.is_there[node], true) {
                open.extend(failures[node]);
                open.extend(self.leaving[node].iter().map(|&flow| self.flows[flow].target));
            }
        }
    }

    /// Removes a gateway with a single incoming and a single outgoing flow.
    fn shorten(&mut self, node: usize) {
        let is_plain =
            matches!(self.nodes[node], FlowNode::Merge | FlowNode::Parallel | FlowNode::Inclusive);
        let (&[before], &[after]) = (&*self.arriving[node], &*self.leaving[node]) else { return };
        if is_plain {
            let target = self.flows[after].target;
            self.flows[before].target = target;
            self.arriving[target].iter_mut().filter(|it| **it == after).for_each(|it| *it = before);
            self.leaving[node].clear();
            self.is_there[node] = false;
        }
    }

    /// The process, with gateways added at other nodes with several outgoing flows.
    fn process(self) -> Process {
        let mut process = Process::default();
        let (mut own, mut exits) = (vec![0; self.nodes.len()], vec![0; self.nodes.len()]);
        for (index, &node) in self.nodes.iter().enumerate().filter(|(at, _)| self.is_there[*at]) {
            let node = match node {
                FlowNode::Failure(task) => FlowNode::Failure(own[task]),
                // With a single incoming flow, all outgoing flows continue.
                FlowNode::Merge | FlowNode::Inclusive if self.arriving[index].len() == 1 => {
                    FlowNode::Parallel
                }
                node => node,
            };
            (own[index], exits[index]) = self.parted(index, node, &mut process);
        }
        let leaving = (0..self.nodes.len()).filter(|&node| self.is_there[node]);
        for flow in leaving.flat_map(|node| &self.leaving[node]).map(|&flow| self.flows[flow]) {
            let is_parted = exits[flow.source] != own[flow.source];
            let (source, when) = match flow.when {
                When::NotMet => (own[flow.source], When::NotMet),
                When::Met if is_parted => (exits[flow.source], When::Always),
                when => (exits[flow.source], when),
            };
            process.flow(source, own[flow.target], when);
        }
        process.flows.sort_by_key(|flow| (flow.source, flow.target));
        process
    }

    /// Adds a node, and returns it together with the node that its outgoing flows leave.
    fn parted(&self, index: usize, node: FlowNode, process: &mut Process) -> (usize, usize) {
        let own = process.node(node);
        let is_usual = |&&flow: &&usize| self.flows[flow].when != When::NotMet;
        let parts = matches!(node, FlowNode::Parallel) && self.arriving[index].len() == 1;
        if parts || self.leaving[index].iter().filter(is_usual).count() < 2 {
            return (own, own);
        }
        let split = process.node(FlowNode::Parallel);
        let is_choice = matches!(node, FlowNode::Choice(_));
        process.flow(own, split, if is_choice { When::Met } else { When::Always });
        (own, split)
    }
}
