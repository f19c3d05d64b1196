//! Writes diagnostics as a document of SARIF 2.1.0, a format in which tools pass their findings to
//! code review.
//!
//! Only the objects that are used are defined here. Their fields have the names of the format.

use super::explain_code::parts;
use super::reporter::LocatedDiagnostic;
use cuvee::diagnostic::{Code, Diagnostic, Fix, Label, Severity};
use cuvee::parts::tosca::profile;
use cuvee::source::{FileId, SourceMap, Span};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Component, Path};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

#[derive(Serialize)]
struct Log<'d> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'d>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'d> {
    tool: Tool,
    column_kind: &'static str,
    results: Vec<SarifResult<'d>>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
struct Driver {
    name: &'static str,
    version: &'static str,
    rules: Vec<ReportingDescriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReportingDescriptor {
    id: &'static str,
    short_description: Message<&'static str>,
    full_description: Message<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<Message<&'static str>>,
}

/// The object `result` of SARIF.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult<'d> {
    rule_id: &'static str,
    level: Severity,
    message: Message<String>,
    locations: [SarifLocation<'d>; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<SarifLocation<'d>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<SarifFix>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Properties>,
}

/// The object `fix` of SARIF.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifFix {
    artifact_changes: [ArtifactChange; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactChange {
    artifact_location: ArtifactLocation,
    replacements: [SarifReplacement; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifReplacement {
    deleted_region: Region,
    inserted_content: Message<String>,
}

#[derive(Serialize)]
struct Properties {
    specification: &'static str,
    section: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifLocation<'d> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message<&'d str>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

/// A region of a text. Lines and columns count from 1, and the end is behind the last character.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
    start_column: usize,
    end_line: usize,
    end_column: usize,
}

#[derive(Serialize)]
struct Message<T> {
    text: T,
}

/// Writes all findings, each with its template. A finding without a place concerns the whole
/// template.
pub(super) fn document(found: &[(&Path, LocatedDiagnostic<'_>)]) -> String {
    let codes: BTreeSet<Code> =
        found.iter().filter_map(|(_, (diagnostic, _))| Code::named(diagnostic.code)).collect();
    let driver = Driver {
        name: env!("CARGO_PKG_NAME"),
        version: env!("CARGO_PKG_VERSION"),
        rules: codes.into_iter().map(rule).collect(),
    };
    let results = found
        .iter()
        .map(|&(template, (diagnostic, sources))| finding(diagnostic, sources, template))
        .collect();
    let run = Run { tool: Tool { driver }, column_kind: "utf16CodeUnits", results };
    // Texts and numbers always serialise.
    let mut text =
        serde_json::to_string_pretty(&Log { schema: SCHEMA, version: "2.1.0", runs: [run] })
            .unwrap_or_default();
    text.push('\n');
    text
}

fn rule(code: Code) -> ReportingDescriptor {
    let (meaning, advice) = parts(code);
    ReportingDescriptor {
        id: code.as_str(),
        short_description: Message { text: meaning },
        full_description: Message { text: code.description() },
        help: (!advice.is_empty()).then_some(Message { text: advice }),
    }
}

fn finding<'d>(
    diagnostic: &'d Diagnostic,
    sources: &SourceMap,
    template: &Path,
) -> SarifResult<'d> {
    let help = diagnostic.help.iter().map(|help| format!("\nhelp: {help}"));
    let whole = || PhysicalLocation {
        artifact_location: ArtifactLocation { uri: uri(template) },
        region: None,
    };
    let own = diagnostic.span.map_or_else(whole, |span| place(span, sources));
    let related = |(id, label): (usize, &'d Label)| SarifLocation {
        id: Some(id),
        physical_location: place(label.span, sources),
        message: Some(Message { text: &label.message }),
    };
    SarifResult {
        rule_id: diagnostic.code.as_str(),
        level: diagnostic.severity,
        message: Message {
            text: std::iter::once(diagnostic.message.clone()).chain(help).collect(),
        },
        locations: [SarifLocation { id: None, physical_location: own, message: None }],
        related_locations: diagnostic.labels.iter().enumerate().map(related).collect(),
        fixes: diagnostic.fix(sources).map(|fix| change(fix, sources)).into_iter().collect(),
        properties: diagnostic.rule.as_ref().map(|rule| Properties {
            specification: rule.specification.title,
            section: rule.section,
        }),
    }
}

fn change(Fix { span, replacement, .. }: Fix, sources: &SourceMap) -> SarifFix {
    let PhysicalLocation { artifact_location, .. } = place(span, sources);
    let inserted_content = Message { text: replacement };
    let replacements =
        [SarifReplacement { deleted_region: region(span, sources), inserted_content }];
    SarifFix { artifact_changes: [ArtifactChange { artifact_location, replacements }] }
}

fn place(span: Span, sources: &SourceMap) -> PhysicalLocation {
    let path = uri(sources.file(span.file).path());
    // A built-in file is not in the user's repository.
    let uri = if profile::is_built_in(span.file) { format!("cuvee:profiles/{path}") } else { path };
    PhysicalLocation {
        artifact_location: ArtifactLocation { uri },
        region: Some(region(span, sources)),
    }
}

fn region(span: Span, sources: &SourceMap) -> Region {
    let (start_line, start_column) = point(span.file, span.start, sources);
    let (end_line, end_column) = point(span.file, span.end.max(span.start), sources);
    Region { start_line, start_column, end_line, end_column }
}

/// The line and the column of an offset. The column counts code units of UTF-16.
fn point(file: FileId, at: u32, sources: &SourceMap) -> (usize, usize) {
    let span = Span { file, start: at, end: at };
    (sources.location(span).line, sources.utf16_column(span))
}

/// Writes a path as a URI. A relative path stays relative, and characters with a meaning in URIs
/// are escaped.
fn uri(path: &Path) -> String {
    let mut segments = Vec::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::RootDir => segments.insert(0, "file://".to_owned()),
            Component::Prefix(prefix) => {
                segments.push(prefix.as_os_str().to_string_lossy().into_owned())
            }
            Component::ParentDir | Component::Normal(_) => {
                segments.push(escaped(component.as_os_str().as_encoded_bytes()))
            }
        }
    }
    segments.join("/")
}

fn escaped(segment: &[u8]) -> String {
    let mut text = String::new();
    for &byte in segment {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                text.push(byte.into())
            }
            // Writing into a string does not fail.
            _ => drop(write!(text, "%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_and_escaped() {
        for (path, expected) in [
            ("shop.yaml", "shop.yaml"),
            ("./a b/ü#?.yaml", "a%20b/%C3%BC%23%3F.yaml"),
            ("../shop.csar:/lib/types.yaml", "../shop.csar%3A/lib/types.yaml"),
            ("<stdin>", "%3Cstdin%3E"),
            ("50%", "50%25"),
        ] {
            assert_eq!(uri(path.as_ref()), expected);
        }
        if cfg!(unix) {
            assert_eq!(uri("/etc/shop.yaml".as_ref()), "file:///etc/shop.yaml");
        }
    }

    #[test]
    fn regions_count_code_units_and_end_behind_the_last() {
        let sources = SourceMap::default();
        let file = sources.add("shop.yaml", "é: 1\n𝄞: abc\nd: e\n");
        let region = |start, end| super::region(Span { file, start, end }, &sources);
        let expect = |start_line, start_column, end_line, end_column| Region {
            start_line,
            start_column,
            end_line,
            end_column,
        };
        assert_eq!(region(0, 2), expect(1, 1, 1, 2));
        assert_eq!(region(4, 5), expect(1, 4, 1, 5));
        // The clef is one character, four bytes and two code units.
        assert_eq!(region(6, 15), expect(2, 1, 2, 8));
        assert_eq!(region(12, 17), expect(2, 5, 3, 2));
        // Offsets behind the end of the text, or in the wrong order, still give a region.
        assert_eq!(region(21, 99), expect(4, 1, 4, 1));
        assert_eq!(region(4, 0), expect(1, 4, 1, 4));
    }
}
