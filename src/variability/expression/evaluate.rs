//! Evaluates expressions: values as far as inputs reach, formulas from there on.

use super::cases::OpenInput;
use super::dependencies::Memo;
use super::operators::Operator;
use super::validate::{each_reference, not_one_operator, unknown_operator};
use crate::sat::formula::{Arena, Atom, Formula};
use crate::text::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::text::source::Span;
use crate::text::value::Value;
use crate::text::yaml::{Node, NodeKind};
use crate::tosca::types::TypeHierarchy;
use crate::variability::clock::Clock;
use crate::variability::graph::index::Index;
use crate::variability::graph::{ElementId, Graph};
use crate::variability::inputs::{InputId, InputValue, Inputs};
use crate::variability::presence::Presence;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::rc::Rc;

/// What an expression evaluates to.
#[derive(Clone, Debug)]
pub enum Evaluated {
    /// A value.
    Value(Value),
    /// One value or another, as open inputs are decided.
    Cases(Rc<[Case]>),
    /// A boolean that depends on what is present.
    Logic(Formula),
}

/// What an expression comes to in some of the cases of open inputs; of the cases of one expression,
/// exactly one holds.
#[derive(Clone, Debug)]
pub struct Case {
    /// When: a formula over atoms of inputs.
    pub when: Formula,
    /// Its value, or why it has none.
    pub outcome: Result<Value, Diagnostic>,
}

/// The cases of an open input: when it has which value.
pub type InputCases = Rc<[(Formula, Value)]>;

/// More combinations of cases than this are too many to go through for one expression.
const MAX_COMBINATIONS: usize = 4096;

/// How deep named expressions and inputs are evaluated one for the other; within the stack.
pub(super) const MAX_DEPTH: usize = 256;

/// From this depth on, what a named expression needs is evaluated before it rather than for it.
const DEEP: usize = MAX_DEPTH / 2;

/// Evaluates the expressions of one template under one assignment of inputs.
pub struct Evaluator<'e, 'a> {
    /// The elements.
    pub graph: &'e Graph<'a>,
    /// The types.
    pub types: &'e TypeHierarchy<'a>,
    /// The formulas.
    pub arena: Arena,
    pub(super) inputs: &'e Inputs<'a>,
    now: Option<&'e Clock>,
    expressions: Index<'a>,
    /// Results of those named expressions that mean the same for every user.
    shared: Vec<Option<(Evaluated, Vec<Failure>)>>,
    /// Results of the others, once for each user.
    memo: FxHashMap<(usize, ElementId), (Evaluated, Vec<Failure>)>,
    input_memo: FxHashMap<InputId, Value>,
    /// How many named expressions and inputs are being evaluated, one for the other.
    depth: usize,
    /// Whether what is evaluated is needed later only.
    preparing: bool,
    /// Whether the expression at hand mentions SELF and the like.
    mentions_context: bool,
    manual: Vec<Option<Formula>>,
    /// One for each element, and one for each manual formula that was needed before it was known.
    atoms: u32,
    /// What is present, once that is solved.
    presence: Option<&'e Presence>,
    /// The cases of open inputs.
    cases: FxHashMap<InputId, InputCases>,
    /// The atoms that those cases are made of.
    input_atoms: Range<u32>,
    /// What expressions depend on.
    pub(super) dependencies: Memo,
    /// Values of open inputs that an expression is evaluated with at the moment.
    assumed: FxHashMap<InputId, Value>,
    /// Results of named expressions with these values.
    assumed_memo: FxHashMap<(usize, Option<ElementId>), Evaluated>,
    /// Where open inputs have values with which a condition that matters cannot be computed.
    failures: Vec<Failure>,
}

/// When an expression has no value, and why.
pub type Failure = (Formula, Diagnostic);

