//! Checks the crate as a dependency of others: what its features bring along, and what its package
//! has.

#![expect(clippy::unwrap_used, reason = "a test that cannot ask Cargo has failed")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What Cargo prints in a directory, using only what was downloaded already.
fn cargo(directory: &Path, line: &str) -> String {
    let mut command = Command::new(env!("CARGO"));
    command.args(line.split_whitespace()).arg("--offline").current_dir(directory);
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {line}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// The crates that a list of Cargo names, including this one, with their versions.
fn crates(tree: &str) -> BTreeSet<String> {
    let lines = tree.lines().filter(|line| !line.is_empty());
    lines.map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect()
}

/// Those of the crates that serve a terminal.
fn of_terminals(crates: &BTreeSet<String>) -> Vec<&str> {
    const TERMINAL: [&str; 7] =
        ["anstream", "clap", "clap_complete", "clap_mangen", "console", "ctrlc", "indicatif"];
    let names = crates.iter().filter_map(|name| name.split(' ').next());
    names.filter(|name| TERMINAL.contains(name)).collect()
}

#[test]
fn the_library_alone_is_small_and_knows_no_terminal() {
    let tree = |features: &str| {
        crates(&cargo(root(), &format!("tree --edges normal --prefix none --locked {features}")))
    };
    let (all, alone) = (tree(""), tree("--no-default-features"));
    assert_eq!(of_terminals(&all).len(), 7);
    assert_eq!(of_terminals(&alone), [""; 0]);
    assert!(alone.len() <= 62, "{} crates: {alone:?}", alone.len());
    let shown = tree("--no-default-features --features render");
    assert_eq!(of_terminals(&shown), [""; 0]);
    assert!(shown.len() <= alone.len() + 3, "{:?}", shown.difference(&alone));
}

/// Whoever has one package of a version has the same in every language.
#[test]
fn versions_are_in_step() {
    let manifest = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let toml = format!("version = \"{}\"", env!("CARGO_PKG_VERSION"));
    let json = format!("  \"version\": \"{}\",", env!("CARGO_PKG_VERSION"));
    for (path, line) in [
        ("Cargo.toml", &toml),
        ("python/Cargo.toml", &toml),
        ("wasm/Cargo.toml", &toml),
        ("wasm/package/package.json", &json),
        ("editors/vscode/package.json", &json),
    ] {
        assert!(manifest(path).lines().any(|it| it == line), "{path} has no line `{line}`");
    }
    for (path, name) in [
        ("Cargo.lock", "cuvee"),
        ("python/Cargo.lock", "cuvee"),
        ("python/Cargo.lock", "cuvee-python"),
        ("wasm/Cargo.lock", "cuvee"),
        ("wasm/Cargo.lock", "cuvee-wasm"),
    ] {
        let block = format!("name = \"{name}\"\n{toml}\n");
        assert!(manifest(path).contains(&block), "{name} in {path}");
    }
    // Whoever builds the source of the wheel gets this library.
    assert!(manifest("python/Cargo.toml").contains(&format!("cuvee = {{ {toml}, path")));
    // The wheel has the version of its crate; what is not published has none.
    assert!(manifest("python/pyproject.toml").contains("dynamic = [\"version\"]"));
    assert!(!manifest("site/package.json").contains("\"version\""));
    assert!(manifest("site/package.json").contains("\"private\": true"));
}

/// Checks packages that depend on this one as the documentation says.
#[test]
fn dependencies_are_as_documented() {
    let pages = ["README.md", "docs/library.md"].map(|page| root().join(page));
    let pages = pages.map(|page| fs::read_to_string(page).unwrap()).concat();
    let blocks = pages.split("\n```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let mut count = 0;
    for block in blocks {
        let package = tempfile::tempdir().unwrap();
        fs::create_dir(package.path().join("src")).unwrap();
        fs::write(package.path().join("src/lib.rs"), "").unwrap();
        // The lock file makes Cargo take the versions that were downloaded.
        fs::copy(root().join("Cargo.lock"), package.path().join("Cargo.lock")).unwrap();
        let version = concat!(
            "version = \"",
            env!("CARGO_PKG_VERSION_MAJOR"),
            ".",
            env!("CARGO_PKG_VERSION_MINOR"),
            "\""
        );
        assert!(block.contains(version), "{block}");
        let here = format!("{version}, path = {:?}", root());
        let manifest = "[package]\nname = \"other\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
        let text = format!("{manifest}{}", block.replace(version, &here));
        fs::write(package.path().join("Cargo.toml"), text).unwrap();
        let tree = cargo(package.path(), "tree --edges normal,build --prefix none");
        assert!(tree.contains("cuvee v"), "{tree}");
        assert_eq!(of_terminals(&crates(&tree)), [""; 0], "{block}");
        count += 1;
    }
    assert_eq!(count, 2);
}

#[test]
fn the_package_is_the_library_and_its_documentation() {
    let list = cargo(root(), "package --package cuvee --list --allow-dirty");
    let files: BTreeSet<_> = list.lines().collect();
    assert!(files.len() <= 1100, "{} files", files.len());
    for file in ["src/lib.rs", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "docs/library.md"] {
        assert!(files.contains(file), "{file} is missing");
    }
    let stray: Vec<_> = files.iter().filter(|file| file.starts_with("tests/")).collect();
    assert!(stray.is_empty(), "{stray:?}");
}
