//! Laws that hold for every plan, tried on random topologies and compared with a direct reading of
//! the rules on nodes and relations, which shares no code with the library.
//!
//! `PROPTEST_CASES=10000 cargo test --test orchestrate plan_laws` tries harder.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use crate::bpmn::{Process, Rules as Play};
use crate::laws::cases;
use crate::topologies::{Kind, Link, Model, Node, NodeSeed, model, node, two_topologies};
use cuvee::Resolver;
use cuvee::deploy::plan::{
    Adaptation, OrderOptions, PartKind, Plan, PlanPart, PlanQuery, StepHost,
};
use cuvee::explore::Answer;
use cuvee::output::draw::plan::PlanDocument;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

impl Model {
    /// The last host in the chain of hosts.
    fn host(&self, rank: usize) -> Option<usize> {
        let below = self.nodes[&rank].host?;
        Some(self.host(below).unwrap_or(below))
    }

    /// Where operations at one end of a relation run.
    fn host_of_end(&self, rank: usize) -> Option<usize> {
        self.host(rank).or_else(|| self.nodes[&rank].kind.is_compute().then_some(rank))
    }

    fn empty(&self) -> Self {
        Self { nodes: BTreeMap::new(), ..self.clone() }
    }

    fn plan(&self, workflow: &str, parallel_hosts: bool) -> Plan {
        self.planned(workflow, parallel_hosts).result
    }

    fn planned(&self, workflow: &str, parallel_hosts: bool) -> Answer<Plan> {
        let order = OrderOptions { parallel_hosts, ..OrderOptions::default() };
        let query = PlanQuery {
            workflow: workflow.to_owned(),
            generated: false,
            trigger: None,
            inputs: Vec::new(),
            order,
        };
        let answer = self.resolver().plan(&query);
        answer.unwrap_or_else(|error| panic!("{error}\n{}", self.render()))
    }

    fn adapt(&self, to: &Self, parallel_hosts: bool) -> Plan {
        self.adapted(to, parallel_hosts).result
    }

    fn adapted(&self, to: &Self, parallel_hosts: bool) -> Answer<Plan> {
        let order = OrderOptions { parallel_hosts, ..OrderOptions::default() };
        let answer = self.resolver().adapt(&to.resolver(), &Adaptation::default(), &order);
        answer.unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.render(), to.render()))
    }
}

/// The steps and the order that the rules demand.
#[derive(Default)]
struct Rules {
    steps: BTreeSet<String>,
    before: Vec<(String, String)>,
    /// The host of each call; `None` for the orchestrator.
    calls: BTreeMap<String, Option<String>>,
}

impl Rules {
    fn chain(&mut self, id: &str, steps: &[&str]) {
        self.steps.extend(steps.iter().map(|step| format!("{id}/{step}")));
        let pairs = steps.windows(2);
        self.before
            .extend(pairs.map(|two| (format!("{id}/{}", two[0]), format!("{id}/{}", two[1]))));
    }

    /// Adds a call that comes after some steps and before others.
    fn call(&mut self, step: String, host: Option<String>, after: &[String], before: &[String]) {
        self.before.extend(after.iter().map(|other| (other.clone(), step.clone())));
        self.before.extend(before.iter().map(|other| (step.clone(), other.clone())));
        self.steps.insert(step.clone());
        self.calls.insert(step, host);
    }

    fn standard(&mut self, model: &Model, rank: usize, operations: &[&str]) {
        let host = model.host(rank).map(|host| model.id(host));
        for operation in operations.iter().filter(|it| model.nodes[&rank].operations.contains(it)) {
            self.calls.insert(format!("{}/{operation}", model.id(rank)), host.clone());
        }
    }

