//! Runs variability tests: directories that hold inputs and the template that resolving with them
//! must give.
//!
//! A *case* is a directory below the `tests` of a directory that holds a service template, or a
//! directory with a `test.yaml`, or one with both a template and an expected template. Everything
//! in `test.yaml` is optional:
//!
//! | key | meaning |
//! |---|---|
//! | `name`, `description`, `descriptions` | what the case shows |
//! | `presets` | a variability preset, or a list of them |
//! | `inputs` | a file of inputs, or a list of them; else `inputs.yaml` or `inputs.xml` where there is one |
//! | `template` | relative to the directory that holds `tests`, else to the case |
//! | `expected` | the resolved template as it must be; else `est.yaml` or `expected.yaml` |
//! | `error` | resolving must fail with a diagnostic of this code, with this text in its message, or with what the reference implementation says in these words |
//! | `warning` | the code of a warning that must be given |
//! | `replace` | pairs of text and replacement for the strings of the resolved template |
//! | `merge` | laid over the expected template |
//! | `options` | variability options over the template's |
//! | `now` | what the clock says |
//!
//! What lies below a directory whose name ends in `---disabled` is skipped. Where a name ends in
//! `---only`, only what lies below such directories runs. Names that start with a dot are ignored.
//!
//! Templates are compared as data: neither the order of map entries counts, nor whether `1` is
//! written `1.0`.

mod compare;
mod settings;
mod wording;

use crate::Failure;
use crate::Resolution;
use crate::Resolver;
use crate::text::diagnostic::{Diagnostic, Severity};
use crate::text::source::{FileSystem, SourceMap};
use crate::text::yaml::{Document, Limits, parse};
use crate::tosca::csar::TEMPLATE_NAMES;
use settings::CaseSettings;
use std::fmt;
use std::path::{Path, PathBuf};

const EXPECTED: [&str; 2] = ["est.yaml", "expected.yaml"];
const INPUTS: [&str; 2] = ["inputs.yaml", "inputs.xml"];
/// Deeper nobody keeps tests, and a directory linked into itself ends here.
const DEPTH: usize = 12;
/// So many differences of a case are listed.
const LISTED: usize = 20;

/// The cases that ran, in the order of their paths.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Each of them.
    pub cases: Vec<Case>,
    /// How many did not run, because their directories are called so.
    pub skipped: usize,
}

/// A case that ran.
#[derive(Debug)]
#[non_exhaustive]
pub struct Case {
    /// Its directory.
    pub path: PathBuf,
    /// What it shows, in the words of its author.
    pub description: Option<String>,
    /// Why it fails, a line each; it passes when there is nothing.
    pub problems: Vec<String>,
}

impl Report {
    /// How many cases passed.
    pub fn passed(&self) -> usize {
        self.cases.len() - self.failed()
    }

    /// How many cases failed.
    pub fn failed(&self) -> usize {
        self.cases.iter().filter(|case| !case.problems.is_empty()).count()
    }

    /// Whether there are cases, and all that ran passed.
    pub fn is_success(&self) -> bool {
        self.cases.len() + self.skipped > 0 && self.failed() == 0
    }
}

/// Each failing case with what differs, then `N passed, M failed`, and what was skipped.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for case in self.cases.iter().filter(|case| !case.problems.is_empty()) {
            let description =
                case.description.as_ref().map(|text| format!(" ({})", text.trim_end()));
            writeln!(f, "FAIL {}{}", case.path.display(), description.unwrap_or_default())?;
            for problem in case.problems.iter().take(LISTED) {
                writeln!(f, "    {}", problem.replace('\n', "\n    "))?;
            }
            if case.problems.len() > LISTED {
                writeln!(f, "    and {} more", case.problems.len() - LISTED)?;
            }
        }
        write!(f, "{} passed, {} failed", self.passed(), self.failed())?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        writeln!(f)
    }
}

