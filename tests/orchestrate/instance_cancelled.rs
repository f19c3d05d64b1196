//! Laws for plans that fail and are given up: the next plan goes on from what is really there. A
//! world beside the instance is changed by each step as the rules of `docs/plans.md` say; it shares
//! no code with the library.
//!
//! `PROPTEST_CASES=2000 cargo test --release --test orchestrate instance_cancelled` tries harder.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use crate::deploying::{Targets, assert_same, deployed, essence, secrets};
use crate::laws::cases;
use crate::topologies::{Model, two_topologies};
use cuvee::deploy::instance::{
    AppliedPlan, InstanceModel, InstancePlanQuery, InstanceTarget, Orchestration, ReadyStep,
    RecordOrigin, ReportOutcome, StepStatus, TargetModels, Unwritten, finish_workflow,
    remove_instance,
};
use cuvee::output::draw::plan::PlanDocument;
use jiff::Timestamp;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A node that really exists.
#[derive(Clone, Debug)]
struct There {
    /// The node on which it was created.
    host: Option<usize>,
    /// The nodes that it needs by the topology that it was created by.
    needs: BTreeSet<usize>,
    is_compute: bool,
    /// Whether something of it may run.
    may_run: bool,
}

/// What really exists.
#[derive(Clone, Debug, Default)]
struct World {
    nodes: BTreeMap<usize, There>,
}

impl There {
    fn of(model: &Model, rank: usize, may_run: bool) -> Self {
        let node = &model.nodes[&rank];
        let needs = node.links.iter().map(|link| link.target).collect();
        Self { host: node.host, needs, is_compute: node.kind.is_compute(), may_run }
    }
}

impl World {
    fn of(model: &Model) -> Self {
        let nodes = model.nodes.keys().map(|&rank| (rank, There::of(model, rank, true)));
        Self { nodes: nodes.collect() }
    }

    /// The end of the chain of hosts (statement H1); `None` for a node that nothing hosts.
    fn end(&self, rank: usize) -> Option<usize> {
        let host = self.nodes.get(&rank)?.host?;
        Some(self.end(host).unwrap_or(host))
    }

    /// Where an operation of a relation runs: on the end of its chain, else on the node itself.
    fn beside(&self, rank: usize) -> Option<usize> {
        self.end(rank).or_else(|| Some(rank).filter(|rank| self.nodes[rank].is_compute))
    }
}

/// A step of a plan, read from its document.
#[derive(Clone, Debug)]
struct Step {
    id: String,
    part: String,
    host: Option<String>,
    /// Whether something has to be done in it.
    runs: bool,
}

impl Step {
    fn element(&self) -> &str {
        self.id.rsplit_once('/').unwrap().0
    }

    fn does(&self) -> &str {
        self.id.rsplit_once('/').unwrap().1
    }
}

type Judged = Result<(), String>;

fn needs(holds: bool, what: impl FnOnce() -> String) -> Judged {
    if holds { Ok(()) } else { Err(what()) }
}

fn rank_of(element: &str) -> usize {
    element[element.rfind("node.n").unwrap() + 6..].parse().unwrap()
}

/// A plan while it is carried out beside the world.
struct Carrying<'w> {
    world: &'w mut World,
    /// The topology that the plan leads to; `None` if all goes.
    to: Option<&'w Model>,
    steps: Vec<Step>,
    /// The targets of relations that go, by their sources.
    goes: BTreeMap<usize, Vec<usize>>,
    begun: BTreeSet<String>,
    done: BTreeSet<String>,
}

