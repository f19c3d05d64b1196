//! Reads configurations of feature models in the extended XML of FeatureIDE.

use super::assignment::{Assignment, AssignmentSource};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use cuvee_text::case::lower_case;
use cuvee_text::source::{FileId, Span};
use cuvee_text::value::Value;
use cuvee_text::xml::{self, XmlElement, XmlLimits, XmlStep};
use cuvee_text::yaml::{self, Limits};
use rustc_hash::FxHashMap;
use serde::de::IgnoredAny;

/// A feature with its configuration.
struct ConfiguredFeature {
    name: String,
    selected: bool,
    attributes: Vec<FeatureAttribute>,
    span: Span,
}

/// An attribute of a feature. Its name is in lower case, with underscores for spaces.
struct FeatureAttribute {
    name: String,
    value: String,
    span: Span,
}

/// The prefix of names of attributes that rename. Alone, it gives the feature its name as an input.
/// Followed by the name of another attribute, it gives that attribute its name after the feature's
/// name.
const NAME: &str = "__name";
/// The prefix of names of attributes that give another attribute its whole name as an input.
const FULL_NAME: &str = "__full_name";

/// Reads an extended configuration: each feature is a boolean input, which is true if the feature
/// is selected automatically or manually, and each of its attributes is the input
/// `feature_attribute`.
///
/// The name of the input is that of the feature or attribute in lower case, with underscores for
/// spaces. If an input has exactly the name of a feature, that input is meant. A selected
/// alternative `name = value` assigns the value. Features that are no inputs, such as those that
/// only group others, are left out later by [`assign`](super::assign). A document type is rejected,
/// so that no entity can be declared or expanded.
///
/// # Errors
/// `syntax` at each place where the XML is not well-formed or has a document type; `invalid-input`
/// if it is not a feature configuration.
pub(crate) fn from_feature_ide(text: &str, file: FileId) -> Result<Vec<Assignment>, Diagnostics> {
    let document = xml::parse(file, text.into(), &XmlLimits::default())?;
    let root = document.root();
    if !matches!(root.name().local, "extendedConfiguration" | "configuration") {
        let name = root.name().local;
        let problem = format_args!("the root element is `{name}`");
        return Err(no_configuration(root.span(), problem).into());
    }
    let mut features: Vec<ConfiguredFeature> = Vec::new();
    // For each element around the current one, the feature that it is or belongs to.
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

/// The name of the input for a feature.
pub(crate) fn input_name(feature: &str) -> String {
    lower_case(feature).replace(' ', "_")
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
    /// The assignments of a feature and its attributes. An alternative `name = value`, which models
    /// of inputs with valid values contain, assigns the value if it is selected.
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
    /// Whether it renames a feature or an attribute instead of being an input itself.
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

/// The value if the text is JSON, else the text itself.
fn value(text: &str, file: FileId) -> Value {
    let json = serde_json::from_str::<IgnoredAny>(text).ok();
    json.and_then(|_| yaml::parse(file, text.into(), &Limits::default()).ok())
        .map_or_else(|| Value::from(text), |document| document.root().to_value())
}
