//! Runs `cuvee resolve`.

use super::args::{ResolveArgs, ResultFormat, WatchArgs};
use super::read::ReadFiles;
use super::reporter::Reporter;
use super::{Outcome, format, output, rejected, select, streams, watch};
use cuvee::diagnostic::{Code, Diagnostic, Severity};
use cuvee::source::SourceMap;
use cuvee::source::csar::is_written_archive;
use cuvee::{Failure, Resolution, Resolver};
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Resolves, and writes the result.
pub(crate) fn run(args: &ResolveArgs, watch: &WatchArgs, reporter: &Reporter) -> Outcome {
    if let Some(target) =
        args.output.as_deref().filter(|target| packs_itself(&args.select.template, target))
    {
        let message = format!(
            "the archive `{}` would contain itself when it is written again",
            target.display()
        );
        return Err(rejected(
            Diagnostic::error(Code::Csar, message)
                .help("write the archive to another directory, or give it the ending `.csar`"),
        ));
    }
    output::clean_up_on_interrupt();
    let packed = args.output.as_deref().is_some_and(is_written_archive);
    let format = match packed {
        true => ResultFormat::Yaml,
        false => format::chosen(args.format, args.output.as_deref())?.unwrap_or(ResultFormat::Yaml),
    };
    // The memory need not be freed, because the process ends right afterwards.
    let read = ReadFiles::default();
    let mut resolver = select::resolver(&args.select)?.files(read.clone()).keep_memory();
    if args.edmm {
        resolver = resolver.name_technologies();
    }
    resolver = select::evaluated(resolver, &args.evaluate);
    if let Some(time) = watch.timeout {
        resolver = resolver.timeout(time);
    }
    let mut resolution = resolver.resolve().map_err(|failure| match watch.timeout {
        Some(_) => failure,
        None => with_others(failure, args),
    })?;
    watch::phase("saving");
    let target = args.output.as_deref();
    let file = target.filter(|target| !is_written_archive(target));
    if let Some(directory) = file.and_then(output::directory_of) {
        resolution.relocate(directory);
    }
    reporter.report(&warnings(&resolution, args.accept_unproven), resolution.source_map());
    if let Some(directory) = &args.output_dir {
        let files = files(&resolution, format)?;
        output::to_directory(directory, &files, &read).map_err(rejected)?;
    } else {
        let content = match format {
            _ if packed && args.all_files => resolution.to_csar_with_all_files()?.into(),
            _ if packed => resolution.to_csar()?.into(),
            ResultFormat::Yaml => Cow::Borrowed(resolution.to_yaml().as_bytes()),
            ResultFormat::Json => resolution.to_json().into_bytes().into(),
        };
        output::deliver(target, content, &read).map_err(rejected)?;
    }
    let is_accepted = resolution.is_proven() || args.accept_unproven;
    Ok(if is_accepted { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A failure that says at its end how many errors the template has beside these.
fn with_others(mut failure: Failure, args: &ResolveArgs) -> Failure {
    // Where there is no variant, the template was read, and looking at all variants may take long.
    const FOUND_LATE: [Code; 5] = [
        Code::MissingInput,
        Code::Unproven,
        Code::Unsatisfiable,
        Code::AmbiguousTopology,
        Code::AmbiguousTechnologies,
    ];
    let template = &args.select.template;
    let is_early = |found: &Diagnostic| {
        found.span.is_some() && !FOUND_LATE.iter().any(|&late| found.code == late)
    };
    let choose = &args.select.choose;
    // Plugins are asked once.
    let is_read_once = streams::is_read_once(template) || !choose.options.plugins.is_empty();
    if is_read_once || !failure.diagnostics.iter().all(is_early) {
        return failure;
    }
    let resolver = select::read_as(Resolver::new(template), choose);
    let validation = resolver.files(ReadFiles::default()).validate();
    let key = |found: &Diagnostic, sources: &SourceMap| {
        (found.code, found.span.map(|span| sources.place(span)))
    };
    let is_error = |found: &&Diagnostic| found.severity == Severity::Error;
    let told: HashSet<_> =
        failure.diagnostics.iter().map(|found| key(found, &failure.sources)).collect();
    let others = validation.diagnostics.iter().filter(is_error);
    let others = others.filter(|found| !told.contains(&key(found, &validation.sources))).count();
    if let Some(last) = failure.diagnostics.last_mut().filter(|_| others > 0) {
        let noun = if others == 1 { "error" } else { "errors" };
        let others = format!("`cuvee validate {}` tells {others} more {noun}", template.display());
        let help = last.help.as_ref().map_or(others.clone(), |help| format!("{help}; {others}"));
        last.help = Some(help.into());
    }
    failure
}

/// The result and the files that it names.
fn files(
    resolution: &Resolution,
    format: ResultFormat,
) -> Result<Vec<(PathBuf, Vec<u8>)>, Failure> {
    let mut files = resolution.to_files()?;
    if let (Some((path, content)), ResultFormat::Json) = (files.first_mut(), format) {
        path.set_extension("json");
        *content = resolution.to_json().into_bytes();
    }
    Ok(files)
}

/// The warnings. An unproven result is an error unless it is accepted.
fn warnings(resolution: &Resolution, accept_unproven: bool) -> Vec<Diagnostic> {
    let mut warnings = resolution.warnings().to_vec();
    for warning in
        warnings.iter_mut().filter(|warning| warning.code == Code::Unproven && !accept_unproven)
    {
        warning.severity = Severity::Error;
    }
    warnings
}

/// Whether the archive would be written into the directory that it packs, under a name that is
/// packed as well.
fn packs_itself(template: &Path, target: &Path) -> bool {
    let is_packed = is_written_archive(target)
        && target.extension().is_none_or(|extension| extension != "csar");
    let directory =
        target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let below = || Some(directory.canonicalize().ok()?.starts_with(template.canonicalize().ok()?));
    is_packed && template.is_dir() && below() == Some(true)
}