impl Carrying<'_> {
    fn has(&self, part: &str, does: &[&str]) -> bool {
        self.steps.iter().any(|step| step.part == part && does.contains(&step.does()))
    }

    /// Whether a node has no such part that is not done.
    fn is_over(&self, rank: usize, kind: &str) -> bool {
        let part = format!("node.n{rank}/{kind}");
        self.done.contains(&part) || self.steps.iter().all(|step| step.part != part)
    }

    /// A step begins, or a part in which nothing has to be done.
    fn begin(&mut self, id: &str) -> Judged {
        let step = self.steps.iter().find(|step| step.id == id).cloned();
        let part = step.as_ref().map_or(id, |step| &step.part).to_owned();
        if self.begun.insert(part.clone()) && part.starts_with("node.") {
            let (node, kind) = part.rsplit_once('/').unwrap();
            match kind {
                "up" => self.comes(rank_of(node), self.has(&part, &["creating", "deploy"]))?,
                _ => self.goes_down(rank_of(node), self.has(&part, &["deleting", "undeploy"]))?,
            }
        }
        let Some(step) = step else { return Ok(()) };
        if matches!(step.does(), "start" | "deploy") {
            self.world.nodes.get_mut(&rank_of(step.element())).unwrap().may_run = true;
        }
        self.runs(&step)
    }

    /// A node comes up; what it needs does already.
    fn comes(&mut self, rank: usize, is_whole: bool) -> Judged {
        let to = self.to.ok_or("comes though all goes")?;
        let comes = There::of(to, rank, false);
        for need in comes.needs.iter().chain(&comes.host) {
            let is_there = self.world.nodes.contains_key(need) && self.is_over(*need, "up");
            needs(is_there, || format!("comes before n{need} is up"))?;
        }
        let is_there = self.world.nodes.contains_key(&rank);
        needs(is_there != is_whole, || format!("comes up, and is there: {is_there}"))?;
        let host = self.world.nodes.entry(rank).or_insert(comes).host;
        needs(host == to.nodes[&rank].host, || "comes up on another host".to_owned())
    }

    /// A node stops, or goes as a whole; what stands on it or needs it does before.
    fn goes_down(&self, rank: usize, is_whole: bool) -> Judged {
        needs(self.world.nodes.contains_key(&rank), || "goes and is not there".to_owned())?;
        for (&other, there) in &self.world.nodes {
            if there.host == Some(rank) {
                needs(!is_whole, || format!("goes before n{other}, which stands on it"))?;
                needs(!there.may_run, || format!("stops before n{other}, which it hosts"))?;
            }
            let is_down = !there.needs.contains(&rank) || self.is_over(other, "down");
            needs(is_down, || format!("goes down before n{other}, which needs it"))?;
        }
        Ok(())
    }

    /// Whether a step runs where its node was created.
    fn runs(&self, step: &Step) -> Judged {
        let Some(said) = &step.host else { return Ok(()) };
        let rank = rank_of(step.element());
        let hosts = match step.element().starts_with("relation.") {
            false => vec![self.world.end(rank)],
            true => self.relation(rank, step)?,
        };
        let name = |host: &Option<usize>| {
            host.map_or("ORCHESTRATOR".to_owned(), |host| format!("node.n{host}"))
        };
        let hosts: Vec<_> = hosts.iter().map(name).collect();
        needs(hosts.contains(said), || format!("runs on `{said}`, not on {hosts:?}"))
    }

    /// The nodes on which an operation of a relation may run. Both ends are there.
    fn relation(&self, source: usize, step: &Step) -> Result<Vec<Option<usize>>, String> {
        let does = step.does();
        let targets = match (does.starts_with("remove"), self.to) {
            (false, Some(to)) => {
                let new = to.relations().into_iter();
                new.filter(|it| it.1 == step.element()).map(|it| it.2).collect()
            }
            _ => self.goes.get(&source).cloned().unwrap_or_default(),
        };
        let is_early = does.ends_with("configure_target");
        let is_there = |end: &usize| self.world.nodes.contains_key(end);
        needs(is_early || is_there(&source), || "its source is not there".to_owned())?;
        let targets: Vec<_> = targets.into_iter().filter(is_there).collect();
        needs(!targets.is_empty(), || "its target is not there".to_owned())?;
        let is_at_source = does.ends_with("configure_source")
            || ["add_target", "remove_target", "target_changed"].contains(&does);
        let ends = if is_at_source { vec![source] } else { targets };
        Ok(ends.into_iter().map(|end| self.world.beside(end)).collect())
    }

    /// A step is done, or a part in which nothing had to be done.
    fn end(&mut self, id: &str) {
        self.done.insert(id.to_owned());
        let step = self.steps.iter().find(|step| step.id == id);
        let part = step.map_or(id, |step| &step.part).to_owned();
        let mut own = self.steps.iter().filter(|step| step.part == part && step.runs);
        if !own.all(|step| self.done.contains(&step.id)) {
            return;
        }
        let is_whole = self.has(&part, &["deleting", "undeploy"]);
        let (node, kind) = part.rsplit_once('/').unwrap();
        if node.starts_with("node.") {
            let rank = rank_of(node);
            match is_whole {
                true => drop(self.world.nodes.remove(&rank)),
                false => self.world.nodes.get_mut(&rank).unwrap().may_run = kind == "up",
            }
        }
        self.done.insert(part);
    }
}

/// What a plan is to lead to.
#[derive(Clone, Copy)]
enum Goal<'m> {
    Topology(&'m Model),
    Nothing,
}

/// An instance beside its world.
#[derive(Clone)]
struct Case {
    targets: Targets,
    model: InstanceModel,
    world: World,
}

/// A plan, and the models of the targets that it leads between.
struct Planned {
    applied: AppliedPlan,
    steps: Vec<Step>,
    target: Option<InstanceTarget>,
    to: InstanceModel,
}

