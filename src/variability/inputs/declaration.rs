//! What `variability.inputs` declares.

use super::features::{FeatureKeyword, FeatureRule};
use super::{Constraint, InputType, listed, named, shape};
use crate::text::diagnostic::{Advice, Code, Diagnostic, Diagnostics, closest, did_you_mean};
use crate::text::source::Span;
use crate::text::value::Value;
use crate::text::yaml::{Node, NodeKind};
use crate::variability::operators::quote;
use crate::variability::syntax::Operator;
use rustc_hash::FxHashMap;

/// A declared input, by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InputId(pub u32);

impl InputId {
    /// The position.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The declaration of one input.
#[derive(Clone, Debug)]
pub struct Declaration<'a> {
    /// The name.
    pub name: &'a str,
    /// The place of the name.
    pub span: Span,
    /// The type of its values.
    pub kind: InputType,
    /// The type of the entries of its values, where they are lists or maps.
    pub entries: InputType,
    /// For people.
    pub description: Option<&'a str>,
    /// The value where none is assigned; a map whose only key is an operator is an expression.
    pub default: Option<Node<'a>>,
    /// The expression whose value it has where there is neither an assignment nor a default.
    pub default_expression: Option<Node<'a>>,
    /// What its assigned values must fulfil.
    pub constraints: Vec<Constraint>,
    /// What it demands of other inputs.
    pub rules: Vec<FeatureRule>,
}

/// All declared inputs, in the order of the template.
#[derive(Clone, Debug, Default)]
pub struct Declarations<'a> {
    inputs: Vec<Declaration<'a>>,
    ids: FxHashMap<&'a str, InputId>,
}

/// Keys of a declaration beside the feature keywords.
const KEYWORDS: [&str; 6] =
    ["type", "description", "default", "default_expression", "constraints", "entry_schema"];

/// Keys that TOSCA knows at a parameter and that mean nothing here.
const TOLERATED: [&str; 5] = ["metadata", "required", "status", "key_schema", "schema"];

impl<'a> Declarations<'a> {
    /// Reads the node of `variability.inputs`: a map, or a list of maps with one entry each.
    ///
    /// What is wrong is reported and left out; the rest is declared all the same.
    pub fn parse(node: Option<Node<'a>>, diagnostics: &mut Diagnostics) -> Self {
        let mut declarations = Self::default();
        let mut bodies = Vec::new();
        for (name, key, body) in named(node, "a variability input", diagnostics) {
            if let Some(first) = declarations.id(name).and_then(|id| declarations.get(id)) {
                let message = format!("the variability input `{name}` is declared twice");
                let diagnostic = Diagnostic::error(Code::Duplicate, message).at(key.span());
                diagnostics.push(diagnostic.label(first.span, "declared here first"));
                continue;
            }
            declarations.ids.insert(name, InputId(declarations.inputs.len() as u32));
            declarations.inputs.push(Declaration::empty(name, key.span()));
            bodies.push(body);
        }
        // In a second pass, because rules name inputs that are declared further down.
        let mut inputs = std::mem::take(&mut declarations.inputs);
        for (declaration, body) in inputs.iter_mut().zip(bodies) {
            declaration.read(body, &declarations, diagnostics);
        }
        declarations.inputs = inputs;
        declarations
    }

    /// The input of this name.
    pub fn id(&self, name: &str) -> Option<InputId> {
        self.ids.get(name).copied()
    }

    /// The declaration of this input.
    pub fn get(&self, id: InputId) -> Option<&Declaration<'a>> {
        self.inputs.get(id.index())
    }

    /// All inputs in the order of the template.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (InputId, &Declaration<'a>)> {
        self.inputs
            .iter()
            .enumerate()
            .map(|(index, declaration)| (InputId(index as u32), declaration))
    }

    /// How many inputs are declared.
    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    /// What somebody who named an undeclared input may have meant.
    pub fn suggestion(&self, name: &str) -> Advice {
        let names = || self.names();
        did_you_mean(name, names()).unwrap_or_else(|| match names().next() {
            Some(_) => format!("declared are {}", listed(names())).into(),
            None => "no variability inputs are declared".into(),
        })
    }

    // By the index and not by the declarations, which are still being read when rules ask for
    // names.
    fn names(&self) -> impl Iterator<Item = &'a str> {
        let mut names: Vec<_> = self.ids.iter().map(|(&name, &id)| (id, name)).collect();
        names.sort_unstable();
        names.into_iter().map(|(_, name)| name)
    }
}

impl<'a> Declaration<'a> {
    fn empty(name: &'a str, span: Span) -> Self {
        Self {
            name,
            span,
            kind: InputType::Any,
            entries: InputType::Any,
            description: None,
            default: None,
            default_expression: None,
            constraints: Vec::new(),
            rules: Vec::new(),
        }
    }

