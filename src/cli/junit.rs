//! Writes test reports as XML in the format of JUnit, which build servers display.

use cuvee::parts::xml::XmlText;
use cuvee::testing::{Case, Report};
use std::fmt::Write;
use std::path::Path;

/// Writes a report with a suite for each directory of cases.
pub(super) fn document(report: &Report) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    // Writing into a string does not fail.
    let _ = writeln!(
        text,
        "<testsuites name=\"cuvee\" tests=\"{}\" failures=\"{}\" errors=\"0\">",
        report.cases.len() + report.skipped.len(),
        report.failed()
    );
    let mut suites: Vec<(&Path, Vec<Tested<'_>>)> = Vec::new();
    let run = report.cases.iter().map(|case| (case.path.as_path(), Tested::Run(case)));
    let skipped = report.skipped.iter().map(|path| (path.as_path(), Tested::Skipped(path)));
    for (path, case) in run.chain(skipped) {
        let suite = path.parent().unwrap_or(path);
        match suites.iter_mut().rev().find(|(known, _)| *known == suite) {
            Some((_, cases)) => cases.push(case),
            None => suites.push((suite, vec![case])),
        }
    }
    for (path, cases) in suites {
        let failed = cases.iter().filter(|case| case.is_failing()).count();
        let skipped = cases.iter().filter(|case| matches!(case, Tested::Skipped(_))).count();
        let name = XmlText(&path.to_string_lossy()).to_string();
        let count = cases.len();
        let _ = writeln!(
            text,
            "  <testsuite name=\"{name}\" tests=\"{count}\" failures=\"{failed}\" errors=\"0\" skipped=\"{skipped}\">"
        );
        cases.iter().for_each(|case| case.write(&name, &mut text));
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

/// A case that ran or was skipped.
enum Tested<'r> {
    Run(&'r Case),
    Skipped(&'r Path),
}

impl Tested<'_> {
    fn is_failing(&self) -> bool {
        matches!(self, Self::Run(case) if !case.problems.is_empty())
    }

    fn write(&self, suite: &str, text: &mut String) {
        let path = match self {
            Self::Run(case) => &case.path,
            Self::Skipped(path) => *path,
        };
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let _ = write!(text, "    <testcase classname=\"{suite}\" name=\"{}\"", XmlText(&name));
        match self {
            Self::Skipped(_) => text.push_str("><skipped/></testcase>\n"),
            Self::Run(Case { problems, description, .. }) => match problems.first() {
                None => text.push_str("/>\n"),
                Some(first) => {
                    let message = description.as_deref().unwrap_or(first).trim_end();
                    let _ = writeln!(
                        text,
                        "><failure message=\"{}\" type=\"failure\">{}</failure></testcase>",
                        XmlText(message),
                        XmlText(&problems.join("\n"))
                    );
                }
            },
        }
    }
}
