//! Runs `cuvee options`.

use super::args::{ChooseArgs, OptionsArgs};
use super::reporter::Reporter;
use super::{Outcome, select, written};
use cuvee::diagnostic::{Code, Diagnostic};
use cuvee::options::OptionOrigin;
use cuvee::source::SourceMap;
use serde::Serialize;
use std::borrow::Cow;

/// An option in the list.
#[derive(Serialize)]
struct OptionRow<'a> {
    name: &'a str,
    value: Cow<'a, str>,
    origin: String,
    description: &'a str,
}

/// The list of options.
#[derive(Serialize)]
struct OptionList<'a> {
    options: Vec<OptionRow<'a>>,
}

/// Lists the options in effect.
pub(crate) fn run(args: &OptionsArgs, reporter: &Reporter) -> Outcome {
    let (options, sources) = select::resolver(&args.select)?.effective_options()?;
    reporter.report(idle(&args.select.choose).as_slice(), &SourceMap::default());
    let wanted = options.list().filter(|option| args.all || option.origin != OptionOrigin::BuiltIn);
    let rows = wanted.map(|option| OptionRow {
        name: option.name,
        value: option.value,
        origin: option.origin.describe(&sources),
        description: option.description,
    });
    written(&OptionList { options: rows.collect() }, args.format, |list| table(&list.options))
}

/// Warns of flags that are given although no option depends on them.
fn idle(choose: &ChooseArgs) -> Option<Diagnostic> {
    let given = [
        ("--preset", !choose.presets.is_empty()),
        ("--inputs", !choose.inputs_files.is_empty()),
        ("--input", !choose.inputs.is_empty()),
        ("--map", !choose.imports.mappings.is_empty()),
        ("--profile-path", !choose.imports.profile_paths.is_empty()),
        ("--now", choose.now.is_some()),
        ("--solver", choose.solver.is_some()),
    ];
    let given: Vec<_> = given
        .into_iter()
        .filter(|(_, given)| *given)
        .map(|(flag, _)| format!("`{flag}`"))
        .collect();
    let verb = if given.len() == 1 { "does" } else { "do" };
    (!given.is_empty()).then(|| {
        Diagnostic::note(Code::Usage, format!("{} {verb} not matter to options", given.join(", ")))
            .help("options depend on the template, `--option` and `--edition`")
    })
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
