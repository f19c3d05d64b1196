//! Cuts the values of open inputs into the cases that conditions tell apart.
//!
//! A *probe* is a largest part of a condition that depends on one open input alone, or on one that
//! has infinitely many values and others that have few: then it is one probe for each combination
//! of those. Two values of the input are the same case when every probe comes to the same with
//! both. Of a finite domain each value is tried. An infinite one has to be compared with constants
//! only; they cut it into [cells](cells::Cell), and one value of each stands for all.

mod cells;
mod cuts;
mod label;
mod pattern;
mod texts;

use super::evaluate::Evaluator;
use super::validate::is_logical;
use crate::text::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::text::source::Span;
use crate::text::value::Value;
use crate::text::yaml::{Node, NodeKind};
use crate::variability::graph::Graph;
use crate::variability::inputs::{Declaration, InputId, InputType, InputValue};
use crate::variability::template::TypeSpecificConditions;
use cells::Cell;
use cuts::Cuts;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// An input that is not decided, and what may become of it.
#[derive(Clone, Debug)]
pub struct OpenInput<'a> {
    /// Which.
    pub input: InputId,
    /// Where it is declared.
    pub span: Span,
    /// What conditions tell apart; at least one.
    pub cases: Vec<InputCase>,
    probes: Vec<Probe<'a>>,
    /// What the probes come to, case by case.
    outcomes: Vec<Vec<Outcome>>,
}

impl OpenInput<'_> {
    /// Whether a condition or a rule asks for it, whatever it makes of the answer.
    pub fn is_asked(&self) -> bool {
        !self.probes.is_empty()
    }
}

/// Values of an input that no condition tells apart.
#[derive(Clone, Debug, PartialEq)]
pub struct InputCase {
    /// One of them, valid for the input's constraints; nothing where none is known and none is
    /// needed.
    pub value: Option<Value>,
    /// All of them, for people: `< 500`, `laptop`, `something else`.
    pub label: String,
    /// Whether that is the only one.
    pub exact: bool,
}

/// What a probe comes to with one of the input's values; nothing where it has no value then, for
/// whatever reason.
type Outcome = Option<Value>;

/// More values than this are not tried one by one.
const MAX_VALUES: i64 = 1000;

/// Of a pattern that so few texts match, these are the values.
const FEW_TEXTS: usize = 32;

/// With more combinations of other inputs than this, an expression is not looked at for each.
const MAX_SURROUNDINGS: usize = 256;

/// Values of other inputs, with which a probe depends on its own input alone.
type Surrounding = Rc<[(InputId, Value)]>;

/// Where conditions start.
pub struct Roots<'a> {
    /// Conditions.
    pub conditions: Vec<Node<'a>>,
    /// Inputs that are conditions by themselves.
    pub inputs: Vec<InputId>,
    /// Inputs of which rules ask whether they are selected as features.
    pub features: Vec<InputId>,
}

impl<'a> Roots<'a> {
    /// All conditions of a template.
    pub fn of(graph: &Graph<'a>, type_specific: &TypeSpecificConditions<'a>) -> Self {
        let mut conditions: Vec<Node<'a>> = Vec::new();
        for element in &graph.elements {
            conditions.extend(element.conditions);
            let implications = element.settings.into_iter().flat_map(|settings| &settings.implies);
            conditions.extend(
                implications
                    .flat_map(|implication| [Some(implication.target), implication.condition])
                    .flatten(),
            );
        }
        conditions.extend(graph.technologies.iter().filter_map(|technology| technology.conditions));
        conditions.extend(type_specific.iter().map(|condition| condition.conditions));
        conditions.extend(&graph.template.variability.constraints);
        Self { conditions, inputs: Vec::new(), features: Vec::new() }
    }
}

/// What is asked of an input.
#[derive(Clone, Debug)]
struct Probe<'a> {
    ask: Ask<'a>,
    surrounding: Surrounding,
}

