//! Instances with the targets that are kept with them: planned for, changed by plans, and asked.

use super::Resolver;
use super::instances::{InstancePlanQuery, remove_instance, repair_instance, template_of};
use crate::orchestrate::instance::{
    Acknowledgement, AppliedPlan, BegunPlan, DeclaredTypes, DerivesFrom, EventLog, InstanceLog,
    InstanceModel, InstanceReport, InstanceTarget, LockHolder, ModelEdit, Orchestration, ReadyStep,
    RecordAuthor, RecordOrigin, RecordedChange, ReportRules, ReportStream, Reported, SealValue,
    Store, TakenLines, TargetModels, TargetSources, TargetTypes, another_plan, choice_of,
};
use crate::orchestrate::plan::Plan;
use crate::text::answer::{Answer, Failure};
use crate::text::diagnostic::{Code, Diagnostic};
use crate::text::digest::sha256;
use crate::text::value::Value;
use crate::topology::sensitive::kept_secret;
use crate::tosca::{Family, TypeRef};
use jiff::Timestamp;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

/// An instance with what is kept of its targets.
pub struct StoredInstance<'s> {
    name: String,
    log: InstanceLog<'s>,
}

/// How reports are taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct TakenReports {
    /// Whether attributes that the type does not have are kept as metadata.
    pub undeclared: bool,
    /// Whether states are taken as they are said, whatever leads to them.
    pub force: bool,
}

/// Who adds to a log when lines have come.
#[derive(Clone, Debug)]
pub struct RecordAuthorNow {
    /// Who.
    pub holder: LockHolder,
    /// How long it waits for others.
    pub timeout: Duration,
    /// When it is.
    pub time: Timestamp,
}

/// Gives the lines that are taken next, and sees what became of those before; nothing where there are
/// no more.
pub type NextLines<'n> =
    dyn FnMut(&[Acknowledgement]) -> Result<Option<ReportLines>, Diagnostic> + 'n;

/// Lines that are taken together.
#[derive(Clone, Debug)]
pub struct ReportLines {
    /// Who says so.
    pub author: RecordAuthorNow,
    /// Each an object of JSON.
    pub lines: Vec<String>,
}

impl RecordAuthorNow {
    fn author(&self) -> RecordAuthor<'_> {
        let Self { holder, timeout, time } = self;
        let origin = RecordOrigin::Orchestrator;
        RecordAuthor { holder, timeout: *timeout, time: *time, origin }
    }
}

impl<'s> StoredInstance<'s> {
    /// The instance of this name.
    ///
    /// # Errors
    /// `unknown-instance`, `store-corrupt`, `store-version`, `file`
    pub fn open(store: &'s dyn Store, name: &str) -> Result<Self, Diagnostic> {
        Ok(Self { name: name.to_owned(), log: InstanceLog::open(store, name)? })
    }

    /// What it is.
    pub fn model(&self) -> &InstanceModel {
        self.log.model()
    }

