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
use rustc_hash::FxHashMap;
use serde::de::IgnoredAny;

/// A feature as it is configured.
struct ConfiguredFeature {
    name: String,
    selected: bool,
    attributes: Vec<FeatureAttribute>,
    span: Span,
}

/// An attribute of a feature, by the name in lower case, with underscores for spaces.
struct FeatureAttribute {
    name: String,
    value: String,
    span: Span,
}

/// Begins the name of an attribute that says what the feature is called as an input, or with the
/// name of another attribute behind it, what that one is called behind the feature's name.
const NAME: &str = "__name";
/// Begins the name of an attribute that says what another one is called as an input.
const FULL_NAME: &str = "__full_name";

/// Reads an extended configuration: each feature is a boolean input, true when it is selected
/// automatically or manually, and each of its attributes is the input `feature_attribute`.
///
/// The name of a feature or attribute in lower case, with underscores for spaces, is that of its
/// input. A selected alternative `name = value` assigns the value. Features that are no inputs,
/// such as those that only group others, are for [`assign`](super::assign) to leave out. A document
/// type is refused, so that no entity can be declared, let alone expanded.
///
/// # Errors
/// `syntax` where the XML is not well-formed or has a document type; `invalid-input` where it is no
/// feature configuration.
pub(crate) fn from_feature_ide(text: &str, file: FileId) -> Result<Vec<Assignment>, Diagnostic> {
    let mut reader = Reader::from_str(text);
    let mut configuration = ConfigurationReading::default();
    loop {
        let start = reader.buffer_position();
        let event = reader.read_event();
        let span = Span { file, start: offset(start), end: offset(reader.buffer_position()) };
        match event.map_err(|error| syntax(span, error))? {
            Event::Start(element) => configuration.start(&element, span)?,
            Event::Empty(element) => {
                configuration.start(&element, span)?;
                configuration.end();
            }
            Event::End(_) => configuration.end(),
            Event::DocType(_) => return Err(syntax(span, "a document type is not allowed")),
            Event::GeneralRef(_) => {
                return Err(syntax(span, "an entity outside of an attribute is not allowed"));
            }
            Event::Eof => {
                let features = configuration.finish(span)?;
                return Ok(features.iter().flat_map(ConfiguredFeature::assignments).collect());
            }
            Event::Text(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_) => {}
        }
    }
}

/// What was read of a configuration so far.
#[derive(Default)]
struct ConfigurationReading {
    features: Vec<ConfiguredFeature>,
    /// The elements around what is read next, with the feature that each is, or stands in.
    around: Vec<Option<usize>>,
    rooted: bool,
}

impl ConfigurationReading {
    fn start(&mut self, element: &BytesStart<'_>, span: Span) -> Result<(), Diagnostic> {
        let Some(&inside) = self.around.last() else {
            root(element, std::mem::replace(&mut self.rooted, true), span)?;
            self.around.push(None);
            return Ok(());
        };
        let is = match (element.name().as_ref(), inside) {
            ("feature", _) => {
                self.features.push(feature(element, span)?);
                Some(self.features.len() - 1)
            }
            ("attribute", Some(feature)) => {
                self.features[feature].attributes.push(attribute(element, span)?);
                inside
            }
            _ => inside,
        };
        self.around.push(is);
        Ok(())
    }

    fn end(&mut self) {
        self.around.pop();
    }

    fn finish(self, span: Span) -> Result<Vec<ConfiguredFeature>, Diagnostic> {
        match (self.around.is_empty(), self.rooted) {
            (false, _) => Err(syntax(span, "the file ends inside of an element")),
            (_, false) => Err(no_configuration(span, "there is no element")),
            _ => Ok(self.features),
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

/// The attributes of an element that are asked for, in that order.
fn values<const N: usize>(
    element: &BytesStart<'_>,
    keys: [&str; N],
    span: Span,
) -> Result<[Option<String>; N], Diagnostic> {
    let mut found = [const { None }; N];
    for attribute in element.attributes() {
        let attribute = attribute.map_err(|error| syntax(span, error))?;
        if let Some(index) = keys.iter().position(|&key| attribute.key.as_ref() == key) {
            let value = attribute
                .normalized_value_with(XmlVersion::Implicit1_0, 1, resolve_predefined_entity)
                .map_err(|error| syntax(span, error))?;
            found[index] = Some(value.into_owned());
        }
    }
    Ok(found)
}

fn feature(element: &BytesStart<'_>, span: Span) -> Result<ConfiguredFeature, Diagnostic> {
    let [name, automatic, manual] = values(element, ["name", "automatic", "manual"], span)?;
    let name = name.ok_or_else(|| no_configuration(span, "a feature has no name"))?;
    let selected = [automatic, manual].iter().flatten().any(|state| state == "selected");
    Ok(ConfiguredFeature { name, selected, attributes: Vec::new(), span })
}

fn attribute(element: &BytesStart<'_>, span: Span) -> Result<FeatureAttribute, Diagnostic> {
    let [name, value] = values(element, ["name", "value"], span)?;
    match (name, value) {
        (Some(name), Some(value)) => Ok(FeatureAttribute { name: input_name(&name), value, span }),
        (None, _) => Err(no_configuration(span, "an attribute has no name")),
        (_, None) => Err(no_configuration(span, "an attribute has no value")),
    }
}

impl ConfiguredFeature {
    /// What a feature and its attributes assign: an alternative `name = value`, as models of inputs
    /// with valid values have them, the value where it is selected.
    fn assignments(&self) -> Vec<Assignment> {
        let (naming, valued): (Vec<_>, Vec<_>) =
            self.attributes.iter().partition(|one| one.names_another());
        let names: FxHashMap<&str, &str> =
            naming.into_iter().map(|one| (&*one.name, &*one.value)).collect();
        let named = |key: &str| names.get(key).map(|&name| name.to_owned());
        let called = named(NAME).unwrap_or_else(|| input_name(&self.name));
        let alternative = self.name.split_once(" = ").and_then(|(input, text)| {
            let document = yaml::parse(self.span.file, text.into(), &Limits::default()).ok()?;
            Some((input_name(input), document.root().to_value()))
        });
        let own = match alternative {
            Some((input, value)) => self.selected.then(|| assignment(input, value, self.span)),
            None => Some(assignment(called.clone(), Value::Bool(self.selected), self.span)),
        };
        let of_attribute = |one: &FeatureAttribute| {
            let behind = named(&format!("{NAME}_{}", one.name));
            let name = named(&format!("{FULL_NAME}_{}", one.name))
                .unwrap_or_else(|| format!("{called}_{}", behind.as_deref().unwrap_or(&one.name)));
            assignment(name, value(&one.value, one.span.file), one.span)
        };
        own.into_iter().chain(valued.into_iter().map(of_attribute)).collect()
    }
}

impl FeatureAttribute {
    /// Whether it says what something is called, instead of being an input itself.
    fn names_another(&self) -> bool {
        [NAME, FULL_NAME].iter().any(|key| {
            let of = self.name.strip_prefix(key);
            of.is_some_and(|of| of.is_empty() || of.starts_with('_'))
        })
    }
}

fn assignment(name: String, value: Value, span: Span) -> Assignment {
    Assignment { name, value, span: Some(span), source: AssignmentSource::FeatureModel }
}

/// The value that is JSON, else the text itself.
fn value(text: &str, file: FileId) -> Value {
    let json = serde_json::from_str::<IgnoredAny>(text).ok();
    json.and_then(|_| yaml::parse(file, text.into(), &Limits::default()).ok())
        .map_or_else(|| Value::from(text), |document| document.root().to_value())
}