#[derive(Clone, Copy, Debug)]
enum Ask<'a> {
    /// A condition, of which only the truth counts.
    Condition(Node<'a>),
    /// An expression, of which the value counts.
    Value(Node<'a>),
    /// The input itself, as a condition.
    Itself,
    /// Whether the input is selected as a feature.
    Feature,
    /// Which value the input has: presence comes into the expression, so that it cannot be looked
    /// at alone.
    Which(Node<'a>),
}

impl<'a> Probe<'a> {
    fn new(ask: Ask<'a>) -> Self {
        Self { ask, surrounding: Rc::default() }
    }

    /// What it comes to where the input has this value.
    fn outcome(&self, evaluator: &mut Evaluator<'_, 'a>, input: InputId, value: &Value) -> Outcome {
        let assumed = || self.surrounding.iter().cloned().chain([(input, value.clone())]);
        let truth = |value: &Value| super::evaluate::truth(value).map(Value::from);
        match self.ask {
            Ask::Condition(node) => {
                evaluator.value_where(node, assumed()).ok().as_ref().and_then(truth)
            }
            Ask::Value(node) => evaluator.value_where(node, assumed()).ok(),
            Ask::Itself => truth(value),
            Ask::Feature => Some(value.is_truthy().into()),
            Ask::Which(_) => Some(value.clone()),
        }
    }
}

impl<'a> OpenInput<'a> {
    /// The case that a value belongs to; nothing where the input may not have it, or where nothing
    /// that asks for it can be computed with it.
    pub fn case_of(&self, evaluator: &mut Evaluator<'_, 'a>, value: &Value) -> Option<usize> {
        let declaration = evaluator.inputs.declarations.get(self.input)?;
        if !declaration.problems(value).is_empty() {
            return None;
        }
        if self.probes.is_empty() {
            return Some(0);
        }
        let outcomes: Vec<_> =
            self.probes.iter().map(|probe| probe.outcome(evaluator, self.input, value)).collect();
        self.outcomes.iter().position(|other| *other == outcomes)
    }
}

/// Cuts every open input; `known` are values that are known to be of use, by input: they are taken
/// as examples first.
///
/// # Errors
/// `open-input` for each expression that tells too many values apart.
pub fn cut<'a>(
    evaluator: &mut Evaluator<'_, 'a>,
    roots: &Roots<'a>,
    known: &FxHashMap<InputId, Vec<Value>>,
) -> Result<Vec<OpenInput<'a>>, Diagnostics> {
    let inputs = evaluator.inputs;
    let mut finder = Finder::new(evaluator);
    roots.conditions.iter().for_each(|&node| finder.expression(node, true, None));
    let Finder { mut probes, .. } = finder;
    let itself = roots.inputs.iter().map(|&input| (input, Ask::Itself));
    for (input, ask) in itself.chain(roots.features.iter().map(|&input| (input, Ask::Feature))) {
        probes.entry(input).or_default().push(Probe::new(ask));
    }
    let mut diagnostics = Diagnostics::default();
    let mut open = Vec::new();
    for (input, declaration) in inputs.declarations.iter() {
        if matches!(inputs.values.get(input), InputValue::Open) {
            let known = known.get(&input).map_or(&[][..], Vec::as_slice);
            let probes = probes.remove(&input).unwrap_or_default();
            let cutter = Cutter { evaluator: &mut *evaluator, input, declaration, probes, known };
            open.extend(diagnostics.ok(cutter.cut()));
        }
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(open) }
}

/// Finds probes.
struct Finder<'f, 'e, 'a> {
    evaluator: &'f Evaluator<'e, 'a>,
    visited: FxHashSet<(usize, bool, Option<InputId>)>,
    probes: FxHashMap<InputId, Vec<Probe<'a>>>,
    /// Expressions that are the same ask the same.
    texts: FxHashSet<(InputId, bool, String)>,
}

impl<'f, 'e, 'a> Finder<'f, 'e, 'a> {
    fn new(evaluator: &'f Evaluator<'e, 'a>) -> Self {
        Self {
            evaluator,
            visited: FxHashSet::default(),
            probes: FxHashMap::default(),
            texts: FxHashSet::default(),
        }
    }

