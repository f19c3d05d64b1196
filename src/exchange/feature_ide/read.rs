//! Reads feature models of FeatureIDE.

use super::super::model::{Feature, FeatureId, FeatureModel, GroupKind, MAX_DEPTH, Proposition};
use super::super::names::{FeatureNames, syntax, too_deep, unsupported};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use cuvee_text::source::{FileId, Span};
use cuvee_text::value::Value;
use cuvee_text::xml::{self, XmlElement, XmlLimits, XmlStep};

/// Reads a model. A document type declaration is rejected, so no entity can be declared or
/// expanded. Trees may have any depth, and rules up to 47 levels.
///
/// # Errors
/// `syntax` at each place where the XML is not well-formed. `invalid-input` if it is not a feature
/// model, refers to an unknown feature or has an unknown kind of rule. `duplicate` if two features
/// share a name.
pub fn read(text: &str, file: FileId) -> Result<FeatureModel, Diagnostics> {
    let limits = XmlLimits { depth: usize::MAX, ..XmlLimits::default() };
    let document = xml::parse(file, text.into(), &limits)?;
    let mut model = FeatureIdeBuilder::default();
    for step in document.walk() {
        match step {
            XmlStep::Start(element) => model.start(element)?,
            XmlStep::End(element) => model.end(element)?,
        }
    }
    let root = document.root().span();
    Ok(model.model.ok_or_else(|| no_model(root, "there are no features in it"))?)
}

fn no_model(span: Span, problem: &str) -> Diagnostic {
    Diagnostic::error(Code::InvalidInput, format!("expected a feature model, but {problem}"))
        .at(span)
        .help("a feature model of FeatureIDE is a `<featureModel>` with the features in its `<struct>`")
}

/// An open element.
enum Open {
    Model,
    Struct,
    /// A feature, and the kind of the group of its children; `None` for `and`, which has two kinds.
    Feature(FeatureId, Option<GroupKind>),
    Constraints,
    Rule(Option<Proposition>),
    /// An operator, its operands so far, and its place.
    Operator(String, Vec<Proposition>, Span),
    Var(String),
    Description(FeatureId, String),
    /// An element that is ignored.
    Other,
}

#[derive(Default)]
struct FeatureIdeBuilder {
    model: Option<FeatureModel>,
    names: FeatureNames,
    open: Vec<Open>,
    /// The number of open operators.
    nested: usize,
}

impl FeatureIdeBuilder {
    fn start(&mut self, element: XmlElement<'_>) -> Result<(), Diagnostic> {
        let (name, span) = (element.name().local, element.span());
        let text = || element.text().into_owned();
        let next = match (self.open.last(), name) {
            (None, "featureModel" | "extendedFeatureModel") => Open::Model,
            (None, other) => return Err(no_model(span, &format!("the root element is `{other}`"))),
            (Some(Open::Model), "struct") => Open::Struct,
            (Some(Open::Model), "constraints") => Open::Constraints,
            (Some(Open::Struct | Open::Feature(..)), "and" | "or" | "alt" | "feature") => {
                self.feature(element)?
            }
            (Some(&Open::Feature(id, _)), "attribute") => {
                self.attribute(id, element);
                Open::Other
            }
            (Some(Open::Feature(id, _)), "description") => Open::Description(*id, text()),
            (Some(Open::Constraints), "rule") => Open::Rule(None),
            (Some(Open::Rule(_)), "description" | "tags") => Open::Other,
            (Some(Open::Rule(_) | Open::Operator(..)), "var") => Open::Var(text()),
            (Some(Open::Rule(_) | Open::Operator(..)), operator) => {
                self.operator(operator, span)?
            }
            _ => Open::Other,
        };
        self.open.push(next);
        Ok(())
    }

    fn feature(&mut self, element: XmlElement<'_>) -> Result<Open, Diagnostic> {
        let span = element.span();
        let mut feature = Feature { span: Some(span), ..Feature::default() };
        let mut mandatory = false;
        for attribute in element.attributes() {
            let value = attribute.value();
            match attribute.name().local {
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
            match element.name().local {
                "or" => Some(GroupKind::Or),
                "alt" => Some(GroupKind::Alternative),
                _ => None,
            },
        ))
    }

    /// Reads an attribute of a feature in an extended model.
    fn attribute(&mut self, of: FeatureId, element: XmlElement<'_>) {
        let feature = self.model.as_mut().and_then(|model| model.features.get_mut(of.index()));
        let said = |name| element.attribute(name).map(|it| it.value().into_owned());
        if let (Some(feature), Some(name)) = (feature, said("name")) {
            let value = said("value").map_or(Value::Null, |text| text.into());
            feature.attributes.push((name, value));
        }
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

    fn end(&mut self, element: XmlElement<'_>) -> Result<(), Diagnostic> {
        match self.open.pop() {
            Some(Open::Var(name)) => {
                let span = element.whole_span();
                let Some(model) = &self.model else {
                    return Err(no_model(span, "its rules stand above its features"));
                };
                // Indented text has surrounding spaces that do not belong to the name, but a name
                // may also contain them.
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
                let rule = rule.ok_or_else(|| syntax(element.span(), "the rule is empty"))?;
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

    /// Adds an operand to the enclosing operator or rule.
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
