//! Types an example character by character, and takes back what was typed.

use crate::client::{Client, lines};
use crate::findings::validated;
use crate::folders;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tempfile::tempdir;

const SHOP: &str = include_str!("../../examples/shop/variable-service-template.yaml");

/// A position of an offset in code units of UTF-16.
fn position(text: &str, at: usize) -> Value {
    let before = &text[..at];
    let line = before.rsplit('\n').next().unwrap();
    json!({ "line": before.matches('\n').count(), "character": line.encode_utf16().count() })
}

fn edit(text: &str, start: usize, end: usize, new: &str) -> Value {
    json!([{ "range": { "start": position(text, start), "end": position(text, end) }, "text": new }])
}

/// Every character of a part of the shop is typed, each version is answered, and in the end there
/// is what there is of the whole text.
#[test]
fn every_version_is_answered() {
    let folder = tempdir().unwrap();
    let mut client = Client::new(folder.path());
    client.open_as("whole.yaml", SHOP, 1);
    let expected = lines(&client.published("whole.yaml", 1));
    client.close("whole.yaml");
    let start = SHOP.find("  node_templates:").unwrap();
    let mut text = SHOP[..start].to_owned();
    client.open("t.yaml", &text);
    client.published("t.yaml", 1);
    let (mut version, mut rest) = (1, &SHOP[start..]);
    while let Some(next) = rest.chars().next() {
        // Later lines come at once, so that the test does not take minutes.
        let typed = if version < 400 {
            next.len_utf8()
        } else {
            rest.find('\n').map_or(rest.len(), |it| it + 1)
        };
        version += 1;
        let change = edit(&text, text.len(), text.len(), &rest[..typed]);
        client.change("t.yaml", version, change);
        text.push_str(&rest[..typed]);
        rest = &rest[typed..];
        client.published("t.yaml", version);
    }
    assert_eq!(text, SHOP);
    version += 1;
    client.change("t.yaml", version, json!([]));
    let last = client.published("t.yaml", version);
    assert_eq!(lines(&last), expected);
    client.shut_down();
}

/// Whatever is typed, pasted and taken back, the server has the text of the editor: in the end it
/// finds what it finds in that text when it is opened.
#[test]
fn random_changes_lead_to_the_same_text() {
    let folder = tempdir().unwrap();
    let mut client = Client::new(folder.path());
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    let edits = prop::collection::vec(
        (0.0..1.0_f64, 0..30_usize, "[a-z{}\\[\\]:\"' \n\u{e4}\u{1F375}-]{0,8}"),
        1..20,
    );
    for number in 0..8 {
        let edits = edits.new_tree(&mut runner).unwrap().current();
        let name = format!("t{number}.yaml");
        client.open(&name, SHOP);
        let expected = lines(&client.published(&name, 1));
        let mut text = SHOP.to_owned();
        let (mut version, mut before) = (1, Vec::new());
        for (share, length, new) in edits {
            let mut start = (text.len() as f64 * share) as usize;
            while !text.is_char_boundary(start) {
                start -= 1;
            }
            let end =
                text[start..].char_indices().nth(length).map_or(text.len(), |(at, _)| start + at);
            version += 1;
            client.change(&name, version, edit(&text, start, end, &new));
            before.push(text.clone());
            text.replace_range(start..end, &new);
        }
        let last = lines(&client.published(&name, version));
        let copy = format!("copy{number}.yaml");
        client.open(&copy, &text);
        let opened = lines(&client.published(&copy, 1));
        // Where the cursor is decides how a broken text is repaired, not what is wrong with it.
        let syntax = |lines: &[String]| -> Vec<String> {
            lines.iter().filter(|it| it.contains(" syntax: ")).cloned().collect()
        };
        assert_eq!(syntax(&last), syntax(&opened));
        if syntax(&last).is_empty() {
            assert_eq!(last, opened);
        }
        // Undo leads back to the shop.
        version += 1;
        client.replace(&name, version, &before[0]);
        let whole = lines(&client.published(&name, version));
        assert_eq!(whole, expected);
        client.close(&name);
        client.close(&copy);
    }
    client.shut_down();
}

