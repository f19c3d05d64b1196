//! Runs variability tests: directories with inputs and the template that resolving with these
//! inputs has to give.
//!
//! A *case* is a directory below the `tests` of a directory that holds a service template, or a
//! directory with a `test.yaml`, or one with both a template and an expected template. Everything
//! in `test.yaml` is optional:
//!
//! | key | meaning |
//! |---|---|
//! | `name`, `description`, `descriptions` | the purpose of the case |
//! | `presets` | a variability preset, or a list of them |
//! | `inputs` | a file of inputs, or a list of them; else `inputs.yaml` or `inputs.xml` where there is one |
//! | `template` | relative to the directory that holds `tests`, else to the case |
//! | `expected` | the expected result of resolving; else `est.yaml` or `expected.yaml` |
//! | `error` | resolving must fail with a diagnostic of this code, with this text in its message, or with what the reference implementation says in these words |
//! | `warning` | the code of an expected warning |
//! | `replace` | pairs of text and replacement for the strings of the resolved template |
//! | `merge` | a map that is merged over the expected template |
//! | `options` | variability options that replace those of the template |
//! | `now` | the current time of the clock |
//!
//! Cases below a directory whose name ends in `---disabled` are skipped. If names of directories
//! end in `---only`, only cases below these run. Names that start with a dot are ignored.
//!
//! Templates are compared as data: the order of map entries does not matter, and `1` equals `1.0`.

mod compare;
mod settings;
mod update;
mod wording;

pub use update::Update;

use crate::Failure;
use crate::Resolution;
use crate::Resolver;
use crate::diagnostic::{Code, Diagnostic, Severity, did_you_mean};
use crate::tosca::csar::TEMPLATE_NAMES;
use cuvee_text::files::{decode, read_bytes};
use cuvee_text::source::{FileSystem, SourceMap};
use cuvee_text::yaml::{Document, Limits, parse};
use rustc_hash::FxHashMap;
use settings::CaseSettings;
use std::fmt;
use std::path::{Path, PathBuf};

const SETTINGS: &str = "test.yaml";
const EXPECTED: [&str; 2] = ["est.yaml", "expected.yaml"];
const INPUTS: [&str; 2] = ["inputs.yaml", "inputs.xml"];
/// How deeply directories of cases may be nested. The limit also stops at a directory that is
/// linked into itself.
const DEPTH: usize = 12;
/// How many differences of a case a message lists at most.
const LISTED: usize = 20;

/// The cases that ran, in the order of their paths.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The cases.
    pub cases: Vec<Case>,
    /// The directories of cases that did not run because of the marks in their names.
    pub skipped: Vec<PathBuf>,
}

/// A case that ran.
#[derive(Debug)]
#[non_exhaustive]
pub struct Case {
    /// Its directory.
    pub path: PathBuf,
    /// The purpose of the case, in the words of its author.
    pub description: Option<String>,
    /// Why the case fails, one reason a line. Empty if the case passes.
    pub problems: Vec<String>,
    /// The change of expectations with which the case would pass, where it can be derived.
    pub update: Option<Update>,
}

impl Case {
    /// Writes why the case fails. If an earlier case failed for the same reasons, the text refers
    /// to that case.
    fn tell(
        &self,
        told: &mut FxHashMap<Vec<String>, PathBuf>,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let description = self.description.as_ref().map(|text| format!(" ({})", text.trim_end()));
        writeln!(f, "FAIL {}{}", self.path.display(), description.unwrap_or_default())?;
        if let Some(earlier) = told.get(&self.problems) {
            return writeln!(f, "    as {}", earlier.display());
        }
        told.insert(self.problems.clone(), self.path.clone());
        for problem in self.problems.iter().take(LISTED) {
            writeln!(f, "    {}", problem.replace('\n', "\n    "))?;
        }
        match self.problems.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => writeln!(f, "    and {more} more"),
        }
    }
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

    /// Whether cases were found, and all that ran passed.
    pub fn is_success(&self) -> bool {
        self.cases.len() + self.skipped.len() > 0 && self.failed() == 0
    }
}

/// Lists each failing case with its problems, then `N passed, M failed`, and the number of skipped
/// cases.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut told = FxHashMap::default();
        for case in self.cases.iter().filter(|case| !case.problems.is_empty()) {
            case.tell(&mut told, f)?;
        }
        write!(f, "{} passed, {} failed", self.passed(), self.failed())?;
        if !self.skipped.is_empty() {
            write!(f, ", {} skipped", self.skipped.len())?;
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
    run_where(dir, files, |_| true)
}

