//! Makes a variable template out of a plain one: changes its version, unless that is TOSCA 2.0, and
//! adds a variability definition to begin with. Everything else keeps its text and its meaning.

use super::choice::Choice;
use super::options::{self, Check};
use super::prepared::Interpreted;
use super::resolution::Resolution;
use super::resolve::{self, How};
use super::template::{Property, ServiceTemplate, is_read_as_wrapped};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::topology::diff::diff;
use crate::tosca::load::Loaded;
use crate::tosca::v2_0;
use cuvee_text::answer::{Answer, Failure};
use cuvee_text::source::Span;
use cuvee_text::yaml::{Node, NodeKind};
use std::ops::Range;

const VERSION_KEY: &str = "tosca_definitions_version";
const VERSION: &str = "tosca_variability_1_0";
/// The preset of [`definition`].
const PRESET: &str = "prod";

/// Checks that plain templates may violate: they apply to alternatives, and a plain template has
/// none.
const OF_ALTERNATIVES: [(Code, Check); 2] = [
    (Code::AmbiguousRelation, Check::AmbiguousRelation),
    (Code::AmbiguousHosting, Check::AmbiguousHosting),
];

/// Turns a plain template into a variable one that resolves to the plain one again.
///
/// # Errors
/// Errors of the template, and `invalid-template` if it is not plain.
pub(crate) fn variable(loaded: &Loaded) -> Result<Answer<String>, Failure> {
    let failure =
        |Diagnostics(diagnostics)| Failure { diagnostics, sources: loaded.sources().clone() };
    let choice = Choice::default();
    let interpreted = Interpreted::of(loaded, &choice).map_err(failure)?;
    check(loaded, &interpreted.template).map_err(failure)?;
    let plain = resolved(loaded, &choice)?;
    let mut unchecked = Vec::new();
    let mut last = None;
    // The mode that prunes most serves most authors, unless it prunes parts that nothing varies
    // yet.
    for mode in options::modes(VERSION).into_iter().rev() {
        match kept(loaded, &interpreted.template, mode, &mut unchecked, &plain) {
            Ok(Some(result)) => {
                let (warnings, sources) = (plain.warnings().to_vec(), loaded.sources().clone());
                return Ok(Answer { result, warnings, sources });
            }
            Ok(None) => {}
            Err(failed) => last = Some(failed),
        }
    }
    Err(last.unwrap_or_else(|| failure(unkept(&interpreted.template).into())))
}

/// The variable template with this mode, if it resolves to the same as the plain template.
fn kept(
    loaded: &Loaded,
    template: &ServiceTemplate<'_>,
    mode: &str,
    unchecked: &mut Vec<Check>,
    plain: &Resolution,
) -> Result<Option<String>, Failure> {
    let choice = Choice { presets: vec![PRESET.to_owned()], ..Choice::default() };
    loop {
        let text = written(template, mode, unchecked);
        match resolved(&loaded.with_template(text.clone()), &choice) {
            Ok(variant) => return Ok(is_same(plain, &variant).then_some(text)),
            Err(failed) => {
                let fails = |code| failed.diagnostics.iter().any(|error| error.code == code);
                let is_new =
                    |&&(code, check): &&(Code, Check)| fails(code) && !unchecked.contains(&check);
                let new: Vec<_> = OF_ALTERNATIVES.iter().filter(is_new).collect();
                if new.is_empty() {
                    return Err(failed);
                }
                unchecked.extend(new.into_iter().map(|&(_, check)| check));
            }
        }
    }
}

fn resolved(loaded: &Loaded, choice: &Choice) -> Result<Resolution, Failure> {
    resolve::resolve(loaded, choice, &How::default(), &mut ())
}

/// Whether both results are the same except for their version.
fn is_same(plain: &Resolution, variant: &Resolution) -> bool {
    let differences = diff(&plain.to_value(), &variant.to_value());
    differences.changes.iter().all(|change| change.path == VERSION_KEY)
}

fn unkept(template: &ServiceTemplate<'_>) -> Diagnostic {
    let message = "the template would change its meaning as a variable template";
    Diagnostic::error(Code::InvalidTemplate, message)
        .at(template.root.get(VERSION_KEY).map(Node::span))
        .help("replace aliases and merge keys by the values that they stand for")
}

/// Checks that the template is plain and has something that may vary.
fn check(loaded: &Loaded, template: &ServiceTemplate<'_>) -> Result<(), Diagnostics> {
    let error = |message: &str, at: Node<'_>, help: &str| {
        let error = Diagnostic::error(Code::InvalidTemplate, message).at(at.span());
        Err(error.help(help).into())
    };
    let root = template.root;
    let version = root.get(VERSION_KEY).unwrap_or(root);
    let topology = root.get("topology_template");
    if !template.is_plain() {
        let variability = topology.and_then(|topology| topology.get("variability"));
        let help =
            "`cuvee resolve` makes plain templates of it, `cuvee inputs` lists what can be chosen";
        return error("this template is variable already", variability.unwrap_or(version), help);
    }
    if !template.foreign.is_empty() {
        return Err(Diagnostics(template.foreign.clone()));
    }
    let package = loaded.package();
    if package.on_disk(&package.template) != package.template {
        return error(
            "this template is in an archive",
            version,
            "unpack it, and name the directory",
        );
    }
    match topology {
        Some(topology) if topology.kind() == NodeKind::Mapping && topology.entries().len() > 0 => {
            if topology.is_alias() {
                return error(
                    "the topology is only an alias",
                    topology,
                    "write the topology in the place of its alias",
                );
            }
            Ok(())
        }
        _ => {
            let help = "name the template that uses these types";
            let is_2_0 = v2_0::is_of(root.document());
            let keyname = if is_2_0 { "service_template" } else { "topology_template" };
            error(&format!("there is no `{keyname}`, and so nothing that varies"), root, help)
        }
    }
}

