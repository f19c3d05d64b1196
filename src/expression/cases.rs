//! Cuts the values of open inputs into the cases that conditions tell apart.
//!
//! A *probe* is a largest part of a condition that depends on one open input alone. Two values of the input are the same case when every
//! probe comes to the same with both. Of a finite domain each value is tried. An infinite one has to be compared with constants only; then one value on
//! each constant, one between each two and one beyond them stand for all.

use super::evaluate::Evaluator;
use super::operators::{Operator, instant};
use super::presence;
use super::validate::is_logical;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::graph::Graph;
use crate::inputs::{Declaration, InputId, InputType, InputValue};
use crate::source::Span;
use crate::template::TypeSpecificConditions;
use crate::value::{Number, Value};
use crate::yaml::{Node, NodeKind};
use rustc_hash::{FxHashMap, FxHashSet};

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
    outcomes: Vec<Outcomes>,
}

/// What the probes of an input come to with one of its values.
type Outcomes = Vec<Result<Value, String>>;

impl<'a> OpenInput<'a> {
    /// The case that a value belongs to; nothing where the input may not have it.
    pub fn case_of(&self, evaluator: &mut Evaluator<'_, 'a>, value: &Value) -> Option<usize> {
        let declaration = evaluator.inputs.declarations.get(self.input)?;
        if !declaration.problems(value).is_empty() {
            return None;
        }
        if self.cases.len() == 1 {
            return Some(0);
        }
        let outcomes = outcomes(evaluator, self.input, &self.probes, value);
        self.outcomes.iter().position(|other| *other == outcomes)
    }
}

/// What every probe comes to with a value.
fn outcomes<'a>(evaluator: &mut Evaluator<'_, 'a>, input: InputId, probes: &[Probe<'a>], value: &Value) -> Outcomes {
    let mut value_of = |node| evaluator.value_where(node, input, value.clone()).map_err(|error| error.message);
    let outcome = |probe: &Probe<'a>| match *probe {
        Probe::Condition(node) => value_of(node).map(truth_of),
        Probe::Value(node) => value_of(node),
        Probe::Itself => Ok(truth_of(value.clone())),
        Probe::Feature => Ok(value.is_truthy().into()),
    };
    probes.iter().map(outcome).collect()
}

/// Values of an input that no condition tells apart.
#[derive(Clone, Debug, PartialEq)]
pub struct InputCase {
    /// One of them, valid for the input's constraints; nothing where none is known and none is needed.
    pub value: Option<Value>,
    /// All of them, for people: `< 500`, `laptop`, `something else`.
    pub label: String,
    /// Whether that is the only one.
    pub exact: bool,
}

/// More values than this are not tried one by one.
const MAX_VALUES: i64 = 1000;

/// What an expression depends on.
#[derive(Debug, Default)]
pub(super) struct Dependencies {
    /// The open inputs, in order.
    pub inputs: Vec<InputId>,
    /// Whether it is computed from values alone: presence does not come in, and it is no logical operator, which keeps its operands.
    pub by_value: bool,
}

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
        for conditional in graph.elements.iter().filter_map(|element| element.conditional) {
            conditions.extend(conditional.conditions);
            let implications = conditional.settings().into_iter().flat_map(|settings| &settings.implies);
            conditions.extend(implications.flat_map(|implication| [Some(implication.target), implication.condition]).flatten());
        }
        conditions.extend(graph.technologies.iter().filter_map(|technology| technology.conditions));
        conditions.extend(type_specific.iter().map(|condition| condition.conditions));
        conditions.extend(&graph.template.variability.constraints);
        Self { conditions, inputs: Vec::new(), features: Vec::new() }
    }
}

impl<'a> Evaluator<'_, 'a> {
    /// What an operator with its operand depends on.
    pub(super) fn dependencies_of(&self, keyword: Node<'a>, operand: Node<'a>) -> Dependencies {
        let mut walk = Walk::new(self);
        walk.operator(keyword, operand);
        let Walk { mut inputs, presence, .. } = walk;
        inputs.retain(|&input| self.is_open(input));
        inputs.sort_unstable();
        inputs.dedup();
        let logical = matches!(keyword.text(), Some(name) if is_logical(name) || name == "logic_expression");
        Dependencies { inputs, by_value: !presence && !logical }
    }

    /// Whether an expression, or one that it names, mentions an input.
    pub fn mentions(&self, expression: Node<'a>, input: InputId) -> bool {
        let mut walk = Walk::new(self);
        walk.expression(expression, false);
        walk.inputs.contains(&input)
    }

    fn is_open(&self, input: InputId) -> bool {
        matches!(self.inputs.values.get(input), InputValue::Open)
    }
}