/// Runs every case at or below a directory.
///
/// ```
/// let report = cuvee::testing::run("examples/shop", &cuvee::source::OsFiles);
/// assert!(report.is_success(), "{report}");
/// ```
pub fn run<F: FileSystem + Send + Clone + 'static>(dir: impl AsRef<Path>, files: &F) -> Report {
    // Cases of one template stand together: it is read once for them.
    let mut last: Option<(PathBuf, Resolver)> = None;
    let mut resolver = |template: PathBuf| match &last {
        Some((path, loaded)) if *path == template => loaded.clone(),
        _ => {
            let fresh = Resolver::new(&template).files(files.clone());
            // What cannot be read is for the case to tell.
            let resolver = fresh.clone().load().unwrap_or(fresh);
            last = Some((template, resolver.clone()));
            resolver
        }
    };
    let (places, skipped) = selected(discover(dir.as_ref(), files));
    let run = |found: Result<CasePlace, Case>| match found {
        Ok(place) => place.run(files, &mut resolver),
        Err(unreadable) => unreadable,
    };
    Report { cases: places.into_iter().map(run).collect(), skipped }
}

/// What the names of directories say of the cases below them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Marks {
    disabled: bool,
    only: bool,
}

impl Marks {
    /// Those of a directory below.
    fn below(self, dir: &Path) -> Self {
        let name = dir.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        Self {
            disabled: self.disabled || name.ends_with("---disabled"),
            only: self.only || name.ends_with("---only"),
        }
    }
}

/// Those of the cases that run, and how many do not.
fn selected<T>(found: Vec<(Marks, T)>) -> (Vec<T>, usize) {
    let all = found.len();
    let only = found.iter().any(|(marks, _)| marks.only && !marks.disabled);
    let runs = |marks: Marks| !marks.disabled && (marks.only || !only);
    let left: Vec<_> =
        found.into_iter().filter(|&(marks, _)| runs(marks)).map(|(_, case)| case).collect();
    let skipped = all - left.len();
    (left, skipped)
}

/// Where a case is, and where its template is looked for.
#[derive(Debug, PartialEq, Eq)]
struct CasePlace {
    case: PathBuf,
    templates: PathBuf,
}

impl CasePlace {
    /// The case that this directory is, if it is one.
    fn of(dir: &Path, files: &dyn FileSystem) -> Option<Self> {
        let owner = dir
            .parent()
            .filter(|tests| tests.file_name().is_some_and(|name| name == "tests"))
            .and_then(Path::parent);
        if let Some(owner) = owner.filter(|owner| first(owner, &TEMPLATE_NAMES, files).is_some()) {
            return Some(Self { case: dir.into(), templates: owner.into() });
        }
        let complete =
            first(dir, &TEMPLATE_NAMES, files).is_some() && first(dir, &EXPECTED, files).is_some();
        (complete || files.is_file(&dir.join("test.yaml")))
            .then(|| Self { case: dir.into(), templates: dir.into() })
    }

    fn run(self, files: &dyn FileSystem, resolver: &mut dyn FnMut(PathBuf) -> Resolver) -> Case {
        let (description, problems) = match settings(&self.case.join("test.yaml"), files) {
            Ok(mut settings) => {
                (settings.description.take(), self.problems(&settings, files, resolver))
            }
            Err(problems) => (None, Err(problems)),
        };
        Case { path: self.case, description, problems: problems.err().unwrap_or_default() }
    }

    /// Nothing when all is as expected.
    fn problems(
        &self,
        settings: &CaseSettings,
        files: &dyn FileSystem,
        resolver: &mut dyn FnMut(PathBuf) -> Resolver,
    ) -> Result<(), Vec<String>> {
        let template = match &settings.template {
            Some(path) => self.templates.join(path),
            None => first(&self.templates, &TEMPLATE_NAMES, files).ok_or_else(|| {
                vec![format!("{} holds no {}", self.templates.display(), TEMPLATE_NAMES.join(", "))]
            })?,
        };
        let result = self.configured(resolver(template), settings, files).resolve();
        let warned = warned(&result, settings.warning.as_deref());
        let resolved = match (result, &settings.error) {
            (Ok(_), Some(error)) => {
                Err(vec![format!("expected the error `{error}`, but it resolved")])
            }
            (Ok(resolution), None) => self.compared(&resolution, settings, files),
            (Err(failure), Some(error)) => refused(&failure, error),
            (Err(failure), None) => Err(one_line_each(&failure.diagnostics, &failure.sources)),
        };
        match (resolved, warned) {
            (Err(mut problems), Err(problem)) => {
                problems.push(problem);
                Err(problems)
            }
            (resolved, warned) => resolved.and(warned.map_err(|problem| vec![problem])),
        }
    }