/// How a plan is given up.
#[derive(Clone, Copy, Debug)]
struct GivenUp {
    /// The step that fails, by its number.
    at: usize,
    /// Whether what is ready beside it is still done.
    goes_on: bool,
    /// Whether another step has begun by then that never ends.
    is_midway: bool,
}

fn given_up() -> impl Strategy<Value = GivenUp> {
    let any = (0..12usize, any::<bool>(), any::<bool>());
    any.prop_map(|(at, goes_on, is_midway)| GivenUp { at, goes_on, is_midway })
}

fn record(model: &mut InstanceModel) -> Unwritten<'_> {
    Unwritten::new(model, "2026-01-01T00:00:00Z", "ann", RecordOrigin::Client)
}

impl Case {
    fn new(from: &Model) -> Self {
        let mut targets = Targets::new();
        let model = deployed(&from.resolver(), &mut targets);
        Self { targets, model, world: World::of(from) }
    }

    fn plan(&mut self, goal: Goal<'_>) -> Planned {
        let kept = self.targets.clone();
        let kept = |digest: &str| Ok(kept[digest].clone());
        let query = InstancePlanQuery::default();
        let (plan, sources, to) = match goal {
            Goal::Nothing => {
                let answer = remove_instance(&self.model, &kept, &query);
                let answer = answer.unwrap_or_else(|error| panic!("{error}"));
                (answer.result, answer.sources, InstanceModel::default())
            }
            Goal::Topology(to) => {
                let (resolver, mut secrets) = (to.resolver(), secrets());
                let answer = resolver.adapt_instance(&self.model, &kept, &mut secrets, &query);
                let answer = answer.unwrap_or_else(|error| panic!("{error}"));
                let (plan, target) = answer.result;
                let to = (*target.model).clone();
                self.targets.insert(target.blobs().unwrap().0, target);
                (plan, answer.sources, to)
            }
        };
        let text = serde_json::to_string(&PlanDocument::of(&plan, &sources, false)).unwrap();
        let applied = AppliedPlan::read(&text.replacen('{', r#"{"version":1,"#, 1)).unwrap();
        let target = applied.target.as_ref().map(|target| {
            let mut meant = InstanceTarget::default();
            meant.digest = target.digest.clone();
            meant
        });
        Planned { steps: steps(&serde_json::from_str(&text).unwrap()), applied, target, to }
    }

    /// Carries out a plan, or a part of it. Returns whether a step has failed.
    fn carry(
        &mut self,
        goal: Goal<'_>,
        given_up: Option<GivenUp>,
        mut random: u64,
    ) -> Result<bool, String> {
        let Planned { applied, steps, target, to } = self.plan(goal);
        let from = &self.targets[&*self.model.target.digest].model;
        let models = TargetModels { to: &to, from: Some(from) };
        let mut goes: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let rank = |id: &str| rank_of(&format!("node.{id}"));
        for (source, _, relation) in self.model.relations() {
            let target = relation.target.as_deref().map(rank);
            goes.entry(rank(source)).or_default().extend(target);
        }
        let to = match goal {
            Goal::Topology(to) => Some(to),
            Goal::Nothing => None,
        };
        let (begun, done) = Default::default();
        let mut beside = Carrying { world: &mut self.world, to, steps, goes, begun, done };
        let mut first = record(&mut self.model);
        let mut running =
            Orchestration::begin(&mut first, &applied, "kept", target.as_ref(), models).unwrap();
        first.close(None);
        let (mut count, mut failed, mut order) = (0, None, Vec::new());
        while self.model.orchestration.is_some() {
            let ready = running.ready(&self.model, Timestamp::UNIX_EPOCH);
            let is_open = |it: &&ReadyStep| it.status != Some(StepStatus::Failed);
            let ready: Vec<_> = ready.iter().filter(is_open).collect();
            if ready.is_empty() {
                break;
            }
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let step = &ready[usize::try_from(random >> 33).unwrap() % ready.len()].step;
            order.push(step.to_string());
            beside.begin(step).map_err(|why| format!("{step}: {why}\n{order:#?}"))?;
            let fails = given_up.is_some_and(|given_up| given_up.at == count);
            let outcome = if fails { ReportOutcome::Failed } else { ReportOutcome::Done };
            let mut next = record(&mut self.model);
            running.start_step(&mut next, step).unwrap();
            running.end_step(&mut next, step, outcome, None, false).unwrap();
            next.close(None);
            count += 1;
            match given_up {
                Some(given_up) if fails => {
                    failed = Some(step.to_string());
                    if !given_up.goes_on {
                        break;
                    }
                }
                _ => beside.end(step),
            }
        }
        if given_up.is_some_and(|it| it.is_midway) && self.model.orchestration.is_some() {
            let ready = running.ready(&self.model, Timestamp::UNIX_EPOCH);
            let mut open = ready.iter().filter(|it| it.status.is_none());
            if let Some(ReadyStep { step, .. }) = open.next() {
                beside.begin(step).map_err(|why| format!("{step}: {why}\n{order:#?}"))?;
                let mut next = record(&mut self.model);
                running.start_step(&mut next, step).unwrap();
                next.close(None);
            }
        }
        if self.model.orchestration.is_some() {
            let mut last = record(&mut self.model);
            finish_workflow(&mut last, ReportOutcome::Cancelled).unwrap();
            last.close(None);
        }
        self.settle(goal, failed.is_some());
        Ok(failed.is_some())
    }

    /// What nodes need after a plan. Of a node that was there before a plan that failed, the plan
    /// may have got anywhere.
    fn settle(&mut self, goal: Goal<'_>, has_failed: bool) {
        let Goal::Topology(to) = goal else { return };
        for (rank, there) in &mut self.world.nodes {
            let Some(node) = to.nodes.get(rank) else { continue };
            let new: BTreeSet<_> = node.links.iter().map(|link| link.target).collect();
            match has_failed {
                true => there.needs.retain(|need| new.contains(need)),
                false => there.needs = new,
            }
        }
    }

    /// Carries out a whole plan, after which all is as if nothing had ever failed.
    fn recover(&mut self, goal: Goal<'_>, random: u64) -> Judged {
        self.carry(goal, None, random)?;
        let (expected, nodes) = match goal {
            Goal::Topology(to) => {
                (essence(&deployed(&to.resolver(), &mut Targets::new())), World::of(to).nodes)
            }
            Goal::Nothing => (Vec::new(), BTreeMap::new()),
        };
        let is: Vec<_> = self.world.nodes.iter().map(|(rank, it)| (rank, it.host)).collect();
        let to: Vec<_> = nodes.iter().map(|(rank, it)| (rank, it.host)).collect();
        needs(is == to, || format!("{is:?} are there"))?;
        if let Goal::Topology(_) = goal {
            assert_same(&essence(&self.model), &expected, "after what has failed");
        }
        needs(self.model.nodes.len() == nodes.len(), || "the model has others".to_owned())
    }
}

fn steps(document: &serde_json::Value) -> Vec<Step> {
    let text = |step: &serde_json::Value, key: &str| step[key].as_str().map(str::to_owned);
    let read = |step: &serde_json::Value| {
        let implements = step.get("implementation").is_some();
        let runs = implements || step["kind"] == "delegate";
        let host = text(step, "host").filter(|_| implements);
        Step { id: text(step, "id").unwrap(), part: text(step, "part").unwrap(), host, runs }
    };
    document["steps"].as_array().unwrap().iter().map(read).collect()
}

proptest! {
    #![proptest_config(cases(8))]

    /// Each step of a plan fails once; after each failure one goes on, goes back, and removes all.
    #[test]
    fn whatever_fails_can_be_made_good((from, to) in two_topologies(), random in any::<u64>()) {
        let start = Case::new(&from);
        for at in 0.. {
            let mut failed = start.clone();
            let [goes_on, is_midway] = [at, at + 1].map(|at| random >> (at % 64) & 1 == 1);
            let given_up = GivenUp { at, goes_on, is_midway };
            let told = |why: String| format!("{at}: {why}\n{}\n{}", from.render(), to.render());
            let has_failed = failed.carry(Goal::Topology(&to), Some(given_up), random);
            if !has_failed.map_err(told).unwrap_or_else(|why| panic!("{why}")) {
                break;
            }
            for goal in [Goal::Topology(&to), Goal::Topology(&from), Goal::Nothing] {
                let recovered = failed.clone().recover(goal, random.rotate_left(7));
                recovered.map_err(told).unwrap_or_else(|why| panic!("{why}"));
            }
        }
    }

    /// Several plans fail one after the other.
    #[test]
    fn failures_after_failures_can_be_made_good(
        (from, to) in two_topologies(),
        plans in prop::collection::vec((0..3usize, given_up(), any::<u64>()), 1..5),
    ) {
        let mut case = Case::new(&from);
        let goals = [Goal::Topology(&to), Goal::Topology(&from), Goal::Nothing];
        let told = |why| format!("{why}\n{plans:?}\n{}\n{}", from.render(), to.render());
        for &(goal, given_up, random) in &plans {
            let goal = goals[goal];
            let failed = case.carry(goal, Some(given_up), random).map_err(told).unwrap();
            if !failed && matches!(goal, Goal::Nothing) {
                break;
            }
        }
        case.recover(goals[plans[0].0], plans[0].2).map_err(told).unwrap();
    }
}