/// A walk through an expression and all that it names.
struct Walk<'w, 'e, 'a> {
    evaluator: &'w Evaluator<'e, 'a>,
    visited: FxHashSet<usize>,
    inputs: Vec<InputId>,
    presence: bool,
}

impl<'w, 'e, 'a> Walk<'w, 'e, 'a> {
    fn new(evaluator: &'w Evaluator<'e, 'a>) -> Self {
        Self { evaluator, visited: FxHashSet::default(), inputs: Vec::new(), presence: false }
    }

    fn expression(&mut self, node: Node<'a>, logical: bool) {
        match node.kind() {
            // Where a condition is asked for, a string is the identifier of an element.
            NodeKind::Scalar => self.presence |= logical && node.as_str().is_some(),
            NodeKind::Sequence => node.items().for_each(|item| self.expression(item, logical)),
            NodeKind::Mapping => node.entries().for_each(|(keyword, operand)| self.operator(keyword, operand)),
        }
    }

    fn operator(&mut self, keyword: Node<'a>, operand: Node<'a>) {
        let name = keyword.text().unwrap_or_default();
        match name {
            "variability_input" => self.inputs.extend(self.evaluator.input_id(operand).ok()),
            "logic_expression" | "value_expression" => {
                let Ok(index) = self.evaluator.expression_index(operand) else { return };
                if self.visited.insert(index) {
                    let (_, body) = self.evaluator.graph.template.variability.expressions[index];
                    self.expression(body, name == "logic_expression");
                }
            }
            _ if presence::is_operator(name) => self.presence = true,
            _ => self.expression(operand, is_logical(name)),
        }
    }
}

/// A largest part of a condition that depends on one open input alone.
#[derive(Clone, Copy, Debug)]
enum Probe<'a> {
    /// A condition, of which only the truth counts.
    Condition(Node<'a>),
    /// An expression, of which the value counts.
    Value(Node<'a>),
    /// The input itself, as a condition.
    Itself,
    /// Whether the input is selected as a feature.
    Feature,
}

/// Cuts every open input; `known` are values that are known to be of use, by input: they are taken as examples first.
///
/// # Errors
/// `open-input` for each expression that tells too many values apart.
pub fn cut<'a>(
    evaluator: &mut Evaluator<'_, 'a>,
    roots: &Roots<'a>,
    known: &FxHashMap<InputId, Vec<Value>>,
) -> Result<Vec<OpenInput<'a>>, Diagnostics> {
    let inputs = evaluator.inputs;
    let mut finder = Finder { evaluator, visited: FxHashSet::default(), probes: FxHashMap::default() };
    roots.conditions.iter().for_each(|&node| finder.expression(node, true));
    let mut probes = finder.probes;
    let itself = roots.inputs.iter().map(|&input| (input, Probe::Itself));
    for (input, probe) in itself.chain(roots.features.iter().map(|&input| (input, Probe::Feature))) {
        probes.entry(input).or_default().push(probe);
    }
    let mut diagnostics = Diagnostics::default();
    let mut open = Vec::new();
    for (input, declaration) in inputs.declarations.iter() {
        if !evaluator.is_open(input) {
            continue;
        }
        let known = known.get(&input).map_or(&[][..], Vec::as_slice);
        let probes = probes.get(&input).map_or(&[][..], Vec::as_slice);
        let cutter = Cutter { evaluator: &mut *evaluator, input, declaration, probes, known };
        open.extend(diagnostics.ok(cutter.cut()));
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(open) }
}

/// Finds probes.
struct Finder<'f, 'e, 'a> {
    evaluator: &'f Evaluator<'e, 'a>,
    visited: FxHashSet<(usize, bool)>,
    probes: FxHashMap<InputId, Vec<Probe<'a>>>,
}

impl<'a> Finder<'_, '_, 'a> {
    fn expression(&mut self, node: Node<'a>, logical: bool) {
        match node.kind() {
            NodeKind::Scalar => {}
            NodeKind::Sequence => node.items().for_each(|item| self.expression(item, logical)),
            NodeKind::Mapping => {
                for (keyword, operand) in node.entries() {
                    self.operator(node, keyword, operand, logical);
                }
            }
        }
    }

