//! Runs `cuvee types`.

use super::args::TypesArgs;
use super::reporter::Reporter;
use super::{Outcome, answered, select};
use cuvee::diagnostic::{Diagnostic, Severity};
use cuvee::output::json::TypesOfName;
use cuvee::parts::tosca::{
    DefinedTypes, Family, PartOrigin, PropertyReport, TypeReport, TypesReport,
};
use std::fmt::Write;
use std::process::ExitCode;

/// Lists types, or shows an effective type. Invalid definitions are reported, and valid ones are
/// still shown.
pub(crate) fn run(args: &TypesArgs, reporter: &Reporter) -> Outcome {
    let resolver = select::resolver(&args.select)?;
    let resolver = if args.non_normative { resolver.non_normative_types() } else { resolver };
    if let Some(answer) = resolver.defined_types(args.name.as_deref()) {
        let answer = answer?;
        let human = if args.name.is_some() { defined } else { list_defined };
        answered(&answer, args.format, reporter, human)?;
        return Ok(exit(&answer.warnings));
    }
    let diagnostics = match &args.name {
        None => {
            let answer = resolver.types()?;
            answered(&answer, args.format, reporter, list)?;
            answer.warnings
        }
        Some(name) => {
            let answer = resolver.effective_types(name)?;
            let (answer, found) = (answer.result, (answer.warnings, answer.sources));
            let answer = cuvee::explore::Answer {
                result: TypesOfName { definitions: answer },
                warnings: found.0,
                sources: found.1,
            };
            answered(&answer, args.format, reporter, |found| {
                found.definitions.iter().map(effective).collect()
            })?;
            answer.warnings
        }
    };
    Ok(exit(&diagnostics))
}

/// The exit code, which is a failure if any definition is invalid.
fn exit(diagnostics: &[Diagnostic]) -> ExitCode {
    let wrong = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn list(report: &TypesReport) -> String {
    let mut text = String::new();
    for family in Family::ALL {
        let types = report.types.iter().filter(|entry| entry.family == family);
        let rows: Vec<_> = types
            .map(|entry| {
                [
                    entry.name.clone(),
                    entry.derived_from.clone().unwrap_or_default(),
                    entry.place.clone(),
                ]
            })
            .collect();
        section(&mut text, "", family.keyword(), &rows);
    }
    text
}

/// Writes a title and a table below it. Without rows, nothing is written.
fn section<const N: usize>(text: &mut String, indent: &str, title: &str, rows: &[[String; N]]) {
    if rows.is_empty() {
        return;
    }
    let widths: Vec<_> = (0..N)
        .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default())
        .collect();
    // Writing into a string does not fail.
    let _ = writeln!(text, "{indent}{title}");
    for row in rows {
        let cells = row.iter().zip(&widths).filter(|(_, width)| **width > 0);
        let cells: Vec<_> = cells.map(|(cell, width)| format!("{cell:width$}")).collect();
        let _ = writeln!(text, "{indent}  {}", cells.join("  ").trim_end());
    }
}

