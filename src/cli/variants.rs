//! Runs `cuvee variants`.

use super::args::{ListFormat, VariantsArgs, VariantsFormat};
use super::read::ReadFiles;
use super::reporter::Reporter;
use super::{Outcome, answered, csv, json, output, rejected, select, written};
use cuvee::diagnostic::{Code, Diagnostic};
use cuvee::explore::{Count, Found, Query, Variant, Which, flags};
use cuvee::parts::yaml::write_flow;
use cuvee::source::SourceMap;
use cuvee::{Failure, Resolver};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// Lists, counts, samples or covers variants.
pub(crate) fn run(args: &VariantsArgs, reporter: &Reporter) -> Outcome {
    let read = ReadFiles::default();
    let resolver = select::resolver(&args.select)?.files(read.clone()).load()?;
    let resolver =
        args.conditions.iter().fold(resolver, |resolver, text| resolver.only_where(text));
    let query = Query {
        projection: args.projection.into(),
        which: which(args),
        limit: args.limit,
        effort: args.effort,
    };
    let format = list_format(args)?;
    if args.count {
        let count = resolver.count_variants(&query)?;
        return answered(&count, format.unwrap_or(ListFormat::Human), reporter, counted);
    }
    let found = if args.all_presets {
        resolver.preset_variants(query.projection)?
    } else {
        let answer = resolver.variants(&query)?;
        reporter.report(&answer.warnings, &answer.sources);
        answer.result
    };
    if let Some(dir) = &args.output_dir {
        write_all(&resolver, &found, dir, &read, reporter)?;
    }
    if let Some(format) = format {
        return written(&found, format, human);
    }
    if found.more {
        let more = Diagnostic::note(Code::Usage, "there are more variants than are listed");
        reporter.report(&[more.help("`--limit` lists more")], &SourceMap::default());
    }
    output::to_stdout(table(&found)).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

/// The format that every list has; `None` for a table, which not every answer is.
fn list_format(args: &VariantsArgs) -> Result<Option<ListFormat>, Failure> {
    let (what, help) = match args.format {
        VariantsFormat::Human => return Ok(Some(ListFormat::Human)),
        VariantsFormat::Json => return Ok(Some(ListFormat::Json)),
        VariantsFormat::Csv if args.count => ("a count", "leave out `--format`"),
        VariantsFormat::Csv if args.all_presets => {
            ("variants of presets", "`cuvee matrix --format csv` has a column for each")
        }
        VariantsFormat::Csv => return Ok(None),
    };
    let message = format!("{what} cannot be written as a table of open inputs");
    Err(rejected(Diagnostic::error(Code::Usage, message).help(help)))
}

/// A line for each variant: its name, and the values of the open inputs as `--input` takes them. A
/// field is empty where any value leads to the variant.
fn table(found: &Found) -> String {
    let names = found.variants.first().into_iter().flat_map(|variant| &variant.inputs);
    let names = names.map(|input| &*input.name);
    let mut text = csv::line(["variant"].into_iter().chain(names));
    for variant in &found.variants {
        let values = variant.inputs.iter().map(|input| input.value.as_ref().map(write_flow));
        let values = values.map(Option::unwrap_or_default);
        text.push_str(&csv::line([variant.name.clone()].into_iter().chain(values)));
    }
    text
}

fn which(args: &VariantsArgs) -> Which {
    match (args.sample, args.twise, args.minimize) {
        (Some(count), ..) => Which::Sample(count, args.seed),
        (_, Some(strength), _) => Which::Covering(strength.into()),
        (.., Some(goal)) => Which::Best(goal.into()),
        _ if args.pairwise => Which::Covering(2),
        _ => Which::All,
    }
}

fn human(found: &Found) -> String {
    let mut text = String::new();
    for variant in &found.variants {
        // Writing into a string does not fail.
        let _ = writeln!(text, "{}  {}", variant.name, nodes(variant));
        if variant.preset.is_none() {
            let _ = writeln!(text, "    {}", flags(&variant.inputs));
        }
    }
    for rejected in found.rejected.chunk_by(|a, b| a.reasons == b.reasons) {
        let presets: Vec<_> = rejected.iter().map(|rejected| &*rejected.preset).collect();
        let reasons = rejected.first().map(|rejected| rejected.reasons.join("\n    "));
        let _ = writeln!(
            text,
            "{}  no variant\n    {}",
            presets.join(", "),
            reasons.unwrap_or_default()
        );
    }
    let count = found.variants.len();
    let covers = if count == 1 { "covers" } else { "cover" };
    let covered = found
        .covered
        .map(|cases| format!(" {covers} {cases} combinations of cases"))
        .unwrap_or_default();
    let cost = found.cost.as_ref().map(|cost| format!(", cost {cost}")).unwrap_or_default();
    let more = match (found.more, &found.cost) {
        (false, _) => "",
        (true, None) => ", and there are more",
        (true, Some(_)) => ", and there are others as good",
    };
    let _ = writeln!(text, "{}{covered}{cost}{more}", variants(&count.to_string()));
    text
}

fn counted(count: &Count) -> String {
    let of = match count.fixed {
        Some(fixed) => format!(": those in which {fixed} open inputs are as in one of them"),
        None => String::new(),
    };
    format!("{}{of}\n", amount(count))
}

/// How many variants there are, or are at least or at most.
pub(super) fn amount(count: &Count) -> String {
    let bound = match (count.exact, count.fixed) {
        (true, _) => "",
        (false, Some(_)) => "at least ",
        (false, None) => "at most ",
    };
    format!("{bound}{}", variants(&count.count))
}

fn variants(count: &str) -> String {
    format!("{count} variant{}", if count == "1" { "" } else { "s" })
}

/// The names of the present nodes, and the number of other present elements.
fn nodes(variant: &Variant) -> String {
    let names: Vec<_> = variant.present.iter().filter_map(|id| id.strip_prefix("node.")).collect();
    let others = variant.present.len() - names.len();
    let names = if names.is_empty() { "no nodes".to_owned() } else { names.join(" ") };
    if others == 0 { names } else { format!("{names} (+{others})") }
}

/// The list of files in a directory of resolved variants.
#[derive(Serialize)]
struct Manifest<'f> {
    variants: Vec<WrittenVariant<'f>>,
    /// Whether there are further variants.
    more: bool,
}

