//! Runs `cuvee substitute`.

use super::args::WatchArgs;
use super::args::substitute::{SubstituteArgs, SubstituteFormat};
use super::read::ReadFiles;
use super::reporter::Reporter;
use super::stored::{NamedModel, exported, store};
use super::{Outcome, format, json, output, rejected, select, stricter};
use cuvee::deploy::fulfil::Inventory;
use cuvee::deploy::instance::{StoredInstance, read_model};
use cuvee::deploy::substitute::{SubstitutionExplanation, SubstitutionQuery, human};
use cuvee::diagnostic::{Code, Diagnostic, Severity};
use cuvee::source::FileSystem;
use cuvee::source::csar::is_written_archive;
use cuvee::{Failure, Resolver};
use std::path::Path;
use std::process::ExitCode;

/// Selects nodes, fulfils requirements, substitutes nodes, and writes the result.
pub(crate) fn run(args: &SubstituteArgs, watch: &WatchArgs, reporter: &Reporter) -> Outcome {
    output::clean_up_on_interrupt();
    if args.nest && !args.output.as_deref().is_some_and(is_written_archive) {
        let error = Diagnostic::error(
            Code::Usage,
            "`--nest` writes an archive and needs a file name for it",
        );
        return Err(rejected(error.help("name the archive with `-o`, such as `-o shop.csar`")));
    }
    let format = wanted(args)?;
    let read = ReadFiles::default();
    let mut resolver = select::resolver(&args.select)?.files(read.clone());
    resolver = select::with_deployment(
        resolver,
        &args.deployment.deployment_files,
        &args.deployment.deployment_inputs,
    );
    if let Some(time) = watch.timeout {
        resolver = resolver.timeout(time);
    }
    let inventory = match &args.inventory {
        Some(source) => inventory(source, args.store.as_deref(), &resolver, &read)?,
        None => Inventory::default(),
    };
    let chosen = args.candidates.iter().cloned();
    let query = SubstitutionQuery::with(&args.with).inventory(inventory);
    let query = query.candidates(args.variants.into());
    let query = if args.nest { query.nested() } else { query };
    let query = chosen.fold(query, |query, (node, file, preset)| query.choose(node, file, preset));
    let substituted = resolver.substitute(&query)?;
    let nested = match args.nest {
        true => Some(substituted.to_nested_csar()?),
        false => None,
    };
    let mut result = substituted.resolution;
    if args.strict && result.warnings().iter().any(is_warning) {
        return Err(Failure {
            diagnostics: result.warnings().iter().cloned().map(stricter).collect(),
            sources: result.source_map().clone(),
        });
    }
    reporter.report(result.warnings(), result.source_map());
    let target = args.output.as_deref();
    if let Some(directory) =
        target.filter(|target| !is_written_archive(target)).and_then(output::directory_of)
    {
        result.relocate(directory);
    }
    let content = match (nested, format) {
        (Some(archive), _) => archive,
        _ if args.explain => explained(&substituted.explained, format).into_bytes(),
        _ if target.is_some_and(is_written_archive) && args.with.is_empty() => result.to_csar()?,
        _ if target.is_some_and(is_written_archive) => result.to_csar_of_files()?,
        (_, SubstituteFormat::Json) => result.to_json().into_bytes(),
        (_, SubstituteFormat::Human | SubstituteFormat::Yaml) => {
            result.to_yaml().as_bytes().to_vec()
        }
    };
    output::deliver(target, content, &read).map_err(rejected)?;
    Ok(if result.is_proven() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn is_warning(found: &Diagnostic) -> bool {
    found.severity == Severity::Warning
}

/// The requested format, or else the one that the extension of the file stands for.
fn wanted(args: &SubstituteArgs) -> Result<SubstituteFormat, Failure> {
    let (default, wrong) = match args.explain {
        true => (SubstituteFormat::Human, SubstituteFormat::Yaml),
        false => (SubstituteFormat::Yaml, SubstituteFormat::Human),
    };
    let file = args.output.as_deref().filter(|file| !is_written_archive(file));
    let format = format::chosen(args.format, file)?.unwrap_or(default);
    if format == wrong {
        let (what, formats) = match args.explain {
            true => ("an explanation", "`human` or `json`"),
            false => ("a template", "`yaml` or `json`"),
        };
        let error = Diagnostic::error(Code::Usage, format!("{what} is not written in this format"));
        return Err(rejected(error.help(format!("choose {formats}"))));
    }
    Ok(format)
}

fn explained(explained: &SubstitutionExplanation, format: SubstituteFormat) -> String {
    match format {
        SubstituteFormat::Json => json(explained),
        SubstituteFormat::Human | SubstituteFormat::Yaml => human(explained),
    }
}

/// The available nodes: of an instance, an export of one, or a template.
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
