//! The commands that can follow a run that has not done all of its plan.

use crate::cli::args::OrderFormat;
use crate::cli::args::instance::RunInstanceArgs;
use cuvee::deploy::instance::{
    ByName, InstanceTarget, InstanceValue, ModelReading, SecretsMode, StoredInstance, view_model,
};
use cuvee::operate::Orchestrator;
use cuvee::parts::yaml::write_flow;
use cuvee::source::value::Value;
use std::fmt::Display;
use std::path::PathBuf;

/// What stands in a command for a value that is not shown.
const HIDDEN: &str = "...";

/// The commands that can follow a run. Secrets have to be filled in.
pub(super) struct NextCommands {
    /// Goes on with the plan.
    pub(super) go_on: String,
    /// Gives the plan up.
    pub(super) give_up: String,
    /// Leads to what the run was to lead to by another plan, once this one is given up.
    pub(super) again: String,
}

impl NextCommands {
    /// The commands for the open plan. `is_resumed` where an earlier run began it, perhaps towards
    /// something else than what this run was asked for.
    pub(super) fn of(
        instance: &StoredInstance<'_>,
        args: &RunInstanceArgs,
        is_resumed: bool,
    ) -> Self {
        let secrets = secrets(instance, args);
        let (resumed, renewed) = match &args.template {
            Some(template) if is_resumed => {
                let asked = asked(&template.display(), args);
                (asked.clone(), asked)
            }
            _ => (given(&secrets), towards(instance, args, &secrets)),
        };
        let name = args.name.as_str();
        let store = option("--store", args.author.store.store.iter().map(|it| it.display()));
        let (run, called) = (words(["run", name]), called(args));
        Self {
            go_on: command(&[&run, &resumed, &called, &store]),
            again: command(&[&run, &renewed, &planned(args), &called, &store]),
            give_up: command(&[&words(["apply", name, "--cancel"]), &store]),
        }
    }
}

fn words<const COUNT: usize>(words: [&str; COUNT]) -> Vec<String> {
    words.map(String::from).into()
}

fn command(parts: &[&[String]]) -> String {
    let words = parts.concat();
    let words = words.iter().map(|word| quoted(word));
    let command = ["cuvee".to_owned(), "instance".to_owned()].into_iter().chain(words);
    command.collect::<Vec<_>>().join(" ")
}

/// An option, once for each of these values.
fn option<T: Display>(name: &str, values: impl Iterator<Item = T>) -> Vec<String> {
    values.flat_map(|value| [name.to_owned(), value.to_string()]).collect()
}

/// As [`option`], for values with names.
fn assigned<'v, T: Display + 'v>(
    option: &str,
    values: impl IntoIterator<Item = &'v (String, T)>,
) -> Vec<String> {
    let values = values.into_iter();
    values.flat_map(|(name, value)| [option.to_owned(), format!("{name}={value}")]).collect()
}

/// What leads to the target of the open plan.
fn towards(
    instance: &StoredInstance<'_>,
    args: &RunInstanceArgs,
    secrets: &GivenSecrets,
) -> Vec<String> {
    let model = instance.model();
    let open = model.orchestration.as_ref();
    match open.and_then(|open| open.target.as_ref()) {
        // A plan without a target removes the instance: for good, or to hand over another variant.
        None if open.is_some_and(|open| open.plan.is_some()) => match &args.template {
            Some(template) if !args.undeploy => asked(&template.display(), args),
            _ => words(["--undeploy"]).into_iter().chain(given(secrets)).collect(),
        },
        Some(target) if target.digest != model.target.digest => {
            let mut words = chosen(target);
            let mut inputs = new_inputs(instance, target).unwrap_or_default();
            let is_new = |name: &String| !inputs.iter().any(|(new, _)| new == name);
            let others: Vec<_> = secrets.names.iter().filter(|name| is_new(name)).collect();
            inputs.extend(others.into_iter().map(|name| (name.clone(), HIDDEN.to_owned())));
            words.extend(assigned("--deployment-input", &inputs));
            words.extend(option("--deployment-inputs", secrets.files.iter()));
            words.extend(read(args));
            words
        }
        _ => given(secrets),
    }
}

/// The secret inputs of this run that the instance does not keep.
#[derive(Default)]
struct GivenSecrets {
    names: Vec<String>,
    /// Files that may have some.
    files: Vec<String>,
}

fn secrets(instance: &StoredInstance<'_>, args: &RunInstanceArgs) -> GivenSecrets {
    let seal = match instance.model().secrets {
        SecretsMode::Keep => None,
        SecretsMode::Digest | SecretsMode::Drop => instance.seal().ok(),
    };
    let Some(seal) = seal else { return GivenSecrets::default() };
    let names = args.deployment.deployment_inputs.iter().map(|(name, _)| name);
    let secret = names.filter(|name| seal.is_secret(&InstanceValue::Input(name)));
    let files = args.deployment.deployment_files.iter();
    GivenSecrets {
        names: secret.cloned().collect(),
        files: files.map(|file| file.display().to_string()).collect(),
    }
}

