//! Configurations of feature models, as FeatureIDE writes them in its extended XML.

use super::assignment::{Assignment, AssignmentSource};
use crate::text::diagnostic::{Code, Diagnostic};
use crate::text::source::{FileId, Span};
use crate::text::value::Value;
use crate::text::yaml::{self, Limits};
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

/// Reads an extended configuration: each feature is a boolean input, true when it is selected
/// automatically or manually.
///
/// The name of a feature in lower case, with underscores for spaces, is that of its input. A
/// selected alternative `name = value` assigns the value. Features that are no inputs, such as
/// those that only group others, are for [`assign`](super::assign) to leave out. A document type is
/// refused, so that no entity can be declared, let alone expanded.
///
/// # Errors
/// `syntax` where the XML is not well-formed or has a document type; `invalid-input` where it is no
/// feature configuration.
pub(crate) fn from_feature_ide(text: &str, file: FileId) -> Result<Vec<Assignment>, Diagnostic> {
    let mut reader = Reader::from_str(text);
    let mut found = Vec::new();
    let (mut depth, mut rooted) = (0_usize, false);
    loop {
        let start = reader.buffer_position();
        let event = reader.read_event();
        let span = Span { file, start: offset(start), end: offset(reader.buffer_position()) };
        let event = event.map_err(|error| syntax(span, error))?;
        if let Event::Start(element) | Event::Empty(element) = &event {
            if depth == 0 {
                root(element, std::mem::replace(&mut rooted, true), span)?;
            } else if element.name().as_ref() == "feature" {
                found.extend(feature(element, span)?);
            }
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            Event::DocType(_) => return Err(syntax(span, "a document type is not allowed")),
            Event::GeneralRef(_) => {
                return Err(syntax(span, "an entity outside of an attribute is not allowed"));
            }
            Event::Eof if depth > 0 => {
                return Err(syntax(span, "the file ends inside of an element"));
            }
            Event::Eof if !rooted => return Err(no_configuration(span, "there is no element")),
            Event::Eof => return Ok(found),
            Event::Empty(_)
            | Event::Text(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_) => {}
        }
    }
}

/// The name of the input that stands for a feature.
pub(crate) fn input_name(feature: &str) -> String {
    feature.to_lowercase().replace(' ', "_")
}

fn offset(position: u64) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

fn syntax(span: Span, problem: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::error(Code::Syntax, format!("the XML cannot be read: {problem}")).at(span)
}

fn no_configuration(span: Span, problem: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::error(Code::InvalidInput, format!("expected a feature configuration, but {problem}"))
        .at(span)
        .help("export the configuration as extended XML, `<extendedConfiguration>` with a `<feature>` for each feature")
}

fn root(element: &BytesStart<'_>, second: bool, span: Span) -> Result<(), Diagnostic> {
    match element.name().as_ref() {
        _ if second => Err(syntax(span, "there is a second root element")),
        "extendedConfiguration" | "configuration" => Ok(()),
        other => Err(no_configuration(span, format_args!("the root element is `{other}`"))),
    }
}

/// What a feature assigns: an alternative `name = value`, as models of inputs with valid values
/// have them, the value where it is selected.
fn feature(element: &BytesStart<'_>, span: Span) -> Result<Option<Assignment>, Diagnostic> {
    let (mut name, mut selected) = (None, false);
    for attribute in element.attributes() {
        let attribute = attribute.map_err(|error| syntax(span, error))?;
        let value = || {
            attribute
                .normalized_value_with(XmlVersion::Implicit1_0, 1, resolve_predefined_entity)
                .map_err(|error| syntax(span, error))
        };
        match attribute.key.as_ref() {
            "name" => name = Some(value()?.into_owned()),
            "automatic" | "manual" => selected |= value()? == "selected",
            _ => {}
        }
    }
    let name = name.ok_or_else(|| no_configuration(span, "a feature has no name"))?;
    let assign = |name: &str, value| Assignment {
        name: input_name(name),
        value,
        span: Some(span),
        source: AssignmentSource::FeatureModel,
    };
    let alternative = name.split_once(" = ").and_then(|(input, text)| {
        let document = yaml::parse(span.file, text.into(), &Limits::default()).ok()?;
        Some((input, document.root().to_value()))
    });
    Ok(match alternative {
        Some((input, value)) => selected.then(|| assign(input, value)),
        None => Some(assign(&name, Value::Bool(selected))),
    })
}
