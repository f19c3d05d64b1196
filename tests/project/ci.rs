//! Tests what pipelines use of the project: the action, the hooks, the image and the files of a
//! release.
//!
//! Shell scripts are run by a real shell, against a local server. A test that needs `pre-commit`,
//! `shellcheck` or `check-jsonschema` is skipped with a message where that program is missing,
//! unless the environment variable `CUVEE_TOOLS=required` demands it.

#![cfg(all(feature = "cli", unix))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use serde_yaml::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::thread;
use tempfile::TempDir;

const VERSION: &str = env!("CARGO_PKG_VERSION");
const CUVEE: &str = env!("CARGO_BIN_EXE_cuvee");

const RIGHT: &str = "tosca_definitions_version: tosca_simple_yaml_1_3\n\
                     topology_template: { node_templates: { shop: { type: tosca.nodes.Root } } }\n";
const WRONG: &str = "tosca_definitions_version: tosca_simple_yaml_1_3\n\
                     topology_template: { node_templates: { shop: { type: Shop } } }\n";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn yaml(name: &str) -> Value {
    serde_yaml::from_str(&read(name)).unwrap()
}

fn executable(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Whether the program is installed.
fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    let required = std::env::var("CUVEE_TOOLS").is_ok_and(|value| value == "required");
    assert!(found || !required, "there is no `{program}`");
    if !found {
        // Not by a macro: the output of those is shown for failing tests only.
        let skipped = format!("SKIPPED: what needs `{program}`, which is not here\n");
        std::io::stderr().write_all(skipped.as_bytes()).unwrap();
    }
    found
}

/// The exit code of a process, and what it wrote to both streams.
fn said(output: &Output) -> (Option<i32>, String) {
    let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    (output.status.code(), text.concat())
}

fn succeeds(command: &mut Command) -> String {
    let (code, text) = said(&command.output().unwrap());
    assert_eq!(code, Some(0), "{command:?}: {text}");
    text
}

/// A local HTTP server with files by their paths, and a record of the paths that were requested.
struct Server {
    address: String,
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let server = Self { address, files: Arc::default(), asked: Arc::default() };
        let (files, asked) = (Arc::clone(&server.files), Arc::clone(&server.asked));
        thread::spawn(move || {
            for stream in listener.incoming() {
                answer(&stream.unwrap(), &files.lock().unwrap(), &mut asked.lock().unwrap());
            }
        });
        server
    }

    /// A server with the files of the release of this version.
    fn of(files: &BTreeMap<String, Vec<u8>>) -> Self {
        let server = Self::start();
        files.iter().for_each(|(name, bytes)| server.put(name, Some(bytes.clone())));
        server
    }

    /// Replaces a file of the release, or removes it.
    fn put(&self, name: &str, bytes: Option<Vec<u8>>) {
        let mut files = self.files.lock().unwrap();
        let path = format!("/v{VERSION}/{name}");
        match bytes {
            Some(bytes) => files.insert(path, bytes),
            None => files.remove(&path),
        };
    }

    /// The paths that were requested since the last call.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

fn answer(mut stream: &TcpStream, files: &BTreeMap<String, Vec<u8>>, asked: &mut Vec<String>) {
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    let request: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
    let path = request[0].split(' ').nth(1).unwrap().to_owned();
    let (status, body) = match files.get(&path) {
        Some(body) => ("200 OK", body.as_slice()),
        None => ("404 Not Found", &b"nothing"[..]),
    };
    asked.push(path);
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")
        .unwrap();
    stream.write_all(body).unwrap();
}

/// A machine on which a pipeline runs, as the action sees it. Its Cargo only records its arguments,
/// so that nothing is built.
struct Runner {
    directory: TempDir,
}