/// Everything of TOSCA below a folder.
pub(crate) fn tosca_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
        if path.is_dir() {
            tosca_files(&path, found);
        } else if path.extension().is_some_and(|it| it == "yaml") {
            let text = std::fs::read_to_string(&path).unwrap();
            let is_other = path.components().any(|it| it.as_os_str() == "tests");
            if text.contains("tosca_definitions_version") && !is_other {
                found.push(path);
            }
        }
    }
}

/// A session in one file, in which each change is a version.
struct TypedFile<'c> {
    client: &'c mut Client,
    name: String,
    text: String,
    version: i32,
}

impl TypedFile<'_> {
    fn replace(&mut self, start: usize, end: usize, new: &str) {
        self.version += 1;
        let change = edit(&self.text, start, end, new);
        self.client.change(&self.name, self.version, change);
        self.text.replace_range(start..end, new);
    }

    /// Waits for what is published of this version.
    fn look(&mut self) -> Vec<String> {
        lines(&self.client.published(&self.name, self.version))
    }
}

/// Each character of each example is typed, and each example is cut and pasted into: whatever is
/// typed, the version that is waited for is answered, and the end is what validating says.
#[test]
fn examples_are_typed_and_edited() {
    let folder = tempdir().unwrap();
    let examples = folder.path().join("examples");
    folders::copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples"), &examples);
    let mut client = Client::new(&examples);
    let mut files = Vec::new();
    tosca_files(&client.folder.clone(), &mut files);
    files.sort();
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut versions = 0;
    let every = if option_env!("CUVEE_SIZE").is_some() { 1 } else { 2 };
    for path in files.iter().step_by(every as usize) {
        let name = path.strip_prefix(&client.folder).unwrap().display().to_string();
        let whole = std::fs::read_to_string(path).unwrap();
        let expected = validated(&client, &name);
        client.open(&name, "");
        let mut file = TypedFile { client: &mut client, name, text: String::new(), version: 1 };
        for (at, typed) in whole.char_indices() {
            let mut buffer = [0; 4];
            file.replace(at, at, typed.encode_utf8(&mut buffer));
            // Some lines are looked at, and some places within lines.
            let looks = if typed == '\n' { 0.2 } else { 0.004 };
            if prop::bool::weighted(looks).new_tree(&mut runner).unwrap().current() {
                file.look();
            }
        }
        assert_eq!(file.text, whole);
        let edits = prop::collection::vec((0..=whole.len(), 0..80_usize, 0..=whole.len()), 8);
        for (start, length, from) in edits.new_tree(&mut runner).unwrap().current() {
            let near = |mut at: usize| {
                while !whole.is_char_boundary(at) {
                    at -= 1;
                }
                at
            };
            let (start, end) = (near(start), near((start + length).min(whole.len())));
            let pasted = &whole[near(from)..near((from + length / 2).min(whole.len()))];
            let cut = whole[start..end].to_owned();
            file.replace(start, end, pasted);
            file.look();
            // Undo.
            file.replace(start, start + pasted.len(), &cut);
        }
        assert_eq!(file.text, whole);
        let (version, name) = (file.version, file.name);
        let is_it = |found: &[gen_lsp_types::Diagnostic]| lines(found) == expected;
        client.published_until(&name, version, is_it);
        client.close(&name);
        versions += version;
    }
    assert!(
        files.len() > 10 && versions > 30_000 / every,
        "{} files, {versions} versions",
        files.len()
    );
    client.shut_down();
}

/// A line that cannot be repaired may end with a character of several bytes.
#[test]
fn a_broken_line_ends_with_any_character() {
    let folder = tempdir().unwrap();
    let mut client = Client::new(folder.path());
    let head = "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n    a: {type: Nowhere}\n";
    for (number, end) in ["} ä", "} ä\n", "} \u{1F375}", "ä: - ä"].into_iter().enumerate() {
        let name = format!("t{number}.yaml");
        client.open(&name, &format!("{head}    {end}"));
        let found = lines(&client.published(&name, 1));
        assert!(found.iter().any(|line| line.contains("Nowhere")), "{end}: {found:?}");
        assert!(found.iter().any(|line| line.contains("syntax")), "{end}: {found:?}");
    }
    client.shut_down();
}
