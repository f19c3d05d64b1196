//! Reads the configuration of a store: who provides nodes and what runs implementations, for all
//! runs.

use super::args::instance::CallArgs;
use super::rejected;
use cuvee::Failure;
use cuvee::diagnostic::{Code, Diagnostic, did_you_mean};
use cuvee::operate::{Provider, RunSettings};
use cuvee::parts::yaml::{Limits, Node, parse};
use cuvee::source::{SourceMap, SourceText};
use std::path::Path;

/// The file of a store that has its configuration.
const FILE: &str = "config.yaml";

/// The keys of the configuration.
const KEYS: [&str; 3] = ["probes", "providers", "runners"];

/// How programs of nodes are called: by the configuration of the store, and by arguments, which win.
///
/// # Errors
/// All that is wrong with the configuration, each at its place; `usage`
pub(super) fn call_settings(args: &CallArgs, store: &Path) -> Result<RunSettings, Failure> {
    let mut settings = RunSettings::default();
    let path = store.join(FILE);
    match std::fs::read_to_string(&path) {
        Ok(text) => read(&path, text.into(), &mut settings)?,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => {}
        Err(why) => {
            let message = format!("cannot read `{}`: {why}", path.display());
            return Err(rejected(Diagnostic::error(Code::File, message)));
        }
    }
    for (name, said) in &args.providers {
        let provider = said.parse::<Provider>();
        let provider =
            provider.map_err(|why| usage(format!("`--provider {name}={said}`: {why}")))?;
        let name = name.strip_prefix("node.").unwrap_or(name).to_owned();
        settings.named.push(("--provider", name.clone()));
        settings.providers.push((name, provider));
    }
    for (name, command) in &args.runners {
        let words = command_of("--runner", name, command)?;
        settings.named.push(("--runner", name.clone()));
        settings.runners.added.insert(0, (name.clone(), words));
    }
    settings.jobs = args.jobs.into();
    settings.step_timeout = args.step_timeout;
    Ok(settings)
}

/// Adds the programs that a command line names for checks of nodes. They win.
///
/// # Errors
/// `usage`
pub(super) fn add_probes(
    probes: &[(String, String)],
    settings: &mut RunSettings,
) -> Result<(), Failure> {
    for (name, command) in probes {
        let words = command_of("--probe", name, command)?;
        let name = name.strip_prefix("node.").unwrap_or(name).to_owned();
        settings.named.push(("--probe", name.clone()));
        settings.probes.push((name, words));
    }
    Ok(())
}

/// The words of the command that an argument has for a name.
fn command_of(argument: &str, name: &str, command: &str) -> Result<Vec<String>, Failure> {
    let words = words(command);
    if words.is_empty() {
        return Err(usage(format!("`{argument} {name}=`: a command is missing")));
    }
    Ok(words)
}

fn usage(message: String) -> Failure {
    rejected(Diagnostic::error(Code::Usage, message))
}

/// The words of a command. What has spaces in it is better said in a script.
fn words(command: &str) -> Vec<String> {
    command.split_whitespace().map(str::to_owned).collect()
}

fn read(path: &Path, text: SourceText, settings: &mut RunSettings) -> Result<(), Failure> {
    let sources = SourceMap::default();
    let file = sources.add(path, text.clone());
    let mut found = Vec::new();
    match parse(file, text, &Limits::default()) {
        Ok(document) => entries(document.root(), settings, &mut found),
        Err(error) => found.push(error),
    }
    if found.is_empty() { Ok(()) } else { Err(Failure { diagnostics: found, sources }) }
}

fn entries(root: Node<'_>, settings: &mut RunSettings, found: &mut Vec<Diagnostic>) {
    for (key, value) in root.entries() {
        let name = key.key_text();
        if !KEYS.contains(&&*name) {
            let message = format!("a configuration has no `{name}`");
            let error = Diagnostic::error(Code::UnknownKeyword, message).at(key.span());
            found.push(error.help_opt(did_you_mean(&name, KEYS)));
            continue;
        }
        for (of, said) in value.entries() {
            let of = of.key_text().into_owned();
            let text = said.text().unwrap_or_default();
            match &*name {
                "providers" => match text.parse::<Provider>() {
                    Ok(provider) => settings.providers.push((of, provider)),
                    Err(why) => {
                        found.push(Diagnostic::error(Code::InvalidValue, why).at(said.span()));
                    }
                },
                kind => match words(text) {
                    words if words.is_empty() => {
                        let message = format!("the command of `{of}` is missing");
                        found.push(Diagnostic::error(Code::InvalidValue, message).at(said.span()));
                    }
                    words if kind == "probes" => settings.probes.push((of, words)),
                    words => settings.runners.added.push((of, words)),
                },
            }
        }
    }
}