impl Runner {
    fn new() -> Self {
        let runner = Self { directory: TempDir::new().unwrap() };
        for name in ["temp", "work"] {
            fs::create_dir(runner.path(name)).unwrap();
        }
        runner.program("cargo", CARGO);
        runner
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Installs a program that takes precedence over those of the system.
    fn program(&self, name: &str, text: &str) {
        executable(&self.path("bin").join(name), text);
    }

    fn calls(&self, machine: &str) {
        let (system, processor) = machine.split_once(' ').unwrap();
        let text = format!("#!/bin/sh\n[ \"$1\" = -s ] && echo {system} || echo {processor}\n");
        self.program("uname", &text);
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path("work").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The text of a file that a step may have written; empty where the file does not exist.
    fn told(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Runs a script of the action, with the given variables for this run only.
    fn script(&self, name: &str, variables: &[(&str, &str)]) -> (Option<i32>, String) {
        let mut path = OsString::from(self.path("bin"));
        for directory in self.told("path").lines() {
            path.push(":");
            path.push(directory);
        }
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap());
        let mut command = Command::new("bash");
        command.arg(root().join("action").join(name)).current_dir(self.path("work"));
        command.env("PATH", path).env("RUNNER_TEMP", self.path("temp"));
        command.env("GITHUB_PATH", self.path("path")).env("GITHUB_OUTPUT", self.path("output"));
        command.env("CARGO_LOG", self.path("cargo"));
        said(&command.envs(variables.iter().copied()).output().unwrap())
    }

    /// Validates templates and runs tests with the command that was built for this test.
    fn run(&self, variables: &[(&str, &str)]) -> (Option<i32>, String) {
        let command = format!("#!/bin/sh\nexec '{CUVEE}' \"$@\"\n");
        self.program("cuvee", &command);
        self.script("run.sh", &[&[("ACTION_SARIF", "found.sarif")], variables].concat())
    }
}

/// A stand-in for `cargo install`: it installs a program below the argument of `--root`.
const CARGO: &str = r#"#!/bin/sh
echo "$@" >>"$CARGO_LOG"
while [ "$1" != --root ]; do shift; done
mkdir -p "$2/bin"
printf '#!/bin/sh\necho built by Cargo\n' >"$2/bin/cuvee"
chmod +x "$2/bin/cuvee"
"#;

/// The names that machines give themselves, and the target whose binary each gets.
const MACHINES: [(&str, &str); 7] = [
    ("Linux x86_64", "x86_64-unknown-linux-musl"),
    ("Linux aarch64", "aarch64-unknown-linux-musl"),
    ("Darwin x86_64", "x86_64-apple-darwin"),
    ("Darwin arm64", "aarch64-apple-darwin"),
    ("MINGW64_NT-10.0-20348 x86_64", "x86_64-pc-windows-msvc"),
    ("MSYS_NT-10.0-20348 x86_64", "x86_64-pc-windows-msvc"),
    ("Linux arm64", "aarch64-unknown-linux-musl"),
];

fn archive_of(target: &str) -> String {
    format!("cuvee-{VERSION}-{target}.tar.gz")
}

/// Runs the step of the release workflow that has this name, exactly as it is written there.
fn step(name: &str, directory: &Path, variables: &[(&str, &str)]) -> String {
    let workflow = yaml(".github/workflows/release.yml");
    let jobs = workflow["jobs"].as_mapping().unwrap().values();
    let steps = jobs.flat_map(|job| job["steps"].as_sequence().unwrap());
    let run = steps.filter(|step| step["name"] == *name).map(|step| step["run"].as_str().unwrap());
    let [run] = run.collect::<Vec<_>>()[..] else { panic!("which step is `{name}`?") };
    assert!(!run.contains("${{"), "what GitHub puts into a script need not be a word: {run}");
    let mut bash = Command::new("bash");
    bash.args(["-eo", "pipefail", "-c", run]).envs(variables.iter().copied());
    succeeds(bash.current_dir(directory))
}

/// The archives of a release and their checksums, made from one binary as the workflow does.
fn release(binary: &Path, targets: &[&str]) -> BTreeMap<String, Vec<u8>> {
    let checkout = TempDir::new().unwrap();
    std::os::unix::fs::symlink(root().join(".github"), checkout.path().join(".github")).unwrap();
    for target in targets {
        let variables = [("TARGET", *target), ("BINARY", binary.to_str().unwrap())];
        step("Archive", checkout.path(), &variables);
    }
    let dist = checkout.path().join("dist");
    step("Checksums", &dist, &[]);
    let files = fs::read_dir(dist).unwrap().map(|file| file.unwrap());
    files
        .map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap()))
        .collect()
}

/// A small program that takes the place of the real binary and has its name.
fn stand_in(directory: &Path) -> PathBuf {
    let path = directory.join("cuvee");
    executable(&path, "#!/bin/sh\necho released\n");
    path
}

#[test]
fn the_action_installs_what_the_workflow_releases_and_runs_it() {
    let runner = Runner::new();
    runner.calls("Linux x86_64");
    let server = Server::of(&release(Path::new(CUVEE), &["x86_64-unknown-linux-musl"]));
    let (code, text) = runner.script("install.sh", &[("ACTION_DOWNLOAD_URL", &server.address)]);
    assert_eq!((code, &*text), (Some(0), &*format!("cuvee {VERSION}\n")));
    assert_eq!(runner.told("cargo"), "");
    let archive = archive_of("x86_64-unknown-linux-musl");
    assert_eq!(
        server.asked(),
        [format!("/v{VERSION}/{archive}"), format!("/v{VERSION}/SHA256SUMS")]
    );
    runner.write("shop.yaml", RIGHT);
    let variables = [("ACTION_SARIF", "found.sarif"), ("ACTION_VALIDATE", "shop.yaml")];
    let (code, text) = runner.script("run.sh", &variables);
    assert_eq!((code, &*text), (Some(0), "`shop.yaml` is valid\n"));
    assert_eq!(runner.told("output"), "sarif=found.sarif\n");
}

