//! Laws that hold for every plan of an instance, tried on random templates. A simulation carries
//! the plans out; it knows the rules of `docs/instances.md` for nodes and relations, and shares no
//! code with the library.
//!
//! `PROPTEST_CASES=10000 cargo test --test orchestrate instance_laws` tries harder.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use crate::deploying::{Deploying, Targets, assert_same, deployed, essence, secrets};
use crate::laws::cases;
use crate::topologies::{Model, two_topologies};
use cuvee::Resolver;
use cuvee::deploy::instance::{
    InstanceModel, InstancePlanQuery, InstanceState, ModelExport, export_yaml,
};
use cuvee::deploy::plan::{ChangeClass, Plan};
use cuvee::output::draw::plan::PlanDocument;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The state of a node; for `error` also the state in which it failed.
type State = (&'static str, Option<&'static str>);

const STARTED: State = ("started", None);
const STATES: [State; 13] = [
    STARTED,
    ("initial", None),
    ("creating", None),
    ("created", None),
    ("configuring", None),
    ("configured", None),
    ("starting", None),
    ("stopping", None),
    ("deleting", None),
    ("error", Some("creating")),
    ("error", Some("configuring")),
    ("error", Some("starting")),
    ("error", Some("started")),
];
/// States of nodes that the orchestrator provides.
const DELEGATED: [State; 4] = [STARTED, STARTED, ("initial", None), ("error", Some("started"))];

/// Whether parts of a relation may exist while its source has this state.
fn is_connected((state, failed_in): State) -> bool {
    let reached = failed_in.unwrap_or(state);
    ["configuring", "configured", "starting", "started", "stopping"].contains(&reached)
}

/// Whether a process of a node may run while it has this state.
fn has_run((state, failed_in): State) -> bool {
    ["starting", "started", "stopping"].contains(&failed_in.unwrap_or(state))
}

/// What identifies a relation: source, name, target, and a number among relations that share these.
type Key = (usize, &'static str, usize, usize);

struct Relation {
    key: Key,
    id: String,
    operations: Vec<&'static str>,
}

/// The relations of a topology, hosting ones and others.
fn relations(model: &Model) -> Vec<Relation> {
    let mut alike: BTreeMap<_, usize> = BTreeMap::new();
    let made = model.relations().into_iter().map(|(source, id, target, operations)| {
        let name = if id.starts_with("relation.host@") { "host" } else { "dependency" };
        let count = alike.entry((source, name, target)).or_default();
        *count += 1;
        Relation { key: (source, name, target, *count), id, operations }
    });
    made.collect()
}

/// A step of a plan, read from its document.
struct Step {
    id: String,
    part: String,
    /// The node that it acts on, or the source of the relation that it acts on.
    node: usize,
    does: String,
    state: Option<String>,
    host: Option<String>,
    after: Vec<usize>,
}

impl Step {
    /// 1 for a step by which a node comes up, 0 for others.
    fn rise(&self) -> usize {
        usize::from(self.id.starts_with("node.") && self.part.ends_with("/up"))
    }
}

fn steps(document: &serde_json::Value, rank: &dyn Fn(&str) -> usize) -> Vec<Step> {
    let all = document["steps"].as_array().unwrap();
    let text = |step: &serde_json::Value, key: &str| step[key].as_str().map(str::to_owned);
    let ids: BTreeMap<_, _> =
        all.iter().enumerate().map(|(at, step)| (text(step, "id").unwrap(), at)).collect();
    let read = all.iter().map(|step| {
        let id = text(step, "id").unwrap();
        let (element, does) = id.rsplit_once('/').unwrap();
        let node = rank(&element[element.rfind("node.").unwrap() + 5..]);
        let runs = step.get("implementation").is_some();
        let after = step["after"].as_array().unwrap().iter();
        Step {
            part: text(step, "part").unwrap(),
            node,
            does: does.to_owned(),
            state: text(step, "state"),
            host: text(step, "host").filter(|host| runs && host != "ORCHESTRATOR"),
            after: after.map(|id| ids[id.as_str().unwrap()]).collect(),
            id,
        }
    });
    read.collect()
}

/// A node while a plan is carried out.
#[derive(Clone)]
struct There {
    state: String,
    /// 0 for a node that existed before the plan.
    generation: usize,
    /// Whether a step of the plan has set its state.
    is_set: bool,
    /// The operation that was done since its state was set.
    done: Option<String>,
    is_configured: bool,
    is_started: bool,
}

/// Carries a plan out, and judges each step by the rules.
struct Simulation<'s> {
    from: &'s Model,
    to: &'s Model,
    old: Vec<Relation>,
    new: Vec<Relation>,
    states: BTreeMap<usize, State>,
    steps: &'s [Step],
    nodes: BTreeMap<usize, There>,
    /// How often each operation of each relation was called.
    told: BTreeMap<(String, String), usize>,
    /// The number of steps that are left in each part.
    left: BTreeMap<&'s str, usize>,
    /// The number of steps that are left in which a node comes up.
    left_states: BTreeMap<usize, usize>,
}