    /// Finds probes of all inputs but the one that `apart` names.
    fn expression(&mut self, node: Node<'a>, logical: bool, apart: Option<InputId>) {
        match node.kind() {
            NodeKind::Scalar => {}
            NodeKind::Sequence => {
                node.items().for_each(|item| self.expression(item, logical, apart))
            }
            NodeKind::Mapping => {
                for (keyword, operand) in node.entries() {
                    self.operator(node, keyword, operand, logical, apart);
                }
            }
        }
    }

    fn operator(
        &mut self,
        node: Node<'a>,
        keyword: Node<'a>,
        operand: Node<'a>,
        logical: bool,
        apart: Option<InputId>,
    ) {
        let name = keyword.text().unwrap_or_default();
        let depends = self.evaluator.dependencies_of(keyword, operand);
        if depends.open.is_empty() {
            return;
        }
        if depends.by_value && depends.presence {
            depends
                .open
                .iter()
                .for_each(|&input| self.add(input, Ask::Which(node), &[Rc::default()]));
            return;
        }
        let ask = if logical { Ask::Condition(node) } else { Ask::Value(node) };
        match depends.open[..] {
            [input] if depends.by_value => {
                if apart != Some(input) {
                    self.add(input, ask, &[Rc::default()]);
                }
                return;
            }
            _ if depends.by_value && apart.is_none() => {
                if let Some((input, surroundings)) = self.surroundings(&depends.open) {
                    self.add(input, ask, &surroundings);
                    self.descend(name, operand, logical, Some(input));
                    return;
                }
            }
            _ => {}
        }
        self.descend(name, operand, logical, apart);
    }

    fn descend(&mut self, name: &str, operand: Node<'a>, logical: bool, apart: Option<InputId>) {
        if matches!(name, "logic_expression" | "value_expression") {
            let Ok(index) = self.evaluator.expression_index(operand) else { return };
            let logical = logical || name == "logic_expression";
            if self.visited.insert((index, logical, apart)) {
                self.expression(
                    self.evaluator.graph.template.variability.expressions[index].1,
                    logical,
                    apart,
                );
            }
        } else {
            self.expression(operand, is_logical(name), apart);
        }
    }

    fn add(&mut self, input: InputId, ask: Ask<'a>, surroundings: &[Surrounding]) {
        let text = match ask {
            Ask::Condition(node) | Ask::Value(node) | Ask::Which(node) => {
                format!("{:?}", node.to_value())
            }
            Ask::Itself | Ask::Feature => return,
        };
        if self.texts.insert((input, matches!(ask, Ask::Condition(_)), text)) {
            let probes = surroundings
                .iter()
                .map(|surrounding| Probe { ask, surrounding: surrounding.clone() });
            self.probes.entry(input).or_default().extend(probes);
        }
    }

    /// The one of these inputs that has infinitely many values, and all combinations of the others.
    fn surroundings(&self, inputs: &[InputId]) -> Option<(InputId, Vec<Surrounding>)> {
        let declarations = &self.evaluator.inputs.declarations;
        let values = |input: InputId, most: i64| {
            declarations.get(input).and_then(|declaration| few_values(declaration, most))
        };
        let infinite = |most: i64| {
            inputs
                .iter()
                .copied()
                .filter(|&input| values(input, most).is_none())
                .collect::<Vec<_>>()
        };
        // A range of integers counts as whatever makes the other ones few.
        let (own, most) = match (&infinite(0)[..], &infinite(MAX_SURROUNDINGS as i64)[..]) {
            (&[own], _) => (own, 0),
            (_, &[own]) => (own, MAX_SURROUNDINGS as i64),
            _ => return None,
        };
        let mut rows: Vec<Vec<(InputId, Value)>> = vec![Vec::new()];
        for &other in inputs.iter().filter(|&&input| input != own) {
            let values = values(other, most)?;
            if rows.len() * values.len() > MAX_SURROUNDINGS {
                return None;
            }
            let extended = rows.iter().flat_map(|row| {
                values.iter().map(|value| [&row[..], &[(other, value.clone())]].concat())
            });
            rows = extended.collect();
        }
        Some((own, rows.into_iter().map(Into::into).collect()))
    }
}