impl<'e, 'a> Evaluator<'e, 'a> {
    /// An evaluator for a graph and its inputs; without a clock, expressions that ask for it are
    /// errors.
    pub fn new(
        graph: &'e Graph<'a>,
        types: &'e TypeHierarchy<'a>,
        inputs: &'e Inputs<'a>,
        now: Option<&'e Clock>,
    ) -> Self {
        let names = graph
            .template
            .variability
            .expressions
            .iter()
            .map(|(key, _)| key.text().unwrap_or_default());
        Self {
            graph,
            types,
            arena: Arena::with_room(graph.elements.len()),
            inputs,
            now,
            // They are keys of a map.
            expressions: Index::of(names, true),
            shared: vec![None; graph.template.variability.expressions.len()],
            memo: FxHashMap::default(),
            input_memo: FxHashMap::default(),
            depth: 0,
            preparing: false,
            mentions_context: false,
            manual: vec![None; graph.elements.len()],
            atoms: graph.elements.len() as u32,
            presence: None,
            cases: FxHashMap::default(),
            input_atoms: 0..0,
            dependencies: Memo::default(),
            assumed: FxHashMap::default(),
            assumed_memo: FxHashMap::default(),
            failures: Vec::new(),
        }
    }

    /// Gives open inputs their cases, an atom or more each; returns when each case holds, input by
    /// input.
    pub fn open(&mut self, inputs: &[OpenInput<'_>]) -> Vec<Vec<Formula>> {
        let start = self.atoms;
        let cases = inputs.iter().map(|open| self.open_input(open)).collect();
        self.input_atoms = start..self.atoms;
        cases
    }

    /// The atoms that the cases of open inputs are made of.
    pub fn input_atoms(&self) -> Range<u32> {
        self.input_atoms.clone()
    }

    /// Two cases are an atom and its negation; of more, each has an atom of its own.
    fn open_input(&mut self, open: &OpenInput<'_>) -> Vec<Formula> {
        let mut atom = || {
            self.atoms += 1;
            self.arena.atom(Atom(self.atoms - 1))
        };
        let when = match open.cases.len() {
            1 => vec![Formula::TRUE],
            2 => {
                let second = atom();
                vec![!second, second]
            }
            count => (0..count).map(|_| atom()).collect(),
        };
        let values = when
            .iter()
            .zip(&open.cases)
            .filter_map(|(&when, case)| Some((when, case.value.clone()?)));
        self.cases.insert(open.input, values.collect());
        when
    }

    /// What an expression comes to, case by case.
    ///
    /// # Errors
    /// As [`Evaluator::value`].
    pub fn value_cases(&mut self, node: Node<'a>) -> Result<Vec<Case>, Diagnostic> {
        match self.evaluate(node, None)? {
            Evaluated::Value(value) => Ok(vec![Case { when: Formula::TRUE, outcome: Ok(value) }]),
            Evaluated::Cases(cases) => Ok(cases.to_vec()),
            Evaluated::Logic(formula) => Ok([true, false]
                .map(|value| Case {
                    when: if value { formula } else { !formula },
                    outcome: Ok(value.into()),
                })
                .into()),
        }
    }

    /// The cases of an input, if it is open.
    pub fn cases_of(&self, input: InputId) -> Option<InputCases> {
        self.cases.get(&input).cloned()
    }

    /// Where conditions cannot be computed, so that inputs may not have these values.
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// From now on presence is known, so that every expression has a value.
    pub fn decide(&mut self, presence: &'e Presence) {
        self.presence = Some(presence);
        self.shared.fill(None);
        self.memo.clear();
    }

    /// The presence of an element.
    pub fn atom(&mut self, id: ElementId) -> Formula {
        self.arena.atom(id.into())
    }

    /// The conjunction of what the author says about an element.
    pub fn manual(&mut self, id: ElementId) -> Formula {
        let index = id.0 as usize;
        if let Some(formula) = self.manual[index] {
            return formula;
        }
        // An atom of its own stands for what is not known yet.
        let formula = self.arena.atom(Atom(self.atoms));
        self.atoms += 1;
        self.manual[index] = Some(formula);
        formula
    }

    /// Says what the manual formula of an element is; the atom that stood for it, if it was needed
    /// before.
    pub fn set_manual(&mut self, id: ElementId, formula: Formula) -> Option<Formula> {
        let known = self.manual[id.0 as usize].replace(formula);
        // Whoever asked before holds the atom, so later users may have the formula itself.
        known.filter(|&atom| atom != formula)
    }

    /// The number of atoms: one for each element, and one for each manual formula that was needed
    /// before it was known.
    pub fn atoms(&self) -> u32 {
        self.atoms
    }

    /// Expressions that have to hold together: one, or a list of them.
    ///
    /// # Errors
    /// As [`Evaluator::condition`].
    pub fn conditions(
        &mut self,
        node: Node<'a>,
        context: Option<ElementId>,
    ) -> Result<Vec<(Formula, Node<'a>)>, Diagnostic> {
        let list = node.kind() == NodeKind::Sequence;
        self.until(node.items().chain((!list).then_some(node)), context, Formula::FALSE)
    }

    /// An expression read as logic: a boolean as it is, a number when it is more than 0, a string
    /// always.
    ///
    /// # Errors
    /// What is wrong with the expression, at its place.
    pub fn condition(
        &mut self,
        node: Node<'a>,
        context: Option<ElementId>,
    ) -> Result<Formula, Diagnostic> {
        if let Some(identifier) = node.as_str() {
            let element = self.graph.by_identifier(identifier);
            return element
                .map(|element| self.atom(element))
                .ok_or_else(|| self.no_condition(node, identifier));
        }
        match self.evaluate(node, context)? {
            Evaluated::Logic(formula) => Ok(formula),
            Evaluated::Value(value) => constant(&value, node.span()),
            Evaluated::Cases(cases) => self.true_cases(&cases, node.span()),
        }
    }

    /// The cases in which a value is true; those in which it is no condition fail, and if all do
    /// that is an error.
    fn true_cases(&mut self, cases: &[Case], span: Span) -> Result<Formula, Diagnostic> {
        let mut holds = Vec::new();
        let mut failed = Vec::new();
        for case in cases {
            match case.outcome.clone().and_then(|value| constant(&value, span)) {
                Ok(Formula::TRUE) => holds.push(case.when),
                Ok(_) => {}
                Err(error) => failed.push((case.when, error)),
            }
        }
        if failed.len() == cases.len()
            && let Some((_, error)) = failed.pop()
        {
            return Err(error);
        }
        self.failures.extend(failed);
        Ok(self.arena.or(holds))
    }

    fn no_condition(&self, node: Node<'_>, written: &str) -> Diagnostic {
        let guess = self.graph.closest_identifier(written);
        let help = "a condition is `true`, `false`, an expression such as `{node_presence: shop}`, or an identifier such as `node.shop`";
        let error =
            Diagnostic::error(Code::InvalidExpression, format!("`{written}` is not a condition"))
                .at(node.span());
        error.help(help).help_opt(guess)
    }

    /// The value of an expression.
    ///
    /// # Errors
    /// As [`Evaluator::condition`]; also where the value depends on what is present, before that is
    /// solved.
    pub fn value(
        &mut self,
        node: Node<'a>,
        context: Option<ElementId>,
    ) -> Result<Value, Diagnostic> {
        match self.evaluate(node, context)? {
            Evaluated::Value(value) => Ok(value),
            Evaluated::Cases(_) => {
                let message = "this depends on inputs that have no value";
                Err(Diagnostic::error(Code::OpenInput, message).at(node.span()).help("assign them"))
            }
            Evaluated::Logic(_) => Err(depends_on_presence(node.span())),
        }
    }

    fn evaluate(
        &mut self,
        node: Node<'a>,
        context: Option<ElementId>,
    ) -> Result<Evaluated, Diagnostic> {
        match node.kind() {
            NodeKind::Scalar => Ok(Evaluated::Value(node.to_value())),
            NodeKind::Sequence => {
                let items = node
                    .items()
                    .map(|item| self.value(item, context))
                    .collect::<Result<Vec<_>, _>>()?;
                Ok(Evaluated::Value(items.into()))
            }
            NodeKind::Mapping => {
                let mut entries = node.entries();
                match (entries.next(), entries.next()) {
                    (Some((keyword, operand)), None) => self.operator(keyword, operand, context),
                    _ => Err(not_one_operator(node)),
                }
            }
        }
    }

    fn operator(
        &mut self,
        keyword: Node<'a>,
        operand: Node<'a>,
        context: Option<ElementId>,
    ) -> Result<Evaluated, Diagnostic> {
        if !self.cases.is_empty() && self.assumed.is_empty() {
            let depends = self.dependencies_of(keyword, operand);
            if depends.by_value && !depends.open.is_empty() {
                return self.by_cases(&depends.open, keyword, operand, context);
            }
        }
        self.evaluate_operator(keyword, operand, context)
    }

    /// Evaluates an expression once for each combination of the cases of these inputs.
    fn by_cases(
        &mut self,
        inputs: &[InputId],
        keyword: Node<'a>,
        operand: Node<'a>,
        context: Option<ElementId>,
    ) -> Result<Evaluated, Diagnostic> {
        let mut rows: Vec<(Formula, Vec<Value>)> = vec![(Formula::TRUE, Vec::new())];
        for input in inputs {
            let Some(cases) = self.cases.get(input).cloned() else {
                return Err(self.missing(*input, operand.span()));
            };
            if rows.len() * cases.len() > MAX_COMBINATIONS {
                let message = format!(
                    "this depends on more than {MAX_COMBINATIONS} combinations of open inputs"
                );
                let error = Diagnostic::error(Code::OpenInput, message).at(keyword.span());
                return Err(error.help("assign some of them with `--input` or a preset"));
            }
            let product = rows.iter().flat_map(|(when, values)| {
                cases.iter().map(move |(case, value)| {
                    (*when, *case, values.iter().chain([value]).cloned().collect())
                })
            });
            let product: Vec<(Formula, Formula, Vec<Value>)> = product.collect();
            rows = product
                .into_iter()
                .map(|(when, case, values)| (self.arena.and([when, case]), values))
                .collect();
        }
        let mut found: Vec<(Vec<Formula>, Result<Value, Diagnostic>)> = Vec::new();
        for (when, values) in rows {
            let assumed = inputs.iter().copied().zip(values);
            let outcome = match self
                .assuming(assumed, |this| this.evaluate_operator(keyword, operand, context))
            {
                Ok(Evaluated::Value(value)) => Ok(value),
                Ok(_) => Err(depends_on_presence(operand.span())),
                Err(error) => Err(error),
            };
            match found.iter_mut().find(|(_, other)| *other == outcome) {
                Some((whens, _)) => whens.push(when),
                None => found.push((vec![when], outcome)),
            }
        }
        if let [(_, outcome)] = &found[..] {
            return outcome.clone().map(Evaluated::Value);
        }
        let cases =
            found.into_iter().map(|(whens, outcome)| Case { when: self.arena.or(whens), outcome });
        Ok(Evaluated::Cases(cases.collect()))
    }

    /// The value of an expression where open inputs have these values.
    ///
    /// # Errors
    /// As [`Evaluator::value`].
    pub(super) fn value_where(
        &mut self,
        node: Node<'a>,
        assumed: impl IntoIterator<Item = (InputId, Value)>,
    ) -> Result<Value, Diagnostic> {
        self.assuming(assumed, |this| this.value(node, None))
    }

    fn assuming<T>(
        &mut self,
        assumed: impl IntoIterator<Item = (InputId, Value)>,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.assumed = assumed.into_iter().collect();
        let result = run(self);
        self.assumed.clear();
        self.assumed_memo.clear();
        result
    }

    fn evaluate_operator(
        &mut self,
        keyword: Node<'a>,
        operand: Node<'a>,
        context: Option<ElementId>,
    ) -> Result<Evaluated, Diagnostic> {
        let name = keyword.text().unwrap_or_default();
        match name {
            "variability_input" => return self.input(operand).map(Evaluated::Value),
            "logic_expression" => return self.named(operand, true, context),
            "value_expression" => return self.named(operand, false, context),
            _ => {}
        }
        let formula = match self.logical(name, operand, context) {
            Some(formula) => Some(formula),
            None => self.presence_operator(name, operand, context),
        };
        match formula {
            Some(formula) => Ok(self.decided(formula?)),
            None => self.value_operator(keyword, operand, context),
        }
    }

    /// A formula that is constant, or whose atoms are decided, is a value.
    fn decided(&self, formula: Formula) -> Evaluated {
        let value = formula.as_constant().or_else(|| {
            self.presence.map(|presence| self.arena.eval(formula, &|atom| presence.holds(atom)))
        });
        value.map_or(Evaluated::Logic(formula), |value| Evaluated::Value(value.into()))
    }

    /// The logical operators ("Logical Operators"); nothing when the keyword is not one.
    fn logical(
        &mut self,
        keyword: &str,
        operand: Node<'a>,
        context: Option<ElementId>,
    ) -> Option<Result<Formula, Diagnostic>> {
        Some(match keyword {
            "and" => self
                .operands_until(operand, context, Formula::FALSE)
                .map(|operands| self.arena.and(operands)),
            "or" => self
                .operands_until(operand, context, Formula::TRUE)
                .map(|operands| self.arena.or(operands)),
            "not" => self.condition(operand, context).map(|formula| !formula),
            "xor" => self.operands(operand, context).map(|operands| self.arena.xor(operands)),
            "exo" => {
                self.operands(operand, context).map(|operands| self.arena.exactly_one(operands))
            }
            "amo" => {
                self.operands(operand, context).map(|operands| self.arena.at_most_one(operands))
            }
            "implies" => self.implication(operand, context),
            _ => return None,
        })
    }

    /// A false premise settles it, so that the conclusion does not matter and needs no inputs.
    fn implication(
        &mut self,
        list: Node<'a>,
        context: Option<ElementId>,
    ) -> Result<Formula, Diagnostic> {
        let mut operands = list.items();
        let (Some(premise), Some(conclusion), None) =
            (operands.next(), operands.next(), operands.next())
        else {
            return Err(Diagnostic::error(Code::InvalidExpression, "`implies` takes two operands")
                .at(list.span()));
        };
        let operands = self.until([premise, conclusion].into_iter(), context, Formula::FALSE)?;
        match operands[..] {
            [(premise, _), (conclusion, _)] => Ok(self.arena.implies(premise, conclusion)),
            _ => Ok(Formula::TRUE),
        }
    }

    fn operands(
        &mut self,
        list: Node<'a>,
        context: Option<ElementId>,
    ) -> Result<Vec<Formula>, Diagnostic> {
        self.check_list(list)?;
        list.items().map(|item| self.condition(item, context)).collect()
    }

    fn operands_until(
        &mut self,
        list: Node<'a>,
        context: Option<ElementId>,
        settled: Formula,
    ) -> Result<Vec<Formula>, Diagnostic> {
        self.check_list(list)?;
        let operands = self.until(list.items(), context, settled)?;
        Ok(operands.into_iter().map(|(formula, _)| formula).collect())
    }

    /// Expressions up to the first that settles the whole: what comes behind it does not matter and
    /// needs no inputs.
    fn until(
        &mut self,
        expressions: impl Iterator<Item = Node<'a>>,
        context: Option<ElementId>,
        settled: Formula,
    ) -> Result<Vec<(Formula, Node<'a>)>, Diagnostic> {
        let mut formulas = Vec::new();
        let mut unsettled = Formula::TRUE;
        for expression in expressions {
            let failed = self.failures.len();
            let formula = match self.condition(expression, context) {
                Ok(formula) => formula,
                // Where inputs settle the whole before, it does not matter that this has no value;
                // nor what comes behind it, where it does.
                Err(error) if unsettled != Formula::TRUE && error.code != Code::OpenInput => {
                    self.failures.push((unsettled, error));
                    break;
                }
                Err(error) => return Err(error),
            };
            for (when, _) in &mut self.failures[failed..] {
                *when = self.arena.and([*when, unsettled]);
            }
            formulas.push((formula, expression));
            if formula == settled {
                break;
            }
            if !self.cases.is_empty() {
                let settles =
                    self.arena.folds_to(formula, settled == Formula::TRUE, &self.input_atoms);
                unsettled = self.arena.and([unsettled, !settles]);
            }
        }
        Ok(formulas)
    }

    fn check_list(&self, list: Node<'_>) -> Result<(), Diagnostic> {
        if list.kind() == NodeKind::Sequence {
            return Ok(());
        }
        let message = format!("the operands are a list, not {}", list.describe());
        Err(Diagnostic::error(Code::InvalidExpression, message)
            .at(list.span())
            .help("write them as `[a, b]`"))
    }

    fn value_operator(
        &mut self,
        keyword: Node<'a>,
        operand: Node<'a>,
        context: Option<ElementId>,
    ) -> Result<Evaluated, Diagnostic> {
        let name = keyword.text().unwrap_or_default();
        let Some(operator) = Operator::from_keyword(name) else {
            return Err(unknown_operator(keyword));
        };
        if name == "equal" && operand.kind() == NodeKind::Sequence {
            return self.equal(operator, operand, context);
        }
        let operands = self.value(operand, context)?;
        self.apply(operator, &operands, operand).map(Evaluated::Value)
    }

    fn apply(
        &self,
        operator: Operator,
        operands: &Value,
        at: Node<'_>,
    ) -> Result<Value, Diagnostic> {
        operator
            .apply(operands, self.now)
            .map_err(|error| Diagnostic::error(Code::InvalidExpression, error.0).at(at.span()))
    }

    /// `equal` may compare presence too: `equal: [{node_presence: a}, true]`.
    fn equal(
        &mut self,
        operator: Operator,
        operand: Node<'a>,
        context: Option<ElementId>,
    ) -> Result<Evaluated, Diagnostic> {
        let operands = operand
            .items()
            .map(|item| self.evaluate(item, context))
            .collect::<Result<Vec<_>, _>>()?;
        let values: Option<Vec<Value>> = operands
            .iter()
            .map(|one| if let Evaluated::Value(value) = one { Some(value.clone()) } else { None })
            .collect();
        if let Some(values) = values {
            return self.apply(operator, &values.into(), operand).map(Evaluated::Value);
        }
        let failed = operands
            .iter()
            .filter_map(|one| if let Evaluated::Cases(cases) = one { Some(cases) } else { None });
        let failed = failed
            .flat_map(|cases| cases.iter())
            .filter_map(|case| Some((case.when, case.outcome.clone().err()?)));
        self.failures.extend(failed);
        let mut formulas = Vec::with_capacity(operands.len());
        // A presence is a boolean, and no boolean equals what is not one.
        let mut boolean = Formula::TRUE;
        for one in operands {
            formulas.push(match one {
                Evaluated::Logic(formula) => formula,
                Evaluated::Value(Value::Bool(value)) => Formula::constant(value),
                Evaluated::Value(_) => return Ok(Evaluated::Value(false.into())),
                Evaluated::Cases(cases) => {
                    let whether = |of: fn(&Value) -> bool| {
                        let among =
                            cases.iter().filter(move |case| case.outcome.as_ref().is_ok_and(of));
                        among.map(|case| case.when)
                    };
                    let booleans = self.arena.or(whether(|value| matches!(value, Value::Bool(_))));
                    boolean = self.arena.and([boolean, booleans]);
                    self.arena.or(whether(|value| *value == Value::Bool(true)))
                }
            });
        }
        let mut pairs: Vec<_> =
            formulas[1..].iter().map(|&other| self.arena.iff(formulas[0], other)).collect();
        pairs.push(boolean);
        let formula = self.arena.and(pairs);
        Ok(self.decided(formula))
    }

    fn input(&mut self, operand: Node<'a>) -> Result<Value, Diagnostic> {
        let input = self.input_id(operand)?;
        self.input_at(input, operand.span())
    }

    /// The variability input of this name.
    pub(super) fn input_id(&self, operand: Node<'a>) -> Result<InputId, Diagnostic> {
        let name = operand.text().unwrap_or_default();
        self.inputs.declarations.id(name).ok_or_else(|| {
            Diagnostic::error(Code::InvalidInput, format!("there is no variability input `{name}`"))
                .at(operand.span())
                .help(self.inputs.declarations.suggestion(name))
        })
    }

    /// The value of a variability input.
    ///
    /// # Errors
    /// `missing-input` at `span` where it has none, and whatever is wrong with its default
    /// expression.
    pub fn input_at(&mut self, input: InputId, span: Span) -> Result<Value, Diagnostic> {
        if let Some(value) = self.assumed.get(&input) {
            return Ok(value.clone());
        }
        match self.inputs.values.get(input) {
            InputValue::Assigned(value) | InputValue::Default(value) => Ok(value.clone()),
            InputValue::Expression(expression) => {
                let expression = *expression;
                if let Some(value) = self.input_memo.get(&input) {
                    return Ok(value.clone());
                }
                let mentions = self.mentions_context;
                let value = self.deeper(span, |this| this.value(expression, None))?;
                self.mentions_context = mentions;
                self.check_default(input, &value, expression.span())?;
                self.input_memo.insert(input, value.clone());
                Ok(value)
            }
            InputValue::Missing | InputValue::Open => Err(self.missing(input, span)),
        }
    }

    /// The value of a default expression has to fit its input as an assigned one has.
    fn check_default(&self, input: InputId, value: &Value, span: Span) -> Result<(), Diagnostic> {
        let Some(declaration) = self.inputs.declarations.get(input) else { return Ok(()) };
        match declaration.problems(value).first() {
            None => Ok(()),
            Some(problem) => {
                let message = format!(
                    "the default of variability input `{}` does not fit: {}",
                    declaration.name, problem.message
                );
                Err(problem.labels(
                    Diagnostic::error(Code::InvalidInput, message)
                        .at(span)
                        .label(declaration.span, "declared here"),
                ))
            }
        }
    }

    /// The value of a variability input, read as logic.
    ///
    /// # Errors
    /// As [`Evaluator::input_at`], and where its value is no condition.
    pub fn input_condition(&mut self, input: InputId, span: Span) -> Result<Formula, Diagnostic> {
        if let Some(cases) = self.cases.get(&input) {
            let cases: Vec<_> = cases
                .iter()
                .map(|(when, value)| Case { when: *when, outcome: Ok(value.clone()) })
                .collect();
            return self.true_cases(&cases, span);
        }
        constant(&self.input_at(input, span)?, span)
    }

    fn missing(&self, input: InputId, span: Span) -> Diagnostic {
        let declaration = self.inputs.declarations.get(input);
        let name = declaration.map_or("", |declaration| declaration.name);
        let error = Diagnostic::error(
            Code::MissingInput,
            format!("variability input `{name}` has no value"),
        )
        .at(span)
        .help(format!(
            "assign it with `--input {name}=VALUE` or a preset, or declare its `default`"
        ));
        declaration
            .into_iter()
            .fold(error, |error, declaration| error.label(declaration.span, "it is declared here"))
    }

    /// A named expression, evaluated for whoever uses it: SELF means the user.
    fn named(
        &mut self,
        operand: Node<'a>,
        logic: bool,
        context: Option<ElementId>,
    ) -> Result<Evaluated, Diagnostic> {
        let index = self.expression_index(operand)?;
        let (_, expression) = self.graph.template.variability.expressions[index];
        // A bare string is an identifier where a condition is asked for, and a value otherwise.
        if logic && expression.as_str().is_some() {
            return self.condition(expression, context).map(|formula| self.decided(formula));
        }
        let evaluated = if let Some((evaluated, failures)) = self.remembered(index, None) {
            self.failures.extend(failures);
            evaluated
        } else if let Some((evaluated, failures)) = self.remembered(index, context) {
            // Whatever uses an expression that means something else for another element does so,
            // too.
            self.note_context();
            self.failures.extend(failures);
            evaluated
        } else {
            self.evaluate_named(index, operand, context)?
        };
        match evaluated {
            Evaluated::Cases(cases) if logic => {
                Ok(Evaluated::Logic(self.true_cases(&cases, operand.span())?))
            }
            Evaluated::Value(value) if logic => match truth(&value) {
                Some(truth) => Ok(Evaluated::Value(truth.into())),
                None => {
                    let name = operand.text().unwrap_or_default();
                    let message =
                        format!("expression `{name}` is {}, not a condition", value.describe());
                    Err(Diagnostic::error(Code::InvalidExpression, message)
                        .at(operand.span())
                        .help("use `value_expression`"))
                }
            },
            evaluated => Ok(evaluated),
        }
    }

    /// What a named expression came to.
    fn remembered(
        &self,
        index: usize,
        user: Option<ElementId>,
    ) -> Option<(Evaluated, Vec<Failure>)> {
        if self.assumed.is_empty() {
            let known = match user {
                None => self.shared[index].as_ref(),
                Some(user) => self.memo.get(&(index, user)),
            };
            known.cloned()
        } else {
            // With values assumed, whatever has none is an error.
            self.assumed_memo.get(&(index, user)).map(|evaluated| (evaluated.clone(), Vec::new()))
        }
    }

    /// The position of the expression of this name.
    pub(super) fn expression_index(&self, operand: Node<'a>) -> Result<usize, Diagnostic> {
        let name = operand.text().unwrap_or_default();
        self.expressions.get(name).ok_or_else(|| {
            Diagnostic::error(Code::UnknownExpression, format!("there is no expression `{name}`"))
                .at(operand.span())
                .help("define it under `variability.expressions`")
                .help_opt(did_you_mean(name, self.expressions.names()))
        })
    }

    /// Evaluates the named expressions that one needs, each after those that it needs itself, so
    /// that they are remembered when it is evaluated.
    ///
    /// What goes wrong does so again where it matters, and is told there.
    fn evaluate_needed(&mut self, index: usize, operand: Node<'a>, context: Option<ElementId>) {
        let expressions = &self.graph.template.variability.expressions;
        let (mut met, mut order, mut open) =
            (FxHashSet::default(), Vec::new(), vec![(index, operand, false)]);
        while let Some((needed, operand, is_next)) = open.pop() {
            if is_next {
                order.push((needed, operand));
            } else if met.insert(needed) {
                open.push((needed, operand, needed != index));
                each_reference(expressions[needed].1, &mut |keyword, operand| {
                    let named = (keyword != "variability_input")
                        .then(|| self.expression_index(operand).ok())
                        .flatten();
                    open.extend(
                        named
                            .filter(|named| !met.contains(named))
                            .map(|named| (named, operand, false)),
                    );
                });
            }
        }
        let (mentions, failed) = (self.mentions_context, self.failures.len());
        for (index, operand) in order {
            // What fails is not remembered.
            let _ = self.evaluate_named(index, operand, context);
        }
        self.failures.truncate(failed);
        self.mentions_context = mentions;
    }

    fn evaluate_named(
        &mut self,
        index: usize,
        operand: Node<'a>,
        context: Option<ElementId>,
    ) -> Result<Evaluated, Diagnostic> {
        if self.depth == DEEP && !std::mem::replace(&mut self.preparing, true) {
            self.evaluate_needed(index, operand, context);
            self.preparing = false;
        }
        let (_, expression) = self.graph.template.variability.expressions[index];
        let outer = std::mem::take(&mut self.mentions_context);
        let failed = self.failures.len();
        let evaluated = self
            .deeper(operand.span(), |this| this.evaluate(expression, context))
            .map_err(|error| {
                if error.labels.is_empty() {
                    error.label(operand.span(), "the expression is used here")
                } else {
                    error
                }
            });
        let user = if self.mentions_context { context } else { None };
        self.mentions_context |= outer;
        let evaluated = evaluated?;
        if self.assumed.is_empty() {
            let result = (evaluated.clone(), self.failures[failed..].to_vec());
            match user {
                None => self.shared[index] = Some(result),
                Some(user) => _ = self.memo.insert((index, user), result),
            }
        } else {
            self.assumed_memo.insert((index, user), evaluated.clone());
        }
        Ok(evaluated)
    }

    /// Evaluates what something needs; cycles are found before, see [`Evaluator::validate_cycles`].
    fn deeper<T>(
        &mut self,
        at: Span,
        run: impl FnOnce(&mut Self) -> Result<T, Diagnostic>,
    ) -> Result<T, Diagnostic> {
        if self.depth >= MAX_DEPTH {
            let message =
                format!("named expressions need each other more than {MAX_DEPTH} levels deep");
            return Err(Diagnostic::error(Code::InvalidExpression, message)
                .at(at)
                .help("write some of them out"));
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }

    /// Notes that the expression at hand means something else for another element.
    pub(super) fn note_context(&mut self) {
        self.mentions_context = true;
    }
}

/// A value is asked for where only what is present decides.
fn depends_on_presence(span: Span) -> Diagnostic {
    let message = "this depends on which elements are present";
    let help = "values that decide about presence are computed from inputs; presence is combined with `and`, `or`, `not` and the like";
    Diagnostic::error(Code::InvalidExpression, message).at(span).help(help)
}

/// A value read as a condition.
fn constant(value: &Value, span: Span) -> Result<Formula, Diagnostic> {
    truth(value).map(Formula::constant).ok_or_else(|| {
        let message = format!("{} is not a condition", value.describe());
        Diagnostic::error(Code::InvalidExpression, message)
            .at(span)
            .help("combine conditions with `and` or `or`")
    })
}

/// A value read as logic.
pub(super) fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(value) => Some(*value),
        Value::Number(number) => Some(number.as_f64() > 0.0),
        Value::String(_) => Some(true),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    }
}