    fn operator(&mut self, node: Node<'a>, keyword: Node<'a>, operand: Node<'a>, logical: bool) {
        let name = keyword.text().unwrap_or_default();
        let depends = self.evaluator.dependencies_of(keyword, operand);
        match depends.inputs[..] {
            [] => {}
            [input] if depends.by_value => {
                let probe = if logical { Probe::Condition(node) } else { Probe::Value(node) };
                self.probes.entry(input).or_default().push(probe);
            }
            _ if name == "logic_expression" || name == "value_expression" => {
                let Ok(index) = self.evaluator.expression_index(operand) else { return };
                if self.visited.insert((index, logical)) {
                    let (_, body) = self.evaluator.graph.template.variability.expressions[index];
                    self.expression(body, logical || name == "logic_expression");
                }
            }
            _ => self.expression(operand, is_logical(name)),
        }
    }
}

/// One end of a range of values, as text: nothing where it is open, else whether the end belongs to it.
type End = Option<(String, bool)>;

/// A value that stands for others.
struct Candidate {
    value: Value,
    /// Where it lies among values that are ordered.
    range: Option<(End, End)>,
    /// Whether it stands for whatever is not named.
    other: bool,
}

impl Candidate {
    fn exact(value: Value) -> Self {
        Self { value, range: None, other: false }
    }

    /// Whether it stands for itself alone.
    fn is_exact(&self) -> bool {
        !self.other && self.range.as_ref().is_none_or(|(low, high)| low.is_some() && low == high)
    }

    fn other(value: Value) -> Self {
        Self { value, range: None, other: true }
    }
}

/// What an input is compared with.
#[derive(Default)]
struct Cuts {
    values: Vec<Value>,
    lengths: Vec<usize>,
    ordered: bool,
    dates: bool,
}

/// Cuts one input.
struct Cutter<'c, 'e, 'a> {
    evaluator: &'c mut Evaluator<'e, 'a>,
    input: InputId,
    declaration: &'c Declaration<'a>,
    probes: &'c [Probe<'a>],
    known: &'c [Value],
}

