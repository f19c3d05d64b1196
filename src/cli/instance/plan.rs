//! Runs `cuvee instance plan`.

use super::{InstanceWriting, init};
use crate::cli::args::PlanFormat;
use crate::cli::args::instance::PlanInstanceArgs;
use crate::cli::plan::{ShownPlan, adaptation, drawn, makefile, order};
use crate::cli::read::ReadFiles;
use crate::cli::reporter::Reporter;
use crate::cli::stored::store;
use crate::cli::{Outcome, format, output, rejected, select};
use cuvee::deploy::instance::RecordOrigin;
use cuvee::deploy::instance::{InstancePlanQuery, StoredInstance, plan_instance};
use cuvee::diagnostic::Severity;
use std::path::PathBuf;
use std::process::ExitCode;

/// Plans what turns an instance into a variant, or repairs it.
pub(super) fn run(args: &PlanInstanceArgs, reporter: &Reporter) -> Outcome {
    let format = format::chosen(args.format, args.output.as_deref())?.unwrap_or(PlanFormat::Human);
    let store = store(args.store.store.as_deref());
    let mut instance = StoredInstance::open(&store, &args.name).map_err(rejected)?;
    let query = InstancePlanQuery {
        name: args.name.clone(),
        adaptation: adaptation(&args.adapt),
        order: order(&args.order),
        overwrite: args.overwrite,
        generated: args.generated,
    };
    let answer = if args.undeploy {
        instance.plan_removal(&query)?
    } else if let Some(template) = template(args, &instance) {
        let resolver = select::chosen(&template, &args.choose)?.files(ReadFiles::default());
        let resolver = instance.with_inputs(init::deploying(resolver, &args.deployment));
        let writing = InstanceWriting::reading();
        let author = writing.author(RecordOrigin::Client);
        let (mut answer, unkept) = plan_instance(&mut instance, &resolver, &query, &author)?;
        answer.warnings.extend(unkept.map(|why| why.with_severity(Severity::Warning)));
        answer
    } else {
        instance.plan_repair(&query)?
    };
    reporter.report(&answer.warnings, &answer.sources);
    let plan = &answer.result;
    let shown = ShownPlan { all_steps: args.all_steps, reveal: false };
    let text = match format {
        // A generated plan has no conditions, and not all nodes of the instance.
        PlanFormat::Make if !plan.is_generated => {
            makefile(plan, &instance.model().node_states(), false, &answer.sources)?
        }
        _ => drawn(plan, format, shown, &answer.sources, args.output.as_deref())?,
    };
    output::deliver(args.output.as_deref(), text, &ReadFiles::default()).map_err(rejected)?;
    Ok(ExitCode::from(u8::from(args.adapt.exit_code && !plan.steps.is_empty())))
}

/// The template of the wanted variant. Returns nothing where the instance keeps its current target.
fn template(args: &PlanInstanceArgs, instance: &StoredInstance<'_>) -> Option<PathBuf> {
    let choose = &args.choose;
    let is_chosen = !choose.presets.is_empty()
        || !choose.inputs.is_empty()
        || !choose.inputs_files.is_empty()
        || !args.deployment.deployment_files.is_empty()
        || !args.deployment.deployment_inputs.is_empty();
    let own = || PathBuf::from(&*instance.model().target.template);
    args.template.clone().or_else(|| is_chosen.then(own))
}