type Judged = Result<(), String>;

fn needs(holds: bool, what: impl FnOnce() -> String) -> Judged {
    if holds { Ok(()) } else { Err(what()) }
}

impl<'s> Simulation<'s> {
    fn new(
        (from, to): (&'s Model, &'s Model),
        states: &BTreeMap<usize, State>,
        steps: &'s [Step],
    ) -> Self {
        let there = states.iter().filter(|(_, state)| state.0 != "initial");
        let nodes = there.map(|(&rank, &(state, _))| {
            let (state, is_set, done) = (state.to_owned(), false, None);
            let (is_configured, is_started) = (false, false);
            (rank, There { state, generation: 0, is_set, done, is_configured, is_started })
        });
        Self {
            from,
            to,
            old: relations(from),
            new: relations(to),
            states: states.clone(),
            steps,
            nodes: nodes.collect(),
            told: BTreeMap::new(),
            left: BTreeMap::new(),
            left_states: BTreeMap::new(),
        }
    }

    /// Whether the steps, in this order, lead from the one topology to the other by the rules.
    fn run(mut self, order: &[usize]) -> Judged {
        for &step in order {
            *self.left.entry(&self.steps[step].part).or_default() += 1;
            *self.left_states.entry(self.steps[step].node).or_default() += self.steps[step].rise();
        }
        for &at in order {
            let step = &self.steps[at];
            let done = match step.id.starts_with("relation.") {
                true => self.relation(step),
                false => self.node(step),
            };
            done.map_err(|why| format!("{}: {why}", step.id))?;
            *self.left.get_mut(&*step.part).unwrap() -= 1;
            *self.left_states.get_mut(&step.node).unwrap() -= step.rise();
        }
        self.end()
    }

    /// Whether no step of a part is left.
    fn is_done(&self, part: &str) -> bool {
        self.left.get(part).is_none_or(|left| *left == 0)
    }

    /// Whether steps are left in which a node changes its state on its way up.
    fn comes_up_later(&self, node: usize) -> bool {
        self.left_states.get(&node).is_some_and(|left| *left > 0)
    }

    fn is_running(&self, node: usize) -> bool {
        self.nodes.get(&node).is_some_and(|it| ["started", "starting"].contains(&&*it.state))
    }

    fn has_started(&self, node: usize) -> bool {
        self.nodes.get(&node).is_some_and(|it| it.state == "started")
            && self.is_done(&format!("{}/down", self.to.id(node)))
            && !self.comes_up_later(node)
    }

    /// Rules O-1 and O-3, upwards: the nodes that a node needs are up before a step of it comes up.
    fn may_come(&self, node: usize) -> Judged {
        let down = format!("{}/down", self.to.id(node));
        needs(self.is_done(&down), || "comes up before it is down".to_owned())?;
        self.new.iter().filter(|it| it.key.0 == node).try_for_each(|it| {
            let target = it.key.2;
            needs(self.has_started(target), || format!("{} does not run", self.to.id(target)))
        })
    }

