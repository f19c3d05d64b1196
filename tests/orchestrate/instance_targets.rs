//! Tests the targets that instances are made of, and the plans between them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::deploying::{Deploying, Targets, assert_same, deployed, essence, secrets};
use cuvee::Resolver;
use cuvee::deploy::instance::{
    InstanceModel, InstancePlanQuery, InstanceReport, InstanceSettings, InstanceState, LockHolder,
    MemoryStore, RecordAuthor, RecordAuthorNow, RecordOrigin, ReportLines, ReportOutcome,
    SecretsMode, StoredInstance, TakenReports, TargetSources, finish_workflow, repair_instance,
};
use cuvee::deploy::plan::ChangeClass;
use cuvee::diagnostic::Code;
use cuvee::output::draw::plan::PlanDocument;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::time::Duration;

fn examples() -> Vec<(&'static str, Vec<Option<String>>)> {
    let all = ["shop", "guestbook", "deployment"];
    all.map(|name| {
        let path: &'static str = Box::leak(format!("examples/{name}").into_boxed_str());
        let presets = Resolver::new(path).preset_names().unwrap();
        (path, presets.into_iter().map(Some).chain([None]).collect())
    })
    .into()
}

fn chosen(path: &str, preset: Option<&String>) -> Resolver {
    let resolver = match path {
        "examples/deployment" => Resolver::new(path).deployment_input("domain", "books.example"),
        _ => Resolver::new(path),
    };
    match preset {
        Some(preset) => resolver.preset(preset),
        None => resolver,
    }
}

/// Law L-1: no plan is needed where everything is as the target says.
#[test]
fn what_is_as_it_should_be_needs_no_plan() {
    for (path, presets) in examples() {
        for preset in &presets {
            let mut targets = Targets::new();
            let resolver = chosen(path, preset.as_ref());
            if resolver.resolve().is_err() {
                continue;
            }
            let model = deployed(&resolver, &mut targets);
            let kept = |digest: &str| Ok(targets[digest].clone());
            let plan = repair_instance(&model, &kept, &InstancePlanQuery::default());
            let plan = plan.unwrap_or_else(|e| panic!("{path} {preset:?}: {e}")).result;
            let changes: Vec<_> =
                plan.changes.iter().filter(|it| it.class != ChangeClass::Keep).collect();
            assert!(changes.is_empty() && plan.steps.is_empty(), "{path} {preset:?}: {changes:#?}");
            let again = resolver
                .adapt_instance(&model, &kept, &mut secrets(), &InstancePlanQuery::default())
                .unwrap_or_else(|e| panic!("{path} {preset:?}: {e}"));
            let plan = again.result.0;
            let changes: Vec<_> =
                plan.changes.iter().filter(|it| it.class != ChangeClass::Keep).collect();
            assert!(changes.is_empty() && plan.steps.is_empty(), "{path} {preset:?}: {changes:#?}");
        }
    }
}

/// What is wrong with a kept target is shown in the target, not in the template that a plan leads
/// to.
#[test]
fn a_broken_target_is_shown_itself() {
    let (path, presets) = &examples()[0];
    let resolver = chosen(path, presets[0].as_ref());
    let mut targets = Targets::new();
    let model = deployed(&resolver, &mut targets);
    let kept = |digest: &str| {
        let mut target = targets[digest].clone();
        target.concrete.insert_str(0, "unknown keyname: [\n");
        Ok(target)
    };
    let query = InstancePlanQuery::default();
    let failure = resolver.adapt_instance(&model, &kept, &mut secrets(), &query).unwrap_err();
    let shown = failure.to_string();
    // The path from the root of the target.
    assert!(shown.starts_with("variable-service-template.yaml:"), "{shown}");
    assert!(shown.contains("error[syntax]"), "{shown}");
}

fn planned(model: &InstanceModel, targets: &Targets) -> cuvee::deploy::plan::Plan {
    let kept = |digest: &str| Ok(targets[digest].clone());
    let plan = repair_instance(model, &kept, &InstancePlanQuery::default());
    plan.unwrap_or_else(|e| panic!("{e}")).result
}