impl<'a> Cutter<'_, '_, 'a> {
    fn cut(self) -> Result<OpenInput<'a>, Diagnostic> {
        let (finite, candidates) = match self.finite() {
            Some(values) => (true, values.into_iter().map(Candidate::exact).collect()),
            None if self.probes.is_empty() => {
                let example = self.candidates(&Cuts::default())?.into_iter().find(|candidate| self.is_valid(&candidate.value));
                let value = self.known.iter().find(|value| self.is_valid(value)).cloned();
                let value = value.or(example.map(|example| example.value));
                return Ok(self.opened(vec![InputCase { value, label: "any".into(), exact: false }], Vec::new()));
            }
            None => {
                let cuts = self.cuts()?;
                (false, self.candidates(&cuts)?)
            }
        };
        let valid: Vec<_> = candidates.into_iter().filter(|candidate| self.is_valid(&candidate.value)).collect();
        if valid.is_empty() {
            let message = format!("no value is known that input `{}` may have", self.declaration.name);
            let error = Diagnostic::error(Code::OpenInput, message).at(self.declaration.span);
            return Err(error.help("declare a valid `default`, or assign it with `--input`"));
        }
        let mut classes: Vec<(Outcomes, Vec<usize>)> = Vec::new();
        for (index, candidate) in valid.iter().enumerate() {
            let outcomes = outcomes(self.evaluator, self.input, self.probes, &candidate.value);
            match classes.iter_mut().find(|(other, _)| *other == outcomes) {
                Some((_, members)) => members.push(index),
                None => classes.push((outcomes, vec![index])),
            }
        }
        let single = classes.len() == 1 && !finite;
        let case = |(_, members): &(_, Vec<usize>)| InputCase {
            value: self.example(&valid, members),
            label: if single { "any".into() } else { label(&valid, members) },
            exact: members.len() == 1 && members.iter().all(|&member| valid[member].is_exact()),
        };
        let cases = classes.iter().map(case).collect();
        Ok(self.opened(cases, classes.into_iter().map(|(outcomes, _)| outcomes).collect()))
    }

    fn opened(&self, cases: Vec<InputCase>, outcomes: Vec<Outcomes>) -> OpenInput<'a> {
        OpenInput { input: self.input, span: self.declaration.span, cases, probes: self.probes.to_vec(), outcomes }
    }

    fn is_valid(&self, value: &Value) -> bool {
        self.declaration.problems(value).is_empty()
    }

    /// The value by which a case is known: one that somebody uses already, else the first.
    fn example(&self, candidates: &[Candidate], members: &[usize]) -> Option<Value> {
        let values = || members.iter().map(|&index| &candidates[index].value);
        self.known.iter().find(|known| values().any(|value| value == *known)).or_else(|| values().next()).cloned()
    }

    /// All values, where there are few.
    fn finite(&self) -> Option<Vec<Value>> {
        let declaration = self.declaration;
        if declaration.kind == InputType::Boolean {
            return Some(vec![false.into(), true.into()]);
        }
        if let Some(values) = declaration.constraints.iter().find_map(|constraint| constraint.values()) {
            return Some(values.to_vec());
        }
        if declaration.kind != InputType::Integer || self.probes.iter().all(|probe| self.comparison(*probe).is_some()) {
            return None;
        }
        let bounds: Vec<i64> = self.bounds().iter().filter_map(|bound| bound.as_int()).collect();
        let (&low, &high) = (bounds.iter().min()?, bounds.iter().max()?);
        let beyond = [low.checked_sub(1)?, high.checked_add(1)?];
        let closed = beyond.into_iter().all(|value| !self.is_valid(&value.into()));
        (closed && high - low < MAX_VALUES).then(|| (low..=high).map(Value::from).collect())
    }

    /// The numbers in the constraints of the input.
    fn bounds(&self) -> Vec<&Number> {
        let bounds = self.declaration.constraints.iter().flat_map(|constraint| constraint.bounds());
        bounds.filter_map(|bound| if let Value::Number(number) = bound { Some(number) } else { None }).collect()
    }

    /// The constants that probes compare the input with.
    fn cuts(&self) -> Result<Cuts, Diagnostic> {
        let mut cuts = Cuts::default();
        for probe in self.probes {
            let found = self.comparison(*probe).ok_or_else(|| self.uncuttable(probe))?;
            cuts.values.extend(found.values);
            cuts.lengths.extend(found.lengths);
            cuts.ordered |= found.ordered;
            cuts.dates |= found.dates;
        }
        Ok(cuts)
    }

    fn uncuttable(&self, probe: &Probe<'a>) -> Diagnostic {
        let name = self.declaration.name;
        let message = format!("the values of input `{name}` cannot be told apart here, so it cannot stay open");
        let span = match probe {
            Probe::Condition(node) | Probe::Value(node) => node.span(),
            Probe::Itself | Probe::Feature => self.declaration.span,
        };
        Diagnostic::error(Code::OpenInput, message)
            .at(span)
            .label(self.declaration.span, "declared here")
            .help(format!("assign it with `--input {name}=VALUE` or a preset, or list its `valid_values`"))
    }

    /// What a probe compares the input with; nothing where it does something else with it.
    fn comparison(&self, probe: Probe<'a>) -> Option<Cuts> {
        let truth = || Cuts { values: vec![0.into()], ..Cuts::default() };
        let (node, logical) = match probe {
            Probe::Condition(node) => (node, true),
            Probe::Value(node) => (node, false),
            Probe::Itself | Probe::Feature => return Some(truth()),
        };
        let (keyword, operand) = node.entries().next()?;
        let name = keyword.text()?;
        match name {
            "variability_input" => logical.then(truth),
            "logic_expression" | "value_expression" => {
                let index = self.evaluator.expression_index(operand).ok()?;
                let (_, body) = self.evaluator.graph.template.variability.expressions[index];
                self.comparison(if logical { Probe::Condition(body) } else { Probe::Value(body) })
            }
            _ => self.operator_cuts(Operator::from_keyword(name)?, operand),
        }
    }

    fn operator_cuts(&self, operator: Operator, operand: Node<'a>) -> Option<Cuts> {
        use Operator::{
            After, AfterOrSame, Before, BeforeOrSame, Equal, Greater, GreaterOrEqual, InRange, Length, Less, LessOrEqual,
            MaxLength, MinLength, Same, ValidValues, Within,
        };
        let mut values = Vec::new();
        for item in operand.items().filter(|item| !self.is_input(*item)) {
            match self.constant(item)? {
                Value::List(items) if matches!(operator, InRange | ValidValues | Within) => values.extend(items.iter().cloned()),
                value => values.push(value),
            }
        }
        match operator {
            Equal | ValidValues => Some(Cuts { values, ..Cuts::default() }),
            Greater | GreaterOrEqual | Less | LessOrEqual | InRange => Some(Cuts { values, ordered: true, ..Cuts::default() }),
            Same | Before | BeforeOrSame | After | AfterOrSame | Within => {
                Some(Cuts { values, ordered: true, dates: true, ..Cuts::default() })
            }
            Length | MinLength | MaxLength => {
                let length =
                    |value: &Value| if let Value::Number(length) = value { length.as_int()?.try_into().ok() } else { None };
                Some(Cuts { lengths: values.iter().map(length).collect::<Option<_>>()?, ..Cuts::default() })
            }
            _ => None,
        }
    }

    /// Whether an operand is the input itself.
    fn is_input(&self, node: Node<'a>) -> bool {
        let mut entries = node.entries();
        match (entries.next().map(|(keyword, operand)| (keyword.text(), operand)), entries.next()) {
            (Some((Some("variability_input"), _)), None) => true,
            (Some((Some("value_expression"), operand)), None) => self
                .evaluator
                .expression_index(operand)
                .is_ok_and(|index| self.is_input(self.evaluator.graph.template.variability.expressions[index].1)),
            _ => false,
        }
    }

    /// The value of an operand that does not depend on open inputs.
    fn constant(&self, node: Node<'a>) -> Option<Value> {
        match node.kind() {
            NodeKind::Scalar => Some(node.to_value()),
            NodeKind::Sequence => {
                let items: Vec<_> = node.items().map(|item| self.constant(item)).collect::<Option<_>>()?;
                Some(items.into())
            }
            NodeKind::Mapping => None,
        }
    }

    /// Values of which, together, nothing is missed.
    fn candidates(&self, cuts: &Cuts) -> Result<Vec<Candidate>, Diagnostic> {
        let known = self.known.iter().map(|value| Candidate::other(value.clone()));
        let mut found: Vec<Candidate> = Vec::new();
        let numeric = matches!(self.declaration.kind, InputType::Integer | InputType::Float | InputType::Number);
        if numeric
            || (self.declaration.kind == InputType::Any && cuts.values.iter().any(|value| matches!(value, Value::Number(_))))
        {
            found.extend(self.numbers(cuts));
        }
        if numeric {
            return Ok(found);
        }
        if self.declaration.kind == InputType::Any {
            found.extend([false, true].map(|value| Candidate::exact(value.into())));
        }
        if cuts.dates {
            found.extend(dates(&cuts.values));
        } else if cuts.ordered {
            found.extend(self.ordered_texts(cuts)?);
        }
        found.extend(cuts.values.iter().filter(|value| !matches!(value, Value::Number(_))).cloned().map(Candidate::exact));
        found.extend(known);
        found.extend(self.fresh(cuts).map(Candidate::other));
        Ok(found)
    }

    /// Each number that counts, one between each two, and one beyond them.
    fn numbers(&self, cuts: &Cuts) -> Vec<Candidate> {
        let constants =
            cuts.values.iter().filter_map(|value| if let Value::Number(number) = value { Some(number) } else { None });
        let mut points: Vec<&Number> = constants.chain(self.bounds()).collect();
        points.sort_by(|a, b| a.as_f64().total_cmp(&b.as_f64()));
        points.dedup_by(|a, b| a == b);
        let whole = self.declaration.kind == InputType::Integer;
        let Some((first, last)) = points.first().zip(points.last()) else { return vec![Candidate::exact(0.into())] };
        let mut found = Vec::new();
        let mut between = |low: Option<&Number>, high: Option<&Number>| found.extend(gap(low, high, whole));
        between(None, Some(first));
        for pair in points.windows(2) {
            found_point(pair[0], whole, &mut between);
            between(Some(pair[0]), Some(pair[1]));
        }
        found_point(last, whole, &mut between);
        between(Some(last), None);
        found
    }

    /// Each text that counts, one between each two, and one beyond them.
    fn ordered_texts(&self, cuts: &Cuts) -> Result<Vec<Candidate>, Diagnostic> {
        use super::operators::compare;
        let mut points: Vec<&Value> = cuts.values.iter().filter(|value| value.as_str().is_some()).collect();
        points.sort_by(|a, b| compare(a, b).unwrap_or(std::cmp::Ordering::Equal));
        points.dedup();
        let text = |value: &Value| value.to_string();
        let end = |value: &&Value| Some((value.to_string(), false));
        let mut found = Vec::new();
        let version = points.iter().any(|value| value.as_str().is_some_and(super::operators::is_version));
        let Some((&first, &last)) = points.first().zip(points.last()) else { return Ok(found) };
        let below = if version { "0.0" } else { "" };
        found.push(Candidate { value: below.into(), range: Some((None, end(&first))), other: false });
        let mut previous: Option<&Value> = None;
        for &point in points.iter().chain([&last]) {
            if let Some(low) = previous {
                let high = (low != point).then_some(point);
                let suffixes = if version { [".1", ".0.1", "0.0"] } else { ["!", "0", "~"] };
                let above = suffixes.into_iter().map(|suffix| Value::from(format!("{}{suffix}", text(low)))).find(|value| {
                    compare(value, low).is_some_and(|order| order.is_gt())
                        && high.is_none_or(|high| compare(value, high).is_some_and(|order| order.is_lt()))
                });
                let value = above.ok_or_else(|| self.uncuttable(&Probe::Itself))?;
                found.push(Candidate { value, range: Some((end(&low), high.as_ref().and_then(end))), other: false });
            }
            if previous != Some(point) {
                let own = Some((text(point), true));
                found.push(Candidate { value: point.clone(), range: Some((own.clone(), own)), other: false });
            }
            previous = Some(point);
        }
        Ok(found)
    }

    /// Values that nothing names, of the lengths that count.
    fn fresh(&self, cuts: &Cuts) -> impl Iterator<Item = Value> {
        let sized =
            self.declaration.constraints.iter().filter_map(|constraint| constraint.size()).chain(cuts.lengths.iter().copied());
        let mut lengths: Vec<usize> = sized
            .flat_map(|length| [length.saturating_sub(1), length, length.saturating_add(1)])
            .filter(|&length| length < 4096)
            .collect();
        lengths.sort_unstable();
        lengths.dedup();
        let kind = self.declaration.kind;
        let entry = entry_of(self.declaration.entries);
        let samples: Vec<Value> = match kind {
            InputType::List => lengths.iter().chain(&[0, 1]).map(|&length| vec![entry.clone(); length].into()).collect(),
            InputType::Map => {
                let entries = |length: usize| (0..length).map(|key| (format!("key{key}").into(), entry.clone())).collect();
                lengths.iter().chain(&[0, 1]).map(|&length| Value::Map(entries(length))).collect()
            }
            InputType::Timestamp => vec!["2000-01-01".into(), "2000-01-02".into()],
            InputType::Version => ["1.0", "1.0.1", "99.0"].map(Value::from).to_vec(),
            InputType::Range => vec![vec![Value::from(0), Value::from(1)].into()],
            InputType::ScalarUnit(_) => {
                ["1 B", "1 MB", "1 s", "1 ms", "1 Hz", "1 GHz", "1 bps", "1 Mbps"].map(Value::from).to_vec()
            }
            _ => {
                let words = ["other", "another", "x", "a-b", "0"].map(String::from).into_iter();
                words.chain(lengths.iter().map(|&length| "x".repeat(length))).map(Value::from).collect()
            }
        };
        let named: Vec<Value> = cuts.values.clone();
        samples.into_iter().filter(move |sample| !named.contains(sample))
    }
}

