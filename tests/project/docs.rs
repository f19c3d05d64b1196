//! Checks the documentation by running it: every command in it runs, and prints what the page
//! shows.
//!
//! A block of the language `console` has commands behind `$ ` and their output, on standard output
//! and standard error together. A line of `...` matches any lines; a command without output may
//! print anything. `exit-1` behind the language says how the commands exit. A block of the language
//! `yaml` or `sh` with a name behind it is a file of that name. A block of the language `diff` with a name
//! says which lines of that file to replace. Everything happens in the order of the page.

#![cfg(feature = "cli")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot read its files has failed"
)]

use crate::folders::copy;
use cuvee::diagnostic::{Code, CodeExample};
use snapbox::cmd::{Command, cargo_bin};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The README, and every page of the documentation.
fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> =
        docs.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    pages.extend(["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(|name| root().join(name)));
    pages.sort();
    pages
}

/// A command as a page shows it.
struct Shown<'p> {
    line: &'p str,
    exit: i32,
    output: String,
}

/// A step that a reader of a page takes.
enum Step<'p> {
    /// Runs a command.
    Run(Shown<'p>),
    /// Writes a file of the given name.
    Write(&'p str, String),
    /// Changes a file of the given name.
    Change(&'p str, Vec<&'p str>),
}

/// The blocks of a page, in order: the text behind the language, and the lines.
fn blocks(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut blocks = Vec::new();
    let mut open = false;
    for line in page.lines() {
        match (open, line.strip_prefix("```")) {
            (false, Some(info)) => blocks.push((info, Vec::new())),
            (true, None) => blocks.last_mut().unwrap().1.push(line),
            (true, Some(_)) => {}
            (false, None) => continue,
        }
        open = line.starts_with("```") != open;
    }
    blocks
}

/// The steps that a page shows, in order.
fn steps(page: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    for (info, lines) in blocks(page) {
        match info.split_once(' ').unwrap_or((info, "")) {
            ("console", exit) => {
                let exit = exit.strip_prefix("exit-").unwrap_or("0").parse().unwrap();
                steps.extend(commands(&lines, exit).into_iter().map(Step::Run));
            }
            ("yaml" | "sh", name) if !name.is_empty() => {
                let text = lines.iter().map(|line| format!("{line}\n")).collect();
                steps.push(Step::Write(name, text));
            }
            ("diff", name) if !name.is_empty() => steps.push(Step::Change(name, lines)),
            _ => {}
        }
    }
    steps
}

/// The commands of a block, in order.
fn commands<'p>(lines: &[&'p str], exit: i32) -> Vec<Shown<'p>> {
    let mut commands: Vec<Shown<'_>> = Vec::new();
    for line in lines {
        match line.strip_prefix("$ ") {
            Some(line) => commands.push(Shown { line, exit, output: String::new() }),
            None => writeln!(commands.last_mut().unwrap().output, "{line}").unwrap(),
        }
    }
    commands
}

/// Applies a difference to a text, in which its old lines have to occur exactly once.
fn changed(text: &str, difference: &[&str]) -> String {
    let side = |without: char| -> String {
        let lines = difference.iter().filter(|line| !line.starts_with(without));
        lines.map(|line| format!("{}\n", line.get(1..).unwrap_or_default())).collect()
    };
    let (before, after) = (format!("\n{}", side('+')), format!("\n{}", side('-')));
    assert_eq!(
        text.matches(&before).count(),
        1,
        "there has to be one such place:{before}in\n{text}"
    );
    text.replace(&before, &after)
}

/// A call of `cuvee`: variables of the environment, and the words behind `cuvee`.
struct Call {
    variables: Vec<(String, String)>,
    words: Vec<String>,
}

impl Shown<'_> {
    /// The call of `cuvee` that the line makes; `None` for another program.
    fn call(&self) -> Option<Call> {
        let words = crate::shell::words(self.line);
        let variables: Vec<_> = words.iter().map_while(|word| word.split_once('=')).collect();
        let command = words[variables.len()..].iter().map(String::as_str).collect::<Vec<_>>();
        let cargo = ["cargo", "run", "--release", "--"];
        let words = command.strip_prefix(&cargo).or(command.strip_prefix(&["cuvee"]))?;
        let variables =
            variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        Some(Call {
            variables: variables.collect(),
            words: words.iter().map(|&word| word.to_owned()).collect(),
        })
    }

    fn run(self, directory: &Path) {
        let Some(Call { variables, words }) = self.call() else {
            assert!(
                ["cargo test", "cargo install --path ."].contains(&self.line),
                "nobody tests `{}`",
                self.line
            );
            return;
        };
        // A directory of its own stands for the one of the system.
        let own = |text: String| text.replace("/tmp/", &format!("{}/", directory.display()));
        let words = words.into_iter().map(own);
        let variables = variables.into_iter().map(|(name, value)| (name, own(value)));
        let command =
            Command::new(cargo_bin!("cuvee")).args(words).envs(variables).current_dir(directory);
        let result = command.stderr_to_stdout().assert().code(self.exit);
        if !self.output.is_empty() {
            result.stdout_eq(self.output);
        }
    }
}

