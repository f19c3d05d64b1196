//! Tests what is reported of instances: records that are folded into models, states, reports, plans
//! that are carried out, and edits.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use cuvee::Resolver;
use cuvee::deploy::instance::{
    AppliedPlan, BegunPlan, DeclaredTypes, Draft, Event, EventLog, InstanceLog, InstanceModel,
    InstanceReport, InstanceState, InstanceTarget, KeptSecrets, LockHolder, MemoryStore, ModelAt,
    ModelEdit, NodeAdded, NodeInstance, Orchestration, RecordAuthor, RecordHead, RecordOrigin,
    RelationInstance, ReportOutcome, ReportRules, ReportStream, Reported, ReportedState,
    SecretSeal, SecretsMode, StepStatus, Store, TargetModels, Unwritten, begin_workflow,
    finish_workflow, read_model, skipped_between,
};
use cuvee::deploy::plan::{
    Adaptation, OrderOptions, Plan, PlanBase, PlanQuery, PlanTarget, digest_in,
};
use cuvee::diagnostic::{Code, CodeName, Diagnostic};
use cuvee::explore::Answer;
use cuvee::output::draw::plan::PlanDocument;
use cuvee::parts::tosca::{NodeState, Types};
use cuvee::parts::yaml::{Limits, parse};
use cuvee::source::FileId;
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

const HEADER: &str = "tosca_definitions_version: tosca_simple_yaml_1_3
relationship_types:
  Queue:
    derived_from: tosca.relationships.ConnectsTo
    interfaces:
      Configure: {type: tosca.interfaces.relationship.Configure, operations: {add_target: add.sh, remove_target: rm.sh}}
node_types:
  App:
    derived_from: tosca.nodes.SoftwareComponent
    properties: {port: {type: integer, default: 80}}
    attributes: {url: {type: string}}
    requirements: [queue: {capability: tosca.capabilities.Node, relationship: Queue, occurrences: [0, UNBOUNDED]}]
    interfaces:
      Standard: {type: tosca.interfaces.node.lifecycle.Standard, operations: {create: create.sh, configure: configure.sh, start: start.sh, stop: stop.sh, delete: delete.sh}}
topology_template:
  node_templates:
";

/// A machine with a broker and a shop that uses it.
const SHOP: &str = "    box: {type: tosca.nodes.Compute}
    broker: {type: App, properties: {port: 5672}, requirements: [host: box]}
    shop: {type: App, properties: {port: 80}, requirements: [host: box, queue: broker]}
";

/// A changed shop: the broker is another node, the shop has another port, and there is a mailer.
const SALE: &str = "    box: {type: tosca.nodes.Compute}
    rabbit: {type: App, properties: {port: 5672}, requirements: [host: box]}
    shop: {type: App, properties: {port: 8080}, metadata: {owner: sales}, requirements: [host: box, queue: rabbit]}
    mailer: {type: App, properties: {port: 25}, requirements: [host: box, queue: rabbit]}
";

fn resolver(nodes: &str) -> Resolver {
    Resolver::from_text("shop.yaml", format!("{HEADER}{nodes}"))
}

/// The model that a template leads to, apart from counts and functions.
fn initial(nodes: &str) -> InstanceModel {
    let topology = resolver(nodes).topology().unwrap().result;
    let mut model = InstanceModel::default();
    for node in &topology.nodes {
        let name = |text: &str| -> std::sync::Arc<str> { text.into() };
        let values = |values: &[cuvee::topology::AssignedValue]| {
            values.iter().map(|one| (name(&one.name), one.value.value.clone())).collect()
        };
        let mut instance = NodeInstance::default();
        instance.template = Some(name(&node.name));
        instance.type_name = name(&node.described.type_name.as_ref().unwrap().value);
        instance.generation = 1;
        instance.properties = values(&node.described.properties);
        instance.metadata = values(&node.described.metadata);
        for (position, id) in node.relations.iter().enumerate() {
            let relation = topology.relation(*id);
            let mut to = RelationInstance::default();
            to.position = position as u32;
            to.target = relation.target.map(|target| name(&topology.node(target).name));
            to.hosting = relation.hosting;
            instance.requirements.entry(name(&relation.name)).or_default().push(to);
        }
        model.nodes.insert(name(&node.name), instance);
    }
    model
}

fn target(digest: &str) -> InstanceTarget {
    let mut target = InstanceTarget::default();
    target.digest = digest.into();
    target.template = "shop.yaml".into();
    target
}

fn record(model: &mut InstanceModel) -> Unwritten<'_> {
    Unwritten::new(model, "2026-01-01T00:00:00Z", "ann", RecordOrigin::Orchestrator)
}

/// An instance of a template before anything was deployed.
fn begun(nodes: &str, digest: &str) -> InstanceModel {
    let mut model = InstanceModel::default();
    let mut first = record(&mut model);
    let (lineage, uri) = ("l1".into(), "cuvee:default/default/shop".into());
    let created =
        Event::InstanceCreated { lineage, uri, secrets: Default::default(), sensitive: Vec::new() };
    first.add(created).unwrap();
    first.add(Event::TargetSet(target(digest))).unwrap();
    let to = initial(nodes);
    for (id, node) in &to.nodes {
        let mut added = NodeAdded::default();
        added.id = id.clone();
        added.template = node.template.clone();
        added.type_name = node.type_name.clone();
        added.generation = 1;
        added.properties = node.properties.clone();
        added.metadata = node.metadata.clone();
        added.requirements = node.requirements.keys().cloned().collect();
        first.add(Event::NodeAdded(Box::new(added))).unwrap();
    }
    for (source, requirement, relation) in to.relations() {
        let mut added = cuvee::deploy::instance::RelationAdded::default();
        (added.source, added.requirement) = (source.clone(), requirement.clone());
        (added.position, added.target) = (relation.position, relation.target.clone());
        added.hosting = relation.hosting;
        first.add(Event::RelationAdded(Box::new(added))).unwrap();
    }
    assert_eq!(first.close(None).len(), 2 + to.nodes.len() + to.relations().count());
    model
}

/// The document of a plan for the present state of an instance.
fn document(plan: &Answer<Plan>, model: &InstanceModel, target: Option<&str>) -> String {
    let document = PlanDocument::of(&plan.result, &plan.sources, false);
    let mut document = serde_json::to_value(document).unwrap();
    let base = PlanBase {
        instance: "shop".into(),
        lineage: model.lineage.clone(),
        revision: model.revision,
        structure: model.structure,
    };
    let members = document.as_object_mut().unwrap();
    members.insert("version".into(), json!(1));
    members.insert("base".into(), json!(base));
    if let Some(digest) = target {
        let target = PlanTarget { digest: digest.into(), ..PlanTarget::default() };
        members.insert("target".into(), json!(target));
    }
    signed(document)
}