    fn configured(
        &self,
        mut resolver: Resolver,
        settings: &CaseSettings,
        files: &dyn FileSystem,
    ) -> Resolver {
        let named = settings.inputs.iter().map(|path| self.case.join(path));
        let usual = first(&self.case, &INPUTS, files).filter(|_| settings.inputs.is_empty());
        for file in named.chain(usual) {
            resolver = resolver.inputs_file(file);
        }
        for preset in &settings.presets {
            resolver = resolver.preset(preset);
        }
        for (name, value) in &settings.options {
            resolver = resolver.option(name, value);
        }
        match &settings.now {
            Some(now) => resolver.now(now.clone()),
            None => resolver,
        }
    }

    fn compared(
        &self,
        resolution: &Resolution,
        settings: &CaseSettings,
        files: &dyn FileSystem,
    ) -> Result<(), Vec<String>> {
        let path = match &settings.expected {
            Some(path) => self.case.join(path),
            None => first(&self.case, &EXPECTED, files)
                .ok_or_else(|| vec![format!("neither an `error` nor {}", EXPECTED.join(" or "))])?,
        };
        let mut sources = SourceMap::default();
        let plain =
            load(&path, files, &mut sources).map_err(|problem| vec![problem])?.root().to_value();
        let expected = match &settings.merge {
            Some(over) => compare::merge(&plain, over),
            None => plain,
        };
        let resolved = parsed(
            Path::new("the resolved template"),
            resolution.to_yaml().to_owned(),
            &mut sources,
        );
        let resolved = resolved.map_err(|problem| vec![problem])?.root().to_value();
        let differences =
            compare::differences(&expected, &compare::replace(&resolved, &settings.replace));
        if differences.is_empty() { Ok(()) } else { Err(differences) }
    }
}