    /// Rules O-2 to O-4: the nodes that need a node are down before it goes down, and have no
    /// relation to it any more when it is removed.
    fn may_go(&self, node: usize, is_whole: bool) -> Judged {
        for it in self.old.iter().filter(|it| it.key.2 == node) {
            let source = it.key.0;
            let name = || self.from.id(source);
            let Some(there) = self.nodes.get(&source) else { continue };
            let own = self.is_done(&format!("{}/down", self.from.id(source)));
            needs(own || there.generation > 0, || format!("{} is not down", name()))?;
            if it.key.1 == "host" {
                let stands = there.generation == 0 && self.is_running(source);
                needs(!stands, || format!("{} runs on it", name()))?;
            }
            let unwire = format!("{}/unwire", it.id);
            needs(!is_whole || self.is_done(&unwire), || format!("{} knows of it", name()))?;
        }
        Ok(())
    }

    fn node(&mut self, step: &Step) -> Judged {
        let node = step.node;
        let known = self.nodes.get(&node).cloned();
        let state = known.as_ref().map_or("-", |it| &*it.state).to_owned();
        let done = known.as_ref().and_then(|it| it.done.clone());
        let is_from =
            |states: &[&str]| needs(states.contains(&&*state), || format!("its state is {state}"));
        let has_done = |operation: &str| {
            needs(done.as_deref() == Some(operation), || format!("{operation} was not done"))
        };
        let is_up = step.part.ends_with("/up");
        let is_set = known.as_ref().is_some_and(|it| it.is_set);
        let is_operation =
            ["create", "configure", "start", "stop", "delete"].contains(&&*step.does);
        needs(is_set || !is_operation, || "nobody has said that it begins".to_owned())?;
        match &*step.does {
            "deploy" | "creating" => is_from(&["-"])?,
            "create" => is_from(&["creating"])?,
            "created" => is_from(&["creating"]).and_then(|()| has_done("create"))?,
            "configuring" => {
                is_from(&["created", "configured", "configuring", "error"])?;
                let may_run = state == "error" && has_run(self.states[&node]);
                needs(!may_run, || "it may still run".to_owned())?;
            }
            "configure" => is_from(&["configuring"])?,
            "configured" => is_from(&["configuring"]).and_then(|()| has_done("configure"))?,
            "starting" => is_from(&["configured"])?,
            "start" => is_from(&["starting"])?,
            "stopping" => is_from(&["started", "starting", "stopping", "error"])?,
            "stop" => is_from(&["stopping"])?,
            "stopped" => is_from(&["stopping"]).and_then(|()| has_done("stop"))?,
            "deleting" => {
                let runs = ["-", "starting", "started", "stopping"].contains(&&*state);
                needs(!runs, || format!("its state is {state}"))?;
            }
            "delete" => is_from(&["deleting"])?,
            "deleted" => has_done("delete").or_else(|_| has_done("undeploy"))?,
            "update" | "undeploy" => needs(state != "-", || "it is not there".to_owned())?,
            "started" => match &*state {
                "starting" => has_done("start")?,
                _ => has_done("deploy").or_else(|_| has_done("update"))?,
            },
            other => return Err(format!("what is {other}?")),
        }
        match &*step.does {
            "deploy" | "creating" | "configuring" | "starting" | "update" => self.may_come(node)?,
            "stopping" => {
                needs(has_run(self.states[&node]), || "it never ran".to_owned())?;
                self.may_go(node, false)?;
            }
            "deleting" | "undeploy" => self.may_go(node, true)?,
            _ => {}
        }
        needs(is_up == UP.contains(&&*step.does), || format!("stands in {}", step.part))?;
        if step.does == "deleted" {
            self.nodes.remove(&node);
            return Ok(());
        }
        let generation = usize::from(known.is_none());
        let there = self.nodes.entry(node).or_insert_with(|| There {
            state: "initial".to_owned(),
            generation,
            is_set: false,
            done: None,
            is_configured: false,
            is_started: false,
        });
        there.is_set |= step.state.is_some();
        match &step.state {
            Some(state) => (there.state, there.done) = (state.clone(), None),
            // A change by the orchestrator is over only when a step reports that.
            None if step.does == "update" => {
                (there.state, there.done) = ("updating".to_owned(), Some(step.does.clone()));
            }
            None => there.done = Some(step.does.clone()),
        }
        there.is_configured |= ["configured", "deploy", "update"].contains(&&*step.does) && is_up;
        there.is_started |= step.does == "started";
        Ok(())
    }

