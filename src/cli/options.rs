//! `cuvee options`

use super::args::{ListFormat, OptionsArgs};
use super::select::{template, with_options};
use super::{Outcome, output, rejected};
use cuvee::options::OptionOrigin;
use serde::Serialize;
use std::borrow::Cow;
use std::process::ExitCode;

/// An option as it is listed.
#[derive(Serialize)]
struct OptionRow<'a> {
    name: &'a str,
    value: Cow<'a, str>,
    origin: String,
    description: &'a str,
}

/// Lists the options in effect.
pub(crate) fn run(args: &OptionsArgs) -> Outcome {
    let resolver = with_options(template(&args.template)?, &args.options);
    let (options, sources) = resolver.effective_options()?;
    let wanted = options.list().filter(|option| args.all || option.origin != OptionOrigin::BuiltIn);
    let rows: Vec<_> = wanted
        .map(|option| OptionRow {
            name: option.name,
            value: option.value,
            origin: option.origin.describe(&sources),
            description: option.description,
        })
        .collect();
    let text = match args.format {
        ListFormat::Human => table(&rows),
        // Texts always serialise.
        ListFormat::Json => serde_json::to_string_pretty(&rows).unwrap_or_default() + "\n",
    };
    output::to_stdout(&text).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

fn table(rows: &[OptionRow<'_>]) -> String {
    let names = widest(rows.iter().map(|row| row.name));
    let values = widest(rows.iter().map(|row| &*row.value));
    rows.iter()
        .map(|row| format!("{:names$}  {:values$}  {}\n", row.name, row.value, row.origin))
        .collect()
}

fn widest<'a>(cells: impl Iterator<Item = &'a str>) -> usize {
    cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuvee::source::{SourceMap, Span};

    #[test]
    fn every_origin_is_named() {
        let sources = SourceMap::default();
        let file = sources.add("shop.yaml", "é: 1\nmode: manual\n");
        let origins = [
            OptionOrigin::BuiltIn,
            OptionOrigin::Release("tosca_variability_1_0_rc_2"),
            OptionOrigin::Edition("2025-07"),
            OptionOrigin::Mode("semantic-loose"),
            OptionOrigin::Template(Span { file, start: 12, end: 18 }),
            OptionOrigin::CommandLine,
        ];
        let names = origins.map(|one| one.describe(&sources));
        let expected = [
            "built-in",
            "release tosca_variability_1_0_rc_2",
            "edition 2025-07",
            "mode semantic-loose",
            "shop.yaml:2:7",
            "command line",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn columns_are_aligned() {
        let row = |name, value: &'static str| OptionRow {
            name,
            value: value.into(),
            origin: "built-in".into(),
            description: "",
        };
        assert_eq!(
            table(&[row("checks", "true"), row("a", "é")]),
            "checks  true  built-in\na       é     built-in\n"
        );
        assert_eq!(table(&[]), "");
    }
}
