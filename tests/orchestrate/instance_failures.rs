//! Carries out workflows with failing steps round by round, and compares the outcome with the
//! simulator of plans: the same steps are done, fail or are not reached, and the orchestration ends
//! by itself.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::laws::cases;
use cuvee::Resolver;
use cuvee::deploy::instance::{
    AppliedPlan, InstanceModel, InstancePlanQuery, InstanceReport, InstanceTarget, KeptSecrets,
    Orchestration, RecordOrigin, ReportOutcome, ReportRules, SecretsMode, TargetModels,
    TargetSources, Unwritten,
};
use cuvee::deploy::plan::{
    Plan, PlanStepIndex, SimulationOptions, StartStates, StepOutcome, simulate,
};
use cuvee::output::draw::plan::PlanDocument;
use jiff::Timestamp;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A step: its node, its activities, and the steps that follow on success and on failure.
#[derive(Clone, Debug)]
struct Step {
    node: usize,
    activities: Vec<u8>,
    on_success: Vec<prop::sample::Index>,
    on_failure: Vec<prop::sample::Index>,
}

#[derive(Clone, Debug)]
struct Case {
    steps: Vec<Step>,
    inner: Vec<Step>,
    is_removal: bool,
    fail: Vec<prop::sample::Index>,
}

fn step() -> impl Strategy<Value = Step> {
    let names = |most| prop::collection::vec(any::<prop::sample::Index>(), 0..most);
    let activities = prop::collection::vec(0..6u8, 1..4);
    (0..3usize, activities, names(3), names(2)).prop_map(
        |(node, activities, on_success, on_failure)| Step {
            node,
            activities,
            on_success,
            on_failure,
        },
    )
}

fn case() -> impl Strategy<Value = Case> {
    let steps = |most| prop::collection::vec(step(), 1..most);
    let fail = prop::collection::vec(any::<prop::sample::Index>(), 0..4);
    (steps(7), steps(4), any::<bool>(), fail).prop_map(|(steps, inner, is_removal, fail)| Case {
        steps,
        inner,
        is_removal,
        fail,
    })
}

/// Writes steps as a workflow. Steps are followed by later ones only, so there is no circle.
fn written(name: &str, steps: &[Step], inline: &str) -> String {
    let mut text = format!("    {name}:\n      steps:\n");
    for (index, step) in steps.iter().enumerate() {
        let activity = |kind: &u8| match kind {
            0 => "set_state: resting".to_owned(),
            1 => "set_state: started".to_owned(),
            2 if !inline.is_empty() => format!("inline: {inline}"),
            _ => "call_operation: Standard.start".to_owned(),
        };
        let mut activities: Vec<_> = step.activities.iter().map(activity).collect();
        // A step that only sets a state takes a round in the simulator, but none here.
        if step.activities.iter().all(|kind| *kind < 3) {
            activities.push("call_operation: Standard.start".to_owned());
        }
        let later = |names: &[prop::sample::Index]| {
            let behind = steps.len() - index - 1;
            let names = names.iter().filter(|_| behind > 0);
            let names: BTreeSet<_> = names.map(|it| index + 1 + it.index(behind)).collect();
            names.iter().map(|it| format!("s{it}")).collect::<Vec<_>>().join(", ")
        };
        let (node, activities) = (step.node, activities.join("}, {"));
        let (success, failure) = (later(&step.on_success), later(&step.on_failure));
        writeln!(
            text,
            "        s{index}:\n          target: n{node}\n          activities: [{{{activities}}}]"
        )
        .unwrap();
        writeln!(text, "          on_success: [{success}]\n          on_failure: [{failure}]")
            .unwrap();
    }
    text
}

/// A template with three nodes and these workflows.
fn template(workflows: &str) -> String {
    "tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Service:
    derived_from: SoftwareComponent
    interfaces:
      Standard: {operations: {create: run.sh, start: run.sh, stop: run.sh}}
topology_template:
  node_templates:
    n0: {type: Service}
    n1: {type: Service}
    n2: {type: Service}
  workflows:
"
    .to_owned()
        + workflows
}

/// The template of a case: a workflow that inlines another one, which inlines a generated one.
fn template_of(case: &Case) -> String {
    let outer = if case.is_removal { "undeploy" } else { "deploy" };
    let inner = written("inner", &case.inner, "uninstall");
    template(&(inner + &written(outer, &case.steps, "inner")))
}

/// A plan that is carried out, with the models that it starts from and leads to.
struct Carried {
    plan: Plan,
    document: serde_json::Value,
    applied: AppliedPlan,
    target: Option<InstanceTarget>,
    model: InstanceModel,
    to: InstanceModel,
}

