//! The command that makes a new plan towards what a plan was made for, once that is given up.

use crate::cli::args::LookupArgs;
use crate::cli::args::instance::RunInstanceArgs;
use cuvee::deploy::instance::{
    ByName, InstanceTarget, InstanceValue, ModelReading, StoredInstance, view_model,
};
use cuvee::parts::yaml::write_flow;
use cuvee::source::value::Value;
use std::fmt::Display;

/// What stands in a command for a value that is not shown.
const HIDDEN: &str = "...";

/// The command that leads to what the open plan leads to. Secrets have to be filled in.
pub(super) fn command(instance: &StoredInstance<'_>, args: &RunInstanceArgs) -> String {
    let model = instance.model();
    let open = model.orchestration.as_ref();
    let mut words = vec!["cuvee".into(), "instance".into(), "run".into(), args.name.clone()];
    match open.and_then(|open| open.target.as_ref()) {
        // A plan without a target removes the instance: for good, or to hand over another variant.
        None if open.is_some_and(|open| open.plan.is_some()) => match &args.template {
            Some(template) if !args.undeploy => words.extend(asked(&template.display(), args)),
            _ => words.push("--undeploy".into()),
        },
        Some(target) if target.digest != model.target.digest => {
            words.extend(chosen(target));
            words.extend(deployed(instance, target).unwrap_or_default());
            words.extend(found(&args.choose.imports));
        }
        _ => {}
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// The template and choice of this run. Which values are secret is not known here.
fn asked(template: &dyn Display, args: &RunInstanceArgs) -> Vec<String> {
    let presets = args.choose.presets.iter().map(|preset| ["--preset", preset].map(String::from));
    let input = |key: &str, name: &str| [key.to_owned(), format!("{name}={HIDDEN}")];
    let inputs = args.choose.inputs.iter().map(|(name, _)| input("--input", name));
    let deployed = args.deployment.deployment_inputs.iter();
    let deployed = deployed.map(|(name, _)| input("--deployment-input", name));
    let words = presets.chain(inputs).chain(deployed).flatten();
    [template.to_string()].into_iter().chain(words).chain(found(&args.choose.imports)).collect()
}

/// The template of a target, and what chooses its variant.
fn chosen(target: &InstanceTarget) -> Vec<String> {
    let mut words = vec![target.template.to_string()];
    if let Some(Value::List(presets)) = target.choice.get("presets") {
        let presets = presets.iter().filter_map(Value::as_str);
        words.extend(presets.flat_map(|preset| ["--preset".to_owned(), preset.to_owned()]));
    }
    if let Some(Value::Map(inputs)) = target.choice.get("inputs") {
        let inputs = inputs.iter().map(|(name, value)| format!("{name}={}", shown(value)));
        words.extend(inputs.flat_map(|input| ["--input".to_owned(), input]));
    }
    words
}

/// The inputs of a target that the instance does not have yet.
fn deployed(instance: &StoredInstance<'_>, target: &InstanceTarget) -> Option<Vec<String>> {
    let wanted = instance.target(&target.digest).ok()?.model;
    let seal = instance.seal().ok()?;
    let known: &ByName<Value> = &instance.model().inputs;
    let is_new = |name: &str| wanted.inputs.get(name) != known.get(name);
    let inputs = view_model(&wanted, &ModelReading::default()).inputs.into_iter();
    let inputs = inputs.filter(|input| is_new(&input.name)).map(|input| {
        let is_secret = seal.is_secret(&InstanceValue::Input(&input.name));
        let value = if is_secret { HIDDEN.to_owned() } else { shown(&input.value) };
        format!("{}={value}", input.name)
    });
    Some(inputs.flat_map(|input| ["--deployment-input".to_owned(), input]).collect())
}

/// Where the imports of the template are.
fn found(imports: &LookupArgs) -> Vec<String> {
    let maps = imports.mappings.iter();
    let maps = maps.map(|(url, path)| ["--map".to_owned(), format!("{url}={}", path.display())]);
    let paths = imports.profile_paths.iter();
    let paths = paths.map(|path| ["--profile-path".to_owned(), path.display().to_string()]);
    maps.chain(paths).flatten().collect()
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