fn entry_of(kind: InputType) -> Value {
    match kind {
        InputType::Integer | InputType::Float | InputType::Number => 0.into(),
        InputType::Boolean => false.into(),
        _ => "x".into(),
    }
}

/// A value read as logic, where it can be.
fn truth_of(value: Value) -> Value {
    match value {
        Value::Number(number) => (number.as_f64() > 0.0).into(),
        Value::String(_) => true.into(),
        value => value,
    }
}

/// The point itself: a gap from it to it.
fn found_point<'n>(point: &'n Number, whole: bool, add: &mut impl FnMut(Option<&'n Number>, Option<&'n Number>)) {
    if !whole || point.as_int().is_some() {
        add(Some(point), Some(point));
    }
}

/// A number between two others, or the number itself where both are the same.
fn gap(low: Option<&Number>, high: Option<&Number>, whole: bool) -> Option<Candidate> {
    let (from, to) = (low.map(Number::as_f64), high.map(Number::as_f64));
    if let (Some(point), true) = (low, low == high) {
        let end = Some((point.to_string(), true));
        return Some(Candidate { value: Value::Number(point.clone()), range: Some((end.clone(), end)), other: false });
    }
    let text = |number: f64| Number::float(number).to_string();
    let (value, range) = if whole {
        let (least, most) = (from.map(|low| low.floor() + 1.0), to.map(|high| high.ceil() - 1.0));
        if least.zip(most).is_some_and(|(least, most)| least > most) {
            return None;
        }
        let end = |end: Option<f64>| end.map(|end| (text(end), true));
        (least.or(most)?, (end(least), end(most)))
    } else {
        let value = match (from, to) {
            (Some(low), Some(high)) => low + (high - low) / 2.0,
            (low, high) => low.map(|low| low + 1.0).or(high.map(|high| high - 1.0))?,
        };
        let end = |end: Option<&Number>| end.map(|end| (end.to_string(), false));
        (value, (end(low), end(high)))
    };
    Some(Candidate { value: Value::Number(Number::float(value)), range: Some(range), other: false })
}