    /// Its log.
    pub fn log(&mut self) -> &mut InstanceLog<'s> {
        &mut self.log
    }

    /// What is kept of a target.
    ///
    /// # Errors
    /// `store-corrupt`, `file`
    pub fn target(&self, digest: &str) -> Result<TargetSources, Diagnostic> {
        TargetSources::read(digest, &|digest| self.log.log().blob(digest))
    }

    /// The types of what it is meant to be.
    fn types(&self) -> Result<TargetTypes, Diagnostic> {
        TargetTypes::read(&self.model().target.digest, &|digest| self.log.log().blob(digest))
    }

    /// A plain template of exactly what a model of it says, be that its present one or an earlier one.
    ///
    /// # Errors
    /// As [`StoredInstance::target`].
    pub fn template(&self, model: &InstanceModel) -> Result<String, Failure> {
        template_of(model, &|digest| self.target(digest))
    }

    /// A resolver with the values that topology inputs have here, as far as its template declares them
    /// and nobody gives others; what is secret is known as a digest only, and has to be given.
    #[must_use]
    pub fn with_inputs(&self, resolver: Resolver) -> Resolver {
        let known = self.model().inputs.iter().filter(|(_, value)| kept_secret(value).is_none());
        known.fold(resolver, |resolver, (name, value)| {
            resolver.known_deployment_input(name, value.clone())
        })
    }

    /// Plans what turns it into what it is meant to be already.
    ///
    /// # Errors
    /// As [`repair_instance`].
    pub fn plan_repair(&self, query: &InstancePlanQuery) -> Result<Answer<Plan>, Failure> {
        repair_instance(self.model(), &|digest| self.target(digest), query)
    }

    /// Plans how all of it goes.
    ///
    /// # Errors
    /// As [`remove_instance`].
    pub fn plan_removal(&self, query: &InstancePlanQuery) -> Result<Answer<Plan>, Failure> {
        remove_instance(self.model(), &|digest| self.target(digest), query)
    }

    /// Begins to carry out a plan: gives what can be done.
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
        let carried = self.carried(plan, sha256(document.as_bytes()).into())?;
        self.log.change(author, expect, None, |record, writer| {
            let kept = writer.put_blob(document.as_bytes())?;
            let (plan, target) = (&carried.plan, carried.target.as_ref());
            let mut begun = Orchestration::begin(record, plan, &kept, target, carried.models())?;
            if assume_done {
                begun.assume_done(record)?;
            }
            Ok(begun.ready(record.model()))
        })
    }

    /// Goes on with the plan that was begun: gives what can be done; what was running is marked as
    /// interrupted.
    ///
    /// # Errors
    /// `no-orchestration`, and those of writing.
    pub fn resume(
        &mut self,
        author: &RecordAuthor<'_>,
        expect: Option<u64>,
        assume_done: bool,
    ) -> Result<RecordedChange<Vec<ReadyStep>>, Diagnostic> {
        let Some(carried) = self.open_plan()? else {
            let error = Diagnostic::error(Code::NoOrchestration, "no plan is carried out");
            return Err(error.help("begin one: `cuvee instance apply NAME PLAN`"));
        };
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
            Ok(going.ready(record.model()))
        });
        match is_outdated.get() {
            true => self.resume(author, expect, assume_done),
            false => resumed,
        }
    }

    /// Records what somebody reports.
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
            // Who holds the lock has read on, and knows which plan is carried out now.
            if refused.get() != Some(ReportRefusal::AnotherPlan) {
                return recorded;
            }
        }
    }

    /// Opens an instance to record what somebody reports, and reads no more of it than that is
    /// about, where that suffices.
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
        // What a plan makes of it may be about anything.
        if !(report.moves() && has_plan(part.model())) {
            let refused = Cell::default();
            let recorded = part.recorded(report, author, taking, &refused);
            if recorded.is_ok() || refused.get().is_none() {
                return recorded;
            }
        }
        // Why it is refused, all that there is says.
        Self::open(store, name)?.record(report, author, taking)
    }

    fn recorded(
        &mut self,
        report: &InstanceReport,
        author: &RecordAuthor<'_>,
        taking: TakenReports,
        refused: &Cell<Option<ReportRefusal>>,
    ) -> Result<RecordedChange<Reported>, Failure> {
        let needs = ReportNeeds { types: report_needs_types(report), plan: self.log.is_whole() };
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

    /// Takes a stream of reports: `next` gives lines that are taken together, and sees what became
    /// of those before. Gives whether all were taken.
    ///
    /// # Errors
    /// Those of writing.
    pub fn stream(
        &mut self,
        taking: TakenReports,
        is_fail_fast: bool,
        next: &mut NextLines<'_>,
    ) -> Result<bool, Failure> {
        let needs = ReportNeeds { types: true, plan: true };
        let (mut taken, mut waiting) = (TakenLines::default(), None);
        // Once for each plan that is carried out meanwhile.
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

    /// Changes what is known, past the orchestrator.
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
        let secrets = self.log.secrets()?;
        let seal = |_: &str, name: &str, value: &Value| secrets.sealed(name, value);
        self.declared(true, |log, types| {
            let secrets = Some(&seal as &SealValue<'_>);
            let rules = ReportRules { types, secrets, force, ..ReportRules::default() };
            log.change(author, expect, None, |record, _| edit.add_to(record, &rules))
        })
    }

    /// Does something with the log, and where that is needed with the types that values are held
    /// against.
    fn declared<T>(
        &mut self,
        needs_types: bool,
        act: impl FnOnce(&mut InstanceLog<'s>, Option<&DeclaredTypes<'_, '_>>) -> Result<T, Diagnostic>,
    ) -> Result<T, Failure> {
        if !needs_types {
            return act(&mut self.log, None).map_err(Failure::from);
        }
        let target = self.types()?;
        let log = &mut self.log;
        target.with_types(|types| act(log, Some(&DeclaredTypes::new(types))))
    }

    /// Lets reports be judged by what the instance is, and by the plan that is carried out.
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
        let secrets = self.log.secrets()?;
        let carried = if needs.plan { self.open_plan()? } else { None };
        let seal = |_: &str, name: &str, value: &Value| secrets.sealed(name, value);
        let sets = |name: &str| carried.as_ref().is_some_and(|it| it.plan.sets_state(name));
        self.declared(needs.types, |log, types| {
            let (secrets, sets_state) = (Some(&seal as _), Some(&sets as _));
            let rules = ReportRules { types, secrets, sets_state, undeclared, force };
            take(log, &rules, carried.as_ref())
        })
    }

    /// The plan that is carried out.
    fn open_plan(&self) -> Result<Option<CarriedPlan>, Diagnostic> {
        let open = self.model().orchestration.as_ref();
        let Some(digest) = open.and_then(|open| open.plan.as_ref()) else { return Ok(None) };
        let document = self.log.log().blob(digest)?;
        let plan = AppliedPlan::read_kept(&String::from_utf8_lossy(&document))?;
        self.carried(plan, Arc::clone(digest)).map(Some)
    }

    fn carried(&self, plan: AppliedPlan, kept: Arc<str>) -> Result<CarriedPlan, Diagnostic> {
        let model =
            |digest: &str| TargetSources::read_model(digest, &|digest| self.log.log().blob(digest));
        let target = plan.target.as_ref().map(|target| {
            let presets: Vec<_> = target.presets.iter().map(ToString::to_string).collect();
            let inputs = target.inputs.iter();
            let inputs: Vec<_> = inputs.map(|(name, it)| (name.to_string(), it.clone())).collect();
            InstanceTarget {
                digest: Arc::clone(&target.digest),
                template: Arc::clone(&target.template),
                choice: choice_of(&presets, &inputs),
            }
        });
        let to = match &target {
            Some(target) => model(&target.digest)?,
            None => InstanceModel::default(),
        };
        let from = model(&self.model().target.digest).ok();
        Ok(CarriedPlan { kept, plan, target, to, from })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Asks something with the types of what an instance is meant to be, whose model is there already: of
/// these one may derive from another.
///
/// # Errors
/// Where the target cannot be read.
pub fn with_derivation<T>(
    store: &dyn Store,
    name: &str,
    model: &InstanceModel,
    ask: impl FnOnce(DerivesFrom<'_>) -> T,
) -> Result<T, Failure> {
    let log = EventLog::open(store, name)?;
    let types = TargetTypes::read(&model.target.digest, &|digest| log.blob(digest))?;
    types.with_types(|types| {
        let find = |name: &str| Family::ALL.into_iter().find_map(|family| types.find(family, name));
        Ok::<_, Diagnostic>(ask(&|one, other| {
            one == other
                || find(one).zip(find(other)).is_some_and(|(one, other)| {
                    types.derives(TypeRef::Defined(one), TypeRef::Defined(other))
                })
        }))
    })
}

/// Lets a stream take lines, first those that wait, until there are no more; gives back those that
/// it cannot take, since another plan has begun.
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
    // Without a snapshot, whoever comes next reads longer, and that is all.
    let _ = last.map(|author| log.settle(&author.author()));
    Ok(None)
}

/// Why a report was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReportRefusal {
    /// For what it says.
    Report,
    /// A plan has begun that was not there when the instance was opened.
    AnotherPlan,
}

/// A plan with the models of the targets between which it leads.
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

/// Whether a plan is carried out.
fn has_plan(model: &InstanceModel) -> bool {
    model.orchestration.as_ref().is_some_and(|open| open.plan.is_some())
}

/// By what reports are judged, beside what the instance is.
#[derive(Clone, Copy)]
struct ReportNeeds {
    types: bool,
    /// The plan that is carried out, where one is.
    plan: bool,
}

/// Whether something in a report is held against types.
fn report_needs_types(report: &InstanceReport) -> bool {
    !report.attributes.is_empty()
        || !report.capability_attributes.is_empty()
        || report.batch.iter().any(report_needs_types)
}

/// Plans what turns an instance into a variant, and keeps what is needed to carry that out. A store
/// that can only be read has a plan all the same, which can only be looked at.
///
/// # Errors
/// As [`Resolver::adapt_instance`].
pub fn plan_instance(
    instance: &mut StoredInstance<'_>,
    resolver: &Resolver,
    query: &InstancePlanQuery,
    author: &RecordAuthor<'_>,
) -> Result<Answer<Plan>, Failure> {
    let mut secrets = instance.log.secrets()?;
    let targets = |digest: &str| instance.target(digest);
    let answer = resolver.adapted(instance.model(), &targets, &mut secrets, query)?;
    let Answer { result: (plan, _, blobs), warnings, sources } = answer;
    let _ = instance.log.keep_blobs(author, &blobs);
    Ok(Answer { result: plan, warnings, sources })
}