    /// Rules O-4 and O-5, and that no operation of a relation is called while an end is missing.
    fn relation(&mut self, step: &Step) -> Judged {
        let element = step.id.rsplit_once('/').unwrap().0;
        let is_going = step.does.starts_with("remove");
        let all = if is_going { &self.old } else { &self.new };
        let Some(it) = all.iter().find(|it| it.id == element) else {
            return Err("there is no such relation".to_owned());
        };
        needs(it.operations.contains(&&*step.does), || "it has no such operation".to_owned())?;
        let (source, _, target, _) = it.key;
        let ends = [source, target];
        // A target may be configured for its sources before they exist.
        let needed = if step.does.ends_with("configure_target") { &ends[1..] } else { &ends };
        let is_there = needed.iter().all(|end| self.nodes.contains_key(end));
        needs(is_there, || "an end is not there".to_owned())?;
        match &*step.does {
            "add_target" | "add_source" | "target_changed" => {
                needs(ends.iter().all(|end| self.has_started(*end)), || "an end is not up".into())?;
            }
            "remove_target" | "remove_source" => {
                let was = is_connected(self.states[&source]);
                needs(was, || "nobody was told of it".to_owned())?;
                let end = &self.nodes[&target];
                let goes = end.is_set && ["stopping", "deleting"].contains(&&*end.state);
                needs(!goes && end.generation == 0, || "its target is down".to_owned())?;
            }
            _ => {
                let end = if step.does.ends_with("source") { source } else { target };
                let there = &self.nodes[&end];
                let has = there.done.as_deref() == Some("configure");
                needs(there.state == "configuring", || "its end is not configured".to_owned())?;
                needs(has == step.does.starts_with("post"), || "before its time".to_owned())?;
            }
        }
        *self.told.entry((element.to_owned(), step.does.clone())).or_default() += 1;
        Ok(())
    }

    /// Whether the final nodes and relations are those of the target.
    fn end(&self) -> Judged {
        let is: BTreeSet<_> = self.nodes.keys().collect();
        let to: BTreeSet<_> = self.to.nodes.keys().collect();
        needs(is == to, || format!("{is:?} are there"))?;
        self.nodes.keys().try_for_each(|&node| {
            self.node_at_end(node).map_err(|why| format!("{}: {why}", self.to.id(node)))
        })?;
        self.old.iter().try_for_each(|it| self.old_at_end(it))?;
        self.new.iter().try_for_each(|it| self.new_at_end(it))
    }

    fn node_at_end(&self, node: usize) -> Judged {
        let there = &self.nodes[&node];
        needs(there.state == "started", || format!("is {}", there.state))?;
        if there.generation > 0 {
            return Ok(());
        }
        let (was, is) = (&self.from.nodes[&node], &self.to.nodes[&node]);
        let kind = |of: &crate::topologies::Node| match of.kind.is_compute() {
            true => (crate::topologies::Kind::Machine, of.kind.is_delegated()),
            false => match of.kind {
                crate::topologies::Kind::Abstract => (crate::topologies::Kind::Plain, true),
                kind => (kind, false),
            },
        };
        let creates = |of: &crate::topologies::Node| of.operations.contains(&"create");
        let (state, failed_in) = self.states[&node];
        let reached = failed_in.unwrap_or(state);
        let host = is.host.is_some_and(|host| self.nodes[&host].generation > 0);
        let is_other = kind(was) != kind(is) || was.host != is.host || creates(was) != creates(is);
        needs(!is_other && !host, || "has to come anew".to_owned())?;
        needs(!["creating", "deleting"].contains(&reached), || "may be half there".to_owned())?;
        let operations = |of: &crate::topologies::Node| of.operations.clone();
        let (mut differs, mut restarts) = (was.version != is.version, false);
        differs |= operations(was) != operations(is);
        differs |= ["created", "configuring"].contains(&reached);
        differs |= state == "error" && reached == "started";
        restarts |= reached != "started";
        // A node is not trusted to run while the host that it runs on did not.
        restarts |= is.host.is_some_and(|host| {
            !self.to.nodes[&host].kind.is_delegated() && self.nodes[&host].is_started
        });
        for it in self.new.iter().filter(|it| it.key.0 == node) {
            let Some(old) = self.old.iter().find(|old| old.key == it.key) else { continue };
            let was_there = self.states[&it.key.2].0 != "initial";
            differs |= was_there && old.operations != it.operations;
            restarts |= was_there && self.nodes[&it.key.2].generation > 0;
        }
        needs(!differs || there.is_configured, || "is configured as it was".to_owned())?;
        needs(!restarts || there.is_started, || "knows what is no more".to_owned())
    }