/// What tests leave open in what they expect is no text for readers.
#[test]
fn pages_have_no_placeholders() {
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        let found = page.lines().find(|line| line.contains("[..]"));
        assert_eq!(found, None, "{}", path.display());
    }
}

#[test]
fn commands_do_what_is_shown() {
    let mut count = 0;
    for path in pages() {
        // In a copy, so that commands write nothing into the sources.
        let directory = tempfile::tempdir().unwrap();
        copy(&root().join("examples"), &directory.path().join("examples"));
        let page = fs::read_to_string(&path).unwrap();
        let at = |name: &str| directory.path().join(name);
        for step in steps(&page) {
            match step {
                Step::Write(name, text) => fs::write(at(name), text).unwrap(),
                Step::Change(name, lines) => {
                    let text = fs::read_to_string(at(name)).unwrap();
                    fs::write(at(name), changed(&text, &lines)).unwrap();
                }
                Step::Run(command) => {
                    println!("{}: {}", path.display(), command.line);
                    command.run(directory.path());
                    count += 1;
                }
            }
        }
    }
    assert!(count > 10, "only {count} commands were found");
}

#[test]
fn links_lead_somewhere() {
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        for link in page.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or_default();
            if !file.is_empty() && !file.contains("://") {
                assert!(path.with_file_name(file).exists(), "{}: {link}", path.display());
            }
        }
    }
}

#[test]
fn cases_that_are_named_exist() {
    let page = fs::read_to_string(root().join("docs/deviations.md")).unwrap();
    let named: Vec<_> = page.split('`').filter(|text| text.starts_with("tests/")).collect();
    assert!(named.len() > 10, "{named:?}");
    for case in named {
        assert!(root().join(case).exists(), "{case}");
    }
    let fixtures = page.split("Fixture").skip(1).filter_map(|rest| rest.split(".\n").next());
    let fixtures: Vec<_> = fixtures.flat_map(|names| names.split('`').skip(1).step_by(2)).collect();
    assert!(fixtures.len() > 10, "{fixtures:?}");
    for fixture in fixtures {
        assert!(root().join(format!("tests/diagnostics/{fixture}.yaml")).is_file(), "{fixture}");
    }
}