    /// Rules D2 to D4 and O1.
    fn deploy(model: &Model) -> Self {
        let mut rules = Self::default();
        let first = |rank: usize| match model.nodes[&rank].kind.is_delegated() {
            true => format!("{}/deploy", model.id(rank)),
            false => format!("{}/creating", model.id(rank)),
        };
        for (&rank, node) in &model.nodes {
            let id = model.id(rank);
            if node.kind.is_delegated() {
                rules.chain(&id, &["deploy", "started"]);
                continue;
            }
            #[rustfmt::skip]
            rules.chain(&id, &["creating", "create", "created", "configuring", "configure", "configured", "starting", "start", "started"]);
            rules.standard(model, rank, &["create", "configure", "start"]);
        }
        // What relations do at one node, in the order of the template.
        let mut at_ends: BTreeMap<(usize, bool), Vec<_>> = BTreeMap::new();
        for (source, relation, target, operations) in model.relations() {
            let at = |rank: usize, step: &str| format!("{}/{step}", model.id(rank));
            rules.before.push((at(target, "started"), first(source)));
            for operation in operations {
                let is_at_target =
                    operation.ends_with("configure_target") || operation == "add_source";
                let end = if is_at_target { target } else { source };
                let host = model.host_of_end(end).map(|host| model.id(host));
                let step = format!("{relation}/{operation}");
                if operation.contains("configure") && host.is_some() {
                    let place = model.order.iter().position(|rank| *rank == source);
                    let all = at_ends.entry((end, operation.starts_with("pre"))).or_default();
                    all.push((place, all.len(), step.clone()));
                }
                match operation {
                    "add_target" | "add_source" => {
                        rules.call(
                            step,
                            host,
                            &[at(source, "started"), at(target, "started")],
                            &[],
                        );
                    }
                    _ if operation.starts_with("pre") => {
                        rules.call(step, host, &[at(end, "configuring")], &[at(end, "configure")]);
                    }
                    _ if operation.starts_with("post") => {
                        rules.call(step, host, &[at(end, "configure")], &[at(end, "configured")]);
                    }
                    _ => {}
                }
            }
        }
        for mut all in at_ends.into_values() {
            all.sort();
            let pairs = all.windows(2);
            rules.before.extend(pairs.map(|two| (two[0].2.clone(), two[1].2.clone())));
        }
        rules
    }

    /// Rule D5, and O1 in reverse.
    fn undeploy(model: &Model) -> Self {
        let mut rules = Self::default();
        let is_delegated = |rank: usize| model.nodes[&rank].kind.is_delegated();
        let at = |rank: usize, step: &str| format!("{}/{step}", model.id(rank));
        for &rank in model.nodes.keys() {
            if is_delegated(rank) {
                rules.chain(&model.id(rank), &["undeploy", "deleted"]);
                continue;
            }
            #[rustfmt::skip]
            rules.chain(&model.id(rank), &["stopping", "stop", "stopped", "deleting", "delete", "deleted"]);
            rules.standard(model, rank, &["stop", "delete"]);
        }
        let mut ends: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for (source, _, target, _) in model.relations() {
            ends.entry(target).or_default().push(at(source, "deleted"));
            let first = if is_delegated(target) { "undeploy" } else { "stopping" };
            rules.before.push((at(source, "deleted"), at(target, first)));
        }
        for (source, relation, target, operations) in model.relations() {
            for operation in operations.into_iter().filter(|it| it.starts_with("remove")) {
                let end = if operation == "remove_source" { target } else { source };
                let host = model.host_of_end(end).map(|host| model.id(host));
                let step = format!("{relation}/{operation}");
                // What a relation calls before its source goes is a part of the source's way down.
                match is_delegated(source) {
                    true => {
                        let after = ends.get(&source).cloned().unwrap_or_default();
                        rules.call(step, host, &after, &[at(source, "undeploy")]);
                    }
                    false => {
                        rules.call(step, host, &[at(source, "stopping")], &[at(source, "stop")]);
                    }
                }
            }
        }
        rules
    }
}

