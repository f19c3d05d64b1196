//! Tests claims of steps: only whoever has the token reports a claimed step, until the lease is
//! over.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use crate::deploying::Deploying;
use crate::laws::cases;
use cuvee::Resolver;
use cuvee::deploy::instance::{
    Event, EventLog, InstanceReport, LockHolder, ReadySteps, RecordAuthor, RecordAuthorNow,
    RecordOrigin, ReportLines, Reported, StepStatus, StoredInstance, TakenReports, Unwritten,
    begin_workflow,
};
use cuvee::diagnostic::Code;
use cuvee::source::MemoryFiles;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::BTreeMap;
use std::time::Duration;

/// Two nodes that do not wait for each other.
const TEMPLATE: &str = "\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  App:
    derived_from: tosca.nodes.Root
    attributes: { url: { type: string } }
    interfaces: { Standard: { operations: { create: run.sh, configure: run.sh } } }
topology_template:
  node_templates:
    one: { type: App }
    two: { type: App }
";

fn resolver() -> Resolver {
    let files = [("t.yaml", TEMPLATE), ("run.sh", ":")];
    let files = files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
    Resolver::new("t.yaml").files(files.into_iter().collect::<MemoryFiles>())
}

/// Actors who carry out the deployment of the two nodes.
struct Carrying(Deploying);

impl Carrying {
    fn new() -> Self {
        let all = Self(Deploying::new());
        all.0.init("shop", &resolver());
        all
    }

    fn begin() -> Self {
        let all = Self::new();
        let plan = all.0.plan(&mut all.open(), None);
        all.open().apply(&plan, &all.0.author(), None, false).unwrap();
        all
    }

