//! Reads feature models.

use super::super::model::{Feature, FeatureId, FeatureModel, GroupKind, MAX_DEPTH, Proposition};
use super::super::names::{FeatureNames, syntax, too_deep, unsupported};
use crate::text::diagnostic::{Code, Diagnostic};
use crate::text::source::{FileId, Span};
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

/// Reads a model. A document type is refused, so that no entity can be declared, let alone
/// expanded.
///
/// # Errors
/// `syntax` where the XML is not well-formed, `invalid-input` where it is no feature model, names
/// what is not there or has a rule that is not known, and `duplicate` where two features share a
/// name.
pub fn read(text: &str, file: FileId) -> Result<FeatureModel, Diagnostic> {
    let mut reader = Reader::from_str(text);
    let mut model = FeatureIdeBuilder::default();
    loop {
        let start = reader.buffer_position();
        let event = reader.read_event();
        let span = Span { file, start: offset(start), end: offset(reader.buffer_position()) };
        match event.map_err(|error| malformed(span, error))? {
            Event::Start(element) => model.start(&element, span)?,
            Event::Empty(element) => {
                model.start(&element, span)?;
                model.end(span)?;
            }
            Event::End(_) => model.end(span)?,
            Event::Text(text) => model.text(&text.xml10_content()),
            Event::CData(text) => model.text(&text.xml10_content()),
            Event::GeneralRef(reference) => model.text(&resolved(&reference, span)?),
            Event::DocType(_) => return Err(malformed(span, "a document type is not allowed")),
            Event::Eof if !model.open.is_empty() => {
                return Err(malformed(span, "the file ends inside of an element"));
            }
            Event::Eof => {
                return model.model.ok_or_else(|| no_model(span, "there are no features in it"));
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
        }
    }
}

fn offset(position: u64) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

fn malformed(span: Span, problem: impl std::fmt::Display) -> Diagnostic {
    syntax(span, format!("the XML cannot be read: {problem}"))
}

fn no_model(span: Span, problem: &str) -> Diagnostic {
    Diagnostic::error(Code::InvalidInput, format!("expected a feature model, but {problem}"))
        .at(span)
        .help("a feature model of FeatureIDE is a `<featureModel>` with the features in its `<struct>`")
}

/// A character that is written as a reference.
fn resolved(reference: &BytesRef<'_>, span: Span) -> Result<String, Diagnostic> {
    if let Some(c) = reference.resolve_char_ref().map_err(|error| malformed(span, error))? {
        return Ok(c.to_string());
    }
    let name = reference.xml10_content();
    let known = resolve_predefined_entity(&name).map(str::to_owned);
    known.ok_or_else(|| malformed(span, format_args!("there is no entity `{name}`")))
}

/// An element that is open.
enum Open {
    Model,
    Struct,
    /// A feature, and the kind of the group that its children are; `and` has two.
    Feature(FeatureId, Option<GroupKind>),
    Constraints,
    Rule(Option<Proposition>),
    /// An operator, its operands so far, and where it stands.
    Operator(String, Vec<Proposition>, Span),
    Var(String, Span),
    Description(FeatureId, String),
    /// Whatever does not matter here.
    Other,
}

#[derive(Default)]
struct FeatureIdeBuilder {
    model: Option<FeatureModel>,
    names: FeatureNames,
    open: Vec<Open>,
    /// How many operators are open.
    nested: usize,
    rooted: bool,
}

impl FeatureIdeBuilder {
    fn start(&mut self, element: &BytesStart<'_>, span: Span) -> Result<(), Diagnostic> {
        let name = element.name();
        let name: &str = name.as_ref();
        let next = match (self.open.last(), name) {
            (None, _) if std::mem::replace(&mut self.rooted, true) => {
                return Err(malformed(span, "there is a second root element"));
            }
            (None, "featureModel" | "extendedFeatureModel") => Open::Model,
            (None, other) => return Err(no_model(span, &format!("the root element is `{other}`"))),
            (Some(Open::Model), "struct") => Open::Struct,
            (Some(Open::Model), "constraints") => Open::Constraints,
            (Some(Open::Struct | Open::Feature(..)), "and" | "or" | "alt" | "feature") => {
                self.feature(element, name, span)?
            }
            (Some(Open::Feature(id, _)), "description") => Open::Description(*id, String::new()),
            (Some(Open::Constraints), "rule") => Open::Rule(None),
            (Some(Open::Rule(_)), "description" | "tags") => Open::Other,
            (Some(Open::Rule(_) | Open::Operator(..)), "var") => Open::Var(String::new(), span),
            (Some(Open::Rule(_) | Open::Operator(..)), operator) => {
                self.operator(operator, span)?
            }
            _ => Open::Other,
        };
        self.open.push(next);
        Ok(())
    }

    fn feature(
        &mut self,
        element: &BytesStart<'_>,
        kind: &str,
        span: Span,
    ) -> Result<Open, Diagnostic> {
        let mut feature = Feature { span: Some(span), ..Feature::default() };
        let mut mandatory = false;
        for attribute in element.attributes() {
            let attribute = attribute.map_err(|error| malformed(span, error))?;
            let value = attribute.normalized_value_with(
                XmlVersion::Implicit1_0,
                1,
                resolve_predefined_entity,
            );
            let value = value.map_err(|error| malformed(span, error))?;
            match attribute.key.as_ref() {
                "name" => feature.name = value.into_owned(),
                "abstract" => feature.is_abstract = value == "true",
                "mandatory" => mandatory = value == "true",
                _ => {}
            }
        }
        let group = if mandatory { GroupKind::Mandatory } else { GroupKind::Optional };
        let id = match (self.open.last(), &mut self.model) {
            (Some(&Open::Feature(parent, kind)), Some(model)) => {
                model.add(parent, kind.unwrap_or(group), feature)
            }
            (_, Some(_)) => return Err(no_model(span, "there is a second root feature")),
            (_, none) => none.insert(FeatureModel::new(feature)).root(),
        };
        if let Some(model) = &self.model {
            self.names.declare(model, id)?;
        }
        Ok(Open::Feature(
            id,
            match kind {
                "or" => Some(GroupKind::Or),
                "alt" => Some(GroupKind::Alternative),
                _ => None,
            },
        ))
    }

    fn operator(&mut self, name: &str, span: Span) -> Result<Open, Diagnostic> {
        if !matches!(name, "not" | "conj" | "disj" | "imp" | "eq" | "atmost1") {
            return Err(unsupported(span, &format!("rules with `{name}`")));
        }
        self.nested += 1;
        if self.nested > MAX_DEPTH - 1 {
            Err(too_deep(span))
        } else {
            Ok(Open::Operator(name.to_owned(), Vec::new(), span))
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(Open::Var(found, _) | Open::Description(_, found)) = self.open.last_mut() {
            found.push_str(text);
        }
    }

    fn end(&mut self, end: Span) -> Result<(), Diagnostic> {
        match self.open.pop() {
            Some(Open::Var(name, start)) => {
                let span = Span { end: end.end, ..start };
                let Some(model) = &self.model else {
                    return Err(no_model(span, "its rules stand above its features"));
                };
                // Who indents the text does not mean the spaces, but a name may have some.
                let name = if self.names.has(&name) { &*name } else { name.trim() };
                let operand = self.names.find(model, name, span)?;
                self.operand(operand, span)
            }
            Some(Open::Operator(name, operands, span)) => {
                self.nested -= 1;
                let operand = combined(&name, operands, span)?;
                self.operand(operand, span)
            }
            Some(Open::Rule(rule)) => {
                let rule = rule.ok_or_else(|| syntax(end, "the rule is empty"))?;
                self.model.iter_mut().for_each(|model| model.constrain(rule.clone()));
                Ok(())
            }
            Some(Open::Description(id, text)) => {
                let feature =
                    self.model.as_mut().and_then(|model| model.features.get_mut(id.index()));
                let text = text.trim();
                if let Some(feature) = feature.filter(|_| !text.is_empty()) {
                    feature.description = Some(text.to_owned());
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Hands an operand to what it stands in.
    fn operand(&mut self, operand: Proposition, span: Span) -> Result<(), Diagnostic> {
        match self.open.last_mut() {
            Some(Open::Operator(_, operands, _)) => operands.push(operand),
            Some(Open::Rule(rule)) if rule.is_none() => *rule = Some(operand),
            _ => {
                return Err(syntax(span, "a rule has to be one proposition")
                    .help("combine several with `<conj>`"));
            }
        }
        Ok(())
    }
}

fn combined(
    operator: &str,
    operands: Vec<Proposition>,
    span: Span,
) -> Result<Proposition, Diagnostic> {
    let takes = |count: usize| {
        syntax(span, format!("`{operator}` takes {count} operands, not {}", operands.len()))
    };
    Ok(match (operator, &operands[..]) {
        ("conj", _) => Proposition::and(operands),
        ("disj", _) => Proposition::or(operands),
        ("atmost1", _) => Proposition::at_most_one(operands),
        ("not", [operand]) => !operand.clone(),
        ("imp", [premise, conclusion]) => premise.clone().implies(conclusion.clone()),
        ("eq", [one, other]) => one.clone().iff(other.clone()),
        ("not", _) => return Err(takes(1)),
        _ => return Err(takes(2)),
    })
}