fn carried(template: &str, is_removal: bool) -> Carried {
    let files: cuvee::source::MemoryFiles =
        [("t.yaml".to_owned(), template.into()), ("run.sh".to_owned(), vec![b':'])]
            .into_iter()
            .collect();
    let resolver = Resolver::new("t.yaml").files(files);
    let mut secrets = KeptSecrets::new(SecretsMode::Digest, [0; 32], [""; 0]);
    let kept: TargetSources = resolver.instance_target(&mut secrets).unwrap().result;
    let (digest, _) = kept.blobs().unwrap();
    let mut model = (*kept.model).clone();
    model.target.digest = digest.as_str().into();
    let query = InstancePlanQuery { name: "shop".to_owned(), ..InstancePlanQuery::default() };
    let targets = |_: &str| Ok(kept.clone());
    let (plan, sources) = match is_removal {
        true => {
            for node in model.nodes.values_mut() {
                node.state = cuvee::deploy::instance::InstanceState::named("started");
            }
            let answer =
                cuvee::deploy::instance::remove_instance(&model, &targets, &query).unwrap();
            (answer.result, answer.sources)
        }
        false => {
            let answer = resolver.adapt_instance(&model, &targets, &mut secrets, &query).unwrap();
            (answer.result.0, answer.sources)
        }
    };
    let text = serde_json::to_string(&PlanDocument::of(&plan, &sources, false)).unwrap();
    let applied = AppliedPlan::read(&text.replacen('{', r#"{"version":1,"#, 1)).unwrap();
    let document = serde_json::from_str(&text).unwrap();
    let target = applied.target.as_ref().map(|target| {
        let mut meant = InstanceTarget::default();
        meant.digest = target.digest.clone();
        meant
    });
    let to = if is_removal { InstanceModel::default() } else { (*kept.model).clone() };
    Carried { plan, document, applied, target, model, to }
}

/// Whether the plan says how it goes on after the step fails.
fn is_final(document: &serde_json::Value, id: PlanStepIndex) -> bool {
    let steps = document["steps"].as_array().unwrap();
    let step = &steps[id.index()];
    let name = step["id"].as_str().unwrap();
    let is_it = |handled: &serde_json::Value| {
        let rest = name.strip_prefix(handled.as_str().unwrap());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let mut handled = steps.iter().filter_map(|step| step["handles"].as_array()).flatten();
    step["on_failure"] == "continue" || handled.any(is_it)
}

/// Whether the steps after this one begin even if it fails.
fn goes_on(document: &serde_json::Value, name: &str) -> bool {
    let steps = document["steps"].as_array().unwrap();
    steps.iter().any(|step| step["id"] == name && step["on_failure"] == "continue")
}

/// The outcome of each step, and whether the orchestration ended well.
type Ended = (BTreeMap<String, StepOutcome>, bool);

fn simulated(plan: &Plan, fail: &BTreeSet<String>) -> Ended {
    let how = SimulationOptions { fail: fail.iter().cloned().collect(), assume_unmet: false };
    let start = StartStates::default();
    let simulation = simulate(plan, &start, &how).unwrap();
    let named = plan.step_ids().zip(&simulation.outcomes);
    let outcomes = named.map(|(id, outcome)| (plan.identifier(id), *outcome)).collect();
    (outcomes, !simulation.has_failed)
}

/// Does all ready steps, round by round. The steps of a round begin together, and the orchestration
/// is read back from the model.
fn done(it: &mut Carried, fail: &BTreeSet<String>) -> Ended {
    let models = TargetModels { to: &it.to, from: None };
    let mut log = Vec::new();
    let mut add = |model: &mut InstanceModel, step: Option<(&str, Option<ReportOutcome>)>| {
        let mut record = Unwritten::new(model, "2026-01-01T00:00:00Z", "ann", RecordOrigin::Client);
        let ready = match step {
            None => {
                let begun = Orchestration::begin(
                    &mut record,
                    &it.applied,
                    "plan",
                    it.target.as_ref(),
                    models,
                );
                begun.unwrap().ready(record.model(), Timestamp::UNIX_EPOCH)
            }
            Some((step, outcome)) => {
                let mut going = Orchestration::resume(record.model(), &it.applied, models).unwrap();
                let mut report = InstanceReport::default();
                (report.step, report.outcome) = (Some(step.into()), outcome);
                report.add_to(&mut record, &ReportRules::default(), Some(&mut going)).unwrap();
                let now = record.model();
                let again = now.orchestration.as_ref().map(|_| {
                    Orchestration::resume(now, &it.applied, models)
                        .unwrap()
                        .ready(now, Timestamp::UNIX_EPOCH)
                });
                let ready = going.ready(now, Timestamp::UNIX_EPOCH);
                assert_eq!(again.unwrap_or_default(), ready, "{step}");
                ready
            }
        };
        log.extend(record.close(None));
        ready
    };
    let mut ready = add(&mut it.model, None);
    let mut outcomes: BTreeMap<_, _> = BTreeMap::new();
    while it.model.orchestration.is_some() {
        assert!(!ready.is_empty(), "open, and nothing is ready");
        let mut round: Vec<_> = ready.iter().map(|ready| ready.step.clone()).collect();
        for step in &round {
            add(&mut it.model, Some((step, None)));
        }
        // The simulator lets steps that nobody runs begin at the end of a round, after all failures
        // of it. So failures are reported first, and before others those after which nothing begins.
        round.sort_by_key(|step| (!fail.contains(&**step), goes_on(&it.document, step)));
        for step in &round {
            let is_failed = fail.contains(&**step);
            let outcome = if is_failed { ReportOutcome::Failed } else { ReportOutcome::Done };
            ready = add(&mut it.model, Some((step, Some(outcome))));
            if is_failed {
                outcomes.insert(step.to_string(), StepOutcome::Failed);
            }
        }
        // Failed steps are not tried again, so nothing is left to do.
        if ready.iter().all(|it| it.status == Some(cuvee::deploy::instance::StepStatus::Failed)) {
            break;
        }
    }
    let mut is_well = it.model.orchestration.is_none();
    for event in &log {
        match event {
            cuvee::deploy::instance::Event::StepEnded {
                step,
                outcome: ReportOutcome::Done,
                ..
            } => {
                outcomes.insert(step.to_string(), StepOutcome::Done);
            }
            cuvee::deploy::instance::Event::OrchestrationEnded { outcome } => {
                is_well = *outcome == ReportOutcome::Done;
            }
            _ => {}
        }
    }
    (outcomes, is_well)
}

/// Compares the instance with the simulator where these steps fail.
fn compared(it: &mut Carried, fail: &BTreeSet<String>) -> Result<(), String> {
    let (simulated, went_well) = simulated(&it.plan, fail);
    let (done, is_well) = done(it, fail);
    for (step, outcome) in &simulated {
        let own = done.get(step).copied().unwrap_or(StepOutcome::NotReached);
        if own != *outcome {
            return Err(format!("{step} is {own:?}, simulated {outcome:?}"));
        }
    }
    if is_well == went_well { Ok(()) } else { Err(format!("well: {is_well}, {went_well}")) }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn failures_do_what_the_simulator_says(case in case()) {
        let template = template_of(&case);
        let mut it = carried(&template, case.is_removal);
        let steps = it.plan.step_ids().filter(|&id| it.plan.step(id).is_run());
        // A step whose failure nothing handles may be tried again, so that it would end nothing.
        let is_final = |id: &_| it.plan.step(*id).is_handler || is_final(&it.document, *id);
        let steps: Vec<_> = steps.filter(is_final).map(|id| it.plan.identifier(id)).collect();
        let picked = case.fail.iter().filter(|_| !steps.is_empty());
        let fail: BTreeSet<_> = picked.map(|one| one.get(&steps).clone()).collect();
        let compared = compared(&mut it, &fail);
        prop_assert!(compared.is_ok(), "{:?}\n{template}\n{fail:?}", compared);
    }
}

/// Two steps of one round fail, after one of which the steps behind it go on.
#[test]
fn a_failure_that_stops_nothing_counts_after_one_that_does() {
    let workflows = "
    deploy:
      steps:
        s0: {target: n0, activities: [{inline: uninstall}]}
        s1: {target: n1, activities: [{call_operation: Standard.start}], on_failure: [s2]}
        s2: {target: n1, activities: [{call_operation: Standard.start}]}
";
    let fail = ["step.s0/0/uninstall/node.n0/stop", "step.s1/0"].map(str::to_owned).into();
    compared(&mut carried(&template(workflows), false), &fail).unwrap();
}

/// The handler of a failure has begun before, since it follows a step that was done.
#[test]
fn handlers_go_on_that_have_begun_before_the_failure() {
    let workflows = "
    deploy:
      steps:
        s0: {target: n0, activities: [{call_operation: Standard.start}], on_success: [s2]}
        s1:
          target: n0
          activities: [{call_operation: Standard.start}, {call_operation: Standard.start}]
          on_failure: [s2]
        s2: {target: n0, activities: [{inline: uninstall}, {call_operation: Standard.start}]}
";
    let fail = ["step.s1/1", "step.s2/0/uninstall/node.n0/stop"].map(str::to_owned).into();
    let mut it = carried(&template(workflows), false);
    compared(&mut it, &fail).unwrap();
    let outcomes = simulated(&it.plan, &fail).0;
    assert_eq!(outcomes["step.s2/0/uninstall/node.n0/delete"], StepOutcome::Done);
}

/// A step that is left out takes no round: what follows it begins before the next failure.
#[test]
fn steps_that_are_left_out_take_no_round() {
    let call = "{call_operation: Standard.start}";
    let workflows = format!(
        "
    inner:
      steps:
        s0: {{target: n0, activities: [{{set_state: resting}}, {call}]}}
        s1: {{target: n1, activities: [{call}, {call}], on_failure: [s2]}}
        s2: {{target: n1, activities: [{call}]}}
    undeploy:
      steps:
        s0: {{target: n0, activities: [{call}, {call}, {{inline: inner}}]}}
        s1: {{target: n1, activities: [{{inline: inner}}]}}
"
    );
    let fail = ["step.s0/0", "step.s1/0/inner/step.s1/1"].map(str::to_owned).into();
    let mut it = carried(&template(&workflows), true);
    compared(&mut it, &fail).unwrap();
    let outcomes = simulated(&it.plan, &fail).0;
    assert_eq!(outcomes["step.s0/2/inner/step.s0/0"], StepOutcome::Done);
}
