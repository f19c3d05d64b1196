//! Runs `cuvee diff`.

use super::args::{DiffArgs, ListFormat};
use super::diff_files::{ComparedFile, compared};
use super::reporter::Reporter;
use super::{Outcome, json, output, rejected, select};
use clap::ColorChoice;
use clap::builder::styling::{AnsiColor, Style};
use cuvee::diagnostic::Diagnostic;
use cuvee::output::draw::printable;
use cuvee::output::json::NamedDiff;
use cuvee::parts::yaml::write_flow;
use cuvee::source::SourceMap;
use cuvee::source::value::Value;
use cuvee::topology::diff::{Change, Diff, Edit, diff};
use cuvee::{Failure, Resolution, Resolver};
use indexmap::IndexMap;
use std::collections::HashSet;
use std::process::ExitCode;

/// How many characters of a value are shown.
const SHOWN: usize = 60;
/// How many characters of the common beginning are shown before the values part.
const SHARED: usize = 20;
/// The largest width of the name column. Only the values of longer names are shifted further right.
const WIDEST: usize = 48;

/// Compares two variants, or two files.
pub(crate) fn run(args: &DiffArgs, color: ColorChoice, reporter: &Reporter) -> Outcome {
    let files = files(args);
    let names = match &files {
        Some(files) => files.each_ref().map(|file| Some(&**file)),
        None => [args.from.as_deref(), args.to.as_deref()],
    };
    let found = match (&files, &args.select) {
        (Some([from, to]), _) => {
            [(from, to), (to, from)].map(|(file, other)| compared(file, other).map(Side::File))
        }
        (None, Some(select)) => variants(&select::resolver(select)?.load()?, names),
        // Without a template, both sides are files.
        (None, None) => return Ok(ExitCode::FAILURE),
    };
    tell(names, args.other.is_some(), &found, reporter);
    let [Ok(from), Ok(to)] = found else { return Ok(ExitCode::FAILURE) };
    tell_difference(&diff(&from.value(), &to.value()), names, args.exit_code, args.format, color)
}

/// The names of the files that are compared directly. Returns nothing if variants are compared.
fn files(args: &DiffArgs) -> Option<[String; 2]> {
    match (&args.select, &args.other) {
        (Some(select), Some(other)) => {
            Some([&select.template, other].map(|path| path.display().to_string()))
        }
        (Some(_), None) => None,
        (None, _) => Some([&args.from, &args.to].map(|name| name.clone().unwrap_or_default())),
    }
}

/// Writes the differences between two sides. With `exit_code`, the exit code tells whether there
/// are any.
pub(super) fn tell_difference(
    diff: &Diff,
    [from, to]: [Option<&str>; 2],
    exit_code: bool,
    format: ListFormat,
    color: ColorChoice,
) -> Outcome {
    match format {
        ListFormat::Human => output::to_stdout_styled(&human(diff), color),
        ListFormat::Json => output::to_stdout(json(&NamedDiff { from, to, diff })),
    }
    .map_err(rejected)?;
    Ok(ExitCode::from(u8::from(exit_code && !diff.is_empty())))
}

/// One side of a comparison.
enum Side {
    Variant(Resolution),
    File(ComparedFile),
}

impl Side {
    fn value(self) -> Value {
        match self {
            Self::Variant(resolution) => resolution.to_value(),
            Self::File(file) => file.value,
        }
    }
}

type BothSides = [Result<Side, Failure>; 2];

/// Resolves both variants of a template, even if one of them fails.
fn variants(resolver: &Resolver, names: [Option<&str>; 2]) -> BothSides {
    let sides = names.map(|name| select::side(resolver.clone(), name));
    sides.map(|resolver| resolver.resolve().map(Side::Variant))
}

/// Resolves both variants of a template, and reports the problems of each. Returns nothing where one
/// of them fails.
pub(super) fn both(
    resolver: &Resolver,
    names: [Option<&str>; 2],
    reporter: &Reporter,
) -> Option<[Resolution; 2]> {
    let found = variants(resolver, names);
    tell(names, false, &found, reporter);
    match found {
        [Ok(Side::Variant(from)), Ok(Side::Variant(to))] => Some([from, to]),
        _ => None,
    }
}