    fn read(
        &mut self,
        body: Node<'a>,
        declarations: &Declarations<'a>,
        diagnostics: &mut Diagnostics,
    ) {
        if body.kind() != NodeKind::Mapping {
            if !body.is_null() {
                let message = format!(
                    "the declaration of the variability input `{}` must be a map, not {}",
                    self.name,
                    body.describe()
                );
                diagnostics.push(shape(body, message).help("write its value as `default`"));
            }
            return;
        }
        let mut constraints = None;
        for (key, value) in body.entries() {
            match key.text().unwrap_or_default() {
                "type" => match value.as_str() {
                    Some(name) => self.kind = InputType::from_name(name),
                    None => diagnostics.push(shape(
                        value,
                        format!("a type is the name of a type, not {}", value.describe()),
                    )),
                },
                "entry_schema" => {
                    let name = value.as_str().or_else(|| value.get("type")?.as_str());
                    self.entries = name.map_or(InputType::Any, InputType::from_name);
                }
                "description" => self.description = value.text(),
                "default" => self.default = Some(value),
                "default_expression" => self.default_expression = Some(value),
                "constraints" => constraints = Some(value),
                other => match FeatureKeyword::from_keyword(other) {
                    Some(keyword) => self.rules.push(FeatureRule::read(
                        keyword,
                        key,
                        value,
                        declarations,
                        diagnostics,
                    )),
                    None if TOLERATED.contains(&other) => {}
                    None => diagnostics.push(unknown_keyword(key, other)),
                },
            }
        }
        // After the keys, because what a clause may say depends on the type.
        self.constraints =
            constraints.map(|node| self.read_constraints(node, diagnostics)).unwrap_or_default();
        self.check_default(diagnostics);
    }

    fn read_constraints(&self, node: Node<'a>, diagnostics: &mut Diagnostics) -> Vec<Constraint> {
        if node.kind() != NodeKind::Sequence {
            if !node.is_null() {
                diagnostics.push(shape(
                    node,
                    format!("constraints are a list of clauses, not {}", node.describe()),
                ));
            }
            return Vec::new();
        }
        node.items().filter_map(|item| diagnostics.ok(Constraint::parse(item, self.kind))).collect()
    }

    /// A default of another type is only worth a warning: templates declare `default: yes` at
    /// features.
    fn check_default(&self, diagnostics: &mut Diagnostics) {
        let Some(default) =
            self.default.filter(|default| !is_expression(*default) && !default.is_null())
        else {
            return;
        };
        for problem in self.problems(&self.kind.read(default.to_value())) {
            let message = format!(
                "the default of the variability input `{}` does not fit: {}",
                self.name, problem.message
            );
            let make = if problem.wrong_type { Diagnostic::warning } else { Diagnostic::error };
            diagnostics.push(problem.labels(make(Code::InvalidInput, message).at(default.span())));
        }
    }

    /// The first entry of a list or a map that is not of the declared type.
    fn misfit_entry<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        match value {
            Value::List(items) => items.iter().find(|item| !self.entries.admits(item)),
            Value::Map(entries) => {
                entries.iter().map(|(_, item)| item).find(|item| !self.entries.admits(item))
            }
            _ => None,
        }
    }

    /// The value that is declared as default, where it is one and no expression.
    pub fn default_value(&self) -> Option<Value> {
        self.default
            .filter(|default| !is_expression(*default))
            .map(|default| self.kind.read(default.to_value()))
    }

    /// The expression that its value is that of where nothing is assigned: a default that is one,
    /// or else the default expression.
    pub fn computed_default(&self) -> Option<Node<'a>> {
        match self.default {
            Some(default) => is_expression(default).then_some(default),
            None => self.default_expression,
        }
    }

    /// What is wrong with a value: its type, or else every constraint that it violates.
    pub fn problems(&self, value: &Value) -> Vec<Problem> {
        if !self.kind.admits(value) {
            let message = format!("expected {}, got {}", self.kind.describe(), quote(value));
            return vec![Problem { message, place: None, wrong_type: true, help: None }];
        }
        if let Some(entry) = self.misfit_entry(value) {
            let message =
                format!("expected {} in it, got {}", self.entries.describe(), quote(entry));
            return vec![Problem { message, place: None, wrong_type: true, help: None }];
        }
        let violation = |constraint: &Constraint| {
            let message = constraint.check(value).err()?;
            Some(Problem {
                message,
                place: Some(constraint.span),
                wrong_type: false,
                help: constraint.suggestion(value),
            })
        };
        self.constraints.iter().filter_map(violation).collect()
    }
}

/// Why a value does not fit a declaration.
pub struct Problem {
    /// What, in a few words.
    pub message: String,
    pub(super) place: Option<Span>,
    pub(super) wrong_type: bool,
    help: Option<Advice>,
}

impl Problem {
    /// The diagnostic with the place of the constraint that is violated, and what may have been
    /// meant.
    pub fn labels(&self, diagnostic: Diagnostic) -> Diagnostic {
        match self.place {
            Some(span) => diagnostic
                .label(span, "the constraint is declared here")
                .help_opt(self.help.clone()),
            None => diagnostic,
        }
    }
}

fn unknown_keyword(key: Node<'_>, written: &str) -> Diagnostic {
    let known =
        || KEYWORDS.into_iter().chain(FeatureKeyword::ALL.iter().map(|keyword| keyword.as_str()));
    let help = match closest(written, known().chain(TOLERATED)) {
        Some(name) => Advice::did_you_mean(written, name),
        None => format!("a variability input has {}", listed(known())).into(),
    };
    Diagnostic::error(
        Code::UnknownKeyword,
        format!("`{written}` is no keyword of a variability input"),
    )
    .at(key.span())
    .help(help)
}

/// Whether a default is an expression: a map whose only key is an operator.
pub(super) fn is_expression(node: Node<'_>) -> bool {
    let mut entries = node.entries();
    match entries.next() {
        Some((key, _)) if entries.len() == 0 => {
            let operator = key.as_str().and_then(Operator::from_keyword);
            operator.is_some_and(|operator| !matches!(operator, Operator::Presence(_)))
        }
        _ => false,
    }
}