/// Each date that counts, one between each two, and one beyond them.
fn dates(values: &[Value]) -> Vec<Candidate> {
    let mut points: Vec<_> = values.iter().filter_map(|value| Some((instant(value)?, value))).collect();
    points.sort_by_key(|(instant, _)| *instant);
    points.dedup_by_key(|(instant, _)| *instant);
    let second = jiff::SignedDuration::from_secs(1);
    let exclusive = |value: &Value| Some((value.to_string(), false));
    let mut found = Vec::new();
    let mut add = |at: Option<jiff::Timestamp>, low: End, high: End| {
        found.extend(at.map(|at| Candidate { value: at.to_string().into(), range: Some((low, high)), other: false }));
    };
    for (index, (at, value)) in points.iter().enumerate() {
        match index.checked_sub(1).and_then(|before| points.get(before)) {
            None => add(at.checked_sub(second).ok(), None, exclusive(value)),
            Some((before, low)) => {
                let half = at.duration_since(*before).checked_div(2).and_then(|half| before.checked_add(half).ok());
                add(half, exclusive(low), exclusive(value));
            }
        }
        let own = Some((value.to_string(), true));
        add(Some(*at), own.clone(), own);
    }
    if let Some((at, value)) = points.last() {
        add(at.checked_add(second).ok(), exclusive(value), None);
    }
    found
}

