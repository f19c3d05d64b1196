//! Runs the example of a build script that uses the library.
//!
//! The build script is a part of this test. It runs in a process of its own, in the directory and
//! with the environment that Cargo would give it; then the program that embeds its output is
//! compiled and run. Only Cargo itself is left out: it would build this crate and its dependencies
//! once more, as build dependencies, and the example is not about that. Cargo is only asked whether
//! it can read the package.

#![cfg(feature = "render")]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its files has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

mod script {
    include!("../../examples/build-script/build.rs");

    #[test]
    #[ignore = "the build script, for the other tests to run"]
    fn run() {
        assert!(main() == ExitCode::SUCCESS);
    }
}

fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/build-script")
}

/// Runs the build script as Cargo does, in a package.
fn build(package: &Path, profile: &str, out: &Path) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["build_script::script::run", "--exact", "--ignored", "--nocapture"]);
    command.current_dir(package).env("PROFILE", profile).env("OUT_DIR", out).output().unwrap()
}

#[test]
fn writes_the_variant_of_the_profile() {
    for (profile, preset) in [("debug", "dev"), ("release", "prod")] {
        let out = tempfile::tempdir().unwrap();
        let output = build(&package(), profile, out.path());
        assert!(output.status.success(), "{output:?}");
        let expected =
            fs::read_to_string(package().join("tests").join(preset).join("expected.yaml")).unwrap();
        assert_eq!(fs::read_to_string(out.path().join("service-template.yaml")).unwrap(), expected);
    }
}

#[test]
fn names_every_file_it_depends_on() {
    let out = tempfile::tempdir().unwrap();
    let stdout = String::from_utf8(build(&package(), "debug", out.path()).stdout).unwrap();
    let told: Vec<_> =
        stdout.lines().filter_map(|line| line.strip_prefix("cargo:rerun-if-changed=")).collect();
    assert_eq!(told, ["build.rs", "service-template.yaml", "lib/types.yaml"]);
    assert!(told.iter().all(|path| package().join(path).is_file()));
}

#[test]
fn says_what_is_wrong_and_where() {
    let (package, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let template = "tosca_definitions_version: tosca_variability_1_0\ntopology_template: {}\n";
    fs::write(package.path().join("service-template.yaml"), template).unwrap();
    let output = build(package.path(), "debug", out.path());
    assert!(!output.status.success());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("error[unknown-preset]: there is no variability preset `dev`"),
        "{stderr}"
    );
    assert_as_the_command(package.path(), &stderr);
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0);
}

/// Asserts that the script prints the same messages as the command does for the same template.
#[cfg(feature = "cli")]
fn assert_as_the_command(package: &Path, stderr: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuvee"));
    command.args(["resolve", "service-template.yaml", "--preset", "dev"]).current_dir(package);
    let said = String::from_utf8(command.output().unwrap().stderr).unwrap();
    assert!(said.contains("error[") && stderr.contains(&said), "{said}\n{stderr}");
}

#[cfg(not(feature = "cli"))]
fn assert_as_the_command(_package: &Path, _stderr: &str) {}

#[test]
fn shows_the_line_as_the_command_does() {
    let (package, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let template = "\
tosca_definitions_version: tosca_variability_1_0
topology_template:
  variability: { presets: { dev: { inputs: { tea: ü } } } }
";
    fs::write(package.path().join("service-template.yaml"), template).unwrap();
    let stderr = String::from_utf8(build(package.path(), "debug", out.path()).stderr).unwrap();
    let line = "3 |   variability: { presets: { dev: { inputs: { tea: ü } } } }\n";
    assert!(stderr.contains(line), "{stderr}");
    assert_as_the_command(package.path(), &stderr);
}

#[test]
fn the_program_embeds_what_was_written() {
    let out = tempfile::tempdir().unwrap();
    assert!(build(&package(), "release", out.path()).status.success());
    let program = out.path().join("greeter");
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let mut compile = Command::new(rustc);
    compile.args(["--edition=2024", "src/main.rs", "-o"]).arg(&program);
    let compiled = compile.current_dir(package()).env("OUT_DIR", out.path()).output().unwrap();
    assert!(compiled.status.success(), "{compiled:?}");
    let printed = Command::new(program).output().unwrap().stdout;
    assert_eq!(
        String::from_utf8(printed).unwrap(),
        fs::read_to_string(package().join("tests/prod/expected.yaml")).unwrap()
    );
}

#[test]
fn cargo_reads_the_package() {
    let manifest = package().join("Cargo.toml");
    let mut metadata = Command::new(env!("CARGO"));
    metadata
        .args(["metadata", "--offline", "--no-deps", "--format-version=1", "--manifest-path"])
        .arg(manifest);
    let output = metadata.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let dependency = &metadata["packages"][0]["dependencies"][0];
    assert_eq!(dependency["kind"], "build");
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).canonicalize().unwrap();
    assert_eq!(Path::new(dependency["path"].as_str().unwrap()).canonicalize().unwrap(), here);
}
