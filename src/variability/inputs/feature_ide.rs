//! Configurations of feature models, as FeatureIDE writes them in its extended XML.

use super::assignment::{Assignment, AssignmentSource};
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::text::source::{FileId, Span};
use crate::text::value::Value;
use crate::text::xml::{self, XmlElement, XmlLimits, XmlStep};
use crate::text::yaml::{self, Limits};
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
/// input; where an input has just the name of a feature, that one is meant. A selected alternative `name = value` assigns the value. Features that are no inputs,
/// such as those that only group others, are for [`assign`](super::assign) to leave out. A document
/// type is refused, so that no entity can be declared, let alone expanded.
///
/// # Errors
/// `syntax` at each place where the XML is not well-formed or has a document type; `invalid-input` where it is no
/// feature configuration.
pub(crate) fn from_feature_ide(text: &str, file: FileId) -> Result<Vec<Assignment>, Diagnostics> {
    let document = xml::parse(file, text.into(), &XmlLimits::default())?;
    let root = document.root();
    if !matches!(root.name().local, "extendedConfiguration" | "configuration") {
        let problem = format_args!("the root element is `{}`", root.name().local);
        return Err(no_configuration(root.span(), problem).into());
    }
    let mut features: Vec<ConfiguredFeature> = Vec::new();
    // For the elements around what is read next, the feature that each is or stands in.
    let mut around: Vec<Option<usize>> = Vec::new();
    for step in document.walk() {
        let XmlStep::Start(element) = step else {
            around.pop();
            continue;
        };
        let inside = around.last().copied().flatten();
        around.push(match (element.name().local, inside) {
            ("feature", _) => {
                features.push(feature(element)?);
                Some(features.len() - 1)
            }
            ("attribute", Some(of)) => {
                features[of].attributes.push(attribute(element)?);
                inside
            }
            _ => inside,
        });
    }
    Ok(features.iter().flat_map(ConfiguredFeature::assignments).collect())
}

/// The name of the input that stands for a feature.
pub(crate) fn input_name(feature: &str) -> String {
    feature.to_lowercase().replace(' ', "_")
}

fn no_configuration(span: Span, problem: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::error(Code::InvalidInput, format!("expected a feature configuration, but {problem}"))
        .at(span)
        .help("export the configuration as extended XML, `<extendedConfiguration>` with a `<feature>` for each feature")
}

fn feature(element: XmlElement<'_>) -> Result<ConfiguredFeature, Diagnostic> {
    let name = element.attribute("name");
    let name = name.ok_or_else(|| no_configuration(element.span(), "a feature has no name"))?;
    let is_selected = |by: &str| element.attribute(by).is_some_and(|it| it.value() == "selected");
    Ok(ConfiguredFeature {
        name: name.value().into_owned(),
        selected: is_selected("automatic") || is_selected("manual"),
        attributes: Vec::new(),
        span: element.whole_span(),
    })
}

fn attribute(element: XmlElement<'_>) -> Result<FeatureAttribute, Diagnostic> {
    let span = element.whole_span();
    match (element.attribute("name"), element.attribute("value")) {
        (Some(name), Some(value)) => {
            let (name, value) = (input_name(&name.value()), value.value().into_owned());
            Ok(FeatureAttribute { name, value, span })
        }
        (None, _) => Err(no_configuration(element.span(), "an attribute has no name")),
        (_, None) => Err(no_configuration(element.span(), "an attribute has no value")),
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
            None => {
                let own = assignment(called.clone(), Value::Bool(self.selected), self.span);
                Some(Assignment { feature: Some(self.name.clone()), ..own })
            }
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
    let source = AssignmentSource::FeatureModel;
    Assignment { span: Some(span), source, ..Assignment::new(name, value) }
}

/// The value that is JSON, else the text itself.
fn value(text: &str, file: FileId) -> Value {
    let json = serde_json::from_str::<IgnoredAny>(text).ok();
    json.and_then(|_| yaml::parse(file, text.into(), &Limits::default()).ok())
        .map_or_else(|| Value::from(text), |document| document.root().to_value())
}