/// The order of steps, including the order through steps in between.
struct Reach {
    names: Vec<String>,
    index: BTreeMap<String, usize>,
    /// For each step all steps that come before it.
    above: Vec<BTreeSet<usize>>,
}

impl Reach {
    fn of(names: Vec<String>, before: impl Fn(usize) -> Vec<usize>) -> Self {
        let index: BTreeMap<_, _> =
            names.iter().enumerate().map(|(index, name)| (name.clone(), index)).collect();
        assert_eq!(index.len(), names.len(), "two steps have one name: {names:?}");
        let mut above: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); names.len()];
        // Repeated until nothing is new, since the steps may be in any order.
        loop {
            let count: usize = above.iter().map(BTreeSet::len).sum();
            for step in 0..names.len() {
                for wait in before(step) {
                    let more: Vec<_> = above[wait].iter().copied().chain([wait]).collect();
                    above[step].extend(more);
                }
            }
            if count == above.iter().map(BTreeSet::len).sum::<usize>() {
                break;
            }
        }
        Self { names, index, above }
    }

    fn of_plan(plan: &Plan) -> Self {
        let ids: Vec<_> = plan.step_ids().collect();
        let names = ids.iter().map(|&id| plan.identifier(id)).collect();
        Self::of(names, |step| plan.after(ids[step]).iter().map(|wait| wait.index()).collect())
    }

    fn pairs(&self) -> BTreeSet<(&str, &str)> {
        let below = self.above.iter().enumerate();
        below
            .flat_map(|(step, above)| {
                above.iter().map(move |&before| (&*self.names[before], &*self.names[step]))
            })
            .collect()
    }

    fn is_before(&self, first: usize, second: usize) -> bool {
        self.above[second].contains(&first)
    }
}

/// Statement W1: each step comes after the steps that it waits for, and each part after its own.
/// H2: what a node does on a host in one piece is a block. Returns the order on hosts.
fn is_sound(plan: &Plan) -> Vec<(String, String)> {
    for id in plan.step_ids() {
        assert!(plan.after(id).iter().all(|&wait| wait < id));
    }
    for part in &plan.parts {
        assert!(part.after.iter().all(|&before| plan.part(before).first < part.first));
    }
    let mut hosts: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for id in plan.step_ids().filter(|&id| plan.call_of(id).is_some()) {
        if let StepHost::Element(host) = plan.step(id).host {
            hosts.entry(&*plan.element(host).identifier).or_default().push(id);
        }
    }
    let mut order = Vec::new();
    for calls in hosts.values() {
        let mut parts: Vec<_> = calls.iter().map(|&id| plan.step(id).part.unwrap()).collect();
        parts.dedup();
        let count = parts.len();
        parts.sort();
        parts.dedup();
        assert_eq!(parts.len(), count, "a block is torn apart");
        for two in calls.windows(2) {
            order.push((plan.identifier(two[0]), plan.identifier(two[1])));
        }
    }
    order
}

/// Asserts that a plan has exactly these steps and exactly this order.
fn follows(plan: &Plan, mut rules: Rules, parallel_hosts: bool) {
    let order = is_sound(plan);
    if !parallel_hosts {
        rules.before.extend(order);
    }
    let found = Reach::of_plan(plan);
    let names: BTreeSet<_> = found.names.iter().cloned().collect();
    assert_eq!(names, rules.steps);
    let calls = plan.step_ids().filter(|&id| plan.call_of(id).is_some());
    let calls: BTreeMap<_, _> = calls
        .map(|id| match plan.step(id).host {
            StepHost::Element(host) => {
                (plan.identifier(id), Some(plan.element(host).identifier.clone()))
            }
            _ => (plan.identifier(id), None),
        })
        .collect();
    assert_eq!(calls, rules.calls);
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); found.names.len()];
    for (first, second) in &rules.before {
        before[found.index[second]].push(found.index[first]);
    }
    let expected = Reach::of(found.names.clone(), |step| before[step].clone());
    assert_eq!(found.pairs(), expected.pairs());
}