#[test]
fn the_action_runs_nothing_that_was_altered() {
    let target = "x86_64-unknown-linux-musl";
    let archive = archive_of(target);
    let directory = TempDir::new().unwrap();
    let files = release(&stand_in(directory.path()), &[target]);
    let attempt = |altered: &[(&str, Option<&str>)], checksum: &str| {
        let (runner, server) = (Runner::new(), Server::of(&files));
        runner.calls("Linux x86_64");
        for &(name, text) in altered {
            server.put(name, text.map(|text| text.as_bytes().to_vec()));
        }
        let variables = [("ACTION_DOWNLOAD_URL", &*server.address), ("ACTION_CHECKSUM", checksum)];
        let (code, text) = runner.script("install.sh", &variables);
        assert_eq!(runner.told("cargo"), "", "{text}");
        assert_eq!(runner.told("path").is_empty(), code != Some(0), "{text}");
        (code, text)
    };
    let right = std::str::from_utf8(&files["SHA256SUMS"]).unwrap().split(' ').next().unwrap();
    let other = (&*archive, Some("something else"));
    let unknown = ("SHA256SUMS", Some("1234  cuvee-elsewhere.tar.gz\n"));
    let none = ("SHA256SUMS", None);

    // A checksum that is given makes the one of the release unnecessary.
    for (altered, checksum) in [(&[][..], ""), (&[], right), (&[none], right)] {
        let (code, text) = attempt(altered, checksum);
        assert_eq!((code, &*text), (Some(0), "released\n"));
    }
    for (altered, checksum, complaint) in [
        (&[other][..], "", "has the checksum"),
        (&[unknown], "", "has no checksum of"),
        (&[none], "", "has no checksums"),
        (&[other], right, "has the checksum"),
        (&[], "0123", "instead of 0123"),
    ] {
        let (code, text) = attempt(altered, checksum);
        assert_eq!(code, Some(1), "{text}");
        let error = text.lines().find(|line| line.starts_with("::error title=cuvee::"));
        assert!(error.is_some_and(|error| error.contains(complaint)), "{complaint}: {text}");
    }
}

#[test]
fn the_action_builds_what_no_release_has() {
    let server = Server::start();
    let source = root().to_str().unwrap();
    let here = ("GITHUB_SERVER_URL", &*server.address);
    let repository = format!("{}/somebody/cuvee", server.address);
    let other = ("ACTION_VERSION", "v9.8.7");
    for (variables, expected) in [
        (vec![], format!("--path {source}")),
        (vec![here, ("ACTION_REPOSITORY", "somebody/cuvee")], format!("--path {source}")),
        (
            vec![here, ("ACTION_REPOSITORY", "somebody/cuvee"), other],
            format!("--git {repository} --tag v9.8.7 cuvee"),
        ),
    ] {
        let runner = Runner::new();
        runner.calls("Linux x86_64");
        let (code, text) = runner.script("install.sh", &variables);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("built by Cargo\n") && text.contains("::notice"), "{text}");
        let directory = runner.path("temp/cuvee");
        let call = format!("install --locked --root {} {expected}\n", directory.display());
        assert_eq!(runner.told("cargo"), call);
        assert_eq!(runner.told("path"), format!("{}/bin\n", directory.display()));
    }
    let asked = server.asked();
    let file = "/somebody/cuvee/releases/download/v9.8.7/cuvee-9.8.7-x86_64-unknown-linux-musl";
    assert_eq!(asked.last().unwrap(), &format!("{file}.tar.gz"));
    assert_eq!(asked.len(), 2, "an action of a checkout has no releases: {asked:?}");

    for (version, machine, complaint) in [
        ("9.8.7", "Linux x86_64", "nothing says where 9.8.7 is"),
        ("../../evil", "Linux x86_64", "is no version"),
        ("latest", "Linux x86_64", "is no version"),
    ] {
        let runner = Runner::new();
        runner.calls(machine);
        let (code, text) = runner.script("install.sh", &[("ACTION_VERSION", version)]);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("::error") && text.contains(complaint), "{text}");
        assert_eq!((runner.told("cargo"), runner.told("path")), (String::new(), String::new()));
    }
    // For a machine that has no binary, nothing is requested from the server.
    let runner = Runner::new();
    runner.calls("SunOS sun4v");
    let (code, text) = runner.script("install.sh", &[("ACTION_DOWNLOAD_URL", &server.address)]);
    assert_eq!((code, server.asked().len()), (Some(0), 0), "{text}");
}

