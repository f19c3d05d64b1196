//! Chooses the format of a file: the one that is asked for, or the one that its ending names.

use super::args::convert::ConvertFormat;
use super::args::instance::ExportedForm;
use super::args::substitute::SubstituteFormat;
use super::args::{DrawingFormat, ExportFormat, ListFormat, PlanFormat, ResultFormat};
use super::output;
use clap::ValueEnum;
use cuvee::diagnostic::{Code, Diagnostic};
use std::path::Path;

/// The endings that stand for a format. Files with other endings may hold anything.
const TELLING: &[&str] = &[
    "bpmn", "cnf", "csar", "csv", "dimacs", "dot", "gv", "gz", "htm", "html", "json", "jsonl",
    "mk", "mmd", "ndjson", "pdf", "png", "sarif", "svg", "tar", "tgz", "tosca", "uvl", "wcnf",
    "xml", "yaml", "yml", "zip",
];

/// The endings of YAML.
pub(super) const YAML: &[&str] = &["yaml", "yml"];
/// The endings of pages for a browser.
pub(super) const HTML: &[&str] = &["html", "htm"];

/// A format that files are written in.
pub(super) trait FileFormat: ValueEnum + Copy + 'static {
    /// The endings of files of this format; none if no ending names it.
    fn endings(self) -> &'static [&'static str];
}

impl FileFormat for DrawingFormat {
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Mermaid => &["mmd"],
            Self::Dot => &["dot", "gv"],
            Self::Svg => &["svg"],
            Self::Json => &["json"],
        }
    }
}

impl FileFormat for PlanFormat {
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Human => &[],
            Self::Json => &["json"],
            Self::Mermaid => &["mmd"],
            Self::Dot => &["dot", "gv"],
            Self::Svg => &["svg"],
            Self::Make => &["mk"],
            Self::Bpmn => &["bpmn", "xml"],
            Self::Yaml => YAML,
        }
    }
}

impl FileFormat for ResultFormat {
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Yaml => YAML,
            Self::Json => &["json"],
        }
    }
}

impl FileFormat for SubstituteFormat {
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Human => &[],
            Self::Yaml => YAML,
            Self::Json => &["json"],
        }
    }
}

impl FileFormat for ListFormat {
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Human => &[],
            Self::Json => &["json"],
        }
    }
}

impl FileFormat for ExportFormat {
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Dimacs => &["cnf", "dimacs"],
            Self::Wcnf => &["wcnf"],
            Self::Uvl => &["uvl"],
            Self::Featureide => &["xml"],
        }
    }
}

impl FileFormat for ExportedForm {
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Yaml | Self::Bindings | Self::Template => YAML,
            Self::Json => &["json"],
            Self::Log => &["ndjson", "jsonl"],
        }
    }
}

impl FileFormat for ConvertFormat {
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Yaml | Self::Tosca20 | Self::Tosca13 => YAML,
            Self::Xml => &["tosca", "xml"],
        }
    }
}

/// The format that is asked for, or else the one that the ending of the file names, if it names
/// one.
///
/// # Errors
/// `usage` where the ending is that of another format.
pub(super) fn chosen<F: FileFormat>(
    given: Option<F>,
    file: Option<&Path>,
) -> Result<Option<F>, Diagnostic> {
    let Some((file, ending)) = file.and_then(telling) else { return Ok(given) };
    let known = F::value_variants();
    let has = |format: &F| format.endings().contains(&&*ending);
    match given {
        Some(format) if !has(&format) => Err(unfit(file, &ending, format.endings(), true)),
        Some(format) => Ok(Some(format)),
        None => match known.iter().find(|format| has(format)) {
            Some(format) => Ok(Some(*format)),
            None => {
                let all = known.iter().flat_map(|format| format.endings()).copied();
                Err(unfit(file, &ending, &all.collect::<Vec<_>>(), false))
            }
        },
    }
}

/// Checks the ending of a file that has one format only.
///
/// # Errors
/// `usage` where the ending is that of another format.
pub(super) fn only(endings: &[&str], file: Option<&Path>) -> Result<(), Diagnostic> {
    match file.and_then(telling) {
        Some((file, ending)) if !endings.contains(&&*ending) => {
            Err(unfit(file, &ending, endings, false))
        }
        _ => Ok(()),
    }
}

/// The ending of a file, if it stands for a format.
fn telling(file: &Path) -> Option<(&Path, String)> {
    let ending = file.extension()?.to_str()?.to_lowercase();
    (TELLING.contains(&&*ending) && !output::is_stdout(file)).then_some((file, ending))
}

fn unfit(file: &Path, ending: &str, endings: &[&str], is_given: bool) -> Diagnostic {
    let file = file.display();
    let message = match is_given {
        true => format!("`{file}` ends in `.{ending}`, which is not the ending of this `--format`"),
        false => format!("`{file}` ends in `.{ending}`, but this command writes no such file"),
    };
    let endings: Vec<_> = endings.iter().map(|ending| format!("`.{ending}`")).collect();
    let help = match (&endings[..], is_given) {
        ([], _) => "give the file another ending, such as `.txt`".to_owned(),
        (all, true) => format!("leave out `--format`, or use the ending {}", all.join(" or ")),
        (all, false) => format!("use one of the endings {}", all.join(", ")),
    };
    Diagnostic::error(Code::Usage, message).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawing(given: Option<DrawingFormat>, file: &str) -> Result<Option<DrawingFormat>, String> {
        chosen(given, Some(Path::new(file))).map_err(|error| error.message)
    }

    #[test]
    fn endings_name_formats() {
        assert_eq!(drawing(None, "a/shop.SVG"), Ok(Some(DrawingFormat::Svg)));
        assert_eq!(drawing(None, "shop.gv"), Ok(Some(DrawingFormat::Dot)));
        assert_eq!(drawing(Some(DrawingFormat::Json), "shop.json"), Ok(Some(DrawingFormat::Json)));
        for silent in ["shop", "shop.txt", "shop.v2", "-", ".svg"] {
            assert_eq!(drawing(None, silent), Ok(None), "{silent}");
            assert_eq!(drawing(Some(DrawingFormat::Svg), silent), Ok(Some(DrawingFormat::Svg)));
        }
        assert!(drawing(None, "shop.html").is_err_and(|told| told.contains("no such file")));
        assert!(
            drawing(Some(DrawingFormat::Json), "shop.svg").is_err_and(|it| it.contains("--format"))
        );
        assert!(only(HTML, Some(Path::new("shop.htm"))).is_ok());
        assert!(only(HTML, Some(Path::new("shop.svg"))).is_err());
    }

    /// Whatever names a format in some command is refused in all others.
    #[test]
    fn all_endings_are_known() {
        fn all<F: FileFormat>() -> impl Iterator<Item = &'static str> {
            F::value_variants().iter().flat_map(|format| format.endings()).copied()
        }
        let known = all::<DrawingFormat>().chain(all::<PlanFormat>()).chain(all::<ResultFormat>());
        let known = known.chain(all::<SubstituteFormat>()).chain(all::<ListFormat>());
        let known = known.chain(all::<ExportFormat>()).chain(all::<ExportedForm>());
        for ending in known.chain(all::<ConvertFormat>()).chain(HTML.iter().copied()) {
            assert!(TELLING.contains(&ending), "{ending}");
        }
    }
}