/// A plan of an update, by its parts.
struct Update<'p> {
    plan: &'p Plan,
    reach: Reach,
    /// The first step of each part, and the end behind its last.
    parts: BTreeMap<String, (usize, usize)>,
}

impl<'p> Update<'p> {
    fn of(plan: &'p Plan) -> Self {
        let parts: BTreeMap<_, _> = plan
            .parts
            .iter()
            .map(|part| {
                let element = plan.element(part.element.unwrap());
                let first = part.first.index();
                let name = format!("{}/{}", element.identifier, part.kind.as_str());
                (name, (first, first + part.steps as usize))
            })
            .collect();
        assert_eq!(parts.len(), plan.parts.len());
        Self { plan, reach: Reach::of_plan(plan), parts }
    }

    fn has(&self, part: &str) -> bool {
        self.parts.contains_key(part)
    }

    /// The steps of a part in which its node changes its state; for a relation, all steps of its
    /// part.
    fn core(&self, part: &str) -> Vec<usize> {
        let &(first, end) = &self.parts[part];
        let element = part.rsplit_once('/').unwrap().0;
        let is_core = |&step: &usize| self.reach.names[step].starts_with(&format!("{element}/"));
        (first..end).filter(is_core).collect()
    }

    /// Asserts that the core of one part comes before that of another.
    fn in_order(&self, first: &str, second: &str) {
        if !self.has(first) || !self.has(second) {
            return;
        }
        for &one in &self.core(first) {
            for other in self.parts[second].0..self.parts[second].1 {
                let (earlier, later) = (&self.reach.names[one], &self.reach.names[other]);
                assert!(self.reach.is_before(one, other), "{earlier} has to come before {later}");
            }
        }
    }
}