/// The document with its digest in it.
fn signed(mut document: serde_json::Value) -> String {
    let digest = digest_in(&document.to_string()).unwrap();
    document["plan"] = json!(digest);
    document.to_string()
}

fn deployment(nodes: &str, model: &InstanceModel, digest: &str) -> AppliedPlan {
    let plan = resolver(nodes).plan(&PlanQuery::default()).unwrap();
    AppliedPlan::read(&document(&plan, model, Some(digest))).unwrap()
}

fn adaptation(from: &str, to: &str, model: &InstanceModel, digest: &str) -> AppliedPlan {
    let (from, to) = (resolver(from), resolver(to));
    let plan = from.adapt(&to, &Adaptation::default(), &OrderOptions::default()).unwrap();
    AppliedPlan::read(&document(&plan, model, Some(digest))).unwrap()
}

/// An instance of a template after every step of its deployment was done.
fn deployed(nodes: &str, digest: &str) -> InstanceModel {
    let mut model = begun(nodes, digest);
    let (plan, to) = (deployment(nodes, &model, digest), initial(nodes));
    let mut whole = record(&mut model);
    let models = TargetModels { to: &to, from: Some(&to) };
    let mut running =
        Orchestration::begin(&mut whole, &plan, "kept", Some(&target(digest)), models).unwrap();
    running.assume_done(&mut whole).unwrap();
    assert!(!whole.close(None).is_empty());
    model
}

fn state<'m>(model: &'m InstanceModel, id: &str) -> &'m str {
    model.nodes.get(id).map_or("-", |node| node.state.as_str())
}

/// A model without its revision, structure, time and generations, which say when and how often it
/// changed.
fn essence(model: &InstanceModel) -> serde_json::Value {
    let mut model = model.clone();
    (model.revision, model.structure, model.time) = (0, 0, "".into());
    model.generations.clear();
    model.nodes.values_mut().for_each(|node| node.generation = 1);
    serde_json::to_value(model).unwrap()
}

fn report(
    model: &mut InstanceModel,
    text: &str,
    running: Option<&mut Orchestration<'_>>,
) -> Result<Reported, Diagnostic> {
    judged(model, text, running, &ReportRules::default())
}

fn judged(
    model: &mut InstanceModel,
    text: &str,
    running: Option<&mut Orchestration<'_>>,
    rules: &ReportRules<'_, '_, '_>,
) -> Result<Reported, Diagnostic> {
    let said = InstanceReport::parse(text)?;
    let before = model.clone();
    let mut unwritten = record(model);
    match said.add_to(&mut unwritten, rules, running) {
        Ok(reported) => {
            let events = unwritten.close(said.key.as_deref());
            assert_eq!(events.is_empty(), reported != Reported::Changed, "{text}");
            let mut again = before;
            let head = RecordHead {
                revision: model.revision,
                time: model.time.clone(),
                actor: "ann".into(),
                origin: RecordOrigin::Orchestrator,
            };
            if !events.is_empty() {
                again.apply(&head, said.key.as_deref(), &read_back(&events)).unwrap();
            }
            assert_eq!(again, *model, "what is written says what is so: {text}");
            Ok(reported)
        }
        Err(error) => {
            unwritten.take_back();
            assert_eq!(before, *model, "what is refused changes nothing: {text}");
            Err(error)
        }
    }
}

/// Events as they are read from a log.
fn read_back(events: &[Event]) -> Vec<Event> {
    serde_json::from_str(&serde_json::to_string(events).unwrap()).unwrap()
}

fn code(result: Result<Reported, Diagnostic>) -> CodeName {
    result.unwrap_err().code
}

/// For each state the states that it leads to during an orchestration, with the states that are
/// skipped: rule I-31 and the cases that it leaves open, worked out by hand.
const TRANSITIONS: [(&str, &str); 10] = [
    (
        "initial",
        "creating created(creating) configuring(creating,created) configured(creating,created,configuring) starting(creating,created,configuring,configured) started(creating,created,configuring,configured,starting) deleting gone(deleting) error",
    ),
    (
        "creating",
        "created configuring(created) configured(created,configuring) starting(created,configuring,configured) started(created,configuring,configured,starting) deleting gone(deleting) error",
    ),
    (
        "created",
        "configuring configured(configuring) starting(configuring,configured) started(configuring,configured,starting) deleting gone(deleting) error",
    ),
    (
        "configuring",
        "configured starting(configured) started(configured,starting) deleting gone(deleting) error",
    ),
    ("configured", "configuring starting started(starting) stopping deleting gone(deleting) error"),
    ("starting", "started deleting gone(deleting) error"),
    ("started", "configuring configured(stopping) stopping deleting gone(deleting) error"),
    (
        "stopping",
        "configured starting(configured) started(configured,starting) deleting gone(deleting) error",
    ),
    ("deleting", "gone error"),
    ("error", "creating configuring starting stopping deleting gone(deleting)"),
];

fn shown(from: &InstanceState, to: &ReportedState, is_inside: bool) -> Option<String> {
    let skipped = skipped_between(from, to, is_inside)?;
    let names: Vec<_> = skipped.iter().map(InstanceState::as_str).collect();
    let skipped = if names.is_empty() { String::new() } else { format!("({})", names.join(",")) };
    Some(format!("{to}{skipped}"))
}

/// L-13, I-30, I-31, I-32.
#[test]
fn states_lead_where_the_table_says() {
    let mut names: Vec<_> = NodeState::ALL.iter().map(|state| state.as_str()).collect();
    names.push("gone");
    for (from, expected) in TRANSITIONS {
        let from_state = InstanceState::named(from);
        let of = |is_inside| {
            let all = names.iter().map(|to| ReportedState::named(to));
            all.filter_map(|to| shown(&from_state, &to, is_inside)).collect::<Vec<_>>()
        };
        let mut expected: Vec<_> = expected.split(' ').map(str::to_owned).collect();
        let mut found = of(true);
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{from}");
        let fails = of(false).contains(&"error".to_owned());
        assert_eq!(fails, NodeState::named(from).unwrap().is_transitional(), "{from}");
    }
    let other = InstanceState::named("backing_up");
    assert!(other.is_stable());
    for name in names {
        let (state, reported) = (InstanceState::named(name), ReportedState::named(name));
        assert_eq!(skipped_between(&other, &reported, true), Some(Vec::new()));
        if name != "gone" {
            let to = ReportedState::In(other.clone());
            assert_eq!(skipped_between(&state, &to, true), Some(Vec::new()));
        }
    }
}

/// Reads the arrows of rule I-31: whether a state leads to another one, by a way that no shorter
/// one replaces.
fn reachable(from: &str, to: &str) -> bool {
    let forward = BTreeMap::from([
        ("initial", "creating"),
        ("creating", "created"),
        ("created", "configuring"),
        ("configuring", "configured"),
        ("configured", "starting"),
        ("starting", "started"),
        ("stopping", "configured"),
        ("deleting", "gone"),
    ]);
    let mut at = from;
    while let Some(next) = forward.get(at) {
        if *next == to {
            return true;
        }
        at = next;
    }
    match to {
        "error" | "deleting" | "gone" => from != to,
        "stopping" => ["configured", "started", "error"].contains(&from),
        "configuring" => ["configured", "started", "error"].contains(&from),
        "creating" | "starting" => from == "error",
        "configured" => from == "started",
        _ => false,
    }
}