fn effective(report: &TypeReport) -> String {
    let entry = &report.entry;
    let mut text = format!("{} {}  {}\n", entry.family.noun(), entry.name, entry.place);
    let mut line = |title: &str, values: &[String]| {
        if !values.is_empty() {
            let _ = writeln!(text, "  {title} {}", values.join(", "));
        }
    };
    line("derives from", &report.ancestors);
    line("constraints", &report.constraints);
    line("media type", report.mime_type.as_slice());
    line("files end in", &report.file_ext);
    line("goes with", &report.valid_types);
    line("through relationships", &report.valid_relationship_types);
    line("from nodes", &report.valid_source_node_types);
    line("to nodes", &report.valid_target_node_types);
    for (title, schema) in [("keys", &report.key_schema), ("entries", &report.entry_schema)] {
        let said = schema.iter().flat_map(|it| it.kind.iter().chain(&it.constraints));
        line(title, &said.cloned().collect::<Vec<_>>());
    }
    for (keyname, value) in &report.scalar {
        line(keyname, &[value.to_string()]);
    }
    properties(&mut text, "  ", "properties", &report.properties);
    properties(&mut text, "  ", "attributes", &report.attributes);
    let requirements = report.requirements.iter().map(|requirement| {
        let asked = [&requirement.capability, &requirement.node, &requirement.relationship];
        let asked: Vec<_> = asked.into_iter().flatten().cloned().collect();
        [
            requirement.name.clone(),
            asked.join(", "),
            requirement.occurrences.clone(),
            requirement.node_filters.join(", "),
            origin(&requirement.from),
        ]
    });
    section(&mut text, "  ", "requirements", &requirements.collect::<Vec<_>>());
    parts(&mut text, report);
    operations(&mut text, "  ", "operations", &report.operations);
    operations(&mut text, "  ", "notifications", &report.notifications);
    properties(&mut text, "  ", "inputs", &report.inputs);
    let triggers = report.triggers.iter().map(|trigger| {
        let from = format!("{} {}", trigger.from.kind, trigger.from.place);
        [trigger.name.clone(), trigger.definition.to_string(), from]
    });
    section(&mut text, "  ", "triggers", &triggers.collect::<Vec<_>>());
    let artifacts = report.artifacts.iter().map(|artifact| {
        let [kind, file] =
            [&artifact.kind, &artifact.file].map(|text| text.clone().unwrap_or_default());
        [artifact.name.clone(), kind, file, origin(&artifact.from)]
    });
    section(&mut text, "  ", "artifacts", &artifacts.collect::<Vec<_>>());
    text
}

/// Writes the capabilities and the interfaces, which have parts of their own.
fn parts(text: &mut String, report: &TypeReport) {
    for capability in &report.capabilities {
        let sources = match capability.valid_source_types.join(", ") {
            sources if sources.is_empty() => sources,
            sources => format!("for {sources}"),
        };
        let relationships = match capability.valid_relationship_types.join(", ") {
            relationships if relationships.is_empty() => relationships,
            relationships => format!("through {relationships}"),
        };
        let kind = capability.kind.clone().unwrap_or_default();
        let origin = origin(&capability.from);
        let said = [&*kind, &capability.occurrences, &sources, &relationships, &origin];
        heading(text, &format!("capability {}", capability.name), &said);
        properties(text, "    ", "properties", &capability.properties);
        properties(text, "    ", "attributes", &capability.attributes);
    }
    for interface in &report.interfaces {
        let kind = interface.kind.clone().unwrap_or_default();
        heading(text, &format!("interface {}", interface.name), &[&kind, &origin(&interface.from)]);
        properties(text, "    ", "inputs", &interface.inputs);
        operations(text, "    ", "operations", &interface.operations);
        operations(text, "    ", "notifications", &interface.notifications);
    }
}

/// Writes the heading of a part that has parts itself.
fn heading(text: &mut String, title: &str, said: &[&str]) {
    let said: Vec<_> = said.iter().filter(|said| !said.is_empty()).copied().collect();
    let _ = writeln!(text, "  {title}  {}", said.join("  "));
}

fn properties(text: &mut String, indent: &str, title: &str, properties: &[PropertyReport]) {
    let row = |property: &PropertyReport| {
        let value = match (&property.value, &property.default) {
            (Some(value), _) => format!("= {value}"),
            (None, Some(default)) => format!("default {default}"),
            (None, None) if property.required && title != "attributes" => "required".into(),
            (None, None) => String::new(),
        };
        let kind = property.kind.clone().unwrap_or_default();
        [
            property.name.clone(),
            kind,
            value,
            [property.constraints.clone(), parts_of(property)].concat().join(", "),
            origin(&property.from),
        ]
    };
    section(text, indent, title, &properties.iter().map(row).collect::<Vec<_>>());
}