/// Rules U3 and U6, by the relations of both topologies.
fn updates(from: &Model, to: &Model, plan: &Plan) {
    is_sound(plan);
    let update = Update::of(plan);
    let part = |model: &Model, rank: usize, kind: &str| format!("{}/{kind}", model.id(rank));
    // The order of pieces. It includes wishes: a new relation should come before an old one goes.
    let mut pieces: Vec<(String, String)> = Vec::new();
    for rank in from.nodes.keys().filter(|rank| to.nodes.contains_key(rank)) {
        pieces.push((part(from, *rank, "down"), part(from, *rank, "up")));
    }
    let goes = |rank: usize| update.has(&part(from, rank, "down"));
    let whole =
        |rank: usize| update.reach.index.contains_key(&format!("{}/deleted", from.id(rank)));
    let mut gone: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut new: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let (old_relations, new_relations) = (from.relations(), to.relations());
    let mut partners: Vec<Option<usize>> = vec![None; new_relations.len()];
    let mut stays = vec![false; old_relations.len()];
    for (index, (source, id, target, _)) in new_relations.iter().enumerate() {
        let name = |id: &str| id.split('@').next().unwrap().to_owned();
        let mut old = old_relations.iter().enumerate();
        let found = old.find(|(known, old)| {
            !stays[*known] && old.0 == *source && old.2 == *target && name(&old.1) == name(id)
        });
        if let Some((known, _)) = found {
            stays[known] = true;
            partners[index] = Some(known);
        }
    }
    for (index, (source, id, target, _)) in old_relations.iter().enumerate() {
        if goes(*source) {
            pieces.push((part(from, *source, "down"), part(from, *target, "down")));
        } else if !stays[index] || whole(*target) {
            let unwire = format!("{id}/unwire");
            pieces.push((unwire.clone(), part(from, *target, "down")));
            gone.entry(*source).or_default().push(unwire);
        }
    }
    for (index, (source, id, target, _)) in new_relations.iter().enumerate() {
        let is_up = update.has(&part(to, *source, "up"));
        let is_updated = update.reach.index.contains_key(&format!("{}/update", to.id(*source)));
        if is_up {
            pieces.push((part(to, *target, "up"), part(to, *source, "up")));
        }
        let is_new = partners[index].is_none() || whole(*target);
        if is_new && (!is_up || is_updated) {
            let wire = format!("{id}/wire");
            pieces.push((part(to, *target, "up"), wire.clone()));
            pieces.push((part(to, *source, "up"), wire.clone()));
            new.entry(*source).or_default().push(wire);
        }
        pieces.push((part(to, *target, "up"), format!("{id}/changed")));
    }
    for (first, second) in &pieces {
        update.in_order(first, second);
    }
    let wishes: Vec<(String, String)> = gone
        .iter()
        .flat_map(|(source, unwires)| {
            let wires = new.get(source).into_iter().flatten();
            wires.flat_map(|wire| unwires.iter().map(|unwire| (wire.clone(), unwire.clone())))
        })
        .collect();
    let all: Vec<_> = pieces.iter().chain(&wishes).cloned().collect();
    let names: BTreeSet<_> =
        all.iter().flat_map(|(one, other)| [one.clone(), other.clone()]).collect();
    // Only pieces that exist pass an order on.
    let is_there = |name: &String| {
        update.has(name) || wishes.iter().any(|(wire, unwire)| wire == name || unwire == name)
    };
    let names: Vec<_> = names.into_iter().filter(is_there).collect();
    let index: BTreeMap<_, _> =
        names.iter().enumerate().map(|(index, name)| (name.clone(), index)).collect();
    let mut before = vec![Vec::new(); names.len()];
    for (first, second) in &all {
        if let (Some(&first), Some(&second)) = (index.get(first), index.get(second)) {
            before[second].push(first);
        }
    }
    let order = Reach::of(names, |piece| before[piece].clone());
    // A relation without steps passes on the pieces that it would wait for.
    let parts_of = |piece: &str| -> Vec<String> {
        let is_end = |(one, other): &&(String, String)| match piece.ends_with("/wire") {
            true => other == piece,
            false => one == piece,
        };
        let ends = pieces.iter().filter(is_end);
        let ends = ends.map(|(one, other)| if one == piece { other } else { one }.clone());
        let all = if update.has(piece) { vec![piece.to_owned()] } else { ends.collect() };
        all.into_iter().filter(|part| update.has(part)).collect()
    };
    for (wire, unwire) in &wishes {
        if !order.is_before(index[unwire], index[wire]) {
            for (one, other) in parts_of(wire)
                .iter()
                .flat_map(|one| parts_of(unwire).into_iter().map(move |other| (one.clone(), other)))
            {
                update.in_order(&one, &other);
            }
        }
    }
    for part in plan.parts.iter().filter(|part| part.kind == PartKind::Up) {
        assert!(part.steps > 0);
    }
    let is_wished = |(wire, unwire): &(String, String)| {
        wishes.contains(&(wire.clone(), unwire.clone()))
            && !order.is_before(index[unwire], index[wire])
    };
    for part in plan.parts.iter().filter(|part| part.kind == PartKind::Turn) {
        turns(&update, part, &wishes, &is_wished, &parts_of);
    }
}