/// The class `repair`, and statement O-5: a node that does not run is repaired as its state
/// permits.
#[test]
fn what_does_not_run_is_repaired_from_what_its_state_proves() {
    use ChangeClass::{Add, Keep, Recreate, Repair};
    const START: &str = "starting start started";
    const STOP: &str = "stopping stop stopped";
    const CONFIGURE: &str = "configuring configure configured";
    const CREATE: &str = "creating create created";
    const DELETE: &str = "deleting delete deleted";
    let cases: [(&str, Option<&str>, ChangeClass, &[&str]); 11] = [
        ("initial", None, Add, &[CREATE, CONFIGURE, START]),
        ("creating", None, Recreate, &[DELETE, CREATE, CONFIGURE, START]),
        ("created", None, Repair, &[CONFIGURE, START]),
        ("configuring", None, Repair, &[CONFIGURE, START]),
        ("configured", None, Repair, &[START]),
        ("starting", None, Repair, &[STOP, START]),
        ("started", None, Keep, &[]),
        ("stopping", None, Repair, &[STOP, START]),
        ("error", Some("creating"), Recreate, &[DELETE, CREATE, CONFIGURE, START]),
        ("error", None, Repair, &[STOP, CONFIGURE, START]),
        ("backing_up", None, Keep, &[]),
    ];
    let mut targets = Targets::new();
    let model = deployed(&Resolver::new("examples/guestbook"), &mut targets);
    for (state, failed_in, class, expected) in cases {
        let mut model = model.clone();
        let node = model.nodes.get_mut("book").unwrap();
        node.state = InstanceState::named(state);
        node.failed_in = failed_in.map(InstanceState::named);
        let plan = planned(&model, &targets);
        let change = plan.changes.iter().find(|it| it.element == "node.book").unwrap();
        assert_eq!(change.class, class, "{state} {failed_in:?}");
        let steps = plan.step_ids().map(|step| plan.identifier(step));
        let own: Vec<_> =
            steps.filter_map(|it| it.strip_prefix("node.book/").map(str::to_owned)).collect();
        assert_eq!(own.join(" "), expected.join(" "), "{state} {failed_in:?}");
    }
}

/// Statements I-4 and I-12, and item 8 of what the seed leaves open.
const SITES: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Site:
    derived_from: tosca.nodes.Root
    properties:
      location: { type: string }
      size: { type: integer, default: 3 }
      login_password: { type: string, required: false }
    requirements:
      - vpn: { capability: tosca.capabilities.Node, relationship: tosca.relationships.DependsOn }
      - peer: { capability: tosca.capabilities.Node, relationship: tosca.relationships.DependsOn, occurrences: [0, UNBOUNDED] }
  VPN:
    derived_from: tosca.nodes.Root
topology_template:
  inputs:
    sites: { type: integer }
    locations: { type: list, entry_schema: string }
    password: { type: string, default: hunter22 }
  node_templates:
    hub:
      type: Site
      properties: { location: here }
      requirements: [ { vpn: vpn }, { peer: site } ]
    vpn: { type: VPN }
    site:
      type: Site
      occurrences: [1, UNBOUNDED]
      instance_count: { get_input: sites }
      properties:
        location: { get_input: [locations, INDEX] }
        login_password: { get_input: password }
      requirements: [ { vpn: vpn } ]
  groups:
    all: { type: tosca.groups.Root, members: [hub, site] }
";

fn sites() -> Resolver {
    let files = cuvee::source::MemoryFiles::from([("sites.yaml", SITES)]);
    Resolver::new("sites.yaml").files(files)
}