/// All values of an input, where its declaration lists them; or where it is a range of at most so
/// many integers.
fn few_values(declaration: &Declaration<'_>, most: i64) -> Option<Vec<Value>> {
    let valid = |value: &Value| declaration.problems(value).is_empty();
    if declaration.kind == InputType::Boolean {
        return Some([false, true].map(Value::from).into_iter().filter(valid).collect());
    }
    let mut lists = declaration.constraints.iter().filter_map(|constraint| constraint.values());
    if let Some(values) = lists.next() {
        let mut found: Vec<Value> = Vec::new();
        for value in values.iter().filter(|value| valid(value)) {
            if !found.contains(value) {
                found.push(value.clone());
            }
        }
        return Some(found);
    }
    if let Some(texts) = declaration
        .constraints
        .iter()
        .find_map(|constraint| pattern::language(constraint, FEW_TEXTS))
    {
        return Some(texts.into_iter().map(Value::from).filter(valid).collect());
    }
    if declaration.kind != InputType::Integer || most == 0 {
        return None;
    }
    let bounds = declaration.constraints.iter().flat_map(|constraint| constraint.bounds());
    let bounds = bounds
        .filter_map(|bound| if let Value::Number(number) = bound { number.as_int() } else { None });
    let bounds: Vec<i64> = bounds.collect();
    let (&low, &high) = (bounds.iter().min()?, bounds.iter().max()?);
    let beyond = [low.checked_sub(1)?, high.checked_add(1)?];
    let closed =
        beyond.into_iter().all(|value| !valid(&value.into())) && high.checked_sub(low)? < most;
    closed.then(|| (low..=high).map(Value::from).filter(valid).collect())
}

/// Cuts one input.
struct Cutter<'c, 'e, 'a> {
    evaluator: &'c mut Evaluator<'e, 'a>,
    input: InputId,
    declaration: &'c Declaration<'a>,
    probes: Vec<Probe<'a>>,
    known: &'c [Value],
}