/// Fills in those keys of `cargo binstall` that the template uses.
fn filled(template: &str, repository: &str, target: &str) -> String {
    let extension = if target.contains("windows") { ".exe" } else { "" };
    let mut text = template.to_owned();
    for (key, value) in [
        ("repo", repository),
        ("version", VERSION),
        ("target", target),
        ("bin", "cuvee"),
        ("binary-ext", extension),
    ] {
        text = text.replace(&format!("{{ {key} }}"), value);
    }
    assert!(!text.contains(['{', '}']), "{text}");
    text
}

/// A value from a table of `Cargo.toml` that Cargo itself does not read.
fn metadata(table: &str, key: &str) -> String {
    let manifest = read("Cargo.toml");
    let (_, rest) = manifest.split_once(&format!("\n[{table}]\n")).unwrap();
    let lines = rest.lines().take_while(|line| !line.starts_with('['));
    let mut values = lines.filter_map(|line| line.split_once(" = ")).filter(|pair| pair.0 == key);
    values.next().unwrap().1.trim_matches('"').to_owned()
}

/// The targets that the workflow builds for, each with the name of its binary.
fn targets() -> BTreeMap<String, String> {
    let workflow = yaml(".github/workflows/release.yml");
    let matrix = &workflow["jobs"]["build"]["strategy"]["matrix"]["include"];
    let rows = matrix.as_sequence().unwrap().iter();
    rows.map(|row| {
        let extension = row["extension"].as_str().unwrap_or_default();
        (row["target"].as_str().unwrap().to_owned(), format!("cuvee{extension}"))
    })
    .collect()
}

#[test]
fn workflow_action_and_binstall_agree_on_names() {
    let targets = targets();
    let systems = ["linux-gnu", "linux-musl"].map(|system| format!("unknown-{system}"));
    for system in systems.iter().map(String::as_str).chain(["apple-darwin"]) {
        for processor in ["x86_64", "aarch64"] {
            assert!(targets.contains_key(&format!("{processor}-{system}")), "{targets:?}");
        }
    }
    assert!(targets.contains_key("x86_64-pc-windows-msvc"));
    let directory = TempDir::new().unwrap();
    let server = Server::start();
    let repository = format!("{}/somebody/cuvee", server.address);
    let url = metadata("package.metadata.binstall", "pkg-url");
    let bin = metadata("package.metadata.binstall", "bin-dir");
    assert_eq!(metadata("package.metadata.binstall", "pkg-fmt"), "tgz");

    // `cargo binstall` finds the released archive at the URL that it makes, with the binary in it.
    for (target, name) in &targets {
        let binary = directory.path().join(name);
        executable(&binary, "#!/bin/sh\n");
        let mut files = release(&binary, &[target]);
        let archive = archive_of(target);
        let there = format!("{repository}/releases/download/v{VERSION}/{archive}");
        assert_eq!(filled(&url, &repository, target), there);
        let path = directory.path().join(&archive);
        fs::write(&path, files.remove(&archive).unwrap()).unwrap();
        let listed = succeeds(Command::new("tar").arg("-tzf").arg(path));
        let binary = filled(&bin, &repository, target);
        assert!(listed.lines().any(|file| file == binary), "{binary}: {listed}");
        let (directory, _) = binary.rsplit_once('/').unwrap();
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(listed.lines().any(|line| line == format!("{directory}/{file}")), "{listed}");
        }
    }
    // The action finds the archive as well, on each machine.
    for (machine, target) in MACHINES {
        let runner = Runner::new();
        runner.calls(machine);
        let variables =
            [("GITHUB_SERVER_URL", &*server.address), ("ACTION_REPOSITORY", "somebody/cuvee")];
        let (code, text) = runner.script("install.sh", &variables);
        assert_eq!(code, Some(0), "{text}");
        let asked: Vec<_> =
            server.asked().iter().map(|path| format!("{}{path}", server.address)).collect();
        assert_eq!(asked, [filled(&url, &repository, target)], "{machine}");
        assert!(targets.contains_key(target), "{target}");
    }
}

#[test]
fn only_a_tag_of_the_version_is_released() {
    let name = "The tag is the version";
    step(name, root(), &[("GITHUB_REF_NAME", &format!("v{VERSION}"))]);
    let workflow = read(".github/workflows/release.yml");
    let line = workflow.lines().find_map(|line| line.trim().strip_prefix("run: grep ")).unwrap();
    for tag in ["v9.8.7", "v", &format!("v{VERSION}-rc")] {
        let mut bash = Command::new("bash");
        bash.args(["-c", &format!("grep {line}")]).env("GITHUB_REF_NAME", tag);
        assert_eq!(bash.current_dir(root()).status().unwrap().code(), Some(1), "{tag}");
    }
}