proptest! {
    /// Law L-13: after any reports, the state is the one that [`reachable`] allows.
    #[test]
    fn random_reports_lead_where_the_rules_say(
        reports in proptest::collection::vec((0..2_usize, 0..11_usize), 1..40),
    ) {
        let mut model = begun("    a: {type: App}\n    b: {type: App}\n", "t1");
        let mut first = record(&mut model);
        begin_workflow(&mut first, "deploy").unwrap();
        first.close(None);
        let mut states = [Some("initial"), Some("initial")];
        for (node, said) in reports {
            let mut names: Vec<_> = NodeState::ALL.iter().map(|state| state.as_str()).collect();
            names.push("gone");
            let (name, to) = (["a", "b"][node], names[said]);
            let revision = model.revision;
            let said = report(&mut model, &json!({"node": name, "state": to}).to_string(), None);
            match states[node] {
                None => prop_assert_eq!(code(said), Code::UnknownElement),
                Some(from) if from == to => prop_assert_eq!(said.unwrap(), Reported::Unchanged),
                Some(from) if reachable(from, to) => {
                    prop_assert_eq!(said.unwrap(), Reported::Changed);
                    prop_assert_eq!(model.revision, revision + 1);
                    states[node] = Some(to).filter(|to| *to != "gone");
                }
                Some(_) => prop_assert_eq!(code(said), Code::IllegalTransition),
            }
            prop_assert_eq!(state(&model, name), states[node].unwrap_or("-"));
        }
    }
}