/// Asserts that a turn orders only what is wished, and takes fewer waits than pairs would.
fn turns(
    update: &Update<'_>,
    turn: &PlanPart,
    wishes: &[(String, String)],
    is_wished: &dyn Fn(&(String, String)) -> bool,
    parts_of: &dyn Fn(&str) -> Vec<String>,
) {
    let name = |part: &PlanPart| {
        let element = update.plan.element(part.element.unwrap());
        format!("{}/{}", element.identifier, part.kind.as_str())
    };
    let own = name(turn);
    let source = &own[own.find(".node.").unwrap()..own.rfind('/').unwrap()];
    let before: BTreeSet<_> = turn.after.iter().map(|&part| name(update.plan.part(part))).collect();
    let follows =
        |part: &&PlanPart| part.after.iter().any(|&before| name(update.plan.part(before)) == own);
    let after: BTreeSet<_> = update.plan.parts.iter().filter(follows).map(name).collect();
    let of = |pick: fn(&(String, String)) -> &String, among: &BTreeSet<String>| {
        let pieces: BTreeSet<_> = wishes.iter().map(pick).cloned().collect();
        let is_there = |piece: &String| {
            let (there, is_own) = (parts_of(piece), piece.contains(&format!("{source}/")));
            is_own && !there.is_empty() && there.iter().all(|part| among.contains(part))
        };
        let pieces: Vec<_> = pieces.into_iter().filter(is_there).collect();
        let parts: BTreeSet<_> = pieces.iter().flat_map(|piece| parts_of(piece)).collect();
        assert_eq!(&parts, among, "{own}");
        pieces
    };
    let (coming, going) = (of(|wish| &wish.0, &before), of(|wish| &wish.1, &after));
    assert!(coming.len() * going.len() > coming.len() + going.len(), "{own} is in vain");
    for wire in &coming {
        for unwire in &going {
            assert!(is_wished(&(wire.clone(), unwire.clone())), "{own}: {unwire} before {wire}");
        }
    }
}

/// Statement W7: a process in which tokens move as BPMN says does the steps of its plan, in exactly
/// its order.
fn plays_as_it_waits(answer: &Answer<Plan>) {
    let plan = &answer.result;
    let document = PlanDocument::of(plan, &answer.sources, false);
    let document = serde_json::to_value(document).unwrap();
    let process = Process::read(&cuvee::output::draw::plan::bpmn(plan, false));
    assert!(process.steps().is_superset(&crate::bpmn::runs(&document)));
    let played = process.play(Play::default());
    assert_eq!((&*played.ends, played.left), (&["done".to_owned()][..], 0));
    assert_eq!(played.done, process.steps());
    assert_eq!(process.order(Play::default()), crate::bpmn::waits(&document, &played.done));
}

/// The order of calls; each is named by its operation, or its delegation, and its element.
fn calls(plan: &Plan) -> BTreeSet<(String, String)> {
    let name = |id| {
        let (step, call) = (plan.step(id), plan.call_of(id));
        let does = call.map_or_else(|| plan.label(step.work), |call| &call.operation);
        step.is_run().then(|| format!("{}/{does}", plan.element(step.element.unwrap()).identifier))
    };
    let names: Vec<_> = plan.step_ids().map(name).collect();
    assert_eq!(
        names.iter().flatten().collect::<BTreeSet<_>>().len(),
        names.iter().flatten().count()
    );
    let reach = Reach::of_plan(plan);
    let name = |id: &str| names[reach.index[id]].clone();
    let pairs = reach.pairs().into_iter().filter_map(|(one, two)| Some((name(one)?, name(two)?)));
    // Each call is listed once more by itself, so that calls without an order count as well.
    pairs.chain(names.iter().flatten().map(|name| (String::new(), name.clone()))).collect()
}

/// Statement W5: planned again from its workflow in the template, each call waits for the same
/// calls.
fn comes_back(model: &Model, workflow: &str, parallel_hosts: bool) {
    let plan = model.plan(workflow, parallel_hosts);
    let written = cuvee::output::draw::plan::yaml(&plan).unwrap();
    let indented: String = written.lines().map(|line| format!("  {line}\n")).collect();
    let whole = format!("{}{indented}", model.render());
    let query = PlanQuery { workflow: workflow.to_owned(), ..PlanQuery::default() };
    let again = Resolver::from_text("template.yaml", whole.clone()).plan(&query);
    let again = again.unwrap_or_else(|error| panic!("{error}\n{whole}")).result;
    assert!(!again.is_generated);
    assert_eq!(calls(&again), calls(&plan), "{whole}");
}