/// Who publishes may write somewhere, or prove who they are; nobody holds a key.
#[test]
fn all_is_built_and_tried_before_anything_is_published() {
    let workflow = yaml(".github/workflows/release.yml");
    let jobs = workflow["jobs"].as_mapping().unwrap();
    let names = |needs: &Value| -> Vec<String> {
        let one = needs.as_str().map(str::to_owned);
        let many = needs.as_sequence().into_iter().flatten();
        one.into_iter().chain(many.map(|name| name.as_str().unwrap().to_owned())).collect()
    };
    let publishes = |job: &Value| {
        let mut granted = job["permissions"].as_mapping().into_iter().flat_map(|it| it.values());
        granted.any(|grant| grant == "write")
    };
    let (publishing, building): (Vec<_>, Vec<_>) = jobs.iter().partition(|(_, job)| publishes(job));
    let keys = |jobs: &[(&Value, &Value)]| -> BTreeSet<String> {
        jobs.iter().map(|(name, _)| name.as_str().unwrap().to_owned()).collect()
    };
    let expected = ["release", "publish-wheels", "publish-npm", "publish-site"];
    assert_eq!(keys(&publishing), expected.map(str::to_owned).into());
    for (name, job) in publishing {
        let (mut waits, mut before) = (BTreeSet::new(), names(&job["needs"]));
        while let Some(next) = before.pop() {
            before.extend(names(&jobs[&*next]["needs"]));
            waits.insert(next);
        }
        assert!(waits.is_superset(&keys(&building)), "{name:?} waits for {waits:?} only");
    }
    assert!(!read(".github/workflows/release.yml").contains("secrets."));
}

/// The release is what has checksums; what other indexes get goes there only.
#[test]
fn the_release_has_what_is_for_no_index() {
    let directory = TempDir::new().unwrap();
    let dist = directory.path().join("dist");
    fs::create_dir(&dist).unwrap();
    let archive = archive_of("x86_64-unknown-linux-musl");
    let kept = [&*archive, "cuvee-linux-x64.vsix"];
    let source = format!("cuvee-{VERSION}.tar.gz");
    let package = format!("cuvee-{VERSION}.tgz");
    for name in [&kept[..], &["cuvee.whl", &source, &package, "artifact.tar"]].concat() {
        fs::write(dist.join(name), "").unwrap();
    }
    let name = "What is for Python, for npm and of the site is published there";
    step(name, directory.path(), &[("GITHUB_REF_NAME", &format!("v{VERSION}"))]);
    let names = fs::read_dir(dist).unwrap().map(|file| file.unwrap().file_name());
    assert_eq!(names.collect::<BTreeSet<_>>(), kept.map(OsString::from).into());
}

#[test]
fn checksums_are_those_of_all_archives() {
    let directory = TempDir::new().unwrap();
    let targets = targets();
    let targets: Vec<_> = targets.keys().map(String::as_str).collect();
    let mut files = release(&stand_in(directory.path()), &targets);
    let sums = String::from_utf8(files.remove("SHA256SUMS").unwrap()).unwrap();
    let named: Vec<_> = sums.lines().map(|line| line.split_once("  ").unwrap().1).collect();
    assert_eq!(named, files.keys().collect::<Vec<_>>());
    assert_eq!(named.len(), targets.len());
}

/// A directory with a valid template whose name contains a blank, and two more, one of them wrong.
fn templates() -> Runner {
    let runner = Runner::new();
    runner.write("templates/a shop.yaml", RIGHT);
    runner.write("templates/deep/inn.yaml", RIGHT);
    runner.write("broken/wrong.yaml", WRONG);
    let variable = RIGHT
        .replace("simple_yaml_1_3", "variability_1_0")
        .replace("te: {", "te: { variability: {},");
    runner.write("tested/variable-service-template.yaml", &variable);
    runner.write("tested/tests/all/expected.yaml", RIGHT);
    runner
}

#[test]
fn the_action_validates_and_tests_all_that_it_is_given() {
    let runner = templates();
    let (code, text) = runner.run(&[]);
    assert_eq!((code, &*text), (Some(0), ""), "nothing is asked for");
    assert_eq!(runner.told("output"), "");

    let patterns = "templates/*.yaml\n  templates/deep/*.yaml";
    let (code, text) = runner.run(&[
        ("ACTION_VALIDATE", patterns),
        ("ACTION_TEST", "tested"),
        ("ACTION_ARGUMENTS", ""),
    ]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("`templates/a shop.yaml` is valid\n"), "{text}");
    assert!(text.contains("`templates/deep/inn.yaml` is valid\n"), "{text}");
    assert!(text.contains("1 passed"), "{text}");
    assert_eq!(runner.told("output"), "sarif=found.sarif\n");
}