    /// Whether a node is not the one that existed before the plan.
    fn is_anew(&self, node: usize) -> bool {
        self.nodes.get(&node).is_none_or(|it| it.generation > 0)
    }

    fn told(&self, it: &Relation, operation: &str, expected: bool) -> Judged {
        let times = self.told.get(&(it.id.clone(), operation.to_owned()));
        let (times, expected) = (times.copied().unwrap_or(0), usize::from(expected));
        let expected = if it.operations.contains(&operation) { expected } else { 0 };
        needs(times == expected, || format!("{}/{operation} was done {times} times", it.id))
    }

    fn old_at_end(&self, it: &Relation) -> Judged {
        let stays = self.new.iter().any(|new| new.key == it.key);
        let goes = !stays || self.is_anew(it.key.0) || self.is_anew(it.key.2);
        let states = self.states.get(&it.key.0).zip(self.states.get(&it.key.2));
        let was =
            states.is_some_and(|(source, target)| is_connected(*source) && target.0 != "initial");
        self.told(it, "remove_target", goes && was)?;
        self.told(it, "remove_source", goes && was)
    }

    fn new_at_end(&self, it: &Relation) -> Judged {
        let (source, _, target, _) = it.key;
        // A relation whose source had not been configured yet was not announced to anybody.
        let stays = self.old.iter().any(|old| old.key == it.key)
            && self.states.get(&source).is_some_and(|state| is_connected(*state));
        let comes = !stays || self.is_anew(source) || self.is_anew(target);
        let [from, to] = [source, target].map(|node| &self.nodes[&node]);
        self.told(it, "add_target", comes)?;
        self.told(it, "add_source", comes)?;
        // A node that the orchestrator updates keeps running meanwhile.
        let keeps = !from.is_started || self.to.nodes[&source].kind.is_delegated();
        self.told(it, "target_changed", !comes && to.is_started && keeps)?;
        for (end, operations) in [
            (from, ["pre_configure_source", "post_configure_source"]),
            (to, ["pre_configure_target", "post_configure_target"]),
        ] {
            for operation in operations {
                self.told(it, operation, end.is_configured)?;
            }
        }
        Ok(())
    }
}

/// The operations and states on the way up.
const UP: [&str; 12] = [
    "deploy",
    "creating",
    "create",
    "created",
    "configuring",
    "configure",
    "configured",
    "starting",
    "start",
    "started",
    "update",
    "told",
];

/// A random order of the steps in which each comes after the steps that it waits for.
fn extension(steps: &[Step], mut random: u64) -> Vec<usize> {
    let mut order = Vec::new();
    let mut open: Vec<_> = (0..steps.len()).collect();
    while !open.is_empty() {
        let is_ready = |at: &usize| steps[*at].after.iter().all(|wait| !open.contains(wait));
        let ready: Vec<_> = (0..open.len()).filter(|&at| is_ready(&open[at])).collect();
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = ready[usize::try_from(random >> 33).unwrap() % ready.len()];
        order.push(open.remove(at));
    }
    order
}

