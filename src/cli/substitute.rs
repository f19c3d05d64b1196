//! `cuvee substitute`

use super::args::{ResultFormat, SubstituteArgs};
use super::read::ReadFiles;
use super::reporter::Reporter;
use super::stored::{NamedModel, exported, store};
use super::{Outcome, output, rejected, select};
use cuvee::csar::is_archive;
use cuvee::diagnostic::{Diagnostic, Severity};
use cuvee::fulfil::Inventory;
use cuvee::instance::{StoredInstance, read_model};
use cuvee::source::FileSystem;
use cuvee::{Failure, Resolver};
use std::path::Path;
use std::process::ExitCode;

/// Selects, fulfils, and writes.
pub(crate) fn run(args: &SubstituteArgs, reporter: &Reporter) -> Outcome {
    output::clean_up_on_interrupt();
    let read = ReadFiles::default();
    let mut resolver = select::resolver(&args.select)?.files(read.clone());
    resolver = select::with_deployment(
        resolver,
        &args.deployment.deployment_files,
        &args.deployment.deployment_inputs,
    );
    if let Some(time) = args.timeout {
        resolver = resolver.timeout(time);
    }
    let inventory = match &args.inventory {
        Some(source) => inventory(source, args.store.as_deref(), &resolver, &read)?,
        None => Inventory::default(),
    };
    let mut result = resolver.fulfil(&inventory)?;
    if args.strict && result.warnings().iter().any(is_warning) {
        return Err(Failure {
            diagnostics: result.warnings().iter().cloned().map(stricter).collect(),
            sources: result.source_map().clone(),
        });
    }
    reporter.report(result.warnings(), result.source_map());
    let target = args.output.as_deref();
    if let Some(directory) =
        target.filter(|target| !is_archive(target)).and_then(output::directory_of)
    {
        result.relocate(directory);
    }
    let content = match format(args) {
        _ if target.is_some_and(is_archive) => result.to_csar()?,
        ResultFormat::Yaml => result.to_yaml().as_bytes().to_vec(),
        ResultFormat::Json => result.to_json().into_bytes(),
    };
    output::deliver(target, content, &read).map_err(rejected)?;
    Ok(if result.is_proven() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn is_warning(found: &Diagnostic) -> bool {
    found.severity == Severity::Warning
}

fn stricter(found: Diagnostic) -> Diagnostic {
    let severity = if is_warning(&found) { Severity::Error } else { found.severity };
    let mut stricter = found;
    stricter.severity = severity;
    stricter
}

/// What was said, or what the file is called after.
fn format(args: &SubstituteArgs) -> ResultFormat {
    let is_json = args.output.as_deref().and_then(Path::extension).is_some_and(|it| it == "json");
    args.format.unwrap_or(if is_json { ResultFormat::Json } else { ResultFormat::Yaml })
}

/// What is there: an instance, an export of one, or a template.
fn inventory(
    source: &str,
    directory: Option<&Path>,
    resolver: &Resolver,
    read: &ReadFiles,
) -> Result<Inventory, Failure> {
    if let Some(name) = source.strip_prefix("instance:") {
        let NamedModel::Instance(name, at) = NamedModel::of(name, None)? else {
            return model_inventory(Path::new(name), resolver, read);
        };
        let store = store(directory);
        let model = read_model(&store, name, at).map_err(rejected)?;
        return StoredInstance::open(&store, name).map_err(rejected)?.inventory_of(&model);
    }
    let path = Path::new(source);
    let is_export = path.is_file()
        && read
            .read(path)
            .is_ok_and(|text| memchr::memmem::find(&text, b"tosca_instance_version").is_some());
    if is_export {
        return model_inventory(path, resolver, read);
    }
    Ok(Resolver::new(path).files(read.clone()).inventory()?.result)
}

fn model_inventory(
    path: &Path,
    resolver: &Resolver,
    read: &ReadFiles,
) -> Result<Inventory, Failure> {
    let model = exported(path, read)?;
    Ok(resolver.inventory_of(&model)?.result)
}