/// Reports the problems of each side, those of both sides once.
fn tell(names: [Option<&str>; 2], are_files: bool, found: &BothSides, reporter: &Reporter) {
    let [from, to] = found.each_ref().map(diagnostics);
    let lines = |(diagnostics, sources): (&[Diagnostic], &SourceMap)| -> HashSet<String> {
        diagnostics.iter().map(|diagnostic| diagnostic.one_line(sources)).collect()
    };
    let (of_from, of_to) = (from.map(lines).unwrap_or_default(), to.map(lines).unwrap_or_default());
    let shared: HashSet<_> = of_from.intersection(&of_to).collect();
    for (index, side) in [from, to].into_iter().enumerate() {
        let Some((diagnostics, sources)) = side else { continue };
        let told = diagnostics.iter().filter_map(|diagnostic| {
            match shared.contains(&diagnostic.one_line(sources)) {
                true => (index == 0).then(|| diagnostic.clone()),
                false => {
                    let mut named = diagnostic.clone();
                    let label = match names[index].filter(|_| are_files) {
                        Some(name) => name.to_owned(),
                        None => label(index, names),
                    };
                    named.message = format!("{label}: {}", diagnostic.message);
                    Some(named)
                }
            }
        });
        reporter.report(&told.collect::<Vec<_>>(), sources);
    }
}

fn diagnostics(found: &Result<Side, Failure>) -> Option<(&[Diagnostic], &SourceMap)> {
    match found {
        Ok(Side::Variant(resolution)) => Some((resolution.warnings(), resolution.source_map())),
        Ok(Side::File(file)) => Some((&file.told, &file.sources)),
        Err(failure) => Some((&failure.diagnostics, &failure.sources)),
    }
}

fn label(index: usize, names: [Option<&str>; 2]) -> String {
    let flag = ["--from", "--to"][index];
    names[index].map_or_else(|| format!("without {flag}"), |name| format!("{flag} {name}"))
}

/// A line of the list.
struct DifferenceLine {
    indent: usize,
    sign: Sign,
    name: String,
    detail: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Added,
    Removed,
    Changed,
}

impl Sign {
    const ALL: [Self; 3] = [Self::Added, Self::Removed, Self::Changed];

    fn of(edit: &Edit) -> Self {
        match edit {
            Edit::Added { .. } => Self::Added,
            Edit::Removed { .. } => Self::Removed,
            Edit::Changed { .. } => Self::Changed,
        }
    }

    /// The sign, its colour, and the word for the change of an element.
    fn look(self) -> (char, AnsiColor, &'static str) {
        match self {
            Self::Added => ('+', AnsiColor::Green, "added"),
            Self::Removed => ('-', AnsiColor::Red, "removed"),
            Self::Changed => ('~', AnsiColor::Yellow, "changed"),
        }
    }
}

pub(super) fn human(diff: &Diff) -> String {
    if diff.is_empty() {
        return "no difference\n".into();
    }
    let rows = rows(diff);
    let width = rows
        .iter()
        .map(DifferenceLine::width)
        .filter(|width| *width <= WIDEST)
        .max()
        .unwrap_or_default();
    let list: String = rows.iter().map(|row| row.line(width)).collect();
    let count = |sign: Sign| rows.iter().filter(|row| row.indent == 0 && row.sign == sign).count();
    let counts = Sign::ALL
        .into_iter()
        .map(|sign| (count(sign), sign.look().2))
        .filter(|(count, _)| *count > 0);
    let counts: Vec<_> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    format!("{list}\n{}\n", counts.join(", "))
}

/// Lists the elements, and the changes in each.
fn rows(diff: &Diff) -> Vec<DifferenceLine> {
    let mut elements: IndexMap<&str, Vec<&Change>> = IndexMap::new();
    for change in &diff.changes {
        elements.entry(&change.element).or_default().push(change);
    }
    let mut rows = Vec::new();
    for (name, changes) in elements {
        match changes[..] {
            [whole] if whole.path.is_empty() => {
                rows.push(DifferenceLine {
                    indent: 0,
                    sign: Sign::of(&whole.edit),
                    name: printable(name).into_owned(),
                    detail: whole_detail(&whole.edit),
                });
            }
            _ => {
                rows.push(DifferenceLine {
                    indent: 0,
                    sign: Sign::Changed,
                    name: printable(name).into_owned(),
                    detail: String::new(),
                });
                rows.extend(changes.into_iter().map(|Change { path, edit, .. }| DifferenceLine {
                    indent: 2,
                    sign: Sign::of(edit),
                    name: printable(path).into_owned(),
                    detail: detail(edit),
                }));
            }
        }
    }
    rows
}

impl DifferenceLine {
    /// The width of the name, if details follow it.
    fn width(&self) -> usize {
        if self.detail.is_empty() { 0 } else { self.indent + self.name.chars().count() }
    }

    fn line(&self, width: usize) -> String {
        let Self { indent, sign, name, detail } = self;
        let (sign, color, _) = sign.look();
        let style = Style::new().fg_color(Some(color.into()));
        let style = if *indent == 0 { style.bold() } else { style };
        let gap = if detail.is_empty() { 0 } else { width.saturating_sub(self.width()) + 2 };
        format!("{:indent$}{style}{sign} {name}{style:#}{:gap$}{detail}\n", "", "")
    }
}

