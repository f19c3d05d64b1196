//! Works with stored instances: plans for them, carries out plans, records reports, and answers
//! questions. A stored instance keeps its targets.

use super::Resolver;
#[cfg(feature = "cli")]
use super::instances::operation_of_instance;
use super::instances::{
    InstancePlanQuery, remove_instance, repair_instance, secret_places, template_of,
};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
#[cfg(feature = "cli")]
use crate::orchestrate::instance::Unwritten;
use crate::orchestrate::instance::{
    Acknowledgement, AppliedPlan, BegunPlan, ClaimedStep, DeclaredTypes, DerivesFrom, DrawToken,
    EventLog, FormOfValue, InstanceLog, InstanceModel, InstanceReport, InstanceTarget, KeptSecrets,
    LockHolder, ModelEdit, ModelReading, NextReports, Orchestration, ReadyStep, RecordAuthor,
    RecordOrigin, RecordedChange, ReportRules, ReportStream, Reported, SecretPlaces, SecretSeal,
    SecretsMode, Store, TakenLines, TargetModels, TargetSources, TargetTypes, another_plan,
    begin_workflow, check_lineage, choice_of, computed_inputs, computed_outputs, none_open,
    random_name, with_secrets,
};
use crate::orchestrate::plan::{Plan, is_generated_workflow};
use crate::topology::sensitive::{is_digested, kept_secret, masked};
use crate::topology::{ActivityKind, Topology};
#[cfg(feature = "cli")]
use crate::tosca::Types;
use crate::tosca::digest::sha256;
use crate::tosca::function::function_in;
use crate::tosca::load::Extent;
use crate::tosca::{Family, TypeRef};
use cuvee_text::answer::{Answer, Failure};
#[cfg(feature = "cli")]
use cuvee_text::source::SourceMap;
use cuvee_text::value::Value;
use cuvee_text::yaml::Out;
use jiff::Timestamp;
use serde::Serialize;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// An instance in a store, with the targets that are kept of it.
pub struct StoredInstance<'s> {
    name: String,
    log: InstanceLog<'s>,
}

/// How lenient the recording of reports is.
#[derive(Clone, Copy, Debug, Default)]
pub struct TakenReports {
    /// Whether attributes that the type does not declare are kept as metadata.
    pub undeclared: bool,
    /// Whether reported states are accepted even if no operation leads to them, and outputs even if
    /// they do not fit.
    pub force: bool,
}

/// The author of changes to a log, and the time at which lines arrived.
#[derive(Clone, Debug)]
pub struct RecordAuthorNow {
    /// The holder of the lock.
    pub holder: LockHolder,
    /// How long to wait for others who hold the lock.
    pub timeout: Duration,
    /// The time of the change.
    pub time: Timestamp,
}

/// Gives the next lines to record; `None` if there are no more. Its argument says what became of
/// the lines before.
pub type NextLines<'n> =
    dyn FnMut(&[Acknowledgement]) -> Result<Option<ReportLines>, Diagnostic> + 'n;

/// Records reports about an instance while a plan is carried out.
pub trait RecordReports {
    /// Records reports, and those that `next` gives for what is ready after them. All of them become
    /// durable at once.
    ///
    /// # Errors
    /// As [`ReportStream::reports`].
    fn record(
        &mut self,
        author: &RecordAuthorNow,
        first: &[InstanceReport],
        next: &mut NextReports<'_>,
    ) -> Result<Vec<Acknowledgement>, Diagnostic>;

    /// The model with everything that was recorded.
    fn model(&self) -> &InstanceModel;
}

/// Records reports in the log of an instance.
struct ReportRecorder<'l, 's, 'r, 't, 'a, 'p> {
    log: &'l mut InstanceLog<'s>,
    stream: ReportStream<'r, 't, 'a, 'p>,
    /// Who has recorded something last.
    last: Option<RecordAuthorNow>,
}

impl RecordReports for ReportRecorder<'_, '_, '_, '_, '_, '_> {
    fn record(
        &mut self,
        author: &RecordAuthorNow,
        first: &[InstanceReport],
        next: &mut NextReports<'_>,
    ) -> Result<Vec<Acknowledgement>, Diagnostic> {
        let answers = self.stream.reports(self.log, &author.author(), first, next)?;
        self.last = Some(author.clone());
        Ok(answers)
    }

    fn model(&self) -> &InstanceModel {
        self.log.model()
    }
}

/// Lines that are recorded together.
#[derive(Clone, Debug)]
pub struct ReportLines {
    /// The author of the lines.
    pub author: RecordAuthorNow,
    /// The lines; each is a JSON object.
    pub lines: Vec<String>,
}