/// Runs the cases at or below a directory for which `wanted` is true. It gets the directory of a
/// case.
///
/// ```
/// let files = cuvee::source::OsFiles;
/// let report = cuvee::testing::run_where("examples/shop", &files, |case| case.ends_with("prod"));
/// assert_eq!(report.cases.len(), 1);
/// ```
pub fn run_where<F: FileSystem + Send + Clone + 'static>(
    dir: impl AsRef<Path>,
    files: &F,
    wanted: impl Fn(&Path) -> bool,
) -> Report {
    run_with(dir, files, wanted, |resolver| resolver)
}

/// As [`run_where`], with resolvers that `read` has told more about reading templates, such as where
/// profiles are.
///
/// ```
/// let files = cuvee::source::OsFiles;
/// let read = |resolver: cuvee::Resolver| resolver.profile_path("profiles");
/// let report = cuvee::testing::run_with("examples/shop", &files, |_| true, read);
/// assert!(report.is_success(), "{report}");
/// ```
pub fn run_with<F: FileSystem + Send + Clone + 'static>(
    dir: impl AsRef<Path>,
    files: &F,
    wanted: impl Fn(&Path) -> bool,
    read: impl Fn(Resolver) -> Resolver,
) -> Report {
    // Consecutive cases often have the same template, so the last one is kept.
    let mut last: Option<(PathBuf, Resolver)> = None;
    let mut resolver = |template: PathBuf| match &last {
        Some((path, loaded)) if *path == template => loaded.clone(),
        _ => {
            let fresh = read(Resolver::new(&template).files(files.clone()));
            // A template that cannot be read is reported by its case.
            let resolver = fresh.clone().load().unwrap_or(fresh);
            last = Some((template, resolver.clone()));
            resolver
        }
    };
    let mut found = discover(dir.as_ref(), files);
    found.retain(|(_, found)| wanted(path_of(found)));
    let (places, skipped) = selected(found);
    let skipped = skipped.iter().map(|found| path_of(found).to_owned()).collect();
    let run = |found: Result<CasePlace, Case>| match found {
        Ok(place) => place.run(files, &mut resolver),
        Err(unreadable) => unreadable,
    };
    Report { cases: places.into_iter().map(run).collect(), skipped }
}

/// The directories of all cases at or below a directory, including disabled ones.
pub fn cases(dir: impl AsRef<Path>, files: &dyn FileSystem) -> Vec<PathBuf> {
    let found = discover(dir.as_ref(), files);
    found.iter().map(|(_, found)| path_of(found).to_owned()).collect()
}

fn path_of(found: &Result<CasePlace, Case>) -> &Path {
    match found {
        Ok(place) => &place.case,
        Err(unreadable) => &unreadable.path,
    }
}

/// The marks in the names of directories, for the cases below them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Marks {
    disabled: bool,
    only: bool,
}

impl Marks {
    /// The marks of a directory below this one.
    fn below(self, dir: &Path) -> Self {
        let name = dir.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        Self {
            disabled: self.disabled || name.ends_with("---disabled"),
            only: self.only || name.ends_with("---only"),
        }
    }
}

/// Divides the cases into those that run and those that are skipped.
fn selected<T>(found: Vec<(Marks, T)>) -> (Vec<T>, Vec<T>) {
    let only = found.iter().any(|(marks, _)| marks.only && !marks.disabled);
    let runs = |marks: Marks| !marks.disabled && (marks.only || !only);
    let (run, skipped): (Vec<_>, Vec<_>) = found.into_iter().partition(|(marks, _)| runs(*marks));
    let cases = |of: Vec<(Marks, T)>| of.into_iter().map(|(_, case)| case).collect();
    (cases(run), cases(skipped))
}

/// The directory of a case, and the directory in which its template is looked for.
#[derive(Debug, PartialEq, Eq)]
struct CasePlace {
    case: PathBuf,
    templates: PathBuf,
}

impl CasePlace {
    /// The case in this directory, if there is one.
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
        let mut sources = SourceMap::default();
        let (description, failing) = match self.settings(files, &mut sources) {
            Ok(mut settings) => {
                let description = settings.description.take();
                let run = CaseRun { place: &self, settings: &settings, sources: &sources, files };
                (description, run.judge(resolver))
            }
            Err(problems) => (None, Err(problems.into())),
        };
        let Failing { problems, update } = failing.err().unwrap_or_default();
        Case { path: self.case, description, problems, update }
    }

    /// Reads the `test.yaml` of the case.
    fn settings(
        &self,
        files: &dyn FileSystem,
        sources: &mut SourceMap,
    ) -> Result<CaseSettings, Vec<String>> {
        let path = self.case.join(SETTINGS);
        if !files.is_file(&path) {
            return Ok(CaseSettings::default());
        }
        let document = load(&path, files, sources)
            .map_err(|diagnostic| vec![in_one_line(&diagnostic, sources)])?;
        let placed = |(span, message)| format!("{}: {message}", sources.place(span));
        CaseSettings::read(document.root())
            .map_err(|problems| problems.into_iter().map(placed).collect())
    }
}