/// The detail of a whole element: its type, or else its value.
fn whole_detail(edit: &Edit) -> String {
    match edit {
        Edit::Added { to: Value::Map(entries) } | Edit::Removed { from: Value::Map(entries) } => {
            let telling = |key: &str| {
                entries.iter().find(|(name, _)| &**name == key).map(|(_, value)| write_flow(value))
            };
            telling("type")
                .or_else(|| telling("value"))
                .map(|text| cut(&text, 0))
                .unwrap_or_else(|| detail(edit))
        }
        // The name of a file is shown already.
        Edit::Added { to: Value::String(_) } | Edit::Removed { from: Value::String(_) } => {
            String::new()
        }
        edit => detail(edit),
    }
}

fn detail(edit: &Edit) -> String {
    match edit {
        Edit::Added { to: value } | Edit::Removed { from: value } => cut(&write_flow(value), 0),
        Edit::Changed { from, to } => {
            let (from, to) = (write_flow(from), write_flow(to));
            let shared = from.chars().zip(to.chars()).take_while(|(from, to)| from == to).count();
            let long = from.chars().count().max(to.chars().count()) > SHOWN;
            let skipped = if long { shared.saturating_sub(SHARED) } else { 0 };
            format!("{} -> {}", cut(&from, skipped), cut(&to, skipped))
        }
    }
}

fn cut(text: &str, skipped: usize) -> String {
    let mut rest = text.chars().skip(skipped);
    let shown: String = rest.by_ref().take(SHOWN).collect();
    let (before, behind) =
        (if skipped > 0 { "…" } else { "" }, if rest.next().is_some() { "…" } else { "" });
    format!("{before}{shown}{behind}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use snapbox::{assert_data_eq, str};

    fn change(element: &str, path: &str, edit: Edit) -> Change {
        Change { element: element.into(), path: path.into(), edit }
    }

    fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
        Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    fn plain(changes: Vec<Change>) -> String {
        anstream::adapter::strip_str(&human(&Diff { changes })).to_string()
    }

    #[test]
    fn elements_are_groups_and_are_counted() {
        let url = map([("description", "where".into()), ("value", "x".into())]);
        let changes = vec![
            change(
                "document",
                "metadata.version",
                Edit::Changed { from: 1.into(), to: "1".into() },
            ),
            change("import.lib.yaml", "", Edit::Removed { from: "lib.yaml".into() }),
            change("output.url", "", Edit::Added { to: url }),
            change("input.i", "", Edit::Added { to: map([("default", 1.into())]) }),
            change("group.g", "", Edit::Changed { from: 1.into(), to: Value::Null }),
            change("node.shop", "members", Edit::Removed { from: "a".into() }),
            change("node.shop", &"p".repeat(60), Edit::Added { to: Value::Null }),
            // There is only one document, whatever changed in it.
            change("document", "description", Edit::Removed { from: "é\u{1b}[2J".into() }),
        ];
        assert_data_eq!(
            plain(changes),
            str![[r#"
~ document
  ~ metadata.version  1 -> '1'
  - description       "é/x1b[2J"
- import.lib.yaml
+ output.url          x
+ input.i             {default: 1}
~ group.g             1 -> null
~ node.shop
  - members           a
  + pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp  null

2 added, 1 removed, 3 changed

"#]]
        );
        assert_eq!(plain(Vec::new()), "no difference\n");
    }

    #[test]
    fn names_move_no_cursor_and_styles_end() {
        let text = human(&Diff {
            changes: vec![change("node.\u{1b}[2Jx\n", "", Edit::Removed { from: "a".into() })],
        });
        assert_eq!(text, "\u{1b}[1m\u{1b}[31m- node.\\u{1b}[2Jx\\n\u{1b}[0m\n\n1 removed\n");
    }

    #[test]
    fn long_values_are_shown_where_they_part() {
        let long =
            |middle: &str| Value::from(format!("{}{middle}{}", "s".repeat(100), "t".repeat(100)));
        let (start, end) = ("s".repeat(SHARED), "t".repeat(SHOWN - SHARED - 1));
        let edit = Edit::Changed { from: long("é"), to: long("è") };
        assert_eq!(detail(&edit), format!("…{start}é{end}… -> …{start}è{end}…"));
        let edit = Edit::Changed { from: long("é"), to: 1.into() };
        assert_eq!(detail(&edit), format!("{}… -> 1", "s".repeat(SHOWN)));
        let short = |end: &str| Value::from(format!("{}{end}", "s".repeat(SHOWN - 1)));
        assert_eq!(detail(&Edit::Added { to: short("é") }), short("é").to_string());
        assert_eq!(detail(&Edit::Removed { from: short("éé") }), format!("{}…", short("é")));
        assert_eq!(detail(&Edit::Changed { from: "sea".into(), to: "see".into() }), "sea -> see");
    }
}
