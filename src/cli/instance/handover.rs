//! Hands a variant to another orchestrator: `cuvee instance run --with`.
//!
//! Orchestrators that lose what they know when they update are not asked to: what they have
//! deployed goes first, and the new variant comes after it.

use super::run::{InstanceRun, wanted};
use crate::cli::args::ListFormat;
use crate::cli::{Outcome, output, rejected};
use cuvee::deploy::instance::{ByName, InstanceModel, InstanceState, StoredInstance};
use cuvee::deploy::plan::Plan;
use cuvee::diagnostic::{Code, Diagnostic, Severity};
use cuvee::explore::Answer;
use cuvee::operate::{HandedVariant, Orchestrator, RunSummary};
use cuvee::source::SourceMap;
use cuvee::source::value::Value;
use cuvee::{Failure, Resolver};
use std::process::ExitCode;

/// The plans by which a variant is handed over.
struct Handover {
    orchestrator: Orchestrator,
    /// What takes away the variant that is there.
    removal: Option<Answer<Plan>>,
    /// What brings the wanted one, or takes away all.
    wanted: Answer<Plan>,
}

impl InstanceRun<'_> {
    /// The orchestrator that the instance is handed to: the one that has deployed it, else the one
    /// that the caller names.
    pub(super) fn orchestrator(
        &self,
        instance: &StoredInstance<'_>,
    ) -> Result<Option<Orchestrator>, Failure> {
        let named = self.args.with.map(Orchestrator::from);
        let handed = self.operator.handed().map_err(rejected)?.map(|handed| handed.orchestrator);
        let name = instance.name();
        let by = match (named, handed) {
            (Some(named), Some(handed)) if named != handed => handed.as_str(),
            (Some(_), None) if has_begun(instance.model()) => "cuvee",
            _ => return Ok(handed.or(named)),
        };
        let message =
            format!("`{name}` was deployed by {by}, and no other one knows what is there");
        let help = format!("take it away first: `cuvee instance run {name} --undeploy`");
        Err(rejected(Diagnostic::error(Code::Usage, message).help(help)))
    }

    /// Hands the wanted variant over.
    pub(super) fn hand_over(
        &self,
        instance: &mut StoredInstance<'_>,
        orchestrator: Orchestrator,
        done: Option<RunSummary>,
        before: &ByName<Value>,
    ) -> Outcome {
        if self.args.how.rehearse || self.args.plan.is_some() {
            let message = format!("`{}` is deployed by {orchestrator}", instance.name());
            let help = "`--plan` and `--rehearse` are for plans that cuvee carries out itself";
            return Err(rejected(Diagnostic::error(Code::Usage, message).help(help)));
        }
        if done.is_some() && self.args.template.is_none() && self.is_taken_away()? {
            return self.taken_away(instance.name());
        }
        let resolver = if self.args.undeploy { None } else { wanted(self.args, instance)? };
        let handed = self.operator.handed().map_err(rejected)?;
        let Some(handover) = self.handover(instance, orchestrator, resolver.as_ref(), handed)?
        else {
            return self.nothing_left(instance, done);
        };
        self.tell_untaken(instance, &handover)?;
        if self.args.how.dry_run {
            return self.try_handover(instance, &handover);
        }
        self.check_handover(instance, &handover)?;
        if let Some(code) = self.may_hand_over(&handover)? {
            return Ok(code);
        }
        let Handover { removal, mut wanted, .. } = handover;
        if let Some(removal) = removal {
            let summary = self.begin_handover(instance, orchestrator, &removal, before)?;
            if !summary.complete {
                return self.ended(instance, &summary);
            }
            if let Some(resolver) = resolver {
                wanted = self.plan_to(instance, &resolver)?;
            }
        }
        let summary = self.begin_handover(instance, orchestrator, &wanted, before)?;
        self.ended(instance, &summary)
    }

    /// Whether nothing is left of what was handed over.
    fn is_taken_away(&self) -> Result<bool, Failure> {
        Ok(self.operator.handed().map_err(rejected)?.is_none())
    }

    /// Ends a run that went on with taking away: what comes then is not known any more.
    fn taken_away(&self, name: &str) -> Outcome {
        if !self.args.undeploy && self.args.how.format == ListFormat::Human {
            let text = format!(
                "all is taken away; name what is to come: cuvee instance run {name} TEMPLATE --with ORCHESTRATOR\n"
            );
            output::to_stdout(text).map_err(rejected)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The plans; `None` if nothing is left to do.
    fn handover(
        &self,
        instance: &mut StoredInstance<'_>,
        orchestrator: Orchestrator,
        resolver: Option<&Resolver>,
        handed: Option<HandedVariant>,
    ) -> Result<Option<Handover>, Failure> {
        let wanted = match resolver {
            Some(resolver) => self.plan_to(instance, resolver)?,
            None => instance.plan_removal(&self.query())?,
        };
        let is_unfinished = handed.as_ref().is_some_and(HandedVariant::is_unfinished);
        let is_left = is_unfinished || handed.is_some() && self.args.undeploy;
        if wanted.result.steps.is_empty() && !is_left {
            return Ok(None);
        }
        let target = wanted.result.instance.as_ref().and_then(|it| it.target.as_ref());
        let is_same = |handed: &HandedVariant| {
            is_unfinished && target.is_some_and(|target| *target.digest == *handed.digest)
        };
        let is_replaced = !self.args.undeploy && handed.is_some_and(|handed| !is_same(&handed));
        let removal = is_replaced.then(|| instance.plan_removal(&self.query())).transpose()?;
        Ok(Some(Handover { orchestrator, removal, wanted }))
    }

    /// Tells what the orchestrator does not take.
    fn tell_untaken(
        &self,
        instance: &StoredInstance<'_>,
        handover: &Handover,
    ) -> Result<(), Failure> {
        let Handover { orchestrator, wanted, .. } = handover;
        self.reporter.report(&wanted.warnings, &wanted.sources);
        if self.args.undeploy {
            return Ok(());
        }
        let document = self.document(&wanted.result, &wanted.sources)?;
        let untaken = self.operator.not_taken(instance, &document, *orchestrator)?;
        if untaken.iter().any(|it| it.severity == Severity::Error) {
            return Err(Failure { diagnostics: untaken, sources: SourceMap::default() });
        }
        self.reporter.report(&untaken, &SourceMap::default());
        Ok(())
    }

    fn handed_document(
        &self,
        orchestrator: Orchestrator,
        answer: &Answer<Plan>,
    ) -> Result<String, Failure> {
        let plan = answer.result.clone().handed_over(orchestrator.as_str());
        self.document(&plan, &answer.sources)
    }

    /// Shows what would be called.
    fn try_handover(&self, instance: &StoredInstance<'_>, handover: &Handover) -> Outcome {
        let mut tasks = Vec::new();
        for answer in handover.removal.iter().chain([&handover.wanted]) {
            let document = self.handed_document(handover.orchestrator, answer)?;
            tasks.extend(self.operator.check(instance, &document, &mut self.executor())?);
        }
        self.shown(&tasks)
    }

    /// Checks all that can be known before anything goes.
    fn check_handover(
        &self,
        instance: &StoredInstance<'_>,
        handover: &Handover,
    ) -> Result<(), Failure> {
        let document = self.handed_document(handover.orchestrator, &handover.wanted)?;
        self.operator.check(instance, &document, &mut self.executor()).map(drop)
    }

    /// Shows what is handed over, and asks whether it is to be.
    fn may_hand_over(&self, handover: &Handover) -> Result<Option<ExitCode>, Failure> {
        let Handover { orchestrator, removal, wanted } = handover;
        if removal.is_some() && self.args.how.format == ListFormat::Human {
            let text = format!(
                "{orchestrator} takes away all that it has deployed, and deploys the new variant\n"
            );
            output::to_stdout(text).map_err(rejected)?;
        }
        self.may_begin(Some(&wanted.result.clone().handed_over(orchestrator.as_str())))
    }

    fn begin_handover(
        &self,
        instance: &mut StoredInstance<'_>,
        orchestrator: Orchestrator,
        answer: &Answer<Plan>,
        before: &ByName<Value>,
    ) -> Result<RunSummary, Failure> {
        let document = self.handed_document(orchestrator, answer)?;
        self.begin(instance, document, before)
    }
}

/// Whether something of an instance is there, or was begun.
fn has_begun(model: &InstanceModel) -> bool {
    model.nodes.values().any(|node| node.state != InstanceState::default())
}