#[test]
fn templates_of_several_nodes_are_there_as_often() {
    let resolver = sites().deployment_input("sites", 2);
    let resolver = resolver.deployment_input_text("locations", "[north, south]");
    let target = resolver.instance_target(&mut secrets()).unwrap_or_else(|e| panic!("{e}")).result;
    let model = &target.model;
    let ids: Vec<_> = model.nodes.keys().map(|id| &**id).collect();
    assert_eq!(ids, ["hub", "site@0", "site@1", "vpn"]);
    let site = &model.nodes["site@1"];
    assert_eq!((site.template.as_deref(), site.index), (Some("site"), Some(1)));
    assert_eq!(site.properties["location"], "south".into());
    assert_eq!(site.properties["size"], 3.into());
    let peers = model.nodes["hub"].requirements["peer"].iter();
    let peers: Vec<_> = peers.map(|one| one.target.as_deref()).collect();
    assert_eq!(peers, [Some("site@0"), Some("site@1")]);
    assert_eq!(site.requirements["vpn"][0].target.as_deref(), Some("vpn"));
    assert_eq!(model.groups["all"].members.len(), 3);
    assert!(!target.concrete.contains("hunter22") && !target.written.contains("hunter22"));
    assert!(target.concrete.contains("site@1") && !target.concrete.contains("instance_count"));
}

#[test]
fn what_cannot_be_decided_is_an_error() {
    let failure = sites().deployment_input("sites", 2).instance_target(&mut secrets());
    let failure = failure.map(|_| ()).unwrap_err();
    let codes: Vec<_> = failure.diagnostics.iter().map(|it| it.code).collect();
    assert_eq!(codes, [Code::MissingInput], "{failure}");
    let none = "{ tosca_definitions_version: tosca_simple_yaml_1_3, node_types: { A: { properties: { port: { type: integer } } } }, topology_template: { node_templates: { a: { type: A } } } }";
    let failure = Resolver::from_text("a.yaml", none).instance_target(&mut secrets());
    let failure = failure.map(|_| ()).unwrap_err();
    assert_eq!(failure.diagnostics[0].code, Code::UnresolvedInstance, "{failure}");
    assert!(failure.diagnostics[0].help.is_some());
}

/// The second half of law L-5: instances are planned for like variants.
#[test]
fn instances_are_planned_for_as_variants_are() {
    for (path, presets) in examples() {
        for from in &presets {
            for to in &presets {
                let (old, new) = (chosen(path, from.as_ref()), chosen(path, to.as_ref()));
                if from == to || old.resolve().is_err() || new.resolve().is_err() {
                    continue;
                }
                let (old, new) = (old.evaluate_functions(), new.evaluate_functions());
                let order = cuvee::deploy::plan::OrderOptions::default();
                let variants = old.adapt(&new, &cuvee::deploy::plan::Adaptation::default(), &order);
                let Ok(variants) = variants else { continue };
                let mut targets = Targets::new();
                let model = deployed(&old, &mut targets);
                let kept = |digest: &str| Ok(targets[digest].clone());
                let query = InstancePlanQuery::default();
                let planned = new.adapt_instance(&model, &kept, &mut secrets(), &query);
                let planned = planned.unwrap_or_else(|e| panic!("{path} {from:?} {to:?}: {e}"));
                let steps = |plan: &cuvee::deploy::plan::Plan| -> Vec<String> {
                    plan.step_ids().map(|step| plan.identifier(step)).collect()
                };
                let (instance, variants) = (steps(&planned.result.0), steps(&variants.result));
                assert_eq!(instance, variants, "{path} {from:?} {to:?}");
            }
        }
    }
}

/// Laws L-3 and L-4: each way to a variant leads to the same instance.
#[test]
fn ways_to_a_variant_lead_to_the_same() {
    for (path, presets) in examples() {
        let resolves = |preset: &&Option<String>| chosen(path, preset.as_ref()).resolve().is_ok();
        let presets: Vec<_> = presets.iter().filter(resolves).collect();
        for from in &presets {
            for to in presets.iter().filter(|to| *to != from) {
                let (old, new) = (chosen(path, from.as_ref()), chosen(path, to.as_ref()));
                let all = Deploying::new();
                all.init("direct", &new);
                let direct = essence(&all.reach("direct", None));
                all.init("changed", &old);
                all.reach("changed", None);
                let changed = essence(&all.reach("changed", Some(&new)));
                // Keys differ, and with them the digests of secrets.
                let plain = |all: &[String]| -> Vec<String> {
                    all.iter().filter(|it| !it.contains("$sensitive")).cloned().collect()
                };
                assert_same(&plain(&changed), &plain(&direct), &format!("{path} {from:?} {to:?}"));
                all.init("begun", &old);
                let begun = essence(&all.reach("begun", Some(&new)));
                assert_same(&plain(&begun), &plain(&direct), &format!("{path} {from:?} {to:?}"));
            }
        }
    }
}

