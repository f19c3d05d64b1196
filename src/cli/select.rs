//! Makes a resolver from arguments: for a template, with the choices for it.

use super::args::{ChooseArgs, EvaluateArgs, LookupArgs, OptionArgs, SelectArgs};
use super::streams::{CommandFiles, STANDARD_INPUT, STDIN_FILE};
use super::watch::WatchedRun;
use super::{plugin, rejected, streams};
use cuvee::diagnostic::{Code, Diagnostic};
use cuvee::{Failure, Resolver};
use std::path::{Path, PathBuf};

/// The resolver for the template and the choices in the arguments.
pub(super) fn resolver(args: &SelectArgs) -> Result<Resolver, Failure> {
    chosen(&args.template, &args.choose)
}

/// The resolver for the template at a path, with these choices.
pub(super) fn chosen(path: &Path, args: &ChooseArgs) -> Result<Resolver, Failure> {
    let mut resolver = template(path)?
        .environment(environment()?)
        .solver(args.solver.map(Into::into).unwrap_or_default())
        .clock({
            let now = args.now.clone();
            || now.unwrap_or_else(jiff::Zoned::now)
        });
    for list in &args.presets {
        resolver = named(resolver, list, |_| false);
    }
    for file in &args.inputs_files {
        let is_standard = file.as_path() == Path::new(STANDARD_INPUT);
        resolver = resolver.inputs_file(if is_standard { Path::new(STDIN_FILE) } else { file });
    }
    for (name, value) in &args.inputs {
        resolver = resolver.input_text(name, value);
    }
    Ok(read_as(resolver, args))
}

/// Adds what the arguments say about reading the template, whatever variant is chosen.
pub(super) fn read_as(resolver: Resolver, args: &ChooseArgs) -> Resolver {
    with_imports(with_options(resolver, &args.options), &args.imports)
}

/// Adds what the arguments say about where imports are.
pub(super) fn with_imports(resolver: Resolver, args: &LookupArgs) -> Resolver {
    let resolver =
        args.mappings.iter().fold(resolver, |resolver, (url, path)| resolver.map(url, path));
    args.profile_paths.iter().fold(resolver, |resolver, path| resolver.profile_path(path))
}

/// Adds the evaluation of functions, if the arguments request it.
pub(super) fn evaluated(mut resolver: Resolver, args: &EvaluateArgs) -> Resolver {
    if args.evaluate {
        resolver = resolver.evaluate_functions();
    }
    with_deployment(resolver, &args.deployment_files, &args.deployment_inputs)
}

/// Adds the values of topology inputs.
pub(super) fn with_deployment(
    mut resolver: Resolver,
    files: &[PathBuf],
    values: &[(String, String)],
) -> Resolver {
    for file in files {
        resolver = resolver.deployment_inputs_file(file);
    }
    for (name, value) in values {
        resolver = resolver.deployment_input_text(name, value);
    }
    resolver
}

/// Adds the edition, the options and the plugins in the arguments.
pub(super) fn with_options(mut resolver: Resolver, args: &OptionArgs) -> Resolver {
    for (name, value) in &args.set {
        resolver = resolver.option(name, value);
    }
    let resolver = args.edition.iter().fold(resolver, Resolver::edition);
    plugin::added(resolver, args)
}

/// The resolver for one side of a comparison: adds what `--from` or `--to` names to the choices that
/// both sides share. A name is a file if it exists and no preset has that name.
pub(super) fn side(resolver: Resolver, list: Option<&str>) -> Resolver {
    let is_file = |name: &str| Path::new(name).exists() && !Path::new(name).is_dir();
    list.into_iter().fold(resolver, |resolver, list| named(resolver, list, is_file))
}

/// Adds the presets and files of a list separated by commas. Names may have commas themselves: the
/// longest ones count.
fn named(mut resolver: Resolver, mut list: &str, is_file: impl Fn(&str) -> bool) -> Resolver {
    // Mistakes in the template are reported where it is used.
    let is_plain = !list.contains(',') && !is_file(list);
    let presets = if is_plain { None } else { resolver.preset_names().ok() }.unwrap_or_default();
    let is_preset = |name: &str| presets.iter().any(|preset| preset == name);
    loop {
        let commas = list.rmatch_indices(',').map(|(at, _)| at);
        let mut ends = std::iter::once(list.len()).chain(commas);
        let longest = ends.find(|&end| is_preset(&list[..end]) || is_file(&list[..end]));
        let end = longest.or_else(|| list.find(',')).unwrap_or(list.len());
        let name = &list[..end];
        let is_of_inputs = !is_preset(name) && is_file(name);
        resolver = if is_of_inputs { resolver.inputs_file(name) } else { resolver.preset(name) };
        match list.get(end + 1..) {
            Some(rest) => list = rest,
            None => return resolver,
        }
    }
}

/// A resolver for the template at a path, on standard input, or on another stream.
pub(super) fn template(path: &Path) -> Result<Resolver, Failure> {
    let resolver = match stream(path)? {
        Some((name, text)) => Resolver::from_text(name, text),
        None => Resolver::new(path),
    };
    Ok(resolver.files(CommandFiles).progress(WatchedRun))
}

/// The name and the text of a stream, if the path is one. `-` is standard input.
pub(super) fn stream(path: &Path) -> Result<Option<(String, String)>, Failure> {
    if !streams::is_read_once(path) {
        return Ok(None);
    }
    let name = streams::label(path);
    let unreadable = |error: String| {
        let called = if name == "<stdin>" { "standard input" } else { &name };
        rejected(Diagnostic::error(Code::File, format!("cannot read {called}: {error}")))
    };
    let bytes = streams::read(path).map_err(|error| unreadable(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| unreadable(error.to_string()))?;
    Ok(Some((name, text)))
}

/// The environment variables for this program. All others are ignored.
fn environment() -> Result<Vec<(String, String)>, Failure> {
    let all = std::env::vars_os();
    let own = all.filter(|(name, _)| name.to_string_lossy().starts_with("CUVEE_"));
    let texts = own.map(|(name, value)| {
        let told = name.to_string_lossy().into_owned();
        name.into_string().ok().zip(value.into_string().ok()).ok_or_else(|| {
            let message = format!("the environment variable `{told}` is not valid UTF-8");
            rejected(Diagnostic::error(Code::InvalidInput, message))
        })
    });
    texts.collect()
}