/// Rule O-6: of two calls on the same host, one waits for the other.
fn hosts_do_one_thing_at_a_time(steps: &[Step]) {
    let mut above: Vec<BTreeSet<usize>> = Vec::new();
    for step in steps {
        let waits = step.after.iter();
        above.push(waits.flat_map(|&wait| above[wait].iter().copied().chain([wait])).collect());
    }
    for (at, step) in steps.iter().enumerate().filter(|(_, step)| step.host.is_some()) {
        for (before, other) in steps[..at].iter().enumerate() {
            let is_free = other.host != step.host || above[at].contains(&before);
            assert!(is_free, "{} and {} run at once on {:?}", other.id, step.id, step.host);
        }
    }
}

/// An instance of one topology, with states of its nodes, and a topology to change it to.
struct Case {
    from: Model,
    to: Model,
    states: BTreeMap<usize, State>,
}

impl Case {
    fn new((from, to): (Model, Model), seeds: &[u8]) -> Self {
        let seeds = seeds.iter().copied().cycle();
        let states = from.nodes.iter().zip(seeds).map(|((&rank, node), seed)| {
            let all = if node.kind.is_delegated() { &DELEGATED[..] } else { &STATES[..] };
            (rank, all.get(usize::from(seed)).copied().unwrap_or(STARTED))
        });
        let states = states.collect();
        Self { from, to, states }
    }

    fn planned(&self) -> (Plan, serde_json::Value) {
        let mut targets = Targets::new();
        let mut model = deployed(&self.from.resolver(), &mut targets);
        self.observe(&mut model);
        let kept = |digest: &str| Ok(targets[digest].clone());
        let query = InstancePlanQuery::default();
        let answer = self.to.resolver().adapt_instance(&model, &kept, &mut secrets(), &query);
        let answer = answer.unwrap_or_else(|error| panic!("{error}\n{}", self.text()));
        let (plan, _) = answer.result;
        let document = PlanDocument::of(&plan, &answer.sources, false);
        let document = serde_json::to_value(document).unwrap();
        (plan, document)
    }

    fn observe(&self, model: &mut InstanceModel) {
        for (rank, (state, failed_in)) in &self.states {
            let node = model.nodes.get_mut(&*self.from.names[*rank]).unwrap();
            node.state = InstanceState::named(state);
            node.failed_in = failed_in.map(InstanceState::named);
        }
    }

    fn text(&self) -> String {
        format!("{:?}\n{}\n{}", self.states, self.from.render(), self.to.render())
    }

    fn rank(&self, name: &str) -> usize {
        self.from.names.iter().position(|known| known == name).unwrap()
    }

    fn judge(&self, steps: &[Step], order: &[usize]) -> Judged {
        Simulation::new((&self.from, &self.to), &self.states, steps).run(order)
    }

    /// Laws L-5 and L-15.
    fn is_right_and_minimal(&self, random: u64) {
        let (_, document) = self.planned();
        let steps = steps(&document, &|name| self.rank(name));
        hosts_do_one_thing_at_a_time(&steps);
        for turn in 0..4 {
            let order = extension(&steps, random ^ turn);
            let judged = self.judge(&steps, &order);
            let ids: Vec<_> = order.iter().map(|&at| &*steps[at].id).collect();
            assert!(judged.is_ok(), "{judged:?}\n{ids:#?}\n{}", self.text());
        }
        let order: Vec<_> = (0..steps.len()).collect();
        let without = |what: &str, is_left_out: &dyn Fn(&Step) -> bool| {
            let rest: Vec<_> =
                order.iter().copied().filter(|&at| !is_left_out(&steps[at])).collect();
            let is_less = rest.len() < order.len();
            let judged = self.judge(&steps, &rest);
            let ids: Vec<_> = order.iter().map(|&at| &*steps[at].id).collect();
            assert!(!is_less || judged.is_err(), "{what} is in vain\n{ids:#?}\n{}", self.text());
        };
        for step in &steps {
            without(&step.id, &|other| other.id == step.id);
            without(&step.part, &|other| other.part == step.part);
        }
        let nodes: BTreeSet<_> = steps.iter().map(|step| step.node).collect();
        let nodes: Vec<_> = nodes.into_iter().collect();
        for some in 1_usize..1 << nodes.len() {
            let is_one = |node: usize| {
                nodes.iter().position(|it| *it == node).is_some_and(|at| some & (1 << at) != 0)
            };
            without(&format!("{some:b} of {nodes:?}"), &|step| is_one(step.node));
        }
    }
}