/// More than so many values are not listed.
const LISTED: usize = 4;

/// What the members of a case have in common, for people.
fn label(candidates: &[Candidate], members: &[usize]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = members;
    while let Some((&first, _)) = rest.split_first() {
        let run =
            rest.iter().zip(first..).take_while(|&(&member, expected)| member == expected && candidates[member].range.is_some());
        let run = run.count().max(1);
        let (own, others) = rest.split_at(run);
        rest = others;
        parts.push(match (&candidates[first].range, own.last().and_then(|&last| candidates[last].range.as_ref())) {
            (Some((low, _)), Some((_, high))) => range_label(low, high),
            _ if candidates[first].other => "something else".into(),
            _ => candidates[first].value.to_string(),
        });
    }
    // What is not named swallows what is known and like it.
    if parts.iter().any(|part| part == "something else") && parts.len() > 1 {
        parts.retain(|part| part != "something else");
        parts.push("something else".into());
    }
    if let Some(more) = parts.len().checked_sub(LISTED).filter(|&more| more > 0) {
        parts.truncate(LISTED);
        parts.push(format!("{more} more"));
    }
    parts.join(", ")
}

fn range_label(low: &End, high: &End) -> String {
    match (low, high) {
        (None, None) => "any".into(),
        (Some((low, true)), None) => format!("≥ {low}"),
        (Some((low, false)), None) => format!("> {low}"),
        (None, Some((high, true))) => format!("≤ {high}"),
        (None, Some((high, false))) => format!("< {high}"),
        (Some((low, true)), Some((high, true))) if low == high => low.clone(),
        (Some((low, true)), Some((high, true))) => format!("{low} … {high}"),
        (low, high) => format!("{} and {}", range_label(low, &None), range_label(&None, high)),
    }
}