/// The cases at or below a directory in the order of their paths; what cannot be listed is a
/// failing case. The directory itself may be called whatever it is.
fn discover(root: &Path, files: &dyn FileSystem) -> Vec<(Marks, Result<CasePlace, Case>)> {
    let mut found = Vec::new();
    let mut open = vec![(root.to_path_buf(), 0, Marks::default())];
    while let Some((dir, depth, marks)) = open.pop() {
        if let Some(place) = CasePlace::of(&dir, files) {
            found.push((marks, Ok(place)));
            continue;
        }
        let tests = dir.join("tests");
        if first(&dir, &TEMPLATE_NAMES, files).is_some() && files.is_dir(&tests) {
            open.push((tests, depth + 1, marks));
            continue;
        }
        match files.list(&dir) {
            Ok(entries) if depth < DEPTH => {
                let inner =
                    entries.into_iter().rev().filter(|path| files.is_dir(path) && !is_hidden(path));
                let inner = inner.map(|path| (marks.below(&path), path));
                open.extend(inner.map(|(marks, path)| (path, depth + 1, marks)));
            }
            Ok(_) => {}
            Err(error) => {
                let problems = vec![format!("cannot be listed: {error}")];
                found.push((marks, Err(Case { path: dir, description: None, problems })));
            }
        }
    }
    found
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

fn first(dir: &Path, names: &[&str], files: &dyn FileSystem) -> Option<PathBuf> {
    names.iter().map(|name| dir.join(name)).find(|path| files.is_file(path))
}

fn settings(path: &Path, files: &dyn FileSystem) -> Result<CaseSettings, Vec<String>> {
    if !files.is_file(path) {
        return Ok(CaseSettings::default());
    }
    let mut sources = SourceMap::default();
    let document = load(path, files, &mut sources).map_err(|problem| vec![problem])?;
    let placed = |(span, message)| {
        let at = sources.location(span);
        format!("{}:{}:{}: {message}", at.path.display(), at.line, at.column)
    };
    CaseSettings::read(document.root())
        .map_err(|problems| problems.into_iter().map(placed).collect())
}

fn load(path: &Path, files: &dyn FileSystem, sources: &mut SourceMap) -> Result<Document, String> {
    let text = files.read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let text = String::from_utf8(text).map_err(|error| format!("{}: {error}", path.display()))?;
    parsed(path, text, sources)
}

fn parsed(path: &Path, text: String, sources: &mut SourceMap) -> Result<Document, String> {
    let file = sources.add(path, text);
    let text = sources.file(file).text().clone();
    parse(file, text, &Limits::default()).map_err(|diagnostic| diagnostic.one_line(sources))
}

fn one_line_each(diagnostics: &[Diagnostic], sources: &SourceMap) -> Vec<String> {
    diagnostics.iter().map(|diagnostic| diagnostic.one_line(sources)).collect()
}

fn refused(failure: &Failure, wanted: &str) -> Result<(), Vec<String>> {
    let errors =
        || failure.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    let is_wanted = |error: &Diagnostic| {
        error.code.as_str() == wanted
            || error.message.contains(wanted)
            || wording::speaks_of(wanted, error.code)
    };
    if errors().any(is_wanted) {
        return Ok(());
    }
    let got = errors().map(|error| error.one_line(&failure.sources));
    Err(std::iter::once(format!("expected the error `{wanted}`, got")).chain(got).collect())
}

fn warned(result: &Result<Resolution, Failure>, wanted: Option<&str>) -> Result<(), String> {
    let diagnostics =
        result.as_ref().map_or_else(|failure| &failure.diagnostics[..], Resolution::warnings);
    let warnings = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Warning);
    let codes: Vec<_> = warnings.map(|warning| warning.code.as_str()).collect();
    match wanted {
        Some(wanted) if !codes.contains(&wanted) => {
            Err(format!("expected the warning `{wanted}`, got {codes:?}"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::diagnostic::Code;
    use crate::text::source::MemoryFiles;

    fn places<const N: usize>(root: &str, files: [&str; N]) -> Vec<(String, String)> {
        let files: MemoryFiles = files.into_iter().map(|path| (path, "")).collect();
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        let (found, _) = selected(discover(Path::new(root), &files));
        let found = found.into_iter();
        found
            .map(|place| place.map(|place| (text(place.case), text(place.templates))).unwrap())
            .collect()
    }

    fn pair(case: &str, templates: &str) -> (String, String) {
        (case.into(), templates.into())
    }

    #[test]
    fn finds_the_cases_of_a_csar() {
        let files = [
            "shop/template.yaml",
            "shop/lib/test.yaml",
            "shop/tests/b/expected.yaml",
            "shop/tests/a/inputs.yaml",
        ];
        let both = [pair("shop/tests/a", "shop"), pair("shop/tests/b", "shop")];
        assert_eq!(places("shop", files), both);
        assert_eq!(places("shop/tests", files), both);
        assert_eq!(places("shop/tests/b", files), [pair("shop/tests/b", "shop")]);
        assert_eq!(places("", files), both);
    }

    #[test]
    fn finds_the_cases_of_a_tree() {
        let files = [
            "t/group/one/test.yaml",
            "t/group/one/tests/not-a-case/x.yaml",
            "t/group/two/template.yaml",
            "t/group/two/expected.yaml",
            "t/group/shared/template.yaml",
            "t/.git/x/test.yaml",
            "t/deep/er/still/test.yaml",
        ];
        let case = |path| pair(path, path);
        assert_eq!(
            places("t", files),
            [case("t/deep/er/still"), case("t/group/one"), case("t/group/two")]
        );
        assert_eq!(places("t/group/one", files), [case("t/group/one")]);
        assert!(places("t/group/shared", files).is_empty());
        assert!(places("nowhere", files).is_empty());
    }

    #[test]
    fn names_say_what_is_skipped() {
        let case = |path| pair(path, path);
        let files = ["t/a/test.yaml", "t/b---disabled/test.yaml", "t/c---disabled/d/test.yaml"];
        assert_eq!(places("t", files), [case("t/a")]);
        // Who names a directory wants it.
        assert_eq!(places("t/b---disabled", files), [case("t/b---disabled")]);
        let files = [
            "t/a/test.yaml",
            "t/b---only/test.yaml",
            "t/c---only/d/test.yaml",
            "t/c---only/e---disabled/test.yaml",
            "t/.f---only/test.yaml",
        ];
        assert_eq!(places("t", files), [case("t/b---only"), case("t/c---only/d")]);
        assert_eq!(places("t/a", files), [case("t/a")]);
        // What is disabled is not what everything else is skipped for.
        let files = ["t/a/test.yaml", "t/b---only/c---disabled/test.yaml"];
        assert_eq!(places("t", files), [case("t/a")]);
        let files: MemoryFiles = files.into_iter().map(|path| (path, "")).collect();
        assert_eq!(run("t", &files).skipped, 1);
    }

    #[test]
    fn runs_in_memory() {
        let version = "tosca_definitions_version: tosca_simple_yaml_1_3\n";
        let files = MemoryFiles::from([
            ("shop/template.yaml", format!("{version}description: a shop\n")),
            ("shop/tests/same/expected.yaml", format!("description: \"a shop\"\n{version}")),
            ("shop/tests/other/expected.yaml", format!("{version}description: a bar\n")),
        ]);
        let report = run("shop", &files);
        assert_eq!(report.cases[0].problems, [r#"description: expected "a bar", got "a shop""#]);
        assert_eq!(report.cases[1].problems, [""; 0]);
        assert_eq!((report.passed(), report.failed()), (1, 1));
    }

    #[test]
    fn tells_the_error_by_code_or_text() {
        let diagnostics = vec![
            Diagnostic::warning(Code::Nondeterminism, "two of them"),
            Diagnostic::error(Code::MissingInput, "input `x` has no value"),
        ];
        let failure = Failure { diagnostics, sources: SourceMap::default() };
        assert_eq!(refused(&failure, "missing-input"), Ok(()));
        assert_eq!(refused(&failure, "`x` has"), Ok(()));
        let got = [
            "expected the error `nondeterminism`, got",
            "error[missing-input]: input `x` has no value",
        ];
        assert_eq!(refused(&failure, "nondeterminism").unwrap_err(), got);
        let result = Err(failure);
        assert_eq!(warned(&result, Some("nondeterminism")), Ok(()));
        let problem = r#"expected the warning `missing-input`, got ["nondeterminism"]"#;
        assert_eq!(warned(&result, Some("missing-input")), Err(problem.to_owned()));
    }

    #[test]
    fn lists_what_fails() {
        let case = |path: &str, count: usize| Case {
            path: path.into(),
            description: (count > 0).then(|| "why\n".into()),
            problems: (0..count)
                .map(|number| format!("a.b: expected {number}, got nothing"))
                .collect(),
        };
        let report = vec![case("t/one", 0), case("t/two", 1), case("t/many", LISTED + 2)];
        let report = Report { cases: report, skipped: 0 };
        let text = report.to_string();
        assert!(
            text.starts_with(
                "FAIL t/two (why)\n    a.b: expected 0, got nothing\nFAIL t/many (why)\n"
            ),
            "{text}"
        );
        assert!(
            text.ends_with(
                "    a.b: expected 19, got nothing\n    and 2 more\n1 passed, 2 failed\n"
            ),
            "{text}"
        );
        assert!(!report.is_success());
        let passed = Report { cases: vec![case("t", 0)], skipped: 3 };
        assert!(passed.is_success());
        assert_eq!(passed.to_string(), "1 passed, 0 failed, 3 skipped\n");
        assert!(!Report::default().is_success());
    }
}