#[derive(Serialize)]
struct WrittenVariant<'f> {
    file: String,
    #[serde(flatten)]
    variant: &'f Variant,
}

/// The name of the manifest.
const MANIFEST: &str = "manifest.json";

/// Resolves every variant into a file with its name, and lists the files in a manifest.
fn write_all(
    resolver: &Resolver,
    found: &Found,
    dir: &Path,
    read: &ReadFiles,
    reporter: &Reporter,
) -> Result<(), Failure> {
    output::clean_up_on_interrupt();
    output::create_directory(dir).map_err(rejected)?;
    let mut entries = Vec::new();
    // All variants give the same warnings about file names, so each is reported once.
    let mut told: Vec<Diagnostic> = Vec::new();
    for variant in &found.variants {
        let values =
            variant.inputs.iter().filter_map(|input| Some((&input.name, input.value.clone()?)));
        let resolver = variant
            .preset
            .iter()
            .fold(resolver.clone(), |resolver, preset| resolver.preset(preset));
        let resolver = values.fold(resolver, |resolver, (name, value)| resolver.input(name, value));
        let file = format!("{}.yaml", file_name(&variant.name));
        let mut resolution = resolver.resolve()?;
        let known = resolution.warnings().len();
        resolution.relocate(dir);
        let new = resolution.warnings().get(known..).unwrap_or_default();
        let new: Vec<_> = new.iter().filter(|warning| !told.contains(warning)).cloned().collect();
        reporter.report(&new, resolution.source_map());
        told.extend(new);
        output::to_unread_file(&dir.join(&file), resolution.to_yaml(), read).map_err(rejected)?;
        entries.push(WrittenVariant { file, variant });
    }
    let manifest = Manifest { variants: entries, more: found.more };
    output::to_unread_file(&dir.join(MANIFEST), json(&manifest), read).map_err(rejected)
}

/// The file name for the name of a preset, which may contain any characters. Different presets have
/// different file names.
fn file_name(name: &str) -> String {
    let mut text = String::new();
    for (index, c) in name.char_indices() {
        match c {
            '.' if index > 0 => text.push(c),
            _ if c.is_alphanumeric() || "-_ ".contains(c) => text.push(c),
            _ => text.extend(c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("%{byte:02x}"))),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn files_stay_in_the_directory() {
        let names = ["prod", "eu-1.10", "größe", "../up", "a/b", "a%2fb", ".hidden", "c:\\d"];
        let files =
            ["prod", "eu-1.10", "größe", "%2e.%2fup", "a%2fb", "a%252fb", "%2ehidden", "c%3a%5cd"];
        assert_eq!(names.map(file_name), files);
    }
}