fn topology() -> impl Strategy<Value = Model> {
    vec(node(), 1..8).prop_flat_map(|seeds| {
        let order = Just((0..seeds.len()).collect::<Vec<_>>()).prop_shuffle();
        order.prop_map(move |order| model(&seeds, &order))
    })
}

type LinkSeeds = Vec<(u8, u16)>;

/// Two topologies with a node that keeps running while its relations change.
fn exchange() -> impl Strategy<Value = (Model, Model)> {
    let links = || vec((any::<u8>(), 0_u16..512), 0..6);
    let nodes = vec((node(), node(), prop::bool::weighted(0.4)), 2..9);
    (nodes, links(), links()).prop_map(|(seeds, old, new)| {
        let source = |links: &LinkSeeds| (2, 0, 31, 0, links.clone(), true);
        let order: Vec<_> = (0..=seeds.len()).collect();
        let later = |(old, new, differs): &(NodeSeed, NodeSeed, bool)| {
            if *differs { new.clone() } else { old.clone() }
        };
        let from: Vec<_> = seeds.iter().map(|seed| seed.0.clone()).chain([source(&old)]).collect();
        let to: Vec<_> = seeds.iter().map(later).chain([source(&new)]).collect();
        (model(&from, &order), model(&to, &order))
    })
}

proptest! {
    #![proptest_config(cases(24))]

    /// Statements D2 to D5, O1 and H1 to H3: the plan has the order that the rules demand, and no
    /// other.
    #[test]
    fn steps_are_ordered_by_the_rules_alone(model in topology()) {
        for parallel_hosts in [false, true] {
            follows(&model.plan("deploy", parallel_hosts), Rules::deploy(&model), parallel_hosts);
            follows(&model.plan("undeploy", parallel_hosts), Rules::undeploy(&model), parallel_hosts);
        }
    }

    /// Statement W1: the same template gives the same plan.
    #[test]
    fn plans_depend_on_nothing_else((from, to) in two_topologies()) {
        let (one, other) = (from.adapt(&to, false), from.adapt(&to, false));
        prop_assert_eq!(format!("{one:?}"), format!("{other:?}"));
    }

    /// Statement W8: the names and positions of nodes only decide which of several possible steps
    /// goes first.
    #[test]
    fn names_and_positions_change_only_ties(model in topology()) {
        let mut other = model.clone();
        other.order.reverse();
        let count = model.names.len();
        other.names = (0..count).map(|rank| format!("m{}", count - rank)).collect();
        let back = |name: &str| {
            let (rest, number) = name.split_once("node.m").unwrap();
            let (number, step) = number.split_once('/').unwrap();
            format!("{rest}node.n{}/{step}", count - number.parse::<usize>().unwrap())
        };
        // What happens at one node before or after it is configured goes in the order of the
        // template, one after the other on one host (statement D3).
        let stage = |step: &str| ["/pre_configure_", "/post_configure_"].iter().position(|it| step.contains(it));
        let is_tie = |one: &str, two: &str| stage(one).is_some() && stage(one) == stage(two);
        for workflow in ["deploy", "undeploy"] {
            let (here, there) = (model.plan(workflow, true), other.plan(workflow, true));
            let (here, there) = (Reach::of_plan(&here), Reach::of_plan(&there));
            let here = here.pairs().into_iter().filter(|(one, two)| !is_tie(one, two));
            let there = there.pairs().into_iter().filter(|(one, two)| !is_tie(one, two));
            let here = here.map(|(one, two)| (one.to_owned(), two.to_owned()));
            let there = there.map(|(one, two)| (back(one), back(two)));
            prop_assert_eq!(here.collect::<BTreeSet<_>>(), there.collect::<BTreeSet<_>>());
        }
    }

    /// Statement W6: adapting from nothing is deploying, adapting to nothing is undeploying, and
    /// nothing is left to do where nothing differs.
    #[test]
    fn adapting_from_and_to_nothing_is_deploying_and_undeploying(model in topology()) {
        prop_assert!(model.adapt(&model, false).steps.is_empty());
        let nothing = model.empty();
        let same = |adapted: &Plan, whole: &Plan| {
            let (adapted, whole) = (Reach::of_plan(adapted), Reach::of_plan(whole));
            assert_eq!(adapted.names, whole.names);
            assert_eq!(adapted.pairs(), whole.pairs());
        };
        same(&nothing.adapt(&model, false), &model.plan("deploy", false));
        same(&model.adapt(&nothing, false), &model.plan("undeploy", false));
    }

    /// Statements U3 and U6, by the relations of both topologies, part by part.
    #[test]
    fn updates_go_down_before_they_come_up((from, to) in two_topologies()) {
        for parallel_hosts in [false, true] {
            updates(&from, &to, &from.adapt(&to, parallel_hosts));
        }
    }

    /// Statement U3 where a source exchanges several targets for several others.
    #[test]
    fn all_that_comes_does_so_before_anything_of_its_name_goes((from, to) in exchange()) {
        for parallel_hosts in [false, true] {
            updates(&from, &to, &from.adapt(&to, parallel_hosts));
            plays_as_it_waits(&from.adapted(&to, parallel_hosts));
        }
    }

    /// Statement W7, on the whole way from a template to its process in BPMN.
    #[test]
    fn processes_play_as_plans_wait((from, to) in two_topologies()) {
        for parallel_hosts in [false, true] {
            plays_as_it_waits(&from.planned("deploy", parallel_hosts));
            plays_as_it_waits(&from.planned("undeploy", parallel_hosts));
            plays_as_it_waits(&from.adapted(&to, parallel_hosts));
        }
    }

    /// Statement W5, for nodes of which at most one relation runs something, since all relations
    /// have the same name.
    #[test]
    fn written_workflows_wait_as_plans_do(mut model in topology(), telling in 0_usize..2) {
        for node in model.nodes.values_mut() {
            let links = node.links.iter_mut().enumerate();
            links.filter(|(at, _)| *at != telling).for_each(|(_, link)| link.operations.clear());
        }
        if !model.nodes.is_empty() {
            for (workflow, parallel_hosts) in [("deploy", false), ("deploy", true), ("undeploy", false), ("undeploy", true)] {
                comes_back(&model, workflow, parallel_hosts);
            }
        }
    }
}