/// The findings of a run, from the SARIF file that the output names.
fn sarif(runner: &Runner) -> serde_json::Value {
    assert!(runner.told("output").ends_with("sarif=found.sarif\n"));
    serde_json::from_str(&runner.told("work/found.sarif")).unwrap()
}

#[test]
fn the_action_goes_on_and_fails_at_its_end() {
    let runner = templates();
    let both = [("ACTION_VALIDATE", "broken/*.yaml templates/deep/*"), ("ACTION_TEST", "tested")];
    let (code, text) = runner.run(&both);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("error[unknown-type]: "), "{text}");
    assert!(text.contains("1 passed"), "what is wrong with one keeps no other from a test: {text}");
    let found = &sarif(&runner)["runs"][0]["results"];
    assert_eq!(found[0]["ruleId"], "unknown-type");
    let place = &found[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(place, "broken/wrong.yaml");
    assert_eq!(found.as_array().unwrap().len(), 1);

    // A failing test fails the run as well.
    let runner = templates();
    runner.write("tested/tests/all/expected.yaml", WRONG);
    let (code, text) = runner.run(&[("ACTION_TEST", "tested")]);
    assert_eq!((code, runner.told("output")), (Some(1), String::new()), "{text}");

    // A pattern that matches no file is an error.
    let runner = templates();
    let (code, text) = runner.run(&[("ACTION_VALIDATE", "template/*.yaml")]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("`template/*.yaml`"), "{text}");

    // Wrong use has a higher exit code than a wrong template, and writes no findings.
    let variables = [("ACTION_VALIDATE", "broken/*"), ("ACTION_ARGUMENTS", "--strikt")];
    let runner = templates();
    let (code, text) = runner.run(&variables);
    assert_eq!((code, runner.told("output")), (Some(2), String::new()), "{text}");
}

#[test]
fn the_action_hands_arguments_over() {
    let runner = templates();
    runner.write("compose.yaml", "services: {}\n");
    let variables = [
        ("ACTION_VALIDATE", "compose.yaml templates/deep/inn.yaml"),
        ("ACTION_ARGUMENTS", "--only-tosca\n--preset  *"),
    ];
    let (code, text) = runner.run(&variables);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("`*`"), "arguments are no patterns: {text}");
    let (code, text) = runner.run(&[variables[0], ("ACTION_ARGUMENTS", "--only-tosca --strict")]);
    assert_eq!(code, Some(0), "{text}");
}

/// The names of variables of the action that a text contains.
fn variables(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_ascii_uppercase() || c == '_'));
    words.filter(|word| word.len() > "ACTION_".len() && word.starts_with("ACTION_")).collect()
}

#[test]
fn what_the_action_takes_reaches_its_scripts() {
    let text = read("action/action.yml");
    let action = yaml("action/action.yml");
    for (name, input) in action["inputs"].as_mapping().unwrap() {
        let name = name.as_str().unwrap();
        assert!(text.contains(&format!("inputs.{name} ")), "nobody reads `{name}`");
        assert!(input["default"].is_string() && input["description"].is_string(), "{name}");
        assert!(read("docs/ci.md").contains(&format!("`{name}`")), "docs/ci.md lacks `{name}`");
    }
    for (step, script) in [(0, "install.sh"), (1, "run.sh")] {
        let step = &action["runs"]["steps"][step];
        assert_eq!(step["run"], format!("bash \"$GITHUB_ACTION_PATH/{script}\"").as_str());
        let given: BTreeSet<_> =
            step["env"].as_mapping().unwrap().keys().map(|key| key.as_str().unwrap()).collect();
        assert_eq!(given, variables(&read(&format!("action/{script}"))), "{script}");
    }
}

#[test]
fn the_image_is_the_binary_of_an_archive_and_nothing_else() {
    let text = read("Dockerfile");
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let steps: Vec<_> = lines.map(|line| line.split_once(' ').unwrap()).collect();
    let [("FROM", "scratch"), ("COPY", copy), ("WORKDIR", _), ("ENTRYPOINT", start)] = steps[..]
    else {
        panic!("{steps:?}")
    };
    let (from, to) = copy.split_once(' ').unwrap();
    assert_eq!(from, targets()["x86_64-unknown-linux-musl"]);
    // The entry point is a list, since the image has no shell that could split a line.
    assert_eq!(serde_json::from_str::<Vec<String>>(start).unwrap(), [to]);
}

#[test]
fn shell_scripts_are_clean() {
    if has("shellcheck") {
        let scripts = [
            "action/install.sh",
            "action/run.sh",
            ".github/archive.sh",
            "python/run",
            "wasm/build",
            "wasm/run",
            "site/run",
            ".ci/run",
            "editors/vscode/run",
        ];
        succeeds(Command::new("shellcheck").args(scripts).current_dir(root()));
    }
}