/// Rule X-1: a user who keeps secrets in the store is warned.
#[test]
fn whoever_keeps_secrets_is_warned() {
    let all = Deploying::new();
    let kept = |secrets| {
        let settings = InstanceSettings { secrets, ..InstanceSettings::default() };
        let name = format!("{secrets:?}").to_lowercase();
        let shop = Resolver::new("examples/shop").preset("dev");
        let answer = shop.init_instance(&all.store, &name, &settings, &all.author());
        let answer = answer.unwrap_or_else(|e| panic!("{e}"));
        let codes: Vec<_> = answer.warnings.iter().map(|it| it.code).collect();
        (codes.contains(&Code::SensitivePlain.into()), format!("{:?}", answer.result.inputs))
    };
    let (is_warned, inputs) = kept(SecretsMode::Keep);
    assert!(is_warned && inputs.contains("darjeeling"), "{inputs}");
    for mode in [SecretsMode::Digest, SecretsMode::Drop] {
        let (is_warned, inputs) = kept(mode);
        assert!(!is_warned && !inputs.contains("darjeeling"), "{inputs}");
    }
}

/// Law L-2: on the way back, the same nodes are kept.
#[test]
fn the_way_back_keeps_the_same() {
    for (path, presets) in examples() {
        let resolves = |preset: &&Option<String>| chosen(path, preset.as_ref()).resolve().is_ok();
        let presets: Vec<_> = presets.iter().filter(resolves).collect();
        for (at, from) in presets.iter().enumerate() {
            for to in &presets[at + 1..] {
                let classes = |from: &Option<String>, to: &Option<String>, class: ChangeClass| {
                    let mut targets = Targets::new();
                    let model = deployed(&chosen(path, from.as_ref()), &mut targets);
                    let kept = |digest: &str| Ok(targets[digest].clone());
                    let query = InstancePlanQuery::default();
                    let new = chosen(path, to.as_ref());
                    let planned = new.adapt_instance(&model, &kept, &mut secrets(), &query);
                    let (plan, _) = planned.unwrap_or_else(|e| panic!("{e}")).result;
                    let nodes =
                        plan.changes.into_iter().filter(|it| it.element.starts_with("node."));
                    let of_class = nodes.filter(|it| it.class == class).map(|it| it.element);
                    of_class.collect::<std::collections::BTreeSet<_>>()
                };
                for (there, back) in [
                    (ChangeClass::Keep, ChangeClass::Keep),
                    (ChangeClass::Add, ChangeClass::Remove),
                    (ChangeClass::Remove, ChangeClass::Add),
                ] {
                    let there = classes(from, to, there);
                    assert_eq!(there, classes(to, from, back), "{path} {from:?} {to:?}");
                }
            }
        }
    }
}

