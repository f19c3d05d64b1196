//! Runs `cuvee matrix`.

use super::args::{Elements, MatrixArgs, MatrixFormat};
use super::{Outcome, csv, json, output, rejected, select};
use cuvee::explore::ElementKind;
use cuvee::explore::matrix::{Column, Matrix, Row};
use std::process::ExitCode;

/// Shows which elements are present with which preset.
pub(crate) fn run(args: &MatrixArgs) -> Outcome {
    let mut matrix = select::resolver(&args.select)?.matrix()?;
    matrix.rows.retain(|row| args.elements == Elements::All || row.kind == ElementKind::Node);
    let text = match args.format {
        MatrixFormat::Human => human(&matrix, args.elements),
        MatrixFormat::Json => json(&matrix),
        MatrixFormat::Csv => table(&matrix),
        MatrixFormat::Markdown => markdown(&matrix, args.elements),
    };
    output::to_stdout(&text).map_err(rejected)?;
    Ok(ExitCode::SUCCESS)
}

fn title(column: &Column) -> &str {
    column.preset.as_deref().unwrap_or("-")
}

/// The label of a row. If there are only nodes, the prefix `node.` is dropped.
fn label(row: &Row, elements: Elements) -> &str {
    match elements {
        Elements::Nodes => row.identifier.strip_prefix("node.").unwrap_or(&row.identifier),
        Elements::All => &row.identifier,
    }
}

fn sign(present: Option<bool>) -> &'static str {
    match present {
        Some(true) => "●",
        Some(false) => "·",
        None => "✗",
    }
}

/// The number of present elements in each column.
fn counts(matrix: &Matrix) -> impl Iterator<Item = String> {
    (0..matrix.columns.len()).map(|at| {
        let present =
            || matrix.rows.iter().filter_map(|row| row.present.get(at).copied().flatten());
        let known = matrix.columns[at].rejected.is_empty();
        if known {
            present().filter(|&present| present).count().to_string()
        } else {
            "✗".to_owned()
        }
    })
}

fn human(matrix: &Matrix, elements: Elements) -> String {
    let first = matrix
        .rows
        .iter()
        .map(|row| label(row, elements))
        .chain(["present"])
        .map(width)
        .max()
        .unwrap_or_default();
    let widths: Vec<_> = matrix.columns.iter().map(|column| width(title(column)).max(3)).collect();
    let mut text = String::new();
    let mut line = |head: &str, cells: &mut dyn Iterator<Item = String>| {
        let cells: String = cells
            .zip(&widths)
            .map(|(cell, &width)| format!("  {}", centred(&cell, width)))
            .collect();
        let line = format!("{head}{}{cells}", " ".repeat(first.saturating_sub(width(head))));
        text.push_str(line.trim_end());
        text.push('\n');
    };
    line("", &mut matrix.columns.iter().map(|column| title(column).to_owned()));
    for row in &matrix.rows {
        line(
            label(row, elements),
            &mut row.present.iter().map(|&present| sign(present).to_owned()),
        );
    }
    line("present", &mut counts(matrix));
    let notes = notes(matrix);
    if !notes.is_empty() {
        text.push('\n');
    }
    notes.iter().for_each(|(title, reason)| text.push_str(&format!("✗ {title}: {reason}\n")));
    text
}

/// The reasons why columns are empty. Adjacent columns with the same reasons share a note.
fn notes(matrix: &Matrix) -> Vec<(String, &str)> {
    let alike = matrix.columns.chunk_by(|a, b| a.rejected == b.rejected);
    let notes = alike.flat_map(|columns| {
        let titles: Vec<_> = columns.iter().map(title).collect();
        let reasons = columns.first().into_iter().flat_map(|column| &column.rejected);
        reasons.map(move |reason| (titles.join(", "), &**reason))
    });
    notes.collect()
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn centred(text: &str, to: usize) -> String {
    let room = to.saturating_sub(width(text));
    format!("{}{text}{}", " ".repeat(room / 2), " ".repeat(room - room / 2))
}

fn table(matrix: &Matrix) -> String {
    let state = |present: &Option<bool>| {
        present.map_or("rejected", |present| if present { "present" } else { "absent" })
    };
    let mut text = csv::line(["element"].into_iter().chain(matrix.columns.iter().map(title)));
    for row in &matrix.rows {
        let states = row.present.iter().map(state);
        text.push_str(&csv::line([&*row.identifier].into_iter().chain(states)));
    }
    text
}

pub(super) fn markdown(matrix: &Matrix, elements: Elements) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| {
        format!("|{}\n", cells.map(|cell| format!(" {cell} |")).collect::<String>())
    };
    let titles = matrix.columns.iter().map(|column| markdown_text(title(column)));
    let mut text = line(&mut ["Element".to_owned()].into_iter().chain(titles));
    text.push_str(&line(
        &mut ["---".to_owned()].into_iter().chain(matrix.columns.iter().map(|_| ":-:".to_owned())),
    ));
    for row in &matrix.rows {
        let signs = row.present.iter().map(|&present| sign(present).to_owned());
        text.push_str(&line(&mut [markdown_text(label(row, elements))].into_iter().chain(signs)));
    }
    let notes = notes(matrix);
    if !notes.is_empty() {
        text.push('\n');
    }
    notes.iter().for_each(|(title, reason)| {
        text.push_str(&format!("- ✗ {}: {}\n", markdown_text(title), markdown_text(reason)))
    });
    text
}

fn markdown_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '|' | '<' | '>' | '[' | ']' | '&' | '#' | '~' => {
                out.extend(['\\', c])
            }
            _ if c.is_control() => out.push(' '),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix() -> Matrix {
        let column = |preset: Option<&str>, rejected: &[&str]| Column {
            preset: preset.map(str::to_owned),
            description: None,
            rejected: rejected.iter().map(|&reason| reason.to_owned()).collect(),
        };
        let row = |identifier: &str, present: [Option<bool>; 3]| Row {
            identifier: identifier.to_owned(),
            kind: ElementKind::Node,
            present: present.to_vec(),
        };
        Matrix {
            columns: vec![
                column(None, &[]),
                column(Some("a,\"b\"|c"), &[]),
                column(Some("no"), &["error: a|b", "error: c"]),
            ],
            rows: vec![
                row("node.é", [Some(true), Some(false), None]),
                row("node.shop_1", [Some(true), Some(true), None]),
            ],
        }
    }

    #[test]
    fn columns_are_aligned() {
        let expected = "          -   a,\"b\"|c  no
é         ●      ·      ✗
shop_1    ●      ●      ✗
present   2      1      ✗

✗ no: error: a|b
✗ no: error: c
";
        assert_eq!(human(&matrix(), Elements::Nodes), expected);
    }

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let expected = "element,-,\"a,\"\"b\"\"|c\",no\nnode.é,present,absent,rejected\nnode.shop_1,present,present,rejected\n";
        assert_eq!(table(&matrix()), expected);
    }

    #[test]
    fn nothing_gets_out_of_a_cell() {
        let expected = "\
| Element | - | a,\"b\"\\|c | no |
| --- | :-: | :-: | :-: |
| é | ● | · | ✗ |
| shop\\_1 | ● | ● | ✗ |

- ✗ no: error: a\\|b
- ✗ no: error: c
";
        assert_eq!(markdown(&matrix(), Elements::Nodes), expected);
    }
}
