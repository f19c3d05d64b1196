//! Judges every snippet of the text of TOSCA 2.0 that is a file or a part of one. The text is not
//! part of the project: where it is not at hand, nothing is judged.

use cuvee::Resolver;
use cuvee::diagnostic::Severity;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The keynames of a file, by which snippets of files are known.
const FILE: [&str; 17] = [
    "tosca_definitions_version",
    "description",
    "metadata",
    "dsl_definitions",
    "artifact_types",
    "data_types",
    "capability_types",
    "interface_types",
    "relationship_types",
    "node_types",
    "group_types",
    "policy_types",
    "repositories",
    "functions",
    "profile",
    "imports",
    "service_template",
];

/// The keynames of a service template.
const TEMPLATE: [&str; 10] = [
    "description",
    "metadata",
    "inputs",
    "node_templates",
    "relationship_templates",
    "groups",
    "workflows",
    "policies",
    "outputs",
    "substitution_mappings",
];

/// What a snippet is that names what it does not show: types, files, nodes, inputs.
const OF_FRAGMENTS: [&str; 4] = ["unknown-type", "file", "unknown-element", "missing-import"];

/// Snippets that are wrong by the rules of their own text, by the lines at which they begin.
const ERRATA: [(usize, &str, &str); 24] = [
    (1556, "invalid-definition", "`...` stands for what is left out"),
    (1610, "invalid-definition", "`...` stands for what is left out"),
    (1636, "invalid-definition", "`...` stands for what is left out"),
    (1657, "invalid-definition", "`...` stands for what is left out"),
    (1689, "invalid-definition", "`...` stands for what is left out"),
    (1710, "invalid-definition", "`...` stands for what is left out"),
    (1728, "invalid-definition", "`...` stands for what is left out"),
    (2628, "invalid-template", "`...` stands for what is left out"),
    (2698, "invalid-template", "requirements are a list, and `...` stands for what is left out"),
    (3483, "ambiguous-type", "it has no type"),
    (3964, "ambiguous-type", "it has no type"),
    (3964, "unknown-relationship-template", "what it names is not shown"),
    (4137, "ambiguous-type", "it has no type"),
    (4190, "ambiguous-type", "it has no type"),
    (4625, "invalid-function", "`$less_than` lacks `$value`"),
    (6052, "invalid-template", "`substitutable` is no directive"),
    (6116, "syntax", "a brace is not closed"),
    (6147, "syntax", "a brace is not closed"),
    (6181, "syntax", "a brace is not closed"),
    (6262, "syntax", "a brace is not closed"),
    (6349, "ambiguous-type", "it has no type"),
    (6349, "unknown-keyword", "`directive` is no keyname"),
    (6644, "invalid-template", "the value stands beside its output"),
    (7169, "syntax", "an item is indented less than the others"),
];

/// Those whose keyname `allocations` the tables do not have.
const ALLOCATIONS: [usize; 3] = [8879, 8948, 8999];

/// The snippets that can be read as files, each with the line at which it begins.
fn snippets(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((start, line)) = lines.next() {
        if line.trim_start().starts_with("```") {
            let body = lines.by_ref().map(|(_, line)| line);
            let body: Vec<_> =
                body.take_while(|line| !line.trim_start().starts_with("```")).collect();
            found.extend(file(&body).map(|file| (start + 1, file)));
        }
    }
    found
}

/// The file that a snippet is, or is a part of. Places for names, in angle brackets, make it a
/// grammar.
fn file(lines: &[&str]) -> Option<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let shown = |line: &&&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let outer = lines.iter().filter(shown).map(|line| indent(line)).min()?;
    let is_grammar = |line: &&str| {
        line.split('<').skip(1).any(|part| {
            let name = part.split('>').next().filter(|name| part.len() > name.len());
            name.is_some_and(|it| it.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        })
    };
    let keys: Vec<_> = lines
        .iter()
        .filter(shown)
        .filter(|line| indent(line) == outer && !line.trim_start().starts_with(['-', '}']))
        .map(|line| line.trim_start().split(':').next().unwrap_or_default().trim())
        .collect();
    if keys.is_empty() || lines.iter().any(is_grammar) {
        return None;
    }
    let body = |indent: &str| {
        let lines =
            lines.iter().map(|line| format!("{indent}{}\n", line.get(outer..).unwrap_or_default()));
        lines.collect::<String>().replace(['‘', '’'], "'").replace(['“', '”'], "\"")
    };
    let version = "tosca_definitions_version: tosca_2_0\n";
    let is_in = |names: &[&str]| keys.iter().all(|key| names.contains(key));
    if is_in(&FILE) {
        let has_version = keys.contains(&"tosca_definitions_version");
        return Some(if has_version { body("") } else { format!("{version}{}", body("")) });
    }
    let nodes = if keys.contains(&"node_templates") { "" } else { "  node_templates: {}\n" };
    is_in(&TEMPLATE).then(|| format!("{version}service_template:\n{nodes}{}", body("  ")))
}