/// The options that give secrets.
fn given(secrets: &GivenSecrets) -> Vec<String> {
    let names = secrets.names.iter().map(|name| format!("{name}={HIDDEN}"));
    let files = option("--deployment-inputs", secrets.files.iter());
    option("--deployment-input", names).into_iter().chain(files).collect()
}

/// The template and choice of this run. Which values are secret is not known here.
fn asked(template: &dyn Display, args: &RunInstanceArgs) -> Vec<String> {
    let (choose, deployment) = (&args.choose, &args.deployment);
    let hidden = |(name, _): &(String, String)| format!("{name}={HIDDEN}");
    let files = |name, of: &[PathBuf]| option(name, of.iter().map(|file| file.display()));
    let parts = [
        vec![template.to_string()],
        option("--preset", choose.presets.iter()),
        files("--inputs", &choose.inputs_files),
        option("--input", choose.inputs.iter().map(hidden)),
        files("--deployment-inputs", &deployment.deployment_files),
        option("--deployment-input", deployment.deployment_inputs.iter().map(hidden)),
        read(args),
    ];
    parts.concat()
}

/// The template of a target, and what chooses its variant.
fn chosen(target: &InstanceTarget) -> Vec<String> {
    let mut words = vec![target.template.to_string()];
    if let Some(Value::List(presets)) = target.choice.get("presets") {
        words.extend(option("--preset", presets.iter().filter_map(Value::as_str)));
    }
    if let Some(Value::Map(inputs)) = target.choice.get("inputs") {
        let inputs = inputs.iter().map(|(name, value)| format!("{name}={}", shown(value)));
        words.extend(option("--input", inputs));
    }
    words
}

/// The inputs of a target that the instance does not have yet.
fn new_inputs(
    instance: &StoredInstance<'_>,
    target: &InstanceTarget,
) -> Option<Vec<(String, String)>> {
    let wanted = instance.target(&target.digest).ok()?.model;
    let seal = instance.seal().ok()?;
    let known: &ByName<Value> = &instance.model().inputs;
    let is_new = |name: &str| wanted.inputs.get(name) != known.get(name);
    let inputs = view_model(&wanted, &ModelReading::default()).inputs.into_iter();
    let inputs = inputs.filter(|input| is_new(&input.name)).map(|input| {
        let is_secret = seal.is_secret(&InstanceValue::Input(&input.name));
        let value = if is_secret { HIDDEN.to_owned() } else { shown(&input.value) };
        (input.name.to_string(), value)
    });
    Some(inputs.collect())
}

/// How the template of this run is read.
fn read(args: &RunInstanceArgs) -> Vec<String> {
    let (options, imports) = (&args.choose.options, &args.choose.imports);
    let maps = imports.mappings.iter().map(|(url, path)| format!("{url}={}", path.display()));
    let parts = [
        assigned("--option", &options.set),
        option("--edition", options.edition.iter()),
        assigned("--plugin", &options.plugins),
        option("--now", args.choose.now.iter()),
        option("--map", maps),
        option("--profile-path", imports.profile_paths.iter().map(|path| path.display())),
    ];
    parts.concat()
}

/// What changes the plan of this run.
fn planned(args: &RunInstanceArgs) -> Vec<String> {
    let order = &args.order;
    let flags = [
        ("--order=parallel", order.order == OrderFormat::Parallel),
        ("--parallel-hosts", order.parallel_hosts),
        ("--overwrite", args.overwrite),
    ];
    let flags = flags.into_iter().filter(|(_, is_set)| *is_set);
    let with = args.with.map(|with| Orchestrator::from(with).as_str());
    let parts = [
        flags.map(|(flag, _)| flag.to_owned()).collect(),
        option("--ignore", order.ignore.iter()),
        option("--managed", order.managed.iter()),
        option("--with", with.into_iter()),
    ];
    parts.concat()
}

/// How the steps of this run are called.
fn called(args: &RunInstanceArgs) -> Vec<String> {
    let calls = &args.how.calls;
    [assigned("--runner", &calls.runners), assigned("--provider", &calls.providers)].concat()
}

/// A value of a choice as an argument has it. Secrets are hidden in it already.
fn shown(value: &Value) -> String {
    let text = write_flow(value);
    if text.contains("(sensitive)") { HIDDEN.to_owned() } else { text }
}

/// A word of a command.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./@-+,:=".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
