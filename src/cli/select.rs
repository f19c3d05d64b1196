//! From arguments to a resolver: which template, and what is chosen of it.

use super::args::{ChooseArgs, OptionArgs, SelectArgs};
use super::rejected;
use cuvee::diagnostic::{Code, Diagnostic};
use cuvee::yaml::Limits;
use cuvee::{Failure, Resolver};
use std::io::Read;
use std::path::Path;

/// The resolver for what the arguments choose.
pub(super) fn resolver(args: &SelectArgs) -> Result<Resolver, Failure> {
    chosen(&args.template, &args.choose)
}

/// The resolver for what is chosen of the template of this name.
pub(super) fn chosen(path: &Path, args: &ChooseArgs) -> Result<Resolver, Failure> {
    let mut resolver = template(path)?
        .environment(environment()?)
        .solver(args.solver.map(Into::into).unwrap_or_default())
        .clock({
            let now = args.now.clone();
            || now.unwrap_or_else(jiff::Zoned::now)
        });
    for preset in &args.presets {
        resolver = resolver.preset(preset);
    }
    for file in &args.inputs_files {
        resolver = resolver.inputs_file(file);
    }
    for (name, value) in &args.inputs {
        resolver = resolver.input_text(name, value);
    }
    resolver = with_options(resolver, &args.options);
    for (url, path) in &args.mappings {
        resolver = resolver.map(url, path);
    }
    Ok(resolver)
}

/// With the edition and the options that are asked for.
pub(super) fn with_options(mut resolver: Resolver, args: &OptionArgs) -> Resolver {
    for (name, value) in &args.set {
        resolver = resolver.option(name, value);
    }
    args.edition.iter().fold(resolver, Resolver::edition)
}

/// For the template of this name, where `-` is what comes on standard input.
pub(super) fn template(path: &Path) -> Result<Resolver, Failure> {
    if path != Path::new("-") {
        return Ok(Resolver::new(path));
    }
    Ok(Resolver::from_text("<stdin>", standard_input()?))
}

/// What comes on standard input.
pub(super) fn standard_input() -> Result<String, Failure> {
    // One byte past the limit is enough for the parser to see that the limit is passed.
    let mut text = Vec::new();
    let read = std::io::stdin().lock().take(Limits::default().bytes + 1).read_to_end(&mut text);
    let unreadable = |error: String| {
        rejected(Diagnostic::error(Code::File, format!("cannot read standard input: {error}")))
    };
    read.map_err(|error| unreadable(error.to_string()))?;
    String::from_utf8(text).map_err(|error| unreadable(error.to_string()))
}

/// The variables that are meant for us; what else is in the environment is nobody's business.
fn environment() -> Result<Vec<(String, String)>, Failure> {
    let all =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    all.filter(|(name, _)| name.starts_with("CUVEE_"))
        .map(|(name, value)| match value.into_string() {
            Ok(value) => Ok((name, value)),
            Err(_) => {
                let message = format!("the environment variable `{name}` is not valid UTF-8");
                Err(rejected(Diagnostic::error(Code::InvalidInput, message)))
            }
        })
        .collect()
}