    fn open(&self) -> StoredInstance<'_> {
        StoredInstance::open(&self.0.store, "shop").unwrap()
    }

    /// Records a report of an actor at a second.
    fn say(&self, actor: &str, second: i64, text: &str) -> Result<Reported, Code> {
        let holder = LockHolder { actor: actor.to_owned(), process: 1 };
        let (time, origin) = (at(second), RecordOrigin::Orchestrator);
        let author = RecordAuthor { holder: &holder, timeout: Duration::ZERO, time, origin };
        let report = InstanceReport::parse(text).unwrap();
        let taking = TakenReports::default();
        let recorded = StoredInstance::record_one(&self.0.store, "shop", &report, &author, taking);
        let code = |code: cuvee::diagnostic::CodeName| Code::named(code).unwrap();
        recorded.map(|it| it.result).map_err(|failure| code(failure.diagnostics[0].code))
    }

    fn claim(&self, actor: &str, second: i64, step: &str) -> String {
        let said = self.say(actor, second, &format!(r#"{{"step":"{step}","claim":"60s"}}"#));
        let Ok(Reported::Claimed(token)) = said else { panic!("{said:?}") };
        token.to_string()
    }

    fn ready(&self, second: i64) -> ReadySteps {
        self.open().ready(at(second)).unwrap()
    }

    /// The steps that are ready, with what was reported of them.
    fn lines(&self, second: i64) -> Vec<String> {
        let status = |it: Option<StepStatus>| it.map_or("", StepStatus::as_str);
        let ready = self.ready(second).ready.into_iter();
        ready.map(|it| format!("{} {}", it.step, status(it.status)).trim().to_owned()).collect()
    }

    fn resume(&self, second: i64) {
        let holder = LockHolder { actor: "eve".to_owned(), process: 2 };
        let (time, origin) = (at(second), RecordOrigin::Client);
        let author = RecordAuthor { holder: &holder, timeout: Duration::ZERO, time, origin };
        self.open().resume(&author, None, false).unwrap();
    }

    /// The log as it is written.
    fn log(&self) -> String {
        let mut log = EventLog::open_at_start(&self.0.store, "shop").unwrap();
        let mut text = String::new();
        while let Some(record) = log.next_record().unwrap() {
            text += record.line();
        }
        text
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH.checked_add(SignedDuration::from_secs(second)).unwrap()
}

fn done(step: &str, token: &str) -> String {
    format!(r#"{{"step":"{step}","outcome":"done","token":"{token}"}}"#)
}

#[test]
fn a_claimed_step_is_reported_with_its_token_only() {
    let all = Carrying::begin();
    assert_eq!(all.lines(0), ["node.one/create", "node.two/create"]);
    let before = all.log();
    let token = all.claim("ann", 0, "node.one/create");
    assert!(token.len() >= 32 && !all.log().contains(&token), "the log has a digest only");
    assert_eq!(all.lines(1), ["node.two/create"]);
    let claimed = all.ready(1).claimed;
    assert_eq!((&*claimed[0].step, &*claimed[0].actor), ("node.one/create", "ann"));
    assert_eq!(&*claimed[0].until, "1970-01-01T00:01:00Z");
    // Others are refused, and so is the actor without the token, whatever the report moves.
    let after = all.log();
    for text in [
        r#"{"step":"node.one/create"}"#,
        r#"{"step":"node.one/create","claim":"1h"}"#,
        r#"{"step":"node.one/create","outcome":"done"}"#,
        r#"{"step":"node.one/up","outcome":"done"}"#,
        r#"{"step":"node.one/up","claim":"1h"}"#,
        r#"{"node":"one","state":"created"}"#,
        r#"{"batch":[{"step":"node.two/create"},{"node":"one","state":"gone"}]}"#,
    ] {
        for actor in ["ann", "bob"] {
            assert_eq!(all.say(actor, 59, text), Err(Code::StepClaimed), "{text}");
        }
    }
    let wrong = done("node.one/create", &"0".repeat(32));
    assert_eq!(all.say("ann", 59, &wrong), Err(Code::StepClaimed));
    assert_eq!(all.log(), after);
    assert_ne!(before, after);
    // Attributes may be reported by anybody at any time.
    all.say("bob", 2, r#"{"node":"one","attributes":{"url":"x"}}"#).unwrap();
    assert_eq!(all.say("ann", 59, &done("node.one/create", &token)), Ok(Reported::Changed));
    // Who repeats it learns that it is known; the claim is over.
    assert_eq!(all.say("ann", 59, &done("node.one/create", &token)), Ok(Reported::Unchanged));
    assert_eq!(
        all.say("ann", 59, r#"{"step":"node.one/create","claim":"1h"}"#),
        Err(Code::StepNotReady)
    );
    assert_eq!(all.lines(59), ["node.one/configure", "node.two/create"]);
}

#[test]
fn after_the_lease_others_go_on() {
    let all = Carrying::begin();
    let slow = all.claim("ann", 0, "node.one/create");
    assert_eq!(all.lines(60), ["node.one/create interrupted", "node.two/create"]);
    assert!(all.ready(60).claimed.is_empty());
    let fast = all.claim("bob", 60, "node.one/create");
    assert_ne!(slow, fast);
    assert!(all.log().contains(r#""outcome":"interrupted""#));
    assert_eq!(all.say("ann", 61, &done("node.one/create", &slow)), Err(Code::StepClaimed));
    // A lease that is over still counts while nobody else goes on, and it can be renewed.
    let renew = format!(r#"{{"step":"node.one/create","claim":"60s","token":"{fast}"}}"#);
    assert_eq!(all.say("bob", 200, &renew), Ok(Reported::Claimed(fast.as_str().into())));
    assert_eq!(all.lines(259), ["node.two/create"]);
    assert_eq!(all.say("bob", 300, &done("node.one/create", &fast)), Ok(Reported::Changed));
    // Who only reports after the lease needs no token.
    all.claim("ann", 300, "node.two/create");
    let failed = r#"{"step":"node.two/create","outcome":"failed"}"#;
    assert_eq!(all.say("bob", 359, failed), Err(Code::StepClaimed));
    assert_eq!(all.say("bob", 360, failed), Ok(Reported::Changed));
}

#[test]
fn who_takes_over_voids_claims() {
    let all = Carrying::begin();
    let token = all.claim("ann", 0, "node.one/create");
    all.resume(1);
    assert_eq!(all.lines(1), ["node.one/create interrupted", "node.two/create"]);
    assert_eq!(all.say("ann", 2, &done("node.one/create", &token)), Err(Code::StepClaimed));
    all.claim("eve", 2, "node.one/create");
    // A step that was begun without a claim is nobody's to claim.
    all.say("ann", 3, r#"{"step":"node.two/create"}"#).unwrap();
    assert_eq!(all.lines(3), ["node.two/create running"]);
    let claim = r#"{"step":"node.two/create","claim":"60s"}"#;
    assert_eq!(all.say("eve", 3, claim), Err(Code::StepClaimed));
    all.say("eve", 4, r#"{"step":"node.two/create","outcome":"done"}"#).unwrap();
}

#[test]
fn a_part_is_claimed_with_its_steps() {
    let all = Carrying::begin();
    let token = all.claim("ann", 0, "node.one/up");
    assert_eq!(all.lines(1), ["node.two/create"]);
    let step = r#"{"step":"node.one/create","outcome":"done"}"#;
    assert_eq!(all.say("bob", 1, step), Err(Code::StepClaimed));
    assert_eq!(all.say("ann", 1, &done("node.one/create", &token)), Ok(Reported::Changed));
    assert_eq!(all.lines(1), ["node.two/create"]);
    // Which of its steps has begun is not known.
    assert_eq!(all.lines(60), ["node.one/configure interrupted", "node.two/create"]);
    assert_eq!(all.say("ann", 60, &done("node.one/up", &token)), Ok(Reported::Changed));
    // A part that ends takes the claims of its steps along.
    let token = all.claim("ann", 60, "node.two/create");
    let failed = format!(r#"{{"step":"node.two/up","outcome":"failed","token":"{token}"}}"#);
    assert_eq!(all.say("ann", 61, &failed), Ok(Reported::Changed));
    assert!(all.open().model().orchestration.as_ref().unwrap().claims.is_empty());
    assert_eq!(all.lines(61), ["node.two/create failed"]);
}

#[test]
fn wrong_claims_are_told() {
    let all = Carrying::begin();
    for text in [
        r#"{"node":"one","claim":"60s"}"#,
        r#"{"node":"one","token":"x"}"#,
        r#"{"step":"node.one/create","claim":"0s"}"#,
        r#"{"step":"node.one/create","claim":"60s","outcome":"done"}"#,
        r#"{"step":"node.one/create","claim":"60s","key":"1"}"#,
        r#"{"step":"node.one/create","claim":"300000000000s"}"#,
    ] {
        assert_eq!(all.say("ann", 0, text), Err(Code::InvalidValue), "{text}");
    }
    for claim in [r#""soon""#, "60", r#""-5s""#, "true"] {
        let text = format!(r#"{{"step":"node.one/create","claim":{claim}}}"#);
        assert_eq!(InstanceReport::parse(&text).unwrap_err().code, Code::InvalidValue, "{text}");
    }
    let later = r#"{"step":"node.one/configure","claim":"60s"}"#;
    assert_eq!(all.say("ann", 0, later), Err(Code::StepNotReady));
    let unknown = r#"{"step":"node.uno/create","claim":"60s"}"#;
    assert_eq!(all.say("ann", 0, unknown), Err(Code::UnknownElement));
    assert_eq!(all.lines(0), ["node.one/create", "node.two/create"]);
}

/// Lines of a stream are answered with tokens; one record has one token.
#[test]
fn streams_answer_with_tokens() {
    let all = Carrying::begin();
    let holder = LockHolder { actor: "ann".to_owned(), process: 1 };
    let author = RecordAuthorNow { holder, timeout: Duration::ZERO, time: at(0) };
    let both = r#"{"batch":[{"step":"node.one/create","claim":"1m"},{"step":"node.two/create","claim":"1m"}]}"#;
    let mut lines = vec![both.to_owned(), r#"{"step":"node.one/create"}"#.to_owned()];
    let mut tokens = Vec::new();
    let mut rounds = 0;
    let is_whole = all.open().stream(TakenReports::default(), false, &mut |answers| {
        tokens.extend(answers.iter().filter_map(|it| it.token.clone()));
        rounds += 1;
        if rounds == 2 {
            assert_eq!((answers[0].ok, answers[1].code), (true, Some("step-claimed")));
            lines = ["node.one/create", "node.two/create"].map(|it| done(it, &tokens[0])).into();
        }
        let lines = std::mem::take(&mut lines);
        Ok((rounds < 3).then(|| ReportLines { author: author.clone(), lines }))
    });
    assert!(!is_whole.unwrap(), "one line was refused");
    assert_eq!(tokens.len(), 1);
    assert_eq!(all.lines(0), ["node.one/configure", "node.two/configure"]);
}

/// A claim also holds where nobody has a plan.
#[test]
fn steps_of_workflows_are_claimed_too() {
    let all = Carrying::new();
    let begin = |record: &mut Unwritten<'_>| begin_workflow(record, "backup");
    all.open().log().change(&all.0.author(), None, None, |record, _| begin(record)).unwrap();
    let token = all.claim("ann", 0, "copy");
    assert_eq!(all.say("bob", 1, r#"{"step":"copy"}"#), Err(Code::StepClaimed));
    all.open().log().compact(&all.0.author()).unwrap();
    assert_eq!(all.say("bob", 1, r#"{"step":"copy"}"#), Err(Code::StepClaimed));
    let renew = format!(r#"{{"step":"copy","claim":"2m","token":"{token}"}}"#);
    assert_eq!(all.say("ann", 1, &renew), Ok(Reported::Claimed(token.as_str().into())));
    assert_eq!(all.log().matches("step-started").count(), 1);
    assert_eq!(all.say("ann", 2, &done("copy", &token)), Ok(Reported::Changed));
}

/// What somebody does in the law below.
#[derive(Clone, Debug)]
enum Act {
    Claim { step: Index, seconds: i64 },
    Renew { step: Index, token: Index, seconds: i64 },
    Begin { step: Index },
    End { step: Index, token: Option<Index>, outcome: Index },
    Wait { seconds: i64 },
    Resume,
}

fn act() -> impl Strategy<Value = Act> {
    let (index, seconds) = (any::<Index>, || 1..40i64);
    prop_oneof![
        4 => (index(), seconds()).prop_map(|(step, seconds)| Act::Claim { step, seconds }),
        1 => (index(), index(), seconds())
            .prop_map(|(step, token, seconds)| Act::Renew { step, token, seconds }),
        1 => index().prop_map(|step| Act::Begin { step }),
        6 => (index(), prop::option::weighted(0.8, index()), index())
            .prop_map(|(step, token, outcome)| Act::End { step, token, outcome }),
        3 => seconds().prop_map(|seconds| Act::Wait { seconds }),
        1 => Just(Act::Resume),
    ]
}

const STEPS: [&str; 6] = [
    "node.one/up",
    "node.one/create",
    "node.one/configure",
    "node.two/up",
    "node.two/create",
    "node.two/configure",
];

/// A reading of the page: which claims hold.
#[derive(Default)]
struct Claims {
    /// For each claimed step the token and the end of the lease.
    held: BTreeMap<&'static str, (String, i64)>,
    /// All tokens that were ever answered.
    tokens: Vec<String>,
    now: i64,
}

impl Claims {
    fn overlap(one: &str, other: &str) -> bool {
        let part = |step: &str| step.rsplit_once('/').unwrap().0.to_owned();
        one == other || part(one) == part(other) && (one.ends_with("/up") || other.ends_with("/up"))
    }

    /// Whether claims let somebody with this token report a step.
    fn let_in(&self, step: &str, token: Option<&str>) -> bool {
        let overlapping = self.held.iter().filter(|(held, _)| Self::overlap(held, step));
        let (mut is_free, mut fits) = (true, token.is_none());
        for (_, (held, until)) in overlapping {
            let is_own = Some(&**held) == token;
            is_free &= is_own || *until <= self.now;
            fits |= is_own;
        }
        is_free && fits
    }

    /// Somebody was let in: claims of others that were in the way are void.
    fn pass(&mut self, step: &str, token: Option<&str>) {
        self.held.retain(|held, (own, _)| !Self::overlap(held, step) || Some(&**own) == token);
    }
}

fn status_of(all: &Carrying, step: &str) -> Option<StepStatus> {
    let shop = all.open();
    shop.model().orchestration.as_ref().and_then(|open| open.steps.get(step).copied())
}

/// Plays one act, and holds its outcome against the page.
fn play(all: &Carrying, claims: &mut Claims, act: &Act) {
    let pick = |step: &Index| STEPS[step.index(STEPS.len())];
    let token_of = |claims: &Claims, token: &Index| match claims.tokens.is_empty() {
        true => "none".to_owned(),
        false => claims.tokens[token.index(claims.tokens.len())].clone(),
    };
    let (step, token, text) = match act {
        Act::Wait { seconds } => return claims.now += seconds,
        Act::Resume => {
            claims.held.clear();
            return all.resume(claims.now);
        }
        Act::Claim { step, seconds } => {
            let step = pick(step);
            (step, None, format!(r#"{{"step":"{step}","claim":"{seconds}s"}}"#))
        }
        Act::Renew { step, token, seconds } => {
            let (step, token) = (pick(step), token_of(claims, token));
            let text = format!(r#"{{"step":"{step}","claim":"{seconds}s","token":"{token}"}}"#);
            (step, Some(token), text)
        }
        Act::Begin { step } => (pick(step), None, format!(r#"{{"step":"{}"}}"#, pick(step))),
        Act::End { step, token, outcome } => {
            let (step, outcome) = (pick(step), ["done", "failed", "interrupted"][outcome.index(3)]);
            let token = token.as_ref().map(|token| token_of(claims, token));
            let said = token.as_ref().map_or_else(String::new, |it| format!(r#","token":"{it}""#));
            (step, token, format!(r#"{{"step":"{step}","outcome":"{outcome}"{said}}}"#))
        }
    };
    let before = (all.log(), status_of(all, step));
    let is_claim = matches!(act, Act::Claim { .. } | Act::Renew { .. });
    let let_in = claims.let_in(step, token.as_deref());
    let said = all.say("ann", claims.now, &text);
    let is_unclaimed = !claims.held.contains_key(step) && before.1 == Some(StepStatus::Running);
    match &said {
        Err(code) => {
            assert_eq!(all.log(), before.0, "what is refused writes nothing: {text}");
            let may_be = !let_in || is_claim && is_unclaimed;
            assert!(*code != Code::StepClaimed || may_be, "{text} at {}", claims.now);
        }
        // What is known already may be repeated.
        Ok(Reported::Unchanged) => {}
        Ok(said) => {
            assert!(let_in && !(is_claim && is_unclaimed), "{text} at {}", claims.now);
            claims.pass(step, token.as_deref());
            if let (
                Act::Claim { seconds, .. } | Act::Renew { seconds, .. },
                Reported::Claimed(it),
            ) = (act, said)
            {
                claims.tokens.push(it.to_string());
                claims.held.insert(step, (it.to_string(), claims.now + seconds));
            }
            if let Act::End { .. } = act {
                claims.held.retain(|held, _| {
                    *held != step && (!step.ends_with("/up") || !Claims::overlap(held, step))
                });
            }
        }
    }
    // A part that ends because its last step does takes its claim along.
    claims.held.retain(|held, _| status_of(all, held) == Some(StepStatus::Running));
}

proptest! {
    #![proptest_config(cases(24))]

    /// Whatever several people do in whatever order: who is let in is what the page says, nothing
    /// that is claimed is ready, and what the log says is what the model is.
    #[test]
    fn claims_keep_others_out(acts in prop::collection::vec(act(), 1..25)) {
        let all = Carrying::begin();
        let mut claims = Claims::default();
        for act in &acts {
            if all.open().model().orchestration.is_none() {
                break;
            }
            play(&all, &mut claims, act);
            if all.open().model().orchestration.is_none() {
                break;
            }
            let now = claims.now;
            let ready = all.ready(now).ready;
            let live = claims.held.iter().filter(|(_, (_, until))| *until > now);
            for (held, _) in live {
                prop_assert!(!ready.iter().any(|it| Claims::overlap(held, &it.step)), "{held}");
            }
            for (held, _) in claims.held.iter().filter(|(_, (_, until))| *until <= now) {
                let of = ready.iter().find(|it| Claims::overlap(held, &it.step));
                let of = of.map(|it| it.status);
                prop_assert!(of.is_none_or(|it| it == Some(StepStatus::Interrupted)), "{held} {of:?}");
            }
        }
    }
}

#[test]
fn events_of_claims_are_read_back() {
    let claimed = Event::StepClaimed {
        step: "node.one/up".into(),
        token: "ab".into(),
        until: "1970-01-01T00:01:00Z".into(),
    };
    let text = serde_json::to_string(&claimed).unwrap();
    assert!(text.starts_with(r#"{"kind":"step-claimed""#), "{text}");
    assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), claimed);
}