#[test]
fn snippets_of_the_standard_are_valid_but_for_errata() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Ok(text) = fs::read_to_string(path.join("../shared/standards/TOSCA-v2.0-csd06.md")) else {
        return;
    };
    let snippets = snippets(&text);
    assert!(snippets.len() > 100, "{}", snippets.len());
    let mut wrong = BTreeSet::new();
    for (line, snippet) in snippets {
        let found = Resolver::from_text("snippet.yaml", snippet).validate().diagnostics;
        let errors = found.iter().filter(|found| found.severity == Severity::Error);
        let codes = errors.map(|found| found.code.as_str().to_owned());
        wrong
            .extend(codes.filter(|code| !OF_FRAGMENTS.contains(&&**code)).map(|code| (line, code)));
    }
    let errata = ERRATA.iter().map(|&(line, code, _)| (line, code.to_owned()));
    let allocations = ALLOCATIONS.iter().map(|&line| (line, "unknown-keyword".to_owned()));
    assert_eq!(wrong, errata.chain(allocations).collect());
}

/// Keynames of TOSCA 2.0 that the valid fixture uses, where a misspelled one is always wrong.
const MISSPELT: [&str; 34] = [
    "tosca_definitions_version",
    "derived_from",
    "properties",
    "capabilities",
    "requirements",
    "interfaces",
    "capability",
    "relationship",
    "count_range",
    "valid_capability_types",
    "entry_schema",
    "validation",
    "signatures",
    "arguments",
    "operations",
    "notifications",
    "implementation",
    "primary",
    "node_templates",
    "directives",
    "allocation",
    "optional",
    "node",
    "members",
    "targets",
    "triggers",
    "event",
    "condition",
    "action",
    "workflows",
    "steps",
    "activities",
    "policies",
    "outputs",
];

/// The offsets at which a key stands in a text.
fn keys<'t>(text: &'t str, key: &'t str) -> impl Iterator<Item = usize> + 't {
    text.match_indices(&format!("{key}:")).map(|(at, _)| at).collect::<Vec<_>>().into_iter().filter(
        move |&at| {
            let before = text[..at].chars().next_back();
            before.is_none_or(|c| matches!(c, ' ' | '{' | '\n' | '['))
        },
    )
}

#[test]
fn hundreds_of_changed_files_are_wrong_and_no_panic() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics/version-2");
    let path = directory.join("valid.yaml");
    let text = fs::read_to_string(&path).unwrap();
    let (mut accepted, mut count) = (BTreeSet::new(), 0);
    let mut judge = |changed: String, what: String, has_to_be_wrong: bool| {
        let resolver = Resolver::from_text(&path, changed);
        let found = resolver.validate().diagnostics;
        let is_wrong = found.iter().any(|found| found.severity == Severity::Error);
        if has_to_be_wrong && !is_wrong {
            accepted.insert(what);
        }
        // What comes of these is not judged, but that something comes.
        drop((resolver.resolve(), resolver.topology(), resolver.outline()));
        count += 1;
    };
    for key in MISSPELT {
        for at in keys(&text, key) {
            let (before, behind) = (&text[..at], &text[at + key.len()..]);
            let line = before.matches('\n').count() + 1;
            judge(format!("{before}{key}x{behind}"), format!("{line}: {key}x"), true);
            judge(format!("{before}{key}: 3 # {behind}"), format!("{line}: {key}: 3"), false);
        }
    }
    let lines: Vec<_> = text.lines().collect();
    for left_out in 1..lines.len() {
        let kept =
            lines.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, line)| *line);
        judge(kept.collect::<Vec<_>>().join("\n"), String::new(), false);
    }
    assert!(count > 200, "{count}");
    assert_eq!(accepted, BTreeSet::new());
}