#[test]
fn each_deviation_has_a_number_of_its_own() {
    let page = fs::read_to_string(root().join("docs/deviations.md")).unwrap();
    let number = |line: &str| line.split_once(". **").and_then(|(number, _)| number.parse().ok());
    let mut numbers: Vec<u32> = page.lines().filter_map(number).collect();
    numbers.sort_unstable();
    assert!(numbers.len() > 100, "{numbers:?}");
    let twice: Vec<_> = numbers.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

/// Writes the page that describes every code.
fn codes() -> String {
    let mut page = "# Codes\n\nEvery error and warning has a code; `cuvee explain-code CODE` describes it, too.\n\n".to_owned();
    page.push_str("<!-- Generated: UPDATE_DOCS=1 cargo test --test project -->\n");
    page.push_str(
        "\nWrong is each with the lines marked `-`, and repaired with those marked `+`.\n",
    );
    for code in Code::ALL {
        write!(page, "\n## `{code}`\n\n{}\n\n", code.description()).unwrap();
        page.push_str(&match code.example() {
            CodeExample::Repair(lines) => {
                format!("```diff\n{lines}```\n\n[This example](../presets/codes/{code}.diff)\n")
            }
            CodeExample::Instead(text) => text.to_owned(),
            other => panic!("{other:?}"),
        });
    }
    page
}

/// Codes that no template leads to, with the reason.
const WITHOUT_TEMPLATE: &[(Code, &str)] = &[
    (Code::ConversionLoss, "it is said of conversions"),
    (Code::Csar, "archives are no texts"),
    (Code::InstanceExists, "it depends on the store"),
    (Code::InstanceName, "it is said of a call"),
    (Code::InstanceRunning, "it depends on who else runs it"),
    (Code::InvalidPlan, "it is said of a plan"),
    (Code::LogRecovered, "it depends on the store"),
    (Code::MissingImport, "it takes two documents"),
    (Code::MissingProgram, "it depends on what is installed"),
    (Code::MissingSecret, "it depends on the store"),
    (Code::NoOrchestration, "it depends on the store"),
    (Code::NoProvider, "it is said of runs"),
    (Code::NoRunner, "it is said of runs"),
    (Code::NotTaken, "it is said of runs"),
    (Code::NotVisible, "it is said of what is deployed"),
    (Code::OrchestrationOpen, "it depends on the store"),
    (Code::SensitivePlain, "it is said of instances"),
    (Code::StalePlan, "it depends on the store"),
    (Code::StaleRevision, "it depends on the store"),
    (Code::StepClaimed, "it depends on the store"),
    (Code::StepNotReady, "it depends on the store"),
    (Code::StoreCorrupt, "it depends on the store"),
    (Code::StoreLocked, "it depends on who else writes"),
    (Code::StoreVersion, "it depends on the store"),
    (Code::UnknownInstance, "it depends on the store"),
    (Code::Unproven, "it depends on the time given"),
    (Code::UnreachableHost, "it depends on the network"),
    (Code::UnresolvedAttribute, "it is said of runs"),
    (Code::UnresolvedInstance, "it is said of instances"),
];

#[test]
fn only_what_no_template_gives_is_explained_without_one() {
    let without = |code: &&Code| matches!(code.example(), CodeExample::Instead(_));
    let without: Vec<_> = Code::ALL.iter().filter(without).copied().collect();
    let known: Vec<_> = WITHOUT_TEMPLATE.iter().map(|(code, _)| *code).collect();
    assert_eq!(without, known);
}

/// What the command of an example prints on one side of a difference, with the codes in it.
fn told(lines: &str, side: char) -> (BTreeSet<String>, String) {
    let lines = lines.lines().filter_map(|line| line.strip_prefix([' ', side]));
    let (commands, text): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with("$ "));
    let [command] = commands[..] else { panic!("{commands:?}") };
    let command = Shown { line: &command[2..], exit: 0, output: String::new() };
    let words = command.call().unwrap().words;
    let directory = tempfile::tempdir().unwrap();
    let mut files = vec![(words[1].clone(), String::new())];
    for line in text {
        let name = line.strip_prefix("# ").filter(|name| name.ends_with(".yaml"));
        match (name, files.last_mut()) {
            (Some(name), _) => files.push((name.to_owned(), String::new())),
            (None, Some((_, text))) => writeln!(text, "{line}").unwrap(),
            (None, None) => unreachable!(),
        }
    }
    files.iter().for_each(|(name, text)| fs::write(directory.path().join(name), text).unwrap());
    let result = Command::new(cargo_bin!("cuvee"))
        .args(words)
        .current_dir(directory.path())
        .stderr_to_stdout()
        .output()
        .unwrap();
    let told = String::from_utf8(result.stdout).unwrap();
    let code = |line: &str| {
        let rest = ["error[", "warning[", "note["].iter().find_map(|of| line.strip_prefix(of))?;
        Some(rest.split_once(']')?.0.to_owned())
    };
    let codes = told.lines().filter_map(code).collect::<BTreeSet<_>>();
    assert!(result.status.success() || !codes.is_empty(), "{told}");
    (codes, format!("$ {}\n{told}", command.line))
}

/// All messages of examples are also in `target/messages.md`, to be read from top to bottom.
#[test]
fn examples_of_codes_are_wrong_and_their_repairs_are_right() {
    let mut messages = String::from("# Messages\n");
    for code in Code::ALL {
        let CodeExample::Repair(lines) = code.example() else { continue };
        // An example is a part of a template, which may leave no node.
        let told = |side| {
            let (mut codes, text) = told(lines, side);
            codes.retain(|it| *code == Code::NothingLeft || it != Code::NothingLeft.as_str());
            (codes, text)
        };
        let (codes, text) = told('-');
        assert_eq!(codes, BTreeSet::from([code.to_string()]), "{code}: {text}");
        write!(messages, "\n## {code}\n\n```console\n{text}```\n").unwrap();
        let (codes, text) = told('+');
        assert_eq!(codes, BTreeSet::new(), "the repair of {code}: {text}");
    }
    fs::write(root().join("target/messages.md"), messages).unwrap();
}

#[test]
fn codes_are_up_to_date() {
    let path = root().join("docs/codes.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, codes()).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == codes(),
        "run `UPDATE_DOCS=1 cargo test --test project`"
    );
}