/// What a property says of keys, and of entries beside their type, which stands in its own.
fn parts_of(property: &PropertyReport) -> Vec<String> {
    let said = |title: &str, said: Vec<String>| {
        (!said.is_empty()).then(|| format!("{title} {}", said.join(" and ")))
    };
    let keys = property.key_schema.iter();
    let keys = keys.flat_map(|it| it.kind.iter().chain(&it.constraints)).cloned().collect();
    let entries = property.entry_schema.iter().flat_map(|it| it.constraints.clone()).collect();
    said("keys", keys).into_iter().chain(said("entries", entries)).collect()
}

fn operations(
    text: &mut String,
    indent: &str,
    title: &str,
    operations: &[cuvee::parts::tosca::OperationReport],
) {
    let row = |operation: &cuvee::parts::tosca::OperationReport| {
        let implementation =
            operation.implementation.as_ref().map(ToString::to_string).unwrap_or_default();
        [
            operation.name.clone(),
            implementation,
            operation.inputs.join(", "),
            match operation.outputs.join(", ") {
                outputs if outputs.is_empty() => outputs,
                outputs => format!("-> {outputs}"),
            },
            origin(&operation.from),
        ]
    };
    section(text, indent, title, &operations.iter().map(row).collect::<Vec<_>>());
}

/// The definition of a part, with the definitions that it refines.
fn origin(origin: &PartOrigin) -> String {
    let refined: Vec<_> =
        origin.refines.iter().map(|said| format!("{} {}", said.kind, said.place)).collect();
    let refines = if refined.is_empty() {
        String::new()
    } else {
        format!(", refines {}", refined.join(", "))
    };
    format!("{} {}{refines}", origin.said.kind, origin.said.place)
}

/// Lists types of TOSCA 1.0 by their kinds.
fn list_defined(report: &DefinedTypes) -> String {
    let mut text = String::new();
    for kind in DefinedTypes::kinds() {
        let types = report.types.iter().filter(|it| it.kind == kind);
        let rows: Vec<_> = types
            .map(|it| {
                let parent = it.ancestors.first().cloned().unwrap_or_default();
                [it.name.clone(), parent, it.place.clone()]
            })
            .collect();
        section(&mut text, "", &format!("{kind}s"), &rows);
    }
    text
}

/// Writes types of TOSCA 1.0 with all of their parts.
fn defined(report: &DefinedTypes) -> String {
    let mut text = String::new();
    for it in &report.types {
        let _ = writeln!(text, "{} {}  {}", it.kind, it.name, it.place);
        if !it.ancestors.is_empty() {
            let _ = writeln!(text, "  derives from {}", it.ancestors.join(", "));
        }
        for (word, is_said) in [("abstract", it.is_abstract), ("final", it.is_final)] {
            if is_said {
                let _ = writeln!(text, "  {word}");
            }
        }
        if !it.goes_with.is_empty() {
            let _ = writeln!(text, "  goes with {}", it.goes_with.join(", "));
        }
        let properties = it.properties.iter().map(|property| {
            let required = if property.required { "required" } else { "" };
            let repeats = if property.repeats { "repeats" } else { "" };
            let kind = property.kind.clone().unwrap_or_default();
            [property.name.clone(), kind, required.to_owned(), repeats.to_owned()]
        });
        section(&mut text, "  ", "properties", &properties.collect::<Vec<_>>());
        let parts = [
            ("requirements", &it.requirements),
            ("capabilities", &it.capabilities),
            ("operations", &it.operations),
        ];
        for (title, parts) in parts {
            let rows = parts.iter().map(|part| {
                let kind = part.kind.clone().unwrap_or_default();
                let occurrences = part.occurrences.clone().unwrap_or_default();
                [part.name.clone(), kind, occurrences, part.from.clone()]
            });
            section(&mut text, "  ", title, &rows.collect::<Vec<_>>());
        }
    }
    text
}