#[test]
fn what_others_read_has_their_shape() {
    if has("check-jsonschema") {
        for (schema, file) in [
            ("vendor.github-workflows", ".github/workflows/release.yml"),
            ("vendor.github-workflows", ".github/workflows/scheduled.yml"),
            ("vendor.github-actions", "action/action.yml"),
        ] {
            let mut check = Command::new("check-jsonschema");
            succeeds(check.args(["--builtin-schema", schema, file]).current_dir(root()));
        }
    }
    if has("pre-commit") {
        let mut check = Command::new("pre-commit");
        succeeds(check.args(["validate-manifest", ".pre-commit-hooks.yaml"]).current_dir(root()));
    }
}

/// The blocks of the documentation that are whole files: a workflow, and two configurations of
/// hooks.
fn shown() -> [String; 3] {
    let page = read("docs/ci.md");
    let blocks = page.split("\n```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let whole = blocks.filter(|block| !block.starts_with(' ')).map(str::to_owned);
    whole.collect::<Vec<_>>().try_into().unwrap()
}

#[test]
fn what_is_shown_has_its_shape() {
    let [workflow, hooks, local] = shown();
    let directory = TempDir::new().unwrap();
    let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
    write("workflow.yml", &workflow);
    write("hooks.yaml", &hooks);
    write("local.yaml", &local);
    if has("check-jsonschema") {
        let mut check = Command::new("check-jsonschema");
        check.args(["--builtin-schema", "vendor.github-workflows", "workflow.yml"]);
        succeeds(check.current_dir(directory.path()));
    }
    if has("pre-commit") {
        let mut check = Command::new("pre-commit");
        check.args(["validate-config", "hooks.yaml", "local.yaml"]);
        succeeds(check.current_dir(directory.path()));
    }
    // The action has each input that the workflow hands to it, and the local hook equals the
    // published one.
    let workflow: Value = serde_yaml::from_str(&workflow).unwrap();
    let step = &workflow["jobs"]["templates"]["steps"][1];
    assert_eq!(step["uses"], format!("OWNER/cuvee/action@v{VERSION}").as_str());
    let inputs = &yaml("action/action.yml")["inputs"];
    for input in step["with"].as_mapping().unwrap().keys() {
        assert!(!inputs[input].is_null(), "{input:?}");
    }
    let local: Value = serde_yaml::from_str(&local).unwrap();
    let own = &yaml(".pre-commit-hooks.yaml")[0];
    for key in ["id", "name", "entry", "files", "exclude", "require_serial"] {
        assert_eq!(local["repos"][0]["hooks"][0][key], own[key], "{key}");
    }
    let versions = [hooks, read("docs/ci.md")].concat();
    let other = versions.split(['v', '=', '-']).filter(|rest| rest.starts_with("0."));
    assert!(other.clone().count() > 3 && other.clone().all(|rest| rest.starts_with(VERSION)));
}

/// As long as the package names no repository, the documentation says what does not work.
#[test]
fn without_a_repository_the_documentation_says_so() {
    let known = read("Cargo.toml").lines().any(|line| line.starts_with("repository = "));
    let page = read("docs/ci.md").replace('\n', " ");
    assert_eq!(page.contains("names no repository yet"), !known);
}

/// A dependency that needs a C compiler or a system library would keep the binary from being
/// static.
#[test]
fn the_command_is_rust_alone() {
    let mut tree = Command::new(env!("CARGO"));
    tree.args("tree --offline --locked --edges normal,build --prefix none --target".split(' '));
    let said = succeeds(tree.arg("x86_64-unknown-linux-musl").current_dir(root()));
    let crates: BTreeSet<_> = said.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(crates.contains("cuvee") && crates.len() > 50, "{crates:?}");
    for tool in ["cc", "cmake", "pkg-config", "bindgen"] {
        assert!(!crates.contains(tool), "{tool}");
    }
}

/// A Git repository with some committed files.
struct Repository(TempDir);

impl Repository {
    fn new(files: &[(&str, &str)]) -> Self {
        let repository = Self(TempDir::new().unwrap());
        repository.git("init --quiet");
        repository.commit(files);
        repository
    }

    fn git(&self, line: &str) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]);
        git.args(line.split(' ')).current_dir(self.0.path());
        succeeds(&mut git).trim().to_owned()
    }

    fn commit(&self, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = self.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        self.git("add --all");
        self.git("commit --quiet --message files");
    }

    /// Runs pre-commit, which clones the repository of the hooks into a home that is deleted
    /// afterwards.
    fn pre_commit(&self, line: &str) -> (Option<i32>, String) {
        self.pre_commit_with(Path::new(CUVEE).parent().unwrap(), line)
    }

    /// The same, with the programs of a directory.
    fn pre_commit_with(&self, programs: &Path, line: &str) -> (Option<i32>, String) {
        let home = TempDir::new().unwrap();
        let mut path = OsString::from(programs);
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap());
        let mut run = Command::new("pre-commit");
        run.args(line.split(' ')).env("PRE_COMMIT_HOME", home.path()).env("PATH", path);
        // With the target directory of this build, little is left to build.
        run.env("CARGO_TARGET_DIR", Path::new(CUVEE).ancestors().nth(2).unwrap());
        said(&run.current_dir(self.0.path()).output().unwrap())
    }
}