/// A rule that a fixture covers: its section, which it is sorted by, and its text.
type FixtureRule = (Vec<u32>, String);

/// The rule that a fixture names in its first line, with the codes that it expects.
fn rule(path: &Path) -> FixtureRule {
    let name = path.file_name().unwrap().to_str().unwrap();
    let text = fs::read_to_string(path).unwrap();
    let first = text.lines().next().and_then(|line| line.strip_prefix("# ")?.strip_suffix(")."));
    let (sentence, sections) = first
        .and_then(|line| line.split_once(" (section ").or_else(|| line.split_once(" (sections ")))
        .unwrap_or_else(|| {
            panic!("the first line of {name} has to say its rule: `# A sentence (section 3.8.2).`")
        });
    let number =
        |part: &str| part.parse().unwrap_or_else(|_| panic!("{name}: `{part}` is no section"));
    let numbers = sections.split([' ', ',']).filter(|word| !["", "and", "to"].contains(word));
    // Sections of Variability4TOSCA have names instead of numbers, and come last.
    let mut numbers: Vec<Vec<u32>> = match sections.strip_prefix('"') {
        Some(_) => vec![vec![u32::MAX]],
        None => numbers.map(|section| section.split('.').map(number).collect()).collect(),
    };
    let reported = text.split(" # ").filter_map(|comment| {
        let rest =
            ["error[", "warning[", "note["].iter().find_map(|start| comment.strip_prefix(start))?;
        rest.split_once("]:")
    });
    let codes: BTreeSet<_> = reported.map(|(code, _)| format!("`{code}`")).collect();
    let codes = codes.into_iter().collect::<Vec<_>>().join(", ");
    let row =
        format!("| {sections} | {sentence}. | {codes} | [{name}](../tests/diagnostics/{name}) |\n");
    (numbers.swap_remove(0), row)
}

/// All rules, in the order of the specification.
fn rules() -> String {
    let fixtures =
        fs::read_dir(root().join("tests/diagnostics")).unwrap().map(|entry| entry.unwrap().path());
    let mut rules: Vec<_> =
        fixtures.filter(|path| path.is_file()).map(|path| rule(&path)).collect();
    assert!(rules.len() > 10, "only {} rules", rules.len());
    rules.sort();
    let rows: String = rules.into_iter().map(|(_, row)| row).collect();
    format!("\n| Section | Rule | Codes | Fixture |\n| --- | --- | --- | --- |\n{rows}\n")
}

#[test]
fn rules_are_up_to_date() {
    let path = root().join("docs/validation.md");
    let page = fs::read_to_string(&path).unwrap();
    let (start, end) =
        ("<!-- Rules: UPDATE_DOCS=1 cargo test --test project -->\n", "<!-- End of rules -->\n");
    let (before, rest) = page.split_once(start).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    let expected = format!("{before}{start}{}{end}{after}", rules());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap() == expected,
        "run `UPDATE_DOCS=1 cargo test --test project`"
    );
}

#[test]
fn steps_are_found_in_their_order() {
    let page = "text\n```yaml\n$ no\n```\n```console\n$ cuvee a\nout\n$ X=1 cuvee b\n```\n```yaml b.yaml\nc: 1\nd: 2\n```\n\
         ```console exit-2\n$ cargo run --release -- c\n$ ls\n```\n```diff b.yaml\n c: 1\n-d: 2\n+d: 3\n```\n";
    let steps = steps(page);
    let shown: Vec<_> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Run(command) => Some((command.line, command.exit, command.output.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("cuvee a", 0, "out\n"),
            ("X=1 cuvee b", 0, ""),
            ("cargo run --release -- c", 2, ""),
            ("ls", 2, "")
        ]
    );
    let [
        _,
        Step::Run(second),
        Step::Write(name, text),
        Step::Run(third),
        Step::Run(last),
        Step::Change(of, lines),
    ] = &steps[..]
    else {
        panic!("{} steps", steps.len());
    };
    let call = second.call().unwrap();
    assert_eq!(
        (call.variables, call.words),
        (vec![("X".to_owned(), "1".to_owned())], vec!["b".to_owned()])
    );
    assert_eq!(third.call().unwrap().words, ["c"]);
    assert!(last.call().is_none());
    assert_eq!((*name, text.as_str(), *of), ("b.yaml", "c: 1\nd: 2\n", "b.yaml"));
    assert_eq!(changed("a: 0\nc: 1\nd: 2\ne: 4\n", lines), "a: 0\nc: 1\nd: 3\ne: 4\n");
}