impl RecordAuthorNow {
    /// The author as records take it.
    pub fn author(&self) -> RecordAuthor<'_> {
        let Self { holder, timeout, time } = self;
        let origin = RecordOrigin::Orchestrator;
        RecordAuthor { holder, timeout: *timeout, time: *time, origin }
    }
}

impl<'s> StoredInstance<'s> {
    /// Opens the instance of this name.
    ///
    /// # Errors
    /// `unknown-instance`, `store-corrupt`, `store-version`, `file`
    pub fn open(store: &'s dyn Store, name: &str) -> Result<Self, Diagnostic> {
        Ok(Self { name: name.to_owned(), log: InstanceLog::open(store, name)? })
    }

    /// The present model of the instance.
    pub fn model(&self) -> &InstanceModel {
        self.log.model()
    }

    /// The log of the instance.
    pub fn log(&mut self) -> &mut InstanceLog<'s> {
        &mut self.log
    }

    /// Reads what was kept of a target.
    ///
    /// # Errors
    /// `store-corrupt`, `file`
    pub fn target(&self, digest: &str) -> Result<TargetSources, Diagnostic> {
        TargetSources::read(digest, &|digest| self.log.log().blob(digest))
    }

    /// As [`StoredInstance::target`], but with an empty model.
    pub(super) fn texts(&self, digest: &str) -> Result<TargetSources, Diagnostic> {
        TargetSources::read_texts(digest, &|digest| self.log.log().blob(digest))
    }

    /// How the instance keeps secrets.
    ///
    /// # Errors
    /// `file`, if its key cannot be read.
    pub fn secrets(&self) -> Result<KeptSecrets, Diagnostic> {
        self.log.secrets()
    }

    /// The document of the plan that is carried out.
    ///
    /// # Errors
    /// `no-orchestration` if there is none; `store-corrupt`, `file`
    pub fn plan_document(&self) -> Result<String, Diagnostic> {
        let open = self.model().orchestration.as_ref();
        let Some(digest) = open.and_then(|open| open.plan.as_ref()) else {
            return Err(no_plan(self.model()));
        };
        Ok(String::from_utf8_lossy(&self.log.log().blob(digest)?).into_owned())
    }

    /// Calls `ask` with the types of a target that was kept.
    ///
    /// # Errors
    /// The target cannot be read.
    #[cfg(feature = "cli")]
    pub(crate) fn with_types_of<T>(
        &self,
        digest: &str,
        ask: impl FnOnce(&Types<'_>, &SourceMap, FormOfValue<'_>) -> T,
    ) -> Result<T, Failure> {
        let target = TargetTypes::read(digest, &|digest| self.log.log().blob(digest))?;
        let topology = || topology_of(&self.texts(digest).ok()?);
        target.with_types(|types, sources| {
            let declared = DeclaredTypes::new(types).with_target(&topology);
            Ok::<_, Diagnostic>(ask(types, sources, &|of, path| declared.form(of, path)))
        })
    }

    /// The types of the present target of the instance.
    fn types(&self) -> Result<TargetTypes, Diagnostic> {
        TargetTypes::read(&self.model().target.digest, &|digest| self.log.log().blob(digest))
    }

    /// A plain template of exactly the state of `model`, which is the present or an earlier model
    /// of this instance. Secrets that the instance keeps are only shown with `reveal`.
    ///
    /// # Errors
    /// As [`StoredInstance::target`].
    pub fn template(&self, model: &InstanceModel, reveal: bool) -> Result<String, Failure> {
        template_of(model, &|digest| self.texts(digest), reveal)
    }

    /// Adds to a resolver the values that the instance has for topology inputs. A value counts if
    /// the resolver's template declares the input and nobody gives another value. Secrets of which
    /// the instance knows a digest only, or nothing, are left out: the caller has to give them.
    #[must_use]
    pub fn with_inputs(&self, resolver: Resolver) -> Resolver {
        let model = self.model();
        let value = |value: &Value| match with_secrets(value) {
            Some(plain) if model.secrets == SecretsMode::Keep => Some(plain),
            // The digest of a secret stands for it: it counts as unchanged.
            _ => (masked(value).is_none() || is_digested(value)).then(|| value.clone()),
        };
        // Nobody gave what a default computes: it may be something else with other inputs.
        let is_computed = |kept: &Value| function_in(kept).is_some() && kept_secret(kept).is_none();
        let given = model.inputs.iter().filter(|(_, kept)| !is_computed(kept));
        let known = given.filter_map(|(name, kept)| Some((name, value(kept)?)));
        known.fold(resolver, |resolver, (name, value)| resolver.known_deployment_input(name, value))
    }

    /// Adds to a resolver the presets and variability inputs that the instance's target was chosen
    /// by.
    #[must_use]
    pub fn with_choice(&self, resolver: Resolver) -> Resolver {
        let choice = &self.model().target.choice;
        let mut resolver = resolver;
        if let Some(Value::List(presets)) = choice.get("presets") {
            let names = presets.iter().filter_map(Value::as_str);
            resolver = names.fold(resolver, |resolver, name| resolver.preset(name));
        }
        if let Some(Value::Map(inputs)) = choice.get("inputs") {
            let known = inputs.iter().filter(|(_, value)| kept_secret(value).is_none());
            resolver = known
                .fold(resolver, |resolver, (name, value)| resolver.input(&**name, value.clone()));
        }
        resolver
    }

    /// Plans what turns the instance into its own target.
    ///
    /// # Errors
    /// As [`repair_instance`].
    pub fn plan_repair(&self, query: &InstancePlanQuery) -> Result<Answer<Plan>, Failure> {
        let answer = repair_instance(self.model(), &|digest| self.target(digest), query)?;
        self.with_digests(answer)
    }

    /// Plans the removal of the whole instance.
    ///
    /// # Errors
    /// As [`remove_instance`].
    pub fn plan_removal(&self, query: &InstancePlanQuery) -> Result<Answer<Plan>, Failure> {
        let answer = remove_instance(self.model(), &|digest| self.texts(digest), query)?;
        self.with_digests(answer)
    }

    /// Plans a call of an operation, of any interface, for each of these nodes that implements it.
    ///
    /// # Errors
    /// As [`StoredInstance::plan_repair`].
    #[cfg(feature = "cli")]
    pub fn plan_operation(
        &self,
        query: &InstancePlanQuery,
        operation: &str,
        is_meant: &dyn Fn(&str) -> bool,
    ) -> Result<Answer<Plan>, Failure> {
        let targets = |digest: &str| self.texts(digest);
        let answer = operation_of_instance(self.model(), &targets, query, operation, is_meant)?;
        self.with_digests(answer)
    }

    /// A plan with digests in place of secrets that the instance keeps as they are, so that its
    /// document shows none and a run finds them.
    fn with_digests(&self, mut answer: Answer<Plan>) -> Result<Answer<Plan>, Failure> {
        let secrets = self.log.secrets()?;
        for input in answer.result.calls.iter_mut().flat_map(|call| &mut call.inputs) {
            for value in [Some(&mut input.value), input.function.as_mut()].into_iter().flatten() {
                if let Some(digested) = secrets.digested(value) {
                    *value = digested;
                }
            }
        }
        Ok(answer)
    }

    /// Begins to carry out a plan. Returns the steps that can be done now.
    ///
    /// # Errors
    /// `orchestration-open`, `stale-plan`, `invalid-plan`, and those of writing.
    pub fn apply(
        &mut self,
        document: &str,
        author: &RecordAuthor<'_>,
        expect: Option<u64>,
        assume_done: bool,
    ) -> Result<RecordedChange<Vec<ReadyStep>>, Diagnostic> {
        let plan = AppliedPlan::read(document)?;
        // What another instance keeps is not here.
        check_lineage(self.model(), &plan)?;
        let carried = self.carried(plan, sha256(document.as_bytes()).into())?;
        self.log.change(author, expect, None, |record, writer| {
            let (plan, kept, target) = (&carried.plan, &carried.kept, carried.target.as_ref());
            let mut begun = Orchestration::begin(record, plan, kept, target, carried.models())?;
            if assume_done {
                begun.assume_done(record)?;
            }
            // The document of a plan that is refused is not kept.
            writer.put_blob(document.as_bytes())?;
            Ok(begun.ready(record.model(), author.time))
        })
    }

    /// Continues the plan that was begun. Returns the steps that can be done now; steps that were
    /// running are marked as interrupted.
    ///
    /// # Errors
    /// `no-orchestration`, and those of writing.
    pub fn resume(
        &mut self,
        author: &RecordAuthor<'_>,
        expect: Option<u64>,
        assume_done: bool,
    ) -> Result<RecordedChange<Vec<ReadyStep>>, Diagnostic> {
        let carried = self.open_plan()?.ok_or_else(|| no_plan(self.model()))?;
        let is_outdated = Cell::new(false);
        let resumed = self.log.change(author, expect, None, |record, _| {
            let model = record.model();
            is_outdated.set(!carried.begun().is_open_in(model));
            if is_outdated.get() {
                return Err(another_plan());
            }
            let mut going = Orchestration::resume(model, &carried.plan, carried.models())?;
            Orchestration::interrupt(record)?;
            going.recount(record.model());
            if assume_done {
                going.assume_done(record)?;
            }
            Ok(going.ready(record.model(), author.time))
        });
        match is_outdated.get() {
            true => self.resume(author, expect, assume_done),
            false => resumed,
        }
    }

    /// Tells which steps of the plan that is carried out can be done at a time. Writes nothing.
    ///
    /// # Errors
    /// `no-orchestration`, `store-corrupt`, `file`
    pub fn ready(&self, now: Timestamp) -> Result<ReadySteps, Diagnostic> {
        let (_, plan) = self.kept_plan()?.ok_or_else(|| no_plan(self.model()))?;
        let model = self.model();
        // Which steps are ready does not depend on what the targets define.
        let models = TargetModels { to: &InstanceModel::default(), from: None };
        let ready = Orchestration::resume(model, &plan, models)?.ready(model, now);
        Ok(ReadySteps { revision: model.revision, ready, claimed: model.claimed_steps(now) })
    }

    /// Records a report.
    ///
    /// # Errors
    /// As [`InstanceReport::add_to`], and those of writing.
    pub fn record(
        &mut self,
        report: &InstanceReport,
        author: &RecordAuthor<'_>,
        taking: TakenReports,
    ) -> Result<RecordedChange<Reported>, Failure> {
        loop {
            let refused = Cell::default();
            let recorded = self.recorded(report, author, taking, &refused);
            // After an attempt, the log is read up to its end, so the next attempt knows the
            // present plan.
            if refused.get() != Some(ReportRefusal::AnotherPlan) {
                return recorded;
            }
        }
    }

    /// Opens an instance and records a report. If that suffices, only the part of the instance that
    /// the report is about is read.
    ///
    /// # Errors
    /// As [`StoredInstance::open`] and [`StoredInstance::record`].
    pub fn record_one(
        store: &'s dyn Store,
        name: &str,
        report: &InstanceReport,
        author: &RecordAuthor<'_>,
        taking: TakenReports,
    ) -> Result<RecordedChange<Reported>, Failure> {
        let (nodes, keys) = (report.nodes(), report.keys());
        let log = InstanceLog::open_nodes(store, name, nodes, keys)?;
        let mut part = Self { name: name.to_owned(), log };
        if part.log.is_whole() {
            return part.record(report, author, taking);
        }
        // If a plan is carried out, the report may affect any part of the instance.
        if !(report.is_claiming() || report.moves() && has_plan(part.model())) {
            let refused = Cell::default();
            let recorded = part.recorded(report, author, taking, &refused);
            if recorded.is_ok() || refused.get().is_none() {
                return recorded;
            }
        }
        // The reason for a refusal may depend on parts that were not read: try again with all of
        // them.
        Self::open(store, name)?.record(report, author, taking)
    }

    /// The model as it would be after reports, of which none is recorded, and for each report why
    /// it is refused, if it is.
    ///
    /// # Errors
    /// Those of reading.
    #[cfg(feature = "cli")]
    pub(crate) fn supposing(
        &mut self,
        reports: &[InstanceReport],
        author: &RecordAuthor<'_>,
        taking: TakenReports,
    ) -> Result<(InstanceModel, Vec<Option<Diagnostic>>), Failure> {
        let needs = ReportNeeds { types: true, target: true, plan: false };
        self.judging(taking, needs, |log, rules, _| {
            let mut model = log.model().clone();
            let (time, actor) = (author.time.to_string(), author.holder.actor.as_str());
            let refused = reports.iter().map(|report| {
                let mut record = Unwritten::new(&mut model, &*time, actor, author.origin);
                let refused = report.add_to(&mut record, rules, None).err();
                if refused.is_some() {
                    record.take_back();
                }
                refused
            });
            let refused = refused.collect();
            Ok((model, refused))
        })
    }

    fn recorded(
        &mut self,
        report: &InstanceReport,
        author: &RecordAuthor<'_>,
        taking: TakenReports,
        refused: &Cell<Option<ReportRefusal>>,
    ) -> Result<RecordedChange<Reported>, Failure> {
        let has_outputs = report.has_outputs() && self.model().target.is_kept();
        let needs = ReportNeeds {
            types: report_needs_types(report) || has_outputs,
            target: report.has_event() || has_outputs,
            plan: self.log.is_whole(),
        };
        self.judging(taking, needs, |log, rules, carried| {
            log.change(author, None, report.key.as_deref(), |record, _| {
                let model = record.model();
                let is_known = carried.is_some_and(|carried| carried.begun().is_open_in(model));
                if report.moves() && has_plan(model) && !is_known {
                    refused.set(Some(ReportRefusal::AnotherPlan));
                    return Err(another_plan());
                }
                let mut going = carried
                    .filter(|_| is_known)
                    .map(|it| Orchestration::resume(model, &it.plan, it.models()))
                    .transpose()?;
                let reported = report.add_to(record, rules, going.as_mut());
                refused.set(reported.is_err().then_some(ReportRefusal::Report));
                reported
            })
        })
    }

    /// Records a stream of reports: `next` gives lines to record together, and learns what became
    /// of the lines before. Returns whether all lines were recorded.
    ///
    /// # Errors
    /// Those of writing.
    pub fn stream(
        &mut self,
        taking: TakenReports,
        is_fail_fast: bool,
        next: &mut NextLines<'_>,
    ) -> Result<bool, Failure> {
        let needs = ReportNeeds { types: true, target: true, plan: true };
        let (mut taken, mut waiting) = (TakenLines::default(), None);
        // One round for each plan that somebody begins meanwhile.
        loop {
            (taken, waiting) = self.judging(taking, needs, |log, rules, carried| {
                let mut stream = ReportStream::new(*rules, carried.map(CarriedPlan::begun));
                stream = stream.behind(taken);
                if is_fail_fast {
                    stream = stream.fail_fast();
                }
                let waiting = streamed(&mut stream, log, waiting, next)?;
                Ok((stream.taken(), waiting))
            })?;
            if waiting.is_none() {
                return Ok(!taken.has_failed);
            }
        }
    }

    /// Calls `act` with what records reports as they come, while one plan is carried out.
    ///
    /// # Errors
    /// Those of `act`, and those of reading the plan.
    pub fn carry_out<T>(
        &mut self,
        taking: TakenReports,
        act: impl FnOnce(&mut dyn RecordReports) -> Result<T, Diagnostic>,
    ) -> Result<T, Failure> {
        let needs = ReportNeeds { types: true, target: true, plan: true };
        self.judging(taking, needs, |log, rules, carried| {
            let stream = ReportStream::new(*rules, carried.map(CarriedPlan::begun));
            let mut recorder = ReportRecorder { log, stream, last: None };
            let done = act(&mut recorder);
            let ReportRecorder { log, last, .. } = recorder;
            // Without a snapshot, the next reader only takes longer.
            let _ = last.map(|author| log.settle(&author.author()));
            done
        })
    }

    /// Changes the model by hand, past the orchestrator.
    ///
    /// # Errors
    /// As [`ModelEdit::add_to`], and those of writing.
    pub fn edit(
        &mut self,
        edit: &ModelEdit,
        author: &RecordAuthor<'_>,
        expect: Option<u64>,
        force: bool,
    ) -> Result<RecordedChange<Reported>, Failure> {
        let seal = self.seal()?;
        // Values of inputs and outputs are checked against the topology.
        let target = matches!(edit, ModelEdit::Set { .. });
        let needs = ReportNeeds { types: true, target, plan: false };
        self.declared(needs, |log, types| {
            let secrets = Some(&seal);
            let rules = ReportRules { types, secrets, force, ..ReportRules::default() };
            log.change(author, expect, None, |record, _| edit.add_to(record, &rules))
        })
    }

    /// Calls `act` with the log, and if needed with the types that values are checked against.
    fn declared<T>(
        &mut self,
        needs: ReportNeeds,
        act: impl FnOnce(&mut InstanceLog<'s>, Option<&DeclaredTypes<'_, '_>>) -> Result<T, Diagnostic>,
    ) -> Result<T, Failure> {
        if !needs.types {
            return act(&mut self.log, None).map_err(Failure::from);
        }
        let target = self.types()?;
        let sources = needs.target.then(|| self.texts(&self.model().target.digest)).transpose()?;
        let topology = || topology_of(sources.as_ref()?);
        let log = &mut self.log;
        target.with_types(|types, _| {
            act(log, Some(&DeclaredTypes::new(types).with_target(&topology)))
        })
    }

    /// Calls `take` with the rules that reports are checked by, and with the plan that is carried
    /// out.
    fn judging<T>(
        &mut self,
        TakenReports { undeclared, force }: TakenReports,
        needs: ReportNeeds,
        take: impl FnOnce(
            &mut InstanceLog<'s>,
            &ReportRules<'_, '_, '_>,
            Option<&CarriedPlan>,
        ) -> Result<T, Diagnostic>,
    ) -> Result<T, Failure> {
        let carried = if needs.plan { self.open_plan()? } else { None };
        let seal = self.seal()?;
        let store = self.log.store();
        let draw = || random_name(store);
        let running = if needs.plan { self.running_workflow()? } else { None };
        let of_workflow = |name: &str| {
            let (workflow, sources) = running.as_ref()?;
            Some(sets_state(&topology_of(sources)?, workflow, name))
        };
        let sets = |name: &str| {
            carried.as_ref().is_some_and(|it| it.plan.sets_state(name))
                || of_workflow(name) == Some(true)
        };
        self.declared(needs, |log, types| {
            let (secrets, sets_state) = (Some(&seal), Some(&sets as _));
            let tokens = Some(&draw as &DrawToken<'_>);
            let rules = ReportRules { types, secrets, tokens, sets_state, undeclared, force };
            take(log, &rules, carried.as_ref())
        })
    }

    /// What tells which values of the instance are secret, and how they are kept.
    ///
    /// ```
    /// use cuvee::deploy::instance::{InstanceSettings, LockHolder, MemoryStore, InstanceValue, RecordAuthor, RecordOrigin, StoredInstance};
    /// use std::time::Duration;
    /// let store = MemoryStore::new(1);
    /// let holder = LockHolder { actor: "ann".to_owned(), process: 1 };
    /// let (timeout, time) = (Duration::from_secs(1), "2026-01-01T00:00:00Z".parse()?);
    /// let author = RecordAuthor { holder: &holder, timeout, time, origin: RecordOrigin::Client };
    /// let shop = cuvee::Resolver::new("examples/shop").preset("dev");
    /// shop.init_instance(&store, "shop", &InstanceSettings::default(), &author)?;
    /// let stored = StoredInstance::open(&store, "shop").map_err(cuvee::Failure::from)?;
    /// let seal = stored.seal()?;
    /// assert!(seal.is_secret(&InstanceValue::Input("database_password")));
    /// assert!(!seal.is_secret(&InstanceValue::Output("address")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `store-corrupt`, `file`, and where a kept target cannot be read.
    pub fn seal(&self) -> Result<SecretSeal, Failure> {
        let model = self.model();
        let own = model.nodes.values().filter_map(|node| node.target.as_ref());
        let open = model.orchestration.as_ref().and_then(|open| open.target.as_ref());
        let targets = open.into_iter().chain([&model.target]).map(|target| &target.digest);
        let digests: BTreeSet<_> = own.chain(targets).collect();
        let kept = digests.into_iter().filter(|digest| !digest.is_empty());
        let places = kept.map(|digest| self.places(digest)).collect::<Result<Vec<_>, _>>()?;
        Ok(SecretSeal::new(self.log.secrets()?, places))
    }

    /// Which values of a target are secret. Targets of earlier versions do not say so.
    fn places(&self, digest: &str) -> Result<Arc<SecretPlaces>, Failure> {
        let blob = |digest: &str| self.log.log().blob(digest);
        Ok(Arc::new(match TargetSources::read_secrets(digest, &blob)? {
            Some(places) => places,
            None => secret_places(&self.texts(digest)?, &self.model().sensitive)?,
        }))
    }

    /// Begins an orchestration that has no plan: one of a workflow of the template, or of one that is
    /// generated.
    ///
    /// # Errors
    /// `orchestration-open`, `unknown-element`, and those of writing.
    pub fn begin(
        &mut self,
        workflow: &str,
        author: &RecordAuthor<'_>,
        expect: Option<u64>,
    ) -> Result<RecordedChange<()>, Diagnostic> {
        let digest = &self.model().target.digest;
        // Nothing is known of the template of an imported instance.
        let topology = match digest.is_empty() || is_generated_workflow(workflow) {
            true => None,
            false => topology_of(&self.texts(digest)?),
        };
        if let Some(topology) = topology {
            let names = || topology.workflows.iter().map(|workflow| &*workflow.name);
            if !names().any(|name| name == workflow) {
                none_open(self.model())?;
                let message = format!("there is no workflow `{workflow}`");
                let help = did_you_mean(workflow, names().chain(["deploy", "undeploy"]));
                return Err(Diagnostic::error(Code::UnknownElement, message).help_opt(help));
            }
        }
        self.log.change(author, expect, None, |record, _| begin_workflow(record, workflow))
    }

    /// The workflow that runs without a plan, and what was kept of its template.
    fn running_workflow(&self) -> Result<Option<(Arc<str>, TargetSources)>, Diagnostic> {
        let model = self.model();
        let open = model.orchestration.as_ref().filter(|open| open.plan.is_none());
        let workflow = open.and_then(|open| open.workflow.as_ref());
        let workflow = workflow.filter(|_| model.target.is_kept());
        workflow.map(|name| Ok((Arc::clone(name), self.texts(&model.target.digest)?))).transpose()
    }

    /// Reads the plan that is carried out and what it leads to; `None` if there is none.
    fn open_plan(&self) -> Result<Option<CarriedPlan>, Diagnostic> {
        let kept = self.kept_plan()?;
        kept.map(|(digest, plan)| self.carried(plan, digest)).transpose()
    }

    /// Reads the plan that is carried out, and the digest under which it is kept.
    fn kept_plan(&self) -> Result<Option<(Arc<str>, AppliedPlan)>, Diagnostic> {
        let open = self.model().orchestration.as_ref();
        let Some(digest) = open.and_then(|open| open.plan.as_ref()) else { return Ok(None) };
        let document = self.log.log().blob(digest)?;
        let plan = AppliedPlan::read_kept(&String::from_utf8_lossy(&document))?;
        Ok(Some((Arc::clone(digest), plan)))
    }

    fn carried(&self, plan: AppliedPlan, kept: Arc<str>) -> Result<CarriedPlan, Diagnostic> {
        let model =
            |digest: &str| TargetSources::read_model(digest, &|digest| self.log.log().blob(digest));
        let to = match &plan.target {
            Some(target) => model(&target.digest)?,
            None => InstanceModel::default(),
        };
        let target = plan.target.as_ref().map(|target| {
            let presets: Vec<_> = target.presets.iter().map(ToString::to_string).collect();
            let inputs = target.inputs.iter();
            let inputs: Vec<_> = inputs.map(|(name, it)| (name.to_string(), it.clone())).collect();
            InstanceTarget {
                digest: Arc::clone(&target.digest),
                template: Arc::clone(&target.template),
                service_template: to.target.service_template,
                choice: choice_of(&presets, &inputs),
            }
        });
        let from = model(&self.model().target.digest).ok();
        Ok(CarriedPlan { kept, plan, target, to, from })
    }

    /// The name of the instance.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The steps of a plan that can be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ReadySteps {
    /// The last record.
    pub revision: u64,
    /// The steps that nobody has claimed, in the order of the plan.
    pub ready: Vec<ReadyStep>,
    /// The steps that are claimed with a lease that is not over.
    pub claimed: Vec<ClaimedStep>,
}

/// The error that no plan is carried out.
fn no_plan(model: &InstanceModel) -> Diagnostic {
    if let Err(open) = none_open(model) {
        return open;
    }
    Diagnostic::error(Code::NoOrchestration, "no plan is being applied")
        .help("begin one: `cuvee instance apply NAME PLAN`")
}

/// The topology of a target.
fn topology_of(sources: &TargetSources) -> Option<Topology> {
    let loaded = sources.resolver().loaded(Extent::Whole).ok()?;
    let document = loaded.whole(loaded.template()).ok()?;
    Some(Topology::read(&Out::Source(document.root()), &|_| false))
}

/// Whether a workflow, or one that it calls, sets a state.
fn sets_state(topology: &Topology, workflow: &str, state: &str) -> bool {
    let mut names = vec![workflow];
    let mut next = 0;
    while let Some(&name) = names.get(next) {
        next += 1;
        let workflows = topology.workflows.iter().filter(|workflow| workflow.name == name);
        let steps = workflows.flat_map(|workflow| &workflow.steps);
        for activity in steps.flat_map(|step| &step.activities) {
            let named = &*activity.name.value;
            match activity.kind {
                ActivityKind::SetState if named == state => return true,
                ActivityKind::Inline if !names.contains(&named) => names.push(named),
                _ => {}
            }
        }
    }
    false
}

/// Calls `ask` with what tells whether one type of the instance's target derives from another, and
/// what types make of values. The caller has read the model already.
///
/// # Errors
/// The target cannot be read.
pub fn with_derivation<T>(
    store: &dyn Store,
    name: &str,
    model: &InstanceModel,
    ask: impl FnOnce(DerivesFrom<'_>, FormOfValue<'_>) -> T,
) -> Result<T, Failure> {
    let log = EventLog::open(store, name)?;
    let (digest, blob) = (&model.target.digest, |digest: &str| log.blob(digest));
    let topology = || topology_of(&TargetSources::read_texts(digest, &blob).ok()?);
    TargetTypes::read(digest, &blob)?.with_types(|types, _| {
        let declared = DeclaredTypes::new(types).with_target(&topology);
        let derives = |family, one: &str, other: &str| {
            let both = types.find_told(family, one).zip(types.find_told(family, other));
            both.is_some_and(|(one, other)| {
                types.derives(TypeRef::Defined(one), TypeRef::Defined(other))
            })
        };
        let derives = |one: &str, other: &str| {
            one == other || Family::ALL.into_iter().any(|family| derives(family, one, other))
        };
        Ok::<_, Diagnostic>(ask(&derives, &|of, path| declared.form(of, path)))
    })
}

/// Adds to the model of an instance the outputs that functions give, as far as their values are
/// known. Outputs that somebody reported stay as they are. Nothing is added if the instance does not
/// keep its target.
pub fn add_outputs(
    store: &dyn Store,
    name: &str,
    model: &mut InstanceModel,
    reading: &ModelReading<'_>,
) {
    let read = || {
        let log = EventLog::open(store, name)?;
        TargetSources::read_outputs(&model.target.digest, &|digest| log.blob(digest))
    };
    let mut outputs: BTreeMap<_, _> = read().unwrap_or_default();
    outputs.retain(|name, _| !model.outputs.contains_key(&**name));
    if outputs.is_empty() && model.inputs.values().all(|value| function_in(value).is_none()) {
        return;
    }
    let computed = with_derivation(store, name, model, |derives, forms| {
        let reading = ModelReading { derives, forms: Some(forms), ..*reading };
        (computed_inputs(model, &reading), computed_outputs(model, &outputs, &reading))
    });
    let (inputs, outputs) = computed.unwrap_or_default();
    model.inputs.extend(inputs);
    model.outputs.extend(outputs);
}

/// Passes lines to a stream, first those in `waiting`, until there are no more. Returns the lines
/// that the stream cannot take, because another plan has begun.
fn streamed(
    stream: &mut ReportStream<'_, '_, '_, '_>,
    log: &mut InstanceLog<'_>,
    waiting: Option<ReportLines>,
    next: &mut NextLines<'_>,
) -> Result<Option<ReportLines>, Diagnostic> {
    let mut lines = match waiting {
        None => next(&[])?,
        waiting => waiting,
    };
    let mut last = None;
    while let Some(group) = lines {
        let answers = match stream.group(log, &group.author.author(), &group.lines) {
            Err(_) if stream.is_outdated() => return Ok(Some(group)),
            answers => answers?,
        };
        last = Some(group.author);
        lines = next(&answers)?;
        if stream.is_over() {
            break;
        }
    }
    // Without a snapshot, the next reader only takes longer, so an error here does not matter.
    let _ = last.map(|author| log.settle(&author.author()));
    Ok(None)
}

/// Why a report was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReportRefusal {
    /// The content of the report.
    Report,
    /// A plan has begun that did not exist when the instance was opened.
    AnotherPlan,
}