/// P-4, I-6, I-7, P-8, P-7.
#[test]
fn what_monitoring_reports_makes_no_plan_stale() {
    let mut model = deployed(SHOP, "t1");
    let structure = model.structure;
    let said = report(&mut model, r#"{"node":"shop","attributes":{"url":"http://shop"}}"#, None);
    assert_eq!(said.unwrap(), Reported::Changed);
    let url = &model.nodes["shop"].attributes["url"];
    assert_eq!((url.revision, url.value.as_str()), (model.revision, Some("http://shop")));
    for text in [
        r#"{"node":"node.shop","attributes":{"url":"http://shop"}}"#,
        r#"{"node":"shop","attributes":{"port":80}}"#,
        r#"{"node":"shop","state":"started"}"#,
    ] {
        assert_eq!(report(&mut model, text, None).unwrap(), Reported::Unchanged, "{text}");
    }
    for text in [
        r#"{"node":"shop","links":{"cmdb":"https://cmdb/4711"},"note":"slow"}"#,
        r#"{"outputs":{"url":"http://shop"},"metadata":{"owner":"sales"}}"#,
        r#"{"batch":[{"node":"shop","attributes":{"url":"x"}},{"node":"broker","attributes":{"url":"y"}}]}"#,
    ] {
        assert_eq!(report(&mut model, text, None).unwrap(), Reported::Changed, "{text}");
    }
    assert_eq!(model.structure, structure);
    assert_eq!(model.nodes["shop"].note.as_deref(), Some("slow"));
    // Rule I-35: outside of an orchestration nobody may set the state.
    let error = report(&mut model, r#"{"node":"shop","state":"error"}"#, None).unwrap_err();
    assert_eq!(error.code, Code::NoOrchestration);
}

/// Rule P-7, a key counts once in its orchestration; and rule I-36.
#[test]
fn a_report_that_is_repeated_counts_once() {
    let mut model = deployed(SHOP, "t1");
    let mut first = record(&mut model);
    begin_workflow(&mut first, "backup").unwrap();
    let error = begin_workflow(&mut first, "restore").unwrap_err();
    assert_eq!(error.code, Code::OrchestrationOpen);
    assert!(error.message.contains("`backup`"), "{}", error.message);
    first.close(None);
    let text = r#"{"node":"shop","state":"stopping","key":"7"}"#;
    assert_eq!(report(&mut model, text, None).unwrap(), Reported::Changed);
    let at = model.revision;
    report(&mut model, r#"{"node":"shop","state":"configured"}"#, None).unwrap();
    assert_eq!(report(&mut model, text, None).unwrap(), Reported::Repeated(at));
    assert_eq!(state(&model, "shop"), "configured");
    let mut last = record(&mut model);
    finish_workflow(&mut last, ReportOutcome::Done).unwrap();
    assert_eq!(
        finish_workflow(&mut last, ReportOutcome::Done).unwrap_err().code,
        Code::NoOrchestration
    );
    last.close(None);
    assert!(model.orchestration.is_none());
}

/// No message contains a value, and a batch is recorded as a whole or not at all.
#[test]
fn bad_reports_say_what_and_not_the_value() {
    let mut model = deployed(SHOP, "t1");
    let before = model.clone();
    let cases = [
        (r#"{"node":"shpo","attributes":{"url":"hunter2"}}"#, Code::UnknownElement),
        (r#"{"node":"shop","atributes":{"url":"hunter2"}}"#, Code::UnknownKeyword),
        (r#"{"node":"shop","attributes":"hunter2"}"#, Code::InvalidValue),
        (r#"{"node":"shop","attributes":{"state":"hunter2"}}"#, Code::InvalidValue),
        (r#"{"node":"shop","metadata":{"cuvee":"hunter2"}}"#, Code::InvalidValue),
        (r#"{"node":"shop","state":"hunter"}"#, Code::InvalidValue),
        (r#"{"attributes":{"url":"hunter2"}}"#, Code::InvalidValue),
        (r#"{"relation":"shop/queu","state":"started"}"#, Code::UnknownElement),
        (r#"{"node":"shop","expect":1,"attributes":{"url":"hunter2"}}"#, Code::StaleRevision),
        (r#"{"node":"shop" "hunter2"}"#, Code::InvalidValue),
        (
            r#"{"batch":[{"node":"shop","attributes":{"url":"hunter2"}},{"node":"shpo","note":"x"}]}"#,
            Code::UnknownElement,
        ),
        (r#"{"step":"node.shop/up"}"#, Code::NoOrchestration),
    ];
    for (text, expected) in cases {
        let error = report(&mut model, text, None).unwrap_err();
        assert_eq!(error.code, expected, "{text}: {}", error.message);
        let said = format!("{} {}", error.message, error.help.unwrap_or_default());
        assert!(!said.contains("hunter2"), "{said}");
    }
    assert_eq!(model, before);
    // Rule I-32, and the limit of 1 MiB in section 12.
    let large = json!({"node": "shop", "attributes": {"url": "x".repeat(1 << 20)}}).to_string();
    assert_eq!(code(report(&mut model, &large, None)), Code::InvalidValue);
    let force = ReportRules { force: true, ..ReportRules::default() };
    judged(&mut model, r#"{"node":"shop","state":"creating"}"#, None, &force).unwrap();
    assert_eq!(state(&model, "shop"), "creating");
}

/// I-34: relations are reported by their identifiers, or by source and name.
#[test]
fn relations_have_states() {
    let mut model = deployed(SHOP, "t1");
    let mut first = record(&mut model);
    begin_workflow(&mut first, "wire").unwrap();
    first.close(None);
    let structure = model.structure;
    for text in [
        r#"{"relation":"relation.queue@1.node.shop","state":"started"}"#,
        r#"{"relation":"shop/queue","state":"configured"}"#,
    ] {
        assert_eq!(report(&mut model, text, None).unwrap(), Reported::Changed);
    }
    assert_eq!(model.nodes["shop"].requirements["queue"][0].state.as_str(), "configured");
    assert_eq!(model.structure, structure + 2);
}

/// P-6.
#[test]
fn plans_are_for_one_structure_of_one_instance() {
    let mut model = begun(SHOP, "t1");
    let (plan, to) = (deployment(SHOP, &model, "t1"), initial(SHOP));
    let models = TargetModels { to: &to, from: None };
    let begin = |model: &mut InstanceModel, plan: &AppliedPlan| {
        let mut first = record(model);
        let begun = Orchestration::begin(&mut first, plan, "kept", Some(&target("t1")), models);
        let result = begun.map(|_| ()).map_err(|error| error.code);
        first.take_back();
        result
    };
    assert_eq!(begin(&mut model, &plan), Ok(()));
    // Attributes make no plan stale, but properties do, and an instance of the same name is a
    // different one.
    report(&mut model, r#"{"node":"shop","attributes":{"url":"x"}}"#, None).unwrap();
    assert_eq!(begin(&mut model, &plan), Ok(()));
    let mut other = model.clone();
    other.lineage = "l2".into();
    assert_eq!(begin(&mut other, &plan), Err(Code::StalePlan.into()));
    let mut edited = record(&mut model);
    let edit = ModelEdit::Set { path: "nodes/shop/properties/port".into(), value: Some(81.into()) };
    edit.add_to(&mut edited, &ReportRules::default()).unwrap();
    edited.close(None);
    assert_eq!(begin(&mut model, &plan), Err(Code::StalePlan.into()));
    let mut last = record(&mut model);
    begin_workflow(&mut last, "backup").unwrap();
    last.close(None);
    assert_eq!(begin(&mut model, &plan), Err(Code::OrchestrationOpen.into()));
}

#[test]
fn plans_that_were_changed_are_refused() {
    let model = begun(SHOP, "t1");
    let plan = resolver(SHOP).plan(&PlanQuery::default()).unwrap();
    let whole = document(&plan, &model, Some("t1"));
    assert!(AppliedPlan::read(&whole).is_ok());
    let pretty: serde_json::Value = serde_json::from_str(&whole).unwrap();
    assert!(AppliedPlan::read(&serde_json::to_string_pretty(&pretty).unwrap()).is_ok());
    let mut without_base = pretty.clone();
    without_base.as_object_mut().unwrap().remove("base");
    let mut waits = pretty;
    waits["parts"][0]["after"] = json!(["node.nowhere/up"]);
    for text in [
        "{}".to_owned(),
        "[1".to_owned(),
        whole.replace("create.sh", "evil.sh"),
        signed(without_base),
        signed(waits),
    ] {
        assert_eq!(AppliedPlan::read(&text).unwrap_err().code, Code::InvalidPlan);
    }
}

/// Carries out a plan, part by part and step by step.
#[test]
fn a_plan_is_carried_out_by_parts_and_steps() {
    let mut model = begun(SHOP, "t1");
    let (plan, to) = (deployment(SHOP, &model, "t1"), initial(SHOP));
    let models = TargetModels { to: &to, from: Some(&to) };
    let mut first = record(&mut model);
    let mut running =
        Orchestration::begin(&mut first, &plan, "kept", Some(&target("t1")), models).unwrap();
    first.close(None);
    let ready = |running: &Orchestration<'_>, model: &InstanceModel| {
        let ready = running.ready(model, Timestamp::UNIX_EPOCH).into_iter();
        ready.map(|ready| ready.step.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(ready(&running, &model), ["node.box/deploy"]);
    let mut say = |text: &str| report(&mut model, text, Some(&mut running)).map_err(|it| it.code);
    assert_eq!(say(r#"{"node":"broker","state":"creating"}"#), Err(Code::StepNotReady.into()));
    assert_eq!(say(r#"{"step":"node.shop/up"}"#), Err(Code::StepNotReady.into()));
    assert_eq!(say(r#"{"step":"node.shpo/up"}"#), Err(Code::UnknownElement.into()));
    say(r#"{"step":"node.box/deploy"}"#).unwrap();
    say(r#"{"step":"node.box/deploy","outcome":"done"}"#).unwrap();
    assert_eq!(say(r#"{"step":"node.box/up","outcome":"done"}"#), Ok(Reported::Unchanged));
    assert_eq!(say(r#"{"step":"node.box/up","outcome":"failed"}"#), Err(Code::StepNotReady.into()));
    say(r#"{"step":"node.broker/create"}"#).unwrap();
    assert_eq!(say(r#"{"step":"node.broker/start"}"#), Err(Code::StepNotReady.into()));
    assert_eq!((state(&model, "box"), state(&model, "broker")), ("started", "creating"));
    let mut say = |text: &str| report(&mut model, text, Some(&mut running)).map_err(|it| it.code);
    say(r#"{"step":"node.broker/create","outcome":"done"}"#).unwrap();
    say(r#"{"step":"node.broker/configure","outcome":"failed","note":"no disk"}"#).unwrap();
    assert_eq!(state(&model, "broker"), "error");
    assert_eq!(ready(&running, &model), ["node.broker/configure"]);
    let mut say = |text: &str| report(&mut model, text, Some(&mut running)).map_err(|it| it.code);
    say(r#"{"step":"node.broker/configure"}"#).unwrap();
    assert_eq!(state(&model, "broker"), "configuring");
    let mut say = |text: &str| report(&mut model, text, Some(&mut running)).map_err(|it| it.code);
    // These states say that the shop's configuration is done, and that the broker runs.
    say(r#"{"node":"broker","state":"started"}"#).unwrap();
    say(r#"{"node":"shop","state":"created"}"#).unwrap();
    assert_eq!(ready(&running, &model), ["node.shop/configure"]);
    assert_eq!(model.orchestration.as_ref().unwrap().steps["node.broker/up"], StepStatus::Done);
    let mut say = |text: &str| report(&mut model, text, Some(&mut running)).map_err(|it| it.code);
    let last = r#"{"step":"node.shop/up","outcome":"done","key":"last"}"#;
    say(last).unwrap();
    // The report that ended the orchestration may be repeated, too.
    assert_eq!(say(last), Ok(Reported::Repeated(model.revision)));
    assert!(model.orchestration.is_none());
    model.last_key = None;
    assert_eq!(essence(&model), essence(&deployed(SHOP, "t1")));
}

/// `--resume`, after the process that carried out the plan has ended.
#[test]
fn what_ran_is_interrupted_and_begins_again() {
    let mut model = begun(SHOP, "t1");
    let (plan, to) = (deployment(SHOP, &model, "t1"), initial(SHOP));
    let models = TargetModels { to: &to, from: None };
    let mut first = record(&mut model);
    let mut running =
        Orchestration::begin(&mut first, &plan, "kept", Some(&target("t1")), models).unwrap();
    running.end_step(&mut first, "node.box/up", ReportOutcome::Done, None, false).unwrap();
    running.end_step(&mut first, "node.broker/create", ReportOutcome::Done, None, false).unwrap();
    running.start_step(&mut first, "node.broker/configure").unwrap();
    first.close(None);
    let mut again = record(&mut model);
    Orchestration::interrupt(&mut again).unwrap();
    assert_eq!(again.close(None).len(), 2);
    let mut running = Orchestration::resume(&model, &plan, models).unwrap();
    let ready = running.ready(&model, Timestamp::UNIX_EPOCH);
    assert_eq!(&*ready[0].step, "node.broker/configure");
    assert_eq!(ready[0].status, Some(StepStatus::Interrupted));
    let mut last = record(&mut model);
    running.assume_done(&mut last).unwrap();
    last.close(None);
    assert_eq!(essence(&model), essence(&deployed(SHOP, "t1")));
}

/// Law L-3, with plans from one variant to another: from deployed nodes, and from nodes that are
/// only defined.
#[test]
fn an_applied_plan_leads_to_what_its_target_says() {
    let (shop, sale) = (initial(SHOP), initial(SALE));
    let models = TargetModels { to: &sale, from: Some(&shop) };
    let expected = deployed(SALE, "t2");

    let mut model = deployed(SHOP, "t1");
    report(&mut model, r#"{"node":"shop","attributes":{"url":"http://shop"}}"#, None).unwrap();
    let plan = adaptation(SHOP, SALE, &model, "t2");
    let mut whole = record(&mut model);
    let mut running =
        Orchestration::begin(&mut whole, &plan, "kept", Some(&target("t2")), models).unwrap();
    running.assume_done(&mut whole).unwrap();
    let events = whole.close(None);
    assert!(matches!(events.last(), Some(Event::OrchestrationEnded { .. })));
    assert_eq!(model.generations["broker"], 1);
    // Attributes that were reported are kept.
    let shop_node = model.nodes.get_mut("shop").unwrap();
    assert_eq!(shop_node.attributes.remove("url").unwrap().value.as_str(), Some("http://shop"));
    assert_eq!(essence(&model), essence(&expected));

    let mut model = begun(SHOP, "t1");
    let plan = deployment(SALE, &model, "t2");
    let mut whole = record(&mut model);
    let mut running =
        Orchestration::begin(&mut whole, &plan, "kept", Some(&target("t2")), models).unwrap();
    running.assume_done(&mut whole).unwrap();
    whole.close(None);
    assert_eq!(essence(&model), essence(&expected));
}

/// Section 6: a node that goes ends with `down`, and one that is recreated has the next generation.
#[test]
fn what_is_recreated_is_another_one() {
    let elsewhere = SHOP.replace(
        "    shop: {type: App",
        "    box2: {type: tosca.nodes.Compute}\n    shop: {type: App",
    );
    let elsewhere = elsewhere.replace("host: box, queue", "host: box2, queue");
    let (from, to) = (initial(SHOP), initial(&elsewhere));
    let mut model = deployed(SHOP, "t1");
    let plan = adaptation(SHOP, &elsewhere, &model, "t2");
    let models = TargetModels { to: &to, from: Some(&from) };
    let mut first = record(&mut model);
    let mut running =
        Orchestration::begin(&mut first, &plan, "kept", Some(&target("t2")), models).unwrap();
    first.close(None);
    report(&mut model, r#"{"node":"shop","state":"gone"}"#, Some(&mut running)).unwrap();
    assert_eq!(state(&model, "shop"), "-");
    let early =
        report(&mut model, r#"{"node":"shop","attributes":{"url":"x"}}"#, Some(&mut running));
    assert_eq!(code(early), Code::StepNotReady);
    report(&mut model, r#"{"step":"node.box2/up","outcome":"done"}"#, Some(&mut running)).unwrap();
    report(&mut model, r#"{"step":"node.shop/create"}"#, Some(&mut running)).unwrap();
    let node = &model.nodes["shop"];
    assert_eq!((node.generation, node.target.as_deref()), (2, Some("t2")));
    assert!(model.tosca_id("shop", node).ends_with("#/nodes/shop?generation=2"));
    report(&mut model, r#"{"step":"node.shop/up","outcome":"done"}"#, Some(&mut running)).unwrap();
    assert_eq!(model.nodes["shop"].target, None);
    assert_eq!(&*model.target.digest, "t2");
    assert_eq!(essence(&model), essence(&deployed(&elsewhere, "t2")));
}

/// Cancelling a whole plan keeps the nodes that exist and those that were begun.
#[test]
fn what_is_cancelled_leaves_what_is_there() {
    let mut model = deployed(SHOP, "t1");
    let (from, to) = (initial(SHOP), initial(SALE));
    let plan = adaptation(SHOP, SALE, &model, "t2");
    let models = TargetModels { to: &to, from: Some(&from) };
    let mut first = record(&mut model);
    let mut running =
        Orchestration::begin(&mut first, &plan, "kept", Some(&target("t2")), models).unwrap();
    running.end_step(&mut first, "node.mailer/up", ReportOutcome::Done, None, false).unwrap_err();
    running.end_step(&mut first, "node.rabbit/up", ReportOutcome::Done, None, false).unwrap();
    running.end_step(&mut first, "node.shop/down", ReportOutcome::Done, None, false).unwrap();
    first.close(None);
    assert_eq!(state(&model, "shop"), "configured");
    let mut last = record(&mut model);
    assert_eq!(
        finish_workflow(&mut last, ReportOutcome::Done).unwrap_err().code,
        Code::StepNotReady
    );
    finish_workflow(&mut last, ReportOutcome::Cancelled).unwrap();
    last.close(None);
    assert_eq!(&*model.target.digest, "t1");
    assert_eq!(model.nodes["shop"].properties["port"].to_string(), "80");
}

/// Rule I-52, and the marks that edits leave.
#[test]
fn edits_are_marked_and_refused_while_something_is_going_on() {
    let mut model = deployed(SHOP, "t1");
    let rules = ReportRules::default();
    let edit = |model: &mut InstanceModel, edit: &ModelEdit, rules: &ReportRules<'_, '_, '_>| {
        let mut unwritten =
            Unwritten::new(model, "2026-01-01T00:00:00Z", "ann", RecordOrigin::Edit);
        let result = edit.add_to(&mut unwritten, rules).map_err(|error| error.code);
        unwritten.close(None);
        result
    };
    let set =
        |path: &str, value: i64| ModelEdit::Set { path: path.into(), value: Some(value.into()) };
    let port = set("#/nodes/shop/properties/port", 81);
    assert_eq!(edit(&mut model, &port, &rules), Ok(Reported::Changed));
    assert_eq!(edit(&mut model, &port, &rules), Ok(Reported::Unchanged));
    assert_eq!(model.nodes["shop"].edited, ["port".into()]);
    assert_eq!(
        edit(&mut model, &set("nodes/shpo/properties/port", 81), &rules),
        Err(Code::UnknownElement.into())
    );
    assert_eq!(
        edit(&mut model, &set("nodes/shop/prots", 81), &rules),
        Err(Code::UnknownElement.into())
    );
    let adopt = ModelEdit::Adopt { type_name: "LoadBalancer".into(), id: "lb".into() };
    assert_eq!(edit(&mut model, &adopt, &rules), Ok(Reported::Changed));
    assert_eq!(edit(&mut model, &adopt, &rules), Err(Code::Duplicate.into()));
    let lb = &model.nodes["lb"];
    assert_eq!((lb.template.as_deref(), lb.state.as_str()), (None, "started"));
    let rename = ModelEdit::Rename { from: "broker".into(), to: "queue/1".into() };
    assert_eq!(edit(&mut model, &rename, &rules), Ok(Reported::Changed));
    assert_eq!(model.nodes["shop"].requirements["queue"][0].target.as_deref(), Some("queue/1"));
    assert_eq!(
        edit(&mut model, &set("nodes/queue~11/properties/port", 1), &rules),
        Ok(Reported::Changed)
    );
    let forget = ModelEdit::Forget { id: "lb".into() };
    assert_eq!(edit(&mut model, &forget, &rules), Ok(Reported::Changed));
    assert_eq!(edit(&mut model, &forget, &rules), Err(Code::UnknownElement.into()));
    let mut first = record(&mut model);
    begin_workflow(&mut first, "backup").unwrap();
    first.close(None);
    let port = set("nodes/shop/properties/port", 82);
    assert_eq!(edit(&mut model, &port, &rules), Err(Code::OrchestrationOpen.into()));
    let force = ReportRules { force: true, ..rules };
    assert_eq!(edit(&mut model, &port, &force), Ok(Reported::Changed));
}

/// A log with an impossible event is refused, and nothing panics.
#[test]
fn records_that_cannot_be_are_refused() {
    let model = deployed(SHOP, "t1");
    let head = |revision| RecordHead {
        revision,
        time: "2026-01-01T00:00:00Z".into(),
        actor: "ann".into(),
        origin: RecordOrigin::Orchestrator,
    };
    let events = [
        r#"{"kind":"state","entity":"node.nowhere","from":"initial","to":"creating"}"#,
        r#"{"kind":"state","entity":"node.shop","from":"initial","to":"creating"}"#,
        r#"{"kind":"state","entity":"relation.queue@9.node.shop","from":"initial","to":"started"}"#,
        r#"{"kind":"node-removed","id":"nowhere"}"#,
        r#"{"kind":"node-added","id":"shop","type":"App","generation":1}"#,
        r#"{"kind":"relation-removed","source":"shop","requirement":"queue","target":"nowhere"}"#,
        r#"{"kind":"relation-added","source":"nowhere","requirement":"queue"}"#,
        r#"{"kind":"property","entity":"group.nowhere","name":"a","value":1}"#,
        r#"{"kind":"step-started","step":"node.shop/up"}"#,
        r#"{"kind":"orchestration-ended","outcome":"done"}"#,
        r#"{"kind":"instance-created","lineage":"l2","uri":"u","secrets":"digest"}"#,
        r#"{"kind":"metadata","entity":"relation.queue@0.node.shop","name":"a","value":1}"#,
    ];
    for text in events {
        let event: Event = serde_json::from_str(text).unwrap();
        let mut again = model.clone();
        let revision = model.revision + 1;
        assert!(
            again.apply(&head(revision), None, std::slice::from_ref(&event)).is_err(),
            "{text}"
        );
        let mut again = model.clone();
        let mut unwritten = record(&mut again);
        assert!(unwritten.add(event).is_err());
        unwritten.take_back();
    }
    assert!(model.clone().apply(&head(model.revision), None, &[]).is_err());
    let later: Event = serde_json::from_str(r#"{"kind":"node-frozen","id":"shop"}"#).unwrap();
    let mut again = model.clone();
    again.apply(&head(model.revision + 1), None, &[later]).unwrap();
    assert!(again.is_later && again.structure == model.structure);
}

fn ann() -> LockHolder {
    LockHolder { actor: "ann".to_owned(), process: 1 }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn author(holder: &LockHolder, second: i64) -> RecordAuthor<'_> {
    let (timeout, origin) = (Duration::ZERO, RecordOrigin::Orchestrator);
    RecordAuthor { holder, timeout, time: at(second), origin }
}

/// A store with an instance of a template, in which each event is a record of its own.
fn kept(nodes: &str) -> MemoryStore {
    let store = MemoryStore::new(1);
    let mut events = vec![
        Event::InstanceCreated {
            lineage: "l1".into(),
            uri: "cuvee:default/default/shop".into(),
            secrets: Default::default(),
            sensitive: Vec::new(),
        },
        Event::TargetSet(target("t1")),
    ];
    for (id, node) in initial(nodes).nodes {
        let mut added = NodeAdded::default();
        (added.id, added.template) = (id, node.template);
        (added.type_name, added.generation) = (node.type_name, 1);
        added.properties = node.properties;
        events.push(Event::NodeAdded(Box::new(added)));
    }
    let holder = ann();
    let drafts: Vec<_> = events
        .iter()
        .map(|event| Draft {
            time: at(0),
            actor: "ann",
            origin: RecordOrigin::Client,
            orchestration: None,
            key: None,
            events: std::slice::from_ref(event),
        })
        .collect();
    EventLog::create(&store, "shop", &holder, Duration::ZERO, |writer| writer.commit(&drafts))
        .unwrap();
    store
}

/// Law L-7: every prefix of a log is a model, and later records fold into that.
#[test]
fn every_revision_is_what_the_log_says_until_then() {
    let store = kept(SHOP);
    let holder = ann();
    let mut log = InstanceLog::open(&store, "shop").unwrap();
    log.change(&author(&holder, 1), None, None, |record, _| begin_workflow(record, "deploy"))
        .unwrap();
    let mut models = vec![log.model().clone()];
    let states = ["creating", "created", "configuring", "configured", "starting", "started"];
    for (second, state) in states.into_iter().enumerate() {
        for node in ["box", "broker", "shop"] {
            let text = json!({"node": node, "state": state, "key": format!("{node}/{state}")});
            let said = InstanceReport::parse(&text.to_string()).unwrap();
            let key = said.key.clone();
            let author = author(&holder, 2 + second as i64);
            let change = log
                .change(&author, None, key.as_deref(), |record, _| {
                    said.add_to(record, &ReportRules::default(), None)
                })
                .unwrap();
            assert!(change.is_written && change.result == Reported::Changed);
            models.push(log.model().clone());
        }
        if state == "created" || state == "started" {
            log.compact(&author(&holder, 9)).unwrap();
        }
    }
    let check = || {
        for model in &models {
            let read = read_model(&store, "shop", ModelAt::Revision(model.revision)).unwrap();
            assert_eq!(read, *model);
        }
        assert_eq!(read_model(&store, "shop", ModelAt::Latest).unwrap(), *models.last().unwrap());
        assert_eq!(InstanceLog::open(&store, "shop").unwrap().model(), models.last().unwrap());
    };
    check();
    // A time only selects where to read: the last record that is not later.
    let at_three = read_model(&store, "shop", ModelAt::Time(at(3))).unwrap();
    assert_eq!(state(&at_three, "shop"), "created");
    for at in [ModelAt::Revision(99), ModelAt::Revision(0), ModelAt::Time(at(-1))] {
        assert_eq!(read_model(&store, "shop", at).unwrap_err().code, Code::UnknownElement);
    }
    // Law L-6: any snapshot may be deleted.
    let files = store.files("shop").unwrap();
    let snapshots: Vec<_> =
        files.iter().filter(|file| file.name.starts_with("snapshot-")).collect();
    assert!(!snapshots.is_empty(), "{files:?}");
    for file in snapshots {
        store.remove("shop", &file.name).unwrap();
        check();
    }
}

/// Rules P-5, P-6 and P-8: a writer first reads what others wrote, and compares it with what is
/// expected.
#[test]
fn writers_read_on_before_they_decide() {
    let store = kept(SHOP);
    let holder = ann();
    let mut one = InstanceLog::open(&store, "shop").unwrap();
    let mut other = InstanceLog::open(&store, "shop").unwrap();
    let revision = one.model().revision;
    let note = |log: &mut InstanceLog<'_>, url: &str, expect| {
        let text = json!({"node": "shop", "attributes": {"url": url}}).to_string();
        let said = InstanceReport::parse(&text).unwrap();
        log.change(&author(&holder, 1), expect, None, |record, _| {
            said.add_to(record, &ReportRules::default(), None)
        })
    };
    assert_eq!(note(&mut one, "a", None).unwrap().revision, revision + 1);
    let unchanged = note(&mut other, "a", None).unwrap();
    assert_eq!((unchanged.result, unchanged.is_written), (Reported::Unchanged, false));
    assert_eq!(note(&mut other, "b", Some(revision)).unwrap_err().code, Code::StaleRevision);
    assert_eq!(note(&mut other, "b", Some(revision + 1)).unwrap().revision, revision + 2);
    let failed = one.change(&author(&holder, 1), None, None, |record, _| {
        record.add(Event::Output { name: "x".into(), value: Some(1.into()) }).unwrap();
        finish_workflow(record, ReportOutcome::Done)
    });
    assert_eq!(failed.unwrap_err().code, Code::NoOrchestration);
    assert!(one.model().outputs.is_empty());
    assert_eq!(one.model(), other.model());
}

/// Section 3: readers go on behind the record of a later version, writers do not.
#[test]
fn nobody_writes_behind_what_nobody_understands() {
    let store = kept(SHOP);
    let holder = ann();
    let mut log = EventLog::open(&store, "shop").unwrap();
    let draft = Draft {
        time: at(1),
        actor: "ann",
        origin: RecordOrigin::Client,
        orchestration: None,
        key: None,
        events: &[Event::Unknown],
    };
    log.writer(&holder, Duration::ZERO).unwrap().commit(&[draft]).unwrap();
    assert!(read_model(&store, "shop", ModelAt::Latest).unwrap().is_later);
    let mut log = InstanceLog::open(&store, "shop").unwrap();
    let change =
        log.change(&author(&holder, 1), None, None, |record, _| begin_workflow(record, "a"));
    assert_eq!(change.unwrap_err().code, Code::StoreVersion);
}

/// The message about an impossible record names its place.
#[test]
fn what_cannot_be_is_corrupt() {
    let store = kept(SHOP);
    let holder = ann();
    let mut log = EventLog::open(&store, "shop").unwrap();
    let event = Event::NodeRemoved { id: "nowhere".into() };
    let draft = Draft {
        time: at(1),
        actor: "ann",
        origin: RecordOrigin::Client,
        orchestration: None,
        key: None,
        events: &[event],
    };
    log.writer(&holder, Duration::ZERO).unwrap().commit(&[draft]).unwrap();
    let error = read_model(&store, "shop", ModelAt::Latest).unwrap_err();
    assert_eq!(error.code, Code::StoreCorrupt);
    assert!(error.message.contains("log-1.ndjson:6`"), "{}", error.message);
}

/// Section 5: each line is answered, wrong lines change nothing, and a group is written at once.
#[test]
fn streams_answer_each_line() {
    let store = kept(SHOP);
    let holder = ann();
    let mut log = InstanceLog::open(&store, "shop").unwrap();
    let plan = deployment(SHOP, log.model(), "t1");
    let to = initial(SHOP);
    let models = TargetModels { to: &to, from: Some(&to) };
    log.change(&author(&holder, 1), None, None, |record, _| {
        Orchestration::begin(record, &plan, "kept", Some(&target("t1")), models).map(|_| ())
    })
    .unwrap();
    let begun = log.model().revision;
    let mut stream = ReportStream::new(
        ReportRules::default(),
        Some(BegunPlan { kept: "kept", plan: &plan, models }),
    );
    let lines = [
        r#"{"step":"node.broker/up","outcome":"done"}"#,
        r#"{"step":"node.box/up","outcome":"done","key":"1"}"#,
        r#"{"step":"node.box/up","outcome":"done","key":"1"}"#,
        "",
        r#"{"batch":[{"step":"node.broker/up","outcome":"done"},{"node":"shop","state":"delet"}]}"#,
        r#"{"node":"broker","state":"created"}"#,
        r#"{"step":"node.broker/up","outcome":"done"}"#,
        r#"{"step":"node.shop/up","outcome":"done"}"#,
        r#"{"node":"shop","state":"stopping"}"#,
    ];
    let answers = stream.group(&mut log, &author(&holder, 2), &lines).unwrap();
    let said: Vec<_> =
        answers.iter().map(|it| (it.line, it.code, it.unchanged, it.revision - begun)).collect();
    let expected = [
        (1, Some("step-not-ready"), false, 0),
        (2, None, false, 1),
        (3, None, true, 1),
        (5, Some("invalid-value"), false, 1),
        (6, None, false, 2),
        (7, None, false, 3),
        (8, None, false, 4),
        (9, Some("no-orchestration"), false, 4),
    ];
    assert_eq!(said, expected);
    assert!(stream.has_failed() && !stream.is_over());
    assert_eq!(read_model(&store, "shop", ModelAt::Latest).unwrap(), *log.model());
    let mut expected = deployed(SHOP, "t1");
    let mut found = log.model().clone();
    for model in [&mut expected, &mut found] {
        model.uri = "".into();
        // The models name different targets: one got its relations from the plan, the other had
        // them before.
        model.nodes.values_mut().for_each(|node| node.target = None);
    }
    assert_eq!(essence(&found), essence(&expected));

    let mut stream = ReportStream::new(ReportRules::default(), None).fail_fast();
    let lines = ["{}", "[]", r#"{"node":"shop","note":"x"}"#];
    let answers = stream.group(&mut log, &author(&holder, 3), &lines).unwrap();
    assert_eq!((answers.len(), stream.is_over()), (2, true));
    assert_eq!(log.model().nodes["shop"].note, None);
}

/// Rule I-5: values are checked against the declarations of types, and no message shows them.
#[test]
fn values_are_held_against_their_types() {
    let text = format!("{HEADER}{SHOP}");
    let document = parse(FileId::DETACHED, text.into(), &Limits::default()).unwrap();
    let types = Types::of([&document]);
    let declared = DeclaredTypes::new(&types);
    let rules = ReportRules { types: Some(&declared), ..ReportRules::default() };
    let mut model = deployed(SHOP, "t1");
    let mut say = |text: &str| judged(&mut model, text, None, &rules);
    assert_eq!(
        say(r#"{"node":"shop","attributes":{"url":"http://x"}}"#).unwrap(),
        Reported::Changed
    );
    assert_eq!(say(r#"{"node":"shop","attributes":{"port":81}}"#).unwrap(), Reported::Changed);
    let error = say(r#"{"node":"shop","attributes":{"port":"hunter2"}}"#).unwrap_err();
    assert_eq!(error.code, Code::InvalidValue);
    assert!(!error.message.contains("hunter2"), "{}", error.message);
    let error = say(r#"{"node":"shop","attributes":{"urk":"hunter2"}}"#).unwrap_err();
    assert_eq!(
        (error.code, error.help.as_deref()),
        (Code::UnknownProperty.into(), Some("did you mean `url`?"))
    );
    let rules = ReportRules { undeclared: true, ..rules };
    judged(&mut model, r#"{"node":"shop","attributes":{"urk":"x"}}"#, None, &rules).unwrap();
    assert_eq!(model.nodes["shop"].metadata["urk"].as_str(), Some("x"));
    // Secrets are replaced before there is an event.
    let seal = SecretSeal::new(KeptSecrets::new(SecretsMode::Drop, [7; 32], ["url"]), []);
    let rules = ReportRules { secrets: Some(&seal), ..rules };
    judged(&mut model, r#"{"node":"shop","attributes":{"url":"hunter2"}}"#, None, &rules).unwrap();
    let kept = model.nodes["shop"].attributes["url"].value.to_string();
    assert_eq!(kept, "{$sensitive: null}");
}

/// The workflow `undeploy` leaves nothing of its nodes, and keeps a node that was only adopted.
#[test]
fn what_is_undeployed_is_gone() {
    let mut model = deployed(SHOP, "t1");
    let mut adopted = record(&mut model);
    let edit = ModelEdit::Adopt { type_name: "Dns".into(), id: "dns".into() };
    edit.add_to(&mut adopted, &ReportRules::default()).unwrap();
    adopted.close(None);
    let query = PlanQuery { workflow: "undeploy".into(), ..PlanQuery::default() };
    let plan = resolver(SHOP).plan(&query).unwrap();
    let plan = AppliedPlan::read(&document(&plan, &model, None)).unwrap();
    let nothing = InstanceModel::default();
    let models = TargetModels { to: &nothing, from: None };
    let mut whole = record(&mut model);
    let mut running = Orchestration::begin(&mut whole, &plan, "kept", None, models).unwrap();
    running.assume_done(&mut whole).unwrap();
    whole.close(None);
    // The adopted node was not in the plan.
    assert_eq!(model.nodes.keys().map(|id| &**id).collect::<Vec<_>>(), ["dns"]);
    assert_eq!((&*model.target.digest, model.orchestration.is_none()), ("t1", true));
    assert_eq!(model.generations["shop"], 1);
}

/// Rule O-9: a workflow of the template has steps without parts.
#[test]
fn a_workflow_of_the_template_is_carried_out_by_its_steps() {
    let nodes = "    box: {type: tosca.nodes.Compute}
    shop: {type: App, requirements: [host: box]}
  workflows:
    deploy:
      steps:
        machine: {target: box, activities: [delegate: deploy, set_state: started], on_success: [software]}
        software: {target: shop, activities: [call_operation: Standard.create, set_state: backing_up, call_operation: Standard.start]}
";
    let mut model = begun(nodes, "t1");
    let (plan, to) = (deployment(nodes, &model, "t1"), initial(nodes));
    let models = TargetModels { to: &to, from: None };
    let mut first = record(&mut model);
    let mut running =
        Orchestration::begin(&mut first, &plan, "kept", Some(&target("t1")), models).unwrap();
    first.close(None);
    let mut say = |text: &str| report(&mut model, text, Some(&mut running)).map_err(|it| it.code);
    assert_eq!(say(r#"{"step":"step.software/0"}"#), Err(Code::StepNotReady.into()));
    say(r#"{"step":"step.machine/0","outcome":"done"}"#).unwrap();
    say(r#"{"step":"step.software/0","outcome":"done"}"#).unwrap();
    assert_eq!((state(&model, "box"), state(&model, "shop")), ("started", "backing_up"));
    let mut say = |text: &str| report(&mut model, text, Some(&mut running)).map_err(|it| it.code);
    say(r#"{"node":"shop","state":"configured"}"#).unwrap();
    say(r#"{"node":"shop","state":"backing_up"}"#).unwrap();
    assert_eq!(say(r#"{"node":"shop","state":"backing_down"}"#), Err(Code::InvalidValue.into()));
    say(r#"{"step":"step.software/2","outcome":"failed"}"#).unwrap();
    assert_eq!(state(&model, "shop"), "error");
    let mut say = |text: &str| report(&mut model, text, Some(&mut running)).map_err(|it| it.code);
    say(r#"{"step":"step.software/2","outcome":"done"}"#).unwrap();
    assert!(model.orchestration.is_none());
}