/// Why a case fails, and the change of expectations with which it would pass.
#[derive(Debug, Default)]
struct Failing {
    problems: Vec<String>,
    update: Option<Update>,
}

impl From<Vec<String>> for Failing {
    fn from(problems: Vec<String>) -> Self {
        Self { problems, update: None }
    }
}

impl From<String> for Failing {
    fn from(problem: String) -> Self {
        vec![problem].into()
    }
}

/// A case with its settings, ready to run.
struct CaseRun<'r> {
    place: &'r CasePlace,
    settings: &'r CaseSettings,
    /// The sources of the places in the settings.
    sources: &'r SourceMap,
    files: &'r dyn FileSystem,
}

impl CaseRun<'_> {
    /// Runs the case. Returns an error if the result is not as expected.
    fn judge(&self, resolver: &mut dyn FnMut(PathBuf) -> Resolver) -> Result<(), Failing> {
        let Self { place, settings, files, .. } = *self;
        let template = match &settings.template {
            Some(path) => place.templates.join(path),
            None => first(&place.templates, &TEMPLATE_NAMES, files).ok_or_else(|| {
                format!("{} holds no {}", place.templates.display(), TEMPLATE_NAMES.join(", "))
            })?,
        };
        let result = self.configured(resolver(template.clone())).resolve();
        let warned = warned(&result, settings.warning.as_deref());
        let resolved = match (result, &settings.error) {
            (Ok(_), Some(error)) => {
                Err(format!("expected the error `{error}`, but it resolved").into())
            }
            (Ok(resolution), None) => self.compared(&resolution, &template),
            (Err(failure), Some(error)) => self.refused(&failure, error),
            (Err(failure), None) => Err(self.one_line_each(&failure).into()),
        };
        match (resolved, warned) {
            (Err(mut failing), Err(problem)) => {
                failing.problems.push(problem);
                Err(failing)
            }
            (resolved, warned) => resolved.and(warned.map_err(Failing::from)),
        }
    }

    fn configured(&self, mut resolver: Resolver) -> Resolver {
        let Self { place, settings, files, .. } = *self;
        let named = settings.inputs.iter().map(|path| place.case.join(path));
        let usual = first(&place.case, &INPUTS, files).filter(|_| settings.inputs.is_empty());
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

    fn compared(&self, resolution: &Resolution, template: &Path) -> Result<(), Failing> {
        let Self { place, settings, files, .. } = *self;
        let path = match &settings.expected {
            Some(path) => Some(place.case.join(path)),
            None => first(&place.case, &EXPECTED, files),
        };
        let update = || update::expected(place, settings, path.as_deref(), resolution, template);
        let Some(path) = path.as_deref() else {
            let problem = format!("neither an `error` nor {}", EXPECTED.join(" or "));
            return Err(Failing { problems: vec![problem], update: update() });
        };
        let mut sources = SourceMap::default();
        let plain = match load(path, files, &mut sources) {
            Ok(document) => document.root().to_value(),
            Err(diagnostic) => {
                let update = update().filter(|_| !files.is_file(path));
                return Err(Failing { problems: vec![self.told(&diagnostic, &sources)], update });
            }
        };
        let expected = match &settings.merge {
            Some(over) => compare::merge(&plain, over),
            None => plain,
        };
        let resolved = compare::replace(&resolution.to_value(), &settings.replace);
        let problems = compare::differences(&expected, &resolved);
        if problems.is_empty() { Ok(()) } else { Err(Failing { problems, update: update() }) }
    }

    fn refused(&self, failure: &Failure, wanted: &str) -> Result<(), Failing> {
        let errors: Vec<_> = failure
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity == Severity::Error)
            .collect();
        let is_wanted = |error: &&Diagnostic| {
            error.code.as_str() == wanted
                || error.message.contains(wanted)
                || wording::speaks_of(wanted, error.code)
        };
        if errors.iter().any(is_wanted) {
            return Ok(());
        }
        let codes = Code::ALL.iter().map(|code| code.as_str());
        let meant = did_you_mean(wanted, codes).filter(|_| wanted.parse::<Code>().is_err());
        let meant = meant.map(|meant| format!(" ({meant})")).unwrap_or_default();
        let got = errors.iter().map(|error| self.told(error, &failure.sources));
        let expected = format!("expected the error `{wanted}`{meant}, got");
        let problems = std::iter::once(expected).chain(got).collect();
        let got = errors.first().map(|error| error.code);
        let update = got.and_then(|code| update::error(self.place, code, self.files));
        Err(Failing { problems, update })
    }

    fn one_line_each(&self, failure: &Failure) -> Vec<String> {
        failure.diagnostics.iter().map(|it| self.told(it, &failure.sources)).collect()
    }

    /// Writes a diagnostic in one line. A diagnostic without a place gets the place in the settings
    /// that it seems to be about.
    fn told(&self, diagnostic: &Diagnostic, sources: &SourceMap) -> String {
        let line = in_one_line(diagnostic, sources);
        let named = || self.settings.place_of(&diagnostic.message);
        match if diagnostic.span.is_none() { named() } else { None } {
            Some(span) => format!("{}: {line}", self.sources.place(span)),
            None => line,
        }
    }
}