/// Statement U3 needs a linear number of waits, though each old relation goes after all new ones
/// come.
#[test]
fn many_relations_are_exchanged_with_few_waits() {
    let count = 60;
    let source = |target: &dyn Fn(usize) -> usize| {
        let links = (0..count).map(|link| Link {
            target: target(link),
            operations: vec!["add_target", "remove_target"],
        });
        Node {
            kind: Kind::Plain,
            host: None,
            operations: Vec::new(),
            version: 0,
            links: links.collect(),
        }
    };
    let all = |links: Node| {
        let plain = Node { links: Vec::new(), ..links.clone() };
        let nodes = (0..2 * count).map(|rank| (rank, plain.clone())).chain([(2 * count, links)]);
        let names = (0..=2 * count).map(|rank| format!("n{rank}"));
        Model { nodes: nodes.collect(), names: names.collect(), order: (0..=2 * count).collect() }
    };
    let (from, to) = (all(source(&|link| link)), all(source(&|link| link + count)));
    let plan = from.adapt(&to, true);
    updates(&from, &to, &plan);
    assert_eq!(plan.step_ids().map(|id| plan.after(id).len()).sum::<usize>(), 2 * count);
    let start = cuvee::deploy::plan::StartStates::default();
    let conditions = cuvee::deploy::plan::decide(&plan, &start).unwrap();
    let make = cuvee::output::draw::plan::make(&plan, &conditions, false);
    // Each step occurs as a goal, in `.PHONY`, with its own rule, and where it is waited for.
    assert_eq!(make.matches("/add_target").count(), 4 * count, "{make}");
}
