//! Runs `cuvee resolve`.

use super::args::{ResolveArgs, ResultFormat, WatchArgs};
use super::read::ReadFiles;
use super::reporter::Reporter;
use super::streams::STANDARD_INPUT;
use super::{Outcome, format, output, rejected, select, watch};
use cuvee::diagnostic::{Code, Diagnostic, Severity};
use cuvee::source::SourceMap;
use cuvee::source::csar::is_archive;
use cuvee::{Failure, Resolution};
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
    let packed = args.output.as_deref().is_some_and(is_archive);
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
    let mut resolution = match resolver.resolve() {
        Ok(resolution) => resolution,
        Err(failure) => return failed(&failure, args, reporter),
    };
    watch::phase("saving");
    let target = args.output.as_deref();
    let file = target.filter(|target| !is_archive(target));
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

/// Reports why there is no result, and how many errors the template has beside that.
fn failed(failure: &Failure, args: &ResolveArgs, reporter: &Reporter) -> Outcome {
    let code = reporter.failed(failure);
    let template = &args.select.template;
    if !reporter.is_for_people() || *template == Path::new(STANDARD_INPUT) {
        return Ok(code);
    }
    let validation = select::template(template)?.validate();
    let key = |found: &Diagnostic, sources: &SourceMap| {
        (found.code, found.span.map(|span| sources.place(span)))
    };
    let is_error = |found: &&Diagnostic| found.severity == Severity::Error;
    let told: HashSet<_> =
        failure.diagnostics.iter().map(|found| key(found, &failure.sources)).collect();
    let others = validation.diagnostics.iter().filter(is_error);
    let others = others.filter(|found| !told.contains(&key(found, &validation.sources))).count();
    let template = template.display();
    match others {
        0 => {}
        1 => reporter.say(&format!("`cuvee validate {template}` tells 1 more error")),
        _ => reporter.say(&format!("`cuvee validate {template}` tells {others} more errors")),
    }
    Ok(code)
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
    let is_packed =
        is_archive(target) && target.extension().is_none_or(|extension| extension != "csar");
    let directory =
        target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let below = || Some(directory.canonicalize().ok()?.starts_with(template.canonicalize().ok()?));
    is_packed && template.is_dir() && below() == Some(true)
}