/// The document of the plan that deploys an instance, as `cuvee instance plan -o` writes it.
fn plan_document(instance: &StoredInstance<'_>) -> String {
    let plan =
        instance.plan_repair(&InstancePlanQuery { name: "book".into(), ..Default::default() });
    let plan = plan.unwrap_or_else(|e| panic!("{e}"));
    let text =
        serde_json::to_string(&PlanDocument::of(&plan.result, &plan.sources, false)).unwrap();
    text.replacen('{', r#"{"version":1,"#, 1)
}

fn report(text: &str) -> InstanceReport {
    InstanceReport::parse(text).unwrap()
}

/// A report is judged by the plan that is carried out now, though the reporter opened the instance
/// before that plan began, or while another one was carried out.
#[test]
fn plans_that_begin_meanwhile_are_met() {
    let (store, taking) = (MemoryStore::new(7), TakenReports::default());
    let holder = LockHolder { actor: "ann".to_owned(), process: 1 };
    let time = jiff::Timestamp::UNIX_EPOCH;
    let origin = RecordOrigin::Orchestrator;
    let author = RecordAuthor { holder: &holder, timeout: Duration::from_secs(1), time, origin };
    let now = RecordAuthorNow { holder: holder.clone(), timeout: author.timeout, time };
    let settings = InstanceSettings::default();
    Resolver::new("examples/guestbook").init_instance(&store, "book", &settings, &author).unwrap();
    let open = || StoredInstance::open(&store, "book").unwrap();
    let early = |name: &str| report(&format!(r#"{{"step":"node.{name}/up","outcome":"done"}}"#));
    let (mut before, mut streaming) = (open(), open());
    let mut first = open();
    first.apply(&plan_document(&first), &author, None, false).unwrap();
    // By the plan, the host comes first.
    let refused = before.record(&early("site"), &author, taking).unwrap_err();
    assert_eq!(refused.diagnostics[0].code, Code::StepNotReady);
    before.record(&early("house"), &author, taking).unwrap();
    first
        .log()
        .change(&author, None, None, |it, _| finish_workflow(it, ReportOutcome::Cancelled))
        .unwrap();
    let mut second = open();
    second.apply(&plan_document(&second), &author, None, false).unwrap();
    // The plan before created the host; the second plan has no part for it.
    let refused = before.record(&early("house"), &author, taking).unwrap_err();
    assert_eq!(refused.diagnostics[0].code, Code::UnknownElement);
    before.record(&early("book"), &author, taking).unwrap();
    let ready = second.resume(&author, None, false).unwrap().result;
    let part = ready[0].part.as_deref().unwrap_or(&ready[0].step);
    let node = part.strip_prefix("node.").and_then(|part| part.strip_suffix("/up")).unwrap();

    let mut lines = vec![
        vec![r#"{"step":"node.house/up","outcome":"done"}"#.to_owned()],
        vec!["{}".to_owned(), format!(r#"{{"step":"{part}","outcome":"done"}}"#)],
    ];
    let mut answers = Vec::new();
    let all_taken = streaming
        .stream(taking, false, &mut |taken| {
            answers.extend(taken.iter().map(|it| (it.line, it.ok, it.code)));
            let author = now.clone();
            Ok((!lines.is_empty()).then(|| ReportLines { author, lines: lines.remove(0) }))
        })
        .unwrap();
    assert!(!all_taken);
    assert_eq!(answers[0], (1, false, Some("unknown-element")));
    assert_eq!(answers[2], (3, true, None));
    assert_eq!(open().model().nodes[node].state.as_str(), "started");
}

fn digest_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Non-normative types, which neither the template nor a file defines, are kept by storing the
/// choice to use them.
#[test]
fn types_beyond_the_normative_ones_are_kept() {
    const TEMPLATE: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    app: { type: tosca.nodes.Database.MySQL, properties: { name: a }, requirements: [ host: dbms ] }
    dbms: { type: tosca.nodes.DBMS.MySQL, properties: { root_password: canary } }
";
    let resolver = Resolver::from_text("shop.yaml", TEMPLATE);
    for (resolver, knows) in [(resolver.clone().non_normative_types(), true), (resolver, false)] {
        let kept = resolver.instance_target(&mut secrets()).unwrap().result;
        let (digest, blobs) = kept.blobs().unwrap();
        let blobs: BTreeMap<String, Vec<u8>> =
            blobs.into_iter().map(|blob| (digest_of(&blob), blob)).collect();
        let read = TargetSources::read(&digest, &|digest| Ok(blobs[digest].clone())).unwrap();
        assert_eq!(read.non_normative, knows);
        assert_eq!(read.resolver().effective_types("tosca.nodes.DBMS.MySQL").is_ok(), knows);
    }
}