impl<'a> Cutter<'_, '_, 'a> {
    fn cut(mut self) -> Result<OpenInput<'a>, Diagnostic> {
        let cells = match few_values(self.declaration, 0) {
            Some(values) => cells::listed(self.declaration.kind, values),
            None => match self.cuts() {
                Ok(cuts) => cells::cells(self.declaration, &cuts, self.known),
                Err(span) => {
                    match few_values(self.declaration, MAX_VALUES).or_else(|| self.matching()) {
                        Some(values) => cells::listed(self.declaration.kind, values),
                        None => return Err(self.uncuttable(span)),
                    }
                }
            },
        };
        let valid: Vec<Cell> =
            cells.into_iter().filter(|cell| self.is_valid(&cell.value)).collect();
        if valid.is_empty() {
            return self.unknown();
        }
        let (mut outcomes, mut members) = self.classes(&valid);
        let all = members.len() == 1 && valid.iter().any(|cell| !cell.exact);
        let mut labels = label::labels(&valid, &members);
        if let Some(rest) = labels.iter().position(|label| label == label::REST) {
            outcomes[rest..].rotate_left(1);
            members[rest..].rotate_left(1);
            labels[rest..].rotate_left(1);
        }
        let case = |(members, label): (&Vec<usize>, String)| InputCase {
            value: self.example(&valid, members),
            label: if all { "any".into() } else { label },
            exact: members.len() == 1 && members.iter().all(|&member| valid[member].exact),
        };
        let cases = members.iter().zip(labels).map(case).collect();
        Ok(OpenInput {
            input: self.input,
            span: self.declaration.span,
            cases,
            probes: self.probes,
            outcomes,
        })
    }

    /// The cells that no probe tells apart, and what the probes come to in them.
    fn classes(&mut self, cells: &[Cell]) -> (Vec<Vec<Outcome>>, Vec<Vec<usize>>) {
        // Outcomes by numbers, so that they are compared and found fast.
        let mut seen: Vec<Vec<Outcome>> = vec![Vec::new(); self.probes.len()];
        let mut class_of: FxHashMap<Vec<usize>, usize> = FxHashMap::default();
        let mut classes: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        for (index, cell) in cells.iter().enumerate() {
            let mut numbers = Vec::with_capacity(seen.len());
            for (probe, seen) in self.probes.iter().zip(&mut seen) {
                let outcome = probe.outcome(self.evaluator, self.input, &cell.value);
                numbers.push(seen.iter().position(|other| *other == outcome).unwrap_or(seen.len()));
                if numbers.last() == Some(&seen.len()) {
                    seen.push(outcome);
                }
            }
            let class = *class_of.entry(numbers).or_insert_with_key(|numbers| {
                classes.push((numbers.clone(), Vec::new()));
                classes.len() - 1
            });
            classes[class].1.push(index);
        }
        let outcomes = |numbers: Vec<usize>| {
            numbers.into_iter().zip(&seen).map(|(number, seen)| seen[number].clone()).collect()
        };
        let classes = classes.into_iter().map(|(numbers, members)| (outcomes(numbers), members));
        // Where nothing that asks for a value can be computed with it, no variant is the only one
        // that it gives.
        let fails = |(outcomes, _): &(Vec<Outcome>, _)| {
            !outcomes.is_empty() && outcomes.iter().all(Option::is_none)
        };
        let (failing, computed): (Vec<_>, Vec<_>) = classes.partition(fails);
        if computed.is_empty() { failing } else { computed }.into_iter().unzip()
    }

    fn is_valid(&self, value: &Value) -> bool {
        self.declaration.problems(value).is_empty()
    }

    /// The value by which a case is known: one that somebody uses already, else the first.
    fn example(&self, cells: &[Cell], members: &[usize]) -> Option<Value> {
        let values = || members.iter().map(|&index| &cells[index].value);
        self.known
            .iter()
            .find(|known| values().any(|value| value == *known))
            .or_else(|| values().next())
            .cloned()
    }

    /// All texts that match the pattern of the input.
    fn matching(&self) -> Option<Vec<Value>> {
        let texts = self
            .declaration
            .constraints
            .iter()
            .find_map(|constraint| pattern::language(constraint, MAX_VALUES as usize))?;
        Some(texts.into_iter().map(Value::from).collect())
    }

    /// What conditions compare the input with.
    ///
    /// # Errors
    /// The place where one does something else with it.
    fn cuts(&mut self) -> Result<Cuts, Span> {
        let mut cuts = Cuts::default();
        for probe in &self.probes {
            cuts::collect(self.evaluator, self.input, self.declaration, probe, &mut cuts)?;
        }
        Ok(cuts)
    }

    fn uncuttable(&self, span: Span) -> Diagnostic {
        let name = self.declaration.name;
        let message = format!(
            "the values of input `{name}` cannot be told apart here, so it cannot stay open"
        );
        Diagnostic::error(Code::OpenInput, message)
            .at(span)
            .label(self.declaration.span, "declared here")
            .help(format!(
                "assign it with `--input {name}=VALUE` or a preset, or list its `valid_values`"
            ))
    }

    /// An input of which no value is known: no harm where nothing asks for it.
    fn unknown(self) -> Result<OpenInput<'a>, Diagnostic> {
        if self.probes.is_empty() {
            let cases = vec![InputCase { value: None, label: "any".into(), exact: false }];
            return Ok(OpenInput {
                input: self.input,
                span: self.declaration.span,
                cases,
                probes: self.probes,
                outcomes: Vec::new(),
            });
        }
        let message = format!("no value is known that input `{}` may have", self.declaration.name);
        let error = Diagnostic::error(Code::OpenInput, message).at(self.declaration.span);
        Err(error.help("declare a valid `default`, or assign it with `--input`"))
    }
}

/// The bounds that the constraints of an input name.
fn bounds<'d>(declaration: &'d Declaration<'_>) -> impl Iterator<Item = &'d Value> {
    declaration.constraints.iter().flat_map(|constraint| constraint.bounds())
}