/// The text of the variable template.
fn written(template: &ServiceTemplate<'_>, mode: &str, unchecked: &[Check]) -> String {
    let text = template.root.document().text();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    // Of TOSCA 2.0 there is one version for both.
    let version = template.root.get(VERSION_KEY);
    if let Some(version) = version.filter(|_| !v2_0::is_of(template.root.document())) {
        edits.push((range(version.span()), VERSION.to_owned()));
    }
    let entry = template.root.entries().find(|(key, _)| key.text() == Some("topology_template"));
    if let Some((key, topology)) = entry {
        edits.push(beginning(text, key, topology, mode, unchecked));
    }
    for property in properties(template) {
        edits.extend(wrapped(text, property.declared.key(), property.declared.value()));
    }
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    edits.dedup();
    let mut made = String::with_capacity(text.len() + 1024);
    let mut done = 0;
    for (range, new) in edits {
        made.push_str(text.get(done..range.start).unwrap_or_default());
        made.push_str(&new);
        done = range.end;
    }
    made.push_str(text.get(done..).unwrap_or_default());
    made
}

fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

/// The edit that inserts the variability definition at the start of the topology.
fn beginning(
    text: &str,
    key: Node<'_>,
    topology: Node<'_>,
    mode: &str,
    unchecked: &[Check],
) -> (Range<usize>, String) {
    let start = range(topology.span()).start;
    if is_flow(text, topology) {
        let off: String =
            unchecked.iter().map(|check| format!(", {}: false", check.as_str())).collect();
        let definition = format!(
            " variability: {{ options: {{ mode: {mode}{off} }}, inputs: {{ production: {{ type: boolean, default: false }} }}, \
             presets: {{ {PRESET}: {{ inputs: {{ production: true }} }} }} }},"
        );
        return (start + 1..start + 1, definition);
    }
    let indent = " ".repeat(column(text, start));
    let newline = newline(text);
    let lines = definition(mode, unchecked);
    let lines: String = lines.lines().map(|line| format!("{indent}{line}{newline}")).collect();
    let at = next_line(text, range(key.span()).end);
    (at..at, lines)
}

/// The variability definition that a new variable template gets, with comments that explain it.
fn definition(mode: &str, unchecked: &[Check]) -> String {
    let meaning = match mode {
        "semantic-loose" => "what belongs to something absent, or serves it alone, is absent, too",
        "manual" => "only what has conditions is ever absent",
        _ => "what belongs to something absent is absent, too",
    };
    let off: String = unchecked
        .iter()
        .map(|check| format!("    {}: false # these are no alternatives here\n", check.as_str()))
        .collect();
    format!(
        "\
# What differs between variants: `cuvee resolve` takes it away.
variability:
  options:
    mode: {mode} # {meaning}
{off}  inputs:
    # What can be chosen. A node, a requirement, an artifact and so on is there if its conditions hold:
    #   conditions: {{ variability_input: production }}
    # Properties that have alternatives are a list:
    #   properties:
    #     - size: {{ value: large, conditions: {{ variability_input: production }} }}
    #     - size: {{ value: small, default_alternative: true }}
    production: # chosen by `--input production=true`
      type: boolean
      default: false
  presets:
    # What is chosen together.
    {PRESET}: # chosen by `--preset {PRESET}`
      inputs:
        production: true
"
    )
}

/// The properties whose values are maps that a variable template would read as a value with
/// conditions.
fn properties<'t, 'a>(template: &'t ServiceTemplate<'a>) -> impl Iterator<Item = &'t Property<'a>> {
    let nodes = template.nodes.iter().flat_map(|node| {
        let artifacts = node.artifacts.iter().flat_map(|artifact| &artifact.properties);
        let inline =
            node.requirements.iter().filter_map(|requirement| requirement.inline.as_deref());
        let inline = inline.flat_map(|relationship| &relationship.properties);
        node.properties.iter().chain(artifacts).chain(inline)
    });
    let relationships =
        template.relationships.iter().flat_map(|relationship| &relationship.properties);
    let groups = template.groups.iter().flat_map(|group| &group.properties);
    let policies = template.policies.iter().flat_map(|policy| &policy.properties);
    let all = nodes.chain(relationships).chain(groups).chain(policies);
    all.filter(|property| is_read_as_wrapped(property.declared.value()))
}

/// The edits that turn a map into the `value` of another map.
fn wrapped(text: &str, key: Node<'_>, value: Node<'_>) -> Vec<(Range<usize>, String)> {
    let Range { start, end } = range(value.span());
    let insert = |at: usize, new: String| (at..at, new);
    if value.is_alias() {
        return Vec::new();
    }
    if is_flow(text, value) {
        return vec![insert(start, "{ value: ".to_owned()), insert(end, " }".to_owned())];
    }
    let first = next_line(text, range(key.span()).end);
    let mut edits =
        vec![insert(first, format!("{}value:{}", " ".repeat(column(text, start)), newline(text)))];
    let mut line = first;
    while line < end {
        if !text[line..].starts_with(['\r', '\n']) {
            edits.push(insert(line, "  ".to_owned()));
        }
        line = next_line(text, line);
    }
    edits
}

/// Whether a map is written in braces.
fn is_flow(text: &str, map: Node<'_>) -> bool {
    text[range(map.span())].starts_with('{')
}

/// The line ending of a text.
fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// The number of bytes between the start of the line and a position in it.
fn column(text: &str, at: usize) -> usize {
    at - text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The start of the line after the one that contains this position.
fn next_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1)
}