fn classes(from: &Model, to: &Model, class: ChangeClass) -> BTreeSet<String> {
    let all = Case::new((from.clone(), to.clone()), &[0]).planned().0.changes.into_iter();
    let nodes = all.filter(|it| it.class == class && it.element.starts_with("node."));
    nodes.map(|it| it.element).collect()
}

/// What is stored of an instance that became another one, without the digests of its sources.
fn written(from: &Model, to: &Model) -> String {
    let all = Deploying::new();
    all.init("shop", &from.resolver());
    all.reach("shop", None);
    let model = all.reach("shop", Some(&to.resolver()));
    let text = export_yaml(&model, ModelExport { unstable: true, reveal: false });
    text.replace(&*model.target.digest, "DIGEST")
}

proptest! {
    #![proptest_config(cases(24))]

    /// Laws L-5 and L-15, for instances whose nodes all run.
    #[test]
    fn plans_do_what_they_have_to(two in two_topologies(), random in any::<u64>()) {
        Case::new(two, &[0]).is_right_and_minimal(random);
    }

    /// Laws L-5 and L-15, for instances whose nodes have any state.
    #[test]
    fn plans_go_on_from_what_there_is(
        two in two_topologies(),
        states in prop::collection::vec(0_u8..20, 8),
        random in any::<u64>(),
    ) {
        Case::new(two, &states).is_right_and_minimal(random);
    }

    /// Law L-2.
    #[test]
    fn the_way_back_keeps_the_same((from, to) in two_topologies()) {
        for (there, back) in [
            (ChangeClass::Keep, ChangeClass::Keep),
            (ChangeClass::Add, ChangeClass::Remove),
            (ChangeClass::Remove, ChangeClass::Add),
        ] {
            prop_assert_eq!(classes(&from, &to, there), classes(&to, &from, back));
        }
    }

    /// Law L-14.
    #[test]
    fn what_is_written_depends_on_no_order((from, to) in two_topologies()) {
        let turned = |model: &Model| {
            let mut other = model.clone();
            other.order.reverse();
            other.nodes.values_mut().for_each(|node| {
                node.operations.reverse();
                node.links.iter_mut().for_each(|link| link.operations.reverse());
            });
            other
        };
        let one = written(&from, &to);
        prop_assert_eq!(&written(&turned(&from), &turned(&to)), &one);
        let all = std::thread::scope(|scope| {
            let threads = [(); 3].map(|()| scope.spawn(|| written(&from, &to)));
            threads.map(|thread| thread.join().unwrap())
        });
        prop_assert!(all.iter().all(|other| *other == one));
    }

    /// Laws L-1, L-3 and L-4.
    #[test]
    fn all_ways_lead_to_the_same((from, to) in two_topologies()) {
        let all = Deploying::new();
        let (old, new): (Resolver, Resolver) = (from.resolver(), to.resolver());
        all.init("direct", &new);
        let direct = essence(&all.reach("direct", None));
        all.init("begun", &old);
        let begun = essence(&all.reach("begun", Some(&new)));
        assert_same(&begun, &direct, "from what is only meant");
        all.init("changed", &old);
        all.reach("changed", None);
        let changed = essence(&all.reach("changed", Some(&new)));
        assert_same(&changed, &direct, "from what is there");
        let again = all.reach("changed", Some(&new));
        prop_assert_eq!(essence(&again), direct);
        let (plan, _) = Case::new((to.clone(), to), &[0]).planned();
        prop_assert!(plan.steps.is_empty());
    }
}