/// Files of a repository that uses the hooks: a template with a test, and YAML of other kinds.
const USER: [(&str, &str); 5] = [
    ("shop/service-template.yaml", RIGHT),
    ("shop/tests/all/expected.yaml", RIGHT),
    ("shop/tests/all/test.yaml", "{}\n"),
    ("compose.yaml", "services: {}\n"),
    ("chart.yaml", "a: 1\n---\nb: {{ .Values.b }}\n"),
];

/// Runs the hooks as they are published, except that the command comes from the PATH.
#[test]
fn hooks_look_at_what_they_should() {
    if !has("pre-commit") || !has("git") {
        return;
    }
    let hooks = read(".pre-commit-hooks.yaml");
    assert_eq!(hooks.matches("language: rust").count(), 2);
    let hooks = hooks.replace("language: rust", "language: system");
    let hooks = Repository::new(&[(".pre-commit-hooks.yaml", &hooks)]);
    let [_, config, _] = shown();
    let config = config
        .replace("https://github.com/OWNER/cuvee", hooks.0.path().to_str().unwrap())
        .replace(&format!("v{VERSION}"), &hooks.git("rev-parse HEAD"));
    let user = Repository::new(&[&USER[..], &[(".pre-commit-config.yaml", &config)]].concat());
    let (code, text) = user.pre_commit("run --all-files --verbose");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("`shop/service-template.yaml` is valid"), "{text}");
    assert!(!text.contains("`shop/tests"), "what a test expects is no template: {text}");
    assert!(text.contains("files without `tosca_definitions_version` were passed over"), "{text}");
    assert!(text.contains("1 passed"), "{text}");

    user.commit(&[("shop/tests/all/expected.yaml", WRONG), ("inn.yml", WRONG)]);
    let (code, text) = user.pre_commit("run --all-files");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("error[unknown-type]: ") && text.contains("inn.yml:2:"), "{text}");
    assert_eq!(text.matches("Failed").count(), 2, "{text}");

    // Only files that changed are checked.
    user.commit(&[("shop/tests/all/expected.yaml", RIGHT)]);
    let (code, text) = user.pre_commit("run --from-ref HEAD~1 --to-ref HEAD");
    assert_eq!((code, text.contains("inn.yml")), (Some(0), false), "{text}");
}

/// Runs the hooks as users get them: pre-commit has cargo install the command from a clone. What
/// cargo would build is there already. A cargo that tells no version would be installed first.
#[test]
fn hooks_have_cargo_install_the_command() {
    if !has("pre-commit") || !has("git") {
        return;
    }
    let tools = TempDir::new().unwrap();
    let installs = format!(
        "#!/bin/sh\n\
         [ \"$1\" != --version ] || exit 0\n\
         [ \"$1 $2 $3 $5 $6\" = 'install --bins --root --path .' ] && grep -q '^name = \"cuvee\"' Cargo.toml || exit 1\n\
         mkdir -p \"$4/bin\" && ln -s '{CUVEE}' \"$4/bin/cuvee\" && echo \"$PWD\" >'{}'\n",
        tools.path().join("installed").display(),
    );
    executable(&tools.path().join("cargo"), &installs);
    validates_by_the_hook(tools.path());
    let clone = fs::read_to_string(tools.path().join("installed")).unwrap();
    assert_ne!(Path::new(clone.trim()), root(), "what is installed is a clone");
}

/// Runs the hooks as users get them: the command is built from the repository.
#[test]
#[ignore = "builds the command, which takes minutes"]
fn hooks_build_what_they_run() {
    if has("pre-commit") && has("git") {
        validates_by_the_hook(TempDir::new().unwrap().path());
    }
}

/// Runs a hook of this repository on that of a user, with further programs.
fn validates_by_the_hook(programs: &Path) {
    let user = Repository::new(&USER);
    let line = format!("try-repo {} cuvee-validate --all-files --verbose", root().display());
    let (code, text) = user.pre_commit_with(programs, &line);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("`shop/service-template.yaml` is valid"), "{text}");
}