/// Writes a diagnostic in one line, with its suggestion.
fn in_one_line(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let line = diagnostic.one_line(sources);
    match diagnostic.help.as_deref().filter(|help| help.starts_with("did you mean")) {
        Some(help) => format!("{line}: {help}"),
        None => line,
    }
}

/// The cases at or below a directory, in the order of their paths. A directory that cannot be
/// listed is a failing case. Marks in the name of the top directory do not count.
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
                let case = Case { path: dir, description: None, problems, update: None };
                found.push((marks, Err(case)));
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

fn load(
    path: &Path,
    files: &dyn FileSystem,
    sources: &mut SourceMap,
) -> Result<Document, Diagnostic> {
    let text = decode(path, read_bytes(files, path)?)?;
    let file = sources.add(path, text);
    parse(file, sources.file(file).text().clone(), &Limits::default())
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
    use crate::diagnostic::Code;
    use cuvee_text::source::MemoryFiles;

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
        // A directory that the caller names runs even if it is marked as disabled.
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
        // A disabled case does not cause all others to be skipped.
        let files = ["t/a/test.yaml", "t/b---only/c---disabled/test.yaml"];
        assert_eq!(places("t", files), [case("t/a")]);
        let files: MemoryFiles = files.into_iter().map(|path| (path, "")).collect();
        let skipped = PathBuf::from("t/b---only/c---disabled");
        assert_eq!(run("t", &files).skipped, [skipped]);
        // The caller may ask for a case that `---only` would exclude, and that case then runs.
        let named = run_where("t", &files, |path| path.ends_with("a"));
        assert_eq!((named.cases.len(), named.skipped.len()), (1, 0));
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
        let files = MemoryFiles::from([("t/test.yaml", "error: 'nondeterminism' # says why\n")]);
        let place = CasePlace { case: "t".into(), templates: "t".into() };
        let run = CaseRun {
            place: &place,
            settings: &CaseSettings::default(),
            sources: &SourceMap::default(),
            files: &files,
        };
        assert!(run.refused(&failure, "missing-input").is_ok());
        assert!(run.refused(&failure, "`x` has").is_ok());
        let got = [
            "expected the error `nondeterminism`, got",
            "error[missing-input]: input `x` has no value",
        ];
        let failing = run.refused(&failure, "nondeterminism").unwrap_err();
        assert_eq!(failing.problems, got);
        let update = failing.update.unwrap();
        assert_eq!(update.path, Path::new("t/test.yaml"));
        assert_eq!(update.content, "error: 'missing-input' # says why\n");
        let failing = run.refused(&failure, "missing-inptu").unwrap_err();
        let meant = "expected the error `missing-inptu` (did you mean `missing-input`?), got";
        assert_eq!(failing.problems[0], meant);
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
            update: None,
        };
        let report = vec![case("t/one", 0), case("t/two", 1), case("t/many", LISTED + 2)];
        let report = Report { cases: report, skipped: Vec::new() };
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
        let alike = vec![case("t/one", 2), case("t/two", 2), case("t/three", 1)];
        let alike = Report { cases: alike, skipped: Vec::new() }.to_string();
        assert!(
            alike.contains("\nFAIL t/two (why)\n    as t/one\nFAIL t/three (why)\n    a.b"),
            "{alike}"
        );
        let passed = Report {
            cases: vec![case("t", 0)],
            skipped: ["a", "b", "c"].map(PathBuf::from).into(),
        };
        assert!(passed.is_success());
        assert_eq!(passed.to_string(), "1 passed, 0 failed, 3 skipped\n");
        assert!(!Report::default().is_success());
    }
}