/// A plan, with the models of the targets that it leads from and to.
struct CarriedPlan {
    /// The digest under which its document is kept.
    kept: Arc<str>,
    plan: AppliedPlan,
    target: Option<InstanceTarget>,
    to: InstanceModel,
    from: Option<InstanceModel>,
}

impl CarriedPlan {
    fn begun(&self) -> BegunPlan<'_> {
        BegunPlan { kept: &self.kept, plan: &self.plan, models: self.models() }
    }

    fn models(&self) -> TargetModels<'_> {
        TargetModels { to: &self.to, from: self.from.as_ref() }
    }
}

/// Whether a plan is being carried out.
fn has_plan(model: &InstanceModel) -> bool {
    model.orchestration.as_ref().is_some_and(|open| open.plan.is_some())
}

/// The data that checking reports needs, beside the model of the instance.
#[derive(Clone, Copy)]
struct ReportNeeds {
    types: bool,
    /// Whether to read the target, which tells of events.
    target: bool,
    /// Whether to read the plan that is carried out.
    plan: bool,
}

/// Whether a report has values that are checked against types.
fn report_needs_types(report: &InstanceReport) -> bool {
    report.has_attributes() || report.event.is_some() || report.batch.iter().any(report_needs_types)
}

/// Plans what turns an instance into a variant, and keeps what carrying out the plan needs. If that
/// cannot be kept, as in a read-only store, the plan can be read, but not carried out: the error
/// beside it, `file` or `store-locked`, says so.
///
/// # Errors
/// As [`Resolver::adapt_instance`].
pub fn plan_instance(
    instance: &mut StoredInstance<'_>,
    resolver: &Resolver,
    query: &InstancePlanQuery,
    author: &RecordAuthor<'_>,
) -> Result<(Answer<Plan>, Option<Diagnostic>), Failure> {
    let mut secrets = instance.log.secrets()?;
    let targets = |digest: &str| instance.texts(digest);
    let answer = resolver.adapted(instance.model(), &targets, &mut secrets, query)?;
    let Answer { result: (plan, _, blobs), warnings, sources } = answer;
    let unkept = instance.log.keep_blobs(author, &blobs).err();
    Ok((instance.with_digests(Answer { result: plan, warnings, sources })?, unkept))
}
